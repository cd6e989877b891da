"""Proofs that are known already are used again: by a sweep, and only where they say something about the question."""

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
from dalenius.audits import audit_of
from dalenius.evidence import round_down, round_up
from dalenius.evidence.upper import LettersLine
from dalenius.intervals import text_above
from dalenius.search import Limits, Run
from dalenius.studies.curves import entropy_curve

GAP = 1e-2
SHARES = {"parity/symmetric-n2": "3/5", "modular-sum/symmetric-m3-n3": "9/10", "sum/unequal-alphabets": "2/5"}


def methods(result: dl.answers.Result) -> set[str]:
    return {proof.method for proof in result.records}


def sweep(model: str, *shares: str) -> list[dl.answers.Result]:
    return [point.result for point in entropy_curve(dl.load(model), shares, gap=GAP, time_limit=None)]


@pytest.mark.parametrize(("model", "share"), SHARES.items())
def test_a_sweep_does_not_prove_the_same_twice(model, share):
    first, second = sweep(model, share, share)
    assert "earlier" not in methods(first)
    assert methods(second) == {"earlier"}
    assert second.upper <= first.upper + 1e-12


def test_a_sweep_downward_has_nothing_to_reuse():
    """A proof for more entropy says nothing about an adversary that knows more."""
    assert all("earlier" not in methods(result) for result in sweep("parity/symmetric-n2", "4/5", "3/5"))


def test_a_known_proof_in_bits_is_not_one_in_nats():
    """Read as nats, its number is 1.44 times as large, and good enough for a gap of 0.4: it is converted, or left alone."""
    problem = dl.load("parity/symmetric-n2")
    known = dl.solve(problem, gap=1e-3, time_limit=None)
    in_nats, in_bits = (dl.solve(problem, gap=0.4, time_limit=None, known=proof) for proof in (known, known.to("bits")))
    assert methods(in_nats) == {"earlier"}
    assert in_nats.upper <= known.upper + 1e-12
    assert "earlier" not in methods(in_bits) or in_bits.upper <= known.upper * (1.0 + 1e-9)


# How narrow a band few proofs leave: lines from above, where a staircase would be as wide as the leakage falls between them.


BANDS = ["0", "0.5", "0.75", "0.9", "1"]
PLACES = [f"{j}/50 max" for j in range(51)]


def test_five_proofs_of_a_count(curves, counted_time):
    """Nats; the leakage itself falls from 0.46 to 0.04. The staircase has the same proofs without their lines and witnesses."""
    question = support.problem(dl.Records(6, alphabet=2), dl.Count(), dl.geometric("0.6"), dl.AnyPrior())
    points = list(dl.entropy_curve(question, BANDS, gap=6e-2, time_limit=None))
    lines = dl.answers.LeakageCurve.of(*((point.problem, point.result) for point in points))
    stairs = dl.answers.LeakageCurve(tuple((problem, curves.plain(proof)) for problem, proof in lines.proofs))
    widest, staircase = (max(high - low for low, high in map(band.at, PLACES)) for band in (lines, stairs))
    assert widest < 0.06
    assert staircase > 0.15


# An upper end is never above all there is to know, whatever the adversary, and however little time there was.


FAR = dl.Records(8, alphabet=2)  # records whose rows no one law is near to
SECRET = {"secrets": dl.Secret(dl.Parity(), given=dl.Letters(2))}


def searched(adversary, mechanism, **secrets):
    """An audit that was given no time at all."""
    kind = dl.SecretLeakage if secrets else dl.WorstCaseLeakage
    problem = kind(records=FAR, query=dl.Count(), mechanism=mechanism, adversary=adversary, **secrets)
    search = Run.of(Limits(time_limit=1e-9))
    audit = audit_of(problem, search)
    audit.run()
    return audit


@each(
    "adversary, mechanism, secrets",
    (dl.ProductPriors(), dl.geometric(3), {}),
    (dl.ProductPriors(), dl.gaussian(0.2), {}),
    (dl.FloorPriors("1/1000"), dl.geometric(3), {}),
    (dl.FloorPriors("1/1000"), dl.gaussian(0.2), {}),
    (dl.AnyPrior(), dl.geometric(3), {}),
    (dl.AnyPrior(), dl.gaussian(0.2), {}),
    (dl.AnyPrior(), dl.geometric(3), SECRET),
    (dl.ProductPriors(), dl.geometric(3), SECRET),
    (dl.EntropyAtLeast("1/10 max"), dl.geometric(3), SECRET),
    (dl.FloorPriors("1/100000"), dl.geometric(3), SECRET),
)
def test_without_time_the_upper_end_is_the_entropy_of_the_letters(adversary, mechanism, secrets):
    audit = searched(adversary, mechanism, **secrets)
    assert audit.upper <= math.log(2)
    assert all(end.rounded <= math.log(2) + 1e-6 for end in audit.uppers())


def test_many_independent_records_are_told_no_more_than_a_letter():
    """One law for all selections is 5.96 nats away from the farthest."""
    crowd = support.problem(dl.Records(100, alphabet=2), dl.Count(), dl.geometric(1), dl.ProductPriors())
    found = dl.solve(crowd, gap=1.0)
    assert 0.1109 < found.lower <= found.upper <= math.log(2) + 1e-12
    assert LettersLine() in found.certificate.upper_lines()
    assert [proof.method for proof in found.records] == ["letters"]


# Numbers that are said to anybody are rounded outward: claims, and what `dalenius release` says about a budget.


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
