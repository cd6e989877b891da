"""The largest log-ratio of a short binary chain's release, at given parameters and over a box, and the noise that keeps a budget."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from flint import arb, arb_mat, arb_poly, ctx, fmpq

from dalenius.information.balls import ball, rational
from dalenius.information.deadline import Deadline

# The largest log-ratio of a short binary chain's release over a box of its parameters: every output, by derivatives, in balls.
#
# Parameters are alpha = P(0 -> 1), beta = P(1 -> 0) and, from any start and behind the first record, nu = P(X_0 = 1).


BITS = 128
CLOSE = Fraction(1, 10**6)  # of the upper end: the ends are as near to each other as that, if there are boxes enough
FEWEST_BOXES, MOST_BOXES, MOST_STEPS = 100, 500, 6000  # of a record that is asked about; of boxes times records

Point = tuple[fmpq, ...]
Box = tuple[tuple[fmpq, fmpq], ...]
_Lists = list[list[arb_poly]]  # by letter: a generating function over counts, then its derivatives by the parameters


class Enclosed(NamedTuple):
    """log P(y | X_i = 1) - log P(y | X_i = 0) of every output y on a box, and its derivatives; None where y does not occur."""

    values: list[arb | None]
    slopes: list[list[arb]]


@dataclass(frozen=True)
class Ratios:
    """Question about a record of a chain, and the rows of the release for 0, 1, ..., n ones.

    Attributes
    ----------
    count, record : int
    stationary : bool
    rows : (count + 1, outputs), numbers or balls
    """

    count: int
    record: int
    stationary: bool
    rows: Sequence[Sequence[fmpq | arb]]
    _matrix: list[arb_mat] = field(default_factory=list, compare=False, repr=False)

    @property
    def free(self) -> bool:
        """True if the law of the first record matters: not where it is stationary, nor given that record itself."""
        return not self.stationary and self.record > 0

    def on(self, box: Box) -> Enclosed:
        """Enclosures at the precision that is set.

        *Bound because* ratios do not change where both laws are multiplied by one number, so that a stationary start may be
        (beta, alpha), and every step is one of balls.
        """
        moves = [arb(low).union(arb(high)) for low, high in box]
        alpha, beta = moves[:2]
        stays = [1 - alpha, 1 - beta]
        shown = arb_mat([self._numbers(each) for each in self._joint(moves, stays)]) * self._rows
        low, high = (self._masses(moves, stays, end) for end in (arb.lower, arb.upper))
        size, outputs = 1 + len(box), len(self.rows[0])
        odds, turns = self._odds(moves, stays)
        values, slopes = list[arb | None](), list[list[arb]]()
        for y in range(outputs):
            zero, one = ([shown[x * size + j, y] for j in range(size)] for x in (0, 1))
            zero[0], one[0] = (low[x, y].union(high[x, y]) for x in (0, 1))
            if one[0] == 0 and zero[0] == 0:
                values.append(None)
                slopes.append([])
                continue
            values.append((one[0] / zero[0] / odds).log())
            slopes.append([one[j] / one[0] - zero[j] / zero[0] - turns[j - 1] for j in range(1, size)])
        return Enclosed(values, slopes)

    @property
    def _rows(self) -> arb_mat:
        if not self._matrix:
            self._matrix.append(arb_mat([[arb(x) for x in row] for row in self.rows]))
        return self._matrix[0]

    def _numbers(self, counts: arb_poly) -> list[arb]:
        return [counts[s] for s in range(self.count + 1)]

    def _start(self, moves: Sequence[arb]) -> _Lists:
        one, none = arb_poly([1]), arb_poly([0])
        zero, ones = (arb_poly([share]) for share in self._shares(moves))
        if self.stationary:
            return [[zero, none, one], [ones, one, none]]
        return (
            [[zero, none, none, -one], [ones, none, none, one]]
            if self.free
            else [[zero, none, none], [ones, none, none]]
        )

    def _joint(self, moves: Sequence[arb], stays: Sequence[arb]) -> list[arb_poly]:
        """For each letter of the record the generating function of the ones of all, and its derivatives."""
        z, parameters = arb_poly([0, 1]), len(moves)
        before = self._start(moves)
        before[1] = [z * each for each in before[1]]
        for _ in range(self.record):
            before = _forward(before, moves, stays)
            before[1] = [z * each for each in before[1]]
        after: _Lists = [[arb_poly([1]), *([arb_poly([0])] * parameters)] for _ in (0, 1)]
        for _ in range(self.count - 1 - self.record):
            after = _backward([after[0], [z * each for each in after[1]]], moves, stays)
        found = list[arb_poly]()
        for first, second in zip(before, after, strict=True):
            found.append(first[0] * second[0])
            found += [a * second[0] + first[0] * b for a, b in zip(first[1:], second[1:], strict=True)]
        return found

    def _masses(self, moves: Sequence[arb], stays: Sequence[arb], end: Callable[[arb], arb]) -> arb_mat:
        """P(X_i = x, y) where all probabilities of moves are at this end of theirs: sums of products, which rise with each of them."""
        alpha, beta, stay, leave = (arb(end(each)) for each in (*moves[:2], *stays))
        z, before, after = arb_poly([0, 1]), [arb_poly([end(x)]) for x in self._shares(moves)], [arb_poly([1])] * 2
        for step in range(self.record + 1):
            if step:
                before = [stay * before[0] + beta * before[1], alpha * before[0] + leave * before[1]]
            before[1] = z * before[1]
        for _ in range(self.count - 1 - self.record):
            after[1] = z * after[1]
            after = [stay * after[0] + alpha * after[1], beta * after[0] + leave * after[1]]
        return arb_mat([self._numbers(a * b) for a, b in zip(before, after, strict=True)]) * self._rows

    def _shares(self, moves: Sequence[arb]) -> tuple[arb, arb]:
        """The law of the first record, up to a factor."""
        if self.stationary:
            return moves[1], moves[0]
        return (1 - moves[2], moves[2]) if self.free else (arb(1), arb(1))

    def _odds(self, moves: Sequence[arb], stays: Sequence[arb]) -> tuple[arb, list[arb]]:
        """P(X_i = 1) / P(X_i = 0), and the derivatives of its logarithm."""
        if self.stationary:
            return moves[0] / moves[1], [1 / moves[0], -1 / moves[1]]
        if not self.free:
            return arb(1), [arb(0), arb(0)]
        shares = self._start(moves)
        for _ in range(self.record):
            shares = _forward(shares, moves, stays)
        (zero, *less), (one, *more) = [[each[0] for each in letter] for letter in shares]
        return one / zero, [b / one - a / zero for a, b in zip(less, more, strict=True)]


def largest_log_ratio(
    asked: Ratios, box: Sequence[tuple[Fraction, Fraction]], clock: Deadline | None = None
) -> tuple[arb, arb]:
    """Balls around a ratio's logarithm that is attained, in absolute value, and around a bound of all, over outputs and the box.

    *Bound because* of the mean value theorem: on a box it is at most the value at a point of it, and what derivatives allow beyond.

    Parameters
    ----------
    asked : Ratios
    box : ranges of alpha, beta and, where `asked.free`, nu
    clock : Deadline, optional
        Once it has expired no box is halved any more; before the first look nothing is known, and the upper end is infinite.

    >>> parity = [[fmpq(3, 4), fmpq(1, 4)], [fmpq(1, 4), fmpq(3, 4)], [fmpq(3, 4), fmpq(1, 4)]]
    >>> low, high = largest_log_ratio(Ratios(2, 0, True, parity), [(Fraction(1, 10), Fraction(1, 5))] * 2)
    >>> 0.15415 < float(low) <= float(high) < 0.15416
    True
    """
    with ctx.workprec(BITS):
        return _Search(asked, clock).run(tuple((rational(a), rational(b)) for a, b in box))


@dataclass
class _Search:
    """Best first."""

    asked: Ratios
    clock: Deadline | None = None
    known: dict[Point, list[arb | None]] = field(default_factory=dict)
    lower: arb = field(default_factory=lambda: arb(0))

    def run(self, box: Box) -> tuple[arb, arb]:
        heap, numbers, boxes = list[tuple[float, int, arb, Box]](), itertools.count(), 1
        most = min(max(MOST_STEPS // self.asked.count, FEWEST_BOXES), MOST_BOXES)
        if self._late:
            return self.lower, arb("inf")
        self._push(heap, next(numbers), box)
        while boxes < most and not self._late:
            _, _, upper, worst = heap[0]
            wide = max(range(len(worst)), key=lambda j: _width(worst[j]))
            if upper - self.lower <= arb(rational(CLOSE)) * upper or not _width(worst[wide]):
                break
            heapq.heappop(heap)
            (low, high), boxes = worst[wide], boxes + 1
            for part in ((low, (low + high) / 2), ((low + high) / 2, high)):
                self._push(heap, next(numbers), (*worst[:wide], part, *worst[wide + 1 :]))
        return self.lower, _largest([entry[2] for entry in heap])

    @property
    def _late(self) -> bool:
        return self.clock is not None and self.clock.expired

    def _push(self, heap: list[tuple[float, int, arb, Box]], number: int, box: Box) -> None:
        bound = self._bound(box)
        heapq.heappush(heap, (-float(bound.upper()) if bound.is_finite() else -float("inf"), number, bound, box))

    def _bound(self, box: Box) -> arb:
        found, bounds = self.asked.on(box), [arb(0)]
        for y, slopes in enumerate(found.slopes):
            if found.values[y] is None:
                continue
            for sign in (1, -1):
                at = tuple(_best_end(ends, sign * slope) for ends, slope in zip(box, slopes, strict=True))
                value = self._at(at)[y]
                assert value is not None
                bound = sign * value
                for (low, high), point, slope in zip(box, at, slopes, strict=True):
                    if low != high:
                        far = sign * slope * arb(low - point).union(arb(high - point))
                        bound += _largest([arb(0), far.upper() if far.is_finite() else arb("nan")])
                bounds.append(bound)
        return _largest(bounds)

    def _at(self, point: Point) -> list[arb | None]:
        """The log-ratios at a point, of which the largest is kept."""
        if point not in self.known:
            self.known[point] = self.asked.on(tuple((x, x) for x in point)).values
            seen = [abs(value) for value in self.known[point] if value is not None]
            self.lower = _largest([self.lower, *(arb(each.lower()) for each in seen if each.is_finite())])
        return self.known[point]


def _mixed(lists: _Lists, moves: Sequence[arb], stays: Sequence[arb]) -> _Lists:
    """Messages of 0 and of 1, each kept or moved to the other letter."""
    pairs = list(zip(*lists, strict=True))
    return [[stays[0] * a + moves[1] * b for a, b in pairs], [moves[0] * a + stays[1] * b for a, b in pairs]]


def _forward(lists: _Lists, moves: Sequence[arb], stays: Sequence[arb]) -> _Lists:
    """Messages before the next record, from those before one and itself."""
    zero, one = _mixed(lists, moves, stays)
    zero[1], one[1] = zero[1] - lists[0][0], one[1] + lists[0][0]
    zero[2], one[2] = zero[2] + lists[1][0], one[2] - lists[1][0]
    return [zero, one]


def _backward(lists: _Lists, moves: Sequence[arb], stays: Sequence[arb]) -> _Lists:
    """Messages after the record before, from the next record and those after it."""
    zero, one = _mixed(lists, moves[1::-1], stays)
    change = lists[1][0] - lists[0][0]
    zero[1], one[2] = zero[1] + change, one[2] - change
    return [zero, one]


def _best_end(ends: tuple[fmpq, fmpq], slope: arb) -> fmpq:
    """End of its range where a parameter makes a value largest whose slope this is; the middle where the sign is not known."""
    low, high = ends
    if slope >= 0:
        return high
    return low if slope <= 0 else (low + high) / 2


def _largest(numbers: Sequence[arb]) -> arb:
    """The one with the largest upper end; nan if there is one."""
    if any(not number.is_finite() for number in numbers):
        return arb("nan")
    return max(numbers, key=lambda number: arb(number.upper()))


def _width(ends: tuple[fmpq, fmpq]) -> fmpq:
    return ends[1] - ends[0]


Moves = tuple[Fraction, Fraction]
DIGITS = 40  # binary ones of a scale that is proved


def probabilities_of_ends(count: int, record: int, moves: Moves, epsilon: Fraction) -> list[list[arb]]:
    """P(Y <= 0 | X_i = x), P(Y >= n | X_i = x) and what is left, a row for x = 0 and one for x = 1: balls of the set precision.

    X is a stationary chain of n = `count` records with P(0 -> 1) and P(1 -> 0) = `moves`, S its ones, and Y = S + noise with
    P(noise = k) proportional to q^|k|, q = e^-epsilon. So

        P(Y <= 0 | x) = E[q^S | x] / (1 + q),    P(Y >= n | x) = E[q^(n-S) | x] / (1 + q),

    and E[w^S | X_i = x] = w^x F_i(x) F_{n-1-i}(x) with F_k = (T diag(1, w))^k (1, 1), T the matrix of the moves: what comes before a
    record of a stationary chain of two states has the law of what follows it.

    Where the moves add up to at most 1, no output tells X_i = 0 and X_i = 1 better apart than these two, and no chain with larger
    moves has a larger ratio there (docs/theory.md, Markov chains).

    >>> rows = probabilities_of_ends(3, 1, (Fraction(1, 2), Fraction(1, 2)), Fraction(1))
    >>> [round(float((rows[x][1] / rows[1 - x][1]).log()), 9) for x in (0, 1)]  # fair independent bits
    [-1.0, 1.0]
    """
    q, steps = (-ball(epsilon)).exp(), (record, count - 1 - record)
    rows = list[list[arb]]()
    for letter in (0, 1):
        ends = list[arb]()
        for known, (up, down) in ((letter, moves), (1 - letter, moves[::-1])):
            weight = q**known / (1 + q)
            for k in steps:
                weight *= _sums(ball(up), ball(down), q, k)[known]
            ends.append(weight)
        rows.append([*ends, 1 - ends[0] - ends[1]])
    return rows


def least_scale(count: int, record: int, moves: Moves, budget: Fraction) -> Fraction:
    """A scale 1/epsilon of discrete or continuous Laplace noise on the number of ones that keeps every log-ratio within the budget.

    It is less than 1e-9 of itself above the least one: proved in balls, found by bisection, because the largest log-ratio

        epsilon + log R_i + log R_{n-1-i},    R_k = F_k(1) / F_k(0) at w = e^epsilon,

    or the same with the two moves exchanged, grows with epsilon. Of all chains whose moves are at least these (and sum to at most 1)
    this one needs the largest scale.

    Parameters
    ----------
    count, record : int
    moves : pair of Fraction
        P(0 -> 1) and P(1 -> 0), above 0, with a sum of at most 1.
    budget : Fraction
        In nats, above 0.

    >>> float(least_scale(100_000, 50_000, (Fraction(1, 100), Fraction(1, 100)), Fraction(1, 2))) < 204
    True
    """
    with ctx.workprec(BITS):
        low, high = Fraction(0), budget  # epsilons: the largest log-ratio is at least epsilon
        for _ in range(DIGITS + count.bit_length()):
            middle = (low + high) / 2
            if _kept(count, record, moves, budget, middle):
                low = middle
            else:
                high = middle
            if low and high - low <= low / 2**DIGITS:
                break
    return 1 / low


def _kept(count: int, record: int, moves: Moves, budget: Fraction, epsilon: Fraction) -> bool:
    """True if it is proved that no log-ratio exceeds the budget."""
    rows = probabilities_of_ends(count, record, moves, epsilon)
    return all(bool((one[k] / other[k]).log() <= ball(budget)) for one, other in (rows, rows[::-1]) for k in (0, 1))


def _sums(up: arb, down: arb, weight: arb, times: int) -> tuple[arb, arb]:
    """(T diag(1, w))^k (1, 1): sums of products of positive numbers, so that balls stay narrow."""
    power = arb_mat([[1 - up, up * weight], [down, (1 - down) * weight]]) ** times * arb_mat([[1], [1]])
    return power[0, 0], power[1, 0]
