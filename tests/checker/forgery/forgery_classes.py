"""Kinds of forgery of audits whose adversary holds a class of laws; a draft is a `forgery_drafts.Draft`."""

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import class_truth
import forgery_truth as truth
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
