"""No search: a record leaks at most the entropy of its letters. For models that the limits leave no room to work on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from dalenius._costs import Kind, record_kinds
from dalenius.audits.audit import Audit, Exposure, UpperProof
from dalenius.audits.proof_lines import entropy_line
from dalenius.evidence import CERTAIN, MARGINS, Upper
from dalenius.evidence.upper import RecordLine
from dalenius.results import RecordProof

__all__ = ["LettersAudit"]


@dataclass
class LettersAudit(Audit):
    """Against priors with some entropy: 0 from below, the logarithm of the most letters from above.

    Parameters
    ----------
    late : bool
        Whether it is for want of time; of room otherwise.
    """

    late: bool = False
    kinds: list[Kind] = field(init=False)

    def __post_init__(self) -> None:
        problem = self.problem
        self.kinds = record_kinds(problem.query_of_inputs, problem.records, len(problem.channel))

    @property
    def lower(self) -> float:
        return 0.0

    @property
    def upper(self) -> float:
        return math.log(self._largest.letters) if self._largest else 0.0

    def run(self) -> None:
        """Nothing to search."""
        self.out_of_time, self.out_of_room = self.late, not self.late
        self.clock.tell("letters", self.lower, self.upper, len(self.kinds), now=True)

    @property
    def exposed(self) -> int | None:
        return self._largest.record if self._largest else None

    def exposure(self, slack: float) -> Exposure | None:
        return None

    def proof(self) -> UpperProof:
        return tuple(line for kind in self.kinds for line in (RecordLine(kind.record), entropy_line()))

    def uppers(self) -> Iterator[Upper]:
        """The one that there is."""
        yield Upper(value=self.upper, margin=MARGINS[0] if self.kinds else 0.0, lines=self.proof(), candidate=CERTAIN)

    def certain(self) -> tuple[float, UpperProof]:
        return self.upper, self.proof()

    def record_proofs(self) -> tuple[RecordProof, ...]:
        return tuple(RecordProof(kind.record, kind.times, "letters", 1) for kind in self.kinds)

    @property
    def _largest(self) -> Kind | None:
        return max(self.kinds, key=lambda kind: kind.letters, default=None)
