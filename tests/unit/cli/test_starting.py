"""The commands init and schema."""

import io
import json
import sys

import dalenius as dl
import support
from dalenius.cli.answers import answer_schema
from dalenius.model.schema import model_schema


class Terminal(io.StringIO):
    """Somebody who types these lines."""

    def isatty(self):
        return True


def test_the_defaults_are_a_model_that_says_what_it_asks(command_line, tmp_path):
    done = command_line("init", "--defaults")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("model.toml; next: dalenius show model.toml")
    problem = dl.load(tmp_path / "model.toml")
    assert problem == support.problem(dl.Records(8, alphabet=2), dl.Count(), dl.geometric(0.5), "0.8 max")
    assert (tmp_path / "model.toml").read_text().count("\n# ") >= 4


def test_options_are_answers(command_line):
    done = command_line(
        *("init", "-", "--problem", "min_distortion", "--records", "3", "--alphabet", "4", "--query", "modular_sum 4"),
        *("--distortion", 'matrix rows=[[0,1],[1,0],[0,1],[1,"1/3"]], outputs=[0,1]', "--budget", "1/7 bits"),
        *("--adversary", 'kl_ball_priors center=[0.4,0.3,0.2,0.1], radius="1/50"'),
    )
    assert done.returncode == 0, done.stderr
    problem = dl.loads(done.stdout)
    assert (problem.query, problem.budget_units, str(problem.budget)) == (dl.ModularSum(4), "bits", "1/7")
    assert str(problem.distortion.rows[3][1]) == "1/3"
    assert problem.adversary == dl.KLBallPriors([0.4, 0.3, 0.2, 0.1], radius="1/50")


def test_a_design_without_an_adversary(command_line):
    done = command_line(
        "init", "-", "--problem", "max_information", "--records", "2", "--privacy", "local_dp:0.5", "--defaults"
    )
    assert done.returncode == 0, done.stderr
    assert dl.loads(done.stdout) == dl.MaxInformation(
        records=dl.Records(2, alphabet=2), query=dl.Count(), privacy=dl.LocalDP(0.5)
    )
    done = command_line("init", "-", "--problem", "max_information", "--budget", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--budget: a max_information model has none; expected --problem" in done.stderr


def test_answers_are_asked_for_again_until_they_can_be_used(command_line, tmp_path, monkeypatch):
    typed = "audit\nworst_case_leakage\nmany\n6\n\ncont\ncount\ngeometric\ngeometric 1\n3 bits\n"
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    done = command_line("init")
    assert done.returncode == 0, done.stderr
    problem = dl.load(tmp_path / "model.toml")
    assert (problem.records, problem.mechanism) == (dl.Records(6, alphabet=2), dl.geometric(1))
    assert problem.adversary == dl.EntropyAtLeast("3 bits")
    for said in (
        "expected one of worst_case_leakage",
        "expected a whole number",
        "did you mean 'count'",
        "geometric needs epsilon",
    ):
        assert said in done.stderr


def test_a_file_that_is_there_stays(command_line, tmp_path):
    (tmp_path / "model.toml").write_text("mine")
    done = command_line("init", "--defaults")
    assert (done.returncode, (tmp_path / "model.toml").read_text()) == (2, "mine")
    assert "--force replaces it" in done.stderr
    assert command_line("init", "--defaults", "--force").returncode == 0
    assert dl.load(tmp_path / "model.toml").records.count == 8


def test_nobody_answers(command_line, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    done = command_line("init")
    assert done.returncode == 2
    assert "--problem: standard input ended" in done.stderr


def test_schema(command_line, tmp_path):
    assert json.loads(command_line("schema").stdout) == model_schema()
    assert json.loads(command_line("schema", "--answers").stdout) == answer_schema()
    assert command_line("schema", "-o", "here.json").stdout == "here.json\n"
    assert json.loads((tmp_path / "here.json").read_text()) == model_schema()
