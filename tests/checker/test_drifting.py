"""Exponential noise behind blocks: pieces by the user's own channel, with proportional columns merged, and what is refused."""

import math
import random

import numpy as np

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.arithmetic import arb
from dalenius_check.channel import build
from dalenius_check.drifting import Drifting, channel_of
from dalenius_check.model import parse_model

HELD = 'kind="independent_blocks"; size={}'


def balls(row):
    return np.array([float(arb(x).mid().str(20, radius=False)) for x in row])


@each("seed", *range(draws(8, 200)))
def test_pieces_are_the_users_channel(seed, forge):
    """For every total of the others the rows are those of the whole model, outputs beyond the block's values put together."""
    rng = random.Random(seed)
    n, size = rng.choice([(4, 2), (5, 1), (3, 3), (4, 3)])
    weights = sorted(rng.sample(range(-2, 5), 2))
    query = rng.choice(['kind="count"', f'kind="sum"; weights={weights}'])
    epsilon, sensitivity = rng.choice(["0", "0.5", "3"]), rng.choice(["1", "2"])
    low, high = (0, n) if "count" in query else (n * weights[0], n * weights[1])
    first = low - rng.randint(0, 2)
    ends = f"; range=[{first}, {high + rng.randint(0, 3)}]" if rng.random() < 0.5 else ""
    first = first if ends else low
    mechanism = f'kind="exponential"; epsilon={epsilon}; sensitivity={sensitivity}{ends}'
    whole = build(parse_model(forge.model(f"count={n}; alphabet=2", query, mechanism, "0")))
    blocks = Drifting(parse_model(forge.model(f"count={n}; alphabet=2", query, mechanism, HELD.format(size))))
    shape = blocks.shape(0)
    assert list(blocks.told(shape)) == list(blocks.others(shape))
    for t in blocks.others(shape):
        made = channel_of(blocks.piece(shape, t))
        assert made.exact == (epsilon == "0")
        top = made.values[-1]
        for row, v in zip(made.rows, made.values, strict=True):
            full = balls(whole.rows[whole.values.index(v + t)])
            places = [min(max(first + y - t, made.values[0]), top) - made.values[0] for y in range(len(full))]
            assert np.allclose(np.bincount(places, full, minlength=top - made.values[0] + 1), balls(row), atol=1e-12)


def test_a_proof(forge):
    """Two bits apart: the middle total is told worst or best, each has a piece, and the witness may use any."""
    data = forge.model("count=2; alphabet=2", 'kind="count"', 'kind="exponential"; epsilon=1', HELD.format(1))
    q = math.exp(-0.5)
    rows = np.array([[1, q, q * q], [q, 1, q], [q * q, q, 1]])
    rows /= rows.sum(1, keepdims=True)
    pairs = [np.array([[x[0], x[1:].sum()] for x in rows[:2]]), np.array([[x[:2].sum(), x[2]] for x in rows[1:]])]
    best = max(max_information(pair) for pair in pairs)
    law = [[f"{x:.15f}" for x in capacity(pair)] for pair in pairs]
    blocks = [[["block", 0, t], ["record", 0], ["vertices"], ["law", law[int(t)]]] for t in "01"]
    share = shares(pairs[0])
    witness = [["at", 0, "0"], ["witness", 0, [[f"{1 - share:.15f}", "0"], ["0", f"{share:.15f}"]]]]
    good = [*witness, *blocks[0], *blocks[1]]
    claim = f"{best - 1e-7:.15f}", f"{best + 1e-7:.15f}"
    assert check(data, forge.certificate(data, *claim, *good)).exit_code == 0
    assert check(data, forge.certificate(data, claim[1], "1", *good)).exit_code == 1
    assert "is not covered" in check(data, forge.certificate(data, *claim, *witness, *blocks[0])).reason
    assert "comes twice" in check(data, forge.certificate(data, *claim, *witness, *blocks[0], *blocks[0])).reason
    last = [["block", 0, "2"], *blocks[1][1:]]
    assert "never add up to 2" in check(data, forge.certificate(data, *claim, *witness, *last)).reason
    null = [["block", 0, None], *blocks[1][1:]]
    assert "t must be" in check(data, forge.certificate(data, *claim, *witness, *null)).reason
    leaf = [*blocks[0][:2], ["informed", "0", [["1", ["1", "1"]]]]]
    assert "only shift" in check(data, forge.certificate(data, *claim, *witness, *leaf)).reason


def shares(rows):
    """The probability of the second row that tells most."""
    grid = np.linspace(0, 1, 401)
    found = [told(rows, t) for t in grid]
    low, high = grid[max(int(np.argmax(found)) - 1, 0)], grid[min(int(np.argmax(found)) + 1, 400)]
    for _ in range(80):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (one, high) if told(rows, one) < told(rows, two) else (low, two)
    return (low + high) / 2


def told(rows, t):
    law = (1 - t) * rows[0] + t * rows[1]
    return (1 - t) * rows[0] @ np.log(rows[0] / law) + t * rows[1] @ np.log(rows[1] / law)


def max_information(rows):
    return told(rows, shares(rows))


def capacity(rows):
    return (1 - shares(rows)) * rows[0] + shares(rows) * rows[1]


@each(
    "query, mechanism, status",
    ('kind="count"', 'kind="exponential"; epsilon=1; range=[0, 1]', 2),
    ('kind="count"', 'kind="several_releases"; parts=[{kind="exponential", epsilon=1}]', 2),
    ('kind="modular_sum"; modulus=3', 'kind="exponential"; epsilon=1', 2),
    ('kind="count"', 'kind="exponential"; epsilon=1; range=[-1, 7]', 1),
)
def test_what_is_known(query, mechanism, status, forge):
    data = forge.model("count=2; alphabet=2", query, mechanism, HELD.format(1))
    assert check(data, b"").exit_code == status


def test_a_range_that_misses_listed_values(forge):
    """Everybody is counted of a household, so that no sum is 0, but its count lists 0: no piece is made."""
    held = 'kind="independent_blocks"; sizes=[2]'
    data = forge.model(
        "alphabets=[1, 2]", 'kind="count"; letters=[0]', 'kind="exponential"; epsilon=1; range=[1, 2]', held
    )
    lines = [["witness", None, None], ["block", 0, "0"], ["record", 1], ["vertices"], ["law", ["1", "1", "1"]]]
    verdict = check(data, forge.certificate(data, "0", "2", *lines))
    assert (verdict.exit_code, "mechanism.range must contain" in verdict.reason) == (1, True), verdict.reason
