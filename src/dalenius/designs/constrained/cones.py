"""Second-order cones of a design: a mechanism inside them, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence

from dalenius.designs.constrained.interior import Inside, Outside
from dalenius.programs.demands import ConeRows, LinearRows

__all__ = ["inside_cones"]


def inside_cones(rows: LinearRows, cones: Sequence[ConeRows], found: Inside) -> Inside | Outside | None:
    """The mechanism as it is, if it is inside."""
    return found if all(cone.room(found.q) > 0.0 for cone in cones) else None
