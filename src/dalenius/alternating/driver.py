"""One alternating loop for the three problems: blocks take turns until none can improve by more than a gap, which is certified.

A block answers with a better state and with a *certified* bound on what any choice of that block alone could gain. A step that cannot
gain more than the gap is not taken, so after a sweep without a step every block's bound speaks about one and the same state:

    no single block can improve it by more than the gap.

That is what the source paper claims of its schemes' limit points (its Theorems 4 and 6), and all it claims: the scope is BLOCKWISE,
not GLOBAL. Alternating between an adversary and a mechanism need not come to rest at all; a state that comes back is reported.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.outcome import Scope, Termination

__all__ = ["AlternatingResult", "Block", "Cycle", "CycleWarning", "Scheme", "Settings", "Step", "Sweep", "alternate"]

State = TypeVar("State")
NOTHING = 1e-11  # a gain that rounding alone may show


@dataclass(frozen=True)
class Settings:
    """When to stop.

    Attributes
    ----------
    gap : float
        A block that cannot gain more than this, relative to the value, is at rest.
    sweeps : int
        The largest number of sweeps of one start.
    restarts : int
        How many starts; the best result is kept.
    time_limit : float or None
        Seconds, for all starts together.
    """

    gap: float = 1e-6
    sweeps: int = 200
    restarts: int = 1
    time_limit: float | None = 60.0

    def __post_init__(self) -> None:
        for name in ("gap", "sweeps", "restarts"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"{name}: expected a finite number above 0, got {getattr(self, name)!r}")


@dataclass(frozen=True)
class Step(Generic[State]):
    """What a block did, and could do.

    Attributes
    ----------
    state : the state with the block's new choice
    value : the objective there
    gain : what the block alone could gain at the old state at most, certified
    scope : BLOCKWISE if `gain` bounds every choice of the block, FEASIBLE if only first-order changes of it
    """

    state: State
    value: float
    gain: float
    scope: Scope = Scope.BLOCKWISE


class Block(Protocol[State]):
    """One group of variables; the others stay as they are."""

    name: str

    def step(self, state: State) -> Step[State]: ...


class Scheme(Protocol[State]):
    """A problem, cut into blocks.

    `monotone` says that every step improves the value (one player); `key` is what must differ between states that are not the same.
    """

    monotone: bool
    maximises: bool
    blocks: Sequence[Block[State]]

    def start(self, rng: np.random.Generator) -> State: ...

    def value(self, state: State) -> float: ...

    def key(self, state: State) -> Floats: ...


@dataclass(frozen=True)
class Sweep:
    """One turn of every block: the value after it, and each block's certified gain when its turn came."""

    number: int
    value: float
    gains: dict[str, float]
    seconds: float


@dataclass(frozen=True)
class Cycle:
    """Two sweeps of one start with the same state up to `distance`, with steps in between: the scheme will not come to rest."""

    first: int
    second: int
    distance: float
    values: tuple[float, ...]


class CycleWarning(UserWarning):
    """An alternating scheme came back to a state that it had left."""


@dataclass(frozen=True)
class AlternatingResult(Generic[State]):
    """Where the loop came to rest, or was stopped.

    Attributes
    ----------
    state, value
    gains : dict of block -> certified gain at `state`, or at its last turn where the loop was stopped before it came to rest
    scope : BLOCKWISE where every block's gain is certified to be at most the gap; otherwise FEASIBLE
    termination : GAP_REACHED, TIME_LIMIT, SIZE_LIMIT (sweeps) or STALLED (a cycle)
    trace : the sweeps of the start that was kept
    cycle : the evidence, if the scheme came back to a state that it had left
    """

    state: State
    value: float
    gains: dict[str, float]
    scope: Scope
    termination: Termination
    trace: tuple[Sweep, ...]
    cycle: Cycle | None = None


def alternate(
    scheme: Scheme[State],
    settings: Settings = Settings(),
    *,
    rng: np.random.Generator | None = None,
    progress: Callable[[Sweep], None] | None = None,
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

    Returns
    -------
    AlternatingResult
        Of the best start: the best value among those that came to rest, or among all if none did.

    Warns
    -----
    CycleWarning
        If the kept start came back to a state that it had left.
    """
    rng = rng or np.random.default_rng(0)
    deadline = np.inf if settings.time_limit is None else time.monotonic() + settings.time_limit
    results = [_run(scheme, settings, scheme.start(rng), deadline, progress)]
    while len(results) < settings.restarts and time.monotonic() < deadline:
        results.append(_run(scheme, settings, scheme.start(rng), deadline, progress))
    sign = 1.0 if scheme.maximises else -1.0
    best = max(results, key=lambda result: (result.scope is Scope.BLOCKWISE, sign * result.value))
    if best.cycle is not None:
        cycle = best.cycle
        warnings.warn(
            f"the alternating scheme cycles: after sweep {cycle.second} it is back at its state after sweep {cycle.first} "
            f"(up to {cycle.distance:.1e}), with values {', '.join(f'{value:.6g}' for value in cycle.values)} in between",
            CycleWarning,
            stacklevel=2,
        )
    return best


def _run(
    scheme: Scheme[State],
    settings: Settings,
    state: State,
    deadline: float,
    progress: Callable[[Sweep], None] | None,
) -> AlternatingResult[State]:
    started, trace, seen = time.monotonic(), list[Sweep](), [scheme.key(state)]
    termination, gains, scopes, cycle = Termination.SIZE_LIMIT, dict[str, float](), dict[str, Scope](), None
    value = scheme.value(state)
    for number in range(1, settings.sweeps + 1):
        moved = False
        for block in scheme.blocks:
            step = block.step(state)
            gains[block.name], scopes[block.name] = step.gain, step.scope
            if step.gain > settings.gap * abs(value) + NOTHING:
                state, value, moved = step.state, step.value, True
        trace.append(Sweep(number, value, dict(gains), time.monotonic() - started))
        if progress is not None:
            progress(trace[-1])
        if not moved:
            termination = Termination.GAP_REACHED
            break
        cycle = None if scheme.monotone else _cycle(seen, scheme.key(state), trace)
        if cycle is not None:
            termination = Termination.STALLED
            break
        if time.monotonic() >= deadline:
            termination = Termination.TIME_LIMIT
            break
    at_rest = termination is Termination.GAP_REACHED and all(scope is Scope.BLOCKWISE for scope in scopes.values())
    scope = Scope.BLOCKWISE if at_rest else Scope.FEASIBLE
    return AlternatingResult(state, value, gains, scope, termination, tuple(trace), cycle)


def _cycle(seen: list[Floats], key: Floats, trace: list[Sweep]) -> Cycle | None:
    """The evidence, if the state is one that was left before (not just the last one: that is slow progress)."""
    for number, earlier in enumerate(seen[:-1]):
        distance = float(np.max(np.abs(earlier - key)))
        away = max(float(np.max(np.abs(other - key))) for other in seen[number + 1 :])
        if distance < 1e-6 and away > 100.0 * distance:
            return Cycle(number, len(trace), distance, tuple(sweep.value for sweep in trace[number:]))
    seen.append(key)
    return None
