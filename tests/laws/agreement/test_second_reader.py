"""A second reader of models (tests/second_reader), written from the pages alone, finds nothing that a certificate excludes."""

from __future__ import annotations

import ast
import json
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import pytest

import campaigns
import dalenius as dl
import second_reader
from campaigns import draws, thinned
from every_kind import KINDS, drawn
from second_reader.comparison import Reader
from second_reader.exact import TooLargeError

LIES = [
    ("problem", "maximal_leakage"),
    ("problem", "max_information"),
    ("query", "joint"),
    ("mechanism", "laplace"),
    ("mechanism", "randomized_histogram"),
    ("mechanism", "adaptive"),
    ("adversary", "markov_chain"),
    ("adversary", "entropy_at_least"),
    ("adversary", "prior_set"),
    ("adversary", "chi_square_ball_priors"),
    ("adversary", "moment_priors"),
    ("privacy", "local_dp"),
    ("combine", "max"),
    ("of", "table"),
]


def answered(seed, wanted):
    """A model, and what is proved of it, which need not be narrow."""
    model = drawn(seed, wanted)
    with warnings.catch_warnings():  # of proofs that were refused: other tests are about these
        warnings.simplefilter("ignore")
        return model, dl.solve(model.problem, gap=draws(5e-2, 1e-2), time_limit=draws(0.1, 0.3))


@pytest.mark.campaign(minutes=30)  # of all seeds together
@pytest.mark.parametrize("seed", range(1, 1 + draws(1, 5, 45)))
def test_nothing_is_found_that_a_certificate_excludes(seed):
    """Daily models until every kind was there; else one for each kind."""
    seen, left_out = set(), 0
    for wanted in reversed(KINDS):
        if wanted in seen and not campaigns.THOROUGH:
            continue
        for other in range(6):  # a kind whose model is too large for it has another one
            model, result = answered(seed + 1000 * other, wanted)
            reader = Reader(model.text, result.certificate.text, seed, *draws((1, 4), (2, 4), (4, 10)))
            try:
                assert not reader.faults(), model.text
            except TooLargeError:
                left_out += 1
                continue
            seen |= model.kinds
            assert reader.lower is None or Fraction(result.lower) <= reader.lower
            assert reader.upper is None or Fraction(result.upper) >= reader.upper
            break
    assert seen == {*KINDS} or campaigns.THOROUGH
    assert left_out <= len(KINDS) // 10


def narrow(wanted):
    """The first model of a kind whose interval is narrow and above what is rounded away, and its certificate's lines."""
    for seed in range(40):
        model, result = answered(seed, wanted)
        first, *rest = result.certificate.text.splitlines()
        header = json.loads(first)
        if None not in (header["lower"], header["upper"]):
            lower, upper = (Fraction(header[end]) for end in ("lower", "upper"))
            try:
                if (
                    Fraction(1, 10**9) < lower <= upper < lower * Fraction(11, 10)
                    and not Reader(model.text, "\n".join([first, *rest])).faults()
                ):
                    return model.text, header, rest
            except TooLargeError:
                continue
    raise LookupError(wanted)


@pytest.mark.parametrize("wanted", thinned([(lie,) for lie in LIES], every=2), ids="-".join)
def test_a_false_claim_is_contradicted(wanted):
    """An upper end a tenth below the lower one, a lower end a tenth above the upper one."""
    text, header, rest = narrow(wanted)
    lower, upper = (Fraction(header[end]) for end in ("lower", "upper"))
    for end, false in (("upper", lower * Fraction(9, 10)), ("lower", upper * Fraction(11, 10))):
        both = {"lower": min(lower, false), "upper": max(upper, false), end: false}
        lie = json.dumps({**header, **{key: str(number) for key, number in both.items()}})
        assert Reader(text, "\n".join([lie, *rest])).faults(), end


def test_it_knows_neither_package():
    for path in Path(second_reader.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            assert {name.split(".")[0] for name in names} <= {
                *sys.stdlib_module_names,
                "numpy",
                "scipy",
                "second_reader",
            }
