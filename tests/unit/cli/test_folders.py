"""The folder of -o: tried first, nothing lost, nothing stale, nothing looser, and nobody else in between."""

import csv
import errno
import json
import os
import signal
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest

import dalenius as dl
from dalenius.files import alone, write_together

ROOT = Path(__file__).parents[3]
AUDIT = (ROOT / "models/parity/laplace-n4.toml").read_text()
OPEN = AUDIT.replace('"parity"', '"count"').replace("laplace_threshold", "geometric")  # does not close at once
OPEN = OPEN.replace("count = 4", "count = 3")
DESIGN = (
    (ROOT / "models/design/parity-n4-leakage.toml").read_text().replace("max_distortion = 0.1", "max_distortion = 0.5")
)
TIGHT, LOOSE = ("--gap", "1e-1"), ("--gap", "1e-9", "--node-limit", "1", "--time-limit", "0.01")
TABLES = {"curve.csv", "curve-band.csv", "curve.png", "records.jsonl", "sweep.json"}  # of a sweep
WRITES = {
    "solve": ["solve", "model.toml"],
    "sweep": ["sweep", "model.toml", "--points", "2"],
    "compare": ["compare", "model.toml", "--methods", "paper-aggregated", "--seeds", "1", "--budget", "0.05"],
}


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(AUDIT)
    return path


def names(folder: Path) -> list[str]:
    """Of all files, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


def proved(problem: Path, certificate: Path) -> bool:
    return dl.verify(problem, certificate).proved


# ---------------------------------------------------------------- what cannot be written


@pytest.mark.parametrize("command", WRITES)
def test_a_folder_is_tried_before_the_work(model, tmp_path, command_line, monkeypatch, command):
    def read_only(*arguments, **named):
        raise OSError(errno.EROFS, "Read-only file system")

    def work(*arguments, **named):
        pytest.fail("worked before it tried")

    monkeypatch.setattr(tempfile, "mkstemp", read_only)
    for name in ("dalenius.solve", "dalenius.studies.engine.solve", "dalenius.studies.compare.solve"):
        monkeypatch.setattr(name, work)
    done = command_line(*WRITES[command], "-o", "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "dalenius: out: cannot be written into: Read-only file system\n"


@pytest.mark.parametrize(
    ("command", "blocked"),
    [
        ("solve", "out/model.cert"),
        ("solve", "out/model.looser.trace.png"),
        ("sweep", "out/model-002.toml"),
        ("sweep", "out/curve.csv"),
        ("compare", "out/model.compare.png"),
        ("compare", "out/model.compare.cert"),
        ("export", "out"),
    ],
)
def test_every_file_is_tried_before_the_work(model, tmp_path, command_line, monkeypatch, command, blocked):
    """A folder that has the name of a file to come would lose the certificate in the end."""

    def work(*arguments, **named):
        pytest.fail("worked before it tried")

    (tmp_path / blocked).mkdir(parents=True)
    for name in (
        "dalenius.solve",
        "dalenius.studies.engine.solve",
        "dalenius.studies.compare.solve",
        "dalenius.export.subproblem",
    ):
        monkeypatch.setattr(name, work)
    arguments = WRITES.get(command) or ["export", "model.toml", "--program", "marginal"]
    done = command_line(*arguments, "-o", "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"dalenius: {blocked}: cannot be written: it is a folder; move it, or name another place\n"


@pytest.mark.parametrize("extra", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize("command", WRITES)
def test_what_is_proved_is_told_though_it_cannot_be_written(model, tmp_path, command_line, monkeypatch, command, extra):
    """A disk that is full in the end: the interval all the same, one line about the files, and none of them."""
    replace = os.replace

    def full(source, target):
        if Path(target).name == "sweep.json":  # which is there before the work
            return replace(source, target)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    done = command_line(*WRITES[command], "-o", "out", *extra)
    assert done.returncode == 2
    assert done.stderr.endswith("cannot be written: No space left on device\n")
    assert any(told in done.stdout + done.stderr for told in ("0.0795415", "0.1147541")) or "0.693147" in done.stderr
    assert "-o FOLDER" not in done.stdout, "it was given"
    if extra:
        answer = json.loads(done.stdout)
        told = answer["points"][0] if command == "sweep" else answer
        assert 0 < told["lower"] <= told["upper"]
        assert not told.get("certificate")
        assert not answer.get("files")
    assert names(tmp_path / "out") == ["sweep.json"] * (command == "sweep")


def test_files_that_belong_together_are_replaced_together_or_not_at_all(tmp_path, monkeypatch):
    first, second, stale = (tmp_path / name for name in ("first", "second", "stale"))
    for path in (first, second, stale):
        path.write_text("old")
    count = []

    def fsync(handle):
        count.append(handle)
        if len(count) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(dl.errors.InputError, match="second: cannot be written"):
        write_together({first: "new", second: "new"}, without=[stale])
    assert names(tmp_path) == ["first", "second", "stale"]
    assert {path.read_text() for path in (first, second, stale)} == {"old"}
    write_together({first: "new", second: b"new"}, without=[stale])
    assert names(tmp_path) == ["first", "second"]


# ---------------------------------------------------------------- looser and tighter


@pytest.mark.parametrize(("ending", "options"), [(".cert", []), (".cert.gz", ["--compress"])])
def test_a_looser_certificate_never_replaces_a_tighter_one(model, tmp_path, command_line, ending, options):
    """It goes beside it, and both are proved; --force replaces; a tighter one takes the place of both."""
    model.write_text(OPEN)
    tight, beside = tmp_path / f"out/model{ending}", tmp_path / f"out/model.looser{ending}"
    command_line("solve", "model.toml", *TIGHT, "-o", "out", *options)
    first = tight.read_bytes()
    loose = command_line("solve", "model.toml", *LOOSE, "-o", "out", "--json", *options)
    assert loose.returncode == 0
    assert tight.read_bytes() == first
    answer = json.loads(loose.stdout)
    assert answer["certificate"] == f"out/model.looser{ending}"
    assert "stays: it proves a narrower interval" in loose.stderr
    assert answer["lower"] <= dl.Certificate.read(beside).header.claim[0]
    assert proved(model, tight)
    assert proved(model, beside)
    command_line("solve", "model.toml", *TIGHT, "-o", "out", *options)
    assert names(tmp_path / "out") == [tight.name]
    command_line("solve", "model.toml", *LOOSE, "-o", "out", "--force")
    assert names(tmp_path / "out") == ["model.cert"]
    assert (tmp_path / "out/model.cert").read_bytes() != first


def test_only_what_is_proved_of_the_same_model_stays(model, tmp_path, command_line):
    """A header that claims more than its lines prove, the certificate of another model, and what is none, are replaced."""
    model.write_text(OPEN)
    command_line("solve", "model.toml", *TIGHT, "-o", "out")
    path = tmp_path / "out/model.cert"
    header, rest = path.read_text().split("\n", 1)
    forged = json.dumps(json.loads(header) | {"lower": "0.1", "upper": "0.1000001"}) + "\n" + rest
    other = (ROOT / "models/identity/bit.cert").read_text()
    for text in (forged, other, "no certificate", "\ufffd"):
        path.write_text(text)
        assert "stays" not in command_line("solve", "model.toml", *LOOSE, "-o", "out").stderr
        assert proved(model, path)
        assert names(tmp_path / "out") == ["model.cert"]


# ---------------------------------------------------------------- nothing stale


def test_a_design_that_has_become_infeasible_leaves_no_mechanism(model, tmp_path, command_line):
    model.write_text(DESIGN)
    command_line("solve", "model.toml", "--gap", "1e-1", "-o", "out", "--trace")
    assert len(names(tmp_path / "out")) == 7
    model.write_text((ROOT / "models/infeasible/negative-leakage.toml").read_text())
    done = command_line("solve", "model.toml", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert names(tmp_path / "out") == ["model.cert", "model.design.toml"]


@pytest.mark.thorough
def test_a_sweep_of_fewer_points_leaves_no_others(model, tmp_path, command_line):
    """What the earlier sweep has goes if that is asked for, the files of others stay."""
    command_line("sweep", "model.toml", "-o", ".", "--points", "4")
    (tmp_path / "model-003.record.json").unlink()  # as after a kill
    (tmp_path / "model-005.toml").write_text(AUDIT)
    (tmp_path / "other.cert").write_text("")
    before = names(tmp_path)
    refused = command_line("sweep", "model.toml", "-o", ".", "--points", "2")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert (
        "holds another sweep: adversary.entropy_at_least was 0 max, 1/3 max, 2/3 max, 1 max and is now"
        in refused.stderr
    )
    assert names(tmp_path) == before
    command_line("sweep", "model.toml", "-o", ".", "--points", "2", "--force")
    files = {f"model-{j:03d}.{ending}" for j in (1, 2) for ending in ("toml", "cert", "record.json")}
    assert set(names(tmp_path)) == files | {"model.toml", "model-005.toml", "other.cert", *TABLES}


@pytest.mark.thorough
def test_pictures_of_an_earlier_run_go_where_none_can_be_drawn(model, tmp_path, command_line, monkeypatch):
    for arguments in (WRITES["sweep"], [*WRITES["solve"], "--trace"], WRITES["compare"]):
        command_line(*arguments, "-o", "out")
    assert {"curve.png", "model.trace.png", "model.compare.png"} < set(names(tmp_path / "out"))
    monkeypatch.setattr("dalenius.cli.shared.find_spec", lambda name: None)
    for arguments in (WRITES["sweep"], [*WRITES["solve"], "--trace"], WRITES["compare"]):
        command_line(*arguments, "-o", "out")
    assert not [name for name in names(tmp_path / "out") if name.endswith(".png")]


def test_what_a_killed_process_left_behind_goes(model, tmp_path, command_line):
    (tmp_path / "out").mkdir()
    for name in (".dalenius-abc.tmp", ".dalenius.lock", ".dalenius-sweep.lock"):
        (tmp_path / "out" / name).write_text("half")
    command_line("sweep", "model.toml", "-o", "out", "--points", "2")
    assert not [name for name in names(tmp_path / "out") if name.startswith(".")]


@pytest.mark.thorough
def test_a_rerun_that_is_interrupted_keeps_what_was_there(model, tmp_path, command_line, work_clock):
    """What is done is read, not done again; a record that its certificate does not fit is no record."""
    command_line("sweep", "model.toml", "-o", "out", "--points", "3")
    before = (tmp_path / "out/records.jsonl").read_text()
    (tmp_path / "out/model-002.cert").write_text("half")
    work_clock.alarm(1e-3, lambda: signal.raise_signal(signal.SIGINT))
    stopped = command_line("sweep", "model.toml", "-o", "out", "--points", "3")
    assert stopped.returncode == 130
    assert "2 of 3 points are done and kept" in stopped.stderr
    again = command_line("sweep", "model.toml", "-o", "out", "--points", "3")
    assert [line.split(" ")[0] for line in again.stderr.splitlines()] == ["3/3"]
    told, earlier = (
        [json.loads(line) for line in text.splitlines()]
        for text in (before, (tmp_path / "out/records.jsonl").read_text())
    )
    assert [{**one, "seconds": 0} for one in told] == [{**one, "seconds": 0} for one in earlier]
    for row in csv.DictReader((tmp_path / "out/curve.csv").read_text().splitlines()):
        certificate = tmp_path / "out" / row["certificate"]
        assert proved(certificate.with_suffix(".toml"), certificate)
        lower, upper = dl.Certificate.read(certificate).header.claim
        assert Fraction(row["lower_nats"]) <= lower <= upper <= Fraction(row["upper_nats"])


# ---------------------------------------------------------------- others in the folder


def test_two_tables_are_not_made_in_one_folder(model, tmp_path, command_line):
    (tmp_path / "out").mkdir()
    with alone(tmp_path / "out", "sweep", wait=0.0):
        refused = command_line("sweep", "model.toml", "-o", "out", "--points", "2")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "another process is at work there" in refused.stderr
        assert command_line("solve", "model.toml", "-o", "out").returncode == 0
    assert names(tmp_path / "out") == ["model.cert"]
    assert command_line("sweep", "model.toml", "-o", "out", "--points", "2").returncode == 0


def test_a_temporary_file_that_somebody_took_away_is_written_again(tmp_path, monkeypatch):
    replace, taken = os.replace, []

    def taking(source, target):
        if not taken:
            taken.append(source)
            os.unlink(source)
        return replace(source, target)

    monkeypatch.setattr(os, "replace", taking)
    write_together({tmp_path / "a": "text"})
    assert (tmp_path / "a").read_text() == "text"
    assert names(tmp_path) == ["a"]
