"""Many who work on one tree: bounds hold while leaves are away, nothing is lost with a worker, limits are for all together."""

import itertools
import math
from concurrent.futures import BrokenExecutor, Future

import numpy as np
import pytest

import dalenius as dl
from campaigns import thinned
from colleagues import Colleagues, copied
from dalenius.search import Clock
from dalenius.search.boxes import BoxTree, Relaxed
from dalenius.search.crew import LOSSES, Crew, Work, worked
from dalenius.search.tree import Leaf, Runner

CENTRE = np.array([0.3, 0.8])


@pytest.fixture(autouse=True)
def short_turns(monkeypatch):
    """A worker looks at the clock a few times before what he was lent is sent back."""
    monkeypatch.setattr("dalenius.search.crew.TURN", 2.0**-9)
    monkeypatch.setattr("dalenius.search.crew.LONGER", 0.0)


class Nearest:
    """Minus the distance from the centre, squared, of the nearest point, loosened by the box's size; the widest side is halved."""

    def __call__(self, low, high, hints):
        width = high - low
        coordinate = width.argmax(axis=1)
        bounds = -np.sum((np.clip(CENTRE, low, high) - CENTRE) ** 2, axis=-1) + width.max(axis=1)
        return Relaxed(bounds, hints, coordinate, 0.5 * (low + high)[np.arange(len(low)), coordinate])


class Square(Runner):
    """The unit square, in batches of three."""

    name = "square"

    def __init__(self, target):
        self.tree, self.target = BoxTree(Nearest(), np.zeros(2), np.ones(2), np.zeros(1)), target

    def leaf_bytes(self):
        return 1

    def grow(self, clock):
        return self.tree.branch(3, above=self.target)


def work_on(square, room=math.inf, told=lambda: None):
    def choose():
        return square if square.waits else None

    return Work(choose, lambda runner: room - runner.leaves, lambda runner, seconds: told(), lambda: done(square))


@pytest.mark.parametrize("asked", range(8, 15))
def test_workers_may_go_between_two_looks(asked):
    """One of three died while leaves were lent, which ended in a ZeroDivisionError now and then."""

    class Fewer(Colleagues):
        size = property(lambda pool: 3 if next(looks) < asked else 1, lambda pool, _: None)

    looks, square = itertools.count(), Square(0.05)
    assert Crew(Fewer).run(work_on(square, room=500.0), Clock())
    assert square.upper <= square.target


def done(square):
    return square.upper <= square.target


def covers(square):
    """Whether random points lie in leaves whose bounds are above what they attain."""
    leaves = [node for node in square.tree.preorder() if isinstance(node, Leaf)]
    assert len(leaves) == square.leaves
    assert square.upper == max(leaf.bound for leaf in leaves)
    for point in np.random.default_rng(0).random((50, 2)):
        holders = [leaf for leaf in leaves if np.all((leaf.content.low <= point) & (point <= leaf.content.high))]
        assert max(leaf.bound for leaf in holders) >= -np.sum((point - CENTRE) ** 2)


def leaves_of(square):
    """The boxes of a tree, in order."""
    return [(*node.content.low, *node.content.high) for node in square.tree.preorder() if isinstance(node, Leaf)]


def test_what_was_lent_comes_back_in_its_place():
    square, alone = Square(0.02), Square(0.02)
    while alone.grow(Clock()):
        pass
    for _ in range(5):
        square.grow(Clock())
    before = square.upper, square.leaves
    first, second = square.lend(0.5), square.lend(0.1)
    assert not set(first) & set(second)
    assert (square.upper, square.leaves) == before  # away, and yet they count
    grown = worked(square.lent(first), square.tree._relaxation, math.inf, math.inf)
    square.graft(first, grown.nodes, grown.point)
    covers(square)
    square.take_back(second)
    covers(square)
    while square.grow(Clock()):
        pass
    assert leaves_of(square) == leaves_of(alone)  # who branches does not matter where a target is reached


@pytest.mark.parametrize("size", thinned([1, 2, 7], every=2))
def test_together_they_reach_the_target(size):
    square, pool, seen = Square(0.01), Colleagues(size), list[float]()
    crew = Crew(lambda: pool)
    assert crew.run(work_on(square, told=lambda: seen.append(square.upper)), Clock())
    crew.close()
    assert done(square)
    assert seen == sorted(seen, reverse=True)
    assert pool.closed
    assert pool.tasks > 3 * size
    covers(square)


class Later(Colleagues):
    """They end what they are at, the first first, when somebody waits for it; `short` counts how often that was too little."""

    def __init__(self, square, size=2):
        super().__init__(size)
        self.square, self.given, self.most, self.short, self.waits = square, [], [], 0, 0

    def submit(self, function, *arguments):
        task = Future()
        self.given.append(lambda: task.set_result(copied(function(*copied(arguments)))))
        if function is worked:
            self.most.append(arguments[-1])
        return task

    def next(self, back, seconds):
        self.waits += 1
        self.short += len(self.given) < 2 * self.size and self.square.waits
        if self.given:
            self.given.pop(0)()
        return None if back.empty() else back.get()


@pytest.mark.parametrize("room", [math.inf, 800.0])
def test_nobody_waits_for_whoever_proves(monkeypatch, room):
    """Each has one errand ahead of him, also while this process waits for those who are hired; once they waited for it."""
    square, found = Square(0.01), []
    pool = Later(square)
    monkeypatch.setattr("dalenius.search.crew._next", pool.next)
    crew = Crew(lambda: pool)

    def merged():
        for n in range(2):
            crew.hire(pow, n, 2)
        found.extend(crew.results(lambda: True, clock))

    clock = Clock()
    assert crew.run(work_on(square, room, merged), clock)
    covers(square)
    assert done(square)
    assert not pool.given
    assert pool.waits > 40
    assert pool.short == 0
    assert found.count(0) == found.count(1) > 5
    assert max(pool.most) <= max(room / 4 + 64, pool.most[0])  # whoever is hired leaves room to others


def test_nobody_is_called_for_nothing():
    square = Square(10.0)

    def gather():
        raise AssertionError

    crew = Crew(gather)
    assert not crew.run(work_on(square), Clock())
    crew.close()


def test_lost_work_is_done_again():
    square, pool = Square(0.02), Colleagues(fails=dict.fromkeys((0, 1, 2), BrokenExecutor()))
    assert Crew(lambda: pool).run(work_on(square), Clock())
    assert done(square)
    assert pool.renewed == 3
    covers(square)


def test_after_too_many_losses_nobody_is_sent_any_more():
    square, pool = Square(0.02), Colleagues(fails=dict.fromkeys(range(100), BrokenExecutor()))
    crew = Crew(lambda: pool)
    assert not crew.run(work_on(square), Clock())
    assert not crew.usable
    assert pool.tasks <= 3 * (LOSSES + 1)
    covers(square)
    assert square.waits  # it can go on alone


def test_a_worker_that_errs_is_heard():
    square = Square(0.02)
    crew = Crew(lambda: Colleagues(fails={1: ZeroDivisionError()}))
    with pytest.raises(ZeroDivisionError):
        crew.run(work_on(square), Clock())
    covers(square)
    assert square.tree.waiting(-math.inf) == square.leaves  # nothing is away


@pytest.mark.parametrize("most", [10, 100, 400])
def test_room_is_for_all_together(most):
    square = Square(1e-9)
    Crew(lambda: Colleagues(3)).run(work_on(square, room=most), Clock(5.0))
    assert square.leaves <= most + 8 * 3  # a batch more for each
    covers(square)


def test_an_interrupt_takes_everything_back():
    square, clock = Square(1e-9), Clock()

    def stop(number):
        if number == 4:
            clock.stop()

    Crew(lambda: Colleagues(before=stop)).run(work_on(square), clock)
    assert not done(square)
    covers(square)
    before = square.leaves
    assert square.grow(Clock())
    assert square.leaves > before


def test_time_that_others_work_is_no_delay():
    """A machine is busy where work takes longer than its processor's seconds; waiting for others says nothing about it."""
    clock = Clock()
    part = clock.part(1.0)
    clock.busy -= 1.0
    with part.waiting():
        for _ in range(10**5):
            clock.seconds  # noqa: B018 - the clock of the tests goes on when it is read
    assert part.pace == clock.pace < 1.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jobs": 0}, "jobs: expected an integer of at least 1, got 0"),
        ({"jobs": 1.5}, "jobs: expected"),
        ({"jobs": 2, "scheduler": "tcp://127.0.0.1:1"}, "jobs: with a scheduler"),
        ({"scheduler": 8786}, "scheduler: expected the address of a Dask scheduler"),
    ],
)
def test_bad_arguments(support, arguments, message):
    with pytest.raises(dl.errors.InputError, match=message):
        dl.solve(support.parity4(1.0), **arguments)
