"""The conditional block: the best conditional laws of all letters at once, for a given letter law, from below and from above.

With the letter law pi given, I(A; Y) is convex in all conditionals together, and the entropy bound is about all of them. From below:
the best choice of one class a letter, and convex-concave steps from wherever a bound is largest. From above the trees of audits, with
the letter law given (`dalenius.audits.bounds`): boxes of the posterior, and boxes of all K_a with the dual bound, for any output law r
and mu >= 0, *bound because* sum_a pi_a D(K_a || r) is at least I, with equality at the conditionals' own output law, and what is added
is not negative:

    I <= sum_a pi_a psi_a + mu (H(pi) - b),    psi_a = max over w of D(wR || r) + mu H(w),
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dalenius.audits.ascent import Candidate
from dalenius.audits.bounds.dual_node import Aim
from dalenius.audits.bounds.dual_tree import DualTree
from dalenius.audits.bounds.dual_work import DualWork, Goal, Turn
from dalenius.audits.bounds.posteriors import PosteriorRelaxation, PosteriorTree
from dalenius.information import mutual_information, x_log_x
from dalenius.information.arrays import Floats
from dalenius.reduction import RecordChannel, RecordSymmetries
from dalenius.search import Clock
from dalenius.search.tree import Race, Runner

DECIMALS = 12  # of the tree's multipliers
LEAST = 1e-3  # the multiplier of the entropy bound that a tree begins with, at least
SELECTIONS = 2**20  # entries of a table of all choices of one class a letter
FAIR = 0.6  # each tree gets at least this share of the time that the better one had
ROUNDING = 1e-12  # times 1 + the bound: what doubles may lose of it


@dataclass(frozen=True)
class Bounded:
    """The best prior with this letter law that was found, and a bound for all of them in nats."""

    p: Floats
    value: float
    upper: float


def bounded(
    channel: RecordChannel,
    p: Floats,
    multiplier: float,
    improve: Callable[[Floats], Floats],
    *,
    gap: float,
    enough: float,
    leaves: int,
    clock: Clock,
) -> Bounded:
    """Improve on a prior, its letter law kept, until the interval is `gap` wide, a prior attains `enough`, or a limit is met.

    Parameters
    ----------
    p : (letters, classes)
        Masses with enough entropy.
    multiplier : float
        Of the entropy bound, near p: where the tree begins.
    improve : callable
        Takes masses with this letter law to masses that have enough entropy, too, and tell more where it finds a way.
    gap : float
        Relative, of I.
    leaves : int
        Row leaves that the tree may have.
    """
    pi = p.sum(axis=1)
    found = _Best(channel, p, float(mutual_information(p @ channel.rows)), improve)
    found.offer(p)
    selection, upper = best_selection(channel, pi)
    if selection is not None:
        found.offer(selection)
    if found.value >= enough or upper <= found.value * (1.0 + gap) or clock.expired:
        return found.bounded(upper)
    candidate = Candidate(p, found.value, max(multiplier, LEAST))
    symmetries = RecordSymmetries.none(channel)  # what exchanges letters does not leave their law as it is
    goal = Goal(tolerance=0.0, enough=np.inf, useless=-np.inf, decimals=DECIMALS)
    work = DualWork(channel, candidate, symmetries, goal, clock=clock)
    work.run(Turn(may_grow=lambda trees, least: False, clock=clock))
    target = found.value * (1.0 + gap)
    relaxation = PosteriorRelaxation(channel, decimals=DECIMALS, pi=pi)
    runners: list[Runner] = [
        DualTree(Aim(channel, target, gap * found.value, DECIMALS, most=leaves, pi=pi), work.bound)
    ]
    if relaxation.improves:
        runners.append(PosteriorTree(relaxation, multiplier, target=target))
    race, searched = Race(runners, fair=[FAIR] * len(runners)), dict[str, int]()
    while min(runner.upper for runner in runners) > target and found.value < enough and not clock.expired:
        runner = race.turn(clock, target, lambda tree: tree.leaves < leaves)
        if runner is None:
            break
        if runner.point is not None and runner.leaves > 2 * searched.get(runner.name, 0):
            searched[runner.name] = runner.leaves
            found.offer(runner.point)
            target = max(target, found.value * (1.0 + gap))
    return found.bounded(min(upper, *(runner.upper for runner in runners)))


def best_selection(channel: RecordChannel, pi: Floats) -> tuple[Floats | None, float]:
    """The best choice of one class a letter for this letter law, and what it tells: a bound, as I is convex; (None, inf) if too many.

    The choice may have too little entropy. Letters without mass keep the classes of the uniform prior.

    >>> import dalenius as dl
    >>> from dalenius.reduction import record_channels
    >>> channel = record_channels(dl.load("parity/laplace-n4"))[0]
    >>> best, upper = best_selection(channel, np.array([0.5, 0.5]))
    >>> best.sum(axis=1).tolist(), round(upper, 4)
    ([0.5, 0.5], 0.0795)
    """
    exists = np.isfinite(channel.log_uniform)
    letters = np.flatnonzero(pi > 0.0)
    size = float(np.prod([np.count_nonzero(exists[a]) for a in letters], dtype=float)) * channel.rows.shape[1]
    if size > SELECTIONS:
        return None, np.inf
    spent, outputs, chosen = np.zeros(1), np.zeros((1, channel.rows.shape[1])), np.zeros((1, 0), dtype=np.int64)
    for a in letters:  # all choices for the letters so far, with one more
        classes = np.flatnonzero(exists[a])
        rows = pi[a] * channel.rows[classes]
        spent = (spent[:, None] + pi[a] * np.sum(x_log_x(channel.rows[classes]), axis=1)).ravel()
        outputs = (outputs[:, None] + rows).reshape(-1, rows.shape[1])
        chosen = np.hstack([np.repeat(chosen, len(classes), axis=0), np.tile(classes, len(chosen))[:, None]])
    values = spent - np.sum(x_log_x(outputs), axis=1)
    best = int(np.argmax(values))
    p = np.zeros_like(channel.log_uniform)
    p[letters, chosen[best]] = pi[letters]
    return p, max(float(values[best]), 0.0)


@dataclass
class _Best:
    """The best prior so far."""

    channel: RecordChannel
    p: Floats
    value: float
    improve: Callable[[Floats], Floats]

    def offer(self, p: Floats) -> None:
        """Improve on a prior, and keep what comes if it is better."""
        better = self.improve(p)
        value = float(mutual_information(better @ self.channel.rows))
        if value > self.value:
            self.p, self.value = better, value

    def bounded(self, upper: float) -> Bounded:
        return Bounded(self.p, self.value, upper + ROUNDING * (1.0 + abs(upper)))
