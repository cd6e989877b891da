"""Time that is counted, not measured: what a search does is then the same on every machine and under every load."""

import pytest


@pytest.fixture
def counted_time(work_clock, monkeypatch):
    """Every look at the clock takes a millisecond, and nothing else takes any time.

    A race of two trees gives its turns by the seconds that each has had; counted, they are the same in every run. Where a test needs
    no race, it needs no such clock either: nodes stop it.
    """
    monkeypatch.setattr(work_clock, "tick", 2.0**-10)
    return work_clock
