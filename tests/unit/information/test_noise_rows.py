"""Noise on the real line by quadrature: divergences agree with integrals in ball arithmetic."""

from itertools import pairwise

import numpy as np
import pytest
from flint import acb, arb, ctx

from campaigns import each
from dalenius.information import relative_entropy
from dalenius.information.noise_rows import gaussian_rows, laplace_rows


def gaussian_integral(points, law, k):
    """D of the k-th density from the mixture, by FLINT's own integration."""
    z, w = [arb(x) for x in points], [arb(x) for x in law]

    def ratio(y, _):
        mixture = sum(
            (a * ((x - z[k]) * y - (x * x - z[k] * z[k]) / 2).exp() for a, x in zip(w, z, strict=True)), acb(0)
        )
        return -((-((y - z[k]) ** 2)) / 2).exp() * mixture.log(analytic=True)

    return acb.integral(ratio, points[k] - 14, points[k] + 14).real / (2 * arb.pi()).sqrt()


def laplace_integral(points, law, k):
    """The same, a piece between neighbours at a time; beyond the outermost the densities have one ratio."""
    z, w = [arb(x) for x in points], [arb(x) for x in law]
    whole = arb(0)
    for low, high in pairwise(points):
        right = [x >= high for x in points]

        def density(y, j, right=right):
            return ((y - z[j]) if right[j] else (z[j] - y)).exp() / 2

        def integrand(y, analytic, density=density):
            mixture = sum((a * density(y, j) for j, a in enumerate(w)), acb(0))
            return density(y, k) * (density(y, k) / mixture).log(analytic=analytic)

        whole += acb.integral(integrand, low, high).real
    for end in (points[0], points[-1]):
        density = [(-abs(x - arb(end))).exp() / 2 for x in z]
        mixture = sum((a * x for a, x in zip(w, density, strict=True)), arb(0))
        whole += density[k] * (density[k] / mixture).log()
    return whole


@each("points", [0, 1], [0, 0.125, 3], [0, 20])
@each("rows_of, integral", (gaussian_rows, gaussian_integral), (laplace_rows, laplace_integral))
def test_divergences_are_integrals(points, rows_of, integral):
    rows = rows_of(np.array(points, dtype=float))
    law = np.arange(1, len(points) + 1) / sum(range(1, len(points) + 1))
    assert rows.sum(axis=1) == pytest.approx(1.0, abs=1e-14)
    old, ctx.prec = ctx.prec, 64
    try:
        exact = [float(integral(points, law.tolist(), k)) for k in range(len(points))]
    finally:
        ctx.prec = old
    assert relative_entropy(rows, law @ rows) == pytest.approx(exact, rel=1e-11, abs=1e-14)


def test_up_to_which_distance_two_inputs_at_the_ends_are_the_worst_of_an_interval():
    """Where the divergence of the middle comes up to that of the ends: 1.6659 standard deviations, and 3.139 scales."""
    for rows_of, span in ((gaussian_rows, 2 * 1.6659256412713), (laplace_rows, 3.139356744)):
        for factor, worst in ((0.999, False), (1.001, True)):
            rows = rows_of(np.linspace(0.0, factor * span, 21))
            assert (relative_entropy(rows, (rows[0] + rows[-1]) / 2).argmax() == 10) == worst


def test_small_divergences_keep_their_digits():
    for rows_of, per_square in ((gaussian_rows, 1 / 8), (laplace_rows, 1 / 8)):
        rows = rows_of(np.array([0.0, 1e-4]))
        assert float(relative_entropy(rows[0], rows.mean(axis=0))) == pytest.approx(per_square * 1e-8, rel=1e-4)
