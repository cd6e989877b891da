"""Time limits, Ctrl-C and failing callbacks: what was reached is proved and honestly labelled."""

from __future__ import annotations

import signal
import threading

import pytest

import dalenius as dl


def hard(support):
    """Takes far longer than any test: three bits released through randomised response on the whole dataset."""
    return support.problem([2] * 3, dl.Identity(), dl.randomized_response(1.0, k=8), "0.5 max")


def interrupter(times: int):
    """A progress callback that sends SIGINT on its first calls."""
    calls: list[dl.Progress] = []

    def progress(moment: dl.Progress) -> None:
        calls.append(moment)
        if len(calls) <= times:
            signal.raise_signal(signal.SIGINT)

    return progress, calls


@pytest.mark.parametrize("limit", [0.001, 0.05, 0.5])
def test_time_limit(support, limit):
    question = hard(support)
    result = dl.solve(question, gap=1e-6, time_limit=limit)
    assert result.termination is dl.Termination.TIME_LIMIT
    assert dl.verify(question, result.certificate).proved
    assert 0.0 <= result.lower <= result.upper
    assert result.seconds < 30.0


@pytest.mark.parametrize(
    ("sizes", "query", "mechanism", "bound"),
    [
        ([2] * 4, dl.Count(), dl.geometric(1.0), "0.7 max"),
        ([3, 3, 2], dl.Sum(), dl.exponential(1.0), "0.9 max"),
        ([2] * 200, dl.Count(), dl.geometric(0.5), "0.9 max"),
        ([2] * 4, dl.Parity(), dl.laplace_threshold(1.0), "2.5"),
        ([2, 2, 3], dl.Identity(), dl.symmetric(0.2), "1 max"),
    ],
)
def test_hardly_any_time(support, sizes, query, mechanism, bound):
    question = support.problem(sizes, query, mechanism, bound)
    result = dl.solve(question, gap=1e-6, time_limit=0.001)
    assert dl.verify(question, result.certificate).proved
    assert result.termination in (dl.Termination.TIME_LIMIT, dl.Termination.GAP_REACHED)


def test_progress_reports_an_honest_interval(support):
    question, seen = hard(support), []
    result = dl.solve(question, gap=1e-6, time_limit=1.0, progress=seen.append)
    assert len(seen) >= 2
    for moment in seen:
        assert moment.lower <= result.upper + 1e-9
        assert result.lower <= moment.upper + 1e-9


def test_interrupt_returns_what_was_reached(support):
    question, (progress, calls) = hard(support), interrupter(1)
    before = signal.getsignal(signal.SIGINT)
    result = dl.solve(question, gap=1e-6, time_limit=300.0, progress=progress)
    assert calls
    assert result.termination is dl.Termination.INTERRUPTED
    assert result.seconds < 30.0
    assert 0.0 <= result.lower <= result.upper
    assert dl.verify(question, result.certificate).proved
    assert signal.getsignal(signal.SIGINT) is before


def test_interrupt_in_the_middle_of_the_search(support, work_clock):
    """Ctrl-C does not wait for the search's share of the time limit (here 12 of 40 seconds)."""
    question = support.problem(dl.Records(800, alphabet=2), dl.Count(), dl.geometric(0.1), "0.99 max")
    work_clock.alarm(0.1, lambda: signal.raise_signal(signal.SIGINT))
    result = dl.solve(question, gap=1e-6, time_limit=40.0)
    assert result.termination is dl.Termination.INTERRUPTED
    assert result.seconds < 1.0


def test_second_interrupt_is_an_interrupt_as_usual(support):
    progress, _ = interrupter(2)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        dl.solve(hard(support), gap=1e-6, time_limit=20.0, progress=progress)
    assert signal.getsignal(signal.SIGINT) is before


def test_errors_of_the_callback_reach_the_caller(support):
    def progress(moment):
        raise ZeroDivisionError("mine")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError, match="mine"):
        dl.solve(support.parity4(1), progress=progress)
    assert signal.getsignal(signal.SIGINT) is before


def test_solving_outside_the_main_thread(support):
    """Signals belong to the main thread; elsewhere everything but Ctrl-C works."""
    answers = []
    worker = threading.Thread(target=lambda: answers.append(dl.solve(support.parity4(1))))
    worker.start()
    worker.join(60)
    assert answers[0].termination is dl.Termination.GAP_REACHED


def test_equal_seeds_equal_work(support):
    question = support.problem([2] * 3, dl.Count(), dl.geometric(1.0), "0.5 max")
    first, second = (dl.solve(question, gap=1e-2, time_limit=None, seed=7) for _ in range(2))
    assert first.certificate == second.certificate
