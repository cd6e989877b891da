"""Sets of laws, all of them convex: which law is in one, exactly; the best of it for a linear function, in doubles; some law inside.

A law is a list of *coordinates*: its probabilities, or, of a polytope, the weights of its vertices (`basis`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from second_reader.exact import SLACK, amount, dec, law, read

Array = np.ndarray


def entropy(p: Sequence[Fraction]) -> Decimal:
    return -sum((dec(one) * dec(one).ln() for one in p if one), Decimal(0))


def tilted(base: Array, gains: Array, strength: float) -> Array:
    """A law proportional to base e^(strength gains)."""
    with np.errstate(divide="ignore"):
        exponent = np.log(base) + strength * (gains - gains.max())
    p = np.exp(exponent - exponent.max())
    return p / p.sum()


def furthest(path: Callable[[float], Array], allowed: Callable[[Array], bool], most: float = 1e6) -> Array:
    """The law on a path at the largest parameter that is allowed, the parameter on a logarithmic scale."""
    if allowed(path(most)):
        return path(most)
    low, high = -40.0, float(np.log(most))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if allowed(path(np.exp(middle))) else (low, middle)
    return path(np.exp(low))


class Laws:
    """Laws with at least an entropy: all of them if it is 0."""

    def __init__(self, size: int, least: Decimal = Decimal(0)) -> None:
        self.size, self.least = size, least
        self.basis: list[list[Fraction]] | None = None
        self.inside: list[Fraction] = [Fraction(1, size)] * size

    @property
    def free(self) -> bool:
        """Whether all coordinates are allowed that are a law."""
        return type(self).best is Laws.best and self.least == 0

    def has(self, p: Sequence[Fraction]) -> bool:
        return self.least == 0 or entropy(p) >= self.least - SLACK

    def best(self, gains: Array) -> Array:
        """The law with the largest mean of these."""
        if self.least == 0:
            return np.eye(self.size)[gains.argmax()]
        least = float(self.least)

        def allowed(p: Array) -> bool:
            return float(-(p * np.log(np.maximum(p, 1e-300))).sum()) >= least

        spread = max(float(np.ptp(gains)), 1e-300)
        return furthest(lambda t: tilted(np.ones(self.size), gains / spread, t), allowed)

    def drawn(self, rng: np.random.Generator) -> Array:
        """Some law: an extreme one, or one between some of them."""
        if rng.random() < 0.4:
            return self.best(rng.normal(size=self.size))
        if rng.random() < 0.5 and self.free:
            return rng.dirichlet(np.full(self.size, rng.choice([0.2, 1.0, 5.0])))
        weights = rng.dirichlet(np.ones(3))
        return sum(weight * self.best(rng.normal(size=self.size)) for weight in weights)

    def probabilities(self, coordinates: Sequence[Fraction]) -> list[Fraction]:
        if self.basis is None:
            return list(coordinates)
        return [
            sum((c * vertex[k] for c, vertex in zip(coordinates, self.basis, strict=True)), Fraction(0))
            for k in range(len(self.basis[0]))
        ]

    def exactly(self, coordinates: Array) -> list[Fraction]:
        """A law of the set close to this one."""
        near = [Fraction(max(float(one), 0.0)) for one in coordinates]
        whole = sum(near)
        near = [one / whole for one in near]
        for share in (Fraction(0), *(Fraction(1, 2**k) for k in (60, 50, 45, 40, 35, 30, 20, 10)), Fraction(1)):
            mixed = [(1 - share) * p + share * q for p, q in zip(near, self.inside, strict=True)]
            if self.has(mixed):
                return mixed
        raise AssertionError("the law inside is not inside")


class Polytope(Laws):
    def __init__(self, vertices: list[list[Fraction]]) -> None:
        super().__init__(len(vertices))
        self.basis = vertices


class Box(Laws):
    """Laws between two lists; `floor_priors` is one."""

    def __init__(self, low: list[Fraction], high: list[Fraction]) -> None:
        super().__init__(len(low))
        self.low, self.high = low, [min(one, Fraction(1)) for one in high]
        room = sum(self.high) - sum(low)
        share = (1 - sum(low)) / room if room else Fraction(0)
        self.inside = [a + share * (b - a) for a, b in zip(low, self.high, strict=True)]

    def has(self, p: Sequence[Fraction]) -> bool:
        return all(a <= one <= b for a, one, b in zip(self.low, p, self.high, strict=True))

    def best(self, gains: Array) -> Array:
        p, left = [*self.low], 1 - sum(self.low)
        for a in np.argsort(-gains, kind="stable"):
            more = min(left, self.high[a] - self.low[a])
            p[a], left = p[a] + more, left - more
        return np.array(p, dtype=float)


class Moment(Laws):
    """Laws under which the mean of some numbers is between two ends."""

    def __init__(self, numbers: list[Fraction], low: Fraction, high: Fraction) -> None:
        super().__init__(len(numbers))
        self.numbers, self.low, self.high = numbers, low, high
        self.inside = self.mixed(numbers.index(min(numbers)), numbers.index(max(numbers)), (low + high) / 2)
        pairs = [(a, b) for a in range(self.size) for b in range(self.size) if numbers[a] <= numbers[b]]
        tried = [self.mixed(a, b, end) for a, b in pairs for end in (low, high)]
        self.vertices = np.array([p for p in tried if self.has(p)], dtype=float)

    def mixed(self, a: int, b: int, mean: Fraction) -> list[Fraction]:
        """Two places with a mean, or one that is as near as they come."""
        p, first, second = [Fraction(0)] * self.size, self.numbers[a], self.numbers[b]
        share = (min(max(mean, first), second) - first) / (second - first) if second != first else Fraction(0)
        p[a] += 1 - share
        p[b] += share
        return p

    def has(self, p: Sequence[Fraction]) -> bool:
        mean = sum((one * number for one, number in zip(p, self.numbers, strict=True)), Fraction(0))
        return self.low <= mean <= self.high

    def best(self, gains: Array) -> Array:
        """One place, or two with a mean at an end."""
        return self.vertices[(self.vertices @ gains).argmax()]


class Ball(Laws):
    """Laws around a center: l1, kl or chi_square."""

    def __init__(self, kind: str, center: list[Fraction], radius: Fraction) -> None:
        super().__init__(len(center))
        self.kind, self.inside, self.radius = kind.removesuffix("_ball_priors"), center, radius
        self.center = np.array(center, dtype=float)

    def has(self, p: Sequence[Fraction]) -> bool:
        pairs = list(zip(p, self.inside, strict=True))
        if self.kind == "l1":
            return sum(abs(one - q) for one, q in pairs) <= self.radius
        if any(one and not q for one, q in pairs):
            return False
        if self.kind == "kl":
            away = sum((dec(one) * (dec(one) / dec(q)).ln() for one, q in pairs if one), Decimal(0))
            return list(p) == self.inside or away <= dec(self.radius) + SLACK
        return sum(((one - q) ** 2 / q for one, q in pairs if q), Fraction(0)) <= self.radius

    def best(self, gains: Array) -> Array:
        q, radius = self.center, float(self.radius)
        if self.kind == "l1":
            p, b = q.copy(), int(gains.argmax())
            left = min(radius / 2, 1 - q[b])
            for a in np.argsort(gains, kind="stable"):
                if a != b:
                    less = min(left, p[a])
                    p[a], p[b], left = p[a] - less, p[b] + less, left - less
            return p
        gains = np.where(q > 0, gains, gains[q > 0].min())
        spread = max(float(np.ptp(gains)), 1e-300)
        scaled = (gains - gains.max()) / spread
        if self.kind == "kl":

            def away(p: Array) -> float:
                return float((p * np.log(np.maximum(p, 1e-300) / np.maximum(q, 1e-300)))[p > 0].sum())

            return furthest(lambda t: tilted(q, scaled, t), lambda p: away(p) <= radius)

        def path(t: float) -> Array:
            p = q * np.maximum(0.0, scaled + 1 / t)
            return p / p.sum()

        positive = q > 0
        return furthest(path, lambda p: float(((p - q)[positive] ** 2 / q[positive]).sum()) <= radius)


def laws_of(adversary: dict[str, Any], size: int) -> Laws:
    """The laws, on so many places, that a table says."""
    kind = adversary.get("kind", "entropy_at_least")
    if "entropy_at_least" in adversary:
        return Laws(size, amount(adversary["entropy_at_least"], size))
    if kind == "floor_priors":
        return Box([read(adversary["floor"])] * size, [Fraction(1)] * size)
    if kind == "box_priors":
        return Box([read(one) for one in adversary["low"]], [read(one) for one in adversary["high"]])
    if kind == "moment_priors":
        return Moment([read(one) for one in adversary["values"]], read(adversary["low"]), read(adversary["high"]))
    if kind == "polytope_priors":
        return Polytope([law(vertex) for vertex in adversary["vertices"]])
    if kind.endswith("_ball_priors"):
        return Ball(kind, law(adversary["center"]), read(adversary["radius"]))
    return Laws(size)
