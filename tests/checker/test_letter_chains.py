"""Markov chains of several letters by definition: every dataset listed, and what is proved held against many chains of the box."""

import contextlib
import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.arithmetic import choose, using
from dalenius_check.letter_bounds import Expansion
from dalenius_check.letter_chains import LetterChain, Letters
from dalenius_check.model import parse_model
from dalenius_check.numbers import RefusedError

QUERIES = {
    "count": ('kind="count"; letters=[1]', lambda k: [int(b == 1) for b in range(k)], lambda s: s),
    "sum": ('kind="sum"', lambda k: list(range(k)), lambda s: s),
    "parity": ('kind="parity"', lambda k: list(range(k)), lambda s: s % 2),
    "modular_sum": ('kind="modular_sum"; modulus=3', lambda k: list(range(k)), lambda s: s % 3),
    "threshold": ('kind="threshold"; at=2', lambda k: list(range(k)), lambda s: int(s >= 2)),
}


def ranges(rng, k, width, zeros, gone):
    """The ranges of a law around some law; with a chance of `gone` one letter's mass may all be another's."""
    weights = [rng.randint(0 if rng.random() < zeros else 1, 6) for _ in range(k)]
    whole = sum(weights) or k
    found, law = [], [Fraction(w, whole) for w in weights] if sum(weights) else [Fraction(1, k)] * k
    for p in law:
        low, high = (Fraction(rng.randint(0, width), 40) for _ in range(2))
        found.append((max(p - low, Fraction(0)), min(p + high * (p > 0 or rng.random() < 0.5), Fraction(1))))
    if rng.random() < gone:
        b, c = rng.sample(range(k), 2)
        found[b], found[c] = (Fraction(0), found[b][1]), (found[c][0], min(found[c][1] + law[b], Fraction(1)))
    return found


def written(law):
    return "[" + ",".join(f'["{lo}","{hi}"]' for lo, hi in law) + "]"


def adversary(rows, start='"stationary"', record=None):
    named = "" if record is None else f"; record={record}"
    return f'kind="finite_chain"; transitions=[{",".join(map(written, rows))}]; start={start}{named}'


def channel(values, rng):
    """A mechanism with its rows by the query's value."""
    if rng.random() < 0.5:
        a, ends = math.exp(-0.7), (values[0], values[-1])
        inside = [1 if y in ends else 1 - a for y in values]
        return 'kind="geometric"; epsilon="0.7"', {
            v: [a ** abs(y - v) * c / (1 + a) for y, c in zip(values, inside, strict=True)] for v in values
        }
    weights = [[rng.randint(0, 3), rng.randint(0, 3), rng.randint(0, 1)] for _ in values]
    weights = [row if sum(row) else [1, 1, 1] for row in weights]
    text = ",".join("[" + ",".join(f'"{w}/{sum(row)}"' for w in row) + "]" for row in weights)
    return f'kind="matrix"; rows=[{text}]', {
        v: [w / sum(row) for w in row] for v, row in zip(values, weights, strict=True)
    }


def number(ball):
    middle = ball.mid().upper().fmpq()
    return int(middle.numerator) / int(middle.denominator)


def corner(rng, law):
    """A law of these ranges: one that fills them in some order."""
    found = [lo for lo, _ in law]
    for b in rng.sample(range(len(law)), len(law)):
        found[b] += min(law[b][1] - found[b], 1 - sum(found))
    return found


def inside(rng, law):
    """A mixture of such laws."""
    chosen = [(corner(rng, law), Fraction(rng.randint(1, 9))) for _ in range(rng.choice([1, 2, 6]))]
    return [sum(w * p[b] for p, w in chosen) / sum(w for _, w in chosen) for b in range(len(law))]


def stationary(rows):
    k = len(rows)
    system = np.vstack([np.array(rows, dtype=float).T - np.eye(k), np.ones(k)])
    return np.linalg.lstsq(system, np.r_[np.zeros(k), 1], rcond=None)[0]


def information(n, i, rows, start, adds, told):
    """I(X_i;Y) by listing all datasets."""
    k = len(rows)
    joint = np.zeros((k, len(told[0])))
    for x in itertools.product(range(k), repeat=n):
        mass = start[x[0]] * math.prod(rows[a][b] for a, b in itertools.pairwise(x))
        joint[x[i]] += mass * np.array(told[sum(adds[a] for a in x)])
    outer, seen = joint.sum(1, keepdims=True) * joint.sum(0), joint > 1e-300
    return float(np.sum(joint[seen] * np.log(joint[seen] / outer[seen])))


@pytest.mark.campaign(minutes=2)
@each("seed", *range(draws(20, 400, 2000)))
def test_expansions_bound_every_chain(seed, forge):
    """What a expansion proves is no less than what any chain of the box tells; at its point information is exact."""
    rng = random.Random(seed)
    k = rng.choice([2, 3, 3])
    n, query = rng.randint(1, 4 if k == 3 else 5), rng.choice(list(QUERIES))
    text, adds, value = QUERIES[query][0], QUERIES[query][1](k), QUERIES[query][2]
    width, free = rng.choice([0, 1, 2, 4]), rng.choice(["stationary", "any", "list"])
    zeros = 0 if free == "stationary" else rng.choice([0, 0.4, 0.6])
    gone = rng.choice([0, 0.5])
    rows = [ranges(rng, k, width, zeros, gone) for _ in range(k)]
    start = written(ranges(rng, k, width, zeros, gone)) if free == "list" else f'"{free}"'
    most = n * max(adds)
    values = {"parity": {0, 1}, "threshold": {0, 1}, "modular_sum": {0, 1, 2}}.get(query, set())
    mechanism, known = channel(sorted(values | {value(s) for s in range(most + 1)}), rng)
    told, i = [known[value(s)] for s in range(most + 1)], rng.randrange(n)
    model = forge.model(f"count={n}; alphabet={k}", text, mechanism, adversary(rows, start, i))
    with using(choose(rng.choice(["flint", "flint", "python"]))):
        chain = LetterChain(parse_model(model))
        sides = [(Fraction(str(lo)), Fraction(str(hi))) for lo, hi in chain.box]
        groups = [sides[j : j + k] for j in range(0, len(sides), k)]
        point = [
            x
            for law in groups
            for x in [sum(column) / 6 for column in zip(*(inside(rng, law) for _ in range(6)), strict=True)]
        ]
        exact = tuple(type(chain.box[0][0])(x.numerator, x.denominator) for x in point)

        def tells(laws):
            laws = [[float(x) for x in law] for law in laws]
            return information(n, i, laws[:k], laws[k] if len(laws) > k else stationary(laws[:k]), adds, told)

        here = tells([point[j : j + k] for j in range(0, len(point), k)])
        assert number(Letters(chain, i, exact).information()) == pytest.approx(here, abs=1e-11)
        best = max(tells([rng.choice([corner, inside])(rng, law) for law in groups]) for _ in range(draws(12, 60)))
        bases = [rng.randrange(k) for _ in range(k)]
        at_zero = any(x == 0 < hi for x, (_, hi) in zip(point, sides, strict=True))  # where others of the box are not
        bound = math.inf
        with contextlib.suppress(RefusedError) if at_zero else contextlib.nullcontext():
            bound = number(Expansion(chain, i, chain.box, exact, bases).bound())
    assert bound >= max(best, here) - 1e-9
    if all(lo == hi for lo, hi in sides):
        assert bound == pytest.approx(here, abs=1e-11)


HALF = [("1/2", "1/2")] * 2
ROWS = [[("3/5", "7/10"), ("3/10", "2/5")], [("1/10", "1/5"), ("4/5", "9/10")]]
POINT = ["13/20", "7/20", "3/20", "17/20"]
GEOMETRIC = 'kind="geometric"; epsilon=1'
NONE, LETTERS, EXPANSION = ["witness", None, None], ["letters"], ["expansion", POINT, [0, 0]]


@each(
    "lines, reason",
    ([["record", 0], EXPANSION, ["record", 1], EXPANSION], ""),
    ([["record", 1], ["halve", 1, "7/20"], EXPANSION, EXPANSION, ["record", 0], LETTERS], ""),
    ([["record", 0], EXPANSION], "record 1 is not covered"),
    ([["record", 1], EXPANSION], "record 0 is not covered"),
    ([["record", 0], EXPANSION, ["record", 0], EXPANSION], "comes twice"),
    ([["record", 2], EXPANSION], "the record must be"),
    ([["record", 0], ["halve", 4, "1/2"], EXPANSION, EXPANSION], "the parameter must be"),
    ([["record", 0], ["halve", 0, "1/2"], EXPANSION, EXPANSION], "not in the parameter's range"),
    ([["record", 0], ["halve", 0, "13/20"], LETTERS], "the file ends"),
    ([["record", 0], ["halve", 0, "31/50"], EXPANSION, EXPANSION], "not in the box"),
    ([["record", 0], ["halve", 1, "19/50"], EXPANSION, EXPANSION], "not in the box"),
    ([["record", 0], ["expansion", [*POINT[:3], "4/5"], [0, 0]]], "must have the sum 1"),
    ([["record", 0], ["expansion", POINT[:3], [0, 0]]], "the parameters must be a list of 4"),
    ([["record", 0], ["expansion", POINT, [0]]], "the bases must be a list of 2"),
    ([["record", 0], ["expansion", POINT, [0, 2]]], "a base must be"),
    ([["record", 0], ["slope", POINT]], "a half or leaf is expected"),
)
def test_lines(forge, lines, reason):
    model = forge.model("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary(ROWS))
    verdict = check(model, forge.certificate(model, "0", "0.7", NONE, *lines))
    assert (verdict.exit_code, reason in verdict.reason) == (1 if reason else 0, True), verdict.reason


@each("top", *[Fraction(1, 10**e) for e in (1, 2, 4, 8)])
def test_a_letter_that_vanishes_leaves_a_bound_that_vanishes(top, forge):
    """Of an absorbing chain the letter that is left, as worked out by hand; a claim of a little less is rejected."""
    q = math.exp(-1)
    told = np.array([[q ** abs(y - s) * (1 if y in (0, 3) else 1 - q) / (1 + q) for y in range(4)] for s in range(4)])
    rows, start = [[("1", "1"), ("0", "0")], HALF], [[1 - top, "1"], ["0", top]]
    model = forge.model("count=3; alphabet=2", 'kind="count"', GEOMETRIC, adversary(rows, written(start), 1))
    c, t = float(top) / 2, float(top)
    share, first, second = c / 2, ((1 - c) * told[0] + c / 2 * told[1]) / (1 - c / 2), (told[2] + told[3]) / 2
    whole = (1 - share) * first + share * second
    logs = np.log(first / whole), np.log(second / whole)
    here = (1 - share) * first @ logs[0] + share * second @ logs[1]
    step = (told[1] @ logs[0] + second @ logs[1]) / 2 - told[0] @ logs[0]  # from the one start to the other
    ends = [(1 - x) * told[0] + x / 2 * told[1] - (1 - x / 2) * first for x in (0, t)]
    common = np.sum(np.max(np.abs(ends), axis=0) ** 2 / first) / (1 - t / 2)
    rare = t / 2 * max(row @ np.log(row / second) for row in told[2:])
    bound = here + (t - c) * max(step, -step) + math.log1p(common) + rare
    best = max(information(3, 1, [[1, 0], [0.5, 0.5]], [1 - x, x], [0, 1], told) for x in np.linspace(0, t, 41))
    assert best <= bound <= 1.15 * best
    line = ["expansion", ["1", "0", "1/2", "1/2", str(1 - top / 2), str(top / 2)], [0, 1]]
    for away in (Fraction(1, 10**6), Fraction(-1, 10**6)):
        upper = str(Fraction(bound) * (1 + away))
        verdict = check(model, forge.certificate(model, "0", upper, NONE, ["record", 1], line))
        assert verdict.exit_code == int(away < 0), verdict.reason
        assert ("the expansion leaf's bound <= upper fails" in verdict.reason) == (away < 0)


def test_paths(forge):
    """Also of a start that is a range, and one that leaves letters out."""
    model = forge.model("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary(ROWS, record=1))
    proof = ["record", 1], LETTERS
    for lower, path, reason in (
        ("0.09", ["path", 1, POINT, None], ""),
        ("0.15", ["path", 1, POINT, None], "fails"),
        ("0.09", ["path", 0, POINT, None], "is not asked about"),
        ("0.09", ["path", 1, ["1/2", "1/2", *POINT[2:]], None], "not in the box"),
        ("0.09", ["path", 1, POINT, ["0", "0"]], "has no t"),
        ("0.09", NONE, "lower is positive"),
    ):
        verdict = check(model, forge.certificate(model, lower, "0.7", path, *proof))
        assert (verdict.exit_code, reason in verdict.reason) == (1 if reason else 0, True), verdict.reason
    still = [[("0", "1"), ("0", "1")], [("0", "1"), ("0", "1")]]
    model = forge.model("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary(still))
    stays = ["path", 0, ["1", "0", "0", "1"], None]
    assert "several stationary laws" in check(model, forge.certificate(model, "0.1", "0.7", stays)).reason
    sure = ["record", 0], ["expansion", ["1", "0", "1/2", "1/2"], [0, 0]]
    assert "a 0 where others" in check(model, forge.certificate(model, "0", "0.7", NONE, *sure)).reason


@each(
    "records, query, mechanism, asked, reason",
    ("count=2; alphabet=3", 'kind="count"', GEOMETRIC, adversary(ROWS), "a chain of letters needs"),
    ("count=2; alphabet=2", 'kind="sum"; weights=[0,2]', GEOMETRIC, adversary(ROWS), "a chain of letters needs"),
    ("count=2; alphabet=2", 'kind="identity"', GEOMETRIC, adversary(ROWS), "a chain of letters needs"),
    ("count=2; alphabet=2", 'kind="count"', 'kind="podium"', adversary(ROWS), "a chain of letters needs"),
    ("count=1001; alphabet=2", 'kind="count"', GEOMETRIC, adversary(ROWS), "a chain of letters needs"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary(ROWS, record=2), "record must be less than 2"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary(ROWS[:1]), "from 2 to 16 rows"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary([ROWS[0], ROWS[1][:1]]), "must be a list of 2"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary([ROWS[0], [("1/2", "1/3"), ("0", "1")]]), "0 <= lo"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary([ROWS[0], [("1/4", "1/3")] * 2]), "whose sum"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary([ROWS[0], [("2/3", "1")] * 2]), "whose sum"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary(ROWS, '"odd"'), "'stationary' or 'any'"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary(ROWS, "[1]"), "or a list of 2"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary([ROWS[0], [("0", "0"), ("1", "1")]]), "reachable"),
)
def test_models_that_are_not_read(forge, records, query, mechanism, asked, reason):
    verdict = check(forge.model(records, query, mechanism, asked), b"")
    assert (verdict.exit_code, reason in verdict.reason) == (2, True), verdict.reason


def test_letters_that_a_first_record_has(forge):
    model = forge.model(
        "count=2; alphabet=3", 'kind="count"', GEOMETRIC, adversary([[("0", "1")] * 3] * 3, '[0,"1/2",["1/2",1]]')
    )
    for lines, upper, reason in (
        ([["record", 0], LETTERS, ["record", 1], LETTERS], "1.0987", ""),
        ([["record", 0], LETTERS, ["record", 1], LETTERS], "0.6932", "fails"),
        ([["record", 0], LETTERS], "0.6932", "record 1 is not covered"),
        ([["record", 0], LETTERS], "0.6931", "fails"),
    ):
        verdict = check(model, forge.certificate(model, "0", upper, NONE, *lines))
        assert (verdict.exit_code, reason in verdict.reason) == (1 if reason else 0, True), verdict.reason


def test_normal_form(forge):
    asked = 'kind="finite_chain"; transitions=[["3/5","2/5"],[["1/10","1/5"],["4/5","9/10"]]]'
    model = forge.model("count=2; alphabet=2", 'kind="count"', GEOMETRIC, asked)
    assert parse_model(model).normal["adversary"] == {
        "kind": "finite_chain",
        "record": None,
        "start": "stationary",
        "transitions": [[["3/5", "3/5"], ["2/5", "2/5"]], [["1/10", "1/5"], ["4/5", "9/10"]]],
    }


def test_boxes_are_tightened(forge):
    """A half is cut down to the numbers that laws have: of two letters, to those that 1 less the other's has."""
    model = forge.model(
        "count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary([[("0", "7/10"), ("0", "2/5")], ROWS[1]])
    )
    chain = LetterChain(parse_model(model))
    assert [str(x) for side in chain.box[:2] for x in side] == ["3/5", "7/10", "3/10", "2/5"]
    point = ["63/100", "37/100", *POINT[2:]]
    tree = [["record", 0], ["halve", 0, "13/20"], ["expansion", point, [0, 0]], EXPANSION, ["record", 1], LETTERS]
    verdict = check(model, forge.certificate(model, "0", "0.7", NONE, *tree))
    assert verdict.proved, verdict.reason
    tree[2] = ["expansion", ["66/100", "34/100", *POINT[2:]], [0, 0]]
    assert "not in the box" in check(model, forge.certificate(model, "0", "0.7", NONE, *tree)).reason
