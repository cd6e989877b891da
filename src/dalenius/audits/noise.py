"""Noise on the real line: capacities of a few densities, and the largest information over classes of laws, by quadrature.

*Why*: as for the adversaries themselves (`selections.py`, `bounds/vertices.py`). The output law of an upper end
is a mixture of the densities, so that a certificate has weights of the inputs only, and the checker encloses all integrals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dalenius.audits.audit import RELATIVE, Exposure, RecordsAudit, UpperProof, closing
from dalenius.audits.bounds.vertices import VertexTree
from dalenius.audits.law_classes import (
    Evidence,
    MixtureAudit,
    exact_weights,
    largest_mean,
    multiplier_text,
    witness_law,
)
from dalenius.audits.selections import Line
from dalenius.evidence import matrix_text, vector_text
from dalenius.evidence.upper import (
    ClassPart,
    LettersLine,
    MixtureLeaf,
    ProofLine,
    RecordLine,
    VerticesLeaf,
)
from dalenius.information import relative_entropy
from dalenius.information.arrays import Floats, Integers
from dalenius.information.capacity import Capacity, capacity
from dalenius.information.deadline import Deadline
from dalenius.information.law_classes import GivenChannel, worst_law
from dalenius.information.measures.numbers import as_numbers, doubles, rationals
from dalenius.reduction import RecordChannel, Selections, record_completions
from dalenius.results import RecordProof
from dalenius.search.decimals import short
from dalenius.search.tree import Branch

DIGITS = 15  # of the weights of a mixture
TINY = 1e-300


@dataclass
class NoiseAudit(MixtureAudit):
    """A running audit of `RealNoise` against `ProductPriors` or a `LawClass`."""

    def _know(self) -> None:
        assert self.problem.route.rows is not None
        self._rows = self.problem.route.rows

    @property
    def resolution(self) -> float:
        return max(1e-13, min(super().resolution, RELATIVE * self.lower))

    def _common(self, selections: Selections, rows: Integers) -> tuple[Floats, Line]:
        """From the law of all inputs alike."""
        weights = np.ones(len(self._rows))
        return self._divergences(weights), self._mixture(vector_text(weights))

    def _found(self, tuple_of_rows: Integers) -> Evidence:
        """The largest information over the class with these inputs, and the bound of the mixture that its law causes."""
        rows = self._rows[tuple_of_rows]
        if self.of_class:
            found = worst_law(GivenChannel.plain(rows), self.priors, gap=self.resolution, clock=self.clock)
            law, witness = found.law, witness_law(self.priors, found)
        else:
            found_law = short(capacity(rows, gap=self.resolution, clock=self.clock).input_law, DIGITS)
            law = rationals(found_law)
            law = witness = as_numbers(law / law.sum())
        weights = np.zeros(len(self._rows))
        np.add.at(weights, tuple_of_rows, doubles(law))
        divergences = self._divergences(weights)[tuple_of_rows]
        lower = max(float(doubles(law) @ divergences), 0.0)
        upper = max(largest_mean(self.priors, divergences), lower)
        shares = exact_weights(witness)
        line = self._mixture(vector_text(weights), multiplier_text(self.priors, divergences))
        return Evidence(lower, upper, doubles(law), None if shares is None else lambda j: (j, shares, None), line)

    def _divergences(self, weights: Floats) -> Floats:
        """D of every input from the mixture with these weights, in nats."""
        return _divergences(self._rows, _mixture(weights, self._rows))


def _mixture(weights: Floats, rows: Floats) -> Floats:
    """The law of the outputs; nowhere 0, as if the densities of far inputs were not as small as doubles cannot be."""
    return np.maximum(weights @ rows / weights.sum(), TINY)


def _divergences(rows: Floats, law: Floats) -> Floats:
    return np.maximum(relative_entropy(rows, law), 0.0)


class _MixtureTree(VertexTree):
    """The tree over selections, whose laws are mixtures: as a certificate has them, weights of the inputs."""

    def _near(self, union: list[int], clock: Deadline) -> tuple[Floats, Floats, Capacity]:
        rows = self._channel.rows
        answer = capacity(rows[union], gap=1e-13, clock=clock)
        weights = np.zeros(len(rows))
        weights[union] = short(answer.input_law, DIGITS)
        return weights, _divergences(rows[union], _mixture(weights, rows)), answer


@dataclass(frozen=True)
class _Record:
    """A kind of record, what is known of its letters' inputs, and the tree over selections of one input for each letter."""

    channel: RecordChannel
    tree: _MixtureTree

    @property
    def record(self) -> int:
        return self.channel.record

    @property
    def lower(self) -> float:
        return self.tree.floor

    @property
    def upper(self) -> float:
        """The tree's bound, or all there is to know."""
        return min(self.tree.upper, math.log(self.channel.letters))

    @property
    def record_proof(self) -> RecordProof:
        return RecordProof(self.record, self.channel.times, "selections", self.tree.leaves)

    @property
    def section(self) -> UpperProof:
        return tuple(self._lines())

    def _lines(self) -> Iterator[RecordLine | ProofLine]:
        yield RecordLine(self.record)
        yield VerticesLeaf()
        if self.upper < self.tree.upper:
            yield LettersLine()
            return
        for node in self.tree.tree.preorder():
            if isinstance(node, Branch):
                yield ClassPart(node.cut.letter, node.cut.kept)
            else:
                yield MixtureLeaf(vector_text(node.content.law), None)


@dataclass
class FreeNoiseAudit(RecordsAudit[_Record]):
    """A running audit of `RealNoise` against any prior at all: the largest capacity of one input for each letter of a record.

    Parameters
    ----------
    enough : float
        An upper bound at most this closes the audit, too, however far the lower one is.
    """

    enough: float = 0.0

    @property
    def target(self) -> float:
        """An upper bound at most this closes the audit."""
        return closing(self.lower, self.gap, self.enough)

    def run(self) -> None:
        """Begin with every kind of record, then branch where the bounds are largest."""
        self.records = self.begun()
        growing = True
        while growing and self.upper > self.target and not self.clock.expired:
            growing = max(self.records, key=lambda record: (record.upper, record.tree.upper)).tree.grow(self.clock)
            self.report("selections")
        self.out_of_time = self.clock.expired
        self.report("proving", now=True)

    @property
    def pieces(self) -> int:
        return sum(record.tree.leaves for record in self.records)

    def begun(self) -> list[_Record]:
        """The root of every tree, or the entropy of the letters."""
        rows = self.problem.route.rows
        assert rows is not None
        channels = [
            RecordChannel(part.record, part.times, part.log_uniform, rows, self.problem.max_knowledge)
            for part in record_completions(self.problem)
        ]
        return [_Record(channel, _MixtureTree(channel, self.clock, target=0.0)) for channel in channels]

    def exposure(self, slack: float) -> Exposure | None:
        best = self.best
        if best is None or best.tree.point is None:
            return None
        masses = short(best.tree.point, DIGITS)
        return Exposure(best.record, best.lower, masses, matrix_text(masses))
