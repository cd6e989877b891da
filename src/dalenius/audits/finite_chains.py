"""Markov chains of several letters: the largest leakage of a record over transition matrices in ranges, by branch and bound.

*Why*: on a box the leakage is at most a bound that is exact to first order at one of its points (docs/theory.md, Markov chains of
several letters). *From below*: the best matrix that was met, at such points and at the corners that their slopes point to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dalenius.audits.chain_trees import ChainLeaf, ChainTrees, Content, Kind, checked_bounds, expansion_seconds, texts
from dalenius.evidence.upper import ExpansionLeaf, LettersLine, ProofLine
from dalenius.exact import between, few_digits, is_writable
from dalenius.information.arrays import Floats
from dalenius.information.entropies import mutual_information
from dalenius.information.letter_chains import LetterChain, doubles, stationary_laws, tangents
from dalenius.model import FiniteChain
from dalenius.model.adversaries.chains import inputs_by_total, what_letters_add
from dalenius.search.tree import Leaf

NUMBERS = 2**23  # that are held at once
ROOM = 1.2  # times what checking is predicted to take
DIGITS = 10  # of a leaf's point
NARROW = 2.0**-40  # a range that is never halved

Range = tuple[Fraction, Fraction]
Law = tuple[Fraction, ...]
Point = tuple[Law, ...]


@dataclass(frozen=True)
class Box:
    """Ranges of the rows of transitions and, where the start is not stationary, of the first record's law.

    Each group is tightened: no range has an end that no law of the group has.
    """

    groups: tuple[tuple[Range, ...], ...]

    @classmethod
    def of(cls, groups: Sequence[Sequence[Range]]) -> Box:
        return cls(tuple(map(_tightened, groups)))

    def halves(self, parameter: int) -> tuple[Fraction, Box, Box]:
        """Where it is halved, and both halves."""
        group, letter = divmod(parameter, len(self.groups[0]))
        low, high = self.groups[group][letter]
        middle = between(low, high)
        return middle, self._with(group, letter, (low, middle)), self._with(group, letter, (middle, high))

    def _with(self, group: int, letter: int, ends: Range) -> Box:
        row = list(self.groups[group])
        row[letter] = ends
        groups = list(self.groups)
        groups[group] = _tightened(row)
        return Box(tuple(groups))

    @property
    def middle(self) -> Point:
        """A point well inside."""
        return tuple(map(_middle, self.groups))

    def corner(self, slopes: Floats) -> Point:
        """Where a linear function with these slopes, (groups, letters), is largest."""
        return tuple(_corner(group, each) for group, each in zip(self.groups, slopes, strict=True))


_Record = Kind[LetterChain]


@dataclass
class FiniteChainAudit(ChainTrees[_Record]):
    """A running audit against `FiniteChain`."""

    def __post_init__(self) -> None:
        problem, adversary = self.problem, self.problem.adversary
        assert isinstance(adversary, FiniteChain)
        adds = what_letters_add(problem.query, adversary.letters)
        count, self.whole = len(problem.records), Box.of(adversary.box)
        totals = np.arange(count * max(adds) + 1)
        self.inputs = inputs_by_total(problem.query, problem.records, totals)
        self.rows = problem.channel[self.inputs]
        self.moves = any(low < high for group in self.whole.groups for low, high in group)
        for record in adversary.records_of(problem.records):
            chain = LetterChain(count, record, adds, adversary.stationary)
            self.records.append(_Record(chain, self._by_letters(chain), self.whole.middle))

    def _begin(self, kind: _Record) -> None:
        self._try(kind, [self.whole.middle])
        if self._affords(kind.chain):
            kind.tree.renew(self._leaves_of(kind, [self.whole], [kind.tree.upper])[0])
            self.checking += self._seconds(kind.chain)

    def _batch(self, kind: _Record) -> int:
        k, outputs = kind.chain.letters, self.rows.shape[1]
        held = 2 * k * kind.chain.totals * max(k * outputs, k * k * k)
        return min(int(np.clip(NUMBERS // (2 * held), 1, 16)), self._affords(kind.chain))

    def _affords(self, chain: LetterChain) -> int:
        """How many leaves more can be checked in the time that is left."""
        left = self.clock.left / ROOM - self.checking
        return int(np.clip(left / max(self._seconds(chain), 1e-9), 0, 2**30))

    def _cost(self, kind: _Record, leaves: Sequence[ChainLeaf]) -> float:
        return len(leaves) * self._seconds(kind.chain)

    def _seconds(self, chain: LetterChain) -> float:
        """Of one leaf."""
        return self.clock.pace * expansion_seconds(chain, self.rows.shape[1], moves=self.moves)

    # ------------------------------------------------------------ leaves

    def _leaves_of(self, kind: _Record, boxes: Sequence[Box], most: Sequence[float]) -> list[ChainLeaf]:
        points = [box.middle for box in boxes]
        low, high = np.moveaxis(np.array([box.groups for box in boxes], dtype=object), -1, 0)
        found = tangents(kind.chain, self.rows, low, high, np.array(points, dtype=object))
        self._try(kind, points + [box.corner(g) for box, g in zip(boxes, found.slopes.mean(axis=0), strict=True)])
        leaves = list[ChainLeaf]()
        weights, checked = _weights(kind.chain, _doubles(points)), checked_bounds(found)
        for j, box in enumerate(boxes):
            added = found.bounds[j] - found.leakages[j]
            bound = checked[j]
            letters = self._letters(kind.chain, box)
            line: ProofLine = LettersLine()
            if bound < letters and _are_writable(points[j]):
                line = ExpansionLeaf(texts(points[j]), tuple(found.bases[j].tolist()))
            else:
                bound = letters
            widths = (high[j] - low[j]).astype(np.float64)
            worth = np.nan_to_num(found.slopes[:, j])
            score = widths * (np.abs(worth).max(axis=0) + worth[1] - worth[0])
            shares = widths * weights[j]
            score += shares * (
                max(float(np.nan_to_num(found.remainders[j], posinf=1.0)), 1e-12) / max(shares.max(), 1e-300)
            )
            parameter = int(np.argmax(score))
            middle = box.halves(parameter)[0]
            cuts = widths.max() > NARROW and added > 0.0 and is_writable(middle)
            leaves.append(Leaf(Content(box, line), float(bound), (parameter, middle) if cuts else None))
        return leaves

    def _try(self, kind: _Record, points: Sequence[Point]) -> None:
        """Keep the best of these points, if it is the record's best."""
        points = [point for point in points if _are_writable(point)]
        if not points:
            return
        at = _doubles(points)
        if kind.chain.stationary:
            known = np.flatnonzero(np.isfinite(stationary_laws(at)).all(axis=1))
            points, at = [points[int(j)] for j in known], at[known]
        if len(at):
            leakages = mutual_information(kind.chain.joint_laws(at) @ self.rows)
            best = int(np.argmax(leakages))
            if leakages[best] > kind.lower:
                kind.lower, kind.point = float(leakages[best]), points[best]

    # ------------------------------------------------------------ what is proposed

    def _law(self, kind: _Record) -> Floats:
        return kind.chain.joint_laws(_doubles([kind.point]))[0]

    def _letters(self, chain: LetterChain, box: Box) -> float:
        """The log of the number of letters that the record can have."""
        free = chain.stationary or chain.record > 0
        return math.log(chain.letters if free else sum(most > 0 for _, most in box.groups[-1]))


def _weights(chain: LetterChain, points: Floats) -> Floats:
    """How often a parameter has a say, (points, groups, letters), one number for each group."""
    first = chain.first_law(points)[:, :, None]
    shares = (
        first
        if chain.stationary
        else np.concatenate([first * 0.0 + 1.0 / chain.letters, first[:, :1] * 0.0 + 1.0], axis=1)
    )
    return np.broadcast_to(shares, points.shape)


def _tightened(group: Sequence[Range]) -> tuple[Range, ...]:
    """The same ranges without the ends that no law in them has."""
    low, high = sum(ends[0] for ends in group), sum(ends[1] for ends in group)
    return tuple((max(lo, 1 - (high - hi)), min(hi, 1 - (low - lo))) for lo, hi in group)


def _middle(group: Sequence[Range]) -> Law:
    """A law as far between the ends in one range as in all others; with few digits where these leave room."""
    low, high = sum((ends[0] for ends in group), Fraction(0)), sum((ends[1] for ends in group), Fraction(0))
    if low == high:
        return tuple(lo for lo, _ in group)
    share = (1 - low) / (high - low)
    law = [lo + share * (hi - lo) for lo, hi in group]
    widest = max(range(len(group)), key=lambda b: group[b][1] - group[b][0])
    for rounded in (round, few_digits):
        short = [p if lo == hi else rounded(p, DIGITS) for p, (lo, hi) in zip(law, group, strict=True)]
        short[widest] += 1 - sum(short)
        if all(lo < p < hi or lo == p == hi for p, (lo, hi) in zip(short, group, strict=True)):
            return tuple(short)
    return tuple(law)


def _corner(group: Sequence[Range], slopes: Floats) -> Law:
    """Of these laws the one with the largest mean slope."""
    law = [lo for lo, _ in group]
    left = 1 - sum(law, Fraction(0))
    for b in np.argsort(-slopes):
        more = min(left, group[b][1] - group[b][0])
        law[b] += more
        left -= more
    return tuple(law)


def _doubles(points: Sequence[Point]) -> Floats:
    return doubles(np.array(points, dtype=object))


def _are_writable(point: Point) -> bool:
    return all(is_writable(p) for law in point for p in law)
