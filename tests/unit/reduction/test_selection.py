"""What the letters of a record of a block select, against all datasets."""

import itertools

import numpy as np

import dalenius as dl
from campaigns import each
from dalenius.reduction import RowSets, Selections, block_selections, distinct_rows

CASES = {
    "count": ([2] * 5, dl.Count(), [2, 3]),
    "weights of records": ([2, 3, 2], dl.Sum([[0, 2], [0, 1, 5], [1, 3]]), [2, 1]),
    "residues": ([3, 2, 2], dl.ModularSum(4), [2, 1]),
    "majority": ([2] * 5, dl.Threshold(3), [1, 4]),
}


@each("name", *CASES)
def test_each_letter_goes_with_any_dataset_of_the_block(name):
    sizes, query, blocks = CASES[name]
    records = dl.Records(alphabets=sizes)
    found = {
        tuple(row)
        for part in block_selections(query, records, dl.IndependentBlocks(sizes=blocks))
        for row in part.inputs
    }
    values, expected = query.values(records).tolist(), set()
    for block in (range(end - size, end) for end, size in zip(np.cumsum(blocks), blocks, strict=True)):
        for others in itertools.product(*(range(1 if i in block else size) for i, size in enumerate(sizes))):
            for record in block:
                reached = [set() for _ in range(sizes[record])]
                for own in itertools.product(*(range(sizes[i]) for i in block)):
                    dataset = [*others[: block.start], *own, *others[block.stop :]]
                    reached[dataset[record]].add(values.index(query.value(records, dataset)))
                expected |= {choice for choice in itertools.product(*reached) if len(set(choice)) > 1}
    assert found == expected


def test_a_law_of_the_letters_is_written_on_the_block_and_lies_on_the_inputs():
    [part] = block_selections(dl.Count(), dl.Records(4, alphabet=2), dl.IndependentBlocks(2))
    placed, own = part.own_masses(part.inputs.tolist().index([2, 4]), np.array([0.25, 0.75]))
    assert (placed.total, own.tolist()) == (2, [[0.25, 0.0, 0.0], [0.0, 0.0, 0.75]])


def test_the_leading_ones_cover_the_inputs_of_every_letter_and_are_far_apart_where_nothing_tells_more():
    [part] = block_selections(dl.Count(), dl.Records(20, alphabet=2), dl.IndependentBlocks(3))
    chosen = part.inputs[part.leading(np.zeros(len(part.inputs)))]
    assert {int(k) for k in chosen[:, 0]} == set(range(20))
    assert len(chosen) <= 2 * 21
    assert np.bincount(abs(chosen[:, 1] - chosen[:, 0])).argmax() == 3


# Row sets by hand: the order of letters does not matter to a capacity, and the way back restores it.


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
