"""How much less could a release leak? Mechanisms from the textbook beside the certified best one.

Three statistics, each with its distortion and with an adversary who may know any correlation of the records, but not everything:

* the number of ones among six bits, absolute error, at least half of the six bits unknown;
* the sum of three letters modulo 3, error probability, at least 80 % unknown;
* the parity of four bits, error probability, at least 80 % unknown.

For each of them the frontier: what the best mechanism leaks at every expected distortion, as a band between proofs. The classical
mechanisms are audited, so their leakage is an interval with a proof, too. Two comparisons follow, which rest on proofs alone:

* at equal distortion: the classical mechanism leaks at least so many times what the designed one leaks at most;
* at equal leakage: a designed mechanism that leaks no more is wrong by at most so much.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

import dalenius as dl
from dalenius.intervals import ends_text, interval_text
from dalenius.report import frontier_picture, frontier_table, save_picture
from dalenius.studies.curves import Band, spread_budgets

Family = Callable[[float], dl.mechanisms.Mechanism]
HEADER = ("mechanism", "distortion", "it leaks (nats, proved)", "the best leaks", "times", "the best distorts")


@dataclass(frozen=True)
class Row:
    """A classical mechanism beside the frontier."""

    mechanism: str
    distortion: float
    told: dl.answers.Result
    best: tuple[float, float]
    enough: float

    @property
    def leakage(self) -> tuple[float, float]:
        return self.told.lower, self.told.upper

    @property
    def times(self) -> float:
        """It leaks at least so many times what a designed mechanism leaks."""
        return self.leakage[0] / self.best[1] if self.best[1] > 0.0 else 1.0

    def texts(self) -> tuple[str, ...]:
        own, best = (interval_text(*ends, places=5) for ends in (self.leakage, self.best))
        return self.mechanism, f"{self.distortion:.4f}", own, best, f"{self.times:.3f}", f"<= {self.enough:.4f}"


@dataclass(frozen=True)
class Story:
    name: str
    problem: dl.MinLeakage
    families: dict[str, Family]  # by one parameter in (0, 1); the larger it is, the more noise
    points: int  # of the frontier
    shares: Sequence[float] = (0.25, 0.5, 0.75)  # of a constant mechanism's distortion: where to compare


def stories(bits: int, points: int) -> Iterator[Story]:
    count = dl.MinLeakage(
        records=dl.Records(bits, alphabet=2),
        query=dl.Count(),
        distortion=dl.Absolute(),
        max_distortion=0,
        adversary=dl.EntropyAtLeast("0.5 max"),
        title=f"number of ones among {bits} bits",
    )
    noises: dict[str, Family] = {
        "truncated geometric": lambda noise: dl.geometric(-2.0 * math.log(noise)),
        "exponential": lambda noise: dl.exponential(-4.0 * math.log(noise)),
        "randomised response, values": lambda noise: dl.symmetric(noise),
    }
    bitwise: dict[str, Family] = {"randomised response, bits": lambda noise: each_bit(bits, noise / 2.0)}
    yield Story("bit count", count, noises | bitwise, points)
    residue = dl.MinLeakage(
        records=dl.Records(3, alphabet=3),
        query=dl.ModularSum(3),
        distortion=dl.Hamming(),
        max_distortion=0,
        adversary=dl.EntropyAtLeast("0.8 max"),
        title="sum of three letters modulo 3",
    )
    yield Story("sum mod 3", residue, noises, 5)
    parity = dl.MinLeakage(
        records=dl.Records(4, alphabet=2),
        query=dl.Parity(),
        distortion=dl.Hamming(),
        max_distortion=0,
        adversary=dl.EntropyAtLeast("0.8 max"),
        title="parity of four bits",
    )
    two: dict[str, Family] = {
        "Laplace, thresholded": lambda noise: dl.laplace_threshold(-2.0 * math.log(noise)),
        "exponential": noises["exponential"],
        "symmetric flip": lambda noise: dl.symmetric(noise / 2.0, k=2),
    }
    yield Story("parity", parity, two, 5, (0.5,))


def each_bit(bits: int, flip: float) -> dl.mechanisms.Mechanism:
    """Every bit is flipped with this probability (Warner 1965), then they are counted."""
    rows = []
    for ones in range(bits + 1):
        told = np.convolve(binomial(ones, 1.0 - flip), binomial(bits - ones, flip))
        rows.append(told.round(12).tolist())
    return dl.Channel(rows)


def binomial(n: int, p: float) -> list[float]:
    return [math.comb(n, k) * p**k * (1.0 - p) ** (n - k) for k in range(n + 1)]


def distortion(problem: dl.MinLeakage, mechanism: dl.mechanisms.Mechanism) -> float:
    """Its expected distortion, in doubles."""
    rows = mechanism.channel(problem.query.values(problem.records))
    return float(np.sum(problem.input_law[:, None] * problem.cost * rows))


def calibrated(problem: dl.MinLeakage, family: Family, target: float) -> dl.mechanisms.Mechanism | None:
    """The member of a family with about this distortion; None if even the noisiest one has less."""
    low, high = 1e-6, 1.0 - 1e-6
    if distortion(problem, family(high)) < target:
        return None
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if distortion(problem, family(middle)) < target else (low, middle)
    return family(round(high, 9))


def compare(story: Story, band: Band, options: argparse.Namespace) -> Iterator[Row]:
    for name, family in story.families.items():
        for share in story.shares:
            mechanism = calibrated(story.problem, family, share * float(story.problem.constant_distortion))
            if mechanism is None:
                continue
            audit = dl.WorstCaseLeakage(
                records=story.problem.records,
                query=story.problem.query,
                mechanism=mechanism,
                adversary=story.problem.adversary,
            )
            told = dl.solve(audit, gap=0.3 * options.gap, time_limit=options.time_limit)
            spent = distortion(story.problem, mechanism)
            best = band.lower(spent + 1e-9), band.upper(spent - 1e-9)  # doubles are off by less
            yield Row(name, spent, told, best, enough(story.problem, band, told.lower))


def enough(problem: dl.MinLeakage, band: Band, leakage: float) -> float:
    """A distortion at which a designed mechanism leaks no more than this."""
    low, high = 0.0, float(problem.constant_distortion)
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if band.upper(middle) <= leakage else (middle, high)
    return high


def solved(story: Story, options: argparse.Namespace, folder: Path) -> list[dl.answers.FrontierPoint]:
    """The frontier, from its noisy end, with models, certificates and mechanisms in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    budgets: list[Fraction] = spread_budgets(story.problem, story.points)[::-1]
    found = []
    for point in dl.frontier(story.problem, budgets, gap=options.gap, time_limit=options.time_limit):
        found.append(point)
        stem = folder / f"point-{len(found)}"
        stem.with_suffix(".toml").write_text(dl.dumps(point.problem))
        point.result.certificate.write(stem.with_suffix(".cert"))
        if point.result.mechanism is not None:
            point.result.mechanism.save(stem.with_suffix(".json"))
    (folder / "frontier.csv").write_text(frontier_table(found))
    return found


def line(cells: Sequence[str]) -> str:
    return f"  {cells[0]:28} {cells[1]:>10}  {cells[2]:23}  {cells[3]:20}  {cells[4]:>6}  {cells[5]:>17}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Classical mechanisms beside the certified best one.")
    parser.add_argument("-o", "--output", type=Path, default=Path("designed-output"))
    parser.add_argument("--bits", type=int, default=6, help="bits to count")
    parser.add_argument("--points", type=int, default=9, help="budgets of the count's frontier")
    parser.add_argument("--gap", type=float, default=0.02, help="relative gap of a point of the frontier")
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds for a point, or for an audit")
    options = parser.parse_args()

    started = time.monotonic()
    rows: list[tuple[str, Row]] = []
    print(line(HEADER))
    for story in stories(options.bits, options.points):
        points = solved(story, options, options.output / story.name.replace(" ", "-"))
        most = float(story.problem.constant_distortion)
        print(f"{story.problem.title} (nothing at all distorts {most:.4f})")
        for row in compare(story, Band(points), options):
            rows.append((story.name, row))
            print(line(row.texts()), flush=True)
        if story.name == "bit count":
            curve, folder = points, options.output / "bit-count"
    with (options.output / "comparison.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(
            ["statistic", "mechanism", "distortion", "leaks_lower", "leaks_upper", "best_lower", "best_upper", "enough"]
        )
        table.writerows(
            [name, row.mechanism, row.distortion, *ends_text(*row.leakage), *ends_text(*row.best), row.enough]
            for name, row in rows
        )

    others = {
        family: [(row.distortion, row.told) for name, row in rows if name == "bit count" and row.mechanism == family]
        for family in dict.fromkeys(row.mechanism for name, row in rows if name == "bit count")
    }
    title = f"Number of ones among {options.bits} bits, half of their entropy unknown"
    picture = save_picture(
        frontier_picture({"designed": curve}, title=title, others=others), options.output / "designed.png"
    )

    middle = 1 + len(curve) // 2
    design = curve[middle - 1].result
    print(f"\nThe designed mechanism of distortion at most {float(curve[middle - 1].budget):.4f}, {design}:")
    print("\n".join(f"  {text}" for text in str(design.mechanism).splitlines()))
    model, certificate = folder / f"point-{middle}.toml", folder / f"point-{middle}.cert"
    print(f"The independent checker, once more, on {certificate}:")
    print("\n".join(f"  {text}" for text in dl.verify(model, certificate).lines[:2]))
    print(f"\nPicture: {picture}   ({time.monotonic() - started:.0f} s in all)")


if __name__ == "__main__":
    main()
