"""Problems 2 and 3 cut into two blocks: the mechanism answers the adversary's priors, the adversary answers the mechanism.

With a memory of one prior this is the source paper's alternation: the two pull in opposite directions, so that it may cycle, and
where it rests it has no bound on the optimum but that of one prior. With a memory of several, a *bundle*, the mechanism answers all
of them and moves a part of the way only: what the adversary said before still counts, and both come to rest, near the optimum.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dalenius._prove import Proved
from dalenius.alternating.driver import AlternatingResult, Block, Settings, Step, alternate
from dalenius.alternation import Sweep
from dalenius.audits.audit import Audit
from dalenius.baselines import MechanismSettings, within_budget
from dalenius.baselines.family import Log
from dalenius.baselines.mechanism import penalty_method
from dalenius.designs import ExchangeProposer
from dalenius.designs.exchange import OWN, Exchange
from dalenius.designs.exchange.goals import KnownPriors
from dalenius.designs.exchange.keeping import Kept
from dalenius.designs.exchange.loop import Answer
from dalenius.designs.exchange.proposer import ProvedUpper
from dalenius.designs.exchange.region import FreeRegion
from dalenius.designs.oracle import Prior
from dalenius.evidence import Lower
from dalenius.exact import as_integer
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
from dalenius.programs.mechanism_update import MechanismUpdate
from dalenius.programs.solvers import order_of
from dalenius.results import DesignResult

SWEEPS = 200
MEMORY = 16  # priors, up to symmetry
SHARE = 0.6  # of the time, which the scheme may take; the rest is for the audit
AVERAGED = 0.7  # share of the newest mechanism in the state's, with a memory of several
LEFT = 0.15  # share of the gap that the mechanism may leave at rest
ROOM = 0.75  # share of the gap that it may distort more so that an audit proves that it keeps its budget of leakage
NEWS = 0.05  # share of the gap by which a prior must learn more than is allowed to join the bundle
ROUGH = 0.3  # gap of an audit until both blocks seem to rest
FIRST, LAST = 0.1, 0.9  # share of the time left that such an audit may take, and one that may end the work
PENALTY = 0.02  # share of the time left that the source paper's step may take, beside which ours is shown
NEEDED = 0.4  # share of that room which an audit needs at least


@dataclass(frozen=True)
class MechanismAndPriors:
    """A mechanism (orbits, outputs), the priors that it answers, the newest or heaviest first, and the solver that found it."""

    Q: Floats
    priors: tuple[Prior, ...]
    found_by: str = "start"


class MechanismScheme:
    """The alternation for a design. Its value: what the mechanism leaks to its priors at most (Problem 2), or distorts (Problem 3).

    The mechanism's gain is certified by the master program with these priors; the adversary's by an audit. Everything that is found
    also joins the exchange that the scheme is made from, which keeps the best bound and the best mechanism.

    Parameters
    ----------
    run : Exchange
        Not run.
    memory : int
        How many priors the mechanism answers, up to symmetry: the newest, and of those before the heaviest. 1 is the source paper's.

    Raises
    ------
    InputError
        If the memory is no integer of at least 1.

    >>> import dalenius as dl
    >>> from dalenius.search import Limits, Run
    >>> from dalenius.alternating import MechanismScheme, alternate
    >>> from dalenius.designs.exchange import Exchange
    >>> problem = dl.MinLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(), distortion=dl.Hamming(), max_distortion=0.1,
    ...     adversary=dl.EntropyAtLeast("0.5 nats"))
    >>> result = alternate(MechanismScheme(Exchange(problem, Run.of(Limits(time_limit=10)))))
    >>> result.scope.value, round(result.value, 4)
    ('blockwise', 0.3681)
    """

    monotone = False
    maximises = False
    needed: Collection[str] = ("mechanism", "adversary")

    def __init__(self, run: Exchange, memory: int = MEMORY) -> None:
        self.run, self.rounds, self.region = run, run.free, run.region
        self.memory = as_integer(memory, "memory", at_least=1)
        # Many mechanisms are optimal for a prior or two: our own method has the same one every time, so that cycles are seen.
        if memory > 2:  # Clarabel solves a model again that it knows
            self.rounds.order = order_of(run.search.solver)
        (self.watcher,) = run.watchers
        self.oracle, self.most = self.watcher.oracle, run.problem.leakage_budget
        assert isinstance(run.region, FreeRegion)
        self.silent = run.region.expanded(run.region.matrix(run.region.silent))
        self.silence, self.left = self.distortion(self.silent), LEFT + (0.0 if self.most is None else ROOM)
        self.programs = dict[tuple[int, ...], MechanismUpdate]()
        self.blocks: Sequence[Block[MechanismAndPriors]] = [_Mechanism(self), _Adversary(self)]

    def start(self, rng: np.random.Generator) -> MechanismAndPriors:
        """The best mechanism for what the oracle answers to a blurred one of least distortion, and for what was known before."""
        tied, truth = self.region.tied, self.region.matrix(self.region.choosing(self.run.orbits.cost))
        Q = tied.expand(0.5 * truth + 0.5 * rng.dirichlet(np.ones(tied.outputs), size=tied.rows))
        priors = self.bundle(self.oracle.worst_priors(Q, [], self.run.search.clock), self.watcher.known.priors, Q)
        answer, heaviest = self.best_mechanism(priors)
        return MechanismAndPriors(tied.expand(answer.q), heaviest, answer.found_by)

    def best_mechanism(self, priors: Sequence[Prior]) -> tuple[Answer, tuple[Prior, ...]]:
        """The best mechanism for some priors, with a certified bound that the run keeps; and the priors, the heaviest first.

        A program has priors as data, so that solving it for others does not compile it again: for each number of letters as many as
        the next power of two, of which the last are the first one again, with their weight added to its.
        """
        images = [(s, image) for s, prior in enumerate(priors) for image in self.images(prior)]
        sizes, places = [int(np.count_nonzero(prior.masses.sum(axis=1))) for _, prior in images], list[int]()
        for letters in sorted(set(sizes)):
            mine = [k for k, size in enumerate(sizes) if size == letters]
            places += mine + mine[:1] * ((1 << (len(mine) - 1).bit_length()) - len(mine))
        masses = [images[k][1].masses for k in places]
        program = self.programs.get(shape := tuple(sizes[k] for k in places))
        if program is None:
            program = self.programs[shape] = self.run.goal.free_program(masses, 0.0, changing=True)
        else:
            program.set(float(self.run.problem.budget) if self.most is None else self.most, priors=masses)
        answer = self.rounds.solved([(OWN, images[k][1]) for k in places], program)
        weights, merged = np.zeros(len(images)), np.zeros(len(places))
        np.add.at(weights, places, answer.solution.multipliers["weights"])
        merged[[places.index(k) for k in range(len(images))]] = weights
        multipliers = {**answer.solution.multipliers, "weights": merged}
        self.rounds.keep_bound(replace(answer, solution=replace(answer.solution, multipliers=multipliers)))
        totals = np.bincount([s for s, _ in images], weights)
        return answer, tuple(priors[s] for s in np.argsort(-totals, kind="stable"))

    def penalised(self, state: MechanismAndPriors) -> float:
        """Value that the paper's penalty step reaches from a state, for its priors, repaired to meet the budget (`baselines`)."""
        problem, orbit = self.run.problem, self.run.orbits.orbit
        priors = [image.masses / np.bincount(orbit) for prior in state.priors for image in self.images(prior)]
        masses = np.zeros((len(priors), max(map(len, priors)), len(orbit)))
        for part, prior in zip(masses, priors, strict=True):
            part[: len(prior)] = prior[:, orbit]
        log = Log(self.run.search.clock.part(PENALTY))
        with np.errstate(all="ignore"):  # infinite objectives are rejected by the line search
            Q = penalty_method(problem, masses, state.Q[orbit], MechanismSettings(), log)
        rows = within_budget(problem, Q, float(mutual_information(masses @ Q).max()))
        if self.most is None:
            return float(mutual_information(masses @ rows).max())
        return float(problem.expected_distortion(rows.tolist()))

    def images(self, prior: Prior) -> list[Prior]:
        """The prior and what the problem's symmetries make of it; a memory of one has it alone."""
        known = KnownPriors(self.run.orbits)
        return [prior] if self.memory == 1 or not known.add([prior]) else known.priors

    def bundle(self, news: Sequence[Prior], before: Sequence[Prior], Q: Floats) -> tuple[Prior, ...]:
        """As many priors as there is memory for: of the news those that learn most, then the first of those before."""
        known = KnownPriors(self.run.orbits)
        learned = sorted(news, key=lambda prior: -self.oracle.leakage(prior, Q))
        return tuple([prior for prior in [*learned, *before] if known.add([prior])][: self.memory])

    def leakage(self, state: MechanismAndPriors) -> float:
        """Largest leakage of the mechanism to the priors and their images, in nats."""
        return max(self.oracle.leakage(image, state.Q) for prior in state.priors for image in self.images(prior))

    def distortion(self, Q: Floats) -> float:
        return float(np.sum(self.run.orbits.cost * Q))

    def price(self, Q: Floats, upper: float) -> float:
        """Cost in Problem 3 of leaking no more than the budget: to mix with the constant mechanism, which reveals nothing."""
        if self.most is None or upper <= self.most:
            return 0.0
        return (1.0 - self.most / upper) * max(self.silence - self.distortion(Q), 0.0)

    def room(self, Q: Floats, worth: float) -> float:
        """The share of the constant mechanism that costs so much distortion."""
        more = self.silence - self.distortion(Q)
        return min(max(worth / more, 0.0), 0.5) if more > 0.0 else 0.0

    def averaged(self, old: Floats, new: Floats, least: float) -> Floats:
        """The newest mechanism with some of the state's; in Problem 3 it distorts a little more, which is room for an audit."""
        if self.memory == 1:
            return new
        Q = (1.0 - AVERAGED) * old + AVERAGED * new
        share = self.room(Q, (1.0 + ROOM * self.run.gap) * least - self.distortion(Q)) if self.most else 0.0
        return (1.0 - share) * Q + share * self.silent

    def allowed(self, state: MechanismAndPriors) -> float:
        """Most that priors may learn before they join the bundle: what those in it do, or the budget, less what an audit needs."""
        if self.most is None:
            return self.leakage(state) * (1.0 + NEWS * self.run.gap)
        room = self.room(state.Q, ROOM * self.run.gap * self.distortion(state.Q)) if self.memory > 1 else 0.0
        return self.most * (1.0 - NEEDED * room)

    def value(self, state: MechanismAndPriors) -> float:
        return self.leakage(state) if self.most is None else self.distortion(state.Q)

    def key(self, state: MechanismAndPriors) -> Floats:
        return state.Q.reshape(-1)


class _Mechanism:
    """The best mechanism for the priors: a convex program. With a memory of several the state moves a part of the way to it."""

    name = "mechanism"
    costly = False

    def __init__(self, scheme: MechanismScheme) -> None:
        self.scheme = scheme

    def step(self, state: MechanismAndPriors) -> Step[MechanismAndPriors]:
        scheme, now = self.scheme, self.scheme.value(state)
        answer, priors = scheme.best_mechanism(state.priors)
        least, worth = answer.program.bound(answer.solution.multipliers), scheme.left * scheme.run.gap * now
        told = scheme.leakage(state)
        Q = scheme.averaged(state.Q, scheme.region.expanded(answer.q), least)
        new = MechanismAndPriors(Q, priors, answer.found_by)
        return Step(
            new,
            scheme.value(new),
            max(now - least, scheme.price(state.Q, told), 0.0),
            found_by=answer.found_by,
            interval=(answer.solution.lower, answer.solution.upper),
            taken=now - least > worth or told > scheme.allowed(state),
            paper=partial(scheme.penalised, state),
        )


class _Adversary:
    """The priors that learn most: the oracle finds them, an audit certifies how much more another one could learn.

    In Problem 3 the gain is what it costs to keep the budget (`MechanismScheme.price`).
    """

    name = "adversary"
    costly = False

    def __init__(self, scheme: MechanismScheme) -> None:
        self.scheme = scheme

    def step(self, state: MechanismAndPriors) -> Step[MechanismAndPriors]:
        scheme, oracle, Q = self.scheme, self.scheme.oracle, state.Q
        known, told = KnownPriors(scheme.run.orbits), scheme.leakage(state)
        replies = oracle.worst_priors(Q, state.priors, scheme.run.search.clock)
        for those in (known, scheme.watcher.known):
            those.add(replies)
        seen = max(told, *(oracle.leakage(prior, Q) for prior in replies))
        scheme.rounds.consider(scheme.region.tied.variable(Q), {OWN: seen}, state.found_by)
        gap, allowed = scheme.run.gap * scheme.value(state), scheme.allowed(state)
        near = scheme.value(state) - scheme.rounds.lower <= (scheme.left + NEWS) * gap and seen <= allowed
        audit = self._audited(state, seen, near)
        known.learn(audit)
        news = [prior for prior in known.priors if oracle.leakage(prior, Q) > allowed]
        new = replace(state, priors=scheme.bundle(news, state.priors, Q)) if news else state
        gain = max(audit.upper - told, 0.0) if scheme.most is None else scheme.price(Q, audit.upper)
        ends = min(max(audit.lower, seen), audit.upper), audit.upper  # audited are fractions, within the budget
        return Step(
            new, scheme.value(new), gain, interval=ends, units="nats", taken=bool(news) and (gain > gap or not near)
        )

    def _audited(self, state: MechanismAndPriors, seen: float, near: bool) -> Audit:
        """The audit of the mechanism: roughly, until both blocks seem to rest here; what is audited can be handed out."""
        scheme, run, share = self.scheme, self.scheme.run, LAST if near else FIRST
        q = scheme.region.tied.variable(state.Q)
        if scheme.most is not None:
            sharp = 1.0 - seen / scheme.most if near and seen > 0.0 else ROUGH
            return run.keeper.mixture(q, run.search.part(run.search.clock.part(share), sharp), state.found_by)[0]
        exact, gap = run.region.exact(q, []), None if near else ROUGH
        kept = None if exact is None else run.keeper.audited(exact, scheme.rounds.lower, share=share, gap=gap)
        assert isinstance(kept, Kept)  # nothing limits what leaks
        run.keeper.take(kept, state.found_by)
        return kept.audits[OWN]


def alternating(run: Exchange) -> AlternatingResult[MechanismAndPriors]:
    """Alternate instead of exchanging: afterwards the run has a mechanism, its audit, and the best bound that a bundle gave."""
    settings = Settings(gap=run.gap, sweeps=SWEEPS, time_limit=None)

    def tell(sweep: Sweep) -> None:
        rounds = run.free
        lower, upper = max(run.bound.value, rounds.lower), min(rounds.best.attained, run.keeper.upper)
        run.search.clock.tell("alternating", lower, upper, 1, rounds=sweep.number)

    clock = run.search.clock.part(SHARE)
    result: AlternatingResult[MechanismAndPriors] = alternate(
        MechanismScheme(run, run.search.memory or MEMORY), settings, rng=run.search.rng, progress=tell, clock=clock
    )
    run.rounds = run.free.count
    run.conclude()
    return result


class AlternatingProposer(ExchangeProposer):
    """The alternating scheme instead of the exchange."""

    alternated: AlternatingResult[MechanismAndPriors] | None = None

    def run(self) -> None:
        """Alternate."""
        self.alternated = alternating(self.exchange)

    def result(self, proved: Proved[Lower, ProvedUpper]) -> DesignResult:
        """With what the scheme did."""
        assert self.alternated is not None
        units = self.exchange.problem.quantity.units
        return replace(super().result(proved), alternating=(self.alternated.summary(units=units),))
