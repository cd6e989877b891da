"""The model file: strict parser, normal form and digest (docs/model-format.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from math import prod
from typing import Any

from . import read
from .allowance import Allowance, lemma
from .arithmetic import Arithmetic, arb, chosen, fmpq
from .classes import CLASSES
from .numbers import at_most, need, normalised, summed
from .read import parse_toml
from .tables import AUDIT, MAX_STATES, MECHANISMS, QUERIES

_HEAD = ("problem", "title", "source", "records")
_LEMMAS = {
    **dict.fromkeys(("min_leakage", "min_distortion", "max_information"), "designs"),
    "secret_leakage": "secrets",
}  # that know the tables of a problem


@dataclass(frozen=True)
class Model:
    """A parsed model: tables with numbers exact and defaults filled in.

    `adversary` is the adversary's kind, or that of [privacy], and `held` its table; where it has none, the entropy bound is 0
    and the list of priors empty. `design` is empty in `maximal_leakage`, else it has the distortion, the law and the budget or
    privacy.
    """

    problem: str
    design: dict[str, Any]
    alphabets: list[int]
    query: dict[str, Any]
    mechanism: dict[str, Any]
    adversary: str
    held: dict[str, Any]
    entropy: fmpq
    unit: str
    priors: list[list[fmpq]]
    normal: dict[str, Any]
    digest: str
    allowance: Allowance
    secrets: list[dict[str, Any]]  # of a model about them

    def against(self, adversary: dict[str, Any]) -> Model:
        """The same model with another adversary."""
        kind, (entropy, unit) = _held(adversary)
        priors = _divided(adversary, self.allowance)
        return replace(self, adversary=kind, held=adversary, entropy=entropy, unit=unit, priors=priors)

    def states(self) -> int:
        """The number of datasets, or -1 beyond 65,536."""
        sizes = [size for size in self.alphabets if size > 1]
        return prod(sizes) if len(sizes) <= 16 and prod(sizes) <= MAX_STATES else -1

    @cached_property
    def joint(self) -> Joint:
        """The queries of a joint one."""
        return Joint(self.query["queries"], self.alphabets)

    @property
    def foreign(self) -> bool:
        """True if the mechanism is of a kind that is unknown here: its matrix can only come from the certificate."""
        return not self.design and self.mechanism["kind"] not in MECHANISMS

    def runs(self) -> list[tuple[int, int]]:
        """Consecutive records of equal alphabet: (alphabet, times)."""
        return [(int(size), int(times)) for size, times in self.normal["records"]]

    def most(self) -> int:
        """The largest number of letters of a record."""
        return max(size for size, _ in self.runs())

    def log_states(self) -> arb:
        """A ball around log |X|."""
        return summed(times * arb(size).log() for size, times in self.runs())

    def entropy_ball(self) -> arb:
        """A ball around the entropy bound in nats."""
        unit = {"nats": arb(1), "bits": arb(2).log(), "max": self.log_states()}[self.unit]
        return arb(self.entropy) * unit

    def need_enough(self, entropy: Callable[[], arb]) -> None:
        """Refuse a witness of less entropy than the adversary's."""
        if self.entropy != 0:  # an entropy is never negative
            at_most(self.entropy_ball(), entropy(), "entropy bound <= witness's entropy")

    def is_uniform(self) -> bool:
        """True if the entropy bound equals log |X|, decided exactly.

        Exact because e^c is no integer for rational c != 0, and 2^c is an integer only for an integer c.
        """
        if all(size == 1 for size, _ in self.runs()):
            return self.unit == "max" or self.entropy == 0
        if self.unit == "bits":
            powers = all(size & (size - 1) == 0 for size, _ in self.runs())
            return powers and self.entropy == sum((size.bit_length() - 1) * times for size, times in self.runs())
        return bool(self.unit == "max" and self.entropy == 1)

    def need_feasible(self) -> None:
        """Refuse an entropy bound of more than log |X|, priors that are not on the datasets, and classes without laws."""
        if self.adversary in CLASSES:
            CLASSES[self.adversary](self.held, self.allowance).need_laws(
                [max(self.states(), 1)] if self.secrets else self.alphabets
            )
        if self.adversary == "prior_set":
            need(len(self.priors[0]) == self.states(), "each of adversary.priors must list |X| <= 65536 numbers")
        what = "entropy_at_least <= log |X|"
        if self.unit == "max":
            need(self.entropy <= 1 or self.is_uniform(), f"{what} fails: the share is more than 1")
        elif not self.is_uniform():
            at_most(self.entropy_ball(), self.log_states(), what)


class ModelFile:
    """A model file that is parsed once for all checks of it by one arithmetic; what that held counts in each of them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._parsed: tuple[Arithmetic, Model, int] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return ModelFile, (self.data,)

    def parsed(self, allowance: Allowance) -> Model:
        """The model, or a one-line reason to refuse the file."""
        if self._parsed is None or self._parsed[0] != chosen():
            before = allowance.held
            model = parse_model(self.data, allowance)
            self._parsed = chosen(), replace(model, allowance=Allowance()), allowance.held - before
            return model
        _, model, held = self._parsed
        allowance.take(held)
        return replace(model, allowance=allowance)


def parse_model(data: bytes, allowance: Allowance | None = None) -> Model:
    """Parse a model file, or refuse it with a one-line reason."""
    allowance = allowance or Allowance()
    return model_of(parse_toml(data, allowance), allowance)


def _held(adversary: dict[str, Any]) -> tuple[str, tuple[fmpq, str]]:
    """An adversary's kind, and its entropy bound, 0 where it has none."""
    bound: Any = adversary.get("entropy_at_least") or (0, "nats")
    return adversary.get("kind", "entropy_at_least"), bound


def _divided(adversary: dict[str, Any], allowance: Allowance) -> list[list[fmpq]]:
    """Its priors, each divided by its sum."""
    return [normalised(row, "a prior", allowance) for row in adversary.get("priors") or []]


def _need_weights(query: dict[str, Any], alphabets: list[int]) -> None:
    """Refuse a query's weights that do not fit the records."""
    weights = query.get("weights")
    if weights and isinstance(weights[0], list):
        need([*map(len, weights)] == alphabets, "query.weights must have one weight for each letter of each record")
    elif weights is not None:
        need(len(weights) == max(alphabets), "query.weights must be as long as the largest alphabet")


def _counts(query: dict[str, Any], alphabets: list[int], others: list[int] | None) -> dict[str, Any]:
    """A histogram's cells but the last one, which the others leave over: counts of one letter each."""
    letters = alphabets[0]
    fits = query["kind"] == "histogram" and set(alphabets) == {letters} and letters >= 2
    need(fits, "randomized_histogram needs the query 'histogram', of records of one alphabet of at least two letters")
    need(others is None or len(others) == letters, f"mechanism.others must be {letters} numbers, one for each letter")
    return {"kind": "joint", "queries": [{"kind": "count", "letters": [c]} for c in range(letters - 1)]}


def model_of(data: Any, allowance: Allowance) -> Model:
    """The model of a file's tables, or of some that were made here."""
    named = str(data.get("problem"))
    problem = "maximal_leakage" if named == "worst_case_leakage" else named
    asks = _LEMMAS.get(problem)
    top = read.table(data, "model", lemma(asks).schema(data) if asks else AUDIT)
    for key in ("constraints", "objective", "useful", "measure"):
        if not top.get(key):
            top.pop(key, None)
    design: dict[str, Any] = {key: top[key] for key in top if key not in (*AUDIT, "secrets")}
    alphabets = top["records"]
    query = top["query"]
    mechanism = top.get("mechanism", {})
    adversary = design.get("privacy", top.get("adversary", {}))
    kind, (entropy, unit) = _held(adversary)
    priors = _divided(adversary, allowance)
    free = mechanism.get("kind") not in MECHANISMS or mechanism.get("inputs") == "dataset"
    need("query" in data or free, "model: the key 'query' is missing")
    need(query["kind"] in QUERIES, f"query.kind {query['kind'][:40]!a} is unknown")
    need(query["kind"] != "joint" or not design, "query.kind 'joint' is known in audits only")
    asking = [*top.get("secrets", []), *design.get("constraints", [])]
    told = [one for table in asking for one in table.get("of", []) + table.get("given", [])]
    for asked in [query, *query.get("queries", []), *told]:
        _need_weights(asked, alphabets)
    if mechanism.get("kind") == "randomized_histogram":
        query = _counts(query, alphabets, mechanism["others"])
        need(
            problem == "maximal_leakage" and kind not in ("markov_chain", "finite_chain"),
            "randomized_histogram: not against this adversary",
        )
    letters = len(design.get("law", {}).get("probabilities", ()))
    need(letters == 0 or set(alphabets) == {letters}, "law.probabilities must be as long as every alphabet")
    normal = {
        "problem": problem,
        "records": [[str(size), str(len(list(run)))] for size, run in groupby(alphabets)],
        **read.normal({key: top[key] for key in top if key not in _HEAD}),
    }
    text = json.dumps(normal, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode("ascii")).hexdigest()
    against = (kind, adversary, entropy, unit, priors)
    secrets = top.get("secrets", [])
    return Model(problem, design, alphabets, query, mechanism, *against, normal, digest, allowance, secrets)


Row = tuple[int, ...]  # what each letter of a record adds


def added(query: dict[str, Any], group: Any) -> Row:
    """Contribution of each letter to a query's sum: of a record with so many letters, or with these weights."""
    if isinstance(group, tuple):
        return group
    if query["kind"] == "count":
        listed = set(query["letters"])
        return tuple(int(a in listed) for a in range(group))
    return tuple((query.get("weights") or range(group))[:group])


def value_of(query: dict[str, Any], total: int) -> int:
    """The query's value where the letters add up to this."""
    if query["kind"] == "threshold":
        return int(total >= query["at"])
    modulus = 2 if query["kind"] == "parity" else query.get("modulus")
    return total % modulus if modulus else total


class Joint:
    """The queries of a joint one, and for each record what each of its letters adds to the number."""

    def __init__(self, queries: Sequence[dict[str, Any]], alphabets: Sequence[int]) -> None:
        self.queries = queries
        digits = dict[tuple[Row, ...], int]()
        self._digit = list[int]()
        self._lows = list[int]()
        self._spans = list[int]()
        for query in queries:
            weights = query.get("weights") or []
            known = dict[int, Row]()
            own = bool(weights) and isinstance(weights[0], list)
            listed = [tuple(row) for row in weights] if own else []
            column = tuple(listed or (known.setdefault(n, added(query, n)) for n in alphabets))
            if column not in digits:
                digits[column] = len(digits)
                self._lows.append(sum(map(min, column)))
                self._spans.append(sum(max(row) - min(row) for row in column) + 1)
            self._digit.append(digits[column])
        steps = list[int]()
        step = 1
        for span in self._spans:
            steps = [*steps, step]
            step = step * span
        made = dict[tuple[Row, ...], Row]()
        self.rows = list[Row]()
        for rows in zip(*digits, strict=True):
            if rows not in made:
                letters = zip(*([x - min(row) for x in row] for row in rows), strict=True)
                made[rows] = tuple(sum(x * s for x, s in zip(some, steps, strict=True)) for some in letters)
            self.rows.append(made[rows])

    def values(self, number: int) -> Row:
        """The queries' values."""
        sums = list[int]()
        for low, span in zip(self._lows, self._spans, strict=True):
            number, digit = divmod(number, span)
            sums.append(low + digit)
        return tuple(value_of(query, sums[j]) for query, j in zip(self.queries, self._digit, strict=True))
