"""The command doctor."""

import json

import dalenius as dl
from dalenius.cli import installation
from dalenius.programs import solvers


def test_json_says_versions_solvers_and_what_was_proved(command_line, monkeypatch):
    monkeypatch.setattr(installation, "TRIED", ("parity/laplace-n4",))
    done = command_line("doctor", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["dalenius"] == dl.__version__
    assert told["solvers"].keys() == {*solvers.SOLVERS} - {"auto"}
    assert told["solvers"]["CLARABEL"] == {"usable": True, "reason": None}
    versions = {package["name"]: package["version"] for package in told["packages"]}
    assert all(versions[name] for name in ("numpy", "cvxpy", "clarabel", "python-flint"))
    (tried,) = told["self_test"]
    assert tried["proved"]
    assert tried["lower"] <= 0.0795415058653 <= tried["upper"]


def test_text_names_what_to_install_and_what_is_refused(command_line, monkeypatch):
    monkeypatch.setattr(installation, "TRIED", ())
    monkeypatch.setattr(
        solvers, "solver_states", lambda: {"MOSEK": "MOSEK is installed, but no licence works (err 1000)"}
    )
    monkeypatch.setattr(
        installation.metadata, "requires", lambda name: ["numpy>=2.0", 'no-such-package>=3; extra == "fast"', "gone>=1"]
    )
    said = command_line("doctor").stdout
    assert "optional             no-such-package is not installed (pip install 'dalenius[fast]')" in said
    assert "needed               gone is not installed (pip install 'gone>=1')" in said
    assert "solver               MOSEK: MOSEK is installed, but no licence works" in said


def test_a_proof_that_fails_is_a_status_and_one_line(command_line, monkeypatch):
    """A limit of nothing leaves a gap: so does whatever else is wrong."""
    monkeypatch.setattr(installation, "TRIED", ("parity/laplace-n4",))
    monkeypatch.setattr(dl, "verify", lambda problem, certificate: type("Verdict", (), {"proved": False})())
    done = command_line("doctor")
    assert done.returncode == 2
    assert "NOT PROVED" in done.stdout
    assert done.stderr.startswith("dalenius: doctor: this installation does not prove")
