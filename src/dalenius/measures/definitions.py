"""The table of measures: a name, a formula of `dalenius.information.measures`, units and a line that says what it means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from dalenius.information import measures as formulas
from dalenius.information.capacity import capacity
from dalenius.information.measures import PriorClass
from dalenius.information.measures.numbers import divergence, doubles, largest, output_law
from dalenius.measures.evaluation import (
    exp_largest_lift,
    exp_largest_pointwise,
    exp_pointwise_of_column,
    largest_information,
)
from dalenius.measures.subjects import Data, Measured

Formula = Callable[[Measured], Any]
LEAKAGE, PROBABILITY, NUMBER = "leakage", "probability", "number"  # of which units a measure is


@dataclass(frozen=True)
class Definition:
    """A measure.

    Attributes
    ----------
    name, what : str
    units : {"leakage", "probability", "number"}
        Leakages are given in nats or bits.
    value : callable
        In exact numbers or balls, for what is measured.
    exponent : bool
        Whether the measure is the logarithm of `value`.
    searched : bool
        Whether `value` starts from what was found in doubles, so that more bits change nothing.
    most : int, optional
        What the measure never exceeds; 1 for probabilities.
    """

    name: str
    units: str
    what: str
    value: Formula
    exponent: bool = False
    searched: bool = False
    most: int | None = None

    @property
    def limit(self) -> int | None:
        """Largest value that the measure can have."""
        return 1 if self.units == PROBABILITY else self.most


def log_of(name: str, what: str, value: Formula) -> Definition:
    """A leakage that is the logarithm of `value`."""
    return Definition(name, LEAKAGE, what, value, exponent=True)


def probability(name: str, what: str, value: Formula) -> Definition:
    """A measure that is a probability."""
    return Definition(name, PROBABILITY, what, value)


def of_both(function: Callable[..., Any]) -> Formula:
    """A formula of channel and prior."""
    return lambda measured: function(*measured.joint)


def of_channel(function: Callable[..., Any]) -> Formula:
    """A formula that needs no prior."""
    return lambda measured: function(measured.channel)


def shannon_capacity(measured: Measured) -> arb:
    """A ball around the Shannon capacity.

    *Bound because* I(p) <= C for every law p of the inputs, and C <= max_x D(W_x || r) for every law r of the outputs: the two laws
    that the search in doubles ends with are taken exactly.
    """
    rows = measured.joint[0]
    near = doubles(rows)
    found = capacity(near / near.sum(axis=1, keepdims=True), gap=1e-13)
    inputs, outputs = _exactly(found.input_law), _exactly(found.output_law)
    lower = arb(formulas.mutual_information(rows, inputs).item())
    upper = arb(largest(divergence(rows, outputs)).item())
    return lower.union(upper) if upper.is_finite() else arb.nan()


def _exactly(law: Any) -> Any:
    """The doubles of a law, divided by their sum."""
    weights = np.array([arb(float(x)) for x in law], dtype=object)
    return weights / weights.sum()


def _conditional(measured: Measured) -> Any:
    assert measured.data is not None
    assert measured.others is not None
    others, channel = measured.others, measured.data.channel
    return formulas.conditional_mutual_information(
        (channel[inputs] for inputs in others.inputs), others.laws, others.weights
    )


def of_data(function: Callable[[Data], Any]) -> Formula:
    """A formula of the channel of all records."""

    def value(measured: Measured) -> Any:
        assert measured.data is not None
        return function(measured.data)

    return value


def over_class(function: Callable[[Any, PriorClass], Any]) -> Formula:
    """A supremum over a class of priors."""

    def value(measured: Measured) -> Any:
        assert measured.priors is not None
        return function(measured.joint[0], measured.priors)

    return value


OF_CHANNEL = (
    Definition(
        "mutual_information",
        LEAKAGE,
        "what the output reveals on average, I(X;Y), under this prior",
        of_both(formulas.mutual_information),
    ),
    Definition(
        "shannon_capacity",
        LEAKAGE,
        "the largest mutual information over all priors of the secret",
        shannon_capacity,
        searched=True,
    ),
    log_of(
        "pointwise_maximal_leakage",
        "how much likelier any output makes the right guess of anything about the secret",
        lambda measured: largest(formulas.exp_pointwise_maximal_leakage(*measured.joint)),
    ),
    log_of(
        "maximal_leakage",
        "the same on average over the outputs, for every prior with full support",
        of_channel(formulas.exp_maximal_leakage),
    ),
    log_of(
        "leakage_capacity",
        "the pointwise maximal leakage, at most, over all priors with full support",
        of_channel(formulas.exp_local_dp),
    ),
    log_of(
        "local_dp",
        "epsilon of local differential privacy: the log of the largest ratio in a column",
        of_channel(formulas.exp_local_dp),
    ),
    log_of(
        "local_information_privacy",
        "epsilon, if likelihoods may differ from their mean by e^-epsilon to e^epsilon",
        of_both(formulas.exp_information_privacy),
    ),
    log_of(
        "information_privacy",
        "by how much an output raises or lowers the odds of a value of the secret",
        of_both(formulas.exp_information_privacy),
    ),
    log_of(
        "min_entropy_leakage",
        "how much likelier the best guess of the secret itself becomes on average",
        of_both(formulas.exp_min_entropy_leakage),
    ),
    probability(
        "bayes_advantage",
        "what the output adds to the probability that the best guess is right",
        of_both(formulas.bayes_advantage),
    ),
    Definition(
        "total_variation",
        NUMBER,
        "sum |P(x,y) - P(x) q(y)|, from 0 to 2: twice the usual distance",
        of_both(formulas.total_variation),
        most=2,
    ),
    Definition(
        "chi_square", NUMBER, "sum P(x,y)^2 / (P(x) q(y)) - 1, Pearson's statistic a draw", of_both(formulas.chi_square)
    ),
    Definition(
        "maximal_correlation",
        NUMBER,
        "the largest correlation of a function of the secret and one of the output",
        of_both(formulas.maximal_correlation),
        most=1,
        searched=True,
    ),
    Definition(
        "strong_total_variation",
        NUMBER,
        "sum |q(y) - P(y|x)|, from 0 to 2, for the worst value x of the secret",
        of_both(formulas.strong_total_variation),
        most=2,
    ),
    Definition("strong_kl", LEAKAGE, "D(q || P(.|x)) for the worst value x of the secret", of_both(formulas.strong_kl)),
    Definition(
        "strong_chi_square",
        NUMBER,
        "sum q(y)^2 / P(y|x) - 1 for the worst value x of the secret",
        of_both(formulas.strong_chi_square),
    ),
    probability(
        "disclosure",
        "of an output that excludes a value of the secret, and so reveals something for sure",
        of_both(formulas.disclosure),
    ),
    probability(
        "singling_out", "of an output that leaves one value of the secret alone", of_both(formulas.singling_out)
    ),
)
"""What every channel has. `kl` has no row: it is the mutual information."""

OF_RECORDS = (
    Definition(
        "conditional_mutual_information",
        LEAKAGE,
        "what the output reveals about the record where all the others are known",
        _conditional,
    ),
    log_of(
        "differential_privacy",
        "epsilon for datasets that differ in one record; no prior",
        of_data(lambda data: data.exp_differential_privacy),
    ),
    log_of(
        "free_lunch_privacy",
        "epsilon for any two datasets: what holds whatever the records have to do with each other",
        of_data(lambda data: data.exp_free_lunch_privacy),
    ),
)
"""What one record of several has besides."""


SUPREMA = {
    "mutual_information": largest_information,
    "pointwise_maximal_leakage": exp_largest_pointwise,
    "local_information_privacy": exp_largest_lift,
    "information_privacy": exp_largest_lift,
}
NEEDS_NO_PRIOR = ("shannon_capacity", "maximal_leakage", "leakage_capacity", "local_dp")
OVER = "over the class, at most: "
OF_CLASS = tuple(
    replace(
        definition,
        what=f"{OVER}{definition.what.removesuffix(', under this prior')}",
        value=over_class(SUPREMA[definition.name]),
        searched=True,
    )
    if definition.name in SUPREMA
    else definition
    for definition in OF_CHANNEL
    if definition.name in SUPREMA or definition.name in NEEDS_NO_PRIOR
)
"""What is offered over a class of priors: the largest of each; docs/measures.md says why not the others."""
OF_ALL_PRIORS = tuple(
    replace(
        definition, name="min_entropy_leakage", what=f"{OVER}how much likelier the best guess of the secret becomes"
    )
    for definition in OF_CHANNEL
    if definition.name == "maximal_leakage"
)
"""What is offered over all priors besides: it is the maximal leakage, at the uniform prior."""
DELTA_OF_CLASS = "local_dp_delta"  # which needs no prior
NO_PRIOR = (DELTA_OF_CLASS, "local_renyi_dp", "attack_advantage", "true_positive_rate")  # of what is asked for besides


def at_epsilon(text: str, factor: Any) -> list[Definition]:
    """The deltas that an epsilon leaves; `factor` is e^epsilon, or a ball around it."""

    def both(function: Callable[..., Any]) -> Formula:
        return lambda measured: function(*measured.joint, factor)

    return [
        probability(
            f"local_dp_delta({text})",
            "delta of (epsilon, delta)-local differential privacy",
            lambda measured: formulas.local_dp_delta(measured.joint[0], factor),
        ),
        probability(
            f"local_information_privacy_delta({text})",
            "delta of (epsilon, delta)-local information privacy",
            both(formulas.local_information_privacy_delta),
        ),
        probability(
            f"information_privacy_delta({text})",
            "of a value and an output whose odds change by more than epsilon",
            both(formulas.information_privacy_delta),
        ),
        probability(
            f"strong_information_privacy_delta({text})",
            "of an output that changes the odds of any value by more than epsilon",
            both(formulas.strong_information_privacy_delta),
        ),
        probability(
            f"pointwise_maximal_leakage_delta({text})",
            "of an output whose pointwise maximal leakage is above epsilon",
            both(formulas.pointwise_maximal_leakage_delta),
        ),
    ]


def at_order(text: str, order: Fraction) -> list[Definition]:
    """Information and divergence of an order."""
    return [
        Definition(
            f"sibson_information({text})",
            LEAKAGE,
            "what the output tells in Sibson's sense of this order: 1 is the mean, infinity the maximal leakage",
            lambda measured: formulas.sibson_information(*measured.joint, order),
        ),
        Definition(
            f"local_renyi_dp({text})",
            LEAKAGE,
            "Renyi divergence of this order, RDP, of any two values of the secret",
            lambda measured: formulas.local_renyi_dp(measured.joint[0], order),
        ),
    ]


ADVANTAGE = probability(
    "attack_advantage",
    "true positives less false ones, at most, of a test between two values of the secret",
    of_channel(formulas.pairwise_total_variation),
)


def at_level(text: str, level: Fraction) -> list[Definition]:
    """Power of an attack."""
    return [
        ADVANTAGE,
        probability(
            f"true_positive_rate({text})",
            "of the best test between two values of the secret, at this rate of false positives",
            lambda measured: formulas.true_positive_rate(measured.joint[0], level),
        ),
    ]


def of_gains(gains: Any) -> list[Definition]:
    """Worth of the output to somebody with these gains."""
    return [
        log_of(
            "g_leakage",
            "how much larger the best expected gain becomes, for the gains that were given",
            lambda measured: formulas.exp_g_leakage(*measured.joint, gains),
        ),
        Definition(
            "g_advantage",
            NUMBER,
            "what the output adds to the best expected gain",
            lambda measured: formulas.g_advantage(*measured.joint, gains),
        ),
    ]


def of_output(y: int, label: str) -> list[Definition]:
    """The leakage and the probability of one output."""
    return [
        log_of(
            f"pointwise_maximal_leakage[{label}]",
            f"the pointwise maximal leakage of output {label}",
            lambda measured: formulas.exp_pointwise_maximal_leakage(*measured.joint)[y],
        ),
        probability(
            f"output_probability[{label}]", f"of output {label}", lambda measured: output_law(*measured.joint)[y]
        ),
    ]


def of_output_over_class(y: int, label: str) -> list[Definition]:
    """The same, the largest over a class of priors."""
    leakage, probability = of_output(y, label)
    value = over_class(lambda channel, priors: exp_pointwise_of_column(channel[:, y], priors))
    return [replace(leakage, what=f"{OVER}{leakage.what}", value=value, searched=True), probability]


def without_own_answer(letter: int) -> Definition:
    """Leakage about a record that a release does not see: a fixed letter stands in for it, and the others answer as they do."""
    what = f"what the output reveals on average if letter {letter} stands in for the record's own: what the others give away"
    return replace(OF_CHANNEL[0], name=f"mutual_information_without_own_answer[{letter}]", what=what)
