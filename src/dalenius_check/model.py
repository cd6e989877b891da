"""The model file: strict parser, normal form and digest (docs/model-format.md)."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from flint import arb, fmpq

from .numbers import UnreadableError, rational
from .tables import MAX_STATES, REQUIRED, Fields, integer, mechanism_table, number, query_table, sequence

MAX_FILE = 256 << 20


@dataclass(frozen=True)
class Model:
    """A parsed model; `query` and `mechanism` are the tables with numbers exact and defaults filled in."""

    alphabets: list[int]
    query: dict[str, Any]
    mechanism: dict[str, Any]
    entropy: fmpq
    unit: str
    normal: dict[str, Any]
    digest: str

    def states(self) -> int:
        """The number of datasets, or -1 beyond 65,536."""
        product = 1
        for size in self.alphabets:
            product *= size
            if product > MAX_STATES:
                return -1
        return product

    def log_states(self) -> arb:
        """A ball around log |X|."""
        runs = self.normal["records"]
        return sum((arb(int(times)) * arb(int(size)).log() for size, times in runs), arb(0))

    def entropy_ball(self) -> arb:
        """A ball around the entropy bound in nats."""
        factor = {"nats": lambda: arb(1), "bits": lambda: arb(2).log(), "max": self.log_states}[self.unit]()
        return arb(self.entropy) * factor

    def is_uniform(self) -> bool:
        """Whether the entropy bound equals log |X|, decided exactly.

        Exact because e^c is no integer for rational c != 0, and 2^c is an integer only for an integer c.
        """
        runs = [(int(size), int(times)) for size, times in self.normal["records"]]
        if all(size == 1 for size, _ in runs):
            return self.unit == "max" or self.entropy == 0
        if self.unit == "bits":
            powers = all(size & (size - 1) == 0 for size, _ in runs)
            return powers and self.entropy == sum((size.bit_length() - 1) * times for size, times in runs)
        return bool(self.unit == "max" and self.entropy == 1)


@lru_cache(maxsize=65_536)
def _decimal(text: str) -> fmpq:
    return rational(text.replace("_", "").lower().removeprefix("+").replace("e+", "e"))


def parse_model(data: bytes) -> Model:
    """Parse a model file or raise UnreadableError with a one-line reason."""
    if len(data) > MAX_FILE:
        raise UnreadableError(f"the model is longer than {MAX_FILE} bytes")
    try:
        top = Fields(tomllib.loads(data.decode("utf-8"), parse_float=_decimal), "model")
    except RecursionError:
        raise UnreadableError("the model is nested too deeply") from None
    except ValueError as error:
        raise UnreadableError(f"the model is not TOML: {ascii(str(error))[1:-1][:120]}") from None
    if top.take("problem") != "maximal_leakage":
        raise UnreadableError("problem must be 'maximal_leakage'")
    for key in ("title", "source"):
        if not isinstance(top.take(key, ""), str):
            raise UnreadableError(f"{key} must be text")
    alphabets = _records(Fields(top.take("records"), "records"))
    mechanism, free = mechanism_table(Fields(top.take("mechanism"), "mechanism"))
    query = query_table(Fields(top.take("query", {"kind": "identity"} if free else REQUIRED), "query"), alphabets)
    adversary = Fields(top.take("adversary"), "adversary")
    entropy, unit = _entropy(adversary.take("entropy_at_least"))
    adversary.done()
    top.done()
    normal = {
        "problem": "maximal_leakage",
        "records": [[str(size), str(len(list(run)))] for size, run in groupby(alphabets)],
        "query": _normal(query),
        "mechanism": _normal(mechanism),
        "adversary": {"entropy_at_least": f"{entropy} {unit}"},
    }
    text = json.dumps(normal, sort_keys=True, separators=(",", ":"))
    return Model(alphabets, query, mechanism, entropy, unit, normal, hashlib.sha256(text.encode("ascii")).hexdigest())


def _records(fields: Fields) -> list[int]:
    if "alphabets" in fields.table:
        sizes = sequence(fields.take("alphabets"), "records.alphabets")
        if not 1 <= len(sizes) <= 1_000_000:
            raise UnreadableError("records.alphabets must have 1 to 1000000 entries")
        alphabets = [integer(size, 1, 10_000, "records.alphabets") for size in sizes]
    else:
        alphabets = [fields.integer("alphabet", 1, 10_000)] * fields.integer("count", 1, 1_000_000)
    fields.done()
    return alphabets


def _entropy(value: Any) -> tuple[fmpq, str]:
    unit = "nats"
    if isinstance(value, str) and (match := re.fullmatch(r"(\S+) (nats|bits|max)", value)):
        value, unit = match.groups()
    amount = number(value, "adversary.entropy_at_least")
    if amount < 0:
        raise UnreadableError("adversary.entropy_at_least must not be negative")
    return amount, unit


def _normal(value: Any) -> Any:
    """Numbers as strings of reduced fractions; text, booleans and lists stay."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, list):
        return [_normal(item) for item in value]
    if isinstance(value, dict):
        return {key: _normal(item) for key, item in value.items()}
    return str(number(value, "mechanism"))


def feasible(model: Model) -> bool | None:
    """Whether the entropy bound is at most log |X| (None: undecided at this precision)."""
    if model.is_uniform() or (model.unit == "max" and model.entropy <= 1):
        return True
    if model.unit == "max":
        return False
    space, bound = model.log_states(), model.entropy_ball()
    if (bound <= space) is True:
        return True
    return False if (bound > space) is True else None
