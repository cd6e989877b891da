"""Sums of many values of a block of which nothing is known, behind noise that shifts.

*From above*: no record is told more than the block's sum, at most the largest divergence of a row from one law of the outputs, here
a mixture of rows that lie some share of the noise apart. *From below*: each letter of a record with one sum, as in a household whose
members answer alike (docs/theory.md, Theorem B5). Where noise is so narrow that both stay apart, trees over posteriors or selections
did not bring them closer in half a minute, at 67 to 110 values; there are none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dalenius.audits.audit import RELATIVE, Audit, Exposure, UpperProof, closing
from dalenius.evidence import short_text
from dalenius.evidence.lower import LowerLine, SparseLaw, SumsOfLetters
from dalenius.evidence.upper import SumsLine
from dalenius.information.arrays import Floats, Integers
from dalenius.information.capacity import capacity
from dalenius.information.entropies import x_log_x
from dalenius.information.shifts import Shifts
from dalenius.model.sums import RecordType, other_sums, record_types
from dalenius.results import RecordProof
from dalenius.search.decimals import short

APART = 0.5  # of the mean size of noise, which values of a mixture are apart at first
LEAST = 16  # parts of the span, at least, which they are apart then
BINS = 4  # of outputs from one value of a mixture to the next, where one is searched for
MOST, ENTRIES = 1024, 2**23  # values of a mixture, and what is held of their rows
DIGITS, FAINT = 12, 1e-13
SETTLED = 0.05  # share of the gap to which a mixture is searched for


@dataclass(frozen=True, kw_only=True)
class _OfLetters(Exposure):
    """A sum for each letter; `columns` are the values of the masses' columns."""

    columns: tuple[int, ...]

    @property
    def lines(self) -> tuple[LowerLine, ...]:
        return (SumsOfLetters(self.record, self.prior),)


@dataclass
class SumsAudit(Audit):
    """A running audit of a block's sum.

    Attributes
    ----------
    enough : float
        An upper bound at most this closes the audit, too, however far the lower one is.
    """

    enough: float = 0.0
    _found: _OfLetters | None = field(default=None, init=False)
    _line: SumsLine = field(default=SumsLine(None), init=False)

    def __post_init__(self) -> None:
        query, records = self.problem.query.sums, self.problem.records
        assert query is not None
        values = query.values(records)
        self.span = int(values[-1] - values[0])
        self._whole = self.problem.mechanism.on_whole_numbers()
        self._letters = math.log(max(records.alphabets))
        self.shifts, self._below = (
            Shifts(law, values, beyond) for law, beyond in (noise.law(self.span) for noise in self._whole[:2])
        )
        self.records = [kind for kind in record_types(query, records) if len(kind.contribution) > 1]
        self._others = dict(
            zip(record_types(query, records), other_sums(query, record_types(query, records)), strict=True)
        )
        self._bound = self.certain()[0]

    @property
    def lower(self) -> float:
        return 0.0 if self._found is None else self._found.leakage

    @property
    def upper(self) -> float:
        """The letters' entropy, or the largest divergence from a mixture."""
        return self._bound

    @property
    def target(self) -> float:
        """An upper bound at most this closes the audit."""
        return closing(self.lower, self.gap, self.enough)

    def run(self) -> None:
        """Mixtures of values that lie ever closer."""
        noise = float(self.shifts.law @ np.abs(np.arange(self.shifts.law.size) - self.shifts.law.size // 2))
        apart = min(APART * noise, self.span / LEAST)
        closest, done = max(1.0, self.span / min(MOST, ENTRIES // self.shifts.outputs)), False
        while not done:
            apart = max(apart, closest)
            for kind in self.records:
                self._look(_thin(self.shifts.values, np.unique(self._chosen(kind)), apart), kind)
            if self.upper > self.target:
                self._look(_thin(self.shifts.values, np.arange(self.shifts.values.size), apart))
            self.report("sums")
            done = self.upper <= self.target or self.clock.expired or apart == closest
            apart /= 2.0
        self.out_of_time = self.clock.expired

    def _look(self, points: Integers, kind: RecordType | None = None) -> None:
        """The capacity of the rows of some values, by index, and how far all rows are from the mixture that attains it."""
        rows = self.shifts.rows(points)
        step = max(1, int(np.diff(self.shifts.values[points]).max() / BINS))
        binned = np.add.reduceat(rows, np.arange(0, rows.shape[1], step), axis=1)
        settled = SETTLED * min(self.gap, 1.0) * max(self.lower, RELATIVE * self._bound)
        law = capacity(binned, gap=settled, clock=self.clock).input_law
        law = short(np.where(law < FAINT, 0.0, law), DIGITS)
        divergences = self.shifts.divergences(law @ rows / law.sum())
        if (upper := float(divergences.max()) + self._whole.lost * self._letters) < self._bound:
            pairs = tuple((int(k), short_text(p)) for k, p in zip(points, law, strict=True) if p)
            self._bound, self._line = upper, SumsLine(pairs)
        if kind is None:
            return
        shares = law / law.sum()
        told = shares @ self._below.divergences(shares @ self._below.rows(points))[points]
        leakage = self._whole.factor * float(told) + (self._whole.factor - 1.0) * float(x_log_x(shares).sum())
        leakage -= self._whole.off * self._letters
        if self._found is None or leakage > self._found.leakage:
            self._found = self._witness(kind, points, law, leakage)

    def _witness(self, kind: RecordType, points: Integers, law: Floats, leakage: float) -> _OfLetters:
        """The first letter that comes with a value has its probability."""
        chosen = self._chosen(kind)
        masses = np.zeros((chosen.size, points.size))
        first = [int(np.flatnonzero(chosen == k)[0]) for k in points]
        masses[first, np.arange(points.size)] = law
        prior: SparseLaw = tuple((int(k), short_text(p)) for k, p in zip(chosen, masses.sum(axis=1), strict=True))
        columns = tuple(self.shifts.values[points].tolist())
        return _OfLetters(kind.first, leakage, masses / law.sum(), prior, columns=columns)

    def _chosen(self, kind: RecordType) -> Integers:
        """For each letter the index of the sum that it comes with, the others' as far up as it is among the letters."""
        others, own = self._others[kind], np.array(kind.contribution)
        wanted = others[0] + np.argsort(np.argsort(own, kind="stable")) / (own.size - 1) * (others[-1] - others[0])
        after = (
            np.clip(np.searchsorted(others, wanted), 1, others.size - 1) if others.size > 1 else np.zeros(own.size, int)
        )
        before = np.maximum(after - 1, 0)
        nearest = np.where(wanted - others[before] < others[after] - wanted, before, after)
        return np.searchsorted(self.shifts.values, own + others[nearest])

    @property
    def exposed(self) -> int | None:
        return self.records[0].first if self._found is None else self._found.record

    def exposure(self, slack: float) -> Exposure | None:
        return self._found

    def columns_of(self, exposure: Exposure) -> tuple[int, ...]:
        assert self._found is not None
        return self._found.columns

    def proof(self) -> UpperProof:
        return (self._line,)

    def certain(self) -> tuple[float, UpperProof]:
        """A leakage is at most the entropy of the letters."""
        return self._letters, (SumsLine(None),)

    def record_proofs(self) -> tuple[RecordProof, ...]:
        method = "letters" if self._line.weights is None else "capacity"
        return tuple(RecordProof(kind.first, kind.times, method, 1) for kind in self.records)


def _thin(values: Integers, points: Integers, apart: float) -> Integers:
    """The first of these indices in each stretch of so many values, and the last of all."""
    stretch = ((values[points] - values[points[0]]) / apart).astype(np.int64)
    return np.union1d(points[np.unique(stretch, return_index=True)[1]], points[-1:])
