"""Problem 1 from below: joint Blahut-Arimoto from many starts: a posterior step and a joint step, both maximisations.

I(A;Y) = max over posteriors phi(a|y) of sum u log phi + H(pi). For fixed phi the best prior with H(p) >= b is the closed form of
`dalenius.information.tilt`; for a fixed prior the best phi is the posterior u/r. So I never falls, and every iterate that meets the
entropy bound is a witness: a lower bound on the leakage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
from dalenius.information.tilt import EMPTY, entropy_of, largest_score, newton_masses, tilt
from dalenius.reduction import RecordChannel
from dalenius.search.clock import Clock

FLOOR = 1e-280
FINEST = 1e-9  # of the leakage: ten steps that gain less gain nothing
WORK = 3e7  # multiply-adds a step that a batch of starts may cost
PRICED, PRICED_STEPS = 24, 200  # starts at most, and steps, without an entropy bound
LOOSE = 1e-2  # of an entropy bound, relative to log |X|, is left by the first steps: they only tell starts apart
LITTLE = 1e-4  # of a leakage is gained by ten steps, or of the bound left, where it is seen if a start is worth more
SAME = 1e-3  # sum of what two laws differ by that are one
NEWTON = 8  # steps at most
LARGE = 64  # masses that a Newton step may move
NUMBERS = 8 * 10  # bytes that a start takes for a letter with a class or an output


@dataclass(frozen=True)
class Candidate:
    """Masses p(a,k) on one record channel, their leakage in nats, and the multiplier of the entropy bound there."""

    p: Floats
    leakage: float
    mu: float


def posterior(p: Floats, rows: Floats) -> Floats:
    """phi(a|y) (..., letters, outputs) of masses p (..., letters, classes); uniform where an output has no mass."""
    u = p @ rows
    r = u.sum(axis=-2, keepdims=True)
    return np.where(r > 0.0, u / np.where(r > 0.0, r, 1.0), 1.0 / p.shape[-2])


def search(
    channel: RecordChannel,
    *,
    rng: np.random.Generator,
    clock: Clock,
    starts: int = 48,
    stall: float = 1e-13,
    room: float = math.inf,
    warm: Sequence[Floats] = (),
) -> Candidate:
    """The best witness that joint Blahut-Arimoto finds; once the clock was stopped none but the uniform prior is looked at.

    Parameters
    ----------
    starts : int
        How many starting posteriors (fewer on large channels).
    room : float
        Bytes that they may take together.
    stall : float
        A start stops when ten steps gain less than this, in nats.
    warm : sequence of (letters, classes)
        Priors that another search has found: where there are some, their posteriors are the starts.
    """
    if clock.interrupted:
        return Candidate(channel.uniform, channel.told_by_uniform, 0.0)
    size, start = channel.log_uniform.size * channel.rows.shape[1], channel.letters * sum(channel.rows.shape)
    count = int(np.clip(min(WORK / size, room / (NUMBERS * start)), 1, starts))
    phi = np.array([posterior(p, channel.rows) for p in warm]) if warm else _starts(channel, count, rng)
    stages = ((1, 30), (1, 4000)) if warm else ((max(4, count // 4), 30), (2, 200), (1, 4000))
    return _in_stages(channel, phi, stages, clock, stall=stall, loose=LOOSE)[0]


def local_maxima(
    channel: RecordChannel,
    *,
    rng: np.random.Generator,
    clock: Clock,
    warm: Sequence[Floats] = (),
    keep: int = 3,
    starts: int = 24,
    finest: float = FINEST,
) -> list[Candidate]:
    """Several witnesses that differ, the best first: limits of joint Blahut-Arimoto from random starts and from given priors.

    Parameters
    ----------
    warm : sequence of (letters, classes)
        Priors whose posteriors are starts.
    keep : int
        At most so many are returned.
    finest : float
        They are limits up to this share of their leakage: ten steps that gain less are none.
    """
    size = channel.log_uniform.size * channel.rows.shape[1]
    count = int(np.clip(WORK / size, 1, starts))
    phi = np.concatenate([_starts(channel, count, rng), *(posterior(p, channel.rows)[None] for p in warm)])
    stages = (max(4 * keep, len(phi) // 3), 20), (2 * keep, 100), (keep, 2000)
    return _in_stages(channel, phi, stages, clock, finest=finest, loose=max(finest - FINEST, 0.0), differ=True)[:keep]


def _in_stages(
    channel: RecordChannel,
    phi: Floats,
    stages: Sequence[tuple[int, int]],
    clock: Clock,
    *,
    stall: float = math.inf,
    finest: float = FINEST,
    loose: float = 0.0,
    differ: bool = False,
) -> list[Candidate]:
    """Climb from these posteriors, the best first: each stage leaves so many of them, perhaps that differ, after so many steps."""
    p, mu = np.repeat(channel.uniform[None], len(phi), axis=0), np.full(len(phi), 0.1)
    for number, (most, steps) in enumerate(stages):
        if number:
            p, mu = _finish(channel, p, mu, clock, finest)
            phi = posterior(p, channel.rows)
        left = 0.0 if number and not differ else loose
        p, mu, leakage = _climb(channel, p, phi, mu, steps, stall, clock, finest, loose=left)
        best = np.argsort(-leakage)
        order = (distinct(p, best) if differ else best)[:most]
        p, mu, leakage = p[order], mu[order], leakage[order]
        if clock.expired:
            break
    return [Candidate(*found) for found in zip(p, leakage.tolist(), mu.tolist(), strict=True)]


def priced(
    channel: RecordChannel,
    mu: float,
    *,
    rng: np.random.Generator,
    clock: Clock,
    warm: Sequence[Floats] = (),
) -> float:
    """The largest I + mu (H(p) - b) in nats that joint Blahut-Arimoto finds, whatever entropy its priors have.

    No bound at b whose leaves all have the slope mu is less.

    Parameters
    ----------
    mu : float
        Positive.
    warm : sequence of (letters, classes)
        Priors whose posteriors are starts, besides random ones.
    """
    count = int(np.clip(WORK / (channel.log_uniform.size * channel.rows.shape[1]), 1, PRICED))
    phi = np.concatenate([_starts(channel, count, rng), *(posterior(p, channel.rows)[None] for p in warm)])
    p = np.repeat(channel.uniform[None], len(phi), axis=0)
    for _ in range(PRICED_STEPS):
        if clock.expired:
            break
        c = np.log(np.maximum(phi, FLOOR)) @ channel.rows.T
        p = tilt(c, channel.log_uniform, np.full(len(phi), mu)).p
        phi = posterior(p, channel.rows)
    value = mutual_information(p @ channel.rows) + mu * (entropy_of(p, channel.log_uniform) + channel.max_knowledge)
    return float(value.max())


def distinct(laws: Floats, order: NDArray[np.int64], most: float = math.inf) -> list[int]:
    """At most so many indices in this order, without those whose law is near that of an earlier one."""
    kept, flat = list[int](), laws.reshape(len(laws), -1)
    for j in order.tolist():
        if len(kept) < most and (np.abs(flat[kept] - flat[j]).sum(axis=1) > SAME).all():
            kept.append(j)
    return kept


def polish(channel: RecordChannel, p: Floats, best: Candidate, *, clock: Clock) -> Candidate:
    """The better one of a witness and what joint Blahut-Arimoto reaches from a prior, which need not be feasible."""
    phi, mu = posterior(p[None], channel.rows), np.array([max(best.mu, 1e-3)])
    found, mu, leakage = _climb(channel, channel.uniform[None], phi, mu, 50, LITTLE * best.leakage, clock, loose=LITTLE)
    if leakage[0] > 0.99 * best.leakage and not clock.expired:
        found, mu = _finish(channel, found, mu, clock)
        if np.abs(found[0] - best.p).sum() <= SAME and mutual_information(found[0] @ channel.rows) <= best.leakage:
            return best
        found, mu, leakage = _climb(channel, found, posterior(found, channel.rows), mu, 4000, 1e-13, clock)
    better = leakage[0] > best.leakage * (1.0 + 1e-12) and not clock.expired
    return Candidate(found[0], float(leakage[0]), float(mu[0])) if better else best


def carried(channel: RecordChannel, start: Candidate, max_knowledge: Floats, *, clock: Clock) -> list[Candidate]:
    """Witnesses for adversaries who may know at most so much each, from one for another of them: limits of joint Blahut-Arimoto.

    Parameters
    ----------
    start : Candidate
        Where all of them begin, mixed with the uniform prior as far as their entropy bounds ask.
    max_knowledge : (adversaries,)
        log |X| - b of each, in nats, positive.
    """
    mixed = (feasible(start.p, channel.log_uniform, most, slack=0.0) for most in max_knowledge.tolist())
    p = np.array([channel.uniform if found is None else found for found in mixed])
    phi, mu = posterior(p, channel.rows), np.full(len(p), max(start.mu, 1e-3))
    found = _climb(channel, p, phi, mu, 4000, math.inf, clock, bound=-max_knowledge)
    return [Candidate(q, leakage, m) for q, m, leakage in zip(found[0], *(x.tolist() for x in found[1:]), strict=True)]


def _climb(
    channel: RecordChannel,
    p: Floats,
    phi: Floats,
    mu: Floats,
    steps: int,
    stall: float,
    clock: Clock,
    finest: float = FINEST,
    bound: Floats | None = None,
    loose: float = 0.0,
) -> tuple[Floats, Floats, Floats]:
    """Masses, multipliers and leakage after at most `steps` double steps from the posteriors `phi`, and at the worst still `p`.

    `bound` are the starts' own entropy bounds, less log |X|, where they are not the channel's; of which a share may be left where
    steps are `loose`.
    """
    begun, leakage = p, None
    least = -channel.max_knowledge if bound is None else bound
    for step in range(steps):
        c = np.log(np.maximum(phi, FLOOR)) @ channel.rows.T
        new_p, new_mu = largest_score(c, channel.log_uniform, least, mu, clock, loose=loose)
        if clock.expired:  # the multipliers may not have converged: keep what leaks more
            new, old = mutual_information(new_p @ channel.rows), mutual_information(p @ channel.rows)
            better = new > old
            return np.where(better[:, None, None], new_p, p), np.where(better, new_mu, mu), np.where(better, new, old)
        p, mu = new_p, new_mu
        if step % 10 == 9:
            gained = mutual_information(p @ channel.rows)
            leakage = mutual_information(begun @ channel.rows) if leakage is None else leakage
            if np.all(gained - leakage <= np.minimum(stall, finest * gained)):
                break
            leakage = gained
        phi = posterior(p, channel.rows)
    return p, mu, mutual_information(p @ channel.rows)


def _finish(
    channel: RecordChannel, p: Floats, mu: Floats, clock: Clock, finest: float = FINEST
) -> tuple[Floats, Floats]:
    """Masses and multipliers after Newton steps, each followed by a double step, where they leak no less than a double step alone.

    None on large channels, where the ascent arrives before.
    """
    leakage = mutual_information(p @ channel.rows)
    for _ in range(NEWTON):
        if np.any(mu <= 0.0) or np.count_nonzero((p > EMPTY).any(axis=0)) > LARGE:
            break
        try:
            q = newton_masses(p, channel.rows, channel.log_uniform, mu, -channel.max_knowledge)
        except np.linalg.LinAlgError:
            break
        c = np.log(np.maximum(posterior(np.concatenate([q, p]), channel.rows), FLOOR)) @ channel.rows.T
        q, m = largest_score(c, channel.log_uniform, -channel.max_knowledge, np.tile(mu, 2), clock)
        if clock.expired:
            break
        found = mutual_information(q @ channel.rows).reshape(2, -1)
        best = found.argmax(axis=0), np.arange(mu.size)
        p, mu, gained = q.reshape(2, *p.shape)[best], m.reshape(2, -1)[best], found[best]
        if np.all(gained - leakage <= finest * gained):
            break
        leakage = gained
    return p, mu


def _starts(channel: RecordChannel, count: int, rng: np.random.Generator) -> Floats:
    """Random posteriors, random deterministic ones, and thresholds on the output's index; mixed with a little uniform."""
    letters, outputs = channel.letters, channel.rows.shape[1]
    phi = rng.dirichlet(np.full(letters, 0.4), size=(count, outputs)).swapaxes(-1, -2)
    for j in range(count):
        if j % 3 == 1:
            phi[j] = _sure(rng.integers(letters, size=outputs), letters)
        elif j % 3 == 2:
            cuts = np.sort(rng.integers(outputs + 1, size=letters - 1))
            phi[j] = _sure(rng.permutation(letters)[np.searchsorted(cuts, np.arange(outputs), side="right")], letters)
    return 0.97 * phi + 0.03 / letters


def _sure(letter: ArrayLike, letters: int) -> Floats:
    """The posterior (letters, outputs) that is certain of one letter at each output."""
    return np.equal.outer(np.arange(letters), letter).astype(float)


def feasible(p: Floats, log_uniform: Floats, max_knowledge: float, *, slack: float) -> Floats | None:
    """`p` (letters, classes) mixed with just enough of the uniform prior that H(p) >= b + slack; None if only uniform is left.

    *Feasible because* entropy is concave: H((1-t) p + t u) >= (1-t) H(p) + t log |X|.
    """
    p = p / p.sum()
    room = -float(entropy_of(p, log_uniform))
    missing = room + slack - max_knowledge
    if missing <= 0.0:
        return p
    if missing >= room:
        return None
    share = missing / room
    return (1.0 - share) * p + share * np.exp(log_uniform)
