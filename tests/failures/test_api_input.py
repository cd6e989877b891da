"""Bad arguments: always `InputError`, always a message that names what is wrong, never another exception."""

import dataclasses
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each, thinned
from dalenius.model.mechanisms import Symmetric
from dalenius.programs import MarginalUpdate
from support import refused, refuses

HUGE = 10**5000  # Python refuses to print it


def question(mechanism=None, *, sizes=(2, 2), query=None, bound=0.5):
    return support.problem(
        dl.Records(alphabets=sizes), query or dl.Parity(), mechanism or dl.symmetric(0.1, k=2), bound
    )


NO_NUMBERS = [
    math.nan, math.inf, -math.inf, "nan", "inf", "", " ", "one", "0,5", "1/0", "0x1", True, None, [0.1], {}, 1j, b"1",
    Decimal("NaN"), Decimal("Infinity"), np.nan, np.inf, np.bool_(True), "1e999999999", Decimal("1e999999999"), "9" * 5000,
]  # fmt: skip


@each("value", *NO_NUMBERS)
@each(
    "build, word",
    (lambda v: dl.symmetric(v, k=2), "flip"),
    (dl.laplace_threshold, "epsilon"),
    (lambda v: dl.randomized_response(v, k=2), "epsilon"),
    (lambda v: dl.geometric(v, range=2), "epsilon"),
    (lambda v: dl.exponential(v, range=2), "epsilon"),
    (lambda v: dl.exponential(1, range=2, sensitivity=v), "sensitivity"),
    (lambda v: dl.Channel([[v, 1], [0, 1]]), "rows[0][0]"),
    (dl.EntropyAtLeast, "entropy_at_least"),
    (dl.LocalDP, "epsilon"),
)
def test_no_numbers(build, word, value):
    refused(lambda: build(value), word)


test_old_spellings_are_answered_with_the_new_one = refuses(
    (lambda: dl.symmetric(2, 0.1), "symmetric(flip, k=...)"),
    (lambda: dl.symmetric(None, 0.1), "symmetric(flip, k=...)"),
    (lambda: dl.symmetric(2), "symmetric(flip, k=...)"),
    (lambda: dl.symmetric(2, flip=0.1), "symmetric(flip, k=...)"),
    (lambda: dl.symmetric(), "missing a required argument: 'flip'"),
    (lambda: dl.symmetric(k=2), "symmetric(flip, k=...)"),
    (lambda: Symmetric(0.1, 2), "symmetric(flip, k=...)"),
    (lambda: dl.randomized_response(2, 1.0), "randomized_response(epsilon, k=...)"),
    (lambda: dl.randomized_response(k=2), "randomized_response(epsilon, k=...)"),
    (lambda: dl.geometric((0, 3), 1), "geometric(epsilon, range=...)"),
    (lambda: dl.geometric(None, 0.5), "geometric(epsilon, range=...)"),
    (lambda: dl.geometric((0, 3)), "geometric(epsilon, range=...)"),
    (lambda: dl.geometric(3, epsilon=1), "geometric(epsilon, range=...)"),
    (lambda: dl.geometric(), "missing a required argument: 'epsilon'"),
    (lambda: dl.exponential(1, 1.0), "exponential(epsilon, range=..., sensitivity=...)"),
    (lambda: dl.exponential(None, 700, "1e-9"), "exponential(epsilon, range=..., sensitivity=...)"),
    (lambda: dl.laplace_threshold(), "laplace_threshold(epsilon)"),
    (lambda: dl.laplace_threshold(1, eps=2), "laplace_threshold(epsilon)"),
)


@each("make", dl.laplace_threshold, dl.randomized_response, dl.geometric, dl.exponential)
def test_epsilon_comes_first(make):
    """And never stays what it is by default, because there is no default."""
    assert make(2).epsilon == make("2.0").epsilon == make(epsilon=2).epsilon == 2
    assert make(2) == dataclasses.replace(make(1), epsilon=2)


test_a_quantity_that_is_almost_written_right = refuses(
    (lambda: dl.EntropyAtLeast("80%"), '"0.8 max"'),
    (lambda: dl.EntropyAtLeast("1 bit"), '"1 bits"'),
    (lambda: dl.EntropyAtLeast("1bits"), '"1 bits"'),
    (lambda: dl.EntropyAtLeast(" 4/3  Nats "), '"4/3 nats"'),
    (lambda: dl.LocalDP("1 bit"), '"1 bits"'),
    (lambda: dl.symmetric("80%"), "80% is 0.8"),
)


test_numbers_out_of_range = refuses(
    (lambda: dl.symmetric(-0.1, k=2), "flip"),
    (lambda: dl.symmetric(1.1, k=2), "flip"),
    (lambda: dl.symmetric("1.0000000000000000000001", k=2), "flip"),
    (lambda: dl.symmetric(0.1, k=1), "k"),
    (lambda: dl.symmetric(0.1, k=2.0), "k"),
    (lambda: dl.symmetric(0.1, k="2"), "k"),
    (lambda: dl.symmetric(0.1, k=True), "k"),
    (lambda: dl.laplace_threshold(-1), "epsilon"),
    (lambda: dl.laplace_threshold(1001), "epsilon"),
    (lambda: dl.geometric(0, range=2), "epsilon"),
    (lambda: dl.geometric(-1, range=2), "epsilon"),
    (lambda: dl.geometric(1, range=0), "range"),
    (lambda: dl.geometric(1, range=(2, 2)), "range"),
    (lambda: dl.geometric(1, range=(3, 1)), "range"),
    (lambda: dl.geometric(1, range=(0, 1, 2)), "range"),
    (lambda: dl.geometric(1, range=(0, 1.5)), "range"),
    (lambda: dl.geometric(1, range="2"), "range"),
    (lambda: dl.geometric(1, range=True), "range"),
    (lambda: dl.geometric(1, range=10**10), "range"),
    (lambda: dl.exponential(1, range=2, sensitivity=0), "sensitivity"),
    (lambda: dl.exponential(1, range=2, sensitivity=-1), "sensitivity"),
    (lambda: dl.exponential(-1, range=2), "epsilon"),
    (lambda: dl.EntropyAtLeast(-1), "entropy_at_least"),
    (lambda: dl.EntropyAtLeast("-1 bits"), "entropy_at_least"),
    (lambda: dl.EntropyAtLeast("1 bytes"), "unit"),
    (lambda: dl.EntropyAtLeast(5), "entropy_at_least: '5' of what? expected '5 bits' or '5 nats'"),
    (lambda: dl.EntropyAtLeast("1/3"), "'1/3' of what?"),
    (lambda: dl.IndependentBlocks(2, entropy_at_least=0.5), "'0.5' of what?"),
    (lambda: dl.EntropyAtLeast(1, units="bytes"), "unit"),
    (lambda: dl.EntropyAtLeast(1, units=None), "unit"),
    (lambda: dl.EntropyAtLeast("1 2 bits"), "entropy_at_least"),
)


@each(
    "build",
    lambda: question(bound=HUGE),
    lambda: question(bound="1e400"),
    lambda: question(bound="9" * 400),
    lambda: question(bound=10**400),
    lambda: dl.laplace_threshold(HUGE),
    lambda: dl.symmetric(HUGE, k=2),
    lambda: dl.symmetric(-HUGE, k=2),
    lambda: dl.symmetric(Fraction(1, HUGE) + 1, k=2),
    lambda: question(dl.symmetric(0.1, k=HUGE)),
    lambda: dl.geometric(1, range=HUGE),
    lambda: dl.Channel([[HUGE, 0], [0, 1]]),
    lambda: dl.Channel([[-HUGE, 0], [0, 1]]),
    lambda: dl.Records(HUGE, alphabet=2),
    lambda: dl.Records(2, alphabet=HUGE),
    lambda: dl.Records(alphabets=[2, HUGE]),
    lambda: dl.ModularSum(HUGE),
    lambda: dl.Threshold(HUGE),
    lambda: dl.Count([HUGE]),
    lambda: dl.Sum([0, HUGE]),
    lambda: dl.Table([0, HUGE]),
)
def test_numbers_too_large_to_print(build):
    refused(build)


test_bad_matrices = refuses(
    ([], ["rows"]),
    ([[]], ["rows"]),
    ([[1], []], ["rows"]),
    ([[1], [0.5, 0.5]], ["rows", "length"]),
    ("ab", ["rows", "list"]),
    (5, ["rows", "list"]),
    (None, ["rows", "list"]),
    (["ab", "cd"], ["rows[0]"]),
    ([1, 0], ["rows[0]"]),
    ([[0.5, 0.6], [0.5, 0.5]], ["rows[0]", "sum to 1", "1.1"]),
    ([[0.5, 0.5], [0.5, "0.500000002"]], ["rows[1]", "sum to 1"]),
    ([[0, 0], [0.5, 0.5]], ["rows[0]", "sum to 1"]),
    ([[1.5, -0.5], [0.5, 0.5]], ["rows[0][1]", "negative"]),
    ([[1, "-1e-300"], [0.5, 0.5]], ["rows[0][1]", "negative"]),
    ([[True, False], [0.5, 0.5]], ["rows[0][0]"]),
    ([[[1], [0]], [0.5, 0.5]], ["rows[0][0]"]),
    (np.array([[0.5, np.nan], [0.5, 0.5]]), ["rows[0][1]"]),
    ({0: [1], 1: [1]}, ["rows"]),
    ({"a": [1], "b": [1]}, ["rows"]),
    by=dl.Channel,
)


def test_bad_inputs_of_a_matrix():
    refused(lambda: dl.Channel([[1]], inputs="rows"), "inputs", "dataset")
    refused(lambda: dl.Channel([[1]], inputs=None), "inputs")


@each(
    "build",
    lambda: dl.Records(),
    lambda: dl.Records(3),
    lambda: dl.Records(alphabet=2),
    lambda: dl.Records(0, alphabet=2),
    lambda: dl.Records(-1, alphabet=2),
    lambda: dl.Records(3, alphabet=0),
    lambda: dl.Records(3.0, alphabet=2),
    lambda: dl.Records(3, alphabet="2"),
    lambda: dl.Records(True, alphabet=2),
    lambda: dl.Records(10**6 + 1, alphabet=2),
    lambda: dl.Records(2, alphabet=10_001),
    lambda: dl.Records(alphabets=[]),
    lambda: dl.Records(2, alphabet=2, letters=["no"]),
    lambda: dl.Records(2, alphabet=2, letters="no"),
    lambda: dl.Records(2, alphabet=2, letters=["no", 1]),
    lambda: dl.Records(2, alphabet=2, answer=1),
    lambda: dl.Records(2, alphabet=2, answer="\ud800"),
    lambda: dl.Records(alphabets=[2, 0]),
    lambda: dl.Records(alphabets=[2, -1]),
    lambda: dl.Records(alphabets=[2, 2.5]),
    lambda: dl.Records(alphabets=[2, True]),
    lambda: dl.Records(alphabets="22"),
    lambda: dl.Records(alphabets=5),
    lambda: dl.Records(alphabets=[[2, 2]]),
    lambda: dl.Records(3, alphabets=[2, 2]),
    lambda: dl.Records(2, alphabet=2, alphabets=[2, 2]),
)
def test_bad_records(build):
    refused(build, "records")


def test_records_from_an_array():
    """An array of sizes is a sequence of sizes."""
    assert dl.Records(alphabets=np.array([2, 3])) == dl.Records(alphabets=[2, 3])
    assert dl.Records(np.int64(3), alphabet=np.int64(2)) == dl.Records(3, alphabet=2)


@each(
    "build",
    lambda: dl.ModularSum(1),
    lambda: dl.ModularSum(0),
    lambda: dl.ModularSum(2.0),
    lambda: dl.ModularSum("2"),
    lambda: dl.ModularSum(True),
    lambda: dl.ModularSum(65_537),
    lambda: dl.Threshold(1.5),
    lambda: dl.Threshold("1"),
    lambda: dl.Threshold(10**9 + 1),
    lambda: dl.Count([]),
    lambda: dl.Count([1, 1]),
    lambda: dl.Count([-1]),
    lambda: dl.Count([0.5]),
    lambda: dl.Count("1"),
    lambda: dl.Count(1),
    lambda: dl.Count(None),
    lambda: dl.Sum([]),
    lambda: dl.Sum([0, 0.5]),
    lambda: dl.Sum([0, "1"]),
    lambda: dl.Sum([[0, 1], 1]),
    lambda: dl.Sum([0, 10**9 + 1]),
    lambda: dl.Sum(1),
    lambda: dl.Sum("ab"),
    lambda: dl.Table([0, 0.5]),
    lambda: dl.Table([0, None]),
    lambda: dl.Table([0, 10**9 + 1]),
    lambda: dl.Table(1),
    lambda: dl.Table(None),
    lambda: dl.Table("01"),
)
def test_bad_queries(build):
    refused(build, "query")


test_parts_that_do_not_fit = refuses(
    (lambda: question(dl.symmetric(0.1, k=3)), "k is 3"),
    (lambda: question(dl.randomized_response(1, k=3)), "k is 3"),
    (lambda: question(dl.laplace_threshold(1), query=dl.Count()), "laplace_threshold"),
    (lambda: question(dl.laplace_threshold(1), query=dl.Table([1, 2, 2, 1])), "laplace_threshold"),
    (lambda: question(dl.laplace_threshold(1), query=dl.Table([0, 0, 0, 0])), "laplace_threshold"),
    (lambda: question(dl.symmetric(0.1), query=dl.Table([7, 7, 7, 7])), "2"),
    (lambda: question(dl.geometric(1, range=1), query=dl.Count()), "range"),
    (lambda: question(dl.geometric(1, range=(1, 5)), query=dl.Count()), "range"),
    (lambda: question(dl.exponential(1, range=1), query=dl.Count()), "range"),
    (lambda: question(dl.geometric(1), query=dl.Table([7, 7, 7, 7])), "range"),
    (lambda: question(dl.geometric(1, range=10**9)), "entries"),
    (lambda: question(dl.Channel([[1], [1], [1]])), "3 rows"),
    (lambda: question(dl.Channel([[1]])), "1 rows"),
    (lambda: question(dl.Channel([[1], [1]], inputs="dataset")), "4 datasets"),
    (lambda: question(query=dl.Table([0, 1, 1])), "4 datasets"),
    (lambda: question(query=dl.Table([])), "4 datasets"),
    (lambda: question(query=dl.Count([2])), "letter 2"),
    (lambda: question(query=dl.Sum([0, 1, 2])), "weights"),
    (lambda: question(query=dl.Sum([[0, 1]])), "weights"),
    (lambda: question(query=dl.Sum([[0, 1], [0, 1, 2]])), "weights"),
    (lambda: question(query=dl.Identity(), sizes=[2] * 17), "65536"),
    (lambda: question(query=dl.Identity(), sizes=[10_000] * 3), "65536"),
    (lambda: question(query=dl.Table([0, 1]), sizes=[2] * 1000), "65536"),
    (lambda: question(dl.Channel([[1]], inputs="dataset"), sizes=[3] * 50), "65536"),
    (lambda: question(query=dl.Sum([0, 1, 10**9]), sizes=[3] * 9), "weights"),
)


@each("name", "records", "query", "mechanism", "adversary", "title", "source")
@each("value", None, 5, [2, 2])
def test_parts_of_the_wrong_type(name, value):
    parts = {
        "records": dl.Records(2, alphabet=2),
        "query": dl.Parity(),
        "mechanism": dl.symmetric(0.1, k=2),
        "adversary": dl.EntropyAtLeast("0.5 nats"),
    }
    refused(lambda: dl.WorstCaseLeakage(**(parts | {name: value})), name)


@each("name", "title", "source")
def test_free_text_that_no_file_can_hold(name):
    """A lone surrogate has no UTF-8 form, so no model file can carry it."""
    parts = {
        "records": dl.Records(2, alphabet=2),
        "mechanism": dl.symmetric(0.1, k=4),
        "adversary": dl.EntropyAtLeast(0),
    }
    refused(lambda: dl.WorstCaseLeakage(**parts, **{name: "\ud800"}), name)


# ---------------------------------------------------------------- the largest entropy

LOG_16 = Decimal(16).ln()  # to 28 digits


@each(
    "bound",
    "4.000000000004 bits",
    "1.000000000001 max",
    str(LOG_16 * (1 + Decimal("1e-12"))),
    "5 bits",
    2.7726,
    "2 max",
)
def test_more_entropy_than_there_is(bound):
    refused(lambda: question(sizes=[2] * 4, bound=bound), "entropy_at_least", "log |X|")


@pytest.mark.parametrize(
    "bound",
    thinned(
        ["4 bits", "1 max", "3.999999999996 bits", "0.999999999999 max", str(LOG_16 * (1 - Decimal("1e-12"))), 2.7725],
        every=4,
    ),
)
def test_all_the_entropy_there_is(support, bound):
    result = support.solve(question(sizes=[2] * 4, bound=bound))
    assert result.upper < 1e-4  # parity: all but nothing is left


def test_no_entropy_where_there_is_one_dataset(support):
    assert support.solve(question(sizes=[1, 1], bound=0)).upper == 0.0
    assert support.solve(question(sizes=[1, 1], bound="0.5 max")).upper == 0.0
    refused(lambda: question(sizes=[1, 1], bound="1e-300 nats"), "log |X|")


# ---------------------------------------------------------------- solve, verify, results


@each(
    "name, value",
    *(("gap", v) for v in (-1e-3, math.nan, "0.1", None, True, [0.1])),
    *(("time_limit", v) for v in (0, -1, math.nan, "1", True, [1])),
    *(("node_limit", v) for v in (0, -1, 0.5, np.float32(2.5), math.inf, math.nan, "1", np.bool_(True))),
    *(("memory_limit", v) for v in (0, -1, math.nan, "1", True)),
    *(("seed", v) for v in (-1, 0.5, "x")),
    *(("known", v) for v in (5, "model.cert", dl.Certificate("{}\n"))),
    *(("method", v) for v in ("exchange", 5)),
    *(("progress", v) for v in (5, "print")),
)
def test_arguments_of_solve(name, value):
    refused(lambda: dl.solve(question(), **{name: value}), name)


@each("adversary", dl.ProductPriors(), dl.FixedPrior([0.25] * 4))
def test_a_known_proof_that_plays_no_part_is_refused(support, adversary):
    known = support.solve(question())
    refused(
        lambda: dl.solve(dataclasses.replace(question(), adversary=adversary), known=known), "known", "entropy_at_least"
    )


def test_a_known_design_that_plays_no_part_is_refused():
    parts = {"records": dl.Records(1, alphabet=2), "query": dl.Identity(), "distortion": dl.Hamming()}
    private = dl.MinDistortion(**parts, privacy=dl.LocalDP("log 3"))
    refused(lambda: dl.solve(private, known=dl.solve(private)), "known", "[privacy]")


@each("number", np.int64(1), np.float32(0.5), np.float16(1), np.longdouble(0.5), Fraction(1, 2))
def test_limits_are_numbers_of_any_kind(number):
    limits = {"gap": number, "time_limit": number, "memory_limit": number, "node_limit": np.int32(5)}
    assert dl.solve(question(), **limits).require(gap=number).gap <= number
    assert dl.compare(question(), methods=["certified"], seeds=np.int64(1), budget=number, gap=number).gap == number


@each("value", None, 5, "model.toml", dl.Parity())
def test_solve_wants_a_problem(value):
    refused(lambda: dl.solve(value), "problem")


def test_units_and_gaps_of_results(support):
    result = support.solve(question())
    refused(lambda: result.to("bytes"), "units")
    refused(lambda: result.to("bits").to("nats"), "nats")
    refused(lambda: result.to("distortion"), "units")
    assert result.require(gap=0.5) is result
    loose = dl.solve(question(dl.symmetric(0.1), query=dl.Count(), bound="1.9 bits"), gap=1.0)
    for gap in (-1.0, math.nan):
        refused(lambda: loose.require(gap=gap), "gap", "at least 0")  # noqa: B023 - it is called at once
    with pytest.raises(dl.errors.GapNotReachedError, match="relative gap"):
        loose.require(gap=1e-9)


def test_files_that_are_not_there(tmp_path):
    missing = tmp_path / "missing"
    refused(lambda: dl.load(missing), "missing")
    refused(lambda: dl.load(tmp_path), "cannot be read")
    refused(lambda: dl.Certificate.read(missing), "missing")
    refused(lambda: dl.verify(question(), missing), "missing")


def test_verifying_a_model_that_is_not_there(tmp_path):
    refused(lambda: dl.verify(tmp_path / "missing", dl.Certificate("{}\n")), "missing")


def test_paths_that_no_file_can_have():
    refused(lambda: dl.load("nul\0.toml"))
    refused(lambda: dl.load(1), "the path of a file, or a name from the library")
    refused(lambda: dl.Certificate.read("nul\0.cert"))


def test_a_text_where_a_path_belongs_is_not_repeated():
    """A certificate has hundreds of thousands of characters."""
    text = dl.solve(question()).certificate.text
    for use in (lambda: dl.verify(question(), text), lambda: dl.verify(text, dl.Certificate(text))):
        with pytest.raises(dl.errors.InputError) as caught:
            use()
        assert len(str(caught.value)) < 200
    refused(lambda: dl.verify(question(), text), "dalenius.Certificate(text)")


def test_no_text_to_load():
    for value in (None, 5, ["a"]):
        refused(lambda value=value: dl.loads(value))


test_arguments_that_do_not_fit = refuses(
    (
        lambda: dl.KLBallPriors([0.5, 0.5]),
        "KLBallPriors: missing a required argument: 'radius'; expected KLBallPriors(center, radius)",
    ),
    (lambda: dl.LocalDP(), "LocalDP: missing a required argument: 'epsilon'"),
    (lambda: dl.LocalDP(1, 2), "LocalDP: too many positional arguments"),
    (
        lambda: dl.WorstCaseLeakage(
            dl.Records(2, alphabet=2), query="count", mechanism="geometric 1", adversary="2 bits"
        ),
        "too many positional arguments; expected WorstCaseLeakage(records=..., query=..., adversary=..., title=..., source=..., "
        "mechanism=...), all by name",
    ),
    (
        lambda: dl.MaxUtility(records=dl.Records(1, alphabet=2), query=dl.Identity()),
        "MaxUtility: missing a required argument: 'utility'",
    ),
    (lambda: dl.constraints.InformationPrivacy.flagged("2", 3), "flagged: letters: expected an integer, got '2'"),
    (
        lambda: dl.constraints.InformationPrivacy.flagged(0, 3),
        "flagged: letters: expected an integer of at least 1, got 0",
    ),
    (
        lambda: dl.constraints.InformationPrivacy.subsets(2, 0),
        "subsets: outputs: expected an integer of at least 1, got 0",
    ),
)


BLOCK = MarginalUpdate(np.array([[0.9, 0.1], [0.2, 0.8]]), np.zeros(2), 0.5)
test_new_data_of_a_program_that_are_none = refuses(
    (
        lambda: BLOCK.set("K", [0, 0], 0),
        "expected numbers and arrays of them: set(conditionals, entropies, entropy_bound)",
    ),
    (lambda: BLOCK.set([[1]]), "expected numbers and arrays of them: set(conditionals, entropies, entropy_bound)"),
    (lambda: BLOCK.set([[0.5, 0.5]], [0], None), "expected numbers and arrays of them"),
    (lambda: BLOCK.set([[0.5, 0.5]], [0, 0], 0), "marginal: expected K (letters, outputs)"),
    (lambda: BLOCK.certify("x"), "marginal: point: expected arrays by their names, got 'x'"),
    (lambda: BLOCK.certify({}, [1]), "marginal: duals: expected arrays by their names"),
)


def test_a_utility_of_the_wrong_size_is_called_one():
    with pytest.raises(
        dl.errors.InputError, match=r"^utility: rows must list one row for each of the query's 2 values, got 1 rows"
    ):
        dl.MaxUtility(records=dl.Records(1, alphabet=2), query=dl.Identity(), utility=[[1, 2]], privacy=dl.LocalDP(1))


def test_a_design_without_anything_to_keep_says_what_there_is():
    problem = dl.MinDistortion(
        records=dl.Records(1, alphabet=2), query=dl.Identity(), distortion=dl.Hamming(), privacy=dl.LocalDP(1)
    )
    text = dl.dumps(problem).split("[privacy]")[0]
    with pytest.raises(
        dl.errors.InputError,
        match=r"expected \[adversary\] and max_leakage, or \[privacy\], or \[\[constraints\]\] alone",
    ):
        dl.loads(text)


test_shapes_that_people_try = refuses(
    (lambda: dl.together(5), ["releases", "expected a list"]),
    (lambda: dl.together([dl.Count()]), ["releases[0]"]),
    (lambda: dl.together([(dl.Count(),)]), ["pairs (query, mechanism)"]),
    (lambda: dl.together([(dl.geometric(1), dl.Count())]), ["pairs (query, mechanism)"]),
    (lambda: dl.FiniteChain(np.full((3, 3), 1 / 3)), ["transitions[0] must sum to 1 exactly", "'1/3'"]),
    (lambda: dl.IndependentBlocks([3, 3]), ["sizes=[3, 3]"]),
    (lambda: dl.convert(None, 1, to="local_dp"), ["notion", "None"]),
    (lambda: dl.convert("local_dp", 1, to=5), ["notion", "5"]),
)


@each("adversary", dl.MarkovChain((0.1, 0.2), (0.1, 0.2)), dl.FiniteChain([["1/2", "1/2"]] * 2))
def test_chains_are_about_records_not_secrets(adversary):
    asked = dl.Secret(dl.Threshold(2))
    refused(
        lambda: dl.SecretLeakage(
            records=dl.Records(3, alphabet=2),
            query=dl.Count(),
            mechanism=dl.geometric(1),
            adversary=adversary,
            secrets=asked,
        ),
        adversary.kind,
        "is about a record",
    )


def test_questions_about_secrets_and_answers_alone_are_refused_for_what_they_are():
    """Not as designs, and not as what is no list."""
    told = dl.SecretLeakage(
        records=dl.Records(2, alphabet=2),
        query=dl.Count(),
        mechanism=dl.geometric(1),
        adversary=dl.AnyPrior(),
        secrets=dl.Letters(0),
    )
    refused(lambda: next(dl.entropy_curve(told)), "secret_leakage asks about secrets", "`solve` answers")
    refused(lambda: dl.composition([told, told]), "answers[0]", "(problem, dl.solve(problem))", "SecretLeakage alone")
    wide = {"records": dl.Records(50, alphabet=121), "query": dl.Sum(), "adversary": dl.IndependentBlocks(2)}
    refused(
        lambda: dl.WorstCaseLeakage(mechanism=dl.gaussian(7000), **wide),
        "one household",
        "here are 241",
        "discrete_gaussian",
    )


def test_a_function_of_the_data_is_a_secret_by_itself():
    parts = {"records": dl.Records(2, alphabet=2), "query": dl.Count(), "mechanism": dl.geometric(1)}
    for asked, meant in (
        (dl.Letters(0), [dl.Secret(dl.Letters(0))]),
        ([dl.Letters(0), dl.Parity()], [dl.Secret(dl.Letters(0)), dl.Secret(dl.Parity())]),
    ):
        made = dl.SecretLeakage(adversary=dl.AnyPrior(), secrets=asked, **parts)
        assert made == dl.SecretLeakage(adversary=dl.AnyPrior(), secrets=meant, **parts)
    refused(
        lambda: dl.SecretLeakage(adversary=dl.AnyPrior(), secrets=["count"], **parts), "secrets", "Letters or a query"
    )
