"""A mechanism inside the rows of a design, or why there is none, in exact numbers: for rows with less room than doubles can see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from dalenius.designs.exchange.rows import Row
from dalenius.information.balls import fraction, rational
from dalenius.search import Clock

Terms = dict[int, fmpq]
LARGEST = 400  # rows and entries of a program that is tried: more take longer than they are worth
GREEDY = (
    4  # times as many steps as rows, after which the first column that helps is taken: that never goes round in circles
)


@dataclass(frozen=True, eq=False)
class Strict:
    """A point of the relative interior.

    Attributes
    ----------
    q : exact entries
    support : list of bool
        Entries that are not 0 in every mechanism.
    tight : list of bool
        Rows that hold with equality in every mechanism, equations too.
    """

    q: list[Fraction]
    support: list[bool]
    tight: list[bool]


def strictly(rows: Sequence[Row], shape: tuple[int, int], clock: Clock) -> Strict | list[Fraction] | None:
    """A point inside all that can be met strictly; multipliers whose sum no mechanism meets; None without time, or of too many rows.

    Largest sum of s and t, all at most 1, with A q + t <= h k, B q = e k, q >= s, and rows of q with sum k: an enlarged mechanism
    has 1 wherever something can be strict, and without any mechanism the optimum is 0, and its multipliers say why.

    >>> half = Row({0: Fraction(1)}, Fraction(1, 10**40), False)
    >>> found = strictly([half], (1, 2), Clock(1.0))
    >>> 0 < found.q[0] < Fraction(1, 10**40), found.support, found.tight
    (True, [True, True], [False])
    >>> strictly([half, Row({1: Fraction(1)}, 1 - Fraction(2, 10**40), False)], (1, 2), Clock(1.0))[0] > 0
    True
    """
    count, outputs = shape
    n, below, equal = count * outputs, [r for r in rows if not r.equal], [r for r in rows if r.equal]
    if n + len(rows) > LARGEST:
        return None
    m = len(below)
    slacks, k = 2 * n, 2 * n + m  # after the entries less s, and s: t, k, then what is left in rows, of s and of t
    left, markers = k + 1, k + 1 + 2 * m + n
    program = _Program(markers, [*range(n, k)])
    sums = [Row({x * outputs + y: Fraction(1) for y in range(outputs)}, Fraction(1), True) for x in range(count)]
    for j, row in enumerate([*equal, *sums]):
        program.equation({**_enlarged(row, n, k), markers + j: fmpq(1)})
    for r, row in enumerate(below):
        program.row({**_enlarged(row, n, k), slacks + r: fmpq(1)}, left + r)
    for i in range(n + m):
        program.row({n + i: fmpq(1)}, left + m + i, fmpq(1))
    if not program.solve(clock):
        return None
    if not program.value:
        prices = iter(program.prices(range(left, left + m))), iter(program.prices(range(markers, markers + len(equal))))
        return [next(prices[row.equal]) for row in rows]
    point = program.point()
    size = point[k]
    met = iter([not point.get(slacks + r) for r in range(m)])
    return Strict(
        [fraction((point.get(i, fmpq(0)) + point.get(n + i, fmpq(0))) / size) for i in range(n)],
        [bool(point.get(n + i)) for i in range(n)],
        [True if row.equal else next(met) for row in rows],
    )


def _enlarged(row: Row, n: int, k: int) -> Terms:
    """Of an entry less s, and of s, the row's factors, and of k its end on the other side."""
    terms = {i: rational(c) for i, c in row.terms.items() if c}
    end = {k: rational(-row.end)} if row.end else {}
    return {**terms, **{n + i: c for i, c in terms.items()}, **end}


class _Program:
    """A linear program in exact numbers whose start is 0: the simplex method on rows of what is not 0."""

    def __init__(self, columns: int, worth: Iterable[int]) -> None:
        self.columns = columns  # that may be used; those beyond only mark what equations were multiplied by
        self.rows, self.ends, self.basis = list[Terms](), list[fmpq](), list[int]()
        self.gains: Terms = {j: fmpq(1) for j in worth}
        self.value = fmpq(0)

    def row(self, terms: Terms, slack: int, end: fmpq = fmpq(0)) -> None:
        """sum of terms <= end: for what the equations leave, so after them."""
        self.rows.append({**terms, slack: fmpq(1)})
        self.ends.append(end)
        self.basis.append(slack)
        for i in range(len(self.rows) - 1):
            self._clear(self.rows[-1], i, self.basis[i])

    def equation(self, terms: Terms) -> None:
        """sum of terms = 0, of which one column is expressed by the others; one that follows from others is left out."""
        for i in range(len(self.rows)):
            self._clear(terms, i, self.basis[i])
        column = min((j for j in terms if j < self.columns), default=None)
        if column is not None:
            self.rows.append(terms)
            self.ends.append(fmpq(0))
            self.basis.append(column)
            self._pivot(len(self.rows) - 1, column)

    def solve(self, clock: Clock) -> bool:
        """Whether the optimum was found in time."""
        steps = 0
        while helpful := [j for j, gain in self.gains.items() if gain > 0 and j < self.columns]:
            if clock.expired:
                return False
            greedy, steps = steps < GREEDY * len(self.rows), steps + 1
            column = max(helpful, key=lambda j: self.gains[j]) if greedy else min(helpful)
            held = [i for i, row in enumerate(self.rows) if row.get(column, 0) > 0]
            self._pivot(min(held, key=lambda i: (self.ends[i] / self.rows[i][column], self.basis[i])), column)
        return True

    def _pivot(self, leaving: int, column: int) -> None:
        row = self.rows[leaving]
        factor = row[column]
        self.rows[leaving] = {j: c / factor for j, c in row.items()}
        self.ends[leaving] /= factor
        self.basis[leaving] = column
        for i, other in enumerate(self.rows):
            if i != leaving:
                self.ends[i] -= self._clear(other, leaving, column) * self.ends[leaving]
        self.value += self._clear(self.gains, leaving, column) * self.ends[leaving]

    def _clear(self, terms: Terms, row: int, column: int) -> fmpq:
        """Take the column out of these terms by that row; how often it was taken."""
        times = terms.get(column)
        if times is None:
            return fmpq(0)
        for j, c in self.rows[row].items():
            new = terms.get(j, fmpq(0)) - times * c
            if new:
                terms[j] = new
            else:
                terms.pop(j, None)
        return times

    def point(self) -> Terms:
        return dict(zip(self.basis, self.ends, strict=True))

    def prices(self, columns: Iterable[int]) -> list[Fraction]:
        """The multipliers of the rows whose slacks or marks these are."""
        return [fraction(-self.gains.get(j, fmpq(0))) for j in columns]
