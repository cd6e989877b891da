"""Proofs from above as terms of formal/Checker.v. All of their numbers are hints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Final

from dalenius.evidence.upper import (
    ClassPart,
    Cut,
    ImageRow,
    JointLeaf,
    LettersLine,
    OutputLawLeaf,
    ProofLine,
    RowCut,
    RowLeaf,
    SameRow,
    Split,
    VerticesLeaf,
)
from dalenius.exact import as_fraction
from dalenius.export.rocq_statement import integers, naturals, no_theorem

ONE: Final = 2**100  # hints are written in these parts


def _parts(number: str) -> int:
    """The number in parts of `ONE`, rounded."""
    return round(as_fraction(number, "a hint") * ONE)


def _law(law: Sequence[str] | None, outputs: int) -> list[int]:
    """A law of the outputs in parts of `ONE`, each of them positive; of no law the uniform one."""
    weights = [Fraction(1)] * outputs if law is None else [as_fraction(x, "law") for x in law]
    whole = sum(weights)
    parts = [max(1, math.floor(x / whole * ONE)) for x in weights]
    parts[parts.index(max(parts))] += ONE - sum(parts)
    return parts


def _slopes(slopes: Sequence[str] | None) -> str:
    return "[]" if slopes is None else integers(map(_parts, slopes))


@dataclass(frozen=True)
class _Node:
    """A node of a tree in preorder: the text before its two subtrees, or a leaf's whole text."""

    text: str
    branches: bool = False


@dataclass(frozen=True)
class _RowNode:
    """A node of a letter's tree: a cut of an output at a threshold, a leaf with slopes, or an earlier letter's tree."""

    output: int | None = None
    threshold: str = "0"
    slopes: tuple[str, ...] | None = None


_RowTree = tuple[_RowNode | SameRow | ImageRow, ...]


def section_text(record: int, proof: Iterable[ProofLine], letters: int, outputs: int) -> str:
    """The proof about a record. Lines are in preorder, so that read backwards each finds its subtrees done."""
    trees = list[tuple[_Node, ...]]()
    rows = list[_RowTree]()
    classes = list[tuple[_Node, ...]]()
    for line in reversed(tuple(proof)):
        if isinstance(line, RowLeaf):
            rows.append((_RowNode(slopes=line.slopes),))
        elif isinstance(line, SameRow | ImageRow):
            rows.append((line,))
        elif isinstance(line, RowCut):
            rows.append((_RowNode(line.output, line.threshold), *rows.pop(), *rows.pop()))
        elif isinstance(line, Split | Cut):
            head = f"{type(line).__name__} {line.letter} {line.output} ({_parts(line.threshold)})"
            trees.append((_Node(head, branches=True), *trees.pop(), *trees.pop()))
        elif isinstance(line, JointLeaf):
            count = letters if as_fraction(line.share, "theta") > 0 and as_fraction(line.entropy, "mu") > 0 else 0
            trees.append((_Node(_joint(line, [rows.pop() for _ in range(count)], outputs)),))
        elif isinstance(line, OutputLawLeaf):
            classes.append((_Node(f"Law {integers(_law(line.law, outputs))}"),))
        elif isinstance(line, LettersLine):
            classes.append((_Node("Letters"),))
        elif isinstance(line, ClassPart):
            head = f"Part {line.letter} {naturals(line.inputs)}"
            classes.append((_Node(head, branches=True), *classes.pop(), *classes.pop()))
        elif isinstance(line, VerticesLeaf):
            trees.append((_Node(f"Vertices\n{_text(classes.pop())}"),))
        else:
            raise no_theorem(f"lines {line.word!r}")
    (tree,) = trees
    return f"  Section {record} (\n{_text(tree)})"


def _joint(line: JointLeaf, rows: Sequence[_RowTree], outputs: int) -> str:
    sigma = "[]" if line.slopes is None else f"[{'; '.join(_slopes(row) for row in line.slopes)}]"
    mu = as_fraction(line.entropy, "mu")
    price = max(1, round(mu * ONE)) if mu > 0 else 0
    resolved = list[tuple[_RowNode, ...]]()
    for row in rows:
        resolved.append(tuple(chain.from_iterable(_resolved(node, resolved) for node in row)))
    trees = "; ".join(f"\n{_text([_row_node(node) for node in row])}" for row in resolved)
    return f"Joint ({_parts(line.share)}) ({price}) {sigma} {integers(_law(line.law, outputs))} [{trees}]"


def _resolved(node: _RowNode | SameRow | ImageRow, earlier: Sequence[tuple[_RowNode, ...]]) -> tuple[_RowNode, ...]:
    """The node, or the tree of the earlier letter that it stands for, with outputs where they are moved to."""
    if isinstance(node, _RowNode):
        return (node,)
    tree = earlier[node.letter]
    return tuple(_moved(other, node.outputs) for other in tree) if isinstance(node, ImageRow) else tree


def _moved(node: _RowNode, images: Sequence[int]) -> _RowNode:
    if node.output is not None:
        return replace(node, output=images[node.output])
    if node.slopes is None:
        return node
    slopes = dict(zip(images, node.slopes, strict=True))
    return replace(node, slopes=tuple(slopes[y] for y in range(len(images))))


def _row_node(node: _RowNode) -> _Node:
    if node.output is None:
        return _Node(f"Row {_slopes(node.slopes)}")
    return _Node(f"RowCut {node.output} ({_parts(node.threshold)})", branches=True)


def _text(tree: Sequence[_Node]) -> str:
    """A tree in preorder, a node a line."""
    return "\n".join(_lines(tree))


def _lines(tree: Sequence[_Node]) -> Iterator[str]:
    """Parentheses are closed where the last subtree ends."""
    missing = list[int]()  # subtrees that the open nodes still need
    for node in tree:
        if node.branches:
            missing.append(2)
            yield f"({node.text}"
            continue
        closing = ""
        while missing and missing[-1] == 1:
            missing.pop()
            closing += ")"
        if missing:
            missing[-1] -= 1
        yield f"({node.text}){closing}"
