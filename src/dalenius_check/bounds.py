"""The bounds of docs/certificate-format.md as pure formulas, evaluated in balls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from flint import arb, arb_mat, ctx, fmpq, fmpz

from .channel import Record
from .numbers import largest, limit, log_sum_exp, total, xlogx

Side = tuple[arb, arb, arb, arb]
_MAX_CELLS = 1 << 23


def secant(lo: fmpq, hi: fmpq) -> Side:
    """(alpha, s, lo, hi) with x log x <= alpha + s x on [lo, hi].

    Bound because x log x - s x is convex for every s, hence at most the larger of its values at the end points;
    these agree for the secant's s. Where the end points are too close for its quotient, s is the slope at hi.
    """
    low, high = arb(lo), arb(hi)
    if lo == hi:
        return xlogx(low), arb(0), low, high
    if lo == 0:
        return arb(0), high.log(), low, high
    width, log_low, log_high = arb(hi - lo), low.log(), high.log()
    if not (width * (1 << ctx.prec // 2) > high):
        slope = (log_high + 1).mid()
        return largest([low * (log_low - slope), high * (log_high - slope)]), slope, low, high
    return low * high * (log_low - log_high) / width, (high * log_high - low * log_low) / width, low, high


class Column:
    """Ranges lo <= v <= hi of one output's numbers: the posterior phi(.|y) (`law`: its sum is 1), or one K_a(y)."""

    def __init__(self, los: Sequence[fmpq], his: Sequence[fmpq], law: bool) -> None:
        self.los, self.his, self.law = tuple(los), tuple(his), law

    def split(self, j: int, t: fmpq) -> tuple[Column, Column]:
        """The parts whose number j is at most and at least t; together they cover the box."""
        his, los = list(self.his), list(self.los)
        his[j], los[j] = min(his[j], t), max(los[j], t)
        return Column(self.los, his, self.law), Column(los, self.his, self.law)

    @cached_property
    def sides(self) -> list[Side]:
        """Secants on the ranges, a law's first tightened by its sum of 1; none where some range is empty.

        Bound because phi(a) = 1 - sum of the other phi lies in [1 - sum of other hi, 1 - sum of other lo].
        """
        ends = list(zip(self.los, self.his, strict=True))
        if self.law:
            low, high = 1 - total(self.his), 1 - total(self.los)
            ends = [(max(lo, low + hi), min(hi, high + lo)) for lo, hi in ends]
        return [secant(lo, hi) for lo, hi in ends] if all(lo <= hi for lo, hi in ends) else []


def _linear(sides: Sequence[Side], hints: Sequence[fmpq]) -> tuple[arb, list[arb]]:
    """The constant and the slopes of sum alpha + s v + nu+ (v - lo) + nu- (hi - v) >= sum v log v."""
    constant, slopes = arb(0), []
    for (alpha, slope, lo, hi), hint in zip(sides, hints, strict=True):
        constant += alpha
        if hint:
            constant -= arb(hint) * (lo if hint > 0 else hi)
        slopes.append(slope + arb(hint) if hint else slope)
    return constant, slopes


def column_bound(record: Record, box: list[list[Side]], mu: fmpq, nu: Sequence[Sequence[fmpq]], entropy: arb) -> arb:
    """The secant bound over a box; `box` and `nu` are listed by output, then by letter.

    Bound because I = H(pi) + sum_y r(y) sum_a phi log phi, the secants make the second term linear in p,
    u - lo r >= 0, hi r - u >= 0 and mu (H(p) - b) >= 0 are added, and the maximum over p has this closed form.
    """
    letters, channel = len(record.inputs), record.channel
    limit(letters * len(channel.rows) <= _MAX_CELLS, "too many letters and inputs for a column")
    gains: list[arb] = []
    for sides, hints in zip(box, nu, strict=True):
        constant, slopes = _linear(sides, hints)
        gains.extend([constant + slope for slope in slopes])
    costs = (channel.matrix * arb_mat(channel.outputs, letters, gains)).entries()
    picked = [[costs[k * letters + a] for k in inputs] for a, inputs in enumerate(record.inputs)]
    if mu == 0:
        return log_sum_exp([largest(row) for row in picked])
    factor, share = arb(mu), arb(mu / (1 + mu))
    inner = [
        log_sum_exp([log + cost / factor for log, cost in zip(logs, row, strict=True)])
        for logs, row in zip(record.logs, picked, strict=True)
    ]
    return (1 + factor) * log_sum_exp([share * value for value in inner]) - factor * entropy


def row_bound(record: Record, a: int, box: list[Side], beta: fmpq, nu: list[fmpq], log_law: list[arb]) -> arb:
    """phi of one row leaf: at least D(K_a || law) + beta H(w) for every law w on the inputs with K_a in the box.

    Bound because the secants make sum_y K log K linear in w, K - l >= 0 and h - K >= 0 are added, and
    max over w of sum w c + beta (H(w) + sum w log N) is beta log sum N exp(c / beta).
    """
    channel, (constant, slopes) = record.channel, _linear(box, nu)
    gains = arb_mat(channel.outputs, 1, [slope - log for slope, log in zip(slopes, log_law, strict=True)])
    costs, factor = (channel.matrix * gains).entries(), arb(beta)
    terms = [log + costs[k] / factor for k, log in zip(record.inputs[a], record.logs[a], strict=True)]
    return constant + factor * log_sum_exp(terms)


def dual_bound(phi: Sequence[arb], beta: fmpq, entropy: arb) -> arb:
    """The dual bound from one number for each letter.

    Bound because I <= sum_a pi_a D(K_a || law), beta (H(p) - b) >= 0 is added, and
    max over pi of beta H(pi) + sum pi_a phi_a is beta log sum exp(phi_a / beta).
    """
    factor = arb(beta)
    return factor * log_sum_exp([value / factor for value in phi]) - factor * entropy


def entropy_of(record: Record, masses: Sequence[Sequence[fmpq]]) -> arb:
    """H(p) of masses on the pairs, spread evenly over each pair's datasets."""
    result = arb(0)
    for row, logs in zip(masses, record.logs, strict=True):
        for mass, log in zip(row, logs, strict=True):
            if mass:
                result += arb(mass) * (log - arb(mass).log())
    return result


def information(record: Record, masses: Sequence[Sequence[arb]]) -> arb:
    """I(X_i; Y) = sum u log u - sum pi log pi - sum r log r for masses on the pairs."""
    letters, channel = len(masses), record.channel
    width = len(channel.rows)
    limit(letters * width <= _MAX_CELLS, "too many letters and inputs for a prior")
    dense = [arb(0)] * (letters * width)
    for a, (row, inputs) in enumerate(zip(masses, record.inputs, strict=True)):
        for mass, k in zip(row, inputs, strict=True):
            dense[a * width + k] = mass
    joint = (arb_mat(letters, width, dense) * channel.matrix).entries()
    result = sum(map(xlogx, joint), arb(0))
    for row in masses:
        result -= xlogx(sum(row, arb(0)))
    for y in range(channel.outputs):
        result -= xlogx(sum(joint[y :: channel.outputs], arb(0)))
    return result


def uniform_information(record: Record) -> arb:
    """I of the uniform prior; exactly zero where every letter has the same completions."""
    if all(row == record.pairs[0] for row in record.pairs):
        return arb(0)
    space = arb(sum((n for row in record.pairs for _, n in row), fmpz(0)))
    return information(record, [[arb(n) / space for _, n in row] for row in record.pairs])
