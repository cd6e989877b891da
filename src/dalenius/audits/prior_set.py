"""Listed priors: I(X_i; Y) of every prior and record, evaluated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.audit import Audit, Exposure, UpperProof
from dalenius.errors import DaleniusError
from dalenius.information import mutual_information
from dalenius.model import PriorSet
from dalenius.model.selections import MAX_NUMBERS
from dalenius.results import RecordProof

__all__ = ["PriorSetAudit"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
BATCH = 2**22  # numbers in a batch of priors


@dataclass
class PriorSetAudit(Audit):
    """A running audit against a `PriorSet`: the checker evaluates everything by itself, so that no lines prove the upper end."""

    def __post_init__(self) -> None:
        adversary = self.problem.adversary
        assert isinstance(adversary, PriorSet)
        self.alphabets, self.priors = self.problem.records.alphabets, adversary.weights
        self.inputs, self.channel = self.problem.inputs_of_datasets(), self.problem.channel
        self._records = [i for i, letters in enumerate(self.alphabets) if letters > 1]
        self._leakage: dict[int, Floats] = {}

    @property
    def lower(self) -> float:
        return max((float(leakage.max(initial=0.0)) for leakage in self._leakage.values()), default=0.0)

    @property
    def upper(self) -> float:
        """The largest leakage where all were evaluated; else also the entropy of the letters, for those that were not."""
        late = [i for i in self._records if len(self._leakage.get(i, ())) < len(self.priors)]
        return max([self.lower, *(float(np.log(self.alphabets[i])) for i in late)])

    def run(self) -> None:
        """Evaluate record after record, many priors at once."""
        for record in self._records:
            self._evaluate(record)
        self.out_of_time |= self.clock.expired
        self._tell("done", None, now=True)

    @property
    def exposed(self) -> int | None:
        best = max(self._leakage, key=lambda i: self._leakage[i].max(initial=0.0), default=None)
        return self._records[0] if best is None and self._records else best

    def exposure(self, slack: float) -> Exposure | None:
        record = self.exposed
        if record is None or self.lower <= slack:
            return None
        number = int(np.argmax(self._leakage[record]))
        return Exposure(record, self.lower, self._masses(record, number), number, number)

    def proof(self) -> UpperProof:
        return ()

    def certain(self) -> tuple[float, UpperProof]:
        """A leakage is at most the entropy of the letters."""
        return max(float(np.log(self.alphabets[i])) for i in self._records), ()

    def record_proofs(self) -> tuple[RecordProof, ...]:
        return tuple(RecordProof(i, 1, "evaluated" if i in self._leakage else "letters", 0) for i in self._records)

    def _evaluate(self, record: int) -> None:
        """I(X_record; Y) under every prior."""
        letters, outputs = self.alphabets[record], self.channel.shape[1]
        if letters * outputs > MAX_NUMBERS:
            raise DaleniusError(
                f"nothing can be proved about this model: record {record} has more than {MAX_NUMBERS} pairs of a letter and an output "
                "(docs/certificate-format.md)"
            )
        order, starts, letter, rows = self._pairs(record)
        size = max(BATCH // max(self.priors.shape[1], letters * outputs), 1)
        done: list[Floats] = []
        for first in range(0, len(self.priors), size):
            if self.clock.expired:
                break
            masses = np.add.reduceat(self.priors[first : first + size, order], starts, axis=1)
            joint = [masses[:, letter == a] @ self.channel[rows[letter == a]] for a in range(letters)]
            done.append(mutual_information(np.stack(joint, axis=1)))
            self._leakage[record] = np.concatenate(done)
            self._tell("priors", record)

    def _pairs(self, record: int) -> tuple[Integers, Integers, Integers, Integers]:
        """Datasets sorted by their pair (letter, input), where each pair starts, and the pairs' letters and inputs."""
        pair = self._letters(record) * len(self.channel) + self.inputs
        order = np.argsort(pair, kind="stable")
        present, starts = np.unique(pair[order], return_index=True)
        return order, starts, present // len(self.channel), present % len(self.channel)

    def _letters(self, record: int) -> Integers:
        stride = int(np.prod(self.alphabets[record + 1 :], dtype=np.int64))
        return np.arange(self.inputs.size) // stride % self.alphabets[record]

    def _masses(self, record: int, prior: int) -> Floats:
        """A prior's masses on (letter, channel input)."""
        masses = np.zeros((self.alphabets[record], len(self.channel)))
        np.add.at(masses, (self._letters(record), self.inputs), self.priors[prior])
        return masses

    def _tell(self, stage: str, record: int | None, *, now: bool = False) -> None:
        done = sum(len(leakage) for leakage in self._leakage.values())
        self.clock.tell(stage, self.lower, self.upper, done, record=record, now=now)
