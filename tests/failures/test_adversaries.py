"""Bad adversaries, cut short and lying audits: one clear error, or an interval that is proved."""

import math

import numpy as np
import pytest
from flint import fmpq

import dalenius as dl
import support
from campaigns import each
from dalenius.audits.listed import PriorSetAudit
from dalenius.audits.selections import ProductAudit
from dalenius.information.law_classes import worst_law
from dalenius.information.measures import PriorFloor
from dalenius.reduction import record_channels
from dalenius.studies.curves import entropy_curve
from support import refused, refuses

LOOP: list = []
LOOP.append(LOOP)


def question(adversary, sizes=(2, 2)):
    return dl.WorstCaseLeakage(
        records=dl.Records(alphabets=sizes), query=dl.Parity(), mechanism=dl.symmetric("0.1", k=2), adversary=adversary
    )


test_bad_priors = refuses(
    ([], ["priors", "at least one"]),
    (None, ["priors", "list"]),
    ("0.5", ["priors", "list"]),
    (5, ["priors", "list"]),
    ({0: [1]}, ["priors", "list"]),
    ([0.5, 0.5], ["priors[0]", "list"]),
    (["1"], ["priors[0]", "list"]),
    ([[]], ["priors[0]", "sum to 1"]),
    ([[1], [0]], ["priors[1]", "sum to 1"]),
    ([[0.5, 0.6]], ["priors[0]", "sum to 1", "1.1"]),
    ([[0.5, "0.500000002"]], ["priors[0]", "sum to 1"]),
    ([[1.5, -0.5]], ["priors[0][1]", "negative"]),
    ([[1, "-1e-300"]], ["priors[0][1]", "negative"]),
    ([[0.5, math.nan]], ["priors[0][1]", "finite"]),
    ([[0.5, math.inf]], ["priors[0][1]", "finite"]),
    ([np.array([0.5, np.nan])], ["priors[0][1]"]),
    ([[0.5, True]], ["priors[0][1]"]),
    ([[0.5, None]], ["priors[0][1]"]),
    ([[0.5, "half"]], ["priors[0][1]"]),
    ([[0.5, 1j]], ["priors[0][1]"]),
    ([[[0.5, 0.5], [0.5]]], ["priors[0]", "length"]),
    ([[[0.5, 0.5], 0.5]], ["priors[0]", "list"]),
    ([[{"a": 1}]], ["priors[0]", "list"]),
    ([LOOP], ["priors[0]", "nested"]),
    ([["1/" + str(10**300 + j) for j in range(100)]], ["sum", "bits"]),
    by=dl.PriorSet,
)


test_priors_that_do_not_fit_the_records = refuses(
    ([1], (2, 2), ["priors[0]", "4 datasets", "(1,)"]),
    ([0.5, 0.5, 0], (2, 2), ["priors[0]", "4 datasets"]),
    ([0.2] * 5, (2, 2), ["priors[0]", "4 datasets"]),
    (np.full((3, 2), "1/6"), (2, 3), ["priors[0]", "(3, 2)"]),
    (np.full((2, 2, 1), 0.25), (2, 2), ["priors[0]", "(2, 2, 1)"]),
    ([[1]], (2, 2), ["priors[0]", "(1, 1)"]),
    ([1], (2,) * 17, ["65536", "product_priors"]),
    by=lambda prior, sizes: question(dl.FixedPrior(prior), sizes),
)


def test_too_many_priors():
    adversary = dl.PriorSet([([0.0625] * 16)])
    object.__setattr__(adversary, "priors", adversary.priors * (2**18 + 1))
    object.__setattr__(adversary, "shapes", adversary.shapes * (2**18 + 1))
    refused(lambda: question(adversary, (2,) * 4), "4194304")


test_bad_classes_of_laws = refuses(
    (lambda: dl.FloorPriors(-0.1), ["floor", "at least 0"]),
    (lambda: dl.FloorPriors("a tenth"), ["floor", "number"]),
    (lambda: question(dl.FloorPriors("0.51")), ["2 letters", "lower floor"]),
    (lambda: dl.BoxPriors([0.2, 0.2], [0.5]), ["low and high", "2 and 1"]),
    (lambda: dl.BoxPriors([], []), ["low and high"]),
    (lambda: dl.BoxPriors([0.6, 0.2], [0.5, 0.9]), ["low[0]", "above high[0]"]),
    (lambda: dl.BoxPriors([0.6, 0.5], [0.6, 0.9]), ["no law lies in the box"]),
    (lambda: dl.BoxPriors([0, 0], [0.5, 0.4]), ["no law lies in the box"]),
    (lambda: dl.BoxPriors([-0.1, 0], [0.5, 0.5]), ["low[0]", "negative"]),
    (lambda: dl.PolytopePriors([]), ["vertices", "at least one"]),
    (lambda: dl.PolytopePriors([[0.5, 0.5], [1]]), ["vertices", "as many letters"]),
    (lambda: dl.PolytopePriors([[0.5, 0.6]]), ["vertices[0]", "sum to 1"]),
    (lambda: dl.adversaries.MomentPriors([], 0, 1), ["values", "each letter"]),
    (lambda: dl.adversaries.MomentPriors([0, float("nan")], 0, 1), ["values[1]", "finite"]),
    (lambda: dl.adversaries.MomentPriors([0, 1], 0, "inf"), ["high", "number"]),
    (lambda: dl.adversaries.MomentPriors(1, 0, 1), ["values", "list"]),
    (lambda: dl.adversaries.MomentPriors([0, 1], 0.3, 0.2), ["no law", "3/10 to 1/5"]),
    (lambda: dl.adversaries.MomentPriors([0, 1], 2, 3), ["no law", "from 0 to 1"]),
    (lambda: dl.adversaries.MomentPriors([0, 1], -2, -1), ["no law", "from 0 to 1"]),
    (lambda: question(dl.adversaries.MomentPriors([0, 1, 2], 0, 1)), ["3 letters", "[2, 2]"]),
    (lambda: dl.L1BallPriors([0.5, 0.6], 0.1), ["center", "sum to 1"]),
    (lambda: dl.KLBallPriors([0.5, 0.5], -1), ["radius", "at least 0"]),
    (lambda: dl.ChiSquareBallPriors(0.5, 1), ["center", "list"]),
    (lambda: question(dl.KLBallPriors([0.5, 0.3, 0.2], 1)), ["3 letters", "[2, 2]"]),
    (lambda: question(dl.BoxPriors([0, 0], [1, 1]), (2, 3)), ["2 letters", "[2, 3]"]),
)


@each("adversary", None, 1.0, "somebody", dl.ProductPriors, [0.25] * 4)
def test_no_adversaries(adversary):
    refused(lambda: question(adversary), "adversary")


@each("adversary", dl.ProductPriors(), dl.FixedPrior([0.25] * 4))
def test_there_is_no_entropy_bound(adversary):
    problem = question(adversary)
    refused(lambda: problem.entropy_bound, "entropy")
    refused(lambda: record_channels(problem), "entropy")
    refused(lambda: entropy_curve(problem, [0, 1]), "sweep", adversary.kind)


HEAD = """
problem = "maximal_leakage"
records = {count = 2, alphabet = 2}
query = {kind = "parity"}
mechanism = {kind = "symmetric", flip = 0.1}
[adversary]
"""


test_bad_tables = refuses(
    ("", ["entropy_at_least", "product_priors"]),
    ('kind = "product"', ["kind", "product_priors"]),
    ('kind = "entropy_at_least"', ["entropy_at_least is a key"]),
    ("kind = 1", ["kind"]),
    ('kind = "product_priors"\nentropy_at_least = 1', ["either", "not both"]),
    ('kind = "product_priors"\npriors = [[1, 0, 0, 0]]', ["unknown key", "priors"]),
    ('kind = "any_prior"', ["write entropy_at_least = 0"]),
    ('kind = "prior_set"', ["missing priors"]),
    ('kind = "prior_set"\npriors = []', ["at least one"]),
    ('kind = "prior_set"\npriors = [[1, 0, 0, 0]]\nprior = 1', ["unknown key", "priors"]),
    ('kind = "prior_set"\npriors = [1, 0, 0, 0]', ["priors[0]"]),
    ('kind = "prior_set"\npriors = "1"', ["priors"]),
    ('kind = "prior_set"\npriors = [[[1, 0], [0, 0]]]', ["priors[0]", "one a dataset"]),
    ('kind = "prior_set"\npriors = [[1, 0, 0]]', ["4 datasets"]),
    ('kind = "prior_set"\npriors = [[1, 0, 0, nan]]', ["priors[0][3]"]),
    ("priors = [[1, 0, 0, 0]]", ["unknown key", "entropy_at_least"]),
    ('kind = "kl_ball_priors"\ncenter = [0.5, 0.5]', ["missing radius"]),
    ('kind = "l1_ball_priors"\ncenter = [0.5, 0.5]\nradius = 1\nfloor = 0', ["unknown key", "floor"]),
    ('kind = "moment_priors"\nvalues = [0, 1]\nlow = 0', ["missing high"]),
    ('kind = "moment_priors"\nvalues = [0, "one"]\nlow = 0\nhigh = 1', ["values[1]", "number"]),
    ('kind = "box_priors"\nlow = 0\nhigh = [1, 1]', ["low", "list"]),
    by=lambda table: dl.loads(HEAD + table),
)


ADVERSARIES = {
    "product": dl.ProductPriors(),
    "fixed": dl.FixedPrior([0.1, "1/3", "17/30", 0]),
    "set": dl.PriorSet([np.full((2, 2), 0.25), ["1e-300", 0, 0, 1]]),
    "any": dl.AnyPrior(),
    "floor": dl.FloorPriors("1/3"),
    "box": dl.BoxPriors([0, 0.25], ["2/3", 1]),
    "polytope": dl.PolytopePriors([["1/3", "2/3"], [1, 0]]),
    "moment": dl.adversaries.MomentPriors(["-1/3", 2], 0, "1/7"),
    "chi2": dl.ChiSquareBallPriors([0.1, 0.9], 0.04),
}


@pytest.mark.parametrize("name", ADVERSARIES)
def test_written_and_read_again(name, tmp_path):
    problem = question(ADVERSARIES[name])
    path = tmp_path / "model.toml"
    path.write_text(dl.dumps(problem))
    assert dl.load(path) == problem
    assert hash(dl.load(path)) == hash(problem)
    result = dl.solve(problem)
    assert dl.verify(path, result.certificate).proved
    assert not dl.verify(question(dl.EntropyAtLeast("1 bits")), result.certificate).proved


# ---------------------------------------------------------------- cut short


def long():
    """Thousands of selections."""
    rows = np.random.default_rng(0).dirichlet(np.ones(6), size=2**9)
    return support.problem(dl.Records(9, alphabet=2), None, dl.Channel(rows, inputs="dataset"), dl.ProductPriors())


def test_gap_of_one_asks_for_nothing():
    assert dl.solve(long(), gap=1.0).termination is dl.answers.Termination.GAP_REACHED


@each("options", {"time_limit": 1e-9}, {"gap": 1.0})
def test_a_class_of_laws_without_a_search(options):
    """One output law for all selections, and nothing from below where there was no time."""
    problem = question(dl.KLBallPriors([0.7, 0.3], 0.1))
    result, whole = dl.solve(problem, **options), dl.solve(problem, gap=1e-9)
    assert dl.verify(problem, result.certificate).proved
    assert result.lower <= whole.upper
    assert whole.lower <= result.upper


# ---------------------------------------------------------------- lying


def test_a_law_outside_its_class(monkeypatch):
    """What was searched for claims more than the class allows: refused, and what needs no search stands."""
    honest = worst_law
    monkeypatch.setattr(
        "dalenius.audits.law_classes.worst_law", lambda rows, priors, **rest: honest(rows, PriorFloor(fmpq(0)))
    )
    problem = question(dl.KLBallPriors([0.95, 0.05], 0.01))
    with pytest.warns(dl.errors.ProofRefusedWarning):
        result = dl.solve(problem)
    assert result.lower == 0.0
    assert dl.verify(problem, result.certificate).proved


@pytest.mark.parametrize("factor", [0.5, 0.999999])
def test_laws_that_do_not_bound_what_they_should(monkeypatch, factor):
    honest = ProductAudit.run

    def lie(self):
        honest(self)
        for kind in self.records:
            kind.bounds *= factor

    monkeypatch.setattr(ProductAudit, "run", lie)
    problem = question(dl.ProductPriors())
    with pytest.warns(dl.errors.ProofRefusedWarning, match="upper end"):
        result = dl.solve(problem)
    assert result.termination is dl.answers.Termination.GAP_REACHED  # what needs no search is good enough here
    assert {refusal.end for refusal in result.refusals} == {"upper"}
    assert dl.verify(problem, result.certificate).proved
    assert 0.36806420 <= result.lower <= 0.36806420716849 <= result.upper  # each end retreats on its own


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_priors_that_leak_something_else(monkeypatch, factor):
    honest = PriorSetAudit.run

    def lie(self):
        honest(self)
        self.told = {i: factor * told for i, told in self.told.items()}

    monkeypatch.setattr(PriorSetAudit, "run", lie)
    problem = question(dl.FixedPrior([0.5, 0, 0.5, 0]))
    with pytest.warns(dl.errors.ProofRefusedWarning):
        result = dl.solve(problem)
    assert result.termination is dl.answers.Termination.PROOF_REFUSED
    assert dl.verify(problem, result.certificate).proved
    assert result.lower <= 0.3680642071 <= result.upper


@pytest.mark.thorough
def test_more_selections_than_the_checker_looks_at():
    problem = support.problem([3000, 3000], dl.Sum(), dl.Channel([[1]] * 5999), dl.ProductPriors())
    with pytest.raises(
        dl.errors.DaleniusError, match="nothing can be proved about this model: the selections of record 0"
    ):
        dl.solve(problem)


@each("adversary", dl.ProductPriors(), dl.FixedPrior([0.25] * 4))
def test_a_mechanism_of_ones_own(adversary):
    """The checker does not know it: the certificate carries its matrix."""
    from dataclasses import dataclass
    from typing import ClassVar

    @dataclass(frozen=True)
    class Flip(dl.mechanisms.Mechanism):
        kind: ClassVar[str] = "my_flip"

        def channel(self, values):
            return np.array([[0.75, 0.25], [0.25, 0.75]])

    problem = support.problem(dl.Records(2, alphabet=2), dl.Parity(), Flip(), adversary)
    result = dl.solve(problem)
    assert result.certificate.header.resolved is not None
    assert result.gap <= 1e-9


test_bad_blocks = refuses(
    (lambda: dl.IndependentBlocks(), ["either size, or sizes"]),
    (lambda: dl.IndependentBlocks(2, sizes=[2]), ["either size, or sizes"]),
    (lambda: dl.IndependentBlocks(0), ["size", "at least 1"]),
    (lambda: dl.IndependentBlocks(2.5), ["size", "an integer"]),
    (lambda: dl.IndependentBlocks(sizes=[]), ["sizes", "from 1 to"]),
    (lambda: dl.IndependentBlocks(sizes=[2, 0]), ["sizes[1]", "at least 1"]),
    (lambda: dl.IndependentBlocks(2, entropy_at_least="-1 nats"), ["entropy_at_least", "at least 0"]),
    (lambda: question(dl.IndependentBlocks(sizes=[1, 2])), ["add up to 3", "2"]),
    (lambda: question(dl.IndependentBlocks(1, entropy_at_least="1.5 bits")), ["above the largest", "a block of 1"]),
    (
        lambda: dl.loads(dl.dumps(question(dl.IndependentBlocks(2))).replace("size = 2", "sizes = 2")),
        ["sizes must be a list"],
    ),
    (
        lambda: dl.loads(dl.dumps(question(dl.IndependentBlocks(2))).replace("size = 2", "people = 2")),
        ["unknown key", "people"],
    ),
)


test_blocks_of_questions_that_are_not_known = refuses(
    (dl.Count(), dl.randomized_count(1), ["count with randomized_count", "write randomized_histogram"]),
    (dl.Count(), dl.exponential(1, range=3), ["from 0 to 4", "outside the range [0, 3]"]),
    (dl.Identity(), dl.symmetric(0.1), ["identity"]),
    (dl.Count(), dl.discrete_gaussian(scale=1, range=4), ["noise without a range", "got count with discrete_gaussian"]),
    (dl.ModularSum(3), dl.discrete_laplace(1), ["modular_sum"]),
    (dl.Parity(), dl.gaussian(1), ["gaussian, laplace", "got parity with gaussian"]),
    (dl.Count(), dl.geometric(1, range=3), ["run from 0 to 4", "outside the range [0, 3]"]),
    (dl.Count(), dl.Channel(np.eye(4)), ["5 query values", "4 rows"]),
    (dl.Sum([0, 100_000_000]), dl.Channel(np.eye(4)), ["5 query values"]),
    (dl.Parity(), dl.symmetric(0.1, k=3), ["k is 3"]),
    (dl.Count([7]), dl.geometric(1), ["letter 7"]),
    (dl.Joint(dl.Sum(), dl.Threshold(1)), dl.several_releases(dl.geometric(1)), ["joint with several_releases"]),
    (
        dl.Count(),
        dl.several_releases(dl.geometric(1), dl.discrete_gaussian(scale=1)),
        ["count with several_releases of discrete_gaussian; ask about each", "dalenius compose"],
    ),
    (dl.Count(), dl.several_releases(dl.geometric(1), dl.symmetric(0.1)), ["got count with symmetric"]),
    by=lambda query, mechanism: support.problem(dl.Records(4, alphabet=2), query, mechanism, dl.IndependentBlocks(2)),
)


def test_some_designs_are_not_against_blocks():
    blocks = dl.IndependentBlocks(2)

    def design(**more):
        given = {"query": dl.Count(), "adversary": dl.ProductPriors(), "distortion": dl.Absolute()} | more
        return lambda: dl.MinLeakage(records=dl.Records(4, alphabet=2), max_distortion=1, **given)

    in_a_term = dl.objectives.WeightedSum([dl.objectives.LeakageTerm(blocks)])
    for build, *words in (
        (
            design(constraints=[dl.constraints.LeakageLimit(blocks, 0.1)]),
            "stands in no limit or term",
            "release(rows, adversary)",
        ),
        (design(objective=in_a_term), "stands in no limit or term"),
        (
            design(adversary=blocks, constraints=[dl.constraints.LeakageLimit(dl.ProductPriors(), 0.1)]),
            "constraints[0]",
            "knows no limit of leakage",
        ),
        (
            design(
                adversary=blocks, objective=dl.objectives.WeightedSum([dl.objectives.LeakageTerm(dl.ProductPriors())])
            ),
            "without an objective",
        ),
        (design(adversary=blocks, query=dl.Identity(), distortion=dl.Hamming()), "know count, sum", "got identity"),
        (design(adversary=blocks, mechanism="full"), '"oblivious" or "additive"', "got full"),
        (design(adversary=blocks, query=dl.Count([3])), "nothing to hide"),
        (design(adversary=dl.IndependentBlocks(sizes=[2, 1])), "add up to 3"),
    ):
        refused(build, *words)


def chained(adversary, query=None, mechanism=None, records=4):
    return support.problem(
        dl.Records(records, alphabet=2), query or dl.Count(), mechanism or dl.geometric(1), adversary
    )


test_bad_chains = refuses(
    (lambda: dl.MarkovChain(0.1), ["MarkovChain", "to_zero"]),
    (lambda: dl.MarkovChain((0.2, 0.1), 0.1), ["to_one", "the least first"]),
    (lambda: dl.MarkovChain(0.1, (0.0, 0.1)), ["to_zero", "from above 0"]),
    (lambda: dl.MarkovChain(0.1, 1), ["to_zero", "below 1"]),
    (lambda: dl.MarkovChain((0.1, 0.2, 0.3), 0.1), ["to_one", "the least and the largest"]),
    (lambda: dl.MarkovChain("often", 0.1), ["to_one", "often"]),
    (lambda: dl.MarkovChain(0.1, 0.1, start="fixed"), ["start", "stationary", "any"]),
    (lambda: dl.MarkovChain(0.1, 0.1, record=-1), ["record", "at least 0"]),
    (lambda: chained(dl.MarkovChain(0.1, 0.1, record=4)), ["record", "from 0 to 3"]),
    (lambda: dl.loads(dl.dumps(chained(dl.MarkovChain(0.1, 0.2))).replace("[0.1, 0.1]", "0.1")), ["list of two"]),
    (lambda: chained(dl.MarkovChain(0.1, 0.1), dl.Identity(), dl.randomized_response(1)), ["identity"]),
    (lambda: chained(dl.MarkovChain(0.1, 0.1), dl.Count([0])), ["count of letter 1"]),
    (lambda: chained(dl.MarkovChain(0.1, 0.1), mechanism=dl.Channel(np.eye(16), inputs="dataset")), ["matrix"]),
    (lambda: chained(dl.MarkovChain(0.1, 0.1), mechanism=dl.discrete_gaussian(scale=1)), ["range"]),
    (lambda: chained(dl.MarkovChain(0.1, 0.1), mechanism=dl.gaussian(1)), ["a row for each", "gaussian"]),
    (lambda: chained(dl.MarkovChain(0.1, 0.1), records=1001), ["give the record", "record = 500"]),
    (
        lambda: chained(dl.MarkovChain(0.1, 0.1, record=5), dl.Parity(), dl.symmetric(0.1), records=1001),
        ["1000", "parity with symmetric"],
    ),
    (
        lambda: chained(dl.MarkovChain(0.1, 0.1, record=5), mechanism=dl.geometric(1, range=9), records=1001),
        ["range", "0 to 1001"],
    ),
    (
        lambda: support.problem(dl.Records(2, alphabet=3), dl.Count(), dl.geometric(1), dl.MarkovChain(0.1, 0.1)),
        ["binary"],
    ),
    (
        lambda: support.design(
            dl.MinLeakage, dl.Records(4, alphabet=2), dl.Count(), dl.Absolute(), 1, dl.MarkovChain(0.1, 0.1)
        ),
        ["markov_chain is for audits"],
    ),
)


FAIR = [["1/3"] * 3] * 3


def lettered(adversary, query=None, mechanism=None, records=4, alphabet=3):
    return support.problem(
        dl.Records(records, alphabet=alphabet), query or dl.Count(), mechanism or dl.geometric(1), adversary
    )


test_bad_chains_of_letters = refuses(
    (lambda: dl.FiniteChain([[1]]), ["2 to 16 rows", "got 1"]),
    (lambda: dl.FiniteChain([[0.5, 0.5], [0.5]]), ["transitions[1]", "2 letters", "got 1"]),
    (lambda: dl.FiniteChain([[0.5, 0.4], [0.5, 0.5]]), ["transitions[0] must sum to 1 exactly", "0.9"]),
    (lambda: dl.FiniteChain([[0.5, 0.5], [(0.6, 0.7), (0.5, 0.6)]]), ["transitions[1] cannot sum to 1", "1.1"]),
    (lambda: dl.FiniteChain([[(0.6, 0.5), 0.5], [0.5, 0.5]]), ["transitions[0][0]", "the least first"]),
    (lambda: dl.FiniteChain([[(0.1, 0.2, 0.3), 0.5], [0.5, 0.5]]), ["transitions[0][0]", "least and the largest"]),
    (lambda: dl.FiniteChain([["often", 0.5], [0.5, 0.5]]), ["transitions[0][0]", "often"]),
    (lambda: dl.FiniteChain(0.5), ["transitions", "list"]),
    (lambda: dl.FiniteChain([[1, 0], [0.5, 0.5]]), ["letter 1 cannot be reached from letter 0", "start"]),
    (lambda: dl.FiniteChain(FAIR, start="fixed"), ["start", "stationary", "list of 3"]),
    (lambda: dl.FiniteChain(FAIR, start=[0.5, 0.5]), ["start", "3 letters"]),
    (lambda: dl.FiniteChain(FAIR, start=[0.5, 0.5, 0.5]), ["start must sum to 1 exactly"]),
    (lambda: dl.FiniteChain(FAIR, record=-1), ["record", "at least 0"]),
    (lambda: lettered(dl.FiniteChain(FAIR, record=4)), ["record", "from 0 to 3"]),
    (lambda: lettered(dl.FiniteChain(FAIR), alphabet=2), ["between 3 letters", "[2, 2, 2, 2]"]),
    (lambda: lettered(dl.FiniteChain(FAIR), dl.Identity(), dl.randomized_response(1)), ["identity"]),
    (lambda: lettered(dl.FiniteChain(FAIR), dl.Sum(weights=[1, 2, 4])), ["sum without weights", "got sum"]),
    (lambda: lettered(dl.FiniteChain(FAIR), mechanism=dl.gaussian(1)), ["a row for each", "gaussian"]),
    (lambda: lettered(dl.FiniteChain(FAIR), mechanism=dl.discrete_gaussian(scale=1)), ["of no Markov chain"]),
    (lambda: lettered(dl.FiniteChain(FAIR), records=1001), ["at most 1000", "1001"]),
    (
        lambda: support.design(
            dl.MinLeakage, dl.Records(4, alphabet=3), dl.Count(), dl.Absolute(), 1, dl.FiniteChain(FAIR)
        ),
        ["finite_chain is for audits"],
    ),
)
