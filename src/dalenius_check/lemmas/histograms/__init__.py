"""Theorem H1: L of a histogram behind noise in every cell is the capacity of the rows of the block's own histograms, one a
letter. Theorem H2: several tables of the same people, whose bounds add up.

Hypotheses, each a line that refuses: records have one alphabet, and blocks no entropy bound (`Cells`); noise is not cut off
inside the counts (`Cells`), and independent in every table (`Cells._noises`); m is the largest block (`Cells.sizes`); every
pattern of m is bounded (`_divergences`), in every table (`Histogram.bound`); letters that agree in a table are counted (`agreeing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice
from math import comb, prod
from operator import add
from typing import Any, NamedTuple

from ...core.allowance import BALL, Allowance, limit, rests_on
from ...core.arithmetic import arb, fmpq
from ...core.certificate import Lines
from ...core.model import Model
from ...core.noise import REAL, SHIFTING, Noise, noise_of
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
_EACH = "several_releases on margins must have one part for each table, with times 1"
Pattern = tuple[int, ...]
Table = tuple[int, ...]  # the attributes by which it counts


class Kind(NamedTuple):
    """Tables of so many cells, with this noise in each."""

    cells: int
    noise: Noise
    tables: list[Table]


class Cells:
    """A histogram, or tables of the same people, with noise in every cell, and the sizes of the blocks of records."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.allowance = model.allowance
        blocks = model.adversary == "independent_blocks" and model.held["entropy_at_least"] is None
        held = model.problem == "maximal_leakage" and (blocks or model.adversary == "product_priors")
        need(held and len(set(model.alphabets)) == 1, _KNOWN)
        self.letters = model.alphabets[0]
        self.sizes = sizes_of(model) if blocks else [1] * len(model.alphabets)
        self.several = model.query["kind"] == "margins"
        self.attributes: list[int] = model.query["attributes"] if self.several else [self.letters]
        need(prod(self.attributes) == self.letters, "query.attributes must have one combination for each letter")
        tables = model.query["tables"] if self.several else [[0]]
        last = max(table[-1] for table in tables)
        need(last < len(self.attributes), "query.tables must be lists of the attributes, by number from 0")
        self.kinds = self._kinds(tables)

    def _kinds(self, tables: list[list[int]]) -> list[Kind]:
        """The tables, those of as many cells and with one noise together, in the order of their first ones."""
        found = list[Kind]()
        for table, said in zip(tables, self._noises(len(tables)), strict=True):
            ends = said.get("range")
            noise = noise_of(said)
            wide = ends is None or (ends[0] <= 0 and len(self.model.alphabets) <= ends[1])
            need(noise.shifts and not noise.real and wide, _KNOWN)
            count = prod(self.attributes[j] for j in table)
            alike = (kind for kind in found if (kind.cells, kind.noise.table) == (count, said))
            if (kind := next(alike, None)) is None:
                found.append(kind := Kind(count, noise, []))
            kind.tables.append(tuple(table))
        return found

    def _noises(self, tables: int) -> list[dict[str, Any]]:
        """The noise of each table."""
        mechanism = self.model.mechanism
        if not self.several or mechanism["kind"] != "several_releases":
            return [mechanism] * tables
        parts = {part.get("on", 0): part for part in mechanism["parts"]}
        once = len(mechanism["parts"]) == tables and sorted(parts) == list(range(tables))
        need(once and all(part["times"] == 1 for part in parts.values()), _EACH)
        return [{key: item for key, item in parts[v].items() if key not in ("times", "on")} for v in range(tables)]

    def lost(self, kind: Kind) -> arb:
        """Leakage that a table's clamped noise leaves out: of a cell at an end of its range, all."""
        return kind.cells * kind.noise.lost(self.letters)


class Steps:
    """The steps T of a cell against blocks of m records, and polynomials that score their outputs."""

    def __init__(self, kind: Kind, m: int, allowance: Allowance) -> None:
        noise = kind.noise
        self.allowance = allowance
        self.count = kind.cells
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
        steps = [series(zip(scores, row, strict=True), 1, self.allowance) for row in self.rows]
        return Scored(self, scores, steps, size)


class Scored(NamedTuple):
    """A_s for every s, of scores e; sums of scores are from 0 to size - 1."""

    steps: Steps
    scores: list[int]
    polynomials: list[Series]
    size: int

    def empty(self, filled: int) -> Series:
        """Of all cells but so many, which are empty."""
        return self.polynomials[0] ** (self.steps.count - filled)

    def square(self) -> Series:
        """A*: of the mean, under a full cell, of its ratio to an empty one."""
        row, ratios = self.steps.rows[-1], self.steps.ratios[-1]
        terms = [x * q for x, q in zip(row, ratios, strict=True)]
        whole = summed(terms).upper().ceil().unique_fmpz()
        need(whole is not None, "a score's mean ratio is not known")
        return series(zip(self.scores, terms, strict=True), int(whole or 0), self.steps.allowance)

    def of(self, pattern: Pattern, empty: Series) -> Series:
        """P_h, where what is left of it is known."""
        small = self.polynomials[pattern[0]]
        for s in pattern[1:]:
            small = small * self.polynomials[s]
        return small * empty

    def quotients(self, top: Series, bottom: Series, unknown: arb) -> Iterator[arb]:
        """Those of coefficients, and of what little is known this."""
        for n, d in zip(top.units(self.size), bottom.units(self.size), strict=True):
            self.steps.allowance.look()
            sure = n > top.off << 10 and d > bottom.off << 10
            yield (n + top.slack) / (d + bottom.slack) if sure else unknown

    def logs(self, top: Series, bottom: Series, ends: tuple[arb, arb]) -> list[arb]:
        """The logarithms of quotients that are between these ends, which are all that is said where little is known."""
        wide = ends[0].log().union(ends[1].log())
        unknown = arb("nan")
        return [wide if q is unknown else q.log() for q in self.quotients(top, bottom, unknown)]

    def mean(self, law: Series, values: Iterable[arb]) -> arb:
        """The sum of a law's probabilities times these."""
        result = arb(0)
        for n, value in zip(law.units(self.size), values, strict=True):
            self.steps.allowance.look()
            result += (n + law.slack) * value
        return result / (1 << law.bits)


def patterns(m: int, parts: int, most: int | None = None) -> Iterator[Pattern]:
    """The ways to write m as a sum of at most so many numbers >= 1, which do not rise."""
    if m == 0:
        yield ()
    for first in range(min(m, most or m), 0, -1) if parts else ():
        for rest in patterns(m - first, parts - 1, first):
            yield (first, *rest)


def agreeing(sizes: Sequence[int], tables: Sequence[tuple[Table, arb, arb]], allowance: Allowance, j: int = 0) -> arb:
    """The sum, over the values of the attributes from j on, of the product of these tables' numbers: the first of a table where all
    of its attributes have the values of a given letter, else the second. No attribute below j differs in any of these tables.
    """
    allowance.look()
    if not tables:
        return arb(prod(sizes[j:]))
    alike = prod((same for table, same, _ in tables if table[-1] == j), start=arb(1))
    unlike = prod((other for table, _, other in tables if j in table), start=arb(sizes[j] - 1))
    more = [one for one in tables if one[0][-1] > j]  # whose attributes are not all looked at
    other = [one for one in tables if j not in one[0]]
    return alike * agreeing(sizes, more, allowance, j + 1) + unlike * agreeing(sizes, other, allowance, j + 1)


class Histogram(Proof):
    """Priors under which blocks of records are independent.

    Bound because I is convex in the channel from a letter to the output, which is a mixture over what all other records can be: it
    is largest where the other blocks are known, and each letter has one histogram of its own block. Given that, tables are
    independent of one another, and their bounds add up.
    """

    def __init__(self, lines: Lines, cells: Cells) -> None:
        super().__init__(lines, cells.allowance)
        self.cells = cells
        rests_on(self.allowance, "H1")
        if cells.several:
            rests_on(self.allowance, "H2")

    def bound(self, upper: arb) -> int:
        """One line of all letters, or one of each kind of tables, about the largest block."""
        sizes = {"letters": 1, "histogram": 3}
        told = arb(0)
        worst = list[str]()
        for kind in self.cells.kinds:
            item = self.lines.item("the bound", sizes)
            self.tally[item[0]] += 1
            if item[0] == "letters":
                at_most(arb(self.cells.letters).log(), upper, "log k <= upper")
                return 1
            value, pattern = self._kind(kind, *item[1:])
            told += len(kind.tables) * value
            worst.append(pattern)
            sizes = {"histogram": 3}
        at_most(told, upper, f"the divergence of the pattern {', '.join(worst)} <= upper")
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

        Bound because, given the sums of the scores, the mean of a logarithm is at most that of the mean, and so is that of what
        several tables, independent given the letter, have in common.
        """
        _, i, hint = item
        left = integer(i, "the record", 0, len(self.cells.model.alphabets) - 1)
        for m in self.cells.sizes:
            if left < m:
                break
            left -= m
        kinds = self.cells.kinds
        scored = [(kinds[0], hint)]
        if self.cells.several:
            pairs = zip(kinds, entries(hint, "the kinds' scores", len(kinds)), strict=True)
            scored = [(kind, scores) for kind, scores in pairs if scores is not None]
        alone = sum(len(kind.tables) for kind, _ in scored) == 1
        value = arb(0)
        tables = list[tuple[Table, arb, arb]]()
        for kind, scores in scored:
            with self.allowance.holding():
                own, share = self._equal(kind, m, scores, alone)
            value += len(kind.tables) * own
            tables += [
                (table, kind.cells * share, kind.cells * (1 - share) / (kind.cells - 1)) for table in kind.tables
            ]
        if not alone:
            value -= (agreeing(self.cells.attributes, tables, self.allowance) / self.cells.letters).log()
        return f"{m} equal records of a block, for record {i}", value

    def _equal(self, kind: Kind, m: int, hint: Any, alone: bool) -> tuple[arb, arb]:
        """Information of a table by itself, and its own cell's share of the mean ratio, which is asked only beside other tables."""
        k = kind.cells
        steps = Steps(kind, m, self.allowance)
        need(k >= 2, "a witness needs at least two letters")
        scored = steps.scored(hint)
        (low, high) = steps.ends((m,))
        rest = scored.empty(2)
        full = scored.polynomials[m]
        none = scored.polynomials[0]
        square = scored.square() * none
        spread = constant(arb(k - 1), k - 1, self.allowance)
        own, ratio = full * none * rest, (square + spread * full * full) * rest
        value = arb(k).log() + steps.told[m] - scored.mean(own, scored.logs(ratio, own, (k * low, k * high)))
        if alone:
            return value, arb(1)
        return value, scored.mean(own, scored.quotients(square * rest, ratio, arb(0).union(arb(1))))

    def _kind(self, kind: Kind, scores: Any, mixed: Any) -> tuple[arb, str]:
        """Largest information of each of these tables, and the pattern of a block that may teach so much."""
        m = max(self.cells.sizes)
        if self.cells.several and scores is None and mixed is None:
            return arb(comb(m + kind.cells - 1, m)).log(), "of all records"
        with self.allowance.holding():
            told = self._divergences(Steps(kind, m, self.allowance), scores, mixed)
        _, worst = max((value.mid(), pattern) for pattern, value in told.items())
        return largest([*told.values()]) + self.cells.lost(kind), str([*worst])

    def _divergences(self, steps: Steps, scores: Any, mixed: Any) -> dict[Pattern, arb]:
        """A line `histogram`: those of all patterns of a block from a mixture of some."""
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
        pieces = (
            constant(arb(x), 1, self.allowance) * scored.of(pattern, empty[len(pattern)])
            for pattern, x in shares.items()
        )
        mixture = reduce(add, pieces)
        pairs = [steps.ends(pattern) for pattern in shares]
        ends = -largest([-low for low, _ in pairs]), largest([high for _, high in pairs])
        logs = scored.logs(mixture, empty[0], ends)
        found = dict[Pattern, arb]()
        for pattern in every:
            mean = scored.mean(scored.of(pattern, empty[len(pattern)]), logs)
            found[pattern] = steps.cost(pattern) - mean
        return found


def subject(model: Model) -> Subject:
    """That of a model about a histogram."""
    cells = Cells(model)
    source = "of every histogram of a block"
    return Subject(lambda lines, _: Histogram(lines, cells), model.most(), source)
