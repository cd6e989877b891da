"""Histograms of randomized letters against independent blocks: pieces with others who are known, fewer than there are or all."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import accumulate
from math import gcd
from typing import Any

from .arithmetic import arb, fmpq
from .blocks import Blocks, Shape
from .histogram import patterns
from .households import Households
from .model import Model, model_of
from .numbers import need
from .read import text
from .routes import sizes_of

_NUMBERS = re.compile("(0|[1-9][0-9]{0,6})(,(0|[1-9][0-9]{0,6}))*")


class Randomized(Blocks):
    """Pieces (m, t): blocks of m people, and t others of each letter, who are known."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.allowance = model.allowance
        self.sizes = sizes_of(model)
        self.route = ""
        need(model.mechanism["others"] is None, "randomized_histogram: no 'others' against independent_blocks")
        self._starts = [0, *accumulate(self.sizes)]
        self._own = None
        self.alike = True
        for shape in self.shapes:
            normal = {"records": [[str(model.alphabets[0]), str(len(shape.alphabets))]]}
            replace(model, normal=normal).need_feasible()

    def key(self, shape: Shape, t: Any) -> Any:
        """The same for pieces that are the same model."""
        return shape, t

    def lost(self, shape: Shape) -> arb:
        """Nothing."""
        return arb(0)

    def piece(self, shape: Shape, t: Any) -> Model:
        """The model about one block."""
        given = {key: item for key, item in self.model.mechanism.items() if item is not None}
        tables = {"query": {"kind": "histogram"}, "mechanism": {**given, "others": list(t)}}
        records, held = {"alphabets": list(shape.alphabets)}, {"entropy_at_least": fmpq(0)}
        free = model_of({"problem": "maximal_leakage", "records": records, **tables, "adversary": held}, self.allowance)
        return free.against({"entropy_at_least": (self.model.entropy, self.model.unit)})


class RandomizedHouseholds(Households):
    """Bound because fewer others tell more: what is told with t others is told with fewer, to whom those are added who are left."""

    def _left(self, shape: Shape) -> int:
        """How many others there are."""
        return len(self.blocks.model.alphabets) - len(shape.alphabets)

    def name(self, j: int, shape: Shape, t: Any) -> Any:
        """What may not come twice."""
        return shape, t

    def need_possible(self, shape: Shape, t: Any) -> None:
        """Refuse a witness where others are left out."""
        need(sum(t) == self._left(shape), f"a witness's t must be {self._left(shape)} people")

    def sum(self, shape: Shape, value: Any) -> Any:
        """How many others have each letter, in falling order."""
        letters = self.blocks.model.alphabets[0]
        need(
            _NUMBERS.fullmatch(text(value, "t")) is not None, "t must be integers with commas between them, as a string"
        )
        t = tuple(map(int, value.split(",")))
        need(len(t) == letters and sorted(t, reverse=True) == list(t), f"t must be {letters} integers that do not rise")
        need(sum(t) <= self._left(shape), f"t must be at most {self._left(shape)} people")
        return t

    def need_covered(self, covered: set[Any]) -> None:
        """For every size of a block all t that are a step's multiples, or nobody.

        Bound because every t of all others is, in some order, nowhere below one of those, by their sum.
        """
        letters = self.blocks.model.alphabets[0]
        for shape in self.blocks.shapes:
            listed = {t for one, t in covered if one == shape}
            about = f"the file ends, but a block of {len(shape.alphabets)} records is not covered"
            need(bool(listed), about)
            step = gcd(*(x for t in listed for x in t))
            if (0,) * letters not in listed:
                most = max(0, -(-(self._left(shape) - letters * (step - 1)) // step))
                for h in patterns(most, letters):
                    self.allowance.look()
                    t = tuple(step * x for x in (*h, *[0] * (letters - len(h))))
                    need(t in listed, f"{about} with {','.join(map(str, t))}")
