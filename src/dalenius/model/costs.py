"""Costs of a proof, predicted before anything is searched for, by counting what the checker reads, holds and multiplies.

Seconds are those of one core of an ordinary machine, bytes those beyond what is there already; both were measured on the checker
alone, from 10^4 to 10^7 numbers (`benchmarks/limits.py` shows how far off they are). A prediction decides how much time a search
leaves to its proof, and what is not tried at all; it is never trusted for anything else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dalenius.model.adversaries import Adversary
from dalenius.model.queries import Query
from dalenius.model.records import Records
from dalenius.model.sums import record_types


@dataclass(frozen=True)
class Cost:
    """Seconds, and bytes held at once.

    >>> print(Cost(2.0, 3e8) + Cost(0.5))
    about 2.5 s and 286 MiB
    """

    seconds: float = 0.0
    bytes: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.bytes + other.bytes)

    def times(self, count: float) -> Cost:
        """Of so many."""
        return Cost(count * self.seconds, count * self.bytes)

    def within(self, seconds: float, size: float) -> bool:
        """True if it fits in so many seconds and bytes."""
        return self.seconds <= seconds and self.bytes <= size

    def __str__(self) -> str:
        return f"about {self.seconds:.2g} s and {self.bytes / 2**20:.0f} MiB"


# what the checker takes, and before it our own writing of the model
NUMBER = Cost(1.5e-5, 250.0)  # a number in the model file: written, digested and read, twice
DISTINCT = Cost(3.5e-5, 250.0)  # one that is written unlike all others
RECORD = Cost(3.5e-7, 8.0)  # a record
DIGIT = Cost(5e-9, 0.5)  # a binary digit of the numbers of completions
PAIR = Cost(4.5e-6, 170.0)  # a letter of a record with a channel input that some dataset has
PRODUCT = Cost(8e-6, 600.0)  # an entry of several releases, once a row is asked for: their types, and a product
POINTER = Cost(1.2e-7, 13.0)  # an entry of the channel as a list
ENTRY = Cost(5e-7)  # an entry of the channel as a ball, once for every use
BALL, KEPT = 50.0, 2**22  # bytes of such an entry, and how many are kept
LOGARITHM = Cost(1.5e-6)  # x log x of an entry that has no equal in its row
WEIGHT = Cost(1.5e-5, 800.0)  # a weight of a witness that is not zero
SUMMAND = Cost(4e-7)  # a dataset's mass in a listed prior
CELL = Cost(3e-7, 25.0)  # a letter with an input or an output, in an information
CLOSED_FORM = 30  # numbers for each input of a local protocol
TERM = Cost(5e-6, 400.0)  # a weight of a discrete Gaussian law, with its tail
STEP = Cost(4e-7)  # of an entry of randomised histograms, person by person and letter by letter
RAY = Cost(4e-6)  # a letter of the useful variable, and an extreme ray
MOVE = Cost(1e-6)  # a pair of records of a chain of two letters, where it is evaluated at a point
SHIFTED = Cost(6e-5, 1800.0)  # a value of a block's sum, or an output
SECTION = Cost(6e-4, 500.0)  # what is revealed of a secret where one value is given
PRIORS = 30  # in a design's certificate: more are rare
# what the search holds
ARRAYS = 8 * 3  # bytes an entry of the channel, besides the problem's own
TABLES = 8 * 7  # bytes a letter with a channel input


@dataclass(frozen=True)
class Kind:
    """A kind of record: how many there are, which is the first, its letters, and the pairs of these with channel inputs."""

    record: int
    times: int
    letters: int
    pairs: int


def record_kinds(query: Query, records: Records, inputs: int) -> list[Kind]:
    """The kinds of record with more than one letter; no dataset is listed, and nothing is counted.

    >>> from dalenius.model.queries import Parity
    >>> record_kinds(Parity(), Records(1000, alphabet=3), inputs=2)
    [Kind(record=0, times=1000, letters=3, pairs=6)]
    """
    if query.sums is not None:
        types = [(t.first, t.times, len(t.contribution)) for t in record_types(query.sums, records)]
        return [Kind(*t, t[2] * inputs) for t in types if t[2] > 1]
    alphabets, datasets = records.alphabets, records.datasets
    return [Kind(i, 1, size, min(size * inputs, datasets)) for i, size in enumerate(alphabets) if size > 1]


@dataclass(frozen=True)
class Costs:
    """Costs of proving an answer, and memory that its search holds besides its trees.

    Attributes
    ----------
    certain : Cost
        An interval that needs no search.
    leaf : Cost
        What the upper end adds that was searched for: of an audit its first leaf with an output law, for every kind of record.
    witness : Cost
        What a prior adds that attains the lower end.
    search : float
        Bytes of the search's own arrays.

    >>> import dalenius as dl
    >>> letters = dl.WorstCaseLeakage(records=dl.Records(1, alphabet=500), query=dl.Identity(),
    ...     mechanism=dl.symmetric(0.1, k=500), adversary=dl.AnyPrior())
    >>> letters.costs.certain.within(0.1, 2**25), letters.costs.whole.within(0.1, 2**25)
    (True, False)
    """

    certain: Cost
    leaf: Cost = Cost()
    witness: Cost = Cost()
    search: float = 0.0

    @property
    def whole(self) -> Cost:
        """Both ends of an interval that was searched for, in their first leaves."""
        return self.certain + self.leaf + self.witness

    @property
    def held(self) -> float:
        """The most bytes that a search and its proof hold, without trees: about half of the search's are still there at its proof."""
        return max(self.search + self.certain.bytes, 0.5 * self.search + self.whole.bytes)

    @classmethod
    def one_by_one(cls, each: Sequence[Costs], first: Cost) -> Costs:
        """Of several audits, one after the other, after what comes first."""
        return cls(
            first + one_by_one([costs.certain for costs in each]),
            one_by_one([costs.leaf for costs in each]),
            max((costs.witness for costs in each), key=lambda cost: cost.seconds, default=Cost()),
            max((costs.search for costs in each), default=0.0),
        )


def audit_costs(
    query: Query,
    records: Records,
    shape: tuple[int, int],
    adversary: Adversary | None,
    reading: Cost,
    *,
    alike: bool = False,
    making: Cost = Cost(),
) -> Costs:
    """Of an audit against an adversary, or against none in particular.

    Parameters
    ----------
    query : Query
        Whose values are the mechanism's inputs.
    shape : (inputs, outputs)
        Of the mechanism; of one in closed form as many numbers as a proof has of each input.
    reading : Cost
        Of the model, as `reading`.
    alike : bool
        Whether a row of the channel has two numbers only.
    making : Cost
        Of the channel's rows, without which what needs no search is proved.
    """
    inputs, outputs = shape
    entries, kinds = inputs * outputs, record_kinds(query, records, inputs)

    def information(kind: Kind, weights: int) -> Cost:
        """Of what a prior with so many weights teaches about a record."""
        return WEIGHT.times(weights) + CELL.times(kind.letters * (inputs + outputs)) + ENTRY.times(entries)

    one = RECORD.times(len(records))
    model = reading + one_by_one([one + PAIR.times(kind.pairs) for kind in kinds])
    balls = Cost(0.0, BALL * min(entries, KEPT))
    search = ARRAYS * entries + TABLES * max((kind.letters for kind in kinds), default=0) * inputs
    if adversary is not None and adversary.listed:
        sums = SUMMAND.times(records.datasets)
        # such laws may tell records apart that are alike
        each = [information(kind, 0) + sums for kind in kinds for _ in range(kind.times)]
        evaluated = one_by_one(each, len(adversary.listed))
        return Costs(model + making + balls + evaluated, search=search)
    leaf = (
        making + balls + LOGARITHM.times(inputs if alike else entries) + one_by_one([ENTRY.times(entries)] * len(kinds))
    )
    if adversary is None or adversary.bound is None:
        return Costs(model + leaf, search=search)
    largest = max(kinds, key=lambda kind: kind.letters, default=None)
    return Costs(model, leaf, information(largest, largest.pairs) if largest else Cost(), search)


def reading(
    query: Query,
    records: Records,
    adversary: Adversary | None,
    shape: tuple[int, int],
    written: tuple[int, int] | None = None,
    more: Cost = Cost(),
) -> Cost:
    """Reading a model, its numbers of completions, and its channel as a list.

    `written` says how many numbers of the channel stand in the file, and how many different ones: left out, all of its entries.
    """
    inputs, entries = shape[0], shape[0] * shape[1]
    numbers, distinct = (entries, entries) if written is None else written
    listed = (0, 0) if adversary is None else adversary.written
    digits = 0.0 if query.sums is None else inputs * records.log_datasets / math.log(2.0)
    read = NUMBER.times(numbers + listed[0]) + DISTINCT.times(distinct + listed[1]) + DIGIT.times(digits)
    return more + read + POINTER.times(entries) + RECORD.times(2 * len(records))


def one_by_one(costs: Sequence[Cost], times: int = 1) -> Cost:
    """The seconds of all, and the bytes of the largest."""
    return Cost(times * sum(c.seconds for c in costs), max((c.bytes for c in costs), default=0.0))
