"""Thresholds: of disclosure, where an attribute is a mixture, where a mechanism excludes a value or a record has copies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from dalenius.conversions.numbers import BITS, bernoulli_divergence
from dalenius.errors import InputError
from dalenius.exact import Integer, Number, Numbers, as_bounded, as_integer, as_law, divided
from dalenius.information.balls import above, ball

MOST_RECORDS = 1_000_000


@dataclass(frozen=True)
class ThresholdDisclosure:
    """Leakage of "no" and "yes" where the release is whether at least `at` of n records have a property; "no" first, in nats.

    The records are independent and have the property with probability p each; S, of binomial law, have it. Nothing is random but the
    data, and yet an answer that is nearly certain reveals little.

    Attributes
    ----------
    leakage : pair of float
        -log P(S < at) and -log P(S >= at): the pointwise maximal leakage of all records to either answer, rounded up. What an answer
        reveals is also how rare it is.
    chernoff : pair of float
        Bounds of these by Chernoff, -log(1 - exp(-n d)), d the divergence of a coin from one of probability p: of (at-1)/n for
        "yes", of at/n for "no"; rounded up. Infinite where this share is on the wrong side of p, or p itself.
    record_min_entropy : pair of float
        -log max_d P(S_i = d | answer), what either answer leaves of a record, rounded down; 0 where it is disclosed.

    Notes
    -----
    The paper looks at "yes" alone, the likely answer. Then H(S_i | yes) >= H(S_i) - leakage of "yes"; about "no" that says nothing,
    and the mechanism has no small pointwise maximal leakage.

    Source: Saeidian et al., Example 3.11, Figure 1, whose m is at - 1.

    >>> found = ThresholdDisclosure.of(200, "0.3", 41)
    >>> [round(told, 8) for told in found.leakage], round(found.chernoff[1], 8)
    ([6.98213992, 0.00092875], 0.00583722)
    >>> [round(left, 6) for left in found.record_min_entropy]
    [0.215813, 0.356816]
    """

    leakage: tuple[float, float]
    chernoff: tuple[float, float]
    record_min_entropy: tuple[float, float]

    @classmethod
    def of(cls, records: Integer, p: Number, at: Integer) -> ThresholdDisclosure:
        """The numbers for n records, at most a million, a probability p, and a threshold from 1 to n.

        Raises
        ------
        InputError
            If a number cannot be read or is out of range.
        """
        n = as_integer(records, "records", at_least=1, at_most=MOST_RECORDS)
        chance, least = as_bounded(p, "p", above=0, below=1), as_integer(at, "at", at_least=1, at_most=n)
        with ctx.workprec(BITS):
            no, yes = _sides(n, chance, least)
            return cls(
                leakage=(_surprise(no[0], yes[0]), _surprise(yes[0], no[0])),
                chernoff=(
                    _chernoff(n, 1 - Fraction(least, n), 1 - chance),
                    _chernoff(n, Fraction(least - 1, n), chance),
                ),
                record_min_entropy=(_left(n, *no), _left(n, *yes)),
            )


def _sides(n: int, p: Fraction, at: int) -> list[tuple[arb, arb]]:
    """P(S < at) and P(S >= at), each with the sum of s P(S = s) over that side; no term is subtracted."""
    odds, found = ball(p) / ball(1 - p), []
    term = ball(1 - p) ** n
    for side in (range(at), range(at, n + 1)):
        chance, ones = arb(0), arb(0)
        for s in side:
            chance += term
            ones += s * term
            term *= odds * (n - s) / (s + 1)
        found.append((chance, ones))
    return found


def _surprise(chance: arb, rest: arb) -> float:
    """-log of a probability, from above; by the probability of everything else, where that is small."""
    return max(0.0, above(-(-rest).log1p() if rest < 0.5 else -chance.log()))


def _left(n: int, chance: arb, ones: arb) -> float:
    """The min-entropy of a record given a side, from below: by symmetry the record is 1 with probability E[S | side]/n."""
    share = ones / (n * chance)
    return max(0.0, -above(share.max(1 - share).log()))


def _chernoff(n: int, share: Fraction, p: Fraction) -> float:
    """-log(1 - exp(-n d(share || p))), from above, for a share below p."""
    if share >= p:
        return math.inf
    return above(-(-(-n * bernoulli_divergence(ball(share), ball(p))).exp()).log1p())


# Attributes that are mixtures: what is disclosed with another one, and where a threshold is passed.


# What is disclosed together with an attribute: another one, with less entropy.


def mixture_threshold(law: Numbers, value: Integer) -> Fraction:
    """The lambda above which W, U's value u with probability lambda and else U itself, has less min-entropy than U; exactly.

    Where a mechanism discloses that U = u, it also discloses W = u, and so an attribute that was easier to guess before.

    Parameters
    ----------
    law : list of Numbers
        The probabilities of U's values.
    value : int
        Which of them is u, counted from 0.

    Returns
    -------
    Fraction
        (max p_U - p_U(u)) / (1 - p_U(u)); at this very lambda the two are equal.

    Raises
    ------
    InputError
        If these are no probabilities, there is no such value, or U is always u.

    Notes
    -----
    Source: Saeidian et al., Prop. 3.6, whose proof takes some lambda near 1.

    >>> mixture_threshold([0.2, 0.5, 0.3], 0)
    Fraction(3, 8)
    """
    chances, at = _attribute(law, value)
    return (max(chances) - chances[at]) / (1 - chances[at])


def mixture_min_entropy(law: Numbers, value: Integer, mixing: Number) -> float:
    """The min-entropy of W, U's value u with probability `mixing` and else U itself, in nats, rounded down.

    Parameters
    ----------
    law, value : as in `mixture_threshold`
    mixing : Number
        lambda, from 0 to 1.

    Returns
    -------
    float
        -log max(lambda + (1 - lambda) p_U(u), (1 - lambda) max p_U).

    Raises
    ------
    InputError
        As `mixture_threshold`, and if lambda is no probability.

    Notes
    -----
    Source: Saeidian et al., Prop. 3.6.

    >>> round(mixture_min_entropy([0.2, 0.5, 0.3], 0, 0.475), 10), round(mixture_min_entropy([0.2, 0.5, 0.3], 0, 0), 10)
    (0.5447271754, 0.6931471806)
    """
    chances, at = _attribute(law, value)
    share = as_bounded(mixing, "mixing", at_least=0, at_most=1)
    best = max(share + (1 - share) * chances[at], (1 - share) * max(chances))
    with ctx.workprec(BITS):
        return max(0.0, -above(ball(best).log())) if best < 1 else 0.0


def _attribute(law: Numbers, value: Integer) -> tuple[tuple[Fraction, ...], int]:
    """Its law, of sum 1 exactly, and the place of a value."""
    weights = divided(as_law(law, "law"), "law")
    at = as_integer(value, "value", at_least=0, at_most=len(weights) - 1)
    if weights[at] == 1:
        raise InputError("law: expected an attribute that is not certain before anything is released")
    return weights, at


# Where a threshold is passed: mechanisms that exclude a value of the secret, and copies of a record that disclose it.


def excluding_threshold(law: Numbers) -> Fraction:
    """The largest alpha for which the first output of `excluding_channel` is the one that reveals most: p/(1-p), at most 1; exactly.

    Here p is the least probability of the law.

    Raises
    ------
    InputError
        If these are no probabilities above 0, of two values at least.

    Notes
    -----
    Source: Saeidian et al., Prop. 3.8, where alpha is "small enough".

    >>> excluding_threshold([0.5, 0.3, 0.2]), excluding_threshold([0.5, 0.5])
    (Fraction(1, 4), Fraction(1, 1))
    """
    weights, rarest = _positive(law)
    return weights[rarest] / (1 - weights[rarest])


def excluding_channel(law: Numbers, alpha: Number) -> list[list[Fraction]]:
    """A mechanism of least leakage among those with an output that excludes a value: rows over two outputs, exactly.

    The rarest value always has the second output; every other one has the first output with probability alpha. The outputs' pointwise
    maximal leakages are log 1/(1-p) and log 1/(1 - alpha (1-p)), and no epsilon of local differential privacy holds. With
    less than log 1/(1-p) one does (CONV-1).

    Parameters
    ----------
    law : list of Numbers
        The probabilities of the secret's values, all above 0.
    alpha : Number
        Above 0, and at most `excluding_threshold`, so that the whole leakage is log 1/(1-p).

    Raises
    ------
    InputError
        If these are no probabilities above 0, of two values at least, or alpha is out of range.

    Notes
    -----
    *Least because* an output that excludes x has the ratio max P(y|.)/P(y) >= 1/(1 - P(x)), as P(y) is a mean in which x has no part.

    Source: Saeidian et al., Prop. 3.8.

    >>> excluding_channel([0.5, 0.3, 0.2], "1/8")[1:]
    [[Fraction(1, 8), Fraction(7, 8)], [Fraction(0, 1), Fraction(1, 1)]]
    """
    weights, rarest = _positive(law)
    share = as_bounded(alpha, "alpha", above=0, at_most=excluding_threshold(law))
    return [[Fraction(0), Fraction(1)] if x == rarest else [share, 1 - share] for x in range(len(weights))]


def copies_threshold(epsilon: Number, p_min: Number, gap: Number) -> float:
    """Number of equal records for each of which an output reveals all but `gap` nats of the most there is; rounded up.

    More than n = log((1-p) / (p (e^gap - 1))) / epsilon copies of one record, each through randomised response of two letters, tell
    -log(p + (1-p) e^(-n epsilon)) > log(1/p) - gap about it: whatever epsilon, differential privacy does not help against correlation.

    Parameters
    ----------
    epsilon : Number
        Of differential privacy, above 0.
    p_min : Number
        p, the probability of the rarer letter; above 0, at most 1/2.
    gap : Number
        In nats, above 0.

    Returns
    -------
    float
        n, at least 0; usually no whole number.

    Raises
    ------
    InputError
        If a number cannot be read or is out of range.

    Notes
    -----
    Source: Saeidian et al., Theorem 4.3; with equal records ours.

    >>> round(copies_threshold(1, 0.2, 0.1), 11), round(copies_threshold("0.1", "1/2", "0.01"), 10)
    (3.63846282216, 46.0016601932)
    """
    budget, left = as_bounded(epsilon, "epsilon", above=0), as_bounded(gap, "gap", above=0)
    p = as_bounded(p_min, "p_min", above=0, at_most=Fraction(1, 2))
    with ctx.workprec(BITS):
        return max(0.0, above((ball((1 - p) / p) / ball(left).expm1()).log() / ball(budget)))


def _positive(law: Numbers) -> tuple[tuple[Fraction, ...], int]:
    """Its law, of sum 1 exactly, and the place of a rarest value."""
    weights = as_law(law, "law")
    if len(weights) < 2 or min(weights) <= 0:
        raise InputError("law: expected two values at least, each of probability above 0")
    return divided(weights, "law"), weights.index(min(weights))
