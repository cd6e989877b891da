"""How commands end: one table of exit statuses, one line for what is wrong, one JSON value for what is answered."""

import json
import math
import re
import shlex
import subprocess
import sys
from pathlib import Path

import cvxpy as cp
import pytest
from jsonschema import Draft7Validator

import dalenius as dl
import dalenius_check
import support
from campaigns import each
from cvxcertify import certify
from dalenius.cli import whole_command
from dalenius.cli.answers import OWN, answer_schema
from dalenius.cli.statuses import ExitStatus

ROOT = Path(__file__).parents[3]
AUDIT = (ROOT / "models/parity/laplace-n4.toml").read_text()
DESIGN = (
    (ROOT / "models/design/parity-n4-leakage.toml").read_text().replace("max_distortion = 0.1", "max_distortion = 0.5")
)

BAD = {
    "key": AUDIT.replace("epsilon", "epsilom"),
    "kind": AUDIT.replace('"parity"', '"party"'),
    "entropy": AUDIT.replace("entropy_at_least = 1.0", "entropy_at_least = 2.8"),
    "text": "problem = ",
    "nan": AUDIT.replace("epsilon = 1.0", "epsilon = nan"),
    "bomb": AUDIT.replace("epsilon = 1.0", "epsilon = 1e-999999999"),
    "negative": AUDIT.replace("epsilon = 1.0", "epsilon = -1"),
}


@pytest.fixture
def models(tmp_path):
    """An audit and a design that take no time, and a library of the audit."""
    (tmp_path / "audit.toml").write_text(AUDIT)
    (tmp_path / "design.toml").write_text(DESIGN)
    (tmp_path / "home/parity").mkdir(parents=True)
    (tmp_path / "home/parity/one.toml").write_text(AUDIT)
    (tmp_path / "home/sets.toml").write_text('minimal = ["parity/one"]\n')
    return tmp_path


def test_the_help_has_the_table(command_line):
    told = " ".join(command_line("--help").stdout.split())
    for status in ExitStatus:
        assert f"{status.value}: {status.meaning}" in told


def test_the_page_of_results_has_the_table():
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", (ROOT / "docs" / "results.md").read_text(), re.MULTILINE)
    assert {int(number): meaning for number, meaning in rows} == {status.value: status.meaning for status in ExitStatus}


def test_the_checker_has_the_same_statuses():
    for status in dalenius_check.Status:
        name = {"proved": "DONE", "unreadable": "UNUSABLE"}.get(status.value, status.name)
        assert ExitStatus[name] == status.exit_code


GRID = "sweep parity/symmetric-n2 -o out --set mechanism.flip"
TOWN = "audit --mechanism discrete_laplace:0.5 --people 1000000 --blocks 4"
REFUSALS = [
    ("solve", "missing argument 'MODEL...'"),
    ("solve audit.toml --gap much", "--gap"),
    ("solve audit.toml --gap -1", "gap"),
    ("solve audit.toml --gap nan", "gap"),
    ("solve audit.toml --speed 9", "--speed"),
    ("solve audit.toml --units bytes", "units"),
    ("solve audit.toml --node-limit 0 -o out", "--node-limit"),
    ("solve audit.toml --time-limit 0 -o out", "time"),
    ("solve audit.toml --time-limit -3 -o out", "time"),
    ("solve audit.toml --memory-limit 0 -o out", "memory"),
    ("solve audit.toml --memory-limit nan -o out", "memory"),
    ("solve audit.toml --require-gap -1", "--require-gap"),
    ("solve audit.toml --require-gap nan", "--require-gap"),
    ("solve audit.toml --solver clarabel", "choose the method"),
    ("solve audit.toml --solver gurobi", "solver: expected one of auto, own, clarabel, mosek, scs; got 'gurobi'"),
    ("solve audit.toml --method exchange", "method: of an audit expected alternating, or none"),
    ("solve audit.toml --method descent", "'descent' is not one of 'exchange', 'alternating'"),
    (
        "solve audit.toml --checkpoint wrong.json",
        "wrong.json: not a checkpoint of dalenius; name another file, or remove",
    ),
    ("solve audit.toml --verbose --json", "--verbose, --json: logs would stand on standard output"),
    ("solve audit.toml --memory 1", "memory: of a design"),
    ("solve audit.toml --trace", "--trace: give a folder for it with -o"),
    ("solve audit.toml --trace --json", "--trace: give a folder for it with -o"),
    ("solve audit.toml -o audit.toml", "audit.toml"),
    ("solve audit.toml -o ''", "expected a name, got an empty text"),
    ("solve audit.toml identity/bit --checkpoint state", "expected one MODEL, got 2"),
    ("solve parity/laplace-n4 laplace-n4.toml -o out", "would have the same names"),
    ("solve parity/laplace-n4 wrong.toml -o out", "wrong.toml: model: expected problem"),
    ("solve missing.toml", "missing.toml"),
    *((f"solve {name}.toml --json -o out", f"{name}.toml") for name in BAD),
    ("solve easy.toml --public-law 0.5,0.6", ["--public-law", "sum to 1"]),
    ("solve easy.toml --public-law 0.2,0.3,0.5", ["--public-law", "2 letters"]),
    ("solve easy.toml --public-law ''", "--public-law"),
    ("solve audit.toml --public-law uniform", ["--public-law", "no law"]),
    ("solve private.toml --public-law uniform", ["--public-law", "about the law itself"]),
    ("solve information/letters-pml --public-law uniform", "max_information"),
    ("sweep audit.toml", "--output"),
    ("measure audit.toml --epsilon 0.5 --epsilon 1", "'--epsilon': given twice"),
    ("library index --folder models --folder models", "'--folder': given twice"),
    ("sweep audit.toml -o out --points 1", "--points"),
    ("sweep audit.toml -o out --gap nan", "gap"),
    ("sweep parity/laplace-n4 -o out --solver clarabel", "solver"),
    ("sweep independent.toml -o out", "a sweep varies the adversary's entropy bound, and product_priors has none"),
    ("sweep information/letters-pml -o out", "max_information"),
    (GRID, 'each PATH once, such as mechanism.epsilon=0.1,1; "mechanism.flip" has no ='),
    (f"{GRID}=0.1 --set mechanism.flip=0.2", "stands there twice"),
    (f"{GRID}=0.1,2", "mechanism.flip = 2: "),
    (f"{GRID}=0.1 --adaptive", "--adaptive: chooses the entropy bounds of one audit"),
    ("sweep parity/symmetric-n2 -o out --set mechanism.speed=1", "unknown key 'speed'"),
    ("sweep parity/symmetric-n2 -o out --adaptive --jobs 2", "leave --jobs and --scheduler out"),
    ("sweep parity/symmetric-n2 -o out --methods luck", "methods: expected some of"),
    ("sweep parity/symmetric-n2 -o out --jobs 2 --scheduler tcp://127.0.0.1:1", "leave one of the two out"),
    ("sweep parity/symmetric-n2 parity/symmetric-n2 -o out", "stands there twice"),
    ("frontier design.toml -o out --time-limit -1", "time_limit"),
    ("frontier design.toml -o out --budgets 0.1,much", "much"),
    ("frontier design.toml -o out --budgets ''", "budgets"),
    ("frontier design.toml -o out --gap nan", "gap"),
    ("frontier design.toml -o out --units bytes", "units"),
    ("frontier design.toml -o out --solver me", "solver"),
    ("frontier audit.toml -o out", "for worst_case_leakage there is sweep"),
    ("frontier information/letters-pml -o out", "max_information"),
    ("compare audit.toml --budget -1", "budget"),
    ("compare audit.toml --methods gradient", "methods"),
    ("compare audit.toml --seeds 0", "seeds"),
    ("compare audit.toml --set slsqp.steps=3", "steps"),
    ("audit", "expected a MODEL, or what is released"),
    (f"{TOWN} --answer x", "--answer: expected with --table FILE"),
    (f"{TOWN} --adversary '2 bits'", "--blocks, --adversary: expected one of them"),
    (f"{TOWN} -o page.pdf", "expected a file that ends in .md or .html"),
    (f"{TOWN} --household 5", "expected with --table FILE; households of at most 5 people are --blocks 5"),
    ("audit --people 9 --epsilon 0.5", "no such option: --epsilon; write --mechanism discrete_laplace:0.5"),
    ("audit fair.csv --query count", "expected a model; of a table of people write audit --table fair.csv"),
    (
        "audit --mechanism randomized_response:1 --people 20 --blocks 5",
        ["--query: expected what", '"randomized_count 1"'],
    ),
    ("audit --mechanism 'symmetric flip = 0.2' --people 20", ['"randomized_histogram flip = 0.2"', 'say "count"']),
    ("audit --mechanism geometric:1 --people 20 --alphabet 3", ["--query: expected what", '"count letters = [1]"']),
    ("init --defaults --adversary 'entropy 6 bits'", "--adversary: expected the amount alone: '6 bits'"),
    ("init --defaults --adversary 'entropy_at_least = 6 bits'", "--adversary: expected the amount alone: '6 bits'"),
    ("audit --people 3", "expected a MODEL, or what is released"),
    ("audit parity/laplace-n4 --people 3", "--people: parity/laplace-n4 says so already"),
    ("audit --mechanism discrete_laplace:0.5 --people 3 --blocks 8", "households of at most all 3 people, got 8"),
    ("audit --mechanism laplacian:1 --people 3", "--mechanism: expected one of"),
    ("audit information/letters-pml", "expected an audit (worst_case_leakage), got max_information"),
    ("convert --to zcdp", "expected --from NOTION=VALUE and --to NOTION, or --all"),
    ("convert --from local_dp --to chi_square", "local_dp: expected NOTION=VALUE, for example local_dp=1"),
    ("convert --from local_dp=1 --to chi_square -o x.png", "the picture is of --all"),
    ("convert --from local_dp=x --to chi_square", "local_dp: expected a number"),
    ("convert --all --to chi_square", "--all is about every notion; leave --to out"),
    ("convert --all -o bad", "-o 'bad': expected a file that ends in .png, .svg, .pdf"),
    ("measure channel.csv", "rows[0] must sum to 1 (within 1e-9), got 1.1"),
    ("measure nothing.csv", "nothing.csv"),
    ("measure parity/laplace-n4 --units bytes", "units"),
    ("measure parity/laplace-n4 --prior 0.5,0.5", "prior"),
    ("measure parity/laplace-n4 --epsilon nan", "epsilon: expected a number"),
    ("measure parity/laplace-n4 --within 'kl 0.1'", "about the input of a channel"),
    ("measure fair.csv --within kl", "with a number"),
    ("measure fair.csv --prior 0.25,0.75 --within all", "these priors have no middle; leave --prior out"),
    ("measure fair.csv --prior 0.25,0.75 --within kl", "with a number"),
    ("measure fair.csv --within 'kl 0.02'", "give the prior in the middle with --prior"),
    ("measure fair.csv --prior 0.25,0.75 --within 'near 1'", "expected l1, kl, chi2, box, floor or entropy"),
    ("measure fair.csv --prior '0.25,0.75;0.5,0.5' --within 'l1 0.1'", "expected one --prior in the middle, got 2"),
    ("measure information/letters-pml --supersamples", "give the mechanism to measure"),
    ("noise --at-most '0.2 bits'", "expected a MODEL whose mechanism is noise, or --noise KIND"),
    ("noise count.toml --noise laplace --at-most '0.2 bits'", "not both"),
    ("noise --people 9 --at-most '0.2 bits'", "KIND is one of "),
    ("noise --noise uniform --at-most '0.2 bits'", "--noise: expected one of geometric, discrete_laplace"),
    ("noise parity/laplace-n4 --at-most '0.2 bits'", "expected noise with a scale"),
    ("noise design/parity-n4-leakage --at-most '0.2 bits'", "expected a worst_case_leakage or secret_leakage model"),
    ("init --defaults --mechanism 'geometrc 1'", "--mechanism: expected one of matrix, symmetric"),
    ("init --defaults --mechanism 'local_hashing 1'", "local_hashing needs epsilon and buckets; expected key = value"),
    ("init --defaults --mechanism 'geometric epsilon 1, range=3'", "as in TOML"),
    ("init --defaults --query 'margins 2'", "got '2'; write for example 'margins attributes = [2, 3], tables ="),
    ("init --defaults --query margins", "write for example 'margins attributes = [2, 3], tables = [[0], [1], [0, 1]]'"),
    ("audit --mechanism laplace:1 --table t.csv --answer a --letters no,yes", "expected, too: --household, the column"),
    (
        "audit --mechanism laplace:1 --table t.csv --answer a --household h",
        "--letters, every answer there may be, whether",
    ),
    ("audit --mechanism discrete_laplace:1 --people 2000000", "more of them change nothing: write 1000000"),
    ("init --defaults --query threshold", "--query: threshold needs at; write for example 'threshold at = 1'"),
    ("init --defaults --budget 1", "--budget: a worst_case_leakage model has none"),
    ("init --defaults --adversary '9 bits'", "above the largest possible entropy"),
    ("sweep audit.toml -o out --set adversary.entropy_at_least=0,0.5", "'0.5' of what? expected '0.5 bits'"),
    ("init --defaults --adversary 3", "--adversary: entropy_at_least: '3' of what? expected '3 bits' or '3 nats'"),
    ("init --defaults --problem min_distortion --budget 0.1", "--budget: max_leakage: '0.1' of what?"),
    ("init --defaults --mechanism 'symmetric 0.1'", "write 'symmetric flip = 0.1' if that is meant"),
    ("compose a.toml a.cert b.toml b.cert --at-most 0.1", "--at-most: '0.1' of what?"),
    ("noise --noise laplace --at-most 0.1", "--at-most: '0.1' of what?"),
    ("noise --noise laplace --at-most 10%", "'10%' of what? expected an amount of information, such as '0.1 bits'"),
    ("audit --mechanism discrete_laplace --people 3", "dalenius: --mechanism: discrete_laplace needs either epsilon"),
    ("measure fair.csv --within 'entropy 0.5'", "--within entropy: '0.5' of what?"),
    ("init --defaults --records 0", "--records: expected a whole number of at least 1, got '0'"),
    ("show gone.cert", "gone.cert: cannot be read: No such file"),
    ("show wrong.cert", "wrong.cert: not a certificate"),
    ("show wrong.toml", "wrong.toml: model: expected problem = one of"),
    ("show wrong.json", "wrong.json: "),
    ("verify audit.toml", "expected MODEL and CERTIFICATE"),
    ("verify parity/laplace-n4", "expected MODEL and CERTIFICATE"),
    ("verify interval.json --resolved", "without --resolved"),
    ("verify none.json", "none.json: cannot be read: No such file or directory"),
    ("verify open.json", "open.json: no proof of an interval"),
    ("frobnicate", "frobnicate"),
    ("library", "missing command"),
    ("library submit", "CERTIFICATE"),
]


@pytest.fixture
def mistakes(models):
    """What the table below names: files that are something else, and some that are as they should be."""
    count = {"records": dl.Records(2, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
    noisy = support.problem(dl.Records(100, alphabet=2), dl.Count(), dl.geometric(1), dl.IndependentBlocks(2))
    files = {
        **{f"{name}.toml": text for name, text in BAD.items()},
        "laplace-n4.toml": AUDIT,
        "independent.toml": AUDIT.replace("entropy_at_least = 1.0", 'kind = "product_priors"'),
        "easy.toml": dl.dumps(dl.MinLeakage(max_distortion=1, adversary=dl.EntropyAtLeast(0), **count)).replace(
            'kind = "uniform"', 'kind = "csv"\nfile = "table.csv"\ncolumn = "answer"\nletters = ["no", "yes"]'
        ),
        "table.csv": "answer\nno\nyes\n",
        "private.toml": dl.dumps(dl.MinDistortion(privacy=dl.PointwiseMaximalLeakage(1), **count)),
        "count.toml": dl.dumps(noisy),
        "channel.csv": "no,yes\n0.9,0.2\n",
        "fair.csv": "no,yes\n0.9,0.1\n1/3,2/3\n",
        "wrong.cert": '{"model": 1}\n',
        "wrong.toml": "problem = 1",
        "wrong.json": "[]",
        "open.json": "{",
        "four.csv": "answer\n0\n1\n1\n0\n",
        "solution.json": json.dumps({"format": "dalenius-solution/1", "variables": {"pi": [0.5, 0.5]}}),
        "runs.csv": "x,y\n" + "no,a\nyes,b\n" * 50,
    }
    for name, text in files.items():
        (models / name).write_text(text)
    x = cp.Variable(nonneg=True, name="x")
    certify(cp.Problem(cp.Minimize(cp.exp(x) - 2 * x), [x <= 3])).write(models / "interval.json")
    return models


@each("typed, words", *REFUSALS)
def test_what_is_wrong_is_one_line(mistakes, command_line, typed, words):
    """Also for the option parser, and nothing is made."""
    before = sorted(mistakes.iterdir())
    done = command_line(*shlex.split(typed))
    assert (done.returncode, done.stdout) == (ExitStatus.UNUSABLE, ""), done.stderr
    assert done.stderr.startswith("dalenius: ")
    assert done.stderr.count("\n") == 1
    assert all(word in done.stderr for word in ([words] if isinstance(words, str) else words)), done.stderr
    assert sorted(mistakes.iterdir()) == before


def test_without_a_command_there_is_help(command_line):
    done = command_line()
    assert done.returncode == 0
    assert "import-solution" in done.stdout


JSON = {
    "audit": ["audit", "audit.toml"],
    "audit, a page": ["audit", "audit.toml", "-o", "page.md"],
    "show": ["show", "audit.toml"],
    "show a certificate": ["show", ROOT / "models/parity/laplace-n4.cert"],
    "measure": ["measure", "audit.toml"],
    "measure a channel": ["measure", "fair.csv", "--prior", "uniform", "--epsilon", "0.5"],
    "noise": ["noise", "--noise", "laplace", "--at-most", "0.1 bits", "--gap", "0.1"],
    "table": ["table", "--people", "100", "--epsilon", "0.5", "--blocks", "1,2"],
    "convert": ["convert", "--from", "local_dp=1", "--to", "mutual_information"],
    "convert all": ["convert", "--all", "--from", "local_dp=1"],
    "convert, what follows": ["convert", "--all"],
    "compose": ["compose", *[ROOT / f"models/parity/laplace-n4.{ending}" for ending in ("toml", "cert")] * 2],
    "release": ["release", "independent.toml", "--mechanism", "symmetric flip = 0.2", "--data", "four.csv"],
    "import-solution": ["import-solution", "audit.toml", "marginal", "solution.json"],
    "audit-samples": ["audit-samples", "runs.csv", "--records", "x", "--outputs", "y", "--words"],
    "doctor": ["doctor"],
    "sweep, dry": ["sweep", "audit.toml", "--points", "2", "-o", "out", "--dry-run"],
    "interval": ["verify", "interval.json"],
    "solve": ["solve", "audit.toml"],
    "solve, a design": ["solve", "design.toml", "--gap", "1e-1", "-o", "out"],
    "verify": ["verify", "parity/laplace-n4", ROOT / "models/parity/laplace-n4.cert"],
    "sweep": ["sweep", "audit.toml", "--points", "2", "-o", "out"],
    "frontier": ["frontier", "design.toml", "--budgets", "-1,0.5", "-o", "out"],
    "compare": ["compare", "audit.toml", "--methods", "paper-aggregated", "--budget", "0.05", "-o", "out"],
    "export": ["export", "audit.toml", "--program", "marginal", "-o", "marginal.json"],
    "what export offers": ["export", "audit.toml", "--program", "list"],
    "list": ["list", "--set", "minimal"],
    "tighten": ["library", "tighten", "--folder", "home"],
    "submit": ["library", "submit", ROOT / "models/parity/laplace-n4.cert", "--folder", "home"],
    "index": ["library", "index", "--folder", "home"],
}


@pytest.fixture(scope="module")
def shape():
    """What checks an answer against the schema that is published."""
    schema = answer_schema()
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


@pytest.mark.parametrize("name", JSON)
def test_every_command_that_answers_has_json_of_one_shape(mistakes, models, command_line, shape, name):
    """Exactly one value, that every reader of JSON takes, and nothing else on standard output."""

    def refused(number):
        raise ValueError(number)

    done = command_line(*JSON[name], "--json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    answer = json.loads(done.stdout, parse_constant=refused)
    shape.validate(answer)
    assert " ".join(map(str, JSON[name])).startswith(answer["command"])
    for bound in answer["bounds"]:
        ends = [end for end in (bound["lower"], bound["upper"]) if end is not None]
        assert ends == sorted(ends)
    for file in answer.get("files", []):
        assert (models / file).exists()


def test_every_command_that_has_json_is_in_the_schema():
    commands = dict(whole_command().commands)
    commands |= {f"library {name}": command for name, command in commands.pop("library").commands.items()}
    with_json = {
        name for name, command in commands.items() if any("--json" in option.opts for option in command.params)
    }
    assert with_json == set(OWN)
    tested = {" ".join(map(str, words[:2] if words[0] == "library" else words[:1])) for words in JSON.values()}
    assert with_json - tested == {"sanitize"}  # needs torch


def test_a_program_reads_every_interval_in_one_place(models, command_line):
    """The claim of a certificate, and what solve, verify, audit and measure say of it, without a word about which command it was."""
    solved = json.loads(command_line("solve", "audit.toml", "-o", "out", "--json").stdout)
    files = ["audit.toml", solved["certificate"]]
    others = (["verify", *files], ["audit", "audit.toml"], ["measure", "audit.toml"])
    told = [solved, *(json.loads(command_line(*words, "--json").stdout) for words in others)]
    lower, upper = dl.Certificate.read(models / solved["certificate"]).header.claim
    for answer in told:
        first = answer["bounds"][0]
        unit = math.log(2) if first["units"] == "bits" else 1.0
        assert first["lower"] * unit <= float(lower) * (1 + 1e-12)
        assert first["upper"] * unit >= float(upper) * (1 - 1e-12)


def test_the_answers_of_a_sweep_say_which_certificate_proves_them(models, command_line):
    answer = json.loads(command_line("sweep", "audit.toml", "--points", "3", "-o", "out", "--json").stdout)
    assert [point["entropy_share"] for point in answer["points"]] == [0.0, 0.5, 1.0]
    for point in answer["points"]:
        claim = dl.Certificate.read(models / "out" / point["files"]["certificate"]).header.claim
        assert point["lower"] <= claim[0] <= claim[1] <= point["upper"]


def test_a_wider_gap_than_the_one_required_is_a_status_of_its_own(models, command_line):
    """The interval is printed and written all the same."""
    text = (
        AUDIT.replace('"parity"', '"count"').replace("laplace_threshold", "geometric").replace("count = 4", "count = 3")
    )
    (models / "open.toml").write_text(text)
    arguments = ["solve", "open.toml", "--node-limit", "1", "-o", "out", "--json", "--require-gap"]
    wide = command_line(*arguments, "1e-9")
    assert wide.returncode == ExitStatus.NOT_REACHED
    assert wide.stderr.startswith("dalenius: the relative gap is ")
    assert wide.stderr.count("\n") == 1
    answer = json.loads(wide.stdout)
    assert answer["gap"] > 1e-9
    assert (models / answer["certificate"]).exists()
    assert command_line(*arguments, str(answer["gap"])).returncode == 0


# ---------------------------------------------------------------- what cannot be printed

LOST = """
import gc, os, sys
from importlib import import_module

def ended(main, arguments, place):
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if place == "pipe":
        there, here = os.pipe()
        os.close(there)
    else:
        here = os.open(place, os.O_WRONLY)
    os.dup2(here, 1)
    sys.argv, sys.stdout = ["program", *arguments], open(1, "w", closefd=False)
    sys.exit(main())

programs = "dalenius.cli", "dalenius_check.__main__", "cvxcertify.check.__main__"
programs = {name: import_module(name).main for name in programs}
gc.freeze()  # or every child takes all that apart when it ends
for line in sys.stdin.read().splitlines():
    name, place, *arguments = line.split()
    print(ended(programs[name], arguments, place), flush=True)
"""
FILES = f"{ROOT / 'models/parity/laplace-n4.toml'} {ROOT / 'models/parity/laplace-n4.cert'}"
PRINTING = [
    f"dalenius.cli {{}} verify {FILES} --arithmetic=python",
    f"dalenius_check.__main__ {{}} {FILES} --arithmetic=python",
    "cvxcertify.check.__main__ {} --help",
    "dalenius.cli {} --version",
    "dalenius.cli {} list --set minimal --json --folder home",
]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a file that takes nothing")
def test_what_cannot_be_printed_is_one_rule_for_all_commands(models):
    """A pipe that nobody reads any more is a status of its own, as of programs that SIGPIPE ends; a full disk one line."""
    cases = [line.format(place) for line in PRINTING for place in ("pipe", "/dev/full")] + ["dalenius.cli pipe --help"]
    done = subprocess.run(
        [sys.executable, "-c", LOST], input="\n".join(cases), cwd=models, capture_output=True, text=True, check=False
    )
    statuses = dict(zip(cases, map(int, done.stdout.split()), strict=True))
    assert statuses == {case: ExitStatus.CLOSED if " pipe " in case else ExitStatus.UNUSABLE for case in cases}
    told = [line for line in done.stderr.splitlines() if "RequestsDependencyWarning" not in line]
    assert len(told) == len(PRINTING)
    assert all(line.endswith(": standard output: No space left on device") for line in told), told


# ---------------------------------------------------------------- files that cannot be used


@pytest.mark.parametrize(("program", "head"), [("dalenius.cli", ["verify"]), ("dalenius_check", [])])
@pytest.mark.parametrize("extra", [[], ["--json"]], ids=["text", "json"])
def test_what_a_verdict_cannot_use_is_one_line(models, command_line, program, head, extra):
    """On standard error, as of every command, and said once; in JSON a model that was read and is none has a verdict, too."""
    name = "dalenius" if head else "dalenius_check"
    (models / "none.toml").write_text("none")
    for files, missing in (
        (["audit.toml", "nothing.cert"], "nothing.cert: cannot be read: No such file or directory"),
        (["nothing.toml", "audit.toml"], "nothing.toml: cannot be read: No such file or directory"),
        (["audit.toml", "."], ".: cannot be read: not a regular file"),
        (["none.toml", "audit.toml"], "none.toml: the model is not TOML: "),
    ):
        done = command_line(*head, *files, *extra, program=program)
        assert done.returncode == ExitStatus.UNUSABLE
        assert done.stderr.startswith(f"{name}: {missing}")
        assert done.stderr.count("\n") == 1
        assert ("unreadable" in done.stdout) is (files[0] == "none.toml" and bool(extra))
    assert command_line(*head, "audit.toml", program=program).stderr.count("\n") == 1
    if head:
        (models / "broken.json").write_text('{"format":')
        done = command_line(*head, "broken.json", *extra, program=program)
        assert (done.returncode, done.stderr.count("\n")) == (ExitStatus.UNUSABLE, 1)
        assert done.stdout.count("\n") == len(extra)


def test_a_verdict_in_json(models, command_line):
    certificate = models / "wrong.cert"
    certificate.write_text((ROOT / "models/identity/bit.cert").read_text())
    done = command_line("verify", "audit.toml", certificate, "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == ExitStatus.REJECTED
    assert (answer["status"], answer["proved"], answer["lower"]) == ("rejected", False, None)
    assert "another model" in answer["reason"]
