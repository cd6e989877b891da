"""Privacy of a channel: of its rows, without a prior; of lifts and posteriors, under a prior or a set of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalenius.errors import InputError
from dalenius.information.measures.numbers import (
    Numbers,
    as_numbers,
    beyond,
    divergence,
    fitting,
    largest,
    least,
    log,
    met,
    occurring,
    output_law,
    positive_part,
    quotient,
)
from dalenius.information.measures.prior_classes import PriorClass


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


def exp_bayesian_dp(channel: ArrayLike, law: ArrayLike, alphabets: Sequence[int]) -> Numbers:
    """e^epsilon for `bayesian_dp`."""
    rows, masses = fitting(channel, law)
    if int(np.prod(alphabets)) != len(masses):
        raise InputError(f"alphabets: expected a dataset a row, {len(masses)} of them, got {int(np.prod(alphabets))}")
    weights = masses.reshape(*alphabets)
    joint, records = (masses[:, None] * rows).reshape(*alphabets, -1), range(len(alphabets))
    found = []
    for record in records:
        others = [other for other in records if other != record]
        for known in chain.from_iterable(combinations(others, size) for size in range(len(alphabets))):
            unknown = tuple(other for other in others if other not in known)
            size = alphabets[record]
            both = np.moveaxis(joint.sum(axis=unknown, keepdims=True), record, -2).reshape(-1, size, rows.shape[1])
            alone = np.moveaxis(weights.sum(axis=unknown, keepdims=True), record, -1).reshape(-1, size)
            for law_of_value, mass in zip(both, alone, strict=True):
                there = occurring(mass)
                if there.sum() > 1:
                    found.append(exp_local_dp(law_of_value[there] / mass[there, None]))
    return largest(np.stack(found)) if found else np.ones((), dtype=rows.dtype)


def bayesian_dp(channel: ArrayLike, law: ArrayLike, alphabets: Sequence[int]) -> Numbers:
    """log max P(y | x_i, x_K) / P(y | x_i', x_K) in nats, over the records i, their values, what is known of others K, and outputs y.

    With K empty it is `local_dp` of one record, with all others `differential_privacy`; under independent records it is the latter.

    Parameters
    ----------
    channel : (datasets, outputs), the datasets in lexicographic order
    law : (datasets,)
    alphabets : letters of each record; it takes records * 2^records times the entries of the channel

    Raises
    ------
    InputError
        If shapes do not fit.

    Notes
    -----
    Source: B. Yang, I. Sato, H. Nakagawa, "Bayesian differential privacy on correlated data", SIGMOD (2015); M. Lange et al.,
    "Balancing privacy and utility in correlated data", PVLDB (2025), Definition 3.6.

    >>> rows = [[0.9, 0.1], [0.7, 0.3], [0.6, 0.4], [0.2, 0.8]]
    >>> laws = [0.25, 0.25, 0.25, 0.25], [0.5, 0.0, 0.0, 0.5]
    >>> [round(float(np.exp(bayesian_dp(rows, law, [2, 2]))), 9) for law in laws]
    [4.0, 8.0]
    """
    return log(exp_bayesian_dp(channel, law, alphabets))


def neighbours(alphabets: list[int]) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """For each record the groups of datasets that differ in it alone, (settings of the others, letters), in lexicographic order.

    >>> [groups.tolist() for groups in neighbours([2, 2])]
    [[[0, 2], [1, 3]], [[0, 1], [2, 3]]]
    """
    index = np.arange(int(np.prod(alphabets)), dtype=np.int64).reshape(alphabets)
    return [np.moveaxis(index, record, -1).reshape(-1, size) for record, size in enumerate(alphabets)]


# Information privacy: bounds on how far the odds of an output lie from 1 where an input is known, always or but for a probability.


def exp_information_privacy(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """e^epsilon = max over x, y of the larger of d and 1/d, d = W(x,y) / q(y); infinite where d = 0."""
    lift = met(channel, prior).lift
    return largest(np.stack([largest(lift), quotient(np.ones_like(least(lift)), least(lift), empty=1)]))


def information_privacy(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """max |log( W(x,y) / q(y) )| in nats, over the inputs and outputs of positive probability: epsilon-information privacy.

    An output raises or lowers the odds of a value of the secret by e^epsilon at most. It is at most `local_dp`, which it implies twice
    over.

    Notes
    -----
    Source: C. Wang, W. P. Tay, "Variational and probabilistic notions of information privacy", eq. (1).

    >>> round(float(np.exp(information_privacy([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], [0.5, 0.5]))), 10)
    3.0
    """
    return log(exp_information_privacy(channel, prior))


def local_information_privacy(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """e^-epsilon <= W(x,y) / q(y) <= e^epsilon for all x and y: with delta = 0 the same number as `information_privacy`."""
    return information_privacy(channel, prior)


def local_information_privacy_delta(channel: ArrayLike, prior: ArrayLike, factor: Any) -> Numbers:
    """The least delta of (epsilon, delta)-LIP: max_x of sum_y (q - e^epsilon W_x)_+ and e^-epsilon sum_y (W_x - e^epsilon q)_+.

    Parameters
    ----------
    factor : e^epsilon, at least 1

    Notes
    -----
    Source: K. Ngo, J. Ostman, A. Graell i Amat, on local mutual-information privacy; both directions are compared with one delta, the
    second is weighted by e^-epsilon.

    >>> round(float(local_information_privacy_delta(np.eye(2), [0.25, 0.75], np.exp(0.1))), 12)
    0.75
    """
    seen = met(channel, prior)
    rises = positive_part(seen.channel - factor * seen.law).sum(axis=1) / factor
    falls = positive_part(seen.law - factor * seen.channel).sum(axis=1)
    return largest(np.concatenate([rises, falls]))


def information_privacy_delta(channel: ArrayLike, prior: ArrayLike, factor: Any) -> Numbers:
    """delta = P( |log d(X,Y)| > epsilon ), d = W(x,y) / q(y): (epsilon, delta)-information privacy.

    For delta > 0 it is not convex in the channel, and not closed under post-processing; alone it implies no differential privacy
    (docs/errors-in-the-papers.md, E3-6 and E3-12).

    Parameters
    ----------
    factor : e^epsilon, at least 1

    >>> round(float(information_privacy_delta([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], [0.5, 0.5], np.exp(0.5))), 12)
    0.4
    """
    seen = met(channel, prior)
    return np.asarray((seen.joint * _outside(seen.lift, factor)).sum())


def strong_information_privacy_delta(channel: ArrayLike, prior: ArrayLike, factor: Any) -> Numbers:
    """delta = P( max_x |log d(x,Y)| > epsilon ), over inputs of positive probability; d(x,y) = 0 counts as beyond every epsilon.

    (epsilon, delta) of this form implies (2 epsilon, delta / min P)-differential privacy.

    >>> round(float(strong_information_privacy_delta([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], [0.5, 0.5], np.exp(0.75))), 12)
    0.3
    """
    seen = met(channel, prior)
    return np.asarray((seen.law * largest(_outside(seen.lift, factor), axis=0)).sum())


def _outside(lift: Numbers, factor: Any) -> Numbers:
    """True if d lies above e^epsilon or below e^-epsilon, as numbers."""
    inverse = quotient(np.ones_like(lift), lift, empty=1)
    both = np.stack([beyond(lift, factor), beyond(inverse, factor)])
    return largest(both, axis=0)


# Pointwise maximal leakage, maximal leakage, and what they are over sets of priors.


def exp_pointwise_maximal_leakage(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """e^l(y) for the `pointwise_maximal_leakage` l(y) of every output."""
    rows, masses = fitting(channel, prior)
    there = occurring(masses)
    likely = rows if there.all() else rows[there]
    return quotient(largest(likely, axis=0), output_law(rows, masses), empty=1)


def pointwise_maximal_leakage(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """l(y) = log max_{x: P(x) > 0} W(x,y) / q(y) of every output y, q(y) = sum_x P(x) W(x,y); 0 where q(y) = 0.

    Whatever about the input somebody wants to guess, seeing y makes the right guess at most e^l(y) times likelier, and so much
    likelier for some.

    Parameters
    ----------
    channel : (inputs, outputs), row-stochastic
    prior : (inputs,)

    Returns
    -------
    (outputs,), in nats. An output counts only together with its probability (`output_law`): the mechanism of S. Saeidian et al.,
    Example 3.11, leaks next to nothing by one output and 71 nats by the other.

    Notes
    -----
    Source: S. Saeidian, G. Cervia, T. J. Oechtering, M. Skoglund, "Pointwise maximal leakage", IEEE Trans. Inf. Theory 69 (2023),
    Theorem 1. Always 0 <= l(y) <= log 1/min P, and sum_y q(y) e^l(y) = e^L, L the maximal leakage.

    >>> pointwise_maximal_leakage([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]], [0.5, 0.3, 0.2]).round(4).tolist()
    [0.4873, 0.568, 0.9589]
    """
    return log(exp_pointwise_maximal_leakage(channel, prior))


def pointwise_maximal_leakage_delta(channel: ArrayLike, prior: ArrayLike, factor: Any) -> Numbers:
    """delta = P( l(Y) > epsilon ), the probability of outputs that leak more than epsilon; `factor` is e^epsilon.

    It is not closed under post-processing: merging outputs may make it larger (docs/errors-in-the-papers.md, E3-12).

    >>> float(pointwise_maximal_leakage_delta([[0.9, 0.1], [0.4, 0.6]], [0.5, 0.5], 1.5).round(12))
    0.35
    """
    ratios = exp_pointwise_maximal_leakage(channel, prior)
    return np.asarray((output_law(channel, prior) * beyond(ratios, factor)).sum())


def conditional_pointwise_maximal_leakage(channels: Iterable[ArrayLike], priors: Iterable[ArrayLike]) -> Numbers:
    """l(X -> y | z) = log max_{x: P(x|z) > 0} W_z(x,y) / sum_x' P(x'|z) W_z(x',y) for what else is known, z, and every output.

    Knowing z changes the prior: l(X -> y | z) may exceed l(X -> y).

    Parameters
    ----------
    channels : for each z a matrix (inputs, outputs)
    priors : for each z the law of the input, given z

    Returns
    -------
    (settings z, outputs), in nats.

    >>> conditional_pointwise_maximal_leakage([[[0.9, 0.1], [0.6, 0.4]]], [[0.6, 0.4]]).round(4).tolist()
    [[0.1431, 0.5978]]
    """
    return np.stack([pointwise_maximal_leakage(*pair) for pair in zip(channels, priors, strict=True)])


def exp_maximal_leakage(channel: ArrayLike) -> Numbers:
    """e^L = sum_y max_x W(x,y) for the `maximal_leakage` L."""
    return np.asarray(largest(as_numbers(channel), axis=0).sum())


def maximal_leakage(channel: ArrayLike) -> Numbers:
    """L = log sum_y max_x W(x,y) in nats, for every prior with full support.

    How much likelier the best guess of anything about the input becomes, on average over the outputs: E e^l(Y) = e^L.

    Notes
    -----
    Source: I. Issa, A. B. Wagner, S. Kamath, "An operational approach to information leakage", IEEE Trans. Inf. Theory 66 (2020).

    >>> round(float(maximal_leakage([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])), 10) == round(float(np.log(1.9)), 10)
    True
    """
    return log(exp_maximal_leakage(channel))


def pointwise_maximal_leakage_over(channel: ArrayLike, priors: PriorClass) -> Numbers:
    """sup over the priors of a set of the `pointwise_maximal_leakage` of every output, each with full support (or a limit of such).

    log max_x W(x,y) - log min_P sum_x P(x) W(x,y): one linear function is minimised, so that convex hull and closure of the set change
    nothing, and no output needs more than what `PriorClass.least_mean` says.

    Notes
    -----
    The supremum over a set with priors of smaller support is at most this. The suprema over one prior each are not of one prior.

    >>> from dalenius.information.measures import PriorFloor
    >>> pointwise_maximal_leakage_over([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]], PriorFloor(0.1)).max().round(6)
    np.float64(1.415282)
    """
    rows = as_numbers(channel)
    means = np.array([priors.least_mean(column) for column in rows.T], dtype=rows.dtype)
    return log(quotient(largest(rows, axis=0), means, empty=1))
