"""Discrete Gaussian noise that nothing cuts off, against every adversary: what is hidden by clamping it is paid for."""

import math

import dalenius as dl
import support
from campaigns import each, thinned

NOISE, WIDE = dl.discrete_gaussian(scale="1.5"), 60
ADVERSARIES = {
    "anybody": dl.AnyPrior(),
    "listed": dl.PriorSet([[f"{k}/36" for k in range(1, 9)]]),
    "product": dl.ProductPriors(),
    "nothing known": dl.EntropyAtLeast("1 max"),
    "ball": dl.L1BallPriors([0.3, 0.7], 0.1),
    "entropy": dl.EntropyAtLeast("2.5 bits"),
}


def asked(adversary, mechanism=NOISE, people=3, query=None) -> dl.WorstCaseLeakage:
    return support.problem(dl.Records(people, alphabet=2), query or dl.Count(), mechanism, adversary)


@each("name, query", *thinned([(name, query) for name in ADVERSARIES for query in (dl.Count(), dl.Parity())], 3))
def test_it_is_the_limit_of_ever_wider_ranges(name, query):
    endless = asked(ADVERSARIES[name], query=query)
    wide = asked(ADVERSARIES[name], dl.discrete_gaussian(scale="1.5", range=(-WIDE, WIDE)), query=query)
    gap = 0.05 if name == "entropy" else 1e-4
    found, known = dl.solve(endless, gap=gap), dl.solve(wide, gap=gap)
    assert dl.verify(endless, found.certificate).proved
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    assert found.gap <= gap or found.upper < 1e-12


def test_what_is_hidden_is_at_least_what_the_clamped_outputs_tell():
    """2 tau log A, tau at least the exact tail."""
    reach, scale = NOISE.reach, 1.5
    weights = [math.exp(-(k**2) / (2 * scale**2)) for k in range(reach + 400)]
    tail = sum(weights[reach:]) / (2 * sum(weights) - 1)
    assert 2 * tail * math.log(2) <= asked(dl.AnyPrior()).slack <= 1e-21


def test_dozens_of_people_against_an_entropy_bound():
    question = asked(dl.EntropyAtLeast("39.9 bits"), dl.discrete_gaussian(scale=4), people=40)
    found = dl.solve(question, gap=0.5, node_limit=50).to("bits")
    assert dl.verify(question, found.certificate).proved
    assert 0.05 < found.lower <= found.upper < 0.15


def test_what_is_measured_is_clamped_and_says_so():
    told = dl.audit(NOISE, records=3, adversary=dl.ProductPriors())
    assert "clamped ten scales beyond" in " ".join(str(told).split())
