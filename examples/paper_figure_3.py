"""Figure 3 of the source paper: leakage against the adversary's entropy, parity of n bits, binary symmetric channel.

The figure's own sizes and flips are lost: n = 2, 4, 6, 8 and flips 0.1 to 0.4 are ours. Each point is proved, and must contain the
closed form (Mrs. Gerber's lemma); beside it Algorithm 1 from the paper's uniform start, and from random starts with long and with
short steps. The paper's curves have "non-monotonic segments", which it puts down to local optima; the true curve falls.
"""

from __future__ import annotations

import itertools
import math

from _paper import COLOURS, Row, Study, ascents, gerber, panels, rises

import dalenius as dl

BEYOND = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)  # bounds in bits, less n - 1, where the curve starts to fall


def bounds(n: int, quick: bool) -> list[float]:
    """Entropy bounds in bits, few where the curve is flat; two about (n+1)/2, where Theorem 3 stops to free a row at the uniform law.

    There c_a = (b - log 2 - (n-1)/2 log 2) / (1/2) turns positive: the row keeps to the uniform law, whose gradient is 0.
    """
    free = (n + 1) / 2
    points = (
        {free - 0.1, n - 0.5, 1.0 * n}
        if quick
        else {0.0, (n - 1) / 4, free - 0.1, free + 0.1, *(n - 1 + x for x in BEYOND)}
    )
    return sorted(round(point, 9) for point in points)


def main() -> None:
    study = Study("figure-3", "Figure 3: parity of n bits through a binary symmetric channel, leakage against entropy.")
    sizes, flips = ((4,), ("0.1", "0.3")) if study.quick else ((2, 4, 6, 8), ("0.1", "0.2", "0.3", "0.4"))
    rows: list[Row] = []
    points = [(n, flip, bits) for n in sizes for flip in flips for bits in bounds(n, study.quick)]
    for n, flip, bits in points:
        problem = dl.WorstCaseLeakage(
            records=dl.Records(n, alphabet=2),
            query=dl.Parity(),
            mechanism=dl.symmetric(flip, k=2),
            adversary=dl.EntropyAtLeast(f"{bits:g} bits"),
        )
        proved = study.solve(problem, f"n{n}-flip{flip}-{bits:g}-bits", gap=1e-3)
        exact = gerber(n, float(flip), bits * math.log(2.0))
        assert proved.lower - 1e-12 <= exact <= proved.upper + 1e-12
        stops = ascents(problem, proved, 2 if study.quick else 3)
        rows.append(
            {
                "n": n,
                "flip": flip,
                "b (bits)": bits,
                "certified": (proved.lower, proved.upper),
                "closed form": exact,
                "uniform start": stops.uniform,
                "long steps": (min(stops.long), max(stops.long)),
                "short steps": (min(stops.short), max(stops.short)),
                **{f"short steps, seed {seed}": value for seed, value in enumerate(stops.short, 1)},
            }
        )
    curves = {key: list(own) for key, own in itertools.groupby(rows, key=lambda row: (row["n"], row["flip"]))}
    study.table(rows, shown=[summary(own) for own in curves.values()])

    figure, axes = panels(len(sizes), (2.9 * len(sizes) + 0.6, 4.2))
    for panel, n in zip(axes, sizes, strict=True):
        fine = [n * j / 300 for j in range(301)]
        for colour, flip in zip(COLOURS, flips, strict=False):
            own = curves[n, flip]
            x = [row["b (bits)"] for row in own]
            exact = [gerber(n, float(flip), b * math.log(2.0)) for b in fine]
            panel.plot(fine, exact, color=colour, lw=1.4, label=f"certified, flip {flip}")
            panel.plot(x, [row["certified"][1] for row in own], "_", color=colour, ms=9)
            panel.plot(x, [row["uniform start"] for row in own], "x", color=colour, ms=6)
            panel.plot(x, [row["short steps, seed 1"] for row in own], "v:", color=colour, ms=5, lw=0.8, mfc="none")
        panel.set_title(f"n = {n}")
        panel.set_xlabel("entropy bound b [bits]")
    axes[0].set_ylabel("leakage about one bit [nats]")
    axes[0].plot([], [], "x", color="black", label="Algorithm 1, uniform start")
    axes[0].plot([], [], "v:", color="black", mfc="none", label="Algorithm 1, random start, short steps")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    study.close(figure)


def summary(own: list[Row]) -> Row:
    """One line a curve, for the page."""
    told = [row for row in own if row["certified"][0] > 0.0]
    arrived = [row["b (bits)"] for row in told if row["uniform start"] >= 0.999 * row["certified"][0]]
    seeds = [key for key in own[0] if key.startswith("short steps, seed")]
    half = next(row for row in own if row["b (bits)"] == own[0]["n"] - 0.5)
    return {
        "n": own[0]["n"],
        "flip": own[0]["flip"],
        "certified, b up to n - 1 bits": own[0]["certified"],
        "certified, b = n - 0.5 bits": half["certified"],
        "uniform start arrives up to b (bits)": max(arrived, default="nowhere"),
        "best start, least share of the proof, long steps": min(
            row["long steps"][1] / row["certified"][1] for row in told
        ),
        "short steps": min(row["short steps"][1] / row["certified"][1] for row in told),
        "rises along short steps": sum(rises([row[seed] for row in own]) for seed in seeds),
    }


if __name__ == "__main__":
    main()
