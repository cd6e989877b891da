"""The output law and the multiplier with which the dual bound is least, found before anything is branched.

U(r, beta) is convex in (-log r, beta). At local maxima w of a letter's row problem its convex part sum K log K is above its tangent at
wR, so that the closed forms of tangents are a model of U from below, exact where it was made; it is minimised by Newton's method with
smoothed maxima, in a region around the best point that shrinks where the model promised too much. Nothing valid depends on how well
this goes: any r and beta give a bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.audits.ascent import distinct
from dalenius.audits.bounds.output_groups import OutputGroups
from dalenius.audits.bounds.row_leaves import ChosenLaw, SmoothBound
from dalenius.audits.bounds.rows import climbed, row_starts
from dalenius.information import log_sum_exp
from dalenius.information.arrays import Floats
from dalenius.information.deadline import Deadline, need_time
from dalenius.reduction import RecordChannel

ROUNDS = 60
MOST_GROUPS = 32  # of outputs whose shares in their group stay as they are
MOST_TANGENTS, KEPT = 60, 40  # of a letter
MAXIMA = 4  # local ones that are kept in a round
VERTICES, CLIMB = 24, 60  # of which climbs begin near, as many as are worth it; steps
LEAST_BETA = 1e-6


@dataclass(frozen=True, eq=False)
class DualPoint:
    """-log r (outputs,), beta, the dual bound as far as local maxima show it, and these, (maxima, classes) for each letter."""

    lam: Floats
    beta: float
    value: float
    maxima: tuple[Floats, ...]


def best_point(
    channel: RecordChannel, p: Floats, beta: float, *, tolerance: float, clock: Deadline, until: Deadline | None = None
) -> DualPoint:
    """Nearly the best output law and multiplier, from those of a prior p (letters, classes).

    Parameters
    ----------
    tolerance : float
        Nats that the value may be away from the least one.
    clock : Deadline
        For all points but the first.
    until : Deadline, optional
        For every point.

    Raises
    ------
    TimeIsOverError
        If it expires before a point is known.
    """
    law = np.maximum(p.sum(axis=0) @ channel.rows, 1e-12)
    lam, beta = -np.log(law / law.sum()), max(beta, LEAST_BETA)
    model = _Model(channel, lam, p, until)
    best = _look(channel, lam, beta, p, model, until)
    radius, shift = 1.0, np.zeros(model.columns.shape[1])
    at = shift
    for _ in range(ROUNDS):
        if clock.expired:
            break
        temperature = max(0.3 * tolerance, 1e-3 * best.value)
        shift, beta, promised, inside = model.minimised(at, best.beta, temperature, radius)
        if best.value - promised <= tolerance and inside:
            break
        found = _look(channel, lam + model.spread(shift), beta, p, model, until)
        if found.value < best.value:
            radius, at = (
                min(1.0, 1.5 * radius) if best.value - found.value > 0.3 * (best.value - promised) else radius,
                shift,
            )
            best = found
        else:
            radius *= 0.4
            if radius < 1e-3:
                break
    return best


def _look(
    channel: RecordChannel, lam: Floats, beta: float, p: Floats, model: _Model, until: Deadline | None
) -> DualPoint:
    """Climb to local maxima at a point, and tell the model of them."""
    psi, maxima = np.empty(channel.letters), list[Floats]()
    for a in range(channel.letters):
        need_time(until)
        exists = np.flatnonzero(np.isfinite(channel.log_uniform[a]))
        some = exists[np.linspace(0, len(exists) - 1, min(len(exists), VERTICES)).astype(int)]
        starts = np.vstack([model.last[a], row_starts(p[a : a + 1], channel.log_uniform[a], some)])
        w, values = climbed(channel.rows, channel.log_uniform[a], lam, beta, starts, steps=CLIMB)
        kept = distinct(w, np.argsort(-values), MAXIMA)
        psi[a] = values[kept[0]] + 0.0
        maxima.append(w[kept])
    model.learn(maxima)
    norm = float(log_sum_exp(-lam))
    value = beta * float(log_sum_exp((psi + norm) / beta)) + beta * channel.granted
    return DualPoint(lam + norm, beta, value, tuple(maxima))


class _Model(SmoothBound):
    """Tangents at the maxima so far, and the bound from below that they make: a function of a shift of -log r, by groups, and beta."""

    def __init__(self, channel: RecordChannel, lam: Floats, p: Floats, until: Deadline | None) -> None:
        self._channel, self._fixed = channel, channel.rows @ lam
        self._member = _membership(channel, p, until)
        usual = np.exp(-lam - log_sum_exp(-lam)) @ self._member
        letters = channel.letters
        super().__init__(channel.rows @ self._member, usual, channel.granted, ChosenLaw(np.ones(letters)), letters)
        self.last = [np.empty((0, len(channel.rows))) for _ in range(letters)]

    def spread(self, shift: Floats) -> Floats:
        """A shift of groups as one of outputs."""
        return self._member @ shift

    def learn(self, maxima: list[Floats]) -> None:
        """Tangents at these laws, too."""
        self.last = maxima
        for a, w in enumerate(maxima):
            scores = (1.0 + np.log(np.maximum(w @ self._channel.rows, 1e-300))) @ self._channel.rows.T
            self.scores = np.vstack([self.scores, scores + self._fixed])
            self.group = np.append(self.group, np.full(len(w), a))
        self._settle()

    def _settle(self) -> None:
        """Set the masses and constants that all tangents of a letter share."""
        self.log_masses, self.constant = self._channel.log_uniform[self.group], np.full(len(self.group), -1.0)

    def minimised(
        self, shift: Floats, beta: float, temperature: float, radius: float
    ) -> tuple[Floats, float, float, bool]:
        """The best shift and beta nearby, the model's value there, and whether they are well inside the region."""
        low, high, least, most = shift - radius, shift + radius, beta * np.exp(-radius), beta * np.exp(radius)

        def near(at: Floats, beta: float, step: Floats) -> tuple[Floats, float]:
            moved = at + step[:-1]
            moved = np.clip(moved - moved @ self.usual + at @ self.usual, low, high)
            return moved, float(np.clip(beta + step[-1], least, most))

        shift, beta = self.descended(shift, beta, temperature, near, steps=30, shortest=1e-4, close=1e-3)
        inside = bool(np.all(shift > low) and np.all(shift < high) and least < beta < most)
        self._forget(shift, beta)
        return shift, beta, self.bound(shift, beta, 0.0), inside

    def _forget(self, shift: Floats, beta: float) -> None:
        """All but the highest tangents of a letter, where there are many."""
        values = self.values(shift, beta)[0]
        kept = np.ones(len(values), dtype=np.bool_)
        for a in range(self._channel.letters):
            mine = np.flatnonzero(self.group == a)
            if len(mine) > MOST_TANGENTS:
                kept[mine[np.argsort(-values[mine])[KEPT:]]] = False
        self.group, self.scores = self.group[kept], self.scores[kept]
        self._settle()


def _membership(channel: RecordChannel, p: Floats, until: Deadline | None) -> Floats:
    """Group of each output, (outputs, groups): each by itself where they are few."""
    outputs = channel.rows.shape[1]
    if outputs <= MOST_GROUPS:
        return np.eye(outputs)
    groups = OutputGroups.of(channel.rows, p, until)
    partition = groups.partition(MOST_GROUPS)
    member = np.zeros((outputs, len(partition)))
    for j, g in enumerate(partition):
        member[groups.outputs(g), j] = 1.0
    return member
