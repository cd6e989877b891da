"""A limit on the pointwise maximal leakage, besides an adversary."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dalenius.errors import InputError, brief
from dalenius.exact import Number
from dalenius.exact import Rows as WrittenRows
from dalenius.model.constraints.base import Constraint, MechanismSpace, RowConstraint, Rows
from dalenius.model.constraints.secret import Matrices, Secret, as_secret, check_secret, laws_of, ratio_rows
from dalenius.model.privacy import PointwiseMaximalLeakage

__all__ = ["PointwiseLeakageLimit"]

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
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
    epsilon: Number
    priors: tuple[tuple[Fraction, ...], ...] | None = None
    secret: Matrices | None = None

    def __init__(self, epsilon: Number, priors: WrittenRows | None = None, secret: Secret | None = None) -> None:
        notion = PointwiseMaximalLeakage(epsilon, priors)
        if not notion.feasible:
            raise InputError(f"constraints: {self.kind}: epsilon must be at least 0, got {brief(epsilon)}")
        object.__setattr__(self, "epsilon", notion.epsilon)
        if priors is not None and secret is not None:
            raise InputError(f"constraints: {self.kind}: expected priors or a secret, got both")
        object.__setattr__(self, "priors", notion.priors)
        object.__setattr__(self, "secret", as_secret(secret, f"constraints: {self.kind}"))

    @property
    def _notion(self) -> PointwiseMaximalLeakage:
        return PointwiseMaximalLeakage(self.epsilon, self.priors)

    def normal_table(self) -> dict[str, Any]:
        table = {**super().normal_table(), "epsilon": self._notion.normal_table()["epsilon"]}
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
