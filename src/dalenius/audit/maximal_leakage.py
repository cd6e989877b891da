"""Problem 1, both sides: witnesses from below, the tightest of three certified bounds from above, for every kind of record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.audit.box_tree import BoxTree
from dalenius.audit.clock import Clock
from dalenius.audit.dual import dual_bound
from dalenius.audit.posteriors import PosteriorRelaxation
from dalenius.audit.proofs import dual_lines, law_text, posterior_lines, vertex_lines
from dalenius.audit.search import Candidate, feasible, search
from dalenius.audit.tilt import entropy_of
from dalenius.audit.vertices import VertexTree, capacity
from dalenius.information import mutual_information
from dalenius.problems.aggregation import RecordChannel

__all__ = ["Auditor", "RecordAudit"]

Floats = NDArray[np.float64]
Bound = tuple[float, str, list[list[Any]]]
ABSOLUTE = 4e-12  # nats: below this width double precision does not steer a search any more
MOST_CLASSES = 256  # above this the vertex bound is not tried
WORK = 2.5e-7  # seconds that checking a leaf takes per multiply-add, and FIXED besides: a certificate must be checkable in time
FIXED = 1.5e-4


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


@dataclass
class Auditor:
    """A running audit. Its bounds are valid (up to rounding, which the checker settles) whenever `run` returns.

    Parameters
    ----------
    channels : list of RecordChannel
        One for each kind of record.
    gap : float
        Stop when (upper - lower) / upper is at most this.
    known : dict of record -> (upper bound, proof)
        Bounds proved before, for an adversary with no more entropy.
    """

    channels: list[RecordChannel]
    gap: float
    clock: Clock
    rng: np.random.Generator
    most_leaves: int = 300_000
    records: list[RecordAudit] = field(default_factory=list)
    known: dict[int, tuple[float, list[list[Any]]]] = field(default_factory=dict)
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

    def run(self) -> None:
        """Search every kind of record from below, then bound them from above, the most leaking first."""
        self.records = [self._start(channel) for channel in self.channels]
        for record in self.records:
            if record.channel.record in self.known:
                upper, proof = self.known[record.channel.record]
                self._keep(record, upper, "earlier", iter(proof), len(proof))
        self._tell("search", 0, 0)
        for j, record in enumerate(sorted(self.records, key=lambda r: -r.candidate.leakage)):
            turn = self.clock.part(1.0 / (len(self.records) - j))
            if record.upper > self.target and not turn.expired:
                self._bound(record, turn)
        self.out_of_time |= self.clock.expired
        self._tell("done", 0, sum(record.leaves for record in self.records), now=True)

    def retreat(self) -> None:
        """Forget everything but what needs no search: a leakage is at least 0 and at most the entropy of the letters."""
        self.records = [
            RecordAudit(channel, Candidate(channel.uniform, 0.0, 0.0), *_letters_bound(channel))
            for channel in self.channels
        ]

    def _start(self, channel: RecordChannel) -> RecordAudit:
        """A witness, and the bounds that cost nothing: the letters' entropy, or the one prior there is."""
        if channel.deficit == 0.0:
            leakage = float(mutual_information(channel.uniform @ channel.rows))
            return RecordAudit(channel, Candidate(channel.uniform, leakage, 0.0), leakage, "uniform", [["uniform"]])
        found = search(channel, rng=self.rng, clock=self.clock.part(0.3 / len(self.channels)))
        candidate = self._with_uniform(channel, found)
        bounds = [_letters_bound(channel), _capacity_bound(channel, *self._whole_channel)]
        return RecordAudit(channel, candidate, *min(bounds, key=lambda bound: bound[0]))

    @cached_property
    def _whole_channel(self) -> tuple[Floats, Floats]:
        """An output law that is close to all rows of the channel, which the records share, and the rows' divergences."""
        law, divergences, _ = capacity(self.channels[0].rows, steps=60, clock=self.clock.part(0.1))
        return law, divergences

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

    def _bound(self, record: RecordAudit, turn: Clock) -> None:
        """The dual bound first; where its own limit is too high, the vertices and the posterior tree; the least is kept."""
        channel = record.channel
        self._dual(record, turn)
        if record.upper > self.target and channel.log_shares.shape[1] <= MOST_CLASSES:
            vertices = VertexTree(channel, turn.part(0.2))
            if vertices.attained < record.upper:
                vertices.run(target=self.target)
            self._keep(record, vertices.upper, "vertices", vertex_lines(channel, vertices), len(vertices.nodes))
        relaxation = PosteriorRelaxation(channel)
        if record.upper > self.target and relaxation.improves:
            self._posteriors(record, turn, relaxation)

    def _dual(self, record: RecordAudit, turn: Clock) -> None:
        bound = dual_bound(
            record.channel,
            record.candidate,
            tolerance=0.2 * self.gap * record.candidate.leakage + 0.2 * ABSOLUTE,
            enough=self.target,
            useless=record.upper,
            clock=turn,
            may_grow=lambda leaves: self._may_grow(
                turn, leaves, record.channel.input_log_shares.shape[1], record.channel
            ),
            tell=lambda upper, nodes: self._tell("dual", record.channel.record, nodes, min(upper, record.upper)),
        )
        leaves = 1 + sum(tree.leaves for tree in bound.trees)
        self._keep(record, bound.upper, "dual", dual_lines(record.channel, bound), leaves)

    def _posteriors(self, record: RecordAudit, turn: Clock, relaxation: PosteriorRelaxation) -> None:
        channel = record.channel
        tree = BoxTree(relaxation, *relaxation.root(record.candidate.mu))
        while tree.upper > self.target and self._may_grow(turn, tree.leaves, channel.input_log_shares.size, channel):
            if not tree.grow(64, above=self.target):
                break
            self._tell("posterior", channel.record, tree.leaves, min(tree.upper, record.upper))
        self._keep(record, tree.upper, "posterior", posterior_lines(channel, tree), tree.leaves)

    def _may_grow(self, turn: Clock, leaves: int, pairs: int, channel: RecordChannel) -> bool:
        """Whether a tree may get more leaves: there must be time left to check them, too."""
        late = turn.remaining < leaves * (FIXED + WORK * pairs * channel.outputs)
        self.out_of_time |= late
        return leaves < self.most_leaves and not late and not turn.expired

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


def _letters_bound(channel: RecordChannel) -> Bound:
    """I(X_i; Y) <= log of the number of letters: the bound, its name, its proof."""
    return float(np.log(channel.letters)), "letters", [["column", "0", [None] * channel.letters]]


def _capacity_bound(channel: RecordChannel, law: Floats, divergences: Floats) -> Bound:
    """I(X_i; Y) <= I(X; Y) <= max D(row || law): the bound, its name, its proof."""
    used = np.isfinite(channel.log_shares).any(axis=0)
    return float(divergences[used].max()), "capacity", [["dual", "0", law_text(channel, law)]]
