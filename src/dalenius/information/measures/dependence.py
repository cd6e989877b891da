"""Measures of dependence: how much an output depends on the input, and how well the input is guessed from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from flint import arb, arb_mat
from numpy.typing import ArrayLike

from dalenius.information.arrays import Floats
from dalenius.information.entropies import entropy
from dalenius.information.measures.numbers import (
    Met,
    Numbers,
    as_numbers,
    beyond,
    divergence,
    doubles,
    fitting,
    is_exact,
    largest,
    log,
    met,
    quotient,
)

TINY = 1e-300  # whose logarithm stands for that of 0, times 0
SMALL = 1e-6  # below it a difference of entropies has lost ten of sixteen digits


def mutual_information(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """I(X;Y) = sum_x P(x) D(W_x || q), q(y) = sum_x P(x) W(x,y), in nats: the average KL divergence.

    >>> round(float(mutual_information(np.eye(2), [0.5, 0.5])), 12) == round(float(np.log(2.0)), 12)
    True
    """
    rows, masses = fitting(channel, prior)
    if not (is_exact(rows) or is_exact(masses)):
        negentropy = np.einsum("ij,ij->i", rows, np.log(np.maximum(rows, TINY)))
        value = masses @ negentropy + entropy(masses @ rows)
        if value > SMALL:
            return np.asarray(value)
    seen = met(rows, masses)
    return np.asarray((seen.prior * divergence(seen.channel, seen.law)).sum())


def conditional_mutual_information(
    channels: Iterable[ArrayLike], priors: Iterable[ArrayLike], weights: Iterable[object]
) -> Numbers:
    """I(X;Y|Z) = sum_z P(z) I(X;Y|Z=z) in nats, from the channel, the prior and the probability of every z.

    >>> float(conditional_mutual_information([np.eye(2), np.ones((2, 2)) / 2], [[0.5, 0.5]] * 2, [0.0, 1.0]))
    0.0
    """
    terms = [
        weight * mutual_information(channel, prior)
        for channel, prior, weight in zip(channels, priors, weights, strict=True)
    ]
    return np.asarray(sum(terms))


def total_variation(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """sum_{x,y} |P(x,y) - P(x) q(y)|, from 0 to 2: *no* factor 1/2, as in the source paper.

    Notes
    -----
    Source: C. Wang, W. P. Tay, "Variational and probabilistic notions of information privacy", Definition 3. For a uniform binary
    secret the best guess is right with probability (1 + this) / 2.

    >>> round(float(total_variation([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], [0.5, 0.5])), 12)
    0.4
    """
    seen = met(channel, prior)
    return np.asarray((seen.prior * _variation(seen)).sum())


def strong_total_variation(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """max_x sum_y |q(y) - W(x,y)|, from 0 to 2, over the inputs of positive probability.

    >>> round(float(strong_total_variation([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], [0.5, 0.5])), 12)
    0.4
    """
    return largest(_variation(met(channel, prior)))


def strong_kl(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """max_x D(q || W_x) in nats, q the law of the output: the order of the arguments is that of the source paper, and *not* that of
    `mutual_information`. Infinite where some input never gives an output that occurs.

    >>> round(float(strong_kl([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], [0.5, 0.5])), 10)
    0.1673976434
    """
    seen = met(channel, prior)
    return largest(divergence(seen.law[None, :], seen.channel))


def chi_square(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """sum_{x,y} P(x,y)^2 / (P(x) q(y)) - 1 = sum_x P(x) sum_y (W(x,y) - q(y))^2 / q(y), at least 0.

    Of a table of counts it is Pearson's statistic divided by their number.

    >>> round(float(chi_square([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], [0.5, 0.5])), 10)
    0.2333333333
    """
    seen = met(channel, prior)
    return np.asarray((seen.prior * (_squares(seen) / seen.law).sum(axis=1)).sum())


def strong_chi_square(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """max_x sum_y q(y)^2 / W(x,y) - 1, over the inputs of positive probability; infinite as `strong_kl`.

    >>> round(float(strong_chi_square([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], [0.5, 0.5])), 10)
    0.4666666667
    """
    seen = met(channel, prior)
    return largest(quotient(_squares(seen), seen.channel, empty=0).sum(axis=1))


def _variation(seen: Met) -> Numbers:
    """sum_y |W(x,y) - q(y)| for every input."""
    return np.abs(seen.channel - seen.law).sum(axis=1)


def _squares(seen: Met) -> Numbers:
    """(W(x,y) - q(y))^2; a product, because a power of a ball around 0 is not always known."""
    off = seen.channel - seen.law
    return off * off


# The maximal correlation of input and output.


def maximal_correlation(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """rho = max of the correlation of f(X) with g(Y), over all real functions f and g; from 0 to 1.

    It is the second singular value of P(x,y) / sqrt(P(x) q(y)), the largest of (P(x,y) - P(x) q(y)) / sqrt(P(x) q(y)).

    Notes
    -----
    rho^2 <= chi-square <= (min(inputs, outputs) - 1) rho^2. Source: H. O. Hirschfeld (1935), H. Gebelein (1941), A. Renyi (1959).

    With exact numbers the answer is a ball. With D = diag(P) and M = (D (W - q)) diag(1/q) (D (W - q))', rho^2 is the largest t with
    M v = t D v. For any invertible V let A = V' M V and B = V' D V. *Bound because* A_ii / B_ii is a value of the quotient that is
    maximised, and because t B - A is diagonally dominant, and so has no negative eigenvalue, from
    t = max_i sum_j |A_ij| / (B_ii - sum_{j != i} |B_ij|) on. V are the eigenvectors in doubles.

    >>> round(float(maximal_correlation([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], [0.5, 0.5])), 10)
    0.4830458915
    """
    seen = _shorter(met(channel, prior))
    if not is_exact(seen.channel):
        return np.asarray(min(np.linalg.norm(_normalised(seen), 2), 1.0))
    vectors = _vectors(Met(*(doubles(part) for part in (seen.prior, seen.channel, seen.law))))
    square = _largest_quotient(seen, vectors)
    return np.asarray(square.lower().max(arb(0)).sqrt().union(square.upper().sqrt()), dtype=object)


def _shorter(seen: Met) -> Met:
    """The same joint law with at most as many inputs as outputs."""
    if seen.channel.shape[0] <= seen.channel.shape[1]:
        return seen
    return Met(seen.law, seen.joint.T / seen.law[:, None], seen.prior)


def _normalised(seen: Met) -> Floats:
    """(P(x,y) - P(x) q(y)) / sqrt(P(x) q(y)) in doubles."""
    return np.sqrt(seen.prior)[:, None] * (seen.channel - seen.law) / np.sqrt(seen.law)


def _vectors(seen: Met) -> Floats:
    """Near the singular vectors, or any, where doubles do not hold the law."""
    with np.errstate(all="ignore"):
        matrix = _normalised(seen)
        if np.isfinite(matrix).all() and seen.prior.all():
            return np.linalg.eigh(matrix @ matrix.T)[1][:, ::-1] / np.sqrt(seen.prior)[:, None]
    return np.eye(len(seen.prior))


def _largest_quotient(seen: Met, vectors: Floats) -> arb:
    """A ball around rho^2, whatever the vectors are."""
    V = _matrix(vectors.T)
    weighted = V * _matrix(seen.prior[:, None] * (seen.channel - seen.law))
    A = weighted * _matrix((seen.channel - seen.law).T * seen.prior / seen.law[:, None]) * V.transpose()
    B = V * _matrix(np.diag(seen.prior)) * V.transpose()
    size = A.nrows()
    above = [sum((abs(A[i, j]) for j in range(size)), arb(0)) for i in range(size)]
    below = [B[i, i] - sum((abs(B[i, j]) for j in range(size) if j != i), arb(0)) for i in range(size)]
    lower = largest(np.array([A[i, i] / B[i, i] for i in range(size)], dtype=object)).item()
    if not all(x > 0 for x in below):
        return lower.union(arb(1)) if lower.is_finite() else arb(0).union(arb(1))
    upper = largest(np.array([x / y for x, y in zip(above, below, strict=True)], dtype=object)).item()
    return lower.union(upper)


def _matrix(entries: Any) -> arb_mat:
    return arb_mat([[arb(x) for x in row] for row in entries.tolist()])


# Guessing the input: min-entropy, its leakage, the Bayes advantage, and outputs that disclose or single out.


def min_entropy(law: ArrayLike) -> Numbers:
    """H_inf(p) = -log max p in nats.

    >>> round(float(min_entropy([0.5, 0.3, 0.2])), 10)
    0.6931471806
    """
    return -log(largest(as_numbers(law)))


def posterior_min_entropy(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """H_inf(X | Y = y) = -log max_x P(x|y) in nats, of every output that occurs.

    At least H_inf(X) - l(y), l the pointwise maximal leakage.

    >>> posterior_min_entropy(np.eye(2), [0.5, 0.5]).tolist()
    [-0.0, -0.0]
    """
    seen = met(channel, prior)
    return -log(largest(seen.joint, axis=0) / seen.law)


def exp_min_entropy_leakage(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """sum_y max_x P(x) W(x,y) / max_x P(x) for `min_entropy_leakage`."""
    right, blind = _best_guesses(channel, prior)
    return np.asarray(right / blind)


def min_entropy_leakage(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """log( sum_y max_x P(x) W(x,y) / max_x P(x) ) in nats: how much likelier the best guess of the input is after the output.

    At most the maximal leakage, which it is for the uniform prior. It may be 0 for a channel that is not constant.

    >>> round(float(min_entropy_leakage([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])), 10) == round(float(np.log(1.5)), 10)
    True
    """
    return log(exp_min_entropy_leakage(channel, prior))


def bayes_advantage(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """sum_y max_x P(x) W(x,y) - max_x P(x): by how much the output raises the probability of the best guess of the input.

    At most half the total variation (`total_variation`, without the factor 1/2). It may be 0 for a channel that is not constant.

    >>> round(float(bayes_advantage([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])), 12)
    0.25
    """
    right, blind = _best_guesses(channel, prior)
    return np.asarray(right - blind)


def disclosure(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """The probability of the outputs that exclude an input: then something about it, that was open, is certain.

    An output discloses some attribute U(x) that is not constant, H(U | Y = y) = 0, exactly if it is impossible on some input:
    U = "x is one of those on which y is possible". Its leakage capacity is infinite then.

    Notes
    -----
    Source: S. Saeidian et al. (2023), Definition 3.3, for attributes that are not constant (E2-5).

    >>> round(float(disclosure([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]], [0.5, 0.5])), 12)
    0.125
    """
    seen = met(channel, prior)
    return np.asarray((seen.law * largest(_excluded(seen.channel), axis=0)).sum())


def singling_out(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """The probability of the outputs that are possible on one input alone, of several: then the input is certain.

    >>> round(float(singling_out([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]], [0.5, 0.5])), 12)
    0.125
    """
    seen = met(channel, prior)
    inputs = seen.channel.shape[0]
    alone = beyond(np.asarray(_excluded(seen.channel).sum(axis=0)), inputs - 2) if inputs > 1 else 0 * seen.law
    return np.asarray((seen.law * alone).sum())


def _best_guesses(channel: ArrayLike, prior: ArrayLike) -> tuple[Any, Any]:
    """sum_y max_x P(x) W(x,y) and max_x P(x), the probabilities that the best guess of the input is right, after and before."""
    rows, masses = fitting(channel, prior)
    if is_exact(rows) or is_exact(masses):
        return np.add.reduce(largest(masses[:, None] * rows, axis=0)), largest(masses)
    joint = np.einsum("i,ij->ij", masses, rows)  # for 100 x 100 a little faster than the same by broadcasting
    return np.add.reduce(np.maximum.reduce(joint)), np.maximum.reduce(masses)


def _excluded(channel: Numbers) -> Numbers:
    """1 where an entry is 0, else 0; entries are at least 0."""
    return 1 - beyond(channel, 0)
