"""Theorem J2: the most information within a limit about a secret is below a plane above what all columns of mechanisms tell.

Hypotheses, each a line that refuses: the mechanism keeps the limit (`check`); the plane's price of the limit is not negative
(`check`), and the claim is what the plane comes to (`_need_upper`); the plane is above every input that the secret does not see
(`_need_blind`) and on every cell (`_need_inputs`, `_need_useful`); cells on the useful variable's posteriors are for a limit on
the information about the input itself (`_need_useful`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any

from ..core.allowance import BALL, NUMBER, PAIR, Allowance, limit, rests_on
from ..core.arithmetic import arb, fmpq
from ..core.certificate import Lines
from ..core.model import Model
from ..core.numbers import at_most, height, largest, need, total
from ..core.proof import Words
from ..core.read import decimal, entries
from .designs.constraints import SECRET_LIMITS
from .designs.ground import Inputs
from .designs.tangents import Information
from .information import Informative, information_of

_MOST_CELLS = 1 << 17
_MOST_HALVINGS = 60
Slopes = Callable[
    [Sequence[fmpq], Sequence[fmpq]], list[Any]
]  # of masses with a sum that is not 0, and the law of the letters


def _ratios(masses: Sequence[fmpq], law: Sequence[fmpq]) -> list[fmpq]:
    whole = total(masses)
    return [m / (p * whole) for m, p in zip(masses, law, strict=True)]


def _information(masses: Sequence[fmpq], law: Sequence[fmpq]) -> list[Any]:
    """Bound because sum m log( m / (pi r) ) >= sum m log t for t with sum pi t <= 1 (Gibbs); where t is 0, so is every m."""
    return [arb(w).log() if w else arb(0) for w in _ratios(masses, law)]


def _chi_square(masses: Sequence[fmpq], law: Sequence[fmpq]) -> list[Any]:
    """Bound because m^2 / (pi r) >= 2 w m - w^2 pi r."""
    w = _ratios(masses, law)
    behind = total(p * x * x for p, x in zip(law, w, strict=True)) + 1
    return [2 * x - behind for x in w]


def _variation(masses: Sequence[fmpq], law: Sequence[fmpq]) -> list[Any]:
    """Bound because |a| >= z a for z = 1 or -1."""
    z = [fmpq(1 if w >= 1 else -1) for w in _ratios(masses, law)]
    behind = total(p * x for p, x in zip(law, z, strict=True))
    return [x - behind for x in z]


_LIMITED: Mapping[str, Slopes] = {
    "mutual_information": _information,
    "kl": _information,
    "chi_square": _chi_square,
    "total_variation": _variation,
}


Unit = tuple[list[fmpq], dict[int, fmpq], fmpq]  # of an input: the secret's masses, the useful ones, and the price


class Vertex:
    """A point of a cell: its coordinates, the secret's masses of its column, the useful ones, what it pays, and what it tells."""

    __slots__ = ("at", "masses", "paid", "told", "useful")

    def __init__(
        self, at: list[fmpq], masses: list[fmpq], useful: dict[int, fmpq], paid: fmpq, law: Sequence[fmpq]
    ) -> None:
        self.at = at
        self.masses = masses
        self.useful = useful
        self.paid = paid
        self.told = information_of(useful.values(), [law[u] for u in useful])

    def middle(self, other: Vertex, law: Sequence[fmpq]) -> Vertex:
        """Half of the way to another one."""
        letters = self.useful.keys() | other.useful.keys()
        zero = fmpq(0)
        return Vertex(
            _middle(self.at, other.at),
            _middle(self.masses, other.masses),
            {u: (self.useful.get(u, zero) + other.useful.get(u, zero)) / 2 for u in sorted(letters)},
            (self.paid + other.paid) / 2,
            law,
        )


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
        self.limit = SECRET_LIMITS[self.table["kind"]](self.table, Inputs(model, len(self.inputs) + 1), "constraint 0")
        need(len(self.limit.laws) == 1, "constraint 0 must be about one law")
        need(self.limit.most > 0, "constraint 0 must leave more than 0")
        (secret,) = self.limit.laws
        self.law = [secret.prior[s] for s in secret.letters]
        self.seen = dict(secret.inputs)  # p(x), where it is positive
        rows = [dict(secret.rows[s]) for s in secret.letters]
        self.masses = {x: [row.get(x, fmpq(0)) for row in rows] for x in self.seen}
        self.chances = [total(row.values()) for row in self.told]

    def check(self, lines: Lines, claim: dict[str, Any]) -> Words:
        """Check the mechanism and the line after the header; the statement, and the numbers of cells."""
        channel = self._channel(claim["mechanism"])
        self.limit.need_met(channel.rows)
        self._need_lower(channel, claim["lower"])
        _, over, listed, prices = lines.item("the envelope", {"envelope": 4})
        price = decimal(listed, "the price")
        need(price >= 0, "the price must not be negative")
        self.price = price
        self.prices = [decimal(x, "a price") for x in entries(prices, "the prices", len(self.inputs))]
        self.allowance.take(sum(2 * NUMBER + height(x) // 4 for x in self.prices))
        self._need_upper(claim["upper"] - total(self.prices))
        need(over in ("inputs", "useful"), "the envelope must be over 'inputs' or 'useful'")
        cells = self._need_useful() if over == "useful" else self._need_inputs()
        return self._words(claim, f"under constraint 0 ({self.table['kind']})"), Counter({"cell": cells})

    def _need_upper(self, rest: fmpq) -> None:
        """Refuse a claim that leaves less than the limit's price beside the prices; where the limit is rational, exactly."""
        what = "the envelope's bound <= upper"
        if isinstance(self.limit, Information) and self.limit.unit == "bits":
            at_most(arb(self.price) * self.limit.ball, arb(rest), what)
        else:
            need(self.price * self.limit.most <= rest, f"{what} fails")

    def _column(self, x: int) -> dict[int, fmpq]:
        """The useful masses of an input alone."""
        return {u: row[x] for u, row in enumerate(self.told) if x in row}

    def _need_blind(self) -> None:
        """Refuse a plane that is below what an input tells that the secret does not see."""
        for x in range(len(self.inputs)):
            if x not in self.seen:
                column = self._column(x)
                told = information_of(column.values(), [self.chances[u] for u in column])
                at_most(told, arb(self.prices[x]), f"what input {x} tells <= its price")

    def _need_inputs(self) -> int:
        """Refuse a plane that is not above all columns, by cells on few inputs; the number of cells."""
        self._need_blind()
        k = min(len(self.law) if self.price else 1, len(self.seen))
        limit(comb(len(self.seen), k) <= _MOST_CELLS, f"more than {_MOST_CELLS} cells")
        size = (len(self.law) + 3 + len(self.told)) * PAIR
        self.allowance.take((len(self.seen) + _MOST_HALVINGS * k) * size + _MOST_HALVINGS * k * k * PAIR)
        units = {
            x: (
                [m / p for m in self.masses[x]],
                {u: m / p for u, m in self._column(x).items()},
                self.prices[x] / p,
            )
            for x, p in self.seen.items()
        }
        price, count = arb(self.price), 0
        slopes = _LIMITED[self.table["kind"]]
        for chosen in combinations(sorted(self.seen), k):
            cells = [(_corners(chosen, units, self.chances), 0)]
            while cells:
                corners, halvings = cells.pop()
                count = self._counted(count)
                t = slopes([total(column) for column in zip(*(c.masses for c in corners), strict=True)], self.law)
                if not all((c.told - price * _dot(t, c.masses) <= arb(c.paid)) is True for c in corners):
                    need(halvings < _MOST_HALVINGS, f"the plane is not above a cell of the inputs {list(chosen)}")
                    i, j = _longest([c.at for c in corners], self.allowance)
                    middle = corners[i].middle(corners[j], self.chances)
                    cells += [
                        ([middle if n == place else c for n, c in enumerate(corners)], halvings + 1) for place in (j, i)
                    ]
        return count

    def _need_useful(self) -> int:
        """Refuse a plane that is not above all columns, by cells on the useful variable's posteriors; the number of cells."""
        about_input = self.table["kind"] in ("mutual_information", "kl") and self.table.get("secret") is None
        need(about_input, "cells over 'useful' are for a limit on the information about the input itself")
        need(self.price > 0, "cells over 'useful' need a price above 0")
        k, count = len(self.told), 0
        columns = [[row.get(x, fmpq(0)) for row in self.told] for x in range(len(self.inputs))]
        self.allowance.take(_MOST_HALVINGS * k * (k + 1) * PAIR + len(columns) * (k * PAIR + BALL))
        cells = [([[fmpq(int(i == j)) for j in range(k)] for i in range(k)], 0)]
        while cells:
            corners, halvings = cells.pop()
            count = self._counted(count)
            if not self._below(self._slopes(corners), columns):
                need(halvings < _MOST_HALVINGS, "the plane is not above a cell of the useful variable's posteriors")
                i, j = _longest(corners, self.allowance)
                middle = _middle(corners[i], corners[j])
                cells += [
                    ([middle if n == place else corner for n, corner in enumerate(corners)], halvings + 1)
                    for place in (j, i)
                ]
        return count

    def _slopes(self, corners: list[list[fmpq]]) -> list[arb]:
        """Slopes of a plane that is above what is told on a cell: the tangent's at the mean, raised by the farthest corner.

        Bound because sum a log( a / (mean r) ), what the tangent leaves, is convex and homogeneous, and r is 1 at the corners.
        """
        mean = [total(column) / len(corners) for column in zip(*corners, strict=True)]
        farthest = largest([information_of(corner, mean) for corner in corners])
        return [arb(m / pi).log() + farthest for m, pi in zip(mean, self.chances, strict=True)]

    def _below(self, slopes: list[arb], columns: list[list[fmpq]]) -> bool:
        """Whether a cell with these slopes proves itself."""
        whole = arb(0)
        for x, column in enumerate(columns):
            self.allowance.look()
            gain = _dot(slopes, column) - arb(self.prices[x])
            if x in self.seen:
                p = self.seen[x]
                whole += arb(p) * (gain / arb(self.price * p)).exp()
            elif (gain <= 0) is not True:
                return False
        return (whole <= 1) is True

    def _counted(self, count: int) -> int:
        """One more cell."""
        self.allowance.look()
        limit(count < _MOST_CELLS, f"more than {_MOST_CELLS} cells")
        return count + 1


def _corners(chosen: Sequence[int], units: Mapping[int, Unit], chances: Sequence[fmpq]) -> list[Vertex]:
    """The cell to begin with on these inputs."""
    places = range(len(chosen))
    found = list[Vertex]()
    for i, x in enumerate(chosen):
        masses, useful, paid = units[x]
        found.append(Vertex([fmpq(int(i == j)) for j in places], masses, useful, paid, chances))
    return found


def _longest(points: list[list[fmpq]], allowance: Allowance) -> tuple[int, int]:
    """The pair of points that are farthest apart, the first of several."""
    longest, found = fmpq(-1), (0, 0)
    for i, j in combinations(range(len(points)), 2):
        allowance.look()
        length = total((a - b) ** 2 for a, b in zip(points[i], points[j], strict=True))
        if length > longest:
            longest, found = length, (i, j)
    return found


def _middle(one: list[fmpq], other: list[fmpq]) -> list[fmpq]:
    return [(a + b) / 2 for a, b in zip(one, other, strict=True)]


def _dot(slopes: Iterable[Any], masses: Iterable[fmpq]) -> arb:
    return sum((arb(t) * arb(m) for t, m in zip(slopes, masses, strict=True) if m), arb(0))


def design(model: Model) -> Within:
    """What a model of the kind `max_information` within a limit asks for."""
    return Within(model)
