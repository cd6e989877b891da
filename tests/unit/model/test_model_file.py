"""What a model is as a file: written and digested once, however often it is asked for."""

import dataclasses
from collections import Counter

import pytest

import dalenius as dl
import support
from dalenius.model import digest, loads, model_bytes


@pytest.mark.parametrize("read", [False, True])
def test_a_model_is_written_and_digested_once(monkeypatch, read):
    """Of 250,000 numbers each took half a second, before the search and for every proof."""
    question = support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.geometric(0.5), "0.5 max")
    question = loads(model_bytes(question)) if read else question
    made = Counter[str]()

    def counted(name):
        work = getattr(dl.WorstCaseLeakage, name)
        monkeypatch.setattr(dl.WorstCaseLeakage, name, lambda self: made.update([name]) or work(self))

    counted("to_model"), counted("normal_form")
    found = dl.solve(question).certificate
    assert dl.verify(question, found).proved
    assert found.header.model == digest(question)
    assert made == Counter({"normal_form": 1, "to_model": not read})


def test_what_is_changed_is_digested_anew():
    question = support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.geometric(0.5), "0.5 max")
    before, text = digest(question), model_bytes(question)
    other = dataclasses.replace(question, mechanism=dl.geometric(1))
    assert digest(other) != before
    assert model_bytes(other) != text
