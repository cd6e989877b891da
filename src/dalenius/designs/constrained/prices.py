"""Which constraints bind, and at what price, and what terms come to: read off the bound's multipliers and the exact mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from dalenius.designs.constrained.bound import ConstrainedBound
from dalenius.designs.constrained.evidence import OwnBound
from dalenius.designs.constrained.exchange import ConstrainedExchange, Kept
from dalenius.designs.constrained.rows import BUDGET, PRIVACY
from dalenius.designs.constrained.watchers import OWN, Place
from dalenius.evidence import CERTAIN, Lower
from dalenius.model.constraints import LeakageLimit, SecretLeakageLimit, SecretLimit
from dalenius.outcome import ConstraintPrice, TermValue
from dalenius.results import Result

__all__ = ["prices_of", "values_of"]

TINY = 1e-6  # share of the largest price below which one counts as none


def prices_of(
    run: ConstrainedExchange, lower: Lower, kept: Kept | None, audits: Mapping[Place, Result]
) -> tuple[ConstraintPrice, ...]:
    """One entry a constraint, after those of the budget and of the privacy notion; of an infeasible design those in conflict."""
    bound = run.conflict or (run.bound if lower.candidate != CERTAIN else ConstrainedBound())
    paid = bound if bound.paid is None else replace(bound, prices=bound.paid)  # without those that keep entries at 0
    own = OwnBound(paid, run.region, infeasible=run.conflict is not None)
    totals = {j: sum(map(abs, rows.values())) for j, rows in own.prices.items()}
    for j, both in own.cones.items():
        totals[j] = float(both[0])
    for law, _, weight, _ in own.tangents:
        totals[law.number] = totals.get(law.number, 0.0) + weight
    limited = {watcher.place for watcher in run.limited}
    for place, part in own.priors:
        if place in limited:
            j = BUDGET if place == OWN else place.number
            totals[j] = totals.get(j, 0.0) + part.weight
    least = TINY * max(totals.values(), default=0.0)
    found = []
    named = {BUDGET: run.problem.budget_key, PRIVACY: "privacy"}
    for j in [BUDGET, PRIVACY, *range(len(run.problem.own_constraints))]:
        price = totals.get(j, 0.0) if totals.get(j, 0.0) > least else 0.0
        if (j < 0 or run.conflict is not None) and not price:
            continue
        kind = named[j] if j < 0 else run.problem.own_constraints[j].kind
        rows = tuple((r, p) for r, p in sorted(own.prices.get(j, {}).items()) if abs(p) > least) if j >= 0 else ()
        found.append(ConstraintPrice(j if j >= 0 else None, kind, price, _slack(run, j, kept, audits), rows))
    return tuple(found)


def values_of(
    run: ConstrainedExchange, lower: Lower, kept: Kept | None, audits: Mapping[Place, Result]
) -> tuple[TermValue, ...]:
    """What each term of the objective comes to for the mechanism, and its weight in the bound; nothing without either."""
    if run.problem.objective is None or kept is None:
        return ()
    own = OwnBound(run.bound if lower.candidate != CERTAIN else ConstrainedBound(), run.region)
    ends = dict[int, tuple[float | Fraction, float | Fraction]]()
    for j, distortion in run.terms.distortions.items():
        ends[j] = (distortion.of(kept.rows),) * 2
    for watcher in run.watchers:
        if watcher.term is not None:
            audit = audits[watcher.place]
            ends[watcher.term] = (0.0, 0.0) if kept.constant else (audit.lower, audit.upper)
    return tuple(
        TermValue(
            j,
            "distortion" if j in run.terms.distortions else "leakage",
            weight,
            *ends[j],
            own.weights[j],
            units="distortion" if j in run.terms.distortions else "nats",
        )
        for j, weight in enumerate(run.terms.weights)
    )


def _slack(
    run: ConstrainedExchange, j: int, kept: Kept | None, audits: Mapping[Place, Result]
) -> Fraction | float | None:
    """How much room the mechanism leaves: exactly for rows, in nats at least for limits of leakage; None without a mechanism."""
    if kept is None or j < 0:
        return None
    constraint = run.problem.own_constraints[j]
    if isinstance(constraint, LeakageLimit):
        return constraint.nats - (0.0 if kept.constant else audits[Place("constraint", j)].upper)
    if isinstance(constraint, SecretLimit | SecretLeakageLimit):
        Q = run.region.expanded(run.region.matrix(kept.q))
        whole = constraint.nats if isinstance(constraint, SecretLeakageLimit) else 0.0  # where there is nothing to tell
        return min((-law.part.excess(Q) for law in run.region.secrets if law.number == j), default=whole)
    if j not in run.region.numbered:
        return None
    own = run.problem.expand(kept.rows)
    rows = run.region.numbered[j]
    return min(
        (
            end - sum((c * own[x][y] for (x, y), c in listed.items()), Fraction(0))
            for listed, end in zip(rows.below, rows.ends, strict=True)
        ),
        default=None,
    )
