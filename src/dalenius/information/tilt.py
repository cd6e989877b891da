"""The one closed form behind every bound of Problem 1: a linear score plus entropies, maximised over adversaries.

For scores c(a,k), multiplicities N(a,k) and a multiplier mu > 0,

    max over p of  <c,p> + H(pi) + mu H(p),     H(p) = -sum p log p + sum p log N,  pi_a = sum_k p(a,k)

is attained at w_a(k) ~ N(a,k) exp(c(a,k)/mu), pi_a ~ exp(G_a/(1+mu)), G_a = mu log sum_k N(a,k) exp(c(a,k)/mu),
and equals (1+mu) log sum_a exp(G_a/(1+mu)). All entropies here are taken relative to the uniform prior, H(p) - log |X|: N is
replaced by N / |X|, the bound b by minus the max_knowledge, and nothing of the size of log |X| is ever subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.information.arrays import Floats
from dalenius.information.deadline import Deadline
from dalenius.information.entropies import x_log_x

SLACK = 1e-9  # below this multiplier the entropy bound counts as slack; for small scores, below this share of what they differ by
SMALL = 1e-3
HIGHEST = float(np.log(1e9))  # the largest multiplier, as a logarithm
QUICK = 2  # steps of Newton's method after which it is asked whether the entropy bound is slack


@dataclass(frozen=True)
class Tilt:
    """The maximiser: letter masses pi (..., letters), conditionals w (..., letters, classes), and the value; what moves it with mu."""

    pi: Floats
    w: Floats
    value: Floats
    surprise: Floats  # log(N/w) (..., letters, classes)
    log_pi: Floats

    @property
    def p(self) -> Floats:
        """Masses (..., letters, classes)."""
        return self.pi[..., None] * self.w

    def entropy(self, mu: Floats) -> tuple[Floats, Floats]:
        """H(p) - log |X| in nats, at most 0, and dH/dmu >= 0.

        The slope is the variance of the surprise log(N/p) within letters over mu, between letters over 1 + mu.
        """
        weighed = self.w * self.surprise
        mean = np.add.reduce(weighed, axis=-1)
        within = np.vecdot(self.pi, np.vecdot(weighed, self.surprise) - mean * mean)
        mean = mean - self.log_pi
        share = self.pi * mean
        entropy = np.add.reduce(share, axis=-1)
        between = np.vecdot(share, mean) - entropy * entropy
        return entropy, np.maximum(within, 0.0) / mu + np.maximum(between, 0.0) / (1.0 + mu)


def tilt(
    c: Floats, log_uniform: Floats, mu: Floats | float, shift: Floats | float = 0.0, *, pi: Floats | None = None
) -> Tilt:
    """The closed form above, for any leading batch axes of `c` (..., letters, classes) and `mu` (...).

    `shift` (..., letters) is added to a letter's scores, without the rounding that it would cost them where they are divided by mu.
    For a given letter law `pi` (letters,) the maximum is sum_a pi_a G_a + (1+mu) H(pi), attained at pi_a w_a.

    >>> one = tilt(np.zeros((2, 2)), np.log(np.full((2, 2), 0.25)), 1.0, pi=np.array([0.5, 0.5]))
    >>> one.p.tolist(), bool(abs(one.value - np.log(2.0)) < 1e-12)
    ([[0.25, 0.25], [0.25, 0.25]], True)
    """
    mu = np.asarray(mu, dtype=float)
    scaled = c / mu[..., None, None]
    total, w = _shares(log_uniform + scaled)
    if pi is None:
        more = 1.0 + mu[..., None]
        score = (mu[..., None] * total + shift) / more
        norm, pi = _shares(score)
        log_pi, value = score - norm[..., None], (1.0 + mu) * norm
    else:
        log_pi, value = np.log(np.where(pi > 0.0, pi, 1.0)), mu * (total @ pi) - (1.0 + mu) * np.sum(x_log_x(pi))
        pi = np.broadcast_to(pi, total.shape)
    return Tilt(pi, w, np.asarray(value), total[..., None] - scaled, log_pi)


def _shares(scores: Floats) -> tuple[Floats, Floats]:
    """log sum exp of scores, some of which may be -inf, and what each has of the sum."""
    top = np.maximum.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - top)
    total = np.add.reduce(weights, axis=-1, keepdims=True)
    return (np.log(total) + top)[..., 0], weights / total


def entropy_of(p: Floats, log_uniform: Floats) -> Floats:
    """H(p) - log |X| of masses on (letter, class), in nats: minus the relative entropy to the uniform prior."""
    spread = np.sum(p * np.where(np.isfinite(log_uniform), log_uniform, 0.0), axis=(-2, -1))
    return spread - np.sum(x_log_x(p), axis=(-2, -1))


def largest_score(
    c: Floats, log_uniform: Floats, bound: Floats | float, mu: Floats, clock: Deadline, *, loose: float = 0.0
) -> tuple[Floats, Floats]:
    """Maximise <c,p> + H(pi) subject to H(p) - log |X| >= bound (...): masses and the multiplier (0 where the bound is slack).

    Safeguarded Newton on log mu for the entropy at mu, which grows with mu; started at `mu` (...). Where it is `loose`, such a share
    of the bound may be left of the entropy. When the clock expires, a feasible point is returned all the same.
    """
    # the most that the scores of two classes of one letter differ by (...)
    exists = np.isfinite(log_uniform)
    most = np.where(exists, c, -np.inf).max(axis=-1)
    differences = (most - np.where(exists, c, np.inf).min(axis=-1)).max(axis=-1)
    small = differences < SMALL
    shift: Floats | float = 0.0
    if small.any():
        shift = np.where(small[..., None], most, 0.0)
        c = c - shift[..., None]
    least = SLACK * np.clip(differences / SMALL, 1e-30, 1.0)
    low, high = np.log(least), np.full(mu.shape, HIGHEST)
    t = np.clip(np.log(np.maximum(mu, least)), low, high)
    is_slack = done = np.zeros(mu.shape, dtype=np.bool_)
    near = 1e-13 * (1.0 + np.abs(bound)) + loose * np.abs(bound)
    aim = np.minimum(bound + 0.5 * near, -TINY)
    slack: Tilt | None = None  # at the least multipliers: looked at where Newton's method does not end at once
    for number in range(80):
        now = np.exp(t)
        point = tilt(c, log_uniform, now, shift)
        if clock.expired:
            break
        entropy, slope = point.entropy(now)
        excess = entropy - bound
        enough = excess >= 0
        low, high = np.where(enough, low, t), np.where(enough, t, high)
        done = done | (enough & (excess <= near)) | (high - low < 1e-13)
        if done.all():
            break
        if number == QUICK:
            slack = tilt(c, log_uniform, least, shift)
            is_slack = slack.entropy(least)[0] >= bound
            done = done | is_slack
        step = t - entropy * np.log(np.minimum(entropy, -TINY) / aim) / np.maximum(slope * now, 1e-300)
        step = np.where((step > low) & (step < high), step, 0.5 * (low + high))
        t = np.where(done, t, step)  # what has converged stays while the others of the batch go on
    if not (t == high).all():
        point = tilt(c, log_uniform, np.exp(high), shift)
    if slack is None:
        return point.p, np.exp(high)
    return np.where(is_slack[..., None, None], slack.p, point.p), np.where(is_slack, 0.0, np.exp(high))


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
