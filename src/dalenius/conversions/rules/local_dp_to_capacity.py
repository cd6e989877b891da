"""What local differential privacy leaves of information."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.balls import binary_entropy
from dalenius.conversions.rule import OURS, PUFFERFISH, Given, Rule, any_alphabets

__all__ = ["RULES"]


def any_letters(given: Given) -> arb:
    """C - 1 - log c with c = epsilon / (1 - e^-epsilon).

    *Bound because* for each output the ratio r = W(x,y)/q(y) lies in [t, t e^epsilon] with mean 1 under the prior, where the convex
    r log r has the largest mean for a law on both ends; with mass a on the upper one the mean is f(a) = a e^epsilon epsilon / (1 +
    a (e^epsilon - 1)) - log(1 + a (e^epsilon - 1)), whose maximum over a is this.
    """
    epsilon = given.value
    if epsilon == 0:
        return arb(0)
    if epsilon < 1e-10:  # where the difference cancels: c - 1 - log c <= (c-1)^2/2 and c - 1 <= epsilon/2 + epsilon^2
        return (epsilon / 2 + epsilon**2) ** 2 / 2
    c = epsilon / (1 - (-epsilon).exp())
    return c - 1 - c.log()


def two_letters(given: Given) -> arb | None:
    """Log 2 - h(1/(1+e^epsilon)): any such binary channel is a randomised version of randomised response."""
    if given.letters > 2:
        return None
    return arb(2).log() - binary_entropy(1 / (1 + given.value.exp()))


RULES = (
    Rule(
        "local-dp-information",
        "local_dp",
        "shannon_capacity",
        "c - 1 - log c, c = e/(1 - exp(-e))",
        f"{OURS}; sharpens the first implication of Theorem 1 of {PUFFERFISH} four times where e is small",
        any_letters,
        attained="subset selection, in the limit of many letters",
        meets=any_alphabets,
        ours=True,
    ),
    Rule(
        "binary-local-dp-information",
        "local_dp",
        "shannon_capacity",
        "log 2 - h(1/(1 + exp e))",
        f"{OURS}; randomised response dominates every binary channel",
        two_letters,
        needs=("letters",),
        conditions="the secret has two values",
        attained="binary randomised response",
        ours=True,
    ),
)
