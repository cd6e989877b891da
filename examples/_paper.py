"""What the scripts that reproduce the source paper's experiments share: proofs and ascents at one question, tables, pictures.

The source paper is "Computing Maximal Per-Record Leakage and Leakage-Distortion Functions for Privacy Mechanisms under
Entropy-Constrained Adversaries". Its algorithms are those of `dalenius.baselines`, on the full joint law of the datasets.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import dalenius as dl
from dalenius.baselines import ConditionalSettings, LeakageSettings, full_joint, leakage_run
from dalenius.information import entropy
from dalenius.intervals import ends_text, interval_text

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")  # distinct to the colour-blind (Okabe and Ito)
ROUNDING = 1e-9  # ascents are evaluated in doubles
SHORT_STEP = 0.01  # of a probability; the paper's own is lost
Cell = str | int | float | tuple[float, float]
Row = dict[str, Cell]


def gerber(n: int, flip: float, bound: float) -> float:
    """Mrs. Gerber's lemma (Wyner and Ziv 1973): what the parity of n bits leaks through a binary symmetric channel, in nats.

    log 2 - h(flip * v), a * b = a (1 - b) + (1 - a) b, with v = 0 for bound <= (n-1) log 2, else h(v) = bound - (n-1) log 2.
    """
    spare, low, high = bound - (n - 1) * math.log(2.0), 0.0, 0.5
    for _ in range(60 if spare > 0.0 else 0):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if binary_entropy(middle) < spare else (low, middle)
    return max(math.log(2.0) - binary_entropy(flip * (1.0 - low) + (1.0 - flip) * low), 0.0)


def binary_entropy(p: float) -> float:
    return float(entropy(np.array([p, 1.0 - p])))


@dataclass(frozen=True)
class Stops:
    """Leakages where Algorithm 1 comes to rest: from the paper's uniform start, and from random ones with long and short steps."""

    uniform: float
    long: tuple[float, ...]
    short: tuple[float, ...]


def ascents(problem: dl.WorstCaseLeakage, proved: dl.answers.Result, starts: int) -> Stops:
    """Algorithm 1 on the full joint law; `AssertionError` if it passes what is proved. Seeds 1, 2, ... start at the same laws."""
    family = full_joint(problem)
    per_density = SHORT_STEP * family.size / family.views[0].letters
    short = LeakageSettings(tolerance=1e-3, conditional=ConditionalSettings(tolerance=1e-3, step=per_density))
    laws = [family.random(np.random.default_rng(seed)) for seed in range(1, starts + 1)]
    stops = Stops(
        leakage_run(family).value,
        tuple(leakage_run(family, law).value for law in laws),
        tuple(leakage_run(family, law, settings=short).value for law in laws),
    )
    most = max(stops.uniform, *stops.long, *stops.short)
    assert most <= proved.upper * (1.0 + ROUNDING) + 1e-12, f"an ascent attains {most}, above the proof {proved}"
    return stops


def rises(path: Sequence[float]) -> int:
    """How often a curve of leakage against entropy goes up, which the true one never does."""
    return sum(after > before + 1e-4 for before, after in itertools.pairwise(path))


class Study:
    """One script: its options, and the folder that its models, certificates, table and picture go to."""

    def __init__(self, name: str, description: str) -> None:
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("-o", "--output", type=Path, default=Path("demo-output"))
        parser.add_argument("--quick", action="store_true", help="a few points only, in some seconds")
        options = parser.parse_args()
        self.name, self.quick, self.folder = name, bool(options.quick), options.output
        self.proofs = self.folder / name
        self.proofs.mkdir(parents=True, exist_ok=True)
        self._started, self._last = time.monotonic(), Path()

    def solve(self, problem: Any, name: str, **limits: Any) -> Any:
        """The certified answer; the model and its certificate stay in the folder."""
        result = dl.solve(problem, **limits)
        self._last = self.proofs / f"{name}.toml"
        self._last.write_text(dl.dumps(problem))
        result.certificate.write(self._last.with_suffix(".cert"))
        return result

    def table(self, rows: Sequence[Row], suffix: str = "", shown: Sequence[Row] | None = None) -> None:
        """All rows as CSV, with all digits; as markdown, and on the screen, `shown`, or all of them."""
        lines = [{name: cell for key, value in row.items() for name, cell in _split(key, value)} for row in rows]
        with (self.folder / f"{self.name}{suffix}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)
        shown = rows if shown is None else shown
        texts = [list(shown[0]), *([_text(value) for value in row.values()] for row in shown)]
        marks = ["| " + " | ".join(line) + " |" for line in texts]
        marks.insert(1, "|" + "---|" * len(texts[0]))
        (self.folder / f"{self.name}{suffix}.md").write_text("\n".join(marks) + "\n")
        print("\n".join(marks) + "\n")

    def picture(self, figure: Figure) -> Path:
        """Write the picture; where it is."""
        path = self.folder / f"{self.name}.png"
        figure.savefig(path, dpi=90, pil_kwargs={"optimize": True})
        return path

    def close(self, figure: Figure) -> None:
        """Write the picture, and let the independent checker look once more at the last proof."""
        path = self.picture(figure)
        print(f"The independent checker, once more, on {self._last.with_suffix('.cert')}:")
        print("\n".join(f"  {line}" for line in dl.verify(self._last, self._last.with_suffix(".cert")).lines[:2]))
        print(f"Picture: {path}   ({time.monotonic() - self._started:.0f} s in all)")


def _split(key: str, value: Cell) -> list[tuple[str, Cell]]:
    if not isinstance(value, tuple):
        return [(key, value)]
    lower, upper = ends_text(*value)
    return [(f"{key}, least", lower), (f"{key}, most", upper)]


def _text(value: Cell) -> str:
    """Six decimals; the ends of an interval rounded outward."""
    if isinstance(value, tuple):
        return interval_text(*value, places=6)
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def panels(columns: int, size: tuple[float, float]) -> tuple[Figure, list[Any]]:
    """A figure and its axes, side by side, drawn without a screen."""
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    found = [figure.add_subplot(1, columns, j + 1) for j in range(columns)]
    for axes in found:
        axes.grid(alpha=0.3)
    return figure, found
