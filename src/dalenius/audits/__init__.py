"""Problem 1, how much a release can teach about one record: which audit fits which adversary, and the limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from dalenius.audits.audit import Exposure, RecordsAudit, UpperProof
from dalenius.audits.proof_lines import entropy_line
from dalenius.errors import DaleniusError
from dalenius.evidence import CERTAIN, MARGINS, Upper
from dalenius.evidence.upper import RecordLine
from dalenius.model import MechanismProblem, WorstCaseLeakage
from dalenius.model.costs import Kind, record_kinds
from dalenius.model.problems.large import WideCount
from dalenius.reduction import Grid
from dalenius.results import RecordProof
from dalenius.search import Limits, Run


@dataclass(frozen=True)
class _Letters:
    """A kind of record of which nothing is known but its letters."""

    kind: Kind
    lower: ClassVar[float] = 0.0

    @property
    def record(self) -> int:
        return self.kind.record

    @property
    def upper(self) -> float:
        return math.log(self.kind.letters)

    @property
    def section(self) -> UpperProof:
        return RecordLine(self.record), entropy_line()

    @property
    def record_proof(self) -> RecordProof:
        return RecordProof(self.record, self.kind.times, "letters", 1)


@dataclass
class LettersAudit(RecordsAudit[_Letters]):
    """Against priors with some entropy, for want of room: 0 from below, the logarithm of the most letters from above."""

    def __post_init__(self) -> None:
        self.records = self.begun()

    def begun(self) -> list[_Letters]:
        kinds = record_kinds(self.problem.query_of_inputs, self.problem.records, len(self.problem.channel))
        return [_Letters(kind) for kind in kinds]

    def run(self) -> None:
        """Nothing to search."""
        self.out_of_room = True
        self.clock.tell("letters", self.lower, self.upper, len(self.records), now=True)

    def exposure(self, slack: float) -> Exposure | None:
        return None

    def uppers(self) -> Iterator[Upper]:
        """The one that there is."""
        margin = MARGINS[0] if self.records else 0.0
        yield Upper(value=self.upper, margin=margin, lines=self.proof(), candidate=CERTAIN)


# by the names of routes; of an audit only what it needs is imported
AUDITS = {
    "entropy_at_least": "entropy_at_least.EntropyAudit",
    "finite_chain": "chains.FiniteChainAudit",
    "free_noise": "noise.FreeNoiseAudit",
    "histogram": "histograms.HistogramAudit",
    "independent_blocks": "blocks.BlocksAudit",
    "law_class": "law_classes.ClassAudit",
    "local_protocol": "law_classes.ProtocolAudit",
    "markov_chain": "binary_chains.MarkovChainAudit",
    "noise": "noise.NoiseAudit",
    "prior_set": "listed.PriorSetAudit",
    "product_priors": "selections.ProductAudit",
    "secrets, any_prior": "secrets.SecretAudit",
    "secrets, entropy_at_least": "secrets.ClassSecretAudit",
    "secrets, law_class": "secrets.ClassSecretAudit",
    "secrets, prior_set": "secrets.ListedSecretAudit",
    "secrets, product_priors": "secrets.ProductSecretAudit",
    "wide_count": "wide.WideAudit",
}
ROOM = 1.1  # times what a proof should take: a search is late by one of its steps
MANY = 2**20  # entries of a channel, beyond which an audit of the rounded count is much less work
MUCH = 30.0  # nats of knowledge, for which its witness may fall short
FAR = 1.5  # predictions may be wrong by a third: what seems to take more than so many times the limits is not begun


def audit_of(problem: MechanismProblem, search: Run, wide: WideCount | None = None) -> Any:
    """The audit of records or secrets that fits the question, or that of a count as if it were `wide`; not yet run."""
    wide = wide or problem.route.wide
    home, name = AUDITS["wide_count" if wide else problem.route.audit].split(".")
    return getattr(import_module(f"dalenius.audits.{home}"), name)(problem, search, *([wide] if wide else []))


def need_within(problem: WorstCaseLeakage, limits: Limits) -> None:
    """Raise `DaleniusError` if not even an interval that needs no search can be proved within the limits."""
    certain, (seconds, size) = problem.costs.certain, limits.certain
    if not certain.within(FAR * seconds, FAR * size):
        raise DaleniusError(
            f"nothing can be proved about this model within its limits: reading it and its channel of {problem.shape[0]} x "
            f"{problem.shape[1]} entries takes {certain}; raise time_limit and memory_limit, or merge outputs or letters"
        )


def audit_within(problem: WorstCaseLeakage, search: Run, *, plain: bool = False) -> Any:
    """The audit that fits the adversary and the limits; from now on its clock leaves to the proof the time that this will take.

    Of a question that is `plain`, with no other wish than its interval, it may be one that reaches just the gap.
    """
    costs, limits = problem.costs, search.limits
    if problem.searched and costs.held > limits.least[1]:
        return LettersAudit(problem, search)
    search.clock.reserve(min(ROOM * costs.whole.seconds, 0.9 * limits.seconds))
    if plain and problem.searched and search.checkpoint is None and 0.0 < problem.max_knowledge < MUCH:
        asked = problem.query, problem.records, problem.mechanism, problem.adversary
        count = WideCount.of(*asked, entries=MANY)
        if count is not None and (count.letters, count.counted) == (2, 1) and Grid(count, 2).spread <= limits.gap / 8.0:
            return audit_of(problem, search, count)
    return audit_of(problem, search)
