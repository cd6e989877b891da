"""What several commands print: answers as JSON."""

import dataclasses
import json
import math
from fractions import Fraction
from pathlib import Path

import dalenius as dl
from dalenius.cli.shared import write_json
from dalenius.outcome import Refusal


def test_an_answer_becomes_json_whatever_it_holds(capsys):
    """Everything that results are made of: nested data, numbers that are not finite, exact ones, and the words of enumerations."""
    refusal = Refusal("upper", "0", "1/3", "too late", False, dl.answers.Termination.TIME_LIMIT)
    write_json(
        {
            "refusals": (refusal,),
            "ends": [Fraction(1, 3), math.inf],
            "scope": dl.answers.Scope.GLOBAL,
            "file": Path("a/b"),
        }
    )
    told = capsys.readouterr().out
    assert told.count("\n") == 1
    assert json.loads(told) == {
        "refusals": [
            {
                "end": "upper",
                "lower": "0",
                "upper": "1/3",
                "reason": "too late",
                "rounding": False,
                "limit": "time_limit",
            }
        ],
        "ends": ["1/3", None],
        "scope": "global",
        "file": str(Path("a/b")),
    }


def test_a_refusal_by_a_limit_is_told_by_solve(tmp_path, command_line, monkeypatch):
    (tmp_path / "model.toml").write_text(dl.dumps(dl.load("parity/laplace-n4")))
    late = Refusal("lower", "0", "1", "undecided: limit", False, dl.answers.Termination.TIME_LIMIT)
    solve = dl.solve

    def refused(*arguments, **named):
        return dataclasses.replace(solve(*arguments, **named), refusals=(late,))

    monkeypatch.setattr("dalenius.solve", refused)
    done = command_line("solve", "model.toml", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["refusals"][0]["limit"] == "time_limit"
