"""Problems 2 and 3 to certified global optimality: a master program over the priors found so far, and the adversary as its oracle.

The worst-case leakage L is the largest of I_s(Q) over the adversary's priors s, and convex in Q. The master knows some of the priors:
its multipliers prove a bound on the optimum (docs/certificate-format.md, *Design*). Its mechanism is shown to the rival, whose replies
join the priors, until none is told more than the bound allows. Then the audit of Problem 1 settles what the mechanism tells to all.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.audit import Audit, Auditor, Clock, audit_of
from dalenius.certify import short_text
from dalenius.design.rational import DENOMINATOR, mixtures, rational_rows
from dalenius.design.rival import Prior, rival
from dalenius.design.symmetry import Reduction
from dalenius.outcome import Termination
from dalenius.problems import MinDistortion
from dalenius.problems.design_problem import DesignProblem
from dalenius.programs import MinDistortionProgram, MinLeakageProgram
from dalenius.programs.mechanism_update import MechanismUpdate

__all__ = ["DualBound", "Exchange", "exchange"]

Floats = NDArray[np.float64]
Rows = list[list[Fraction]]
Key = tuple[int, bytes]
Named = dict[str, Floats]
IDLE = 4  # rounds without weight after which a prior may be dropped
FEW = 40  # so many priors stay in any case
NOTHING = 1e-11  # a difference that rounding alone may make
ROUNDS = 500
SEARCHING = 0.6  # share of the time after which what there is gets audited
STARTS, THOROUGH = 24, 96  # of the rival's search, in a round and before an audit
MIXTURES = 6
ROUNDING = 1e-11  # nats by which an audit's upper bound may grow when it is written and checked


@dataclass(frozen=True)
class DualBound:
    """A bound on the optimum from below, in doubles: priors with weights and posteriors, and the multiplier of the budget."""

    value: float = 0.0
    priors: Sequence[Prior] = ()
    weights: Sequence[float] = ()
    phi: Sequence[Floats] = ()
    nu: float = 0.0


@dataclass(frozen=True)
class _Offer:
    """A mechanism that meets its budget as far as the search sees; what it attains, and what it tells."""

    attained: float
    Q: Floats
    told: float


def exchange(
    problem: DesignProblem,
    gap: float,
    clock: Clock,
    rng: np.random.Generator,
    node_limit: float = math.inf,
    memory_limit: float = math.inf,
) -> Exchange:
    """The exchange for a feasible design problem, not yet run; the limits are those of its audits."""
    kind = DistortionExchange if isinstance(problem, MinDistortion) else LeakageExchange
    return kind(problem, gap, clock, rng, node_limit, memory_limit)


@dataclass
class Exchange(ABC):
    """A running exchange. Its bounds, and the mechanism it has, are valid whenever `run` returns (up to rounding).

    Mechanisms in doubles are matrices (orbits, outputs).

    Parameters
    ----------
    problem : MinLeakage or MinDistortion
        Feasible.
    gap : float
        Stop when (upper - lower) / upper is at most this.

    Attributes
    ----------
    dual : the best bound from below
    rows : the mechanism handed out, exact, of the problem's class: it meets the budget; None while there is none
    audit : the audit of this mechanism, which has run
    upper : what the mechanism attains: its leakage's upper bound, or its expected distortion
    rounds : how many master programs were solved
    """

    problem: DesignProblem
    gap: float
    clock: Clock
    rng: np.random.Generator
    node_limit: float = math.inf
    memory_limit: float = math.inf
    dual: DualBound = field(default_factory=DualBound)
    rows: Rows = field(default_factory=list)
    audit: Audit = field(init=False)
    upper: float = math.inf
    rounds: int = 0

    def __post_init__(self) -> None:
        problem = self.problem
        self.reduction = Reduction(problem)
        self.cost = self.reduction.cost
        self.rival = rival(problem, self.reduction.fibres, self.rng)
        self.known: dict[Key, Prior] = {}
        self.idle: dict[Key, int] = {}
        self.tied = None
        if problem.mechanism == "additive":
            values = np.arange(problem.input_count)
            self.tied = (values[None, :] - values[:, None]) % values.size
        self.least, self.constant = self._least(), self._constant()
        self.best = _Offer(math.inf, self.constant, 0.0)

    def _least(self) -> Floats:
        """The mechanism of least distortion."""
        if self.tied is not None:
            folded = [self.cost[self.tied == z].sum() for z in range(len(self.cost))]
            return np.asarray(self.tied == int(np.argmin(folded)), dtype=float)
        return np.eye(self.cost.shape[1])[self.cost.argmin(axis=1)]

    def _constant(self) -> Floats:
        """The constant mechanism of least distortion."""
        if self.tied is not None:
            return np.full(self.cost.shape, 1.0 / len(self.cost))
        return np.tile(np.eye(self.cost.shape[1])[self.cost.sum(axis=0).argmin()], (len(self.cost), 1))

    @property
    def lower(self) -> float:
        return self.dual.value

    def closed(self, upper: float) -> bool:
        """Whether an upper bound is close enough to the lower one."""
        return math.isfinite(upper) and upper - self.lower <= self.gap * abs(upper) + NOTHING

    def distortion(self, Q: Floats) -> float:
        return float(np.sum(self.cost * Q))

    def exact(self, Q: Floats) -> Rows:
        """Exact rows of the problem's class near Q."""
        return rational_rows(Q[:1] if self.tied is not None else self.reduction.spread(Q))

    # ------------------------------------------------------------ the loop

    def run(self) -> None:
        """Exchange until the bounds meet, then audit; go on where the audit finds what the search did not."""
        if self.trivial:
            self._settle(_Offer(self.upper, self.constant, 0.0), self.clock)
            return
        self._add(self.rival.replies(0.9 * self.least + 0.1 * self.constant, [], self.clock))
        self._show(self.least)
        while self.known and not self.closed(self.upper) and self.rounds < ROUNDS and not self._late:
            added = self._round()
            if self.closed(self.best.attained) or not added:
                before = len(self.known)
                self._show(self.best.Q, self.best.told, starts=THOROUGH)
                if len(self.known) == before:
                    self._settle(self.best, self.clock.part(0.7))
                if len(self.known) == before:
                    break
        self.conclude()

    def conclude(self) -> None:
        """Settle the best mechanism if that is still to be done; whatever happens there is one afterwards."""
        if not self.rows or (self.best.attained < self.upper and not self.closed(self.upper) and self._late):
            self._settle(self.best, self.clock)
        if not self.rows:
            self._settle(_Offer(math.inf, self.constant, 0.0), self.clock)

    @property
    def _late(self) -> bool:
        """Whether it is time for the audit: some time must be left for it."""
        return self.clock.expired or self.clock.seconds >= SEARCHING * self.clock.time_limit

    def _round(self) -> int:
        """One master program and one question to the rival; how many priors are new."""
        keys, priors = list(self.known), list(self.known.values())
        program = self.master([prior.masses for prior in priors])
        point, multipliers = self.solved(program)
        self.take(program, priors, multipliers)
        weights = multipliers["weights"]
        for key, weight in zip(keys, weights.tolist(), strict=True):
            self.idle[key] = 0 if weight > 1e-7 * weights.sum() else self.idle[key] + 1
        added = self._show(program.mechanism(point), self.allowed(program, point))
        for key in [key for key, idle in self.idle.items() if idle > IDLE][: max(len(self.known) - FEW, 0)]:
            del self.known[key], self.idle[key]
        self.rounds += 1
        self.clock.tell("exchange", self.rounds, self.lower, min(self.best.attained, self.upper), len(priors), now=True)
        return added

    def solved(self, program: MechanismUpdate) -> tuple[Named, Named]:
        """A point and multipliers that are close together: from our own interior-point method, the quickest, where it can."""
        program.wanted, program.deadline = 0.02 * self.gap, time.monotonic() + max(self.clock.remaining, 0.0)
        point, multipliers = program.improve(*program.start())
        value, bound = program.value(point), program.bound(multipliers)
        if value - bound <= program.wanted * max(abs(value), abs(bound)) + NOTHING:
            return point, multipliers
        answer = program.solve(gap=program.wanted, time_limit=max(self.clock.remaining, 0.0))
        return dict(answer.point), dict(answer.multipliers)

    def _show(self, Q: Floats, allowed: float = 0.0, *, starts: int = STARTS) -> int:
        """Let the rival look at a mechanism: priors that are told more than allowed become known; how many are new."""
        replies = self.rival.replies(Q, list(self.known.values()), self.clock, starts)
        told = [self.rival.told(prior, Q) for prior in replies]
        self.consider(Q, max([0.0, *told]))
        enough = allowed * (1.0 + 0.05 * self.gap) + NOTHING
        return self._add([prior for prior, leak in zip(replies, told, strict=True) if leak > enough])

    def consider(self, Q: Floats, told: float) -> None:
        """Keep a mechanism that tells so much, made to meet the budget, if it is the best."""
        offer = self.repaired(Q, told)
        if offer.attained < self.best.attained or Q is self.best.Q:
            self.best = offer

    def _add(self, priors: Sequence[Prior]) -> int:
        """Make priors and their images known; how many are new."""
        before = len(self.known)
        for prior in priors:
            moved = [prior]
            if prior.hint is None:
                moved = [Prior(*image) for image in self.reduction.images(prior.record, prior.masses)]
            for image in moved:
                key = image.record, (np.round(image.masses, 8) + 0.0).tobytes()
                self.known.setdefault(key, image)
                self.idle.setdefault(key, 0)
        return len(self.known) - before

    def take(self, program: MechanismUpdate, priors: list[Prior], multipliers: Named) -> None:
        """Keep a better bound from below, evaluated with the posteriors as a certificate will have them."""
        leakages, weights = program.leakages, multipliers["weights"]
        whole = leakages.pi[:, None] * np.exp(leakages.normalised(multipliers["log_ratio"]))
        value = program.bound(multipliers | {"log_ratio": np.log(whole) - leakages.log_pi[:, None]})
        if value <= self.lower:
            return
        phi = np.split(whole, leakages.first[1:])
        used = np.flatnonzero(weights > 1e-12 * weights.sum())
        self.dual = DualBound(
            value,
            [priors[s] for s in used],
            [float(weights[s]) for s in used],
            [_with_silent_letters(priors[s].masses, phi[s]) for s in used],
            float(multipliers.get("nu", 0.0)),
        )

    def audited(self, rows: Rows, clock: Clock, enough: float) -> Audit:
        """The audit of a mechanism, run; its witness becomes known."""
        audit = audit_of(self.problem.release(rows), 0.25 * self.gap, clock, self.rng)
        if isinstance(audit, Auditor):
            audit.enough, audit.node_limit, audit.memory_limit = enough, self.node_limit, self.memory_limit
        audit.run()
        if isinstance(audit, Auditor):
            found = audit.finding(1e-12 * (1.0 + self.problem.deficit))
            if found.record is not None and found.masses is not None:
                self._add([Prior(*self.reduction.folded(found.record, found.masses / found.masses.sum()))])
        return audit

    # ------------------------------------------------------------ what the two problems do differently

    @abstractmethod
    def master(self, priors: list[Floats]) -> MechanismUpdate:
        """The program over these priors."""

    @abstractmethod
    def allowed(self, program: MechanismUpdate, point: Named) -> float:
        """What the master's mechanism may tell: replies that are told no more are not new."""

    @property
    @abstractmethod
    def trivial(self) -> bool:
        """Whether a constant mechanism is the answer."""

    @abstractmethod
    def repaired(self, Q: Floats, told: float) -> _Offer:
        """A mechanism that tells so much, made to meet the budget."""

    @abstractmethod
    def _settle(self, offer: _Offer, clock: Clock) -> None:
        """Make a mechanism exact, audit it, and hand it out if it is better."""

    @property
    def termination(self) -> Termination:
        """Why the work stopped, where the gap was not reached."""
        if self.clock.stopped:
            return Termination.INTERRUPTED
        if self._late or self.audit.out_of_time:
            return Termination.TIME_LIMIT
        return Termination.SIZE_LIMIT if self.rounds >= ROUNDS else Termination.STALLED

    # ------------------------------------------------------------ certificates

    @staticmethod
    def constant_rows(rows: Rows) -> bool:
        """Whether a mechanism releases nothing at all (class additive: never mind)."""
        return len(rows) > 1 and all(row == rows[0] for row in rows)

    def row_texts(self) -> list[list[str]]:
        """The mechanism as whole weights, each row with the same sum."""
        return [[str(int(entry * DENOMINATOR)) for entry in row] for row in self.rows]

    def lines(self) -> list[list[Any]]:
        """The lines of a design certificate that prove the bound from below: priors on the problem's own inputs, with all images."""
        if not self.dual.priors or self.lower <= 0.0:
            return [["dual", None]]
        lines: list[list[Any]] = [["dual", short_text(self.dual.nu)]]
        for prior, weight, phi in zip(self.dual.priors, self.dual.weights, self.dual.phi, strict=True):
            if prior.hint is not None:
                lines.append(["prior", short_text(weight), prior.record, prior.hint, _texts(phi)])
                continue
            placed = self.reduction.unfolded(prior.record, prior.masses, phi)
            share = short_text(weight / len(placed))
            lines += [["prior", share, record, _texts(masses), _texts(own)] for record, masses, own in placed]
        return lines


class LeakageExchange(Exchange):
    """Problem 2: the least leakage within a budget of distortion."""

    def master(self, priors: list[Floats]) -> MechanismUpdate:
        return MinLeakageProgram(priors, self.cost, float(self.problem.budget), tied=self.tied)

    def allowed(self, program: MechanismUpdate, point: Named) -> float:
        return program.value(point)

    @property
    def trivial(self) -> bool:
        return self.problem.constant_distortion <= self.problem.budget

    def repaired(self, Q: Floats, told: float) -> _Offer:
        return _Offer(told, Q, told)

    def _settle(self, offer: _Offer, clock: Clock) -> None:
        Q, budget = offer.Q, float(self.problem.budget)
        excess = self.distortion(Q) - budget
        spare = budget - self.distortion(self.least)
        share = excess / (excess + spare) if excess > 0.0 else 0.0
        for mixed in mixtures(Q, self.least, share):
            rows = self.exact(mixed)
            if self.problem.expected_distortion(rows) <= self.problem.budget:
                break
        audit = self.audited(rows, clock, enough=self.lower / (1.0 - 0.9 * min(self.gap, 0.9)))
        if audit.upper < self.upper or not self.rows:
            self.rows, self.audit, self.upper = rows, audit, audit.upper


class DistortionExchange(Exchange):
    """Problem 3: the least distortion within a budget of leakage."""

    @property
    def budget(self) -> float:
        """In nats, less what outward rounding takes."""
        assert isinstance(self.problem, MinDistortion)
        return self.problem.max_leakage_nats

    def master(self, priors: list[Floats]) -> MechanismUpdate:
        return MinDistortionProgram(priors, self.cost, self.budget, tied=self.tied)

    def allowed(self, program: MechanismUpdate, point: Named) -> float:
        return self.budget

    @property
    def trivial(self) -> bool:
        return self.problem.constant_distortion == self.problem.least_distortion

    def repaired(self, Q: Floats, told: float) -> _Offer:
        """Mixed with the constant mechanism: leakage is convex, and 0 there."""
        share = max(1.0 - self.budget / told, 0.0) if told > 0.0 else 0.0
        mixed = (1.0 - share) * Q + share * self.constant
        return _Offer(self.distortion(mixed), mixed, (1.0 - share) * told)

    def _settle(self, offer: _Offer, clock: Clock) -> None:
        """Mixed with ever more of the constant mechanism, until the audit's bound meets the budget."""
        margin = 1.0 + 0.1 * min(self.gap, 1.0)  # what the audit's bound may be above the search's
        Q, upper = offer.Q, offer.told
        for _ in range(MIXTURES):
            Q = self.repaired(Q, upper * margin).Q
            rows = self.exact(Q)
            audit = self.audited(rows, clock.part(0.45), enough=self.budget - ROUNDING)
            upper = audit.upper
            if upper <= self.budget - ROUNDING or self.constant_rows(rows):
                attained = float(self.problem.expected_distortion(rows))
                if attained < self.upper:
                    self.rows, self.audit, self.upper = rows, audit, attained
                return


def _with_silent_letters(masses: Floats, phi: Floats) -> Floats:
    """phi with zeros for the letters without mass, which programs drop."""
    full = np.zeros((len(masses), phi.shape[1]))
    full[masses.sum(axis=1) > 0.0] = phi
    return full


def _texts(matrix: Floats) -> list[list[str]]:
    return [[short_text(x) for x in row] for row in matrix.tolist()]
