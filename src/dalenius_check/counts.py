"""Exact numbers of completions N(a, k), by powers of generating polynomials."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from math import gcd, log2, prod
from typing import Any

from flint import fmpz, fmpz_poly

from .model import MAX_STATES, Model
from .numbers import limit, need

_MAX_BITS = 4e8
_MAX_PAIRS = 1 << 22
Pairs = list[tuple[int, fmpz]]
Groups = Counter[tuple[int, ...]]


def key(model: Model, i: int, dataset: bool) -> Any:
    """Records with one key have the same record channel: sums are symmetric in the records."""
    if dataset or model.query["kind"] in ("table", "identity"):
        return i
    weights = model.query.get("weights")
    return tuple(weights[i]) if weights and isinstance(weights[0], list) else model.alphabets[i]


def contributions(model: Model, group: Any) -> tuple[int, ...]:
    """What each letter of a record with this key adds to the query's sum."""
    if isinstance(group, tuple):
        return group
    if model.query["kind"] == "count":
        listed = set(model.query["letters"])
        return tuple(int(a in listed) for a in range(group))
    return tuple((model.query.get("weights") or range(group))[:group])


def groups(model: Model, without: int | None = None) -> Groups:
    """The multiset of contributions of all records, or of all but one."""
    keys = Counter(key(model, i, False) for i in range(len(model.alphabets)) if i != without)
    merged: Groups = Counter()
    for group, times in keys.items():
        merged[contributions(model, group)] += times
    return merged


def values(model: Model) -> list[int]:
    """The query's values in ascending order; a query that does not fit the records is refused."""
    kind, states, many = model.query["kind"], model.states(), f"the query has more than {MAX_STATES} values"
    need(states >= 0 or kind not in ("table", "identity"), f"a {kind} query needs at most {MAX_STATES} datasets")
    if kind == "table":
        need(len(model.query["values"]) == states, f"query.values must list {states} values, one for each dataset")
        return sorted(set(model.query["values"]))
    if kind == "sum":
        all_groups = groups(model)
        need(sum((len(set(c)) - 1) * times for c, times in all_groups.items()) < MAX_STATES, many)
        result = [value for value, _ in distribution(all_groups)]
    else:
        sizes = {"identity": states, "count": len(model.alphabets) + 1, "modular_sum": model.query.get("modulus", 0)}
        result = list(range(sizes.get(kind, 2)))
    need(len(result) <= MAX_STATES, many)
    return result


def distribution(parts: Groups) -> Pairs:
    """The sums that some letters reach, ascending, with the number of ways."""
    low = sum(min(c) * times for c, times in parts.items())
    step = gcd(*(x - c[0] for c in parts for x in c)) or 1
    width = sum((max(c) - min(c)) // step * times for c, times in parts.items())
    shifted: Groups = Counter()
    for c, times in parts.items():
        shifted[tuple((x - min(c)) // step for x in c)] += times
    return [(low + step * j, n) for j, n in enumerate(ways(shifted, width + 1)) if n]


def ways(parts: Groups, modulus: int) -> list[fmpz]:
    """The number of ways to reach each residue: the product of sum_a x^c(a) over all parts, modulo x^modulus - 1."""
    bits = sum(log2(len(c)) * times for c, times in parts.items()) + 1
    limit(modulus * bits <= _MAX_BITS and modulus <= _MAX_PAIRS, f"counts need {modulus * bits:.2g} bits")
    cycle, product = fmpz_poly([-1] + [0] * (modulus - 1) + [1]), fmpz_poly([1])
    for c, times in parts.items():
        coefficients = [0] * (max(x % modulus for x in c) + 1)
        for x in c:
            coefficients[x % modulus] += 1
        product = product * _power(fmpz_poly(coefficients), times, cycle) % cycle
    return list(product.coeffs()) + [fmpz(0)] * (modulus - product.length())


def _power(base: fmpz_poly, times: int, cycle: fmpz_poly) -> fmpz_poly:
    if base.degree() * times < cycle.degree():
        return base**times
    result = fmpz_poly([1])
    for bit in bin(times)[2:]:
        result = result * result % cycle
        if bit == "1":
            result = result * base % cycle
    return result


def completions(model: Model, i: int, dataset: bool, query_values: list[int]) -> list[Pairs]:
    """N(a, k) > 0 of record i: for each letter a the inputs k, which are query values or (dataset) whole datasets."""
    kind, size = model.query["kind"], model.alphabets[i]
    index = {value: k for k, value in enumerate(query_values)}
    if dataset or kind in ("table", "identity"):
        listed = range(model.states()) if dataset or kind == "identity" else [index[v] for v in model.query["values"]]
        stride = prod(model.alphabets[i + 1 :])
        tables: list[Counter[int]] = [Counter() for _ in range(size)]
        for x, k in enumerate(listed):
            tables[x // stride % size][k] += 1
        return [sorted((k, fmpz(n)) for k, n in tally.items()) for tally in tables]
    others, own = groups(model, i), contributions(model, key(model, i, False))
    if kind == "threshold":
        return _threshold(distribution(others), own, model.query["at"])
    if kind in ("parity", "modular_sum"):
        sums = [(value, n) for value, n in enumerate(ways(others, len(index))) if n]
        index = {value: value % len(query_values) for value in range(len(query_values) + max(own))}
    else:
        sums = distribution(others)
    limit(size * len(sums) <= _MAX_PAIRS, f"a record has more than {_MAX_PAIRS} pairs")
    return [sorted((index[value + x], n) for value, n in sums) for x in own]


def _threshold(sums: Pairs, own: tuple[int, ...], at: int) -> list[Pairs]:
    below = [fmpz(0), *accumulate(n for _, n in sums)]
    cuts = [bisect_left(sums, at - x, key=lambda pair: pair[0]) for x in own]
    return [[(k, n) for k, n in enumerate((below[j], below[-1] - below[j])) if n] for j in cuts]
