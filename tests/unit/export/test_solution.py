"""The way back: whatever is handed in, the interval is valid; and it is narrow for a good solution."""

import numpy as np
import pytest

from campaigns import each
from dalenius import programs
from dalenius.errors import InputError
from dalenius.export import Solution, certify, digest, read_solution, write_solution
from dalenius.outcome import Termination
from instances import MAKERS

NAMES = sorted(MAKERS)


@pytest.fixture(scope="module")
def cases(instances, solver):
    """Each program with its truth and a solution of its instance."""
    found = {}
    for name in NAMES:
        program = instances.make(getattr(programs, name), 3)
        form = program.standard_form()
        x, z, _ = solver(form)
        found[name] = program, form, x, z, program.solve(gap=1e-7, time_limit=20)
    return found


def overlap(answer, truth) -> bool:
    return bool(answer.lower <= truth.upper and truth.lower <= answer.upper)


@pytest.mark.parametrize("name", NAMES)
def test_a_good_solution_gives_a_narrow_interval(name, cases, instances):
    program, form, x, z, truth = cases[name]
    answer = certify(program, Solution(x, z), gap=1e-4)
    assert overlap(answer, truth)
    if name != "RowUpdate":  # what is exported is its relaxation
        assert answer.termination is Termination.GAP_REACHED
    assert instances.violation(program, answer.point) <= 1e-8
    named = certify(program, Solution(form.variables(x), form.duals(z)))
    turned = certify(program, Solution(x, z[form.exponential_reversed()], exponential_order="zyx"))
    for other in (named, turned):
        assert (other.lower, other.upper) == (answer.lower, answer.upper)


@each("name", *NAMES)
def test_a_perturbed_solution_gives_a_valid_interval(name, cases, instances):
    program, _, x, z, truth = cases[name]
    rng = np.random.default_rng(11)
    for size in (1e-6, 1e-3, 0.1):
        noisy = [v + size * rng.standard_normal(v.size) * (1.0 + abs(v)) for v in (x, z)]
        answer = certify(program, Solution(*noisy))
        assert overlap(answer, truth)
        assert instances.violation(program, answer.point) <= 1e-8


@each("name", *NAMES)
def test_garbage_gives_a_valid_interval(name, cases):
    program, form, x, z, truth = cases[name]
    rng = np.random.default_rng(12)
    rubbish = [
        (np.zeros_like(x), np.zeros_like(z)),
        (-x, -z),
        (np.full_like(x, 1e300), np.full_like(z, -1e300)),
        (np.full_like(x, np.nan), np.full_like(z, np.inf)),
        (1e50 * rng.standard_normal(x.size), 1e50 * rng.standard_normal(z.size)),
        (rng.random(x.size), rng.random(z.size)),
        (x, z[form.exponential_reversed()]),  # the wrong cone order
    ]
    for pair in rubbish:
        answer = certify(program, Solution(*pair))
        assert overlap(answer, truth)
        assert not np.isnan(answer.lower + answer.upper)


@each("name", *NAMES)
def test_a_point_without_multipliers(name, cases):
    program, _, x, _, truth = cases[name]
    answer = certify(program, Solution(x))
    assert overlap(answer, truth)
    start = program.certify({})
    assert answer.lower >= start.lower
    assert answer.upper <= start.upper


def test_certify_runs_no_solver_of_ours(cases):
    """An interval that a wrong mechanism proves stays wide: it says something about the solution, not about us."""
    program, _, x, z, truth = cases["MinLeakageProgram"]
    assert certify(program, Solution(np.ones_like(x), np.zeros_like(z))).gap > 10.0 * truth.gap
    assert program.wanted == 1e-7


def test_solutions_of_something_else_are_refused(cases):
    program, form, x, z, _ = cases["MarginalUpdate"]
    refused = [
        (Solution(x[:-1], z), "x: expected"),
        (Solution(x, z[:-1]), "z: expected"),
        (Solution(x, z[:-1], "zyx"), "z: expected"),
        (Solution(x, program="node"), "about 'node'"),
        (Solution(x, instance="sha256:0"), "another instance"),
        (Solution({"po": x}), "unknown name 'po'"),
        (Solution({"pi": x}), "variables.pi: expected shape"),
        (Solution(x, {"entropy": np.zeros(2)}), "duals.entropy: expected shape"),
    ]
    for solution, message in refused:
        with pytest.raises(InputError, match=message):
            certify(program, solution)
    with pytest.raises(InputError, match="gap"):
        certify(program, Solution(x), gap=-1.0)
    assert certify(program, Solution(x, z, program="marginal", instance=digest(form))).gap < 1e-4


@pytest.mark.parametrize("name", NAMES)
def test_solutions_are_written_and_read_back(name, cases, tmp_path):
    program, form, x, z, _ = cases[name]
    read = read_solution(write_solution(tmp_path / "x.json", form, x, z, solver="somebody's"))
    assert isinstance(read.x, np.ndarray)
    assert read.x.tobytes() == np.asarray(x).tobytes()
    assert np.asarray(read.z).tobytes() == np.asarray(z).tobytes()
    assert (read.program, read.instance) == (form.program, digest(form))
    assert certify(program, read).upper == certify(program, Solution(x, z)).upper


def test_bad_solutions_are_not_written(cases, tmp_path):
    _, form, x, z, _ = cases["MarginalUpdate"]
    for bad in ((x[:-1], z), (x, z[:-1]), (np.full_like(x, np.nan), None)):
        with pytest.raises(InputError, match="finite numbers"):
            write_solution(tmp_path / "x.json", form, *bad)
    assert not list(tmp_path.iterdir())
