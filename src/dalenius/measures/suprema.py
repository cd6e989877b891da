"""Suprema over a class of priors, between bounds that are evaluated in exact numbers and balls.

A channel's measure may be concave in the prior, or a ratio with a linear denominator; nothing here searches more than a convex set.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from dalenius.information import measures as formulas
from dalenius.information.arrays import Floats
from dalenius.information.capacity import best_mixture
from dalenius.information.divergences import relative_entropy
from dalenius.information.entropies import x_log_x
from dalenius.information.measures import PriorClass
from dalenius.information.measures.numbers import Numbers, divergence, largest, least, quotient

__all__ = ["exp_largest_lift", "exp_largest_pointwise", "largest_information"]

MOST_ROUNDS = 100
PATIENCE = 5  # rounds without halving the gap
GAP = 1e-12  # in nats, at which the search stops
UNUSED = 1e-12  # a weight at which a law is left out
TINY = 1e-300  # a floor under output laws
WEIGHT = 2**40  # the denominator of the weights of a mixture


def largest_information(channel: Numbers, priors: PriorClass) -> arb:
    """A ball around max over the class of I(P;W), which is concave in P.

    *Bound because* a mixture of laws of the class is in the class, and its information is evaluated; and because for every law r of
    the outputs I(P;W) <= sum_x P(x) D(W_x || r), which is linear in P: its maximum over the class is what `PriorClass.below` bounds.

    The laws of the mixture are found one by one (fully corrective Frank and Wolfe): the class's best against the present r, and then
    the best mixture of all, by the method of the Shannon capacity.
    """
    rows = _doubles(channel)
    negentropy = x_log_x(rows).sum(axis=1)
    laws, weights = [priors.exact_law(_rationals(np.zeros(len(rows))))], np.ones(1)
    best, since = np.inf, 0
    for _ in range(MOST_ROUNDS):
        prior = weights @ np.array([_doubles(law) for law in laws])
        divergences = relative_entropy(rows, np.maximum(prior @ rows, TINY))
        law = priors.exact_law(_rationals(-divergences))
        gap = float((_doubles(law) - prior) @ divergences)
        best, since = (gap, 0) if gap < 0.5 * best else (best, since + 1)
        if gap <= GAP or since > PATIENCE:
            break
        laws = [*(used for used, weight in zip(laws, weights, strict=True) if weight > UNUSED), law]
        listed = np.array([_doubles(law) for law in laws])
        weights = best_mixture(listed @ rows, listed @ negentropy, gap=GAP / 8)
    return _between(channel, priors, _mixture(laws, weights), prior @ rows)


def _between(channel: Numbers, priors: PriorClass, prior: Numbers, output: Floats) -> arb:
    balls = np.array([arb(x) for x in prior], dtype=object)
    lower = arb(formulas.mutual_information(channel, balls).item())
    law = _rationals(np.maximum(output, TINY))
    divergences = divergence(channel, law / law.sum())
    divergences[~priors.support(len(channel))] = fmpq(0)  # whatever stands where no prior has any mass
    if not all(arb(x).is_finite() for x in divergences):
        return arb.nan()
    return lower.union(-arb(priors.below(-_above(divergences))))


def exp_largest_pointwise(channel: Numbers, priors: PriorClass) -> Any:
    """e^l, l the supremum over the class of the largest pointwise maximal leakage: max_y max_x W(x,y) / min_P sum_x P(x) W(x,y)."""
    likely = priors.support(len(channel))
    ratios = [_ratio(largest(column[likely]).item(), _least_mean(column, priors)) for column in channel.T]
    return largest(np.array(ratios, dtype=object)).item()


def exp_largest_lift(channel: Numbers, priors: PriorClass) -> Any:
    """The same of information privacy, d and 1/d with d = W(x,y) / sum_x P(x) W(x,y): the largest mean of a column counts, too."""
    likely = priors.support(len(channel))
    falls = [_ratio(-_least_mean(-column, priors), least(column[likely]).item()) for column in channel.T]
    rises = exp_largest_pointwise(channel, priors)
    return largest(np.array([rises, *falls], dtype=object)).item()


def _ratio(above: Any, below: Any) -> Any:
    return quotient(np.array([above], dtype=object), np.array([below], dtype=object), empty=1)[0]


def _least_mean(column: Numbers, priors: PriorClass) -> Any:
    """A ball around min over the class of sum_x P(x) k(x).

    *Bound because* probabilities are at least 0: smaller numbers have a smaller mean.
    """
    small, large = _below(column), _above(column)
    lower, upper = priors.below(small), (priors.exact_law(large) * large).sum()
    return lower if isinstance(lower, fmpq) and lower == upper else arb(lower).union(arb(upper))


def _mixture(laws: list[Numbers], weights: Floats) -> Numbers:
    shares = np.array([fmpq(max(round(w * WEIGHT), 0)) for w in weights.tolist()], dtype=object)
    return np.asarray(sum(share * law for share, law in zip(shares / shares.sum(), laws, strict=True)))


def _above(numbers: Numbers) -> Numbers:
    """Rationals at or above these numbers."""
    return -_below(-numbers)


def _below(numbers: Numbers) -> Numbers:
    return np.array([x if isinstance(x, fmpq) else arb(x).lower().fmpq() for x in numbers], dtype=object)


def _rationals(numbers: Floats) -> Numbers:
    return np.array([fmpq(*map(int, x.as_integer_ratio())) for x in numbers.tolist()], dtype=object)


def _doubles(numbers: Numbers) -> Floats:
    return np.array([float(arb(x)) for x in numbers.ravel()]).reshape(numbers.shape)
