"""The examples at the end of every `--help`: lines that run as they stand, one after another in an empty folder."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "audit": (
        "audit --mechanism discrete_laplace:0.5 --people 1000000 --blocks 4",
        "audit parity/laplace-n4 -o page.md",
    ),
    "init": (
        "init count.toml --query count --mechanism 'geometric 0.5' --defaults",
        "init most.toml --problem max_information --records 3 --query count --defaults",
        "init design.toml --problem min_leakage --records 3 --query parity --defaults",
    ),
    "show": ("show parity/laplace-n4", "show count.toml --json"),
    "solve": (
        "solve parity/laplace-n4 -o out",
        "solve count.toml design.toml --gap 0.5 -o out",
        "solve - --gap 0.5 --json < count.toml",
    ),
    "verify": (
        "verify parity/laplace-n4 out/laplace-n4.cert",
        "verify parity/laplace-n4 out/laplace-n4.cert --at-most '0.7 bits' --arithmetic python",
    ),
    "measure": ("measure parity/laplace-n4", "measure channel.csv --prior 0.5,0.5 --within 'kl 0.02'"),
    "noise": (
        "noise --noise laplace --range 1 --at-most 0.1 -o noise",
        "noise --noise geometric --range 2 --at-most '0.1 bits'",
    ),
    "convert": (
        "convert --from local_dp=1 --to mutual_information",
        "convert --from 'local_dp=0.1' --to 'local_dp_delta(1)' --releases 20",
        "convert --all -o conversions.png",
    ),
    "compose": ("compose parity/laplace-n4 out/laplace-n4.cert parity/laplace-n4 out/laplace-n4.cert",),
    "sweep": (
        "sweep parity/laplace-n4 --set mechanism.epsilon=0.5,1 --gap 0.01 -o grid",
        "sweep parity/laplace-n4 --set adversary.entropy_at_least='0:1 max:2' --gap 0.1 -o curve",
    ),
    "frontier": ("frontier design.toml --points 2 --gap 0.2 -o best",),
    "report": ("report out/laplace-n4.cert -o report.html",),
    "release": ("release design.toml --mechanism out/design.mechanism.json --data answers.csv",),
    "export": (
        "export parity/laplace-n4 --program list",
        "export parity/laplace-n4 --program marginal --format cbf -o marginal.cbf",
    ),
    "import-solution": ("import-solution parity/laplace-n4 marginal solution.json",),
    "compare": ("compare parity/laplace-n4 --methods paper-aggregated --seeds 1 --budget 1",),
    "audit-samples": ("audit-samples runs.csv --records x1,x2 --outputs y --given-others",),
    "sanitize": ("sanitize correlated --budgets 0.2 --converse -o learned",),
    "list": ("list --set minimal --json",),
    "schema": ("schema -o dalenius.schema.json",),
    "doctor": ("doctor", "doctor --json"),
    "library submit": ("library submit better.cert --by 'Ada' --folder models",),
    "library tighten": ("library tighten parity/laplace-n4 --folder models",),
    "library index": ("library index --folder models",),
}


def epilog(command: str) -> str:
    """The end of a command's help."""
    return "\n\n".join(["Examples", *(f"dalenius {line}" for line in EXAMPLES[command])])
