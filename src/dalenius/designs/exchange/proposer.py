"""The exchange as a proposer: its bound with all multipliers, its mechanisms with their proved audits, and what constraints cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from operator import attrgetter
from typing import Self

import numpy as np

from dalenius._prove import Proved, proved_ends, proved_so_far
from dalenius.audits.audit import Audit
from dalenius.designs.claims import (
    NOTHING,
    TINY,
    DesignProposer,
    MadeUpper,
    Retreat,
    constraint_prices,
    distortion_unit,
    rounded_lowers,
    with_doubts,
)
from dalenius.designs.exchange.bound import DesignBound, OwnBound
from dalenius.designs.exchange.exchange import Exchange
from dalenius.designs.exchange.goals import OWN, Place
from dalenius.designs.exchange.keeping import Kept
from dalenius.designs.exchange.rows import BUDGET, PRIVACY
from dalenius.designs.exchange.secrets import limit_sections
from dalenius.evidence import CERTAIN, QUICK, Certificate, Lower
from dalenius.evidence.upper import AdversaryLine, TermSection, UpperLine
from dalenius.model import DesignProblem
from dalenius.model.constraints import LeakageLimit, SecretLeakageLimit, SecretLimit
from dalenius.outcome import ConstraintPrice, Termination, TermValue
from dalenius.results import DesignResult, LeastFavourablePrior, Result
from dalenius.search import Run


def dual_of(run: Exchange, lower: Lower) -> OwnBound:
    """The multipliers of the bound that is proved; of an infeasible design those of the conflict."""
    conflict = run.conflict if lower.value is None else None
    bound = conflict or (run.bound if lower.candidate != CERTAIN else DesignBound())
    return OwnBound(bound, run.region, infeasible=conflict is not None)


def prices_of(
    run: Exchange, own: OwnBound, kept: Kept | None, audits: Mapping[Place, Result]
) -> tuple[ConstraintPrice, ...]:
    """One entry a constraint, after those of the budget and of the privacy notion; of an infeasible design those in conflict."""
    problem = run.problem
    prices = {j: {r: float(price) for r, price in rows.items()} for j, rows in own.prices.items()}
    totals = {j: sum(map(abs, rows.values())) for j, rows in prices.items()}
    for j, both in own.cones.items():
        totals[j] = float(both[0])
    for law, _, weight, _ in own.tangents:
        totals[law.number] = totals.get(law.number, 0.0) + weight
    limited = {watcher.place for watcher in run.limited}
    for place, part in own.priors:
        if place in limited:
            j = BUDGET if place == OWN else place.number
            totals[j] = totals.get(j, 0.0) + part.weight
    kinds = {BUDGET: problem.budget_key, PRIVACY: "privacy"}
    kinds |= {j: constraint.kind for j, constraint in enumerate(problem.own_constraints)}
    per = {j: constraint.per for j, constraint in enumerate(problem.own_constraints)}
    return constraint_prices(
        kinds,
        totals,
        prices,
        partial(_slack, run, kept=kept, audits=audits),
        of=problem.quantity.units,
        per=per | {BUDGET: "nat" if problem.distortion_budget is None else "distortion"},
        conflict=own.infeasible,
    )


def priors_of(own: OwnBound) -> tuple[LeastFavourablePrior, ...]:
    """The priors of the bound, the heaviest first, whose weights are shares of each adversary's; not those without any to speak of."""
    whole, names = dict[Place, float](), {"own": "adversary", "constraint": "constraints", "term": "objective"}
    for place, part in own.priors:
        whole[place] = whole.get(place, 0.0) + part.weight
    found = (
        LeastFavourablePrior(
            names[place.where] + ("" if place == OWN else f"[{place.number}]"),
            part.prior.record,
            np.array(part.prior.masses),
            part.weight / whole[place],
        )
        for place, part in own.priors
        if part.weight > TINY * whole[place]
    )
    return tuple(sorted(found, key=lambda prior: (prior.against, -prior.weight)))


def values_of(run: Exchange, lower: Lower, kept: Kept | None, audits: Mapping[Place, Result]) -> tuple[TermValue, ...]:
    """Value of each term of the objective for the mechanism, and its weight in the bound; nothing without either."""
    if run.problem.objective is None or kept is None:
        return ()
    own = OwnBound(run.bound if lower.candidate != CERTAIN else DesignBound(), run.region)
    ends = dict[int, tuple[float | Fraction, float | Fraction]]()
    for j, distortion in run.terms.distortions.items():
        ends[j] = (distortion.of(kept.rows),) * 2
    for watcher in run.watchers:
        if watcher.term is not None:
            audit = audits[watcher.place]
            ends[watcher.term] = (0.0, 0.0) if kept.constant else (audit.lower, audit.upper)
    return run.terms.values(ends, own.weights)


def _slack(run: Exchange, j: int, *, kept: Kept | None, audits: Mapping[Place, Result]) -> Fraction | float | None:
    """Slack of the mechanism: exactly for rows, in nats at least for limits of leakage; None without a mechanism."""
    place, problem = Place("constraint", j), run.problem
    if kept is None or j == PRIVACY:
        return None
    if j == BUDGET and problem.distortion_budget is not None:
        return problem.distortion_budget - problem.expected_distortion(kept.rows)
    if j == BUDGET and problem.leakage_budget is not None:
        return problem.leakage_budget - (0.0 if kept.constant else audits[OWN].upper)
    if (limit := problem.numbered(LeakageLimit).get(j)) is not None:
        return limit.nats - (0.0 if kept.constant else audits[place].upper)
    whole = {k: most.nats for k, most in problem.numbered(SecretLeakageLimit).items()}  # where there is nothing to tell
    if j in (secret := dict.fromkeys(problem.numbered(SecretLimit), 0.0) | whole):
        Q = run.region.expanded(run.region.matrix(kept.q))
        return min((-law.part.excess(Q) for law in run.region.secrets if law.number == j), default=secret[j])
    if j not in run.region.numbered:
        return None
    own = run.problem.expand(kept.rows)
    rows = run.region.numbered[j]
    return min(
        (
            end - sum((c * own[x][y] for (x, y), c in listed.items()), Fraction(0))
            for listed, end in zip(rows.below, rows.ends, strict=True)
        ),
        default=None,
    )


@dataclass(frozen=True, kw_only=True)
class ProvedUpper(MadeUpper):
    """An upper end: a mechanism in exact rows, and the proved audits of it by where their adversaries stand; without one, none."""

    kept: Kept | None = None
    audits: Mapping[Place, Result] = field(default_factory=dict)


class ExchangeProposer(DesignProposer[ProvedUpper]):
    """Outcome of an exchange about a design; that there is no mechanism, too."""

    problem: DesignProblem
    standing: Proved[Lower, ProvedUpper] | None  # what was proved while an audit ran

    def __init__(self, exchange: Exchange) -> None:
        self.exchange, self.problem, self.search = exchange, exchange.problem, exchange.search
        self.audits, self.standing = list[Result](), None
        exchange.keeper.stand = self._stand

    @classmethod
    def of(cls, problem: DesignProblem, search: Run, known: Certificate | None = None) -> Self:
        """It begins with the priors of a design that differs in its budget only."""
        run = Exchange(problem, search)
        if known is not None:
            run.recall(known)
        return cls(run)

    def run(self) -> None:
        """Exchange."""
        self.exchange.run()

    # ------------------------------------------------------------ the two ends

    def lowers(self) -> Iterator[Lower]:
        """The multipliers which prove that there is no mechanism; or the bound, rounded downward ever further. At last 0."""
        run = self.exchange
        if run.conflict is not None:
            yield Lower(value=None, lines=OwnBound(run.conflict, run.region, infeasible=True).lines())
            yield Lower(value=0.0, lines=NOTHING, candidate=CERTAIN)
            return
        own = OwnBound(run.bound, run.region)
        if run.vertex is not None:
            unit = distortion_unit(run.problem)
            yield Lower(value=run.vertex.value, exact=True, unit=unit, lines=own.lines())
        found, size = own.value() if run.bound.value > 0.0 else (0.0, 0.0)
        found = min(found, run.bound.scaled(run.terms.scale).value)
        yield from rounded_lowers(run.problem, found, own.lines() if found > 0.0 else NOTHING, size)

    def uppers(self) -> Iterator[ProvedUpper]:
        """One mechanism after the other with its proved audits, the best first.

        Then, where leakages are minimised and none is limited, the best one again with short bounds of them. At last, where no
        mechanism is proved to keep everything, nothing from above.
        """
        keeper, limited, found = self.exchange.keeper, bool(self.exchange.limited), 0
        if self.exchange.conflict is not None:
            yield ProvedUpper(value=None, lines=())
            return
        for number, kept in enumerate(sorted([*keeper.doubtful, *reversed(keeper.kept)], key=attrgetter("attained"))):
            end = self._proved_end(kept, -number) or self._upper(-number, kept, kept.audits)
            if end is not None:
                found += 1
                yield end
        if not found or (limited and self.exchange.goal.is_free):
            silent = keeper.silent() if keeper.kept else None
            last = None if silent is None else self._upper(CERTAIN, silent, silent.audits)
            yield from [] if last is None else [last]
        if keeper.kept and self.exchange.watchers and not limited:
            kept = keeper.kept[-1]
            for candidate in (QUICK, CERTAIN):
                end = self._upper(candidate, kept, {p: Retreat(audit, candidate) for p, audit in kept.audits.items()})
                assert end is not None
                yield end
        if not self.exchange.problem.plain:
            yield ProvedUpper(value=None, lines=(), candidate=CERTAIN)

    def _upper(self, candidate: int, kept: Kept, proposed: Mapping[Place, Audit | Retreat]) -> ProvedUpper | None:
        """None where the time was not enough to prove that a limit of leakage is kept."""
        run = self.exchange
        proved = {
            watcher.place: proved_ends(kept.audits[watcher.place].problem, proposed[watcher.place], run.search)
            for watcher in run.watchers
        }
        audits = {place: proposed[place].result(ends) for place, ends in proved.items()}
        lines = {place: ends.upper_end.lines for place, ends in proved.items()}
        return self._audited(candidate, kept, audits, lines)

    def _proved_end(self, kept: Kept, candidate: int = 0) -> ProvedUpper | None:
        """The upper end that was proved last, if it is that of a mechanism as it is kept."""
        if self.standing is None or self.standing.upper_end.kept is not kept:
            return None
        end = self.standing.upper_end
        return replace(end, candidate=candidate) if candidate else end

    def _stand(self, kept: Kept) -> bool:
        """Have the design proved as it is, once the mechanism's audits are; True if these are."""
        if self._proved_end(kept):
            return True
        audits, lines = dict[Place, Result](), dict[Place, Sequence[UpperLine]]()
        for place, audit in kept.audits.items():
            if not audit.stand(self.search) or audit.standing is None:
                return False
            audits[place], lines[place] = audit.result(audit.standing), audit.standing.upper_end.lines
        end = self._audited(0, kept, audits, lines)
        if end is not None and (self.standing is None or (end.rounded or 0.0) <= self.standing.upper):
            self.standing = proved_so_far(self.problem, self.lowers(), iter([end]), self.search) or self.standing
        return end is not None

    def _audited(
        self, candidate: int, kept: Kept, audits: Mapping[Place, Result], lines: Mapping[Place, Sequence[UpperLine]]
    ) -> ProvedUpper | None:
        """With audits that are proved by these lines; None where they do not prove that a limit of leakage is kept."""
        run = self.exchange
        self.audits += audits.values()
        limits, certain = {watcher.place: watcher.limit for watcher in run.limited}, kept.constant or kept.doubtful
        if not certain and any(audits[p].upper > most for p, most in limits.items() if most is not None):
            return None
        return self._made(candidate, kept, lines, {p: Fraction(audit.upper) for p, audit in audits.items()}, audits)

    def _made(
        self,
        candidate: int,
        kept: Kept,
        proofs: Mapping[Place, Sequence[UpperLine]],
        leaks: Mapping[Place, Fraction],
        audits: Mapping[Place, Result],
    ) -> ProvedUpper:
        """With the lines which prove that everybody is told so much at most."""
        run, problem = self.exchange, self.exchange.problem
        sections = dict[Place, list[UpperLine]]()
        for place, proof in proofs.items():
            needless = kept.constant and (place != OWN or problem.leakage_budget is None or problem.budget == 0)
            sections[place] = [*_heading(place), *([] if needless else proof)]
        told = None if kept.constant else run.region.expanded(run.region.matrix(kept.q))
        for j, limit in problem.numbered(SecretLeakageLimit).items():
            sections[Place("constraint", j)] = [*limit_sections(problem, j, limit, told)]
        lines = [line for place in sorted(sections, key=_order) for line in sections[place]]
        told_of = {watcher.term: leaks[watcher.place] for watcher in run.watchers if watcher.term is not None}
        ends = run.terms.ends(kept.rows, dict.fromkeys(told_of, Fraction(0)) if kept.constant else told_of)
        return ProvedUpper.of(
            problem,
            run.terms,
            kept.rows,
            ends,
            exact=run.vertex is not None,
            lines=tuple(lines),
            candidate=candidate,
            doubtful=kept.doubtful,
            kept=kept,
            audits=audits,
        )

    # ------------------------------------------------------------ the answer

    def result(self, proved: Proved[Lower, ProvedUpper]) -> DesignResult:
        """The mechanism, the proved interval for the best there is, and what each constraint costs."""
        run, best, own = self.exchange, proved.upper_end, dual_of(self.exchange, proved.lower_end)
        kept, audit = best.kept, best.audits.get(OWN)
        return self.answer(
            with_doubts(proved, self.audits, audit),
            best.rows,
            audit=audit,
            rounds=run.rounds,
            explanation=tuple(run.orbits.explain()),
            solvers=run.tally.uses(self._found_by(proved)),
            prices=prices_of(run, own, kept, best.audits),
            priors=() if own.infeasible else priors_of(own),
            objective=values_of(run, proved.lower_end, kept, best.audits),
        )

    @property
    def termination(self) -> Termination:
        """Why the work stopped, where the gap was not reached."""
        return self.exchange.termination

    def _found_by(self, proved: Proved[Lower, ProvedUpper]) -> dict[str, tuple[str, str]]:
        """The program and the solver that each end rests on."""
        run, kept = self.exchange, proved.upper_end.kept
        bound, block = run.conflict or run.bound, run.goal.block
        lower = {"lower": (block, bound.found_by)} if proved.lower_end.candidate != CERTAIN else {}
        return lower if kept is None else lower | {"upper": (block, kept.found_by)}


def _order(place: Place) -> tuple[int, int]:
    """The design's own sections come first, then those of its constraints, then those of its objective."""
    return ("own", "constraint", "term").index(place.where), place.number


def _heading(place: Place) -> list[UpperLine]:
    """The line that says about whose leakage the sections are; the design's own come first, without one."""
    if place == OWN:
        return []
    return [AdversaryLine(place.number) if place.where == "constraint" else TermSection(place.number)]
