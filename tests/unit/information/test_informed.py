"""What is told to whoever is told all others: against random priors of few records, listed, and against itself."""

import itertools
import math

import numpy as np

import dalenius as dl
from campaigns import draws, each
from dalenius.information import binary_entropy
from dalenius.information.capacity import capacity
from dalenius.information.informed import informed_bound
from dalenius.model.problems.pieces import own_rows

CASES = {
    "count": (dl.Records(4, alphabet=2), dl.Count(), dl.geometric(0.7)),
    "counted letters": (dl.Records(3, alphabet=3), dl.Count([1, 2]), dl.discrete_laplace(1)),
    "weights": (dl.Records(alphabets=[2, 3, 2]), dl.Sum([0, 1, 3]), dl.geometric(0.4, range=(-1, 9))),
    "residues": (dl.Records(3, alphabet=3), dl.ModularSum(3), dl.symmetric(0.4)),
    "parity": (dl.Records(4, alphabet=2), dl.Parity(), dl.laplace_threshold(1)),
    "gaussian": (dl.Records(4, alphabet=2), dl.Count(), dl.discrete_gaussian(scale="1.5", range=(-30, 34))),
}


@each("name", *CASES)
def test_no_prior_tells_more_than_it_knows_and_the_own_answer_says(support, name):
    """20,000 priors in the whole campaign, each against the bound of its own entropy."""
    records, query, mechanism = CASES[name]
    question = dl.WorstCaseLeakage(records=records, query=query, mechanism=mechanism, adversary=dl.AnyPrior())
    endless = dl.discrete_gaussian(scale="1.5") if name == "gaussian" else mechanism
    channel, data, rng = support.full_channel(question), support.datasets(records), np.random.default_rng(len(name))
    data = np.array(data)
    rows = [own_rows(query, records, endless, i) for i in range(len(records))]
    for _ in range(draws(12, 3500)):
        prior = rng.dirichlet(np.full(len(data), rng.choice([0.1, 0.5, 3.0])))
        known = records.log_datasets + float(np.sum(prior * np.log(prior, where=prior > 0, out=np.zeros_like(prior))))
        i = int(rng.integers(len(records)))
        assert rows[i] is not None
        told = support.leakage(prior, data[:, i], channel)
        if known < math.log(records.alphabets[i]):
            assert told <= informed_bound(rows[i], known).upper + 1e-12


def test_the_bound_goes_from_what_independent_records_are_told_to_a_bit():
    rows = own_rows(dl.Count(), dl.Records(9, alphabet=2), dl.geometric(0.5), 0)
    alone, knowledge = capacity(rows).lower, np.array([1e-9, 0.1, 0.4, math.log(2.0) - 1e-9])
    bounds = np.array([informed_bound(rows, float(known)).upper for known in knowledge])
    line = alone + knowledge * (1.0 - alone / math.log(2.0))
    assert np.all(np.abs(bounds - line) <= 2e-5 * line)


def test_each_stretch_is_bounded_by_its_ends():
    rows = own_rows(dl.Count(), dl.Records(9, alphabet=2), dl.geometric(2), 0)
    found = informed_bound(rows, 0.2)
    t = np.linspace(0.0, 1.0, 997)
    told = np.array(
        [float(np.sum(p[:, None] * rows * np.log(rows / (p @ rows)))) for p in np.stack([1 - t, t], axis=1)]
    )
    excess = told - found.share * binary_entropy(t)
    assert excess.max() <= found.upper - (1 - found.share) * 0.2 - found.share * math.log(2.0)
    assert found.ends[-1] == 1.0
    assert all(a < b for a, b in itertools.pairwise(found.ends))


@each(
    "query, mechanism",
    (dl.Threshold(2), dl.symmetric(0.1)),
    (dl.Count(), dl.exponential(1)),
    (dl.Count(), dl.gaussian(1)),
    (dl.Count(), dl.Channel([[1, 0], [0, 1], [1, 0], [0, 1]])),
    (dl.Identity(), dl.symmetric(0.1)),
    (dl.Count(), dl.several_releases(dl.geometric(1), times=2)),
)
def test_where_the_others_do_not_only_shift_there_are_no_own_rows(query, mechanism):
    assert own_rows(query, dl.Records(3, alphabet=2), mechanism, 0) is None
