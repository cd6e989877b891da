"""Bits at the door: conversion rounds outward, checked in exact arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext

from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.units import lower_in, upper_in


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.floats(0.0, 1e6))
def test_bits_enclose_the_exact_quotient(nats):
    with localcontext(prec=60):
        exact = Decimal(nats) / Decimal(2).ln()
        assert Decimal(lower_in(nats, "bits")) <= exact <= Decimal(upper_in(nats, "bits"))
    assert lower_in(nats, "bits") >= 0.0
    assert (lower_in(nats, "nats"), upper_in(nats, "nats")) == (nats, nats)
