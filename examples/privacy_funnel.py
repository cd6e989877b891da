"""What may a table say, and how much of a secret does that reveal? Three real tables, between proved ends.

* R. C. Fair, "A Theory of Extramarital Affairs", Journal of Political Economy 86 (1978): the secret is whether a woman reports an
  affair; the data are how religious she is (1 to 4) and how she rates her marriage (1 to 5), 6,366 women.
* Breast cancer Wisconsin (W. N. Street, W. H. Wolberg, O. L. Mangasarian 1993; ships with scikit-learn): the secret is whether a
  tumour is malignant; the data are its mean radius, in eight classes of the same size.
* Wine (M. Forina and others 1988; ships with scikit-learn): the secret is which of three growers made it; the data are its proline.

For each table: the most that a release can say about the data (in bits), as a function of what it may reveal about the secret. The
band is proved; the source of the funnel's limits is a mutual information that the release certainly keeps. Beside it rivals, each
where it comes to rest at a third of all there is to reveal.
"""

from __future__ import annotations

import argparse
import math
import time
from fractions import Fraction
from pathlib import Path

import dalenius as dl
from dalenius.intervals import interval_text

TABLES = {
    "affair, from religion and marriage": [
        [6, 16, 68, 216, 307, 8, 46, 179, 527, 688, 9, 50, 160, 631, 865, 2, 15, 39, 144, 337],
        [12, 40, 110, 130, 116, 28, 100, 222, 308, 161, 29, 71, 184, 246, 177, 5, 10, 31, 40, 33],
    ],
    "malignant, from the radius": [
        [0, 3, 6, 8, 20, 39, 65, 71],
        [72, 68, 65, 63, 51, 32, 6, 0],
    ],
    "grower, from the proline": [
        [0, 0, 0, 0, 2, 13, 21, 23],
        [22, 17, 11, 8, 9, 4, 0, 0],
        [1, 5, 12, 13, 11, 6, 0, 0],
    ],
}


def law_of(counts: list[list[int]]) -> list[list[Fraction]]:
    """The shares of a table."""
    whole = sum(map(sum, counts))
    return [[Fraction(n, whole) for n in row] for row in counts]


def revealed(law: list[list[Fraction]]) -> float:
    """I(S;X) in nats: what the data themselves reveal."""
    rows, columns = [sum(row) for row in law], [sum(column) for column in zip(*law, strict=True)]
    return sum(
        float(p) * math.log(p / (rows[s] * columns[x])) for s, row in enumerate(law) for x, p in enumerate(row) if p
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="The privacy funnel of three real tables.")
    parser.add_argument("-o", "--output", type=Path, default=Path("demo-output"))
    parser.add_argument("--quick", action="store_true", help="one table, a wide band, one start of each rival")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    gap, points, seeds = (0.05, 4, 1) if options.quick else (0.005, 24, 5)
    bit = math.log(2.0)
    bands, started = {}, time.monotonic()
    for name, counts in list(TABLES.items())[1:2] if options.quick else TABLES.items():
        law = law_of(counts)
        whole = revealed(law)
        funnel = dl.PrivacyFunnel(law, 0.95 * whole, title=name)
        curve = dl.answers.FunnelCurve.of(funnel, gap=gap, points=points)
        shares = [j / 30 for j in range(1, 29)]
        bands[name] = [(share, *(end / bit for end in curve.at(share * whole))) for share in shares]
        print(f"\n{name}: the data reveal {whole / bit:.4f} bits about the secret; {len(curve.points)} solves")
        print("  revealed, share   said of the data, bits (proved)")
        for share, low, high in bands[name][4::5]:
            print(f"  {share:15.3f}   {interval_text(low, high, places=3)}")
        limit, last = curve.points[-1]
        print(f"  {dl.verify(funnel.within(limit), last.certificate).lines[0]}")
        file = options.output / f"privacy-funnel-{len(bands)}.csv"
        file.write_text(curve.table([share * whole for share in shares]))
        compared = dl.compare(dl.PrivacyFunnel(law, whole / 3.0), seeds=seeds, budget=20.0, gap=gap)
        for entry in compared.entries:
            print(f"  {entry.method:15}   {entry.value / bit:.4f} bits, at least {entry.shortfall:.1%} short")
    print(f"\n{time.monotonic() - started:.0f} s in all")
    draw(bands, options.output / "privacy-funnel.png")


def draw(bands: dict[str, list[tuple[float, float, float]]], path: Path) -> None:
    """The bands, each of one table."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    axes = figure.subplots()
    for name, band in bands.items():
        shares, lows, highs = zip(*band, strict=True)
        axes.fill_between(shares, lows, highs, alpha=0.4)
        axes.plot(shares, highs, linewidth=1, label=name)
    axes.set_xlabel("what may be revealed about the secret, as a share of what the data reveal")
    axes.set_ylabel("most that is said about the data, bits")
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=150)
    print(f"Picture: {path}")


if __name__ == "__main__":
    main()
