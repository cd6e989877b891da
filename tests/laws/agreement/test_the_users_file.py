"""The file that somebody wrote and what is proved are one thing: whatever is proved is proved about the file's own bytes."""

import dataclasses
import shutil

import pytest

import dalenius as dl
import dalenius_check
from colleagues import copied
from dalenius.catalogue.models import library_folder

# dalenius would write nothing of this: comments, order, spellings, line ends, a text.
AUDIT = """# of the survey
source = "somebody"\r
adversary = {entropy_at_least = "0.50 max"}
mechanism.kind = "symmetric"
mechanism.flip = 1_0e-0_2
problem = 'maximal_leakage'
[query]
kind = "parity"
[records]
alphabets = [2, 2]
"""
DESIGN = """# of the survey
problem = "min_leakage"
max_distortion = "5/10"
distortion.kind = "hamming"
law.kind = "uniform"
mechanism.class = "oblivious"
records = {count = 2, alphabet = 2}
query.kind = "parity"
adversary.entropy_at_least = "0.5 max"
"""


@pytest.fixture
def shown(monkeypatch):
    """The model and the verdict of every check that is made, in order."""
    checks: list[tuple[bytes, bool]] = []
    check = dalenius_check.check

    def watched(model: bytes, *more, **options):
        verdict = check(model, *more, **options)
        checks.append((getattr(model, "data", model), verdict.proved))
        return verdict

    monkeypatch.setattr(dalenius_check, "check", watched)
    return checks


@pytest.mark.parametrize("text", [AUDIT, DESIGN], ids=["audit", "design"])
def test_a_problem_remembers_its_file(text, tmp_path):
    path = tmp_path / "model.toml"
    path.write_bytes(text.encode())
    for problem in (dl.load(path), dl.loads(text), dl.loads(text.encode())):
        assert problem.written == path.read_bytes()
        assert problem == dl.loads(dl.dumps(problem)), "where it was read makes no difference to what it asks"
        assert dataclasses.replace(problem, title="another").written is None, "what was changed is in no file"


@pytest.mark.parametrize("text", [AUDIT, DESIGN], ids=["audit", "design"])
def test_solve_and_verify_prove_the_file(text, shown):
    problem = dl.loads(text)
    result = dl.solve(problem, gap=0.5)
    assert shown[-1] == (text.encode(), True)
    assert dl.verify(problem, result.certificate).proved
    assert shown[-1] == (text.encode(), True)


@pytest.mark.parametrize("text", [AUDIT, DESIGN], ids=["audit", "design"])
def test_the_checker_reads_a_model_once(text, monkeypatch, tmp_path):
    """When it is loaded, or before it is solved; each check of two files reads both. It took three times as long."""
    (tmp_path / "model.toml").write_text(text)
    read, parse = [], dalenius_check.core.model.parse_toml
    monkeypatch.setattr(
        dalenius_check.core.model, "parse_toml", lambda data, allowance: read.append(data) or parse(data, allowance)
    )
    problem = dl.load(tmp_path / "model.toml")
    result = dl.solve(problem, gap=0.5)
    assert dl.verify(copied(problem), result.certificate).proved, "what was read does not travel, the text does"
    assert dl.verify(problem, result.certificate).proved
    assert read.count(text.encode()) == 2
    result.certificate.write(tmp_path / "model.cert")
    for k in (3, 4):
        assert dl.verify(tmp_path / "model.toml", tmp_path / "model.cert").proved
        assert read.count(text.encode()) == k
    made = dataclasses.replace(problem, title="made in Python")
    dl.solve(made, gap=0.5)
    assert read.count(dl.dumps(made).encode()) == 1


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (AUDIT, ["solve", "model.toml", "--gap", "0.5"]),
        (DESIGN, ["solve", "model.toml", "--gap", "0.5"]),
        (AUDIT, ["compare", "model.toml", "--gap", "0.5", "--methods", "certified"]),
    ],
    ids=["solve", "design", "compare"],
)
def test_commands_prove_the_file(text, command, shown, command_line, tmp_path):
    (tmp_path / "model.toml").write_bytes(text.encode())
    done = command_line(*command)
    assert done.returncode == 0, done.stderr
    assert shown[-1] == (text.encode(), True)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (AUDIT, ["sweep", "model.toml", "--points", "2", "--gap", "0.5", "-o", "out"]),
        (DESIGN, ["frontier", "model.toml", "--budgets", "0.5", "--gap", "0.5", "-o", "out"]),
    ],
    ids=["sweep", "frontier"],
)
def test_what_is_written_for_a_point_is_what_was_proved(text, command, shown, command_line, tmp_path):
    """The adversary or the budget is not the file's own there; each point's model is written, and proved as written."""
    (tmp_path / "model.toml").write_bytes(text.encode())
    done = command_line(*command)
    assert done.returncode == 0, done.stderr
    models = sorted((tmp_path / "out").glob("model-*[0-9].toml"))
    assert models
    for path in models:
        assert (path.read_bytes(), True) in shown


def test_a_release_proves_the_design_file(shown, tmp_path, command_line):
    (tmp_path / "model.toml").write_bytes(DESIGN.encode())
    (tmp_path / "people.csv").write_text("answer\n0\n1\n")
    assert command_line("solve", "model.toml", "--gap", "0.5", "-o", ".").returncode == 0
    shown.clear()
    command = ["release", "model.toml", "--mechanism", "model.mechanism.json", "--data", "people.csv"]
    done = command_line(*command, "--certificate", "model.cert")
    assert done.returncode == 0, done.stderr
    assert shown == [(DESIGN.encode(), True)]


def test_the_library_proves_its_own_files(shown, tmp_path, command_line):
    name = "parity/laplace-n4"
    (tmp_path / "parity").mkdir()
    shutil.copy(library_folder() / f"{name}.toml", tmp_path / f"{name}.toml")
    (tmp_path / "sets.toml").write_text(f'minimal = ["{name}"]\nfast = []\nvarious = []\n')
    done = command_line("library", "tighten", "--folder", ".", "--gap", "0.5")
    assert done.returncode == 0, done.stderr
    assert {model for model, _ in shown} == {(tmp_path / f"{name}.toml").read_bytes()}
    assert shown[-1][1]
