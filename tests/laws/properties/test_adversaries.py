"""Sets of priors that contain one another, and the same sets in other words, on random problems of every kind."""

import itertools

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dalenius as dl
from campaigns import draws

few = settings(
    max_examples=draws(10, 40),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def capacities(support, question):
    """Bounds of the largest capacity, by listing the settings of the others."""
    channel, shape = support.full_channel(question), question.records.alphabets
    index, best = np.arange(len(channel)).reshape(shape), (0.0, 0.0)
    for record in range(len(shape)):
        for selected in np.moveaxis(index, record, -1).reshape(-1, shape[record]):
            found = support.capacity(channel[selected])
            best = (max(best[0], found[0]), max(best[1], found[1]))
    return best


@few
@given(st.data())
def test_independent_records(support, data):
    question = support.with_bound(data.draw(support.everything()), dl.ProductPriors())
    low, high = capacities(support, question)
    result = dl.solve(question)
    assert result.lower <= high + 1e-12
    assert low - 1e-12 <= result.upper
    nothing = high < 1e-12 and result.upper < 1e-12  # one row, of which a certificate has only decimals
    assert nothing or result.termination is dl.answers.Termination.GAP_REACHED
    assert dl.loads(dl.dumps(question)) == question


@few
@given(st.data())
def test_listed_priors(support, data):
    """Any list of priors; a list that holds product priors only leaks no more than independent records."""
    question = data.draw(support.everything())
    size, shape = question.records.datasets, question.records.alphabets
    laws = [data.draw(support.laws(letters)) for letters in shape]
    product = [np.prod(weights) for weights in itertools.product(*laws)]
    other = data.draw(support.laws(size))
    listed = support.with_bound(question, dl.PriorSet([product, other]))
    result = dl.solve(listed)
    exact = [support.worst_leakage(np.array(prior, dtype=float), question) for prior in (product, other)]
    support.assert_contains(result, max(exact))
    assert result.upper - result.lower <= 1e-9
    assert dl.loads(dl.dumps(listed)) == listed
    alone = dl.solve(support.with_bound(question, dl.FixedPrior(product)))
    assert alone.lower <= dl.solve(support.with_bound(question, dl.ProductPriors())).upper
