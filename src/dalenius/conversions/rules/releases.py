"""Rules after several releases with a guarantee each; each may be chosen after those before it, unless a rule says otherwise."""

from __future__ import annotations

from functools import lru_cache

from flint import arb, arb_poly, ctx

from dalenius.conversions.numbers import Epsilon
from dalenius.conversions.rule import Composed, Given, Rules

SOME = 16  # an answer for so many is enough to see that all are too many


def times(given: Given) -> arb:
    """T times."""
    return given.facts.releases * given.value


def _of_so_many(given: Given, count: int) -> arb:
    r = _answers(given.before, given.after, count, ctx.prec)
    return 1 - (1 - given.value.min(arb(1))) ** given.facts.releases * (1 - r)


@lru_cache(maxsize=4096)
def _answers(before: Epsilon, after: Epsilon, count: int, bits: int) -> arb:
    """r: chains with other deltas ask for it again."""
    with ctx.workprec(bits):
        return _repeated(before.ball(), after.ball(), count)


def _repeated(epsilon: arb, asked: arb, count: int) -> arb:
    """Sum over l of (T over l) (e^((T-l) epsilon) - e^(asked + l epsilon))_+ / (1 + e^epsilon)^T.

    It is the largest over m of the sum over l <= m without the positive part. The best m is (T - asked/epsilon)/2, rounded down:
    two polynomials in e^-epsilon and e^epsilon. Where a ball does not say which m that is, all that it may be are tried.
    """
    if epsilon == 0:
        return arb(0)
    last = (count - asked / epsilon) / 2
    if not last.is_finite():
        return arb(1)
    least, most = (max(_floor(end), -1) for end in (last.lower(), last.upper()))
    choose, odds = _binomials(count, ctx.prec), epsilon.exp()
    found = arb(0)
    for flips in range(least, most + 1):
        terms = arb_poly(choose[: flips + 1])
        found = found.max((odds**count * terms(1 / odds) - asked.exp() * terms(odds)) / (1 + odds) ** count)
    return found


def _floor(end: arb) -> int:
    """Of an end of a ball, which is an exact number."""
    whole = end.floor().unique_fmpz()
    assert whole is not None
    return int(whole)


@lru_cache(maxsize=8)
def _binomials(count: int, bits: int) -> list[arb]:
    """(T over l), l <= T/2, in balls of so many bits."""
    terms = [arb(1)]
    with ctx.workprec(bits):
        for flips in range(count // 2):
            terms.append(terms[-1] * (count - flips) / (flips + 1))
    return terms


ADAPTIVE = "the releases may be chosen one after another"
RULES = Rules()
RULES.extend(
    Composed(
        f"composition ({name})",
        f"{name} -> {name}",
        "T e",
        "DRV, Theorem 3.16",
        times,
        conditions=ADAPTIVE,
        attained="randomised response, T times",
    )
    for name in ("differential_privacy", "free_lunch_privacy", "local_dp")
)


@RULES("optimal-composition-pure", "local_dp -> local_dp_delta", releases=True)
def optimal_composition_pure(given: Given) -> arb:
    """sum over l of C(T,l) (exp((T-l)C) - exp(e + lC))_+ / (1 + exp C)^T

    Source: KOV, Theorem 3.3
    If: the releases may be chosen one after another
    Attained by: randomised response, T times

    Of an epsilon without a delta: the hockey-stick divergence of T answers of randomised response.
    """
    return _repeated(given.value, given.epsilon_after, given.facts.releases)


@RULES(
    "optimal-composition",
    "local_dp_delta -> local_dp_delta",
    releases=True,
    least=lambda given: _of_so_many(given, 1 + given.facts.releases // SOME),
)
def repeated(given: Given) -> arb:
    """1 - (1-d)^T (1 - r), r that of T answers of randomised response with the epsilon

    Source: KOV, Theorem 3.3
    If: the releases may be chosen one after another
    Attained by: randomised response that tells the secret with probability d, T times

    Unless some release reveals all, they are T answers of randomised response; of fewer r is smaller.
    """
    return _of_so_many(given, given.facts.releases)


OPTIMAL = RULES[-1]


@RULES("basic-composition", "local_dp_delta -> local_dp_delta", releases=True)
def basic(given: Given) -> arb | None:
    """T d at T e

    Source: DRV, Theorem 3.16
    If: the releases may be chosen one after another
    """
    return given.facts.releases * given.value if given.reaches(given.facts.releases) else None


@RULES("composition (information)", "mutual_information -> mutual_information", releases=True)
def of_information(given: Given) -> arb:
    """T mu

    Source: PUFFERFISH, Proposition 1
    If: the releases are independent given the secret, and none is chosen after another
    """
    return times(given)


RULES.extend(
    Composed(
        f"composition ({name})",
        f"{name} -> {name}",
        "T mu",
        "PUFFERFISH, Corollary 1; LMIP: the chain rule, for every prior",
        times,
        conditions=ADAPTIVE,
    )
    for name in ("shannon_capacity", "pairwise_divergence")
)


@RULES("composition (maximal leakage)", "maximal_leakage -> maximal_leakage", releases=True)
def of_maximal_leakage(given: Given) -> arb:
    """T L

    Source: Issa, Wagner, Kamath, An operational approach to information leakage, Theorem 6
    If: the releases are independent given the secret, and none is chosen after another
    """
    return times(given)
