"""Markov chains of bits read anew from docs/model-format.md and docs/certificate-format.md: what they tell, to fifty-five digits.

Written apart from the checker, forwards in one sweep of sums instead of two, and without any list of the datasets, so that chains of
twenty records are as good as those of two.
"""

import json
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import forgery_truth as truth
from forgery_truth import SIXTY, Question, Row, dec, exact

STEP = Fraction(1, 10**15)  # of differences that stand for derivatives


def held(question: Question) -> bool:
    """Whether the adversary holds chains of bits."""
    return question.table.get("adversary", {}).get("kind") == "markov_chain"


def of_letters(question: Question) -> bool:
    """Whether the adversary holds chains whose transitions are written as a matrix."""
    return question.table.get("adversary", {}).get("kind") == "finite_chain"


def stationary(question: Question) -> bool:
    """Whether the first record has the law of all others."""
    return question.table["adversary"].get("start", "stationary") == "stationary"


def box(question: Question) -> list[tuple[Fraction, Fraction]]:
    """The ranges of the parameters."""
    table = question.table["adversary"]
    if of_letters(question):
        start = table.get("start", "stationary")
        last = [] if start == "stationary" else [["0", "1"]] * len(table["transitions"]) if start == "any" else start
        pairs = [x if isinstance(x, list) else [x, x] for row in [*table["transitions"], last] for x in row]
        return [(exact(lo), exact(hi)) for lo, hi in pairs]
    sides = [tuple(map(exact, table[key])) for key in ("to_one", "to_zero")]
    found = [(side[0], side[1]) for side in sides]
    return found if stationary(question) else [*found, (Fraction(0), Fraction(1))]


def asked(question: Question) -> list[int]:
    """The records that are asked about."""
    record = question.table["adversary"].get("record")
    return list(range(len(question.alphabets))) if record is None else [record]


@lru_cache(maxsize=300)
def _rows(table: str) -> list[Row]:
    flat = Question(json.loads(table))
    return [flat.rows[k] for k in flat.inputs]


def rows(question: Question) -> list[Row]:
    """The outputs' law for each number of ones: that of one record which is that number."""
    query = question.table["query"]
    flat = {
        "records": {"alphabets": [len(question.alphabets) + 1]},
        "query": {"kind": "sum"} if query["kind"] == "count" else query,
        "mechanism": question.table["mechanism"],
    }
    if of_letters(question):
        most = max(question.alphabets) - 1 if query["kind"] != "count" else 1
        flat["records"] = {"alphabets": [len(question.alphabets) * most + 1]}
    return _rows(json.dumps(flat))


def laws(question: Question, point: Sequence[Fraction]) -> tuple[list[list[Fraction]], list[Fraction]]:
    """The transitions and the first record's law, exactly."""
    if of_letters(question):
        k = question.alphabets[0]
        found = [list(point[a * k : (a + 1) * k]) for a in range(k)]
        return found, list(point[k * k :]) or at_rest(found)
    alpha, beta, *start = point
    nu = start[0] if start else alpha / (alpha + beta)
    return [[1 - alpha, alpha], [beta, 1 - beta]], [1 - nu, nu]


def at_rest(transitions: list[list[Fraction]]) -> list[Fraction]:
    """The stationary law, letters left out one after another: a chain that is watched only in the others goes on as one."""
    rows = [list(row) for row in transitions]
    for last in reversed(range(1, len(rows))):
        stay = 1 - rows[last][last]
        for a in range(last):
            for b in range(last):
                rows[a][b] += rows[a][last] * rows[last][b] / stay
    found = [Fraction(1)]
    for b in range(1, len(rows)):
        found.append(sum((found[a] * rows[a][b] for a in range(b)), Fraction(0)) / (1 - rows[b][b]))
    return truth.normalised(found)


def joint(question: Question, i: int, point: Sequence[Fraction]) -> list[list[Decimal]]:
    """P(X_i = x, Y = y) at a chain, in the context of the caller."""
    transitions, first = laws(question, point)
    step, letters = [[dec(p) for p in row] for row in transitions], range(len(first))
    count, channel = len(question.alphabets), rows(question)
    listed = question.table["query"].get("letters", [1]) if question.table["query"]["kind"] == "count" else None
    adds = [a if listed is None else int(a in listed) for a in letters]
    # by the letter of record i (which is not known before it), the last letter and the total
    now: dict[Any, Decimal] = {(None, a, adds[a]): dec(first[a]) for a in letters}
    for k in range(count):
        if k:
            later: dict[Any, Decimal] = {}
            for (x, last, s), mass in now.items():
                for a in letters:
                    key = (x, a, s + adds[a])
                    later[key] = later.get(key, Decimal(0)) + mass * step[last][a]
            now = later
        if k == i:
            now = {(last, last, s): mass for (_, last, s), mass in now.items()}
    found = [[Decimal(0)] * len(channel[0]) for _ in letters]
    for (x, _, s), mass in now.items():
        found[x] = [u + mass * r for u, r in zip(found[x], channel[s], strict=True)]
    return found


@lru_cache(maxsize=5000)
def _information(table: str, i: int, point: tuple[Fraction, ...]) -> Decimal:
    with localcontext(SIXTY):
        return truth.information(joint(Question(json.loads(table)), i, point))


def information(question: Question, i: int, point: Sequence[Fraction]) -> Decimal:
    """I(X_i;Y) at a chain."""
    return _information(json.dumps(question.table), i, tuple(point))


def turn(question: Question, i: int, point: Sequence[Fraction], j: int) -> Decimal:
    """The derivative for a parameter, to a dozen digits."""
    ends = [[x + sign * STEP * (k == j) for k, x in enumerate(point)] for sign in (1, -1)]
    with localcontext(SIXTY):
        return (information(question, i, ends[0]) - information(question, i, ends[1])) / dec(2 * STEP)


def entropy_of(p: Fraction) -> Decimal:
    """h(p)."""
    with localcontext(SIXTY):
        return truth.entropy((dec(p), dec(1 - p)))


def tilted(question: Question, i: int, point: Sequence[Fraction], turns: Sequence[Fraction]) -> Decimal:
    """What a path with t proves, by the generating function of the number of ones."""
    with localcontext(SIXTY):
        alpha, beta, count = dec(point[0]), dec(point[1]), len(question.alphabets)
        pi, keep, noise = (
            alpha / (alpha + beta),
            1 - alpha - beta,
            (-dec(exact(question.table["mechanism"]["epsilon"]))).exp(),
        )
        found = Decimal(0)
        for x, t in enumerate(map(dec, turns)):
            mean = sum((pi + (x - pi) * (keep ** abs(i - j) if i != j else 1) for j in range(count)), Decimal(0))
            zero, one = 1 - pi, pi * t.exp()
            for _ in range(count - 1):
                zero, one = zero * (1 - alpha) + one * beta, (zero * alpha + one * (1 - beta)) * t.exp()
            phi = (zero + one) * (1 - noise) ** 2 / ((1 - noise * t.exp()) * (1 - noise * (-t).exp()))
            found += (1 - pi, pi)[x] * (t * mean - phi.ln())
        return found


def window(sides: Sequence[tuple[Fraction, Fraction]], count: int, i: int, m: int) -> Decimal | None:
    """The bound of a line `window` on a box, if it has one."""
    (a, b), (c, d) = sides
    if b + d > 1 or not m <= i <= count - 1 - m:
        return None
    with localcontext(SIXTY):
        width, mu = Decimal(count - 2 * m), dec(a + c)
        keep, v = 1 - mu, dec(min(p * (1 - p) for p in (a / (a + d), b / (b + c))))
        rate = (2 - mu) / mu
        spread = 3 * (rate / width) ** 2 + (1 + 2 * keep / mu + 12 * keep * (1 + keep) / mu**3) / (v * width**3)
        powers = [keep**k if keep else Decimal(0) for k in (m + 1, i + 1, count - i)]
        tau = powers[0] / (width * mu) + (powers[1] + powers[2]) / 2
        if tau > Decimal("0.5"):
            return None
        second, units = rate / width, int(count / (m + 2 / (a + c)))
        if 4 * m <= count and units:
            norm = (m * rate / units).sqrt() + m * (Decimal(-3 * units) / 20).exp() / v.sqrt()
            second = min(second, ((count - 4 * m) * rate + 2 * keep / mu**2 + 4 * norm**2) / width**2)
        three, two = (
            (1 + 1 / width) * (1 + 2 / width) * (v / (width * mu)) ** 3,
            (1 + 1 / width) * v**2 / (width * mu) ** 4,
        )
        sixth = 120 * three + 1080 * two + 720 * v / (width * mu) ** 5
        fourth = (1 - 3 * v) * spread / v
        fourth = min(fourth / 3, fourth / 10 + Decimal(7) / 30 * (1 - 5 * v + 5 * v**2) * sixth / v**5)
        skew = max((1 - 4 * v) * second * spread / v, Decimal(0))
        return second / 2 + skew.sqrt() / 6 + fourth + truth.entropy((tau, 1 - tau))


def blocks(sides: Sequence[tuple[Fraction, Fraction]], count: int, i: int, times: int) -> Decimal | None:
    """The bound of a line `blocks` on a box, if it has one."""
    (a, b), (c, d) = sides
    j = min(i, count - 1 - i)
    size = times + j
    room = (count - size) * (a + c) / size
    if b + d > 1 or room <= 1:
        return None
    with localcontext(SIXTY):
        v, stay = dec(min(p * (1 - p) for p in (a / (a + d), b / (b + c)))), 1 - dec(a + c)
        seen = (1 + 2 * stay * (1 - (dec(1 - b - d) ** j if j else 1))) / times
        lost = (-size * (dec(room) - 1 - SIXTY.ln(dec(room)))).exp()
        return (seen.sqrt() + (lost / v).sqrt()) ** 2


def after(sides: Sequence[tuple[Fraction, Fraction]], count: int, i: int, t: int, m: int) -> Decimal | None:
    """The bound of a line `after` on a box, if it has one."""
    stay, inside = 1 - sides[0][0] - sides[1][0], window(sides, count - t, i - t, m)
    if inside is None or 6 * m > count - t or stay**i > Fraction(1, 2):
        return None
    with localcontext(SIXTY):
        return inside + dec(stay**t + stay**i) * SIXTY.ln(Decimal(2)) + entropy_of(stay**i)
