"""Comparisons are fair: on ten designs and thirty audits everybody's shortfall is what the proved ends say, our own included."""

import math
from collections.abc import Iterator

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, thinned

ROUNDING = 1e-9


def audits() -> Iterator[tuple[str, dl.WorstCaseLeakage]]:
    """Parities, modular sums, counts, sums and random channels, from hardly any entropy to nearly all."""
    rng = np.random.default_rng(0)
    for share in ("0.3 max", "0.5 max", "0.7 max", "0.9 max", "0.97 max"):
        for name, sizes, query, mechanism in (
            ("parity", [2] * 4, dl.Parity(), dl.symmetric(0.1, k=2)),
            ("modular sum", [3] * 3, dl.ModularSum(3), dl.symmetric(0.2, k=3)),
            ("count", [2] * 5, dl.Count(), dl.geometric(0.5)),
            ("sum", [2, 3, 4], dl.Sum(), dl.geometric(0.7)),
            ("threshold", [2] * 6, dl.Threshold(3), dl.randomized_response(1, k=2)),
        ):
            yield f"{name} {share}", audit(sizes, query, mechanism, share)
        counts = rng.multinomial(100, rng.dirichlet(np.full(3, 0.6)), size=12)
        rows = [[f"{count}/100" for count in row] for row in counts.tolist()]
        yield f"random {share}", audit([3, 4], dl.Identity(), dl.Channel(rows, inputs="dataset"), share)


def audit(sizes, query, mechanism, share) -> dl.WorstCaseLeakage:
    return support.problem(dl.Records(alphabets=sizes), query, mechanism, share)


def designs() -> Iterator[tuple[str, dl.problems.DesignProblem]]:
    for name, n, k, query, distortion in (
        ("parity", 4, 2, dl.Parity(), dl.Hamming()),
        ("modular sum", 3, 3, dl.ModularSum(3), dl.Hamming()),
        ("count", 3, 2, dl.Count(), dl.Absolute()),
        ("larger count", 5, 2, dl.Count(), dl.Squared()),
        ("sum", 2, 3, dl.Sum(), dl.Absolute()),
    ):
        given = {"records": dl.Records(n, alphabet=k), "query": query, "distortion": distortion}
        adversary = dl.EntropyAtLeast("0.8 max")
        yield f"{name}, least leakage", dl.MinLeakage(**given, max_distortion="0.3", adversary=adversary)
        yield f"{name}, least distortion", dl.MinDistortion(**given, max_leakage="0.05 nats", adversary=adversary)


def assert_fair(comparison: dl.answers.Comparison) -> None:
    """Whatever is proved, and whoever found it."""
    assert 0.0 <= comparison.lower <= comparison.upper
    assert dl.verify(comparison.problem, comparison.result.certificate).proved
    near, far = comparison.lower, comparison.upper
    if not comparison.maximises:
        near, far = far, near
    for entry in comparison.entries:
        assert 0.0 <= entry.shortfall <= entry.shortfall_at_most + ROUNDING <= 1.0 + ROUNDING, entry
        worse, better = sorted((entry.value, near), reverse=not comparison.maximises)
        assert (entry.shortfall > 0.0) == (worse == entry.value and not close(worse, better)), entry
        assert (entry.shortfall_at_most > 0.0) == (
            entry.value != far and not math.isclose(entry.value, far, rel_tol=1e-15)
        )
        if entry.method == comparison.best:
            assert close(entry.value, near)
    assert (comparison.entry("certified").value == near) == (comparison.best == "certified")


def close(value: float, end: float) -> bool:
    return abs(value - end) <= ROUNDING * max(abs(value), abs(end)) + 1e-12


@pytest.mark.parametrize(("name", "problem"), thinned(audits(), every=30))
def test_audits(name, problem):
    assert_fair(dl.compare(problem, seeds=draws(1, 2), budget=0.3, gap=1e-2))


@pytest.mark.parametrize(("name", "problem"), thinned(designs(), every=10))
def test_designs(name, problem):
    assert_fair(dl.compare(problem, seeds=draws(1, 2), budget=0.3, gap=1e-2))
