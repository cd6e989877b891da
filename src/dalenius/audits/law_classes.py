"""Classes of laws: the largest information of a record's law with the rows its letters select; local protocols in closed form.

*Why*: I(X_i; Y) is convex in the law of every other record, so the worst others are known, and concave in the law p of record i.
*From below*: an exact law of the class. *From above*: for every selection an output law r, with the largest mean over the class of
D(R(k_a) || r), in closed form or with multipliers (docs/certificate-format.md). Only selections that one common law does not bound
well enough are searched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import arb, fmpq

from dalenius.audits.audit import Audit, Exposure, UpperProof
from dalenius.audits.proof_lines import exact_text
from dalenius.errors import DaleniusError
from dalenius.evidence import short_text, vector_text
from dalenius.evidence.lower import How, InputLaw, Vector
from dalenius.evidence.upper import (
    LawOfClass,
    LettersLine,
    MixtureOfClass,
    MixtureOfSelections,
    ProofLine,
    RecordLine,
)
from dalenius.exact import WRITABLE_BITS, fraction_text
from dalenius.information import mutual_information, relative_entropy
from dalenius.information.arrays import Floats, Integers
from dalenius.information.law_classes import WorstLaw, coarser, worst_law
from dalenius.information.measures import AllPriors, PriorClass, PriorPolytope
from dalenius.information.measures.numbers import Numbers, doubles, rationals
from dalenius.information.protocol_laws import planned, worst_protocol_law
from dalenius.model.adversaries import LawClass
from dalenius.model.mechanisms import LocalProtocol
from dalenius.reduction import MAX_NUMBERS, Selections, distinct_rows, record_selections
from dalenius.results import RecordProof

RESOLUTION = 1e-13  # nats: what the search aims at where the gap asks for no less
SHARE = 0.1  # of the gap, where that is coarser
DECIMALS, LEAST = 18, 1e-20  # of an output law's weights


Line = Callable[[tuple[int, ...]], ProofLine]  # from the selections that it is about


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
class Kind:
    """One kind of record: its selections as different tuples of rows, in the order of the letters, and what is known about each.

    Attributes
    ----------
    rows : (tuples, letters)
        What each letter selects.
    of : (selections,)
        The tuple of each selection.
    upper : (tuples,)
        In nats.
    common : what bounds all tuples at once
    found : what was found, by tuple
    """

    selections: Selections
    rows: Integers
    of: Integers
    upper: Floats
    common: Line
    found: dict[int, Evidence] = field(default_factory=dict)

    @property
    def best(self) -> int | None:
        """The tuple that is known to tell most."""
        return max(self.found, key=lambda j: self.found[j].lower, default=None)

    @property
    def lower(self) -> float:
        return 0.0 if self.best is None else self.found[self.best].lower

    @property
    def bound(self) -> float:
        """That of the laws, or all there is to know."""
        return min(float(self.upper.max()), math.log(self.selections.letters))

    @property
    def by_letters(self) -> bool:
        """Whether the laws say no more than that."""
        return bool(self.upper.max() > self.bound)

    def listed(self, *tuples: int) -> tuple[int, ...]:
        """The selections that have one of these tuples."""
        return tuple(np.flatnonzero(np.isin(self.of, tuples)).tolist())


@dataclass
class ClassAudit(Audit):
    """A running audit against a `LawClass`."""

    _kinds: list[Kind] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        adversary = self.problem.adversary
        assert isinstance(adversary, LawClass)
        self.priors: PriorClass = adversary.priors
        self.selections = record_selections(self.problem)
        self._rows, self._row_of_input = distinct_rows(self.problem.channel)

    @property
    def lower(self) -> float:
        return max((kind.lower for kind in self._kinds), default=0.0)

    @property
    def upper(self) -> float:
        return max((kind.bound for kind in self._kinds), default=0.0)

    def run(self) -> None:
        """The largest information of every selection whose bound is above what is attained, the most promising first."""
        self._kinds = [self._start(selections) for selections in self.selections]
        order = [(float(kind.upper[j]), k, j) for k, kind in enumerate(self._kinds) for j in range(len(kind.upper))]
        for upper, k, j in sorted(order, reverse=True):
            if self.clock.expired or upper <= self.lower + self.resolution:
                break
            kind = self._kinds[k]
            kind.found[j] = found = self._told(kind, j)
            kind.upper[j] = found.upper
            self._tell("laws", kind.selections.record)
        self.out_of_time |= self.clock.expired
        self._tell("proving", None, now=True)

    @property
    def _best(self) -> Kind | None:
        return max(self._kinds, key=lambda kind: (kind.lower, float(kind.upper.max())), default=None)

    @property
    def exposed(self) -> int | None:
        return None if self._best is None else self._best.selections.record

    def exposure(self, slack: float) -> Exposure | None:
        kind = self._best
        if kind is None or kind.best is None or kind.lower <= 0.0:
            return None
        found, selection = kind.found[kind.best], kind.listed(kind.best)[0]
        if found.prior is None:
            return None
        masses = kind.selections.lift(selection, found.law)
        return Exposure(kind.selections.record, found.lower, masses, found.prior(selection))

    def proof(self) -> UpperProof:
        """The lines of docs/certificate-format.md, "Other adversaries"."""
        row = self.problem.constant_row if self.problem.is_written_out else None
        if row is not None:  # it is its own output law, at distance 0 exactly
            line = _line(exact_text(row), None)
            return tuple(
                each
                for kind in self._kinds
                for each in (RecordLine(kind.selections.record), line(tuple(range(len(kind.of)))))
            )
        return tuple(line for kind in self._kinds for line in self._section(kind))

    def certain(self) -> tuple[float, UpperProof]:
        """One law for all selections of a kind, or the entropy of its letters."""
        kinds = [self._start(selections) for selections in self.selections]
        upper = max((kind.bound for kind in kinds), default=0.0)
        return upper, tuple(line for kind in kinds for line in self._section(kind))

    def record_proofs(self) -> tuple[RecordProof, ...]:
        return tuple(
            RecordProof(kind.selections.record, kind.selections.times, "letters", 1)
            if kind.by_letters
            else RecordProof(kind.selections.record, kind.selections.times, "selections", max(len(kind.found), 1))
            for kind in self._kinds
        )

    def _told(self, kind: Kind, j: int) -> Evidence:
        """What `_search` finds, but nothing at all where all letters that count select one row: doubles make a little of that."""
        found, support = self._search(kind.rows[j]), self.priors.support(kind.selections.letters)
        if np.unique(kind.rows[j, support]).size > 1:
            return found
        row = None
        if self.problem.is_written_out:
            inputs = np.unique(kind.selections.inputs[kind.of == j][:, support])
            row = self.problem.mechanism.constant_row(inputs, self._rows.shape[1])
        if row is None:
            return found._replace(lower=0.0)
        return found._replace(lower=0.0, upper=0.0, line=_line(exact_text(row), None))  # at distance 0 exactly

    @property
    def resolution(self) -> float:
        """How close the search comes to a selection's largest information, in nats."""
        return max(RESOLUTION, SHARE * min(self.gap, 1.0) * self.lower)

    def _section(self, kind: Kind) -> Iterator[RecordLine | ProofLine]:
        """The lines that bound every selection of one kind of record."""
        yield RecordLine(kind.selections.record)
        if kind.by_letters:
            yield LettersLine()
            return
        if rest := [j for j in range(len(kind.rows)) if j not in kind.found]:
            yield kind.common(kind.listed(*rest))
        for j, found in kind.found.items():
            yield found.line(kind.listed(j))

    def _tell(self, stage: str, record: int | None, *, now: bool = False) -> None:
        searched = sum(len(kind.found) for kind in self._kinds)
        self.clock.tell(stage, self.lower, self.upper, searched, record=record, now=now)

    # ------------------------------------------------------------ what depends on how the channel is known

    def _start(self, selections: Selections) -> Kind:
        """Every selection bounded by one law, the average of all rows that occur."""
        if selections.letters * self._rows.shape[1] > MAX_NUMBERS:
            raise DaleniusError(
                f"nothing can be proved about this model: record {selections.record} has more than {MAX_NUMBERS} pairs of a letter "
                "and an output (docs/certificate-format.md)"
            )
        tuples, of = np.unique(self._row_of_input[selections.inputs], axis=0, return_inverse=True)
        law = _rounded(self._rows[np.unique(tuples)].mean(axis=0))
        divergences = relative_entropy(self._rows, law / law.sum())
        upper = divergences[tuples[:, self.priors.support(selections.letters)]].max(axis=1)
        return Kind(selections, tuples, of.reshape(-1), np.maximum(upper, 0.0), _line(vector_text(law), None))

    def _search(self, tuple_of_rows: Integers) -> Evidence:
        """The largest information over the class with these rows."""
        rows = self._rows[tuple_of_rows]
        found = worst_law(rows, self.priors, gap=self.resolution, clock=self.clock)
        law, output = doubles(found.law), _rounded(found.output)
        divergences = relative_entropy(rows, output / output.sum())
        lower = max(float(mutual_information(law[:, None] * rows)), 0.0)
        upper = max(largest_mean(self.priors, divergences), lower)
        weights = exact_weights(witness_law(self.priors, found))
        line = _line(vector_text(output), multiplier_text(self.priors, divergences))
        return Evidence(lower, upper, law, None if weights is None else lambda j: (j, weights), line)


def _line(law: Vector, multipliers: Vector | None) -> Line:
    return lambda selections: LawOfClass(selections, law, multipliers)


def largest_mean(priors: PriorClass, divergences: Floats) -> float:
    """The largest mean over the class of numbers at least 0, as the multipliers of `multiplier_text` bound it."""
    return float(-arb(priors.below(-_scores(priors, divergences))))


def multiplier_text(priors: PriorClass, divergences: Floats) -> Vector | None:
    """What a certificate needs to bound the largest mean over a class: [t] of a KL ball, [t, v] of a chi-square ball, else null."""
    found = priors.multipliers(-_scores(priors, divergences))
    match len(found):
        case 1:
            return (short_text(1.0 / found[0]),)
        case 2:
            return (short_text(found[0]), short_text(-found[1]))
    return None


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


def _rounded(law: Floats) -> Floats:
    return np.maximum(law.round(DECIMALS), LEAST)


# Local protocols against independent records or classes of laws: both ends from closed forms, without the channel.
#
# *Why*: as for the adversaries themselves (`product_priors.py`, `law_classes.py`); the output law of an upper end is the one that a
# law of the inputs causes, so that all divergences have the closed form of `dalenius.information.set_channels`.


SUMMED = 1e-12  # nats: closed forms are summed in doubles
GROUPS = (4, 3, 2)  # letters of one probability, where the class has too many of them


@dataclass
class ProtocolAudit(ClassAudit):
    """A running audit of a `LocalProtocol` against `ProductPriors` or a `LawClass`."""

    def __post_init__(self) -> None:
        adversary, mechanism = self.problem.adversary, self.problem.mechanism
        assert isinstance(mechanism, LocalProtocol)
        self.of_class = isinstance(adversary, LawClass)
        self.priors: PriorClass = adversary.priors if isinstance(adversary, LawClass) else AllPriors()
        self.selections, self.inputs = record_selections(self.problem), self.problem.shape[0]
        self.sets = mechanism.sets(self.inputs)

    @property
    def resolution(self) -> float:
        return max(SUMMED, SHARE * min(self.gap, 1.0) * self.lower)

    def _start(self, selections: Selections) -> Kind:
        """Every selection bounded by one law, that of all inputs alike."""
        tuples, of = np.unique(selections.inputs, axis=0, return_inverse=True)
        weights = np.ones(self.inputs)
        bounds = planned(self.sets, weights / weights.sum(), SUMMED)
        assert bounds is not None, "one group needs no sum over others"
        plan, _, high = bounds
        upper = high[tuples[:, self.priors.support(selections.letters)]].max(axis=1)
        return Kind(selections, tuples, of.reshape(-1), upper, self._line(vector_text(weights), None, plan.how))

    def _search(self, tuple_of_rows: Integers) -> Evidence:
        """The largest information over the class with these inputs; over a part of it, where too many probabilities differ."""
        for groups in (None, *GROUPS):
            priors = self.priors if groups is None else coarser(self.priors, groups)
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
        line = self._line(vector_text(pushed), multiplier_text(self.priors, divergences), above[0].how)
        return Evidence(lower, upper, law, None if weights is None else lambda j: (j, weights, how), line)

    def _without_plan(self, inputs: Integers) -> Evidence:
        """The bound of the law of all inputs alike, and nothing from below: the closed form has too many terms."""
        weights = np.ones(self.inputs)
        bounds = planned(self.sets, weights / weights.sum(), SUMMED)
        assert bounds is not None
        law = np.full(len(inputs), 1.0 / len(inputs))
        upper = largest_mean(self.priors, bounds[2][inputs])
        line = self._line(vector_text(weights), multiplier_text(self.priors, bounds[2][inputs]), bounds[0].how)
        return Evidence(0.0, upper, law, None, line)

    def _line(self, weights: Vector, multipliers: Vector | None, how: How) -> Line:
        if self.of_class:
            return lambda selections: MixtureOfClass(selections, weights, multipliers, how)
        return lambda selections: MixtureOfSelections(selections, weights, how)
