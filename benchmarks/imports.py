"""What importing takes, in processor seconds of a whole process, and in times of what numpy alone takes.

The least of several runs, one after the other in turn, so that a machine that is busy for a while does not decide.
"""

from __future__ import annotations

import resource
import subprocess
import sys

RUNS = 7
PARITY = (
    "dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(), mechanism=dl.symmetric(0.1, k=2), "
    "adversary=dl.AnyPrior())"
)
PROGRAMS = {
    "python": "pass",
    "numpy": "import numpy",
    "dalenius_check": "import dalenius_check",
    "cvxcertify.check": "import cvxcertify.check",
    "dalenius": "import dalenius",
    "dalenius --help": "import sys; from dalenius import cli; sys.argv[1:] = ['--help']; cli.main()",
    "a model": f"import dalenius as dl; {PARITY}",
    "a solve": f"import dalenius as dl; dl.solve({PARITY})",
    "all names": "import dalenius as dl; [getattr(dl, name) for name in dir(dl)]",
    "cvxpy": "import cvxpy",
    "dalenius.programs": "import dalenius.programs",
}


def seconds(code: str) -> float:
    """Of a process that runs this, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a line for each program."""
    least = dict.fromkeys(PROGRAMS, float("inf"))
    for _ in range(RUNS):
        for name, code in PROGRAMS.items():
            least[name] = min(least[name], seconds(code))
    print(f"{'':20} {'s':>6} {'x numpy':>8}")
    for name, took in least.items():
        print(f"{name:20} {took:6.3f} {took / least['numpy']:8.2f}")


if __name__ == "__main__":
    main()
