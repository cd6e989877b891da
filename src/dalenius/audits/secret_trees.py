"""What a secret's value is told of at most under any law: trees over selections of one dataset in each cell.

*Why*: I(g; Y | w) is the mean over the values of w of informations that are convex in the law within each cell, so that the worst law
sits on one dataset a cell, for one value of w (docs/certificate-format.md, Secrets). What is left is the tree of `vertices`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from dalenius.audits.bounds.vertices import VertexTree
from dalenius.evidence import vector_text
from dalenius.evidence.upper import CellSection, ClassPart, OutputLawLeaf, ProofLine
from dalenius.information import relative_entropy
from dalenius.information.arrays import Floats
from dalenius.reduction import Family, RecordChannel, SecretCells
from dalenius.search import Clock
from dalenius.search.tree import Branch

__all__ = ["SecretTree", "family_key", "trees_of_secrets"]

MOST_LISTED = 2**20  # inputs in the lines of a tree
DECIMALS, LEAST = 18, 1e-20  # of an output law's weights

SecretLines = Iterator[CellSection | ProofLine]


@dataclass
class SecretTree:
    """The cells of one secret with one value of what is given, and of all that have the same sets of inputs.

    Attributes
    ----------
    cells, given : the secret, and the value
    family : the inputs of its cells
    rows : (inputs, outputs)
        Of the whole channel.
    law, plain : (outputs,), float
        One output law for all selections, and the bound in nats that it gives.
    tree : VertexTree or None
        Once it was begun.
    """

    cells: SecretCells
    given: int
    family: Family
    rows: Floats
    law: Floats = field(init=False)
    plain: float = field(init=False)
    tree: VertexTree | None = None

    def __post_init__(self) -> None:
        self.union = sorted({k for cell in self.family for k in cell})
        own = self.rows[self.union]
        self.law = np.maximum(own.mean(axis=0).round(DECIMALS), LEAST)
        self.plain = max(float(relative_entropy(own, self.law / self.law.sum()).max()), 0.0)
        first = {cell: j for j, cell in reversed(list(enumerate(self.family)))}  # a value with one input, once
        self._letters = [j for j, cell in enumerate(self.family) if len(cell) > 1 or first[cell] == j]
        distinct, self._class_of = np.unique(own, axis=0, return_inverse=True)
        self._distinct, self._class_of = distinct, self._class_of.reshape(-1)

    @property
    def upper(self) -> float:
        """In nats, for every law."""
        return self.plain if self.tree is None else min(self.plain, self.tree.upper)

    @property
    def lower(self) -> float:
        """What the best selection found tells."""
        return 0.0 if self.tree is None else max(self.tree.floor, 0.0)

    @property
    def leaves(self) -> int:
        """Output laws of its proof."""
        return 1 if self.tree is None else self.tree.leaves

    @property
    def full(self) -> bool:
        """Whether its proof lists as many inputs as one should."""
        return self.leaves * len(self.union) > MOST_LISTED

    def begin(self, clock: Clock) -> None:
        """The root of its tree: the capacity of all its rows, and of one selection of them."""
        members = np.full((len(self._letters), len(self._distinct)), -np.inf)
        for letter, cell in enumerate(self._letters):
            members[letter, self._class_of[np.searchsorted(self.union, self.family[cell])]] = 0.0
        channel = RecordChannel(record=0, times=1, log_uniform=members, rows=self._distinct, max_knowledge=0.0)
        self.tree = VertexTree(channel, clock, target=0.0)

    def weights(self) -> dict[int, float]:
        """The law on datasets of the best selection found."""
        if self.tree is None or self.tree.point is None:
            return {}
        found = dict[int, float]()
        for cell, place in zip(*np.nonzero(self.tree.point), strict=True):
            own = self._letters[cell]
            chosen = next(k for k in self.family[own] if self._class(k) == place)
            found[self.cells.dataset(self.given, own, chosen)] = float(self.tree.point[cell, place])
        return dict(sorted(found.items()))

    def lines(self, *, certain: bool = False) -> SecretLines:
        """The section that proves `upper`, or what needs no search."""
        yield CellSection(self.cells.secret, self.given)
        if certain or self.tree is None or self.plain <= self.tree.upper:
            yield OutputLawLeaf(vector_text(self.law))
            return
        for node in self.tree.tree.preorder():
            if isinstance(node, Branch):
                own = self._letters[node.cut.letter]
                members = np.array(self.family[own])
                kept = np.isin(self._class_of[np.searchsorted(self.union, members)], node.cut.kept)
                yield ClassPart(own, tuple(members[kept].tolist()))
            else:
                yield OutputLawLeaf(vector_text(node.content.law))

    def _class(self, channel_input: int) -> int:
        return int(self._class_of[np.searchsorted(self.union, channel_input)])


def family_key(family: Family) -> Family:
    """What is the same for all that one proof is about: the sets of inputs, in any order."""
    return tuple(sorted(family))


def trees_of_secrets(secrets: Iterable[SecretCells], rows: Floats) -> dict[Family, SecretTree]:
    """One for each different list of sets of inputs that can tell anything: what is given tells the rest apart from none of them."""
    found = dict[Family, SecretTree]()
    for cells in secrets:
        for given, family in enumerate(cells.families):
            key = family_key(family)
            if len(family) > 1 and len({k for cell in family for k in cell}) > 1 and key not in found:
                found[key] = SecretTree(cells, given, family, rows)
    return found
