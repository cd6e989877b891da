"""What is disclosed together with an attribute: reference values, and the threshold."""

import math
from fractions import Fraction

import pytest

from dalenius.conversions import mixture_min_entropy, mixture_threshold
from dalenius.errors import InputError

LAW = ["0.2", "0.5", "0.3"]


def test_reference_values():
    assert mixture_threshold(LAW, 0) == Fraction(3, 8)
    for mixing, left in (("0.475", 0.5447271754), ("0.9", 0.08338160894)):
        assert mixture_min_entropy(LAW, 0, mixing) == pytest.approx(left, abs=1e-10)


def test_the_threshold_is_where_it_becomes_easier():
    at = mixture_threshold(LAW, 0)
    assert mixture_min_entropy(LAW, 0, at) == pytest.approx(math.log(2), abs=1e-15)
    assert mixture_min_entropy(LAW, 0, at + Fraction(1, 1000)) < math.log(2) - 1e-3
    assert mixture_threshold(LAW, 1) == 0


def test_what_is_certain_already_is_refused():
    with pytest.raises(InputError, match="not certain"):
        mixture_threshold([1, 0], 0)
