"""Limits about a secret that are rows: ratios of what its letters make of an output, and of the output's own law."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain, combinations
from typing import Any

from .arithmetic import fmpq
from .ground import Ground, Term
from .numbers import exponential, need
from .rows import Rows, need_few, other_rows
from .secret import Secret, Sparse, secrets_of

Make = Callable[[int, fmpq], tuple[Iterable[Term], fmpq]]
_ALWAYS = ("local_information_privacy", "information_privacy")


def rows_of(table: dict[str, Any], ground: Ground, what: str) -> Rows:
    """The rows of a constraint of this table."""
    if table["kind"] not in _ALWAYS and not table.get("secret"):
        return other_rows(table, ground, what)
    laws = secrets_of(table, ground, what)
    exempt = table.get("exempt") or []
    shortest = min(len(law.rows) for law in laws)
    fits = all(s < shortest and y < ground.outputs for s, y in exempt)
    need(fits, f"{what}.exempt: an index is no letter of every law or no output")
    counts = [_count(table, law, exempt, ground.outputs) for law in laws]
    last = len(exempt) * sum(len(law.inputs) for law in laws)
    terms = sum(2 * len(law.inputs) * count for law, count in zip(laws, counts, strict=True)) + last
    need_few(sum(counts) + (len(laws) if exempt else 0), terms, ground, what)
    made = [_block(table, law, exempt, ground.outputs) for law in laws]
    starts = list(accumulate((count + bool(exempt) for count in counts), initial=0))

    def make(r: int, c: fmpq) -> tuple[Iterable[Term], fmpq]:
        place = bisect_right(starts, r) - 1
        return made[place](r - starts[place], c)

    return Rows(starts[-1], False, make, exponential(*table["epsilon"]))


def _sides(table: dict[str, Any]) -> int:
    return 1 if table["kind"] == "pointwise_maximal_leakage" else 2


def _count(table: dict[str, Any], law: Secret, exempt: Sequence[Sequence[int]], outputs: int) -> int:
    """How many rows a law has, without the last one about the pairs that are exempt."""
    letters = len(law.letters)
    heads = letters * (letters - 1) // 2 if table["kind"] == "local_dp" else letters
    return _sides(table) * (heads * outputs - sum(1 for s, _ in exempt if law.prior[s]))


def _block(table: dict[str, Any], law: Secret, exempt: Sequence[Sequence[int]], outputs: int) -> Make:
    """The rows of one law: one(y) - c other(y) <= 0, in turn with the two exchanged where there are two sides; then the last one."""
    heads: list[tuple[Sparse, Sparse]] = [(row, law.inputs) for row in law.given.values()]
    if table["kind"] == "local_dp":
        heads = list(combinations(law.given.values(), 2))
    sides = _sides(table)
    cells = _cells(law, exempt, len(heads), outputs)

    def make(r: int, c: fmpq) -> tuple[Iterable[Term], fmpq]:
        if r == sides * len(cells):
            return _last(table["strong"], law, exempt), table["delta"]
        head, y = divmod(cells[r // sides], outputs)
        one, other = heads[head][:: -1 if r % sides else 1]
        return chain(((x, y, p) for x, p in one), ((x, y, -c * p) for x, p in other)), fmpq(0)

    return make


def _cells(law: Secret, exempt: Sequence[Sequence[int]], heads: int, outputs: int) -> Sequence[int]:
    """Head and output of each pair of rows, as one number."""
    if not exempt:
        return range(heads * outputs)
    places = {s: k for k, s in enumerate(law.letters)}
    without = {places[s] * outputs + y for s, y in exempt if s in places}
    return [cell for cell in range(heads * outputs) if cell not in without]


def _last(strong: bool, law: Secret, exempt: Sequence[Sequence[int]]) -> Iterable[Term]:
    """The probability of the pairs that are exempt, or of their outputs."""
    if strong:
        return ((x, y, p) for y in sorted({y for _, y in exempt}) for x, p in law.inputs)
    return ((x, y, p) for s, y in exempt for x, p in law.rows[s])
