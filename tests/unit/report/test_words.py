"""Problems in sentences: of every kind that there is."""

import re

import dalenius as dl
from dalenius.report.words import question


def test_every_model_of_the_library_is_told_in_plain_sentences():
    seen = set()
    for model in dl.library():
        problem = model.load()
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
        assert sentences[-1].endswith("?"), (model.name, sentences)
        assert all(re.fullmatch(r"[A-Z].*[.?]", sentence) for sentence in sentences)
        assert not any(word in " ".join(sentences) for word in ("None", "Fraction(", "_", "There are 1 "))
