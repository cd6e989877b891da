"""Ranges of columns, from what rows say about them one after the other."""

from __future__ import annotations

from dalenius_check.core.arithmetic import fmpq
from dalenius_check.core.numbers import RefusedError, need

from .instance import End, Form, Instance, triangle

_CUTOFF = -1  # the step of the row c x + offset <= cutoff
_BITS = 32  # that ends of ranges are rounded outward to


class Ranges:
    """Ranges of the columns that follow from the rows, one after the other: for all feasible x, or all with c x + offset <= cutoff."""

    def __init__(self, instance: Instance, cutoff: End) -> None:
        self.instance = instance
        self.cutoff = cutoff
        self.empty = False
        self.ends: list[list[End]] = [[None, None] for _ in range(instance.width)]
        self.homes = {row: (kind, rows) for kind, rows in instance.cones for row in rows}

    def step(self, row: int) -> None:
        if row == _CUTOFF:
            if self.cutoff is None:
                raise RefusedError("a step needs a cutoff")
            self._narrow({j: -x for j, x in self.instance.c.items()}, self.cutoff - self.instance.offset, fmpq(0), None)
            return
        need(row in self.homes, "a step is no row")
        low, high = self._member(row, *self.homes[row])
        self._narrow(self.instance.rows[row], self.instance.b.get(row, fmpq(0)), low, high)

    def _member(self, row: int, kind: str, rows: range) -> tuple[End, End]:
        """Range that a cone leaves to this member, given the ranges of the others."""
        k = row - rows.start
        if kind == "zero":
            return fmpq(0), fmpq(0)
        if kind == "second-order" and k:  # |u| <= t
            most = self._most(rows[0])
            return (None if most is None else -most), most
        if kind == "exponential" and k == 0:  # x <= y log(z/y) <= z/e
            most = self._most(rows[2])
            return None, None if most is None else most * fmpq(3, 8)
        if kind == "exponential" and k == 1:  # y <= -x, or else x/y >= -1 and so y <= e z
            most = self._most(rows[2])
            least = self._sides(rows[0])[0]
            return fmpq(0), None if most is None or least is None else max(-least, 3 * most)
        if kind == "semidefinite":
            return self._entry(rows, k)
        return fmpq(0), None

    def _entry(self, rows: range, k: int) -> tuple[End, End]:
        """A diagonal is not negative; an entry beside it is at most the mean of its two diagonal ones."""
        places = triangle(len(rows))
        i, j = places[k]
        if i == j:
            return fmpq(0), None
        first, second = (self._most(rows[places.index((m, m))]) for m in (i, j))
        if first is None or second is None:
            return None, None
        return -(first + second) / 2, (first + second) / 2

    def _sides(self, row: int) -> tuple[End, End]:
        (least, below), (most, above) = self._totals(self.instance.rows[row], self.instance.b.get(row, fmpq(0)))
        return (None if below else least), (None if above else most)

    def _most(self, row: int) -> End:
        most = self._sides(row)[1]
        return None if most is None else max(most, fmpq(0))

    def _totals(self, form: Form, constant: fmpq) -> tuple[tuple[fmpq, int], tuple[fmpq, int]]:
        """The finite part of the least and of the most of a form, and how many infinite ends there are beside it."""
        totals, infinite = [constant, constant], [0, 0]
        for j, a in form.items():
            for side in (0, 1):
                end = self.ends[j][side if a > 0 else 1 - side]
                if end is None:
                    infinite[side] += 1
                else:
                    totals[side] += a * end
        return (totals[0], infinite[0]), (totals[1], infinite[1])

    def _narrow(self, form: Form, constant: fmpq, low: End, high: End) -> None:
        """low <= form <= high: each column is within what the others leave."""
        (least, below), (most, above) = self._totals(form, constant)
        if (high is not None and not below and least > high) or (low is not None and not above and most < low):
            self.empty = True
        for j, a in form.items():
            at_least, at_most = self.ends[j] if a > 0 else self.ends[j][::-1]  # a x_j from at_least a to at_most a
            up = down = None
            if high is not None and below == (at_least is None):
                up = (high - least) / a + (at_least or 0)
            if low is not None and above == (at_most is None):
                down = (low - most) / a + (at_most or 0)
            self._take(j, *((down, up) if a > 0 else (up, down)))

    def _take(self, j: int, low: End, high: End) -> None:
        for side, new in ((0, low), (1, high)):
            old = self.ends[j][side]
            if new is not None and (old is None or (new > old if side == 0 else new < old)):
                self.ends[j][side] = _outward(new, side)
        first, last = self.ends[j]
        self.empty = self.empty or (first is not None and last is not None and first > last)


def _outward(value: fmpq, side: int) -> fmpq:
    """A number of few bits that is not above the value, or not below it for side 1."""
    p, q = int(value.numerator), int(value.denominator)
    shift = _BITS - p.bit_length() + q.bit_length()
    scaled = (p << max(shift, 0), q << max(-shift, 0))
    whole = -(-scaled[0] // scaled[1]) if side else scaled[0] // scaled[1]
    return fmpq(whole << max(-shift, 0), 1 << max(shift, 0))
