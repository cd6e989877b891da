"""Classes of laws on a record's letters: which laws are in one, and the largest mean that a law of it gives to numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from . import read
from .allowance import Allowance
from .arithmetic import arb, fmpq
from .arithmetic.vectors import larger, log_sum_exp
from .numbers import (
    OpenError,
    at_most,
    divergence,
    largest,
    need,
    normalised,
    summed,
    total,
    units,
)
from .read import REQUIRED, Schema, decimal, entries, law_of, required

Law = list[fmpq]
Hint = list[fmpq] | None  # of a line `law`
_WHAT = "the witness's or prior's law"


class LawClass:
    """A closed convex set of laws.

    `keys` are those of the adversary's table, and `length` is how many letters it is about, None where any number of them will do.
    """

    keys: ClassVar[Schema]
    length: int | None = None

    def __init__(self, table: dict[str, Any], allowance: Allowance) -> None:
        self.allowance = allowance
        self.take(table)

    def take(self, table: dict[str, Any]) -> None:
        """The numbers of the adversary's table."""
        raise NotImplementedError

    def need_laws(self, alphabets: Sequence[int]) -> None:
        """Refuse a class that is not about the records' letters, or that has no law."""
        fits = self.length is None or set(alphabets) == {self.length}
        need(fits, f"adversary: every record must have {self.length} letters, as many as its lists have numbers")

    def letters(self, size: int) -> list[int]:
        """The letters that count: a superset of those to which some law of the class gives something."""
        return list(range(size))

    def law(self, hint: Any, size: int) -> Law:
        """The law that a witness or prior stands for, which is in the class."""
        law = law_of(hint, size, "weights", self.allowance)
        self.need_member(law)
        return law

    def need_member(self, law: Law) -> None:
        """Refuse a law that is not in the class."""
        raise NotImplementedError

    def hint(self, value: Any) -> Hint:
        """Hint of a line besides the law of the outputs: none."""
        need(value is None, "m must be null")
        return None

    def most(self, numbers: Sequence[arb], hint: Hint) -> arb:
        """A ball around a number that is at least the mean of these finite ones, of the letters that count, under every law.

        Here it is that of the vertex that is best for their order. Bound because the largest mean rises with each number, and
        is that of this vertex where numbers are rationals: it lies between the one of rationals that are not above the numbers and
        the one of rationals that are not below.
        """
        low, high = (self._best(list(ends)) for ends in zip(*map(_around, numbers), strict=True))
        return arb(low) if low == high else arb(low).union(arb(high))

    def _best(self, values: Law) -> fmpq:
        order = sorted(range(len(values)), key=values.__getitem__)
        return total(p * values[a] for a, p in zip(order, self.vertex(order), strict=True) if p)

    def vertex(self, order: Sequence[int]) -> Law:
        """A law with the largest mean of numbers that rise in this order of the letters that count, in this order."""
        raise NotImplementedError


class Floor(LawClass):
    """p(a) >= floor."""

    keys: ClassVar[Schema] = {"floor": required(read.number)}

    def take(self, table: dict[str, Any]) -> None:
        self.floor = table["floor"]

    def need_laws(self, alphabets: Sequence[int]) -> None:
        need(
            self.floor * max(alphabets) <= 1, "adversary.floor times the number of letters is above 1: no law is in it"
        )

    def need_member(self, law: Law) -> None:
        need(min(law) >= self.floor, f"{_WHAT} is below the floor")

    def vertex(self, order: Sequence[int]) -> Law:
        others = [self.floor] * (len(order) - 1)
        return [*others, 1 - total(others)]


class Box(LawClass):
    """low(a) <= p(a) <= high(a)."""

    keys: ClassVar[Schema] = {"low": (read.row, REQUIRED), "high": (read.row, REQUIRED)}

    def take(self, table: dict[str, Any]) -> None:
        self.low = table["low"]
        self.high = table["high"]
        self.length = len(self.low)
        self.used = [a for a, most in enumerate(self.high) if most]

    def need_laws(self, alphabets: Sequence[int]) -> None:
        need(len(self.high) == self.length, "adversary.low and adversary.high must be lists of one length")
        super().need_laws(alphabets)
        fits = all(low <= high for low, high in zip(self.low, self.high, strict=True))
        need(fits and total(self.low) <= 1 <= total(self.high), "adversary: no law is between low and high")

    def letters(self, size: int) -> list[int]:
        return self.used

    def need_member(self, law: Law) -> None:
        sides = zip(self.low, law, self.high, strict=True)
        need(all(low <= p <= high for low, p, high in sides), f"{_WHAT} is not between low and high")

    def vertex(self, order: Sequence[int]) -> Law:
        left = 1 - total(self.low)
        law = list[fmpq]()
        for a in reversed(order):
            more = min(left, self.high[self.used[a]] - self.low[self.used[a]])
            left = left - more
            law = [*law, self.low[self.used[a]] + more]
        return law[::-1]


class Polytope(LawClass):
    """The mixtures of some laws."""

    keys: ClassVar[Schema] = {"vertices": (read.priors, REQUIRED)}

    def take(self, table: dict[str, Any]) -> None:
        self.vertices = [normalised(row, "a vertex", self.allowance) for row in table["vertices"]]
        self.length = len(self.vertices[0])
        self.used = [a for a, column in enumerate(zip(*self.vertices, strict=True)) if any(column)]

    def letters(self, size: int) -> list[int]:
        return self.used

    def law(self, hint: Any, size: int) -> Law:
        shares = law_of(hint, len(self.vertices), "weights", self.allowance)
        held = [(share, row) for share, row in zip(shares, self.vertices, strict=True) if share]
        return [total(share * row[a] for share, row in held) for a in range(size)]

    def most(self, numbers: Sequence[arb], hint: Hint) -> arb:
        """Bound because a mixture's mean is at most the largest of the vertices'."""
        found = list[arb]()
        for row in self.vertices:
            self.allowance.look()
            found.append(_mean([row[a] for a in self.used], numbers))
        return largest(found)


class Ball(LawClass):
    """The laws around a center q."""

    keys: ClassVar[Schema] = {"center": (read.probabilities, REQUIRED), "radius": required(read.number)}

    def take(self, table: dict[str, Any]) -> None:
        self.center = normalised(table["center"], "the center", self.allowance)
        self.radius = table["radius"]
        self.length = len(self.center)
        self.support = [a for a, q in enumerate(self.center) if q]

    def letters(self, size: int) -> list[int]:
        return self.support


class Absolute(Ball):
    """sum |p - q| <= radius."""

    def letters(self, size: int) -> list[int]:
        return list(range(size)) if self.radius else self.support

    def need_member(self, law: Law) -> None:
        far = total(abs(p - q) for p, q in zip(law, self.center, strict=True))
        need(far <= self.radius, f"{_WHAT} is outside of the ball")

    def vertex(self, order: Sequence[int]) -> Law:
        letters = self.letters(len(self.center))
        law = [self.center[letters[a]] for a in order]
        moved = min(self.radius / 2, 1 - law[-1])
        law[-1] += moved
        for place in range(len(law) - 1):
            taken = min(moved, law[place])
            law[place], moved = law[place] - taken, moved - taken
        return law


class Divergence(Ball):
    """Laws of the center's support, of which some divergence from the center is at most the radius."""

    hints = 1

    def hint(self, value: Any) -> Hint:
        hint = None if value is None else [decimal(x, "m") for x in entries(value, "m", self.hints)]
        need(hint is None or hint[0] > 0, "the first number of m must be positive")
        return hint

    def need_member(self, law: Law) -> None:
        outside = any(p and not q for p, q in zip(law, self.center, strict=True))
        need(not outside, f"{_WHAT} is positive where the center is zero")
        if law != self.center:
            self.need_near([(p, q) for p, q in zip(law, self.center, strict=True) if q])

    def need_near(self, pairs: Sequence[tuple[fmpq, fmpq]]) -> None:
        """Refuse a law outside of the ball, by what it and the center give to each letter."""
        raise NotImplementedError

    def most(self, numbers: Sequence[arb], hint: Hint) -> arb:
        """Bound because a mean is at most the largest number; and there is only the center if the radius is 0."""
        center = [self.center[a] for a in self.support]
        if hint:
            return self.dual(center, numbers, hint)
        return largest(numbers) if self.radius else _mean(center, numbers)

    def dual(self, center: Law, numbers: Sequence[arb], hint: Law) -> arb:
        """The bound by duality."""
        raise NotImplementedError


class KullbackLeibler(Divergence):
    """sum p log(p/q) <= radius."""

    def need_near(self, pairs: Sequence[tuple[fmpq, fmpq]]) -> None:
        far = divergence(*zip(*pairs, strict=True))
        at_most(far, arb(self.radius), f"the divergence of {_WHAT} from the center <= radius")

    def dual(self, center: Law, numbers: Sequence[arb], hint: Law) -> arb:
        """Bound because sum p d <= t log sum q exp(d/t) + t D(p || q) (Donsker and Varadhan)."""
        t = arb(hint[0])
        terms = [arb(q).log() + d / t for q, d in zip(center, numbers, strict=True)]
        return t * (log_sum_exp(terms) + arb(self.radius))


class ChiSquare(Divergence):
    """sum (p - q)^2 / q <= radius."""

    hints = 2

    def need_near(self, pairs: Sequence[tuple[fmpq, fmpq]]) -> None:
        need(total((p - q) ** 2 / q for p, q in pairs) <= self.radius, f"{_WHAT} is outside of the ball")

    def dual(self, center: Law, numbers: Sequence[arb], hint: Law) -> arb:
        """Bound because sum p d + t (1 + radius - sum p^2/q) + v (1 - sum p) is largest at p = q max(0, d - v) / (2t)."""
        t, v = hint
        above = [larger(arb(0), d - arb(v)) for d in numbers]
        rest = summed(arb(q) * x * x for q, x in zip(center, above, strict=True))
        return arb(t * (1 + self.radius) + v) + rest / arb(4 * t)


class Moment(LawClass):
    """low <= sum p(a) f(a) <= high."""

    keys: ClassVar[Schema] = {
        name: (reader, REQUIRED)
        for name, reader in (("values", read.numbers), ("low", read.exact), ("high", read.exact))
    }

    def take(self, table: dict[str, Any]) -> None:
        self.values = table["values"]
        self.low = table["low"]
        self.high = table["high"]
        self.length = len(self.values)

    def need_laws(self, alphabets: Sequence[int]) -> None:
        super().need_laws(alphabets)
        fits = max(self.low, min(self.values)) <= min(self.high, max(self.values))
        need(fits, "adversary: no law has a mean of values between low and high")

    def letters(self, size: int) -> list[int]:
        """A letter beyond an end counts if there is one on the other side of it."""
        rises = max(self.values) > self.low
        falls = min(self.values) < self.high
        return [a for a, f in enumerate(self.values) if (f >= self.low or rises) and (f <= self.high or falls)]

    def need_member(self, law: Law) -> None:
        mean = total(p * f for p, f in zip(law, self.values, strict=True))
        need(self.low <= mean <= self.high, f"{_WHAT} has no mean between low and high")

    def hint(self, value: Any) -> Hint:
        return None if value is None else [decimal(x, "m") for x in entries(value, "m", 1)]

    def most(self, numbers: Sequence[arb], hint: Hint) -> arb:
        """Bound because sum p d = sum p (d - y f) + y sum p f, whatever y."""
        y = hint[0] if hint else fmpq(0)
        rest = [d - arb(y * self.values[a]) for a, d in zip(self.letters(len(self.values)), numbers, strict=True)]
        return largest(rest) + arb(max(y * self.low, y * self.high))


CLASSES: dict[str, type[LawClass]] = {
    "floor_priors": Floor,
    "box_priors": Box,
    "polytope_priors": Polytope,
    "l1_ball_priors": Absolute,
    "kl_ball_priors": KullbackLeibler,
    "chi_square_ball_priors": ChiSquare,
    "moment_priors": Moment,
}


def _around(value: arb) -> tuple[fmpq, fmpq]:
    """Rationals below and above a number, of as many binary places as the precision."""
    low, high, scale = units(value, value)
    if low is None or high is None:
        raise OpenError("a divergence has too many digits")
    return fmpq(low, scale), fmpq(high, scale)


def _mean(law: Law, numbers: Sequence[arb]) -> arb:
    return summed(arb(p) * x for p, x in zip(law, numbers, strict=True) if p)
