"""The commands init and schema: a commented model file, made from answers which options give or somebody types; and a JSON schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import dalenius as dl
from cvxcertify.errors import brief
from dalenius.cli.answers import answer_schema
from dalenius.cli.shared import STANDARD_STREAM, err, out
from dalenius.errors import InputError, hint, naming
from dalenius.exact import need_unit
from dalenius.files import need_places, write_whole
from dalenius.model.adversaries import ADVERSARIES, EntropyAtLeast
from dalenius.model.distortions import DISTORTIONS
from dalenius.model.in_words import entropy_in, kind_and_keys, says_a_kind, split_kind, toml_value
from dalenius.model.mechanisms import MECHANISMS
from dalenius.model.model_file import SPELLINGS
from dalenius.model.privacy import NOTIONS
from dalenius.model.queries import QUERIES
from dalenius.model.schema import model_schema
from dalenius.model.shelf import Shelved

Lines = list[str]


@dataclass(frozen=True)
class _Question:
    """A question: the option that answers it, the words, the answer by default, and how an answer becomes lines of TOML."""

    option: str
    words: str
    default: str
    lines: Callable[[str], Lines]


def model_text(given: Mapping[str, str | None], *, asking: bool = False) -> str:
    """The model file of the options given, by name, and of answers, or defaults.

    Raises
    ------
    InputError
        If an answer cannot be used, or the problem has no use for an option.
    """

    def answered(question: _Question) -> Lines:
        return _answered(question, given.get(question.option), asking=asking)

    head = answered(_Question("--problem", f"what is asked ({', '.join(KINDS)})", "worst_case_leakage", _problem))
    name = head[-1].split('"')[1]
    asked = KINDS[name]
    for option in asked.without:
        if given.get(option) is not None:
            fitting = ", ".join(name for name in given if name not in asked.without)
            raise InputError(f"{option}: a {name} model has none; expected {fitting}")
    head += [] if asked.budget is None else answered(asked.budget)
    counted = _line("--records", "how many records", "8", "count", _whole)
    sized = _line("--alphabet", "how many values a record can have", "2", "alphabet", _whole)
    parts = [head, ["[records]", *answered(counted), *answered(sized)]]
    parts.append(answered(_shelf_question("--query", "query", QUERIES, "count")))
    parts += [part if isinstance(part, list) else answered(part) for part in asked.tables]
    comment = (
        "# A model of dalenius; docs/model-format.md has every key, and every number means exactly what is written."
    )
    return "\n\n".join("\n".join(part) for part in [[comment, *parts[0]], *parts[1:]]) + "\n"


FROM_JOINT = {  # problems that are made from a joint law and a budget alone, and what they ask
    "privacy_funnel": (dl.PrivacyFunnel, "what says most about the data and little about the secret?"),
    "information_bottleneck": (dl.InformationBottleneck, "what says most about the secret and little about the data?"),
}


def joint_text(kind: str, joint: str | None, given: Mapping[str, str | None]) -> str:
    """The model file of a joint law, a csv file, and a budget; `InputError` if one is missing or anything else is given."""
    budget = given["--budget"]
    more = [name for name, value in given.items() if value is not None and name not in ("--problem", "--budget")]
    if kind not in FROM_JOINT or joint is None or budget is None or more:
        raise InputError(
            f"--joint: a csv file of P(s,x), with --budget and --problem {' or '.join(FROM_JOINT)}; got --problem {kind}"
            f"{', '.join(['', *more])}{'' if joint else ' without --joint'}{'' if budget else ' without --budget'}"
        )
    make, asks = FROM_JOINT[kind]
    text = dl.dumps(make(joint, need_unit(budget, "--budget")))
    return f"# A model of dalenius; docs/model-format.md has every key.\n# The question: {asks}\n{text}"


def _line(option: str, words: str, default: str, key: str, read: Callable[[str], object]) -> _Question:
    """A question whose answer is one key."""
    return _Question(option, words, default, lambda text: [f"{key} = {read(text)}"])


def _answered(question: _Question, given: str | None, *, asking: bool) -> Lines:
    """The lines for an answer: the option's, or what is typed, asked again while it cannot be used, or the default."""
    if given is not None or not asking:
        with naming(question.option):
            return question.lines((question.default if given is None else given).strip())
    while True:
        err.print(f"{question.words} [{question.default}]: ", end="")
        typed = sys.stdin.readline()
        if not typed:
            raise InputError(f"{question.option}: standard input ended; expected an answer, or --defaults")
        try:
            return question.lines(typed.strip() or question.default)
        except InputError as error:
            err.print(str(error))


def _problem(text: str) -> Lines:
    text = SPELLINGS[text].in_models if text in SPELLINGS else text
    if text not in KINDS:
        raise InputError(f"expected one of {', '.join(KINDS)}; got {brief(text)}{hint(text, KINDS)}")
    return [f"# The question: {KINDS[text].asks}", f'problem = "{text}"']


def _adversary() -> _Question:
    key = EntropyAtLeast.kind
    comment = f"# What the adversary does not know: {key} (nats, bits, or a share of all), or kind = {' | '.join(ADVERSARIES)}"

    def lines(text: str) -> Lines:
        word, amount = split_kind(text)
        if word in ("entropy", key) and amount:
            raise InputError(f"expected the amount alone: '{amount.lstrip('= ')}'")
        if says_a_kind(text):
            return _table("adversary", ADVERSARIES, text, comment)
        _ = dl.EntropyAtLeast(amount := entropy_in(text, key))
        return ["[adversary]", comment, f"{key} = {toml_value(amount)}"]

    return _Question("--adversary", "how much entropy the adversary has at least, or a kind", "0.8 max", lines)


def _shelf_question(option: str, table: str, shelf: Mapping[str, type[Shelved]], default: str) -> _Question:
    comment = f"# kind = {' | '.join(shelf)}"
    words = f"{table} ({', '.join(shelf)}; with what it needs)"
    return _Question(option, words, default, lambda text: _table(table, shelf, text, comment))


def _table(name: str, shelf: Mapping[str, type[Shelved]], text: str, comment: str) -> Lines:
    """A table's lines from a kind with its keys."""
    kind, rest = kind_and_keys(shelf, text)
    values = [part.strip() for part in _split(rest)]
    return [f"[{name}]", comment, f'kind = "{kind}"', *values]


def _split(text: str) -> list[str]:
    """The pairs of an inline table, whose commas may also stand within brackets and texts."""
    found, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == '"'
        depth += 0 if quoted else (character in "[{") - (character in "]}")
        if character == "," and not depth and not quoted:
            found.append("")
        else:
            found[-1] += character
    return [part for part in found if part.strip()]


def _leakage(text: str) -> str:
    return toml_value(need_unit(text, "max_leakage"))


LAW = ["[law]", "# The law of the true data, for the average: uniform | iid | csv", 'kind = "uniform"']
CLASS = [
    "[mechanism]",
    "# Which mechanisms are looked among: oblivious (rows by the query's value) | full | additive",
    'class = "oblivious"',
]
ADVERSARY = _adversary()
DISTORTION = _shelf_question("--distortion", "distortion", DISTORTIONS, "hamming")


@dataclass(frozen=True)
class _Kind:
    """A problem: what it asks, the options that it has no use for, the tables after records and query, and its budget."""

    asks: str
    without: tuple[str, ...]
    tables: tuple[_Question | Lines, ...]
    budget: _Question | None = None


KINDS = {
    "worst_case_leakage": _Kind(
        "how much can this release reveal about one record, at most?",
        ("--distortion", "--budget", "--privacy"),
        (_shelf_question("--mechanism", "mechanism", MECHANISMS, "geometric 0.5"), ADVERSARY),
    ),
    "min_leakage": _Kind(
        "which mechanism reveals least within a budget of distortion?",
        ("--mechanism", "--privacy"),
        (DISTORTION, LAW, CLASS, ADVERSARY),
        _line("--budget", "the largest expected distortion", "0.1", "max_distortion", toml_value),
    ),
    "min_distortion": _Kind(
        "which mechanism distorts least within a budget of leakage?",
        ("--mechanism", "--privacy"),
        (DISTORTION, LAW, CLASS, ADVERSARY),
        _line("--budget", "the largest leakage, '0.1 bits'", "0.1 bits", "max_leakage", _leakage),
    ),
    "max_information": _Kind(
        "how much can a private mechanism tell, at most?",
        ("--mechanism", "--distortion", "--budget", "--adversary"),
        (LAW, _shelf_question("--privacy", "privacy", NOTIONS, "local_dp log 3")),
    ),
}


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text[:20]) < 1:
        raise InputError(f"expected a whole number of at least 1, got {brief(text)}")
    return int(text)


def init(
    path: Path = Path("model.toml"),
    problem: str | None = None,
    records: str | None = None,
    alphabet: str | None = None,
    query: str | None = None,
    mechanism: str | None = None,
    distortion: str | None = None,
    budget: str | None = None,
    adversary: str | None = None,
    privacy: str | None = None,
    joint: str | None = None,
    defaults: bool = False,
    force: bool = False,
) -> None:
    """Write a commented model file from a few answers, each given by an option or asked for.

    It asks where standard input is a terminal; elsewhere, and with --defaults, what no option says is the default. Nothing is written
    unless the model can be read back and means something.

    Parameters
    ----------
    path : [FILE]
        The model file to write; - is standard output.
    problem
        worst_case_leakage (an audit); min_leakage, min_distortion or max_information (designs); privacy_funnel or
        information_bottleneck, with --joint.
    records
        How many records.
    alphabet
        How many values a record can have.
    query
        A kind, with what it needs: count, 'threshold 3', 'modular_sum 4'.
    mechanism
        Of an audit: 'geometric 0.5', 'exponential epsilon = 1, sensitivity = 2'.
    distortion
        Of a design: hamming, absolute, squared.
    budget
        Of a design: the largest distortion, or leakage ('0.1 bits').
    adversary
        An entropy ('0.8 max', '2 bits', 0), or a kind such as product_priors.
    privacy
        Of max_information: 'local_dp log 3', 'pointwise_maximal_leakage 0.5'.
    joint : --joint CSV
        Of a funnel or a bottleneck: P(s,x), a line for each value of the secret.
    defaults
        Ask nothing: defaults for what no option says.
    force
        Replace the file if it is there.
    """
    to_file = str(path) != STANDARD_STREAM
    if to_file and path.exists() and not force:
        raise InputError(f"{path}: it is there already; --force replaces it")
    given = {
        "--problem": problem,
        "--records": records,
        "--alphabet": alphabet,
        "--query": query,
        "--mechanism": mechanism,
        "--distortion": distortion,
        "--budget": budget,
        "--adversary": adversary,
        "--privacy": privacy,
    }
    if joint is not None or problem in FROM_JOINT:
        text = joint_text(problem or "worst_case_leakage", joint, given)
    else:
        text = model_text(given, asking=sys.stdin is not None and sys.stdin.isatty() and not defaults)
    dl.loads(text, folder=path.parent)
    if not to_file:
        out.print(text, end="")
        return
    need_places([path])
    write_whole(path, text)
    out.print(f"{path}; next: dalenius show {path}, dalenius solve {path} -o out")


def schema(output: Path | None = None, answers: bool = False) -> None:
    """Print a JSON schema of model files: editors complete keys and kinds with it, and mark what the loader would refuse.

    In the first line of a model file `#:schema ./dalenius.schema.json` names it for Even Better TOML (VS Code) and taplo.

    Parameters
    ----------
    output : -o, --output FILE
        The file to write; by default standard output.
    answers
        The schema of what commands print with --json instead.
    """
    text = json.dumps(answer_schema() if answers else model_schema(), indent=2) + "\n"
    if output is None:
        out.file.write(text)
        out.file.flush()
        return
    need_places([output])
    write_whole(output, text)
    out.print(str(output))
