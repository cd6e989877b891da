"""The library's certificates, proved by the checker alone."""

import functools
import json
import re
import shutil
import subprocess
import sys

import dalenius as dl
from campaigns import draws
from libraries import HOME, MODELS, copy_model

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
