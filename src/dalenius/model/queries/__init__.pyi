from dalenius.model.queries.additive import Count as Count
from dalenius.model.queries.additive import ModularSum as ModularSum
from dalenius.model.queries.additive import Parity as Parity
from dalenius.model.queries.additive import Sum as Sum
from dalenius.model.queries.additive import Threshold as Threshold
from dalenius.model.queries.base import AdditiveQuery as AdditiveQuery
from dalenius.model.queries.base import Identity as Identity
from dalenius.model.queries.base import Query as Query
from dalenius.model.queries.base import Table as Table
from dalenius.model.queries.base import TableQuery as TableQuery
from dalenius.model.queries.histogram import Histogram as Histogram
from dalenius.model.queries.joint import Joint as Joint
from dalenius.model.queries.margins import Margins as Margins

QUERIES: dict[str, type[Query]]
