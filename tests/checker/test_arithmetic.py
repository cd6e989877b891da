"""Two arithmetics behind one checker: they end alike, one of them needs nothing installed, and a check says which it had."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import cases
import dalenius_check
from campaigns import draws, each
from dalenius_check import Status, check
from dalenius_check.__main__ import main
from dalenius_check.core.arithmetic import choose, chosen, using
from dalenius_check.core.model import parse_model

CORPUS = cases.cases()
SOURCE = Path(dalenius_check.__file__).parent.parent
BLOCKED = """
import importlib.abc, sys
class Guard(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"flint", "dalenius", "numpy", "scipy", "cvxpy", "clarabel", "mpmath", "sympy", "gmpy2"}:
            raise ImportError(name + " is out of bounds")
sys.meta_path.insert(0, Guard())
sys.path.insert(0, sys.argv.pop(1))
from dalenius_check.__main__ import main
code = main(sys.argv[1:])
roots = {name.split(".")[0] for name in sys.modules}
print("extra", *sorted(r for r in roots - set(sys.stdlib_module_names) if not r.startswith("__")))
sys.exit(code)
"""


@pytest.fixture
def files(tmp_path):
    """Paths of a model with an epsilon and of its certificate."""
    (tmp_path / "model.toml").write_bytes(CORPUS["parity_output"].model)
    (tmp_path / "proof.cert").write_bytes(CORPUS["parity_output"].certificate)
    return str(tmp_path / "model.toml"), str(tmp_path / "proof.cert")


def bare(*arguments):
    """The checker in a process that has the standard library and nothing else."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", BLOCKED, str(SOURCE), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ.get("PATH", "")},
    )


def test_a_proof_needs_nothing_installed(files):
    done = bare(*files)
    assert done.returncode == 0, done.stdout + done.stderr
    *statement, extra = done.stdout.splitlines()
    assert statement[0].startswith("proved: 0.0795415058")
    own = "arithmetic: the checker's own, in the standard library alone"
    assert f"{own}, because python-flint is not installed" in statement
    assert extra.split() == ["extra", "dalenius_check"]
    assert done.stderr == ""


def test_an_arithmetic_that_is_not_there_is_said_in_one_line(files):
    done = bare(*files, "--arithmetic", "flint")
    assert done.returncode == 2
    assert "arithmetic: flint is not there (flint is out of bounds); install python-flint, or use python" in done.stderr
    assert "Traceback" not in done.stderr
    with pytest.raises(ValueError, match="expected one of auto, flint, python, got 'decimal'"):
        check(b"", b"", arithmetic="decimal")


def test_a_check_says_what_it_computed_with(files, capsys):
    words = {
        "auto": "python-flint ",
        "flint": "python-flint ",
        "python": "the checker's own, in the standard library alone",
    }
    for name, text in words.items():
        assert main([*files, "--arithmetic", name]) == 0
        (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("arithmetic: "))
        assert line.startswith(f"arithmetic: {text}")
        assert "because" not in line


def test_the_checkers_own_arithmetic_does_without_the_other(files):
    """Where python-flint is installed, too, it is not even loaded."""
    code = (
        "import sys; from dalenius_check.__main__ import main; code = main(sys.argv[1:]); "
        "sys.exit(code or 'flint' in sys.modules)"
    )
    command = [sys.executable, "-c", code, *files, "--arithmetic", "python", "--quiet"]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(SOURCE)})


def test_the_choice_is_the_checks_own():
    """Not left behind, and not seen by another thread."""
    case = CORPUS["parity_output"]
    for _ in range(2):
        check(*case.files, arithmetic="python")
        assert chosen().words.startswith("python-flint")
    with using(choose("python")), chosen().workprec(77), ThreadPoolExecutor() as pool:
        assert pool.submit(lambda: chosen().words).result().startswith("python-flint")
        assert pool.submit(lambda: check(*case.files, arithmetic="flint")).result().proved
        assert chosen().precision() == 77
    names = ["python", "flint"] * 4
    with ThreadPoolExecutor(4) as pool:
        verdicts = list(pool.map(lambda name: check(*case.files, arithmetic=name), names))
    for name, verdict in zip(names, verdicts, strict=True):
        assert verdict.proved
        assert any(line.startswith(f"arithmetic: {choose(name).words}") for line in verdict.lines)


def test_the_corpus_ends_alike_by_both():
    """Every case, in the same words but for the bits: balls of one may be some units wider. A thin draw daily."""
    proved = 0
    for case in list(CORPUS.values())[:: draws(14, 1)]:
        both = [check(*case.files, resolved=case.resolved, arithmetic=name) for name in ("flint", "python")]
        assert both[1].exit_code == case.status, (case.name, both[1].reason)
        assert case.reason in both[1].reason
        assert both[0].exit_code == both[1].exit_code
        assert (both[0].lower, both[0].upper) == (both[1].lower, both[1].upper)
        if both[0].status is Status.PROVED:
            said = [[line for line in v.lines if not line.startswith(("arithmetic", "precision"))] for v in both]
            assert said[0] == said[1], case.name
            proved += 1
    assert proved > draws(10, 170)


def test_digests_are_the_same_by_both():
    for case in list(CORPUS.values())[:: draws(9, 1)]:
        if case.status != 2:
            with using(choose("python")):
                own = parse_model(case.model)
            assert own.digest == parse_model(case.model).digest


@each("mu", "1e-3", "1e-30", "1e-300", "1")
def test_entries_of_1e_300_and_small_multipliers_end_alike(forge, mu):
    """What doubles lose: a channel's entry, and exp(c/mu) for a multiplier mu; the bound is close to log 2, or above it."""
    rows = 'kind="matrix"; rows=[["1","1e-300"],["1e-300","1"]]'
    model = forge.model("count=2; alphabet=2", 'kind="parity"', rows, '"1.9 bits"')
    for theta, law, tree in (("1", ["1", "1"], 2), ("1/2", ["1", "1"], 2), ("0", None, 0)):
        leaf = [["joint", theta, mu, None, law], *[["row", None]] * tree]
        for upper in ("0.7", "0.6931"):
            proof = forge.certificate(model, "0", upper, ["witness", None, None], ["record", 0], *leaf)
            expected = Status.PROVED if upper == "0.7" and mu != "1" else Status.REJECTED
            for name in ("flint", "python"):
                verdict = check(model, proof, arithmetic=name)
                assert verdict.status is expected, (name, verdict.reason)
