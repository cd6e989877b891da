"""The exchange for designs with constraints as a proposer: its bound with all multipliers, its mechanisms with their proved audits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

from dalenius._prove import Proved, prove
from dalenius.audits import Audit
from dalenius.designs.claims import NOTHING, Retreat, distortion_unit, rounded_lowers, termination_of, with_doubts
from dalenius.designs.constrained.evidence import OwnBound, exact_lines
from dalenius.designs.constrained.exchange import ConstrainedExchange, Kept
from dalenius.designs.constrained.prices import prices_of, values_of
from dalenius.designs.constrained.selections import limit_sections
from dalenius.designs.constrained.watchers import OWN, Place
from dalenius.designs.rational import short_above, weight_texts
from dalenius.errors import DaleniusError
from dalenius.evidence import CERTAIN, QUICK, Certificate, Lower, Upper, claim_text
from dalenius.evidence.upper import AdversaryLine, TermSection, UpperLine
from dalenius.model import DesignProblem, MinDistortion, MinLeakage
from dalenius.model.constraints import SecretLeakageLimit
from dalenius.outcome import Scope, Termination
from dalenius.results import DesignResult, Result
from dalenius.search import Run

__all__ = ["ConstrainedProposer", "ProvedUpper"]

NOT_FOUND = (
    "nothing can be proved about this design: no mechanism was proved to keep all limits of leakage, nor that there is none; raise "
    "time_limit, or one of the limits"
)


@dataclass(frozen=True, kw_only=True)
class ProvedUpper(Upper):
    """An upper end: a mechanism in exact rows, and the proved audits of it by where their adversaries stand."""

    kept: Kept | None = None
    audits: Mapping[Place, Result]
    ends: tuple[Fraction, ...] = ()  # U_j of the terms of what is minimised


@dataclass
class ConstrainedProposer:
    """What an exchange found about a design with constraints; that there is no mechanism, too."""

    exchange: ConstrainedExchange
    audits: list[Result] = field(default_factory=list, init=False)

    @classmethod
    def of(cls, problem: DesignProblem, search: Run, known: Certificate | None = None) -> Self:
        """It begins with the priors of a design that differs in its budget only."""
        run = ConstrainedExchange(problem, search)
        if known is not None:
            run.recall(known)
        return cls(run)

    def run(self) -> None:
        """Exchange."""
        self.exchange.run()
        if self.exchange.conflict is None and not self.exchange.kept:
            raise DaleniusError(NOT_FOUND)

    # ------------------------------------------------------------ the two ends

    def lowers(self) -> Iterator[Lower]:
        """The bound, rounded downward ever further; at last 0. Or the multipliers which prove that there is no mechanism."""
        run = self.exchange
        if run.conflict is not None:
            yield Lower(value=None, lines=OwnBound(run.conflict, run.region, infeasible=True).lines())
            return
        if run.vertex is not None:
            lines = exact_lines(run.vertex, run.region)
            unit = distortion_unit(run.problem)
            yield Lower(value=run.vertex.value, exact=True, unit=unit, lines=lines)
        own = OwnBound(run.bound, run.region)
        found, size = own.value() if run.bound.value > 0.0 else (0.0, 0.0)
        found = min(found, run.bound.scaled(run.terms.scale).value)
        yield from rounded_lowers(run.problem, found, own.lines() if found > 0.0 else NOTHING, size)

    def uppers(self) -> Iterator[ProvedUpper]:
        """One mechanism after the other with its proved audits, the best first.

        At last, where leakages are minimised and none is limited, the best one again with short bounds of them.
        """
        if self.exchange.conflict is not None:
            yield ProvedUpper(value=None, lines=(), audits={})
            return
        found = 0
        for number, kept in enumerate(reversed(self.exchange.kept)):
            end = self._upper(-number, kept, kept.audits)
            if end is not None:
                found += 1
                yield end
        if not found and self.exchange.limited:
            raise DaleniusError(NOT_FOUND)
        if self.exchange.kept and self.exchange.watchers and not self.exchange.limited:
            kept = self.exchange.kept[-1]
            for candidate in (QUICK, CERTAIN):
                end = self._upper(candidate, kept, {p: Retreat(audit, candidate) for p, audit in kept.audits.items()})
                assert end is not None
                yield end

    def _upper(self, candidate: int, kept: Kept, proposed: Mapping[Place, Audit | Retreat]) -> ProvedUpper | None:
        """None where the time was not enough to prove that a limit of leakage is kept."""
        run, problem = self.exchange, self.exchange.problem
        audits = {
            watcher.place: prove(problem.release(kept.rows, watcher.adversary), proposed[watcher.place], run.search)
            for watcher in run.watchers
        }
        self.audits += audits.values()
        limits = {watcher.place: watcher.limit for watcher in run.limited}
        if not kept.constant and any(audits[p].upper > most for p, most in limits.items() if most is not None):
            return None
        sections = dict[Place, list[UpperLine]]()
        for place, audit in audits.items():
            needless = kept.constant and (place != OWN or isinstance(problem, MinLeakage) or problem.budget == 0)
            sections[place] = [*_heading(place), *([] if needless else audit.certificate.upper_lines())]
        told = None if kept.constant else run.region.expanded(run.region.matrix(kept.q))
        for j, constraint in enumerate(problem.own_constraints):
            if isinstance(constraint, SecretLeakageLimit):
                sections[Place("constraint", j)] = [*limit_sections(problem, j, told)]
        lines = [line for place in sorted(sections, key=_order) for line in sections[place]]
        ends = self._ends(kept, audits)
        return ProvedUpper(
            value=run.terms.exactly(ends),
            unit=distortion_unit(problem),
            exact=run.vertex is not None,
            lines=tuple(lines),
            terms=None if problem.objective is None else tuple(map(claim_text, ends)),
            ends=ends,
            mechanism=weight_texts(kept.rows),
            candidate=candidate,
            kept=kept,
            audits=audits,
        )

    def _ends(self, kept: Kept, audits: Mapping[Place, Result]) -> tuple[Fraction, ...]:
        """U_j: what the audits prove, and the exact distortions; of several terms as numbers that can be written."""
        run, ends = self.exchange, dict[int, Fraction]()
        for watcher in run.watchers:
            if watcher.term is not None:
                ends[watcher.term] = Fraction(0) if kept.constant else Fraction(audits[watcher.place].upper)
        for j, distortion in run.terms.distortions.items():
            exact = distortion.of(kept.rows)
            ends[j] = exact if run.problem.objective is None else short_above(exact)
        return tuple(ends[j] for j in range(run.terms.count))

    # ------------------------------------------------------------ the answer

    def result(self, proved: Proved[Lower, ProvedUpper]) -> DesignResult:
        """The mechanism, the proved interval for the best there is, and what each constraint costs."""
        run, problem, best = self.exchange, self.exchange.problem, proved.upper_end
        kept, proved = best.kept, with_doubts(proved, self.audits, best.audits.get(OWN))
        private = isinstance(problem, MinDistortion) and problem.privacy is not None
        return DesignResult(
            lower=proved.lower,
            upper=proved.upper,
            mechanism=None if kept is None else problem.designed(kept.rows),
            audit=best.audits.get(OWN),
            distortion=None if kept is None else problem.expected_distortion(kept.rows),
            exp_epsilon=problem.exp_epsilon(kept.rows) if private and kept is not None else None,  # type: ignore[attr-defined]
            termination=Termination.INFEASIBLE if kept is None else termination_of(proved, run.gap, run.termination),
            scope=Scope.GLOBAL,
            certificate=proved.certificate,
            seconds=run.search.clock.seconds,
            rounds=run.rounds,
            units=problem.quantity.units,
            refusals=proved.refusals,
            explanation=tuple(run.orbits.explain()),
            trace=tuple(run.search.clock.trace),
            values=problem.most_values,
            solvers=run.tally.uses(self._found_by(proved)),
            constraints=prices_of(run, proved.lower_end, kept, best.audits),
            objective=values_of(run, proved.lower_end, kept, best.audits),
        )

    def _found_by(self, proved: Proved[Lower, ProvedUpper]) -> dict[str, tuple[str, str]]:
        """The program and the solver that the bound rests on."""
        bound = self.exchange.conflict or self.exchange.bound
        return {"lower": ("constrained_update", bound.found_by)} if proved.lower_end.candidate != CERTAIN else {}


def _order(place: Place) -> tuple[int, int]:
    """The design's own sections come first, then those of its constraints, then those of its objective."""
    return ("own", "constraint", "term").index(place.where), place.number


def _heading(place: Place) -> list[UpperLine]:
    """The line that says about whose leakage the sections are; the design's own come first, without one."""
    if place == OWN:
        return []
    return [AdversaryLine(place.number) if place.where == "constraint" else TermSection(place.number)]
