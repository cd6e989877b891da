"""The shelf of queries: one small file each; `QUERIES` maps the model file's `kind` to the class."""

from dalenius.problems.queries.base import AdditiveQuery, Query, TableQuery
from dalenius.problems.queries.count import Count
from dalenius.problems.queries.identity import Identity
from dalenius.problems.queries.modular_sum import ModularSum
from dalenius.problems.queries.parity import Parity
from dalenius.problems.queries.sum import Sum
from dalenius.problems.queries.table import Table
from dalenius.problems.queries.threshold import Threshold

__all__ = [
    "QUERIES",
    "AdditiveQuery",
    "Count",
    "Identity",
    "ModularSum",
    "Parity",
    "Query",
    "Sum",
    "Table",
    "TableQuery",
    "Threshold",
]

QUERIES: dict[str, type[Query]] = {
    query.kind: query for query in (Parity, ModularSum, Count, Sum, Threshold, Table, Identity)
}
