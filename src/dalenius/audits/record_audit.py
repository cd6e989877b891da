"""What is known about one kind of record: a witness from below, the least of several bounds from above, and what proves it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dalenius.audits.ascent import Candidate, feasible, polish
from dalenius.audits.bounds.dual_work import DualWork
from dalenius.audits.proof_lines import capacity_line, entropy_line
from dalenius.evidence.upper import ProofLine
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
from dalenius.information.tilt import entropy_of
from dalenius.reduction import AggregatedRecord, RecordChannel
from dalenius.search import Clock
from dalenius.search.race import Race

__all__ = [
    "ABSOLUTE",
    "RELATIVE",
    "Bound",
    "RecordAudit",
    "Rung",
    "best_of",
    "capacity_bound",
    "letters_bound",
    "one_class_a_letter",
]

Proof = tuple[ProofLine, ...]
RELATIVE = 1e-5  # of a leakage so small that ABSOLUTE is much of it
STEEP = 3  # times as many leaves has the next proof on the ladder, at least
SHORT = 256  # lines of a proof that takes no time to speak of
ABSOLUTE = 4e-12  # nats: below this width double precision does not steer a search any more


class Rung(NamedTuple):
    """What is to be checked of a proof: its leaves, each with slopes for `grouped` times as many numbers as there are outputs, and the
    multiply-adds that one takes where outputs are not grouped."""

    leaves: int
    grouped: float
    work: int


class Bound(NamedTuple):
    """An upper bound in nats, what it is called, and the lines that prove it."""

    upper: float
    method: str
    proof: Proof


@dataclass
class RecordAudit:
    """What is known about one kind of record: a witness and an upper bound, each with the lines that prove it.

    `leaves` are those of the bound's proof, and `grouped` is what `Rung` says of it. `ladder` has earlier bounds, each with a proof of
    fewer leaves than those after it, for the case that there is no time to check the best.
    """

    channel: AggregatedRecord
    candidate: Candidate
    upper: float
    method: str
    proof: Proof
    leaves: int = 1
    dual: DualWork | None = None
    grouped: float = 1.0
    race: Race | None = None
    ladder: list[tuple[Rung, float, Proof]] = field(default_factory=list)
    quick: tuple[float, Proof] = field(init=False)

    def __post_init__(self) -> None:
        self.quick = self.upper, self.proof

    def witness(self, slack: float) -> tuple[Floats | None, float]:
        """A prior with H >= b + slack (None: the uniform one) and its leakage in nats."""
        if self.channel.max_knowledge > 0.0:
            p = feasible(self.candidate.p, self.channel.log_uniform, self.channel.max_knowledge, slack=slack)
            if p is not None:
                return p, float(mutual_information(p @ self.channel.rows))
        return None, float(mutual_information(self.channel.uniform @ self.channel.rows))

    @property
    def bounded(self) -> float:
        """The least bound known, that of its trees included."""
        return min([self.upper, *(runner.upper for runner in (self.race.runners if self.race else []))])

    @property
    def rung(self) -> Rung:
        """What is to be checked of the bound that is kept."""
        return Rung(self.leaves, self.grouped, self.work)

    @property
    def best_rung(self) -> Rung:
        """Of the bound that would be proved now, a tree's or another; no leaves where that is a matter of a few lines."""
        best = min(self.race.runners if self.race else [], key=lambda runner: runner.upper, default=None)
        if best is not None and best.upper < self.upper:
            return Rung(best.leaves, 1.0, self.work)
        return self.rung if self.leaves > 1 else Rung(0, 1.0, self.work)

    @property
    def work(self) -> int:
        """Multiply-adds that checking a leaf takes where outputs are not grouped."""
        return self.channel.completions.log_uniform.shape[1] * self.channel.aggregation.output_count

    def decimals(self, gap: float) -> int:
        """How many decimals hints need: rounding them should cost a hundredth of the gap."""
        wanted = max(gap * self.candidate.leakage, ABSOLUTE)
        return int(np.clip(np.ceil(2.0 - np.log10(wanted)), 5, 13))

    def keep(self, upper: float, method: str, lines: Iterable[ProofLine], rung: Rung) -> None:
        """Take a bound with its proof, if it is better; the best one with a short proof is kept beside it, and the ladder."""
        if upper < self.upper:
            known = [*self.ladder, (self.rung, self.upper, self.proof)]
            self.ladder = [step for step in known if STEEP * step[0].leaves <= rung.leaves]
            self.upper, self.method, self.proof = upper, method, tuple(lines)
            self.leaves, self.grouped = rung.leaves, rung.grouped
            if len(self.proof) <= SHORT or rung.leaves == 1:
                self.quick = upper, self.proof

    def retreat(self, fits: Callable[[Rung], bool]) -> tuple[float, Proof]:
        """The best bound with a short proof, or with one that is not the best one's and fits."""
        return min(
            [self.quick, *((upper, proof) for rung, upper, proof in self.ladder if fits(rung))],
            key=lambda step: step[0],
        )

    def improve(self, p: Floats, clock: Clock) -> None:
        """Search from a prior where a bound is large."""
        self.candidate = polish(self.channel, p / p.sum(), self.candidate, clock=clock)


def best_of(channel: RecordChannel, *candidates: Candidate) -> Candidate:
    """The feasible candidate that leaks most (the search may have been cut short), or the uniform prior."""
    uniform = float(mutual_information(channel.uniform @ channel.rows))
    return max((_or_uniform(channel, candidate, uniform) for candidate in candidates), key=lambda c: c.leakage)


def _or_uniform(channel: RecordChannel, candidate: Candidate, uniform: float) -> Candidate:
    least = -channel.max_knowledge - 1e-9 * (1.0 + channel.max_knowledge)
    if entropy_of(candidate.p, channel.log_uniform) >= least and candidate.leakage >= uniform:
        return candidate
    return Candidate(channel.uniform, uniform, candidate.mu)


def one_class_a_letter(channel: RecordChannel, inputs: Floats) -> Candidate:
    """A law on the classes as a prior where every letter has one class (a record alone): then the problem is Shannon capacity."""
    exists = np.isfinite(channel.log_uniform)
    p = channel.uniform
    if np.all(exists.sum(axis=1) == 1):
        p = exists * inputs / np.maximum(exists.sum(axis=0), 1)
        p = p / p.sum()
    return Candidate(p, float(mutual_information(p @ channel.rows)), 0.0)


def letters_bound(channel: RecordChannel) -> Bound:
    """I(X_i; Y) <= log of the number of letters."""
    return Bound(float(np.log(channel.letters)), "letters", (entropy_line(),))


def capacity_bound(channel: AggregatedRecord, law: Floats, divergences: Floats) -> Bound:
    """I(X_i; Y) <= I(X; Y) <= max D(row || law)."""
    used = np.isfinite(channel.log_uniform).any(axis=0)
    return Bound(float(divergences[used].max()), "capacity", (capacity_line(channel, law),))
