"""Histograms through scores: against every output written out."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius._prove import prove
from dalenius.audits import audit_of
from dalenius.audits.histograms import ScoredCells, even_scores, pattern_count, patterns, telling_scores
from dalenius.search import Clock, Limits, Run

CASES = [(2, 2, 1.0), (3, 2, 0.5), (4, 2, 2.0), (3, 3, 0.7), (5, 1, 1.5), (2, 4, 0.3)]


def steps_of(size, epsilon):
    return dl.geometric(str(epsilon)).channel(np.arange(size + 1))


def outputs(steps, cells):
    return np.array(list(itertools.product(range(steps.shape[1]), repeat=cells)))


def row(steps, listed, histogram):
    return np.prod([steps[count, listed[:, c]] for c, count in enumerate(histogram)], axis=0)


@each("cells, size, epsilon", *CASES)
@each("scored", "even", "telling", "nothing")
def test_both_ends_are_what_they_are_by_definition(cells, size, epsilon, scored):
    steps = steps_of(size, epsilon)
    listed = outputs(steps, cells)
    scores = {
        "even": even_scores(size + 1, cells),
        "telling": telling_scores(steps, cells, 12 * cells),
        "nothing": np.zeros(size + 1, dtype=np.int64),
    }[scored]
    cells_seen = ScoredCells(steps, cells, scores)
    rows = {g: row(steps, listed, [*g, *[0] * (cells - len(g))]) for g in patterns(size, cells)}
    base, sums = row(steps, listed, [0] * cells), scores[listed].sum(axis=1)
    weights = {g: 1.0 + j for j, g in enumerate(rows)}
    seen = {g: np.bincount(sums, probabilities, minlength=sums.max() + 1) for g, probabilities in rows.items()}
    mixed = sum(w * seen[g] for g, w in weights.items()) / sum(weights.values())
    law = base * (mixed / np.maximum(np.bincount(sums, base, minlength=sums.max() + 1), 1e-300))[sums]
    assert abs(law.sum() - 1.0) < 1e-12
    exact = [float((p * np.log(p / law)).sum()) for p in rows.values()]
    np.testing.assert_allclose(cells_seen.divergences(weights), exact, rtol=1e-9, atol=1e-12)
    alike = np.array([row(steps, listed, size * np.eye(cells, dtype=int)[a]) for a in range(cells)])
    told = float((alike * np.log(alike / alike.mean(axis=0))).sum() / cells)
    assert cells_seen.alike <= told + 1e-12
    assert scored != "even" or abs(cells_seen.alike - told) < 1e-12


@each("cells, size, epsilon", *CASES[:4])
def test_no_selection_of_patterns_by_letters_tells_more(cells, size, epsilon):
    """All of them, with laws on the letters by Arimoto's steps."""
    steps = steps_of(size, epsilon)
    listed = outputs(steps, cells)
    ways = [g for g in itertools.product(range(size + 1), repeat=cells) if sum(g) == size]
    rows = {g: row(steps, listed, g) for g in ways}
    seen = ScoredCells(steps, cells, even_scores(size + 1, cells))
    _, bound = seen.mixture(0.0, Clock(60.0))
    chosen = itertools.product(*([g for g in ways if g[a]] for a in range(cells)))
    for selection in itertools.islice(chosen, 0, None, 1 if cells < 4 else 101):
        channel, law = np.array([rows[g] for g in selection]), np.full(cells, 1.0 / cells)
        for _ in range(30):
            law = law * np.exp((channel * np.log(channel / (law @ channel))).sum(axis=1))
            law /= law.sum()
        assert float(law @ (channel * np.log(channel / (law @ channel))).sum(axis=1)) <= bound + 1e-12
    assert seen.alike <= bound


def test_patterns_are_partitions():
    counted = Counter(
        tuple(sorted(filter(None, g), reverse=True)) for g in itertools.product(range(6), repeat=4) if sum(g) == 5
    )
    assert set(patterns(5, 4)) == set(counted)
    assert pattern_count(21, 100) == 792
    assert pattern_count(30, 100) == 1001


def test_even_scores_tell_every_output_apart_by_its_numbers_of_cells():
    scores = even_scores(4, 5)
    sums = {
        tuple(np.bincount(y, minlength=4)): int(scores[list(y)].sum()) for y in itertools.product(range(4), repeat=5)
    }
    assert len(set(sums.values())) == len(sums) == math.comb(8, 3)
    assert even_scores(9, 100) is None


def test_the_lower_end_does_not_lean_on_rounding(monkeypatch):
    """Behind much noise with or without transforms alike; behind little noise transforms make it lower, never higher."""
    found = {}
    for scale in ("2", "0.5", "0.2"):
        steps = np.maximum(dl.discrete_gaussian(scale=scale, range=[-9, 11]).channel(np.arange(3)), 1e-300)
        for direct in (2**13, 0):
            monkeypatch.setattr("dalenius.audits.histograms.DIRECT", direct)
            found[scale, direct] = ScoredCells(steps, 6, telling_scores(steps, 6, 80)).alike
    assert found["2", 0] == pytest.approx(found["2", 2**13], rel=1e-9)
    assert 0.0 < found["0.5", 2**13] < math.log(6)
    assert found["0.5", 0] <= found["0.5", 2**13] + 1e-12
    assert found["0.2", 0] <= found["0.2", 2**13] + 1e-12


def audited(query, epsilon, size=6):
    records = dl.Records(1_000_000, alphabet=math.prod(query.attributes))
    audit = audit_of(
        support.problem(records, query, dl.discrete_laplace(epsilon), dl.IndependentBlocks(size)),
        Run.of(Limits(gap=1e-4, time_limit=60.0)),
    )
    audit.run()
    return audit


def test_seven_tables_of_a_thousand_letters_are_known_to_half_a_per_cent():
    tables = dl.queries.Margins.lattice([2, 10, 50], 3)
    audit = audited(tables, "1/14")
    assert 0.50297 < audit.lower < audit.upper < 0.50576
    degrees = [max(line.scores) * kind.cells.count for line, kind in zip(audit.proof(), audit.kinds, strict=True)]
    assert max(degrees) <= 2**12 < 8 * degrees[-1], "what the tables have in common keeps the ends apart, no scores"
    loud = audited(dl.queries.Margins.lattice([3, 4, 5], 3), "3/7")
    assert 0.67 * math.log(60) < loud.lower < loud.upper == math.log(60)
    assert None in loud.exposure(0.0).prior, "some tables are better left out"
    assert [type(line).__name__ for line in loud.proof()] == ["LettersLine"]


def test_tables_without_a_common_attribute_add_up():
    one, other, both = (audited(dl.queries.Margins([3, 5], tables), "1/3", 2) for tables in ([[0]], [[1]], [[0], [1]]))
    assert both.lower == pytest.approx(one.lower + other.lower, rel=1e-9)
    assert both.upper == pytest.approx(one.upper + other.upper, rel=1e-9)
    assert both.upper - both.lower < 1e-9


def test_no_more_sums_are_scored_than_the_check_has_memory_for():
    """All sums there are would take it 4 GiB, and a proof that is refused leaves nothing but all there is to know."""
    people = dl.Records(100_000, alphabet=3)
    asked = support.problem(people, "histogram", dl.discrete_gaussian(scale=3), dl.IndependentBlocks(2))
    found = dl.solve(asked, gap=1e-9, memory_limit=64)
    assert 0.1377 < found.lower < found.upper < 0.1379
    assert found.termination is dl.answers.Termination.SIZE_LIMIT
    assert not found.refusals


def asked(size):
    return support.problem(
        dl.Records(1_000_000, alphabet=100), "histogram", dl.discrete_laplace("1/2"), dl.IndependentBlocks(size)
    )


def test_hardly_any_time_leaves_an_early_interval():
    """Also of a million people: reading them takes nothing, as they are written as one number."""
    found = dl.solve(asked(8), gap=1e-3, time_limit=0.001)
    assert 2.866 < found.lower < 2.8734 < 2.8735 < found.upper < 2.8811
    assert found.termination is dl.answers.Termination.TIME_LIMIT


def test_what_was_proved_on_the_way_stands_where_nothing_is_proved_any_more(monkeypatch):
    """Of an audit that has no memory left, then of one that was stopped long ago: the ends of fewer scores than it had at last."""
    monkeypatch.setattr("dalenius.audits.histograms.SOON", 0.0)
    search = Run.of(Limits(gap=1e-6, time_limit=60.0))
    audit = audit_of(asked(3), search)
    audit.run()
    with monkeypatch.context() as little:
        little.setattr("dalenius._prove._Desk._mebibytes", 8.0)
        ends = [prove(asked(3), audit, search)]
    search.clock.stop(-math.inf)
    ends.append(prove(asked(3), audit, search))
    for found, limit in zip(ends, (dl.answers.Termination.SIZE_LIMIT, dl.answers.Termination.INTERRUPTED), strict=True):
        assert 0.0 < found.lower < audit.lower < audit.upper < found.upper
        assert found.upper - found.lower < 1e-5 * found.upper
        assert found.termination is limit


@each("cells", 3, 300)
def test_hardly_any_noise_hides_nothing(cells):
    """What is nearly certain has a score that no unlikely output shares: their likelihood ratios are e^400 times as large."""
    quiet = dl.WorstCaseLeakage(
        records=dl.Records(9, alphabet=cells),
        query=dl.queries.Histogram(),
        mechanism=dl.discrete_gaussian(scale="0.05"),
        adversary=dl.ProductPriors(),
    )
    assert math.log(cells) * (1.0 - 1e-9) <= dl.solve(quiet).lower <= math.log(cells)
