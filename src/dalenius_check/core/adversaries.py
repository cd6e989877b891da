"""The adversaries who are asked about records, each with the lines that prove what it learns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import prod
from typing import Any, ClassVar

from .allowance import PAIR, POINTER, lemma, limit
from .arithmetic import arb, fmpq
from .bounds import Record, cells, entropy_of, exact_information, information, uniform_information
from .certificate import Lines, Sizes
from .channel import Channel
from .classes import CLASSES
from .counts import completions, datasets, key, selections
from .model import Model
from .numbers import at_most, need, total
from .proof import Ceiling, Proof, Words, curve
from .read import entries, integer, law_of
from .tree import Section, divergences, mixed_information, mixture, output_law

MAX_CELLS = 1 << 24
_PLAIN = b'["joint","0","0",null,null]'  # whose bound is the logarithm of the number of letters, or less
AFTER = {"adversary": 2, "term": 2}  # what may follow the sections about one adversary: those about another
NEXT = (None, *AFTER)  # which, or the end, follows where they are left out
Masses = list[list[tuple[int, fmpq]]]
Far = Callable[[Collection[int]], dict[int, arb]]  # divergences of these rows from a law on the outputs


def record_of(model: Model, channel: Channel, value: Any) -> int:
    """The number of a record whose letters and outputs are within the limit."""
    i = integer(value, "the record", 0, len(model.alphabets) - 1)
    limit(model.alphabets[i] * channel.outputs <= MAX_CELLS, "too many letters and outputs")
    return i


class EntropyBound(Proof):
    """All priors P with H(P) >= b; the other adversaries differ in how they prove a record's leakage."""

    after: ClassVar[Sizes] = AFTER

    def __init__(self, lines: Lines, model: Model, channel: Channel) -> None:
        super().__init__(lines, model.allowance)
        self.channel = channel
        self.model = replace(model, query={"kind": "identity"}) if channel.dataset else model
        self._last: tuple[int, Any] = (-1, None)
        self._size = 0
        self._ceiling: Ceiling | None = None

    def check(self, claim: dict[str, Any]) -> Words:
        """The same, and what the header says of other entropy bounds."""
        upper = arb(claim["upper"])
        words = [f"witness: {self.witness(claim['lower'])}"]
        if "curve" in claim:
            found = curve(claim["curve"], self.model)
            own = self.model
            for self.model, low in found.below:
                self.witness(low)
            self.model, self._ceiling = own, found.ceiling(own, upper, self.channel.lost)
            words += found.words()
        self.bound(upper - self.channel.lost)
        return words, self.tally

    def told(self, item: list[Any]) -> tuple[str, arb]:
        prior, value = self.information(self.record(item[1]), item[2])
        return f"{prior} for record {item[1]}", value

    def place(self, item: list[Any]) -> int:
        return self.record(item[1])

    def places(self, seen: Collection[int]) -> Iterable[int]:
        """One of each group of alike records, but for those of one letter."""
        return {key(self.model, i): i for i, size in enumerate(self.model.alphabets) if size > 1}.values()

    def key(self, i: int) -> Any:
        return key(self.model, i)

    def record(self, value: Any) -> int:
        """A record's number."""
        return record_of(self.model, self.channel, value)

    def information(self, i: int, hint: Any) -> tuple[str, arb]:
        """The witness's prior in words, and what it teaches about record i."""
        if not self.channel.rows:
            need(hint != "uniform", "the uniform prior is no witness where outputs are real numbers")
            return "a prior", mixed_information(self.channel, self.masses(i, hint), None)
        if hint == "uniform":
            return "the uniform prior", uniform_information(self._record(i))
        return "a prior", information(self.channel, [[(k, x) for k, x in row if x] for row in self.masses(i, hint)])

    def masses(self, i: int, hint: Any) -> Masses:
        """The exact masses of a feasible prior: for each letter of record i the inputs and their masses."""
        record = self._record(i)
        if hint == "uniform":
            space = sum(n for row in record.pairs for _, n in row)
            return [[(k, fmpq(n, space)) for k, n in row] for row in record.pairs]
        letters, width = len(record.inputs), len(self.channel.values)
        rows = [entries(row, "a letter's weights", width) for row in entries(hint, "weights", letters)]
        law = law_of([x for row in rows for x in row], width * letters, "weights", self.allowance)
        masses = [[(k, law[a * width + k]) for k in inputs] for a, inputs in enumerate(record.inputs)]
        need(total(x for row in masses for _, x in row) == 1, "weight on a letter and input which no dataset has")
        self.model.need_enough(lambda: entropy_of(record, masses))
        return masses

    def section(self, i: int, upper: arb) -> None:
        """A tree; where all that the record's letters can tell is no more, the leaf that says so needs no completions."""
        plain = self.channel.outputs and self._ceiling is None and self.lines.begins(_PLAIN)
        if plain and (arb(self.model.alphabets[i]).log() <= upper) is True:
            self.tally[self.lines.next("a leaf")[0]] += 1
            return
        if self.model.query["kind"] == "count" and self._ceiling is None and self.lines.ahead() == "grid":
            step = self.lines.item("a grid", {"grid": 2})[1]
            lemma("grid").Grid(self.model, i, step).run(self.lines, upper, self.tally)
            return
        record = self._record(i)
        if not self.channel.rows:
            self.lines.item("a leaf without boxes", {"vertices": 1})
            for bound in divergences(self.lines, self.channel, record.inputs, self.tally):
                at_most(bound, upper, "the mixture's divergence <= upper")
            return
        with self.allowance.holding():
            ceiling = self._ceiling or Ceiling(upper, self.model.entropy_ball())
            Section(self.lines, self.model, record, self.tally, i).run(ceiling)

    def signature(self, i: int) -> Any:
        """The numbers of completions that lead to each row, by letter, on which alone the leakage depends."""
        counts: dict[tuple[int, int], int] = defaultdict(int)
        for a, pairs in enumerate(self._record(i).pairs):
            for k, n in pairs:
                counts[a, self.channel.classes[k]] += n
        self.allowance.take(len(counts) * PAIR)
        return frozenset(counts.items())

    def _record(self, i: int) -> Record:
        if self._last[0] != i:
            self.allowance.take(-self._size)
            before = self.allowance.held
            self._last = i, Record(self.channel, completions(self.model, i, self.channel.values))
            self._size = self.allowance.held - before
        return self._last[1]


class ProductPriors(EntropyBound):
    """Priors under which the records are independent.

    Bound because I is convex in the law of each other record, hence largest where that is one letter; then L is
    the capacity of the rows that the letters of record i select together, at most max_a D(row_a || r^), and at most log A.
    """

    size = 3  # of a line `law`

    def information(self, i: int, hint: Any) -> tuple[str, arb]:
        """The witness's law on the letters, for one selection."""
        protocol = self.channel.protocol
        if protocol and isinstance(hint, list) and len(hint) == 3:
            return f"selection {hint[0]}", mixed_information(self.channel, self.masses(i, hint[:2]), hint[2])
        self._need_rows()
        value = information(self.channel, self.masses(i, hint))
        return f"selection {hint[0]}", value

    def masses(self, i: int, hint: Any) -> Masses:
        """Each letter with the input that the selection has for it."""
        (j, weights), chosen = entries(hint, "selection and weights", 2), self._selections(i)
        rows = chosen[integer(j, "the selection", 0, len(chosen) - 1)]
        return [[pair] for pair in zip(rows, self.law(weights, len(rows)), strict=True)]

    def law(self, weights: Any, size: int) -> list[fmpq]:
        """The law on so many letters, one that the adversary may hold."""
        return law_of(weights, size, "weights", self.allowance)

    def section(self, i: int, upper: arb) -> None:
        """Laws, until the next section, which list every selection."""
        chosen = self._selections(i)
        missing = set(range(len(chosen)))
        last = len(chosen) - 1
        names = {"law": self.size, "mixture": self.size + 1} if self.channel.protocol else {"law": self.size}
        for item in self.lines.run("a law or record", names | {"letters": 1}, {"record": 2} | AFTER):
            self.tally[item[0]] += 1
            if item[0] == "letters":
                at_most(arb(self.model.alphabets[i]).log(), upper, "log of the number of letters <= upper")
                missing.clear()
                continue
            listed = {integer(j, "a selection", 0, last) for j in entries(item[1], "the selections")}
            self.need_law([chosen[j] for j in listed], upper, partial(self._far, item), *item[3 : self.size])
            missing -= listed
        need(not missing, f"selection {min(missing, default=0)} of record {i} is not listed")

    def need_law(self, listed: Sequence[tuple[int, ...]], upper: arb, far: Far) -> None:
        """Refuse a law on the outputs from which a row of these selections diverges by more than `upper`."""
        used = {k for rows in listed for k in rows}
        for bound in far(used).values():
            at_most(bound, upper, "the law's divergence <= upper")

    def _far(self, item: list[Any], used: Collection[int]) -> dict[int, arb]:
        """The divergences of these rows from a line's law on the outputs: its weights, or those of inputs that mix them."""
        if item[0] == "law":
            self._need_rows()
            return self.channel.divergences(output_law(item[2], self.channel, used), used)
        return mixture(self.channel, item[2], item[-1], used)

    def _need_rows(self) -> None:
        need(
            bool(self.channel.rows),
            "the channel is never written out: a line 'mixture' is needed, or 'how' in a witness",
        )

    def signature(self, i: int) -> Any:
        """The tuples of rows that the selections stand for."""
        found = frozenset(tuple(map(self.channel.classes.__getitem__, rows)) for rows in self._selections(i))
        self.allowance.take(len(found) * (PAIR + self.model.alphabets[i] * POINTER))
        return found

    def _selections(self, i: int) -> list[tuple[int, ...]]:
        return selections(self.model, i, self.channel.values)


class PriorSet(EntropyBound):
    """Listed priors: each is evaluated for each record."""

    def information(self, i: int, hint: Any) -> tuple[str, arb]:
        """The witness's number among the priors."""
        return f"prior {hint}", exact_information(self.channel, list(map(dict, self.masses(i, hint))))

    def bound(self, upper: arb) -> int:
        """No lines; a record with one letter leaks nothing."""
        need(self.lines.ahead() in NEXT, "there is a line after the witness or the priors")
        records = [self.record(i) for i, size in enumerate(self.model.alphabets) if size > 1]
        for i in records:
            taught = (self.information(i, j)[1] for j in range(len(self.model.priors)))
            self.need_priors(self.called(i), taught, upper)
        return len(records)

    def masses(self, i: int, hint: Any) -> Masses:
        """The listed prior's masses, where they are positive."""
        j = integer(hint, "the prior", 0, len(self.model.priors) - 1)
        size = self.model.alphabets[i]
        stride = prod(self.model.alphabets[i + 1 :])
        letters = (x // stride % size for x in range(len(self._inputs)))
        masses = cells(self.model.priors[j], letters, self._inputs)
        return [list(masses[a].items()) for a in range(size)]

    @cached_property
    def _inputs(self) -> list[int]:
        return datasets(self.model, self.channel.values)


class ClassOfLaws(ProductPriors):
    """Priors under which the records are independent, and the one that is asked about has a law p of a class.

    Bound because I(p) = sum p(a) D(row_a || output law) <= sum p(a) D(row_a || r^), which is linear in p.
    """

    size = 4

    def __init__(self, lines: Lines, model: Model, channel: Channel) -> None:
        super().__init__(lines, model, channel)
        self.held = CLASSES[model.adversary](model.held, model.allowance)

    def law(self, weights: Any, size: int) -> list[fmpq]:
        """A law of the class."""
        return self.held.law(weights, size)

    def need_law(self, listed: Sequence[tuple[int, ...]], upper: arb, far: Far, more: Any = None) -> None:
        """Refuse a law on the outputs from which the rows of these selections may diverge by more than `upper` in the mean."""
        place = [(rows, self.held.letters(len(rows))) for rows in listed]
        used = {rows[a] for rows, letters in place for a in letters}
        numbers = self.held.hint(more)
        found = far(used)
        for rows, letters in place:
            self.allowance.look()
            means = [found[rows[a]] for a in letters]
            bound = self.held.most(means, numbers) if all(x.is_finite() for x in means) else arb("nan")
            at_most(bound, upper, "the largest mean of the law's divergences <= upper")


ADVERSARIES: dict[str, type[EntropyBound]] = {
    "entropy_at_least": EntropyBound,
    "product_priors": ProductPriors,
    "prior_set": PriorSet,
    **dict.fromkeys(CLASSES, ClassOfLaws),
}
