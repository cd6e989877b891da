"""Whether at least so many of n independent records have a property: what either answer tells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from dalenius.conversions.numbers import bernoulli_divergence, larger
from dalenius.errors import InputError
from dalenius.exact import Integer, Number, as_fraction, as_integer
from dalenius.information.balls import above, ball

BITS = 160  # of the balls
MOST_RECORDS = 1_000_000


@dataclass(frozen=True)
class ThresholdDisclosure:
    """What "no" and "yes" tell where the release is whether at least `at` of n records have a property; pairs, "no" first, in nats.

    The records are independent and have the property with probability p each; S, of binomial law, have it. Nothing is random but the
    data, and yet an answer that is nearly certain tells little.

    Attributes
    ----------
    leakage : pair of float
        -log P(S < at) and -log P(S >= at): the pointwise maximal leakage of all records to either answer, rounded up. What an answer
        tells is also how rare it is.
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
        chance, least = as_fraction(p, "p"), as_integer(at, "at", at_least=1, at_most=n)
        if not 0 < chance < 1:
            raise InputError(f"p: expected a number above 0 and below 1, got {float(chance):g}")
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
    return max(0.0, -above(larger(share, 1 - share).log()))


def _chernoff(n: int, share: Fraction, p: Fraction) -> float:
    """-log(1 - exp(-n d(share || p))), from above, for a share below p."""
    if share >= p:
        return math.inf
    return above(-(-(-n * bernoulli_divergence(ball(share), ball(p))).exp()).log1p())
