"""How far below the truth are published leakage values? The source paper's Table 3, beside proofs and beside its own algorithm.

The source paper ("Computing Maximal Per-Record Leakage and Leakage-Distortion Functions for Privacy Mechanisms under
Entropy-Constrained Adversaries") releases the parity of four bits through two mechanisms with epsilon = 1. Its Table 3 (section
7.2.1) says how much that can teach about one bit an adversary who is left with at least b nats of entropy about the four. This
script puts side by side, all in nats,

* the published numbers;
* certified intervals, proved by the independent checker, and the closed form that they must contain (Mrs. Gerber's lemma);
* where an alternating ascent comes to rest that we wrote from the paper's text (Algorithms 1 to 3) for the full joint law of the
  sixteen datasets: from the paper's own uniform start, and from random starts, with short steps and with long ones.

The ascent is not the authors' program, which we do not have, and the formulas are missing from the text that we could read: each
place where one had to be derived or chosen is marked "ours". The paper explains the non-monotonic segments of its curves (section
4.2, about its Figure 3) by local optima. The ascent here shows such segments, too; it does not reproduce Table 3, and how those
numbers came about the text does not say. That they are too small needs no ascent: `simple_adversary` below is a prior that leaks more.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from _paper import gerber
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

import dalenius as dl
from dalenius.catalogue.models import library_model
from dalenius.intervals import ends_text, text_above
from dalenius.report import curve_table
from dalenius.studies.curves import CurvePoint, curve_of, entropy_curve

Array = NDArray[np.float64]

BITS = 4
MOST_ENTROPY = BITS * math.log(2.0)
PARITY = np.indices((2,) * BITS).sum(axis=0) % 2
UNIFORM = np.full((2,) * BITS, 0.5**BITS)

# Table 3 of the source paper: entropy bound, leakage in nats. Its last row is labelled "2.77 (max)".
BOUNDS = ("0 nats", "0.5 nats", "1 nats", "1.5 nats", "2 nats", "1 max")
PUBLISHED = {
    "laplace": (0.079, 0.062, 0.041, 0.022, 0.009, 0.000),
    "exponential": (0.032, 0.024, 0.015, 0.008, 0.003, 0.000),
}
FLIP = {"laplace": math.exp(-0.5) / 2.0, "exponential": 1.0 / (1.0 + math.exp(0.5))}  # section 7.2.1, epsilon = 1

BETWEEN = ("1.25 nats", "1.75 nats", "2.2 nats", "2.4 nats", "2.6 nats")  # more bounds for the ascents in the picture
SHORT = {"step": 0.01, "tolerance": 1e-3}  # the paper's own values are lost; these two are ours
LONG = {"step": 1.0, "tolerance": 1e-6}


# ---------------------------------------------------------------- the paper's algorithm, from its text
# `prior` is the joint law of the bits, an array (2, 2, 2, 2). From record i it is a marginal law pi(a) and, for each letter a, a
# row w_a(z) over the eight values of the others; `given[a, z, y]` is the mechanism.


def ascent(channel: Array, bound: float, prior: Array, *, step: float, tolerance: float) -> float:
    """Algorithm 1: the leakage where alternating between marginals and conditionals, record by record, comes to rest."""
    best = max(leakage(*seen_from(prior, channel, record)) for record in range(BITS))
    for _ in range(30):
        before = best
        for record in range(BITS):
            pi, rows, given = seen_from(prior, channel, record)
            pi = marginal(pi, rows, given, bound)
            rows = conditionals(pi, rows, given, bound, step, tolerance)
            if (found := leakage(pi, rows, given)) > best and joint_entropy(pi, rows) >= bound - 1e-9:  # else rejected
                best, prior = found, np.moveaxis((pi[:, None] * rows).reshape(prior.shape), 0, record)
        if best - before < tolerance:
            break
    return best


def marginal(pi: Array, rows: Array, given: Array, bound: float) -> Array:
    """Algorithm 2: Blahut-Arimoto with a multiplier for the entropy, which follows the constraint's violation.

    Ours, from the stationarity of I + m (H - b): pi(a) ~ (pi(a) exp(D_a + m H(w_a)))^(1/(1+m)), D_a = D(K_a || r).
    """
    outputs, spread, multiplier = through(rows, given), np.array([entropy(row) for row in rows]), 0.0
    for _ in range(50):
        distance = np.sum(outputs * np.log(outputs / (pi @ outputs)), axis=1)
        pi = np.exp((np.log(pi) + distance + multiplier * spread) / (1.0 + multiplier))
        pi = np.maximum(pi / pi.sum(), 1e-9)
        pi /= pi.sum()
        multiplier = max(0.0, multiplier - 0.1 * (entropy(pi) + float(pi @ spread) - bound))
    return pi


def conditionals(pi: Array, rows: Array, given: Array, bound: float, step: float, tolerance: float) -> Array:
    """Algorithm 3: row by row, projected gradient ascent with backtracking to the entropy that Theorem 3 leaves for the row.

    Ours: that entropy, c_a = (b - H(pi) - sum over a' != a of pi(a') H(w_a')) / pi(a), read off the chain rule; and the gradient
    pi(a) sum_y Q(y|a,z) log(K_a(y)/r(y)). A row with c_a <= 0 becomes the best unit vector, as the paper says.
    """
    best = leakage(pi, rows, given)
    for _ in range(50):
        before = best
        for a in (0, 1):
            room = (bound - joint_entropy(pi, rows)) / pi[a] + entropy(rows[a])
            outputs = through(rows, given)
            gradient = pi[a] * (given[a] @ np.log(outputs[a] / (pi @ outputs)))
            if room <= 0.0:
                candidates = iter(np.eye(rows.shape[1]))
            else:
                steps = (step * 0.5**halvings for halvings in range(8))
                candidates = (on_sphere(on_simplex(rows[a] + length * gradient), room) for length in steps)
            for candidate in candidates:
                changed = np.array([candidate if other == a else rows[other] for other in (0, 1)])
                if (found := leakage(pi, changed, given)) > best:
                    best, rows = found, changed
                    if room > 0.0:
                        break
        if best - before < tolerance:
            break
    return rows


def on_simplex(v: Array) -> Array:
    """The nearest probability vector."""
    falling = np.sort(v)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, v.size + 1)
    return np.asarray(np.maximum(v - excess[falling > excess][-1], 0.0))


def on_sphere(law: Array, target: float) -> Array:
    """A power of the law with just this entropy: the boundary of Theorem 3 (the paper's Algorithm 5; its formula is ours)."""
    logs = np.log(np.maximum(law, 1e-12))
    logs -= logs.max()

    def entropy_of_power(t: float) -> float:
        weights = np.exp(t * logs)
        total = weights.sum()
        return math.log(total) - t * float(weights @ logs) / float(total)

    low, high = 0.0, 1.0
    while entropy_of_power(high) > target and high < 1e6:
        low, high = high, 4.0 * high
    for _ in range(24):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if entropy_of_power(middle) >= target else (low, middle)
    weights = np.exp(low * logs)
    return np.asarray(weights / weights.sum())


def seen_from(prior: Array, channel: Array, record: int) -> tuple[Array, Array, Array]:
    """The marginal law of a record, the conditional laws of the others, and the mechanism, all indexed by its letter first."""
    joint = np.maximum(np.moveaxis(prior, record, 0).reshape(2, -1), 1e-300)
    pi = joint.sum(axis=1)
    return pi, joint / pi[:, None], np.moveaxis(channel, record, 0).reshape(2, -1, channel.shape[-1])


def through(rows: Array, given: Array) -> Array:
    """K_a(y): what the record's letter does to the output."""
    return np.asarray(np.einsum("az,azy->ay", rows, given))


def leakage(pi: Array, rows: Array, given: Array) -> float:
    """I(X_i; Y)."""
    outputs = through(rows, given)
    return max(float(np.sum(pi[:, None] * outputs * np.log(outputs / (pi @ outputs)))), 0.0)


def entropy(law: Array) -> float:
    return float(-np.sum(law * np.log(np.maximum(law, 1e-300))))


def joint_entropy(pi: Array, rows: Array) -> float:
    return entropy(pi) + float(sum(mass * entropy(row) for mass, row in zip(pi, rows, strict=True)))


def random_prior(bound: float, seed: int) -> Array:
    """A random joint law; where its entropy is below the bound, its power that just meets it."""
    law = np.random.default_rng(seed).dirichlet(np.ones(UNIFORM.size))
    return on_sphere(law, max(bound, entropy(law))).reshape(UNIFORM.shape)


# ---------------------------------------------------------------- what is proved, and what is known


def simple_adversary(channel: Array) -> tuple[float, float]:
    """Entropy and leakage of a prior that needs no search: a fair first bit, the others uniform over the even triples."""
    prior = np.where(np.indices((2,) * BITS)[1:].sum(axis=0) % 2 == 0, 2.0 * UNIFORM, 0.0)
    return entropy(prior.ravel()), leakage(*seen_from(prior, channel, 0))


@dataclass(frozen=True)
class Stops:
    """Leakages where the ascents came to rest at one entropy bound; the random starts are the same ones at every bound."""

    bound: float
    uniform_start: float
    short_steps: tuple[float, ...]
    long_steps: tuple[float, ...]


@dataclass(frozen=True)
class Row:
    """One line of the paper's Table 3, and what we know about it."""

    mechanism: str
    published: float
    stops: Stops
    lower: float
    upper: float

    @property
    def closed_form(self) -> float:
        return gerber(BITS, FLIP[self.mechanism], self.stops.bound)

    @property
    def factor(self) -> float | None:
        """How many times the published number fits into what is proved to leak; below 1 the published number is too large."""
        return self.lower / self.published if self.published else None


def question(mechanism: str, adversary: str) -> dl.WorstCaseLeakage:
    """The paper's question, from the model library, for one entropy bound."""
    model = library_model(f"parity/{mechanism}-n{BITS}").load()
    return dataclasses.replace(model, adversary=dl.EntropyAtLeast(adversary, "nats"))


def full_channel(problem: dl.WorstCaseLeakage) -> Array:
    """The mechanism as an array (2, 2, 2, 2, outputs)."""
    return np.asarray(problem.channel[PARITY])


def ascents(mechanism: str, adversary: str, starts: int) -> Stops:
    """The ascent from the uniform start, and from random ones with short and with long steps."""
    problem = question(mechanism, adversary)
    bound, channel = min(problem.entropy_bound, MOST_ENTROPY), full_channel(problem)
    priors = [random_prior(bound, seed) for seed in range(starts)]
    return Stops(
        bound,
        ascent(channel, bound, UNIFORM, **LONG),
        tuple(ascent(channel, bound, prior, **SHORT) for prior in priors),
        tuple(ascent(channel, bound, prior, **LONG) for prior in priors),
    )


def certify(mechanism: str, adversary: str, folder: Path) -> dl.answers.Result:
    """The certified interval; the model and its certificate go into the folder."""
    problem = question(mechanism, adversary)
    result = dl.solve(problem, gap=2e-3)
    name = f"{mechanism}-{adversary.replace(' ', '-')}"
    (folder / f"{name}.toml").write_text(dl.dumps(problem))
    result.certificate.write(folder / f"{name}.cert")
    return result


def certified_curve(mechanism: str, points: int, folder: Path) -> list[CurvePoint]:
    """Certified intervals from no entropy to all of it: few where the curve is flat, up to 3/4 of the maximum, `points` beyond."""
    shares = [Fraction(j, 4) for j in range(3)] + [Fraction(3, 4) + Fraction(j, 4 * points) for j in range(points + 1)]
    curve = list(entropy_curve(question(mechanism, "0 nats"), shares, gap=2e-3))
    files = list[str]()
    for number, point in enumerate(curve):
        path = folder / f"curve-{mechanism}-{number}.cert"
        path.with_suffix(".toml").write_text(dl.dumps(point.problem))
        files.append(point.result.certificate.write(path).name)
    (folder / f"curve-{mechanism}.csv").write_text(curve_table(curve, certificates=files))
    return curve


# ---------------------------------------------------------------- table and picture

COLUMNS: dict[str, Callable[[Row], str]] = {
    "mechanism": lambda row: row.mechanism,
    "b": lambda row: f"{row.stops.bound:.2f}",
    "published": lambda row: f"{row.published:.3f}",
    "ascent, uniform start": lambda row: f"{row.stops.uniform_start:.4f}",
    "random starts, short steps": lambda row: least_and_best(row.stops.short_steps),
    "random starts, long steps": lambda row: least_and_best(row.stops.long_steps),
    "certified lower": lambda row: ends_text(row.lower, row.upper, places=6)[0],
    "certified upper": lambda row: ends_text(row.lower, row.upper, places=6)[1],
    "lower / published": lambda row: f"{row.factor:.2g}" if row.factor else "-",
    "closed form": lambda row: f"{row.closed_form:.6f}",
}


def least_and_best(values: Sequence[float]) -> str:
    return f"{min(values):.4f} .. {max(values):.4f}"


def write_tables(rows: Sequence[Row], folder: Path) -> list[str]:
    """Table 3 with its neighbours as CSV (all digits) and as markdown, whose lines are returned."""
    heads = ["mechanism", "entropy_nats", "published", "ascent_uniform_start", "short_steps_least", "short_steps_best"]
    heads += ["long_steps_least", "long_steps_best", "certified_lower", "certified_upper", "factor", "closed_form"]
    with (folder / "published-numbers.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        for row in rows:
            at, short, long = row.stops, row.stops.short_steps, row.stops.long_steps
            stops = [at.uniform_start, min(short), max(short), min(long), max(long)]
            known = [*ends_text(row.lower, row.upper), row.factor, row.closed_form]
            writer.writerow([row.mechanism, at.bound, row.published, *stops, *known])
    cells = [list(COLUMNS), *([text(row) for text in COLUMNS.values()] for row in rows)]
    widths = [max(len(line[j]) for line in cells) for j in range(len(COLUMNS))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in cells]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    (folder / "published-numbers.md").write_text("\n".join(lines) + "\n")
    return lines


def remarks(rows: Sequence[Row], stops: dict[str, list[Stops]]) -> list[str]:
    """What there is to see in the table, in sentences."""
    lines = []
    for mechanism in PUBLISHED:
        spread, leaked = simple_adversary(full_channel(question(mechanism, "0 nats")))
        lines.append(
            f"No search needed, {mechanism}: a fair first bit, the other three uniform over the even triples, has entropy "
            f"{spread:.4f} and leaks {leaked:.4f}."
        )
    for row in rows:
        if row.published > row.upper + 5e-4:  # Table 3 has three decimals
            lines.append(
                f"Too large, {row.mechanism}: {row.published:.3f} is published for b = {row.stops.bound:g}, more than the "
                f"channel's capacity, {text_above(row.upper, 4)}."
            )
    lines += [
        "For b = 0.5 <= log 2 the paper's own Case 1 (section 3.1, as we read it) repeats the number of b = 0.",
        "The uniform start leaks nothing and has gradient 0: updates are rejected and the ascent stays at 0; except that for "
        f"b <= 2.5 log 2 = {2.5 * math.log(2.0):.4f}\n  Theorem 3 makes the first row a unit vector, from where the ascent "
        "finds the maximum.",
    ]
    for name in ("short_steps", "long_steps"):
        paths = [path for found in stops.values() for path in zip(*(getattr(at, name) for at in found), strict=True)]
        lines.append(
            f"{name.replace('_', ' ').capitalize()}: along {sum(map(rises, paths))} of {len(paths)} random starts the leakage "
            "found rises somewhere as b grows, which the true one cannot do."
        )
    return lines


def rises(path: Sequence[float]) -> bool:
    return any(after > before + 1e-4 for before, after in itertools.pairwise(path))


def draw(axes: Axes, mechanism: str, rows: Sequence[Row], stops: Sequence[Stops], curve: Sequence[CurvePoint]) -> None:
    """One mechanism: the certified band, the published numbers, and where the ascents came to rest."""
    bounds = [at.bound for at in stops]
    for steps, name, style in (
        (SHORT, "short", {"color": "0.7", "linestyle": "-", "marker": "."}),
        (LONG, "long", {"color": "0.35", "linestyle": ":", "marker": "o", "markersize": 4, "markerfacecolor": "none"}),
    ):
        for j, path in enumerate(zip(*(getattr(at, f"{name}_steps") for at in stops), strict=True)):
            label = None if j else f"ascents from random starts, {name} steps ({steps['step']:g})"
            axes.plot(bounds, path, linewidth=0.8, label=label, **style)
    axes.plot(
        bounds, [at.uniform_start for at in stops], "x--", color="0.1", lw=1, label="ascent from the uniform start"
    )
    fine = np.linspace(0.0, MOST_ENTROPY, 300)
    lower, upper = zip(*map(curve_of(curve).at, [f"{j}/299 max" for j in range(300)]), strict=True)
    axes.fill_between(fine, [*lower[1:], lower[-1]], upper, step="post", color="0.5", alpha=0.25, lw=0)
    x = [float(point.share) * MOST_ENTROPY for point in curve]
    upper = [point.result.upper for point in curve]
    axes.plot(x, upper, "_", markersize=9, color="black", label="certified (dash), and the band it proves")
    axes.plot(fine, [gerber(BITS, FLIP[mechanism], b) for b in fine], color="black", lw=1.2, label="closed form")
    table = [row.stops.bound for row in rows], [row.published for row in rows]
    axes.plot(*table, "s", markersize=7, color="black", clip_on=False, zorder=5, label="published (Table 3)")
    axes.set_title(f"{mechanism.capitalize()} mechanism, epsilon = 1")
    axes.set_xlabel("entropy bound b [nats]")
    axes.set_xlim(-0.05, MOST_ENTROPY + 0.05)
    axes.grid(alpha=0.3)


def picture(
    rows: Sequence[Row], stops: dict[str, list[Stops]], curves: dict[str, list[CurvePoint]], path: Path
) -> None:
    """Both mechanisms side by side, readable in grey."""
    figure = Figure(figsize=(9.6, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(curves))
    for axes, (mechanism, curve) in zip(panels, curves.items(), strict=True):
        draw(axes, mechanism, [row for row in rows if row.mechanism == mechanism], stops[mechanism], curve)
    panels[0].set_ylabel("leakage about one of four bits [nats]")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, dpi=100, pil_kwargs={"optimize": True})


def main() -> None:
    parser = argparse.ArgumentParser(description="Published leakage values beside certified ones.")
    parser.add_argument("-o", "--output", type=Path, default=Path("demo-output"))
    parser.add_argument("--points", type=int, default=8, help="points of each curve between 3/4 of the entropy and all")
    parser.add_argument("--starts", type=int, default=6, help="random starts of the ascents")
    options = parser.parse_args()
    started = time.monotonic()
    folder = options.output / "published-numbers"
    folder.mkdir(parents=True, exist_ok=True)

    rows: list[Row] = []
    stops: dict[str, list[Stops]] = {}
    curves: dict[str, list[CurvePoint]] = {}
    for mechanism, published in PUBLISHED.items():
        found = {adversary: ascents(mechanism, adversary, options.starts) for adversary in (*BOUNDS, *BETWEEN)}
        stops[mechanism] = sorted(found.values(), key=lambda at: at.bound)
        for adversary, number in zip(BOUNDS, published, strict=True):
            result = certify(mechanism, adversary, folder)
            rows.append(Row(mechanism, number, found[adversary], result.lower, result.upper))
        curves[mechanism] = certified_curve(mechanism, options.points, folder)

    print("Parity of four bits, epsilon = 1, in nats. Certified: proved by the checker, for every adversary.")
    print(
        f"Ascents: short steps of {SHORT['step']:g}, long ones of {LONG['step']:g} (also from the uniform start);",
        end=" ",
    )
    print(f"random starts: least .. best of {options.starts}.\n")
    print("\n".join(write_tables(rows, folder)))
    print("\n" + "\n".join(f"* {line}" for line in remarks(rows, stops)))
    picture(rows, stops, curves, options.output / "published-numbers.png")
    model, certificate = folder / "laplace-2-nats.toml", folder / "laplace-2-nats.cert"
    print(f"\nThe independent checker, once more, on {certificate}:")
    print("\n".join(f"  {line}" for line in dl.verify(model, certificate).lines))
    print(f"\nPicture: {options.output / 'published-numbers.png'}   ({time.monotonic() - started:.0f} s in all)")
    print(f"Check it yourself: .venv/bin/dalenius verify {model} {certificate}")


if __name__ == "__main__":
    main()
