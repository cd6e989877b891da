"""Kinds of forgery of the first line, of mechanisms and of designs."""

from collections.abc import Callable
from decimal import localcontext
from fractions import Fraction
from typing import Any

import constraint_truth
import forgery_constraints
import forgery_truth as truth
from forgery_drafts import Draft, clone, is_number, numbers_of, spelled, tag, value_of
from forgery_subjects import Subject, claimed


def header(draft: Draft) -> bool:
    """A first line that says something else."""
    rng, head = draft.rng, draft.header
    donor = rng.choice(draft.others)
    changes: list[Callable[[], Any]] = [
        lambda: head.update(model=donor.parents[0][0]["model"]),
        lambda: head.update(
            model=rng.choice([head["model"].upper(), head["model"][:-1], head["model"] + " ", None, "", "0" * 64])
        ),
        lambda: head.update(problem=rng.choice(["maximal_leakage", "min_leakage", "min_distortion", "", None])),
        lambda: head.update(unit=rng.choice(["bits", "nats", "distortion", "Nats", None])),
        lambda: head.update(
            format=rng.choice(["dalenius-certificate/1", "dalenius-certificate/3", "dalenius-certificate/2 ", 2])
        ),
        lambda: head.update(
            resolved=rng.choice(
                [None, {"inputs": "query", "rows": [["1"], ["1"]]}, {"inputs": "dataset", "rows": [["1", "0"]]}]
            )
        ),
        lambda: head.update(mechanism=rng.choice([None, [["1", "1"], ["1", "1"]], [["1"]], []])),
        lambda: head.pop(rng.choice(list(head))),
        lambda: head.update(
            {rng.choice(["extra", "Lower", "lower ", "feasible", "precision"]): rng.choice(["0", None, True])}
        ),
    ]
    rng.choice(changes)()
    return True


def resolved(draft: Draft) -> bool:
    """A channel in the certificate, for a model that has one."""
    rng = draft.rng
    rows = rng.choice([[["1", "1"], ["1", "1"]], [["1", "0"], ["0", "1"]], [["1"], ["1"]]])
    draft.header["resolved"] = {"inputs": rng.choice(["query", "dataset"]), "rows": rows}
    return True


def mechanism(draft: Draft) -> bool:
    """Another mechanism: off its budget by as little as the claim is off."""
    rows, rng = draft.header.get("mechanism"), draft.rng
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) and row for row in rows):
        return False
    step = draft.step = draft.small()
    what = rng.choice(["shift", "shift", "shift", "all", "swap", "zero", "constant", "drop", "negative", "scale"])
    if what in ("shift", "all"):
        for row in rows if what == "all" else [rng.choice(rows)]:
            values = [value_of(w) if isinstance(w, str) else None for w in row]
            numbers = [v for v in values if v is not None]
            if len(numbers) == len(row) > 1:
                one, two = rng.sample(range(len(row)), 2)
                moved = min(step * sum(numbers), numbers[one])
                numbers[one], numbers[two] = numbers[one] - moved, numbers[two] + moved
                row[:] = [spelled(rng, v) for v in numbers]
    elif what == "swap" and len(rows) > 1:
        one, two = rng.sample(range(len(rows)), 2)
        rows[one], rows[two] = rows[two], rows[one]
    elif what == "zero":
        row = rng.choice(rows)
        row[:] = ["0"] * len(row)
    elif what == "constant":
        rows[:] = [clone(rows[0]) for _ in rows]
    elif what == "drop":
        rows.pop() if rng.random() < 0.5 else [row.pop() for row in rows]
    elif what == "negative":
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = f"-{spelled(rng, step)}"
    else:
        row = rng.choice(rows)
        row[:] = [f"{w}e{rng.choice([-300, 300, 5])}" if isinstance(w, str) else w for w in row]
    return True


def off_budget(draft: Draft) -> bool:
    """A mechanism that misses its budget, or what is claimed of it, by a little, in a claim that the best one would meet."""
    if draft.header.get("mechanism") is None or "terms" in draft.header:
        return False
    if not draft.subject.small or not mechanism(draft):
        return False
    wrong = fault(draft.subject, draft.header["mechanism"], draft.subject.high)
    if wrong is None:
        return False
    kind, amount = wrong
    upper = draft.subject.high if kind == "budget" else (draft.subject.high + amount) / 2
    draft.claim = {"lower": "0", "upper": claimed(upper + (draft.small() if kind == "budget" else 0), "floor")}
    if value_of(draft.claim["upper"]) == 0:
        return False
    return fault(draft.subject, draft.header["mechanism"], Fraction(draft.claim["upper"])) is not None


def fault(subject: Subject, rows: Any, upper: Fraction) -> tuple[str, Fraction] | None:
    """Why a mechanism is certainly not what a certificate with this upper end says it is: `budget`, or what it `attains`."""
    question, table = subject.question, subject.question.table
    count = question.input_count
    width = len(question.distortions[0])
    weights = numbers_of(rows, 1 if table["mechanism"]["class"] == "additive" else count, width)
    if weights is None or any(sum(row) <= 0 or min(row) < 0 for row in weights):
        return None
    laws = question.spread([truth.normalised(row) for row in weights])
    cost = question.cost(laws)
    if "max_distortion" in table and cost > truth.exact(table["max_distortion"]):
        return "budget", cost
    if "max_distortion" not in table and cost > upper:
        return "attains", cost
    if constraint_truth.broken(question, laws) is not None or tells(subject, laws):
        return "budget", cost
    if "privacy" in table:
        return ("budget", cost) if question.breaks_privacy(laws) else None
    leaks = leaked(subject, laws)
    if "max_leakage" in table:
        return ("budget", leaks) if leaks > truth.amount(table["max_leakage"])[1] else None
    return ("attains", leaks) if leaks > upper else None


def tells(subject: Subject, laws: list[list[Fraction]]) -> bool:
    """Whether a mechanism certainly leaks more than a constraint allows, to a prior of the honest evidence."""
    question, tables = subject.question, constraint_truth.listed(subject.question)
    with localcontext(truth.SIXTY):
        rows = [tuple(truth.dec(q) for q in law) for law in laws]
        for line in subject.parents[0][1:5]:
            if tag(line) == "also":
                j, _, i, prior, _ = line[1:]
                masses = constraint_truth.prior_masses(question, tables[j]["adversary"], i, prior)
                found = Fraction(question.leakage(i, masses, rows)) - truth.SLACK * 10
                if found > truth.amount(tables[j]["at_most"])[1]:
                    return True
    return False


def leaked(subject: Subject, laws: list[list[Fraction]]) -> Fraction:
    """What a mechanism leaks at least: to the priors of the honest evidence, which the adversary may hold."""
    question, most = subject.question, Fraction(0)
    with localcontext(truth.SIXTY):
        rows = [tuple(truth.dec(q) for q in law) for law in laws]
        for line in subject.parents[0][1:5]:
            if tag(line) == "prior":
                i, prior = line[2:4]
                masses = numbers_of(prior, question.alphabets[i], question.input_count)
                if masses is not None:
                    total = sum((p for ps in masses for p in ps), Fraction(0))
                    found = Fraction(question.leakage(i, [[p / total for p in ps] for ps in masses], rows))
                    most = max(most, found - truth.SLACK * 10)
    return most


def multipliers(draft: Draft) -> bool:
    """Another multiplier of the budget, other weights of priors, another reference."""
    at = draft.pick("dual") if draft.rng.random() < 0.4 else draft.pick("dual", "prior", "ratio")
    if at is None:
        return False
    rng, line = draft.rng, draft.lines[at]
    step = draft.step = draft.small()
    small = rng.choice(
        [f"-{spelled(rng, step)}", spelled(rng, step), "0", "1e-400", "1e300", None, None, "-0", "-1", "1"]
    )
    if tag(line) == "dual":
        line[1:] = [small]
        if small is None and rng.random() < 0.8:
            draft.lines[1:] = [
                o for o in draft.lines[1:] if tag(o) not in forgery_constraints.LOWER or tag(o) == "dual"
            ]
    elif tag(line) == "prior":
        line[1] = small or "0"
    elif len(line) > 3 and isinstance(line[3], list) and line[3]:
        what = rng.choice([2, 3]) if isinstance(line[2], list) and line[2] else 3
        line[what][rng.randrange(len(line[what]))] = small or "0"
    return True


def posterior(draft: Draft) -> bool:
    """Posteriors of a prior line with zeros, negative ones, unlike totals, or another letter's."""
    at = draft.pick("prior", "also")
    if (
        at is None
        or not isinstance(draft.lines[at][-1], list)
        or not all(isinstance(row, list) and row for row in draft.lines[at][-1])
    ):
        return False
    rng, phi = draft.rng, draft.lines[at][-1]
    if not phi:
        return False
    row = rng.choice(phi)
    y = rng.randrange(len(row))
    what = rng.choice(["zero", "negative", "scale", "row", "column", "power", "sharp", "sharp"])
    if what == "sharp":  # in every line and at every output, only the likeliest letter
        for other in draft.lines[1:]:
            if tag(other) == "prior" and isinstance(other[-1], list):
                columns = [[value_of(w) or Fraction(0) for w in column] for column in zip(*other[-1], strict=True)]
                tops = [column.index(max(column)) for column in columns]
                other[-1] = [["1" if a == top else "0" for top in tops] for a in range(len(other[-1]))]
    elif what in ("zero", "negative"):
        row[y] = "0" if what == "zero" else f"-{spelled(rng, draft.small())}"
    elif what == "row":
        row[:] = [
            f"{w}e{rng.choice([-50, 50, 1, -1])}" if is_number(w) and "/" not in w and "e" not in w else w for w in row
        ]
    elif what == "column":
        for other in phi:
            if y < len(other):
                other[y] = "0"
    else:
        row[y] = rng.choice(["1e-400", "1e300", "1e-30", "100"])
    return True


def infeasible(draft: Draft) -> bool:
    """Said to be a model that no mechanism meets."""
    if not draft.subject.feasible or (draft.subject.problem == "maximal_leakage" and draft.rng.random() < 0.9):
        return False
    draft.claim = {"lower": None, "upper": None}
    if draft.rng.random() < 0.85:
        draft.header["mechanism"] = None
    if draft.rng.random() < 0.85:
        del draft.lines[1:]
    return True
