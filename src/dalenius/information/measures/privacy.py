"""Measures that need no prior: local differential privacy, its approximate form, and distances between rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalenius.information.measures.numbers import (
    Numbers,
    as_numbers,
    divergence,
    largest,
    least,
    log,
    positive_part,
    quotient,
)


def exp_local_dp(channel: ArrayLike) -> Numbers:
    """e^epsilon = max_{x,x',y} W(x,y) / W(x',y) for `local_dp`; infinite where an output is possible on some inputs only."""
    rows = as_numbers(channel)
    return largest(quotient(largest(rows, axis=0), least(rows, axis=0), empty=1))


def local_dp(channel: ArrayLike) -> Numbers:
    """The least epsilon for which W(x,y) <= e^epsilon W(x',y) for all inputs x, x' and outputs y, in nats.

    Notes
    -----
    Source: P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", JMLR 17 (2016).

    >>> round(float(local_dp([[0.75, 0.25], [0.25, 0.75]])), 12) == round(float(np.log(3.0)), 12)
    True
    """
    return log(exp_local_dp(channel))


def leakage_capacity(channel: ArrayLike) -> Numbers:
    """C = sup over all priors with full support of max_y l(y), l the pointwise maximal leakage, in nats.

    It is the same number as `local_dp`.

    No prior attains it, unless it is 0.

    Notes
    -----
    Source: S. Saeidian et al., "Inferential privacy: from impossibility to database privacy" (2023), Theorem 2.8.

    >>> float(leakage_capacity([[0.5, 0.5], [0.5, 0.5]]))
    0.0
    """
    return local_dp(channel)


def local_dp_delta(channel: ArrayLike, factor: Any) -> Numbers:
    """The least delta for which the channel is (epsilon, delta)-LDP, max_{x,x'} sum_y (W(x,y) - e^epsilon W(x',y))_+.

    Parameters
    ----------
    channel : (inputs, outputs), row-stochastic
    factor : e^epsilon, at least 0

    Returns
    -------
    A probability. It takes inputs^2 * outputs operations.

    >>> round(float(local_dp_delta([[0.75, 0.25], [0.25, 0.75]], 2.0)), 12)
    0.25
    """
    rows = as_numbers(channel)
    return largest(np.stack([largest(positive_part(row - factor * rows).sum(axis=1)) for row in rows]))


def pairwise_total_variation(channel: ArrayLike) -> Numbers:
    """max_{x,x'} of the total variation distance max_A W(x,A) - W(x',A), between 0 and 1: delta at epsilon = 0.

    >>> round(float(pairwise_total_variation([[0.75, 0.25], [0.25, 0.75]])), 12)
    0.5
    """
    return local_dp_delta(channel, 1)


def pairwise_divergence(channel: ArrayLike) -> Numbers:
    """max_{x,x'} D(W_x || W_x') in nats; between the Shannon capacity and epsilon tanh(epsilon/2).

    >>> round(float(pairwise_divergence([[0.75, 0.25], [0.25, 0.75]])), 9) == round(0.5 * float(np.log(3.0)), 9)
    True
    """
    rows = as_numbers(channel)
    return largest(np.stack([largest(divergence(row[None, :], rows)) for row in rows]))


def exp_differential_privacy(channel: ArrayLike, groups: ArrayLike) -> Numbers:
    """e^epsilon for `differential_privacy`."""
    rows = as_numbers(channel)
    return largest(np.stack([exp_local_dp(rows[group]) for group in np.asarray(groups, dtype=np.int64)]))


def differential_privacy(channel: ArrayLike, groups: ArrayLike) -> Numbers:
    """The least epsilon for which a mechanism on datasets is epsilon-DP, in nats: that of each group of neighbours is `local_dp`.

    Free-lunch privacy, which compares any two datasets, is `local_dp` of the whole channel.

    Parameters
    ----------
    channel : (datasets or query values, outputs)
    groups : (groups, letters), rows of the channel that differ in one record; see `neighbours`

    Notes
    -----
    DP is the supremum, over what is known of the other records and over the priors of the record, of the conditional pointwise maximal
    leakage; it is also the supremum over product priors of that of one record (Saeidian et al. 2023, Theorem 4.2). Free-lunch
    privacy is the supremum over all priors (Theorem 4.5), for the *worst* record: single records may leak less (E2-3).

    >>> rows = [[0.9, 0.1], [0.7, 0.3], [0.6, 0.4], [0.2, 0.8]]
    >>> both = [group for groups in neighbours([2, 2]) for group in groups.tolist()]
    >>> round(float(np.exp(differential_privacy(rows, both))), 9), round(float(np.exp(local_dp(rows))), 9)
    (4.0, 8.0)
    """
    return log(exp_differential_privacy(channel, groups))


def neighbours(alphabets: list[int]) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """For each record the groups of datasets that differ in it alone, (settings of the others, letters), in lexicographic order.

    >>> [groups.tolist() for groups in neighbours([2, 2])]
    [[[0, 2], [1, 3]], [[0, 1], [2, 3]]]
    """
    index = np.arange(int(np.prod(alphabets)), dtype=np.int64).reshape(alphabets)
    return [np.moveaxis(index, record, -1).reshape(-1, size) for record, size in enumerate(alphabets)]
