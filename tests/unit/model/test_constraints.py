"""Constraints of designs: what their rows mean, against the definitions; model files, the checker's reading, bad input."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import dalenius_check
import support
from campaigns import each
from dalenius.model import digest, model_bytes
from dalenius.model.constraints import (
    CONSTRAINTS,
    KL,
    Affine,
    Band,
    ChiSquare,
    DistortionBudget,
    ErrorCap,
    InformationPrivacy,
    LeakageLimit,
    Linear,
    LocalDPBetween,
    LocalDPDelta,
    LocalInformationPrivacy,
    LocalInformationPrivacyDelta,
    MaximalCorrelation,
    MeasureLimit,
    Monotone,
    MutualInformation,
    PointwiseLeakageLimit,
    RowConstraint,
    SecondOrderCone,
    SecretLeakageLimit,
    TotalVariation,
    Unbiased,
    ZeroEntries,
)
from dalenius.model.model_file import normal_form
from support import refuses

OUTPUTS = [-1, 0, 1, "5/2", 3]
SECRET = [[0.1, 0.2, 0.1, 0.1], [0.2, 0.1, 0.1, 0.1]]
ONE_OF_EACH = {
    "linear": Linear([(0, 1, 2), (3, 0, "-1/3"), (0, 1, 1)], at_most=0.5),
    "zero": ZeroEntries([(0, 4), (3, 0)]),
    "band": Band(1.5),
    "unbiased": Unbiased(tolerance=0.7),
    "error": ErrorCap("3/2", groups=[[0, 2], [3]], distortion=dl.Absolute(outputs=[0, 1, 2, 3, 4])),
    "distortion": DistortionBudget(dl.DistortionMatrix([[1, 0, 2, 1, 0]] * 4), at_most=1),
    "monotone": Monotone(),
    "local_dp": LocalDPBetween("log 3", pairs=[(0, 1), (2, 1)]),
    "pointwise_maximal_leakage": PointwiseLeakageLimit(0.8, priors=[[0.25, 0.25, 0.5, 0]]),
    "cone": SecondOrderCone([Affine([(0, 0, 1), (0, 0, 1)], constant=-1), Affine([])], [(1, 1, 1)], 0.75),
    "leakage": LeakageLimit(dl.EntropyAtLeast("0.5 max"), "0.2 bits"),
    "secret_leakage": SecretLeakageLimit(dl.Secret(dl.Threshold(2), given=dl.Letters(2)), "0.2 bits"),
    "local_information_privacy": LocalInformationPrivacy("log 6/5", secret=SECRET),
    "information_privacy": InformationPrivacy(
        "log 5/4", 0.3, strong=True, exempt=[(0, 4), (1, 4), (1, 2)], secret=SECRET
    ),
    "mutual_information": MutualInformation("0.1 bits"),
    "kl": KL(0.2, strong=True, priors=[[0.25, 0.25, 0.5, 0], [0, 0.5, 0.25, "1/4"]]),
    "total_variation": TotalVariation("1/3", secret=SECRET),
    "chi_square": ChiSquare(0.3, strong=True, secret=[SECRET, SECRET[::-1]]),
    "maximal_correlation": MaximalCorrelation(square_at_most=0.3, secret=SECRET),
    "local_dp_delta": LocalDPDelta("1 bits", 0.05),
    "local_information_privacy_delta": LocalInformationPrivacyDelta(0.5, "1/7", secret=SECRET),
}


JOINT = [[Fraction(str(p)) for p in row] for row in SECRET]


def design(*constraints, query=None, distortion=None, mechanism="oblivious", law=None):
    return support.design(
        dl.MinLeakage,
        dl.Records(3, alphabet=2),
        query or dl.Count(),
        distortion or dl.Squared(outputs=OUTPUTS),
        2,
        dl.ProductPriors(),
        law=law or dl.Iid([0.75, 0.25]),
        mechanism=mechanism,
        constraints=constraints,
    )


def meets(problem, constraint, rows) -> bool:
    """By the rows, with c- in the place of e^epsilon."""
    made = constraint.rows(problem.space)
    own = problem.expand(rows)
    sides = (
        sum(c * own[x][y] for (x, y), c in listed.items()) - end
        for listed, end in zip(made.below, made.ends, strict=True)
    )
    return all(side == 0 if made.equal else side <= 0 for side in sides)


def by_definition(problem, constraint, rows) -> bool:
    """The same from what the kind says."""
    Q, v, o = rows, [0, 1, 2, 3], [Fraction(x) for x in OUTPUTS]
    p = [Fraction(math.comb(3, k) * 3 ** (3 - k), 64) for k in range(4)]
    match constraint.kind:
        case "linear":
            return 3 * Q[0][1] - Q[3][0] / 3 <= Fraction(1, 2)
        case "zero":
            return Q[0][4] == 0 == Q[3][0]
        case "band":
            return all(Q[x][y] == 0 for x in range(4) for y in range(5) if abs(v[x] - o[y]) > Fraction(3, 2))
        case "unbiased":
            return all(
                abs(sum(q * number for q, number in zip(Q[x], o, strict=True)) - v[x]) <= Fraction(7, 10)
                for x in range(4)
            )
        case "error":
            each = [sum(q * abs(v[x] - y) for y, q in enumerate(Q[x])) for x in range(4)]
            return (p[0] * each[0] + p[2] * each[2]) / (p[0] + p[2]) <= Fraction(3, 2) and each[3] <= Fraction(3, 2)
        case "distortion":
            return sum(p[x] * (Q[x][0] + 2 * Q[x][2] + Q[x][3]) for x in range(4)) <= 1
        case "monotone":
            return all(sum(Q[x + 1][: y + 1]) <= sum(Q[x][: y + 1]) for x in range(3) for y in range(5))
        case "local_dp":
            pairs = [(0, 1), (1, 0), (2, 1), (1, 2)]
            return all(Q[a][y] <= 3 * Q[b][y] for a, b in pairs for y in range(5))
        case "pointwise_maximal_leakage":
            mean = [(Q[0][y] + Q[1][y] + 2 * Q[2][y]) / 4 for y in range(5)]
            return all(float(Q[x][y]) <= math.exp(0.8) * float(mean[y]) for x in range(3) for y in range(5))
        case "local_information_privacy" | "information_privacy":
            exempt = set(constraint.exempt or ()) if constraint.kind == "information_privacy" else set()
            r = [sum(sum(row) * Q[x][y] for x, row in enumerate(zip(*JOINT, strict=True))) for y in range(5)]
            W = [[2 * sum(p * Q[x][y] for x, p in enumerate(row)) for y in range(5)] for row in JOINT]
            c = Fraction(6, 5) if not exempt else Fraction(5, 4)
            near = all(
                W[s][y] <= c * r[y] and r[y] <= c * W[s][y] for s in (0, 1) for y in range(5) if (s, y) not in exempt
            )
            return near and (not exempt or r[2] + r[4] <= Fraction(3, 10))
    raise AssertionError(constraint.kind)


def some_rows(rng, near):
    """A random mechanism, mixed with one that meets most things, so that both answers occur."""
    weights = [
        [Fraction(int(w)) for w in row] for row in rng.integers(0, 6, size=(4, 5)) + np.eye(5, dtype=int)[[1, 2, 3, 4]]
    ]
    laws = [[w / sum(row) for w in row] for row in weights]
    plain = [[Fraction(int(y == k)) for y in range(5)] for k in ([1, 2, 3, 3] if near == 1 else [2, 2, 2, 2])]
    share = Fraction(int(rng.choice([0, 5, 9, 10])), 10)
    return [[(1 - share) * a + share * b for a, b in zip(*pair, strict=True)] for pair in zip(laws, plain, strict=True)]


@each("kind", *[kind for kind in ONE_OF_EACH if issubclass(CONSTRAINTS[kind], RowConstraint)])
def test_rows_mean_what_the_kind_says(kind):
    rng, problem = np.random.default_rng(5), design()
    constraint = ONE_OF_EACH[kind]
    constraint.check(problem.space)
    seen = set()
    for near in (1, 2) * 30:
        rows = some_rows(rng, near)
        seen.add(truth := by_definition(problem, constraint, rows))
        assert meets(problem, constraint, rows) == truth
    assert seen == {True, False}


def test_every_kind_goes_into_a_file_and_back_and_both_programs_read_the_same():
    assert {*ONE_OF_EACH, "measure"} == set(CONSTRAINTS), "one of each but the kind of the most information alone"
    for chosen in [*((kind,) for kind in ONE_OF_EACH), tuple(ONE_OF_EACH)]:
        problem = design(*(ONE_OF_EACH[kind] for kind in chosen))
        again = dl.loads(dl.dumps(problem))
        assert again == problem
        assert [table["kind"] for table in normal_form(problem)["constraints"]] == list(chosen)
        assert dalenius_check.digest(model_bytes(problem)) == digest(problem) == digest(again)
    assert "constraints" not in normal_form(design())


def test_defaults_and_spellings_make_no_difference():
    by_default = design(Unbiased(), dl.LocalDP("log 2"), dl.PointwiseMaximalLeakage(1), ErrorCap(1))
    text = dl.dumps(by_default)
    assert "pairs" not in text
    spelled = text.replace("tolerance = 0", 'tolerance = "0/7"').replace("at_most = 1", "at_most = 1.00")
    assert digest(dl.loads(spelled)) == digest(by_default)
    kinds = [type(constraint) for constraint in by_default.own_constraints]
    assert kinds == [
        Unbiased,
        LocalDPBetween,
        PointwiseLeakageLimit,
        ErrorCap,
    ]
    assert normal_form(by_default)["constraints"][1] == {"kind": "local_dp", "epsilon": "log 2", "pairs": None}


def test_rows_of_datasets_and_of_values_that_nobody_has():
    datasets = design(Unbiased(), mechanism="full", law=dl.Uniform())
    made = datasets.own_constraints[0].rows(datasets.space)
    assert [int(end) for end in made.ends] == [0, 1, 1, 2, 1, 2, 2, 3]
    modular = dl.MinDistortion(
        records=dl.Records(1, alphabet=2), query=dl.ModularSum(4), distortion=dl.Absolute(), privacy=dl.LocalDP(1),
        constraints=[ErrorCap(1), Monotone(), dl.LocalDP(2)],
    )  # fmt: skip
    assert modular.possible_inputs == (0, 1)
    assert [len(c.rows(modular.space)) for c in modular.own_constraints] == [2, 3, 8]


def test_sizes_are_counted_without_making_rows():
    for kind, constraint in ONE_OF_EACH.items():
        if isinstance(constraint, RowConstraint) and kind not in ("monotone", "information_privacy"):  # at most so many
            made, problem = constraint.rows(design().space), design()
            terms = sum(map(len, made.terms)) + sum(map(len, made.scaled))
            assert constraint.size(problem.space) == (len(made), terms)


test_bad_constraints_are_named = refuses(
    (lambda: Linear([], at_most=1), "at least one term"),
    (lambda: Linear([(0, 1, 1)]), "one of at_most and equals, got neither"),
    (lambda: Linear([(0, 1, 1)], 1, 1), "got both"),
    (lambda: Linear([(0, 1)], 1), "terms[0]: expected [input, output, factor]"),
    (lambda: ZeroEntries([(0, 1), (0, 1)]), "comes twice"),
    (lambda: ZeroEntries([]), "at least one"),
    (lambda: Band(-1), "width must be at least 0"),
    (lambda: Unbiased(-1), "tolerance must be at least 0"),
    (lambda: ErrorCap(1, groups=[[0, 0]]), "lists of different inputs"),
    (lambda: ErrorCap(1, distortion="hamming"), "expected a Distortion"),
    (lambda: DistortionBudget("absolute", 1), "expected a Distortion"),
    (lambda: LocalDPBetween("-1 nats"), "epsilon must be at least 0"),
    (lambda: LocalDPBetween(1, pairs=[]), "at least one pair"),
    (lambda: LocalDPBetween(1, pairs=[(1, 1)]), "two different inputs"),
    (lambda: PointwiseLeakageLimit("log 1/2"), "epsilon must be at least 0"),
    (lambda: SecondOrderCone([]), "at least one Affine"),
    (lambda: LeakageLimit("anybody", 1), "expected an Adversary"),
    (lambda: MeasureLimit("chi_square", 1), "expected guessing, or lines"),
    (lambda: MeasureLimit([[1, 0], [0, 0]], 1), "0 at t = 1"),
    (lambda: MeasureLimit("guessing", -1), "at_most must be at least 0"),
    (
        lambda: design(MeasureLimit("guessing", 1)),
        "constraints[0]: measure: limits what a max_information problem tells",
    ),
    (lambda: design(ZeroEntries([(4, 0)])), "constraints[0]: zero: entries: there is no input 4"),
    (lambda: design(Unbiased(), Linear([(0, 5, 1)], 1)), ["constraints[1]: ", " there is no output 5"]),
    (lambda: design(Band(1), distortion=dl.DistortionMatrix([[0, 1]] * 4)), r"give it outputs="),
    (lambda: design(DistortionBudget(dl.Absolute(), 1)), "its distortion has 4 outputs, the model's own has 5"),
    (lambda: design(ErrorCap(1, groups=[[0, 3]]), law=dl.Iid([0.5, 0.5]), query=dl.Threshold(9)), "no input 3"),
    (
        lambda: design("unbiased"),
        "constraints[0]: expected a constraint such as dl.constraints.Unbiased(), got 'unbiased'",
    ),
    (lambda: design(LeakageLimit(dl.EntropyAtLeast("4 bits"), 1)), "above the largest possible"),
    (lambda: dl.Absolute(outputs=[1, 1]), "each larger than the one before"),
    (lambda: dl.DistortionMatrix([[0, 1]], outputs=[1]), "one number for each of the 2 columns"),
)


def test_bad_tables_are_named():
    text = dl.dumps(design(*ONE_OF_EACH.values()))
    for old, new, message in (
        ('kind = "unbiased"', 'kind = "unbaised"', r"constraints\[3\]: kind must be one of .* \(did you mean 'unbiased'\?\)"),
        ("tolerance = 0.7", "tolerence = 0.7", r"\(did you mean 'tolerance'\?\)"),
        ("constant = -1", "constnat = -1", r"norm\[0\]: unknown key 'constnat'"),
        ('at_most = "0.2 bits"', 'at_most = "0.2 bytes"', "nats or bits"),
        ('entropy_at_least = "0.5 max"', 'entropy_at_leats = "0.5 max"', r"adversary: unknown key"),
        ("[[constraints]]\nkind = \"monotone\"", "[constraints2]\nkind = \"monotone\"", "unknown key"),
    ):  # fmt: skip
        assert old in text
        with pytest.raises(dl.errors.InputError, match=message):
            dl.loads(text.replace(old, new))


def test_outputs_stand_for_numbers():
    problem = design(distortion=dl.Absolute(outputs=[-1, 0.5, 4]))
    assert problem.output_numbers == (Fraction(-1), Fraction(1, 2), Fraction(4))
    assert problem.exact_cost()[2] == (Fraction(3), Fraction(3, 2), Fraction(2))
    assert problem.designed([[1, 0, 0]] * 4).outputs == (-1, "0.5", 4)
    squared = design(distortion=dl.Squared(outputs=["1/3"]))
    assert [row[0] for row in squared.exact_cost()] == [Fraction((3 * v - 1) ** 2, 9) for v in range(4)]
    assert design(distortion=dl.Squared()).output_numbers == tuple(map(Fraction, range(4)))
    for one, other in itertools.pairwise([design(distortion=dl.Squared()), squared, problem]):
        assert digest(one) != digest(other)
        assert dalenius_check.digest(model_bytes(other)) == digest(other)
