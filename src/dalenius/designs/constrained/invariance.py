"""Whether moves of inputs and outputs leave a design's constraints, and the terms of its objective, as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from fractions import Fraction

from dalenius.designs.constrained.rows import BUDGET, numbered_rows
from dalenius.designs.terms import Terms
from dalenius.information.arrays import Integers
from dalenius.model.adversaries import EntropyAtLeast
from dalenius.model.constraints import LeakageLimit, SecondOrderCone, SecretLeakageLimit, SecretLimit
from dalenius.model.problems.design_problem import DesignProblem

__all__ = ["Invariance"]

Listed = Mapping[tuple[int, int], Fraction]


class Invariance:
    """The constraints of a design as sets of rows and cones, to be compared with themselves after a move; its further terms, too."""

    def __init__(self, problem: DesignProblem) -> None:
        terms = Terms.of(problem)
        limited = [c.adversary for c in problem.own_constraints if isinstance(c, LeakageLimit)]
        self.entropies = all(isinstance(each, EntropyAtLeast) for each in (*limited, *terms.adversaries.values()))
        self.rows: list[tuple[Listed, Hashable]] = [
            (listed, (rows.equal, end))
            for j, rows in numbered_rows(problem).items()
            if j != BUDGET  # whether that is invariant, whoever looks for symmetries asks of costs
            for listed, end in zip(rows.below, rows.ends, strict=True)
        ]
        law = problem.exact_input_law()
        for j, distortion in terms.distortions.items():
            cost = distortion.exact_cost() if j else []  # of the first whoever looks for symmetries asks, too
            self.rows.append(({(x, y): law[x] * d for x, row in enumerate(cost) for y, d in enumerate(row)}, j))
        self.about_secrets = any(
            isinstance(constraint, SecretLimit | SecretLeakageLimit) for constraint in problem.own_constraints
        )
        self.cones = [constraint for constraint in problem.own_constraints if isinstance(constraint, SecondOrderCone)]
        self._still = self._moved(None, None)

    def kept_by(self, inputs: Integers, outputs: Integers) -> bool:
        """Whether every constraint is again one after inputs[x] has taken the place of x, and outputs[y] that of y."""
        return (
            self.entropies and not self.about_secrets and self._moved(inputs.tolist(), outputs.tolist()) == self._still
        )

    def _moved(self, inputs: list[int] | None, outputs: list[int] | None) -> Counter[Hashable]:
        def terms(listed: Listed) -> frozenset[tuple[int, int, Fraction]]:
            return frozenset(
                (x if inputs is None else inputs[x], y if outputs is None else outputs[y], c)
                for (x, y), c in listed.items()
                if c
            )

        found = Counter[Hashable]((terms(listed), key) for listed, key in self.rows)
        for cone in self.cones:
            parts = [(part.summed, part.offset) for part in (cone.bound, *cone.norm)]
            keyed = [(terms(listed), offset) for listed, offset in parts]
            found[keyed[0], frozenset(Counter(keyed[1:]).items())] += 1
        return found
