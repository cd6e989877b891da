"""Values and counts of queries, and channels against their formulas; laws/test_reductions.py lists every dataset."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
from campaigns import each
from dalenius.reduction import completions
from support import refused, refuses

BINARY, MIXED = dl.Records(4, alphabet=2), dl.Records(alphabets=[2, 3, 1, 2])


def test_a_histogram_lists_its_values_by_number():
    """In the order of the vectors, beside letters that are randomised; too many are refused."""
    query = dl.Histogram().of_records(BINARY)
    assert query.check(BINARY) is None
    assert query.values(BINARY).tolist() == [0, 1, 2, 3, 4]
    assert query.value(BINARY, [0, 0, 0, 1]) == 3
    refused(lambda: query.check_values(dl.Records(200, alphabet=4)), "histograms; at most 65536")
    refused(lambda: query.check(MIXED), "one alphabet")


def test_margins_count_by_some_attributes():
    """Letters are combinations, the last attribute fastest; every table is a histogram's sum."""
    query, people = dl.queries.Margins([2, 3], [[1], [0, 1], [0]]), dl.Records(5, alphabet=6)
    letters = [5, 0, 5, 1, 3]
    assert query.in_every_cell(people, letters) == [2, 1, 2, 1, 1, 0, 1, 0, 2, 2, 3]
    assert dl.Histogram().in_every_cell(people, letters) == [1, 1, 0, 1, 0, 2]
    assert dl.queries.Margins.lattice([2, 2, 2], 2).tables == ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))


test_margins_that_are_none = refuses(
    ({"attributes": []}, "1 to 13 attributes, got 0"),
    ({"attributes": [2] * 14}, "1 to 13 attributes, got 14"),
    ({"attributes": [3, 1]}, "attributes: expected an integer of at least 2, got 1"),
    ({"tables": []}, "1 to 64 tables, got 0"),
    ({"tables": [[0]] * 65}, "1 to 64 tables, got 65"),
    ({"tables": [[]]}, "tables[0] must list the attributes of a table"),
    ({"tables": [[0], [1, 0]]}, "tables[1] must list the attributes of a table, ascending and each once, got [1, 0]"),
    ({"tables": [[0], [2]]}, "tables[1] counts by attribute 2, which is none: attributes are numbered from 0 to 1"),
    ({"tables": [0]}, "tables[0]: expected a list"),
    ({"records": BINARY}, "attributes of 2 x 3 values have 6 combinations, and the records have 2 letters"),
    ({"records": dl.Records(alphabets=[6, 5])}, "one alphabet"),
    ({"adversary": dl.AnyPrior()}, "a table is audited against independent_blocks or product_priors"),
    ({"adversary": dl.IndependentBlocks(2, entropy_at_least="1 nats")}, "not known for a table; leave it out"),
    ({"mechanism": dl.randomized_histogram(1)}, "a table is audited with noise on whole numbers"),
    ({"mechanism": dl.laplace(1)}, "; got laplace"),
    ({"mechanism": dl.geometric(1, range=(0, 4))}, "runs from 0 to 5, outside the range [0, 4]; widen it"),
    ({"mechanism": dl.several_releases(dl.geometric(1))}, "2 tables must have one part on each, from 0 to 1"),
    ({"mechanism": dl.several_releases(*[dl.geometric(1)] * 2, times=2, on=[0, 1])}, "with times = 1"),
    ({"mechanism": dl.several_releases(dl.geometric(1), dl.symmetric("0.1"), on=[0, 1])}, "; got symmetric"),
    by=lambda changed: dl.WorstCaseLeakage(
        query=dl.queries.Margins(changed.pop("attributes", [2, 3]), changed.pop("tables", [[0], [0, 1]])),
        **{
            "records": dl.Records(5, alphabet=6),
            "mechanism": dl.discrete_laplace(1),
            "adversary": dl.IndependentBlocks(2),
        }
        | changed,
    ),
)


def test_margins_are_for_audits_and_go_together_by_themselves():
    tables, people = dl.queries.Margins([2, 2], [[0], [1]]), dl.Records(4, alphabet=4)
    refused(lambda: dl.Joint(tables, dl.Count()), "tables of the same people are one query, margins")
    refused(lambda: dl.Secret(tables), "give a list of them instead")
    given = {"records": people, "query": tables, "distortion": dl.Hamming(), "adversary": dl.AnyPrior()}
    refused(lambda: dl.MinLeakage(max_distortion="0.1", **given), "margins are for audits")


def test_a_joint_query_counts_vectors():
    query = dl.Joint(dl.Count(), dl.Parity()).of_records(MIXED)
    parts = completions(query, MIXED)
    values = [(sum(a == 1 for a in x), sum(x) % 2) for x in itertools.product(*map(range, MIXED.alphabets))]
    assert query.values(MIXED).tolist() == list(range(len(set(values))))
    total = sum(math.exp(part.log_uniform[a, k]) for part in parts[:1] for a in range(2) for k in query.values(MIXED))
    assert total == pytest.approx(1.0)


def test_equal_records_are_grouped():
    assert [(p.record, p.times) for p in completions(dl.Count(), BINARY)] == [(0, 4)]
    assert [(p.record, p.times) for p in completions(dl.Count(), MIXED)] == [(0, 2), (1, 1), (2, 1)]


def test_log_uniform_stay_accurate_where_counts_have_hundreds_of_digits():
    (part,) = completions(dl.Count(), dl.Records(2000, alphabet=2))
    exact = [(math.log(math.comb(1999, k)) - 2000 * math.log(2)) for k in range(2000)]
    np.testing.assert_allclose(part.log_uniform[0, :2000], exact, rtol=1e-12)
    assert part.log_uniform[0, 2000] == -np.inf


VALUES = np.arange(4)


@each(
    "mechanism, entry",
    (dl.symmetric(0.3, k=4), lambda v, y: 0.7 if v == y else 0.1),
    (dl.randomized_response(1.0, k=4), lambda v, y: (math.e if v == y else 1.0) / (math.e + 3)),
    (dl.geometric(0.5, range=3), lambda v, y: geometric_entry(v, y, 0.5, 3)),
    (dl.several_releases(dl.symmetric(0.3)), lambda v, y: 0.7 if v == y else 0.1),
    (dl.adaptive(dl.symmetric(0.3)), lambda v, y: 0.7 if v == y else 0.1),
    (dl.randomized_count(flip=0), lambda v, y: float(v == y)),
    (dl.randomized_histogram(flip=1).of_records(dl.Records(3, alphabet=2)), lambda v, y: float(v + y == 3)),
    (dl.discrete_gaussian(scale=2, range=3), lambda v, y: gaussian_entry(v, y, 2, 3)),
    (dl.discrete_laplace(scale=2), lambda v, y: geometric_entry(v, y, 0.5, 3)),
    (dl.staircase(0.5, sensitivity=1, top=1), lambda v, y: geometric_entry(v, y, 0.5, 3)),
    (
        dl.exponential(1.0, range=3),
        lambda v, y: math.exp(-abs(v - y) / 2) / sum(math.exp(-abs(v - z) / 2) for z in range(4)),
    ),
    (dl.Channel(np.eye(4)[::-1]), lambda v, y: float(v + y == 3)),
    (dl.Channel([[1], [1], [1], [1]]), lambda v, y: 1.0),
    (dl.Channel(np.eye(5)[:4] / 2 + np.eye(5)[1:] / 2), lambda v, y: 0.5 if v in (y, y - 1) else 0.0),
    (dl.subset_selection(1, size=3), lambda v, y: (1 if v + y == 3 else math.e) / (3 * math.e + 1)),
)
def test_channels_are_their_formulas(mechanism, entry):
    channel = mechanism.channel(VALUES)
    expected = np.array([[entry(v, y) for y in range(channel.shape[1])] for v in range(4)])
    assert expected.any(axis=0).all(), "an output that no value gives"
    np.testing.assert_allclose(expected.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(channel, expected, atol=1e-15)


def geometric_entry(v, y, epsilon, top):
    a = math.exp(-epsilon)
    return a ** abs(v - y) / (1 + a) * (1 if y in (0, top) else 1 - a)


def gaussian_entry(v, y, scale, top):
    reached = [y] if 0 < y < top else range(y - 60, y + 1) if y == 0 else range(y, y + 61)
    weights = {k: math.exp(-0.5 * (k / scale) ** 2) for k in range(-90, 91)}
    return sum(weights[k - v] for k in reached) / sum(weights.values())


def test_balls_of_discrete_gaussian_noise_contain_the_doubles():
    values = np.arange(0, 9, 2)
    for scale, ends in ((1, (0, 8)), ("0.3", (-2, 9)), (20, (-50, 70)), ("1/100", (0, 8))):
        mechanism = dl.discrete_gaussian(scale=scale, range=ends)
        entries = mechanism.exact_entries(values)
        doubles = np.array([float(x.mid()) for x in entries.numbers])
        np.testing.assert_allclose(doubles[entries.index], mechanism.channel(values), rtol=1e-11, atol=1e-300)
        assert all(sum(row).contains(1) for row in entries.matrix)


def test_what_nothing_cuts_off_tells_no_more_than_what_is_merged(support):
    """Noise on 60 integers more on either side: the same capacity, and the same information of any law."""
    mechanism, values = dl.discrete_laplace(0.7), np.array([0, 2, 5])
    steps = np.abs(np.arange(-60, 66)[None, :] - values[:, None])
    whole = math.tanh(0.35) * np.exp(-0.7 * steps)
    merged = mechanism.channel(values)
    assert merged.shape == (3, 6)
    assert mechanism.output_labels(values) == ["at most 0", "1", "2", "3", "4", "at least 5"]
    np.testing.assert_allclose(support.capacity(merged)[0], support.capacity(whole)[0], atol=1e-11)
    law = np.array([0.2, 0.5, 0.3])
    np.testing.assert_allclose(
        law @ support.divergences(merged, law @ merged), law @ support.divergences(whole, law @ whole)
    )
    assert mechanism.channel(np.array([4])).tolist() == [[1.0]]


def staircase_law(epsilon, size, top, far):
    """P(-far), ..., P(far) by their definition, a stair of `size` after the other."""
    b = math.exp(-epsilon)
    side = [1.0] * top + [b] * (size - top)
    while len(side) <= far:
        side += [b * x for x in side[-size:]]
    law = np.array([*side[far:0:-1], *side[: far + 1]])
    return law / law.sum()


@each("epsilon, size, top", (0.7, 3, 1), (0.7, 3, 3), (2.0, 2, 1), ("1/3", 5, 2), (40, 2, 1))
def test_stairs_are_merged_without_loss(support, epsilon, size, top):
    """Noise on 600 integers more on either side: the same capacity, and the same information of any law; balls and doubles agree."""
    mechanism, values = dl.staircase(epsilon, sensitivity=size, top=top), np.array([0, 2, 5])
    law = staircase_law(float(Fraction(epsilon)), size, top, 600)
    whole = np.array([np.r_[np.zeros(v), law, np.zeros(5 - v)] for v in values])[:, 5:-5]
    merged, entries = mechanism.channel(values), mechanism.exact_entries(values)
    assert merged.shape == (3, 4 + 2 * size)
    assert len(mechanism.output_labels(values)) == 4 + 2 * size
    np.testing.assert_allclose(merged.sum(axis=1), 1, atol=1e-14)
    doubles = np.array([float(x.mid()) for x in entries.numbers])
    np.testing.assert_allclose(doubles[entries.index], merged, rtol=1e-12)
    assert all(sum(row).contains(1) for row in entries.matrix)
    np.testing.assert_allclose(support.capacity(merged)[0], support.capacity(whole)[0], atol=1e-11)
    law = np.array([0.2, 0.5, 0.3])
    told, all_told = (law @ support.divergences(rows, law @ rows) for rows in (merged, whole))
    np.testing.assert_allclose(told, all_told, rtol=1e-9)
    assert mechanism.channel(np.array([4])).tolist() == [[1.0]]
    assert mechanism.exact_entries(np.array([4])).matrix.tolist() == [[1]]


def test_stairs_have_names():
    assert dl.staircase(1, sensitivity=2, top=1).output_labels(np.arange(3)) == [
        "-1, -3, ...",
        "0, -2, ...",
        "1",
        "2, 4, ...",
        "3, 5, ...",
    ]


test_noise_that_cannot_be = refuses(
    (lambda: dl.discrete_laplace(), "either epsilon or scale"),
    (lambda: dl.discrete_laplace(1, scale=1), "either epsilon or scale"),
    (lambda: dl.discrete_laplace(0), "above 0"),
    (lambda: dl.discrete_laplace(scale="1/2000"), "at least 1/1000"),
    (lambda: dl.discrete_laplace(scale=-1), "at least 1/1000"),
    (lambda: dl.discrete_laplace(scale="wide"), "wide"),
    (lambda: dl.discrete_gaussian(scale=0), "from 1/100"),
    (lambda: dl.staircase(1, sensitivity=2, top=3), "top must be at most the sensitivity 2, got 3"),
    (lambda: dl.staircase(1, 2, 1), "expected staircase(epsilon, sensitivity=..., top=...)"),
    (lambda: dl.staircase(0, sensitivity=2, top=1), "above 0"),
    (lambda: dl.discrete_gaussian(1), "discrete_gaussian(scale=..., range=...)"),
    (lambda: dl.discrete_gaussian(scale=1).channel(VALUES), "without a range"),
    (lambda: dl.discrete_gaussian(scale=1, range=2).channel(VALUES), "widen it"),
    (lambda: dl.gaussian(0), "from 1/1000"),
    (lambda: dl.laplace("2e6"), "to 1000000"),
    (lambda: dl.gaussian(scale=1, range=3), "expected gaussian(scale)"),
    (lambda: dl.gaussian(1).channel(VALUES), "has no matrix"),
    (lambda: dl.laplace(1).exact_channel(VALUES), "no matrix, as discrete_laplace has; it is known against"),
    (
        lambda: dl.gaussian(1).quadrature(np.arange(65)),
        "(against independent_blocks, of what one household adds), here are 65",
    ),
    (lambda: dl.laplace("0.01").quadrature(VALUES), "raise the scale"),
    (lambda: dl.several_releases(dl.gaussian(1)), ["several_releases knows matrix", "its scale over the root of T"]),
    (
        lambda: dl.several_releases.from_table({"parts": [{"kind": "gaussian", "scale": 1}]}, "[mechanism]"),
        ["[mechanism]: parts[0]: kind must be one of ", "got 'gaussian'", "(dalenius compose)"],
    ),
)


def test_laplace_threshold_channel():
    flip = math.exp(-0.5) / 2
    np.testing.assert_allclose(dl.laplace_threshold(1.0).channel(np.arange(2)), [[1 - flip, flip], [flip, 1 - flip]])


def test_local_protocols_are_their_formulas():
    e, values = 3.0, np.arange(3)
    bits = [[[0.5, 0.25 if y >> j & 1 else 0.75] for j in range(3)] for y in range(8)]
    expected = [[math.prod(bits[y][j][int(j != v)] for j in range(3)) for y in range(8)] for v in range(3)]
    np.testing.assert_allclose(dl.optimized_unary_encoding("log 3").channel(values), expected, rtol=1e-14)
    hashed = [[(e if h // 2**v % 2 == b else 1) / 8 / (e + 1) for h in range(8) for b in range(2)] for v in range(3)]
    np.testing.assert_allclose(dl.local_hashing("log 3", buckets=2).channel(values), hashed, rtol=1e-14)
    sylvester = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])[1:]
    rows = np.where(sylvester > 0, e, 1.0) / 2 / (e + 1)
    np.testing.assert_allclose(dl.hadamard_response("log 3").channel(values), rows, rtol=1e-14)


test_local_protocols_that_do_not_fit = refuses(
    (lambda: dl.subset_selection(1, size=4, k=4).channel(VALUES), "size must be below"),
    (lambda: dl.subset_selection(1), "expected subset_selection(epsilon, size=..., k=...)"),
    (lambda: dl.local_hashing(1, buckets=1), "at least 2"),
    (lambda: dl.hadamard_response(-1), "at least 0"),
    (lambda: dl.hadamard_response("log 1/2"), "at least 0"),
    (lambda: dl.optimized_unary_encoding(1, k=3).channel(VALUES), "k is 3"),
    (lambda: dl.optimized_unary_encoding(1).channel(np.arange(1000)), "never written out"),
    (lambda: dl.optimized_unary_encoding("1 bit"), "bits"),
)
