"""Several models at once, and one from standard input."""

import io
import json
import sys
import types

import cvxpy as cp
import pytest

import dalenius as dl
from dalenius.programs import certify

PARITY = """problem = "maximal_leakage"
records = { count = 4, alphabet = 2 }
query = { kind = "parity" }
mechanism = { kind = "symmetric", flip = 0.2 }
adversary = { entropy_at_least = "2 bits" }
"""


@pytest.fixture
def typed(monkeypatch):
    def put(text):
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(text.encode())))

    return put


def test_a_model_from_standard_input(command_line, tmp_path, typed):
    typed("# mine\n" + PARITY)
    done = command_line("solve", "-", "--json", "-o", "out")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["model"], answer["certificate"]) == ("-", "out/stdin.cert")
    assert dl.verify(dl.loads(PARITY), tmp_path / "out" / "stdin.cert").proved


@pytest.mark.parametrize(("text", "words"), [("", "empty; expected"), ("# mine\n", "empty but for comments; expected")])
def test_standard_input_that_is_empty(command_line, typed, text, words):
    typed(text)
    done = command_line("solve", "-")
    assert done.returncode == 2
    assert done.stderr.startswith(f"dalenius: standard input: model: the input is {words}")


def test_standard_input_that_is_no_model(command_line, typed):
    typed("problem = 'parity'")
    done = command_line("solve", "-")
    assert done.returncode == 2
    assert done.stderr.startswith("dalenius: standard input: model: expected problem = one of")


def test_one_json_object_a_line(command_line, typed):
    typed(PARITY)
    done = command_line("solve", "parity/laplace-n4", "-", "identity/bit", "--json")
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["model"].split("/")[-1] for answer in answers] == ["laplace-n4.toml", "-", "bit.toml"]
    assert all(answer["proved"] for answer in answers)


def test_names_of_files_do_not_clash(command_line, tmp_path):
    """Where none are written."""
    (tmp_path / "laplace-n4.toml").write_text(PARITY)
    assert command_line("solve", "parity/laplace-n4", "laplace-n4.toml", "--json").returncode == 0


def test_one_that_fails_leaves_the_others(command_line, monkeypatch):
    solve = dl.solve

    def failing(problem, **options):
        if problem.query.kind == "identity":
            raise dl.errors.InputError("too large")
        return solve(problem, **options)

    monkeypatch.setattr(dl, "solve", failing)
    done = command_line("solve", "identity/bit", "parity/laplace-n4")
    assert done.returncode == 2
    assert "identity/bit.toml: too large" in done.stderr
    assert "worst-case leakage   0.114754" in done.stdout


def test_the_widest_gap_counts(command_line):
    done = command_line("solve", "parity/laplace-n4", "count/between-two-laws-n4", "--require-gap", "1e-12")
    assert done.returncode == 5


# The command verify with the proof of an interval alone: what `python -m cvxcertify.check` says, as one of our commands.


@pytest.fixture
def proof(tmp_path):
    x = cp.Variable(nonneg=True, name="x")
    certify(cp.Problem(cp.Minimize(cp.exp(x) - 2 * x), [x <= 3])).write(tmp_path / "interval.json")
    return tmp_path / "interval.json"


def test_an_interval_is_proved_from_its_file_alone(proof, command_line):
    told = command_line("verify", proof.name)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout == command_line(proof.name, program="cvxcertify.check").stdout
    answer = json.loads(command_line("verify", proof.name, "--json", "--arithmetic", "python").stdout)
    assert (answer["status"], answer["proved"], answer["proof"]) == ("proved", True, proof.name)
    assert answer["lines"][0] in told.stdout


def test_limits_are_those_of_the_checker(proof, command_line):
    told = command_line("verify", proof.name, "--time-limit", "0", "--json")
    assert (told.returncode, json.loads(told.stdout)["status"]) == (3, "undecided")
    assert "limit" in json.loads(told.stdout)["reason"]


def test_what_is_false_is_rejected(proof, command_line):
    found = json.loads(proof.read_text())
    found["lower"]["value"] = "1"  # 2 - 2 log 2 is less
    proof.write_text(json.dumps(found))
    told = command_line("verify", proof.name)
    assert (told.returncode, told.stderr) == (1, "")
    assert told.stdout.startswith("rejected: ")
