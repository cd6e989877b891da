"""Number types of measures' formulas, so that each formula is written once, for two kinds of arrays.

Arrays of doubles are computed as doubles are. Arrays of `fmpq` and `arb` (python-flint's exact rationals and balls, dtype object)
give the exact value, or a ball around it. *Bound because* every function here encloses: the larger of two balls is a ball around the
maximum, what cannot be told from zero counts as it stands, and what is left open by a comparison is a ball around both answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike, NDArray

from dalenius.errors import InputError
from dalenius.information.balls import rational
from dalenius.information.entropies import relative_entropy

Numbers = NDArray[Any]
INFINITE = arb.pos_inf()
HALF = fmpq(1, 2)
DOUBLE, EXACT = np.dtype(float), np.dtype(object)


def as_numbers(values: ArrayLike | Sequence[Fraction]) -> Numbers:
    """The array as it is where it holds exact numbers (dtype object), else as doubles.

    >>> as_numbers([[1, 0]]).dtype == float
    True
    """
    array: Numbers = np.asarray(values)
    return array if array.dtype in (DOUBLE, EXACT) else array.astype(float)


def rationals(numbers: Iterable[float | Fraction]) -> Numbers:
    """The exact values of doubles, or of fractions.

    >>> rationals(np.array([0.5, 0.25])).tolist()
    [1/2, 1/4]
    """
    return np.array([rational(x) for x in numbers], dtype=object)


def doubles(numbers: Numbers) -> NDArray[np.float64]:
    """Doubles at, or close to, exact numbers or the middles of balls.

    >>> doubles(np.array([[fmpq(1, 2), fmpq(1, 4)]])).tolist()
    [[0.5, 0.25]]
    """
    return np.array([float(arb(x)) for x in numbers.ravel()]).reshape(numbers.shape)


def is_exact(values: Numbers) -> bool:
    """True if these are exact numbers or balls.

    >>> is_exact(np.array([fmpq(1, 3)])), is_exact(np.array([0.5]))
    (True, False)
    """
    return bool(values.dtype == EXACT)


def log(values: Numbers) -> Numbers:
    """The natural logarithm, elementwise: a ball for an exact number, -inf of 0 as a double; of exact numbers none is 0.

    >>> log(np.array([fmpq(1)]))[0] == 0, float(log(np.array(1.0)))
    (True, 0.0)
    """
    if is_exact(values):
        return np.asarray(_LOG(values), dtype=object)
    if values.size == 1 and (value := values.item()) > 0.0:
        return np.full(values.shape, math.log(value)) if values.ndim else np.asarray(math.log(value))
    with np.errstate(divide="ignore"):
        return np.log(values)


def quotient(above: Numbers, below: Numbers, *, empty: int) -> Numbers:
    """above / below, elementwise, both at least 0: `empty` where both are 0, infinite where only `below` is.

    >>> quotient(np.array([1.0, 0.0, 1.0]), np.array([2.0, 0.0, 0.0]), empty=1).tolist()
    [0.5, 1.0, inf]
    """
    if is_exact(above) or is_exact(below):
        return np.asarray((_QUOTIENT_ONE if empty else _QUOTIENT_ZERO)(above, below), dtype=object)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((above == 0.0) & (below == 0.0), float(empty), above / below)


def largest(values: Numbers, axis: int | None = None) -> Numbers:
    """The maximum along an axis, or of all; of balls a ball around it.

    >>> float(largest(np.array([0.5, 0.25])))
    0.5
    """
    if not is_exact(values):
        return np.asarray(np.maximum.reduce(values, axis=axis))
    return np.asarray(_LARGER.reduce(values.ravel() if axis is None else values, axis=axis or 0), dtype=object)


def least(values: Numbers, axis: int | None = None) -> Numbers:
    """The minimum along an axis, or of all; of balls a ball around it."""
    return np.asarray(-largest(-values, axis), dtype=values.dtype)


def occurring(masses: Numbers) -> NDArray[np.bool_]:
    """Masses that are not 0; what balls leave open is kept.

    >>> occurring(np.array([0.0, 0.5])).tolist()
    [False, True]
    """
    return ~np.asarray(masses == 0, dtype=bool)


def power(values: Numbers, exponent: Any) -> Numbers:
    """x^exponent, elementwise, of numbers that are at least 0; 0 of 0, as the exponent is above 0.

    >>> power(np.array([0.0, 4.0]), 0.5).tolist()
    [0.0, 2.0]
    """
    return np.asarray(_POWER(values, exponent), dtype=object) if is_exact(values) else np.asarray(values**exponent)


def positive_part(values: Numbers) -> Numbers:
    """max(x, 0), elementwise."""
    return np.asarray(_LARGER(values, fmpq(0)), dtype=object) if is_exact(values) else np.maximum(values, 0.0)


def beyond(values: Numbers, limit: Any) -> Numbers:
    """1 where a value is above the limit and 0 where it is not; a ball around both where balls leave it open.

    >>> beyond(np.array([0.5, 2.0]), 1.0).tolist()
    [0.0, 1.0]
    """
    return np.asarray(_BEYOND(values, limit), dtype=object) if is_exact(values) else (values > limit).astype(float)


def divergence(p: Numbers, q: Numbers) -> Numbers:
    """D(p || q) = sum p log(p/q) along the last axis, in nats; infinite where p > 0 = q."""
    if not (is_exact(p) or is_exact(q)):
        return np.maximum(relative_entropy(p, q), 0.0)
    return np.asarray(_TERM(p, q).sum(axis=-1), dtype=object)


def _log(x: Any) -> arb:
    return arb(x).log()


def _quotient(above: Any, below: Any, empty: int) -> Any:
    if below == 0:  # certainly
        return fmpq(empty) if above == 0 else INFINITE
    return above / below


def _larger(a: Any, b: Any) -> Any:
    if isinstance(a, fmpq) and isinstance(b, fmpq):
        return max(a, b)
    return arb(a).max(arb(b))


def _beyond(x: Any, limit: Any) -> Any:
    if x > limit:
        return fmpq(1)
    return fmpq(0) if x <= limit else arb(HALF, HALF)


def _power(x: Any, exponent: Any) -> Any:
    return fmpq(0) if x == 0 else arb(x) ** arb(exponent)


def _term(p: Any, q: Any) -> Any:
    return fmpq(0) if p == 0 else p * _log(_quotient(p, q, 1))


_LOG = np.frompyfunc(_log, 1, 1)
_QUOTIENT_ONE = np.frompyfunc(lambda above, below: _quotient(above, below, 1), 2, 1)
_QUOTIENT_ZERO = np.frompyfunc(lambda above, below: _quotient(above, below, 0), 2, 1)
_LARGER = np.frompyfunc(_larger, 2, 1)
_BEYOND = np.frompyfunc(_beyond, 2, 1)
_POWER = np.frompyfunc(_power, 2, 1)
_TERM = np.frompyfunc(_term, 2, 1)


# A channel, a prior of its inputs, and what follows from both: the law of the outputs, joint laws, the channel of a secret.


@dataclass(frozen=True)
class Met:
    """The inputs and the outputs of positive probability.

    Attributes
    ----------
    prior : (inputs,)
        P(x) > 0.
    channel : (inputs, outputs)
        W(x,y), row-stochastic.
    law : (outputs,)
        q(y) = sum_x P(x) W(x,y) > 0.
    """

    prior: Numbers
    channel: Numbers
    law: Numbers

    @property
    def lift(self) -> Numbers:
        """d(x,y) = W(x,y) / q(y), how many times likelier y is where the input is x: (inputs, outputs)."""
        return quotient(self.channel, self.law, empty=1)

    @property
    def joint(self) -> Numbers:
        """P(x) W(x,y): (inputs, outputs)."""
        return self.prior[:, None] * self.channel


def met(channel: ArrayLike, prior: ArrayLike) -> Met:
    """Part of a channel that has positive probability under a prior.

    >>> met([[1.0, 0.0], [0.5, 0.5]], [1.0, 0.0]).law.tolist()
    [1.0]
    """
    rows, masses = fitting(channel, prior)
    inputs = occurring(masses)
    if not inputs.all():
        masses, rows = masses[inputs], rows[inputs]
    law = output_law(rows, masses)
    outputs = occurring(law)
    return Met(masses, rows, law) if outputs.all() else Met(masses, rows[:, outputs], law[outputs])


def fitting(channel: ArrayLike, prior: ArrayLike) -> tuple[Numbers, Numbers]:
    """Both as arrays of numbers; `InputError` unless there is one probability for each row of a matrix."""
    rows, masses = as_numbers(channel), as_numbers(prior)
    if rows.ndim != 2 or masses.shape != rows.shape[:1] or not rows.size:
        raise InputError(
            "channel, prior: expected a matrix (inputs, outputs) and one probability an input, got shapes "
            f"{rows.shape} and {masses.shape}"
        )
    return rows, masses


def output_law(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """q(y) = sum_x P(x) W(x,y) of every output.

    >>> output_law([[0.5, 0.5], [0.0, 1.0]], [0.5, 0.5]).tolist()
    [0.25, 0.75]
    """
    rows, masses = fitting(channel, prior)
    if is_exact(masses) or is_exact(rows):
        return np.asarray((masses[:, None] * rows).sum(axis=0))
    return np.asarray(masses @ rows)


def split(joint: ArrayLike) -> tuple[Numbers, Numbers]:
    """The channel p(y|s) and the prior p(s) of a joint law p(s,y), which may be given up to a factor; rows without mass are left out.

    >>> channel, prior = split([[0.25, 0.25], [0.5, 0.0]])
    >>> channel.tolist(), prior.tolist()
    ([[0.5, 0.5], [1.0, 0.0]], [0.5, 0.5])
    """
    table = as_numbers(joint)
    masses = table.sum(axis=1)
    there = occurring(masses)
    return table[there] / masses[there, None], masses[there] / masses.sum()


def channel_of_secret(joint: ArrayLike, channel: ArrayLike) -> tuple[Numbers, Numbers]:
    """p(y|s) and p(s) on the Markov chain S - X - Y, from the law p(s,x) of the secret and the data and the channel W(x,y).

    >>> secret, prior = channel_of_secret([[0.5, 0.0], [0.25, 0.25]], [[1.0, 0.0], [0.0, 1.0]])
    >>> secret.tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    rows, prior = split(joint)
    return np.asarray(rows @ as_numbers(channel)), prior
