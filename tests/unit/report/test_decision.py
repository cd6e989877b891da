"""What whoever decides reads first: the verdict, households, the accuracy and the notice, and the words of the table."""

import dataclasses
import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from scipy.special import rel_entr

import dalenius as dl
from dalenius.measures.subjects import need_size
from dalenius.report.decision import (
    accuracy,
    advantage_at_most,
    guessed_at_most,
    guessed_by_rows,
    households,
    notice,
    of_two,
    percent_above,
    table_of,
    untold,
    verdict,
)
from dalenius.report.words import question, refusal
from dalenius.search import Clock
from dalenius.units import upper_in
from support import problem

EVERYTHING = math.nextafter(math.log(6), 2.0)  # nats about one of 6 letters, rounded upward


def town(size, records=1000, alphabet=2, query="count", noise="discrete_laplace 0.5"):
    return dl.WorstCaseLeakage(
        records=dl.Records(records, alphabet=alphabet),
        query=query,
        mechanism=noise,
        adversary=dl.IndependentBlocks(size),
    )


@pytest.mark.parametrize("above", [1e-15, 1e-12, 1e-11])
def test_a_share_that_is_a_little_above_a_whole_percent_is_rounded_up(above):
    upper = 0.37 * math.log(2) * (1 + above)
    first, *_ = verdict(town(4), 0.0, upper)
    assert Fraction(upper) > Fraction(37, 100) * Fraction(math.log(2))
    assert "at most 38 %" in first


@pytest.mark.parametrize(
    ("share", "said"), [(0.000161, "0.017"), (0.0437, "4.4"), (0.991, "100"), (1.0, "100"), (0.0, "0")]
)
def test_a_small_share_keeps_two_digits(share, said):
    assert percent_above(share * math.log(6), 6) == said


def test_households_have_what_each_has_by_itself():
    """Beside group privacy: randomised response of so many epsilons, the largest information there is about a bit."""
    rows = households(town(3), dl.solve(town(3)).upper, Clock())
    assert [row.size for row in rows] == [1, 2, 3, 4]
    for row in rows:
        p = 1 / (1 + math.exp(-float(row.epsilon)))
        entropy = -p * math.log2(p) - (1 - p) * math.log2(1 - p)
        assert row.implied == pytest.approx(1 - entropy, rel=1e-9)
        assert row.epsilon == row.size * dl.discrete_laplace("1/2").epsilon
        for bits, epsilon in ((row.proved, "1/2"), (row.halved, "1/4")):
            alone = dl.solve(town(row.size, noise=f"discrete_laplace {epsilon}"), gap=1e-6).to("bits")
            assert alone.lower <= bits <= alone.upper * 1.002
        assert row.halved < row.proved <= row.implied * (1 + 1e-9)
        for right, epsilon in ((row.guessed, "1/2"), (row.guessed_halved, "1/4")):
            least, most = dl.geometric(epsilon, range=row.size).channel(np.array([0, row.size]))
            assert right == pytest.approx(50 * np.maximum(least, most).sum(), abs=1e-6)
    assert table_of(rows)[-1][3:] == ("0.3668 (81.7)", "0.1299 (69.7)")


@pytest.mark.parametrize("asked", [town(16, noise="discrete_laplace 0.1"), town(5, records=20_000, query="histogram")])
def test_the_households_that_are_asked_about_are_in_the_table(asked):
    """However large, and where the ends of their own question have not met."""
    upper = dl.solve(asked).upper
    rows = households(asked, upper, Clock())
    assert [row.size for row in rows] == [1, 2, 4, asked.adversary.size]
    assert rows[-1].proved == min(upper_in(upper, "bits"), 1.0)
    assert table_of([replace(rows[-1], halved=None)])[-1][-1] == "–"


def test_a_person_moves_two_cells_of_a_histogram():
    rows = households(town(2, alphabet=5, query="histogram"), 0.1, Clock())
    assert [row.epsilon for row in rows] == [1, 2, 4]
    assert all(row.proved <= row.implied for row in rows)
    said = accuracy(town(2, alphabet=5, query="histogram"))
    assert said.endswith(
        "One person moves two cells, so that the epsilon of one person is 1, 2 times that of the noise, 0.5."
    )
    assert "moves what is released by up to 3, so that the epsilon of one person is 1.5" in accuracy(
        town(2, alphabet=4, query="sum")
    )
    assert "the epsilon of one person" not in accuracy(town(2))


@pytest.mark.parametrize(
    "asked",
    [
        problem(dl.Records(3, alphabet=2), dl.Count(), dl.geometric(1), dl.EntropyAtLeast("1 bits")),
        town(2, noise="discrete_gaussian scale = 2"),
        dl.WorstCaseLeakage(
            records=dl.Records(4, alphabet=2),
            query="parity",
            mechanism="symmetric flip = 0.2",
            adversary="product_priors",
        ),
    ],
    ids=["no households", "no epsilon", "no scale"],
)
def test_where_there_is_nothing_to_compare_there_is_no_table(asked):
    assert households(asked, 0.1, Clock()) == ()


@pytest.mark.parametrize(("limit", "least"), [(math.inf, 5), (40.0, 7), (400.0, 79)])
def test_the_household_that_is_asked_about_comes_first_and_has_its_share_of_the_time(limit, least, monkeypatch):
    looked = []
    monkeypatch.setattr(
        "dalenius.report.decision._of_size",
        lambda problem, size, noise, clock: looked.append((size, clock.remaining)) or (0.1, 60.0),
    )
    rows = households(town(3), 0.1, Clock(limit))
    assert [row.size for row in rows] == [1, 2, 3, 4]
    assert [size for size, _ in looked] == [3, 1, 1, 2, 2, 4, 4]
    assert least < looked[0][1] < least + 1 + least / 10


def test_an_epsilon_that_is_no_decimal_is_rounded_upward():
    asked = town(3, query="histogram", noise="discrete_laplace 1000/6969")
    assert table_of(households(asked, 0.1, Clock()))[1][1] == "0.286986"
    assert "one person is 0.286986, 2 times that of the noise, 0.143493." in accuracy(asked)
    assert "discrete Laplace noise, epsilon = 1000/6969 (at most 0.143493)." in question(asked)[1]
    assert question(town(3))[1].endswith("epsilon = 0.5.")


def test_what_a_program_says_of_too_many_probabilities_is_not_on_a_page():
    with pytest.raises(dl.errors.InputError) as told:
        need_size(601, 601)
    assert refusal(str(told.value)) == "at most 262144 probabilities are evaluated exactly, the release has 601 x 601"
    assert refusal("of a histogram") == "of a histogram"


def test_without_time_there_is_no_table():
    assert households(town(2), 0.1, Clock(0.0)) == ()


def test_the_verdict_holds_for_every_guess():
    """Of a table of joint probabilities that leaks so much no guess gains more than the verdict says."""
    rng = np.random.default_rng(4)
    bit = problem(dl.Records(1, alphabet=2), dl.Identity(), dl.symmetric("0.1"), dl.AnyPrior())
    for _ in range(200):
        joint = 0.5 * rng.dirichlet(np.full(3, 2.0), size=2)
        information = (joint * np.log(np.maximum(joint, 1e-300) / np.outer(joint.sum(1), joint.sum(0)))).sum()
        said = [*verdict(bit, 0.0, max(information, 0.0))][-1]
        before, after = (float(word) for word in said.split() if word.replace(".", "").isdigit() and word != "100")
        assert before == 50
        assert 100 * (joint.max(axis=0).sum() - joint.sum(axis=1).max()) <= after - before + 1e-9


def test_nothing_better_than_everything_is_no_conclusion():
    bit = problem(dl.Records(1, alphabet=2), dl.Identity(), dl.symmetric(0), dl.AnyPrior())
    (said,) = verdict(bit, 0.0, dl.solve(bit).upper)
    assert said.startswith("In short: no conclusion.")


def test_what_is_proved_from_below_alone_is_a_conclusion_and_no_guess_is_bounded():
    said, *_ = verdict(town(4, alphabet=6), 0.60999 * math.log(6), EVERYTHING)
    assert said.startswith("In short: at least 60 % of what there is to know"), "rounded downward"
    published = notice(town(4, alphabet=6), EVERYTHING).replace("\n", " ")
    assert "of 100 cases" not in published
    assert "proved for" not in published
    assert "at most 2.585 bits about your answer, which holds up to 2.585 bits. That is all of it" in published


def test_group_privacy_is_told_where_it_implies_less_than_the_certificate_proves():
    bit = town(2, query="histogram", noise="discrete_laplace 2")
    everything = math.nextafter(math.log(2), 1.0)
    first, group = verdict(bit, 0.0, everything)
    assert "no conclusion" not in first
    assert "at most 0.9957 bits, as the epsilon of a household of 2 is 8: that is a theorem" in group
    first, _, group = verdict(bit, 0.0, 0.999 * everything)
    assert "at most 0.9957 bits" in group
    assert not any("Group privacy" in said for said in verdict(bit, 0.0, 0.995 * everything))
    (said,) = verdict(town(2, query="histogram", noise="discrete_laplace 40"), 0.0, everything)
    assert said.startswith("In short: no conclusion.")


def test_households_stand_in_the_table_where_no_bound_is_closer():
    """Of several tables both ends do not meet, however much time there is."""
    tables = dl.queries.Margins.lattice([2, 3], 2)
    asked = town(4, alphabet=6, query=tables)
    rows = households(asked, EVERYTHING, Clock())
    assert [row.size for row in rows] == [1, 2, 4]
    assert rows[0].proved < rows[2].halved < rows[1].proved < rows[2].proved
    assert not untold(rows)
    assert "was not known" in untold(rows[2:])
    assert "was not known" in untold([*rows[:2], replace(rows[2], halved=None)])


def test_where_nearly_everything_is_proved_to_leak_that_is_the_conclusion():
    """And no text has more than there is to know: one bit, which is rounded upward from nats."""
    crowd = town(400, records=400, noise="discrete_laplace 0.1")
    told = dl.audit(crowd)
    assert told.result.to("bits").lower > 0.9999
    (said,) = verdict(crowd, told.result.lower, told.result.upper)
    assert said.startswith("In short: practically everything")
    assert "at least 99.9 % of it" in said
    assert "at most 1 bit about your answer, which holds up to 1 bit." in notice(crowd, told.result.upper).replace(
        "\n", " "
    )
    certain = households(town(1, noise="discrete_laplace 60"), 0.7, Clock())
    assert max(bits for row in certain for bits in (row.implied, row.proved, row.halved)) == 1.0


@pytest.mark.parametrize(("size", "records"), [(1, 1000), (2, 1000), (1, 1)])
def test_the_first_sentence_says_where_independence_is_assumed(size, records):
    asked = town(size, records=records)
    assert ("independent" in next(verdict(asked, 0.0, 0.1))) == (size == 1 < records)


def test_nearly_all_of_100_cases_are_not_all():
    histogram = town(5, records=20_000, query="histogram", noise="discrete_laplace 2")
    _, said, *_ = verdict(histogram, 0.0, 0.6616)
    assert said == "A guess that is right in 50 of 100 cases without the release is right in at most 99.5 with it."
    assert "right in at most 99.5 of 100 cases" in notice(histogram, 0.6616).replace("\n", " ")


def test_a_guess_of_an_independent_answer_is_no_better_than_its_epsilon_allows():
    """Pinsker's inequality said 91 at epsilon 2, where a randomised response is right in 88.1."""
    for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
        right = math.exp(epsilon) / (1 + math.exp(epsilon))
        nats = math.log(2) + right * math.log(right) + (1 - right) * math.log(1 - right)
        assert right <= guessed_at_most(nats, 2) <= right + 1e-9
    assert guessed_at_most(math.log(3), 3) == 1
    assert guessed_at_most(0.0, 3) == pytest.approx(1 / 3, abs=1e-5)


@pytest.mark.parametrize(("size", "alphabet"), [(2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize(
    "noise", ["discrete_laplace 0.5", "discrete_gaussian scale = 2", "geometric epsilon = 1, range = [0, 18]"]
)
def test_no_law_of_a_household_makes_a_guess_better_than_the_rows_allow(size, alphabet, noise):
    """Of a uniform letter and any law of the others given it; two letters that the whole household shares attain it."""
    asked = town(size, records=9, alphabet=alphabet, query="sum", noise=noise)
    most, rng, best, letters = float(guessed_by_rows(asked)), np.random.default_rng(0), 0.0, np.arange(alphabet)
    gain = 0.0
    written = (
        replace(asked.mechanism, range=[-40, 60]) if asked.mechanism.kind == "discrete_gaussian" else asked.mechanism
    )
    channel = written.channel(np.arange(9 * (alphabet - 1) + 1))
    for known in range(len(channel) - size * (alphabet - 1)):
        for draw in range(10):
            others = rng.dirichlet(np.full((alphabet - 1) * (size - 1) + 1, 0.3), size=alphabet)
            if not draw:
                others = np.eye(others.shape[1])[letters * (size - 1)]
            rows = [law @ channel[known + a : known + a + law.size] for a, law in zip(letters, others, strict=True)]
            best = max(best, float(np.max(rows, axis=0).sum()) / alphabet)
            prior = rng.dirichlet(np.ones(alphabet))
            gain = max(gain, float(np.max(prior[:, None] * rows, axis=0).sum() - prior.max()))
    assert best <= most
    assert 0 < gain <= advantage_at_most(asked, 10.0) == pytest.approx(most - 1 / alphabet)
    assert alphabet > 2 or best == pytest.approx(most, abs=1e-6)


BOTH = "margins attributes = [2, 2], tables = [[0], [1]]"


@pytest.mark.parametrize(
    ("size", "alphabet", "query", "noise"),
    [
        (1, 2, "histogram", "discrete_laplace 0.5"),
        (3, 2, "histogram", "discrete_laplace 2"),
        (3, 3, "histogram", "discrete_laplace 0.5"),
        (2, 5, "histogram", "geometric epsilon = 1, range = [-3, 99]"),
        (2, 3, "histogram", "discrete_gaussian scale = 0.6"),
        (2, 4, BOTH, "discrete_laplace 0.4"),
        (3, 4, BOTH, "discrete_laplace 1.5"),
    ],
)
def test_no_household_makes_a_guess_from_tables_better_than_their_cells_allow(size, alphabet, query, noise):
    """What is guessed is convex in the law of each letter's household: all known households are tried, and all selections of them."""
    asked = town(size, records=99, alphabet=alphabet, query=query, noise=noise)
    others = itertools.combinations_with_replacement(range(alphabet), size - 1)
    homes = [np.bincount(other, minlength=alphabet) for other in others]
    cells = np.eye(alphabet, dtype=int)
    if query == BOTH:
        cells = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]])
    epsilon = getattr(asked.mechanism, "epsilon", None)
    written = dl.geometric(epsilon, range=size) if epsilon else replace(asked.mechanism, range=[-4, 6])
    channel = written.channel(np.arange(size + 1))
    rows = [
        [reduce(np.multiply.outer, channel[(np.eye(alphabet, dtype=int)[a] + home) @ cells]).ravel() for home in homes]
        for a in range(alphabet)
    ]
    for values in {2, alphabet}:
        chosen = itertools.chain.from_iterable(
            itertools.product(*some) for some in itertools.combinations(rows, values)
        )
        best = max(np.max(laws, axis=0).sum() for laws in chosen) / values
        most = float(guessed_by_rows(asked, values))
        assert best <= most
        assert most < best + (1e-4 if values == 2 else 0.16)
        assert advantage_at_most(asked, 10.0) >= best - 1 / values or values < alphabet


def test_however_a_household_moves_one_cell_down_and_one_up_is_the_most():
    """Of households of 4 in 4 cells, all pairs; and of each and none, at every level of a test."""
    homes = np.array([home for home in np.ndindex(5, 5, 5, 5) if sum(home) == 4])
    channel = dl.geometric(0.7, range=4).channel(np.arange(5))
    laws = np.array([reduce(np.multiply.outer, channel[home]).ravel() for home in homes])
    apart = max(np.abs(laws - law).sum(axis=1).max() for law in laws) / 2
    without = reduce(np.multiply.outer, channel[[0] * 4]).ravel()
    informed = (
        max((rel_entr(law, (law + laws) / 2) + rel_entr(laws, (law + laws) / 2)).sum(axis=1).max() for law in laws) / 2
    )
    for values in (2, 3, 7, 100):
        asked = town(4, alphabet=values, query="histogram", noise="discrete_laplace 0.7")
        most = float(guessed_by_rows(asked, values))
        assert 2 * guessed_by_rows(asked, 2) - 1 == pytest.approx(apart, abs=1e-7)
        assert informed < of_two(asked) < informed + 1e-6
        powers = []
        for law in laws:
            likely = np.argsort(-law / without)
            powers.append(np.interp(1 / values, *(np.append(0, x[likely].cumsum()) for x in (without, law))))
        assert most == pytest.approx(min(max(powers), (1 + (values - 1) * apart) / values), abs=1e-7)


def test_a_guess_from_a_histogram_of_many_values_is_nearly_what_somebody_reaches():
    """Of 12 values and six people who are alike: the largest of 12 cells is the best guess."""
    asked = town(6, alphabet=12, query="histogram", noise="discrete_laplace 0.1")
    none, alike = dl.geometric("0.1", range=6).channel(np.array([0, 6]))
    reached = (alike / none) @ np.diff(np.append(0, none.cumsum() ** 12)) / 12
    assert reached <= float(guessed_by_rows(asked)) < reached + 0.002
    assert guessed_by_rows(asked, 2) < Fraction(6434, 10_000)


def test_where_no_channel_is_written_out_the_bits_alone_bound_a_guess():
    assert guessed_by_rows(town(2, query="histogram", alphabet=3, noise=dl.staircase(1, sensitivity=2, top=1))) == 1
    alike, different = (dl.several_releases(dl.discrete_laplace(1), dl.discrete_laplace(e), on=[0, 1]) for e in (1, 2))
    assert guessed_by_rows(town(2, query=BOTH, alphabet=4, noise=alike)) < 1
    assert guessed_by_rows(town(2, query=BOTH, alphabet=4, noise=different)) == 1
    assert guessed_by_rows(town(1000, records=3000)) == 1


def test_all_that_is_proved_may_be_about_one_attribute():
    """Typed by a reader: of 18 combinations "2.4 %, 5.56 -> 16", where one who knows two attributes learns a tenth of the third."""
    said = verdict(
        town(2, alphabet=18, query="margins attributes = [2, 9], tables = [[0], [1]]"), 0.0, 0.0999 * math.log(2)
    )
    share, guess, left = said
    assert "at most 2.4 % of what there is to know" in share
    assert (
        "in 5.56 of 100 cases without the release, all answers being as likely, is right in at most 16 with it" in guess
    )
    assert left == (
        "Somebody who knows that the person has one of two combinations of values, both as likely, may learn up to 10 % of which: "
        "right in at most 69 of 100 cases instead of 50."
    )


def test_people_with_fewer_values_are_not_covered_by_a_share_of_more():
    """A bit is all of what somebody with two values has, and a quarter of sixteen."""
    mixed = problem(dl.Records(alphabets=[2, 16]), dl.Identity(), dl.symmetric("0.1"), dl.AnyPrior())
    said = next(verdict(mixed, 0.0, math.log(2)))
    assert "%" not in said
    assert "at most 1.001 bits" in said or "at most 1 bits" in said
    assert "who has 1 to 4" in said


def test_the_words_of_a_table_reach_the_page_and_the_notice(tmp_path):
    people = dl.from_frame(
        {"home": [1, 2, 1, 3], "smokes": ["yes", "no", "no", "no"]},
        answer="smokes",
        household="home",
        letters=["no", "yes"],
    )
    told = dl.audit("discrete_laplace 0.5", records=people)
    page = " ".join(told.page().replace(">", "").split())
    assert "each with a value of smokes: no or yes" in page
    assert "We publish how many of [say whom] have yes in smokes" in page
    assert "households of up to 2 people" in page
    html = told.html()
    assert "how many of them have yes in smokes" in html
    assert "the answer of a member of a household of 2 is no" in html
    assert "record 0" not in html
    assert "each with a value of smokes: no or yes" in dl.audit(dl.loads(dl.dumps(told.problem))).page().replace(
        "\n", " "
    )
    unnamed = dataclasses.replace(told.problem, records=dl.Records(4, alphabet=2))
    swapped = dataclasses.replace(
        told.problem, records=dl.Records(4, alphabet=2, answer="smokes", letters=["yes", "no"])
    )
    assert swapped == told.problem, "names carry no meaning"
    assert "records.letters" in swapped._repr_html_()
    assert "records.letters" not in unnamed._repr_html_()
    assert "how many of [say whom] have no in smokes, with random noise" in notice(swapped, 0.1)


@pytest.mark.parametrize(
    ("query", "adversary", "said"),
    [
        ("count", "4 bits", "if they lack at least 4 bits about the answers of all together beforehand"),
        ("count", "1 nats", "if they lack at least 1.443 bits about the answers"),
        ("count", "0.8 max", "if they lack at least 0.8 times all there is to know about the answers of all together"),
        (
            "count",
            "0 bits",
            "We publish how many of [say whom] are 1 [say what that means], with random noise. Even somebody who",
        ),
        (
            "threshold 3",
            "product_priors",
            "We publish whether the sum of the answers of [say whom] is at least 3, with",
        ),
        ("identity", "product_priors", "We publish the answers of [say whom], changed at random. Somebody"),
        (
            "count",
            dl.IndependentBlocks(2, entropy_at_least="1 bits"),
            "if they lack at least 1 bit about the answers of your household",
        ),
        ("parity", dl.FixedPrior([1 / 32] * 32), "knows no more beforehand than [say what is assumed] learns"),
    ],
)
def test_the_notice_can_be_published_against_every_adversary(query, adversary, said):
    noise = "geometric 1" if query == "count" else "symmetric flip = 0.2"
    told = notice(
        dl.WorstCaseLeakage(records=dl.Records(5, alphabet=2), query=query, mechanism=noise, adversary=adversary), 0.1
    )
    told = " ".join(told.split())
    assert said in told
    assert "of that kind" not in told
    assert "question" not in told


@pytest.mark.parametrize("people", [1, 9])
def test_the_notice_says_where_answers_are_randomised_one_by_one(people):
    asked = dl.audit("randomized_response 1" if people == 1 else "randomized_count 1", people).problem
    said = "We publish the answer of [say whom], changed at random."
    if people > 1:
        said = "are 1 [say what that means], counted after each answer was changed at random."
    assert said in " ".join(notice(asked, 0.1).split())


def test_the_accuracy_is_that_of_the_noise():
    assert "wrong by 1 on average, and by 2 with" in accuracy(town(1, noise="laplace scale = 1"))
    rng = np.random.default_rng(3)
    drawn = np.abs(rng.normal(size=200_000)).mean() * 2
    assert float(accuracy(town(1, noise="gaussian scale = 2")).split("by ")[1].split()[0]) == pytest.approx(
        drawn, rel=0.01
    )
