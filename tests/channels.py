"""Every notion of the shelf of conversions, computed in doubles for a channel and a prior; channels drawn at random."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dalenius.conversions import Facts
from dalenius.information import measures as m
from dalenius.information.capacity import capacity

ATTRIBUTE = "posterior_min_entropy"


def output_law(rows, prior):
    return prior @ rows


def largest_divergence(rows, prior):
    q = output_law(rows, prior)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rows > 0, rows * np.log(rows / q), 0.0).sum(axis=1).max()


def guessing_success(rows, prior):
    return (prior[:, None] * rows).max(axis=0).sum()


def estimation_error(rows, prior, numbers):
    """Least mean squared error of the numbers, as a share of their variance."""
    joint = prior[:, None] * rows
    q = joint.sum(axis=0)
    kept = q > 0
    means = (numbers @ joint)[kept] / q[kept]
    variance = prior @ numbers**2 - (prior @ numbers) ** 2
    return (prior @ numbers**2 - q[kept] @ means**2) / variance


def posterior_min_entropy(rows, prior, attribute):
    """The least over the outputs, of an attribute given by the laws of its values for each value of the secret."""
    joint = (prior[:, None] * rows).T @ attribute
    q = joint.sum(axis=1)
    return -math.log((joint[q > 0] / q[q > 0, None]).max())


def any_attribute(rows, prior):
    """The same for the worst function of the secret that is not constant: which value it is not."""
    joint = prior[:, None] * rows
    q = joint.sum(axis=0)
    return -math.log(1 - (joint[:, q > 0] / q[q > 0]).min())


NOTIONS: dict[str, Callable] = {
    "local_dp": lambda rows, prior, factor: m.local_dp(rows),
    "pointwise_maximal_leakage": lambda rows, prior, factor: m.pointwise_maximal_leakage(rows, prior).max(),
    "information_privacy": lambda rows, prior, factor: m.information_privacy(rows, prior),
    "local_dp_delta": lambda rows, prior, factor: m.local_dp_delta(rows, factor),
    "local_information_privacy_delta": lambda rows, prior, factor: m.local_information_privacy_delta(
        rows, prior, factor
    ),
    "information_privacy_delta": lambda rows, prior, factor: m.information_privacy_delta(rows, prior, factor),
    "strong_information_privacy_delta": lambda rows, prior, factor: m.strong_information_privacy_delta(
        rows, prior, factor
    ),
    "shannon_capacity": lambda rows, prior, factor: capacity(rows, gap=1e-12).lower,
    "maximal_leakage": lambda rows, prior, factor: m.maximal_leakage(rows),
    "pairwise_divergence": lambda rows, prior, factor: m.pairwise_divergence(rows),
    "mutual_information": lambda rows, prior, factor: m.mutual_information(rows, prior),
    "largest_divergence": lambda rows, prior, factor: largest_divergence(rows, prior),
    "strong_kl": lambda rows, prior, factor: m.strong_kl(rows, prior),
    "total_variation": lambda rows, prior, factor: m.total_variation(rows, prior),
    "strong_total_variation": lambda rows, prior, factor: m.strong_total_variation(rows, prior),
    "chi_square": lambda rows, prior, factor: m.chi_square(rows, prior),
    "strong_chi_square": lambda rows, prior, factor: m.strong_chi_square(rows, prior),
    "maximal_correlation": lambda rows, prior, factor: m.maximal_correlation(rows, prior),
    "bayes_advantage": lambda rows, prior, factor: m.bayes_advantage(rows, prior),
    "guessing_success": lambda rows, prior, factor: guessing_success(rows, prior),
}


def drawn(rng):
    """A channel and a prior."""
    inputs = int(rng.integers(2, 5))
    prior = np.maximum(rng.dirichlet(np.full(inputs, rng.choice([0.5, 2.0, 20.0]))), 0.002)
    return drawn_rows(rng, inputs), prior / prior.sum()


def drawn_rows(rng, inputs):
    """A channel: flat, near to independent, with zeros, or near to an extreme of local differential privacy."""
    outputs = int(rng.integers(2, 5))
    kind = rng.integers(4)
    rows = rng.dirichlet(np.full(outputs, rng.choice([0.3, 1.0, 3.0])), size=inputs)
    if kind == 1:
        rows = 0.97 * rng.dirichlet(np.ones(outputs)) + 0.03 * rows
    if kind == 2:
        rows = np.where(rows < 0.15, 0.0, rows)
        rows /= rows.sum(axis=1, keepdims=True)
    if kind == 3:
        base = rng.dirichlet(np.ones(outputs))
        rows = base * np.exp(rng.uniform(0.1, 1.5) * rng.integers(0, 2, size=rows.shape))
        rows /= rows.sum(axis=1, keepdims=True)
    rows = np.maximum(rows, 1e-9 * (kind != 2))
    return rows / rows.sum(axis=1, keepdims=True)


def facts_of(rows, prior, **more):
    """What is known of them."""
    return Facts(
        p_min=Fraction(float(prior.min())) * Fraction(1 - 2**-50),
        p_max=Fraction(float(prior.max())) * Fraction(1 + 2**-50),
        letters=rows.shape[0],
        outputs=rows.shape[1],
        **more,
    )
