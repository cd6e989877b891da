"""Rivals for Problems 2 and 3: what the field runs on a min-max of mechanisms and adversaries, each to where it comes to rest.

They ask the house's own search for priors, so that none falls behind for want of an adversary. Nothing here is proved:
`dalenius.studies.compare` audits the mechanism that each ends with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from dalenius.baselines.family import DesignRun, Log, Rest
from dalenius.baselines.gradients import channel_gradient, on_entropy_boundary, prior_gradient
from dalenius.baselines.nonlinear import OutOfTimeError
from dalenius.designs.oracle import EntropyOracle, Prior
from dalenius.errors import InputError
from dalenius.information import mutual_information, x_log_x
from dalenius.information.arrays import Floats
from dalenius.model import DesignProblem
from dalenius.search import Clock, Limits, Run

if TYPE_CHECKING:
    from dalenius.designs.exchange import Exchange, Place

MOST_ENTRIES = 600  # of a mechanism on orbits: SLSQP's steps cost the cube of this
STARTS = 24  # of the search for priors against a mechanism
PATIENCE, GAIN = 60, 1e-6  # mechanisms in a row that gain no more than this share are the last
NEWS = 1e-7  # share by which a prior must learn more than those that are known
BLUR = 0.1  # of the first mechanism, towards a constant or a random one
MEMORY = 5  # rounds whose priors convex-concave steps remember
PRIORS = 8  # of each kind of record that ascend
WINDOW = 20  # steps of descent and ascent between two mechanisms
LEAST_MASS = 1e-13  # of a prior's cell
LEAST_ENTRY = 1e-9  # of a mechanism where slopes are taken, which have no end at 0
STEP = 0.3  # the first step of a mechanism, in the norm of its entries


@dataclass(frozen=True, eq=False)
class Reply:
    """A prior of an adversary who stands at a place, and the most that may leak to him, in nats; None where that is minimised."""

    place: Place
    prior: Prior
    limit: float | None


@dataclass(eq=False)
class Game:
    """A design as a min-max: linear rows, limits of leakage, and adversaries who answer a mechanism with priors.

    Mechanisms are entries q (rows, outputs) of the class's variable on orbits. Those that meet all equations are an origin plus
    combinations v of an orthonormal basis, and the others of their rows are A v <= h.

    Attributes
    ----------
    exchange : Exchange
        Whose region and adversaries these are; it does not run.
    start : (rows, outputs)
    asked, told : what adversaries answered the mechanism that a rival has shown last, and how much they learn
    """

    exchange: Exchange
    log: Log
    rng: np.random.Generator
    start: Floats
    told: dict[Place, float] = field(default_factory=dict)
    asked: list[Reply] = field(default_factory=list)

    @classmethod
    def of(cls, problem: DesignProblem, seed: int, clock: Clock) -> Game:
        """Make it, beginning with blurred truth, or amid the constraints; with other seeds than 0 next to a random mechanism.

        Raises
        ------
        InputError
            Where there is something in the design that these rivals do not know, by name.
        """
        from dalenius.designs.exchange import Exchange  # imports the modelling language, which takes a second
        from dalenius.designs.exchange.interior import Inside

        if problem.objective is not None:
            raise InputError("methods: the rivals of designs minimise one thing, not an objective of several terms")
        exchange = Exchange(problem, Run.of(Limits(time_limit=None), seed))
        region, rng = exchange.region, np.random.default_rng(seed)
        if region.cones or region.secrets:
            raise InputError("methods: the rivals of designs know rows and leakages, not cones or limits about secrets")
        if region.shape[0] * region.shape[1] > MOST_ENTRIES:
            raise InputError(f"methods: the rivals of designs take at most {MOST_ENTRIES} entries of a mechanism")
        hopeless = problem.plain and not problem.feasible
        if hopeless or not isinstance(region.found, Inside) or region.anchor is None:
            raise InputError("methods: no mechanism was found that meets the constraints")
        game = cls(exchange, Log(clock), rng, region.matrix(region.anchor))
        sharp = region.tied.cheapest(region.tied.sums(exchange.orbits.cost))
        even = np.full(region.shape, 1.0 / region.shape[1])
        other = rng.dirichlet(np.ones(region.shape[1]), region.shape[0]) if seed else (game.start + even) / 2.0
        game.start = game.projected((1.0 - BLUR) * sharp + BLUR * other)
        return game

    @cached_property
    def cost(self) -> Floats | None:
        """p(x) d(x,y) by entries of a least distortion; None of a least leakage."""
        costs = self.exchange.goal.costs
        return self.exchange.region.tied.sums(costs[0]) if costs else None

    # ------------------------------------------------------------ what adversaries say

    def replies(
        self, q: Floats, known: Sequence[Reply] = (), starts: int = STARTS
    ) -> tuple[list[Reply], dict[Place, float]]:
        """Priors that learn much from a mechanism, and the most that each adversary learns."""
        Q, found = self.exchange.region.expanded(q), list[Reply]()
        told: dict[Place, float] = {}
        for watcher in self.exchange.watchers:
            warm = [reply.prior for reply in known if reply.place == watcher.place]
            priors = watcher.oracle.worst_priors(Q, warm, self.log.clock, starts)
            found += [Reply(watcher.place, prior, watcher.limit) for prior in priors]
            told[watcher.place] = max((watcher.oracle.leakage(prior, Q) for prior in priors), default=0.0)
        return found, told

    def leakage(self, prior: Prior, q: Floats) -> tuple[float, Floats]:
        """I(X_i; Y) under a prior, and its gradient by entries."""
        region, Q = self.exchange.region, self.exchange.region.expanded(q)
        self.log.evaluations += 1
        return float(mutual_information(prior.masses @ Q)), region.tied.sums(channel_gradient(prior.masses, Q))

    def slope(self, q: Floats, replies: Sequence[Reply]) -> Floats:
        """A subgradient: of what is farthest above its limit, if anything is; else of what is minimised."""
        leaks = [(*self.leakage(reply.prior, q), reply.limit) for reply in replies]
        over = [(value - limit, slope) for value, slope, limit in leaks if limit is not None and value > limit]
        if not over and self.cost is not None:
            return self.cost
        found = over or [(value, slope) for value, slope, limit in leaks if limit is None]
        return max(found, key=lambda pair: pair[0])[1]

    @cached_property
    def anchor(self) -> tuple[Floats, Mapping[Place, float]]:
        """A mechanism with room in the limits, and what it leaks."""
        region = self.exchange.region
        q = region.constant or region.anchor
        assert q is not None
        return region.matrix(q), self.replies(region.matrix(q))[1]

    def kept(self, q: Floats) -> tuple[float, Floats, float]:
        """The value of what was asked about, mixed with the anchor until it keeps the limits; that mixture; the most that it leaks."""
        goal, (anchor, least) = self.exchange.goal, self.anchor
        share = goal.share(self.told, least)
        mixed = (1.0 - share) * q + share * anchor
        told = {place: (1.0 - share) * leaks + share * least[place] for place, leaks in self.told.items()}
        return goal.value(mixed, told), mixed, max(told.values(), default=0.0)

    # ------------------------------------------------------------ two programs

    @cached_property
    def _rows(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Origin, basis (entries, free), A and h."""
        from scipy.linalg import null_space  # takes long to import

        region, rows = self.exchange.region, self.exchange.region.linear
        assert region.anchor is not None
        origin, matrix = region.matrix(region.anchor).ravel(), rows.matrix.toarray()
        sums = np.kron(np.eye(region.shape[0]), np.ones(region.shape[1]))
        basis = null_space(np.vstack([sums, matrix[rows.equal]]))
        within = matrix[~rows.equal]
        return (
            origin,
            basis,
            np.vstack([within @ basis, -basis]),
            np.append(rows.ends[~rows.equal] - within @ origin, origin),
        )

    def entries(self, v: Floats) -> Floats:
        """The mechanism of a combination."""
        origin, basis, _, _ = self._rows
        return np.maximum(origin + basis @ v, 0.0).reshape(self.start.shape)

    def projected(self, point: Floats) -> Floats:
        """The nearest mechanism that meets the linear rows: a least distance, by Lawson's and Hanson's non-negative least squares."""
        from scipy.optimize import nnls  # takes long to import

        origin, basis, A, h = self._rows
        v = basis.T @ (point.ravel() - origin)
        room = h - A @ v
        if room.min() < 0.0:
            system = np.vstack([-A.T, -room])
            weights, _ = nnls(system, np.append(np.zeros(len(v)), 1.0), maxiter=30 * len(A))
            rest = system @ weights
            rest[-1] -= 1.0
            v = v - rest[:-1] / rest[-1] if rest[-1] else np.zeros_like(v)
        return self.entries(v)

    def best_for(self, replies: Sequence[Reply], q: Floats) -> Floats:
        """The best mechanism for these priors, from another: the epigraph, by scipy's SLSQP with analytic gradients."""
        from scipy.optimize import minimize  # takes long to import

        origin, basis, A, h = self._rows
        size, tied = basis.shape[1], self.exchange.region.tied
        steps = np.stack([tied.expand(step.reshape(q.shape)).ravel() for step in basis.T])
        masses = np.zeros((len(replies), max(len(reply.prior.masses) for reply in replies), len(tied.numbers)))
        for k, reply in enumerate(replies):
            masses[k, : len(reply.prior.masses)] = reply.prior.masses
        free = np.array([float(reply.limit is None) for reply in replies])
        most = np.array([reply.limit or 0.0 for reply in replies])

        def opened(z: Floats) -> Floats:
            return np.maximum(tied.expand(self.entries(z[:size])), LEAST_ENTRY)

        def leaks(z: Floats) -> Floats:
            if self.log.clock.expired:
                raise OutOfTimeError
            self.log.evaluations += len(replies)
            return np.asarray(mutual_information(masses @ opened(z)))

        def room_slopes(z: Floats) -> Floats:
            slopes = channel_gradient(masses, opened(z))
            return np.hstack([-slopes.reshape(len(replies), -1) @ steps.T, free[:, None]])

        level = np.append(np.zeros(size), 1.0)  # the last is the level of what leaks, where that is minimised
        if self.cost is not None:
            level = np.append(basis.T @ self.cost.ravel(), 0.0)
        start, linear = np.append(basis.T @ (q.ravel() - origin), 0.0), np.hstack([-A, np.zeros((len(A), 1))])
        try:
            start[size] = max(free * leaks(start))
            found = minimize(
                lambda z: float(level @ z),
                start,
                jac=lambda z: level,
                method="SLSQP",
                constraints=[
                    {"type": "ineq", "fun": lambda z: h + linear @ z, "jac": lambda z: linear},
                    {"type": "ineq", "fun": lambda z: most + free * z[size] - leaks(z), "jac": room_slopes},
                ],
                options={"maxiter": 200, "ftol": 1e-10},
            ).x
        except OutOfTimeError:
            return q
        return self.projected(origin + basis @ found[:size]) if np.isfinite(found).all() else q


# The rivals: each shows one mechanism after another, and is told what adversaries say.


def slsqp(game: Game) -> Iterator[Floats]:
    """The best mechanism for all priors so far, by SLSQP on the epigraph, until no adversary learns more than by them."""
    q, known = game.start, list[Reply]()
    while True:
        yield q
        learned = dict.fromkeys(game.told, 0.0)
        for reply in known:
            learned[reply.place] = max(learned[reply.place], game.leakage(reply.prior, q)[0])
        news = [r for r in game.asked if game.leakage(r.prior, q)[0] > (1.0 + NEWS) * learned[r.place]]
        if not news:
            return
        known += news
        q = game.best_for(known, q)


def subgradient(game: Game) -> Iterator[Floats]:
    """Projected subgradients: along a limit that is broken, else along what is minimised; steps fall as 1/sqrt(k)."""
    q = game.start
    for k in count(1):
        yield q
        slope = game.slope(q, game.asked)
        q = game.projected(q - STEP / np.sqrt(k) * slope / max(float(np.linalg.norm(slope)), NEWS))


def convex_concave(game: Game) -> Iterator[Floats]:
    """By turns the best mechanism for the priors of the last rounds, and priors from where they stood.

    What a prior tells is convex in it, up to the entropy of its letters: linearised at its posteriors it is a concave program.
    """
    q, rounds = game.start, list[list[Reply]]()
    while True:
        yield q
        rounds = [*rounds[1 - MEMORY :], game.replies(q, rounds[-1] if rounds else (), starts=1)[0]]
        q = game.best_for([reply for replies in rounds for reply in replies], q)


def descent_ascent(game: Game) -> Iterator[Floats]:
    """The mechanism descends the Lagrangian by projected gradients while priors ascend by exponentiated ones; their averages count."""
    replies, laws = list[Reply](), list[tuple[Floats, float]]()
    for watcher in game.exchange.watchers:
        if not isinstance(watcher.oracle, EntropyOracle):
            raise InputError("methods: descent-ascent moves a few priors a record, for an entropy bound alone")
        for part in [part for part in watcher.oracle.parts for _ in range(PRIORS)]:
            draw = game.rng.dirichlet(np.ones(part.uniform.size)).reshape(part.uniform.shape) * (part.uniform > 0.0)
            replies.append(Reply(watcher.place, Prior(part.record, draw / draw.sum()), watcher.limit))
            laws.append((part.log_uniform, -watcher.oracle.max_knowledge))
    prices, q, mean, averaged = np.zeros(len(replies)), game.start, game.start, 0
    limits = np.array([np.inf if reply.limit is None else max(reply.limit, NEWS) for reply in replies])
    unit = 1.0 if game.cost is None else float(np.linalg.norm(game.cost))
    for k in count(1):
        if k % WINDOW == 1:
            yield mean
        averaged, pace = 0 if k & (k - 1) == 0 else averaged, 1.0 / np.sqrt(k)  # at powers of 2 the averages begin anew
        replies = [
            _ascended(reply, game.exchange.region.expanded(q), *law) for reply, law in zip(replies, laws, strict=True)
        ]
        leaks = [game.leakage(reply.prior, q) for reply in replies]
        values = np.array([value for value, _ in leaks])
        prices = np.where(np.isinf(limits), 0.0, np.maximum(prices + pace * (values / limits - 1.0), 0.0))
        if game.cost is None:
            prices[np.argmax(np.where(np.isinf(limits), values, -1.0))] = 1.0
        weights = prices * np.where(np.isinf(limits), 1.0, unit / limits)
        slope = np.zeros_like(q) if game.cost is None else game.cost
        for weight, (_, own) in zip(weights, leaks, strict=True):
            slope = slope + weight * own
        q = game.projected(q - STEP * pace * slope / max(float(np.linalg.norm(slope)), NEWS))
        averaged += 1
        mean = mean + (q - mean) / averaged


def _ascended(reply: Reply, Q: Floats, log_uniform: Floats, least: float) -> Reply:
    """A prior after a step of exponentiated gradient, back on the boundary of its entropy where that is too small."""
    some, slope = np.isfinite(log_uniform), prior_gradient(reply.prior.masses, Q)
    masses = reply.prior.masses[some] * np.exp(slope[some])
    masses = np.maximum(masses / masses.sum(), LEAST_MASS)
    if float(masses @ log_uniform[some] - x_log_x(masses).sum()) < least:
        masses = on_entropy_boundary(masses, log_uniform[some], least)
    moved = np.zeros_like(log_uniform)
    moved[some] = masses / masses.sum()
    return replace(reply, prior=Prior(reply.prior.record, moved))


DesignRival = Callable[[Game], Iterator[Floats]]
DESIGN_RIVALS: Mapping[str, tuple[str, DesignRival]] = {
    "slsqp": ("scipy's SLSQP on the epigraph, analytic gradients", slsqp),
    "subgradient": ("projected subgradients of the epigraph", subgradient),
    "descent-ascent": ("gradient descent of the mechanism, ascent of a few priors a record", descent_ascent),
    "convex-concave": ("convex programs by turns, priors from where they stood", convex_concave),
}


def game_run(method: str, game: Game) -> DesignRun:
    """Result of a rival: of the mechanisms that it shows the best, mixed until limits are kept as far as is seen.

    >>> import dalenius as dl
    >>> problem = dl.MinLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(), distortion=dl.Hamming(), max_distortion=0.1,
    ...     adversary=dl.EntropyAtLeast("0.5 nats"))
    >>> abs(game_run("slsqp", Game.of(problem, 0, Clock(10.0))).value - 0.36806) < 1e-4
    True
    """
    exchange, log, rounds, idle = game.exchange, game.log, 0, 0
    best, shown, rest = (np.inf, game.start, 0.0), list[tuple[float, Floats]](), Rest.TOLERANCE
    for q in DESIGN_RIVALS[method][1](game):
        (game.asked, game.told), rounds = game.replies(q), rounds + 1
        found = game.kept(q)
        idle = 0 if found[0] < best[0] * (1.0 - GAIN) else idle + 1
        if found[0] < best[0]:
            best = found
            shown.append((log.clock.seconds, exchange.region.expanded(found[1])[exchange.orbits.orbit]))
            log.note(rounds, found[0])
        if log.clock.expired or idle > PATIENCE:
            rest = Rest.TIME if log.clock.expired else Rest.TOLERANCE
            break
    rows = shown[-1][1]
    return DesignRun(
        method=method,
        value=best[0],
        rows=rows,
        leakage=best[2],
        distortion=float(exchange.problem.expected_distortion(rows.tolist())),
        violation=0.0,
        iterations=rounds,
        evaluations=log.evaluations,
        trace=tuple(log.moments),
        turns=(),
        termination=rest,
        shown=tuple(shown),
    )
