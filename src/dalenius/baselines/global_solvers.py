"""Not the paper's: Problem 1 by SCIP, a global solver: spatial branch and bound in doubles (an optional extra).

It closes small instances, and says how far it is from closing the others. What it says is no proof: it holds to feasibility
tolerances of its own, leaves no certificate, and has been seen to call optimal what lies above the proved optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from dalenius.programs.written import of_record

if TYPE_CHECKING:
    from maingopy import MAiNGOmodel
    from pyscipopt import Model


INFINITE = 1e19  # SCIP's bounds beyond are none
FOREVER = 1e20  # seconds that SCIP takes for no limit
NEGLIGIBLE = 1e-12  # outputs with less probability are left out
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
        parts = [program.given[part] for part in program.parts]
        start = np.exp(program.log_uniform)
        written = of_record(parts, program.log_uniform, program.max_knowledge, start, least=self.least_mass)
        with TemporaryDirectory() as folder:
            path = Path(folder, "problem.nl")
            path.write_text(written.nl())
            model.readProblem(str(path))
        named = {variable.name: variable for variable in model.getVars()}
        model.chgVarLb(named["nlobjvar"], 0.0)
        model.chgVarUb(named["nlobjvar"], float(np.log(len(parts))))
        return model, [named[f"x{j}"] for j in range(start.size)]


def _sums(
    program: RecordProgram, masses: list[Any], summed: Callable[[list[float], list[Any]], Any]
) -> tuple[list[Any], list[Any], list[Any]]:
    """P(letter), P(letter, output) and P(output) as weighted sums of the masses."""
    parts = [masses[part] for part in program.parts]
    letters = [summed([1.0] * len(part), part) for part in parts]
    joint = [
        summed(column, part)
        for part, rows in zip(parts, program.parts, strict=True)
        for column in program.given[rows].T.tolist()
        if max(column) > NEGLIGIBLE
    ]
    return letters, joint, [summed(column, masses) for column in program.given.T.tolist() if max(column) > NEGLIGIBLE]


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
            letters, joint, outputs = _sums(program, masses, summed)
            found = maingopy.EvaluationContainer()
            found.objective = x_log_x(letters) + x_log_x(outputs) - x_log_x(joint)
            counts = summed(program.log_uniform.tolist(), masses)
            found.ineq = [x_log_x(masses) - counts - program.max_knowledge]
            found.eq = [summed([1.0] * len(masses), masses) - 1.0]
            return found

    return Stated()
