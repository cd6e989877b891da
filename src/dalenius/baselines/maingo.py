"""Not the paper's: Problem 1 by MAiNGO, a global solver with McCormick relaxations (an optional extra).

As SCIP it works in doubles, to tolerances of its own, and leaves no certificate: what it calls a bound is a claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dalenius.baselines.nonlinear import Answer, RecordProgram, Solver
from dalenius.baselines.run import Rest, need_positive, need_share
from dalenius.errors import InputError
from dalenius.information.arrays import Floats

if TYPE_CHECKING:
    from maingopy import MAiNGOmodel

__all__ = ["Maingo"]

LARGEST = 1e19  # bounds beyond are none
NEGLIGIBLE = 1e-12  # outputs with less probability are left out


@dataclass(frozen=True)
class Maingo:
    """MAiNGO through maingopy. The variables are the masses of the cells; all else is relaxed as a function of them.

    MAiNGO looks at no clock but its own: Ctrl-C is heard when its time is up.

    Attributes
    ----------
    gap : float
        MAiNGO's ``epsilonR``: relative.
    least_mass : float
        Every mass is at least this.
    """

    name: ClassVar[str] = "maingo"
    most_cells: ClassVar[int] = 200
    gap: float = 1e-6
    least_mass: float = 1e-8

    def __post_init__(self) -> None:
        need_positive(self, "gap")
        need_share(self, "least_mass")

    def solver(self) -> Solver:
        """MAiNGO with these settings; `InputError` where it is not installed."""
        if find_spec("maingopy") is None:
            raise InputError("maingo: maingopy is not installed; pip install 'dalenius[rivals]'")
        return self._solve

    def _solve(self, program: RecordProgram, law: Floats) -> Answer:
        """One record. A solver that fails leaves the law that it was given, and no bound."""
        import maingopy

        left = program.log.clock.remaining
        if left <= 0.0:
            return Answer(law, 0, Rest.TIME)
        stated = _stated(program, law, self.least_mass)
        solver = maingopy.MAiNGO(stated)
        solver.set_option("loggingDestination", maingopy.LOGGING_NONE)
        for option, value in (
            ("maxwTime", left),
            ("epsilonR", self.gap),
            ("epsilonA", 1e-12),
            ("writeResultFile", False),
        ):
            solver.set_option(option, value)
        try:
            status = solver.solve()
            nodes, bound = int(solver.get_iterations()), -float(solver.get_final_LBD())
            point = np.array(solver.get_solution_point())
            claimed = -float(solver.get_objective_value())
        except Exception:  # noqa: BLE001  (its own exceptions tell nothing that could be handled)
            return Answer(law, 0, Rest.REJECTED)
        found = status in (maingopy.GLOBALLY_OPTIMAL, maingopy.FEASIBLE_POINT) and point.shape == law.shape
        if found:
            program.show(point)
        rest = Rest.TOLERANCE if status == maingopy.GLOBALLY_OPTIMAL else Rest.TIME
        return Answer(
            program.best if not found else point,
            nodes,
            rest,
            claimed if found else None,
            bound if abs(bound) < LARGEST else None,
        )


def _stated(program: RecordProgram, law: Floats, least_mass: float) -> MAiNGOmodel:
    """Minimise -I(p) over sum p = 1 and the entropy bound, as MAiNGO wants it."""
    import maingopy

    def summed(weights: list[float], terms: list[Any]) -> Any:
        first, *others = (weight * term for weight, term in zip(weights, terms, strict=True) if weight)
        for term in others:
            first = first + term
        return first

    def x_log_x(terms: list[Any]) -> Any:
        return summed([1.0] * len(terms), [maingopy.xlog(term) for term in terms])

    class Stated(maingopy.MAiNGOmodel):  # type: ignore[misc]  # maingopy has no types
        def get_variables(self) -> list[Any]:
            return [maingopy.OptimizationVariable(maingopy.Bounds(least_mass, 1.0), maingopy.VT_CONTINUOUS)] * len(law)

        def get_initial_point(self) -> list[float]:
            return np.clip(law, least_mass, 1.0).tolist()

        def evaluate(self, masses: list[Any]) -> Any:
            parts = [masses[part] for part in program.parts]
            tables = [program.given[part].T.tolist() for part in program.parts]
            joint = [
                summed(column, part)
                for part, table in zip(parts, tables, strict=True)
                for column in table
                if max(column) > NEGLIGIBLE
            ]
            letters = [summed([1.0] * len(part), part) for part in parts]
            outputs = [summed(column, masses) for column in program.given.T.tolist() if max(column) > NEGLIGIBLE]
            found = maingopy.EvaluationContainer()
            found.objective = x_log_x(letters) + x_log_x(outputs) - x_log_x(joint)
            counts = summed(program.log_uniform.tolist(), masses)
            found.ineq = [x_log_x(masses) - counts - program.max_knowledge]
            found.eq = [summed([1.0] * len(masses), masses) - 1.0]
            return found

    return Stated()
