"""Bounds of the audit as certificate lines, in preorder, in the channel's own inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dalenius.audits.bounds.dual import DualBound
from dalenius.audits.bounds.dual_tree import DualTree
from dalenius.audits.bounds.posteriors import PosteriorTree
from dalenius.audits.bounds.row_trees import Row
from dalenius.audits.bounds.vertices import VertexTree
from dalenius.evidence.numbers import short_text, short_texts
from dalenius.model.aggregation import RecordChannel
from dalenius.search.tree import Branch

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


def witness_line(channel: RecordChannel, p: np.ndarray | None) -> Line:
    """The prior behind the lower claim; None stands for the uniform one."""
    if p is None:
        return ["witness", channel.record, "uniform"]
    weights = channel.expand_inputs(p)
    return ["witness", channel.record, [[short_text(w) for w in row] for row in weights.tolist()]]


def law_text(channel: RecordChannel, law: np.ndarray) -> list[str]:
    """An output law's weights on all outputs of the channel."""
    return [short_text(r) for r in channel.expand_outputs(law, fill=UNSEEN).tolist()]


def entropy_line() -> Line:
    """I(X_i; Y) <= log of the number of letters: every slope is zero."""
    return ["joint", "0", "0", None, None]


def capacity_line(channel: RecordChannel, law: np.ndarray) -> Line:
    """I(X_i; Y) <= max over rows of D(row || law)."""
    return ["joint", "1", "0", None, law_text(channel, law)]


def dual_lines(channel: RecordChannel, bound: DualBound) -> Iterator[Line]:
    """One leaf with its row trees."""
    yield ["joint", "1", short_text(bound.beta), None, law_text(channel, bound.output_law)]
    for a, tree in enumerate(bound.trees):
        if (first := _same(channel, bound.trees, a)) < a:
            yield ["as", first]
            continue
        for node in tree.preorder():
            if isinstance(node, Branch):
                yield _row_cut(channel, *node.cut)
            else:
                yield ["row", short_texts(channel.expand_outputs(node.content.hints))]


def posterior_lines(channel: RecordChannel, runner: PosteriorTree) -> Iterator[Line]:
    """A tree over boxes of the posterior."""
    relaxation = runner.relaxation
    for node in runner.tree.preorder():
        if isinstance(node, Branch):
            letter, output = divmod(node.cut[0], relaxation.outputs)
            threshold = short_text(node.cut[1])
            yield ["split", relaxation.boxed[letter], int(channel.output_index[output]), threshold]
        else:
            hints = node.content.hints
            slopes = hints[:-1].reshape(channel.letters, -1)
            yield ["joint", "0", short_text(hints[-1]), short_texts(channel.expand_outputs(slopes)), None]


def dual_tree_lines(channel: RecordChannel, runner: DualTree) -> Iterator[Line]:
    """A tree over boxes of the conditionals whose leaves are dual bounds with row trees."""
    for node in runner.tree.preorder():
        if isinstance(node, Branch):
            cut = node.cut
            yield ["cut", cut.letter, int(channel.output_index[cut.output]), short_text(cut.threshold)]
        else:
            leaf = node.content
            yield ["joint", "1", short_text(leaf.beta), None, law_text(channel, leaf.law)]
            for a, rows in enumerate(leaf.trees):
                first = _same(channel, leaf.trees, a)
                yield from [["as", first]] if first < a else _row_lines(channel, rows)


def _same(channel: RecordChannel, trees: Sequence[Any], a: int) -> int:
    """The first letter that shares its row tree with letter a, and has the same numbers of completions to each input."""
    shares = channel.input_log_shares
    return next(b for b, tree in enumerate(trees) if tree is trees[a] and np.array_equal(shares[b], shares[a]))


def _row_lines(channel: RecordChannel, tree: Row) -> Iterator[Line]:
    for row in tree.preorder():
        if row.parts:
            yield _row_cut(channel, row.coordinate, row.threshold)
        else:
            yield ["row", short_texts(channel.expand_outputs(row.kappa))]


def _row_cut(channel: RecordChannel, coordinate: int, threshold: float) -> Line:
    return ["cut", int(channel.output_index[coordinate]), short_text(threshold)]


def vertex_lines(channel: RecordChannel, runner: VertexTree) -> Iterator[Line]:
    """A `vertices` leaf and its class tree."""
    yield ["vertices"]
    for node in runner.tree.preorder():
        if isinstance(node, Branch):
            letter = node.cut.letter
            kept = np.isin(channel.class_of_input, node.cut.kept)
            kept &= np.isfinite(channel.input_log_shares[letter])
            yield ["part", letter, np.flatnonzero(kept).tolist()]
        else:
            yield ["law", law_text(channel, node.content.law)]
