"""Rivals' closed forms: how much Laplace noise two Pufferfish mechanisms add so that no log-ratio exceeds epsilon.

They bound the largest log-ratio P(y | X_i = 1) / P(y | X_i = 0), not the mutual information, and are theorems of others, evaluated in
doubles or in the exact numbers that are given: no certificate stands behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import accumulate

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_fraction
from dalenius.information.arrays import Floats
from dalenius.model import MarkovChain, Records

FAR = 1000  # records on either side of the own one that a quilt may hide
STEPS = 21  # points of P(1 -> 0), of which the worst counts

Law = Mapping[Number, Number]


def wasserstein_distance(first: Law, second: Law) -> Fraction:
    """W_inf of two laws on the line: the sup over u of |F^-1(u) - G^-1(u)|.

    Parameters
    ----------
    first, second : mappings from values to probabilities
        Each is taken divided by its exact sum.

    Raises
    ------
    InputError
        If a value or probability is no number, a probability is negative, or a law has none above 0.

    >>> wasserstein_distance({0: "1/2", 1: "1/2"}, {0: "1/4", 1: "1/4", 3: "1/2"})
    Fraction(2, 1)
    """
    laws = [_steps(first), _steps(second)]
    cuts = sorted({u for law in laws for u, _ in law})
    places, widest = [0, 0], Fraction(0)
    for u in cuts:
        values = []
        for k, law in enumerate(laws):
            while law[places[k]][0] < u:
                places[k] += 1
            values.append(law[places[k]][1])
        widest = max(widest, abs(values[0] - values[1]))
    return widest


def wasserstein_scale(pairs: Iterable[tuple[Law, Law]], epsilon: Number) -> Fraction:
    """The scale of the Wasserstein mechanism's Laplace noise: the largest W_inf of the pairs, divided by epsilon.

    The pairs are the laws of the query's value given either secret, for every pair of secrets and every law of the class (Song, Wang
    and Chaudhuri, "Pufferfish Privacy Mechanisms for Correlated Data", SIGMOD 2017, Algorithm 1).

    Raises
    ------
    InputError
        If there is no pair, epsilon is not above 0, or a law is none (`wasserstein_distance`).

    >>> wasserstein_scale([({0: 0.5, 1: 0.5}, {0: 0.25, 1: 0.25, 3: 0.5})], epsilon=0.5)
    Fraction(4, 1)
    """
    budget, listed = _budget(epsilon), list(pairs)
    if not listed:
        raise InputError("pairs: expected at least one pair of laws")
    return max(wasserstein_distance(*pair) for pair in listed) / budget


def markov_quilt_scale(chain: MarkovChain, records: Records, epsilon: Number) -> float:
    """The scale of the Markov quilt mechanism's Laplace noise for a count of ones.

    The largest over records i of the least over quilts {i - a, i + b}, one of them or none, of (records on i's side of the quilt)
    / (epsilon - e), with the max-influence

        e = max over chains of the class, and over r = beta/alpha, alpha/beta, of g_r(a) + g_r(b),
        g_r(k) = log((1 + r lambda^k) / (1 - lambda^k)),    lambda = 1 - alpha - beta,

    0 for a side without a quilt. (Song, Wang and Chaudhuri, SIGMOD 2017, Section 4.4: MQMExact, of a stationary binary chain.)

    Parameters
    ----------
    chain : MarkovChain
        With a stationary start, and ranges that sum to at most 1 (lambda >= 0). e is the largest on a grid of the box: not proved, and
        if anything too small, in favour of the rival.
    records : Records
    epsilon : number above 0

    Raises
    ------
    InputError
        If the chain is another one, does not fit the records, or epsilon is not above 0.

    >>> round(markov_quilt_scale(MarkovChain(0.4, 0.4), Records(1000, alphabet=2), epsilon=1), 3)
    3.572
    """
    budget = float(_budget(epsilon))
    chain.check(records)
    if not chain.stationary or chain.to_one[1] + chain.to_zero[1] > 1:
        raise InputError(
            "chain: the closed form is for a stationary start and ranges whose upper ends sum to at most 1"
        )
    count, reach = len(records), min(FAR, len(records) - 1)
    # g_r(k) for the distances k = 1, ..., reach and laws of the box, (laws, reach). g_r falls as alpha rises where r is
    # beta/alpha, and as beta rises where it is alpha/beta: that one is at its least value
    found = list[Floats]()
    for least, (low, high) in ((chain.to_one[0], chain.to_zero), (chain.to_zero[0], chain.to_one)):
        moved = np.linspace(float(low), float(high), STEPS if low < high else 1)
        power = (1.0 - float(least) - moved)[:, None] ** np.arange(1, reach + 1)
        found.append(np.log1p((moved / float(least))[:, None] * power) - np.log1p(-power))
    influences = np.concatenate(found)
    mine = [chain.record] if chain.record is not None else range(min((count + 1) // 2, reach + 1))
    return max(_least(influences, count, record, budget) for record in mine)


def _least(influences: Floats, count: int, record: int, budget: float) -> float:
    """The least scale for a record; `influences` is (laws, distances), of the distances 1, 2, ...

    g is convex in the distance, so that of two quilts as near to each other as there is room for is best, for so many hidden records.
    """
    rooms = record, count - 1 - record
    short, long = sorted(min(room, influences.shape[1]) for room in rooms)
    best = count / budget  # no quilt
    total = np.arange(2, short + long + 1)
    near = np.minimum(total // 2, short)
    pairs = [(near, total - near, total - 1)] if short else []
    for room, other in (rooms, rooms[::-1]):
        alone = np.arange(1, min(room, influences.shape[1]) + 1)
        pairs.append((np.zeros_like(alone), alone, alone + other))
    known = np.pad(influences, ((0, 0), (1, 0)))
    for first, second, hidden in pairs:
        left = budget - (known[:, first] + known[:, second]).max(axis=0)
        best = min([best, *(hidden[left > 0.0] / left[left > 0.0])])
    return float(best)


def _steps(law: Law) -> list[tuple[Fraction, Fraction]]:
    """The values that have a probability, ascending, each with the probability of all up to it."""
    read = sorted(
        (as_fraction(value, "law: a value"), as_fraction(p, "law: a probability")) for value, p in law.items()
    )
    total = sum((p for _, p in read), Fraction(0))
    if any(p < 0 for _, p in read) or not total:
        raise InputError(f"law: probabilities must be at least 0, and one above, got {brief(dict(law))}")
    kept = [(value, p) for value, p in read if p]
    return list(zip((u / total for u in accumulate(p for _, p in kept)), (value for value, _ in kept), strict=True))


def _budget(epsilon: Number) -> Fraction:
    budget = as_fraction(epsilon, "epsilon")
    if budget <= 0:
        raise InputError(f"epsilon: expected a number above 0, got {brief(epsilon)}")
    return budget
