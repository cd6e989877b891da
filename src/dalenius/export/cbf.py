"""The Conic Benchmark Format: a writer, and a reader for linear and exponential cones that names the line of every error.

An exponential cone is (z, y, x) there, z >= y exp(x/y), the reverse of ours. Names are comments only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, vstack
from scipy.sparse import eye_array as eye

from dalenius.errors import InputError, brief, naming
from dalenius.export.standard import MAX_NUMBERS, digest, need_cones, read_file
from dalenius.information.arrays import Floats
from dalenius.programs import StandardForm
from dalenius.programs.standard_form import Columns, Rows

VERSION = 3  # of the format: the first with what we write that other readers know; 4 adds cones that we do not have
VERSIONS = (1, 2, 3, 4)
SECOND_ORDER, EXPONENTIAL = "Q", "EXP"
CONES = {"zero": "L=", "nonnegative": "L+", "second-order": SECOND_ORDER, "exponential": EXPONENTIAL}
MEANINGS = {**{word: cone for cone, word in CONES.items()}, "L-": "nonnegative"}
MAX_SIZE = 2**22  # of variables and of rows
HEAD, END = "# dalenius", "# end of instance"
_WHOLE = re.compile(r"[0-9]{1,9}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?", re.ASCII)


def cbf_text(form: StandardForm) -> str:
    """The instance in CBF, the objective as it is (MIN or MAX, with its offset); doubles are read back exactly.

    Raises
    ------
    InputError
        If it has a semidefinite cone.

    >>> from dalenius.programs import MarginalUpdate
    >>> text = cbf_text(MarginalUpdate(np.array([[0.9, 0.1], [0.2, 0.8]]), np.zeros(2), 0.5).standard_form())
    >>> [line for line in text.splitlines() if not line.startswith("#")][:9]
    ['', 'VER', '3', '', 'OBJSENSE', 'MAX', '', 'VAR', '6 1']
    """
    need_cones(form, "cbf", CONES)
    order = form.exponential_reversed()
    A, b = coo_array(form.A[order]), form.b[order]
    cones = [line for part in form.rows for line in _cone_lines(part)]
    items = {
        "VER": [str(VERSION)],
        "OBJSENSE": ["MAX" if form.maximises else "MIN"],
        "VAR": [f"{form.c.size} 1", f"F {form.c.size}"],
        "CON": [f"{form.b.size} {len(cones)}", *cones],
        "OBJACOORD": _counted(f"{j} {x!r}" for j, x in enumerate(form.c.tolist()) if x),
        "OBJBCOORD": [repr(form.offset)],
        "ACOORD": _counted(
            f"{i} {j} {x!r}" for i, j, x in zip(A.row.tolist(), A.col.tolist(), A.data.tolist(), strict=True)
        ),
        "BCOORD": _counted(f"{i} {x!r}" for i, x in enumerate(b.tolist()) if x),
    }
    body = "\n\n".join("\n".join((key, *lines)) for key, lines in items.items() if lines)
    return "\n".join(_comments(form)) + f"\n\n{body}\n\n{END}\n"


def _counted(lines: Iterator[str]) -> list[str]:
    """The lines after their number; nothing where there are none, because MOSEK and COPT refuse an item of 0 lines."""
    listed = list(lines)
    return [str(len(listed)), *listed] if listed else []


def _cone_lines(part: Rows) -> list[str]:
    if part.cone == "exponential":
        return ["EXP 3"] * (part.size // 3)
    return [f"{CONES[part.cone]} {part.size}"] if part.size else []


def _comments(form: StandardForm) -> Iterator[str]:
    yield f"{HEAD} program {form.program}, instance {digest(form)}"
    for what, parts in (("columns", form.columns), ("rows", form.rows)):
        start = 0
        for part in parts:
            shape = " x ".join(map(str, part.shape)) or "1"
            yield f"# {what} {start} to {start + part.size - 1}: {part.name}, {shape}"
            start += part.size


def read_cbf(path: str | Path) -> StandardForm:
    """Read a CBF file whose cones are F, L+, L-, L=, Q and EXP.

    Raises
    ------
    InputError
        If it cannot be read, or breaks the format: the message names the line. So do integers, semidefinite matrices and other cones.
    """
    text = read_file(path, "an instance")
    with naming(path):
        return parse_cbf(text)


def parse_cbf(text: str) -> StandardForm:
    """The instance in a text, its cones in our order; blocks are called x and con_1, con_2, ... in the order of the file.

    >>> tiny = "VER\\n3\\nOBJSENSE\\nMIN\\nVAR\\n1 1\\nL+ 1\\nOBJACOORD\\n1\\n0 nan\\n"
    >>> parse_cbf(tiny)
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: line 10: expected a finite decimal number, got 'nan'
    """
    lines = _Lines(text)
    found = _Found()
    while (keyword := lines.next_keyword()) is not None:
        if keyword in found.seen:
            lines.fail(f"{keyword} stands twice")
        if not found.seen and keyword != "VER":
            lines.fail(f"expected VER first, got {brief(keyword)}")
        if keyword not in ITEMS:
            lines.fail(f"{brief(keyword)} is unknown, or is not supported here")
        for earlier in NEEDED_BEFORE.get(keyword, ()):
            if earlier not in found.seen:
                lines.fail(f"{keyword} before {earlier}")
        found.seen.append(keyword)
        ITEMS[keyword](lines, found)
    for keyword in ("VER", "OBJSENSE", "VAR"):
        if keyword not in found.seen:
            lines.fail(f"the file ends without {keyword}")
    if text.startswith(HEAD) and not text.rstrip().endswith(END):
        lines.fail(f"the file ends without {END!r}: it was cut off")
    form = found.form()
    if not form.rows:
        lines.fail("the file ends without a cone")
    return form


class _Lines:
    """The lines that are not blank and no comments, with their numbers."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.number = 0

    def fail(self, why: str) -> NoReturn:
        raise InputError(f"line {self.number}: {why}")

    def next_keyword(self) -> str | None:
        """The next line, None at the end."""
        while self.number < len(self.lines):
            line = self.lines[self.number].strip()
            self.number += 1
            if line and not line.startswith("#"):
                return line
        return None

    def tokens(self, count: int, within: str) -> list[str]:
        """The words of the next line, of which there must be so many."""
        line = self.next_keyword()
        if line is None:
            self.fail(f"the file ends within {within}")
        words = line.split()
        if len(words) != count:
            self.fail(f"{within}: expected {count} words, got {brief(line)}")
        return words

    def whole(self, word: str, most: int, what: str) -> int:
        if not _WHOLE.fullmatch(word) or int(word) > most:
            self.fail(f"expected {what} from 0 to {most}, got {brief(word)}")
        return int(word)

    def double(self, word: str) -> float:
        value = float(word) if _DECIMAL.fullmatch(word) else np.nan
        if not np.isfinite(value):
            self.fail(f"expected a finite decimal number, got {brief(word)}")
        return value

    def count(self, within: str) -> int:
        return self.whole(self.tokens(1, within)[0], MAX_NUMBERS, "a count")


@dataclass
class _Found:
    """State of reading: the items so far."""

    seen: list[str] = field(default_factory=list)
    maximises: bool = False
    offset: float = 0.0
    variables: list[tuple[str, int]] = field(default_factory=list)
    constraints: list[tuple[str, int]] = field(default_factory=list)
    entries: dict[str, dict[Any, float]] = field(default_factory=dict)

    def vector(self, keyword: str, size: int) -> Floats:
        x = np.zeros(size)
        for j, value in self.entries.get(keyword, {}).items():
            x[j] = value
        return x

    def form(self) -> StandardForm:
        """Variables' cones are rows, too; those of a negative cone are turned round, exponential cones reversed."""
        width, height = _size(self.variables), _size(self.constraints)
        places = np.array(list(self.entries.get("ACOORD", {})), dtype=np.int64).reshape(-1, 2)
        values = np.array(list(self.entries.get("ACOORD", {}).values()), dtype=float)
        A = vstack([coo_array((values, (places[:, 0], places[:, 1])), shape=(height, width)), eye(width)])
        blocks = _blocks("con", self.constraints, 0) + _blocks("var", self.variables, height)
        blocks = [block for cone in CONES for block in blocks if block[0].cone == cone]
        order = np.concatenate([np.zeros(0, dtype=np.int64), *(places for _, places, _ in blocks)])
        signs = np.concatenate([np.zeros(0), *(np.full(places.size, sign) for _, places, sign in blocks)])
        b = np.concatenate([self.vector("BCOORD", height), np.zeros(width)])
        B = csr_array(csr_array(A)[order].multiply(signs[:, None]))
        B.eliminate_zeros()
        B.sort_indices()
        return StandardForm(
            program="cbf",
            maximises=self.maximises,
            c=self.vector("OBJACOORD", width),
            offset=self.offset,
            A=B,
            b=signs * b[order] + 0.0,
            columns=(Columns("x", (width,)),),
            rows=tuple(block for block, _, _ in blocks),
        )


def _size(cones: list[tuple[str, int]]) -> int:
    return sum(size for _, size in cones)


def _blocks(name: str, cones: list[tuple[str, int]], start: int) -> list[tuple[Rows, NDArray[np.int64], float]]:
    """For each cone that says anything its block, its places in the file and its sign."""
    found = []
    for number, (word, size) in enumerate(cones, start=1):
        places = np.arange(start, start + size)
        if word in MEANINGS:
            reversed_ = word == EXPONENTIAL
            rows = Rows(f"{name}_{number}", MEANINGS[word], (1,) if reversed_ else (size,))
            found.append((rows, places[::-1] if reversed_ else places, -1.0 if word == "L-" else 1.0))
        start += size
    return found


def _version(lines: _Lines, found: _Found) -> None:
    word = lines.tokens(1, "VER")[0]
    if not _WHOLE.fullmatch(word) or int(word) not in VERSIONS:
        lines.fail(f"expected a version from {VERSIONS[0]} to {VERSIONS[-1]}, got {brief(word)}")


def _sense(lines: _Lines, found: _Found) -> None:
    word = lines.tokens(1, "OBJSENSE")[0]
    if word not in ("MIN", "MAX"):
        lines.fail(f"expected MIN or MAX, got {brief(word)}")
    found.maximises = word == "MAX"


def _cones(lines: _Lines, within: str, known: tuple[str, ...]) -> list[tuple[str, int]]:
    size, count = (lines.whole(word, MAX_SIZE, "a size") for word in lines.tokens(2, within))
    cones, total = [], 0
    for _ in range(count):
        cone, word = lines.tokens(2, within)
        if cone not in known:
            lines.fail(f"{within}: expected one of {' '.join(known)}, got {brief(cone)}")
        part = lines.whole(word, size, "a size")
        if cone == EXPONENTIAL and part != 3:
            lines.fail(f"an exponential cone has 3 members, got {part}")
        if cone == SECOND_ORDER and part == 0:
            lines.fail("a second-order cone has a member at least, got 0")
        total += part
        cones.append((cone, part))
    if total != size:
        lines.fail(f"{within}: the cones have {total} members, expected {size}")
    return cones


def _coordinates(lines: _Lines, found: _Found, keyword: str, *sizes: int) -> None:
    """Lines of as many indices as sizes and a number, none twice."""
    entries: dict[Any, float] = {}
    for _ in range(lines.count(keyword)):
        *words, last = lines.tokens(len(sizes) + 1, keyword)
        if 0 in sizes:
            lines.fail(f"{keyword}: there is no place for an entry")
        index = tuple(lines.whole(word, size - 1, "an index") for word, size in zip(words, sizes, strict=True))
        place = index if len(sizes) > 1 else index[0]
        if place in entries:
            lines.fail(f"{keyword}: the place {' '.join(words)} stands twice")
        entries[place] = lines.double(last)
    found.entries[keyword] = entries


def _variables(lines: _Lines, found: _Found) -> None:
    found.variables = _cones(lines, "VAR", ("F", "L+", "L-", "L=", "Q", "EXP"))
    if not found.variables:
        lines.fail("VAR: expected a variable at least")


def _constraints(lines: _Lines, found: _Found) -> None:
    found.constraints = _cones(lines, "CON", ("L+", "L-", "L=", "Q", "EXP"))


def _offset(lines: _Lines, found: _Found) -> None:
    found.offset = lines.double(lines.tokens(1, "OBJBCOORD")[0])


ITEMS: dict[str, Callable[[_Lines, _Found], None]] = {
    "VER": _version,
    "OBJSENSE": _sense,
    "VAR": _variables,
    "CON": _constraints,
    "OBJACOORD": lambda lines, found: _coordinates(lines, found, "OBJACOORD", _size(found.variables)),
    "OBJBCOORD": _offset,
    "ACOORD": lambda lines, found: _coordinates(
        lines, found, "ACOORD", *map(_size, (found.constraints, found.variables))
    ),
    "BCOORD": lambda lines, found: _coordinates(lines, found, "BCOORD", _size(found.constraints)),
}
NEEDED_BEFORE = {"CON": ("VAR",), "OBJACOORD": ("VAR",), "ACOORD": ("VAR", "CON"), "BCOORD": ("CON",)}
