"""verbose=True, wherever a solver runs: its own log, and a line for every stage; nothing without it."""

import cvxpy as cp
import pytest

import cvxcertify
import dalenius as dl
from cvxcertify.talking import say, talking
from dalenius.alternating import LeakageScheme, Settings, alternate
from dalenius.reduction import record_channels

BITS = {"records": dl.Records(2, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
DESIGN = dl.MinLeakage(**BITS, max_distortion="0.3", adversary=dl.PriorSet([["1/4"] * 4, ["1/2", 0, 0, "1/2"]]))
AUDIT = dl.load("parity/laplace-n4")
COUNT = dl.WorstCaseLeakage(
    records=dl.Records(3, alphabet=2), query="count", mechanism="geometric 1", adversary="0.5 max"
)
LOG = "Clarabel"  # in the solver's own log


def certified(verbose):
    x = cp.Variable(3, nonneg=True)
    cvxcertify.certify(cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1]), verbose=verbose)


def alternated(verbose):
    scheme = LeakageScheme(record_channels(AUDIT)[0], ("posterior", "marginal"), solver="clarabel")
    alternate(scheme, Settings(gap=1e-2), verbose=verbose)


DOORS = {
    "certify": (certified, LOG, "CLARABEL: optimal after", "certified: "),
    "design": (
        lambda verbose: dl.solve(DESIGN, gap=1e-2, solver="clarabel", verbose=verbose),
        LOG,
        "CLARABEL: optimal",
        "exchange: ",
    ),
    "alternating": (
        lambda verbose: dl.solve(DESIGN, gap=1e-2, method="alternating", verbose=verbose),
        LOG,
        "turn: sweep 1, block mechanism",
        "turn: sweep 1, block adversary",
    ),
    "scheme": (alternated, LOG, "turn: sweep 1, block posterior"),
    "audit": (lambda verbose: dl.solve(AUDIT, verbose=verbose), " nats after "),
    "subproblem": (
        lambda verbose: dl.subproblem(DESIGN, "master").solve(solver="clarabel", verbose=verbose),
        LOG,
        "CLARABEL: optimal",
    ),
    "row": (
        lambda verbose: dl.subproblem(COUNT, "row").solve(solver="clarabel", leaves=3, verbose=verbose),
        "CLARABEL: ",
    ),
    "compare": (
        lambda verbose: dl.compare(AUDIT, methods=["paper-full"], seeds=1, gap=1e-2, verbose=verbose),
        "method: certified",
        "method: paper-full",
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_says_what_it_does_if_asked_and_nothing_else(door, capfd):
    work, *words = DOORS[door]
    work(False)
    assert capfd.readouterr().out == ""
    work(True)
    said = capfd.readouterr().out
    for word in words:
        assert word in said
    say("nothing after it")
    assert capfd.readouterr().out == ""


def test_what_a_quiet_call_does_within_a_talking_one_is_heard(capfd):
    with talking():
        with talking(False):
            say("still asked")
        say("and now")
    assert capfd.readouterr().out == "still asked\nand now\n"
