"""Posteriors at neighbouring outputs narrow each other, and every prior that was in a box still is."""

import random
from importlib import import_module

import pytest

import dalenius_check
from campaigns import draws

HOLES = (
    "_factors: min(least[:a] + least[a + 1 :]) => max(most[:a] + most[a + 1 :])",
    "_factors: max(most[:a] + most[a + 1 :]) => min(least[:a] + least[a + 1 :])",
    "Neighbours.__init__: _inverse(down) => _inverse(up)",
    "Neighbours.__init__: _inverse(up) => _inverse(down)",
    "Neighbours._odds: ranges is not last => last is None",
)


class Draws:
    """Random records of a checker, priors, and boxes around their posteriors, in one arithmetic."""

    def __init__(self, checker, rng):
        self.rng = rng
        self.arithmetic, self.bounds = (
            import_module(f"{checker.__name__}.core.{name}") for name in ("arithmetic", "bounds")
        )
        self.channel, self.allowance = (
            import_module(f"{checker.__name__}.core.{name}") for name in ("channel", "allowance")
        )
        self.lemma = import_module(f"{checker.__name__}.lemmas.neighbours")
        self.lost = self.narrower = 0

    def law(self, size, weights):
        """Random weights, divided by their sum."""
        drawn = [self.rng.choice(weights) for _ in range(size)]
        drawn[self.rng.randrange(size)] += not any(drawn)
        return [self.arithmetic.fmpq(weight, sum(drawn)) for weight in drawn]

    def around(self, x):
        """A range with x in it, often at an end."""
        share = self.arithmetic.fmpq(self.rng.randint(0, 10), 10)
        return self.rng.choice([x, x, 0 * x, x * share]), self.rng.choice([x, x, 0 * x + 1, 1 - (1 - x) * share])

    def record(self):
        """One with zeros or without, and priors on it; what is lost is counted, and which ranges are narrower."""
        rng, zero = self.rng, self.arithmetic.fmpq(0)
        letters, inputs, outputs = rng.choice([2, 2, 2, 3, 4]), rng.randint(2, 5), rng.randint(2, 5)
        often = rng.choice([(1, 2, 8, 100), (0, 1, 2, 8, 100, 10**6), (0, 0, 1, 5)])
        rows = [self.law(outputs, often) for _ in range(inputs)]
        pairs = [[(k, 1) for k in sorted(rng.sample(range(inputs), rng.randint(1, inputs)))] for _ in range(letters)]
        channel = self.channel.Channel(rows, list(range(inputs)), self.allowance.Allowance())
        neighbours = self.lemma.Neighbours(self.bounds.Record(channel, pairs))
        for _ in range(4):
            prior = iter(self.law(sum(map(len, pairs)), (0, 0, 1, 2, 1000, 10**9)))
            masses = [[(k, next(prior)) for k, _ in row] for row in pairs]
            joint = [[sum((q * rows[k][y] for k, q in row), zero) for row in masses] for y in range(outputs)]
            posteriors = [[x / sum(u, zero) for x in u] if any(u) else self.law(letters, (0, 0, 1, 3)) for u in joint]
            boxes = [self.bounds.Ranges(*zip(*map(self.around, phi), strict=True)) for phi in posteriors]
            for phi, box, found in zip(posteriors, boxes, neighbours.narrowed(boxes), strict=True):
                kept = found.ends and all(not (lo > x or hi < x) for x, (lo, hi) in zip(phi, found.ends, strict=True))
                self.lost += not kept
                ends = zip(box.ends, found.ends or box.ends, strict=True)
                self.narrower += any(bool(lo > low or hi < high) for (low, high), (lo, hi) in ends)


def drawn(checker, number, arithmetic="flint"):
    found = Draws(checker, random.Random(number))
    with found.arithmetic.using(found.arithmetic.choose(arithmetic)), found.arithmetic.chosen().workprec(128):
        for _ in range(number):
            found.record()
    return found


@pytest.mark.parametrize("arithmetic", ["flint", "python"])
def test_no_prior_is_lost(arithmetic):
    found = drawn(dalenius_check, draws(100, 3000), arithmetic)
    assert found.lost == 0
    assert found.narrower > 300


@pytest.mark.parametrize("hole", HOLES)
def test_a_prior_is_lost_where_a_hypothesis_is_left_out(planted, hole):
    assert drawn(planted(hole, hole), 40).lost
