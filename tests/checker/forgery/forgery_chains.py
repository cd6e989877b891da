"""Audits of Markov chains to forge certificates of, and kinds of forgery that only these have; a draft is a `forgery_drafts.Draft`.

The answers are known: boxes of one chain; boxes so small that information rises or falls all the way in each parameter; one record
that is told as it is; many independent records, whose windows are nearly tight; starts of any kind, between a chain that is shown
and the entropy of a letter; and a letter that may have no share, where information is convex in one parameter and rises in the other.
"""

import random
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import chain_truth as own
import forgery_subjects as subjects
import forgery_truth as truth
from forgery_subjects import MARGIN, Subject, claimed
from forgery_truth import SIXTY, SLACK, Question, dec

LEAVES = ("slope", "window", "blocks", "after", "letters", "expansion")
Box = Sequence[tuple[Fraction, Fraction]]
Lines = list[list[Any]]
STEP = Fraction(1, 1000)


def text(point: Sequence[Fraction]) -> list[str]:
    """A point of a line."""
    return list(map(str, point))


def share(rng: random.Random, top: int = 18) -> Fraction:
    """A probability that is not close to 0 or 1."""
    return Fraction(rng.randint(2, top), 20)


def query(rng: random.Random) -> dict[str, Any]:
    """A query of any kind that chains may have."""
    kinds = [{"kind": "parity"}, {"kind": "modular_sum", "modulus": 3}, {"kind": "threshold", "at": 1}]
    return rng.choice([{"kind": "count"}, {"kind": "count"}, {"kind": "sum"}, *kinds])


def mechanism(rng: random.Random, kind: str) -> dict[str, Any]:
    """A mechanism, which has an output for every value."""
    several = kind in ("parity", "modular_sum", "threshold")
    noise = {"kind": "geometric", "epsilon": rng.choice(["1/2", "1", "3"])}
    return rng.choice([noise, {"kind": "symmetric", "flip": rng.choice(["1/10", "1/5"])}]) if several else noise


def table(count: int, asks: dict[str, Any], tells: dict[str, Any], box: Box, **more: Any) -> dict[str, Any]:
    """A model."""
    sides = dict(zip(("to_one", "to_zero"), map(text, box), strict=False))
    return subjects.audit((count, 2), asks, tells, {"kind": "markov_chain", **sides, **more})


def subject(
    name: str, model: dict[str, Any], ends: tuple[Fraction, Fraction], upper: Fraction, lines: Lines
) -> Subject:
    """What is known of a model, with a certificate whose upper end is less."""
    return subjects.certified(name, model, *ends, lines, max(ends[0] - MARGIN, Fraction(0)), upper + MARGIN)


def answer(
    question: Question, chains: Sequence[tuple[int, tuple[Fraction, ...]]]
) -> tuple[Decimal, int, tuple[Fraction, ...]]:
    """The most that a record is told about at one of these chains."""
    return max((own.information(question, i, point), i, point) for i, point in chains)


def one_chain(rng: random.Random) -> tuple[Any, ...]:
    """A box of one chain: information there, of the records of the first half, whose mirror images are the others."""
    count, asks = rng.randint(1, 4), query(rng)
    point = (share(rng), share(rng))
    model = table(count, asks, mechanism(rng, asks["kind"]), [(x, x) for x in point])
    if rng.random() < 0.5:
        model["adversary"]["record"] = rng.randrange(count)
    question = Question(model)
    records = [i for i in own.asked(question) if len(own.asked(question)) == 1 or 2 * i < count]
    value, i, _ = answer(question, [(i, point) for i in records])
    leaves = [["slope", text(point)], ["expansion", text(point), [rng.randrange(2), rng.randrange(2)]]]
    proof = [line for k in records for line in (["record", k], rng.choice(leaves))]
    ends = truth.around(value)
    return model, ends, ends[1], [["path", i, text(point), None], *proof]


def corners(rng: random.Random) -> tuple[Any, ...]:
    """A small box, in which information rises or falls all the way: halves, each with its own best corner."""
    while True:
        count, asks, width = rng.randint(1, 3), query(rng), Fraction(1, 1000)
        low = (share(rng, 17), share(rng, 17))
        sides = [(x, x + width) for x in low]
        record = max(rng.randrange(count), rng.randrange(count))  # behind others: both ways along the chain count
        model = table(count, asks, mechanism(rng, asks["kind"]), sides, record=record)
        question, i = Question(model), record
        turns = [own.turn(question, i, low, j) for j in (0, 1)]
        if all(abs(turn) > Decimal("0.02") for turn in turns):
            break
    best = [int(turn > 0) for turn in turns]

    def tree(part: list[tuple[Fraction, Fraction]], left: int) -> Lines:
        if not left:
            return [["slope", text([side[end] for side, end in zip(part, best, strict=True)])]]
        j = rng.randrange(2)
        at = part[j][0] + (part[j][1] - part[j][0]) * Fraction(rng.randint(1, 3), 4)
        halves = [[*part[:j], side, *part[j + 1 :]] for side in ((part[j][0], at), (at, part[j][1]))]
        return [["halve", j, str(at)], *tree(halves[0], left - 1), *tree(halves[1], left - 1)]

    point = [side[end] for side, end in zip(sides, best, strict=True)]
    ends = truth.around(own.information(question, i, point))
    return model, ends, ends[1], [["path", i, text(point), None], ["record", i], *tree(sides, rng.randint(0, 2))]


def told_outright(rng: random.Random) -> tuple[Any, ...]:
    """One record, told as it is: the entropy of its letter, which may be large where both ends are small."""
    apart = rng.random() < 0.5  # every chain has fewer ones than zeros
    sides = [sorted((share(rng), share(rng))) for _ in (0, 1)]
    sides = [[x / 3 for x in sides[0]], [(1 + x) / 2 for x in sides[1]]] if apart else sides
    (a, b), (c, d) = sides
    free = not apart and rng.random() < 0.3
    model = table(
        1, {"kind": "parity"}, {"kind": "symmetric", "flip": "0"}, sides, start="any" if free else "stationary"
    )
    halves: Lines = [["halve", 0, str((a + b) / 2)], ["letters"], ["letters"]] if rng.random() < 0.7 else [["letters"]]
    half = Fraction(1, 2)
    if free:
        point: tuple[Fraction, ...] = (a, c, half)
        halves = rng.choice([halves, [["halve", 2, "1/4"], ["letters"], ["letters"]]])
    elif a <= d and c <= b:  # alpha = beta for some chain of the box
        point = (max(a, c), max(a, c))
    else:
        point = (b, c) if b < c else (a, d)
    ends = truth.around(own.entropy_of(half if free else point[0] / (point[0] + point[1])))
    return model, ends, ends[1], [["path", 0, text(point), None], ["record", 0], *halves]


def windows(rng: random.Random) -> tuple[Any, ...]:
    """A chain of many records that are counted: fair coins with little noise, so that each part of the window counts; or others."""
    tight = rng.random() < 0.7
    while True:
        count, alpha = rng.randint(14, 24), Fraction(10 if tight else rng.randint(9, 11), 20)
        sides = [(alpha, alpha), (x := (1 - alpha) * (1 if tight else Fraction(3, 4)), x)]
        i, m = rng.randint(count // 3, count // 2), 0 if tight else rng.randint(0, 2)
        upper = own.window(sides, count, i, m)
        if upper is not None:
            break
    model = table(count, {"kind": "count"}, {"kind": "geometric", "epsilon": "4" if tight else "1/2"}, sides, record=i)
    point, question = (alpha, sides[1][0]), Question(model)
    ends = truth.around(own.information(question, i, point))
    found = subject("", model, ends, Fraction(upper) + SLACK, [])
    turns = [Fraction(round(1000 * (x - point[0] / sum(point))), 1000 * 6) for x in (0, 1)]
    low = Fraction(own.tilted(question, i, point, turns)) - SLACK
    section: Lines = [["record", i], ["window", m]]
    found.parents[0] += [["path", i, text(point), None], *section]
    if low > 0:
        header = {**found.parents[0][0], "lower": claimed(low, "floor")}
        found.parents.append([header, ["path", i, text(point), text(turns)], *section])
    return (found,)


def any_start(rng: random.Random) -> tuple[Any, ...]:
    """A start of any kind: of the first record the capacity of what it is told through; of the others at least a chain's."""
    count, asks = 2, rng.choice([{"kind": "count"}, {"kind": "parity"}])
    point = (share(rng), share(rng))
    model = table(count, asks, mechanism(rng, asks["kind"]), [(x, x) for x in point], start="any")
    only = rng.random() < 0.5
    if only:
        model["adversary"]["record"] = 0
    question = Question(model)
    with localcontext(SIXTY):
        given = own.joint(question, 0, (*point, Fraction(1, 2)))
        capacity, other = truth.two_rows(*(tuple(2 * x for x in row) for row in given))
    starts = [Fraction(k, 8) for k in range(1, 8)] + [1 - Fraction(round(other * 10**50), 10**50)]
    low, i, shown = answer(question, [(k, (*point, nu)) for k in own.asked(question) for nu in starts])
    most, log_two, upper = truth.around(capacity), truth.around(SIXTY.ln(Decimal(2)))[1], Fraction(0)
    proof: Lines = []
    for k in own.asked(question):
        edges = [Fraction(1, 100), Fraction(1, 16), Fraction(15, 16), Fraction(99, 100)] if k == 0 else []
        cuts = sorted([*edges, *(Fraction(j, 8) for j in range(1, 8))])
        proof.append(["record", k])
        for at, (one, two) in enumerate(zip([Fraction(0), *cuts], [*cuts, Fraction(1)], strict=True)):
            proof += [["halve", 2, str(two)]] if two < 1 else []
            middle = (*point, (one + two) / 2)
            if k == 0 and at in (0, len(cuts)):
                proof.append(["letters"])
                upper = max(upper, Fraction(own.entropy_of(edges[0])))
                continue
            proof.append(["slope", text(middle)])
            steep = max(
                abs(own.turn(question, k, (*point, nu), 2))
                for nu in (one or STEP, (one + two) / 2, two if two < 1 else 1 - STEP)
            )
            upper = max(upper, Fraction(own.information(question, k, middle) + 2 * steep * dec(two - one)))
    ends = (most[0], most[1]) if only else (truth.around(low)[0], log_two)
    return model, ends, min(upper * Fraction(5, 4) + Fraction(1, 50), log_two), [["path", i, text(shown), None], *proof]


def letters(rng: random.Random, wide: bool = False) -> tuple[Any, ...]:
    """One chain of several letters, and what it tells about every record; or two letters, whose ranges are small."""
    k, count, asks = 2 if wide else rng.choice([2, 3]), rng.randint(1, 3), query(rng)
    rows = [truth.normalised([Fraction(rng.randint(1, 4)) for _ in range(k)]) for _ in range(k)]
    away = Fraction(1, 1000) if wide else Fraction(0)
    pairs = [[[str(max(p - away, Fraction(0))), str(p + away)] for p in row] for row in rows]
    model = table(count, asks, mechanism(rng, asks["kind"]), [])
    model["records"]["alphabet"], own_start = k, rng.random() < 0.7
    model["adversary"] = {"kind": "finite_chain", "transitions": pairs}
    start = truth.normalised([Fraction(rng.randint(1, 4)) for _ in range(k)])
    if own_start:
        model["adversary"]["start"] = [[str(p), str(p)] for p in start]
    if wide or rng.random() < 0.3:
        model["adversary"]["record"] = rng.randrange(count)
    question, point = Question(model), [p for row in rows for p in row] + (start if own_start else [])
    value, i, _ = answer(question, [(i, tuple(point)) for i in own.asked(question)])
    bases = [rng.randrange(k) for _ in range(k)]
    proof: Lines = [line for j in own.asked(question) for line in (["record", j], ["expansion", text(point), bases])]
    ends, lines = truth.around(value), [["path", i, text(point), None], *proof]
    if not wide:
        return model, ends, ends[1], lines
    steps = [(x, y) for x in (-away, Fraction(0), away) for y in (-away, Fraction(0), away)]
    near = [(point[0] - x, point[1] + x, point[2] + y, point[3] - y, *point[4:]) for x, y in steps]
    best, _, shown = answer(question, [(i, chain) for chain in near])
    ends, lines[0] = truth.around(best), ["path", i, text(shown), None]
    return model, (ends[0], ends[1] + Fraction(1, 10**5)), ends[1] * Fraction(101, 100) + Fraction(1, 10**4), lines


def ranges(rng: random.Random) -> tuple[Any, ...]:
    """Two letters whose transitions have small ranges, in which information is convex on the way to the chain that tells most."""
    while True:
        model, ends, upper, lines = letters(rng, wide=True)
        (_, i, shown, _), middle = lines[0], lines[-1][1]
        mirrored = [2 * Fraction(m) - Fraction(x) for m, x in zip(middle, shown, strict=True)]
        points = [tuple(map(Fraction, point)) for point in (shown, middle, mirrored)]
        one, half, other = (own.information(Question(model), i, point) for point in points)
        if one + other > 2 * half:
            return model, ends, upper, lines


def vanishing(rng: random.Random) -> tuple[Any, ...]:
    """A letter that chains of the box may not have, after which much may happen.

    Information is convex in what follows a letter, and increasing in the share of one of two letters, up to 1/e of it at least.
    """
    asks, share = query(rng), Fraction(rng.randint(1, 9), rng.choice([100, 1000]))
    low, high = Fraction(rng.randint(1, 8), 20), Fraction(rng.randint(12, 19), 20)
    model = table(3, asks, mechanism(rng, asks["kind"]), [])
    model["records"]["alphabet"], zero, one = 3, ["0", "0"], ["1", "1"]
    rows = [[one, zero, zero], [text((low, high)), text((1 - high, 1 - low)), zero], [zero, one, zero]]
    start = [text((1 - share, Fraction(1))), zero, text((Fraction(0), share))]
    model["adversary"] = {"kind": "finite_chain", "record": 1, "transitions": rows, "start": start}

    def chain(p: Fraction) -> tuple[Fraction, ...]:
        return tuple(map(Fraction, (1, 0, 0, p, 1 - p, 0, 0, 1, 0, 1 - share, 0, share)))

    question, point = Question(model), chain((low + high) / 2)
    value, _, shown = answer(question, [(1, chain(p)) for p in (low, high)])
    with localcontext(SIXTY):
        given = [u / dec(share) for u in own.joint(question, 1, point)[1]]
        totals = own.rows(question)[1:3] if asks["kind"] == "count" else own.rows(question)[3:5]
        far = max(sum(r * (r / u).ln() for r, u in zip(row, given, strict=True)) for row in totals)
    ends = truth.around(value)
    proof: Lines = [["path", 1, text(shown), None], ["record", 1], ["expansion", text(point), [0, rng.randrange(2), 0]]]
    return model, ends, ends[1] + share * Fraction(far) + MARGIN, proof


MAKERS: list[Callable[..., tuple[Any, ...]]] = [one_chain, corners, told_outright, windows, any_start, letters, ranges]


def walked(rng: random.Random, number: int) -> Subject:
    """An audit of a chain, of each kind in turn."""
    while True:
        found = MAKERS[number % len(MAKERS)](rng)
        made = found[0] if len(found) == 1 else subject("", *found)
        if made.low > MARGIN:
            made.name = f"chain-{number}"
            return made


def vanished(rng: random.Random, number: int) -> Subject:
    """An audit of a chain with a letter that may have no share."""
    return subject(f"vanishing-{number}", *vanishing(rng))


# Kinds of forgery ---------------------------------------------------------------------------------------------------------------


def walked_elsewhere(draft: Any) -> bool:
    """A path of another chain, beyond the box by little, and the claim of what it tells; of another record; with other tilts."""
    rng, question, at = draft.rng, draft.subject.question, draft.pick("path", "witness")
    if not own.held(question) or at is None or len(question.alphabets) > 30:
        return False
    sides, line = own.box(question), draft.lines[at]
    what = rng.choice(["beyond", "beyond", "record", "tilt", "tilt", "none", "many"])
    i = rng.randrange(len(question.alphabets)) if what == "record" else rng.choice(own.asked(question))
    point = [rng.choice(side) for side in sides]
    point = [Fraction(1, 2) if x in (0, 1) else x for x in point]
    if what == "none":
        draft.lines[at] = ["witness", None, None]
    elif what == "many":
        draft.lines.insert(at, list(line))
    elif what == "tilt":
        epsilon = truth.exact(question.table["mechanism"].get("epsilon", "1"))
        most = rng.choice([epsilon, epsilon, 2 * epsilon, epsilon / 10])
        draft.lines[at] = ["path", i, text(point), text([most * Fraction(rng.randint(-20, 20), 20) for _ in (0, 1)])]
    else:
        if what == "beyond":
            j, step = rng.randrange(2), draft.small()
            sign = 1 if own.turn(question, i, point, j) > 0 else -1
            point[j] = sides[j][sign > 0] + sign * min(step, Fraction(1, 50))
            draft.step = step
        draft.lines[at] = ["path", i, text(point), None]
        lower = claimed(Fraction(own.information(question, i, point)) - SLACK, "floor")
        if Fraction(lower) > draft.subject.high:
            draft.claim = {"lower": lower}
    return True


def leaves(draft: Any) -> list[tuple[int, list[tuple[Fraction, Fraction]], int]]:
    """The leaves of honest trees: the line, its box, and the record."""
    found, waiting, i = list[Any](), list[Any](), 0
    for at, line in enumerate(draft.lines):
        if not isinstance(line, list) or not line:
            continue
        if line[0] == "record":
            i, waiting = line[1], [own.box(draft.subject.question)]
        elif waiting and line[0] in ("halve", *LEAVES):
            sides = waiting.pop()
            if line[0] != "halve":
                found.append((at, sides, i))
                continue
            j, cut = line[1], Fraction(line[2])
            for side in ((cut, sides[j][1]), (sides[j][0], cut)):
                waiting.append([*sides[:j], side, *sides[j + 1 :]])
    return found


def other_leaves(draft: Any) -> bool:
    """All leaves, or one, of another kind, or around another chain: one in the box, or beyond it, that tells less."""
    rng, question = draft.rng, draft.subject.question
    if not own.held(question) or len(question.alphabets) > 30:
        return False
    found = leaves(draft)
    if not found:
        return False
    what = rng.choice(["letters", "window", "corner", "corner", "middle", "outside", "outside"])
    for at, sides, i in found if rng.random() < 0.6 else [rng.choice(found)]:
        if what == "letters":
            draft.lines[at] = ["letters"]
        elif what == "window":
            count = len(question.alphabets)
            margin, first = (
                rng.choice([0, 1, 2, i, count // 2, -1, i + 1, count]),
                rng.choice([1, 2, i, count // 3, count]),
            )
            own_line = ["window", margin]
            draft.lines[at] = rng.choice([own_line, own_line, own_line, ["blocks", first], ["after", first, margin]])
        else:
            point = [rng.choice(side) if what == "corner" else (side[0] + side[1]) / 2 for side in sides]
            if what == "outside":
                j = rng.randrange(2)
                far = rng.choice([draft.small(), Fraction(1, 20)])
                point[j] = rng.choice([sides[j][0] - far, sides[j][1] + far, Fraction(1, 1000), 1 - sides[j][0]])
            own_line = ["slope", text(point)]
            bases = [rng.randrange(2), rng.choice([0, 0, 1, 1, 2])]
            draft.lines[at] = rng.choice([own_line, own_line, ["expansion", text(point), bases]])
    return True


def halved(draft: Any) -> bool:
    """A leaf's box halved at a point of it, or beyond; or a halving moved."""
    rng, question = draft.rng, draft.subject.question
    if not (own.held(question) or own.of_letters(question)):
        return False
    sides, moved = own.box(question), draft.pick("halve")
    if moved is not None and rng.random() < 0.5:
        line = draft.lines[moved]
        j = rng.randrange(len(sides))
        line[1:] = [
            j,
            str(rng.choice([*sides[j], sides[j][1] + draft.small(), sides[j][0] - draft.small(), Fraction(line[2])])),
        ]
        return True
    at = draft.pick(*LEAVES)
    if at is None:
        return False
    j, own_line = rng.randrange(len(sides)), draft.lines[at]
    lo, hi = sides[j]
    point = rng.choice([(lo + hi) / 2, lo, hi, hi + draft.small(), lo - draft.small(), Fraction(99, 100)])
    other = rng.choice([["letters"], list(own_line), list(own_line)])
    pair = [own_line, other] if rng.random() < 0.5 else [other, own_line]
    draft.lines[at : at + 1] = [["halve", j, str(point)], *pair[: rng.choice([1, 2, 2])]]
    return True


def mirrored(draft: Any) -> bool:
    """A record's section said to be its mirror image's, or left out where the mirror image has one."""
    rng, question = draft.rng, draft.subject.question
    if not (own.held(question) or own.of_letters(question)):
        return False
    places = [at for at, line in enumerate(draft.lines) if isinstance(line, list) and line[:1] == ["record"]]
    if not places:
        return False
    at, count = rng.choice(places), len(question.alphabets)
    if rng.random() < 0.5:
        draft.lines[at] = ["record", rng.choice([count - 1 - draft.lines[at][1], 0, count - 1, count, -1])]
    else:
        end = next((other for other in places if other > at), len(draft.lines))
        del draft.lines[at:end]
        left = [line[1] for line in draft.lines if isinstance(line, list) and line[:1] == ["record"]]
        sides = own.box(question)
        if (
            left and all(lo == hi for lo, hi in sides) and all(i in own.asked(question) for i in left)
        ):  # what those left leak
            most, _, _ = answer(question, [(i, tuple(lo for lo, _ in sides)) for i in left])
            found = Fraction(most) + SLACK * 10
            draft.claim = {"lower": "0", "upper": claimed(found, "ceiling")} if found < draft.subject.low else {}
    return True


def other_expansions(draft: Any) -> bool:
    """Points of expansions, or of the path, moved within their rows: a little, far, to ones that leave letters out; bases."""
    rng, question = draft.rng, draft.subject.question
    at = [n for n, line in enumerate(draft.lines) if isinstance(line, list) and line[:1] in (["expansion"], ["path"])]
    if not own.of_letters(question) or not at:
        return False
    k, what = (
        question.alphabets[0],
        rng.choice(["little", "little", "far", "far", "sure", "start", "bases", "sum", "letters"]),
    )
    for n in at if rng.random() < 0.5 else [rng.choice(at)]:
        line = draft.lines[n]
        point = line[1] if line[0] == "expansion" else line[2]
        if what == "sum":
            point[:] = [str(rng.choice(side)) for side in own.box(question)]
            continue
        a = len(point) // k - 1 if what == "start" else rng.randrange(len(point) // k)
        b, c = rng.sample(range(a * k, (a + 1) * k), 2)
        most = {"sure": Fraction(1), "far": Fraction(1, 2), "start": Fraction(1, 2)}
        step = Fraction(point[b]) * most.get(what, min(draft.small(), Fraction(1, 1000)))
        if what == "bases":
            line[-1] = (
                [rng.choice([0, 1, k, -1]) for _ in range(rng.choice([k, k, 1]))] if line[0] == "expansion" else None
            )
        elif what == "letters":
            draft.lines[n] = ["letters"] if line[0] == "expansion" else ["witness", None, None]
        else:
            point[b], point[c] = str(Fraction(point[b]) - step), str(Fraction(point[c]) + step)
    return True


KINDS = {walked_elsewhere: 8.0, other_leaves: 8.0, halved: 6.0, mirrored: 5.0, other_expansions: 12.0}
