"""Every dataset alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.model.laws.base import Law

__all__ = ["Uniform"]


@dataclass(frozen=True)
class Uniform(Law):
    """p(x) = 1 / |X|.

    >>> Uniform().weights(3)
    (1, 1, 1)
    """

    kind: ClassVar[str] = "uniform"

    def weights(self, alphabet: int) -> tuple[int, ...]:
        return (1,) * alphabet
