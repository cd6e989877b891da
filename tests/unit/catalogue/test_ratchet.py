"""The index and the history of the package's library, and the history of a small one."""

import csv
import dataclasses
import itertools
import json
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import dalenius as dl
from dalenius._join import join
from dalenius.catalogue import ratchet
from dalenius.catalogue.models import Standing, certificate_digest, library, library_model
from dalenius.model import digest
from libraries import AUDIT, DESIGN, HOME, INFEASIBLE, MODELS, NAMES, claimed, copy_model, problems, rows, run
from support import refused


@pytest.fixture
def small(tmp_path):
    """A library of an audit, a design and an infeasible one, without certificates."""
    for name in NAMES:
        copy_model(name, tmp_path, certified=False)
    (tmp_path / "sets.toml").write_text(f"minimal = {json.dumps(NAMES)}\n")
    return tmp_path


def test_the_index_is_up_to_date():
    again = "run `dalenius library index`"
    assert (HOME / "INDEX.md").read_text(encoding="utf-8") == ratchet.index_markdown(rows()), again
    assert (HOME / "index.csv").read_text(encoding="utf-8") == ratchet.index_csv(rows()), again


def test_the_index_is_rounded_outward():
    rows = {row["name"]: row for row in csv.DictReader((HOME / "index.csv").read_text(encoding="utf-8").splitlines())}
    assert list(rows) == list(MODELS)
    for name, model in MODELS.items():
        if model.claim is not None:
            assert Fraction(rows[name]["lower"]) <= model.claim[0] <= model.claim[1] <= Fraction(rows[name]["upper"])


def test_the_history_only_tightens_and_ends_with_the_certificates():
    """Of every name: one meaning, each interval within the one before it, the last one that of the stored certificate."""
    past = {}
    for entry in ratchet.history(HOME):
        past.setdefault(entry.name, []).append(entry)
    assert set(past) == set(MODELS)
    assert len({digest(problem) for problem in problems().values()}) == len(MODELS), "a digest names one model"
    for name, entries in past.items():
        assert {entry.digest for entry in entries} == {digest(problems()[name])}
        assert [entry.date for entry in entries] == sorted(entry.date for entry in entries)
        ends = [(Fraction(entry.lower), Fraction(entry.upper)) for entry in entries if entry.lower]
        for (low, high), (lower, upper) in itertools.pairwise(ends):
            assert low <= lower <= upper <= high
        assert (ends[-1] if ends else None) == MODELS[name].claim


def test_a_lost_row_of_the_history_comes_back(small):
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    ratchet.submit(best, small)
    (small / "history.csv").unlink()
    ratchet.submit(best, small)
    assert [entry.name for entry in ratchet.history(small)] == [AUDIT]


def test_a_history_that_is_no_table(small):
    (small / "history.csv").write_text("name,date\n")
    refused(lambda: ratchet.history(small), "expected a table with the columns name, date, digest")


@pytest.mark.parametrize("by", ["two\nlines", "two\rlines", "\ud800", "x" * 201])
def test_a_name_that_would_break_the_history(small, by):
    """Nothing is written, neither the certificate nor a row that nobody can read back."""
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    refused(lambda: ratchet.submit(best, small, by=by), "one line of at most 200 printable characters")
    assert not list(small.rglob("*.cert"))
    assert ratchet.submit(best, small, by='Ada, "Lovelace"') == ratchet.history(small)[-1]


@pytest.mark.parametrize("row", ["x" * 200_000, '"', "\udcff", f"{AUDIT},,DIGEST,low,1,", f"{AUDIT},,DIGEST,nan,1,"])
def test_a_history_that_cannot_be_read(small, row):
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    text = "name,date,digest,lower,upper,by\n" + row.replace("DIGEST", best.header.model) + "\n"
    (small / "history.csv").write_text(text, encoding="utf-8", errors="surrogateescape")
    refused(lambda: ratchet.submit(best, small), "history.csv")
    assert not list(small.rglob("*.cert"))


# What a library does not take, said before any work, and nothing written.


@pytest.mark.parametrize("place", ["history.csv", "INDEX.md", "index.csv", f"{AUDIT}.cert", f"{AUDIT}.cert.gz"])
def test_what_cannot_be_written_is_said_before_any_work(small, monkeypatch, command_line, place):
    def worked(*_, **__):
        raise AssertionError("worked")

    monkeypatch.setattr(ratchet, "solve", worked)
    monkeypatch.setattr(ratchet, "_need_proof", worked)
    (small / place).mkdir()
    for arguments in (["tighten", AUDIT], ["submit", MODELS[AUDIT].certificate_path]):
        refused = command_line("library", *arguments, "--folder", small)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.endswith(
            f"{small / place}: cannot be written: it is a folder; move it, or name another place\n"
        )
        assert refused.stderr.count("\n") == 1


def test_what_is_refused(small, monkeypatch):
    """Junk, another library's model, a false claim, a proof that is too long; nothing is written."""
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    wrong = claimed(best, upper=float(MODELS[AUDIT].claim[1]) - 1e-6)
    for certificate, message in (
        (dl.Certificate("no certificate"), "not a certificate"),
        (dl.Certificate('["list"]\n'), "not a certificate"),
        (dl.Certificate.read(MODELS["identity/bit"].certificate_path), "of no model in"),
        (wrong, "not proved"),
    ):
        with pytest.raises(dl.errors.InputError, match=message):
            ratchet.submit(certificate, small)
    monkeypatch.setattr(ratchet, "MOST_BYTES", 100)
    refused(lambda: ratchet.submit(best, small), "the library takes 100")
    assert not list(small.rglob("*.cert*"))
    assert ratchet.history(small) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('minimal = ["no/model"]', "is in no set"),
        (f"minimal = {json.dumps([*NAMES, 'no/model'])}", "there is no model file for no/model"),
        (f"minimal = {json.dumps([*NAMES, AUDIT])}", "each name once"),
        (f"huge = {json.dumps(NAMES)}", "expected lists minimal, fast, various"),
        ("minimal = [", "not a TOML"),
        ("minimal = 3", "expected lists"),
        ('minimal = [["a"]]', "expected lists"),
        ('minimal = "a"', "expected lists"),
        ('formulas = ["a"]', "expected lists"),
    ],
)
def test_a_list_of_sets_that_does_not_fit(small, text, message):
    (small / "sets.toml").write_text(text)
    with pytest.raises(dl.errors.InputError, match=message):
        library(folder=small)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, '{"lower":"0","upper":"1"}', '{"model":"","lower":"x","upper":"1"}']
)
def test_a_stored_certificate_that_is_none(small, text):
    """The error names the file, whoever reads it."""
    path = (small / AUDIT).with_suffix(".cert")
    path.write_text(text)
    model = library_model(AUDIT, small)
    for use in (
        model.row,
        lambda: ratchet.tighten(model, small),
        lambda: ratchet.submit(dl.Certificate.read(MODELS[AUDIT].certificate_path), small),
    ):
        with pytest.raises(dl.errors.InputError, match=rf"{AUDIT}\.cert: (not a certificate|lower: expected a number)"):
            use()
    with pytest.raises(
        dl.errors.InputError, match=r"^(not a certificate|lower: expected|the certificate is of no model)"
    ):
        ratchet.submit(dl.Certificate(text), small)
    assert path.read_text() == text


# Better ends are proved, combined and stored; the interval of a name only tightens.


@pytest.mark.parametrize("name", [AUDIT, DESIGN])
def test_the_better_ends_are_combined(small, name):
    """One certificate has the better lower end, the other the better upper end: together they have both, proved."""
    best = dl.Certificate.read(MODELS[name].certificate_path)
    lower, upper = map(float, MODELS[name].claim)
    left, right = claimed(best, upper=upper + 0.125), claimed(best, lower=lower / 2)
    model = library_model(name, small)
    first = ratchet.submit(left, small, by="left")
    assert (Fraction(first.lower), Fraction(first.upper)) == (MODELS[name].claim[0], Fraction(str(upper + 0.125)))
    second = ratchet.submit(right, small)
    kept = dl.Certificate.read(model.certificate_path)
    assert dl.verify(model.path, kept).proved
    assert (Fraction(second.lower), Fraction(second.upper)) == MODELS[name].claim == library_model(name, small).claim
    assert [entry.by for entry in ratchet.history(small)] == ["left", best.header.producer]
    for worse in (best, left, right):
        with pytest.raises(dl.errors.InputError, match="no tighter"):
            ratchet.submit(worse, small)
    assert dl.Certificate.read(model.certificate_path) == kept
    assert len(ratchet.history(small)) == 2


def test_evidence_of_two_searches_is_combined():
    """Different witnesses, priors and mechanisms: the parts prove together what they proved apart."""
    for name, gaps in ((AUDIT, (1e-1, 1e-2)), ("design/count-erasure-independent", (3e-1, 1e-2))):
        first, second = (dl.solve(problems()[name], gap=gap, seed=seed) for seed, gap in enumerate(gaps))
        for stored, found in ((first, second), (second, first)):
            joined = join(problems()[name], stored.certificate, found.certificate)
            verdict = dl.verify(problems()[name], joined)
            assert verdict.proved, verdict.reason
            assert verdict.lower == max(Fraction(first.lower), Fraction(second.lower))
            assert verdict.upper == min(Fraction(first.upper), Fraction(second.upper))
    with pytest.raises(dl.errors.InputError, match="of one model"):
        join(problems()[name], first.certificate, dl.Certificate.read(MODELS[AUDIT].certificate_path))


@pytest.mark.parametrize("blank", ["\r", " ", "\t"])
def test_blanks_within_lines(small, blank):
    """What the checker proves is joined whatever its blanks are, also one that other readers take for the end of a line."""
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    ratchet.submit(claimed(best, lower=0), small)
    header, rest = best.text.split("\n", 1)
    entry = ratchet.submit(dl.Certificate(header + "\n" + rest.replace(",", "," + blank, 3)), small)
    assert (Fraction(entry.lower), Fraction(entry.upper)) == MODELS[AUDIT].claim == library_model(AUDIT, small).claim


def test_tightening_solves_what_is_open_and_keeps_what_is_better(small):
    model = library_model(AUDIT, small)
    assert model.tightness == "unsolved"
    loose = ratchet.tighten(model, small, gap=0.1)
    tight = ratchet.tighten(library_model(AUDIT, small), small, gap=1e-3)
    assert Fraction(loose.lower) <= Fraction(tight.lower) <= Fraction(tight.upper) < Fraction(loose.upper)
    assert library_model(AUDIT, small).gap <= 1e-3
    before = Path(model.path.with_suffix(".cert")).read_bytes()
    assert ratchet.tighten(library_model(AUDIT, small), small, gap=1e-3) is None, "closed that far already"
    assert ratchet.tighten(library_model(AUDIT, small), small, gap=1e-9, node_limit=1) is None, "no better in one node"
    assert Path(model.path.with_suffix(".cert")).read_bytes() == before
    infeasible = ratchet.tighten(library_model(INFEASIBLE, small), small)
    assert (infeasible.lower, infeasible.upper) == ("", "")
    assert library_model(INFEASIBLE, small).tightness == "infeasible"
    assert ratchet.tighten(library_model(INFEASIBLE, small), small) is None


def test_long_certificates_are_compressed(small, monkeypatch):
    """The limit is that of the file; one that gets longer leaves no text beside it, and one that gets shorter nothing compressed."""
    model = library_model(AUDIT, small)
    text, gzipped = model.certificate_places
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    ratchet.submit(claimed(best, lower=0), small)
    assert model.certificate_path == text
    monkeypatch.setattr(ratchet, "READ", 100)
    ratchet.submit(best, small)
    assert model.certificate_path == gzipped
    assert not text.exists()
    kept = model.certificate()
    assert kept.header.claim == best.header.claim
    assert kept.text.splitlines()[1:] == best.text.splitlines()[1:], "the first line names who joined it, this release"
    row = library_model(AUDIT, small).row()
    assert row.certificate_bytes == gzipped.stat().st_size < len(best.text)
    assert row.certificate_digest == certificate_digest(kept)
    assert "index.csv" in run("library", "index", "--folder", small)
    assert library_model(AUDIT, small).standing == Standing(True, "when the index was written")
    shutil.copy(HOME / "verify.py", small)
    done = subprocess.run([sys.executable, small / "verify.py", AUDIT], capture_output=True, text=True, check=False)
    assert done.stdout.endswith("1 of 1 proved\n")


def test_a_name_keeps_its_meaning_and_its_narrowest_interval(small):
    """A changed model under an old name is refused, and so is a step back after a certificate was lost."""
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    ratchet.submit(best, small)
    path = small / f"{AUDIT}.toml"
    path.with_suffix(".cert").unlink()
    refused(lambda: ratchet.submit(claimed(best, lower=0), small), "narrower interval")
    changed = dataclasses.replace(problems()[AUDIT], adversary=dl.EntropyAtLeast("1 bits"))
    path.write_text(dl.dumps(changed))
    refused(lambda: ratchet.submit(dl.solve(changed, gap=0.1).certificate, small), "new name")
    path.write_text(MODELS[AUDIT].path.read_text())
    ratchet.submit(best, small)
    assert len(ratchet.history(small)) == 2


SUBMIT = """
import sys
import dalenius as dl
from dalenius.catalogue import ratchet
folder, *texts = sys.argv[1:]
for text in texts:
    try:
        ratchet.submit(dl.Certificate.read(text), folder, by=text)
    except dl.errors.InputError as error:
        assert "no tighter" in str(error), error
"""


def test_two_processes_lose_nothing(small, tmp_path_factory):
    """One brings lower ends, the other upper ends: every row is kept, and none is wider than the one before it."""
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    proofs, commands = tmp_path_factory.mktemp("proofs"), []
    for key, ends in (("lower", [0.1, 0.2, 0.3]), ("upper", [1.5, 1.25, 1.0])):
        paths = [
            str(claimed(best, **({"lower": 0, "upper": 2} | {key: end})).write(proofs / f"{key}{end}")) for end in ends
        ]
        commands.append([sys.executable, "-c", SUBMIT, str(small), *paths])
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    for process in running:
        assert process.communicate(timeout=120)[1] == ""
        assert process.returncode == 0
    entries = ratchet.history(small)
    assert len(entries) == 6
    for one, other in itertools.pairwise(entries):
        assert Fraction(one.lower) <= Fraction(other.lower) <= Fraction(other.upper) <= Fraction(one.upper)
    assert library_model(AUDIT, small).claim == (Fraction("0.3"), Fraction("1.0"))


def test_an_interrupted_search_is_kept_and_the_interrupt_goes_on(small, monkeypatch):
    """Otherwise Ctrl-C would only skip to the next of eighty models."""
    done = dataclasses.replace(dl.solve(problems()[AUDIT], gap=0.1), termination=dl.answers.Termination.INTERRUPTED)
    monkeypatch.setattr(ratchet, "solve", lambda *_, **__: done)
    with pytest.raises(KeyboardInterrupt):
        ratchet.tighten(library_model(AUDIT, small), small)
    assert library_model(AUDIT, small).claim == (Fraction(done.lower), Fraction(done.upper))
    assert [entry.name for entry in ratchet.history(small)] == [AUDIT]


def test_the_commands(small, tmp_path):
    """Tighten, submit and index: files as the library's own."""
    assert INFEASIBLE in run("library", "tighten", INFEASIBLE, "--folder", small)
    assert AUDIT in run("library", "submit", MODELS[AUDIT].certificate_path, "--by", "somebody", "--folder", small)
    assert "index.csv" in run("library", "index", "--folder", small)
    rows = list(csv.DictReader((small / "index.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["name"], row["tightness"]) for row in rows] == [
        (AUDIT, "closed"),
        (DESIGN, "unsolved"),
        (INFEASIBLE, "infeasible"),
    ]
    assert f"[{AUDIT}]({AUDIT}.toml)" in (small / "INDEX.md").read_text()
    assert [entry.by for entry in ratchet.history(small)][1:] == ["somebody"]
    refused(lambda: run("library", "submit", MODELS[AUDIT].certificate_path, "--folder", small), "no tighter")
