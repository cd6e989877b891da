"""A block of a scheme of one's own that is a cvxpy model, certified at every turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import numpy as np

from dalenius.alternating.driver import Scheme, Step
from dalenius.errors import InputError, brief
from dalenius.information.arrays import Floats
from dalenius.outcome import Scope
from dalenius.programs import certify
from dalenius.programs.own import Model

State = TypeVar("State")


class ModelBlock(Generic[State]):
    """A block that is a model of one's own: its parameters are read off a state, its optimum makes the next (docs/alternating.md).

    Parameters
    ----------
    name : str
    scheme : Scheme
        The model's value is the scheme's, as a function of what the block chooses.
    model : cvxpy.Problem
        It maximises if the scheme does.
    given : callable
        Of a state: the values of the model's parameters by name.
    taken : callable
        Of a state and the values of the model's variables by name: the next state.
    solver, gap
        As in `dalenius.programs.certify`.
    """

    costly = False

    def __init__(
        self,
        name: str,
        scheme: Scheme[State],
        model: Model,
        *,
        given: Callable[[State], Mapping[str, object]],
        taken: Callable[[State, Mapping[str, Floats]], State],
        solver: str = "CLARABEL",
        gap: float = 1e-8,
    ) -> None:
        self.name, self.scheme, self.model, self.solver, self.gap = name, scheme, model, solver, gap
        self.given, self.taken = given, taken

    def step(self, state: State) -> Step[State]:
        """Solve the model for this state; where nothing is proved, the state stays and the gain is infinite.

        Raises
        ------
        InputError
            If a parameter has no value, or one of another shape or sign, or that is no number; or as `certify`.
        """
        values = self.given(state)
        for parameter in self.model.parameters():
            given = values.get(parameter.name())
            try:
                if not np.all(np.isfinite(value := np.asarray(given, dtype=float))):
                    raise ValueError
                parameter.value = value
            except (TypeError, ValueError):
                expected = f"finite numbers of shape {parameter.shape}, as it was declared, for {parameter.name()}"
                raise InputError(f"{self.name}: expected {expected}; got {brief(given)}") from None
        found, now = certify(self.model, solver=self.solver, gap=self.gap), self.scheme.value(state)
        if not found.values or not math.isfinite(found.gap):
            return Step(state, now, math.inf, Scope.FEASIBLE, taken=False)
        new = self.taken(state, found.values)
        gain = found.upper - now if self.scheme.maximises else now - found.lower
        solver, ends = (found.point_by or "start").lower(), (found.lower, found.upper)
        return Step(new, self.scheme.value(new), max(gain, 0.0), found_by=solver, interval=ends)
