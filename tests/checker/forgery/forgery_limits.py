"""Designs under a limit about a secret to forge certificates of, and kinds of forgery that only these have.

A bit of even law told with one lie in so many: by symmetry it is the best mechanism under each of these limits, whose value at it
is a closed form; multipliers make both answers to an input equally dear.
"""

import random
from decimal import localcontext
from fractions import Fraction
from typing import Any

import constraint_truth as own
import forgery_subjects as subjects
import secret_draws
import secret_truth
from forgery_subjects import MARGIN, Subject, claimed
from forgery_truth import SIXTY, SLACK, Question, dec, entropy

GROUND: dict[str, Any] = {
    "problem": "min_distortion",
    "records": {"count": 1, "alphabet": 2},
    "query": {"kind": "identity"},
    "distortion": {"kind": "hamming"},
    "law": {"kind": "uniform"},
    "mechanism": {"class": "oblivious"},
}


def value(kind: str, strong: bool, lie: Fraction) -> str:
    """What is limited, at a bit with this share of lies; rounded up where it is no rational number."""
    plain = {
        "total_variation": 1 - 2 * lie,
        "maximal_correlation": 1 - 2 * lie,
        "chi_square": 1 / (4 * lie * (1 - lie)) - 1 if strong else (1 - 2 * lie) ** 2,
        "local_dp_delta": max(1 - lie - Fraction(3, 2) * lie, Fraction(0)),
        "local_information_privacy_delta": Fraction(1, 2) - lie,
    }
    if kind in plain:
        return str(plain[kind])
    with localcontext(SIXTY):
        first, second = dec(lie), dec(1 - lie)
        found = -(SIXTY.ln(4 * first * second)) / 2 if strong else SIXTY.ln(dec(Fraction(2))) - entropy((first, second))
        return claimed(Fraction(found) + SLACK, "ceiling")


def told(rng: random.Random, number: int) -> Subject:
    """A design under a limit of each kind in turn."""
    kind, strong = secret_draws.KINDS[number % len(secret_draws.KINDS)]
    lie = Fraction(rng.choice([1, 2, 3]), rng.choice([9, 10, 16]))
    table: dict[str, Any] = {"kind": kind, "at_most": value(kind, strong, lie)} | ({"strong": True} if strong else {})
    if kind.endswith("delta"):
        table["epsilon"] = "log 3/2" if kind == "local_dp_delta" else "0"
    if rng.random() < 0.5:
        table["secret"] = [[["1/2", "0"], ["0", "1/2"]]]
    question = Question({**GROUND, "constraints": [table]})
    laws = [[1 - lie, lie], [lie, 1 - lie]]
    lines = secret_draws.tangents(question, 0, laws, "1")
    if kind in secret_truth.LIMITS[:2]:
        with localcontext(SIXTY):
            weight = (1 - 2 * lie) / (2 * lie * (1 - lie))
            price = Fraction(1, 2) / weight if strong else Fraction(1 / SIXTY.ln(dec((1 - lie) / lie)))
        hint: Any = [[str(q) for q in row] for row in laws]
        pairs = [(s, [str(1 / (2 * q)) for q in row]) for s, row in enumerate(laws)] if strong else [(None, hint)]
        lines = [["tangent", 0, 0, claimed(price, "floor"), about, one] for about, one in pairs]
    else:
        matrix = [[Fraction(0)] * 2 for _ in range(2)]
        c = own.level(table, upper=True) if "epsilon" in table else Fraction(1)
        for line in lines:
            added, _ = secret_truth.tangent(question, table, line, c)
            matrix = [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(matrix, added, strict=True)]
        price = Fraction(1, 2) / (matrix[0][0] - matrix[0][1])
        lines = [[*line[:3], str(Fraction(line[3]) * price), *line[4:]] for line in lines]
    lines, mechanism = [["dual", "0"], *lines], [[str(q) for q in row] for row in laws]
    ends = lie - MARGIN, lie
    return subjects.certified(f"limit-{number}", question.table, *ends, lines, *ends, mechanism=mechanism)


# Kinds of forgery; a draft is a `forgery_drafts.Draft` ---------------------------------------------------------------------------


def touched(draft: Any) -> bool:
    """Tangents of more than they may be: numbers out of their range, another weight, letter or law, one line twice."""
    at, rng = draft.pick("tangent"), draft.rng
    if at is None or len(draft.lines[at]) != 6:
        return False
    line, step = draft.lines[at], draft.small()
    what = rng.choice(["steep", "steep", "weight", "sign", "about", "law", "twice", "flat", "apart"])
    if what in ("steep", "flat", "sign", "apart"):
        factor = {"steep": Fraction(2), "flat": Fraction(0), "sign": Fraction(-1), "apart": 1 + step}[what]
        line[5] = scaled(line[5], factor)
        if what in ("steep", "apart"):
            line[3] = str(Fraction(line[3]) / factor)
    elif what == "weight":
        line[3] = rng.choice(["0", f"-{line[3]}", str(step), "1e30", str(2 * Fraction(line[3]))])
    elif what == "about":
        line[4] = rng.choice(
            [None, 0, 1, 2, [0, 1], [1, 0], [0, 0], [0, None], [None, 1], [None, None], ["1", "1"], ["1", "0"]]
        )
    elif what == "law":
        line[rng.choice([1, 2])] = rng.choice([0, 1, -1])
    else:
        draft.lines.insert(at, list(line))
    draft.step = step
    return True


def scaled(hint: Any, factor: Fraction) -> Any:
    """All numbers of a hint times a factor."""
    return [scaled(item, factor) for item in hint] if isinstance(hint, list) else str(Fraction(hint) * factor)


KINDS = {touched: 5.0}
