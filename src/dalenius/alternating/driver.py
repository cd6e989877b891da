"""One alternating loop for the three problems: blocks take turns until none can improve by more than a gap, which is certified.

A block answers with a better state and with a *certified* bound on what any choice of that block alone could gain. Steps are
taken as long as they gain anything worth it, so after a sweep without a step every block's bound speaks about one and the same state:

    no single block can improve it by more than the gap.

That is what the source paper claims of its schemes' limit points (its Theorems 4 and 6), and all it claims: the scope is BLOCKWISE,
not GLOBAL. Alternating between an adversary and a mechanism need not come to rest at all; a state that comes back is reported.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

import numpy as np

from cvxcertify.talking import say, talking
from dalenius.alternation import Alternation, BlockCertificate, Cycle, Sweep
from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.outcome import Scope, Termination
from dalenius.search import Clock

State = TypeVar("State")
NOTHING = 1e-11  # a gain that rounding alone may show
WORTH = 0.01  # share of the gap by which one player's step must improve the value to be taken: slow progress adds up


@dataclass(frozen=True)
class Settings:
    """Settings of when to stop.

    Attributes
    ----------
    gap : float
        A block that is certified to gain no more than this, relative to the value, is at rest.
    sweeps : int
        The largest number of sweeps of one start.
    restarts : int
        How many starts; the best result is kept.
    time_limit : float or None
        Seconds, for all starts together.
    """

    gap: float = 1e-4
    sweeps: int = 200
    restarts: int = 1
    time_limit: float | None = 60.0

    def __post_init__(self) -> None:
        for name in ("gap", "sweeps", "restarts"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"{name}: expected a finite number above 0, got {getattr(self, name)!r}")

    @property
    def seconds(self) -> float:
        return math.inf if self.time_limit is None else self.time_limit


@dataclass(frozen=True)
class Step(Generic[State]):
    """Turn of a block: its gain, and the gain it could have had.

    Attributes
    ----------
    state : the state with the block's new choice
    value : the objective there
    gain : what the block alone could gain at the old state at most
    scope : BLOCKWISE if `gain` is certified for every choice of the block, FEASIBLE if it speaks of first-order changes only
    found_by : the solver that found the state
    interval : (lower, upper) of the best value of the block's program, in `units`; by default from the value to what the gain allows
    units : those of the interval where they are not the value's
    taken : whether the step is to be taken; by default where it is worth it
    paper : called, what the source paper's step for this block reaches from the old state; its time is not the block's
    """

    state: State
    value: float
    gain: float
    scope: Scope = Scope.BLOCKWISE
    found_by: str = "own"
    interval: tuple[float, float] | None = None
    units: str = ""
    taken: bool | None = None
    paper: Callable[[], float] | None = None


class Block(Protocol[State]):
    """One group of variables; the others stay as they are.

    `costly` blocks have a turn only in sweeps in which no block before them moved.
    """

    name: str
    costly: bool

    def step(self, state: State) -> Step[State]: ...


class Scheme(Protocol[State]):
    """A problem, cut into blocks.

    `monotone` says that every step improves the value (one player); `key` is what must differ between states that are not the same.
    `needed` are the blocks that together choose every variable: the scope is BLOCKWISE where all of them are at rest, certified.
    Other blocks may help on the way.
    """

    monotone: bool
    maximises: bool
    blocks: Sequence[Block[State]]
    needed: Collection[str]

    def start(self, rng: np.random.Generator) -> State: ...

    def value(self, state: State) -> float: ...

    def key(self, state: State) -> Floats: ...


class CycleWarning(UserWarning):
    """An alternating scheme came back to a state that it had left."""


@dataclass(frozen=True, kw_only=True)
class AlternatingResult(Alternation, Generic[State]):
    """State in which the loop came to rest, or was stopped.

    Attributes
    ----------
    state
    found_by : (block, solver) or None
        Whose step was the last that was taken; None if the start was not left.
    """

    state: State
    found_by: tuple[str, str] | None = None

    def summary(self, *, record: int | None = None, units: str = "nats") -> Alternation:
        """The same without the state, for a result to keep."""
        names = ("value", "gains", "scope", "termination", "cycle")
        trace = tuple(
            replace(sweep, certificates=tuple(replace(one, units=one.units or units) for one in sweep.certificates))
            for sweep in self.trace
        )
        return Alternation(**{name: getattr(self, name) for name in names}, trace=trace, record=record, units=units)


def alternate(
    scheme: Scheme[State],
    settings: Settings = Settings(),
    *,
    rng: np.random.Generator | None = None,
    progress: Callable[[Sweep], None] | None = None,
    start: State | None = None,
    clock: Clock | None = None,
    verbose: bool = False,
) -> AlternatingResult[State]:
    """Alternate between the blocks of a scheme until no block can improve by more than the gap, from one or several starts.

    Parameters
    ----------
    scheme : Scheme
    settings : Settings
    rng : numpy Generator, optional
        For the starts.
    progress : callable, optional
        Called after every sweep.
    start : state, optional
        The first start; by default the scheme's own.
    clock : Clock, optional
        When to stop, instead of the settings' time limit.
    verbose : bool
        Whether the solvers' own logs are shown, and every turn's row of the table, on standard output.

    Returns
    -------
    AlternatingResult
        Of the best start: the best value among those that came to rest, or among all if none did.

    Warns
    -----
    CycleWarning
        If the kept start came back to a state that it had left.
    """
    rng, clock = rng or np.random.default_rng(0), clock or Clock(settings.seconds)
    with talking(verbose):
        first = scheme.start(rng) if start is None else start
        results = [_Start(scheme, settings, first, clock, progress).run()]
        while len(results) < settings.restarts and not clock.expired:
            results.append(_Start(scheme, settings, scheme.start(rng), clock, progress).run())
    sign = 1.0 if scheme.maximises else -1.0
    best = max(results, key=lambda result: (result.scope is Scope.BLOCKWISE, sign * result.value))
    if best.cycle is not None:
        cycle = best.cycle
        warnings.warn(
            f"the alternating scheme cycles: after sweep {cycle.second} it is back at its state after sweep {cycle.first} "
            f"(up to {cycle.distance:.1e}), with values {', '.join(f'{value:.6g}' for value in cycle.values)} in between; "
            "no longer run will end that, a larger memory, or another method, may",
            CycleWarning,
            stacklevel=2,
        )
    return best


@dataclass
class _Start(Generic[State]):
    """The loop from one start."""

    scheme: Scheme[State]
    settings: Settings
    state: State
    clock: Clock
    progress: Callable[[Sweep], None] | None
    gains: dict[str, float] = field(default_factory=dict)
    scopes: dict[str, Scope] = field(default_factory=dict)
    at_rest: set[int] = field(
        default_factory=set
    )  # ids of blocks that had a turn since the last step, with nothing to gain
    found_by: tuple[str, str] | None = None
    value: float = field(init=False)

    def __post_init__(self) -> None:
        self.value = self.scheme.value(self.state)

    def run(self) -> AlternatingResult[State]:
        began, trace, seen = self.clock.seconds, list[Sweep](), [self.scheme.key(self.state)]
        termination, cycle = Termination.SIZE_LIMIT, None
        for number in range(1, self.settings.sweeps + 1):
            turns = self._sweep(number)
            moved = any(turn.moved for turn in turns)
            trace.append(Sweep(number, self.value, dict(self.gains), self.clock.seconds - began, tuple(turns)))
            if self.progress is not None:
                self.progress(trace[-1])
            if self._rests:
                termination = Termination.GAP_REACHED
                break
            if self.clock.expired:
                termination = Termination.INTERRUPTED if self.clock.interrupted else Termination.TIME_LIMIT
                break
            if not moved:
                termination = Termination.STALLED
                break
            cycle = None if self.scheme.monotone else _cycle(seen, self.scheme.key(self.state), trace)
            if cycle is not None:
                termination = Termination.STALLED
                break
        certified = all(self.scopes.get(name) is Scope.BLOCKWISE for name in self.scheme.needed)
        at_rest = termination is Termination.GAP_REACHED and certified
        return AlternatingResult(
            state=self.state,
            value=self.value,
            gains=self.gains,
            scope=Scope.BLOCKWISE if at_rest else Scope.FEASIBLE,
            termination=termination,
            trace=tuple(trace),
            cycle=cycle,
            found_by=self.found_by,
        )

    @property
    def _nothing(self) -> float:
        """A gain that is not worth a step."""
        return self.settings.gap * abs(self.value) + NOTHING

    @property
    def _rests(self) -> bool:
        """True if what every block proved is about this very state, and is nothing."""
        return all(id(block) in self.at_rest for block in self.scheme.blocks)

    def _sweep(self, number: int) -> list[BlockCertificate]:
        """A turn of every block until all rest, costly ones only while nothing moved; what each proved."""
        turns = list[BlockCertificate]()
        for block in self.scheme.blocks:
            if (block.costly and any(turn.moved for turn in turns)) or self.clock.expired or self._rests:
                continue
            began, value = self.clock.seconds, self.value
            step = block.step(self.state)
            self.gains[block.name], self.scopes[block.name] = step.gain, step.scope
            taken = self._worth_it(step)
            if taken:
                self.state, self.value = step.state, step.value
                self.found_by = block.name, step.found_by
                self.at_rest.clear()
            elif step.gain <= self._nothing:
                self.at_rest.add(id(block))
            end = value + step.gain if self.scheme.maximises else value - step.gain
            low, high = sorted((step.value, end)) if step.interval is None else step.interval
            seconds = self.clock.seconds - began
            proved = number, block.name, low, high, step.found_by, seconds, step.scope
            paper = None if step.paper is None else step.paper()
            turns.append(BlockCertificate(*proved, taken, step.units, paper))
            say(f"turn: {turns[-1]}")
        return turns

    def _worth_it(self, step: Step[State]) -> bool:
        """One player takes what is better, and nothing else: a bound may be wide, and nothing better be there."""
        if step.taken is not None:
            return step.taken
        if not self.scheme.monotone:
            return step.state is not self.state and step.gain > self._nothing
        return (step.value - self.value) * (1.0 if self.scheme.maximises else -1.0) > WORTH * self._nothing


def _cycle(seen: list[Floats], key: Floats, trace: list[Sweep]) -> Cycle | None:
    """The evidence, if the state is one that was left before (not just the last one: that is slow progress)."""
    for number, earlier in enumerate(seen[:-1]):
        distance = float(np.max(np.abs(earlier - key)))
        away = max(float(np.max(np.abs(other - key))) for other in seen[number + 1 :])
        if distance < 1e-6 and away > 100.0 * distance:
            return Cycle(number, len(trace), distance, tuple(sweep.value for sweep in trace[number:]))
    seen.append(key)
    return None
