"""Approximate local differential privacy: what a capacity leaves of it, and what it leaves of information."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.numbers import ZERO, binary_entropy
from dalenius.conversions.programs import between_inputs
from dalenius.conversions.rule import LMIP, OURS, PUFFERFISH, Facts, Given, Rule

# What a Shannon capacity leaves of approximate local differential privacy.


# What a small delta leaves of information, where the alphabets are small.


def two_letters(given: Given) -> arb | None:
    """Delta log 2 + (1-delta)(log 2 - h(1/(1+e^epsilon))): the dominating channel has four outputs."""
    if given.letters > 2:
        return None
    rest = arb(2).log() - binary_entropy(1 / (1 + given.epsilon_before.exp()))
    return given.value * arb(2).log() + (1 - given.value) * rest


def size_of(facts: Facts, more: int) -> int | None:
    """min(outputs, letters + more), of what is known."""
    sizes = [size for size in (facts.outputs, facts.letters and facts.letters + more) if size]
    return min(sizes, default=None)


def fannes(given: Given) -> arb | None:
    """H(delta) + delta log(n - 1) where delta <= 1 - 1/n, else log n, n = min(letters, outputs).

    *Bound because* the law of the outputs is within delta of each row, and by Audenaert's inequality entropies then differ by no more;
    so do those of the secret's law and its posteriors on average, whose distance is delta on average, as the bound is concave in it.
    """
    n = size_of(given.facts, 0)
    if n is None or given.before != ZERO:
        return None
    if n == 1:
        return arb(0)
    if not given.value <= 1 - arb(1) / n:
        return arb(n).log()
    return (binary_entropy(given.value) + given.value * arb(n - 1).log()).min(arb(n).log())


def printed(given: Given) -> arb | None:
    """2 h(delta) + 2 delta log min(outputs, letters + 1)."""
    n = size_of(given.facts, 1)
    if n is None or given.before != ZERO or not given.value <= 0.5:
        return None
    return 2 * binary_entropy(given.value) + 2 * given.value * arb(n).log()


FOUR = 4  # outputs of the dominating channel


# What a small delta leaves of maximal leakage, where the secret has few values.


def largest_of_rows(given: Given) -> arb:
    """Log(e^epsilon + (k-1) delta).

    *Bound because* the largest entry of a column is at most e^epsilon times that of one row, and besides what the k-1 others have
    above it, which is delta each in all columns.
    """
    return (given.epsilon_before.exp() + (given.letters - 1) * given.value).log()


RULES = (
    Rule(
        "theorem-1a",
        "shannon_capacity",
        "local_dp_delta",
        "max p0 - exp(e) p1 with d(p0||q), d(p1||q) <= mu",
        f"{LMIP}, Theorem 1(a), eqs. (10), (11)",
        lambda given: between_inputs(given.value, given.epsilon_after),
        conditions="the information is bounded for every prior, or for every prior on two values at least",
        attained="the binary channel with rows p0, p1",
    ),
    Rule(
        "theorem-1-distance",
        "shannon_capacity",
        "local_dp_delta",
        "sqrt(2 mu)",
        f"{PUFFERFISH}, Theorem 1, second implication",
        lambda given: (2 * given.value).sqrt(),
        conditions="the information is bounded for every prior, or for every prior on two values at least",
    ),
    Rule(
        "binary-delta-information",
        "local_dp_delta",
        "shannon_capacity",
        "d log 2 + (1-d)(log 2 - h(1/(1 + exp e)))",
        f"{OURS}; the dominating channel with four outputs",
        two_letters,
        needs=("letters",),
        conditions="the secret has two values",
        attained="randomised response that tells the secret with probability d",
        meets=lambda given: given.facts.outputs is None or given.facts.outputs >= FOUR,
        ours=True,
    ),
    Rule(
        "fannes",
        "local_dp_delta",
        "shannon_capacity",
        "h(d) + d log(n-1) at epsilon 0, n = min(letters, outputs)",
        f"{OURS}; half of {PUFFERFISH}, Theorem 1, third implication, part 1",
        fannes,
        needs=("letters",),
        conditions="epsilon is 0",
        ours=True,
    ),
    Rule(
        "fannes (outputs)",
        "local_dp_delta",
        "shannon_capacity",
        "h(d) + d log(n-1) at epsilon 0, n outputs",
        f"{OURS}; half of {PUFFERFISH}, Theorem 1, third implication, part 1",
        fannes,
        needs=("outputs",),
        conditions="epsilon is 0",
        ours=True,
    ),
    Rule(
        "theorem-1-entropies",
        "local_dp_delta",
        "shannon_capacity",
        "2 h(d) + 2 d log n at epsilon 0, n = min(outputs, letters + 1)",
        f"{PUFFERFISH}, Theorem 1, third implication, part 1",
        printed,
        needs=("letters",),
        conditions="epsilon is 0",
    ),
    Rule(
        "theorem-1-entropies (outputs)",
        "local_dp_delta",
        "shannon_capacity",
        "2 h(d) + 2 d log n at epsilon 0, n outputs",
        f"{PUFFERFISH}, Theorem 1, third implication, part 1",
        printed,
        needs=("outputs",),
        conditions="epsilon is 0",
    ),
    Rule(
        "delta-maximal-leakage",
        "local_dp_delta",
        "maximal_leakage",
        "log(exp e + (k-1) d)",
        OURS,
        largest_of_rows,
        needs=("letters",),
        attained="telling every value with probability d, at epsilon 0",
        meets=lambda given: (
            given.before == ZERO and (given.facts.outputs is None or given.facts.outputs > given.letters)
        ),
        ours=True,
    ),
    Rule(
        "delta-maximal-leakage (inputs)",
        "local_information_privacy_delta",
        "maximal_leakage",
        "e + log(1 + k d)",
        OURS,
        # Epsilon + log(1 + k delta): the same with the law of the outputs, above which each of k rows has e^epsilon delta.
        lambda given: given.epsilon_before + (1 + given.letters * given.value).log(),
        needs=("letters",),
        ours=True,
    ),
)
