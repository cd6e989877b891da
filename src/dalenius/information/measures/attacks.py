"""Gains of an attack from an output: by a gain function, by a test between two inputs; and information of an order."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from dalenius.errors import InputError
from dalenius.information.balls import rational
from dalenius.information.measures.dependence import mutual_information
from dalenius.information.measures.numbers import (
    Numbers,
    as_numbers,
    doubles,
    fitting,
    is_exact,
    largest,
    log,
    positive_part,
    power,
    quotient,
)
from dalenius.information.measures.privacy import pairwise_divergence


def sibson_information(channel: ArrayLike, prior: ArrayLike, order: Fraction | float) -> Numbers:
    """a/(a-1) log sum_y (sum_x P(x) W(x,y)^a)^(1/a) in nats, a > 0 the order; at order 1 the mutual information.

    It grows with the order, up to `maximal_leakage`, and never under post-processing.

    Notes
    -----
    Source: R. Sibson, "Information radius" (1969); S. Verdu, "Alpha-mutual information", ITA (2015).

    >>> [round(float(sibson_information(np.eye(2), [0.5, 0.5], a)), 9) for a in (0.5, 1, 2)]
    [0.693147181, 0.693147181, 0.693147181]
    """
    rows, masses = fitting(channel, prior)
    if order == 1:
        return mutual_information(rows, masses)
    a = _like(rows, masses, order)
    top = largest(rows, axis=0)
    means = (masses[:, None] * power(quotient(rows, top, empty=1), a)).sum(axis=0)
    return np.asarray(log(np.asarray((top * power(means, 1 / a)).sum())) * (a / (a - 1)))


def local_renyi_dp(channel: ArrayLike, order: Fraction | float) -> Numbers:
    """max over inputs x, x' of D_a(W_x || W_x') = 1/(a-1) log sum_y W(x,y)^a W(x',y)^(1-a) in nats; at order 1 the divergence.

    Notes
    -----
    Source: I. Mironov, "Renyi differential privacy", CSF (2017).

    >>> round(float(local_renyi_dp([[0.75, 0.25], [0.25, 0.75]], 2)), 9) == round(float(np.log(7 / 3)), 9)
    True
    """
    rows = as_numbers(channel)
    if order == 1:
        return pairwise_divergence(rows)
    a = _like(rows, rows, order)
    if order < 1:
        sums = np.stack([(power(row, a) * power(rows, 1 - a)).sum(axis=1) for row in rows])
        return largest(np.asarray(log(sums) / (a - 1)))
    return largest(np.stack([_divergences(row, rows, a - 1) for row in rows]))


def _divergences(row: Numbers, rows: Numbers, above: Any) -> Numbers:
    """log(sum_y W (W/W')^above) / above of one row W from each; ratios that are doubles by the largest, whose power none may hold."""
    ratios = quotient(row[None, :], rows, empty=1)
    top = np.ones_like(ratios[:, 0]) if is_exact(ratios) else largest(ratios, axis=1)
    top = top if is_exact(top) else np.where(np.isfinite(top), top, 1.0)
    sums = (row * power(np.asarray(ratios / top[:, None]), above)).sum(axis=1)
    return np.asarray(log(top) + log(sums) / above)


def true_positive_rate(channel: ArrayLike, level: Fraction | float) -> Numbers:
    """The largest power of a test between two inputs that is wrong about one of them with probability `level` at most.

    The best test calls outputs positive in the order of W(x,y)/W(x',y), the last one by chance. *Bound because* its own power is
    attained, and no power is above t level + sum_y (W(x,y) - t W(x',y))_+, whichever t.

    Notes
    -----
    Source: J. Neyman, E. S. Pearson (1933).

    >>> round(float(true_positive_rate([[0.75, 0.25], [0.25, 0.75]], 0.05)), 9)
    0.15
    """
    rows = as_numbers(channel)
    if level == 1:
        return np.asarray(rows[0].sum() * 0 + 1)
    limit = _like(rows, rows, level)
    return largest(np.array([_power(p, q, limit) for p in rows for q in rows], dtype=rows.dtype))


def _power(p: Numbers, q: Numbers, level: Any) -> Any:
    """Of one pair; of balls one around what a test attains and the bound."""
    near, far = (doubles(x) if is_exact(x) else x for x in (p, q))
    used = found = level * 0
    for at in np.argsort(far / np.maximum(near, 1e-300), kind="stable"):
        if not used + q[at] <= level:
            break
        used, found = used + q[at], found + p[at]
    else:
        return found
    if not is_exact(p):
        return found + (level - used) / q[at] * p[at]
    if not q[at] > 0:
        return arb(found).union(arb(1))
    slope, share = p[at] / q[at], (level - used) / q[at]
    bound = slope * level + positive_part(p - slope * q).sum()
    attained = found + (share if not isinstance(share, arb) else share.lower().min(arb(1))) * p[at]
    return attained if attained == bound else arb(attained).union(arb(bound))


def exp_g_leakage(channel: ArrayLike, prior: ArrayLike, gains: ArrayLike) -> Numbers:
    """e^L for `g_leakage`."""
    after, before = _gains(channel, prior, gains)
    return np.asarray(quotient(np.array([after]), np.array([before]), empty=1)[0])


def g_leakage(channel: ArrayLike, prior: ArrayLike, gains: ArrayLike) -> Numbers:
    """log of the best expected gain with the output over that without, sum_y max_w sum_x g(w,x) P(x) W(x,y) / max_w sum_x g(w,x) P(x).

    Parameters
    ----------
    gains : (guesses, inputs), at least 0
        g(w,x): what guess w is worth where the input is x. The identity asks for the input itself: `min_entropy_leakage`.

    Notes
    -----
    Of all gains and priors it is at most `maximal_leakage`. Source: M. Alvim, K. Chatzikokolakis, C. Palamidessi, G. Smith, "Measuring
    information leakage using generalized gain functions", CSF (2012).

    >>> round(float(np.exp(g_leakage([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], np.eye(2)))), 9)
    1.5
    """
    return log(exp_g_leakage(channel, prior, gains))


def g_advantage(channel: ArrayLike, prior: ArrayLike, gains: ArrayLike) -> Numbers:
    """The best expected gain with the output less that without: `bayes_advantage` for the identity. Gains may be negative.

    >>> round(float(g_advantage([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], np.eye(2))), 9)
    0.25
    """
    after, before = _gains(channel, prior, gains)
    return np.asarray(after - before)


def _gains(channel: ArrayLike, prior: ArrayLike, gains: ArrayLike) -> tuple[Any, Any]:
    """Best expected gains, with and without the output."""
    rows, masses = fitting(channel, prior)
    worth = as_numbers(gains)
    if worth.ndim != 2 or worth.shape[1] != len(masses):
        raise InputError(
            f"gains: expected a number for each of {len(masses)} inputs in every row, got shape {worth.shape}"
        )
    weighed = worth * masses
    with_output = largest((weighed[:, :, None] * rows).sum(axis=1), axis=0).sum()
    return with_output, largest(weighed.sum(axis=1)).item()


def _like(rows: Numbers, masses: Numbers, number: Fraction | float) -> Any:
    """A number of the kind that these arrays hold."""
    if not (is_exact(rows) or is_exact(masses)):
        return float(number)
    return rational(number)
