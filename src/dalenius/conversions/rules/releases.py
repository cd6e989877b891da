"""What holds after several releases with a guarantee each; each may be chosen after those before it, unless a rule says otherwise."""

from __future__ import annotations

from math import comb

from flint import arb

from dalenius.conversions.balls import positive
from dalenius.conversions.rule import DRV, KOV, LMIP, PUFFERFISH, Given, Rule

__all__ = ["RULES"]


def times(given: Given) -> arb:
    """T times."""
    return given.facts.releases * given.value


def repeated_pure(given: Given) -> arb:
    """Of an epsilon without a delta: the hockey-stick divergence of T answers of randomised response."""
    return _repeated(given.value, given.epsilon_after, given.facts.releases)


def repeated(given: Given) -> arb:
    """1 - (1-delta)^T (1 - r): unless some release tells all, they are T answers of randomised response."""
    r = _repeated(given.epsilon_before, given.epsilon_after, given.facts.releases)
    return 1 - (1 - given.value.min(arb(1))) ** given.facts.releases * (1 - r)


def basic(given: Given) -> arb | None:
    """T delta, for T times the epsilon."""
    assert given.before is not None
    assert given.after is not None
    count = given.facts.releases
    return count * given.value if given.after.at_least(given.before.times(count)) else None


def _repeated(epsilon: arb, asked: arb, count: int) -> arb:
    """Sum over l of (T over l) (e^((T-l) epsilon) - e^(asked + l epsilon))_+ / (1 + e^epsilon)^T."""
    low = 1 / (1 + epsilon.exp())
    high, factor, total = 1 - low, asked.exp(), arb(0)
    for flips in range(count // 2 + 1):
        gain = 1 - factor * (-(count - 2 * flips) * epsilon).exp()
        if gain <= 0:
            break
        total += comb(count, flips) * high ** (count - flips) * low**flips * positive(gain)
    return total


ADAPTIVE = "the releases may be chosen one after another"
INDEPENDENT = "the releases are independent given the secret, and none is chosen after another"
RULES = (
    *(
        Rule(
            f"composition ({name})",
            name,
            name,
            "T e",
            f"{DRV}, Theorem 3.16",
            times,
            conditions=ADAPTIVE,
            attained="randomised response, T times",
            releases=True,
        )
        for name in ("differential_privacy", "free_lunch_privacy", "local_dp")
    ),
    Rule(
        "optimal-composition-pure",
        "local_dp",
        "local_dp_delta",
        "sum over l of C(T,l) (exp((T-l)C) - exp(e + lC))_+ / (1 + exp C)^T",
        f"{KOV}, Theorem 3.3",
        repeated_pure,
        conditions=ADAPTIVE,
        attained="randomised response, T times",
        releases=True,
    ),
    Rule(
        "optimal-composition",
        "local_dp_delta",
        "local_dp_delta",
        "1 - (1-d)^T (1 - r), r that of T answers of randomised response with the epsilon",
        f"{KOV}, Theorem 3.3",
        repeated,
        conditions=ADAPTIVE,
        attained="randomised response that tells the secret with probability d, T times",
        releases=True,
    ),
    Rule(
        "basic-composition",
        "local_dp_delta",
        "local_dp_delta",
        "T d at T e",
        f"{DRV}, Theorem 3.16",
        basic,
        conditions=ADAPTIVE,
        releases=True,
    ),
    Rule(
        "composition (information)",
        "mutual_information",
        "mutual_information",
        "T mu",
        f"{PUFFERFISH}, Proposition 1",
        times,
        conditions=INDEPENDENT,
        releases=True,
    ),
    *(
        Rule(
            f"composition ({name})",
            name,
            name,
            "T mu",
            f"{PUFFERFISH}, Corollary 1; {LMIP}: the chain rule, for every prior",
            times,
            conditions=ADAPTIVE,
            releases=True,
        )
        for name in ("shannon_capacity", "pairwise_divergence")
    ),
    Rule(
        "composition (maximal leakage)",
        "maximal_leakage",
        "maximal_leakage",
        "T L",
        "Issa, Wagner, Kamath, An operational approach to information leakage, Theorem 6",
        times,
        conditions=INDEPENDENT,
        releases=True,
    ),
)
