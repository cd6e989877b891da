"""Ranges of all columns of an instance, by interval propagation through its rows, in exact numbers.

A range is what a bound pays for: where c - A' z is not quite zero in a column, it is multiplied with the worst number of that
column's range. Every row says something about its columns (its member of A x + b is 0, or not negative, or is bounded by the other
members of its cone); which rows are asked, and in which order, is all that a proof has to tell.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from flint import fmpq

from cvxcertify.instance import ZERO, Cone, End, Instance, Nonnegative, Terms

CUTOFF = -1  # the number of the row c x + offset <= cutoff
BITS = 24  # that the ends of ranges are rounded outward to
PASSES = 4  # how often a row is asked at most
WORTH = fmpq(1, 2)  # a range that was finite is passed on only if it shrank to less than this share


def outward(value: fmpq, upward: bool) -> fmpq:
    """A number of `BITS` significant bits on this side.

    >>> outward(fmpq(1, 3), True) > fmpq(1, 3) > outward(fmpq(1, 3), False)
    True
    """
    if value == 0:
        return value
    shift = BITS - int(value.p).bit_length() + int(value.q).bit_length()
    scaled = value * fmpq(2) ** shift
    return fmpq(int(scaled.ceil() if upward else scaled.floor())) / fmpq(2) ** shift


@dataclass
class RangeState:
    """Known ranges of the columns so far, and the rows that were asked for them.

    Attributes
    ----------
    low, high : list of fmpq or None
        None where there is no end.
    steps : list of int
        Rows, in the order in which they were asked; `CUTOFF` for that of the objective.
    cutoff : fmpq or None
        The ranges hold for all feasible points whose value is at most this; None: for all.
    empty : bool
        Whether the ranges show that there is no such point.
    """

    instance: Instance
    cutoff: End = None
    low: list[End] = field(default_factory=list)
    high: list[End] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    empty: bool = False

    def __post_init__(self) -> None:
        self.low, self.high = [None] * len(self.instance.c), [None] * len(self.instance.c)

    def is_open(self, j: int) -> bool:
        """True if a column has no range yet."""
        return self.low[j] is None or self.high[j] is None

    def ends(self, form: Terms, constant: fmpq) -> tuple[End, End]:
        """The range of an affine form."""
        least, most = self._unknown(form, constant)
        return (None if least[1] else least[0]), (None if most[1] else most[0])

    def _unknown(self, form: Terms, constant: fmpq) -> tuple[tuple[fmpq, int], tuple[fmpq, int]]:
        """The least and the most of an affine form: what is finite of it, and how many columns are infinite there."""
        least, most, below, above = constant, constant, 0, 0
        for j, factor in form.items():
            low, high = (self.low[j], self.high[j]) if factor > 0 else (self.high[j], self.low[j])
            least, below = (least, below + 1) if low is None else (least + factor * low, below)
            most, above = (most, above + 1) if high is None else (most + factor * high, above)
        return (least, below), (most, above)

    def ask(self, row: int, cone: Cone, places: range) -> list[int]:
        """The columns of which a row tells something new."""
        if row == CUTOFF:
            assert self.cutoff is not None
            form = {j: -c for j, c in enumerate(self.instance.c) if c}
            return self._narrow(form, self.cutoff - self.instance.offset, ZERO, None)
        low, high = cone.member(row - places.start, lambda k: self._ends(places[k])[0], lambda k: self._most(places[k]))
        return self._narrow(self.instance.rows[row], self.instance.b[row], low, high)

    def _ends(self, row: int) -> tuple[End, End]:
        return self.ends(self.instance.rows[row], self.instance.b[row])

    def _most(self, row: int) -> End:
        most = self._ends(row)[1]
        return None if most is None else max(most, ZERO)

    def _narrow(self, form: Terms, constant: fmpq, low: End, high: End) -> list[int]:
        """Narrow the ranges of the columns of low <= form <= high."""
        (least, below), (most, above) = self._unknown(form, constant)
        if (high is not None and not below and least > high) or (low is not None and not above and most < low):
            self.empty = True
        changed = []
        for j, factor in form.items():
            ends = (self.low[j], self.high[j]) if factor > 0 else (self.high[j], self.low[j])
            upward = downward = None  # factor * x[j] is at most, at least
            if high is not None and below == (ends[0] is None):
                upward = high - least + (ZERO if ends[0] is None else factor * ends[0])
            if low is not None and above == (ends[1] is None):
                downward = low - most + (ZERO if ends[1] is None else factor * ends[1])
            if factor < 0:
                upward, downward = downward, upward
            if self._take(
                j, None if downward is None else downward / factor, None if upward is None else upward / factor
            ):
                changed.append(j)
        return changed

    def _take(self, j: int, low: End, high: End) -> bool:
        """True if a range becomes narrower, by as much as is worth telling others."""
        news = False
        if low is not None and _worth(low, self.low[j], self.high[j], 1):
            self.low[j], news = outward(low, False), True
        if high is not None and _worth(high, self.high[j], self.low[j], -1):
            self.high[j], news = outward(high, True), True
        first, last = self.low[j], self.high[j]
        self.empty = self.empty or (first is not None and last is not None and first > last)
        return news


def _worth(new: fmpq, old: End, other: End, inward: int) -> bool:
    """True if an end is new, or far enough inward of the old one, seen from the other end."""
    if old is None:
        return True
    return inward * (new - old) > 0 and (other is None or inward * (other - new) < inward * WORTH * (other - old))


def propagated(instance: Instance, cutoff: End = None) -> RangeState:
    """All ranges that the rows tell: each row is asked once, and again while it has columns without a range, a few times at most.

    >>> from cvxcertify.instance import cone_of
    >>> signs, total = [{0: fmpq(1)}, {1: fmpq(1)}], {0: fmpq(1), 1: fmpq(1)}
    >>> law = Instance((fmpq(1), fmpq(2)), ZERO, (total, *signs), (fmpq(-1), ZERO, ZERO),
    ...     (cone_of("zero", 1), cone_of("nonnegative", 2)), ("p", "q"))
    >>> known = propagated(law)
    >>> known.low, known.high, known.steps
    ([0, 0], [1, 1], [1, 2, 0])
    """
    state, homes = RangeState(instance, cutoff), dict[int, tuple[Cone, range]]()
    for cone, places in instance.cells:
        homes |= dict.fromkeys(places, (cone, places))
    homes[CUTOFF] = Nonnegative(1), range(0)
    waiting = deque(sorted((row for row in homes if row != CUTOFF), key=lambda row: len(instance.rows[row])))
    waiting += () if cutoff is None else (CUTOFF,)
    queued, asked = set(waiting), dict.fromkeys(homes, 0)
    costs = set[int]() if cutoff is None else {j for j, c in enumerate(instance.c) if c}
    while waiting and not state.empty:
        row = waiting.popleft()
        queued.discard(row)
        if asked[row] and not any(state.is_open(j) for j in (costs if row == CUTOFF else instance.rows[row])):
            continue
        asked[row] += 1
        changed = state.ask(row, *homes[row])
        if changed or state.empty:
            state.steps.append(row)
        told = set[int]()
        for i in {i for j in changed for i in instance.columns[j]}:
            cone, places = homes[i]
            told |= set(places) if cone.tells(i - places.start) else {i}
        told |= {CUTOFF} if costs.intersection(changed) else set()
        for k in sorted(told):
            if k not in queued and asked[k] < PASSES:
                waiting.append(k)
                queued.add(k)
    return state
