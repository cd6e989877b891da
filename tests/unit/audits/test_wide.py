"""Counts through noise, by filters: against the channel written out, bins summed one output at a time, and exact binomials."""

import math

import numpy as np
import pytest

import dalenius as dl
from campaigns import each
from dalenius.audits.wide import Places, log_shares

FAR = 400


def test_a_count_that_is_rounded_is_bounded_like_one_that_is_not(monkeypatch):
    """A wide one, and one that is not wide, where nothing but a gap is asked for."""

    def asked():
        question = {"records": dl.Records(64, alphabet=2), "query": dl.Count(), "mechanism": dl.geometric(0.02)}
        return dl.WorstCaseLeakage(**question, adversary=dl.EntropyAtLeast("0.98 max"))

    def rounded(*places, entries):
        with monkeypatch.context() as patch:
            for place in places:
                patch.setattr(place, entries)
            return dl.solve(asked(), gap=0.5)

    wide = ("dalenius.model.problems.large.MAX_ENTRIES", "dalenius_check.core.verdict.MAX_ENTRIES")
    ordinary = dl.solve(asked(), gap=0.3)
    assert ordinary.records[0].method == "dual"
    for found in (rounded(*wide, entries=100), rounded("dalenius.audits.MANY", entries=100)):
        assert found.records[0].method == "rounded"
        assert '["grid",' in found.certificate.text
        assert found.lower <= ordinary.upper
        assert ordinary.lower <= found.upper
        assert found.lower >= 0.5 * found.upper
    assert found.witness.inputs == tuple(range(65))


@each("least, step, last, epsilon", (3, 1, 9, 0.5), (0, 3, 6, 0.2), (7, 9, 2, 1.5), (1, 5, 1, 0.01))
def test_two_filters_are_the_channel_written_out(least, step, last, epsilon):
    places = Places(least, step, last, epsilon)
    counts, outputs = np.array(places.counts), np.arange(-FAR * 10, FAR * 10)
    noise = np.exp(-epsilon * np.abs(outputs - counts[:, None])) * math.tanh(epsilon / 2)
    bins = np.abs(outputs[:, None] - counts).argmin(axis=1)  # no output is as near to two counts, steps being odd
    written = np.stack([noise[:, bins == place].sum(axis=1) for place in range(last + 1)], axis=1)
    assert np.allclose(places.through(np.eye(last + 1)), written, atol=1e-12)
    assert np.allclose(places.scores(np.eye(last + 1)), written.T, atol=1e-12)


def test_with_a_step_of_one_it_is_the_truncated_geometric_mechanism():
    assert np.allclose(Places(5, 1, 7, 0.3).through(np.eye(8)), dl.geometric(0.3).channel(np.arange(5, 13)), atol=1e-15)


@each("records, contributions", (40, (0, 1)), (25, (1, 0, 1)), (7, (1, 1)), (3000, (0, 0, 0, 1)))
def test_shares_are_those_of_exact_counts(records, contributions):
    counted, letters = sum(contributions), len(contributions)
    counts = np.unique(np.linspace(0, records, 31).astype(int))
    found = log_shares(records, contributions, counts.astype(float))
    for own, row in zip(contributions, found.tolist(), strict=True):
        for k, share in zip((counts - own).tolist(), row, strict=True):
            ways = 0
            if 0 <= k < records:
                ways = math.comb(records - 1, k) * counted**k * (letters - counted) ** (records - 1 - k)
            exact = math.log(ways) - records * math.log(letters) if ways else -math.inf
            assert share == pytest.approx(exact, rel=1e-12, abs=1e-11)
