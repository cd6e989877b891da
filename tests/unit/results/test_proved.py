"""What people read of an amount of information: its unit, and beside it all there is to know."""

import dataclasses
import json
import math
from fractions import Fraction

import pytest

import dalenius as dl
import support
from dalenius.results import against_text, at_most_text, budget_text, is_all, most_of, nats_and_bits, told_text

LETTERS = (1, 2, 3, 4, 5, 1000)


@pytest.mark.parametrize("values", LETTERS)
def test_all_there_is_to_know_is_rounded_upward(values):
    assert most_of(values, "nats") >= math.log(values) * (1 - 1e-16)
    assert most_of(values, "bits") == pytest.approx(math.log2(values), rel=1e-15)
    assert is_all(most_of(values, "nats"), "nats", values)
    assert is_all(most_of(values, "bits"), "bits", values)
    if values > 1:
        assert not is_all(math.nextafter(math.nextafter(math.log(values), 0.0), 0.0), "nats", values)
        assert not is_all(Fraction(math.log2(values)) * (1 - Fraction(1, 10**15)), "bits", values)


@pytest.mark.parametrize("units", ["nats", "bits"])
@pytest.mark.parametrize("values", LETTERS[1:])
def test_no_end_that_is_shown_is_above_all_there_is(values, units):
    """What is proved may be, by its rounding; a hundredth of its width more looked like a bound above a bit."""
    told = told_text(0.0, 1.01 * most_of(values, units), units, values)
    upper, of = told.removeprefix("0 .. ").removesuffix(" possible: all there is to know").split(f" {units} of ")
    assert upper == of.split()[0]
    assert float(upper) >= most_of(values, units) * (1 - 1e-15)
    assert "all there is to know" in at_most_text(1.01 * most_of(values, units), units, values)
    assert "all there is to know" not in told_text(0.0, 0.99 * most_of(values, units), units, values)


def test_a_unit_at_every_number():
    assert told_text(0.25, 0.5, "bits", 3) == "0.25 .. 0.5 bits of 1.585 bits possible"
    assert nats_and_bits(0.25, 2) == "0.3607 bits (0.25 nats) of 1 bit possible"
    assert budget_text(Fraction(1, 3), "nats", 4) == "1/3 nats = 0.4809 bits of 2 bits possible"


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (5, "at least 5 nats = 7.213 bits of 8"),
        ("6 bits", "at least 6 bits of 8"),
        ("1 bits", "at least 1 bit of 8"),
        ("0.8 max", "at least 0.8 times the largest possible entropy = 6.4 bits of 8"),
        (0, "any adversary whatsoever"),
    ],
)
def test_an_entropy_is_shown_back(amount, shown):
    problem = support.problem(dl.Records(8, alphabet=2), dl.Count(), dl.geometric(1), amount)
    assert against_text(problem).endswith(shown)


def random_channel():
    """A question whose lower end is far from everything, and which little time leaves open."""
    rows = [["0.5", "0.3", "0.2"], ["0.1", "0.2", "0.7"], ["0.3", "0.3", "0.4"], ["0.9", "0.05", "0.05"]]
    return support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.Channel(rows), "1 bits")


def test_a_bound_that_is_no_more_than_all_there_is_has_a_status():
    closed = dl.solve(random_channel())
    assert (closed.status, closed.values, closed.most) == (dl.answers.Status.CLOSED, 2, most_of(2, "nats"))
    wide = dataclasses.replace(closed, upper=closed.most, termination=dl.answers.Termination.TIME_LIMIT)
    assert wide.status is dl.answers.Status.ALL_THERE_IS
    assert wide.to("bits").status is dl.answers.Status.ALL_THERE_IS
    assert str(wide.to("bits")).endswith(" bits of 1 bit possible: all there is to know (time_limit)")
    assert "all there is to know" in wide._repr_html_()
    narrower = dataclasses.replace(closed, upper=0.69, termination=dl.answers.Termination.TIME_LIMIT)
    assert narrower.status is dl.answers.Status.OPEN
    assert "all there is" not in narrower._repr_html_() + str(narrower)


def test_everything_that_can_be_told_is_proved_to_be_told():
    """The record itself: closed, and called all there is to know."""
    whole = dl.solve(support.problem(dl.Records(1, alphabet=3), dl.Identity(), dl.symmetric(0), dl.AnyPrior()))
    assert whole.status is dl.answers.Status.CLOSED
    assert str(whole.to("bits")).endswith("1.585 bits of 1.585 bits possible: all there is to know (gap_reached)")


def test_people_read_bits_and_programs_nats(command_line):
    """By default; --units chooses for both."""
    model = "parity/laplace-n4"
    shown, nats = (command_line("solve", model, *more).stdout for more in ((), ("--units", "nats")))
    assert shown.startswith("worst-case leakage   0.114754136056555 .. 0.114754136056864 bits of 1 bit possible\n")
    assert nats.startswith("worst-case leakage   0.079541505865194 .. 0.079541505865408 nats of 0.6932 nats possible\n")
    answers = [json.loads(command_line("solve", model, "--json", *more).stdout) for more in ((), ("--units", "bits"))]
    assert [answer["units"] for answer in answers] == ["nats", "bits"]
    assert [answer["status"] for answer in answers] == ["closed", "closed"]
    assert answers[1]["most"] == 1.0
    measured = command_line("measure", model).stdout
    assert "0.114754 .. 0.114755  bits" in measured
    assert "0.831796 .. 0.831797  nats" in measured
    assert "; 1 bit possible\n" in measured
    assert (
        "mutual_information <= 0.177887 bits"
        in command_line("convert", "--from", "local_dp=1", "--to", "mutual_information").stdout
    )
    assert (
        "local_dp: epsilon <= 2\n"
        in command_line("convert", "--from", "local_information_privacy=1", "--to", "local_dp").stdout
    )


def test_a_measure_that_is_all_there_is_to_know_is_called_that():
    found = dl.measure([[1, 0], [0, 1]], prior=["1/2", "1/2"], units=None)
    assert "all there is to know; what the output reveals on average" in str(found)
    noisy = dl.measure([["0.9", "0.1"], ["0.1", "0.9"]], prior=["1/2", "1/2"], units=None)
    assert "all there is to know" not in str(noisy)
    assert (noisy["mutual_information"].units, noisy["local_dp"].units) == ("bits", "nats")


def test_a_theorem_that_says_all_there_is_to_know():
    asked = [
        support.problem(dl.Records(2, alphabet=2), query, dl.symmetric("0.01"), dl.AnyPrior())
        for query in (dl.Parity(), dl.Threshold(1))
    ]
    both = dl.composition([(one, dl.solve(one)) for one in asked])
    assert both.rule == "letters"
    assert "1 bit of 1 bit possible: all there is to know, by a theorem" in str(both.to("bits"))


def test_a_page_and_a_certificate_that_is_shown_say_it_too(command_line):
    """No end above all there is, where everything is told."""
    page = command_line("audit", "--mechanism", "symmetric flip = 0", "--people", "1").stdout
    assert "At most 1 bit (0.6932 nats) of 1 bit possible: all there is to know about any one person" in page
    assert " .. 1 bits." in page
    assert command_line("solve", "parity/laplace-n4", "-o", "out").returncode == 0
    lines = command_line("show", "out/laplace-n4.cert").stdout.splitlines()
    assert "in bits              0.114754136056555 .. 0.114754136056864" in lines
