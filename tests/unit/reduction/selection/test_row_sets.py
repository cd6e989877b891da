"""Row sets by hand: the order of letters does not matter to a capacity, and the way back restores it."""

import numpy as np

from dalenius.reduction import RowSets, Selections, distinct_rows

CHANNEL = np.array([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1]])
SELECTIONS = Selections(0, 2, np.array([[0, 1], [1, 0], [1, 2], [0, 2]]), 3)


def test_selections_of_equal_rows_share_a_set():
    rows, row_of_input = distinct_rows(CHANNEL)
    reduced = RowSets.of(SELECTIONS, row_of_input)
    assert row_of_input.tolist() == [1, 0, 1]
    assert reduced.sets.tolist() == [[0, 1], [1, 1]]
    assert reduced.set_of.tolist() == [0, 0, 0, 1]
    assert reduced.apply(rows)[0].tolist() == [[0.2, 0.8], [0.9, 0.1]]


def test_a_law_of_a_set_belongs_to_the_letters_of_its_first_selection():
    selection, law = RowSets.of(SELECTIONS, distinct_rows(CHANNEL)[1]).lift(0, np.array([0.3, 0.7]))
    assert (selection, law.tolist()) == (0, [0.7, 0.3])
    assert SELECTIONS.lift(selection, law).tolist() == [[0.7, 0.0, 0.0], [0.0, 0.3, 0.0]]
