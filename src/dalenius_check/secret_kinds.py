"""The keys of limits about a secret, by kind (docs/model-format.md)."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import read
from .arithmetic import fmpq
from .numbers import grouped, need, total
from .read import Schema, required

_MOST_NUMBERS = 1 << 22


def _joint(value: Any, what: str) -> list[list[list[fmpq]]]:
    """At least one joint law, as they are written."""
    laws = [read.matrix(rows, what) for rows in read.entries(value, what)]
    few = 0 < sum(len(rows) * len(rows[0]) for rows in laws if rows) <= _MOST_NUMBERS and all(laws)
    need(few, f"{what} must be at least one law, of at most 2^22 numbers altogether")
    for j, rows in enumerate(laws):
        sums = total(n * x for x, n in grouped([x for row in rows for x in row]))
        need(abs(sums - 1) <= fmpq(1, read.BIG), f"{what}: law {j} does not sum to 1 within 1e-9")
    return laws


SECRET: Schema = {"secret": (_joint, None)}
ABOUT: Schema = {**SECRET, "priors": (read.priors, None)}
_LEVEL: Schema = {"epsilon": required(read.level), **ABOUT}
_STRONG: Schema = {"strong": (read.boolean, False)}
_MOST: Schema = {"at_most": required(read.number), **ABOUT}
_NATS: Schema = {"at_most": required(read.amount, units="nats|bits", number=read.number), **ABOUT}
_SQUARE: Schema = {"at_most": (read.number, None), "square_at_most": (read.number, None)}
_DELTA: Schema = {"delta": required(read.number, high=1), "exempt": (partial(read.cells, distinct=True), None)}
SECRETS: dict[str, Schema] = {
    "local_information_privacy": _LEVEL,
    "information_privacy": {**_LEVEL, **_DELTA, **_STRONG},
    "mutual_information": _NATS,
    "kl": {**_NATS, **_STRONG},
    "total_variation": {**_MOST, **_STRONG},
    "chi_square": {**_MOST, **_STRONG},
    "maximal_correlation": {**_SQUARE, **ABOUT},
    "local_dp_delta": {**_LEVEL, **_MOST},
    "local_information_privacy_delta": {**_LEVEL, **_MOST},
}


def need_secret(table: dict[str, Any], what: str) -> None:
    """Refuse keys that exclude each other; the kinds that are not always about a secret have the key only where it is given."""
    for other in ("priors", "pairs"):
        need(not (table.get("secret") and table.get(other)), f"{what} must not have both 'secret' and '{other}'")
    if table["kind"] == "maximal_correlation":
        one = (table["at_most"] is None) != (table["square_at_most"] is None)
        need(one, f"{what} must have either 'at_most' or 'square_at_most'")
    if table["kind"] not in SECRETS and table.get("secret", 0) is None:
        del table["secret"]
