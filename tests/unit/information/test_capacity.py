"""Shannon capacity against Blahut-Arimoto, against itself on equivalent channels, and where channels degenerate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns import each, thinned
from dalenius.information.capacity import capacities, capacity
from dalenius.search.clock import Clock
from support import examples

ROUNDING = 1e-13  # the bounds are evaluated in doubles
quick = examples(10, 60)

WEIGHTS = st.one_of(
    st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0, 0.5, 1e-300, 1e-100, 1e-17, 1e-9]), st.floats(1e-3, 1.0)
)


@st.composite
def channels(draw, largest=6):
    """Random channels with zeros, tiny entries, copies of rows and multiples of columns."""
    inputs, outputs = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    weights = np.array(
        draw(st.lists(st.lists(WEIGHTS, min_size=outputs, max_size=outputs), min_size=inputs, max_size=inputs))
    )
    weights[weights.sum(axis=1) < 1e-3] = 1.0
    rows = weights / weights.sum(axis=1, keepdims=True)
    if draw(st.booleans()):
        rows = rows[draw(st.lists(st.integers(0, inputs - 1), min_size=1, max_size=2 * inputs))]
    if draw(st.booleans()):
        rows = np.concatenate([0.25 * rows, 0.75 * rows], axis=1)
    return rows


def dirichlet(seed, inputs, outputs, concentration=1.0):
    rows = np.random.default_rng(seed).dirichlet(np.full(outputs, concentration), size=inputs)
    return rows / rows.sum(axis=1, keepdims=True)


def assert_proved(support, rows, answer, gap=1e-9) -> None:
    """Laws, and the bounds that they give when these are evaluated here."""
    for law, size in ((answer.input_law, len(rows)), (answer.output_law, len(rows[0]))):
        assert law.shape == (size,)
        assert law.min() >= 0.0
        assert law.sum() == pytest.approx(1.0, abs=1e-12)
    assert answer.output_law.min() > 0.0
    assert answer.divergences == pytest.approx(support.divergences(rows, answer.output_law), abs=ROUNDING)
    assert answer.upper == answer.divergences.max()
    information = answer.input_law @ support.divergences(rows, answer.input_law @ rows)
    assert answer.lower == pytest.approx(information, abs=ROUNDING)
    assert 0.0 <= answer.lower <= answer.upper
    assert answer.gap <= gap


def assert_equal_capacity(first, second) -> None:
    assert first.lower <= second.upper + ROUNDING
    assert second.lower <= first.upper + ROUNDING


@quick
@given(channels())
def test_two_bounds_close_together(support, rows):
    assert_proved(support, rows, capacity(rows))


@quick
@given(channels(largest=4))
def test_against_blahut_arimoto(support, rows):
    lower, upper = support.capacity(rows, steps=500)
    answer = capacity(rows)
    assert answer.lower <= upper + ROUNDING
    assert lower <= answer.upper + ROUNDING


@pytest.mark.parametrize("shape", [(3, 3), (10, 4), (4, 10), (12, 12)])
@pytest.mark.parametrize("concentration", thinned([0.1, 1.0, 10.0], every=2))
def test_against_blahut_arimoto_run_long(support, shape, concentration):
    rows = dirichlet(0, *shape, concentration)
    lower, upper = support.capacity(rows, steps=20_000)
    answer = capacity(rows, gap=1e-12)
    assert_proved(support, rows, answer, gap=1e-12)
    assert answer.lower <= upper + ROUNDING
    assert lower <= answer.upper + ROUNDING
    assert lower == pytest.approx(answer.lower, abs=1e-6)


@each("shape", (70, 65), (61, 200), (200, 61), (130, 130), (5000, 10), (2, 2001), (10, 3000))
def test_shapes_on_both_sides_of_a_tile(support, shape):
    rows = dirichlet(1, *shape, 0.5)
    assert_proved(support, rows, capacity(rows))


@each(
    "rows",
    [[1.0]],
    [[1.0]] * 4,
    [[0.2, 0.3, 0.5]],
    [[0.2, 0.3, 0.5]] * 3,
    [[0.2, 0.0, 0.8], [0.2, 0.0, 0.8 - 1e-16]],
    [[0.2, 0.8], [0.2 + 1e-9, 0.8 - 1e-9]],
    [[1e-17, 1.0], [1e-12, 1.0 - 1e-12]],
)
def test_useless_channels(support, rows):
    answer = capacity(np.array(rows))
    assert_proved(support, np.array(rows), answer)
    assert answer.upper <= 1e-9


@each(
    "rows",
    [[1.0, 1e-300], [1.0, 0.0]],
    [[1e-300, 1.0, 0.0], [0.0, 1.0, 1e-300], [0.5, 0.5, 0.0]],
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[1.0, 0.0, 1e-5], [0.0, 1.0, 0.0], [0.9, 0.1, 2e-5]],  # the third output wants a law of about exp(-1e4),
)
def test_entries_that_hardly_occur(support, rows):
    rows = np.array(rows) / np.sum(rows, axis=1, keepdims=True)
    assert_proved(support, rows, capacity(rows))


@each("seed", *range(3))
def test_nearly_equal_rows_and_rows_between_others(support, seed):
    rows = dirichlet(seed, 20, 20, 0.05)
    near = rows * (1.0 + 1e-9 * np.random.default_rng(seed).random(rows.shape))
    rows = np.concatenate([rows, near / near.sum(axis=1, keepdims=True), dirichlet(seed, 20, 20) @ rows])
    assert_proved(support, rows, capacity(rows, gap=1e-12), gap=1e-12)


def test_no_gap_at_all_is_asked_for(support):
    """Doubles end somewhere; the search sees that and returns the best it had."""
    rows = dirichlet(0, 8, 8)
    assert_proved(support, rows, capacity(rows, gap=0.0), gap=1e-13)


@quick
@given(channels(), st.data())
def test_copies_and_order_do_not_matter(rows, data):
    again = rows[data.draw(st.permutations(range(len(rows))))]
    again = again[:, data.draw(st.permutations(range(rows.shape[1])))]
    shares = np.array(data.draw(st.lists(st.floats(0.0, 1.0), min_size=rows.shape[1], max_size=rows.shape[1])))
    again = np.concatenate([again * shares, again * (1.0 - shares), np.zeros((len(again), 1))], axis=1)
    assert_equal_capacity(capacity(rows), capacity(np.concatenate([again, again[:1]])))


@quick
@given(channels(), st.integers(0, 2**32 - 1))
def test_processing_never_raises_it(rows, seed):
    answer = capacity(rows)
    after = capacity(rows @ dirichlet(seed, rows.shape[1], 4))
    assert max(after.lower, capacity(dirichlet(seed, 4, len(rows)) @ rows).lower) <= answer.upper + ROUNDING


@quick
@given(channels())
def test_more_inputs_never_lower_it(rows):
    assert capacity(rows[: max(1, len(rows) // 2)]).lower <= capacity(rows).upper + ROUNDING


@each("shape", (2, 201), (3, 3), (5, 2), (64, 64))
def test_many_at_once(support, shape):
    rows = np.array([dirichlet(seed, *shape, 10.0 ** (seed % 4 - 2)) for seed in range(6)])
    rows[1, 1] = rows[1, 0]  # copies are not merged in a batch
    for single, answer in zip(rows, capacities(rows), strict=True):
        assert_proved(support, single, answer)
        assert_equal_capacity(answer, capacity(single))


def test_no_channels_at_all():
    assert capacities(np.empty((0, 3, 4))) == []


@each("seconds", 0.0, 0.003)
def test_time_runs_out(support, seconds):
    rows = dirichlet(0, 120, 120)
    assert_proved(support, rows, capacity(rows, clock=Clock(seconds)), gap=np.inf)
    for single, answer in zip(
        rows.reshape(2, 60, 120), capacities(rows.reshape(2, 60, 120), clock=Clock(seconds)), strict=True
    ):
        assert_proved(support, single, answer, gap=np.inf)


def test_a_search_that_breaks_down_still_proves_something(support, monkeypatch):
    """Singular everywhere: the uniform law is left."""

    def singular(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(np.linalg, "solve", singular)
    rows = dirichlet(0, 5, 4)
    answer = capacity(rows)
    assert_proved(support, rows, answer, gap=np.inf)
    assert answer.input_law == pytest.approx(np.full(5, 0.2))


def test_a_search_that_lies_is_not_believed(support, monkeypatch):
    """Nonsense from the linear solver cannot turn the bounds around."""
    random = np.random.default_rng(0)
    monkeypatch.setattr(np.linalg, "solve", lambda matrices, right: random.normal(size=right.shape))
    rows = dirichlet(0, 5, 4)
    lower, upper = support.capacity(rows)
    answer = capacity(rows)
    assert_proved(support, rows, answer, gap=np.inf)
    assert answer.lower <= upper
    assert lower <= answer.upper
