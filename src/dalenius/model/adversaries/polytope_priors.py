"""Mixtures of listed laws."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dalenius.errors import InputError
from dalenius.exact import Rows, as_law, as_list
from dalenius.information.measures import PriorClass, PriorPolytope
from dalenius.model.adversaries.base import LawClass, divided

__all__ = ["PolytopePriors"]

MAX_NUMBERS = 2**22


@dataclass(frozen=True)
class PolytopePriors(LawClass):
    """All mixtures of the listed laws, the vertices.

    Parameters
    ----------
    vertices : sequence of laws
        Each is divided by its exact sum, which may differ from 1 by at most 1e-9.

    Raises
    ------
    InputError
        If there is no vertex, they differ in length, or one of them is no law.

    >>> PolytopePriors([[0.5, 0.5], [0.9, 0.1]]).letters
    2
    """

    kind: ClassVar[str] = "polytope_priors"
    vertices: tuple[tuple[Fraction, ...], ...]

    def __init__(self, vertices: Rows) -> None:
        listed = as_list(vertices, "adversary: vertices")
        laws = tuple(as_law(law, f"adversary: vertices[{j}]") for j, law in enumerate(listed))
        if not laws or len({len(law) for law in laws}) > 1:
            raise InputError(
                "adversary: vertices must be at least one law, all with as many letters; list each vertex as one law"
            )
        if sum(map(len, laws)) > MAX_NUMBERS:
            raise InputError(f"adversary: at most {MAX_NUMBERS} numbers, got {len(laws)} vertices of {len(laws[0])}")
        object.__setattr__(self, "vertices", laws)

    @property
    def letters(self) -> int:
        return len(self.vertices[0])

    @cached_property
    def priors(self) -> PriorClass:
        return PriorPolytope(np.array([divided(law) for law in self.vertices]))

    _words = "a polytope"
