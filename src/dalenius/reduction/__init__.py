"""Lossless reductions: from a problem to the smallest one with the same answer, and back.

Each reduction is a frozen object with `apply`, from what is given to what is left of it, and `lift`, the way back. Applying what was
lifted gives what there was; lifting spreads mass evenly, so that leakage and the largest entropy stay as they are.
"""

from dalenius.reduction.chambers import Chamber
from dalenius.reduction.counting import Completions, Settings, completions, exact_counts, settings_of_others
from dalenius.reduction.problems import (
    DatasetPairs,
    dataset_pairs,
    need_countable,
    record_channels,
    record_completions,
    record_selections,
)
from dalenius.reduction.record_channel import AggregatedRecord, Aggregation, RecordChannel, distinct_rows
from dalenius.reduction.record_symmetry import RecordSymmetries, RowSymmetry, Source, Triple, even, orbits_of
from dalenius.reduction.secret_cells import SecretCells, cells_of_secrets, output_laws
from dalenius.reduction.selection import MAX_NUMBERS, BlockSelections, RowSets, Selections, block_selections, selections
from dalenius.reduction.symmetry import Orbits

__all__ = [
    "MAX_NUMBERS",
    "AggregatedRecord",
    "Aggregation",
    "BlockSelections",
    "Chamber",
    "Completions",
    "DatasetPairs",
    "Orbits",
    "RecordChannel",
    "RecordSymmetries",
    "RowSets",
    "RowSymmetry",
    "SecretCells",
    "Selections",
    "Settings",
    "Source",
    "Triple",
    "block_selections",
    "cells_of_secrets",
    "completions",
    "dataset_pairs",
    "distinct_rows",
    "even",
    "exact_counts",
    "need_countable",
    "orbits_of",
    "output_laws",
    "record_channels",
    "record_completions",
    "record_selections",
    "selections",
    "settings_of_others",
]
