"""Noise on a real scale: divergences against sums over a fine grid, in doubles; and the lines that are known for it."""

import math
import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.core.allowance import Allowance
from dalenius_check.core.arithmetic import choose, chosen, fmpq, using
from dalenius_check.lemmas.real_noise import arctangent, real_noise


def density(kind, scale, y, v):
    x = (y - v) / scale
    return (
        np.exp(-(x**2) / 2) / (scale * math.sqrt(2 * math.pi)) if kind == "gaussian" else np.exp(-abs(x)) / (2 * scale)
    )


def divergences(kind, scale, values, law):
    """By Simpson's rule, between the kinks of the densities."""
    far = 14 if kind == "gaussian" else 60
    ends = [values[0] - far * scale, *values, values[-1] + far * scale]
    found = np.zeros(len(values))
    for low, high in pairwise(ends):
        y = np.linspace(low, high, 8001)
        weight = np.ones(8001)
        weight[1:-1:2], weight[2:-1:2] = 4, 2
        weight *= (high - low) / 8000 / 3
        rows = np.array([density(kind, scale, y, v) for v in values])
        r = np.array(law) @ rows
        found += (rows * np.log(rows / r)) @ weight
    return found


@each("arithmetic", "flint", "python")
@each("kind", "gaussian", "laplace")
@each("seed", *range(draws(3, 150)))
def test_divergences_by_quadrature(seed, kind, arithmetic):
    rng = random.Random(seed)
    values = sorted(rng.sample(range(-4, 5), rng.randint(2, 4)))
    scale = rng.choice([Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(20)])
    weights = [rng.choice([0, 1, 3, 50]) for _ in values]
    weights[rng.randrange(len(values))] += 1
    with using(choose(arithmetic)), chosen().workprec(128):
        noise = real_noise({"kind": kind, "scale": fmpq(scale.numerator, scale.denominator)}, values, Allowance())
        balls = noise.divergences([fmpq(w, sum(weights)) for w in weights], None, above=True)
        found = [int(x.numerator) / int(x.denominator) for x in (ball.mid().fmpq() for ball in balls)]
        widths = [ball.upper() - ball.lower() for ball in balls if not ball.is_zero()]
        assert all(width < 1 / chosen().ball(10**20) for width in widths)
        rule = 24 * chosen().ball(-60).exp()  # the trapezoidal rule's error, at least, either way
        assert kind == "laplace" or all(width > rule for width in widths)
    wanted = divergences(kind, float(scale), values, [w / sum(weights) for w in weights])
    assert found == pytest.approx(wanted, rel=1e-8, abs=1e-10)


@each("arithmetic", "flint", "python")
def test_arctangents(arithmetic):
    with using(choose(arithmetic)), chosen().workprec(128):
        for x in (1e-30, 0.001, 0.3, 1.0, 7.0, 1e9, 1e30):
            ball = arctangent(chosen().ball(fmpq(*x.as_integer_ratio())))
            middle = ball.mid().fmpq()
            assert ball.upper() - ball.lower() < ball / 2**100
            assert int(middle.numerator) / int(middle.denominator) == pytest.approx(math.atan(x), rel=1e-15)


def model(forge, mechanism='kind="laplace"; scale=1', adversary='kind="product_priors"', records="count=1; alphabet=2"):
    return forge.model(records, 'kind="count"', mechanism, adversary)


HALF = ["1", "1"]
LETTER = '{kind="letters",records=[0]}'
LINES = {
    "product": (
        'kind="product_priors"',
        ["witness", 0, [0, HALF, None]],
        [["record", 0], ["mixture", [0], HALF, None]],
    ),
    "ball": (
        'kind="l1_ball_priors"; center=["1/2","1/2"]; radius=0',
        ["witness", 0, [0, HALF, None]],
        [["record", 0], ["mixture", [0], HALF, None, None]],
    ),
    "entropy": ("0", ["witness", 0, [["1", "0"], ["0", "1"]]], [["record", 0], ["vertices"], ["mixture", HALF, None]]),
    "listed": ('kind="prior_set"; priors=[["1","1"],["1","0"]]', ["witness", 0, 0], []),
    "blocks": (
        'kind="independent_blocks"; size=1',
        ["witness", 0, [["1", "0"], ["0", "1"]]],
        [["block", 0, None], ["record", 0], ["vertices"], ["mixture", HALF, None]],
    ),
}


@each("arithmetic", "flint", "python")
@each(
    "mechanism, value",
    ('kind="laplace"; scale=1', 0.08851964020127),
    ('kind="laplace"; scale="1/5"', 0.5709387669009),
    ('kind="gaussian"; scale="1/2"', 0.33683082034683),
)
@each("name", *LINES)
def test_two_values(forge, name, mechanism, value, arithmetic):
    """Their even law is the worst one; 0.3368 nats are what a binary input tells through Gaussian noise of its own strength."""
    adversary, witness, lines = LINES[name]
    asked = model(forge, mechanism, adversary.replace('"1","1"', '"1/2","1/2"'))
    head = [["at", 0, None]] if name == "blocks" else []
    for low, high, status in ((-1e-11, 1e-11, 0), (1e-11, 2e-11, 1), (-2e-11, -1e-11, 1)):
        data = forge.certificate(asked, f"{value + low:.14f}", f"{value + high:.14f}", *head, witness, *lines)
        assert check(asked, data, arithmetic=arithmetic).exit_code == status


def test_a_tree_over_inputs(forge):
    """Two of three values: whichever of them the letters have, one mixture is enough for both ways round."""
    asked = model(forge, adversary="0", records="count=2; alphabet=2")
    mixed = ["mixture", ["1", "0", "1"], None]
    proof = [["record", 0], ["vertices"], ["part", 0, [0]], mixed, mixed]
    assert check(asked, forge.certificate(asked, "0", "0.248", ["witness", None, None], *proof)).exit_code == 0
    apart = forge.certificate(asked, "0.248", "0.248", ["witness", 0, [["1", "0", "0"], ["0", "0", "1"]]], *proof)
    assert "witness's information fails" in check(asked, apart).reason
    both = ["witness", 0, [["1", "1", "0"], ["0", "0", "1"]]]
    assert "several inputs" in check(asked, forge.certificate(asked, "0.1", "0.3", both, *proof)).reason
    lost = forge.certificate(asked, "0", "0.3", ["witness", None, None], *proof[:-1])
    assert "the file ends" in check(asked, lost).reason


@each(
    "name, lines, reason",
    ("entropy", [["record", 0], ["joint", "0", "0", None, None]], "a leaf without boxes is expected"),
    ("entropy", [["record", 0], ["uniform"]], "a leaf without boxes is expected"),
    ("entropy", [["record", 0], ["vertices"], ["law", HALF]], "a part or law is expected"),
    ("entropy", [["record", 0], ["vertices"], ["mixture", HALF, []]], "how must be null"),
    ("entropy", [["record", 0], ["vertices"], ["mixture", ["0", "0"], None]], "total weight zero"),
    ("entropy", [], "record 0 is not covered"),
    ("product", [["record", 0], ["law", [0], HALF]], "never written out"),
    ("product", [["record", 0], ["mixture", [0], HALF, [1]]], "how must be null"),
    ("product", [["record", 0], ["mixture", [0], ["0", "1"], None]], "fails"),
    ("blocks", [["block", 0, "0"], ["record", 0]], "t must be null"),
)
def test_lines_that_are_refused(forge, name, lines, reason):
    asked = model(forge, adversary=LINES[name][0])
    upper = "0.01" if reason == "fails" else "0.7"
    verdict = check(asked, forge.certificate(asked, "0", upper, ["witness", None, None], *lines))
    assert (verdict.exit_code, reason in verdict.reason) == (1, True), verdict.reason


def test_witnesses_that_are_refused(forge):
    asked = model(forge, adversary="0")
    for witness in (["witness", 0, "uniform"], ["witness", 0, [["1", "1"], ["0", "1"]]]):
        assert check(asked, forge.certificate(asked, "0.01", "0.7", witness)).exit_code == 1
    curve = {"above": [["1", "0"]], "below": []}
    assert "unknown key" in check(asked, forge.certificate(asked, "0", "1", curve=curve)).reason


@each(
    "mechanism, adversary, records, reason",
    ('kind="laplace"; scale="1/1001"', "0", "count=1; alphabet=2", "at least 1/1000"),
    ('kind="gaussian"; scale=1000001', "0", "count=1; alphabet=2", "at most 1000000"),
    ('kind="gaussian"', "0", "count=1; alphabet=2", "scale"),
    ('kind="gaussian"; scale=1; range=[0,1]', "0", "count=1; alphabet=2", "unknown key"),
    ('kind="gaussian"; scale=1', "0", "count=64; alphabet=2", "at most 64 values"),
    ('kind="gaussian"; scale="0.1"', "0", "count=7; alphabet=2", "span more than 64 times"),
    ('kind="gaussian"; scale=1', '"1e-9 nats"', "count=1; alphabet=2", "gaussian and laplace are known"),
    ('kind="gaussian"; scale=1', '"0.1 max"', "count=1; alphabet=2", "about secrets against prior_set"),
    (
        'kind="gaussian"; scale=1',
        'kind="independent_blocks"; size=1; entropy_at_least="1e-9 nats"',
        "count=1; alphabet=2",
        "the query and the mechanism must be",
    ),
    ('kind="several_releases"; parts=[{kind="laplace",scale=1}]', "0", "count=1; alphabet=2", "kind"),
)
def test_models_that_are_not_read(forge, mechanism, adversary, records, reason):
    verdict = check(model(forge, mechanism, adversary, records), b"")
    assert (verdict.exit_code, reason in verdict.reason) == (2, True), verdict.reason


@each("adversary", "entropy_at_least=0", 'kind="product_priors"', 'kind="floor_priors"; floor=0')
def test_secrets_are_known_of_listed_laws_alone(forge, adversary):
    asked = model(forge, adversary=f"{adversary}; [[secrets]]; of={LETTER}")
    verdict = check(asked.replace(b"maximal", b"secret"), b"")
    assert (verdict.exit_code, "about secrets against prior_set" in verdict.reason) == (2, True), verdict.reason


def test_a_letters_own_mixture_is_a_law(forge, planted):
    """Else too little would be proved to leak: 0.216 nats do, of two answers that are mostly alike."""
    adversary = 'kind="prior_set"; priors=[["0.4","0.1","0.1","0.4"]]'
    asked = model(forge, 'kind="gaussian"; scale=1', adversary, "count=2; alphabet=2")
    low = forge.certificate(asked, "0", "0.2", ["witness", None, None])
    assert "what prior 0 teaches about record 0 <= upper fails" in check(asked, low).reason
    assert planted("listed", "_of_mixtures: p / weight => p").check(asked, low).exit_code == 0
    exact = forge.certificate(asked, "0.21636933478", "0.21636933479", ["witness", 0, 0])
    assert check(asked, exact).exit_code == 0
