"""Markov chains by definition: every dataset listed, and what is proved held against many chains of the box."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.chains import Chain, Leakage
from dalenius_check.model import parse_model

QUERIES = {
    "count": ('kind="count"', lambda s: s),
    "sum": ('kind="sum"', lambda s: s),
    "parity": ('kind="parity"', lambda s: s % 2),
    "modular_sum": ('kind="modular_sum"; modulus=3', lambda s: s % 3),
    "threshold": ('kind="threshold"; at=2', lambda s: int(s >= 2)),
}


def adversary(box, start="stationary", record=None):
    sides = [f'["{a}","{b}"]' for a, b in box]
    named = "" if record is None else f"; record={record}"
    return f'kind="markov_chain"; to_one={sides[0]}; to_zero={sides[1]}; start="{start}"{named}'


def channel(query, n, rng):
    """A mechanism with its rows by the number of ones."""
    values = sorted(
        {QUERIES[query][1](s) for s in range(n + 1)} | ({0, 1} if query in ("parity", "threshold") else set())
    )
    values = [0, 1, 2] if query == "modular_sum" else values
    if rng.random() < 0.5:
        a = math.exp(-0.7)
        inside = [1 if y in (values[0], values[-1]) else 1 - a for y in values]
        rows = [[a ** abs(y - v) * c / (1 + a) for y, c in zip(values, inside, strict=True)] for v in values]
        return 'kind="geometric"; epsilon="0.7"', {s: rows[values.index(QUERIES[query][1](s))] for s in range(n + 1)}
    weights = [[rng.randint(0, 3), rng.randint(0, 3), rng.randint(1, 3)] for _ in values]
    rows = [[w / sum(row) for w in row] for row in weights]
    text = ",".join("[" + ",".join(f'"{w}/{sum(row)}"' for w in row) + "]" for row in weights)
    return f'kind="matrix"; rows=[{text}]', {s: rows[values.index(QUERIES[query][1](s))] for s in range(n + 1)}


def information(n, i, point, rows):
    """I(X_i;Y) by listing all datasets."""
    alpha, beta, nu = point
    step = ((1 - alpha, alpha), (beta, 1 - beta))
    joint = np.zeros((2, len(rows[0])))
    for x in itertools.product((0, 1), repeat=n):
        mass = (1 - nu, nu)[x[0]] * math.prod(step[a][b] for a, b in itertools.pairwise(x))
        joint[x[i]] += mass * np.array(rows[sum(x)])
    outer = joint.sum(1, keepdims=True) * joint.sum(0)
    return float(np.sum(joint[joint > 0] * np.log((joint / np.where(outer > 0, outer, 1))[joint > 0])))


def drawn(rng):
    n, query = rng.randint(1, 5), rng.choice(list(QUERIES))
    low = [Fraction(rng.randint(1, 12), 20) for _ in range(2)]
    box = [(x, x + Fraction(rng.randint(0, 3), 20)) for x in low]
    start = rng.choice(["stationary", "any"])
    mechanism, rows = channel(query, n, rng)
    return n, query, box, start, mechanism, rows


def full(point, start):
    """With nu."""
    return (*point, point[0] / (point[0] + point[1])) if start == "stationary" else point


@each("seed", *range(draws(25, 1500)))
def test_information_and_its_derivatives(seed, forge):
    """At a point, by listing; and over a box the enclosures hold the differences of every pair of chains in it."""
    rng = random.Random(seed)
    n, query, box, start, mechanism, rows = drawn(rng)
    model = forge.model(f"count={n}; alphabet=2", QUERIES[query][0], mechanism, adversary(box, start))
    chain, i = Chain(parse_model(model)), rng.randrange(n)
    leakage = Leakage(chain, i)
    begun = rng.choice([(Fraction(1, 5), Fraction(3, 10)), (Fraction(0),) * 2, (Fraction(1),) * 2])
    inside = [*box, *([] if start == "stationary" else [begun])]

    def exact(value):
        return type(chain.box[0][0])(value.numerator, value.denominator)

    for _ in range(3):
        point = tuple(Fraction(rng.randint(0, 4), 4) * (hi - lo) + lo for lo, hi in inside)
        wanted = information(n, i, full(tuple(map(float, point)), start), rows)
        assert float(leakage.at(tuple(map(exact, point))).mid()) == pytest.approx(wanted, abs=1e-12)
        lower, status = f"{max(wanted - 1e-10, 0):.14f}", 0
        path = ["path", i, list(map(str, point)), None]
        proof = [line for j in range(n) for line in (["record", j], ["letters"])]
        assert check(model, forge.certificate(model, lower, "0.7", path, *proof)).exit_code == status
        assert check(model, forge.certificate(model, f"{wanted + 1e-10:.14f}", "0.7", path, *proof)).exit_code == 1
    small = [(x, x + (hi - lo) / 200) for (lo, hi), x in zip(inside, point, strict=True)]
    small = [(min(x, hi), min(z, hi)) for (x, z), (_, hi) in zip(small, inside, strict=True)]
    _, *slopes = leakage.over([tuple(map(exact, side)) for side in small])
    for j, (lo, hi) in enumerate(small):
        if lo == hi:
            continue
        ends = []
        for x in (lo, hi):
            place = [float(a) for a, _ in small]
            place[j] = float(x)
            ends.append(information(n, i, full(tuple(place), start), rows))
        slope = (ends[1] - ends[0]) / float(hi - lo)
        assert float(slopes[j].low.lower()) - 1e-9 <= slope <= float(slopes[j].high.upper()) + 1e-9


@pytest.mark.campaign(minutes=2)
@pytest.mark.parametrize("seed", range(draws(6, 100, 500)))
def test_leaves_bound_every_chain(seed, forge):
    """The least bound that a slope, a window or letters prove is no less than what any chain of the box tells."""
    rng = random.Random(seed)
    n, query, box, start, mechanism, rows = drawn(rng)
    n = max(n, 3)
    box = [(lo / 4, hi / 4) for lo, hi in box]
    if query in ("count", "sum"):
        mechanism, rows = channel(query, n, rng)
    else:
        mechanism, rows = 'kind="symmetric"; flip="1/5"', None
    if rows is None:
        k = 3 if query == "modular_sum" else 2
        keep = np.full((k, k), 0.2 / (k - 1)) + np.eye(k) * (0.8 - 0.2 / (k - 1))
        rows = {s: keep[QUERIES[query][1](s)] for s in range(n + 1)}
    i = rng.randrange(n)
    model = forge.model(f"count={n}; alphabet=2", QUERIES[query][0], mechanism, adversary(box, start, i))
    best = 0.0
    for _ in range(40):
        point = [rng.choice([float(lo), float(hi), rng.uniform(float(lo), float(hi))]) for lo, hi in box]
        if start == "any":
            point.append(rng.random())
        best = max(best, information(n, i, full(tuple(point), start), rows))
    middle = [str((lo + hi) / 2) for lo, hi in box] + (["1/2"] if start == "any" else [])
    leaves = [["letters"], ["slope", middle], *(["window", m] for m in range(min(i, n - 1 - i) + 1))]
    leaves += [["expansion", middle, bases] for bases in ([0, 0], [0, 1], [1, 0])]
    leaves += [["after", t, 0] for t in range(1, n)] + [["blocks", times] for times in (1, 2)]
    for leaf in leaves:
        low, high, upper = 0.0, 80.0, 40.0
        while high - low > 1e-7 and low < 40:  # where 40 is not proved there is no such leaf here
            claim = forge.certificate(model, "0", f"{upper:.9f}", ["witness", None, None], ["record", i], leaf)
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
    model = forge.model(
        f"count={n}; alphabet=2", 'kind="count"', 'kind="geometric"; epsilon=9', adversary(box, record=i)
    )
    told = truth.information(forgeries.forgery_subjects.Question.of(model), i, (alpha, mu - alpha))
    assert told <= wanted
    for step, proved in ((Fraction(1, 10**25), True), (Fraction(-1, 10**25), False)):
        upper = forgeries.claimed(Fraction(wanted) + step, "ceiling")
        lines = ["witness", None, None], ["record", i], ["window", m]
        assert check(model, forge.certificate(model, "0", upper, *lines)).proved is proved


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
    asked = adversary(sides, "any" if free else "stationary", record=i)
    model = forge.model(f"count={n}; alphabet=2", 'kind="count"', 'kind="geometric"; epsilon=9', asked)
    question, starts = (
        forgeries.forgery_subjects.Question.of(model),
        [[Fraction(k, 4)] for k in range(5)] if free else [[]],
    )
    assert max(truth.information(question, i, (alpha, mu - alpha, *nu)) for nu in starts) <= wanted
    for step, proved in ((Fraction(1, 10**25), True), (Fraction(-1, 10**25), False)):
        upper = forgeries.claimed(Fraction(wanted) + step, "ceiling")
        lines = ["witness", None, None], ["record", i], line
        assert check(model, forge.certificate(model, "0", upper, *lines)).proved is proved


def test_what_ends_of_chains_need(forge):
    none, still, free = ["witness", None, None], adversary(BOX, record=1), adversary(BOX, "any", record=3)
    for asked, record, line, reason in (
        (still, 1, ["blocks", 5], "too many blocks"),
        (still, 1, ["blocks", 0], "the number of blocks must be"),
        (still, 1, ["after", 1, 0], "needs any start"),
        (free, 3, ["blocks", 1], "blocks need a stationary start"),
        (free, 3, ["after", 0, 0], "the records before must be"),
        (free, 3, ["after", 4, 0], "not in the window"),
        (free, 3, ["after", 3, 1], "at most a sixth"),
        (adversary(BOX, "any", record=1), 1, ["after", 1, 0], "lambda^i <= 1/2"),
        (adversary([("3/5", "3/5")] * 2, record=1), 1, ["blocks", 1], "at most 1"),
    ):
        model = forge.model("count=8; alphabet=2", 'kind="count"', GEOMETRIC, asked)
        assert reason in check(model, forge.certificate(model, "0", "0.7", none, ["record", record], line)).reason
    model = forge.model("count=8; alphabet=2", 'kind="count"', GEOMETRIC, free)
    for nu, reason in (("1/2", ""), ("2/5", "with the stationary law")):
        path = ["path", 3, ["1/5", "1/5", nu], ["-1/10", "1/10"]]
        verdict = check(model, forge.certificate(model, "1e-4", "0.7", path, ["record", 3], ["letters"]))
        assert (verdict.proved, reason in verdict.reason) == (not reason, True), verdict.reason


WIDE = [("1/100", "1/10"), ("1/100", "1/10")]


def test_a_long_chain(forge):
    """A million records, of which nothing is written out: the tilted path and the window of the middle one."""
    records, noise = "count=999999; alphabet=2", 'kind="geometric"; epsilon="1/10"'
    model = forge.model(records, 'kind="count"', noise, adversary(WIDE, record=499999))
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
    n, i = rng.randint(1, 6), 0
    alpha, beta = (Fraction(rng.randint(1, 9), 10) for _ in range(2))
    a = math.exp(-0.7)
    rows = {s: [a ** abs(y - s) * (1 if y in (0, n) else 1 - a) / (1 + a) for y in range(n + 1)] for s in range(n + 1)}
    i = rng.randrange(n)
    model = forge.model(
        f"count={n}; alphabet=2",
        'kind="count"',
        'kind="discrete_laplace"; epsilon="0.7"',
        adversary([(alpha, alpha), (beta, beta)]),
    )
    told = information(n, i, full((float(alpha), float(beta)), "stationary"), rows)
    turns = [str(Fraction(rng.randint(-60, 60), 100)) for _ in range(2)]
    proof = [line for j in range(n) for line in (["record", j], ["letters"])]
    low, high = 0.0, 1.0
    for _ in range(30):
        lower = (low + high) / 2
        path = ["path", i, [str(alpha), str(beta)], turns]
        proved = check(model, forge.certificate(model, f"{lower:.9f}", "1", path, *proof)).proved
        low, high = (lower, high) if proved else (low, lower)
    assert low <= told + 1e-8
    best = [math.copysign(0.0, 1)]
    pi = float(alpha / (alpha + beta))
    laws = np.zeros((2, n + 1))
    step = ((1 - float(alpha), float(alpha)), (float(beta), 1 - float(beta)))
    for x in itertools.product((0, 1), repeat=n):
        laws[x[i], sum(x)] += (1 - pi, pi)[x[0]] * math.prod(step[u][v] for u, v in itertools.pairwise(x))
    total = 0.0
    for x, t in enumerate(map(float, map(Fraction, turns))):
        mean = float(laws[x] @ np.arange(n + 1)) / laws[x].sum()
        noise = (1 - a) ** 2 / ((1 - a * math.exp(t)) * (1 - a * math.exp(-t)))
        phi = float(laws.sum(0) @ np.exp(t * np.arange(n + 1))) * noise
        total += laws[x].sum() * (t * mean - math.log(phi))
    assert low == pytest.approx(max(total, best[0]), abs=1e-8)


BOX = [("1/5", "2/5"), ("1/5", "3/10")]
GEOMETRIC = 'kind="geometric"; epsilon=1'


@each(
    "lines, reason",
    ([["record", 0], ["halve", 0, "1/2"], ["letters"], ["letters"]], "not in the parameter's range"),
    ([["record", 0], ["halve", 2, "1/4"], ["letters"], ["letters"]], "the parameter must be"),
    ([["record", 0], ["halve", 0, "1/4"], ["letters"]], "the file ends"),
    ([["record", 0], ["slope", ["1/5"]]], "the parameters must be a list of 2"),
    ([["record", 0], ["slope", ["1/2", "1/4"]]], "not in the box"),
    ([["record", 0], ["halve", 0, "1/4"], ["slope", ["3/10", "1/4"]], ["letters"]], "not in the box"),
    ([["record", 0], ["window", 1]], "not in the window"),
    ([["record", 0], ["window", -1]], "-1"),
    ([["record", 3], ["letters"]], "the record must be"),
    ([["record", 0], ["letters"], ["record", 0], ["letters"]], "comes twice"),
    ([["record", 0], ["letters"]], "record 1 is not covered"),
    ([["record", 1], ["letters"]], "record 0 is not covered"),
    ([["record", 0], ["joint", "0", "0", None, None]], "a half or leaf is expected"),
    ([["record", 0], ["letters"], ["record", 1], ["letters"]], ""),
    ([["record", 2], ["letters"], ["record", 1], ["halve", 0, "1/5"], ["letters"], ["letters"]], ""),
)
def test_lines(forge, lines, reason):
    """Records 0 and 2 are mirror images of each other."""
    model = forge.model("count=3; alphabet=2", 'kind="count"', GEOMETRIC, adversary(BOX))
    verdict = check(model, forge.certificate(model, "0", "0.7", ["witness", None, None], *lines))
    assert (verdict.exit_code, reason in verdict.reason) == (1 if reason else 0, True), verdict.reason


def test_what_a_start_of_any_kind_changes(forge):
    """No mirror images, no windows, no tilted paths, and letters say log 2 but for the first record."""
    model = forge.model("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary(BOX, "any"))
    none, letters = ["witness", None, None], ["letters"]
    assert (
        "record 1 is not covered"
        in check(model, forge.certificate(model, "0", "0.7", none, ["record", 0], letters)).reason
    )
    for lines, reason in (
        ([["record", 0], ["window", 0]], "needs a stationary start"),
        ([["record", 1], ["halve", 2, "1/10"], letters, letters], "fails"),
        ([["record", 0], ["halve", 2, "1/10"], letters, ["slope", ["1/5", "1/5", "1/10"]]], "open"),
    ):
        assert reason in check(model, forge.certificate(model, "0", "0.69", none, *lines)).reason
    path = ["path", 0, ["1/5", "1/5", "2/5"], ["0", "0"]]
    assert "needs a start with the stationary law" in check(model, forge.certificate(model, "0.1", "0.7", path)).reason


@each(
    "records, query, mechanism, asked, reason",
    ("count=2; alphabet=3", 'kind="count"', GEOMETRIC, adversary(BOX), "a Markov chain needs"),
    ("count=2; alphabet=2", 'kind="count"; letters=[0]', GEOMETRIC, adversary(BOX), "a Markov chain needs"),
    ("count=2; alphabet=2", 'kind="sum"; weights=[0,2]', GEOMETRIC, adversary(BOX), "a Markov chain needs"),
    ("count=2; alphabet=2", 'kind="identity"', GEOMETRIC, adversary(BOX), "a Markov chain needs"),
    ("count=2; alphabet=2", 'kind="count"', 'kind="podium"', adversary(BOX), "a Markov chain needs"),
    ("count=2; alphabet=2", 'kind="count"', 'kind="gaussian"; scale=1', adversary(BOX), "gaussian and laplace are"),
    ("count=2; alphabet=2", 'kind="histogram"', GEOMETRIC, adversary(BOX), "a histogram needs"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary(BOX, record=2), "record must be less than 2"),
    ("count=1001; alphabet=2", 'kind="count"', GEOMETRIC, adversary(BOX), "a Markov chain needs"),
    ("count=1001; alphabet=2", 'kind="parity"', 'kind="symmetric"; flip=0', adversary(BOX, record=1), "a Markov chain"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary([("0", "1/2"), ("1/2", "1/2")]), "with 0 < a"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary([("1/2", "1/3"), ("1/2", "1/2")]), "with 0 < a"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary([("1/2", "1"), ("1/2", "1/2")]), "with 0 < a"),
    ("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary(BOX, "odd"), "'stationary' or 'any'"),
)
def test_models_that_are_not_read(forge, records, query, mechanism, asked, reason):
    verdict = check(forge.model(records, query, mechanism, asked), b"")
    assert (verdict.exit_code, reason in verdict.reason) == (2, True), verdict.reason


def test_normal_form(forge):
    model = forge.model("count=2; alphabet=2", 'kind="count"', GEOMETRIC, adversary(BOX))
    wanted = {
        "kind": "markov_chain",
        "record": None,
        "start": "stationary",
        "to_one": ["1/5", "2/5"],
        "to_zero": ["1/5", "3/10"],
    }
    assert parse_model(model).normal["adversary"] == wanted
