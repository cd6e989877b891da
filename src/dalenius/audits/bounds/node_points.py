"""Optimal points and multipliers of Problem 1's relaxation on boxes of the posterior, a batch of boxes at a time (docs/theory.md).

    maximise  f(p) = H(pi) + <c,p>   over p >= 0, sum p = 1,   low r <= u <= high r,   H(p) - log|X| >= -max_knowledge

(where the letter law is given, less a large multiple of the divergence from it; at a given multiplier m of the entropy bound without
that bound, but with m (H(p) - log|X| + max_knowledge))

by a primal-dual interior-point method with Mehrotra's predictor and corrector. It starts outside the box, since nothing is known
of it; where a box has no priors the multipliers grow until the bound is below any target. Only hints come from here: a bound is a
closed form in them, so that nothing valid depends on how well this went.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from dalenius.information.arrays import Floats
from dalenius.information.deadline import Deadline

ITERATIONS = 40
CLOSE = 0.05  # a box that stays open is solved to this share of what it is above the target
INSIDE = 1e-7  # constraints are met when they fail by no more
WIDER = 1e-9  # ranges are made this much wider at both ends, so that points have an interior
RIDGE = 1e-13  # what the diagonal of a Newton matrix gains, relatively
TO_THE_END = 0.995  # how much of the way to the end of the cone a step goes
PINNED, LEAST_MASS = 1e5, 1e-9  # how much a letter law that is given weighs, and a letter that it gives nothing
MOST_NUMBERS = 1 << 21  # in the largest array; more boxes are taken in parts
AT_ONCE = 3e8  # products of numbers between two looks at the clock: a tenth of a second at most


@dataclass(frozen=True)
class NodePoints:
    """Multipliers nu of the boxes (boxes, boxed letters * outputs), mu of the entropy bound (boxes, 1), masses p."""

    nu: Floats
    mu: Floats
    p: Floats


@dataclass
class _State:
    """Boxes at work: x = (p, rooms of the constraints) and its multipliers y, both positive; theta belongs to sum p = 1.

    The constraints' jacobian has a row for each end of a range, which is constant, and one for the entropy. `best` are the
    constraints' multipliers with the least upper bound `upper` so far.
    """

    box: NDArray[np.int64]
    c: Floats
    jacobian: Floats
    x: Floats
    y: Floats
    theta: Floats
    upper: Floats
    best: Floats


@dataclass
class _Residuals:
    """Residuals of boxes: letter masses, the Lagrangian's gradient, what the constraints and sum p = 1 lack, and f(p)."""

    pi: Floats
    gradient: Floats
    rooms: Floats
    total: Floats
    value: Floats


class NodeProgram:
    """The relaxation on any box of one channel's posterior; the unknowns are the masses of the pairs (letter, class) that exist.

    Parameters
    ----------
    pi : (letters,), optional
        The letter law, where the adversary does not choose it: PINNED times the divergence from it is taken off f.
    multiplier : float, optional
        That of the entropy bound, where it is given.
    """

    def __init__(
        self,
        rows: Floats,
        log_uniform: Floats,
        max_knowledge: float,
        boxed: list[int],
        pi: Floats | None = None,
        multiplier: float | None = None,
    ) -> None:
        self.exists, self.max_knowledge = np.isfinite(log_uniform), max_knowledge
        self.fixed = 0.0 if multiplier is None else multiplier
        spare = 0.0 if multiplier is None else 1.0 - float(log_uniform[self.exists].min())  # every prior meets it
        self.allowed = max_knowledge + spare
        letters, classes = np.nonzero(self.exists)
        self.size, self.constraints = len(letters), 2 * len(boxed) * rows.shape[1] + 1
        most = rows.max(axis=0)
        scaled = rows[classes].T / most[:, None]  # (outputs, pairs): rare outputs weigh as much as others
        self.most = np.tile(most, len(boxed))
        self.r = np.tile(scaled, (len(boxed), 1))
        self.u = ((letters == np.array(boxed)[:, None])[:, None, :] * scaled).reshape(self.r.shape)
        self.low_rank = self.size > max(32, 2 * (self.constraints + len(log_uniform)))
        present, self.letter = np.unique(letters, return_inverse=True)
        self.member = np.eye(len(present))[self.letter]  # (pairs, letters)
        self.log_masses = log_uniform[self.exists]
        self.start = 0.5 * np.exp(self.log_masses) + 0.5 / self.size
        self.pinned, self.pull = 0.0, np.zeros(self.size)
        if pi is not None:
            law = np.maximum(pi[present], LEAST_MASS)
            self.start *= (law / law.sum() / (self.start @ self.member))[self.letter]
            self.pinned, self.pull = PINNED, PINNED * np.log(law / law.sum())[self.letter]

    @cached_property
    def same(self) -> Floats:
        """True if two pairs have the same letter; (pairs, pairs), for few of them."""
        return self.member @ self.member.T

    def solve(
        self,
        scores: Floats,
        low: Floats,
        high: Floats,
        _: Floats,
        mu: Floats,
        *,
        target: float,
        tolerance: float,
        clock: Deadline | None = None,
    ) -> NodePoints:
        """Points for scores c (boxes, letters, classes), ranges (boxes, boxed letters * outputs), and guesses of mu (boxes,).

        Multipliers of the ranges that are known are of no use to it. Boxes below the target are left as they are; the others are
        solved to the tolerance, or less well if far above the target, and once the clock has expired as well as they are by then:
        any multipliers are valid.
        """
        p, y = np.zeros((len(low), self.size)), np.zeros((len(low), self.constraints))
        part = max(1, MOST_NUMBERS // (self.constraints * self.size))
        with np.errstate(all="ignore"):
            for first in range(0, len(low), part):
                some = slice(first, first + part)
                state = self._first(scores[some][:, self.exists] + self.pull, low[some], high[some], mu[some])
                self._run(state, p[some], y[some], target, tolerance, clock)
            p /= p.sum(axis=1, keepdims=True)
        masses = np.zeros((len(low), *self.exists.shape))
        masses[:, self.exists] = p
        at_low, at_high = y[:, : low.shape[1]], y[:, low.shape[1] : -1]
        return NodePoints((at_low - at_high) / self.most, y[:, -1:] + self.fixed, masses)

    def _first(self, c: Floats, low: Floats, high: Floats, mu: Floats) -> _State:
        boxes, ends = len(low), self.constraints // 2
        jacobian = np.empty((boxes, self.constraints, self.size))
        jacobian[:, :ends] = self.u - (low - WIDER)[:, :, None] * self.r
        jacobian[:, ends:-1] = (high + WIDER)[:, :, None] * self.r - self.u
        rooms = np.maximum(jacobian[:, :-1] @ self.start, 0.1)
        x = np.concatenate([np.tile(self.start, (boxes, 1)), rooms, np.full((boxes, 1), 0.1)], axis=1)
        y = 0.03 / x
        y[:, -1] = np.clip(mu, 1e-2, 1e2)
        nothing = np.full(boxes, np.inf)
        return _State(np.arange(boxes), c, jacobian, x, y, np.zeros(boxes), nothing, y[:, self.size :].copy())

    def _run(
        self, state: _State, p: Floats, y: Floats, target: float, tolerance: float, clock: Deadline | None
    ) -> None:
        """Iterate until every box is done, writing the last masses and the best multipliers."""
        worked = 0
        for _ in range(ITERATIONS):
            found = self._residuals(state)
            p[state.box], y[state.box] = state.x[:, : self.size], state.best
            going = ~_finished(state, found, target, tolerance)
            if not going.any():
                return
            worked += len(going) * self.constraints * self.size**2
            if worked > AT_ONCE:
                if clock is not None and clock.expired:
                    return
                worked = 0
            if not going.all():
                _keep(state, going)
                _keep(found, going)
            try:
                self._step(state, found)
            except np.linalg.LinAlgError:
                return

    def _residuals(self, state: _State) -> _Residuals:
        """Residuals of the boxes; keeps multipliers whose bound is the least so far (the Lagrangian is below its tangent at p)."""
        p, y = state.x[:, : self.size], state.y[:, self.size :]
        pi, surprise = p @ self.member, self.log_masses - np.log(p)
        log_pi = np.log(pi)
        state.jacobian[:, -1] = surprise - 1.0
        room = _apply(state.jacobian, p)
        entropy, spread = np.sum(p * surprise, axis=1), 1.0 + self.pinned
        room[:, -1] = entropy + self.allowed
        gradient = state.c - spread * (log_pi[:, self.letter] + 1.0) + _apply_back(state.jacobian, y)
        gradient += self.fixed * state.jacobian[:, -1]
        value = np.sum(p * state.c, axis=1) - spread * np.sum(pi * log_pi, axis=1)
        value += self.fixed * (entropy + self.max_knowledge)
        upper = value + np.sum(y * room, axis=1) - np.sum(gradient * p, axis=1) + gradient.max(axis=1)
        better = upper < state.upper
        state.upper = np.where(better, upper, state.upper)
        state.best = np.where(better[:, None], y, state.best)
        return _Residuals(pi, gradient, room - state.x[:, self.size :], 1.0 - p.sum(axis=1), value)

    def _step(self, state: _State, found: _Residuals) -> None:
        """A step of predictor and corrector."""
        system, product = self._system(state, found), state.x * state.y
        dx, dy, _ = self._direction(state, found, system, -product)
        length = np.minimum(1.0, _longest(state, dx, dy))[:, None]
        mean = product.mean(axis=1, keepdims=True)
        left = np.mean((state.x + length * dx) * (state.y + length * dy), axis=1, keepdims=True)
        centre = np.clip(left / mean, 0.0, 1.0) ** 3 * mean
        dx, dy, d_theta = self._direction(state, found, system, centre - product - length**2 * dx * dy)
        length = np.minimum(1.0, TO_THE_END * _longest(state, dx, dy))
        state.x = state.x + length[:, None] * dx
        state.y = state.y + length[:, None] * dy
        state.theta = state.theta + length * d_theta

    def _direction(
        self, state: _State, found: _Residuals, system: Callable[[Floats], Floats], wanted: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Changes of x, y and theta that change the products x y as wanted, and make up for what is lacking."""
        lack, ratio = wanted / state.x, state.y / state.x
        pull = lack[:, self.size :] - ratio[:, self.size :] * found.rooms
        right = found.gradient + state.y[:, : self.size] + state.theta[:, None]
        right += lack[:, : self.size] + _apply_back(state.jacobian, pull)
        solved = system(np.stack([right, np.ones_like(right)], axis=2))
        own, unit = solved[..., 0], solved[..., 1]
        d_theta = (found.total - own.sum(axis=1)) / unit.sum(axis=1)
        dp = own + d_theta[:, None] * unit
        dx = np.concatenate([dp, _apply(state.jacobian, dp) + found.rooms], axis=1)
        return dx, lack - ratio * dx, d_theta

    def _system(self, state: _State, found: _Residuals) -> Callable[[Floats], Floats]:
        """Solver of the Newton matrix, a diagonal + same letter / pi + jacobian' ratio jacobian."""
        ratio = state.y / state.x
        diagonal = ratio[:, : self.size] + (state.y[:, -1:] + self.fixed) / state.x[:, : self.size]
        if not self.low_rank:
            matrix = (1.0 + self.pinned) * self.same / found.pi[:, self.letter, None]
            matrix += state.jacobian.transpose(0, 2, 1) @ (ratio[:, self.size :, None] * state.jacobian)
            return partial(np.linalg.solve, _prepared(matrix, diagonal))
        letters = np.broadcast_to(self.member.T, (len(diagonal), *self.member.T.shape))
        factor = np.concatenate([state.jacobian, letters], axis=1)
        weight = np.concatenate([ratio[:, self.size :], (1.0 + self.pinned) / found.pi], axis=1)
        return _low_rank(diagonal, factor, weight)


def _low_rank(diagonal: Floats, factor: Floats, weight: Floats) -> Callable[[Floats], Floats]:
    """Solves with diagonal + factor' weight factor by Woodbury's formula, refined once since that cancels."""
    diagonal, weight, back = diagonal[..., None], weight[..., None], factor.transpose(0, 2, 1)
    over = back / diagonal
    small = _prepared(factor @ over, 1.0 / weight[..., 0])

    def once(right: Floats) -> Floats:
        first: Floats = right / diagonal
        return first - over @ np.linalg.solve(small, factor @ first)

    def solve(right: Floats) -> Floats:
        x = once(right)
        return x + once(right - diagonal * x - back @ (weight * (factor @ x)))

    return solve


def _finished(state: _State, found: _Residuals, target: float, tolerance: float) -> NDArray[np.bool_]:
    """Boxes that are below the target, solved well enough, or lost to rounding."""
    inside = (np.abs(found.rooms).max(axis=1) < INSIDE) & (np.abs(found.total) < INSIDE)
    above = found.value - target if np.isfinite(target) else np.zeros_like(found.value)
    close = state.upper - found.value <= np.maximum(tolerance, CLOSE * above)
    final = np.sum(state.x * state.y, axis=1) < 0.01 * tolerance  # what is left is rounding
    return (inside & (close | final)) | (state.upper < target - tolerance) | ~np.isfinite(found.gradient).all(axis=1)


def _keep(batch: _State | _Residuals, which: NDArray[np.bool_]) -> None:
    """Drop the other boxes from every array of a dataclass."""
    for field in fields(batch):
        setattr(batch, field.name, getattr(batch, field.name)[which])


def _apply(matrices: Floats, vectors: Floats) -> Floats:
    product: Floats = (matrices @ vectors[..., None])[..., 0]
    return product


def _apply_back(matrices: Floats, vectors: Floats) -> Floats:
    product: Floats = (vectors[:, None] @ matrices)[:, 0]
    return product


def _longest(state: _State, dx: Floats, dy: Floats) -> Floats:
    """Longest step of each box with x and y staying positive."""
    fastest = np.maximum(np.max(-dx / state.x, axis=1), np.max(-dy / state.y, axis=1))
    return 1.0 / np.maximum(fastest, 1e-300)


def _prepared(matrices: Floats, diagonal: Floats) -> Floats:
    """The matrices plus a diagonal and a ridge; the identity where that is not finite: a lost box must not stop the others."""
    where = np.arange(diagonal.shape[1])
    matrices[:, where, where] = (matrices[:, where, where] + diagonal) * (1.0 + RIDGE)
    fine: NDArray[np.bool_] = np.all(np.isfinite(matrices), axis=(1, 2))
    return matrices if fine.all() else np.where(fine[:, None, None], matrices, np.eye(diagonal.shape[1]))
