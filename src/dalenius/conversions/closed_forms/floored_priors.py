"""Pointwise maximal leakage over priors that give no value less than a floor: what differential privacy is the limit of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import ctx

from dalenius.errors import InputError
from dalenius.exact import Integer, Number, as_fraction, as_integer, as_law, as_list, exact_sum
from dalenius.information.balls import above, ball

BITS = 160  # of the balls
MOST_DATASETS = 4096


def conditional_leakage_with_floor(channel: Sequence[Sequence[Number]], letters: Integer, floor: Number) -> float:
    """The most that an output tells about a record to whoever knows the others, if each value keeps probability `floor`; nats, up.

    It is log(max k / (floor sum k + (1 - letters floor) min k)), k the likelihoods of an output for the values of a record, the others
    held fixed; the largest over outputs, records and values of the others. With as many letters as rows, one record, it is
    Theorem 4.5(1): the most told about the whole dataset, where each dataset keeps that probability.

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
    best = Fraction(0), Fraction(1)
    for column in known.columns:
        for i in range(known.records):
            best = _worst_line(best, known.lines(column, i), tau)
    return _log_above(*best)


def record_leakage_with_floor(channel: Sequence[Sequence[Number]], letters: Integer, floor: Number) -> float:
    """The most that an output tells about a record, the records independent, each value with `floor` at least; nats, up.

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
    best = Fraction(0), Fraction(1)
    for column in known.columns:
        for i in range(known.records):
            mixed = column
            for j in range(known.records):
                if j != i:
                    mixed = known.mixed(mixed, j, tau)
            best = _worst_line(best, known.lines(mixed, i), tau)
    return _log_above(*best)


def dataset_leakage_with_floor(channel: Sequence[Sequence[Number]], letters: Integer, floor: Number) -> float:
    """The most that an output tells about all records, which are independent, each value with probability `floor` at least; nats, up.

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
    best = Fraction(0), Fraction(1)
    for column in known.columns:
        mixed = column
        for j in range(known.records):
            mixed = known.mixed(mixed, j, tau)
        best = _larger_ratio(best, (max(column), min(mixed)))
    return _log_above(*best)


def correlated_record_leakage(channel: Sequence[Sequence[Number]], letters: Integer, share: Number) -> float:
    """What an output tells about a record under a prior in which the others depend on it as badly as they can; in nats, rounded down.

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
    known, part = _Channel.of(channel, letters), as_fraction(share, "share")
    if not 0 < part < 1:
        raise InputError(f"share: expected a number above 0 and below 1, got {float(part):g}")
    best = Fraction(0), Fraction(1)
    for column in known.columns:
        for i in range(known.records):
            given = list(
                zip(*known.lines(column, i), strict=True)
            )  # for each value of the record, one entry for each of the others'
            least = [_mostly(min(line), line, part) for line in given]
            for d, line in enumerate(given):
                told = _mostly(max(line), line, part)
                laws = [told if other == d else mean for other, mean in enumerate(least)]
                best = _larger_ratio(best, (told, _mostly(min(laws), laws, part)))
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
        laws = [tuple(entry / exact_sum(row, f"channel[{x}]") for entry in row) for x, row in enumerate(rows)]
        return cls(tuple(column for column in zip(*laws, strict=True) if max(column) > 0), size, records)

    def lines(self, column: Sequence[Fraction], i: int) -> Iterator[tuple[Fraction, ...]]:
        """For each of the others' values what the column has for the values of record i."""
        step = self.letters ** (self.records - 1 - i)
        for head, tail in itertools.product(range(0, len(column), step * self.letters), range(step)):
            yield tuple(column[head + tail + d * step] for d in range(self.letters))

    def mixed(self, column: Sequence[Fraction], j: int, tau: Fraction) -> tuple[Fraction, ...]:
        """Means over record j's value, which is as it was with all but the floors' probability."""
        step, kept = self.letters ** (self.records - 1 - j), 1 - self.letters * tau
        found = [kept * entry for entry in column]
        for head, tail in itertools.product(range(0, len(column), step * self.letters), range(step)):
            places = [head + tail + d * step for d in range(self.letters)]
            floors = tau * sum((column[place] for place in places), Fraction(0))
            for place in places:
                found[place] += floors
        return tuple(found)


def _mostly(chosen: Fraction, entries: Sequence[Fraction], share: Fraction) -> Fraction:
    """The mean in which one entry has all but `share`, and the others equal parts of it; where there is one only, that."""
    if len(entries) == 1:
        return chosen
    return (1 - share) * chosen + share * (sum(entries, Fraction(0)) - chosen) / (len(entries) - 1)


def _floor(floor: Number, letters: Integer) -> Fraction:
    tau = as_fraction(floor, "floor")
    if not 0 <= tau * int(letters) <= 1:
        raise InputError(f"floor: expected a number from 0 to 1/{int(letters)}, got {float(tau):g}")
    return tau


Ratio = tuple[Fraction, Fraction]


def _worst_line(best: Ratio, lines: Iterator[tuple[Fraction, ...]], tau: Fraction) -> Ratio:
    """The largest likelihood over the least mean that the floor allows, of each line, or what is best before."""
    for line in lines:
        mean = tau * sum(line, Fraction(0)) + (1 - len(line) * tau) * min(line)
        best = _larger_ratio(best, (max(line), mean))
    return best


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
