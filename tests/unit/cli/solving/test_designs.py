"""`dalenius solve` on designs, what is written, and that both programs prove it."""

import dataclasses
import json
from fractions import Fraction

import pytest

import dalenius as dl
from dalenius.model import digest

COUNT = {"records": dl.Records(2, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
LEAKAGE = dl.MinLeakage(max_distortion=0.3, adversary=dl.EntropyAtLeast(0), **COUNT)
DISTORTION = dl.MinDistortion(max_leakage="0.1 bits", adversary=dl.EntropyAtLeast(0), **COUNT)
CSV = dl.dumps(LEAKAGE).replace(
    'kind = "uniform"', 'kind = "csv"\nfile = "table.csv"\ncolumn = "answer"\nletters = ["no", "yes"]'
)


@pytest.fixture
def solve(tmp_path, command_line):
    def solved(problem, *more):
        text = problem if isinstance(problem, str) else dl.dumps(problem)
        (tmp_path / "model.toml").write_text(text)
        gap = () if "--gap" in more else ("--gap", "5e-2")
        return command_line("solve", "model.toml", *gap, "--time-limit", "300", *more)

    return solved


@pytest.mark.parametrize(("problem", "unit"), [(LEAKAGE, "nats"), (DISTORTION, "distortion")])
def test_what_is_written_is_proved_by_both_programs(problem, unit, solve, tmp_path, command_line):
    done = solve(problem, "-o", "out", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert (answer["feasible"], answer["proved"], answer["units"], answer["scope"]) == (True, True, unit, "global")
    assert answer["lower"] <= answer["upper"]
    assert answer["gap"] <= 5e-2
    out = tmp_path / "out"
    assert answer["certificate"] == "out/model.cert"
    assert answer["mechanism"] == "out/model.mechanism.json"
    for program, head in (("dalenius.cli", ["verify"]), ("dalenius_check", [])):
        for model, certificate in (
            (tmp_path / "model.toml", out / "model.cert"),
            (out / "model.mechanism.toml", out / "model.mechanism.cert"),
        ):
            verdict = command_line(*head, model, certificate, program=program)
            assert verdict.returncode == 0, verdict.stdout
    mechanism = dl.DesignedMechanism.load(out / "model.mechanism.json")
    problem.check_designed(mechanism)
    assert problem.expected_distortion(mechanism.rows) == Fraction(answer["distortion"])
    assert mechanism.sample(1) in (0, 1, 2)


def test_words_for_a_person(solve):
    for problem, first in ((LEAKAGE, "least leakage"), (DISTORTION, "least distortion")):
        done = solve(problem, "--units", "bits", "--gap", "0.3")
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[0].startswith(first)
        assert any(line.startswith("the mechanism leaks") and line.endswith("bits of 1 bit possible") for line in lines)
        assert "not written (-o FOLDER" in lines[-1]


def test_bits_are_nats_in_another_unit(solve):
    nats, bits = (
        json.loads(solve(LEAKAGE, "--json", "--gap", "0.3", "--units", units).stdout) for units in ("nats", "bits")
    )
    assert bits["units"] == "bits"
    assert bits["upper"] == pytest.approx(nats["upper"] / 0.6931471805599453, rel=1e-9)


def test_infeasible_is_an_answer(solve, tmp_path, command_line):
    for budget in ("max_distortion = 0.3", "max_distortion = -1"):
        assert dl.dumps(LEAKAGE).count("max_distortion") == 1
        text = dl.dumps(LEAKAGE).splitlines()
        text = "\n".join(budget if line.startswith("max_distortion") else line for line in text) + "\n"
        done = solve(text, "-o", "out", "--json")
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert answer["feasible"] == (budget == "max_distortion = 0.3")
    assert (answer["lower"], answer["upper"], answer["leakage"], answer["termination"]) == (
        None,
        None,
        None,
        "infeasible",
    )
    assert "Infinity" not in done.stdout
    verdict = command_line("verify", "model.toml", "out/model.cert")
    assert verdict.returncode == 0
    assert verdict.stdout.startswith("proved: infeasible")
    assert "no mechanism of the class meets the budget" in solve(text).stdout


def test_a_csv_law_is_spelt_out_for_the_checker(solve, tmp_path, command_line):
    (tmp_path / "table.csv").write_text("answer\n" + "no\n" * 3 + "yes\n")
    done = solve(CSV, "-o", "out")
    assert done.returncode == 0, done.stderr
    proved = command_line("out/model.design.toml", "out/model.cert", program="dalenius_check")
    assert proved.returncode == 0, proved.stdout
    for program, head in (("dalenius.cli", ["verify"]), ("dalenius_check", [])):
        refused = command_line(*head, "model.toml", "out/model.cert", program=program)
        assert refused.returncode == 2
        assert "model.toml: model.law is not read from a table here; check NAME.design.toml" in refused.stderr
    assert dl.load(tmp_path / "out/model.design.toml").law == dl.Iid(["3/4", "1/4"])
    assert "out/model.cert, about out/model.design.toml" in done.stdout, "the file itself states no law"
    assert "WARNING: the law is taken from a table" in done.stderr
    assert "exact share of each letter" in done.stderr
    assert "WARNING" not in solve(CSV).stderr, "nothing is written"
    assert "WARNING" not in solve(LEAKAGE, "-o", "out").stderr, "the law is no table's"


EASY = CSV.replace("max_distortion = 0.3", "max_distortion = 1")  # a constant will do


@pytest.mark.parametrize(
    ("command", "law", "expected"),
    [
        (["solve", "model.toml"], "0.6,0.4", dl.Iid(["3/5", "2/5"])),
        (["solve", "model.toml"], "uniform", dl.Uniform()),
        (["frontier", "model.toml", "--budgets", "1"], "2/3,1/3", dl.Iid(["2/3", "1/3"])),
    ],
)
def test_with_a_public_law_the_shares_stay_in_the_house(command, law, expected, tmp_path, command_line):
    (tmp_path / "model.toml").write_text(EASY)
    (tmp_path / "table.csv").write_text("answer\n" + "no\n" * 12 + "yes\n")
    done = command_line(*command, "--public-law", law, "-o", "out", "--gap", "0.5")
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    written = [path.read_bytes() for path in (tmp_path / "out").iterdir()]
    for shares in (b"12/13", b"1/13", digest(dl.load(tmp_path / "model.toml")).encode()):
        assert not any(shares in text for text in written)
    model = next((tmp_path / "out").glob("model[.-]*[1n].toml"))
    assert dl.load(model).law == expected
    certificate = next(path for path in model.parent.glob("*.cert") if "mechanism" not in path.name)
    assert command_line("verify", model, certificate).returncode == 0


def test_what_a_public_law_costs_is_told_and_written_nowhere(tmp_path, command_line):
    (tmp_path / "model.toml").write_text(EASY)
    (tmp_path / "table.csv").write_text("answer\n" + "no\n" * 12 + "yes\n")
    done = command_line("solve", "model.toml", "--public-law", "0.1,0.9", "-o", "out", "--gap", "0.5", "--json")
    constant = dl.DesignedMechanism.load(tmp_path / "out/model.mechanism.json")
    exact = dl.load(tmp_path / "model.toml").expected_distortion(constant.rows)
    assert json.loads(done.stdout)["distortion"] != str(exact)
    told = [line for line in done.stderr.splitlines() if "under MODEL's own law" in line]
    assert len(told) == 1
    assert float(exact) <= float(told[0].split("at most ")[1].split(":")[0]) <= float(exact) * 1.001


def test_a_trace_is_written(solve, tmp_path):
    done = solve(DISTORTION, "-o", "out", "--trace")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/model.trace.csv").read_text().count("\n") >= 2


def test_a_strengthened_design_is_rejected(solve, tmp_path, command_line):
    solve(LEAKAGE, "-o", "out")
    certificate = tmp_path / "out/model.cert"
    header, *rest = certificate.read_text().splitlines()
    fields = json.loads(header)
    certificate.write_text("\n".join([json.dumps(fields | {"upper": fields["lower"]}), *rest]) + "\n")
    assert command_line("verify", "model.toml", "out/model.cert").returncode == 1


def test_a_design_says_which_solver_its_ends_rest_on(solve):
    (use,) = json.loads(solve(LEAKAGE, "--solver", "clarabel", "--gap", "0.3", "--json").stdout)["solvers"]
    assert (use["block"], use["solver"], "lower" in use["ends"]) == ("min_leakage", "clarabel", True)
    words = solve(LEAKAGE, "--solver", "own", "--gap", "0.3").stdout
    assert "solver               min_leakage by own: " in words


@pytest.mark.filterwarnings("ignore::dalenius.alternating.CycleWarning")
def test_a_design_by_the_alternating_scheme(solve):
    listed = dataclasses.replace(DISTORTION, adversary=dl.PriorSet([["1/4"] * 4, ["1/2", 0, 0, "1/2"]]))
    answer = json.loads(solve(listed, "--method", "alternating", "--gap", "0.5", "--json").stdout)
    (one,) = answer["alternating"]
    assert one["units"] == "distortion"
    assert set(one["gains"]) == {"mechanism", "adversary"}
