"""The adversary of a design problem, asked one mechanism after the other: which priors tell it most about a record?

What comes back are priors of the problem's set, feasible with a little to spare, so that each may stand in a certificate. How good
they are is nobody's promise: the exchange proves its bounds from whatever it gets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.audit import Clock, capacities, feasible, local_maxima
from dalenius.certify import short_text
from dalenius.information import mutual_information
from dalenius.problems.adversaries import EntropyAtLeast, PriorSet, ProductPriors
from dalenius.problems.aggregation import Fibres, RecordChannel
from dalenius.problems.design_problem import DesignProblem

__all__ = ["Prior", "Rival", "rival"]

Floats = NDArray[np.float64]
SPARE = 1e-12  # entropy in nats, relative to 1 + log |X| - b, that a prior has above the bound
BATCH = 3  # local maxima that a kind of record may add in one round


@dataclass(frozen=True)
class Prior:
    """Masses (letters, inputs) of a record's letter and the mechanism's input; `hint` is what a certificate writes instead of them."""

    record: int
    masses: Floats
    hint: Any = None

    @property
    def written(self) -> Any:
        """The prior of a certificate's `prior` line."""
        return [[short_text(x) for x in row] for row in self.masses.tolist()] if self.hint is None else self.hint


class Rival(ABC):
    """Finds priors against mechanisms (inputs, outputs)."""

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

    def replies(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        found = []
        for channel in self.channels(Q):
            if self.deficit == 0.0:
                found.append(Prior(channel.record, channel.uniform, "uniform"))
                continue
            warm = [prior.masses for prior in known if prior.record == channel.record][-12:]
            for candidate in local_maxima(channel, rng=self.rng, clock=clock, warm=warm, keep=BATCH, starts=starts):
                p = feasible(channel, candidate.p, slack=SPARE * (1.0 + self.deficit))
                found.append(
                    Prior(channel.record, channel.uniform if p is None else p, "uniform" if p is None else None)
                )
        return found


class ProductRival(Rival):
    """Independent records: the letters of a record on the rows that they select, with the law that attains their capacity."""

    def __init__(self, problem: DesignProblem) -> None:
        self.inputs = problem.input_count
        self.parts = problem.selections()

    def replies(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        found = []
        for part in self.parts:
            answers = capacities(Q[part.inputs], clock=clock)
            for j in np.argsort([-answer.lower for answer in answers])[:BATCH]:
                law = answers[j].input_law
                masses = np.zeros((len(law), self.inputs))
                masses[np.arange(len(law)), part.inputs[j]] = law
                found.append(Prior(part.record, masses, [int(j), [short_text(x) for x in law.tolist()]]))
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

    def replies(self, Q: Floats, known: Sequence[Prior], clock: Clock, starts: int = 24) -> list[Prior]:
        return self.priors


def rival(problem: DesignProblem, fibres: list[Fibres], rng: np.random.Generator) -> Rival:
    """The rival that fits the problem's adversary; `fibres` are on the inputs that its mechanisms will have."""
    match problem.adversary:
        case EntropyAtLeast():
            return EntropyRival(fibres, problem.deficit, rng)
        case ProductPriors():
            return ProductRival(problem)
        case PriorSet(weights=weights):
            return ListedRival(problem, weights)
    raise AssertionError(problem.adversary.kind)
