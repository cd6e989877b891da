"""The one door: state a problem, get a certified interval."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from dalenius._verify import verify
from dalenius.audits import Audit, Auditor, Finding, audit_of
from dalenius.errors import DaleniusError, InputError
from dalenius.evidence import build, exact_fraction_above, round_down, round_up, short_text
from dalenius.exact import as_integer, brief
from dalenius.model import DesignProblem, MaximalLeakage, MinDistortion, MinLeakage, Problem, digest
from dalenius.model.mechanisms import MECHANISMS
from dalenius.outcome import Scope, Termination
from dalenius.results import DesignResult, RecordProof, Result, Witness, relative_gap
from dalenius.search.clock import Clock, Progress

if TYPE_CHECKING:
    from dalenius.designs.exchange import Exchange

__all__ = ["solve"]

METHODS = ("exchange", "alternating")
MARGINS = (1e-13, 3e-12, 1e-10, 3e-9, 1e-7)  # outward roundings in nats, tried until the checker agrees
ROUGH_MARGINS = (3e-6, 1e-4, 3e-3, 0.1)  # relative ones, for bounds whose multipliers doubles cannot hold any better


class _Most(NamedTuple):
    """Leaves and bytes that an audit's trees may take."""

    nodes: float
    bytes: float


@overload
def solve(
    problem: MaximalLeakage,
    *,
    gap: float = ...,
    time_limit: float | None = ...,
    node_limit: int | None = ...,
    memory_limit: float | None = ...,
    seed: int = ...,
    progress: Callable[[Progress], None] | None = ...,
    known: Result | DesignResult | None = ...,
    method: str = ...,
) -> Result: ...


@overload
def solve(
    problem: DesignProblem,
    *,
    gap: float = ...,
    time_limit: float | None = ...,
    node_limit: int | None = ...,
    memory_limit: float | None = ...,
    seed: int = ...,
    progress: Callable[[Progress], None] | None = ...,
    known: Result | DesignResult | None = ...,
    method: str = ...,
) -> DesignResult: ...


@overload
def solve(
    problem: Problem,
    *,
    gap: float = ...,
    time_limit: float | None = ...,
    node_limit: int | None = ...,
    memory_limit: float | None = ...,
    seed: int = ...,
    progress: Callable[[Progress], None] | None = ...,
    known: Result | DesignResult | None = ...,
    method: str = ...,
) -> Result | DesignResult: ...


def solve(
    problem: Problem,
    *,
    gap: float = 1e-4,
    time_limit: float | None = 60.0,
    node_limit: int | None = 1_000_000,
    memory_limit: float | None = 4096.0,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    known: Result | DesignResult | None = None,
    method: str = "exchange",
) -> Result | DesignResult:
    """An interval that the independent checker has proved: the worst-case leakage of one record, or the best mechanism's.

    Parameters
    ----------
    problem : MaximalLeakage, MinLeakage or MinDistortion
        The question: an audit, or a design.
    gap : float
        Stop when (upper - lower) / upper is at most this. Against `ProductPriors` and `PriorSet` the leakage is computed, not searched
        for, and the interval is narrower than this wherever that costs little.
    time_limit : float or None
        Seconds for the search, None for no limit. The bounds reached by then are returned; proving them takes a little more.
    node_limit : int or None
        Leaves that the trees of one kind of record may have, None for no limit. A certificate may not have more than 5,000,000 lines.
    memory_limit : float or None
        Mebibytes that all trees may take, roughly, None for no limit.
    seed : int
        Seed of the search's random starts.
    progress : callable, optional
        Called a few times a second with a `Progress`.
    known : Result or DesignResult, optional
        Of an audit: a result for the same release against an `EntropyAtLeast` with no more entropy. Its proof holds here too (every
        bound falls as the entropy grows), so the upper bound will not be above the known one. Not used against other adversaries.
        Of a design: a result for the same design with another budget, whose priors are tried first.
    method : {"exchange", "alternating"}
        For designs. ``"alternating"`` is the source paper's scheme, the exchange with a memory of one prior: its interval is proved,
        too, but need not close, and it warns (`dalenius.alternating.CycleWarning`) where it cycles.

    Returns
    -------
    Result, or DesignResult
        Always an honest interval: a time limit, Ctrl-C (the first one) or a hard instance makes it wider, never wrong. A design also
        hands out a mechanism that meets its budget, whatever stopped the work.

    Raises
    ------
    InputError
        If an argument is invalid.
    DaleniusError
        If the checker cannot prove anything about the model, because it is beyond its limits (docs/certificate-format.md).

    Notes
    -----
    From below: joint Blahut-Arimoto from many starts and from the points where the bounds are largest. From above: the capacity of
    the channel, the dual bound with branch and bound on each letter's output law, the vertex bound, and branch and bound on boxes of
    the posterior and, with a dual bound in every box, of the letters' output laws (docs/theory.md; docs/certificate-format.md).
    Against `ProductPriors`: the largest Shannon capacity of the rows that a record's letters select. Against a `PriorSet`: evaluation.
    Designs: exchange. A convex master program over the priors found so far bounds the optimum from below, the adversary answers its
    mechanism with more priors, and the audit bounds what the last mechanism leaks (docs/design.md). Under a privacy notion a design
    is a linear program, solved exactly at its vertex; `known`, `seed` and the limits of nodes and memory play no part.

    >>> import dalenius as dl
    >>> result = dl.solve(dl.MaximalLeakage(
    ...     records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast(1.0)))
    >>> result.lower <= 0.0795415058653 <= result.upper, result.gap < 1e-6
    (True, True)
    """
    if not isinstance(problem, MaximalLeakage | DesignProblem):
        raise InputError(f"problem: expected a MaximalLeakage, MinLeakage or MinDistortion, got {brief(problem)}")
    if not (_is_number(gap) and gap >= 0):
        raise InputError(f"gap: expected a number of at least 0, got {brief(gap)}")
    for name, limit, what in (
        ("time_limit", time_limit, "seconds"),
        ("node_limit", node_limit, "leaves"),
        ("memory_limit", memory_limit, "mebibytes"),
    ):
        if limit is not None and not (_is_number(limit) and limit > 0):
            raise InputError(f"{name}: expected a number of {what} above 0, or None, got {brief(limit)}")
    if progress is not None and not callable(progress):
        raise InputError(f"progress: expected a callable, or None, got {brief(progress)}")
    if method not in METHODS:
        raise InputError(f"method: expected one of {', '.join(METHODS)}; got {brief(method)}")
    rng = np.random.default_rng(as_integer(seed, "seed", at_least=0))
    clock = Clock(math.inf if time_limit is None else float(time_limit), progress)
    most = _Most(
        math.inf if node_limit is None else node_limit, math.inf if memory_limit is None else memory_limit * 2**20
    )
    with _stopped_by_interrupt(clock):
        if isinstance(problem, DesignProblem):
            return _designed(problem, float(gap), clock, rng, most, method, known)
        audit = audit_of(problem, float(gap), clock, rng)
        if isinstance(audit, Auditor):
            audit.node_limit, audit.memory_limit = most
            if isinstance(known, Result):
                upper = known.upper if known.units == "nats" else math.inf
                audit.known = {i: (upper, lines) for i, lines in known.certificate.sections().items()}
        audit.run()
        return _proved(problem, audit)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _proved(problem: MaximalLeakage, audit: Audit) -> Result:
    """Round outward and have the certificate checked; should the checker disagree, round further, and at last retreat."""
    for margin in MARGINS:
        result = _claim(problem, audit, audit.finding(margin), margin)
        if verify(problem, result.certificate).proved:
            return result
    audit.retreat()
    result = _claim(problem, audit, audit.finding(MARGINS[0], witnessed=False), MARGINS[0])
    verdict = verify(problem, result.certificate)
    if not verdict.proved:
        raise DaleniusError(f"nothing can be proved about this model: {verdict.reason}")
    return result


def _claim(problem: MaximalLeakage, audit: Audit, found: Finding, margin: float) -> Result:
    """What the audit found, rounded outward by `margin`, with its certificate, not yet checked."""
    lower = max(round_down(found.leakage - margin), 0.0)
    upper = max(round_up(found.upper + margin), lower) if found.record is not None else 0.0
    witness = None
    if found.record is not None and found.masses is not None and lower > 0.0:
        witness = Witness(found.record, found.masses, _inputs(problem), found.prior)
    more: dict[str, Any] = {}
    if problem.mechanism.kind not in MECHANISMS:
        rows = [[short_text(weight) for weight in row] for row in problem.channel.tolist()]
        more["resolved"] = {"inputs": problem.mechanism.indexed_by(), "rows": rows}
    certificate = build(
        problem=problem.kind,
        digest=digest(problem),
        lower=lower,
        upper=upper,
        producer=_producer(),
        body=[found.witness if witness else ["witness", None, None], *found.sections],
        **more,
    )
    return Result(
        lower=lower,
        upper=upper,
        record=found.record,
        witness=witness,
        termination=_termination(audit, relative_gap(lower, upper)),
        scope=Scope.GLOBAL,
        certificate=certificate,
        seconds=audit.clock.seconds,
        records=tuple(RecordProof(part.record, part.times, part.method, part.leaves) for part in found.parts),
        trace=tuple(audit.clock.trace),
    )


def _termination(audit: Audit, gap: float) -> Termination:
    if gap <= audit.gap:
        return Termination.GAP_REACHED
    if audit.clock.stopped:
        return Termination.INTERRUPTED
    if audit.out_of_time:
        return Termination.TIME_LIMIT
    return Termination.SIZE_LIMIT if audit.out_of_room else Termination.STALLED


def _designed(
    problem: DesignProblem,
    gap: float,
    clock: Clock,
    rng: np.random.Generator,
    most: _Most,
    method: str,
    known: Result | DesignResult | None = None,
) -> DesignResult:
    """The exchange, then its certificate: the bound from below, and the proof about the mechanism handed out."""
    from dalenius.alternating.mechanism_scheme import alternating
    from dalenius.designs.exchange import exchange  # it brings the modelling language, which takes a second to import

    private = isinstance(problem, MinDistortion) and problem.privacy is not None
    if private and method != METHODS[0]:
        raise InputError(f'method: a design under [privacy] has nobody to alternate with; leave it out, got "{method}"')
    if not problem.feasible:
        return _infeasible(problem, clock)
    if isinstance(problem, MinDistortion) and private:
        return _private(problem, gap, clock)
    run = exchange(problem, gap, clock, rng, *most)
    if isinstance(known, DesignResult):
        run.recall(known.certificate)
    if method == "alternating":
        alternating(run)
    else:
        run.run()
    for _ in run.outcomes():
        audit = _proved(problem.release(run.rows), run.audit)
        for lower in _lower_claims(problem, run):
            result = _design(problem, run, audit, lower)
            verdict = verify(problem, result.certificate)
            if verdict.proved:
                return result
    raise DaleniusError(f"nothing can be proved about this design: {verdict.reason}")


def _lower_claims(problem: DesignProblem, run: Exchange) -> Iterator[float]:
    """What may be claimed from below, rounded down ever further until the checker agrees, which refuses quickly."""
    unit = _distortion_unit(problem)
    found = min(run.lower, run.provable()) / unit
    for margin in (*MARGINS, *ROUGH_MARGINS) if found > 0.0 else ():
        yield max(round_down(found - margin * (1.0 + found)), 0.0) * unit
    yield 0.0


def _distortion_unit(problem: DesignProblem) -> float:
    """A power of 2 of the size of the largest distortion, which claims about distortions are rounded in; 1 for leakage."""
    largest = float(problem.cost.max())
    return 1.0 if isinstance(problem, MinLeakage) or not largest else math.ldexp(1.0, math.frexp(largest)[1])


def _distortion_above(distortion: Fraction, unit: float) -> float:
    """A double that is at least this distortion, and not so small that its digits cannot be written."""
    step = unit * 2.0**-150
    above = exact_fraction_above(distortion)
    return above if above >= step * 2.0**53 else math.ceil(distortion / Fraction(step)) * step


def _distortion_below(distortion: Fraction, unit: float) -> float:
    """A double that is at most this distortion, with digits that can be written."""
    step = unit * 2.0**-150
    below = 0.0 - exact_fraction_above(-distortion)
    return below if below >= step * 2.0**53 else math.floor(distortion / Fraction(step)) * step


def _design(problem: DesignProblem, run: Exchange, audit: Result, lower: float) -> DesignResult:
    """What the exchange found, with its certificate, not yet checked."""
    distortion = problem.expected_distortion(run.rows)
    constant = run.constant_rows(run.rows)
    upper = _distortion_above(distortion, _distortion_unit(problem))
    silent = constant and problem.budget == 0
    if isinstance(problem, MinLeakage):
        upper = 0.0 if constant else audit.upper
        silent = constant
    lower = min(lower, upper)
    certificate = build(
        problem=problem.kind,
        digest=digest(problem),
        lower=lower,
        upper=upper,
        producer=_producer(),
        unit=problem.unit,
        mechanism=run.row_texts(),
        body=[*(run.lines() if lower > 0.0 else [["dual", None]]), *([] if silent else audit.certificate.proof())],
    )
    gap = relative_gap(lower, upper)
    return DesignResult(
        lower=lower,
        upper=upper,
        mechanism=problem.designed(run.rows),
        audit=audit,
        distortion=distortion,
        termination=Termination.GAP_REACHED if gap <= run.gap else run.termination,
        scope=Scope.GLOBAL,
        certificate=certificate,
        seconds=run.clock.seconds,
        rounds=run.rounds,
        unit=problem.unit,
        explanation=tuple(run.orbits.explain()),
        trace=tuple(run.clock.trace),
    )


def _private(problem: MinDistortion, gap: float, clock: Clock) -> DesignResult:
    """A design under a privacy notion: a linear program, and its certificate."""
    from dalenius.designs.linear import LinearDesign, writable

    run = LinearDesign(problem, gap, clock)
    run.run()
    unit = _distortion_unit(problem)
    upper = _distortion_above(run.upper, unit)
    lower = _distortion_below(run.lower, unit)
    exact = run.lower == run.upper and writable([run.lower])
    certificate = build(
        problem=problem.kind,
        digest=digest(problem),
        lower=run.lower if exact else Fraction(lower),
        upper=run.upper if exact else Fraction(upper),
        producer=_producer(),
        unit=problem.unit,
        mechanism=run.row_texts(),
        body=run.lines() if lower > 0.0 else [["dual", None]],
    )
    verdict = verify(problem, certificate)
    if not verdict.proved:
        raise DaleniusError(f"nothing can be proved about this design: {verdict.reason}")
    return DesignResult(
        lower=lower,
        upper=upper,
        mechanism=problem.designed(run.rows),
        audit=None,
        distortion=run.upper,
        termination=Termination.GAP_REACHED if relative_gap(lower, upper) <= gap else run.termination,
        scope=Scope.GLOBAL,
        certificate=certificate,
        seconds=clock.seconds,
        rounds=run.rounds,
        unit=problem.unit,
        level=problem.privacy_level(run.rows),
        trace=tuple(clock.trace),
    )


def _infeasible(problem: DesignProblem, clock: Clock) -> DesignResult:
    """The proof that no mechanism meets the budget."""
    certificate = build(
        problem=problem.kind,
        digest=digest(problem),
        lower=None,
        upper=None,
        producer=_producer(),
        unit=problem.unit,
        mechanism=None,
        body=[],
    )
    verdict = verify(problem, certificate)
    if not verdict.proved:
        raise DaleniusError(f"nothing can be proved about this design: {verdict.reason}")
    return DesignResult(
        lower=math.inf,
        upper=math.inf,
        mechanism=None,
        audit=None,
        distortion=None,
        termination=Termination.INFEASIBLE,
        scope=Scope.GLOBAL,
        certificate=certificate,
        seconds=clock.seconds,
        unit=problem.unit,
    )


def _inputs(problem: MaximalLeakage) -> tuple[int, ...]:
    if problem.mechanism.indexed_by() == "dataset":
        return tuple(range(problem.records.datasets))
    return tuple(problem.query.values(problem.records).tolist())


def _producer() -> str:
    try:
        return f"dalenius {version('dalenius')}"
    except PackageNotFoundError:
        return "dalenius"


@contextmanager
def _stopped_by_interrupt(clock: Clock) -> Iterator[None]:
    """The first Ctrl-C stops the clock, so that the bounds reached are returned; the second one is an interrupt as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        clock.stop()
        signal.signal(signal.SIGINT, previous)

    previous = signal.getsignal(signal.SIGINT)
    if not callable(previous):
        yield
        return
    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
