"""Objectives of several terms: what they come to, model files and digests, which both programs read alike, bad input of every kind."""

import dataclasses
import json
from fractions import Fraction

import pytest

import dalenius as dl
from campaigns import each
from dalenius.model import digest
from dalenius.model.model_file import loads, normal_form
from dalenius.model.objectives import DistortionTerm, LeakageTerm, Objective, WeightedMaximum, WeightedSum
from support import refuses

GIVEN = {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
TERMS = [
    LeakageTerm(dl.ProductPriors(), weight=2),
    DistortionTerm(dl.Squared(outputs=[0, 1, 2, 4]), weight="1/10"),
]
TEXT = """
problem = "min_leakage"
max_distortion = 1
[records]
count = 3
alphabet = 2
[query]
kind = "count"
[distortion]
kind = "absolute"
[law]
kind = "uniform"
[mechanism]
class = "oblivious"
[adversary]
entropy_at_least = 1
[objective]
combine = "sum"
"""
TERM = '[[objective.terms]]\nkind = "distortion"\ndistortion = { kind = "hamming" }\n'


def design(objective: Objective | None, **given) -> dl.MinLeakage:
    return dl.MinLeakage(**GIVEN | given, max_distortion=1, adversary=dl.EntropyAtLeast("0.8 max"), objective=objective)


def test_what_the_terms_come_to():
    values = [Fraction(1, 2), Fraction(1, 3), Fraction(7)]
    assert WeightedSum(TERMS, weight=3).of(values) == Fraction(3, 2) + Fraction(2, 3) + Fraction(7, 10)
    assert WeightedMaximum(TERMS).of(values) == Fraction(7, 10)
    assert WeightedMaximum(terms=TERMS).weights == (1, 2, Fraction(1, 10))


def test_a_design_says_what_is_minimised():
    assert design(None).quantity is dl.answers.Quantity.LEAKAGE
    assert design(WeightedSum(TERMS)).quantity is dl.answers.Quantity.OBJECTIVE
    private = dl.MinDistortion(**GIVEN, privacy=dl.LocalDP(1))
    assert private.quantity is dl.answers.Quantity.DISTORTION
    assert dataclasses.replace(private, objective=WeightedMaximum(TERMS)).quantity.units == "objective"


@each("kind", WeightedSum, WeightedMaximum)
def test_it_goes_into_a_file_and_back(kind):
    problem = design(kind([*TERMS, LeakageTerm(dl.PriorSet([[Fraction(1, 8)] * 8]))], weight="1/3"))
    again = loads(dl.dumps(problem))
    assert again == problem
    assert digest(again) == digest(problem) != digest(design(None))
    assert "objective" not in normal_form(design(None))


def test_the_normal_form_is_that_of_the_document():
    form = normal_form(design(WeightedSum(TERMS)))["objective"]
    assert json.dumps(form, sort_keys=True, separators=(",", ":")) == (
        '{"combine":"sum","terms":[{"adversary":{"kind":"product_priors"},"kind":"leakage","weight":"2"},'
        '{"distortion":{"kind":"squared","outputs":["0","1","2","4"]},"kind":"distortion","weight":"1/10"}],"weight":"1"}'
    )
    assert loads(TEXT + TERM).objective == WeightedSum([DistortionTerm(dl.Hamming())])


test_what_is_no_objective_is_refused = refuses(
    (lambda: WeightedSum([]), "expected 1 to 100 terms besides the problem's own, got 0"),
    (lambda: WeightedSum([TERMS[0]] * 101), "got 101"),
    (lambda: WeightedSum([dl.Squared()]), "objective: term 1: expected a LeakageTerm or a DistortionTerm"),
    (lambda: WeightedSum(TERMS, weight=0), "objective: weight: expected a number more than 0, got 0"),
    (lambda: LeakageTerm(dl.ProductPriors(), weight=-1), "objective: leakage: weight: expected a number more than 0"),
    (lambda: LeakageTerm(dl.Hamming()), "objective: leakage: adversary: expected an Adversary"),
    (lambda: DistortionTerm(dl.ProductPriors()), "objective: distortion: distortion: expected a Distortion"),
    (lambda: DistortionTerm(dl.Hamming(), weight="much"), "weight"),
    (lambda: design(TERMS), "objective: expected Objective"),
    (lambda: design(WeightedSum([DistortionTerm(dl.Squared(outputs=[1, 2]))])), "term 1: its distortion has 2 outputs"),
    (lambda: design(WeightedSum([*TERMS, LeakageTerm(dl.EntropyAtLeast("9 nats"))])), "objective: term 3"),
)


@each(
    "change, message",
    
        (("", ""), "got 0"),
        (('combine = "sum"', 'combine = "mean"'), "combine must be one of sum, max"),
        (('combine = "sum"', "weight = 1"), "combine must be one of sum, max; got None"),
        (('combine = "sum"', 'combine = "sum"\nweights = [1]'), "unknown key 'weights'"),
        (('combine = "sum"', 'combine = "sum"\nterms = 3'), r"terms are tables \[\[objective.terms\]\]"),
        (("[objective]", "[[objective]]"), r"expected a table \[objective\]"),
        (("", '[[objective.terms]]\nkind = "entropy"'), r"objective.terms\[1\]: kind must be one of leakage, distortion"),
        (("", TERM + "width = 3"), r"objective.terms\[1\] kind distortion: unknown key 'width'"),
        (("", TERM + '[[objective.terms]]\nkind = "leakage"'), r"objective.terms\[2\] kind leakage: missing adversary"),
        (("", '[[objective.terms]]\nkind = "leakage"\nadversary = 1'), "adversary: expected a table"),
        (("", TERM + "weight = 0"), "weight: expected a number more than 0"),
)  # fmt: skip
def test_model_files_that_state_none_are_refused(change, message):
    old, new = change
    text = TEXT.replace(old, new) if old else TEXT + new
    with pytest.raises(dl.errors.InputError, match=message):
        loads(text)


def test_an_audit_has_no_objective():
    with pytest.raises(dl.errors.InputError, match="unknown key 'objective'"):
        loads(
            "problem='maximal_leakage'\nrecords={count=1,alphabet=2}\nquery={kind='parity'}\nadversary={entropy_at_least=0}\n"
            "mechanism={kind='symmetric',flip=0.1}\nobjective={combine='sum'}\n"
        )
