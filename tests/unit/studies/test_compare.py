"""Rivals side by side: `dalenius.compare`, its table, its picture and its command."""

import csv
import dataclasses
import json
import math
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.baselines import DesignSettings, LeakageSettings, Slsqp
from dalenius.reduction import record_channels
from dalenius.report import comparison_table
from dalenius.search import Clock
from dalenius.studies import contest
from dalenius.studies.compare import compare, methods_for
from dalenius.studies.contest import METHODS, RIVALS, Rival
from dalenius.studies.points import Prior, with_mechanism, with_prior
from support import refuses

module = sys.modules[compare.__module__]  # `dalenius.compare` is the function
ROOT = Path(__file__).parents[3]
CERTIFIED = 0.0795415058653
EXTRAS = {"cvxpy-nlp": "unopy", "scip": "pyscipopt", "maingo": "maingopy"}  # of [rivals], by how methods begin
MISSING = tuple(method for method, package in EXTRAS.items() if find_spec(package) is None)
DESIGNING = ["subgradient", "descent-ascent", "convex-concave"]
INSTALLED = [method for method in METHODS if not method.startswith(MISSING) and method not in DESIGNING]


@pytest.fixture(scope="module")
def comparison(support):
    return dl.compare(support.parity4(2.0), seeds=3, budget=40.0)  # none needs it


@pytest.fixture(scope="module")
def design():
    problem = support.design(dl.MinLeakage, dl.Records(3, alphabet=2), dl.Parity(), dl.Hamming(), 0.1, 0.5)
    return dl.compare(problem, methods=["certified", "paper-full", "slsqp"], seeds=2, budget=2.0)


def test_parity_of_four_bits(comparison):
    assert [entry.method for entry in comparison.entries] == INSTALLED
    assert comparison.lower <= CERTIFIED <= comparison.upper
    assert (comparison.units, comparison.maximises) == ("nats", True)
    for entry in comparison.entries:
        assert entry.value <= comparison.upper
        assert entry.violation <= 1e-12
        assert entry.shortfall == pytest.approx(max(1.0 - entry.value / comparison.lower, 0.0), abs=1.1e-9)
        assert entry.shortfall <= entry.shortfall_at_most
        assert entry.shortfall_at_most == pytest.approx(1.0 - entry.value / comparison.upper, abs=1e-12)
        values = [value for _, value in entry.trace]
        assert values == sorted(values)
        assert entry.seeds == (1 if entry.method in ("certified", "scip", "maingo") else 3)
        assert (entry.bound is not None) == (entry.method in ("certified", "scip", "maingo"))
    full = comparison.entry("paper-full")
    assert (full.seeds, full.first) == (3, 0.0)
    assert full.shortfall < 1e-3
    assert full.reached is not None
    assert math.isnan(comparison.entry("certified").first)


def test_every_rival_of_a_design_is_asked(design):
    assert methods_for(design.problem) == ["certified", "paper-full", "paper-aggregated", "slsqp", *DESIGNING]
    support.refused(
        lambda: dl.compare(support.parity4(1.0), methods=["subgradient"]), "designs a mechanism, it does not audit"
    )


def test_a_design(design):
    exact = math.log(2) + 0.1 * math.log(0.1) + 0.9 * math.log(0.9)
    assert design.lower <= exact <= design.upper
    for entry in design.entries:
        assert entry.value >= exact - 1e-12
        assert entry.method == "certified" or entry.value == pytest.approx(exact, rel=1e-2)
        assert entry.violation <= (entry.violation_at_most or 0.0) <= 1e-12
        assert design.cells(entry)["budget"].startswith("met")
        values = [value for _, value in entry.trace]
        assert values == sorted(values, reverse=True)
        assert min(values) >= exact - 1e-12, "what is on the way is audited"
        assert entry.method == "certified" or entry.reached == design.seconds_to(entry, design.gap)


@pytest.mark.thorough
def test_a_budget_of_leakage_is_met_by_the_houses_own_repair():
    problem = support.design(dl.MinDistortion, dl.Records(4, alphabet=2), dl.Parity(), dl.Hamming(), 0.05, 2.2)
    comparison = dl.compare(problem, methods=["paper-full"], seeds=1, budget=2.0, gap=1e-2)
    (entry,) = comparison.entries
    assert entry.violation > 0.01, "from the uniform start it sees no leakage, and leaves the mechanism as it is"
    assert comparison.lower <= entry.value
    assert entry.claimed < 1e-6 < entry.value
    assert comparison.units == "distortion"


def test_table(comparison, design):
    for found, unit, missed in ((comparison, "nats", "nats"), (design, "nats", "distortion")):
        rows = list(csv.DictReader(comparison_table(found).splitlines()))
        assert [row["method"] for row in rows] == [entry.method for entry in found.entries]
        assert [float(row["value"]) for row in rows] == [entry.value for entry in found.entries]
        assert {(row["unit"], row["violation_unit"]) for row in rows} == {(unit, missed)}


def test_what_is_printed_is_a_table_with_the_times_to_come_near(comparison):
    head, *rows = comparison.table
    assert head == [
        "method",
        "starts",
        "value, nats",
        "falls short by",
        "budget",
        "seconds",
        *(f"seconds to {x} % of best" for x in ("1", "0.1", "0.01")),
    ]
    assert [row[0] for row in rows] == [entry.method for entry in comparison.entries]
    lines = str(comparison).splitlines()
    assert lines[0].startswith("certified  0.0795")
    assert [line.split()[0] for line in lines[1:]] == ["method", *(row[0] for row in rows)]
    assert max(map(len, lines)) <= 160
    html = comparison._repr_html_()
    assert html.count("<tr>") == len(rows) + 1
    assert '<th scope="row">paper-full</th>' in html


@each("share, at", (0.5, 1.0), (0.1, 2.0), (0.01, None))
def test_how_soon_a_method_came_near_is_read_off_its_trace(comparison, share, at):
    best = comparison.lower
    slow = dataclasses.replace(comparison.entry("slsqp"), trace=((1.0, 0.6 * best), (2.0, 0.95 * best)))
    assert comparison.seconds_to(slow, share) == at
    assert comparison.cells(slow)["seconds to 0.1 % of best"] == "never"
    broken = dataclasses.replace(slow, violation=0.25)
    assert comparison.cells(broken)["budget"] == "broken by 2.5e-01 nats"


def test_the_best_design_is_the_lowest(design):
    heads = design.table[0]
    assert heads[:5] == ["method", "starts", "value, nats", "could be lower by", "budget"]
    twice = dataclasses.replace(design.entry("paper-full"), shortfall=0.5, shortfall_at_most=0.5)
    assert design.cells(twice)["could be lower by"] == "50 %"


def test_whether_a_budget_is_met_is_said_exactly(design):
    entry = design.entry("paper-full")
    for at_least, at_most, said in (
        (0.0, 0.0, "met"),
        (-1e-3, -1e-9, "met"),
        (2e-16, 2e-16, "met but for 2e-16"),
        (0.0, 1e-3, "within 1.0e-03 distortion of it: not decided"),
        (2e-3, 4e-3, "broken by 2.0e-03 distortion"),
    ):
        missed = dataclasses.replace(entry, violation=at_least, violation_at_most=at_most)
        assert design.cells(missed)["budget"] == said


def test_mechanisms_on_the_way_are_judged_after_halves_of_the_time(design, monkeypatch):
    worth = {
        0.0: 3.0,
        1.0: 2.0,
        3.0: 4.0,
        7.0: 1.5,
        64.0: 1.0,
    }  # what is proved of what was shown after so many seconds
    monkeypatch.setattr(contest, "with_mechanism", lambda problem, rows, *_: SimpleNamespace(upper=worth[rows]))
    run = SimpleNamespace(shown=tuple((at, at) for at in worth), leakage=0.0)
    found = list(contest._on_the_way(design.problem, run, 1e-3, Clock()))
    assert found == [(1.0, 2.0), (0.0, 2.0), (3.0, 2.0), (7.0, 1.5)]


def test_a_rivals_design_is_judged_on_its_way(design):
    trace = ((1.0, 1.2 * design.upper), (2.0, 1.005 * design.upper))
    entry = dataclasses.replace(design.entry("paper-full"), trace=trace, seconds=3.0)
    assert design.seconds_to(entry, 0.01) == 2.0
    assert design.seconds_to(entry, 0.001) is None


def test_a_time_limit_is_shared_and_leaves_out_what_it_has_no_time_for(support):
    late = dl.compare(support.parity4(2.0), methods=["certified", "paper-full", "slsqp"], time_limit=1e-6)
    assert late.unfinished == ("paper-full", "slsqp")
    assert [entry.method for entry in late.entries] == ["certified"]
    assert late.lower <= CERTIFIED <= late.upper
    assert "interrupted, or out of time: paper-full, slsqp left out" in str(late)
    nobody = dl.compare(support.parity4(2.0), methods=["slsqp"], time_limit=1e-6)
    assert nobody.entries == ()
    assert str(nobody).startswith("certified")
    assert "certified" in nobody._repr_html_()


def test_no_method_has_more_than_an_even_share_of_the_limit(support, monkeypatch):
    had, first = [], dl.solve(support.parity4(2.0), gap=1e-3)
    monkeypatch.setattr(
        contest, "_audited", lambda *given: had.append(given[-2].time_limit) or contest.certified(first)
    )
    dl.compare(support.parity4(2.0), methods=["paper-full", "slsqp"], time_limit=40.0, budget=15.0)
    assert had == [15.0, 15.0]
    dl.compare(support.parity4(2.0), methods=["paper-full", "slsqp"], time_limit=8.0)
    assert had[2] <= 4.0 <= had[3] <= 8.0


def test_who_used_up_the_time_is_named(support, monkeypatch):
    first = contest.certified(dl.solve(support.parity4(2.0), gap=1e-3))
    seconds = iter((15.0, 14.0))
    monkeypatch.setattr(contest, "_audited", lambda *_: dataclasses.replace(first, seconds=next(seconds)))
    found = dl.compare(support.parity4(2.0), methods=["paper-full", "slsqp"], budget=15.0)
    assert found.cut_off == {"paper-full": 15.0}
    assert "more time may find better: paper-full after 15 s" in str(found)


def test_which_methods_fit():
    large = support.problem(dl.Records(40, alphabet=2), dl.Parity(), dl.symmetric(0.1, k=2), "0.5 max")
    assert methods_for(large) == [method for method in INSTALLED if not method.endswith("-full")]
    support.refused(lambda: dl.compare(large, methods=["paper-full"]), "aggregated")


class TestWhatCannotBe:
    """A rival on the wrong side of a proof is a bug of one of the two, and never a result."""

    @pytest.mark.parametrize("method", ["paper-full", "paper-aggregated", "slsqp", "trust-constr"])
    def test_an_audit(self, method, monkeypatch, support):
        class Lying(Rival):
            def audited(self, *arguments):
                return dataclasses.replace(super().audited(*arguments), value=CERTIFIED * (1.0 + 1e-7))

        monkeypatch.setitem(RIVALS, method, Lying(**vars(RIVALS[method])))
        with pytest.raises(dl.errors.DaleniusError, match=f"{method} attains .* more than the certified upper bound"):
            module.compare(support.parity4(1.0), methods=[method], seeds=1, gap=1e-8)

    def test_a_design(self, monkeypatch, design):
        def lying(problem, rows, leakage, limits):
            return dataclasses.replace(with_mechanism(problem, rows, leakage, limits), upper=0.1)

        monkeypatch.setattr(contest, "with_mechanism", lying)
        for method in ("paper-aggregated", "slsqp"):
            with pytest.raises(dl.errors.DaleniusError, match="less than the certified lower bound"):
                module.compare(design.problem, methods=[method], seeds=1, budget=1.0)


# ---------------------------------------------------------------- nobody is the yardstick


@pytest.fixture
def clumsy(monkeypatch):
    """A certified solver that knows no more than what needs no search."""
    true = module.solve

    def solve(problem, **limits):
        if isinstance(problem, dl.problems.DesignProblem):
            return true(problem, **limits | {"time_limit": 1e-3})
        return know_nothing(problem)

    monkeypatch.setattr(module, "solve", solve)


def know_nothing(problem, prior=None) -> dl.answers.Result:
    """What the uniform prior proves: of a parity, that 0 is told."""
    return with_prior(problem, Prior(record_channels(problem)[0].uniform, kind=0))


def test_a_rivals_better_prior_becomes_ours(clumsy, support):
    """Proved: our own value stays what it was, and falls short of it."""
    problem = support.parity4(2.0)
    for method in ("paper-full", "slsqp"):
        comparison = dl.compare(problem, methods=["certified", method], seeds=2)
        ours, theirs = comparison.entries
        assert comparison.best == method
        assert (ours.value, ours.shortfall) == (0.0, 1.0)
        assert theirs.shortfall == 0.0
        assert comparison.lower == pytest.approx(theirs.value, rel=1e-9)
        assert comparison.lower <= CERTIFIED <= comparison.upper
        assert dl.verify(problem, comparison.result.certificate).proved
        assert comparison.result.witness.masses.sum() == pytest.approx(1.0)


def test_a_rivals_better_mechanism_becomes_ours(clumsy):
    """Where symmetry alone does not make the first one the best."""
    problem = support.design(dl.MinLeakage, dl.Records(2, alphabet=2), dl.Count(), dl.Absolute(), 0.3, 0.5)
    comparison = dl.compare(problem, methods=["certified", "paper-aggregated"], seeds=1, budget=1.0)
    ours, theirs = comparison.entries
    assert comparison.best == "paper-aggregated"
    assert ours.value > 1.02 * theirs.value
    assert ours.shortfall == pytest.approx(1.0 - theirs.value / ours.value)
    assert (theirs.shortfall, comparison.upper) == (0.0, theirs.value)
    assert dl.verify(problem, comparison.result.certificate).proved
    assert comparison.result.audit.upper == comparison.upper
    assert comparison.result.distortion <= problem.budget


def test_a_point_that_the_checker_refuses_changes_nothing(clumsy, monkeypatch, support):
    """The interval has what is proved, and no more."""
    monkeypatch.setattr(module, "with_prior", know_nothing)
    comparison = dl.compare(support.parity4(2.0), methods=["slsqp"], seeds=2)
    assert (comparison.best, comparison.lower) == ("certified", 0.0)


# ---------------------------------------------------------------- settings


def test_rivals_are_run_with_the_settings_that_they_are_given(support):
    problem, few = support.parity4(1.0), {"slsqp": Slsqp(iterations=1)}
    one, many = (dl.compare(problem, methods=["slsqp"], seeds=1, settings=chosen) for chosen in (few, None))
    assert one.entry("slsqp").iterations == 1 <= many.entry("slsqp").iterations


def test_progress_names_the_methods_before_they_begin(support):
    told = []
    dl.compare(support.parity4(1.0), methods=["slsqp", "paper-aggregated"], seeds=1, progress=told.append)
    assert told == ["certified", "slsqp", "paper-aggregated"]


test_settings_of_something_else = refuses(
    ({"gradient": Slsqp()}, ["settings: expected some of paper-full, ", "; got 'gradient'"]),
    ({"slsqp": LeakageSettings()}, "slsqp takes Slsqp on this problem, got LeakageSettings"),
    ({"paper-full": DesignSettings()}, "paper-full takes LeakageSettings on this problem"),
    by=lambda settings: dl.compare(support.parity4(1.0), settings=settings),
)


test_bad_arguments = refuses(
    ({"methods": ["gradient"]}, "methods: expected some of certified"),
    ({"time_limit": 0}, "time_limit: expected a number above 0"),
    ({"time_limit": math.nan}, "time_limit: expected a number above 0"),
    ({"methods": []}, "methods"),
    ({"methods": "slsqp"}, "methods"),
    ({"seeds": 0}, "seeds"),
    ({"budget": 0}, "budget"),
    ({"budget": math.nan}, "budget"),
    ({"gap": "small"}, "gap"),
    ({"solver": "gurobi"}, "solver: expected one of auto"),
    ({"solver": "clarabel"}, "of an audit there is no program to solve; leave solver out"),
    by=lambda arguments: dl.compare(support.parity4(1.0), **arguments),
)


def test_a_mechanism_that_nothing_is_proved_of_falls_short_by_all(design, monkeypatch):
    """As where there was no time to prove that it keeps a limit."""
    monkeypatch.setattr(
        contest, "with_mechanism", lambda *given: dataclasses.replace(with_mechanism(*given), upper=math.inf)
    )
    found = dl.compare(design.problem, methods=["certified", "slsqp"], seeds=1, budget=0.5)
    entry = found.entry("slsqp")
    assert (entry.value, entry.shortfall, entry.shortfall_at_most) == (math.inf, 1.0, 1.0)
    assert found.cells(entry)["could be lower by"] == "100 %"
    assert found.best == "certified"


def test_a_solver_of_ones_choice(design):
    found = dl.compare(design.problem, methods=["certified"], gap=1e-2, solver="own")
    assert {use.solver for use in found.result.solvers} == {"own"}


def test_a_solver_that_is_not_installed(monkeypatch, support):
    for module in ("nonlinear", "global_solvers"):
        monkeypatch.setattr(f"dalenius.baselines.{module}.find_spec", lambda name: None)
    assert methods_for(support.parity4(1.0)) == ["certified", "paper-full", "paper-aggregated", "slsqp", "trust-constr"]
    for method in ("cvxpy-nlp-full", "scip", "maingo"):
        with pytest.raises(dl.errors.InputError, match=r"not installed; pip install 'dalenius\[rivals\]'"):
            dl.compare(support.parity4(1.0), methods=[method])


def test_bad_problems(support, design):
    support.refused(lambda: dl.compare("parity"), "expected a WorstCaseLeakage")
    with pytest.raises(dl.errors.InputError, match="entropy_at_least"):
        dl.compare(dataclasses.replace(support.parity4(1.0), adversary=dl.ProductPriors()))
    for method in [method for method in METHODS if method not in methods_for(design.problem)]:
        with pytest.raises(dl.errors.InputError, match=f"{method} audits a mechanism, it does not design one"):
            dl.compare(design.problem, methods=[method])
    support.refused(lambda: dl.compare(dataclasses.replace(design.problem, max_distortion=-1)), "meets the budget")


@pytest.mark.thorough
def test_the_command(command_line, tmp_path):
    model = ROOT / "models/parity/laplace-n4.toml"
    told = command_line("compare", model, "--seeds", 1, "--budget", 1, "--time-limit", 60, "-o", "out")
    assert told.returncode == 0, told.stderr
    for method in methods_for(dl.load(model)):
        assert method in told.stdout
    first, second, own, *_ = told.stdout.splitlines()  # heads may take two lines
    assert own.split()[:3] == ["certified", "1", "0.079541505"]
    for column in ("value", "uniform start", "no more than", "violation"):
        assert f"{column}, nats" in second or f"{column}," in first
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "laplace-n4.compare.cert",
        "laplace-n4.compare.csv",
        "laplace-n4.compare.png",
    ]
    assert dl.verify(model, dl.Certificate.read(tmp_path / "out/laplace-n4.compare.cert")).proved
    few = ("--set", "slsqp.iterations=2", "--set", "slsqp.tolerance=1e-3")
    told = command_line("compare", model, "--methods", "slsqp", "--seeds", 2, *few, "--json")
    answer = json.loads(told.stdout)
    assert [entry["method"] for entry in answer["methods"]] == ["slsqp"]
    assert answer["lower"] <= CERTIFIED <= answer["upper"]
    assert answer["methods"][0]["value"] <= answer["upper"]
    assert answer["methods"][0]["iterations"] <= 4
    assert answer["best"] == "certified"
