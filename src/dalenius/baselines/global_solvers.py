"""Not the paper's: Problem 1 by SCIP, a global solver: spatial branch and bound in doubles (an optional extra).

It closes small instances, and says how far it is from closing the others. What it says is no proof: it holds to feasibility
tolerances of its own, leaves no certificate, and has been seen to call optimal what lies above the proved optimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dalenius.baselines.family import Rest, need_positive, need_share
from dalenius.baselines.nonlinear import Answer, RecordProgram, Solver
from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.programs.written import Term, Written

if TYPE_CHECKING:
    from maingopy import MAiNGOmodel
    from pyscipopt import Model


INFINITE = 1e19  # SCIP's bounds beyond are none
FOREVER = 1e20  # seconds that SCIP takes for no limit
RESTS = {
    "optimal": Rest.TOLERANCE,
    "gaplimit": Rest.TOLERANCE,
    "timelimit": Rest.TIME,
    "userinterrupt": Rest.TIME,
    "memlimit": Rest.ITERATIONS,
}


@dataclass(frozen=True)
class Scip:
    """SCIP through PySCIPOpt.

    The variables are the masses of the cells, and as linear functions of them P(letter, output), P(letter) and P(output): the
    leakage is a sum of terms v log v in these, and so is the entropy.

    Attributes
    ----------
    gap : float
        SCIP's ``limits/gap``: relative.
    least_mass : float
        Of a cell. At 0 the slope of v log v is infinite, and SCIP's linear programs fail.
    memory : float
        SCIP's ``limits/memory``, in mebibytes.
    """

    name: ClassVar[str] = "scip"
    most_cells: ClassVar[int] = 600
    gap: float = 1e-6
    least_mass: float = 1e-8
    memory: float = 4096.0

    def __post_init__(self) -> None:
        need_positive(self, "gap", "memory")
        need_share(self, "least_mass")

    def solver(self) -> Solver:
        """SCIP with these settings; `InputError` where it is not installed."""
        if find_spec("pyscipopt") is None:
            raise InputError("scip: PySCIPOpt is not installed; pip install 'dalenius[rivals]'")
        return self._solve

    def _solve(self, program: RecordProgram, law: Floats) -> Answer:
        """One record. A solver that fails leaves the best point that it had shown by then, and no bound."""
        left = program.log.clock.remaining
        if left <= 0.0:
            return Answer(law, 0, Rest.TIME)
        with _quiet():
            model, masses = self._stated(program, left)
            if not _optimised(model, program, masses):
                return Answer(program.best, 0, Rest.REJECTED)  # a model that failed is not asked: that may crash
            bound, nodes = float(model.getDualbound()), int(model.getNTotalNodes())
            rest, known = RESTS.get(model.getStatus(), Rest.REJECTED), bound if abs(bound) < INFINITE else None
            if not model.getNSols():
                return Answer(program.best, nodes, rest, None, known)
            solution = model.getBestSol()
            last = np.array([model.getSolVal(solution, mass) for mass in masses])
            return Answer(last, nodes, rest, float(model.getSolObjVal(solution)), known)

    def _stated(self, program: RecordProgram, seconds: float) -> tuple[Model, list[Any]]:
        """The model, read as every other global solver may read it, and the variables of the cells."""
        from pyscipopt import Model  # takes long to import

        model = Model()
        model.hideOutput()
        for name, value in (("time", min(seconds, FOREVER)), ("gap", self.gap), ("memory", self.memory)):
            model.setParam(f"limits/{name}", value)
        model.setParam("misc/catchctrlc", False)  # Ctrl-C is heard where Python looks, at every node
        with TemporaryDirectory() as folder:
            path = Path(folder, "problem.nl")
            path.write_text(program.written(self.least_mass).nl())
            model.readProblem(str(path))
        named = {variable.name: variable for variable in model.getVars()}
        model.chgVarLb(named["nlobjvar"], 0.0)
        model.chgVarUb(named["nlobjvar"], float(np.log(program.letters)))
        return model, [named[f"x{j}"] for j in range(program.log_uniform.size)]


def _optimised(model: Model, program: RecordProgram, masses: list[Any]) -> bool:
    """Run SCIP, look at the clock at every node, and note every better point; whether it went through."""
    from pyscipopt.scip import PY_SCIP_EVENTTYPE

    def look(model: Model, event: Any) -> None:
        if event.getType() == PY_SCIP_EVENTTYPE.BESTSOLFOUND:
            solution = model.getBestSol()
            program.show(np.array([model.getSolVal(solution, mass) for mass in masses]))
        if program.log.clock.expired:
            model.interruptSolve()

    model.attachEventHandlerCallback(look, [PY_SCIP_EVENTTYPE.NODESOLVED, PY_SCIP_EVENTTYPE.BESTSOLFOUND])
    try:
        model.optimize()
    except Exception:  # noqa: BLE001  (PySCIPOpt raises nothing more special)
        return False
    return True


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence SCIP's own errors: an `Answer` says that it failed."""
    from pyscipopt import Model

    Model().redirectOutput()  # of errors, for all models of this process: to Python's stream
    with redirect_stderr(StringIO()):
        yield


# Not the paper's: Problem 1 by MAiNGO, a global solver with McCormick relaxations (an optional extra).
#
# As SCIP it works in doubles, to tolerances of its own, and leaves no certificate: what it calls a bound is a claim.


LARGEST = 1e19  # bounds beyond are none


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
        stated = _stated(program.written(self.least_mass), law)
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


def _stated(written: Written, law: Floats) -> MAiNGOmodel:
    """Minimise -I(p) over sum p = 1 and the entropy bound, as MAiNGO wants it."""
    import maingopy

    def summed(weights: Floats, terms: list[Any]) -> Any:
        first, *others = (weight * term for weight, term in zip(weights.tolist(), terms, strict=True) if weight)
        for term in others:
            first = first + term
        return first

    def value(term: Term, masses: list[Any]) -> Any:
        of = masses if term.of is None else [summed(row, masses) for row in term.of]
        return summed(term.weights, [maingopy.xlog(v) for v in of])

    class Stated(maingopy.MAiNGOmodel):  # type: ignore[misc]  # maingopy has no types
        def get_variables(self) -> list[Any]:
            bounds = maingopy.Bounds(written.least, 1.0)
            return [maingopy.OptimizationVariable(bounds, maingopy.VT_CONTINUOUS)] * len(law)

        def get_initial_point(self) -> list[float]:
            return np.clip(law, written.least, 1.0).tolist()

        def evaluate(self, masses: list[Any]) -> Any:
            found, (limit,) = maingopy.EvaluationContainer(), written.limits
            found.objective = summed(-np.ones(len(written.terms)), [value(term, masses) for term in written.terms])
            found.ineq = [value(limit.term, masses) + summed(limit.linear, masses) - limit.at_most]
            found.eq = [summed(row, masses) - end for row, end in zip(*written.rows[:2], strict=True)]
            return found

    return Stated()
