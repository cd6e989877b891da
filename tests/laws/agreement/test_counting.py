"""The lossless aggregation against enumeration, and at sizes where nothing can be listed."""

import math
import tracemalloc
from collections import Counter

import numpy as np
import pytest

import dalenius as dl
from campaigns import each
from dalenius.reduction import record_channels

QUERIES = {
    "parity": ([2, 3, 2, 4], dl.Parity()),
    "parity with idle records": ([1, 2, 1], dl.Parity()),
    "modular sum": ([3, 3, 2], dl.ModularSum(3)),
    "modulus above every sum": ([2, 2], dl.ModularSum(7)),
    "modulus below the alphabet": ([5, 4, 5], dl.ModularSum(2)),
    "count": ([2, 2, 2, 2], dl.Count()),
    "count of letters": ([4, 2, 3, 4], dl.Count([0, 3])),
    "sum": ([2, 3, 4], dl.Sum()),
    "weighted sum": ([3, 2, 3], dl.Sum([-2, 5, 0])),
    "weights with ties": ([3, 3], dl.Sum([1, 1, 4])),
    "weights per record": ([2, 3, 2], dl.Sum([[0, 1], [10, -10, 3], [0, 1]])),
    "threshold": ([2, 3, 3], dl.Threshold(3)),
    "threshold below": ([2, 3], dl.Threshold(-5)),
    "threshold above": ([2, 3], dl.Threshold(50)),
    "table": ([2, 3, 2], dl.Table([5, 5, -1, 0, 0, 5, 7, 7, -1, 0, 5, 5])),
    "identity": ([3, 2, 2], dl.Identity()),
}


def distinct_rows(inputs: int) -> dl.Channel:
    """A channel with two outputs and a row of its own for every input."""
    return dl.Channel([[f"{v + 1}/{inputs + 2}", f"{inputs + 1 - v}/{inputs + 2}"] for v in range(inputs)])


def built(support, name):
    sizes, query = QUERIES[name]
    inputs = query.values(dl.Records(alphabets=sizes)).size
    return support.problem(sizes, query, distinct_rows(inputs), "0.5 max")


@each("name", *QUERIES)
def test_values_are_those_that_datasets_have(support, name):
    sizes, query = QUERIES[name]
    records = dl.Records(alphabets=sizes)
    values = query.values(records).tolist()
    assert values == sorted(set(values))
    assert set(support.listed_values(query, records)) <= set(values)
    if query.kind in ("sum", "table", "identity"):
        assert set(support.listed_values(query, records)) == set(values)


@each("name", *QUERIES)
def test_counts_of_completions(support, name):
    question = built(support, name)
    inputs, channels = np.array(support.inputs_of_datasets(question)), record_channels(question)
    for channel in channels:
        letters = support.letters_of(question, channel.record)
        counts = np.zeros(channel.completions.log_uniform.shape)
        np.add.at(counts, (letters, inputs), 1.0)
        assert np.array_equal(np.isfinite(channel.completions.log_uniform), counts > 0)
        assert np.exp(channel.completions.log_uniform) * question.records.datasets == pytest.approx(counts, rel=1e-12)


@each("name", *QUERIES)
def test_every_record_is_counted_once(support, name):
    """Each record that can leak belongs to exactly one kind, and records of a kind have equal counts."""
    question = built(support, name)
    inputs = support.inputs_of_datasets(question)

    def tally(record):
        return tuple(sorted(Counter(zip(support.letters_of(question, record).tolist(), inputs, strict=True)).items()))

    channels = record_channels(question)
    leaking = [i for i, size in enumerate(question.records.alphabets) if size > 1]
    assert sum(channel.times for channel in channels) == len(leaking)
    assert {tally(channel.record) for channel in channels} == {tally(i) for i in leaking}


@each("name", *QUERIES)
def test_equal_rows_are_merged_without_loss(support, name):
    """A channel with two distinct rows has at most two classes; shares of merged inputs add up."""
    sizes, query = QUERIES[name]
    inputs = query.values(dl.Records(alphabets=sizes)).size
    mechanism = dl.Channel([["0.5", "0.5", 0] if v % 2 else ["0.1", "0.9", 0] for v in range(inputs)])
    question = support.problem(sizes, query, mechanism, "0.5 max")
    for channel in record_channels(question):
        assert channel.rows.shape == (min(inputs, 2), 2)
        assert np.allclose(channel.rows[channel.aggregation.row_of_input], question.channel[:, :2])
        summed = np.zeros(channel.log_uniform.shape)
        np.add.at(summed.T, channel.aggregation.row_of_input, np.exp(channel.completions.log_uniform).T)
        assert np.exp(channel.log_uniform) == pytest.approx(summed, rel=1e-12)
        assert channel.uniform.sum() == pytest.approx(1.0, abs=1e-12)
        spread = channel.lift(channel.uniform)
        assert spread == pytest.approx(np.exp(channel.completions.log_uniform), rel=1e-12)


# ---------------------------------------------------------------- at scale


def at_scale(support, records, query):
    """The record channels, and the peak of memory in MiB while they were counted."""
    question = support.problem(records, query, distinct_rows(query.values(records).size), "0.999 max")
    tracemalloc.start()
    try:
        channels = record_channels(question)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
    return channels, peak


def test_parity_of_100_000_bits(support):
    channels, peak = at_scale(support, dl.Records(100_000, alphabet=2), dl.Parity())
    assert [(c.times, c.log_uniform.shape) for c in channels] == [(100_000, (2, 2))]
    assert channels[0].log_uniform == pytest.approx(np.full((2, 2), math.log(0.25)), abs=1e-9)
    assert channels[0].max_knowledge == pytest.approx(0.001 * 100_000 * math.log(2.0), rel=1e-12)
    assert peak < 32


def test_modular_sum_of_100_000_records(support):
    channels, peak = at_scale(support, dl.Records(100_000, alphabet=3), dl.ModularSum(7))
    assert [(c.times, c.log_uniform.shape) for c in channels] == [(100_000, (3, 7))]
    assert channels[0].log_uniform == pytest.approx(np.full((3, 7), math.log(1 / 21)), abs=1e-9)
    assert peak < 32


def test_count_over_2000_records(support):
    channels, peak = at_scale(support, dl.Records(2000, alphabet=2), dl.Count())
    assert [(c.times, c.log_uniform.shape) for c in channels] == [(2000, (2, 2001))]
    shares = channels[0].completions.log_uniform
    exact = [math.log(math.comb(1999, v)) - 2000 * math.log(2.0) for v in range(2000)]
    assert shares[0, :2000] == pytest.approx(np.array(exact), rel=1e-11)
    assert shares[1, 1:] == pytest.approx(np.array(exact), rel=1e-11)
    assert shares[0, 2000] == shares[1, 0] == -np.inf
    assert channels[0].uniform.sum() == pytest.approx(1.0, abs=1e-10)
    assert peak < 64


def test_mixed_records_at_scale(support):
    """Two kinds of records, many of each."""
    records = dl.Records(alphabets=[2] * 30_000 + [5] * 20_000)
    channels, peak = at_scale(support, records, dl.ModularSum(5))
    assert [(c.record, c.times, c.letters) for c in channels] == [(0, 30_000, 2), (30_000, 20_000, 5)]
    for channel in channels:
        exact = np.full((channel.letters, 5), -math.log(5 * channel.letters))
        assert channel.log_uniform == pytest.approx(exact, abs=1e-9)
    assert peak < 32
