"""What the exchange asks of the problem that it solves, as data for a master program; Problems 2 and 3 answer differently."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dalenius.audits import Audit
from dalenius.designs.exchange.audits import AuditedMechanism, MechanismAudits
from dalenius.designs.exchange.bound import MasterBound, WeightedPrior, closed
from dalenius.designs.exchange.mechanisms import Mechanisms, RepairedMechanism, Rows
from dalenius.designs.oracle import Prior
from dalenius.designs.rational import mixtures
from dalenius.information.arrays import Floats
from dalenius.model import MinDistortion
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.programs import MinDistortionProgram, MinLeakageProgram
from dalenius.programs.mechanism_update import MechanismUpdate
from dalenius.search import Clock, Progress


@dataclass(frozen=True, eq=False)
class MasterStatement:
    """The best mechanism of a class for finitely many priors.

    Problem 2: minimise max_s I_s(Q) over mechanisms Q with <cost, Q> <= max_distortion. Problem 3: minimise <cost, Q> with I_s(Q) <=
    max_leakage for all s. I_s(Q) is what prior s is told about its record, in nats.

    A further constraint on Q is a further field here, handed on by `program`: from there on it is a row of the DCP model, a term in
    the program's closed-form bound, and a reason for the program's own method to decline (`Program.own`).

    Attributes
    ----------
    priors : sequence of Prior
        On the inputs that `cost` has.
    cost : (inputs, outputs)
        p(x) d(x,y).
    tied : TiedEntries
        The class of mechanisms: which entries are one number.
    max_distortion, max_leakage : float or None
        The budget; exactly one is given.
    """

    priors: Sequence[Prior]
    cost: Floats
    tied: TiedEntries
    max_distortion: float | None = None
    max_leakage: float | None = None

    def program(self) -> MechanismUpdate:
        """The DCP model, with its closed-form bound."""
        masses = [prior.masses for prior in self.priors]
        if self.max_distortion is not None:
            return MinLeakageProgram(masses, self.cost, self.max_distortion, tied=self.tied)
        assert self.max_leakage is not None
        return MinDistortionProgram(masses, self.cost, self.max_leakage, tied=self.tied)


class Goal(ABC):
    """The least leakage within a budget of distortion, or the other way round.

    Parameters
    ----------
    problem : MinLeakage or MinDistortion
    mechanisms : Mechanisms
    gap : float
        Relative; of what the whole exchange may leave, so that the goal knows how much an audit may.
    """

    block: ClassVar[str]  # the name of the master program

    def __init__(self, problem: DesignProblem, mechanisms: Mechanisms, gap: float) -> None:
        self.problem, self.mechanisms, self.gap = problem, mechanisms, gap

    @property
    @abstractmethod
    def trivial(self) -> bool:
        """Whether a constant mechanism is the answer."""

    # ------------------------------------------------------------ from below

    def without_search(self, anyone: Prior) -> MasterBound:
        """The bound that holds whatever anybody knows: by default 0."""
        return MasterBound()

    @abstractmethod
    def statement(self, priors: Sequence[Prior]) -> MasterStatement:
        """The master program over these priors."""

    def writable(self, multipliers: Mapping[str, Floats]) -> Mapping[str, Floats]:
        """Multipliers whose posteriors doubles can tell from the letters' laws; by default as they are."""
        return multipliers

    @abstractmethod
    def allowed_leakage(self, attained: float) -> float:
        """What a master's mechanism may leak that attains so much: priors of the oracle that learn no more are not new."""

    @abstractmethod
    def proved(self, bound: MasterBound) -> float:
        """What the checker's formula gives for priors on the problem's own inputs."""

    # ------------------------------------------------------------ from above

    @abstractmethod
    def start(self, audits: MechanismAudits, clock: Clock) -> None:
        """Audit a first mechanism roughly, so that there is one to hand out at once, if one is needed."""

    @abstractmethod
    def repaired(self, Q: Floats, leakage: float) -> RepairedMechanism:
        """A mechanism that leaks so much, as far as the search sees, made to meet the budget."""

    @abstractmethod
    def audit(self, found: RepairedMechanism, audits: MechanismAudits, lower: float, clock: Clock) -> None:
        """Make a mechanism exact, and audit it; the best one is kept."""

    def last_resort(self, audits: MechanismAudits, clock: Clock) -> Iterator[AuditedMechanism]:
        """Mechanisms that may be handed out if nothing else is proved; by default none, because what was audited meets its budget."""
        yield from ()

    def _costs(self) -> Floats:
        """p(x) d(x,y) on the problem's own inputs."""
        return np.asarray(self.problem.input_law[:, None] * self.problem.cost)


ROUGH = 0.3  # gap of the audit of a first mechanism
AUDIT_GAP = 0.25  # share of the gap that the audit of a mechanism may leave in any case


class LeastLeakage(Goal):
    """Its mechanisms meet the budget by mixing with one of least distortion; the audit says what they attain."""

    block: ClassVar[str] = MinLeakageProgram.name

    @property
    def trivial(self) -> bool:
        return self.problem.constant_distortion <= self.problem.budget

    def statement(self, priors: Sequence[Prior]) -> MasterStatement:
        budget = float(self.problem.budget)
        return MasterStatement(priors, self.mechanisms.cost, self.mechanisms.tied, max_distortion=budget)

    def allowed_leakage(self, attained: float) -> float:
        return attained

    def proved(self, bound: MasterBound) -> float:
        nu = bound.budget_multiplier
        least = self.problem.tied.sums(bound.scores() / bound.weight + nu * self._costs()).min(axis=1)
        return float(np.sum(least)) - nu * float(self.problem.budget)

    def repaired(self, Q: Floats, leakage: float) -> RepairedMechanism:
        """As it is: what is attained is the leakage, and rounding of the distortion is for `audit`."""
        return RepairedMechanism(Q, leakage, leakage)

    def start(self, audits: MechanismAudits, clock: Clock) -> None:
        """Time shared between a mechanism of least distortion and the constant one; it leaks less than the former (convexity)."""
        rows = self._within_budget(self.mechanisms.constant)
        audit = audits.audited(rows, clock, gap=ROUGH, news=False)
        audits.best = AuditedMechanism(rows, audit, audit.upper)

    def audit(self, found: RepairedMechanism, audits: MechanismAudits, lower: float, clock: Clock) -> None:
        rows = self._within_budget(found.Q)
        enough = lower / (1.0 - 0.9 * min(self.gap, 0.9))
        left = 1.0 - found.attained / enough if enough > 0.0 else 0.0
        audit = audits.audited(rows, clock, gap=max(left, AUDIT_GAP * self.gap), enough=enough)
        if audits.best is None or audit.upper < audits.upper:
            audits.best = AuditedMechanism(rows, audit, audit.upper, found_by=found.found_by)

    def _within_budget(self, Q: Floats) -> Rows:
        """Mixed with as little of a mechanism of least distortion as makes the exact rows meet the budget."""
        mechanisms, budget = self.mechanisms, float(self.problem.budget)
        least = mechanisms.cheapest(near=Q)
        excess, spare = mechanisms.distortion(Q) - budget, budget - mechanisms.distortion(least)
        share = min(excess / (excess + spare), 1.0) if excess > 0.0 and excess + spare > 0.0 else 0.0
        for mixed in mixtures(Q, least, share):
            rows = mechanisms.exact(mixed)
            if self.problem.expected_distortion(rows) <= self.problem.budget:
                return rows
        return mechanisms.exact(mechanisms.least)


MIXTURES = 6
FIRST, LATER = (
    0.95,
    0.8,
)  # shares of the time that is left for the first mixture's audit and check, and for a later one's
SAFE = 0.8  # share of the time of a later one's search in which the one before had become narrow enough
WIDER = 2.0  # times as wide as the one before it is allowed to be, at the least
GIVEN_AWAY = 0.3  # share of the gap that a mechanism may distort more so that its audit is easier, whatever the search has left of it
USED = 0.9  # share of the gap that search and audit may take together
TINY = 1e-9  # budgets in nats near which rounding decides
HEAVIEST = 1e8  # weight of a prior, relative to the largest cost: posteriors are written in doubles
ROUNDING = 1e-11  # nats by which an audit's upper bound may grow when it is written and checked


class LeastDistortion(Goal):
    """Its mechanisms meet the budget by mixing with the constant one: leakage is convex, and 0 there."""

    block: ClassVar[str] = MinDistortionProgram.name

    @property
    def budget(self) -> float:
        """In nats."""
        assert isinstance(self.problem, MinDistortion)
        return self.problem.max_leakage_nats

    @property
    def trivial(self) -> bool:
        return self.problem.constant_distortion == self.problem.least_distortion

    # ------------------------------------------------------------ from below

    def without_search(self, anyone: Prior) -> MasterBound:
        """The least distortion. The prior is there because a certificate needs one."""
        least = float(self.problem.least_distortion)
        if least <= 0.0:
            return MasterBound()
        weight = max(1e-16 * least / (1.0 + self.budget), 5e-324)
        pi = anyone.masses.sum(axis=1, keepdims=True)
        posteriors = np.tile(pi, (1, self.mechanisms.cost.shape[1]))
        return MasterBound(least * (1.0 - 2e-15), (WeightedPrior(anyone, weight, posteriors),))

    def statement(self, priors: Sequence[Prior]) -> MasterStatement:
        return MasterStatement(priors, self.mechanisms.cost, self.mechanisms.tied, max_leakage=self.budget)

    def writable(self, multipliers: Mapping[str, Floats]) -> Mapping[str, Floats]:
        """Lighter weights with ratios as much farther from 1: the same bound, but for terms of second order in the ratios."""
        weights, ratios = multipliers["weights"], np.expm1(multipliers["log_ratio"])
        lighter = HEAVIEST * float(self.mechanisms.cost.max()) / max(float(weights.max()), 1e-300)
        if not lighter < 1.0:
            return multipliers
        log_ratio = np.log1p(np.maximum(ratios / lighter, -0.9))
        return {**multipliers, "weights": lighter * weights, "log_ratio": log_ratio}

    def allowed_leakage(self, attained: float) -> float:
        return self.budget

    def proved(self, bound: MasterBound) -> float:
        least = self.problem.tied.sums(self._costs() + bound.scores()).min(axis=1)
        return float(np.sum(least)) - self.budget * bound.weight

    # ------------------------------------------------------------ from above

    def repaired(self, Q: Floats, leakage: float) -> RepairedMechanism:
        """Mixed with the constant mechanism: leakage is convex, and 0 there."""
        share = max(1.0 - self.budget / leakage, 0.0) if leakage > 0.0 else 0.0
        mixed = self.mechanisms.mixed(Q, share)
        return RepairedMechanism(mixed, self.mechanisms.distortion(mixed), (1.0 - share) * leakage)

    def start(self, audits: MechanismAudits, clock: Clock) -> None:
        """The constant mechanism, which tells nothing: where it is within the gap there is nothing to search for."""
        rows = self.mechanisms.exact(self.mechanisms.constant)
        audit = audits.audited(rows, clock, gap=self.gap, enough=self.budget - ROUNDING, news=False)
        self._kept(rows, audit, audits, "start")

    def audit(self, found: RepairedMechanism, audits: MechanismAudits, lower: float, clock: Clock) -> None:
        """Mixed with a little of the constant mechanism, then with more, until the audit's bound meets the budget; then with less.

        The first may take nearly all the time: if it fails, what it left to its check is there for others. Every later one has most of
        what is left, so that it will leave a wider interval: as wide as the one before had become in most of that time. One that fails
        after one that did not is the last: the next would have less time for as much.
        """
        room = self._room(found, lower)
        share, failed, met, kept = self._share(found, room), (0.0, math.inf), (1.0, 0.0), False  # with what they leak
        for attempt in range(MIXTURES):
            rows = self.mechanisms.exact(self.mechanisms.mixed(found.Q, share))
            part = clock.part(LATER if attempt else FIRST)
            given, began = part.remaining, part.seconds
            audit = audits.audited(rows, part, gap=room, enough=self.budget - ROUNDING)
            if self._kept(rows, audit, audits, found.found_by):
                met, kept, upper = (share, audit.lower), True, audit.upper
                if attempt == 0 or closed(lower, audits.upper, self.gap) or clock.expired:
                    return
            elif kept:
                return
            else:
                failed = share, max(audit.lower, self.budget, ROUNDING)
                soon, spent = SAFE * LATER * clock.remaining, part.seconds - began
                if audit.out_of_time or spent + audit.checking > soon:  # its check is to be in time, too
                    upper = _upper_after(part.trace, began + soon * spent / given)
                else:
                    upper = audit.upper
            last = not kept and attempt >= MIXTURES - 2
            share = 1.0 if last else _between(failed, met, self._level(audit, upper))

    def last_resort(self, audits: MechanismAudits, clock: Clock) -> Iterator[AuditedMechanism]:
        """The constant mechanism: what meets its budget by rounding only may be refused."""
        rows = self.mechanisms.exact(self.mechanisms.constant)
        audit = audits.audited(rows, clock, gap=self.gap, enough=self.budget - ROUNDING)
        yield AuditedMechanism(rows, audit, float(self.problem.expected_distortion(rows)))

    def _room(self, found: RepairedMechanism, lower: float) -> float:
        """The share of its budget that a mechanism may leave to the audit, so that this costs what the search left of the gap."""
        costs = self.mechanisms.distortion(self.mechanisms.constant) - found.attained
        left = USED * self.gap * found.attained - (found.attained - lower)
        cheap = max(left, GIVEN_AWAY * self.gap * found.attained) / costs if costs > 0.0 else 0.0
        return float(np.clip(cheap, max(0.01 * self.gap, 1e-9), 0.3))

    def _share(self, found: RepairedMechanism, room: float) -> float:
        """The share of the constant mechanism that leaves so much room."""
        return max(1.0 - self.budget * (1.0 - room) / found.leakage, 0.0) if found.leakage > 0.0 else 0.0

    def _level(self, audit: Audit, upper: float) -> float:
        """What a mechanism may leak, so that an audit as wide as this one, if it comes to this upper end, finds it in its budget."""
        width = 0.5
        if audit.upper > 0.0:
            width = min(max(1.0 - audit.lower / upper, WIDER * (1.0 - audit.lower / audit.upper)), width)
        return max(self.budget - 3.0 * ROUNDING, 0.0) * (1.0 - width)

    def _kept(self, rows: Rows, audit: Audit, audits: MechanismAudits, found_by: str) -> bool:
        """Whether this mechanism meets the budget; of budgets near 0, where rounding is in doubt, the checker judges in the end."""
        meets = audit.upper <= self.budget - ROUNDING or self.problem.tied.is_constant(rows)
        doubtful = not meets and self.budget < TINY and audit.upper <= self.budget + ROUNDING
        attained = float(self.problem.expected_distortion(rows))
        found = AuditedMechanism(rows, audit, attained, doubtful, found_by)
        if meets and found.attained < audits.upper:
            audits.best = found
        elif doubtful and found.attained < audits.upper:
            audits.doubtful.append(found)
        return meets or doubtful


def _between(failed: tuple[float, float], met: tuple[float, float], level: float) -> float:
    """The share at which the chord of the leakages of two shares is at this level, which is above it there (convexity); or their mean.

    >>> _between((0.0, 1.0), (1.0, 0.0), 0.75), _between((0.0, 1.0), (1.0, 0.875), 0.75)
    (0.25, 0.5)
    """
    chord = failed[0] + (met[0] - failed[0]) * (failed[1] - level) / (failed[1] - met[1])
    return chord if failed[0] < chord < met[0] else 0.5 * (failed[0] + met[0])


def _upper_after(trace: Sequence[Progress], seconds: float) -> float:
    """The upper end that an audit had come to after so many seconds; infinite if it had none."""
    return min((moment.upper for moment in trace if moment.seconds <= seconds), default=math.inf)
