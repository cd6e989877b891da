"""The command doctor: what is installed and usable here, and a problem that is solved and proved to see that it works."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

import dalenius as dl
from dalenius.cli.answers import write_answer
from dalenius.cli.shared import out
from dalenius.errors import InputError
from dalenius.intervals import interval_text
from dalenius.units import lower_in, upper_in

REQUIREMENT = re.compile(r"""([A-Za-z0-9._-]+)([^;]*)(?:;\s*extra\s*==\s*["']([\w-]+)["'])?""")
DEVELOPERS = ("dev", "docs", "interop", "tests")  # extras of those who work on the package
TRIED = ("parity/laplace-n4", "design/parity-n4-leakage")  # an audit, and a design by a conic solver


@dataclass(frozen=True)
class _Package:
    """A package that dalenius needs, or has an extra for."""

    name: str
    wanted: str
    extra: str | None
    version: str | None

    def __str__(self) -> str:
        if self.version is not None:
            return f"{self.name} {self.version}"
        add = f"pip install 'dalenius[{self.extra}]'" if self.extra else f"pip install '{self.name}{self.wanted}'"
        return f"{self.name} is not installed ({add})"


@dataclass(frozen=True)
class _Tried:
    """A model of the library that was solved here, its certificate proved once more; `seconds` for both."""

    model: str
    lower: float
    upper: float
    proved: bool
    seconds: float

    def __str__(self) -> str:
        ends = f"{interval_text(lower_in(self.lower, 'bits'), upper_in(self.upper, 'bits'))} bits"
        return f"{self.model}: {f'{ends}, proved' if self.proved else 'NOT PROVED'}, {self.seconds:.2f} s"


def doctor(as_json: bool = False) -> None:
    """Say what is installed and usable here, and try it: versions, solvers with their licences, the checker, a small proof.

    Exit status 0 if a small audit and a small design are solved and proved here, 2 if not; what is optional may be missing.
    """
    from dalenius.programs.solvers import solver_states

    packages, solvers, library = list(_packages()), solver_states(), len(dl.library())
    tried = [_try(model) for model in TRIED]
    if as_json:
        told = {name: {"usable": not why, "reason": why or None} for name, why in solvers.items()}
        write_answer(
            "doctor",
            {**_machine(), "packages": packages, "solvers": told, "library": library, "self_test": tried},
        )
    else:
        out.print("\n".join(f"{key:<20} {value}" for key, value in _machine().items()))
        for package in packages:
            out.print(f"{'optional' if package.extra else 'needed':<20} {package}")
        for name, why in solvers.items():
            out.print(f"{'solver':<20} {name}: {why or 'usable'}")
        out.print(f"{'library':<20} {library} models")
        for one in tried:
            out.print(f"{'self test':<20} {one}")
    if not all(one.proved for one in tried):
        raise InputError(
            "doctor: this installation does not prove what it should; install it anew (pip install --force-reinstall dalenius), and "
            "if that does not help report what `dalenius doctor --json` prints"
        )


def _machine() -> dict[str, str | int | None]:
    return {
        "dalenius": dl.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
    }


def _packages() -> Iterator[_Package]:
    """Requirements of the installed package, with the extras of its users; nothing where nobody installed it."""
    try:
        requirements = metadata.requires("dalenius") or []
    except metadata.PackageNotFoundError:
        return
    for requirement in requirements:
        found = REQUIREMENT.fullmatch(requirement.strip())
        if found is None or found[3] in DEVELOPERS or found[1] == "dalenius":
            continue
        try:
            version = metadata.version(found[1])
        except metadata.PackageNotFoundError:
            version = None
        yield _Package(found[1], found[2].strip(), found[3], version)


def _try(model: str) -> _Tried:
    """Solve a model, and have its certificate proved."""
    began, problem = time.perf_counter(), dl.load(model)
    result = dl.solve(problem, gap=1e-6)
    proved = result.proved_about == "model" and dl.verify(problem, result.certificate).proved and result.gap <= 1e-6
    return _Tried(model, result.lower, result.upper, proved, time.perf_counter() - began)
