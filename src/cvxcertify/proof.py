"""An interval with all that proves it, as a file that somebody else's program can check (docs/own-models.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from cvxcertify.derive import Derived
from cvxcertify.instance import Terms

FORMAT = "dalenius-interval/1"
DIGITS = 2**13  # bits of a number that is written in decimals


@dataclass(frozen=True, eq=False)
class Lower:
    """Evidence of a lower end of the minimisation.

    Attributes
    ----------
    value : fmpq or None
        None: there is no feasible point.
    cutoff : fmpq or None
        The ranges are those of points with at most this value.
    steps : tuple of int
        The rows that ranges come from.
    z : list of fmpq or None
        Multipliers; None where the ranges alone prove the end.
    priced : bool
        Whether the multipliers are for the objective itself, and not for the objective 0.
    solver : str
        Whose multipliers they are.
    """

    value: fmpq | None
    cutoff: fmpq | None
    steps: tuple[int, ...]
    z: list[fmpq] | None
    priced: bool
    solver: str


@dataclass(frozen=True, eq=False)
class Upper:
    """Evidence of an upper end of the minimisation: a feasible point, and a direction if the value is unbounded (None)."""

    value: fmpq | None
    x: list[fmpq]
    direction: list[fmpq] | None
    solver: str


def proof_text(derived: Derived, lower: Lower | None, upper: Upper | None) -> str:
    """The file: JSON whose numbers are texts of exact rationals."""
    instance = derived.instance
    entries = [(i, j, x) for i, row in enumerate(instance.rows) for j, x in row.items()]
    parts: dict[str, Any] = {
        "format": FORMAT,
        "about": derived.claim.value,
        "sense": "maximize" if derived.maximises else "minimize",
        "columns": list(instance.names),
        "constraints": {part.name: [list(part.rows), list(part.atoms)] for part in derived.parts},
        "cones": [[cone.kind, cone.size] for cone in instance.cones],
        "offset": number_text(instance.offset),
        "c": _sparse(enumerate(instance.c)),
        "b": _sparse(enumerate(instance.b)),
        "rows": [i for i, _, _ in entries],
        "places": [j for _, j, _ in entries],
        "values": [number_text(x) for _, _, x in entries],
        "lower": None,
        "upper": None,
    }
    if lower is not None:
        parts["lower"] = {
            "value": "inf" if lower.value is None else number_text(lower.value),
            "cutoff": None if lower.cutoff is None else number_text(lower.cutoff),
            "steps": list(lower.steps),
            "z": None if lower.z is None else _sparse(enumerate(lower.z)),
            "objective": "own" if lower.priced else "zero",
        }
    if upper is not None:
        parts["upper"] = {
            "value": "-inf" if upper.value is None else number_text(upper.value),
            "x": _sparse(enumerate(upper.x)),
            "direction": None if upper.direction is None else _sparse(enumerate(upper.direction)),
        }
    return "{" + ",\n".join(f"{json.dumps(key)}: {json.dumps(x)}" for key, x in parts.items()) + "}\n"


def number_text(value: fmpq) -> str:
    """An exact number as p or p/q, in decimals, or in hexadecimal digits where there are very many.

    >>> number_text(fmpq(-1, 3)), number_text(fmpq(7))
    ('-1/3', '7')
    """
    p, q = int(value.p), int(value.q)
    text = str if max(p.bit_length(), q.bit_length()) <= DIGITS else hex
    return text(p) if q == 1 else f"{text(p)}/{text(q)}"


def _sparse(entries: Iterable[tuple[int, fmpq]]) -> dict[str, list[Any]]:
    kept = Terms({j: x for j, x in entries if x})
    return {"places": list(kept), "values": [number_text(x) for x in kept.values()]}
