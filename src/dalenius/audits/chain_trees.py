"""Trees over ranges of a chain's parameters, halved one at a time: what a leaf holds, and the lines of a proof."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from dalenius.evidence.upper import Halve, ProofLine
from dalenius.exact import fraction_text
from dalenius.information.arrays import Floats
from dalenius.information.letter_chains import LetterChain, Tangents
from dalenius.search.tree import Branch, Leaf, Tree

SLACK = 0.02, 1e-9  # of what a bound adds, and of itself: a checker's enclosures may be a little wider
MEAN = 9e-7  # seconds that a checker takes for a product of an upper mean, measured on leaves of 5 to 60 records
LAW = 1.5e-7  # the same for a product of a law at a point

B = TypeVar("B")
Cut = tuple[int, Fraction]  # a parameter, and where its range is halved


@dataclass(frozen=True)
class Content(Generic[B]):
    """A leaf's box, and what it is proved by."""

    box: B
    line: ProofLine


def checked_bounds(found: Tangents) -> Floats:
    """What a checker is asked to prove of expansions."""
    return found.bounds + SLACK[0] * (found.bounds - found.leakages) + SLACK[1] * found.bounds


def expansion_seconds(chain: LetterChain, outputs: int, *, moves: bool = True) -> float:
    """Seconds that checking an expansion takes, by the products of its means; where nothing moves it is one law."""
    k, count = chain.letters, chain.count
    before, products = (chain.record / count) ** 2, 0.5 * count * chain.totals * k * k
    if not moves:
        return LAW * products * (k * (1 - before) + before)
    lists = 2 * outputs * (1 - before + k * before) + 2 * k * (k - 1) * (k * (1 - before) + before)
    return MEAN * products * lists


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
