"""The one place that proves: it rounds outward, has the evidence encoded and the checker prove it, and keeps every refusal."""

from __future__ import annotations

import itertools
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from time import thread_time
from typing import Generic, Protocol, TypeVar, runtime_checkable

from dalenius._verify import Verdict, leaves, model_file, verify
from dalenius.errors import DaleniusError, ProofRefusedWarning
from dalenius.evidence import (
    CERTAIN,
    QUICK,
    Certificate,
    CurveClaim,
    Header,
    Lower,
    Upper,
    claim_text,
    drafts,
    matrix_text,
)
from dalenius.evidence.lower import WitnessLine
from dalenius.evidence.upper import UpperLine
from dalenius.model import Problem, digest
from dalenius.outcome import Refusal, Termination
from dalenius.search import PROVING, Run
from dalenius.search.crew import Crew
from dalenius.search.run import CERTAIN_SECONDS, LEAST_BYTES, LEAST_SECONDS
from dalenius.version import PRODUCER

L = TypeVar("L", bound=Lower)
U = TypeVar("U", bound=Upper)
E = TypeVar("E", bound=Lower | Upper)
L_co = TypeVar("L_co", bound=Lower, covariant=True)
R_co = TypeVar("R_co", covariant=True)
logger = logging.getLogger("dalenius")
CERTAIN_ROOM = 4.0  # times what the ends that need no search should take: if they are not proved, nothing is
GRACE = 0.1  # share of the time limit that a proof may take once it is passed
HELD = 0.3  # share of what proofs have after a stop that a long one leaves to others
LITTLE = 0.1  # share of it that a short proof from above leaves to the witness of a lower end
WAITING = 0.5  # share of what is left that is kept from others who work out leaves: what they have not told is worked out here
ALLOWED = {"seconds": Termination.TIME_LIMIT, "memory": Termination.SIZE_LIMIT}  # what a check had too little of
ALL = "1e300"  # an upper end that a draft claims: it is about leaves, and not about that
SLOW = " for the check, which needs more: raise time_limit"


@dataclass(frozen=True)
class Proved(Generic[L, U]):
    """An interval that the checker has proved, where its ends come from, and what was refused on the way.

    `lower` and `upper` are doubles, rounded outward from what the certificate claims; infinite where nothing is feasible, `upper`
    alone where no mechanism is shown.
    """

    certificate: Certificate
    lower: float
    upper: float
    lower_end: L
    upper_end: U
    refusals: tuple[Refusal, ...] = ()

    @property
    def doubted(self) -> bool:
        """True if a proof was refused that neither rounding nor a limit explains."""
        return not all(refusal.rounding or refusal.limit for refusal in self.refusals)

    @property
    def limit(self) -> Termination | None:
        """The limit that kept an end from being proved, if there is one."""
        return next((refusal.limit for refusal in self.refusals if refusal.limit), None)


class Proposer(Protocol[L, U, R_co]):
    """A way to an answer: it searches, then proposes claims with their evidence. What is true is for the checker to say."""

    def run(self) -> None:
        """Search until the gap is reached or a limit is met."""

    def lowers(self) -> Iterator[L]:
        """Lower ends, the best first; the last one needs no search and is certain."""

    def uppers(self) -> Iterator[U]:
        """Upper ends, the best first; the last one needs no search and is certain."""

    def result(self, proved: Proved[L, U]) -> R_co:
        """The answer, once it is proved."""


@runtime_checkable
class Assured(Protocol[L_co]):
    """A way to an answer that has its last lower end, a `CERTAIN` one, without the others, which may take seconds to write down."""

    def certain_lower(self) -> L_co:
        """The last of `lowers`."""


@runtime_checkable
class Anytime(Protocol[L, U]):
    """A way to an answer that has been proved while it was found, but for the last steps."""

    @property
    def standing(self) -> Proved[L, U] | None:
        """The last interval that was proved (`proved_so_far`)."""


def proved_so_far(problem: Problem, lowers: Iterator[L], uppers: Iterator[U], search: Run) -> Proved[L, U] | None:
    """The best ends of a search that goes on, if they are proved in the time that it has."""
    return _together(_Desk(problem, search), _Lazy(lowers), _Lazy(uppers))


def prove(problem: Problem, proposer: Proposer[L, U, R_co], search: Run | None = None) -> R_co:
    """The answer with the best ends that the checker proves, as `proved_ends` says."""
    return proposer.result(proved_ends(problem, proposer, search))


def proved_ends(problem: Problem, proposer: Proposer[L, U, object], search: Run | None = None) -> Proved[L, U]:
    """The best ends that the checker proves; each end retreats on its own.

    Parameters
    ----------
    problem : Problem
        What the certificate will be about.
    proposer : Proposer
        It has run.
    search : Run, optional
        Whose limits the proof is within. Once they are passed only ends with short proofs are tried, and the last ones.

    Raises
    ------
    DaleniusError
        If not even the ends that need no search are proved: the model is beyond the limits, or the checker's own.

    Warns
    -----
    ProofRefusedWarning
        If a proof was refused that neither rounding nor a limit explains.
    """
    desk = _Desk(problem, search)
    lowers, uppers = _Lazy(proposer.lowers()), _Lazy(proposer.uppers())
    standing = proposer.standing if isinstance(proposer, Anytime) else None
    together = None
    if not desk.spent:
        same = standing is not None and uppers[0] is standing.upper_end and lowers[0] == standing.lower_end
        together = standing if same else _together(desk, lowers, uppers)  # if nothing was found since
    if standing is not None and (desk.late if together is None else standing.upper < together.upper):
        together = replace(standing, refusals=tuple(desk.beyond))
    proved = together or _apart(desk, _certain(proposer, lowers), lowers, uppers)
    if together is None and standing is not None and standing.upper - standing.lower < proved.upper - proved.lower:
        proved = replace(standing, refusals=proved.refusals)  # for want of memory, say
    for refusal in proved.refusals:
        expected = refusal.rounding or refusal.limit
        logger.log(logging.DEBUG if expected else logging.WARNING, "%s: refused: %s", problem.in_models, refusal)
    if proved.doubted:
        first = next(refusal for refusal in proved.refusals if not (refusal.rounding or refusal.limit))
        warnings.warn(f"the checker refused a proof: {first}", ProofRefusedWarning, stacklevel=4)
    return proved


def draft(problem: Problem, search: Run, lines: Iterable[UpperLine]) -> None:
    """Have leaves of a proof that is not finished worked out, within the search's time, so that they are known to its check."""
    _Desk(problem, search).draft(lines)


def _certain(proposer: Proposer[L, U, R_co], lowers: _Lazy[L]) -> L:
    """The last lower end; the others are made only where there is no other way to it."""
    return proposer.certain_lower() if isinstance(proposer, Assured) else list(lowers)[-1]


def _together(desk: _Desk, lowers: _Lazy[L], uppers: _Lazy[U]) -> Proved[L, U] | None:
    """Both first candidates, rounded ever further, until they are proved; None if that does not help."""
    lower, upper, refused = lowers[0], uppers[0], list[tuple[U, Refusal]]()
    for k in itertools.count(1):
        certificate, verdict = desk.check(lower, upper)
        if desk.accepts(verdict):
            refusals = [replace(refusal, rounding=_rounded_to(end, upper)) for end, refusal in refused]
            return _proved(certificate, lower, upper, refusals)
        refused.append((upper, _refusal("both", certificate, verdict, rounding=True)))
        if not _rounding_may_help(verdict):
            break
        next_lower, next_upper = lowers.of_candidate(lower.candidate, k), uppers.of_candidate(upper.candidate, k)
        if next_lower is None and next_upper is None:
            break
        lower, upper = next_lower or lower, next_upper or upper
    return None


def _apart(desk: _Desk, certain: L, lowers: _Lazy[L], uppers: _Lazy[U]) -> Proved[L, U]:
    """The best upper end that is proved beside the certain lower one, then the best lower end that is proved beside that."""
    tried = list[tuple[Lower | Upper, Refusal]]()
    certificate, upper = _first_proved(desk, [certain], uppers, tried)
    best, lower = certificate, certain
    for candidate in _worth_a_check(desk, certain, lowers):
        certificate, verdict = desk.check(candidate, upper)
        if desk.accepts(verdict):
            best, lower = certificate, candidate
            break
        tried.append((candidate, _refusal("lower", certificate, verdict, rounding=False)))
    refusals = [
        replace(refusal, rounding=end.doubtful or _rounded_to(end, lower if isinstance(end, Lower) else upper))
        for end, refusal in tried
        if refusal.limit is None
    ]
    return _proved(best, lower, upper, [*desk.beyond, *refusals])


def _worth_a_check(desk: _Desk, certain: L, lowers: _Lazy[L]) -> Iterable[L]:
    """The lower ends that need a search; where it is late one alone: the first that rounding cannot refute."""
    searched = itertools.takewhile(lambda end: end.candidate != certain.candidate, lowers)
    if not desk.late:
        return searched
    chosen = list[L]()
    for end in searched:
        chosen = [end]
        if not end.doubtful:
            break
    return chosen


def _first_proved(
    desk: _Desk, lowers: Sequence[L], uppers: _Lazy[U], tried: list[tuple[Lower | Upper, Refusal]]
) -> tuple[Certificate, U]:
    """The first upper end that is proved beside the certain lower one."""
    hopeless: int | None = None  # a candidate that rounding will not help
    reason = "there is nothing to prove"
    for k, upper in enumerate(uppers):
        later = uppers.get(k + 1) if desk.late and upper.candidate < QUICK else None
        known = later is not None and later.value is not None
        if upper.value is not None and (upper.candidate == hopeless or known):
            continue
        certificate, verdict = desk.check(lowers[0], upper)
        if desk.accepts(verdict):
            return certificate, upper
        tried.append((upper, _refusal("upper", certificate, verdict, rounding=False)))
        reason = verdict.reason + (SLOW if verdict.allowed == "seconds" else "")
        hopeless = None if _rounding_may_help(verdict) else upper.candidate
    raise DaleniusError(
        f"nothing can be proved about this {'model' if desk.problem.task == 'audit' else 'design'}: {reason}"
    )


def _rounded_to(refused: Lower | Upper, proved: Lower | Upper) -> bool:
    """True if they differ by rounding only: claims about the whole curve that are given up are more than that."""
    given_up = isinstance(refused, Upper) and isinstance(proved, Upper) and bool(refused.above) and not proved.above
    return refused.candidate == proved.candidate and not given_up


def _rounding_may_help(verdict: Verdict) -> bool:
    """Not against the checker's limits, nor where it cannot read the model."""
    return verdict.status.value == "rejected" or verdict.cause == "precision"


def _proved(certificate: Certificate, lower: L, upper: U, refusals: Sequence[Refusal]) -> Proved[L, U]:
    low, high = (inf if end is None else end for end in (lower.rounded, upper.rounded))
    return Proved(certificate, min(low, high), high, lower, upper, tuple(refusals))


def _refusal(end: str, certificate: Certificate, verdict: Verdict, *, rounding: bool) -> Refusal:
    header = certificate.header
    return Refusal(
        end,
        header.lower,
        header.upper,
        f"{verdict.status.value}: {verdict.reason}",
        rounding,
        _limit(verdict),
    )


def _limit(verdict: Verdict) -> Termination | None:
    """Limit that the check ran into, if any: what it was allowed, or what the checker allows at all."""
    return ALLOWED.get(verdict.allowed, Termination.STALLED) if verdict.cause == "limit" else None


def _of_work(seconds: float) -> Callable[[], float]:
    """Rest of so many seconds of this thread's own work: other work on the machine takes nothing from them."""
    until = thread_time() + seconds
    return lambda: until - thread_time()


class _Lazy(Generic[E]):
    """Ends that are made one by one, when they are asked for: millions of digits, or an audit, may stand behind each."""

    def __init__(self, ends: Iterator[E]) -> None:
        self._ends, self._known = ends, list[E]()

    def get(self, k: int) -> E | None:
        while len(self._known) <= k:
            end = next(self._ends, None)
            if end is None:
                return None
            self._known.append(end)
        return self._known[k]

    def of_candidate(self, candidate: int, k: int) -> E | None:
        """End k, if it is there and differs from those of this candidate by rounding only."""
        end = self.get(k)
        return end if end is not None and end.candidate == candidate else None

    def __getitem__(self, k: int) -> E:
        end = self.get(k)
        if end is None:
            raise IndexError(k)
        return end

    def __iter__(self) -> Iterator[E]:
        k = 0
        while (end := self.get(k)) is not None:
            yield end
            k += 1


class _Desk:
    """Writes certificates about one problem and hands them to the checker."""

    def __init__(self, problem: Problem, search: Run | None) -> None:
        self.problem, self._search = problem, search
        self.beyond = list[Refusal]()  # of proofs that took all that they were given, or more than the checker takes
        self._header = Header(
            problem=problem.kind,
            model=digest(problem),
            lower=None,
            upper=None,
            unit=problem.quantity.units,
            producer=PRODUCER,
            resolved=_resolved(problem),
        )

    def draft(self, lines: Iterable[UpperLine]) -> None:
        """Have the checker work out leaves, as long as the search goes on."""
        assert self._search is not None
        clock, certificate = self._search.clock, self._begun(lines)
        if (crew := self._search.crew) is not None and crew.hands > 1:
            self._hire(crew, certificate, 1)
            return
        verify(
            self.problem,
            certificate,
            resolved=self._own,
            seconds=inf,
            memory=self._mebibytes,
            spared=lambda: 0.0 if clock.expired else inf,
            known=self._search.known,
            draft=True,
        )

    def _begun(self, lines: Iterable[UpperLine]) -> Certificate:
        """A draft of a proof that nothing leaks more than whatever there is."""
        return Certificate.of(replace(self._header, lower="0", upper=ALL), (WitnessLine(None, None),), lines)

    def _hire(self, crew: Crew, certificate: Certificate, lower: int) -> None:
        """Have those who work on the trees work out leaves that nobody was hired for, each a share.

        So many lines are of the lower end, which is nobody else's matter in an audit.
        """
        head, lines = "", certificate.text.splitlines()
        if self.problem.task == "audit":
            head, lines = self._begun(()).text, lines[1 + lower :]
        allowed = {"seconds": self._seconds(certain=False), "memory": self._mebibytes / crew.hands}
        for draft in drafts(lines, crew.sent, crew.hands):
            crew.hire(leaves, model_file(self.problem).data, head + draft, PRODUCER, resolved=self._own, **allowed)

    def _share(self, certificate: Certificate, lower: int) -> None:
        """Have those who work on the trees work out what they have not yet, and take what they tell."""
        search = self._search
        if search is None or search.crew is None or search.known is None or search.crew.hands == 1:
            return
        if left := max(search.clock.left, 0.0):
            self._hire(search.crew, certificate, lower)
        spare = WAITING * (PROVING if left == inf or search.clock.interrupted else left)  # once in all after a stop
        for told in search.crew.results(lambda: search.clock.left > spare, search.clock):
            search.known.take(told)

    def check(self, lower: Lower, upper: Upper) -> tuple[Certificate, Verdict]:
        """The certificate that claims these ends, and the checker's verdict on it."""
        low, high = lower.claim, upper.claim
        low = low if low is None or high is None else min(low, high)
        header = replace(
            self._header,
            lower=None if low is None else claim_text(low),
            upper=None if high is None else claim_text(high),
            mechanism=upper.mechanism,
            curve=CurveClaim(upper.above, tuple((step.entropy, step.low) for step in lower.below))
            if upper.above
            else None,
            terms=upper.terms,
        )
        steps = (step.witness for step in lower.below if upper.above)
        below = (*lower.lines, *steps)
        certificate = Certificate.of(header, below, upper.lines)
        self._share(certificate, len(below))
        verdict = self._verdict(certificate, lower, upper)
        if _limit(verdict):
            end = "lower" if upper.candidate == CERTAIN else "upper" if lower.candidate == CERTAIN else "both"
            self.beyond.append(_refusal(end, certificate, verdict, rounding=False))
        return certificate, verdict

    def _verdict(self, certificate: Certificate, lower: Lower, upper: Upper) -> Verdict:
        """Within the time that there is for these ends."""
        certain = lower.candidate == upper.candidate == CERTAIN
        stopped = None if self._search is None else partial(self._spared, upper)
        seconds = self._seconds(certain=certain)
        return verify(
            self.problem,
            certificate,
            resolved=self._own,
            seconds=inf if certain else seconds,
            memory=self._mebibytes,
            spared=_of_work(seconds) if certain else stopped,
            known=None if self._search is None else self._search.known,
        )

    def accepts(self, verdict: Verdict) -> bool:
        """True if this proves the answer: about the model; for a mechanism of the user's own about its matrix, and nothing else."""
        return verdict.status.value == ("resolved" if self._own else "proved")

    def _seconds(self, *, certain: bool) -> float:
        """Seconds for a check: all that is left, or a little more; for certain ends more than they should need, of work.

        A second is always granted, but not again after a proof that took more.
        """
        if self._search is None:
            return inf
        if certain:
            return max(self._search.clock.left, CERTAIN_ROOM * self.problem.costs.certain.seconds, CERTAIN_SECONDS)
        return max(self._search.clock.left, self._grace, 0.0 if self._out_of_time else LEAST_SECONDS)

    def _spared(self, upper: Upper) -> float:
        """Seconds that a check has left once the search was stopped; infinite before.

        All have little together (`PROVING`). Of that a long one leaves a share, a short one less, to the witness of a lower end, and
        each leaves what those ends take that need no search.
        """
        assert self._search is not None
        if (spared := self._search.clock.spared) == inf:  # before the pace, which is slow to ask
            return inf
        share = HELD if upper.candidate < QUICK else LITTLE if upper.candidate < CERTAIN else 0.0
        return spared - max(share * PROVING, self.problem.costs.certain.seconds * self._search.clock.pace)

    @property
    def spent(self) -> bool:
        """True if the search was stopped so long ago that only what needs no search is to be proved."""
        return self._search is not None and self._search.clock.spared <= 0.0

    @property
    def _grace(self) -> float:
        """Seconds for a proof after the time is up, or the search was stopped."""
        assert self._search is not None
        spared = self._search.clock.spared
        return GRACE * self._search.limits.seconds if spared == inf else max(spared, 0.0)

    @property
    def _mebibytes(self) -> float:
        """Memory for a check, beside the problem's own."""
        if self._search is None:
            return inf
        return max(self._search.limits.least[1] - self.problem.held_bytes, LEAST_BYTES) / 2**20

    @property
    def _out_of_time(self) -> bool:
        """True if a proof took all the time there was."""
        return any(refusal.limit is Termination.TIME_LIMIT for refusal in self.beyond)

    @property
    def late(self) -> bool:
        """True if a proof took all the time there was, or none is left: only what is shortly proved remains to be tried."""
        return self._out_of_time or (self._search is not None and self._search.clock.left <= 0.0)

    @property
    def _own(self) -> bool:
        return self._header.resolved is not None


def _resolved(problem: Problem) -> tuple[str, tuple[tuple[str, ...], ...]] | None:
    """The channel of a mechanism of a kind that the checker does not know: what is proved is about that matrix."""
    matrix = problem.own_matrix
    return None if matrix is None else (problem.inputs, matrix_text(matrix))
