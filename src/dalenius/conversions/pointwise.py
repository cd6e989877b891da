"""Pointwise maximal leakage: over priors that give no value less than a floor; of Laplace noise on a count of independent records."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from flint import arb, ctx

from dalenius.conversions.numbers import BITS
from dalenius.errors import InputError
from dalenius.exact import Integer, Number, as_bounded, as_integer, as_law, as_list, divided
from dalenius.information.balls import above, ball

MOST_DATASETS = 4096
Ratio = tuple[Fraction, Fraction]
NONE = Fraction(0), Fraction(1)


def conditional_leakage_with_floor(channel: Sequence[Sequence[Number]], letters: Integer, floor: Number) -> float:
    """The most that an output reveals about a record to whoever knows the others, if each value keeps probability `floor`; nats, up.

    It is log(max k / (floor sum k + (1 - letters floor) min k)), k the likelihoods of an output for the values of a record, the others
    held fixed; the largest over outputs, records and values of the others. With as many letters as rows, one record, it is
    Theorem 4.5(1): the most revealed about the whole dataset, where each dataset keeps that probability.

    Parameters
    ----------
    channel : list of rows of Numbers
        A row a dataset, the last record's value moving fastest; every row sums to 1. At most 4096 rows.
    letters : int
        How many values a record has; the number of rows is a power of it.
    floor : Number
        tau, from 0 to 1/letters: no value has less probability, given the others. With 0 it is the epsilon of differential privacy.

    Raises
    ------
    InputError
        If a row is no law, rows differ in length, their number is no power of `letters`, or the floor is out of range.

    Notes
    -----
    Source: Saeidian et al., Theorem 4.2(1) and (2), of which these are the values before the limit; the identity is ours. It is
    attained: all that the floors leave goes to the value with the least likelihood.

    >>> release = [["0.9", "0.1"], ["0.7", "0.3"], ["0.6", "0.4"], ["0.2", "0.8"]]
    >>> [round(conditional_leakage_with_floor(release, 2, tau), 9) for tau in ("0.25", "0.01", 0)]
    [0.826678573, 1.356735559, 1.386294361]
    """
    known, tau = _Channel.of(channel, letters), _floor(floor, letters)
    return _log_above(*known.largest(lambda column, i: _worst_lines(known.lines(column, i), tau)))


def record_leakage_with_floor(channel: Sequence[Sequence[Number]], letters: Integer, floor: Number) -> float:
    """The most that an output reveals about a record, the records independent, each value with `floor` at least; nats, up.

    Parameters
    ----------
    channel, letters, floor : as in `conditional_leakage_with_floor`

    Raises
    ------
    InputError
        As there.

    Notes
    -----
    The leakage is a ratio of two functions that are linear in the law of each record, so that it is largest where every law is a
    vertex: the floor everywhere, and all that is left on one value. These are all tried, exactly.

    Source: Saeidian et al., Theorem 4.2(3), before the limit; the vertices are ours.

    >>> release = [["0.9", "0.1"], ["0.7", "0.3"], ["0.6", "0.4"], ["0.2", "0.8"]]
    >>> [round(record_leakage_with_floor(release, 2, tau), 9) for tau in ("0.25", "0.01")]
    [0.744440475, 1.34726407]
    """
    known, tau = _Channel.of(channel, letters), _floor(floor, letters)
    return _log_above(*known.largest(lambda column, i: _worst_lines(known.lines(known.mixed(column, tau, i), i), tau)))


def dataset_leakage_with_floor(channel: Sequence[Sequence[Number]], letters: Integer, floor: Number) -> float:
    """Most that an output reveals about all records, which are independent, each value with probability `floor` at least; nats, up.

    Parameters
    ----------
    channel, letters, floor : as in `conditional_leakage_with_floor`; with floor 0 it is the epsilon of free-lunch privacy

    Raises
    ------
    InputError
        As there.

    Notes
    -----
    The probability of an output is linear in the law of each record, so that it is least where every law is a
    vertex; these are all tried.

    Source: Saeidian et al., Theorem 4.5(2), before the limit; the vertices are ours.

    >>> release = [["0.9", "0.1"], ["0.7", "0.3"], ["0.6", "0.4"], ["0.2", "0.8"]]
    >>> [round(dataset_leakage_with_floor(release, 2, tau), 9) for tau in ("0.25", "0.01", 0)]
    [1.214444104, 2.030460919, 2.079441542]
    """
    known, tau = _Channel.of(channel, letters), _floor(floor, letters)
    return _log_above(
        *reduce(_larger_ratio, ((max(each), min(known.mixed(each, tau))) for each in known.columns), NONE)
    )


def correlated_record_leakage(channel: Sequence[Sequence[Number]], letters: Integer, share: Number) -> float:
    """Leakage of an output about a record under a prior in which the others depend on it as badly as they can; in nats, down.

    Parameters
    ----------
    channel, letters : as in `conditional_leakage_with_floor`
    share : Number
        Above 0 and below 1: what the prior leaves to all but the worst. The smaller, the nearer to free-lunch privacy's epsilon.

    Returns
    -------
    float
        A bound from below on the most that is told about a record over all priors, as a prior of full support attains it.

    Raises
    ------
    InputError
        As there.

    Notes
    -----
    For an output, a record and its value d: with probability 1 - share the others are what makes the output likeliest if the record
    is d, and what makes it least likely if it is not; all else has equal parts of `share`. The record itself has, with all but
    `share`, the value with the least likely output. The largest over outputs, records and d: the paper's "fix an arbitrary record" is
    not enough.

    Source: Saeidian et al., Theorem 4.5(3), the construction of its proof.

    >>> release = [["0.9", "0.1"], ["0.7", "0.3"], ["0.6", "0.4"], ["0.2", "0.8"]]
    >>> round(correlated_record_leakage(release, 2, "0.1"), 9), round(correlated_record_leakage(release, 2, "1e-8"), 9)
    (1.418382676, 2.079441447)
    """
    known, part = _Channel.of(channel, letters), as_bounded(share, "share", above=0, below=1)

    def ratios(column: Sequence[Fraction], i: int) -> Iterator[Ratio]:
        given = list(zip(*known.lines(column, i), strict=True))  # of each value of the record, for each of the others'
        least = [_mostly(min(line), line, part) for line in given]
        for d, line in enumerate(given):
            told = _mostly(max(line), line, part)
            laws = [told if other == d else mean for other, mean in enumerate(least)]
            yield told, _mostly(min(laws), laws, part)

    best = known.largest(ratios)
    with ctx.workprec(BITS):
        return max(0.0, -above((ball(best[1]) / ball(best[0])).log()))


@dataclass(frozen=True)
class _Channel:
    """The likelihoods of every output that may occur, a tuple over the datasets an output."""

    columns: tuple[tuple[Fraction, ...], ...]
    letters: int
    records: int

    @classmethod
    def of(cls, channel: Sequence[Sequence[Number]], letters: Integer) -> _Channel:
        """The rows, read and checked; each divided by its sum, which is 1 up to 1e-9."""
        size = as_integer(letters, "letters", at_least=2)
        rows = [as_law(row, f"channel[{x}]") for x, row in enumerate(as_list(channel, "channel"))]
        records = round(math.log(max(len(rows), 1), size))
        if len(rows) > MOST_DATASETS or records < 1 or size**records != len(rows):
            raise InputError(
                f"channel: expected as many rows as a power of {size}, at most {MOST_DATASETS}, got {len(rows)}"
            )
        if len({len(row) for row in rows}) != 1:
            raise InputError("channel: expected rows of one length")
        laws = [divided(row, f"channel[{x}]") for x, row in enumerate(rows)]
        return cls(tuple(column for column in zip(*laws, strict=True) if max(column) > 0), size, records)

    def largest(self, ratios: Callable[[Sequence[Fraction], int], Iterable[Ratio]]) -> Ratio:
        """The largest ratio of all outputs and records."""
        every = (ratios(column, i) for column in self.columns for i in range(self.records))
        return reduce(_larger_ratio, itertools.chain.from_iterable(every), NONE)

    def lines(self, column: Sequence[Fraction], i: int) -> Iterator[tuple[Fraction, ...]]:
        """For each of the others' values what the column has for the values of record i."""
        step = self.letters ** (self.records - 1 - i)
        for head, tail in itertools.product(range(0, len(column), step * self.letters), range(step)):
            yield tuple(column[head + tail + d * step] for d in range(self.letters))

    def mixed(self, column: Sequence[Fraction], tau: Fraction, but: int | None = None) -> Sequence[Fraction]:
        """Means over the values of all records, or all but one."""
        return reduce(lambda mixed, j: self._mixed(mixed, j, tau), (j for j in range(self.records) if j != but), column)

    def _mixed(self, column: Sequence[Fraction], j: int, tau: Fraction) -> Sequence[Fraction]:
        """Means over record j's value, which is as it was with all but the floors' probability."""
        step, kept = self.letters ** (self.records - 1 - j), 1 - self.letters * tau
        found = [kept * entry for entry in column]
        for head, tail in itertools.product(range(0, len(column), step * self.letters), range(step)):
            places = [head + tail + d * step for d in range(self.letters)]
            floors = tau * sum((column[place] for place in places), Fraction(0))
            for place in places:
                found[place] += floors
        return found


def _mostly(chosen: Fraction, entries: Sequence[Fraction], share: Fraction) -> Fraction:
    """The mean in which one entry has all but `share`, and the others equal parts of it; where there is one only, that."""
    if len(entries) == 1:
        return chosen
    return (1 - share) * chosen + share * (sum(entries, Fraction(0)) - chosen) / (len(entries) - 1)


def _floor(floor: Number, letters: Integer) -> Fraction:
    return as_bounded(floor, "floor", at_least=0, at_most=Fraction(1, int(letters)))


def _worst_lines(lines: Iterable[tuple[Fraction, ...]], tau: Fraction) -> Iterator[Ratio]:
    """The largest likelihood over the least mean that the floor allows, of each line."""
    return ((max(line), tau * sum(line, Fraction(0)) + (1 - len(line) * tau) * min(line)) for line in lines)


def _larger_ratio(first: Ratio, second: Ratio) -> Ratio:
    """Of two ratios a/b, b possibly 0, the larger; 0/0, where an output does not occur, is no ratio."""
    if not any(second):
        return first
    return second if second[0] * first[1] > first[0] * second[1] else first


def _log_above(numerator: Fraction, denominator: Fraction) -> float:
    """The logarithm of the ratio, from above; the largest ratio is at least 1."""
    if not denominator:
        return math.inf
    with ctx.workprec(BITS):
        return 0.0 if numerator == denominator else above((ball(numerator) / ball(denominator)).log())


def laplace_count_leakage(records: Integer, scale: Number, *, c: Number = 0, sharp: bool = True) -> float:
    """The most that any output reveals about a record: x - log((1-c) + c exp(x)), x = 1/(n b), in nats, rounded up.

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
    """Leakage of outputs from 1 up, and of those from 0 down, about a record with the property with probability p; in nats, up.

    These are -log(p + (1-p) exp(-x)) and -log((1-p) + p exp(-x)), x = 1/(n b); no output in between reveals more than the larger.

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
    """The least b with which no output reveals more than epsilon about a record, rounded up; 0 if any b does.

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
    budget, n, least = as_bounded(epsilon, "epsilon", above=0), _records(records), _least(c)
    with ctx.workprec(_bits(budget, least)):
        left = ((-ball(budget)).exp() - ball(least)).upper()  # from above: x is then no larger, and b no smaller
        if not left > 0:
            return 0.0
        return above(1 / (n * ((1 - ball(least)) / left).log()))


def laplace_dataset_leakage(records: Integer, scale: Number, p: Number) -> float:
    """The most that any output reveals about all records: max(1/b - n log(1-p + p exp(x)), -n log(1-p + p exp(-x))), nats, up.

    Parameters
    ----------
    records, scale, p : as in `laplace_count_tails`

    Raises
    ------
    InputError
        If a number cannot be read or is out of range.

    Notes
    -----
    x = 1/(n b). The first is what outputs from 1 up tell, the second outputs from 0 down. No output in between reveals more: from a
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
        return min(above(high.max(low)), above(whole))


def _told(x: arb, share: arb) -> arb:
    """-log(share + (1 - share) exp(-x))."""
    return -(share + (1 - share) * (-x).exp()).log()


def _bits(*numbers: Fraction) -> int:
    """A precision that also very small numbers survive."""
    return BITS + sum(number.numerator.bit_length() + number.denominator.bit_length() for number in numbers)


def _records(records: Integer) -> int:
    return as_integer(records, "records", at_least=1)


def _scale(scale: Number) -> Fraction:
    return as_bounded(scale, "scale", above=0)


def _least(c: Number) -> Fraction:
    return as_bounded(c, "c", at_least=0, below=Fraction(1, 2))


def _probability(p: Number) -> Fraction:
    return as_bounded(p, "p", above=0, below=1)
