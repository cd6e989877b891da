"""A part of a clock is a share of what is left, counted from now."""

import pytest

from dalenius.search import Clock


@pytest.mark.parametrize("spent", [0.0, 60.0, 99.0])
@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_a_part_is_a_share_of_what_is_left(spent, share, counted_time):
    clock = Clock(100.0)
    counted_time.now += spent
    part = clock.part(share)
    assert part.remaining == pytest.approx(share * (100.0 - spent), abs=0.1)
    assert not part.expired


def test_a_part_of_no_time_has_none(counted_time):
    clock = Clock(100.0)
    counted_time.now += 101.0
    assert clock.part(0.5).expired


def test_a_part_ends_with_the_whole(counted_time):
    clock = Clock(100.0)
    part = clock.part(0.5)
    clock.stop()
    assert part.expired
