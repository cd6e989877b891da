"""What samples say: a number that is below the truth with a confidence; nothing is proved by it."""

from __future__ import annotations

from dataclasses import dataclass

from dalenius.intervals import text_below
from dalenius.notebook import table

__all__ = ["LABEL", "SampledLeakage"]

LABEL = "statistical, never a proof"


@dataclass(frozen=True)
class SampledLeakage:
    """A lower confidence bound on what a release tells: of all experiments like this one, a share `confidence` has it below the truth.

    It bounds from below only: that a black box tells little cannot be learnt from samples. No certificate is made of it.

    Attributes
    ----------
    lower : float
        In `units`; 0 where the samples show nothing.
    confidence : float
    units : {"nats", "bits"}
    about : str
        What is bounded.
    record : int or None
        Which record, where there are several; the confidence is about all of them together.
    runs : int
        Samples in all.
    epsilon : float or None
        Of counts: no differential privacy with a smaller epsilon (nats) is compatible with them, with the same confidence, jointly.
    method : str
        How it was found.
    """

    lower: float
    confidence: float
    units: str
    about: str
    record: int | None
    runs: int
    method: str
    epsilon: float | None = None

    @property
    def statistical(self) -> bool:
        """Always: samples prove nothing."""
        return True

    def __str__(self) -> str:
        return (
            f"{self.about} >= {text_below(self.lower, 4)} {self.units} with a confidence of {100 * self.confidence:.6g} %, from "
            f"{self.runs} runs ({LABEL})"
        )

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows = [
            ("at least", f"{text_below(self.lower, 4)} {self.units}"),
            ("confidence", f"{100 * self.confidence:.6g} %"),
        ]
        return table(
            f"SampledLeakage ({LABEL})", [("about", self.about), *rows, ("runs", self.runs), ("method", self.method)]
        )
