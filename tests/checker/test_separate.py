"""The row leaf `separate`, against laws on a fine grid: no law of a letter's inputs has more than it says, whatever nu is."""

import math
import random
import re

import numpy as np
import pytest
from scipy.special import xlogy

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.arithmetic import arb, choose, fmpq, using
from dalenius_check.separate import _Output


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
    ('kind="symmetric"; flip="1/10"', [["separate"]], "takes 1 entries"),
)
def test_what_is_refused(forge, mechanism, lines, reason):
    model = forge.model("count=4; alphabet=4", 'kind="modular_sum"; modulus=4', mechanism, '"9/10 max"')
    head = ["witness", None, None], ["record", 0], ["joint", "1", "1/2", None, ["1"] * 4]
    verdict = check(model, forge.certificate(model, "0", "2", *head, *lines))
    assert (verdict.exit_code, reason in verdict.reason) == (1, True), verdict.reason


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
