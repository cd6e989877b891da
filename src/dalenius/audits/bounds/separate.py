"""The dual bound of a channel that is right or wrong alike, K(y) = c + D w(y), one output at a time.

The row problem of a letter, max over laws w of sum_y [ K log(K/r) + beta w (log N - log w) ], has one condition that ties the outputs
together, sum_y w(y) = 1. With a multiplier nu for it the maximum is a sum of maxima of one number each, of functions that are first
concave, then convex (docs/certificate-format.md, `separate`). Where hundreds of outputs leave trees no chance this closes to some per
cent, in no time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dalenius.information import log_sum_exp, x_log_x
from dalenius.information.arrays import Floats, Integers
from dalenius.information.deadline import Deadline

ALIKE = 9  # decimals: outputs whose numbers of completions agree so far are one
MOST = 2**14  # different outputs of all letters
NEWTON, HALVINGS, SECTIONS = 40, 50, 30
CLOSE = 1e-12
SLOPES = (1e-4, 1e3)  # multipliers of the entropy bound
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


@dataclass(frozen=True, eq=False)
class SeparateBound:
    """A bound in nats, with its multipliers: of the entropy bound, and of each letter's sum of weights (letters,), N over |X|.

    `law` (outputs,) has the output law's weights.
    """

    upper: float
    slope: float
    sums: Floats
    law: Floats


def separate_bound(
    log_uniform: Floats, max_knowledge: float, stay: float, change: float, law: Floats, clock: Deadline
) -> SeparateBound | None:
    """The bound with an output law.

    Parameters
    ----------
    log_uniform : (letters, outputs)
        log(N(a, k)/|X|), input k being output k's own; -inf where there is none.
    max_knowledge : float
        log |X| - b, in nats.
    stay, change : float
        The probabilities of the own output, and of each other.
    law : (outputs,)
        Weights, positive.
    clock : Deadline

    Returns
    -------
    SeparateBound or None
        None where an output is never wrong, or letters' outputs differ too much to be put together.

    >>> from dalenius.search import Clock
    >>> alike = np.full((16, 16), -2 * np.log(16))  # of many letters modulo 16, an eighth of a letter's entropy known
    >>> bound = separate_bound(alike, 0.125 * np.log(16), 0.9, 0.1 / 15, np.full(16, 1 / 16), Clock(60.0))
    >>> 0.1 < bound.upper < 0.5
    True
    """
    if change <= 0.0:
        return None
    problem = _Rows.of(log_uniform, np.log(law / law.sum()), stay, change)
    if len(problem.terms) > MOST:
        return None
    known = dict[float, tuple[float, Floats]]()

    def bound(log_slope: float) -> float:
        slope = math.exp(log_slope)
        values, sums = problem.solved(slope)
        total = float(slope * (log_sum_exp(values / slope) + max_knowledge))
        known[slope] = total, sums
        return total

    _least(bound, math.log(SLOPES[0]), math.log(SLOPES[1]), clock)
    slope = min(known, key=lambda each: known[each][0])
    upper, sums = known[slope]
    return SeparateBound(upper, slope, sums, law)


def _least(value: Callable[[float], float], low: float, high: float, clock: Deadline) -> None:
    """Golden sections of a function with one minimum."""
    inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    values = [value(x) for x in inner]
    for _ in range(SECTIONS):
        if clock.expired:
            break
        if values[0] <= values[1]:
            high, inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = high - GOLDEN * (high - low)
            values[0] = value(inner[0])
        else:
            low, inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = low + GOLDEN * (high - low)
            values[1] = value(inner[1])


@dataclass(frozen=True, eq=False)
class _Rows:
    """The row problems of letters whose outputs are put together where they are alike.

    Attributes
    ----------
    terms, costs, times : (terms,)
        log(N/|X|) and what a weight costs by the output law, and how many outputs of the letter have them.
    row : (terms,)
        Whose.
    letter : (letters,)
        Which row is a letter's.
    constant : float
        What the output law costs whatever the weights: those of a letter add up to 1.
    """

    terms: Floats
    costs: Floats
    times: Floats
    row: Integers
    letter: Integers
    constant: float
    stay: float
    change: float

    @classmethod
    def of(cls, log_uniform: Floats, log_law: Floats, stay: float, change: float) -> _Rows:
        both = np.stack(np.broadcast_arrays(log_uniform, (change - stay) * log_law), axis=-1).round(ALIKE)
        ordered = np.take_along_axis(both, np.lexsort((both[..., 1], both[..., 0]))[..., None], axis=1)
        rows, letter = np.unique(ordered, axis=0, return_inverse=True)
        found = [np.unique(row, axis=0, return_counts=True) for row in rows]
        terms, costs = np.concatenate([kinds for kinds, _ in found]).T
        return cls(
            terms,
            costs,
            np.concatenate([times for _, times in found]).astype(float),
            np.repeat(np.arange(len(rows)), [len(kinds) for kinds, _ in found]),
            letter.reshape(-1),
            -change * float(log_law.sum()),
            stay,
            change,
        )

    @cached_property
    def _there(self) -> Floats:
        return np.isfinite(self.terms)

    def solved(self, slope: float) -> tuple[Floats, Floats]:
        """psi of every letter, and its multiplier: halvings, since the sum of the best weights falls as that grows."""
        linear = self.costs + slope * np.where(self._there, self.terms, 0.0)
        rows = int(self.row[-1]) + 1
        reach = 2.0 * (self.constant + float(np.abs(self.costs).max())) + slope * (2.0 + 800.0)
        low, high = (np.full(rows, float(end)) for end in (linear.min() - reach, linear.max() + reach))
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            weights = self._best(slope, linear - middle[self.row])[1]
            more = np.bincount(self.row, self.times * weights, minlength=rows) > 1.0
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        maxima = self._best(slope, linear - high[self.row])[0]
        sums = self.constant + high
        values = sums + np.bincount(self.row, self.times * maxima, minlength=rows)
        return np.asarray(values[self.letter]), np.asarray(sums[self.letter])

    def _best(self, slope: float, linear: Floats) -> tuple[Floats, Floats]:
        """The largest values of f(w) = K log K - slope w log w + linear w on [0, 1], K = c + D w, and where they are."""
        c, rise = self.change, self.stay - self.change
        turn = rise * (rise - slope)
        last = min(slope * c / turn, 1.0) if turn > 0.0 else 1.0  # concave up to there, then convex
        logs = np.minimum((rise * (np.log(c) + 1.0) + linear) / slope - 1.0, np.log(last))
        for _ in range(NEWTON):
            w = np.exp(np.maximum(logs, -700.0))
            K = c + rise * w
            value = rise * (np.log(K) + 1.0) - slope * (logs + 1.0) + linear
            fall = np.minimum(rise**2 * w / K - slope, -1e-12 * slope)
            before, logs = logs, np.clip(logs - value / fall, -1e4, np.log(last))
            if np.all(abs(logs - before) < CLOSE):
                break
        w = np.exp(np.maximum(logs, -700.0))
        inside = x_log_x(c + rise * w) - slope * x_log_x(w) + linear * w
        at_one = x_log_x(np.array(self.stay)) + linear
        maxima = np.where(at_one > inside, at_one, inside)
        nothing = float(x_log_x(np.array(c)))
        weights = np.where(at_one > inside, 1.0, w)
        return np.where(self._there, maxima, nothing), np.where(self._there, weights, 0.0)
