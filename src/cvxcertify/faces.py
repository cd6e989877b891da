"""Public names of a package that are imported where they are asked for; the stub beside it is the one list of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec


def lazily(
    package: str, file: str, rooms: Sequence[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package, from the statements `from HOME import NAME as NAME` of its `__init__.pyi`.

    Type checkers read the stub itself. A module of the package is found by its name, too, as after an import of it. There is no
    `__all__`: help(package) would write out all that it names.

    Parameters
    ----------
    package, file : str
        Its `__name__` and `__file__`.
    rooms : sequence of str, optional
        Its names that are namespaces: who asks the package itself for a name of theirs is told where it is.
    """
    with open(f"{file}i", encoding="utf-8") as stub:
        listed = re.findall(r"^from (\S+) import (?:\(\s*)?(\w+) as \2(?:,\s*\))?$", stub.read(), re.MULTILINE)
    homes = {name: home for home, name in listed}

    def found(name: str) -> object:
        if name in homes:
            home = import_module(homes[name])
            return import_module(f"{homes[name]}.{name}") if name in rooms else getattr(home, name)
        if not name.startswith("__") and find_spec(f"{package}.{name}"):
            return import_module(f"{package}.{name}")
        there = [] if name.startswith("_") else [room for room in rooms if hasattr(found(room), name)]
        where = f"; it is in {package}.{there[0]}: {package}.{there[0]}.{name}" if there else ""
        raise AttributeError(f"module {package!r} has no attribute {name!r}{where}", name=name)

    return found, lambda: sorted(homes)
