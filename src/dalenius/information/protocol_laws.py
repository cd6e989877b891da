"""The law of a class under which a channel of sets tells most: projected gradients, with the divergences in closed form.

I(p) is concave in p, with the gradient D(W_x || pW) - 1. These channels tell all pairs of inputs apart about equally well, so that the
Hessian is near a multiple of the identity, and steps of Barzilai and Borwein's length are near Newton's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import scipy
from flint import fmpq

from dalenius.information.arrays import Floats, Integers
from dalenius.information.balls import fraction
from dalenius.information.deadline import Deadline
from dalenius.information.measures import (
    ChiSquareBall,
    KLBall,
    PriorBall,
    PriorBox,
    PriorClass,
    PriorFloor,
    PriorPolytope,
)
from dalenius.information.measures.numbers import Numbers, as_numbers, doubles, rationals
from dalenius.information.measures.prior_classes import alike_letters
from dalenius.information.set_channels import Plan, SetChannel

# The law of a class that is nearest to a point, where letters that the class treats alike share a number.
#
# A ball or box that treats letters alike, and a measure that does, too, have a worst law that is constant on such
# letters: measures are
# concave, and the mean of a law's images under exchanges of these letters is in the class. So a domain of 1,000 letters with three
# probabilities is a problem in three numbers.


SHARP = 1e-15  # relative tolerance of multipliers
WIDEST = 1e12  # of a ball's multiplier


@dataclass(frozen=True)
class SharedLetters:
    """A class of laws in one number for each group of letters that it treats alike.

    Attributes
    ----------
    priors : PriorClass
        In exact numbers.
    first, sizes : (groups,)
        A letter of each group, and how many it has.
    """

    priors: PriorClass
    first: Integers
    sizes: Integers

    def start(self) -> Floats:
        """A law of the class: the center of a ball, the middle of what else there is."""
        match self.priors:
            case PriorBall(center=center) | KLBall(center=center) | ChiSquareBall(center=center):
                return self._of(center)
            case PriorPolytope(vertices=vertices):
                return np.asarray(doubles(as_numbers(vertices)).mean(axis=0)[self.first])
        low, high = self._box()
        free = (1.0 - float(self.sizes @ low)) / max(float(self.sizes @ (high - low)), 1e-300)
        return np.asarray(low + min(max(free, 0.0), 1.0) * (high - low))

    def nearest(self, point: Floats) -> Floats:
        """The law of the class with the least sum of squares to this point; not of a polytope, whose vertices have weights."""
        match self.priors:
            case PriorBall(center=center, radius=radius):
                return self._within(point, self._of(center), float(_double(radius)), _to_center, _distance)
            case KLBall(center=center, radius=radius):
                return self._within(point, self._of(center), float(_double(radius)), _to_tilted, _divergence)
            case ChiSquareBall(center=center, radius=radius):
                return self._within(point, self._of(center), float(_double(radius)), _to_scaled, _squares)
        low, high = self._box()
        return _normal(lambda shift: np.clip(point - shift, low, high), point, self.sizes)

    def _of(self, numbers: Any) -> Floats:
        return doubles(as_numbers(numbers)[self.first])

    def _box(self) -> tuple[Floats, Floats]:
        low, high = _exact_box(self.priors, int(self.sizes.sum()))
        return self._of(low), self._of(high)

    def _within(
        self,
        point: Floats,
        center: Floats,
        radius: float,
        move: Callable[[Floats, Floats, float], Floats],
        far: Callable[[Floats, Floats], Floats],
    ) -> Floats:
        """The nearest law at most `radius` from the center, by the ball's multiplier."""
        if radius == 0.0:
            return center
        kept = center > 0.0 if move is not _to_center else np.ones(len(center), dtype=bool)
        sizes, found = self.sizes[kept], np.zeros(len(center))
        z, q = point[kept], center[kept]

        def law(weight: float) -> Floats:
            return _normal(lambda shift: move(z - shift, q, weight), z, sizes)

        def excess(weight: float) -> float:
            return float(sizes @ far(law(weight), q)) - radius

        weight = 0.0 if excess(0.0) <= 0.0 else _root(excess)
        found[kept] = law(weight)
        return found


def exact_law_near(priors: PriorClass, found: Floats) -> Numbers:
    """An exact law of the class next to one in doubles; not of a polytope.

    *In the class because* it is on the way from a law of the class towards the one that was found, as far as the class goes, in exact
    numbers; or because `PriorClass.settled` says so.

    >>> near = exact_law_near(PriorFloor(fmpq(1, 10)), np.array([0.0999, 0.3, 0.6001]))
    >>> min(near), sum(near)
    (1/10, 1)
    """
    law = rationals(np.maximum(found, 0.0))
    law = law / law.sum()
    if isinstance(priors, KLBall | ChiSquareBall):
        return priors.settled(law)
    if isinstance(priors, PriorBall):
        center = as_numbers(priors.center)
        length = sum(abs(step) for step in law - center)
        return law if length <= priors.radius else np.asarray(center + (law - center) * (priors.radius / length))
    low, high = _exact_box(priors, len(law))
    room = (high - low).sum()
    inside = low + (high - low) * ((1 - low.sum()) / room if room else 0)
    step = np.array([fmpq(0) if a == b else x for a, b, x in zip(low, high, law - inside, strict=True)], dtype=object)
    loose = int(np.argmax(doubles(high - low)))
    step[loose] -= step.sum()
    length = fmpq(1)
    for x in np.flatnonzero(step != 0):
        end = high[x] if step[x] > 0 else low[x]
        length = min(length, (end - inside[x]) / step[x])
    return np.asarray(inside + length * step)


def _exact_box(priors: PriorClass, letters: int) -> tuple[Numbers, Numbers]:
    """The ranges of the letters' probabilities; not of a ball or a polytope."""
    match priors:
        case PriorBox(low=low, high=high):
            return as_numbers(low), as_numbers(high)
        case PriorFloor(floor=floor):
            return np.full(letters, floor), np.full(letters, fmpq(1))
    return np.full(letters, fmpq(0)), np.full(letters, fmpq(1))


def _normal(law: Callable[[float], Floats], point: Floats, sizes: Integers) -> Floats:
    """The law whose sum is 1, of laws that fall with a shift."""

    def excess(shift: float) -> float:
        return float(sizes @ law(shift)) - 1.0

    low, high = float(point.min()) - 1.0, float(point.max())
    while excess(low) < 0.0:
        low -= high - low + 1.0
    while excess(high) > 0.0:
        high += high - low + 1.0
    return law(float(scipy.optimize.brentq(excess, low, high, xtol=1e-300, rtol=4 * SHARP, maxiter=200)))


def _root(excess: Callable[[float], float]) -> float:
    """Where a falling number is 0, or just below."""
    high = 1e-6
    while excess(high) > 0.0 and high < WIDEST:
        high *= 8.0
    return float(scipy.optimize.brentq(excess, 0.0 if high == 1e-6 else high / 8.0, high, xtol=1e-300, rtol=4 * SHARP))


# nearest numbers to z with a ball's multiplier, letter by letter, and what they add to its distance


def _to_center(z: Floats, center: Floats, weight: float) -> Floats:
    moved = np.sign(z - center) * np.maximum(np.abs(z - center) - weight, 0.0)
    return np.maximum(center + moved, 0.0)


def _distance(law: Floats, center: Floats) -> Floats:
    return np.abs(law - center)


def _to_tilted(z: Floats, center: Floats, weight: float) -> Floats:
    """p + t log(p / q) + t = z, which is w + log w = y for p = t w."""
    if weight == 0.0:
        return np.maximum(z, 0.0)
    return np.asarray(weight * scipy.special.wrightomega(z / weight - 1.0 + np.log(center / weight)))


def _divergence(law: Floats, center: Floats) -> Floats:
    return np.asarray(scipy.special.rel_entr(law, center))


def _to_scaled(z: Floats, center: Floats, weight: float) -> Floats:
    return np.maximum(z + weight, 0.0) / (1.0 + weight / center)


def _squares(law: Floats, center: Floats) -> Floats:
    return (law - center) ** 2 / center


def _double(x: Any) -> float:
    return float(fraction(x)) if isinstance(x, fmpq) else float(x)


MOST_STEPS = 300
PATIENCE = 20  # steps without halving the gap
MEMORY = 5  # values of which a step must not be worse than the least
SHARE = 0.1  # of the gap that the ends of a closed form may be apart


@dataclass(frozen=True)
class ProtocolLaw:
    """What a search found: nothing is proved of it.

    Attributes
    ----------
    law : (letters,)
        A law of the class, exactly.
    shares : (vertices,) or None
        Of a polytope the exact weights of its vertices.
    """

    law: Numbers
    shares: Numbers | None


def worst_protocol_law(
    channel: SetChannel, inputs: Integers, priors: PriorClass, *, gap: float, clock: Deadline | None = None
) -> ProtocolLaw:
    """A law of the class under which the output tells most about the letter.

    Parameters
    ----------
    channel : SetChannel
    inputs : (letters,)
        The input of the channel that each letter selects.
    priors : PriorClass
        In exact numbers.
    gap : float
        In nats, at which the search stops.
    clock : Deadline, optional
        Once it has expired what was found so far is the answer.

    >>> from dalenius.information.set_channels import FixedSets
    >>> found = worst_protocol_law(FixedSets(3, 1.0, 1), np.arange(3), PriorFloor(fmpq(0)), gap=1e-9)
    >>> doubles(found.law).round(9).tolist()
    [0.333333333, 0.333333333, 0.333333333]
    """
    keys = alike_letters(priors, len(inputs))
    selecting: dict[int, list[Any]] = {}
    for letter, k in enumerate(inputs.tolist()):
        selecting.setdefault(k, []).append(keys[letter])
    signatures: list[Hashable] = [
        (k if channel.whole else None, tuple(sorted(map(hash, selecting.get(k, ()))))) for k in range(channel.inputs)
    ]
    of_input, _, input_sizes = grouped(signatures)
    of_letter, first, sizes = grouped([(keys[a], signatures[k]) for a, k in enumerate(inputs.tolist())])
    spread = np.zeros((len(input_sizes), len(first)), dtype=np.int64)
    np.add.at(spread, (of_input[inputs], of_letter), 1)
    spread //= input_sizes[:, None]
    vertices = None
    if isinstance(priors, PriorPolytope):
        vertices = doubles(as_numbers(priors.vertices))[:, first]
    shared = SharedLetters(priors, first, sizes)
    space = _Space(of_letter, shared, spread, input_sizes, of_input[inputs[first]], vertices, _in_doubles(priors))
    best, coordinates = _ascend(channel, space, gap, clock)
    if isinstance(priors, PriorPolytope):
        shares = rationals(np.maximum(coordinates, 0.0))
        shares = np.asarray(shares / shares.sum())
        return ProtocolLaw(np.asarray(shares @ as_numbers(priors.vertices)), shares)
    return ProtocolLaw(exact_law_near(priors, best), None)


def grouped(weights: Sequence[Hashable]) -> tuple[Integers, Integers, Integers]:
    """The group of every weight, and of every group the first member and the size; groups are numbered by their first members.

    >>> [part.tolist() for part in grouped([0.5, 0.25, 0.5])]
    [[0, 1, 0], [0, 1], [2, 1]]
    """
    numbers: dict[Hashable, int] = {}
    group = np.array([numbers.setdefault(weight, len(numbers)) for weight in weights], dtype=np.int64)
    _, first, sizes = np.unique(group, return_index=True, return_counts=True)
    return group, first, sizes


def planned(
    channel: SetChannel,
    weights: Floats,
    accuracy: float,
    keys: Sequence[Hashable] | None = None,
    clock: Deadline | None = None,
) -> tuple[Plan, Floats, Floats] | None:
    """A plan for a law of the inputs, and both ends of D(W_x || wW) for every input; None where no plan takes little enough.

    Probabilities are equal where `keys` are, or where they are equal doubles.
    """
    group, first, sizes = grouped(weights.tolist() if keys is None else keys)
    if channel.whole:
        group, first, sizes = np.arange(len(weights)), np.arange(len(weights)), np.ones(len(weights), dtype=np.int64)
    plan = channel.plan(sizes, weights[first], accuracy, clock)
    if plan is None:
        return None
    low, high = plan.divergences(weights[first])
    return plan, np.maximum(low, 0.0)[group], np.maximum(high, 0.0)[group]


@dataclass(frozen=True)
class _Space:
    """The search's coordinates: a probability for each group of letters, or a weight for each vertex of a polytope.

    Attributes
    ----------
    of_letter : (letters,), the group of each
    shared : the class in one number a group
    spread : (groups of inputs, groups of letters), how many letters of each select one input of a group
    input_sizes : (groups of inputs,)
    of_group : (groups of letters,), the group of inputs that they select
    vertices : (vertices, groups of letters), or None
    priors : the class in doubles
    """

    of_letter: Integers
    shared: SharedLetters
    spread: Integers
    input_sizes: Integers
    of_group: Integers
    vertices: Floats | None
    priors: PriorClass

    def start(self) -> Floats:
        return self.shared.start() if self.vertices is None else np.full(len(self.vertices), 1.0 / len(self.vertices))

    def law(self, coordinates: Floats) -> Floats:
        return coordinates if self.vertices is None else coordinates @ self.vertices

    def gradient(self, divergences: Floats) -> Floats:
        """Of the information, but for the same number everywhere."""
        return divergences if self.vertices is None else self.vertices @ (self.shared.sizes * divergences)

    def nearest(self, point: Floats) -> Floats:
        if self.vertices is None:
            return self.shared.nearest(point)
        weights = SharedLetters(PriorFloor(fmpq(0)), np.arange(len(point)), np.ones(len(point), dtype=np.int64))
        return weights.nearest(point)

    def inner(self, first: Floats, second: Floats) -> float:
        """The sum over letters, or over vertices."""
        return float((first * second) @ (self.shared.sizes if self.vertices is None else np.ones(len(first))))

    def largest(self, divergences: Floats) -> float:
        """The largest mean over the class."""
        return -float(self.priors.least_mean(-divergences[self.of_letter]))


def _ascend(channel: SetChannel, space: _Space, gap: float, clock: Deadline | None) -> tuple[Floats, Floats]:
    """The best law found, a probability a letter, and its coordinates."""
    x = space.start()
    plan = channel.plan(space.input_sizes, space.spread @ space.law(x), SHARE * gap, clock)
    if plan is None:
        return space.law(x)[space.of_letter], x

    def information(coordinates: Floats) -> tuple[float, Floats]:
        law = space.law(coordinates)
        low, high = plan.divergences(space.spread @ law)
        divergences = (0.5 * (low + high))[space.of_group]
        return float((law * divergences) @ space.shared.sizes), divergences

    value, divergences = information(x)
    values, step, best, since = [value], 1.0, np.inf, 0
    for _ in range(MOST_STEPS):
        found = space.largest(divergences) - value
        best, since = (found, 0) if found < 0.5 * best else (best, since + 1)
        if found <= gap or since > PATIENCE or step < 1e-12 or (clock is not None and clock.expired):
            break
        gradient = space.gradient(divergences)
        trial = space.nearest(x + step * gradient)
        trial_value, trial_divergences = information(trial)
        if trial_value < min(values[-MEMORY:]):
            step *= 0.25
            continue
        moved, turned = trial - x, gradient - space.gradient(trial_divergences)
        curvature = space.inner(moved, turned)
        step = space.inner(moved, moved) / curvature if curvature > 0.0 else 2.0 * step
        x, value, divergences = trial, trial_value, trial_divergences
        values.append(value)
    return space.law(x)[space.of_letter], x


def _in_doubles(priors: PriorClass) -> PriorClass:
    """The same class, in doubles."""
    parts: dict[str, Any] = {}
    for part in fields(priors):  # type: ignore[arg-type]
        value = as_numbers(getattr(priors, part.name))
        parts[part.name] = doubles(value) if value.ndim else float(doubles(value.reshape(1))[0])
    return replace(priors, **parts)  # type: ignore[type-var]
