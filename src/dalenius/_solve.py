"""The one door: state a problem, get a certified interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, Unpack, overload

import numpy as np

from cvxcertify.errors import brief
from cvxcertify.talking import talking
from dalenius import alternating, designs
from dalenius._prove import Proposer, prove
from dalenius._verify import Leaves, need_readable
from dalenius.audits import audit_of, audit_within, need_within
from dalenius.audits.bounds.rows import prepared
from dalenius.audits.curve import WholeCurve
from dalenius.audits.entropy_at_least import CurveAudit, EntropyAudit
from dalenius.audits.record_audit import checkpoint_of
from dalenius.errors import InputError, naming
from dalenius.evidence import Certificate, Lower, Upper
from dalenius.exact import Number, as_fraction, as_integer, as_list
from dalenius.model import DesignProblem, MaxInformation, Problem, SecretLeakage, WorstCaseLeakage
from dalenius.outcome import Termination
from dalenius.results import DesignResult, Result, SecretResult
from dalenius.search import (
    Checkpoint,
    Clock,
    LimitOptions,
    Limits,
    Progress,
    Run,
    crew_of,
    need_solver,
    stopped_by_interrupt,
)

METHODS = ("exchange", "alternating")
KNOWN, MOST_KNOWN = 0.125, 2.0**28  # share of the memory that what checks have worked out may take, and bytes


def need_way_to_audit(problem: Problem, method: str | None, solver: str) -> bool:
    """Refuse what an audit has no use for; `InputError`. Whether the way solves programs."""
    if method is None and solver not in ("auto", "own"):
        raise InputError(
            "solver: an audit has programs to solve only where the alternating scheme searches; leave the solver out, or choose "
            f'the method "alternating" (--method alternating), too; got "{solver}"'
        )
    if method not in (None, "alternating"):
        raise InputError(f"method: of an audit expected alternating, or none; got {brief(str(method))}")
    if method is not None and not problem.searched:
        raise InputError(
            "method: against entropy_at_least only is there anything to alternate between; leave it out, the leakage is computed"
        )
    return method is not None and bool(alternating.AlternatingAudit)


def need_way_to_design(problem: DesignProblem, method: str | None, solver: str) -> bool:
    """Refuse what a design has no use for; `InputError`. Whether the way solves programs."""
    if method is not None and method not in METHODS:
        raise InputError(f"method: expected one of {', '.join(METHODS)}; got {brief(method)}")
    if not problem.plain:
        more = "constraints" if problem.constraints else "an objective of several terms"
        if method == "alternating":
            raise InputError(
                f'method: a design with {more} has one method, the exchange; leave it out, got "alternating"'
            )
        if solver == "own" and not is_linear(problem):
            known = more.removeprefix("an ")
            raise InputError(f"solver: our own method knows no {known}; choose another one, or leave it out")
    if is_private(problem) and method is not None:
        raise InputError(f'method: a design under [privacy] has nobody to alternate with; leave it out, got "{method}"')
    if solver != "auto" and is_linear(problem):
        raise InputError(
            f'solver: a design under [privacy] is a linear program, solved exactly; leave it out, got "{solver}"'
        )
    return bool(_exchange(method))


def need_way_to_information(problem: MaxInformation, method: str | None, solver: str) -> bool:
    """Refuse any method or solver; `InputError`. Whether the way solves programs. What takes a second to import is imported."""
    for name, given, none in (("method", method, None), ("solver", solver, "auto")):
        if given != none:
            raise InputError(
                f'{name}: the most information is a linear program over extreme mechanisms; leave it out, got "{given}"'
            )
    _ = _way_to_information(problem)
    return False


def _way_to_information(problem: MaxInformation) -> type[designs.ExtremeProposer | designs.FunnelProposer]:
    """By extreme rays, where they can be listed, else by an envelope."""
    listed = problem.privacy is not None or problem.rays is not None
    return designs.ExtremeProposer if listed else designs.FunnelProposer


def is_private(problem: DesignProblem) -> bool:
    """True if a privacy notion limits the mechanism, and no adversary."""
    return problem.privacy is not None


def is_linear(problem: DesignProblem) -> bool:
    """True if the design is a linear program, which is solved exactly."""
    return is_private(problem) and not problem.constraints and designs.Terms.of(problem).as_distortion is not None


U = TypeVar("U", bound=Upper)
STEPS = 24  # of the curve from below, unless shares are given
ProgressCallback = Callable[[Progress], None]


class _Options(LimitOptions, total=False):
    seed: int
    progress: ProgressCallback | None
    known: Result | DesignResult | Certificate | None
    method: str | None
    solver: str
    memory: int | None
    verbose: bool
    jobs: int
    scheduler: str | None
    curve: bool | Sequence[Number]
    checkpoint: str | Path | None


@overload
def solve(problem: WorstCaseLeakage, **options: Unpack[_Options]) -> Result: ...
@overload
def solve(problem: DesignProblem | MaxInformation, **options: Unpack[_Options]) -> DesignResult: ...
@overload
def solve(
    problem: WorstCaseLeakage | DesignProblem | MaxInformation, **options: Unpack[_Options]
) -> Result | DesignResult: ...
@overload
def solve(problem: SecretLeakage, **options: Unpack[_Options]) -> SecretResult: ...
@overload
def solve(problem: Problem, **options: Unpack[_Options]) -> Result | DesignResult | SecretResult: ...


def solve(
    problem: Problem,
    *,
    gap: float = Limits.gap,
    time_limit: float | None = Limits.time_limit,
    node_limit: int | None = Limits.node_limit,
    memory_limit: float | None = Limits.memory_limit,
    seed: int = 0,
    progress: ProgressCallback | None = None,
    known: Result | DesignResult | Certificate | None = None,
    method: str | None = None,
    solver: str = "auto",
    memory: int | None = None,
    verbose: bool = False,
    jobs: int = 1,
    scheduler: str | None = None,
    curve: bool | Sequence[Number] = False,
    checkpoint: str | Path | None = None,
) -> Result | DesignResult | SecretResult:
    """An interval that the independent checker has proved: the worst-case leakage of a record or secret, or the best mechanism's.

    Parameters
    ----------
    problem : WorstCaseLeakage, SecretLeakage, MinLeakage, MinDistortion or MaxInformation
        The question: an audit, or a design. Where it was read from a model file, the proof is about that very file.
    gap : float
        Stop when (upper - lower) / upper is at most this. Against `ProductPriors` and `PriorSet` the leakage is computed, not searched
        for, and the interval is narrower than this wherever that costs little.
    time_limit : float or None
        Seconds for everything, the proof included, None for no limit: the search leaves to its proof what that is predicted to take
        beyond the leaves that were checked on the way.
        What can be proved in a second is proved, however low the limit is, and an interval that needs no search where that takes up
        to ten seconds.
    node_limit : int or None
        Leaves that the trees of one kind of record may have, None for no limit. A certificate may not have more than 5,000,000 lines.
    memory_limit : float or None
        Mebibytes for everything from the call on, the proof included, roughly; None for no limit. What can be proved in 64 is
        proved, however low the limit is.
    seed : int
        Seed of the search's random starts.
    progress : callable, optional
        Called a few times a second with a `Progress`.
    known : Result, DesignResult or Certificate, optional
        Of an audit: a result for the same release against an `EntropyAtLeast` with no more entropy. Its proof holds here too (every
        bound falls as the entropy grows), so the upper bound will not be above the known one. Refused for other adversaries.
        Of a design: a result for the same design with another budget, whose priors are tried first; refused under [privacy].
    method : {"exchange", "alternating"}
        ``"alternating"``: blocks take turns, each solved and certified (docs/alternating.md). Of an audit against `EntropyAtLeast`:
        the lower end is where the scheme comes to rest, so that neither another letter law nor other conditional laws of all letters
        leak more than the gap more. Of a design: mechanism and adversary. The interval is proved as always; `result.alternating` has
        what every turn proved. Left out: the search of an audit, the ``"exchange"`` of a design.
    solver : {"auto", "own", "clarabel", "mosek", "scs"}
        Who solves the programs of a design, or of the alternating scheme of an audit: a conic solver by way of cvxpy, or ``"own"``,
        the package's own methods. ``"auto"`` is whichever is quickest by measurement (Clarabel, mostly), the other where that
        stalls; MOSEK before both if it is licensed. Whatever a solver answers, the interval is proved; `result.solvers` says which
        one each end rests on.
    memory : int, optional
        Of the alternating scheme of a design: how many of the adversary's priors the mechanism answers, of several a part of the way;
        by default 16, with which it comes to rest near the optimum. 1 is the source paper's scheme, which need not close, and warns
        where it cycles (`dalenius.alternating.CycleWarning`).
    verbose : bool
        Whether the solvers' own logs are shown on standard output, and a line for every stage of the work and every turn of a block.
    jobs : int
        How many processes work on the trees of a long audit (docs/many-cores.md). Limits are for all of them together.
    scheduler : str, optional
        The address of a Dask scheduler whose workers work on them instead (``pip install 'dalenius[dask]'``).
    curve : bool or sequence of numbers
        Of an audit against `EntropyAtLeast`: have the certificate bound the leakage at every entropy bound, not only at the
        problem's own (`LeakageCurve` reads it). From above by lines, if that closes the audit by one; from below by witnesses at
        entropy bounds of these shares of log |X|, below 1, evenly spread ones with True, whatever the `method`, which finds the one
        at the problem's own. Refused for other adversaries and designs.
    checkpoint : str or path, optional
        Of an audit against `EntropyAtLeast`: a file that its state is written into every half minute, and at the end unless the gap
        is reached; where the file is there, the audit goes on from it. Refused for other adversaries, designs and methods, and where
        the file is damaged, or of another model or release.

    Returns
    -------
    Result, SecretResult or DesignResult
        Always an honest interval: a time limit, Ctrl-C (the first one) or a hard instance makes it wider, never wrong. A design also
        hands out a mechanism that meets its budget, whatever stopped the work.

    Raises
    ------
    InputError
        If an argument is invalid, `known`, `method`, `solver`, `curve` or `checkpoint` is not for this kind of problem, or the solver
        is not there.
    DaleniusError
        If nothing can be proved within the limits; it says what that would take. Or if the checker cannot prove anything about the
        model, because it is beyond its own limits (docs/certificate-format.md).

    Warns
    -----
    ProofRefusedWarning
        If the checker refused a proof, and rounding does not explain it. The interval is then wider, and proved all the same.

    Notes
    -----
    From below: joint Blahut-Arimoto from many starts and from the points where the bounds are largest. From above: the capacity of
    the channel, the dual bound with branch and bound on each letter's output law, the vertex bound, and branch and bound on boxes of
    the posterior and, with a dual bound in every box, of the letters' output laws (docs/theory.md; docs/certificate-format.md).
    Against `ProductPriors`: the largest Shannon capacity of the rows that a record's letters select. Against a `PriorSet`: evaluation.
    Designs: exchange. A convex master program over the priors found so far bounds the optimum from below, the adversary answers its
    mechanism with more priors, and the audit bounds what the last mechanism leaks (docs/design.md). Under a privacy notion a design
    is a linear program, solved exactly at its vertex; `seed` and the limits of nodes and memory play no part. With constraints the
    master has all of them, and several adversaries may answer (docs/constraints.md).

    >>> import dalenius as dl
    >>> result = dl.solve(dl.WorstCaseLeakage(
    ...     records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast("1.0 nats")))
    >>> result.lower <= 0.0795415058653 <= result.upper, result.gap < 1e-6
    (True, True)
    """
    _, answer = _way(problem)
    limits = Limits(gap=gap, time_limit=time_limit, node_limit=node_limit, memory_limit=memory_limit)
    if progress is not None and not callable(progress):
        raise InputError(f"progress: expected a callable, or None, got {brief(progress)}")
    need_way(problem, method, solver)
    kept = _memory(problem, memory, method)
    shares = _shares(problem, curve)
    rng = np.random.default_rng(as_integer(seed, "seed", at_least=0))
    clock = Clock(limits.seconds, progress, units=problem.quantity.units)
    file = _checkpoint(problem, checkpoint, method)
    with talking(verbose), crew_of(jobs, scheduler, prepared) as crew, stopped_by_interrupt(clock):
        leaves = Leaves(int(min(KNOWN * limits.least[1], MOST_KNOWN)))
        search = Run(limits, clock, rng, need_solver(solver), kept, crew=crew, checkpoint=file, known=leaves)
        return answer(problem, search, known, method, shares)


Known: TypeAlias = Result | DesignResult | Certificate | None
Shares: TypeAlias = tuple[Fraction, ...] | None


def _audited(problem: WorstCaseLeakage, search: Run, given: Known, method: str | None, shares: Shares) -> Result:
    """Problem 1."""
    need_within(problem, search.limits)
    _need_read(problem)
    known = _certificate(given, Result)
    if known is not None and not problem.searched:
        raise InputError("known: helps against entropy_at_least only, where bounds are searched for; leave it out")
    audit = audit_within(problem, search, plain=method is None and known is None and shares is None)
    if method is not None and isinstance(audit, EntropyAudit):
        audit = alternating.AlternatingAudit(problem, search)
    if known is not None and isinstance(audit, EntropyAudit):
        audit.recall(known)
    if shares is not None and isinstance(audit, EntropyAudit):
        audit.curve = WholeCurve(problem, shares)
        audit = CurveAudit(audit, audit.curve)
    audit.run()
    result: Result = prove(problem, audit, search)
    if search.checkpoint is not None and result.termination is Termination.GAP_REACHED:
        search.checkpoint.remove()
    return result


def _need_read(problem: Problem) -> None:
    """Have the checker read a problem made in Python before any work; a file was read when it was loaded."""
    if problem.written is None:
        need_readable(problem)


def _designed(problem: DesignProblem, search: Run, given: Known, method: str | None, _: Shares) -> DesignResult:
    """Problems 2 and 3."""
    _need_read(problem)
    known = _certificate(given, DesignResult)
    if is_private(problem) and known is not None:
        raise InputError("known: a design under [privacy] has no priors to start from; leave it out")
    search.clock.reserve(min(problem.costs.whole.seconds, 0.9 * search.limits.seconds))
    if not problem.feasible:
        return _made(problem, designs.InfeasibleProposer(problem, search), search)
    if designs.has_only_ratios(problem) or is_linear(problem):
        return _made(problem, designs.LinearDesign(problem, search), search)
    return _made(problem, _exchange(method).of(problem, search, known), search)


def _exchange(method: str | None) -> type[designs.ExchangeProposer]:
    return alternating.AlternatingProposer if method == "alternating" else designs.ExchangeProposer


def _made(problem: Problem, proposer: Proposer[Lower, U, DesignResult], search: Run) -> DesignResult:
    """Prove what a proposer finds."""
    proposer.run()
    return prove(problem, proposer, search)


def _informed(problem: MaxInformation, search: Run, known: Known, method: str | None, _: Shares) -> DesignResult:
    """The most information about something useful."""
    _need_read(problem)
    if known is not None:
        raise InputError("known: the most information is a linear program, which starts from nothing; leave it out")
    return _made(problem, _way_to_information(problem)(problem, search), search)


def _about_secrets(problem: SecretLeakage, search: Run, known: Known, method: str | None, _: Shares) -> SecretResult:
    """The largest information about a secret."""
    _need_read(problem)
    if known is not None:
        raise InputError("known: what is revealed about a secret is computed anew; leave it out")
    audit = audit_of(problem, search)
    search.clock.reserve(min(problem.costs.certain.seconds + audit.checking, 0.9 * search.limits.seconds))
    audit.run()
    return prove(problem, audit, search)


def need_way(problem: Problem, method: str | None, solver: object) -> None:
    """Refuse a method or a solver that `solve` has no use for on this problem, before any work.

    The modelling language, which takes a second to import, is imported here, before any clock starts: no limit is about that.

    Raises
    ------
    InputError
        If `method` or `solver` is invalid or not for this kind of problem, or the solver is not there.
    """
    need, _ = _way(problem)
    if need(problem, method, chosen := need_solver(solver)):
        from dalenius.programs.solvers import order_of

        order_of(chosen)


def _way(problem: Problem) -> tuple[Callable[..., bool], Callable[..., Any]]:
    """Return the way to answer a kind of problem, with what it refuses; `InputError` of anything else."""
    ways: tuple[tuple[type[Problem], Callable[..., bool], Callable[..., Any]], ...] = (
        (WorstCaseLeakage, need_way_to_audit, _audited),
        (SecretLeakage, need_way_to_audit, _about_secrets),
        (DesignProblem, need_way_to_design, _designed),
        (MaxInformation, need_way_to_information, _informed),
    )
    for kind, need, answer in ways:
        if isinstance(problem, kind):
            return need, answer
    kinds = "WorstCaseLeakage, SecretLeakage, MinLeakage, MinDistortion or MaxInformation"
    read = f"; load({brief(problem)}) reads one from a file or the library" if isinstance(problem, str | Path) else ""
    raise InputError(f"problem: expected a {kinds}, got {brief(problem)}{read}")


def _memory(problem: Problem, memory: object, method: str | None) -> int | None:
    """Number of priors that an alternating design is asked to keep; `InputError` where there is none, or of no such number."""
    if memory is not None and (method != "alternating" or not isinstance(problem, DesignProblem)):
        raise InputError('memory: of a design with method="alternating" only are there priors to keep; leave it out')
    return None if memory is None else as_integer(memory, "memory", at_least=1)


def _checkpoint(problem: Problem, path: str | Path | None, method: str | None) -> Checkpoint | None:
    """The checkpoint that an audit goes on from and writes, if it is asked for."""
    if path is None:
        return None
    if not isinstance(path, str | Path):
        raise InputError(f"checkpoint: expected a path, or None, got {brief(path)}")
    if not problem.searched or method is not None:
        raise InputError(
            "checkpoint: an audit against entropy_at_least, without a method, is what takes long enough to have one; leave it out"
        )
    return checkpoint_of(path, problem)


def _shares(problem: Problem, curve: object) -> tuple[Fraction, ...] | None:
    """Entropy bounds for witnesses besides the problem's own; None if the whole curve is not asked for."""
    if curve is False or curve is None:
        return None
    if not isinstance(problem, WorstCaseLeakage):
        raise InputError(
            "curve: only an audit of records varies the entropy bound; leave it out (of a design, audit its mechanism's release)"
        )
    if not problem.searched:
        raise InputError(
            "curve: against entropy_at_least only, where the channel is written out, is there an entropy bound to vary; leave it out"
        )
    if curve is True:
        return tuple(Fraction(j, STEPS) for j in range(STEPS))
    shares = tuple(as_fraction(share, "curve") for share in as_list(curve, "curve"))
    if not all(0 <= share < 1 for share in shares):
        raise InputError(
            f"curve: expected True, or shares of the largest entropy from 0 to below 1; got {brief(curve)}"
        )
    return shares


def _certificate(known: object, kind: type[Result | DesignResult]) -> Certificate | None:
    """Certificate of `known`, which is a result of the same kind as the one that is asked for, or its certificate."""
    if isinstance(known, kind):
        return known.certificate
    if known is None:
        return None
    if isinstance(known, Certificate):
        with naming("known"):
            _ = known.header
        return known
    raise InputError(
        f"known: expected a {kind.__name__} for this problem, its certificate, or None; got {brief(known)}"
    )
