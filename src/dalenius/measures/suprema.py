"""Suprema over a class of priors, between bounds that are evaluated in exact numbers and balls.

A channel's measure may be concave in the prior, or a ratio with a linear denominator; nothing here searches more than a convex set.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from dalenius.information import measures as formulas
from dalenius.information.arrays import Floats
from dalenius.information.law_classes import TINY, worst_law
from dalenius.information.measures import PriorClass
from dalenius.information.measures.numbers import Numbers, divergence, doubles, largest, least, quotient, rationals

__all__ = ["exp_largest_lift", "exp_largest_pointwise", "exp_pointwise_of_column", "largest_information"]


def largest_information(channel: Numbers, priors: PriorClass) -> arb:
    """A ball around max over the class of I(P;W), which is concave in P.

    *Bound because* a mixture of laws of the class is in the class, and its information is evaluated; and because for every law r of
    the outputs I(P;W) <= sum_x P(x) D(W_x || r), which is linear in P: its maximum over the class is what `PriorClass.below` bounds.
    """
    found = worst_law(doubles(channel), priors)
    return _between(channel, priors, found.law, found.output)


def _between(channel: Numbers, priors: PriorClass, prior: Numbers, output: Floats) -> arb:
    balls = np.array([arb(x) for x in prior], dtype=object)
    lower = arb(formulas.mutual_information(channel, balls).item())
    law = rationals(np.maximum(output, TINY))
    divergences = divergence(channel, law / law.sum())
    divergences[~priors.support(len(channel))] = fmpq(0)  # whatever stands where no prior has any mass
    if not all(arb(x).is_finite() for x in divergences):
        return arb.nan()
    return lower.union(-arb(priors.below(-_above(divergences))))


def exp_largest_pointwise(channel: Numbers, priors: PriorClass) -> Any:
    """e^l, l the supremum over the class of the largest pointwise maximal leakage of an output."""
    ratios = [exp_pointwise_of_column(column, priors) for column in channel.T]
    return largest(np.array(ratios, dtype=object)).item()


def exp_pointwise_of_column(column: Numbers, priors: PriorClass) -> Any:
    """The same of one output y, whose column of the channel is given: max_x W(x,y) / min_P sum_x P(x) W(x,y)."""
    likely = priors.support(len(column))
    return _ratio(largest(column[likely]).item(), _least_mean(column, priors))


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


def _above(numbers: Numbers) -> Numbers:
    """Rationals at or above these numbers."""
    return -_below(-numbers)


def _below(numbers: Numbers) -> Numbers:
    return np.array([x if isinstance(x, fmpq) else arb(x).lower().fmpq() for x in numbers], dtype=object)
