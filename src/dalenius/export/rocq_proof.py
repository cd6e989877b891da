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
    GroupedRowLeaf,
    ImageRow,
    JointLeaf,
    LawOfClass,
    LawOfSelections,
    LettersLine,
    OrbitCut,
    OrbitSplit,
    OutputLawLeaf,
    ProofLine,
    RowChamber,
    RowCut,
    RowGroups,
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
    """A law of the outputs in parts of `ONE`, or a little less: each positive, equal weights alike; of no law the uniform one."""
    weights = [Fraction(1)] * outputs if law is None else [as_fraction(x, "law") for x in law]
    whole = sum(weights)
    room = ONE if min(weights) * ONE >= whole else ONE - outputs
    return [max(1, math.floor(x / whole * room)) for x in weights]


def _slopes(slopes: Sequence[str] | None) -> str:
    return "[]" if slopes is None else integers(map(_parts, slopes))


@dataclass(frozen=True)
class _Node:
    """A node of a tree in preorder: the text before its subtrees, and how many these are."""

    text: str
    subtrees: int = 0


_RowLine = RowCut | RowLeaf | GroupedRowLeaf | RowGroups | RowChamber
SUBTREES: Final = {RowCut: 2, RowGroups: 1, RowChamber: 1}


def section_text(record: int, proof: Iterable[ProofLine], letters: int, outputs: int) -> str:
    """The proof about a record. Lines are in preorder, so that read backwards each finds its subtrees done."""
    trees = list[tuple[_Node, ...]]()
    rows = list[tuple[_RowLine | SameRow | ImageRow, ...]]()
    classes = list[tuple[_Node, ...]]()
    for line in reversed(tuple(proof)):
        if isinstance(line, _RowLine | SameRow | ImageRow):
            rows.append((line, *chain.from_iterable([rows.pop() for _ in range(SUBTREES.get(type(line), 0))])))
        elif isinstance(line, Split | Cut):
            head = f"{type(line).__name__} {line.letter} {line.output} ({_parts(line.threshold)})"
            trees.append((_Node(head, 2), *trees.pop(), *trees.pop()))
        elif isinstance(line, OrbitCut):
            trees.append((_Node(_orbit(line), 2), *trees.pop(), *trees.pop()))
        elif isinstance(line, JointLeaf):
            count = letters if as_fraction(line.share, "theta") > 0 and as_fraction(line.entropy, "mu") > 0 else 0
            trees.append((_Node(_joint(line, [rows.pop() for _ in range(count)], outputs)),))
        elif isinstance(line, OutputLawLeaf):
            classes.append((_Node(f"Law {integers(_law(line.law, outputs))}"),))
        elif isinstance(line, LettersLine):
            classes.append((_Node("Letters"),))
        elif isinstance(line, ClassPart):
            head = f"Part {line.letter} {naturals(line.inputs)}"
            classes.append((_Node(head, 2), *classes.pop(), *classes.pop()))
        elif isinstance(line, VerticesLeaf):
            trees.append((_Node(f"Vertices\n{_text(classes.pop())}"),))
        else:
            raise no_theorem(f"lines {line.word!r}")
    (tree,) = trees
    return f"  Section {record} (\n{_text(tree)})"


def class_text(line: LettersLine | LawOfSelections | LawOfClass, outputs: int) -> str:
    """The proof about a record of a class of laws, with the multipliers of the class's limits."""
    if isinstance(line, LettersLine):
        return "LettersOfClass"
    multipliers = line.multipliers if isinstance(line, LawOfClass) else None
    return f"LawOfClass {integers(_law(line.law, outputs))} {_slopes(multipliers)}"


def _orbit(line: OrbitCut) -> str:
    of = "OfPosterior" if isinstance(line, OrbitSplit) else "OfConditional"
    moves = "; ".join(f"({', '.join(map(naturals, move))})" for move in line.moves)
    return f"Orbit {of} {line.side.title()} {line.letter} {line.output} ({_parts(line.threshold)}) [{moves}]"


def _joint(line: JointLeaf, rows: Sequence[Sequence[_RowLine | SameRow | ImageRow]], outputs: int) -> str:
    sigma = _families(line.slopes)
    mu = as_fraction(line.entropy, "mu")
    price = max(1, round(mu * ONE)) if mu > 0 else 0
    resolved = list[tuple[_RowLine, ...]]()
    for row in rows:
        resolved.append(tuple(chain.from_iterable(_resolved(node, resolved) for node in row)))
    trees = "; ".join(f"\n{_text([_row_node(node) for node in row])}" for row in resolved)
    return f"Joint ({_parts(line.share)}) ({price}) {sigma} {integers(_law(line.law, outputs))} [{trees}]"


def _families(rows: Sequence[Sequence[str] | None] | None) -> str:
    """Lists of slopes."""
    return "[]" if rows is None else f"[{'; '.join(map(_slopes, rows))}]"


def _resolved(line: _RowLine | SameRow | ImageRow, earlier: Sequence[tuple[_RowLine, ...]]) -> Iterable[_RowLine]:
    """The line, or the tree of the earlier letter that it stands for, with inputs and outputs where they are moved to."""
    if isinstance(line, ImageRow):
        return _moved(earlier[line.letter], line.inputs, line.outputs)
    return earlier[line.letter] if isinstance(line, SameRow) else (line,)


def _moved(tree: Iterable[_RowLine], inputs: Sequence[int], outputs: Sequence[int]) -> Iterator[_RowLine]:
    """Below groups, whose members move, a line is about the same groups; what stood before them is about outputs."""
    below = [False]
    for line in tree:
        grouped = below.pop()
        below += [grouped or isinstance(line, RowGroups)] * SUBTREES.get(type(line), 0)
        if isinstance(line, RowGroups):
            yield replace(line, groups=tuple(tuple(outputs[y] for y in group) for group in line.groups))
        elif isinstance(line, RowChamber):
            moves = tuple((_conjugate(pi, inputs), _conjugate(tau, outputs)) for pi, tau in line.moves)
            yield replace(line, output=outputs[line.output], moves=moves)
        elif isinstance(line, GroupedRowLeaf):
            yield replace(line, earlier=(_permuted(line.earlier[0], outputs), *line.earlier[1:]))
        elif grouped:
            yield line
        elif isinstance(line, RowCut):
            yield replace(line, output=outputs[line.output])
        else:
            yield replace(line, slopes=_permuted(line.slopes, outputs))


def _permuted(slopes: Sequence[str] | None, images: Sequence[int]) -> tuple[str, ...] | None:
    if slopes is None:
        return None
    moved = dict(zip(images, slopes, strict=True))
    return tuple(moved[y] for y in range(len(images)))


def _conjugate(move: Sequence[int], images: Sequence[int]) -> tuple[int, ...]:
    """What a permutation is of the images."""
    moved = {images[j]: images[k] for j, k in enumerate(move)}
    return tuple(moved[j] for j in range(len(images)))


def _row_node(line: _RowLine) -> _Node:
    return _Node(_row_text(line), SUBTREES.get(type(line), 0))


def _row_text(line: _RowLine) -> str:
    if isinstance(line, RowCut):
        return f"RowCut {line.output} ({_parts(line.threshold)})"
    if isinstance(line, RowGroups):
        return f"RowGroup [{'; '.join(map(naturals, line.groups))}]"
    if isinstance(line, RowChamber):
        return f"Chamber {line.output} [{'; '.join(f'({naturals(pi)}, {naturals(tau)})' for pi, tau in line.moves)}]"
    return f"Row {_slopes(line.slopes)} {_families(line.earlier) if isinstance(line, GroupedRowLeaf) else '[]'}"


def _text(tree: Sequence[_Node]) -> str:
    """A tree in preorder, a node a line."""
    return "\n".join(_lines(tree))


def _lines(tree: Sequence[_Node]) -> Iterator[str]:
    """Parentheses are closed where the last subtree ends."""
    missing = list[int]()  # subtrees that the open nodes still need
    for node in tree:
        if node.subtrees:
            missing.append(node.subtrees)
            yield f"({node.text}"
            continue
        closing = ""
        while missing and missing[-1] == 1:
            missing.pop()
            closing += ")"
        if missing:
            missing[-1] -= 1
        yield f"({node.text}){closing}"
