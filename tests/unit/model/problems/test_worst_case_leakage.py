"""The name of the audit's question: the source paper's is an alias, and the measure called maximal leakage is another number."""

import math

import pytest

import dalenius as dl
from dalenius.model import digest
from dalenius_check.model import parse_model

FLIPPED = dl.WorstCaseLeakage(
    records=dl.Records(1, alphabet=2), query=dl.Identity(), mechanism=dl.symmetric("0.1"), adversary=dl.AnyPrior()
)


def test_the_papers_name_is_the_same_question():
    assert dl.MaximalLeakage is dl.WorstCaseLeakage
    assert type(dl.loads(dl.dumps(FLIPPED))) is dl.MaximalLeakage


def test_it_is_not_the_measure_that_is_called_maximal_leakage():
    """A bit that flips with probability 0.1: log 2 - h(0.1), about 0.531 bits, and log 1.8, about 0.848."""
    solved, measured = dl.solve(FLIPPED).to("bits"), dl.measure(FLIPPED, units="bits")["maximal_leakage"]
    assert (
        solved.lower
        <= 1 + 0.1 * math.log2(0.1) + 0.9 * math.log2(0.9)
        <= solved.upper
        == pytest.approx(0.531, abs=1e-4)
    )
    assert measured.lower <= math.log2(1.8) <= measured.upper == pytest.approx(0.848, abs=1e-4)


def test_model_files_may_say_either_and_certificates_say_the_papers():
    text = dl.dumps(FLIPPED)
    assert text.startswith('problem = "worst_case_leakage"\n')
    papers = text.replace("worst_case_leakage", "maximal_leakage")
    assert dl.loads(text) == dl.loads(papers) == FLIPPED
    for model in map(parse_model, (text.encode(), papers.encode())):
        assert (model.problem, model.digest) == ("maximal_leakage", digest(FLIPPED))
    certificate = dl.solve(dl.loads(papers)).certificate
    assert certificate.header.problem == "maximal_leakage"
    verdict = dl.verify(dl.loads(text), certificate)
    assert verdict.proved
    assert "worst-case leakage about one record" in str(verdict)
