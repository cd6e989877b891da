"""Channels at the edge: zeros, duplicates, one letter, one output, tiny entries, extreme epsilons. All end in a proof."""

import math

import pytest

import dalenius as dl
from campaigns import each, thinned

BOUNDS = ["0.95 max", "0.6 max", "0 max", "1 max"]


@pytest.mark.parametrize("bound", thinned(BOUNDS, every=4))
@pytest.mark.parametrize(
    ("rows", "same"),
    [
        ([["0.5", "0.5", 0], ["0.2", "0.8", 0]], [["0.5", "0.5"], ["0.2", "0.8"]]),
        ([[0, "0.5", 0, "0.5"], [0, "0.2", 0, "0.8"]], [["0.5", "0.5"], ["0.2", "0.8"]]),
        ([[1, 0], [0, 1]], [[0, 0, 1], [1, 0, 0]]),
    ],
)
def test_outputs_of_probability_zero(support, rows, same, bound):
    first = support.solve(support.problem([2, 2], dl.Parity(), dl.Channel(rows), bound))
    second = support.solve(support.problem([2, 2], dl.Parity(), dl.Channel(same), bound))
    support.assert_overlap(first, second)


@each("bound", *thinned(BOUNDS, every=2))
def test_duplicate_rows(support, bound):
    """A count whose values 0, 1 and 2, 3 cannot be told apart is a threshold."""
    a, b = ["0.9", "0.1"], ["0.2", "0.8"]
    first = support.problem([2] * 3, dl.Count(), dl.Channel([a, a, b, b]), bound)
    second = support.problem([2] * 3, dl.Threshold(2), dl.Channel([a, b]), bound)
    support.assert_overlap(support.solve(first), support.solve(second))


@each("bound", *thinned(BOUNDS, every=2))
def test_rows_equal_but_for_a_hair(support, bound):
    rows = [["0.5", "0.5"], ["0.5000000000000000000001", "0.4999999999999999999999"]]
    assert support.solve(support.problem([2, 2], dl.Parity(), dl.Channel(rows), bound)).upper < 1e-8


@pytest.mark.parametrize("bound", thinned(BOUNDS, every=2))
def test_rows_that_do_not_sum_to_one_exactly(support, bound):
    rows = [["0.3333333333", "0.6666666666"], ["0.2000000001", "0.8"]]
    exact = [["1/3", "2/3"], ["2000000001/10000000001", "8000000000/10000000001"]]
    first = support.solve(support.problem([2, 2], dl.Parity(), dl.Channel(rows), bound))
    second = support.solve(support.problem([2, 2], dl.Parity(), dl.Channel(exact), bound))
    support.assert_overlap(first, second)


@each("bound", *thinned(BOUNDS, every=2))
@each(
    "query, rows",
    (dl.Parity(), [[1, 0], [0, 1]]),
    (dl.Parity(), [[0, 1], [1, 0]]),
    (dl.Count(), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    (dl.Count(), [[1, 0], [0, 1], [1, 0]]),
    (dl.Identity(), [[1, 0], [1, 0], [0, 1], [0, 1]]),
)
def test_deterministic_channels(support, query, rows, bound):
    result = support.solve(support.problem([2, 2], query, dl.Channel(rows), bound))
    assert result.upper <= math.log(2.0) + 1e-9
    if bound == "0 max":
        support.assert_contains(result, math.log(2.0), gap=1e-9)


@each("bound", *thinned(BOUNDS, every=2))
@each("sizes", [1], [1, 1], [2, 1], [1, 3, 1])
def test_one_letter_alphabets(support, sizes, bound):
    result = support.solve(support.problem(sizes, dl.Parity(), dl.symmetric(0.1, k=2), bound))
    if max(sizes) == 1:
        assert (result.lower, result.upper, result.record, result.witness) == (0.0, 0.0, None, None)
    else:
        assert result.record == sizes.index(max(sizes))


@each("bound", *thinned(BOUNDS, every=2))
def test_single_output(support, bound):
    result = support.solve(support.problem([2, 3], dl.Sum(), dl.Channel([[1]] * 4), bound))
    support.assert_contains(result, 0.0)
    assert result.upper <= 1e-9


@each("bound", *thinned(BOUNDS, every=4))
@each("tiny", "1e-17", "1e-100", "1e-300", "1e-320", "1e-390")
def test_tiny_entries(support, tiny, bound):
    """Entries far below a double's resolution, in places where a law must not be zero."""
    nearly = f"0.{'9' * 12}"
    rows = [[tiny, nearly, f"1e-{12}"], [tiny, "0.2", "0.8"], [tiny, "1e-12", nearly]]
    result = support.solve(support.problem([2, 2], dl.Count(), dl.Channel(rows), bound))
    plain = dl.Channel([row[1:] for row in rows])
    support.assert_overlap(result, support.solve(support.problem([2, 2], dl.Count(), plain, bound)))


@each("bound", *thinned(BOUNDS, every=2))
@each(
    "query, mechanism",
    (dl.Parity(), dl.laplace_threshold(0)),
    (dl.Parity(), dl.laplace_threshold(700)),
    (dl.Parity(), dl.laplace_threshold(1000)),
    (dl.Count(), dl.randomized_response(0)),
    (dl.Count(), dl.randomized_response(700)),
    (dl.Count(), dl.randomized_response(1000)),
    (dl.Count(), dl.geometric("1e-300")),
    (dl.Count(), dl.geometric(700)),
    (dl.Count(), dl.geometric(1000)),
    (dl.Count(), dl.geometric(700, range=(-3, 5))),
    (dl.Count(), dl.exponential(0)),
    (dl.Count(), dl.exponential(700)),
    (dl.Count(), dl.exponential(1000, range=(-3, 5))),
    (dl.Count(), dl.exponential(700, sensitivity="1e-9")),
    (dl.Count(), dl.exponential(700, sensitivity="1e300")),
)
def test_extreme_epsilons(support, query, mechanism, bound):
    result = support.solve(support.problem([2, 2, 2], query, mechanism, bound))
    assert result.upper <= math.log(2.0) + 1e-9


@each("sensitivity", "1e-30", "1e-300", "1e-320", "1e-400")
def test_sensitivities_that_leave_no_noise(support, sensitivity):
    """Either the interval of the noiseless release, or an error that says what is wrong: no other exception."""
    try:
        question = support.problem([2, 2], dl.Parity(), dl.exponential(1, range=1, sensitivity=sensitivity), 0)
    except dl.errors.InputError as error:
        assert "sensitivity" in str(error)  # noqa: PT017
        return
    support.assert_contains(support.solve(question), math.log(2.0), gap=1e-6)


@pytest.mark.parametrize("bound", thinned(BOUNDS, every=4))
@pytest.mark.parametrize(
    ("query", "mechanism"),
    [
        (dl.Threshold(99), dl.symmetric(0, k=2)),
        (dl.Threshold(99), dl.symmetric(0.1, k=2)),
        (dl.Threshold(-99), dl.laplace_threshold(1)),
        (dl.ModularSum(7), dl.symmetric(0, k=7)),
        (dl.ModularSum(7), dl.randomized_response(1, k=7)),
    ],
    ids=lambda part: str(part)[:60],
)
def test_values_that_nobody_attains(support, query, mechanism, bound):
    result = support.solve(support.problem([2, 2], query, mechanism, bound))
    if query.kind == "threshold":
        assert result.upper <= 1e-9


@each("bound", "1e-300", "1e-12", "0.999999999999 max", "0.99999999999999999999 max")
def test_bounds_next_to_the_ends(support, bound):
    """A hair above no entropy, a hair below all of it: close to the end itself."""
    ends = ["0 max"] if bound.endswith(("0", "2")) else ["1 max"]
    near = support.solve(support.problem([2] * 3, dl.Count(), dl.geometric(1.0), bound))
    for end in ends:
        at = support.solve(support.problem([2] * 3, dl.Count(), dl.geometric(1.0), end))
        assert near.lower <= at.upper + 1e-4
        assert at.lower <= near.upper + 1e-4


SUM_BESIDE_PARITY = dl.Joint(dl.Sum([[0, 1], [0, 2]]), dl.Parity())
SUM_BESIDE_COUNT = dl.Joint(dl.Sum([[0, 1], [0, 2]]), dl.Count())


@each(
    "query, mechanism, bound",
    (SUM_BESIDE_PARITY, dl.several_releases(dl.geometric(1), on=[1]), "0 max"),
    (SUM_BESIDE_PARITY, dl.several_releases(dl.geometric(1), on=[1]), "0.7 max"),
    (SUM_BESIDE_COUNT, dl.several_releases(dl.geometric(1), on=[1]), "0 max"),
    (SUM_BESIDE_PARITY, dl.adaptive(dl.geometric(1, range=1), on=1), "0.7 max"),
    (dl.Identity(), dl.geometric("1e-17"), "0 max"),
)
def test_records_are_alike_only_where_their_numbers_are(support, query, mechanism, bound):
    """What is released of one record's letters looks like that of another's; their counts of exact rows are not the same."""
    result = support.solve(support.problem([2, 2], query, mechanism, bound), gap=1e-3, time_limit=3.0)
    assert result.gap <= 1e-3 or result.upper <= 1e-9
    assert not result.refusals
