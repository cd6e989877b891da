"""A limit on the pointwise maximal leakage, besides an adversary."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dalenius.errors import InputError, brief
from dalenius.exact import Number
from dalenius.exact import Rows as WrittenRows
from dalenius.model.constraints.base import Constraint, MechanismSpace, RowConstraint, Rows
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

    def __init__(self, epsilon: Number, priors: WrittenRows | None = None) -> None:
        notion = PointwiseMaximalLeakage(epsilon, priors)
        if not notion.feasible:
            raise InputError(f"constraints: {self.kind}: epsilon must be at least 0, got {brief(epsilon)}")
        object.__setattr__(self, "epsilon", notion.epsilon)
        object.__setattr__(self, "priors", notion.priors)

    @property
    def _notion(self) -> PointwiseMaximalLeakage:
        return PointwiseMaximalLeakage(self.epsilon, self.priors)

    def normal_table(self) -> dict[str, Any]:
        return {**super().normal_table(), "epsilon": self._notion.normal_table()["epsilon"]}

    def check_parts(self, space: MechanismSpace) -> None:
        self._notion.check(space.possible, space.inputs)

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        supports = [len(reference.inputs) for reference in self._notion.references(space.possible, space.law)]
        rows = sum(supports) * space.outputs
        return rows, rows + sum(k * k for k in supports) * space.outputs

    def rows(self, space: MechanismSpace) -> Rows:
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
