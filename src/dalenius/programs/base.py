"""What every program has: named cvxpy objects, and a solution whose interval is evaluated in closed form, never by the solver."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.outcome import Termination
from dalenius.programs.solvers import Attempt, attempt, ladder

__all__ = ["BlockSolution", "Program"]

Floats = NDArray[np.float64]
Named = dict[str, Floats]
ROUNDING = 1e-12  # outward, relative to 1 + |value|: what evaluating a closed form in doubles may lose


@dataclass(frozen=True)
class BlockSolution:
    """An interval for the optimal value of one program, and what proves it.

    Attributes
    ----------
    point : dict of name -> array
        Feasible after repair; its value is one end of the interval.
    multipliers : dict of name -> array
        Their closed-form bound is the other end, for every feasible point.
    lower, upper : float
        In nats (or in units of distortion), rounded outward by 1e-12 (1 + |value|).
    termination : Termination
    attempts : tuple of Attempt
        Diagnostics: what each solver said. Evidence of nothing.
    """

    point: Mapping[str, Floats]
    multipliers: Mapping[str, Floats]
    lower: float
    upper: float
    termination: Termination
    seconds: float
    attempts: tuple[Attempt, ...] = field(default=(), repr=False)

    @property
    def gap(self) -> float:
        """upper - lower."""
        return self.upper - self.lower


class Program(ABC):
    """A DCP model of one subproblem. Subclasses are DPP in their parameters, so that solving again does not canonicalise again.

    Attributes
    ----------
    name : str
        Its place in the registry.
    maximises : bool
    problem : cvxpy.Problem
    variables, parameters, constraints : dict of name -> cvxpy object
    """

    name: ClassVar[str]
    maximises: ClassVar[bool]
    problem: cp.Problem
    variables: dict[str, cp.Variable]
    parameters: dict[str, cp.Parameter]
    constraints: dict[str, cp.Constraint]

    def __init__(self) -> None:
        self.build()

    @abstractmethod
    def build(self) -> None:
        """Make the cvxpy objects, parameters set."""

    @abstractmethod
    def start(self) -> tuple[Named, Named]:
        """A feasible point and multipliers that need no solver."""

    @abstractmethod
    def repair(self, raw: Mapping[str, Floats]) -> Named | None:
        """A feasible point near a solver's, exactly feasible up to rounding; None if nothing can be made of it."""

    @abstractmethod
    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        """Valid multipliers near a solver's; None if nothing can be made of them."""

    @abstractmethod
    def value(self, point: Mapping[str, Floats]) -> float:
        """The objective at a feasible point."""

    @abstractmethod
    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        """A bound on the objective over all feasible points, in closed form, whatever the multipliers."""

    def improve(self, point: Named, multipliers: Named) -> tuple[Named, Named]:
        """A better pair made from a repaired one, if the program knows how; by default the same."""
        return point, multipliers

    def solve(self, *, solver: str = "auto", gap: float = 1e-8, time_limit: float | None = 60.0) -> BlockSolution:
        """Try solvers in turn until the interval is at most `gap` wide, relative to its larger end.

        Raises
        ------
        InputError
            If an argument is invalid, or a solver asked for by name is not there.
        """
        if not gap >= 0.0:
            raise InputError(f"gap: expected a number of at least 0, got {gap!r}")
        started = time.monotonic()
        best = _Best(self)
        attempts: list[Attempt] = []
        hung = False
        for name, settings in ladder(solver):
            left = None if time_limit is None else time_limit - (time.monotonic() - started)
            if best.gap <= gap or (left is not None and left <= 0.0):
                break
            made = attempt(self.problem, self.variables, self.constraints, name, settings, time_limit=left)
            attempts.append(made)
            if made.hung:
                hung = True
                self.build()  # the thread that hangs keeps the old objects
            best.offer(
                self.repair(made.point) if made.point else None, self.project(made.duals) if made.duals else None
            )
        termination = Termination.STALLED
        if best.gap <= gap:
            termination = Termination.GAP_REACHED
        elif hung or (time_limit is not None and time.monotonic() - started >= time_limit):
            termination = Termination.TIME_LIMIT
        return best.solution(termination, time.monotonic() - started, tuple(attempts))


class _Best:
    """The best pair so far, judged by the closed forms alone."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.sign = 1.0 if program.maximises else -1.0
        self.point, self.multipliers = program.start()
        self.value, self.bound = program.value(self.point), program.bound(self.multipliers)

    @property
    def gap(self) -> float:
        """Width over the larger end's size."""
        width = self.sign * (self.bound - self.value)
        return max(width, 0.0) / max(abs(self.bound), abs(self.value), 1e-9)

    def offer(self, point: Named | None, multipliers: Named | None) -> None:
        """Take what is better, each side by itself; pairs are improved together."""
        pairs = [(point or self.point, multipliers or self.multipliers)]
        pairs.append(self.program.improve(*pairs[0]))
        for p, m in pairs:
            value, bound = self.program.value(p), self.program.bound(m)
            if np.isfinite(value) and self.sign * value > self.sign * self.value:
                self.point, self.value = p, value
            if np.isfinite(bound) and self.sign * bound < self.sign * self.bound:
                self.multipliers, self.bound = m, bound

    def solution(self, termination: Termination, seconds: float, attempts: tuple[Attempt, ...]) -> BlockSolution:
        low, high = sorted((self.value, self.bound)) if np.isfinite(self.bound) else (self.value, self.bound)
        low, high = min(low, high), max(low, high)
        return BlockSolution(
            point=self.point,
            multipliers=self.multipliers,
            lower=low - ROUNDING * (1.0 + abs(low)),
            upper=high + ROUNDING * (1.0 + abs(high)),
            termination=termination,
            seconds=seconds,
            attempts=attempts,
        )
