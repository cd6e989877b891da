"""The package's library, read once, and parts of it in folders of their own."""

import functools
import json
import shutil
from pathlib import Path

from typer.testing import CliRunner

import dalenius as dl
from dalenius.catalogue.models import IndexRow, library, library_folder
from dalenius.cli import app

HOME = library_folder()
MODELS = {model.name: model for model in library()}

NAMES = ("channel/lopsided-2x3", "design/parity-n4-leakage", "infeasible/negative-leakage")
AUDIT, DESIGN, INFEASIBLE = NAMES


@functools.cache
def problems() -> dict[str, dl.problems.Problem]:
    """All of them, read; not while tests are collected, which every process does."""
    return {name: model.problem for name, model in MODELS.items()}


@functools.cache
def rows() -> list[IndexRow]:
    """The list's."""
    return [model.row() for model in MODELS.values()]


def copy_model(name: str, folder: Path, *, certified: bool = True) -> None:
    """A model's file into another library's folder, with its certificate or without."""
    (folder / name).parent.mkdir(exist_ok=True)
    stored = [MODELS[name].certificate_path] if certified else []
    for path in (MODELS[name].path, *stored):
        shutil.copy(path, folder / name.partition("/")[0])


def claimed(certificate: dl.Certificate, **ends: float) -> dl.Certificate:
    """The same evidence for wider claims."""
    header, rest = certificate.text.split("\n", 1)
    return dl.Certificate(json.dumps(json.loads(header) | {key: str(end) for key, end in ends.items()}) + "\n" + rest)


def run(*arguments) -> str:
    """What a command prints that succeeds."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout
