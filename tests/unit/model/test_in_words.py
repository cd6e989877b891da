"""Parts in one line: what the command line writes into a model file for them, Python takes as they are."""

from fractions import Fraction

import pytest

import dalenius as dl
from campaigns import each
from dalenius.cli.starting import model_text
from dalenius.model.adversaries import Adversary
from dalenius.model.distortions import Distortion
from dalenius.model.in_words import as_part
from dalenius.model.laws import Law
from dalenius.model.mechanisms import Mechanism
from dalenius.model.privacy import Privacy
from dalenius.model.queries import Query

PARTS = {
    "records": dl.Records(8, alphabet=2),
    "query": dl.Count(),
    "mechanism": dl.geometric(1),
    "adversary": dl.AnyPrior(),
}


@each(
    "part, text, meant",
    ("query", "count", dl.Count()),
    ("query", "threshold 3", dl.Threshold(3)),
    ("query", "count letters = [0]", dl.Count([0])),
    ("mechanism", "geometric 0.1", dl.geometric(Fraction(1, 10))),
    ("mechanism", "geometric epsilon=1, range=[-2, 10]", dl.geometric(1, range=(-2, 10))),
    ("mechanism", "discrete_laplace:1/3", dl.discrete_laplace("1/3")),
    ("mechanism", "exponential epsilon = 1, sensitivity = 2", dl.exponential(1, sensitivity=2)),
    ("adversary", "2 bits", dl.EntropyAtLeast("2 bits")),
    ("adversary", "0.8 max", dl.EntropyAtLeast("0.8 max")),
    ("adversary", "0", dl.AnyPrior()),
    ("adversary", "any_prior", dl.AnyPrior()),
    ("adversary", "product_priors", dl.ProductPriors()),
    ("adversary", "independent_blocks 4", dl.IndependentBlocks(4)),
)
def test_a_line_is_the_part_that_it_is_on_the_command_line(part, text, meant):
    found = dl.WorstCaseLeakage(**PARTS | {part: text})
    assert found == dl.WorstCaseLeakage(**PARTS | {part: meant})
    typed = {"--records": "8", "--query": "count", "--mechanism": "geometric 1", "--adversary": "0"} | {
        f"--{part}": text
    }
    assert dl.loads(model_text(typed)) == found


SHELVES = (Mechanism, Query, Adversary, Distortion, Law, Privacy)


def test_a_line_that_is_suggested_is_read():
    """Of six kinds none is found: their keys are a list and a number."""
    found = 0
    for base in SHELVES:
        for kind in base.shelf:
            try:
                as_part(base, kind, "part")
            except dl.errors.InputError as error:
                _, _, line = str(error).partition("write for example ")
                found += bool(line)
                assert not line or as_part(base, line[1:-1], "part").kind == kind, line
    assert found >= 28


def test_parts_of_designs():
    parts = {"records": dl.Records(3, alphabet=2), "query": "count"}
    budget = dl.MinLeakage(
        **parts, distortion="absolute", law="iid [0.3, 0.7]", adversary="1 bits", max_distortion="0.2"
    )
    assert (budget.distortion, budget.law) == (dl.Absolute(), dl.Iid(["3/10", "7/10"]))
    assert dl.MaxInformation(**parts, privacy="local_dp log 3").privacy == dl.LocalDP("log 3")


@each(
    "part, text, message",
    ("query", "cont", r"^query: expected one of .*did you mean 'count'"),
    ("query", "", r"^query: expected one of"),
    ("mechanism", "geometric", r"^mechanism: geometric needs epsilon"),
    ("mechanism", "geometric 1, [", r"^mechanism: "),
    (
        "mechanism",
        "geometric log 3",
        r"a logarithm, which is no rational number, is read of guarantees \(.*: write a decimal$",
    ),
    ("mechanism", "randomized_response log 3", "local protocols only, such as subset_selection, which with size 1 is"),
    ("mechanism", "geometric -1", r"^mechanism: epsilon must be above 0"),
    (
        "mechanism",
        "laplace:0.5",
        r"^mechanism: laplace 0.5: a number alone is .*'laplace scale = 0.5'.*'laplace scale = 1/e'",
    ),
    ("mechanism", "gaussian 2", r"^mechanism: gaussian 2: a number alone is an epsilon, .* write 'gaussian scale = 2'"),
    ("mechanism", "symmetric 1/3", r"write 'symmetric flip = \"1/3\"'"),
    ("adversary", "2", r"^adversary: '2' of what\? expected '2 bits' or '2 nats'"),
    ("adversary", "2 bitz", r"^adversary: .*bitz"),
    ("adversary", "product_prior", r"^adversary: expected one of .*did you mean 'product_priors'"),
    ("records", "8", r"^records: expected Records"),
)
def test_what_is_no_part_is_refused_by_its_name(part, text, message):
    with pytest.raises(dl.errors.InputError, match=message):
        dl.WorstCaseLeakage(**PARTS | {part: text})


def test_a_model_is_shown_in_two_lines_from_which_it_can_be_made_again_if_nothing_is_left_out():
    whole = 0
    for listed in dl.library("minimal"):
        problem = listed.load()
        text = repr(problem)
        assert len(text) <= 160
        if "..." not in text:
            whole += 1
            assert eval(text, vars(dl) | {name: getattr(dl, name) for name in dir(dl)}) == problem
    assert whole > 30


def test_records_are_shown_as_they_are_made():
    for records in (dl.Records(10**6, alphabet=2), dl.Records(alphabets=[2, 3, 3, *[4] * 5, 2])):
        assert len(repr(records)) < 60
        assert eval(repr(records), {"Records": dl.Records}) == records


def test_audits_take_lines():
    said = dl.audit("discrete_laplace 0.5", records=100, query="count", adversary="independent_blocks 2").problem
    assert said == dl.audit(dl.discrete_laplace("0.5"), records=100, adversary=dl.IndependentBlocks(2)).problem
    with pytest.raises(dl.errors.InputError, match=r"^release: expected one of .*did you mean 'geometric'"):
        dl.audit("geometrik 1", records=3)
