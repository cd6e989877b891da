"""A browser reports the same answer every day, each time at random: what do T reports reveal about the person?

RAPPOR (U. Erlingsson, V. Pihur, A. Korolova, CCS 2014) randomises twice. Once and for all, a bit is replaced by 1 or by 0 with
probability f/2 each (the *permanent* response, which is kept); every day, a kept 1 is reported as 1 with probability q, and a kept 0
with probability p (the *instantaneous* response). Its epsilon is stated for one report and for infinitely many; how much the reports
of a week, a month or a year reveal in between has been asked since. With the paper's p = 1/2, q = 3/4, f = 1/2:

    days    both       instantaneous alone
    1       0.0121     0.0489 bits
    365     0.1887     1
    ever    0.1888     1

The number of ones among T reports is all that they say, so that T reports are a matrix of T + 1 outputs. Of one answer out of three,
a bit each, they are (T + 1)^3. The largest information over all laws of the answer is proved for every entry.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
from pathlib import Path

from matplotlib.figure import Figure

import dalenius as dl
from dalenius.intervals import interval_text
from dalenius.report import save_picture

P, Q, F = 1 / 2, 3 / 4, 1 / 2


def reports(days: int, f: float) -> list[list[float]]:
    """Probability of each number of ones, for a bit of 0 and of 1."""
    daily = [[math.comb(days, k) * p**k * (1 - p) ** (days - k) for k in range(days + 1)] for p in (P, Q)]
    kept = [(1 - f / 2, f / 2), (f / 2, 1 - f / 2)]
    return [[sum(a * row[k] for a, row in zip(law, daily, strict=True)) for k in range(days + 1)] for law in kept]


def one_hot(bits: list[list[float]], answers: int) -> list[list[float]]:
    """Probability of what all bits report, where bit a is 1 for answer a alone."""
    rows = ([bits[a == own] for a in range(answers)] for own in range(answers))
    return [[math.prod(entries) for entries in itertools.product(*row)] for row in rows]


def revealed(rows: list[list[float]]) -> dl.answers.Result:
    """The most that an output reveals about one person's answer, in bits, whatever the answer's law."""
    return dl.solve(
        dl.WorstCaseLeakage(
            records=dl.Records(1, alphabet=len(rows)),
            query=dl.Identity(),
            mechanism=dl.Channel(rows),
            adversary=dl.ProductPriors(),
        ),
        gap=1e-6,
    ).to("bits")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to a month, and three answers for a week")
    parser.add_argument("-o", "--output", type=Path, default=Path("demo-output"))
    arguments = parser.parse_args()
    days = [1, 7, 30] if arguments.quick else [1, 7, 30, 90, 365]
    kept = [[1 - F / 2, F / 2], [F / 2, 1 - F / 2]]
    cases = {
        "yes or no": [(str(T), reports(T, F), reports(T, 0)) for T in days] + [("ever", kept, [[1, 0], [0, 1]])],
        "one of three": [
            (str(T), one_hot(reports(T, F), 3), one_hot(reports(T, 0), 3))
            for T in ([1, 7] if arguments.quick else [1, 7, 30])
        ]
        + [("ever", one_hot(kept, 3), one_hot([[1, 0], [0, 1]], 3))],
    }
    rows = []
    for answer, listed in cases.items():
        print(f"\n{answer}: bits about the person\n  days  permanent and instantaneous  instantaneous alone")
        for name, *both in listed:
            two, alone = map(revealed, both)
            ends = (interval_text(one.lower, one.upper, places=5) for one in (two, alone))
            print(f"  {name:>4}  {next(ends):29}{next(ends)}")
            rows.append((answer, name, two.lower, two.upper, alone.lower, alone.upper))
    arguments.output.mkdir(parents=True, exist_ok=True)
    with (arguments.output / "reports-over-time.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("answer", "days", "both, least", "both, most", "instantaneous, least", "instantaneous, most"))
        writer.writerows(rows)
    axis = Figure(figsize=(6, 4), layout="constrained").add_subplot()
    drawn = [row for row in rows if row[0] == "yes or no"]
    for column, label in ((3, "permanent and instantaneous"), (5, "instantaneous alone")):
        axis.plot([row[1] for row in drawn], [row[column] for row in drawn], marker="o", label=label)
    axis.set(xlabel="days of reports", ylabel="bits about one yes or no", ylim=(0, 1.05))
    axis.legend()
    save_picture(axis, arguments.output / "reports-over-time.png")
    print(f"proved: {2 * len(rows)} intervals, each by the independent checker")


if __name__ == "__main__":
    main()
