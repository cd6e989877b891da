"""Facts of an answer besides its numbers: why the work stopped, what is claimed, and which proofs the checker refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from cvxcertify.intervals import text_above, text_below


class Termination(Enum):
    """Why the work stopped. It says nothing about truth: that is what the certificate is for."""

    GAP_REACHED = "gap_reached"
    TIME_LIMIT = "time_limit"
    SIZE_LIMIT = "size_limit"
    INTERRUPTED = "interrupted"
    STALLED = "stalled"
    INFEASIBLE = "infeasible"
    PROOF_REFUSED = "proof_refused"

    @property
    def advice(self) -> str:
        """Advice to a caller."""
        return {
            Termination.GAP_REACHED: "the interval is as narrow as was asked for",
            Termination.TIME_LIMIT: "valid, but wider than asked; a longer time limit may narrow it",
            Termination.SIZE_LIMIT: "valid, but wider than asked; a larger node or memory limit of `solve` may narrow it",
            Termination.INTERRUPTED: "valid; the work was stopped by the user",
            Termination.STALLED: "valid, but no bound of this version narrows it further on this instance",
            Termination.INFEASIBLE: "no mechanism of the class meets the budget and the constraints; that is proved",
            Termination.PROOF_REFUSED: (
                "valid, but wider than what the search found: the checker refused a proof (`refusals` says which and why); that is a "
                "defect or a limit of the checker, and worth a report"
            ),
        }[self]


class Status(Enum):
    """Conclusion from an interval; why the work stopped says `Termination`."""

    CLOSED = "closed"
    OPEN = "open"
    ALL_THERE_IS = "all_there_is"
    INFEASIBLE = "infeasible"

    @property
    def meaning(self) -> str:
        """In a line."""
        return {
            Status.CLOSED: "both ends are as close as was asked for",
            Status.OPEN: "the ends are farther apart than was asked for",
            Status.ALL_THERE_IS: "no upper bound is proved beyond all there is to know: the logarithm of the number of values",
            Status.INFEASIBLE: "nothing meets the budget and the constraints; that is proved",
        }[self]


class Scope(Enum):
    """Scope of a claim: bounds on the optimum over *all* adversaries, of a block, or a feasible point only."""

    GLOBAL = "global"
    BLOCKWISE = "blockwise"
    FEASIBLE = "feasible"


@dataclass(frozen=True)
class Refusal:
    """A proof that the checker refused on the way to a result.

    Attributes
    ----------
    end : str
        ``"lower"`` or ``"upper"``, or ``"both"`` where only rounding was in the way and it was not asked which end it was.
    lower, upper : str or None
        The claim, exactly.
    reason : str
        The checker's.
    rounding : bool
        Whether the same evidence was proved for an end that is only rounded further.
    limit : Termination or None
        The limit of time or size that the proof would have passed, if that is all there is to it.
    """

    end: str
    lower: str | None
    upper: str | None
    reason: str
    rounding: bool
    limit: Termination | None = None

    def __str__(self) -> str:
        return f"{self.end} end of [{self.lower}, {self.upper}]: {self.reason}"


@dataclass(frozen=True)
class SolverUse:
    """Use of a solver for a result. It proved nothing: an end rests on what was evaluated in closed form, then by the checker.

    Attributes
    ----------
    block : str
        The program, as docs/programs.md calls it.
    solver : str
        ``own`` (no cvxpy), ``clarabel``, ``mosek``, ``scs``.
    solves : int
    seconds : float
    ends : tuple of str
        The ends of the interval that rest on an answer of its: ``"lower"``, ``"upper"``.
    """

    block: str
    solver: str
    solves: int
    seconds: float
    ends: tuple[str, ...] = ()

    def __str__(self) -> str:
        ends = f", {' and '.join(self.ends)} end" if self.ends else ""
        return f"{self.block} by {self.solver}: {self.solves} in {self.seconds:.2f} s{ends}"


@dataclass(frozen=True)
class ConstraintPrice:
    """Price of a budget or a constraint of a design, and whether it binds.

    Attributes
    ----------
    number : int or None
        Among the problem's constraints, from 0; None for the budget and for a privacy notion.
    kind : str
        As in a model file; of the budget its key, of the notion ``privacy``.
    price : float
        The sum of its multipliers' sizes in the proof of `lower`: if every right-hand side of it were loosened by one unit, that bound
        would fall by at most so much. 0 where the proof does not need it. Of a limit of leakage the unit is a nat.
    slack : Fraction, float or None
        The room that the mechanism leaves in the tightest row, exactly; of a budget or a limit of leakage in nats, at least. None
        where there is no mechanism, of a privacy notion, and of cones, whose norms are no rational numbers.
    rows : tuple of (row, multiplier)
        Where it has rows those that have a price; in which order rows come docs/model-format.md says.
    slope : float
        Of a line below the optimum: if every right-hand side rises by t units, the optimum is at least `lower` + t `slope` (of a
        design that reveals most, at most `upper` + t `slope`, and at or above 0). What is "at most" has one below 0: loosened by a
        unit it lets the optimum fall by no more than that, and tightened by one it costs no less. 0 where nothing is feasible.
    units : str
        Of price and slope: ``"nats per distortion"``, ``"distortion per nat"``, ``"nats per unit"`` (of the right-hand sides as they
        are written; of ``band`` and ``zero`` a unit of probability in every entry).
    """

    number: int | None
    kind: str
    price: float
    slack: Fraction | float | None = None
    rows: tuple[tuple[int, float], ...] = field(default=(), repr=False)
    slope: float = 0.0
    units: str = ""

    @property
    def binds(self) -> bool:
        """True if the proof of `lower` needs it."""
        return self.price > 0.0

    @property
    def name(self) -> str:
        """Its kind, and of a constraint its place in the problem."""
        return self.kind if self.number is None else f"constraints[{self.number}] ({self.kind})"

    def __str__(self) -> str:
        cost = f"binds, at a price of {text_above(self.price)} {self.units}" if self.binds else "does not bind"
        return f"{self.name} {cost}" + ("" if self.slack is None else f"; slack {text_below(self.slack)}")


@dataclass(frozen=True)
class TermValue:
    """Value of a term of a design's objective for the mechanism in hand, and its weight in the proof of `lower`.

    Attributes
    ----------
    number : int
        0 for the design's own leakage or distortion, then as in the objective.
    kind : str
        ``"leakage"`` or ``"distortion"``.
    weight : Fraction
        w_j.
    lower, upper : float or Fraction
        T_j, without its weight: of a leakage as its audit proved it, in `units`; of a distortion twice the same, exactly.
    multiplier : float
        v_j, the weight with which the term stands in the bound: at most w_j in a sum; in a maximum the v_j / w_j sum to at most 1, and
        terms that are not the largest have 0.
    units : str
        ``"nats"`` or ``"bits"``; of a distortion ``"distortion"``.
    """

    number: int
    kind: str
    weight: Fraction
    lower: float | Fraction
    upper: float | Fraction
    multiplier: float
    units: str

    def __str__(self) -> str:
        return f"term {self.number} ({self.kind})"
