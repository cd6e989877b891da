"""Theorem H1: L of a histogram behind noise in every cell is the capacity of the rows of the block's own histograms, one a
letter.

Hypotheses, each a line that refuses: records have one alphabet, and blocks no entropy bound (`Cells`); noise is not cut off
inside the counts (`Cells`); m is the largest block (`Cells.sizes`); every pattern of m is bounded (`_bound`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, reduce
from itertools import islice
from operator import add
from typing import Any, NamedTuple

from ...core.allowance import BALL, limit, rests_on
from ...core.arithmetic import arb, fmpq
from ...core.certificate import Lines
from ...core.model import Model
from ...core.noise import REAL, SHIFTING, noise_of
from ...core.numbers import at_most, largest, need, normalised, summed
from ...core.proof import Proof
from ...core.read import BIG, entries, integer, positive
from ...core.verdict import Subject
from ..households.routes import sizes_of
from .series import Series, constant, series

_MOST_STEPS = 1 << 16
_MOST_PATTERNS = 1000
_MOST_DEGREE = 1 << 20
_KNOWN = (
    "a histogram needs records of one alphabet, product_priors or independent_blocks without an entropy, and noise without a "
    f"range ({', '.join(kind for kind in SHIFTING if kind not in REAL)}; geometric may have one from 0 to the number of records)"
)
Pattern = tuple[int, ...]


class Cells:
    """A histogram with noise in every cell, and the sizes of the blocks of records."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.allowance = model.allowance
        self.noise = noise_of(model.mechanism)
        ends = model.mechanism.get("range")
        wide = ends is None or (ends[0] <= 0 and len(model.alphabets) <= ends[1])
        known = self.noise.shifts and not self.noise.real and wide
        blocks = model.adversary == "independent_blocks" and model.held["entropy_at_least"] is None
        held = model.problem == "maximal_leakage" and (blocks or model.adversary == "product_priors")
        need(held and known and len(set(model.alphabets)) == 1, _KNOWN)
        self.count = model.alphabets[0]
        self.sizes = sizes_of(model) if blocks else [1] * len(model.alphabets)

    @cached_property
    def lost(self) -> arb:
        """Leakage that clamped noise leaves out: of a cell at an end of its range, all."""
        return self.count * self.noise.lost(self.count)


class Steps:
    """The steps T of a cell against blocks of m records, and polynomials that score their outputs."""

    def __init__(self, cells: Cells, m: int) -> None:
        noise = cells.noise
        self.allowance = cells.allowance
        self.count = cells.count
        self.m = m
        outputs, values = m + 2 * noise.margin + 1, list(range(m + 1))
        limit((m + 1) * outputs <= _MOST_STEPS, f"more than {_MOST_STEPS} entries in a cell's steps")
        self.rows = noise_of(noise.alone(values)).rows(values, self.allowance)
        self.ratios = [[x / y for x, y in zip(row, self.rows[0], strict=True)] for row in self.rows]
        pairs = zip(self.rows[1:], self.ratios[1:], strict=True)
        self.told = [arb(0), *(summed(x * q.log() for x, q in zip(*pair, strict=True)) for pair in pairs)]

    def ends(self, pattern: Pattern) -> tuple[arb, arb]:
        """The least and the largest ratio of a pattern's outputs to those of empty cells."""
        low, high = arb(1), arb(1)
        for s in pattern:
            low, high = -low * largest([-x for x in self.ratios[s]]), high * largest(self.ratios[s])
        return low, high

    def cost(self, pattern: Pattern) -> arb:
        """Divergence of a pattern's outputs from those of empty cells."""
        return summed(self.told[s] for s in pattern)

    def scored(self, value: Any) -> Scored:
        """The polynomials, by the scores that a line has."""
        scores = [integer(e, "a score", 0, BIG) for e in entries(value, "scores", len(self.rows[0]))]
        need(len(set(scores)) > 1, "scores must not be all alike")
        size = self.count * max(scores) + 1
        need(size - 1 <= _MOST_DEGREE, f"the scores' degree must be at most {_MOST_DEGREE}")
        self.allowance.room((2 * self.m + 24) * BALL * size)
        steps = [series(zip(scores, row, strict=True), 1) for row in self.rows]
        return Scored(self, scores, steps, size)


class Scored(NamedTuple):
    """A_s for every s, of scores e; sums of scores are from 0 to size - 1."""

    steps: Steps
    scores: list[int]
    polynomials: list[Series]
    size: int

    def empty(self, filled: int) -> Series:
        """Of all cells but so many, which are empty."""
        self.steps.allowance.look()
        return self.polynomials[0] ** (self.steps.count - filled)

    def square(self) -> Series:
        """A*: of the mean, under a full cell, of its ratio to an empty one."""
        row, ratios = self.steps.rows[-1], self.steps.ratios[-1]
        terms = [x * q for x, q in zip(row, ratios, strict=True)]
        whole = summed(terms).upper().ceil().unique_fmpz()
        need(whole is not None, "a score's mean ratio is not known")
        return series(zip(self.scores, terms, strict=True), int(whole or 0))

    def of(self, pattern: Pattern, empty: Series) -> Series:
        """P_h, where what is left of it is known."""
        small = self.polynomials[pattern[0]]
        for s in pattern[1:]:
            small = small * self.polynomials[s]
        self.steps.allowance.look()
        return small * empty

    def logs(self, top: Series, bottom: Series, ends: tuple[arb, arb]) -> list[arb]:
        """The logarithms of quotients that are between these ends, which are all that is said where little is known."""
        wide = ends[0].log().union(ends[1].log())
        found = list[arb]()
        for n, d in zip(top.units(self.size), bottom.units(self.size), strict=True):
            self.steps.allowance.look()
            sure = n > top.off << 10 and d > bottom.off << 10
            found.append(((n + top.slack) / (d + bottom.slack)).log() if sure else wide)
        return found

    def mean(self, law: Series, logs: Sequence[arb]) -> arb:
        """The sum of a law's probabilities times these."""
        result = arb(0)
        for n, log in zip(law.units(self.size), logs, strict=True):
            self.steps.allowance.look()
            result += (n + law.slack) * log
        return result / (1 << law.bits)


def patterns(m: int, parts: int, most: int | None = None) -> Iterator[Pattern]:
    """The ways to write m as a sum of at most so many numbers >= 1, which do not rise."""
    if m == 0:
        yield ()
    for first in range(min(m, most or m), 0, -1) if parts else ():
        for rest in patterns(m - first, parts - 1, first):
            yield (first, *rest)


class Histogram(Proof):
    """Priors under which blocks of records are independent.

    Bound because I is convex in the channel from a letter to the output, which is a mixture over what all other records can be: it
    is largest where the other blocks are known, and each letter has one histogram of its own block.
    """

    def __init__(self, lines: Lines, cells: Cells) -> None:
        super().__init__(lines, cells.allowance)
        self.cells = cells
        rests_on(self.allowance, "H1")

    def bound(self, upper: arb) -> int:
        """One line, about the largest block."""
        item = self.lines.item("the bound", {"letters": 1, "histogram": 3})
        if item[0] == "letters":
            at_most(arb(self.cells.count).log(), upper, "log k <= upper")
        else:
            with self.allowance.holding():
                self._bound(Steps(self.cells, max(self.cells.sizes)), upper - self.cells.lost, *item[1:])
        self.tally[item[0]] += 1
        return 1

    def words(self, sections: int) -> Sequence[str]:
        sizes = self.cells.sizes
        return [f"blocks: {len(sizes)}, of at most {max(sizes)} records, with whatever the others are known to be"]

    def shown(self, item: list[Any], lower: fmpq) -> str:
        """The same of a number that is less than what it teaches, and may be negative."""
        words, value = self.told(item)
        at_most(arb(lower), value, "lower <= witness's information")
        return words

    def told(self, item: list[Any]) -> tuple[str, arb]:
        """All records of a block are equal, and each letter is as likely.

        Bound because, given the sum of the scores, the mean of a logarithm is at most that of the mean.
        """
        _, i, hint = item
        left = integer(i, "the record", 0, len(self.cells.model.alphabets) - 1)
        for m in self.cells.sizes:
            if left < m:
                break
            left -= m
        with self.allowance.holding():
            return f"{m} equal records of a block, for record {i}", self._equal(m, hint)

    def _equal(self, m: int, hint: Any) -> arb:
        k = self.cells.count
        steps = Steps(self.cells, m)
        need(k >= 2, "a witness needs at least two letters")
        scored = steps.scored(hint)
        (low, high) = steps.ends((m,))
        rest = scored.empty(2)
        full = scored.polynomials[m]
        none = scored.polynomials[0]
        own, ratio = full * none * rest, (scored.square() * none + constant(arb(k - 1), k - 1) * full * full) * rest
        return arb(k).log() + steps.told[m] - scored.mean(own, scored.logs(ratio, own, (k * low, k * high)))

    def _bound(self, steps: Steps, upper: arb, scores: Any, mixed: Any) -> None:
        """A line `histogram`: no pattern of a block diverges by more than `upper` from a mixture of some."""
        every = list(islice(patterns(steps.m, steps.count), _MOST_PATTERNS + 1))
        limit(len(every) <= _MOST_PATTERNS, f"more than {_MOST_PATTERNS} patterns of a block")
        scored = steps.scored(scores)
        weights = dict[Pattern, fmpq]()
        known = set(every)
        for item in entries(mixed, "the patterns"):
            pattern, weight = entries(item, "a pattern and its weight", 2)
            name = tuple(integer(s, "a part of a pattern", 1, steps.m) for s in entries(pattern, "a pattern"))
            need(name in known and name not in weights, "patterns must be a block's, in falling order, and each once")
            weights[name] = positive(weight, "a weight")
        shares = dict(zip(weights, normalised(list(weights.values()), "the weights", self.allowance), strict=True))
        most = max(map(len, every))
        empty = {most: scored.empty(most)}
        for parts in range(most, 0, -1):
            empty[parts - 1] = empty[parts] * scored.polynomials[0]
        pieces = (constant(arb(x), 1) * scored.of(pattern, empty[len(pattern)]) for pattern, x in shares.items())
        mixture = reduce(add, pieces)
        pairs = [steps.ends(pattern) for pattern in shares]
        ends = -largest([-low for low, _ in pairs]), largest([high for _, high in pairs])
        logs = scored.logs(mixture, empty[0], ends)
        for pattern in every:
            mean = scored.mean(scored.of(pattern, empty[len(pattern)]), logs)
            at_most(steps.cost(pattern) - mean, upper, f"the divergence of the pattern {list(pattern)} <= upper")


def subject(model: Model) -> Subject:
    """That of a model about a histogram."""
    cells = Cells(model)
    source = "of every histogram of a block"
    return Subject(lambda lines, _: Histogram(lines, cells), model.most(), source)
