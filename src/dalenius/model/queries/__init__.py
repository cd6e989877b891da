"""The shelf of queries: one small file each; `QUERIES` maps the model file's `kind` to the class."""

from dalenius.model.queries.base import AdditiveQuery, Query, TableQuery
from dalenius.model.queries.count import Count
from dalenius.model.queries.histogram import Histogram
from dalenius.model.queries.identity import Identity
from dalenius.model.queries.joint import Joint
from dalenius.model.queries.modular_sum import ModularSum
from dalenius.model.queries.parity import Parity
from dalenius.model.queries.sum import Sum
from dalenius.model.queries.table import Table
from dalenius.model.queries.threshold import Threshold

__all__ = [
    "QUERIES",
    "AdditiveQuery",
    "Count",
    "Histogram",
    "Identity",
    "Joint",
    "ModularSum",
    "Parity",
    "Query",
    "Sum",
    "Table",
    "TableQuery",
    "Threshold",
]

QUERIES: dict[str, type[Query]] = {
    query.kind: query for query in (Parity, ModularSum, Count, Sum, Histogram, Joint, Threshold, Table, Identity)
}
