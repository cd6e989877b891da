"""The band that proofs leave of a whole curve: valid numbers for every entropy bound, from claims that are proved."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.evidence import CurveClaim, Header
from dalenius.model import digest

RELEASE = support.problem(dl.Records(2, alphabet=2), dl.Parity(), dl.symmetric(0.1, k=2), 0)


def against(entropy):
    return replace(RELEASE, adversary=dl.EntropyAtLeast(entropy, "nats"))


def claiming(entropy, lower, upper, above=(), below=()):
    """A problem with a certificate that only claims."""
    problem = against(entropy)
    curve = CurveClaim(above, below) if above else None
    header = Header(problem.kind, digest(problem), lower, upper, curve=curve)
    return problem, dl.Certificate(header.encode() + "\n")


def curve_of(*proofs):
    """Of claims, as if they were proved."""
    return dl.answers.LeakageCurve(proofs)


FIRST = claiming("0.5 max", "0.2", "0.3", [("0.6", "0.4"), ("0.35", "0")], [("9/10 max", "0.1"), ("1 nats", "0.15")])
SECOND = claiming("0.25 max", "0.28", "0.33")


def test_the_band_is_made_of_claims():
    band = curve_of(FIRST, SECOND)
    largest = math.log(4)
    for entropy, low, high in [
        (0, 0.28, 0.6),
        ("0.25 max", 0.28, 0.33),
        ("0.3 max", 0.2, 0.33),
        ("0.5 max", 0.2, 0.3),
        ("0.7 nats", 0.15, 0.3),
        ("1 nats", 0.15, 0.3),
        ("0.9 max", 0.1, 0.3),
        ("1 max", 0.0, 0.3),
        ("0.55 bits", 0.2, 0.33),
    ]:
        assert band.at(entropy) == pytest.approx((low, high), abs=1e-12), entropy
    assert curve_of(FIRST).upper("0.4 max") == pytest.approx(max(0.6 - 0.4 * 0.4 * largest, 0.35))
    assert curve_of(SECOND).at(0) == (pytest.approx(0.28), math.inf)


def test_numbers_are_rounded_outward():
    """A third is no double: the ends lie on either side, in either unit."""
    band = curve_of(claiming(0, "1/3", "1/3", [("1/3", "0")], [("1 max", "1/3")]))
    for entropy in (0, "1/3 max", "1 max"):
        low, high = band.at(entropy)
        assert low < Fraction(1, 3) < high
        assert high - low <= 2e-16
        low, high = band.to("bits").at(entropy)
        assert low * math.log(2) < 1 / 3 < high * math.log(2)


def test_entropies_in_other_units_are_compared_exactly_or_not_at_all():
    """One bit is half of log 4 exactly, which enclosures cannot tell: then nothing is taken from that claim."""
    in_bits = curve_of(claiming("1 bits", "0.2", "0.3"))
    assert in_bits.at("1 bits") == pytest.approx((0.2, 0.3))
    assert in_bits.at("0.5 max") == (0.0, math.inf)
    assert in_bits.at("0.51 max") == pytest.approx((0.0, 0.3))
    assert in_bits.at("0.49 max") == (pytest.approx(0.2), math.inf)


def test_who_proves_what():
    band = curve_of(FIRST, SECOND)
    assert band.proved_by("0.3 max") == (FIRST[1], SECOND[1])
    assert band.proved_by("1 max") == (None, FIRST[1])
    assert band.certificates == (FIRST[1], SECOND[1])


def test_the_next_point_is_where_the_band_is_widest():
    """Between a proof at 0 and one at the end, each level, it is the place where a line comes down."""
    band = curve_of(claiming("0 max", "0.5", "0.5"), claiming("1 max", "0.1", "0.1"))
    assert band.widest() in [Fraction(j, 10) for j in range(1, 10)]
    # lines: at 0.4 max the upper end is 0.5, and 0.1 from below
    sloped = claiming("0.5 max", "0.3", "0.3", [("0.7", str(0.8 / math.log(4)))], [("2/5 max", "0.49")])
    band = curve_of(claiming("0 max", "0.5", "0.5"), sloped, claiming("1 max", "0.1", "0.1"))
    share = band.widest()
    low, high = band.at(f"{share} max")
    assert all(high - low >= band.upper(f"{s}/20 max") - band.lower(f"{s}/20 max") - 0.03 for s in range(21))
    assert band.widest(gap=1.0) is None


def test_a_share_that_has_a_proof_is_not_chosen_again():
    hard = claiming("0.5 max", "0.1", "0.4"), claiming("0 max", "0.1", "0.4"), claiming("1 max", "0.1", "0.4")
    assert curve_of(*hard).widest() is None


def test_what_is_not_proved_is_refused():
    with pytest.raises(dl.errors.NotProvedError, match="curve"):
        dl.answers.LeakageCurve.of(FIRST)
    result = dl.solve(against("0.5 max"), gap=1e-3)
    for proof in (result, result.certificate):
        assert dl.answers.LeakageCurve.of((against("0.5 max"), proof)).upper("0.5 max") == result.upper


def test_what_is_no_curve():
    result = dl.solve(RELEASE, gap=1e-2)
    other = replace(RELEASE, query=dl.Count(), mechanism=dl.symmetric(0.1, k=3))
    design = dl.load("design/and-full")
    cases = [
        ([], "expected pairs"),
        ([(design, result)], "entropy_at_least"),
        ([(replace(RELEASE, adversary=dl.ProductPriors()), result)], "entropy_at_least"),
        ([(RELEASE, result), (other, dl.solve(other, gap=0.5))], "several releases"),
        ([(against("0.5 max"), result)], "its own result"),
        ([(RELEASE, "proof.cert")], "its own result"),
    ]
    for proofs, words in cases:
        with pytest.raises(dl.errors.InputError, match=words):
            dl.answers.LeakageCurve.of(*proofs)


@each("entropy", -1, "1.1 max", 2, "3 bits", "much")
def test_what_is_no_entropy(entropy):
    support.refused(lambda: curve_of(FIRST).at(entropy))


def test_no_other_units():
    support.refused(lambda: curve_of(FIRST).to("hartleys"), "bits")
