"""The law of a mechanism's inputs, as whole numbers: weights of the query's values by powers of polynomials, or of every dataset.

Weights w are exact: the probability of an input is its weight divided by the sum of all of them.
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
from flint import fmpz_poly

from dalenius.errors import InputError
from dalenius.model.laws import Law
from dalenius.model.queries import AdditiveQuery, Query
from dalenius.model.queries.base import Integers, spacing
from dalenius.model.records import Records
from dalenius.model.sums import RecordType, record_types

__all__ = ["check_size", "dataset_weights", "sum_weights", "value_weights"]

MAX_BITS = 4e8  # of all weights together; the checker's own limit
MAX_WIDTH = 2**22


def check_size(query: Query, records: Records, law: Law) -> None:
    """`InputError` if the weights of the query's values are too long to be computed exactly."""
    if not isinstance(query, AdditiveQuery):
        return
    width = _width(query, record_types(query, records))
    bits = width * (1 + sum(times * math.log2(sum(law.weights(size))) for size, times in records.runs))
    if bits > MAX_BITS or width > MAX_WIDTH:
        raise InputError(
            f"law: the exact law of the query's values would take {bits:.2g} bits, at most {MAX_BITS:.0e} are computed; use fewer "
            "records, a query with fewer values (parity, modular_sum), or rounder probabilities"
        )


def value_weights(query: Query, records: Records, law: Law) -> list[int]:
    """The weight of every value of the query; 0 where no dataset of positive probability has it.

    >>> from dalenius.model.laws import Iid
    >>> from dalenius.model.queries import Count
    >>> value_weights(Count(), Records(3, alphabet=2), Iid([0.25, 0.75]))
    [1, 9, 27, 27]
    """
    weights = [0] * query.values(records).size
    if isinstance(query, AdditiveQuery):
        sums, parts = sum_weights(query, record_types(query, records), law)
        index = query.index_of_total(sums, records)
    else:
        index, parts = query.index_of_dataset(records), dataset_weights(records, law)
    for v, weight in zip(index.tolist(), parts, strict=True):
        weights[v] += weight
    return weights


def dataset_weights(records: Records, law: Law) -> list[int]:
    """The weight of every dataset, in lexicographic order; for few datasets.

    >>> from dalenius.model.laws import Iid
    >>> dataset_weights(Records(2, alphabet=2), Iid([0.25, 0.75]))
    [1, 3, 3, 9]
    """
    letters = [(np.array(law.weights(size), dtype=object), times) for size, times in records.runs if size > 1]
    weights = np.ones(1, dtype=object)
    for own, times in letters:
        for _ in range(times):
            weights = np.multiply.outer(weights, own).ravel()
    return weights.tolist()


def _width(query: AdditiveQuery, types: list[RecordType]) -> int:
    """How many sums there are, from the smallest to the largest, one step apart."""
    step = spacing(t.contribution for t in types)
    span = sum(t.times * ((max(t.contribution) - min(t.contribution)) // step) for t in types)
    return query.modulus() or span + 1


def sum_weights(query: AdditiveQuery, types: list[RecordType], law: Law) -> tuple[Integers, list[int]]:
    """The sums of positive probability, ascending, and their weights: coefficients of prod_i sum_a w(a) x^(what a adds)."""
    modulus, width = query.modulus(), _width(query, types)
    step = 1 if modulus else spacing(t.contribution for t in types)
    low = 0 if modulus else sum(t.times * min(t.contribution) for t in types)
    cycle = fmpz_poly([-1, *[0] * (width - 1), 1])
    powers = (_power(_letters(t.contribution, modulus, step, law), t.times, cycle) for t in types)
    product = reduce(lambda a, b: a * b % cycle, powers, fmpz_poly([1]))
    weights = [int(weight) for weight in product.coeffs()]
    places = [j for j, weight in enumerate(weights) if weight]
    return low + step * np.array(places, dtype=np.int64), [weights[j] for j in places]


def _letters(contribution: tuple[int, ...], modulus: int | None, step: int, law: Law) -> fmpz_poly:
    low = 0 if modulus else min(contribution)
    places = [(added - low) // step for added in contribution]
    if modulus:
        places = [place % modulus for place in places]
    coefficients = [0] * (max(places) + 1)
    for place, weight in zip(places, law.weights(len(contribution)), strict=True):
        coefficients[place] += weight
    return fmpz_poly(coefficients)


def _power(base: fmpz_poly, times: int, cycle: fmpz_poly) -> fmpz_poly:
    """base^times modulo x^width - 1, without a detour through powers of higher degree than needed."""
    if base.degree() * times < cycle.degree():
        return base**times
    result = fmpz_poly([1])
    for bit in f"{times:b}":
        result = result * result % cycle
        if bit == "1":
            result = result * base % cycle
    return result
