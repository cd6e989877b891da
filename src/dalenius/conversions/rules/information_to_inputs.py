"""What an information leaves of local information privacy."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.programs import input_and_others, input_and_output
from dalenius.conversions.rule import LMIP, OURS, Given, Rule, rare_values

__all__ = ["RULES"]


def corrected(given: Given) -> arb:
    """Of the mutual information, for values of probability p_min at least.

    *Bound because* the channel from "X = x or not" to "the output is in E or not" tells no more, and with p0 and p1 kept the
    divergence grows with the probability of x.
    """
    return input_and_others(given.value, given.epsilon_after, given.p_min)


def printed(given: Given) -> arb:
    """Of the largest divergence, as eq. (13) says."""
    return input_and_output(given.value, given.epsilon_after)


RULES = (
    Rule(
        "theorem-2a-corrected",
        "mutual_information",
        "local_information_privacy_delta",
        "max p0 - exp(e) p1, exp(-e) p1 - p0 with p d(p1||p0) + (1-p) d(r||p0) <= mu, p0 = p p1 + (1-p) r, p = p_min",
        f"{OURS}; Theorem 2(a) of {LMIP} is false as printed: an information is a mean over the inputs",
        corrected,
        needs=("p_min",),
        attained="a channel that tells whether X is a value of probability p_min, with rows p1, r",
        ours=True,
    ),
    Rule(
        "theorem-2a",
        "largest_divergence",
        "local_information_privacy_delta",
        "max p0 - exp(e) p1, exp(-e) p1 - p0 with d(p1||p0) <= mu",
        f"{LMIP}, Theorem 2(a), eq. (13), of the notion that its proof uses: D(W_x || q) <= mu for every x",
        printed,
        attained="a channel that tells whether X is one rare value, with rows p1, p0",
        meets=rare_values,
    ),
)
