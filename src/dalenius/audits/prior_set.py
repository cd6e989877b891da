"""Listed priors: I(X_i; Y) of every prior and record, evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.finding import Finding, Part
from dalenius.errors import DaleniusError
from dalenius.information import mutual_information
from dalenius.model.selections import MAX_NUMBERS
from dalenius.search.clock import Clock

__all__ = ["PriorSetAudit"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
BATCH = 2**22  # numbers in a batch of priors


@dataclass
class PriorSetAudit:
    """A running audit against a `PriorSet`; see `dalenius.audits.finding.Audit`.

    Parameters
    ----------
    alphabets : sizes of the records' alphabets
    priors : (priors, datasets), each summing to 1
    inputs : (datasets,), the channel input of every dataset
    channel : (inputs, outputs), row-stochastic
    """

    alphabets: tuple[int, ...]
    priors: Floats
    inputs: Integers
    channel: Floats
    gap: float
    clock: Clock
    out_of_time: bool = False
    out_of_room: bool = False

    def __post_init__(self) -> None:
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
