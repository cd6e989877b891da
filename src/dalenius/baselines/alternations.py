"""The source paper's alternations: Algorithm 1, of marginal and conditional laws; 6 and 9, of an adversary's prior and a mechanism."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from dalenius.baselines.family import (
    DesignRun,
    Family,
    LeakageRun,
    Log,
    Rest,
    Turn,
    need_one_of,
    need_positive,
    need_share,
)
from dalenius.baselines.gradients import through
from dalenius.baselines.laws import ConditionalSettings, MarginalSettings, blahut_arimoto, coordinate_ascent
from dalenius.baselines.mechanism import MechanismSettings, PenaltyProgram, budget_of, penalty_method
from dalenius.errors import InputError
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
from dalenius.model import DesignProblem
from dalenius.search import Clock

UPDATE_SLACK = 1e-10  # entropy in nats by which an update may miss the bound; the repair at the end makes up for it
REPAIR_MARGIN = 1e-13  # entropy in nats, relative to 1 + the bound's distance from log |X|, beyond the bound


@dataclass(frozen=True)
class LeakageSettings:
    """Of Algorithm 1, with those of Algorithms 2 and 3. The paper's tolerance is lost; ours is small.

    Attributes
    ----------
    tolerance : float
        Stop when an iteration changes the leakage by less than this, in nats.
    iterations : int
        An iteration visits every record.
    marginal : MarginalSettings
    conditional : ConditionalSettings
    """

    tolerance: float = 1e-8
    iterations: int = 200
    marginal: MarginalSettings = field(default_factory=MarginalSettings)
    conditional: ConditionalSettings = field(default_factory=ConditionalSettings)

    def __post_init__(self) -> None:
        need_positive(self, "tolerance", "iterations")


def starts(family: Family, rng: np.random.Generator) -> Iterator[Floats]:
    """The paper's uniform start, then random ones without end (the paper recommends several)."""
    yield family.uniform
    while True:
        yield family.random(rng)


def alternate(
    family: Family, law: Floats, settings: LeakageSettings, log: Log, rng: np.random.Generator | None = None
) -> tuple[Floats, int, Rest]:
    """Algorithm 1 from one start: the law where it comes to rest, the number of iterations, and why it stopped.

    An update of record i, Algorithm 2 then Algorithm 3 on (pi, w) of that record, is rejected unless I(X_i; Y) gains and
    max_j I(X_j; Y) does not fall. So the largest leakage never falls, which is what the paper's Theorem 4.1 says.
    """
    values = family.leakages(law)
    bound = -family.max_knowledge
    for iteration in range(1, int(settings.iterations) + 1):
        gained = 0.0
        for j, view in enumerate(family.views):
            if log.clock.expired:
                return law, iteration - 1, Rest.TIME
            pi, rows = view.split(law)
            spread = np.array([view.spread(a, row) for a, row in enumerate(rows)])
            pi = blahut_arimoto(pi, through(rows, family.given[j]), spread, bound, settings.marginal, log)
            rows = coordinate_ascent(view, family.given[j], pi, rows, bound, settings.conditional, log, rng)
            changed = law.copy()
            for cells, mass, row in zip(view.cells, pi, rows, strict=True):
                changed[cells] = mass * row
            found = family.leakages(changed) if family.shared else _with(values, j, family.leakage(j, changed))
            log.evaluations += len(values) if family.shared else 1
            allowed = view.entropy(pi, rows) >= bound - UPDATE_SLACK
            if allowed and found[j] > values[j] and found.max() >= values.max():
                gained = max(gained, float(found[j] - values[j]))
                law, values = changed, found
                log.note(iteration, float(values.max()))
        if gained == 0.0:
            return law, iteration, Rest.REJECTED
        if gained < settings.tolerance:
            return law, iteration, Rest.TOLERANCE
    return law, int(settings.iterations), Rest.ITERATIONS


def _with(values: Floats, j: int, value: float) -> Floats:
    values = values.copy()
    values[j] = value
    return values


def leakage_run(
    family: Family,
    start: Floats | None = None,
    *,
    settings: LeakageSettings | None = None,
    clock: Clock | None = None,
    rng: np.random.Generator | None = None,
) -> LeakageRun:
    """Algorithm 1 on a family of laws, and its prior repaired and judged.

    Parameters
    ----------
    family : Family
        `full_joint(problem)` or `aggregated(problem)`.
    start : (size of the family,), optional
        The first law; the uniform one, as in the paper, unless given. It is repaired if it breaks the entropy bound.
    settings : LeakageSettings, optional
    clock : Clock, optional
        When to stop; the law reached by then is returned.
    rng : numpy.random.Generator, optional
        Of Algorithm 3's rows, where they begin randomly (`ConditionalSettings.rows`). Left out, every start has a generator of its
        own; without a start rows begin uniformly.

    >>> import dalenius as dl
    >>> from dalenius.baselines import full_joint
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast("1.0 nats"))
    >>> run = leakage_run(full_joint(problem))
    >>> round(run.value, 6), run.violation
    (0.079542, 0.0)
    """
    clock = Clock() if clock is None else clock
    log = Log(clock)
    law = family.uniform if start is None else family.repaired(start)
    if rng is None and start is not None:
        rng = np.random.default_rng(zlib.crc32(law.tobytes()))
    log.note(0, float(family.leakages(law).max()))
    law, iterations, rest = alternate(family, law, settings or LeakageSettings(), log, rng)
    return concluded("alternating", family, law, iterations, rest, log)


def concluded(method: str, family: Family, law: Floats, iterations: int, rest: Rest, log: Log) -> LeakageRun:
    """Result of a rival: its last law repaired and judged."""
    law = family.repaired(law, REPAIR_MARGIN * (1.0 + family.max_knowledge))
    value, best = family.judged(law)
    log.note(iterations, value)
    return LeakageRun(
        method=f"{method}, {family.name}",
        value=value,
        record=family.views[best].record,
        prior=law,
        masses=family.views[best].masses(law, len(family.channel)),
        violation=family.shortfall(law),
        iterations=iterations,
        evaluations=log.evaluations,
        trace=tuple(log.moments),
        termination=rest,
    )


SHARE_ROUNDING = 1e-12  # of the share that is mixed in, so that the budget is met in doubles


@dataclass(frozen=True)
class DesignSettings:
    """Of Algorithms 6 and 9, with those of the algorithms inside. The paper's numbers are lost; these are ours.

    Attributes
    ----------
    tolerance : float
        Stop when a round changes the value by less than this, relative to it.
    rounds : int
        How often prior and mechanism take turns, at most.
    penalty : {"kept", "restarted"}
        Of Algorithm 9. ``"kept"`` is the proof of Theorem 7: the penalty stays while prior and mechanism take turns, and is raised
        once they have settled, until the budget is kept. ``"restarted"``, a deviation: every round goes through all multipliers of
        Algorithm 10. Algorithm 6 always has Algorithm 7 do that, as the text says.
    alternations : int
        How often prior and mechanism take turns with one penalty, at most.
    blur : float
        The first mechanism is one of least distortion, mixed with this share of the uniform one (or, for random starts, of random
        rows): exponentiated gradients need positive probabilities.
    leakage : LeakageSettings
        Of Algorithm 1.
    mechanism : MechanismSettings
        Of Algorithms 7 and 8, or 10 and 11.
    """

    tolerance: float = 1e-6
    rounds: int = 60
    penalty: Literal["kept", "restarted"] = "kept"
    alternations: int = 6
    blur: float = 0.3
    leakage: LeakageSettings = field(default_factory=LeakageSettings)
    mechanism: MechanismSettings = field(default_factory=MechanismSettings)

    def __post_init__(self) -> None:
        need_positive(self, "tolerance", "rounds", "alternations")
        need_one_of(self, "penalty", "kept", "restarted")
        need_share(self, "blur")


def within_budget(problem: DesignProblem, rows: Floats, leakage: float) -> Floats:
    """The mechanism mixed with just enough of one that surely meets the budget, if it does not meet it itself.

    Problem 2: with one of least distortion, E being linear. Problem 3: one that reveals nothing; *meets the budget because* leakage
    is convex in the mechanism, so (1-t) Q + t U leaks at most (1-t) `leakage`, if `leakage` is a bound on what Q leaks.

    >>> import dalenius as dl
    >>> problem = dl.MinLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(), distortion=dl.Hamming(), max_distortion=0.1,
    ...     adversary=dl.EntropyAtLeast("0.5 nats"))
    >>> within_budget(problem, np.full((2, 2), 0.5), 0.0).round(6).tolist()
    [[0.9, 0.1], [0.1, 0.9]]
    """
    if problem.distortion_budget is not None:
        other = least_distorting(problem)
        budget, least = budget_of(problem), float(problem.least_distortion)
        used = float(problem.expected_distortion(rows.tolist()))
    else:
        other = telling_nothing(problem)
        budget, used, least = budget_of(problem), leakage, 0.0
    if used <= budget:
        return rows
    share = min((used - budget) / (used - least) + SHARE_ROUNDING, 1.0) if used > least else 1.0
    mixed = (1.0 - share) * rows + share * other
    return mixed / mixed.sum(axis=1, keepdims=True)


def least_distorting(problem: DesignProblem) -> Floats:
    """A mechanism of the class with the least distortion."""
    tied = problem.tied
    unweighted = tied.cheapest(tied.sums(problem.cost))  # decides for inputs that never occur
    return tied.expand(tied.cheapest(tied.sums(problem.input_law[:, None] * problem.cost), unweighted))


def telling_nothing(problem: DesignProblem) -> Floats:
    """The mechanism of least distortion whose output has nothing to do with its input."""
    return problem.tied.expand(np.array(problem.distortions.constant, dtype=float))


def design_run(
    problem: DesignProblem,
    family: Family,
    rng: np.random.Generator | None = None,
    *,
    settings: DesignSettings | None = None,
    clock: Clock | None = None,
) -> DesignRun:
    """Algorithm 6 (`MinLeakage`) or 9 (`MinDistortion`) from one start.

    In every round Algorithm 1 finds a prior for the mechanism, from the law of the round before and from a fresh start, and keeps the
    better one; then Algorithm 7 or 10 finds the mechanism for that prior alone. Such a scheme cycles; what it returns is ours to
    choose: the mechanism of all rounds that is best against all the priors of all rounds, repaired by `within_budget`.

    Parameters
    ----------
    problem : MinLeakage or MinDistortion
        One that some mechanism meets the budget of.
    family : Family
        `full_joint(problem)` or `aggregated(problem)`.
    rng : numpy Generator, optional
        For random starts; without it the paper's uniform law is the start of every ascent.
    settings : DesignSettings, optional
    clock : Clock, optional

    Raises
    ------
    InputError
        If no mechanism meets the budget, or the design has constraints or an objective of several terms.

    >>> import dalenius as dl
    >>> from dalenius.baselines import aggregated
    >>> problem = dl.MinLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(), distortion=dl.Hamming(), max_distortion=0.1,
    ...     adversary=dl.EntropyAtLeast("0.5 nats"))
    >>> run = design_run(problem, aggregated(problem), np.random.default_rng(0))
    >>> run.violation, abs(run.value - 0.36806) < 1e-3
    (0.0, True)
    """
    problem.need_plain("baselines")
    if not problem.feasible:
        raise InputError("baselines: no mechanism of the class meets the budget, there is nothing to search for")
    scheme = _Scheme(problem, family, rng, settings or DesignSettings(), Log(Clock() if clock is None else clock))
    with np.errstate(all="ignore"):  # infinite objectives are rejected by the line search
        return scheme.run()


@dataclass
class _Scheme:
    """One run of Algorithm 6 or 9: the mechanism Q, the adversary's law, and all of both so far."""

    problem: DesignProblem
    family: Family
    rng: np.random.Generator | None
    settings: DesignSettings
    log: Log

    def __post_init__(self) -> None:
        self.letters = max(view.letters for view in self.family.views)
        self.law = self.family.uniform
        self.Q = self._first()
        self.mechanisms, self.priors, self.shown = list[Floats](), list[Floats](), list[tuple[float, Floats]]()

    def _first(self) -> Floats:
        tied, blur = self.problem.tied, self.settings.blur
        least = tied.variable(least_distorting(self.problem))
        outputs = least.shape[1]
        noise = np.full(least.shape, 1.0 / outputs)
        if self.rng is not None:
            noise = self.rng.dirichlet(np.ones(outputs), size=len(least))
        return tied.expand((1.0 - blur) * least + blur * noise)

    def run(self) -> DesignRun:
        kept = self.problem.distortion_budget is None and self.settings.penalty == "kept"
        multiplier, turns = 0.0, 0  # of the penalty that is kept, and how often it was used
        value, rest, rounds = np.inf, Rest.ITERATIONS, 0
        for rounds in range(1, int(self.settings.rounds) + 1):
            leakage = self._adversary()
            now = self._consider(rounds, leakage)
            if self.log.clock.expired:
                rest = Rest.TIME
                break
            settled = abs(now - value) <= self.settings.tolerance * abs(now)
            settled |= kept and turns >= self.settings.alternations
            if settled and (not kept or self._keeps(leakage)):
                rest = Rest.TOLERANCE
                break
            value = now
            if not kept:
                self.Q = penalty_method(self.problem, self._masses(), self.Q, self.settings.mechanism, self.log)
                continue
            program = PenaltyProgram(self.problem, self._masses(), self.settings.mechanism)
            if multiplier == 0.0:
                multiplier = program.first
            elif settled:
                multiplier, turns, value = self.settings.mechanism.growth * multiplier, 0, np.inf
            self.Q, turns = program.descended(self.Q, multiplier, self.log), turns + 1
        return self._result(rounds, rest)

    def _keeps(self, leakage: float) -> bool:
        """True if a leakage is within the budget, but for what a penalty leaves."""
        return leakage <= budget_of(self.problem) * (1.0 + self.settings.mechanism.violation)

    def _adversary(self) -> float:
        """Algorithm 1 against Q, from the law that it has and from a fresh one; the leakage of the better one, to the feasible law."""
        family = replace(self.family, channel=self.Q)
        fresh = family.uniform if self.rng is None else family.random(self.rng)
        found, inner = [], Log(self.log.clock)  # its moments are leakages on the way, not values of mechanisms
        for start in (self.law, fresh):
            law, _, _ = alternate(family, start, self.settings.leakage, inner, self.rng)
            law = family.repaired(law)
            found.append((family.judged(law)[0], law))
        self.log.evaluations += inner.evaluations
        leakage, self.law = max(found, key=lambda pair: pair[0])
        self.log.turns.append(Turn(0.0, float(self.problem.expected_distortion(self.Q.tolist())), leakage))
        return leakage

    def _masses(self) -> Floats:
        """P(letter, input) for every record that the family sees, (records, letters, inputs), padded with zeros."""
        masses = np.zeros((len(self.family.views), self.letters, self.problem.input_count))
        for j, view in enumerate(self.family.views):
            masses[j, : view.letters] = view.masses(self.law, self.problem.input_count)
        return masses

    def _consider(self, rounds: int, leakage: float) -> float:
        """The value of the mechanism at hand, repaired, to the prior at hand; both are remembered."""
        self.mechanisms.append(self.Q)
        self.priors.append(self._masses())
        value, rows, _ = self._valued(self.Q, self.priors[-1:], leakage)
        self.log.note(rounds, value)
        self.shown.append((self.log.clock.seconds, rows))
        return value

    def _valued(self, Q: Floats, priors: list[Floats], leakage: float) -> tuple[float, Floats, float]:
        """The value of a mechanism after the repair, that mechanism, and the most that these priors are told by it."""
        rows = within_budget(self.problem, Q, leakage)
        told = self._told(rows, priors)
        distortion = float(self.problem.expected_distortion(rows.tolist()))
        return distortion if self.problem.distortion_budget is None else told, rows, told

    @staticmethod
    def _told(Q: Floats, priors: list[Floats]) -> float:
        return float(np.max(mutual_information(np.concatenate(priors) @ Q)))

    def _result(self, rounds: int, rest: Rest) -> DesignRun:
        """The mechanism that is best against all the priors of all rounds."""
        judged = [self._valued(Q, self.priors, self._told(Q, self.priors)) for Q in self.mechanisms]
        value, rows, leakage = min(judged, key=lambda found: found[0])
        self.log.note(rounds, value)
        distortion = float(self.problem.expected_distortion(rows.tolist()))
        used = leakage if self.problem.distortion_budget is None else distortion
        return DesignRun(
            method=f"alternating, {self.family.name}",
            value=value,
            rows=rows,
            leakage=leakage,
            distortion=distortion,
            violation=max(used - budget_of(self.problem), 0.0),
            iterations=rounds,
            evaluations=self.log.evaluations,
            trace=tuple(self.log.moments),
            turns=tuple(self.log.turns),
            termination=rest,
            shown=tuple(self.shown),
        )
