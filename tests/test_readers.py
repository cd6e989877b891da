"""What readers typed who had nothing but README and the pages: five tasks, replayed to their end.

The statistician has a table, the engineer a CI, the optimiser a solver, the theorist a notion, the contributor a kind of their own.
"""

import json
import shlex
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import dalenius as dl
from dalenius.programs import certify

CENSUS = """\
person,household,employed,age
1,a,yes,30-39
2,a,no,60-69
3,a,yes,0-9
4,b,yes,40-49
5,b,no,10-19
6,c,no,30-39
7,d,yes,20-29
"""
TABLE = "--table census.csv --household household --mechanism discrete_laplace:0.5"
AGES = "0-9,10-19,20-29,30-39,40-49,50-59,60-69"
STATISTICIAN = [  # what is typed, the exit status, and what must stand in the answer
    (f"audit {TABLE} --answer employed --letters no,yes -o count.md", 0, ["count.md", "count.cert"]),
    (f"audit {TABLE} --answer employed --letters yes,no", 0, ["how many of them have no in employed"]),
    (
        f"audit {TABLE} --answer employed --letters no,maybe",
        2,
        ["(the first: line 2) have an answer in the column employed"],
    ),
    (f"audit {TABLE} --answer employment --letters no,yes", 2, ["did you mean 'employed'?"]),
    (f"audit {TABLE} --answer age --letters {AGES} --query histogram -o ages.md", 0, ["ages.cert"]),
    ("audit --mechanism laplace:0.5 --people 100", 2, ["'laplace scale = 0.5'", "epsilon"]),
    (
        "audit --mechanism randomized_count:0.5 --people 9 --blocks 4",
        2,
        ["write randomized_histogram with the query histogram"],
    ),
    ("audit --mechanism geometric:1 --people 9 --adversary 0.8", 2, ["--adversary: '0.8' of what?", "or '0.8 max'"]),
    ("show census.csv", 2, ["of a table of people write audit --table census.csv", "of a matrix measure census.csv"]),
    ("report census.csv -o page.html", 2, ["of a table of people write audit --table census.csv"]),
    ("show count.md", 2, ["its model stands beside it"]),
    (
        "noise count.toml --at-most '0.1 bits'",
        0,
        ["epsilon = ", "wrong by", "is enough for 0.1 bits of 1 bit possible"],
    ),
    ("noise --noise laplace --people 7 --blocks 3 --at-most 0.1", 2, ["'0.1 bits'"]),
    ("noise --mechanism laplace --people 7 --households 3 --at-most '0.1 bits'", 0, ["laplace noise of scale 3.47"]),
    (
        "noise --noise discrete_laplace --people 900 --alphabet 5 --query histogram --at-most '0.1 bits'",
        0,
        ["is enough"],
    ),
    ("release count.toml --data census.csv --column employed --letters no,yes", 0, ["at most 0.2499"]),
    ("release count.toml --table census.csv --answer employed --letters no,yes", 0, ["have yes in employed"]),
    ("release count.toml --table census.csv", 0, ["have yes in employed", "--household COLUMN compares them"]),
    (
        "release count.toml --table census.csv --household household",
        0,
        ["none in household is larger than the model's"],
    ),
    ("release count.toml --table census.csv --household employed", 2, ["are not the model's, of at most 3 people"]),
    ("release count.toml --table census.csv --letters yes,no", 2, ["in the order ['no', 'yes']"]),
    ("audit --mechanism randomized_response:1 --people 900", 2, ['"randomized_count 1"']),
    ("audit --mechanism randomized_count:1 --people 9", 0, ["through randomised answers"]),
    ("audit --mechanism discrete_laplace --people 900", 2, ["--mechanism: discrete_laplace needs"]),
    (f"release ages.toml --data census.csv --column age --letters {AGES}", 0, ["output               ["]),
]
ENGINEER = [
    (
        "audit --mechanism discrete_laplace:1 --people 5000 --blocks 3 --at-most '0.3 bits' --json",
        6,
        ['"bounds": [{"of"'],
    ),
    (
        "audit --mechanism discrete_laplace:1 --people 5000 --blocks 3 --at-most '0.6 bits'",
        0,
        ["Met: at most 0.6 bits was asked for", "of 1 bit possible"],
    ),
    (
        "audit --mechanism discrete_laplace:1 --people 5000 --blocks 3 --at-most '0.05 bits'",
        6,
        ["NOT MET: certainly more, at least 0.", "and at most 0.05 bits was asked for."],
    ),
    ("audit --mechanism discrete_laplace:1 --people 5000 --blocks 3 --at-most 0.6", 2, ["'0.6 bits' or '0.6 nats'"]),
    ("schema --answers -o answers.json", 0, ["answers.json"]),
    ("solve parity/laplace-n4 -o out", 0, ["out/laplace-n4.cert"]),
    ("verify parity/laplace-n4 out/laplace-n4.cert --json", 0, ['"status": "proved"']),
    ("verify out/laplace-n4", 2, ["expected MODEL and CERTIFICATE", "out/laplace-n4.cert stands beside it"]),
]
OPTIMISER = [
    ("export parity/laplace-n4 --program list", 0, ["marginal", "node"]),
    ("export parity/laplace-n4 --program marginal -o marginal.cbf", 0, ["marginal.cbf"]),
    (
        "init design.toml --problem min_leakage --records 3 --query count --distortion absolute --defaults",
        0,
        ["dalenius solve"],
    ),
    ("solve design.toml --gap 0.3", 0, ["of mechanisms        that are oblivious"]),
    ("init budget.toml --problem min_distortion --budget 0.1 --defaults", 2, ["'0.1 bits'"]),
]
THEORIST = [
    ("convert --from local_dp=1 --to mutual_information", 0, ["nothing better is possible: attained by"]),
    ("convert --from local_dp=1 --to mutual_information --at-most 0.1", 2, ["of what?"]),
    ("show parity/laplace-n4", 0, ["How much can it reveal"]),
    ("init x.toml --adversary 5 --defaults", 2, ["'5 bits' or '5 nats'"]),
    ("init x.toml --adversary '5 bits' --defaults", 0, ["x.toml"]),
    ("solve x.toml --gap 0.1", 0, ["bits of 1 bit possible"]),
]
CONTRIBUTOR = [
    ("list --set minimal", 0, ["parity/laplace-n4"]),
    ("show models/none.toml", 2, ["cannot be read"]),
]
ROLES = {
    "statistician": STATISTICIAN,
    "engineer": ENGINEER,
    "optimiser": OPTIMISER,
    "theorist": THEORIST,
    "contributor": CONTRIBUTOR,
}


@pytest.mark.parametrize("role", ROLES)
def test_what_a_reader_types_is_answered(role, command_line, tmp_path):
    """In one folder, one after another; a refusal is one line that says what to write."""
    (tmp_path / "census.csv").write_text(CENSUS)
    for typed, status, words in ROLES[role]:
        done = command_line(*shlex.split(typed))
        said = " ".join((done.stderr if status == 2 else done.stdout).split())
        assert done.returncode == status, (typed, done.stderr)
        assert all(" ".join(word.split()) in said for word in words), (typed, said[:2000])
        assert status != 2 or done.stderr.count("\n") == 1, typed


def test_the_statistician_s_page_is_about_the_table(command_line, tmp_path):
    """Column and values, a verdict, households, a notice; no index of a person."""
    (tmp_path / "census.csv").write_text(CENSUS)
    assert command_line(*shlex.split(f"audit {TABLE} --answer employed --letters no,yes -o count.md")).returncode == 0
    page = " ".join((tmp_path / "count.md").read_text().replace(">", "").split())
    for words in (
        "In short: at most 25 % of what there is to know",
        "a value of employed: no or yes",
        "how many of them have yes in employed",
        "| 3 | 1.5 |",
        "Each number that is released is wrong by 1.92 on average",
        "We publish how many of [say whom] have yes in employed",
        "dalenius verify count.toml count.cert",
    ):
        assert words in page, words
    assert "record 0" not in page


def test_the_engineer_reads_the_number_without_knowing_the_command(command_line):
    answer = json.loads(command_line(*shlex.split(ENGINEER[0][0])).stdout)
    assert 0.5 < answer["bounds"][0]["upper"] < 0.6
    assert answer["bounds"][0]["units"] == "bits"


BIT = {"records": dl.Records(2, alphabet=2), "query": "count", "mechanism": "geometric 1", "adversary": "0"}
DESIGN = {"records": dl.Records(2, alphabet=2), "query": "count", "distortion": "absolute", "max_distortion": 1}
MISTAKES = [  # what is tried in Python first, and what the message says to write
    (lambda: dl.WorstCaseLeakage(**BIT | {"query": dl.Count}), r"write Count\("),
    (lambda: dl.Records(4, 2), "alphabet="),
    (
        lambda: dl.from_frame({"home": [1], "vote": [1]}, answer="vte", household="home"),
        "the table has home, vote",
    ),
    (
        lambda: dl.MinLeakage(**DESIGN, adversary="0", constraints=[cp.Variable() >= 0]),
        "dl.constraints.Linear",
    ),
    (lambda: dl.audit("laplace 0.5", 100), "scale = 0.5"),
    (lambda: dl.WorstCaseLeakage(**BIT | {"adversary": "5"}), "'5 bits' or '5 nats'"),
    (lambda: dl.measure([[0.9, 0.1], [0.1, 0.9]])["bayes"], "none is named 'bayes'; there are"),
    (lambda: dl.EntropyAtLeast(5), "'5 bits' or '5 nats'"),
    (lambda: dl.WorstCaseLeakage(**BIT | {"adversary": 5}), "expected Adversary, or a line that describes one, got 5"),
    (lambda: dl.WorstCaseLeakage(**BIT | {"adversary": "households 2"}), "expected one of .*independent_blocks"),
    (lambda: dl.WorstCaseLeakage(**BIT | {"records": 4}), r"such as Records\(1000, alphabet=2\), got 4"),
    (lambda: dl.solve("parity/laplace-n4"), r"load\('parity/laplace-n4'\) reads one"),
    (lambda: dl.audit(lambda v: {0: 1}, records=3), r"write dl.from_pmfs\(\[f\(v\) for v in values\]\)"),
    (lambda: dl.from_pmfs(lambda v: {0: 1}), r"got a function; write dl.from_pmfs"),
    (lambda: type("Fair", (dl.mechanisms.Mechanism,), {"channel": None})(), 'expected a kind, .*: kind = "fair"'),
]


@pytest.mark.parametrize("case", range(len(MISTAKES)))
def test_what_is_tried_first_in_python_is_refused_with_what_to_write(case):
    tried, words = MISTAKES[case]
    with pytest.raises(dl.errors.InputError, match=words):
        tried()


def test_the_engineer_s_matrix_and_the_theorist_s_call_are_taken_as_they_are():
    told = dl.audit(np.array([[0.9, 0.1], [0.1, 0.9]]), 1)
    assert 0.53 < told.leakage.lower <= told.leakage.upper < 0.532
    assert dl.audit("discrete_laplace 0.5", 100).problem.records.count == 100


def test_the_optimiser_s_own_model_is_certified():
    x = cp.Variable(3, nonneg=True)
    found = certify(cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1]))
    assert found.lower <= np.log(3) <= found.upper


def test_the_contributor_s_own_kind_is_audited_about_its_matrix():
    class Halved(dl.mechanisms.Mechanism):
        kind = "halved"

        def channel(self, values):
            return np.full((values.size, 2), 0.5)

        def exact_entries(self, values):
            from dalenius.model.mechanisms.base import ExactEntries

            return ExactEntries.of_rows([[Fraction(1, 2)] * 2] * values.size)

    bit = dl.WorstCaseLeakage(records=dl.Records(2, alphabet=2), query="parity", mechanism=Halved(), adversary="0")
    told = dl.audit(bit)
    assert told.result.upper < 1e-9
    assert told.result.proved_about == "matrix"
    page = " ".join(told.page().replace("\n> ", " ").split())
    assert "page.cert --resolved python -m dalenius_check page.toml page.cert --resolved" in page
    assert "[proved, of the matrix in the certificate only]: by the certificate" in page
    assert (
        "This is proved whatever they know beforehand, if the software has the probabilities that were computed" in page
    )
    assert dl.verify(bit, told.result.certificate, resolved=True).exit_code == 4
