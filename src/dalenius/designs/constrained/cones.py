"""Second-order cones of a design, and limits about secrets: a mechanism inside them, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dalenius.designs.constrained.interior import Inside, Outside
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.programs.cone_interior import cone_interior
from dalenius.programs.demands import ConeRows, LinearRows
from dalenius.programs.secrets import Secrets

__all__ = ["inside_cones"]

MIXED = 0.1  # share of what is inside the rows that a mechanism inside the cones takes on, at most
NOTHING = 1e-8  # room, or excess, that a solver may only seem to see


def inside_cones(
    rows: LinearRows,
    cones: Sequence[ConeRows],
    found: Inside,
    order: Sequence[str],
    secrets: Secrets,
    tied: TiedEntries,
) -> Inside | Outside | None:
    """A mechanism inside rows, cones and limits, from one inside the rows; multipliers that say there is none; None if unclear."""
    told = secrets.excess(tied.expand(found.q))
    if all(cone.room(found.q) > NOTHING for cone in cones) and told < -NOTHING:
        return found
    answer = cone_interior(rows, cones, found.support, order, secrets, tied)
    if answer is None:
        return None
    if answer.excess > NOTHING:
        return Outside(answer.prices, answer.cones, answer.tangents)
    if answer.excess > -NOTHING:
        return None
    worst = min([-told, *(cone.room(found.q) for cone in cones)])
    share = MIXED * min(1.0, -answer.excess / (-answer.excess - worst)) if worst < 0.0 else MIXED
    return replace(found, q=(1.0 - share) * answer.q + share * found.q)
