"""Classes of laws: the largest information of a record's law with the rows its letters select; local protocols in closed form.

*Why*: I(X_i; Y) is convex in the law of every other record, so the worst others are known, and concave in the law p of record i.
*From below*: an exact law of the class. *From above*: for every selection an output law r, with the largest mean over the class of
D(R(k_a) || r), in closed form or with multipliers (docs/certificate-format.md). Only selections that one common law does not bound
well enough are searched.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from flint import arb, fmpq

from dalenius.audits.proof_lines import exact_text
from dalenius.audits.selections import Kind, Line, SelectionAudit, different, rounded
from dalenius.evidence import short_text, vector_text
from dalenius.evidence.lower import How, InputLaw, Vector
from dalenius.evidence.upper import (
    MixtureOfClass,
    MixtureOfSelections,
)
from dalenius.exact import WRITABLE_BITS, fraction_text
from dalenius.information import mutual_information, relative_entropy
from dalenius.information.arrays import Floats, Integers
from dalenius.information.law_classes import GivenChannel, WorstLaw, worst_law
from dalenius.information.measures import PriorClass, PriorPolytope
from dalenius.information.measures.numbers import Numbers, doubles, rationals
from dalenius.information.protocol_laws import planned, worst_protocol_law
from dalenius.model.mechanisms import LocalProtocol
from dalenius.reduction import Selections

RESOLUTION = 1e-13  # nats: what the search aims at where the gap asks for no less
SHARE = 0.1  # of the gap, where that is coarser


class Evidence(NamedTuple):
    """Bounds of one selection in nats; the law that attains the lower one, and how a certificate writes both.

    `prior` is None where the law cannot be written.
    """

    lower: float
    upper: float
    law: Floats
    prior: Callable[[int], InputLaw] | None
    line: Line


@dataclass
class ClassAudit(SelectionAudit):
    """A running audit against a `LawClass`."""

    def _search(self) -> None:
        """The largest information of every selection whose bound is above what is attained, the most promising first."""
        order = [(float(bound), k, j) for k, kind in enumerate(self.records) for j, bound in enumerate(kind.bounds)]
        for upper, k, j in sorted(order, reverse=True):
            if self.clock.expired or upper <= self.lower + self.resolution:
                break
            kind, found = self.records[k], self._told(self.records[k], j)
            kind.attained[j], kind.bounds[j], kind.laws[j], kind.priors[j] = found[:4]
            kind.line_of[j] = len(kind.lines)
            kind.lines.append(found.line)
            self.report("laws", kind.selections.record)
        self.out_of_time |= self.clock.expired

    def _told(self, kind: Kind, j: int) -> Evidence:
        """Leakage by `_search`, but nothing at all where all letters that count select one row: doubles make a little of that."""
        found, support = self._found(kind.rows[j]), self.priors.support(kind.selections.letters)
        if np.unique(kind.rows[j, support]).size > 1:
            return found
        row = None
        if self.problem.route.whole:
            inputs = np.unique(kind.selections.inputs[kind.of == j][:, support])
            row = self.problem.mechanism.constant_row(inputs, self._rows.shape[1])
        if row is None:
            return found._replace(lower=0.0)
        return found._replace(lower=0.0, upper=0.0, line=self._line(exact_text(row)))  # at distance 0 exactly

    @property
    def resolution(self) -> float:
        """Distance of the search from a selection's largest information, in nats."""
        return max(RESOLUTION, SHARE * min(self.gap, 1.0) * self.lower)

    def _found(self, tuple_of_rows: Integers) -> Evidence:
        """The largest information over the class with these rows."""
        rows = self._rows[tuple_of_rows]
        found = worst_law(GivenChannel.plain(rows), self.priors, gap=self.resolution, clock=self.clock)
        law, output = doubles(found.law), rounded(found.outputs[0])
        divergences = relative_entropy(rows, output / output.sum())
        lower = max(float(mutual_information(law[:, None] * rows)), 0.0)
        upper = max(largest_mean(self.priors, divergences), lower)
        weights = exact_weights(witness_law(self.priors, found))
        line = self._line(vector_text(output), multiplier_text(self.priors, divergences))
        return Evidence(lower, upper, law, None if weights is None else lambda j: (j, weights), line)


def largest_mean(priors: PriorClass, divergences: Floats) -> float:
    """The largest mean over the class of numbers at least 0, as the multipliers of `multiplier_text` bound it."""
    return float(-arb(priors.below(-_scores(priors, divergences))))


def multiplier_text(priors: PriorClass, divergences: Floats) -> Vector | None:
    """Multipliers that bound the largest mean over a class: [t] of a KL ball, [t, v] of a chi-square ball, else null."""
    return tuple(map(short_text, priors.multipliers(-_scores(priors, divergences)))) or None


def exact_weights(weights: Numbers) -> Vector | None:
    """An exact law as whole numbers in these proportions; None if they would be too long."""
    common = math.lcm(*{int(weight.q) for weight in weights})
    if common.bit_length() > WRITABLE_BITS:
        return None
    return tuple(fraction_text(Fraction(int((weight * common).p))) for weight in weights)


def witness_law(priors: PriorClass, found: WorstLaw) -> Numbers:
    """Those of a witness: of the letters, of a polytope those of the vertices."""
    if not isinstance(priors, PriorPolytope):
        return found.law
    vertices = [tuple(vertex) for vertex in np.asarray(priors.vertices)]
    weights = np.full(len(vertices), fmpq(0))
    for part, share in zip(found.parts, found.shares, strict=True):
        weights[vertices.index(tuple(part))] += share
    return weights


def _scores(priors: PriorClass, divergences: Floats) -> Numbers:
    """As exact numbers, 0 at letters that no law of the class has."""
    scores = rationals(np.maximum(divergences, 0.0))
    scores[~priors.support(len(divergences))] = fmpq(0)
    return scores


# Local protocols against independent records or classes of laws: both ends from closed forms, without the channel.
#
# *Why*: as for all independent records (`selections.py`); the output law of an upper end is the one that a
# law of the inputs causes, so that all divergences have the closed form of `dalenius.information.set_channels`.


SUMMED = 1e-12  # nats: closed forms are summed in doubles
GROUPS = (4, 3, 2)  # letters of one probability, where the class has too many of them


@dataclass
class MixtureAudit(ClassAudit):
    """Of mechanisms that are not written out: the output law of an upper end is the one that a law of the inputs causes."""

    def _tuples(self, selections: Selections) -> tuple[Integers, Integers]:
        return different(selections.inputs)

    def _mixture(self, weights: Vector, multipliers: Vector | None = None, how: How = None) -> Line:
        if self.of_class:
            return lambda selections: MixtureOfClass(selections, weights, multipliers, how)
        return lambda selections: MixtureOfSelections(selections, weights, how)


@dataclass
class ProtocolAudit(MixtureAudit):
    """A running audit of a `LocalProtocol` against `ProductPriors` or a `LawClass`."""

    def _know(self) -> None:
        mechanism = self.problem.mechanism
        assert isinstance(mechanism, LocalProtocol)
        self.inputs = self.problem.shape[0]
        self.sets = mechanism.sets(self.inputs)

    @property
    def resolution(self) -> float:
        return max(SUMMED, SHARE * min(self.gap, 1.0) * self.lower)

    def _common(self, selections: Selections, rows: Integers) -> tuple[Floats, Line]:
        """From the law of all inputs alike."""
        divergences, how = self._even
        return divergences, self._mixture(vector_text(np.ones(self.inputs)), how=how)

    @cached_property
    def _even(self) -> tuple[Floats, How]:
        """Divergences from the law of all inputs alike, and how they are summed."""
        bounds = planned(self.sets, np.full(self.inputs, 1.0 / self.inputs), SUMMED)
        assert bounds is not None, "one group needs no sum over others"
        return bounds[2], bounds[0].how

    def _found(self, tuple_of_rows: Integers) -> Evidence:
        """The largest information over the class with these inputs; over a part of it, where too many probabilities differ."""
        for groups in (None, *GROUPS):
            priors = self.priors if groups is None else self.priors.coarser(groups)
            evidence = None if priors is None else self._over(tuple_of_rows, priors)
            if evidence is not None:
                return evidence
        return self._without_plan(tuple_of_rows)

    def _over(self, inputs: Integers, priors: PriorClass) -> Evidence | None:
        """The largest information over these laws, and the bound of its output law; None where a closed form takes too much."""
        found = worst_protocol_law(self.sets, inputs, priors, gap=self.resolution, clock=self.clock)
        law, accuracy = doubles(found.law), SHARE * self.resolution
        exact = np.zeros(self.inputs, dtype=object)
        np.add.at(exact, inputs, found.law)
        pushed = doubles(exact)
        below = planned(self.sets, pushed, accuracy, keys=list(exact), clock=self.clock)
        above = planned(self.sets, pushed, accuracy, clock=self.clock)
        if below is None or above is None:
            return None
        weights = exact_weights(found.law if found.shares is None else found.shares)
        how = below[0].how
        lower, divergences = float(law @ below[1][inputs]), above[2][inputs]
        upper = max(largest_mean(self.priors, divergences), lower)
        line = self._mixture(vector_text(pushed), multiplier_text(self.priors, divergences), above[0].how)
        return Evidence(lower, upper, law, None if weights is None else lambda j: (j, weights, how), line)

    def _without_plan(self, inputs: Integers) -> Evidence:
        """The bound of the law of all inputs alike, and nothing from below: the closed form has too many terms."""
        divergences, how = self._even[0][inputs], self._even[1]
        line = self._mixture(vector_text(np.ones(self.inputs)), multiplier_text(self.priors, divergences), how)
        even = np.full(len(inputs), 1.0 / len(inputs))
        return Evidence(0.0, largest_mean(self.priors, divergences), even, None, line)
