"""Time limits, Ctrl-C, SIGTERM and failing callbacks: what was reached is proved and honestly labelled, and nothing is lost."""

import ast
import csv
import itertools
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each, thinned
from dalenius.catalogue.models import library
from dalenius.catalogue.ratchet import history
from dalenius_check.core.allowance import Allowance

ROOT = Path(__file__).parents[2]
SIGNALS = [signal.SIGINT, signal.SIGTERM]
WORDS = {signal.SIGINT: "dalenius: interrupted\n", signal.SIGTERM: "dalenius: terminated\n"}
OPEN = (ROOT / "models/parity/laplace-n4.toml").read_text().replace('"parity"', '"count"')
OPEN = OPEN.replace("laplace_threshold", "geometric").replace("count = 4", "count = 3")  # takes some work


def hard(support):
    """Takes far longer than any test: three bits released through randomised response on the whole dataset."""
    return support.problem([2] * 3, dl.Identity(), dl.randomized_response(1.0, k=8), "0.5 max")


def of_datasets(adversary):
    """Thousands of selections, or half a thousand numbers a prior."""
    rows = np.random.default_rng(0).dirichlet(np.ones(6), size=2**9)
    return support.problem(dl.Records(9, alphabet=2), None, dl.Channel(rows, inputs="dataset"), adversary)


def many_priors():
    weights = np.random.default_rng(0).integers(1, 9, size=(8, 2**9))
    return dl.PriorSet([[f"{w}/{sum(row)}" for w in row] for row in weights.tolist()])


EIGHT = {"records": dl.Records(8, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
QUICK = ("product", "priors")
HARD = {  # each takes longer than the time it is given here
    "audit": lambda: hard(support),
    "product": lambda: of_datasets(dl.ProductPriors()),
    "priors": lambda: of_datasets(many_priors()),
    "leakage": lambda: dl.MinLeakage(**EIGHT, max_distortion=0.3, adversary=dl.EntropyAtLeast("0.7 max")),
    "distortion": lambda: dl.MinDistortion(**EIGHT, max_leakage="0.1 nats", adversary=dl.EntropyAtLeast("0.7 max")),
}


def assert_stopped(problem, result, reasons=(dl.answers.Termination.TIME_LIMIT,)):
    """What was reached is proved, and the reason is said."""
    if isinstance(result, dl.answers.DesignResult):
        support.assert_design(problem, result)
    assert 0.0 <= result.lower <= result.upper
    assert dl.verify(problem, result.certificate).proved
    assert result.termination in reasons
    if result.termination is not dl.answers.Termination.GAP_REACHED:
        with pytest.raises(dl.errors.GapNotReachedError, match=result.termination.value):
            result.require(gap=1e-9)


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        *itertools.product(["audit", "leakage"], [0.001, 0.5]),
        *itertools.product(["product", "priors"], [1e-9]),
        *(pytest.param("distortion", limit, marks=pytest.mark.thorough) for limit in (0.001, 0.5, 2.0)),
    ],
)
def test_time_limits(name, limit):
    problem = HARD[name]()
    result = dl.solve(problem, gap=1e-9, time_limit=limit)
    assert_stopped(problem, result)
    assert result.seconds < limit + 5.0
    if name in QUICK:
        whole = dl.solve(problem)
        assert whole.termination is dl.answers.Termination.GAP_REACHED
        assert result.lower <= whole.lower <= whole.upper <= result.upper


@each(
    "sizes, query, mechanism, bound",
    ([2] * 4, dl.Count(), dl.geometric(1.0), "0.7 max"),
    ([3, 3, 2], dl.Sum(), dl.exponential(1.0), "0.9 max"),
    ([2] * 200, dl.Count(), dl.geometric(0.5), "0.9 max"),
    ([2] * 4, dl.Parity(), dl.laplace_threshold(1.0), "2.5"),
    ([2, 2, 3], dl.Identity(), dl.symmetric(0.2), "1 max"),
)
def test_hardly_any_time(sizes, query, mechanism, bound):
    question = support.problem(sizes, query, mechanism, bound)
    result = dl.solve(question, gap=1e-6, time_limit=0.001)
    assert dl.verify(question, result.certificate).proved
    assert result.termination in (dl.answers.Termination.TIME_LIMIT, dl.answers.Termination.GAP_REACHED)


@pytest.mark.parametrize("name", [*list(HARD)[:-1], pytest.param("distortion", marks=pytest.mark.thorough)])
def test_interrupt_returns_what_was_reached(name):
    """And of every moment that was told the interval is an honest one."""
    problem, calls = HARD[name](), list[dl.answers.Progress]()

    def progress(moment):
        calls.append(moment)
        if len(calls) == (1 if name in QUICK else 2):
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    result = dl.solve(problem, gap=1e-9, time_limit=300.0, progress=progress)
    assert signal.getsignal(signal.SIGINT) is before
    done = (dl.answers.Termination.GAP_REACHED,) if name in QUICK else ()
    assert_stopped(problem, result, (dl.answers.Termination.INTERRUPTED, *done))
    assert result.seconds < 30.0
    assert len(calls) >= (1 if name in QUICK else 2)
    for moment in calls:
        assert moment.lower <= result.upper + 1e-9
        assert result.lower <= moment.upper + 1e-9


def test_interrupt_in_the_middle_of_the_search(support, work_clock):
    """Ctrl-C does not wait for the search's share of the time limit (here 12 of 40 seconds)."""
    question = support.problem(dl.Records(400, alphabet=2), dl.Count(), dl.geometric(0.1), "0.99 max")
    work_clock.alarm(0.1, lambda: signal.raise_signal(signal.SIGINT))
    result = dl.solve(question, gap=1e-6, time_limit=40.0)
    assert result.termination is dl.answers.Termination.INTERRUPTED
    assert result.seconds < 1.0


def test_no_search_begins_after_a_signal(support, monkeypatch, work_clock):
    """Its first steps took seconds where a record has a thousand letters; the uniform prior is a witness, too."""
    from dalenius.audits import ascent, entropy_at_least

    made, scored, steps = entropy_at_least.record_channels, ascent.largest_score, list[object]()

    def pressed(problem):
        signal.raise_signal(signal.SIGINT)
        return made(problem)

    monkeypatch.setattr(entropy_at_least, "record_channels", pressed)
    monkeypatch.setattr(ascent, "largest_score", lambda *given, **more: steps.append(given) or scored(*given, **more))
    result = dl.solve(support.problem([2] * 6, dl.Count(), dl.geometric(1), "0.8 max"), gap=0.01)
    assert (result.termination, steps) == (dl.answers.Termination.INTERRUPTED, [])
    assert 0.0 < result.lower < result.upper


def pressed_while_checking(monkeypatch, work_clock, checks: int, at: int) -> None:
    """Ctrl-C in this check `at` a look, from which on each look of it takes a tenth of a second."""
    from dalenius import _prove

    verify, look = _prove.verify, Allowance.look
    begun, looks = list[object](), list[object]()

    def watched(*arguments, **options):
        begun.append(arguments)
        return verify(*arguments, **options)

    def slow(allowance):
        if len(begun) == checks and looks.append(allowance) is None and len(looks) == at:
            signal.raise_signal(signal.SIGINT)
        work_clock.now += 0.1 if len(begun) == checks and len(looks) >= at else 0.0
        look(allowance)

    monkeypatch.setattr(_prove, "verify", watched)
    monkeypatch.setattr(Allowance, "look", slow)


def test_a_signal_while_the_checker_runs_does_not_wait_for_it(support, monkeypatch, work_clock):
    """It once did, for seconds; what is shortly proved is left, and all of that takes two seconds at most."""
    question = support.problem([2] * 6, dl.Count(), dl.geometric(1), "0.8 max")
    pressed_while_checking(monkeypatch, work_clock, 1, at=5)
    result = dl.solve(question, gap=0.1, time_limit=60.0)
    monkeypatch.undo()
    assert result.termination is dl.answers.Termination.INTERRUPTED
    assert {refusal.limit for refusal in result.refusals} == {dl.answers.Termination.TIME_LIMIT}
    assert result.seconds < 2.0 + result.trace[-1].seconds
    assert dl.verify(question, result.certificate).proved


def test_what_was_proved_before_the_signal_is_handed_out(support, monkeypatch, work_clock):
    """The upper end, where the signal comes while the lower one is checked beside it."""
    from dalenius import _prove

    question = support.problem([2] * 4, dl.Count(), dl.geometric(1), "0.8 max")
    monkeypatch.setattr(_prove, "_together", lambda *_: None)
    whole = dl.solve(question, gap=0.03, time_limit=60.0)
    pressed_while_checking(monkeypatch, work_clock, 2, at=1)  # the tree is known from the first
    result = dl.solve(question, gap=0.03, time_limit=60.0)
    monkeypatch.undo()
    assert result.termination is dl.answers.Termination.INTERRUPTED
    assert (result.lower, result.upper) == (0.0, whole.upper)
    assert result.upper < 0.9 * math.log(2.0)
    assert dl.verify(question, result.certificate).proved


def test_a_witness_is_proved_where_nothing_from_above_is(support, monkeypatch, work_clock):
    """Every proof from above is stopped, and the witness is checked beside all there is to know."""
    from dalenius import _prove

    question = support.problem([2] * 6, dl.Count(), dl.geometric(1), "0.8 max")
    verify, look, long, looks = _prove.verify, Allowance.look, list[bool](), list[object]()

    def watched(problem, certificate, **options):
        long.append(float(certificate.header.upper) < 0.69)
        return verify(problem, certificate, **options)

    def slow(allowance):
        if long and long[-1] and looks.append(allowance) is None and len(looks) == 5:
            signal.raise_signal(signal.SIGINT)
        work_clock.now += 0.1 if long and long[-1] else 0.0
        look(allowance)

    monkeypatch.setattr(_prove, "verify", watched)
    monkeypatch.setattr(Allowance, "look", slow)
    result = dl.solve(question, gap=0.1, time_limit=60.0)
    assert result.termination is dl.answers.Termination.INTERRUPTED
    assert 0.01 < result.lower < math.log(2.0) <= result.upper


def test_second_interrupt_is_an_interrupt_as_usual():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        dl.solve(HARD["audit"](), gap=1e-6, time_limit=20.0, progress=lambda _: signal.raise_signal(signal.SIGINT))
    assert signal.getsignal(signal.SIGINT) is before


@each("name", "audit", "leakage")
def test_errors_of_the_callback_reach_the_caller(name):
    def progress(moment):
        raise ZeroDivisionError("mine")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError, match="mine"):
        dl.solve(HARD[name](), progress=progress)
    assert signal.getsignal(signal.SIGINT) is before


def test_solving_outside_the_main_thread(support):
    """Signals belong to the main thread; elsewhere everything but Ctrl-C works."""
    answers = []
    worker = threading.Thread(target=lambda: answers.append(dl.solve(support.parity4(1))))
    worker.start()
    worker.join(60)
    assert answers[0].termination is dl.answers.Termination.GAP_REACHED


@pytest.mark.thorough
def test_equal_seeds_equal_work(support):
    question = support.problem([2] * 3, dl.Count(), dl.geometric(1.0), "0.5 max")
    first, second = (dl.solve(question, gap=1e-2, time_limit=None, seed=7) for _ in range(2))
    assert first.certificate == second.certificate


# ---------------------------------------------------------------- the command line


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(OPEN)
    return path


def pressed(number: int, calls: int, monkeypatch) -> None:
    """Send the signal at a certain file that is put into place: while nothing searches."""
    replace, done = os.replace, []

    def then_press(source, target):
        replace(source, target)
        done.append(target)
        if len(done) == calls:
            signal.raise_signal(number)

    monkeypatch.setattr(os, "replace", then_press)


def table(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "curve.csv").read_text().splitlines()))


SWEEP = ["sweep", "model.toml", "-o", "out", "--points", "3", "--gap", "5e-2", "--time-limit", "100"]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_between_two_points_stops_the_sweep(model, tmp_path, command_line, monkeypatch, number):
    before = [signal.getsignal(one) for one in SIGNALS]
    pressed(number, 4, monkeypatch)  # the record of the first point, after the plan and its other files
    done = command_line(*SWEEP)
    assert done.returncode == 128 + number
    assert done.stderr.endswith("1 of 3 points are done and kept; the same command goes on\n" + WORDS[number])
    assert done.stdout.splitlines() == ["out/records.jsonl", "out/curve.csv", "out/curve-band.csv", "out/curve.png"]
    assert len(table(tmp_path / "out")) == 1
    assert [signal.getsignal(one) for one in SIGNALS] == before


@pytest.mark.campaign(minutes=1)
def test_a_signal_at_any_moment_of_a_sweep_stops_it(model, tmp_path, command_line, work_clock):
    """None is lost, and what is kept is proved; the point that was at work is done again, and the same command goes on to the end."""
    started = work_clock.now
    assert command_line(*SWEEP).returncode == 0
    whole, moments = work_clock.now - started, draws(1, 12, 60)
    records = dl.answers.Sweep.read(tmp_path / "out").records
    for j in range(moments):
        shutil.rmtree(tmp_path / "out")
        number = SIGNALS[j % 2]
        work_clock.alarm(whole * (j + 0.5) / moments, lambda number=number: signal.raise_signal(number))
        done = command_line(*SWEEP)
        assert done.returncode == 128 + number, (j, done.stderr)
        rows = table(tmp_path / "out") if (tmp_path / "out/curve.csv").exists() else []
        assert f"{len(rows)} of 3 points are done and kept" in done.stderr or len(rows) == 3
        for row in rows:
            certificate = tmp_path / "out" / row["certificate"]
            assert dl.verify(certificate.with_suffix(".toml"), certificate).proved
        assert command_line(*SWEEP).returncode == 0
        assert dl.answers.Sweep.read(tmp_path / "out").records == records


def test_a_second_signal_ends_at_once(model, tmp_path, command_line, work_clock):
    """Without an answer, but in one line; and what comes after hears signals as ever."""
    for seconds in (0.01, 0.0101):
        work_clock.alarm(seconds, lambda: signal.raise_signal(signal.SIGINT))
    done = command_line("solve", "model.toml", "--gap", "1e-9", "-o", "out")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == WORDS[signal.SIGINT]
    assert list((tmp_path / "out").glob("*")) == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", SIGNALS)
def test_a_stopped_solve_answers_and_says_so(model, tmp_path, command_line, work_clock, number):
    work_clock.alarm(0.01, lambda: signal.raise_signal(number))
    done = command_line("solve", "model.toml", "--gap", "1e-9", "--json", "-o", "out", "--require-gap", "0")
    answer = json.loads(done.stdout)
    assert answer["termination"] == "interrupted"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (128 + number, WORDS[number].strip())
    assert dl.verify(model, tmp_path / answer["certificate"]).proved


def test_a_signal_while_the_answer_is_written_does_not_lose_it(model, tmp_path, command_line, monkeypatch):
    pressed(signal.SIGTERM, 1, monkeypatch)
    done = command_line("solve", "model.toml", "--gap", "5e-2", "-o", "out")
    assert done.returncode == 143
    assert done.stdout.startswith("worst-case leakage")
    assert (tmp_path / "out/model.cert").exists()


@pytest.mark.thorough
def test_a_stopped_comparison_shows_what_is_done(model, command_line, monkeypatch):
    from dalenius.studies.contest import RIVALS, Rival

    class Pressing(Rival):
        def audited(self, family, seed, settings, clock):
            if not clock.expired:  # not where it is only asked whether it fits
                signal.raise_signal(signal.SIGINT)
            return super().audited(family, seed, settings, clock)

    monkeypatch.setitem(RIVALS, "slsqp", Pressing(**vars(RIVALS["slsqp"])))
    methods = "paper-aggregated,slsqp,trust-constr"
    arguments = ["compare", "model.toml", "--methods", methods, "--seeds", "1", "--gap", "5e-2", "-o", "out", "--json"]
    done = command_line(*arguments)
    answer = json.loads(done.stdout)
    assert done.returncode == 130
    assert [entry["method"] for entry in answer["methods"]] == ["paper-aggregated"]
    assert answer["unfinished"] == ["slsqp", "trust-constr"]
    assert answer["lower"] <= answer["upper"]
    assert [Path(file).name for file in answer["files"]] == [
        "model.compare.cert",
        "model.compare.csv",
        "model.compare.png",
    ]


def test_a_stopped_library_keeps_its_index_with_its_history(tmp_path, command_line, monkeypatch):
    """The signal comes while the first model's certificate is stored: the others wait."""
    names = ["identity/bit", "parity/laplace-n4"]
    for name in names:
        (tmp_path / name).parent.mkdir()
        shutil.copy(ROOT / f"models/{name}.toml", tmp_path / f"{name}.toml")
    (tmp_path / "sets.toml").write_text(f"minimal = {json.dumps(names)}\n")
    pressed(signal.SIGTERM, 1, monkeypatch)
    done = command_line("library", "tighten", "--folder", tmp_path)
    assert done.returncode == 143
    assert done.stdout.startswith("identity/bit: ")
    assert [row.name for row in history(tmp_path)] == ["identity/bit"]
    index = list(csv.DictReader((tmp_path / "index.csv").read_text().splitlines()))
    assert [row["name"] for row in index if row["lower"]] == ["identity/bit"]
    assert [model.tightness for model in library(folder=tmp_path)][1] == "unsolved"


IMPORTING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Press:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Press())
from dalenius_command import main
main()
"""


@each("number", *SIGNALS)
def test_a_signal_while_importing_is_one_line(number):
    code = IMPORTING.format(number=int(number))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", WORDS[number])


def test_the_program_begins_there():
    """And what it imports before it listens is in the standard library."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"dalenius": "dalenius_command:main"}
    tree = ast.parse((ROOT / "src/dalenius_command/__init__.py").read_text())
    named = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
    named += [alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names]
    assert set(named) <= sys.stdlib_module_names


@pytest.mark.thorough
def test_what_is_ignored_while_importing_stays_ignored():
    code = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{IMPORTING.format(number=15)}"
    code = code.replace("main()", "sys.argv[1:] = ['--version']\nmain()")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, f"dalenius {dl.__version__}\n")


# Designs with constraints, stopped at a moment, or with little time, memory or leaves: what they hand out is proved, and exact.


COUNT = {
    "records": dl.Records(3, alphabet=2),
    "query": dl.Count(),
    "distortion": dl.Absolute(),
    "adversary": dl.EntropyAtLeast("0.8 max"),
}
CAPPED = [dl.constraints.ErrorCap("0.6"), dl.LocalDP("log 9")]
DESIGNS = {
    "rows": dl.MinLeakage(**COUNT, max_distortion="0.5", constraints=CAPPED),
    "a second adversary": dl.MinLeakage(
        **COUNT, max_distortion="0.5", constraints=[*CAPPED, dl.constraints.LeakageLimit(dl.ProductPriors(), "0.2")]
    ),
    "a budget of leakage": dl.MinDistortion(**COUNT, max_leakage="0.2 nats", constraints=CAPPED),
}
MOMENTS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]  # seconds of work
LIMITS = [{"memory_limit": 1.0}, {"node_limit": 1}, {"time_limit": 0.01}, {"time_limit": 0.3}]
STOPPED = {dl.answers.Termination.INTERRUPTED, dl.answers.Termination.SIZE_LIMIT, dl.answers.Termination.TIME_LIMIT}


def attempted(name: str, **options: float) -> dl.answers.DesignResult | None:
    """Solved, with what is promised whatever stopped it; None where there was no time to find a mechanism that meets everything."""
    result = support.solve_design(DESIGNS[name], **{"gap": 1e-6, "time_limit": 0.5} | options)
    if result.feasible:
        return result
    assert result.lower < result.upper
    assert result.termination in STOPPED
    return None


@pytest.mark.parametrize("moment", thinned(MOMENTS, every=12))
@pytest.mark.parametrize("name", DESIGNS)
def test_ctrl_c_at_any_moment(work_clock, name, moment):
    work_clock.alarm(moment, lambda: signal.raise_signal(signal.SIGINT))
    before = signal.getsignal(signal.SIGINT)
    result = attempted(name, time_limit=100.0)
    assert signal.getsignal(signal.SIGINT) is before
    assert result is not None or name != "rows"
    assert result is None or result.termination is dl.answers.Termination.INTERRUPTED
    assert result is None or result.seconds < 10.0


@pytest.mark.parametrize("limits", thinned(LIMITS, every=2), ids=str)
@pytest.mark.parametrize("name", DESIGNS)
def test_hardly_any_time_memory_or_leaves(work_clock, name, limits):
    result = attempted(name, **limits)
    assert result is not None or name != "rows" or "time_limit" in limits
    assert result is None or result.termination in STOPPED
    if result is not None and limits == {"memory_limit": 1.0}:
        assert len(result.certificate.text) < 2**20
