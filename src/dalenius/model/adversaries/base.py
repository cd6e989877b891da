"""What an adversary is: the set of priors on datasets that it may hold."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from dalenius.model.records import Records
from dalenius.model.shelf import Shelved

__all__ = ["Adversary"]


@dataclass(frozen=True)
class Adversary(Shelved):
    """A set of priors on datasets; the leakage is the largest over them."""

    @abstractmethod
    def check(self, records: Records) -> None:
        """Raise `InputError` if the set does not fit these records."""

    def in_words(self) -> str:
        """Who this is, as the end of the sentence "the leakage to any adversary ..."."""
        return f"in the set {self.kind}"

    def to_model(self) -> dict[str, Any]:
        """The table [adversary] of a model file."""
        return {"kind": self.kind, **self.to_table()}

    def normal_form(self) -> dict[str, Any]:
        """What the digest is taken of (docs/model-format.md)."""
        return self.to_model()
