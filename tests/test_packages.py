"""The three packages, built from a clone without an index, each alone in an environment that has nothing else."""

import json
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {"dalenius_check": "src/dalenius_check", "cvxcertify": "src/cvxcertify", "dalenius": "."}
FILES = [str(ROOT / "models" / "parity" / f"laplace-n4.{ending}") for ending in ("toml", "cert")]
OFFLINE = ("--no-index", "--no-deps", "--quiet", "--disable-pip-version-check")


def run(*words, **options):
    return subprocess.run([*map(str, words)], check=True, capture_output=True, text=True, timeout=300, **options).stdout


def pip(*words):
    return run(sys.executable, "-m", "pip", *words)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    for backend in ("hatchling", "hatch_fancy_pypi_readme"):
        pytest.importorskip(backend, reason="needs what builds the packages: make")
    made = tmp_path_factory.mktemp("wheels")
    for folder in FOLDERS.values():
        pip("wheel", *OFFLINE, "--no-build-isolation", "--wheel-dir", made, ROOT / folder)
    return {name: next(made.glob(f"{name}-*.whl")) for name in FOLDERS}


@pytest.fixture
def environment(tmp_path, wheels):
    """Make an environment of these packages alone, or beside what the others stand on, and give its python."""

    def make(*names, needs=False):
        home = tmp_path / "-".join(names)
        venv.create(home, symlinks=True)
        python = home / "bin" / "python"
        pip("--python", python, "install", *OFFLINE, *(wheels[name] for name in names))
        if needs:  # a path, not a site: whatever is installed there as an editable checkout stays unseen
            site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
            (site / "needs.pth").write_text(sysconfig.get_path("purelib"))
        return python

    return make


def told(python, *words, cwd):
    """What it prints, in a folder that has no packages."""
    return run(python, "-I", *words, cwd=cwd)


def contents(wheel):
    with ZipFile(wheel) as file:
        return {name: file.read(name) for name in file.namelist() if ".dist-info/" not in name}


@pytest.mark.thorough
def test_no_two_packages_share_a_file(wheels):
    checker, certifier, everything = (contents(wheels[name]) for name in FOLDERS)
    assert {name.split("/")[0] for name in checker} == {"dalenius_check"}
    assert {name.split("/")[0] for name in certifier} == {"cvxcertify"}
    own = {name.split("/")[0] for name in everything}
    assert own == {"dalenius_check", "cvxcertify", "dalenius", "dalenius_command"}
    for part in (checker, certifier):
        assert part.items() <= everything.items()
        (folder,) = {name.split("/")[0] for name in part}
        assert part.keys() == {name for name in everything if name.startswith(f"{folder}/")}
    there = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert there <= everything.keys()


@pytest.mark.thorough
def test_an_auditor_installs_the_checker_and_nothing_else(environment, tmp_path):
    python = environment("dalenius_check")
    assert told(python, "-m", "dalenius_check", *FILES, cwd=tmp_path).startswith("proved: ")
    names = "from importlib.metadata import distributions as d; print(*(each.name for each in d()))"
    assert told(python, "-c", names, cwd=tmp_path).split() == ["dalenius-check"]


@pytest.mark.thorough
def test_the_certifier_needs_nothing_of_dalenius(environment, tmp_path):
    python = environment("dalenius_check", "cvxcertify", needs=True)
    code = """
import sys
import cvxpy as cp
from cvxcertify import certify
x = cp.Variable(3)
found = certify(cp.Problem(cp.Minimize(cp.norm(x)), [cp.sum(x) == 3]))
found.write("interval.json")
print(found.lower <= 3**0.5 <= found.upper, found.gap <= 1e-8, *(name for name in sys.modules if name == "dalenius"))
"""
    assert told(python, "-c", code, cwd=tmp_path).split() == ["True", "True"]
    alone = environment("cvxcertify", "dalenius_check")  # without numpy and cvxpy
    assert told(alone, "-m", "cvxcertify.check", "interval.json", cwd=tmp_path).startswith("proved: ")


@pytest.mark.thorough
def test_the_whole_is_installed_by_itself(environment, tmp_path):
    python = environment("dalenius", needs=True)
    verdict = json.loads(told(python, "-m", "dalenius_command", "verify", *FILES, "--json", cwd=tmp_path))
    assert verdict["status"] == "proved"
    code = """
import dalenius as dl, dalenius.programs as programs, cvxpy as cp, sys
x = cp.Variable()
print(dl.load("parity/laplace-n4").kind, programs.certify(cp.Problem(cp.Minimize(x), [x >= 1])).lower, dl.__file__)
"""
    kind, lower, file = told(python, "-c", code, cwd=tmp_path).split()
    assert (kind, float(lower)) == ("maximal_leakage", 1.0)
    assert Path(file).is_relative_to(tmp_path)
    assert (python.parent / "dalenius").exists()


def test_the_packages_have_one_version_and_the_needs_of_the_whole():
    projects = {
        name: tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        for name, folder in FOLDERS.items()
    }
    assert len({project["version"] for project in projects.values()}) == 1
    said = f"version: {projects['dalenius']['version']}\n", f"## {projects['dalenius']['version']}"
    assert all(
        text in (ROOT / file).read_text() for file, text in zip(("CITATION.cff", "CHANGELOG.md"), said, strict=True)
    )
    whole = set(projects["dalenius"]["dependencies"])
    version = projects["dalenius"]["version"]
    assert set(projects["cvxcertify"]["dependencies"]) <= whole | {f"dalenius-check=={version}"}
    assert set(projects["dalenius_check"]["optional-dependencies"]["flint"]) <= whole
