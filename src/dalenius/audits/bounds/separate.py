"""The dual bound of a channel that is right or wrong alike, K(y) = c + D w(y), one output at a time.

The row problem of a letter, max over laws w of sum_y [ K log(K/r) + beta w (log N - log w) ], has one condition that ties the outputs
together, sum_y w(y) = 1. With a multiplier nu for it the maximum is a sum of maxima of one number each, of functions that are first
concave, then convex; and the best law has one weight at most where they are convex (docs/certificate-format.md, `separate`). Where
hundreds of outputs leave trees no chance this finds the maxima to a hundred thousandth, in no time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

import numpy as np

from dalenius.information import log_sum_exp, x_log_x
from dalenius.information.arrays import Floats, Integers
from dalenius.information.deadline import Deadline

ALIKE = 9  # decimals: outputs whose numbers of completions agree so far are one
MOST = 2**14  # different outputs of all letters
PIECES, WORK = 32, 2**12  # of what a large weight may be; times different outputs
NEWTON, SECTIONS, VALLEY = 40, 30, 64
CLOSE = 1e-12
SLOPES = (1e-4, 1e3)  # multipliers of the entropy bound
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


@dataclass(frozen=True, eq=False)
class SeparateBound:
    """A bound in nats, with its multipliers: of the entropy bound, and of each letter's sum of weights, N over |X|.

    `sums` (letters, 1 + pieces) are for laws of small weights alone, then with one in each piece; `ends` (pieces,) are those of the
    pieces, `law` (outputs,) the output law's weights.
    """

    upper: float
    slope: float
    sums: Floats
    ends: Floats
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
    known = dict[float, list[Floats]]()

    def bound(log_slope: Floats) -> Floats:
        slope = math.exp(log_slope)
        values, *known[slope] = problem.solved(slope)
        return np.array(slope * (log_sum_exp(values / slope) + max_knowledge))

    in_time = takewhile(lambda _: not clock.expired, range(SECTIONS))
    log_slope, upper = _valleys(bound, np.log(SLOPES), in_time)
    slope = math.exp(log_slope)
    sums, ends = known[slope]
    return SeparateBound(float(upper), slope, sums, ends, law)


def _valleys(value: Callable[[Floats], Floats], ends: Floats, sections: Iterable[int]) -> tuple[Floats, Floats]:
    """Golden sections of functions with one minimum, one a number: where they are least, and what they are there."""
    low, high = ends
    inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    values = [value(x) for x in inner]
    for _ in sections:
        left = values[0] <= values[1]
        low, high = np.where(left, low, inner[0]), np.where(left, inner[1], high)
        new = np.where(left, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        found = value(new)
        inner = [np.where(left, new, inner[1]), np.where(left, inner[0], new)]
        values = [np.where(left, found, values[1]), np.where(left, values[0], found)]
    best = values[0] <= values[1]
    return np.where(best, *inner), np.where(best, *values)


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

    def solved(self, slope: float) -> tuple[Floats, Floats, Floats]:
        """psi of every letter; its multipliers (letters, 1 + pieces), and where the pieces of a large weight end.

        Each piece's bound is convex in its own multiplier. A weight in a piece has no more than at the larger of both ends.
        """
        turn = self._turn(slope)
        pieces = int(np.clip(WORK // len(self.terms), 1, PIECES)) if turn < 1.0 else 0
        stops = turn ** (1.0 - np.arange(pieces + 1) / max(pieces, 1))[:, None]
        linear = self.costs + slope * np.where(self._there, self.terms, 0.0)
        first = np.searchsorted(self.row, np.arange(self.row[-1] + 1))
        reach = 2.0 * (self.constant + float(np.abs(self.costs).max())) + slope * (2.0 + 800.0)
        ends = np.array([linear.min() - reach, linear.max() + reach])[:, None, None] + np.zeros(
            (pieces + 1, len(first))
        )

        def bound(nu: Floats) -> Floats:
            lines = linear - nu[:, self.row]
            small = self._small(slope, lines)
            both = (self._value(slope, w, lines[1:]) for w in (stops[:-1], stops[1:]))
            more = np.where(self._there, np.maximum(*both) - small[1:], -np.inf)
            result = nu + np.add.reduceat(self.times * small, first, axis=1)
            result[1:] += np.maximum.reduceat(more, first, axis=1)
            return result

        nu, values = _valleys(bound, ends, range(VALLEY))
        return self.constant + values.max(axis=0)[self.letter], (self.constant + nu.T)[self.letter], stops[1:, 0]

    def _turn(self, slope: float) -> float:
        """The weight up to which f(w) = K log K - slope w log w + linear w, K = c + D w, is concave; then it is convex."""
        rise = self.stay - self.change
        turn = rise * (rise - slope)
        return min(slope * self.change / turn, 1.0) if turn > 0.0 else 1.0

    def _value(self, slope: float, w: Floats, linear: Floats) -> Floats:
        """f(w)."""
        return np.asarray(x_log_x(self.change + (self.stay - self.change) * w) - slope * x_log_x(w) + linear * w)

    def _small(self, slope: float, linear: Floats) -> Floats:
        """The largest f of a weight up to the turn."""
        c, rise, last = self.change, self.stay - self.change, math.log(self._turn(slope))
        logs = np.minimum((rise * (np.log(c) + 1.0) + linear) / slope - 1.0, last)
        for _ in range(NEWTON):
            w = np.exp(np.maximum(logs, -700.0))
            K = c + rise * w
            value = rise * (np.log(K) + 1.0) - slope * (logs + 1.0) + linear
            fall = np.minimum(rise**2 * w / K - slope, -1e-12 * slope)
            before, logs = logs, np.clip(logs - value / fall, -1e4, last)
            if np.all(abs(logs - before) < CLOSE):
                break
        maxima = self._value(slope, np.exp(np.maximum(logs, -700.0)), linear)
        return np.where(self._there, maxima, float(x_log_x(np.array(c))))
