"""Wide counts: priors on windows and leaves, made small enough that datasets can be listed; a count of a million; what is refused."""

import itertools
import math
import random

import numpy as np
import pytest

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.arithmetic import choose, using
from dalenius_check.factorials import Factorials

A = math.exp(-0.5)
BIT = math.log(2) + (A * math.log(A) / (1 + A) - math.log(1 + A))


def model(forge, n=4, letters=2, counted=(1,), mechanism='kind="geometric"; epsilon=0.5', held="0"):
    return forge.model(f"count={n}; alphabet={letters}", f'kind="count"; letters={list(counted)}', mechanism, held)


@pytest.fixture
def narrow(monkeypatch):
    """Counts are wide from few entries on."""
    monkeypatch.setattr("dalenius_check.wide.MAX_ENTRIES", 4)


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
        exact = chosen.ball(math.factorial(1500)).log()
        off = known.log(1500) - exact
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
        (1, ["witness", 0, [[[0, "-1"]], []]], "nonnegative"),
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
