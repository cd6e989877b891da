"""Releases of several queries of one dataset: which query each mechanism is on, and what its values are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from dalenius.errors import InputError, brief
from dalenius.exact import as_list
from dalenius.model.mechanisms import (
    MECHANISMS,
    Channel,
    Mechanism,
    OfQueries,
    RandomizedResponse,
    SeveralReleases,
    Symmetric,
    Vectors,
)
from dalenius.model.queries import AdditiveQuery, Joint, Query
from dalenius.model.records import Records

__all__ = ["of_vectors", "releases"]

BY_NUMBER = (Channel, Symmetric, RandomizedResponse)
M = TypeVar("M", bound=Mechanism)


def of_vectors(query: Joint, records: Records, mechanism: Mechanism) -> Mechanism:
    """The mechanism, told which vectors of values its inputs are.

    Raises
    ------
    InputError
        If it is one of the values of a single query.
    """
    if isinstance(mechanism, OfQueries):
        lists = tuple(part.values(records) for part in query.queries)
        return mechanism.on_vectors(Vectors(lists, query.vectors(records)))
    if isinstance(mechanism, BY_NUMBER) or mechanism.kind not in MECHANISMS:
        return mechanism
    raise InputError(
        "mechanism: a joint query needs several_releases or adaptive, whose parts are on its queries, or a matrix; got "
        f"{mechanism.kind}"
    )


def releases(listed: Sequence[tuple[Query, Mechanism]]) -> tuple[Query, SeveralReleases]:
    """The query and the mechanism of independent releases of several queries of one dataset, looked at together.

    Parameters
    ----------
    listed : sequence of (Query, Mechanism)
        What is released, each with its noise. A query that comes several times is one query with several releases.

    Returns
    -------
    query, mechanism
        For `MaximalLeakage`: a `Joint` query and `several_releases`, of which each part is on its own query.

    Raises
    ------
    InputError
        If nothing is listed, or a query or a mechanism cannot be released together with others.

    >>> import dalenius as dl
    >>> twice = [(dl.Count(), dl.geometric(1))] * 2
    >>> query, mechanism = releases([*twice, (dl.Sum([0, 2]), dl.geometric(0.5))])
    >>> query, [(part.times, part.on) for part in mechanism.parts]
    (Joint(queries=(Count(letters=(1,)), Sum(weights=(0, 2)))), [(2, 0), (1, 1)])
    """
    pairs = [as_list(pair, f"releases[{j}]") for j, pair in enumerate(as_list(listed, "releases"))]
    if not all(len(pair) == 2 and isinstance(pair[0], Query) for pair in pairs):
        raise InputError(f"releases: expected pairs (query, mechanism), got {brief(listed)}")
    queries = list(dict.fromkeys(query for query, _ in pairs))
    mechanism = SeveralReleases(*(each for _, each in pairs), on=[queries.index(query) for query, _ in pairs])
    if len(queries) == 1:
        return queries[0], mechanism
    return Joint(*(_additive(query) for query in queries)), mechanism


def _additive(query: Query) -> AdditiveQuery:
    if not isinstance(query, AdditiveQuery):
        raise InputError(f"query: only sums are released together, such as a count; got {query.kind}")
    return query
