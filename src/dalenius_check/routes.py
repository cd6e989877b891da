"""Which queries and mechanisms may stand beside an adversary who knows blocks of records apart, and how pieces are made of them."""

from __future__ import annotations

from typing import Any

from .adaptive import alone, stages
from .counts import MODULAR
from .mechanism_kinds import MAX_STATES
from .model import Model
from .noise import ON_A_BIT, SHIFTING, noise_of
from .numbers import need
from .real_noise import REAL

_KEEPING = ("symmetric", "randomized_response")

KNOWN = (
    f"count or sum with exponential, a matrix, or noise without a range ({', '.join(SHIFTING)}; geometric may have one, and "
    f"{' and '.join(REAL)} need to be without an entropy); parity, modular_sum or threshold with symmetric, randomized_response or a "
    f"matrix; parity or threshold with laplace_threshold, or, with no range, {', '.join(ON_A_BIT)}"
)


def route(model: Model) -> str:
    """How pieces are made, by the query and the mechanism."""
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
    """Whether this is known behind a bit."""
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
    """How many records each block has."""
    size = model.held["size"]
    whole = len(model.alphabets)
    full, rest = divmod(whole, size or 1)
    sizes: list[int] = model.held["sizes"] or [size] * full + [rest] * (rest > 0)
    need(sum(sizes) == whole, f"adversary.sizes must sum to {whole}, the number of records")
    return sizes
