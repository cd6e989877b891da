"""Rows for dp_accounting: rounded pessimistically, handed to its documented constructor, and what the real one makes of them."""

import math
import sys
import types
import warnings

import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.export import from_dp_accounting, to_dp_accounting
from dalenius.export.accounting import log_masses

COUNT = support.problem(dl.Records(20, alphabet=2), dl.Count(), dl.geometric(0.5), dl.ProductPriors())


def hockey_stick(upper, lower, epsilon):
    """sum_y max(P - e^epsilon Q, 0)."""
    return sum(max(math.exp(log) - math.exp(epsilon + lower.get(y, -math.inf)), 0.0) for y, log in upper.items())


@each("pair", (3, 4), (4, 3), (0, 20))
def test_masses_are_rounded_so_that_less_is_promised(pair):
    upper, lower = log_masses(COUNT, *pair)
    assert 1 < sum(map(math.exp, upper.values())) < 1 + 1e-11
    assert sum(map(math.exp, lower.values())) < 1 + 1e-15
    exact = COUNT.channel[list(pair)]
    for epsilon in (0.0, 0.3, 0.5, 2.0):
        truth = sum(max(p - math.exp(epsilon) * q, 0.0) for p, q in zip(*exact, strict=True))
        assert truth - 1e-15 <= hockey_stick(upper, lower, epsilon) <= truth + 1e-11


def test_an_output_without_mass_is_left_out():
    upper, lower = log_masses(dl.Channel([[1, 0], ["1/3", "2/3"]]), 1, 0)
    assert set(upper) == {"0", "1"}
    assert set(lower) == {"0"}
    assert lower["0"] <= 0


def test_the_documented_constructor_is_called_in_both_directions(monkeypatch):
    calls = []
    module = types.ModuleType("dp_accounting.pld.privacy_loss_distribution")
    module.from_two_probability_mass_functions = lambda **given: calls.append(given) or len(calls)
    pld = types.ModuleType("dp_accounting.pld")
    pld.privacy_loss_distribution = module
    monkeypatch.setitem(sys.modules, "dp_accounting", types.ModuleType("dp_accounting"))
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", pld)
    assert to_dp_accounting(COUNT, 3, 4, interval="0.001") == (1, 2)
    there, back = calls
    assert there["pessimistic_estimate"] is there["symmetric"] is True
    assert there["value_discretization_interval"] == 0.001
    assert (there["log_probability_mass_function_upper"], there["log_probability_mass_function_lower"]) == log_masses(
        COUNT, 3, 4
    )
    assert back["log_probability_mass_function_upper"] == log_masses(COUNT, 4, 3)[0]


def test_the_real_accountant_agrees():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("dp_accounting", reason="needs dp_accounting: pip install 'dalenius[accounting]'")
        there, back = to_dp_accounting(COUNT, 3, 4)
    delta = dl.measure(COUNT.channel[[3, 4]].tolist(), epsilon=["0.2"])["local_dp_delta(0.2)"]
    found = max(one.get_delta_for_epsilon(0.2) for one in (there, back))
    assert delta.lower - 1e-12 <= found <= delta.upper + 1e-3
    four = there.self_compose(4).get_delta_for_epsilon(1.0)
    exact = _composed(COUNT.channel[3], COUNT.channel[4], 4, 1.0)
    assert exact - 1e-12 <= four <= exact + 1e-3


def _composed(p, q, times, epsilon):
    """The hockey-stick divergence of independent releases, by their privacy losses."""
    losses = {0.0: 1.0}
    for _ in range(times):
        following = {}
        for loss, mass in losses.items():
            for a, b in zip(p, q, strict=True):
                key = round(loss + math.log(a / b), 9)
                following[key] = following.get(key, 0.0) + mass * a
        losses = following
    return sum(mass * -math.expm1(epsilon - loss) for loss, mass in losses.items() if loss > epsilon)


def test_what_cannot_be_exported_is_one_clear_error(monkeypatch):
    support.refused(lambda: log_masses(COUNT, 3, 21), "expected rows from 0 to 20")
    support.refused(lambda: log_masses(dl.geometric(1), 0, 1), "does not say which inputs")
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    support.refused(lambda: to_dp_accounting(COUNT, 3, 4), "pip install 'dalenius[accounting]'")


class Losses:
    """Stands in for a distribution: deltas by epsilon, and the estimate that its parts say they are."""

    def __init__(self, delta, pessimistic=True):
        self.get_delta_for_epsilon = delta
        self._pmf_remove = self._pmf_add = types.SimpleNamespace(_pessimistic_estimate=pessimistic)


def test_the_larger_delta_of_both_orders_counts_and_is_about_one_pair():
    there, back = Losses(lambda e: 0.3 * math.exp(-e)), Losses(lambda e: 0.4 * math.exp(-2 * e))
    profile = from_dp_accounting(there, back, epsilons=[0, "0.1", 1])
    for epsilon, delta in profile.points:
        truth = max(0.3 * math.exp(-epsilon), 0.4 * math.exp(-2 * epsilon))
        assert truth < delta < truth * (1 + 2e-9)
    found = dl.convert(profile.guarantees(), to="mutual_information", letters=2)
    assert found.value <= dl.convert("local_dp_delta(0)", 0.4, to="mutual_information", letters=2).value
    assert list(profile.guarantees("differential_privacy_delta"))[1] == "differential_privacy_delta(0.1)"


@each(
    "distribution, words",
    (0.5, "expected a PrivacyLossDistribution of dp_accounting, got 0.5"),
    (Losses(lambda e: 0.0, pessimistic=False), "an optimistic one is no bound"),
)
def test_what_is_no_bound_is_refused(distribution, words):
    with pytest.raises(dl.errors.InputError, match=words):
        from_dp_accounting(distribution)


def test_real_distributions_are_close_above_the_closed_form_of_gaussian_noise():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        losses = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason="needs dp_accounting")
        profile = from_dp_accounting(losses.from_gaussian_mechanism(2.0))
        sampled = from_dp_accounting(losses.from_gaussian_mechanism(1.0, sampling_prob=0.01).self_compose(100))
    for epsilon, delta in profile.points:
        exact = dl.convert("local_gdp", "0.5", to=f"local_dp_delta({epsilon})").value
        assert exact * (1 - 1e-9) <= delta <= exact + 1e-7
    told = dl.convert(sampled.guarantees("differential_privacy_delta"), to="true_positive_rate(0.01)", independent=True)
    assert 0.0160 < told.value < 0.0162
