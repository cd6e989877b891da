"""What notebooks show of an object: a small table, everything in it as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

LONGEST = 300  # characters of a cell


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


def _cell(value: object) -> str:
    text = str(value)
    return escape(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")
