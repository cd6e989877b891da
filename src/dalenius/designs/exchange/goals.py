"""Goals of an exchange: an objective or excesses; whom that concerns; and the priors, on orbits, that are known of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, NamedTuple

import numpy as np

from dalenius.audits import audit_of
from dalenius.audits.audit import Audit
from dalenius.audits.entropy_at_least import EntropyAudit
from dalenius.audits.law_classes import ClassAudit
from dalenius.designs.exchange.region import FreeRegion, Region
from dalenius.designs.oracle import Oracle, Prior, oracle_of
from dalenius.designs.terms import Terms
from dalenius.evidence.lower import UNIFORM
from dalenius.information.arrays import Floats
from dalenius.model import Adversary
from dalenius.model.constraints import LeakageLimit
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.programs import ConstrainedUpdate, MinDistortionProgram, MinLeakageProgram
from dalenius.programs.demands import NONE, Levels
from dalenius.programs.mechanism_update import MechanismUpdate
from dalenius.reduction import Orbits
from dalenius.search import Clock, Run

Key = tuple[int, bytes]
IDLE = 4  # rounds without weight after which a prior may be dropped
FEW = 40  # so many priors stay in any case
WORST = 12  # of the priors that are known an audit's witness is sought near
USED = 1e-7  # share of all weights above which a prior is not idle
SLACK = 1e-12  # entropy in nats, relative to 1 + log |X| - b, that an audit's prior has above the bound


class KnownPriors:
    """Priors on the orbits of a problem's inputs, in the order in which they were found."""

    def __init__(self, orbits: Orbits) -> None:
        self.orbits = orbits
        self._priors: dict[Key, Prior] = {}
        self._idle: dict[Key, int] = {}

    def __len__(self) -> int:
        return len(self._priors)

    @property
    def priors(self) -> list[Prior]:
        return list(self._priors.values())

    def add(self, priors: Sequence[Prior]) -> int:
        """Make priors and their images known; how many are new."""
        before = len(self)
        for prior in priors:
            images = [prior]
            if prior.hint is None:
                images = [Prior(*image) for image in self.orbits.images(prior.record, prior.masses)]
            for image in images:
                key = _key(image)
                self._priors.setdefault(key, image)
                self._idle.setdefault(key, 0)
        return len(self) - before

    def worst(self, Q: Floats) -> list[tuple[int, Floats]]:
        """Records and masses on the problem's inputs of those that learn most from a mechanism there."""
        rows = self.orbits.apply_mechanism(Q)
        worst = sorted(self.priors, key=lambda prior: -Oracle.leakage(prior, rows))[:WORST]
        return [self.orbits.lift(prior.record, p := prior.masses, p @ rows)[0][:2] for prior in worst]

    def learn(self, audit: Audit) -> None:
        """Make known what an audit found that has run."""
        if isinstance(audit, EntropyAudit):
            found = audit.exposure(SLACK * (1.0 + audit.problem.max_knowledge))
            if found is not None:
                self.add([Prior(*self.orbits.apply(found.record, found.masses / found.masses.sum()))])
        elif isinstance(audit, ClassAudit):  # which looks at every selection, as an oracle need not
            found = audit.exposure(0.0)
            if found is not None:
                self.add([Prior(found.record, found.masses, found.prior)])

    def used(self, weights: Floats) -> None:
        """Note which of the priors, in their order, had weight in a round."""
        for key, weight in zip(list(self._idle), weights.tolist(), strict=True):
            self._idle[key] = 0 if weight > USED * weights.sum() else self._idle[key] + 1

    def drop_idle(self) -> None:
        """Forget the first of those that had no weight for a while, unless few are left."""
        for key in [key for key, idle in self._idle.items() if idle > IDLE][: max(len(self) - FEW, 0)]:
            del self._priors[key], self._idle[key]


def distinct(priors: Sequence[Prior]) -> list[Prior]:
    """One of those that differ by rounding only."""
    return list({_key(prior): prior for prior in priors}.values())


def _key(prior: Prior) -> Key:
    """The same for priors that differ by rounding."""
    return prior.record, (np.round(prior.masses, 8) + 0.0).tobytes()


@dataclass(frozen=True, eq=False)
class WeightedPrior:
    """A prior's part in the bound.

    Attributes
    ----------
    prior : Prior
    weight : float
    posteriors : (letters, outputs)
        phi(a|y), laws of the letter.
    """

    prior: Prior
    weight: float
    posteriors: Floats

    def scores(self) -> Floats:
        """The weight times g(x,y) = sum_a p(a,x) log(phi(a|y) / pi_a)."""
        pi = self.prior.masses.sum(axis=1)
        used = pi > 0.0
        phi = self.posteriors[used]
        log_ratio = np.log(phi / phi.sum(axis=0)) - np.log(pi[used, None])
        return self.weight * (self.prior.masses[used].T @ log_ratio)


def on_inputs(part: WeightedPrior, orbits: Orbits) -> Iterator[WeightedPrior]:
    """The prior and its images on the problem's own inputs, which share its weight."""
    if part.prior.hint not in (None, UNIFORM):
        yield part
        return
    placed = orbits.lift(part.prior.record, part.prior.masses, part.posteriors)
    for record, masses, posteriors in placed:
        yield WeightedPrior(Prior(record, masses, part.prior.hint), part.weight / len(placed), posteriors)


def of_all_letters(prior: Prior, posteriors: Floats) -> Floats:
    """Zeros for the letters without mass, which programs drop."""
    full = np.zeros((len(prior.masses), posteriors.shape[1]))
    full[prior.masses.sum(axis=1) > 0.0] = posteriors
    return full


class Place(NamedTuple):
    """Place of an adversary in a model: it is its own, that of a constraint, or that of a term of the objective, by number."""

    where: Literal["own", "constraint", "term"]
    number: int = 0


OWN = Place("own")
Watched = tuple[Place, Prior]  # whose prior it is, and the prior
Master = ConstrainedUpdate | MechanismUpdate


@dataclass(frozen=True, eq=False)
class Watcher:
    """An adversary, asked for priors, and those that it has answered.

    Attributes
    ----------
    place : Place
    adversary : Adversary
    limit : float or None
        In nats; None where its leakage is minimised.
    term : int or None
        The number of that term of what is minimised; None where there is a limit.
    oracle : Oracle
    known : KnownPriors
    """

    place: Place
    adversary: Adversary
    limit: float | None
    term: int | None
    oracle: Oracle
    known: KnownPriors

    def replies(self, Q: Floats, clock: Clock, starts: int) -> tuple[list[Prior], float]:
        """Priors that learn much from a mechanism (orbits, outputs), and how much the best of them does, in nats."""
        found = self.oracle.worst_priors(Q, self.known.priors, clock, starts)
        return found, max((self.oracle.leakage(prior, Q) for prior in found), default=0.0)

    def seen(self, Q: Floats) -> float:
        """Largest leakage of a mechanism to the priors that are known, in nats."""
        return max((self.oracle.leakage(prior, Q) for prior in self.known.priors), default=0.0)

    def audited(
        self,
        problem: DesignProblem,
        rows: Sequence[Sequence[object]],
        search: Run,
        enough: float,
        *,
        news: bool = True,
        earlier: Audit | None = None,
        way: Callable[[Audit], bool] | None = None,
    ) -> Audit:
        """The audit of a mechanism's exact rows, run until its upper bound is enough or its gap small.

        What it finds becomes known, if that is news. It may go on from an earlier one of a mechanism that is nearly the same. When a
        proof on the way is due, `way` has it made.
        """
        audit = audit_of(problem.release(rows, self.adversary), search)  # type: ignore[arg-type]
        if isinstance(audit, EntropyAudit):
            audit.enough = enough
            audit.way = None if way is None else partial(way, audit)
            audit.told = self.known.worst(audit.problem.channel)
            audit.earlier = earlier.records if isinstance(earlier, EntropyAudit) else ()
        audit.run()
        if news:
            self.known.learn(audit)
        return audit


def watchers_of(problem: DesignProblem, orbits: Orbits, rng: np.random.Generator, *, gap: float = 0.0) -> list[Watcher]:
    """The design's own adversary, if it has one, then those of its limits, then those of its objective, each in their order.

    Where a relative gap is said, they search for no longer than it is worth.
    """
    return [
        Watcher(
            place,
            adversary,
            limit,
            term_of(problem, place),
            oracle_of(problem, orbits.completions, rng, adversary, gap=gap),
            KnownPriors(orbits),
        )
        for place, adversary, limit in _named(problem)
    ]


def term_of(problem: DesignProblem, place: Place) -> int | None:
    """The term of what is minimised that the leakage to the adversary who stands there is; None if it has a limit."""
    if place == OWN:
        return 0 if problem.leakage_budget is None else None
    return place.number if place.where == "term" else None


def _named(problem: DesignProblem) -> Iterator[tuple[Place, Adversary, float | None]]:
    """Place, adversary and limit of each."""
    if problem.adversary is not None:
        yield OWN, problem.adversary, problem.leakage_budget
    for j, limit in problem.numbered(LeakageLimit).items():
        yield Place("constraint", j), limit.adversary, limit.nats
    for j, adversary in Terms.of(problem).adversaries.items():
        if j:
            yield Place("term", j), adversary, None


Leakages = Mapping[Place, float]  # what a mechanism leaks to each watcher, in nats


@dataclass(frozen=True, eq=False)
class Goal:
    """One objective over the mechanisms of a region.

    Attributes
    ----------
    region : Region
    watchers : list of Watcher
        Whose limits count, or whose leakage is minimised.
    raises : bool
        Whether limits of leakage are raised by what is minimised; otherwise they must be kept.
    """

    region: Region
    watchers: Sequence[Watcher]
    raises: bool = False

    @cached_property
    def terms(self) -> Terms:
        """Of the design; where limits are raised, they play no part."""
        return Terms.of(self.region.problem)

    @cached_property
    def costs(self) -> dict[int, Floats]:
        """p(x) d_j(x,y) on orbits of the terms that are distortions."""
        orbits = self.region.orbits
        return {j: orbits.summed(d.input_law[:, None] * d.cost) for j, d in self.terms.distortions.items()}

    @property
    def only_leaks(self) -> bool:
        """True if nothing but leakages is minimised: what releases nothing is best then."""
        return not self.raises and not self.terms.distortions

    @property
    def block(self) -> str:
        """The name of the master program."""
        if not self.is_free:
            return ConstrainedUpdate.name
        return (MinLeakageProgram if self.region.problem.leakage_budget is None else MinDistortionProgram).name

    @property
    def is_free(self) -> bool:
        """True if the mechanisms have nothing to meet but one budget."""
        return isinstance(self.region, FreeRegion) and not self.raises

    def is_raised(self, watcher: Watcher) -> bool:
        return self.raises or watcher.limit is None

    # ------------------------------------------------------------ the master program

    def program(self, watched: Sequence[Watched], anchor: Floats, room: float = 0.0) -> Master:
        """The master program over these priors; with limits lowered by this share of them, where they must be kept.

        Mechanisms that have nothing to meet but one budget are asked for by the programs with a method of our own.
        """
        if self.is_free:
            return self.free_program([prior.masses for _, prior in watched], room)
        by_place = {watcher.place: watcher for watcher in self.watchers}
        owners, cost = [by_place[place] for place, _ in watched], np.zeros_like(self.region.orbits.cost)
        if not self.raises and not self.terms.largest:
            cost = sum((self.terms.weight(j) * each for j, each in self.costs.items()), cost)
        return ConstrainedUpdate(
            [prior.masses for _, prior in watched],
            [(owner.limit or 0.0) * (1.0 - (0.0 if self.is_raised(owner) else room)) for owner in owners],
            self._levels([owner.term for owner in owners]),
            cost,
            self.region.demands(anchor),
            tied=self.region.tied,
        )

    def free_program(self, masses: Sequence[Floats], room: float, *, changing: bool = False) -> MechanismUpdate:
        """For one adversary: its budget, or that of distortion, is all that there is; `changing` is the program's."""
        problem, cost, tied = self.region.problem, self.region.orbits.cost, self.region.tied
        if problem.leakage_budget is not None:
            most = problem.leakage_budget * (1.0 - room)
            return MinDistortionProgram(masses, cost, most, tied=tied, changing=changing)
        return MinLeakageProgram(masses, cost, float(problem.budget), tied=tied, changing=changing)

    def _levels(self, terms: Sequence[int | None]) -> Levels:
        """One level for all limits, for the largest term, or for each leakage of a sum; `terms` says which prior belongs to which."""
        if self.raises:
            return Levels.of([True] * len(terms))
        marks = np.array([j is not None for j in terms], dtype=bool)
        weights = np.array([1.0 if j is None else self.terms.weight(j) for j in terms])
        if self.terms.largest:
            charges = [self.terms.weight(j) * cost for j, cost in self.costs.items()]
            shape = (len(charges), *self.region.orbits.cost.shape)
            worth = np.ones(int(bool(charges) or marks.any()))
            return Levels(worth, np.where(marks, 0, NONE), 1.0 / weights, np.reshape(charges, shape))
        present = sorted({j for j in terms if j is not None})
        worth = np.array([self.terms.weight(j) for j in present])
        numbers = np.array([NONE if j is None else present.index(j) for j in terms], dtype=int)
        return Levels(worth, numbers, np.ones(len(terms)), np.zeros((0, 1, 1)))

    def charged(self, charges: Floats) -> dict[int, float]:
        """v_j of the terms that are distortions, where those of the program's charges are these."""
        if self.raises:
            return {}
        if not self.terms.largest:
            return {j: self.terms.weight(j) for j in self.costs}
        return {j: float(v) * self.terms.weight(j) for j, v in zip(self.costs, charges, strict=True)}

    # ------------------------------------------------------------ mechanisms

    def value(self, q: Floats, leakages: Leakages) -> float:
        """Objective of a mechanism that meets the region's rows and the limits; several terms as a share of their scale."""
        if self.raises:
            return max(leakages[watcher.place] - (watcher.limit or 0.0) for watcher in self.watchers)
        told = {watcher.term: leakages[watcher.place] for watcher in self.watchers if watcher.term is not None}
        distorted = {j: float(np.sum(self.region.tied.sums(cost) * q)) for j, cost in self.costs.items()}
        return self.terms.combined(told | distorted)

    def enough(self, watcher: Watcher, q: Floats, target: float) -> float:
        """Leakage to one of the minimised adversaries that may be proved, so that a mechanism attains this target.

        The largest may reach it in every term; what a sum has to spare, its leakages share evenly.
        """
        assert watcher.term is not None
        weight = self.terms.weight(watcher.term)
        if self.terms.largest:
            return target / weight
        Q = self.region.expanded(q)
        told = {each.place: each.seen(Q) for each in self.watchers}
        sharing = sum(each.term is not None for each in self.watchers)
        return told[watcher.place] + max(target - self.value(q, told), 0.0) / (sharing * weight)

    def keeps(self, q: Floats, room: float) -> bool:
        """True if a mechanism keeps all limits, lowered by this share of them, against the priors that are known."""
        Q = self.region.expanded(q)
        limits = ((watcher, watcher.limit * (1.0 - room)) for watcher in self.watchers if watcher.limit is not None)
        return all(watcher.seen(Q) <= most for watcher, most in limits)

    def share(self, leakages: Leakages, of_anchor: Leakages, room: float = 0.0) -> float:
        """The least share of the anchor with which all limits are kept, less `room` of each: leakage is convex."""
        share = 0.0
        for watcher in () if self.raises else self.watchers:
            if watcher.limit is None:
                continue
            have, least, most = leakages[watcher.place], of_anchor[watcher.place], watcher.limit * (1.0 - room)
            if have > most:
                share = max(share, min((have - most) / (have - least), 1.0) if have > least else 1.0)
        return share
