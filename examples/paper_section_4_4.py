"""Section 4.4 of the source paper: Problem 3, the least distortion within a budget of leakage, and the zigzag of Algorithm 9.

The parity of four bits with several budgets; their values and b are lost, b = 1 nat and b = 0.8 log |X| are ours. The proved least
distortion beside Algorithm 9, from the paper's uniform start and from random ones, with a penalty that is kept while prior and
mechanism take turns (the proof of Theorem 7) and with one that begins again in every round: what it believes, and what its mechanism
does leak (audited, proved). The trajectory is the mechanism before any repair, one step for every multiplier of the penalty
(Algorithm 10), and for every answer of the adversary (Algorithm 1).
"""

from __future__ import annotations

import itertools

import numpy as np
from _paper import COLOURS, Row, Study, panels

import dalenius as dl
from dalenius.baselines import DesignSettings, Turn, design_run, full_joint, within_budget

DRAWN = 0.1  # the budget whose trajectory is drawn


def reversals(path: list[float]) -> int:
    """How often a trajectory turns, by more than 1e-4."""
    steps = [step for step in np.diff(path) if abs(step) > 1e-4]
    return int(sum(a * b < 0.0 for a, b in itertools.pairwise(steps)))


def main() -> None:
    study = Study("section-4-4", "Section 4.4: the least distortion within a budget of leakage, parity of four bits.")
    rows: list[Row] = []
    drawn: dict[str, tuple[float, tuple[Turn, ...]]] = {}
    for bound in ("1 nats",) if study.quick else ("1 nats", "0.8 max"):
        for budget in (DRAWN,) if study.quick else (0.02, 0.05, DRAWN, 0.2):
            problem = dl.MinDistortion(
                records=dl.Records(4, alphabet=2),
                query=dl.Parity(),
                distortion=dl.Hamming(),
                max_leakage=f"{budget} nats",
                adversary=dl.EntropyAtLeast(bound, "nats"),
            )
            best = study.solve(problem, f"b-{bound}-leakage-{budget:g}".replace(" ", "-"), gap=1e-3, time_limit=20.0)
            for start, penalty in itertools.product(("uniform", "random"), ("kept", "restarted")):
                rng, settings = np.random.default_rng(1) if start == "random" else None, DesignSettings(penalty=penalty)
                run = design_run(problem, full_joint(problem), rng, settings=settings)
                audit = dl.solve(problem.release(run.rows.tolist()), gap=1e-4, time_limit=20.0)
                honest = float(problem.expected_distortion(within_budget(problem, run.rows, audit.upper).tolist()))
                assert honest >= best.lower * (1.0 - 1e-9), (
                    f"Algorithm 9 distorts {honest}, less than the least, {best}"
                )
                assert run.leakage <= audit.upper * (1.0 + 1e-9) + 1e-12
                rows.append(
                    {
                        "b": bound.replace("max", "log X"),
                        "leakage allowed": budget,
                        "proved least distortion": (best.lower, best.upper),
                        "start": start,
                        "penalty": penalty,
                        "Algorithm 9 believes": run.value,
                        "its mechanism leaks": (audit.lower, audit.upper),
                        "distortion once it keeps the budget": honest,
                        "rounds": run.iterations,
                        "reversals": reversals([turn.distortion for turn in run.turns]),
                    }
                )
                if budget == DRAWN and bound == "1 nats":
                    drawn[f"{start} start, penalty {penalty}"] = best.lower, run.turns
    study.table(rows)

    figure, (left, right) = panels(2, (9.6, 4.2))
    for colour, mark, (name, (least, turns)) in zip(COLOURS, "ov^s", drawn.items(), strict=False):
        steps = range(len(turns))
        left.plot(steps, [turn.distortion for turn in turns], f"{mark}-", color=colour, ms=4, lw=0.9, label=name)
        left.axhline(least, color=colour, ls="--", lw=0.8)
        right.plot(steps, [turn.leakage for turn in turns], f"{mark}-", color=colour, ms=4, lw=0.9)
    left.set_title(f"b = 1 nat, leakage allowed {DRAWN:g}; dashed: proved least")
    right.set_title("the same, leakage to the adversary it knows")
    right.axhline(DRAWN, color="black", ls="--", lw=0.8, label="allowed")
    right.legend(frameon=False)
    for panel in (left, right):
        panel.set_xlabel("step of the trajectory: multiplier, or adversary")
    left.set_ylabel("distortion (Hamming)")
    right.set_ylabel("nats")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    study.close(figure)


if __name__ == "__main__":
    main()
