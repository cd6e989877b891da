"""Base of problems about a mechanism that is there: its matrix, its tables, and releases of several queries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from dalenius.errors import InputError, brief
from dalenius.exact import as_list
from dalenius.information.arrays import Floats, Integers
from dalenius.model.adversaries import Adversary, EntropyAtLeast
from dalenius.model.costs import STEP, TERM, Cost, reading
from dalenius.model.fields import Given, declared
from dalenius.model.in_words import stated
from dalenius.model.mechanisms import Mechanism, SeveralReleases, Vectors
from dalenius.model.problem import Problem
from dalenius.model.problems.large import NoisyTables, WideCount
from dalenius.model.problems.pieces import Piece
from dalenius.model.queries import AdditiveQuery, Identity, Joint, Query
from dalenius.model.records import Records
from dalenius.model.sums import attained_values

M = TypeVar("M", bound=Mechanism)


def of_vectors(query: Query, records: Records, mechanism: Mechanism) -> Mechanism:
    """The mechanism, told which vectors of values its inputs are.

    Raises
    ------
    InputError
        If it is one of the values of a single query.
    """
    if mechanism.of_queries:
        lists = tuple(part.values(records) for part in query.together)
        return mechanism.on_vectors(Vectors(lists, query.vectors(records)))
    if mechanism.is_own or (mechanism.by_number and mechanism.indexed_by() == "query"):
        return mechanism
    raise InputError(
        "mechanism: a joint query needs several_releases or adaptive, whose parts are on its queries, or a matrix from its vectors of "
        f"values; got {mechanism.kind} from {'values' if mechanism.indexed_by() == 'query' else 'datasets'}"
    )


def together(listed: Sequence[tuple[Query, Mechanism]]) -> tuple[Query, SeveralReleases]:
    """The query and the mechanism of independent releases of several queries of one dataset, looked at together.

    Parameters
    ----------
    listed : sequence of (Query, Mechanism)
        What is released, each with its noise. A query that comes several times is one query with several releases.

    Returns
    -------
    query, mechanism
        For `WorstCaseLeakage`: a `Joint` query and `several_releases`, of which each part is on its own query.

    Raises
    ------
    InputError
        If nothing is listed, or a query or a mechanism cannot be released together with others.

    >>> import dalenius as dl
    >>> twice = [(dl.Count(), dl.geometric(1))] * 2
    >>> query, mechanism = together([*twice, (dl.Sum([0, 2]), dl.geometric(0.5))])
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
    if query.sums is None:
        raise InputError(f"query: only sums are released together, such as a count; got {query.kind}")
    return query.sums


@dataclass(frozen=True, eq=False)
class Route:
    """The data that an audit works with, and its kind.

    Attributes
    ----------
    audit : str
        The adversary's, or the name of what stands in a channel's place.
    mechanism : Mechanism
        The one whose matrix is worked with; of discrete Gaussian noise that nothing cuts off the same, clamped far beyond the
        query's values.
    slack : float
        Nats that the leakage may be above that of `mechanism`; 0 where that is the question's own.
    whole : bool
        Whether the whole channel is worked with: not of blocks, cells, a closed form, a long Markov chain or a wide count.
    shape : (inputs, outputs), or None
        Of the mechanism where it is not that of the whole channel: of a closed form more than any array may have, against blocks the
        largest, of tables that of one cell, as far as the largest block has a say in its count, of real noise its nodes.
    held : int
        Bytes of what is held in the whole channel's place.
    rows : (inputs, nodes), or None
        Of noise on the real line a channel with its divergences, up to rounding.
    pieces
        Of a question that audits of single blocks answer, these; else None.
    tables, wide
        What is known of tables behind noise on every cell, or of a count of very many people.

    >>> import dalenius as dl
    >>> 0 < dl.WorstCaseLeakage(records=dl.Records(9, alphabet=2), query=dl.Count(), mechanism=dl.discrete_gaussian(scale=2),
    ...     adversary=dl.EntropyAtLeast("6 bits")).route.slack < 1e-21
    True
    """

    audit: str
    mechanism: Mechanism
    _: KW_ONLY
    slack: float = 0.0
    whole: bool = False
    shape: tuple[int, ...] | None = None
    held: int = 0
    rows: Floats | None = None
    pieces: tuple[tuple[Piece, Any], ...] | None = None
    tables: NoisyTables | None = None
    wide: WideCount | None = None

    @classmethod
    def on_a_line(cls, audit: str, mechanism: Mechanism, rows: Floats) -> Route:
        """Of noise on the real line, with its quadrature."""
        rows.flags.writeable = False
        return cls(audit, mechanism, shape=rows.shape, held=rows.nbytes, rows=rows)


@declared(kw_only=True)
class MechanismProblem(Problem):
    """A question about what a given mechanism reveals: `WorstCaseLeakage` or `SecretLeakage`."""

    task: ClassVar[str] = "audit"
    in_files: ClassVar[tuple[str, ...]] = ("records", "query", "mechanism", "adversary")
    mechanism: Given[Mechanism, Mechanism] = Given(stated(Mechanism), tables=Mechanism.of_kind)
    adversary: Given[Adversary, Adversary] = Given(stated(Adversary), tables=Adversary.of_kind)
    query: Given[Query, Query] = Given(stated(Query), default=Identity(), tables=Query.of_kind)
    route: Route = field(init=False, compare=False, repr=False)

    @property
    def inputs(self) -> str:
        return self.mechanism.indexed_by()

    @property
    def _indices(self) -> Integers:
        """Index of the mechanism's rows."""
        if self.inputs == "dataset":
            return np.arange(self.records.enumerable("mechanism: a channel from datasets"))
        return self.query.values(self.records)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """The inputs and outputs of the mechanism; where no whole channel is worked with, of what is in its place."""
        inputs, outputs = self.route.shape or self.channel.shape
        return inputs, outputs

    @property
    def own_matrix(self) -> Floats | None:
        return self.channel if self.mechanism.is_own else None

    @abstractmethod
    def spans(self, *, known: bool) -> list[int]:
        """From the least to the greatest value of each query that there is noise on: at all, or where what is known is known."""

    @property
    def held_bytes(self) -> int:
        return self.channel.nbytes if self.route.whole else self.route.held

    def _reading(self, shape: tuple[int, int]) -> Cost:
        """Cost of reading the model, its channel being of this shape, and our own matrix of it."""
        mechanism, entries = self.mechanism, shape[0] * shape[1]
        more = TERM.times(mechanism.terms(shape[1])) + STEP.times(mechanism.steps(self.records))
        written = mechanism.written(lambda: self.channel)
        return reading(self.query, self.records, self.adversary, shape, written, Cost(0.0, 8.0 * entries) + more)

    @property
    def searched(self) -> bool:
        return self.route.audit == EntropyAtLeast.kind

    @cached_property
    def channel(self) -> NDArray[np.float64]:
        """The matrix of the route's mechanism, (inputs, outputs), row-stochastic."""
        values = self._indices
        try:
            matrix = np.asarray(self.route.mechanism.channel(values), dtype=float)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"mechanism: the channel is no matrix of numbers: {error}") from None
        if matrix.ndim != 2 or matrix.shape[0] != values.size or matrix.shape[1] < 1:
            raise InputError(f"mechanism: expected a matrix of {values.size} rows, got shape {matrix.shape}")
        if not (np.all(np.isfinite(matrix)) and np.all(matrix >= 0) and np.all(abs(matrix.sum(axis=1) - 1) <= 1e-9)):
            raise InputError("mechanism: every row of the channel must be nonnegative and sum to 1")
        kept = None if not self.mechanism.is_shipped else matrix  # a class of one's own may hand out what it keeps
        matrix = np.divide(matrix, matrix.sum(axis=1, keepdims=True), out=kept)
        matrix.flags.writeable = False
        return matrix

    @property
    def rows(self) -> Floats:
        """The channel, or what a quadrature has in its place: the same informations, up to rounding."""
        return self.channel if self.route.rows is None else self.route.rows

    @property
    def exact_channel(self) -> NDArray[Any]:
        """The same in exact numbers, or in balls of the precision that is set, dtype object."""
        return self.route.mechanism.exact_channel(self._indices)

    @cached_property
    def constant_row(self) -> tuple[Fraction, ...] | None:
        """The one row of all datasets, which reveals nothing, exactly; None if there are several, or their kind does not know them.

        >>> import dalenius as dl
        >>> dl.WorstCaseLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(), mechanism=dl.symmetric("1/2"),
        ...     adversary=dl.AnyPrior()).constant_row
        (Fraction(1, 2), Fraction(1, 2))
        """
        inputs, outputs = np.arange(len(self.channel)), self.channel.shape[1]
        if self.inputs == "query" and (self.channel != self.channel[0]).any():
            inputs = attained_values(self.query, self.records)
        if (self.channel[inputs] != self.channel[inputs[0]]).any():
            return None
        return self.mechanism.constant_row(inputs, outputs)

    @cached_property
    def alike(self) -> Integers:
        """Numbers (inputs, outputs), equal only where two entries of the channel are one number, exactly.

        Of a mechanism of a kind of one's own, what is proved is about the matrix of its doubles, each row divided by its exact sum:
        where one row is the other in another order, equal doubles are equal entries.

        >>> import dalenius as dl
        >>> dl.WorstCaseLeakage(records=dl.Records(2, alphabet=2), query=dl.Count(), mechanism=dl.geometric(1),
        ...     adversary=dl.AnyPrior()).alike.tolist()
        [[1, 2, 5], [3, 0, 3], [5, 2, 1]]
        """
        if not self.mechanism.is_own:
            return self.route.mechanism.exact_entries(self._indices).index
        return np.unique(self.channel, return_inverse=True)[1].reshape(self.channel.shape)

    @cached_property
    def equal_rows(self) -> list[int]:
        """For each input the first one that is known to have the same row: of rationals the same numbers, else the same input."""
        entries = self.route.mechanism.exact_entries(self._indices)
        if not all(isinstance(x, fmpq) for x in entries.numbers):
            return list(range(len(entries.index)))
        first: dict[bytes, int] = {}
        return [first.setdefault(row.tobytes(), k) for k, row in enumerate(entries.index)]

    @classmethod
    def _model_keys(cls, model: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return ("records", "mechanism", "adversary"), ("title", "source", "query")

    @classmethod
    def _read(cls, model: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
        read = super()._read(model, keys)
        if "query" not in model and "mechanism" in read and read["mechanism"].indexed_by() != "dataset":
            raise InputError(
                'model: expected a table [query]; it may be left out only with mechanism inputs = "dataset"'
            )
        return read
