"""Design certificates: a mechanism that meets its budget and attains `upper`, and priors that prove `lower`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Any

from .allowance import BALL, NUMBER, Allowance, limit
from .arithmetic import arb, arb_mat, fmpq
from .certificate import Lines
from .channel import Channel, log_weights
from .counts import MODULAR, datasets, law, values
from .model import Model
from .numbers import at_most, largest, need, rounded, total
from .proof import ADVERSARIES, EntropyBound, Masses
from .read import entries, law_of, nonnegative

_MAX_CELLS = 1 << 22
Words = tuple[list[str], Counter[str]]
_MEASURES: dict[str, Callable[[int], int]] = {"hamming": bool, "absolute": abs, "squared": lambda d: d * d}


class Design:
    """A design model: the inputs' exact probabilities and distortions, and the budget; here against an adversary."""

    def __init__(self, model: Model) -> None:
        self.allowance = model.allowance
        self.model, self.group, self.leakage = model, model.mechanism["class"], model.problem == "min_leakage"
        design, what = model.design, "with expected distortion" if self.leakage else "that leak about a record"
        epsilon = design.get("privacy", {}).get("epsilon")
        budget: tuple[fmpq, str] = epsilon or design.get("max_leakage") or (design["max_distortion"], "")
        self.budget, self.unit = budget
        self.limits = f"{what} at most {self.budget} {self.unit}".rstrip()
        listed = values(model)
        need(model.states() >= 0 or self.group != "full", "a full mechanism needs at most 65536 datasets")
        costs = _distortions(model.design["distortion"], listed, model.allowance)
        self.outputs = len(costs[0])
        fits = model.query["kind"] in MODULAR and self.outputs == len(listed)
        need(fits or self.group != "additive", "an additive mechanism needs parity or modular_sum, and V outputs")
        self.data, self.inputs, self.costs = model, listed, costs
        if self.group == "full":
            limit(model.states() * self.outputs <= _MAX_CELLS, "too many datasets and outputs")
            self.data, self.inputs = replace(model, query={"kind": "identity"}), list(range(model.states()))
            self.costs = [costs[k] for k in datasets(model, listed)]
        self.law = law(self.data, self.inputs)

    def check(self, lines: Lines, claim: dict[str, Any]) -> Words:
        """Check all lines after the header; the statement, and the numbers of leaves by kind."""
        kind = f"{self.group} mechanisms {self.limits}"
        if claim["mechanism"] is None:
            self._need_infeasible()
            need(not lines.more(), "there is a line after a claim of infeasibility")
            return [f"proved: infeasible, there are no {kind}"], Counter()
        channel, low, high = self._channel(claim["mechanism"]), claim["lower"], claim["upper"]
        expected = self._expected(channel)
        need(expected <= (self.budget if self.leakage else high), "the mechanism's expected distortion is too large")
        words, tally = self._prove(lines, channel, low, high)
        goal, unit = ("leakage", "nats") if self.leakage else ("expected distortion", "in units of the distortion")
        return [
            f"proved: {rounded(low, ROUND_FLOOR)} <= V <= {rounded(high, ROUND_CEILING)} {unit}",
            f"V: least {goal} of {kind}",
            *words,
            f"its expected distortion: {rounded(expected, ROUND_CEILING)} (checked exactly, here rounded up)",
        ], tally

    def _prove(self, lines: Lines, channel: Channel, low: fmpq, high: fmpq) -> Words:
        """The lines that prove `lower` and what the mechanism leaks."""
        need(self.leakage or self.budget >= 0, "max_leakage is negative")
        proof = ADVERSARIES[self.model.adversary](lines, self.model, channel)
        self._priors(lines, proof, low)
        still = (high if self.leakage else self.budget) == 0 and all(row == channel.rows[0] for row in channel.rows)
        if lines.more() or not still:  # a constant mechanism leaks nothing
            proof.bound(arb(high) if self.leakage else self._most())
        leaks = f"{rounded(high, ROUND_CEILING)} nats" if self.leakage else f"{self.budget} {self.unit}"
        return [
            "leakage: the largest I(X_i; Y) over the records and the adversary's priors above",
            "mechanism: the one in the certificate meets the budget and attains the upper bound",
            f"its leakage: at most {leaks}",
        ], proof.tally

    def _channel(self, rows: list[Any]) -> Channel:
        """The certificate's mechanism; the rows of an additive one are its law, shifted."""
        additive, size = self.group == "additive", len(self.inputs)
        wanted = 1 if additive else size
        need(len(rows) == wanted, f"{len(rows)} rows of the mechanism where {wanted} are needed")
        self.allowance.take(len(rows) * self.outputs * NUMBER)
        exact = [law_of(row, self.outputs, "a row of the mechanism", self.allowance) for row in rows]
        if additive:
            exact = [[exact[0][(y - v) % size] for y in range(size)] for v in range(size)]
        return Channel(exact, self.inputs, self.allowance, self.group == "full")

    def _expected(self, channel: Channel) -> fmpq:
        pairs = zip(self.law, channel.rows, self.costs, strict=True)
        return total(p * total(q * d for q, d in zip(row, costs, strict=True)) for p, row, costs in pairs if p)

    def _most(self) -> arb:
        """A ball around max_leakage in nats."""
        return arb(self.budget) * (arb(2).log() if self.unit == "bits" else 1)

    def _need_infeasible(self) -> None:
        """Bound because a law's mean distortion is at least its least one, input by input, or shift by shift."""
        if self.leakage:
            least = total(min(row) for row in self._choices(self._weighted(), total))
            need(least > self.budget, f"expected distortion {rounded(least, ROUND_CEILING)} is feasible")
        else:
            need(self.budget < 0, "a mechanism that leaks nothing is feasible")

    def _weighted(self) -> list[list[fmpq]]:
        """p(x) d(x, y)."""
        return [[p * d for d in costs] for p, costs in zip(self.law, self.costs, strict=True)]

    def _choices(self, rows: list[list[Any]], add: Callable[[Iterable[Any]], Any]) -> list[list[Any]]:
        """What a mechanism mixes, one law a row: the outputs of each input, or the shifts of all inputs together."""
        size = len(rows)
        if self.group != "additive":
            return rows
        return [[add(rows[v][(v + z) % size] for v in range(size)) for z in range(size)]]

    def _dual(self, lines: Lines, lower: fmpq) -> fmpq | None:
        """The line `dual`: nu, or None where nothing is to prove."""
        hint = lines.item("the dual", {"dual": 2})[1]
        if hint is None:
            need(lower <= 0, "no dual, but lower is positive")
            return None
        nu = nonnegative(hint, "nu")
        need(self.leakage or nu == 0, "nu must be 0 in min_distortion")
        return nu

    def _priors(self, lines: Lines, proof: EntropyBound, lower: fmpq) -> None:
        """The lines `dual` and `prior`.

        Bound because the largest leakage is at least each average of I over priors, I >= sum Q g, and the sum of a row
        of Q times anything is at least that thing's minimum; nu (max_distortion - E), or the sum of
        lambda (max_leakage - I), is nonnegative and given away.
        """
        nu, weights = self._dual(lines, lower), fmpq(0)
        if nu is None:
            return
        self.allowance.take(len(self.inputs) * self.outputs * 3 * BALL)
        gains = arb_mat(len(self.inputs), self.outputs)
        while lines.more():
            item = lines.item("a prior or record", {"prior": 5, "record": 2})
            if item[0] == "record":
                lines.back()
                break
            weight, i = nonnegative(item[1], "the weight"), proof.record(item[2])
            need(weight > 0, "the weight must be positive")
            gains += self._gains(proof.masses(i, item[3]), item[4]) * arb(weight)
            weights = total([weights, weight])
            proof.tally["prior line"] += 1
        need(weights > 0, "a prior is expected")
        scale, price, spent = 1 / weights, nu, arb(nu * self.budget)
        if not self.leakage:
            scale, price, spent = fmpq(1), fmpq(1), self._most() * arb(weights)
        cells, pairs = iter((gains * arb(scale)).entries()), zip(self.law, self.costs, strict=True)
        rows = [[next(cells) + arb(price * p * d) for d in costs] for p, costs in pairs]
        choices = self._choices(rows, lambda balls: sum(balls, arb(0)))
        bound = -sum((largest([-x for x in row]) for row in choices), spent)
        if lower > 0:  # neither leakage nor distortion is ever negative
            at_most(arb(lower), bound, "lower <= the priors' bound")

    def _gains(self, masses: Masses, hint: Any) -> arb_mat:
        """g(x, y) of a prior and posterior phi: the sum over a of p(a, x) log(phi(a|y) / pi_a).

        Bound because I(X_i; Y) = sum Q g + sum r D(posterior || phi) >= sum Q g, whatever Q.
        """
        letters, size = len(masses), len(self.inputs)
        limit(letters * size <= 2 * _MAX_CELLS, "too many letters and inputs")
        self.allowance.room((letters * (size + self.outputs) + size * self.outputs) * BALL)
        rows = [entries(row, "a letter's phi", self.outputs) for row in entries(hint, "phi", letters)]
        columns = [law_of(list(column), letters, "phi", self.allowance) for column in zip(*rows, strict=True)]
        dense, gains = [arb(0)] * (size * letters), list[arb]()
        for a, (row, *logs) in enumerate(zip(masses, *map(log_weights, columns), strict=True)):
            held = [x for _, x in row if x]
            need(not held or all(column[a] for column in columns), f"phi is zero for letter {a}, which has mass")
            own = sum(map(arb, held), arb(0)).log() if held else arb(0)
            gains += [log - own if held else arb(0) for log in logs]
            for k, x in row:
                dense[k * letters + a] = arb(x)
        return arb_mat(size, letters, dense) * arb_mat(letters, self.outputs, gains)


def _distortions(table: dict[str, Any], listed: list[int], allowance: Allowance) -> list[list[fmpq]]:
    """d(v, y) by value and output."""
    rows, size = table.get("rows"), len(listed)
    need(rows is None or len(rows) == size, f"distortion.rows must be {size} lists, one for each value")
    need(size * (len(rows[0]) if rows else size) <= _MAX_CELLS, f"the distortion has more than {_MAX_CELLS} entries")
    allowance.take(0 if rows else size * size * NUMBER)
    return rows or [[fmpq(int(_MEASURES[table["kind"]](v - w))) for w in listed] for v in listed]
