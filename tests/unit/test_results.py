"""One story of units for both results: what is measured, in what, and what can be converted."""

import dataclasses
import math

import pytest

import dalenius as dl
import support

RECORDS, PARITY, HAMMING = dl.Records(3, alphabet=2), dl.Parity(), dl.Hamming()
ADVERSARY = dl.EntropyAtLeast("0.5 max")


@pytest.fixture(scope="module")
def audit():
    problem = dl.WorstCaseLeakage(records=RECORDS, query=PARITY, mechanism=dl.symmetric(0.1, k=2), adversary=ADVERSARY)
    return dl.solve(problem, time_limit=None)


@pytest.fixture(scope="module")
def least_leakage():
    problem = dl.MinLeakage(records=RECORDS, query=PARITY, distortion=HAMMING, max_distortion=0.1, adversary=ADVERSARY)
    return dl.solve(problem, gap=1e-2, time_limit=None)


@pytest.fixture(scope="module")
def least_distortion():
    problem = support.design(dl.MinDistortion, RECORDS, PARITY, HAMMING, "0.3 bits", ADVERSARY)
    return dl.solve(problem, gap=1e-2, time_limit=None)


@pytest.fixture(scope="module")
def nothing():
    problem = support.design(dl.MinLeakage, RECORDS, PARITY, dl.DistortionMatrix([[1, 2], [2, 1]]), 0.5, ADVERSARY)
    return dl.solve(problem)


def encloses(bits: float, nats: float, *, upper: bool) -> None:
    """A bound in bits says no more than the one in nats, and hardly less."""
    assert bits * math.log(2.0) == pytest.approx(nats, rel=1e-12)
    assert bits * math.log(2.0) >= nats * (1 - 1e-15) if upper else bits * math.log(2.0) <= nats * (1 + 1e-15)


def test_what_is_measured(audit, least_leakage, least_distortion):
    assert (audit.quantity, audit.units) == (dl.answers.Quantity.LEAKAGE, "nats")
    assert (least_leakage.quantity, least_leakage.units) == (dl.answers.Quantity.LEAKAGE, "nats")
    assert (least_distortion.quantity, least_distortion.units) == (dl.answers.Quantity.DISTORTION, "distortion")
    assert {moment.units for moment in least_leakage.trace} == {"nats"}
    assert {moment.units for moment in least_distortion.trace} == {"distortion"}


@pytest.mark.parametrize("name", ["audit", "least_leakage"])
def test_leakages_are_converted_with_all_that_belongs_to_them(name, request):
    result = request.getfixturevalue(name)
    bits = result.to("bits")
    assert (bits.units, bits.quantity, bits.certificate) == ("bits", result.quantity, result.certificate)
    pairs = [(bits, result), *zip(bits.trace, result.trace, strict=True)]
    if isinstance(result, dl.answers.DesignResult):
        pairs.append((bits.audit, result.audit))
        assert bits.leakage == (bits.audit.lower, bits.audit.upper)
    for converted, before in pairs:
        assert converted.units == "bits"
        encloses(converted.lower, before.lower, upper=False)
        encloses(converted.upper, before.upper, upper=True)
    assert str(bits).endswith(f"bits of 1 bit possible ({result.termination.value})")
    assert result.to("nats") is result
    assert bits.to("bits") is bits
    support.refused(lambda: bits.to("nats"), "from the result in nats")
    support.refused(lambda: result.to("bytes"), "units must be")


def test_a_distortion_has_no_other_units(least_distortion):
    assert least_distortion.to("distortion") is least_distortion
    for units in ("nats", "bits", "bytes"):
        with pytest.raises(dl.errors.InputError, match="nothing to convert"):
            least_distortion.to(units)


def test_the_leakage_of_a_least_distortion_has(least_distortion):
    shown = least_distortion.with_leakages_in("bits")
    assert (shown.lower, shown.upper, shown.units) == (least_distortion.lower, least_distortion.upper, "distortion")
    encloses(shown.leakage[1], least_distortion.leakage[1], upper=True)
    assert shown.leakage[1] <= 0.3 + 1e-9
    support.refused(lambda: least_distortion.with_leakages_in("distortion"), "units must be")


def test_where_nothing_is_feasible_the_bounds_stay_infinite(nothing):
    assert not nothing.feasible
    for result in (nothing, nothing.to("bits"), nothing.with_leakages_in("bits")):
        assert (result.lower, result.upper, result.gap) == (math.inf, math.inf, 0.0)


def test_moments_of_a_design_count_rounds_and_moments_of_an_audit_name_records(audit, least_leakage):
    assert {moment.rounds for moment in audit.trace} == {0}
    assert all(moment.record is None or moment.record in range(3) for moment in audit.trace)
    assert [moment.rounds for moment in least_leakage.trace] == sorted(moment.rounds for moment in least_leakage.trace)
    assert least_leakage.trace[-1].rounds >= 1
    assert {moment.record for moment in least_leakage.trace} == {None}
    assert all(moment.evidence >= 0 for moment in (*audit.trace, *least_leakage.trace))


def test_results_are_frozen(audit):
    with pytest.raises(dataclasses.FrozenInstanceError):
        audit.units = "bits"
