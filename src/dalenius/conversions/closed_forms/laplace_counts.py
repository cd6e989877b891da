"""Laplace noise on the share of records with a property, whose records are independent: pointwise maximal leakage exactly."""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx

from dalenius.conversions.numbers import larger
from dalenius.errors import InputError
from dalenius.exact import Integer, Number, as_fraction, as_integer
from dalenius.information.balls import above, ball

BITS = 160  # of the balls, beside those of the numbers that are given


def laplace_count_leakage(records: Integer, scale: Number, *, c: Number = 0, sharp: bool = True) -> float:
    """The most that any output tells about a record: x - log((1-c) + c exp(x)), x = 1/(n b), in nats, rounded up.

    Parameters
    ----------
    records : int
        n, how many independent records there are; each has the property with the same probability p, known to be in (c, 1-c).
    scale : Number
        b of the Laplace noise on the share of the records with the property; above 0.
    c : Number
        At least 0 and below 1/2; 0 says nothing about p, and what is left is differential privacy's 1/(n b).
    sharp : bool
        False for the simplified form of the paper, (1-c) x + c^2 x^2 / 2, which is never less, and may exceed 1/(n b).

    Raises
    ------
    InputError
        If a number cannot be read or is out of range.

    Notes
    -----
    It is the supremum over p and over outputs, reached as p tends to c and the output is at least 1. *Bound because* the likelihood of
    an output differs by a factor of at least exp(-x) between the record's two values.

    Source: Saeidian et al., Prop. 4.6.

    >>> round(laplace_count_leakage(10, 0.1, c=0.3), 12), round(laplace_count_leakage(10, 0.1), 12)
    (0.584264778156, 1.0)
    """
    n, b, least = _records(records), _scale(scale), _least(c)
    with ctx.workprec(_bits(b, least)):
        x, floor = 1 / (n * ball(b)), ball(least)
        if not sharp:
            return above((1 - floor) * x + (floor * x) ** 2 / 2)
        return min(above(_told(x, floor)), above(x))


def laplace_count_tails(records: Integer, scale: Number, p: Number) -> tuple[float, float]:
    """What outputs from 1 up, and outputs from 0 down, tell about a record that has the property with probability p; in nats, up.

    These are -log(p + (1-p) exp(-x)) and -log((1-p) + p exp(-x)), x = 1/(n b); no output in between tells more than the larger.

    Parameters
    ----------
    records, scale : as in `laplace_count_leakage`
    p : Number
        Above 0 and below 1.

    Raises
    ------
    InputError
        If a number cannot be read or is out of range.

    Notes
    -----
    Source: Saeidian et al., proof of Prop. 4.6, where the step about monotony is false and not needed.

    >>> [round(told, 9) for told in laplace_count_tails(10, 0.1, 0.3)]
    [0.584264778, 0.210271956]
    """
    n, b, chance = _records(records), _scale(scale), _probability(p)
    with ctx.workprec(_bits(b, chance)):
        x = 1 / (n * ball(b))
        high, low = (min(above(_told(x, ball(share))), above(x)) for share in (chance, 1 - chance))
    return high, low


def laplace_count_scale(epsilon: Number, records: Integer, *, c: Number = 0) -> float:
    """The least b with which no output tells more than epsilon about a record, rounded up; 0 if any b does.

    It is 1/(n x) with x = log((1-c) / (exp(-epsilon) - c)), and every scale will do where exp(-epsilon) <= c.

    Parameters
    ----------
    epsilon : Number
        In nats, above 0.
    records, c : as in `laplace_count_leakage`, whose inverse this is

    Raises
    ------
    InputError
        If a number cannot be read or is out of range.

    Notes
    -----
    Source: Saeidian et al., Prop. 4.6, solved for b.

    >>> round(laplace_count_scale(0.1, 10), 12), laplace_count_scale(2, 10, c=0.3)
    (1.0, 0.0)
    >>> scale = laplace_count_scale("0.5", 10, c="0.3")
    >>> round(scale, 9), round(laplace_count_leakage(10, scale, c="0.3"), 12)
    (0.121100188, 0.5)
    """
    budget, n, least = as_fraction(epsilon, "epsilon"), _records(records), _least(c)
    if budget <= 0:
        raise InputError(f"epsilon: expected a number above 0, got {float(budget):g}")
    with ctx.workprec(_bits(budget, least)):
        left = ((-ball(budget)).exp() - ball(least)).upper()  # from above: x is then no larger, and b no smaller
        if not left > 0:
            return 0.0
        return above(1 / (n * ((1 - ball(least)) / left).log()))


def laplace_dataset_leakage(records: Integer, scale: Number, p: Number) -> float:
    """The most that any output tells about all records: max(1/b - n log(1-p + p exp(x)), -n log(1-p + p exp(-x))), nats, up.

    Parameters
    ----------
    records, scale, p : as in `laplace_count_tails`

    Raises
    ------
    InputError
        If a number cannot be read or is out of range.

    Notes
    -----
    x = 1/(n b). The first is what outputs from 1 up tell, the second outputs from 0 down. No output in between tells more: from a
    possible count to the middle between two the leakage falls, and at the counts themselves the density is a convolution of two
    log-concave sequences, so that it is least at an end, where the likeliest dataset is as likely as at any count.

    Source: ours, beside Saeidian et al., Prop. 4.6.

    >>> round(laplace_dataset_leakage(10, 0.1, 0.3), 10), round(laplace_dataset_leakage(100, 0.05, 0.5), 10)
    (5.8426477816, 9.5008311178)
    """
    n, b, chance = _records(records), _scale(scale), _probability(p)
    with ctx.workprec(_bits(b, chance) + n.bit_length()):
        x, share = 1 / (n * ball(b)), ball(chance)
        whole = 1 / ball(b)
        high = n * _told(x, share)  # 1/b = n x, so that n x - n log(1-p + p e^x) is this
        low = n * _told(x, 1 - share)
        return min(above(larger(high, low)), above(whole))


def _told(x: arb, share: arb) -> arb:
    """-log(share + (1 - share) exp(-x))."""
    return -(share + (1 - share) * (-x).exp()).log()


def _bits(*numbers: Fraction) -> int:
    """A precision that also very small numbers survive."""
    return BITS + sum(number.numerator.bit_length() + number.denominator.bit_length() for number in numbers)


def _records(records: Integer) -> int:
    return as_integer(records, "records", at_least=1)


def _scale(scale: Number) -> Fraction:
    b = as_fraction(scale, "scale")
    if b <= 0:
        raise InputError(f"scale: expected a number above 0, got {float(b):g}")
    return b


def _least(c: Number) -> Fraction:
    least = as_fraction(c, "c")
    if not 0 <= least < Fraction(1, 2):
        raise InputError(f"c: expected a number of at least 0 and below 1/2, got {float(least):g}")
    return least


def _probability(p: Number) -> Fraction:
    chance = as_fraction(p, "p")
    if not 0 < chance < 1:
        raise InputError(f"p: expected a number above 0 and below 1, got {float(chance):g}")
    return chance
