"""Figure 1 of the paper on inferential privacy, and Figure 2 of the one on f-divergences, beside what is exact.

The first (Saeidian et al.): whether more than m of n independent records have a property of probability p. The paper shows a Chernoff
bound of what the likely output reveals; the other output, which it leaves out, reveals up to -log P(it). The second (Wang, Tay): the
Gaussian mechanism by its classical calibration, its strong chi-square divergence, Corollary 1 and Lemma 1: the delta' at
epsilon + D that this chain of rules gives, as printed and with the exact worst case, beside the mechanism's own delta.
"""

from __future__ import annotations

import math
from fractions import Fraction

from _paper import COLOURS, Row, Study, panels
from flint import arb, ctx, fmpq

import dalenius as dl
from dalenius.conversions import ThresholdDisclosure
from dalenius.conversions.gaussian import chi_square, gaussian_delta


def figure_1(axis, sizes: list[int], shares: list[Fraction]) -> list[Row]:
    rows: list[Row] = []
    for colour, n in zip(COLOURS, sizes, strict=False):
        found = [ThresholdDisclosure.of(n, "0.3", int(share * n) + 1) for share in shares]  # "more than m"
        curves = [(one.chernoff[1], one.leakage[1], one.leakage[0]) for one in found]
        for share, (bound, likely, rare) in zip(shares, curves, strict=True):
            assert likely <= bound * (1 + 1e-12)
            rows.append(
                {
                    "figure": "1",
                    "at": f"n = {n}, m/n = {float(share):g}",
                    "exact": likely,
                    "paper": bound,
                    "other": rare,
                }
            )
        x = [float(share) for share in shares]
        for style, name, k in (("--", "Chernoff", 0), ("-", "exact", 1), (":", "the other output", 2)):
            axis.plot(x, [values[k] for values in curves], style, color=colour, label=f"{name}, n = {n}")
    axis.axhline(-math.log(0.7), color="0.5", lw=0.8)
    axis.set(
        title="Inferential privacy, Figure 1: p = 0.3",
        xlabel="m/n",
        ylabel="leakage [nats]",
        yscale="log",
        ylim=(1e-6, 100),
    )
    return rows


def figure_2(axis, epsilons: list[float], offset: str) -> list[Row]:
    """delta = 0.1, two inputs of probability 1/2."""
    rows: list[Row] = []
    curves: list[tuple[float, float, float]] = []
    for epsilon in epsilons:
        square = epsilon**2 / (2.0 * math.log(12.5))
        eta = float((chi_square(arb(square).sqrt()) / 4).upper())
        after = Fraction(str(epsilon)) + Fraction(offset)
        printed = dl.convert("chi_square", eta, to=f"information_privacy_delta({after / 2})", sharp=False).value
        refined = dl.convert("strong_chi_square", eta, to=f"local_dp_delta({after})", p_min="1/2").value
        assert printed is not None
        assert refined is not None
        exact = gaussian_delta(arb(square).sqrt(), arb(fmpq(after.numerator, after.denominator)))
        curves.append((float(exact.upper()), refined, 4.0 * printed))
        rows.append(
            {
                "figure": "2",
                "at": f"epsilon {epsilon:g}",
                "exact": curves[-1][0],
                "paper": 4.0 * printed,
                "other": refined,
            }
        )
        assert curves[-1][0] <= refined <= 4.0 * printed
    names = ("the mechanism's own", "Corollary 1, Lemma 1, exact worst case", "as printed")
    for style, colour, name, values in zip(("-", "--", ":"), COLOURS, names, zip(*curves, strict=True), strict=False):
        axis.plot(epsilons, values, style, color=colour, label=name)
    axis.set(
        title=f"f-divergences, Figure 2: D = {offset}",
        xlabel="epsilon",
        ylabel="delta' at epsilon + D",
        yscale="log",
        ylim=(1e-6, 2.0),
    )
    return rows


def main() -> None:
    study = Study(
        "disclosure_and_divergences",
        "Figure 1 of the paper on inferential privacy, Figure 2 of the one on f-divergences.",
    )
    quick = study.quick
    shares = [Fraction(k, 100) for k in (range(0, 30, 10) if quick else range(30))]
    epsilons = [0.1, 0.5, 1.2] if quick else [round(0.05 * k, 2) for k in range(1, 25)]
    figure, axes = panels(2, (11.0, 4.6))
    with ctx.workprec(128):
        rows = figure_1(axes[0], [200] if quick else [200, 500, 1000], shares) + figure_2(axes[1], epsilons, "0.5")
    study.table(rows, shown=rows if quick else rows[::10])
    for axis in axes:
        axis.legend(fontsize=7)
    print(f"Picture: {study.picture(figure)}")


if __name__ == "__main__":
    main()
