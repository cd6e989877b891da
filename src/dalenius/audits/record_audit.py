"""State of an audit of one kind of record: a witness from below, the least of several bounds from above, and its proof."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dalenius.audits.ascent import Candidate, feasible, polish
from dalenius.audits.audit import UpperProof
from dalenius.audits.bounds.dual_node import ConditionalCut, DualNode
from dalenius.audits.bounds.dual_tree import DualTree
from dalenius.audits.bounds.dual_work import DualWork
from dalenius.audits.bounds.posteriors import PosteriorTree
from dalenius.audits.bounds.row_boxes import Plan, Refinement, RowBox
from dalenius.audits.bounds.row_search import Row, RowTree
from dalenius.audits.proof_lines import capacity_line, entropy_line
from dalenius.evidence.upper import ProofLine, RecordLine
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
from dalenius.information.tilt import entropy_of
from dalenius.model import Problem, digest
from dalenius.reduction import AggregatedRecord, Chamber, RecordChannel, RecordSymmetries, RowSymmetry, Triple
from dalenius.results import RecordProof
from dalenius.search import Clock
from dalenius.search.boxes import Box, BoxTree, End
from dalenius.search.checkpoint import Checkpoint, Plain
from dalenius.search.tree import Branch, Leaf, Race, Runner, Tree
from dalenius.version import PRODUCER

Proof = tuple[ProofLine, ...]
RELATIVE = 1e-5  # of a leakage so small that ABSOLUTE is much of it
SHORT = 256  # lines of a proof that takes no time to speak of
ABSOLUTE = 4e-12  # nats: below this width double precision does not steer a search any more


class Rung(NamedTuple):
    """The part of a proof to check: its leaves, each with slopes for `grouped` times as many numbers as there are outputs, and the
    multiply-adds that one takes where outputs are not grouped. Those that were `told` need only be read. In each leaf
    `ranges` are narrowed by the ones beside them."""

    leaves: int
    grouped: float
    work: int
    told: int = 0
    ranges: float = 0.0


class Bound(NamedTuple):
    """An upper bound in nats, what it is called, and the lines that prove it."""

    upper: float
    method: str
    proof: Proof


@dataclass
class RecordAudit:
    """State of an audit of one kind of record: a witness and an upper bound, each with the lines that prove it.

    `leaves` are those of the bound's proof, and `grouped` is what `Rung` says of it. `quick` is the best bound with a short proof, for
    the case that there is no time to check the best. Lines `under` a section's first one say what its channel is.
    """

    channel: AggregatedRecord
    candidate: Candidate
    upper: float
    method: str
    lines: Iterable[ProofLine]
    leaves: int = 1
    dual: DualWork | None = None
    grouped: float = 1.0
    told: int = 0
    ranges: float = 0.0
    race: Race | None = None
    under: Proof = ()
    quick: tuple[float, Proof] = field(init=False)

    def __post_init__(self) -> None:
        self.quick = self.upper, self.proof

    @property
    def proof(self) -> Proof:
        """The lines, which are written when they are asked for: of thousands of leaves that takes seconds."""
        self.lines = proof = tuple(self.lines)
        return proof

    @property
    def record(self) -> int:
        return self.channel.record

    @property
    def lower(self) -> float:
        return self.candidate.leakage

    @property
    def head(self) -> UpperProof:
        """The lines that its proof is below."""
        return RecordLine(self.record), *self.under

    @property
    def section(self) -> UpperProof:
        return *self.head, *self.proof

    @property
    def record_proof(self) -> RecordProof:
        return RecordProof(self.record, self.channel.times, self.method, self.leaves)

    def witness(self, slack: float) -> tuple[Floats | None, float]:
        """A prior with H >= b + slack (None: the uniform one) and its leakage in nats."""
        if self.channel.max_knowledge > 0.0:
            p = feasible(self.candidate.p, self.channel.log_uniform, self.channel.max_knowledge, slack=slack)
            if p is not None:
                return p, float(mutual_information(p @ self.channel.rows))
        return None, self.channel.told_by_uniform

    @property
    def bounded(self) -> float:
        """The least bound known, that of its trees included."""
        return min([self.upper, *(runner.upper for runner in (self.race.runners if self.race else []))])

    @property
    def boxes(self) -> PosteriorTree | None:
        """The tree over boxes of the posterior, if it proves the bound that is kept."""
        found = (runner for runner in (self.race.runners if self.race else []) if isinstance(runner, PosteriorTree))
        return next((tree for tree in found if tree.upper <= self.upper), None)

    @property
    def rung(self) -> Rung:
        """Work of checking the bound that is kept."""
        return Rung(self.leaves, self.grouped, self.work, self.told, self.ranges)

    @property
    def best_rung(self) -> Rung:
        """Of the bound that would be proved now, a tree's or another; no leaves where that is a matter of a few lines."""
        best = min(self.race.runners if self.race else [], key=lambda runner: runner.upper, default=None)
        if best is not None and best.upper < self.upper:
            return Rung(best.leaves, best.grouped, self.work, best.told, best.ranges)
        return self.rung if self.leaves > 1 else Rung(0, 1.0, self.work)

    @property
    def work(self) -> int:
        """Multiply-adds that checking a leaf takes where outputs are not grouped."""
        return self.channel.completions.log_uniform.shape[1] * self.channel.aggregation.output_count

    def decimals(self, gap: float) -> int:
        """Number of decimals of hints: rounding them should cost a hundredth of the gap."""
        wanted = max(gap * self.candidate.leakage, ABSOLUTE)
        return int(np.clip(np.ceil(2.0 - np.log10(wanted)), 5, 13))

    def keep(self, upper: float, method: str, lines: Iterable[ProofLine], rung: Rung) -> None:
        """Take a bound with its proof, if it is better; the best one with a short proof is kept beside it."""
        if upper < self.upper:
            self.upper, self.method, self.lines = upper, method, lines
            self.leaves, self.grouped, _, self.told, self.ranges = rung
            if rung.leaves == 1 or (rung.leaves <= SHORT and len(self.proof) <= SHORT):
                self.quick = upper, self.proof

    def improve(self, p: Floats, clock: Clock) -> None:
        """Search from a prior where a bound is large."""
        self.candidate = polish(self.channel, p / p.sum(), self.candidate, clock=clock)


def best_of(channel: RecordChannel, *candidates: Candidate) -> Candidate:
    """The feasible candidate that leaks most (the search may have been cut short), or the uniform prior."""
    return max((_or_uniform(channel, candidate) for candidate in candidates), key=lambda c: c.leakage)


def _or_uniform(channel: RecordChannel, candidate: Candidate) -> Candidate:
    least = -channel.max_knowledge - 1e-9 * (1.0 + channel.max_knowledge)
    if entropy_of(candidate.p, channel.log_uniform) >= least and candidate.leakage >= channel.told_by_uniform:
        return candidate
    return Candidate(channel.uniform, channel.told_by_uniform, candidate.mu)


def one_class_a_letter(channel: RecordChannel, inputs: Floats) -> Candidate:
    """A law on the classes as a prior where every letter has one class (a record alone): then the problem is Shannon capacity."""
    exists = np.isfinite(channel.log_uniform)
    if not np.all(exists.sum(axis=1) == 1):
        return Candidate(channel.uniform, channel.told_by_uniform, 0.0)
    p = exists * inputs / np.maximum(exists.sum(axis=0), 1)
    p = p / p.sum()
    return Candidate(p, float(mutual_information(p @ channel.rows)), 0.0)


def letters_bound(channel: RecordChannel) -> Bound:
    """I(X_i; Y) <= log of the number of letters."""
    return Bound(float(np.log(channel.letters)), "letters", (entropy_line(),))


def capacity_bound(channel: AggregatedRecord, law: Floats, divergences: Floats, known: float) -> Bound | None:
    """I(X_i; Y) <= I(X; Y) <= max D(row || law); None if less is known already: a long law takes seconds to write."""
    upper = float(divergences[np.isfinite(channel.log_uniform).any(axis=0)].max())
    return Bound(upper, "capacity", (capacity_line(channel, law),)) if upper < known else None


WITNESSES = "witnesses"
WRITING = 1e-4  # seconds a leaf
CLASSES = (
    *(Leaf, Branch, Box, RowBox, Plan, End, Refinement),
    *(Row, DualNode, ConditionalCut, Chamber, RowSymmetry, Triple, RecordSymmetries, Candidate),
)
AnyTree = Tree[Any, Any]


def checkpoint_of(path: str | Path, problem: Problem) -> Checkpoint:
    """The checkpoint of an audit, read if there is one; `InputError` if it is of another model or release, or damaged."""
    return Checkpoint(path, digest(problem), PRODUCER, Plain(CLASSES))


@dataclass
class Kept:
    """An audit goes the same way again, but where a tree is begun that was begun before it is as it was.

    Whether it is the same tree is seen from what it is about: the output law, the multiplier, the box and the groups at its root,
    and the target that its cuts were made for. Where anything is otherwise, a tree begins anew, which costs time.
    """

    file: Checkpoint | None
    _first: dict[int, Candidate] = field(default_factory=dict, init=False)
    _trees: list[tuple[str, object, AnyTree, AnyTree | Runner]] = field(default_factory=list, init=False)
    _known: dict[int, tuple[Candidate, Candidate]] = field(init=False)

    def __post_init__(self) -> None:
        self._known = (self.file.find(WITNESSES, None) if self.file else None) or {}

    def witness(self, channel: AggregatedRecord) -> Candidate | None:
        """The one with which the bounds of a kind of record were begun."""
        if channel.record not in self._known:
            return None
        return _again(channel, self._known[channel.record][0])

    def best(self, record: RecordAudit) -> Candidate:
        """The best one known of a record, that of the checkpoint included."""
        known = self._known.get(record.channel.record)
        own = _again(record.channel, known[1]) if known else None
        return record.candidate if own is None else best_of(record.channel, own, record.candidate)

    def started(self, records: Sequence[RecordAudit]) -> None:
        """The witnesses that bounds begin with."""
        self._first = {record.channel.record: record.candidate for record in records}

    def rows(self, record: RecordAudit, law: Floats, beta: float, trees: Sequence[BoxTree | RowTree]) -> None:
        """The trees of a dual bound are begun."""
        for tree in {id(tree): tree for tree in trees}.values():
            self._begin(f"dual {record.channel.record}", (law, beta, *_root(tree)), tree, None)

    def runner(self, record: RecordAudit, runner: Runner) -> None:
        """A tree of a record's race is begun."""
        if isinstance(runner, PosteriorTree):
            groups = runner.relaxation.groups
            mark: tuple[object, ...] = (
                *_root(runner.tree),
                *(() if groups is None else (groups.members, groups.shares)),
            )
        else:
            root = runner.tree.nodes[0]
            assert isinstance(runner, DualTree)
            assert isinstance(root, Leaf)
            node: DualNode = root.content
            mark = (node.low, node.high, node.law, node.beta, runner.aim.fixed)
        self._begin(f"{runner.name} {record.channel.record}", mark, runner.tree, runner)

    def _begin(self, name: str, mark: tuple[object, ...], tree: AnyTree, runner: Runner | None) -> None:
        if self.file is None:
            return
        nodes = self.file.find(name, mark)
        numbers = () if nodes is None else tree.lend(1, able=Runner.able if runner is None else runner.able)
        if numbers and runner is not None:
            runner.graft(numbers, nodes, None)
        elif numbers:
            tree.graft(numbers, nodes)
        self._trees = [known for known in self._trees if runner is None or known[3] is not runner]
        self._trees.append((name, mark, tree, runner or tree))

    def look(self, records: Sequence[RecordAudit], *, within: float | None = None) -> None:
        """Write, if it is time to; or in any case, if that is predicted to take no more than so many seconds."""
        if self.file is None or not self._trees:
            return
        leaves = sum(grown.leaves for *_, grown in self._trees)
        if not (self.file.due if within is None else leaves * WRITING <= within):
            return
        own = {r.channel.record: (self._first[r.channel.record], r.candidate) for r in records}
        trees = [(name, mark, tree.nodes) for name, mark, tree, _ in self._trees]
        self.file.write([(WITNESSES, None, self._known | own), *trees])


def _again(channel: AggregatedRecord, candidate: Candidate) -> Candidate | None:
    """A witness whose leakage is worked out anew; None if it is none."""
    p = candidate.p
    if p.shape != channel.log_uniform.shape or not (np.all(p >= 0.0) and abs(p.sum() - 1.0) < 1e-6):
        return None
    return Candidate(p, float(mutual_information(p @ channel.rows)), candidate.mu)


def _root(tree: BoxTree | RowTree) -> tuple[object, ...]:
    """Subject of a tree, as far as its own arguments go."""
    if isinstance(tree, BoxTree):
        return (tree.root.low, tree.root.high)
    groups = tree.problem.groups
    return (tree.root.low, tree.root.high, tree.root.groups, groups.halves, groups.order, tree.target)
