"""Problem 1: the largest leakage of one record to an adversary who may hold any prior of a set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.exact import brief
from dalenius.problems.adversaries import ADVERSARIES, Adversary, EntropyAtLeast
from dalenius.problems.aggregation import RecordChannel, record_channels
from dalenius.problems.mechanisms import MECHANISMS, Mechanism
from dalenius.problems.queries import QUERIES, Identity, Query
from dalenius.problems.queries.base import Integers
from dalenius.problems.records import Records
from dalenius.problems.selections import Selections, inputs_of_datasets, selections
from dalenius.problems.shelf import check_keys, read_shelved

__all__ = ["MaximalLeakage"]


@dataclass(frozen=True, kw_only=True)
class MaximalLeakage:
    """L(Q) = max over the adversary's priors P and over records i of I(X_i; Y).

    With `EntropyAtLeast` (priors with H(P) >= b) this is L_b(Q), the source paper's Definition 2.1.

    Parameters
    ----------
    records : Records
    query : Query, optional
        May be left out where the mechanism's rows are indexed by dataset.
    mechanism : Mechanism
    adversary : EntropyAtLeast, ProductPriors or PriorSet
    title, source : str, optional
        Free text, carried along.

    Raises
    ------
    InputError
        If the parts do not fit together: letters outside the alphabets, a channel of the wrong size, an entropy bound above
        log |X|, a prior of the wrong length.

    >>> import dalenius as dl
    >>> problem = dl.MaximalLeakage(
    ...     records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(epsilon=1.0), adversary=dl.EntropyAtLeast(1.0))
    >>> problem.channel.round(4).tolist()
    [[0.6967, 0.3033], [0.3033, 0.6967]]
    """

    kind: ClassVar[str] = "maximal_leakage"
    records: Records
    mechanism: Mechanism
    adversary: Adversary
    query: Query = field(default_factory=Identity)
    title: str = field(default="", compare=False)
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for name, kind in (
            ("records", Records),
            ("query", Query),
            ("mechanism", Mechanism),
            ("adversary", Adversary),
            ("title", str),
            ("source", str),
        ):
            if not isinstance(getattr(self, name), kind):
                raise InputError(f"{name}: expected {kind.__name__}, got {brief(getattr(self, name))}")
        for text in (self.title, self.source):
            if not text.isprintable() and any(0xD800 <= ord(c) < 0xE000 for c in text):
                raise InputError("title and source must be text that UTF-8 can write")
        self.adversary.check(self.records)
        self.query.check(self.records)
        _ = self.channel

    @property
    def entropy_bound(self) -> float:
        """b in nats; `InputError` where the adversary is another than `EntropyAtLeast`."""
        return self._entropy.nats(self.records)

    @property
    def _entropy(self) -> EntropyAtLeast:
        if not isinstance(self.adversary, EntropyAtLeast):
            raise InputError(f"adversary: {self.adversary.kind} has no entropy bound; give entropy_at_least")
        return self.adversary

    @cached_property
    def channel(self) -> NDArray[np.float64]:
        """The mechanism's matrix, (inputs, outputs), row-stochastic."""
        by_dataset = self.mechanism.indexed_by() == "dataset"
        if by_dataset:
            values = np.arange(self.records.enumerable("mechanism: a channel from datasets"))
        else:
            values = self.query.values(self.records)
        try:
            matrix = np.asarray(self.mechanism.channel(values), dtype=float)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"mechanism: the channel is no matrix of numbers: {error}") from None
        if matrix.ndim != 2 or matrix.shape[0] != values.size or matrix.shape[1] < 1:
            raise InputError(f"mechanism: expected a matrix of {values.size} rows, got shape {matrix.shape}")
        if not (np.all(np.isfinite(matrix)) and np.all(matrix >= 0) and np.all(abs(matrix.sum(axis=1) - 1) <= 1e-9)):
            raise InputError("mechanism: every row of the channel must be nonnegative and sum to 1")
        matrix = matrix / matrix.sum(axis=1, keepdims=True)
        matrix.flags.writeable = False
        return matrix

    def record_channels(self) -> list[RecordChannel]:
        """The problem with an entropy bound in its smallest form, one record channel for each kind of record."""
        return record_channels(
            self.query,
            self.records,
            self.channel,
            inputs=self.mechanism.indexed_by(),
            deficit=self._entropy.deficit(self.records),
        )

    def selections(self) -> list[Selections]:
        """The channel inputs that the letters of a record select, for each kind of record (docs/theory.md, independent records)."""
        return selections(self._query_of_inputs, self.records)

    def inputs_of_datasets(self) -> Integers:
        """The channel input of every dataset, in lexicographic order."""
        return inputs_of_datasets(self._query_of_inputs, self.records)

    @property
    def _query_of_inputs(self) -> Query:
        return Identity() if self.mechanism.indexed_by() == "dataset" else self.query

    @classmethod
    def from_model(cls, model: Mapping[str, Any]) -> MaximalLeakage:
        """Build from the tables of a model file (docs/model-format.md)."""
        check_keys(model, ("problem", "title", "source", "records", "query", "mechanism", "adversary"), "model")
        for table in ("records", "mechanism", "adversary"):
            if not isinstance(model.get(table), Mapping):
                raise InputError(f"model: expected a table [{table}]")
        mechanism = read_shelved(MECHANISMS, model["mechanism"], "[mechanism]")
        if "query" not in model and mechanism.indexed_by() != "dataset":
            raise InputError(
                'model: expected a table [query]; it may be left out only with mechanism inputs = "dataset"'
            )
        return cls(
            records=_records(model["records"]),
            query=read_shelved(QUERIES, model["query"], "[query]") if "query" in model else Identity(),
            mechanism=mechanism,
            adversary=_adversary(model["adversary"]),
            title=model.get("title", ""),
            source=model.get("source", ""),
        )

    def to_model(self) -> dict[str, Any]:
        """The tables of a model file, with every default filled in."""
        runs = self.records.runs
        records: dict[str, Any] = (
            {"count": runs[0][1], "alphabet": runs[0][0]} if len(runs) == 1 else {"alphabets": self.records.alphabets}
        )
        texts = {key: getattr(self, key) for key in ("title", "source") if getattr(self, key)}
        return {
            "problem": self.kind,
            **texts,
            "records": records,
            "query": {"kind": self.query.kind, **self.query.to_table()},
            "mechanism": {"kind": self.mechanism.kind, **self.mechanism.to_table()},
            "adversary": self.adversary.to_model(),
        }


def _records(table: Mapping[str, Any]) -> Records:
    check_keys(table, ("count", "alphabet", "alphabets"), "[records]")
    if "alphabets" in table and not (isinstance(table["alphabets"], list | tuple) and table["alphabets"]):
        raise InputError("[records]: alphabets must be a non-empty list of integers")
    if "alphabets" in table and "count" in table:
        raise InputError("[records]: give either count and alphabet, or alphabets (one size a record)")
    return Records(table.get("count"), alphabet=table.get("alphabet"), alphabets=table.get("alphabets", ()))


def _adversary(table: Mapping[str, Any]) -> Adversary:
    if "kind" in table and EntropyAtLeast.kind in table:
        raise InputError(f"[adversary]: give either {EntropyAtLeast.kind} or a kind, not both")
    if "kind" in table:
        return read_shelved(ADVERSARIES, table, "[adversary]")
    check_keys(table, (EntropyAtLeast.kind, "kind"), "[adversary]")
    if EntropyAtLeast.kind not in table:
        raise InputError(
            f'[adversary]: missing {EntropyAtLeast.kind}, a number of nats or a text such as "2 bits", "0.8 max"; or a kind '
            f"of {', '.join(ADVERSARIES)}"
        )
    return EntropyAtLeast(table[EntropyAtLeast.kind])
