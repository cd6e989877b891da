"""What models offer, and the command line that hands it out and takes it back."""

import json
import os
import subprocess
import sys
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from typer.testing import CliRunner

import dalenius as dl
import support
from campaigns import each
from dalenius.catalogue.models import library, library_model
from dalenius.cli import app
from dalenius.errors import InputError
from dalenius.export import certify, digest, export, offers, read_cbf, read_json, subproblem, write_solution, written
from dalenius.export.solution import Solution
from dalenius.intervals import gap_text, interval_text
from dalenius.model import digest as model_digest
from dalenius.programs import certify as certify_own
from dalenius.reduction import record_channels
from libraries import problems

STEPS = ["marginal", "conditional", "posterior", "row", "node"]


def names(problem, certificate=None) -> list[str]:
    return [offer.name for offer in offers(problem, certificate)]


def audit(adversary=None) -> dl.WorstCaseLeakage:
    return support.problem(
        dl.Records(alphabets=[2, 3]), dl.Sum(), dl.geometric(1.0), adversary or dl.EntropyAtLeast("0.7 max")
    )


def design(kind, adversary, mechanism="oblivious", query=None):
    budget = {"max_distortion": "0.1"} if kind is dl.MinLeakage else {"max_leakage": "0.05 nats"}
    return kind(
        records=dl.Records(3, alphabet=2),
        query=query or dl.Count(),
        distortion=dl.Hamming(),
        law=dl.Uniform(),
        adversary=adversary,
        mechanism=mechanism,
        **budget,
    )


def assert_solved(program, solver, *, relaxed=False) -> None:
    """An instance that another tool solves, whose solution certifies a narrow interval around its value."""
    x, z, value = solver(program.standard_form())
    answer = certify(program, Solution(x, z))
    assert answer.lower - 1e-6 <= value <= answer.upper + 1e-6
    if not relaxed:
        assert answer.gap <= 1e-4


def test_an_audit_offers_its_steps_for_every_kind_of_record(solver):
    problem = audit()
    assert names(problem) == [*STEPS, *(f"{name}@1" for name in STEPS)]
    for name in names(problem):
        assert_solved(subproblem(problem, name), solver, relaxed=name.startswith("row"))


@each(
    "problem, name",
    *((audit(), name) for name in STEPS),
    (design(dl.MinLeakage, dl.EntropyAtLeast("0.5 max")), "master"),
    (design(dl.MinDistortion, dl.EntropyAtLeast("0.5 max")), "master"),
    (
        dl.MinDistortion(
            records=dl.Records(3, alphabet=2),
            query="count",
            distortion="hamming",
            law="uniform",
            privacy=dl.LocalDP(1.0),
        ),
        "linear",
    ),
)
def test_a_block_is_solved_again_by_its_parameters_and_takes_constraints_of_ones_own(problem, name, instances):
    block = subproblem(problem, name)
    assert block.parameters
    assert block.problem.is_dcp(dpp=True)
    before, kept = block.problem.solve(solver="CLARABEL"), instances.canonicalised(block)
    answer = block.solve(gap=1e-6)
    slack = 1e-5 * (1.0 + abs(before))
    assert name == "row" or answer.lower - slack <= before <= answer.upper + slack
    for number in (parameter for parameter in block.parameters.values() if not parameter.ndim):
        number.value = number.value + 0.01 * abs(number.value)
    changed = block.problem.solve(solver="CLARABEL")
    assert instances.canonicalised(block) is kept
    assert changed != before
    (first, *_) = block.variables.values()
    largest = int(np.argmax(first.value))
    mine = [cp.vec(first, order="C")[largest] <= 0.99 * np.max(first.value)]  # what was best is cut off
    own = cp.Problem(block.problem.objective, block.problem.constraints + mine)
    interval, rough = certify_own(own), certify_own(own, solver="SCS")
    assert interval.gap < 1e-5
    assert max(interval.lower, rough.lower) <= min(interval.upper, rough.upper)
    assert interval.lower <= changed + slack if block.maximises else interval.upper >= changed - slack


@each("name", "modular-sum/symmetric-m3-n3", "sum/unequal-alphabets", "real/fair-cell-geometric")
def test_one_step_from_a_witness_leaks_no_less(name, solver):
    model = library_model(name)
    problem = model.load()
    certificate = dl.Certificate.read(model.certificate_path)
    record = json.loads(certificate.text.splitlines()[1])[1]
    ending = "" if record == record_channels(problem)[0].record else f"@{record}"
    for step in ("posterior", "marginal"):
        program = subproblem(problem, step + ending, certificate)
        assert_solved(program, solver)
        assert program.solve(gap=1e-6).upper >= model.claim[0] - 1e-6
        assert digest(subproblem(problem, step + ending).standard_form()) != digest(program.standard_form())


DAILY = (
    "parity/laplace-n4",
    "table/latin-square-m3",
    "design/every-constraint-n2",
    "design/parity-n4-leakage",
)  # all 0 at a prior that ignores the query
UNWRITTEN = {  # what exported instances have no cones for
    "maximal_correlation": "semidefinite cone, and cannot be exported",
}
SOLVABLE = [
    pytest.param(model, id=model.name, marks=[] if model.name in DAILY else [pytest.mark.thorough])
    for model in library()
    if model.claim is not None
]


@pytest.mark.parametrize("model", SOLVABLE)
def test_no_default_instance_is_trivial_where_it_need_not_be(model):
    """Each has a value that is a good part of the model's own optimum, above what needs no program at all."""
    problem, optimum, least = model.load(), float(model.claim[0]), 0.0
    if isinstance(problem, dl.MinDistortion):
        least = float(problem.least_distortion)
    rules = [rule.kind for rule in problem.constraints] if isinstance(problem, dl.problems.DesignProblem) else []
    refused = [reason for kind, reason in UNWRITTEN.items() if kind in rules]
    for offer in offers(problem):
        if refused:
            with pytest.raises(dl.errors.InputError, match=refused[0]):
                offer.make()
            continue
        answer = offer.make().solve(gap=1e-3)
        assert answer.lower - least >= 0.01 * (optimum - least) - 1e-10, f"{offer.name} is worth {answer}"


def test_a_default_point_is_solved_and_has_entropy_to_spare(support):
    """The ascent's, for an adversary with nine tenths of the knowledge: the steps that start there leak more, up to the optimum."""
    problem = support.parity4(2.2)
    optimum = dl.solve(problem, gap=1e-4)
    for name in ("marginal", "conditional", "row"):
        assert 0.8 * optimum.lower <= subproblem(problem, name).solve(gap=1e-6).lower


def test_other_adversaries(solver):
    independent = audit(dl.ProductPriors())
    assert names(independent) == ["marginal", "marginal@1"]
    assert_solved(subproblem(independent, "marginal"), solver)
    listed = audit(dl.FixedPrior([1 / 6] * 6))
    assert names(listed) == []
    support.refused(lambda: subproblem(listed, "marginal"), "none is offered: listed priors are evaluated")


def test_every_model_of_the_library_offers_a_program_or_says_in_a_line_why_not():
    silent = {}
    for name, problem in problems().items():
        if not names(problem):
            support.refused(lambda problem=problem: subproblem(problem, "marginal"), problem.no_program)
            if not written(problem):
                silent[name] = problem.no_program
    assert all(20 < len(reason) < 160 and "\n" not in reason for reason in silent.values())
    assert len({*silent.values()}) == 4
    assert len(silent) <= 11


def test_a_household_offers_the_programs_of_its_audit(solver):
    country = library_model("households/count-n1000000").load()
    assert names(country) == STEPS
    assert_solved(subproblem(country, "posterior"), solver)
    leaks = library_model("households/count-n1000000").claim[1]
    assert subproblem(country, "node").solve(gap=1e-3).upper >= leaks - 1e-9
    majority = library_model("households/majority-n101").load()
    assert names(majority)[:6] == [*STEPS, "marginal@0+49"]
    assert len(names(majority)) == 5 * len(STEPS)
    other = subproblem(majority, "marginal@0+49").solve(gap=1e-6)
    assert other.gap <= 1e-6


ADVERSARIES = {
    "entropy": dl.EntropyAtLeast("0.8 max"),
    "product": dl.ProductPriors(),
    "listed": dl.PriorSet([["1/4", "1/4", 0, 0, 0, 0, "1/4", "1/4"], ["1/8"] * 8]),
}


@each("adversary", *ADVERSARIES)
@each("kind", dl.MinLeakage, dl.MinDistortion)
def test_a_design_offers_its_master_program(kind, adversary, solver):
    problem = design(kind, ADVERSARIES[adversary])
    assert names(problem) == ["master"]
    assert_solved(subproblem(problem, "master"), solver)


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_the_priors_of_a_certificate_prove_its_bound(adversary):
    """The master program over the priors of a solution has the value that the solution proves from below."""
    problem = design(dl.MinLeakage, ADVERSARIES[adversary])
    result = dl.solve(problem, gap=0.2, time_limit=20)
    answer = subproblem(problem, "master", result.certificate).solve(gap=1e-7)
    assert answer.upper >= result.lower * (1.0 - 1e-6)
    assert answer.lower <= result.upper * (1.0 + 1e-6)


def test_a_master_with_a_second_order_cone_is_solved_by_others(solver, tmp_path):
    program = subproblem(library_model("design/every-constraint-n2").load(), "master")
    form = program.standard_form()
    assert form.sizes["second-order"] == 3
    assert read_cbf(export(form, tmp_path / "x.cbf")).sizes == form.sizes
    x, z, value = solver(form)
    answer = certify(program, Solution(x, z))
    assert answer.lower - 1e-6 <= value <= answer.upper + 1e-6
    assert answer.gap <= 1e-4


def test_entries_of_additive_noise_are_tied():
    problem = design(dl.MinLeakage, ADVERSARIES["entropy"], "additive", dl.ModularSum(3))
    assert subproblem(problem, "master").standard_form().columns[0].shape == (1, 3)


def test_certificates_of_something_else_are_refused():
    certificate = dl.Certificate.read(library_model("parity/laplace-n4").certificate_path)
    support.refused(lambda: offers(audit(), certificate), "another model")
    problem = library_model("parity/laplace-n4").load()
    header, _, *rest = certificate.text.split("\n")
    for line in (
        '["witness",0,[["1"]]]',
        '["witness",0,[["x","1"],["1","1"]]]',
        '["witness",0,[["-1","1"],["1","1"]]]',
        "x",
        "[]",
        "1",
    ):
        with pytest.raises(InputError, match="certificate"):
            offers(problem, dl.Certificate("\n".join([header, line, *rest])))
    for text in ("", "x", "[" * 100_000, "[]"):
        with pytest.raises(InputError, match="certificate"):
            offers(problem, dl.Certificate(text))


def test_broken_priors_are_refused():
    problem = design(dl.MinLeakage, ADVERSARIES["entropy"])
    header = json.dumps({"model": model_digest(problem)})
    for lines in (
        [],
        ['["dual","0"]'],
        ['["dual","0"]', '["prior","1",9,"uniform",[]]'],
        ['["dual","0"]', '["prior"'],
        ['["dual","0"]', '["prior",1]'],
    ):
        with pytest.raises(InputError, match="certificate"):
            offers(problem, dl.Certificate("\n".join([header, *lines])))


# ---------------------------------------------------------------- the command line


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_export_and_import_from_the_command_line(solver, tmp_path):
    path = tmp_path / "node.cbf"
    done = run("export", "sum/unequal-alphabets", "--program", "node@1", "-o", path)
    assert done.exit_code == 0, done.output
    x, z, value = solver(read_cbf(path))
    program = subproblem(library_model("sum/unequal-alphabets").load(), "node@1")
    write_solution(tmp_path / "solution.json", program.standard_form(), x, z)
    back = run("import-solution", "sum/unequal-alphabets", "node@1", tmp_path / "solution.json", "--json")
    assert back.exit_code == 0, back.output
    answer = json.loads(back.stdout)
    assert answer["lower"] - 1e-6 <= value <= answer["upper"] + 1e-6
    assert answer["gap"] <= 1e-4
    assert answer["gap"] == pytest.approx((answer["upper"] - answer["lower"]) / answer["upper"], rel=1e-9)
    text = run("import-solution", "sum/unequal-alphabets", "node@1", tmp_path / "solution.json").output
    assert f"{interval_text(answer['lower'], answer['upper'])} nats\n" in text
    assert answer["bounds"][0]["units"] == "nats"
    named = json.loads((tmp_path / "solution.json").read_text()) | {"program": "node@1"}
    (tmp_path / "named.json").write_text(json.dumps(named))
    assert run("import-solution", "sum/unequal-alphabets", "node@1", tmp_path / "named.json").output == text
    assert f"relative gap         {gap_text(answer['gap'])}\n" in text
    wrong = run("import-solution", "sum/unequal-alphabets", "node", tmp_path / "solution.json")
    assert isinstance(wrong.exception, InputError)
    assert "solution.json" in str(wrong.exception)
    assert "another instance" in str(wrong.exception)
    support.refused(
        lambda: subproblem(library_model("sum/unequal-alphabets").load(), "problem"),
        "got 'problem', which is not convex",
    )


def test_a_problem_as_it_is_written_from_the_command_line(tmp_path):
    done = run("export", "pufferfish/majority-n3", "--program", "problem@1", "--format", "nl", "-o", tmp_path / "x.nl")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "x.nl").read_text().startswith("g3 1 1 0")
    told = run("export", "sum/near-kl-n2", "--program", "problem", "--format", "nl", "-o", tmp_path / "y.nl", "--json")
    assert json.loads(told.stdout)["file"] == str(tmp_path / "y.nl")


def test_the_list_and_its_certificate():
    done = run("export", "modular-sum/symmetric-m3-n3", "--program", "list")
    assert [line.split()[0] for line in done.stdout.splitlines()] == [*STEPS, "problem"]
    assert done.stdout.splitlines()[-1].endswith("(--format nl)")
    told = json.loads(run("export", "modular-sum/symmetric-m3-n3", "--program", "list", "--json").stdout)
    assert [entry["nonlinear"] for entry in told["programs"]] == [False] * 5 + [True]
    assert run("export", "modular-sum/symmetric-m3-n3", "--program", "list", "--certificate", "none").exit_code != 0


def test_names_and_paths_are_no_models_and_certificates():
    for given, message in (
        (("parity/laplace-n4",), "load reads one"),
        ((library_model("parity/laplace-n4").load(), "x.cert"), "Certificate.read reads one"),
    ):
        with pytest.raises(InputError, match=message):
            subproblem(given[0], "node", *given[1:])


def test_errors_of_the_command_line(tmp_path):
    for arguments, message in (
        (("--program", "nodes", "-o", tmp_path / "x"), "posterior, row, node, problem; got 'nodes'"),
        (("--program", "node"), "-o"),
        (("--program", "node", "--format", "nl", "-o", tmp_path / "x"), "nl is for nonlinear programs"),
        (("--program", "problem", "--format", "cbf", "-o", tmp_path / "x"), "nl is for nonlinear programs"),
        (("--program", "problem", "-o", tmp_path / "x.mps"), "this one is as it is written, for nl"),
        (("--program", "node", "-o", tmp_path / "x.nl"), "this one is a convex program, for json"),
        (("--program", "node", "-o", tmp_path / "x.txt"), "expected one of json, cbf"),
        (("--program", "node", "--format", "sdpa", "-o", tmp_path / "x"), "exponential cones"),
        (("--program", "node", "--format", "gams", "-o", tmp_path / "x"), "format: expected one of"),
        (("--program", "node", "--format", "lp", "-o", tmp_path / "x"), "exponential cones"),
        (("--program", "node", "-o", tmp_path / "none" / "x"), "cannot be written"),
    ):
        done = run("export", "modular-sum/symmetric-m3-n3", *arguments)
        assert isinstance(done.exception, InputError)
        assert message in str(done.exception)
    assert not list(tmp_path.iterdir())
    listed = tmp_path / "listed.toml"
    listed.write_text(dl.dumps(audit(dl.FixedPrior([1 / 6] * 6))))
    assert "none" in run("export", listed, "--program", "list").output


@pytest.mark.thorough
@pytest.mark.parametrize("seed", ["0", "1"])
def test_other_processes_write_the_same_instance(seed, tmp_path):
    problem = design(dl.MinLeakage, ADVERSARIES["entropy"])
    model = tmp_path / "design.toml"
    model.write_text(dl.dumps(problem))
    command = [sys.executable, "-m", "dalenius.cli", "export", str(model), "--program", "master", "-o", "x.json"]
    environment = os.environ | {"PYTHONHASHSEED": seed}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    here = subproblem(dl.load(model), "master").standard_form()
    assert digest(read_json(tmp_path / "x.json")) == digest(here)
    assert digest(here) in done.stderr
    assert Path(done.stdout.strip()).name == "x.json"
    assert np.isfinite(here.c).all()
