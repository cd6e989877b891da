"""Problem 1 cut into blocks: the letter law and each letter's conditional law, solved globally; and the joint posterior step.

The source paper's Algorithms 2 and 3 climb the same blocks by multiplicative and projected-gradient steps.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from dalenius.alternating.driver import NOTHING, WORTH, Block, Step
from dalenius.audits.ascent import Candidate
from dalenius.audits.bounds.dual_node import Aim
from dalenius.audits.bounds.dual_tree import DualTree
from dalenius.audits.bounds.dual_work import DualWork, Goal, Turn
from dalenius.audits.bounds.posteriors import PosteriorRelaxation, PosteriorTree
from dalenius.errors import InputError
from dalenius.information import mutual_information, x_log_x
from dalenius.information.arrays import Floats
from dalenius.outcome import Scope
from dalenius.programs import BlockSolution, ConditionalUpdate, MarginalUpdate, PosteriorUpdate, Program, RowUpdate
from dalenius.programs.base import Tally
from dalenius.programs.solvers import OWN, order_of
from dalenius.reduction import RecordChannel, RecordSymmetries
from dalenius.search import Clock
from dalenius.search.tree import Race, Runner

BLOCKS = ("posterior", "marginal", "row", "conditionals")
LEAVES = 20_000  # of a row's tree
TOGETHER = 2_000  # of each tree for all conditionals
CLIMB = 200  # convex-concave steps from one point
INSIDE = 1e-12  # share of the uniform law in posteriors, so that no pair is excluded for ever
FINEST = 1e-9  # relative gap of a program that is always enough
CLOSE, HALF = 0.01, 0.5  # share of the scheme's gap that a convex block may leave, and a row's tree


class LeakageScheme:
    """Maximise I(A; Y) over masses p(a,k) with H(p) >= b, for one record channel; a state is p (letters, classes).

    At rest with ``"marginal"`` and ``"conditionals"`` it is BLOCKWISE: no letter law, and no choice of the conditional laws of all
    letters at once, has a larger I(A; Y) by more than the gap. That is the block-wise optimality of the source paper's Theorem 4, and
    certified: the conditionals are a convex maximisation, closed by branch and bound. With ``"row"`` and no ``"conditionals"`` the
    same is said of each letter's conditional law by itself, as the paper's Algorithm 3 goes (`RowUpdate`).

    Parameters
    ----------
    channel : RecordChannel
        Of `dalenius.reduction.record_channels`.
    blocks : sequence of str or Block
        Names, or blocks of your own (`LeakageBlock` helps), in the order of their turns. ``"marginal"``: the letter law.
        ``"row"``: the conditional law of each letter, a block a letter. ``"conditionals"``: those of all letters at once.
        ``"posterior"``: all of p at the posteriors of the last p, half a step of joint Blahut-Arimoto; ``"conditional"``: all
        conditionals, a convex-concave step. These two maximise a function below I that touches it, so their gains are first-order.
    solver : {"auto", "own", "clarabel", "mosek", "scs"}
        Who solves the blocks' programs. ``"auto"``: our own where it is a closed form, Clarabel for letter law and rows, where that is
        quicker.
    gap : float
        Relative, of I: what blocks are solved for.
    clock : Clock, optional
        Solves end with it.
    room : float
        Bytes that a conic form may take.

    Attributes
    ----------
    tally : Tally
        Which solver did how much.

    Raises
    ------
    InputError
        If a block is unknown, or the solver is not there.

    Notes
    -----
    Source: Theorem 4 and Algorithms 1 to 3 of the source paper; docs/programs.md.

    >>> import dalenius as dl
    >>> from dalenius.alternating import LeakageScheme, alternate
    >>> from dalenius.reduction import record_channels
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast("2.5 nats"))
    >>> result = alternate(LeakageScheme(record_channels(problem)[0]))
    >>> result.scope.value, round(result.value, 4), list(result.gains)
    ('blockwise', 0.0387, ['posterior', 'marginal', 'row 0', 'row 1', 'conditionals'])
    """

    monotone = True
    maximises = True

    def __init__(
        self,
        channel: RecordChannel,
        blocks: Sequence[str | Block[Floats]] = BLOCKS,
        *,
        solver: str = "auto",
        gap: float = 1e-4,
        clock: Clock | None = None,
        room: float = math.inf,
    ) -> None:
        kinds: dict[str, Callable[[LeakageScheme], LeakageBlock]]
        kinds = {
            "posterior": _Posterior,
            "marginal": _Marginal,
            "conditional": _Conditional,
            "conditionals": _Conditionals,
        }
        names = [block for block in blocks if isinstance(block, str)]
        if isinstance(blocks, str) or not blocks or not set(names) <= {*kinds, "row"}:
            raise InputError(
                f"blocks: expected some of {', '.join([*kinds, 'row'])}, or blocks of your own; got {blocks!r}"
            )
        self.channel, self.solver, self.gap, self.clock, self.room = channel, solver, gap, clock or Clock(), room
        self.tally = Tally()
        self.letters = np.flatnonzero(np.isfinite(channel.log_uniform).any(axis=1)).tolist()
        each = ("conditionals",) if "conditionals" in names else (f"row {letter}" for letter in self.letters)
        self.needed: Collection[str] = ("marginal", *each)
        made: list[Block[Floats]] = []
        for block in blocks:
            if not isinstance(block, str):
                made.append(block)
            elif block == "row":
                made += [_Row(self, letter) for letter in self.letters]
            else:
                made.append(kinds[block](self))
        self.blocks: Sequence[Block[Floats]] = made
        self._first = order_of(solver, ())  # looked for once: a licence may be far away

    def order(self, quickest: tuple[str, ...]) -> tuple[str, ...]:
        """The solvers to try in turn for a block for which these are quickest."""
        return (*self._first, *quickest) if self.solver.lower() == "auto" else self._first

    def start(self, rng: np.random.Generator) -> Floats:
        """A random tilt of the uniform prior, some of the way to where the entropy bound or a single pair stops it."""
        channel = self.channel
        noise = np.where(np.isfinite(channel.log_uniform), rng.normal(size=channel.log_uniform.shape), -np.inf)
        low, high = 0.0, 1e3
        for _ in range(60):  # entropy falls with the tilt
            middle = 0.5 * (low + high)
            low, high = (
                (middle, high) if self._knows(self._tilted(noise, middle)) <= channel.max_knowledge else (low, middle)
            )
        return self._tilted(noise, float(rng.uniform(0.1, 0.9)) * min(low, 10.0))

    def _tilted(self, noise: Floats, strength: float) -> Floats:
        weight = self.channel.log_uniform + np.where(np.isfinite(noise), strength * noise, 0.0)
        p = np.exp(weight - weight.max())
        return p / p.sum()

    def _knows(self, p: Floats) -> float:
        """The relative entropy of p to the uniform prior: log |X| - H(p)."""
        return float(np.sum(x_log_x(p)) - np.sum(p * np.where(p > 0.0, self.channel.log_uniform, 0.0)))

    def value(self, state: Floats) -> float:
        return float(mutual_information(state @ self.channel.rows))

    def key(self, state: Floats) -> Floats:
        return state


class LeakageBlock(ABC):
    """A block whose program is built at its first turn and set again at every other.

    Parameters
    ----------
    scheme : LeakageScheme
    """

    name: str
    costly: bool = False
    scope: ClassVar[Scope] = Scope.BLOCKWISE
    quickest: ClassVar[tuple[str, ...]] = ("CLARABEL", OWN)  # by measurement: benchmarks/solvers.py

    def __init__(self, scheme: LeakageScheme) -> None:
        self.scheme, self.channel = scheme, scheme.channel
        self.program: Any = None

    def step(self, state: Floats) -> Step[Floats]:
        """Solve the program for this state."""
        now = self.scheme.value(state)
        program = self.stated(state)
        program.room = self.scheme.room
        answer = self.solved(program, self.scheme.order(self.quickest), now)
        self.scheme.tally.add(program.name, answer)
        new = self.state(state, dict(answer.point))
        gain, ends = max(answer.upper - now, 0.0), (answer.lower, answer.upper)
        return Step(new, self.scheme.value(new), gain, self.scope, answer.found_by["point"], ends)

    def solved(self, program: Program, order: tuple[str, ...], now: float) -> BlockSolution:
        """The program's interval, narrower than what counts as a gain over what is attained now."""
        return program.solve(solver=order, gap=max(CLOSE * self.scheme.gap, FINEST), time_limit=self.seconds)

    @property
    def seconds(self) -> float:
        """Rest of the scheme's time."""
        return max(self.scheme.clock.remaining, 0.0)

    @abstractmethod
    def stated(self, state: Floats) -> Program:
        """The program with the data of this state."""

    def set(self, made: Callable[..., Program], *data: object) -> Program:
        """The block's program with these data: made of them at its first turn."""
        if self.program is None:
            self.program = made(*data)
        else:
            self.program.set(*data)
        return self.program

    def on_channel(self, program: Callable[..., Program], *more: object) -> Callable[..., Program]:
        """A program about the record channel, still without its data."""
        return partial(program, self.channel.rows, self.channel.log_uniform, *more)

    def laws(self, state: Floats) -> tuple[Floats, Floats, float]:
        """The letter law, the conditionals, and the entropy bound."""
        return state.sum(axis=1), _conditionals(state, self.channel), -self.channel.max_knowledge

    @abstractmethod
    def state(self, state: Floats, point: dict[str, Floats]) -> Floats:
        """The state with the program's point for the block's variables."""


class _Posterior(LeakageBlock):
    name = "posterior"
    scope = Scope.FEASIBLE
    quickest = (OWN, "CLARABEL")

    def stated(self, state: Floats) -> Program:
        u = state @ self.channel.rows
        r = u.sum(axis=0)
        phi = np.where(r > 0.0, u / np.where(r > 0.0, r, 1.0), 1.0 / len(u))
        phi = (1.0 - INSIDE) * phi + INSIDE / len(u)
        return self.set(self.on_channel(PosteriorUpdate), phi, -self.channel.max_knowledge)

    def state(self, state: Floats, point: dict[str, Floats]) -> Floats:
        return point["p"]


class _Marginal(LeakageBlock):
    name = "marginal"
    costly = True

    def stated(self, state: Floats) -> Program:
        w = _conditionals(state, self.channel)
        logs = np.where(w > 0.0, self.channel.log_uniform, 0.0)
        spread = np.sum(w * logs, axis=1) - np.sum(x_log_x(w), axis=1)
        return self.set(MarginalUpdate, w @ self.channel.rows, spread, -self.channel.max_knowledge)

    def state(self, state: Floats, point: dict[str, Floats]) -> Floats:
        return point["pi"][:, None] * _conditionals(state, self.channel)


class _Conditional(LeakageBlock):
    name = "conditional"
    scope = Scope.FEASIBLE
    quickest = (OWN, "CLARABEL")

    def stated(self, state: Floats) -> Program:
        return self.set(self.on_channel(ConditionalUpdate), *self.laws(state))

    def state(self, state: Floats, point: dict[str, Floats]) -> Floats:
        return state.sum(axis=1)[:, None] * point["w"]


class _Row(LeakageBlock):
    """One letter's conditional law, to certified global optimality."""

    costly = True

    def __init__(self, scheme: LeakageScheme, letter: int) -> None:
        super().__init__(scheme)
        self.letter, self.name = letter, f"row {letter}"

    def stated(self, state: Floats) -> Program:
        return self.set(self.on_channel(RowUpdate, self.letter), *self.laws(state))

    def solved(self, program: Program, order: tuple[str, ...], now: float) -> BlockSolution:
        """The tree is for when no climb finds anything better."""
        assert isinstance(program, RowUpdate)
        gap = max(HALF * self.scheme.gap, FINEST)
        better = now + 2.0 * WORTH * (gap * now + NOTHING)
        return program.solve(solver=order, gap=gap, time_limit=self.seconds, leaves=LEAVES, enough=better)

    def state(self, state: Floats, point: dict[str, Floats]) -> Floats:
        new = state.copy()
        new[self.letter] = state[self.letter].sum() * point["w"]
        return new


class _Conditionals(_Conditional):
    """The conditional laws of all letters at once, to certified global optimality; climbs are steps of `ConditionalUpdate`."""

    name = "conditionals"
    costly = True
    _solver = OWN  # whose the last step was

    def step(self, state: Floats) -> Step[Floats]:
        now, self._solver = self.scheme.value(state), OWN
        gap = max(HALF * self.scheme.gap, FINEST)
        found = bounded(
            self.channel,
            state,
            self._multiplier(state),
            self._climbed,
            gap=gap,
            enough=now + 2.0 * WORTH * (gap * now + NOTHING),
            leaves=TOGETHER,
            clock=self.scheme.clock,
        )
        gain, ends = max(found.upper - now, 0.0), (found.value, found.upper)
        return Step(found.p, found.value, gain, Scope.BLOCKWISE, self._solver, ends)

    def _climbed(self, p: Floats) -> Floats:
        """Convex-concave steps, all of them with enough entropy; I never falls after the first."""
        value = -np.inf
        for _ in range(CLIMB):
            answer = self._answer(p)
            trial = self.state(p, dict(answer.point))
            reached = self.scheme.value(trial)
            if reached <= value + WORTH * (CLOSE * self.scheme.gap * abs(value) + NOTHING):
                break
            p, value, self._solver = trial, reached, answer.found_by["point"]
            if self.scheme.clock.expired:
                break
        return p

    def _answer(self, p: Floats) -> BlockSolution:
        program = self.stated(p)
        program.room = self.scheme.room
        answer = self.solved(program, self.scheme.order(self.quickest), self.scheme.value(p))
        self.scheme.tally.add(self.name, answer)
        return answer

    def _multiplier(self, state: Floats) -> float:
        return float(self._answer(state).multipliers["mu"])


def _conditionals(state: Floats, channel: RecordChannel) -> Floats:
    """w_a(k); of a letter without mass those of the largest entropy."""
    pi = state.sum(axis=1, keepdims=True)
    total = channel.uniform.sum(axis=1, keepdims=True)
    uniform = channel.uniform / np.where(total > 0.0, total, 1.0)
    return np.where(pi > 0.0, state / np.where(pi > 0.0, pi, 1.0), uniform)


# The best conditional laws of all letters at once, for a given letter law, from below and from above.
#
# With the letter law pi given, I(A; Y) is convex in all conditionals together, and the entropy bound is about all of
# them. From below: the best choice of one class a letter, and convex-concave steps from wherever a bound is largest.
# From above the trees of audits, with the letter law given (`dalenius.audits.bounds`): boxes of the posterior, and boxes
# of all K_a with the dual bound, for any output law r and mu >= 0, *bound because* sum_a pi_a D(K_a || r) is at least I,
# with equality at the conditionals' own output law, and what is added is not negative:
#
#     I <= sum_a pi_a psi_a + mu (H(pi) - b),    psi_a = max over w of D(wR || r) + mu H(w).


DECIMALS = 12  # of the tree's multipliers
LEAST = 1e-3  # the multiplier of the entropy bound that a tree begins with, at least
SELECTIONS = 2**20  # entries of a table of all choices of one class a letter
FAIR = 0.6  # each tree gets at least this share of the time that the better one had
ROUNDING = 1e-12  # times 1 + the bound: what doubles may lose of it


@dataclass(frozen=True)
class Bounded:
    """The best prior with this letter law that was found, and a bound for all of them in nats."""

    p: Floats
    value: float
    upper: float


def bounded(
    channel: RecordChannel,
    p: Floats,
    multiplier: float,
    improve: Callable[[Floats], Floats],
    *,
    gap: float,
    enough: float,
    leaves: int,
    clock: Clock,
) -> Bounded:
    """Improve on a prior, its letter law kept, until the interval is `gap` wide, a prior attains `enough`, or a limit is met.

    Parameters
    ----------
    p : (letters, classes)
        Masses with enough entropy.
    multiplier : float
        Of the entropy bound, near p: where the tree begins.
    improve : callable
        Takes masses with this letter law to masses that have enough entropy, too, and reveal more where it finds a way.
    gap : float
        Relative, of I.
    leaves : int
        Row leaves that the tree may have.
    """
    pi = p.sum(axis=1)
    found = _Best(channel, p, float(mutual_information(p @ channel.rows)), improve)
    found.offer(p)
    selection, upper = best_selection(channel, pi)
    if selection is not None:
        found.offer(selection)
    if found.value >= enough or upper <= found.value * (1.0 + gap) or clock.expired:
        return found.bounded(upper)
    candidate = Candidate(p, found.value, max(multiplier, LEAST))
    symmetries = RecordSymmetries.none(channel)  # what exchanges letters does not leave their law as it is
    goal = Goal(tolerance=0.0, enough=np.inf, useless=-np.inf, decimals=DECIMALS)
    work = DualWork(channel, candidate, symmetries, goal, clock=clock)
    work.run(Turn(may_grow=lambda trees, least: False, clock=clock))
    target = found.value * (1.0 + gap)
    relaxation = PosteriorRelaxation(channel, decimals=DECIMALS, pi=pi)
    runners: list[Runner] = [
        DualTree(Aim(channel, target, gap * found.value, DECIMALS, most=leaves, pi=pi), work.bound)
    ]
    if relaxation.improves:
        runners.append(PosteriorTree(relaxation, multiplier, target=target))
    race, searched = Race(runners, fair=[FAIR] * len(runners)), dict[str, int]()
    while min(runner.upper for runner in runners) > target and found.value < enough and not clock.expired:
        runner = race.turn(clock, target, lambda tree: tree.leaves < leaves)
        if runner is None:
            break
        if runner.point is not None and runner.leaves > 2 * searched.get(runner.name, 0):
            searched[runner.name] = runner.leaves
            found.offer(runner.point)
            target = max(target, found.value * (1.0 + gap))
    return found.bounded(min(upper, *(runner.upper for runner in runners)))


def best_selection(channel: RecordChannel, pi: Floats) -> tuple[Floats | None, float]:
    """Best choice of one class a letter for this letter law, and what it reveals: a bound, as I is convex; (None, inf) if too many.

    The choice may have too little entropy. Letters without mass keep the classes of the uniform prior.

    >>> import dalenius as dl
    >>> from dalenius.reduction import record_channels
    >>> channel = record_channels(dl.load("parity/laplace-n4"))[0]
    >>> best, upper = best_selection(channel, np.array([0.5, 0.5]))
    >>> best.sum(axis=1).tolist(), round(upper, 4)
    ([0.5, 0.5], 0.0795)
    """
    exists = np.isfinite(channel.log_uniform)
    letters = np.flatnonzero(pi > 0.0)
    size = float(np.prod([np.count_nonzero(exists[a]) for a in letters], dtype=float)) * channel.rows.shape[1]
    if size > SELECTIONS:
        return None, np.inf
    spent, outputs, chosen = np.zeros(1), np.zeros((1, channel.rows.shape[1])), np.zeros((1, 0), dtype=np.int64)
    for a in letters:  # all choices for the letters so far, with one more
        classes = np.flatnonzero(exists[a])
        rows = pi[a] * channel.rows[classes]
        spent = (spent[:, None] + pi[a] * np.sum(x_log_x(channel.rows[classes]), axis=1)).ravel()
        outputs = (outputs[:, None] + rows).reshape(-1, rows.shape[1])
        chosen = np.hstack([np.repeat(chosen, len(classes), axis=0), np.tile(classes, len(chosen))[:, None]])
    values = spent - np.sum(x_log_x(outputs), axis=1)
    best = int(np.argmax(values))
    p = np.zeros_like(channel.log_uniform)
    p[letters, chosen[best]] = pi[letters]
    return p, max(float(values[best]), 0.0)


@dataclass
class _Best:
    """The best prior so far."""

    channel: RecordChannel
    p: Floats
    value: float
    improve: Callable[[Floats], Floats]

    def offer(self, p: Floats) -> None:
        """Improve on a prior, and keep what comes if it is better."""
        better = self.improve(p)
        value = float(mutual_information(better @ self.channel.rows))
        if value > self.value:
            self.p, self.value = better, value

    def bounded(self, upper: float) -> Bounded:
        return Bounded(self.p, self.value, upper + ROUNDING * (1.0 + abs(upper)))
