"""Tiny limits, Ctrl-C in the middle of the race of trees, and the trace: less work makes an interval wider, never wrong."""

import csv
import dataclasses
import io
import itertools
import math
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each, thinned
from dalenius.audits.record_audit import checkpoint_of
from dalenius.model.costs import Cost, Costs
from dalenius.report import save_picture, trace_picture, trace_table
from dalenius.search import checkpoint, tree
from dalenius.search.checkpoint import Checkpoint
from dalenius.search.clock import Clock
from dalenius.search.tree import Leaf
from dalenius_check.core.allowance import Allowance, LimitError
from dalenius_check.core.arithmetic import fmpq
from dalenius_check.lemmas import releases

ROOT = Path(__file__).parents[2]
PARITY = (ROOT / "models/parity/laplace-n4.toml").read_text()
TREES = {"posterior", "dual tree"}
ROUNDING = 2e-7  # the two outermost roundings that a result may have had


def count(support, bound="0.5 max"):
    """Takes seconds and more than a thousand leaves to three digits."""
    return support.problem([2] * 8, dl.Count(), dl.geometric(0.5), bound)


def several(support):
    """Three bits through randomised response on the whole dataset: three kinds of record, never done."""
    return support.problem([2] * 3, dl.Identity(), dl.randomized_response(1.0, k=8), "0.5 max")


def random_channel(support, seed: int, bound="0.7 max"):
    """Two records of four letters each, a random row for every dataset."""
    counts = support.random_counts(np.random.default_rng(seed), 16, 3)
    return support.problem([4, 4], None, dl.Channel(support.exact_rows(counts), inputs="dataset"), bound)


def searched(support, question, records=None) -> tuple[float, float]:
    """What a brute force finds, and a millionth more, where it is not known to have found the last digit."""
    best = support.brute_force(question, np.random.default_rng(0), records=records)
    return best, best * (1.0 + 1e-6)


# name -> (problem, the leakage as a range)
KNOWN = {
    "parity": (lambda s: s.parity4("2.5 nats"), lambda s, q: (s.gerber(4, math.exp(-0.5) / 2, 2.5),) * 2),
    "no entropy bound": (
        lambda s: s.problem([2] * 4, dl.Count(), dl.geometric(0.5), 0),
        lambda s, q: s.without_entropy(q),
    ),
    "count": (count, lambda s, q: searched(s, q, [0])),
    "several": (several, searched),
    "random": (lambda s: random_channel(s, 2), searched),
}

SIZE, TIME = dl.answers.Termination.SIZE_LIMIT, dl.answers.Termination.TIME_LIMIT
LIMITS = {
    "one leaf": ({"node_limit": 1}, SIZE),
    "thirty leaves": ({"node_limit": 30}, SIZE),
    "one byte": ({"memory_limit": 1e-6}, SIZE),
    "fifty kilobytes": ({"memory_limit": 0.05}, SIZE),
    "a nanosecond": ({"time_limit": 1e-9}, TIME),
    "a fiftieth of a second": ({"time_limit": 0.02}, TIME),
    "nothing at all": ({"node_limit": 1, "memory_limit": 1e-9, "time_limit": 1e-9}, TIME),
}


@pytest.mark.parametrize("limit", thinned(LIMITS, every=2))
@pytest.mark.parametrize("name", thinned(KNOWN, every=4))
def test_tiny_limits(support, name, limit):
    """The interval contains the leakage, the certificate holds, and the reason given for stopping is the true one."""
    make, value = KNOWN[name]
    question = make(support)
    limits, reason = LIMITS[limit]
    result = dl.solve(question, **({"gap": 1e-9, "time_limit": 60.0} | limits))
    low, high = value(support, question)
    assert result.lower <= high
    assert low <= result.upper
    assert dl.verify(question, result.certificate).proved
    assert result.seconds < 30.0
    assert result.termination is (dl.answers.Termination.GAP_REACHED if result.gap <= 1e-9 else reason)
    assert result.trace


@pytest.mark.thorough
@pytest.mark.parametrize("limit", thinned([100, 400], every=2))
@pytest.mark.parametrize("name", thinned(["random", "count", "several"], every=3))
def test_no_record_gets_many_more_leaves_than_the_node_limit(support, name, limit):
    """A tree stops at the first look after its limit: one step more is all it may have.

    That is a batch of boxes; of a dual tree it is a box halved, whose row leaves go to both halves before they are refined.
    """
    result = dl.solve(KNOWN[name][0](support), gap=1e-9, node_limit=limit, time_limit=5.0)
    for part in result.records:
        assert part.method == "vertices" or part.leaves <= (2 * limit if part.method == "dual tree" else limit + 200), (
            part
        )


def test_no_limits_are_no_limits(support):
    """None everywhere: the work ends because it is done."""
    question = support.parity4("2.5 nats")
    result = dl.solve(question, gap=1e-6, time_limit=None, node_limit=None, memory_limit=None)
    assert result.termination is dl.answers.Termination.GAP_REACHED
    support.assert_contains(result, support.gerber(4, math.exp(-0.5) / 2, 2.5), gap=1e-6)


WHAT = {"node_limit": "leaves", "memory_limit": "mebibytes", "time_limit": "seconds"}


@each("value", 0, -1, -0.5, math.nan, -math.inf, "9", True, [], 1j)
@each("name", *WHAT)
def test_bad_limits(support, name, value):
    """One error that names the argument, what it is a number of, and what it got."""
    with pytest.raises(dl.errors.InputError) as caught:
        dl.solve(support.parity4(1), **{name: value})
    message = str(caught.value)
    assert message.startswith(f"{name}: expected a number of {WHAT[name]} above 0, or None, got {value!r}")
    assert "\n" not in message


# ---------------------------------------------------------------- Ctrl-C


@pytest.mark.thorough
@pytest.mark.parametrize("name", thinned(["random", "count", "several"], every=3))
def test_interrupt_in_the_middle_of_the_race(support, name):
    """Ctrl-C as soon as a tree has improved the bound by a percent, or after some work without: what was told is proved."""
    told: list[dl.answers.Progress] = []

    def progress(moment: dl.answers.Progress) -> None:
        told.append(moment)
        first = next((earlier for earlier in told if earlier.stage in TREES), moment)
        improved = moment.upper < 0.99 * first.upper or moment.seconds > first.seconds + 0.3
        if moment.stage in TREES and improved and not sent:
            sent.append(moment)
            signal.raise_signal(signal.SIGINT)

    sent: list[dl.answers.Progress] = []
    make, value = KNOWN[name]
    question = make(support)
    before = signal.getsignal(signal.SIGINT)
    result = dl.solve(question, gap=1e-9, time_limit=100.0, progress=progress)
    assert signal.getsignal(signal.SIGINT) is before
    low, high = value(support, question)
    assert result.lower <= high
    assert low <= result.upper
    assert result.termination is dl.answers.Termination.INTERRUPTED
    assert dl.verify(question, result.certificate).proved
    assert result.upper <= sent[0].upper + ROUNDING
    assert result.lower >= sent[0].lower - ROUNDING
    assert result.trace[-1].stage == "proving"


# ---------------------------------------------------------------- the trace


def every_moment(monkeypatch) -> None:
    """No moment is left out because the last one was just told."""
    tell = Clock.tell

    def tell_now(self, stage, lower, upper, evidence, *, record=None, rounds=0, now=False):
        tell(self, stage, lower, upper, evidence, record=record, rounds=rounds, now=True)

    monkeypatch.setattr(Clock, "tell", tell_now)


TRACED = {
    "parity": lambda s: s.parity4("2.5 nats"),
    "count": count,
    "several": several,
    **{f"random {seed}": (lambda s, seed=seed: random_channel(s, seed)) for seed in range(6)},
}


@pytest.mark.parametrize("name", thinned(TRACED, every=4))
def test_the_bounds_of_a_trace_never_get_worse(support, monkeypatch, name):
    """Lower never falls, upper never rises, time runs on, and the last moment is the result before rounding."""
    every_moment(monkeypatch)
    result = dl.solve(TRACED[name](support), gap=1e-6, time_limit=0.5)
    assert result.trace
    for earlier, later in itertools.pairwise(result.trace):
        assert earlier.seconds <= later.seconds <= result.seconds
        assert earlier.lower <= later.lower
        assert earlier.upper >= later.upper, (earlier, later)
    last = result.trace[-1]
    assert last.stage == "proving"
    assert result.lower == pytest.approx(last.lower, abs=ROUNDING)
    assert result.upper == pytest.approx(last.upper, abs=ROUNDING)


@pytest.fixture(scope="module")
def traced(support):
    """An audit that runs out of time, and what it told meanwhile."""
    told: list[dl.answers.Progress] = []
    return dl.solve(count(support), gap=1e-6, time_limit=0.5, progress=told.append), told


def test_progress_and_trace_are_the_same_moments(traced):
    result, told = traced
    assert tuple(told) == result.trace


@each("adversary", dl.EntropyAtLeast("1 max"), dl.ProductPriors(), dl.PriorSet([["1/16"] * 16]))
def test_every_adversary_leaves_a_trace(support, adversary):
    result = dl.solve(support.parity4(adversary))
    assert result.trace
    assert result.lower <= result.trace[-1].upper + ROUNDING
    assert result.trace[-1].lower <= result.upper + ROUNDING


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@each("units, size", ("nats", 1.0), ("bits", math.log(2.0)))
def test_the_table_of_a_trace(traced, units, size):
    """One line a moment, bounds in the units asked for and rounded outward; in the last one the interval that is proved."""
    result, _ = traced
    trace = result.trace
    *rows, last = table(trace_table(result.to(units)))
    assert (last["stage"], int(last["evidence"])) == ("proved", result.certificate.lines)
    assert (last[f"lower_{units}"], last[f"upper_{units}"]) == result.to(units).ends
    assert len(rows) == len(trace) >= 2
    for row, moment in zip(rows, trace, strict=True):
        assert (row["stage"], row["round"], int(row["evidence"])) == (moment.stage, "", moment.evidence)
        assert row["record"] == ("" if moment.record is None else str(moment.record))
        assert float(row["seconds"]) == pytest.approx(moment.seconds, abs=1e-3)
        assert float(row[f"lower_{units}"]) * size <= moment.lower * (1.0 + 1e-15)
        assert float(row[f"upper_{units}"]) * size >= moment.upper * (1.0 - 1e-15)
        loss = 0.01 * (moment.upper - moment.lower) + 1e-12 * moment.upper
        assert float(row[f"upper_{units}"]) * size == pytest.approx(moment.upper, abs=loss)


@pytest.mark.parametrize(
    ("ending", "head"), thinned([("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")], every=3)
)
def test_the_picture_of_a_trace(support, tmp_path, ending, head):
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install matplotlib")
    result = dl.solve(support.parity4(1)).to("bits")
    path = save_picture(trace_picture(result, title="parity"), tmp_path / f"trace.{ending}")
    assert path.read_bytes().startswith(head)


def test_a_picture_calls_proved_only_what_is(support):
    """The search's own numbers need not be provable; the interval that was proved stands at the end."""
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install matplotlib")
    result = dl.solve(support.parity4(1))
    ax = trace_picture(dataclasses.replace(result, lower=0.0, upper=0.5))
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert [label for label in lines if "proved" in label] == ["proved in the end"]
    assert list(lines["proved in the end"].get_ydata()) == [0.0, 0.5]
    assert list(lines["bound of the search, from above"].get_ydata()) == [moment.upper for moment in result.trace]


def test_pictures_that_cannot_be_drawn(support, tmp_path):
    """Where nothing is feasible, a missing folder and an unknown ending are one clear error each."""
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install matplotlib")
    support.refused(lambda: trace_picture(dl.solve(dl.load("infeasible/negative-leakage"))), "no interval to draw")
    result = dl.solve(support.parity4(1))
    for path in (tmp_path / "nowhere" / "trace.png", tmp_path / "trace.nonsense"):
        with pytest.raises(dl.errors.InputError, match="cannot be written"):
            save_picture(trace_picture(result), path)


# ---------------------------------------------------------------- the command line


def test_the_command_line_writes_the_trace_beside_the_certificate(support, tmp_path, command_line):
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install matplotlib")
    (tmp_path / "my.model.toml").write_text(PARITY)
    solved = command_line("solve", "my.model.toml", "--trace", "-o", "out", "--units", "bits")
    assert solved.returncode == 0, solved.stderr
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["my.model.cert", "my.model.trace.csv", "my.model.trace.png"]
    rows = table((tmp_path / "out/my.model.trace.csv").read_text())
    assert [row["stage"] for row in rows[-2:]] == ["proving", "proved"]
    exact = 1.0 - support.binary_entropy(math.exp(-0.5) / 2) / math.log(2.0)
    for row, loss in zip(rows[-2:], (ROUNDING, 0.0), strict=True):
        assert float(row["lower_bits"]) - loss <= exact <= float(row["upper_bits"]) + loss
    assert (tmp_path / "out/my.model.trace.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_that_ends_before_its_first_moment_has_an_empty_trace(tmp_path, command_line):
    """Nothing is searched where no mechanism meets the budget: the table has its head alone, and there is nothing to draw."""
    solved = command_line("solve", "infeasible/negative-leakage", "--trace", "-o", "out")
    assert solved.returncode == 0, solved.stderr
    assert not list((tmp_path / "out").glob("*.png"))
    assert (tmp_path / "out/negative-leakage.trace.csv").read_text().count("\n") == 1


def test_limits_on_the_command_line(tmp_path, command_line):
    """A node limit ends the work early, and the answer says so."""
    hard = PARITY.replace('"parity"', '"count"').replace('"laplace_threshold"', '"geometric"')
    (tmp_path / "model.toml").write_text(hard)
    solved = command_line("solve", "model.toml", "--node-limit", "1", "--json")
    assert solved.returncode == 0, solved.stderr
    assert '"termination": "size_limit"' in solved.stdout


# ---------------------------------------------------------------- more time


@pytest.mark.thorough
@pytest.mark.parametrize("name", thinned(["random", "count", "several"], every=3))
def test_more_time_never_makes_an_interval_wider(support, name):
    """Eight times the seconds each: far more than a busy machine takes away, and the seed is the same."""
    question = KNOWN[name][0](support)
    results = [dl.solve(question, gap=1e-9, time_limit=limit) for limit in (0.01, 0.08, 0.64)]
    for shorter, longer in itertools.pairwise(results):
        support.assert_overlap(shorter, longer)
        assert longer.upper - longer.lower <= shorter.upper - shorter.lower + ROUNDING


# ---------------------------------------------------------------- the proof is within the limits, too


def identity(support, letters: int, adversary="0.5 max"):
    """A letter through a symmetric channel; proving what it leaks takes numbers in proportion to the square of the letters."""
    return support.problem([letters], dl.Identity(), dl.symmetric(0.2), adversary)


def test_too_large_to_search_is_still_an_interval(support):
    """700 letters in 64 MiB: [0, log 700], proved, and no more is held than that takes."""
    result = dl.solve(identity(support, 700), memory_limit=64.0)
    assert result.termination is SIZE
    assert (result.lower, result.upper) == (0.0, pytest.approx(math.log(700), rel=1e-9))
    assert [part.method for part in result.records] == ["letters"]
    assert result.certificate.lines == 4
    assert result.refusals == ()


def test_too_late_to_search_is_still_an_interval(support, monkeypatch):
    """The same for want of time: without the second that is always granted, in which a fast machine proves all."""
    monkeypatch.setattr("dalenius._prove.LEAST_SECONDS", 0.0)
    result = dl.solve(identity(support, 900), time_limit=1e-3)
    assert result.termination is TIME
    assert (result.lower, result.upper) == (0.0, pytest.approx(math.log(900), rel=1e-9))


def test_what_cannot_be_proved_within_the_limits_is_said_before_it_is_tried(support, monkeypatch):
    """One line that says what it would take; and it is the limits that it depends on."""
    question = support.problem([2] * 4, dl.Count(), dl.geometric(0.5), dl.PriorSet([["1/16"] * 16]))
    monkeypatch.setattr("dalenius.search.run.CERTAIN_SECONDS", 0.0)
    monkeypatch.setattr("dalenius.audits.audit.Audit.lowers", lambda self: pytest.fail("it was tried"))
    with pytest.raises(dl.errors.DaleniusError) as caught:
        dl.solve(question, time_limit=1e-9)
    message = str(caught.value)
    assert message.startswith("nothing can be proved about this model within its limits: reading it and its channel")
    assert "time_limit" in message
    assert "\n" not in message


def test_more_selections_than_the_checker_looks_at_are_refused_when_the_model_is_read(support):
    """Two outputs, and so a small channel; but a letter of one of two records selects any of 2100 inputs out of 4199."""
    rows = [["3/4", "1/4"] if v < 2000 else ["1/4", "3/4"] for v in range(4199)]
    question = support.problem([2100, 2100], dl.Sum(), dl.Channel(rows), dl.ProductPriors())
    for asked in (lambda: dl.loads(dl.dumps(question)), lambda: dl.solve(question)):
        with pytest.raises(dl.errors.InputError, match=r"selections of record 0 hold .* numbers .* coarsen"):
            asked()


@pytest.mark.parametrize("adversary", [dl.PriorSet([["1/16"] * 16]), dl.ProductPriors(), dl.EntropyAtLeast("0.5 max")])
def test_what_needs_no_search_is_proved_although_that_takes_longer_than_the_limit(support, monkeypatch, adversary):
    """However low the limit is, and although the machine is far slower than was predicted."""
    monkeypatch.setattr("dalenius.search.run.LEAST_SECONDS", 0.0)
    monkeypatch.setattr("dalenius._prove.LEAST_SECONDS", 0.0)
    monkeypatch.setattr("dalenius._prove.CERTAIN_ROOM", 0.0)
    result = dl.solve(support.problem([2] * 4, dl.Count(), dl.geometric(0.5), adversary), time_limit=1e-9)
    assert 0.0 <= result.lower <= result.upper <= math.log(2) * (1 + 1e-9)
    assert result.termination is TIME or result.gap <= 1e-4


def test_what_needs_no_search_is_proved_although_the_machine_has_other_work(support, monkeypatch):
    """Two minutes pass from one look at the clock to the next, and hardly any work is done."""
    minutes = itertools.count(step=120.0)
    monkeypatch.setattr("dalenius_check.core.allowance.monotonic", lambda: next(minutes))
    result = dl.solve(support.problem([2] * 4, dl.Count(), dl.geometric(0.5), "1 max"))
    assert result.termination is TIME
    assert (result.lower, result.upper) == (0.0, pytest.approx(math.log(2), rel=1e-9))


def test_seconds_are_those_of_the_proof_too(support, monkeypatch, work_clock):
    """Ten seconds of the clock pass in the checker: the result says so."""
    from dalenius import _prove

    verify = _prove.verify

    def slow(*arguments, **options):
        work_clock.now += 10.0
        return verify(*arguments, **options)

    monkeypatch.setattr(_prove, "verify", slow)
    for question in (support.parity4(1), support.problem([2] * 3, dl.Count(), dl.geometric(0.5), "1 max")):
        assert dl.solve(question, time_limit=60.0).seconds >= 10.0


@pytest.mark.thorough
def test_a_proof_that_takes_too_long_leaves_what_is_shortly_proved(monkeypatch):
    """It once cost both ends: 0 .. log letters, where three seconds less had proved an interval."""
    from dalenius import _prove
    from dalenius.audits import record_audit
    from dalenius_check import Status, Verdict

    verify, tried, long = _prove.verify, list[int](), 6

    def slow(problem, certificate, **options):
        tried.append(certificate.text.count('"split"'))
        if tried[-1] > long:
            return Verdict(Status.UNDECIDED, "certificate line 40: limit: 5 seconds", cause="limit", allowed="seconds")
        return verify(problem, certificate, **options)

    monkeypatch.setattr(_prove, "verify", slow)
    monkeypatch.setattr(record_audit, "SHORT", long)
    question = dl.load("count/geometric-n8-b0.8")
    result = dl.solve(question, gap=0.03, node_limit=80, time_limit=4.0)
    assert max(tried) > long
    assert 0.1 < result.lower < result.upper < 0.69315
    assert {refusal.limit for refusal in result.refusals} == {TIME}
    assert result.termination in (TIME, dl.answers.Termination.SIZE_LIMIT)
    assert dl.verify(question, result.certificate).proved


@pytest.mark.thorough
def test_no_tree_grows_in_the_time_that_the_best_ones_proof_needs(monkeypatch):
    """Another tree with few leaves once went on to the end."""
    from dalenius.audits import audit_within, tree_room
    from dalenius.audits.entropy_at_least import EntropyAudit
    from dalenius.search import Limits, Run

    monkeypatch.setattr(tree_room, "FIXED", 5e-4 * 40)  # few leaves that take long
    audit = audit_within(dl.load("count/geometric-n8-b0.8"), Run.of(Limits(gap=1e-9, time_limit=2.0)))
    assert isinstance(audit, EntropyAudit)
    audit.run()
    assert audit.checking > 0.5
    assert audit.clock.remaining >= 0.5 * audit.checking


def test_a_proof_that_passes_a_limit_is_no_defect(support, monkeypatch, recwarn):
    """The checker runs out of what it was given: a wider interval, the limit as the reason, no warning."""
    from dalenius import _prove
    from dalenius_check import Status, Verdict

    verify = _prove.verify

    def short(problem, certificate, **options):
        if "null" not in certificate.text.split("\n")[1]:
            return Verdict(Status.UNDECIDED, "certificate line 3: limit: 5 seconds", cause="limit", allowed="seconds")
        return verify(problem, certificate, **options)

    monkeypatch.setattr(_prove, "verify", short)
    question = support.parity4(1)
    result = dl.solve(question)
    assert result.lower == 0.0
    assert result.termination is TIME
    assert {refusal.limit for refusal in result.refusals} == {TIME}
    assert not recwarn.list
    assert dl.verify(question, result.certificate).proved


def test_no_prediction_decides_whether_a_proof_is_tried(support, monkeypatch, work_clock):
    """A matrix of 400 rows, which was predicted to take 3.6 s and takes 1.3, once had 0 .. log 400 for an answer within 3."""
    question = support.parity4(1)
    monkeypatch.setattr(type(question), "costs", Costs(Cost(0.5), leaf=Cost(1000.0)))
    assert dl.solve(question, gap=1e-3, time_limit=5.0).gap <= 1e-3


def test_where_the_best_proof_takes_too_long_what_was_proved_before_is_handed_out(monkeypatch):
    """Not the logarithm of the letters: what is found is proved while it is found."""
    from dalenius import _prove
    from dalenius.audits import bounding
    from dalenius_check import Status, Verdict

    verify = _prove.verify

    def short(problem, certificate, **options):
        if certificate.text.count('["row"') > 250:
            return Verdict(Status.UNDECIDED, "certificate line 300: limit: 5 seconds", cause="limit", allowed="seconds")
        return verify(problem, certificate, **options)

    monkeypatch.setattr(_prove, "verify", short)
    monkeypatch.setattr(bounding, "SOON", 0.01)
    monkeypatch.setattr(bounding, "RARELY", 0.0)  # so that it is no matter how busy the machine is
    question = support.problem(dl.Records(100, alphabet=2), dl.Count(), dl.geometric("0.1"), "0.98 max")
    result = dl.solve(question, gap=5e-2, time_limit=60.0)
    assert {refusal.limit for refusal in result.refusals} == {TIME}
    assert 5e-2 < result.gap < 0.3  # 74 % without
    assert result.lower > 0.18


def test_ctrl_c_in_the_first_seconds_of_a_long_limit_leaves_what_a_second_proves(support, monkeypatch, work_clock):
    """However long the search from below would go on: all is bounded once before it may."""
    from dalenius.audits import entropy_at_least

    search = entropy_at_least.search

    def endless(channel, *, clock, **options):
        found, until = search(channel, clock=clock, **options), work_clock.now + 4.0
        while not clock.expired:
            if work_clock.now > until:
                signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(entropy_at_least, "search", endless)
    question = count(support, "0.8 max")
    brief, result = (dl.solve(question, gap=0.05, time_limit=limit) for limit in (1.0, 3600.0))
    assert result.upper <= brief.upper * 1.001 < 0.9 * math.log(2.0)


# An audit that is killed goes on from its checkpoint, to the same bounds in fewer steps; what is wrong in one proves nothing.


def hard(share, records=6):
    return support.problem(dl.Records(records, alphabet=2), dl.Count(), dl.geometric(1.0), share)


def leaves_in(family):
    """Of what takes a leaf's place: a list of leaves, or cuts with leaves."""
    if isinstance(family, tree.Leaf):
        return [family]
    return [leaf for part in getattr(family, "parts", family) for leaf in leaves_in(part)]


@pytest.fixture
def bounded(monkeypatch):
    """The nodes that trees have bounded."""
    found = []
    grow = tree.Tree.grow

    def counted(self, parts, batch=1, **options):
        def noted(leaves):
            families = parts(leaves)
            found.extend(leaf for family in families for leaf in leaves_in(family))
            return families

        return grow(self, noted, batch, **options)

    monkeypatch.setattr(tree.Tree, "grow", counted)
    return found


def killed_at(number, work):
    """Do the work in a fork with a checkpoint after every step, and a kill right after so many; how it ended."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    write, done = Checkpoint.write, []

    def counted(self, entries):
        write(self, entries)
        done.append(1)
        if len(done) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        checkpoint.EVERY = checkpoint.DEARER = 0.0
        Checkpoint.write = counted
        work()
    finally:
        os._exit(99)


CASES = [
    (hard("0.95 max", 4), 3e-3, 8, "dual"),
    pytest.param(hard("0.5 max"), 2e-2, 16, "posterior", marks=pytest.mark.thorough),
    pytest.param(hard("0.95 max"), 1e-2, 15, "dual", marks=pytest.mark.thorough),
    pytest.param(hard("0.95 max", 8), 0.05, 30, "dual", marks=pytest.mark.thorough),  # in groups of outputs
    pytest.param(support.rows_of_two(), 5e-3, 20, "dual tree", marks=pytest.mark.thorough),
]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the test forks: run it on another system")
@pytest.mark.parametrize(("question", "gap", "number", "method"), CASES)
def test_a_killed_audit_goes_on(bounded, tmp_path, support, question, gap, number, method):
    path = tmp_path / "file"
    alone = dl.solve(question, gap=gap, time_limit=None)
    needed = len(bounded)
    assert killed_at(number, lambda: dl.solve(question, gap=gap, time_limit=None, checkpoint=path)) == -signal.SIGKILL
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    bounded.clear()
    again = dl.solve(question, gap=gap, time_limit=None, checkpoint=path)
    assert len(bounded) < 0.95 * needed
    assert again.gap <= gap
    assert again.termination is dl.answers.Termination.GAP_REACHED
    assert method in {proof.method for proof in again.records}
    support.assert_overlap(again, alone)
    assert again.lower >= alone.lower * (1.0 - 1e-9)
    assert not path.exists()  # there is nothing left to go on with


@pytest.mark.thorough
def test_a_limit_is_a_reason_to_go_on_too(tmp_path, bounded):
    """The state at a limit is written; with more of it, the answer is better."""
    question, path = hard("0.5 max"), tmp_path / "file"
    first = dl.solve(question, gap=1e-2, node_limit=30, time_limit=None, checkpoint=path)
    assert first.termination is dl.answers.Termination.SIZE_LIMIT
    before = len(bounded)
    bounded.clear()
    second = dl.solve(question, gap=1e-2, node_limit=30, time_limit=None, checkpoint=path)
    assert len(bounded) < 0.3 * before
    assert second.upper <= first.upper * (1.0 + 1e-9)
    assert second.lower >= first.lower * (1.0 - 1e-9)


@pytest.mark.filterwarnings("ignore::dalenius.errors.ProofRefusedWarning")
def test_what_is_false_in_it_is_not_believed(tmp_path):
    """Boxes that are said to be closed, with a digest that fits: the proof is refused, and the answer is wide and true."""
    question, path = hard("0.5 max"), tmp_path / "file"
    true = dl.solve(question, gap=1e-2, node_limit=60, time_limit=None, checkpoint=path)
    file = checkpoint_of(path, question)
    entries = []
    for name, text in file._lines:
        mark, thing = file._plain.read(text)
        if name.startswith("posterior"):
            thing = {
                number: replace(node, bound=0.5 * true.lower) if isinstance(node, Leaf) else node
                for number, node in thing.items()
            }
        entries.append((name, mark, thing))
    file._lines = []
    file.write(entries)
    result = dl.solve(question, gap=5e-2, time_limit=None, checkpoint=path)
    assert result.lower >= true.lower * (1.0 - 1e-9)
    assert result.upper >= true.lower
    assert dl.verify(question, result.certificate).proved


def test_another_question_is_refused(tmp_path):
    path = tmp_path / "file"
    dl.solve(hard("0.5 max"), gap=1e-2, node_limit=20, time_limit=None, checkpoint=path)
    support.refused(lambda: dl.solve(hard("0.6 max"), checkpoint=path), "a checkpoint of another model: expected ")
    path.write_bytes(path.read_bytes()[:-20])
    support.refused(lambda: dl.solve(hard("0.5 max"), checkpoint=path), "checkpoint")


def test_another_gap_begins_trees_anew(tmp_path):
    """Cuts are made for a target; the witness is kept."""
    question, path = hard("0.95 max", 4), tmp_path / "file"
    dl.solve(question, gap=1e-3, node_limit=50, time_limit=None, checkpoint=path)
    assert dl.solve(question, gap=2e-2, time_limit=None, checkpoint=path).gap <= 2e-2


@pytest.mark.parametrize(
    ("question", "options", "reason"),
    [
        (replace(hard("0.5 max"), adversary=dl.ProductPriors()), {}, "checkpoint: an audit against entropy_at_least"),
        (hard("0.5 max"), {"method": "alternating"}, "checkpoint: an audit against entropy_at_least"),
        (hard("0.5 max"), {"checkpoint": 3}, "checkpoint: expected a path, or None, got 3"),
        (hard("0.5 max"), {"checkpoint": "none/file"}, "none: cannot be written into"),
    ],
)
def test_where_there_is_none(tmp_path, question, options, reason):
    with pytest.raises(dl.errors.InputError, match=reason):
        dl.solve(question, **{"checkpoint": tmp_path / "file", **options})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_no_place(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    support.refused(lambda: dl.solve(hard("0.9 max"), checkpoint=tmp_path / "pipe"), "not a regular file")


def releases_against(support, adversary):
    """What the checker makes a large channel of, were there more of them."""
    return support.problem([2] * 4, dl.Count(), dl.several_releases(dl.geometric(0.2), times=4), adversary)


@each("adversary", dl.IndependentBlocks(2), dl.AnyPrior())
def test_an_interval_comes_of_releases_whose_channel_takes_all_the_time(support, monkeypatch, adversary):
    """Nothing reveals more than all there is to know, and that is proved without a row."""

    def endless(parts, inputs, allowance):
        raise LimitError("the seconds that were left to it", "seconds")

    monkeypatch.setattr(releases, "together", endless)
    result = dl.solve(releases_against(support, adversary))
    assert result.lower == 0.0
    assert math.log(2.0) <= result.upper <= math.log(2.0) + ROUNDING
    assert result.termination is dl.answers.Termination.TIME_LIMIT


@each("adversary", dl.IndependentBlocks(2), dl.AnyPrior())
def test_the_channel_of_releases_is_made_once_for_all_checks(support, monkeypatch, adversary):
    made, together = [], releases.together

    def counted(parts, inputs, allowance):
        made.append(inputs)
        return together(parts, inputs, allowance)

    monkeypatch.setattr(releases, "together", counted)
    question = releases_against(support, adversary)
    result = dl.solve(question, gap=0.01)
    assert 0.0 < result.lower <= result.upper < math.log(2.0)
    (one,) = question.asked if isinstance(adversary, dl.IndependentBlocks) else [question]
    assert made == [one.shape[0]]
    assert one.costs.leaf.seconds > one.costs.certain.seconds


def test_listing_types_of_releases_looks_at_the_clock(monkeypatch):
    monkeypatch.setattr(releases, "product_rows", None)
    with pytest.raises(LimitError, match="0 seconds"):
        releases.together([([[fmpq(1, 2), fmpq(1, 2)]], 3)], 1, Allowance(0))
