"""Kinds of forgery of audits: of a class of laws, and of what is claimed of other entropies; a draft is a `forgery_drafts.Draft`."""

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import class_truth
import forgery_subjects as subjects
import forgery_truth as truth
from forgery_lines import number
from forgery_subjects import claimed
from forgery_truth import SIXTY, dec


def outside(draft: Any) -> bool:
    """A witness beyond the end of its class, by little, and the claim of what it learns."""
    question, rng = draft.subject.question, draft.rng
    held, at = question.table["adversary"], draft.pick("witness")
    if at is None or not class_truth.held(question):
        return False
    i = rng.choice([i for i, size in enumerate(question.alphabets) if size == 2])
    chosen = question.selections(i)
    j = rng.randrange(len(chosen))
    with localcontext(SIXTY):
        first, second = (question.rows[k] for k in chosen[j])
        low, high = class_truth.ends(held)
        top, share = truth.two_rows(first, second)[1], class_truth.best(held, first, second)[1]
        if low <= top <= high:
            return False
        step = draft.step = draft.small()
        beyond = share + (top - share) * dec(min(step, Fraction(1)))
        value = truth.information([[beyond * r for r in first], [(1 - beyond) * r for r in second]])
    weights = [f"{beyond:.60f}", f"{1 - beyond:.60f}"]
    if held["kind"] == "polytope_priors":
        weights = draft.rng.choice([weights, ["1", "-1"], class_truth.weights(held, beyond)])
    draft.lines[at] = ["witness", i, [j, weights]]
    lower = claimed(Fraction(value) - truth.SLACK, "floor")
    if Fraction(lower) <= draft.subject.high:
        return False
    draft.claim = {"lower": lower}
    return True


def recentred(draft: Any) -> bool:
    """The laws of the outputs under a law somewhere in the class, m left out or another one, and the claim of what that law learns."""
    question, rng = draft.subject.question, draft.rng
    held = question.table["adversary"]
    if not class_truth.held(question) or draft.subject.low <= 0:
        return False
    most = Fraction(0)
    with localcontext(SIXTY):
        low, high = class_truth.ends(held)
        part = rng.choice([Decimal(0), Decimal(1), Decimal("0.5"), Decimal(rng.randint(0, 99)) / 99])
        share, i = low + part * (high - low), 0
        if "center" in held and rng.random() < 0.5:
            share = dec(truth.normalised([truth.exact(x) for x in held["center"]])[0])
        for line in draft.lines[1:]:
            if isinstance(line, list) and line[:1] == ["record"]:
                i = line[1]
            elif isinstance(line, list) and line[:1] == ["law"] and len(line) == 4 and len(line[1]) == 1:
                first, second = (question.rows[k] for k in question.selections(i)[line[1][0]])
                line[2] = class_truth.output_law(share, first, second)
                line[3] = rng.choice([None, line[3], None if line[3] is None else [str(draft.small()), *line[3][1:]]])
                value = truth.information([[share * r for r in first], [(1 - share) * r for r in second]])
                most = max(most, Fraction(value))
    upper = claimed(min(most + draft.small(), draft.subject.low - draft.subject.low / 10**9), "floor")
    if Fraction(upper) <= 0:
        return False
    draft.claim = {"lower": "0", "upper": upper}
    return True


KINDS = {outside: 2.0, recentred: 2.0}


# Curves to forge: claims about all entropy bounds, of which one at least is false. The leakage falls as the entropy bound grows, so
# that what is known at the model's own bound says something of all others: no line may be below it there or to the left, and no
# number above it there or to the right.


_UNITS = 10**30  # nats are rounded to so many parts where a line needs them


def entropy(draft: Any) -> tuple[Fraction, Fraction] | None:
    """The adversary's bound, and the largest entropy, in nats; None where there is none."""
    question = draft.subject.question
    known = "entropy_at_least" in question.table.get("adversary", {}) and draft.subject.small
    if not known or draft.subject.problem != "maximal_leakage":
        return None
    low, high = question.threshold
    top = Fraction(truth.SIXTY.ln(truth.Decimal(question.size)))
    return Fraction(round((low + high) / 2 * _UNITS), _UNITS), top


def slopes(draft: Any) -> list[Fraction]:
    """The multipliers of the proof's leaves, with none for leaves that know no entropy."""
    found = {number(line[2]) for line in draft.lines[1:] if line[:1] == ["joint"] and len(line) == 5}
    known = sorted(mu for mu in found if mu is not None and 0 <= mu < 10**9)
    bare = any(line[:1] == ["vertices"] for line in draft.lines[1:])
    return known if known and not (bare and 0 not in known) else [Fraction(0), *known]


def lines(draft: Any, level: Fraction, bound: Fraction) -> list[list[str]]:
    """A line for each multiplier, all of which are at this level at the model's bound."""
    return [[claimed(level + mu * bound, "ceiling"), str(mu)] for mu in slopes(draft)]


def above(draft: Any) -> bool:
    """Lines that are too low somewhere, though the proof is below them at one end, or at each below another one."""
    found, rng, subject = entropy(draft), draft.rng, draft.subject
    if found is None or subject.low <= subjects.MARGIN:
        return False
    bound, top = found
    room = Fraction(1, 10**30)
    honest = lines(draft, subject.high + room, bound)
    step = draft.step = min(draft.small(), Fraction(1, 2))
    false = subject.low * (1 - step)
    steepest = max(slopes(draft))
    flat = subject.high + room - steepest * (top - bound)
    what = rng.choice(["low", "low", "upper", "steep", "flat", "crossed", "few", "odd"])
    chosen, upper = honest, subject.high + 1
    if rng.random() < 0.1:  # nothing false in it: for claims that are false elsewhere, and for climbs
        draft.header["curve"] = {"above": lines(draft, upper, bound), "below": []}
        draft.step = None
        return True
    if what == "low":
        chosen = lines(draft, false, bound)
    elif what == "upper":
        upper = false
    elif what == "steep":
        chosen = [[c, str(Fraction(m) + (subject.high + 1) / max(bound, room))] for c, m in honest]
        upper = rng.choice([upper, Fraction(0)])
    elif what in ("flat", "crossed"):
        start = subject.high + room + steepest * bound
        chosen = [[claimed(max(flat, Fraction(0)), "ceiling"), "0"]]
        chosen += [[claimed(start, "ceiling"), str(start / max(bound, room))]] if what == "crossed" else []
    elif what == "few":
        chosen = []
    else:
        chosen = [[c, rng.choice([f"-{m}", "1e401", "nan"])] for c, m in honest]
        chosen[0][1] = "-1"
    if not _too_low(chosen, bound, subject.low, what, upper):
        return False
    draft.header["curve"] = {"above": chosen, "below": []}
    draft.claim = {"lower": "0", "upper": claimed(upper, "ceiling" if what != "upper" else "floor")}
    return True


def _too_low(chosen: list[list[str]], bound: Fraction, low: Fraction, what: str, upper: Fraction) -> bool:
    """Whether the claim is false: at the model's bound, or in itself."""
    if what in ("few", "odd") or upper < low:
        return True
    return all(Fraction(c) - Fraction(m) * (bound - Fraction(2, _UNITS)) < low for c, m in chosen)


def below(draft: Any) -> bool:
    """Numbers that are more than the leakage, where the entropy bound is the model's or more, and witnesses for them."""
    found, rng, subject = entropy(draft), draft.rng, draft.subject
    at = draft.pick("witness")
    if found is None or at is None or "resolved" in draft.header or subject.question.size == 1:
        return False
    bound, _ = found
    question, step = subject.question, min(draft.small(), Fraction(1, 2))
    draft.step = step
    own = str(question.table["adversary"]["entropy_at_least"])
    own = own if " " in own else f"{own} nats"
    witness = list(draft.lines[at])
    share, low = rng.choice([(own, subject.high * (1 + step) + Fraction(1, 10**35)), ("1 max", None), ("1 max", None)])
    if low is None:
        uniform = max(
            Fraction(question.leakage(i, [[Fraction(n, question.size) for n in ns] for ns in question.counts(i)]))
            for i in range(len(question.alphabets))
        )
        if uniform + truth.SLACK * 10 >= subject.low:
            return False
        low = subject.low - (subject.low - uniform) * rng.choice([step, Fraction(1, 2), Fraction(1, 10**6)])
    what = rng.choice(["same", "same", "uniform", "none", "beyond", "missing"])
    if what == "uniform":
        witness[1:] = [rng.randrange(len(question.alphabets)), "uniform"]
    elif what == "none":
        witness[1:] = [None, None]
    elif what == "beyond":  # of more entropy than there is: no adversary at all
        share, low, witness[1:] = f"{1 + step} max", Fraction(0), [None, None]
    pair, upper = [share, claimed(low, "ceiling")], subject.high + 1
    draft.header["curve"] = {"above": lines(draft, upper, bound), "below": [pair]}
    if what != "missing":
        draft.lines.insert(at + 1, witness)
    draft.claim = {"lower": "0", "upper": claimed(upper + Fraction(1, 10**9), "ceiling")}
    return True


def tellers(draft: Any) -> bool:
    """Letters told by nothing: a leaf about the uniform prior alone, under lines about all adversaries."""
    subject, question = draft.subject, draft.subject.question
    if entropy(draft) is None or not question.only_uniform or "resolved" in draft.header:
        return False
    record, letters = 0, question.alphabets[0]
    real = [[k for k, n in enumerate(ns) if n] for ns in question.counts(record)]
    masses = [[Fraction(0)] * question.input_count for _ in range(letters)]
    for a, ks in enumerate(real):
        masses[a][draft.rng.choice(ks)] = Fraction(1, letters)
    if Fraction(question.leakage(record, masses)) - truth.SLACK * 10 <= subject.high + Fraction(1, 10**30):
        return False
    level = claimed(subject.high + Fraction(1, 10**30), "ceiling")
    draft.header["curve"] = {"above": [[level, "0"]], "below": []}
    draft.claim = {"lower": "0", "upper": claimed(subject.high + Fraction(1, 10**9), "ceiling")}
    return True


CURVES = {above: 5.0, below: 5.0, tellers: 3.0}
