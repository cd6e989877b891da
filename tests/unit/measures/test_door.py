"""`dl.measure`: what can be measured, what is said about it, and how errors answer."""

import itertools
import math
import signal
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

import dalenius as dl
import support
from campaigns import each
from dalenius.information import measures as formulas
from dalenius.information.deadline import TimeIsOverError
from dalenius.measures.definitions import OF_CHANNEL, OF_RECORDS
from dalenius.measures.door import LATE
from dalenius.measures.evaluation import PRECISIONS, evaluated
from dalenius.measures.subjects import MAX_ENTRIES

ROWS, PRIOR = [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]], [0.5, 0.3, 0.2]


def test_one_channel_in_many_forms(tmp_path):
    path = tmp_path / "channel.csv"
    lines = ["low,prior,mid,high", "0.7,0.5,0.2,0.1", "", "0.2,0.3,0.6,0.2", "0.1,1/5,0.3,0.6"]
    path.write_text("\n".join(lines))
    wanted = dl.measure(ROWS, prior=PRIOR).rows
    assert dl.measure(np.array(ROWS), prior=np.array(PRIOR)).rows == wanted
    assert dl.measure(dl.Channel(ROWS), prior=PRIOR).rows == wanted
    assert dl.measure(dl.DesignedMechanism(ROWS, values=[2, 5, 7]), prior=PRIOR).rows == wanted
    assert dl.measure(path).rows == dl.measure(str(path)).rows == wanted
    assert "pointwise_maximal_leakage[high]" in [row.name for row in dl.measure(path, outputs=True)]
    assert dl.measure(ROWS, prior=np.diag(PRIOR).tolist()).rows == wanted


def test_rows_have_names_of_functions_and_come_in_order():
    found = dl.measure(ROWS, prior="uniform")
    names = [definition.name for definition in OF_CHANNEL]
    assert [row.name for row in found] == names
    assert len(found) == len(names) == len({row.what for row in found})
    for name in names:
        assert name == "shannon_capacity" or callable(getattr(formulas, name))
    assert found["local_dp"].exact == found["leakage_capacity"].exact == "log 7"
    support.refused(lambda: found["chi_squar"], "did you mean 'chi_square'")


def test_a_problem_is_measured_for_its_worst_record():
    """Two records of different weight in a sum; each measure by listing the datasets."""
    records, query = dl.Records(3, alphabet=2), dl.Sum([[0, 1], [0, 2], [0, 2]])
    mechanism = dl.Channel([["1/6"] * v + [Fraction(6 - v, 6)] + [0] * (5 - v) for v in range(6)])
    problem = dl.WorstCaseLeakage(records=records, query=query, mechanism=mechanism, adversary=dl.AnyPrior())
    measured = dl.measure(problem, law=dl.Iid([0.3, 0.7]))
    rows = mechanism.channel(np.arange(6))[query.index_of_dataset(records)]
    masses = np.array([math.prod((0.3, 0.7)[x] for x in dataset) for dataset in itertools.product((0, 1), repeat=3)])
    index = np.arange(8).reshape(2, 2, 2)
    for row in measured:
        if row.name not in dir(formulas) or row.name == "differential_privacy":
            continue
        values = []
        for record in range(3):
            parts = np.moveaxis(index, record, 0).reshape(2, 4)
            channel = np.array([masses[part] @ rows[part] / masses[part].sum() for part in parts])
            if row.name == "conditional_mutual_information":
                weights = masses[parts].sum(axis=0)
                values.append(formulas.conditional_mutual_information(rows[parts.T], [[0.3, 0.7]] * 4, weights))
            elif row.name in ("local_dp", "leakage_capacity", "maximal_leakage"):
                values.append(getattr(formulas, row.name)(channel))
            else:
                values.append(np.max(getattr(formulas, row.name)(channel, [0.3, 0.7])))
        value = float(max(values))
        assert row.lower - 1e-12 <= value <= row.upper + 1e-12 or row.lower == row.upper == value == math.inf, row
    both = [group for groups in formulas.neighbours([2, 2, 2]) for group in groups]
    assert formulas.differential_privacy(rows, both) == measured["differential_privacy"].upper == math.inf
    assert [row.name for row in measured][-len(OF_RECORDS) :] == [definition.name for definition in OF_RECORDS]


def test_a_designed_mechanism_is_measured_under_the_law_of_its_design():
    design = dl.MinDistortion(
        records=dl.Records(1, alphabet=3),
        query=dl.Identity(),
        distortion=dl.Hamming(),
        law=dl.Iid([0.5, 0.3, 0.2]),
        privacy=dl.PointwiseMaximalLeakage("log 2"),
    )
    best = [["4/5", "1/5", 0], [0, 1, 0], [0, 0, 1]]
    assert dl.measure(design, mechanism=design.designed(best))["pointwise_maximal_leakage"].exact == "log 5"
    assert dl.measure(design, mechanism=design.designed(best), law=dl.Uniform())["local_dp"].exact == "infinite"
    support.refused(lambda: dl.measure(design), "give the mechanism to measure")


def test_mechanisms_that_know_their_inputs():
    assert dl.measure(dl.randomized_response(1, k=3))["local_dp"].upper == pytest.approx(1, abs=1e-15)
    assert dl.measure(dl.geometric(1, range=(2, 5)))["local_dp"].upper == pytest.approx(3, abs=1e-15)
    assert len(dl.measure(dl.laplace_threshold(1), prior="uniform", outputs=True)) == len(OF_CHANNEL) + 4
    support.refused(lambda: dl.measure(dl.symmetric(0.1)), "does not say which inputs it has")


def test_an_interval_stays_open_where_only_equality_could_close_it():
    """Randomised response of epsilon at that very epsilon: e^epsilon is irrational, and nothing tells the two sides apart."""
    found = dl.measure(dl.randomized_response(1, k=2), prior="uniform", epsilon=[1])
    assert found["pointwise_maximal_leakage_delta(1)"].lower == 0.0
    assert found["local_dp_delta(1)"].lower == 0.0
    assert 0.0 < found["local_dp_delta(1)"].upper < 1e-30
    assert dl.measure(dl.symmetric("1/4", k=2), epsilon=["log 3"])["local_dp_delta(log 3)"].exact == "0"


def test_epsilon_and_delta_are_inverse_to_each_other():
    exact = dl.measure(ROWS, prior=PRIOR, epsilon=["log 2"], delta=["0.05"])["local_dp_delta(log 2)"]
    assert exact.exact == "0.5"
    back = dl.measure(ROWS, prior=PRIOR, delta=["0.5"])["local_dp_epsilon(0.5)"]
    assert back.lower <= math.log(2) <= back.upper
    assert back.upper - back.lower < 1e-12
    assert dl.measure(ROWS, delta=[1])["local_dp_epsilon(1)"].upper == 0.0
    assert dl.measure(np.eye(2), delta=[0])["local_dp_epsilon(0)"].upper == math.inf


def test_the_table_is_rounded_outward():
    lines = str(dl.measure(ROWS, prior=PRIOR)).splitlines()
    assert lines[0] == "the input, one of 3, under the prior that was given; 3 outputs; 1.099 nats possible"
    assert lines[3].split()[:5] == ["mutual_information", "0.202148", "..", "0.202149", "nats"]
    assert "local_dp" in lines[8]
    assert "log 7 = 1.94591 .. 1.945911" in lines[8]


def test_large_rationals_are_taken_as_balls():
    draw = np.random.default_rng(0)
    found = dl.measure(draw.dirichlet(np.ones(20), 20), prior=draw.dirichlet(np.ones(20)))
    assert found["local_dp"].exact is None or "/" in found["local_dp"].exact
    assert all(row.upper - row.lower <= 1e-11 for row in found)


def test_progress_tells_the_names():
    told = []
    dl.measure(ROWS, delta=[0.1], progress=told.append)
    assert told[0] == "mutual_information"
    assert "local_dp" in told


@pytest.mark.parametrize("end", ["time", "interrupt"])
def test_what_has_no_value_when_time_is_over_is_refused_by_name(work_clock, end):
    whole = dl.measure(ROWS, prior="uniform").rows
    names = [row.name for row in whole]
    first = names.index("maximal_leakage")

    def late(name: str) -> None:
        if name == "maximal_leakage" and end == "time":
            work_clock.now += 100.0
        elif name == "maximal_leakage":
            signal.raise_signal(signal.SIGINT)

    found = dl.measure(ROWS, prior="uniform", delta=[0.1], time_limit=50.0, progress=late)
    assert found.rows == whole[:first]
    assert list(found.refused)[: len(names) - first] == names[first:]
    assert len(found.refused) > len(names) - first
    support.refused(lambda: found["maximal_leakage"], "maximal_leakage has no value: the time was over")


@pytest.mark.parametrize("subject", ["matrix", "problem", "secret"])
def test_what_cannot_be_read_in_time_has_every_measure_refused_by_name(subject, monkeypatch):
    parts = {
        "records": dl.Records(2, alphabet=2),
        "query": dl.Count(),
        "mechanism": dl.geometric(1),
        "adversary": dl.AnyPrior(),
    }
    asked = {
        "matrix": ROWS,
        "problem": dl.WorstCaseLeakage(**parts),
        "secret": dl.SecretLeakage(**parts, secrets=dl.Secret(dl.Parity())),
    }[subject]
    known = dl.measure(asked, epsilon=[1])

    def slow(*arguments):
        raise TimeIsOverError

    monkeypatch.setattr("dalenius.measures.door._subject", slow)
    found = dl.measure(asked, epsilon=[1], time_limit=50.0)
    assert (found.rows, set(found.refused.values())) == ((), {LATE})
    assert {row.name for row in known if row.name in found.refused}
    assert list(dl.measure(asked, time_limit=50.0, only=["mutual_information"]).refused) in (["mutual_information"], [])


def test_a_formula_that_is_ended_tells_what_fewer_bits_have_told():
    def value() -> arb:
        if ctx.prec > PRECISIONS[0]:
            raise TimeIsOverError
        return arb(2).log()

    assert evaluated(value, exponent=False) == evaluated(value, exponent=False, precisions=PRECISIONS[:1])
    with pytest.raises(TimeIsOverError):
        evaluated(value, exponent=False, precisions=PRECISIONS[1:])


ERRORS = [
    ((ROWS,), {"prior": [0.5, 0.5]}, "prior: expected one probability for each of the 3 inputs, got 2"),
    ((ROWS,), {"prior": [0.5, 0.2, 0.2]}, "must sum to 1"),
    ((ROWS,), {"prior": [[0.5, 0.5], [0, 0, 0]]}, "equal length"),
    ((ROWS,), {"law": dl.Uniform()}, "expected only with a problem"),
    ((ROWS,), {"units": "bytes"}, "units must be one of nats, bits"),
    ((ROWS,), {"epsilon": [-1]}, "epsilon"),
    ((ROWS,), {"delta": [2]}, "delta: a probability, expected 0 to 1, got 2"),
    (([[0.5, 0.6]],), {}, "must sum to 1"),
    ((17,), {}, "channel: expected a list"),
    (("nowhere.csv",), {}, "cannot be read"),
    (
        (np.full((600, 600), 1 / 600),),
        {},
        f"at most {MAX_ENTRIES} probabilities are evaluated exactly, the release has 600 x 600",
    ),
]


@each("arguments, options, message", *ERRORS)
def test_errors(arguments, options, message):
    with pytest.raises(dl.errors.InputError) as error:
        dl.measure(*arguments, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_sums_over_pairs_of_inputs_have_a_limit(monkeypatch):
    monkeypatch.setattr("dalenius.measures.door.MAX_PAIRS", 26)
    support.refused(lambda: dl.measure(ROWS, epsilon=[1]), "is 27; leave them out")


def test_errors_of_problems():
    problem = dl.load("parity/laplace-n4")
    for options, message in (
        ({"prior": [0.5, 0.5]}, "a problem's records have a law"),
        ({"law": [0.5, 0.5]}, "law: expected a Law"),
        ({"law": dl.Iid([0.2, 0.3, 0.5])}, "law: iid needs one probability for each letter"),
        ({"mechanism": dl.DesignedMechanism([[1, 0], [0, 1]])}, "the problem has one already"),
    ):
        with pytest.raises(dl.errors.InputError, match=message):
            dl.measure(problem, **options)
    single = support.problem(dl.Records(2, alphabet=1), None, dl.Channel([[1]], inputs="dataset"), dl.AnyPrior())
    support.refused(lambda: dl.measure(single), "one letter only")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prior\n1\n", "line 1 must name the outputs"),
        ("a,a\n0.5,0.5\n", "line 1 must name the outputs"),
        ("a,b\n", "line 1 must name the outputs"),
        ("", "line 1 must name the outputs"),
        ("a,b\n0.5\n", "line 2: expected an entry for each of the 2 columns, got 1"),
        ("a,b\n0.5,x\n", "line 2: expected a number"),
        ("a,b\n0.5,0.4\n", "must sum to 1"),
        (
            "0.7,0.2,0.1\n0.2,0.6,0.2\n",
            "line 1 could be a row of probabilities; begin with a line of names that could not, such as y1,y2,y3",
        ),
        ("\ufeff.7, .3\n0.2,0.8\n", "line 1 could be a row of probabilities"),
        ("1/3,1/3,1/6,1/6\n0,0,0,1\n", "such as y1,y2,y3,..."),
        ("0.3333333333,0.6666666667\n0.2,0.8\n", "line 1 could be a row of probabilities"),
        ("0,1\n0.5,0.5\n", "line 1 could be a row of probabilities"),
        ("1\n1\n", "line 1 could be a row of probabilities; begin with a line of names that could not, such as y1"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path, text, message):
    path = tmp_path / "channel.csv"
    path.write_text(text)
    with pytest.raises(dl.errors.InputError) as error:
        dl.measure(path)
    assert message in str(error.value)


@each("names", "0,1,2", "-1,0,2", "0.5,0.6,0.7", "a,0.2,0.8", "1,2,-2")
def test_names_that_are_numbers_but_no_row_are_names(tmp_path, names):
    path = tmp_path / "channel.csv"
    path.write_text(f"{names}\n0.7,0.2,0.1\n0.2,0.6,0.2\n")
    found = dl.measure(path, prior="uniform", outputs=True)
    assert f"pointwise_maximal_leakage[{names.split(',')[0]}]" in [row.name for row in found]
    assert found["mutual_information"].lower == dl.measure(ROWS[:2], prior="uniform")["mutual_information"].lower


def test_shapes_that_do_not_fit_are_said_by_every_function_of_both():
    for name in (
        "mutual_information",
        "pointwise_maximal_leakage",
        "bayes_advantage",
        "chi_square",
        "output_law",
        "min_entropy_leakage",
    ):
        with pytest.raises(dl.errors.InputError, match="one probability an input"):
            getattr(formulas, name)(ROWS, [0.5, 0.5])


def test_slips_are_one_clear_error():
    rows = [["0.7", "0.3"], ["0.2", "0.8"]]
    support.refused(lambda: dl.measure(rows, epsilon=0.5), "epsilon: expected a list, got 0.5")
    with pytest.raises(dl.errors.InputError, match="expected pairs of a problem and its result"):
        dl.answers.LeakageCurve.of(dl.load("parity/laplace-n4"))
    assert "local_dp" in dl.measure(rows)
    assert "locals" not in dl.measure(rows)


def test_listed_priors_are_measured_at_their_worst():
    """Each measure by itself, also those that no class offers."""
    laws = [PRIOR, [0.2, 0.3, 0.5], [1, 0, 0]]
    found = dl.measure(ROWS, prior=dl.PriorSet(laws), epsilon=["log 2"])
    each = [dl.measure(ROWS, prior=law, epsilon=["log 2"]) for law in laws]
    assert found.about == "the input, one of 3, under the worst of 3 listed priors; 3 outputs"
    for row in found:
        assert row.lower == max(other[row.name].lower for other in each)
        assert row.upper == max(other[row.name].upper for other in each)


def test_no_prior_is_any_prior_and_uniform_is_asked_for():
    found = dl.measure(ROWS, epsilon=["log 2"], delta=["0.05"], outputs=True, claims=True)
    assert found.about == "the input, one of 3, under any prior; 3 outputs"
    uniform = dl.measure(ROWS, prior="uniform", epsilon=["log 2"], delta=["0.05"], outputs=True)
    assert uniform.rows == dl.measure(ROWS, prior=["1/3"] * 3, epsilon=["log 2"], delta=["0.05"], outputs=True).rows
    assert {row.against for row in uniform} == {"the uniform prior"}
    for row in found:
        assert row.upper >= uniform[row.name].lower
    for same in ("local_dp", "maximal_leakage", "local_dp_delta(log 2)", "local_dp_epsilon(0.05)"):
        assert found[same].exact == uniform[same].exact
        assert found[same].upper == uniform[same].upper
    assert found["pointwise_maximal_leakage"].exact == found["pointwise_maximal_leakage[0]"].exact == "log 7"
    assert found["pointwise_maximal_leakage[1]"].exact == "log 3"
    assert found["min_entropy_leakage"].exact == found["maximal_leakage"].exact
    assert found["mutual_information"].upper >= found["shannon_capacity"].lower > uniform["mutual_information"].upper
    for name in ("bayes_advantage", "output_probability[0]", "information_privacy_delta(log 2)", "disclosure"):
        assert name in uniform
        with pytest.raises(dl.errors.InputError, match=r"has no bound over a set of priors: .*uniform"):
            found[name]
    assert found["local_dp"].claim.epsilon == "log 7"
    assert found["pointwise_maximal_leakage"].claim is None
    assert set(found.refused) | {row.name for row in found} == {row.name for row in uniform}


def test_adversaries_of_one_law_stand_for_their_classes():
    for adversary, priors in (
        (dl.KLBallPriors(PRIOR, "0.02"), formulas.KLBall(PRIOR, 0.02)),
        (dl.BoxPriors([0.4, 0.2, 0.1], [0.6, 0.4, 0.3]), formulas.PriorBox([0.4, 0.2, 0.1], [0.6, 0.4, 0.3])),
        (dl.FloorPriors(0.1), formulas.PriorFloor(0.1)),
    ):
        assert dl.measure(ROWS, prior=adversary).rows == dl.measure(ROWS, prior=priors).rows


@pytest.mark.parametrize(
    "priors",
    [
        dl.BoxPriors(["1/2", "1/2", 0], ["1/2", "1/2", "3/10"]),
        dl.BoxPriors(["1/5", "1/5", 0], ["1/2", "1/2", 0]),
        dl.L1BallPriors(["1/2", "1/2", 0], 0),
        dl.PolytopePriors([["1/2", "1/2", 0]]),
        dl.adversaries.MomentPriors([0, 0, 1], 0, 0),
    ],
)
def test_an_input_that_no_law_of_the_class_has_tells_nothing(priors):
    """The same two inputs are all that there is, whatever the third one would release."""
    found = dl.measure([["1/2", "1/2"], ["1/2", "1/2"], ["9/10", "1/10"]], prior=priors, outputs=True)
    for name in ("pointwise_maximal_leakage", "pointwise_maximal_leakage[1]", "information_privacy"):
        assert (found[name].lower, found[name].upper) == (0, 0)
    audit = support.problem(dl.Records(1, alphabet=3), dl.Identity(), dl.Channel(ROWS), priors)
    result = dl.solve(audit, gap=1e-6)
    assert dl.verify(audit, result.certificate).proved
    assert result.gap <= 1e-6
