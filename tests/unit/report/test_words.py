"""Problems in sentences: of every kind that there is."""

import math
import re

from dalenius.measures import Measure
from dalenius.report.words import question, rare
from libraries import problems


def test_every_model_of_the_library_is_told_in_plain_sentences():
    seen = set()
    for name, problem in problems().items():
        mechanism = getattr(problem, "mechanism", None)
        kinds = (
            problem.kind,
            problem.query.kind,
            getattr(mechanism, "kind", None),
            getattr(problem.adversary, "kind", None),
        )
        if kinds in seen:
            continue
        seen.add(kinds)
        sentences = question(problem)
        assert len(sentences) == 3
        assert sentences[-1].endswith("?"), (name, sentences)
        assert all(re.fullmatch(r"[A-Z].*[.?]", sentence) for sentence in sentences)
        assert not any(word in " ".join(sentences) for word in ("None", "Fraction(", "_", "There are 1 "))


def test_an_answer_that_may_become_certain_has_no_factor():
    told = rare(Measure("pointwise_maximal_leakage_to_any", 0.0, math.inf, "bits", ""))
    assert "it can become any number of times as likely as before (pointwise" in told
