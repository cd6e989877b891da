"""What proving is predicted to take: in proportion to what there is, and for no model of the library so much that it costs."""

import itertools
import json
import tracemalloc

import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.audits import ROOM, LettersAudit, audit_within
from dalenius.audits.entropy_at_least import EntropyAudit
from dalenius.model import dumps
from dalenius.model.costs import Cost, record_kinds
from dalenius.search import Limits, Run
from libraries import problems
from support import problem


def letters(count: int) -> dl.WorstCaseLeakage:
    return problem([count], dl.Identity(), dl.symmetric(0.2), "0.5 max")


def test_costs_add_up():
    both = Cost(1.0, 10.0) + Cost(2.0, 5.0).times(2)
    assert both == Cost(5.0, 20.0)
    assert both.within(5.0, 20.0)
    assert not both.within(4.9, 20.0)
    assert not both.within(5.0, 19.0)


@each(
    "make",
    letters,
    lambda n: problem([2] * n, dl.Count(), dl.geometric(0.5), "0.9 max"),
    lambda n: problem(dl.Records(n, alphabet=n), dl.Parity(), dl.symmetric(0.1), "0.9 max"),
    lambda n: problem(dl.Records(n, alphabet=n), dl.ModularSum(n), dl.symmetric(0.1), dl.ProductPriors()),
)
def test_more_of_everything_takes_more(make):
    costs = [make(n).costs for n in (8, 40, 200)]
    for small, large in itertools.pairwise(costs):
        assert small.certain.within(large.certain.seconds, large.certain.bytes)
        assert small.whole.within(large.whole.seconds, large.whole.bytes)
        assert small.search < large.search
        assert small.held < large.held


def test_the_law_of_discrete_gaussian_noise_is_summed_over_many_scales():
    def certain(scale):
        return support.problem(
            dl.Records(1, alphabet=2), dl.Count(), dl.discrete_gaussian(scale=scale, range=1), dl.AnyPrior()
        ).costs.certain

    assert certain(10**4).seconds > certain(1).seconds + 0.5


def test_every_model_of_the_library_is_far_within_the_default_limits():
    """Nothing is refused, or searched less, that was always proved."""
    limits = Limits()
    for name, model in problems().items():
        if isinstance(model, dl.WorstCaseLeakage):
            costs = model.costs
            assert costs.whole.within(0.1 * limits.seconds, 0.1 * limits.bytes), name
            assert costs.held < 0.1 * limits.bytes, name
        elif isinstance(
            model, dl.problems.DesignProblem
        ):  # the most information has no adversary, and its inputs are few
            assert model.costs.whole.within(0.1 * limits.seconds, 0.1 * limits.bytes), name


def test_every_adversary_of_a_design_is_audited_against():
    """Those of limits and of terms cost as much as its own."""
    given = {
        "records": dl.Records(8, alphabet=2),
        "query": dl.Count(),
        "distortion": dl.Absolute(),
        "max_distortion": 1,
    }
    own = dl.EntropyAtLeast("0.9 max")
    alone = dl.MinLeakage(**given, adversary=own).costs.whole.seconds
    limited = dl.MinLeakage(**given, adversary=own, constraints=[dl.constraints.LeakageLimit(own, 1)])
    both = dl.MinLeakage(
        **given,
        adversary=own,
        objective=dl.objectives.WeightedSum(
            [dl.objectives.LeakageTerm(own), dl.objectives.DistortionTerm(dl.Squared())]
        ),
    )
    audits = dl.MinLeakage(**given, adversary=own).costs_against(own).whole.times(2).seconds
    assert limited.costs.whole.seconds == both.costs.whole.seconds == pytest.approx(alone + audits)


@each(
    "question",
    problem([3, 2, 2], dl.Identity(), dl.symmetric(0.2), "0.5 max"),
    problem([3, 2, 2], dl.Table([0, 1, 2] * 4), dl.symmetric(0.2), "0.5 max"),
    problem([3, 2, 2], dl.Sum(), dl.geometric(0.2), "0.5 max"),
)
def test_kinds_cover_every_record_and_have_no_fewer_pairs_than_there_are(question):
    inputs = len(question.channel)
    kinds = record_kinds(question.query_of_inputs, question.records, inputs)
    assert sum(kind.times for kind in kinds) == len(question.records)
    index = question.query_of_inputs.index_of_dataset(question.records)
    for kind in kinds:
        listed = set(zip(question.records.letters_of_datasets(kind.record).tolist(), index.tolist(), strict=True))
        assert kind.letters == question.records.alphabets[kind.record]
        assert len(listed) <= kind.pairs <= kind.letters * inputs


def test_a_clock_leaves_to_the_proof_what_it_will_take():
    """The search's limit is earlier, that of everything is not; a part of the clock ends before the proof begins, too."""
    question, search = letters(64), Run.of(Limits(time_limit=20.0))
    assert isinstance(audit_within(question, search), EntropyAudit)
    whole = ROOM * question.costs.whole.seconds
    assert search.clock.time_limit == pytest.approx(20.0 - whole)
    assert search.clock.left == pytest.approx(search.clock.remaining + whole, abs=0.1)
    assert search.clock.part(1.0).time_limit == pytest.approx(20.0 - whole, abs=0.1)


def test_where_there_is_no_room_to_search_nothing_is_built():
    """No table of letters by letters is made, and the interval is the certain one."""
    audit = audit_within(letters(700), Run.of(Limits(memory_limit=64.0)))
    assert isinstance(audit, LettersAudit)
    tracemalloc.start()
    audit.run()
    lines = [*audit.proof()]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20
    assert len(lines) == 2
    assert (audit.out_of_room, audit.out_of_time) == (True, False)


def test_random_starts_of_many_letters_make_no_table_of_letters_by_letters():
    """Parity of records of 5,000 letters: two rows, and 48 starts of two numbers a letter."""
    question = problem(dl.Records(50, alphabet=5000), dl.Parity(), dl.symmetric(0.1), "0.9 max")
    audit = audit_within(question, Run.of(Limits(time_limit=1e-3)))
    tracemalloc.start()
    audit.run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 5000**2 / 2


def test_the_numbers_of_a_model_are_counted():
    """A prediction of seconds is one for numbers read: within a factor of two of the file's own length in numbers."""
    question = problem([2] * 6, None, dl.Channel([[1, 0]] * 64, inputs="dataset"), dl.PriorSet([["1/64"] * 64] * 8))
    numbers = json.dumps(dumps(question)).count(",")
    assert 1e-6 < (question.costs.certain.seconds / numbers) < 1e-4


def test_a_point_of_a_long_chain_is_predicted_to_take_long():
    """Checking one of 1,000 records takes 1.1 s, of 500 a quarter: after a signal the former was begun, in vain, with 0.4 s left."""

    def costs(count):
        chain = dl.MarkovChain(to_one=[0.1, 0.12], to_zero=[0.2, 0.22], record=count // 2)
        return problem(dl.Records(count, alphabet=2), dl.Count(), dl.geometric(0.5), chain).costs

    assert costs(1000).whole.seconds == pytest.approx(4 * costs(500).whole.seconds, rel=0.1)
    assert costs(1000).whole.seconds > 1.0
    assert costs(1000).certain.seconds < 0.2
