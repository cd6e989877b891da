"""Table 3 of the source paper: what the parity of four bits leaks, epsilon = 1, in nats.

Published numbers beside proofs, and beside where the paper's Algorithm 1 comes to rest: from its uniform start and from random
ones, with long steps (our default) and with short ones. `published_numbers_under_report.py` tells the story at more length.
"""

from __future__ import annotations

import math

from _paper import COLOURS, Row, Study, ascents, gerber, panels

import dalenius as dl

BITS = 4
PUBLISHED = {
    "Laplace": {"0": 0.079, "0.5": 0.062, "1": 0.041, "1.5": 0.022, "2": 0.009, "1 max": 0.000},
    "exponential": {"0": 0.032, "0.5": 0.024, "1": 0.015, "1.5": 0.008, "2": 0.003, "1 max": 0.000},
}
MECHANISMS = {"Laplace": dl.laplace_threshold(1.0), "exponential": dl.exponential(1.0)}
FLIP = {"Laplace": math.exp(-0.5) / 2.0, "exponential": 1.0 / (1.0 + math.exp(0.5))}


def main() -> None:
    study = Study("table-3", "Table 3: parity of four bits, Laplace and exponential mechanism, epsilon = 1.")
    rows: list[Row] = []
    for mechanism, published in PUBLISHED.items():
        for bound in ["1", "2"] if study.quick else published:
            adversary = dl.EntropyAtLeast(bound if "max" in bound else f"{bound} nats")
            problem = dl.WorstCaseLeakage(
                records=dl.Records(BITS, alphabet=2),
                query=dl.Parity(),
                mechanism=MECHANISMS[mechanism],
                adversary=adversary,
            )
            proved = study.solve(problem, f"{mechanism}-{bound}".replace(" ", "-"), gap=1e-5)
            stops = ascents(problem, proved, 2 if study.quick else 10)
            nats = min(problem.entropy_bound, BITS * math.log(2.0))
            rows.append(
                {
                    "mechanism": mechanism,
                    "b (nats)": round(nats, 3),
                    "published": published[bound],
                    "certified": (proved.lower, proved.upper),
                    "closed form": gerber(BITS, FLIP[mechanism], nats),
                    "ascent, uniform start": stops.uniform,
                    "random starts, long steps": (min(stops.long), max(stops.long)),
                    "random starts, short steps": (min(stops.short), max(stops.short)),
                }
            )
    study.table(rows)

    figure, axes = panels(2, (9.6, 4.0))
    for panel, mechanism in zip(axes, PUBLISHED, strict=True):
        own = [row for row in rows if row["mechanism"] == mechanism]
        x = [row["b (nats)"] for row in own]
        fine = [BITS * math.log(2.0) * j / 200 for j in range(201)]
        panel.plot(fine, [gerber(BITS, FLIP[mechanism], b) for b in fine], color="black", lw=1, label="closed form")
        panel.plot(x, [row["certified"][1] for row in own], "_", color="black", ms=14, label="certified")
        for key, mark, colour in (
            ("random starts, long steps", "o-", COLOURS[2]),
            ("random starts, short steps", "v-", COLOURS[3]),
        ):
            for place, label in ((0, None), (1, f"{key}: least and best")):
                panel.plot(x, [row[key][place] for row in own], mark, color=colour, mfc="none", lw=0.6, label=label)
        panel.plot(x, [row["ascent, uniform start"] for row in own], "x", color=COLOURS[0], ms=8, label="uniform start")
        panel.plot(x, [row["published"] for row in own], "s--", color=COLOURS[1], label="published")
        panel.set_title(f"{mechanism} mechanism, epsilon = 1")
        panel.set_xlabel("entropy bound b [nats]")
    axes[0].set_ylabel("leakage about one of four bits [nats]")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    study.close(figure)


if __name__ == "__main__":
    main()
