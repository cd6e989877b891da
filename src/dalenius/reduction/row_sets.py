"""Selections with equal rows: they have one capacity, whatever the order of the letters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.information.arrays import Floats, Integers
from dalenius.reduction.selection import Selections

__all__ = ["RowSets"]


@dataclass(frozen=True)
class RowSets:
    """The selections of one kind of record as sets (with repetition) of a channel's distinct rows.

    Attributes
    ----------
    selections : Selections
    row_of_input : (inputs,)
        Which of the distinct rows every channel input has.
    sets : (sets, letters)
        The rows of a selection in ascending order; selections of equal rows share one set.
    set_of : (selections,)
        The set of each selection.
    """

    selections: Selections
    row_of_input: Integers
    sets: Integers
    set_of: Integers

    @classmethod
    def of(cls, selections: Selections, row_of_input: Integers) -> RowSets:
        rows = np.sort(row_of_input[selections.inputs], axis=1)
        sets, set_of = np.unique(rows, axis=0, return_inverse=True)
        return cls(selections, row_of_input, sets, set_of.reshape(-1))

    def apply(self, rows: Floats) -> Floats:
        """The rows of each set, (sets, letters, outputs), out of the channel's distinct ones."""
        return np.asarray(rows[self.sets])

    def lift(self, number: int, law: Floats) -> tuple[int, Floats]:
        """A law on the rows of a set as one on the letters of the first selection with these rows."""
        selection = int(np.argmax(self.set_of == number))
        letters = np.empty(self.selections.letters)
        letters[np.argsort(self.row_of_input[self.selections.inputs[selection]], kind="stable")] = law
        return selection, letters
