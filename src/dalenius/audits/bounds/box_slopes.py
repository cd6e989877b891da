"""The best lines above phi log phi on boxes of the posterior, and multipliers of the entropy bound, a batch of boxes at a time.

With the secants' scores c0(a,k), nu(b,g) what the slope of letter b's line at output g is raised by, and the price of the box,

    c(a,k) = c0(a,k) + sum_g R(k,g) [ sum_b max(-nu(b,g) low(b,g), -nu(b,g) high(b,g)) + nu(a,g) ],

the bound of a box is F(c, mu) + mu max_knowledge, F the closed form of dalenius.information.tilt: convex in (nu, mu) together, as F
is a maximum of functions that are linear in c and mu. Newton's method minimises it, the corner of the prices smoothed less and less.
In a box without priors it falls without end. It begins at the parent's lines, and its matrix is small however many classes there are.
Only hints come from here: a bound is a closed form in them, so that nothing valid depends on how well this went.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalenius.information.arrays import Floats
from dalenius.information.deadline import Deadline
from dalenius.information.tilt import TINY, tilt

FIRST_SMOOTHING, FALL = 0.02, 0.3  # of a target, at most; from one to the next
NEAR = 0.1  # of what a box is above the target by its parents' lines: its first smoothing
STEPS, HALVINGS = 15, 25  # of Newton's method at each smoothing, and of one of its steps
SHORTER, ENOUGH = 0.3, 1e-4  # a step that gains less than so much of what it is to gain is made so much shorter
LONGEST = 1.5  # step of log mu
CLOSE = 0.05  # a box that stays open is solved to this share of what it is above the target
SURE = 0.002  # a step that gains less than so much of what a box is above the target tells that it stays there
CONVERGED = 0.01  # of the smoothing: no step that gains less is made
RIDGE = 1e-9
LEAST_MU, MOST_MU = 1e-9, 1e9
MOST_NUMBERS = 1 << 21  # in the largest array; more boxes are taken in parts: a step takes at most a tenth of a second
AT_ONCE = 1 << 20  # numbers in those of all steps between two looks at the clock


class NodePoints(NamedTuple):
    """Multipliers nu of the boxes (boxes, boxed letters * outputs), mu of the entropy bound (boxes, 1), masses p."""

    nu: Floats
    mu: Floats
    p: Floats


class _Boxes(NamedTuple):
    """Data of boxes: the scores of their secants, and the middles and half widths of their ranges."""

    scores: Floats
    middle: Floats
    half: Floats

    def some(self, which: NDArray[np.int64]) -> _Boxes:
        return _Boxes(*(x[which] for x in self))


class _Look(NamedTuple):
    """Bounds of boxes and what they are made of: with s the smoothing, half nu and sqrt((half nu)^2 + s^2); masses of pairs and of
    letters, and the surprises log(N/p)."""

    value: Floats
    turn: Floats
    root: Floats
    p: Floats
    pi: Floats
    surprise: Floats

    def some(self, which: NDArray[np.int64]) -> _Look:
        return _Look(*(x[which] for x in self))


@dataclass
class SlopeProgram:
    """The bound of boxes of one channel's posterior.

    Parameters
    ----------
    rows : (classes, outputs)
    log_uniform : (letters, classes)
    max_knowledge : float
    boxed : list of int
        The letters whose posteriors have ranges.
    fixed : bool
        Leave mu as it is given.
    pi : (letters,), optional
        The letter law, where the adversary does not choose it.
    """

    rows: Floats
    log_uniform: Floats
    max_knowledge: float
    boxed: list[int]
    fixed: bool = False
    pi: Floats | None = None

    def __post_init__(self) -> None:
        # Times the smoothing: how mu is kept from 0 while it matters little
        self.barrier = max(1.0, self.max_knowledge)
        self.own = np.eye(len(self.log_uniform))[:, self.boxed, None]  # (letters, boxed letters, 1)
        letters, size = len(self.log_uniform), len(self.boxed) * self.rows.shape[1]
        self.numbers = letters * (size * size + self.rows.size)  # in the largest array, for each box

    def solve(
        self,
        scores: Floats,
        low: Floats,
        high: Floats,
        nu: Floats,
        mu: Floats,
        *,
        target: float,
        tolerance: float,
        clock: Deadline | None = None,
    ) -> NodePoints:
        """Nearly the best multipliers from given ones; of boxes that fall below the target, or stay above it, not to the end.

        Parameters
        ----------
        scores : (boxes, letters, classes)
            c0.
        low, high, nu : (boxes, boxed letters * outputs)
        mu : (boxes,)
        """
        part = max(1, MOST_NUMBERS // self.numbers)
        shape = (-1, len(self.boxed), self.rows.shape[1])
        low, high, nu = (x.reshape(shape) for x in (low, high, nu))
        boxes = _Boxes(scores, 0.5 * (low + high), 0.5 * (high - low))
        some = [np.arange(j, min(j + part, len(scores))) for j in range(0, len(scores), part)]
        with np.errstate(all="ignore"):
            how = target, tolerance, clock
            found = [_Newton(self, boxes.some(j), nu[j], np.clip(mu[j], LEAST_MU, MOST_MU), *how).run() for j in some]
        nus, mus, p = map(np.concatenate, zip(*found, strict=True))
        return NodePoints(nus, mus[:, None], p)

    def look(self, boxes: _Boxes, nu: Floats, mu: Floats, smoothing: Floats) -> _Look:
        """The bounds of multipliers."""
        turn = boxes.half * nu
        root = np.sqrt(turn * turn + (smoothing * smoothing)[:, None, None])
        price = (root - boxes.middle * nu).sum(axis=1)
        gain = price[:, None, :] + (self.own * nu[:, None]).sum(axis=2)
        at = tilt(boxes.scores + gain @ self.rows.T, self.log_uniform, mu, pi=self.pi)
        pi, surprise = np.broadcast_to(at.pi, (len(at.pi), len(mu))).T, np.moveaxis(at.surprise, -1, 0)
        return _Look(at.value + mu * self.max_knowledge, turn, root, at.p, np.array(pi), np.array(surprise))

    def step(self, boxes: _Boxes, look: _Look, mu: Floats, smoothing: Floats) -> tuple[Floats, Floats]:
        """Newton's step for (nu, log mu), and what it gains, to first order, negative."""
        pi, m, barrier = look.pi, mu[:, None], self.barrier * smoothing
        w = look.p / np.maximum(pi, TINY)[..., None]
        count, letters, boxed, outputs = len(w), len(self.log_uniform), len(self.boxed), self.rows.shape[1]
        size = boxed * outputs
        turned = w * look.surprise
        means = w @ self.rows
        squares = (w[..., None, :] * self.rows.T) @ self.rows
        covariance = squares - means[..., :, None] * means[..., None, :]
        told = turned.sum(axis=-1)  # the mean surprise, whose derivatives are those by mu
        spread = (turned * look.surprise).sum(axis=-1) - told * told
        beside = turned @ self.rows - means * told[..., None]
        slope = boxes.half * (look.turn / look.root) - boxes.middle  # of prices
        bend = (boxes.half * smoothing[:, None, None]) ** 2 / look.root**3
        columns = (slope[:, None] + self.own).reshape(count, letters, size)
        at = np.concatenate([np.tile(means, boxed) * columns, told[..., None]], axis=2)
        mean = (pi[..., None] * at).sum(axis=1)
        hessian = np.empty((count, size + 1, size + 1))
        share = (pi / m)[..., None]
        hessian[:, :size, :size] = (
            (share * columns)[..., None] * np.tile(covariance, (boxed, boxed)) * columns[..., None, :]
        ).sum(axis=1)
        hessian[:, size, :size] = hessian[:, :size, size] = (share * np.tile(beside, boxed) * columns).sum(axis=1)
        hessian[:, size, size] = (pi * spread).sum(axis=1) / mu
        away = at - mean[:, None]
        if self.pi is None:
            hessian += (away * (pi / (1.0 + m))[..., None]).swapaxes(1, 2) @ away
        gradient = mean.copy()
        gradient[:, size] = mu * (mean[:, size] + self.max_knowledge) - barrier
        hessian[:, size] *= m
        hessian[:, :, size] *= m
        r = (pi[..., None] * means).sum(axis=1)
        diagonal = np.arange(size + 1)
        hessian[:, diagonal[:size], diagonal[:size]] += (bend * r[:, None]).reshape(count, size)
        hessian[:, size, size] += np.abs(gradient[:, size] + barrier)
        if self.fixed:
            gradient[:, size] = hessian[:, size, :size] = hessian[:, :size, size] = 0.0
        hessian[:, diagonal, diagonal] += RIDGE * (1.0 + hessian[:, diagonal, diagonal])
        step = np.linalg.solve(hessian, -gradient[..., None])[..., 0]
        step *= np.minimum(1.0, LONGEST / np.maximum(np.abs(step[:, size]), 1e-300))[:, None]
        return step, (gradient * step).sum(axis=1)


class _Newton:
    """Boxes at work. Their multipliers with the least bounds so far are the best."""

    def __init__(
        self,
        program: SlopeProgram,
        boxes: _Boxes,
        nu: Floats,
        mu: Floats,
        target: float,
        tolerance: float,
        clock: Deadline | None,
    ) -> None:
        self.program, self.boxes, self.target, self.clock = program, boxes, target, clock
        self.nu, self.mu, self.best_nu, self.best_mu = nu.copy(), mu.copy(), nu.copy(), mu.copy()
        self.p = np.full((len(nu), *program.log_uniform.shape), np.nan)
        self.best = np.full(len(nu), np.inf)
        self.hopeless = np.zeros(len(nu), dtype=np.bool_)  # stays above the target whatever is done
        self.tolerance = tolerance
        self.late, self._worked = False, 0
        self._begin_at_secants_where_better()

    def _begin_at_secants_where_better(self) -> None:
        """Leave the parents' lines where the box's own secants are better."""
        nothing = np.zeros(len(self.nu))
        parents = self.program.look(self.boxes, self.nu, self.mu, nothing).value
        plain = self.program.look(self.boxes, np.zeros_like(self.nu), self.mu, nothing).value
        self.nu[~(parents <= plain)] = 0.0
        self.first = np.fmin(parents, plain)

    def run(self) -> tuple[Floats, Floats, Floats]:
        size = float(np.log(len(self.program.log_uniform)))
        most = FIRST_SMOOTHING * (min(self.target, size) if 0.0 < self.target < np.inf else size)
        smoothing = np.full(len(self.nu), most)
        if np.isfinite(self.target):
            smoothing = np.clip(NEAR * self._above(self.first), self.tolerance, most)
        active = np.arange(len(self.nu))
        while len(active) and not self.late:
            self._smoothed(active, smoothing)
            active = active[self.best[active] >= self.target]
            look = self.program.look(self.boxes.some(active), self.nu[active], self.mu[active], np.zeros(len(active)))
            self._keep(active, look.value)
            far = self.hopeless[active] & (smoothing[active] < CLOSE * self._above(self.best[active]))
            smoothing *= FALL
            active = active[(self.best[active] >= self.target) & ~far & (smoothing[active] > 0.1 * self.tolerance)]
        outputs = self.nu.shape[1] * self.nu.shape[2]
        return self.best_nu.reshape(-1, outputs), self.best_mu, self.p

    def _is_late(self, boxes: int) -> bool:
        """True once the clock has expired; it is looked at after so much work."""
        self._worked += boxes * self.program.numbers
        if self._worked > AT_ONCE:
            self.late, self._worked = self.clock is not None and self.clock.expired, 0
        return self.late

    def _above(self, value: Floats) -> Floats:
        """By how much bounds are above the target, where there is one."""
        return value - self.target if np.isfinite(self.target) else np.zeros_like(value)

    def _keep(self, which: NDArray[np.int64], value: Floats) -> None:
        better = value < self.best[which]
        which = which[better]
        self.best[which], self.best_nu[which], self.best_mu[which] = value[better], self.nu[which], self.mu[which]

    def _smoothed(self, todo: NDArray[np.int64], smoothing: Floats) -> None:
        """Newton's method at one smoothing; what falls below the target is kept as it is: smoothed bounds are bounds."""
        program = self.program
        look = program.look(self.boxes.some(todo), self.nu[todo], self.mu[todo], smoothing[todo])
        for _ in range(STEPS):
            self.p[todo] = look.p
            try:
                step, gain = program.step(self.boxes.some(todo), look, self.mu[todo], smoothing[todo])
            except np.linalg.LinAlgError:
                return
            above, own = self._above(look.value), smoothing[todo]
            open_ = (above + 1.5 * gain > own * len(program.boxed)) & (-gain < SURE * above)
            self.hopeless[todo[open_]] = True
            go = (-gain >= CONVERGED * own) & ~(open_ & (own < CLOSE * above))
            todo, look = self._moved(todo[go], look.value[go], step[go], gain[go], own[go])
            if not len(todo) or self._is_late(len(todo)):
                break

    def _moved(
        self, todo: NDArray[np.int64], value: Floats, step: Floats, gain: Floats, smoothing: Floats
    ) -> tuple[NDArray[np.int64], _Look]:
        """Boxes that a step has led on, and how they look there; their multipliers are changed."""
        length, d_nu, d_mu = np.ones(len(todo)), step[:, :-1].reshape(-1, *self.nu.shape[1:]), step[:, -1]
        pending, nu, mu, boxes = np.arange(len(todo)), self.nu[todo], self.mu[todo], self.boxes.some(todo)
        moved, looks = np.zeros(len(todo), dtype=np.bool_), None
        for _ in range(HALVINGS):
            nu[pending] = self.nu[todo[pending]] + length[pending, None, None] * d_nu[pending]
            mu[pending] = np.clip(self.mu[todo[pending]] * np.exp(length[pending] * d_mu[pending]), LEAST_MU, MOST_MU)
            look = self.program.look(boxes.some(pending), nu[pending], mu[pending], smoothing[pending])
            if looks is None:
                looks = look
            else:
                for known, new in zip(looks, look, strict=True):
                    known[pending] = new
            left = look.value - self.program.barrier * smoothing[pending] * np.log(mu[pending] / self.mu[todo[pending]])
            good = left <= value[pending] + ENOUGH * length[pending] * gain[pending]
            moved[pending[good]] = True
            pending = pending[~good]
            if not len(pending):
                break
            length[pending] *= SHORTER
        assert looks is not None
        self.nu[todo[moved]], self.mu[todo[moved]] = nu[moved], mu[moved]
        closed = moved & (looks.value < self.target)
        self._keep(todo[closed], looks.value[closed])
        on = np.flatnonzero(moved & ~closed)
        return todo[on], looks.some(on)
