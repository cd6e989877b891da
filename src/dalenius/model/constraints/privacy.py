"""Privacy notions as constraints: local differential privacy between listed inputs, and pointwise maximal leakage."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

from dalenius.errors import InputError, brief
from dalenius.exact import Rows as WrittenRows
from dalenius.exact import as_integer, as_list
from dalenius.model.constraints.base import Constraint, MechanismSpace, RowConstraint, Rows, WrittenEntries
from dalenius.model.constraints.secret import (
    JointLaw,
    Priors,
    PriorsOrNone,
    Private,
    SecretOrNone,
    as_private,
    as_secret,
    check_secret,
    laws_of,
    ratio_rows,
)
from dalenius.model.epsilons import normal_epsilon
from dalenius.model.fields import Given, declared
from dalenius.model.privacy import LocalDP, PointwiseMaximalLeakage

ZERO, ONE = Fraction(0), Fraction(1)


def _as_pairs(value: WrittenEntries, what: str) -> tuple[tuple[int, int], ...]:
    pairs = list[tuple[int, int]]()
    for given in as_list(value, what):
        pair = [as_integer(x, what, at_least=0) for x in as_list(given, what)]
        if len(pair) != 2 or pair[0] == pair[1]:
            raise InputError(f"{what}: expected pairs of two different inputs, got {brief(given)}")
        pairs.append((pair[0], pair[1]))
    if not pairs:
        raise InputError(f"{what} must list at least one pair; leave it out for all pairs")
    return tuple(pairs)


@declared
class LocalDPBetween(RowConstraint):
    """Q(x,y) <= e^epsilon Q(x',y) and Q(x',y) <= e^epsilon Q(x,y) for all outputs y and the listed pairs of inputs x, x'.

    With the query `Identity` and neighbours as pairs this is differential privacy; with all pairs `LocalDP`, which may stand in its
    place.

    Parameters
    ----------
    epsilon : number or str
        As of `LocalDP`: nats, or ``"1 bits"``, or ``"log 3"``, for which e^epsilon is exactly 3; at least 0.
    pairs : list of (input, input), optional
        At least one. Left out: all pairs of inputs that datasets have.
    secret : joint law P(s,x), or list of them, optional
        Then it is about the letters of a secret on a chain S - X - Y instead, all pairs of them: W(s,y) <= e^epsilon W(s',y).

    Raises
    ------
    InputError
        If epsilon cannot be read or is negative, there is no pair, or one is of an input with itself; a design raises it where it
        has no such input.

    >>> LocalDPBetween("log 3", pairs=[(0, 1), (1, 2)]).pairs
    ((0, 1), (1, 2))
    """

    kind: ClassVar[str] = "local_dp"
    epsilon: Private = Given(as_private, normal=normal_epsilon)
    pairs: Given[WrittenEntries | None, tuple[tuple[int, int], ...] | None] = Given(_as_pairs, default=None)
    secret: SecretOrNone = Given(as_secret, default=None)

    def __post_init__(self) -> None:
        if self.pairs is not None and self.secret is not None:
            raise InputError(f"constraints: {self.kind}: expected pairs of inputs or a secret, got both")

    def normal_table(self) -> dict[str, Any]:
        table = super().normal_table()
        return table if self.secret is not None else {key: x for key, x in table.items() if key != "secret"}

    def check_parts(self, space: MechanismSpace) -> None:
        check_secret(self.secret, None, space, f"constraints: {self.kind}")
        for pair in self.pairs or ():
            for x in pair:
                space.check_entry(x, 0, f"constraints: {self.kind}: pairs")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        if self.secret is not None:
            counts = [len(law.letters) * (len(law.letters) - 1) * space.outputs for law in self._laws(space)]
            terms = (2 * len(law.support) * k for law, k in zip(self._laws(space), counts, strict=True))
            return sum(counts), sum(terms)
        inputs = len(space.possible)
        pairs = inputs * (inputs - 1) // 2 if self.pairs is None else len(self.pairs)
        return 2 * pairs * space.outputs, 4 * pairs * space.outputs

    def _laws(self, space: MechanismSpace) -> list[JointLaw]:
        return laws_of(self.secret, None, space)

    def rows(self, space: MechanismSpace) -> Rows:
        if self.secret is not None:
            return self._about_secret(space)
        pairs = list(combinations(space.possible, 2)) if self.pairs is None else self.pairs
        both = [
            (a, b, y)
            for first, second in pairs
            for y in range(space.outputs)
            for a, b in ((first, second), (second, first))
        ]
        return Rows(
            (ZERO,) * len(both),
            False,
            tuple(((a, y, ONE),) for a, _, y in both),
            tuple(((b, y, -ONE),) for _, b, y in both),
            LocalDP(self.epsilon).factor(),
        )

    def _about_secret(self, space: MechanismSpace) -> Rows:
        ratios = []
        for law in self._laws(space):
            for first, second in combinations(law.letters, 2):
                one, other = law.given(first), law.given(second)
                for y in range(space.outputs):
                    ratios += [(one, other, y), (other, one, y)]
        return ratio_rows(ratios, self.epsilon)

    @classmethod
    def everywhere(cls, notion: LocalDP) -> Constraint:
        """The same for all pairs of inputs."""
        return cls(notion.epsilon)


def _as_priors(value: WrittenRows, what: str) -> Priors | None:
    return PointwiseMaximalLeakage(0, value).priors


@declared
class PointwiseLeakageLimit(RowConstraint):
    """Q(x,y) <= e^epsilon sum_x' P(x') Q(x',y) for all outputs y, every prior P and all inputs x with P(x) > 0.

    Parameters
    ----------
    epsilon : number or str
        As of `PointwiseMaximalLeakage`, which may stand in its place; at least 0.
    priors : matrix of numbers, optional
        Laws on the mechanism's inputs; left out: the law of the inputs under the model's law of the data.
    secret : joint law P(s,x), or list of them, optional
        Then it is about a secret on a chain S - X - Y instead: W(s,y) <= e^epsilon r(y) for all its letters and all outputs.

    Raises
    ------
    InputError
        If epsilon cannot be read or is negative, or a prior is no law; a design raises it where one does not fit.

    >>> PointwiseLeakageLimit("log 2").epsilon
    'log 2'
    """

    kind: ClassVar[str] = "pointwise_maximal_leakage"
    epsilon: Private = Given(as_private, normal=normal_epsilon)
    priors: PriorsOrNone = Given(_as_priors, default=None)
    secret: SecretOrNone = Given(as_secret, default=None)

    def __post_init__(self) -> None:
        if self.priors is not None and self.secret is not None:
            raise InputError(f"constraints: {self.kind}: expected priors or a secret, got both")

    @property
    def _notion(self) -> PointwiseMaximalLeakage:
        return PointwiseMaximalLeakage(self.epsilon, self.priors)

    def normal_table(self) -> dict[str, Any]:
        table = super().normal_table()
        return table if self.secret is not None else {key: x for key, x in table.items() if key != "secret"}

    def check_parts(self, space: MechanismSpace) -> None:
        self._notion.check(space.possible, space.inputs)
        check_secret(self.secret, None, space, f"constraints: {self.kind}")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        if self.secret is not None:
            laws = laws_of(self.secret, None, space)
            count = sum(len(law.letters) for law in laws) * space.outputs
            return count, sum(2 * len(law.support) * len(law.letters) for law in laws) * space.outputs
        supports = [len(reference.inputs) for reference in self._notion.references(space.possible, space.law)]
        rows = sum(supports) * space.outputs
        return rows, rows + sum(k * k for k in supports) * space.outputs

    def rows(self, space: MechanismSpace) -> Rows:
        if self.secret is not None:
            laws = laws_of(self.secret, None, space)
            listed = [(law.given(s), law.support, y) for law in laws for s in law.letters for y in range(space.outputs)]
            return ratio_rows(listed, self.epsilon)
        terms, scaled = [], []
        for reference in self._notion.references(space.possible, space.law):
            assert reference.law is not None
            for x in reference.inputs:
                for y in range(space.outputs):
                    terms.append(((x, y, ONE),))
                    scaled.append(tuple((z, y, -p) for z, p in zip(reference.inputs, reference.law, strict=True)))
        return Rows((ZERO,) * len(terms), False, tuple(terms), tuple(scaled), self._notion.factor())

    @classmethod
    def of(cls, notion: PointwiseMaximalLeakage) -> Constraint:
        """The same as a constraint."""
        return cls(notion.epsilon, notion.priors)
