"""What is wrong with a certificate's claims, as far as this reader sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from second_reader.certificates import lines, witness
from second_reader.designs import Design
from second_reader.exact import DIGITS, SLACK, at_most, dec, read
from second_reader.leakage import Question, questions
from second_reader.model import Model

Array = np.ndarray
DOUBLES = 1e-9  # relative: what integrals and linear programs lose in doubles, and the one tolerance that there is
UNSEEN = 1e-12  # what is less than that is nothing beside probabilities, in doubles


@dataclass
class Reader:
    """One model and its certificate; `starts` laws are drawn for each question, climbed from for so many `sweeps`, and mechanisms."""

    text: str
    certificate: str
    seed: int = 0
    starts: int = 3
    sweeps: int = 6

    def faults(self) -> list[str]:
        """Whatever contradicts the certificate."""
        with localcontext(DIGITS):
            model, told = Model(self.text), lines(self.certificate)
            self.rng = np.random.default_rng(self.seed)
            self.most = Decimal(0)  # information that was found
            header = told[0]
            self.lower, self.upper = (None if header[end] is None else read(header[end]) for end in ("lower", "upper"))
            if model.problem in ("maximal_leakage", "secret_leakage"):
                return [*self.audit(model, told[1:])]
            design = Design(model)
            if model.problem == "max_information":
                return [*self.information(design, header)]
            return [*self.design(design, header)]

    def audit(self, model: Model, told: list[Any]) -> Iterator[str]:
        adversary = model.table["adversary"]
        asked = questions(model, adversary, model.channel)
        shown = witness(model, adversary, told)
        if shown is None and self.lower > 0:
            yield f"nothing shows {float(self.lower)}"
        if shown is not None:
            question, prior = asked[shown[0]], shown[1]
            if sum(prior) != 1:
                yield "the witness is no law"
            value = question.value(prior)
            if value < dec(self.lower) - self.lost(question, self.lower):
                yield f"the witness tells {value:.20}, and not {float(self.lower)}"
        yield from self.passed("upper", asked, self.upper)

    def lost(self, question: Question, number: Any) -> Decimal:
        """What this reader's own rounding may have done to a value."""
        return Decimal(DOUBLES) * dec(number) + Decimal("1e-14") if question.approximate else SLACK

    def passed(self, name: str, asked: Iterable[Question], most: Any) -> Iterator[str]:
        """Laws of the adversary's under which more is told."""
        for question in asked:
            for prior in question.candidates(self.rng, self.starts, self.sweeps):
                value = question.value(prior)
                self.most = max(self.most, value)
                if value > dec(most) + self.lost(question, most):
                    yield f"{name}: {question.name} tells {value:.20}, more than {float(most)}, under {[*map(str, prior)]}"

    def information(self, design: Design, header: dict[str, Any]) -> Iterator[str]:
        mechanism = design.mechanism(header["mechanism"])
        if not all(design.met(table, mechanism) for table in design.limits):
            yield "the mechanism is not private"
        self.most = design.useful_information(mechanism)
        if self.most < dec(self.lower) - SLACK:
            yield f"the mechanism reveals {self.most:.20}"
        found = design.most_found(self.rng, 100 * self.starts)
        if found > float(self.upper) * (1 + DOUBLES) + UNSEEN:
            yield f"private mechanisms tell {found}, and {float(self.upper)} is said to be the most"

    def design(self, design: Design, header: dict[str, Any]) -> Iterator[str]:
        table, mechanism = design.table, None
        if header["mechanism"] is not None:
            mechanism = design.mechanism(header["mechanism"])
            if not design.keeps(mechanism):
                yield "the mechanism passes a limit"
            for name, question, most in design.audited(mechanism):
                yield from self.passed(name, [question], most)
            ends = [read(one) for one in header["terms"]] if "objective" in table else [self.upper]
            for j, (term, end) in enumerate(zip(terms(table), ends, strict=True)):
                if "adversary" in term:
                    yield from self.passed(f"term {j}", design.asked(mechanism, term["adversary"]), end)
                elif not at_most(design.expected(mechanism, design.distortion(term["distortion"])[0]), end):
                    yield f"term {j} distorts more than {end}"
            if combined(table, ends) > self.upper:
                yield "the terms are more than their sum or maximum"
        for other in design.others(mechanism, self.rng, self.starts):
            value = self.costs(design, other)
            if value is not None and (self.lower is None or value < float(self.lower) * (1 - DOUBLES) - UNSEEN):
                yield f"{[[str(one) for one in row] for row in other]} costs {value}, and {self.lower} is said to be the least"

    def costs(self, design: Design, mechanism: Array) -> float | None:
        """At most what a mechanism costs, if it surely meets everything."""
        if not design.keeps(mechanism):
            return None
        for _, question, most in design.audited(mechanism):
            ceiling = question.ceiling()
            if ceiling is None or (ceiling > float(most) - UNSEEN and not (ceiling == 0 <= most)):
                return None
        found = []
        for term in terms(design.table):
            if "adversary" in term:
                ceilings = [question.ceiling() for question in design.asked(mechanism, term["adversary"])]
                if None in ceilings:
                    return None
                found.append(max(ceilings))
            else:
                found.append(float(design.expected(mechanism, design.distortion(term["distortion"])[0])))
        return float(combined(design.table, found))


def terms(table: dict[str, Any]) -> list[dict[str, Any]]:
    """What is added up, or the largest of which counts: the problem's own, and those of the objective."""
    own = (
        {"adversary": table["adversary"]} if table["problem"] == "min_leakage" else {"distortion": table["distortion"]}
    )
    return [own, *table.get("objective", {}).get("terms", [])]


def combined(table: dict[str, Any], ends: list[Any]) -> Any:
    """The sum or the largest of the terms, each times its weight."""
    objective = table.get("objective", {"terms": []})
    weights = [read(one.get("weight", 1)) for one in (objective, *objective["terms"])]
    weighted = [(float(w) if isinstance(end, float) else w) * end for w, end in zip(weights, ends, strict=True)]
    return max(weighted) if objective.get("combine") == "max" else sum(weighted)
