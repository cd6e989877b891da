"""Lines `tangent` of a lower bound that are rational, kept until it is known which end of e^epsilon is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .arithmetic import fmpq
from .channel import Channel
from .limits import SecretLimit, Tangent
from .numbers import total
from .read import integer
from .secret import Secret


class Tangents:
    """Tangents with their weights, of limits about a secret by their numbers."""

    def __init__(self, limits: Mapping[int, SecretLimit], channel: Channel) -> None:
        self.limits = limits
        self.channel = channel
        self._held = list[tuple[SecretLimit, Secret, fmpq, Tangent]]()

    def law(self, j: int, place: Any) -> Secret:
        """One of the laws of constraint j."""
        laws = self.limits[j].laws
        return laws[integer(place, "the law", 0, len(laws) - 1)]

    def read(self, limited: SecretLimit, law: Secret, weight: fmpq, about: Any, hint: Any) -> None:
        """Keep one."""
        self._held.append((limited, law, weight, limited.tangent(law, about, hint)))

    def add_to(self, add: Callable[[int, int, fmpq], None], hard: bool) -> fmpq:
        """Add to the cells of the matrix, and return what is subtracted behind it."""
        behind = list[fmpq]()
        for limited, law, weight, tangent in self._held:
            letters, mean, most = tangent(limited.ends[1 if hard else 0])
            behind.append(weight * most)
            columns = dict[int, list[tuple[list[fmpq], fmpq]]]()
            for s, factors in letters.items():
                for x, p in law.rows[s]:
                    columns.setdefault(x, []).append((factors, p))
            for x, p in law.inputs:
                held = [(mean, p), *columns.get(x, [])]
                for y in range(self.channel.outputs):
                    add(x, y, weight * total(factors[y] * q for factors, q in held))
        return total(behind)
