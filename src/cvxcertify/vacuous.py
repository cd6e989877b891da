"""What a column without cost can always satisfy, taken away: multipliers of it prove nothing, and spoil what they meet.

An epigraph variable that no cost and no constraint looks at, that of an entry of an atom which is not used, say, has no upper end. A
multiplier of its rows, however small, would have to be paid for with that infinite end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from flint import fmpq

from cvxcertify.instance import KINDS, Floats, Instance, cone_of
from cvxcertify.ranges import RangeState

Unit = tuple[str, tuple[int, ...]]  # the kind of a cone, and its rows; nonnegative ones are a row each


@dataclass(frozen=True, eq=False)
class Trimmed:
    """An instance with fewer rows, whose multipliers, with 0 for the others, are multipliers of the whole one.

    Bound because 0 is in every dual cone, and (0, v, w) with v, w >= 0 in that of an exponential cone.

    Attributes
    ----------
    instance : Instance
    rows : list of int
        Which rows of the whole instance it has.
    size : int
        How many rows that has.
    """

    instance: Instance
    rows: list[int]
    size: int

    @classmethod
    def of(cls, instance: Instance, ranges: RangeState) -> Trimmed:
        """Without what columns that have no cost, and no end on one side, satisfy from some value on."""
        units = dict(enumerate(_units(instance)))
        homes = {row: k for k, (_, rows) in units.items() for row in rows}
        numbers = count(len(units))
        waiting = [j for j in range(len(instance.c)) if ranges.is_open(j)]
        while waiting:
            j = waiting.pop()
            for sign, end in ((1, ranges.high[j]), (-1, ranges.low[j])):
                met = {homes[row] for row in instance.columns[j] if row in homes}
                if instance.c[j] or end is not None or not met:
                    continue
                left = {k: _left(units[k], {row: sign * x for row, x in instance.columns[j].items()}) for k in met}
                if any(unit is None for unit in left.values()):
                    continue
                for k in met:
                    for row in units.pop(k)[1]:
                        del homes[row]
                        waiting += instance.rows[row]
                    for unit in left[k] or ():
                        number = next(numbers)
                        units[number] = unit
                        homes |= dict.fromkeys(unit[1], number)
        return cls._made(instance, list(units.values()))

    @classmethod
    def _made(cls, instance: Instance, units: list[Unit]) -> Trimmed:
        single = {kind: [rows[0] for each, rows in units if each == kind] for kind in KINDS if KINDS[kind].by_rows}
        blocks = [(kind, rows) for kind, rows in single.items() if rows]
        blocks += [(kind, list(rows)) for kind, rows in units if kind not in single]
        rows = [row for _, part in blocks for row in part]
        smaller = replace(
            instance,
            rows=tuple(instance.rows[row] for row in rows),
            b=tuple(instance.b[row] for row in rows),
            cones=tuple(cone_of(kind, len(part)) for kind, part in blocks),
        )
        return cls(smaller, rows, len(instance.b))

    def restricted(self, z: Floats) -> Floats:
        """The multipliers of the rows that are left."""
        return z[self.rows]

    def lifted(self, z: list[fmpq]) -> list[fmpq]:
        """Multipliers of all rows."""
        found = [fmpq(0)] * self.size
        for row, x in zip(self.rows, z, strict=True):
            found[row] = x
        return found


def _units(instance: Instance) -> Iterator[Unit]:
    for cone, places in instance.cells:
        if cone.by_rows:
            yield from ((cone.kind, (row,)) for row in places)
        else:
            yield cone.kind, tuple(places)


def _left(unit: Unit, direction: dict[int, fmpq]) -> tuple[Unit, ...] | None:
    """What a cone still asks of its other members when one may go in this direction for ever; None: as much as before."""
    kind, rows = unit
    left = cone_of(kind, len(rows)).left([direction.get(row, fmpq(0)) for row in rows])
    return None if left is None else tuple((each, (rows[k],)) for k, each in left.items())
