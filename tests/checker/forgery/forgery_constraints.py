"""Models with constraints of their own to forge certificates of, and kinds of forgery that only these have.

Two sources of models: designs whose answer a closed form knows, with the budget moved into a constraint; and linear programs, whose
answer lies between what their multipliers prove and what a mechanism attains, in fractions (`constraint_truth`).
"""

import random
from fractions import Fraction
from itertools import combinations
from typing import Any

import constraint_draws as draws_of
import constraint_truth as own
import forgery_subjects as subjects
from forgery_subjects import MARGIN, Subject, claimed
from forgery_truth import Question

LOWER = ("dual", "prior", "ratio", "multiplier", "cone", "also", "tangent", "weight", "term")
IDLE: dict[str, Any] = {"kind": "linear", "terms": [[0, 0, 1]], "at_most": 1}  # any mechanism meets it


def certified(table: dict[str, Any], name: str, like: Subject, header: dict[str, Any], lines: list[Any]) -> Subject:
    """A subject with the answer of another one."""
    model, question = subjects.toml(table), Question(table)
    first = {**header, "model": subjects.digest(question)}
    return Subject(name, model, question, like.low, like.high, [[first, *lines]], feasible=like.feasible)


MOVED = ("cone", "leakage", "distortion", "local_dp")


def moved(rng: random.Random, name: str, wanted: str) -> Subject:
    """A design that a closed form knows; what was its budget, or its privacy, is a constraint, of the kind that is wanted."""
    while True:
        before = subjects.written(subjects.drawn_design(rng), name)
        if before is None or (not before.feasible and "privacy" in before.question.table):
            continue
        keys = before.question.table.keys()
        kinds = (
            ("cone", "distortion") if "max_distortion" in keys else ("local_dp",) if "privacy" in keys else ("leakage",)
        )
        if wanted not in kinds:
            continue
        table = {key: value for key, value in before.question.table.items() if key not in ("max_distortion", "privacy")}
        header, *lines = before.parents[0]
        at = rng.randint(0, 1)  # of two constraints
        sections = [line for line in lines if line[0] not in LOWER]
        old = before.question.table
        if "max_distortion" in old:
            table |= {"max_distortion": draws_of.LOOSE}
            nu, most = lines[0][1] if lines else "1", old["max_distortion"]
            priors = [line for line in lines if line[0] == "prior"]
            if wanted == "distortion":
                own_one = {"kind": "distortion", "at_most": most, "distortion": {"kind": "hamming"}}
                given = ["multiplier", at, [[0, nu]]]
            else:  # the norm of what it distorts
                own_one = {"kind": "cone", "norm": [{"terms": expected(Question(table))}], "constant": most}
                given = ["cone", at, nu, [f"-{nu}"]]
            lines = [["dual", "0"], *priors, given, *sections]
        else:
            table |= {"max_leakage": draws_of.LOOSE, "adversary": {"kind": "product_priors"}}
            loose = draws_of.sections(Question(table)) if before.feasible else []
            if "privacy" in old:
                own_one = {"kind": "local_dp", "epsilon": old["privacy"]["epsilon"]}
                lines = [["dual", "0"], *as_rows(before.question, lines, at), *loose]
            else:
                own_one = {"kind": "leakage", "adversary": old["adversary"], "at_most": old["max_leakage"]}
                also = [["also", at, *line[1:]] for line in lines if line[0] == "prior"] or [
                    silent(before.question, at)
                ]
                tail = [*loose, ["adversary", at], *sections] if before.feasible else []
                lines = [["dual", "0"], *also, *tail]
        table["constraints"] = [IDLE, own_one] if at else [own_one, IDLE]
        return certified(table, name, before, header, lines)


def expected(question: Question) -> list[Any]:
    """The expected distortion, as terms."""
    law, costs = question.law_of_inputs, question.distortions
    return [[x, y, str(law[x] * d)] for x, ds in enumerate(costs) for y, d in enumerate(ds) if d]


def as_rows(question: Question, lines: list[Any], j: int) -> list[Any]:
    """Lines `ratio` as multipliers of the rows of a constraint `local_dp`."""
    inputs, used, *_ = own.sizes(question)
    width, sums = len(question.distortions[0]), dict[int, Fraction]()
    pairs = list(combinations(used, 2))
    for _, y, _, factors in (line for line in lines if line[0] == "ratio"):
        ((x, mu),) = [(x, Fraction(a)) for x, a in zip(inputs, factors, strict=True) if Fraction(a)]
        for other in inputs:
            if other != x:
                r = 2 * (pairs.index((min(x, other), max(x, other))) * width + y) + (x > other)
                sums[r] = sums.get(r, Fraction(0)) + mu / (len(inputs) - 1)
    return [["multiplier", j, [[r, str(mu)] for r, mu in sorted(sums.items())]]]


def silent(question: Question, j: int) -> list[Any]:
    """A prior that learns nothing from nothing."""
    adversary, letters, width = question.table["adversary"], question.alphabets[0], len(question.distortions[0])
    kind = adversary.get("kind")
    prior = 0 if kind == "prior_set" else [0, ["1"] * letters] if kind else "uniform"
    return ["also", j, "1", 0, prior, [["1"] * width for _ in range(letters)]]


def programmed(rng: random.Random, name: str) -> Subject:
    """A linear design, and what a linear program found out about it."""
    while True:
        question, laws = draws_of.constrained(rng)
        _, point, slopes = draws_of.Program(question, upper=True).solve()
        vertex = draws_of.Program(question, upper=False).vertex(point)
        best = laws if vertex is None or own.broken(question, vertex) is not None else vertex
        lines = draws_of.lines_of(question, slopes)
        low, high = Fraction(own.bound(question, lines, upper=True)), question.cost(best)
        if low < Fraction(1, 1000) or high > low * (1 + Fraction(1, 1000)):
            continue
        lines += draws_of.sections(question)
        mechanism = draws_of.weights(question, best)
        ends = low - MARGIN, high + MARGIN
        return subjects.certified(name, question.table, low, high, lines, *ends, mechanism=mechanism)


def drawn(rng: random.Random, count: int) -> list[Subject]:
    """So many subjects with constraints of their own."""
    names = [f"constrained-{k}" for k in range(count)]
    return [
        programmed(rng, name) if k % 2 else moved(rng, name, MOVED[k // 2 % len(MOVED)]) for k, name in enumerate(names)
    ]


# Kinds of forgery; a draft is a `forgery_drafts.Draft` ---------------------------------------------------------------------------


def given_away(draft: Any) -> bool:
    """Multipliers of other rows or constraints, of another sign or order; a norm beyond its t; another adversary's weight."""
    at, rng = draft.pick("multiplier", "cone", "also"), draft.rng
    if at is None:
        return False
    line, many = draft.lines[at], len(own.listed(draft.subject.question))
    step = draft.step = draft.small()
    if rng.random() < 0.2 and len(line) > 1:
        line[1] = rng.randint(-1, many)
        return True
    if line[0] == "multiplier" and len(line) == 3 and isinstance(line[2], list) and line[2]:
        pairs = line[2]
        what = rng.choice(["sign", "sign", "row", "more", "less", "twice", "order", "drop", "size"])
        pair = rng.choice(pairs)
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], str)):
            return False
        if what == "sign":
            pair[1] = pair[1][1:] if pair[1].startswith("-") else f"-{pair[1]}"
        elif what == "row" and isinstance(pair[0], int):
            pair[0] += rng.choice([-1, 1, 2])
        elif what == "more":
            last = pairs[-1][0] if isinstance(pairs[-1], list) and pairs[-1] else 0
            pairs.append([last + 1 if isinstance(last, int) else 0, rng.choice(["1", "-1", f"-{step}", "1e300"])])
        elif what in ("less", "drop"):
            pairs.remove(pair)
        elif what == "twice":
            pairs.insert(pairs.index(pair), list(pair))
        elif what == "order":
            pairs.reverse()
        else:
            pair[1] = rng.choice(["-1", "1e30", "0", f"-{step}", str(step)])
        return True
    if line[0] == "cone" and len(line) == 4:
        line[2] = rng.choice([line[2], "0", "-1", str(step)])
        if isinstance(line[3], list) and line[3] and rng.random() < 0.5:
            line[3][rng.randrange(len(line[3]))] = rng.choice([str(step), "1", "-1", "-10", "-1e30", "1e30"])
        return True
    if line[0] == "also" and len(line) == 6:
        line[2] = rng.choice(["0", "-1", "1", f"-{step}", "1e30", str(step)])
        return True
    return False


def invented(draft: Any) -> bool:
    """A line about a constraint that has none yet."""
    question, rng = draft.subject.question, draft.rng
    tables = own.listed(question)
    if not tables:
        return False
    j = rng.randrange(len(tables))
    at = (
        max(
            (k for k, line in enumerate(draft.lines) if k and isinstance(line, list) and line and line[0] in LOWER),
            default=0,
        )
        + 1
    )
    if tables[j]["kind"] == "cone":
        u = [rng.choice(["0", "1", "-1", "3/5", "-1/100"]) for _ in tables[j]["norm"]]
        new = ["cone", j, rng.choice(["1", "7/5", "1/100", "0"]), u]
    elif tables[j]["kind"] == "leakage":
        new = silent(Question({**question.table, "adversary": tables[j]["adversary"]}), j)
    else:
        rows = own.rows(question, tables[j], upper=True)
        chosen = sorted(rng.sample(range(len(rows)), min(len(rows), 2)))
        new = ["multiplier", j, [[r, rng.choice(["1", "-1", "1/100", "-1/100", str(draft.small())])] for r in chosen]]
    draft.lines.insert(at, new)
    return True


def others(draft: Any) -> bool:
    """Lines `adversary` left out, twice, with another number or elsewhere; what stands behind them left out."""
    at, rng = draft.pick("adversary"), draft.rng
    if at is None:
        return False
    what = rng.choice(["drop", "cut", "twice", "renumber", "move", "behind"])
    line = draft.lines[at]
    if what == "cut":
        del draft.lines[at:]
    elif what == "behind":
        del draft.lines[at + 1 :]
    elif what == "renumber":
        line[1:] = [rng.randint(-1, 3)]
    elif what == "twice":
        draft.lines.append(list(line))
    else:
        del draft.lines[at]
        if what == "move":
            draft.lines.insert(rng.randint(1, len(draft.lines)), line)
    return True


def said_to_be_infeasible(draft: Any) -> bool:
    """Said of a model that some mechanism meets, with the lines of its lower bound, or more of them."""
    if not draft.subject.feasible or not own.listed(draft.subject.question):
        return False
    draft.claim = {"lower": None, "upper": None}
    draft.header["mechanism"] = None
    draft.lines[1:] = [line for line in draft.lines[1:] if isinstance(line, list) and line and line[0] in LOWER]
    return True


def paid(draft: Any) -> bool:
    """A multiplier that only what is subtracted behind it makes something of, and a claim of so much."""
    question, rng = draft.subject.question, draft.rng
    tables, found = own.listed(question), []
    for j, table in enumerate(tables):
        found += [
            (j, r, most)
            for r, (_, most, equal) in enumerate(own.rows(question, table, upper=True))
            if most and (equal or most < 0)
        ]
    if not found or draft.subject.problem != "min_distortion" or not draft.subject.feasible or "terms" in draft.header:
        return False
    j, r, most = rng.choice(found)
    false = draft.subject.high * rng.choice([Fraction(1001, 1000), Fraction(11, 10), Fraction(2)]) + MARGIN * 2
    sections = [line for line in draft.lines[1:] if isinstance(line, list) and line and line[0] not in LOWER]
    draft.lines[1:] = [["dual", "0"], ["multiplier", j, [[r, str(-2 * false / most)]]], *sections]
    draft.header["mechanism"] = draft.subject.parents[0][0]["mechanism"]
    draft.claim = {"lower": claimed(false, "ceiling")}
    return True


def careless(draft: Any) -> bool:
    """The mechanism that distorts least of all, whatever is asked of it; what limits its leakage to others is left out, or stays."""
    question, rng = draft.subject.question, draft.rng
    known = draft.subject.problem == "min_distortion" and draft.subject.feasible and "terms" not in draft.header
    limited = any(table["kind"] == "leakage" for table in own.listed(question))
    if not (known and limited) or question.table["mechanism"]["class"] == "additive" or draft.subject.low <= MARGIN:
        return False
    draft.header["mechanism"] = [["1" if d == min(ds) else "0" for d in ds] for ds in question.distortions]
    at = draft.pick("adversary")
    if at is not None and rng.random() < 0.7:
        del draft.lines[at + rng.randrange(2) : at + 1 if rng.random() < 0.3 else None]  # the line may stay
    cost = question.least_cost + draft.subject.low / 2
    draft.claim = {"lower": "0", "upper": claimed(cost, "floor")} if cost < draft.subject.low else {}
    if draft.claim:
        draft.lines[1:2] = [["dual", None]]
        draft.lines[1:] = [
            line for line in draft.lines[1:] if not (isinstance(line, list) and line and line[0] in LOWER[1:])
        ]
    return bool(draft.claim)


KINDS = {paid: 3.0, careless: 8.0, given_away: 5.0, invented: 2.0, others: 3.0, said_to_be_infeasible: 3.0}
