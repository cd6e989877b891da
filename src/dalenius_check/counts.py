"""Exact numbers of completions N(a, k), by powers of generating polynomials."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from math import gcd, log2
from typing import Any

from flint import arb, fmpz, fmpz_poly

from .model import Model
from .numbers import LimitError, UnreadableError, limit
from .tables import MAX_STATES

_MAX_BITS = 4e8
_MAX_PAIRS = 1 << 22
_MAX_STEPS = 20_000_000
_CYCLIC = {"parity", "modular_sum"}
Groups = Counter[tuple[int, ...]]


class Record:
    """The pairs (letter, input) of one record that exist: for letter a the inputs k and their counts N(a, k) > 0."""

    def __init__(self, pairs: list[list[tuple[int, fmpz]]]) -> None:
        limit(sum(map(len, pairs)) <= _MAX_PAIRS, f"a record has more than {_MAX_PAIRS} pairs")
        self.pairs = pairs
        self.inputs = [[k for k, _ in row] for row in pairs]
        self.logs = [[arb(n).log() for _, n in row] for row in pairs]

    def space(self) -> fmpz:
        """The number of datasets, |X|."""
        return sum((n for _, n in self.pairs[0]), fmpz(0)) * len(self.pairs)


def key(model: Model, i: int, dataset: bool) -> Any:
    """Records with one key have the same record channel: sums are symmetric in the records."""
    if dataset or model.query["kind"] in ("table", "identity"):
        return i
    weights = model.query.get("weights")
    return tuple(weights[i]) if weights and isinstance(weights[0], list) else model.alphabets[i]


def contributions(model: Model, group: Any) -> tuple[int, ...]:
    """What each letter of a record with this key adds to the query's sum."""
    query = model.query
    if isinstance(group, tuple):
        return group
    if query["kind"] == "count":
        return tuple(int(a in query["letters"]) for a in range(group))
    if query.get("weights"):
        return tuple(query["weights"][:group])
    return tuple(range(group))


def groups(model: Model, without: int | None = None) -> Groups:
    """The multiset of contributions of all records, or of all but one."""
    result = Counter(key(model, i, False) for i in range(len(model.alphabets)))
    if without is not None:
        result[key(model, without, False)] -= 1
    merged: Groups = Counter()
    for group, times in result.items():
        if times:
            merged[contributions(model, group)] += times
    return merged


def values(model: Model) -> list[int]:
    """The query's values in ascending order; UnreadableError where the query does not fit the records."""
    kind, states = model.query["kind"], model.states()
    if kind in ("table", "identity") and states < 0:
        raise UnreadableError(f"a {kind} query needs at most {MAX_STATES} datasets")
    if kind == "table":
        if len(model.query["values"]) != states:
            raise UnreadableError(f"query.values must list {states} values, one for each dataset")
        return sorted(set(model.query["values"]))
    if kind == "sum":
        all_groups = groups(model)
        least = 1 + sum((len(set(c)) - 1) * times for c, times in all_groups.items())
        if least > MAX_STATES:
            raise UnreadableError(f"the query has more than {MAX_STATES} values")
        result = sorted(distribution(all_groups, MAX_STATES))
        if len(result) > MAX_STATES:
            raise UnreadableError(f"the query has more than {MAX_STATES} values")
        return result
    sizes = {"parity": 2, "threshold": 2, "identity": states, "count": len(model.alphabets) + 1}
    return list(range(sizes[kind] if kind in sizes else model.query["modulus"]))


def distribution(parts: Groups, most: int | None = None) -> dict[int, fmpz]:
    """The number of ways to reach each integer sum: the product of sum_a x^c(a) over all parts."""
    low = sum(min(c) * times for c, times in parts.items())
    step = gcd(*(x - c[0] for c in parts for x in c)) or 1
    degree = sum((max(c) - min(c)) // step * times for c, times in parts.items())
    bits = sum(log2(len(c)) * times for c, times in parts.items()) + 1
    dense = degree * bits <= _MAX_BITS and degree <= _MAX_PAIRS
    if not dense and most is not None:
        return _sparse(parts, most)
    limit(dense, f"counts need {degree * bits:.2g} bits")
    product = fmpz_poly([1])
    for c, times in parts.items():
        coefficients = [0] * ((max(c) - min(c)) // step + 1)
        for x in c:
            coefficients[(x - min(c)) // step] += 1
        product *= fmpz_poly(coefficients) ** times
    return {low + step * j: n for j, n in enumerate(product.coeffs()) if n}


def _sparse(parts: Groups, most: int) -> dict[int, fmpz]:
    """The same for few values far apart; the number of values never shrinks from part to part."""
    result, steps = {0: fmpz(1)}, 0
    for c, times in parts.items():
        for _ in range(times):
            steps += len(result) * len(c)
            limit(steps <= _MAX_STEPS, "the query has too many far apart values to count")
            product: dict[int, fmpz] = {}
            for value, n in result.items():
                for x in c:
                    product[value + x] = product.get(value + x, 0) + n
            result = product
            if len(result) > most:
                raise UnreadableError(f"the query has more than {most} values")
    return result


def cyclic(parts: Groups, modulus: int) -> list[fmpz]:
    """The number of ways to reach each residue, by repeated squaring modulo x^modulus - 1."""
    bits = sum(log2(len(c)) * times for c, times in parts.items()) + 1
    limit(modulus * bits <= _MAX_BITS, f"counts need {modulus * bits:.2g} bits")

    def fold(product: fmpz_poly) -> fmpz_poly:
        c = product.coeffs()
        return fmpz_poly([x + y for x, y in zip(c, c[modulus:] + [0] * modulus, strict=False)][:modulus])

    product = fmpz_poly([1])
    for c, times in parts.items():
        coefficients = [0] * modulus
        for x in c:
            coefficients[x % modulus] += 1
        power = fmpz_poly([1])
        for bit in bin(times)[2:]:
            power = fold(power * power)
            if bit == "1":
                power = fold(power * fmpz_poly(coefficients))
        product = fold(product * power)
    return list(product.coeffs()) + [fmpz(0)] * (modulus - product.length())


def record(model: Model, i: int, dataset: bool, query_values: list[int]) -> Record:
    """The pairs of record i, for inputs that are query values or (dataset) whole datasets."""
    kind, size = model.query["kind"], model.alphabets[i]
    if dataset or kind in ("table", "identity"):
        return Record(_enumerated(model, i, dataset or kind == "identity", query_values))
    others, own = groups(model, i), contributions(model, key(model, i, False))
    if kind in _CYCLIC:
        modulus = len(query_values)
        ways = cyclic(others, modulus)
        limit(size * modulus <= _MAX_PAIRS, f"a record has more than {_MAX_PAIRS} pairs")
        return Record([[(k, n) for k in range(modulus) if (n := ways[(k - x) % modulus])] for x in own])
    if kind == "threshold":
        return Record(_threshold(distribution(others), own, model.query["at"]))
    sums = distribution(others, MAX_STATES)
    limit(size * len(sums) <= _MAX_PAIRS, f"a record has more than {_MAX_PAIRS} pairs")
    index = {value: k for k, value in enumerate(query_values)}
    return Record([sorted(((index[value + x], n) for value, n in sums.items()), key=lambda pair: pair[0]) for x in own])


def _threshold(sums: dict[int, fmpz], own: tuple[int, ...], at: int) -> list[list[tuple[int, fmpz]]]:
    order = sorted(sums)
    below = [fmpz(0), *accumulate(sums[value] for value in order)]
    result, j = [], len(order)
    for x in own:  # own is 0, 1, 2, ...: the cut `at - x` moves down
        while j and order[j - 1] >= at - x:
            j -= 1
        result.append([(k, n) for k, n in enumerate((below[j], below[-1] - below[j])) if n])
    return result


def _enumerated(model: Model, i: int, dataset: bool, query_values: list[int]) -> list[list[tuple[int, fmpz]]]:
    states, size = model.states(), model.alphabets[i]
    if states < 0:
        raise LimitError("limit: too many datasets")
    stride = 1
    for later in model.alphabets[i + 1 :]:
        stride *= later
    index = {value: k for k, value in enumerate(query_values)}
    tables: list[Counter[int]] = [Counter() for _ in range(size)]
    for x in range(states):
        tables[x // stride % size][x if dataset else index[model.query["values"][x]]] += 1
    return [sorted((k, fmpz(n)) for k, n in table.items()) for table in tables]
