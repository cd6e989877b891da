"""The rows of constraints of one's own: sum of G(x, y) Q(x, y) at most h, or equal to it, from a model's tables alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import Any

from ...core.allowance import PAIR, Allowance
from ...core.arithmetic import fmpq
from ...core.numbers import need, need_certain, total
from .ground import Costs, Ground, Term

_MAX_ROWS, _MAX_TERMS = 1 << 20, 1 << 22


def need_few(rows: int, terms: int, ground: Ground, what: str) -> None:
    """Refuse a constraint of too many rows or terms, and count what its rows are numbered by."""
    fits = rows <= _MAX_ROWS and terms <= _MAX_TERMS
    need(fits, f"{what} has more than {_MAX_ROWS} rows or {_MAX_TERMS} terms")
    ground.allowance.take(rows * PAIR)


@dataclass(frozen=True)
class Rows:
    """So many rows, in which e^epsilon is somewhere in `ends`: of row r, with c in its place, `make` has the terms and h."""

    count: int
    equal: bool
    make: Callable[[int, fmpq], tuple[Iterable[Term], fmpq]]
    ends: tuple[Any, Any] = (1, 1)

    def need_met(self, laws: Sequence[Sequence[fmpq]], what: str, allowance: Allowance) -> None:
        """Refuse a mechanism that misses a row; bound because a smaller c asks for more, as Q >= 0."""
        for r in range(self.count):
            allowance.look()
            need_certain(partial(self._met, laws, r), *self.ends, f"row {r} of {what}")

    def _met(self, laws: Sequence[Sequence[fmpq]], r: int, c: fmpq) -> bool:
        terms, most = self.make(r, c)
        value = value_of(terms, laws)
        return bool(value == most if self.equal else value <= most)


def value_of(terms: Iterable[Term], laws: Sequence[Sequence[fmpq]]) -> fmpq:
    """The sum of c Q(x, y)."""
    return total(c * laws[x][y] for x, y, c in terms)


def other_rows(table: dict[str, Any], ground: Ground, what: str) -> Rows:
    """The rows of a constraint that is not about ratios."""
    return _KINDS[table["kind"]](table, ground, what)


def _linear(table: dict[str, Any], ground: Ground, what: str) -> Rows:
    terms = table["terms"]
    equal = table["equals"] is not None
    ground.need_cells(terms, what)
    need_few(1, len(terms), ground, what)
    most = table["equals"] if equal else table["at_most"]
    return Rows(1, equal, lambda r, c: (terms, most))


def _zeros(cells: Sequence[Term], ground: Ground, what: str) -> Rows:
    need_few(len(cells), len(cells), ground, what)
    return Rows(len(cells), True, lambda r, c: ([[*cells[r], fmpq(1)]], fmpq(0)))


def _zero(table: dict[str, Any], ground: Ground, what: str) -> Rows:
    ground.need_cells(table["entries"], what)
    return _zeros(table["entries"], ground, what)


def _band(table: dict[str, Any], ground: Ground, what: str) -> Rows:
    points = ground.points(what)
    width = table["width"]
    used = ground.used
    far = sum(abs(ground.values[x] - point) > width for x in used for point in points)
    need_few(far, far, ground, what)
    return _zeros(
        [(x, y) for x in used for y, o in enumerate(points) if abs(ground.values[x] - o) > width], ground, what
    )


def _unbiased(table: dict[str, Any], ground: Ground, what: str) -> Rows:
    points = ground.points(what)
    used = ground.used
    slack = fmpq(table["tolerance"])
    sides = 2 if slack else 1

    def make(r: int, c: fmpq) -> tuple[Iterable[Term], fmpq]:
        x = used[r // sides]
        sign = -1 if r % sides else 1
        return ((x, y, sign * o) for y, o in enumerate(points)), slack + sign * ground.values[x]

    need_few(sides * len(used), sides * len(used) * len(points), ground, what)
    return Rows(sides * len(used), not slack, make)


def _means(groups: Sequence[Iterable[tuple[int, fmpq]]], costs: Costs, most: fmpq) -> Rows:
    """For each group of inputs with their weights the weighted distortion."""
    return Rows(
        len(groups), False, lambda r, c: (((x, y, w * d) for x, w in groups[r] for y, d in enumerate(costs[x])), most)
    )


def _error(table: dict[str, Any], ground: Ground, what: str) -> Rows:
    groups: list[list[int]] = table["groups"] or [[x] for x in ground.used]
    ground.need_inputs(chain(*groups), what)
    need_few(len(groups), sum(map(len, groups)) * ground.outputs, ground, what)
    costs = ground.measure(table["distortion"], what) if table["distortion"] else ground.costs
    ground.allowance.take(sum(map(len, groups)) * PAIR)
    return _means([_shares(group, ground.law, what) for group in groups], costs, table["at_most"])


def _shares(group: list[int], law: list[fmpq], what: str) -> list[tuple[int, fmpq]]:
    """The weights w(x) of a group: p(x)/p(g), and 1 of one input."""
    if len(group) == 1:
        return [(group[0], fmpq(1))]
    mass = total(law[x] for x in group)
    need(mass > 0, f"{what}: a group of several inputs has probability 0")
    return [(x, law[x] / mass) for x in group]


def _distortion(table: dict[str, Any], ground: Ground, what: str) -> Rows:
    need_few(1, len(ground.law) * ground.outputs, ground, what)
    return _means([list(enumerate(ground.law))], ground.measure(table["distortion"], what), table["at_most"])


def _monotone(table: dict[str, Any], ground: Ground, what: str) -> Rows:
    pairs = list(pairwise(ground.used))
    places = ground.outputs - 1

    def make(r: int, c: fmpq) -> tuple[Iterable[Term], fmpq]:
        (x, other), last = pairs[r // places], r % places
        return ((k, y, fmpq(sign)) for k, sign in ((other, 1), (x, -1)) for y in range(last + 1)), fmpq(0)

    need_few(len(pairs) * places, len(pairs) * places * ground.outputs, ground, what)
    return Rows(len(pairs) * places, False, make)


_KINDS: dict[str, Callable[[dict[str, Any], Ground, str], Rows]] = {
    "linear": _linear,
    "zero": _zero,
    "band": _band,
    "unbiased": _unbiased,
    "error": _error,
    "distortion": _distortion,
    "monotone": _monotone,
}
