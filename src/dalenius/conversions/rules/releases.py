"""Rules after several releases with a guarantee each; each may be chosen after those before it, unless a rule says otherwise."""

from __future__ import annotations

from functools import lru_cache

from flint import arb, arb_poly, ctx

from dalenius.conversions.numbers import Epsilon
from dalenius.conversions.rule import DRV, KOV, LMIP, PUFFERFISH, Composed, Given

SOME = 16  # an answer for so many is enough to see that all are too many


def times(given: Given) -> arb:
    """T times."""
    return given.facts.releases * given.value


def repeated(given: Given, count: int | None = None) -> arb:
    """1 - (1-delta)^T (1 - r): unless some release reveals all, they are T answers of randomised response; of fewer r is smaller."""
    assert given.before is not None
    assert given.after is not None
    r = _answers(given.before, given.after, count or given.facts.releases, ctx.prec)
    return 1 - (1 - given.value.min(arb(1))) ** given.facts.releases * (1 - r)


def basic(given: Given) -> arb | None:
    """T delta, for T times the epsilon."""
    return given.facts.releases * given.value if given.reaches(given.facts.releases) else None


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
INDEPENDENT = "the releases are independent given the secret, and none is chosen after another"
OPTIMAL = Composed(
    "optimal-composition",
    "local_dp_delta -> local_dp_delta",
    "1 - (1-d)^T (1 - r), r that of T answers of randomised response with the epsilon",
    f"{KOV}, Theorem 3.3",
    repeated,
    conditions=ADAPTIVE,
    attained="randomised response that tells the secret with probability d, T times",
    least=lambda given: repeated(given, 1 + given.facts.releases // SOME),
)
RULES = (
    *(
        Composed(
            f"composition ({name})",
            f"{name} -> {name}",
            "T e",
            f"{DRV}, Theorem 3.16",
            times,
            conditions=ADAPTIVE,
            attained="randomised response, T times",
        )
        for name in ("differential_privacy", "free_lunch_privacy", "local_dp")
    ),
    Composed(
        "optimal-composition-pure",
        "local_dp -> local_dp_delta",
        "sum over l of C(T,l) (exp((T-l)C) - exp(e + lC))_+ / (1 + exp C)^T",
        f"{KOV}, Theorem 3.3",
        # Of an epsilon without a delta: the hockey-stick divergence of T answers of randomised response.
        lambda given: _repeated(given.value, given.epsilon_after, given.facts.releases),
        conditions=ADAPTIVE,
        attained="randomised response, T times",
    ),
    OPTIMAL,
    Composed(
        "basic-composition",
        "local_dp_delta -> local_dp_delta",
        "T d at T e",
        f"{DRV}, Theorem 3.16",
        basic,
        conditions=ADAPTIVE,
    ),
    Composed(
        "composition (information)",
        "mutual_information -> mutual_information",
        "T mu",
        f"{PUFFERFISH}, Proposition 1",
        times,
        conditions=INDEPENDENT,
    ),
    *(
        Composed(
            f"composition ({name})",
            f"{name} -> {name}",
            "T mu",
            f"{PUFFERFISH}, Corollary 1; {LMIP}: the chain rule, for every prior",
            times,
            conditions=ADAPTIVE,
        )
        for name in ("shannon_capacity", "pairwise_divergence")
    ),
    Composed(
        "composition (maximal leakage)",
        "maximal_leakage -> maximal_leakage",
        "T L",
        "Issa, Wagner, Kamath, An operational approach to information leakage, Theorem 6",
        times,
        conditions=INDEPENDENT,
    ),
)
