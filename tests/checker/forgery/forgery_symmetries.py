"""Orbits and images of letters to forge: with exchanges that are symmetries, that nearly are, and that are none; and wheels.

A wheel is a record whose letters are told apart only by a channel, before an adversary that knows nothing: its leakage is that of the
uniform prior, proved by one row for each letter, and where the rows are each other's images, by images of the first one. A count of
two bits before the same adversary has the proof that is about it alone.
"""

import functools
import random
from decimal import localcontext
from fractions import Fraction
from itertools import permutations
from typing import Any

import forgery_subjects as subjects
import forgery_truth as truth
from forgery_subjects import Subject, claimed
from forgery_truth import Row

Triple = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # letters, inputs, outputs, by images
ORBITS = ("orbit", "orbit-split")
_FEW = 4


@functools.cache
def symmetries(counts: tuple[tuple[int, ...], ...], rows: tuple[Row, ...]) -> list[Triple]:
    """What leaves a small record's numbers of completions and channel as they are."""
    letters, inputs, outputs = len(counts), len(rows), len(rows[0])
    if max(letters, inputs, outputs) > _FEW:
        return []
    return [
        (alpha, pi, tau)
        for pi in permutations(range(inputs))
        for tau in permutations(range(outputs))
        if all(rows[pi[k]][z] == rows[k][y] for k in range(inputs) for y, z in enumerate(tau))
        for alpha in permutations(range(letters))
        if all(counts[alpha[a]][pi[k]] == counts[a][k] for a in range(letters) for k in range(inputs))
    ]


def triples(draft: Any, outputs: int) -> list[list[list[int]]]:
    """Some triples: symmetries of some record, the same with an exchange more or less, or any permutations."""
    rng, question = draft.rng, draft.subject.question
    i = rng.randrange(len(question.alphabets))
    letters, inputs, known = question.alphabets[i], outputs, list[Triple]()
    if draft.subject.small:
        inputs = max(question.input_count, 1)
    if draft.subject.small and "kind" in question.table["mechanism"] and not draft.subject.resolved:
        known = symmetries(tuple(map(tuple, question.counts(i))), tuple(question.rows))
    found = []
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        parts = [list(range(size)) for size in (letters, inputs, outputs)]
        if known and rng.random() < 0.6:
            parts = [list(part) for part in rng.choice(known)]
        if rng.random() < 0.4:
            for part in rng.sample(parts, rng.choice([1, 1, 2])):
                rng.shuffle(part)
        if rng.random() < 0.1:
            part = rng.choice(parts)
            part[rng.randrange(len(part))] = rng.choice([0, len(part), -1])
        found.append(parts)
    return found


def point(draft: Any, outputs: int) -> str:
    """Where to cut an orbit: a share that outputs can all have, or not; an entry of the channel, or beside it."""
    rng, rows = draft.rng, draft.subject.question.rational if draft.subject.small else None
    near = [Fraction(1, outputs)] * 2 + ([rng.choice(rng.choice(rows))] if rows else [])
    off = rng.choice([Fraction(0), *(Fraction(rng.randint(1, 9), 10 ** rng.choice([1, 2, 6, 30])) for _ in range(3))])
    return str(rng.choice([*near, Fraction(rng.randint(0, 9), 9)]) + rng.choice([1, -1]) * off)


def orbit_line(draft: Any, outputs: int) -> list[Any]:
    """A line `orbit`, or `orbit-split`."""
    rng = draft.rng
    a, y, side = rng.randrange(draft.letters), rng.randrange(outputs), rng.choice(["above", "below"])
    return [rng.choice(ORBITS), side, a, y, point(draft, outputs), triples(draft, outputs)]


def mistaken(draft: Any, outputs: int) -> list[Any]:
    """An orbit of two letters that nothing exchanges, cut where an output is rarer after one than after the other: nothing is left."""
    question, rows = draft.subject.question, draft.subject.question.rational if draft.subject.small else None
    if rows is None:
        return orbit_line(draft, outputs)
    counts = question.counts(draft.rng.randrange(len(question.alphabets)))
    ends = [[(min(c), max(c)) for c in zip(*(rows[k] for k, n in enumerate(ns) if n), strict=True)] for ns in counts]
    pairs = [(a, b, y) for a, b in permutations(range(len(ends)), 2) for y in range(len(rows[0]))]
    pairs = [(a, b, y) for a, b, y in pairs if ends[a][y][1] < ends[b][y][0]]
    if not pairs:
        return orbit_line(draft, outputs)
    a, b, y = draft.rng.choice(pairs)
    letters, *same = (list(range(size)) for size in (len(ends), len(rows), len(rows[0])))
    letters[a], letters[b] = b, a
    return ["orbit", "above", a, y, str((ends[a][y][1] + ends[b][y][0]) / 2), [[letters, *same]]]


def orbited(draft: Any, a_node: Any) -> bool:
    """A line `orbit` above two copies of a subtree."""
    node = a_node(draft, "box")
    if node is None or node[1] - node[0] > 60:
        return False
    start, end, _, _ = node
    own = draft.lines[start:end]
    sides = [[list(line) if isinstance(line, list) else line for line in own] for _ in range(2)]
    if draft.rng.random() < 0.1:
        sides.pop()
    line = (mistaken if draft.rng.random() < 0.3 else orbit_line)(draft, draft.outputs)
    draft.lines[start:end] = [line, *(line for side in sides for line in side)]
    return True


def turned(draft: Any) -> bool:
    """An orbit with the other side, other symmetries, another place or point, or about the other numbers."""
    at, rng = draft.pick(*ORBITS), draft.rng
    if at is None or len(draft.lines[at]) != 6:
        return False
    line, other = draft.lines[at], orbit_line(draft, draft.outputs)
    slot = rng.choice([0, 1, 1, 2, 3, 4, 5, 5])
    line[slot] = {"above": "below", "below": "above"}.get(line[1], "above") if slot == 1 else other[slot]
    return True


def imaged(draft: Any, a_node: Any) -> bool:
    """A letter's row tree said to be the image of another's; now and then with a law that is none."""
    node = a_node(draft, "row")
    if node is None:
        return False
    start, end, _, letter = node
    rng, listed = draft.rng, triples(draft, draft.outputs)
    if not listed:
        return False
    before = rng.choice([0, 0, 0, max(letter - 1, 0), letter, letter + 1, -1])
    draft.lines[start:end] = [["as", before, *listed[0][1:]]]
    leaf = next((at for at in range(start - 1, 0, -1) if draft.lines[at][:1] == ["joint"]), None)
    if leaf is not None and len(draft.lines[leaf]) == 5 and rng.random() < 0.4:
        draft.lines[leaf][4] = draft.law(draft.outputs)
    return True


# Wheels -------------------------------------------------------------------------------------------------------------------------


def counted(rng: random.Random, name: str) -> Subject | None:
    """A count of two bits before an adversary that knows nothing; None where nothing is leaked."""
    mechanism = {"kind": "matrix", "rows": [subjects.law(rng, 3) for _ in range(3)]}
    table = subjects.audit((2, 2), {"kind": "count"}, mechanism, {"entropy_at_least": "1 max"})
    found = subjects.written(table, name)
    return found if found is not None and found.low > subjects.MARGIN else None


def wheel(rng: random.Random, name: str) -> Subject | None:
    """One record of some letters before an adversary that knows nothing; None where nothing is leaked."""
    size, turns = rng.randint(2, 4), rng.random() < 0.5
    weights = [rng.randint(1, 9) for _ in range(size)]
    rows = [[str(weights[(y - k) % size]) for y in range(size)] for k in range(size)]
    if not turns:
        rows = [[str(rng.randint(1, 9)) for _ in range(size)] for _ in range(size)]
    rows = [[str(Fraction(int(x), sum(map(int, row)))) for x in row] for row in rows]
    mechanism: dict[str, Any] = {"kind": "matrix", "rows": rows}
    if turns and rng.random() < 0.3:
        mechanism = {"kind": "symmetric", "flip": rng.choice(["0.1", "1/3"])}
    table = subjects.audit((1, size), {"kind": "identity"}, mechanism, {"entropy_at_least": "1 max"})
    before = subjects.written(table, name)
    if before is None or before.low <= subjects.MARGIN or before.question.rational is None:
        return None
    mean = [sum(column, Fraction(0)) for column in zip(*before.question.rational, strict=True)]
    with localcontext(truth.SIXTY):
        law = [subjects.digits(truth.dec(x / size)) for x in mean]
    letters = [["row", None] for _ in range(size)]
    if turns and rng.random() < 0.7:
        steps = [[(k + a) % size for k in range(size)] for a in range(size)]
        letters[1:] = [["as", 0, step, step] for step in steps[1:]]
    mu = "1" if turns else "1e45"
    head, witness, record, *_ = before.parents[0]
    lines: list[Any] = [head, witness, record, ["joint", "1", mu, None, ["1"] * size if turns else law], *letters]
    head["upper"] = claimed(before.high + subjects.MARGIN, "ceiling")
    return Subject(name, before.model, before.question, before.low, before.high, [lines])


def drawn(rng: random.Random, count: int) -> list[Subject]:
    """So many wheels and counts."""
    found: list[Subject] = []
    while len(found) < count:
        make = counted if len(found) % 5 == 3 else wheel
        subject = make(rng, f"wheel-{len(found)}")
        found += [subject] if subject is not None else []
    return found
