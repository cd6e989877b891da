"""Measures against a model's own adversary: over all of its priors, or refused by name."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.information import measures as formulas
from dalenius.measures.definitions import OF_CHANNEL, OF_RECORDS

PRIORS = [[0.2, 0.8], [0.1, 0.9]]
NEEDS_NO_PRIOR = ("local_dp", "leakage_capacity", "maximal_leakage")
COUNT = dl.Channel([["0.7", "0.2", "0.1"], ["0.3", "0.4", "0.3"], ["0.1", "0.1", "0.8"]])
NAMES = [definition.name for definition in OF_CHANNEL]


def bit(adversary) -> dl.WorstCaseLeakage:
    """Randomised response with a flip of 0.1."""
    return support.problem(dl.Records(1, alphabet=2), dl.Identity(), dl.symmetric("0.1"), adversary)


def pair(adversary, mechanism=COUNT, query=None, records=None) -> dl.WorstCaseLeakage:
    """A count of two bits through a matrix."""
    return support.problem(records or dl.Records(2, alphabet=2), query or dl.Count(), mechanism, adversary)


def of_law(problem: dl.WorstCaseLeakage, name: str, law: np.ndarray) -> float:
    """A measure of the worst record under one law of the datasets, from a list of them, in doubles."""
    rows = problem.channel[problem.query_of_inputs.index_of_dataset(problem.records)]
    values = []
    for record in range(len(problem.records)):
        by_letter = problem.records.datasets_by_letter(record)
        masses = law[by_letter]
        own = masses.sum(axis=1)
        if name == "conditional_mutual_information":
            weights = masses.sum(axis=0)
            there = weights > 0
            laws = (masses[:, there] / weights[there]).T
            values.append(formulas.conditional_mutual_information(rows[by_letter.T[there]], laws, weights[there]))
            continue
        channel = np.einsum("az,azy->ay", masses[own > 0] / own[own > 0, None], rows[by_letter[own > 0]])
        function = getattr(formulas, name)
        values.append(np.max(function(channel) if name in NEEDS_NO_PRIOR else function(channel, own[own > 0])))
    return float(max(values))


def test_a_listed_prior_is_the_adversary_and_not_the_uniform_one():
    found = dl.measure(bit(dl.FixedPrior(PRIORS[0])))
    assert 0.24797 < found["mutual_information"].lower <= found["mutual_information"].upper < 0.24798
    assert found["pointwise_maximal_leakage"].exact == "log 45/13"  # 1.2417
    assert found.about == "the one record, against any adversary who holds the listed prior; 2 outputs"
    assert {row.against for row in found} == {"any adversary who holds the listed prior"}
    both = dl.measure(bit(dl.PriorSet(PRIORS)), epsilon=["log 2"], delta=["0.1"], outputs=True)
    same = dl.measure(
        [["0.9", "0.1"], ["0.1", "0.9"]], prior=dl.PriorSet(PRIORS), epsilon=["log 2"], delta=["0.1"], outputs=True
    )
    assert both.rows == same.rows
    asked = dl.measure(bit(dl.FixedPrior(PRIORS[0])), law=dl.Uniform())
    assert 0.36806 < asked["mutual_information"].lower < 0.36807
    assert "in place of the model's adversary" in asked.about


def test_classes_of_one_record_are_those_of_its_channel():
    for adversary in (
        dl.L1BallPriors(PRIORS[0], 0.1),
        dl.BoxPriors([0.1, 0.7], [0.3, 0.9]),
        dl.EntropyAtLeast("0.7 max"),
    ):
        found = dl.measure(bit(adversary))
        channel = dl.measure([["0.9", "0.1"], ["0.1", "0.9"]], prior=adversary)
        assert [(row.name, row.lower, row.upper) for row in found] == [
            (row.name, row.lower, row.upper) for row in channel
        ]
        assert set(found.refused) | {row.name for row in found} == set(NAMES)
    anybody = dl.measure(bit(dl.AnyPrior()))
    assert anybody["pointwise_maximal_leakage"].exact == anybody["information_privacy"].exact == "log 9"
    assert anybody["min_entropy_leakage"].exact == anybody["maximal_leakage"].exact == "log 1.8"
    assert dl.measure(bit(dl.ProductPriors())).rows == anybody.rows


def test_listed_priors_on_datasets_are_those_of_a_list_of_them():
    laws = [[0.4, 0.1, 0.2, 0.3], [0.25] * 4, [0.5, 0, 0, 0.5], [0, 0.4, 0, 0.6]]
    found = dl.measure(pair(dl.PriorSet(laws)))
    assert not found.refused
    for row in found:
        if row.name in ("shannon_capacity", "differential_privacy", "free_lunch_privacy"):
            continue
        value = max(of_law(pair(dl.AnyPrior()), row.name, np.array(law)) for law in laws)
        assert row.lower - 1e-12 <= value <= row.upper + 1e-12, row
    assert found["differential_privacy"].exact == "log 4"
    assert found["free_lunch_privacy"].exact == "log 8"
    audit = dl.solve(pair(dl.PriorSet(laws)))
    assert audit.lower <= found["mutual_information"].upper
    assert found["mutual_information"].lower <= audit.upper


def test_a_letter_without_a_probability_keeps_a_row_that_no_other_record_changes():
    single = dl.measure(bit(dl.FixedPrior([1, 0])))
    assert single["local_dp"].exact == "log 9"
    assert single["mutual_information"].exact == "0"
    assert dl.measure(pair(dl.FixedPrior([0.5, 0.5, 0, 0])))["local_dp"].upper > 1  # record 1; record 0 has one value


def laws(kind: str, draw: np.random.Generator) -> np.ndarray:
    """A law of two bits that the adversary may hold."""
    if kind == "any":
        return draw.dirichlet([0.3] * 4)
    own, other = draw.dirichlet([0.5, 0.5]), draw.dirichlet([0.2, 0.2])
    if kind == "class":
        own = np.array([0.7, 0.3]) + draw.uniform(-0.1, 0.1) * np.array([1, -1])
    return np.outer(own, other).ravel()


@each(
    "adversary, kind",
    (dl.AnyPrior(), "any"),
    (dl.ProductPriors(), "product"),
    (dl.L1BallPriors([0.7, 0.3], 0.2), "class"),
    (dl.IndependentBlocks(2), "any"),
    (dl.IndependentBlocks(1), "product"),
)
def test_no_prior_of_the_adversary_is_told_more(adversary, kind):
    """Drawn priors stay below the upper ends, and the ends that are written down are attained, or nearly."""
    draw, problem = np.random.default_rng(5), pair(adversary)
    found = dl.measure(problem)
    drawn = [laws(kind, draw) for _ in range(100)]
    for row in found:
        if row.name in dir(formulas) and row.name != "differential_privacy":
            asked = problem if kind != "class" else dataclasses.replace(problem, records=dl.Records(2, alphabet=2))
            seen = [
                record_0(asked, row.name, law) if kind == "class" else of_law(asked, row.name, law) for law in drawn
            ]
            assert max(seen) <= row.upper + 1e-12, row
            assert max(seen) >= 0.8 * row.lower, row
    assert set(found.refused) | {row.name for row in found} == {*NAMES, *(one.name for one in OF_RECORDS)}


def record_0(problem: dl.WorstCaseLeakage, name: str, law: np.ndarray) -> float:
    """Of record 0 alone, whose law is in the class."""
    rows = problem.channel[problem.query_of_inputs.index_of_dataset(problem.records)].reshape(2, 2, -1)
    joint = law.reshape(2, 2)
    own, other = joint.sum(axis=1), joint.sum(axis=0)
    if name == "conditional_mutual_information":
        return float(sum(w * formulas.mutual_information(rows[:, z], own) for z, w in enumerate(other)))
    channel = np.einsum("z,azy->ay", other, rows)
    function = getattr(formulas, name)
    return float(np.max(function(channel) if name in NEEDS_NO_PRIOR else function(channel, own)))


def test_closed_forms_of_whole_sets():
    anybody, independent = dl.measure(pair(dl.AnyPrior())), dl.measure(pair(dl.ProductPriors()))
    for name in ("pointwise_maximal_leakage", "local_dp", "leakage_capacity", "information_privacy"):
        assert anybody[name].exact == anybody["free_lunch_privacy"].exact == "log 8"
        assert independent[name].exact == independent["differential_privacy"].exact == "log 4"
    for found in (anybody, independent):
        assert not any(row.what.startswith("at most, over") for row in found)
    assert anybody["maximal_leakage"].exact == anybody["min_entropy_leakage"].exact == "log 1.7"  # rows 0 and 2
    assert independent["maximal_leakage"].exact == "log 1.5"  # rows 1 and 2: 0.3 + 0.4 + 0.8
    for found, adversary in ((anybody, dl.AnyPrior()), (independent, dl.ProductPriors())):
        audit = dl.solve(pair(adversary))
        assert (found["shannon_capacity"].lower, found["shannon_capacity"].upper) == (audit.lower, audit.upper)
    assert abs(anybody["conditional_mutual_information"].upper - independent["mutual_information"].upper) < 1e-9


def test_households_are_measured_by_one_of_them():
    town = pair(dl.IndependentBlocks(3), dl.geometric(1), records=dl.Records(3000, alphabet=2))
    home = pair(dl.AnyPrior(), dl.geometric(1), records=dl.Records(3, alphabet=2))
    found, alone = dl.measure(town, epsilon=["0.5"]), dl.measure(home, epsilon=["0.5"])
    assert "free_lunch_privacy" in found.refused
    for row in found:
        same = alone[row.name]
        assert max(row.lower, same.lower) <= min(row.upper, same.upper), row
        assert row.upper - same.upper <= 1e-4 * same.upper, row
    bound = dl.measure(pair(dl.IndependentBlocks(3, entropy_at_least="1 bits"), dl.geometric(1), records=town.records))
    assert bound["mutual_information"].upper <= found["mutual_information"].upper
    assert (bound["local_dp"].lower, bound["local_dp"].upper) == (0.0, found["local_dp"].upper)


def test_an_entropy_bound_of_several_records_has_what_holds_for_more_priors_from_above():
    problem = pair(dl.EntropyAtLeast("1 bits"))
    found, audit, anybody = (
        dl.measure(problem, epsilon=[1]),
        dl.solve(problem),
        dl.measure(pair(dl.AnyPrior()), epsilon=[1]),
    )
    assert (found["mutual_information"].lower, found["mutual_information"].upper) == (audit.lower, audit.upper)
    assert found["differential_privacy"] == anybody["differential_privacy"]
    for name in ("pointwise_maximal_leakage", "local_dp", "maximal_leakage", "local_dp_delta(1)"):
        assert (found[name].lower, found[name].upper) == (0.0, anybody[name].upper)
        assert found[name].what.startswith("at most, over more priors: ")
    for name, words in (("shannon_capacity", "entropy_at_least = 0 has a bound"), ("total_variation", "list priors")):
        assert name not in found
        with pytest.raises(dl.errors.InputError, match=f"{name} has no bound against entropy_at_least: .*{words}"):
            found[name]
    assert str(found).count("no bound against") == 2


def test_what_has_no_matrix_has_what_its_audit_proves():
    noisy = pair(dl.AnyPrior(), dl.gaussian(scale=2))
    found = dl.measure(noisy)
    assert found["mutual_information"].upper == dl.solve(noisy).upper
    support.refused(lambda: found["differential_privacy"], "noise on the real line has no matrix")
    cut = dl.measure(pair(dl.FixedPrior([0.25] * 4), dl.discrete_gaussian(scale=2)))
    assert [row.name for row in cut] == ["mutual_information", "conditional_mutual_information"]


def test_what_cannot_be_asked_of_a_set_is_said():
    with pytest.raises(
        dl.errors.InputError, match="outputs, delta, order, level, gains: not offered against product_priors"
    ):
        dl.measure(pair(dl.ProductPriors()), outputs=True)
    support.refused(lambda: dl.measure(pair(dl.ProductPriors()), only=["bayes"]), "no measure here is named 'bayes'")
    late = dl.measure(pair(dl.EntropyAtLeast("1 bits")), time_limit=1e-9)["mutual_information"]
    assert 0 <= late.lower <= late.upper <= math.log(2) + 1e-9


def test_a_design_is_measured_against_its_adversary():
    design = support.design(
        dl.MinDistortion,
        dl.Records(2, alphabet=2),
        dl.Count(),
        dl.Absolute(),
        0.3,
        dl.ProductPriors(),
        mechanism="oblivious",
        law=dl.Iid([0.3, 0.7]),
    )
    built = design.designed([["0.7", "0.2", "0.1"], ["0.3", "0.4", "0.3"], ["0.1", "0.1", "0.8"]])
    assert dl.measure(design, mechanism=built).rows == dl.measure(pair(dl.ProductPriors())).rows
    own = dl.measure(design, mechanism=built, law=design.law)
    assert own["mutual_information"].upper < dl.measure(pair(dl.ProductPriors()))["mutual_information"].lower


def test_every_choice_of_rows_is_looked_at():
    """Three letters: the maximal leakage against anybody is that of the best three datasets, one for each letter."""
    rows = (np.random.default_rng(1).dirichlet(np.ones(3), 9) * 100).round() / 100
    rows[:, 0] += 1 - rows.sum(axis=1)
    problem = support.problem(
        dl.Records(2, alphabet=3), None, dl.Channel(rows.round(2).tolist(), inputs="dataset"), dl.AnyPrior()
    )
    index = np.arange(9).reshape(3, 3)
    tables = [index[a] for a in range(3)], [index[:, a] for a in range(3)]
    best = max(rows[list(chosen)].max(axis=0).sum() for table in tables for chosen in itertools.product(*table))
    found = dl.measure(problem, only=["maximal_leakage"])["maximal_leakage"]
    assert found.lower - 1e-12 <= math.log(best) <= found.upper + 1e-12
