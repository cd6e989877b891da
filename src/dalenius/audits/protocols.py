"""Local protocols against independent records or classes of laws: both ends from closed forms, without the channel.

*Why*: as for the adversaries themselves (`product_priors.py`, `law_classes.py`); the output law of an upper end is the one that a law
of the inputs causes, so that all divergences have the closed form of `dalenius.information.set_channels`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.audits.law_classes import (
    SHARE,
    ClassAudit,
    Evidence,
    Kind,
    Line,
    exact_weights,
    largest_mean,
    multiplier_text,
)
from dalenius.evidence import vector_text
from dalenius.evidence.lower import How, Vector
from dalenius.evidence.upper import MixtureOfClass, MixtureOfSelections
from dalenius.information.arrays import Integers
from dalenius.information.law_classes import coarser
from dalenius.information.measures import AllPriors, PriorClass
from dalenius.information.measures.numbers import doubles
from dalenius.information.protocol_laws import planned, worst_protocol_law
from dalenius.model.adversaries import LawClass
from dalenius.model.mechanisms import LocalProtocol
from dalenius.reduction import Selections, record_selections

__all__ = ["ProtocolAudit"]

RESOLUTION = 1e-12  # nats: closed forms are summed in doubles
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
        return max(RESOLUTION, SHARE * min(self.gap, 1.0) * self.lower)

    def _start(self, selections: Selections) -> Kind:
        """Every selection bounded by one law, that of all inputs alike."""
        tuples, of = np.unique(selections.inputs, axis=0, return_inverse=True)
        weights = np.ones(self.inputs)
        bounds = planned(self.sets, weights / weights.sum(), RESOLUTION)
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
        bounds = planned(self.sets, weights / weights.sum(), RESOLUTION)
        assert bounds is not None
        law = np.full(len(inputs), 1.0 / len(inputs))
        upper = largest_mean(self.priors, bounds[2][inputs])
        line = self._line(vector_text(weights), multiplier_text(self.priors, bounds[2][inputs]), bounds[0].how)
        return Evidence(0.0, upper, law, None, line)

    def _line(self, weights: Vector, multipliers: Vector | None, how: How) -> Line:
        if self.of_class:
            return lambda selections: MixtureOfClass(selections, weights, multipliers, how)
        return lambda selections: MixtureOfSelections(selections, weights, how)
