"""Histograms, by definition: every output of all cells listed, in doubles, against what the checker makes of sums of scores."""

import itertools
import math
import random

import numpy as np
import pytest

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.histogram import patterns

DRAWN = [
    ("discrete_laplace", 'epsilon="0.8"', 0.8),
    ("geometric", 'epsilon="1.5"', 1.5),
    ("discrete_gaussian", 'scale="0.4"', 0.4),
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
    a = math.exp(-rate)
    inside = [1 if y in (0, m) else 1 - a for y in range(m + 1)]
    return np.array([[a ** abs(y - s) * inside[y] / (1 + a) for y in range(m + 1)] for s in range(m + 1)])


@each("seed", *range(draws(6, 300)))
@each("arithmetic", "flint", "python")
def test_both_lines_by_enumeration(seed, arithmetic, forge):
    """Either bound is accepted just where it holds; a witness never tells more than its prior does."""
    rng = random.Random(seed)
    kind, keys, rate = DRAWN[seed % 3]
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
