"""Figures 1 to 4 of the paper on local mutual-information privacy (Ngo, Ostman, Graell i Amat), beside what is exact.

Figure 1: the delta that an information leaves at most, Theorem 1(a), and that of Gaussian noise with this capacity, d = 10. Figure 2:
the capacity of Gaussian noise on inputs of bounded amplitude, what Theorem 1(b) makes of its privacy curve, and the saddle value of
Theorem 3. Figure 3: delta of local information privacy on 21 inputs, Theorem 2(a) as printed, which lies below it, and corrected.
Figure 4: the information on these inputs, Theorem 2(b) as printed, and with both curves kept, which is the largest divergence
of one. And Theorem 3 on a lattice: against inputs of bounded power Gaussian noise needs the least power, against inputs of bounded
amplitude it does not.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from _paper import COLOURS, Row, Study, panels
from flint import arb, ctx

import dalenius as dl
from dalenius.conversions import PrivacyProfile
from dalenius.conversions.gaussian import (
    ListedInputs,
    amplitude_capacity,
    amplitude_of,
    gaussian_delta,
    least_power,
    shaped_power,
)

BITS = math.log(2.0)
INPUTS = [Fraction(i, 10) - 1 for i in range(21)]
WEIGHTS = [math.exp(-2.0 * float(x) ** 2) for x in INPUTS]
LEAST = "0.0111947"  # just below the probability of an input at the end
NOISES = (
    ("0.1", "1.3599906965"),
    ("0.01", "14.4872661913"),
)  # mutual information in bits, and the variance that has it


def ends(ball: arb) -> tuple[float, float]:
    """Doubles around the number in a ball."""
    return math.nextafter(float(ball.lower()), -math.inf), math.nextafter(float(ball.upper()), math.inf)


def figure_1(axis, epsilons: list[float]) -> list[Row]:
    rows: list[Row] = []
    for colour, bits in zip(COLOURS, ("0.01", "0.1", "0.5"), strict=False):
        shift = 2.0 * amplitude_of(float(bits) * BITS, 10)
        most = [dl.convert("shannon_capacity", f"{bits} bits", to=f"local_dp_delta({e})").value for e in epsilons]
        own = [ends(gaussian_delta(arb(shift), arb(e))) for e in epsilons]
        axis.plot(epsilons, most, "-", color=colour, label=f"Theorem 1(a), {bits} bits")
        axis.plot(epsilons, [upper for _, upper in own], "--", color=colour, label=f"Gaussian noise, {bits} bits")
        rows += [
            {"figure": "1", "at": f"{bits} bits, epsilon {e}", "exact": b, "theorem": a}
            for e, a, b in zip(epsilons, most, own, strict=True)
        ]
        assert all(upper <= a for a, (_, upper) in zip(most, own, strict=True))
    axis.set(title="Figure 1, d = 10", xlabel="epsilon", ylabel="delta", yscale="log", ylim=(1e-4, 1.0))
    return rows


def figure_2(axis, variances: list[float]) -> list[Row]:
    rows: list[Row] = []
    for colour, d in zip(COLOURS, (1, 10), strict=False):
        curves: list[tuple[float, float, float]] = []
        for variance in variances:
            found = amplitude_capacity(math.sqrt(d / variance), d)
            curves.append((found.upper / BITS, 2.0 * d / variance / BITS, d * math.log2(1.0 + 1.0 / variance) / 2.0))
            rows.append(
                {
                    "figure": "2",
                    "at": f"d = {d}, variance {variance:g}" + (", one sphere is best" if found.optimal else ""),
                    "exact": (found.lower / BITS * (1 - 1e-15), curves[-1][0] * (1 + 1e-15)),
                    "theorem": curves[-1][1],
                }
            )
        for style, name, values in zip(
            ("-", "--", ":"), ("capacity", "Theorem 1(b)", "Theorem 3"), zip(*curves, strict=True), strict=True
        ):
            axis.plot(variances, values, style, color=colour, label=f"{name}, d = {d}")
    axis.set(title="Figure 2", xlabel="variance of the noise", ylabel="bits", xscale="log", yscale="log")
    return rows


def figure_3(axis, epsilons: list[float]) -> list[Row]:
    rows: list[Row] = []
    for colour, (bits, variance) in zip(COLOURS, NOISES, strict=False):
        noise = ListedInputs.of(INPUTS, WEIGHTS, variance)
        curves: list[tuple[float, float, float]] = []
        for e in epsilons:
            own, asked = noise.delta(arb(e)), f"local_information_privacy_delta({e})"
            printed = dl.convert("largest_divergence", f"{bits} bits", to=asked).value
            corrected = dl.convert("mutual_information", f"{bits} bits", to=asked, p_min=LEAST).value
            assert printed is not None
            assert corrected is not None
            curves.append((float(own.upper()), printed, corrected))
            rows.append(
                {
                    "figure": "3",
                    "at": f"{bits} bits, epsilon {e}",
                    "exact": ends(own),
                    "theorem": printed,
                    "corrected": corrected,
                }
            )
            assert own <= corrected
        names = ("Gaussian noise", "Theorem 2(a) as printed", "Theorem 2(a) corrected")
        for style, name, values in zip(("-", ":", "--"), names, zip(*curves, strict=True), strict=True):
            axis.plot(epsilons, values, style, color=colour, label=f"{name}, {bits} bits")
    axis.set(title="Figure 3", xlabel="epsilon", ylabel="delta", yscale="log", ylim=(1e-3, 1.0))
    return rows


def figure_4(axis, variances: list[float], points: int) -> list[Row]:
    rows: list[Row] = []
    curves: list[tuple[float, float, float]] = []
    for variance in variances:
        noise = ListedInputs.of(INPUTS, WEIGHTS, variance)
        own, most = (ends(x / arb(2).log()) for x in (noise.mutual_information(), noise.largest_divergence()))
        printed = equation_14(noise, variance, points)
        curves.append((own[1], most[1], printed))
        rows.append(
            {"figure": "4", "at": f"variance {variance:g}", "exact": own, "theorem": printed, "corrected": most[1]}
        )
    names = (
        "mutual information",
        "Theorem 2(b), both curves kept: the largest divergence",
        "Theorem 2(b), eq. (14), from above",
    )
    for style, name, values in zip(("-", "--", ":"), names, zip(*curves, strict=True), strict=True):
        axis.plot(variances, values, style, color=COLOURS[0], label=name)
    axis.set(title="Figure 4", xlabel="variance of the noise", ylabel="bits", xscale="log", yscale="log")
    return rows


def equation_14(noise: ListedInputs, variance: float, points: int) -> float:
    """An upper bound in bits of the integral of (exp(e) + exp(-e)) delta(e), from points of delta; the fewer, the larger.

    The law of the outputs is a mixture of rows, so that delta is at most that of two Gaussian laws as far apart as the inputs are,
    which says how fast it falls at last.
    """
    shift = 2.0 / math.sqrt(variance)
    last = round(shift**2 / 2.0 + 6.0 * shift, 2)
    decay = math.floor(100.0 * (last / shift - shift / 2.0) / shift) / 100.0
    far = arb(2) / arb(variance).sqrt()
    epsilons = [Fraction(str(last)) * (k * k) / points**2 for k in range(points + 1)]
    profile = PrivacyProfile.from_function(
        lambda e: noise.delta(e).min(gaussian_delta(far, e)), epsilons, decay=Fraction(str(decay))
    )
    return profile.prior_information() / BITS


def lattice(axis, cases: list[tuple[float, int, int, float | None]]) -> list[Row]:
    """Theorem 3: the least power of noise with which inputs reveal so many nats, proved, beside that of discrete Gaussian noise."""
    rows: list[Row] = []
    for colour, (information, most, reach, power) in zip(COLOURS, cases, strict=False):
        step = 1.0 if power is None else 0.5
        found = least_power(information, most=most, reach=reach, step=step, power=power)
        variance = found.upper
        if power is None:
            gaussian = shaped_power("gaussian", information, most=most, reach=reach)
            limit = f"inputs within {most}"
        else:
            gaussian = power / math.expm1(2.0 * information)
            limit = f"inputs of power {power:g}, step {step:g}"
        law = np.exp(-(found.positions**2) / (2.0 * variance))
        law /= law.sum()
        axis.plot(
            found.positions,
            1e3 * (found.noise - law) / step,
            ".-",
            color=colour,
            label=f"{limit}, {information:g} nats",
        )
        rows.append(
            {
                "figure": "lattice",
                "at": f"{limit}, {information:g} nats",
                "exact": (found.lower, found.upper),
                "theorem": gaussian,
            }
        )
    axis.set(title="Best noise less Gaussian noise", xlabel="noise", ylabel="density, thousandths")
    return rows


def main() -> None:
    study = Study(
        "local_information", "Figures 1 to 4 of the paper on local mutual-information privacy, beside what is exact."
    )
    quick = study.quick
    epsilons = [0.0, 0.5, 1.0] if quick else [round(0.1 * k, 1) for k in range(31)]
    variances = [1.0, 10.0] if quick else [0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 50.0, 100.0, 200.0]
    little = [] if quick else [0.1, 0.15, 0.2, 0.3, 0.4]  # noise: several spheres are best
    figure, axes = panels(5, (19.0, 4.8))
    with ctx.workprec(90):
        rows = figure_1(axes[0], epsilons) + figure_2(axes[1], [*little, *variances])
        rows += figure_3(axes[2], epsilons) + figure_4(axes[3], variances, 8 if quick else 40)
    cases: list[tuple[float, int, int, float | None]] = [(0.1, 1, 12, None), (0.1, 8, 24, 1.0)]
    rows += lattice(axes[4], cases if quick else [*cases, (0.05, 1, 16, None), (0.1, 2, 25, None)])
    names = list(dict.fromkeys(key for row in rows for key in row))
    rows = [{name: row.get(name, "") for name in names} for row in rows]
    study.table(rows, shown=rows if quick else rows[::8] + rows[-4:])
    for axis in axes:
        axis.legend(fontsize=6)
    print(f"Picture: {study.picture(figure)}")


if __name__ == "__main__":
    main()
