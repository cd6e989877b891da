"""`dalenius release`: one output, its guarantee first, and nothing else about the data."""

import dataclasses
import json
import random
import re
import secrets
import subprocess
import sys
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path

import pytest

import dalenius as dl
import support
from campaigns import each, thinned
from dalenius.model import digest
from dalenius.studies import release as deciding
from dalenius.studies.release import LeakageBound, bound_of, need_households, read_letters

ROWS = [["0.9", "0.1"], ["0.1", "0.9"]]
MODEL = support.design(dl.MinLeakage, dl.Records(4, alphabet=2), dl.Parity(), dl.Hamming(), "0.1", "2.2")
PEOPLE = "name,smoker\nAnn,no\nBob,yes\nCid,yes\nDee,yes\n"
ARGUMENTS = ["--column", "smoker", "--letters", "no,yes"]


@pytest.fixture
def run(command_line, monkeypatch, tmp_path):
    """The command line in this process: exit status, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        done = command_line(*arguments)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def write(tmp_path):
    """A model, a mechanism and data in the current folder."""

    def write(problem=MODEL, mechanism=None, people=PEOPLE):
        (tmp_path / "model.toml").write_text(dl.dumps(problem))
        (MODEL.designed(ROWS) if mechanism is None else mechanism).save(tmp_path / "noise.json")
        (tmp_path / "people.csv").write_bytes(people if isinstance(people, bytes) else people.encode())

    return write


@pytest.fixture
def release(run):
    def release(*arguments, letters=ARGUMENTS):
        return run("release", "model.toml", "--mechanism", "noise.json", "--data", "people.csv", *letters, *arguments)

    return release


@pytest.fixture(scope="module")
def audit():
    return dl.solve(MODEL.release(ROWS), gap=1e-3, time_limit=10)


@pytest.fixture(scope="module")
def design():
    return dl.solve(MODEL, gap=1e-2, time_limit=10)


def draws(monkeypatch, number):
    """The operating system's entropy is this number, from now on."""
    monkeypatch.setattr(secrets, "randbelow", lambda below: min(number, below - 1))


# ---------------------------------------------------------------- what is printed


def test_the_output_and_the_guarantee(write, release, monkeypatch):
    write()
    draws(monkeypatch, 0)
    status, output, errors = release()
    assert (status, errors) == (0, "")
    lines = dict(re.split(r"  +", line, maxsplit=1) for line in output.splitlines())
    assert lines["output"] == "0"
    bits, nats, most = map(float, re.findall(r"[0-9.]+(?= nats| bits?)", lines["leakage"]))
    assert 0.3246 < nats < 0.3250
    assert most == 1
    assert nats / 0.6931472 <= bits + 1e-5
    assert (
        lines["to"] == "any adversary whose prior on the datasets has an entropy of at least 2.2 nats = 3.173 bits of 4"
    )
    assert lines["proved"] == "by the independent checker, just now"
    assert lines["expected distortion"] == "0.1, within the budget 0.1"
    assert "every further release" in lines["valid for"]


@pytest.mark.parametrize("number", [0, 8, 9])
def test_the_mechanism_decides(write, release, monkeypatch, number):
    """Three of four smoke: the parity is 1, its row (1, 9)/10."""
    write()
    draws(monkeypatch, number)
    assert json.loads(release("--json")[1])["output"] == (0 if number == 0 else 1)


def test_json(write, release, audit):
    write()
    audit.certificate.write("noise.cert")
    status, output, errors = release("--json")
    assert (status, errors, output.count("\n")) == (0, "", 1)
    answer = json.loads(output)
    assert set(answer) == {
        *("answer", "command", "bounds"),
        *(
            "output",
            "cells",
            "meaning",
            "letters",
            "model",
            "model_digest",
            "mechanism",
            "mechanism_digest",
            "certificate",
            "leakage_nats",
            "leakage_bits",
            "adversary",
            "proved",
        ),
        *(
            "leakage_within_budget",
            "at_most_met",
            "distortion",
            "max_distortion",
            "distortion_within_budget",
            "simulation",
            "households_compared",
        ),
    }
    assert answer["output"] in (0, 1)
    assert answer["leakage_nats"] == audit.upper
    assert answer["leakage_bits"] == audit.to("bits").upper
    assert (answer["certificate"], answer["proved"], answer["simulation"]) == ("noise.cert", True, False)
    assert (answer["distortion"], answer["max_distortion"], answer["distortion_within_budget"]) == ("0.1", "0.1", True)
    assert answer["leakage_within_budget"] is None
    assert answer["model_digest"] == digest(MODEL)
    assert answer["mechanism_digest"] == audit.certificate.header.model, "that of NAME.mechanism.toml"


@each(
    "query, mechanism, letters, meaning",
    ("count", "geometric 1", "no,yes", "how many of them have yes in smoker"),
    ("count", "geometric 1", "yes,no", "how many of them have no in smoker"),
    ("histogram", "geometric 1", "no,yes", "how many of them have each value of smoker: no: {}, yes: {}"),
    ("parity", "symmetric flip = 0.1", "no,yes", "whether an odd number of them are 1; in smoker 0 = no, 1 = yes"),
)
def test_the_output_says_what_of_the_table_was_counted(write, run, query, mechanism, letters, meaning):
    """Else letters in another order than those of the audit would publish the count of the others, and nobody would see it."""
    write(
        dl.WorstCaseLeakage(records=MODEL.records, query=query, mechanism=mechanism, adversary=dl.IndependentBlocks(1))
    )
    options = ["release", "model.toml", "--data", "people.csv", "--column", "smoker", "--letters", letters]
    status, output, errors = run(*options)
    assert (status, errors) == (0, "")
    lines = dict(re.split(r"  +", line, maxsplit=1) for line in output.splitlines())
    shown = json.loads(lines["output"])
    assert lines["which is"] == meaning.format(*(shown if isinstance(shown, list) else []))
    answer = json.loads(run(*options, "--json")[1])
    assert answer["meaning"].partition(":")[0] == meaning.partition(":")[0]
    assert answer["letters"] == letters.split(",")
    assert answer["cells"] == (letters.split(",") if query == "histogram" else None)


SECRET = 718_281


@pytest.mark.parametrize("as_json", thinned([["--json"], []], every=2))
@pytest.mark.parametrize("inputs", thinned(["query", "dataset"], every=2))
def test_the_true_value_is_nowhere(write, release, as_json, inputs):
    """A value and a dataset index with digits that nothing else has; the mechanism always says `fog`."""
    if inputs == "query":
        records, query = dl.Records(4, alphabet=2), dl.Sum([[0, 618_034], [0, 0], [0, 0], [0, 100_247]])
        mechanism = dl.DesignedMechanism([[1]] * 4, values=[0, 100_247, 618_034, SECRET], outputs=["fog"])
        people, secret = "x\n1\n0\n0\n1\n", str(SECRET)
    else:
        records, query = dl.Records(2, alphabet=97), dl.Identity()
        mechanism = dl.DesignedMechanism([[1]] * 97**2, inputs="dataset", outputs=["fog"])
        people, secret = "x\n83\n91\n", str(83 * 97 + 91)
    write(
        dl.WorstCaseLeakage(records=records, query=query, mechanism=mechanism, adversary=dl.EntropyAtLeast("0.5 max")),
        mechanism,
        people,
    )
    status, output, errors = release(*as_json, letters=[])
    assert status == 0, errors
    assert "fog" in output
    assert secret not in output + errors


def test_labels_are_printed_as_they_are(write, release):
    write(mechanism=dl.DesignedMechanism([[1, 0], [1, 0]], outputs=[":smile: [red]é", "b"]))
    status, output, _ = release("--despite-budget")
    assert status == 0
    assert output.splitlines()[0] == "output               :smile: [red]é"


def test_a_seed_is_a_simulation_and_says_so(write, release):
    write()
    first, second = (release("--seed", "7") for _ in range(2))
    assert first == second
    status, output, errors = first
    assert status == 0
    assert output.startswith("SIMULATION")
    assert errors.startswith("WARNING: --seed makes the output predictable")
    assert json.loads(release("--seed", "7", "--json")[1])["simulation"]
    assert release("--seed", "-1")[0] == 2


def test_without_a_seed_no_generator_is_asked(write, release, monkeypatch):
    """Every number comes from `secrets.randbelow`, below the row's common denominator."""
    asked = []
    monkeypatch.setattr(secrets, "randbelow", lambda below: asked.append(below) or 0)
    write()
    assert release()[0] == 0
    assert asked == [10]


@pytest.mark.thorough
def test_in_a_process_of_its_own(write, tmp_path):
    write()
    command = [sys.executable, "-m", "dalenius.cli", "release", "model.toml", "--mechanism", "noise.json", "--data"]
    told = subprocess.run(
        [*command, "people.csv", *ARGUMENTS], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert told.returncode == 0, told.stderr
    assert re.match("output +[01]\n", told.stdout)


# ---------------------------------------------------------------- without a command line


def test_the_library_releases(audit):
    found = dl.release(MODEL, MODEL.designed(ROWS), [0, 1, 1, 1], certificate=audit.certificate)
    assert found.output in (0, 1)
    assert (found.leakage.nats, found.leakage.bits) == (audit.upper, audit.to("bits").upper)
    assert (found.distortion, found.max_distortion, found.within_distortion_budget) == (
        Fraction(1, 10),
        Fraction(1, 10),
        True,
    )
    assert (found.certificate, found.audited, found.simulation) == (audit.certificate, False, False)
    assert "entropy of at least 2.2 nats" in found.adversary


def test_what_is_handed_in_to_be_seen_is_all_that_is_shown(audit):
    """The outputs of both inputs are one and the same: then the texts are, too."""
    mechanism = MODEL.designed([[1, 0], [1, 0]])
    even, odd = (dl.release(MODEL, mechanism, letters, despite_budget=True) for letters in ([0, 0, 0, 0], [1, 0, 0, 0]))
    assert str(even) == str(odd)
    assert repr(even) == repr(odd)


def test_a_generator_makes_a_simulation():
    mechanism = MODEL.designed(ROWS)
    first, second = (dl.release(MODEL, mechanism, [0, 1, 1, 1], rng=random.Random(5)) for _ in range(2))
    assert first.output == second.output
    assert first.simulation
    assert str(first).startswith("SIMULATION")
    assert first.audited


def test_data_is_looked_at_after_the_proof_only(audit):
    def letters():
        raise AssertionError("nobody may look at the data")

    mechanism = MODEL.designed(ROWS)
    weak = audit.certificate.text.replace(audit.certificate.header.upper, "0.3")
    with pytest.raises(dl.errors.NotProvedError, match="nothing is released") as caught:
        dl.release(MODEL, mechanism, letters, certificate=dl.Certificate(weak))
    assert (caught.value.status, caught.value.exit_code) == ("rejected", 1)
    support.refused(lambda: dl.release(MODEL, dl.DesignedMechanism([[1, 0]] * 3), letters), "rows belong")
    with pytest.raises(AssertionError, match="nobody may look"):
        dl.release(MODEL, mechanism, letters, certificate=audit.certificate)


def test_a_certificate_of_another_mechanism(design):
    other = MODEL.designed([["0.95", "0.05"], ["0.05", "0.95"]])
    with pytest.raises(dl.errors.NotProvedError, match="another mechanism") as caught:
        dl.release(MODEL, other, [0, 0, 0, 0], certificate=design.certificate)
    assert caught.value.exit_code == 2


@each("letters", [0, 1], [0, 1, 2, 0], [0, 1, 0, None], "0101", 5)
def test_letters_that_do_not_fit(audit, letters):
    support.refused(lambda: dl.release(MODEL, MODEL.designed(ROWS), letters, certificate=audit.certificate))


def test_arguments_of_release(audit):
    mechanism = MODEL.designed(ROWS)
    for arguments, words in (
        (("model.toml", mechanism, [0] * 4), "problem: "),
        ((MODEL, dl.Channel(ROWS), [0] * 4), "mechanism: "),
    ):
        with pytest.raises(dl.errors.InputError, match=words):
            dl.release(*arguments, certificate=audit.certificate)
    support.refused(lambda: dl.release(MODEL, mechanism, [0] * 4, certificate=5), "certificate: ")
    support.refused(lambda: dl.release(MODEL, mechanism, [0] * 4, certificate=audit.certificate, rng=5), "rng: ")


# ---------------------------------------------------------------- certificates


def test_the_designs_own_certificate_will_do(write, release, design):
    write(mechanism=design.mechanism)
    design.certificate.write("noise.cert")
    answer = json.loads(release("--json")[1])
    assert answer["leakage_nats"] == design.upper
    assert answer["certificate"] == "noise.cert"
    Path("noise.cert").unlink()
    design.audit.certificate.write("noise.cert.gz")
    answer = json.loads(release("--json")[1])
    assert (answer["leakage_nats"], answer["certificate"]) == (design.audit.upper, "noise.cert.gz")
    Path("noise.cert.gz").rename("other.cert")
    answer = json.loads(release("--json", "--certificate", "other.cert")[1])
    assert answer["leakage_nats"] == design.audit.upper


def test_a_designs_certificate_is_about_its_own_mechanism(write, release, design):
    write(mechanism=MODEL.designed([["0.95", "0.05"], ["0.05", "0.95"]]))
    design.certificate.write("noise.cert")
    status, output, errors = release()
    assert (status, output) == (2, "")
    assert errors == "dalenius: noise.cert: the certificate of the design is about another mechanism than this one\n"


def test_certificates_that_prove_nothing(write, release, audit):
    write()
    audit.certificate.write("noise.cert")
    text = audit.certificate.text
    upper = audit.certificate.header.upper
    other = dl.solve(MODEL.release([["0.8", "0.2"], ["0.2", "0.8"]]), time_limit=5).certificate.text
    for content, status in (
        (text.replace(f'"upper":"{upper}"', '"upper":"0.3"'), 1),
        (other, 1),
        ("", 1),
        ("[]\n", 1),
        ('{"problem": "min_leakage"}\n', 1),
        ("[" * 100_000, 1),
        ("é", 2),
    ):
        with open("noise.cert", "w", encoding="utf-8") as file:
            file.write(content)
        found = release("--json")
        assert found[:2] == (status, "")
        assert found[2].startswith("dalenius: noise.cert: ")
        assert found[2].count("\n") == 1
    assert release("--certificate", "missing.cert")[:2] == (2, "")


def test_an_audit_that_is_stopped_releases_nothing(write, release, monkeypatch, audit):
    write()
    stopped = dataclasses.replace(audit, termination=dl.answers.Termination.INTERRUPTED)
    monkeypatch.setattr(deciding, "solve", lambda *arguments, **more: stopped)
    assert release()[:2] == (130, "")


def test_the_time_limit_reaches_the_audit(write, release, monkeypatch, audit):
    seen = []
    monkeypatch.setattr(deciding, "solve", lambda problem, **more: seen.append(more["time_limit"]) or audit)
    write()
    assert release("--time-limit", "3")[0] == 0
    assert release()[0] == 0
    assert seen == [3.0, 30.0]


def test_a_bad_time_limit(write, release):
    write()
    assert release("--time-limit", "0")[:2] == (2, "")


# ---------------------------------------------------------------- budgets


WIDE = [["0.9", "0.1"], ["0.10000000000000000002", "0.89999999999999999998"]]


def nobody(*_):
    pytest.fail("nobody may look at the data, and nothing is sampled")


def budgeted(budget):
    return support.design(dl.MinDistortion, MODEL.records, MODEL.query, MODEL.distortion, budget, MODEL.adversary)


@pytest.mark.parametrize(
    ("problem", "rows", "missing"),
    [
        (MODEL, WIDE, "the expected distortion, 0.100001, is above the budget 0.1"),
        (
            budgeted("0.3 nats"),
            ROWS,
            "the budget of leakage, 0.3 nats = 0.4329 bits, is not proved to be met, only at most 0.468",
        ),
    ],
    ids=["distortion", "leakage"],
)
def test_what_does_not_keep_its_budget_is_not_released(write, release, tmp_path, monkeypatch, problem, rows, missing):
    """A release cannot be taken back: nothing is sampled, and the data is not even there to be looked at."""
    mechanism = MODEL.designed(rows)
    write(problem, mechanism)
    dl.solve(problem.release(rows), gap=1e-3).certificate.write("noise.cert")
    (tmp_path / "people.csv").unlink()
    monkeypatch.setattr(secrets, "randbelow", nobody)
    status, output, errors = release()
    assert (status, output) == (5, "")
    assert errors.startswith("dalenius: noise.json: ")
    assert missing in errors
    assert errors.endswith("or release despite the budget (--despite-budget, despite_budget=True)\n")
    assert errors.count("\n") == 1
    with pytest.raises(dl.errors.NotProvedError, match="nothing is released") as caught:
        dl.release(problem, mechanism, nobody)
    assert (caught.value.status, caught.value.exit_code) == ("budget not met", 5)


def test_distortion_above_the_budget_is_said_exactly(write, release):
    write(mechanism=MODEL.designed(WIDE))
    status, output, _ = release("--despite-budget")
    assert status == 0
    assert "expected distortion  0.100001, ABOVE the budget 0.1" in output
    assert json.loads(release("--json", "--despite-budget")[1])["distortion_within_budget"] is False


@pytest.mark.parametrize(
    ("budget", "met"), [("0.4 nats", True), ("0.3 nats", False), ("0.5 bits", True), ("0.4 bits", False)]
)
def test_budgets_of_leakage(write, release, budget, met):
    write(budgeted(budget))
    assert release()[0] == (0 if met else 5)
    status, output, _ = release("--despite-budget")
    assert status == 0
    assert re.search("^leakage budget +" + ("met$" if met else "NOT PROVED to be met$"), output, re.MULTILINE)
    assert re.search("^expected distortion +0.1$", output, re.MULTILINE)


@each("at_most", "0.3 nats", "0.4 bits", "0")
def test_more_than_at_most_is_not_released(write, release, monkeypatch, at_most):
    """Before the data is looked at, and with no budget in the model; --despite-budget is about the model's."""
    write()
    monkeypatch.setattr(deciding, "_drawn", nobody)
    monkeypatch.setattr(deciding, "read_letters", nobody)
    status, output, errors = release("--at-most", at_most, "--despite-budget")
    assert (status, output, errors.count("\n")) == (6, "", 1)
    assert re.match(r"dalenius: noise.json: at most 0.468\d+ bits .* is proved, and --at-most .* allows 0", errors)


@each("at_most, met", ("0.3251 nats", True), ("0.469 bits", True), ("0.3", False), ("0.3 apples", False))
def test_what_is_within_at_most_is_released(write, release, at_most, met):
    write()
    status, output, errors = release("--at-most", at_most)
    assert (status, bool(output)) == ((0, True) if met else (2, False)), errors


def test_a_bound_in_bits_is_within_the_same_bound():
    """In nats it was rounded upward, and is above it."""
    third = LeakageBound(0.20794415416798362, 0.3)
    assert third.is_at_most(Fraction(0.3), "bits")
    assert not third.is_at_most(Fraction(0.299999), "bits")


@pytest.mark.parametrize("units", ["nats", "bits"])
def test_a_least_distortions_certificate_proves_its_budget(units):
    problem = support.design(
        dl.MinDistortion, MODEL.records, MODEL.query, MODEL.distortion, f"0.3 {units}", MODEL.adversary
    )
    result = dl.solve(problem, gap=1e-2, time_limit=10)
    verdict = dl.verify(problem, result.certificate)
    assert verdict.proved
    bound = bound_of(problem, result.mechanism, verdict.upper, result.certificate)
    assert bound.within_budget
    assert (bound.nats if units == "nats" else bound.bits) == pytest.approx(0.3, rel=1e-15)
    assert bound.bits * 0.6931471805599453 == pytest.approx(bound.nats, rel=1e-14)
    assert Fraction(bound.nats if units == "nats" else bound.bits) >= Fraction(3, 10)


# ---------------------------------------------------------------- what does not fit, before the data is looked at


LIBRARY = support.problem(dl.Records(4, alphabet=2), dl.Parity(), dl.laplace_threshold(1), 1)
UNFIT = {
    "dataset inputs": (MODEL, dl.DesignedMechanism([[1, 0]] * 16, inputs="dataset")),
    "3 query values from 0 to 2, the model has 2": (MODEL, dl.DesignedMechanism([[1, 0]] * 3)),
    "the first that differ are 2 and 1": (MODEL, dl.DesignedMechanism(ROWS, values=[0, 2])),
    "each of the 2 outputs": (MODEL, dl.DesignedMechanism([[1], [1]])),
    "expected 1, got 2": (MODEL, dl.DesignedMechanism(ROWS, outputs=[0, 2])),
    "4 query values from 0 to 3, the model has 2": (LIBRARY, dl.DesignedMechanism([[1]] * 4)),
    "4 datasets from 0 to 3, the model has 16": (LIBRARY, dl.DesignedMechanism([[1]] * 4, inputs="dataset")),
}


@pytest.mark.parametrize("message", UNFIT)
def test_mechanisms_that_do_not_fit(write, release, tmp_path, message):
    write(*UNFIT[message])
    (tmp_path / "people.csv").unlink()
    status, output, errors = release()
    assert (status, output) == (2, "")
    assert errors.startswith("dalenius: noise.json: mechanism: ")
    assert message in errors
    assert errors.count("\n") == 1


def test_a_model_of_leakage_takes_a_mechanism_for_its_query(write, release):
    write(LIBRARY, dl.DesignedMechanism(ROWS, outputs=["even", "odd"]))
    answer = json.loads(release("--json")[1])
    assert answer["output"] in ("even", "odd")
    assert (answer["distortion"], answer["leakage_within_budget"]) == (None, None)
    assert answer["mechanism_digest"] == digest(dataclasses.replace(LIBRARY, mechanism=dl.Channel(ROWS)))


def test_files_that_are_none(write, release, run):
    write()
    for bad in (
        ["nothing.toml", "--mechanism", "noise.json"],
        ["noise.json", "--mechanism", "noise.json"],
        ["model.toml", "--mechanism", "model.toml"],
        ["model.toml", "--mechanism", "nothing.json"],
    ):
        status, output, errors = run("release", *bad, "--data", "people.csv", *ARGUMENTS)
        assert (status, output) == (2, "")
        assert errors.startswith(f"dalenius: {bad[0] if bad[0] != 'model.toml' else bad[2]}: ")
    assert run("release", "model.toml", "--data", "people.csv")[0] == 2


# ---------------------------------------------------------------- the data


CSV = {
    "line 4: the entry (not shown) is none of record 2's letters, ['no', 'yes']": PEOPLE.replace("Cid,yes", "Cid,Yess"),
    "line 3: the entry (not shown)": PEOPLE.replace("Bob,yes", "Bob, yes"),
    "line 6: one record too many; the model has 4": PEOPLE + "Eve,no\n",
    "ends after 3 records; the model has 4": PEOPLE.replace("Dee,yes\n", "\n"),
    "ends after 0 records": "smoker\n",
    "line 3 is empty": PEOPLE.replace("Bob", "\nBob"),
    "line 3: expected 2 entries, got 1": PEOPLE.replace("Bob,yes", "Bob"),
    "line 1 names no column 'smoker'": PEOPLE.replace("smoker", "smokes"),
    "line 1 names no column": "",
    "line 1 names more than one column": PEOPLE.replace("name", "smoker"),
    "not in UTF-8": b"smoker\n\xff\n",
    "line 2: ": 'smoker\n"no\n',
}


@pytest.mark.parametrize("message", CSV)
def test_data_that_cannot_be_read(write, release, audit, message):
    write(people=CSV[message])
    audit.certificate.write("noise.cert")
    status, output, errors = release()
    assert (status, output) == (2, "")
    assert errors.startswith("dalenius: people.csv: ")
    assert message in errors
    assert "Yess" not in errors


def test_files_of_data(write, release, audit, tmp_path):
    write()
    audit.certificate.write("noise.cert")
    assert "2 columns, not one" in release(letters=["--letters", "no,yes"])[2]
    (tmp_path / "people.csv").write_text("x\r\n0\r\n1\r\n1\r\n1\r\n\r\n\r\n")
    assert release(letters=[])[0] == 0
    (tmp_path / "people.csv").write_text('x\n"a,b"\nc\nc\nc\n')
    assert release(letters=["--letters", '"a,b",c'])[0] == 0
    (tmp_path / "people.csv").write_text("no\nyes\nno\nno\nno\n")
    assert "line 1 holds an entry (not shown)" in release(letters=["--letters", "no,yes"])[2]
    (tmp_path / "people.csv").unlink()
    assert "people.csv: cannot be read" in release()[2]


@pytest.mark.parametrize("letters", ["no", "no,yes,maybe", "no,no", "", '"no', "no\nyes"])
def test_bad_letters(write, release, letters):
    write()
    status, output, errors = release(letters=["--column", "smoker", "--letters", letters])
    assert (status, output) == (2, "")
    assert "letters: " in errors


def test_texts_without_letters_name_the_option(write, release):
    write()
    assert "['0', '1']; --letters (texts) says" in release(letters=["--column", "smoker"])[2]
    assert "--letters" not in release(letters=["--column", "smoker", "--letters", "nein,ja"])[2]


def test_letters_of_records_with_alphabets_of_their_own(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x\n1\n2\n0\n")
    assert read_letters(path, dl.Records(alphabets=[2, 3, 1])) == [1, 2, 0]
    with pytest.raises(dl.errors.InputError, match=r"line 3: .* record 1's letters, \['0', '1'\]"):
        read_letters(path, dl.Records(alphabets=[2, 2, 3]))


@each(
    "adversary, homes, fit",
    (dl.IndependentBlocks(3), "aabb", True),
    (dl.IndependentBlocks(3), "aaaa", False),
    (dl.IndependentBlocks(sizes=[1, 3]), "abbb", True),
    (dl.IndependentBlocks(sizes=[1, 3]), "abac", True),
    (dl.IndependentBlocks(sizes=[1, 3], entropy_at_least="0.5 max"), "aaba", True),
    (dl.IndependentBlocks(sizes=[1, 3], entropy_at_least="0.5 max"), "abac", False),
    (dl.ProductPriors(), "abac", False),
    (dl.EntropyAtLeast(0), "abcd", False),
)
def test_households_that_are_larger_than_the_model_s_are_refused(adversary, homes, fit, tmp_path):
    """An entropy of the own household is about its very size."""
    (path := tmp_path / "x.csv").write_text("home\n" + "\n".join(homes))
    count = support.problem(dl.Records(4, alphabet=2), dl.Count(), dl.geometric(1), adversary)
    with nullcontext() if fit else pytest.raises(dl.errors.InputError, match="household"):
        need_households(path, "home", count)


# ---------------------------------------------------------------- numbers


def test_a_bound_in_nats_is_one_in_bits():
    problem, certificate = LIBRARY, dl.Certificate("{}\n")
    assert bound_of(problem, dl.DesignedMechanism(ROWS), Fraction(0), certificate) == LeakageBound(0.0, 0.0, None)
    third = bound_of(problem, dl.DesignedMechanism(ROWS), Fraction(1, 3), certificate)
    assert Fraction(third.nats) >= Fraction(1, 3)
    assert third.bits == pytest.approx(0.4808983469629878, rel=1e-14)
