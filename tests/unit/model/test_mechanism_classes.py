"""Classes of mechanisms, and entries that are one number: there and back, sums, constants, words, bad input."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalenius as dl
from campaigns import each
from dalenius.model.mechanism_classes import MECHANISM_CLASSES, Additive, Full, Oblivious, TiedEntries, mechanism_class
from support import examples, refused

some = examples(50, 50)
FREE = np.arange(4).reshape(2, 2)


@st.composite
def ties(draw):
    """Every row of Q is some row of q, its entries in any order."""
    rows, outputs = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    owners = draw(st.permutations([*range(rows), *draw(st.lists(st.integers(0, rows - 1), max_size=3))]))
    return TiedEntries([[row * outputs + y for y in draw(st.permutations(range(outputs)))] for row in owners])


@some
@given(ties(), st.integers(0, 2**32 - 1))
def test_there_and_back(tied, seed):
    rng = np.random.default_rng(seed)
    q, cost = rng.dirichlet(np.ones(tied.outputs), size=tied.rows), rng.random(tied.numbers.shape)
    Q = tied.expand(q)
    assert Q.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(tied.variable(Q), q)
    assert tied.expand_rows(q.tolist()) == [tuple(row) for row in Q.tolist()]
    assert np.sum(tied.sums(cost) * q) == pytest.approx(np.sum(cost * Q))


@some
@given(ties(), st.integers(0, 2**32 - 1))
def test_the_least_costs_by_listing(tied, seed):
    """Every choice of one output a row costs no less; and of constant mechanisms none costs less."""
    costs = tied.sums(np.random.default_rng(seed).random(tied.numbers.shape))
    assert float(np.sum(costs * tied.cheapest(costs))) == pytest.approx(costs.min(axis=1).sum())
    constant = tied.constant(costs)
    assert tied.is_constant(constant)
    assert all(sum(row) == 1 for row in constant)
    for y in range(tied.outputs):
        always = [[Fraction(int(z == y)) for z in range(tied.outputs)]] * tied.rows
        if tied.is_constant(always) and not tied.across_outputs:
            assert np.sum(costs * np.array(constant, dtype=float)) <= np.sum(costs[:, y]) + 1e-12


def test_sums_are_exact_for_exact_numbers():
    matrix = np.array([[Fraction(1, 3), Fraction(1, 7)], [Fraction(1, 7), 10**400]], dtype=object)
    assert Additive().tied(2, 2).sums(matrix).tolist() == [[Fraction(1, 3) + 10**400, Fraction(2, 7)]]


def test_among_outputs_of_least_cost_the_near_mechanism_decides():
    tied, costs = TiedEntries.free(3, 3), np.array([[1.0, 1.0, 2.0], [3.0, 1.0, 2.0], [1.0, 1.0 + 1e-15, 2.0]])
    near = np.array([[0.25, 0.75, 0.0], [0.5, 0.0, 0.5], [0.3, 0.3, 0.4]])
    assert tied.cheapest(costs, near).tolist() == [[0.25, 0.75, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    assert tied.cheapest(costs, near, within=1e-14)[2].tolist() == [0.5, 0.5, 0.0]


@each(
    "numbers",
    FREE[0],
    FREE - 1,
    FREE + 2,
    FREE * 1.0,
    FREE == 0,
    [[0, 0], [1, 1]],
    [[0, 3], [2, 1]],
    [[0, 1], [10**12, 10**12 + 1]],
    np.zeros((2, 2), dtype=int),
    np.zeros((0, 2), dtype=int),
    np.zeros((2, 0), dtype=int),
    "tied",
)
def test_numbers_of_no_mechanism(numbers):
    refused(lambda: TiedEntries(numbers), "expected every row to number the entries of one row")


def test_words_and_classes():
    assert {"oblivious": Oblivious, "full": Full, "additive": Additive} == MECHANISM_CLASSES
    assert mechanism_class("full") == mechanism_class(Full()) == Full()
    parts = {"records": dl.Records(2, alphabet=2), "query": dl.Parity(), "adversary": dl.EntropyAtLeast(0)}
    by_word, by_class = (
        dl.MinLeakage(distortion=dl.Hamming(), max_distortion=0.1, mechanism=m, **parts)
        for m in ("additive", Additive())
    )
    assert by_word == by_class
    assert dl.dumps(by_word) == dl.dumps(by_class)
    refused(lambda: mechanism_class("aditive"), "did you mean 'additive'")


def test_what_inputs_are():
    records, query = dl.Records(2, alphabet=2), dl.Count()
    assert Oblivious().value_of_input(query, records).tolist() == [0, 1, 2]
    assert Full().value_of_input(query, records).tolist() == [0, 1, 1, 2]
    assert [made().inputs for made in MECHANISM_CLASSES.values()] == ["query", "dataset", "query"]
