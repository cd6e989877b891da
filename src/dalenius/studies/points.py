"""Somebody else's prior or mechanism as an end of a proved interval: made feasible, judged, and proved by the checker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from dalenius._join import join
from dalenius._prove import prove
from dalenius.audits.ascent import Candidate, feasible
from dalenius.audits.entropy_at_least import EntropyAudit
from dalenius.audits.record_audit import RecordAudit, letters_bound
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
from dalenius.model import Adversary, DesignProblem, Problem, WorstCaseLeakage
from dalenius.model.constraints import LeakageLimit
from dalenius.outcome import Termination
from dalenius.reduction import AggregatedRecord
from dalenius.results import DesignResult, Result
from dalenius.search import Limits, Run

R = TypeVar("R", Result, DesignResult)


@dataclass(frozen=True)
class Prior:
    """An adversary's prior on one record.

    Attributes
    ----------
    masses : (letters, inputs or classes)
        On the channel's inputs, or on its classes of equal rows (`record_channels`).
    kind : int or None
        The first record of the kind whose classes these are; None where the masses are on inputs.
    """

    masses: Floats
    kind: int | None = None


@dataclass
class _Given(EntropyAudit):
    """The audit that knows one prior and searches for nothing: from above there is the entropy of the letters."""

    given: Prior = field(kw_only=True)

    def run(self) -> None:
        """Make the prior a witness of every kind of record that it fits."""
        self.records = [
            RecordAudit(channel, self._candidate(channel), *letters_bound(channel)) for channel in self.channels
        ]

    def _candidate(self, channel: AggregatedRecord) -> Candidate:
        """The prior, spread evenly over each class's datasets and mixed with the uniform one as far as the entropy bound asks.

        Where it belongs to another kind of record it is a witness all the same, once it is feasible there.
        """
        masses, p = self.given.masses, None
        if self.given.kind in (None, channel.record) and len(masses) == channel.letters:
            p = channel.apply(masses) if self.given.kind is None else np.where(channel.uniform > 0.0, masses, 0.0)
            fits = p.sum() > 0.0
            p = feasible(p, channel.log_uniform, channel.max_knowledge, slack=0.0) if fits else None
        p = channel.uniform if p is None else p
        return Candidate(p, float(mutual_information(p @ channel.rows)), 0.0)


def with_prior(problem: WorstCaseLeakage, prior: Prior) -> Result:
    """Result proved by a prior: the leakage to it, from below; from above no more than the entropy of the letters.

    Parameters
    ----------
    problem : WorstCaseLeakage
        Against an entropy bound.
    prior : Prior
        What breaks the bound is mixed with the uniform prior.
    """
    search = Run.of(Limits(time_limit=None))
    audit = _Given(problem, search, given=prior)
    audit.run()
    return prove(problem, audit, search)


def rows_broken(problem: DesignProblem, rows: Floats) -> Fraction:
    """By how much a mechanism breaks the worst of the linear rows that it must meet, its budget of distortion among them, exactly."""
    from dalenius.designs.exchange.rows import numbered_rows  # imports the modelling language, which takes a second

    own = problem.expand(rows.tolist())
    return max(
        (
            abs(over) if listed.equal else over
            for listed in numbered_rows(problem).values()
            for terms, end in zip(listed.below, listed.ends, strict=True)
            for over in [sum((c * own[x][y] for (x, y), c in terms.items()), -end)]
        ),
        default=Fraction(0),
    )


def limits_of(problem: DesignProblem) -> Iterator[tuple[Adversary, float]]:
    """To whom only so much may leak, in nats."""
    if problem.adversary is not None and problem.leakage_budget is not None:
        yield problem.adversary, problem.leakage_budget
    yield from ((limit.adversary, limit.nats) for limit in problem.numbered(LeakageLimit).values())


def with_mechanism(problem: DesignProblem, rows: Floats, leakage: float, limits: Limits) -> DesignResult:
    """Result of a mechanism: made exact and to meet its budget, audited, and proved; from below nothing is claimed.

    A budget of distortion is met by mixing with a mechanism of least distortion, one of leakage by mixing with the best constant one
    until the audit's bound meets it. Rows that symmetries of the problem exchange are averaged: leakage is convex, so none is added.

    Parameters
    ----------
    rows : (inputs, outputs)
        In doubles.
    leakage : float
        In nats, what it is thought to leak: where the mixing with the constant mechanism begins.
    limits : Limits
        Of the audits; the gap is that of a whole design.
    """
    from dalenius.designs import ExchangeProposer  # imports the modelling language, which takes a second

    search = Run.of(limits)
    proposer = ExchangeProposer.of(problem, search)
    proposer.exchange.judge(rows, leakage)
    return prove(problem, proposer, search)


def better_of(problem: Problem, ours: R, theirs: R, gap: float) -> R:
    """Our result with the end that a point attains taken from theirs, if that is better and both ends are proved together.

    Theirs is of `with_prior` or `with_mechanism`: nothing better about the other end, which stays. `gap` is what counts as reached.
    """
    certificate = join(problem, ours.certificate, theirs.certificate)
    mine, other = ours.certificate.header.claim, theirs.certificate.header.claim
    assert mine is not None
    assert other is not None
    better: R
    if isinstance(ours, Result) and isinstance(theirs, Result):
        if certificate.header.claim != (other[0], mine[1]) or not theirs.lower > ours.lower:
            return ours
        better = replace(ours, lower=theirs.lower, record=theirs.record, witness=theirs.witness)
    else:
        assert isinstance(ours, DesignResult)
        assert isinstance(theirs, DesignResult)
        if certificate.header.claim != (mine[0], other[1]) or not theirs.upper < ours.upper:
            return ours
        better = replace(
            ours, upper=theirs.upper, mechanism=theirs.mechanism, audit=theirs.audit, distortion=theirs.distortion
        )
    end = "lower" if isinstance(ours, Result) else "upper"  # no solver of ours found it
    solvers = tuple(replace(use, ends=tuple(x for x in use.ends if x != end)) for use in ours.solvers)
    better = replace(better, certificate=certificate, solvers=solvers)
    return replace(better, termination=Termination.GAP_REACHED) if better.gap <= gap else better
