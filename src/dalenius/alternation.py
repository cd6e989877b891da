"""Records of an alternating scheme: its sweeps, what each block could still have gained, and the cycle that it ran into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dalenius.intervals import ends_text, gap_text, text_above, text_below
from dalenius.notebook import aligned, data_frame, grid
from dalenius.outcome import Scope, Termination
from dalenius.units import unit_size

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class BlockCertificate:
    """Proof of a block's turn: lower <= the best value of its program at this state <= upper.

    By closed forms, in doubles: the ends of a result are what the checker proves.

    Attributes
    ----------
    sweep : int
        From 1.
    block : str
    lower, upper : float
        In `units`. Of the program that the block solves: of a first-order step that is a bound on its linearisation.
    solver : str
        Whose the point is: a solver, ``own``, or ``start``.
    seconds : float
        Of the turn.
    scope : Scope
        BLOCKWISE if the interval is about every choice of the block, FEASIBLE if it is about first-order changes.
    moved : bool
        Whether the step was taken.
    units : str
    paper : float or None
        Of a design's mechanism: what the source paper's penalty step reaches from the same state, within the budget.
    """

    sweep: int
    block: str
    lower: float
    upper: float
    solver: str
    seconds: float
    scope: Scope
    moved: bool
    units: str
    paper: float | None = None

    @property
    def gap(self) -> float:
        """upper - lower."""
        return self.upper - self.lower

    def __str__(self) -> str:
        return ", ".join(f"{name} {text}" for name, text in zip(HEAD, self.row, strict=True) if text)

    @property
    def row(self) -> tuple[str, ...]:
        """Its row of the table, below `HEAD`, the ends outward."""
        low, high = ends_text(self.lower, self.upper)
        about = "all choices" if self.scope is Scope.BLOCKWISE else "first order"
        step, paper = "taken" if self.moved else "not taken", "" if self.paper is None else text_above(self.paper)
        who = self.solver, f"{self.seconds:.3f}", step, paper
        return str(self.sweep), self.block, low, high, gap_text(max(self.gap, 0.0)), self.units, about, *who


HEAD = ("sweep", "block", "lower", "upper", "gap", "units", "about", "solver", "s", "step", "paper")


@dataclass(frozen=True)
class Sweep:
    """One turn of the blocks.

    Attributes
    ----------
    number : int
        From 1.
    value : float
        The objective after it.
    gains : dict of block -> float
        What each block could gain when its turn came last, as `Step.gain`.
    seconds : float
        Since the start's first sweep.
    certificates : tuple of BlockCertificate
        One for each block that had a turn.
    """

    number: int
    value: float
    gains: Mapping[str, float]
    seconds: float
    certificates: tuple[BlockCertificate, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Cycle:
    """Two sweeps of one start with the same state up to `distance`, with steps in between: the scheme will not come to rest."""

    first: int
    second: int
    distance: float
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Alternation:
    """Record of an alternating scheme that came to rest, or was stopped.

    Attributes
    ----------
    value : float
        The objective there, in `units`, as doubles have it: the ends of a result are what is proved.
    gains : dict of block -> float
        What each block alone could gain there at most; at its last turn where the scheme was stopped before it came to rest.
    scope : Scope
        BLOCKWISE: no single block can improve the value by more than the gap, whatever it chooses; certified for every variable of the
        problem. Otherwise FEASIBLE.
    termination : Termination
        GAP_REACHED (at rest), TIME_LIMIT, INTERRUPTED, SIZE_LIMIT (sweeps), or STALLED: a cycle, or a block that finds nothing better
        and whose bound does not close.
    trace : tuple of Sweep
        Of the start that was kept.
    cycle : Cycle or None
        The evidence, if the scheme came back to a state that it had left.
    record : int or None
        The record about which most is revealed, of an audit's scheme.
    units : str
        ``"nats"``, ``"bits"`` or ``"distortion"``.
    """

    value: float
    gains: Mapping[str, float]
    scope: Scope
    termination: Termination
    trace: tuple[Sweep, ...] = field(default=(), repr=False)
    cycle: Cycle | None = None
    record: int | None = None
    units: str = "nats"

    def to(self, units: str) -> Alternation:
        """The same in ``"nats"`` or ``"bits"``; a distortion stays as it is.

        >>> one = Alternation(value=0.6931471805599453, gains={}, scope=Scope.FEASIBLE, termination=Termination.TIME_LIMIT)
        >>> one.to("bits").value, one.to("bits").units
        (1.0, 'bits')
        """
        if units == self.units or self.units == "distortion":
            return self
        size = unit_size(units) / unit_size(self.units)
        sweeps = (
            replace(
                sweep,
                value=sweep.value / size,
                gains=_scaled(sweep.gains, size),
                certificates=tuple(_in_units(one, size, units) for one in sweep.certificates),
            )
            for sweep in self.trace
        )
        cycle = self.cycle and replace(self.cycle, values=tuple(value / size for value in self.cycle.values))
        gains = _scaled(self.gains, size)
        return replace(self, value=self.value / size, gains=gains, trace=tuple(sweeps), cycle=cycle, units=units)

    @property
    def certificates(self) -> tuple[BlockCertificate, ...]:
        """Those of all blocks of all sweeps."""
        return tuple(one for sweep in self.trace for one in sweep.certificates)

    def frame(self) -> pd.DataFrame:
        """A pandas DataFrame with a row a certificate, its fields and its gap.

        Raises
        ------
        InputError
            If pandas is not installed (the extra ``frames``).
        """
        return data_frame([{**vars(one), "scope": one.scope.value, "gap": one.gap} for one in self.certificates])

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The certificates as texts, outward, below a head."""
        return [HEAD, *(one.row for one in self.certificates)]

    @property
    def table(self) -> str:
        """The certificates as a table for a console, and how to read their upper ends."""
        return "\n".join([aligned(self.rows), *self._notes])

    @property
    def _notes(self) -> list[str]:
        """A line where the widest turn is not its block's last one."""
        widest = max(self.certificates, key=lambda one: one.gap, default=None)
        last = {one.block: one for one in self.certificates}
        if widest is None or widest.gap <= last[widest.block].gap:
            return []
        return [
            f"{widest.block}: wide until the blocks seem to rest, as there is no need to know it better; its last turn counts"
        ]

    def _repr_html_(self) -> str:
        head, *rows = self.rows
        return grid("; ".join([str(self), *self._notes]), head, rows)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        about = "" if self.record is None else f"record {self.record}: "
        unit = "" if self.units == "distortion" else f" {self.units}"
        gains = ", ".join(f"{block} {text_above(gain, 2)}" for block, gain in self.gains.items())
        value = (text_above if self.record is None else text_below)(self.value)  # attained: of a design from above
        cycle = (
            ""
            if self.cycle is None
            else f", back after sweep {self.cycle.second} where it was after {self.cycle.first}"
        )
        return (
            f"{about}{self.scope.value} at {value}{unit} after {len(self.trace)} sweeps ({self.termination.value}{cycle}); "
            f"blocks can gain: {gains or 'nothing was asked'}"
        )


def _in_units(one: BlockCertificate, size: float, units: str) -> BlockCertificate:
    paper = None if one.paper is None else one.paper / size
    return replace(one, lower=one.lower / size, upper=one.upper / size, units=units, paper=paper)


def _scaled(gains: Mapping[str, float], size: float) -> dict[str, float]:
    return {block: gain / size for block, gain in gains.items()}
