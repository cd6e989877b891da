"""Blocks that know no clock: ended at the first alarm after time is over or a signal has stopped the clock, else left alone."""

import signal
import threading
from collections.abc import Callable
from contextlib import suppress

from dalenius.information.deadline import TimeIsOverError
from dalenius.search import Clock, ended_with

ALARM = signal.SIGVTALRM


def rings(clock: Clock, at: int, action: Callable[[], None]) -> list[int]:
    """The alarms that a block has seen before it was ended; something happens at one of them."""
    seen = list[int]()
    with suppress(TimeIsOverError), ended_with(clock):
        for number in range(1000):
            seen.append(number)
            if number == at:
                action()
            signal.raise_signal(ALARM)
    return seen


def test_a_block_ends_in_its_middle(work_clock):
    """An alarm looks at the clock once, and every look takes a tick; some may go off by themselves."""
    assert 1 <= len(rings(Clock(10.5 * work_clock.tick), 0, lambda: None)) <= 10
    assert signal.getsignal(ALARM) is signal.SIG_DFL


def test_a_block_that_cannot_be_begun_is_not():
    clock = Clock()
    clock.stop()
    assert rings(clock, 0, lambda: None) == []


def test_a_signal_ends_it():
    clock = Clock()
    assert rings(clock, 5, clock.stop) == list(range(6))


def test_an_alarm_of_somebody_else_stays_theirs():
    rung = []
    before = signal.signal(ALARM, lambda number, frame: rung.append(number))
    clock = Clock()
    try:
        with ended_with(clock):
            clock.stop()
            signal.raise_signal(ALARM)
    finally:
        signal.signal(ALARM, before)
    assert rung == [ALARM]


def test_other_threads_go_on():
    clock, ended = Clock(), []

    def work() -> None:
        with ended_with(clock):
            clock.stop()
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]
