"""Limits about secrets in programs: tangents bound the measure everywhere and touch it somewhere; values are those of the measures."""

from fractions import Fraction

import numpy as np
import pytest

from campaigns import each
from dalenius.information import measures
from dalenius.information.capacity import capacity
from dalenius.programs.secret_parts import (
    ChiSquarePart,
    CorrelationPart,
    HockeyStickPart,
    InformationPart,
    StrongKLPart,
    VariationPart,
)
from dalenius.programs.secrets import SelectionPart

PAIRS = [(0, 1), (1, 0), (0, None), (None, 2)]
MADE = {
    "information": (InformationPart, measures.mutual_information),
    "strong KL": (StrongKLPart, measures.strong_kl),
    "variation": (lambda P, most: VariationPart(P, most, False), measures.total_variation),
    "strong variation": (lambda P, most: VariationPart(P, most, True), measures.strong_total_variation),
    "chi-square": (lambda P, most: ChiSquarePart(P, most, False), measures.chi_square),
    "strong chi-square": (lambda P, most: ChiSquarePart(P, most, True), measures.strong_chi_square),
    "correlation": (CorrelationPart, lambda W, pi: measures.maximal_correlation(W, pi) ** 2),
    "hockey-stick": (lambda P, most: HockeyStickPart(P, most, PAIRS, (Fraction(3, 2), Fraction(3, 2))), None),
    "selection": (lambda P, most: SelectionPart(np.eye(4)[[0, 2, 3]], most), None),
}


def drawn(rng: np.random.Generator, outputs: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """A joint law of 3 letters and 4 inputs, and a mechanism."""
    return rng.dirichlet(np.ones(12)).reshape(3, 4), rng.dirichlet(np.ones(outputs), size=4)


@each("name", *MADE)
def test_every_tangent_is_below_the_measure(name):
    rng = np.random.default_rng(3)
    for _ in range(20):
        P, Q = drawn(rng)
        part = MADE[name][0](P, 0.3)
        hints = part.valid(rng.normal(size=(part.count, part.width(4))) + 1.0)
        values = np.broadcast_to(part.values(P @ Q), part.count)
        for i, hint in enumerate(hints):
            matrix, _, behind = part.combined(np.eye(part.count)[i], hints)
            given_away = float(np.sum(Q * matrix)) - behind
            most = part.behind(i, hint) / part.at_most if name in ("correlation", "hockey-stick") else 1.0
            assert given_away <= most * (values[i] - part.at_most) + 1e-12


def test_the_tangents_of_a_selection_come_near_its_capacity():
    """At the best law of the letters, and the posteriors that it has, the tangent touches."""
    Q = np.random.default_rng(6).dirichlet(np.ones(4), size=4)
    part = SelectionPart(np.eye(4)[[0, 2, 3]], 0.3)
    best = capacity(Q[[0, 2, 3]], gap=1e-14)
    joint = np.maximum(best.input_law, 1e-12)[:, None] * Q[[0, 2, 3]]
    hints = part.valid(np.concatenate([best.input_law, joint.reshape(-1)])[None])
    matrix, _, behind = part.combined(np.ones(1), hints)
    assert float(np.sum(Q * matrix)) - behind == pytest.approx(best.lower - 0.3, abs=1e-9)


@each("name", *[name for name, (_, measure) in MADE.items() if measure is not None])
def test_values_are_those_of_the_measures(name):
    P, Q = drawn(np.random.default_rng(4))
    make, measure = MADE[name]
    part = make(P, 0.3)
    found = float(measure(P @ Q / P.sum(axis=1)[:, None], P.sum(axis=1)))
    assert np.isclose(part.values(P @ Q).max(), found, rtol=1e-9)
    assert np.isclose(part.excess(Q), found - 0.3, rtol=1e-9, atol=1e-12)


@each("name", *MADE)
def test_nothing_is_known_of_an_answer_without_multipliers(name):
    part = MADE[name][0](drawn(np.random.default_rng(5))[0], 0.3)
    assert part.tangents({}) is None
    weights, hints = part.nothing(4)
    assert not weights.any()
    assert hints.shape == (part.count, part.width(4))
    assert np.all(np.isfinite(part.valid(np.full_like(hints, np.nan))))
