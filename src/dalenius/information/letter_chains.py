"""Markov chains of some letters: what a release of a total reveals about one record, at a point and on boxes of transition matrices.

A box is low <= T <= high with rows that sum to 1, and such a range for the first record's law unless it is stationary. On it the
information is at most what a fixed function of the record and the total has as its mean, and a remainder of second order; means of
functions of a path are largest step by step, each step free to take its own row of the box (imprecise Markov chains: de Cooman,
Hermans and Quaeghebeur, 2009). Everything is in doubles: a checker proves what is found (docs/certificate-format.md, `finite_chain`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalenius.information.arrays import Floats
from dalenius.information.entropies import mutual_information

Numbers = NDArray[Any]  # doubles, or exact numbers
TINY = 1e-300  # of a probability that is less, and not 0: products of few such with others are doubles yet
LEAST_SHARE = 1e-12  # of a letter that is common: one that may have none is rare


@dataclass(frozen=True)
class LetterChain:
    """A chain of so many records, and the record that is asked about.

    Attributes
    ----------
    count, record : int
    adds : what each letter adds to the total
    stationary : bool
        Whether the first record has the stationary law; else its law is one more group of parameters.
    """

    count: int
    record: int
    adds: tuple[int, ...]
    stationary: bool

    @property
    def letters(self) -> int:
        return len(self.adds)

    @property
    def totals(self) -> int:
        """Number of totals, from 0."""
        return self.count * max(self.adds) + 1

    def first_law(self, points: Floats) -> Floats:
        """The law of the first record at points (points, groups, letters)."""
        return stationary_laws(points) if self.stationary else points[:, self.letters]

    def joint_laws(self, points: Floats) -> Floats:
        """P(X_i = x, total = s), (points, letters, totals), at points (points, groups, letters).

        >>> fair = np.full((1, 2, 2), 0.5)
        >>> LetterChain(2, 0, (0, 1), stationary=True).joint_laws(fair).tolist()
        [[[0.25, 0.25, 0.0], [0.0, 0.25, 0.25]]]
        """
        return self.laws_after(points, self.first_law(points))

    def laws_of_totals(self, points: Floats) -> Floats:
        """P(total = s | X_i = x) for every letter that the record can have; of the first record for all letters."""
        if self.record == 0:
            return self.laws_after(points, np.ones((len(points), self.letters)))
        joint = self.joint_laws(points)
        shares = joint.sum(axis=2, keepdims=True)
        return np.divide(joint, shares, out=np.zeros_like(joint), where=shares > 0.0)

    def laws_after(self, points: Floats, first: Floats) -> Floats:
        """The same with these numbers, (points, letters), in the place of the first record's law."""
        steps, letters = points[:, : self.letters], range(self.letters)
        most = max(self.adds)
        lists = np.zeros((len(points), self.letters, most + 1))
        for b in letters:
            lists[:, b, self.adds[b]] = first[:, b]
        for j in range(self.count):
            if j:
                lists = self._forward(steps, lists)
            if j == self.record:
                lists = np.stack([lists * (np.arange(self.letters) == x)[:, None] for x in letters], axis=1)
        return lists.sum(axis=2)

    def _forward(self, steps: Floats, lists: Floats) -> Floats:
        """One record more."""
        size = lists.shape[-1]
        longer = np.zeros((*lists.shape[:-1], size + max(self.adds)))
        spread = (slice(None), *[None] * (lists.ndim - 3))
        moved = np.swapaxes(steps, 1, 2)[spread] @ lists
        for b, added in enumerate(self.adds):
            longer[..., b, added : added + size] = moved[..., b, :]
        return longer


class Tangents(NamedTuple):
    """On each of several boxes: the bound, the letters that rows are compared with, and what the bound is made of.

    Attributes
    ----------
    bounds, leakages, remainders : (boxes,)
        In nats: the bound, the leakage at the box's point, the part of second order.
    bases : (boxes, letters)
    slopes : (2, boxes, groups, letters)
        The least and the largest derivative of the mean for a parameter, beside that for the base.
    """

    bounds: Floats
    leakages: Floats
    remainders: Floats
    bases: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    slopes: Floats


def stationary_laws(points: Floats) -> Floats:
    """The stationary law of each matrix (points, letters, letters); nan where it has several.

    Letters are taken out one by one without a subtraction (Grassmann, Taksar, Heyman), so that rare ones have their digits, too; where
    a letter is never left for those before it, the equations are solved.

    >>> stationary_laws(np.array([[[0.5, 0.5, 0], [0, 0.5, 0.5], [0.25, 0, 0.75]]])).round(12).tolist()
    [[0.25, 0.25, 0.5]]
    """
    letters = points.shape[2]
    balance = np.eye(letters) - np.swapaxes(points[:, :letters], 1, 2)
    balance[:, -1] = 1.0
    known = np.abs(np.linalg.det(balance)) > 1e-12
    laws = np.full(points.shape[::2], np.nan)
    right = np.eye(letters)[-1][:, None]
    laws[known] = np.linalg.solve(balance[known], np.broadcast_to(right, (int(known.sum()), letters, 1)))[:, :, 0]
    left, leaves = _taken_out(points[:, :letters])
    exact = np.all(leaves[:, 1:] > 0.0, axis=1)
    weights = np.ones((len(points), letters))
    for n in range(1, letters):
        weights[:, n] = (weights[:, :n] * left[:, :n, n]).sum(axis=1)
    laws[exact] = (weights / weights.sum(axis=1, keepdims=True))[exact]
    return laws


def mean_visits(steps: Floats) -> Floats:
    """The inverse of I - T without the first letter, 0 for that: the mean number of visits of b before it, from a.

    All are sums of products of probabilities: nothing is taken off, and small ones have their digits.

    >>> mean_visits(np.array([[[0.5, 0.5], [1e-40, 1.0]]])).tolist()
    [[[0.0, 0.0], [0.0, 1e+40]]]
    """
    letters = steps.shape[2]
    left, leaves = _taken_out(steps)
    visits = np.broadcast_to(np.diag([0.0] + [1.0] * (letters - 1)), steps.shape).copy()
    for n in range(letters - 1, 0, -1):
        visits[:, 1:n] += left[:, 1:n, n, None] * visits[:, n, None]
    for n in range(1, letters):
        visits[:, n] = (visits[:, n] + (left[:, n, None, :n] @ visits[:, :n])[:, 0]) / leaves[:, n, None]
    return visits


def _taken_out(steps: Floats) -> tuple[Floats, Floats]:
    """Matrices (points, letters, letters) whose letters are taken out one by one, the last first, and how likely each then leaves.

    Below the diagonal it is said to which of these it goes; above it, how often it is visited from each of them.
    """
    left, leaves = steps.copy(), np.ones(steps.shape[:2])
    for n in range(steps.shape[2] - 1, 0, -1):
        leaves[:, n] = left[:, n, :n].sum(axis=1)
        left[:, :n, n] /= np.where(leaves[:, n] > 0.0, leaves[:, n], 1.0)[:, None]
        left[:, :n, :n] += left[:, :n, n, None] * left[:, n, None, :n]
    return left, leaves


def doubles(numbers: Numbers) -> Floats:
    """Probabilities as doubles that are 0 only where these are: what is possible stays so, and has a logarithm."""
    return np.where(numbers == 0, 0.0, numbers.astype(np.float64).clip(TINY))


def upper_means(low: Floats, high: Floats, values: Floats, mass: float = 1.0) -> Floats:
    """The largest sum_b p_b values_b over the laws p of each range, (boxes, ..., ranges, lists).

    Parameters
    ----------
    low, high : (boxes, ranges, letters)
    values : (boxes, ..., letters, lists)
    mass : float, default 1
        The sum of each p; of differences of laws 0.

    >>> low, high = np.array([[[0.2, 0.1, 0.1]]]), np.array([[[0.8, 0.5, 0.9]]])
    >>> upper_means(low, high, np.array([[[0.0], [1.0], [2.0]]])).round(9).tolist()
    [[[1.5]]]
    """
    spread = (slice(None), *[None] * (values.ndim - 3))
    low, high = low[spread], high[spread]
    best: Floats | None = None
    for letter in range(values.shape[-2]):
        level = values[..., letter : letter + 1, :]
        above = values - level
        found = mass * level + high @ np.maximum(above, 0.0) + low @ np.minimum(above, 0.0)
        best = found if best is None else np.minimum(best, found)
    assert best is not None
    return best


def tangents(chain: LetterChain, rows: Floats, low: Numbers, high: Numbers, points: Numbers) -> Tangents:
    """A bound of the leakage on each box that is exact to first order about the box's point.

    How far a box goes beyond its point is a difference of the numbers that are given: next to 1 that of doubles may be 0.

    Parameters
    ----------
    chain : LetterChain
    rows : (totals, outputs)
        The release's law at each total.
    low, high, points : (boxes, groups, letters)
        Rows of transitions and, where the start is not stationary, the first record's law: doubles or exact numbers.

    >>> flip, fair = np.array([[0.75, 0.25], [0.25, 0.75]]), np.full((1, 2, 2), 0.5)
    >>> tangents(LetterChain(1, 0, (0, 1), stationary=True), flip, fair, fair, fair).bounds.round(6).tolist()
    [0.130812]
    """
    down, up = ((end - points).astype(np.float64) for end in (low, high))
    boxes = _Boxes(chain, rows, doubles(low), doubles(high), doubles(points), down, up)
    return boxes.tangents() if np.any(down != up) else boxes.still()


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Boxes, each with a point, and how far they go beyond it, down and up."""

    chain: LetterChain
    rows: Floats
    low: Floats
    high: Floats
    points: Floats
    down: Floats
    up: Floats

    @property
    def letters(self) -> int:
        return self.chain.letters

    @cached_property
    def first(self) -> Floats:
        return self.chain.first_law(self.points)

    @cached_property
    def shares(self) -> Floats:
        """P(X_i = x) at the points."""
        return self.first if self.chain.record == 0 else self.chain.joint_laws(self.points).sum(axis=2)

    @cached_property
    def told(self) -> Floats:
        """theta, P(Y = y | X_i = x) at the points: (boxes, letters, outputs); 0 for letters that the record cannot have."""
        told = self.chain.laws_of_totals(self.points) @ self.rows
        if self.chain.record == 0 and not self.chain.stationary:
            told *= self.high[:, self.letters, :, None] > 0.0
        return told

    @cached_property
    def visits(self) -> Floats:
        """Mean number of visits of letters before the likeliest, from each: (boxes, letters, letters)."""
        box = np.arange(len(self.points))[:, None, None]
        order = np.argsort(-self.first, axis=1)
        places = box, order[:, :, None], order[:, None]
        visits = np.empty_like(self.points[:, : self.letters])
        visits[places] = mean_visits(self.points[places])
        return visits

    def still(self) -> Tangents:
        """Boxes where no parameter has any room."""
        nothing, bases = np.zeros(len(self.points)), np.zeros((len(self.points), self.letters), dtype=np.int64)
        return Tangents(self.leakages, self.leakages, nothing, bases, np.zeros((2, *self.points.shape)))

    @cached_property
    def leakages(self) -> Floats:
        """The information at the points."""
        return mutual_information(self.chain.joint_laws(self.points) @ self.rows)

    def tangents(self) -> Tangents:
        leakages = self.leakages
        joint = self.shares[:, :, None] * self.told
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            score = np.where(self.told > 0.0, np.log(self.told / joint.sum(axis=1, keepdims=True)), 0.0) @ self.rows.T
            values = self._values(score)
            ends = self._first_of(values[0])
            bases = self._bases(values, ends)
            slopes = self._slopes(values, ends, bases)
            added = self._added(slopes, bases, ends)
            remainders = self._remainders()
        moves = np.any(self.down != self.up, axis=(1, 2))
        bounds = np.where(moves, leakages + added + remainders, leakages)
        return Tangents(np.where(np.isfinite(bounds), bounds, np.inf), leakages, remainders, bases, slopes)

    # ------------------------------------------------------------ one step back

    def _successors(self, values: Floats, record: int) -> Floats:
        """values(b, s + f(b)), where s is the total of the records before this one."""
        size = record * max(self.chain.adds) + 1
        return np.stack([values[..., b, a : a + size] for b, a in enumerate(self.chain.adds)], axis=-2)

    def _first_of(self, values: Floats) -> Floats:
        """Of the first record: (boxes, ..., letters)."""
        return np.stack([values[..., b, a] for b, a in enumerate(self.chain.adds)], axis=-1)

    def _merged(self, values: Floats) -> Floats:
        """Merge the record that is asked about: (..., letters, letters, totals) to (..., letters, totals)."""
        return np.stack([values[..., x, x, :] for x in range(self.letters)], axis=-2)

    def _values(self, score: Floats) -> list[Floats]:
        """V_0, ..., V_{n-1} at the points: the mean of the score, given record i, and the letter and the total as far as record j."""
        chain, steps = self.chain, self.points[:, : self.letters]
        last = chain.count - 1
        values = score if chain.record == last else np.repeat(score[:, :, None], self.letters, axis=2)
        found = [values]
        for j in range(last, 0, -1):
            after = self._successors(values, j)
            values = steps[(slice(None), *[None] * (after.ndim - 3))] @ after
            if j - 1 == chain.record:
                values = self._merged(values)
            found.append(values)
        return found[::-1]

    # ------------------------------------------------------------ the part of first order

    def _bases(self, values: list[Floats], ends: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        """Of each row the letter whose share is neither least nor largest where the mean is largest, as slopes at the points say."""
        letters = self.letters
        zeros = np.zeros((len(self.points), letters), dtype=np.int64)
        slopes = self._slopes(values, ends, zeros, still=True)[1, :, :letters]
        down, up = self.down[:, :letters], self.up[:, :letters]
        above = slopes[:, :, None, :] - slopes[:, :, :, None]  # (boxes, rows, level, letters)
        worth = np.where(above > 0.0, above * up[:, :, None], above * down[:, :, None]).sum(axis=3)
        return np.argmin(np.where(np.isfinite(worth), worth, np.inf), axis=2)

    def _slopes(
        self,
        values: list[Floats],
        ends: Floats,
        bases: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
        *,
        still: bool = False,
    ) -> Floats:
        """g: (least or largest, boxes, groups, letters), on the boxes or, `still`, at their points."""
        letters, chain = self.letters, self.chain
        low, high = (self.points, self.points) if still else (self.low, self.high)
        boxes = np.arange(len(bases))
        last = values[-1]
        sums = np.zeros((len(bases), 2, letters, letters, *last.shape[1:]))  # sign, row, letter
        for j in range(chain.count - 1, 0, -1):
            after = self._successors(values[j], j)
            sums = upper_means(low[:, :letters], high[:, :letters], self._successors(sums, j))
            for a in range(letters):
                change = np.moveaxis(after, -2, 1)  # (boxes, letter, ..., totals)
                change = change - change[boxes, bases[:, a]][:, None]
                sums[:, 0, a, ..., a, :] += change
                sums[:, 1, a, ..., a, :] -= change
            if j - 1 == chain.record:
                sums = self._merged(sums)
        means = self._means(self._first_of(sums), still)
        slopes = np.zeros((2, *self.points.shape))
        slopes[0, :, :letters], slopes[1, :, :letters] = -means[:, 1], means[:, 0]
        if chain.stationary:
            moved = self._turned(ends)
            change = moved[:, None, :] - moved[boxes[:, None], bases][:, :, None]
            unit = np.broadcast_to(np.eye(letters), (len(bases), letters, letters))
            most, least = self._means(unit, still)[:, :, None], -self._means(-unit, still)[:, :, None]
            slopes[0] += np.where(change > 0.0, least * change, most * change)
            slopes[1] += np.where(change > 0.0, most * change, least * change)
        else:
            slopes[:, :, letters] = ends
        return slopes

    def _added(self, slopes: Floats, bases: np.ndarray[tuple[int, ...], np.dtype[np.int64]], ends: Floats) -> Floats:
        """Largest change of the mean by differences of rows, and of starts."""
        letters = self.letters
        products = [g[:, :letters] * d[:, :letters] for g in slopes for d in (self.down, self.up)]
        most = np.max(products, axis=0)
        np.put_along_axis(most, bases[:, :, None], 0.0, axis=2)
        added = most.sum(axis=(1, 2))
        if not self.chain.stationary:
            added += self._more(ends)
        return added

    def _means(self, values: Floats, still: bool = False) -> Floats:
        """The largest mean over the first record's laws, or that at the points, of values (boxes, ..., letters)."""
        mean = (values * self.first[self._spread(values)]).sum(axis=-1)
        return mean if still else mean + self._more(values)

    def _more(self, values: Floats) -> Floats:
        """By how much more a mean over the first record's laws is than that at the points."""
        rows, moved = (
            (slice(self.letters), self._turned(values))
            if self.chain.stationary
            else (slice(self.letters, None), values)
        )
        more = upper_means(self.down[:, rows], self.up[:, rows], moved[..., None], mass=0.0)
        return more[..., 0].max(axis=-1)

    def _turned(self, values: Floats) -> Floats:
        """L with L_a - sum_b T_ab L_b = values_a less their mean, T the points': what letters lead to beside the likeliest."""
        spread = self._spread(values)
        apart = values[..., :, None] - values[..., None, :]
        above = apart @ self.first[spread][..., None]
        return (self.visits[spread] @ above)[..., 0]

    def _spread(self, values: Floats) -> tuple[slice | None, ...]:
        """Boxes by as many axes as values (boxes, ..., letters) have."""
        return (slice(None), *[None] * (values.ndim - 2))

    # ------------------------------------------------------------ the part of second order

    def _remainders(self) -> Floats:
        """Largest mean of D(W_x || theta_x).

        Of common letters it is at most log(1 + chi), chi the mean of sum_y (W_x - theta_x)^2/theta_x; of a rare one its largest
        probability times the largest divergence of a row that its record's total can have.
        """
        chain, letters = self.chain, self.letters
        outputs = np.broadcast_to(self.rows.T[:, None], (self.rows.shape[1], letters, len(self.rows)))
        signs = np.stack([outputs, -outputs])
        later = np.broadcast_to(signs, (len(self.points), *signs.shape))  # boxes, sign, output, letter, total
        for j in range(chain.count - 1, chain.record, -1):
            later = self._back(later, j)
        told = np.stack([self.told, -self.told], axis=1)  # boxes, sign, letter, output
        if chain.record == 0:
            far = (np.swapaxes(self._first_of(later), 2, 3) - told).max(axis=1)
            return np.log1p(self._means(_squares(far, self.told).sum(axis=2)))
        own = np.zeros((*later.shape[:2], letters, *later.shape[2:]))  # boxes, sign, x, output, letter, total
        for x in range(letters):
            own[:, :, x, :, x] = later[:, :, :, x] - told[:, :, x, :, None]
        one = np.eye(letters)[:, :, None] * np.ones(later.shape[-1])
        here = np.broadcast_to(np.stack([one, -one]), (len(self.points), 2, *one.shape))
        for j in range(chain.record, 0, -1):
            own, here = self._back(own, j), self._back(here, j)
        far = self._means(self._first_of(own)).max(axis=1)
        most, least = np.moveaxis(self._means(self._first_of(here)), 1, 0) * [[[1]], [[-1]]]
        chi = np.where(least > LEAST_SHARE, _squares(far, self.told).sum(axis=2) / least.clip(LEAST_SHARE), np.inf)
        possible = self.shares > 0.0
        return _least_sums(np.where(possible, chi, 0.0), np.where(possible, most * self._farthest(), 0.0))

    def _farthest(self) -> Floats:
        """The largest D(R(s, .) || theta_x) over the totals that are possible after a letter, (boxes, letters)."""
        # the products of the points' own probabilities may be too small for doubles
        steps, first = (np.where(p > 0.0, 1.0 / self.letters, 0.0) for p in (self.points, self.first))
        possible = self.chain.laws_after(steps, first) > 0.0
        entropies = np.where(self.rows > 0.0, self.rows * np.log(self.rows), 0.0).sum(axis=1)
        cross = np.where(self.told > 0.0, np.log(self.told), 0.0) @ self.rows.T
        return np.where(possible, entropies - cross, 0.0).max(axis=2)

    def _back(self, values: Floats, record: int) -> Floats:
        return upper_means(self.low[:, : self.letters], self.high[:, : self.letters], self._successors(values, record))


def _least_sums(chi: Floats, rare: Floats) -> Floats:
    """The least log(1 + the chi of some letters) + the rare of all others, of lists (boxes, letters).

    >>> _least_sums(np.array([[1.0, np.inf, 0.5]]), np.array([[0.9, 0.25, 0.01]])).round(6).tolist()
    [0.953147]
    """
    order = np.argsort(np.where(chi > 0.0, rare / chi, np.inf), axis=1)  # the best are the first so many of these
    chi, rare = (np.take_along_axis(numbers, order, axis=1) for numbers in (chi, rare))
    nothing = np.zeros((len(chi), 1))
    common = np.concatenate([np.cumsum(chi[:, ::-1], axis=1)[:, ::-1], nothing], axis=1)
    return (np.log1p(common) + np.concatenate([nothing, np.cumsum(rare, axis=1)], axis=1)).min(axis=1)


def _squares(far: Floats, told: Floats) -> Floats:
    """far^2/theta, where theta > 0."""
    return np.where(told > 0.0, far**2 / told, 0.0)
