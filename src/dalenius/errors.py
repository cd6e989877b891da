"""The one error family: everything the package raises on purpose derives from `DaleniusError`; how messages show a value, and what
they guess was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from cvxcertify.errors import ProofRefusedWarning as ProofRefusedWarning
from cvxcertify.errors import brief as brief


class DaleniusError(Exception):
    """Base of every error that dalenius raises on purpose; `exit_code` is the status of a command that it ends."""

    exit_code: int = 2


class InputError(DaleniusError, ValueError):
    """Input that cannot be used; the message says what was expected, what came, and what to do."""


class GapNotReachedError(DaleniusError):
    """`Result.require` was asked for a narrower interval than the one that was proved."""


class NotProvedError(DaleniusError):
    """A certificate that something rests on is not proved; or a release is not proved to keep its budget, and nothing is released.

    `status` is the checker's word and `exit_code` that of its program: 1 rejected, 2 unreadable or about something else, 3 undecided;
    and 5 where the certificate is proved, but the model's budget is not met by what it proves, 6 where a budget of the release is not.
    """

    def __init__(self, message: str, *, status: str, exit_code: int) -> None:
        super().__init__(message)
        self.status, self.exit_code = status, exit_code


@contextmanager
def naming(what: object) -> Iterator[None]:
    """Errors about what stands in a file, or in a part of a model, begin with its name; None is no name.

    >>> with naming("a.toml"):
    ...     raise InputError("expected a table")
    Traceback (most recent call last):
    dalenius.errors.InputError: a.toml: expected a table
    """
    try:
        yield
    except InputError as error:
        raise (error if what is None else InputError(f"{what}: {error}")) from None


def counted(number: int, noun: str) -> str:
    """A number of things, in words.

    >>> counted(1, "line"), counted(2, "line")
    ('1 line', '2 lines')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def hint(word: object, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the known one that begins with it, or else resembles it, if any does.

    >>> hint("laplace", ["matrix", "laplace_threshold"]), hint("haming", ["hamming"]), hint("x", ["hamming"])
    (" (did you mean 'laplace_threshold'?)", " (did you mean 'hamming'?)", '')
    """
    if not isinstance(word, str):
        return ""
    known = list(known)
    longer = [name for name in known if len(word) > 2 and name.startswith(word.lower())]
    close = longer or difflib.get_close_matches(word[:100], known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
