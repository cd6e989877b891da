"""How strong boxes of the posterior are: ends that are closed at once are cut off before anything is halved, and no other bound is
finished first that cannot close. Without the cuts proofs have about twice as many leaves.
"""

import pytest

import dalenius as dl
import support

HEAD_ROOM = 1.2


@pytest.mark.thorough  # the race's other tree takes eight seconds; daily, test_audits.py counts the leaves of smaller ones
def test_a_count_of_ten_closes_with_few_leaves(counted_time):
    problem = support.problem(dl.Records(10, alphabet=2), dl.Count(), dl.geometric(1, range=10), "0.8 max")
    result = dl.solve(problem, gap=1e-2, time_limit=None)
    assert result.termination is dl.answers.Termination.GAP_REACHED
    (proof,) = result.records
    assert proof.method == "posterior"
    assert proof.leaves <= HEAD_ROOM * 159
