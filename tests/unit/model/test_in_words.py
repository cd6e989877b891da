"""Parts in one line: what the command line writes into a model file for them, Python takes as they are."""

from fractions import Fraction

import pytest

import dalenius as dl
from campaigns import each
from dalenius.cli.starting import model_text

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
    ("mechanism", "geometric -1", r"^mechanism: epsilon must be above 0"),
    ("adversary", "2 bitz", r"^adversary: .*bitz"),
    ("adversary", "product_prior", r"^adversary: expected one of .*did you mean 'product_priors'"),
    ("records", "8", r"^records: expected Records"),
)
def test_what_is_no_part_is_refused_by_its_name(part, text, message):
    with pytest.raises(dl.errors.InputError, match=message):
        dl.WorstCaseLeakage(**PARTS | {part: text})
