"""The library: certificates proved by the checker alone, every kind there, formulas within intervals, ends that only tighten."""

from __future__ import annotations

import csv
import dataclasses
import itertools
import json
import math
import re
import shutil
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dalenius as dl
from campaigns import draws
from dalenius._join import join
from dalenius.catalogue import ratchet
from dalenius.catalogue.models import CLOSED, SETS, library, library_folder, library_model
from dalenius.catalogue.standing import Standing, certificate_digest
from dalenius.cli import app
from dalenius.model import digest
from dalenius.model.adversaries import ADVERSARIES
from dalenius.model.constraints import CONSTRAINTS
from dalenius.model.distortions import DISTORTIONS
from dalenius.model.laws import LAWS, CsvLaw
from dalenius.model.mechanism_classes import MECHANISM_CLASSES
from dalenius.model.mechanisms import MECHANISMS
from dalenius.model.model_file import PROBLEMS
from dalenius.model.objectives import OBJECTIVES, TERMS
from dalenius.model.privacy import NOTIONS
from dalenius.model.queries import QUERIES
from dalenius.model.shelf import Shelved

HOME = library_folder()
MODELS = {model.name: model for model in library()}
PROBLEM = {name: model.load() for name, model in MODELS.items()}
ROWS = [model.row() for model in MODELS.values()]
LENGTH = draws(450_000, 10**9)  # of certificates, as text: longer ones are not proved daily
PROVED = [name for name, model in MODELS.items() if len(model.certificate().text) <= LENGTH]
FORMULAS = [name for name, model in MODELS.items() if model.formula]


# ---------------------------------------------------------------- what is there


def test_every_certificate_is_proved_without_numpy_or_dalenius():
    """In one process, where neither can be imported. The library promises less than five minutes; long ones wait for the whole."""
    command = [sys.executable, str(HOME / "verify.py"), *PROVED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(f"{len(PROVED)} of {len(PROVED)} proved\n")
    assert [line.split()[0] for line in done.stdout.splitlines()[:-1]] == PROVED


def test_the_proof_of_the_library_needs_nothing_installed():
    """The standard library and this checkout, without site-packages: the checker's own arithmetic. Each fourteenth model daily."""
    names = PROVED[:: draws(14, 1)]
    command = [sys.executable, "-S", str(HOME / "verify.py"), *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(f"{len(names)} of {len(names)} proved\n")
    command += ["--arithmetic", "both"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "arithmetic: flint is not there (No module named 'flint')" in done.stderr


def test_both_arithmetics_prove_a_model():
    command = [sys.executable, str(HOME / "verify.py"), "parity/laplace-n4", "--arithmetic", "both"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert re.match(r"parity/laplace-n4 +[0-9.]+ s +[0-9.]+ s  proved: ", done.stdout)
    assert done.stdout.endswith("1 of 1 proved\n")


def test_the_proof_of_the_library_can_fail(tmp_path):
    """A claim a little too narrow, a certificate of another model, and an import that the checker must do without."""
    for name in ("parity/laplace-n4", "parity/exponential-n4", "identity/bit"):
        copy_model(name, tmp_path)
    shutil.copy(HOME / "verify.py", tmp_path)
    narrow = tmp_path / "parity/laplace-n4.cert"
    header, *lines = narrow.read_text().splitlines()
    claim = json.loads(header)
    narrow.write_text("\n".join([json.dumps(claim | {"upper": claim["lower"]}), *lines]) + "\n")
    shutil.copy(MODELS["parity/laplace-n4"].certificate_path, tmp_path / "parity/exponential-n4.cert")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "verify.py")], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "rejected" in done.stdout
    assert "another model" in done.stdout
    assert done.stdout.endswith("1 of 3 proved\n")
    (tmp_path / "identity/bit.cert").unlink()
    for name, status, message in (
        ("identity/bit", 1, "0 of 1 proved"),
        ("identity/byte", 2, "no such model: identity/byte"),
    ):
        command = [sys.executable, str(tmp_path / "verify.py"), name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status
        assert message in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import verify; verify.main([]); import numpy"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "ImportError: the checker must do without numpy" in done.stderr


def kinds(problem: dl.Problem) -> set[tuple[str, str]]:
    """Every kind of part that a problem has, and how the model file states it."""
    parts = {field.name: getattr(problem, field.name) for field in dataclasses.fields(problem)}
    found = {(name, part.kind) for name, part in parts.items() if isinstance(part, Shelved)}
    if isinstance(problem, dl.DesignProblem):
        found.add(("class", problem.mechanism_class.kind))
        found |= {("constraint", constraint.kind) for constraint in problem.own_constraints}
    if isinstance(problem, dl.DesignProblem) and problem.objective is not None:
        found.add(("objective", problem.objective.combine))
        found |= {("term", term.kind) for term in problem.objective.terms}
    if isinstance(problem, dl.MaximalLeakage) and isinstance(problem.mechanism, dl.Channel):
        found.add(("inputs", problem.mechanism.indexed_by()))
    if isinstance(problem.adversary, dl.EntropyAtLeast):
        unit = problem.adversary.normal_form()["entropy_at_least"].split()[1]
        found.add(("entropy", unit))
    return found | {("problem", problem.kind)}


def test_the_smallest_set_has_every_kind():
    """A new kind without a model in the library fails here."""
    shelves = {
        "query": QUERIES,
        "mechanism": MECHANISMS,
        "adversary": ADVERSARIES,
        "distortion": DISTORTIONS,
        "privacy": NOTIONS,
        "law": LAWS,
        "constraint": CONSTRAINTS,
        "objective": OBJECTIVES,
        "term": TERMS,
    }
    wanted = {(shelf, kind) for shelf, kept in shelves.items() for kind in kept} - {("law", CsvLaw.kind)}
    wanted |= {("problem", kind) for kind in PROBLEMS} | {("class", kind) for kind in MECHANISM_CLASSES}
    wanted |= {("inputs", kind) for kind in ("query", "dataset")} | {
        ("entropy", unit) for unit in ("nats", "bits", "max")
    }
    found = set().union(*(kinds(PROBLEM[model.name]) for model in library("minimal")))
    assert wanted <= found, wanted - found


def test_the_sets_contain_one_another():
    small, middle, large = ([model.name for model in library(name)] for name in SETS)
    assert set(small) < set(middle) < set(large) == set(MODELS)
    assert len(large) >= 60
    assert len({row.digest for row in ROWS}) == len(large), "two names for one model"
    assert dl.library is library
    with pytest.raises(dl.InputError, match="expected one of minimal, fast, various; got 'huge'"):
        library("huge")


def test_sizes():
    """From 2 x 2 to 100 x 100 and 100,000 records; small enough to ship; some closed and some open, and some infeasible."""
    assert min((row.inputs, row.outputs) for row in ROWS) == (2, 2)
    assert max((row.inputs, row.outputs) for row in ROWS) >= (100, 100)
    assert max(len(problem.records) for problem in PROBLEM.values()) == 1_000_000
    assert all(0 < row.certificate_bytes <= ratchet.MOST_BYTES for row in ROWS)
    assert sum(path.stat().st_size for path in HOME.rglob("*") if path.is_file()) <= 4_000_000
    assert {row.tightness for row in ROWS} == {"exact", "closed", "bracket", "infeasible"}
    assert all(row.title and row.source for row in ROWS)
    assert {model.set for model in MODELS.values() if model.tightness == "bracket"} <= {"fast", "various"}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_survives_being_written_and_read(name):
    assert dl.loads(dl.dumps(PROBLEM[name])) == PROBLEM[name]


def test_another_models_certificate_is_rejected():
    verdict = dl.verify(MODELS["parity/exponential-n4"].path, MODELS["parity/laplace-n4"].certificate_path)
    assert verdict.status.value == "rejected"
    assert "another model" in verdict.reason


# ---------------------------------------------------------------- formulas, evaluated to fifty digits


def number(text: str | int) -> Decimal:
    """A decimal, or a fraction."""
    upper, _, lower = str(text).partition("/")
    return Decimal(upper) / Decimal(lower or 1)


def h(p: Decimal) -> Decimal:
    return -p * p.ln() - (1 - p) * (1 - p).ln()


def h_inverse(value: Decimal) -> Decimal:
    """p <= 1/2 with h(p) = value, by bisection."""
    low, high = Decimal(10) ** -45, Decimal("0.5")
    for _ in range(170):
        middle = (low + high) / 2
        low, high = (middle, high) if h(middle) < value else (low, middle)
    return low


def log(x: str | int) -> Decimal:
    return number(x).ln()


def symmetric(letters: int, flip: str) -> Decimal:
    """The capacity of the symmetric channel, which is also the rate-distortion function of a uniform letter."""
    return log(letters) - h(number(flip)) - number(flip) * log(letters - 1)


def laplace() -> Decimal:
    return (-number("1/2")).exp() / 2


def exponential(epsilon: str) -> Decimal:
    return 1 / (1 + number(epsilon).exp())


def distorted(letters: int, told: Decimal) -> Decimal:
    """The error at which the rate-distortion function of a uniform letter is so much, by bisection."""
    low, high = Decimal(10) ** -45, 1 - 1 / Decimal(letters)
    for _ in range(170):
        middle = (low + high) / 2
        rate = log(letters) - h(middle) - middle * log(letters - 1)
        low, high = (middle, high) if rate > told else (low, middle)
    return low


def gerber(flip: Decimal, spare: Decimal) -> Decimal:
    """Mrs. Gerber's lemma: the parity of n bits through a binary symmetric channel, b = (n-1) log 2 + spare."""
    v = h_inverse(spare)
    return log(2) - h(flip + v - 2 * flip * v)


def information(joint: list[list[Decimal]]) -> Decimal:
    """I(X; Y) of a joint law."""
    columns = [sum(column) for column in zip(*joint, strict=True)]
    return sum(u * (u / (sum(row) * r)).ln() for row in joint for u, r in zip(row, columns, strict=True) if u)


def geometric(top: int, epsilon: str) -> list[list[Decimal]]:
    """The truncated geometric mechanism for 0, ..., top."""
    a = (-number(epsilon)).exp()
    inside = [
        [a ** abs(y - v) / (1 + a) * (1 if y in (0, top) else 1 - a) for y in range(top + 1)] for v in range(top + 1)
    ]
    return inside


def told(prior: list[Decimal], bits: int, rows: list[list[Decimal]], record: int) -> Decimal:
    """What the count of bits, through a channel, tells about a record under a prior on datasets."""
    joint = [[Decimal(0)] * len(rows[0]) for _ in range(2)]
    for mass, data in zip(prior, itertools.product((0, 1), repeat=bits), strict=True):
        for y, chance in enumerate(rows[sum(data)]):
            joint[data[record]][y] += mass * chance
    return information(joint)


def listed() -> Decimal:
    priors = [[number(x) for x in prior] for prior in (["1/2", 0, 0, "1/2"], ["0.4", "0.3", "0.2", "0.1"])]
    return max(told(prior, 2, geometric(2, "1"), record) for prior in priors for record in (0, 1))


EXACT = {
    "channel/planted-pair-n6": lambda: number("4/5") * (log(2) - h(number("1/8"))),
    "count/independent-n8": lambda: log(2) - h(exponential("1/2")),
    "count/listed-priors": listed,
    "degenerate/almost-silent": lambda: log(2) - h(number("0.49999")),
    "degenerate/constant-channel": lambda: Decimal(0),
    "degenerate/equal-rows": lambda: log(2),
    "degenerate/generous-design": lambda: Decimal(0),
    "degenerate/noiseless": lambda: log(3),
    "degenerate/silent-design": lambda: number("1/2"),
    "degenerate/uniform-only": lambda: told([number("1/16")] * 16, 4, geometric(4, "1"), 0),
    "design/bit-paid-errors": lambda: log(2) - (1 + (-number("3/2")).exp()).ln(),
    "design/modular-sum-m3-additive": lambda: symmetric(3, "1/5"),
    "design/parity-n1000": lambda: log(2) - h(number("1/10")),
    "design/parity-n4-distortion": lambda: h_inverse(log(2) - number("3/10")),
    "design/parity-n4-leakage": lambda: log(2) - h(number("1/10")),
    "identity/bit": lambda: log(2) - h(number("0.11")),
    "identity/z-channel": lambda: log("5/4"),
    "modular-sum/slack-m4-n3": lambda: symmetric(4, "3/10"),
    "parity/exponential-n4": lambda: log(2) - h(exponential("1/2")),
    "parity/exponential-n4-b2": lambda: log(2) - h(exponential("1/2")),
    "parity/independent-n5": lambda: log(2) - h(number("1/3")),
    "parity/laplace-n4": lambda: log(2) - h(laplace()),
    "parity/laplace-n4-b2.5": lambda: gerber(laplace(), number("5/2") - 3 * log(2)),
    "parity/symmetric-n2": lambda: gerber(number("1/10"), log(2) / 2),
    "parity/symmetric-n6-b0.95": lambda: gerber(number("1/10"), number("7/10") * log(2)),
    "privacy/local-dp-k3": lambda: 2 / (number(3) + 2),
    "privacy/pml-k3": lambda: 1 - number("1/2") - number("3/10"),
    "scale/modular-sum-n1000": lambda: symmetric(3, "1/5"),
    "scale/parity-n1000": lambda: gerber(laplace(), log(2) / 2),
    "scale/parity-n100000": lambda: log(2) - h(number("1/10")),
    "secret/chi-square-bit": lambda: (1 - number("1/20").sqrt()) / 2,
    "secret/local-dp-delta": lambda: number("19/20") * 2 / (number(3) + 2),
    "secret/mutual-information": lambda: distorted(3, number("1/10")),
    "secret/total-variation": lambda: number("7/25"),
    "table/and-2x2": lambda: log(2) - h(number("1/10")),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_formula_is_within_the_interval(name):
    with localcontext(prec=50):
        exact = Fraction(EXACT[name]())
    slack = Fraction(1, 10**40) if exact else 0  # fifty digits, some of which cancel
    lower, upper = MODELS[name].claim
    assert lower <= exact + slack
    assert exact - slack <= upper
    assert MODELS[name].tightness == "exact"


# ---------------------------------------------------------------- names


def test_a_model_is_loaded_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert dl.load("parity/laplace-n4") == dl.load(MODELS["parity/laplace-n4"].path) == PROBLEM["parity/laplace-n4"]
    assert dl.load(str(MODELS["identity/bit"].path)) == PROBLEM["identity/bit"]
    (tmp_path / "parity").mkdir()
    (tmp_path / "parity/laplace-n4").write_text(dl.dumps(PROBLEM["identity/bit"]))
    assert dl.load("parity/laplace-n4") == PROBLEM["identity/bit"], "a file that is there comes first"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("parity/laplace-n5", "did you mean parity/laplace-n4"),
        ("laplace-n4", "did you mean parity/laplace-n4"),
        ("zzz", "dalenius list"),
        ("parity/laplace-n5.toml", "cannot be read"),
        (Path("parity/laplace-n5"), "cannot be read"),
        ("x" * 5000, "no model named 'xxx"),
    ],
)
def test_unknown_names(name, message):
    with pytest.raises(dl.InputError, match=message):
        dl.load(name)


def test_tightness_is_what_the_gap_says():
    for model in MODELS.values():
        if model.tightness in ("closed", "bracket"):
            assert (model.gap <= CLOSED) is (model.tightness == "closed")
            assert not model.formula
        assert (model.claim is None) is (model.tightness == "infeasible")


# ---------------------------------------------------------------- index and history


def test_the_index_is_up_to_date():
    again = "run `dalenius library index`"
    assert (HOME / "INDEX.md").read_text(encoding="utf-8") == ratchet.index_markdown(ROWS), again
    assert (HOME / "index.csv").read_text(encoding="utf-8") == ratchet.index_csv(ROWS), again


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
    assert len({digest(problem) for problem in PROBLEM.values()}) == len(MODELS), "a digest names one model"
    for name, entries in past.items():
        assert {entry.digest for entry in entries} == {digest(PROBLEM[name])}
        assert [entry.date for entry in entries] == sorted(entry.date for entry in entries)
        ends = [(Fraction(entry.lower), Fraction(entry.upper)) for entry in entries if entry.lower]
        for (low, high), (lower, upper) in itertools.pairwise(ends):
            assert low <= lower <= upper <= high
        assert (ends[-1] if ends else None) == MODELS[name].claim


# ---------------------------------------------------------------- the ratchet


def copy_model(name: str, folder: Path, *, certified: bool = True) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    stored = [MODELS[name].certificate_path] if certified else []
    for path in (MODELS[name].path, *stored):
        shutil.copy(path, folder / name.partition("/")[0])


NAMES = ("channel/lopsided-2x3", "design/parity-n4-leakage", "infeasible/negative-leakage")
AUDIT, DESIGN, INFEASIBLE = NAMES


@pytest.fixture
def small(tmp_path):
    """A library of an audit, a design and an infeasible one, without certificates."""
    for name in NAMES:
        copy_model(name, tmp_path, certified=False)
    (tmp_path / "sets.toml").write_text(f"minimal = {json.dumps(NAMES)}\n")
    return tmp_path


def claimed(certificate: dl.Certificate, **ends: float) -> dl.Certificate:
    """The same evidence for wider claims."""
    header, rest = certificate.text.split("\n", 1)
    return dl.Certificate(json.dumps(json.loads(header) | {key: str(end) for key, end in ends.items()}) + "\n" + rest)


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
        with pytest.raises(dl.InputError, match="no tighter"):
            ratchet.submit(worse, small)
    assert dl.Certificate.read(model.certificate_path) == kept
    assert len(ratchet.history(small)) == 2


def test_evidence_of_two_searches_is_combined():
    """Different witnesses, priors and mechanisms: the parts prove together what they proved apart."""
    for name, gaps in ((AUDIT, (1e-1, 1e-2)), ("design/count-erasure-independent", (3e-1, 1e-2))):
        first, second = (dl.solve(PROBLEM[name], gap=gap, seed=seed) for seed, gap in enumerate(gaps))
        for stored, found in ((first, second), (second, first)):
            joined = join(PROBLEM[name], stored.certificate, found.certificate)
            verdict = dl.verify(PROBLEM[name], joined)
            assert verdict.proved, verdict.reason
            assert verdict.lower == max(Fraction(first.lower), Fraction(second.lower))
            assert verdict.upper == min(Fraction(first.upper), Fraction(second.upper))
    with pytest.raises(dl.InputError, match="of one model"):
        join(PROBLEM[name], first.certificate, dl.Certificate.read(MODELS[AUDIT].certificate_path))


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
        with pytest.raises(dl.InputError, match=message):
            ratchet.submit(certificate, small)
    monkeypatch.setattr(ratchet, "MOST_BYTES", 100)
    with pytest.raises(dl.InputError, match="the library takes 100"):
        ratchet.submit(best, small)
    assert not list(small.rglob("*.cert*"))
    assert ratchet.history(small) == []


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
    assert model.certificate() == best
    row = library_model(AUDIT, small).row()
    assert row.certificate_bytes == gzipped.stat().st_size < len(best.text)
    assert row.certificate_digest == certificate_digest(best)
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
    with pytest.raises(dl.InputError, match="narrower interval"):
        ratchet.submit(claimed(best, lower=0), small)
    changed = dataclasses.replace(PROBLEM[AUDIT], adversary=dl.EntropyAtLeast("1 bits"))
    path.write_text(dl.dumps(changed))
    with pytest.raises(dl.InputError, match="new name"):
        ratchet.submit(dl.solve(changed, gap=0.1).certificate, small)
    path.write_text(MODELS[AUDIT].path.read_text())
    ratchet.submit(best, small)
    assert len(ratchet.history(small)) == 2


def test_a_lost_row_of_the_history_comes_back(small):
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    ratchet.submit(best, small)
    (small / "history.csv").unlink()
    ratchet.submit(best, small)
    assert [entry.name for entry in ratchet.history(small)] == [AUDIT]


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
    with pytest.raises(dl.InputError, match=message):
        library(folder=small)


def test_a_history_that_is_no_table(small):
    (small / "history.csv").write_text("name,date\n")
    with pytest.raises(dl.InputError, match="expected a table with the columns name, date, digest"):
        ratchet.history(small)


@pytest.mark.parametrize("by", ["two\nlines", "two\rlines", "\ud800", "x" * 201])
def test_a_name_that_would_break_the_history(small, by):
    """Nothing is written, neither the certificate nor a row that nobody can read back."""
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    with pytest.raises(dl.InputError, match="one line of at most 200 printable characters"):
        ratchet.submit(best, small, by=by)
    assert not list(small.rglob("*.cert"))
    assert ratchet.submit(best, small, by='Ada, "Lovelace"') == ratchet.history(small)[-1]


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
        with pytest.raises(dl.InputError, match=rf"{AUDIT}\.cert: (not a certificate|lower: expected a number)"):
            use()
    with pytest.raises(dl.InputError, match=r"^(not a certificate|lower: expected|the certificate is of no model)"):
        ratchet.submit(dl.Certificate(text), small)
    assert path.read_text() == text


@pytest.mark.parametrize("row", ["x" * 200_000, '"', "\udcff", f"{AUDIT},,DIGEST,low,1,", f"{AUDIT},,DIGEST,nan,1,"])
def test_a_history_that_cannot_be_read(small, row):
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    text = "name,date,digest,lower,upper,by\n" + row.replace("DIGEST", best.header.model) + "\n"
    (small / "history.csv").write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(dl.InputError, match=r"history\.csv"):
        ratchet.submit(best, small)
    assert not list(small.rglob("*.cert"))


SUBMIT = """
import sys
import dalenius as dl
from dalenius.catalogue import ratchet
folder, *texts = sys.argv[1:]
for text in texts:
    try:
        ratchet.submit(dl.Certificate.read(text), folder, by=text)
    except dl.InputError as error:
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
    done = dataclasses.replace(dl.solve(PROBLEM[AUDIT], gap=0.1), termination=dl.Termination.INTERRUPTED)
    monkeypatch.setattr(ratchet, "solve", lambda *_, **__: done)
    with pytest.raises(KeyboardInterrupt):
        ratchet.tighten(library_model(AUDIT, small), small)
    assert library_model(AUDIT, small).claim == (Fraction(done.lower), Fraction(done.upper))
    assert [entry.name for entry in ratchet.history(small)] == [AUDIT]


# ---------------------------------------------------------------- the command line


def run(*arguments) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_the_list():
    rows = json.loads(run("list", "--set", "minimal", "--json"))
    assert [row["name"] for row in rows] == [model.name for model in library("minimal")]
    row = next(row for row in rows if row["name"] == "parity/laplace-n4")
    assert Decimal(row["lower"]) <= Decimal("0.0795415058653") <= Decimal(row["upper"])
    assert (row["datasets"], row["inputs"], row["outputs"], row["tightness"]) == ("2^4", 2, 2, "exact")
    text = run("list", "--set", "minimal", "--units", "bits")
    line = next(line for line in text.splitlines() if "parity/laplace-n4 " in line)
    lower, upper = (float(end) for end in line.split(".. ")[0].split()[-1:] + line.split(".. ")[1].split()[:1])
    assert lower <= 0.0795415058653 / math.log(2) <= upper
    assert "scale/parity-n100000" not in text


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
    with pytest.raises(dl.InputError, match="no tighter"):
        run("library", "submit", MODELS[AUDIT].certificate_path, "--folder", small)
