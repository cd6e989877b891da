"""The door for model files: two programs read each, and it is used only if they read the same problem."""

from __future__ import annotations

from pathlib import Path

from dalenius._verify import need_readable
from dalenius.errors import InputError
from dalenius.model import Problem, read_model
from dalenius.model import loads as read_problem
from dalenius.reduction import need_countable

OTHERS = {  # what is no model, and what to do with it
    ".csv": "expected a model; of a table of people write audit --table {0} --mechanism KIND, of a matrix measure {0}",
    ".md": "expected a model; this is a page, and its model stands beside it (.toml)",
}


def load_file(path: str | Path) -> Problem:
    """Read a model file.

    Raises
    ------
    InputError
        If the file cannot be read, or as in `loads`; the message names the file.
    """
    text = read_model(path)
    try:
        return loads(text, folder=Path(path).parent)
    except InputError as error:
        instead = OTHERS.get(Path(path).suffix.lower())
        raise InputError(f"{path}: {instead.format(path) if instead else error}") from None


def loads(text: str | bytes, *, folder: str | Path = "") -> Problem:
    """Read a problem from the text of a model file; paths in it are relative to `folder`, by default the current directory.

    The problem remembers the text (`Problem.written`), and whatever is proved about it is proved about this text. Only a law that
    the text does not state (kind ``csv``) is read and filled in; then the proof is about what `dumps` writes.

    Raises
    ------
    InputError
        If it is no TOML, or states no valid problem, or the proof checker cannot read it, reads something else
        in it, or has no room for what proofs of it list.

    >>> problem = loads("problem = 'worst_case_leakage'\\n[records]\\ncount = 4\\nalphabet = 2\\n[query]\\nkind = 'parity'\\n"
    ...     "[mechanism]\\nkind = 'symmetric'\\nflip = 0.2\\n[adversary]\\nentropy_at_least = '2 bits'\\n")
    >>> problem.mechanism.flip, problem.written[:9]
    (Fraction(1, 5), b'problem =')
    """
    problem = read_problem(text, folder=folder)
    need_readable(problem)
    need_countable(problem)
    return problem
