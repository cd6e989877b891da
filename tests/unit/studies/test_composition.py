"""What releases tell together, at most: never less than their product channel tells, and refused where the theorem is false."""

import math
from dataclasses import replace

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws, each
from dalenius.information.noise_formulas import eta_of_outputs
from support import refused

BITS = dl.Records(2, alphabet=2)
EXACT = dl.Channel([[1, 0], [0, 1]])
THREE = dl.Records(3, alphabet=2)
OF_TWO = (dl.Sum([[0, 1], [0, 1], [0, 0]]), dl.Channel([[1, 0], [0, 1], [1, 0]]))  # the parity of the first two
OF_ALL = (dl.Parity(), EXACT)


def asked(one, adversary, records=BITS):
    return dl.WorstCaseLeakage(records=records, query=one[0], mechanism=one[1], adversary=adversary)


def answered(one, adversary, records=BITS, gap=1e-4):
    problem = asked(one, adversary, records)
    return problem, dl.solve(problem, gap=gap)


def test_households_add_up():
    people = dl.Records(1_000, alphabet=3)
    noises = [(dl.Count([1, 2]), dl.geometric("0.5")), (dl.Sum(), dl.discrete_laplace("0.2"))]
    answers = [answered(one, dl.IndependentBlocks(2), people) for one in noises]
    together = answered(dl.together(noises), dl.IndependentBlocks(2), people)[1]
    both = dl.composition(answers)
    assert (both.rule, both.upper >= together.lower) == ("sum", True)
    unknown = [answered(one, dl.IndependentBlocks(2, entropy_at_least="1 max"), people, gap=0.5) for one in noises]
    refused(lambda: dl.composition(unknown, rule="sum"), "independent_blocks does not know everything else")


def drawn(rng, values):
    rows = rng.integers(1, 30, size=(values, int(rng.integers(2, 4))))
    return dl.Channel([[f"{x}/{row.sum()}" for x in row] for row in rows])


@each(
    "adversary",
    dl.ProductPriors(),
    dl.AnyPrior(),
    dl.EntropyAtLeast("1.9 bits"),
    dl.L1BallPriors([0.5, 0.5], 0.3),
    dl.PriorSet([[0.1, 0.2, 0.3, 0.4]]),
)
def test_it_bounds_what_the_product_channel_tells(adversary):
    """Of every adversary; with the rule that is for it."""
    rng = np.random.default_rng(31)
    rules, gap = set(), 0.5 if adversary == dl.EntropyAtLeast("1.9 bits") else 1e-4
    for _ in range(draws(1, 40)):
        listed = [(dl.Count(), drawn(rng, 3)), (dl.Count(), drawn(rng, 3))]
        both = dl.composition([answered(one, adversary, gap=gap) for one in listed])
        together = answered((dl.Count(), dl.several_releases(*(noise for _, noise in listed))), adversary, gap=gap)[1]
        assert both.lower - 1e-12 <= together.upper
        assert together.lower <= both.upper
        assert both.upper >= max(both.leakages)
        rules.add(both.rule)
    knows = not isinstance(adversary, dl.PriorSet) and adversary != dl.EntropyAtLeast("1.9 bits")
    assert rules <= ({"sum", "letters"} if knows else {"one and capacities", "letters"})


def test_the_sum_is_false_against_an_entropy_bound():
    """Of three fair bits the parities of two and of all tell nothing about any of them; together they tell the third."""
    fair = dl.EntropyAtLeast("1 max")
    answers = [answered(one, fair, THREE) for one in (OF_TWO, OF_ALL)]
    assert max(result.upper for _, result in answers) < 1e-9
    query, mechanism = dl.together([OF_TWO, OF_ALL])
    assert answered((query, mechanism), fair, THREE)[1].lower == pytest.approx(math.log(2))
    assert 1.0 <= dl.composition(answers).to("bits").upper < 1.0 + 1e-9
    with pytest.raises(dl.errors.InputError, match="sum is false here: entropy_at_least does not know everything else"):
        dl.composition(answers, rule="sum")
    assert dl.composition(answers, eta="1 bits", rule="sum and eta").to("bits").upper >= 1.0
    assert dl.composition(answers, eta=0).upper < 1e-9  # what the caller vouches for is false here, and his own


def test_capacities_are_of_what_data_can_be():
    """Four noisy parities tell less than a letter: one leakage, and three times the capacity of the parity's noise."""
    bound = dl.EntropyAtLeast("1 bits")
    answers = [answered((dl.Parity(), dl.symmetric("0.4")), bound)] * 4
    both = dl.composition(answers, rule="one and capacities")
    each = math.log(2) + 0.4 * math.log(0.4) + 0.6 * math.log(0.6)
    assert both.capacities == pytest.approx([each] * 4, rel=1e-9)
    assert both.upper == pytest.approx(answers[0][1].upper + 3 * each, rel=1e-9)
    assert min(both.capacities) >= each


def test_a_release_that_is_chosen_after_another_counts_with_the_largest():
    """And must not be the one whose leakage stands for its capacity."""
    known = [answered((dl.Parity(), dl.symmetric(flip)), dl.AnyPrior()) for flip in ("0.3", "0.1", "0.4")]
    both = dl.composition([known[0], [known[1], known[2]]])
    assert both.adaptive
    assert both.rule == "sum"
    assert both.leakages == (known[0][1].upper, known[1][1].upper)
    bound = dl.EntropyAtLeast("1 bits")
    noisy, clear = (answered((dl.Parity(), dl.symmetric(flip)), bound) for flip in ("0.4", "0.2"))
    free, chosen = (dl.composition([noisy, clear], adaptive=one, rule="one and capacities") for one in (False, True))
    assert chosen.upper == pytest.approx(chosen.leakages[0] + chosen.capacities[1])
    assert free.upper <= chosen.upper


def test_it_rounds_outward_in_bits_too():
    both = dl.composition([answered((dl.Count(), dl.geometric(1)), dl.ProductPriors())] * 3)
    assert both.upper >= math.fsum(both.leakages)
    bits = both.to("bits")
    assert bits.upper >= both.upper / math.log(2)
    assert "sum: L_1 + ... + L_k" in str(bits)
    refused(lambda: bits.to("nats"), "this one is in bits")


def test_certificates_are_proved_before_they_count():
    problem, result = answered((dl.Count(), dl.geometric(1)), dl.ProductPriors())
    assert dl.composition([(problem, result.certificate), (problem, result)]).rule == "sum"
    claimed = result.certificate.header.upper
    lower = dl.Certificate(result.certificate.text.replace(f'"{claimed}"', '"0.001"', 1))
    with pytest.raises(dl.errors.NotProvedError, match=r"^answers\[0\]: the certificate is not proved: ") as caught:
        dl.composition([(problem, lower), (problem, result)])
    assert caught.value.exit_code == 1


KNOWN = answered((dl.Count(), dl.geometric(1)), dl.ProductPriors())


def test_two_columns_are_two_things_to_know():
    """A bit of each: together they may reveal two, and the logarithm of the letters is that of one."""
    named = [(replace(KNOWN[0], records=dl.Records(2, alphabet=2, answer=name)), KNOWN[1]) for name in ("", "a", "b")]
    together = "; counts and tables of one --table are one question"
    refused(
        lambda: dl.composition(named[1:]),
        f"about one column, which every model names as its answer or none does, got a, b{together}",
    )
    refused(
        lambda: dl.composition(named[:2]),
        f"which every model names as its answer or none does, got a, no name{together}",
    )
    assert dl.composition(named[:1] * 2).upper == dl.composition(named[1:2] * 2).upper
    turned = [
        (replace(KNOWN[0], records=dl.Records(2, alphabet=2, letters=two)), KNOWN[1])
        for two in (["n", "y"], ["y", "n"])
    ]
    refused(lambda: dl.composition(turned), "about letters in one order, got ['n', 'y'], ['y', 'n']")


@each(
    "made, message",
    (lambda: dl.composition([KNOWN]), "at least two releases, got 1"),
    (lambda: dl.composition([KNOWN, KNOWN[0]]), "got a WorstCaseLeakage alone|expected a list"),
    (lambda: dl.composition([KNOWN, []]), "got an empty list"),
    (lambda: dl.composition([KNOWN, (asked((dl.Parity(), EXACT), dl.ProductPriors()), KNOWN[1])]), "another problem's"),
    (lambda: dl.composition([KNOWN, answered((dl.Count(), dl.geometric(1)), dl.AnyPrior())]), "the same adversary"),
    (
        lambda: dl.composition(
            [answered((dl.Count(), dl.geometric(1)), dl.L1BallPriors([0.5, 0.5], 0.1))] * 2, adaptive=True, rule="sum"
        ),
        "may have left the class; ask about ProductPriors",
    ),
    (lambda: dl.composition([KNOWN] * 2, rule="best"), "expected one of sum, "),
    (lambda: dl.composition([KNOWN] * 2, rule="sum and eta"), "it needs eta"),
    (lambda: dl.composition([KNOWN] * 2, adaptive=True, eta=0), "not for releases that are chosen after others"),
    (lambda: dl.composition([KNOWN] * 2, eta="-1 bits"), "expected at least 0 nats"),
    (lambda: dl.composition([KNOWN] * 2, eta="1 hour"), "eta: the unit must be nats or bits"),
)
def test_what_is_refused(made, message):
    with pytest.raises(dl.errors.InputError, match=message):
        made()


MAJORITY = dl.Secret(dl.Threshold(2))
GIVEN_OTHERS = dl.Secret(dl.Letters(0), given=dl.Letters(others=0))
ALL = dl.Secret(dl.Identity())


def about(one, secrets, adversary, records=THREE, gap=1e-4):
    problem = dl.SecretLeakage(records=records, query=one[0], mechanism=one[1], adversary=adversary, secrets=secrets)
    return problem, dl.solve(problem, gap=gap)


@pytest.mark.parametrize(
    ("secrets", "adversary"),
    [
        (MAJORITY, dl.AnyPrior()),
        ([MAJORITY, dl.Secret(dl.Parity())], dl.AnyPrior()),
        (GIVEN_OTHERS, dl.ProductPriors()),
        (ALL, dl.PriorSet([[1 / 8] * 8, [0.4, 0.1, 0, 0, 0, 0, 0.1, 0.4]])),
        (ALL, dl.EntropyAtLeast("2 bits")),
    ],
    ids=["any", "several", "products", "listed", "entropy"],
)
def test_what_releases_tell_about_secrets_adds_up_where_it_should(secrets, adversary):
    """Under all laws, and under others where secret and given determine the data."""
    rng = np.random.default_rng(8)
    for _ in range(draws(1, 40)):
        noises = [drawn(rng, 4), drawn(rng, 4)]
        both = dl.composition([about((dl.Count(), noise), secrets, adversary) for noise in noises], rule="sum")
        together = about((dl.Count(), dl.several_releases(*noises)), secrets, adversary)[1]
        assert both.lower - 1e-12 <= together.upper
        assert together.lower <= both.upper == pytest.approx(sum(both.leakages), rel=1e-12)


def test_two_parities_tell_a_secret_that_neither_tells():
    """So that no sum holds under one law; eta, the most that outputs with two values tell about each other, is attained."""
    fair = dl.FixedPrior([1 / 8] * 8)
    third = dl.Secret(dl.Letters(2))
    answers = [about(one, third, fair) for one in (OF_TWO, OF_ALL)]
    assert max(result.upper for _, result in answers) < 1e-9
    parities = [2 * ((x >> 2 ^ x >> 1) & 1) + x.bit_count() % 2 for x in range(8)]
    told = about((dl.Identity(), dl.Channel(np.eye(4)[parities], inputs="dataset")), third, fair)[1]
    assert told.lower == pytest.approx(math.log(2))
    assert dl.composition(answers).upper >= told.lower
    refused(lambda: dl.composition(answers, rule="sum"), "secret and given do not determine the data")
    with_eta = dl.composition(answers, eta=eta_of_outputs([2, 2]), rule="sum and eta")
    assert told.upper - 1e-9 <= with_eta.upper < math.log(2) + 1e-8
    assert with_eta.upper >= told.lower
    certificates = [(problem, result.certificate) for problem, result in answers]
    assert dl.composition(certificates, rule="letters").upper == pytest.approx(math.log(2), rel=1e-15)


def test_secrets_and_releases_that_are_chosen_after_others():
    everything = [about((dl.Count(), dl.geometric(e)), ALL, dl.FixedPrior([1 / 8] * 8)) for e in (1, 2)]
    assert dl.composition(everything, rule="sum").rule == "sum"
    refused(lambda: dl.composition(everything, adaptive=True, rule="sum"), "chosen after others; ask about AnyPrior")
    known = [about((dl.Count(), dl.geometric(e)), MAJORITY, dl.AnyPrior()) for e in (1, 2)]
    both = dl.composition([known[0], known], rule="sum")
    assert both.upper == pytest.approx(known[0][1].upper + known[1][1].upper, rel=1e-12)
    assert dl.composition(known * 3).upper == pytest.approx(math.log(2)), "a majority has two values"
    for other in (everything[0], answered((dl.Count(), dl.geometric(1)), dl.AnyPrior(), THREE)):
        with pytest.raises(
            dl.errors.InputError, match=r"same records, or secrets, and the same adversary; \w+ of answers\[0\]"
        ):
            dl.composition([known[0], other])
