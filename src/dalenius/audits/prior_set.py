"""Listed priors: I(X_i; Y) of every prior and record, evaluated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.audits.audit import Audit, Exposure, UpperProof
from dalenius.errors import DaleniusError
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
from dalenius.model import PriorSet
from dalenius.reduction import MAX_NUMBERS, DatasetPairs, dataset_pairs
from dalenius.results import RecordProof

__all__ = ["PriorSetAudit"]

BATCH = 2**22  # numbers in a batch of priors


@dataclass
class PriorSetAudit(Audit):
    """A running audit against a `PriorSet`: the checker evaluates everything by itself, so that no lines prove the upper end."""

    def __post_init__(self) -> None:
        adversary = self.problem.adversary
        assert isinstance(adversary, PriorSet)
        self.priors, self.channel = adversary.weights, self.problem.channel
        leaking = [i for i, letters in enumerate(self.problem.records.alphabets) if letters > 1]
        self.pairs = [dataset_pairs(self.problem, i) for i in leaking]
        self._leakage: dict[int, Floats] = {}

    @property
    def lower(self) -> float:
        return max((float(leakage.max(initial=0.0)) for leakage in self._leakage.values()), default=0.0)

    @property
    def upper(self) -> float:
        """The largest leakage where all were evaluated; else also the entropy of the letters, for those that were not."""
        late = [pairs for pairs in self.pairs if len(self._leakage.get(pairs.record, ())) < len(self.priors)]
        return max([self.lower, *(float(np.log(pairs.shape[0])) for pairs in late)])

    def run(self) -> None:
        """Evaluate record after record, many priors at once."""
        for pairs in self.pairs:
            self._evaluate(pairs)
        self.out_of_time |= self.clock.expired
        self._tell("proving", None, now=True)

    @property
    def exposed(self) -> int | None:
        best = max(self._leakage, key=lambda i: self._leakage[i].max(initial=0.0), default=None)
        return self.pairs[0].record if best is None and self.pairs else best

    def exposure(self, slack: float) -> Exposure | None:
        record = self.exposed
        if record is None or self.lower <= 0.0:
            return None
        number = int(np.argmax(self._leakage[record]))
        pairs = next(pairs for pairs in self.pairs if pairs.record == record)
        return Exposure(record, self.lower, pairs.table(pairs.apply(self.priors[number])), number, number)

    def proof(self) -> UpperProof:
        return ()

    def certain(self) -> tuple[float, UpperProof]:
        """A leakage is at most the entropy of the letters."""
        return max(float(np.log(pairs.shape[0])) for pairs in self.pairs), ()

    def record_proofs(self) -> tuple[RecordProof, ...]:
        records = [pairs.record for pairs in self.pairs]
        return tuple(RecordProof(i, 1, "evaluated" if i in self._leakage else "letters", 0) for i in records)

    def _evaluate(self, pairs: DatasetPairs) -> None:
        """I(X_i; Y) under every prior."""
        record, letters, outputs = pairs.record, pairs.shape[0], self.channel.shape[1]
        if letters * outputs > MAX_NUMBERS:
            raise DaleniusError(
                f"nothing can be proved about this model: record {record} has more than {MAX_NUMBERS} pairs of a letter and an output "
                "(docs/certificate-format.md)"
            )
        with_letter = [pairs.letters == a for a in range(letters)]
        size = max(BATCH // max(self.priors.shape[1], letters * outputs), 1)
        done: list[Floats] = []
        for first in range(0, len(self.priors), size):
            if self.clock.expired:
                break
            masses = pairs.apply(self.priors[first : first + size])
            joint = [masses[:, mine] @ self.channel[pairs.inputs[mine]] for mine in with_letter]
            done.append(mutual_information(np.stack(joint, axis=1)))
            self._leakage[record] = np.concatenate(done)
            self._tell("priors", record)

    def _tell(self, stage: str, record: int | None, *, now: bool = False) -> None:
        done = sum(len(leakage) for leakage in self._leakage.values())
        self.clock.tell(stage, self.lower, self.upper, done, record=record, now=now)
