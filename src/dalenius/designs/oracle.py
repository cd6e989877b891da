"""The adversary of a design problem, asked one mechanism after the other: which priors tell it most about a record?

What comes back are priors of the problem's set, feasible with a little to spare, so that each may stand in a certificate. How good
they are is nobody's promise: the exchange proves its bounds from whatever it gets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.audits import feasible, local_maxima
from dalenius.evidence import Certificate, vector_text
from dalenius.evidence.lines import UNIFORM, InputLaw, PriorLine
from dalenius.information import mutual_information
from dalenius.information.capacity import capacities
from dalenius.model.adversaries import EntropyAtLeast, PriorSet, ProductPriors
from dalenius.model.aggregation import Fibres, RecordChannel
from dalenius.model.design_problem import DesignProblem
from dalenius.model.selections import Selections
from dalenius.search.clock import Clock

__all__ = ["Prior", "Rival", "rival"]

Floats = NDArray[np.float64]
SPARE = 1e-12  # entropy in nats, relative to 1 + log |X| - b, that a prior has above the bound
BATCH = 6  # local maxima that a kind of record may add in one round: more of them make fewer rounds


@dataclass(frozen=True)
class Prior:
    """Masses (letters, inputs) of a record's letter and the mechanism's input; `hint` is what a certificate writes instead of them."""

    record: int
    masses: Floats
    hint: InputLaw | None = None


class Rival(ABC):
    """Finds priors against mechanisms (inputs, outputs)."""

    @property
    @abstractmethod
    def anyone(self) -> Prior:
        """A prior of the problem's set that needs no search; about a record with one letter if there is no other."""

    @abstractmethod
    def replies(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        """Priors that are told much by Q; `starts` says how hard to look."""

    @staticmethod
    def told(prior: Prior, Q: Floats) -> float:
        """I(X_i; Y) in nats."""
        return float(mutual_information(prior.masses @ Q))


class EntropyRival(Rival):
    """All priors with at least some entropy: joint Blahut-Arimoto, from random starts and from what was found before."""

    def __init__(self, fibres: list[Fibres], deficit: float, rng: np.random.Generator) -> None:
        self.parts, self.deficit, self.rng = fibres, deficit, rng

    @property
    def anyone(self) -> Prior:
        if not self.parts:
            return Prior(0, np.ones((1, 1)), UNIFORM)
        return Prior(self.parts[0].first, np.exp(self.parts[0].log_shares), UNIFORM)

    def channels(self, Q: Floats) -> list[RecordChannel]:
        """The record channels of a mechanism; rows are not merged, so that classes are inputs."""
        kept = np.flatnonzero(Q.any(axis=0))
        return [self._channel(part, Q, kept) for part in self.parts]

    def _channel(self, part: Fibres, Q: Floats, kept: NDArray[np.int64]) -> RecordChannel:
        return RecordChannel(
            record=part.first,
            times=part.times,
            log_shares=part.log_shares,
            rows=Q[:, kept],
            deficit=self.deficit,
            class_of_input=np.arange(len(Q)),
            output_index=kept,
            outputs=Q.shape[1],
            input_log_shares=part.log_shares,
        )

    def made_feasible(self, record: int, masses: Floats) -> Prior:
        """A prior with these masses, mixed with the uniform one if it has too little entropy."""
        part = next(part for part in self.parts if part.first == record)
        channel = self._channel(part, np.ones((masses.shape[1], 1)), np.zeros(1, dtype=np.int64))
        return self._prior(channel, masses)

    def _prior(self, channel: RecordChannel, masses: Floats) -> Prior:
        p = feasible(channel, masses, slack=SPARE * (1.0 + self.deficit))
        return Prior(channel.record, channel.uniform if p is None else p, UNIFORM if p is None else None)

    def replies(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        found = []
        for channel in self.channels(Q):
            if self.deficit == 0.0:
                found.append(Prior(channel.record, channel.uniform, UNIFORM))
                continue
            warm = [prior.masses for prior in known if prior.record == channel.record][-12:]
            for candidate in local_maxima(channel, rng=self.rng, clock=clock, warm=warm, keep=BATCH, starts=starts):
                found.append(self._prior(channel, candidate.p))
        return found


class ProductRival(Rival):
    """Independent records: the letters of a record on the rows that they select, with the law that attains their capacity."""

    def __init__(self, problem: DesignProblem) -> None:
        self.inputs = problem.input_count
        self.parts = problem.selections()

    @property
    def anyone(self) -> Prior:
        if not self.parts:
            return Prior(0, np.ones((1, 1)), (0, ("1",)))
        part = self.parts[0]
        return self._prior(part, 0, np.full(part.letters, 1.0 / part.letters))

    def _prior(self, part: Selections, j: int, law: Floats) -> Prior:
        """Of selection j, with a law of its letters."""
        masses = np.zeros((len(law), self.inputs))
        masses[np.arange(len(law)), part.inputs[j]] = law
        return Prior(part.record, masses, (j, vector_text(law)))

    def replies(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        found = []
        for part in self.parts:
            answers = capacities(Q[part.inputs], clock=clock)
            for j in np.argsort([-answer.lower for answer in answers])[:BATCH]:
                found.append(self._prior(part, int(j), answers[j].input_law))
        return found


class ListedRival(Rival):
    """Listed priors: all of them, for every record, at once."""

    def __init__(self, problem: DesignProblem, priors: Floats) -> None:
        datasets, alphabets = np.arange(priors.shape[1]), problem.records.alphabets
        inputs, self.priors = problem.inputs_of_datasets(), list[Prior]()
        strides = np.cumprod([1, *alphabets[:0:-1]])[::-1]
        for i, (size, stride) in enumerate(zip(alphabets, strides, strict=True)):
            for j, weights in enumerate(priors if size > 1 else []):
                masses = np.zeros((size, problem.input_count))
                np.add.at(masses, (datasets // stride % size, inputs), weights)
                self.priors.append(Prior(i, masses / masses.sum(), j))

    @property
    def anyone(self) -> Prior:
        return self.priors[0] if self.priors else Prior(0, np.ones((1, 1)), 0)

    def replies(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        return self.priors


def certificate_priors(certificate: Certificate, problem: DesignProblem) -> list[tuple[int, Floats]]:
    """The priors that a certificate of a design lists by their masses, as far as they fit the problem: records and masses."""
    sizes, found = {part.first: len(part.log_shares) for part in problem.record_fibres()}, []
    for line in certificate.lower_lines():
        if not isinstance(line, PriorLine) or not isinstance(line.prior, tuple):
            continue
        inputs = {len(row) if isinstance(row, tuple) else -1 for row in line.prior}
        if inputs == {problem.input_count} and sizes.get(line.record, 1) == len(line.prior) > 1:
            found.append((line.record, np.array(line.prior, dtype=float)))
    return found


def rival(problem: DesignProblem, fibres: list[Fibres], rng: np.random.Generator) -> Rival:
    """The rival that fits the problem's adversary; `fibres` are on the inputs that its mechanisms will have."""
    adversary = problem.against("an exchange")
    match adversary:
        case EntropyAtLeast():
            return EntropyRival(fibres, problem.deficit, rng)
        case ProductPriors():
            return ProductRival(problem)
        case PriorSet(weights=weights):
            return ListedRival(problem, weights)
    raise AssertionError(adversary.kind)
