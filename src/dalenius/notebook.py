"""Tables of objects in notebooks, everything in them as text; and their two lines at most on consoles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING, Any

from dalenius.errors import InputError, brief

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 300  # characters of a cell
TWO_LINES = 160  # of a console


def table(caption: str, rows: Iterable[tuple[str, object]]) -> str:
    """Names and values, a row each.

    >>> table("Result", [("units", "<nats>")])
    '<table><caption>Result</caption><tbody><tr><th scope="row">units</th><td>&lt;nats&gt;</td></tr></tbody></table>'
    """
    lines = (f'<tr><th scope="row">{_cell(name)}</th><td>{_cell(value)}</td></tr>' for name, value in rows)
    return f"<table><caption>{_cell(caption)}</caption><tbody>{''.join(lines)}</tbody></table>"


def grid(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows of several cells below a head; the first cell of a row is its name."""
    top = "".join(f'<th scope="col">{_cell(name)}</th>' for name in head)
    lines = (
        f'<tr><th scope="row">{_cell(row[0])}</th>{"".join(f"<td>{_cell(x)}</td>" for x in row[1:])}</tr>'
        for row in rows
    )
    return f"<table><caption>{_cell(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of several cells for a console, a column below the other.

    >>> print(aligned([("method", "s"), ("paper", "0.5")]))
    method  s
    paper   0.5
    """
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, wide)).rstrip() for row in rows)


def data_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A pandas DataFrame of rows by the names of their columns; `InputError` where pandas is not installed."""
    try:
        import pandas as pd
    except ImportError:
        raise InputError("a DataFrame needs pandas: pip install 'dalenius[frames]'") from None
    return pd.DataFrame(rows)


def in_brief(thing: Any) -> str:
    """For `__repr__`: the first line of what a dataclass prints, or, if it prints no words, its fields."""
    kind = type(thing)
    if not any("__str__" in vars(base) for base in kind.__mro__[:-1]):
        return one_line(
            kind.__name__, (f"{one.name}={brief(getattr(thing, one.name))}" for one in fields(kind) if one.repr)
        )
    text = str(thing).partition("\n")[0]
    return f"<{kind.__name__}: {text if len(text) <= TWO_LINES - 30 else text[: TWO_LINES - 33] + '...'}>"


def one_line(name: str, parts: Iterable[str]) -> str:
    """A call, from which the last parts are left out where they are too long.

    >>> one_line("Pair", ["left=1", "right=2"]), len(one_line("Long", ["0123456789"] * 99)) <= TWO_LINES
    ('Pair(left=1, right=2)', True)
    """
    text = ", ".join(parts)
    room = TWO_LINES - len(name) - len("(, ...)")
    return f"{name}({text if len(text) <= room else text[:room].rpartition(', ')[0] + ', ...'})"


def _cell(value: object) -> str:
    text = str(value)
    return escape(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")
