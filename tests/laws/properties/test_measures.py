"""What holds for every measure: data processing, zero where nothing is told, the order between measures, and honest intervals."""

import math

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import dalenius as dl
from dalenius.information import measures as m
from dalenius.information.capacity import capacity
from support import examples

quick = examples(25, 400)
few = examples(4, 60)
TINY = 1e-12

OF_BOTH = [
    m.mutual_information,
    m.information_privacy,
    m.min_entropy_leakage,
    m.bayes_advantage,
    m.total_variation,
    m.chi_square,
    m.maximal_correlation,
    m.strong_total_variation,
    m.strong_kl,
    m.strong_chi_square,
    lambda channel, prior: m.pointwise_maximal_leakage(channel, prior).max(),
]
OF_CHANNEL = [
    m.local_dp,
    m.maximal_leakage,
    m.pairwise_divergence,
    m.pairwise_total_variation,
    lambda channel: m.local_dp_delta(channel, 1.5),
]
BLIND = [m.min_entropy_leakage, m.bayes_advantage]  # may be 0 although something is told
NOT_CLOSED = [m.information_privacy_delta, m.strong_information_privacy_delta, m.pointwise_maximal_leakage_delta]


@st.composite
def laws(draw, size, *, zeros=False):
    """Shares of whole numbers, exact in decimal or not."""
    weights = draw(st.lists(st.integers(0 if zeros else 1, 9), min_size=size, max_size=size).filter(any))
    return np.array(weights) / sum(weights)


@st.composite
def channels(draw, inputs=None, outputs=None, *, zeros=True):
    inputs = draw(st.integers(2, 4)) if inputs is None else inputs
    outputs = draw(st.integers(2, 4)) if outputs is None else outputs
    return np.array([draw(laws(outputs, zeros=zeros)) for _ in range(inputs)])


def at_most(small, large) -> bool:
    return bool(small <= large * (1 + TINY) + TINY)


@quick
@given(st.data())
def test_data_processing(data):
    """Whatever is done to the output, no measure grows; with a delta three notions are no exception here only by luck (E3-12)."""
    channel = data.draw(channels())
    prior, after = data.draw(laws(len(channel), zeros=True)), data.draw(channels(inputs=channel.shape[1]))
    for measure in (*OF_BOTH, m.disclosure, m.singling_out):
        assert at_most(measure(channel @ after, prior), measure(channel, prior)), measure
    for measure in OF_CHANNEL:
        assert at_most(measure(channel @ after), measure(channel)), measure
    found = m.local_information_privacy_delta(channel @ after, prior, 1.5)
    assert at_most(found, m.local_information_privacy_delta(channel, prior, 1.5))


@quick
@given(st.data())
def test_what_a_secret_behind_the_input_leaks(data):
    """S - X - Y: what does not depend on what is asked about the data is at most what it is of the data."""
    channel = data.draw(channels())
    joint = np.array([data.draw(laws(len(channel))) for _ in range(2)]) / 2
    secret, prior = m.channel_of_secret(joint, channel)
    for measure in (
        m.mutual_information,
        m.total_variation,
        m.chi_square,
        m.maximal_correlation,
        m.information_privacy,
    ):
        assert at_most(measure(secret, prior), measure(channel, joint.sum(axis=0))), measure
    for measure in OF_CHANNEL:
        assert at_most(measure(secret), measure(channel)), measure
    pointwise = m.pointwise_maximal_leakage(channel, joint.sum(axis=0))
    assert (m.pointwise_maximal_leakage(secret, prior) <= pointwise + TINY).all()


def test_three_notions_with_a_delta_grow_by_merging_outputs():
    channel, prior = m.split(np.array([[0.3, 0.0475, 0.1, 0.0525], [0.1, 0.0025, 0.3, 0.0975]]))
    merged = channel @ np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    for measure, factor in zip(NOT_CLOSED, (2.0, 2.0, 1.5), strict=True):
        assert measure(merged, prior, factor) > measure(channel, prior, factor) + 0.09


@quick
@given(st.data())
def test_zero_exactly_where_the_output_is_independent(data):
    channel, inputs = data.draw(channels(inputs=1)), data.draw(st.integers(2, 4))
    prior = data.draw(laws(inputs))
    constant = np.repeat(channel, inputs, axis=0)
    assert all(measure(constant, prior) <= TINY for measure in OF_BOTH)
    assert all(measure(constant) <= TINY for measure in OF_CHANNEL if measure is not OF_CHANNEL[-1])
    other = data.draw(channels(inputs=inputs))
    assume(np.ptp(other, axis=0).max() > 0.05)
    assert all(measure(other, prior) > 1e-6 for measure in OF_BOTH if measure not in BLIND)
    assert all(measure(other) > 1e-6 for measure in OF_CHANNEL[:-1])


def test_measures_that_are_zero_for_a_channel_that_tells_something():
    channel, prior = np.array([[0.5, 0.5], [0.4, 0.6]]), np.array([0.9, 0.1])
    assert m.mutual_information(channel, prior) > 1e-4
    assert [float(measure(channel, prior)) for measure in BLIND] == [0.0, 0.0]
    assert m.local_dp_delta(channel, 2.0) == m.information_privacy_delta(channel, prior, 2.0) == 0.0


@quick
@given(st.data())
def test_the_order_between_measures(data):
    channel = data.draw(channels())
    prior = data.draw(laws(len(channel)))
    average, pointwise = m.mutual_information(channel, prior), m.pointwise_maximal_leakage(channel, prior).max()
    epsilon, largest = m.local_dp(channel), capacity(channel).lower
    most, total, chi = m.maximal_leakage(channel), m.total_variation(channel, prior), m.chi_square(channel, prior)
    rho = m.maximal_correlation(channel, prior)
    assert at_most(average, largest + 1e-9)
    assert at_most(largest, min(m.pairwise_divergence(channel), most))
    assert at_most(m.min_entropy_leakage(channel, prior), most)
    assert at_most(most, epsilon)
    assert at_most(average, pointwise)
    assert at_most(pointwise, min(epsilon, -math.log(prior.min())))
    assert at_most(m.bayes_advantage(channel, prior), total / 2)
    assert at_most(total**2, 2 * average)
    assert at_most(total**2, chi)
    assert at_most(average, math.log1p(chi))
    assert at_most(rho**2, chi)
    assert at_most(chi, (min(len(channel), np.count_nonzero(channel.any(axis=0))) - 1) * rho**2)
    assert at_most(total, m.strong_total_variation(channel, prior))
    assert at_most(m.information_privacy(channel, prior), epsilon)
    assert at_most(epsilon, 2 * m.information_privacy(channel, prior))
    if 0 < epsilon < math.inf:
        assert at_most(m.pairwise_divergence(channel), epsilon * math.tanh(epsilon / 2))
        c = epsilon / -math.expm1(-epsilon)
        assert at_most(largest, c - 1 - math.log(c))


@quick
@given(st.data(), st.floats(1.0, 4.0))
def test_deltas(data, factor):
    channel = data.draw(channels())
    prior = data.draw(laws(len(channel)))
    plain, strong = (measure(channel, prior, factor) for measure in NOT_CLOSED[:2])
    assert at_most(plain, strong)
    assert at_most(m.local_dp_delta(channel, factor**2), strong / prior.min())
    for measure in (*NOT_CLOSED, m.local_information_privacy_delta):
        assert at_most(measure(channel, prior, factor + 0.5), measure(channel, prior, factor))
    assert at_most(m.local_dp_delta(channel, factor + 0.5), m.local_dp_delta(channel, factor))
    beyond = math.exp(m.local_dp(channel)) if m.local_dp(channel) < math.inf else None
    assert beyond is None or m.local_dp_delta(channel, beyond * (1 + 1e-12)) <= 1e-12


@quick
@given(st.data())
def test_the_least_mean_is_attained_and_no_law_of_the_set_has_less(data):
    k, law = data.draw(laws(4, zeros=True)), data.draw(laws(4))
    sets = {
        m.PriorFloor(0.05): lambda p: p.min() >= 0.05,
        m.PriorBall(law, 0.2): lambda p: np.abs(p - law).sum() <= 0.2,
        m.PriorBox(law * 0.8, np.minimum(law * 1.2, 1)): lambda p: (np.abs(p - law) <= 0.2 * law).all(),
        m.KLBall(law, 0.03): lambda p: np.sum(p * np.log(np.where(p > 0, p, 1) / law)) <= 0.03,
        m.ChiSquareBall(law, 0.1): lambda p: np.sum((p - law) ** 2 / law) <= 0.1,
    }
    draw = np.random.default_rng(data.draw(st.integers(0, 1000)))
    for priors, holds in sets.items():
        least = float(priors.least_mean(k))
        assert k.min() - TINY <= least <= law @ k + TINY or isinstance(priors, m.PriorFloor)
        for p in [*draw.dirichlet(np.ones(4), 30), *(law + 0.1 * (q - law) for q in draw.dirichlet(np.ones(4), 30))]:
            assert not holds(p) or p @ k >= least - 1e-9


@few
@given(st.data())
def test_intervals_hold_what_doubles_say_and_are_narrow(data):
    """Every row of `measure` against the same formula in doubles; and what is done to the output makes no measure larger."""
    channel = data.draw(channels())
    prior, after = data.draw(laws(len(channel), zeros=True)), data.draw(channels(inputs=channel.shape[1]))
    before = dl.measure(channel, prior=prior, epsilon=["log 1.5"])
    for row in before:
        name = row.name.partition("(")[0]
        if name == "shannon_capacity":
            value = capacity(channel).upper
        elif name.endswith("_delta"):
            function = getattr(m, name)
            value = function(channel, 1.5) if name == "local_dp_delta" else function(channel, prior, 1.5)
        elif name in ("local_dp", "leakage_capacity", "maximal_leakage"):
            value = getattr(m, name)(channel)
        else:
            value = np.max(getattr(m, name)(channel, prior))
        if math.isinf(value):
            assert row.lower == row.upper == math.inf
            continue
        step = name.endswith(("privacy_delta", "leakage_delta"))
        if not step:  # where doubles may stand on either side of a step, intervals do not
            assert row.lower - 1e-9 <= value <= row.upper + 1e-9, row
        assert row.upper - row.lower <= 1e-9
    later = dl.measure((channel @ after).tolist(), prior=prior)
    for row in later:
        assert row.lower <= before[row.name].upper + 1e-9, row
