"""Listed priors: I(X_i; Y) of every prior and record, evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.finding import Finding, Part
from dalenius.errors import DaleniusError
from dalenius.information import mutual_information
from dalenius.reduction import MAX_NUMBERS, DatasetPairs
from dalenius.search.clock import Clock

__all__ = ["PriorSetAudit"]

Floats = NDArray[np.float64]
BATCH = 2**22  # numbers in a batch of priors


@dataclass
class PriorSetAudit:
    """A running audit against a `PriorSet`; see `dalenius.audits.finding.Audit`.

    Parameters
    ----------
    pairs : list of DatasetPairs
        One for each record with more than one letter.
    priors : (priors, datasets)
        Each sums to 1.
    channel : (inputs, outputs)
        Row-stochastic.
    """

    pairs: list[DatasetPairs]
    priors: Floats
    channel: Floats
    gap: float
    clock: Clock
    out_of_time: bool = False
    out_of_room: bool = False

    def __post_init__(self) -> None:
        self._pairs = {pairs.record: pairs for pairs in self.pairs}
        self._records = list(self._pairs)
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
        self._tell("done", 0, now=True)

    def retreat(self) -> None:
        """Forget everything: a leakage is at least 0 and at most the entropy of the letters."""
        self._leakage = {}

    def finding(self, margin: float, *, witnessed: bool = True) -> Finding:
        """What was found; the checker evaluates everything by itself, so there are no sections."""
        record = max(self._leakage, key=lambda i: self._leakage[i].max(initial=0.0), default=None)
        if record is None and self._records:
            record = self._records[0]
        witness: list[Any] = ["witness", None, None]
        leakage, masses, prior = 0.0, None, None
        if record is not None and witnessed and self.lower > margin:
            prior = int(np.argmax(self._leakage[record]))
            leakage, witness = self.lower, ["witness", record, prior]
            masses = self._masses(record, prior)
        return Finding(
            leakage=leakage,
            upper=self.upper,
            record=record,
            masses=masses,
            prior=prior,
            witness=witness,
            sections=[],
            parts=[Part(i, 1, "evaluated" if i in self._leakage else "letters", 0) for i in self._records],
        )

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

    def _masses(self, record: int, prior: int) -> Floats:
        """A prior's masses on (letter, channel input)."""
        pairs = self._pairs[record]
        return pairs.table(pairs.apply(self.priors[prior]))

    def _tell(self, stage: str, record: int, *, now: bool = False) -> None:
        done = sum(len(leakage) for leakage in self._leakage.values())
        self.clock.tell(stage, record, self.lower, self.upper, done, now=now)
