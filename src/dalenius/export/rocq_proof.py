"""Proofs from above as terms of formal/Checker.v. All of their numbers are hints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Final

import numpy as np

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
from dalenius.information.arrays import Floats

ONE: Final = 2**100  # hints are written in these parts


def _parts(number: str) -> int:
    """The number in parts of `ONE`, rounded."""
    return round(as_fraction(number, "a hint") * ONE)


def _law(law: Sequence[str] | None, outputs: int) -> list[int]:
    """A law of the outputs in parts of `ONE`, or a little less: each positive, equal weights alike; of no law the uniform one."""
    weights = [Fraction(1)] * outputs if law is None else [as_fraction(x, "law") for x in law]
    whole = sum(weights)
    room = ONE if min(weights) * ONE >= whole else ONE - len(weights)
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


@dataclass(frozen=True)
class Place:
    """Places of a proof's outputs, and of its inputs, among those of the model.

    Attributes
    ----------
    outputs : int
        How many the proof has.
    groups : tuple of tuple of int
        For each of them those of the model, whose columns are proportional on the proof's inputs; nothing where they are the same.
    shares : tuple of Fraction
        Of the model's outputs in their groups.
    inputs : sequence of int
        The model's, in the proof's order; nothing where they are the same.
    """

    outputs: int
    groups: tuple[tuple[int, ...], ...] = ()
    shares: tuple[Fraction, ...] = ()
    inputs: Sequence[int] = ()

    @classmethod
    def of(cls, rows: Floats, own: Floats, inputs: Sequence[int]) -> Place:
        """Of a proof about a channel, where the model has these rows on its inputs."""
        count = own.shape[1]
        if rows.shape == own.shape and np.allclose(rows, own):
            return cls(count, inputs=inputs)
        group = (rows.T @ (own / np.linalg.norm(own, axis=0))).argmax(axis=1)  # the cosine is largest
        groups = tuple(tuple(np.flatnonzero(group == g).tolist()) for g in range(count))
        if not all(groups):
            raise no_theorem("a block of which outputs tell the same")
        weights = [Fraction(x) for x in rows.sum(axis=0).tolist()]
        wholes = [sum(weights[y] for y in outputs) for outputs in groups]
        return cls(count, groups, tuple(x / wholes[g] for x, g in zip(weights, group.tolist(), strict=True)), inputs)

    @property
    def head(self) -> tuple[_Node, ...]:
        """Head of a proof about groups: these, and a law within each."""
        if not self.groups:
            return ()
        parts = [_law([str(self.shares[y]) for y in ys], len(ys)) for ys in self.groups]
        laws = dict(zip(chain.from_iterable(self.groups), chain.from_iterable(parts), strict=True))
        groups = "; ".join(map(naturals, self.groups))
        return (_Node(f"Group [{groups}] {integers(laws[y] for y in range(len(laws)))}", 1),)

    def law(self, law: Sequence[str]) -> Sequence[str]:
        """A law of the proof's outputs as one of the model's."""
        if not self.groups:
            return law
        parts = {y: as_fraction(law[g], "law") * self.shares[y] for g, ys in enumerate(self.groups) for y in ys}
        return [str(parts[y]) for y in range(len(parts))]

    def check(self, line: ProofLine) -> None:
        """Refuse symmetries where anything has another name."""
        if isinstance(line, OrbitCut | RowChamber) and (
            self.groups or tuple(self.inputs) != tuple(range(len(self.inputs)))
        ):
            raise no_theorem(f"lines {line.word!r} of a block that is not the model itself")


def section_text(record: int, proof: Iterable[ProofLine], letters: int, place: Place) -> str:
    """The proof about a record. Lines are in preorder, so that read backwards each finds its subtrees done."""
    outputs = place.outputs
    trees = list[tuple[_Node, ...]]()
    rows = list[tuple[_RowLine | SameRow | ImageRow, ...]]()
    classes = list[tuple[_Node, ...]]()
    for line in reversed(tuple(proof)):
        place.check(line)
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
            classes.append((_Node(f"Law {integers(_law(place.law(line.law), outputs))}"),))
        elif isinstance(line, LettersLine):
            classes.append((_Node("Letters"),))
        elif isinstance(line, ClassPart):
            inputs = [place.inputs[k] for k in line.inputs] if place.inputs else line.inputs
            head = f"Part {line.letter} {naturals(inputs)}"
            classes.append((_Node(head, 2), *classes.pop(), *classes.pop()))
        elif isinstance(line, VerticesLeaf):
            trees.append((_Node(f"Vertices\n{_text(classes.pop())}"),))
        else:
            raise no_theorem(f"lines {line.word!r}")
    (tree,) = trees
    return f"  Section {record} (\n{_text((*place.head, *tree))})"


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
    """Conjugate of a permutation by the images."""
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
