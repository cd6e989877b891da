"""The one door: state a problem, get a certified interval."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from types import FrameType
from typing import Any

import numpy as np

from dalenius.audit import Auditor, Clock, Progress, witness_line
from dalenius.certify import build, round_down, round_up
from dalenius.errors import DaleniusError, InputError
from dalenius.exact import as_integer, brief
from dalenius.problems import MaximalLeakage, digest
from dalenius.problems.mechanisms import MECHANISMS
from dalenius.result import RecordProof, Result, Scope, Termination, Witness, relative_gap
from dalenius.verify import verify

__all__ = ["solve"]

MARGINS = (1e-13, 3e-12, 1e-10, 3e-9, 1e-7)  # outward roundings in nats, tried until the checker agrees


def solve(
    problem: MaximalLeakage,
    *,
    gap: float = 1e-4,
    time_limit: float | None = 60.0,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    known: Result | None = None,
) -> Result:
    """The worst-case leakage of one record, as an interval that the independent checker has proved.

    Parameters
    ----------
    problem : MaximalLeakage
        The question.
    gap : float
        Stop when (upper - lower) / upper is at most this.
    time_limit : float or None
        Seconds for the search, None for no limit. The bounds reached by then are returned; proving them takes a little more.
    seed : int
        Seed of the search's random starts.
    progress : callable, optional
        Called a few times a second with a `Progress`.
    known : Result, optional
        A result for the same release against an adversary with no more entropy. Its proof holds here too (every bound falls as the
        entropy grows), so the upper bound will not be above the known one.

    Returns
    -------
    Result
        Always an honest interval: a time limit, Ctrl-C (the first one) or a hard instance makes it wider, never wrong.

    Raises
    ------
    InputError
        If an argument is invalid.
    DaleniusError
        If the checker cannot prove anything about the model, because it is beyond its limits (docs/certificate-format.md).

    Notes
    -----
    From below: joint Blahut-Arimoto from many starts. From above: the dual bound with branch and bound on each letter's output
    law, the vertex bound, and branch and bound on the posterior with column secants (docs/certificate-format.md proves each).

    >>> import dalenius as dl
    >>> result = dl.solve(dl.MaximalLeakage(
    ...     records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast(1.0)))
    >>> result.lower <= 0.0795415058653 <= result.upper, result.gap < 1e-6
    (True, True)
    """
    if not isinstance(problem, MaximalLeakage):
        raise InputError(f"problem: expected a MaximalLeakage, got {brief(problem)}")
    if not (_is_number(gap) and gap >= 0):
        raise InputError(f"gap: expected a number of at least 0, got {brief(gap)}")
    if time_limit is not None and not (_is_number(time_limit) and time_limit > 0):
        raise InputError(f"time_limit: expected a number of seconds above 0, or None, got {brief(time_limit)}")
    if progress is not None and not callable(progress):
        raise InputError(f"progress: expected a callable, or None, got {brief(progress)}")
    rng = np.random.default_rng(as_integer(seed, "seed", at_least=0))
    clock = Clock(math.inf if time_limit is None else float(time_limit), progress)
    with _stopped_by_interrupt(clock):
        auditor = Auditor(problem.record_channels(), float(gap), clock, rng)
        if known is not None:
            upper = known.upper if known.units == "nats" else math.inf
            auditor.known = {i: (upper, lines) for i, lines in known.certificate.sections().items()}
        auditor.run()
        return _proved(problem, auditor)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _proved(problem: MaximalLeakage, auditor: Auditor) -> Result:
    """Round outward and have the certificate checked; should the checker disagree, round further, and at last retreat."""
    for margin in MARGINS:
        result = _claim(problem, auditor, margin)
        if verify(problem, result.certificate).proved:
            return result
    auditor.retreat()
    result = _claim(problem, auditor, MARGINS[0], witnessed=False)
    verdict = verify(problem, result.certificate)
    if not verdict.proved:
        raise DaleniusError(f"nothing can be proved about this model: {verdict.reason}")
    return result


def _claim(problem: MaximalLeakage, auditor: Auditor, margin: float, *, witnessed: bool = True) -> Result:
    """What the audit found, rounded outward by `margin`, with its certificate, not yet checked."""
    best = max(auditor.records, key=lambda record: record.candidate.leakage, default=None)
    p, leakage = best.witness(margin) if best and witnessed else (None, 0.0)
    lower = max(round_down(leakage - margin), 0.0)
    upper = max(round_up(auditor.upper + margin), lower) if auditor.records else 0.0
    body: list[list[Any]] = [["witness", None, None]]
    witness = None
    if best is not None and lower > 0.0:
        body = [witness_line(best.channel, p)]
        masses = best.channel.expand_inputs(p if p is not None else best.channel.uniform)
        witness = Witness(best.channel.record, masses, _inputs(problem))
    for record in auditor.records:
        body += [["record", record.channel.record], *record.proof]
    resolved = None
    if problem.mechanism.kind not in MECHANISMS:
        resolved = (problem.mechanism.indexed_by(), problem.channel.tolist())
    certificate = build(
        problem=problem.kind,
        digest=digest(problem),
        lower=lower,
        upper=upper,
        producer=_producer(),
        body=body,
        resolved=resolved,
    )
    return Result(
        lower=lower,
        upper=upper,
        record=best.channel.record if best else None,
        witness=witness,
        termination=_termination(auditor, relative_gap(lower, upper)),
        scope=Scope.GLOBAL,
        certificate=certificate,
        seconds=auditor.clock.seconds,
        records=tuple(RecordProof(r.channel.record, r.channel.times, r.method, r.leaves) for r in auditor.records),
    )


def _termination(auditor: Auditor, gap: float) -> Termination:
    if gap <= auditor.gap:
        return Termination.GAP_REACHED
    if auditor.clock.stopped:
        return Termination.INTERRUPTED
    return Termination.TIME_LIMIT if auditor.out_of_time else Termination.STALLED


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
