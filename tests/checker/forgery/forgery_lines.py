"""Groups, chambers and objectives to forge: kinds of forgery that only these have, and designs with objectives whose answer is known.

An objective of copies of one term, with weights, is that term times their sum or their largest; so a closed form stays one.
"""

import random
import re
from fractions import Fraction
from typing import Any

import forgery_subjects as subjects
from forgery_subjects import Subject, claimed
from forgery_truth import Question

PLAIN = re.compile(r"-?[0-9]+(\.[0-9]+)?|-?[0-9]+/[1-9][0-9]*")


def number(text: Any) -> Fraction | None:
    """A number without an exponent, which other kinds may have made too large to write out."""
    return Fraction(text) if isinstance(text, str) and PLAIN.fullmatch(text) else None


# Groups -------------------------------------------------------------------------------------------------------------------------


def some_groups(rng: random.Random, size: int) -> list[list[int]]:
    """A partition of so many outputs, or nearly."""
    home = [rng.randrange(size) for _ in range(size)] if rng.random() < 0.6 else [0] * size
    groups = [[y for y in range(size) if home[y] == g] for g in set(home)]
    rng.shuffle(groups)
    if rng.random() < 0.3:
        group = rng.choice(groups)
        what = rng.choice(["drop", "twice", "beyond", "empty", "both"])
        if what == "drop":
            group.pop()
        elif what == "empty":
            groups.append([])
        else:
            (rng.choice(groups) if what == "both" else group).append(
                {"beyond": size, "twice": group[0]}.get(what, group[-1])
            )
    return groups


def summed(value: Any, groups: list[list[int]]) -> Any:
    """Weights or slopes of outputs as those of groups."""
    found = [number(x) for x in value] if isinstance(value, list) else [None]
    known = [x for x in found if x is not None]
    if len(known) < len(found) or any(y >= len(known) for group in groups for y in group):
        return value
    return [str(sum((known[y] for y in group), Fraction(0))) for group in groups]


def grouped(draft: Any, a_node: Any) -> bool:
    """A line `group` above a subtree, whose leaves are about the groups, or still about outputs."""
    node, rng = a_node(draft, "box", "row"), draft.rng
    if node is None:
        return False
    start, end, level, _ = node
    groups = some_groups(rng, draft.outputs)
    fits, weights = (
        rng.random() < 0.85,
        [rng.choice(["1", "1", "0", "1e-30", "-1", "1e300"]) for _ in range(draft.outputs)],
    )
    if rng.random() < 0.6:
        weights = ["1"] * draft.outputs
    for line in draft.lines[start:end] if fits else ():
        if line[0] == "joint" and len(line) == 5:
            line[3], line[4] = None if rng.random() < 0.7 else line[3], summed(line[4], groups)
        elif line[0] == "row" and len(line) > 1:
            line[1] = summed(line[1], groups)
            if level == "row" and rng.random() < 0.5:
                line[2:] = [[rng.choice([None, [rng.choice(["0", "1", "-1", "1e9"]) for _ in range(draft.outputs)]])]]
    narrowing = ["neighbours"] if rng.random() < 0.5 else []
    draft.lines.insert(start, ["group", groups, weights, *narrowing] if level == "box" else ["group", groups])
    return True


def regrouped(draft: Any) -> bool:
    """Other groups or other weights in a line `group`, or neighbours that narrow each other."""
    at, rng = draft.pick("group"), draft.rng
    if at is None or len(draft.lines[at]) < 2:
        return False
    line = draft.lines[at]
    if len(line) >= 3 and rng.random() < 0.3:
        line[3:] = [] if len(line) > 3 else ["neighbours"]
    elif len(line) >= 3 and isinstance(line[2], list) and line[2] and rng.random() < 0.6:
        line[2][rng.randrange(len(line[2]))] = rng.choice(
            ["0", "-0", "-1", "1e-400", "1e400", "1/3", str(draft.small())]
        )
    else:
        line[1] = some_groups(rng, draft.outputs)
    return True


# Chambers -----------------------------------------------------------------------------------------------------------------------


def sorted_rows(draft: Any, a_node: Any) -> bool:
    """A line `chamber` above a row subtree, with exchanges that may be none."""
    node, rng = a_node(draft, "row"), draft.rng
    if node is None:
        return False
    outputs = draft.outputs
    inputs = max(draft.subject.question.input_count, 1) if draft.subject.small else outputs
    pairs = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        tau = list(range(outputs))
        rng.shuffle(tau)
        pi = list(tau) if inputs == outputs else list(range(inputs))
        if rng.random() < 0.3:
            rng.shuffle(pi)
        if rng.random() < 0.1:
            rng.choice([pi, tau])[0] = rng.choice([0, inputs, -1])
        pairs.append([pi, tau])
    draft.lines.insert(node[0], ["chamber", rng.randrange(outputs), pairs])
    return True


# Objectives ---------------------------------------------------------------------------------------------------------------------


def objective(rng: random.Random, name: str) -> Subject:
    """A design that a closed form knows, whose objective is its own term, with copies of it."""
    while True:
        before = subjects.written(subjects.drawn_design(rng), name)
        if before is None or not before.feasible or len(before.parents[0]) < 3:
            continue
        table, (head, dual, *lines) = before.question.table, before.parents[0]
        leak = table["problem"] == "min_leakage"
        weights = [Fraction(rng.choice(["1", "2", "1/3", "5/2"])) for _ in range(rng.choice([2, 3]))]
        combine = rng.choice(["sum", "max"])
        copy = {"adversary": table["adversary"]} if leak else {"distortion": table["distortion"]}
        kind = "leakage" if leak else "distortion"
        terms = [{"kind": kind, "weight": str(w), **copy} for w in weights[1:]]
        stated = {"combine": combine, "weight": str(weights[0]), "terms": terms}
        question = Question({**table, "objective": stated})
        shares = weights if combine == "sum" else [w if w == max(weights) else Fraction(0) for w in weights]
        shares = [share / (shares.count(share) if combine == "max" and share else 1) for share in shares]
        scale = sum(weights) if combine == "sum" else max(weights)
        upper = claimed(before.high + Fraction(1, 10**40), "ceiling")
        header = {**head, "unit": "objective", "terms": [upper] * len(weights), "model": subjects.digest(question)}
        header |= {end: claimed(scale * value, way) for end, value, way in bounds(before)}
        return Subject(
            name, subjects.toml(question.table), question, scale * before.low, scale * before.high,
            [[header, scaled(dual, scale), *evidence(lines, shares, leak, scale)]],
        )  # fmt: skip


def bounds(before: Subject) -> list[tuple[str, Fraction, str]]:
    """The ends of a claim that honest evidence proves."""
    return [
        ("lower", before.low - Fraction(1, 10**38), "floor"),
        ("upper", before.high + Fraction(1, 10**38), "ceiling"),
    ]


def scaled(line: list[Any], scale: Fraction) -> list[Any]:
    """A line whose number is so many times as large."""
    return [line[0], str(Fraction(line[1]) * scale), *line[2:]]


def evidence(lines: list[Any], shares: list[Fraction], leak: bool, scale: Fraction) -> list[Any]:
    """The lines of a design's certificate, with weights for the copies of its term, and what proves these."""
    first = next((at for at, line in enumerate(lines) if line[0] not in ("prior", "ratio")), len(lines))
    own, sections = lines[:first], lines[first:]
    if not leak:
        multipliers = [
            scaled(line, scale) if line[0] == "prior" else [*line[:3], [str(Fraction(a) * scale) for a in line[3]]]
            for line in own
        ]
        return [*multipliers, *(["weight", j, str(share)] for j, share in enumerate(shares)), *sections]
    whole = sum(Fraction(line[1]) for line in own)
    found = [
        (["prior"] if j == 0 else ["term", j]) + [str(Fraction(line[1]) / whole * share), *line[2:]]
        for j, share in enumerate(shares)
        for line in own
        if share
    ]
    return [*found, *sections, *(line for j in range(1, len(shares)) for line in (["term", j], *sections))]


def ends(draft: Any) -> bool:
    """What the terms are claimed to be at most: less than they are, with a claim that is as much too small."""
    terms, rng = draft.header.get("terms"), draft.rng
    if not isinstance(terms, list) or not terms or draft.subject.low <= subjects.MARGIN:
        return False
    step = draft.step = draft.small()
    false = draft.subject.low * (1 - min(step, Fraction(1, 2)))
    stated = draft.subject.question.table["objective"]
    weights = [Fraction(one.get("weight", 1)) for one in (stated, *stated["terms"])]
    what = rng.choice(["one", "one", "one", "one", "all", "negative", "none", "few", "many", "kept"])
    numbers = [number(term) or Fraction(0) for term in terms]
    if what == "all":
        terms[:] = [str(term * (1 - step)) for term in numbers]
    elif what in ("one", "negative"):
        j = rng.randrange(len(terms))
        rest = sum(
            (w * Fraction(t) for k, (w, t) in enumerate(zip(weights, terms, strict=True)) if k != j), Fraction(0)
        )
        terms[j] = str((false - rest) / weights[j]) if what == "one" else f"-{terms[j]}"
    elif what == "none":
        draft.header["terms"] = None
    elif what in ("few", "many"):
        terms.append(terms[0]) if what == "many" else terms.pop()
    draft.claim = {"lower": "0", "upper": claimed(false, "floor")}
    return True


def larger(draft: Any) -> None:
    """All multipliers and weights of a lower bound, and with them what it proves, larger by as much as the claim."""
    step = draft.step = draft.small()
    for line in draft.lines[1:]:
        slot = {"dual": 1, "prior": 1, "weight": 2, "term": 2, "ratio": 3}.get(line[0], 0)
        if not 0 < slot < len(line):
            continue
        if isinstance(line[slot], list):
            line[slot] = [str((number(x) or Fraction(0)) * (1 + step)) for x in line[slot]]
        elif number(line[slot]) is not None:
            line[slot] = str(Fraction(line[slot]) * (1 + step))
    most = draft.subject.high * (1 + step)
    draft.claim = {"lower": claimed((most + draft.subject.high) / 2, "floor")}


def shares(draft: Any) -> bool:
    """Weights of terms beyond the objective's, in one line, in several or in all; of other terms; lines in another place."""
    at, rng = draft.pick("weight", "term", "prior"), draft.rng
    if at is None or "terms" not in draft.header:
        return False
    if rng.random() < 0.4 and draft.subject.low > subjects.MARGIN:
        larger(draft)
        return Fraction(draft.claim["lower"]) > draft.subject.high
    line = draft.lines[at]
    slot = 1 if line[0] == "prior" else 2
    if len(line) <= slot:
        if line[0] == "term" and len(line) == 2:
            what = rng.choice(["drop", "cut", "renumber"])
            if what == "renumber":
                line[1] = rng.randint(-1, 4)
            else:
                del draft.lines[at : at + 1 if what == "drop" else None]
            return True
        return False
    step, what = draft.small(), rng.choice(["more", "more", "twice", "huge", "negative", "other"])
    draft.step = step
    if what == "more":
        line[slot] = str((number(line[slot]) or Fraction(0)) * (1 + step))
    elif what == "twice":
        draft.lines.insert(at, list(line))
    elif what == "other" and slot == 2:
        line[1] = rng.randint(-1, 3)
    else:
        line[slot] = "1e30" if what == "huge" else f"-{step}"
    return True


def drawn(rng: random.Random, count: int) -> list[Subject]:
    """So many designs with objectives."""
    return [objective(rng, f"objective-{k}") for k in range(count)]


# Planes -------------------------------------------------------------------------------------------------------------------------


def planes(draft: Any) -> bool:
    """Another plane or potential: a price for another one, of the limit or of inputs, less of one or all, or cells of another kind."""
    at, rng = draft.pick("envelope", "potential"), draft.rng
    sizes = {"envelope": 4, "potential": 2}
    if at is None or len(draft.lines[at]) != sizes[draft.lines[at][0]] or not isinstance(draft.lines[at][-1], list):
        return False
    line, step = draft.lines[at], draft.small()
    alone = line[0] == "potential"
    prices, price = [number(x) for x in line[-1]], Fraction(0) if alone else number(line[2])
    known = [x for x in prices if x is not None]
    if price is None or not known or len(known) < len(prices):
        return False
    draft.step = step
    kinds = ["less", "less", "all", "swap", "plane", "other"]
    what = rng.choice(
        kinds if alone else ["over", "free", "negative", "tilt", "tilt", "trade", "less", "all", "swap", "huge"]
    )
    one, other = rng.randrange(len(known)), rng.randrange(len(known))
    if what == "over":
        line[1] = rng.choice(["inputs", "useful", "useful", "input", None, 0])
    elif what in ("free", "negative", "huge"):
        line[2] = {"free": "0", "negative": str(-step), "huge": rng.choice(["1e300", "1e-300"])}[what]
    elif what == "tilt":
        line[2] = str(price * (1 + rng.choice([step, -step])))
    elif what == "trade":  # less for the limit, more for an input, or the other way round
        moved = rng.choice([step, -step])
        line[2], known[one] = str(max(price - moved, Fraction(0))), known[one] + moved
    elif what == "swap":
        known[one], known[other] = known[other], known[one]
    elif what == "other":  # less for an input, more for another one
        known[one], known[other] = known[one] - step, known[other] + step
    elif what == "plane":
        line[:] = ["envelope", "inputs", rng.choice(["0", "1", "1e9"]), line[1]]
    else:
        known = [x - step if what == "all" or k == one else x for k, x in enumerate(known)]
    line[-1] = [str(x) for x in known]
    return True


OBJECTIVES = {ends: 5.0, shares: 5.0}
