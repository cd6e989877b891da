"""The shelf of queries; `QUERIES` maps the model file's `kind` to the class."""

from cvxcertify.faces import lazily
from dalenius.model.queries.additive import Count, ModularSum, Parity, Sum, Threshold
from dalenius.model.queries.base import Identity, Query, Table
from dalenius.model.queries.histogram import Histogram
from dalenius.model.queries.joint import Joint
from dalenius.model.queries.margins import Margins

__getattr__, __dir__ = lazily(__name__, __file__)
QUERIES = Query.shelf
QUERIES.update(
    (query.kind, query)
    for query in (Parity, ModularSum, Count, Sum, Histogram, Margins, Joint, Threshold, Table, Identity)
)
