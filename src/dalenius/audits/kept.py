"""What an audit keeps in its checkpoint: the witnesses, and every tree that it has begun, as far as it has grown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dalenius.audits.ascent import Candidate
from dalenius.audits.bounds.dual_node import ConditionalCut, DualNode
from dalenius.audits.bounds.dual_tree import DualTree
from dalenius.audits.bounds.posteriors import PosteriorTree
from dalenius.audits.bounds.row_boxes import RowBox
from dalenius.audits.bounds.row_cuts import ClosedPart
from dalenius.audits.bounds.row_search import Halving, Plan, Refinement, RowTree
from dalenius.audits.bounds.row_trees import Row
from dalenius.audits.record_audit import RecordAudit, best_of
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
from dalenius.model import MaximalLeakage, digest
from dalenius.reduction import AggregatedRecord, Chamber, RecordSymmetries, RowSymmetry, Triple
from dalenius.search.boxes import Box, BoxTree
from dalenius.search.checkpoint import Checkpoint, Plain
from dalenius.search.race import Runner
from dalenius.search.tree import Branch, Leaf, Tree
from dalenius.version import PRODUCER

__all__ = ["Kept", "checkpoint_of"]

WITNESSES = "witnesses"
WRITING = 1e-4  # seconds a leaf
CLASSES = (
    *(Leaf, Branch, Box, RowBox, Plan, ClosedPart, Halving, Refinement),
    *(Row, DualNode, ConditionalCut, Chamber, RowSymmetry, Triple, RecordSymmetries, Candidate),
)
AnyTree = Tree[Any, Any]


def checkpoint_of(path: str | Path, problem: MaximalLeakage) -> Checkpoint:
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
            mark: tuple[object, ...] = _root(runner.tree)
        else:
            root = runner.tree.nodes[0]
            assert isinstance(runner, DualTree)
            assert isinstance(root, Leaf)
            node: DualNode = root.content
            mark = (node.low, node.high, node.law, node.beta, runner.fixed)
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
    """What a tree is about, as far as its own arguments go."""
    if isinstance(tree, BoxTree):
        return (tree.root.low, tree.root.high)
    groups = tree.problem.groups
    return (tree.root.low, tree.root.high, tree.root.groups, groups.halves, groups.order, tree.target)
