"""How strong the audit is: the leaves that a gap takes on models of the library, which bound proves it, and what proofs share.

Honesty is tested elsewhere, and an audit that has lost one of its bounds is still honest: only its interval is wider, or its proof
longer. The figures here are those of the day they were written, with a fifth of head-room for other rounding; a better search may beat
them, and should then lower them. Searches stop by gap or nodes and have no time limit.
"""

from collections import Counter
from dataclasses import dataclass

import pytest

import dalenius as dl
from campaigns import thinned

HEAD_ROOM = 1.2
NODE_LIMIT = 2000


@dataclass(frozen=True)
class Strength:
    """What an audit reaches: `gap`, with `leaves` of all records' proofs together, each proved by one of `methods`.

    `row_lines` counts the leaves of row trees that the checker sees, and `shared` the letters that take over another one's row tree.
    """

    model: str
    gap: float
    methods: tuple[str, ...]
    leaves: int
    row_lines: int = 0
    shared: int = 0

    def __str__(self) -> str:
        return f"{self.model} {self.gap:g}"


# No race of trees: one bound closes the audit, or is the only tree. The search has no other choice than these.
ALONE = [
    Strength("degenerate/noiseless", 1e-6, ("letters", "letters"), 2),
    Strength("degenerate/equal-rows", 1e-6, ("letters", "capacity"), 2),
    Strength("degenerate/uniform-only", 1e-6, ("uniform",), 1),
    Strength("modular-sum/slack-m4-n3", 1e-6, ("capacity",), 1),
    Strength("scale/parity-n100000", 1e-6, ("capacity",), 1),
    Strength("threshold/majority-n5", 1e-6, ("capacity",), 1),
    Strength("degenerate/unattained-value", 1e-6, ("vertices",), 5),
    Strength("sum/unequal-alphabets", 1e-6, ("vertices", "vertices"), 58),
    Strength("identity/z-channel", 1e-6, ("selections",), 1),
    Strength("count/independent-n8", 1e-6, ("selections",), 8),
    Strength("count/listed-priors", 1e-6, ("evaluated", "evaluated"), 0),
    Strength("channel/lopsided-2x3", 1e-3, ("dual", "dual"), 27, 25),
    Strength("parity/symmetric-n2", 1e-3, ("dual",), 17, 16, 1),
    Strength("parity/laplace-n4-b2.5", 1e-3, ("dual",), 17, 16, 1),
    Strength("parity/symmetric-n6-b0.95", 1e-3, ("dual",), 29, 28, 1),
    Strength("scale/parity-n1000", 1e-3, ("dual",), 17, 16, 1),
    Strength("modular-sum/symmetric-m3-n3", 1e-3, ("dual",), 111, 110, 2),
    Strength("table/latin-square-m3", 1e-6, ("dual",), 60, 59, 2),  # sorted laws alone
    Strength("count/geometric-n4", 3e-3, ("dual",), 671, 670),
]
# A race, or a tree that works in slices of time: the same in every run, because time is counted.
RACED = [
    Strength("count/rare-n10", 1e-3, ("posterior",), 37),
    Strength("modular-sum/bits-mod3-n6", 1e-2, ("posterior",), 450),
    Strength("channel/random-2x8x4", 3e-3, ("dual", "dual tree"), 301, 299),
    Strength("channel/random-4x4x3", 3e-3, ("dual tree", "dual tree"), 242, 240),
    Strength("table/squares-mod4-n3", 2e-2, ("dual tree",), 43, 42, 2),
    # Several boxes: a letter that is cut leaves the others alike.
    Strength("table/squares-mod4-n3", 8e-3, ("dual tree",), 627, 623, 1),
]
# Too hard for so few leaves: what is left open. Model, node limit, gap, the method that proves it.
LEFT_OPEN = [
    ("modular-sum/symmetric-m3-n3", 20, 2.3e-3, "dual"),
    ("sum/squares-n2", 100, 6.1e-2, "dual"),
    ("count/geometric-n4", 100, 1.35e-3, "posterior"),
]


def solved(model: str, *, gap: float, node_limit: int = NODE_LIMIT) -> tuple[dl.problems.Problem, dl.answers.Result]:
    problem = dl.load(model)
    return problem, dl.solve(problem, gap=gap, time_limit=None, node_limit=node_limit)


def check(case: Strength) -> None:
    problem, result = solved(case.model, gap=case.gap)
    assert result.termination is dl.answers.Termination.GAP_REACHED
    assert result.gap <= case.gap
    assert tuple(proof.method for proof in result.records) == case.methods
    assert sum(proof.leaves for proof in result.records) <= HEAD_ROOM * case.leaves
    verdict = dl.verify(problem, result.certificate)
    assert verdict.proved
    assert tally(verdict)["row"] <= HEAD_ROOM * case.row_lines
    assert shared(result) >= case.shared


def tally(verdict) -> Counter[str]:
    """The leaves that the checker counted, by kind."""
    words = next(line for line in verdict.lines if line.startswith("leaves: ")).removeprefix("leaves: ")
    return Counter({kind: int(count) for count, kind in (part.split(" ", 1) for part in words.split(", "))})


def shared(result: dl.answers.Result) -> int:
    """How often a certificate refers to another letter's row tree, instead of proving the same again."""
    return sum(line.startswith('["as"') for line in result.certificate.text.splitlines())


@pytest.mark.parametrize("case", ALONE, ids=str)
def test_the_bound_that_proves_it_and_its_leaves(case):
    check(case)


@pytest.mark.parametrize("case", thinned(RACED, every=2), ids=str)
def test_the_tree_that_proves_it_and_its_leaves(case, counted_time):
    check(case)


@pytest.mark.parametrize(("model", "node_limit", "gap", "method"), thinned(LEFT_OPEN, every=2))
def test_the_gap_that_so_many_leaves_reach(model, node_limit, gap, method, counted_time):
    _, result = solved(model, gap=1e-6, node_limit=node_limit)
    assert result.termination is dl.answers.Termination.SIZE_LIMIT
    assert result.gap <= HEAD_ROOM * gap
    assert [proof.method for proof in result.records] == [method]
