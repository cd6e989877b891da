"""The least scale of noise for a budget: certificates on both sides, and the exact scales of the closed forms between them."""

import dataclasses
import math
import signal
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each, thinned
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


@each("above, unproved", (0.0, 0.8), (0.92, 0.98), (0.0, 1.04))
def test_where_nothing_can_be_proved_what_was_proved_elsewhere_stays(monkeypatch, above, unproved):
    """Below a scale, or next to the least one, whose certificate is too long to be checked in its share of the time."""

    def hardly(problem, **options):
        if above < problem.mechanism.spread < unproved:
            raise dl.errors.DaleniusError("nothing can be proved about this model: raise time_limit")
        return dl.solve(problem, **options)

    monkeypatch.setattr("dalenius.studies.least_noise.solve", hardly)
    found = dl.least_noise(one_of_two("laplace"), 0.1)
    assert found.within.result.upper <= 0.1
    assert max(unproved, 0.9279) < found.within.scale < 1.1 * max(unproved, 0.928)
    assert (found.above is None) == (unproved > 1)
    unproved = 1e9
    with pytest.raises(dl.errors.DaleniusError, match="raise time_limit"):
        dl.least_noise(one_of_two("laplace"), 0.1)


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


@each("kind", "gaussian", "discrete_laplace")
def test_a_budget_of_ten_thousand_is_a_budget(kind):
    """Of which exponentials are no doubles."""
    found = dl.least_noise(one_of_two(kind), "1e4 bits")
    assert (found.above, found.at_most) == (None, 10_000)
    assert found.within.scale <= Fraction(1, 10)
    assert dl.least_noise(one_of_two(kind), "1e400 nats").within.scale == found.within.scale


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
    (lambda q: dl.least_noise(vote(dl.symmetric(0.1), dl.AnyPrior()), 1), "expected noise with a scale"),
    (lambda q: dl.least_noise(support.TINY_DESIGN, 1), "asks which mechanism to build"),
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


def vote(mechanism, adversary, secret=None):
    """Who wins, of three, from their noisy count."""
    asked = {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "secrets": secret or dl.Secret(dl.Threshold(2))}
    return dl.SecretLeakage(**asked, mechanism=mechanism, adversary=adversary)


def by_enumeration(scale, budget):
    """Whether I(majority; count + noise) is within, under a fair law of three bits; in doubles, by sums over 20,001 outputs."""
    away = np.abs(np.arange(-10_000, 10_001)[None, :] - np.arange(4)[:, None])
    rows = np.exp(-away / scale) * math.tanh(0.5 / scale)
    rows = np.array([[1, 3, 0, 0], [0, 0, 3, 1]]) / 8 @ rows
    mixed = rows.sum(axis=0)
    told = np.where(rows > 0.0, rows * np.log(np.maximum(rows, 1e-300) / np.maximum(0.5 * mixed, 1e-300)), 0.0)
    return told.sum() <= budget


def test_a_secret_has_its_noise():
    fair = dl.FixedPrior([Fraction(1, 8)] * 8)
    found = dl.least_noise(vote(dl.discrete_laplace(1), fair), 0.01)
    assert found.above is not None
    assert (by_enumeration(float(found.above.scale), 0.01), by_enumeration(float(found.within.scale), 0.01)) == (
        False,
        True,
    )
    assert (found.falling, found.gap <= 1e-3) == (True, True)
    worst = dl.least_noise(vote(dl.geometric(1), dl.AnyPrior()), 0.01)
    assert worst.within.scale > found.within.scale
    for level in (worst.within, found.above):
        assert dl.verify(level.problem, level.result.certificate).proved
    real = dl.least_noise(vote(dl.gaussian(1), fair), 0.01)
    assert real.formulas[0].scale > float(real.within.scale)
    assert real.formulas[0].condition.endswith("length 3")
    given = dl.Secret(dl.Letters(0), given=dl.Letters(others=0))
    known = dl.least_noise(vote(dl.geometric(1), dl.AnyPrior(), given), 0.01, gap=0.1)
    assert known.formulas[0].condition.endswith("length 1")


def revealed(rows, law, of, given):
    """I(of; Y | given) in nats, by rows of each dataset."""
    total = 0.0
    for c in set(given.tolist()):
        cells = np.array([(law * (of == a) * (given == c)) @ rows for a in range(of.max() + 1)])
        own, mixed = cells.sum(axis=1, keepdims=True), cells.sum(axis=0, keepdims=True)
        ratio = np.divide(cells * cells.sum(), own * mixed, out=np.ones_like(cells), where=cells > 0.0)
        total += (cells * np.log(ratio)).sum()
    return total


def through(noise, scales, twice, values, of, given, laws):
    """The most that is revealed under some laws through noise of these scales, or of these and of three times as much."""
    for scale in scales:
        first, second = (noise.spreading(scale * factor).channel(values) for factor in (1, 3))
        rows = (first[:, :, None] * second[:, None, :]).reshape(len(first), -1) if twice else first
        yield max(revealed(rows, law / law.sum(), of, given) for law in laws)


def test_random_secrets_under_listed_laws_by_enumeration():
    """One release, and two whose scales differ by a factor of 3, of random values: enough at the one scale, and not at the other."""
    rng = np.random.default_rng(3)
    for _ in range(draws(4, 1000)):
        values = rng.integers(-2, 5, size=6)
        of, given = rng.integers(0, 3, size=6), rng.integers(0, 2, size=6)
        laws = rng.integers(0, 5, size=(2, 6)) + 1
        twice = bool(rng.integers(2))
        noise = dl.geometric(1, range=(-2, 4))
        asked = dl.SecretLeakage(
            records=dl.Records(1, alphabet=6),
            query=dl.Table(values.tolist()),
            mechanism=dl.several_releases(noise, dl.geometric("1/3", range=(-2, 4))) if twice else noise,
            adversary=dl.PriorSet([[Fraction(int(x), int(law.sum())) for x in law] for law in laws]),
            secrets=dl.Secret(dl.Table(of.tolist()), given=dl.Table(given.tolist())),
        )
        most, *_ = through(noise, [Fraction(1, 20)], twice, values, of, given, laws)
        if most > 1e-4:
            found = dl.least_noise(asked, round(0.4 * most, 6), gap=1e-2)
            assert found.above is not None
            scales, budget = [found.within.scale, found.above.scale], float(found.at_most)
            within, above = through(noise, scales, twice, values, of, given, laws)
            assert within <= budget * (1 + 1e-9) < above * (1 + 2e-9)


def test_tables_of_the_same_people_grow_together():
    query = dl.queries.Margins([2, 10], [[0], [0, 1]])
    noise = dl.several_releases(dl.discrete_laplace(1), dl.geometric("1/2"), on=[0, 1])
    question = support.problem(dl.Records(10**5, alphabet=20), query, noise, dl.IndependentBlocks(2))
    found = dl.least_noise(question, "0.1 bits", gap=0.1)
    assert found.above is not None
    assert found.above.result.to("bits").lower > 0.1 >= found.within.result.to("bits").upper
    assert [(made.spread / found.within.scale, part.on) for made, part in found.within.releases] == [(1, 0), (2, 1)]
    (ratios,) = found.formulas
    assert float(found.within.scale) < ratios.scale < 2 * float(found.within.scale)


def test_several_releases_grow_together():
    """A count, and twice a weighted sum whose noise is twice as wide: the first one's scale is the answer, for a chain too."""
    query, mechanism = dl.together(
        [(dl.Count(), dl.discrete_laplace(1)), *[(dl.Sum([0, 3]), dl.geometric("1/2", range=(-20, 80)))] * 2]
    )
    question = support.problem(dl.Records(6, alphabet=2), query, mechanism, dl.IndependentBlocks(1))
    found = dl.least_noise(question, "0.1 bits", gap=0.1)
    assert found.above is not None
    shown = [(noise.spread / found.within.scale, part.times, part.on) for noise, part in found.within.releases]
    assert shown == [(1, 1, 0), (2, 2, 1)]
    assert found.within.releases[1][0].range == (-20, 80)
    (ratios,) = found.formulas
    assert float(found.within.scale) < ratios.scale < 3 * float(found.within.scale)
    assert ratios.condition.endswith("lengths 1, 3")
    for level, kept in ((found.within, True), (found.above, False)):
        assert (dl.solve(level.problem).to("bits").upper <= 0.1) == kept
    chain = dl.least_noise(support.chain(9, 0.1, 0.2), "0.05 bits", gap=0.1)
    assert chain.above is not None
    assert chain.above.result.to("bits").lower > 0.05 >= chain.within.result.to("bits").upper


def test_a_budget_of_which_the_closed_forms_know_nothing_is_too_small():
    """A root of 1e-300 is no number: the forms are left out, and the largest scale is tried."""
    question = support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.laplace(1), dl.IndependentBlocks(1))
    support.refused(lambda: dl.least_noise(question, 1e-300), "the largest scale there is")
