"""Figure 5 of the source paper: leakage against expected distortion, three mechanisms for one binary query.

Its parameters are lost; n = 2, 4, 8 and b = 0 or 0.9 log |X| are ours. Three panels:

1. The paper's way: "we set the privacy parameter for each DP mechanism equal to the information leakage of our channel". So a
   mutual information, of the channel, is held against epsilon, a bound on a log-ratio of probabilities, of the other two.
2. On equal terms: what leaks, for all three. Through a binary query they are binary symmetric channels (section 7.2.1), so at
   equal distortion they are one and the same channel.
3. Where they do differ: the sum of four letters modulo 3, b = 0.9 log |X|, and the proved least leakage of any mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from _paper import COLOURS, Cell, Row, Study, gerber, panels

import dalenius as dl

Family = Callable[[float], dl.mechanisms.Mechanism]
SHARE = 0.9  # of log |X|, the entropy bound where there is one
MODULUS = 3
BEST = "proved least"
SUM_MARKS = {"symmetric": "o", "Laplace, rounded": "^", "exponential": "x", "geometric": "s"}
BINARY = ("binary symmetric", "Laplace", "exponential")


def at_distortion(flip: float) -> dict[str, tuple[float, dl.mechanisms.Mechanism]]:
    """The three mechanisms of this expected distortion for a binary query, each after its parameter epsilon (nan: it has none)."""
    laplace, exponential = -2.0 * math.log(2.0 * flip), 2.0 * math.log((1.0 - flip) / flip)
    found = math.nan, dl.symmetric(flip, k=2)
    return {
        "binary symmetric": found,
        "Laplace": (laplace, dl.laplace_threshold(laplace)),
        "exponential": (exponential, dl.exponential(exponential)),
    }


def binary(study: Study) -> list[Row]:
    """Panels 1 and 2: every mechanism at every distortion, proved."""
    rows: list[Row] = []
    flips = (0.2,) if study.quick else (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
    for n, share in ((4, 0.0), (4, SHARE)) if study.quick else ((4, 0.0), (2, SHARE), (4, SHARE), (8, SHARE)):
        for flip in flips:
            for name, (epsilon, mechanism) in at_distortion(flip).items():
                problem = dl.WorstCaseLeakage(
                    records=dl.Records(n, alphabet=2),
                    query=dl.Parity(),
                    mechanism=mechanism,
                    adversary=dl.EntropyAtLeast(share, "max"),
                )
                proved = study.solve(problem, f"parity-n{n}-{share}-{name}-{flip}".replace(" ", "-"), gap=1e-3)
                exact = gerber(n, flip, share * n * math.log(2.0))
                assert proved.lower * (1 - 1e-9) <= exact <= proved.upper * (1 + 1e-9)  # epsilon is rounded
                rows.append(
                    {
                        "n": n,
                        "b / log |X|": share,
                        "distortion": flip,
                        "mechanism": name,
                        "epsilon, as sold": epsilon,
                        "epsilon, as it is": math.log((1.0 - flip) / flip),
                        "leakage (nats)": (proved.lower, proved.upper),
                    }
                )
    return rows


def laplace(epsilon: float) -> dl.mechanisms.Mechanism:
    """Laplace noise of scale 1/epsilon on the residue, rounded to the nearest one."""
    cuts = np.arange(MODULUS - 1) + 0.5 - np.arange(MODULUS)[:, None]
    below = np.where(cuts < 0.0, 0.5 * np.exp(-epsilon * np.abs(cuts)), 1.0 - 0.5 * np.exp(-epsilon * np.abs(cuts)))
    return dl.Channel(np.diff(below, axis=1, prepend=0.0, append=1.0).tolist())


FAMILIES: dict[str, Family] = {  # by one parameter in (0, 1); the larger it is, the more noise
    "symmetric": lambda noise: dl.symmetric(noise),
    "Laplace, rounded": lambda noise: laplace(-2.0 * math.log(noise)),
    "exponential": lambda noise: dl.exponential(-4.0 * math.log(noise)),
    "geometric": lambda noise: dl.geometric(-2.0 * math.log(noise)),
}


def calibrated(family: Family, distortion: float) -> dl.mechanisms.Mechanism:
    """The member of a family that errs this often on a uniform residue, to nine digits of its parameter."""
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if error(family(middle)) < distortion else (low, middle)
    return family(round(high, 9))


def error(mechanism: dl.mechanisms.Mechanism) -> float:
    return 1.0 - float(np.trace(mechanism.channel(np.arange(MODULUS)))) / MODULUS


def modular(study: Study) -> list[Row]:
    """Panel 3: the families beside the proved optimum."""
    rows: list[Row] = []
    question: dict[str, Any] = {
        "records": dl.Records(2 if study.quick else 4, alphabet=MODULUS),
        "query": dl.ModularSum(MODULUS),
        "adversary": dl.EntropyAtLeast(SHARE, "max"),
    }
    gap = 2e-2 if study.quick else 2e-3
    for distortion in (0.3,) if study.quick else (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        design = dl.MinLeakage(**question, distortion=dl.Hamming(), max_distortion=distortion)
        best = study.solve(design, f"sum-best-{distortion}", gap=gap)
        rows.append(
            {
                "distortion": distortion,
                "mechanism": BEST,
                "leakage (nats)": (best.lower, best.upper),
                "times": 1.0,
            }
        )
        for name, family in FAMILIES.items():
            problem = dl.WorstCaseLeakage(**question, mechanism=calibrated(family, distortion))
            proved = study.solve(problem, f"sum-{name}-{distortion}".replace(" ", "-"), gap=gap)
            assert proved.upper >= best.lower * (1.0 - 1e-6), (
                f"{name} leaks less than the least"
            )  # calibrated to nine digits
            times = proved.lower / best.upper
            rows.append(
                {
                    "distortion": distortion,
                    "mechanism": name,
                    "leakage (nats)": (proved.lower, proved.upper),
                    "times": times,
                }
            )
    return rows


def binary_summary(rows: list[Row]) -> list[Row]:
    """A line a distortion: what the mechanisms are sold as, and what all three leak."""
    lines: dict[Cell, Row] = {}
    for row in rows:
        line = lines.setdefault(row["distortion"], {"distortion": row["distortion"]})
        if row["mechanism"] == BINARY[0]:
            line["epsilon of all three"] = row["epsilon, as it is"]
        else:
            line[f"{row['mechanism']} is sold as"] = row["epsilon, as sold"]
        least, most = row["leakage (nats)"]
        name = f"all leak, n = {row['n']}, b = {row['b / log |X|']:g} log X"
        low, high = line.get(name, (least, most))
        line[name] = min(low, least), max(high, most)
    return list(lines.values())


def modular_summary(rows: list[Row]) -> list[Row]:
    """A line a distortion: what each mechanism leaks."""
    lines: dict[Cell, Row] = {}
    for row in rows:
        line = lines.setdefault(row["distortion"], {"distortion": row["distortion"]})
        line[str(row["mechanism"])] = row["leakage (nats)"]
    return list(lines.values())


def main() -> None:
    study = Study("figure-5", "Figure 5: leakage against expected distortion, three mechanisms.")
    rows, residues = binary(study), modular(study)
    study.table(rows, shown=binary_summary(rows))
    study.table(residues, "-sum", shown=modular_summary(residues))

    figure, (first, second, third) = panels(3, (11.6, 4.2))
    marks = dict(zip(BINARY, ("o", "+", "x"), strict=True))
    settings = list(dict.fromkeys((row["n"], row["b / log |X|"]) for row in rows))
    fine = np.linspace(0.005, 0.499, 200)
    for colour, (n, share) in zip(COLOURS, settings, strict=False):
        label = f"b = {share:g} log|X|, n = {n}" if share else "b = 0, any n"
        curve = [gerber(n, flip, share * n * math.log(2.0)) for flip in fine]
        first.plot(fine, curve, color=colour, lw=1.2)
        second.plot(fine, curve, color=colour, lw=1.2, label=label)
        for name, mark in marks.items():
            own = [row for row in rows if (row["n"], row["b / log |X|"], row["mechanism"]) == (n, share, name)]
            places, ends = [row["distortion"] for row in own], [row["leakage (nats)"][1] for row in own]
            second.plot(places, ends, mark, color=colour, ms=7, mfc="none")
            if name == BINARY[0]:
                first.plot(places, ends, mark, color=colour, ms=5, mfc="none")
    sold = {
        "Laplace": (lambda p: -2.0 * np.log(2.0 * p), "--"),
        "exponential": (lambda p: 2.0 * np.log((1.0 - p) / p), ":"),
    }
    for name, (epsilon, style) in sold.items():
        first.plot(fine, epsilon(fine), style, color="black", label=f"{name}: its epsilon")
    first.plot(fine, np.log((1.0 - fine) / fine), "-.", color="0.5", label="all three: the epsilon they have")
    first.plot([], [], "o-", color="black", mfc="none", label="binary symmetric: its leakage")
    first.set_yscale("log")
    first.set_ylim(1e-3, 10.0)
    first.set_title("the paper's way: leakage or epsilon")
    second.set_title("on equal terms: all three leak")
    for name, mark in marks.items():
        second.plot([], [], mark, color="black", mfc="none", label=name)
    for (name, mark), colour in zip({BEST: "_", **SUM_MARKS}.items(), ("black", *COLOURS), strict=True):
        own = [row for row in residues if row["mechanism"] == name]
        places, ends = [row["distortion"] for row in own], [row["leakage (nats)"][name != BEST] for row in own]
        size = 16 if name == BEST else 5
        third.plot(places, ends, mark, ls="", color=colour, ms=size, mfc="none", label=name)
    third.set_title(f"sum modulo {MODULUS}: they differ")
    first.set_ylabel("nats")
    for panel in (first, second, third):
        panel.set_xlabel("expected distortion (Hamming)")
        panel.legend(frameon=False, fontsize="small")
    study.close(figure)


if __name__ == "__main__":
    main()
