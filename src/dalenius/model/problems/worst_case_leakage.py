"""Problem 1: the largest leakage of one record to an adversary who may hold any prior of a set."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.model.adversaries import EntropyAtLeast, IndependentBlocks
from dalenius.model.adversaries.chains import WRITTEN_OUT
from dalenius.model.adversaries.independent_blocks import as_blocks
from dalenius.model.costs import (
    ARRAYS,
    BALL,
    CLOSED_FORM,
    ENTRY,
    MOVE,
    NUMBER,
    POINTER,
    PRODUCT,
    RECORD,
    SHIFTED,
    Cost,
    Costs,
    audit_costs,
)
from dalenius.model.fields import declared, keep
from dalenius.model.mechanisms import Mechanism
from dalenius.model.problem import Problem
from dalenius.model.problems.large import NoisyTables, WideCount
from dalenius.model.problems.mechanism_problem import MechanismProblem, Route, of_vectors
from dalenius.model.problems.pieces import Piece, pieces
from dalenius.model.queries import Query
from dalenius.model.sums import record_types

FEW_VALUES, MANY_OUTPUTS = 64, 2**17  # of a block's sum: channels that are written out, and that nobody evaluates


@declared(kw_only=True)
class WorstCaseLeakage(MechanismProblem):
    """L(Q) = max over the adversary's priors P and over records i of I(X_i; Y).

    With `EntropyAtLeast` (priors with H(P) >= b) this is L_b(Q), the source paper's Definition 2.1, which calls it maximal leakage:
    `MaximalLeakage` is the same class. The measure called maximal leakage (Issa, Wagner and Kamath), log sum_y max_x Q(x,y), is
    another: `measure` has it. Of a bit that flips with probability 0.1 they are 0.531 and 0.848 bits.

    Parameters
    ----------
    records : Records
    query : Query, optional
        May be left out where the mechanism's rows are indexed by dataset.
    mechanism : Mechanism
    adversary : EntropyAtLeast, ProductPriors, IndependentBlocks, MarkovChain, FiniteChain, PriorSet or a class of laws
    title, source : str, optional
        Free text, carried along.

    Raises
    ------
    InputError
        If the parts do not fit together: letters outside the alphabets, a channel of the wrong size, an entropy bound above
        log |X|, a prior of the wrong length.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(
    ...     records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(epsilon=1.0), adversary=dl.EntropyAtLeast("1.0 nats"))
    >>> problem.channel.round(4).tolist()
    [[0.6967, 0.3033], [0.3033, 0.6967]]
    """

    kind: ClassVar[str] = "maximal_leakage"
    in_models: ClassVar[str] = "worst_case_leakage"
    _joint_too: ClassVar[bool] = True

    def _resolve(self) -> None:
        keep(self, route=self._route())
        if self.route.whole:
            _ = self.channel

    def _route(self) -> Route:
        query, records, adversary = self.query, self.records, self.adversary
        if query.sums and query.sums.by_cell:
            if query.sums.in_tables or not self.mechanism.by_letter:
                found = NoisyTables.of(query.sums, records, self.mechanism, adversary)
                shape = max((cells.steps.shape for cells in found.kinds), key=math.prod)
                return Route("histogram", self.mechanism, shape=shape, held=8 * found.entries, tables=found)
            keep(self, mechanism=self.mechanism.of_records(records))
        wide = WideCount.of(query, records, self.mechanism, adversary)
        blocks = as_blocks(adversary) if wide or adversary.in_blocks else None
        if blocks is not None:
            return self._in_blocks(blocks)
        by_ones = len(records) + 1, len(records) + 1
        if wide is not None:
            return Route("wide_count", self.mechanism, shape=by_ones, wide=wide)
        adversary.check_release(query, records, self.mechanism)
        if adversary.is_chain and len(records) > WRITTEN_OUT:
            return Route(adversary.audit, self.mechanism, shape=by_ones)
        super()._resolve()
        if len(query.together) > 1:
            keep(self, mechanism=of_vectors(query, records, self.mechanism))
        return self._listed()

    def _in_blocks(self, adversary: IndependentBlocks) -> Route:
        """The audits of single blocks; no value of the query is listed."""
        own = tuple(
            (
                piece,
                _BlockLeakage(
                    records=piece.records, query=piece.query, mechanism=piece.mechanism, adversary=adversary.own
                ),
            )
            for piece in pieces(self.query, self.records, self.mechanism, adversary)
        )
        return Route(
            adversary.audit,
            self.mechanism,
            shape=max((problem.shape for _, problem in own), default=(1, 1)),
            held=max((problem.held_bytes for _, problem in own), default=0),
            pieces=own,
        )

    def _listed(self) -> Route:
        """Divergences have a closed form of a local protocol against laws of one record, and of noise on the real line against these,
        listed priors and any prior at all; else the whole channel is worked with."""
        mechanism, adversary, of_one = self.mechanism, self.adversary, self.adversary.record_laws is not None
        if mechanism.in_closed_form and of_one:
            inputs = self._indices.size
            route = Route("local_protocol", mechanism, shape=(inputs, mechanism.output_count(inputs)))
            keep(self, route=route)
            if mechanism.written_out(inputs):
                _ = self.channel
            return route
        if mechanism.on_a_line and (of_one or adversary.unlimited or adversary.listed):
            audit = "noise" if of_one else "free_noise" if adversary.unlimited else adversary.audit
            return Route.on_a_line(audit, mechanism, mechanism.quadrature(self._indices))
        if adversary.is_chain:
            return Route(adversary.audit, mechanism, whole=True)
        hidden = mechanism.hidden(max(self.records.alphabets))
        return Route(adversary.audit, mechanism.clamped(self._indices), slack=hidden, whole=True)

    @cached_property
    def costs(self) -> Costs:
        """Less where no completions are counted: of blocks, of a table's cells, of a chain, of a wide count."""
        route, adversary, read = self.route, self.adversary, RECORD.times(4 * len(self.records))
        if route.pieces is not None:
            return Costs.one_by_one([piece.costs for _, piece in route.pieces], read)
        if route.tables is not None:
            read = RECORD.times(len(self.records) / 4) + NUMBER.times(adversary.written[0])
            return Costs(read + ENTRY.times(route.tables.entries))
        if (
            adversary.is_chain and route.whole
        ):  # its letters; and one box and one point, for each record that is asked about
            entries = self.channel.size
            certain = read + POINTER.times(entries) + Cost(0.0, BALL * entries)
            return Costs(certain, witness=MOVE.times(adversary.moves(self.records)), search=ARRAYS * entries)
        if adversary.is_chain or route.wide is not None:
            return Costs(read)
        shape = (self.shape[0], CLOSED_FORM) if route.audit == "local_protocol" else self.shape
        alike, products = self.mechanism.alike, shape[0] * shape[1] if self.mechanism.independent else 0
        making = PRODUCT.times(products)
        read = self._reading(shape)
        return audit_costs(self.query_of_inputs, self.records, shape, adversary, read, alike=alike, making=making)

    def spans(self, *, known: bool) -> list[int]:
        """Of a record by itself where the others are known, of a household against blocks; of tables along their cells, summed up, of
        which a changed answer moves one of each table down and one up.
        """
        if self.query.sums is not None and self.query.sums.by_cell:
            size = len(self.records) if self.route.tables is None else self.route.tables.kinds[0].size
            moved = self.query.sums.cells_moved
            return [2 * size] * (moved // 2) if self.mechanism.independent else [moved * size]
        each = [
            [self._span(part, query, known) for query in part.query.together or [part.query]] for part in self.asked
        ]
        return [max(spans) for spans in zip(*each, strict=True)] or [0] * max(len(self.query.together), 1)

    @staticmethod
    def _span(part: WorstCaseLeakage, query: Query, known: bool) -> int:
        if known and part.adversary.record_laws is not None and query.sums is not None and query.modulus() is None:
            types = record_types(query.sums, part.records)
            return max(max(kind.contribution) - min(kind.contribution) for kind in types)
        return int(np.ptp(query.values(part.records)))

    def released_by(self, mechanism: Mechanism) -> WorstCaseLeakage:
        """The audit of a release by another mechanism."""
        return replace(self, mechanism=mechanism)

    @property
    def along(self) -> tuple[str, ...]:
        return () if self.bound is None else (f"adversary.{EntropyAtLeast.kind}",)

    @property
    def place(self) -> float | None:
        return None if self.bound is None else self.bound.nats(self.records)

    @property
    def share(self) -> Fraction | None:
        return None if self.bound is None else self.bound.share(self.records)

    def anywhere(self) -> Problem:
        return self if self.bound is None else replace(self, adversary=EntropyAtLeast(0))

    def informed_by(self, other: Problem) -> bool:
        """If that is about no more entropy."""
        return self.bound is not None and other.bound is not None and other.bound.at_most(self.bound, self.records)

    @property
    def pieces(self) -> tuple[tuple[Piece, WorstCaseLeakage], ...]:
        """Against `IndependentBlocks`: the audits of one block each whose largest leakage is the answer. Else there are none.

        >>> import dalenius as dl
        >>> ((piece, problem),) = dl.WorstCaseLeakage(records=dl.Records(1_000_000, alphabet=2), query=dl.Count(),
        ...     mechanism=dl.geometric(0.5), adversary=dl.IndependentBlocks(4)).pieces
        >>> piece.times, problem.records, problem.adversary == dl.AnyPrior()
        (250000, Records(4, alphabet=2), True)
        """
        return self.route.pieces or ()

    @property
    def asked(self) -> list[WorstCaseLeakage]:
        """Those of one block each, or the question itself."""
        return [self] if self.route.pieces is None else [problem for _, problem in self.pieces]


class _BlockLeakage(WorstCaseLeakage):
    """The question about a block by itself: of sums of many values, of which nothing is known, no channel is written out."""

    def _listed(self) -> Route:
        noise, values = self.mechanism, self._indices
        if noise.adds and self.adversary.unlimited and values.size > FEW_VALUES:
            low, high = noise.on_whole_numbers().above.clamped(values).span(values)
            if high - low < MANY_OUTPUTS:
                return Route("sums", noise, shape=(values.size, high - low + 1))
        return super()._listed()

    @cached_property
    def costs(self) -> Costs:
        if self.route.audit != "sums":
            return super().costs
        ends, wide = RECORD.times(2 * len(self.records)), SHIFTED.times(sum(self.shape))
        return Costs(ends, wide, wide, ARRAYS * self.shape[1] * FEW_VALUES)


MaximalLeakage = WorstCaseLeakage
"""The source paper's name of this question, which is not the measure called maximal leakage (Issa, Wagner and Kamath)."""


def audited(problem: object) -> WorstCaseLeakage:
    """The problem, where it is one that an audit answers; a clear `InputError` elsewhere.

    >>> audited("parity")
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: problem: expected a WorstCaseLeakage, got 'parity'
    """
    if isinstance(problem, WorstCaseLeakage):
        return problem
    if isinstance(problem, MechanismProblem):
        raise InputError(
            f"problem: {problem.kind} asks about secrets, and this is about records: expected a worst_case_leakage model; `solve` "
            f"answers {problem.kind}"
        )
    if isinstance(problem, Problem):
        raise InputError(
            f"problem: {problem.kind} asks which mechanism to build, and this needs a mechanism to audit: expected a "
            "worst_case_leakage model; `problem.release(rows)` makes one of a mechanism's rows"
        )
    raise InputError(f"problem: expected a WorstCaseLeakage, got {brief(problem)}")
