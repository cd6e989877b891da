"""What can a noisy count over eight survey answers teach about one of them?

The survey is real: R. C. Fair, "A Theory of Extramarital Affairs", Journal of Political Economy 86 (1978), 45-61, 6,366 married
women, which ships with statsmodels. Cross its columns age, yrs_married, children, religious, educ and occupation, and 2,021 of
the 2,099 cells that occur hold at most 12 women. In the cell of this story (27 years old, 6 years married, 1 child, mildly
religious, college graduate, white-collar) there are 8; 3 report an affair:

    data = statsmodels.datasets.fair.load_pandas().data
    cell = data.query("age == 27 and yrs_married == 6 and children == 1 and religious == 2 and educ == 16 and occupation == 3")
    len(cell), (cell.affairs > 0).sum()            # (8, 3)

Two ways to publish the cell's count, both from the model library:

* the count itself through a truncated geometric mechanism, epsilon = 0.5;
* every woman's answer randomised (given truly with probability 3/4, Warner 1965), then the number of yes-answers.

Differential privacy promises little about one woman *if her answer is independent of the others'*. Against an adversary who may know
any correlation, but is left with b nats of uncertainty about the eight answers, the leakage is what this script proves. If correlation
stays inside families of four, it is 0.37 bits, whatever the population.
"""

from __future__ import annotations

import argparse
import math
import time
from fractions import Fraction
from pathlib import Path

import dalenius as dl
from dalenius.catalogue.models import library_model
from dalenius.intervals import gap_text, interval_text, text_above
from dalenius.report import curve_picture, curve_table, save_picture
from dalenius.studies.curves import CurvePoint, entropy_curve

RELEASES = {
    "noisy count, epsilon 0.5": "real/fair-cell-geometric",
    "count of randomised answers, truth 3/4": "real/fair-cell-randomized-response",
}


def independent_leakage(epsilon: float) -> float:
    """The most an epsilon-DP release can leak about a bit that is independent of the rest: log 2 - h(1/(1 + e^epsilon))."""
    p = 1.0 / (1.0 + math.exp(epsilon))
    return math.log(2.0) + p * math.log(p) + (1.0 - p) * math.log(1.0 - p)


def sweep(name: str, model: str, shares: list[Fraction], time_limit: float, folder: Path) -> list[CurvePoint]:
    """Certified intervals over the shares; models, certificates and a table go into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    print(f"\n{name}: leakage about one answer, in bits (each line proved by the checker)")
    print("  unknown to the adversary      proved interval            gap   seconds")
    points, files = [], list[str]()
    for point in entropy_curve(library_model(model).load(), shares, gap=2e-3, time_limit=time_limit):
        bits = point.result.to("bits")
        unknown = f"{8 * float(point.share):4.1f} of 8 bits"
        ends = interval_text(bits.lower, bits.upper, places=6)
        print(f"  {unknown:26}  {ends:20}  {gap_text(bits.gap):>8}  {bits.seconds:6.1f}", flush=True)
        points.append(point)
        (folder / f"point-{len(points)}.toml").write_text(dl.dumps(point.problem))
        files.append(point.result.certificate.write(folder / f"point-{len(points)}.cert").name)
    (folder / "curve.csv").write_text(curve_table(points, units="bits", certificates=files))
    return points


def household(size: int) -> dl.answers.Result:
    """The noisy count of a million people, of whom only those of one household are correlated; proved."""
    country = dl.WorstCaseLeakage(
        records=dl.Records(1_000_000, alphabet=2),
        query=dl.Count(),
        mechanism=dl.geometric(0.5),
        adversary=dl.IndependentBlocks(size),
    )
    return dl.solve(country, gap=1e-3).to("bits")


def main() -> None:
    parser = argparse.ArgumentParser(description="Audit two releases of one small cell of a survey.")
    parser.add_argument("-o", "--output", type=Path, default=Path("demo-output"))
    parser.add_argument("--points", type=int, default=9, help="entropy bounds per release")
    parser.add_argument("--time-limit", type=float, default=8.0, help="seconds per point")
    options = parser.parse_args()
    shares = [Fraction(j, options.points - 1) for j in range(options.points)]

    started = time.monotonic()
    curves = {}
    for name, model in RELEASES.items():
        folder = options.output / model.split("/")[1]
        curves[name] = sweep(name, model, shares, options.time_limit, folder)
    title = "A count over eight survey answers: what it can teach about one"
    families = {size: household(size) for size in (1, 2, 4)}
    axes = curve_picture(curves, units="bits", title=title)
    four = families[4]
    axes.axhline(four.upper, color="0.4", linestyle="--", linewidth=1)
    axes.annotate(
        f"a family of four: {interval_text(four.lower, four.upper, places=4)} bits, whatever the population",
        (0.02, four.upper),
        xytext=(0, 4),
        textcoords="offset points",
    )
    picture = save_picture(axes, options.output / "fair-survey.png")

    middle = options.output / "fair-cell-geometric" / f"point-{1 + len(shares) // 2}"
    model, certificate = middle.with_suffix(".toml"), middle.with_suffix(".cert")
    verdict = dl.verify(model, certificate)
    most = text_above(independent_leakage(0.5) / math.log(2), 4)
    print(f"\nAn independent bit would leak at most {most} bits through the noisy count.")
    print(
        "If answers are correlated inside households only, the noisy count of a million people reveals about one of them, in bits:"
    )
    for size, bits in families.items():
        print(f"  households of {size}: {interval_text(bits.lower, bits.upper, places=4)}")
    print(f"The independent checker, once more, on {certificate}:")
    print("\n".join(f"  {line}" for line in verdict.lines))
    print(f"\nPicture: {picture}   ({time.monotonic() - started:.0f} s in all)")
    print(f"Check it yourself: .venv/bin/dalenius verify {model} {certificate}")


if __name__ == "__main__":
    main()
