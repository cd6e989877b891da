"""Compile the theory, prove models of the library as theorems, and see false claims refused: `make formal`.

Needs `coqc` and coq-interval (`make formal-tools`); says so in one line where they are missing. Every theorem may
rest on the axioms in axioms.txt, which are all of Coq's own library, and on no others.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

from dalenius import Certificate, load
from dalenius.catalogue.models import library_model
from dalenius.export.rocq import rocq_text

HERE = Path(__file__).parent
BUILD = HERE.parent / "build" / "formal"
THEORY = (
    "Definitions",
    "Sums",
    "Rows",
    "Bounds",
    "Vertices",
    "Groups",
    "Orbits",
    "Counting",
    "Enclosures",
    "Boxes",
    "RowChecker",
    "Checker",
    "Certificates",
    "Additive",
    "Witnesses",
    "Curves",
    "Listed",
    "Blocks",
    "Classes",
    "Example",
)
FALSE = 21  # claims that are false by one digit, and must be refused
LIMIT = 1200  # seconds for one file
PROCESSES = 2  # that prove models at the same time
ASSUMPTIONS = "Print Assumptions {}.\n"  # three seconds each time: once, of all claims together
CLAIM = re.compile(r"\((\d+) # (\d+)\)%Q\.$", re.MULTILINE)


def main() -> int:
    """The exit status: 0 if everything is as it should be, or Coq is missing."""
    if shutil.which("coqc") is None:
        sys.stdout.write(
            "no coqc was found: no theorem is proved; make formal-tools installs Debian's coq and libcoq-interval\n"
        )
        return 0
    BUILD.mkdir(parents=True, exist_ok=True)
    allowed = set((HERE / "axioms.txt").read_text().split())
    for name in THEORY:
        shutil.copy(HERE / f"{name}.v", BUILD)
        _prove(name, allowed)
    names = (HERE / "models.txt").read_text().split()
    pool = ThreadPoolExecutor(PROCESSES)
    try:
        for _ in pool.map(
            lambda place: _prove_model(names[place], allowed, falsified=place < FALSE), range(len(names))
        ):
            pass
    finally:
        pool.shutdown(cancel_futures=True)
    required = "".join(f"From Dalenius Require {_file(name)}.\n" for name in names)
    claims = f"Definition all_claims := ({', '.join(f'{_file(name)}.claim' for name in names)}).\n"
    (BUILD / "All.v").write_text(required + claims + ASSUMPTIONS.format("all_claims"))
    _prove("All", allowed)
    sys.stdout.write(f"{len(names)} models proved, {min(FALSE, len(names))} false claims refused\n")
    return 0


def _prove_model(name: str, allowed: set[str], *, falsified: bool) -> None:
    """Prove the claim of a library model's certificate, and see a false one refused."""
    model = library_model(name)
    certificate = model.certificate()
    assert certificate is not None
    text = rocq_text(load(model.path), certificate).replace(ASSUMPTIONS.format("claim"), "")
    file = _file(name)
    (BUILD / f"{file}.v").write_text(text)
    _prove(file, allowed)
    if falsified:
        (BUILD / f"Wrong_{file}.v").write_text(_false(text, certificate))
        if _compile(f"Wrong_{file}").returncode == 0:
            raise SystemExit(f"{name}: a claim that is false by one digit was proved")


def _file(name: str) -> str:
    return "Model_" + re.sub(r"\W", "_", name)


def _compile(name: str) -> subprocess.CompletedProcess[str]:
    command = ["coqc", "-w", "-all", "-Q", ".", "Dalenius", f"{name}.v"]
    return subprocess.run(command, cwd=BUILD, capture_output=True, text=True, timeout=LIMIT)


def _prove(name: str, allowed: set[str]) -> None:
    """Compile a file; leave if it does not compile, or rests on what is not allowed."""
    sys.stdout.write(f"{name}\n")
    sys.stdout.flush()
    done = _compile(name)
    if done.returncode:
        raise SystemExit(f"{name} is not proved:\n{done.stderr or done.stdout}")
    more = sorted(set(_axioms(done.stdout)) - allowed)
    if more:
        raise SystemExit(f"{name} rests on axioms that are not allowed: {', '.join(more)}")


def _axioms(printed: str) -> Iterator[str]:
    """The names that Print Assumptions prints: each begins a line, its type follows indented, or on the same line."""
    _, _, listed = printed.partition("Axioms:\n")
    return (line.split()[0] for line in listed.splitlines() if line and not line[0].isspace())


def _false(text: str, certificate: Certificate) -> str:
    """The same file with one digit of the upper end lowered, such that it is below the lower end."""
    assert certificate.header.claim is not None
    lower, upper = certificate.header.claim
    found = CLAIM.search(text)
    assert found is not None
    assert Fraction(int(found[1]), int(found[2])) == upper
    digits = found[1]
    for place, digit in reversed(list(enumerate(digits))):
        changed = f"{digits[:place]}{int(digit) - 1}{digits[place + 1 :]}"
        if digit != "0" and Fraction(int(changed), int(found[2])) < lower:
            return text[: found.start(1)] + changed + text[found.end(1) :]
    raise SystemExit("no digit makes the claim false")


if __name__ == "__main__":
    sys.exit(main())
