"""Laws of a secret S and a mechanism's input X, and what the output Y then says of S, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .allowance import PAIR, Allowance
from .arithmetic import fmpq
from .ground import Ground
from .numbers import height, need, normalised, total

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


def secrets_of(table: dict[str, Any], ground: Ground, what: str) -> list[Secret]:
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


def _take(laws: int, letters: int, numbers: int, ground: Ground) -> None:
    """Count the numbers of laws, and those that are worked out for each letter and output."""
    ground.allowance.take(laws * (2 * PAIR * numbers + PAIR * letters * ground.outputs))


def _made(rows: list[Sparse], size: int) -> Secret:
    columns: list[list[fmpq]] = [[] for _ in range(size)]
    for row in rows:
        for x, p in row:
            columns[x].append(p)
    inputs = [(x, total(column)) for x, column in enumerate(columns) if column]
    return Secret(rows, [total(p for _, p in row) for row in rows], inputs)
