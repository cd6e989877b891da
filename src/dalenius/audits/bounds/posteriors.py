"""Problem 1 from above: branch and bound on the posterior phi(a|y) with column secants (docs/theory.md).

I = H(pi) + sum_y r(y) sum_a phi log phi. On a box low <= phi <= high the inner term lies below its secant, which makes the second
term linear in the prior. With slopes sigma of the lines (a secant's plus a multiplier nu of the box), their intercepts A, and a
multiplier mu of the entropy bound the maximum over priors is the closed form

    c(a,k) = sum_y R(k,y) [ sum_a' A(a',y) + sigma(a,y) ],
    I <= max over p of <c,p> + H(pi) + mu (H(p) - b)                                  (see dalenius.information.tilt).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.bounds.node_points import NodeProgram
from dalenius.information import x_log_x
from dalenius.information.arrays import Floats
from dalenius.information.deadline import Deadline
from dalenius.information.secants import intercept, secant, tighten
from dalenius.information.tilt import Tilt, tilt
from dalenius.reduction import RecordChannel, RecordSymmetries, Triple
from dalenius.search.boxes import EndsTree, Relaxed, cuts
from dalenius.search.clock import Clock
from dalenius.search.decimals import short, shortened
from dalenius.search.tree import Runner

BATCH, LARGEST_BATCH = 64, 256  # boxes that are halved together, in a small tree and in one of thousands of leaves
MOST_MULTIPLIERS = 64  # above this they stay zero: an interior-point step would cost more than it gains
LEAST_MU, MOST_MU = 1e-9, 1e9
LEAST_TOLERANCE = 1e-12  # nats: closer to its optimum no relaxation is solved
NO_ERROR = 1e-26
A_LITTLE = 1e-3  # of its error in the middle of a range counts in any case: the maximiser may lie outside the box
MU_LEAVES = 0.9  # of the room for rounding, to the slopes
SMALLEST_WIDTH = 1e-7  # a range that is no wider is not halved where its secant does not err
NEARLY = 1.0 - 1e-5  # times the mean of a posterior no letter of the other half has more


@dataclass(frozen=True)
class PosteriorHalf:
    """phi(letter|output) >= threshold, with triples that take (letter, output) to every other letter at that output.

    *Bound because* the images of a prior leak as much, and as phi(.|output) sums to 1 one of them has at least its mean there.
    """

    letter: int
    output: int
    threshold: float
    triples: tuple[Triple, ...]

    @classmethod
    def of(cls, symmetries: RecordSymmetries, letter: int, weights: Floats) -> PosteriorHalf | None:
        """At the output of the largest weight where there is one; None where the symmetries leave no output with all letters.

        >>> import dalenius as dl
        >>> from dalenius.reduction import record_channels
        >>> problem = dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Count(), mechanism=dl.geometric("0.5"),
        ...     adversary=dl.EntropyAtLeast("0.9 max"))
        >>> symmetries = RecordSymmetries.of(problem, record_channels(problem)[0])
        >>> half = PosteriorHalf.of(symmetries, 1, np.ones(5))
        >>> half.letter, half.output, half.threshold
        (1, 2, 0.499995)
        """
        letters = len(symmetries.rows)
        for output in np.argsort(-weights, kind="stable").tolist():
            orbit, triples = symmetries.orbit(letter, output, len(weights))
            if orbit[:, output].all():
                return cls(letter, output, float(short(np.array(NEARLY / letters), 7)), triples)
        return None


class PosteriorRelaxation:
    """Upper bounds of the leakage on boxes of the posterior.

    A box is a flat vector over (boxed letters, outputs). With two letters only the posterior of letter 1 is boxed, that of letter 0
    follows; with more, all are. A hint is the slopes of the lines above phi log phi for every letter, flat, then mu: a child that
    keeps its parent's slopes has lines no higher on its box, so its bound is no worse. Where the letter law `pi` is given, the
    maximum is over priors that have it. With a `multiplier` every hint has that mu: then the bounds are lines of one slope in the
    entropy bound. Once the `clock` has expired hints are as good as they are by then.
    """

    def __init__(
        self,
        channel: RecordChannel,
        *,
        decimals: int = 9,
        pi: Floats | None = None,
        multiplier: float | None = None,
        clock: Deadline | None = None,
    ) -> None:
        self.decimals, self.pi, self.multiplier, self.clock = decimals, pi, multiplier, clock
        self.rows, self.log_uniform, self.max_knowledge = channel.rows, channel.log_uniform, channel.max_knowledge
        self.letters, self.outputs = channel.letters, channel.rows.shape[1]
        self.boxed = [1] if self.letters == 2 else list(range(self.letters))
        self.size = len(self.boxed) * self.outputs
        self.improves = self.size <= MOST_MULTIPLIERS
        self.most = np.tile(self.rows.max(axis=0), len(self.boxed))  # the largest probability of each output
        self.usual = np.exp(channel.log_uniform).sum(axis=0) @ self.rows
        self.select = np.eye(self.letters)[:, self.boxed]  # (letters, boxed letters)
        self.target = -np.inf  # a bound below it is good enough
        self.point: Floats | None = None  # the maximiser in the box of the last batch with the largest bound

    def __getstate__(self) -> dict[str, object]:
        """In another process: its clock stays here."""
        return {**self.__dict__, "clock": None}

    @cached_property
    def program(self) -> NodeProgram:
        """Program that finds multipliers; its arrays have a row for every boxed letter with an output, so only where it `improves`."""
        return NodeProgram(self.rows, self.log_uniform, self.max_knowledge, self.boxed, self.pi, self.multiplier)

    def root(self, mu: float) -> tuple[Floats, Floats, Floats]:
        """The box [0, 1] and hints to start with."""
        slopes = np.zeros(self.letters * self.outputs)
        mu = max(mu, 1e-3) if self.multiplier is None else self.multiplier
        return np.zeros(self.size), np.ones(self.size), np.append(slopes, mu)

    def __call__(self, low: Floats, high: Floats, hints: Floats) -> Relaxed:
        full_low, full_high = self._all_letters(low, high)
        low, high = (x[:, self.boxed].reshape(low.shape) for x in (full_low, full_high))
        lines = secant(full_low, full_high)
        empty = np.any(full_low > full_high, axis=(1, 2))
        point, bounds = self._bound(hints, full_low, full_high)
        p, hints = point.p, hints.copy()
        rest = np.flatnonzero(~empty & (bounds >= self.target))  # what the parents' hints leave open
        if len(rest):
            trial, found = self._optimal(*(x[rest] for x in (*lines, low, high, hints[:, -1])))
            point, value = self._bound(trial, full_low[rest], full_high[rest])
            hints[rest] = np.where((value < bounds[rest])[:, None], trial, hints[rest])
            bounds[rest] = np.minimum(value, bounds[rest])
            p[rest] = np.where(np.all(np.isfinite(found), axis=(1, 2), keepdims=True), found, point.p)
        bounds = np.where(empty, -np.inf, bounds)
        self.point = p[np.argmax(bounds)]
        return Relaxed(bounds, hints, *self._branch(p, low, high, full_low, full_high, *lines))

    def losses(self, low: Floats, high: Floats) -> Floats:
        """Loss of the secants in the middle of ranges, of all letters that a range is about, at the uniform prior's output law."""
        full_low, full_high = self._all_letters(low, high)
        at_zero, slope = secant(full_low, full_high)
        middle = 0.5 * (full_low + full_high)
        lost = self.usual * np.maximum(at_zero + slope * middle - x_log_x(middle), 0.0)
        lost = np.where(full_low < full_high, lost, 0.0)
        return (lost.sum(axis=1, keepdims=True) if self.letters == 2 else lost).reshape(len(low), -1)

    def shortened(self, low: Floats, high: Floats, hints: Floats, level: float) -> Floats:
        """Hints with few digits that prove bounds of at most a level wherever the given ones do."""
        full_low, full_high = self._all_letters(low, high)
        r = (self._bound(hints, full_low, full_high)[0].p @ self.rows).sum(axis=1)
        costs = ((full_high - full_low) * r[:, None, :]).reshape(len(low), -1)
        mu = hints[:, -1:]
        if self.multiplier is None:
            mu = self._shortest_mu(hints, full_low, full_high, level)

        def bound(slopes: Floats) -> Floats:
            return self._bound(np.concatenate([slopes, mu], axis=1), full_low, full_high)[1]

        slopes = shortened(hints[:, :-1], costs, level, self.decimals, bound)
        return np.concatenate([slopes, mu], axis=1)

    def _shortest_mu(self, hints: Floats, low: Floats, high: Floats, level: float) -> Floats:
        """Multipliers of fewer digits where that takes little of the room that there is: the bound is level in them."""
        mu, room = hints[:, -1:], level - self._bound(hints, low, high)[1]
        for digits in (5, 4, 3, 2):
            trial = short(hints[:, -1:], digits)
            value = self._bound(np.concatenate([hints[:, :-1], trial], axis=1), low, high)[1]
            mu = np.where((level - value >= MU_LEAVES * room)[:, None] & (room > 0.0)[:, None], trial, mu)
        return mu

    def _optimal(self, at_zero: Floats, slope: Floats, low: Floats, high: Floats, mu: Floats) -> tuple[Floats, Floats]:
        """Hints that are nearly the best for these boxes, and the relaxation's maximisers (not finite if they are not known)."""
        plain = np.concatenate([np.zeros_like(low), mu[:, None]], axis=1)
        if not self.improves:
            return self._slopes(slope, plain), np.full((len(low), *self.log_uniform.shape), np.nan)
        scores = (at_zero.sum(axis=1)[:, None, :] + slope) @ self.rows.T
        tolerance = max(10.0**-self.decimals, LEAST_TOLERANCE)
        found = self.program.solve(scores, low, high, mu, target=self.target, tolerance=tolerance, clock=self.clock)
        x = np.concatenate([found.nu, np.clip(found.mu, LEAST_MU, MOST_MU)], axis=1)
        x = np.where(np.all(np.isfinite(x), axis=1, keepdims=True), x, plain)
        return self._slopes(slope, x), found.p

    def _slopes(self, slope: Floats, x: Floats) -> Floats:
        """Multipliers (nu, mu) as hints: slopes of every letter's lines, and mu, rounded short."""
        nu = x[:, :-1].reshape(len(x), len(self.boxed), self.outputs)
        slopes = np.round(slope + self.select @ nu, self.decimals).reshape(len(x), -1)
        mu = short(x[:, -1:], 7) if self.multiplier is None else np.full((len(x), 1), self.multiplier)
        return np.concatenate([slopes, mu], axis=1)

    def _bound(self, hints: Floats, low: Floats, high: Floats) -> tuple[Tilt, Floats]:
        """The maximiser, and the bound that these hints prove; inf where numbers are too large to tell."""
        sigma, mu = hints[:, :-1].reshape(low.shape), hints[:, -1]
        gain = intercept(sigma, low, high).sum(axis=1)[:, None, :] + sigma
        scores = gain @ self.rows.T
        point = tilt(scores, self.log_uniform, mu, pi=self.pi)
        value = point.value + mu * self.max_knowledge
        return point, np.where(np.isnan(value), np.inf, value)

    def _branch(
        self, p: Floats, low: Floats, high: Floats, full_low: Floats, full_high: Floats, at_zero: Floats, slope: Floats
    ) -> tuple[NDArray[np.int64], Floats]:
        """The output whose secants err most, and there the letter that errs most; if none errs, the widest range.

        An error counts as the geometric mean of what it is at p and in the middle of the range: where the two differ much, a cut at p
        leaves a part that is nearly as wide as before.
        """
        u = p @ self.rows
        r = u.sum(axis=1)
        phi = np.clip(u / np.maximum(r, 1e-300)[:, None, :], full_low, full_high)
        middle = 0.5 * (full_low + full_high)
        here, there = (np.maximum(at_zero + slope * v - x_log_x(v), 0.0) for v in (phi, middle))
        error = r[:, None, :] * (np.sqrt(here * there) + A_LITTLE * there)
        flat = error.sum(axis=1)
        if len(self.boxed) > 1:
            flat = (flat[:, None, :] * (1e-9 + error[:, self.boxed])).reshape(len(u), -1)
        wide = np.where(high - low > SMALLEST_WIDTH, (high - low) * self.most, 0.0)
        flat = np.where(flat.max(axis=1, keepdims=True) > NO_ERROR, flat, wide)
        return cuts(flat, phi[:, self.boxed].reshape(len(u), -1), low, high)

    def _all_letters(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The boxes of every letter, tightened with sum_a phi(a|y) = 1: (boxes, letters, outputs)."""
        low, high = low.reshape(-1, len(self.boxed), self.outputs), high.reshape(-1, len(self.boxed), self.outputs)
        if self.letters == 2:
            return np.concatenate([1.0 - high, low], axis=1), np.concatenate([1.0 - low, high], axis=1)
        return tighten(low, high, axis=1)


class PosteriorTree(Runner):
    """The tree over boxes of the posterior."""

    name = "posterior"
    tree: EndsTree

    def __init__(
        self, relaxation: PosteriorRelaxation, mu: float, *, target: float, half: PosteriorHalf | None = None
    ) -> None:
        """Of the whole box, or of one part of it that stands for all others, of which `half` says why."""
        self.relaxation, self.target, self.half = relaxation, target, half
        relaxation.target = target
        low, high, hints = relaxation.root(mu)
        if half is not None:
            low[relaxation.boxed.index(half.letter) * relaxation.outputs + half.output] = half.threshold
        self.tree = EndsTree(relaxation, low, high, hints)
        self.point = relaxation.point

    def leaf_bytes(self) -> int:
        return self.tree.leaf_bytes()

    def grow(self, clock: Clock) -> bool:
        self.relaxation.target = self.target
        grown = self.tree.branch(min(max(BATCH, self.tree.leaves // 16), LARGEST_BATCH), above=self.target)
        self.point = self.relaxation.point
        return grown
