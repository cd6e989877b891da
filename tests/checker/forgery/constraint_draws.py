"""Designs with constraints of their own, drawn so that some mechanism meets them all, solved by a linear program.

A linear program in doubles finds where the optimum is; what the mechanism attains, and what the multipliers prove, is then a
matter of fractions (`constraint_truth`).
"""

import random
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linprog

import constraint_truth as own
from constraint_truth import Laws, Row
from forgery_truth import Question

Model = dict[str, Any]
LOOSE = "9"  # more than any of these mechanisms leaks


def grounds(rng: random.Random) -> Model:
    """A linear design without constraints."""
    query, records, alphabet, group = rng.choice(
        [
            ({"kind": "identity"}, 1, 3, "oblivious"),
            ({"kind": "identity"}, 1, 2, "full"),
            ({"kind": "count"}, 2, 2, "oblivious"),
            ({"kind": "count"}, 2, 2, "full"),
            ({"kind": "modular_sum", "modulus": 3}, 1, 3, "additive"),
            ({"kind": "modular_sum", "modulus": 3}, 1, 2, "oblivious"),
            ({"kind": "modular_sum", "modulus": 3}, 1, 2, "additive"),
        ]
    )
    table: Model = {"problem": "min_distortion", "records": {"count": records, "alphabet": alphabet}, "query": query}
    weights = [rng.randint(0, 4) for _ in range(alphabet - 1)] + [rng.randint(1, 4)]
    table["law"] = rng.choice(
        [{"kind": "uniform"}, {"kind": "iid", "probabilities": [str(Fraction(w, sum(weights))) for w in weights]}]
    )
    values = 3 if query["kind"] != "identity" else records * alphabet
    kind = rng.choice(["hamming", "absolute", "squared", "matrix"])
    table["distortion"] = {"kind": kind}
    points = sorted(
        rng.sample(["-1", "-1/2", "0", "1", "3/2", "2", "3"], values if group == "additive" else 4), key=Fraction
    )
    if kind == "matrix":
        rows = [[str(Fraction(rng.randint(0, 9), 3)) for _ in points] for _ in range(values)]
        table["distortion"] |= {"rows": rows, "outputs": points}
    elif kind != "hamming" and rng.random() < 0.6:
        table["distortion"]["outputs"] = points
    table["mechanism"] = {"class": group}
    if rng.random() < 0.5:
        table["max_leakage"], table["adversary"] = LOOSE, {"kind": "product_priors"}
    else:
        table["privacy"] = {"kind": rng.choice(["local_dp", "pointwise_maximal_leakage"]), "epsilon": epsilon(rng)}
    return table


def epsilon(rng: random.Random) -> str:
    """Any level of privacy."""
    return rng.choice(["log 3/2", "log 4", "1 bits", "0.7", "0.3 bits", "log 40"])


def some_mechanism(rng: random.Random, question: Question) -> Laws:
    """A mechanism that ignores a good part of what it is given, so that it is private enough for much."""
    width, count = len(question.distortions[0]), question.input_count
    spread = question.table["mechanism"]["class"] == "additive"
    base = (
        [Fraction(1, width)] * width if spread else own.normalised([Fraction(rng.randint(1, 4)) for _ in range(width)])
    )
    share, found = Fraction(rng.choice([0, 1, 1, 2]), 10), []
    for _ in range(1 if spread else count):
        other = own.normalised([Fraction(rng.randint(0, 3)) + Fraction(1, 9) for _ in range(width)])
        found.append([(1 - share) * b + share * o for b, o in zip(base, other, strict=True)])
    return question.spread(found)


def constrained(rng: random.Random, wanted: int | None = None) -> tuple[Question, Laws]:
    """A model with up to three constraints, and a mechanism that meets them all."""
    while True:
        table = grounds(rng)
        question = Question(table)
        laws = some_mechanism(rng, question)
        tables = [constraint(rng, question, laws) for _ in range(wanted or rng.randint(1, 3))]
        found = Question({**table, "constraints": [one for one in tables if one]})
        private = "privacy" not in table or private_enough(question, laws)
        if found.table["constraints"] and private and own.broken(found, laws) is None:
            return found, laws


def private_enough(question: Question, laws: Laws) -> bool:
    """Whether a mechanism is private with a number that is at most e^epsilon."""
    made = own.rows(question, question.table["privacy"], upper=False)
    return all(own.value(cells, laws) <= most for cells, most, _ in made)


def constraint(rng: random.Random, question: Question, laws: Laws) -> Model | None:
    """A constraint that this mechanism meets, if one of a kind does."""
    inputs, used, query, points = own.sizes(question)
    width = len(laws[0])
    cells = [(x, y) for x in inputs for y in range(width)]
    slack = rng.choice([Fraction(0), Fraction(1, 50), Fraction(1, 7)])
    numbered = question.table["distortion"]["kind"] != "matrix" or "outputs" in question.table["distortion"]

    def largest(table: Model) -> Fraction:
        return max(own.value(row, laws) - most for row, most, _ in own.rows(question, table, upper=True))

    kind = rng.choice(
        [
            "linear",
            "linear",
            "zero",
            "band",
            "unbiased",
            "error",
            "error",
            "distortion",
            "monotone",
            "local",
            "point",
            "cone",
        ]
    )
    if kind == "linear":
        terms: list[Any] = [
            [*cell, str(Fraction(rng.randint(-6, 6), rng.choice([1, 2, 5])))] for cell in rng.choices(cells, k=3)
        ]
        got = own.value(own.affine({"terms": terms})[0], laws)
        return {"kind": kind, "terms": terms} | (
            {"equals": str(got)} if rng.random() < 0.3 else {"at_most": str(got + slack)}
        )
    if kind == "zero":
        zeros = [list(cell) for cell in cells if not laws[cell[0]][cell[1]]]
        return {"kind": kind, "entries": rng.sample(zeros, min(2, len(zeros)))} if zeros else None
    if kind == "band":
        far = max(abs(query[x] - o) for x in used for o in points) - 1 + slack
        return {"kind": kind, "width": str(far)} if numbered and far >= 0 else None
    if kind == "unbiased":
        means = (
            [sum((q * o for q, o in zip(laws[x], points, strict=True)), Fraction(0)) for x in used] if numbered else []
        )
        off = max((abs(mean - query[x]) for x, mean in zip(used, means, strict=False)), default=Fraction(0))
        return {"kind": kind, "tolerance": str(off + slack)} if numbered else None
    if kind == "error":
        law = question.law_of_inputs
        groups = [[x] for x in rng.sample(inputs, 1)] + [[x for x in inputs if law[x]]]
        table: Model = {"kind": kind, "at_most": "0"} | ({"groups": groups} if rng.random() < 0.6 else {})
        return table | {"at_most": str(largest(table) + slack)}
    if kind == "distortion":
        rows = [[str(rng.randint(0, 3)) for _ in range(width)] for _ in question.query[0]]
        table = {"kind": kind, "at_most": "0", "distortion": {"kind": "matrix", "rows": rows}}
        return table | {"at_most": str(largest(table) + slack)}
    if kind == "cone":
        norm = [
            {"terms": [[*cell, rng.randint(-3, 3)] for cell in rng.sample(cells, 2)], "constant": "1/3"}
            for _ in range(2)
        ]
        rows_ = [own.value(part[0], laws) + part[1] for part in map(own.affine, norm)]
        return {
            "kind": kind,
            "norm": norm,
            "terms": [[*rng.choice(cells), "1/2"]],
            "constant": str(sum(map(abs, rows_)) + slack),
        }
    if kind == "monotone":
        return {"kind": kind}
    table = {"kind": "local_dp" if kind == "local" else "pointwise_maximal_leakage", "epsilon": epsilon(rng)}
    if kind == "local" and rng.random() < 0.5:
        table["pairs"] = [rng.sample(inputs, 2) for _ in range(2)]
    return table


def all_rows(question: Question, upper: bool) -> list[tuple[int, int, Row]]:
    """Constraint, row number and row; those of [privacy] with the number -1."""
    tables = list(enumerate(own.listed(question)))
    tables += [(-1, question.table["privacy"])] if "privacy" in question.table else []
    return [(j, r, row) for j, table in tables for r, row in enumerate(own.rows(question, table, upper))]


class Program:
    """The linear program of a design whose leakage limits are loose, cones left out."""

    def __init__(self, question: Question, upper: bool) -> None:
        self.question, self.named = question, all_rows(question, upper)
        self.width, self.count = len(question.distortions[0]), question.input_count
        self.spread = question.table["mechanism"]["class"] == "additive"
        self.size = self.width if self.spread else self.width * self.count
        law = question.law_of_inputs
        self.cost = self.vector(
            {(x, y): law[x] * d for x, ds in enumerate(question.distortions) for y, d in enumerate(ds)}
        )

    def place(self, x: int, y: int) -> int:
        """Which variable Q(x, y) is."""
        return (y - x) % self.width if self.spread else x * self.width + y

    def vector(self, cells: own.Cells) -> list[Fraction]:
        """A row in the variables."""
        found = [Fraction(0)] * self.size
        for (x, y), c in cells.items():
            found[self.place(x, y)] += c
        return found

    @property
    def laws(self) -> np.ndarray:
        """That rows are laws."""
        return np.kron(np.eye(self.size // self.width), np.ones(self.width))

    def solve(self) -> tuple[float, np.ndarray, dict[tuple[int, int], float]]:
        """The optimum, the mechanism, and multipliers by constraint and row."""
        parts: dict[bool, list[Any]] = {True: [], False: []}
        for j, r, (cells, most, equal) in self.named:
            parts[equal].append(((j, r), list(map(float, self.vector(cells))), float(most)))
        laws = self.laws
        equal = np.vstack([laws, *([row] for _, row, _ in parts[True])])
        least = np.array([row for _, row, _ in parts[False]]).reshape(-1, self.size)
        sides = [most for *_, most in parts[False]]
        found = linprog(
            list(map(float, self.cost)),
            least,
            sides,
            equal,
            [1.0] * len(laws) + [m for *_, m in parts[True]],
            method="highs-ds",
        )
        assert found.status == 0, found.message
        slopes = {name: -float(s) for (name, *_), s in zip(parts[False], found.ineqlin.marginals, strict=True)}
        slopes |= {
            name: -float(s) for (name, *_), s in zip(parts[True], found.eqlin.marginals[len(laws) :], strict=True)
        }
        return float(found.fun), found.x, slopes

    def vertex(self, point: np.ndarray) -> Laws | None:
        """The vertex near a point, exactly; None where it is none."""
        system = [[*map(Fraction, map(int, row)), Fraction(1)] for row in self.laws]
        for _, _, (cells, most, equal) in self.named:
            row = self.vector(cells)
            if equal or abs(float(most) - float(np.dot(list(map(float, row)), point))) < 1e-9:
                system.append([*row, most])
        for k, q in enumerate(point):
            if q < 1e-9:
                system.append([Fraction(int(k == n)) for n in range(self.size)] + [Fraction(0)])
        flat = eliminated(system, self.size)
        if flat is None or min(flat) < 0:
            return None
        return self.question.spread([flat[k : k + self.width] for k in range(0, self.size, self.width)])


def eliminated(system: list[list[Fraction]], size: int) -> list[Fraction] | None:
    """The only solution of linear equations, if there is one."""
    rows, done = [list(row) for row in system], 0
    for column in range(size):
        pivot = next((k for k in range(done, len(rows)) if rows[k][column]), None)
        if pivot is None:
            return None
        rows[done], rows[pivot] = rows[pivot], rows[done]
        rows[done] = [x / rows[done][column] for x in rows[done]]
        for k, row in enumerate(rows):
            if k != done and row[column]:
                rows[k] = [x - row[column] * z for x, z in zip(row, rows[done], strict=True)]
        done += 1
    return [row[-1] for row in rows[:size]] if all(not row[-1] for row in rows[done:]) else None


def lines_of(question: Question, slopes: dict[tuple[int, int], float], limit: int = 10**6) -> list[list[Any]]:
    """The lines `dual`, `ratio` and `multiplier` of nearly these multipliers."""
    lines: list[list[Any]] = [["dual", "0"]]
    rows = {(j, r): row for j, r, row in all_rows(question, upper=True)}
    chosen = {name: Fraction(mu).limit_denominator(limit) for name, mu in slopes.items() if abs(mu) > 1e-9}
    chosen = {name: mu for name, mu in chosen.items() if mu > 0 or (mu and rows[name][2])}
    for (j, r), mu in chosen.items():
        if j < 0:
            lines.append(ratio(question, r, mu))
    for j in range(len(own.listed(question))):
        pairs = [[r, str(mu)] for (k, r), mu in sorted(chosen.items()) if k == j]
        lines += [["multiplier", j, pairs]] if pairs else []
    return lines


def ratio(question: Question, r: int, mu: Fraction) -> list[Any]:
    """Row r of [privacy] as a line `ratio`."""
    inputs, used, *_ = own.sizes(question)
    width = len(question.distortions[0])
    if question.table["privacy"]["kind"] == "local_dp":
        pair, y = list(combinations(used, 2))[r // (2 * width)], r // 2 % width
        first, other = pair[::-1] if r % 2 else pair
        return ["ratio", y, [str(int(x == other)) for x in inputs], [str(mu) if x == first else "0" for x in inputs]]
    first, y = [x for x in inputs if question.law_of_inputs[x]][r // width], r % width
    return ["ratio", y, 0, [str(mu) if x == first else "0" for x in inputs]]


def sections(question: Question) -> list[list[Any]]:
    """What proves that nothing leaks more than it may, where that is much."""
    if "privacy" in question.table:
        return []
    found: list[list[Any]] = []
    for i in range(len(question.alphabets)):
        found += [
            ["record", i],
            ["law", list(range(len(question.selections(i)))), ["1"] * len(question.distortions[0])],
        ]
    return found


def weights(question: Question, laws: Laws) -> list[list[str]]:
    """A mechanism as a header has it."""
    rows = laws[:1] if question.table["mechanism"]["class"] == "additive" else laws
    return [[str(q) for q in row] for row in rows]
