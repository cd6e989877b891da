"""Limits about a secret read anew from the documents: dense tables of fractions, a formula for each kind.

Written apart from the checker. What has logarithms is decimals of sixty digits, or doubles in a bound.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

import forgery_truth as truth
from forgery_truth import SIXTY, Question, dec, exact, normalised

Joint = list[list[Fraction]]
ROWS = ("local_information_privacy", "information_privacy", "local_dp", "pointwise_maximal_leakage")
LIMITS = (
    "mutual_information",
    "kl",
    "total_variation",
    "chi_square",
    "maximal_correlation",
    "local_dp_delta",
    "local_information_privacy_delta",
)


def about(table: dict[str, Any]) -> bool:
    """Whether a constraint is one about a secret that is rows."""
    return table["kind"] in ROWS[:2] or (table["kind"] in ROWS and "secret" in table)


def joints(question: Question, table: dict[str, Any]) -> list[Joint]:
    """The laws P(s, x)."""
    if "secret" in table:
        found = []
        for rows in table["secret"]:
            flat = iter(normalised([exact(p) for row in rows for p in row]))
            found.append([[next(flat) for _ in row] for row in rows])
        return found
    priors = [normalised([exact(p) for p in prior]) for prior in table.get("priors", [])] or [question.law_of_inputs]
    return [
        [[p if s == x else Fraction(0) for x, p in enumerate(prior)] for s in range(len(prior))] for prior in priors
    ]


class Told:
    """pi, P(x) and, under a mechanism, u, W and r."""

    def __init__(self, joint: Joint, laws: Any) -> None:
        self.joint, width = joint, len(laws[0])
        self.pi = [sum(row, Fraction(0)) for row in joint]
        self.px = [sum(column, Fraction(0)) for column in zip(*joint, strict=True)]
        self.u = [
            [sum((p * q[y] for p, q in zip(row, laws, strict=True)), Fraction(0)) for y in range(width)]
            for row in joint
        ]
        self.r = [sum(column, Fraction(0)) for column in zip(*self.u, strict=True)]
        self.letters = [s for s, p in enumerate(self.pi) if p]
        self.w = {s: [x / self.pi[s] for x in self.u[s]] for s in self.letters}


def rows(question: Question, table: dict[str, Any], c: Fraction) -> list[Any]:
    """The rows of a kind that has some, with c in the place of e^epsilon."""
    width, found = len(question.distortions[0]), list[Any]()
    exempt = [tuple(pair) for pair in table.get("exempt", [])]
    for joint in joints(question, table):
        told = Told(joint, [[Fraction(1)] * width] * question.input_count)
        inputs = range(len(told.px))

        def w(s: int, told: Told = told) -> list[Fraction]:
            return [p / told.pi[s] for p in told.joint[s]]

        def compared(one: list[Fraction], other: list[Fraction], y: int) -> None:
            found.append(({(x, y): one[x] - c * other[x] for x in inputs}, Fraction(0), False))  # noqa: B023

        for s in told.letters:
            others = [z for z in told.letters if z > s] if table["kind"] == "local_dp" else [None]
            for z in others:
                for y in range(width):
                    second = told.px if z is None else w(z)
                    if (s, y) not in exempt:
                        compared(w(s), second, y)
                        if table["kind"] != "pointwise_maximal_leakage":
                            compared(second, w(s), y)
        if exempt:
            cells = dict[Any, Fraction]()
            pairs = (
                [(told.px, y) for y in {y for _, y in exempt}]
                if table.get("strong")
                else [(joint[s], y) for s, y in exempt]
            )
            for row, y in pairs:
                for x in inputs:
                    cells[x, y] = cells.get((x, y), Fraction(0)) + row[x]
            found.append((cells, exact(table["delta"]), False))
    return found


def measured(table: dict[str, Any], told: Told, c: Fraction) -> Fraction | Decimal | float:
    """The largest of the numbers that a limit is about."""
    kind, strong, outputs = table["kind"], table.get("strong"), range(len(told.r))
    if kind in ("mutual_information", "kl"):
        with localcontext(SIXTY):

            def far(one: list[Fraction], other: list[Fraction]) -> Decimal:
                if any(a and not b for a, b in zip(one, other, strict=True)):
                    return Decimal("Infinity")
                return sum((dec(a) * SIXTY.ln(dec(a / b)) for a, b in zip(one, other, strict=True) if a), Decimal(0))

            if strong:
                return max(far(told.r, told.w[s]) for s in told.letters)
            return sum((dec(told.pi[s]) * far(told.w[s], told.r) for s in told.letters), Decimal(0))
    if kind == "total_variation":
        if strong:
            return max(sum(abs(told.w[s][y] - told.r[y]) for y in outputs) for s in told.letters)
        return sum((abs(told.u[s][y] - told.pi[s] * told.r[y]) for s in told.letters for y in outputs), Fraction(0))
    if kind == "chi_square":
        if strong:
            if any(told.r[y] and not told.w[s][y] for s in told.letters for y in outputs):
                return math.inf
            return max(sum(told.r[y] ** 2 / told.w[s][y] for y in outputs if told.r[y]) for s in told.letters) - 1
        return (
            sum(
                (told.u[s][y] ** 2 / (told.pi[s] * told.r[y]) for s in told.letters for y in outputs if told.r[y]),
                Fraction(0),
            )
            - 1
        )
    if kind == "maximal_correlation":  # the second singular value
        kept = [y for y in outputs if told.r[y]]
        scaled = [[float(told.u[s][y]) / math.sqrt(told.pi[s] * told.r[y]) for y in kept] for s in told.letters]
        values = np.linalg.svd(np.array(scaled), compute_uv=False)
        return float(values[1]) if len(values) > 1 else 0.0
    every = [told.w[s] for s in told.letters]
    pairs = [(a, b, 1) for a in every for b in every]
    if kind == "local_information_privacy_delta":
        pairs = [p for a in every for p in ((a, told.r, c), (told.r, a, 1))]
    return max(
        sum((max(x - c * y, Fraction(0)) for x, y in zip(a, b, strict=True)), Fraction(0)) / part
        for a, b, part in pairs
    )


def most(table: dict[str, Any]) -> Fraction:
    """A number that is at least the limit, in nats, or of the square."""
    if table["kind"] in LIMITS[:2]:
        return truth.amount(table["at_most"])[1]
    return exact(table["square_at_most"]) if "square_at_most" in table else exact(table["at_most"])


def missed(question: Question, table: dict[str, Any], laws: Any, c: Fraction) -> bool:
    """Whether a mechanism certainly is above a limit; c is at least e^epsilon."""
    for joint in joints(question, table):
        found = measured(table, Told(joint, laws), c)
        if table["kind"] == "maximal_correlation":
            square = found**2 if "square_at_most" in table else found
            if float(square) > float(most(table)) + 1e-9:
                return True
        elif isinstance(found, Decimal):
            if found == Decimal("Infinity") or Fraction(found) - truth.SLACK * 100 > most(table):
                return True
        elif found > most(table):
            return True
    return False


def tangent(question: Question, table: dict[str, Any], line: list[Any], c: Fraction) -> tuple[list[list[Any]], Any]:
    """What a line `tangent` adds to the matrix, and what it subtracts behind: its table, row by row."""
    _, _, n, weight, about, hint = line
    width = len(question.distortions[0])
    told = Told(joints(question, table)[n], [[Fraction(1)] * width] * question.input_count)
    kind, strong, joint, pi, px, size = (
        table["kind"],
        table.get("strong"),
        told.joint,
        told.pi,
        told.px,
        range(question.input_count),
    )
    factor, letters = Fraction(weight), told.letters
    at_most: Any = float(sum(truth.amount(table["at_most"])) / 2) if kind in LIMITS[:2] else most(table)

    def number(value: Any) -> Fraction:
        return Fraction(value)

    def cell(x: int, y: int) -> Any:
        if kind in LIMITS[:2] and not strong:
            whole = sum(number(row[y]) for row in hint)
            return sum(float(joint[s][x]) * math.log(number(hint[s][y]) / whole / pi[s]) for s in letters)
        if kind == "kl":
            return float(px[x]) * (1 + math.log(number(hint[y]))) - float(number(hint[y]) * joint[about][x] / pi[about])
        if kind == "total_variation" and not strong:
            return sum((number(hint[s][y]) * (joint[s][x] - pi[s] * px[x]) for s in letters), Fraction(0))
        if kind == "chi_square" and not strong:
            return sum(
                (2 * number(hint[s][y]) * joint[s][x] - number(hint[s][y]) ** 2 * pi[s] * px[x] for s in letters),
                Fraction(0),
            )
        t = number(hint[y])
        if kind == "total_variation":
            return t * (joint[about][x] / pi[about] - px[x])
        if kind == "chi_square":
            return 2 * t * px[x] - t * t * joint[about][x] / pi[about]
        if kind == "maximal_correlation":
            return 2 * t * sum((number(about[s]) - mean) * joint[s][x] for s in letters) - t * t * px[x]
        one, other = (px[x] if s is None else joint[s][x] / pi[s] for s in about)
        return t * (one - c * other)

    behind = at_most * (c if kind == "local_information_privacy_delta" and about[1] is None else 1)
    if kind == "chi_square":
        behind = at_most + 1
    if kind == "maximal_correlation":
        mean = sum(pi[s] * number(about[s]) for s in letters)
        square = at_most if "square_at_most" in table else at_most**2
        behind = square * sum(pi[s] * (number(about[s]) - mean) ** 2 for s in letters)
    matrix = [[cell(x, y) for y in range(width)] for x in size]
    if any(isinstance(value, float) for row in matrix for value in row):
        return [[float(factor) * float(value) for value in row] for row in matrix], float(factor) * behind
    return [[factor * value for value in row] for row in matrix], factor * behind


def normal(table: dict[str, Any]) -> dict[str, Any]:
    """The defaults of a constraint about a secret."""
    kind = table["kind"]
    found: dict[str, Any] = {"secret": None, "priors": None} if kind not in ROWS[2:] else {}
    found |= {"strong": False} if kind in ("information_privacy", "kl", "total_variation", "chi_square") else {}
    found |= {"exempt": None} if kind == "information_privacy" else {}
    return found | ({"at_most": None, "square_at_most": None} if kind == "maximal_correlation" else {})
