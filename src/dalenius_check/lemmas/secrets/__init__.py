"""Theorem T1: under all laws what is revealed of a secret is the capacity of one row a value, where one value is given; T2: at most
the largest mean of divergences, over a class or an entropy bound.

Hypotheses, each a line that refuses: every given value of every secret is covered (`bound`); each given value has one law
(`_mean`); m is positive (`_most`); a witness is a law of the adversary's (`dataset_law`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, ClassVar

from ...core.adversaries import AFTER, Masses
from ...core.allowance import BALL, PAIR, limit, rests_on
from ...core.arithmetic import arb, fmpq
from ...core.arithmetic.vectors import log_sum_exp
from ...core.bounds import cells, exact_information
from ...core.certificate import Lines, Sizes
from ...core.channel import Channel, log_weights
from ...core.classes import CLASSES, Polytope
from ...core.model import Model
from ...core.numbers import (
    at_most,
    grouped,
    height,
    in_nats,
    largest,
    need,
    normalised,
    summed,
    total,
    xlogx,
)
from ...core.proof import Proof
from ...core.read import entries, integer, nonnegative, positive
from ...core.tree import divergences, output_law
from ...core.verdict import Subject
from .told import Secret, Told, schema

__all__ = ["Informed", "Unsaid", "schema", "subject"]

ABOUT = (
    "largest information about a secret given what is said to be given, I(of; Y | given), over the secrets and the adversary's "
    "laws below"
)
_MOST_CELLS = 1 << 24

Law = list[fmpq]  # of the whole dataset
Place = tuple[int, int | None]  # a secret, and what is given: a value, or whatever it is


class Informed(Proof):
    """Laws P of the dataset; L is the largest information about a secret, given what is said to be given."""

    expected = "a section"
    names: ClassVar[Sizes] = {"cell": 3, "secret": 2}

    def __init__(self, lines: Lines, asked: Told, channel: Channel) -> None:
        model = asked.model
        super().__init__(lines, model.allowance)
        self.asked = asked
        self.model = model
        self.channel = channel
        self.secrets = asked.secrets(channel)
        rests_on(self.allowance, "T1")
        self.inputs = asked.inputs(channel)
        self.held = CLASSES[model.adversary](model.held, model.allowance) if model.adversary in CLASSES else None

    def told(self, item: list[Any]) -> tuple[str, arb]:
        _, s, hint = item
        secret = self._secret(s)
        return f"a law for secret {s}", self._told(secret, dataset_law(self, s, hint))

    def _secret(self, value: Any) -> Secret:
        return self.secrets[integer(value, "the secret", 0, len(self.secrets) - 1)]

    def _told(self, secret: Secret, law: Law) -> arb:
        """I_s(P): the sum over given values of what is revealed there."""
        given = defaultdict[int, list[dict[int, fmpq]]](list)
        for (c, _), row in cells(law, zip(secret.given, secret.of, strict=True), self.inputs).items():
            given[c].append(row)
        result = arb(0)
        for rows in given.values():
            self.allowance.look()
            if len(rows) > 1:
                need_few(len(rows), self.channel)
                whole = total(p for row in rows for p in row.values())
                masses = [{k: p / whole for k, p in row.items()} for row in rows]
                result += arb(whole) * exact_information(self.channel, masses)
        return result

    def place(self, item: list[Any]) -> Place:
        secret = self._secret(item[1])
        return item[1], None if item[0] == "secret" else integer(item[2], "the given value", 0, len(secret.cells) - 1)

    def name(self, place: Place) -> int:
        """The line's number: what is revealed may be proved twice."""
        return self.lines.number

    def section(self, place: Place, upper: arb) -> None:
        s, c = place
        secret = self.secrets[s]
        with self.allowance.holding():
            if c is None:
                self._mean(secret, upper)
                return
            need_few(len(secret.cells[c]), self.channel)
            inputs = list(map(sorted, secret.cells[c].values()))
            for value in divergences(self.lines, self.channel, inputs, self.tally):
                at_most(value, upper, "the law's divergence <= upper")

    def places(self, seen: Collection[Place]) -> Iterable[Place]:
        whole = {s for s, c in seen if c is None}
        for s, secret in enumerate(self.secrets):
            if s not in whole:
                yield from ((s, c) for c in range(len(secret.cells)) if not secret.idle(c))

    def key(self, place: Place) -> Any:
        s, c = place
        return place if c is None else self.secrets[s].kind(c)

    def uncovered(self, place: Place) -> str:
        return f"secret {place[0]} is not covered where value {place[1]} is given"

    def _mean(self, secret: Secret, upper: arb) -> None:
        """A law of the outputs for each given value, from which no law of the adversary's diverges by more in the mean.

        Bound because I_s(P) <= sum m(a,c) D(u(a,c,.)/m(a,c) || r_c^), which is convex in P, and at most sum P(x) D(R(k(x),.) || r_c^).
        """
        rests_on(self.allowance, "T2")
        counting = self.held.letters(len(self.inputs)) if self.held else range(len(self.inputs))
        far = dict[int, dict[int, arb]]()
        logs = dict[int, list[arb]]()
        left = set(secret.given)
        for item in self.lines.run("a law or mean", {"law": 3}, {"mean": 2}):
            listed = [integer(c, "a given value") for c in entries(item[1], "the given values")]
            need(0 < len(listed) == len(left & set(listed)), "each given value must be listed once")
            left -= set(listed)
            own = set(listed)
            used = {self.inputs[x] for x in counting if secret.given[x] in own}
            law = output_law(item[2], self.channel, used)
            self.allowance.take((len(used) + len(law)) * BALL)
            polytope = isinstance(self.held, Polytope)
            found = {} if polytope else self.channel.divergences(law, used)
            weights = log_weights(law) if polytope else []
            far |= dict.fromkeys(listed, found)
            logs |= dict.fromkeys(listed, weights)
            self.tally["law"] += 1
        need(not left, f"the given value {min(left, default=0)} is not listed")
        (hint,) = self.lines.item("a mean", {"mean": 2})[1:]
        if isinstance(self.held, Polytope):
            self.held.hint(hint)
            most = largest([self._vertex(secret, law, logs) for law in self.held.vertices])
        else:
            most = self._most([far[secret.given[x]][self.inputs[x]] for x in counting], hint)
        at_most(most, upper, "the largest mean of the laws' divergences <= upper")

    def _most(self, numbers: list[arb], hint: Any) -> arb:
        """A number that is at least the mean of these, of the datasets that count, under every law of the adversary's."""
        if not all(value.is_finite() for value, _ in grouped(numbers)):
            return arb("nan")
        if self.held:
            return self.held.most(numbers, self.held.hint(hint))
        if hint is None:
            return largest([value for value, _ in grouped(numbers)])
        (t,) = (positive(x, "m") for x in entries(hint, "m", 1))
        soft = log_sum_exp([arb(times).log() + value / arb(t) for value, times in grouped(numbers)])
        return arb(t) * (soft - self.model.entropy_ball())

    def _vertex(self, secret: Secret, law: Law, logs: dict[int, list[arb]]) -> arb:
        """sum m(a,c) D(u(a,c,.)/m(a,c) || r_c^) for a vertex."""
        rows = cells(law, zip(secret.of, secret.given, strict=True), self.inputs)
        need_few(len(rows), self.channel)
        self.allowance.room(len(rows) * self.channel.outputs * BALL)
        joint = self.channel.mixed([{k: arb(p) for k, p in row.items()} for row in rows.values()])
        result = arb(0)
        for (_, c), row, u in zip(rows, rows.values(), joint, strict=True):
            mass = xlogx(arb(total(row.values())))
            result += summed(xlogx(x) - x * log for x, log in zip(u, logs[c], strict=True)) - mass
        return result


def need_few(cells: int, channel: Channel) -> None:
    """Go on only where so many values and outputs are within the limit."""
    limit(cells * channel.outputs <= _MOST_CELLS, "too many values and outputs")


def dataset_law(asked: Informed, s: int, hint: Any) -> Law:
    """A law of the adversary's on the datasets, as the witness of secret s has it."""
    model = asked.model
    size = len(asked.inputs)
    products = model.adversary == "product_priors"
    if model.adversary == "prior_set":
        return model.priors[integer(hint, "the prior", 0, len(model.priors) - 1)]
    if isinstance(asked.held, Polytope):
        return asked.held.law(hint, size)
    if products and isinstance(hint, list) and hint[:1] == ["product"]:
        return _product(model, entries(hint, "the law", 2)[1])
    weights = [fmpq(0)] * size
    last = -1
    for pair in entries(hint, "the law"):
        x, weight = entries(pair, "a dataset and its weight", 2)
        last = integer(x, "a dataset, in ascending order,", last + 1, size - 1)
        weights[last] = nonnegative(weight, "a weight")
    law = normalised(weights, "the law", model.allowance)
    if asked.held:
        asked.held.need_member(law)
    elif products:
        given = {c for c, p in zip(asked.secrets[s].given, law, strict=True) if p}
        known = asked.asked.others_known(s) and len(given) == 1
        need(known, "a law of product_priors must be a product, or given be all records but one, with one value")
    elif any(p != law[0] for p in law):  # else it has all the entropy that there is
        model.need_enough(lambda: -summed(times * xlogx(arb(p)) for p, times in grouped(law) if p))
    return law


def _product(model: Model, hint: Any) -> Law:
    """That of independent records, each with a weight for each of its letters."""
    found = [fmpq(1)]
    allowance = model.allowance
    for size, own in zip(model.alphabets, entries(hint, "the records", len(model.alphabets)), strict=True):
        weights = [nonnegative(x, "a weight") for x in entries(own, "a record's weights", size)]
        law = normalised(weights, "a record's law", allowance)
        bits = max(map(height, found)) + max(map(height, law))
        allowance.room(len(found) * size * (PAIR + bits / 4))
        allowance.look()
        found = [p * q for p in found for q in law]
    return found


def subject(model: Model) -> Subject:
    """That of a model about secrets."""
    asked = Told(model)
    kind = {"product_priors": GivenValues, "prior_set": Listed}.get(model.adversary, Informed)
    return Subject(lambda lines, channel: kind(lines, asked, channel), asked.most(), about=ABOUT)


class GivenValues(Informed):
    """Given value by given value."""

    names: ClassVar[Sizes] = {"cell": 3}


class Listed(Informed):
    """Listed priors: each is evaluated for each secret."""

    def bound(self, upper: arb) -> int:
        """No lines; a secret with one value reveals nothing."""
        told = [(s, secret) for s, secret in enumerate(self.secrets) if len(set(secret.of)) > 1]
        for s, secret in told:
            self.need_priors(f"secret {s}", (self._told(secret, law) for law in self.model.priors), upper)
        return len(told)


class Revealed(GivenValues):
    """Leakage of a mechanism under every law, not those of an adversary alone."""

    after: ClassVar[Sizes] = AFTER


class Unsaid:
    """At most so many nats or bits about one secret, under every law of the dataset."""

    def __init__(self, model: Model, table: dict[str, Any]) -> None:
        every = model.against({"entropy_at_least": (fmpq(0), "nats")})
        self._told = Told(replace(every, secrets=[{key: table[key] for key in ("of", "given")}]))
        self.most, self._unit = table["at_most"]
        self._cells = list[dict[int, frozenset[int]]]()

    @property
    def ball(self) -> arb:
        """A ball around the limit in nats."""
        return in_nats(self.most, self._unit)

    def proof(self, lines: Lines, channel: Channel) -> Revealed:
        """The lines that prove what a mechanism reveals."""
        return Revealed(lines, self._told, channel)

    def masses(self, channel: Channel, given: Any, selection: Any) -> Masses:
        """For some values of the secret the input that a line selects, with its probability.

        Bound because a law on one dataset of each, all of which have one given value, is a law of the data.
        """
        if not self._cells:
            self._cells = self._told.secrets(channel)[
                0
            ].cells  # the same for every mechanism: inputs are what the model says
        cells = self._cells[integer(given, "the given value", 0, len(self._cells) - 1)]
        need(len(entries(selection, "the selection")) > 1, "a selection must have at least two values of the secret")
        need_few(len(selection), channel)
        inputs = list[int]()
        weights = list[fmpq]()
        before = -1
        for triple in selection:
            value, place, hint = entries(triple, "a value, an input and a weight", 3)
            before = integer(value, "the secret's value, in ascending order,", before + 1)
            k = integer(place, "the input")
            need(k in cells.get(before, ()), f"no dataset with value {before} of the secret has input {k} there")
            inputs.append(k)
            weights.append(positive(hint, "a weight"))
        law = normalised(weights, "the weights", channel.allowance)
        return [[pair] for pair in zip(inputs, law, strict=True)]
