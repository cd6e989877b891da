"""Section 4.1.1 of the source paper: its two queries, a linear and a quadratic sum modulo m, through the symmetric channel.

Both formulas are lost. Ours: the sum of the letters modulo 3, and the sum of their squares modulo 3, of four letters 0, 1, 2, through
the paper's generalised binary symmetric channel (33) with flip probability 0.2. Leakage against entropy, proved, beside Algorithm 1
from the uniform start and from random ones.
"""

from __future__ import annotations

import itertools

from _paper import COLOURS, Row, Study, ascents, panels

import dalenius as dl

MODULUS, RECORDS, FLIP = 3, 4, 0.2
SHARES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)


def queries(records: int) -> dict[str, dl.queries.Query]:
    datasets = itertools.product(range(MODULUS), repeat=records)
    squares = dl.Table([sum(letter * letter for letter in dataset) % MODULUS for dataset in datasets])
    return {"linear": dl.ModularSum(MODULUS), "quadratic": squares}


def main() -> None:
    study = Study("queries", "Section 4.1.1: a linear and a quadratic sum modulo 3, leakage against entropy.")
    rows: list[Row] = []
    for name, query in queries(3 if study.quick else RECORDS).items():
        for share in (0.6, 0.95) if study.quick else SHARES:
            problem = dl.WorstCaseLeakage(
                records=dl.Records(3 if study.quick else RECORDS, alphabet=MODULUS),
                query=query,
                mechanism=dl.symmetric(FLIP, k=MODULUS),
                adversary=dl.EntropyAtLeast(share, "max"),
            )
            proved = study.solve(problem, f"{name}-b{share:g}", gap=1e-3, time_limit=20.0)
            stops = ascents(problem, proved, 1 if study.quick else 4)
            rows.append(
                {
                    "query": name,
                    "b / log |X|": share,
                    "certified": (proved.lower, proved.upper),
                    "uniform start": stops.uniform,
                    "random starts, long steps": (min(stops.long), max(stops.long)),
                    "random starts, short steps": (min(stops.short), max(stops.short)),
                }
            )
    study.table(rows)

    figure, axes = panels(2, (9.6, 4.2))
    for panel, (name, lines) in zip(axes, itertools.groupby(rows, key=lambda row: row["query"]), strict=True):
        own = list(lines)
        x = [row["b / log |X|"] for row in own]
        certified = [row["certified"] for row in own]
        panel.plot(
            x, [upper for _, upper in certified], "_", color="black", ms=12, label="certified, and the band it proves"
        )
        following = [*(lower for lower, _ in certified[1:]), certified[-1][0]]
        panel.fill_between(x, following, [upper for _, upper in certified], step="post", color="0.5", alpha=0.25, lw=0)
        for key, mark, colour in (
            ("random starts, long steps", "o-", COLOURS[2]),
            ("random starts, short steps", "v-", COLOURS[3]),
        ):
            for place, label in ((0, None), (1, f"{key}: least and best")):
                panel.plot(
                    x, [row[key][place] for row in own], mark, color=colour, ms=5, mfc="none", lw=0.6, label=label
                )
        panel.plot(x, [row["uniform start"] for row in own], "x", color=COLOURS[0], ms=8, label="uniform start")
        panel.set_title(f"{name} sum modulo {MODULUS}")
        panel.set_xlabel("entropy bound b, share of log |X|")
    axes[0].set_ylabel("leakage about one record [nats]")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    study.close(figure)


if __name__ == "__main__":
    main()
