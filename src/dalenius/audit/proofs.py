"""Bounds of the audit as certificate lines, in preorder, in the channel's own inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dalenius.audit.box_tree import BoxTree
from dalenius.audit.dual import DualBound
from dalenius.audit.posteriors import PosteriorRelaxation
from dalenius.audit.rows import RowRelaxation
from dalenius.audit.vertices import VertexTree
from dalenius.certify.numbers import short_text, short_texts
from dalenius.problems.aggregation import RecordChannel

__all__ = ["dual_lines", "law_text", "posterior_lines", "vertex_lines", "witness_line"]

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


def dual_lines(channel: RecordChannel, bound: DualBound) -> Iterator[Line]:
    """A `dual` leaf and its row trees."""
    yield ["dual", short_text(bound.beta), law_text(channel, bound.output_law)]
    for tree in bound.trees:
        relaxation = tree.relaxation
        assert isinstance(relaxation, RowRelaxation)
        multipliers = relaxation.multipliers(*tree.boxes(), np.array(tree.hints))

        def leaf(node: int, nu: np.ndarray = multipliers) -> Line:
            return ["row", short_texts(channel.expand_outputs(nu[node]))]

        def branch(coordinate: int, threshold: float) -> Line:
            return ["cut", int(channel.output_index[coordinate]), short_text(threshold)]

        yield from _preorder(tree, branch, leaf)


def posterior_lines(channel: RecordChannel, tree: BoxTree) -> Iterator[Line]:
    """A tree of `split` branches with `column` leaves."""
    relaxation = tree.relaxation
    assert isinstance(relaxation, PosteriorRelaxation)
    nu, mu = relaxation.multipliers(*tree.boxes(), np.array(tree.hints))
    full = np.zeros((len(nu), channel.letters, nu.shape[-1]))
    full[:, relaxation.boxed] = nu

    def leaf(node: int) -> Line:
        return ["column", short_text(mu[node]), short_texts(channel.expand_outputs(full[node]))]

    def branch(coordinate: int, threshold: float) -> Line:
        letter, output = divmod(coordinate, relaxation.outputs)
        return ["split", relaxation.boxed[letter], int(channel.output_index[output]), short_text(threshold)]

    yield from _preorder(tree, branch, leaf)


def vertex_lines(channel: RecordChannel, tree: VertexTree) -> Iterator[Line]:
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


def _preorder(tree: BoxTree, branch: Callable[[int, float], Line], leaf: Callable[[int], Line]) -> Iterator[Line]:
    stack = [0]
    while stack:
        node = stack.pop()
        if node in tree.branches:
            coordinate, threshold, left, right = tree.branches[node]
            yield branch(coordinate, threshold)
            stack += [right, left]
        else:
            yield leaf(node)
