"""The shelf of queries; `QUERIES` maps the model file's `kind` to the class."""

from dalenius.model.queries.additive import Count, ModularSum, Parity, Sum, Threshold
from dalenius.model.queries.base import AdditiveQuery, Identity, Query, Table, TableQuery
from dalenius.model.queries.histogram import Histogram
from dalenius.model.queries.joint import Joint

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

QUERIES = Query.shelf
QUERIES.update(
    (query.kind, query) for query in (Parity, ModularSum, Count, Sum, Histogram, Joint, Threshold, Table, Identity)
)
