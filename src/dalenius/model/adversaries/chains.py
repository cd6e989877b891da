"""Records that are a Markov chain whose transition probabilities are known up to a box."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Literal, NoReturn, TypeAlias

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_fraction, as_list, exact_sum, fraction_text
from dalenius.information.arrays import Integers
from dalenius.model.adversaries.base import Adversary
from dalenius.model.fields import Given, WholeOrNone, declared, keep, listed, one_of, whole
from dalenius.model.mechanisms import Mechanism
from dalenius.model.queries import Query
from dalenius.model.records import MAX_RECORDS, Records

Start: TypeAlias = Literal["stationary", "any"]
Range = tuple[Fraction, Fraction]
WRITTEN_OUT = 1000  # records; of more of them no channel is made


class _Chain(Adversary):
    """Records that are a Markov chain, of which one may be asked about."""

    is_chain: ClassVar[bool] = True
    about_records: ClassVar[str] = "list laws"
    no_program: ClassVar[str] = "a chain's few parameters are searched by a tree of boxes, which is no program"
    record: WholeOrNone

    def check(self, records: Records) -> None:
        if self.record is not None and self.record >= len(records):
            raise InputError(f"adversary: record must be from 0 to {len(records) - 1}, got {self.record}")

    def check_design(self, records: Records) -> NoReturn:
        raise InputError(
            f"adversary: {self.kind} is for audits; design against entropy_at_least or product_priors, then audit the "
            f"mechanism that is handed out against {self.kind}"
        )

    def _need_rows(self, mechanism: Mechanism) -> None:
        if not mechanism.is_shipped or mechanism.on_a_line or mechanism.indexed_by() != "query":
            raise InputError(
                f"adversary: a {self.kind} is known with the library's mechanisms that have a row for each of the query's values; "
                f"got {mechanism.kind}"
            )


def _ends(value: Sequence[Number] | Number, what: str, words: str) -> Range:
    """The two ends of a range; one number stands for both."""
    single = isinstance(value, str) or not hasattr(value, "__len__")
    listed = [value, value] if single else as_list(value, what)
    if len(listed) != 2:
        raise InputError(f"{what} must be a {words}, or the least and the largest, got {brief(value)}")
    low, high = (as_fraction(end, what) for end in listed)
    return low, high


def _as_range(value: Sequence[Number] | Number, what: str) -> Range:
    low, high = _ends(value, what, "number")
    if not 0 < low <= high < 1:
        raise InputError(f"{what} must be from above 0 to below 1, the least first, got {brief(value)}")
    return low, high


@declared
class MarkovChain(_Chain):
    """Every prior under which binary records are a Markov chain with transition probabilities in a box.

    P(X_{j+1} = 1 | X_j = 0) is one number of `to_one` for all j, P(X_{j+1} = 0 | X_j = 1) one of `to_zero`; the leakage is the largest
    I(X_i; Y) over all such pairs, not over the corners of the box.

    Parameters
    ----------
    to_one, to_zero : pairs of numbers
        The least and the largest probability of a move from 0 to 1, and from 1 to 0; above 0 and below 1. One number stands for both.
    start : {"stationary", "any"}
        Whether the first record has the chain's stationary law, or may have any law.
    record : int, optional
        The record that is asked about, from 0; left out, the largest leakage of all is.

    Raises
    ------
    InputError
        If a range is empty, or not inside (0, 1), or `start` is another word; `check` raises it where a record is not binary, or there
        is none of this number.

    Notes
    -----
    The class is not convex, but has two or three parameters only: it is searched by boxes of them, with derivatives where there are
    few records, and where there are many by how little a record differs from the share of ones around it (docs/theory.md, Markov
    chains).

    >>> chain = MarkovChain((0.01, 0.1), (0.01, 0.1), record=50_000)
    >>> chain.check(Records(100_000, alphabet=2))
    >>> chain.records_of(Records(100_000, alphabet=2))
    [50000]
    """

    kind: ClassVar[str] = "markov_chain"
    to_one: Given[Sequence[Number] | Number, Range] = Given(_as_range, tables=listed("a list of two numbers"))
    to_zero: Given[Sequence[Number] | Number, Range] = Given(_as_range, tables=listed("a list of two numbers"))
    start: Given[Start, Start] = Given(one_of("stationary", "any"), default="stationary")
    record: WholeOrNone = Given(whole(at_least=0, at_most=MAX_RECORDS - 1), default=None)

    @property
    def stationary(self) -> bool:
        """True if the first record has the stationary law."""
        return self.start == "stationary"

    @property
    def box(self) -> tuple[Range, ...]:
        """The least and the largest value of each parameter: of P(0 -> 1), of P(1 -> 0) and, from any start, of P(X_0 = 1).

        >>> MarkovChain("1/4", (0.1, 0.2), start="any").box[2]
        (Fraction(0, 1), Fraction(1, 1))
        """
        free = (Fraction(0), Fraction(1))
        return (self.to_one, self.to_zero) if self.stationary else (self.to_one, self.to_zero, free)

    def check(self, records: Records) -> None:
        if any(size != 2 for size, _ in records.runs):
            raise InputError(
                f"adversary: a markov_chain is about binary records; got the alphabets {brief(list(records.alphabets))}"
            )
        super().check(records)

    def check_release(self, query: Query, records: Records, mechanism: Mechanism) -> None:
        """A row for each number of ones; of many records two-sided geometric noise on that number, and one record.

        >>> from dalenius.model.mechanisms import Symmetric
        >>> from dalenius.model.queries import Parity
        >>> MarkovChain(0.1, 0.1).check_release(Parity(), Records(2000, alphabet=2), Symmetric(0.1))
        Traceback (most recent call last):
            ...
        dalenius.errors.InputError: adversary: a markov_chain of more than 1000 records is known with count or sum and geometric or \
discrete_laplace noise; got parity with symmetric
        """
        if query.sums is None or not query.sums.adds_ones:
            known = "count of letter 1, sum without weights, parity, modular_sum or threshold"
            raise InputError(f"adversary: a markov_chain is known with {known}; got {query.kind}")
        self._need_rows(mechanism)
        if len(records) <= WRITTEN_OUT:
            return
        if two_sided(query, mechanism) is None:
            raise InputError(
                f"adversary: a markov_chain of more than {WRITTEN_OUT} records is known with count or sum and geometric or "
                f"discrete_laplace noise; got {query.kind} with {mechanism.kind}"
            )
        low, high = mechanism.span(np.array([0, len(records)]))
        if low > 0 or high < len(records):
            raise InputError(f"mechanism: range must contain 0 to {len(records)}, got {[low, high]}")
        if self.record is None:
            raise InputError(
                f"adversary: of a markov_chain of more than {WRITTEN_OUT} records give the record that is asked about, such as "
                f"record = {len(records) // 2}"
            )

    def moves(self, records: Records) -> int:
        return len(records) ** 2

    def records_of(self, records: Records) -> list[int]:
        """Those that are asked about; of two that mirror each other, in a stationary chain, the first one.

        >>> MarkovChain(0.1, 0.2).records_of(Records(5, alphabet=2))
        [0, 1, 2]
        """
        if self.record is not None:
            return [self.record]
        return list(range((len(records) + 1) // 2 if self.stationary else len(records)))

    def in_words(self) -> str:
        start = "stationary" if self.stationary else "from any start"
        moves = f"P(0 -> 1) in {_words(self.to_one)} and P(1 -> 0) in {_words(self.to_zero)}"
        asked = "" if self.record is None else f", and who asks about record {self.record} alone"
        return f"to whom the records are a Markov chain, {start}, {moves}{asked}"


def _words(ends: Range) -> str:
    return f"[{fraction_text(ends[0])}, {fraction_text(ends[1])}]"


MOST_LETTERS = 16
Entry: TypeAlias = Number | Sequence[Number]
ListedRange: TypeAlias = Sequence[Entry]


def _ranges(value: object, letters: int, what: str) -> tuple[Range, ...]:
    """The ranges of a law's probabilities, between which there is one."""
    entries = as_list(value, what)
    if len(entries) != letters:
        raise InputError(f"{what} must have an entry for each of the {letters} letters, got {len(entries)}")
    ranges = tuple(_finite_chain_range(entry, f"{what}[{b}]") for b, entry in enumerate(entries))
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


def _finite_chain_range(value: Entry, what: str) -> Range:
    low, high = _ends(value, what, "probability")
    if not 0 <= low <= high <= 1:
        raise InputError(f"{what} must be from 0 to 1, the least first, got {brief(value)}")
    return low, high


def _as_transitions(value: Sequence[ListedRange], what: str) -> tuple[tuple[Range, ...], ...]:
    rows = as_list(value, what)
    if not 2 <= len(rows) <= MOST_LETTERS:
        raise InputError(f"{what} must have 2 to {MOST_LETTERS} rows, one a letter, got {len(rows)}")
    return tuple(_ranges(row, len(rows), f"{what}[{a}]") for a, row in enumerate(rows))


def _as_start(value: Start | ListedRange, what: str) -> Start | ListedRange:
    """The same: how many ranges there must be say the transitions."""
    return value


@declared
class FiniteChain(_Chain):
    """Every prior under which records of k letters are a Markov chain with transition probabilities in ranges.

    P(X_{j+1} = b | X_j = a) is one number of `transitions[a][b]` for all j, the sum of each row being 1; the leakage is the largest
    I(X_i; Y) over the whole polytope of such matrices, not over its corners. Of two letters `MarkovChain` says the same;
    up to some twenty records with a stationary start, or five with any, fewer boxes are needed here (measured in docs/chains.md).

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
    transitions: Given[Sequence[ListedRange], tuple[tuple[Range, ...], ...]] = Given(
        _as_transitions, in_files=Sequence[ListedRange]
    )
    start: Given[Start | ListedRange, Start | tuple[Range, ...]] = Given(
        _as_start, default="stationary", in_files=Start | ListedRange
    )
    record: WholeOrNone = Given(whole(at_least=0, at_most=MAX_RECORDS - 1), default=None)

    def __post_init__(self) -> None:
        if not isinstance(self.start, str):
            keep(self, start=_ranges(self.start, self.letters, "adversary: start"))
        elif self.start not in ("stationary", "any"):
            raise InputError(
                f'adversary: start must be "stationary", "any" or a list of {self.letters} probabilities, got {brief(self.start)}'
            )
        if self.stationary:
            self._check_reached()

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
        """Number of letters of a record, k."""
        return len(self.transitions)

    @property
    def stationary(self) -> bool:
        """True if the first record has a stationary law."""
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
        super().check(records)

    def check_release(self, query: Query, records: Records, mechanism: Mechanism) -> None:
        """A row for each total of what the letters add.

        >>> from dalenius.model.mechanisms import Symmetric
        >>> from dalenius.model.queries import Sum
        >>> FiniteChain([["1/3"] * 3] * 3).check_release(Sum(weights=(1, 2, 4)), Records(2, alphabet=3), Symmetric(0.1))
        Traceback (most recent call last):
            ...
        dalenius.errors.InputError: adversary: a finite_chain is known with count, sum without weights, parity, modular_sum or \
threshold; got sum
        """
        query.check_values(records)
        if query.sums is None or not query.sums.adds_letters:
            known = "count, sum without weights, parity, modular_sum or threshold"
            raise InputError(f"adversary: a finite_chain is known with {known}; got {query.kind}")
        self._need_rows(mechanism)
        if len(records) > WRITTEN_OUT:
            raise InputError(
                f"adversary: a finite_chain is known for at most {WRITTEN_OUT} records, got {len(records)}"
            )

    def records_of(self, records: Records) -> list[int]:
        """Those that are asked about."""
        return list(range(len(records))) if self.record is None else [self.record]

    def in_words(self) -> str:
        starts = {"stationary": "stationary", "any": "from any start"}
        start = starts[self.start] if isinstance(self.start, str) else "from a start in the ranges given"
        asked = "" if self.record is None else f", and who asks about record {self.record} alone"
        return f"to whom the records are a Markov chain of {self.letters} letters, {start}, transitions in the ranges given{asked}"


def two_sided(query: Query, mechanism: Mechanism) -> Fraction | None:
    """Epsilon of the two-sided geometric noise that is added to the number of ones; None where it is another release."""
    return mechanism.two_sided if query.sums and query.sums.hidden_by == "shifts" else None


def inputs_by_ones(query: Query, records: Records) -> Integers:
    """Places among the query's values of 0, 1, ..., n ones.

    >>> from dalenius.model.queries import Parity
    >>> inputs_by_ones(Parity(), Records(3, alphabet=2)).tolist()
    [0, 1, 0, 1]
    """
    return inputs_by_total(query, records, np.arange(len(records) + 1))


def inputs_by_total(query: Query, records: Records, totals: Integers) -> Integers:
    """Places among the query's values of these totals of the letters' contributions.

    >>> from dalenius.model.queries import Parity
    >>> inputs_by_total(Parity(), Records(3, alphabet=2), np.array([0, 3])).tolist()
    [0, 1]
    """
    assert query.sums is not None
    return query.sums.index_of_total(totals, records)


def what_letters_add(query: Query, letters: int) -> tuple[int, ...]:
    """Contribution of each letter of a record to the total, for a query that treats all records alike.

    >>> from dalenius.model.queries import Count, Threshold
    >>> what_letters_add(Count(letters=[2]), 3), what_letters_add(Threshold(4), 3)
    ((0, 0, 1), (0, 1, 2))
    """
    assert query.sums is not None
    return query.sums.contribution(0, letters)
