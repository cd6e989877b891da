"""The model file: strict parser, normal form and digest (docs/model-format.md)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from math import prod
from typing import Any

from . import read
from .allowance import Allowance
from .arithmetic import arb, fmpq
from .numbers import at_most, need, normalised
from .read import REQUIRED, Schema, required
from .text import parse_toml

MAX_STATES = 65_536


def _priors(value: Any, what: str) -> list[list[fmpq]]:
    rows = read.laws(value, what)
    need(0 < sum(map(len, rows)) <= 1 << 22, f"{what} must be at least one list, of at most 2^22 numbers altogether")
    return rows


def _probabilities(value: Any, what: str) -> list[fmpq]:
    return read.laws([value], what)[0]


_EPSILON = required(read.number, high=1000)
_K = (partial(read.integer, low=2, high=MAX_STATES), None)
_QUERIES: dict[str, Schema] = {
    "parity": {},
    "modular_sum": {"modulus": required(read.integer, low=2, high=MAX_STATES)},
    "count": {"letters": (read.letters, [1])},
    "sum": {"weights": (read.weights, None)},
    "threshold": {"at": required(read.integer)},
    "table": {"values": required(read.integers)},
    "identity": {},
}
_POSITIVE = partial(read.number, positive=True)
MECHANISMS: dict[str, Schema] = {
    "matrix": {"inputs": (read.INPUTS, "query"), "rows": required(read.laws)},
    "symmetric": {"flip": required(read.number, high=1), "k": _K},
    "randomized_response": {"epsilon": _EPSILON, "k": _K},
    "laplace_threshold": {"epsilon": _EPSILON},
    "geometric": {"epsilon": required(_POSITIVE, high=1000), "range": (read.span, None)},
    "exponential": {"epsilon": _EPSILON, "range": (read.span, None), "sensitivity": (_POSITIVE, 1)},
}
_FREE = (0, "nats")
_ENTROPY = required(read.amount, units="nats|bits|max", number=read.number)
_FREE_ROWS: Schema = {"rows": required(read.matrix)}
_DISTORTIONS: dict[str, Schema] = {"hamming": {}, "absolute": {}, "squared": {}, "matrix": _FREE_ROWS}
_LAWS: dict[str, Schema] = {"uniform": {}, "iid": {"probabilities": (_probabilities, REQUIRED)}}
_CLASSES = ["oblivious", "full", "additive"]
_ADVERSARIES: dict[str, Schema] = {"product_priors": {}, "prior_set": {"priors": (_priors, REQUIRED)}}
_LOSS: Schema = {"epsilon": required(read.epsilon)}
_PRIVACY: dict[str, Schema] = {"local_dp": _LOSS, "pointwise_maximal_leakage": {**_LOSS, "priors": (_priors, None)}}
_NOTION = {"privacy": required(read.known, kinds=_PRIVACY)}


@dataclass(frozen=True)
class Model:
    """A parsed model: tables with numbers exact and defaults filled in.

    `adversary` is the adversary's kind, or that of [privacy]; where it has none, the entropy bound is 0 and the list of
    priors empty. `design` is empty in `maximal_leakage`, else it has the distortion, the law and the budget or privacy.
    """

    problem: str
    design: dict[str, Any]
    alphabets: list[int]
    query: dict[str, Any]
    mechanism: dict[str, Any]
    adversary: str
    entropy: fmpq
    unit: str
    priors: list[list[fmpq]]
    normal: dict[str, Any]
    digest: str
    allowance: Allowance

    def states(self) -> int:
        """The number of datasets, or -1 beyond 65,536."""
        sizes = [size for size in self.alphabets if size > 1]
        return prod(sizes) if len(sizes) <= 16 and prod(sizes) <= MAX_STATES else -1

    @property
    def foreign(self) -> bool:
        """Whether the mechanism is of a kind that is unknown here: its matrix can only come from the certificate."""
        return not self.design and self.mechanism["kind"] not in MECHANISMS

    def runs(self) -> list[tuple[int, int]]:
        """Consecutive records of equal alphabet: (alphabet, times)."""
        return [(int(size), int(times)) for size, times in self.normal["records"]]

    def log_states(self) -> arb:
        """A ball around log |X|."""
        return sum((times * arb(size).log() for size, times in self.runs()), arb(0))

    def entropy_ball(self) -> arb:
        """A ball around the entropy bound in nats."""
        unit = {"nats": arb(1), "bits": arb(2).log(), "max": self.log_states()}[self.unit]
        return arb(self.entropy) * unit

    def is_uniform(self) -> bool:
        """Whether the entropy bound equals log |X|, decided exactly.

        Exact because e^c is no integer for rational c != 0, and 2^c is an integer only for an integer c.
        """
        if all(size == 1 for size, _ in self.runs()):
            return self.unit == "max" or self.entropy == 0
        if self.unit == "bits":
            powers = all(size & (size - 1) == 0 for size, _ in self.runs())
            return powers and self.entropy == sum((size.bit_length() - 1) * times for size, times in self.runs())
        return bool(self.unit == "max" and self.entropy == 1)

    def need_feasible(self) -> None:
        """Refuse an entropy bound of more than log |X|, and priors that are not on the datasets."""
        if self.adversary == "prior_set":
            need(len(self.priors[0]) == self.states(), "each of adversary.priors must list |X| <= 65536 numbers")
        what = "entropy_at_least <= log |X|"
        if self.unit == "max":
            need(self.entropy <= 1 or self.is_uniform(), f"{what} fails: the share is more than 1")
        elif not self.is_uniform():
            at_most(self.entropy_ball(), self.log_states(), what)


def parse_model(data: bytes, allowance: Allowance | None = None) -> Model:
    """Parse a model file, or refuse it with a one-line reason."""
    allowance = allowance or Allowance()
    return _model(parse_toml(data, allowance), allowance)


def _model(data: Any, allowance: Allowance) -> Model:
    problem = str(data.get("problem"))
    private = problem == "min_distortion" and "privacy" in data
    top = read.table(data, "model", _PRIVATE if private else _TOPS.get(problem, _AUDIT))
    design: dict[str, Any] = {key: top[key] for key in top if key not in _AUDIT}
    alphabets, query, mechanism = (top[key] for key in ("records", "query", "mechanism"))
    adversary = top["privacy" if private else "adversary"]
    kind, (entropy, unit) = adversary.get("kind", "entropy_at_least"), adversary.get("entropy_at_least", _FREE)
    priors = [normalised(row, "a prior", allowance) for row in adversary.get("priors") or []]
    free = mechanism.get("kind") not in MECHANISMS or mechanism.get("inputs") == "dataset"
    need("query" in data or free, "model: the key 'query' is missing")
    need(query["kind"] in _QUERIES, f"query.kind {query['kind'][:40]!a} is unknown")
    weights = query.get("weights")
    if weights and isinstance(weights[0], list):
        need([*map(len, weights)] == alphabets, "query.weights must have one weight for each letter of each record")
    elif weights is not None:
        need(len(weights) == max(alphabets), "query.weights must be as long as the largest alphabet")
    letters = len(design.get("law", {}).get("probabilities", ()))
    need(letters == 0 or set(alphabets) == {letters}, "law.probabilities must be as long as every alphabet")
    normal = {
        "problem": problem,
        "records": [[str(size), str(len(list(run)))] for size, run in groupby(alphabets)],
        **read.normal({key: top[key] for key in top if key not in _HEAD}),
    }
    text = json.dumps(normal, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode("ascii")).hexdigest()
    return Model(problem, design, alphabets, query, mechanism, kind, entropy, unit, priors, normal, digest, allowance)


def _adversary(value: Any, what: str) -> dict[str, Any]:
    """The entropy bound, or one of the other kinds."""
    if isinstance(value, dict) and "kind" in value:
        return read.known(value, what, _ADVERSARIES)
    return read.table(value, what, {"entropy_at_least": _ENTROPY})


def _records(value: Any, what: str) -> list[int]:
    size = required(read.integer, low=1, high=10_000)
    if isinstance(value, dict) and "alphabets" in value:
        sizes = read.table(value, what, {"alphabets": required(read.entries)})["alphabets"]
        need(1 <= len(sizes) <= 1_000_000, f"{what}.alphabets must have from 1 to 1000000 entries")
        return [size[0](number, f"{what}.alphabets") for number in sizes]
    schema: Schema = {"count": required(read.integer, low=1, high=1_000_000), "alphabet": size}
    table = read.table(value, what, schema)
    return [table["alphabet"]] * table["count"]


_HEAD = ("problem", "title", "source", "records")
_AUDIT: Schema = {
    "problem": required(read.text, options=["maximal_leakage", "min_leakage", "min_distortion"]),
    "title": (read.text, ""),
    "source": (read.text, ""),
    "records": (_records, REQUIRED),
    "query": (partial(read.variant, kinds=_QUERIES), {"kind": "identity"}),
    "mechanism": required(read.variant, kinds=MECHANISMS),
    "adversary": (_adversary, REQUIRED),
}
_DESIGN: Schema = {
    **_AUDIT,
    "query": required(read.variant, kinds=_QUERIES),
    "mechanism": required(read.table, schema={"class": required(read.text, options=_CLASSES)}),
    "distortion": required(read.known, kinds=_DISTORTIONS),
    "law": required(read.known, kinds=_LAWS),
}
_TOPS = {
    "min_leakage": {**_DESIGN, "max_distortion": required(read.exact)},
    "min_distortion": {**_DESIGN, "max_leakage": required(read.amount, units="nats|bits")},
}
_PRIVATE: Schema = {key: _DESIGN[key] for key in _DESIGN if key != "adversary"} | _NOTION
