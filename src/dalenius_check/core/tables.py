"""The tables of a model by their kinds, with their keys and defaults; here those of audits (docs/model-format.md)."""

from __future__ import annotations

from difflib import get_close_matches
from functools import partial
from typing import Any

from . import read
from .arithmetic import fmpq
from .classes import CLASSES
from .noise import REAL, noise_of
from .numbers import need, total
from .read import REQUIRED, Schema, required

MAX_STATES = 65_536
MAX_INPUTS = 1 << 14  # of a local protocol
PROTOCOLS = ("subset_selection", "optimized_unary_encoding", "local_hashing", "hadamard_response")
_EPSILON = required(read.number, high=1000)
_K = (partial(read.integer, low=2, high=MAX_STATES), None)
POSITIVE = partial(read.number, positive=True)
_PROTOCOL: Schema = {"epsilon": required(read.level), "k": (partial(read.integer, low=2, high=MAX_INPUTS), None)}
MECHANISMS: dict[str, Schema] = {
    "matrix": {"inputs": (read.INPUTS, "query"), "rows": required(read.laws)},
    "symmetric": {"flip": required(read.number, high=1), "k": _K},
    "randomized_response": {"epsilon": _EPSILON, "k": _K},
    "laplace_threshold": {"epsilon": _EPSILON},
    "geometric": {"epsilon": required(POSITIVE, high=1000), "range": (read.span, None)},
    "discrete_laplace": {"epsilon": (partial(POSITIVE, high=1000), None), "scale": (POSITIVE, None)},
    "discrete_gaussian": {"scale": required(POSITIVE, high=10**6), "range": (read.span, None)},
    "staircase": {
        "epsilon": required(POSITIVE, high=1000),
        "sensitivity": required(read.integer, low=1),
        "top": required(read.integer, low=1),
    },
    "randomized_count": {"epsilon": (_EPSILON[0], None), "flip": (partial(read.number, high=1), None)},
    "exponential": {"epsilon": _EPSILON, "range": (read.span, None), "sensitivity": (POSITIVE, 1)},
    "subset_selection": {**_PROTOCOL, "size": required(read.integer, low=1)},
    "optimized_unary_encoding": _PROTOCOL,
    "local_hashing": {**_PROTOCOL, "buckets": required(read.integer, low=2)},
    "hadamard_response": _PROTOCOL,
    **{kind: {"scale": required(POSITIVE, high=10**6)} for kind in REAL},
}
_TIMES: Schema = {"times": (partial(read.integer, low=1), 1), "on": (partial(read.integer, low=0), 0)}
_PARTS: dict[str, Schema] = {
    kind: {**schema, **_TIMES} for kind, schema in MECHANISMS.items() if kind not in (*PROTOCOLS, *REAL)
}
_EITHER = {
    "discrete_laplace": ("epsilon", "scale"),
    **dict.fromkeys(("randomized_count", "randomized_histogram"), ("epsilon", "flip")),
}


def _parts(value: Any, what: str) -> list[dict[str, Any]]:
    """Mechanisms on the query's value that are released together."""
    tables = read.entries(value, what)
    need(len(tables) > 0, f"{what} must be at least one table")
    found = [_released(item, f"{what} {j}", _PARTS) for j, item in enumerate(tables)]
    return [{key: item for key, item in part.items() if key != "on" or item} for part in found]


def _stated_once(table: dict[str, Any], what: str) -> dict[str, Any]:
    """Noise that is stated in one of two ways."""
    one, other = _EITHER.get(table["kind"], ("", ""))
    if one:
        need((table[one] is None) != (table[other] is None), f"{what} must have either {one!r} or {other!r}")
    noise_of(table).need_valid(what)
    return table


def _released(value: Any, what: str, kinds: dict[str, Schema]) -> dict[str, Any]:
    """One mechanism of several, of these kinds."""
    found = _stated_once(read.known(value, what, kinds), what)
    need(found.get("inputs") != "dataset", f"{what}: a matrix must have inputs = 'query'")
    return found


MECHANISMS["several_releases"] = {"parts": (_parts, REQUIRED)}
_ONE: dict[str, Schema] = {
    kind: {key: item for key, item in schema.items() if key not in _TIMES} for kind, schema in _PARTS.items()
}
_DEEPEST = 16
_MOST_STAGES = 1 << 16


def _then(value: Any, what: str, depth: int) -> list[dict[str, Any] | None]:
    """For each output the stage that follows it, or nothing."""
    tables = read.entries(value, what)
    need(depth <= _DEEPEST or not any(tables), f"{what}: stages are at most {_DEEPEST} deep")
    return [None if table == {} else read.table(table, f"{what} {y}", _stage(depth)) for y, table in enumerate(tables)]


def _stage(depth: int) -> Schema:
    """Keys of a stage at this depth."""
    return {
        "mechanism": required(_released, kinds=_ONE),
        "on": _TIMES["on"],
        "then": (partial(_then, depth=depth + 1), None),
    }


MECHANISMS["adaptive"] = _stage(1)


def _others(value: Any, what: str) -> list[int]:
    """Number of known people with each letter."""
    found = [read.integer(x, what, 0) for x in read.entries(value, what)]
    need(sum(found) <= 10**6, f"{what} must be at most 1000000 people")
    return found


MECHANISMS["randomized_histogram"] = {**MECHANISMS["randomized_count"], "others": (_others, None)}


def stages(mechanism: dict[str, Any]) -> list[dict[str, Any]]:
    """The stages of a tree; of another mechanism none."""
    found = list[dict[str, Any]]()
    left = [mechanism] if mechanism.get("kind") == "adaptive" else []
    while left:
        found.append(left.pop())
        left += [table for table in found[-1]["then"] or () if table]
    return found


def mechanism(value: Any, what: str) -> dict[str, Any]:
    """A mechanism of any kind."""
    found = _stated_once(read.variant(value, what, MECHANISMS), what)
    need(len(stages(found)) <= _MOST_STAGES, f"{what} has more than {_MOST_STAGES} stages")
    return found


def unknown(kind: str) -> str:
    """Why a mechanism of another kind is rejected."""
    meant = "".join(f"did you mean {name!r}? " for name in get_close_matches(kind[:40], MECHANISMS, n=1))
    return (
        f"mechanism.kind {kind[:40]!a} is unknown to the checker: {meant}known are {', '.join(MECHANISMS)}; what holds of the "
        "matrix that the certificate carries itself is proved with --resolved (resolved=True)"
    )


def _attributes(value: Any, what: str) -> list[int]:
    """The numbers of their values."""
    found = [read.integer(x, what, 2) for x in read.entries(value, what)]
    need(1 <= len(found) <= 13, f"{what} must be from 1 to 13 integers >= 2")
    return found


def _margins(value: Any, what: str) -> list[list[int]]:
    """Tables by the attributes that they list."""
    found = [[read.integer(j, what, 0) for j in read.entries(table, what)] for table in read.entries(value, what)]
    listed = all(table and table == sorted(set(table)) for table in found)
    need(1 <= len(found) <= 64 and listed, f"{what} must be from 1 to 64 lists of attributes, ascending and none empty")
    return found


QUERIES: dict[str, Schema] = {
    "parity": {},
    "modular_sum": {"modulus": required(read.integer, low=2, high=MAX_STATES)},
    "count": {"letters": (read.letters, [1])},
    "sum": {"weights": (read.weights, None)},
    "histogram": {},
    "margins": {"attributes": required(_attributes), "tables": required(_margins)},
    "threshold": {"at": required(read.integer)},
    "table": {"values": required(read.integers)},
    "identity": {},
}
_PLAIN = ("parity", "modular_sum", "count", "sum", "threshold")


def _queries(value: Any, what: str) -> list[dict[str, Any]]:
    tables = read.entries(value, what)
    need(2 <= len(tables) <= 8, f"{what} must be from 2 to 8 tables")
    return [read.known(item, f"{what} {j}", {kind: QUERIES[kind] for kind in _PLAIN}) for j, item in enumerate(tables)]


QUERIES["joint"] = {"queries": (_queries, REQUIRED)}
_MOST_LETTERS = 16
Range = list[fmpq]


def _chances(value: Any, what: str) -> Range:
    """The least and the largest of a probability that is neither 0 nor 1."""
    low, high = (read.exact(x, what) for x in read.entries(value, what, 2))
    need(0 < low <= high < 1, f"{what} must be [a, b] with 0 < a <= b < 1")
    return [low, high]


def _law(value: Any, what: str, size: int | None = None) -> list[Range]:
    """The ranges of the probabilities of letters, of which some sum is 1."""
    pairs = [x if isinstance(x, list) else [x, x] for x in read.entries(value, what, size)]
    found = [[read.exact(x, what) for x in read.entries(pair, f"an entry of {what}", 2)] for pair in pairs]
    need(all(0 <= lo <= hi <= 1 for lo, hi in found), f"{what} must have numbers, or [lo, hi], with 0 <= lo <= hi <= 1")
    fits = total(lo for lo, _ in found) <= 1 <= total(hi for _, hi in found)
    need(fits, f"{what} must have lows whose sum is at most 1, and highs whose sum is at least 1")
    return found


def _transitions(value: Any, what: str) -> list[list[Range]]:
    rows = read.entries(value, what)
    need(2 <= len(rows) <= _MOST_LETTERS, f"{what} must have from 2 to {_MOST_LETTERS} rows")
    return [_law(row, f"row {a} of {what}", len(rows)) for a, row in enumerate(rows)]


def _start(value: Any, what: str) -> Any:
    return _law(value, what) if isinstance(value, list) else read.text(value, what, ["stationary", "any"])


_RECORD = (partial(read.integer, low=0), None)
CHAINS: dict[str, Schema] = {
    "markov_chain": {
        **dict.fromkeys(("to_one", "to_zero"), (_chances, REQUIRED)),
        "start": (partial(read.text, options=["stationary", "any"]), "stationary"),
        "record": _RECORD,
    },
    "finite_chain": {
        "transitions": (_transitions, REQUIRED),
        "start": (_start, "stationary"),
        "record": _RECORD,
    },
}


def _names(value: Any, what: str) -> list[str]:
    return [read.text(name, what) for name in read.entries(value, what)]


def _records(value: Any, what: str) -> list[int]:
    size = required(read.integer, low=1, high=10_000)
    names: Schema = {"answer": (read.text, ""), "letters": (_names, [])}  # without meaning
    if isinstance(value, dict) and "alphabets" in value:
        sizes = read.table(value, what, {"alphabets": required(read.entries), **names})["alphabets"]
        need(1 <= len(sizes) <= 1_000_000, f"{what}.alphabets must have from 1 to 1000000 entries")
        return [size[0](number, f"{what}.alphabets") for number in sizes]
    schema: Schema = {"count": required(read.integer, low=1, high=1_000_000), "alphabet": size, **names}
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
        otherwise = ", or no kind beside the key 'entropy_at_least', which is 0 for any prior"
        return read.known(value, what, _ADVERSARIES | (more or {}), otherwise)
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
