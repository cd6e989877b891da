"""A child's box is bounded no worse than its parent's: it may keep the parent's hints, which hold in every part of the box."""

import numpy as np

import dalenius as dl
import support
from campaigns import each
from dalenius.audits.bounds.posteriors import PosteriorRelaxation
from dalenius.audits.bounds.rows import RowRelaxation
from dalenius.reduction import RecordChannel, record_channels

ROUNDING = 1e-12


def channel(seed: int) -> RecordChannel:
    """The first record of two, of three and four letters, through a random channel to four outputs."""
    rows = np.random.default_rng(seed).dirichlet(np.full(4, 0.5), size=12).round(6)
    rows[:, -1] = np.abs(1.0 - rows[:, :-1].sum(axis=1)).round(6)
    problem = support.problem(dl.Records(alphabets=[3, 4]), None, dl.Channel(rows, inputs="dataset"), "0.6 max")
    return record_channels(problem)[0]


def children_are_no_worse(relaxation, low, high, hints, rng) -> int:
    """Halve boxes at random places, ten levels deep, one part kept; how many parts have been looked at."""
    looked, parent = 0, relaxation(low[None], high[None], hints[None])
    for _ in range(10):
        j = int(rng.integers(low.size))
        threshold = low[j] + rng.uniform(0.05, 0.95) * (high[j] - low[j])
        lows, highs = np.array([low, low]), np.array([high, high])
        highs[0, j] = lows[1, j] = threshold
        parts = relaxation(lows, highs, np.array([parent.hints[0]] * 2))
        assert np.all(parts.bounds <= parent.bounds[0] + ROUNDING)
        kept = int(np.argmax(parts.bounds))
        low, high = lows[kept], highs[kept]
        parent = type(parent)(*(getattr(parts, name)[kept : kept + 1] for name in parent.__dataclass_fields__))
        looked += 2
    return looked


@each("seed", *range(8))
def test_rows(seed):
    audited, rng = channel(seed), np.random.default_rng(seed)
    exists = np.isfinite(audited.log_uniform[0])
    rows, shares = audited.rows[exists], audited.log_uniform[0][exists]
    relaxation = RowRelaxation(rows, shares, rng.dirichlet(np.ones(4)), rng.uniform(0.05, 1.0))
    assert children_are_no_worse(relaxation, rows.min(axis=0), rows.max(axis=0), np.zeros(4), rng) == 20


@each("seed", *range(8))
def test_posteriors(seed):
    audited, rng = channel(seed), np.random.default_rng(seed)
    relaxation = PosteriorRelaxation(audited)
    assert children_are_no_worse(relaxation, *relaxation.root(0.3), rng) == 20
