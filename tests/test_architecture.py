"""The house holds where `lint-imports` (pyproject.toml) cannot see: names, tests, formats, what the checker stands on."""

import ast
import functools
import importlib
import re
import subprocess
import sys
import types
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import cvxcertify
import dalenius

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "dalenius"
CHECKER = ROOT / "src" / "dalenius_check"
CERTIFIER = ROOT / "src" / "cvxcertify"
MODULES = sorted(SOURCE.rglob("*.py"))
CERTIFYING = sorted(CERTIFIER.glob("*.py"))
UNIT = ROOT / "tests" / "unit"


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    """What a file says; several tests read every file, and walking over all of them takes as long as reading them."""
    return list(ast.walk(ast.parse(path.read_text())))


@functools.cache
def imports(path: Path, package: str) -> list[str]:
    """Every module that a file imports, lazily or not, as dotted names; relative ones resolved."""
    names = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append((f"{package}." if node.level else "") + (node.module or ""))
    return names


def test_no_public_name_hides_a_module():
    """For every package P and every module P.m of it, P.m is that module, and not something that P calls the same."""
    hidden = {}
    for path in MODULES:
        if path.name == "__main__.py" or ("torch" in imports(path, "") and find_spec("torch") is None):
            continue
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        parent, name = (parts[:-2], parts[-2]) if parts[-1] == "__init__" else (parts[:-1], parts[-1])
        if parent:
            importlib.import_module(".".join((*parent, name)))
            found = getattr(importlib.import_module(".".join(parent)), name)
            if not isinstance(found, types.ModuleType):
                hidden[".".join((*parent, name))] = found
    assert not hidden, "rename the modules or the names that hide them"


def test_of_the_checker_the_bridge_sees_its_verdict_and_what_it_reads():
    names = {
        node.attr
        for node in nodes(SOURCE / "_verify.py")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "dalenius_check"
    }
    assert names == {"check", "digest", "Store", "ModelFile", "Verdict", "RefusedError", "LimitError"}


def test_unit_tests_mirror_the_source():
    """unit/ROOM/test_NAME.py tests ROOM/NAME.py or the room ROOM/NAME/; with many tests, unit/ROOM/NAME/ holds an aspect a file."""
    for path in sorted(UNIT.rglob("test_*.py")):
        folder = path.parent.relative_to(UNIT)
        subject = folder / path.stem.removeprefix("test_") if (SOURCE / folder).is_dir() else folder
        places = [SOURCE / subject, SOURCE / f"{subject}.py", SOURCE / folder / f"_{subject.name}.py"]
        assert any(place.exists() for place in places), (
            f"src/dalenius has no {subject}: what holds for everything goes to tests/laws, bad input to tests/failures"
        )


def test_the_checkers_import_the_standard_library_and_flint_only():
    """That of intervals stands on the checker's arithmetic, and on nothing else of the certifier."""
    for folder, package, others in (
        (CHECKER, "dalenius_check", ()),
        (CERTIFIER / "check", "cvxcertify.check", ("dalenius_check",)),
    ):
        for path in sorted(folder.rglob("*.py")):
            for name in imports(path, package):
                known = {*sys.stdlib_module_names, "flint", package, *others}
                assert {name, name.split(".")[0], ".".join(name.split(".")[:2])} & known, f"{path}: {name}"


def test_nothing_is_imported_by_a_name_that_nobody_reads():
    """`lint-imports` reads statements: outside of atoms and programs, no text is the name of cvxpy."""
    for path in MODULES:
        if path.relative_to(SOURCE).parts[0] not in ("atoms", "programs"):
            texts = [n.value for n in nodes(path) if isinstance(n, ast.Constant)]
            assert "cvxpy" not in texts, f"{path}: importlib.import_module is an import, too"


HEAVY = {"numpy", "scipy", "cvxpy", "clarabel", "flint", "matplotlib", "jinja2", "joblib", "numba", "pandas", "torch"}
FOR_SOME = {"dalenius.sanitizers", "dalenius.statistics", "dalenius.baselines", "dalenius.programs", "dalenius.export"}
PARITY = "dl.load('parity/laplace-n4')"


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import dalenius", HEAVY | {"typer", "dalenius.model"}),
        ("import cvxcertify", HEAVY),
        ("import cvxcertify.check, dalenius_check", HEAVY | {"cvxcertify.certification"}),
        ("from dalenius import cli; sys.argv[1:] = ['--help']; cli.main()", HEAVY - {"numpy"} | FOR_SOME),
        (
            f"import dalenius as dl; dl.audit({PARITY})",
            HEAVY - {"numpy", "scipy", "flint"} | {"scipy.special"} | FOR_SOME,
        ),
        (
            "import dalenius, dalenius._solve, dalenius.cli.solving, dalenius.cli.curves",
            {"cvxpy", "scipy.stats", "scipy.optimize", "numba", "matplotlib", "pandas", "torch", "dalenius.sanitizers"},
        ),
    ],
    ids=["package", "certifier", "checkers", "help", "audit", "commands"],
)
def test_what_is_not_needed_is_not_imported(code, unwanted):
    """By the names that a process has imported when it ends."""
    told = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    done = subprocess.run([sys.executable, "-c", f"{told}; {code}"], timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not unwanted & set(done.stderr.split())


STUBS = sorted(
    path for path in (ROOT / "src").rglob("__init__.pyi") if "sanitizers" not in path.parts or find_spec("torch")
)


@pytest.mark.parametrize("stub", STUBS, ids=lambda path: path.parent.name)
def test_every_name_of_a_stub_is_found(stub):
    """Also one so long that its statement takes three lines."""
    package = importlib.import_module(".".join(stub.parent.relative_to(ROOT / "src").parts))
    statements = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
    names = {alias.asname for node in statements for alias in node.names}
    assert {*dir(package)} >= names
    assert all(getattr(package, name) is not None for name in names)


def test_every_public_name_is_found_where_it_is_asked_for():
    """By completion, by `from dalenius import`, and by type checkers, which read the stub that is the one list of them."""
    assert len([name for name in dir(dalenius) if name[0] != "_"]) <= 100
    for package in (dalenius, dalenius.answers, dalenius.problems, cvxcertify):
        stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text())
        assert [type(node) for node in stub.body] == [ast.ImportFrom] * len(stub.body)
        names = {alias.asname for node in stub.body for alias in node.names}
        assert {*dir(package)} == names
        assert all(getattr(package, name) is not None for name in names)
        told = set(re.findall(r"\w+", package.__doc__))
        assert told >= names - {"__version__"} or package in (dalenius.problems, cvxcertify)
    assert isinstance(dalenius.report, types.ModuleType)
    assert {name for name in dir(dalenius) if isinstance(getattr(dalenius, name), types.ModuleType)} == {
        *dalenius.ROOMS
    }
    homes = re.findall(
        r"^from dalenius\.model\.(\w+)\S* import (\w+)", Path(dalenius.__file__).with_suffix(".pyi").read_text(), re.M
    )
    rooms = [(room, name) for room, name in homes if room in dalenius.ROOMS]
    assert len(rooms) > 40
    assert all(getattr(getattr(dalenius, room), name) is getattr(dalenius, name) for room, name in rooms)
    for room, name in (("constraints", "Band"), ("answers", "Result"), ("errors", "InputError"), ("queries", "Query")):
        with pytest.raises(AttributeError, match=f"it is in dalenius.{room}: dalenius.{room}.{name}$"):
            getattr(dalenius, name)
    with pytest.raises(AttributeError, match="module 'dalenius' has no attribute 'maximal_leakage'"):
        _ = dalenius.maximal_leakage
    with pytest.raises(ImportError):
        exec("from dalenius import maximal_leakage")


ENDS = {"lower", "upper", "low", "high", "gap"}
WRITERS = {"ends_text", "interval_text", "text_below", "text_above", "gap_text", "ends"}
OTHERS = {  # (file, expression): texts of tables as they were read, and what is no end
    ("outcome.py", "self.lower"),
    ("outcome.py", "self.upper"),
    ("catalogue/ratchet.py", "self.lower"),
    ("catalogue/ratchet.py", "self.upper"),
    ("catalogue/ratchet.py", "row.gap"),
    ("results/proved.py", "gap"),  # asked for
    ("files.py", "gap"),  # an empty line
    ("examples/designed_against_classical.py", "high"),  # a mechanism's parameter
    ("examples/paper_figure_5.py", "high"),
}


def named(value: ast.expr) -> set[str]:
    """What a number is called: a variable, an attribute or a key, or those that it is computed from."""
    match value:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return {name}
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            return named(left) | named(right)
        case ast.UnaryOp(operand=operand) | ast.Starred(value=operand) | ast.FormattedValue(value=operand):
            return named(operand)
        case ast.Call(
            func=ast.Name(id="float" | "round" | "max" | "min" | "abs" | "repr" | "str" | "format"), args=args
        ):
            return set[str]().union(*map(named, args))
        case ast.Tuple(elts=members) | ast.JoinedStr(values=members):
            return set[str]().union(*map(named, members))
        case _:
            return set()


def formatted(tree: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """Every expression that is made a text of: in an f-string, by a builtin, by % or by a text's own method."""
    for node in tree:
        match node:
            case ast.FormattedValue(value=value):
                yield value
            case ast.Call(func=ast.Name(id="repr" | "str" | "format" | "round"), args=[value, *_]):
                yield value
            case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=value):
                yield value
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="format"), args=values):
                yield from values


def written(tree: Iterable[ast.AST]) -> set[str]:
    """The variables of a file that are texts of ends: assigned from what `intervals` writes."""
    names = set[str]()
    for node in tree:
        if isinstance(node, ast.Assign | ast.For | ast.comprehension):
            value, targets = (node.value, node.targets) if isinstance(node, ast.Assign) else (node.iter, [node.target])
            used = {
                n.id if isinstance(n, ast.Name) else n.attr
                for n in ast.walk(value)
                if isinstance(n, ast.Name | ast.Attribute)
            }
            if used & WRITERS:
                names |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return names


def test_nothing_but_intervals_formats_an_end():
    """An end that is rounded to nearest is another claim than the one that was proved."""
    for path in [*MODULES, *CERTIFYING, *sorted((ROOT / "examples").glob("*.py"))]:
        folder = next(each for each in (SOURCE, CERTIFIER, ROOT) if path.is_relative_to(each))
        name = path.relative_to(folder).as_posix()
        texts = written(nodes(path))
        for value in formatted(nodes(path)):
            fine = not named(value) & ENDS - texts or (name, ast.unparse(value)) in OTHERS or name == "intervals.py"
            what = f"{name}:{value.lineno}: {ast.unparse(value)}"
            assert fine, f"{what}: write ends with the functions of dalenius.intervals"


def test_the_rule_for_ends_sees_them():
    for line in (
        'f"{result.lower:.10g}"',
        "f\"{answer['upper']:.2e}\"",
        "repr(moment.upper)",
        "f'{100 * x.gap:.1f}'",
        "'%g' % low",
    ):
        assert any(named(value) & ENDS for value in formatted(ast.walk(ast.parse(line)))), line


def test_no_prints_and_no_global_random_state_in_the_library():
    for path in [*MODULES, *CERTIFYING]:
        calls = [node.func for node in nodes(path) if isinstance(node, ast.Call)]
        assert not any(isinstance(call, ast.Name) and call.id in {"print", "eval", "exec"} for call in calls), path
        assert "np.random.seed" not in path.read_text(), path
        assert not re.search(r"\b(pickle|marshal|shelve)\b", path.read_text()), path


def test_the_files_that_the_docs_name_are_there():
    """`ROOM/NAME.py`, of the package or of the checkout; capitals are placeholders."""
    places = [SOURCE, ROOT, ROOT / "src", ROOT / "tests"]
    for page in ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md")))]:
        named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|md|toml))`", (ROOT / page).read_text()))
        gone = sorted(name for name in named if not any((place / name).exists() for place in places))
        assert not gone, f"{page} names what is not there"
