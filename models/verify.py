"""Prove every certificate of the library with the independent checker alone: `python models/verify.py [NAME]...`.

One line a model; exit status 0 if all are proved. It needs the standard library and python-flint, and makes sure of that: while it
runs nothing else can be imported, neither numpy nor a solver nor `dalenius` itself.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SOURCE = FOLDER.parent / "src"
ALLOWED = {*sys.stdlib_module_names, "flint", "dalenius_check"}


class Gate:
    """Lets nothing in but the standard library, python-flint and the checker."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.split(".")[0] not in ALLOWED:
            raise ImportError(f"the checker must do without {name}")


def main(names: list[str]) -> int:
    known = {path.relative_to(FOLDER).with_suffix("").as_posix(): path for path in sorted(FOLDER.rglob("*/*.toml"))}
    if unknown := [name for name in names if name not in known]:
        sys.stderr.write(f"no such model: {', '.join(unknown)}; `dalenius list` and INDEX.md have the names\n")
        return 2
    sys.path.append(str(SOURCE))  # of a checkout, where nothing is installed
    sys.meta_path.insert(0, Gate())
    from dalenius_check import check

    proved = 0
    for name in names or known:
        model, proof, started = known[name], known[name].with_suffix(".cert"), time.perf_counter()
        verdict = check(model.read_bytes(), proof.read_bytes() if proof.exists() else b"")
        proved += verdict.proved
        said = verdict.reason if verdict.proved else f"{verdict.status.value}: {verdict.reason}"
        sys.stdout.write(f"{name:42} {time.perf_counter() - started:6.2f} s  {said}\n")
    asked = len(names or known)
    sys.stdout.write(f"{proved} of {asked} proved\n")
    return 0 if proved == asked else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
