"""Bits at the door: conversion rounds outward, checked in exact arithmetic."""

import math
from decimal import Decimal, localcontext

from hypothesis import given
from hypothesis import strategies as st

from dalenius.units import lower_in, nats_above, upper_in
from support import examples


@examples(300, 300)
@given(st.floats(0.0, 1e6))
def test_bits_enclose_the_exact_quotient(nats):
    with localcontext(prec=60):
        exact = Decimal(nats) / Decimal(2).ln()
        assert Decimal(lower_in(nats, "bits")) <= exact <= Decimal(upper_in(nats, "bits"))
    assert lower_in(nats, "bits") >= 0.0
    assert (lower_in(nats, "nats"), upper_in(nats, "nats")) == (nats, nats)


@examples(300, 300)
@given(st.floats(0.0, 1e6))
def test_nats_above_bits(bits):
    with localcontext(prec=60):
        assert Decimal(bits) * Decimal(2).ln() <= Decimal(nats_above(bits, "bits"))
    assert nats_above(bits, "bits") <= bits * 0.693147180559947 + 2e-323
    assert nats_above(bits, "nats") == bits


def test_infinite_bounds_stay_infinite():
    """Nothing is feasible: that is so in every unit."""
    assert lower_in(math.inf, "bits") == upper_in(math.inf, "bits") == math.inf
