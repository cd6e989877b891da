"""What does a check take, by either arithmetic, and in another checkout? `python benchmarks/checks.py [NAMES...] --before OLD/src`.

Certificates of the counts of `anytime.py` are made once. Each is checked by processes of their own, both checkouts in turn, and the
least processor seconds count. `ratio` is what this checkout takes for one second of the other, `own` what the checker's own arithmetic
takes for one of python-flint. Machines differ: compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import anytime

import dalenius as dl
from dalenius.model import model_bytes

CODE = """
import sys, time
from pathlib import Path
from dalenius_check import check
files = [Path(name).read_bytes() for name in sys.argv[1:3]]
started = time.process_time()
assert check(*files, arithmetic=sys.argv[3]).proved
print(time.process_time() - started)
"""


def seconds(source: Path, files: list[str], arithmetic: str) -> float:
    """Those of a process with these sources."""
    command = [sys.executable, "-c", CODE, *files, arithmetic]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": str(source)}
    )
    return float(ran.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["count 20, 95 %", "count 30, 97 %", "count 200, 95 %"])
    parser.add_argument("--before", type=Path, help="sources to compare with")
    parser.add_argument("--limit", type=float, default=60.0, help="of each solve")
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    sources = [path for path in (options.before, Path(dl.__file__).parents[1]) if path]
    print(f"{'certificate':20} {'gap':>8} {'lines':>7} {'flint':>7} {'ratio':>6} {'python':>7} {'ratio':>6} {'own':>6}")
    for name in options.names:
        problem = anytime.model(name)
        result = dl.solve(problem, gap=anytime.GAP, time_limit=options.limit)
        with tempfile.TemporaryDirectory() as folder:
            files = [str(Path(folder) / file) for file in ("model.toml", "proof.cert")]
            Path(files[0]).write_bytes(model_bytes(problem))
            Path(files[1]).write_text(result.certificate.text)
            lines = result.certificate.text.count("\n")
            print(f"{name:20} {result.gap:8.1e} {lines:7}", end="", flush=True)
            taken = {}
            for arithmetic in ("flint", "python"):
                turns = [[seconds(source, files, arithmetic) for source in sources] for _ in range(options.times)]
                first, *_, taken[arithmetic] = map(min, zip(*turns, strict=True))
                print(f" {taken[arithmetic]:7.2f} {taken[arithmetic] / first:6.2f}", end="", flush=True)
            print(f" {taken['python'] / taken['flint']:6.1f}")


if __name__ == "__main__":
    main()
