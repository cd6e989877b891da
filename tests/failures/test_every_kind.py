"""Whatever `load` takes `solve` answers: models of every kind, drawn, with extreme numbers among theirs (tests/every_kind.py)."""

from __future__ import annotations

import json
import math
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction

import pytest

import campaigns
import dalenius as dl
from campaigns import draws, thinned
from dalenius import _prove
from dalenius.designs.exchange import region
from dalenius.model.constraints.base import Affine
from dalenius.report.progress import trace_picture
from dalenius.report.release import mechanism_picture
from dalenius.results import NOT_FOUND
from dalenius_check import Status, Verdict
from every_kind import HARDLY_ANY, KINDS, MAKERS, SHELVES, drawn, faults

BIT = """
problem = "{}"
records = {{ count = 1, alphabet = 2 }}
query = {{ kind = "identity" }}
"""
FOUR = BIT.replace("count = 1, alphabet = 2", "count = 2, alphabet = 4")
ROWS = 'mechanism = { kind = "matrix", rows = [["1/3", "2/3"], ["1/5", "4/5"]] }\n'
DESIGN = 'mechanism = { class = "oblivious" }\ndistortion = { kind = "hamming" }\nlaw = { kind = "uniform" }\n'
LISTED = 'adversary = { kind = "prior_set", priors = [["2/3", "1/3"]] }\n'
LETTERS = 'problem = "min_distortion"\nrecords = {{ alphabets = {} }}\n'
ANSWERED = {  # what had no answer once, or a wide one, and a proof of which was refused
    "a measure of which lines meet at a peak": BIT.format("max_information")
    + 'law = { kind = "uniform" }\nconstraints = [{ kind = "measure", at_most = "0", '
    'measure = [["1", "-3/2"], ["0", "0"]], priors = [["4/7", "3/7"]] }]',
    "a divergence ball of hardly any radius": BIT.format("min_leakage")
    + DESIGN
    + 'max_distortion = "1/4"\nadversary = { kind = "kl_ball_priors", center = ["1/2", "1/2"], radius = "1e-40" }',
    "a chi-square ball of hardly any radius": BIT.format("min_leakage")
    + DESIGN
    + 'max_distortion = "1/4"\nadversary = { kind = "chi_square_ball_priors", center = ["1/2", "1/2"], radius = "1e-40" }',
    "hardly any leakage to a class of laws": BIT.format("min_distortion")
    + DESIGN
    + 'max_leakage = "1e-40"\nadversary = { kind = "floor_priors", floor = "0.1" }',
    "hardly any leakage about what is sure": BIT.format("min_distortion")
    + DESIGN
    + 'adversary = { kind = "floor_priors", floor = "0" }\nmax_leakage = "1"\n'
    'constraints = [{ kind = "leakage", adversary = { kind = "polytope_priors", vertices = [["0", "1"]] }, at_most = "1e-40" }]',
    "a sure secret": BIT.format("min_distortion")
    + DESIGN
    + 'constraints = [{ kind = "local_dp_delta", epsilon = "1", at_most = "0.1", secret = [[["1/3", "2/3"], ["0", "0"]]] }]',
    "a count of all letters": FOUR.format("maximal_leakage").replace('"identity"', '"count", letters = [0, 1, 2, 3]')
    + 'mechanism = { kind = "subset_selection", epsilon = "1", size = 2 }\n'
    'adversary = { kind = "polytope_priors", vertices = [["844/859", "2/859", "10/859", "3/859"]] }',
    "Hadamard response that hardly ever lies": BIT.format("maximal_leakage")
    + 'mechanism = { kind = "hadamard_response", epsilon = 40 }\nadversary = { kind = "product_priors" }',
    "a limit of leakage, one output and nobody else who asks": BIT.format("min_distortion").replace("2 }", "3 }")
    + 'mechanism = { class = "oblivious" }\ndistortion = { kind = "squared", outputs = ["3/2"] }\nlaw = { kind = "uniform" }\n'
    'constraints = [{ kind = "leakage", at_most = "0.5", '
    'adversary = { kind = "prior_set", priors = [["3/5", "2/5", "0"], ["1/2", "1/14", "3/7"]] } }]',
    "a cone and a multiplier of few digits": BIT.format("min_leakage")
    .replace('"identity"', '"parity"')
    .replace("2 }", "5 }")
    + DESIGN.replace("oblivious", "additive")
    + 'max_distortion = "0.25"\nadversary = { kind = "product_priors" }\nconstraints = [{ kind = "unbiased" }, { kind = "cone", '
    'constant = "0.5", terms = [[1, 0, "-1"]], norm = [{ terms = [[1, 0, "2"], [1, 1, "2"]], constant = "-1/2" }, '
    '{ terms = [[0, 0, "1"], [1, 0, "2"]] }] }]',
    "a bound that is less than the rounding of what it is a difference of": BIT.format("min_distortion").replace(
        '"identity"', '"sum", weights = [1, 1]'
    )
    + 'max_leakage = "0.5"\nmechanism = { class = "oblivious" }\n'
    'distortion = { kind = "matrix", rows = [["1e-40", "1", "0", "0"]], outputs = ["-1", "0", "2", "7/2"] }\n'
    'law = { kind = "iid", probabilities = ["1", "0"] }\n'
    'adversary = { kind = "kl_ball_priors", center = ["1", "0"], radius = "1e-17" }\n'
    'objective = { combine = "sum", terms = [{ kind = "distortion", distortion = { kind = "absolute", '
    'outputs = ["1", "2", "3", "7/2"] } '
    '}, { kind = "leakage", adversary = { kind = "kl_ball_priors", center = ["883/884", "1/884"], radius = "0.02" } }] }',
    "an adaptive release of rationals, then of an epsilon": BIT.format("maximal_leakage")
    .replace("count = 1", "count = 2")
    .replace(
        '"identity"',
        '"joint", queries = [{ kind = "sum", weights = [[2, 4], [1, 2]] }, { kind = "count", letters = [1] }]',
    )
    + 'mechanism = { kind = "adaptive", mechanism = { kind = "exponential", epsilon = "0", sensitivity = "1/3" }, on = 1, '
    'then = [{ }, { }, { mechanism = { kind = "discrete_laplace", epsilon = "1" }, on = 1 }] }\n'
    'adversary = { entropy_at_least = "0.8 max" }',
    "hardly any leakage, and no constant mechanism": HARDLY_ANY,
    "a cone that is touched in one point": BIT.format("min_distortion")
    + DESIGN
    + 'max_leakage = "0.5"\nadversary = { kind = "floor_priors", floor = "0.1" }\nconstraints = [{ kind = "cone", constant = "0", '
    'terms = [], norm = [{ terms = [[0, 0, "1"]], constant = "-1/3" }, { terms = [[1, 0, "1"]], constant = "-1/2" }] }]',
    "posteriors that are almost 0": BIT.format("min_leakage")
    .replace("count = 1, alphabet = 2", "count = 3, alphabet = 3")
    .replace(
        '"identity"',
        '"table", values = [0, -1, 1, 0, 0, 1, -1, -1, 1, -1, 1, -1, 0, 1, 1, -1, 1, -1, -1, 1, -1, 1, 1, 1, -1, 1, 0]',
    )
    + 'max_distortion = "0"\nmechanism = { class = "full" }\ndistortion = { kind = "hamming" }\n'
    'law = { kind = "iid", probabilities = ["1/6", "5/6", "0"] }\nadversary = { kind = "floor_priors", floor = "1e-40" }',
    "a box of one law, whose doubles sum to less than 1": BIT.format("maximal_leakage").replace(
        "alphabet = 2", "alphabet = 3"
    )
    + 'mechanism = { kind = "optimized_unary_encoding", epsilon = 2 }\n'
    'adversary = { kind = "box_priors", low = ["95/99", "1/99", "1/33"], high = ["95/99", "1/99", "1/33"] }',
    "hashing that hardly ever lies, and a law": FOUR.format("maximal_leakage").replace(
        '"identity"', '"threshold", at = 1'
    )
    + 'mechanism = { kind = "local_hashing", epsilon = 40, buckets = 3 }\n'
    'adversary = { kind = "kl_ball_priors", center = ["53/55", "1/165", "2/165", "1/55"], radius = "0" }',
    "hashing that hardly ever lies": BIT.format("maximal_leakage")
    + 'mechanism = { kind = "local_hashing", epsilon = 40, buckets = 3 }\nadversary = { kind = "product_priors" }',
    "an output that never occurs beside others of an epsilon": BIT.format("maximal_leakage")
    .replace("count = 1", "count = 2")
    .replace('"identity"', '"threshold", at = 1')
    + 'mechanism = { kind = "adaptive", mechanism = { kind = "randomized_response", epsilon = "1/3" }, then = [{ '
    'mechanism = { kind = "matrix", rows = [["0.1", "0.9"], ["1", "0"]] } }, { }] }\n'
    'adversary = { kind = "finite_chain", transitions = [["5/662", "657/662"], [["0", "1/50"], ["49/50", "1"]]], '
    'start = "stationary", record = 0 }',
    "a chain whose outputs have probabilities of e^-300": BIT.format("maximal_leakage")
    .replace("count = 1", "count = 2")
    .replace('"identity"', '"count"')
    + 'mechanism = { kind = "several_releases", parts = [{ kind = "exponential", epsilon = "300", range = [-1, 2] }] }\n'
    'adversary = { kind = "finite_chain", transitions = [[["43/70", "57/70"], ["13/70", "27/70"]], '
    '[["27341/27950", "1"], ["0", "609/27950"]]], record = 1 }',
    "a limit of 0, and one value of all data": BIT.format("min_distortion")
    .replace("count = 1, alphabet = 2", "count = 2, alphabet = 3")
    .replace('"identity"', '"count", letters = [0, 1, 2]')
    + 'max_leakage = "0"\nmechanism = { class = "oblivious" }\ndistortion = { kind = "absolute" }\nlaw = { kind = "uniform" }\n'
    'constraints = [{ kind = "cone", norm = [{ terms = [[1, 1, "2"], [2, 0, "2"], [2, 1, "-1"]], constant = "-1/2" }, '
    '{ terms = [[2, 2, "1/3"], [0, 2, "2"], [0, 2, "1/3"]], constant = "0" }], constant = "0.5" }]\n'
    'objective = { combine = "sum", terms = [{ kind = "distortion", distortion = { kind = "absolute" }, weight = "1/10" }, '
    '{ kind = "leakage", adversary = { kind = "kl_ball_priors", center = ["0", "0", "1"], radius = "0" } }], weight = "2" }\n'
    'adversary = { entropy_at_least = "1 max" }',
    "by how much a limit is passed is no distortion": LETTERS.format("[2, 2, 2, 2]")
    + 'query = { kind = "sum", weights = [[0, -2], [-1, -2], [-1, 1], [1, -2]] }\nmax_leakage = "0.3 bits"\n'
    'mechanism = { class = "oblivious" }\ndistortion = { kind = "squared" }\nlaw = { kind = "uniform" }\n'
    'constraints = [{ kind = "band", width = "1" }]\nadversary = { kind = "polytope_priors", vertices = [["1", "0"]] }',
    "a limit that is less than the rounding of what is told": BIT.format("min_distortion").replace("2 }", "3 }")
    + 'max_leakage = "1e-17"\nmechanism = { class = "oblivious" }\ndistortion = { kind = "squared", outputs = ["-1/2", "2", "5/2"] }\n'
    'law = { kind = "uniform" }\nconstraints = [{ kind = "monotone" }, { kind = "total_variation", at_most = "0.1", '
    'secret = [[["6/389", "6/389", "377/389"]]], strong = true }]\n'
    'adversary = { kind = "box_priors", '
    'low = ["0.7999999999999999999999999999999999999999", "0.1999999999999999999999999999999999999999", "0"], '
    'high = ["0.8000000000000000000000000000000000000001", "0.2000000000000000000000000000000000000001", "1e-40"] }',
    "selections far apart, of which few laws of the class tell": LETTERS.format("[3, 3, 3]")
    + 'query = { kind = "modular_sum", modulus = 4 }\nmax_leakage = "0.5"\nmechanism = { class = "full" }\n'
    'distortion = { kind = "absolute", outputs = ["1", "2", "4", "9/2"] }\nlaw = { kind = "uniform" }\n'
    'adversary = { kind = "polytope_priors", vertices = [["1/765", "1/765", "763/765"], ["2/11", "3/11", "6/11"], '
    '["2/7", "0", "5/7"], ["0", "1", "0"]] }',
    "nothing to be told about a sure letter, and rows that are far apart": LETTERS.format("[4, 4]")
    + 'query = { kind = "table", values = [4, 4, 3, 3, 1, 2, 0, 3, 4, 1, 4, 2, 3, 0, 2, 1] }\nmax_leakage = "0"\n'
    'mechanism = { class = "full" }\nlaw = { kind = "uniform" }\n'
    'distortion = { kind = "absolute", outputs = ["0", "1", "3"] }\n'
    'adversary = { kind = "chi_square_ball_priors", center = ["0", "1", "0", "0"], radius = "0.1" }',
    "no mechanism, as multipliers of 30 digits prove": BIT.format("min_distortion")
    .replace("count = 1", "count = 2")
    .replace('"identity"', '"sum"')
    + DESIGN.replace("oblivious", "full")
    + 'constraints = [{ kind = "band", width = "0" }, '
    '{ kind = "local_information_privacy", epsilon = "40", priors = [["0", "1/15", "1/9", "37/45"]] }]',
}
REFUSED = {
    "weights": (
        BIT.format("min_leakage")
        + DESIGN
        + 'max_distortion = "1/4"\nobjective = { combine = "max", terms = [{ kind = "distortion", weight = "1e-17", '
        'distortion = { kind = "hamming" } }] }\n' + LISTED,
        "none less than 1e-15 of another",
    ),
    "a term's distortion": (
        BIT.format("min_leakage")
        + DESIGN
        + 'max_distortion = "1/4"\nobjective = { combine = "sum", terms = [{ kind = "distortion", '
        'distortion = { kind = "matrix", rows = [["1e-40", "0"], ["0", "0"]] } }] }\n' + LISTED,
        "between 1e-06 and 1e",
    ),
    "distortions": (
        BIT.format("min_distortion")
        + DESIGN.replace('"hamming"', '"matrix", rows = [["1e-40", "0"], ["0", "0"]]')
        + 'max_leakage = "1/4"\n'
        + LISTED,
        "between 1e-06 and 1e",
    ),
    "a distortion that weighs much": (
        BIT.format("min_distortion")
        + DESIGN
        + 'privacy = { kind = "local_dp", epsilon = "1" }\nobjective = { combine = "sum", terms = [{ kind = "distortion", '
        'weight = "1e301", distortion = { kind = "hamming" } }] }\n',
        "between 0 and 1e",
    ),
    "a limit of 0": (
        BIT.format("min_distortion") + DESIGN + 'constraints = [{ kind = "total_variation", at_most = "0" }]',
        "met on its boundary only",
    ),
    "too many extreme mechanisms": (
        FOUR.format("max_information")
        + 'law = { kind = "uniform" }\nprivacy = { kind = "pointwise_maximal_leakage", epsilon = 1 }',
        "at most 13 inputs",
    ),
    "a secret limited under all laws": (
        BIT.format("min_distortion").replace("alphabet = 2", "alphabet = 28")
        + DESIGN
        + 'constraints = [{ kind = "secret_leakage", of = { kind = "modular_sum", modulus = 4 }, at_most = "0.1" }]',
        "from 2401 selections of inputs, and at most 2048",
    ),
    "blocks whose letters select too much": (
        FOUR.format("min_leakage").replace("alphabet = 4", "alphabet = 16").replace('"identity"', '"sum"')
        + DESIGN
        + 'max_distortion = "1"\nadversary = { kind = "independent_blocks", size = 2 }',
        "more than 4194304 numbers",
    ),
    "a joint query beside rows of datasets": (
        BIT.format("maximal_leakage").replace(
            '"identity"', '"joint", queries = [{ kind = "parity" }, { kind = "count" }]'
        )
        + ROWS.replace("] }", '], inputs = "dataset" }')
        + LISTED,
        "a matrix from its vectors",
    ),
    "noise on the real line beside blocks with an entropy": (
        BIT.format("maximal_leakage").replace('"identity"', '"count", letters = [0, 1]')
        + 'mechanism = { kind = "gaussian", scale = 1 }\n'
        'adversary = { kind = "independent_blocks", size = 1, entropy_at_least = "0.3" }',
        "leave entropy_at_least out",
    ),
}


@pytest.mark.parametrize("shelf", SHELVES)
def test_the_generator_knows_every_kind(shelf):
    """A new kind that it cannot draw fails here."""
    assert set(MAKERS[shelf]) == set(SHELVES[shelf])


@pytest.fixture(scope="module")
def seen():
    """The kinds that models of this run had."""
    return set()


@pytest.mark.campaign(minutes=10)  # of all kinds together
@pytest.mark.parametrize("wanted", KINDS[::-1], ids="-".join)
def test_what_load_takes_is_answered(wanted, seen):
    """It loads to the same from what is written of it; and there is an interval, as narrow as what the search found, and no doubt.

    Daily a kind that another one's model had needs none of its own.
    """
    if wanted in seen and not campaigns.THOROUGH:
        return
    for seed in range(draws(1, 5, 52)):
        model = drawn(seed, wanted)
        seen |= model.kinds
        assert dl.loads(dl.dumps(model.problem)) == model.problem
        found = faults(model.problem)
        assert not found, f"{found[0]}\n{model.text}"


@pytest.mark.parametrize("name", thinned(ANSWERED, every=2))
def test_what_was_once_found_is_answered(name):
    assert not faults(dl.loads(ANSWERED[name]))


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_answered_is_refused_when_it_is_loaded(name):
    text, reason = REFUSED[name]
    with pytest.raises(dl.errors.InputError, match=reason):
        dl.loads(text)


# Designs of which neither a mechanism nor the lack of one is proved: the third answer, and what everybody who reads it says.


PROBLEM = dl.loads(HARDLY_ANY)
NEARLY_CLEAR = dl.MinDistortion(
    records=dl.Records(1, alphabet=2),
    query=dl.Identity(),
    mechanism="oblivious",
    distortion=dl.Hamming(),
    adversary=dl.FloorPriors("0.1"),
    max_leakage="0.1 nats",
    constraints=[dl.constraints.Band(1)],
)


@pytest.fixture(scope="module")
def result():
    return dl.solve(PROBLEM)


def test_a_bound_is_proved_and_no_mechanism_shown(result):
    assert 0.49 < result.lower <= 0.5
    assert (result.upper, result.gap, result.mechanism, result.feasible) == (math.inf, 1.0, None, False)
    assert (result.status, result.termination) == (dl.answers.Status.OPEN, dl.answers.Termination.STALLED)
    assert str(result).startswith(NOT_FOUND)
    assert "0.49999" in str(result)
    assert result.lower == result.with_leakages_in("bits").lower
    with pytest.raises(dl.errors.GapNotReachedError):
        result.require(gap=0.99)


def test_it_is_verified_and_no_more(result):
    verdict = dl.verify(PROBLEM, result.certificate)
    assert verdict.proved
    assert verdict.reason.endswith("<= V in units of the distortion; no mechanism is shown")
    assert (float(verdict.lower), verdict.upper) == (result.lower, None)
    head, rest = result.certificate.text.split("\n", 1)
    forged = json.dumps(json.loads(head) | {"lower": "0.5000001"}) + "\n" + rest
    assert "lower <= the priors' bound fails" in dl.verify(PROBLEM, dl.Certificate(forged)).reason


@pytest.mark.parametrize(("beyond", "termination"), [(False, "proof_refused"), (True, "time_limit")])
def test_what_is_proved_from_below_is_kept_where_all_mechanisms_are_refused(monkeypatch, beyond, termination):
    """It was an error: nothing can be proved about this design."""
    verify, known = _prove.verify, dl.solve(NEARLY_CLEAR)
    limit = {"cause": "limit", "allowed": "seconds"} if beyond else {}
    refused = Verdict(Status.UNDECIDED if beyond else Status.REJECTED, "certificate line 1: a mechanism", **limit)

    def refusing(problem, certificate, **options):
        shown = isinstance(problem, dl.MinDistortion) and certificate.header.mechanism is not None
        return refused if shown else verify(problem, certificate, **options)

    monkeypatch.setattr(_prove, "verify", refusing)
    with nullcontext() if beyond else pytest.warns(dl.errors.ProofRefusedWarning, match="a mechanism"):
        result = dl.solve(NEARLY_CLEAR)
    assert (result.lower, result.upper, result.mechanism) == (known.lower, math.inf, None)
    assert result.termination.value == termination
    assert dl.verify(NEARLY_CLEAR, result.certificate).proved


def missed(by):
    """A cone that a row misses by so much."""
    least = Fraction(1, 3) + Fraction(1, 10) + Fraction(by)
    parts = [((0, 0, 1), Fraction(-1, 3)), ((1, 0, 1), Fraction(-1, 2))]
    cone = dl.constraints.SecondOrderCone([Affine([term], end) for term, end in parts], constant="0.1")
    return replace(NEARLY_CLEAR, constraints=[cone, dl.constraints.Linear([(0, 0, -1)], at_most=-least)])


def test_cones_that_are_missed_by_hardly_anything_have_no_mechanism():
    """What a solver takes for a touch is decided by its multipliers."""
    result = dl.solve(missed("1e-9"))
    assert (result.status, result.refusals) == (dl.answers.Status.INFEASIBLE, ())
    assert dl.verify(missed("1e-9"), result.certificate).proved


@pytest.mark.parametrize("by", ["0", "-1e-3", "1e-3"])
@pytest.mark.filterwarnings("error::dalenius.errors.ProofRefusedWarning")
def test_multipliers_that_prove_no_conflict_are_not_claimed_to(monkeypatch, by):
    """A solver that says that there is none is not believed: its proof was refused, and there was a doubt about the answer."""
    solved = region.cone_interior

    def lying(*given):
        answer = solved(*given)
        return replace(answer, excess=1e-3, prices=0.5 * answer.prices)

    monkeypatch.setattr(region, "cone_interior", lying)
    result = dl.solve(missed(by))
    assert result.status is dl.answers.Status.OPEN
    assert not result.refusals


@pytest.mark.parametrize("draw", [trace_picture, mechanism_picture])
def test_pictures_refuse_it(result, draw):
    with pytest.raises(dl.errors.InputError, match="nor a proof that there is none"):
        draw(result)


def test_the_command_line_tells_it_from_what_nothing_meets(tmp_path, command_line):
    (tmp_path / "model.toml").write_text(HARDLY_ANY)
    done = command_line("solve", "model.toml", "-o", "out", "--json", "--at-most", "1 nats")
    assert done.returncode == 6, done.stderr
    assert "nothing is proved" in done.stderr
    answer = json.loads(done.stdout)
    assert (answer["feasible"], answer["upper"], answer["status"]) == (False, None, "open")
    assert 0.49 < answer["lower"] <= 0.5
    assert command_line("solve", "model.toml").stdout.startswith(NOT_FOUND)
    assert "no mechanism is shown" in command_line("verify", "model.toml", "out/model.cert").stdout
    shown = json.loads(command_line("show", "out/model.cert", "--json").stdout)
    assert (shown["claim"], shown["upper"]) == ("from below alone: no mechanism is shown", None)
    assert 0.49 < float(shown["lower"]) <= 0.5
    page = command_line("report", "out", "-o", "page.html")
    assert page.returncode == 0, page.stderr
    assert "No mechanism is shown." in (tmp_path / "page.html").read_text()


def test_sweeps_keep_it(tmp_path):
    for _ in range(2):  # solved, then read
        record = dl.sweep(PROBLEM, output=tmp_path / "swept").records[0]
        assert (record.feasible, record.upper, record.gap, record.status) == (False, None, 1.0, "open")
        assert 0.49 < record.lower <= 0.5
