"""Prove every certificate of the library with the independent checker alone: `python models/verify.py [NAME]...`.

One line a model; exit status 0 if all are proved. It needs the standard library and python-flint, and makes sure of that: while it
runs nothing else can be imported, neither numpy nor a solver nor `dalenius` itself.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ALLOWED = {*sys.stdlib_module_names, "flint", "dalenius_check"}


class Gate:
    """Lets nothing in but the standard library, python-flint and the checker."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.split(".")[0] not in ALLOWED:
            raise ImportError(f"the checker must do without {name}")


def main(names: list[str]) -> int:
    sys.meta_path.insert(0, Gate())
    from dalenius_check import check

    models = [FOLDER / f"{name}.toml" for name in names] or sorted(FOLDER.rglob("*/*.toml"))
    proved = 0
    for model in models:
        started = time.perf_counter()
        verdict = check(model.read_bytes(), model.with_suffix(".cert").read_bytes())
        proved += verdict.proved
        said = verdict.reason if verdict.proved else f"{verdict.status.value}: {verdict.reason}"
        name = model.relative_to(FOLDER).with_suffix("").as_posix()
        sys.stdout.write(f"{name:42} {time.perf_counter() - started:6.2f} s  {said}\n")
    sys.stdout.write(f"{proved} of {len(models)} proved\n")
    return 0 if proved == len(models) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
