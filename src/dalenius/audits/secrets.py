"""Secrets: the largest information about a function of the data to whom knows another, over listed laws, all, or a class of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from dalenius._prove import Proved
from dalenius.audits.audit import Bounded, Exposure, LowerEnd, UpperProof
from dalenius.audits.listed import Listed
from dalenius.audits.secret_bounds import SecretProducts, SecretTree, family_key, trees_of_secrets
from dalenius.audits.secret_laws import SecretLaws, plain_bound
from dalenius.evidence import Upper
from dalenius.evidence.upper import CellSection, MeanLine, ProofLine, SecretSection
from dalenius.information.arrays import Floats
from dalenius.information.measures import PriorClass
from dalenius.model import PriorSet, SecretLeakage
from dalenius.reduction import SecretCells, cells_of_secrets
from dalenius.results import SecretProof, SecretResult, SecretWitness

LAWS = 1e-12  # nats: how near to its bound the search over a class of laws comes, where the gap asks for no less
SECTION, WEIGHT = 6e-4, 3e-6  # seconds that writing and checking an output law takes, and each of its weights
RESOLUTION = 1e-13  # nats: how near to one another the ends come where the gap asks for no less


Finder: TypeAlias = SecretTree | SecretLaws | SecretProducts


@dataclass
class SecretAudit(Bounded):
    """A running audit of secrets under all laws."""

    problem: SecretLeakage

    def __post_init__(self) -> None:
        self.rows = self.problem.rows
        self.priors: PriorClass = self.problem.adversary.laws(self.problem.records)
        self.secrets = cells_of_secrets(self.problem)
        self._by_family = trees_of_secrets(self._owners, self.rows)
        self.trees = list(self._by_family.values())

    @property
    def _owners(self) -> list[SecretCells]:
        """The secrets, of which the first that needs a tree owns it."""
        return self.secrets

    @property
    def finders(self) -> Sequence[Finder]:
        """Searches for laws of the adversary's, a secret each, perhaps several."""
        return self.trees

    @property
    def lower(self) -> float:
        return max((finder.lower for finder in self.finders), default=0.0)

    @property
    def upper(self) -> float:
        return max((tree.upper for tree in self.trees), default=0.0)

    def run(self) -> None:
        """The roots of all trees that may matter, and then the tree with the largest bound, step by step."""
        self._select(self.trees)
        self.out_of_time |= self.clock.expired
        self.report("proving", now=True)

    def _select(self, trees: Sequence[SecretTree]) -> None:
        for tree in sorted(trees, key=lambda tree: -tree.plain):
            if self.clock.expired or tree.plain <= self._enough:
                break
            tree.begin(self.clock)
            self.report("selections")
        while trees and not self.clock.expired:
            worst = max(trees, key=lambda tree: tree.upper)
            if self.pieces > self.search.limits.nodes or worst.full:
                self.out_of_room = True
                break
            before = self.checking
            if worst.upper <= self._enough or worst.tree is None or not worst.tree.grow(self.clock):
                break
            self.clock.reserve(self.checking - before)
            self.report("selections")

    @property
    def _enough(self) -> float:
        """The bound from above at which nothing more is wanted."""
        if self.gap >= 1.0:
            return math.inf
        return max(self.attained / (1.0 - 0.9 * self.gap), self.attained + RESOLUTION * min(self.attained, 1.0))

    @property
    def attained(self) -> float:
        """Leakage under the best law found, of all that the bound from above is about."""
        return self.lower

    @property
    def pieces(self) -> int:
        return sum(tree.leaves for tree in self.trees)

    @property
    def _best(self) -> Finder | None:
        return max(self.finders, key=lambda finder: (finder.lower, finder.upper), default=None)

    @property
    def exposed(self) -> int | None:
        return None if self._best is None else self._best.cells.secret

    def exposure(self, slack: float) -> Exposure | None:
        best = self._best
        found = None if best is None or best.lower <= 0.0 else best.found()
        if best is None or found is None:
            return None
        law, prior = found
        return Exposure(best.cells.secret, best.cells.information(law, self.rows), law, prior)

    def proof(self) -> UpperProof:
        return tuple(line for tree in self.trees for line in tree.lines())

    def certain(self) -> tuple[float, UpperProof]:
        """One output law for each secret, or what each value that is given leaves to be known."""
        bounds = [self._plain(cells) for cells in self.secrets if self.own_trees(cells)]
        return max((upper for upper, _ in bounds), default=0.0), tuple(line for _, lines in bounds for line in lines)

    def _plain(self, cells: SecretCells) -> tuple[float, Iterable[SecretSection | CellSection | MeanLine | ProofLine]]:
        bound, trees = plain_bound(cells, self.rows, self.priors), self.own_trees(cells)
        each = max(tree.plain for tree in trees)
        return bound if bound[0] <= each else (each, (line for tree in trees for line in tree.lines(certain=True)))

    @property
    def checking(self) -> float:
        return (SECTION + WEIGHT * self.rows.shape[1]) * self.pieces

    def own_trees(self, cells: SecretCells) -> list[SecretTree]:
        """Those that bound a secret under all laws; none where nothing can be revealed."""
        keys = {family_key(family) for family in cells.families}
        return [self._by_family[key] for key in keys if key in self._by_family]

    def secret_proofs(self) -> tuple[SecretProof, ...]:
        """Proofs of `upper`, one for each secret."""
        leaves = dict[int, int]()
        for tree in self.trees:
            leaves[tree.cells.secret] = leaves.get(tree.cells.secret, 0) + tree.leaves
        return tuple(self._secret_proof(cells, leaves) for cells in self.secrets)

    def _secret_proof(self, cells: SecretCells, leaves: dict[int, int]) -> SecretProof:
        method = "selections" if any(len(family) > 1 for family in cells.families) else "nothing"
        return SecretProof(cells.secret, method, leaves.get(cells.secret, 0), exact=True)

    def result(self, proved: Proved[LowerEnd, Upper]) -> SecretResult:
        """The proved interval, and the law that attains its lower end."""
        found = proved.lower_end.exposure
        witness = None if found is None else SecretWitness(found.record, found.masses, found.number)
        secret, secrets = None if found is None else found.record, self.secret_proofs()
        return SecretResult(secret=secret, witness=witness, secrets=secrets, **self.answer(proved))


@dataclass
class ClassSecretAudit(SecretAudit):
    """A running audit of secrets under a class of laws: each is bounded over the class, or under all laws, if that is less."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.laws = [SecretLaws(cells, self.rows, self.priors) for cells in self.secrets if self.own_trees(cells)]

    def _under_all(self, cells: SecretCells) -> float:
        return max(tree.upper for tree in self.own_trees(cells))

    @property
    def finders(self) -> Sequence[Finder]:
        return self.laws

    @property
    def upper(self) -> float:
        return max((min(laws.upper, self._under_all(laws.cells)) for laws in self.laws), default=0.0)

    def run(self) -> None:
        """The class's own bounds, and then selections where what is revealed is not concave."""
        for k, laws in enumerate(self.laws):
            if self.clock.expired:
                break
            laws.run(max(LAWS, 0.1 * min(self.gap, 1.0) * self.lower), self.clock.part(1.0 / (len(self.laws) - k)))
            self.report("laws")
        open_ = [
            tree
            for laws in self.laws
            if not laws.concave and laws.upper > self._enough
            for tree in self.own_trees(laws.cells)
        ]
        self._select(list({id(tree): tree for tree in open_}.values()))
        self.out_of_time |= self.clock.expired
        self.report("proving", now=True)

    @property
    def pieces(self) -> int:
        return sum(laws.leaves for laws in self.laws) + sum(tree.leaves for tree in self.trees if tree.tree)

    def proof(self) -> UpperProof:
        """Of each secret what proves less: about the class, or about all laws."""
        return self._lines([self._under_all(laws.cells) < laws.upper for laws in self.laws])

    def _lines(self, under_all: Sequence[bool]) -> UpperProof:
        lines, trees = list[SecretSection | CellSection | MeanLine | ProofLine](), dict[int, SecretTree]()
        for laws, free in zip(self.laws, under_all, strict=True):
            if free:
                trees |= {id(tree): tree for tree in self.own_trees(laws.cells)}
            else:
                lines += laws.lines()
        return (*lines, *(line for tree in trees.values() for line in tree.lines()))

    def _secret_proof(self, cells: SecretCells, leaves: dict[int, int]) -> SecretProof:
        laws = next((laws for laws in self.laws if laws.cells is cells), None)
        if laws is None:
            return SecretProof(cells.secret, "nothing", 0, exact=True)
        free = self._under_all(cells) < laws.upper
        used = sum(tree.leaves for tree in self.own_trees(cells)) if free else laws.leaves
        return SecretProof(cells.secret, "selections" if free else "laws", used, exact=laws.concave)


@dataclass
class ProductSecretAudit(SecretAudit):
    """A running audit of secrets under all laws of independent records: bounded as under all laws, which they attain where all records
    but one are given; elsewhere what they are told is searched for, and the interval may stay open.
    """

    def __post_init__(self) -> None:
        records, secrets = self.problem.records, self.problem.secrets
        self.known = {s for s, secret in enumerate(secrets) if secret.knows_all_but_one(records)}
        super().__post_init__()
        searched = [cells for cells in self.secrets if cells.secret not in self.known and self.own_trees(cells)]
        self.products = [SecretProducts(cells, self.rows, records) for cells in searched]

    @property
    def finders(self) -> Sequence[Finder]:
        """Of trees those of whose selections independent records make laws."""
        return [*(tree for tree in self.trees if tree.cells.secret in self.known), *self.products]

    @property
    def _owners(self) -> list[SecretCells]:
        return sorted(self.secrets, key=lambda cells: cells.secret not in self.known)

    @property
    def attained(self) -> float:
        return max([self.lower, *(tree.lower for tree in self.trees)])

    def run(self) -> None:
        """Independent records first; then all laws, and from the best of these once more."""
        for k, products in enumerate(self.products):
            products.run(self.clock.part(0.5 / (len(self.products) - k)), self.search.rng)
            self.report("laws")
        super().run()
        for products in self.products:
            for tree in self.own_trees(products.cells):
                if tree.cells is products.cells and (found := tree.found()):
                    products.climb(products.near(found[0]), self.clock)
        self.out_of_time |= self.clock.expired

    def certain(self) -> tuple[float, UpperProof]:
        """One output law for the cells of each value that is given."""
        lines = tuple(line for tree in self.trees for line in tree.lines(certain=True))
        return max((tree.plain for tree in self.trees), default=0.0), lines

    def _secret_proof(self, cells: SecretCells, leaves: dict[int, int]) -> SecretProof:
        found = super()._secret_proof(cells, leaves)
        return replace(found, exact=cells.secret in self.known or not self.own_trees(cells))


@dataclass
class ListedSecretAudit(Listed, SecretAudit):
    """A running audit of secrets under listed laws."""

    stage = "laws"

    def __post_init__(self) -> None:
        super().__post_init__()
        assert isinstance(self.problem.adversary, PriorSet)
        self.laws = self.problem.adversary.weights
        self.trees = []  # nothing but the laws is in the proof

    @property
    def values(self) -> dict[int, int]:
        """The most values of each secret where the other is given."""
        return {cells.secret: max(map(len, cells.families)) for cells in self.secrets}

    def _masses(self, number: int, law: int) -> Floats:
        return self.laws[law]

    def _evaluated(self, number: int) -> Iterator[Floats]:
        cells = next(cells for cells in self.secrets if cells.secret == number)
        return (np.array([cells.information(law, self.rows)]) for law in self.laws)

    def _secret_proof(self, cells: SecretCells, leaves: dict[int, int]) -> SecretProof:
        return SecretProof(cells.secret, "evaluated" if cells.secret in self.told else "nothing", 0, exact=True)
