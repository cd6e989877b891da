"""The least distortion of private mechanisms, a linear program: local differential privacy, and pointwise maximal leakage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import cvxpy as cp
import numpy as np

from dalenius.atoms import expected_cost
from dalenius.errors import InputError, brief
from dalenius.exact import is_number
from dalenius.information.arrays import Floats
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.model.privacy import Reference
from dalenius.programs.base import Named
from dalenius.programs.mechanism import MechanismProgram

SUM = 1e-9


class PrivateDistortionProgram(MechanismProgram):
    """Minimise sum_xy c(x,y) Q(x,y) over mechanisms Q with Q(x,y) <= e^epsilon sum_x' beta_k(x') Q(x',y) for all y, k and x in S_k.

    S_k are the inputs with beta_k(x) > 0 (pointwise maximal leakage); or there is one S, and beta is any law on it (local differential
    privacy). *Convex because* it is linear: the right-hand sides are variables s_k(y), defined by their laws, or by s(y) <= e^epsilon
    Q(x,y). *DPP because* e^epsilon is a factor of what is affine.
    *Bound because* for any a_k(x,y) >= 0 on S_k, with A_k(y) = sum_x a_k(x,y), and any law beta on S where none is given,

        <c, Q> >= sum_x min_y [ c(x,y) + sum_k ( a_k(x,y) - e^epsilon A_k(y) beta_k(x) ) ]:

    what is added sums to at most 0 over a private mechanism, and rows of Q are laws.

    Parameters
    ----------
    cost : (inputs, outputs)
        c(x,y) = p(x) d(x,y) >= 0: the law of the true data times the distortion.
    factor : float
        e^epsilon >= 1.
    references : sequence of Reference, optional
        S_k, and beta_k where it is listed. By default one with all inputs and any law: local differential privacy.
    tied : TiedEntries, optional
        Which entries of Q are one number; by default none. For additive noise modulo m, ``Additive().tied(m, m)``.

    Raises
    ------
    InputError
        If shapes do not fit, a reference is none, or the factor is no number of at least 1.

    Notes
    -----
    Source: docs/theory.md; Kairouz, Oh, Viswanath (JMLR 2016) for local differential privacy, Saeidian, Cervia, Oechtering, Skoglund
    (IEEE Trans. Inf. Theory 2023) for pointwise maximal leakage.

    Randomised response with e^epsilon = 3 lies about a fair bit once in four times:

    >>> answer = PrivateDistortionProgram(0.5 * (1.0 - np.eye(2)), 3.0).solve()
    >>> bool(answer.lower <= 0.25 <= answer.upper), answer.gap < 1e-8
    (True, True)
    """

    name: ClassVar[str] = "private_distortion"
    maximises: ClassVar[bool] = False

    def __init__(
        self,
        cost: Floats,
        factor: float,
        references: Sequence[Reference] | None = None,
        *,
        tied: TiedEntries | None = None,
    ) -> None:
        self._factor(factor)
        self.charge(cost, tied)
        inputs = len(self.cost)
        references = [Reference(tuple(range(inputs)))] if references is None else references
        self._check(references, inputs)
        self.listed = references[0].law is not None
        self.owner = np.repeat(np.arange(len(references)), [len(reference.inputs) for reference in references])
        self.member = np.concatenate([reference.inputs for reference in references])
        self.beta = np.zeros((len(references), inputs))
        for beta, reference in zip(self.beta, references, strict=True):
            if reference.law is not None:
                law = np.array(reference.law, dtype=float)
                beta[list(reference.inputs)] = law / law.sum()
        super().__init__()

    def _check(self, references: Sequence[Reference], inputs: int) -> None:
        inside = all(0 <= x < inputs for reference in references for x in reference.inputs)
        if not references or not inside or not all(reference.inputs for reference in references):
            raise InputError(f"{self.name}: expected references to some of the {inputs} inputs")
        laws = [np.array(reference.law, dtype=float) for reference in references if reference.law is not None]
        whole = all(np.all(law > 0.0) and abs(law.sum() - 1.0) <= SUM for law in laws)
        if not whole or len(laws) not in (0, len(references)) or (not laws and len(references) > 1):
            raise InputError(
                f"{self.name}: expected references that all have laws above 0, each with sum 1; or one without"
            )

    def _factor(self, factor: float) -> None:
        if not is_number(factor) or not 1.0 <= factor < np.inf:
            raise InputError(f"{self.name}: expected a factor e^epsilon of at least 1, got {brief(factor)}")
        self.factor = float(factor)

    def set(self, factor: float) -> None:
        """Another e^epsilon; solving again does not canonicalise again."""
        self._factor(factor)
        self.write()

    def build(self) -> cp.Expression:
        count, outputs = len(self.beta), self.cost.shape[1]
        q = cp.Variable((self.tied.rows, outputs), nonneg=True, name="q")
        most = cp.Variable((count, outputs), name="most")
        factor = cp.Parameter(nonneg=True, name="factor")
        self.variables, self.parameters = {"q": q, "most": most}, {"factor": factor}
        Q = self.expression(q)
        entries, ends = Q[self.member], most[self.owner]
        self.constraints = {"upper": entries <= ends}
        if self.listed:
            self.constraints["averages"] = most == factor * (self.beta @ Q)
        else:
            self.constraints["lower"] = ends <= factor * entries
        self.constraints["rows"] = cp.sum(q, axis=1) == 1
        return expected_cost(q, self.tied_cost)

    def data(self) -> Mapping[str, Any]:
        return {"factor": self.factor}

    def start(self) -> tuple[Named, Named]:
        """A constant mechanism, or the one of least distortion, repaired; and no multipliers, which proves the least distortion."""
        nothing = np.zeros((len(self.member), self.cost.shape[1]))
        constant = self.constant()
        points = [self._point(constant), self.repair({"q": self.tied.cheapest(self.tied_cost, constant)})]
        best = min((point for point in points if point is not None), key=self.value)
        return best, {"upper": nothing, "lower": nothing}

    def _point(self, q: Floats) -> Named:
        return {"q": q, "most": self.factor * self._averages(self.mechanism({"q": q}))}

    def _averages(self, Q: Floats) -> Floats:
        """sum_x beta_k(x) Q(x,y), or the least Q(x,y); (laws, outputs)."""
        return self.beta @ Q if self.listed else Q[self.member].min(axis=0, keepdims=True)

    def repair(self, raw: Mapping[str, Floats]) -> Named | None:
        """Clip, normalise, and add k(y) to every row, k(y) = max of (Q(x,y) - e^epsilon sum beta Q)/(e^epsilon - 1): private then."""
        q = self.laws(raw)
        if q is None:
            return None
        Q = self.mechanism({"q": q})
        excess = np.max(Q[self.member] - self.factor * self._averages(Q)[self.owner], axis=0, initial=0.0)
        if not excess.any():
            return self._point(q)
        if self.factor == 1.0:
            return None
        added = excess / (self.factor - 1.0)
        if self.tied.across_outputs:
            added = np.full(added.shape, added.max())
        return self._point((q + added) / (1.0 + added.sum()))

    def value(self, point: Mapping[str, Floats]) -> float:
        return self.distortion(point["q"])

    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        if "upper" not in duals:
            return None
        nothing = np.zeros(duals["upper"].shape)
        return {name: np.maximum(duals.get(name, nothing), 0.0) for name in ("upper", "lower")}

    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        """`upper` holds a_k(x,y); without laws `lower` holds weights of beta, and where all are 0, a counts for nothing."""
        a, weights = multipliers["upper"], multipliers["lower"]
        beta = self.beta[self.owner, self.member][:, None]
        if not self.listed:
            total = weights.sum(axis=0)
            a = np.where(total > 0.0, a, 0.0)
            beta = weights / np.where(total > 0.0, total, 1.0)
        sums = np.zeros((len(self.beta), a.shape[1]))
        np.add.at(sums, self.owner, a)
        averages = self.factor * sums[self.owner] * beta
        matrix, size = self.cost.copy(), self.cost.copy()
        np.add.at(matrix, self.member, a - averages)
        summed = 1.0 + len(self.member)  # roundings in a sum over members
        np.add.at(size, self.member, a + summed * averages)
        return self.minimum(matrix, size)
