"""Utility beside a secret: the catalogue's numbers, and brute force over releases."""

import math
from fractions import Fraction

import numpy as np
import pytest

from campaigns import draws, each
from dalenius.conversions import PrivateUtility
from definitions import information
from support import refused

FAIR = [["0.4", "0.1"], ["0.1", "0.4"]]  # a fair bit, and what a channel of flip 0.2 makes of it


@each(
    "epsilon, alone",
    ("0.02", 0.07192384283446),
    ("0.05", 0.1798096070861),
    ("0.1", 0.3596192141723),
    ("0.15", 0.5394288212584),
)
def test_the_catalogue(epsilon, alone):
    found = PrivateUtility.of(FAIR, epsilon)
    assert found.exact
    assert found.at_least == pytest.approx(alone, rel=1e-12)
    assert found.at_most == pytest.approx(min(0.5004024235382 + float(epsilon), math.log(2)), rel=1e-12)
    assert found.at_least <= found.at_least_knowing <= found.at_most


def test_the_two_lower_bounds_of_proposition_8():
    """As printed, with a constant of bits in a formula in nats, the second would be -3.360697875495."""
    found = PrivateUtility.of(FAIR, "0.05")
    assert found.first == pytest.approx(0.05, abs=1e-14)
    assert found.second == pytest.approx(-2.285936871326, abs=1e-11)


def test_where_the_query_determines_the_secret_both_ends_meet_for_those_who_know_it():
    """H(f|g) + epsilon; and from I(f;g) on the query itself may be released."""
    joint = [["1/4", "1/4", "0"], ["0", "0", "1/2"]]
    found = PrivateUtility.of(joint, "0.1")
    assert found.at_most == pytest.approx(0.5 * math.log(2) + 0.1, rel=1e-12)
    assert found.at_least_knowing == pytest.approx(found.at_most, rel=1e-12)
    whole = PrivateUtility.of(joint, 1)
    assert whole.exact
    assert whole.at_least == pytest.approx(1.5 * math.log(2), rel=1e-12)
    assert whole.at_most == pytest.approx(1.5 * math.log(2), rel=1e-12)
    unrelated = PrivateUtility.of([["1/4", "1/4"], ["1/4", "1/4"]], 0)
    assert unrelated.exact
    assert unrelated.at_least == pytest.approx(math.log(2), rel=1e-12)


def test_no_release_tells_more_and_erasing_tells_as_much():
    """Random tables, and random releases of the query as it is or with the secret."""
    rng = np.random.default_rng(1)
    for _ in range(draws(20, 400)):
        counts = rng.integers(1, 20, (2, 3))
        joint = counts / counts.sum()
        exact = [[Fraction(int(c), int(counts.sum())) for c in row] for row in counts]
        release = rng.dirichlet(np.full(4, 0.3), size=3)
        both = rng.dirichlet(np.full(4, 0.3), size=(2, 3))
        alone, knowing = joint.T @ np.eye(2), np.einsum("gf,gfm->fm", joint, both)
        secret = information(joint @ release)
        query = information(np.diag(alone.sum(axis=1)) @ release)
        assert query <= PrivateUtility.of(exact, secret).at_most + 1e-12
        assert (
            information(knowing)
            <= PrivateUtility.of(exact, information(np.einsum("gf,gfm->gm", joint, both))).at_most + 1e-12
        )
        epsilon = 0.5 * information(joint)
        erased = np.hstack([0.5 * joint, 0.5 * joint.sum(axis=1, keepdims=True)])
        assert information(erased) == pytest.approx(epsilon)
        law = joint.sum(axis=0)
        kept = information(np.hstack([0.5 * np.diag(law), 0.5 * law[:, None]]))
        assert PrivateUtility.of(exact, epsilon).at_least == pytest.approx(kept, rel=1e-9)


@each("joint, epsilon", ([], 1), ([[0.5, 0.4]], 1), ([[1, -1], [1, 0]], 1), (FAIR, -1), (FAIR, "a"))
def test_what_is_no_law_is_refused(joint, epsilon):
    refused(lambda: PrivateUtility.of(joint, epsilon))
