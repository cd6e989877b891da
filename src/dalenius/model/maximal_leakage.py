"""Problem 1: the largest leakage of one record to an adversary who may hold any prior of a set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.exact import brief
from dalenius.information.arrays import Integers
from dalenius.model.adversaries import Adversary, IndependentBlocks, LawClass, MarkovChain, ProductPriors
from dalenius.model.chains import WRITTEN_OUT, need_chain
from dalenius.model.mechanisms import MECHANISMS, LocalProtocol, Mechanism
from dalenius.model.pieces import Piece, pieces
from dalenius.model.problem import Problem
from dalenius.model.queries import Identity, Query
from dalenius.model.shelf import check_keys, read_shelved
from dalenius.model.sums import attained_values

__all__ = ["MaximalLeakage", "audited"]


@dataclass(frozen=True, kw_only=True)
class MaximalLeakage(Problem):
    """L(Q) = max over the adversary's priors P and over records i of I(X_i; Y).

    With `EntropyAtLeast` (priors with H(P) >= b) this is L_b(Q), the source paper's Definition 2.1.

    Parameters
    ----------
    records : Records
    query : Query, optional
        May be left out where the mechanism's rows are indexed by dataset.
    mechanism : Mechanism
    adversary : EntropyAtLeast, ProductPriors, IndependentBlocks, MarkovChain, PriorSet or a class of laws (KLBallPriors, ...)
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
    parts: ClassVar[dict[str, type]] = {**Problem.parts, "mechanism": Mechanism}
    mechanism: Mechanism
    adversary: Adversary
    query: Query = field(default_factory=Identity)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.in_blocks:
            _ = self.pieces
        elif isinstance(self.adversary, MarkovChain):
            need_chain(self.query, self.records, self.mechanism, self.adversary)
            if self.is_written_out:
                self.query.check_values(self.records)
                _ = self.channel
        elif not self.in_closed_form or self._protocol.written_out(self._indices.size):
            _ = self.channel

    @property
    def inputs(self) -> str:
        return self.mechanism.indexed_by()

    @property
    def in_closed_form(self) -> bool:
        """Whether it is a local protocol against laws of one record, which needs no channel that is written out."""
        return isinstance(self.mechanism, LocalProtocol) and isinstance(self.adversary, LawClass | ProductPriors)

    @property
    def is_written_out(self) -> bool:
        """Whether an audit works with the whole channel: not of blocks, nor of a closed form or a long Markov chain."""
        return not (self.in_blocks or self.in_closed_form or (self.in_a_chain and len(self.records) > WRITTEN_OUT))

    @property
    def _protocol(self) -> LocalProtocol:
        assert isinstance(self.mechanism, LocalProtocol)
        return self.mechanism

    @cached_property
    def pieces(self) -> tuple[tuple[Piece, MaximalLeakage], ...]:
        """Against `IndependentBlocks`: the audits of one block each whose largest leakage is the answer. Else there are none.

        >>> import dalenius as dl
        >>> ((piece, problem),) = dl.MaximalLeakage(records=dl.Records(1_000_000, alphabet=2), query=dl.Count(),
        ...     mechanism=dl.geometric(0.5), adversary=dl.IndependentBlocks(4)).pieces
        >>> piece.times, problem.records, problem.adversary == dl.AnyPrior()
        (250000, Records(count=4, alphabets=(2, 2, 2, 2)), True)
        """
        adversary = self.adversary
        if not isinstance(adversary, IndependentBlocks):
            return ()
        return tuple(
            (
                piece,
                MaximalLeakage(
                    records=piece.records, query=piece.query, mechanism=piece.mechanism, adversary=adversary.own
                ),
            )
            for piece in pieces(self.query, self.records, self.mechanism, adversary)
        )

    @property
    def held_bytes(self) -> int:
        """What the channels that an audit works with take."""
        if self.in_blocks:
            return max((problem.held_bytes for _, problem in self.pieces), default=0)
        return self.channel.nbytes if self.is_written_out else 0

    @cached_property
    def shape(self) -> tuple[int, int]:
        """The inputs and outputs of the mechanism, of which a closed form may have more than any array; against blocks the largest."""
        if self.in_blocks:
            return max((problem.shape for _, problem in self.pieces), default=(1, 1))
        if self.in_closed_form:
            return self._indices.size, self._protocol.outputs(self._indices.size)
        if not self.is_written_out:
            return len(self.records) + 1, len(self.records) + 1
        return self.channel.shape[0], self.channel.shape[1]

    @property
    def _indices(self) -> Integers:
        """What the mechanism's rows are indexed by."""
        if self.inputs == "dataset":
            return np.arange(self.records.enumerable("mechanism: a channel from datasets"))
        return self.query.values(self.records)

    @cached_property
    def channel(self) -> NDArray[np.float64]:
        """The mechanism's matrix, (inputs, outputs), row-stochastic."""
        values = self._indices
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
        fresh = type(self.mechanism) is MECHANISMS.get(
            self.mechanism.kind
        )  # a class of one's own may hand out what it keeps
        matrix = np.divide(matrix, matrix.sum(axis=1, keepdims=True), out=matrix if fresh else None)
        matrix.flags.writeable = False
        return matrix

    @cached_property
    def constant_row(self) -> tuple[Fraction, ...] | None:
        """The one row of all datasets, which tells nothing, exactly; None if there are several, or their kind does not know them.

        >>> import dalenius as dl
        >>> MaximalLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(), mechanism=dl.symmetric("1/2"),
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
        >>> MaximalLeakage(records=dl.Records(2, alphabet=2), query=dl.Count(), mechanism=dl.geometric(1),
        ...     adversary=dl.AnyPrior()).alike.tolist()
        [[1, 2, 5], [3, 0, 3], [5, 2, 1]]
        """
        if self.mechanism.kind in MECHANISMS:
            return self.mechanism.exact_entries(self._indices).index
        return np.unique(self.channel, return_inverse=True)[1].reshape(self.channel.shape)

    @classmethod
    def model_keys(cls, model: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return ("records", "mechanism", "adversary"), ("title", "source", "query")

    @classmethod
    def from_model(cls, model: Mapping[str, Any], folder: str | Path = "") -> MaximalLeakage:
        """Build from the tables of a model file (docs/model-format.md)."""
        needed, optional = cls.model_keys(model)
        check_keys(model, ("problem", *optional, *needed), "model")
        cls.need_tables(model, *needed)
        mechanism = read_shelved(MECHANISMS, model["mechanism"], "[mechanism]")
        if "query" not in model and mechanism.indexed_by() != "dataset":
            raise InputError(
                'model: expected a table [query]; it may be left out only with mechanism inputs = "dataset"'
            )
        return cls(mechanism=mechanism, **cls.common_parts(model))

    def tables(self) -> dict[str, Any]:
        return {"mechanism": {"kind": self.mechanism.kind, **self.mechanism.to_table()}}

    def normal_tables(self) -> dict[str, Any]:
        """Of a mechanism of an unknown kind no defaults are known: a key left out is not there."""
        table = {"kind": self.mechanism.kind, **self.mechanism.normal_table()}
        known = self.mechanism.kind in MECHANISMS
        return {"mechanism": {key: value for key, value in table.items() if known or value is not None}}


def audited(problem: object) -> MaximalLeakage:
    """The problem, where it is one that an audit answers; a clear `InputError` elsewhere.

    >>> audited("parity")
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: problem: expected a MaximalLeakage, got 'parity'
    """
    if isinstance(problem, MaximalLeakage):
        return problem
    if isinstance(problem, Problem):
        raise InputError(
            f"problem: {problem.kind} asks which mechanism to build, and this needs a mechanism to audit: expected a "
            "maximal_leakage model; `problem.release(rows)` makes one of a mechanism's rows"
        )
    raise InputError(f"problem: expected a MaximalLeakage, got {brief(problem)}")
