"""A household's sum of many values: both ends, without trees."""

import numpy as np
import pytest

import dalenius as dl
from campaigns import each
from dalenius.information import relative_entropy
from dalenius.information.shifts import Shifts


def asked(mechanism, records, size, weights=None):
    blocks = dl.IndependentBlocks(size)
    return dl.WorstCaseLeakage(records=records, query=dl.Sum(weights), mechanism=mechanism, adversary=blocks)


def solved(problem, **options):
    result = dl.solve(problem, **options)
    assert dl.verify(problem, result.certificate).proved
    return result


@each(
    "mechanism, letters, people, bits",
    (dl.discrete_laplace("1/20"), 121, 1, 1.0230),
    (dl.discrete_laplace("1/20"), 121, 7, 3.1135),
    (dl.geometric("1/5"), 121, 10, 5.493),
    (dl.discrete_gaussian(scale=20), 121, 4, 2.7599),
    (dl.discrete_laplace("1/200"), 1001, 2, 1.4688),
    (dl.laplace(20), 121, 7, 3.1135),
    (dl.gaussian(20), 121, 4, 2.76),
    every=2,
)
def test_a_percent_without_trees(mechanism, letters, people, bits):
    """The information of values far apart, which nothing but Blahut and Arimoto's algorithm knows, lies within."""
    result = solved(asked(mechanism, dl.Records(people * 1000, alphabet=letters), people), gap=1e-2)
    assert result.gap <= 1e-2
    assert [(record.method, record.leaves, record.times) for record in result.records] == [
        ("capacity", 1, people * 1000)
    ]
    assert result.to("bits").lower - 5e-3 <= bits <= result.to("bits").upper + 5e-3


def test_what_one_block_is_told_as_any_prior_is():
    """Beside the audit that counts completions."""
    noise, records = dl.discrete_laplace("1/6"), dl.Records(2, alphabet=34)
    fast = solved(asked(noise, records, 2), gap=1e-4)
    slow = dl.WorstCaseLeakage(records=records, query=dl.Sum(), mechanism=noise, adversary=dl.AnyPrior())
    slow = dl.solve(slow, gap=0.3, node_limit=1)
    assert fast.lower <= slow.upper + 1e-12
    assert slow.lower <= fast.upper + 1e-12
    assert fast.gap <= 1e-4


def test_blocks_of_unlike_records():
    """Each with its own weights, some with one letter, some with gaps between their sums: the witness is one that can be."""
    records = dl.Records(alphabets=[3, 40, 1, 2, 40, 3])
    weights = [[0, 7, -3], [2 * a for a in range(40)], [5], [0, 31], list(range(40)), [1, 1, 1]]
    problem = asked(dl.discrete_gaussian(scale=9), records, 3, weights)
    result = solved(problem, gap=1e-2)
    assert result.gap <= 1e-2
    witness, own = result.witness, weights[result.record]
    assert witness.masses.sum() == pytest.approx(1)
    for a, row in enumerate(witness.masses):
        others = {witness.inputs[k] - own[a] for k in np.flatnonzero(row)}
        rest = [w for i, w in enumerate(weights) if i // 3 == result.record // 3 and i != result.record]
        assert others <= {x + y for x in rest[0] for y in rest[1]}


def test_letters_are_enough_where_noise_is_nothing():
    result = solved(asked(dl.discrete_laplace(20), dl.Records(6, alphabet=40), 2), gap=1e-2)
    assert result.upper == pytest.approx(np.log(40), abs=1e-6)
    assert result.records[0].method == "letters"


def test_it_is_stopped_at_once():
    result = solved(asked(dl.discrete_laplace("1/20"), dl.Records(10_000, alphabet=121), 10), time_limit=1e-6)
    assert 0.0 <= result.lower <= result.upper <= np.log(121) + 1e-9


def test_gaussian_noise_of_small_scale_is_refused_behind_many_values():
    with pytest.raises(dl.errors.InputError, match="of a scale of at least 2, got 1"):
        asked(dl.gaussian(1), dl.Records(4, alphabet=40), 2)


def test_shifts_are_the_rows():
    rng = np.random.default_rng(0)
    for noise in (dl.discrete_laplace("0.3"), dl.geometric(2), dl.discrete_gaussian(scale="3/2")):
        values = np.array([-3, 0, 1, 7, 20])
        law, beyond = noise.law(23)
        shifts = Shifts(law, values, beyond)
        rows = noise.alone().clamped(values).channel(values)
        np.testing.assert_allclose(shifts.rows(np.arange(5)), rows, atol=1e-15)
        mixture = rng.dirichlet(np.ones(5)) @ rows
        np.testing.assert_allclose(shifts.divergences(mixture), relative_entropy(rows, mixture), atol=1e-13)
