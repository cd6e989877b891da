"""The tables of an audit's model, by kind, with their keys and defaults (docs/model-format.md)."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import read
from .classes import CLASSES
from .kinds import CHAINS, QUERIES, mechanism
from .numbers import need
from .read import REQUIRED, Schema, required


def _records(value: Any, what: str) -> list[int]:
    size = required(read.integer, low=1, high=10_000)
    if isinstance(value, dict) and "alphabets" in value:
        sizes = read.table(value, what, {"alphabets": required(read.entries)})["alphabets"]
        need(1 <= len(sizes) <= 1_000_000, f"{what}.alphabets must have from 1 to 1000000 entries")
        return [size[0](number, f"{what}.alphabets") for number in sizes]
    schema: Schema = {"count": required(read.integer, low=1, high=1_000_000), "alphabet": size}
    table = read.table(value, what, schema)
    return [table["alphabet"]] * table["count"]


def _sizes(value: Any, what: str) -> list[int]:
    sizes = read.entries(value, what)
    need(1 <= len(sizes) <= 1_000_000, f"{what} must have from 1 to 1000000 entries")
    return [_SIZE(size, what) for size in sizes]


_SIZE = partial(read.integer, low=1)
_ENTROPY = required(read.amount, units="nats|bits|max", number=read.number)
_ADVERSARIES: dict[str, Schema] = {
    "product_priors": {},
    "prior_set": {"priors": (read.priors, REQUIRED)},
    **{kind: held.keys for kind, held in CLASSES.items()},
}
_BLOCKS: dict[str, Schema] = {
    "independent_blocks": {"size": (_SIZE, None), "sizes": (_sizes, None), "entropy_at_least": (_ENTROPY[0], None)},
    **CHAINS,
}


def adversary(value: Any, what: str, more: dict[str, Schema] | None = None) -> dict[str, Any]:
    """The entropy bound, or one of the other kinds."""
    if isinstance(value, dict) and "kind" in value:
        return read.known(value, what, _ADVERSARIES | (more or {}))
    return read.table(value, what, {"entropy_at_least": _ENTROPY})


def audited(value: Any, what: str) -> dict[str, Any]:
    """The adversary of an audit, who may also be one that designs do not know."""
    table = adversary(value, what, _BLOCKS)
    blocks = table.get("kind") == "independent_blocks"
    need(
        not blocks or (table["size"] is None) != (table["sizes"] is None), f"{what} must have either 'size' or 'sizes'"
    )
    return table


_SPELLED = ["worst_case_leakage", "maximal_leakage"]  # of one problem
_PROBLEMS = [*_SPELLED, "secret_leakage", "min_leakage", "min_distortion", "max_information"]
AUDIT: Schema = {
    "problem": required(read.text, options=_PROBLEMS),
    "title": (read.text, ""),
    "source": (read.text, ""),
    "records": (_records, REQUIRED),
    "query": (partial(read.variant, kinds=QUERIES), {"kind": "identity"}),
    "mechanism": (mechanism, REQUIRED),
    "adversary": (audited, REQUIRED),
}
