"""The one closed form behind every bound of Problem 1: a linear score plus entropies, maximised over adversaries.

For scores c(a,k), multiplicities N(a,k) and a multiplier mu > 0,

    max over p of  <c,p> + H(pi) + mu H(p),     H(p) = -sum p log p + sum p log N,  pi_a = sum_k p(a,k)

is attained at w_a(k) ~ N(a,k) exp(c(a,k)/mu), pi_a ~ exp(G_a/(1+mu)), G_a = mu log sum_k N(a,k) exp(c(a,k)/mu),
and equals (1+mu) log sum_a exp(G_a/(1+mu)). All entropies here are taken relative to the uniform prior, H(p) - log |X|: N is
replaced by N / |X|, the bound b by minus the max_knowledge, and nothing of the size of log |X| is ever subtracted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalenius.information.arrays import Floats
from dalenius.information.deadline import Deadline
from dalenius.information.entropies import x_log_x

SLACK = 1e-9  # below this multiplier the entropy bound counts as slack; for small scores, below this share of what they differ by
SMALL = 1e-3
MOST_MU = 1e9
QUICK = 2  # steps of Newton's method after which it is asked whether the entropy bound is slack


class Tilt(NamedTuple):
    """The maximiser and the value, with the batch last: so numpy's operations take the least time where the other axes are short."""

    joint: Floats  # masses (letters, classes, batch)
    pi: Floats  # (letters, batch)
    surprise: Floats  # log(N/p) (letters, classes, batch)
    value: Floats  # (batch,)

    @property
    def p(self) -> Floats:
        """Masses (batch, letters, classes)."""
        return np.ascontiguousarray(self.joint.transpose(2, 0, 1))

    @property
    def entropy(self) -> Floats:
        """H(p) - log |X| in nats, at most 0."""
        return np.add.reduce(self.joint * self.surprise, axis=(0, 1))

    def slope(self, mu: Floats, entropy: Floats) -> Floats:
        """mu dH/dmu: the variance of the surprise within letters, and mu / (1 + mu) times the one between them."""
        weighed = self.joint * self.surprise
        share = np.add.reduce(weighed, axis=1)
        weighed *= self.surprise
        between = np.add.reduce(share * share / np.maximum(self.pi, TINY), axis=0)
        within = np.add.reduce(weighed, axis=(0, 1)) - between
        return within + mu / (1.0 + mu) * (between - entropy * entropy)


def tilt(c: Floats, log_uniform: Floats, mu: Floats, *, pi: Floats | None = None) -> Tilt:
    """The closed form above, for `c` (batch, letters, classes) and `mu` (batch,).

    For a given letter law `pi` (letters,) the maximum is sum_a pi_a G_a + (1+mu) H(pi), attained at pi_a w_a.

    >>> one = tilt(np.zeros((1, 2, 2)), np.log(np.full((2, 2), 0.25)), np.ones(1), pi=np.array([0.5, 0.5]))
    >>> one.p.tolist(), bool(abs(one.value[0] - np.log(2.0)) < 1e-12)
    ([[[0.25, 0.25], [0.25, 0.25]]], True)
    """
    return _tilt(_batch_last(c), log_uniform[..., None], mu, pi=pi)


def _batch_last(c: Floats) -> Floats:
    return np.ascontiguousarray(c.transpose(1, 2, 0))


def _tilt(c: Floats, log_uniform: Floats, mu: Floats, shift: Floats | None = None, *, pi: Floats | None = None) -> Tilt:
    """The same with the batch last.

    `shift` (letters, batch) is added to a letter's scores, without the rounding that it would cost them where they are divided by mu.
    """
    scaled = c / mu
    joint = log_uniform + scaled
    top = np.maximum.reduce(joint, axis=1)
    joint -= top[:, None]
    np.exp(joint, out=joint)
    weight = np.add.reduce(joint, axis=1)
    total, more = np.log(weight) + top, 1.0 + mu
    if pi is None:
        score = mu * total if shift is None else mu * total + shift
        score /= more
        top = np.maximum.reduce(score, axis=0)
        score -= top
        pi = np.exp(score)
        norm = np.add.reduce(pi, axis=0)
        pi /= norm
        logs = np.log(norm)
        log_pi, value = score - logs, more * (logs + top)
    else:
        pi = pi[:, None]
        log_pi = np.log(np.where(pi > 0.0, pi, 1.0))
        value = mu * np.sum(pi * total, axis=0) - more * np.sum(x_log_x(pi))
    joint *= (pi / weight)[:, None]
    return Tilt(joint, pi, (total - log_pi)[:, None] - scaled, value)


def entropy_of(p: Floats, log_uniform: Floats) -> Floats:
    """H(p) - log |X| of masses on (letter, class), in nats: minus the relative entropy to the uniform prior."""
    spread = np.sum(p * np.where(np.isfinite(log_uniform), log_uniform, 0.0), axis=(-2, -1))
    return spread - np.sum(x_log_x(p), axis=(-2, -1))


def largest_score(
    c: Floats, log_uniform: Floats, bound: Floats | float, mu: Floats, clock: Deadline, *, loose: float = 0.0
) -> tuple[Floats, Floats]:
    """Maximise <c,p> + H(pi) subject to H(p) - log |X| >= bound (batch,): masses and the multiplier (0 where the bound is slack).

    Safeguarded Newton on log mu for the entropy at mu, which grows with mu; started at `mu` (batch,). Where it is `loose`, such a
    share of the bound may be left of the entropy. When the clock expires, a feasible point is returned all the same.
    """
    c, log_uniform = _batch_last(c), log_uniform[..., None]
    # the most that the scores of two classes of one letter differ by (batch,)
    exists = np.isfinite(log_uniform)
    whole = _all(exists)
    most = np.maximum.reduce(c if whole else np.where(exists, c, -np.inf), axis=1)
    differences = np.maximum.reduce(
        most - np.minimum.reduce(c if whole else np.where(exists, c, np.inf), axis=1), axis=0
    )
    small = differences < SMALL
    shift: Floats | None = None
    if not _all(~small):
        shift = np.where(small, most, 0.0)
        c = c - shift[:, None]
    least = SLACK * np.minimum(np.maximum(differences / SMALL, 1e-30), 1.0)
    low = np.log(least)
    high = np.maximum(low, math.log(MOST_MU))
    now = np.minimum(np.maximum(mu, least), MOST_MU)
    t = np.log(now)
    room = np.abs(bound)
    near = 1e-13 * (1.0 + room) + loose * room
    aim = np.minimum(bound + 0.5 * near, -TINY)
    is_slack = done = high < low
    slack: Tilt | None = None  # at the least multipliers: looked at where Newton's method does not end at once
    for number in range(80):
        point = _tilt(c, log_uniform, now, shift)
        if clock.expired:
            break
        entropy = point.entropy
        excess = entropy - bound
        enough = excess >= 0
        met = enough & (excess <= near)
        if slack is None and _all(met):  # half of all calls end here, at once
            return point.p, now
        low, high = np.where(enough, low, t), np.where(enough, t, high)
        done = done | met | (high - low < 1e-13)
        if _all(done):
            break
        if number == QUICK:
            slack = _tilt(c, log_uniform, least, shift)
            is_slack = slack.entropy >= bound
            done = done | is_slack
        missing = entropy * np.log(np.minimum(entropy, -TINY) / aim)
        step = t - missing / np.maximum(point.slope(now, entropy), 1e-300)
        inside = (step > low) & (step < high)
        if not _all(inside):
            step = np.where(inside, step, 0.5 * (low + high))
        t = np.where(done, t, step)  # what has converged stays while the others of the batch go on
        now = np.exp(t)
    now = np.exp(high)
    if not _all(t == high):
        point = _tilt(c, log_uniform, now, shift)
    if slack is None:
        return point.p, now
    return np.where(is_slack[:, None, None], slack.p, point.p), np.where(is_slack, 0.0, now)


def _all(which: NDArray[np.bool_]) -> bool:
    """As numpy's `all`, in a tenth of the time where there are few."""
    return 0 not in which.tobytes()


# Newton's step for the leakage under an entropy bound, on the masses that are not 0: quadratic where alternating steps are linear.


EMPTY = 1e-14  # a mass of less stays as it is
TINY = 1e-280
MOST = 10.0  # times more or less is what a step makes of a mass


def newton_masses(p: Floats, rows: Floats, log_uniform: Floats, mu: Floats, bound: float) -> Floats:
    r"""Stationary point of I(p) + mu (H(p) - bound) + lambda (sum p - 1) to second order, as positive masses of sum 1.

    In e = dp / sqrt(p) the entropy has the Hessian -1, and with S = diag(sqrt(p)) the Newton-KKT equations of the multipliers are

        [ S I''(p) S - mu   S 1   S H' ] [    e   ]   [ -S (I' + mu H') ]
        [     1' S           0     0   ] [ lambda ] = [        0        ]
        [     H'' S          0     0   ] [  d mu  ]   [   bound - H(p)  ]

    Nothing says that the step gains, or that the masses have the entropy: callers restore it and compare.

    Parameters
    ----------
    p : (batch, letters, classes)
        Masses of sum 1.
    rows : (classes, outputs)
    log_uniform : (letters, classes)
        log(N(a,k) / |X|).
    mu : (batch,)
        Multipliers of the entropy bound, positive.
    bound : float
        Of the entropy less log |X|, in nats.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the equations are singular.

    >>> rows, uniform = np.array([[0.9, 0.1], [0.1, 0.9]]), np.log(np.full((2, 2), 0.25))
    >>> p = np.array([[[0.4, 0.1], [0.1, 0.4]]])  # the optimum at its own entropy, with its multiplier, stays
    >>> bound, mu = np.log(0.5 / 2.0) - 2.0 * (0.4 * np.log(0.4) + 0.1 * np.log(0.1)), 0.8 * np.log(0.74 / 0.26) / np.log(4.0)
    >>> newton_masses(p, rows, uniform, np.array([mu]), bound).round(9).tolist()
    [[[0.4, 0.1], [0.1, 0.4]]]
    """
    count = p.shape[0]
    letter, kind = np.nonzero((p > EMPTY).any(axis=0))
    mass = np.maximum(p[:, letter, kind], TINY)
    s, n, R = np.sqrt(mass), letter.size, rows[kind]
    u = p @ rows
    r, pi = np.maximum(u.sum(axis=1), TINY), np.maximum(p.sum(axis=-1), TINY)
    u = np.maximum(u, TINY)
    scaled = s[..., None] * R
    together = letter[:, None] == letter
    share = s / pi[:, letter]
    same = (scaled / u[:, letter]) @ scaled.swapaxes(-1, -2) - share[..., :, None] * s[..., None, :]
    system = np.zeros((count, n + 2, n + 2))
    system[:, :n, :n] = together * same - (scaled / r[:, None]) @ scaled.swapaxes(-1, -2)
    system[:, range(n), range(n)] -= mu[:, None]
    slope = log_uniform[letter, kind] - np.log(mass)
    system[:, n, :n] = system[:, :n, n] = s
    system[:, n + 1, :n] = system[:, :n, n + 1] = s * slope
    gain = np.sum(R * np.log(u / r[:, None])[:, letter], axis=-1) - np.log(pi)[:, letter]
    entropy = np.sum(mass * log_uniform[letter, kind] - x_log_x(mass), axis=-1)
    right = np.concatenate(
        [-s * (gain + mu[:, None] * slope), np.zeros((count, 1)), (bound - entropy)[:, None]], axis=1
    )
    e = np.linalg.solve(system, right[..., None])[:, :n, 0]
    found = p.copy()
    found[:, letter, kind] = np.clip(mass + s * np.nan_to_num(e), mass / MOST, MOST * mass)
    return found / found.sum(axis=(1, 2), keepdims=True)
