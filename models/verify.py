"""Prove every certificate of the library with the independent checker alone: `python models/verify.py [NAME]...`.

One line a model; exit status 0 if all are proved, by each of the arithmetics asked for: `--arithmetic flint`, `python`, `auto`, or
`both`, flint and python, which must agree. It needs the standard library alone, and makes sure of that: while it runs nothing else
can be imported, neither numpy nor a solver nor `dalenius` itself, but python-flint where that is the arithmetic.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SOURCE = FOLDER.parent / "src"


class Gate:
    """Lets nothing in but the standard library and the checker, and python-flint if the checker asks for it."""

    def __init__(self, arithmetic: str) -> None:
        self.allowed = {*sys.stdlib_module_names, "dalenius_check", *(["flint"] if arithmetic != "python" else [])}

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.split(".")[0] not in self.allowed:
            raise ImportError(f"the checker must do without {name}")


def main(names: list[str], arithmetic: str = "auto") -> int:
    known = {path.relative_to(FOLDER).with_suffix("").as_posix(): path for path in sorted(FOLDER.rglob("*/*.toml"))}
    if unknown := [name for name in names if name not in known]:
        sys.stderr.write(f"no such model: {', '.join(unknown)}; `dalenius list` and INDEX.md have the names\n")
        return 2
    sys.path.append(str(SOURCE))  # of a checkout, where nothing is installed
    sys.meta_path.insert(0, Gate(arithmetic))
    from dalenius_check import check

    proved, arithmetics = 0, ("flint", "python") if arithmetic == "both" else (arithmetic,)
    for name in names or known:
        model, times, verdicts = known[name].read_bytes(), "", []
        files = [path for ending in (".cert", ".cert.gz") if (path := known[name].with_suffix(ending)).exists()]
        proof = files[0].read_bytes() if files else b""
        for each in arithmetics:
            started = time.perf_counter()
            verdicts.append(check(model, proof, arithmetic=each))
            times += f" {time.perf_counter() - started:6.2f} s"
        worst = min(verdicts, key=lambda verdict: verdict.proved)
        proved += worst.proved
        said = worst.reason if worst.proved else f"{worst.status.value}: {worst.reason}"
        sys.stdout.write(f"{name:42}{times}  {said}\n")
    asked = len(names or known)
    sys.stdout.write(f"{proved} of {asked} proved\n")
    return 0 if proved == asked else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a model, of all if none is named")
    parser.add_argument("--arithmetic", choices=["auto", "flint", "python", "both"], default="auto")
    options = parser.parse_args()
    try:
        sys.exit(main(options.names, options.arithmetic))
    except ValueError as error:  # an arithmetic that is not there
        parser.error(str(error))
