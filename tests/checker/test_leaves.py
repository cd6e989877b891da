"""Every leaf kind: the checker's bound is at least I(p) for random feasible priors in the leaf's box."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from dalenius_check.bounds import Column, column_bound, dual_bound, information, row_bound
from dalenius_check.channel import Record, build
from dalenius_check.counts import completions
from dalenius_check.model import parse_model

MODELS = [
    ("count=4; alphabet=2", 'kind="parity"', 'kind="laplace_threshold"; epsilon=1.0', "1.3"),
    ("count=4; alphabet=2", 'kind="count"', 'kind="geometric"; epsilon=0.7', "1.5"),
    ("count=3; alphabet=3", 'kind="sum"', 'kind="exponential"; epsilon=1.5; range=[-1, 6]', '"1 bits"'),
    ("alphabets=[3,2,1]", 'kind="sum"; weights=[[0,2,5],[0,1],[3]]', 'kind="symmetric"; flip=0.3', "0.9"),
    ("alphabets=[2,3]", 'kind="identity"', 'kind="randomized_response"; epsilon=2', '"0.7 max"'),
    (
        "count=2; alphabet=2",
        'kind="table"; values=[0,0,1,4]',
        'kind="matrix"; rows=[[1,0,0],[0,"1/2","1/2"],["1/3","2/3",0]]',
        "0.4",
    ),
    ("count=3; alphabet=2", 'kind="threshold"; at=2', 'kind="symmetric"; flip=0', "1.0"),
    (
        "count=2; alphabet=3",
        "",
        'kind="matrix"; inputs="dataset"; rows=[' + ",".join(f'["{i}/10","{9 - i}/10","0.1"]' for i in range(9)) + "]",
        "1.0",
    ),
    ("count=5; alphabet=3", 'kind="modular_sum"; modulus=4', 'kind="symmetric"; flip="1/5"', "2.0"),
    ("count=1; alphabet=4", 'kind="sum"; weights=[0,0,1,2]', 'kind="symmetric"; flip="1/9"', "0"),
]
CASES = pytest.mark.parametrize("case", range(len(MODELS)))


@pytest.fixture(autouse=True)
def precision():
    before, ctx.prec = ctx.prec, 128
    yield
    ctx.prec = before


@pytest.fixture
def setting(forge, case):
    data = forge.model(*MODELS[case])
    parsed = parse_model(data)
    channel = build(parsed, None)
    pairs = Record(channel, completions(parsed, 0, channel.dataset, channel.values))
    return forge.Reference(data), channel, pairs, parsed.entropy_ball(), np.random.default_rng(case)


def q(x):
    return fmpq(*float(x).as_integer_ratio())


@CASES
def test_reference_agrees_on_channel_and_information(setting):
    ref, channel, pairs, entropy, rng = setting
    assert float(entropy) == pytest.approx(ref.b, abs=1e-13)
    assert np.allclose([[float(arb(x)) for x in row] for row in channel.rows], ref.R, rtol=0, atol=1e-13)
    assert all(
        {k: int(n) for k, n in row} == {k: int(n) for k, n in enumerate(ref.N[a]) if n}
        for a, row in enumerate(pairs.pairs)
    )
    for _ in range(5):
        p = ref.random(rng)
        masses = [[arb(q(p[a, k])) for k in inputs] for a, inputs in enumerate(pairs.inputs)]
        assert float(information(pairs, masses)) == pytest.approx(ref.information(p), abs=1e-12)


def random_box(ref, p, rng):
    """A box around the posterior of p, wide or narrow, some sides touching it."""
    u = p @ ref.R
    phi = u / np.maximum(u.sum(0), 1e-300)
    phi[:, u.sum(0) == 0] = 1 / ref.A
    lo = np.maximum(phi - rng.random(phi.shape) * rng.choice([1e-9, 0.01, 0.3, 2]) - 1e-15, 0)
    hi = np.minimum(phi + rng.random(phi.shape) * rng.choice([1e-9, 0.01, 0.3, 2]) + 1e-15, 1)
    return lo, hi


@CASES
def test_column_bound_covers_random_priors(setting):
    ref, _, pairs, entropy, rng = setting
    for _ in range(300):
        p = ref.random(rng)
        lo, hi = random_box(ref, p, rng)
        mu = float(rng.choice([0, 1e-6, 0.01, 0.3, 1, 10]))
        nu = rng.normal(size=lo.shape) * rng.choice([0, 0.1, 3]) * (rng.random(lo.shape) < 0.7)
        box = [Column(map(q, lo[:, y]), map(q, hi[:, y]), law=True).sides for y in range(ref.Y)]
        if not all(box):  # only rounding of the 1e-15 margin can do this
            continue
        hints = [[q(x) for x in nu[:, y]] for y in range(ref.Y)]
        bound = column_bound(pairs, box, q(mu), hints, entropy)
        assert float(bound) >= ref.information(p) - 1e-11
        if mu >= 0.01 and np.min(hi - lo) > 1e-3:
            assert float(bound) == pytest.approx(ref.column(lo, hi, mu, nu), abs=1e-7)


@CASES
def test_dual_bound_covers_random_priors(setting):
    ref, channel, pairs, entropy, rng = setting
    for _ in range(150):
        p = ref.random(rng)
        law = rng.gamma(0.7, size=ref.Y) + 1e-4
        law /= law.sum()
        beta = float(rng.choice([1e-4, 0.05, 0.5, 3]))
        exact = [q(x) for x in law]
        exact = [x / sum(exact, fmpq(0)) for x in exact]
        logs = [arb(x).log() for x in exact]
        phi = []
        for a, inputs in enumerate(pairs.inputs):
            used = p[a] > 0
            point = (p[a] / p[a].sum()) @ ref.R
            ranges = channel.ranges(inputs)
            lo = [
                max(low, q(x - 1e-14 - rng.random() * rng.choice([0, 0.1, 1])))
                for (low, _), x in zip(ranges, point, strict=True)
            ]
            hi = [
                min(high, q(x + 1e-14 + rng.random() * rng.choice([0, 0.1, 1])))
                for (_, high), x in zip(ranges, point, strict=True)
            ]
            nu = [q(x) for x in rng.normal(size=ref.Y) * rng.choice([0, 0.3])]
            box = [Column([low], [high], law=False).sides[0] for low, high in zip(lo, hi, strict=True)]
            phi.append(row_bound(pairs, a, box, q(beta), nu, logs))
            w = p[a][used] / p[a].sum()
            value = float(
                (point * np.log(np.maximum(point, 1e-300) / law)).sum()
                + beta * (w * (ref.logN[a][used] - np.log(w))).sum()
            )
            assert float(phi[-1]) >= value - 1e-10
            expected = ref.row(
                a,
                np.array([float(arb(x)) for x in lo]),
                np.array([float(arb(x)) for x in hi]),
                beta,
                np.array([float(arb(x)) for x in nu]),
                law,
            )
            if all(high - low > fmpq(1, 1000) for low, high in zip(lo, hi, strict=True)):
                assert float(phi[-1]) == pytest.approx(expected, abs=1e-7)
        assert float(dual_bound(phi, q(beta), entropy)) >= ref.information(p) - 1e-10


@CASES
def test_divergences_cover_random_priors(setting):
    """The dual bound without the entropy, and the law of a class set for priors on it."""
    ref, channel, pairs, _, rng = setting
    for _ in range(150):
        law = rng.gamma(0.7, size=ref.Y) + 1e-4
        law /= law.sum()
        exact = [q(x) for x in law]
        divergences = channel.divergences([x / sum(exact, fmpq(0)) for x in exact])
        assert [float(d) for d in divergences] == pytest.approx(ref.divergences(law).tolist(), abs=1e-10)
        p = ref.random(rng)
        assert max(float(divergences[k]) for row in pairs.inputs for k in row) >= ref.information(p) - 1e-10


@CASES
def test_tightened_columns_keep_every_law_and_notice_empty_boxes(case):
    rng = np.random.default_rng(case)
    for _ in range(200):
        size = int(rng.integers(1, 5))
        weights = [int(x) for x in rng.integers(0, 6, size)]
        weights[0] += not any(weights)
        phi = [fmpq(w, sum(weights)) for w in weights]
        column = Column([fmpq(0)] * size, [fmpq(1)] * size, law=True)
        other = column
        for _ in range(6):
            a, t = int(rng.integers(size)), fmpq(int(rng.integers(-2, 12)), 8)
            below, above = column.split(a, t)
            column = below if phi[a] <= t else above
            other = other.split(a, t)[int(rng.integers(2))]
        sides = column.sides
        assert sides
        assert all(
            (low <= x) is not False and not low > x and not high < x
            for (_, _, low, high), x in zip(sides, map(arb, phi), strict=True)
        )
        empty = not other.sides
        inside = all(lo <= hi for lo, hi in zip(other.los, other.his, strict=True)) and sum(
            other.los, fmpq(0)
        ) <= 1 <= sum(other.his, fmpq(0))
        assert empty == (not inside)


def test_repeated_splits_keep_the_narrower_side():
    column = Column([fmpq(0)] * 2, [fmpq(1)] * 2, law=True)
    inner = column.split(0, fmpq(1, 2))[1].split(0, fmpq(1, 4))[1].split(0, fmpq(7, 8))[0].split(0, fmpq(9, 10))[0]
    assert (inner.los[0], inner.his[0]) == (fmpq(1, 2), fmpq(7, 8))
    assert inner.split(0, fmpq(1, 4))[0].sides == []


def test_divergence_is_zero_only_for_the_row_itself(forge):
    rows = 'kind="matrix"; rows=[["1/2","1/4","1/4"],["1/2","1/3","1/6"]]'
    channel = build(parse_model(forge.model("count=2; alphabet=2", 'kind="parity"', rows, "0")), None)
    same, other = channel.divergences([fmpq(1, 2), fmpq(1, 4), fmpq(1, 4)])
    assert same == 0
    assert other > fmpq(1, 100)
