"""Numbers that are said to anybody are rounded outward: claims, and what `dalenius release` says about a budget."""

import contextlib
import json
import math
import sys
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

import dalenius as dl
import support
from campaigns import each
from dalenius import cli
from dalenius.evidence import round_down, round_up
from dalenius.intervals import text_above

STEP = Fraction(1, 2**46)


@given(st.floats(-1e6, 1e6))
def test_claims_are_the_nearest_multiples_outward(x):
    up, down, exact = Fraction(round_up(x)), Fraction(round_down(x)), Fraction(x)
    assert exact <= up < exact + STEP
    assert exact - STEP < down <= exact
    assert up % STEP == down % STEP == 0


@each("x", math.log(2.0), 1.0 / 3.0, 5e-324, 2.0**-47, 0.75 * 2.0**-46, 1.0 + 2.0**-52)
def test_between_two_multiples_the_ends_differ(x):
    assert round_down(x) < x < round_up(x)
    assert round_up(-x) == -round_down(x)


@given(st.fractions(0, 10**6) | st.floats(0, 1e300))
def test_texts_are_no_smaller_than_their_number(x):
    assert Fraction(x) <= Fraction(text_above(x)) <= Fraction(x) * Fraction(100_001, 100_000)


def design(budget: str) -> dl.MinDistortion:
    return support.design(dl.MinDistortion, dl.Records(2, alphabet=2), dl.Parity(), dl.Hamming(), budget, 0)


@pytest.mark.parametrize("budget", ["0.3", "1/3", "0.1"])
@pytest.mark.parametrize("units", ["nats", "bits"])
def test_a_budget_is_said_no_smaller_than_it_is(budget, units, tmp_path, monkeypatch, capsys):
    """The design's certificate proves that the leakage is at most the budget itself, which no double is; to the last bit but four."""
    problem = design(f"{budget} {units}")
    result = dl.solve(problem, gap=0.3, time_limit=None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.toml").write_text(dl.dumps(problem))
    (tmp_path / "data.csv").write_text("bit\n0\n1\n")
    result.mechanism.save(tmp_path / "noise.json")
    result.certificate.write(tmp_path / "proof.cert")
    files = ["model.toml", "--mechanism", "noise.json", "--data", "data.csv", "--certificate", "proof.cert"]
    monkeypatch.setattr(sys, "argv", ["dalenius", "release", *files, "--json"])
    with contextlib.suppress(SystemExit):
        cli.main()
    said = json.loads(capsys.readouterr().out)
    assert said["leakage_within_budget"] is True
    exact = Fraction(budget)
    in_nats = ball(exact) * (1 if units == "nats" else arb(2).log())
    for words, true in (("leakage_nats", in_nats), ("leakage_bits", in_nats / arb(2).log())):
        number = ball(Fraction(said[words]))
        if words.endswith(units):
            assert Fraction(said[words]) >= exact
        else:
            assert bool(number >= true)
        assert bool(number <= true * (1 + ball(Fraction(1, 2**50))))


def ball(x: Fraction) -> arb:
    """An enclosure of far more digits than a double has."""
    ctx.prec = max(ctx.prec, 128)
    return arb(fmpq(x.numerator, x.denominator))
