"""Theorem W1: a count that is rounded to the nearest place of a window reveals no more than itself, so that a prior on the window
bounds L from below.

Hypotheses, each a line that refuses: places lie within the counts, at an odd step (`Window`); a letter and a count have datasets
(`Window.entropy`); masses are positive and add up to 1 (`Window.masses`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, factorial
from typing import Any, ClassVar

from ..core.allowance import BALL, PAIR, lemma, limit, rests_on
from ..core.arithmetic import arb, chosen, fmpq
from ..core.certificate import Lines, Sizes
from ..core.model import Model
from ..core.noise import noise_of
from ..core.numbers import need, summed, total, xlogx
from ..core.proof import Ceiling, Proof, Words
from ..core.read import entries, integer, positive
from ..core.verdict import Subject
from .alone import Alone
from .real_noise import arctangent

_MOST = 1 << 22
Row = list[tuple[int, arb]]  # the places where a letter has mass, and how much


class Window:
    """The places k_j = lo + step j, and the outputs nearest to each of them.

    Bound because the nearest place is a function of the output, which reveals no more than that does.
    """

    def __init__(self, model: Model, item: list[Any]) -> None:
        self.model = model
        self.allowance = model.allowance
        n = len(model.alphabets)
        self.low = integer(item[1], "lo", 0, n)
        self.step = integer(item[2], "the step", 1, n)
        self.last = integer(item[3], "m", 1)
        need(self.step % 2 == 1, "the step must be odd")
        need(self.low + self.step * self.last <= n, f"the window ends beyond {n}")
        limit(self.last <= _MOST, f"more than {_MOST} places")
        self.allowance.take(12 * BALL * (self.last + 1))
        letters = model.alphabets[0]
        self.letters = letters
        self.counted = {a for a in model.query["letters"] if a < letters}
        self.epsilon = noise_of(model.mechanism).epsilon

    def masses(self, hint: Any) -> list[Row]:
        """For each letter the places with their masses."""
        rows = entries(hint, "weights", self.letters)
        weights = list[list[tuple[int, fmpq]]]()
        pairs = 0
        for row in rows:
            weights.append([])
            before = -1
            for pair in entries(row, "a letter's weights"):
                self.allowance.look()
                place, weight = entries(pair, "a place and its weight", 2)
                before = integer(place, "a place, in ascending order,", before + 1, self.last)
                weights[-1].append((before, positive(weight, "a weight")))
            pairs += len(row)
            limit(pairs <= _MOST, f"more than {_MOST} weights")
            self.allowance.take(len(row) * (PAIR + BALL))
        whole = arb(total(w for row in weights for _, w in row))
        need(pairs > 0, "a witness needs a weight")
        return [[(j, arb(w) / whole) for j, w in row] for row in weights]

    def entropy(self, rows: Sequence[Row]) -> arb:
        """H(p), spread evenly over the datasets of a letter and a count; refused where there are none."""
        known = Factorials()
        others = len(self.model.alphabets) - 1
        result = arb(0)
        chosen = len(self.counted)
        logs = [arb(x).log() if x else arb(0) for x in (chosen, self.letters - chosen)]
        first = known.log(others)
        for a, row in enumerate(rows):
            for j, p in row:
                self.allowance.look()
                k = self.low + self.step * j - (a in self.counted)
                there = 0 <= k <= others and (chosen > 0 or k == 0) and (chosen < self.letters or k == others)
                need(there, f"no dataset has letter {a} where the count is {self.low + self.step * j}")
                ways = first - known.log(k) - known.log(others - k) + k * logs[0] + (others - k) * logs[1]
                result += p * (ways - p.log())
        return result

    def information(self, rows: Sequence[Row]) -> arb:
        """I(p), of masses behind noise that is rounded to the nearest place."""
        epsilon = self.epsilon
        half = (self.step - 1) // 2
        a, decay = arb(-epsilon).exp(), arb(-epsilon * self.step).exp()
        end, far = arb(epsilon * half).exp() / (1 + a), arb(-epsilon * (half + 1)).exp() / (1 + a)
        inside = -arb(-epsilon * self.step).expm1() * end
        outputs = [arb(0)] * (self.last + 1)
        result = arb(0)
        for row in rows:
            if not row:
                continue
            masses = [arb(0)] * (self.last + 1)
            for j, p in row:
                masses[j] = p
            result -= xlogx(summed(p for _, p in row))
            left = self._beside(masses, decay)
            right = self._beside(masses[::-1], decay)[::-1]
            for j, p in enumerate(masses):
                self.allowance.look()
                ends = j in (0, self.last)
                u = (end if ends else inside) * (left[j] + right[j]) + p * (1 - far if ends else 1 - 2 * far)
                outputs[j] += u
                result += xlogx(u)
        return result - summed(map(xlogx, outputs))

    def _beside(self, masses: Sequence[arb], decay: arb) -> list[arb]:
        """For each place the sum over those before it of their masses times the decay on the way."""
        found = [arb(0)]
        for p in masses[:-1]:
            self.allowance.look()
            found.append(decay * (found[-1] + p))
        return found


class Wide(Proof):
    """All priors with an entropy bound; all records have the same channel, so that one section is enough."""

    first: ClassVar[Sizes] = {"window": 4}

    def __init__(self, lines: Lines, model: Model) -> None:
        super().__init__(lines, model.allowance)
        self.model = model
        rests_on(self.allowance, "W1")

    def check(self, claim: dict[str, Any]) -> Words:
        need("curve" not in claim, "the header: unknown key 'curve' for a wide count")
        return super().check(claim)

    def bound(self, upper: arb) -> int:
        """One section, of one leaf; a record with one letter leaks nothing."""
        model = self.model
        if model.alphabets[0] == 1 and not self.lines.more():
            return 0
        i = self._record(self.lines.item(self.expected, self.names)[1])
        leaf = self.lines.item("a leaf", {"letters": 1, "informed": 3, "ends": 1, "grid": 2})
        if leaf[0] == "grid":
            lemma("grid").Grid(model, i, leaf[1]).run(self.lines, upper, self.tally)
            return 1
        bound, slope = (arb(model.alphabets[0]).log(), fmpq(0)) if leaf[0] == "letters" else Alone(model, i).leaf(leaf)
        Ceiling(upper, model.entropy_ball()).need_above(bound, slope, f"the {leaf[0]} leaf")
        self.tally[leaf[0]] += 1
        return 1

    def _record(self, value: Any) -> int:
        return integer(value, "the record", 0, len(self.model.alphabets) - 1)

    def told(self, item: list[Any]) -> tuple[str, arb]:
        with self.allowance.holding():
            window = Window(self.model, item)
            _, i, hint = self.lines.item("the witness", {"witness": 3})
            words = f"a prior on {window.last + 1} counts, for record {self._record(i)}"
            rows = window.masses(hint)
            entropy = window.entropy(rows)
            self.model.need_enough(lambda: entropy)
            return words, window.information(rows)


def subject(model: Model) -> Subject:
    """That of a model whose counts are wide."""
    source = "of counts that are too many to be written out"
    return Subject(lambda lines, _: Wide(lines, model), model.most(), source)


_EXACT = 1024


class Factorials:
    """Balls around log x!, at the precision that they were begun at."""

    def __init__(self) -> None:
        # log(2 pi) / 2, and of x^-(2 j + 1)
        self._half = (8 * arctangent(arb(1))).log() / 2
        self._terms = list[fmpq]()
        bernoulli = [fmpq(1)]
        tiny = fmpq(1, 1 << chosen().precision())
        while not self._terms or abs(self._terms[-1]) > tiny * _EXACT ** (2 * len(self._terms) - 1):
            m = len(bernoulli)
            bernoulli.append(-sum((comb(m + 1, k) * b for k, b in enumerate(bernoulli)), fmpq(0)) / (m + 1))
            if m % 2 == 0:
                self._terms.append(bernoulli[m] / (m * (m - 1)))

    def log(self, x: int) -> arb:
        """log x!.

        Bound because the series envelops: what is left out is between 0 and the first term that is.
        """
        if x < _EXACT:
            return arb(factorial(x)).log()
        *terms, last = self._terms
        one = arb(x)
        power = arb(1) / x
        square, result = power * power, (one + arb(1) / 2) * one.log() - one + self._half
        for term in terms:
            result += arb(term) * power
            power = power * square
        return result + arb(0).union(arb(last) * power)
