"""`convert`: every ordered pair answers or says why not, on the safe side; what cannot be used is refused in one line."""

import math
import sys
from fractions import Fraction

import pytest
from scipy.stats import norm

import dalenius as dl
from campaigns import draws, each, thinned
from dalenius.conversions import NOTIONS, RULES, door
from dalenius.conversions.search import best_chain

MUCH = {"p_min": "0.05", "letters": 4, "outputs": 5, "records": 10, "independent": True, "attribute_max": "0.3"}
NAMES = {name: notion.example for name, notion in NOTIONS.items()}
FACTS = [{}, MUCH, {"p_min": "0.05", "releases": 3}]


@each("source", *thinned(NOTIONS, every=4))
def test_every_ordered_pair_answers_or_says_why_there_is_no_rule(source):
    for facts in FACTS[: draws(1, 3)]:
        for target in NAMES.values():
            found = dl.convert(NAMES[source], "0.03", to=target, **facts)
            assert found.better.strip()
            assert "\n" not in found.better
            if found.value is None:
                assert found.better.startswith("no rule: ")
                assert not found.steps
            else:
                assert 0.0 <= found.value < math.inf
                assert all(step.theorem and step.formula for step in found.steps)
                assert not found.steps or found.steps[-1].value == found.value


def test_what_is_asked_for_needs_no_name():
    assert dl.convert("local_dp", 1, "mutual_information") == dl.convert("local_dp", 1, to="mutual_information")


def test_a_guarantee_says_itself():
    found = dl.convert("local_dp", "log 3", to="leakage_capacity")
    assert found.steps == ()
    assert found.value == pytest.approx(math.log(3))
    assert found.value >= math.log(3)


def test_more_facts_and_sharper_rules_never_make_it_worse():
    pairs = [
        ("local_dp", "pointwise_maximal_leakage"),
        ("local_dp", "mutual_information"),
        ("chi_square", "total_variation"),
    ]
    for source, target in pairs:
        sharp = dl.convert(source, "0.3", to=target, **MUCH).value
        assert (
            sharp
            <= dl.convert(source, "0.3", to=target).value
            <= dl.convert(source, "0.3", to=target, sharp=False).value
        )


def test_a_fact_that_says_nothing_changes_nothing():
    """No value is likelier than 1: a guess gains at most 1 - exp(-L) of any secret."""
    for source in ("maximal_leakage", "pointwise_maximal_leakage"):
        bare, told = (dl.convert(source, "0.1 nats", to="bayes_advantage", **facts) for facts in ({}, {"p_max": 1}))
        assert bare.value == told.value == pytest.approx(-math.expm1(-0.1))


def test_several_guarantees_of_one_mechanism_say_what_the_best_of_them_does():
    orders = {"renyi_dp(2)": "0.2", "renyi_dp(8)": "0.8", "renyi_dp(32)": "6"}
    for epsilon in ("0.5", "2"):
        asked = f"differential_privacy_delta({epsilon})"
        together, alone = dl.convert(orders, to=asked), [dl.convert(name, r, to=asked) for name, r in orders.items()]
        assert together.value == min(one.value for one in alone) < 0.1
        assert "the other guarantees may say more" in together.better
        assert all(one.better.startswith("nothing better is possible") for one in alone)
    found = dl.convert({"zcdp": "0.1", "differential_privacy_delta(1)": "0"}, to="differential_privacy")
    assert found.better.startswith("no rule: none exists")


def test_what_engineers_hold_is_worth_something_about_people():
    """One of a household of four; T steps with noise; an attack: figures that closed forms have as well."""
    assert dl.convert("zcdp", "0.02", to="local_zcdp", group=4).value == pytest.approx(0.32)
    assert dl.convert("gdp", "0.1", to="local_gdp", independent=True, releases=25).value == pytest.approx(0.5)
    found = dl.convert("gdp", "1", to="true_positive_rate(0.01)", independent=True)
    assert found.value == pytest.approx(norm.sf(norm.isf(0.01) - 1), abs=1e-12)
    chain = dl.convert("differential_privacy", "0.1", to="bayesian_dp", transition_ratio="3")
    assert chain.value == pytest.approx(0.1 + 4 * math.log(3))
    assert (
        dl.convert("differential_privacy", "0.1", to="bayesian_dp", transition_ratio="3", group=2).value <= 0.2 + 1e-15
    )
    sharp, printed = (
        dl.convert("zcdp", "0.1", to="differential_privacy_delta(1)", sharp=s).value for s in (True, False)
    )
    assert (round(sharp, 8), round(printed, 8)) == (0.00868231, 0.00893325)


def test_a_chain_names_its_steps_and_passes_the_best_epsilon():
    found = dl.convert("strong_chi_square", "0.01", to="mutual_information", p_min="0.25", letters=3)
    assert found.steps[0].source == "strong_chi_square"
    assert found.steps[-1].target == "mutual_information"
    coarse = []
    for epsilon in ("1/8", "1/4", "1/2"):
        between = f"information_privacy_delta({epsilon})"
        delta = dl.convert("strong_chi_square", "0.01", to=between, letters=3).value
        coarse.append(dl.convert(between, delta, to="mutual_information", p_min="0.25").value)
    assert found.value <= min(coarse)
    assert "not known to be attained" in found.better


def test_that_nothing_better_is_possible_is_said_only_where_the_mechanism_has_the_facts():
    for source, value, target, without, facts in (
        ("local_dp", 1, "mutual_information", {}, {"letters": 3}),
        ("local_dp", 1, "pointwise_maximal_leakage", {"sharp": False}, {"sharp": False, "p_min": "0.2"}),
        ("information_privacy", 1, "total_variation", {}, {"outputs": 3}),
        ("chi_square", "0.3", "mutual_information", {}, {"p_min": "0.3"}),
        ("chi_square", "2.5", "total_variation", {}, {"letters": 7}),
        ("maximal_leakage", "0.3", "bayes_advantage", {"p_max": "0.5"}, {"p_max": "0.7"}),
        ("local_dp", 1, "guessing_success", {"p_max": "0.5", "letters": 2}, {"p_max": "0.6"}),
        ("guessing_success", "0.7", "total_variation", {"p_min": "0.5"}, {"p_min": "0.4"}),
    ):
        assert dl.convert(source, value, to=target, **without).better.startswith("nothing better is possible")
        found = dl.convert(source, value, to=target, **facts)
        assert found.better.startswith("something better may be possible"), found
        assert "do not allow" in found.better


def test_what_attains_the_last_rule_may_not_have_the_guarantee_that_was_given():
    """A channel whose information under one prior is 0.05 has a larger capacity; an even secret is guessed by less than p_max."""
    for source, value, target, facts in (
        ("shannon_capacity", "0.05 nats", "local_information_privacy_delta(0.5)", {"p_min": "0.5"}),
        ("bayes_advantage", "0.1", "mutual_information", {"letters": 2, "p_max": "0.7"}),
    ):
        assert "perhaps not all by one mechanism" in dl.convert(source, value, to=target, **facts).better


def test_none_exists_is_said_only_where_a_mechanism_shows_it():
    facts = {"letters": 4, "p_min": "0.1"}
    assert "none is known" in dl.convert("estimation_error", "0.7", to="chi_square", **facts).better
    assert "none exists" in dl.convert("guessing_success", "0.7", to="local_dp", **facts).better
    found = dl.convert("bayes_advantage", "0.2", to="mutual_information", letters=2, p_max="0.5", units="bits")
    assert found.value == pytest.approx(0.4)


def test_units_are_rounded_outward():
    nats, bits = (dl.convert("local_dp", 1, to="mutual_information", units=units).value for units in ("nats", "bits"))
    assert bits * math.log(2) >= nats * (1 - 1e-15)
    assert dl.convert("shannon_capacity", "1 bits", to="mutual_information", units="bits").value >= 1.0
    assert dl.convert("shannon_capacity", "1 bits", to="mutual_information", units="bits").value <= 1.0 + 1e-15


def test_numbers_beyond_the_doubles_are_rounded_outward():
    """Of e^(-6e7) and e^(10^18) every binary digit was written out, for minutes, and longer."""
    assert dl.convert("zcdp", "1e-9", to="differential_privacy_delta(0.5)").value == math.ulp(0.0)
    assert dl.convert("local_gdp", "1e9", to="chi_square").value == math.inf


def test_lower_bounds_are_rounded_downward():
    found = dl.convert("local_dp", 1, to="posterior_min_entropy", p_min="0.2")
    assert found.amount == ">= 0.0879832 nats"
    assert found.value <= math.log1p(0.25 * math.exp(-1)) * (1 + 1e-15)


def test_releases_go_through_the_notion_that_composes():
    found = dl.convert("pointwise_maximal_leakage", "0.01", to="pointwise_maximal_leakage", p_min="0.2", releases=10)
    assert [step.rule for step in found.steps] == ["CONV-1", "composition (local_dp)", "CONV-2"]
    assert found.source == "pointwise_maximal_leakage <= 0.01 nats = 0.01443 bits, 10 times"
    assert dl.convert("total_variation", "0.01", to="total_variation", releases=10).steps == ()


def work(function):
    """How many calls it makes, of Python and of C alike."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize(
    ("source", "value", "target", "facts"),
    [
        (
            "differential_privacy",
            "1e-6",
            "information_privacy_delta(2)",
            {"p_min": "0.01", "independent": True, "releases": 64},
        ),
        (
            "shannon_capacity",
            "0.3",
            "total_variation",
            {"p_min": "1e-9", "letters": 1000, "outputs": 3, "releases": 10_000},
        ),
        ("strong_chi_square", "1e-6", "local_dp_delta(2)", {"p_min": "1e-9", "letters": 1000, "releases": 10_000}),
        ("local_dp_delta(0.01)", "1e-6", "chi_square", {"p_min": "0.01", "releases": 10_000}),
    ],
)
def test_a_conversion_is_little_work_with_many_releases_too(source, value, target, facts):
    """A million such calls are some 0.2 s; with 10,000 releases it was minutes, when each term of a sum was one."""
    assert work(lambda: dl.convert(source, value, to=target, **facts)) < 1_000_000


def test_what_holds_always_is_said_where_the_guarantee_says_no_more():
    found = dl.convert("differential_privacy", "1", to="pointwise_maximal_leakage", p_min="0.2")
    assert found.value == pytest.approx(math.log(5))
    assert "so it is for every mechanism" in found.better
    assert "needs independent" in found.better


def test_no_rule_for_plain_information_privacy_to_differential_privacy():
    assert not [rule for rule in RULES if (rule.source, rule.target) == ("information_privacy_delta", "local_dp_delta")]


def test_the_advantage_of_an_attack_is_a_notion():
    """Of normal laws a distance of 1 apart: 2 Phi(1/2) - 1; of a guess of one of two values half of that, whatever else is known."""
    attack = dl.convert("gdp", 1, to="attack_advantage", independent=True)
    assert attack.target == "local_dp_delta(0)"
    assert attack.value == pytest.approx(math.erf(0.5 / math.sqrt(2)), rel=1e-12)
    assert dl.convert("attack_advantage", "0.3", to="attack_advantage").value == pytest.approx(0.3)
    for most in ("0.5", "0.6", "0.9", None):
        guess = dl.convert("gdp", 1, to="bayes_advantage", independent=True, letters=2, p_max=most)
        assert guess.value == pytest.approx(attack.value / 2, rel=1e-12)
    with pytest.raises(dl.errors.InputError, match="attack_advantage"):
        dl.convert("local_dp", 1, to="attack_advantag")


def test_an_epsilon_is_named_with_its_delta():
    found = dl.convert("local_dp", "1 bits", to="local_dp_epsilon(0.1)", units="bits")
    assert (found.target, found.units) == ("local_dp_epsilon(0.1)", "bits")
    exact = math.log2(2 - 0.1 * (2 + 1))  # of randomised response
    assert exact <= found.value <= exact + 3e-7
    given = dl.convert("local_dp_epsilon(1e-6)", 0.5, to="local_dp_delta(4)")
    assert given == dl.convert("local_dp_delta(0.5)", "1e-6", to="local_dp_delta(4)")
    nothing = dl.convert("mutual_information", 1, to="local_dp_epsilon(1e-5)")
    assert nothing.value is None
    assert nothing.better.startswith("no epsilon up to 1000 nats has this delta: ")


def test_the_least_epsilon_is_the_least_by_all_rules_and_few_searches_ask_all(monkeypatch):
    """The chain that is best far out is followed, and left where another one reaches further."""
    asked = []
    monkeypatch.setattr(door, "best_chain", lambda *at, **how: asked.append(how["among"]) or best_chain(*at, **how))
    given = {"local_dp": 1, "local_dp_delta(0)": "0.125"}
    found = [door.convert(given, to=f"local_dp_epsilon({delta})") for delta in ("0.125", "0.1")]
    assert found[0].value == 0.0 < found[1].value < 1.0
    assert asked.count(None) <= 4 * len(found) < len(asked)
    below = Fraction(str(found[1].value)) - Fraction(1, 10**7)
    assert door.convert(given, to=f"local_dp_delta({float(below)})").value > 0.1


def test_a_rate_may_be_in_percent():
    rates = [dl.convert("gdp", 1, to=f"true_positive_rate({rate})", independent=True) for rate in ("1%", "0.01")]
    assert rates[0] == rates[1]


@each(
    "arguments, facts, text",
    (("local_pd", 1, "local_dp"), {}, "no notion is called 'local_pd' (did you mean 'local_dp'?)"),
    (("local_dp", 1, "local_dp_delta"), {}, "local_dp_delta: expected local_dp_delta(0.5), got 'local_dp_delta'"),
    (("local_dp(1)", 1, "local_dp"), {}, "local_dp: expected local_dp, got 'local_dp(1)'"),
    (("local_dp", 1, "renyi_dp"), {}, "renyi_dp: expected renyi_dp(2), got 'renyi_dp'"),
    (("renyi_dp(1)", 1, "gdp"), {}, "renyi_dp: expected an order above 1, got 1; of order 1 it is pairwise_divergence"),
    (("local_dp", 1, "true_positive_rate(2)"), {}, "true_positive_rate: expected a number from 0 to 1, got '2'"),
    (
        ("differential_privacy_delta(1)", 2, "gdp"),
        {},
        "differential_privacy_delta: expected a number from 0 to 1, got 2",
    ),
    (("zcdp", -1, "gdp"), {}, "zcdp: expected a number from 0 to 1000000000, got -1"),
    (("differential_privacy", "1e4", "gdp"), {}, "differential_privacy is at most 1000 nats"),
    (("zcdp", None, "gdp"), {}, "expected a notion with its number, or several as a mapping"),
    (({}, None, "gdp"), {}, "expected at least one guarantee"),
    (("zcdp", 1, "bayesian_dp"), {"group": 0}, "group: expected an integer of at least 1, got 0"),
    (("zcdp", 1, "bayesian_dp"), {"transition_ratio": "0.5"}, "transition_ratio: expected a number of at least 1"),
    (("local_dp", -1, "chi_square"), {}, "local_dp: expected a number of at least 0, got -1"),
    (("total_variation", 3, "chi_square"), {}, "total_variation: expected a number from 0 to 2, got 3"),
    (("local_dp", 1, "chi_square"), {"p_min": 0.6}, "p_min: 2 values cannot each have probability 0.6"),
    (("local_dp", 1, "chi_square"), {"p_min": 0.3, "letters": 4}, "p_min: 4 values cannot each have probability 0.3"),
    (("local_dp", 1, "chi_square"), {"p_max": 0.1, "letters": 4}, "p_max: 0.1 is too small for 4 values"),
    (("local_dp", 1, "chi_square"), {"releases": 0}, "releases: expected an integer of at least 1, got 0"),
    (("local_dp", 1, "chi_square"), {"units": "bit"}, "units must be one of nats, bits; got 'bit'"),
)
def test_what_cannot_be_used_is_refused_in_one_line(arguments, facts, text):
    notion, value, to = arguments
    with pytest.raises(dl.errors.InputError) as caught:
        dl.convert(notion, value, to=to, **facts)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_it_shows_itself_in_notebooks():
    assert "<td>CONV-2</td>" in dl.convert(
        "local_dp", 1, to="pointwise_maximal_leakage", p_min=0.2
    )._repr_html_().replace('<th scope="row">CONV-2</th>', "<td>CONV-2</td>")
