"""Private designs for the corpus and the tests: an exact reference in fractions, written apart from the checker.

A linear program in floats finds mechanisms and multipliers; what they attain and prove is then a matter of fractions.
"""

import decimal
import tomllib
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

from designs import UNIFORM, Design, design

Parts = tuple[str, str, str, str, str, str]
DIGITS = decimal.Context(prec=120)


def private(records: str, query: str, group: str, privacy: str, distortion: str, law: str) -> bytes:
    """A model with [privacy]; each argument is a table's body as in `designs.design`."""
    file = design(records, query, group, privacy, "max_leakage = 1", distortion, law)
    return file.replace(b"max_leakage = 1\n", b"").replace(b"[adversary]", b"[privacy]")


def ends(value: Any) -> tuple[Fraction, Fraction]:
    """Fractions around e^epsilon from a model's epsilon, equal where it is rational."""
    number, _, unit = str(value).partition(" ")
    if number == "log":
        return Fraction(unit), Fraction(unit)
    amount = Fraction(number)
    if amount == 0 or (unit == "bits" and amount.denominator == 1):
        return Fraction(2) ** amount.numerator, Fraction(2) ** amount.numerator
    exponent = DIGITS.divide(decimal.Decimal(amount.numerator), decimal.Decimal(amount.denominator))
    exponent = DIGITS.multiply(exponent, DIGITS.ln(decimal.Decimal(2))) if unit == "bits" else exponent
    middle, width = Fraction(DIGITS.exp(exponent)), Fraction(1, 10**100)
    return middle * (1 - width), middle * (1 + width)


class Private:
    """Law, distortions, privacy and the bound of `ratio` lines in fractions, for small models."""

    def __init__(self, parts: Parts) -> None:
        records, query, self.group, _, distortion, law = parts
        tables = (records, query, self.group, "0", "max_leakage = 1", distortion)
        self.design, self.file = Design((*tables, law)), private(*parts)
        self.size, self.outputs = self.design.size, self.design.outputs
        self.held = [p > 0 for p in Design((*tables, UNIFORM)).law]
        table = tomllib.loads(self.file.decode(), parse_float=str)["privacy"]
        self.low, self.high = ends(table["epsilon"])
        self.local = table["kind"] == "local_dp"
        listed = [[Fraction(str(p)) for p in row] for row in table.get("priors", [])]
        self.priors = [[p / sum(row) for p in row] for row in listed] or [self.design.law]

    def expected(self, mechanism: Any) -> Fraction:
        """The exact expected distortion."""
        return self.design.expected(mechanism)

    def loss(self, mechanism: Any) -> Fraction | float:
        """The least e^epsilon at which a mechanism is private."""
        worst: Fraction | float = Fraction(1)
        for column in zip(*self.design.rows(mechanism), strict=True):
            shown = [q for q, held in zip(column, self.held, strict=True) if held]
            pairs = [(max(shown), min(shown))]
            if not self.local:
                pairs = []
                for prior in self.priors:
                    mean = sum((p * q for p, q in zip(prior, column, strict=True)), Fraction(0))
                    pairs.append((max(q for p, q in zip(prior, column, strict=True) if p), mean))
            for most, mean in pairs:
                worst = max(worst, most / mean if mean else float("inf") if most else 1)
        return worst

    def bound(self, lines: list[Any], c: Fraction) -> Fraction:
        """What lines prove where e^epsilon is c, straight from docs/certificate-format.md."""
        inputs, outputs = range(self.size), range(self.outputs)
        g = [[self.design.law[x] * self.design.costs[x][y] for y in outputs] for x in inputs]
        for _, y, reference, multipliers in lines:
            a = list(map(Fraction, multipliers))
            weights = list(map(Fraction, reference)) if self.local else self.priors[reference]
            for x in inputs:
                g[x][y] += a[x] - c * sum(a) * weights[x] / sum(weights)
        if self.group == "additive":
            return min(sum(g[v][(v + z) % self.size] for v in inputs) for z in inputs)
        return sum(map(min, g), Fraction(0))

    def mixed(self, mechanism: Any, shares: Any) -> Any:
        """A mechanism mixed with the uniform one, by the first share that makes it private."""
        exact = [[Fraction(q) / sum(map(Fraction, row)) for q in row] for row in mechanism]
        for share in shares:
            rows = [[str(q * (1 - share) + Fraction(share) / self.outputs) for q in row] for row in exact]
            if self.loss(rows) <= self.low:
                return rows
        raise AssertionError("the uniform mechanism is private")

    def best(self, digits: int) -> tuple[Any, list[Any]]:
        """A nearly optimal private mechanism, and the lines of nearly optimal multipliers, as fractions."""
        n, m, c, wide = self.size, self.outputs, float(self.high), self.group != "additive"
        place = (lambda x, y: x * m + y) if wide else (lambda x, y: (y - x) % n)
        many = n * m if wide else m
        names: list[tuple[int, Any, int]] = []
        for y in range(m):
            for j in range(n if self.local else len(self.priors)):
                support = self.held if self.local else self.priors[j]
                if not self.local or self.held[j]:
                    names += [(y, j, x) for x in range(n) if support[x] and not (self.local and x == j)]
        below, cost = np.zeros((len(names), many)), np.zeros(many)
        for row, (y, j, x) in zip(below, names, strict=True):
            row[place(x, y)] += 1
            beta = [int(other == j) for other in range(n)] if self.local else self.priors[j]
            for other in range(n):
                row[place(other, y)] -= c * float(beta[other])
        laws = np.zeros((n if wide else 1, many))
        for x in range(n):
            for y in range(m):
                cost[place(x, y)] += float(self.design.law[x] * self.design.costs[x][y])
                laws[x if wide else 0, place(x, y)] = 1
        unit = np.ones(len(laws))
        found = linprog(cost, below, np.zeros(len(below)), laws, unit, method="highs-ds")
        rounded = [Fraction(float(q)).limit_denominator(10**digits) for q in found.x]
        mechanism = [list(map(str, rounded[k : k + m])) for k in range(0, many, m)]
        lines: dict[tuple[int, int], list[str]] = {}
        for (y, j, x), slope in zip(names, found.ineqlin.marginals, strict=True):
            value = Fraction(-float(slope)).limit_denominator(10**digits)
            if value > 0:
                lines.setdefault((y, j), ["0"] * n)[x] = str(value)
        point = [["1" if x == j else "0" for x in range(n)] for j in range(n)]
        return self.mixed(mechanism, [0, Fraction(1, 10 ** (digits - 2)), 1]), [
            ["ratio", y, point[j] if self.local else j, a] for (y, j), a in lines.items()
        ]
