"""Design certificates: a mechanism that meets its budget and attains `upper`, and priors that prove `lower`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Any

from ...core.adversaries import NEXT
from ...core.allowance import NUMBER, rests_on
from ...core.arithmetic import arb, fmpq
from ...core.certificate import Lines
from ...core.channel import Channel
from ...core.model import Model
from ...core.numbers import RefusedError, ends_words, in_nats, largest, need, need_above, rounded, summed, total
from ...core.proof import Words
from ...core.read import nonnegative
from ..households import DesignedHouseholds
from .constraints import Constraints, Objective
from .given import Given
from .ground import Ground

Own = tuple[fmpq, fmpq]  # how often the expected distortion stands in the matrix, and what is subtracted behind


class Design:
    """A design model: the inputs' exact probabilities and distortions, and the budget; here against an adversary."""

    hints = "priors"
    theorem = "G1"

    def __init__(self, model: Model) -> None:
        self.allowance = model.allowance
        rests_on(self.allowance, self.theorem)
        self.model = model
        self.group = model.mechanism["class"]
        self.leakage = model.problem == "min_leakage"
        design = model.design
        what = " with expected distortion" if self.leakage else " that leak about a record"
        epsilon = design.get("privacy", {}).get("epsilon")
        budget: tuple[fmpq, str] = epsilon or design.get("max_leakage") or (design.get("max_distortion", fmpq(0)), "")
        self.budget, self.unit = budget
        self.limits = f"{what} at most {self.budget} {self.unit}".rstrip()
        self.ground = Ground(model)
        if model.adversary == "independent_blocks":
            self._need_blocks(model)
        self.constraints, self.objective = Constraints(model, self.ground), Objective(model, self.ground)

    def check(self, lines: Lines, claim: dict[str, Any]) -> Words:
        """Check all lines after the header; the statement, and the numbers of leaves by kind."""
        low = claim["lower"]
        high = claim["upper"]
        if claim["mechanism"] is None:
            return self._nothing(lines) if low is None else self._from_below(lines, low)
        full, additive = self.group == "full", self.group == "additive"
        channel = self.ground.channel(claim["mechanism"], self.ground.outputs, full, additive)
        ends = self.objective.ends(claim, channel)
        expected = self.ground.expected(channel.rows, self.ground.costs)
        need(expected <= (self.budget if self.leakage else ends[0]), "the mechanism's expected distortion is too large")
        self.constraints.need_met(channel.rows)
        words, tally = self._prove(lines, channel, low, ends[0])
        tally += self.constraints.need_kept(lines, channel)
        tally += self.objective.need_kept(lines, channel, ends)
        sought, unit = self._sought
        shown = f"{rounded(low, ROUND_FLOOR)} <= V <= {rounded(high, ROUND_CEILING)} {unit}"
        return [
            f"proved: {ends_words(low, high, 'V', self.model.most()) if unit == 'nats' else shown}",
            sought,
            *words,
            *self.objective.words(ends),
            f"its expected distortion: {rounded(expected, ROUND_CEILING)} (checked exactly, here rounded up)",
        ], tally

    @property
    def _sought(self) -> tuple[str, str]:
        """Meaning of V, and its unit, in words."""
        goal, unit = ("leakage", "nats") if self.leakage else ("expected distortion", "in units of the distortion")
        if self.objective.given:
            goal = f"{'maximum' if self.objective.largest else 'sum'} of the objective's terms"
            unit = "in its units"
        return f"V: least {goal} of {self.group} mechanisms{self.limits}{self.constraints.words()}", unit

    def _need_blocks(self, model: Model) -> None:
        """Refuse what is not known of designs against blocks, and blocks that do not fit the records."""
        known = model.query["kind"] in ("count", "sum", "parity", "modular_sum", "threshold") and self.group != "full"
        audited = {"leakage", "secret_leakage"} & {table["kind"] for table in model.design.get("constraints", [])}
        need(
            known and not audited and "objective" not in model.design,
            "a design against independent_blocks needs the class oblivious or additive, a count, sum, parity, modular_sum or "
            "threshold, no constraints leakage and secret_leakage, and no objective",
        )
        constant = Channel([[fmpq(1)]] * len(self.ground.inputs), self.ground.inputs, self.allowance)
        DesignedHouseholds(Lines(b"", self.allowance), model, constant)

    def _nothing(self, lines: Lines) -> Words:
        """A claim that no mechanism meets everything: by the header alone, or by lines, which may leave the budget out."""
        if not ((self.constraints.tables or self.objective.given) and lines.more()):
            self._need_infeasible()
            need(not lines.more(), "there is a line after a claim of infeasibility")
            return [f"proved: infeasible, there are no {self.group} mechanisms{self.limits}"], Counter()
        given = self._given(lines, Objective(self.model, self.ground, False))
        self._lower(given, None)
        budget = self.limits if given.priced else ""
        words = f"{self.group} mechanisms{budget}{self.constraints.words(given.named)}"
        return [f"proved: infeasible, there are no {words}"], given.tally

    def _from_below(self, lines: Lines, low: fmpq) -> Words:
        """A claim that no mechanism which meets everything is better, by the lines of a lower end; there may be none."""
        given = self._given(lines, self.objective)
        self._lower(given, low)
        sought, unit = self._sought
        return [f"proved: {rounded(low, ROUND_FLOOR)} <= V {unit}; no mechanism is shown", sought], given.tally

    def _given(self, lines: Lines, objective: Objective) -> Given:
        """Gains and multipliers of the lines of a lower end, without a mechanism."""
        constant = [fmpq(int(y == 0)) for y in range(self.ground.outputs)]  # of which priors need the inputs only
        channel = Channel(
            [constant] * len(self.ground.inputs), self.ground.inputs, self.allowance, self.group == "full"
        )
        return Given(lines, channel, self.constraints, objective, self.model)

    def _prove(self, lines: Lines, channel: Channel, low: fmpq, high: fmpq) -> Words:
        """The lines that prove `lower` and what the mechanism leaks."""
        need(self.leakage or self.budget >= 0, "max_leakage is negative")
        given = Given(lines, channel, self.constraints, self.objective, self.model)
        self._lower(given, low)
        free = (high if self.leakage else self.budget) == 0 or (self.leakage and self.objective.given)
        if not (free and channel.constant) or lines.ahead() not in NEXT:  # a constant mechanism leaks nothing
            given.proof.bound(arb(high) if self.leakage else in_nats(self.budget, self.unit))
        leaks = f"{rounded(high, ROUND_CEILING)} nats" if self.leakage else f"{self.budget} {self.unit}"
        return [
            "leakage: the largest I(X_i; Y) over the records and the adversary's priors above",
            "mechanism: the one in the certificate meets the budget and attains the upper bound",
            f"its leakage: at most {leaks}",
        ], given.proof.tally + given.tally

    def _need_infeasible(self) -> None:
        """Bound because a law's mean distortion is at least its least one, input by input, or shift by shift."""
        if self.leakage:
            least = total(min(row) for row in self._choices(self.ground.weighted(), total))
            need(least > self.budget, f"expected distortion {rounded(least, ROUND_CEILING)} is feasible")
        else:
            need(self.budget < 0, "a mechanism that leaks nothing is feasible")

    def _choices(self, rows: list[list[Any]], add: Callable[[Iterable[Any]], Any]) -> list[list[Any]]:
        """Choices that a mechanism mixes, one law a row: the outputs of each input, or the shifts of all inputs together."""
        size = len(rows)
        if self.group != "additive":
            return rows
        return [[add(rows[v][(v + z) % size] for v in range(size)) for z in range(size)]]

    def _dual(self, lines: Lines, lower: fmpq | None) -> fmpq | None:
        """The line `dual`: nu, or None where nothing is to prove."""
        hint = lines.item("the dual", {"dual": 2})[1]
        if hint is None:
            need(lower is not None and lower <= 0, "no dual, but lower is positive")
            return None
        nu = nonnegative(hint, "nu")
        need(self.leakage or nu == 0, "nu must be 0 in min_distortion")
        return nu

    def _lower(self, given: Given, low: fmpq | None) -> None:
        """The lines that prove `lower`, or, where that is None, that no mechanism meets everything."""
        nu = self._dual(given.lines, low)
        if nu is None:
            return
        given.priced = nu > 0
        own = self._own(given, nu, low is None)
        if given.others:
            given.read_others()
        given.objective.need_shares(given.shares)
        if low is None or low > 0:  # neither leakage nor distortion is ever negative
            what = "0 < the bound of the lines" if low is None else f"lower <= the {self.hints}' bound"
            need_above(low, lambda hard: self._bound(given, *own, hard), what)

    def _own(self, given: Given, nu: fmpq, nothing: bool) -> Own:
        """The lines `prior`, and the part of the bound that the budget makes; or nothing is to be least.

        Bound because the largest leakage is at least each average of I over priors, I >= sum Q g, and nu (max_distortion - E),
        or the sum of lambda (max_leakage - I), is nonnegative and given away.
        """
        weights = fmpq(0) if nothing and self.leakage else given.priors()
        several = given.objective.given
        constrained = bool(self.constraints.tables)
        need(weights > 0 or nothing or several or (constrained and not self.leakage), "a prior is expected")
        price, behind = (nu, nu * self.budget) if self.leakage else (fmpq(0 if nothing or several else 1), fmpq(0))
        if several and self.leakage:
            given.share(0, weights)
        elif weights > 0 and self.leakage:
            given.scale(1 / weights)
        elif weights > 0:
            given.spent += in_nats(self.budget, self.unit) * arb(weights)
        return price, behind

    def _bound(self, given: Given, price: fmpq, behind: fmpq, hard: bool) -> Any:
        """Proved bound of V, exact where there is no prior.

        Bound because the sum of a row of Q times anything is at least that thing's minimum.
        """
        with self.allowance.holding(len(self.ground.inputs) * self.ground.outputs * NUMBER):
            matrix = [[price * x for x in row] for row in self.ground.weighted()]
            behind = total([behind, given.add_to(matrix, hard)])
            if given.gains is None:
                return total([*(min(row) for row in self._choices(matrix, total)), -behind])
            cells = iter(given.gains.entries())
            rows = [[next(cells) + arb(x) for x in row] for row in matrix]
            choices = self._choices(rows, summed)
            return -sum((largest([-x for x in row]) for row in choices), given.spent + arb(behind))


class Free(Design):
    """A `min_distortion` model whose only limits are its constraints."""

    hints = "constraints"
    theorem = "G3"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.limits = ""

    def _need_infeasible(self) -> None:
        raise RefusedError("the header alone proves nothing of constraints")

    def _prove(self, lines: Lines, channel: Channel, low: fmpq, high: fmpq) -> Words:
        """`lower` is at most the bound of the lines; what the mechanism must meet are constraints."""
        given = Given(lines, channel, self.constraints, self.objective, self.model)
        self._lower(given, low)
        return ["mechanism: the one in the certificate meets the constraints and attains the upper bound"], given.tally

    def _own(self, given: Given, nu: fmpq, nothing: bool) -> Own:
        """No lines: the expected distortion alone."""
        return fmpq(0 if nothing or given.objective.given else 1), fmpq(0)
