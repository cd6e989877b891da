"""Bounds of the audit as typed lines of a certificate, in preorder, in the channel's own inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain

import numpy as np

from dalenius.audits.bounds.dual_node import ConditionalCut
from dalenius.audits.bounds.dual_tree import DualBound, DualTree
from dalenius.audits.bounds.output_groups import Groups
from dalenius.audits.bounds.posteriors import PosteriorBoxes, PosteriorHalf, PosteriorRelaxation
from dalenius.audits.bounds.row_boxes import Plan, Refinement, RowBox
from dalenius.audits.bounds.row_search import Row, RowTree
from dalenius.audits.bounds.separate import SeparateBound
from dalenius.audits.bounds.vertices import VertexTree
from dalenius.evidence import matrix_text, short_text, slope_text, vector_text
from dalenius.evidence.lower import UNIFORM, InputLaw, Vector
from dalenius.evidence.upper import (
    ClassPart,
    Cut,
    GroupedRowLeaf,
    ImageRow,
    InformedLeaf,
    JointGroups,
    JointLeaf,
    Moves,
    OpenLine,
    OrbitCut,
    OrbitSplit,
    OutputLawLeaf,
    Partition,
    PiecewiseRow,
    ProofLine,
    RowChamber,
    RowCut,
    RowGroups,
    RowLeaf,
    SameRow,
    SeparateRow,
    Split,
    VerticesLeaf,
)
from dalenius.exact import fraction_text
from dalenius.information.arrays import Floats
from dalenius.information.informed import InformedBound
from dalenius.reduction import AggregatedRecord, Chamber, Source, Triple
from dalenius.search.tree import Branch

Path = tuple[Groups, ...]  # the partitions that are met on the way to a node, the outputs first
Step = ProofLine | tuple[int, Path]  # a line, or a node that is to be written


def row_tree_lines(channel: AggregatedRecord, tree: RowTree, *, draft: bool = False) -> Iterator[ProofLine]:
    """A row tree; groups of outputs where it begins with them. Of a draft only the leaves that have closed and were not told."""
    writer = _Writer(channel, tree, draft=draft)
    stack = writer.first()
    while stack:
        step = stack.pop()
        if isinstance(step, tuple):
            stack += writer.steps(*step)[::-1]
        else:
            yield step


class _Writer:
    """Turns nodes into lines and further nodes."""

    def __init__(self, channel: AggregatedRecord, tree: RowTree, *, draft: bool) -> None:
        self._proof = tree.tell() if draft else tree.proof()
        self._branches = tree.above(self._proof)
        self._channel, self._tree, self._groups = channel, tree, tree.problem.groups

    def first(self) -> list[Step]:
        """The root, last, and before it the line of its groups."""
        begun: Path = (self._groups.singles,)
        if self._tree.root.groups == self._groups.singles:
            return [(0, begun)]
        return [(0, (*begun, self._tree.root.groups)), self._partition(self._tree.root.groups)]

    def steps(self, number: int, path: Path) -> list[Step]:
        """Lines of a node, in order."""
        if number in self._proof:
            line = self._tree.lines.get(number) or self._leaf(*self._proof[number], path)
            if number in self._tree.told:
                self._tree.lines[number] = line
            return [line]
        if number not in self._branches:
            return [OpenLine()]
        node = self._tree.nodes[number]
        assert isinstance(node, Branch)
        plan: Plan = node.cut
        before, after, parts = list[Step](), list[Step](), list(node.parts)
        for part in plan.closed:
            before.append(self._cut(part.coordinate, part.threshold, path))
            (after if part.above else before).append((parts.pop(0), path))
        if isinstance(plan.rest, Refinement):
            before.append(self._partition(plan.rest.groups))
            path = (*path, plan.rest.groups)
        elif plan.rest is not None:
            before.append(self._cut(*plan.rest, path))
        return [*before, *((part, path) for part in parts), *after[::-1]]

    def _cut(self, place: int, threshold: float, path: Path) -> RowCut:
        grouped = len(path) > 1
        return RowCut(place if grouped else int(self._channel.aggregation.kept_outputs[place]), short_text(threshold))

    def _partition(self, groups: Groups) -> RowGroups:
        """The members of each group; outputs that never occur are in the first one."""
        return RowGroups(_whole(self._channel, map(self._groups.outputs, groups)))

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


Proof = Iterator[ProofLine]
UNSEEN = 1e-40  # weight of outputs whose probabilities are zero as doubles, and perhaps only as doubles


def prior_text(channel: AggregatedRecord, p: Floats | None) -> InputLaw:
    """A prior on the channel's own inputs; None stands for the uniform one."""
    return UNIFORM if p is None else matrix_text(channel.lift(p))


def law_text(channel: AggregatedRecord, law: Floats) -> Vector:
    """An output law's weights on all outputs of the channel."""
    return vector_text(channel.lift_outputs(law, fill=UNSEEN))


def entropy_line() -> ProofLine:
    """I(X_i; Y) <= log of the number of letters: every slope is zero."""
    return JointLeaf("0", "0", None, None)


def capacity_line(channel: AggregatedRecord, law: Floats) -> ProofLine:
    """I(X_i; Y) <= max over rows of D(row || law)."""
    return JointLeaf("1", "0", None, law_text(channel, law))


def informed_line(bound: InformedBound) -> ProofLine:
    """I(X_i; Y) <= what is known, and what the output reveals to whoever is told all other records."""
    ends = [short_text(end) for end in bound.ends.tolist()]
    laws = [tuple(fraction_text(Fraction(x)) for x in law) for law in bound.laws.tolist()]
    return InformedLeaf(short_text(bound.share), tuple(zip([*ends[:-1], "1"], laws, strict=True)))


def _whole(channel: AggregatedRecord, groups: Iterable[Sequence[int]]) -> Partition:
    """Groups of a record's outputs as groups of the channel's; outputs that never occur are in the first one."""
    kept = channel.aggregation.kept_outputs
    never = np.setdiff1d(np.arange(channel.aggregation.output_count), kept)
    first, *others = (kept[list(group)].tolist() for group in groups)
    return tuple(tuple(sorted(group)) for group in ((*first, *never.tolist()), *others))


def separate_lines(bound: SeparateBound, log_datasets: float, alike: Sequence[int]) -> Proof:
    """The dual bound of an output law, every letter's row problem one output at a time; multipliers as for whole counts.

    `alike` has for every letter the first one with the same numbers of completions.
    """
    yield JointLeaf("1", short_text(bound.slope), None, vector_text(bound.law))
    ends = tuple(map(short_text, bound.ends.tolist()))
    for letter, multipliers in enumerate((bound.sums + bound.slope * log_datasets).tolist()):
        weight, *others = map(short_text, multipliers)
        pieces = tuple(zip(ends, others, strict=True))
        own = PiecewiseRow(weight, pieces) if pieces else SeparateRow(weight)
        yield own if alike[letter] == letter else SameRow(alike[letter])


def constant_lines(row: Sequence[Fraction]) -> Proof:
    """Of a mechanism with this one row nothing is learnt: it is its own output law, at distance 0 exactly."""
    yield VerticesLeaf()
    yield OutputLawLeaf(exact_text(row))


def exact_text(row: Sequence[Fraction]) -> Vector:
    """Probabilities as they are."""
    return tuple(map(fraction_text, row))


def dual_lines(channel: AggregatedRecord, bound: DualBound) -> Proof:
    """One leaf with its row trees."""
    yield _dual_leaf(channel, bound)
    for a, tree in enumerate(bound.trees):
        if bound.problems.sources[a][0] < a:
            yield _source_line(bound.problems.sources[a])
            continue
        yield from _chamber_lines(channel, bound.chambers[a])
        if isinstance(tree, RowTree):
            yield from row_tree_lines(channel, tree)
            continue
        hints = tree.short_hints()
        for node in tree.preorder():
            if isinstance(node, Branch):
                yield _row_cut(channel, *node.cut)
            else:
                yield RowLeaf(slope_text(channel.lift_outputs(next(hints))))


def draft_lines(channel: AggregatedRecord, bound: DualBound) -> Proof:
    """The leaf of a growing bound with those leaves of its row trees that have closed since they were told last."""
    yield _dual_leaf(channel, bound)
    for a, tree in enumerate(bound.trees):
        if isinstance(tree, RowTree) and tree.untold:
            yield from _chamber_lines(channel, bound.chambers[a])
            yield from row_tree_lines(channel, tree, draft=True)
        else:
            yield OpenLine()


def _dual_leaf(channel: AggregatedRecord, bound: DualBound) -> JointLeaf:
    return JointLeaf("1", short_text(bound.beta), None, law_text(channel, bound.output_law))


def posterior_lines(
    channel: AggregatedRecord, relaxation: PosteriorRelaxation, tree: PosteriorBoxes, half: PosteriorHalf | None
) -> Proof:
    """A tree over boxes of the posterior; below a line that says so, if one part of the box stands for all others."""
    short = tree.short_hints()
    if half is not None:
        output = int(channel.aggregation.kept_outputs[half.output])
        first = next(short)
        short = chain([first], short)
        yield OrbitSplit("above", half.letter, output, short_text(half.threshold), _moves(half.triples))
        # No posterior has all letters below their mean, so that any leaf will do: one that adds no line of its own to the curve.
        yield JointLeaf("0", short_text(first[-1]), None, None)
    groups, kept = relaxation.groups, channel.aggregation.kept_outputs
    if groups is not None:
        yield JointGroups(_whole(channel, groups.members), law_text(channel, groups.shares), "neighbours")
    for node in tree.preorder():
        if isinstance(node, Branch):
            letter, output = divmod(node.cut[0], relaxation.outputs)
            place = int(kept[output]) if groups is None else output
            yield Split(relaxation.boxed[letter], place, short_text(node.cut[1]))
        else:
            hints = next(short)
            slopes = hints[:-1].reshape(channel.letters, -1)
            slopes = channel.lift_outputs(slopes) if groups is None else slopes
            yield JointLeaf("0", short_text(hints[-1]), tuple(map(slope_text, slopes)), None)


def dual_tree_lines(channel: AggregatedRecord, runner: DualTree) -> Proof:
    """A tree over boxes of the conditionals whose leaves are dual bounds with row trees."""
    for node in runner.tree.preorder():
        if isinstance(node, Branch):
            yield _joint_cut(channel, node.cut)
        else:
            leaf = node.content
            yield JointLeaf("1", short_text(leaf.beta), None, law_text(channel, leaf.law))
            room = max(runner.tree.upper - node.bound, 0.0)
            for a, rows in enumerate(leaf.trees):
                if leaf.sources[a][0] < a:
                    yield _source_line(leaf.sources[a])
                else:
                    yield from _row_lines(channel, rows, leaf.short_slopes(channel, a, room))


def _joint_cut(channel: AggregatedRecord, cut: ConditionalCut) -> ProofLine:
    output, threshold = int(channel.aggregation.kept_outputs[cut.output]), short_text(cut.threshold)
    if not cut.triples:
        return Cut(cut.letter, output, threshold)
    return OrbitCut(cut.side, cut.letter, output, threshold, _moves(cut.triples))


def _moves(triples: Iterable[Triple]) -> Moves:
    """Images of letters, inputs and outputs."""
    return tuple(tuple(tuple(x.tolist()) for x in (move.letters, move.inputs, move.outputs)) for move in triples)


def vertex_lines(channel: AggregatedRecord, runner: VertexTree) -> Proof:
    """A `vertices` leaf and its class tree."""
    yield VerticesLeaf()
    for node in runner.tree.preorder():
        if isinstance(node, Branch):
            letter = node.cut.letter
            kept = np.isin(channel.aggregation.row_of_input, node.cut.kept)
            kept &= np.isfinite(channel.completions.log_uniform[letter])
            yield ClassPart(letter, tuple(np.flatnonzero(kept).tolist()))
        else:
            yield OutputLawLeaf(law_text(channel, node.content.law))


def _source_line(source: Source) -> ProofLine:
    first, move = source
    return (
        SameRow(first) if move is None else ImageRow(first, tuple(move.inputs.tolist()), tuple(move.outputs.tolist()))
    )


def _chamber_lines(channel: AggregatedRecord, chamber: Chamber) -> Proof:
    for output, moves in chamber.steps:
        listed = tuple((tuple(move.inputs.tolist()), tuple(move.outputs.tolist())) for move in moves)
        yield RowChamber(int(channel.aggregation.kept_outputs[output]), listed)


def _row_lines(channel: AggregatedRecord, tree: Row, slopes: Iterable[Floats]) -> Proof:
    short = iter(slopes)
    yield from _chamber_lines(channel, tree.chamber)
    for row in tree.preorder():
        if row.parts:
            yield _row_cut(channel, row.coordinate, row.threshold)
        else:
            yield RowLeaf(slope_text(channel.lift_outputs(next(short))))


def _row_cut(channel: AggregatedRecord, coordinate: int, threshold: float) -> RowCut:
    return RowCut(int(channel.aggregation.kept_outputs[coordinate]), short_text(threshold))
