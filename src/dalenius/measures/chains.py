"""A Markov chain as a subject of measures: the largest log-ratio over the whole box of its transition probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np
from flint import arb, fmpq

from dalenius.errors import InputError, counted
from dalenius.information.chain_ratios import Ratios, largest_log_ratio, probabilities_of_ends
from dalenius.measures.evaluation import Ends, enclosed, larger
from dalenius.measures.secrets import OF_PAIRS
from dalenius.measures.subjects import Measured, Subject
from dalenius.model import MarkovChain, WorstCaseLeakage
from dalenius.model.adversaries.chains import inputs_by_ones, two_sided
from dalenius.model.fields import keep
from dalenius.search import Clock

OF_CHAINS = OF_PAIRS[:1]
"""What a record of a chain has over a box of transition probabilities: `pufferfish_privacy`."""

BOTH = np.array([(0, 1), (1, 0)])
MOST_RECORDS = 100  # of chains whose boxes are searched


@dataclass(frozen=True)
class OfChain(Subject):
    """The records that a `MarkovChain` asks about, under every chain of its box.

    *In closed form*: of a count with two-sided geometric noise and a stationary chain whose moves sum to at most 1 the two ends of the
    release have the largest ratios, at the chain whose moves are the least of the box (docs/theory.md, Markov chains), so that one
    channel of two rows stands for all. *Else* boxes of the parameters are searched, every output by its derivatives.

    Raises
    ------
    InputError
        If there is no closed form, and more than 100 records.
    """

    problem: WorstCaseLeakage
    against, outputs, shape = "every chain of the box", (), (2, 3)

    def __post_init__(self) -> None:
        count, chain = len(self.problem.records), self._chain
        if not self.in_closed_form and count > MOST_RECORDS:
            raise InputError(
                f"measure: the largest log-ratio of a markov_chain of more than {MOST_RECORDS} records is known for a stationary "
                "start, ranges whose upper ends sum to at most 1, a count or sum, and geometric or discrete_laplace noise; for what "
                "is told about records that are independent give law=Uniform() (--law uniform)"
            )
        asked = "the record that it is largest for" if chain.record is None else f"record {chain.record}"
        about = f"{asked}, of {counted(count, 'record')} that are a Markov chain, under {self.against}"
        keep(self, about=about)

    @property
    def in_closed_form(self) -> bool:
        """True if one channel of three outputs stands for all; of one record there are two, and balls cannot tell the third from 0."""
        chain = self._chain
        return (
            len(self.problem.records) > 1
            and chain.stationary
            and chain.to_one[1] + chain.to_zero[1] <= 1
            and two_sided(self.problem.query, self.problem.mechanism) is not None
        )

    def searched(self, clock: Clock) -> Ends:
        """The largest log-ratio of all records, by boxes; each has an equal share of the time that is left."""
        rows = self.problem.exact_channel[inputs_by_ones(self.problem.query, self.problem.records)].tolist()
        parts = ((record, clock.part(1 / (self.kinds - j))) for j, record in enumerate(self._asked))
        return reduce(larger, (self._searched(record, rows, part) for record, part in parts))

    def _searched(self, record: int, rows: list[list[fmpq | arb]], clock: Clock) -> Ends:
        chain = self._chain
        asked = Ratios(len(self.problem.records), record, chain.stationary, rows)
        box: list[tuple[Fraction, Fraction]] = list(chain.box)
        return enclosed(*largest_log_ratio(asked, box if asked.free else box[:2], clock))

    @property
    def _chain(self) -> MarkovChain:
        assert isinstance(self.problem.adversary, MarkovChain)
        return self.problem.adversary

    @property
    def _asked(self) -> list[int]:
        return self._chain.records_of(self.problem.records)

    @property
    def kinds(self) -> int:
        return len(self._asked)

    def made(self) -> list[Measured]:
        epsilon = two_sided(self.problem.query, self.problem.mechanism)
        assert epsilon is not None
        count, least = len(self.problem.records), (self._chain.to_one[0], self._chain.to_zero[0])
        half = np.array([fmpq(1, 2)] * 2)
        rows = (probabilities_of_ends(count, record, least, epsilon) for record in self._asked)
        return [Measured(np.array(each, dtype=object), half, pairs=BOTH) for each in rows]
