"""The exit statuses of `dalenius`, one table for all commands; `python -m dalenius_check` has those of `dalenius verify`."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """Exit status of a command.

    >>> ExitStatus.of_signal(15), ExitStatus.NOT_REACHED.value
    (<ExitStatus.TERMINATED: 143>, 5)
    """

    DONE = 0
    REJECTED = 1
    UNUSABLE = 2
    UNDECIDED = 3
    RESOLVED = 4
    NOT_REACHED = 5
    EXCEEDED = 6
    INTERRUPTED = 130
    CLOSED = 141
    TERMINATED = 143

    @property
    def meaning(self) -> str:
        """Meaning to a script, as in the table of docs/results.md."""
        return {
            ExitStatus.DONE: "done; of `verify`: proved",
            ExitStatus.REJECTED: "the checker rejected the certificate (`verify`, `release`, `report`, `list`)",
            ExitStatus.UNUSABLE: "something cannot be used, read or written; one line on standard error says what",
            ExitStatus.UNDECIDED: "the checker came to no verdict within its limits (`verify`, `release`, `report`)",
            ExitStatus.RESOLVED: "proved of the matrix in the certificate, not of the model (`verify --resolved`)",
            ExitStatus.NOT_REACHED: (
                "the interval is valid, but wider than `--require-gap`; or the budget is not proved to be met (`release`)"
            ),
            ExitStatus.EXCEEDED: (
                "the answer is valid, and its upper end is larger than `--at-most` allows; `release` releases nothing then"
            ),
            ExitStatus.INTERRUPTED: "stopped by Ctrl-C; an interval that was printed is valid, files that were written are whole",
            ExitStatus.CLOSED: "nobody reads what is printed any more (a closed pipe); files that were written are whole",
            ExitStatus.TERMINATED: "stopped by SIGTERM; the same as for Ctrl-C",
        }[self]

    @classmethod
    def of_signal(cls, number: int) -> ExitStatus:
        """The status of a command that this signal stopped."""
        return cls(128 + number)
