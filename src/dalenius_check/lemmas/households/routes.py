"""Queries and mechanisms known against independent blocks of records, and the sums of the others' letters."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import gcd
from typing import Any

from ...core.allowance import NUMBER, Allowance, limit
from ...core.counts import MODULAR, Groups
from ...core.model import Model
from ...core.noise import ON_A_BIT, REAL, SHIFTING, noise_of
from ...core.numbers import need
from ...core.tables import MAX_STATES, stages

_KEEPING = ("symmetric", "randomized_response")

KNOWN = (
    f"count or sum with exponential, a matrix, or noise without a range ({', '.join(SHIFTING)}; geometric may have one, and "
    f"{' and '.join(REAL)} need to be without an entropy); parity, modular_sum or threshold with symmetric, randomized_response or a "
    f"matrix; parity or threshold with laplace_threshold, or, with no range, {', '.join(ON_A_BIT)}"
)


def alone(mechanism: dict[str, Any]) -> list[dict[str, Any]]:
    """The mechanisms of a tree's stages, or the one that is none."""
    return [stage["mechanism"] for stage in stages(mechanism)] or [mechanism]


def changed(table: dict[str, Any], make: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """A mechanism as it may be written, every mechanism in it being what is made of it."""
    if table.get("kind", "adaptive") != "adaptive":
        return {key: item for key, item in make(table).items() if item is not None}
    found = {**table, "mechanism": changed(table["mechanism"], make)}
    if table["then"] is None:
        del found["then"]
    else:
        found["then"] = [changed(stage, make) if stage else {} for stage in table["then"]]
    return found


def route(model: Model) -> str:
    """Route to the pieces, by the query and the mechanism."""
    query = model.query["kind"]
    mechanism = model.mechanism
    kind = mechanism["kind"]
    noise = noise_of(mechanism)
    told = _told(mechanism)
    listed = _listed(mechanism)
    if kind == "adaptive":
        parts = alone(mechanism) if not any(stage["on"] for stage in stages(mechanism)) else [mechanism]
        told, listed = all(_told(part) or _listed(part) for part in parts), all(map(_listed, parts))
        told = told and query == "threshold"
    if query in ("count", "sum") and noise.shifts and (model.entropy == 0 or not noise.real):
        return "noise"
    if query in ("count", "sum") and kind == "exponential":
        return "drift"
    if (query in MODULAR and kind in _KEEPING) or (query == "parity" and told):
        return "shift"
    if query == "threshold" and (told or listed):
        return "threshold"
    return "rows" if listed and query in ("count", "sum", *MODULAR) else ""


def _told(mechanism: dict[str, Any]) -> bool:
    """True if this is known on a bit."""
    return mechanism["kind"] in (*_KEEPING, "laplace_threshold") or noise_of(mechanism).on_a_bit


def _listed(mechanism: dict[str, Any]) -> bool:
    return bool(mechanism["kind"] == "matrix" and mechanism["inputs"] == "query")


def need_fitting(mechanism: dict[str, Any], count: int) -> None:
    """Refuse a mechanism that is not for so many values."""
    need(mechanism.get("k") in (None, count), f"mechanism.k must be {count}, one for each value")
    rows = mechanism.get("rows")
    need(rows is None or count <= MAX_STATES, f"the query has more than {MAX_STATES} values")
    need(rows is None or len(rows) == count, f"{len(rows or [])} rows where {count} are needed")


def sizes_of(model: Model) -> list[int]:
    """Number of records of each block."""
    size = model.held["size"]
    whole = len(model.alphabets)
    full, rest = divmod(whole, size or 1)
    sizes: list[int] = model.held["sizes"] or [size] * full + [rest] * (rest > 0)
    need(sum(sizes) == whole, f"adversary.sizes must sum to {whole}, the number of records")
    return sizes


_MAX_SPAN = 1 << 22


def reached(parts: Groups, modulus: int, allowance: Allowance) -> list[int]:
    """The sums that some letters reach, ascending; modulo the modulus, unless it is 0."""
    low = sum(min(c) * times for c, times in parts.items())
    step = 1 if modulus else gcd(*(x - c[0] for c in parts for x in c)) or 1
    span = sum((max(c) - min(c)) // step * times for c, times in parts.items())
    width = modulus or span + 1
    limit(width <= _MAX_SPAN, f"sums that span more than {_MAX_SPAN} values")
    allowance.room(width)
    found = 1  # bit j stands for low + step j
    for c, times in parts.items():
        shifts = sorted({(x - min(c)) // step % width for x in c})
        found = _added(found, shifts, times, width, allowance)
    allowance.room(found.bit_count() * NUMBER)
    sums = (low + step * j for j, bit in enumerate(reversed(bin(found))) if bit == "1")
    return sorted(x % modulus for x in sums) if modulus else list(sums)


def _added(found: int, shifts: list[int], times: int, width: int, allowance: Allowance) -> int:
    """The same after so many more parts, each of which adds one of these."""
    whole = (1 << width) - 1
    for left in range(times, 0, -1):
        allowance.look()
        if not found & (found + 1) and all(b - a <= found.bit_length() for a, b in pairwise(shifts)):
            return whole >> max(width - found.bit_length() - left * shifts[-1], 0)  # intervals stay intervals
        more = 0
        for shift in shifts:
            more |= found << shift
        more = (more | more >> width) & whole
        if more == found:
            return found  # none of what is left adds any
        found = more
    return found
