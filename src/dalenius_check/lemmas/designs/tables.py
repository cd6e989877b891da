"""The tables of a design's model, by kind, with their keys and defaults (docs/model-format.md)."""

from __future__ import annotations

from functools import partial
from itertools import chain, pairwise
from typing import Any

from ...core import read
from ...core.arithmetic import fmpq
from ...core.numbers import need
from ...core.read import REQUIRED, Schema, entries, integer, required
from ...core.tables import AUDIT, POSITIVE, QUERIES, adversary, audited
from ..secrets.told import TOLD

_MOST_NUMBERS = 1 << 22


def _boolean(value: Any, what: str) -> bool:
    """True or false."""
    need(isinstance(value, bool), f"{what} must be true or false")
    return bool(value)


def _ascending(value: Any, what: str) -> list[fmpq]:
    """At least one number, each larger than the one before."""
    result = read.numbers(value, what)
    need(len(result) > 0 and all(x < y for x, y in pairwise(result)), f"{what} must be numbers in ascending order")
    return result


def _sums(value: Any, what: str, least: int = 0) -> list[list[Any]]:
    """Entries [x, y, c]: an input, an output and a number."""
    listed = [entries(term, f"a term of {what}", 3) for term in entries(value, what)]
    need(len(listed) >= least, f"{what} must be at least one [x, y, c]")
    return [[integer(x, what, 0), integer(y, what, 0), read.exact(c, what)] for x, y, c in listed]


def _cells(value: Any, what: str, distinct: bool = False) -> list[list[int]]:
    """At least one pair of indices."""
    result = [[integer(x, what, 0) for x in entries(pair, f"an entry of {what}", 2)] for pair in entries(value, what)]
    need(len(result) > 0, f"{what} must be at least one pair")
    need(not distinct or len(set(map(tuple, result))) == len(result), f"{what} must be distinct")
    return result


def _joint(value: Any, what: str) -> list[list[list[fmpq]]]:
    """At least one joint law, as they are written."""
    laws = [read.matrix(rows, what) for rows in entries(value, what)]
    few = 0 < sum(len(rows) * len(rows[0]) for rows in laws if rows) <= _MOST_NUMBERS and all(laws)
    need(few, f"{what} must be at least one law, of at most 2^22 numbers altogether")
    for j, rows in enumerate(laws):
        read.need_law(chain(*rows), f"{what}: law {j}")
    return laws


SECRET: Schema = {"secret": (_joint, None)}
ABOUT: Schema = {**SECRET, "priors": (read.priors, None)}
_ABOUT_LEVEL: Schema = {"epsilon": required(read.level), **ABOUT}
_STRONG: Schema = {"strong": (_boolean, False)}
_ABOUT_MOST: Schema = {"at_most": required(read.number), **ABOUT}
_NATS: Schema = {"at_most": required(read.amount, units="nats|bits", number=read.number), **ABOUT}
_SQUARE: Schema = {"at_most": (read.number, None), "square_at_most": (read.number, None)}
_DELTA: Schema = {"delta": required(read.number, high=1), "exempt": (partial(_cells, distinct=True), None)}
SECRETS: dict[str, Schema] = {
    "local_information_privacy": _ABOUT_LEVEL,
    "information_privacy": {**_ABOUT_LEVEL, **_DELTA, **_STRONG},
    "mutual_information": _NATS,
    "kl": {**_NATS, **_STRONG},
    "total_variation": {**_ABOUT_MOST, **_STRONG},
    "chi_square": {**_ABOUT_MOST, **_STRONG},
    "maximal_correlation": {**_SQUARE, **ABOUT},
    "local_dp_delta": {**_ABOUT_LEVEL, **_ABOUT_MOST},
    "local_information_privacy_delta": {**_ABOUT_LEVEL, **_ABOUT_MOST},
}
_MAX_CONSTRAINTS, _MAX_OBJECTIVE, _MAX_LINES = 1000, 100, 64


def _divergence(value: Any, what: str) -> list[list[fmpq]]:
    """Of a convex function that is 0 at 1."""
    lines = [[read.exact(x, what) for x in entries(line, what, 2)] for line in entries(value, what)]
    fits = 1 <= len(lines) <= _MAX_LINES and max(a + b for a, b in lines) == 0
    need(fits, f"{what} must be from 1 to {_MAX_LINES} lines whose largest is 0 at 1")
    return lines


def _limited(value: Any, what: str) -> str | list[list[fmpq]]:
    """A measure that has no kind of its own: by its name, or by lines."""
    return read.text(value, what, options=["guessing"]) if isinstance(value, str) else _divergence(value, what)


_MEASURED: dict[str, Schema] = {"measure": {"measure": required(_limited), **_ABOUT_MOST}}


def need_secret(table: dict[str, Any], what: str) -> None:
    """Refuse keys that exclude each other; the kinds that are not always about a secret have the key only where it is given."""
    for other in ("priors", "pairs"):
        need(not (table.get("secret") and table.get(other)), f"{what} must not have both 'secret' and '{other}'")
    if table["kind"] == "maximal_correlation":
        one = (table["at_most"] is None) != (table["square_at_most"] is None)
        need(one, f"{what} must have either 'at_most' or 'square_at_most'")
    if table["kind"] not in SECRETS | _MEASURED and table.get("secret", 0) is None:
        del table["secret"]


_OUTPUTS: Schema = {"outputs": (_ascending, None)}
_FREE_ROWS: Schema = {"rows": required(read.matrix), **_OUTPUTS}
_DISTORTIONS: dict[str, Schema] = {"hamming": {}, "absolute": _OUTPUTS, "squared": _OUTPUTS, "matrix": _FREE_ROWS}
_LAWS: dict[str, Schema] = {"uniform": {}, "iid": {"probabilities": (read.probabilities, REQUIRED)}}
_CLASSES = ["oblivious", "full", "additive"]


def _designed(value: Any, what: str) -> dict[str, Any]:
    """The adversary of a design."""
    blocks = isinstance(value, dict) and value.get("kind") == "independent_blocks"
    return (audited if blocks else adversary)(value, what)


def _distortion(value: Any, what: str) -> dict[str, Any]:
    """A distortion, with `outputs` only where they are given."""
    table = read.known(value, what, _DISTORTIONS)
    return {key: item for key, item in table.items() if item is not None}


def _norm(value: Any, what: str) -> list[dict[str, Any]]:
    tables = entries(value, what)
    need(len(tables) > 0, f"{what} must be at least one table")
    return [read.table(item, what, {"terms": (_sums, REQUIRED), "constant": (read.exact, 0)}) for item in tables]


def _constraints(value: Any, what: str, within: bool = False) -> list[dict[str, Any]]:
    """A design's, or those of the most information, which has a kind more."""
    tables = entries(value, what)
    need(len(tables) <= _MAX_CONSTRAINTS, f"{what} must be at most {_MAX_CONSTRAINTS} tables")
    kinds = _CONSTRAINTS | _MEASURED if within else _CONSTRAINTS
    found = [read.known(item, f"{what} {j}", kinds) for j, item in enumerate(tables)]
    for j, table in enumerate(found):
        one = table["kind"] != "linear" or (table["at_most"] is None) != (table["equals"] is None)
        need(one, f"{what} {j} must have either 'at_most' or 'equals'")
        need_secret(table, f"{what} {j}")
    return found


def _terms(value: Any, what: str) -> list[dict[str, Any]]:
    tables = entries(value, what)
    need(1 <= len(tables) <= _MAX_OBJECTIVE, f"{what} must be from 1 to {_MAX_OBJECTIVE} tables")
    return [read.known(item, f"{what} {j}", _TERMS) for j, item in enumerate(tables, 1)]


def _objective(value: Any, what: str) -> dict[str, Any]:
    combine = required(read.text, options=["sum", "max"])
    return read.table(value, what, {"combine": combine, "weight": _WEIGHT, "terms": (_terms, REQUIRED)})


def _useful(value: Any, what: str) -> dict[str, Any]:
    """The joint law of the useful variable and the input, as written."""
    table = read.table(value, what, {"joint": (read.matrix, REQUIRED)})
    few = 0 < sum(map(len, table["joint"])) <= _MOST_NUMBERS
    need(few, f"{what}.joint must be at least one list, of at most 2^22 numbers altogether")
    read.need_law(chain(*table["joint"]), f"{what}.joint")
    return table


def _measure(value: Any, what: str) -> str | list[list[fmpq]] | None:
    """The maximised measure: a name, or the lines of an f-divergence; None for the default."""
    if isinstance(value, str):
        names = ("mutual_information", "chi_square", "total_variation", "guessing")
        return None if read.text(value, what, options=names) == names[0] else value
    return _divergence(value, what)


_LOSS: Schema = {"epsilon": required(read.epsilon)}
_PRIVACY: dict[str, Schema] = {"local_dp": _LOSS, "pointwise_maximal_leakage": {**_LOSS, "priors": (read.priors, None)}}
_NOTION = {"privacy": required(read.known, kinds=_PRIVACY)}
_SIDES: Schema = {"at_most": (read.exact, None), "equals": (read.exact, None)}
_MOST: Schema = {"at_most": required(read.exact)}
_LEVEL: Schema = {"epsilon": required(read.level)}
_CONSTRAINTS: dict[str, Schema] = {
    "linear": {"terms": required(_sums, least=1), **_SIDES},
    "zero": {"entries": required(_cells, distinct=True)},
    "band": {"width": required(read.number)},
    "unbiased": {"tolerance": (read.number, 0)},
    "error": {**_MOST, "groups": (read.groups, None), "distortion": (_distortion, None)},
    "distortion": {**_MOST, "distortion": required(_distortion)},
    "monotone": {},
    "local_dp": {**_LEVEL, "pairs": (_cells, None), **SECRET},
    "pointwise_maximal_leakage": {**_LEVEL, **ABOUT},
    "cone": {"norm": required(_norm), "terms": (_sums, []), "constant": (read.exact, 0)},
    "leakage": {"adversary": required(adversary), "at_most": required(read.amount, units="nats|bits")},
    "secret_leakage": {**TOLD, "at_most": required(read.amount, units="nats|bits", number=POSITIVE)},
    **SECRETS,
}
_WEIGHT = (POSITIVE, 1)
_TERMS: dict[str, Schema] = {
    "leakage": {"weight": _WEIGHT, "adversary": required(adversary)},
    "distortion": {"weight": _WEIGHT, "distortion": required(_distortion)},
}
_DESIGN: Schema = {
    **AUDIT,
    "adversary": (_designed, REQUIRED),
    "query": required(read.variant, kinds=QUERIES),
    "mechanism": (partial(read.table, schema={"class": required(read.text, options=_CLASSES)}), {"class": "oblivious"}),
    "distortion": required(_distortion),
    "law": (partial(read.known, kinds=_LAWS), {"kind": "uniform"}),
    "constraints": (_constraints, []),
    "objective": (_objective, None),
}
_TOPS = {
    "min_leakage": {**_DESIGN, "max_distortion": required(read.exact)},
    "min_distortion": {**_DESIGN, "max_leakage": required(read.amount, units="nats|bits")},
}
_FREE: Schema = {key: _DESIGN[key] for key in _DESIGN if key != "adversary"}
_PRIVATE: Schema = {**_FREE, **_NOTION}
_ASKED = ("problem", "title", "source", "records", "query", "law")
_TOPS["max_information"] = {
    **{key: _DESIGN[key] for key in _ASKED},
    **_NOTION,
    "useful": (_useful, None),
    "measure": (_measure, None),
}
_WITHIN = {**_TOPS["max_information"], "constraints": required(_constraints, within=True)}  # in the place of [privacy]
del _WITHIN["privacy"]


def schema(data: dict[str, Any]) -> Schema:
    """The keys of a design's model: against an adversary, under [privacy], or under constraints alone."""
    if data["problem"] == "max_information" and data.get("constraints"):
        return _WITHIN
    if data["problem"] == "min_distortion" and "privacy" in data:
        return _PRIVATE
    held = {"adversary", "max_leakage"} & data.keys()
    free = data["problem"] == "min_distortion" and data.get("constraints") and not held
    return _FREE if free else _TOPS[data["problem"]]
