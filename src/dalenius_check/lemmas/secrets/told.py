"""Secrets: what functions of the data reveal of each dataset, and the channel inputs of the datasets of which they tell the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any

from ...core import read
from ...core.allowance import PAIR, POINTER, limit
from ...core.channel import Channel
from ...core.counts import datasets, values
from ...core.model import Model
from ...core.numbers import need
from ...core.read import REQUIRED, Schema, required
from ...core.tables import AUDIT, QUERIES, adversary

_MOST_PLACES, _MOST_TRIPLES = 1 << 22, 1 << 22
Codes = list[int]  # of each dataset
Kind = frozenset[tuple[frozenset[int], int]]  # the sets of inputs of a value's cells, with how often each is there
_MAX_SECRETS = 1000
_NAMED = (read.letters, None)
_TOLD = {key: schema for key, schema in QUERIES.items() if key not in ("histogram", "margins", "joint")}
_TOLD["letters"] = {"records": _NAMED, "others": _NAMED, "groups": (read.groups, None)}


def _told(value: Any, what: str) -> list[dict[str, Any]]:
    """Functions revealed together: queries, and letters of some records."""
    tables = value if isinstance(value, list) else [value]
    found = [read.known(item, what, _TOLD) for item in tables]
    for table in found:
        one = bool(table.get("records")) != bool(table.get("others"))
        need(one or table["kind"] != "letters", f"{what} must have either 'records' or 'others', not empty")
    return found


def _secret(value: Any, what: str) -> list[dict[str, Any]]:
    found = _told(value, what)
    need(len(found) > 0, f"{what} must be at least one table")
    return found


TOLD: Schema = {"of": (_secret, REQUIRED), "given": (_told, [])}


def _secrets(value: Any, what: str) -> list[dict[str, Any]]:
    tables = read.entries(value, what)
    need(1 <= len(tables) <= _MAX_SECRETS, f"{what} must be from 1 to {_MAX_SECRETS} tables")
    return [read.table(item, f"{what} {j}", TOLD) for j, item in enumerate(tables)]


def schema(data: dict[str, Any]) -> Schema:
    """The keys of a model about secrets."""
    return {**AUDIT, "adversary": required(adversary), "secrets": required(_secrets)}


class Secret:
    """Values of `of` and `given` for each dataset, as numbers in the order of the first datasets with them."""

    def __init__(self, of: Codes, given: Codes, inputs: Codes, channel: Channel) -> None:
        self.of = of
        self.given = given
        self._inputs = inputs
        self._channel = channel

    @cached_property
    def cells(self) -> list[dict[int, frozenset[int]]]:
        """For each given value the sets K(a, c), of rising a."""
        found = defaultdict[int, dict[int, set[int]]](lambda: defaultdict(set))
        allowance = self._channel.allowance
        for a, c, k in zip(self.of, self.given, self._inputs, strict=True):
            found[c][a].add(k)
        triples = sum(len(inputs) for row in found.values() for inputs in row.values())
        limit(triples <= _MOST_TRIPLES, f"a secret has more than {_MOST_TRIPLES} values and inputs")
        allowance.take(4 * triples * PAIR)
        return [{a: frozenset(found[c][a]) for a in sorted(found[c])} for c in range(len(found))]

    def kind(self, c: int) -> Kind:
        """The same for values about which the same is to be proved."""
        return frozenset(Counter(self.cells[c].values()).items())

    def idle(self, c: int) -> bool:
        """True if nothing can leak about the secret where this is given."""
        cells = self.cells[c].values()
        return len(cells) == 1 or len({self._channel.classes[k] for inputs in cells for k in inputs}) == 1


class Told:
    """Values of a model's secrets for each dataset."""

    def __init__(self, model: Model) -> None:
        self.model = model
        states = model.states()
        need(states >= 0, "a secret needs at most 65536 datasets")
        need(states * len(model.secrets) <= _MOST_PLACES, "the secrets times the datasets are more than 2^22")
        self._codes = [[_codes(model, states, table[key]) for key in ("of", "given")] for table in model.secrets]
        model.allowance.take(2 * states * len(model.secrets) * POINTER)

    def inputs(self, channel: Channel) -> Codes:
        """The channel input of each dataset."""
        own = replace(self.model, query={"kind": "identity"}) if channel.dataset else self.model
        return datasets(own, channel.values)

    def most(self) -> int:
        """The largest number of values of a secret."""
        return max(len(set(of)) for of, _ in self._codes)

    def others_known(self, s: int) -> bool:
        """True if what is given of secret s is one table of letters, of all records but one, without groups."""
        tables = self.model.secrets[s]["given"]
        letters = [one for one in tables if one["kind"] == "letters" and one["groups"] is None]
        known = len(self.model.alphabets) - 1
        return len(letters) == len(tables) == 1 and len(_records(letters[0], self.model)) == known

    def secrets(self, channel: Channel) -> list[Secret]:
        """All of them."""
        inputs = self.inputs(channel)
        return [Secret(of, given, inputs, channel) for of, given in self._codes]


def _records(table: dict[str, Any], model: Model) -> list[int]:
    """Records whose letters are meant."""
    every = range(len(model.alphabets))
    need(max(table["records"] or table["others"]) in every, f"a secret names a record that is none of {len(every)}")
    return table["records"] or sorted(set(every) - set(table["others"]))


def _codes(model: Model, states: int, tables: list[dict[str, Any]]) -> Codes:
    """Joint values of some tables."""
    codes = [0] * states
    for table in tables:
        letters = table["kind"] == "letters"
        for column in _letters(model, states, table) if letters else [_values(model, table)]:
            model.allowance.look()
            names = dict[Any, int]()
            codes = [names.setdefault(pair, len(names)) for pair in zip(codes, column, strict=True)]
    return codes


def _values(model: Model, table: dict[str, Any]) -> Codes:
    """The query's value of each dataset, by its number."""
    asked = replace(model, query=table)
    return datasets(asked, values(asked))


def _letters(model: Model, states: int, table: dict[str, Any]) -> Iterable[Iterable[int]]:
    """The letters of some records, or the groups that these are in."""
    records = _records(table, model)
    groups = table["groups"]
    most = max((model.alphabets[i] for i in records), default=0)
    places = {a: j for j, group in enumerate(groups or []) for a in group}
    fits = sum(map(len, groups or [])) == len(places) and places.keys() == set(range(most))
    need(groups is None or fits, "the groups of a secret's letters must have every letter once, and no others")
    for i in records:
        size = model.alphabets[i]
        stride = prod(model.alphabets[i + 1 :])
        yield [places.get(a, a) for a in (x // stride % size for x in range(states))]
