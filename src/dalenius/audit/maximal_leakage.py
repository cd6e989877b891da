"""Problem 1, both sides: witnesses from below, the tightest of three certified bounds from above, for every kind of record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.audit.box_tree import BoxTree
from dalenius.audit.clock import Clock
from dalenius.audit.dual import dual_bound
from dalenius.audit.posteriors import PosteriorRelaxation
from dalenius.audit.proofs import dual_lines, posterior_lines, vertex_lines, witness_line
from dalenius.audit.search import Candidate, feasible, search
from dalenius.audit.tilt import entropy_of
from dalenius.audit.vertices import VertexTree
from dalenius.information import mutual_information
from dalenius.problems.aggregation import RecordChannel

__all__ = ["Auditor", "RecordAudit"]

Floats = NDArray[np.float64]
ABSOLUTE = 4e-12  # nats: below this width double precision does not steer a search any more
WORK = 2.5e-7  # seconds of checking per multiply-add of a leaf, with FIXED per leaf: keeps certificates checkable
FIXED = 4e-4


@dataclass
class RecordAudit:
    """What is known about one kind of record: a witness and an upper bound, each with the lines that prove it."""

    channel: RecordChannel
    candidate: Candidate
    upper: float
    method: str
    proof: list[list[Any]]
    leaves: int = 1

    def witness(self, slack: float) -> tuple[Floats | None, float]:
        """A prior with H >= b + slack (None: the uniform one) and its leakage in nats."""
        if self.channel.deficit > 0.0:
            p = feasible(self.channel, self.candidate.p, slack=slack)
            if p is not None:
                return p, float(mutual_information(p @ self.channel.rows))
        return None, float(mutual_information(self.channel.uniform @ self.channel.rows))

    def witness_line(self, slack: float) -> list[Any]:
        return witness_line(self.channel, self.witness(slack)[0])


@dataclass
class Auditor:
    """A running audit. Its bounds are valid (up to rounding, which the checker settles) whenever `run` returns.

    Parameters
    ----------
    channels : list of RecordChannel
        One for each kind of record.
    gap : float
        Stop when (upper - lower) / upper is at most this.
    """

    channels: list[RecordChannel]
    gap: float
    clock: Clock
    rng: np.random.Generator
    most_leaves: int = 60_000
    records: list[RecordAudit] = field(default_factory=list)
    out_of_time: bool = False

    @property
    def lower(self) -> float:
        return max((record.candidate.leakage for record in self.records), default=0.0)

    @property
    def upper(self) -> float:
        return max((record.upper for record in self.records), default=0.0)

    @property
    def target(self) -> float:
        """An upper bound at most this closes the audit, with a little room for rounding."""
        return max(self.lower / (1.0 - 0.9 * min(self.gap, 1.0)), self.lower + ABSOLUTE) if self.gap < 1.0 else np.inf

    @property
    def closed(self) -> bool:
        return self.upper <= self.target

    def run(self) -> None:
        """Search every kind of record from below, then bound them from above, the most leaking first."""
        self.records = [self._start(channel) for channel in self.channels]
        self._tell("search", 0, 0)
        for record in sorted(self.records, key=lambda r: -r.candidate.leakage):
            if record.upper > self.target and not self.clock.expired:
                self._bound(record)
        self.out_of_time |= self.clock.expired
        self._tell("done", 0, sum(record.leaves for record in self.records), now=True)

    def _start(self, channel: RecordChannel) -> RecordAudit:
        """A witness, and the bounds that cost nothing: the letters' entropy, or the one prior there is."""
        if channel.deficit == 0.0:
            leakage = float(mutual_information(channel.uniform @ channel.rows))
            return RecordAudit(channel, Candidate(channel.uniform, leakage, 0.0), leakage, "uniform", [["uniform"]])
        share = Clock(
            self.clock.seconds + 0.3 * max(self.clock.remaining, 0.0) / len(self.channels), started=self.clock.started
        )
        candidate = search(channel, rng=self.rng, clock=share if not self.clock.stopped else self.clock)
        upper = float(np.log(channel.letters))
        candidate = self._with_uniform(channel, candidate)
        return RecordAudit(channel, candidate, upper, "letters", [["column", "0", [None] * channel.letters]])

    @staticmethod
    def _with_uniform(channel: RecordChannel, candidate: Candidate) -> Candidate:
        """The uniform prior where it leaks more than what the search found (the search may have been cut short)."""
        leakage = float(mutual_information(channel.uniform @ channel.rows))
        feasible_enough = entropy_of(candidate.p, channel.log_shares) >= -channel.deficit - 1e-9 * (
            1.0 + channel.deficit
        )
        if feasible_enough and candidate.leakage >= leakage:
            return candidate
        return Candidate(channel.uniform, leakage, candidate.mu)

    def _bound(self, record: RecordAudit) -> None:
        """The dual bound first; if its own limit is no use, the vertices and the posterior tree."""
        vertices = VertexTree(record.channel) if record.channel.log_shares.shape[1] <= 256 else None
        limit = min(record.upper, vertices.attained if vertices else np.inf)
        self._dual(record, useless=limit)
        if record.upper <= self.target or self.clock.expired:
            return
        if vertices is not None and vertices.attained <= self.target:
            vertices.run(self.clock, target=self.target)
            self._keep(record, vertices.upper, "vertices", vertex_lines(record.channel, vertices), len(vertices.nodes))
        if record.upper > self.target and not self.clock.expired:
            self._posteriors(record)

    def _dual(self, record: RecordAudit, useless: float) -> None:
        bound = dual_bound(
            record.channel,
            record.candidate,
            tolerance=0.2 * self.gap * record.candidate.leakage + 0.2 * ABSOLUTE,
            enough=self.target,
            useless=useless,
            clock=self.clock,
            tell=lambda upper, nodes: self._tell("dual", record.channel.record, nodes, min(upper, record.upper)),
        )
        self._keep(
            record, bound.upper, "dual", dual_lines(record.channel, bound), 1 + sum(t.leaves for t in bound.trees)
        )

    def _posteriors(self, record: RecordAudit) -> None:
        channel = record.channel
        relaxation = PosteriorRelaxation(channel)
        if not relaxation.improves:
            return
        tree = BoxTree(relaxation, *relaxation.root(record.candidate.mu))
        cost = FIXED + WORK * channel.input_log_shares.size * channel.outputs
        while tree.upper > self.target and tree.leaves < self.most_leaves and not self.clock.expired:
            if tree.leaves * cost > self.clock.remaining:
                self.out_of_time = True
                break
            if not tree.grow(64, above=self.target):
                break
            self._tell("posterior", channel.record, tree.leaves, min(tree.upper, record.upper))
        self._keep(record, tree.upper, "posterior", posterior_lines(channel, tree), tree.leaves)

    @staticmethod
    def _keep(record: RecordAudit, upper: float, method: str, lines: Iterator[list[Any]], leaves: int) -> None:
        if upper < record.upper:
            record.upper, record.method, record.proof, record.leaves = upper, method, list(lines), leaves

    def _tell(self, stage: str, record: int, nodes: int, upper: float | None = None, *, now: bool = False) -> None:
        upper = (
            self.upper
            if upper is None
            else max([upper, *(r.upper for r in self.records if r.channel.record != record)])
        )
        self.clock.tell(stage, record, self.lower, upper, nodes, now=now)
