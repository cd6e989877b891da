"""Problems 2 and 3 cut into two blocks: the mechanism answers the last prior, the adversary answers the last mechanism.

This is the source paper's alternation, and the exchange with a memory of one. Each block is solved and its gain is certified, but the
two pull in opposite directions: the scheme may cycle, and where it comes to rest it has no bound on the optimum but that of one prior.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dalenius._prove import Proved
from dalenius.alternating.driver import AlternatingResult, Block, Settings, Step, alternate
from dalenius.alternation import Sweep
from dalenius.audits import audit_of
from dalenius.designs import ExchangeProposer
from dalenius.designs.exchange import OWN, Exchange
from dalenius.designs.exchange.loop import Answer
from dalenius.designs.exchange.proposer import ProvedUpper
from dalenius.designs.oracle import Prior
from dalenius.evidence import Lower
from dalenius.information.arrays import Floats
from dalenius.programs.solvers import OWN as OWN_METHOD
from dalenius.programs.solvers import order_of
from dalenius.results import DesignResult

SWEEPS = 60
SHARE = 0.5  # of the time, which the scheme may take; the rest is for the audit
AUDIT_SECONDS = 2.0  # for the certified gain of the adversary, at every sweep


@dataclass(frozen=True)
class MechanismAndPrior:
    """A mechanism (orbits, outputs), the prior that it last answered, and the solver that found it."""

    Q: Floats
    prior: Prior
    found_by: str = "start"


class MechanismScheme:
    """The alternation for a design problem. Its value: what the mechanism leaks to the prior (Problem 2), or distorts (Problem 3).

    The mechanism's gain is certified by the master program with this one prior; the adversary's by an audit. Everything that is found
    also joins the exchange that the scheme is made from, which keeps the best bound and the best mechanism.

    Parameters
    ----------
    run : Exchange
        Not run.

    >>> import dalenius as dl
    >>> from dalenius.search import Limits, Run
    >>> from dalenius.alternating import MechanismScheme, alternate
    >>> from dalenius.designs.exchange import Exchange
    >>> problem = dl.MinLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(), distortion=dl.Hamming(), max_distortion=0.1,
    ...     adversary=dl.EntropyAtLeast(0.5))
    >>> result = alternate(MechanismScheme(Exchange(problem, Run.of(Limits(time_limit=10)))))
    >>> result.scope.value, round(result.value, 4)
    ('blockwise', 0.3681)
    """

    monotone = False
    maximises = False
    needed: Collection[str] = ("mechanism", "adversary")

    def __init__(self, run: Exchange) -> None:
        self.run, self.rounds, self.oracle, self.tied = run, run.free, run.watchers[0].oracle, run.region.tied
        # one prior leaves many mechanisms optimal: our own method picks the same one every time, so that a cycle can be seen
        self.rounds.order = order_of(run.search.solver, (OWN_METHOD, "CLARABEL"))
        self.blocks: Sequence[Block[MechanismAndPrior]] = [_Mechanism(self), _Adversary(self)]

    def start(self, rng: np.random.Generator) -> MechanismAndPrior:
        """The best mechanism for what the oracle answers to a blurred one of least distortion."""
        tied, truth = self.tied, self.run.region.choosing(self.run.orbits.cost)
        noise = rng.dirichlet(np.ones(tied.outputs), size=tied.rows)
        prior = self.best_reply(tied.expand(0.5 * self.run.region.matrix(truth) + 0.5 * noise))
        return self.answered(self.best_mechanism(prior), prior)

    def best_mechanism(self, prior: Prior) -> Answer:
        """The best mechanism for a prior, with a certified bound on what the best one attains, which the run keeps."""
        answer = self.rounds.solved([(OWN, prior)])
        self.rounds.keep_bound(answer)
        return answer

    def answered(self, answer: Answer, prior: Prior) -> MechanismAndPrior:
        """The mechanism of a master's answer to a prior."""
        return MechanismAndPrior(self.tied.expand(answer.q), prior, answer.found_by)

    def best_reply(self, Q: Floats) -> Prior:
        """The prior that learns most, as far as the oracle sees."""
        replies = self.oracle.worst_priors(Q, [], self.run.search.clock)
        return max(replies, key=lambda prior: self.oracle.leakage(prior, Q))

    def leakage(self, state: MechanismAndPrior) -> float:
        """Leakage of the mechanism to the prior, in nats."""
        return self.oracle.leakage(state.prior, state.Q)

    def value(self, state: MechanismAndPrior) -> float:
        if self.run.problem.leakage_budget is not None:
            return float(np.sum(self.run.orbits.cost * state.Q))
        return self.leakage(state)

    def key(self, state: MechanismAndPrior) -> Floats:
        return state.Q.reshape(-1)


class _Mechanism:
    """The best mechanism for the prior: a convex program."""

    name = "mechanism"
    costly = False

    def __init__(self, scheme: MechanismScheme) -> None:
        self.scheme = scheme

    def step(self, state: MechanismAndPrior) -> Step[MechanismAndPrior]:
        answer = self.scheme.best_mechanism(state.prior)
        new = self.scheme.answered(answer, state.prior)
        gain = self.scheme.value(state) - answer.program.bound(answer.solution.multipliers)
        if not self._allowed(state):  # Problem 3: whatever this mechanism saves, it leaks too much
            gain = max(gain, abs(self.scheme.value(new) - self.scheme.value(state)))
        ends = answer.solution.lower, answer.solution.upper
        return Step(new, self.scheme.value(new), max(gain, 0.0), found_by=answer.found_by, interval=ends)

    def _allowed(self, state: MechanismAndPrior) -> bool:
        most = self.scheme.run.problem.leakage_budget
        return most is None or self.scheme.leakage(state) <= most


class _Adversary:
    """The prior that learns most: the oracle finds it, an audit certifies how much more another one could learn.

    In Problem 3 the gain is by how much the mechanism breaks its budget, as a share of it, times the distortion.
    """

    name = "adversary"
    costly = False

    def __init__(self, scheme: MechanismScheme) -> None:
        self.scheme = scheme

    def step(self, state: MechanismAndPrior) -> Step[MechanismAndPrior]:
        run, q = self.scheme.run, self.scheme.tied.variable(state.Q)
        reply = self.scheme.best_reply(state.Q)
        leakage = self.scheme.oracle.leakage(reply, state.Q)
        self.scheme.rounds.consider(q, {OWN: leakage}, state.found_by)
        new = replace(state, prior=reply if leakage > self.scheme.leakage(state) else state.prior)
        part = run.search.part(run.search.clock.slice(AUDIT_SECONDS), 0.5 * run.gap)
        exact = run.region.exact(q, [])
        assert exact is not None
        audit = audit_of(run.problem.release(run.region.own_rows(exact)), part)
        audit.run()
        upper, now = audit.upper, self.scheme.leakage(state)
        budget = run.problem.leakage_budget
        if budget is not None:
            gain = max(upper - budget, 0.0) / budget * self.scheme.value(state) if budget > 0.0 else upper
        else:
            gain = upper - now
        ends = audit.lower, upper  # of the mechanism as it is audited, in fractions within its budget
        return Step(new, self.scheme.value(new), max(gain, 0.0), interval=ends, units="nats")


def alternating(run: Exchange) -> AlternatingResult[MechanismAndPrior]:
    """Alternate instead of exchanging: afterwards the run has a mechanism, its audit, and the best bound that one prior gave."""
    settings = Settings(gap=run.gap, sweeps=SWEEPS, time_limit=None)

    def tell(sweep: Sweep) -> None:
        rounds = run.free
        lower, upper = max(run.bound.value, rounds.lower), min(rounds.best.attained, run.keeper.upper)
        run.search.clock.tell("alternating", lower, upper, 1, rounds=sweep.number)

    clock = run.search.clock.part(SHARE)
    result: AlternatingResult[MechanismAndPrior] = alternate(
        MechanismScheme(run), settings, rng=run.search.rng, progress=tell, clock=clock
    )
    run.conclude()
    return result


class AlternatingProposer(ExchangeProposer):
    """The alternating scheme instead of the exchange."""

    alternated: AlternatingResult[MechanismAndPrior] | None = None

    def run(self) -> None:
        """Alternate."""
        self.alternated = alternating(self.exchange)

    def result(self, proved: Proved[Lower, ProvedUpper]) -> DesignResult:
        """With what the scheme did."""
        assert self.alternated is not None
        units = self.exchange.problem.quantity.units
        return replace(super().result(proved), alternating=(self.alternated.summary(units=units),))
