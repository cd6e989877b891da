"""Bounds of the audit as typed lines of a certificate, in preorder, in the channel's own inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.bounds.dual import DualBound
from dalenius.audits.bounds.dual_tree import DualTree, Row
from dalenius.audits.bounds.posteriors import PosteriorTree
from dalenius.audits.bounds.vertices import VertexTree
from dalenius.evidence import matrix_text, short_text, slope_text, vector_text
from dalenius.evidence.lines import (
    UNIFORM,
    BranchLine,
    ClassPart,
    Cut,
    InputLaw,
    JointLeaf,
    OutputLawLeaf,
    ProofLine,
    RowCut,
    RowLeaf,
    SameRow,
    Split,
    Vector,
    VerticesLeaf,
)
from dalenius.model.aggregation import RecordChannel
from dalenius.search.box_tree import BoxTree

__all__ = [
    "capacity_line",
    "dual_lines",
    "dual_tree_lines",
    "entropy_line",
    "posterior_lines",
    "prior_text",
    "vertex_lines",
]

Floats = NDArray[np.float64]
Proof = Iterator[ProofLine]
UNSEEN = 1e-40  # weight of outputs whose probabilities are zero as doubles, and perhaps only as doubles


def prior_text(channel: RecordChannel, p: Floats | None) -> InputLaw:
    """A prior on the channel's own inputs; None stands for the uniform one."""
    return UNIFORM if p is None else matrix_text(channel.expand_inputs(p))


def law_text(channel: RecordChannel, law: Floats) -> Vector:
    """An output law's weights on all outputs of the channel."""
    return vector_text(channel.expand_outputs(law, fill=UNSEEN))


def entropy_line() -> ProofLine:
    """I(X_i; Y) <= log of the number of letters: every slope is zero."""
    return JointLeaf("0", "0", None, None)


def capacity_line(channel: RecordChannel, law: Floats) -> ProofLine:
    """I(X_i; Y) <= max over rows of D(row || law)."""
    return JointLeaf("1", "0", None, law_text(channel, law))


def dual_lines(channel: RecordChannel, bound: DualBound) -> Proof:
    """One leaf with its row trees."""
    yield JointLeaf("1", short_text(bound.beta), None, law_text(channel, bound.output_law))
    for a, tree in enumerate(bound.trees):
        if (first := _same(channel, bound.trees, a)) < a:
            yield SameRow(first)
            continue

        def leaf(hints: Floats) -> Proof:
            yield RowLeaf(slope_text(channel.expand_outputs(hints)))

        def branch(coordinate: int, threshold: float) -> BranchLine:
            return RowCut(int(channel.output_index[coordinate]), short_text(threshold))

        yield from _preorder(tree, branch, leaf)


def posterior_lines(channel: RecordChannel, runner: PosteriorTree) -> Proof:
    """A tree over boxes of the posterior."""
    relaxation = runner.relaxation

    def leaf(hints: Floats) -> Proof:
        slopes = hints[:-1].reshape(channel.letters, -1)
        yield JointLeaf("0", short_text(hints[-1]), tuple(map(slope_text, channel.expand_outputs(slopes))), None)

    def branch(coordinate: int, threshold: float) -> BranchLine:
        letter, output = divmod(coordinate, relaxation.outputs)
        return Split(relaxation.boxed[letter], int(channel.output_index[output]), short_text(threshold))

    yield from _preorder(runner.tree, branch, leaf)


def dual_tree_lines(channel: RecordChannel, tree: DualTree) -> Proof:
    """A tree over boxes of the conditionals whose leaves are dual bounds with row trees."""
    stack = [0]
    while stack:
        node = stack.pop()
        if node in tree.branches:
            letter, output, threshold, below, above = tree.branches[node]
            yield Cut(letter, int(channel.output_index[output]), short_text(threshold))
            stack += [above, below]
        else:
            leaf = tree.nodes[node]
            yield JointLeaf("1", short_text(leaf.beta), None, law_text(channel, leaf.law))
            for a, rows in enumerate(leaf.trees):
                first = _same(channel, leaf.trees, a)
                yield from [SameRow(first)] if first < a else _row_lines(channel, rows)


def _same(channel: RecordChannel, trees: Sequence[BoxTree] | Sequence[Row], a: int) -> int:
    """The first letter that shares its row tree with letter a, and has the same numbers of completions to each input."""
    shares = channel.input_log_shares
    return next(b for b, tree in enumerate(trees) if tree is trees[a] and np.array_equal(shares[b], shares[a]))


def _row_lines(channel: RecordChannel, tree: Row) -> Proof:
    stack = [tree]
    while stack:
        row = stack.pop()
        if row.parts is None:
            yield RowLeaf(slope_text(channel.expand_outputs(row.kappa)))
        else:
            yield RowCut(int(channel.output_index[row.coordinate]), short_text(row.threshold))
            stack += row.parts[::-1]


def vertex_lines(channel: RecordChannel, tree: VertexTree) -> Proof:
    """A `vertices` leaf and its class tree."""
    yield VerticesLeaf()
    stack = [0]
    while stack:
        node = stack.pop()
        if node not in tree.branches:
            yield OutputLawLeaf(law_text(channel, tree.nodes[node].law))
            continue
        letter, left, right = tree.branches[node]
        kept = np.isin(channel.class_of_input, tree.nodes[left].sets[letter])
        kept &= np.isfinite(channel.input_log_shares[letter])
        yield ClassPart(letter, tuple(np.flatnonzero(kept).tolist()))
        stack += [right, left]


def _preorder(tree: BoxTree, branch: Callable[[int, float], BranchLine], leaf: Callable[[Floats], Proof]) -> Proof:
    stack = [0]
    while stack:
        node = stack.pop()
        if node in tree.branches:
            coordinate, threshold, left, right = tree.branches[node]
            yield branch(coordinate, threshold)
            stack += [right, left]
        else:
            yield from leaf(tree.hints[node])
