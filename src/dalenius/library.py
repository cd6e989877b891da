"""The model library: declarative problems, each with its certificate beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dalenius.certify import Certificate
from dalenius.errors import InputError
from dalenius.problems import Problem, load

__all__ = ["LibraryModel", "library", "library_model"]

INSTALLED = Path(__file__).parent / "models"
CHECKOUT = Path(__file__).parents[2] / "models"


@dataclass(frozen=True)
class LibraryModel:
    """One model of the library: `path` the model file, `certificate_path` the certificate beside it, or None."""

    name: str
    path: Path

    @property
    def certificate_path(self) -> Path | None:
        path = self.path.with_suffix(".cert")
        return path if path.exists() else None

    def load(self) -> Problem:
        """The problem."""
        return load(self.path)

    @property
    def claim(self) -> tuple[float, float] | None:
        """The interval that the stored certificate claims, in nats (`dalenius verify` proves it)."""
        if self.certificate_path is None:
            return None
        header = Certificate.read(self.certificate_path).header
        return float(header["lower"]), float(header["upper"])


def library() -> list[LibraryModel]:
    """All models, by name.

    >>> "paper/parity-4-laplace" in [model.name for model in library()]
    True
    """
    folder = INSTALLED if INSTALLED.is_dir() else CHECKOUT
    return [
        LibraryModel(str(p.relative_to(folder).with_suffix("").as_posix()), p) for p in sorted(folder.rglob("*.toml"))
    ]


def library_model(name: str) -> LibraryModel:
    """The model of this name.

    Raises
    ------
    InputError
        If there is none.
    """
    for model in library():
        if model.name == name:
            return model
    raise InputError(f"no model named {name!r} in the library; `dalenius list` shows what there is")
