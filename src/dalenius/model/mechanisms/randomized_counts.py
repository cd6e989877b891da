"""Answers that are randomised before they are counted: how many of n are yes, or are each letter."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from flint import arb, arb_poly, ctx, fmpq, fmpq_poly

from dalenius.errors import InputError
from dalenius.exact import Integer, as_integer, as_list
from dalenius.information.arrays import Floats, Integers
from dalenius.information.balls import rational
from dalenius.model.fields import ExactOrNone, Given, declared, keep
from dalenius.model.mechanisms.base import (
    MAX_ENTRIES,
    ByKind,
    ExactEntries,
    as_epsilon,
    as_share,
    exp_ball,
    need_one,
)
from dalenius.model.mechanisms.known_others import KnownOthers, channel_steps
from dalenius.model.queries.base import MAX_SPAN
from dalenius.model.queries.histogram import histograms
from dalenius.model.records import MAX_RECORDS, Records


@declared
class RandomizedAnswers(ByKind):
    """Every answer by itself is randomised; how much is said by its privacy, or by the probability of another answer."""

    words: ClassVar[str] = "randomised answers"
    epsilon: ExactOrNone = Given(as_epsilon, default=None)
    flip: ExactOrNone = Given(as_share, default=None, kw_only=True)

    def __post_init__(self) -> None:
        need_one(self, "epsilon", "flip")


class RandomizedCount(RandomizedAnswers):
    """Every bit is kept with probability 1 - flip and turned round otherwise (Warner 1965), then the ones are counted.

    Of v ones among n bits there are y with the probability of B(v, 1 - flip) + B(n - v, flip) = y, two independent binomial numbers;
    the query must be a count of all n bits.

    Parameters
    ----------
    epsilon : number in [0, 1000], optional
        Privacy of one answer: flip = 1/(1 + e^epsilon).
    flip : number in [0, 1], optional
        Instead of `epsilon`; exact.

    Raises
    ------
    InputError
        If neither or both are given, or one is out of range; `channel` raises it where the query's values are not 0, 1, ..., n.

    >>> import numpy as np
    >>> randomized_count(flip=0.25).channel(np.arange(3))[0].tolist()
    [0.5625, 0.375, 0.0625]
    """

    kind: ClassVar[str] = "randomized_count"
    against_blocks: ClassVar[str] = "randomized_histogram with the query histogram, of which the count is a part"

    def channel(self, values: Integers) -> Floats:
        n = _last(values)
        if self.flip is not None:
            change, keep = float(self.flip), float(1 - self.flip)
        else:
            assert self.epsilon is not None
            keep = 1.0 / (1.0 + math.exp(-self.epsilon))
            change = 1.0 / (1.0 + math.exp(self.epsilon)) if self.epsilon < 700 else math.exp(-self.epsilon)
        ones, zeros = (_powers(first, second, n) for first, second in ((change, keep), (keep, change)))
        return np.stack([np.convolve(ones[v], zeros[n - v]) for v in range(n + 1)])

    def exact_entries(self, values: Integers) -> ExactEntries:
        n, change = _last(values), self._change
        ones, zeros = _linear(change, 1 - change), _linear(1 - change, change)
        rows = [ones**v * zeros ** (n - v) for v in range(n // 2 + 1)]
        place = np.arange((n // 2 + 1) * (n + 1)).reshape(-1, n + 1)
        index = np.concatenate([place, place[: (n + 1) // 2][::-1, ::-1]])  # of v ones and of v zeros
        return ExactEntries([row[y] for row in rows for y in range(n + 1)], index)

    @property
    def _change(self) -> fmpq | arb:
        if self.flip is not None:
            return rational(self.flip)
        assert self.epsilon is not None
        return 1 / (1 + exp_ball(self.epsilon))

    def constant_row(self, inputs: Integers, outputs: int) -> tuple[Fraction, ...] | None:
        """The row where answers are independent of the letters: the count of fair coins."""
        if self.epsilon == 0 or self.flip == Fraction(1, 2):
            return tuple(Fraction(math.comb(outputs - 1, y), 2 ** (outputs - 1)) for y in range(outputs))
        return None


randomized_count = RandomizedCount


def _last(values: Integers) -> int:
    """n, of the values 0, 1, ..., n."""
    if values.size < 2 or not np.array_equal(values, np.arange(values.size)):
        raise InputError(
            f"mechanism: randomized_count needs a count with the values 0, 1, ..., n; got {values.size} value(s) from {values[0]} to "
            f"{values[-1]}"
        )
    if values.size**2 > MAX_ENTRIES:
        raise InputError(f"mechanism: the channel would have more than {MAX_ENTRIES} entries; count fewer records")
    return int(values[-1])


def _linear(first: fmpq | arb, second: fmpq | arb) -> fmpq_poly | arb_poly:
    """first + second z."""
    if isinstance(first, fmpq) and isinstance(second, fmpq):
        return fmpq_poly([first, second])
    return arb_poly([first, second])


def _powers(first: float, second: float, most: int) -> list[Floats]:
    """The coefficients of (first + second z)^v for v = 0, ..., most: sums of positive numbers, as exact as doubles are."""
    found = [np.ones(1)]
    for _ in range(most):
        found.append(np.convolve(found[-1], [first, second]))
    return found


def _as_others(value: Sequence[Integer], what: str) -> tuple[int, ...]:
    counts = tuple(as_integer(c, what, at_least=0, at_most=MAX_RECORDS) for c in as_list(value, what))
    if sum(counts) > MAX_RECORDS:
        raise InputError(f"{what} may be at most {MAX_RECORDS}, got {sum(counts)}")
    return counts


BITS = 256  # of the balls that doubles are read from


@declared
class RandomizedHistogram(RandomizedAnswers):
    """Every letter goes through k-ary randomised response (Warner 1965; Kairouz, Oh, Viswanath 2014), then the histogram is released.

    A letter is kept with probability 1 - flip, and else replaced by one of the k - 1 others, each with flip/(k - 1). Of N_a records
    with the letter a the output is a sum of k independent multinomial vectors, with N_a trials each; P(Y | N) is the coefficient of
    z_0^(Y_0) ... z_{k-1}^(Y_{k-1}) in prod_a (sum_c w(a,c) z_c)^(N_a). The query must be `Histogram`.

    Parameters
    ----------
    epsilon : number in [0, 1000], optional
        Privacy of one letter: flip = (k - 1)/(e^epsilon + k - 1).
    flip : number in [0, 1], optional
        Instead of `epsilon`; exact.
    others : sequence of int, optional
        How many further people have each letter: known, no records, and randomised and counted with the others.

    Raises
    ------
    InputError
        If neither or both are given, or one is out of range; `channel` raises it beside another query than a histogram, and where it
        would have more than 2^24 entries.

    >>> import dalenius as dl
    >>> asked = dl.WorstCaseLeakage(records=dl.Records(2, alphabet=3), query=dl.Histogram(), adversary=dl.ProductPriors(),
    ...     mechanism=randomized_histogram(flip="1/2"))
    >>> asked.channel[-1].tolist()               # two people with the letter 0: the outputs (0, 0, 2), (0, 1, 1), ..., (2, 0, 0)
    [0.0625, 0.125, 0.0625, 0.25, 0.25, 0.25]
    """

    kind: ClassVar[str] = "randomized_histogram"
    by_letter: ClassVar[bool] = True
    repeated: ClassVar[bool] = False
    others: Given[Sequence[Integer] | None, tuple[int, ...] | None] = Given(_as_others, default=None, kw_only=True)
    records: Records | None = field(default=None, init=False, compare=False, repr=False)

    def of_records(self, records: Records) -> Self:
        letters = records.alphabets[0]
        if letters < 2:
            raise InputError("mechanism: randomized_histogram needs records of at least 2 letters, got 1")
        if self.others is not None and len(self.others) != letters:
            raise InputError(
                f"mechanism: others must be one number for each of {letters} letters, got {len(self.others)}"
            )
        made = copy.copy(self)
        keep(made, records=records)
        return made

    @property
    def leaves_others(self) -> bool:
        return self.others is None

    def known_others(self, size: int, others: int, letters: int) -> KnownOthers:
        return KnownOthers.of(size, others, letters)

    def steps(self, records: Records) -> float:
        letters = records.alphabets[0]
        return (letters + 1) * channel_steps(len(records), sum(self.others or ()), letters)

    def with_others(self, others: Sequence[int]) -> Self:
        return type(self)(self.epsilon, flip=self.flip, others=others)

    def channel(self, values: Integers) -> Floats:
        people = self._of_values(values)
        with ctx.workprec(BITS):
            entries = people.entries(arb(self._change(people.letters)))
            numbers = np.array([max(float(number), 0.0) for number in entries.numbers])
        found: Floats = numbers[entries.index]
        return found / found.sum(axis=1, keepdims=True)

    def exact_entries(self, values: Integers) -> ExactEntries:
        people = self._of_values(values)
        return people.entries(self._change(people.letters))

    def output_labels(self, values: Integers) -> list[str]:
        people = self._of_values(values)
        return [str(tuple(row)) for row in histograms(people.total, people.letters).tolist()]

    def _of_values(self, values: Integers) -> _People:
        if self.records is None:
            raise InputError("mechanism: randomized_histogram randomises letters: its query must be histogram")
        letters = self.records.alphabets[0]
        people = _People(len(self.records), letters, self.others or (0,) * letters)
        outputs = math.comb(people.total + letters - 1, letters - 1)
        if outputs * values.size > MAX_ENTRIES or (people.total + 1) ** (letters - 1) > MAX_SPAN:
            raise InputError(
                f"mechanism: the channel from {values.size} to {outputs} histograms would have more than {MAX_ENTRIES} entries, or "
                f"codes above {MAX_SPAN}; ask about households (independent_blocks), or about fewer people"
            )
        return people

    def _change(self, letters: int) -> fmpq | arb:
        """The probability of each other letter."""
        if self.flip is not None:
            return rational(self.flip / (letters - 1))
        assert self.epsilon is not None
        return exp_ball(-self.epsilon) / (1 + (letters - 1) * exp_ball(-self.epsilon))

    def constant_row(self, inputs: Integers, outputs: int) -> tuple[Fraction, ...] | None:
        """The row where answers are independent of the letters, each equally likely."""
        if self.records is None:
            return None
        letters = self.records.alphabets[0]
        if self.epsilon != 0 and self.flip != Fraction(letters - 1, letters):
            return None
        total = len(self.records) + sum(self.others or ())
        rows = histograms(total, letters).tolist()
        ways = [math.factorial(total) // math.prod(map(math.factorial, row)) for row in rows]
        return tuple(Fraction(each, letters**total) for each in ways)


randomized_histogram = RandomizedHistogram


@dataclass(frozen=True)
class _People:
    """So many records of so many letters, and further people with each letter."""

    count: int
    letters: int
    others: tuple[int, ...]

    @property
    def total(self) -> int:
        return self.count + sum(self.others)

    def entries(self, change: fmpq | arb) -> ExactEntries:
        """The channel, with this probability of each other letter.

        Permuting letters permutes inputs and outputs: only rows of sorted histograms are worked out, and of these only what is sorted
        among equal numbers. Cells are digits of one exponent (Kronecker's substitution), so that a row is a product of polynomials.
        """
        outputs = histograms(self.total, self.letters)
        places = (self.total + 1) ** np.arange(self.letters - 2, -1, -1)
        inputs = histograms(self.count, self.letters) + np.array(self.others)
        powers = _Powers(self.letters, places.tolist(), change)
        place, numbers = dict[tuple[tuple[int, ...], int], int](), list[fmpq | arb]()
        index = np.empty((len(inputs), len(outputs)), dtype=np.int64)
        for x, held in enumerate(inputs):
            order = np.argsort(-held, kind="stable")
            ranked = tuple(held[order].tolist())
            codes = _sorted_among_equals(outputs[:, order], ranked)[:, :-1] @ places
            used, back = np.unique(codes, return_inverse=True)
            missing = [code for code in used.tolist() if (ranked, code) not in place]
            if missing:
                row = powers.row(ranked)
                for code in missing:
                    place[ranked, code] = len(numbers)
                    numbers.append(row[code])
            index[x] = np.array([place[ranked, code] for code in used.tolist()])[back.reshape(-1)]
        return ExactEntries(numbers, index)


def _sorted_among_equals(outputs: Integers, ranked: tuple[int, ...]) -> Integers:
    """Outputs whose cells are in descending order wherever as many people have one letter as the next."""
    found, start = outputs.copy(), 0
    for end in range(1, len(ranked) + 1):
        if end == len(ranked) or ranked[end] != ranked[start]:
            found[:, start:end] = -np.sort(-found[:, start:end], axis=1)
            start = end
    return found


def _polynomial(coefficients: list[fmpq | arb]) -> fmpq_poly | arb_poly:
    exact = [x for x in coefficients if isinstance(x, fmpq)]
    return fmpq_poly(exact) if len(exact) == len(coefficients) else arb_poly(coefficients)


class _Powers:
    """Powers of what a person with each letter adds to a histogram, as polynomials in one variable."""

    def __init__(self, letters: int, places: list[int], change: fmpq | arb) -> None:
        exponents, keep = [*places, 0], 1 - (letters - 1) * change
        self._known: dict[tuple[int, int], fmpq_poly | arb_poly] = {}
        for letter in range(letters):
            coefficients: list[fmpq | arb] = [fmpq(0)] * (exponents[0] + 1)
            for cell, exponent in enumerate(exponents):
                coefficients[exponent] = keep if cell == letter else change
            self._known[letter, 1] = _polynomial(coefficients)

    def row(self, held: tuple[int, ...]) -> fmpq_poly | arb_poly:
        """Of so many people with each letter."""
        factors = [self._power(letter, times) for letter, times in enumerate(held) if times]
        return math.prod(factors[1:], start=factors[0])

    def _power(self, letter: int, times: int) -> fmpq_poly | arb_poly:
        if (letter, times) not in self._known:
            self._known[letter, times] = self._power(letter, times // 2) * self._power(letter, times - times // 2)
        return self._known[letter, times]
