"""One stop for all that goes on meanwhile: who hears a signal, and where the others go."""

import math
import signal
import threading

import pytest

from dalenius.search import PROVING, Clock, Stop, hearing, stop_requested, stopped_by_interrupt

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def stop():
    """Installed for both signals."""
    stop = Stop(signal.default_int_handler)
    with stop.installed(SIGNALS):
        yield stop


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_stops_every_clock_that_hears_it_and_the_second_one_is_an_interrupt(stop, number):
    first, second = Clock(), Clock()
    with stopped_by_interrupt(first), stopped_by_interrupt(second):
        assert not stop_requested()
        signal.raise_signal(number)
        assert first.expired
        assert second.expired
        assert stop_requested()
        assert stop.number == number
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert stop.number == number, "the first one counts"


def test_a_signal_between_two_clocks_stops_the_next_one(stop):
    """What a sweep hears counts for the solve after it."""
    whole, later = Clock(), Clock()
    with stopped_by_interrupt(whole):
        signal.raise_signal(signal.SIGINT)
        with stopped_by_interrupt(later):
            assert later.expired


def test_proofs_share_what_is_left_after_the_first_signal(stop, work_clock):
    """Also those of a part of the clock, and of a clock that hears of it later."""
    whole, later = Clock(60.0), Clock(60.0)
    part = whole.part(0.5)
    assert whole.spared == part.spared == math.inf
    with stopped_by_interrupt(whole):
        signal.raise_signal(signal.SIGINT)
        work_clock.now += 1.0
        with stopped_by_interrupt(later):
            for clock in (whole, part, later):
                assert 0.9 * (PROVING - 1.0) < clock.spared < PROVING - 1.0
            assert whole.left < PROVING - 1.0
        work_clock.now += 1.0
        assert whole.spared < 0.0


def test_a_background_job_hears_sigterm():
    """A shell has it ignore Ctrl-C; its answer was once lost at SIGTERM."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Stop(signal.default_int_handler).installed(SIGNALS), stopped_by_interrupt(clock := Clock()):
            signal.raise_signal(signal.SIGTERM)
            assert clock.expired
            assert stop_requested()
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_limit_that_ends_sooner_stays(work_clock):
    clock = Clock(1.0)
    clock.stop()
    assert clock.left < 1.0 < clock.spared


def test_a_signal_that_no_clock_hears_is_an_interrupt(stop):
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
    with stopped_by_interrupt(clock := Clock()):
        assert clock.expired, "and it is not forgotten"


def test_handlers_come_back_and_what_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        ours = signal.getsignal(signal.SIGINT)
        with Stop(signal.default_int_handler).installed(SIGNALS):
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGINT) is not ours
        assert signal.getsignal(signal.SIGINT) is ours
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_without_one_installed_a_clock_hears_ctrl_c_alone():
    terminated = signal.getsignal(signal.SIGTERM)
    with hearing() as stop, stop.heard_by(clock := Clock()):
        assert signal.getsignal(signal.SIGTERM) is terminated
        signal.raise_signal(signal.SIGINT)
    assert clock.expired
    assert not stop_requested()


def test_a_thread_hears_the_stop_of_the_main_thread_and_installs_none(stop):
    clock, seen = Clock(), list[object]()

    def work() -> None:
        with stopped_by_interrupt(clock):
            seen.append(signal.getsignal(signal.SIGINT))
            ready.set()
            done.wait(60)

    ready, done = threading.Event(), threading.Event()
    worker = threading.Thread(target=work)
    worker.start()
    assert ready.wait(60)
    with stopped_by_interrupt(Clock()):
        signal.raise_signal(signal.SIGINT)
    done.set()
    worker.join(60)
    assert seen == [stop]
    assert clock.expired


def test_nothing_that_is_told_is_below_0():
    """Divergences in doubles are, by a rounding, where a leakage is some 1e-32."""
    clock = Clock()
    clock.tell("proving", -1e-16, -6e-16, 1, now=True)
    assert (clock.trace[-1].lower, clock.trace[-1].upper) == (0.0, 0.0)


# A part of a clock is a share of what is left, counted from now.


@pytest.mark.parametrize("spent", [0.0, 60.0, 99.0])
@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_a_part_is_a_share_of_what_is_left(spent, share, work_clock):
    clock = Clock(100.0)
    work_clock.now += spent
    part = clock.part(share)
    assert part.remaining == pytest.approx(share * (100.0 - spent), abs=0.1)
    assert not part.expired


def test_a_part_of_no_time_has_none(work_clock):
    clock = Clock(100.0)
    work_clock.now += 101.0
    assert clock.part(0.5).expired


def test_a_part_ends_with_the_whole(work_clock):
    clock = Clock(100.0)
    part = clock.part(0.5)
    clock.stop()
    assert part.expired
