"""The answer: an interval for the optimal value, what it is about, and what proves it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from cvxcertify.derive import Claim
from cvxcertify.instance import Floats
from cvxcertify.intervals import ends_text, gap_text
from cvxcertify.solvers import Attempt


class Termination(Enum):
    """Why the work stopped. It says nothing about truth."""

    GAP_REACHED = "gap_reached"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    STALLED = "stalled"
    INFEASIBLE = "infeasible"
    PROOF_REFUSED = "proof_refused"


class Standing(Enum):
    """What is proved of the optimal value."""

    INTERVAL = "interval"
    BOUND_ONLY = "bound only"
    POINT_ONLY = "point only"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    NOTHING = "nothing"

    @property
    def meaning(self) -> str:
        """In a sentence."""
        return {
            Standing.INTERVAL: "both ends are proved",
            Standing.BOUND_ONLY: "the end that multipliers prove is proved; no feasible point was found, and there may be none",
            Standing.POINT_ONLY: "the value of a feasible point is proved, and no bound on the other side",
            Standing.INFEASIBLE: "it is proved that there is no feasible point",
            Standing.UNBOUNDED: "it is proved that the objective is unbounded on the feasible points",
            Standing.NOTHING: "nothing is proved",
        }[self]


@dataclass(frozen=True, eq=False)
class CertifiedInterval:
    """lower <= optimal value <= upper, proved.

    Attributes
    ----------
    lower, upper : float
        Rounded outward; infinite where nothing is proved. Where it is proved that there is no feasible point both are the value of an
        empty minimum, inf, or maximum, -inf; where the objective is proved unbounded, both are -inf or inf.
    status : Standing
        What is proved.
    termination : Termination
        Why the work stopped.
    claim : Claim
        What the interval is about: the model as written, or the conic form that the modelling language makes of it in doubles.
    rounded : tuple of str
        The atoms because of which it is the conic form.
    values : dict of name -> array
        The variables at the certified feasible point, rounded to doubles (exactly in the proof); empty if there is none.
    multipliers : (rows,) array or None
        Those that prove the bound, rounded, in the order of the proof's rows.
    bound_by, point_by : str or None
        The solvers whose numbers the bound and the point were made from.
    proof : str
        A file that ``python -m cvxcertify.check`` checks: the instance, the multipliers and the point, exactly.
    advice : str
        What can be done about an end that is missing; else empty.
    attempts : tuple of Attempt
        What each solver said. Evidence of nothing.
    seconds : float
    """

    lower: float
    upper: float
    status: Standing
    termination: Termination
    claim: Claim
    rounded: tuple[str, ...]
    values: Mapping[str, Floats] = field(repr=False)
    multipliers: Floats | None = field(repr=False)
    bound_by: str | None
    point_by: str | None
    proof: str = field(repr=False)
    advice: str
    attempts: tuple[Attempt, ...] = field(repr=False)
    seconds: float

    @property
    def gap(self) -> float:
        """(upper - lower) over the larger end's size; 0 of a point and infinite beside an infinite end."""
        if self.status is not Standing.INTERVAL:
            return math.inf
        return (self.upper - self.lower) / max(abs(self.lower), abs(self.upper)) if self.upper > self.lower else 0.0

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends as text, outward, with as many digits as the width deserves."""
        return ends_text(self.lower, self.upper)

    def write(self, path: str | Path) -> Path:
        """Write the proof, whole or not at all; ``python -m cvxcertify.check PATH`` checks it with nothing that made it.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        path = Path(path)
        part = path.with_name(f".{path.name}.part")
        part.write_text(self.proof, encoding="utf-8")
        return part.replace(path)

    def __str__(self) -> str:
        interval = " .. ".join(self.ends) if self.status is not Standing.NOTHING else "-inf .. inf"
        width = f", gap {gap_text(self.gap)}" if self.status is Standing.INTERVAL else ""
        return f"{interval} ({self.status.value}{width}; of the {self.claim.value})" + (
            f"; {self.advice}" if self.advice else ""
        )
