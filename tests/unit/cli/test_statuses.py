"""How commands end: one table of exit statuses, one line for what is wrong, one JSON value for what is answered."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dalenius as dl
import dalenius_check
from dalenius.cli.statuses import ExitStatus

ROOT = Path(__file__).parents[3]
AUDIT = (ROOT / "models/parity/laplace-n4.toml").read_text()
DESIGN = (
    (ROOT / "models/design/parity-n4-leakage.toml").read_text().replace("max_distortion = 0.1", "max_distortion = 0.5")
)


@pytest.fixture
def models(tmp_path):
    """An audit and a design that take no time, and a library of the audit."""
    (tmp_path / "audit.toml").write_text(AUDIT)
    (tmp_path / "design.toml").write_text(DESIGN)
    (tmp_path / "home/parity").mkdir(parents=True)
    (tmp_path / "home/parity/one.toml").write_text(AUDIT)
    (tmp_path / "home/sets.toml").write_text('minimal = ["parity/one"]\n')
    return tmp_path


def test_the_help_has_the_table(command_line):
    told = " ".join(command_line("--help").stdout.split())
    for status in ExitStatus:
        assert f"{status.value}: {status.meaning}" in told


def test_the_page_of_results_has_the_table():
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", (ROOT / "docs" / "results.md").read_text(), re.MULTILINE)
    assert {int(number): meaning for number, meaning in rows} == {status.value: status.meaning for status in ExitStatus}


def test_the_checker_has_the_same_statuses():
    for status in dalenius_check.Status:
        name = {"proved": "DONE", "unreadable": "UNUSABLE"}.get(status.value, status.name)
        assert ExitStatus[name] == status.exit_code


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve"], "missing argument 'MODEL...'"),
        (["solve", "audit.toml", "--gap", "much"], "--gap"),
        (["solve", "audit.toml", "--speed", "9"], "--speed"),
        (["solve", "audit.toml", "--node-limit", "0"], "--node-limit"),
        (["solve", "audit.toml", "--require-gap", "-1"], "--require-gap"),
        (["solve", "audit.toml", "--require-gap", "nan"], "--require-gap"),
        (["sweep", "audit.toml"], "--output"),
        (["sweep", "audit.toml", "-o", "out", "--points", "1"], "--points"),
        (["sweep", "audit.toml", "-o", "out", "--gap", "nan"], "gap"),
        (["frontier", "design.toml", "-o", "out", "--time-limit", "-1"], "time_limit"),
        (["frobnicate"], "frobnicate"),
        (["library"], "missing command"),
        (["library", "submit"], "CERTIFICATE"),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, list) else None,
)
def test_what_is_wrong_is_one_line(models, command_line, arguments, message):
    """Also for the option parser, and nothing is made."""
    before = sorted(models.iterdir())
    done = command_line(*arguments)
    assert (done.returncode, done.stdout) == (ExitStatus.UNUSABLE, "")
    assert done.stderr.startswith("dalenius: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert sorted(models.iterdir()) == before


def test_without_a_command_there_is_help(command_line):
    done = command_line()
    assert done.returncode == 0
    assert "import-solution" in done.stdout


JSON = {
    "solve": ["solve", "audit.toml"],
    "solve, a design": ["solve", "design.toml", "--gap", "1e-1", "-o", "out"],
    "verify": ["verify", "parity/laplace-n4", ROOT / "models/parity/laplace-n4.cert"],
    "sweep": ["sweep", "audit.toml", "--points", "2", "-o", "out"],
    "frontier": ["frontier", "design.toml", "--budgets", "-1,0.5", "-o", "out"],
    "compare": ["compare", "audit.toml", "--methods", "paper-aggregated", "--budget", "0.05", "-o", "out"],
    "export": ["export", "audit.toml", "--program", "marginal", "-o", "marginal.json"],
    "what export offers": ["export", "audit.toml", "--program", "list"],
    "list": ["list", "--set", "minimal"],
    "tighten": ["library", "tighten", "--folder", "home"],
    "submit": ["library", "submit", ROOT / "models/parity/laplace-n4.cert", "--folder", "home"],
    "index": ["library", "index", "--folder", "home"],
}


@pytest.mark.parametrize("name", JSON)
def test_every_command_that_answers_has_json(models, command_line, name):
    """Exactly one value, that every reader of JSON takes, and nothing else on standard output."""

    def refused(number):
        raise ValueError(number)

    done = command_line(*JSON[name], "--json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    answer = json.loads(done.stdout, parse_constant=refused)
    assert answer
    for file in answer.get("files", []) if isinstance(answer, dict) else []:
        assert (models / file).exists()


def test_the_answers_of_a_sweep_say_which_certificate_proves_them(models, command_line):
    answer = json.loads(command_line("sweep", "audit.toml", "--points", "3", "-o", "out", "--json").stdout)
    assert [point["entropy_share"] for point in answer["points"]] == [0.0, 0.5, 1.0]
    for point in answer["points"]:
        claim = dl.Certificate.read(models / "out" / point["files"]["certificate"]).header.claim
        assert point["lower"] <= claim[0] <= claim[1] <= point["upper"]


def test_a_wider_gap_than_the_one_required_is_a_status_of_its_own(models, command_line):
    """The interval is printed and written all the same."""
    text = (
        AUDIT.replace('"parity"', '"count"').replace("laplace_threshold", "geometric").replace("count = 4", "count = 3")
    )
    (models / "open.toml").write_text(text)
    arguments = ["solve", "open.toml", "--node-limit", "1", "-o", "out", "--json", "--require-gap"]
    wide = command_line(*arguments, "1e-9")
    assert wide.returncode == ExitStatus.NOT_REACHED
    assert wide.stderr.startswith("dalenius: the relative gap is ")
    assert wide.stderr.count("\n") == 1
    answer = json.loads(wide.stdout)
    assert answer["gap"] > 1e-9
    assert (models / answer["certificate"]).exists()
    assert command_line(*arguments, str(answer["gap"])).returncode == 0


# ---------------------------------------------------------------- what cannot be printed

LOST = """
import gc, os, sys
from importlib import import_module

def ended(main, arguments, place):
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if place == "pipe":
        there, here = os.pipe()
        os.close(there)
    else:
        here = os.open(place, os.O_WRONLY)
    os.dup2(here, 1)
    sys.argv, sys.stdout = ["program", *arguments], open(1, "w", closefd=False)
    sys.exit(main())

programs = "dalenius.cli", "dalenius_check.__main__", "cvxcertify.check.__main__"
programs = {name: import_module(name).main for name in programs}
gc.freeze()  # or every child takes all that apart when it ends
for line in sys.stdin.read().splitlines():
    name, place, *arguments = line.split()
    print(ended(programs[name], arguments, place), flush=True)
"""
FILES = f"{ROOT / 'models/parity/laplace-n4.toml'} {ROOT / 'models/parity/laplace-n4.cert'}"
PRINTING = [
    f"dalenius.cli {{}} verify {FILES} --arithmetic=python",
    f"dalenius_check.__main__ {{}} {FILES} --arithmetic=python",
    "cvxcertify.check.__main__ {} --help",
    "dalenius.cli {} --version",
    "dalenius.cli {} list --set minimal --json --folder home",
]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a file that takes nothing")
def test_what_cannot_be_printed_is_one_rule_for_all_commands(models):
    """A pipe that nobody reads any more is a status of its own, as of programs that SIGPIPE ends; a full disk one line."""
    cases = [line.format(place) for line in PRINTING for place in ("pipe", "/dev/full")] + ["dalenius.cli pipe --help"]
    done = subprocess.run(
        [sys.executable, "-c", LOST], input="\n".join(cases), cwd=models, capture_output=True, text=True, check=False
    )
    statuses = dict(zip(cases, map(int, done.stdout.split()), strict=True))
    assert statuses == {case: ExitStatus.CLOSED if " pipe " in case else ExitStatus.UNUSABLE for case in cases}
    told = [line for line in done.stderr.splitlines() if "RequestsDependencyWarning" not in line]
    assert len(told) == len(PRINTING)
    assert all(line.endswith(": standard output: No space left on device") for line in told), told


# ---------------------------------------------------------------- files that cannot be used


@pytest.mark.parametrize(("program", "head"), [("dalenius.cli", ["verify"]), ("dalenius_check", [])])
@pytest.mark.parametrize("extra", [[], ["--json"]], ids=["text", "json"])
def test_what_a_verdict_cannot_use_is_one_line(models, command_line, program, head, extra):
    """On standard error, as of every command, and said once; in JSON a model that was read and is none has a verdict, too."""
    name = "dalenius" if head else "dalenius_check"
    (models / "none.toml").write_text("none")
    for files, missing in (
        (["audit.toml", "nothing.cert"], "nothing.cert: cannot be read: No such file or directory"),
        (["nothing.toml", "audit.toml"], "nothing.toml: cannot be read: No such file or directory"),
        (["audit.toml", "."], ".: cannot be read: not a regular file"),
        (["none.toml", "audit.toml"], "none.toml: the model is not TOML: "),
    ):
        done = command_line(*head, *files, *extra, program=program)
        assert done.returncode == ExitStatus.UNUSABLE
        assert done.stderr.startswith(f"{name}: {missing}")
        assert done.stderr.count("\n") == 1
        assert ("unreadable" in done.stdout) is (files[0] == "none.toml" and bool(extra))
    assert command_line(*head, "audit.toml", program=program).stderr.count("\n") == 1
    if head:
        (models / "broken.json").write_text('{"format":')
        done = command_line(*head, "broken.json", *extra, program=program)
        assert (done.returncode, done.stderr.count("\n")) == (ExitStatus.UNUSABLE, 1)
        assert done.stdout.count("\n") == len(extra)


def test_a_verdict_in_json(models, command_line):
    certificate = models / "wrong.cert"
    certificate.write_text((ROOT / "models/identity/bit.cert").read_text())
    done = command_line("verify", "audit.toml", certificate, "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == ExitStatus.REJECTED
    assert (answer["status"], answer["proved"], answer["lower"]) == ("rejected", False, None)
    assert "another model" in answer["reason"]
