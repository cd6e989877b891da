"""Laws of a secret S and a mechanism's input X, what the output Y then says of S, exactly, and limits of that which are rows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, combinations
from typing import Any

from ...core.allowance import PAIR, Allowance
from ...core.arithmetic import fmpq
from ...core.numbers import exponential, height, need, normalised, total
from .ground import Ground, Inputs, Term
from .rows import Rows, need_few, other_rows

_MAX_CELLS = 1 << 22
Sparse = list[tuple[int, fmpq]]  # inputs with numbers that are not 0
Laws = Sequence[Sequence[fmpq]]


@dataclass(frozen=True)
class Secret:
    """The joint law: for each letter s the inputs with P(s, x) > 0; pi(s); and the inputs with P(x) > 0."""

    rows: list[Sparse]
    prior: list[fmpq]
    inputs: Sparse

    @cached_property
    def letters(self) -> list[int]:
        """The letters with pi(s) > 0: no others exist."""
        return [s for s, p in enumerate(self.prior) if p]

    @cached_property
    def given(self) -> dict[int, Sparse]:
        """P(s, x) / pi(s), by letter."""
        return {s: [(x, p / self.prior[s]) for x, p in self.rows[s]] for s in self.letters}


class Told:
    """Under a mechanism: W(s, y) by letter, and r(y)."""

    def __init__(self, secret: Secret, laws: Laws, allowance: Allowance) -> None:
        self.secret = secret
        self.outputs = range(len(laws[0]))
        self.given = {s: self._mixed(row, laws, allowance) for s, row in secret.given.items()}
        self.mean = self._mixed(secret.inputs, laws, allowance)

    def _mixed(self, row: Sparse, laws: Laws, allowance: Allowance) -> list[fmpq]:
        allowance.look()
        found = [total(p * laws[x][y] for x, p in row) for y in self.outputs]
        allowance.take(sum(map(height, found)) // 4)
        return found


def secrets_of(table: dict[str, Any], ground: Inputs, what: str) -> list[Secret]:
    """The laws of a constraint's table: joint ones, of the input itself, or the one under the model's own law."""
    joint = table.get("secret")
    size = len(ground.inputs)
    if joint is None:
        priors = table.get("priors")
        ground.need_priors(priors or [], what)
        laws = [normalised(row, "a prior", ground.allowance) for row in priors] if priors else [ground.law]
        need(size * ground.outputs <= _MAX_CELLS, f"{what} has more than {_MAX_CELLS} letters and outputs")
        _take(len(laws), size, size, ground)
        return [_made([[(s, p)] if p else [] for s, p in enumerate(law)], size) for law in laws]
    for rows in joint:
        need(len(rows[0]) == size, f"each list of {what}.secret must list {size} numbers, one for each input")
        held = zip(ground.held, zip(*rows, strict=True), strict=True)
        need(
            all(has or not any(column) for has, column in held),
            f"{what}.secret has mass on a value that no dataset has",
        )
        need(len(rows) * ground.outputs <= _MAX_CELLS, f"{what} has more than {_MAX_CELLS} letters and outputs")
    found = list[Secret]()
    for rows in joint:
        _take(1, len(rows), len(rows) * size, ground)
        flat = iter(normalised([p for row in rows for p in row], "a law", ground.allowance))
        found.append(_made([[(x, p) for x, p in enumerate(next(flat) for _ in range(size)) if p] for _ in rows], size))
    return found


def _take(laws: int, letters: int, numbers: int, ground: Inputs) -> None:
    """Count the numbers of laws, and those that are worked out for each letter and output."""
    ground.allowance.take(laws * (2 * PAIR * numbers + PAIR * letters * ground.outputs))


def _made(rows: list[Sparse], size: int) -> Secret:
    columns: list[list[fmpq]] = [[] for _ in range(size)]
    for row in rows:
        for x, p in row:
            columns[x].append(p)
    inputs = [(x, total(column)) for x, column in enumerate(columns) if column]
    return Secret(rows, [total(p for _, p in row) for row in rows], inputs)


Make = Callable[[int, fmpq], tuple[Iterable[Term], fmpq]]
Head = tuple[Sparse, Sparse]  # one and other, of rows one(y) - c other(y) <= 0 for each output
_RATIOS = ("local_dp", "pointwise_maximal_leakage", "local_information_privacy", "information_privacy")


def rows_of(table: dict[str, Any], ground: Ground, what: str) -> Rows:
    """The rows of a constraint of this table."""
    if table["kind"] not in _RATIOS:
        return other_rows(table, ground, what)
    if table["kind"] == "local_dp" and not table.get("secret"):
        return _local(table, ground, what)
    laws = secrets_of(table, ground, what)
    exempt = table.get("exempt") or []
    shortest = min(len(law.rows) for law in laws)
    fits = all(s < shortest and y < ground.outputs for s, y in exempt)
    need(fits, f"{what}.exempt: an index is no letter of every law or no output")
    sides = 1 if table["kind"] == "pointwise_maximal_leakage" else 2
    local = table["kind"] == "local_dp"
    cells = [_cells(law, local, exempt, ground.outputs) for law in laws]
    counts = [sides * len(listed) for listed in cells]
    last = len(exempt) * sum(len(law.inputs) for law in laws)
    often = 2 if table.get("secret") else sides  # as docs/model-format.md counts them
    terms = sum(often * len(law.inputs) * count for law, count in zip(laws, counts, strict=True)) + last
    need_few(sum(counts) + (len(laws) if exempt else 0), terms, ground, what)
    made = [_block(table, law, listed, sides, ground.outputs) for law, listed in zip(laws, cells, strict=True)]
    starts = list(accumulate((count + bool(exempt) for count in counts), initial=0))

    def make(r: int, c: fmpq) -> tuple[Iterable[Term], fmpq]:
        place = bisect_right(starts, r) - 1
        return made[place](r - starts[place], c)

    return Rows(starts[-1], False, make, exponential(*table["epsilon"]))


def _local(table: dict[str, Any], ground: Ground, what: str) -> Rows:
    """Of pairs of inputs: those that are listed, or all that some datasets have."""
    listed = table["pairs"] or []
    used = ground.used
    ground.need_inputs(chain(*listed), what)
    need(all(x != other for x, other in listed), f"{what}: a pair has one input twice")
    count = 2 * ground.outputs * (len(listed) or len(used) * (len(used) - 1) // 2)
    need_few(count, 2 * count, ground, what)
    units: list[Sparse] = [[(x, fmpq(1))] for x in range(len(ground.inputs))]
    heads = [(units[x], units[other]) for x, other in listed or combinations(used, 2)]
    return Rows(count, False, _ratios(heads, range(count // 2), 2, ground.outputs), exponential(*table["epsilon"]))


def _cells(law: Secret, local: bool, exempt: Sequence[Sequence[int]], outputs: int) -> Sequence[int]:
    """Head and output of each pair of rows, as one number, without those that are exempt."""
    letters = len(law.letters)
    every = range((letters * (letters - 1) // 2 if local else letters) * outputs)
    if not exempt:
        return every
    places = {s: k for k, s in enumerate(law.letters)}
    without = {places[s] * outputs + y for s, y in exempt if s in places}
    return [cell for cell in every if cell not in without]


def _block(table: dict[str, Any], law: Secret, cells: Sequence[int], sides: int, outputs: int) -> Make:
    """The rows of one law, and then the last one about the pairs that are exempt."""
    given = law.given.values()
    heads = list(combinations(given, 2)) if table["kind"] == "local_dp" else [(row, law.inputs) for row in given]
    ratios = _ratios(heads, cells, sides, outputs)

    def make(r: int, c: fmpq) -> tuple[Iterable[Term], fmpq]:
        if r == sides * len(cells):
            return _last(table["strong"], law, table["exempt"]), table["delta"]
        return ratios(r, c)

    return make


def _ratios(heads: Sequence[Head], cells: Sequence[int], sides: int, outputs: int) -> Make:
    """The rows of heads, at outputs, in turn with one and other exchanged where there are two sides."""

    def make(r: int, c: fmpq) -> tuple[Iterable[Term], fmpq]:
        head, y = divmod(cells[r // sides], outputs)
        one, other = heads[head][:: -1 if r % sides else 1]
        return chain(((x, y, p) for x, p in one), ((x, y, -c * p) for x, p in other)), fmpq(0)

    return make


def _last(strong: bool, law: Secret, exempt: Sequence[Sequence[int]]) -> Iterable[Term]:
    """The probability of the pairs that are exempt, or of their outputs."""
    if strong:
        return ((x, y, p) for y in sorted({y for _, y in exempt}) for x, p in law.inputs)
    return ((x, y, p) for s, y in exempt for x, p in law.rows[s])
