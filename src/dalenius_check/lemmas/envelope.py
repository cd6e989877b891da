"""Theorem J2: the most information within a limit about a secret is below a plane above what all columns of mechanisms reveal.

Hypotheses, each a line that refuses: the mechanism keeps the limit (`check`); the plane's price of the limit is not negative
(`check`), and the claim is what the plane comes to (`_need_upper`); the plane is above every input that the secret does not see
(`_need_blind`) and on every cell (`_need_inputs`, `_need_useful`); cells on the useful variable's posteriors are for a limit on
the information about the input itself (`_need_useful`). Of a limit of 0 a plane need only be above the extreme rays of columns that
are independent of the secret, each of which is looked at (`_independent`), if its measure is 0 of no others (`check`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from ..core.allowance import BALL, NUMBER, PAIR, Allowance, limit, rests_on
from ..core.arithmetic import arb, fmpq
from ..core.certificate import Lines
from ..core.model import Model
from ..core.numbers import at_most, height, largest, need, rounded, summed, total
from ..core.proof import Words
from ..core.read import decimal, entries
from .designs.constraints import SECRET_LIMITS
from .designs.limits import Measured
from .designs.tangents import Information
from .information import Informative
from .information.columns import Measure, measure_of

_MOST_CELLS = 1 << 17
_MOST_HALVINGS = 60
_MOST_PLANES = 64
_STRICT = ("mutual_information", "kl", "chi_square", "total_variation")  # 0 of independent columns alone
_LIMITED = {**{kind: SECRET_LIMITS[kind] for kind in _STRICT}, "measure": Measured}
Unit = tuple[
    list[fmpq], dict[int, fmpq], list[fmpq]
]  # of an input: the secret's masses, the useful ones, and its prices


@dataclass(frozen=True)
class Plane:
    """The price of the limit, and those of the inputs."""

    price: fmpq
    prices: list[fmpq]


class Vertex(NamedTuple):
    """A point of a cell: coordinates, the secret's masses of its column, the useful ones, what it pays by planes, what it reveals."""

    at: list[fmpq]
    masses: list[fmpq]
    useful: dict[int, fmpq]
    paid: list[fmpq]
    told: arb

    def middle(self, other: Vertex, measure: Measure) -> Vertex:
        """Half of the way to another one."""
        pairs = (self.at, other.at), (self.masses, other.masses), (self.paid, other.paid)
        at, masses, paid = ([(a + b) / 2 for a, b in zip(*pair, strict=True)] for pair in pairs)
        letters, zero = sorted(self.useful.keys() | other.useful.keys()), fmpq(0)
        useful = {u: (self.useful.get(u, zero) + other.useful.get(u, zero)) / 2 for u in letters}
        return Vertex(at, masses, useful, paid, measure.of(useful))


class Within(Informative):
    """A model of the kind max_information with a limit about a secret in the place of privacy."""

    keeps = "keeps the limit"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        rests_on(self.allowance, "J2")
        tables = model.design["constraints"]
        kinds = ", ".join(_LIMITED)
        need(len(tables) == 1 and tables[0]["kind"] in _LIMITED, f"constraints must be one of the kinds {kinds}")
        (self.table,) = tables
        need(not self.table.get("strong"), "constraint 0 must not be strong")
        self.limit = _LIMITED[self.table["kind"]](self.table, self.ground, "constraint 0")
        need(len(self.limit.laws) == 1, "constraint 0 must be about one law")
        (secret,) = self.limit.laws
        self.law = [secret.prior[s] for s in secret.letters]
        self.taken = measure_of(self.table.get("measure", self.table["kind"]))(self.law)
        self.seen = dict(secret.inputs)  # p(x), where it is positive
        rows = [dict(secret.rows[s]) for s in secret.letters]
        self.masses = {x: [row.get(x, fmpq(0)) for row in rows] for x in self.seen}

    def check(self, lines: Lines, claim: dict[str, Any]) -> Words:
        """Check the mechanism and the line after the header; the statement, and the numbers of cells."""
        channel = self._channel(claim["mechanism"])
        self.limit.need_met(channel.rows)
        self._need_lower(channel, claim["lower"])
        independent = self.limit.most == 0 and self.table["kind"] in _STRICT
        line = lines.item("the envelope", {"envelope": 4, "potential": 2} if independent else {"envelope": 4})
        alone = line[0] == "potential"
        over = "inputs" if alone else line[1]
        self.planes = [self._plane("0" if alone else line[2], line[-1])]
        self._need_upper(self.planes[0], claim["upper"])
        need(over in ("inputs", "useful"), "the envelope must be over 'inputs' or 'useful'")
        while lines.more() and not alone:
            limit(len(self.planes) < _MOST_PLANES, f"more than {_MOST_PLANES} envelopes")
            _, other, *listed = lines.item("an envelope", {"envelope": 4})
            need(other == over, f"all envelopes must be over {over!a}")
            self.planes.append(self._plane(*listed))
        if alone:
            self._need_blind()
            self._need_columns(self._independent(self.planes[0]))
            tally = Counter({"potential": 1})
        else:
            tally = Counter({"cell": self._need_useful() if over == "useful" else self._need_inputs()})
        words = self._words(claim, f"under constraint 0 ({self.table['kind']})")
        for plane in self.planes[1:]:
            ends = (rounded(end, ROUND_CEILING) for end in (total(plane.prices), plane.price))
            words.append(f"with c in the place of its limit: V <= {' + '.join(ends)} c")
        return words, tally

    def _plane(self, listed: Any, prices: Any) -> Plane:
        """A plane as it is written."""
        price = decimal(listed, "the price")
        need(price >= 0, "the price must not be negative")
        found = [decimal(x, "a price") for x in entries(prices, "the prices", len(self.inputs))]
        self.allowance.take(sum(2 * NUMBER + height(x) // 4 for x in found))
        return Plane(price, found)

    def _independent(self, plane: Plane) -> Iterator[tuple[fmpq, dict[int, fmpq]]]:
        """Of the extreme rays of columns with A v = 0 on inputs that the secret sees: the potential, and the useful masses."""
        drifts = {x: [m - pi * p for m, pi in zip(self.masses[x], self.law, strict=True)] for x, p in self.seen.items()}
        rank, _ = _null([*drifts.values()], self.allowance)
        limit(comb(len(drifts), rank + 1) <= _MOST_CELLS, f"more than {_MOST_CELLS} sets of inputs")
        for chosen in combinations(sorted(drifts), rank + 1):
            own, ray = _null([drifts[x] for x in chosen], self.allowance)
            if own == rank and min(ray) >= 0:
                masses = dict[int, fmpq]()
                for x, g in zip(chosen, ray, strict=True):
                    for u, m in self._column(x).items() if g else ():
                        masses[u] = masses.get(u, fmpq(0)) + g * m
                yield total(plane.prices[x] * g for x, g in zip(chosen, ray, strict=True)), masses

    def _need_upper(self, plane: Plane, upper: fmpq) -> None:
        """Refuse a claim that leaves less than the limit's price beside the prices; where the limit is rational, exactly."""
        what, rest = "the envelope's bound <= upper", upper - total(plane.prices)
        if isinstance(self.limit, Information) and self.limit.unit == "bits":
            at_most(arb(plane.price) * self.limit.ball, arb(rest), what)
        else:
            need(plane.price * self.limit.most <= rest, f"{what} fails")

    def _column(self, x: int) -> dict[int, fmpq]:
        """The useful masses of an input alone."""
        return {u: row[x] for u, row in enumerate(self.told) if x in row}

    def _need_blind(self) -> None:
        """Refuse a plane that is below what an input reveals that the secret does not see."""
        for x in range(len(self.inputs)):
            if x not in self.seen:
                told = self.measure.of(self._column(x))
                at_most(told, arb(min(plane.prices[x] for plane in self.planes)), f"what input {x} tells <= its price")

    def _need_inputs(self) -> int:
        """Refuse a plane that is not above all columns, by cells on few inputs; the number of cells."""
        self._need_blind()
        k = min(len(self.law) if any(plane.price for plane in self.planes) else 1, len(self.seen))
        limit(comb(len(self.seen), k) <= _MOST_CELLS, f"more than {_MOST_CELLS} cells")
        size = (len(self.law) + 2 + len(self.told) + len(self.planes)) * PAIR
        self.allowance.take((len(self.seen) + _MOST_HALVINGS * k) * size + _MOST_HALVINGS * k * k * PAIR)
        units = {
            x: (
                [m / p for m in self.masses[x]],
                {u: m / p for u, m in self._column(x).items()},
                [plane.prices[x] / p for plane in self.planes],
            )
            for x, p in self.seen.items()
        }
        first = (
            (f"the inputs {list(chosen)}", [units[x] for x in chosen]) for chosen in combinations(sorted(self.seen), k)
        )
        return self._need_cells(first, self._above)

    def _above(self, corners: list[Vertex], left: list[int]) -> list[int]:
        """Planes that are not above a cell of inputs, at its corners: what is revealed is below them, what is limited above a tangent.

        Bound because the first is convex and the second above the tangent.
        """
        t = self.taken.slopes([total(column) for column in zip(*(c.masses for c in corners), strict=True)])
        known = [(c, _dot(t, c.masses)) for c in corners]
        prices = [(n, arb(self.planes[n].price)) for n in left]
        return [n for n, mu in prices if not all((c.told - mu * g <= arb(c.paid[n])) is True for c, g in known)]

    def _need_useful(self) -> int:
        """Refuse a plane that is not above all columns, by cells on the useful variable's posteriors; the number of cells."""
        about_input = self.table["kind"] in ("mutual_information", "kl") and self.table.get("secret") is None
        need(about_input, "cells over 'useful' are for a limit on the information about the input itself")
        need(all(plane.price > 0 for plane in self.planes), "cells over 'useful' need a price above 0")
        k = len(self.told)
        columns = [[row.get(x, fmpq(0)) for row in self.told] for x in range(len(self.inputs))]
        self.allowance.take(_MOST_HALVINGS * k * (2 * k + 1) * PAIR + len(columns) * (k * PAIR + BALL))
        units: list[Unit] = [([], {u: fmpq(1)}, []) for u in range(k)]
        first = [("the useful variable's posteriors", units)]

        def below(corners: list[Vertex], left: list[int]) -> list[int]:
            slopes = self._slopes(corners)
            return [n for n in left if not self._below(slopes, columns, self.planes[n])]

        return self._need_cells(first, below)

    def _need_cells(
        self, first: Iterable[tuple[str, list[Unit]]], unproved: Callable[[list[Vertex], list[int]], list[int]]
    ) -> int:
        """Refuse a plane that some cell does not prove, however often it is halved; the number of cells."""
        count = 0
        for where, units in first:
            basis = [[fmpq(int(i == j)) for j in range(len(units))] for i in range(len(units))]
            pairs = zip(basis, units, strict=True)
            whole = [Vertex(at, *unit, self.measure.of(unit[1])) for at, unit in pairs]
            cells = [(whole, 0, [*range(len(self.planes))])]
            while cells:
                corners, halvings, left = cells.pop()
                self.allowance.look()
                limit(count < _MOST_CELLS, f"more than {_MOST_CELLS} cells")
                count += 1
                if left := unproved(corners, left):
                    need(halvings < _MOST_HALVINGS, f"the plane is not above a cell of {where}")
                    i, j = _longest([c.at for c in corners], self.allowance)
                    middle = corners[i].middle(corners[j], self.measure)
                    cells += [
                        ([middle if n == place else c for n, c in enumerate(corners)], halvings + 1, left)
                        for place in (j, i)
                    ]
        return count

    def _slopes(self, corners: list[Vertex]) -> list[arb]:
        """Slopes of a plane that is above what is revealed on a cell: the tangent's at the mean, raised by the farthest corner.

        Bound because what the tangent leaves, whatever its slopes, is convex and homogeneous, and r is 1 at the corners.
        """
        slopes = self.measure.slopes([total(a) / len(corners) for a in zip(*(c.at for c in corners), strict=True)])
        farthest = largest([c.told - _dot(slopes, c.at) for c in corners])
        return [arb(t) + farthest for t in slopes]

    def _below(self, slopes: list[arb], columns: list[list[fmpq]], plane: Plane) -> bool:
        """True if a cell with these slopes proves itself."""
        whole = arb(0)
        for x, column in enumerate(columns):
            self.allowance.look()
            gain = _dot(slopes, column) - arb(plane.prices[x])
            if x in self.seen:
                p = self.seen[x]
                whole += arb(p) * (gain / arb(plane.price * p)).exp()
            elif (gain <= 0) is not True:
                return False
        return (whole <= 1) is True


def _null(columns: list[list[fmpq]], allowance: Allowance) -> tuple[int, list[fmpq]]:
    """The rank of a matrix, and a vector that it sends to 0, 1 at the first column that depends on those before it."""
    rows, pivots, free = [list(row) for row in zip(*columns, strict=True)], list[int](), list[int]()
    for j in range(len(columns)):
        allowance.look()
        r = len(pivots)
        i = next((i for i in range(r, len(rows)) if rows[i][j]), None)
        if i is None:
            free.append(j)
            continue
        rows[r], rows[i] = rows[i], rows[r]
        rows[r] = [x / rows[r][j] for x in rows[r]]
        for i, row in enumerate(rows):
            if i != r and row[j]:
                rows[i] = [x - row[j] * y for x, y in zip(row, rows[r], strict=True)]
        pivots.append(j)
    vector = [fmpq(int(j in free[:1])) for j in range(len(columns))]
    for row, j in zip(rows, pivots, strict=False):
        vector[j] = -row[free[0]] if free else fmpq(0)
    return len(pivots), vector


def _longest(points: list[list[fmpq]], allowance: Allowance) -> tuple[int, int]:
    """The pair of points that are farthest apart, the first of several."""
    longest, found = fmpq(-1), (0, 0)
    for i, j in combinations(range(len(points)), 2):
        allowance.look()
        length = total((a - b) ** 2 for a, b in zip(points[i], points[j], strict=True))
        if length > longest:
            longest, found = length, (i, j)
    return found


def _dot(slopes: Iterable[Any], masses: Iterable[fmpq]) -> arb:
    return summed(arb(t) * arb(m) for t, m in zip(slopes, masses, strict=True) if m)


def design(model: Model) -> Within:
    """Subject of a `max_information` model within a limit."""
    return Within(model)
