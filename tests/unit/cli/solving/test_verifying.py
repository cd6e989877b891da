"""The command verify with the proof of an interval alone: what `python -m cvxcertify.check` says, as one of our commands."""

import json

import cvxpy as cp
import pytest

from dalenius.programs import certify


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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["model.toml"], "expected MODEL and CERTIFICATE"),
        (["parity/laplace-n4"], "expected MODEL and CERTIFICATE"),
        (["interval.json", "--resolved"], "without --resolved"),
        (["none.json"], "none.json: cannot be read: No such file or directory"),
        (["other.json"], "other.json: no proof of an interval"),
    ],
)
def test_what_cannot_be_used_is_one_line(proof, command_line, arguments, words):
    proof.with_name("other.json").write_text("{")
    told = command_line("verify", *arguments)
    assert told.returncode == 2
    assert words in told.stderr
    assert told.stderr.count("\n") == 1
