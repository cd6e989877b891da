"""Classes of laws read anew from docs/model-format.md: of two letters, where a class is an interval, to fifty-five digits.

Written apart from the checker. A law of two letters is p(0); information is concave in it, so that the best law of an interval is the
one of capacity, or the end that is closest to it.
"""

import random
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import forgery_truth as truth
from forgery_truth import SIXTY, Interval, Question, Row, dec, exact, normalised

BALLS = ("l1_ball_priors", "kl_ball_priors", "chi_square_ball_priors")
KINDS = ("floor_priors", "box_priors", "polytope_priors", "moment_priors", *BALLS)
CLOSE = Decimal("1e-48")
INSIDE = Decimal("1e-49")  # by which an end that is no rational number is pulled in


def held(question: Question) -> bool:
    """Whether the adversary holds a class of laws of bits, and the channel can be written out."""
    if question.table.get("adversary", {}).get("kind") not in KINDS:
        return False
    return set(question.alphabets) <= {1, 2} and question.written


def rational_ends(table: dict[str, Any]) -> tuple[Fraction, Fraction] | None:
    """The least and the largest p(0) of the class, where they are rational numbers."""
    kind = table["kind"]
    if kind == "floor_priors":
        return exact(table["floor"]), 1 - exact(table["floor"])
    if kind == "box_priors":
        low, high = ([exact(x) for x in table[side]] for side in ("low", "high"))
        return max(low[0], 1 - high[1]), min(high[0], 1 - low[1])
    if kind == "polytope_priors":
        firsts = [normalised([exact(x) for x in row])[0] for row in table["vertices"]]
        return min(firsts), max(firsts)
    if kind == "moment_priors":
        (one, two), sides = map(exact, table["values"]), [exact(table[side]) for side in ("low", "high")]
        if one == two:
            return Fraction(0), Fraction(1)
        firsts = sorted((side - two) / (one - two) for side in sides)
        return max(firsts[0], Fraction(0)), min(firsts[1], Fraction(1))
    first, radius = normalised([exact(x) for x in table["center"]])[0], exact(table["radius"])
    if kind == "l1_ball_priors":
        return max(first - radius / 2, Fraction(0)), min(first + radius / 2, Fraction(1))
    return (first, first) if not radius or first in (0, 1) else None


def ends(table: dict[str, Any]) -> tuple[Decimal, Decimal]:
    """The same in decimals, in the context of the caller; those that are no rational numbers are a little inside."""
    rational = rational_ends(table)
    if rational is not None:
        return dec(rational[0]), dec(rational[1])
    first, second = (dec(x) for x in normalised([exact(x) for x in table["center"]]))
    far = dec(exact(table["radius"]))
    if table["kind"] == "chi_square_ball_priors":
        step = (far * first * second).sqrt()
        return max(first - step + INSIDE, Decimal(0)), min(first + step - INSIDE, Decimal(1))

    def over(p: Decimal) -> Decimal:
        return sum((x * SIXTY.ln(x / q) for x, q in ((p, first), (1 - p, second)) if x), Decimal(0)) - far

    low = Decimal(0) if over(Decimal(0)) <= 0 else truth.root(over, Decimal(0), first) + INSIDE
    high = Decimal(1) if over(Decimal(1)) <= 0 else truth.root(lambda p: -over(p), first, Decimal(1)) - INSIDE
    return low, high


def known(question: Question) -> Interval | None:
    """L, where every record has at most two letters."""
    if question.table["problem"] != "maximal_leakage" or not held(question):
        return None
    adversary = question.table["adversary"]
    rows, letters = question.rows, [i for i, size in enumerate(question.alphabets) if size == 2]
    with localcontext(SIXTY):
        pairs = {(rows[one], rows[other]) for i in letters for one, other in question.selections(i)}
        return truth.around(max((best(adversary, *pair)[0] for pair in pairs), default=Decimal(0)))


def best(table: dict[str, Any], first: Row, second: Row) -> tuple[Decimal, Decimal]:
    """The largest information of a law of the class about these rows, and its p(0)."""
    low, high = ends(table)
    share = truth.two_rows(first, second)[1]
    share = min(max(share, low), high)
    return truth.information([[share * r for r in first], [(1 - share) * r for r in second]]), share


def weights(table: dict[str, Any], share: Decimal) -> list[str]:
    """A law of the class as a witness has it."""
    rational, first = rational_ends(table), Fraction(f"{share:.50f}")
    if rational is not None:
        first = min(max(first, rational[0]), rational[1])
    if table["kind"] != "polytope_priors":
        return [str(first), str(1 - first)]
    firsts = [normalised([exact(x) for x in row])[0] for row in table["vertices"]]
    one, two = firsts.index(min(firsts)), firsts.index(max(firsts))
    high = (first - firsts[one]) / (firsts[two] - firsts[one]) if one != two else Fraction(1)
    return [str(high if k == two else 1 - high if k == one else 0) for k in range(len(firsts))]


def output_law(share: Decimal, first: Row, second: Row) -> list[str]:
    """The law of the outputs under this one, or almost, so that it is positive wherever a row is."""
    share = min(max(share, CLOSE), 1 - CLOSE)
    return [f"{share * one + (1 - share) * two:.50f}" for one, two in zip(first, second, strict=True)]


def hint(table: dict[str, Any], share: Decimal, first: Row, second: Row, law: list[Decimal]) -> list[str] | None:
    """m of a line, the exact optimum of the dual to its digits."""
    if table["kind"] not in ("moment_priors", *BALLS[1:]):
        return None
    far = [
        sum((truth.xlogx(r) - r * SIXTY.ln(m) for r, m in zip(row, law, strict=True) if r), Decimal(0))
        for row in (first, second)
    ]
    if table["kind"] == "moment_priors":
        one, two = (exact(x) for x in table["values"])
        return [f"{(far[0] - far[1]) / dec(one - two):.50f}"] if one != two else None
    q = [dec(x) for x in normalised([exact(x) for x in table["center"]])]
    if not exact(table["radius"]) or not all(q) or not 0 < share < 1:
        return None
    up, down = share / q[0], (1 - share) / q[1]
    if abs(far[0] - far[1]) < Decimal("1e-30"):
        return None
    if table["kind"] == "kl_ball_priors":
        t = (far[0] - far[1]) / SIXTY.ln(up / down)
        return [f"{t:.50f}"] if t > 0 else None
    t = (far[0] - far[1]) / (2 * (up - down))
    return [f"{t:.50f}", f"{far[1] - 2 * t * down:.50f}"] if t > 0 else None


def drawn(rng: random.Random, kind: str) -> dict[str, Any]:
    """A class of this kind, of laws of two letters."""
    shares = [Fraction(rng.randint(0, 9), 9) for _ in range(4)]
    low, high = sorted([min(shares), max(shares)])
    radius = rng.choice(["0", "1/50", "1/50", "1/20", "1/20", "3"])
    if kind == "floor_priors":
        return {"kind": kind, "floor": str(rng.choice([Fraction(0), Fraction(2, 5), Fraction(1, 2), Fraction(1, 9)]))}
    if kind == "box_priors":
        return {
            "kind": kind,
            "low": [str(low), str(1 - high)],
            "high": [str(high), str(min(Fraction(1), 1 - low + shares[1]))],
        }
    if kind == "polytope_priors":
        return {"kind": kind, "vertices": [[str(x), str(1 - x)] for x in shares[: rng.randint(1, 3)]]}
    if kind == "moment_priors":
        one, two = (Fraction(rng.randint(-4, 4), 2) for _ in range(2))
        ends = sorted(share * one + (1 - share) * two for share in shares[:2])
        return {"kind": kind, "values": [str(one), str(two)], "low": str(ends[0]), "high": str(ends[1])}
    center = rng.choice([["1/3", "2/3"], ["1/10", "9/10"], ["0.3333333333", "0.6666666666"], ["1", "0"]])
    return {"kind": kind, "center": center, "radius": radius}
