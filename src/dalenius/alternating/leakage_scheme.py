"""Problem 1 cut into blocks: the source paper's letter law and conditionals, or the joint step at fixed posteriors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalenius.alternating.driver import Block, Step
from dalenius.errors import InputError
from dalenius.information import mutual_information, x_log_x
from dalenius.information.arrays import Floats
from dalenius.outcome import Scope
from dalenius.programs import ConditionalUpdate, MarginalUpdate, PosteriorUpdate, Program
from dalenius.reduction import RecordChannel

__all__ = ["LeakageScheme"]

INSIDE = 1e-12  # share of the uniform law in posteriors, so that no pair is excluded for ever


class LeakageScheme:
    """Maximise I(A; Y) over masses p(a,k) with H(p) >= b, for one record channel; a state is p (letters, classes).

    Parameters
    ----------
    channel : RecordChannel
        Of `dalenius.reduction.record_channels`.
    blocks : sequence of str
        Any of ``"posterior"`` (all of p, at the posteriors of the last p), ``"marginal"`` (the letter law) and ``"conditional"`` (the
        laws of the classes, a convex-concave step: its gain is first-order only).

    Raises
    ------
    InputError
        If a block is unknown.

    >>> import dalenius as dl
    >>> from dalenius.alternating import LeakageScheme, alternate
    >>> from dalenius.reduction import record_channels
    >>> problem = dl.MaximalLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast(2.5))
    >>> result = alternate(LeakageScheme(record_channels(problem)[0]))
    >>> result.scope.value, round(result.value, 4)
    ('blockwise', 0.0387)
    """

    monotone = True
    maximises = True

    def __init__(self, channel: RecordChannel, blocks: Sequence[str] = ("posterior",)) -> None:
        kinds = {"posterior": _Posterior, "marginal": _Marginal, "conditional": _Conditional}
        if not blocks or not set(blocks) <= set(kinds):
            raise InputError(f"blocks: expected some of {', '.join(kinds)}; got {list(blocks)!r}")
        self.channel = channel
        self.blocks: list[Block[Floats]] = [kinds[name](channel) for name in blocks]

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
        return np.asarray(p / p.sum())

    def _knows(self, p: Floats) -> float:
        """The relative entropy of p to the uniform prior: log |X| - H(p)."""
        return float(np.sum(x_log_x(p)) - np.sum(p * np.where(p > 0.0, self.channel.log_uniform, 0.0)))

    def value(self, state: Floats) -> float:
        return float(mutual_information(state @ self.channel.rows))

    def key(self, state: Floats) -> Floats:
        return state


class _Block:
    """A block whose program is built at its first turn and set again at every other."""

    name: str
    scope = Scope.BLOCKWISE

    def __init__(self, channel: RecordChannel) -> None:
        self.channel = channel
        self.program: Program | None = None

    def step(self, state: Floats) -> Step[Floats]:
        now = float(mutual_information(state @ self.channel.rows))
        program = self._program(state)
        answer = program.solve(gap=1e-9)
        new = self._state(state, dict(answer.point))
        value = float(mutual_information(new @ self.channel.rows))
        return Step(new, value, max(answer.upper - now, 0.0), self.scope)

    def _program(self, state: Floats) -> Program:
        raise NotImplementedError

    def _state(self, state: Floats, point: dict[str, Floats]) -> Floats:
        raise NotImplementedError


class _Posterior(_Block):
    name = "posterior"

    def _program(self, state: Floats) -> Program:
        u = state @ self.channel.rows
        r = u.sum(axis=0)
        phi = np.where(r > 0.0, u / np.where(r > 0.0, r, 1.0), 1.0 / len(u))
        phi = (1.0 - INSIDE) * phi + INSIDE / len(u)
        if isinstance(self.program, PosteriorUpdate):
            self.program.set(phi, -self.channel.max_knowledge)
        else:
            self.program = PosteriorUpdate(
                self.channel.rows, self.channel.log_uniform, phi, -self.channel.max_knowledge
            )
        return self.program

    def _state(self, state: Floats, point: dict[str, Floats]) -> Floats:
        return point["p"]


class _Marginal(_Block):
    name = "marginal"

    def _program(self, state: Floats) -> Program:
        w = _conditionals(state, self.channel)
        logs = np.where(w > 0.0, self.channel.log_uniform, 0.0)
        spread = np.sum(w * logs, axis=1) - np.sum(x_log_x(w), axis=1)
        if isinstance(self.program, MarginalUpdate):
            self.program.set(w @ self.channel.rows, spread, -self.channel.max_knowledge)
        else:
            self.program = MarginalUpdate(w @ self.channel.rows, spread, -self.channel.max_knowledge)
        return self.program

    def _state(self, state: Floats, point: dict[str, Floats]) -> Floats:
        return point["pi"][:, None] * _conditionals(state, self.channel)


class _Conditional(_Block):
    name = "conditional"
    scope = Scope.FEASIBLE

    def _program(self, state: Floats) -> Program:
        pi, w = state.sum(axis=1), _conditionals(state, self.channel)
        if isinstance(self.program, ConditionalUpdate):
            self.program.set(pi, w, -self.channel.max_knowledge)
        else:
            self.program = ConditionalUpdate(
                self.channel.rows, self.channel.log_uniform, pi, w, -self.channel.max_knowledge
            )
        return self.program

    def _state(self, state: Floats, point: dict[str, Floats]) -> Floats:
        return state.sum(axis=1)[:, None] * point["w"]


def _conditionals(state: Floats, channel: RecordChannel) -> Floats:
    """w_a(k); of a letter without mass those of the largest entropy."""
    pi = state.sum(axis=1, keepdims=True)
    uniform = channel.uniform / channel.uniform.sum(axis=1, keepdims=True)
    return np.where(pi > 0.0, state / np.where(pi > 0.0, pi, 1.0), uniform)
