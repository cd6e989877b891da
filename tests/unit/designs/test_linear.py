"""Designs under a privacy notion: published optima, closed forms, exactness, valid bounds whatever happens, the checker, files."""

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from typer.testing import CliRunner

import dalenius as dl
from campaigns import each
from dalenius.cli import app
from dalenius.designs.linear import LinearDesign
from dalenius.designs.rational import LinearSystem
from dalenius.designs.ratios import Multipliers
from dalenius.export import Solution, certify, offers, subproblem
from dalenius.search import Limits, Run
from support import examples, refused

some = examples(8, 25)
P1 = dl.Iid([0.5, 0.3, 0.2])
UNIFORM = dl.Uniform()
BOX = [[0.6, 0.2, 0.2], [0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.4, 0.4, 0.2], [0.4, 0.3, 0.3], [0.5, 0.2, 0.3]]
PML, LDP = dl.PointwiseMaximalLeakage, dl.LocalDP


def design(privacy, n=3, law=UNIFORM, distortion=None, **more):
    more = {"records": dl.Records(1, alphabet=n), "query": dl.Identity(), **more}
    return dl.MinDistortion(law=law, distortion=distortion or dl.Hamming(), privacy=privacy, **more)


def found(problem, seconds=60.0):
    """The search alone, without a certificate."""
    run = LinearDesign(problem, Run.of(Limits(gap=1e-6, time_limit=seconds)))
    run.run()
    assert run.lower <= run.upper == problem.expected_distortion(run.rows)
    level = problem.exp_epsilon(run.rows)
    assert level is not None
    assert level <= problem.privacy.factor()[0]
    return run


# ---------------------------------------------------------------- values


@each(
    "privacy, law, distortion, n, value",
    (PML(0), P1, dl.Hamming(), 3, 0.5),
    (PML("log 1.25"), P1, dl.Hamming(), 3, 0.5),
    (PML(0.5), P1, dl.Hamming(), 3, 0.3405114917),
    (PML("log 2"), P1, dl.Hamming(), 3, 0.2),
    (PML(1), P1, dl.Hamming(), 3, 0.1738061806),
    (PML("log 10/3"), P1, dl.Hamming(), 3, 0.1),
    (PML("log 5"), P1, dl.Hamming(), 3, 0.0),
    (PML(0.1), UNIFORM, dl.Absolute(), 4, 0.947414541),
    (PML(0.5), UNIFORM, dl.Absolute(), 4, 0.6756393646),
    (PML(1), UNIFORM, dl.Absolute(), 4, 0.3204295429),
    (PML("2 bits"), UNIFORM, dl.Absolute(), 4, 0.0),
    (PML(0.1, BOX), P1, dl.Hamming(), 3, 0.5),
    (PML(0.5, BOX), P1, dl.Hamming(), 3, 0.4048583346),
    (PML(1, BOX), P1, dl.Hamming(), 3, 0.2),
    (PML(0.3), UNIFORM, dl.Hamming(), 2, 0.3250705962),
    (PML(0.5), UNIFORM, dl.Hamming(), 4, 0.5878196823),
    (PML(1), UNIFORM, dl.Hamming(), 5, 0.4563436343),
    (LDP(0.5), P1, dl.Hamming(), 3, 0.5),
    (LDP(1), P1, dl.Hamming(), 3, 0.4151531371),
)
def test_known_optima(privacy, law, distortion, n, value):
    problem = design(privacy, n, law, distortion)
    result = dl.solve(problem)
    assert result.lower - 1e-9 <= value <= result.upper + 1e-9
    assert result.gap <= 1e-14
    assert result.termination is dl.answers.Termination.GAP_REACHED
    assert dl.verify(problem, result.certificate).proved


@each("n, epsilon", (2, 0.3), (4, 0.5), (5, 1.0))
def test_closed_forms_of_uniform_laws(n, epsilon):
    c = math.exp(epsilon)
    for privacy, value in ((PML(epsilon), 1 - c / n), (LDP(epsilon), 1 - c / (c + n - 1))):
        run = found(design(privacy, n))
        assert float(run.upper) == pytest.approx(value, abs=1e-14)
        assert run.upper - run.lower < Fraction(1, 10**25)


@each("n", 2, 3, 7)
@each("q", Fraction(1), Fraction(5, 4), Fraction(2))
def test_rational_factors_are_solved_exactly(n, q):
    for privacy, value in ((PML(f"log {q}"), 1 - q / n), (LDP(f"log {q}"), 1 - q / (q + n - 1))):
        problem = design(privacy, n)
        result = dl.solve(problem)
        assert result.distortion == value
        verdict = dl.verify(problem, result.certificate)
        assert verdict.proved
        assert verdict.lower == verdict.upper == value, "the certificate carries the fraction"
        assert result.lower <= value <= result.upper
        assert result.exp_epsilon == q


@each("exponent", 8, 11, 15, 30)
def test_steep_factors_are_solved_exactly(exponent):
    """Where nearly everything may be told the multipliers are tiny, and yet not 0."""
    q = 10**exponent
    result = dl.solve(design(LDP(f"log {q}")))
    assert result.distortion == Fraction(2, q + 2)
    assert 1 - result.lower / result.upper < 1e-12


def test_nothing_is_told_at_epsilon_0():
    for privacy in (PML(0), LDP(0)):
        result = dl.solve(design(privacy, 4, distortion=dl.Squared()))
        assert len(set(result.mechanism.rows)) == 1
        assert result.exp_epsilon == 1
        assert result.distortion == Fraction(3, 2)


def test_everything_is_told_where_every_mechanism_is_private():
    result = dl.solve(design(PML("log 5"), law=P1))
    assert result.mechanism.matrix.tolist() == np.eye(3).tolist()
    assert (result.lower, result.upper) == (0.0, 0.0)


def test_least_distortion_above_0_needs_no_multipliers():
    result = dl.solve(design(LDP(1000), 2, distortion=dl.DistortionMatrix([[1, 2], [3, 1]])))
    assert result.lower == 1.0
    assert result.upper == pytest.approx(1.0)


def test_disjoint_priors_at_epsilon_0_need_no_constant():
    """Each prior sees two inputs, which must look alike; the two pairs may differ."""
    problem = design(
        PML(0, [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]),
        4,
        distortion=dl.DistortionMatrix([[0, 1], [0, 1], [1, 0], [1, 0]]),
    )
    assert found(problem).upper == 0


def test_inputs_without_a_prior_are_free():
    assert found(design(PML(0, [[0.5, 0.5, 0]]))).upper == Fraction(1, 3)


def test_values_without_datasets_cost_nothing():
    problem = design(LDP("log 2"), query=dl.ModularSum(5), records=dl.Records(2, alphabet=2))
    assert found(problem).upper == found(problem).lower


@each("make", PML, LDP)
def test_the_optimum_falls_with_epsilon(make):
    ends = [
        found(design(make(f"log {q}"), 4, dl.Iid([0.4, 0.3, 0.2, 0.1]), dl.Absolute())) for q in (1, "1.5", 2, 4, 9)
    ]
    assert all(first.lower == first.upper for first in ends)
    assert all(first.upper >= second.upper for first, second in itertools.pairwise(ends))


# ---------------------------------------------------------------- random instances


def raw_optimum(problem):
    """HiGHS on the definition alone: Q(x,y) <= c sum_x' beta(x') Q(x',y), or <= c Q(x',y) for all pairs."""
    n, m = problem.input_count, problem.output_count
    c, p = float(problem.privacy.factor()[0]), problem.input_law
    rows = []
    for reference in problem.references:
        S = reference.inputs
        others = np.eye(n)[list(S)] if reference.law is None else [np.zeros(n)]
        if reference.law is not None:
            others[0][list(S)] = [float(x) for x in reference.law]
        rows += [np.kron(np.eye(n)[x] - c * beta, np.eye(m)) for beta in others for x in S]
    equal, ends = [np.kron(np.eye(n), np.ones(m))], [np.ones(n)]
    if problem.mechanism_class.kind == "additive":
        for v, y in itertools.product(range(n), range(m)):
            tie = np.zeros((n, m))
            tie[v, y] += 1.0
            tie[0, (y - v) % m] -= 1.0
            equal.append(tie.reshape(1, -1))
            ends.append(np.zeros(1))
    answer = linprog(
        (p[:, None] * problem.cost).reshape(-1),
        A_ub=np.concatenate(rows),
        b_ub=np.zeros(len(rows) * m),
        A_eq=np.concatenate(equal),
        b_eq=np.concatenate(ends),
    )
    assert answer.status == 0
    return answer.fun


@st.composite
def weights(draw, size):
    whole = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any))
    return [Fraction(w, sum(whole)) for w in whole]


@st.composite
def problems(draw):
    n, m = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    epsilon = draw(st.sampled_from(["0 nats", "0.1 nats", "1 bits", "log 3/2", "1 nats", "log 7", "3.7 nats"]))
    notion = LDP(epsilon)
    if draw(st.booleans()):
        notion = PML(epsilon, draw(st.none() | st.lists(weights(n), min_size=1, max_size=4)))
    costs = [[draw(st.integers(0, 5)) for _ in range(m)] for _ in range(n)]
    return design(notion, n, dl.Iid(draw(weights(n))), dl.DistortionMatrix(costs))


@some
@given(problems())
def test_another_solver_on_the_definition_agrees(problem):
    run = found(problem)
    assert float(run.upper) == pytest.approx(raw_optimum(problem), abs=1e-7)
    assert run.upper - run.lower <= Fraction(1, 10**9)


@some
@given(problems())
def test_the_checker_proves_every_answer(problem):
    result = dl.solve(problem)
    assert dl.verify(problem, result.certificate).proved
    assert result.lower <= result.distortion <= result.upper


@some
@given(problems(), st.integers(0, 2**32 - 1))
def test_no_private_mechanism_beats_the_lower_bound(problem, seed):
    run, rng = found(problem), np.random.default_rng(seed)
    for spread in (0.1, 1.0):
        rows = rng.dirichlet(np.full(problem.output_count, spread), size=problem.input_count)
        mixed = run.program.repaired([[Fraction(x) for x in row] for row in rows.tolist()])
        if mixed is None:
            continue
        level = problem.exp_epsilon(mixed)
        assert level is not None
        assert level <= problem.privacy.factor()[0]
        assert run.lower <= problem.expected_distortion(mixed)


@some
@given(problems(), st.integers(0, 2**32 - 1))
def test_any_multipliers_prove_a_valid_bound(problem, seed):
    run, rng = found(problem), np.random.default_rng(seed)
    multipliers = {}
    for j, ratio in enumerate(run.program.ratios):
        for y in range(problem.output_count):
            sides = [{k: Fraction(int(rng.integers(0, 9)), 7) for k in range(len(ratio.forms))} for _ in range(2)]
            multipliers[j, y] = Multipliers(sides[0], sides[1] if ratio.average is None else {})
    assert run.program.proved(run.program.proving(multipliers)) <= run.upper


@each("privacy", PML("log 2"), LDP("log 2"), PML(0.5), LDP(1), PML(0), LDP(0))
@each("modulus", 3, 5)
def test_additive_noise(privacy, modulus):
    more = {"query": dl.ModularSum(modulus), "records": dl.Records(2, alphabet=3), "mechanism": "additive"}
    problem = design(privacy, law=P1, distortion=dl.Absolute(), **more)
    run = found(problem)
    assert float(run.upper) == pytest.approx(raw_optimum(problem), abs=1e-9)
    assert run.upper - run.lower <= Fraction(1, 10**20)
    assert dl.solve(problem).distortion == run.upper


@each("privacy", PML("log 2"), LDP(1))
def test_datasets_as_inputs(privacy):
    problem = design(privacy, law=P1, query=dl.Sum(), records=dl.Records(2, alphabet=3), mechanism="full")
    assert float(found(problem).upper) == pytest.approx(raw_optimum(problem), abs=1e-9)
    result = dl.solve(problem)
    assert len(result.mechanism.rows) == 9
    assert result.gap <= 1e-9


def test_local_dp_costs_at_least_what_pointwise_leakage_does():
    for epsilon in (0.1, 0.7, 2):
        local, pointwise = (found(design(make(epsilon), 4, distortion=dl.Squared())) for make in (LDP, PML))
        assert pointwise.lower <= local.upper


def test_twenty_inputs_are_solved_exactly():
    law = dl.Iid([Fraction(k, 210) for k in range(1, 21)])
    for privacy in (PML("log 2"), LDP("log 2")):
        run = found(design(privacy, 20, law, dl.Absolute()))
        assert run.lower == run.upper


# ---------------------------------------------------------------- what fails, stops, or is extreme


def failing(*_, **__):
    return None


@pytest.mark.parametrize("privacy", [PML("log 2"), LDP(1), PML(0.5, BOX)])
def test_without_a_vertex_the_interval_is_narrow(privacy, monkeypatch):
    monkeypatch.setattr(LinearSystem, "solved", failing)
    problem = design(privacy, law=P1)
    result = dl.solve(problem)
    assert result.gap <= 1e-9
    assert dl.verify(problem, result.certificate).proved


@pytest.mark.parametrize("privacy", [PML("log 2"), LDP(1)])
def test_wrong_vertices_cost_nothing_but_width(privacy, monkeypatch):
    rng = np.random.default_rng(3)

    def lied(self):
        return [Fraction(int(rng.integers(-9, 9)), 8) for _ in range(self.unknowns)]

    monkeypatch.setattr(LinearSystem, "solved", lied)
    problem = design(privacy, law=P1)
    assert dl.verify(problem, dl.solve(problem).certificate).proved


def test_without_a_solver_there_is_an_interval(monkeypatch):
    monkeypatch.setattr(LinearDesign, "in_doubles", failing)
    problem = design(PML(1), law=P1)
    result = dl.solve(problem)
    assert result.termination is dl.answers.Termination.STALLED
    assert result.lower == 0.0
    assert 0.1738 < result.upper <= 0.5
    assert dl.verify(problem, result.certificate).proved


def test_a_clock_that_has_run_out():
    result = dl.solve(design(LDP(1), 10), time_limit=1e-9)
    assert result.termination is dl.answers.Termination.TIME_LIMIT
    assert result.lower <= float(result.distortion) <= result.upper


def test_a_stopped_clock_says_interrupted():
    run = LinearDesign(design(LDP(1), 5), Run.of(Limits(gap=1e-6)))
    run.search.clock.stop()
    run.run()
    assert run.termination is dl.answers.Termination.INTERRUPTED
    assert run.lower < run.upper


@each("epsilon", 1e-12, 1e-300, 30, 200, 1000, "1000 bits", "log 1e390")
@each("make", PML, LDP)
def test_extreme_epsilons(make, epsilon):
    problem = design(make(epsilon), law=P1)
    result = dl.solve(problem)
    assert result.upper - result.lower <= 1e-9
    assert dl.verify(problem, result.certificate).proved


@each("scale", "1e-200", "1e-20", "1e20", "1e290")
def test_extreme_distortions(scale):
    distortion = dl.DistortionMatrix([[0, scale], [scale, 0]])
    for privacy in (LDP("log 3"), PML(0.3)):
        result = dl.solve(design(privacy, 2, distortion=distortion))
        assert result.lower <= result.distortion <= result.upper
        assert float(result.upper - result.lower) <= 1e-9 * float(Fraction(scale))


def test_distortions_beyond_doubles():
    with pytest.raises(dl.errors.DaleniusError, match="another unit"):
        dl.solve(design(LDP(1), 2, distortion=dl.DistortionMatrix([[0, "1e390"], ["1e390", 0]])))


def test_designs_that_are_too_large():
    problem = design(LDP(1), query=dl.Count(), records=dl.Records(1000, alphabet=2))
    with pytest.raises(dl.errors.DaleniusError, match="coarsen the query"):
        dl.solve(problem)


@each("epsilon", -1, "log 1/2", "-3 bits")
def test_negative_epsilons_are_proved_infeasible(epsilon):
    for make in (PML, LDP):
        problem = design(make(epsilon))
        result = dl.solve(problem)
        assert not result.feasible
        assert result.termination is dl.answers.Termination.INFEASIBLE
        assert dl.verify(problem, result.certificate).proved
        assert result.exp_epsilon is None


# ---------------------------------------------------------------- results, programs, the command line


def test_what_a_result_says():
    result = dl.solve(design(LDP("log 3"), 2))
    assert result.audit is None
    assert result.leakage is None
    assert result.explain() == ""
    assert str(result) == "0.25 <= least distortion <= 0.25 distortion (gap_reached)"
    assert result.mechanism.sample(1) in (0, 1)
    assert result.require(gap=1e-9) is result
    assert result.trace


@each(
    "problem",
    design(LDP(1), law=P1),
    design(PML(0.5, BOX), law=P1),
    design(LDP("log 2"), query=dl.ModularSum(5), records=dl.Records(2, alphabet=3), mechanism="additive"),
    design(LDP("log 2"), query=dl.ModularSum(5), records=dl.Records(2, alphabet=2)),
)
def test_the_program_offered_is_the_problem(problem):
    assert [offer.name for offer in offers(problem)] == ["linear"]
    program, run = subproblem(problem, "linear"), found(problem)
    answer = program.solve()
    assert answer.gap <= 1e-8
    assert answer.lower - 1e-12 <= float(run.upper) <= answer.upper + 1e-12
    point = {"q": np.array(run.rows, dtype=float)}
    assert certify(program, Solution(point)).upper <= float(run.upper) + 1e-11
    assert program.standard_form().linear


def test_programs_that_are_not_offered():
    refused(lambda: subproblem(design(LDP(1)), "master"), "expected one of linear")
    refused(lambda: subproblem(design(LDP(-1)), "linear"), "negative")
    refused(lambda: subproblem(design(LDP(1000)), "linear"), "no solver")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The command line in a folder with a model, in this process."""
    monkeypatch.chdir(tmp_path)

    def done(problem, *arguments):
        Path("model.toml").write_text(dl.dumps(problem))
        return CliRunner().invoke(app, [*map(str, arguments)])

    return done


def test_the_command_line(run, tmp_path):
    problem = design(PML("log 2"), law=P1)
    done = run(problem, "solve", "model.toml", "-o", "out", "--json")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["privacy"] == {"kind": "pointwise_maximal_leakage", "epsilon": "log 2", "attained": "2"}
    assert (answer["distortion"], answer["leakage"], answer["units"]) == ("1/5", None, "distortion")
    files = {"model.cert", "model.design.toml", "model.mechanism.json"}
    assert {path.name for path in Path("out").iterdir()} == files
    assert run(problem, "verify", "out/model.design.toml", "out/model.cert").exit_code == 0
    assert problem.exp_epsilon(dl.DesignedMechanism.load("out/model.mechanism.json").rows) == 2


def test_the_command_line_in_words(run):
    text = run(design(PML("log 2"), law=P1), "solve", "model.toml").stdout
    assert "least distortion     0.2 .. 0.2 distortion\n" in text
    assert "pointwise_maximal_leakage, epsilon at most log 2\n" in text


def test_an_exported_program_and_a_solution_back(run):
    problem = design(LDP("log 3"), 2)
    assert run(problem, "export", "model.toml", "--program", "linear", "--format", "lp", "-o", "x.lp").exit_code == 0
    assert Path("x.lp").read_text().startswith("Minimize")
    solution = {
        "format": "dalenius-solution/1",
        "variables": {"q": [[0.75, 0.25], [0.25, 0.75]], "most": [[0.75, 0.75]]},
    }
    Path("solution.json").write_text(json.dumps(solution))
    done = run(problem, "import-solution", "model.toml", "linear", "solution.json", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["upper"] == pytest.approx(0.25)


@pytest.mark.parametrize("command", ["sweep", "frontier", "compare"])
def test_commands_about_adversaries_say_so(command, run):
    done = run(design(LDP(1)), command, "model.toml", *([] if command == "compare" else ["-o", "out"]))
    assert isinstance(done.exception, dl.errors.InputError)
