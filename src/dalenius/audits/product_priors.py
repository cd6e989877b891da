"""Independent records of any law, exactly, by capacities in batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.audits.selections import Kind, SelectionAudit, rounded
from dalenius.evidence import vector_text
from dalenius.evidence.lower import InputLaw
from dalenius.information.arrays import Floats, Integers
from dalenius.information.capacity import Capacity, capacities, capacity
from dalenius.reduction import RowSets, Selections
from dalenius.search import Clock

RELATIVE = 1e-6  # of a leakage so small that RESOLUTION is much of it
RESOLUTION = 1e-13  # nats: capacities are computed, and laws are found, this exactly
BATCH = 2**21  # numbers in a batch of selections
FREE = 256  # laws of a record that are written for the last digits; more of them only for the gap
MOST = 2**22  # numbers in all laws of a certificate
WORK, ANEW = 2.5e-8, 4e-7  # seconds that checking a law takes for each entry of a channel that is kept, or made anew
WEIGHT = 1.5e-5  # and for each of its own weights
KEPT = 256  # bytes of the memory limit for each entry, from which on the checker keeps a channel


@dataclass
class ProductAudit(SelectionAudit):
    """A running audit against `ProductPriors`. Where it costs little, the interval is as narrow as doubles allow."""

    def _search(self) -> None:
        """The capacities of all selections that one common law does not settle, then laws for those that need one."""
        search = self.clock.part(0.7)
        for kind in sorted(self._kinds, key=lambda kind: -float(kind.upper.max())):
            self._attain(kind, search)
        for kind in sorted(self._kinds, key=lambda kind: -kind.best):
            self._cover(kind)
        self.out_of_time |= self.clock.remaining <= self._law_seconds * (self._more_laws + 1)

    def _tuples(self, selections: Selections) -> tuple[Integers, Integers]:
        reduced = RowSets.of(selections, self._row_of_input)
        return reduced.sets, reduced.set_of

    def _witness(self, kind: Kind, j: int) -> tuple[int, Floats, InputLaw | None]:
        selection, pi = RowSets.of(kind.selections, self._row_of_input).lift(j, kind.laws[j])
        return selection, pi, (selection, vector_text(pi))

    def _attain(self, kind: Kind, clock: Clock) -> None:
        """The capacity of every selection that may be the largest, the most promising first."""
        order = np.argsort(-kind.upper, kind="stable")
        size = max(BATCH // (kind.selections.letters * self._rows.shape[1]), 1)
        for batch in np.split(order, range(size, len(order), size)):
            batch = batch[kind.upper[batch] > self.lower]
            if clock.expired or not batch.size:
                break
            for j, answer in zip(batch, _capacities(self._rows[kind.rows[batch]], clock), strict=True):
                kind.laws[j], kind.lower[j] = answer.input_law, answer.lower
            self.report("selections", kind.selections.record)

    def _cover(self, kind: Kind) -> None:
        """Give selections their own laws, those with the largest bounds first, and every law to all that are better off with it."""
        numbers = max(kind.rows.size, kind.selections.letters * self._rows.shape[1])
        size = min(max(BATCH // numbers, 1), 64)
        while not self.clock.expired:
            enough = self._enough(len(kind.lines))
            worst = np.argsort(-kind.upper, kind="stable")[:size]
            worst = worst[kind.upper[worst] > enough]
            if not worst.size or not self._lower(kind, worst, enough):
                break
            self.report("selections", kind.selections.record)

    def _lower(self, kind: Kind, worst: Integers, enough: float) -> bool:
        """Try the own laws of the sets `worst`; whether any of their bounds fell."""
        before = kind.upper[worst]
        sets = kind.rows
        laws = rounded((kind.laws[worst, None] @ self._rows[sets[worst]])[:, 0])
        upper = self._divergences(laws)[:, sets].max(axis=2)
        for law, bounds, j in zip(laws, upper, worst, strict=True):
            better = bounds < kind.upper
            if kind.upper[j] > enough and better[j] and self._room >= 1:
                kind.line_of[better], kind.upper[better] = len(kind.lines), bounds[better]
                kind.lines.append(self._line(vector_text(law)))
        return bool(np.any(kind.upper[worst] < before))

    @property
    def _room(self) -> float:
        """How many more laws a certificate should hold: there must be time left to check them, too."""
        return min(MOST // self._rows.shape[1], self.clock.remaining / self._law_seconds) - self._more_laws

    @property
    def _law_seconds(self) -> float:
        """What checking a law takes."""
        channel = self.problem.channel
        kept = KEPT * channel.size <= self.search.limits.least[1] - channel.nbytes
        once = (WORK if kept else ANEW) * channel.size + WEIGHT * channel.shape[1]
        return self.clock.pace * self.search.checks * once

    @property
    def _more_laws(self) -> int:
        """The laws besides the first ones, which are reckoned with."""
        return sum(len(kind.lines) - 1 for kind in self._kinds)

    def _enough(self, laws: int) -> float:
        """The upper bound at which a kind of record is done, which has so many laws already."""
        if self.gap >= 1.0:
            return np.inf
        return max(
            self.lower / (1.0 - 0.9 * self.gap) if laws > FREE else 0.0,
            self.lower + min(RESOLUTION, RELATIVE * self.lower),
        )


def _capacities(rows: Floats, clock: Clock) -> list[Capacity]:
    if len(rows) == 1:
        return [capacity(rows[0], gap=RESOLUTION, clock=clock)]
    return capacities(rows, gap=RESOLUTION, clock=clock)
