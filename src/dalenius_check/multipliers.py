"""Multipliers of rows and of cones in a lower bound, kept until it is known which end of e^epsilon is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .allowance import NUMBER, PAIR, limit
from .arithmetic import fmpq
from .constraints import Constraints
from .numbers import height, need, total
from .read import decimal, entries, integer, nonnegative

_MOST = 1 << 22


class Multipliers:
    """Those of constraints by their numbers, and how many there are, with the numbers of all other lines."""

    def __init__(self, constraints: Constraints) -> None:
        self.constraints = constraints
        self.allowance = constraints.allowance
        self._counted = 0
        self._multipliers = dict[int, dict[int, fmpq]]()
        self._sides = dict[int, list[fmpq]]()

    def count(self, count: int) -> None:
        """So many more."""
        self._counted += count
        limit(self._counted <= _MOST, f"more than {_MOST} multipliers")

    def read_rows(self, j: int, pairs: Any) -> None:
        """Multipliers of rows; bound because mu (h - G Q) is 0 where the row is =, and not negative where mu >= 0 and it is <=."""
        need(j in self.constraints.rows, f"constraint {j} has no rows")
        rows = self.constraints.rows[j]
        known = self._multipliers.setdefault(j, {})
        before = -1
        self.count(len(entries(pairs, "the multipliers")))
        for pair in pairs:
            self.allowance.look()
            place, hint = entries(pair, "a row and its multiplier", 2)
            r = integer(place, "the row", 0, rows.count - 1)
            mu = decimal(hint, "a multiplier")
            need(r > before, "the rows must ascend")
            need(rows.equal or mu >= 0, f"the multiplier of row {r} must be nonnegative")
            self.allowance.take(PAIR + NUMBER + height(mu) // 4)
            known[r], before = total([known.get(r, fmpq(0)), mu]), r

    def read_cone(self, j: int, weight: Any, hints: Any) -> None:
        """Multipliers of a cone; bound because t |.| + sum u_k (F_k Q + f_k) >= (t - |u|) |.| >= 0. Two of them add to one."""
        need(j in self.constraints.cones, f"constraint {j} is no cone")
        size = len(self.constraints.cones[j].norm)
        t = nonnegative(weight, "t")
        u = [decimal(x, "u") for x in entries(hints, "u", size)]
        self.count(size)
        need(total(x * x for x in u) <= t * t, "t must be at least the norm of u")
        self.allowance.take((size + 1) * NUMBER + sum(map(height, [t, *u])) // 4)
        known = self._sides.get(j, [fmpq(0)] * (size + 1))
        self._sides[j] = [total(pair) for pair in zip(known, [t, *u], strict=True)]

    def add_to(self, add: Callable[[int, int, fmpq], None], hard: bool) -> fmpq:
        """Add to the cells of the matrix, and return what is subtracted behind it."""
        behind = list[fmpq]()
        for j, chosen in self._multipliers.items():
            rows = self.constraints.rows[j]
            for r, mu in chosen.items():
                terms, most = rows.make(r, rows.ends[1 if hard else 0])
                behind.append(mu * most)
                for x, y, c in terms if mu else ():
                    add(x, y, mu * c)
        for j, factors in self._sides.items():
            for factor, (terms, constant) in zip(factors, self.constraints.cones[j].parts, strict=True):
                behind.append(factor * constant)
                for x, y, c in terms:
                    add(x, y, -factor * c)
        return total(behind)
