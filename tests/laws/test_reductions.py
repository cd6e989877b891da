"""What every reduction keeps: leakage, totals and the largest entropy; and that applying what was lifted gives what there was.

Brute force here lists every dataset, with the helpers of `support`, which use none of the package's counting.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalenius as dl
import support
from campaigns import each
from dalenius.information import mutual_information
from dalenius.model.sums import attained_values
from dalenius.reduction import (
    Aggregation,
    Orbits,
    RowSets,
    completions,
    dataset_pairs,
    distinct_rows,
    record_channels,
    record_completions,
    record_selections,
)
from support import examples

some = examples(10, 10)
EXACT = 1e-12
QUERIES = [
    ([2, 3, 2, 4], dl.Parity()),
    ([1, 2, 1], dl.Parity()),
    ([3, 3, 2], dl.ModularSum(3)),
    ([2, 2], dl.ModularSum(7)),
    ([5, 4, 5], dl.ModularSum(2)),
    ([2, 2, 2, 2], dl.Count()),
    ([4, 2, 3, 4], dl.Count([0, 3])),
    ([2, 3, 4], dl.Sum()),
    ([3, 2, 3], dl.Sum([-2, 5, 0])),
    ([3, 3], dl.Sum([1, 1, 4])),
    ([2, 3, 2], dl.Sum([[0, 1], [10, -10, 3], [0, 1]])),
    ([2, 3, 3], dl.Threshold(3)),
    ([2, 3], dl.Threshold(-5)),
    ([2, 3], dl.Threshold(50)),
    ([2, 3, 2], dl.Table([5, 5, -1, 0, 0, 5, 7, 7, -1, 0, 5, 5])),
    ([3, 2, 2], dl.Identity()),
    *(
        ([2, 3, 1, 2], query)
        for query in (
            dl.Count([0, 1]),
            dl.Sum([-2, 5, 1]),
            dl.Sum([[0, 4], [6, 0, 4], [3], [-1, 1]]),
            dl.Table([(j * j) % 5 for j in range(12)]),
        )
    ),
]


def problems(support):
    return st.one_of(support.oblivious(), support.by_dataset())


def leaking(problem) -> list[int]:
    return [i for i, letters in enumerate(problem.records.alphabets) if letters > 1]


def counted_and_drawn(holds):
    """Make one test of problems that are listed here, and of some that are drawn; `holds` takes a generator, too."""

    @some
    @given(st.data())
    def test(support, data):
        holds(support, data.draw(problems(support)), drawn_rng(data))

    def whole(support):
        for sizes, query in QUERIES:
            rows = [[f"{v + 1}/99", f"{98 - v}/99"] for v in range(query.values(dl.Records(alphabets=sizes)).size)]
            holds(support, support.problem(sizes, query, dl.Channel(rows), "0.5 max"), np.random.default_rng(len(rows)))
        test(support)

    return whole


def relative_entropy(masses, log_uniform) -> float:
    """D(p || uniform) in nats: log |X| - H(p), p spread evenly."""
    held = masses > 0.0
    return float(np.sum(masses[held] * (np.log(masses[held]) - log_uniform[held])))


def masses_where(rng, exists):
    """A random law on the places that exist, near the uniform one or far from it."""
    law = np.zeros(exists.shape)
    law[exists] = rng.dirichlet(np.full(np.count_nonzero(exists), rng.choice([0.2, 1.0, 5.0])))
    return law


def drawn_rng(data):
    return np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))


# ---------------------------------------------------------------- datasets


@some
@given(st.data())
def test_letters_of_datasets_are_those_that_are_listed(support, data):
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    records = dl.Records(alphabets=sizes)
    listed = np.array(list(itertools.product(*map(range, sizes))))
    for record in range(len(sizes)):
        assert records.letters_of_datasets(record).tolist() == listed[:, record].tolist()
        by_letter = records.datasets_by_letter(record)
        others = np.delete(listed, record, axis=1)
        for letter, places in enumerate(by_letter):
            assert set(listed[places, record].tolist()) == {letter}
            assert others[places].tolist() == others[by_letter[0]].tolist()


@counted_and_drawn
def test_the_values_of_datasets_are_those_that_are_listed(support, problem, rng):
    query, records, listed = problem.query_of_inputs, problem.records, support.inputs_of_datasets(problem)
    assert query.index_of_dataset(records).tolist() == listed
    assert attained_values(query, records).tolist() == sorted(set(listed))
    values = query.values(records).tolist()
    assert values == sorted(set(values))
    if query.kind in ("sum", "table", "identity"):
        assert len(values) == len(set(listed))


@counted_and_drawn
def test_pairs_of_datasets_keep_leakage_and_the_largest_entropy(support, problem, rng):
    priors = rng.dirichlet(np.full(problem.records.datasets, 0.5), size=3)
    channel = support.full_channel(problem)
    for record in leaking(problem):
        pairs, letters = dataset_pairs(problem, record), support.letters_of(problem, record)
        masses = pairs.apply(priors)
        assert masses.shape == (3, len(pairs.letters))
        assert masses.sum(axis=1) == pytest.approx(1.0, abs=EXACT)
        table, lifted = pairs.table(masses), pairs.lift(masses)
        assert pairs.apply(lifted) == pytest.approx(masses, abs=EXACT)
        assert pairs.apply(priors[0]) == pytest.approx(masses[0], abs=EXACT)
        for before, seen, after in zip(priors, table, lifted, strict=True):
            expected = support.leakage(before, letters, channel)
            assert mutual_information(seen @ problem.channel) == pytest.approx(expected, abs=EXACT)
            assert support.leakage(after, letters, channel) == pytest.approx(expected, abs=EXACT)
            assert support.entropy(after) >= support.entropy(before) - EXACT


# ---------------------------------------------------------------- counting


@counted_and_drawn
def test_completions_are_counted(support, problem, rng):
    """log(N(a,v) / |X|) against a list of all datasets; every record that can leak is of one kind, with equal counts."""
    inputs = np.array(support.inputs_of_datasets(problem))

    def counts(record):
        table = np.zeros((problem.records.alphabets[record], len(problem.channel)))
        np.add.at(table, (support.letters_of(problem, record), inputs), 1.0)
        return table

    kinds = record_completions(problem)
    for kind in kinds:
        listed = counts(kind.record)
        assert kind.uniform * problem.records.datasets == pytest.approx(listed, abs=1e-10)
        assert np.array_equal(np.isfinite(kind.log_uniform), listed > 0)
        assert kind.uniform.sum() == pytest.approx(1.0, abs=EXACT)
    assert sum(part.times for part in completions(problem.query_of_inputs, problem.records)) == len(problem.records)
    assert sum(kind.times for kind in kinds) == len(leaking(problem))
    tables = {counts(kind.record).tobytes() for kind in kinds}
    assert {counts(record).tobytes() for record in leaking(problem)} == tables


# ---------------------------------------------------------------- aggregation


@counted_and_drawn
def test_aggregation_loses_nothing(support, problem, rng):
    """From a prior on datasets to masses on classes: the same leakage, and no less entropy."""
    prior = rng.dirichlet(np.full(problem.records.datasets, 0.5))
    uniform = np.full(problem.records.datasets, 1.0 / problem.records.datasets)
    for record in record_channels(problem):
        letters = support.letters_of(problem, record.record)
        pairs = dataset_pairs(problem, record.record)
        for law in (prior, uniform):
            p = record.apply(pairs.table(pairs.apply(law)))
            assert p.sum() == pytest.approx(1.0, abs=EXACT)
            told = support.leakage(law, letters, support.full_channel(problem))
            assert mutual_information(p @ record.rows) == pytest.approx(told, abs=EXACT)
            knows = problem.records.log_datasets - support.entropy(law)
            assert relative_entropy(p, record.log_uniform) <= knows + EXACT
        assert p == pytest.approx(record.uniform, abs=EXACT)


@counted_and_drawn
def test_lifted_masses_are_a_prior_on_datasets_that_is_as_good(support, problem, rng):
    for record in record_channels(problem):
        p = masses_where(rng, np.isfinite(record.log_uniform))
        masses = record.lift(p)
        assert masses.sum() == pytest.approx(1.0, abs=EXACT)
        assert record.apply(masses) == pytest.approx(p, abs=EXACT)
        assert mutual_information(masses @ problem.channel) == pytest.approx(
            float(mutual_information(p @ record.rows)), abs=EXACT
        )
        pairs = dataset_pairs(problem, record.record)
        prior = pairs.lift(masses[pairs.letters, pairs.inputs])
        assert prior.sum() == pytest.approx(1.0, abs=EXACT)  # all mass is on pairs that datasets have
        knows = relative_entropy(p, record.log_uniform)
        assert relative_entropy(masses, record.completions.log_uniform) == pytest.approx(knows, abs=1e-10)
        assert problem.records.log_datasets - support.entropy(prior) == pytest.approx(knows, abs=1e-10)
        told = support.leakage(prior, support.letters_of(problem, record.record), support.full_channel(problem))
        assert told == pytest.approx(float(mutual_information(p @ record.rows)), abs=EXACT)


@counted_and_drawn
def test_laws_and_slopes_are_lifted_to_all_outputs(support, problem, rng):
    """A lifted law has no zero where the channel has mass, and bounds what it bounded; a lifted slope weighs no less."""
    extra = np.zeros((len(problem.channel), 1))
    places = np.sort(rng.integers(problem.channel.shape[1] + 1, size=2))
    channel = np.insert(problem.channel, places, extra, axis=1)
    aggregation = Aggregation.of(channel)
    assert aggregation.output_count == channel.shape[1]
    law = aggregation.rows.mean(axis=0)
    whole = aggregation.lift_outputs(law, fill=1e-40)
    assert np.all(whole > 0.0)
    assert np.all(aggregation.lift_outputs(law)[channel.any(axis=0)] > 0.0)
    assert not aggregation.lift_outputs(law)[~channel.any(axis=0)].any()
    of_row = support.divergences(aggregation.rows, law)
    assert of_row[aggregation.row_of_input] == pytest.approx(support.divergences(channel, whole), abs=EXACT)
    slopes = rng.normal(size=(3, len(aggregation.kept_outputs)))
    lifted = aggregation.lift_outputs(slopes)
    assert (slopes @ aggregation.rows.T)[:, aggregation.row_of_input] == pytest.approx(lifted @ channel.T, abs=EXACT)


@counted_and_drawn
def test_aggregation_of_what_is_aggregated_changes_nothing(support, problem, rng):
    once = Aggregation.of(problem.channel)
    twice = Aggregation.of(once.rows)
    assert np.array_equal(twice.rows, once.rows)
    assert np.array_equal(once.rows[once.row_of_input], problem.channel[:, once.kept_outputs])
    assert twice.row_of_input.tolist() == list(range(len(once.rows)))
    assert twice.kept_outputs.tolist() == list(range(once.rows.shape[1]))


@each("sizes, query", *QUERIES)
def test_equal_rows_are_merged(sizes, query):
    """A channel with two distinct rows, and an output that never occurs, has at most two classes and two outputs."""
    inputs = query.values(dl.Records(alphabets=sizes)).size
    mechanism = dl.Channel([["0.5", "0.5", 0] if v % 2 else ["0.1", "0.9", 0] for v in range(inputs)])
    for channel in record_channels(support.problem(sizes, query, mechanism, "0.5 max")):
        assert channel.rows.shape == (min(inputs, 2), 2)


@counted_and_drawn
def test_kinds_of_record_are_told_apart_by_the_leakage_that_they_allow(support, problem, rng):
    """Records of one kind have the very same record channel; each record that can leak is of exactly one."""
    kinds = record_channels(problem)
    assert sum(kind.times for kind in kinds) == len(leaking(problem))
    rows = np.array([kind.aggregation.row_of_input for kind in kinds[:1]]).reshape(-1)
    tables = set()
    for record in leaking(problem):
        table = np.zeros((problem.records.alphabets[record], len(kinds[0].rows)))
        np.add.at(table, (support.letters_of(problem, record), rows[support.inputs_of_datasets(problem)]), 1.0)
        tables.add((table.shape, table.tobytes()))
    found = {(kind.log_uniform.shape, np.round(kind.uniform * problem.records.datasets).tobytes()) for kind in kinds}
    assert found == tables


# ---------------------------------------------------------------- selections


@counted_and_drawn
def test_selections_are_the_rows_that_letters_select(support, problem, rng):
    inputs = np.array(support.inputs_of_datasets(problem))
    for kind in record_selections(problem):
        letters, chosen = support.letters_of(problem, kind.record), {}
        for place, others in enumerate(support.datasets(problem.records)):
            chosen.setdefault(others[: kind.record] + others[kind.record + 1 :], []).append(int(inputs[place]))
        assert {tuple(row) for row in kind.inputs.tolist()} == {tuple(row) for row in chosen.values()}
        assert len(set(letters.tolist())) == kind.letters
        for j, rows in enumerate(kind.apply(problem.channel)):
            law = rng.dirichlet(np.ones(kind.letters))
            masses = kind.lift(j, law)
            assert masses.shape == (kind.letters, len(problem.channel))
            assert masses.sum(axis=1) == pytest.approx(law, abs=EXACT)
            told = float(mutual_information(law[:, None] * rows))
            assert mutual_information(masses @ problem.channel) == pytest.approx(told, abs=EXACT)


@counted_and_drawn
def test_selections_of_equal_rows_are_one_set(support, problem, rng):
    rows, row_of_input = distinct_rows(problem.channel)
    for kind in record_selections(problem):
        reduced = RowSets.of(kind, row_of_input)
        of_selection = [sorted(map(tuple, selected.tolist())) for selected in kind.apply(problem.channel)]
        of_set = [sorted(map(tuple, selected.tolist())) for selected in reduced.apply(rows)]
        assert of_selection == [of_set[number] for number in reduced.set_of]
        assert len({tuple(selected) for selected in of_set}) == len(of_set)
        for number, selected in enumerate(reduced.apply(rows)):
            law = rng.dirichlet(np.ones(kind.letters))
            selection, letters = reduced.lift(number, law)
            assert reduced.set_of[selection] == number
            lifted = letters[:, None] * kind.apply(problem.channel)[selection]
            assert sorted(letters.tolist()) == sorted(law.tolist())
            assert mutual_information(lifted) == pytest.approx(
                float(mutual_information(law[:, None] * selected)), abs=EXACT
            )


# ---------------------------------------------------------------- orbits


@st.composite
def designs(draw, mechanism):
    """Small design problems, with much symmetry or with none."""
    sizes = draw(st.sampled_from([[2, 2], [2, 2, 2], [3, 3], [2, 3], [2, 1, 2]]))
    return support.design(
        dl.MinLeakage,
        dl.Records(alphabets=sizes),
        draw(st.sampled_from([dl.Count(), dl.Sum(), dl.ModularSum(3), dl.Parity()])),
        draw(st.sampled_from([dl.Hamming(), dl.Absolute()])),
        "1/10",
        "0.5 max",
        law=draw(st.sampled_from([dl.Uniform()] + [dl.Iid(["0.3", "0.7"])] * (set(sizes) == {2}))),
        mechanism=mechanism,
    )


classes = pytest.mark.parametrize("mechanism", ["oblivious", "full"])


@classes
@some
@given(st.data())
def test_orbits_keep_costs_leakage_and_the_largest_entropy(mechanism, data):
    problem = data.draw(designs(mechanism))
    orbits, rng = Orbits.of(problem), drawn_rng(data)
    Q = rng.dirichlet(np.ones(problem.output_count), size=len(orbits.cost))
    spread = orbits.lift_mechanism(Q)
    whole = problem.input_law[:, None] * problem.cost
    assert np.sum(whole * spread) == pytest.approx(np.sum(orbits.cost * Q), abs=EXACT)
    on_orbits = {part.record: part for part in orbits.completions}
    for part in record_completions(problem):
        masses = masses_where(rng, np.isfinite(part.log_uniform))
        record, folded = orbits.apply(part.record, masses)
        assert folded.sum() == pytest.approx(1.0, abs=EXACT)
        told = float(mutual_information(masses @ spread))
        assert mutual_information(folded @ Q) == pytest.approx(told, abs=EXACT)
        knows = relative_entropy(masses, part.log_uniform)
        assert relative_entropy(folded, on_orbits[record].log_uniform) <= knows + EXACT


@classes
@some
@given(st.data())
def test_lifted_orbits_treat_all_inputs_of_an_orbit_alike(mechanism, data):
    problem = data.draw(designs(mechanism))
    orbits, rng = Orbits.of(problem), drawn_rng(data)
    on_inputs = {part.record: part for part in record_completions(problem)}
    Q = rng.dirichlet(np.ones(problem.output_count), size=len(orbits.cost))
    for part in orbits.completions:
        masses = masses_where(rng, np.isfinite(part.log_uniform))
        phi = rng.dirichlet(np.ones(len(masses)), size=problem.output_count).T
        placed = orbits.lift(part.record, masses, phi)
        scores = np.zeros((problem.input_count, problem.output_count))
        for record, image, own in placed:
            assert image.sum() == pytest.approx(1.0, abs=EXACT)
            back = orbits.apply(record, image)
            assert back[0] == part.record
            assert np.sort(back[1], axis=None) == pytest.approx(np.sort(masses, axis=None), abs=EXACT)
            knows = relative_entropy(masses, part.log_uniform)
            assert relative_entropy(image, on_inputs[record].log_uniform) == pytest.approx(knows, abs=1e-10)
            told = float(mutual_information(masses @ Q))
            assert mutual_information(image @ orbits.lift_mechanism(Q)) == pytest.approx(told, abs=EXACT)
            scores += image.T @ np.log(own) / len(placed)
        assert not np.any(placed[0][1][masses[:, orbits.orbit] == 0.0])
        for orbit in range(len(orbits.cost)):
            mine = scores[orbits.orbit == orbit]
            weight = np.array(
                [sum(image[:, x].sum() for _, image, _ in placed) for x in np.flatnonzero(orbits.orbit == orbit)]
            )
            assert weight == pytest.approx(weight[0], abs=1e-10)
            assert np.ptp(mine, axis=0).max() <= 1e-10
