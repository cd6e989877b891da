"""Measures of what a column of a mechanism reveals about a variable: convex in its masses, homogeneous of degree 1.

Each is written from its row of docs/model-format.md (`measure`), its slopes from docs/certificate-format.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from ...core.arithmetic import arb, fmpq
from ...core.numbers import total, xlogx


class Divergence:
    """The f-divergence of masses from what they would be of a column that reveals nothing about letters of a law."""

    def __init__(
        self, law: Sequence[fmpq], at: Callable[[fmpq], Any], tangent: Callable[[fmpq], Sequence[Any]]
    ) -> None:
        self.law = law
        self.at = at
        self.tangent = tangent

    def of(self, masses: Mapping[int, fmpq]) -> arb:
        """The number, from the letters that have masses above 0; 0 where there are none."""
        whole = total(masses.values())
        even = {u: self.law[u] * whole for u in masses}
        lacking = [p for u, p in enumerate(self.law) if u not in masses]
        found = arb(whole * total(lacking) * self.at(fmpq(0))) if lacking else arb(0)
        return sum((arb(even[u]) * arb(self.at(m / even[u])) for u, m in masses.items()), found)

    def slopes(self, masses: Sequence[fmpq]) -> list[Any]:
        """Those of a plane that touches it at masses of a sum above 0, and is at most it where letters without mass have none.

        Bound because f(t) >= a t + b, the tangent at each letter's ratio, is multiplied by the mass that was to be expected.
        """
        whole = total(masses)
        lines = [self.tangent(m / (p * whole)) for m, p in zip(masses, self.law, strict=True)]
        behind = sum((p * b for p, (_, b) in zip(self.law, lines, strict=True)), fmpq(0))
        return [a + behind for a, _ in lines]


class Guessing:
    """By how much the best guess is right more often."""

    def __init__(self, law: Sequence[fmpq]) -> None:
        self.most = max(law)

    def of(self, masses: Mapping[int, fmpq]) -> arb:
        """The largest mass, less what the likeliest letter would have of a column that reveals nothing."""
        return arb(max(masses.values(), default=fmpq(0)) - self.most * total(masses.values()))

    def slopes(self, masses: Sequence[fmpq]) -> list[Any]:
        """Bound because the largest mass is at least any one of them."""
        guess = max(range(len(masses)), key=masses.__getitem__)
        return [fmpq(int(u == guess)) - self.most for u in range(len(masses))]


Measure: TypeAlias = Divergence | Guessing


def _logarithm(w: fmpq) -> tuple[Any, fmpq]:
    """The tangent of t log t at w; where w is 0, of letters that have no mass."""
    return (arb(w).log() + 1, -w) if w else (arb(0), w)


def _lines(lines: Sequence[Sequence[Any]]) -> Callable[[Sequence[fmpq]], Measure]:
    """The f-divergence whose function is the largest of some lines (a, b)."""
    return partial(
        Divergence,
        at=lambda w: max(a * w + b for a, b in lines),
        tangent=lambda w: max(lines, key=lambda line: line[0] * w + line[1]),
    )


_information = partial(Divergence, at=lambda w: xlogx(arb(w)), tangent=_logarithm)
MEASURES: Mapping[str, Callable[[Sequence[fmpq]], Measure]] = {
    "mutual_information": _information,
    "kl": _information,
    "chi_square": partial(Divergence, at=lambda w: w * w - 1, tangent=lambda w: (2 * w, -w * w - 1)),
    "total_variation": _lines([(1, -1), (-1, 1)]),
    "guessing": Guessing,
}


def measure_of(measure: str | list[list[fmpq]]) -> Callable[[Sequence[fmpq]], Measure]:
    """That of a name, or of lines."""
    return MEASURES[measure] if isinstance(measure, str) else _lines(measure)
