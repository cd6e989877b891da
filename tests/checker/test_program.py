"""The command line, hostile files, isolation and size."""

import ast
import functools
import io
import json
import os
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

import cases
import dalenius_check
from campaigns import draws
from dalenius_check import Status, check
from dalenius_check.__main__ import main

CORPUS = cases.cases()
CASES = CORPUS.values()
PACKAGE = Path(dalenius_check.__file__).parent
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Paths of a model, its certificate, and one for another model."""
    folder = tmp_path_factory.mktemp("files")
    for name in ("parity_output", "digest"):
        (folder / f"{name}.cert").write_bytes(CORPUS[name].certificate)
    (folder / "parity4.toml").write_bytes(CORPUS["parity_output"].model)
    return folder / "parity4.toml", folder / "parity_output.cert", folder / "digest.cert"


def test_exit_codes():
    order = (Status.PROVED, Status.REJECTED, Status.UNREADABLE, Status.UNDECIDED, Status.RESOLVED)
    assert [status.exit_code for status in order] == [0, 1, 2, 3, 4]


def test_command_line(capsys, tmp_path, files):
    model_file, certificate_file, other = files
    assert main([str(model_file), str(certificate_file)]) == 0
    text = capsys.readouterr().out
    assert text.startswith(
        "proved: 0.0795415058652 <= L <= 0.0795415058654 nats, in bits 0.114754136056564 <= L <= 0.114754136056853 of 1 possible\n"
    )
    assert "parity" in text
    assert "enclosed by balls" in text
    assert main([str(model_file), str(certificate_file), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert main([str(model_file), str(other)]) == 1
    assert capsys.readouterr().out.startswith("rejected: certificate line 1: it is for another model")
    for model, certificate in [
        (tmp_path, certificate_file),
        (model_file, tmp_path),
        (tmp_path / "none", certificate_file),
        (model_file, "a\0b"),
    ]:
        assert main([str(model), str(certificate)]) == 2
        out, told = capsys.readouterr()
        assert out == ""
        assert told.startswith("dalenius_check: ")
        assert ": cannot be read: " in told
        assert told.count("\n") == 1
    with pytest.raises(SystemExit) as info:
        main([])
    assert info.value.code == 2


def test_the_statement_is_whole_in_json_and_says_where_it_is_cut(capsys, tmp_path):
    for name, content in zip(("model", "certificate"), CORPUS["second_look"].files, strict=True):
        (tmp_path / name).write_bytes(content)
    files = [str(tmp_path / name) for name in ("model", "certificate")]
    assert main([*files, "--json"]) == 0
    whole = next(line for line in json.loads(capsys.readouterr().out)["lines"] if line.startswith("mechanism: "))
    assert json.loads(whole.removeprefix("mechanism: "))["kind"] == "adaptive"
    assert main(files) == 0
    short = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("mechanism: "))
    start, _, said = short.partition("... ")
    assert whole.startswith(start)
    assert (len(start) < len(whole), said) == (True, "(--json has it whole)")


def test_a_bound_that_is_all_there_is_to_know_is_called_that():
    """It is proved, as a true one, and is written as the logarithm of the number of values."""
    model, data = CORPUS["parity_output"].files
    head, lines = data.split(b"\n", 1)
    verdict = check(model, json.dumps({**json.loads(head), "upper": "3/4"}).encode() + b"\n" + lines)
    assert verdict.proved
    assert verdict.reason.endswith("<= L <= 1 of 1 possible: all there is to know")
    assert "all there is" not in check(model, data).reason


def test_interrupt_is_undecided(monkeypatch, capsys, files):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("dalenius_check.__main__.check", interrupt)
    assert main(list(map(str, files[:2]))) == 3
    assert capsys.readouterr().out == "undecided: interrupted\n"


def test_memory_and_defects_are_undecided(monkeypatch):
    defect = KeyError("\n\ud800")
    for error, text, cause in ((MemoryError, "out of memory", "limit"), (defect, "internal error: KeyError", "")):

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr("dalenius_check.core.model.parse_model", fail)
        verdict = check(b"", b"")
        assert (verdict.exit_code, verdict.cause) == (3, cause)
        assert text in verdict.reason
        assert "\n" not in verdict.reason


def test_resolved_is_said_and_asked_for(capsys, tmp_path):
    """What is proved of a certificate's own matrix is never called proved, whoever wrote the kind, and why."""
    model, data = CORPUS["resolved"].files
    verdict = check(model, data, resolved=True)
    assert (verdict.status, verdict.proved, verdict.exit_code) == (Status.RESOLVED, False, 4)
    assert verdict.reason.startswith("resolved: ")
    assert "OF THE MATRIX IN THE CERTIFICATE ONLY" in verdict.reason
    assert any("TAKEN FROM THE CERTIFICATE" in line for line in verdict.lines)
    assert not any("proved" in line for line in verdict.lines)
    assert check(model, data).status is Status.REJECTED
    (tmp_path / "model").write_bytes(model)
    (tmp_path / "cert").write_bytes(data)
    command = [str(tmp_path / "model"), str(tmp_path / "cert")]
    assert main(command) == 1
    assert "'podium' is unknown to the checker" in capsys.readouterr().out
    assert main([*command, "--resolved"]) == 4
    assert capsys.readouterr().out.startswith("resolved: ")


def test_resolved_changes_nothing_for_known_kinds():
    for case in CASES:
        if not case.resolved and case.model_name in ("parity4", "bits_whole", "count4"):
            assert check(*case.files, resolved=True) == check(*case.files)


def test_long_files_end_in_a_verdict(forge):
    model = CORPUS["parity_output"].model
    head = forge.certificate(model, "0", "1", ["witness", None, None], ["record", 0])
    assert "boxes wait" in check(model, (head + b'["split",0,0,"0.5"]\n' * 50_000)).reason
    leaf = b'["joint","0","0",null,null]\n'
    assert check(model, (head + (b'["split",0,0,"0.5"]\n' + leaf) * draws(1500, 9_000) + leaf)).exit_code == 0
    cuts = head + b'["joint","1","1",null,["1","1"]]\n' + b'["cut",0,"0.5"]\n' * 20_000
    assert "boxes wait" in check(model, cuts).reason
    assert "boxes wait" in check(model, head + b'["cut",0,0,"0.5"]\n' * 20_000).reason
    parts = head + b'["vertices"]\n' + b'["part",0,[0]]\n' * 20_000
    assert "boxes wait" in check(model, parts).reason
    assert "longer than" in check(model, head + b"[" + b"0," * (9 << 20) + b"0]\n").reason
    many = ",".join(f'"1/{3**800 + 2 * j}"' for j in range(3000))
    line = f'["joint","1","0",null,[{many}]]\n'.encode()
    assert check(model, head + line).exit_code == 1
    many = ["split", 0, 0, "1/3"], *(["split", 0, 0, f"1/{3**700 + 2 * j}"] for j in range(99))
    deep = b"".join(json.dumps(line).encode() + b"\n" + leaf for line in many) + leaf
    assert check(model, head + deep).exit_code in (0, 3)


def test_large_records_end_in_a_verdict(forge):
    """Limits hold before memory is spent, for the model's own sizes and for a resolved matrix."""
    wide = forge.model("count=1; alphabet=10000", 'kind="parity"', 'kind="mystery"', "0")
    rows = [["1", *["0"] * 1999], ["0", "1", *["0"] * 1998]]
    for lines in (["witness", 0, "uniform"],), (["witness", None, None], ["record", 0], ["column", "0", None]):
        data = forge.certificate(wide, "-1", "1", *lines, resolved={"inputs": "query", "rows": rows})
        assert "too many letters and outputs" in check(wide, data, resolved=True).reason
        assert check(wide, data, resolved=True).exit_code == 3
    apart = forge.model("count=3; alphabet=3", 'kind="sum"; weights=[0,1,1000000000]', 'kind="mystery"', "0")
    verdict = check(apart, b"")
    assert verdict.exit_code == 3
    assert "limit" in verdict.reason
    sharp = forge.model(
        "count=2; alphabet=2", 'kind="count"', 'kind="exponential"; epsilon=9; sensitivity="1e-400"', "0"
    )
    best = ["witness", 0, [["1", "0", "0"], ["0", "0", "1"]]]
    data = forge.certificate(
        sharp, "0.69314718055", "0.69314718056", best, ["record", 0], ["joint", "0.0", "0", None, None]
    )
    assert check(sharp, data).exit_code == 0


def test_isolation(tmp_path, files):
    """A check loads nothing but the standard library and python-flint, where that is installed (else: test_arithmetic.py)."""
    script = """
import importlib.abc, sys
class Guard(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"dalenius", "numpy", "scipy", "cvxpy", "mpmath", "sympy"}:
            raise ImportError(name + " is out of bounds")
sys.meta_path.insert(0, Guard())
sys.path[:0] = sys.argv[3:]
from dalenius_check.__main__ import main
code = main(sys.argv[1:3])
roots = {name.split(".")[0] for name in sys.modules}
extra = sorted(r for r in roots - set(sys.stdlib_module_names) if not r.startswith(("__", "_cython", "cython_runtime")))
print("extra", *extra)
sys.exit(code)
"""
    import flint

    paths = [str(PACKAGE.parent), str(Path(flint.__file__).parent.parent)]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, *map(str, files[:2]), *paths],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PATH": os.environ.get("PATH", "")},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].split() == ["extra", "dalenius_check", "flint"]
    assert done.stderr == ""


def test_sources_import_only_what_they_may():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0):
                names = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
                allowed = {"flint"} if path == PACKAGE / "core" / "arithmetic" / "__init__.py" else set()
                assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, *allowed}
            assert not (isinstance(node, ast.Name) and node.id in {"eval", "exec", "__import__"})
            doubles = isinstance(node, ast.Name) and node.id == "float"
            assert not doubles or path.name == "allowance.py"  # the clock's seconds, and MiB


@functools.cache
def code_lines(source):
    """Lines that are neither blank, nor comment, nor docstring."""
    documentation, code = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            documentation.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    skip = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skip:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - documentation)


def test_no_file_is_longer_than_a_person_reads_at_once():
    sizes = {str(path.relative_to(PACKAGE)): code_lines(path.read_text()) for path in PACKAGE.rglob("*.py")}
    assert max(sizes.values()) <= 300, sizes


def is_size(node):
    """What a table of lines has for the number of their entries: a whole number, or several."""
    return (isinstance(node, ast.Constant) and type(node.value) is int) or (
        isinstance(node, ast.Tuple) and len(node.elts) > 0 and all(map(is_size, node.elts))
    )


def kinds_of_lines():
    """The kinds that the checker reads: the keys of all tables that say how many entries a line has."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Dict):
                for key, size in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str) and is_size(size):
                        yield key.value


def test_the_kinds_of_lines_are_those_of_the_page_and_no_more():
    """The size of what is trusted is the number of its rules; a new one stands in docs/certificate-format.md first."""
    known, page = set(kinds_of_lines()), (ROOT / "docs" / "certificate-format.md").read_text()
    assert known - NO_LINES == set(re.findall(r'\["([a-z][a-z-]*)"[,\]]', page)) - PARTS_OF_LINES
    assert len(known - NO_LINES) == KINDS
    assert known >= NO_LINES


KINDS = 48
NO_LINES = {"size", "parity"}  # keys of other tables with numbers
PARTS_OF_LINES = {"product"}  # a way to write a prior
