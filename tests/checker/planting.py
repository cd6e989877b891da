"""Holes for the checker: a piece of one function is another, found by its syntax, so that the checker may be laid out anew."""

import ast
import copy
import functools
import re
from collections import defaultdict
from pathlib import Path

import cvxcertify.check
import dalenius_check

PACKAGE = Path(dalenius_check.__file__).parent
INTERVALS = Path(cvxcertify.check.__file__).parent  # the certifier's checker
Scope = ast.Module | ast.ClassDef | ast.FunctionDef


@functools.cache
def _scopes() -> dict[str, list[Path]]:
    """The files of every function and class, by its name in its file, alone and behind the file's: `Rows.met`, `rows.Rows.met`."""
    found = defaultdict[str, list[Path]](list)
    for path in sorted([*PACKAGE.rglob("*.py"), *INTERVALS.glob("*.py")]):
        waiting: list[tuple[str, Scope]] = [("", ast.parse(path.read_text()))]
        while waiting:
            name, scope = waiting.pop()
            if name:
                found[name].append(path)
            found[f"{path.stem}.{name}".rstrip(".")].append(path)
            waiting += [
                (f"{name}.{node.name}".lstrip("."), node)
                for node in scope.body
                if isinstance(node, ast.ClassDef | ast.FunctionDef)
            ]
    return found


def home(where: str) -> Path:
    """Return the one file in which this function, method or class stands."""
    files = _scopes().get(where, [])
    assert len(files) == 1, f"{where} stands in {[file.name for file in files]}"
    return files[0]


class _Exchange(ast.NodeTransformer):
    """Puts `new` where the syntax of `old` stands, and counts how often it did.

    A piece is an expression, a statement, or what stands before the colon of a loop or a condition, with its colon.
    """

    def __init__(self, old: str, new: str, looking: bool = False) -> None:
        self.head = old.endswith(":")
        body = ast.parse(old + " pass" if self.head else old).body
        assert len(body) == 1, f"one piece of code is expected, not {old!r}"
        self.bare = isinstance(body[0], ast.Expr)  # a statement may be an expression: whichever is found
        self.kinds = (ast.Expr, type(body[0].value)) if isinstance(body[0], ast.Expr) else (type(body[0]),)
        self.old, self.count = self._syntax(body[0]), 0
        self.new = ast.parse(new + " pass" if self.head else new).body
        self.looking = looking
        assert [self._syntax(node) for node in self.new] != [self.old], f"nothing is changed: {old!r}"

    def _syntax(self, node: ast.AST) -> str:
        if self.head and isinstance(node, ast.For | ast.If | ast.While):
            node = type(node)(**{**dict(ast.iter_fields(node)), "body": [], "orelse": []})
        return ast.dump(node.value if self.bare and isinstance(node, ast.Expr) else node)

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        if not isinstance(node, self.kinds) or self._syntax(node) != self.old:
            return super().generic_visit(node)
        self.count += 1
        if self.looking:
            return node
        if self.head:
            new: ast.For = copy.deepcopy(self.new[0])  # type: ignore[assignment]
            new.body, new.orelse = node.body, node.orelse  # type: ignore[attr-defined]
            return new
        return self.new if isinstance(node, ast.stmt) else self.new[0].value  # type: ignore[attr-defined]


def planted(hole: str) -> tuple[Path, str]:
    """Return a file of the checker, and its text with a hole: `where: old => new`, the only `old` of a function, method or class."""
    path = home(hole.partition(": ")[0])
    tree = ast.parse(path.read_text())
    _exchange(hole, path, tree)
    return path, ast.unparse(ast.fix_missing_locations(tree))


@functools.cache
def _tree(path: Path) -> ast.Module:
    """What is looked at only."""
    return ast.parse(path.read_text())


def need_place(hole: str) -> None:
    """Refuse a hole that could not be planted."""
    path = home(hole.partition(": ")[0])
    _exchange(hole, path, _tree(path), looking=True)


def _exchange(hole: str, path: Path, tree: ast.Module, looking: bool = False) -> None:
    """Put the hole into a file's syntax, or only see whether that can be done."""
    where, old, new = re.fullmatch("(.*?): (.*) => (.*)", hole, re.DOTALL).groups()
    names = where.removeprefix(f"{path.stem}.").split(".") if where != path.stem else []
    scope: Scope = tree
    for name in names:
        scope = next(
            node for node in scope.body if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name
        )
    exchange = _Exchange(old, new, looking)
    exchange.generic_visit(scope)
    assert exchange.count == 1, f"{where} has {exchange.count} times {old!r}"
