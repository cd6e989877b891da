"""Row trees in groups as typed lines of a certificate, in preorder, in the channel's own outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dalenius.audits.bounds.output_groups import Groups
from dalenius.audits.bounds.row_boxes import RowBox
from dalenius.audits.bounds.row_search import Halving, Plan, Refinement, RowTree
from dalenius.evidence import short_text, slope_text
from dalenius.evidence.upper import GroupedRowLeaf, ProofLine, RowCut, RowGroups, RowLeaf
from dalenius.information.arrays import Floats
from dalenius.reduction import AggregatedRecord
from dalenius.search.tree import Branch

__all__ = ["row_tree_lines"]

Path = tuple[Groups, ...]  # the partitions that are met on the way to a node, the outputs first
Step = ProofLine | tuple[int, Path]  # a line, or a node that is to be written


def row_tree_lines(channel: AggregatedRecord, tree: RowTree) -> Iterator[ProofLine]:
    """A row tree; groups of outputs where it begins with them."""
    writer = _Writer(channel, tree)
    stack = writer.first()
    while stack:
        step = stack.pop()
        if isinstance(step, tuple):
            stack += writer.steps(*step)[::-1]
        else:
            yield step


class _Writer:
    """Turns nodes into lines and further nodes."""

    def __init__(self, channel: AggregatedRecord, tree: RowTree) -> None:
        self._channel, self._tree, self._groups = channel, tree, tree.problem.groups
        never = np.setdiff1d(np.arange(channel.aggregation.output_count), channel.aggregation.kept_outputs)
        self._never: tuple[int, ...] = tuple(never.tolist())
        self._slopes = tree.short_slopes()

    def first(self) -> list[Step]:
        """The root, last, and before it the line of its groups."""
        begun: Path = (self._groups.singles,)
        if self._tree.root.groups == self._groups.singles:
            return [(0, begun)]
        return [(0, (*begun, self._tree.root.groups)), self._partition(self._tree.root.groups)]

    def steps(self, number: int, path: Path) -> list[Step]:
        """What a node is written as, in order."""
        node = self._tree.nodes[number]
        if not isinstance(node, Branch):
            return [self._leaf(node.content, self._slopes[number], path)]
        plan: Plan = node.cut
        before, after, parts = list[Step](), list[Step](), list(node.parts)
        for part in plan.closed:
            before.append(self._cut(part.place, part.threshold, path))
            (after if part.above else before).append((parts.pop(0), path))
        if isinstance(plan.rest, Halving):
            before.append(self._cut(plan.rest.place, plan.rest.threshold, path))
        if isinstance(plan.rest, Refinement):
            before.append(self._partition(plan.rest.groups))
            path = (*path, plan.rest.groups)
        return [*before, *((part, path) for part in parts), *after[::-1]]

    def _cut(self, place: int, threshold: float, path: Path) -> RowCut:
        grouped = len(path) > 1
        return RowCut(place if grouped else int(self._channel.aggregation.kept_outputs[place]), short_text(threshold))

    def _partition(self, groups: Groups) -> RowGroups:
        """The members of each group; outputs that never occur are in the first one."""
        kept = self._channel.aggregation.kept_outputs
        lists = [sorted(int(kept[y]) for y in self._groups.outputs(g)) for g in groups]
        return RowGroups((tuple(sorted((*lists[0], *self._never))), *map(tuple, lists[1:])))

    def _leaf(self, box: RowBox, slopes: Floats, path: Path) -> ProofLine:
        if len(path) == 1:
            return RowLeaf(slope_text(self._channel.lift_outputs(slopes)))
        own, coarser = np.split(slopes, [len(box.groups)])
        earlier = [
            slope_text(self._multipliers(box, coarser, family, which))
            for which, family in enumerate(path[:-1], start=-1)
        ]
        return GroupedRowLeaf(slope_text(own), tuple(earlier)) if any(earlier) else RowLeaf(slope_text(own))

    def _multipliers(self, box: RowBox, coarser: Floats, family: Sequence[int], which: int) -> Floats:
        """Of the ranges of an earlier partition, those of groups that were split right after it."""
        values = np.zeros(len(family))
        for group, since, value in zip(box.coarser, box.since, coarser, strict=True):
            if since == which:
                values[family.index(group)] = value
        return values
