"""Every answer is proved, no feasible prior beats it, and no stronger claim is ever proved."""

import json
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import dalenius as dl
from support import examples

few = examples(2, 10)


def reclaimed(certificate: dl.Certificate, lower: Fraction, upper: Fraction) -> dl.Certificate:
    """The same evidence under other claims."""
    first, rest = certificate.text.split("\n", 1)
    header = json.loads(first)
    header["lower"], header["upper"] = (f"{x.numerator}/{x.denominator}" for x in (lower, upper))
    return dl.Certificate(json.dumps(header) + "\n" + rest)


@few
@given(st.data())
def test_no_feasible_prior_beats_upper(support, data):
    question = data.draw(support.everything())
    upper = support.solve(question).upper
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    for prior in support.random_priors(rng, question, 30):
        assert support.worst_leakage(prior, question) <= upper + 1e-12


@few
@given(st.data())
def test_every_certificate_is_proved(support, data):
    question = data.draw(support.everything())
    result = support.solve(question)
    verdict = dl.verify(question, result.certificate)
    assert verdict.proved
    assert (float(verdict.lower), float(verdict.upper)) == (result.lower, result.upper)
    assert result.scope is dl.answers.Scope.GLOBAL


@few
@given(st.data())
def test_claims_beyond_the_other_side_are_never_proved(support, data):
    question = data.draw(support.everything())
    result = support.solve(question)
    low, high, step = Fraction(result.lower), Fraction(result.upper), Fraction(1, 10**9)
    for lower, upper in ((high + step, high + 2 * step), (low - 2 * step, low - step), (high + step, Fraction(10))):
        assert not dl.verify(question, reclaimed(result.certificate, lower, upper)).proved


@few
@given(st.data())
def test_weaker_claims_are_proved(support, data):
    question = data.draw(support.everything())
    result = support.solve(question)
    low, high, step = Fraction(result.lower), Fraction(result.upper), Fraction(1, 10**9)
    assert dl.verify(question, reclaimed(result.certificate, low - step, high + step)).proved


@few
@given(st.data())
def test_certificate_of_another_adversary_is_refused(support, data):
    question = data.draw(support.oblivious(bounds=("0.2 max", "0.7 max")))
    certificate = support.solve(question).certificate
    assert not dl.verify(support.with_bound(question, "0.5 max"), certificate).proved


@examples(10, 60)
@given(title=st.text(), source=st.text(), letters=st.lists(st.text(), min_size=2, max_size=2))
def test_round_trip_of_free_text(title, source, letters):
    question = dl.WorstCaseLeakage(
        records=dl.Records(2, alphabet=2, answer=source, letters=letters),
        query=dl.Parity(),
        mechanism=dl.symmetric(0.1, k=2),
        adversary=dl.EntropyAtLeast("1 nats"),
        title=title,
        source=source,
    )
    again = dl.loads(dl.dumps(question))
    assert (again.title, again.source, again.records.answer) == (title, source, source)
    assert again.records.letters == tuple(letters)
