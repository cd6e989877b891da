"""Several queries of one dataset: their sums as one number, a digit for each different sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = tuple[int, ...]  # what each letter of a record adds


def added(query: dict[str, Any], group: Any) -> Row:
    """What each letter adds to a query's sum: of a record with so many letters, or with these weights."""
    if isinstance(group, tuple):
        return group
    if query["kind"] == "count":
        listed = set(query["letters"])
        return tuple(int(a in listed) for a in range(group))
    return tuple((query.get("weights") or range(group))[:group])


def value_of(query: dict[str, Any], total: int) -> int:
    """The query's value where the letters add up to this."""
    if query["kind"] == "threshold":
        return int(total >= query["at"])
    modulus = 2 if query["kind"] == "parity" else query.get("modulus")
    return total % modulus if modulus else total


class Joint:
    """The queries of a joint one, and for each record what each of its letters adds to the number."""

    def __init__(self, queries: Sequence[dict[str, Any]], alphabets: Sequence[int]) -> None:
        self.queries = queries
        digits = dict[tuple[Row, ...], int]()
        self._digit = list[int]()
        self._lows = list[int]()
        self._spans = list[int]()
        for query in queries:
            weights = query.get("weights") or []
            known = dict[int, Row]()
            own = bool(weights) and isinstance(weights[0], list)
            listed = [tuple(row) for row in weights] if own else []
            column = tuple(listed or (known.setdefault(n, added(query, n)) for n in alphabets))
            if column not in digits:
                digits[column] = len(digits)
                self._lows.append(sum(map(min, column)))
                self._spans.append(sum(max(row) - min(row) for row in column) + 1)
            self._digit.append(digits[column])
        steps = list[int]()
        step = 1
        for span in self._spans:
            steps = [*steps, step]
            step = step * span
        made = dict[tuple[Row, ...], Row]()
        self.rows = list[Row]()
        for rows in zip(*digits, strict=True):
            if rows not in made:
                letters = zip(*([x - min(row) for x in row] for row in rows), strict=True)
                made[rows] = tuple(sum(x * s for x, s in zip(some, steps, strict=True)) for some in letters)
            self.rows.append(made[rows])

    def values(self, number: int) -> Row:
        """The queries' values."""
        sums = list[int]()
        for low, span in zip(self._lows, self._spans, strict=True):
            number, digit = divmod(number, span)
            sums.append(low + digit)
        return tuple(value_of(query, sums[j]) for query, j in zip(self.queries, self._digit, strict=True))
