"""Symmetries of a row problem, and what they leave to be bounded: laws w whose probabilities K are in some order."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from .allowance import Allowance
from .arithmetic import fmpq
from .bounds import Joint, Ranges
from .groups import Level
from .numbers import need
from .read import entries, integer

Order = tuple[int, int]  # (z, z') stands for K(z) >= K(z')


@dataclass(frozen=True)
class Stated:
    """A joint leaf: where it stands, its slopes as they are written, and its law."""

    leaf: Joint
    level: Level
    sigma: list[Any]
    law: list[fmpq] | None


@dataclass(frozen=True)
class Exchange:
    """A permutation of inputs with one of outputs, both by images."""

    inputs: list[int]
    outputs: list[int]

    def need_symmetry(self, stated: Stated, a: int, ranges: Ranges, orders: Collection[Order]) -> None:
        """Refuse it unless it leaves letter a's row problem as it is: the scores, the laws w that count, and their entropies.

        Bound because then the image of w has the value of w, and is in the ranges and orders if w is; s(a, k) is the image's since
        the channel, slopes, intercepts and r^ are.
        """
        tau, level = self.outputs, stated.level
        self._need_channel(stated, a)
        places = [(y, z) for y, z in enumerate(tau) if y != z]
        law = stated.law
        need(law is None or all(law[z] == law[y] for y, z in places), "the exchange does not leave r as it is")
        same = (row is None or all(row[z] == row[y] for y, z in places) for row in stated.sigma)
        need(all(same), "the exchange does not leave the slopes as they are")
        pairs = ((level.box[z], level.box[y]) for y, z in places)
        same = (image is own or (image.los, image.his) == (own.los, own.his) for image, own in pairs)
        need(all(same), "the exchange does not leave the ranges of phi as they are")
        ends = list(zip(ranges.los, ranges.his, strict=True))
        need(all(ends[z] == ends[y] for y, z in places), "the exchange does not leave the ranges of K as they are")
        kept = all((tau[one], tau[two]) in orders for one, two in orders)
        need(kept, "the exchange does not leave the orders above as they are")

    def _need_channel(self, stated: Stated, a: int) -> None:
        """Refuse it unless N(a, pi(k)) = N(a, k) and R(pi(k), tau(y)) = R(k, y), in numbers; or made from the same numbers."""
        record = stated.level.record
        channel, counts = record.channel, dict(record.pairs[a])
        for k, n in record.pairs[a]:
            channel.allowance.look()
            row, image = channel.rows[k], channel.rows[self.inputs[k]]
            pairs = ((x, image[z]) for x, z in zip(row, self.outputs, strict=True))
            need(counts.get(self.inputs[k]) == n, "the exchange does not leave the numbers of completions as they are")
            same = all(x is y or (channel.exact and x == y) for x, y in pairs)
            need(same, "the exchange does not leave the channel as it is")


def exchange(value: Any, inputs: int, outputs: int) -> Exchange:
    """[pi, tau]."""
    pi, tau = entries(value, "an exchange", 2)
    return Exchange(_permutation(pi, inputs), _permutation(tau, outputs))


def _permutation(value: Any, size: int) -> list[int]:
    found = [integer(place, "an image", 0, size - 1) for place in entries(value, "a permutation", size)]
    need(len(set(found)) == size, "a permutation has one image twice")
    return found


def ordered(ranges: Ranges, orders: Iterable[Order], allowance: Allowance) -> Ranges:
    """What the ranges of K are for those K alone that are in these orders."""
    los, his = list(ranges.los), list(ranges.his)
    changed, listed = True, list(orders)
    while changed:
        allowance.look()
        changed = False
        for one, two in listed:
            if los[one] < los[two]:
                los[one], changed = los[two], True
            if his[two] > his[one]:
                his[two], changed = his[one], True
    return Ranges(los, his)
