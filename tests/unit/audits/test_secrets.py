"""Audits of secrets: a tree of selections grows as long as its proof is in time."""

import pytest

import dalenius as dl
from dalenius.audits import audit_of
from dalenius.model.costs import LOGARITHM
from dalenius.search import Limits, Run


def first_letter(mechanism, adversary):
    """Of two records of 3 and 4 letters, released as they are: of unary encodings there are 4,096 outputs."""
    records = dl.Records(alphabets=[3, 4])
    return dl.SecretLeakage(
        records=records,
        query=dl.Identity(),
        mechanism=mechanism,
        adversary=adversary,
        secrets=dl.Secret(dl.Letters(0)),
    )


@pytest.mark.parametrize("adversary", [dl.AnyPrior(), dl.EntropyAtLeast("0.5 max")])
def test_trees_grow_as_long_as_checking_their_output_laws_is_in_time(work_clock, adversary):
    """A law has a weight for each output: 64 leaves once had 16 outputs' time to be checked in, and all that was found was lost."""
    question, search = first_letter(dl.optimized_unary_encoding(1), adversary), Run.of(Limits(gap=1e-9, time_limit=0.3))
    audit = audit_of(question, search)
    search.clock.reserve(question.costs.certain.seconds + audit.checking)
    audit.run()
    assert audit.out_of_time
    assert 0.05 < audit.checking <= audit.clock.left
    assert 0.0 < audit.lower < audit.upper


def test_numbers_that_are_alike_in_a_row_are_weighed_once():
    """Unary encodings have rows of few numbers: that was predicted to take as long as if all were different."""
    unary = first_letter(dl.optimized_unary_encoding(1), dl.AnyPrior())
    assert unary.shape == (12, 4096)
    assert unary.costs.certain.seconds < LOGARITHM.times(12 * 4096).seconds
