"""Privacy notions: what their numbers mean, levels against the definition, model files, the checker's reading, bad input."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalenius as dl
from campaigns import each
from dalenius.model import digest
from dalenius.model.model_file import normal_form
from dalenius_check.core.model import parse_model
from support import examples, refused

some = examples(40, 40)
LOG_2 = Fraction(math.log(2.0))


def design(privacy, *, law=None, query=None, records=None, mechanism="oblivious", **more):
    return dl.MinDistortion(
        records=records or dl.Records(1, alphabet=3),
        query=query or dl.Identity(),
        distortion=dl.Hamming(),
        law=law or dl.Iid([0.5, 0.3, 0.2]),
        mechanism=mechanism,
        privacy=privacy,
        **more,
    )


# ---------------------------------------------------------------- epsilon


@each(
    "epsilon, text, factor",
    (0, "0 nats", 1),
    ("log 3/2", "log 3/2", Fraction(3, 2)),
    ("log 1e3", "log 1e3", 1000),
    ("3 bits", "3 bits", 8),
    ("0 bits", "0 bits", 1),
)
def test_rational_factors_are_exact(epsilon, text, factor):
    notion = dl.LocalDP(epsilon)
    assert notion.epsilon == text or Fraction(notion.epsilon.split()[1]) == factor
    assert notion.factor() == (factor, factor)
    assert dl.LocalDP(notion.epsilon) == notion
    assert notion.feasible


@each("epsilon", 1, "0.5 bits", 1e-30, 1000, "999.5 bits", "1/3 nats", Fraction(1, 7), 5e-324)
def test_irrational_factors_are_enclosed(epsilon):
    notion = dl.PointwiseMaximalLeakage(epsilon)
    low, high = notion.factor()
    assert 1 <= low < high
    assert (high - low) / high < Fraction(1, 2**105)
    amount, unit = notion.epsilon.split()
    nats = Fraction(amount) * (LOG_2 if unit == "bits" else 1)
    if nats < 700:
        assert math.isclose(float(low), math.exp(nats), rel_tol=1e-12)


@each("epsilon", -1, "-0.5 bits", "log 1/2", "log 0.999")
def test_negative_epsilons_leave_nothing(epsilon):
    assert not design(dl.LocalDP(epsilon)).feasible


@each(
    "epsilon",
    math.nan,
    math.inf,
    True,
    None,
    "log 0",
    "log -1",
    "log",
    "log x",
    "ln 2",
    "0.5 max",
    "2",
    [1],
    1001,
    "1001 bits",
    "1 log",
)
def test_epsilons_that_are_none(epsilon):
    if epsilon == "2":  # a number as a text is a number
        assert dl.LocalDP(epsilon) == dl.LocalDP(2)
        return
    for notion in (dl.LocalDP, dl.PointwiseMaximalLeakage):
        with pytest.raises(dl.errors.InputError, match="epsilon"):
            notion(epsilon)


# ---------------------------------------------------------------- levels


def by_definition(problem, rows):
    """The largest ratio, over all pairs and outputs; None for infinity."""
    columns = list(zip(*rows, strict=True))
    if problem.privacy.kind == "local_dp":
        pairs = [(q, r) for column in columns for q, r in itertools.permutations(column, 2)]
    else:
        laws = problem.privacy.priors or [problem.law.probabilities]
        laws = [[weight / sum(law) for weight in law] for law in laws]
        pairs = [
            (q, sum(p * r for p, r in zip(law, column, strict=True)))
            for column in columns
            for law in laws
            for q, p in zip(column, law, strict=True)
            if p
        ]
    if any(q and not r for q, r in pairs):
        return None
    return max([Fraction(1), *(q / r for q, r in pairs if q)])


@st.composite
def laws(draw, size=3, zeros=True):
    weights = draw(st.lists(st.integers(0 if zeros else 1, 6), min_size=size, max_size=size).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


@some
@given(st.data())
def test_levels_are_the_largest_ratios(data):
    rows = [data.draw(laws()) for _ in range(3)]
    priors = data.draw(st.none() | st.lists(laws(), min_size=1, max_size=3))
    problem = design(data.draw(st.sampled_from([dl.LocalDP(1), dl.PointwiseMaximalLeakage(1, priors)])))
    assert problem.exp_epsilon(rows) == by_definition(problem, rows)


def test_values_without_datasets_play_no_part():
    records = dl.Records(2, alphabet=2)
    problem = design(dl.LocalDP(1), query=dl.ModularSum(4), records=records, law=dl.Uniform())
    assert problem.exp_epsilon([["1/2", "1/2", 0, 0]] * 3 + [[0, 0, 0, 1]]) == 1
    assert problem.references[0].inputs == (0, 1, 2)
    with pytest.raises(dl.errors.InputError, match="no dataset"):
        design(dl.PointwiseMaximalLeakage(1, [[0.25] * 4]), query=dl.ModularSum(4), records=records, law=dl.Uniform())


def test_the_law_of_the_inputs_is_the_prior_unless_one_is_given():
    records = dl.Records(2, alphabet=2)
    problem = design(dl.PointwiseMaximalLeakage(1), query=dl.Count(), records=records, law=dl.Iid([0.25, 0.75]))
    assert problem.references[0].law == (Fraction(1, 16), Fraction(3, 8), Fraction(9, 16))
    rounded = design(dl.PointwiseMaximalLeakage(1, [[0.3333333333, 0.3333333333, 0.3333333333]]))
    assert rounded.references[0].law == (Fraction(1, 3),) * 3


def test_datasets_are_the_inputs_of_the_class_full():
    problem = design(
        dl.LocalDP(1), query=dl.Parity(), records=dl.Records(2, alphabet=2), mechanism="full", law=dl.Uniform()
    )
    assert problem.references[0].inputs == (0, 1, 2, 3)


def test_additive_rows_are_the_law_moved_along():
    problem = design(
        dl.LocalDP(1), query=dl.ModularSum(3), records=dl.Records(2, alphabet=3), mechanism="additive", law=dl.Uniform()
    )
    assert problem.exp_epsilon([["1/2", "1/4", "1/4"]]) == 2


# ---------------------------------------------------------------- model files

PROBLEMS = [
    design(dl.LocalDP("0.5 bits")),
    design(dl.LocalDP("log 3")),
    design(dl.PointwiseMaximalLeakage(1)),
    design(dl.PointwiseMaximalLeakage("log 5/4", [[0.5, 0.5, 0], ["1/3", "1/3", "1/3"]]), title="two priors"),
    design(dl.LocalDP(-1), mechanism="full"),
]


@each("problem", *PROBLEMS)
def test_files_state_the_problem(problem):
    text = dl.dumps(problem)
    again = dl.loads(text)
    assert again == problem
    assert dl.dumps(again) == text
    assert parse_model(text.encode()).digest == digest(problem)
    assert normal_form(problem)["privacy"]["kind"] == problem.privacy.kind
    assert {"adversary", "max_leakage"}.isdisjoint(problem.to_model())


def test_the_documented_normal_form():
    form = normal_form(design(dl.PointwiseMaximalLeakage("log 2")))
    assert form["privacy"] == {"epsilon": "log 2", "kind": "pointwise_maximal_leakage", "priors": None}


TEXT = dl.dumps(PROBLEMS[2])


@each(
    "old, new, match",
    ('kind = "pointwise_maximal_leakage"', 'kind = "local_pd"', "local_dp"),
    ('kind = "pointwise_maximal_leakage"', 'kind = "local_dp"\npriors = [[0.5, 0.3, 0.2]]', "unknown key 'priors'"),
    ('epsilon = "1 nats"', "", "missing epsilon"),
    ('epsilon = "1 nats"', 'epsilon = "1 nats"\ndelta = 0.1', "unknown key 'delta'"),
    ('epsilon = "1 nats"', "epsilon = 1\npriors = []", "at least one prior"),
    ('epsilon = "1 nats"', "epsilon = 1\npriors = [[0.5, 0.5]]", "one weight for each"),
    ('epsilon = "1 nats"', "epsilon = 1\npriors = [[1.5, -0.5, 0]]", "must not be negative"),
    ('epsilon = "1 nats"', "epsilon = 1\npriors = [[0.5, 0.3, 0.1]]", "sum to 1"),
    ('epsilon = "1 nats"', "epsilon = 1\npriors = [0.5, 0.3, 0.2]", "expected a list"),
    ("[privacy]", "[adversary]\nentropy_at_least = 0\n[privacy]", "either"),
    ("[records]", "max_leakage = 1\n[records]", "either"),
    ('problem = "min_distortion"', 'problem = "min_leakage"\nmax_distortion = 1', "unknown key 'privacy'"),
)
def test_files_that_state_none(old, new, match):
    text = TEXT.replace(old, new)
    assert text != TEXT
    text = text if new.startswith("max_leakage") is False else "max_leakage = 1\n" + TEXT
    with pytest.raises(dl.errors.InputError, match=match):
        dl.loads(text)


# ---------------------------------------------------------------- one or the other


def test_either_a_budget_or_privacy():
    adversary = dl.EntropyAtLeast(0)
    for more in ({}, {"adversary": adversary}, {"max_leakage": "1 nats"}):
        with pytest.raises(
            dl.errors.InputError, match="an adversary and max_leakage, or privacy, or constraints alone"
        ):
            design(None, **more)
    for more in (
        {"adversary": adversary},
        {"max_leakage": "1 nats"},
        {"adversary": adversary, "max_leakage": "1 nats"},
    ):
        with pytest.raises(dl.errors.InputError, match="an adversary and max_leakage, or privacy"):
            design(dl.LocalDP(1), **more)
    refused(lambda: design(1.0), "privacy: expected Privacy")
    refused(lambda: design(None, adversary=1.0, max_leakage="1 nats"), "adversary: expected Adversary")


def test_what_has_an_adversary_has_no_level():
    problem = design(None, adversary=dl.EntropyAtLeast(0), max_leakage="1 nats")
    refused(lambda: problem.exp_epsilon([[1, 0, 0]] * 3), "expected one with privacy")


@each(
    "ask",
    lambda p: p.budget,
    lambda p: p.budget_units,
    lambda p: p.max_leakage_nats,
    lambda p: p.entropy_bound,
    lambda p: p.max_knowledge,
    lambda p: p.release([[1, 0, 0]] * 3),
    lambda p: dl.compare(p),
    lambda p: dl.frontier(p, [0.1]),
    lambda p: dl.solve(p, method="alternating"),
)
def test_what_needs_an_adversary_says_so(ask):
    refused(lambda: ask(PROBLEMS[0]), "privacy")


def test_what_else_needs_an_adversary_says_so():
    from dalenius.studies.curves import entropy_curve, spread_budgets

    refused(lambda: spread_budgets(PROBLEMS[0], 3), "privacy")
    refused(lambda: entropy_curve(PROBLEMS[0], [0.5]), "needs a mechanism to audit")
