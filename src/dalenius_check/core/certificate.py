"""The certificate file: strict lines, and the header (docs/certificate-format.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from . import read
from .allowance import PAIR, Allowance, limit
from .arithmetic import arb
from .known import Known
from .model import Model
from .noise import REAL
from .numbers import RefusedError, need
from .read import BIG, MAX_FILE, REQUIRED, Reader, Schema

_SHORT = 1 << 16
_MAX_LINE = 16 << 20
_MAX_LINES = 5_000_000
_MAX_PENDING = 10_000
OPEN = "open"  # the name of a line that stands in drafts only
_INNER = ("split", "cut", "part", "halve", "orbit", "orbit-split", "group", "chamber")
T = TypeVar("T")
Sizes = Mapping[str, int | Collection[int]]  # of lines by their names: one size, or several
Step = Callable[[list[Any]], Callable[[], None] | None]


def _refuse(text: str) -> Any:
    raise RefusedError(f"{text[:40]!a} is not allowed as a JSON number")


def _sizes(sizes: Sizes, name: str) -> tuple[int, ...]:
    """The sizes that lines of this name have: several, or none."""
    found = sizes.get(name, ())
    return (found,) if isinstance(found, int) else tuple(found)


def _index(text: str) -> int:
    return int(text) if len(text) <= 10 and text[0] != "-" and int(text) <= BIG else int(_refuse(text))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    need(len(dict(pairs)) == len(pairs), "a key occurs twice")
    return dict(pairs)


_DECODER = json.JSONDecoder(
    parse_float=_refuse, parse_int=_index, parse_constant=_refuse, object_pairs_hook=_object, strict=True
)
_UNITS = {
    **dict.fromkeys(("maximal_leakage", "secret_leakage", "min_leakage", "max_information"), "nats"),
    "min_distortion": "distortion",
}
_CLAIM = ("lower", "upper")
_HEADER: Schema = {
    **dict.fromkeys(("format", "problem", "unit", "model", "producer"), (read.text, REQUIRED)),
    **dict.fromkeys(_CLAIM, (read.decimal, REQUIRED)),
}


class Shares:
    """The shares of one process alone: whatever it meets is its own."""

    whole = True  # whether all that a leaf consists of comes together here
    draft = False  # whether a line `open` may stand for a part of a tree, which is left out

    def row(self, number: int, work: Callable[[], list[arb]]) -> list[arb]:
        """psi of the row leaf on this line: one number, or none where it is vacuous."""
        return work()

    def leaf(self, number: int, work: Callable[[], bool]) -> bool:
        """True if the leaf on this line, which has no lines below, is vacuous; refused if its bound is too large."""
        return work()


class Draft(Shares):
    """Shares of a proof that is not finished: its leaves are worked out, so that they are known, and nothing is proved."""

    whole = False
    draft = True


class Lines:
    """The lines of a certificate one by one, who works out the leaves on them, and what is known of these."""

    def __init__(
        self, data: bytes, allowance: Allowance, shares: Shares | None = None, known: Known | None = None
    ) -> None:
        self.data = data
        self.allowance = allowance
        self.start = 0
        self.position = 0
        self.number = 0
        self.shares = shares or Shares()
        self.known = known
        self.place: int | None = None  # of a tree that the last leaf is at

    @property
    def text(self) -> bytes:
        """The last line as it is written."""
        return self.data[self.start : self.position].removesuffix(b"\n")

    @property
    def alone(self) -> bool:
        """True if all leaves are worked out here, and none is left out."""
        return type(self.shares) is Shares

    def leaf(self, place: int | None, work: Callable[[], T]) -> T:
        """Value of the leaf on the last line, at a place."""
        return work() if self.known is None else self.known.leaf(place, self.text, work)

    def below(self, place: int | None, part: int, text: bytes | None = None) -> int | None:
        """The place that a part of what is on a line leads to, the last one by default."""
        return None if place is None or self.known is None else self.known.place(place, text or self.text, part)

    def more(self) -> bool:
        """True if a line is left."""
        return self.position < len(self.data)

    def next(self, expected: str) -> Any:
        """The next line's JSON value."""
        self.number += 1
        self.allowance.line = self.number
        self.allowance.look()
        if not self.more():
            raise RefusedError(f"the file ends where {expected} is expected")
        limit(self.number <= _MAX_LINES, f"more than {_MAX_LINES} lines")
        end = self.data.find(b"\n", self.position)
        line = self.data[self.position : end if end >= 0 else len(self.data)]
        self.start, self.position = self.position, self.position + len(line) + 1
        need(len(line) <= _MAX_LINE, f"longer than {_MAX_LINE} bytes")
        if len(line) > _SHORT:
            self.allowance.room(16 * len(line) + PAIR * line.count(b"[") + 4 * PAIR * line.count(b"{"))
        try:
            return _DECODER.decode(line.decode("ascii"))
        except UnicodeDecodeError:
            reason = "not ASCII"
        except RecursionError:
            reason = "nested too deeply"
        except ValueError as error:
            reason = f"not a JSON value ({ascii(str(error))[1:-1][:100]})"
        raise RefusedError(reason)

    def begins(self, text: bytes) -> bool:
        """True if the next line is this one, which stays the next."""
        return self.data.startswith(text + b"\n", self.position)

    def behind(self, text: bytes, number: int) -> None:
        """Go on behind lines that were read before, of which the last has this number."""
        self.position, self.number = self.position + len(text), number
        limit(self.number <= _MAX_LINES, f"more than {_MAX_LINES} lines")

    def back(self) -> None:
        """Make the line just read the next one again."""
        self.position, self.number = self.start, self.number - 1

    def ahead(self) -> str | None:
        """The name of the next line, which stays the next; None at the end."""
        if not self.more():
            return None
        value = self.next("a line")
        self.back()
        return value[0] if isinstance(value, list) and value and isinstance(value[0], str) else ""

    def run(self, expected: str, sizes: Sizes, after: Sizes) -> Iterator[list[Any]]:
        """The next lines of these names and sizes, up to the end or to a line that may come after, which stays the next."""
        both = {name: (*_sizes(sizes, name), *_sizes(after, name)) for name in (*sizes, *after)}
        while self.more():
            item = self.item(expected, both)
            if len(item) not in _sizes(sizes, item[0]):
                self.back()
                break
            yield item

    def item(self, expected: str, sizes: Sizes) -> list[Any]:
        """The next line as a list whose first entry names it, of a size that name has."""
        value = self.next(expected)
        if self.shares.draft and value == [OPEN]:
            return [OPEN]
        if not (isinstance(value, list) and value and isinstance(value[0], str) and value[0] in sizes):
            raise RefusedError(f"{expected} is expected, one of {', '.join(sizes)}")
        fits = _sizes(sizes, value[0])
        if len(value) not in fits:
            counts = " or ".join(str(size - 1) for size in fits)
            raise RefusedError(f"{value[0]!a} takes {counts} entries, not {len(value) - 1}")
        return value

    def tree(self, expected: str, sizes: Sizes, step: Step, place: int | None = None) -> Iterator[list[Any]]:
        """The leaves of a tree in preorder. At the names in _INNER `step` goes to a child; what waits is the way to the other,

        if there is another. The leaves themselves are wherever `step` and these ways lead; `place` is that of the root.
        """
        waiting: list[tuple[Callable[[], None], int | None]] = [(lambda: None, place)]
        while waiting:
            way, here = waiting.pop()
            way()
            while (item := self.item(expected, sizes))[0] in _INNER:
                if other := step(item):
                    waiting.append((other, self.below(here, 1)))
                here = self.below(here, 0)
                limit(len(waiting) < _MAX_PENDING, f"more than {_MAX_PENDING} boxes wait")
            self.place = here
            if item[0] != OPEN:
                yield item


def header(lines: Lines, model: Model) -> dict[str, Any]:
    """Line 1 against the user's model; upper end and mechanism are None if it is from below alone; lower too if infeasible."""
    need(len(lines.data) <= MAX_FILE, f"the certificate is longer than {MAX_FILE} bytes")
    schema: Schema = {**_HEADER, "resolved": (_resolved, REQUIRED)} if model.foreign else _HEADER
    unit = _UNITS[model.problem]
    if model.design:
        claims = dict.fromkeys(_CLAIM, read.required(_or_null, other=read.decimal))
        schema = {**_HEADER, **claims, "mechanism": read.required(_or_null, other=read.entries)}
    if model.problem == "max_information":
        unit = "usefulness" if "measure" in model.design else unit
        schema = {**_HEADER, "mechanism": (read.entries, REQUIRED)}
    if "objective" in model.design:
        unit = "objective"
        schema = {**schema, "terms": read.required(_or_null, other=_numbers)}
    first = lines.next("the header")
    audit = model.problem == "maximal_leakage" and model.mechanism["kind"] not in REAL
    if audit and model.adversary == "entropy_at_least" and isinstance(first, dict) and "curve" in first:
        schema = {**schema, "curve": (_as_it_is, REQUIRED)}
    claim = read.table(first, "the header", schema)
    fixed = ("dalenius-certificate/2", model.problem, unit)
    for name, text in zip(("format", "problem", "unit"), fixed, strict=True):
        need(claim[name] == text, f"the header's {name} must be {text!a}")
    need(claim["model"] == model.digest, f"it is for another model: this model's digest is {model.digest}")
    lower, upper = claim["lower"], claim["upper"]
    parts = [claim[name] for name in ("upper", "mechanism", "terms") if name in claim]
    if lower is None or any(part is None for part in parts):
        need(all(part is None for part in parts), "lower, upper and mechanism must be null together, and terms")
        several = "constraints" in model.design or "objective" in model.design
        need(
            lower is None or several,
            "lower, upper and mechanism must be null together without constraints and an objective",
        )
    else:
        need(lower <= upper and upper >= 0, "the claim needs lower <= upper and 0 <= upper")
    return claim


def _or_null(value: Any, what: str, other: Reader) -> Any:
    return None if value is None else other(value, what)


def _as_it_is(value: Any, what: str) -> Any:
    return value


def _numbers(value: Any, what: str) -> list[Any]:
    return [read.decimal(item, what) for item in read.entries(value, what)]


def _resolved(value: Any, what: str) -> dict[str, Any]:
    rows = partial(read.laws, number=read.decimal)
    return {"kind": "matrix"} | read.table(value, what, {"inputs": (read.INPUTS, REQUIRED), "rows": (rows, REQUIRED)})
