"""Gaussian and Laplace noise on the real line, audited like any other mechanism."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws, each
from dalenius.information import mutual_information
from dalenius.information.capacity import capacity
from dalenius.model.mechanisms.real_noise import gaussian_rows, laplace_rows

ONE = dl.Records(1, alphabet=2)


def asked(mechanism, adversary, records=ONE, query=None):
    return dl.WorstCaseLeakage(records=records, query=query or dl.Count(), mechanism=mechanism, adversary=adversary)


@each(
    "mechanism, adversary, records, nats",
    (dl.laplace(1), dl.ProductPriors(), ONE, 0.08851964020127),
    (dl.laplace("0.2"), dl.AnyPrior(), ONE, 0.5709387669009),
    (dl.gaussian("0.5"), dl.ProductPriors(), ONE, 0.33683082034683),
    (dl.gaussian(2), dl.IndependentBlocks(4), dl.Records(10**4, alphabet=2), 0.33683082034683),
    (dl.laplace(4), dl.IndependentBlocks(2), dl.Records(1000, alphabet=2), 0.02636700237242),
)
def test_the_capacity_of_two_inputs(mechanism, adversary, records, nats):
    question = asked(mechanism, adversary, records)
    result = dl.solve(question)
    assert result.lower - 1e-13 <= nats <= result.upper + 1e-13
    assert result.upper - result.lower <= 1e-11
    assert dl.verify(question, result.certificate).proved
    assert dl.loads(dl.dumps(question)) == question


def test_three_inputs_are_best_where_they_are_far_apart():
    """Amplitude 2: three atoms, the middle one with 0.13787695 (Sharma and Shamai 2010)."""
    question = asked(dl.gaussian("0.5"), dl.ProductPriors(), dl.Records(1, alphabet=3), dl.Sum([0, 1, 2]))
    result = dl.solve(question)
    assert result.lower - 1e-11 <= 0.65286881178 <= result.upper + 1e-11
    assert result.witness is not None
    assert result.witness.letter_law[1] == pytest.approx(0.13787695, abs=1e-6)


@each("noise, rows_of", (dl.gaussian, gaussian_rows), (dl.laplace, laplace_rows))
def test_any_prior_is_the_largest_capacity_of_one_input_a_letter(noise, rows_of):
    """Brute force over the values that two records of three letters can have."""
    weights = [0, 1, 3]
    question = asked(noise(2), dl.AnyPrior(), dl.Records(2, alphabet=3), dl.Sum(weights))
    result = dl.solve(question)
    values = question.query.values(question.records)
    rows = rows_of(values / 2.0)
    sets = [[values.tolist().index(w + other) for other in weights] for w in weights]
    best = max(capacity(rows[list(chosen)]).lower for chosen in itertools.product(*sets))
    assert result.lower - 1e-9 <= best <= result.upper + 1e-9
    assert result.gap <= 1e-6


def test_the_lines_are_weights_of_inputs():
    _, witness, *lines = dl.solve(asked(dl.laplace(1), dl.AnyPrior())).certificate.text.splitlines()
    assert witness.startswith('["witness",0,[[')
    assert lines[:2] == ['["record",0]', '["vertices"]']
    assert lines[-1] == '["mixture",["0.5","0.5"],null]'


def test_a_class_of_laws():
    """The one record has either letter with probability 0.3 at least: the even law is the best of them, too."""
    free = dl.solve(asked(dl.gaussian(1), dl.ProductPriors()))
    floor = dl.solve(asked(dl.gaussian(1), dl.FloorPriors("0.3")))
    assert floor.lower == pytest.approx(free.lower, abs=1e-9)
    assert dl.solve(asked(dl.gaussian(1), dl.BoxPriors([0, "0.9"], ["0.1", 1]))).upper < free.lower


@each("noise", dl.gaussian, dl.laplace)
def test_noise_of_scale_a_million_tells_next_to_nothing(noise):
    result = dl.solve(asked(noise(10**6), dl.ProductPriors()))
    assert 0.1249999e-12 <= result.lower <= result.upper <= 0.1250001e-12


def test_inputs_that_are_far_apart_are_told_apart():
    result = dl.solve(asked(dl.gaussian("1/32"), dl.ProductPriors()))
    assert result.lower - 1e-12 <= math.log(2.0) <= result.upper + 1e-12
    with np.errstate(all="raise"):
        assert dl.laplace("1/64").quadrature(np.array([0, 1])).min() >= 0.0


def told_on_a_grid(noise, values, law, of, given):
    """I(of; Y | given) in nats by sums over the line, in doubles; each dataset has a value, a mass, and what is asked of it."""
    scale, grid = float(noise.scale), []
    ends = sorted({values.min() - 45 * float(noise.scale), *values, values.max() + 45 * float(noise.scale)})
    for low, high in itertools.pairwise(ends):  # between the kinks of the densities
        nodes, weights = np.polynomial.legendre.leggauss(60)
        cuts = np.linspace(low, high, 40)
        for a, b in itertools.pairwise(cuts):
            grid.append(((a + b) / 2 + (b - a) / 2 * nodes, (b - a) / 2 * weights))
    y, dy = map(np.concatenate, zip(*grid, strict=True))
    away = (y - values[:, None]) / scale
    rows = np.exp(-(away**2) / 2) / math.sqrt(2 * math.pi) if noise.kind == "gaussian" else np.exp(-abs(away)) / 2
    rows = law[:, None] * rows / scale * dy
    total = 0.0
    for c in set(given):
        cells = [rows[[i for i, pair in enumerate(zip(of, given, strict=True)) if pair == (a, c)]] for a in set(of)]
        joint = np.array([cell.sum(axis=0) for cell in cells])
        mass = joint.sum()
        if mass > 0:
            total += mass * float(mutual_information(joint / mass))
    return total


def test_listed_laws_are_integrals():
    """Random laws of some records, about each record, and about a secret where another is given."""
    rng = np.random.default_rng(39)
    for _ in range(draws(6, 1000)):
        alphabets = [[2, 2], [2, 3], [2, 2, 2], [3, 3]][rng.integers(4)]
        records, count = dl.Records(alphabets=alphabets), math.prod(alphabets)
        weights = rng.integers(-3, 4, size=max(alphabets)).tolist()
        data = list(itertools.product(*map(range, alphabets)))
        values = np.array([float(sum(weights[a] for a in x)) for x in data])
        noise = [dl.gaussian, dl.laplace][rng.integers(2)](["0.7", 1, 3, 20][rng.integers(4)])
        raw = rng.integers(0, 4, size=(2, count)) + np.eye(2, count, dtype=int)
        laws = [[Fraction(int(w), int(law.sum())) for w in law] for law in raw]
        of, given = rng.integers(0, 3, size=(2, count))
        rest = {"records": records, "query": dl.Sum(weights), "mechanism": noise, "adversary": dl.PriorSet(laws)}
        secret = dl.Secret(dl.Table(of.tolist()), given=dl.Table(given.tolist()))
        for question, pairs in (
            (dl.WorstCaseLeakage(**rest), [([x[i] for x in data], [0] * count) for i in range(len(alphabets))]),
            (dl.SecretLeakage(**rest, secrets=secret), [(of.tolist(), given.tolist())]),
        ):
            result = dl.solve(question)
            masses = [np.array([float(w) for w in law]) for law in laws]
            best = max(told_on_a_grid(noise, values, law, *pair) for law in masses for pair in pairs)
            assert result.lower - 1e-9 <= best <= result.upper + 1e-9
            assert result.upper - result.lower <= 1e-11


@each("noise, rows_of", (dl.gaussian, gaussian_rows), (dl.laplace, laplace_rows))
def test_no_prior_of_households_is_told_more(noise, rows_of):
    """Two couples of bits, a count: random laws of either couple, some nearly points."""
    result = dl.solve(asked(noise(1), dl.IndependentBlocks(2), dl.Records(4, alphabet=2)))
    rng, rows = np.random.default_rng(7), rows_of(np.arange(5.0))
    laws = rng.dirichlet([0.2] * 4, size=(draws(200, 20_000), 2)).reshape(-1, 2, 2, 2)
    joint = np.einsum("nab,ncd->nabcd", laws[:, 0], laws[:, 1])
    sums = np.array([0, 1, 1, 2, 1, 2, 2, 3]).reshape(2, 2, 2)
    masses = np.stack(
        [(joint[:, a, ..., None] * (sums[..., None] + a == np.arange(5))).sum(axis=(1, 2, 3)) for a in (0, 1)]
    )
    told = [float(mutual_information(prior @ rows)) for prior in masses.swapaxes(0, 1)]
    assert max(told) <= result.upper
