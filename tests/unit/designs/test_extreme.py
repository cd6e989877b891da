"""The most information: the catalogue's optima, closed forms, prices that no ray beats, and mechanisms that are private exactly."""

import math
import threading
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import OptimizeResult

import dalenius as dl
from campaigns import draws, each
from dalenius.designs.envelope import Told
from dalenius.designs.extreme import Extreme, Rays
from dalenius.search import Clock
from support import refuses

P1, P2, P3, U4 = [0.5, 0.3, 0.2], [0.6, 0.4], [0.4, 0.3, 0.2, 0.1], [0.25] * 4
PML, LDP = dl.PointwiseMaximalLeakage, dl.LocalDP


def question(law, privacy, **more):
    return dl.MaxInformation(
        records=dl.Records(1, alphabet=len(law)), query=dl.Identity(), law=dl.Iid(law), privacy=privacy, **more
    )


def found(problem):
    """What the program found; its mechanism is private exactly, and no ray tells more than it costs."""
    extreme = Extreme.of(problem, Clock())
    assert all(sum(row) == 1 and min(row) >= 0 for row in extreme.rows)
    assert problem.exp_epsilon(extreme.rows) <= problem.privacy.factor()[0]
    above = extreme.prices + extreme.slack
    assert extreme.attained - 1e-14 <= above.sum() <= extreme.attained + 1e-9 * max(extreme.attained, 1e-3)
    rays = Rays.of(problem, float(problem.privacy.factor()[1])).values
    assert np.all(Told.of_law(problem.joint, problem.told).of(rays) <= rays @ above + 1e-13)
    return extreme


@each(
    "law, values",  # catalogue 002/003, section 2.16, at epsilon 0.1, 0.5, 1
    (P1, (0.01188927395, 0.2968451742, 0.7272194731)),
    (P2, (0.005577269253, 0.264387937, 0.673011667)),
    (P3, (0.02088755596, 0.4190754802, 0.8505116243)),
    (U4, (0.01801806122, 0.3501746883, 0.7591015501)),
)
def test_reference_values(law, values):
    for epsilon, value in zip((0.1, 0.5, 1), values, strict=True):
        assert found(question(law, PML(epsilon))).attained == pytest.approx(value, rel=5e-10)


def test_a_program_that_takes_too_long_is_left(monkeypatch):
    """An interval all the same: nothing told from below, and from above what each input alone tells."""
    asked, end = question([0.2, 0.3, 0.5], dl.LocalDP(1)), threading.Event()
    whole = dl.solve(asked)

    def slow(*given, **more):
        end.wait()
        return OptimizeResult(status=1, x=None)

    monkeypatch.setattr("dalenius.programs.highs.linprog", slow)
    late = dl.solve(asked, time_limit=1e-3)
    end.set()
    assert late.termination is dl.answers.Termination.TIME_LIMIT
    assert late.lower < whole.lower <= whole.upper < late.upper < float("inf")


@each("n, k", (3, 1), (4, 2), (5, 2), (6, 3))
def test_of_a_uniform_law_the_most_is_epsilon_where_sets_have_a_whole_size(n, k):
    problem = question([Fraction(1, n)] * n, PML(f"log {n}/{k}"))
    assert found(problem).attained == pytest.approx(math.log(n / k), rel=1e-12)


@each(
    "law, epsilon, value",
    (P1, 0.02, 0.0004128736844),
    (P1, 0.05, 0.002712491563),
    (P1, 0.2, 0.06119509531),
    (P3, 0.02, 0.0006282585937),
    (P3, 0.05, 0.004248809288),
)
def test_where_hardly_anything_may_be_told(law, epsilon, value):
    """Below log 1/(1 - min p) there is one ray for each input, whose entry is what the others leave."""
    e = math.exp(epsilon)
    closed = sum(p * ((1 - p) * e * epsilon + (1 - e * (1 - p)) * math.log((1 - e * (1 - p)) / p)) for p in law)
    assert closed == pytest.approx(value, rel=1e-9)
    assert found(question(law, PML(epsilon))).attained == pytest.approx(value, rel=1e-9)


def test_binary_randomised_response_is_the_best_under_local_dp():
    c = Fraction(3)
    most = math.log(2) + float(c / (c + 1)) * math.log(c / (c + 1)) + float(1 / (c + 1)) * math.log(1 / (c + 1))
    extreme = found(question([0.5, 0.5], LDP("log 3")))
    assert extreme.attained == pytest.approx(most, rel=1e-12)
    assert sorted(extreme.rows[0]) == [Fraction(1, 4), Fraction(3, 4)]


@each(
    "measure, most", ("total_variation", 0.5), ("guessing", 0.25), ("chi_square", 0.25), ([[1, "-5/4"], [0, 0]], 0.125)
)
def test_other_measures_of_a_bit_are_largest_for_randomised_response(measure, most):
    """Its posteriors are 3/4 and 1/4: |3/4 - 1/2| and so on, by hand."""
    problem = question([0.5, 0.5], LDP("log 3"), measure=measure)
    assert found(problem).attained == pytest.approx(most, rel=1e-12)
    result = dl.solve(problem)
    assert result.lower <= most <= result.upper
    assert result.gap < 1e-9


def test_random_private_mechanisms_tell_no_more():
    """Random channels, mixed with as little of a constant one as makes them private."""
    rng, joint = np.random.default_rng(0), [[0.25, 0.15, 0.08, 0.02], [0.02, 0.08, 0.15, 0.25]]
    for privacy in (LDP(1), PML(0.3)):
        problem = question(U4, privacy, useful=joint)
        most = found(problem)
        for _ in range(draws(4, 20)):
            rows = rng.dirichlet(np.full(5, 0.3), size=4)
            mixed = [(1 - t) * rows + t / 5 for t in np.linspace(0.0, 1.0, 17)]
            private = next(q for q in mixed if problem.exp_epsilon(q.tolist()) <= privacy.factor()[0])
            assert Told(np.array(joint), "mutual_information").of(private.T).sum() <= most.attained + 1e-12


def test_more_epsilon_tells_more_and_enough_tells_all():
    joint = [["1/2", "1/10", 0], [0, "1/5", "1/5"]]
    values = [found(question(P1, LDP(e), useful=joint)).attained for e in (0, 0.1, 1, 3)]
    assert values == sorted(values)
    assert values[0] == pytest.approx(0.0, abs=1e-15)
    assert found(question(P1, PML("log 5"))).attained == pytest.approx(-sum(p * math.log(p) for p in P1), rel=1e-12)


def test_inputs_that_no_dataset_has_are_free():
    problem = dl.MaxInformation(records=dl.Records(2, alphabet=2), query=dl.ModularSum(4), privacy=LDP("log 2"))
    assert problem.possible_inputs == (0, 1, 2)
    rays = Rays.of(problem, 2.0)
    assert rays.exact(len(rays.values) - 1, Fraction(2)) == [0, 0, 0, 1]
    found(problem)


# ---------------------------------------------------------------- proved


@each(
    "problem",
    question(P1, PML("log 3/2"), useful=[["1/2", "1/10", 0], [0, "1/5", "1/5"]]),
    question(P3, PML(0.5), useful=[[0.25, 0.15, 0.08, 0.02], [0.02, 0.08, 0.15, 0.25]]),
    question(P2, LDP("1 bits")),
    question(U4, PML("1e-3")),
    dl.MaxInformation(records=dl.Records(2, alphabet=2), query=dl.ModularSum(4), privacy=LDP("log 2")),
)
def test_both_ends_are_proved(problem):
    answer = dl.solve(problem, gap=1e-6)
    assert answer.gap <= 1e-6
    assert not answer.refusals
    assert answer.quantity is dl.answers.Quantity.LEAKAGE
    assert answer.exp_epsilon == problem.exp_epsilon(answer.mechanism.rows) <= problem.privacy.factor()[0]
    assert dl.verify(problem, answer.certificate).proved
    assert dl.loads(dl.dumps(problem)) == problem
    told = dl.measure(problem, mechanism=answer.mechanism)["local_dp"]
    if isinstance(problem.privacy, LDP):
        assert told.lower <= math.log(problem.privacy.factor()[1])
    assert str(answer).startswith(answer.ends[0] + " <= largest information <= ")
    assert answer.to("bits").lower <= answer.lower / math.log(2)


def test_nothing_may_be_told():
    answer = dl.solve(question(P1, PML(0)))
    assert (answer.lower, answer.upper) == (0.0, 0.0)


@each("law", P1, P2)
@each("privacy", LDP(30), LDP("log 10000000000001"), LDP(40), LDP(1000), PML(30), PML(1000))
def test_everything_may_be_told(law, privacy):
    """As near to everything as matters: e^1000 is no double, and e^30 beside 1 is too much for a solver."""
    answer = dl.solve(question(law, privacy), gap=1e-6)
    most = -sum(p * math.log(p) for p in law)
    assert answer.gap <= 1e-6
    assert answer.lower <= most + 1e-15
    assert answer.upper >= most - 1e-9


def test_inputs_outside_the_prior_are_told_even_where_epsilon_is_0():
    answer = dl.solve(question([Fraction(1, 2)] * 2, PML(0, priors=[[1, 0]])), gap=1e-6)
    assert answer.gap <= 1e-6
    assert answer.lower <= math.log(2) <= answer.upper
    assert not answer.refusals
    nothing = dl.MaxInformation(records=dl.Records(2, alphabet=2), query=dl.ModularSum(4), privacy=LDP(0))
    assert dl.solve(nothing).upper == 0.0  # the input that is free there has no mass


def test_a_mechanism_is_audited_and_measured():
    problem = question(P2, LDP("log 3"))
    answer = dl.solve(problem)
    audit = dl.solve(problem.release(answer.mechanism.rows, dl.FixedPrior(P2)))
    assert audit.lower <= answer.upper
    assert answer.lower <= audit.upper + 1e-12


def test_a_sweep_over_epsilon():
    swept = dl.sweep(question(P1, PML(1)), {"privacy.epsilon": ["0.1", "0.5"]}, gap=1e-6)
    ends = [(record.lower, record.upper) for record in swept.records]
    for (low, high), value in zip(ends, (0.01188927395, 0.2968451742), strict=True):
        assert low - 6e-11 <= value <= high + 6e-11


test_what_cannot_be_asked = refuses(
    (lambda: question(P1, LDP(-1)), "no mechanism is private for a negative epsilon"),
    (lambda: question(P1, PML(1, [P1, P1])), "expected at most one"),
    (lambda: question(P1, LDP(1), useful=[[0.5, 0.5]]), "have 2 numbers, and the mechanism has 3 inputs"),
    (lambda: question(P1, LDP(1), useful=[[0.5, 0.5, 0.5]]), "must sum to 1"),
    (lambda: question(P1, LDP(1), useful=[]), "a row for each letter of the useful variable"),
    (lambda: dl.solve(question([Fraction(1, 17)] * 17, LDP(1))), "at most 16 inputs under local_dp, got 17"),
    (lambda: dl.solve(question(P1, LDP(1)), method="exchange"), "leave it out, got"),
    (lambda: dl.solve(question(P1, LDP(1)), solver="clarabel"), "leave it out, got"),
    (lambda: dl.solve(question(P1, LDP(1)), known=1), ["known: ", " leave it out"]),
)


def test_the_command_line(command_line, tmp_path):
    (tmp_path / "most.toml").write_text(dl.dumps(question(P2, LDP("log 3"))), encoding="utf-8")
    done = command_line("solve", "most.toml", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("largest information  0.1")
    assert command_line("verify", "out/most.design.toml", "out/most.cert").returncode == 0
    assert dl.DesignedMechanism.load(tmp_path / "out" / "most.mechanism.json").rows
