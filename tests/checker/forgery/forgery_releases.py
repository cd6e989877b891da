"""Histograms with noise, secrets, and letters that modular sums mix: models to forge whose answer a closed form knows, and kinds.

Written from docs/model-format.md and docs/certificate-format.md alone.
"""

import random
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb, prod
from typing import Any

import forgery_subjects as subjects
import forgery_truth as truth
from forgery_subjects import MARGIN, Subject, claimed
from forgery_truth import SIXTY, SLACK, dec, exact

LEVELS = ("1/2", "1", "2", "1/10")


def certified(table: dict[str, Any], name: str, ends: truth.Interval, lines: list[Any]) -> Subject:
    """A subject, claimed as closely as balls allow."""
    low, away = max(ends[0], Fraction(0)), MARGIN * 1000
    return subjects.certified(name, table, low, ends[1], lines, max(ends[0] - away, Fraction(0)), ends[1] + away)


def cells(rng: random.Random, name: str) -> Subject:
    """A histogram before independent records."""
    letters, level = rng.randint(2, 5), rng.choice(LEVELS)
    mechanism, held = {"kind": "geometric", "epsilon": level}, {"kind": "product_priors"}
    table = subjects.audit((rng.randint(1, 3), letters), {"kind": "histogram"}, mechanism, held)
    ends = in_cells(letters, level)
    return certified(table, name, ends, [["witness", 0, [0, 1]], ["histogram", [0, 1], [[[1], "1"]]]])


def in_cells(letters: int, level: str) -> truth.Interval:
    """The leakage about a record by a histogram: all others are known, and the outputs of each cell come to two."""
    with localcontext(SIXTY):
        a = (-dec(exact(level))).exp()
        far, told = a / (1 + a), Decimal(0)
        for own, p in ((a, far), (1 / a, 1 - far)):
            for j in range(letters):
                mean = (own + j / a + (letters - 1 - j) * a) / letters
                told += p * comb(letters - 1, j) * far**j * (1 - far) ** (letters - 1 - j) * SIXTY.ln(own / mean)
        return truth.around(told)


def tables(rng: random.Random, name: str) -> Subject:
    """Several tables by attributes of which none is in two of them: what each reveals by itself adds up."""
    attributes = [rng.randint(2, 4) for _ in range(rng.randint(2, 3))]
    used = sorted(rng.sample(range(len(attributes)), 2))
    level = rng.choice(LEVELS)
    query = {"kind": "margins", "attributes": attributes, "tables": [[j] for j in used]}
    noise = {"kind": "geometric", "epsilon": level}
    table = subjects.audit((rng.randint(1, 3), prod(attributes)), query, noise, {"kind": "product_priors"})
    kinds = {attributes[j] for j in used}
    each = [in_cells(attributes[j], level) for j in used]
    ends = sum(low for low, _ in each), sum(high for _, high in each)
    bounds = [["histogram", [0, 1], [[[1], "1"]]] for _ in kinds]
    return certified(table, name, ends, [["witness", 0, [[0, 1] for _ in kinds]], *bounds])


def secret(rng: random.Random, name: str) -> Subject:
    """A letter that is the secret: every law of two bits, or one bit of some entropy."""
    while True:
        whole = rng.random() < 0.4
        count = 1 if whole else 2
        width = rng.randint(2, 3)
        rows = [subjects.law(rng, width) for _ in range(count + 1)]
        held = {"entropy_at_least": rng.choice(["0.95 bits", "0.69", "0.68"]) if whole else "0"}
        query = {"kind": "identity" if whole else "count"}
        audit = subjects.audit((count, 2), query, {"kind": "matrix", "rows": rows[:2] if whole else rows}, held)
        plain = subjects.written(audit, name)
        binding = not whole or (plain is not None and Fraction(plain.parents[0][3][2]) > 0)
        if plain is not None and plain.low > MARGIN and binding:
            break
    question, (_, witness, *lines) = plain.question, plain.parents[0]
    table = {**audit, "problem": "secret_leakage", "secrets": [{"of": {"kind": "letters", "records": [0]}}]}
    weights = {(a, k): w for a, ws in enumerate(witness[2]) for k, w in enumerate(ws) if Fraction(w)}
    law = [
        [next(x for x, xs in enumerate(question.datasets) if xs[0] == a and question.inputs[x] == k), w]
        for (a, k), w in weights.items()
    ]
    shown = ["witness", 0, sorted(law)]
    if not whole:
        return certified(table, name, (plain.low, plain.high), [shown, ["cell", 0, 0], *lines[2:]])
    mu, r = lines[1][2], lines[1][4]
    proof = [["secret", 0], ["law", [0], r], ["mean", [mu] if Fraction(mu) else None]]
    return certified(table, name, (plain.low, plain.high), [shown, *proof])


def apart(rng: random.Random, name: str) -> Subject:
    """Letters that a sum modulo their number mixes two by two, of even law: a multiplier for what a law's weights add up to."""
    size, flip = rng.randint(3, 5), rng.choice(["1/10", "1/4", "1/3"])
    query, mechanism = {"kind": "modular_sum", "modulus": size}, {"kind": "symmetric", "flip": flip}
    table = subjects.audit([size, 2], query, mechanism, {"entropy_at_least": "1 max"})
    plain = subjects.written(table, name)
    assert plain is not None
    with localcontext(SIXTY):
        right, wrong = dec(1 - exact(flip)), dec(exact(flip) / (size - 1))
        mu, rise, level = Decimal(3), right - wrong, SIXTY.ln(Decimal(size))
        nu = rise * (SIXTY.ln(wrong + rise / 2) + 1) - mu * (SIXTY.ln(Decimal("0.5")) + 1) + level
        leaf = ["joint", "1", "3", None, ["1"] * size]
        proof = [["record", 0], leaf, *(["separate", subjects.digits(nu)] for _ in range(size))]
    header, witness, *_ = plain.parents[0]
    lines = [witness, *proof, ["record", 1], ["uniform"]]
    far = claimed(plain.high + Fraction(1, 10**17), "ceiling")  # a leaf's best points are found to 64 bits
    return Subject(name, plain.model, plain.question, plain.low, plain.high, [[{**header, "upper": far}, *lines]])


def lone(rng: random.Random, name: str) -> Subject:
    """Two letters whose sum is right or wrong, known to differ by one number more than by others: one large weight, in pieces."""
    size, flip, told = rng.randint(3, 5), rng.choice(["1/10", "1/4", "1/20"]), Fraction(rng.randint(11, 17), 20)
    rest = (1 - told) / (size - 1)
    with localcontext(SIXTY):
        right, wrong = dec(1 - exact(flip)), dec(exact(flip) / (size - 1))
        rise, level, top = right - wrong, SIXTY.ln(Decimal(size)), dec(told)

        def kept(w: Decimal) -> Decimal:
            return wrong + rise * w

        def slope(w: Decimal) -> Decimal:
            """f' where nu is 0."""
            return rise * (SIXTY.ln(kept(w)) + 1) - mu * (SIXTY.ln(w) + 1) + level

        def value(w: Decimal, nu: Decimal) -> Decimal:
            return kept(w) * SIXTY.ln(kept(w)) - mu * w * SIXTY.ln(w) + w * (level - nu)

        share = dec(rest)
        mu = rise * (SIXTY.ln(kept(top)) - SIXTY.ln(kept(share))) / (SIXTY.ln(top) - SIXTY.ln(share))
        turn = mu * wrong / (rise * (rise - mu))
        assert 0 < turn < 1
        stops = [turn + (1 - turn) * j / 8 for j in range(1, 9)]
        middles = [(one + two) / 2 for one, two in zip([turn, *stops], stops, strict=False)]
        places = [min((1 - w) / (size - 1), turn) for w in middles]
        none = min(Decimal(1) / size, turn)
        nus = [Decimal(digits_of(slope(z))) for z in (none, *places)]
        most = nus[0] + size * value(none, nus[0])
        for nu, z, *ends in zip(nus[1:], places, [turn, *stops], stops, strict=False):
            most = max(most, nu + (size - 1) * value(z, nu) + max(value(w, nu) for w in ends))
        entropy = level - top * SIXTY.ln(top) - (1 - top) * SIXTY.ln(share)
        held = exact(claimed(Fraction(entropy), "floor")[:30])
        upper = Fraction(most + mu * level - mu * dec(held)) + Fraction(1, 10**17)
        lower = Fraction(sum((kept(w) * SIXTY.ln(size * kept(w)) for w in [top, *[share] * (size - 1)]), Decimal(0)))
    query, mechanism = {"kind": "modular_sum", "modulus": size}, {"kind": "symmetric", "flip": flip}
    table = subjects.audit((2, size), query, mechanism, {"entropy_at_least": digits_of(dec(held))})
    rows = [[str(told if k == a else rest) for k in range(size)] for a in range(size)]
    pieces = [[digits_of(end), digits_of(nu)] for end, nu in zip(stops, nus[1:], strict=True)]
    leaf = ["joint", "1", digits_of(mu), None, ["1"] * size]
    proof = [["separate", digits_of(nus[0]), pieces], *[["as", 0]] * (size - 1)]
    ends = lower - Fraction(1, 10**17), upper
    return certified(table, name, ends, [["witness", 0, rows], ["record", 0], leaf, *proof])


def digits_of(value: Decimal) -> str:
    """Forty digits, which are all that there are."""
    return f"{value:.40f}"


MAKERS = (cells, secret, apart, tables, lone)


def released(rng: random.Random, number: int) -> Subject:
    """A model of each kind in turn."""
    make = MAKERS[number % len(MAKERS)]
    return make(rng, f"{make.__name__}-{number}")


# Kinds of forgery; a draft is a `forgery_kinds.Draft` ---------------------------------------------------------------------------


def scored(draft: Any) -> bool:
    """Other scores, patterns or weights of a histogram's lines, or none at all."""
    at, rng = draft.pick("histogram", "witness"), draft.rng
    kind = draft.subject.question.table.get("query", {}).get("kind")
    if at is None or kind not in ("histogram", "margins"):
        return False
    line = draft.lines[at]
    place = 2 if line[0] == "witness" else 1
    if kind == "margins" and rng.random() < 0.5:
        return of_kinds(draft, at)
    what = rng.choice(["scores", "scores", "patterns", "letters", "larger"])
    if what in ("scores", "larger") and len(line) > place and isinstance(line[place], list):
        many = {"scores": [[1, 0], [0, 2], [2, 1], [0, 0], [1, 1], [0, 1, 2]], "larger": [[0, 9], [7, 3], [0, 1000]]}
        other = rng.choice(many[what])
        line[place] = [other for _ in line[place]] if line[0] == "witness" and kind == "margins" else other
    elif line[0] == "histogram" and what == "patterns":
        line[2] = rng.choice(
            [[], [[[1], "0"]], [[[1], "-1"]], [[[2], "1"]], [[[1], "1"], [[1], "1"]], [[[], "1"]], [[[0], "1"]]]
        )
    elif line[0] == "histogram":
        draft.lines[at] = ["letters"]
    return True


def of_kinds(draft: Any, at: int) -> bool:
    """Kinds of tables that are left out, that come twice, that are exchanged, or of which nothing is said."""
    line, rng = draft.lines[at], draft.rng
    if line[0] == "witness":
        if not isinstance(line[2], list):
            return False
        line[2] = rng.choice([[None, *line[2][1:]], line[2][1:], line[2] * 2, line[2][::-1], [None] * len(line[2])])
    else:
        what = rng.choice(["drop", "twice", "open", "first"])
        if what == "drop":
            del draft.lines[at]
        elif what == "twice":
            draft.lines.insert(at, list(line))
        elif what == "open":
            line[1:] = [None, None]
        else:
            draft.lines[at:] = draft.lines[at:][::-1]
    return True


def told(draft: Any) -> bool:
    """Sections about a secret left out, of other values or with other inputs; other means; witnesses of other datasets."""
    at = draft.pick("cell", "secret", "part", "mean", "law", "witness")
    rng, question = draft.rng, draft.subject.question
    if at is None or question.table.get("problem") != "secret_leakage":
        return False
    line = draft.lines[at]
    if line[0] in ("cell", "secret"):
        what = rng.choice(["drop", "drop", "value", "twice"])
        if what == "drop":
            del draft.lines[at:]
        elif what == "value":
            line[rng.randrange(1, len(line))] = rng.randint(-1, 2)
        else:
            draft.lines += [list(one) for one in draft.lines[at:]]
    elif line[0] == "part":
        line[-1] = rng.choice([[], [0], [1], [2], [0, 1], [0, 1, 2], [0, 0], [3]])
        if rng.random() < 0.5:
            del draft.lines[at + 1 : at + 2]
    elif line[0] == "mean":
        line[1] = rng.choice([None, ["1e-9"], ["0"], ["-1"], ["1/100"], ["1000"], ["1e30"], []])
    elif line[0] == "law" and isinstance(line[-1], list):
        line[-1] = draft.law(len(line[-1]))
    elif rng.random() < 0.25:
        line[1:] = [None, None]
    elif isinstance(line[-1], list):  # masses moved to what tells more than the adversary may know
        size, many = question.size, rng.choice([2, 2, 3])
        line[-1] = [
            [x, rng.choice(["1", "1", str(rng.randint(1, 99)), "1/9", "0", "-1"])]
            for x in sorted(rng.sample(range(size), min(many, size)))
        ]
        most = draft.subject.high * rng.choice([1 + draft.small(), Fraction(1001, 1000), Fraction(11, 10)]) + SLACK
        draft.claim = {"lower": claimed(most, "ceiling")}
    return True


def separated(draft: Any) -> bool:
    """Another multiplier of the weights' sum; a letter's leaf for another's."""
    at, rng = draft.pick("separate"), draft.rng
    if at is None:
        return False
    what = rng.choice(["far", "far", "little", "none", "as", *["piece"] * (4 if len(draft.lines[at]) > 2 else 0)])
    line, step = draft.lines[at], draft.small()
    if what == "far":
        line[1] = str(Fraction(line[1]) + rng.choice([-1000, -30, -5, -2, -1, 1, 2, 5, 30, 1000]))
    elif what == "little":
        draft.step = step
        line[1] = str(Fraction(line[1]) + rng.choice([-1, 1]) * step)
    elif what == "piece":
        pieces = line[2] = [list(piece) for piece in line[2]]
        j, k = rng.randrange(len(pieces)), rng.randrange(2)
        edit = rng.choice(["moved", "first", "dropped", "early", "turned", "one", "nowhere"])
        if edit == "moved":
            pieces[j][k] = str(Fraction(pieces[j][k]) * Fraction(rng.choice(["1/100", "1/2", "9/10", "11/10", "2"])))
        elif edit == "first":
            pieces.insert(0, [rng.choice(["1/1000000", "1/1000", "1/50"]), pieces[0][1]])
        elif edit == "dropped":
            del pieces[j]
        elif edit == "early":
            del pieces[-1]
        elif edit == "turned":
            pieces.reverse()
        elif edit == "one":
            line[2] = [["1", pieces[j][1]]]
        else:
            line[2] = rng.choice([None, [], [["1"]], ["1", "0"], [["1", None]]])
    elif what == "none":
        draft.lines[at] = rng.choice([["row", None], ["separate"], ["separate", None], ["separate", "0"]])
    else:
        draft.lines.insert(at, list(line))
    if draft.subject.low > 0 and rng.random() < 0.8:
        part = rng.choice([Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)])
        draft.claim = {"lower": "0", "upper": claimed(draft.subject.low * part, "floor")}
    return True


KINDS = {scored: 6.0, separated: 8.0}
SECRETS = {told: 20.0}
