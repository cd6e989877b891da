"""A rigorous interval for the optimal value of any DCP model, from any solver's numbers: what it says, and the way to it."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from numbers import Real
from pathlib import Path

import cvxpy as cp
import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from cvxcertify.check import check_interval
from cvxcertify.derive import Claim, Derived, Ranges, derived
from cvxcertify.errors import InputError, ProofRefusedWarning, brief
from cvxcertify.instance import Floats, Instance, as_bound, as_float
from cvxcertify.intervals import ends_text, gap_text, text_below
from cvxcertify.parts import conflict
from cvxcertify.proof import Lower, Upper, proof_text
from cvxcertify.search import Search
from cvxcertify.solvers import Answer, Attempt, Stop, ladder, usable
from cvxcertify.talking import say, talking


class Termination(Enum):
    """Why the work stopped. It says nothing about truth."""

    GAP_REACHED = "gap_reached"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    STALLED = "stalled"
    INFEASIBLE = "infeasible"
    PROOF_REFUSED = "proof_refused"


class Standing(Enum):
    """Proved claims about the optimal value."""

    INTERVAL = "interval"
    BOUND_ONLY = "bound only"
    POINT_ONLY = "point only"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    NOTHING = "nothing"

    @property
    def meaning(self) -> str:
        """In a sentence."""
        return {
            Standing.INTERVAL: "both ends are proved",
            Standing.BOUND_ONLY: "the end that multipliers prove is proved; no feasible point was found, and there may be none",
            Standing.POINT_ONLY: "the value of a feasible point is proved, and no bound on the other side",
            Standing.INFEASIBLE: "it is proved that there is no feasible point",
            Standing.UNBOUNDED: "it is proved that the objective is unbounded on the feasible points",
            Standing.NOTHING: "nothing is proved",
        }[self]


@dataclass(frozen=True, eq=False)
class CertifiedInterval:
    """lower <= optimal value <= upper, proved.

    Attributes
    ----------
    lower, upper : float
        Rounded outward; infinite where nothing is proved. Where it is proved that there is no feasible point both are the value of an
        empty minimum, inf, or maximum, -inf; where the objective is proved unbounded, both are -inf or inf.
    status : Standing
        What is proved.
    termination : Termination
        Why the work stopped.
    claim : Claim
        What the interval is about: the model as written, or the conic form that the modelling language makes of it in doubles.
    rounded : tuple of str
        The atoms because of which it is the conic form.
    values : dict of name -> array
        The variables at the certified feasible point, rounded to doubles (exactly in the proof); empty if there is none.
    multipliers : (rows,) array or None
        Those that prove the bound, rounded, in the order of the proof's rows.
    duals : dict of name -> array
        The same of each constraint, with the sign and in the shape of cvxpy's `dual_value`. A name is the constraint's label, or how
        it is written; "x, as declared" is what the attributes of the variable x say.
    conflict : dict of name -> float
        Where there is no feasible point: the parts of the model that contradict each other, and how far each would have to give at
        least, if it alone did: so much more on the right, or on either side of an equation; 0 where that is not known.
    ray : dict of name -> array
        Where the objective is unbounded: the direction in which the variables go for ever.
    statistics : dict of name -> number
        How large the conic form is, its cones, and the least and the largest of its numbers.
    bound_by, point_by : str or None
        The solvers whose numbers the bound and the point were made from.
    proof : str
        A file that ``python -m cvxcertify.check`` checks: the instance, the multipliers and the point, exactly.
    advice : str
        What can be done about an end that is missing; else empty.
    attempts : tuple of Attempt
        What each solver said. Evidence of nothing.
    seconds : float
    """

    lower: float
    upper: float
    status: Standing
    termination: Termination
    claim: Claim
    rounded: tuple[str, ...]
    values: Mapping[str, Floats] = field(repr=False)
    multipliers: Floats | None = field(repr=False)
    duals: Mapping[str, Floats] = field(repr=False)
    conflict: Mapping[str, float]
    ray: Mapping[str, Floats] = field(repr=False)
    statistics: Mapping[str, float] = field(repr=False)
    bound_by: str | None
    point_by: str | None
    proof: str = field(repr=False)
    advice: str
    attempts: tuple[Attempt, ...] = field(repr=False)
    seconds: float

    @property
    def gap(self) -> float:
        """(upper - lower) over the larger end's size; 0 of a point and infinite beside an infinite end."""
        if self.status is not Standing.INTERVAL:
            return math.inf
        return (self.upper - self.lower) / max(abs(self.lower), abs(self.upper)) if self.upper > self.lower else 0.0

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends as text, outward, with as many digits as the width deserves."""
        return ends_text(self.lower, self.upper)

    def write(self, path: str | Path) -> Path:
        """Write the proof, whole or not at all; ``python -m cvxcertify.check PATH`` checks it with nothing that made it.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        path = Path(path)
        part = path.with_name(f".{path.name}.part")
        part.write_text(self.proof, encoding="utf-8")
        return part.replace(path)

    def __str__(self) -> str:
        interval = " .. ".join(self.ends) if self.status is not Standing.NOTHING else "-inf .. inf"
        width = f", gap {gap_text(self.gap)}" if self.status is Standing.INTERVAL else ""
        return f"{interval} ({self.status.value}{width}; of the {self.claim.value})" + (
            f"; {self.advice}" if self.advice else ""
        )


def certify(
    problem: cp.Problem,
    *,
    solver: str = "auto",
    gap: float = 1e-8,
    time_limit: float | None = 60.0,
    ranges: Ranges | None = None,
    x: ArrayLike | None = None,
    z: ArrayLike | None = None,
    stop: Stop = lambda: False,
    verbose: bool = False,
) -> CertifiedInterval:
    """An interval that contains the optimal value of a convex model, whatever its solver did.

    The bound holds by weak duality for any multipliers z in the dual cones of the conic form, minimise c x over A x + b in K:
    c x >= -b z + sum_j min((c - A'z)_j x_j), the minimum over the range of each column. So a solver's z is moved into the dual cones,
    polished until c - A'z nearly vanishes, and what is left is paid for. The other end is the value of a point whose feasibility is
    decided in rationals. The independent checker has proved both before they are returned (docs/own-models.md).

    Parameters
    ----------
    problem : cvxpy.Problem
        DCP, over real continuous variables; values that these have are neither used nor changed. Cones: zero, nonnegative,
        second-order, exponential, positive semidefinite.
    solver : str
        CLARABEL, SCS, ECOS, MOSEK or QICS; ``"auto"`` tries several.
    gap : float
        (upper - lower) over the larger end's size, at which the work stops.
    time_limit : float or None
        Seconds for the solvers.
    ranges : mapping of cvxpy.Variable -> (low, high), optional
        Bounds of variables, numbers or arrays, as if they were constraints of the problem. Bounds that the model's constraints imply
        are found without.
    x, z : (columns,) and (rows,) arrays, optional
        What a solver of one's own says of the instance, `derived(problem).instance`: a point, and multipliers in the dual cones
        with c = A' z (it is a minimisation always). Then nothing solves the problem itself; `solver` only looks for a point inside
        the cones. Entries may be anything.
    stop : callable () -> bool
        Asked again and again; where it says yes, the work ends with what there is.
    verbose : bool
        Whether the solvers' own logs are shown, and a line after each, on standard output.

    Returns
    -------
    CertifiedInterval
        Valid always; narrow if a solver came near the optimum. A variable without bounds is no obstacle in itself, but where the bound
        fails because of one, `advice` names it.

    Raises
    ------
    InputError
        If the problem is not DCP, has integer or complex variables, none at all, a parameter without a value, or needs another cone;
        if x or z has another length, another argument is invalid, or a solver asked for by name is not there.

    Warns
    -----
    ProofRefusedWarning
        If the checker does not prove an end, which is then infinite: a defect, or a limit of the checker.

    >>> x = cp.Variable(3, nonneg=True)
    >>> model = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, x[0] <= 0.2])
    >>> found = certify(model)
    >>> found.lower <= 0.2 * math.log(5) + 0.8 * math.log(2.5) <= found.upper, found.gap <= 1e-8, found.claim.value
    (True, True, 'model')
    """
    limit = math.inf if time_limit is None else time_limit
    if not (_is_size(gap) and gap < math.inf):
        raise InputError(f"gap: expected a finite number of at least 0, got {brief(gap)}")
    if not _is_size(limit):
        raise InputError(f"time_limit: expected a number of at least 0, got {brief(limit)}")
    started = time.monotonic()
    first, *_ = rungs = ladder(solver)
    model = derived(problem, ranges)
    search = Search(model, gap, started + limit, stop)
    if x is not None or z is not None:
        search.attempt(*first, _given(model.instance, x, z))
        rungs = []
    with talking(verbose):
        for name, settings in rungs:
            if search.done:
                break
            search.attempt(name, settings)
        if search.infeasible:
            search.name_conflict(*first)
        answer = _answer(search, started)
        say(f"certified: {answer}")
    return answer


def _is_size(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and float(value) >= 0.0


def _given(instance: Instance, x: ArrayLike | None, z: ArrayLike | None) -> Answer:
    """Somebody else's numbers, as if a solver had said them."""
    said: list[Floats | None] = []
    for name, value, size in (("x", x, len(instance.c)), ("z", z, len(instance.b))):
        if value is not None and np.shape(value) != (size,):
            raise InputError(f"{name}: expected {size} numbers, got shape {np.shape(value)}")
        said.append(None if value is None else usable({name: (value, (size,))}).get(name))
    return Answer(Attempt("given", "given", None, 0.0, {}, {}), *said)


# ---------------------------------------------------------------- the answer


def _answer(search: Search, started: float) -> CertifiedInterval:
    """Answer of the checker about what was found."""
    model = search.model
    proof, lower, upper = _proved(model, search.lower, search.upper)
    status = _standing(lower, upper)
    low, high = _ends(lower, upper, status)
    refused = (lower, upper) != (search.lower, search.upper)
    z = None if lower is None or lower.z is None else np.array([as_float(x) for x in lower.z])
    found = (
        {} if lower is None or lower.value is not None else conflict(model.parts, model.instance, lower.steps, lower.z)
    )
    ray = {} if upper is None or upper.direction is None else _values(model, upper.direction)
    ray = {name: value for name, value in ray.items() if np.any(value)}
    return CertifiedInterval(
        lower=-high if model.maximises else low,
        upper=-low if model.maximises else high,
        status=status,
        termination=Termination.PROOF_REFUSED if refused else _termination(search, status),
        claim=model.claim,
        rounded=model.rounded,
        values={} if upper is None else _values(model, upper.x),
        multipliers=z,
        duals={} if z is None else {part.name: part.multipliers(z) for part in model.parts if part.rows},
        conflict={name: as_bound(least, upper=False) for name, least in found.items()},
        ray=ray,
        statistics=model.instance.statistics,
        bound_by=None if lower is None else lower.solver,
        point_by=None if upper is None else upper.solver,
        proof=proof,
        advice=_advice(search, status, found, ray),
        attempts=tuple(search.attempts),
        seconds=time.monotonic() - started,
    )


def _values(model: Derived, x: list[fmpq]) -> dict[str, Floats]:
    return model.values(np.array([as_float(value) for value in x]))


def _ends(lower: Lower | None, upper: Upper | None, status: Standing) -> tuple[float, float]:
    """Of the minimisation, rounded outward."""
    if status is Standing.INFEASIBLE:
        return math.inf, math.inf
    if status is Standing.UNBOUNDED:
        return -math.inf, -math.inf
    low = -math.inf if lower is None or lower.value is None else as_bound(lower.value, upper=False)
    high = math.inf if upper is None or upper.value is None else as_bound(upper.value, upper=True)
    return low, high


def _proved(model: Derived, lower: Lower | None, upper: Upper | None) -> tuple[str, Lower | None, Upper | None]:
    """The ends that the checker proves, with the file that it proves them from."""
    choices = [(lower, upper), (lower, None), (None, upper)] if lower and upper else [(lower, upper)]
    for low, high in choices:
        if low is None and high is None:
            break
        text = proof_text(model, low, high)
        verdict = check_interval(text.encode("utf-8", "surrogatepass"))
        if verdict.proved:
            return text, low, high
        warnings.warn(f"the checker refused a proof: {verdict.reason}", ProofRefusedWarning, stacklevel=4)
    return proof_text(model, None, None), None, None


def _standing(lower: Lower | None, upper: Upper | None) -> Standing:
    if lower is not None and lower.value is None:
        return Standing.INFEASIBLE
    if upper is not None and upper.value is None:
        return Standing.UNBOUNDED
    if lower is None:
        return Standing.NOTHING if upper is None else Standing.POINT_ONLY
    return Standing.BOUND_ONLY if upper is None else Standing.INTERVAL


def _termination(search: Search, status: Standing) -> Termination:
    if status is Standing.INFEASIBLE:
        return Termination.INFEASIBLE
    if status is Standing.UNBOUNDED or search.gap <= search.wanted:
        return Termination.GAP_REACHED
    if search.stop():
        return Termination.INTERRUPTED
    late = time.monotonic() >= search.deadline or any(made.hung for made in search.attempts)
    return Termination.TIME_LIMIT if late else Termination.STALLED


def _advice(search: Search, status: Standing, conflict: Mapping[str, fmpq], ray: Mapping[str, Floats]) -> str:
    """Advice about a missing end."""
    if conflict:
        least = [
            f"{name} (by {text_below(as_bound(by, upper=False), 3)} at least)" if by else name
            for name, by in conflict.items()
        ]
        return f"these contradict each other, and one has to give: {'; '.join(least)}"
    if ray:
        return f"bound what goes on for ever: {', '.join(ray)}"
    if status in (Standing.POINT_ONLY, Standing.NOTHING) and search.unpaid:
        model, ranges = search.model, search.known or search.free
        own = [j for j in range(len(search.instance.c)) if model.own(j) and ranges.is_open(j)]
        own = sorted(own, key=lambda j: j not in search.unpaid)  # the likeliest first
        names = ", ".join(search.instance.names[j] for j in (own or search.unpaid)[:5])
        return f"no range is known of {names}: give bounds, in the model or by ranges={{variable: (low, high)}}"
    if status is Standing.BOUND_ONLY:
        return (
            "no point was proved feasible: there may be no inner one; loosen an inequality, or write equalities as such"
        )
    if status is Standing.NOTHING:
        return "no solver brought anything usable (attempts say what each said); try another solver=, or a longer time_limit"
    return ""
