"""Counts of more people than boxes of every output could bound: what groups of outputs, cuts and the best output law are for."""

from collections import Counter

import pytest

import dalenius as dl
import support
from campaigns import thinned


def solved(
    n: int, epsilon: str, share: str, *, gap: float, node_limit: int
) -> tuple[dl.WorstCaseLeakage, dl.answers.Result]:
    problem = support.problem(dl.Records(n, alphabet=2), dl.Count(), dl.geometric(epsilon), f"{share} max")
    return problem, dl.solve(problem, gap=gap, time_limit=None, node_limit=node_limit)


# Before there were groups and cuts: 25 % after 1,843 leaves, and 74 % (no tree at all). With cuts of one slope: 476 leaves, and 978.
@pytest.mark.parametrize(
    ("n", "epsilon", "share", "gap", "leaves"),
    thinned([(12, "0.3", "0.95", 1e-2, 450), (100, "0.1", "0.98", 5e-2, 700)], every=2),
)
def test_a_count_is_closed_by_so_few_leaves(n, epsilon, share, gap, leaves, counted_time):
    problem, result = solved(n, epsilon, share, gap=gap, node_limit=leaves)
    assert result.termination is dl.answers.Termination.GAP_REACHED
    assert result.gap <= gap
    assert [proof.method for proof in result.records] == ["dual"]
    assert Counter(line.split(",")[0] for line in result.certificate.text.splitlines())['["group"'] >= 1
    assert dl.verify(problem, result.certificate).proved
