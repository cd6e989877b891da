"""Classes of laws: the largest information of a record's law of the class with the rows that its letters select.

*Why*: I(X_i; Y) is convex in the law of every other record, so the worst others are known, and concave in the law p of record i.
*From below*: an exact law of the class. *From above*: for every selection an output law r, with the largest mean over the class of
D(R(k_a) || r), in closed form or with multipliers (docs/certificate-format.md). Only selections that one common law does not bound
well enough are searched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb, fmpq

from dalenius.audits.audit import Audit, Exposure, UpperProof
from dalenius.errors import DaleniusError
from dalenius.evidence import short_text, vector_text
from dalenius.evidence.lines import LawOfClass, RecordLine, Vector
from dalenius.exact import WRITABLE_BITS, fraction_text
from dalenius.information import mutual_information, relative_entropy
from dalenius.information.arrays import Floats, Integers
from dalenius.information.law_classes import WorstLaw, worst_law
from dalenius.information.measures import PriorClass, PriorPolytope
from dalenius.information.measures.numbers import Numbers, doubles, rationals
from dalenius.model.adversaries import LawClass
from dalenius.reduction import MAX_NUMBERS, Selections, distinct_rows, record_selections
from dalenius.results import RecordProof

__all__ = ["ClassAudit", "largest_mean", "multiplier_text", "witness_weights"]

RESOLUTION = 1e-13  # nats: what the search aims at where the gap asks for no less
SHARE = 0.1  # of the gap, where that is coarser
DECIMALS, LEAST = 18, 1e-20  # of an output law's weights


@dataclass
class _Kind:
    """One kind of record: its selections as tuples of distinct rows, and what is known about each.

    Attributes
    ----------
    rows : (tuples, letters), which distinct rows the selections have, in the order of the letters
    of : (selections,), the tuple of each selection
    lower, upper : (tuples,), bounds in nats; 0 below where nothing was searched
    common : the output law that bounds those that were not searched
    found : what was found, by tuple
    """

    selections: Selections
    rows: Integers
    of: Integers
    lower: Floats
    upper: Floats
    common: Floats
    found: dict[int, WorstLaw] = field(default_factory=dict)


@dataclass
class ClassAudit(Audit):
    """A running audit against a `LawClass`."""

    _kinds: list[_Kind] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        adversary = self.problem.adversary
        assert isinstance(adversary, LawClass)
        self.priors: PriorClass = adversary.priors
        self.selections, self.channel = record_selections(self.problem), self.problem.channel
        self._rows, self._row_of_input = distinct_rows(self.channel)

    @property
    def lower(self) -> float:
        return max((float(kind.lower.max()) for kind in self._kinds), default=0.0)

    @property
    def upper(self) -> float:
        return max((float(kind.upper.max()) for kind in self._kinds), default=0.0)

    def run(self) -> None:
        """The largest information of every selection whose bound is above what is attained, the most promising first."""
        self._kinds = [self._start(selections) for selections in self.selections]
        order = [(float(kind.upper[j]), kind, int(j)) for kind in self._kinds for j in range(len(kind.upper))]
        for upper, kind, j in sorted(order, key=lambda entry: -entry[0]):
            if self.clock.expired or upper <= self._enough:
                break
            self._search(kind, j)
            self._tell("laws", kind.selections.record)
        self.out_of_time |= self.clock.expired
        self._tell("done", None, now=True)

    @property
    def exposed(self) -> int | None:
        best = max(self._kinds, key=lambda kind: (kind.lower.max(), kind.upper.max()), default=None)
        return None if best is None else best.selections.record

    def exposure(self, slack: float) -> Exposure | None:
        best = max(self._kinds, key=lambda kind: kind.lower.max(), default=None)
        if best is None or best.lower.max() <= 0.0:
            return None
        j = int(np.argmax(best.lower))
        weights = witness_weights(self.priors, best.found[j])
        if weights is None:
            return None
        selection = int(np.argmax(best.of == j))
        masses = best.selections.lift(selection, doubles(best.found[j].law))
        return Exposure(best.selections.record, float(best.lower[j]), masses, (selection, weights))

    def proof(self) -> UpperProof:
        """The lines of docs/certificate-format.md, "Other adversaries"."""
        return tuple(line for kind in self._kinds for line in self._section(kind))

    def certain(self) -> tuple[float, UpperProof]:
        """One law for all selections of a kind."""
        kinds = [self._start(selections) for selections in self.selections]
        return max((float(kind.upper.max()) for kind in kinds), default=0.0), tuple(
            line for kind in kinds for line in self._section(kind)
        )

    def record_proofs(self) -> tuple[RecordProof, ...]:
        return tuple(
            RecordProof(kind.selections.record, kind.selections.times, "selections", max(len(kind.found), 1))
            for kind in self._kinds
        )

    @property
    def _enough(self) -> float:
        """An upper bound that needs no search."""
        return self.lower + self._resolution

    @property
    def _resolution(self) -> float:
        return max(RESOLUTION, SHARE * self.gap * self.lower if self.gap < 1.0 else 1.0)

    def _start(self, selections: Selections) -> _Kind:
        """Every selection bounded by one law, the average of all rows that occur."""
        if selections.letters * self._rows.shape[1] > MAX_NUMBERS:
            raise DaleniusError(
                f"nothing can be proved about this model: record {selections.record} has more than {MAX_NUMBERS} pairs of a letter "
                "and an output (docs/certificate-format.md)"
            )
        tuples, of = np.unique(self._row_of_input[selections.inputs], axis=0, return_inverse=True)
        law = _rounded(self._rows[np.unique(tuples)].mean(axis=0))
        divergences = relative_entropy(self._rows, law / law.sum())
        counts = self.priors.support(selections.letters)
        upper = divergences[tuples[:, counts]].max(axis=1)
        return _Kind(selections, tuples, of.reshape(-1), np.zeros(len(tuples)), np.maximum(upper, 0.0), law)

    def _search(self, kind: _Kind, j: int) -> None:
        rows = self._rows[kind.rows[j]]
        found = worst_law(rows, self.priors, gap=self._resolution, clock=self.clock)
        kind.found[j] = found
        kind.lower[j] = max(float(mutual_information(doubles(found.law)[:, None] * rows)), 0.0)
        law = _rounded(found.output)
        upper = largest_mean(self.priors, relative_entropy(rows, law / law.sum()))
        kind.upper[j] = min(kind.upper[j], max(upper, kind.lower[j]))

    def _section(self, kind: _Kind) -> UpperProof:
        """The lines that bound every selection of one kind of record."""
        lines: list[LawOfClass] = []
        rest = [j for j in range(len(kind.rows)) if j not in kind.found]
        if rest:
            listed = tuple(np.flatnonzero(np.isin(kind.of, rest)).tolist())
            lines.append(LawOfClass(listed, vector_text(kind.common), None))
        for j, found in kind.found.items():
            law, rows = _rounded(found.output), self._rows[kind.rows[j]]
            hints = multiplier_text(self.priors, relative_entropy(rows, law / law.sum()))
            lines.append(LawOfClass(tuple(np.flatnonzero(kind.of == j).tolist()), vector_text(law), hints))
        return (RecordLine(kind.selections.record), *lines)

    def _tell(self, stage: str, record: int | None, *, now: bool = False) -> None:
        searched = sum(len(kind.found) for kind in self._kinds)
        self.clock.tell(stage, self.lower, self.upper, searched, record=record, now=now)


def largest_mean(priors: PriorClass, divergences: Floats) -> float:
    """The largest mean over the class of numbers at least 0, as the multipliers of `multiplier_text` bound it."""
    scores = _scores(priors, divergences)
    return float(-arb(priors.below(-scores)))


def multiplier_text(priors: PriorClass, divergences: Floats) -> Vector | None:
    """What a certificate needs to bound the largest mean over a class: [t] of a KL ball, [t, v] of a chi-square ball, else null."""
    rate = priors.multipliers(-_scores(priors, divergences))
    match len(rate):
        case 1:
            return (short_text(1.0 / rate[0]),)
        case 2:
            return (short_text(rate[0]), short_text(-rate[1]))
    return None


def witness_weights(priors: PriorClass, found: WorstLaw) -> Vector | None:
    """The law as a certificate's witness has it, of a polytope the weights of its vertices; None if they would be too long."""
    weights = found.law
    if isinstance(priors, PriorPolytope):
        vertices = np.asarray(priors.vertices)
        weights = np.array([(found.shares * (found.parts == vertex).all(axis=1)).sum() for vertex in vertices])
    common = math.lcm(*{int(weight.q) for weight in weights})
    if common.bit_length() > WRITABLE_BITS // 2:
        return None
    return tuple(fraction_text(Fraction(int((weight * common).p))) for weight in weights)


def _scores(priors: PriorClass, divergences: Floats) -> Numbers:
    """As exact numbers, 0 at letters that no law of the class has."""
    scores = rationals(np.maximum(divergences, 0.0))
    scores[~priors.support(len(divergences))] = fmpq(0)
    return scores


def _rounded(law: Floats) -> Floats:
    return np.maximum(law.round(DECIMALS), LEAST)
