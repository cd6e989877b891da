"""Guessing the input: min-entropy, its leakage, the Bayes advantage, and outputs that disclose or single out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalenius.information.measures.numbers import Numbers, as_numbers, beyond, fitting, is_exact, largest, log, met


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
