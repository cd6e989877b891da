"""Chains by definition: every dataset listed, and what is proved held against many chains of the box."""

import contextlib
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.core.arithmetic import choose, using
from dalenius_check.core.certificate import Lines
from dalenius_check.core.model import parse_model
from dalenius_check.core.numbers import RefusedError
from dalenius_check.lemmas.chains import Chains
from dalenius_check.lemmas.chains.chain import Chain, Slopes
from dalenius_check.lemmas.letter_chains.bounds import Expansion
from dalenius_check.lemmas.letter_chains.letters import LetterChain, Letters
from definitions import information, joint_of_chain

QUERIES = {
    "count": ('kind="count"; letters=[1]', lambda k: [int(b == 1) for b in range(k)], lambda s: s),
    "sum": ('kind="sum"', lambda k: list(range(k)), lambda s: s),
    "parity": ('kind="parity"', lambda k: list(range(k)), lambda s: s % 2),
    "modular_sum": ('kind="modular_sum"; modulus=3', lambda k: list(range(k)), lambda s: s % 3),
    "threshold": ('kind="threshold"; at=2', lambda k: list(range(k)), lambda s: int(s >= 2)),
}
BOX = [("1/5", "2/5"), ("1/5", "3/10")]
WIDE = [("1/100", "1/10"), ("1/100", "1/10")]
ROWS = [[("3/5", "7/10"), ("3/10", "2/5")], [("1/10", "1/5"), ("4/5", "9/10")]]
POINT = ["13/20", "7/20", "3/20", "17/20"]
TWO, COUNT, GEOMETRIC = "count=2; alphabet=2", 'kind="count"', 'kind="geometric"; epsilon=1'
NONE, LETTERS, EXPANSION = ["witness", None, None], ["letters"], ["expansion", POINT, [0, 0]]


def written(law):
    return "[" + ",".join(f'["{lo}","{hi}"]' for lo, hi in law) + "]"


def bits(box, start="stationary", record=None):
    """An adversary who knows a Markov chain of bits."""
    sides = [f'["{a}","{b}"]' for a, b in box]
    named = "" if record is None else f"; record={record}"
    return f'kind="markov_chain"; to_one={sides[0]}; to_zero={sides[1]}; start="{start}"{named}'


def letters(rows, start='"stationary"', record=None):
    """An adversary who knows a chain of several letters."""
    named = "" if record is None else f"; record={record}"
    return f'kind="finite_chain"; transitions=[{",".join(map(written, rows))}]; start={start}{named}'


def channel(query, most, rng):
    """A mechanism, with its rows by the total."""
    value = QUERIES[query][2]
    values = {"parity": {0, 1}, "threshold": {0, 1}, "modular_sum": {0, 1, 2}}.get(query, set())
    values = sorted(values | {value(s) for s in range(most + 1)})
    if rng.random() < 0.5:
        a, ends = math.exp(-0.7), (values[0], values[-1])
        inside = [1 if y in ends else 1 - a for y in values]
        text = 'kind="geometric"; epsilon="0.7"'
        rows = {v: [a ** abs(y - v) * c / (1 + a) for y, c in zip(values, inside, strict=True)] for v in values}
    else:
        weights = [[rng.randint(0, 3), rng.randint(0, 3), rng.randint(0, 1)] for _ in values]
        weights = [row if sum(row) else [1, 1, 1] for row in weights]
        matrix = ",".join("[" + ",".join(f'"{w}/{sum(row)}"' for w in row) + "]" for row in weights)
        text = f'kind="matrix"; rows=[{matrix}]'
        rows = {v: [w / sum(row) for w in row] for v, row in zip(values, weights, strict=True)}
    return text, [rows[value(s)] for s in range(most + 1)]


def told(n, i, rows, start, adds, channel):
    """I(X_i; Y) by listing all datasets; `channel` has a row a total."""
    joint = joint_of_chain(start, rows, n, i, lambda x: channel[sum(adds[a] for a in x)])
    return float(information(joint))


def told_of_bits(n, i, point, channel):
    """The same of a chain of bits: (alpha, beta), and nu where the start is not stationary."""
    alpha, beta, nu = point if len(point) == 3 else (*point, point[0] / (point[0] + point[1]))
    return told(n, i, [[1 - alpha, alpha], [beta, 1 - beta]], [1 - nu, nu], [0, 1], channel)


def assert_lines(forge, model, lines, reason, upper="0.7"):
    """Proved, or rejected with this reason."""
    verdict = check(model, forge.certificate(model, "0", upper, NONE, *lines))
    assert (verdict.exit_code, reason in verdict.reason) == (1 if reason else 0, True), verdict.reason


CHAIN, WEEK = bits(BOX), letters(ROWS)


def drawn(rng):
    n, query = rng.randint(1, 5), rng.choice(list(QUERIES))
    low = [Fraction(rng.randint(1, 12), 20) for _ in range(2)]
    box = [(x, x + Fraction(rng.randint(0, 3), 20)) for x in low]
    return n, query, box, rng.choice(["stationary", "any"]), *channel(query, n, rng)


@each("seed", *range(draws(25, 1500)))
def test_information_and_its_derivatives(seed, forge):
    """At a point, by listing; and over a box the enclosures hold the differences of every pair of chains in it."""
    rng = random.Random(seed)
    n, query, box, start, mechanism, rows = drawn(rng)
    model = forge.model(f"count={n}; alphabet=2", QUERIES[query][0], mechanism, bits(box, start))
    chain, i = Chain(parse_model(model)), rng.randrange(n)
    walks = Chains(Lines(b"", chain.allowance), chain)
    begun = rng.choice([(Fraction(1, 5), Fraction(3, 10)), (Fraction(0),) * 2, (Fraction(1),) * 2])
    inside = [*box, *([] if start == "stationary" else [begun])]

    def exact(value):
        return type(chain.box[0][0])(value.numerator, value.denominator)

    for _ in range(3):
        point = tuple(Fraction(rng.randint(0, 4), 4) * (hi - lo) + lo for lo, hi in inside)
        wanted = told_of_bits(n, i, tuple(map(float, point)), rows)
        assert float(walks.at(i, tuple(map(exact, point))).mid()) == pytest.approx(wanted, abs=1e-12)
        lower = f"{max(wanted - 1e-10, 0):.14f}"
        path = ["path", i, list(map(str, point)), None]
        proof = [line for j in range(n) for line in (["record", j], ["letters"])]
        assert check(model, forge.certificate(model, lower, "0.7", path, *proof)).exit_code == 0
        assert check(model, forge.certificate(model, f"{wanted + 1e-10:.14f}", "0.7", path, *proof)).exit_code == 1
    small = [(x, x + (hi - lo) / 200) for (lo, hi), x in zip(inside, point, strict=True)]
    small = [(min(x, hi), min(z, hi)) for (x, z), (_, hi) in zip(small, inside, strict=True)]
    slopes = Slopes(chain, i).over([tuple(map(exact, side)) for side in small])
    for j, (lo, hi) in enumerate(small):
        if lo == hi:
            continue
        ends = []
        for x in (lo, hi):
            place = [float(a) for a, _ in small]
            place[j] = float(x)
            ends.append(told_of_bits(n, i, place, rows))
        slope = (ends[1] - ends[0]) / float(hi - lo)
        assert float(slopes[j].low.lower()) - 1e-9 <= slope <= float(slopes[j].high.upper()) + 1e-9


@pytest.mark.campaign(minutes=2)
@pytest.mark.parametrize("seed", range(draws(2, 100, 500)))
def test_leaves_bound_every_chain(seed, forge):
    """The least bound that a slope, a window or letters prove is no less than what any chain of the box tells."""
    rng = random.Random(seed)
    n, query, box, start, mechanism, rows = drawn(rng)
    n = max(n, 3)
    box = [(lo / 4, hi / 4) for lo, hi in box]
    mechanism, rows = channel(query, n, rng)
    if query not in ("count", "sum"):
        mechanism, k = 'kind="symmetric"; flip="1/5"', 3 if query == "modular_sum" else 2
        keep = np.full((k, k), 0.2 / (k - 1)) + np.eye(k) * (0.8 - 0.2 / (k - 1))
        rows = [keep[QUERIES[query][2](s)] for s in range(n + 1)]
    i = rng.randrange(n)
    model = forge.model(f"count={n}; alphabet=2", QUERIES[query][0], mechanism, bits(box, start, i))
    best = 0.0
    for _ in range(40):
        point = [rng.choice([float(lo), float(hi), rng.uniform(float(lo), float(hi))]) for lo, hi in box]
        if start == "any":
            point.append(rng.random())
        best = max(best, told_of_bits(n, i, point, rows))
    middle = [str((lo + hi) / 2) for lo, hi in box] + (["1/2"] if start == "any" else [])
    leaves = [["letters"], ["slope", middle], *(["window", m] for m in range(min(i, n - 1 - i) + 1))]
    leaves += [["expansion", middle, bases] for bases in ([0, 0], [0, 1], [1, 0])]
    leaves += [["after", t, 0] for t in range(1, n)] + [["blocks", times] for times in (1, 2)]
    for leaf in leaves:
        low, high, upper = 0.0, 80.0, 40.0
        while high - low > 1e-7 and low < 40:  # where 40 is not proved there is no such leaf here
            claim = forge.certificate(model, "0", f"{upper:.9f}", NONE, ["record", i], leaf)
            low, high = (low, upper) if check(model, claim).proved else (upper, high)
            upper = (low + high) / 2
        assert high >= best - 1e-6, leaf


@each("seed", *range(draws(4, 120)))
def test_windows_of_chains_that_are_not_short(seed, forge, forgeries):
    """A window is what the format says of it, and no less than what the number of ones tells, exactly."""
    truth, rng = forgeries.forgery_chains.own, random.Random(seed)
    while True:
        n, mu = rng.choice([12, 30, 60]), Fraction(rng.choice([4, 10, 16, 20]), 20)
        alpha = mu * Fraction(rng.choice([2, 5, 5, 7]), 10)
        i, m = rng.randint(n // 3, n // 2), rng.randint(0, n // 5)
        wanted = truth.window([(alpha, alpha), (mu - alpha, mu - alpha)], n, i, m)
        if wanted is not None:
            break
    box = [(alpha, alpha), (mu - alpha, mu - alpha)]
    model = forge.model(f"count={n}; alphabet=2", COUNT, 'kind="geometric"; epsilon=9', bits(box, record=i))
    known = truth.information(forgeries.forgery_subjects.Question.of(model), i, (alpha, mu - alpha))
    assert known <= wanted
    for step, proved in ((Fraction(1, 10**25), True), (Fraction(-1, 10**25), False)):
        upper = forgeries.claimed(Fraction(wanted) + step, "ceiling")
        claim = forge.certificate(model, "0", upper, NONE, ["record", i], ["window", m])
        assert check(model, claim).proved is proved


@each("seed", *range(draws(4, 120)))
def test_ends_of_chains_that_are_not_short(seed, forge, forgeries):
    """Records near the ends, and behind a start of any kind: what is proved is no less than what there is, and its formula's."""
    truth, rng = forgeries.forgery_chains.own, random.Random(seed)
    while True:
        n, mu = rng.choice([30, 60]), Fraction(rng.choice([8, 14, 20]), 20)
        alpha = mu * Fraction(rng.choice([3, 5, 7]), 10)
        sides, free = [(alpha, alpha), (mu - alpha, mu - alpha)], rng.random() < 0.5
        i, m, t = rng.randint(0, 12), rng.randint(0, n // 12), rng.randint(1, 8)
        line = ["after", t, m] if free else ["blocks", rng.randint(1, n // 3)]
        wanted = truth.after(sides, n, i, t, m) if free else truth.blocks(sides, n, i, line[1])
        if wanted is not None and wanted < 0.69:
            break
    asked = bits(sides, "any" if free else "stationary", record=i)
    model = forge.model(f"count={n}; alphabet=2", COUNT, 'kind="geometric"; epsilon=9', asked)
    question, starts = (
        forgeries.forgery_subjects.Question.of(model),
        [[Fraction(k, 4)] for k in range(5)] if free else [[]],
    )
    assert max(truth.information(question, i, (alpha, mu - alpha, *nu)) for nu in starts) <= wanted
    for step, proved in ((Fraction(1, 10**25), True), (Fraction(-1, 10**25), False)):
        upper = forgeries.claimed(Fraction(wanted) + step, "ceiling")
        claim = forge.certificate(model, "0", upper, NONE, ["record", i], line)
        assert check(model, claim).proved is proved


def test_what_ends_of_chains_need(forge):
    still, free = bits(BOX, record=1), bits(BOX, "any", record=3)
    for asked, record, line, reason in (
        (still, 1, ["blocks", 5], "too many blocks"),
        (still, 1, ["blocks", 0], "the number of blocks must be"),
        (still, 1, ["after", 1, 0], "needs any start"),
        (free, 3, ["blocks", 1], "blocks need a stationary start"),
        (free, 3, ["after", 0, 0], "the records before must be"),
        (free, 3, ["after", 4, 0], "not in the window"),
        (free, 3, ["after", 3, 1], "at most a sixth"),
        (bits(BOX, "any", record=1), 1, ["after", 1, 0], "lambda^i <= 1/2"),
        (bits([("3/5", "3/5")] * 2, record=1), 1, ["blocks", 1], "at most 1"),
    ):
        model = forge.model("count=8; alphabet=2", COUNT, GEOMETRIC, asked)
        assert reason in check(model, forge.certificate(model, "0", "0.7", NONE, ["record", record], line)).reason
    model = forge.model("count=8; alphabet=2", COUNT, GEOMETRIC, free)
    for nu, reason in (("1/2", ""), ("2/5", "with the stationary law")):
        path = ["path", 3, ["1/5", "1/5", nu], ["-1/10", "1/10"]]
        verdict = check(model, forge.certificate(model, "1e-4", "0.7", path, ["record", 3], ["letters"]))
        assert (verdict.proved, reason in verdict.reason) == (not reason, True), verdict.reason


def test_a_long_chain(forge):
    """A million records, of which nothing is written out: the tilted path and the window of the middle one."""
    records, noise = "count=999999; alphabet=2", 'kind="geometric"; epsilon="1/10"'
    model = forge.model(records, COUNT, noise, bits(WIDE, record=499999))
    path = ["path", 499999, ["1/100", "1/100"], ["-1/500000", "1/500000"]]
    proof = [["record", 499999], ["window", 5000]]
    verdict = check(model, forge.certificate(model, "4e-5", "0.001", path, *proof))
    assert verdict.proved, verdict.reason
    assert not check(model, forge.certificate(model, "1e-3", "0.001", path, *proof)).proved
    for line, reason in (
        (["path", 499999, ["1/100", "1/100"], None], "nothing is written out"),
        (["path", 499999, ["1/100", "1/100"], ["1/10", "0"]], "less than epsilon"),
        (["path", 1, ["1/100", "1/100"], ["0", "0"]], "is not asked about"),
        (["path", 499999, ["1/5", "1/100"], ["0", "0"]], "not in the box"),
    ):
        assert reason in check(model, forge.certificate(model, "1e-6", "0.7", line, *proof)).reason


@each("seed", *range(draws(6, 200)))
def test_tilted_paths_tell_no_more_than_there_is(seed, forge):
    rng = random.Random(seed)
    n = rng.randint(1, 6)
    alpha, beta = (Fraction(rng.randint(1, 9), 10) for _ in range(2))
    a = math.exp(-0.7)
    rows = [[a ** abs(y - s) * (1 if y in (0, n) else 1 - a) / (1 + a) for y in range(n + 1)] for s in range(n + 1)]
    i = rng.randrange(n)
    model = forge.model(
        f"count={n}; alphabet=2",
        COUNT,
        'kind="discrete_laplace"; epsilon="0.7"',
        bits([(alpha, alpha), (beta, beta)]),
    )
    known = told_of_bits(n, i, (float(alpha), float(beta)), rows)
    turns = [str(Fraction(rng.randint(-60, 60), 100)) for _ in range(2)]
    proof = [line for j in range(n) for line in (["record", j], ["letters"])]
    low, high = 0.0, 1.0
    for _ in range(30):
        lower = (low + high) / 2
        path = ["path", i, [str(alpha), str(beta)], turns]
        proved = check(model, forge.certificate(model, f"{lower:.9f}", "1", path, *proof)).proved
        low, high = (lower, high) if proved else (low, lower)
    assert low <= known + 1e-8
    pi = float(alpha / (alpha + beta))
    steps = [[1 - float(alpha), float(alpha)], [float(beta), 1 - float(beta)]]
    laws = joint_of_chain([1 - pi, pi], steps, n, i, lambda x: np.eye(n + 1)[sum(x)])
    total = 0.0
    for x, t in enumerate(map(float, map(Fraction, turns))):
        mean = float(laws[x] @ np.arange(n + 1)) / laws[x].sum()
        noise = (1 - a) ** 2 / ((1 - a * math.exp(t)) * (1 - a * math.exp(-t)))
        phi = float(laws.sum(0) @ np.exp(t * np.arange(n + 1))) * noise
        total += laws[x].sum() * (t * mean - math.log(phi))
    assert low == pytest.approx(max(total, 0.0), abs=1e-8)


def test_what_a_start_of_any_kind_changes(forge):
    """No mirror images, no windows, no tilted paths, and letters say log 2 but for the first record."""
    model = forge.model(TWO, COUNT, GEOMETRIC, bits(BOX, "any"))
    assert_lines(forge, model, [["record", 0], LETTERS], "record 1 is not covered")
    for lines, reason in (
        ([["record", 0], ["window", 0]], "needs a stationary start"),
        ([["record", 1], ["halve", 2, "1/10"], LETTERS, LETTERS], "fails"),
        ([["record", 0], ["halve", 2, "1/10"], LETTERS, ["slope", ["1/5", "1/5", "1/10"]]], "open"),
    ):
        assert reason in check(model, forge.certificate(model, "0", "0.69", NONE, *lines)).reason
    path = ["path", 0, ["1/5", "1/5", "2/5"], ["0", "0"]]
    assert "needs a start with the stationary law" in check(model, forge.certificate(model, "0.1", "0.7", path)).reason


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


@pytest.mark.campaign(minutes=2)
@each("seed", *range(draws(20, 400, 2000)))
def test_expansions_bound_every_chain(seed, forge):
    """What a expansion proves is no less than what any chain of the box tells; at its point information is exact."""
    rng = random.Random(seed)
    k = rng.choice([2, 3, 3])
    n, query = rng.randint(1, 4 if k == 3 else 5), rng.choice(list(QUERIES))
    adds = QUERIES[query][1](k)
    width, free = rng.choice([0, 1, 2, 4]), rng.choice(["stationary", "any", "list"])
    zeros = 0 if free == "stationary" else rng.choice([0, 0.4, 0.6])
    gone = rng.choice([0, 0.5])
    rows = [ranges(rng, k, width, zeros, gone) for _ in range(k)]
    start = written(ranges(rng, k, width, zeros, gone)) if free == "list" else f'"{free}"'
    (mechanism, known), i = channel(query, n * max(adds), rng), rng.randrange(n)
    model = forge.model(f"count={n}; alphabet={k}", QUERIES[query][0], mechanism, letters(rows, start, i))
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
            return told(n, i, laws[:k], laws[k] if len(laws) > k else stationary(laws[:k]), adds, known)

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


@each("top", *[Fraction(1, 10**e) for e in (1, 2, 4, 8)])
def test_a_letter_that_vanishes_leaves_a_bound_that_vanishes(top, forge):
    """Of an absorbing chain the letter that is left, as worked out by hand; a claim of a little less is rejected."""
    q = math.exp(-1)
    noise = np.array([[q ** abs(y - s) * (1 if y in (0, 3) else 1 - q) / (1 + q) for y in range(4)] for s in range(4)])
    rows, start = [[("1", "1"), ("0", "0")], [("1/2", "1/2")] * 2], [[1 - top, "1"], ["0", top]]
    model = forge.model("count=3; alphabet=2", COUNT, GEOMETRIC, letters(rows, written(start), 1))
    c, t = float(top) / 2, float(top)
    share, first, second = c / 2, ((1 - c) * noise[0] + c / 2 * noise[1]) / (1 - c / 2), (noise[2] + noise[3]) / 2
    whole = (1 - share) * first + share * second
    logs = np.log(first / whole), np.log(second / whole)
    here = (1 - share) * first @ logs[0] + share * second @ logs[1]
    step = (noise[1] @ logs[0] + second @ logs[1]) / 2 - noise[0] @ logs[0]  # from the one start to the other
    ends = [(1 - x) * noise[0] + x / 2 * noise[1] - (1 - x / 2) * first for x in (0, t)]
    common = np.sum(np.max(np.abs(ends), axis=0) ** 2 / first) / (1 - t / 2)
    rare = t / 2 * max(row @ np.log(row / second) for row in noise[2:])
    bound = here + (t - c) * max(step, -step) + math.log1p(common) + rare
    best = max(told(3, 1, [[1, 0], [0.5, 0.5]], [1 - x, x], [0, 1], noise) for x in np.linspace(0, t, 41))
    assert best <= bound <= 1.15 * best
    line = ["expansion", ["1", "0", "1/2", "1/2", str(1 - top / 2), str(top / 2)], [0, 1]]
    for away in (Fraction(1, 10**6), Fraction(-1, 10**6)):
        upper = str(Fraction(bound) * (1 + away))
        verdict = check(model, forge.certificate(model, "0", upper, NONE, ["record", 1], line))
        assert verdict.exit_code == int(away < 0), verdict.reason
        assert ("the expansion leaf's bound <= upper fails" in verdict.reason) == (away < 0)


def test_paths(forge):
    """Also of a start that is a range, and one that leaves letters out."""
    model = forge.model(TWO, COUNT, GEOMETRIC, letters(ROWS, record=1))
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
    model = forge.model(TWO, COUNT, GEOMETRIC, letters(still))
    stays = ["path", 0, ["1", "0", "0", "1"], None]
    assert "several stationary laws" in check(model, forge.certificate(model, "0.1", "0.7", stays)).reason
    sure = ["record", 0], ["expansion", ["1", "0", "1/2", "1/2"], [0, 0]]
    assert "a 0 where others" in check(model, forge.certificate(model, "0", "0.7", NONE, *sure)).reason


def test_letters_that_a_first_record_has(forge):
    model = forge.model("count=2; alphabet=3", COUNT, GEOMETRIC, letters([[("0", "1")] * 3] * 3, '[0,"1/2",["1/2",1]]'))
    for lines, upper, reason in (
        ([["record", 0], LETTERS, ["record", 1], LETTERS], "1.0987", ""),
        ([["record", 0], LETTERS, ["record", 1], LETTERS], "0.6932", "fails"),
        ([["record", 0], LETTERS], "0.6932", "record 1 is not covered"),
        ([["record", 0], LETTERS], "0.6931", "fails"),
    ):
        assert_lines(forge, model, lines, reason, upper)


def test_boxes_are_tightened(forge):
    """A half is cut down to the numbers that laws have: of two letters, to those that 1 less the other's has."""
    model = forge.model(TWO, COUNT, GEOMETRIC, letters([[("0", "7/10"), ("0", "2/5")], ROWS[1]]))
    chain = LetterChain(parse_model(model))
    assert [str(x) for side in chain.box[:2] for x in side] == ["3/5", "7/10", "3/10", "2/5"]
    point = ["63/100", "37/100", *POINT[2:]]
    tree = [["record", 0], ["halve", 0, "13/20"], ["expansion", point, [0, 0]], EXPANSION, ["record", 1], LETTERS]
    verdict = check(model, forge.certificate(model, "0", "0.7", NONE, *tree))
    assert verdict.proved, verdict.reason
    tree[2] = ["expansion", ["66/100", "34/100", *POINT[2:]], [0, 0]]
    assert "not in the box" in check(model, forge.certificate(model, "0", "0.7", NONE, *tree)).reason


@each(
    "asked, lines, reason",
    (CHAIN, [["record", 0], ["halve", 0, "1/2"], LETTERS, LETTERS], "not in the parameter's range"),
    (CHAIN, [["record", 0], ["halve", 2, "1/4"], LETTERS, LETTERS], "the parameter must be"),
    (CHAIN, [["record", 0], ["halve", 0, "1/4"], LETTERS], "the file ends"),
    (CHAIN, [["record", 0], ["slope", ["1/5"]]], "the parameters must be a list of 2"),
    (CHAIN, [["record", 0], ["slope", ["1/2", "1/4"]]], "not in the box"),
    (CHAIN, [["record", 0], ["halve", 0, "1/4"], ["slope", ["3/10", "1/4"]], LETTERS], "not in the box"),
    (CHAIN, [["record", 0], ["window", 1]], "not in the window"),
    (CHAIN, [["record", 0], ["window", -1]], "-1"),
    (CHAIN, [["record", 3], LETTERS], "the record must be"),
    (CHAIN, [["record", 0], LETTERS, ["record", 0], LETTERS], "comes twice"),
    (CHAIN, [["record", 0], LETTERS], "record 1 is not covered"),
    (CHAIN, [["record", 1], LETTERS], "record 0 is not covered"),
    (CHAIN, [["record", 0], ["joint", "0", "0", None, None]], "a half or leaf is expected"),
    (CHAIN, [["record", 0], LETTERS, ["record", 1], LETTERS], ""),
    (CHAIN, [["record", 2], LETTERS, ["record", 1], ["halve", 0, "1/5"], LETTERS, LETTERS], ""),
    (WEEK, [["record", 0], EXPANSION, ["record", 1], EXPANSION], ""),
    (WEEK, [["record", 1], ["halve", 1, "7/20"], EXPANSION, EXPANSION, ["record", 0], LETTERS], ""),
    (WEEK, [["record", 0], EXPANSION], "record 1 is not covered"),
    (WEEK, [["record", 1], EXPANSION], "record 0 is not covered"),
    (WEEK, [["record", 0], EXPANSION, ["record", 0], EXPANSION], "comes twice"),
    (WEEK, [["record", 2], EXPANSION], "the record must be"),
    (WEEK, [["record", 0], ["halve", 4, "1/2"], EXPANSION, EXPANSION], "the parameter must be"),
    (WEEK, [["record", 0], ["halve", 0, "1/2"], EXPANSION, EXPANSION], "not in the parameter's range"),
    (WEEK, [["record", 0], ["halve", 0, "13/20"], LETTERS], "the file ends"),
    (WEEK, [["record", 0], ["halve", 0, "31/50"], EXPANSION, EXPANSION], "not in the box"),
    (WEEK, [["record", 0], ["halve", 1, "19/50"], EXPANSION, EXPANSION], "not in the box"),
    (WEEK, [["record", 0], ["expansion", [*POINT[:3], "4/5"], [0, 0]]], "must have the sum 1"),
    (WEEK, [["record", 0], ["expansion", POINT[:3], [0, 0]]], "the parameters must be a list of 4"),
    (WEEK, [["record", 0], ["expansion", POINT, [0]]], "the bases must be a list of 2"),
    (WEEK, [["record", 0], ["expansion", POINT, [0, 2]]], "a base must be"),
    (WEEK, [["record", 0], ["slope", POINT]], "a half or leaf is expected"),
)
def test_lines(forge, asked, lines, reason):
    """Of three bits, of which records 0 and 2 are mirror images of each other, and of two letters."""
    model = forge.model(f"count={3 if asked == CHAIN else 2}; alphabet=2", COUNT, GEOMETRIC, asked)
    assert_lines(forge, model, lines, reason)


@each(
    "records, query, mechanism, asked, reason",
    ("count=2; alphabet=3", COUNT, GEOMETRIC, bits(BOX), "a Markov chain needs"),
    (TWO, 'kind="count"; letters=[0]', GEOMETRIC, bits(BOX), "a Markov chain needs"),
    (TWO, 'kind="sum"; weights=[0,2]', GEOMETRIC, bits(BOX), "a Markov chain needs"),
    (TWO, 'kind="identity"', GEOMETRIC, bits(BOX), "a Markov chain needs"),
    (TWO, COUNT, 'kind="podium"', bits(BOX), "a Markov chain needs"),
    (TWO, COUNT, 'kind="gaussian"; scale=1', bits(BOX), "gaussian and laplace are"),
    (TWO, 'kind="histogram"', GEOMETRIC, bits(BOX), "a histogram needs"),
    (TWO, COUNT, GEOMETRIC, bits(BOX, record=2), "record must be less than 2"),
    ("count=1001; alphabet=2", COUNT, GEOMETRIC, bits(BOX), "a Markov chain needs"),
    ("count=1001; alphabet=2", 'kind="parity"', 'kind="symmetric"; flip=0', bits(BOX, record=1), "a Markov chain"),
    (TWO, COUNT, GEOMETRIC, bits([("0", "1/2"), ("1/2", "1/2")]), "with 0 < a"),
    (TWO, COUNT, GEOMETRIC, bits([("1/2", "1/3"), ("1/2", "1/2")]), "with 0 < a"),
    (TWO, COUNT, GEOMETRIC, bits([("1/2", "1"), ("1/2", "1/2")]), "with 0 < a"),
    (TWO, COUNT, GEOMETRIC, bits(BOX, "odd"), "'stationary' or 'any'"),
    ("count=2; alphabet=3", COUNT, GEOMETRIC, letters(ROWS), "a chain of letters needs"),
    (TWO, 'kind="sum"; weights=[0,2]', GEOMETRIC, letters(ROWS), "a chain of letters needs"),
    (TWO, 'kind="identity"', GEOMETRIC, letters(ROWS), "a chain of letters needs"),
    (TWO, COUNT, 'kind="podium"', letters(ROWS), "a chain of letters needs"),
    ("count=1001; alphabet=2", COUNT, GEOMETRIC, letters(ROWS), "a chain of letters needs"),
    (TWO, COUNT, GEOMETRIC, letters(ROWS, record=2), "record must be less than 2"),
    (TWO, COUNT, GEOMETRIC, letters(ROWS[:1]), "from 2 to 16 rows"),
    (TWO, COUNT, GEOMETRIC, letters([ROWS[0], ROWS[1][:1]]), "must be a list of 2"),
    (TWO, COUNT, GEOMETRIC, letters([ROWS[0], [("1/2", "1/3"), ("0", "1")]]), "0 <= lo"),
    (TWO, COUNT, GEOMETRIC, letters([ROWS[0], [("1/4", "1/3")] * 2]), "whose sum"),
    (TWO, COUNT, GEOMETRIC, letters([ROWS[0], [("2/3", "1")] * 2]), "whose sum"),
    (TWO, COUNT, GEOMETRIC, letters(ROWS, '"odd"'), "'stationary' or 'any'"),
    (TWO, COUNT, GEOMETRIC, letters(ROWS, "[1]"), "or a list of 2"),
    (TWO, COUNT, GEOMETRIC, letters([ROWS[0], [("0", "0"), ("1", "1")]]), "reachable"),
)
def test_models_that_are_not_read(forge, records, query, mechanism, asked, reason):
    verdict = check(forge.model(records, query, mechanism, asked), b"")
    assert (verdict.exit_code, reason in verdict.reason) == (2, True), verdict.reason


def test_normal_form(forge):
    common = {"record": None, "start": "stationary"}
    long = 'kind="finite_chain"; transitions=[["3/5","2/5"],[["1/10","1/5"],["4/5","9/10"]]]'
    rows = [[["3/5", "3/5"], ["2/5", "2/5"]], [["1/10", "1/5"], ["4/5", "9/10"]]]
    for asked, wanted in (
        (CHAIN, {"kind": "markov_chain", "to_one": ["1/5", "2/5"], "to_zero": ["1/5", "3/10"], **common}),
        (long, {"kind": "finite_chain", "transitions": rows, **common}),
    ):
        assert parse_model(forge.model(TWO, COUNT, GEOMETRIC, asked)).normal["adversary"] == wanted
