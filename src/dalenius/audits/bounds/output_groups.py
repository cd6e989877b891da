"""Outputs in groups, and these in groups again: what the row problem is bounded on until finer outputs are needed (docs/theory.md).

With R_g(k) = sum over y in g of R(k,y), for every law w on classes and K = wR

    sum_y K log K <= sum_g K_g log K_g + sum_k w(k) c_g(k),     c_g(k) = sum_{y in g} R(k,y) log( R(k,y) / R_g(k) ),

*because* sum_{y in g} K(y) log(K(y)/K_g) is convex and homogeneous in K, hence at most its mean over the rows. It is exact where the
outputs of a group are proportional.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.information import x_log_x
from dalenius.information.arrays import Floats
from dalenius.information.deadline import Deadline, need_time

Groups: TypeAlias = tuple[int, ...]  # a partition of the outputs, by the numbers of its groups
AT_FIRST = 3  # groups that a row tree begins with at least
FEW = 8  # outputs that are not grouped at all: their boxes have no more dimensions than groups soon would


@dataclass(frozen=True, eq=False)
class OutputGroups:
    """All groups that partitions are made of: of all outputs, and of either half of every group, down to single outputs.

    Attributes
    ----------
    order : (outputs,)
        The outputs as a chain, in which every group is an interval.
    start, end : (groups,)
        That interval.
    halves : tuple of (group, group), or None where a group is one output
    columns, corrections : (classes, groups)
        R_g(k) and c_g(k).
    loss : (groups,)
        What merging each group loses at the masses that the chain was made for.

    >>> rows = np.array([[0.5, 0.25, 0.25], [0.2, 0.4, 0.4]])
    >>> groups = OutputGroups.of(rows, np.array([[0.6, 0.0], [0.0, 0.4]]))
    >>> [sorted(groups.outputs(g)) for g in groups.halves[0]], [round(float(x), 9) for x in groups.loss[1:]]
    ([[0], [1, 2]], [0.0, 0.0, 0.0, 0.0])
    """

    rows: Floats
    order: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    halves: tuple[tuple[int, int] | None, ...]
    columns: Floats
    corrections: Floats
    loss: Floats

    @classmethod
    def of(cls, rows: Floats, masses: Floats, clock: Deadline | None = None) -> OutputGroups:
        """Groups of the outputs of rows (classes, outputs) that lose little at masses (letters, classes).

        Raises
        ------
        TimeIsOverError
            Once the clock, if there is one, has expired.
        """
        order = _chain(rows, masses.sum(axis=0))
        merged = _Merged(rows[:, order], masses)
        start, end, halves = [0], [len(order)], list[tuple[int, int] | None]()
        while len(halves) < len(start):
            need_time(clock)
            i, j = start[len(halves)], end[len(halves)]
            if j - i == 1:
                halves.append(None)
                continue
            cut = np.arange(i + 1, j)
            between = int(
                cut[np.argmin(merged.loss(np.full_like(cut, i), cut) + merged.loss(cut, np.full_like(cut, j)))]
            )
            halves.append((len(start), len(start) + 1))
            start += [i, between]
            end += [between, j]
        first, last = np.array(start), np.array(end)
        columns, logs = np.empty((2, len(rows), len(first)))
        for g in reversed(range(len(first))):  # sums of two parts at a time: no small number is lost beside large ones
            parts = halves[g]
            y = order[first[g]]
            columns[:, g] = rows[:, y] if parts is None else columns[:, parts].sum(axis=1)
            logs[:, g] = x_log_x(rows[:, y]) if parts is None else logs[:, parts].sum(axis=1)
        corrections = np.where(last - first == 1, 0.0, np.minimum(logs - x_log_x(columns), 0.0))
        return cls(rows, order, first, last, tuple(halves), columns, corrections, merged.loss(first, last).clip(0.0))

    @property
    def singles(self) -> Groups:
        """The partition into outputs, in the order of the channel."""
        alone = np.flatnonzero(self.end - self.start == 1)
        return tuple(alone[np.argsort(self.order[self.start[alone]])].tolist())

    def outputs(self, group: int) -> list[int]:
        """The members of a group."""
        return [int(y) for y in self.order[self.start[group] : self.end[group]]]

    def first_partition(self, most: float) -> Groups:
        """As few groups as lose at most so much, but not too few; the outputs themselves where these are few."""
        if self.rows.shape[1] <= FEW:
            return self.singles
        for count in range(AT_FIRST, self.rows.shape[1]):
            groups = self.partition(count)
            if self.loss[list(groups)].sum() <= most:
                return groups
        return self.singles

    def partition(self, count: int) -> Groups:
        """So many groups, where there are as many outputs: the one that loses most is split."""
        groups = [0]
        while len(groups) < count and any(self.halves[g] for g in groups):
            largest = max((g for g in groups if self.halves[g]), key=lambda g: float(self.loss[g]))
            groups = self.refined(groups, {largest})
        return tuple(groups)

    def refined(self, groups: list[int], chosen: set[int]) -> list[int]:
        """A partition with both halves in the place of each chosen group."""
        return [part for g in groups for part in ((self.halves[g] or (g,)) if g in chosen else (g,))]

    def lost(self, groups: NDArray[np.int64], w: Floats) -> Floats:
        """By how much merging each of these groups raises the bound at a law w on classes."""
        K = (w @ self.rows)[self.order]
        parts = np.concatenate([[0.0], np.cumsum(x_log_x(K))])
        sums = np.concatenate([[0.0], np.cumsum(K)])
        start, end = self.start[groups], self.end[groups]
        whole = x_log_x(np.maximum(sums[end] - sums[start], 0.0))
        loss = w @ self.corrections[:, groups] - (parts[end] - parts[start] - whole)
        return np.where(end - start == 1, 0.0, np.maximum(loss, 0.0))


class _Merged:
    """Sums over intervals of the chain, and what merging these loses."""

    def __init__(self, rows: Floats, masses: Floats) -> None:
        letters = masses.sum(axis=1)
        masses, letters = masses[letters > 0.0], letters[letters > 0.0]
        self._weights, self._letters = masses.sum(axis=0), letters
        K = masses @ rows / letters[:, None]
        self._sums, self._logs = _cumulated(rows), _cumulated(x_log_x(rows))
        self._K, self._K_logs = _cumulated(K), _cumulated(x_log_x(K))

    def loss(self, start: NDArray[np.int64], end: NDArray[np.int64]) -> Floats:
        """c_g of intervals at the masses, less what it stands for."""
        inner = self._logs[:, end] - self._logs[:, start]
        inner = inner - x_log_x(np.maximum(self._sums[:, end] - self._sums[:, start], 0.0))
        merged = self._K_logs[:, end] - self._K_logs[:, start]
        merged = merged - x_log_x(np.maximum(self._K[:, end] - self._K[:, start], 0.0))
        return np.asarray(self._weights @ inner - self._letters @ merged)


def _cumulated(x: Floats) -> Floats:
    return np.concatenate([np.zeros((len(x), 1)), np.cumsum(x, axis=1)], axis=1)


def _chain(rows: Floats, weights: Floats) -> NDArray[np.int64]:
    """The outputs in the order of the first singular vector that tells them apart: proportional ones have one place in it."""
    law = np.maximum(weights @ rows, 1e-300)
    normalised = np.sqrt(weights / weights.sum())[:, None] * rows / np.sqrt(law)
    vectors = np.linalg.svd(normalised, full_matrices=False)[2]
    place = vectors[min(1, len(vectors) - 1)] / np.sqrt(law)
    return np.argsort(np.round(place / max(np.abs(place).max(), 1e-300), 9), kind="stable")


def groups_bytes(rows: Floats, letters: int) -> int:
    """Memory of the groups of so many letters, those of a record's rows (classes, outputs)."""
    return 8 * letters * 5 * rows.size
