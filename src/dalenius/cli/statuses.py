"""The exit statuses of `dalenius`, one table for all commands; `python -m dalenius_check` has those of `dalenius verify`."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """Exit status of a command.

    >>> ExitStatus.of_signal(15), ExitStatus.NOT_REACHED.value
    (<ExitStatus.TERMINATED: 143>, 5)
    """

    meaning: str  # to a script, as in the table of docs/results.md

    DONE = 0, "done; of `verify`: proved"
    REJECTED = 1, "the checker rejected the certificate (`verify`, `release`, `report`, `compose`, `list`)"
    UNUSABLE = 2, "something cannot be used, read or written; one line on standard error says what"
    UNDECIDED = 3, "the checker came to no verdict within its limits (`verify`, `release`, `report`, `compose`)"
    RESOLVED = 4, "proved of the matrix in the certificate, not of the model (`verify --resolved`)"
    NOT_REACHED = (
        5,
        "the interval is valid, but wider than `--require-gap`; or the budget is not proved to be met (`release`)",
    )
    EXCEEDED = (
        6,
        "the answer is valid (of `audit-samples` with its confidence), and its upper end is larger than `--at-most` allows; `release` "
        "releases nothing then",
    )
    INTERRUPTED = 130, "stopped by Ctrl-C; an interval that was printed is valid, files that were written are whole"
    CLOSED = 141, "nobody reads what is printed any more (a closed pipe); files that were written are whole"
    TERMINATED = 143, "stopped by SIGTERM; the same as for Ctrl-C"

    def __new__(cls, value: int, meaning: str = "") -> ExitStatus:
        status = int.__new__(cls, value)
        status._value_, status.meaning = value, meaning
        return status

    @classmethod
    def of_signal(cls, number: int) -> ExitStatus:
        """The status of a command that this signal stopped."""
        return cls(128 + number)
