"""Listed laws, every one of them: the checker evaluates everything by itself, so that no lines prove the upper end."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dalenius.audits.audit import Audit, Bounded, Exposure, UpperProof
from dalenius.errors import DaleniusError
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
from dalenius.model import PriorSet
from dalenius.reduction import MAX_NUMBERS, DatasetPairs, dataset_pairs
from dalenius.results import RecordProof

BATCH = 2**22  # numbers in a batch of priors


@dataclass
class Listed(Bounded):
    """A running audit of records, or of secrets, under listed laws.

    Attributes
    ----------
    laws : (laws, datasets)
    told : dict of number -> (laws so far,)
        What each record or secret is told, in nats.
    """

    laws: Floats = field(init=False)
    told: dict[int, Floats] = field(default_factory=dict, init=False)
    stage: ClassVar[str]

    @property
    @abstractmethod
    def values(self) -> dict[int, int]:
        """Number of values of the record or secret with this number."""

    @abstractmethod
    def _evaluated(self, number: int) -> Iterator[Floats]:
        """Leakage under the laws in their order, some at once."""

    @abstractmethod
    def _masses(self, number: int, law: int) -> Floats:
        """A law as a witness has it."""

    @property
    def lower(self) -> float:
        return max((float(told.max(initial=0.0)) for told in self.told.values()), default=0.0)

    @property
    def upper(self) -> float:
        """The largest leakage where all were evaluated; else also the entropy of the values, for those that were not."""
        late = (math.log(n) for k, n in self.values.items() if len(self.told.get(k, ())) < len(self.laws))
        return max([self.lower, *late])

    @property
    def pieces(self) -> int:
        return sum(map(len, self.told.values()))

    def run(self) -> None:
        """Evaluate one after the other, many laws at once."""
        for number in self.values:
            self.told[number], batches = np.empty(0), self._evaluated(number)
            while not self.clock.expired and (told := next(batches, None)) is not None:
                self.told[number] = np.append(self.told[number], told)
                self.report(self.stage, number if isinstance(self, Audit) else None)
        self.out_of_time |= self.clock.expired
        self.report("proving", now=True)

    @property
    def exposed(self) -> int | None:
        if max(self.values.values(), default=1) == 1:
            return None
        return max(self.told or self.values, key=lambda k: self.told.get(k, np.empty(0)).max(initial=0.0))

    def exposure(self, slack: float) -> Exposure | None:
        best = self.exposed
        if best is None or self.lower <= 0.0:
            return None
        number = int(np.argmax(self.told[best]))
        return Exposure(best, self.lower, self._masses(best, number), number, number)

    def proof(self) -> UpperProof:
        return ()

    def certain(self) -> tuple[float, UpperProof]:
        """Bound that needs no search: the entropy of the values."""
        return math.log(max(self.values.values(), default=1)), ()


@dataclass
class PriorSetAudit(Listed, Audit):
    """A running audit against a `PriorSet`."""

    stage = "priors"

    def __post_init__(self) -> None:
        assert isinstance(self.problem.adversary, PriorSet)
        self.laws, self.channel = self.problem.adversary.weights, self.problem.rows
        leaking = [i for i, letters in enumerate(self.problem.records.alphabets) if letters > 1]
        self.pairs: dict[int, DatasetPairs] = {i: dataset_pairs(self.problem, i) for i in leaking}

    @property
    def values(self) -> dict[int, int]:
        """The letters of the records that have several."""
        return {i: pairs.shape[0] for i, pairs in self.pairs.items()}

    def _masses(self, number: int, law: int) -> Floats:
        return self.pairs[number].table(self.pairs[number].apply(self.laws[law]))

    def record_proofs(self) -> tuple[RecordProof, ...]:
        done = (len(self.told.get(i, ())) > 0 for i in self.pairs)
        return tuple(
            RecordProof(i, 1, "evaluated" if d else "letters", 0) for i, d in zip(self.pairs, done, strict=True)
        )

    def _evaluated(self, number: int) -> Iterator[Floats]:
        """I(X_i; Y) under every prior."""
        pairs, outputs = self.pairs[number], self.channel.shape[1]
        letters = pairs.shape[0]
        if letters * outputs > MAX_NUMBERS:
            raise DaleniusError(
                f"nothing can be proved about this model: record {number} has more than {MAX_NUMBERS} pairs of a letter and an output "
                "(docs/certificate-format.md)"
            )
        with_letter = [pairs.letters == a for a in range(letters)]
        size = max(BATCH // max(self.laws.shape[1], letters * outputs), 1)
        for first in range(0, len(self.laws), size):
            masses = pairs.apply(self.laws[first : first + size])
            joint = [masses[:, mine] @ self.channel[pairs.inputs[mine]] for mine in with_letter]
            yield mutual_information(np.stack(joint, axis=1))
