"""Figure 6 of the source paper: the least leakage for every bound on the expected distortion (Problem 2).

The figure's sizes are lost: the parity of n = 2, 4, 6 bits with b = 0 and b = 0.9 log |X| is ours. The proved least leakage beside
the paper's Algorithm 6, from its uniform start and from a random one: what the algorithm believes its mechanism leaks (to the prior
that its own Algorithm 1 found), and what the mechanism does leak (audited, proved). Beyond the paper, a statistic that is no parity:
the number of ones among four bits.
"""

from __future__ import annotations

import math

import numpy as np
from _paper import COLOURS, Row, Study, gerber, panels

import dalenius as dl
from dalenius.baselines import DesignSettings, design_run, full_joint

SHARE = 0.9  # of log |X|, the entropy bound of the parities
TOLERANCE, ROUNDS, FEW = 1e-4, 12, 5  # of Algorithm 6; few rounds where each takes long


def raced(study: Study, problem: dl.MinLeakage, name: str, rounds: int) -> Row:
    """The proved least leakage; what Algorithm 6 believes, and what its mechanism leaks, from the uniform start and a random one."""
    settings = DesignSettings(tolerance=TOLERANCE, rounds=rounds)
    best = study.solve(problem, name, gap=2e-3, time_limit=20.0)
    found = []
    for rng in (None, np.random.default_rng(1)):
        run = design_run(problem, full_joint(problem), rng, settings=settings)
        audit = dl.solve(problem.release(run.rows.tolist()), gap=1e-3, time_limit=20.0)
        assert run.violation <= 1e-9, f"{name}: the mechanism breaks its budget by {run.violation}"
        assert run.value <= audit.upper * (1.0 + 1e-9) + 1e-12, f"{name}: believed {run.value}, proved {audit}"
        assert audit.upper >= best.lower, f"{name}: {audit} is less than the least, {best}"
        found.append((run.value, (audit.lower, audit.upper)))
    return {
        "D": float(problem.budget),
        "proved least": (best.lower, best.upper),
        "uniform start believes": found[0][0],
        "and leaks": found[0][1],
        "random start believes": found[1][0],
        "and does leak": found[1][1],
    }


def parities(study: Study) -> list[Row]:
    rows: list[Row] = []
    for n, share in ((4, SHARE),) if study.quick else ((4, 0.0), (2, SHARE), (4, SHARE), (6, SHARE)):
        for bound in (0.1,) if study.quick else (0.05, 0.1, 0.2, 0.3, 0.4):
            problem = dl.MinLeakage(
                records=dl.Records(n, alphabet=2),
                query=dl.Parity(),
                distortion=dl.Hamming(),
                max_distortion=bound,
                adversary=dl.EntropyAtLeast(share, "max"),
            )
            row = raced(study, problem, f"parity-n{n}-b{share:g}-D{bound:g}", ROUNDS)
            exact = gerber(n, bound, share * n * math.log(2.0))
            assert row["proved least"][0] - 1e-9 <= exact <= row["proved least"][1] + 1e-9
            rows.append({"n": n, "b / log |X|": share, **row})
    return rows


def ones(study: Study) -> list[Row]:
    problem = dl.MinLeakage(
        records=dl.Records(4, alphabet=2),
        query=dl.Count(),
        distortion=dl.Absolute(),
        max_distortion=0.5,
        adversary=dl.EntropyAtLeast("0.7 max"),
    )
    return [{"b / log |X|": 0.7, **raced(study, problem, "number-of-ones", FEW)}]


def main() -> None:
    study = Study("figure-6", "Figure 6: the least leakage for every bound on the distortion.")
    rows = parities(study)
    study.table(rows)
    if not study.quick:
        study.table(ones(study), "-ones")

    figure, axes = panels(2, (9.6, 4.2))
    fine = np.linspace(0.01, 0.5, 200)
    for colour, (n, share) in zip(COLOURS, dict.fromkeys((row["n"], row["b / log |X|"]) for row in rows), strict=False):
        own = [row for row in rows if (row["n"], row["b / log |X|"]) == (n, share)]
        x = [row["D"] for row in own]
        label = f"b = {share:g} log|X|, n = {n}" if share else "b = 0, any n"
        curve = [gerber(n, bound, share * n * math.log(2.0)) for bound in fine]
        for panel, start in zip(axes, ("uniform", "random"), strict=True):
            leaks = "and leaks" if start == "uniform" else "and does leak"
            panel.plot(fine, curve, color=colour, lw=1.2, label=label)
            panel.plot(x, [row["proved least"][1] for row in own], "_", color=colour, ms=10)
            panel.plot(x, [row[leaks][1] for row in own], "o", color=colour, ms=6, mfc="none")
            panel.plot(x, [row[f"{start} start believes"] for row in own], "x", color=colour, ms=5)
    for panel, start in zip(axes, ("the paper's uniform start", "a random start"), strict=True):
        panel.set_title(f"Algorithm 6 from {start}")
        panel.set_xlabel("bound D on the expected distortion (Hamming)")
        panel.plot([], [], "o", color="black", mfc="none", label="its mechanism leaks (proved)")
        panel.plot([], [], "x", color="black", label="it believes")
    axes[0].set_ylabel("leakage about one bit [nats]; lines: least, proved")
    axes[0].legend(frameon=False, fontsize="small")
    study.close(figure)


if __name__ == "__main__":
    main()
