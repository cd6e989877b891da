"""Problem 1: the largest leakage of one record to an adversary who may hold any prior of a set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from numpy import float64
from numpy.typing import NDArray

from dalenius.errors import InputError, brief
from dalenius.model.adversaries import (
    EntropyAtLeast,
    FiniteChain,
    IndependentBlocks,
    LawClass,
    MarkovChain,
    ProductPriors,
)
from dalenius.model.mechanisms import LocalProtocol, Mechanism, RandomizedHistogram, RealNoise
from dalenius.model.problem import Problem
from dalenius.model.problems.chains import WRITTEN_OUT, need_chain, need_finite_chain
from dalenius.model.problems.large import Cells, WideCount
from dalenius.model.problems.mechanism_problem import MechanismProblem, of_vectors
from dalenius.model.problems.pieces import Piece, pieces
from dalenius.model.queries import Histogram, Joint


@dataclass(frozen=True, kw_only=True)
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
    ...     mechanism=dl.laplace_threshold(epsilon=1.0), adversary=dl.EntropyAtLeast(1.0))
    >>> problem.channel.round(4).tolist()
    [[0.6967, 0.3033], [0.3033, 0.6967]]
    """

    kind: ClassVar[str] = "maximal_leakage"
    in_models: ClassVar[str] = "worst_case_leakage"
    _joint_too: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.adversary, FiniteChain):
            need_finite_chain(self.query, self.records, self.mechanism, self.adversary)
        if isinstance(self.query, Joint) and not self.in_blocks:
            object.__setattr__(self, "mechanism", of_vectors(self.query, self.records, self.mechanism))
        if isinstance(self.mechanism, RandomizedHistogram) and isinstance(self.query, Histogram):
            object.__setattr__(self, "mechanism", self.mechanism.of_records(self.records))
        if self.in_cells:
            _ = self.cells
        elif self.in_blocks:
            _ = self.pieces
        elif isinstance(self.adversary, MarkovChain):
            need_chain(self.query, self.records, self.mechanism, self.adversary)
            if self.is_written_out:
                self.query.check_values(self.records)
                _ = self.channel
        elif self.mechanism.on_a_line and self.in_closed_form:
            _ = self.quadrature
        elif self.wide is not None:
            return
        elif not self.in_closed_form or self._protocol.written_out(self._indices.size):
            _ = self.channel

    @property
    def finite(self) -> Mechanism:
        """The mechanism; of noise with a tail that the audit itself has to cut off the same, clamped far beyond the query's values."""
        return self.mechanism.clamped(self._indices) if self._endless else self.mechanism

    @property
    def slack(self) -> float:
        """Nats that the leakage may be above that of `finite`; 0 where that is the mechanism.

        >>> import dalenius as dl
        >>> 0 < dl.WorstCaseLeakage(records=dl.Records(9, alphabet=2), query=dl.Count(), mechanism=dl.discrete_gaussian(scale=2),
        ...     adversary=dl.EntropyAtLeast("6 bits")).slack < 1e-21
        True
        """
        return self.mechanism.hidden(max(self.records.alphabets)) if self._endless else 0.0

    @property
    def _endless(self) -> bool:
        """Whether it is noise of which the audit itself has to cut off a tail."""
        apart = self.in_blocks or self.in_cells or isinstance(self.adversary, MarkovChain | FiniteChain)
        return self.mechanism.tail > 0 and not apart

    @property
    def in_closed_form(self) -> bool:
        """Whether divergences have a closed form, so that no channel is written out.

        They have of a local protocol against laws of one record, and of noise on the real line against these and any prior at all.
        """
        one = isinstance(self.adversary, LawClass | ProductPriors)
        anybody = isinstance(self.adversary, EntropyAtLeast) and self.adversary.amount == 0
        return (isinstance(self.mechanism, LocalProtocol) and one) or (self.mechanism.on_a_line and (one or anybody))

    @property
    def searched(self) -> bool:
        """Whether the adversary's priors are searched, and the question has a curve, a checkpoint and an alternating scheme."""
        return isinstance(self.adversary, EntropyAtLeast) and not self.in_closed_form and self.wide is None

    @property
    def in_cells(self) -> bool:
        return isinstance(self.query, Histogram) and not isinstance(self.mechanism, RandomizedHistogram)

    @property
    def in_blocks(self) -> bool:
        """Whether audits of single blocks answer: also of single records, where a wide count meets independent ones."""
        return super().in_blocks or (isinstance(self.adversary, ProductPriors) and self.wide is not None)

    @cached_property
    def wide(self) -> WideCount | None:
        """A count of so many records that its channel is not written out, if it is one."""
        return WideCount.of(self.query, self.records, self.mechanism, self.adversary)

    @property
    def _is_listed(self) -> bool:
        return self.wide is None and super()._is_listed

    @cached_property
    def cells(self) -> Cells:
        """Of a histogram: what an audit needs to know of its cells."""
        return Cells.of(self.records, self.mechanism, self.adversary)

    @property
    def is_written_out(self) -> bool:
        """Whether an audit works with the whole channel: not of blocks, a closed form, a long Markov chain or a wide count."""
        long = self._in_a_chain and len(self.records) > WRITTEN_OUT
        return not (self.in_blocks or self.in_closed_form or long or self.wide is not None)

    @property
    def _protocol(self) -> LocalProtocol:
        assert isinstance(self.mechanism, LocalProtocol)
        return self.mechanism

    @cached_property
    def pieces(self) -> tuple[tuple[Piece, WorstCaseLeakage], ...]:
        """Against `IndependentBlocks`: the audits of one block each whose largest leakage is the answer. Else there are none.

        >>> import dalenius as dl
        >>> ((piece, problem),) = dl.WorstCaseLeakage(records=dl.Records(1_000_000, alphabet=2), query=dl.Count(),
        ...     mechanism=dl.geometric(0.5), adversary=dl.IndependentBlocks(4)).pieces
        >>> piece.times, problem.records, problem.adversary == dl.AnyPrior()
        (250000, Records(4, alphabet=2), True)
        """
        if not self.in_blocks:
            return ()
        adversary = self.adversary if isinstance(self.adversary, IndependentBlocks) else IndependentBlocks(1)
        return tuple(
            (
                piece,
                WorstCaseLeakage(
                    records=piece.records, query=piece.query, mechanism=piece.mechanism, adversary=adversary.own
                ),
            )
            for piece in pieces(self.query, self.records, self.mechanism, adversary)
        )

    @cached_property
    def quadrature(self) -> NDArray[float64]:
        """Of noise on the real line a channel (inputs, nodes) with its divergences, up to rounding."""
        assert isinstance(self.mechanism, RealNoise)
        rows = self.mechanism.quadrature(self._indices)
        rows.flags.writeable = False
        return rows

    @property
    def held_bytes(self) -> int:
        """What the channels that an audit works with take."""
        if self.in_cells:
            return self.cells.steps.nbytes
        if self.in_blocks:
            return max((problem.held_bytes for _, problem in self.pieces), default=0)
        if self.mechanism.on_a_line:
            return self.quadrature.nbytes
        return super().held_bytes if self.is_written_out else 0

    @cached_property
    def shape(self) -> tuple[int, int]:
        """The inputs and outputs of the mechanism, of which a closed form may have more than any array; against blocks the largest.

        Of a histogram those of one cell, as far as the largest block has a say in its count; of noise on the real line its
        nodes.
        """
        if self.in_cells:
            return self.cells.steps.shape[0], self.cells.steps.shape[1]
        if self.in_blocks:
            return max((problem.shape for _, problem in self.pieces), default=(1, 1))
        if self.mechanism.on_a_line:
            return self.quadrature.shape[0], self.quadrature.shape[1]
        if self.in_closed_form:
            return self._indices.size, self._protocol.outputs(self._indices.size)
        if not self.is_written_out:
            return len(self.records) + 1, len(self.records) + 1
        return self.channel.shape[0], self.channel.shape[1]


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
