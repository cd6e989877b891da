"""The tables that a model may have, by kind, with their keys and defaults (docs/model-format.md)."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import read
from .arithmetic import fmpq
from .chain_kinds import CHAINS
from .mechanism_kinds import POSITIVE, mechanism
from .numbers import grouped, need, total
from .query_kinds import QUERIES, TOLD, secrets
from .read import REQUIRED, Schema, required
from .secret_kinds import ABOUT, SECRET, SECRETS, need_secret

_MAX_CONSTRAINTS, _MAX_OBJECTIVE = 1000, 100


def _probabilities(value: Any, what: str) -> list[fmpq]:
    return read.laws([value], what)[0]


def _numbers(value: Any, what: str) -> list[fmpq]:
    return read.matrix([value], what)[0]


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
_BALL: Schema = {"center": (_probabilities, REQUIRED), "radius": required(read.number)}
_ADVERSARIES: dict[str, Schema] = {
    "product_priors": {},
    "prior_set": {"priors": (read.priors, REQUIRED)},
    "floor_priors": {"floor": required(read.number)},
    "box_priors": {"low": (_numbers, REQUIRED), "high": (_numbers, REQUIRED)},
    "polytope_priors": {"vertices": (read.priors, REQUIRED)},
    **dict.fromkeys(("l1_ball_priors", "kl_ball_priors", "chi_square_ball_priors"), _BALL),
}
_OUTPUTS: Schema = {"outputs": (read.ascending, None)}
_FREE_ROWS: Schema = {"rows": required(read.matrix), **_OUTPUTS}
_DISTORTIONS: dict[str, Schema] = {"hamming": {}, "absolute": _OUTPUTS, "squared": _OUTPUTS, "matrix": _FREE_ROWS}
_LAWS: dict[str, Schema] = {"uniform": {}, "iid": {"probabilities": (_probabilities, REQUIRED)}}
_CLASSES = ["oblivious", "full", "additive"]


_BLOCKS: dict[str, Schema] = {
    "independent_blocks": {"size": (_SIZE, None), "sizes": (_sizes, None), "entropy_at_least": (_ENTROPY[0], None)},
    **CHAINS,
}


def _adversary(value: Any, what: str, more: dict[str, Schema] | None = None) -> dict[str, Any]:
    """The entropy bound, or one of the other kinds."""
    if isinstance(value, dict) and "kind" in value:
        return read.known(value, what, _ADVERSARIES | (more or {}))
    return read.table(value, what, {"entropy_at_least": _ENTROPY})


def _audited(value: Any, what: str) -> dict[str, Any]:
    """The adversary of an audit, who may also be one that designs do not know."""
    table = _adversary(value, what, _BLOCKS)
    blocks = table.get("kind") == "independent_blocks"
    need(
        not blocks or (table["size"] is None) != (table["sizes"] is None), f"{what} must have either 'size' or 'sizes'"
    )
    return table


def _designed(value: Any, what: str) -> dict[str, Any]:
    """The adversary of a design."""
    blocks = isinstance(value, dict) and value.get("kind") == "independent_blocks"
    return (_audited if blocks else _adversary)(value, what)


def _distortion(value: Any, what: str) -> dict[str, Any]:
    """A distortion, with `outputs` only where they are given."""
    table = read.known(value, what, _DISTORTIONS)
    return {key: item for key, item in table.items() if item is not None}


def _norm(value: Any, what: str) -> list[dict[str, Any]]:
    tables = read.entries(value, what)
    need(len(tables) > 0, f"{what} must be at least one table")
    return [read.table(item, what, {"terms": (read.terms, REQUIRED), "constant": (read.exact, 0)}) for item in tables]


def _constraints(value: Any, what: str) -> list[dict[str, Any]]:
    tables = read.entries(value, what)
    need(len(tables) <= _MAX_CONSTRAINTS, f"{what} must be at most {_MAX_CONSTRAINTS} tables")
    found = [read.known(item, f"{what} {j}", _CONSTRAINTS) for j, item in enumerate(tables)]
    for j, table in enumerate(found):
        one = table["kind"] != "linear" or (table["at_most"] is None) != (table["equals"] is None)
        need(one, f"{what} {j} must have either 'at_most' or 'equals'")
        need_secret(table, f"{what} {j}")
    return found


def _terms(value: Any, what: str) -> list[dict[str, Any]]:
    tables = read.entries(value, what)
    need(1 <= len(tables) <= _MAX_OBJECTIVE, f"{what} must be from 1 to {_MAX_OBJECTIVE} tables")
    return [read.known(item, f"{what} {j}", _TERMS) for j, item in enumerate(tables, 1)]


def _objective(value: Any, what: str) -> dict[str, Any]:
    combine = required(read.text, options=["sum", "max"])
    return read.table(value, what, {"combine": combine, "weight": _WEIGHT, "terms": (_terms, REQUIRED)})


def _useful(value: Any, what: str) -> dict[str, Any]:
    """The joint law of the useful variable and the input, as written."""
    table = read.table(value, what, {"joint": (read.matrix, REQUIRED)})
    numbers = [x for row in table["joint"] for x in row]
    need(0 < len(numbers) <= 1 << 22, f"{what}.joint must be at least one list, of at most 2^22 numbers altogether")
    whole = total(times * x for x, times in grouped(numbers))
    need(abs(whole - 1) <= fmpq(1, read.BIG), f"{what}.joint does not sum to 1 within 1e-9")
    return table


_LOSS: Schema = {"epsilon": required(read.epsilon)}
_PRIVACY: dict[str, Schema] = {"local_dp": _LOSS, "pointwise_maximal_leakage": {**_LOSS, "priors": (read.priors, None)}}
_NOTION = {"privacy": required(read.known, kinds=_PRIVACY)}
_SIDES: Schema = {"at_most": (read.exact, None), "equals": (read.exact, None)}
_MOST: Schema = {"at_most": required(read.exact)}
_LEVEL: Schema = {"epsilon": required(read.level)}
_CONSTRAINTS: dict[str, Schema] = {
    "linear": {"terms": required(read.terms, least=1), **_SIDES},
    "zero": {"entries": required(read.cells, distinct=True)},
    "band": {"width": required(read.number)},
    "unbiased": {"tolerance": (read.number, 0)},
    "error": {**_MOST, "groups": (read.groups, None), "distortion": (_distortion, None)},
    "distortion": {**_MOST, "distortion": required(_distortion)},
    "monotone": {},
    "local_dp": {**_LEVEL, "pairs": (read.cells, None), **SECRET},
    "pointwise_maximal_leakage": {**_LEVEL, **ABOUT},
    "cone": {"norm": required(_norm), "terms": (read.terms, []), "constant": (read.exact, 0)},
    "leakage": {"adversary": required(_adversary), "at_most": required(read.amount, units="nats|bits")},
    "secret_leakage": {**TOLD, "at_most": required(read.amount, units="nats|bits", number=POSITIVE)},
    **SECRETS,
}
_WEIGHT = (POSITIVE, 1)
_TERMS: dict[str, Schema] = {
    "leakage": {"weight": _WEIGHT, "adversary": required(_adversary)},
    "distortion": {"weight": _WEIGHT, "distortion": required(_distortion)},
}
_SPELLED = ["worst_case_leakage", "maximal_leakage"]  # of one problem
_PROBLEMS = [*_SPELLED, "secret_leakage", "min_leakage", "min_distortion", "max_information"]
AUDIT: Schema = {
    "problem": required(read.text, options=_PROBLEMS),
    "title": (read.text, ""),
    "source": (read.text, ""),
    "records": (_records, REQUIRED),
    "query": (partial(read.variant, kinds=QUERIES), {"kind": "identity"}),
    "mechanism": (mechanism, REQUIRED),
    "adversary": (_audited, REQUIRED),
}
_DESIGN: Schema = {
    **AUDIT,
    "adversary": (_designed, REQUIRED),
    "query": required(read.variant, kinds=QUERIES),
    "mechanism": required(read.table, schema={"class": required(read.text, options=_CLASSES)}),
    "distortion": required(_distortion),
    "law": required(read.known, kinds=_LAWS),
    "constraints": (_constraints, []),
    "objective": (_objective, None),
}
TOPS = {
    "min_leakage": {**_DESIGN, "max_distortion": required(read.exact)},
    "min_distortion": {**_DESIGN, "max_leakage": required(read.amount, units="nats|bits")},
}
FREE: Schema = {key: _DESIGN[key] for key in _DESIGN if key != "adversary"}
PRIVATE: Schema = {**FREE, **_NOTION}
TOPS["secret_leakage"] = {**AUDIT, "adversary": required(_adversary), "secrets": required(secrets)}
_ASKED = ("problem", "title", "source", "records", "query", "law")
TOPS["max_information"] = {**{key: _DESIGN[key] for key in _ASKED}, **_NOTION, "useful": (_useful, None)}
