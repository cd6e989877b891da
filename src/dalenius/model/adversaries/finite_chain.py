"""Records that are a Markov chain of several letters whose transition matrix is known up to a range for each entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, NoReturn, TypeAlias

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, Number, as_fraction, as_integer, as_list, exact_sum, fraction_text
from dalenius.model.adversaries.base import Adversary
from dalenius.model.records import MAX_RECORDS, Records

__all__ = ["FiniteChain"]

MOST_LETTERS = 16
Range = tuple[Fraction, Fraction]
Entry: TypeAlias = Number | Sequence[Number]
ListedRange: TypeAlias = Sequence[Entry]


@dataclass(frozen=True)
class FiniteChain(Adversary):
    """Every prior under which records of k letters are a Markov chain with transition probabilities in ranges.

    P(X_{j+1} = b | X_j = a) is one number of `transitions[a][b]` for all j, the sum of each row being 1; the leakage is the largest
    I(X_i; Y) over the whole polytope of such matrices, not over its corners. Of two letters `MarkovChain` says the same;
    up to some twenty records with a stationary start, or five with any, fewer boxes are needed here (measured in docs/people.md).

    Parameters
    ----------
    transitions : k rows of k entries
        Each entry the least and the largest probability of a move from letter a, the row, to letter b; one number stands for both.
    start : {"stationary", "any"} or k entries
        Whether the first record has a stationary law of the matrix, or any law, or one in these ranges (a law: one number each).
    record : int, optional
        The record that is asked about, from 0; left out, the largest leakage of all is.

    Raises
    ------
    InputError
        If the matrix is not square, an entry is no range inside [0, 1], a row cannot sum to 1, or, with a stationary start, a letter
        cannot be reached from another; `check` raises it where records have another number of letters, or there are too few.

    Notes
    -----
    The class is not convex: boxes of the parameters are searched, with a bound that is exact to first order (docs/theory.md, Markov
    chains of several letters).

    >>> week = FiniteChain([[0.8, 0.2, 0], [(0.1, 0.2), (0.5, 0.7), (0.2, 0.3)], [0, 0.4, 0.6]])
    >>> week.letters, week.transitions[1][0]
    (3, (Fraction(1, 10), Fraction(1, 5)))
    >>> FiniteChain([[0.75, 0.125], [0.3, 0.7]])
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: adversary: transitions[0] must sum to 1 exactly, got 0.875; write fractions as text, such as '1/3', \
or a range for each entry
    """

    kind: ClassVar[str] = "finite_chain"
    in_files: ClassVar[dict[str, object]] = {
        "transitions": Sequence[ListedRange],
        "start": Literal["stationary", "any"] | ListedRange,
    }
    transitions: tuple[tuple[Range, ...], ...]
    start: Literal["stationary", "any"] | tuple[Range, ...] = "stationary"
    record: int | None = None

    def __init__(
        self,
        transitions: Sequence[ListedRange],
        start: Literal["stationary", "any"] | ListedRange = "stationary",
        record: Integer | None = None,
    ) -> None:
        rows = as_list(transitions, "adversary: transitions")
        if not 2 <= len(rows) <= MOST_LETTERS:
            raise InputError(
                f"adversary: transitions must have 2 to {MOST_LETTERS} rows, one a letter, got {len(rows)}"
            )
        matrix = tuple(_ranges(row, len(rows), f"adversary: transitions[{a}]") for a, row in enumerate(rows))
        object.__setattr__(self, "transitions", matrix)
        if isinstance(start, str) and start not in ("stationary", "any"):
            raise InputError(
                f'adversary: start must be "stationary", "any" or a list of {len(rows)} probabilities, got {brief(start)}'
            )
        ranges = start if isinstance(start, str) else _ranges(start, len(rows), "adversary: start")
        object.__setattr__(self, "start", ranges)
        if start == "stationary":
            self._check_reached()
        if record is not None:
            record = as_integer(record, "adversary: record", at_least=0, at_most=MAX_RECORDS - 1)
        object.__setattr__(self, "record", record)

    def _check_reached(self) -> None:
        """Raise `InputError` where a letter cannot be reached from another, so that stationary laws leave letters out."""
        for first in range(self.letters):
            reached, new = {first}, [first]
            while new:
                row = self.transitions[new.pop()]
                more = {b for b, (_, most) in enumerate(row) if most > 0} - reached
                reached, new = reached | more, [*new, *more]
            if len(reached) < self.letters:
                left = min(set(range(self.letters)) - reached)
                raise InputError(
                    f"adversary: letter {left} cannot be reached from letter {first}, so that it is not clear which stationary law is "
                    "meant; leave out letters that no record keeps having, or give the first record's law as start"
                )

    @property
    def letters(self) -> int:
        """How many letters a record has, k."""
        return len(self.transitions)

    @property
    def stationary(self) -> bool:
        """Whether the first record has a stationary law."""
        return self.start == "stationary"

    @property
    def box(self) -> tuple[tuple[Range, ...], ...]:
        """The ranges of each row of transitions and, where the start is not stationary, of the first record's law.

        >>> FiniteChain([[0.5, 0.5], [0.5, 0.5]], start="any").box[2]
        ((Fraction(0, 1), Fraction(1, 1)), (Fraction(0, 1), Fraction(1, 1)))
        """
        if isinstance(self.start, str):
            free = (Fraction(0), Fraction(1))
            return self.transitions if self.stationary else (*self.transitions, (free,) * self.letters)
        return (*self.transitions, self.start)

    def check(self, records: Records) -> None:
        if any(size != self.letters for size, _ in records.runs):
            raise InputError(
                f"adversary: transitions are between {self.letters} letters, and every record needs as many; got the alphabets "
                f"{brief(list(records.alphabets))}"
            )
        if self.record is not None and self.record >= len(records):
            raise InputError(f"adversary: record must be from 0 to {len(records) - 1}, got {self.record}")

    def check_design(self, records: Records) -> NoReturn:
        raise InputError(
            "adversary: finite_chain is for audits; design against entropy_at_least or product_priors, then audit the "
            "mechanism that is handed out against finite_chain"
        )

    def records_of(self, records: Records) -> list[int]:
        """Those that are asked about."""
        return list(range(len(records))) if self.record is None else [self.record]

    def in_words(self) -> str:
        starts = {"stationary": "stationary", "any": "from any start"}
        start = starts[self.start] if isinstance(self.start, str) else "from a start in the ranges given"
        asked = "" if self.record is None else f", and who asks about record {self.record} alone"
        return f"to whom the records are a Markov chain of {self.letters} letters, {start}, transitions in the ranges given{asked}"

    def to_table(self) -> dict[str, Any]:
        start = self.start if isinstance(self.start, str) else [list(ends) for ends in self.start]
        matrix = [[list(ends) for ends in row] for row in self.transitions]
        return {"transitions": matrix, "start": start, "record": self.record}


def _ranges(value: object, letters: int, what: str) -> tuple[Range, ...]:
    """The ranges of a law's probabilities, between which there is one."""
    entries = as_list(value, what)
    if len(entries) != letters:
        raise InputError(f"{what} must have an entry for each of the {letters} letters, got {len(entries)}")
    ranges = tuple(_range(entry, f"{what}[{b}]") for b, entry in enumerate(entries))
    low, high = (exact_sum([ends[j] for ends in ranges], what) for j in (0, 1))
    if low == high != 1:
        raise InputError(
            f"{what} must sum to 1 exactly, got {float(low)!r}; write fractions as text, such as '1/3', or a range for each entry"
        )
    if not low <= 1 <= high:
        raise InputError(
            f"{what} cannot sum to 1: its least probabilities sum to {fraction_text(low)} and its largest to {fraction_text(high)}"
        )
    return ranges


def _range(value: Entry, what: str) -> Range:
    single = isinstance(value, str) or not hasattr(value, "__len__")
    listed = [value, value] if single else as_list(value, what)
    if len(listed) != 2:
        raise InputError(f"{what} must be a probability, or the least and the largest, got {brief(value)}")
    low, high = (as_fraction(end, what) for end in listed)
    if not 0 <= low <= high <= 1:
        raise InputError(f"{what} must be from 0 to 1, the least first, got {brief(value)}")
    return low, high
