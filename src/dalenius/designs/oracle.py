"""The adversary of a design problem, asked one mechanism after the other: which priors tell it most about a record?

What comes back are priors of the problem's set, feasible with a little to spare, so that each may stand in a certificate. How good
they are is nobody's promise: the exchange proves its bounds from whatever it gets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dalenius.audits.ascent import feasible, local_maxima
from dalenius.audits.law_classes import exact_weights, witness_law
from dalenius.errors import DaleniusError
from dalenius.evidence import Certificate, matrix_text, vector_text
from dalenius.evidence.lower import UNIFORM, InputLaw, PriorLine
from dalenius.information import mutual_information, relative_entropy
from dalenius.information.arrays import Floats
from dalenius.information.capacity import capacities
from dalenius.information.law_classes import GivenChannel, WorstLaw, worst_law
from dalenius.information.measures import PriorClass
from dalenius.information.measures.numbers import doubles
from dalenius.model.adversaries import Adversary, IndependentBlocks
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.model.problems.pieces import PlacedBlock, placed_blocks
from dalenius.reduction import (
    BlockSelections,
    Completions,
    RecordChannel,
    Selections,
    block_selections,
    completions,
    dataset_pairs,
    record_completions,
    record_selections,
)
from dalenius.search.clock import Clock

SPARE = 1e-12  # entropy in nats, relative to 1 + log |X| - b, that a prior has above the bound
FINEST, WORTH = (
    1e-9,
    2e-3,
)  # ten steps that raise a leakage by less than this share, or this share of the gap, are the last
LOOKED_AT = 2**18  # entries of selections whose capacities are computed together
BATCH = 6  # local maxima that a kind of record may add in one round: more of them make fewer rounds


@dataclass(frozen=True)
class Prior:
    """Masses (letters, inputs) of a record's letter and the mechanism's input; `hint` is what a certificate writes instead of them."""

    record: int
    masses: Floats
    hint: InputLaw | None = None


class Oracle(ABC):
    """Finds priors against mechanisms (inputs, outputs).

    Attributes
    ----------
    parts : sequence
        Of what it looks at, in turn.
    """

    parts: Sequence[Any]
    nobody: ClassVar[InputLaw] = UNIFORM  # of the prior about a record with one letter

    @property
    def any_prior(self) -> Prior:
        """A prior of the problem's set that needs no search; about a record with one letter if there is no other."""
        return self._easy(self.parts[0]) if self.parts else Prior(0, np.ones((1, 1)), self.nobody)

    @abstractmethod
    def _easy(self, part: Any) -> Prior:
        """A prior of this part."""

    @abstractmethod
    def worst_priors(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        """Priors of the problem's set that learn much from Q, of every kind of record, in no order; `starts` says how hard to look."""

    @staticmethod
    def leakage(prior: Prior, Q: Floats) -> float:
        """I(X_i; Y) in nats."""
        return float(mutual_information(prior.masses @ Q))


class EntropyOracle(Oracle):
    """All priors with at least some entropy: joint Blahut-Arimoto, from random starts and from what was found before."""

    def __init__(
        self, parts: Sequence[Completions], max_knowledge: float, rng: np.random.Generator, finest: float = FINEST
    ) -> None:
        self.parts, self.max_knowledge, self.rng, self.finest = parts, max_knowledge, rng, finest

    def _easy(self, part: Completions) -> Prior:
        return Prior(part.record, part.uniform, UNIFORM)

    def channels(self, Q: Floats) -> list[RecordChannel]:
        """The record channels of a mechanism; rows are not merged, so that classes are inputs."""
        rows = Q[:, Q.any(axis=0)]
        return [
            RecordChannel(part.record, part.times, part.log_uniform, rows, self.max_knowledge) for part in self.parts
        ]

    def made_feasible(self, record: int, masses: Floats) -> Prior:
        """A prior with these masses, mixed with the uniform one if it has too little entropy."""
        part = next(part for part in self.parts if part.record == record)
        p = feasible(masses, part.log_uniform, self.max_knowledge, slack=SPARE * (1.0 + self.max_knowledge))
        return Prior(record, part.uniform if p is None else p, "uniform" if p is None else None)

    def worst_priors(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        found = []
        for channel in self.channels(Q):
            if self.max_knowledge == 0.0:
                found.append(Prior(channel.record, channel.uniform, UNIFORM))
                continue
            warm = [prior.masses for prior in known if prior.record == channel.record][-12:]
            several = local_maxima(
                channel, rng=self.rng, clock=clock, warm=warm, keep=BATCH, starts=starts, finest=self.finest
            )
            for candidate in several:
                found.append(self.made_feasible(channel.record, candidate.p))
        return found


class ProductOracle(Oracle):
    """Independent records: the letters of a record on the rows that they select, with the law that attains their capacity."""

    nobody = (0, ("1",))

    def __init__(self, problem: DesignProblem) -> None:
        self.parts = record_selections(problem)

    def _easy(self, part: Selections) -> Prior:
        return self._prior(part, 0, np.full(part.letters, 1.0 / part.letters))

    def _prior(self, part: Selections, j: int, law: Floats) -> Prior:
        """Of selection j, with a law of its letters."""
        return Prior(part.record, part.lift(j, law), (j, vector_text(law)))

    def worst_priors(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        found = []
        for part in self.parts:
            answers = capacities(part.apply(Q), clock=clock)
            for j in np.argsort([-answer.lower for answer in answers])[:BATCH]:
                found.append(self._prior(part, int(j), answers[j].input_law))
        return found


class ClassOracle(ProductOracle):
    """A class of laws: the letters of a record on the rows that they select, with the law of the class that reveals most.

    A class tells least about what its laws hardly ever select, however far these rows are apart: selections are looked at until what
    bounds them is below what was found, or as many as a search has starts.
    """

    def __init__(self, problem: DesignProblem, priors: PriorClass) -> None:
        super().__init__(problem)
        self.priors = priors

    def _easy(self, part: Selections) -> Prior:
        rows = np.full((part.letters, 1), 1.0)
        return self._of_class(part, 0, worst_law(GivenChannel.plain(rows), self.priors))

    def _of_class(self, part: Selections, j: int, found: WorstLaw) -> Prior:
        weights = exact_weights(witness_law(self.priors, found))
        if weights is None:
            raise DaleniusError("adversary: the numbers of this class are too long for a certificate; round them")
        return Prior(part.record, part.lift(j, doubles(found.law)), (j, weights))

    def worst_priors(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        found = []
        for part in self.parts:
            rows = part.apply(Q)
            counted = rows[:, self.priors.support(part.letters)]
            bounds = relative_entropy(counted, counted.mean(axis=1, keepdims=True)).max(axis=1)
            priors, values = list[Prior](), list[float]()
            for j in np.argsort(-bounds)[:starts].tolist():
                if bounds[j] <= max(values, default=-1.0) or (clock.expired and values):
                    break
                priors.append(self._of_class(part, j, worst_law(GivenChannel.plain(rows[j]), self.priors, clock=clock)))
                values.append(self.leakage(priors[-1], Q))
            found += [priors[k] for k in np.argsort(-np.array(values))[:BATCH]]
        return found


class BlocksOracle(Oracle):
    """Independent blocks of any law: the letters of a record on the rows that its block can select, with the law of their capacity."""

    def __init__(self, problem: DesignProblem, adversary: IndependentBlocks) -> None:
        self.inputs = problem.input_count
        self.parts = block_selections(problem.query, problem.records, adversary)

    def _easy(self, part: BlockSelections) -> Prior:
        return self._prior(part, 0, np.full(part.letters, 1.0 / part.letters))

    def _prior(self, part: BlockSelections, j: int, law: Floats) -> Prior:
        placed, own = part.own_masses(j, law)
        return in_block(placed, Prior(int(part.record[j]), own), self.inputs)

    def worst_priors(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        """For each input of a letter the selection that learns most; all that may be the worst are looked at."""
        found = []
        for part in self.parts:
            rows = part.apply(Q)
            bounds = relative_entropy(rows, rows.mean(axis=1, keepdims=True)).max(axis=1)
            values, laws = np.full(len(rows), -1.0), np.zeros(rows.shape[:2])
            for some in np.array_split(np.argsort(-bounds), -(-rows.size // LOOKED_AT)):
                if bounds[some[0]] < values.max():  # which bounds all that are left
                    break
                answers = capacities(rows[some], clock=clock)
                values[some], laws[some] = [a.lower for a in answers], [a.input_law for a in answers]
            for j in part.leading(values):
                if values[j] >= 0.0:
                    found.append(self._prior(part, int(j), laws[j]))
        return found


class HouseholdsOracle(Oracle):
    """Independent blocks whose laws have some entropy: an entropy oracle for each of them, and for each total of the other records."""

    def __init__(
        self, problem: DesignProblem, adversary: IndependentBlocks, rng: np.random.Generator, finest: float
    ) -> None:
        self.inputs, self.parts = problem.input_count, list[tuple[PlacedBlock, EntropyOracle]]()
        for placed in placed_blocks(problem.query, problem.records, adversary):
            kinds = [part for part in completions(placed.query, placed.records) if part.letters > 1]
            knowledge = adversary.own.max_knowledge(placed.records)
            self.parts.append((placed, EntropyOracle(kinds, knowledge, rng, finest)))

    def _easy(self, part: tuple[PlacedBlock, EntropyOracle]) -> Prior:
        return self._lifted(part[0], part[1].any_prior)

    def _lifted(self, placed: PlacedBlock, own: Prior) -> Prior:
        return in_block(placed, Prior(placed.first + own.record, own.masses, own.hint), self.inputs)

    def worst_priors(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        found = []
        for k, (placed, oracle) in enumerate(self.parts):
            part = clock.part(1.0 / (len(self.parts) - k))
            for prior in oracle.worst_priors(Q[list(placed.inputs)], [], part, starts):
                found.append(self._lifted(placed, prior))
        return found


def in_block(placed: PlacedBlock, own: Prior, inputs: int) -> Prior:
    """A prior on the values of a block's own query as one on the mechanism's inputs; a certificate writes the former."""
    masses = np.zeros((len(own.masses), inputs))
    np.add.at(masses.T, list(placed.inputs), own.masses.T)
    return Prior(own.record, masses, (str(placed.total), UNIFORM if own.hint == UNIFORM else matrix_text(own.masses)))


def block_masses(problem: DesignProblem, adversary: IndependentBlocks, record: int, written: Any) -> Floats:
    """The masses (letters, inputs) of a prior as a certificate writes it; `KeyError` where there is no such block."""
    total, own = written
    for placed in placed_blocks(problem.query, problem.records, adversary):
        if placed.first <= record < placed.first + len(placed.records) and str(placed.total) == total:
            kinds = {part.record: part for part in completions(placed.query, placed.records)}
            masses = kinds[record - placed.first].uniform if own == UNIFORM else np.array(own, dtype=float)
            return in_block(placed, Prior(record, masses / masses.sum()), problem.input_count).masses
    raise KeyError(total)


class ListedOracle(Oracle):
    """Listed priors: all of them, for every record, at once."""

    nobody = 0

    def __init__(self, problem: DesignProblem, priors: Floats) -> None:
        self.parts = list[Prior]()
        for record in (i for i, letters in enumerate(problem.records.alphabets) if letters > 1):
            pairs = dataset_pairs(problem, record)
            for j, masses in enumerate(pairs.table(pairs.apply(priors))):
                self.parts.append(Prior(record, masses / masses.sum(), j))

    def _easy(self, part: Prior) -> Prior:
        return part

    def worst_priors(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        return list(self.parts)


def certificate_priors(certificate: Certificate, problem: DesignProblem) -> list[tuple[int, Floats]]:
    """The priors that a certificate of a design lists by their masses, as far as they fit the problem: records and masses."""
    sizes, found = {part.record: part.letters for part in record_completions(problem)}, []
    for line in certificate.lower_lines():
        if not isinstance(line, PriorLine) or not isinstance(line.prior, tuple):
            continue
        inputs = {len(row) if isinstance(row, tuple) else -1 for row in line.prior}
        if inputs == {problem.input_count} and sizes.get(line.record, 1) == len(line.prior) > 1:
            found.append((line.record, np.array(line.prior, dtype=float)))
    return found


def oracle_of(
    problem: DesignProblem,
    parts: Sequence[Completions],
    rng: np.random.Generator,
    adversary: Adversary | None = None,
    *,
    gap: float = 0.0,
) -> Oracle:
    """The oracle of the problem's adversary, or of another one; `parts` are on the inputs that its mechanisms will have.

    Where a relative gap is said, priors are searched for no longer than it is worth.
    """
    who = problem.against("an exchange") if adversary is None else adversary
    return ORACLES[who.audit](problem, parts, who, rng, max(WORTH * gap, FINEST))


# by the names of the adversaries' audits
ORACLES: dict[str, Callable[[DesignProblem, Sequence[Completions], Any, np.random.Generator, float], Oracle]] = {
    "entropy_at_least": lambda problem, parts, who, *how: EntropyOracle(
        parts, who.max_knowledge(problem.records), *how
    ),
    "independent_blocks": lambda problem, parts, who, *how: (
        HouseholdsOracle(problem, who, *how) if who.own.amount else BlocksOracle(problem, who)
    ),
    "law_class": lambda problem, parts, who, *how: ClassOracle(problem, who.priors),
    "prior_set": lambda problem, parts, who, *how: ListedOracle(problem, who.weights),
    "product_priors": lambda problem, parts, who, *how: ProductOracle(problem),
}
