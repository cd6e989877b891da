"""Constraints of one's own read anew from docs/model-format.md: every row in fractions, what a mechanism misses, what lines prove.

Written apart from the checker, on the models of `forgery_truth`; slow and plain.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import forgery_truth as truth
import secret_truth
from forgery_truth import Question, exact, normalised

Cells = dict[tuple[int, int], Fraction]
Row = tuple[Cells, Fraction, bool]  # G, h, and whether it is an equality
Laws = list[list[Fraction]]


def listed(question: Question) -> list[dict[str, Any]]:
    """The tables."""
    return list(question.table.get("constraints", []))


def level(table: dict[str, Any], upper: bool) -> Fraction:
    """A number near e^epsilon, at least or at most as large."""
    low, high = Question({**table, "privacy": table}).level
    return high if upper else max(low, Fraction(1))


def sizes(question: Question) -> tuple[list[int], list[int], list[int], list[Fraction]]:
    """All inputs, those that some dataset has, v(x), and the numbers that outputs stand for."""
    inputs = list(range(question.input_count))
    values = question.query[0]
    query = values if question.inputs is question.query[1] else [values[k] for k in question.query[1]]
    own = question.table["distortion"]
    points = [exact(o) for o in own["outputs"]] if "outputs" in own else [Fraction(v) for v in values]
    return inputs, [x for x in inputs if x in set(question.inputs)], query, points


def rows(question: Question, table: dict[str, Any], upper: bool) -> list[Row]:
    """The rows of one constraint, with a number at least, or at most, e^epsilon in its place; none of a cone or a leakage."""
    inputs, used, query, points = sizes(question)
    width, kind, zero = len(question.distortions[0]), table["kind"], Fraction(0)
    outputs = range(width)
    if secret_truth.about(table):
        return list(secret_truth.rows(question, table, level(table, upper)))
    if kind == "linear":
        cells: Cells = {}
        for x, y, c in table["terms"]:
            cells[x, y] = cells.get((x, y), zero) + exact(c)
        side = "equals" if "equals" in table else "at_most"
        return [(cells, exact(table[side]), side == "equals")]
    if kind == "zero":
        return [({(x, y): Fraction(1)}, zero, True) for x, y in table["entries"]]
    if kind == "band":
        far = exact(table["width"])
        return [({(x, y): Fraction(1)}, zero, True) for x in used for y in outputs if abs(query[x] - points[y]) > far]
    if kind == "unbiased":
        slack = exact(table.get("tolerance", 0))
        means: list[Row] = []
        for x in used:
            mean = {(x, y): points[y] for y in outputs}
            if slack:
                means.append((mean, query[x] + slack, False))
                means.append(({cell: -o for cell, o in mean.items()}, slack - query[x], False))
            else:
                means.append((mean, Fraction(query[x]), True))
        return means
    if kind in ("error", "distortion"):
        costs = question.matrix(table["distortion"]) if "distortion" in table else question.distortions
        law = question.law_of_inputs
        if kind == "distortion":
            return [({(x, y): law[x] * costs[x][y] for x in inputs for y in outputs}, exact(table["at_most"]), False)]
        result: list[Row] = []
        for group in table.get("groups", [[x] for x in used]):
            whole = sum((law[x] for x in group), zero)
            share = {x: Fraction(1) if len(group) == 1 else law[x] / whole for x in group}
            result.append(
                ({(x, y): share[x] * costs[x][y] for x in group for y in outputs}, exact(table["at_most"]), False)
            )
        return result
    if kind == "monotone":
        return [
            ({(k, z): Fraction(s) for k, s in ((other, 1), (x, -1)) for z in range(y + 1)}, zero, False)
            for x, other in pairwise(used)
            for y in range(width - 1)
        ]
    if kind == "local_dp":
        c = level(table, upper)
        pairs = table.get("pairs", list(combinations(used, 2)))
        return [
            ({(a, y): Fraction(1), (b, y): -c}, zero, False)
            for x, other in pairs
            for y in outputs
            for a, b in ((x, other), (other, x))
        ]
    if kind == "pointwise_maximal_leakage":
        c = level(table, upper)
        given = [normalised([exact(p) for p in prior]) for prior in table.get("priors", [])]
        result = []
        for prior in given or [question.law_of_inputs]:
            for x in inputs:
                for y in outputs if prior[x] else ():
                    cells = {(z, y): -c * prior[z] for z in inputs if prior[z]}
                    cells[x, y] += 1
                    result.append((cells, zero, False))
        return result
    return []


def value(cells: Cells, laws: Laws) -> Fraction:
    """G Q."""
    return sum((c * laws[x][y] for (x, y), c in cells.items()), Fraction(0))


def affine(table: dict[str, Any]) -> tuple[Cells, Fraction]:
    """F and f."""
    cells: Cells = {}
    for x, y, c in table.get("terms", []):
        cells[x, y] = cells.get((x, y), Fraction(0)) + exact(c)
    return cells, exact(table.get("constant", 0))


def sides(table: dict[str, Any]) -> list[tuple[Cells, Fraction]]:
    """Of a cone the right side, then the numbers whose norm is taken."""
    return [affine(table), *map(affine, table["norm"])]


def broken(question: Question, laws: Laws) -> int | None:
    """The first constraint that a mechanism certainly misses, leakages aside."""
    for j, table in enumerate(listed(question)):
        if table["kind"] == "cone":
            side, *norm = (value(cells, laws) + constant for cells, constant in sides(table))
            if side < 0 or sum((x * x for x in norm), Fraction(0)) > side**2:
                return j
        if table["kind"] in secret_truth.LIMITS:
            c = level(table, True) if "epsilon" in table else Fraction(1)
            if secret_truth.missed(question, table, laws, c):
                return j
        for cells, most, equal in rows(question, table, upper=True):
            got = value(cells, laws)
            if got > most or (equal and got != most):
                return j
    return None


def bound(question: Question, lines: Iterable[list[Any]], upper: bool, nothing: bool = False) -> float | Fraction:
    """What lines from `dual` on prove of V, or, where that is asked, of the objective 0; exact without `prior` and `also`."""
    inputs, table = range(question.input_count), question.table
    outputs, leak = range(len(question.distortions[0])), table["problem"] == "min_leakage"
    names = ("dual", "prior", "ratio", "multiplier", "cone", "also", "tangent", "weight", "term")
    every = [line for line in lines if line[0] in names]
    nu, several = Fraction(every[0][1]), "objective" in table and not nothing
    price = nu if leak else Fraction(0 if nothing or several else 1)
    law, costs = question.law_of_inputs, question.distortions
    matrix: list[list[Any]] = [[price * law[x] * costs[x][y] for y in outputs] for x in inputs]
    behind: Any = nu * exact(table["max_distortion"]) if leak else Fraction(0)
    weights = sum((Fraction(line[1]) for line in every if line[0] == "prior"), Fraction(0))
    for name, *rest in every:
        if name == "multiplier":
            made = rows(question, listed(question)[rest[0]], upper)
            for r, mu in rest[1]:
                behind += Fraction(mu) * made[r][1]
                for (x, y), c in made[r][0].items():
                    matrix[x][y] += Fraction(mu) * c
        elif name == "cone":
            for factor, (cells, constant) in zip([rest[1], *rest[2]], sides(listed(question)[rest[0]]), strict=True):
                behind += Fraction(factor) * constant
                for (x, y), c in cells.items():
                    matrix[x][y] -= Fraction(factor) * c
        elif name == "tangent":
            given = listed(question)[rest[0]]
            c = level(given, upper) if "epsilon" in given else Fraction(1)
            added, less = secret_truth.tangent(question, given, [name, *rest], c)
            matrix = [[total(pair) for pair in zip(*two, strict=True)] for two in zip(matrix, added, strict=True)]
            behind = total((behind, less))
        elif name == "weight":
            own = costs if rest[0] == 0 else question.matrix(terms(question)[rest[0]]["distortion"])
            for x in inputs:
                for y in outputs:
                    matrix[x][y] += Fraction(rest[1]) * law[x] * own[x][y]
        elif name == "term":
            j, weight, i, prior, phi = rest
            for x, y, g in gains(question, terms(question)[j]["adversary"], i, prior, phi):
                matrix[x][y] = float(matrix[x][y]) + float(Fraction(weight)) * g
        elif name == "ratio":
            y, reference, factors = rest
            beta = question.reference(reference)
            for x in inputs:
                c = question.level[1 if upper else 0]
                matrix[x][y] += Fraction(factors[x]) - c * sum(map(Fraction, factors)) * beta[x]
        elif name in ("prior", "also"):
            adversary = table.get("adversary") if name == "prior" else listed(question)[rest[0]]["adversary"]
            most = table.get("max_leakage", "0") if name == "prior" else listed(question)[rest[0]]["at_most"]
            weight, i, prior, phi = rest if name == "prior" else rest[1:]
            share = float(Fraction(weight) / (weights if name == "prior" and leak and not several else 1))
            if not (name == "prior" and leak):
                behind = float(behind) + share * float(sum(truth.amount(most)) / 2)
            for x, y, g in gains(question, adversary, i, prior, phi):
                matrix[x][y] = float(matrix[x][y]) + share * g
    if table["mechanism"]["class"] == "additive":
        size = question.input_count
        return min(sum(matrix[v][(v + z) % size] for v in range(size)) for z in range(size)) - behind
    return sum(min(row) for row in matrix) - behind


def total(pair: Iterable[Any]) -> Any:
    """The sum of two numbers, a double if one of them is."""
    one, two = pair
    return float(one) + float(two) if isinstance(one, float) or isinstance(two, float) else one + two


def terms(question: Question) -> list[dict[str, Any]]:
    """The terms of an objective; 0 is the problem's own."""
    table = question.table["objective"]
    own = {"kind": "leakage" if question.table["problem"] == "min_leakage" else "distortion"}
    return [{**own, "weight": table.get("weight", 1)}, *table["terms"]]


def gains(question: Question, adversary: Any, i: int, prior: Any, phi: Any) -> Iterable[tuple[int, int, float]]:
    """g(x, y), in doubles."""
    masses = prior_masses(question, adversary, i, prior)
    totals = [float(sum(map(Fraction, column))) for column in zip(*phi, strict=True)]
    for a, row in enumerate(masses):
        own = float(sum(row))
        for x, p in enumerate(row):
            for y, whole in enumerate(totals) if p else ():
                yield x, y, float(p) * math.log(float(Fraction(phi[a][y])) / whole / own)


def prior_masses(question: Question, adversary: Any, i: int, prior: Any) -> Laws:
    """p(a, x) of a prior as it is written for an adversary."""
    if isinstance(prior, int):
        return question.masses(i, normalised([exact(p) for p in adversary["priors"][prior]]))
    counts = question.counts(i)
    if prior == "uniform":
        return [[Fraction(n, question.size) for n in row] for row in counts]
    if "kind" in adversary:
        chosen, shares = question.selections(i)[prior[0]], normalised([Fraction(w) for w in prior[1]])
        if "vertices" in adversary:
            vertices = [normalised([exact(x) for x in row]) for row in adversary["vertices"]]
            shares = [
                sum((w * x for w, x in zip(shares, column, strict=True)), Fraction(0))
                for column in zip(*vertices, strict=True)
            ]
        return [
            [share if k == place else Fraction(0) for k in range(question.input_count)]
            for place, share in zip(chosen, shares, strict=True)
        ]
    flat = normalised([Fraction(w) for row in prior for w in row])
    size = question.input_count
    return [flat[a * size : (a + 1) * size] for a in range(len(prior))]


# The model as a file, and in normal form --------------------------------------------------------------------------------------


def inline(item: Any) -> str:
    """A value as TOML on one line."""
    if isinstance(item, dict):
        return "{ " + ", ".join(f"{key} = {inline(part)}" for key, part in item.items()) + " }"
    if isinstance(item, list):
        return "[" + ", ".join(map(inline, item)) + "]"
    if isinstance(item, bool):
        return str(item).lower()
    return f'"{item}"' if isinstance(item, str) else str(item)


def written(tables: list[dict[str, Any]]) -> str:
    """Constraints as a model file has them."""
    return "".join(
        "\n[[constraints]]\n" + "".join(f"{k} = {inline(v)}\n" for k, v in table.items()) for table in tables
    )


def in_unit(item: Any) -> str:
    """A number with its unit."""
    words = str(item).split(" ")
    return (
        f"log {exact(words[1])}" if words[0] == "log" else f"{exact(words[0])} {words[1] if len(words) > 1 else 'nats'}"
    )


def plain(item: Any) -> Any:
    """Numbers as reduced fractions."""
    if isinstance(item, list):
        return [plain(part) for part in item]
    return str(exact(item))


def normal(table: dict[str, Any]) -> dict[str, Any]:
    """A constraint in normal form, from docs/model-format.md."""
    defaults: dict[str, dict[str, Any]] = {
        "linear": {"at_most": None, "equals": None},
        "unbiased": {"tolerance": 0},
        "error": {"groups": None, "distortion": None},
        "local_dp": {"pairs": None},
        "pointwise_maximal_leakage": {"priors": None},
        "cone": {"terms": [], "constant": 0},
    }
    found: dict[str, Any] = {}
    amounts = ("leakage", *secret_truth.LIMITS[:2])
    if table["kind"] in (*secret_truth.LIMITS, *secret_truth.ROWS):
        defaults[table["kind"]] = defaults.get(table["kind"], {}) | secret_truth.normal(table)
    for key, item in {**defaults.get(table["kind"], {}), **table}.items():
        if item is None or key in ("kind", "strong"):
            found[key] = item
        elif key == "epsilon" or (key == "at_most" and table["kind"] in amounts):
            found[key] = in_unit(item)
        elif key == "norm":
            found[key] = [{"terms": plain(part["terms"]), "constant": plain(part.get("constant", 0))} for part in item]
        elif isinstance(item, dict):
            entropy = item.get("entropy_at_least")
            found[key] = {k: v if k == "kind" else plain(v) for k, v in item.items() if k != "entropy_at_least"}
            found[key] |= {} if entropy is None else {"entropy_at_least": in_unit(entropy)}
        else:
            found[key] = plain(item)
    return found
