"""Trees over ranges of a chain's parameters, halved one at a time: what a leaf holds, and the lines of a proof."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from dalenius.evidence.lines import Halve, ProofLine
from dalenius.exact import fraction_text
from dalenius.search.tree import Branch, Leaf, Tree

__all__ = ["Content", "Cut", "tree_lines", "tree_method"]

B = TypeVar("B")
Cut = tuple[int, Fraction]  # a parameter, and where its range is halved


@dataclass(frozen=True)
class Content(Generic[B]):
    """A leaf's box, and what it is proved by."""

    box: B
    line: ProofLine


def tree_lines(tree: Tree[Content[B], Cut]) -> list[ProofLine]:
    """In preorder."""
    return [
        Halve(node.cut[0], fraction_text(node.cut[1])) if isinstance(node, Branch) else node.content.line
        for node in tree.preorder()
    ]


def tree_method(tree: Tree[Content[B], Cut]) -> str:
    """What most leaves are proved by."""
    lines = [node.content.line.word for node in tree.preorder() if isinstance(node, Leaf)]
    return max(set(lines), key=lines.count)
