"""The witness of a certificate: which law it shows, of which record or secret (docs/certificate-format.md)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from second_reader.exact import law, read
from second_reader.laws import Laws, laws_of
from second_reader.leakage import Chain, blocks_of, stationary
from second_reader.model import Model
from second_reader.queries import Data, every, told, values

Prior = list[Any]


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def witness(model: Model, adversary: dict[str, Any], told_lines: list[Any]) -> tuple[int, Prior] | None:
    """The number of a question, and the law that the lines after the header show; None where they show none.

    Raises
    ------
    AssertionError
        If it is not one of the adversary's.
    """
    first = told_lines[0]
    if first[0] == "at":
        return in_a_block(model, adversary, first[1], first[2], told_lines[1])
    word, i, shown, *_ = first
    if i is None:
        return None
    if word == "path":
        chain = Chain.of(adversary, model.data)
        return asked(adversary, i), path(chain, [read(one) for one in shown], adversary)
    kind = adversary.get("kind", "entropy_at_least")
    if kind == "prior_set":
        return i, law(adversary["priors"][shown])
    if model.problem == "secret_leakage":
        return i, of_a_secret(model, adversary, shown)
    if kind == "entropy_at_least":
        inputs, size = model.inputs, len(model.data)
        prior = spread(shown, [x[i] for x in model.data], inputs)
        assert laws_of(adversary, size).has(prior)
        return i, prior
    if model.query["kind"] == "margins" or (model.query["kind"] == "histogram" and not isinstance(shown[1], list)):
        block = next(block for block in blocks_of(adversary, len(model.alphabets)) if i in block)
        letters = model.alphabets[0]
        even = [
            Fraction(int(all(x[j] == (x[i] if j in block else 0) for j in range(len(x)))), letters) for x in model.data
        ]
        return i, even
    return i, selected(model, adversary, i, shown[0], shown[1], model.inputs)


def asked(adversary: dict[str, Any], record: int) -> int:
    """Which of the questions is about a record."""
    if adversary.get("record") is None:
        return record
    assert adversary["record"] == record
    return 0


def spread(weights: Any, letters: Sequence[int], inputs: Sequence[int]) -> Prior:
    """A law on pairs of a letter and an input, spread evenly over the datasets of each."""
    if weights == "uniform":
        return [Fraction(1, len(inputs))] * len(inputs)
    p = {(a, k): read(one) for a, row in enumerate(weights) for k, one in enumerate(row) if read(one)}
    pairs = list(zip(letters, inputs, strict=True))
    assert min(p.values()) > 0
    assert set(p) <= set(pairs)
    return [p.get(pair, Fraction(0)) / sum(p.values()) / pairs.count(pair) for pair in pairs]


def selected(model: Model, adversary: dict[str, Any], i: int, j: int, weights: Any, inputs: Sequence[int]) -> Prior:
    """The record's law, all others being known: some letters of theirs that lead to selection j."""
    where = dict(zip(model.data, inputs, strict=True))

    def leads_to(others: Data) -> tuple[int, ...]:
        return tuple(where[(*others[:i], a, *others[i:])] for a in range(model.alphabets[i]))

    completions = every([*model.alphabets[:i], *model.alphabets[i + 1 :]])
    selections = sorted({leads_to(others) for others in completions})
    others = next(others for others in completions if leads_to(others) == selections[j])
    own, laws = law(weights), laws_of(adversary, model.alphabets[i])
    assert laws.basis is not None or laws.has(own)
    p = laws.probabilities(own)
    return [p[x[i]] if (*x[:i], *x[i + 1 :]) == others else Fraction(0) for x in model.data]


def piece(query: dict[str, Any], block: Sequence[int], t: Any) -> dict[str, Any]:
    """The query of a block, where the contributions of the others add up to t."""
    found = dict(query)
    if "queries" in query:
        found["queries"] = [piece(one, block, None) for one in query["queries"]]
    if "weights" in query and isinstance(query["weights"][0], list):
        found["weights"] = [query["weights"][i] for i in block]
    if "at" in query:
        found["at"] -= int(t or 0)
    return found


def in_a_block(model: Model, adversary: dict[str, Any], j: int, t: Any, line: Any) -> tuple[int, Prior]:
    """A block's law, the records outside of it being known."""
    block = blocks_of(adversary, len(model.alphabets))[j]
    rest = [i for i in range(len(model.alphabets)) if i not in block]
    query, own = piece(model.query, block, t), every([model.alphabets[i] for i in block])
    sizes = [model.alphabets[i] for i in block]
    listed = values(query, own, sizes)
    inputs = [listed.index(told(query, x, sizes)) for x in own]
    _, i, weights = line
    p = dict(zip(own, spread(weights, [x[i] for x in own], inputs), strict=True))
    assert laws_of(adversary, len(own)).has(list(p.values())) or "entropy_at_least" not in adversary
    others = next(x for x in every([model.alphabets[i] for i in rest]) if adds_up(model, rest, x, t))
    at = [tuple(x[i] for i in rest) == others for x in model.data]
    prior = [p[tuple(x[i] for i in block)] if here else Fraction(0) for x, here in zip(model.data, at, strict=True)]
    return block[i], prior


def adds_up(model: Model, rest: Sequence[int], x: Data, t: Any) -> bool:
    """Whether the contributions of the others are t."""
    kind = model.query["kind"]
    if t is None:
        return True
    if kind == "histogram":
        return [x.count(letter) for letter in range(model.alphabets[0])] == [int(one) for one in t.split(",")]
    if kind in ("count", "sum"):
        own = model.query.get("weights")
        query = {**model.query, "weights": [own[i] for i in rest]} if own and isinstance(own[0], list) else model.query
        return bool(told(query, x, ()) == int(t))
    modulus = {"parity": 2, "modular_sum": model.query.get("modulus")}.get(kind)
    return (sum(x) - int(t)) % modulus == 0 if modulus else sum(x) == int(t)


def path(chain: Chain, point: list[Fraction], adversary: dict[str, Any]) -> Prior:
    """The law of a chain at a point."""
    size = len(chain.rows)
    if adversary["kind"] == "markov_chain":
        alpha, beta, *first = point
        rows = [[1 - alpha, alpha], [beta, 1 - beta]]
        first = [[1 - nu, nu] for nu in first]
    else:
        rows = [point[a * size : (a + 1) * size] for a in range(size)]
        first = [point[size * size :]] if point[size * size :] else []
    for box, row in zip([*chain.rows, *([chain.start] if chain.start else [])], [*rows, *first], strict=True):
        assert sum(row) == 1
        assert box.has(row)
    start = first[0] if first else stationary(rows)
    assert start is not None
    prior = []
    for x in chain.data:
        p = start[x[0]]
        for a, b in itertools.pairwise(x):
            p *= rows[a][b]
        prior.append(p)
    return prior


def of_a_secret(model: Model, adversary: dict[str, Any], shown: Any) -> Prior:
    """The law of the dataset that a witness about a secret shows."""
    count, kind = len(model.data), adversary.get("kind", "entropy_at_least")
    if kind == "polytope_priors":
        return laws_of(adversary, count).probabilities(law(shown))
    if shown[0] == "product":
        records = [law(one) for one in shown[1]]
        prior = []
        for x in model.data:
            p = Fraction(1)
            for letter, own in zip(x, records, strict=True):
                p *= own[letter]
            prior.append(p)
        return prior
    masses = {x: read(one) for x, one in shown}
    prior = [masses.get(x, Fraction(0)) / sum(masses.values()) for x in range(count)]
    if kind == "product_priors":
        assert independent(model, prior)
    else:
        assert laws_of(adversary, count).has(prior)
    return prior


def independent(model: Model, prior: Prior) -> bool:
    """Whether a law is a product over records."""
    alone = [
        [sum((p for x, p in zip(model.data, prior, strict=True) if x[i] == a), Fraction(0)) for a in range(size)]
        for i, size in enumerate(model.alphabets)
    ]
    for x, p in zip(model.data, prior, strict=True):
        product = Fraction(1)
        for letter, own in zip(x, alone, strict=True):
            product *= own[letter]
        if product != p:
            return False
    return True


__all__ = ["Laws", "lines", "witness"]
