"""All limits about secrets of one program: what is added to its model, and what their multipliers prove together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import cvxpy as cp
import numpy as np

from dalenius.information.arrays import Floats
from dalenius.programs.secret_part import SecretPart

__all__ = ["Secrets", "Tangent"]

Named = dict[str, Floats]
Tangent = tuple[int, int, float, Floats]  # a part's number, the tangent's in it, its weight and its hint
HALF = 0.5
USED = 1e-12  # share of the largest weight below which one is 0


class Secrets:
    """Parts, numbered; the multipliers of part k are named `tangents<k>`, its weights, and `hints<k>`."""

    def __init__(self, parts: Sequence[SecretPart] = ()) -> None:
        self.parts = tuple(parts)

    def __len__(self) -> int:
        return len(self.parts)

    def model(
        self, Q: cp.Expression, excess: cp.Expression | None = None
    ) -> tuple[dict[str, cp.Variable], dict[str, cp.Constraint]]:
        """Variables and constraints, named; limits are raised by `excess`, if there is one."""
        variables, constraints = dict[str, cp.Variable](), dict[str, cp.Constraint]()
        for k, part in enumerate(self.parts):
            allowed = cp.Constant(part.at_most) + (0.0 if excess is None else excess)
            some, more = part.model(cp.Constant(part.masses) @ Q, cp.Constant(part.masses.sum(axis=0)) @ Q, allowed)
            variables |= {f"secret{k}_{name}": each for name, each in some.items()}
            constraints |= {f"secret{k}_{name}": each for name, each in more.items()}
        return variables, constraints

    def start(self, outputs: int) -> Named:
        """Multipliers that give nothing away."""
        return self._named(part.nothing(outputs) for part in self.parts)

    def project(self, duals: Mapping[str, Floats], outputs: int) -> Named:
        """Those nearest to a solver's."""

        def each(k: int, part: SecretPart) -> tuple[Floats, Floats]:
            prefix = f"secret{k}_"
            mine = {name.removeprefix(prefix): x for name, x in duals.items() if name.startswith(prefix)}
            return part.tangents(mine) or part.nothing(outputs)

        return self._named(each(k, part) for k, part in enumerate(self.parts))

    def _named(self, pairs: Iterator[tuple[Floats, Floats]]) -> Named:
        found: Named = {}
        for k, (weights, hints) in enumerate(pairs):
            found |= {f"tangents{k}": weights, f"hints{k}": hints}
        return found

    def given_away(self, multipliers: Mapping[str, Floats]) -> tuple[Floats | float, Floats | float, float]:
        """What they add to the matrix (inputs, outputs), its size, and what they subtract."""
        matrix: Floats | float = 0.0
        size: Floats | float = 0.0
        spent = 0.0
        for k, part in enumerate(self.parts):
            added, more, taken = part.combined(multipliers[f"tangents{k}"], multipliers[f"hints{k}"])
            matrix, size, spent = matrix + added, size + more, spent + taken
        return matrix, size, spent

    def turned(self, multipliers: Mapping[str, Floats]) -> Named:
        """With more tangents near these, where that may help; new ones with weights next to 0."""
        return self._named(
            part.turned(multipliers[f"tangents{k}"], multipliers[f"hints{k}"]) for k, part in enumerate(self.parts)
        )

    def used(self, multipliers: Mapping[str, Floats]) -> list[tuple[int, int]]:
        """Part and number of each tangent with a weight."""
        return [
            (k, i) for k in range(len(self.parts)) for i in np.flatnonzero(multipliers[f"tangents{k}"] > 0.0).tolist()
        ]

    def listed(self, multipliers: Mapping[str, Floats]) -> tuple[Tangent, ...]:
        """The tangents that have a weight."""
        weights = [multipliers[f"tangents{k}"] for k in range(len(self.parts))]
        least = USED * max((w.max(initial=0.0) for w in weights), default=0.0)
        return tuple(
            (k, i, float(weights[k][i]), multipliers[f"hints{k}"][i])
            for k, i in self.used(multipliers)
            if weights[k][i] > least
        )

    def alone(self, k: int, i: int, multipliers: Mapping[str, Floats]) -> tuple[Floats, float]:
        """One tangent with a weight of 1: its matrix, and what it subtracts."""
        part, hint = self.parts[k], multipliers[f"hints{k}"][i]
        return part.masses.T @ part.slopes(i, hint)[0], part.behind(i, hint)

    def weighted(self, chosen: Sequence[tuple[int, int]], weights: Floats, multipliers: Mapping[str, Floats]) -> Named:
        """The same tangents with other weights."""
        found: Named = {f"tangents{k}": np.zeros_like(multipliers[f"tangents{k}"]) for k in range(len(self.parts))}
        for (k, i), weight in zip(chosen, weights.tolist(), strict=True):
            found[f"tangents{k}"][i] = weight
        return found

    def towards(self, Q: Floats) -> float:
        """A share of Q, mixed with a mechanism that tells nothing, with which half of the room in each limit is left."""
        share = 1.0
        for part in self.parts:
            have = part.excess(Q) + part.at_most
            share = min(share, HALF * part.at_most / have if have > 0.0 else 1.0)
        return share

    def restored(self, tangents: Sequence[Tangent], start: Mapping[str, Floats]) -> Named:
        """Listed tangents as multipliers, the others as at the start."""
        found = {name: x.copy() for name, x in start.items() if name.startswith(("tangents", "hints"))}
        for k, i, weight, hint in tangents:
            found[f"tangents{k}"][i], found[f"hints{k}"][i] = weight, hint
        return found

    def share(self, Q: Floats, anchor: Floats) -> float:
        """The share of an anchor that is inside with which a mechanism keeps all limits, up to rounding: they are convex."""
        share = 0.0
        for part in self.parts:
            over, room = part.excess(Q), -part.excess(anchor)
            if over > 0.0:
                share = max(share, over / (over + room) if room > 0.0 else 1.0)
        return share

    def excess(self, Q: Floats) -> float:
        """The largest by which a limit is passed; negative where there is room in all."""
        return max((part.excess(Q) for part in self.parts), default=-np.inf)
