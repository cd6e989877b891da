"""The examples at the end of every help run as they stand, one after another, in an empty folder."""

import io
import json
import shlex
import shutil
import sys
import types

import pytest

import campaigns
import dalenius as dl
from dalenius.catalogue.models import library_folder
from dalenius.cli import EXAMPLES, whole_command

LINES = [line for lines in EXAMPLES.values() for line in lines]
DEAR = (
    "compare",
    "doctor",
    "frontier",
    "library",
    "release",
    "sanitize correlated",
    "solve count.toml",
    "sweep",
    "table",
)  # and what follows from them
CHEAP = [line for line in LINES if not line.startswith(DEAR)]
MODEL = "parity/laplace-n4"


@pytest.fixture
def folder(tmp_path):
    """What the examples find there: data, a channel, a solution, a small library, a certificate for it."""
    (tmp_path / "answers.csv").write_text("answer\n0\n1\n1\n")
    (tmp_path / "channel.csv").write_text("no,yes\n0.9,0.1\n0.2,0.8\n")
    (tmp_path / "runs.csv").write_text("x1,x2,y\n" + "".join(f"{k % 2},{k % 3},{k % 5}\n" for k in range(60)))
    solution = {"format": "dalenius-solution/1", "variables": {"pi": [0.5, 0.5]}}
    (tmp_path / "solution.json").write_text(json.dumps(solution))
    (tmp_path / "models" / "parity").mkdir(parents=True)
    (tmp_path / "models" / "sets.toml").write_text(f'minimal = ["{MODEL}"]\nfast = []\n')
    shutil.copy(library_folder() / f"{MODEL}.toml", tmp_path / "models" / f"{MODEL}.toml")
    problem = dl.load(tmp_path / "models" / f"{MODEL}.toml")
    dl.solve(problem, gap=1e-12).certificate.write(tmp_path / "better.cert")
    return tmp_path


def commands(group, path=""):
    """Every command, with the group that it is in."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


def test_every_command_has_examples_at_the_end_of_its_help():
    found = dict(commands(whole_command()))
    assert found.keys() == EXAMPLES.keys()
    for name, command in found.items():
        assert EXAMPLES[name], name
        for line in EXAMPLES[name]:
            assert shlex.split(line)[: len(name.split())] == name.split()
            assert f"dalenius {line}" in command.epilog
            assert len(line) <= 90


def test_they_run(folder, command_line, monkeypatch):
    for line in LINES if campaigns.THOROUGH else CHEAP:
        words = shlex.split(line)
        if "<" in words:
            text = (folder / words.pop()).read_bytes()
            words.remove("<")
            monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(text)))
        done = command_line(*words)
        assert done.returncode == 0, (line, done.stderr)
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [("dalenius so", "solve"), ("dalenius solve parity/lap", "parity/laplace-n4"), ("dalenius library ti", "tighten")],
)
def test_a_shell_is_told_what_could_stand_here(command_line, monkeypatch, words, offered):
    monkeypatch.setenv("_DALENIUS_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    done = command_line()
    assert (done.returncode, done.stderr) == (0, "")
    assert offered in done.stdout.split()
