"""Bounds of the audit as certificate lines, in preorder, in the channel's own inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dalenius.audits.bounds.dual import DualBound
from dalenius.audits.bounds.dual_tree import DualTree, Row
from dalenius.audits.bounds.posteriors import PosteriorTree
from dalenius.audits.bounds.vertices import VertexTree
from dalenius.evidence.numbers import short_text, short_texts
from dalenius.reduction import AggregatedRecord
from dalenius.search.box_tree import BoxTree

__all__ = [
    "capacity_line",
    "dual_lines",
    "dual_tree_lines",
    "entropy_line",
    "posterior_lines",
    "vertex_lines",
    "witness_line",
]

Line = list[Any]
UNSEEN = 1e-40  # weight of outputs whose probabilities are zero as doubles, and perhaps only as doubles


def witness_line(channel: AggregatedRecord, p: np.ndarray | None) -> Line:
    """The prior behind the lower claim; None stands for the uniform one."""
    if p is None:
        return ["witness", channel.record, "uniform"]
    weights = channel.expand_inputs(p)
    return ["witness", channel.record, [[short_text(w) for w in row] for row in weights.tolist()]]


def law_text(channel: AggregatedRecord, law: np.ndarray) -> list[str]:
    """An output law's weights on all outputs of the channel."""
    return [short_text(r) for r in channel.expand_outputs(law, fill=UNSEEN).tolist()]


def entropy_line() -> Line:
    """I(X_i; Y) <= log of the number of letters: every slope is zero."""
    return ["joint", "0", "0", None, None]


def capacity_line(channel: AggregatedRecord, law: np.ndarray) -> Line:
    """I(X_i; Y) <= max over rows of D(row || law)."""
    return ["joint", "1", "0", None, law_text(channel, law)]


def dual_lines(channel: AggregatedRecord, bound: DualBound) -> Iterator[Line]:
    """One leaf with its row trees."""
    yield ["joint", "1", short_text(bound.beta), None, law_text(channel, bound.output_law)]
    for a, tree in enumerate(bound.trees):
        if (first := _same(channel, bound.trees, a)) < a:
            yield ["as", first]
            continue

        def leaf(hints: np.ndarray) -> Iterator[Line]:
            yield ["row", short_texts(channel.expand_outputs(hints))]

        def branch(coordinate: int, threshold: float) -> Line:
            return ["cut", int(channel.output_index[coordinate]), short_text(threshold)]

        yield from _preorder(tree, branch, leaf)


def posterior_lines(channel: AggregatedRecord, runner: PosteriorTree) -> Iterator[Line]:
    """A tree over boxes of the posterior."""
    relaxation = runner.relaxation

    def leaf(hints: np.ndarray) -> Iterator[Line]:
        slopes = hints[:-1].reshape(channel.letters, -1)
        yield ["joint", "0", short_text(hints[-1]), short_texts(channel.expand_outputs(slopes)), None]

    def branch(coordinate: int, threshold: float) -> Line:
        letter, output = divmod(coordinate, relaxation.outputs)
        return ["split", relaxation.boxed[letter], int(channel.output_index[output]), short_text(threshold)]

    yield from _preorder(runner.tree, branch, leaf)


def dual_tree_lines(channel: AggregatedRecord, tree: DualTree) -> Iterator[Line]:
    """A tree over boxes of the conditionals whose leaves are dual bounds with row trees."""
    stack = [0]
    while stack:
        node = stack.pop()
        if node in tree.branches:
            letter, output, threshold, below, above = tree.branches[node]
            yield ["cut", letter, int(channel.output_index[output]), short_text(threshold)]
            stack += [above, below]
        else:
            leaf = tree.nodes[node]
            yield ["joint", "1", short_text(leaf.beta), None, law_text(channel, leaf.law)]
            for a, rows in enumerate(leaf.trees):
                first = _same(channel, leaf.trees, a)
                yield from [["as", first]] if first < a else _row_lines(channel, rows)


def _same(channel: AggregatedRecord, trees: Sequence[Any], a: int) -> int:
    """The first letter that shares its row tree with letter a, and has the same numbers of completions to each input."""
    shares = channel.input_log_shares
    return next(b for b, tree in enumerate(trees) if tree is trees[a] and np.array_equal(shares[b], shares[a]))


def _row_lines(channel: AggregatedRecord, tree: Row) -> Iterator[Line]:
    stack = [tree]
    while stack:
        row = stack.pop()
        if row.parts is None:
            yield ["row", short_texts(channel.expand_outputs(row.kappa))]
        else:
            yield ["cut", int(channel.output_index[row.coordinate]), short_text(row.threshold)]
            stack += row.parts[::-1]


def vertex_lines(channel: AggregatedRecord, tree: VertexTree) -> Iterator[Line]:
    """A `vertices` leaf and its class tree."""
    yield ["vertices"]
    stack = [0]
    while stack:
        node = stack.pop()
        if node not in tree.branches:
            yield ["law", law_text(channel, tree.nodes[node].law)]
            continue
        letter, left, right = tree.branches[node]
        kept = np.isin(channel.class_of_input, tree.nodes[left].sets[letter])
        kept &= np.isfinite(channel.input_log_shares[letter])
        yield ["part", letter, np.flatnonzero(kept).tolist()]
        stack += [right, left]


def _preorder(
    tree: BoxTree, branch: Callable[[int, float], Line], leaf: Callable[[np.ndarray], Iterator[Line]]
) -> Iterator[Line]:
    stack = [0]
    while stack:
        node = stack.pop()
        if node in tree.branches:
            coordinate, threshold, left, right = tree.branches[node]
            yield branch(coordinate, threshold)
            stack += [right, left]
        else:
            yield from leaf(tree.hints[node])
