"""Figures 3a and 3b of the paper on Pufferfish privacy, and Figures 2b, 2c and 7 of the one on f-divergences, beside what is exact.

The first (Nuradha, Goldfeld): noise on the column means of 100 records of d bits by Theorems 3 and 4, and the exact least noise of
each kind; and up to which epsilon' Corollary 3 adds less noise than the classical calibration (Remark 11). The second (Wang, Tay):
delta' of the Gaussian mechanism at epsilon + D by strong chi-square, Corollary 1 and Lemma 1, as printed and with the exact worst
case, for delta = 0.05 and for a first input of any probability; and numerator and denominator of the g of Theorem 1(c).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from _paper import COLOURS, Row, Study, panels
from flint import arb, ctx
from scipy.optimize import brentq

import dalenius as dl
from dalenius.conversions.gaussian import chi_square, gaussian_delta
from dalenius.information.noise_formulas import (
    gaussian_variance,
    laplace_capacity,
    laplace_scale,
    largest_classical_epsilon,
)

RECORDS = 100
STYLES = ("-", "--", ":")
NODES, MASSES = np.polynomial.hermite_e.hermegauss(120)


def gaussian_capacity(distance: float) -> float:
    """What Gaussian noise of variance 1 leaks of one of two inputs at this distance, in nats; by symmetry the even law is the best."""
    exponents = -distance * (distance / 2 + NODES)
    return math.log(2.0) - float(np.logaddexp(0.0, exponents) @ MASSES) / math.sqrt(2.0 * math.pi)


def least_noise(capacity: Callable[[float], float], told: float) -> float:
    """The distance of two inputs, in units of the noise, at which the capacity is this."""
    return float(brentq(lambda distance: capacity(distance) - told, 1e-3, 20.0, xtol=1e-13))


def figure_3a(axis, epsilons: list[float], coordinates: list[int]) -> list[Row]:
    rows: list[Row] = []
    n = RECORDS
    for colour, d in zip(COLOURS, coordinates, strict=False):
        curves: list[tuple[float, float, float, float]] = []
        for epsilon in epsilons:
            told = epsilon / d
            laplace = 2 * laplace_scale(epsilon, d / (2 * n), coordinates=d) ** 2
            gaussian = gaussian_variance(epsilon, d / (4 * n**2), coordinates=d)
            exact = (0.0, 0.0)  # a bit is revealed whole
            if told < math.log(2.0):
                exact = (
                    2 / (n * least_noise(laplace_capacity, told)) ** 2,
                    1 / (n * least_noise(gaussian_capacity, told)) ** 2,
                )
            assert exact[0] <= laplace
            assert exact[1] <= gaussian
            curves.append((laplace, gaussian, *exact))
            at = f"d = {d}, epsilon {epsilon:g}"
            rows.append({"figure": "3a", "at": f"{at}, Laplace", "exact": exact[0], "paper": laplace})
            rows.append({"figure": "3a", "at": f"{at}, Gaussian", "exact": exact[1], "paper": gaussian})
        names = ("Laplace, Theorem 3", "Gaussian, Theorem 4", "Laplace, exact", "Gaussian, exact")
        for style, name, values in zip(("-", "--", "-.", ":"), names, zip(*curves, strict=True), strict=True):
            shown = [value or math.nan for value in values]
            axis.plot(epsilons, shown, style, color=colour, label=f"{name}, d = {d}")
    axis.set(title="Pufferfish, Figure 3a", xlabel="epsilon", ylabel="variance of a coordinate", yscale="log")
    return rows


def figure_3b(axis, epsilons: list[float], coordinates: list[int]) -> list[Row]:
    rows: list[Row] = []
    for colour, d in zip(COLOURS, coordinates, strict=False):
        most = [largest_classical_epsilon(epsilon, coordinates=d) for epsilon in epsilons]
        axis.plot(epsilons, most, color=colour, label=f"d = {d}")
        rows += [
            {"figure": "3b", "at": f"d = {d}, epsilon {epsilon:g}", "paper": value}
            for epsilon, value in zip(epsilons, most, strict=True)
        ]
    axis.axhline(1.0, color="0.5", lw=0.8)
    axis.set(title="Pufferfish, Figure 3b", xlabel="epsilon", ylabel="epsilon', Corollary 3 adds less noise below")
    return rows


def chain(epsilon: float, delta: str, offset: Fraction, share: Fraction) -> tuple[float, float, float]:
    """delta' at epsilon + D: of the mechanism, by the best chain of rules, as printed."""
    shift = arb(epsilon) / (2 * (arb("1.25") / arb(delta)).log()).sqrt()
    eta = float((chi_square(shift) * arb(float(max(share, 1 - share))) ** 2).upper())
    after = Fraction(str(epsilon)) + offset
    own = float(gaussian_delta(shift, arb(after.numerator) / after.denominator).upper())
    found = dl.convert(
        "strong_chi_square", eta, to=f"local_dp_delta({after})", p_min=str(min(share, 1 - share)), letters=2
    ).value
    assert found is not None
    half = math.exp(after / 2)
    each = sum(factor * eta / ((factor - 1) ** 2 + eta) for factor in (half, 1 / half))
    printed = 2 * each / float(min(share, 1 - share))
    assert own <= found <= printed * (1 + 1e-12)
    return own, found, printed


def chains(axis, figure: str, points: list[float], found: list[tuple[float, float, float]], colour, label) -> list[Row]:
    names = ("the mechanism's own", "best chain of rules", "as printed")
    for style, name, values in zip(STYLES, names, zip(*found, strict=True), strict=True):
        axis.plot(points, values, style, color=colour, label=f"{name}, {label}")
    return [
        {"figure": figure, "at": f"{label}, {point:g}", "exact": own, "paper": printed, "other": best}
        for point, (own, best, printed) in zip(points, found, strict=True)
    ]


def figure_2b(axis, epsilons: list[float], offsets: list[str]) -> list[Row]:
    """delta = 0.05, two inputs of probability 1/2."""
    rows: list[Row] = []
    for colour, offset in zip(COLOURS, offsets, strict=False):
        found = [chain(epsilon, "0.05", Fraction(offset), Fraction(1, 2)) for epsilon in epsilons]
        rows += chains(axis, "2b", epsilons, found, colour, f"D = {offset}")
    axis.set(
        title="f-divergences, Figure 2b",
        xlabel="epsilon",
        ylabel="delta' at epsilon + D",
        yscale="log",
        ylim=(1e-6, 10),
    )
    return rows


def figure_2c(axis, shares: list[Fraction], epsilons: list[float]) -> list[Row]:
    """delta = 0.1, D = 1, by the probability of the first input."""
    rows: list[Row] = []
    points = [float(share) for share in shares]
    for colour, epsilon in zip(COLOURS, epsilons, strict=False):
        found = [chain(epsilon, "0.1", Fraction(1), share) for share in shares]
        rows += chains(axis, "2c", points, found, colour, f"epsilon = {epsilon:g}")
    axis.set(
        title="f-divergences, Figure 2c",
        xlabel="probability of an input",
        ylabel="delta' at epsilon + 1",
        yscale="log",
        ylim=(1e-3, 10),
    )
    return rows


def figure_7(axis, eta: float, factors: list[float]) -> list[Row]:
    """g = G eta / ((G-1)^2 + eta) is at least 1, and says nothing, for G from 1 to 1 + eta."""
    above = [factor * eta for factor in factors]
    below = [(factor - 1) ** 2 + eta for factor in factors]
    axis.plot(factors, above, color=COLOURS[0], label="numerator")
    axis.plot(factors, below, "--", color=COLOURS[1], label="denominator")
    axis.axvspan(1.0, 1.0 + eta, color="0.9")
    axis.set(title=f"f-divergences, Figure 7: eta = {eta:g}", xlabel="G")
    assert all((a >= b) == (1 <= f <= 1 + eta) for f, a, b in zip(factors, above, below, strict=True))
    return [{"figure": "7", "at": f"G = {f:g}", "paper": a / b} for f, a, b in zip(factors, above, below, strict=True)]


def main() -> None:
    study = Study("calibrations", "Figures 3a, 3b on Pufferfish privacy; Figures 2b, 2c, 7 on f-divergences.")
    quick = study.quick
    figure, axes = panels(5, (21.0, 4.8))
    told = [0.1, 0.5] if quick else [round(0.05 * k, 2) for k in range(1, 21)]
    classical = [0.001, 0.1, 0.3, 0.5] if quick else [0.001, *(round(0.01 * k, 2) for k in range(1, 51))]
    epsilons = [0.1, 0.5] if quick else [0.05, *(round(0.1 * k, 1) for k in range(1, 13))]
    shares = [Fraction(k, 10) for k in ((1, 5) if quick else range(1, 10))]
    with ctx.workprec(90):
        rows = figure_3a(axes[0], told, [1] if quick else [1, 10, 30]) + figure_3b(axes[1], classical, [1, 30])
        rows += figure_2b(axes[2], epsilons, ["0.1", "0.5", "1"]) + figure_2c(axes[3], shares, [0.1, 0.5])
    rows += figure_7(axes[4], 0.5, [float(f) for f in np.arange(1, 32 if quick else 48) / 16 + 1 / 64])
    names = list(dict.fromkeys(itertools.chain.from_iterable(rows)))
    rows = [{name: row.get(name, "") for name in names} for row in rows]
    study.table(rows, shown=rows if quick else rows[::10])
    for axis in axes:
        axis.legend(fontsize=6)
    print(f"Picture: {study.picture(figure)}")


if __name__ == "__main__":
    main()
