"""Every notion of the shelf of conversions, computed in doubles for a channel and a prior; channels drawn at random.

Each takes e^epsilon, an order or a level where something stands in its parentheses.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

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


def renyi(p, q, orders):
    """D_a(p || q) in nats, of an order a >= 1 or several."""
    orders = np.asarray(orders, dtype=float)
    if ((p > 0) & (q == 0)).any():
        return np.full(orders.shape, math.inf)
    p, q = p[p > 0], q[p > 0]
    powers, above = np.multiply.outer(orders - 1, np.log(p / q)), np.where(orders == 1, 1.0, orders - 1)
    near = np.log1p(
        np.maximum(np.expm1(np.minimum(powers, 1.0)) @ p, -0.9)
    )  # where nothing is large, and logarithms cancel
    found = np.where(np.abs(powers).max(axis=-1) < 1, near, np.logaddexp.reduce(np.log(p) + powers, axis=-1))
    return np.where(orders == 1, p @ np.log(p / q), found / above)


ORDERS = 1 + np.append(0, np.exp(np.linspace(-9, 8, 120)))


def concentrated(p, q):
    """sup over the orders a >= 1 of D_a / a: on a grid, and then between neighbours."""
    shares = renyi(p, q, ORDERS) / ORDERS
    if math.isinf(shares[0]):
        return math.inf
    at = int(np.argmax(shares))
    near = ORDERS[max(at - 1, 0)], ORDERS[min(at + 1, 120)]
    found = minimize_scalar(lambda a: -renyi(p, q, a) / a, bounds=near, method="bounded", options={"xatol": 1e-8})
    return max(shares[at], -found.fun)


def gaussian(p, q):
    """The least mu for which the trade-off function is not below that of normal laws mu apart: at its corners."""
    order, most = likelier_first(p, q), 0.0
    for k in range(1, p.size):
        up, level = (quantile(law[order[:k]].sum(), law[order[k:]].sum()) for law in (p, q))
        most = max(most, up - level if up > level else 0.0)
    return most


def quantile(below, rest):
    """Of a standard normal law, with all its digits on both sides."""
    return norm.ppf(below) if below < rest else -norm.ppf(rest)


def likelier_first(p, q):
    return np.argsort(np.log(np.maximum(q, 1e-300)) - np.log(np.maximum(p, 1e-300)))


def power(p, q, level):
    """The largest true positive rate of a test with this rate of false positives: likelier outputs first, the last one by chance."""
    found, left = 0.0, level
    for y in likelier_first(p, q):
        share = 1.0 if q[y] <= left else left / q[y]
        found, left = found + share * p[y], max(left - share * q[y], 0.0)
    return found


def of_pairs(rows, function, *more):
    """The largest over ordered pairs of rows."""
    return max(function(p, q, *more) for x, p in enumerate(rows) for z, q in enumerate(rows) if x != z)


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
    "local_renyi_dp": lambda rows, prior, order: of_pairs(rows, renyi, order),
    "local_zcdp": lambda rows, prior, factor: of_pairs(rows, concentrated),
    "local_gdp": lambda rows, prior, factor: of_pairs(rows, gaussian),
    "true_positive_rate": lambda rows, prior, level: of_pairs(rows, power, level),
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
