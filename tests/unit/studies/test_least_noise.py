"""The least scale of noise for a budget: certificates on both sides, and the exact scales of the closed forms between them."""

import dataclasses
import math
import signal
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each, thinned
from dalenius.studies.least_noise import NOISES
from support import refuses


def one_of_two(kind, span=1):
    return support.problem(dl.Records(1, alphabet=2), dl.Sum([0, span]), NOISES[kind], dl.IndependentBlocks(1))


@each(
    "kind, budget, scale",
    ("laplace", 0.1, 0.9279898589298),
    ("gaussian", 0.5, math.sqrt(0.1250390360099)),
    *thinned(
        [
            ("gaussian", 0.01, math.sqrt(12.37540062538)),
            ("gaussian", 0.1, math.sqrt(1.127921223253)),
            ("laplace", 0.5, 0.2491655598571),
            ("laplace", 0.01, 3.362577706073),
            ("laplace", 0.6, 0.1795270223025),
        ],
        5,
    ),
)
def test_the_least_scale_lies_between_two_certificates(kind, budget, scale):
    found = dl.least_noise(one_of_two(kind), budget)
    assert found.above is not None
    assert found.above.scale < scale < found.within.scale
    assert found.falling
    assert 0.0 < found.gap <= 1e-3
    for level in (found.above, found.within):
        assert dl.verify(level.problem, level.result.certificate).proved
    assert found.within.result.upper <= budget < found.above.result.lower
    assert all(formula.scale > scale for formula in found.formulas)
    assert [level.scale for level in found.levels] == sorted({level.scale for level in found.levels})


def test_a_budget_in_bits_is_compared_in_bits():
    question = one_of_two("discrete_laplace", span=3)
    found = dl.least_noise(question, "0.25 bits", gap=1e-2)
    assert (found.at_most, found.units) == (Fraction(1, 4), "bits")
    assert found.above is not None
    assert found.within.result.to("bits").upper <= 0.25 < found.above.result.to("bits").lower
    assert dl.least_noise(question, 0.25, gap=1e-2).within.scale < found.within.scale


def test_households_need_more():
    def of(size):
        return support.problem(dl.Records(1000, alphabet=2), dl.Count(), dl.geometric(1), dl.IndependentBlocks(size))

    alone, family = (dl.least_noise(of(size), 0.05, gap=0.02).within for size in (1, 4))
    assert family.scale > 3 * alone.scale
    assert family.problem.mechanism.spread == family.scale


def test_of_discrete_gaussian_noise_only_what_was_tried_is_known():
    found = dl.least_noise(one_of_two("discrete_gaussian"), 0.1, gap=0.02)
    assert not found.falling
    assert found.formulas == ()
    assert found.above is not None
    assert found.above.scale < math.sqrt(1.1285) < found.within.scale


def test_discrete_gaussian_noise_is_a_degradation_at_odd_ratios_of_variances_only():
    def law(variance):
        weights = np.exp(-(np.arange(-300, 300) ** 2) / (2.0 * variance))
        return np.fft.fft(np.fft.ifftshift(weights / weights.sum()))

    for ratio, degradation in ((2, False), (2.5, False), (3, True), (5, True)):
        assert (np.fft.ifft(law(ratio) / law(1.0)).real.min() > -1e-12) == degradation


@each("kind", "laplace", "discrete_laplace")
def test_more_laplace_noise_is_less_and_something_added(kind):
    t = np.linspace(0.0, math.pi, 7)
    less, more = 0.7, 1.9
    if kind == "laplace":
        share = (less / more) ** 2
        ratio = (1 + (less * t) ** 2) / (1 + (more * t) ** 2)
        added = share + (1 - share) / (1 + (more * t) ** 2)
    else:
        a, b = math.exp(-1 / less), math.exp(-1 / more)

        def noise(c):
            return (1 - c) ** 2 / (1 + c * c - 2 * c * np.cos(t))

        ratio = noise(b) / noise(a)
        nothing = (1 - b) ** 2 / (1 - a) ** 2 * a / b
        assert 0.0 < nothing < 1.0
        added = nothing + (1 - nothing) * noise(b)
    assert added == pytest.approx(ratio, rel=1e-13)


def test_scales_whose_interval_is_around_the_budget_leave_a_wider_gap(monkeypatch):
    def short_of_time(problem, **options):
        result = dl.solve(problem, **options)
        return dataclasses.replace(result, lower=0.8 * result.lower, upper=1.25 * result.upper)

    monkeypatch.setattr("dalenius.studies.least_noise.solve", short_of_time)
    found = dl.least_noise(one_of_two("discrete_laplace"), 0.1)
    assert found.above is not None
    assert 1e-3 < found.gap <= 0.35  # what intervals so wide can tell, and little more
    assert len({level.scale for level in found.levels}) == len(found.levels)
    assert found.above.scale < Fraction("1.06") < found.within.scale
    assert dl.least_noise(one_of_two("discrete_laplace"), 0.1, gap=1e-9).gap <= 0.35, (
        "a finer gap is not a worse answer"
    )

    def never(problem, **options):
        return dataclasses.replace(dl.solve(problem, **options), lower=0.0, upper=1.0)

    monkeypatch.setattr("dalenius.studies.least_noise.solve", never)
    with pytest.raises(dl.errors.DaleniusError, match="no scale was proved to be enough"):
        dl.least_noise(one_of_two("discrete_laplace"), 0.1)


@each("kind", "laplace", "discrete_gaussian")
def test_a_gap_below_rounding_ends_where_rounding_begins(kind):
    found = dl.least_noise(one_of_two(kind), "0.1 bits", gap=1e-13)
    assert found.above is not None
    assert found.within.result.to("bits").upper <= 0.1 < found.above.result.to("bits").lower
    assert 1e-13 < found.gap < 3e-11


def test_what_was_proved_before_an_interruption_is_kept(monkeypatch):
    def stopped_at(enough):
        def solved(problem, **options):
            result = dl.solve(problem, **options)
            over = (result.upper <= 0.1) == enough
            return dataclasses.replace(result, termination=dl.answers.Termination.INTERRUPTED) if over else result

        return solved

    monkeypatch.setattr("dalenius.studies.least_noise.solve", stopped_at(True))
    assert dl.least_noise(one_of_two("discrete_laplace"), 0.1).within.result.upper <= 0.1
    monkeypatch.setattr("dalenius.studies.least_noise.solve", stopped_at(False))
    question = one_of_two("discrete_gaussian")
    with pytest.raises(KeyboardInterrupt):
        dl.least_noise(question, 0.1)


@each("seconds", 1e-9, 4.0, 20.0)
def test_the_time_limit_is_for_all_scales_together(monkeypatch, work_clock, seconds):
    """Each takes all that it is given: the ends are proved all the same, however far apart. It was once the limit of each scale."""
    began = work_clock.now

    def slow(problem, *, time_limit, **options):
        result = dl.solve(problem, time_limit=60.0, **options)
        work_clock.now += time_limit
        return dataclasses.replace(result, lower=0.8 * result.lower, upper=1.25 * result.upper)

    monkeypatch.setattr("dalenius.studies.least_noise.solve", slow)
    found = dl.least_noise(one_of_two("discrete_laplace"), 0.5, time_limit=seconds)
    assert work_clock.now - began < seconds + 0.5
    assert found.within.result.upper <= 0.5
    assert found.above is None or found.above.result.lower > 0.5
    assert len(found.levels) < 8


def test_a_signal_between_two_scales_keeps_what_was_proved(monkeypatch):
    tried = []

    def solved(problem, **options):
        result = dl.solve(problem, **options)
        tried.append(result)
        if result.upper <= 0.1:
            signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr("dalenius.studies.least_noise.solve", solved)
    assert dl.least_noise(one_of_two("discrete_laplace"), 0.1).within.result is tried[-1]


def test_where_any_noise_is_enough_the_least_there_may_be_is_the_answer():
    found = dl.least_noise(one_of_two("discrete_laplace"), 1)
    assert (found.above, found.gap) == (None, 1.0)
    assert found.within.scale == Fraction(1, 1000)


test_what_is_no_question_is_refused = refuses(
    (lambda q: dl.least_noise(q, 0), "at_most: expected a leakage above 0"),
    (lambda q: dl.least_noise(q, "1 bit"), ["at_most: ", ' write "1 bits"']),
    (lambda q: dl.least_noise(q, 1, gap=0), "gap: expected"),
    (lambda q: dl.least_noise(q, 1e-30), "the largest scale there is"),
    (lambda q: dl.least_noise("count", 1), "expected a WorstCaseLeakage"),
    (lambda q: dl.least_noise(dl.load("parity/laplace-n4"), 1), "expected noise with a scale"),
    by=lambda call: call(one_of_two("discrete_laplace")),
)


def test_every_kind_has_its_scale_changed():
    mechanisms = (
        *NOISES.values(),
        dl.geometric(2, range=(0, 4)),
        dl.discrete_laplace(2),
        dl.discrete_gaussian(scale=2, range=5),
    )
    for mechanism in mechanisms:
        changed = mechanism.spreading(Fraction(7, 3))
        assert (type(changed), changed.spread) == (type(mechanism), Fraction(7, 3))
        assert getattr(changed, "range", None) == getattr(mechanism, "range", None)


def test_a_budget_of_which_the_closed_forms_know_nothing_is_too_small():
    """A root of 1e-300 is no number: the forms are left out, and the largest scale is tried."""
    question = support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.laplace(1), dl.IndependentBlocks(1))
    support.refused(lambda: dl.least_noise(question, 1e-300), "the largest scale there is")
