"""Which questions about a Markov chain are known, and what of them an audit needs: rows by the number of ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dalenius.errors import InputError
from dalenius.information.arrays import Integers
from dalenius.model.adversaries.base import Adversary
from dalenius.model.adversaries.chains import FiniteChain, MarkovChain
from dalenius.model.mechanisms import MECHANISMS, Mechanism
from dalenius.model.queries import Count, ModularSum, Parity, Query, Sum, Threshold
from dalenius.model.queries.base import AdditiveQuery
from dalenius.model.records import Records

WRITTEN_OUT = 1000  # records; of more of them no channel is made
FINITE = "count, sum without weights, parity, modular_sum or threshold"
KNOWN = "count of letter 1, sum without weights, parity, modular_sum or threshold"


def need_chain(query: Query, records: Records, mechanism: Mechanism, adversary: MarkovChain) -> None:
    """Raise `InputError` where it is not known how a chain's records meet such a query and mechanism.

    >>> from dalenius.model.mechanisms import Symmetric
    >>> need_chain(Parity(), Records(2000, alphabet=2), Symmetric(0.1), MarkovChain(0.1, 0.1))
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: adversary: a markov_chain of more than 1000 records is known with count or sum and geometric or \
discrete_laplace noise; got parity with symmetric
    """
    if not _counts_ones(query):
        raise InputError(f"adversary: a markov_chain is known with {KNOWN}; got {query.kind}")
    _need_rows(mechanism, adversary)
    if len(records) <= WRITTEN_OUT:
        return
    if two_sided(query, mechanism) is None:
        raise InputError(
            f"adversary: a markov_chain of more than {WRITTEN_OUT} records is known with count or sum and geometric or "
            f"discrete_laplace noise; got {query.kind} with {mechanism.kind}"
        )
    low, high = mechanism.span(np.array([0, len(records)]))
    if low > 0 or high < len(records):
        raise InputError(f"mechanism: range must contain 0 to {len(records)}, got {[low, high]}")
    if adversary.record is None:
        raise InputError(
            f"adversary: of a markov_chain of more than {WRITTEN_OUT} records give the record that is asked about, such as "
            f"record = {len(records) // 2}"
        )


def need_finite_chain(query: Query, records: Records, mechanism: Mechanism, adversary: FiniteChain) -> None:
    """The same of a chain of several letters.

    >>> from dalenius.model.mechanisms import Symmetric
    >>> fair = FiniteChain([["1/3"] * 3] * 3)
    >>> need_finite_chain(Sum(weights=(1, 2, 4)), Records(2, alphabet=3), Symmetric(0.1), fair)
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: adversary: a finite_chain is known with count, sum without weights, parity, modular_sum or threshold; \
got sum
    """
    if not isinstance(query, Count | Parity | ModularSum | Threshold) and not _plain_sum(query):
        raise InputError(f"adversary: a finite_chain is known with {FINITE}; got {query.kind}")
    _need_rows(mechanism, adversary)
    if len(records) > WRITTEN_OUT:
        raise InputError(f"adversary: a finite_chain is known for at most {WRITTEN_OUT} records, got {len(records)}")


def _need_rows(mechanism: Mechanism, adversary: Adversary) -> None:
    shipped = type(mechanism) is MECHANISMS.get(mechanism.kind) and not mechanism.on_a_line
    if not shipped or mechanism.indexed_by() != "query":
        raise InputError(
            f"adversary: a {adversary.kind} is known with the library's mechanisms that have a row for each of the query's values; "
            f"got {mechanism.kind}"
        )


def two_sided(query: Query, mechanism: Mechanism) -> Fraction | None:
    """Epsilon of the two-sided geometric noise that is added to the number of ones; None where it is another release."""
    return mechanism.two_sided if isinstance(query, Count | Sum) else None


def inputs_by_ones(query: Query, records: Records) -> Integers:
    """Which of the query's values 0, 1, ..., n ones have.

    >>> inputs_by_ones(Parity(), Records(3, alphabet=2)).tolist()
    [0, 1, 0, 1]
    """
    return inputs_by_total(query, records, np.arange(len(records) + 1))


def inputs_by_total(query: Query, records: Records, totals: Integers) -> Integers:
    """Which of the query's values these totals of what the letters add have.

    >>> inputs_by_total(Parity(), Records(3, alphabet=2), np.array([0, 3])).tolist()
    [0, 1]
    """
    assert isinstance(query, AdditiveQuery)
    return query.index_of_total(totals, records)


def what_letters_add(query: Query, letters: int) -> tuple[int, ...]:
    """What each letter of a record adds to the total, for a query that treats all records alike.

    >>> what_letters_add(Count(letters=[2]), 3), what_letters_add(Threshold(4), 3)
    ((0, 0, 1), (0, 1, 2))
    """
    assert isinstance(query, AdditiveQuery)
    return query.contribution(0, letters)


def _counts_ones(query: Query) -> bool:
    if isinstance(query, Count):
        return query.letters == (1,)
    return isinstance(query, Parity | ModularSum | Threshold) or _plain_sum(query)


def _plain_sum(query: Query) -> bool:
    return isinstance(query, Sum) and query.weights is None
