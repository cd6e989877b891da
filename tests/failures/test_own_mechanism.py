"""A mechanism of the user's own: the verdict says that it is about the resolved matrix; a query of the user's own: its table."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np
import pytest

import dalenius as dl
import dalenius_check
from campaigns import each, thinned
from dalenius._verify import need_readable
from support import refused


@dataclass(frozen=True)
class Erasure(dl.mechanisms.Mechanism):
    """Tells the value, or nothing."""

    kind: ClassVar[str] = "erasure"
    loss: object
    note: object = None

    def channel(self, values):
        size = values.size
        return np.hstack([(1 - float(self.loss)) * np.eye(size), np.full((size, 1), float(self.loss))])


@dataclass(frozen=True)
class Leaky(Erasure):
    """The same on whole datasets."""

    kind: ClassVar[str] = "leaky"

    def indexed_by(self):
        return "dataset"


@dataclass(frozen=True)
class Given(dl.mechanisms.Mechanism):
    """Whatever matrix it is made with."""

    kind: ClassVar[str] = "given"

    def channel(self, values):
        return self.matrix


class Lists(Given):
    """The same as lists."""

    kind: ClassVar[str] = "lists"

    def channel(self, values):
        return [[Fraction(3, 4), 0.25] if value % 2 else [0.25, 0.75] for value in values]


class Largest(dl.queries.TableQuery):
    """The largest letter; its places may be spoilt."""

    kind: ClassVar[str] = "largest"

    def __init__(self, values=(0, 1, 2), places=None):
        object.__setattr__(self, "listed", (values, places))

    def values(self, records):
        return self.listed[0]

    def index_of_dataset(self, records):
        return self.listed[1] or [max(letters) for letters in product(*map(range, records.alphabets))]


class Most(dl.queries.AdditiveQuery):
    """Whether most letters are 1, from their sum."""

    kind: ClassVar[str] = "most"

    def values(self, records):
        return [0, 1]

    def contribution(self, record, alphabet):
        return range(alphabet)

    def index_of_sum(self, sums, records):
        return 2 * sums > len(records)


class Stolen(Given):
    """One of the library's, by its name alone."""

    kind: ClassVar[str] = "geometric"
    matrix = np.eye(2)


@each("query, sizes, table", (Largest(), [2, 3], (0, 1, 2, 1, 1, 2)), (Most(), [2, 2, 2], (0, 0, 0, 1, 0, 1, 1, 1)))
def test_a_query_is_its_table(support, query, sizes, table):
    """What is proved is about the model with that table, as if the table had been written."""
    question = support.problem(sizes, query, dl.symmetric(0.1), "0.6 max")
    assert question == support.problem(sizes, dl.Table(table), dl.symmetric(0.1), "0.6 max")
    need_readable(question)


@each(
    "query, sizes, message",
    (Largest((0, 1, 2, 3)), [2, 3], "must be those that datasets have, ascending: [0, 1, 2]; got [0, 1, 2, 3]"),
    (Largest((2, 1, 0)), [2, 3], "ascending"),
    (Largest(places=[0, 1]), [2, 3], "each of the 6 datasets, got 2"),
    (Largest((0.5, 1, 2)), [2, 3], "integer"),
    (Most(), [2] * 17, "most, a kind of your own, lists every dataset"),
)
def test_a_table_that_is_none(support, query, sizes, message):
    refused(lambda: support.problem(sizes, query, dl.symmetric(0.1), "0.6 max"), message)


def test_a_name_that_is_taken(support):
    refused(
        lambda: support.problem([2], dl.Parity(), Stolen(), 0), '"geometric" is one of the library\'s own', "Stolen"
    )

    class Telling(type(dl.geometric(1))):  # the checker would prove what the library's reveals
        def channel(self, values):
            return np.eye(len(values))

    refused(lambda: support.problem([2], dl.Parity(), Telling(epsilon=1), 0), "take another name for that of Telling")


def test_lists_are_a_matrix_at_every_door(support):
    """Of numbers and fractions; what is named and evaluated of it, too, which an audit's page needs."""
    values, rows = np.arange(3), [[0.25, 0.75], [0.75, 0.25], [0.25, 0.75]]
    assert support.problem([2, 2], dl.Count(), Lists(), 0).channel.tolist() == rows
    assert Lists().exact_channel(values).astype(float).tolist() == rows
    assert Lists().output_labels(values) == ["0", "1"]


@each("mechanism", Erasure(Fraction(1, 4)), Leaky(Fraction(1, 4)))
@each("bound", "0 max", "0.6 max", "1 max")
def test_proved_through_its_matrix(support, mechanism, bound):
    question = support.problem([2, 2], dl.Count(), mechanism, bound)
    result = support.solve(question)
    verdict = dl.verify(question, result.certificate, resolved=True)
    assert (verdict.status.value, verdict.proved) == ("resolved", False)
    assert "MATRIX IN THE CERTIFICATE ONLY" in verdict.reason
    assert any("TAKEN FROM THE CERTIFICATE" in line for line in verdict.lines)
    known = dl.Channel(question.channel.tolist(), inputs=mechanism.indexed_by())
    support.assert_overlap(result, support.solve(support.problem([2, 2], dl.Count(), known, bound)))


def test_the_answer_says_that_it_is_about_the_matrix(support):
    """It is no proof about the model, and nobody is told so without asking for it."""
    question = support.problem([2, 2], dl.Count(), Erasure(Fraction(1, 4)), "0.6 max")
    result = support.solve(question)
    assert result.proved_about == "matrix"
    assert "about the matrix in the certificate only" in str(result)
    verdict = dl.verify(question, result.certificate)
    assert verdict.status.value == "rejected"
    assert "erasure" in verdict.reason
    assert "resolved=True" in verdict.reason


def test_only_mechanisms_of_ones_own_are_taken_at_their_matrix(support, monkeypatch):
    """A verdict about some matrix is no proof for a mechanism that the checker knows, and the other way round."""
    verdicts = {
        dalenius_check.Status.PROVED: Erasure(Fraction(1, 4)),
        dalenius_check.Status.RESOLVED: dl.symmetric("0.2", k=3),
    }
    for status, mechanism in verdicts.items():
        verdict = dalenius_check.Verdict(status, "whatever")
        monkeypatch.setattr("dalenius._verify.dalenius_check.check", lambda *_, verdict=verdict, **__: verdict)
        with pytest.raises(dl.errors.DaleniusError, match="nothing can be proved"):
            support.solve(support.problem([2, 2], dl.Count(), mechanism, "0.6 max"))


def test_built_in_mechanisms_carry_no_matrix(support):
    question = support.parity4(1)
    result = support.solve(question)
    assert result.certificate.header.resolved is None
    assert result.proved_about == "model"
    assert "matrix" not in str(result)
    assert "MATRIX" not in dl.verify(question, result.certificate).reason


@each(
    "loss, note",
    (Fraction(1, 3), None),
    (0.25, None),
    (np.float64(0.25), None),
    (1, None),
    (0, "text, \"quotes\" and \\ 'more'"),
    (Fraction(1, 4), True),
    (Fraction(1, 4), (1, 2, Fraction(1, 7))),
    (Fraction(1, 4), (0.5, 0.25)),
    (Fraction(1, 4), ((1, "a"), (2, "b"))),
    (Fraction(1, 4), 10**30),
)
def test_parameters_of_any_plain_type(support, loss, note):
    """Fractions, floats, integers, text, booleans and lists of them go into the model that the checker reads."""
    question = support.problem([2, 2], dl.Count(), Erasure(loss, note), "0.6 max")
    assert dl.verify(question, support.solve(question).certificate, resolved=True).exit_code == 4


def test_another_matrix_is_another_claim(support):
    """Whoever edits the matrix of a certificate gets a statement about that matrix, or none."""
    question = support.problem([2, 2], dl.Count(), Erasure(Fraction(1, 4)), "0.6 max")
    first, rest = support.solve(question).certificate.text.split("\n", 1)
    header = json.loads(first)
    header["resolved"]["rows"] = [["1", "0", "0", "0"]] * 3
    edited = dl.verify(question, dl.Certificate(json.dumps(header) + "\n" + rest), resolved=True)
    assert edited.status.value == "rejected"
    del header["resolved"]
    missing = dl.verify(question, dl.Certificate(json.dumps(header) + "\n" + rest), resolved=True)
    assert missing.status.value == "rejected"


def test_its_model_file_needs_the_class(support):
    question = support.problem([2, 2], dl.Count(), Erasure(Fraction(1, 4)), "0.6 max")
    refused(lambda: dl.loads(dl.dumps(question)), "erasure")


@each(
    "matrix",
    np.array([[0.5, 0.5], [0.5, 0.6]]),
    np.array([[1.5, -0.5], [0.5, 0.5]]),
    np.array([[np.nan, 1.0], [0.5, 0.5]]),
    np.array([[np.inf, 0.0], [0.5, 0.5]]),
    np.eye(3),
    np.empty((2, 0)),
    np.ones(2),
    np.zeros((2, 2)),
    None,
    "ab",
    [[1.0], [0.5, 0.5]],
    [["a", "b"], ["c", "d"]],
)
def test_bad_matrices_of_its_own(support, matrix):
    # A `Given` that returns this matrix
    refused(lambda: support.problem([2, 2], dl.Parity(), type("Made", (Given,), {"matrix": matrix})(), 1), "mechanism")


# Channels at the edge: zeros, duplicates, one letter, one output, tiny entries, extreme epsilons. All end in a proof.


BOUNDS = ["0.95 max", "0.6 max", "0 max", "1 max"]


@each("bound", *thinned(BOUNDS, every=2))
def test_rows_equal_but_for_a_hair(support, bound):
    rows = [["0.5", "0.5"], ["0.5000000000000000000001", "0.4999999999999999999999"]]
    assert support.solve(support.problem([2, 2], dl.Parity(), dl.Channel(rows), bound)).upper < 1e-8


@each("bound", *thinned(BOUNDS, every=2))
@each(
    "query, rows",
    (dl.Parity(), [[1, 0], [0, 1]]),
    (dl.Parity(), [[0, 1], [1, 0]]),
    (dl.Count(), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    (dl.Count(), [[1, 0], [0, 1], [1, 0]]),
    (dl.Identity(), [[1, 0], [1, 0], [0, 1], [0, 1]]),
)
def test_deterministic_channels(support, query, rows, bound):
    result = support.solve(support.problem([2, 2], query, dl.Channel(rows), bound))
    assert result.upper <= math.log(2.0) + 1e-9
    if bound == "0 max":
        support.assert_contains(result, math.log(2.0), gap=1e-9)


@each("bound", *thinned(BOUNDS, every=2))
@each("sizes", [1], [1, 1], [2, 1], [1, 3, 1])
def test_one_letter_alphabets(support, sizes, bound):
    result = support.solve(support.problem(sizes, dl.Parity(), dl.symmetric(0.1, k=2), bound))
    if max(sizes) == 1:
        assert (result.lower, result.upper, result.record, result.witness) == (0.0, 0.0, None, None)
    else:
        assert result.record == sizes.index(max(sizes))


@each("bound", *thinned(BOUNDS, every=2))
def test_single_output(support, bound):
    result = support.solve(support.problem([2, 3], dl.Sum(), dl.Channel([[1]] * 4), bound))
    support.assert_contains(result, 0.0)
    assert result.upper <= 1e-9


@each("bound", *thinned(BOUNDS, every=2))
@each(
    "query, mechanism",
    (dl.Parity(), dl.laplace_threshold(0)),
    (dl.Parity(), dl.laplace_threshold(700)),
    (dl.Parity(), dl.laplace_threshold(1000)),
    (dl.Count(), dl.randomized_response(0)),
    (dl.Count(), dl.randomized_response(700)),
    (dl.Count(), dl.randomized_response(1000)),
    (dl.Count(), dl.geometric("1e-300")),
    (dl.Count(), dl.geometric(700)),
    (dl.Count(), dl.geometric(1000)),
    (dl.Count(), dl.geometric(700, range=(-3, 5))),
    (dl.Count(), dl.exponential(0)),
    (dl.Count(), dl.exponential(700)),
    (dl.Count(), dl.exponential(1000, range=(-3, 5))),
    (dl.Count(), dl.exponential(700, sensitivity="1e-9")),
    (dl.Count(), dl.exponential(700, sensitivity="1e300")),
)
def test_extreme_epsilons(support, query, mechanism, bound):
    assert support.solve(support.problem([2, 2, 2], query, mechanism, bound)).upper <= math.log(2.0) + 1e-9


@each("sensitivity", "1e-30", "1e-300", "1e-320", "1e-400")
def test_sensitivities_that_leave_no_noise(support, sensitivity):
    """Either the interval of the noiseless release, or an error that says what is wrong: no other exception."""
    try:
        question = support.problem([2, 2], dl.Parity(), dl.exponential(1, range=1, sensitivity=sensitivity), 0)
    except dl.errors.InputError as error:
        assert "sensitivity" in str(error)  # noqa: PT017
        return
    support.assert_contains(support.solve(question), math.log(2.0), gap=1e-6)


@pytest.mark.parametrize("bound", thinned(BOUNDS, every=4))
@pytest.mark.parametrize(
    ("query", "mechanism"),
    [
        (dl.Threshold(99), dl.symmetric(0, k=2)),
        (dl.Threshold(99), dl.symmetric(0.1, k=2)),
        (dl.Threshold(-99), dl.laplace_threshold(1)),
        (dl.ModularSum(7), dl.symmetric(0, k=7)),
        (dl.ModularSum(7), dl.randomized_response(1, k=7)),
    ],
    ids=lambda part: str(part)[:60],
)
def test_values_that_nobody_attains(support, query, mechanism, bound):
    result = support.solve(support.problem([2, 2], query, mechanism, bound))
    if query.kind == "threshold":
        assert result.upper <= 1e-9


@each("bound", "1e-300", "1e-12", "0.999999999999 max", "0.99999999999999999999 max")
def test_bounds_next_to_the_ends(support, bound):
    """A hair above no entropy, a hair below all of it: close to the end itself."""
    ends = ["0 max"] if bound.endswith(("0", "2")) else ["1 max"]
    near = support.solve(support.problem([2] * 3, dl.Count(), dl.geometric(1.0), bound))
    for end in ends:
        at = support.solve(support.problem([2] * 3, dl.Count(), dl.geometric(1.0), end))
        assert near.lower <= at.upper + 1e-4
        assert at.lower <= near.upper + 1e-4


SUM_BESIDE_PARITY = dl.Joint(dl.Sum([[0, 1], [0, 2]]), dl.Parity())
SUM_BESIDE_COUNT = dl.Joint(dl.Sum([[0, 1], [0, 2]]), dl.Count())


@each(
    "query, mechanism, bound",
    (SUM_BESIDE_PARITY, dl.several_releases(dl.geometric(1), on=[1]), "0 max"),
    (SUM_BESIDE_PARITY, dl.several_releases(dl.geometric(1), on=[1]), "0.7 max"),
    (SUM_BESIDE_COUNT, dl.several_releases(dl.geometric(1), on=[1]), "0 max"),
    (SUM_BESIDE_PARITY, dl.adaptive(dl.geometric(1, range=1), on=1), "0.7 max"),
    (dl.Identity(), dl.geometric("1e-17"), "0 max"),
)
def test_records_are_alike_only_where_their_numbers_are(support, query, mechanism, bound):
    """What is released of one record's letters looks like that of another's; their counts of exact rows are not the same."""
    result = support.solve(support.problem([2, 2], query, mechanism, bound), gap=1e-3, time_limit=3.0)
    assert result.gap <= 1e-3 or result.upper <= 1e-9
    assert not result.refusals
