"""Symmetries of a record's and of a letter's problem, and what they leave to be bounded: boxes whose images are bounded with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .allowance import PAIR, POINTER, Allowance
from .arithmetic import fmpq
from .bounds import Joint, Ranges, Record
from .boxes import Level
from .numbers import need
from .read import entries, integer

Order = tuple[int, int]  # (z, z') stands for K(z) >= K(z')
Place = tuple[int, int]  # (a, y), of K_a(y)


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

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    def need_channel(self, record: Record, b: int, a: int) -> None:
        """Refuse it unless N(a, pi(k)) = N(b, k) and R(pi(k), tau(y)) = R(k, y), in numbers; or made from the same numbers."""
        known = (self, b, a)
        if known in record.exchanges:
            return
        channel = record.channel
        counts = dict(record.pairs[a])
        need(len(record.pairs[b]) == len(counts), "the exchange does not leave the numbers of completions as they are")
        for k, n in record.pairs[b]:
            channel.allowance.look()
            row, image = channel.rows[k], channel.rows[self.inputs[k]]
            pairs = ((x, image[z]) for x, z in zip(row, self.outputs, strict=True))
            need(counts.get(self.inputs[k]) == n, "the exchange does not leave the numbers of completions as they are")
            same = all(x is y or (channel.exact and x == y) for x, y in pairs)
            need(same, "the exchange does not leave the channel as it is")
        channel.allowance.take(PAIR + (len(self.inputs) + len(self.outputs)) * POINTER)
        record.exchanges.add(known)

    def need_law(self, law: list[fmpq] | None) -> None:
        """Refuse it unless it leaves r^ as it is."""
        need(
            law is None or all(law[z] == x for x, z in zip(law, self.outputs, strict=True)),
            "the exchange does not leave r as it is",
        )

    def need_symmetry(self, stated: Stated, a: int, ranges: Ranges, orders: Collection[Order]) -> None:
        """Refuse it unless it leaves letter a's row problem as it is: the scores, the laws w that count, and their entropies.

        Bound because then the image of w has the value of w, and is in the ranges and orders if w is; s(a, k) is the image's since
        the channel, slopes, intercepts and r^ are.
        """
        tau, level = self.outputs, stated.level
        self.need_channel(level.record, a, a)
        self.need_law(stated.law)
        places = [(y, z) for y, z in enumerate(tau) if y != z]
        same = (row is None or all(row[z] == row[y] for y, z in places) for row in stated.sigma)
        need(all(same), "the exchange does not leave the slopes as they are")
        pairs = ((level.box[z], level.box[y]) for y, z in places)
        same = (image is own or (image.los, image.his) == (own.los, own.his) for image, own in pairs)
        need(all(same), "the exchange does not leave the ranges of phi as they are")
        ends = list(zip(ranges.los, ranges.his, strict=True))
        need(all(ends[z] == ends[y] for y, z in places), "the exchange does not leave the ranges of K as they are")
        kept = all((tau[one], tau[two]) in orders for one, two in orders)
        need(kept, "the exchange does not leave the orders above as they are")

    def need_image(self, stated: Stated, b: int, a: int) -> None:
        """Refuse it unless it maps letter b's row problem, in a leaf with theta = 1 and without slopes, to letter a's.

        Bound because then s(a, pi(k)) = s(b, k), and w'(pi(k)) = w(k) has the value of w, and is in the ranges if w is.
        """
        plain = stated.leaf.theta == 1 and all(row is None for row in stated.sigma)
        need(plain and stated.level.top, "an image of a letter stands where theta is 1, sigma null, and no group above")
        self.need_channel(stated.level.record, b, a)
        self.need_law(stated.law)
        need(_same_ranges(stated.level, b, a, self.outputs), "the exchange does not leave the ranges of K as they are")


@dataclass(frozen=True)
class Symmetry:
    """A permutation of letters, by images, with an exchange."""

    letters: tuple[int, ...]
    exchange: Exchange

    def image(self, place: Place) -> Place:
        """(alpha(a), tau(y))."""
        return self.letters[place[0]], self.exchange.outputs[place[1]]

    def need_symmetry(self, level: Level) -> None:
        """Refuse it unless it leaves the record's problem and the box as they are.

        Bound because then the image p'(alpha(a), pi(k)) = p(a, k) of a prior has its information and entropy, and is in the box
        if p is.
        """
        need(level.top, "an orbit stands above all groups")
        for b, a in enumerate(self.letters):
            self.exchange.need_channel(level.record, b, a)
            same = _same_ranges(level, b, a, self.exchange.outputs)
            need(same, "the symmetry does not leave the ranges of K as they are")
        for y, z in enumerate(self.exchange.outputs):
            own, image = level.box[y], level.box[z]
            moved = own is not image or any(a != b for b, a in enumerate(self.letters))
            pairs = enumerate(self.letters) if moved else ()
            same = all(image.los[a] == own.los[b] and image.his[a] == own.his[b] for b, a in pairs)
            need(same, "the symmetry does not leave the ranges of phi as they are")


def _same_ranges(level: Level, b: int, a: int, outputs: Sequence[int]) -> bool:
    """True if K_a(tau(y)) has the range of K_b(y) for all y; or neither end was cut, where the channel's entries are the same."""
    own = level.conditional(b)
    image = level.conditional(a)
    first = level.uncut(b)
    last = level.uncut(a)
    ends = ((own.los, image.los, first.los, last.los), (own.his, image.his, first.his, last.his))
    return all(
        xs[y] == zs[z] or (xs[y] is uncut[y] and zs[z] is uncuts[z])
        for xs, zs, uncut, uncuts in ends
        for y, z in enumerate(outputs)
    )


def orbit(place: Place, symmetries: Collection[Symmetry]) -> list[Place]:
    """The smallest set of places that contains this one, and with one its images."""
    found = {place: None}
    waiting = [place]
    while waiting:
        here = waiting.pop()
        for there in (symmetry.image(here) for symmetry in symmetries):
            if there not in found:
                found[there] = None
                waiting.append(there)
    return list(found)


def exchange(value: Any, inputs: int, outputs: int) -> Exchange:
    """[pi, tau]."""
    return Exchange(*_permutations(value, "an exchange", (inputs, outputs)))


def symmetry(value: Any, letters: int, inputs: int, outputs: int) -> Symmetry:
    """[alpha, pi, tau]."""
    alpha, *rest = _permutations(value, "a symmetry", (letters, inputs, outputs))
    return Symmetry(alpha, Exchange(*rest))


def _permutations(value: Any, what: str, sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for listed, size in zip(entries(value, what, len(sizes)), sizes, strict=True):
        found = tuple(integer(place, "an image", 0, size - 1) for place in entries(listed, "a permutation", size))
        need(len(set(found)) == size, "a permutation has one image twice")
        yield found


def ordered(ranges: Ranges, orders: Iterable[Order], allowance: Allowance) -> Ranges:
    """Ranges of those K that are in these orders."""
    los, his = list(ranges.los), list(ranges.his)
    changed = True
    listed = list(orders)
    while changed:
        allowance.look()
        changed = False
        for one, two in listed:
            if los[one] < los[two]:
                los[one] = los[two]
                changed = True
            if his[two] > his[one]:
                his[two] = his[one]
                changed = True
    return Ranges(los, his)
