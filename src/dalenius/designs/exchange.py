"""Problems 2 and 3 to certified global optimality: a master program over the priors found so far, and the adversary as its oracle.

The worst-case leakage L is the largest of I_s(Q) over the adversary's priors s, and convex in Q. The master knows some of the priors:
its multipliers prove a bound on the optimum (docs/certificate-format.md, *Design*). Its mechanism is shown to the rival, whose replies
join the priors, until none is told more than the bound allows. Then the audit of Problem 1 settles what the mechanism tells to all.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.audits import Audit, Auditor, audit_of
from dalenius.designs.oracle import EntropyRival, Prior, certificate_priors, rival
from dalenius.designs.rational import DENOMINATOR, mixtures, rational_rows, weight_texts
from dalenius.errors import DaleniusError
from dalenius.evidence import Certificate, short_text
from dalenius.model import MinDistortion
from dalenius.model.design_problem import DesignProblem
from dalenius.outcome import Termination
from dalenius.programs import MinDistortionProgram, MinLeakageProgram
from dalenius.programs.mechanism_update import MechanismUpdate
from dalenius.reduction import Orbits
from dalenius.search.clock import Clock

__all__ = ["DualBound", "Exchange", "exchange"]

Floats = NDArray[np.float64]
Rows = list[list[Fraction]]
Key = tuple[int, bytes]
Named = dict[str, Floats]
Outcome = tuple[Rows, Audit, float]  # a mechanism, its audit, and what it attains
IDLE = 4  # rounds without weight after which a prior may be dropped
FEW = 40  # so many priors stay in any case
NOTHING = 1e-11  # a difference that rounding alone may make
ROUNDS = 500
FINEST = 1e-9  # relative gap of a master that is always enough
SOLVER = "CLARABEL"  # where our own method stalls; not SCS, which would swallow Ctrl-C and write to standard output
SMALLEST, LARGEST = 1e-6, 1e300  # of the largest distortion: tolerances are absolute
SEARCHING = 0.6  # share of the time after which what there is gets audited
LOOKING = 0.2  # share of the remaining time that the rival may look at one mechanism
STARTS, THOROUGH = 24, 96  # of the rival's search, in a round and before an audit
MIXTURES = 6
SEARCH_GAP = 0.6  # share of the gap that the search may leave; the rest is the audit's
GIVEN_AWAY = 0.3  # share of the gap that a mechanism may distort more so that its audit is easier
TINY = 1e-9  # budgets in nats near which rounding decides
HEAVIEST = 1e8  # weight of a prior, relative to the largest cost: posteriors are written in doubles
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
class _Line:
    """A `prior` line of a certificate: masses and posteriors on the problem's own inputs, and how the prior is written."""

    weight: float
    record: int
    masses: Floats
    phi: Floats
    hint: Any = None

    def scores(self) -> Floats:
        """The weight times g(x,y) = sum_a p(a,x) log(phi(a|y) / pi_a)."""
        pi = self.masses.sum(axis=1)
        used = pi > 0.0
        log_ratio = np.log(self.phi[used] / self.phi[used].sum(axis=0)) - np.log(pi[used, None])
        return self.weight * (self.masses[used].T @ log_ratio)


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
    """The exchange for a feasible design problem, not yet run; the limits are those of its audits.

    Raises
    ------
    DaleniusError
        If the largest distortion is beyond what doubles can work with.
    """
    largest = float(problem.cost.max())
    if largest and not SMALLEST < largest < LARGEST:
        raise DaleniusError(
            f"nothing can be computed about this design: its largest distortion should be between {SMALLEST:g} and {LARGEST:g}; "
            "measure distortion, and its budget, in another unit"
        )
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
        self.reduction = Orbits.of(problem)
        self.cost = self.reduction.cost
        self.rival = rival(problem, self.reduction.completions, self.rng)
        self.known: dict[Key, Prior] = {}
        self.idle: dict[Key, int] = {}
        self.tied = None
        if problem.mechanism == "additive":
            values = np.arange(problem.input_count)
            self.tied = (values[None, :] - values[:, None]) % values.size
        self.least, self.constant = self._least(), self._constant()
        self.best = _Offer(math.inf, self.constant, 0.0)
        self.settled = self.best
        self.hopeful = list[Outcome]()

    def _least(self, near: Floats | None = None) -> Floats:
        """A mechanism of least distortion: one output an input, or where several are as good, the given one's masses on them."""
        cost = self._folded(self.cost)
        cheap = cost <= cost.min(axis=1, keepdims=True) * (1.0 + 1e-14)
        q = np.eye(cost.shape[1])[cost.argmin(axis=1)]
        if near is not None:
            masses = np.where(cheap, near[: len(cost)], 0.0)
            some = masses.sum(axis=1) > 0.0
            q[some] = masses[some] / masses[some].sum(axis=1, keepdims=True)
        return q if self.tied is None else q[0][self.tied]

    def _folded(self, matrix: Floats) -> Floats:
        """Sums over the entries that the class ties together: of additive noise, for every shift."""
        if self.tied is None:
            return matrix
        return np.asarray(np.bincount(self.tied.reshape(-1), weights=matrix.reshape(-1))[None], dtype=float)

    def _constant(self) -> Floats:
        """The constant mechanism of least distortion."""
        if self.tied is not None:
            return np.full(self.cost.shape, 1.0 / len(self.cost))
        return np.tile(np.eye(self.cost.shape[1])[self.cost.sum(axis=0).argmin()], (len(self.cost), 1))

    @property
    def lower(self) -> float:
        return self.dual.value

    def closed(self, upper: float, share: float = 1.0) -> bool:
        """Whether an upper bound is close enough to the lower one: within this share of the gap."""
        return math.isfinite(upper) and upper - self.lower <= share * self.gap * abs(upper) + NOTHING

    def distortion(self, Q: Floats) -> float:
        return float(np.sum(self.cost * Q))

    def exact(self, Q: Floats) -> Rows:
        """Exact rows of the problem's class near Q."""
        if self.tied is not None and np.array_equal(Q, self.constant):
            return [[Fraction(1, len(Q))] * len(Q)]
        return rational_rows(Q[:1] if self.tied is not None else self.reduction.spread(Q))

    def recall(self, certificate: Certificate) -> None:
        """Begin with the priors of a certificate: of a design that differs in its budget only. What does not fit is left out."""
        if isinstance(self.rival, EntropyRival):
            folded = (self.reduction.folded(*placed) for placed in certificate_priors(certificate, self.problem))
            distinct = {_key(record, masses): (record, masses) for record, masses in folded}
            self._add([self.rival.made_feasible(*placed) for placed in distinct.values()])

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
            if not added or self.closed(self.best.attained, SEARCH_GAP):
                added += self._doubted()
            if not added:
                break
        self.conclude()

    def _doubted(self) -> int:
        """Look hard at the best mechanism, then audit it; how many priors that adds. Nothing is audited twice."""
        if added := self._show(self.best.Q, self.best.told, starts=THOROUGH):
            return added
        before = len(self.known)
        if self.best is not self.settled:
            self._settle(self.best, self.clock.part(0.8))
        return len(self.known) - before

    def conclude(self) -> None:
        """Settle the best mechanism if that is still to be done; whatever happens there is one afterwards."""
        if self.best is not self.settled and self.best.attained < self.upper and not self.closed(self.upper):
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
        left = max(min(self.clock.remaining, SEARCHING * self.clock.time_limit - self.clock.seconds), 0.0)
        program.wanted, program.deadline = max(0.02 * self.gap, FINEST), time.monotonic() + left
        point, multipliers = program.improve(*program.start())
        value, bound = program.value(point), program.bound(multipliers)
        left = program.deadline - time.monotonic()
        if left <= 0.0 or value - bound <= program.wanted * max(abs(value), abs(bound)) + NOTHING:
            return point, multipliers
        answer = program.solve(gap=program.wanted, time_limit=left, solver=SOLVER)
        return dict(answer.point), dict(answer.multipliers)

    def _show(self, Q: Floats, allowed: float = 0.0, *, starts: int = STARTS) -> int:
        """Let the rival look at a mechanism: priors that are told more than allowed become known; how many are new."""
        replies = self.rival.replies(Q, list(self.known.values()), self.clock.part(LOOKING), starts)
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
                key = _key(image.record, image.masses)
                self.known.setdefault(key, image)
                self.idle.setdefault(key, 0)
        return len(self.known) - before

    def take(self, program: MechanismUpdate, priors: list[Prior], multipliers: Named) -> None:
        """Keep a better bound from below, evaluated with the posteriors as a certificate will have them."""
        leakages, multipliers = program.leakages, self.writable(multipliers)
        weights = multipliers["weights"]
        whole = leakages.pi[:, None] * np.exp(leakages.normalised(multipliers["log_ratio"]))
        value = program.bound(multipliers | {"log_ratio": np.log(whole) - leakages.log_pi[:, None]})
        if not (value > self.lower and math.isfinite(value) and weights.sum() > 0.0):
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

    def audited(self, rows: Rows, clock: Clock, enough: float, gap: float) -> Audit:
        """The audit of a mechanism, run until its upper bound is enough or its gap small; its witness becomes known."""
        audit = audit_of(self.problem.release(rows), gap, clock, self.rng)
        if isinstance(audit, Auditor):
            audit.enough, audit.node_limit, audit.memory_limit = enough, self.node_limit, self.memory_limit
        audit.run()
        if isinstance(audit, Auditor):
            found = audit.finding(1e-12 * (1.0 + self.problem.deficit))
            if found.record is not None and found.masses is not None:
                self._add([Prior(*self.reduction.folded(found.record, found.masses / found.masses.sum()))])
        return audit

    def outcomes(self) -> Iterator[None]:
        """Hand out one mechanism after the other, until the caller can prove what is claimed about it: the best first."""
        for outcome in [*reversed(self.hopeful), (self.rows, self.audit, self.upper)]:
            self.rows, self.audit, self.upper = outcome
            yield

    # ------------------------------------------------------------ what the two problems do differently

    @abstractmethod
    def master(self, priors: list[Floats]) -> MechanismUpdate:
        """The program over these priors."""

    def writable(self, multipliers: Named) -> Named:
        """Multipliers whose posteriors doubles can tell from the letters' laws."""
        return multipliers

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
        return Termination.SIZE_LIMIT if self.rounds >= ROUNDS or self.audit.out_of_room else Termination.STALLED

    # ------------------------------------------------------------ certificates

    def constant_rows(self, rows: Rows) -> bool:
        """Whether a mechanism releases nothing at all."""
        if self.tied is not None:
            return all(entry == rows[0][0] for entry in rows[0])
        return all(row == rows[0] for row in rows)

    def row_texts(self) -> list[list[str]]:
        """The mechanism as whole weights, each row with the same sum."""
        return weight_texts(self.rows, DENOMINATOR)

    def lines(self) -> list[list[Any]]:
        """The lines of a design certificate that prove the bound from below: priors on the problem's own inputs, with all images."""
        if not self.dual.priors or self.lower <= 0.0:
            return [["dual", None]]
        listed = [
            [
                *("prior", short_text(line.weight), line.record),
                *(_texts(line.masses) if line.hint is None else line.hint, _texts(line.phi)),
            ]
            for line in self._listed()
        ]
        return [["dual", short_text(self.dual.nu)], *listed]

    def provable(self) -> float:
        """The bound from below as `lines` prove it: on the problem's own inputs, with the images that are listed; in doubles."""
        if not self.dual.priors:
            return 0.0
        lines = list(self._listed())
        total = sum(line.weight for line in lines)
        scores = np.sum([line.scores() for line in lines], axis=0)
        cost = self.problem.input_law[:, None] * self.problem.cost
        value = self._proved_by(scores, total, cost)
        return value if math.isfinite(value) else 0.0

    def _listed(self) -> Iterator[_Line]:
        """The dual's priors on the problem's own inputs; with all images where inputs share orbits."""
        for prior, weight, phi in zip(self.dual.priors, self.dual.weights, self.dual.phi, strict=True):
            if prior.hint not in (None, "uniform"):
                yield _Line(weight, prior.record, prior.masses, phi, prior.hint)
                continue
            placed = self.reduction.unfolded(prior.record, prior.masses, phi)
            for record, masses, own in placed:
                yield _Line(weight / len(placed), record, masses, own, prior.hint)

    @abstractmethod
    def _proved_by(self, scores: Floats, weight: float, cost: Floats) -> float:
        """The checker's formula for the weighted sum of the priors' scores, the sum of their weights, and p(x) d(x,y)."""


class LeakageExchange(Exchange):
    """Problem 2: the least leakage within a budget of distortion."""

    def master(self, priors: list[Floats]) -> MechanismUpdate:
        return MinLeakageProgram(priors, self.cost, float(self.problem.budget), tied=self.tied)

    def allowed(self, program: MechanismUpdate, point: Named) -> float:
        return program.value(point)

    @property
    def trivial(self) -> bool:
        return self.problem.constant_distortion <= self.problem.budget

    def _proved_by(self, scores: Floats, weight: float, cost: Floats) -> float:
        nu = self.dual.nu
        least = self._folded(scores / weight + nu * cost).min(axis=1)
        return float(np.sum(least)) - nu * float(self.problem.budget)

    def repaired(self, Q: Floats, told: float) -> _Offer:
        return _Offer(told, Q, told)

    def _settle(self, offer: _Offer, clock: Clock) -> None:
        self.settled = offer
        Q, budget = offer.Q, float(self.problem.budget)
        least = self._least(near=Q)
        excess = self.distortion(Q) - budget
        spare = budget - self.distortion(least)
        share = min(excess / (excess + spare), 1.0) if excess > 0.0 and excess + spare > 0.0 else 0.0
        for mixed in (*mixtures(Q, least, share), self.least):
            rows = self.exact(mixed)
            if self.problem.expected_distortion(rows) <= self.problem.budget:
                break
        audit = self.audited(rows, clock, self.lower / (1.0 - 0.9 * min(self.gap, 0.9)), 0.25 * self.gap)
        if audit.upper < self.upper or not self.rows:
            self.rows, self.audit, self.upper = rows, audit, audit.upper


class DistortionExchange(Exchange):
    """Problem 3: the least distortion within a budget of leakage."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.dual = self._without_adversary()

    def _without_adversary(self) -> DualBound:
        """The bound that holds whatever is told: the least distortion. The prior is there because a certificate needs one."""
        least, prior = float(self.problem.least_distortion), self.rival.anyone
        if least <= 0.0:
            return DualBound()
        weight = max(1e-16 * least / (1.0 + self.budget), 5e-324)
        pi = prior.masses.sum(axis=1, keepdims=True)
        return DualBound(least * (1.0 - 2e-15), [prior], [weight], [np.tile(pi, (1, self.cost.shape[1]))])

    @property
    def budget(self) -> float:
        """In nats."""
        assert isinstance(self.problem, MinDistortion)
        return self.problem.max_leakage_nats

    def master(self, priors: list[Floats]) -> MechanismUpdate:
        return MinDistortionProgram(priors, self.cost, self.budget, tied=self.tied)

    def writable(self, multipliers: Named) -> Named:
        """Lighter weights with ratios as much farther from 1: the same bound, but for terms of second order in the ratios."""
        weights, ratios = multipliers["weights"], np.expm1(multipliers["log_ratio"])
        lighter = HEAVIEST * float(self.cost.max()) / max(float(weights.max()), 1e-300)
        if not lighter < 1.0:
            return multipliers
        return multipliers | {"weights": lighter * weights, "log_ratio": np.log1p(np.maximum(ratios / lighter, -0.9))}

    def allowed(self, program: MechanismUpdate, point: Named) -> float:
        return self.budget

    @property
    def trivial(self) -> bool:
        return self.problem.constant_distortion == self.problem.least_distortion

    def _proved_by(self, scores: Floats, weight: float, cost: Floats) -> float:
        return float(np.sum(self._folded(cost + scores).min(axis=1))) - self.budget * weight

    def repaired(self, Q: Floats, told: float) -> _Offer:
        """Mixed with the constant mechanism: leakage is convex, and 0 there."""
        share = max(1.0 - self.budget / told, 0.0) if told > 0.0 else 0.0
        mixed = self._mixed(Q, share)
        return _Offer(self.distortion(mixed), mixed, (1.0 - share) * told)

    def _mixed(self, Q: Floats, share: float) -> Floats:
        return (1.0 - share) * Q + share * self.constant

    def _settle(self, offer: _Offer, clock: Clock) -> None:
        """Mixed with a little of the constant mechanism, then with more, until the audit's bound meets the budget; then with less.

        Every attempt has half the time of the one before, so that it will leave a wider interval: three times as wide is allowed for.
        """
        self.settled = offer
        room = self._room(offer)
        share, failed, met = self._share(offer, room), 0.0, math.inf
        for attempt in range(MIXTURES):
            rows = self.exact(self._mixed(offer.Q, share))
            audit = self.audited(rows, clock.part(0.5), enough=self.budget - ROUNDING, gap=0.3 * room)
            if self._handed_out(rows, audit):
                met = share
                if attempt == 0 or self.closed(self.upper) or clock.expired:
                    return
            else:
                failed = share
            width = min(3.0 * (1.0 - audit.lower / audit.upper), 0.5) if audit.upper > 0.0 else 0.5
            kept = max(self.budget - 3.0 * ROUNDING, 0.0) * (1.0 - width) / max(audit.lower, self.budget, ROUNDING)
            share = 0.5 * (failed + met) if met <= 1.0 else 1.0 - (1.0 - share) * kept
            if met > 1.0 and attempt >= MIXTURES - 2:
                share = 1.0

    def _room(self, offer: _Offer) -> float:
        """The share of its budget of leakage that a mechanism may leave to the audit, so that this costs a part of the gap."""
        costs = self.distortion(self.constant) - offer.attained
        cheap = GIVEN_AWAY * self.gap * offer.attained / costs if costs > 0.0 else 0.0
        return float(np.clip(cheap, max(0.01 * self.gap, 1e-9), 0.3))

    def _share(self, offer: _Offer, room: float) -> float:
        """The share of the constant mechanism that leaves so much room."""
        return max(1.0 - self.budget * (1.0 - room) / offer.told, 0.0) if offer.told > 0.0 else 0.0

    def _handed_out(self, rows: Rows, audit: Audit) -> bool:
        """Whether this mechanism meets the budget; of budgets near 0, where rounding is in doubt, the checker judges in the end."""
        meets = audit.upper <= self.budget - ROUNDING or self.constant_rows(rows)
        hopeful = not meets and self.budget < TINY and audit.upper <= self.budget + ROUNDING
        outcome = rows, audit, float(self.problem.expected_distortion(rows))
        if outcome[2] < self.upper and meets:
            self.rows, self.audit, self.upper = outcome
        elif outcome[2] < self.upper and hopeful:
            self.hopeful.append(outcome)
        return meets or hopeful

    def outcomes(self) -> Iterator[None]:
        yield from super().outcomes()
        self.upper = math.inf
        self._settle(_Offer(math.inf, self.constant, 0.0), self.clock)
        yield


def _with_silent_letters(masses: Floats, phi: Floats) -> Floats:
    """phi with zeros for the letters without mass, which programs drop."""
    full = np.zeros((len(masses), phi.shape[1]))
    full[masses.sum(axis=1) > 0.0] = phi
    return full


def _key(record: int, masses: Floats) -> Key:
    """The same for priors that differ by rounding."""
    return record, (np.round(masses, 8) + 0.0).tobytes()


def _texts(matrix: Floats) -> list[list[str]]:
    return [[short_text(x) for x in row] for row in matrix.tolist()]
