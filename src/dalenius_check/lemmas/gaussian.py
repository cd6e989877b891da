"""Theorem B4: discrete Gaussian noise clamped at R beyond the values loses at most 2 tau log A, tau the probability of R or more.

Hypotheses, each a line that refuses: a range has every value (`clamped`); tails are whole: a geometric series encloses what is
not summed (`_weights`); R is at least 10 scale + 1 (`margin`).
"""

from __future__ import annotations

from math import isqrt
from typing import Any

from ..core.allowance import BALL, Allowance, limit, rests_on
from ..core.arithmetic import arb, chosen, fmpq
from ..core.numbers import need, take_entries

_MOST = 1 << 20


def clamped(mechanism: dict[str, Any], inputs: list[int], allowance: Allowance) -> list[list[arb]]:
    """The rows of the values: weights e^(-k^2 / (2 scale^2)) of the distance k, and whole tails of them at the ends of the range."""
    need(
        mechanism["range"] is not None,
        "mechanism.range is missing: without it this is known in maximal_leakage models, of one query and alone, not against chains",
    )
    low, high = mechanism["range"]
    rests_on(allowance, "B4")
    need(low <= inputs[0] and inputs[-1] <= high, "mechanism.range must contain every value of the query")
    take_entries(len(inputs), high - low + 1, allowance, BALL)
    weights, tails = _weights(mechanism["scale"], max(high - inputs[0], inputs[-1] - low), allowance)
    whole = 2 * tails[0] - weights[0]
    inside = [x / whole for x in weights]
    ends = [x / whole for x in tails]
    between = range(low + 1, high)
    return [[ends[v - low], *(inside[abs(y - v)] for y in between), ends[high - v]] for v in inputs]


def _weights(scale: fmpq, reach: int, allowance: Allowance) -> tuple[list[arb], list[arb]]:
    """e^(-k^2 / (2 scale^2)) for k = 0, ..., n, and for each of these k the sum from there on; n is at least `reach`.

    Bound because from n + 1 on every term is at most the one before it times e^(-(2 n + 3) / (2 scale^2)): what is not summed
    is between 0 and a geometric series.
    """
    rate = 1 / (2 * scale * scale)
    enough = (chosen().precision() + 32) / rate
    size = max(reach, isqrt(int(enough.numerator) // int(enough.denominator)) + 1)
    limit(size <= _MOST, f"more than {_MOST} terms of a discrete Gaussian law")
    allowance.room(4 * size * BALL)
    step = arb(-rate).exp()
    weights = [arb(1)]
    ratio = step
    turn = step * step
    for _ in range(size):
        allowance.look()
        weights.append(weights[-1] * ratio)
        ratio = ratio * turn
    tails = [arb(0).union(weights[-1] * ratio / (1 - ratio * turn))]
    for weight in reversed(weights):
        tails.append(weight + tails[-1])
    return weights, tails[:0:-1]


def margin(scale: fmpq) -> int:
    """R, the least integer that is at least 10 scale + 1: how far beyond the values of a piece noise is clamped."""
    wide = 10 * scale + 1
    return int(-(-wide.numerator // wide.denominator))


def beyond(scale: fmpq) -> arb:
    """A bound of the probability that the noise is R or more.

    Bound because the law's normalising sum is at least 1, and from R on every term is at most the one before it times
    e^(-(2 R + 1) / (2 scale^2)).
    """
    rate = 1 / (2 * scale * scale)
    far = margin(scale)
    return arb(-rate * far * far).exp() / (1 - arb(-rate * (2 * far + 1)).exp())
