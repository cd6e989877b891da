"""Wide counts: priors on windows and leaves, made small enough that datasets can be listed; a count of a million; what is refused."""

import itertools
import math
import random
import re

import numpy as np
import pytest
from scipy.special import xlogy

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.core.arithmetic import arb, choose, fmpq, using
from dalenius_check.lemmas.histograms import patterns
from dalenius_check.lemmas.separate import _Output
from dalenius_check.lemmas.wide import Factorials

A = math.exp(-0.5)
BIT = math.log(2) + (A * math.log(A) / (1 + A) - math.log(1 + A))


def model(forge, n=4, letters=2, counted=(1,), mechanism='kind="geometric"; epsilon=0.5', held="0"):
    return forge.model(f"count={n}; alphabet={letters}", f'kind="count"; letters={list(counted)}', mechanism, held)


@pytest.fixture
def narrow(monkeypatch):
    """Counts are wide from few entries on."""
    monkeypatch.setattr("dalenius_check.core.verdict.MAX_ENTRIES", 4)


def listed(n, letters, counted, place, weights):
    """The entropy of a prior by its datasets, and what it tells through noise, by outputs far out."""
    sets = {}
    for x in itertools.product(range(letters), repeat=n):
        sets.setdefault((x[0], sum(a in counted for a in x)), []).append(x)
    entropy, joint = 0.0, np.zeros((letters, n + 201))
    noise = np.array([(1 - A) / (1 + A) * A ** abs(z) for z in range(-400, 401)])
    for (a, k), p in weights.items():
        entropy -= p * math.log(p / len(sets[a, k]))
        for y in range(-100, n + 101):
            joint[a, y + 100] += p * noise[y - k + 400]
    used = joint[joint > 0]
    r, pi = joint.sum(0), joint.sum(1)
    told = used @ np.log(used) - r[r > 0] @ np.log(r[r > 0]) - pi[pi > 0] @ np.log(pi[pi > 0])
    bins = np.zeros((letters, place.size))
    for y in range(-100, n + 101):
        bins[:, np.abs(place - y).argmin()] += joint[:, y + 100]
    used, r = bins[bins > 0], bins.sum(0)
    binned = used @ np.log(used) - r[r > 0] @ np.log(r[r > 0]) - pi[pi > 0] @ np.log(pi[pi > 0])
    return entropy, told, binned


@pytest.mark.parametrize("seed", range(draws(8, 300)))
def test_windows_by_listing(seed, forge, narrow):
    """A window's prior has the entropy that it has dataset by dataset; and outputs in bins tell what they tell, no more than all."""
    rng = random.Random(seed)
    n, letters = rng.choice([(5, 2), (6, 2), (4, 3), (7, 2), (3, 4)])
    counted = sorted(rng.sample(range(letters), rng.randint(1, letters - 1)))
    step = rng.choice([1, 1, 3])
    last = rng.randint(1, n // step)
    low = rng.randint(0, n - step * last)
    place = np.array([low + step * j for j in range(last + 1)])
    possible = [(a, j) for a in range(letters) for j in range(last + 1) if 0 <= place[j] - (a in counted) <= n - 1]
    chosen = rng.sample(possible, rng.randint(1, len(possible)))
    weights = {pair: rng.randint(1, 9) for pair in sorted(chosen)}
    whole = sum(weights.values())
    masses = {(a, int(place[j])): w / whole for (a, j), w in weights.items()}
    entropy, told, binned = listed(n, letters, counted, place, masses)
    assert binned <= told + 1e-12
    rows = [[[j, str(w)] for (b, j), w in weights.items() if b == a] for a in range(letters)]
    held = f"{max(entropy - 1e-9, 0):.15f}"
    lines = [["window", low, step, last], ["witness", 0, rows], ["record", n - 1], ["letters"]]
    data = model(forge, n, letters, counted, held=held)
    good = forge.certificate(data, f"{binned - 1e-9:.15f}", "2", *lines)
    assert check(data, good).exit_code == 0, check(data, good).reason
    assert (
        "witness's information"
        in check(data, forge.certificate(data, f"{max(binned, 0) + 1e-9:.15f}", "2", *lines)).reason
    )
    if entropy + 1e-9 < n * math.log(letters):
        more = model(forge, n, letters, counted, held=f"{entropy + 1e-9:.15f}")
        assert "entropy bound" in check(more, forge.certificate(more, "0", "2", *lines)).reason


@each("arithmetic", "flint", "python")
@each("bits", 128, 512)
def test_logarithms_of_factorials(arithmetic, bits):
    """Stirling's series and exact factorials meet: log 1024! from both, and a large one from sums."""
    chosen = choose(arithmetic)
    with using(chosen), chosen.workprec(bits):
        known = Factorials()
        off = known.log(1500) - chosen.ball(math.factorial(1500)).log()
        assert abs(float(off.str(5, radius=False))) < 2.0 ** (20 - bits)
        assert off.lower() <= 0
        assert off.upper() >= 0
        assert math.isclose(float(known.log(10**6).str(20, radius=False)), math.lgamma(10**6 + 1), rel_tol=1e-14)


def test_many_people(forge):
    """The capacity of a bit behind the noise, against people who are independent; with entropies, all three leaves."""
    n = draws(5000, 10**6)
    table = {"n": n, "mechanism": 'kind="discrete_laplace"; epsilon=0.5'}
    data = model(forge, **table, held='kind="product_priors"')
    lines = [
        ["at", 0, None],
        ["witness", 0, [["1", "0"], ["0", "1"]]],
        ["block", 0, None],
        ["record", 0],
        ["vertices"],
        ["law", ["1", "1"]],
    ]
    low, high = f"{BIT - 1e-12:.15f}", f"{BIT + 1e-12:.15f}"
    assert check(data, forge.certificate(data, low, high, *lines)).exit_code == 0
    assert check(data, forge.certificate(data, high, "1", *lines)).exit_code == 1
    data = model(forge, **table, held='"0.99 max"')
    spread = 0.01 * n * math.log(2)
    for leaf, bound in (
        (["letters"], math.log(2)),
        (["informed", "1", [["1", ["1", "1"]]]], math.log(2) + BIT),
        (["informed", "0", [["1", ["1", "1"]]]], spread + BIT),
        (["ends"], math.log(2)),
    ):
        for slack, status in ((1e-9, 0), (-1e-9, 1)):
            found = check(
                data,
                forge.certificate(data, "0", f"{bound + slack:.15f}", ["witness", None, None], ["record", 7], leaf),
            )
            assert found.exit_code == status or leaf == ["ends"], found.reason


GOOD = [["window", 0, 1, 4], ["witness", 0, [[[0, "1"]], [[4, "1"]]]], ["record", 0], ["letters"]]


@pytest.mark.parametrize(
    ("place", "line", "reason"),
    [
        (0, ["window", 0, 2, 2], "the step must be odd"),
        (0, ["window", 0, 1, 0], "m must be an integer from 1"),
        (0, ["window", -1, 1, 2], "is not allowed as a JSON number"),
        (0, ["window", 1, 1, 4], "the window ends beyond 4"),
        (0, ["window", 0, 3, 2], "the window ends beyond 4"),
        (0, ["witness", 0, None], "a line 'window' is expected"),
        (0, ["witness", None, None], "no witness, but lower is positive"),
        (1, ["witness", 4, GOOD[1][2]], "the record must be"),
        (1, ["witness", 0, [[], []]], "needs a weight"),
        (1, ["witness", 0, [[[0, "1"]]]], "weights must be a list of 2"),
        (1, ["witness", 0, [[[4, "1"]], []]], "no dataset has letter 0 where the count is 4"),
        (1, ["witness", 0, [[], [[0, "1"]]]], "no dataset has letter 1 where the count is 0"),
        (1, ["witness", 0, [[[1, "1"], [1, "1"]], []]], "in ascending order"),
        (1, ["witness", 0, [[[1, "1"], [0, "1"]], []]], "in ascending order"),
        (1, ["witness", 0, [[[5, "1"]], []]], "a place, in ascending order"),
        (1, ["witness", 0, [[[0, "0"]], []]], "a weight must be positive"),
        (1, ["witness", 0, [[[0, "-1"]], []]], "positive"),
        (2, ["record", 4], "the record must be"),
        (3, ["vertices"], "a leaf is expected"),
        (3, ["informed", "2", [["1", ["1", "1"]]]], "lambda must be at most 1"),
    ],
)
def test_lines_that_are_refused(place, line, reason, forge, narrow):
    data = model(forge)
    assert check(data, forge.certificate(data, "0.1", "1", *GOOD)).exit_code == 0
    verdict = check(data, forge.certificate(data, "0.1", "1", *GOOD[:place], line, *GOOD[place + 1 :]))
    assert (verdict.exit_code, reason in verdict.reason) == (1, True), verdict.reason


def test_what_else_is_refused(forge, narrow):
    data = model(forge)
    for lines, reason in ((GOOD[:2], "the file ends"), ([*GOOD, *GOOD[2:]], "after the last one")):
        assert reason in check(data, forge.certificate(data, "0.1", "1", *lines)).reason
    curve = {"curve": {"above": [["1", "0"]], "below": []}}
    assert "curve" in check(data, forge.certificate(data, "0.1", "1", *GOOD, **curve)).reason
    one = model(forge, letters=1, counted=(0,))
    assert check(one, forge.certificate(one, "0", "0", ["witness", None, None])).exit_code == 0
    assert check(data, forge.certificate(data, "0", "0", ["witness", None, None])).exit_code == 1


def test_what_is_wide(forge, narrow):
    """Other mechanisms, ranges, queries, adversaries and alphabets keep the lines that they had."""
    old = [["witness", None, None], ["record", 0], ["vertices"], ["law", ["1"] * 5]]
    cut = 'kind="geometric"; epsilon=0.5; range=[0, 4]'
    for mechanism, wide in ((cut, True), ('kind="exponential"; epsilon=1', False)):
        data = model(forge, mechanism=mechanism)
        assert ("leaf is expected" in check(data, forge.certificate(data, "0", "2", *old)).reason) == wide
    data = forge.model("count=4; alphabet=2", 'kind="sum"', 'kind="geometric"; epsilon=1', "0")
    assert check(data, forge.certificate(data, "0", "9", *old)).exit_code == 0


# The row leaf `separate`, against laws on a fine grid: no law of a letter's inputs has more than it says, whatever nu is.


class Leaf:
    """What an output's part knows of its leaf."""

    def __init__(self, theta, mu):
        self.theta, self.mu = theta, mu


@each("seed", *range(draws(60, 4000)))
@each("arithmetic", "flint", "python")
def test_no_weight_of_an_output_has_more(seed, arithmetic):
    rng = random.Random(seed)
    right, wrong = rng.choice([(9, 1), (1, 9), (10, 0), (0, 10), (5, 5), (3, 7), (7, 3)])
    theta, mu = rng.choice([(1, 1), (10, 1), (10, 20), (3, 12), (10, 9)])
    slope = rng.randint(-60, 60)
    with using(choose(arithmetic)):
        part = _Output(Leaf(fmpq(theta, 10), fmpq(mu, 10)), fmpq(right, 10), fmpq(wrong, 10), arb(slope) / 10)
        most = float(part.most().upper().fmpq()) if arithmetic == "python" else float(part.most().upper())
    w = np.linspace(0, 1, 100_001)
    k = wrong / 10 + (right - wrong) / 10 * w
    f = theta / 10 * xlogy(k, k) - mu / 10 * xlogy(w, w) + slope / 10 * w
    assert f.max() <= most + 1e-12
    assert not ((right - wrong) * (theta * (right - wrong) / 10 - mu) <= 0) or most <= f.max() + 1e-6


@each("seed", *range(draws(4, 400)))
@each("arithmetic", "flint", "python")
@each(
    "mechanism",
    'kind="symmetric"; flip="1/10"',
    'kind="symmetric"; flip="19/20"',
    'kind="randomized_response"; epsilon=2',
)
def test_no_law_has_more_than_pieces_say(seed, arithmetic, mechanism, forge):
    """Laws of three weights, listed, whatever the multipliers are, and wherever the pieces end."""
    rng = random.Random(seed)
    stay = 1 / (1 + 2 * math.exp(-2)) if "response" in mechanism else 0.9 if "1/10" in mechanism else 0.05
    change, mu = (1 - stay) / 2, rng.choice([0.05, 0.1, 0.3, 0.5])
    over = (stay - change) * (stay - change - mu)
    turn = mu * change / over if over > 0 else 1.0
    ends = sorted(round(turn + (1 - turn) * rng.uniform(0.01, 0.99), 6) for _ in range(rng.randint(0, 4)))
    pieces = [[str(end), str(rng.randint(-8, 24) / 8)] for end in [*ends, 1]]
    leaf = ["separate", str(rng.randint(-8, 24) / 8), *([pieces] if turn < 0.99 else [])]
    model = forge.model("count=2; alphabet=3", 'kind="modular_sum"; modulus=3', mechanism, '"9/10 max"')
    lines = [["joint", "1", str(mu), None, ["1"] * 3], leaf, ["as", 0], ["as", 0]]
    data = forge.certificate(model, "0", "1e-9", ["witness", None, None], ["record", 0], *lines)
    said = float(re.search(r"upper fails: (\S+) >", check(model, data, arithmetic=arithmetic).reason)[1])
    grid = np.arange(201) / 200
    w = np.stack([grid[:, None] + 0 * grid, grid + 0 * grid[:, None]])[:, np.add.outer(grid, grid) <= 1]
    w = np.vstack([w, np.maximum(1 - w.sum(axis=0), 0)])
    k = change + (stay - change) * w
    psi = (xlogy(k, 3 * k) - mu * xlogy(w, w)).sum(axis=0).max()
    assert psi + mu * math.log(3) - mu * 0.9 * math.log(9) <= said + 1e-9


@each("mechanism", 'kind="symmetric"; flip="1/10"', 'kind="randomized_response"; epsilon=2')
def test_a_leaf_stands_in_place_of_a_row(forge, mechanism):
    """Of a modular sum of four letters: with the best nu it proves what one slope proves, and hardly more than the witness."""
    model = forge.model("count=4; alphabet=4", 'kind="modular_sum"; modulus=4', mechanism, '"9/10 max"')

    def least(*leaf):
        """The bound, which the refusal of too low a claim tells."""
        lines = [["joint", "1", "1/2", None, ["1"] * 4], leaf, ["as", 0], ["as", 0], ["as", 0]]
        data = forge.certificate(model, "0", "1e-9", ["witness", None, None], ["record", 0], *lines)
        return float(re.search(r"joint leaf <= upper fails: (\S+) >", check(model, data).reason)[1])

    found = {nu: least("separate", str(nu / 4)) for nu in range(-2, 14, 2)}
    assert min(found.values()) <= least("row", None) + 1e-6
    flat = [v for _, v in sorted(found.items())]
    assert all(2 * b <= a + c + 1e-6 for a, b, c in zip(flat, flat[1:], flat[2:], strict=False))  # convex in nu


@each(
    "mechanism, lines, reason",
    ('kind="geometric"; epsilon=1; range=3', [["separate", "0"]], "needs symmetric or randomized_response"),
    ('kind="symmetric"; flip="1/10"', [["group", [[0, 1], [2, 3]]], ["separate", "0"]], "no groups"),
    ('kind="symmetric"; flip="1/10"', [["separate", None]], "nu must be a number"),
    ('kind="symmetric"; flip="1/10"', [["separate"]], "takes"),
    ('kind="symmetric"; flip="1/10"', [["separate", "0", []]], "pieces must be a list, and not empty"),
    ('kind="symmetric"; flip="1/10"', [["separate", "0", [["1"]]]], "a piece must be a list of 2"),
    ('kind="symmetric"; flip="1/10"', [["separate", "0", [["1/20", "0"], ["1", "0"]]]], "must end above w_0"),
    ('kind="symmetric"; flip="1/10"', [["separate", "0", [["1/2", "0"]]]], "the last piece must end at 1"),
    ('kind="symmetric"; flip="9/10"', [["separate", "0", [["1", "0"]]]], "must end above w_0"),
)
def test_what_is_refused(forge, mechanism, lines, reason):
    model = forge.model("count=4; alphabet=4", 'kind="modular_sum"; modulus=4', mechanism, '"9/10 max"')
    head = ["witness", None, None], ["record", 0], ["joint", "1", "1/2", None, ["1"] * 4]
    verdict = check(model, forge.certificate(model, "0", "2", *head, *lines))
    assert (verdict.exit_code, reason in verdict.reason) == (1, True), verdict.reason


@each("leaf, times", (["separate", "0"], 1), (["separate", "0", [["9/10", "0"], ["1", "0"]]], 3))
def test_the_clock_is_looked_at_beside_every_output(forge, leaf, times):
    """64 steps each, of which 1,024 unlike outputs took more than a second."""
    model = forge.model(
        "alphabets=[2, 50]", 'kind="modular_sum"; modulus=50', 'kind="symmetric"; flip="1/10"', '"9/10 max"'
    )
    joint, looks = ["joint", "1", "1/2", None, [str(100 + y) for y in range(50)]], list[int]()
    data = forge.certificate(model, "0", "9", ["witness", None, None], ["record", 0], joint, leaf)
    check(model, data, spared=lambda: looks.append(1) or 9.0)
    assert len(looks) > 50 * times


@pytest.mark.parametrize(("size", "records"), [(8, 50), pytest.param(256, 1000, marks=pytest.mark.thorough)])
def test_many_clients(forge, size, records):
    """A modular sum of many records, of which no row could be cut: hardly more than what is told of the uniform prior."""
    query = f'kind="modular_sum"; modulus={size}'
    model = forge.model(f"count={records}; alphabet={size}", query, 'kind="symmetric"; flip="1/10"', '"0.9995 max"')
    nu = 0.861 * (records - 2) * math.log(size) + math.log(size)
    leaf = ["joint", "1", "0.861", None, ["1"] * size], ["separate", f"{nu:.12f}"], *[["as", 0]] * (size - 1)
    upper = 1.25 * math.log(size) - 3 if size > 8 else math.log(size)
    data = forge.certificate(model, "0", f"{upper:.9f}", ["witness", None, None], ["record", 0], *leaf)
    assert check(model, data).proved, check(model, data).reason


# Histograms, by definition: every output of all cells listed, in doubles, against what the checker makes of sums of scores.


DRAWN = [
    ("discrete_laplace", 'epsilon="0.8"', 0.8),
    ("geometric", 'epsilon="1.5"', 1.5),
    ("discrete_gaussian", 'scale="0.4"', 0.4),
    ("staircase", 'epsilon="1.2"; sensitivity=2; top=1', 1.2),
]


def steps(kind, rate, m):
    """T of docs/certificate-format.md."""
    if kind == "discrete_gaussian":
        far = math.ceil(10 * rate + 1)
        law = {z: math.exp(-(z**2) / 2 / rate**2) for z in range(-20, 21)}
        whole, ends = sum(law.values()), range(-far, m + far + 1)
        return np.array(
            [
                [sum(w for z, w in law.items() if max(-far, min(m + far, s + z)) == y) / whole for y in ends]
                for s in range(m + 1)
            ]
        )
    if kind == "staircase":  # summed over what is merged, far out
        law = {z: math.exp(-rate * math.ceil(abs(z) / 2)) for z in range(-140, 141)}
        whole, places = sum(law.values()), range(-1, m + 2)
        merged = {
            y: [y, *range(y - 2, -90, -2)] if y <= 0 else [y, *range(y + 2, 90, 2)] if y >= m else [y] for y in places
        }
        return np.array([[sum(law[y - s] for y in merged[out]) / whole for out in places] for s in range(m + 1)])
    a = math.exp(-rate)
    inside = [1 if y in (0, m) else 1 - a for y in range(m + 1)]
    return np.array([[a ** abs(y - s) * inside[y] / (1 + a) for y in range(m + 1)] for s in range(m + 1)])


@each("seed", *range(draws(6, 300)))
@each("arithmetic", "flint", "python")
def test_both_lines_by_enumeration(seed, arithmetic, forge):
    """Either bound is accepted just where it holds; a witness never tells more than its prior does."""
    rng = random.Random(seed)
    kind, keys, rate = DRAWN[seed % 4]
    k, m = (
        rng.choice([(2, 1), (2, 2), (3, 1), (2, 3), (3, 2)]) if kind != "discrete_gaussian" else (2, rng.randint(1, 2))
    )
    model = forge.model(
        f"count={m + 1}; alphabet={k}",
        'kind="histogram"',
        f'kind="{kind}"; {keys}',
        f'kind="independent_blocks"; sizes=[1,{m}]',
    )
    t = steps(kind, rate, m)
    scores = [rng.randint(0, 3) for _ in t[0]]
    scores[0] = 4
    listed = list(patterns(m, k))
    chosen = rng.sample(listed, rng.randint(1, len(listed)))
    weights = [rng.randint(1, 9) for _ in chosen]
    outputs = list(itertools.product(range(t.shape[1]), repeat=k))

    def law(pattern):
        cells = [*pattern, *[0] * (k - len(pattern))]
        return np.array([math.prod(t[s, y] for s, y in zip(cells, out, strict=True)) for out in outputs])

    def summed(law):
        sums = {}
        for x, out in zip(law, outputs, strict=True):
            place = sum(scores[y] for y in out)
            sums[place] = sums.get(place, 0) + x
        return np.array([sums[sum(scores[y] for y in out)] for out in outputs])

    mixture = sum(w / sum(weights) * summed(law(h)) for w, h in zip(weights, chosen, strict=True))
    q = law(()) * mixture / summed(law(()))
    assert q.sum() == pytest.approx(1)
    far = max(float(np.sum(law(h) * np.log(law(h) / q))) for h in listed)
    full = law((m,))
    ratio = np.array([sum(t[m, y] / t[0, y] for y in out) / k for out in outputs])
    low = float(np.sum(full * np.log(t[m, [out[0] for out in outputs]] / t[0, [out[0] for out in outputs]])))
    low -= float(np.sum(full * np.log(summed(full * ratio) / summed(full))))
    told = float(np.sum(full * np.log(full / (law(()) * ratio))))
    assert low <= told + 1e-12
    assert told <= far + 1e-12
    line = ["histogram", scores, [[list(h), str(w)] for h, w in zip(chosen, weights, strict=True)]]
    for slack, status in ((1e-9, 0), (-1e-9, 1)):
        upper = forge.certificate(model, "0", forge.text(far + slack, 15), ["witness", None, None], line)
        assert check(model, upper, arithmetic=arithmetic).exit_code == status
        lower = forge.certificate(model, forge.text(low - slack, 15), "9", ["witness", m, scores], ["letters"])
        assert check(model, lower, arithmetic=arithmetic).exit_code == status


def test_patterns_by_enumeration():
    """Patterns are listed once each, falling, with at most so many parts."""
    for m, k in itertools.product(range(1, 8), range(1, 5)):
        every = {
            tuple(sorted(filter(None, x), reverse=True))
            for x in itertools.product(range(m + 1), repeat=k)
            if sum(x) == m
        }
        found = list(patterns(m, k))
        assert len(found) == len(set(found))
        assert set(found) == every
