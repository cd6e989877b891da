"""Problem 1 for one record after the other as a nonlinear program with analytic derivatives, for general-purpose optimisers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import ClassVar, Protocol

import numpy as np

from dalenius.baselines.alternations import concluded
from dalenius.baselines.family import Family, LeakageRun, Log, Rest, View, need_positive
from dalenius.errors import InputError
from dalenius.information import mutual_information, x_log_x
from dalenius.information.arrays import Floats
from dalenius.programs.written import Written, of_record
from dalenius.search import Clock

LEAST_MASS = 1e-13  # that a cell is given
LEAST_LOG = 1e-300  # probabilities below count as this in logarithms and quotients
ENTROPY_SLACK = 1e-9  # nats of entropy by which a point on the way may miss the bound


class OutOfTimeError(Exception):
    """Raised inside an optimiser to get out of it."""


class RecordProgram:
    """max I(p) over p >= 0, sum p = 1, H(p) - log |X| = sum p log(N/(|X| p)) >= -max_knowledge, for one record; p flat over its cells.

    Derivatives take every coordinate as free. `best` is the best law that was evaluated and meets the bound but for rounding, `start`
    until there is one.
    """

    def __init__(self, family: Family, view: View, start: Floats, log: Log) -> None:
        self.log, self.max_knowledge, self.letters = log, family.max_knowledge, view.letters
        stops = np.cumsum([len(cells) for cells in view.cells])
        self.parts = [slice(stop - len(cells), stop) for stop, cells in zip(stops.tolist(), view.cells, strict=True)]
        self.log_uniform = np.concatenate(view.log_uniform)
        self.given = family.channel[np.concatenate(view.inputs)]
        self.value, self.best = -np.inf, start

    def written(self, least: float = 0.0) -> Written:
        """The program as it is written, for others, each mass at least so large."""
        parts, logs = [self.given[part] for part in self.parts], self.log_uniform
        return of_record(parts, logs, self.max_knowledge, np.exp(logs), least=least)

    def joint(self, p: Floats) -> Floats:
        """P(letter, output), (letters, outputs)."""
        return np.stack([p[part] @ self.given[part] for part in self.parts])

    def cost(self, p: Floats) -> tuple[float, Floats]:
        """-I and its gradient: dI/dp(a,k) = sum_y Q(y|k) log(u(a,y)/(pi_a r(y))) - 1 with u = P(letter, output), by Theorem 8.

        Raises
        ------
        OutOfTimeError
            If the clock has run out.
        """
        if self.log.clock.expired:
            raise OutOfTimeError
        self.log.evaluations += 1
        p = np.maximum(p, LEAST_MASS)
        u = self.joint(p)
        self._visit(p / p.sum(), u / p.sum())
        ratio = np.log(np.maximum(u, LEAST_LOG)) - np.log(np.maximum(np.outer(u.sum(axis=1), u.sum(axis=0)), LEAST_LOG))
        slopes = [self.given[part] @ ratio[a] for a, part in enumerate(self.parts)]
        return -float(np.sum(u * ratio)), 1.0 - np.concatenate(slopes)

    def _visit(self, law: Floats, joint: Floats) -> None:
        found = float(mutual_information(joint))
        if found > self.value and self.spare(law) >= -ENTROPY_SLACK:
            self.value, self.best = found, law
            self.log.note(self.log.evaluations, found)

    def show(self, p: Floats) -> None:
        """Consider a point of a solver's; one that breaks the entropy bound by its tolerances is mixed with the uniform law."""
        law = np.maximum(p, LEAST_MASS)
        law = law / law.sum()
        missing = max(-self.spare(law), 0.0)
        share = missing / (self.max_knowledge + missing) if missing > 0.0 else 0.0  # entropy is concave
        law = (1.0 - share) * law + share * np.exp(self.log_uniform)
        self.log.evaluations += 1
        self._visit(law, self.joint(law))

    def cost_curvature(self, p: Floats) -> Floats:
        """-d2I/dp2: sum_y Q(y|k) Q(y|l) / r(y), less sum_y Q(y|k) Q(y|l) / u(a,y) - 1/pi_a where k and l belong to one letter a."""
        u = self.joint(np.maximum(p, LEAST_MASS))
        curvature = (self.given / np.maximum(u.sum(axis=0), LEAST_LOG)) @ self.given.T
        for a, part in enumerate(self.parts):
            Q = self.given[part]
            curvature[part, part] -= (Q / np.maximum(u[a], LEAST_LOG)) @ Q.T - 1.0 / u[a].sum()
        return curvature

    def spare(self, p: Floats) -> float:
        """H(p) - b."""
        return float(p @ self.log_uniform - x_log_x(np.maximum(p, LEAST_MASS)).sum()) + self.max_knowledge

    def spare_slope(self, p: Floats) -> Floats:
        """Theorem 9.1 with counts."""
        return self.log_uniform - np.log(np.maximum(p, LEAST_MASS)) - 1.0

    def spare_curvature(self, p: Floats) -> Floats:
        """-1/p on the diagonal."""
        return np.diag(-1.0 / np.maximum(p, LEAST_MASS))


@dataclass(frozen=True)
class Answer:
    """Answer of a solver about the program of one record.

    Attributes
    ----------
    law : (cells,)
        Its last point.
    iterations : int
        Of a global solver, the nodes of its tree.
    rest : Rest
    claimed : float or None
        The leakage that it says its own point has, to its own tolerances; None if it leaves that to the evaluation.
    bound : float or None
        Of a global solver: what it says that no law passes. A claim, in doubles and to its tolerances; nobody can check it.
    """

    law: Floats
    iterations: int
    rest: Rest
    claimed: float | None = None
    bound: float | None = None


Solver = Callable[[RecordProgram, Floats], Answer]


class Optimiser(Protocol):
    """A general-purpose method for nonlinear programs, with its settings."""

    @property
    def name(self) -> str: ...

    @property
    def most_cells(self) -> int:
        """Cells that a record may have."""
        ...

    def solver(self) -> Solver:
        """The method, ready to work; `InputError` where it is not installed."""
        ...


def optimised_run(
    family: Family, start: Floats | None = None, *, optimiser: Optimiser, clock: Clock | None = None
) -> LeakageRun:
    """A general-purpose method from one start, for every kind of record in turn; its best point, repaired and judged.

    Parameters
    ----------
    family : Family
        `aggregated(problem)`, or `full_joint(problem)` of few datasets.
    start : (size of the family,), optional
        The first law; from the uniform one, a stationary point of many problems, it may not move.
    optimiser : Slsqp, TrustConstr, CvxpyNlp, Scip or Maingo
    clock : Clock, optional

    Raises
    ------
    InputError
        If the method is not installed, or a record has more cells than it is made for.

    >>> import dalenius as dl
    >>> from dalenius.baselines import Slsqp, TrustConstr, aggregated
    >>> family = aggregated(dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast("1.0 nats")))
    >>> start = family.random(np.random.default_rng(0))
    >>> [round(optimised_run(family, start, optimiser=method).value, 5) for method in (Slsqp(), TrustConstr())]
    [0.07954, 0.07954]
    """
    solver = optimiser.solver()
    cells = max(sum(map(len, view.cells)) for view in family.views)
    if cells > optimiser.most_cells:
        raise InputError(
            f"{optimiser.name}: expected at most {optimiser.most_cells} cells a record, got {cells}; its steps are dense"
        )
    return record_by_record(optimiser.name, family, start, solver, clock)


def record_by_record(
    method: str, family: Family, start: Floats | None, solver: Solver, clock: Clock | None
) -> LeakageRun:
    """A solver on every record's program in turn, each from the same start; the best law that comes out, repaired and judged.

    max over priors of max_i I(X_i; Y) is the largest of the records' maxima, so nothing is lost by taking them one by one.

    Parameters
    ----------
    method : str
    family : Family
    start : (size of the family,), optional
        The uniform law unless given.
    solver : callable
        From a program and a first law to an `Answer`; `OutOfTimeError` may pass.
    clock : Clock, optional
    """
    log = Log(Clock() if clock is None else clock)
    first = family.uniform if start is None else family.repaired(start)
    law, value = first, family.judged(first)[0]
    answers = list[Answer]()
    for view in family.views:
        cells = np.concatenate(view.cells)
        program = RecordProgram(family, view, first[cells], log)
        try:
            answers.append(solver(program, first[cells]))
        except OutOfTimeError:
            answers.append(Answer(first[cells], 0, Rest.TIME))
        for candidate in (program.best, answers[-1].law):
            if not np.maximum(candidate, 0.0).sum() > 0.0:  # nothing that could be repaired
                continue
            changed = first.copy()
            changed[cells] = candidate
            changed = family.repaired(changed)
            found = family.judged(changed)[0]
            if found > value:
                law, value = changed, found
    iterations = sum(answer.iterations for answer in answers)
    rest = next((answer.rest for answer in answers if answer.rest is not Rest.TOLERANCE), Rest.TOLERANCE)
    run = concluded(method, family, law, iterations, rest, log)
    claims = [answer.claimed for answer in answers if answer.claimed is not None]
    bounds = [answer.bound for answer in answers if answer.bound is not None]
    return replace(
        run,
        claimed=max(claims, default=None),
        bound=max(bounds) if len(bounds) == len(answers) else None,  # one record without a bound leaves all without
    )


# Not the paper's: sequential quadratic programming (scipy's SLSQP) with analytic gradients, for Problem 1.


@dataclass(frozen=True)
class Slsqp:
    """`tolerance` and `iterations` are scipy's ``ftol`` and ``maxiter``."""

    name: ClassVar[str] = "slsqp"
    most_cells: ClassVar[int] = 600  # its steps cost the cube of this
    tolerance: float = 1e-10
    iterations: int = 500

    def __post_init__(self) -> None:
        need_positive(self, "tolerance", "iterations")

    def solver(self) -> Solver:
        """SLSQP with these settings."""
        from scipy.optimize import minimize  # takes long to import

        def solve(program: RecordProgram, law: Floats) -> Answer:
            found = minimize(
                program.cost,
                law,
                jac=True,
                method="SLSQP",
                bounds=[(LEAST_MASS, 1.0)] * len(law),
                constraints=[
                    {"type": "eq", "fun": lambda p: p.sum() - 1.0, "jac": np.ones_like},
                    {"type": "ineq", "fun": program.spare, "jac": program.spare_slope},
                ],
                options={"ftol": self.tolerance, "maxiter": int(self.iterations)},
            )
            return Answer(found.x, int(found.nit), Rest.ITERATIONS if found.nit >= self.iterations else Rest.TOLERANCE)

        return solve


# Not the paper's: scipy's trust-region interior-point method (trust-constr), analytic gradients and Hessians, for Problem 1.


MOVED_INSIDE = 1e-3  # share of the uniform law that takes a start off the boundary


@dataclass(frozen=True)
class TrustConstr:
    """`tolerance` is scipy's ``gtol`` and ``barrier_tol``, `radius` its ``xtol``, `iterations` its ``maxiter``."""

    name: ClassVar[str] = "trust-constr"
    most_cells: ClassVar[int] = 600  # its steps cost the cube of this
    tolerance: float = 1e-9
    radius: float = 1e-12
    iterations: int = 500

    def __post_init__(self) -> None:
        need_positive(self, "tolerance", "radius", "iterations")

    def solver(self) -> Solver:
        """trust-constr with these settings; a start is mixed with a thousandth of the uniform law."""
        from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, minimize  # takes long to import

        def solve(program: RecordProgram, law: Floats) -> Answer:
            shares = np.exp(program.log_uniform)
            unit = np.sqrt(
                shares
            )  # p = unit x: the metric of the datasets; in p itself it stalls where counts are uneven

            def cost(x: Floats) -> tuple[float, Floats]:
                value, slope = program.cost(unit * x)
                return value, unit * slope

            def cost_curvature(x: Floats) -> Floats:
                return unit[:, None] * program.cost_curvature(unit * x) * unit

            spare = NonlinearConstraint(
                lambda x: program.spare(unit * x),
                0.0,
                np.inf,
                jac=lambda x: (unit * program.spare_slope(unit * x))[None],
                hess=lambda x, multiplier: multiplier[0] * unit[:, None] * program.spare_curvature(unit * x) * unit,
            )
            with warnings.catch_warnings():  # of singular Jacobians, where a law is at its bounds
                warnings.simplefilter("ignore")
                found = minimize(
                    cost,
                    ((1.0 - MOVED_INSIDE) * law + MOVED_INSIDE * shares) / unit,
                    jac=True,
                    hess=cost_curvature,
                    method="trust-constr",
                    bounds=Bounds(LEAST_MASS / unit, 1.0 / unit, keep_feasible=True),
                    constraints=[LinearConstraint(unit[None], 1.0, 1.0), spare],
                    options={
                        "gtol": self.tolerance,
                        "barrier_tol": self.tolerance,
                        "xtol": self.radius,
                        "maxiter": int(self.iterations),
                    },
                )
            rest = Rest.ITERATIONS if found.nit >= self.iterations else Rest.TOLERANCE
            return Answer(unit * found.x, int(found.nit), rest)

        return solve


# Not the paper's: Problem 1 as it is written, in cvxpy's nonlinear mode with the solver UNO (an optional extra).


@dataclass(frozen=True)
class CvxpyNlp:
    """`preset` and `iterations` are UNO's ``preset`` and ``max_iterations``.

    The preset ipopt is a primal-dual interior-point method; filtersqp, cvxpy's default, fails from most random starts. Where UNO
    gives up cvxpy hands nothing back, at a limit the last point: so the limit is low. What is left of the clock is UNO's own time
    limit, in seconds of the processor.
    """

    name: ClassVar[str] = "cvxpy-nlp"
    most_cells: ClassVar[int] = 4096  # some seconds for one record
    preset: str = "ipopt"
    iterations: int = 300

    def __post_init__(self) -> None:
        need_positive(self, "iterations")
        if self.preset not in ("ipopt", "filtersqp"):
            raise InputError(f"preset: expected ipopt or filtersqp, got {self.preset!r}")

    def solver(self) -> Solver:
        """UNO with these settings; `InputError` where it is not installed."""
        if find_spec("unopy") is None:
            raise InputError("cvxpy-nlp: the solver UNO is not installed; pip install 'dalenius[rivals]'")
        from dalenius.programs.plain import solve_as_written  # takes long to import

        def solve(program: RecordProgram, law: Floats) -> Answer:
            left = program.log.clock.remaining
            if left <= 0.0:
                return Answer(law, 0, Rest.TIME)
            answer, steps = solve_as_written(
                program.written(),
                law,
                {"preset": self.preset, "max_iterations": int(self.iterations)},
                time_limit=left if left < np.inf else None,
            )
            program.log.evaluations += steps
            cut = Rest.TIME if program.log.clock.expired else Rest.ITERATIONS if answer.point else Rest.REJECTED
            return Answer(answer.point.get("p", law), steps, Rest.TOLERANCE if answer.status == "optimal" else cut)

        return solve
