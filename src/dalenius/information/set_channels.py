"""Channels whose outputs are sets of inputs with two likelihoods: divergences in closed form, without the channel.

Every output y has a set S of inputs, and W(x,y) = C_y e^epsilon for x in S, C_y elsewhere. Under a law w of the inputs the output has
the probability r(y) = C_y (1 + c w(S)), c = e^epsilon - 1, so that

    D(W_x || r) = alpha epsilon - E[ log(1 + c w(S)) | x ],      alpha = P(S contains x | x).

Inputs of equal probability are a group, and w(S) depends on how many of each group S has. A `Plan` says over which numbers the
expectation is summed, and encloses the rest (docs/certificate-format.md, *Local protocols*). All of it is in doubles: a checker
evaluates the same plan in balls.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import comb
from typing import Any, TypeAlias

import numpy as np
import scipy  # its parts are imported when they are first used: stats alone takes longer than all of this package

from dalenius.information.arrays import Floats, Integers
from dalenius.information.deadline import Deadline

How: TypeAlias = "tuple[int | How, ...] | None"
Ranges: TypeAlias = tuple[
    tuple[int, int, int], ...
]  # a group, and from how many to how many of its members are summed over

MOST_TERMS = (
    2**16
)  # numbers of members, times groups: more of them would take a checker seconds, or be beyond its limit
SECONDS = 1.2e-4  # of a term, with room: it is summed here a few times, and in balls
TAIL = 1e-18  # probability of a number of members that is left out
FEW = 16  # groups, whose central moments are summed; of more the cumulants are, which are small then
FACTORIALS = np.array([float(math.factorial(j)) for j in range(65)])
ORDERS = (2, 4, 6, 8, 12, 16, 20, 24, 28, 32)


class Plan(ABC):
    """Plan of evaluating the divergences of groups of inputs; `how` is what a certificate says of it."""

    how: How

    @abstractmethod
    def divergences(self, probabilities: Floats) -> tuple[Floats, Floats]:
        """Two ends of D(W_x || wW) for an input of each group, given the probability of each of its inputs."""


@dataclass(frozen=True)
class SetChannel(ABC):
    """A channel of this form on so many inputs.

    Parameters
    ----------
    inputs : int
    epsilon : float
        In nats.
    """

    inputs: int
    epsilon: float

    whole = False  # whether inputs of equal probability differ otherwise, so that each is a group of its own

    @property
    def excess(self) -> float:
        """c = e^epsilon - 1."""
        return math.expm1(self.epsilon)

    @abstractmethod
    def plan(
        self, sizes: Integers, probabilities: Floats, accuracy: float, clock: Deadline | None = None
    ) -> Plan | None:
        """A plan for groups of these sizes whose ends are about so close; None where that takes too much.

        Where it would take too much of the time that is left it is a coarser one.
        """


# ------------------------------------------------------------ independent members


@dataclass(frozen=True)
class RandomSets(SetChannel):
    """S contains the input with probability alpha, every other with beta, independently: unary encodings, and hashing.

    >>> channel = RandomSets(2, math.log(3), 0.5, 0.25)
    >>> low, high = channel.plan(np.array([2]), np.array([0.5]), 1e-12).divergences(np.array([0.5]))
    >>> rows = np.array([[3, 3, 1, 1], [3, 1, 3, 1]]) / 8
    >>> exact = (rows[0] * np.log(rows[0] / rows.mean(axis=0))).sum()
    >>> bool(abs(low[0] - exact) < 1e-11 and abs(high[0] - exact) < 1e-11)
    True
    """

    alpha: float
    beta: float

    @property
    def absent(self) -> float:
        """1 - alpha, also where a double cannot tell alpha from 1: alpha / (1 - alpha) = e^epsilon beta / (1 - beta)."""
        return (1.0 - self.beta) / (1.0 + self.excess * self.beta)

    def plan(
        self, sizes: Integers, probabilities: Floats, accuracy: float, clock: Deadline | None = None
    ) -> Plan | None:
        """As few groups summed over as the accuracy allows, those that spread w(S) most first; the others developed."""
        spread = np.argsort(-sizes * probabilities**2, kind="stable")
        best: Plan | None = None
        width = math.inf
        for count in range(len(sizes) + 1):
            listed = np.sort(spread[:count])
            ranges = tuple((int(g), *_likely(scipy.stats.binom(sizes[g], self.beta), int(sizes[g]))) for g in listed)
            terms = len(sizes) * math.prod(hi - lo + 1 for _, lo, hi in ranges)
            if terms > MOST_TERMS or (best is not None and _is_late(clock, terms)):
                break
            last = math.inf
            for order in ORDERS:
                plan = _RandomPlan(self, sizes, ranges, order)
                low, high = plan.divergences(probabilities)
                found = float((high - low).max())
                if found < width:
                    best, width = plan, found
                if found <= accuracy:
                    return plan
                if found > last:  # the expansion is asymptotic
                    break
                last = found
        return best


class _RandomPlan(Plan):
    def __init__(self, channel: RandomSets, sizes: Integers, ranges: Ranges, order: int) -> None:
        self.channel, self.sizes, self.ranges, self.order = channel, sizes, ranges, order
        self.how = (order, ranges)
        self._listed = np.array([g for g, _, _ in ranges], dtype=np.int64)
        self._developed = np.setdiff1d(np.arange(len(sizes)), self._listed)
        self._counts = _grid(ranges)
        self._cumulants = _bernoulli_cumulants(channel.beta, 2 * order)
        few = self._developed.tolist() if len(self._developed) <= FEW else []
        self._group_moments = {
            (g, less): _binomial_moments(int(sizes[g]) - less, channel.beta, 2 * order) for g in few for less in (0, 1)
        }
        self._weights = {own: self._probabilities(own) for own in (None, *self._listed.tolist())}

    def _probabilities(self, own: int | None) -> Floats:
        """Of the tuples, for an input that is a member of this group, or of none that is listed."""
        law = np.ones(1)
        for g, lo, hi in self.ranges:
            members = np.arange(lo, hi + 1)
            law = np.multiply.outer(law, scipy.stats.binom.pmf(members, self.sizes[g] - (g == own), self.channel.beta))
        return np.asarray(law).reshape(-1)

    @np.errstate(over="ignore", invalid="ignore")  # an end that is infinite, or no number, is of no use to `plan`
    def divergences(self, probabilities: Floats) -> tuple[Floats, Floats]:
        channel, c = self.channel, self.channel.excess
        weights = np.stack([self._weights.get(g, self._weights[None]) for g in range(len(self.sizes))])
        missing = np.maximum(1.0 - weights.sum(axis=1), 0.0) * channel.epsilon
        moments, mean = self._moments(probabilities)
        shift = c * (self._counts @ probabilities[self._listed])
        means = []
        for first in (1.0 + c * probabilities, np.ones(len(self.sizes))):  # with the input, and without it
            low, high = self._logarithms(first[:, None] + shift, moments, mean)
            means.append(((weights * low).sum(axis=1), (weights * high).sum(axis=1) + missing))
        own = channel.alpha * channel.epsilon
        ends = [own - channel.alpha * means[0][end] - channel.absent * means[1][end] for end in (1, 0)]
        return ends[0], ends[1]

    def _moments(self, probabilities: Floats) -> tuple[Floats, Floats]:
        """Central moments (orders, groups) of what the developed groups add to w(S), without the input itself; and its mean."""
        p, developed, last = probabilities, self._developed, 2 * self.order
        mine = np.isin(np.arange(len(p)), developed)
        powers = p[None, :] ** np.arange(last + 1)[:, None]
        sums = powers[:, developed] @ self.sizes[developed]
        sums = sums[:, None] - np.where(mine, powers, 0.0)
        if len(developed) > FEW:
            return _from_cumulants(self._cumulants[:, None] * sums), self.channel.beta * sums[1]
        scales = p[:, None] ** np.arange(last + 1)
        found = np.empty((last + 1, len(p)))
        for h in range(len(p)):
            series = np.eye(1, last + 1)[0]
            for g in developed.tolist():
                series = np.convolve(series, scales[g] * self._group_moments[g, int(g == h)])[: last + 1]
            found[:, h] = series * FACTORIALS[: last + 1]
        return found, self.channel.beta * sums[1]

    def _logarithms(self, u: Floats, moments: Floats, mean: Floats) -> tuple[Floats, Floats]:
        """Two ends of E log(u + c T), (groups, tuples), T being what the developed groups add.

        *Bound because* log(1 + z) is below its odd expansions, and above them less z^2n (U/u)^2n / (2n) where 1 + z >= u/U.
        """
        c, order = self.channel.excess, 2 * self.order
        middle = u + c * mean[:, None]
        ratio = c / middle
        high = np.log(middle)
        for j in range(2, order):
            high = high - _term(moments[j], -ratio, j)
        return high - _term(moments[order], c / u, order), high


def _term(moments: Floats, ratio: Floats, order: int) -> Floats:
    """Of an expansion; 0 where nothing is developed, however large the ratio is."""
    return np.where(moments[:, None] == 0.0, 0.0, ratio) ** order * moments[:, None] / order


# ------------------------------------------------------------ sets of one size


@dataclass(frozen=True)
class FixedSets(SetChannel):
    """S has `size` members, and all sets with the input are alike, and all without it: subset selection, randomised response.

    >>> plan = FixedSets(3, math.log(2), 1).plan(np.array([3]), np.array([1 / 3]), 1e-12)
    >>> row = np.array([0.5, 0.25, 0.25])
    >>> bool(np.isclose(plan.divergences(np.array([1 / 3]))[1][0], (row * np.log(3 * row)).sum(), rtol=0, atol=1e-15))
    True
    """

    size: int

    @property
    def alpha(self) -> float:
        """P(S contains the input)."""
        inside = self.size * math.exp(self.epsilon)
        return inside / (inside + self.inputs - self.size)

    def plan(
        self, sizes: Integers, probabilities: Floats, accuracy: float, clock: Deadline | None = None
    ) -> Plan | None:
        """All groups but the largest are summed over."""
        left = int(np.argmax(sizes))
        ranges = []
        for g, size in enumerate(sizes.tolist()):
            if g != left:
                ranges.append((g, *_likely(scipy.stats.hypergeom(self.inputs, size, self.size), size)))
        terms = len(sizes) * math.prod(hi - lo + 1 for _, lo, hi in ranges)
        return None if terms > MOST_TERMS else _FixedPlan(self, sizes, tuple(ranges), left)


class _FixedPlan(Plan):
    def __init__(self, channel: FixedSets, sizes: Integers, ranges: Ranges, left: int) -> None:
        self.channel, self.how = channel, ranges
        listed = np.array([g for g, _, _ in ranges], dtype=np.int64)
        counts = _grid(ranges)
        self._cases = [
            [_of_size(counts, listed, left, sizes - (np.arange(len(sizes)) == h), members) for h in range(len(sizes))]
            for members in (channel.size - 1, channel.size)
        ]

    def divergences(self, probabilities: Floats) -> tuple[Floats, Floats]:
        channel, c = self.channel, self.channel.excess
        low, high = np.empty_like(probabilities), np.empty_like(probabilities)
        for h in range(len(probabilities)):
            means = []
            for case, first in zip(self._cases, (1.0 + c * probabilities[h], 1.0), strict=True):
                counts, law = case[h]
                mean = float(law @ np.log(first + c * (counts @ probabilities)))
                means.append((mean, mean + max(1.0 - float(law.sum()), 0.0) * channel.epsilon))
            for end, ends in ((1, low), (0, high)):
                ends[h] = channel.alpha * (channel.epsilon - means[0][end]) - (1.0 - channel.alpha) * means[1][end]
        return low, high


def _of_size(counts: Integers, listed: Integers, left: int, sizes: Integers, members: int) -> tuple[Integers, Floats]:
    """Numbers of members of every group in a random set of so many inputs, and their probabilities."""
    whole = np.zeros((len(counts), len(sizes)), dtype=np.int64)
    whole[:, listed] = counts
    whole[:, left] = members - counts.sum(axis=1)
    whole = whole[((whole >= 0) & (whole <= sizes)).all(axis=1)]
    ways = [[comb(int(size), s) for s in range(int(size) + 1)] for size in sizes]
    all_ways = comb(int(sizes.sum()), members)
    law = [math.prod(ways[g][s] for g, s in enumerate(row)) / all_ways for row in whole.tolist()]
    return whole, np.array(law)


# ------------------------------------------------------------ rows of a Hadamard matrix


@dataclass(frozen=True)
class ParitySets(SetChannel):
    """Output y has the inputs x for which x + 1 and y have an even number of ones in common: Hadamard response.

    >>> plan = ParitySets(3, math.log(3)).plan(np.ones(3, dtype=int), np.full(3, 1 / 3), 1e-12)
    >>> rows = np.array([[3, 1, 3, 1], [3, 3, 1, 1], [3, 1, 1, 3]]) / 8
    >>> exact = (rows * np.log(rows / rows.mean(axis=0))).sum(axis=1)
    >>> bool(np.allclose(plan.divergences(np.full(3, 1 / 3))[0], exact, rtol=0, atol=1e-15))
    True
    """

    whole = True

    def plan(
        self, sizes: Integers, probabilities: Floats, accuracy: float, clock: Deadline | None = None
    ) -> Plan | None:
        """Two transforms give all divergences."""
        return _ParityPlan(self)


class _ParityPlan(Plan):
    how = None

    def __init__(self, channel: ParitySets) -> None:
        self.channel, self._outputs = channel, 1 << channel.inputs.bit_length()

    def divergences(self, probabilities: Floats) -> tuple[Floats, Floats]:
        inputs, epsilon = self.channel.inputs, self.channel.epsilon
        tilt = math.tanh(epsilon / 2.0)
        spread = np.zeros(self._outputs)
        spread[1 : inputs + 1] = probabilities
        even, odd = _evenly(spread)
        tilted = tilt * (even - odd)
        rest = 2.0 / (math.exp(epsilon) + 1.0)  # 1 - tilt, of which doubles would leave nothing
        logs = np.where(tilted > -0.5, np.log1p(np.maximum(tilted, -0.5)), np.log(rest + 2.0 * tilt * even))
        likely = 1.0 / (1.0 + math.exp(-epsilon))
        own = likely * math.log(2.0 * likely) + (1.0 - likely) * (math.log(2.0 * likely) - epsilon)
        found = own - (logs.sum() + tilt * _transform(logs)[1 : inputs + 1]) / self._outputs
        return found, found


def _transform(values: Floats) -> Floats:
    """The Walsh-Hadamard transform: sum over j of (-1)^(ones that j and y share) values(j)."""
    width, values = 1, values.copy()
    while width < values.size:
        pairs = values.reshape(-1, 2, width)
        values = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        width *= 2
    return values


def _evenly(values: Floats) -> tuple[Floats, Floats]:
    """Sums over the j that share an even number of ones with y, and over the others: of the same numbers, which are at least 0."""
    width, even, odd = 1, values.copy(), np.zeros(values.size)
    while width < values.size:
        (a, b), (c, d) = (np.moveaxis(part.reshape(-1, 2, width), 1, 0) for part in (even, odd))
        even = np.stack([a + b, a + d], axis=1).reshape(-1)
        odd = np.stack([c + d, c + b], axis=1).reshape(-1)
        width *= 2
    return even, odd


def _is_late(clock: Deadline | None, terms: int) -> bool:
    """True if there is less time than a plan with so many terms takes, here and to whoever proves it."""
    return clock is not None and (clock.expired or clock.remaining < SECONDS * terms)


def _grid(ranges: Ranges) -> Integers:
    """All tuples of numbers in these ranges, (tuples, groups)."""
    tuples = list(itertools.product(*(range(lo, hi + 1) for _, lo, hi in ranges)))
    return np.array(tuples, dtype=np.int64).reshape(len(tuples), len(ranges))


def _likely(law: Any, size: int) -> tuple[int, int]:
    """From how many to how many of a group are members, but for a tail; also where one input fewer is asked."""
    members = np.flatnonzero(law.pmf(np.arange(size + 1)) > TAIL)
    return max(int(members[0]) - 1, 0), int(members[-1])


def _binomial_moments(size: int, share: float, most: int) -> Floats:
    """Central moments of so many independent numbers, each 1 with this probability, else 0; the j-th divided by j!."""
    members = np.arange(size + 1)
    law = scipy.stats.binom.pmf(members, size, share)
    away = (members - size * share)[None, :] ** np.arange(most + 1)[:, None]
    found = away @ law / FACTORIALS[: most + 1]
    found[1] = 0.0
    return found


def _from_cumulants(cumulants: Floats) -> Floats:
    """Central moments, (orders, groups)."""
    moments = np.zeros_like(cumulants)
    moments[0] = 1.0
    for j in range(2, len(moments)):
        moments[j] = sum(comb(j - 1, i - 1) * cumulants[i] * moments[j - i] for i in range(2, j + 1))
    return moments


def _bernoulli_cumulants(share: float, most: int) -> Floats:
    """Of a number that is 1 with this probability, else 0; of the first order 0, because moments are central."""
    central = [1.0, 0.0, *(share * (1 - share) ** j + (1 - share) * (-share) ** j for j in range(2, most + 1))]
    found = [0.0, 0.0]
    for j in range(2, most + 1):
        found.append(central[j] - sum(comb(j - 1, i - 1) * found[i] * central[j - i] for i in range(2, j - 1)))
    return np.array(found)
