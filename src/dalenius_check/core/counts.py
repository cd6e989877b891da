"""Exact numbers of completions N(a, k), by powers of generating polynomials."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import gcd, lcm, log2, prod
from typing import Any

from .allowance import BALL, PAIR, Allowance, limit
from .arithmetic import fmpq, fmpz_poly
from .model import Model, added
from .numbers import need, raised
from .tables import MAX_STATES

_MAX_BITS = 4e8
_MAX_PAIRS = 1 << 22
MODULAR = ("parity", "modular_sum")
Pairs = list[tuple[int, int]]
Groups = Counter[tuple[int, ...]]


def key(model: Model, i: int) -> Any:
    """Records with one key have the same record channel: sums are symmetric in the records.

    An identity or table query is a sum too, of the records' shares of the dataset's index; these are never alike.
    """
    size = model.alphabets[i]
    weights = model.query.get("weights")
    if model.query["kind"] == "joint":
        return model.joint.rows[i]
    if model.query["kind"] in ("table", "identity"):
        stride = prod(model.alphabets[i + 1 :]) if size > 1 else 0
        return tuple(a * stride for a in range(size))
    return tuple(weights[i]) if weights and isinstance(weights[0], list) else size


def contributions(model: Model, group: Any) -> tuple[int, ...]:
    """Contribution of each letter of a record with this key to the query's sum."""
    return added(model.query, group)


def groups(model: Model, without: int | None = None) -> Groups:
    """The multiset of contributions of all records, or of all but one."""
    keys = Counter(key(model, i) for i in range(len(model.alphabets)) if i != without)
    merged: Groups = Counter()
    for group, times in keys.items():
        merged[contributions(model, group)] += times
    return merged


def values(model: Model) -> list[int]:
    """The query's values in ascending order; a query that does not fit the records is refused."""
    kind = model.query["kind"]
    states = model.states()
    many = f"the query has more than {MAX_STATES} values"
    need(states >= 0 or kind not in ("table", "identity"), f"a {kind} query needs at most {MAX_STATES} datasets")
    if kind == "table":
        need(len(model.query["values"]) == states, f"query.values must list {states} values, one for each dataset")
        return sorted(set(model.query["values"]))
    if kind == "joint":
        alone = lists(model)
        numbers = distribution(groups(model), model.allowance)
        result = sorted({_coded(alone, model.joint.values(number)) for number, _ in numbers})
    elif kind == "sum":
        all_groups = groups(model)
        need(sum((len(set(c)) - 1) * times for c, times in all_groups.items()) < MAX_STATES, many)
        result = [value for value, _ in distribution(all_groups, model.allowance)]
    else:
        sizes = {"identity": states, "count": len(model.alphabets) + 1, "modular_sum": model.query.get("modulus", 0)}
        result = list(range(sizes.get(kind, 2)))
    need(len(result) <= MAX_STATES, many)
    return result


def lists(model: Model) -> list[list[int]]:
    """The values that each query of a joint one has by itself; of another query its own."""
    queries = model.query.get("queries", [model.query])
    return [values(replace(model, query=query)) for query in queries]


def places(model: Model, query_values: list[int]) -> list[list[int]]:
    """For each query of a joint one, or the only one, the place of its value among its own, for every input."""
    if model.query["kind"] != "joint":
        return [list(range(len(query_values)))]
    found = list[list[int]]()
    left = query_values
    for own in reversed(lists(model)):
        found.append([code % len(own) for code in left])
        left = [code // len(own) for code in left]
    return found[::-1]


def _coded(alone: list[list[int]], listed: Sequence[int]) -> int:
    """A vector of values as a number, of their places; the order of these numbers is that of the vectors."""
    code = 0
    for own, value in zip(alone, listed, strict=True):
        code = code * len(own) + bisect_left(own, value)
    return code


def distribution(parts: Groups, allowance: Allowance, shares: Sequence[int] = ()) -> Pairs:
    """The sums that some letters reach, ascending, with the number of ways; `shares` as in `ways`."""
    low = sum(min(c) * times for c, times in parts.items())
    step = gcd(*(x - c[0] for c in parts for x in c)) or 1
    width = sum((max(c) - min(c)) // step * times for c, times in parts.items())
    shifted: Groups = Counter()
    for c, times in parts.items():
        shifted[tuple((x - min(c)) // step for x in c)] += times
    return [(low + step * j, n) for j, n in enumerate(ways(shifted, width + 1, allowance, shares)) if n]


def ways(parts: Groups, modulus: int, allowance: Allowance, shares: Sequence[int] = ()) -> list[int]:
    """The number of ways to reach each residue: the product of sum_a x^c(a) over all parts, modulo x^modulus - 1.

    With shares, one for each letter of every part, x^c(a) is taken shares[a] times.
    """
    bits = sum(log2(sum(shares) or len(c)) * times for c, times in parts.items()) + 1
    limit(modulus * bits <= _MAX_BITS and modulus <= _MAX_PAIRS, f"counts need {modulus * bits:.2g} bits")
    allowance.room(modulus * (bits + BALL))
    cycle, product = fmpz_poly([-1] + [0] * (modulus - 1) + [1]), fmpz_poly([1])
    for c, times in parts.items():
        allowance.look()
        coefficients = [0] * (max(x % modulus for x in c) + 1)
        for x, share in zip(c, shares or [1] * len(c), strict=True):
            coefficients[x % modulus] += share
        product = product * _power(fmpz_poly(coefficients), times, cycle, allowance) % cycle
    return list(product.coeffs()) + [0] * (modulus - 1 - product.degree())


def _power(base: fmpz_poly, times: int, cycle: fmpz_poly, allowance: Allowance) -> fmpz_poly:
    if base.degree() * times < cycle.degree():
        return base**times

    def product(left: fmpz_poly, right: fmpz_poly) -> fmpz_poly:
        allowance.look()
        return left * right % cycle

    return raised(base, times, fmpz_poly([1]), product)


def _reader(model: Model, query_values: list[int]) -> Callable[[int], int]:
    """The channel's input that a sum leads to."""
    if model.query["kind"] == "joint":
        alone = lists(model)
        found = {value: k for k, value in enumerate(query_values)}
        return lambda value: found[_coded(alone, model.joint.values(value))]
    kind = model.query["kind"]
    index = {value: k for k, value in enumerate(query_values)}
    if kind == "threshold":
        return lambda value: int(value >= model.query["at"])
    if kind == "table":
        return lambda value: index[model.query["values"][value]]
    return (lambda value: value % len(index)) if kind in MODULAR else index.__getitem__


def datasets(model: Model, query_values: list[int]) -> list[int]:
    """The channel's input of each dataset; for at most 65,536 of them."""
    keys = [key(model, i) for i in range(len(model.alphabets))]
    own = {group: contributions(model, group) for group in set(keys)}
    sums = [sum(own[group][0] for group in keys)]
    for parts in (own[group] for group in keys if len(own[group]) > 1):
        sums = [value + x - parts[0] for value in sums for x in parts]
    return list(map(_reader(model, query_values), sums))


def patterns(model: Model, i: int, query_values: list[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """The inputs (k_0, ..., k_{A-1}) of the datasets (a, z), with numbers of completions z, in parts by z."""
    own = contributions(model, key(model, i))
    sums = _sums(model, groups(model, i), query_values)
    if model.query["kind"] == "threshold":
        sums = _pieces(sums, {model.query["at"] - x for x in own})
    reader = _reader(model, query_values)
    return ((tuple(reader(value + x) for x in own), n) for value, n in sums)


def _sums(model: Model, parts: Groups, query_values: list[int], shares: Sequence[int] = ()) -> Pairs:
    """The sums of the letters of some records (modulo the modulus, if there is one) with the number of ways."""
    if model.query["kind"] in MODULAR:
        return [(value, n) for value, n in enumerate(ways(parts, len(query_values), model.allowance, shares)) if n]
    return distribution(parts, model.allowance, shares)


def law(model: Model, query_values: list[int]) -> list[fmpq]:
    """The exact probability of each value under a design model's law of the data: shares of all ways to reach it."""
    letters = model.design["law"].get("probabilities", [])
    scale = lcm(*(int(x.denominator) for x in letters))
    reader = _reader(model, query_values)
    found: dict[int, int] = defaultdict(int)
    for value, n in _sums(model, groups(model), query_values, [int(x * scale) for x in letters]):
        found[reader(value)] += n
    whole = sum(found.values())
    model.allowance.take(len(found) * int(whole.bit_length()) // 4)
    return [fmpq(found[k], whole) for k in range(len(query_values))]


def _pieces(sums: Pairs, cuts: set[int]) -> Pairs:
    """The sums that lie between the same cuts, merged into the smallest one."""
    places = {bisect_left(sums, cut, key=lambda pair: pair[0]) for cut in cuts}
    borders = sorted({0, len(sums), *places})
    return [(sums[j][0], sum(n for _, n in sums[j:end])) for j, end in pairwise(borders)]


def completions(model: Model, i: int, query_values: list[int]) -> list[Pairs]:
    """N(a, k) > 0 of record i: for each letter a the inputs k, ascending, which are query values or whole datasets."""
    tables: list[dict[int, int]] = [{} for _ in range(model.alphabets[i])]
    for chosen, n in patterns(model, i, query_values):
        model.allowance.look()
        for table, k in zip(tables, chosen, strict=True):
            if k in table:
                model.allowance.take(int(n.bit_length()) // 8)
                table[k] = table[k] + n
            else:  # letters share numbers, which may have millions of digits
                model.allowance.take(2 * PAIR)
                table[k] = n
        limit(sum(map(len, tables)) <= _MAX_PAIRS, f"a record has more than {_MAX_PAIRS} pairs")
    return [sorted(table.items()) for table in tables]


def selections(model: Model, i: int, query_values: list[int]) -> list[tuple[int, ...]]:
    """The distinct tuples of inputs that the letters of record i have together, in lexicographic order."""
    found: set[tuple[int, ...]] = set()
    for chosen, _ in patterns(model, i, query_values):
        model.allowance.look()
        found.add(chosen)
        limit(len(found) * model.alphabets[i] <= _MAX_PAIRS, f"selections have more than {_MAX_PAIRS} entries")
    return sorted(found)
