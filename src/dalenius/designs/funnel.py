"""The most information within a limit about a secret: a mechanism from posteriors, and a plane above all posteriors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from dalenius._prove import Proved
from dalenius.designs.claims import Most, MostProposer
from dalenius.designs.envelope import MOST_CELLS, SMALL, Envelope, Sides, Told, cells_of
from dalenius.designs.exchange.secrets import SecretLaw, as_matrix
from dalenius.designs.lp import minimised
from dalenius.designs.rational import mixtures, rational_rows, weight_texts
from dalenius.evidence import CERTAIN, Lower, Upper, short_text
from dalenius.evidence.upper import EnvelopeLine, Over
from dalenius.information.arrays import Floats
from dalenius.model.constraints import MeasureLimit
from dalenius.model.problems.max_information import MaxInformation
from dalenius.outcome import ConstraintPrice
from dalenius.programs.highs import METHODS
from dalenius.results import DesignResult
from dalenius.search import Run

KEPT = 50  # columns that are added in a round
ROUNDS = 100
CHECKED = 5000.0  # cells that the checker takes a second for, at least
CURVED = (
    3.0  # part of the gap that is left to search where several limits are looked at: the band between them is wider
)
ROUNDED = 1e-10  # share of the limit that is left for rounding the mechanism to fractions
Rows = list[list[Fraction]]


@dataclass(frozen=True, eq=False)
class Found(Most):
    """A mechanism within the limit, and an envelope with its largest excess."""

    envelope: Envelope
    excess: float

    def line(self, by: float) -> tuple[float, float]:
        """The envelope raised by so much, above all columns: its value at a limit of 0, and how it rises with the limit."""
        return float(self.envelope.prices.sum()) + self.excess + by, self.envelope.mu


@dataclass
class FunnelProposer(MostProposer):
    """The most information within a limit about a secret, by columns: a linear program weighs them, its prices find more of them.

    Parameters
    ----------
    like : FunnelProposer, optional
        Of the same problem with another limit, which has run: its columns are begun with.
    others : of problems with other limits, whose envelopes are proved by the same cells, for these limits
    bare : bool
        Whether the mechanism alone is to be proved, and no envelope.
    """

    problem: MaxInformation
    search: Run
    like: FunnelProposer | None = None
    rounds: int = 0
    others: tuple[Found, ...] = ()
    bare: bool = False
    found: Found = field(init=False)
    columns: Floats = field(init=False)

    @cached_property
    def law(self) -> SecretLaw:
        """The limit, and the law that it is about."""
        return SecretLaw(0, self.problem.limit, 0, self.problem.secret)

    @cached_property
    def useful(self) -> Told:
        """The variable that the release is useful for."""
        return Told.of_law(self.problem.joint, self.problem.told)

    @cached_property
    def secret(self) -> Told:
        """The limited variable."""
        return Told.of_law(self.problem.secret, self.problem.limited)

    @cached_property
    def over(self) -> Over:
        """The side with fewer cells: the useful variable's posteriors, which needs the limit to be about the input itself."""
        alone = self.secret.measure == "mutual_information" and self.problem.limit.secret is None
        return "useful" if alone and len(self.useful.pi) <= len(self.secret.pi) else "inputs"

    @cached_property
    def sides(self) -> Sides:
        """Both, with what is worked out of them once."""
        return Sides(self.useful, self.secret) if self.like is None else self.like.sides

    def run(self) -> None:
        """Solve."""
        clock, most = self.search.clock, self.problem.limit.limit_in_doubles
        size = self.useful.joint.shape[1]
        p = self.secret.joint.sum(axis=0)
        columns = np.vstack([np.ones(size), np.diag(1.0 / np.where(p > 0.0, p, 1.0))])
        columns = columns if self.like is None else np.vstack([columns, self.like.columns])
        weights, prices = np.zeros(len(columns)), self.useful.of(np.eye(size))
        weights[0] = 1.0
        best = float(prices.sum()), Envelope(self.sides, 0.0, prices, self.over), 0.0
        while self.rounds < ROUNDS and not clock.expired:
            told, shown = self.useful.of(columns), self.secret.of(columns)
            given = {"A_ub": shown[None], "b_ub": [most * (1.0 - ROUNDED)], "A_eq": columns.T, "b_eq": np.ones(size)}
            answer = minimised(-told, clock, METHODS[1:], **given)
            if answer is None:
                break
            self.rounds += 1
            weights = np.asarray(answer.x)
            prices, mu = -np.asarray(answer.eqlin.marginals), max(-float(answer.ineqlin.marginals[0]), 0.0)
            envelope, low = Envelope(self.sides, mu, prices, self.over), float(told @ weights)
            planes, added = [envelope], [columns]
            if self.over == "useful" and mu > 0.0 and (p > 0.0).all():
                more, settled = envelope.settled((columns * weights[:, None])[weights > SMALL])
                planes.append(settled)
                added.append(more)
            good = max(self.search.limits.gap * low / (8.0 if self.like is None else CURVED), SMALL)
            for plane in planes:
                new, over = plane.worst()
                excess = max(float(over.max()), 0.0)
                high = float(plane.prices.sum()) + mu * most + excess
                best = min(best, (high, plane, excess), key=lambda each: each[0])
                order = np.argsort(-over)[:KEPT]
                added.append(new[order[over[order] > min(good, excess / 2.0)]])
            clock.tell("posteriors", low, best[0], len(columns), rounds=self.rounds)
            if best[0] - low <= good:
                break
            columns = np.vstack(added)
        self.columns = columns[size + 1 :]
        rows = self._exactly(columns[: len(weights)], weights)
        attained = float(self.useful.of(np.array(rows, dtype=float).T).sum())
        self.found = Found(rows, attained, *best[1:])
        clock.tell("posteriors", attained, best[0], len(columns), rounds=self.rounds, now=True)

    def _exactly(self, columns: Floats, weights: Floats) -> Rows:
        """The mechanism of these weights in exact numbers, with as little of a constant one as keeps the limit."""
        used = np.flatnonzero(weights > SMALL)
        Q = np.maximum((columns[used] * weights[used, None]).T, 0.0)
        Q /= Q.sum(axis=1, keepdims=True)
        mean = np.full(len(Q), 1.0 / len(Q)) @ Q
        for mixed in mixtures(Q, np.tile(mean, (len(Q), 1)), 0.0):
            rows = rational_rows(mixed)
            if self._keeps(rows):
                return rows
        return [[Fraction(1)] for _ in Q]

    def _keeps(self, rows: Rows) -> bool:
        """True if a mechanism keeps the limit; with logarithms, proved in balls."""
        limit = self.problem.limit
        if isinstance(limit, MeasureLimit):
            return limit.taken(self.problem.secret, rows) <= limit.at_most
        return self.law.met_by(as_matrix(rows))

    def uppers(self) -> Iterator[Upper]:
        """The envelope, raised until its cells are few enough, as are others with it; at last what the input itself tells.

        The steepest for their margin, which need most cells, are raised more than others, or left out: one proof has the cells of all.
        """
        envelope, value = self.found.envelope, max(self.found.attained, SMALL)
        room = self.search.limits.gap * value / 2.0
        most = min(MOST_CELLS, int(CHECKED * max(self.search.clock.remaining, 0.2)))
        several = [self.found, *(other for other in self.others if other.envelope.mu)]
        for sought in [] if self.bare or not envelope.mu else [several, several[:1]][len(several) == 1 :]:
            margins = dict.fromkeys(sought, max(room - self.found.excess, room / 4.0, SMALL))
            while margins[self.found] < value:
                raised = {each: each.envelope.raised(each.excess + margin) for each, margin in margins.items()}
                if cells_of([*raised.values()], most) is not None:
                    yield self._upper(*(plane.raised(margins[each] / 64.0) for each, plane in raised.items()))
                    break
                steepest = max(each.envelope.mu / margin for each, margin in margins.items())
                for each, margin in [*margins.items()]:
                    if 2.0 * each.envelope.mu > steepest * margin:
                        margins[each] *= 2.0
                    if margins[each] >= value and each is not self.found:
                        del margins[each]
        bare = replace(envelope, over="inputs", mu=0.0, prices=self.useful.alone)
        yield self._upper(bare, candidate=CERTAIN)

    def result(self, proved: Proved[Lower, Upper]) -> DesignResult:
        """The mechanism, the proved interval for the most that any tells, and what the limit costs."""
        line = proved.upper_end.lines[0]
        assert isinstance(line, EnvelopeLine)
        limit, price = self.problem.limit, float(line.price)
        per = "nat" if self.secret.measure == "mutual_information" else "unit"
        units = f"{self.problem.quantity.units} per {per}"
        told = ConstraintPrice(0, limit.kind, price, slope=price, units=units)
        return self.answer(proved, self.found.rows, largest=True, prices=(told,))

    def _upper(self, *planes: Envelope, candidate: int = 0) -> Upper:
        """Value of the first of them."""
        lines = tuple(
            EnvelopeLine(plane.over, short_text(plane.mu), tuple(map(short_text, plane.prices.tolist())))
            for plane in planes
        )
        limit = Fraction(self.problem.limit.limit_in_doubles) * (1 + Fraction(1, 2**50))
        value = sum(map(Fraction, lines[0].prices), Fraction(lines[0].price) * limit)
        return Upper(
            value=max(value, Fraction(0)),
            candidate=candidate,
            lines=lines,
            mechanism=weight_texts(self.found.rows),
        )
