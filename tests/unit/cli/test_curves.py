"""The commands sweep and frontier: what they say, before and meanwhile, and what they refuse."""

import json
import re
from pathlib import Path

import pytest

import dalenius as dl

ROOT = Path(__file__).parents[3]
BIT = "parity/symmetric-n2"
GRID = ["--set", "mechanism.flip=0.1,0.2", "--set", "query.kind=parity,count"]  # no curve, so no picture


def test_what_would_be_done_is_said_and_nothing_written(command_line, tmp_path):
    told = command_line("sweep", BIT, *GRID, "-o", "out", "--dry-run", "--jobs", "2")
    assert (told.returncode, told.stderr) == (0, "")
    first, second, third = told.stdout.splitlines()
    assert first == "4 points: 1 model x 2 of mechanism.flip x 2 of query.kind"
    assert second == "0 done already in out, 4 to do"
    assert third.startswith("roughly ")
    assert "2 at work (a trial of symmetric-n2-" in third
    assert list(tmp_path.iterdir()) == []
    command_line("sweep", BIT, *GRID, "-o", "out")
    (tmp_path / "out/symmetric-n2-003.record.json").unlink()
    before = sorted((tmp_path / "out").iterdir())
    told = json.loads(command_line("sweep", BIT, *GRID, "-o", "out", "--dry-run", "--json").stdout)
    assert (told["points"], told["done"], told["todo"]) == (4, 3, 1)
    assert told["seconds"] > 0
    assert sorted((tmp_path / "out").iterdir()) == before


@pytest.mark.thorough
def test_a_line_a_point_where_nobody_looks_and_none_if_quiet(command_line):
    lines = command_line("sweep", BIT, *GRID, "-o", "out", "--units", "bits").stderr.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["1/4", "2/4", "3/4", "4/4"]
    assert lines[0].startswith("1/4 flip 0.1, kind parity: leakage 0.3026")
    assert lines[0].endswith(" bits of 1 bit possible (gap_reached)")
    quiet = command_line("sweep", BIT, *GRID[:2], "-o", "other", "--quiet")
    assert (quiet.returncode, quiet.stderr, quiet.stdout) == (0, "", "other/records.jsonl\n")


def test_the_largest_information_at_every_limit(command_line, tmp_path):
    (tmp_path / "f.toml").write_text(dl.dumps(dl.PrivacyFunnel([["1/4", "1/4", 0], [0, "1/8", "3/8"]], "0.05 bits")))
    grid = "constraints.0.at_most=0.02 bits,0.3 bits"
    done = command_line("sweep", "f.toml", "--set", grid, "-o", "out", "--gap", "0.05", "--units", "bits")
    assert done.returncode == 0, done.stderr
    assert re.findall(r"at_most (\S+) bits: largest information \S+ \.\. \S+ bits of", done.stderr) == ["0.02", "0.3"]
    assert "leakage" not in done.stderr
    kept = dl.answers.Sweep.read(tmp_path / "out").records
    assert {record.quantity for record in kept} == {"leakage"}, "what readers of records know, docs/sweeps.md"


@pytest.mark.parametrize(("command", "of"), [("sweep", "has none; give"), ("frontier", "there is sweep")])
def test_where_there_is_no_budget_the_error_names_an_option_that_works(command_line, tmp_path, command, of):
    joint = [["1/4", "1/4", 0], [0, "1/8", "3/8"]]
    private = dl.MaxInformation(records=dl.Records(1, alphabet=2), query=dl.Identity(), privacy=dl.LocalDP("log 3"))
    (tmp_path / "funnel.toml").write_text(dl.dumps(dl.PrivacyFunnel(joint, "0.05 bits")))
    (tmp_path / "private.toml").write_text(dl.dumps(private))
    for name, path, values in (
        ("funnel.toml", "constraints.0.at_most", "0.02 bits,0.3 bits"),
        ("private.toml", "privacy.epsilon", "1,2"),
    ):
        refused = command_line(command, name, "-o", "out")
        assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
        assert f"{of} --set {path}=..." in refused.stderr
        assert ("dl.answers.FunnelCurve.of(problem)" in refused.stderr) == (name == "funnel.toml")
        works = command_line(
            "sweep", name, "-o", name[:-5], "--set", f"{path}={values}", "--gap", "0.05", "-q", "--json"
        )
        assert [point["feasible"] for point in json.loads(works.stdout)["points"]] == [True, True]


def test_several_models_as_they_are(command_line, tmp_path):
    done = command_line("sweep", BIT, "design/parity-n1000", "-o", "out", "--gap", "0.1", "-q", "--json")
    answer = json.loads(done.stdout)
    assert [(point["name"], point["model"]) for point in answer["points"]] == [
        ("symmetric-n2-001", BIT),
        ("parity-n1000-002", "design/parity-n1000"),
    ]
    assert (tmp_path / "out/parity-n1000-002.mechanism.json").exists()
    dl.answers.Sweep.read(tmp_path / "out").verify()


def test_budgets_that_took_a_search_to_find_are_those_of_the_sweep_that_is_there(command_line, tmp_path, monkeypatch):
    (tmp_path / "design.toml").write_text((ROOT / "models/design/parity-n4-distortion.toml").read_text())
    arguments = ["frontier", "design.toml", "--points", "2", "--gap", "0.1", "-o", "out"]
    assert command_line(*arguments).returncode == 0
    monkeypatch.setattr("dalenius.cli.curves.spread_budgets", lambda *_, **__: pytest.fail("searched again"))
    again = command_line(*arguments)
    assert (again.returncode, again.stderr) == (0, "")
