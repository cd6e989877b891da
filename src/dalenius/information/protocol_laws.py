"""The law of a class under which a channel of sets reveals most: projected gradients, with the divergences in closed form.

I(p) is concave in p, with the gradient D(W_x || pW) - 1. These channels tell all pairs of inputs apart about equally well, so that the
Hessian is near a multiple of the identity, and steps of Barzilai and Borwein's length are near Newton's.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dalenius.information.arrays import Floats, Integers
from dalenius.information.deadline import Deadline
from dalenius.information.measures import AllPriors, PriorClass, PriorPolytope
from dalenius.information.measures.numbers import Numbers, as_numbers, doubles, rationals
from dalenius.information.set_channels import Plan, SetChannel

MOST_STEPS = 300
PATIENCE = 20  # steps without halving the gap
MEMORY = 5  # values of which a step must not be worse than the least
SHARE = 0.1  # of the gap that the ends of a closed form may be apart


@dataclass(frozen=True)
class ProtocolLaw:
    """Result of a search: nothing is proved of it.

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
    """A law of the class under which the output reveals most about the letter.

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

    >>> from flint import fmpq
    >>> from dalenius.information.measures import PriorFloor
    >>> from dalenius.information.set_channels import FixedSets
    >>> found = worst_protocol_law(FixedSets(3, 1.0, 1), np.arange(3), PriorFloor(fmpq(0)), gap=1e-9)
    >>> doubles(found.law).round(9).tolist()
    [0.333333333, 0.333333333, 0.333333333]
    """
    keys = priors.alike(len(inputs))
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
    space = _Space(
        of_letter, first, sizes, spread, input_sizes, of_input[inputs[first]], vertices, priors, _in_doubles(priors)
    )
    best, coordinates = _ascend(channel, space, gap, clock)
    exact = rationals(np.maximum(best if vertices is None else coordinates, 0.0))
    exact = exact / exact.sum()
    if isinstance(priors, PriorPolytope):
        return ProtocolLaw(exact @ as_numbers(priors.vertices), exact)
    return ProtocolLaw(priors.settled(exact), None)


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

    A class and a measure that treat letters alike have a worst law that is constant on such letters: measures are concave, and the
    mean of a law's images under exchanges of these letters is in the class. So a domain of 1,000 letters with three probabilities is
    a problem in three numbers.

    Attributes
    ----------
    of_letter : (letters,), the group of each
    first, sizes : (groups,), a letter of each group, and how many it has
    spread : (groups of inputs, groups of letters), how many letters of each select one input of a group
    input_sizes : (groups of inputs,)
    of_group : (groups of letters,), the group of inputs that they select
    vertices : (vertices, groups of letters), or None
    priors, in_doubles : the class
    """

    of_letter: Integers
    first: Integers
    sizes: Integers
    spread: Integers
    input_sizes: Integers
    of_group: Integers
    vertices: Floats | None
    priors: PriorClass
    in_doubles: PriorClass

    def start(self) -> Floats:
        """The law nearest to the uniform one, or the mean of the vertices."""
        if self.vertices is None:
            return self.nearest(np.full(len(self.first), 1.0 / len(self.of_letter)))
        return np.full(len(self.vertices), 1.0 / len(self.vertices))

    def law(self, coordinates: Floats) -> Floats:
        return coordinates if self.vertices is None else coordinates @ self.vertices

    def gradient(self, divergences: Floats) -> Floats:
        """Of the information, but for the same number everywhere."""
        return divergences if self.vertices is None else self.vertices @ (self.sizes * divergences)

    def nearest(self, point: Floats) -> Floats:
        if self.vertices is None:
            return self.priors.nearest(point, self.first, self.sizes)
        return AllPriors().nearest(point, np.arange(len(point)), np.ones(len(point), dtype=np.int64))

    def inner(self, first: Floats, second: Floats) -> float:
        """The sum over letters, or over vertices."""
        return float((first * second) @ (self.sizes if self.vertices is None else np.ones(len(first))))

    def largest(self, divergences: Floats) -> float:
        """The largest mean over the class."""
        return -float(self.in_doubles.least_mean(-divergences[self.of_letter]))


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
        return float((law * divergences) @ space.sizes), divergences

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
