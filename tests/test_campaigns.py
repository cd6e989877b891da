"""A table that is one test runs every row, and says in which it failed."""

import pytest

from campaigns import each, thinned


def test_every_row_is_run_and_the_first_that_fails_is_named():
    seen = []

    @each("few", 10)
    @each("number, word", (1, "one"), (2, "two"), (3, "three"))
    def table(number, word, few, more):
        seen.append((number, word, few, more))
        assert number < 2

    with pytest.raises(AssertionError) as failed:
        table(more=0)
    assert seen == [(1, "one", 10, 0), (2, "two", 10, 0)]
    assert failed.value.__notes__ == ["in the row (2, 'two')", "in the row (10,)"]


def test_one_name_takes_whole_rows_thin_ones_are_unpacked_and_rows_that_are_skipped_leave_the_others():
    seen = []

    @each("pair", (1, 2), (3, 4))
    @each("number", *thinned([5, 6, 7], every=2, full=2))
    def table(pair, number):
        seen.append((pair, number))
        if number == 5:
            pytest.skip("five")

    table()
    assert seen[:2] == [((1, 2), 5), ((1, 2), 7)]
    assert seen[-1] == ((3, 4), 7)
    with pytest.raises(pytest.skip.Exception):
        each("x", 1, 2)(lambda x: pytest.skip("all"))()
