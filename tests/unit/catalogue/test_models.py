"""Formulas, evaluated to fifty digits, lie within the proved intervals."""

import csv
import dataclasses
import functools
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
from campaigns import draws, each
from dalenius.catalogue import ratchet
from dalenius.catalogue.models import CLOSED, SETS, library, library_folder, library_model
from dalenius.cli import app
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
from libraries import HOME, MODELS, copy_model, problems, rows, run
from support import refused, refuses

FORMULAS = [name for name, model in MODELS.items() if model.formula]


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
    "information/uniform-pml": lambda: log(2),
    "secret/local-dp-delta": lambda: number("19/20") * 2 / (number(3) + 2),
    "secret/mutual-information": lambda: distorted(3, number("1/10")),
    "secret/total-variation": lambda: number("7/25"),
    "table/and-2x2": lambda: log(2) - h(number("1/10")),
}


@each("name", *FORMULAS)
def test_the_formula_is_within_the_interval(name):
    with localcontext(prec=50):
        exact = Fraction(EXACT[name]())
    slack = Fraction(1, 10**40) if exact else 0  # fifty digits, some of which cancel
    lower, upper = MODELS[name].claim
    assert lower <= exact + slack
    assert exact - slack <= upper
    assert MODELS[name].tightness == "exact"


# The library has every kind of part, models of every size, and each means what its file says.


def kinds(problem: dl.problems.Problem) -> set[tuple[str, str]]:
    """Every kind of part that a problem has, and how the model file states it."""
    parts = {field.name: getattr(problem, field.name) for field in dataclasses.fields(problem)}
    found = {(name, part.kind) for name, part in parts.items() if isinstance(part, Shelved)}
    if isinstance(problem, dl.problems.DesignProblem):
        found.add(("class", problem.mechanism_class.kind))
        found |= {("constraint", constraint.kind) for constraint in problem.own_constraints}
    if isinstance(problem, dl.MaxInformation):
        found |= {("constraint", constraint.kind) for constraint in problem.constraints}
    if isinstance(problem, dl.problems.DesignProblem) and problem.objective is not None:
        found.add(("objective", problem.objective.combine))
        found |= {("term", term.kind) for term in problem.objective.terms}
    if isinstance(problem, dl.WorstCaseLeakage) and isinstance(problem.mechanism, dl.Channel):
        found.add(("inputs", problem.mechanism.indexed_by()))
    if isinstance(problem.adversary, dl.EntropyAtLeast):
        found.add(("entropy", problem.adversary.normal_form()["entropy_at_least"].split()[1]))
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
    wanted |= {("problem", problem.kind) for problem in PROBLEMS.values()} | {
        ("class", kind) for kind in MECHANISM_CLASSES
    }
    wanted |= {("inputs", kind) for kind in ("query", "dataset")} | {
        ("entropy", unit) for unit in ("nats", "bits", "max")
    }
    found = set().union(*(kinds(problems()[model.name]) for model in library("minimal")))
    assert wanted <= found, wanted - found


def test_the_sets_contain_one_another():
    small, middle, large = ([model.name for model in library(name)] for name in SETS)
    assert set(small) < set(middle) < set(large) == set(MODELS)
    assert len(large) >= 60
    assert len({row.digest for row in rows()}) == len(large), "two names for one model"
    assert dl.library is library
    refused(lambda: library("huge"), "expected one of minimal, fast, various; got 'huge'")


def test_sizes():
    """From 2 x 2 to 100 x 100 and 100,000 records; small enough to ship; some closed and some open, and some infeasible."""
    assert min((row.inputs, row.outputs) for row in rows()) == (2, 2)
    assert max((row.inputs, row.outputs) for row in rows()) >= (100, 100)
    assert max(len(problem.records) for problem in problems().values()) == 1_000_000
    assert all(0 < row.certificate_bytes <= ratchet.MOST_BYTES for row in rows())
    assert sum(path.stat().st_size for path in HOME.rglob("*") if path.is_file()) <= 4_000_000
    assert {row.tightness for row in rows()} == {"exact", "closed", "bracket", "infeasible"}
    unsaid = [row.name for row in rows() if not (row.title and row.source)]
    assert not unsaid, f"models without a title or a source: {', '.join(unsaid)}"
    assert {model.set for model in MODELS.values() if model.tightness == "bracket"} <= {"fast", "various"}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_survives_being_written_and_read(name):
    assert dl.loads(dl.dumps(problems()[name])) == problems()[name]


# Models by their names, and how tight their intervals are.


def test_a_model_is_loaded_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert dl.load("parity/laplace-n4") == dl.load(MODELS["parity/laplace-n4"].path) == problems()["parity/laplace-n4"]
    assert dl.load(str(MODELS["identity/bit"].path)) == problems()["identity/bit"]
    (tmp_path / "parity").mkdir()
    (tmp_path / "parity/laplace-n4").write_text(dl.dumps(problems()["identity/bit"]))
    assert dl.load("parity/laplace-n4") == problems()["identity/bit"], "a file that is there comes first"


test_unknown_names = refuses(
    ("parity/laplace-n5", "did you mean parity/laplace-n4"),
    ("laplace-n4", "did you mean parity/laplace-n4"),
    ("zzz", "dalenius list"),
    ("parity/laplace-n5.toml", "cannot be read"),
    (Path("parity/laplace-n5"), "cannot be read"),
    ("x" * 5000, "no model named 'xxx"),
    by=dl.load,
)


def test_tightness_is_what_the_gap_says():
    for model in MODELS.values():
        if model.tightness in ("closed", "bracket"):
            assert (model.gap <= CLOSED) is (model.tightness == "closed")
            assert not model.formula
        assert (model.claim is None) is (model.tightness == "infeasible")


def test_the_list():
    rows = json.loads(run("list", "--set", "minimal", "--json"))["models"]
    assert [row["name"] for row in rows] == [model.name for model in library("minimal")]
    row = next(row for row in rows if row["name"] == "parity/laplace-n4")
    assert Decimal(row["lower"]) <= Decimal("0.0795415058653") <= Decimal(row["upper"])
    assert (row["datasets"], row["inputs"], row["outputs"], row["tightness"]) == ("2^4", 2, 2, "exact")
    text = run("list", "--set", "minimal", "--units", "bits")
    line = next(line for line in text.splitlines() if "parity/laplace-n4 " in line)
    lower, upper = (float(end) for end in line.split(".. ")[0].split()[-1:] + line.split(".. ")[1].split()[:1])
    assert lower <= 0.0795415058653 / math.log(2) <= upper
    assert "scale/parity-n100000" not in text


# The library's certificates, proved by the checker alone.


LENGTH = draws(50_000, 10**9)  # of certificates, as text: longer ones are not proved daily


@functools.cache
def proved():
    """The names of those that are proved here."""
    return [name for name, model in MODELS.items() if len(model.certificate().text) <= LENGTH]


def test_every_certificate_is_proved_without_numpy_or_dalenius():
    """In one process, where neither can be imported. The library promises less than five minutes; long ones wait for the whole."""
    names = proved()
    command = [sys.executable, str(HOME / "verify.py"), *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(f"{len(names)} of {len(names)} proved\n")
    assert [line.split()[0] for line in done.stdout.splitlines()[:-1]] == names


def test_the_proof_of_the_library_needs_nothing_installed():
    """The standard library and this checkout, without site-packages: the checker's own arithmetic. Each twentieth model daily."""
    names = proved()[:: draws(20, 1)]
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


def test_another_models_certificate_is_rejected():
    verdict = dl.verify(MODELS["parity/exponential-n4"].path, MODELS["parity/laplace-n4"].certificate_path)
    assert verdict.status.value == "rejected"
    assert "another model" in verdict.reason


# Nothing is called proved that the checker did not prove: neither now, nor, by its digests, when the index was written.


LIBRARY = library_folder()
NAMES = LAPLACE, EXPONENTIAL, INFEASIBLE = ("parity/laplace-n4", "parity/exponential-n4", "infeasible/negative-leakage")


@pytest.fixture
def home(tmp_path):
    """A library of three models with certificates and index."""
    for name in NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        for suffix in (".toml", ".cert"):
            shutil.copy(LIBRARY / f"{name}{suffix}", tmp_path / f"{name}{suffix}")
    (tmp_path / "sets.toml").write_text(f"minimal = {json.dumps(NAMES)}\n")
    ratchet.write_index(tmp_path)
    return tmp_path


def edited(home):
    """A header that claims something else, of about the size of the truth."""
    path = home / f"{LAPLACE}.cert"
    header, rest = path.read_text().split("\n", 1)
    path.write_text(json.dumps(json.loads(header) | {"lower": "0.001", "upper": "0.0010000001"}) + "\n" + rest)


def copied(home):
    """The certificate of another model."""
    shutil.copy(home / f"{EXPONENTIAL}.cert", home / f"{LAPLACE}.cert")


def readdressed(home):
    """The certificate of another model, with this one's digest in its header."""
    header, rest = (home / f"{EXPONENTIAL}.cert").read_text().split("\n", 1)
    model = json.loads((home / f"{LAPLACE}.cert").read_text().split("\n", 1)[0])["model"]
    (home / f"{LAPLACE}.cert").write_text(json.dumps(json.loads(header) | {"model": model}) + "\n" + rest)


def changed(home):
    """Another model under the certificate."""
    path = home / f"{LAPLACE}.toml"
    path.write_text(dl.dumps(dl.load(home / f"{EXPONENTIAL}.toml")))


def listing(home, *arguments):
    return CliRunner().invoke(app, ["list", "--folder", str(home), *arguments])


@pytest.mark.parametrize("forged", [edited, copied, readdressed, changed])
def test_what_is_not_proved_is_not_called_proved(forged, home):
    before = {path: path.read_bytes() for path in (home / "INDEX.md", home / "index.csv")}
    forged(home)
    model = library_model(LAPLACE, home)
    assert (model.interval, model.gap, model.tightness) == (None, None, "unproved")
    assert not model.standing.proved
    assert model.standing.reason.startswith("rejected: ")
    assert (model.row().lower, model.row().upper, model.row().gap) == ("", "", "")

    shown = listing(home)
    assert shown.exit_code == 1
    (line,) = (line for line in shown.stdout.splitlines() if line.startswith(LAPLACE))
    assert line.split()[:2] == [LAPLACE, "unproved"]
    assert f"{LAPLACE}.cert: not proved (rejected: " in shown.stderr
    answer = {row["name"]: row for row in json.loads(listing(home, "--json").stdout)["models"]}
    assert (answer[LAPLACE]["proved"], answer[LAPLACE]["lower"]) == (False, "")
    assert (answer[EXPONENTIAL]["proved"], answer[INFEASIBLE]["proved"]) == (True, True)

    with pytest.raises(dl.errors.InputError, match=f"no index is written, for what is not proved: {LAPLACE} .rejected"):
        ratchet.write_index(home)
    assert {path: path.read_bytes() for path in before} == before


def test_an_index_that_lies_is_not_believed_by_the_next_one(home):
    """Not even one whose digests were forged along with the certificate."""
    edited(home)
    rows = list(csv.DictReader((home / "index.csv").read_text().splitlines()))
    forged = library_model(LAPLACE, home).row().certificate_digest
    for row in rows:
        row["certificate_digest"] = forged if row["name"] == LAPLACE else row["certificate_digest"]
    with (home / "index.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    refused(lambda: ratchet.write_index(home), "no index is written")


def test_an_unproved_certificate_does_not_keep_a_model_from_being_solved(home):
    edited(home)
    entry = ratchet.tighten(library_model(LAPLACE, home), home)
    assert entry is None or Fraction(entry.lower) > Fraction("0.07")
    assert dl.verify(home / f"{LAPLACE}.toml", home / f"{LAPLACE}.cert").proved


def test_digests_bind_a_claim_to_its_proof(home):
    assert {model.standing.reason for model in library(folder=home)} == {"when the index was written"}
    assert {model.standing.reason for model in MODELS.values()} == {"when the index was written"}, (
        "run `dalenius library index`"
    )
    path = home / f"{LAPLACE}.cert"
    header, rest = path.read_text().split("\n", 1)
    path.write_text(json.dumps(json.loads(header) | {"lower": "0.07"}) + "\n" + rest)  # true, and not what was proved
    model = library_model(LAPLACE, home)
    assert (model.standing.proved, model.standing.reason) == (True, "just now")
    assert model.interval[0] == Fraction("0.07")
    assert listing(home).exit_code == 0


@pytest.mark.parametrize("text", ["", "name\n", 'name,digest,certificate_digest\n"', "\ufeff\n", "name,digest\na,b\n"])
def test_an_index_of_another_form_says_nothing(home, text):
    (home / "index.csv").write_text(text, encoding="utf-8")
    assert {model.standing.reason for model in library(folder=home)} == {"just now"}


def test_a_claim_is_what_it_is_called(home):
    edited(home)
    model = library_model(LAPLACE, home)
    assert model.claim == (Fraction("0.001"), Fraction("0.0010000001"))
    assert model.interval is None
