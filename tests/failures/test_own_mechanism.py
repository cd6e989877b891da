"""A mechanism of the user's own: audited like the others, and the verdict says that it is about the resolved matrix."""

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

import dalenius as dl
import dalenius_check
from campaigns import each
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


def given(matrix):
    """A `Given` that returns this matrix."""
    return type("Made", (Given,), {"matrix": matrix})()


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
    refused(lambda: support.problem([2, 2], dl.Parity(), given(matrix), 1), "mechanism")
