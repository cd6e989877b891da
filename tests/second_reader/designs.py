"""Mechanisms of a design: what they distort, whether they meet what the model asks for, and what others there are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import linprog

from second_reader.exact import SLACK, Number, amount, at_most, dec, decimals, law, plus, power, read, times
from second_reader.laws import Box
from second_reader.leakage import Question, about_secret, information, questions
from second_reader.model import Model

Array = np.ndarray
Table = dict[str, Any]


@dataclass
class Row:
    """sum G(x,y) Q(x,y) <= h, or = h."""

    terms: dict[tuple[int, int], Number]
    most: Number = Fraction(0)
    equal: bool = False

    def met(self, mechanism: Array) -> bool:
        total: Number = Fraction(0)
        for place, factor in self.terms.items():
            total = plus(total, times(factor, mechanism[place]))
        return total == self.most if self.equal else at_most(total, self.most)


def total(*parts: dict[tuple[int, int], Number]) -> dict[tuple[int, int], Number]:
    found: dict[tuple[int, int], Number] = {}
    for part in parts:
        for place, factor in part.items():
            found[place] = plus(found.get(place, Fraction(0)), factor)
    return found


class Design:
    """A design model: inputs, outputs, the law of the inputs."""

    def __init__(self, model: Model) -> None:
        self.model, self.table = model, model.table
        self.kind = self.table.get("mechanism", {}).get("class", "oblivious")
        full = self.kind == "full"
        self.of = list(range(len(model.data))) if full else model.index  # the input of each dataset
        self.count = len(model.data) if full else len(model.values)
        self.value = [model.values[v] for v in model.index] if full else model.values
        self.place = model.index if full else list(range(self.count))  # of each input the index of its value
        self.present = sorted({*self.of})
        self.law = self.law_of_inputs()
        if model.problem != "max_information":
            self.cost, self.outputs = self.distortion(self.table["distortion"])
            self.width = self.cost.shape[1]

    def law_of_inputs(self) -> list[Fraction]:
        table, found = self.table.get("law", {"kind": "uniform"}), [Fraction(0)] * self.count
        each = law(table["probabilities"]) if table["kind"] == "iid" else None
        for x, k in zip(self.model.data, self.of, strict=True):
            p = Fraction(1, len(self.model.data)) if each is None else Fraction(1)
            for letter in x if each else ():
                p *= each[letter]
            found[k] += p
        return found

    def distortion(self, table: Table) -> tuple[Array, list[Fraction] | None]:
        """d(x,y), and the numbers that outputs stand for."""
        values, kind = self.model.values, table["kind"]
        outputs = [read(one) for one in table["outputs"]] if "outputs" in table else None
        if kind == "matrix":
            rows = [[read(entry) for entry in row] for row in table["rows"]]
        elif kind == "hamming":
            rows = [[Fraction(int(v != y)) for y in range(len(values))] for v in range(len(values))]
        else:
            stand = outputs or [Fraction(v) for v in values]
            rows = [[abs(v - o) if kind == "absolute" else (v - o) ** 2 for o in stand] for v in values]
        if outputs is None and kind != "matrix":
            outputs = [Fraction(v) for v in values]
        return np.array([rows[v] for v in self.place], dtype=object).reshape(self.count, -1), outputs

    def mechanism(self, written: Any) -> Array:
        """What a header carries: a row for each input."""
        rows = [law(row) for row in written]
        if self.kind == "additive":
            rows = [[rows[0][(y - v) % self.count] for y in range(self.count)] for v in range(self.count)]
        return np.array(rows, dtype=object).reshape(self.count, -1)

    def expected(self, mechanism: Array, cost: Array | None = None) -> Fraction:
        found = ((self.cost if cost is None else cost) * mechanism).sum(axis=1)
        return sum((p * one for p, one in zip(self.law, found, strict=True)), Fraction(0))

    def asked(self, mechanism: Array, adversary: Table) -> list[Question]:
        """What an adversary learns from a mechanism, about each record."""
        return questions(self.model, adversary, decimals(mechanism)[self.of])

    # Constraints ------------------------------------------------------------------------------------------------------------

    @cached_property
    def limits(self) -> list[Table]:
        """All constraints, privacy among them."""
        return [*([self.table["privacy"]] if "privacy" in self.table else []), *self.table.get("constraints", [])]

    def joints(self, table: Table) -> list[list[list[Fraction]]]:
        """The laws P(s,x) of a limit about a secret."""
        if "secret" in table:
            found = []
            for joint in table["secret"]:
                flat = law([one for row in joint for one in row])
                found.append([flat[s * self.count : (s + 1) * self.count] for s in range(len(joint))])
            return found
        priors = [law(prior) for prior in table["priors"]] if "priors" in table else [self.law]
        return [
            [[p if s == x else Fraction(0) for x, p in enumerate(prior)] for s in range(len(prior))] for prior in priors
        ]

    def rows(self, table: Table, width: int) -> list[Row] | None:
        """What a constraint is short for; None of a kind that is no rows."""
        kind, columns, one = table["kind"], range(width), Fraction(1)
        if kind == "linear":
            terms = total(*({(x, y): read(c)} for x, y, c in table["terms"]))
            return [Row(terms, read(table.get("at_most", table.get("equals"))), "equals" in table)]
        if kind == "zero":
            return [Row({(x, y): one}, equal=True) for x, y in table["entries"]]
        if kind == "band":
            return [
                Row({(x, y): one}, equal=True)
                for x in self.present
                for y in columns
                if abs(self.value[x] - self.outputs[y]) > read(table["width"])
            ]
        if kind == "unbiased":
            loose, found = read(table.get("tolerance", 0)), []
            for x in self.present:
                mean, v = {(x, y): self.outputs[y] for y in columns}, Fraction(self.value[x])
                if loose == 0:
                    found.append(Row(mean, v, equal=True))
                else:
                    found += [Row(mean, v + loose), Row({place: -c for place, c in mean.items()}, loose - v)]
            return found
        if kind == "error":
            cost = self.distortion(table["distortion"])[0] if "distortion" in table else self.cost
            found = []
            for group in table.get("groups") or [[x] for x in self.present]:
                mass = sum(self.law[x] for x in group)
                share = {x: self.law[x] / mass if len(group) > 1 else one for x in group}
                found.append(
                    Row({(x, y): share[x] * cost[x, y] for x in group for y in columns}, read(table["at_most"]))
                )
            return found
        if kind == "distortion":
            cost = self.distortion(table["distortion"])[0]
            terms = {(x, y): self.law[x] * cost[x, y] for x in range(self.count) for y in columns}
            return [Row(terms, read(table["at_most"]))]
        if kind == "monotone":
            return [
                Row(total({(b, z): one for z in range(y + 1)}, {(a, z): -one for z in range(y + 1)}))
                for a, b in itertools.pairwise(self.present)
                for y in range(width - 1)
            ]
        if kind in RATIOS:
            return self.ratios(table, width)
        return None

    def ratios(self, table: Table, width: int) -> list[Row]:
        """Probabilities that are at most e^epsilon others."""
        kind, e = table["kind"], power(table["epsilon"])
        pairs: list[tuple[dict[int, Fraction], dict[int, Fraction], int | None]] = []  # left <= e right, for one s
        found: list[Row] = []
        if kind == "local_dp" and "secret" not in table:
            for a, b in table.get("pairs") or itertools.combinations(self.present, 2):
                pairs += [({a: Fraction(1)}, {b: Fraction(1)}, None), ({b: Fraction(1)}, {a: Fraction(1)}, None)]
        else:
            for joint in self.joints(table):
                whole = {x: sum(row[x] for row in joint) for x in range(self.count)}
                given = {
                    s: {x: p / sum(row) for x, p in enumerate(row) if p} for s, row in enumerate(joint) if sum(row) > 0
                }
                for s, own in given.items():
                    others = given if kind == "local_dp" else {-1: whole}
                    for other in (law_ for t, law_ in others.items() if t != s):
                        pairs.append((own, other, s))
                        if kind in ("local_information_privacy", "information_privacy"):
                            pairs.append((other, own, s))
                if table.get("exempt"):
                    terms = [(s, y) for s, y in table["exempt"]]
                    if table.get("strong"):
                        mass = total(*({(x, y): p for x, p in whole.items()} for y in sorted({y for _, y in terms})))
                    else:
                        mass = total(*({(x, y): p for x, p in enumerate(joint[s])} for s, y in terms))
                    found.append(Row(mass, read(table["delta"])))
        exempt = {tuple(pair) for pair in table.get("exempt", [])} if kind == "information_privacy" else set()
        for left, right, s in pairs:
            for y in range(width):
                if (s, y) not in exempt:
                    found.append(
                        Row(
                            total(
                                {(x, y): p for x, p in left.items()}, {(x, y): -times(e, p) for x, p in right.items()}
                            )
                        )
                    )
        return found

    def met(self, table: Table, mechanism: Array) -> bool:
        """Whether a mechanism meets a constraint, exactly; limits of leakage to an adversary are asked for in `audited`."""
        rows = self.rows(table, mechanism.shape[1])
        if rows is not None:
            return all(row.met(mechanism) for row in rows)
        kind = table["kind"]
        if kind == "cone":

            def affine(part: Table) -> Fraction:
                terms = sum((read(c) * mechanism[x, y] for x, y, c in part.get("terms", [])), Fraction(0))
                return terms + read(part.get("constant", 0))

            side = affine(table)
            return side >= 0 and sum(affine(part) ** 2 for part in table["norm"]) <= side**2
        return all(self.limited(table, joint, mechanism) for joint in self.joints(table))

    def limited(self, table: Table, joint: list[list[Fraction]], mechanism: Array) -> bool:
        """Whether a limit about a secret is met under one of its laws."""
        kind, strong = table["kind"], table.get("strong", False)
        joint = [row for row in joint if sum(row) > 0]
        pi = [sum(row) for row in joint]
        u = np.array(joint, dtype=object) @ mechanism
        r, w = u.sum(axis=0), u / np.array(pi, dtype=object)[:, None]
        columns = [y for y in range(len(r)) if r[y] > 0]
        each = list(enumerate(pi))
        if kind == "maximal_correlation":
            b = read(table["at_most"]) ** 2 if "at_most" in table else read(table["square_at_most"])
            form = [
                [
                    b * (pi[s] * (s == t) - pi[s] * pi[t])
                    - (sum(u[s, y] * u[t, y] / r[y] for y in columns) - pi[s] * pi[t])
                    for t in range(len(pi))
                ]
                for s in range(len(pi))
            ]
            return never_negative(form)
        most = table["at_most"]
        if kind in ("local_dp_delta", "local_information_privacy_delta"):
            e = power(table["epsilon"])

            def beyond(left: Sequence[Fraction], right: Sequence[Fraction]) -> Number:
                over = [plus(p, times(-e, q)) for p, q in zip(left, right, strict=True)]
                found: Number = Fraction(0)
                for one in over:
                    found = plus(found, max(one, type(one)(0)))
                return found

            if kind == "local_dp_delta":
                return all(at_most(beyond(w[s], w[t]), read(most)) for s, _ in each for t, _ in each if s != t)
            return all(
                at_most(beyond(w[s], r), times(e, read(most))) and at_most(beyond(r, w[s]), read(most)) for s, _ in each
            )
        if kind == "measure":
            return sum(self.worth(u[:, y], pi, table["measure"]) for y in columns) <= read(most)
        if kind in ("total_variation", "chi_square"):
            if any(strong and kind == "chi_square" and w[s, y] == 0 for s, _ in each for y in columns):
                return False
            if kind == "total_variation":
                told = [sum(abs(w[s, y] - r[y]) for y in columns) for s, _ in each]
            elif strong:
                told = [sum(r[y] ** 2 / w[s, y] for y in columns) - 1 for s, _ in each]
            else:
                told = [sum(w[s, y] ** 2 / r[y] for y in columns) - 1 for s, _ in each]
            mean = sum(p * one for p, one in zip(pi, told, strict=True))
            return bool((max(told) if strong else mean) <= read(most))
        if kind == "kl" and strong:
            if any(w[s, y] == 0 for s, _ in each for y in columns):
                return False
            sums = [sum((dec(r[y]) * dec(r[y] / w[s, y]).ln() for y in columns), Decimal(0)) for s, _ in each]
            return max(sums) <= amount(most) + SLACK
        assert kind in ("mutual_information", "kl")
        return information(pi, decimals(w), range(len(pi)), [0] * len(pi)) <= amount(most) + SLACK

    def audited(self, mechanism: Array) -> Iterator[tuple[str, Question, Decimal]]:
        """What must not tell more than some number: name, question, number."""
        rows = decimals(mechanism)[self.of]
        if "max_leakage" in self.table:
            for question in self.asked(mechanism, self.table["adversary"]):
                yield "max_leakage", question, amount(self.table["max_leakage"])
        for j, table in enumerate(self.table.get("constraints", [])):
            if table["kind"] == "leakage":
                for question in self.asked(mechanism, table["adversary"]):
                    yield f"constraint {j}", question, amount(table["at_most"])
            if table["kind"] == "secret_leakage":
                question = about_secret(self.model, {"entropy_at_least": 0}, rows, table, f"constraint {j}")
                yield question.name, question, amount(table["at_most"])

    def keeps(self, mechanism: Array) -> bool:
        """Whether a mechanism is within the budget of distortion and meets what is no leakage."""
        leaks = ("leakage", "secret_leakage")
        if "max_distortion" in self.table and self.expected(mechanism) > read(self.table["max_distortion"]):
            return False
        return all(self.met(table, mechanism) for table in self.limits if table["kind"] not in leaks)

    # Other mechanisms -------------------------------------------------------------------------------------------------------

    def others(self, mechanism: Array | None, rng: np.random.Generator, times: int) -> Iterator[Array]:
        """Mechanisms of the class: the given one, of least distortion by the rows alone, constant and drawn so often, some between."""
        ends = [*self.by_rows()]
        tied = self.kind == "additive"
        for _ in range(times):
            row = [Fraction(int(one), 100) for one in rng.multinomial(100, rng.dirichlet(np.full(self.width, 0.5)))]
            ends.append(self.mechanism([row] * (1 if tied else self.count)))
            drawn = rng.integers(0, 9, size=(1 if tied else self.count, self.width)) ** 3 + 1
            ends.append(self.mechanism([[Fraction(int(one)) for one in row] for row in drawn]))
        yield from [] if mechanism is None else [mechanism]
        for end in ends:
            yield end
            for share in (Fraction(1, 1000), Fraction(1, 30), Fraction(1, 3)) if mechanism is not None else ():
                yield mechanism * (1 - share) + end * share

    def by_rows(self) -> list[Array]:
        """A linear program's mechanism: the least distortion under the rows, in doubles and then divided by its sums."""
        size, found = self.count * self.width, []
        rows = [row for table in self.limits for row in self.rows(table, self.width) or ()]
        program: dict[str, list[Any]] = {"A_ub": [], "b_ub": [], "A_eq": [], "b_eq": []}
        for x in range(self.count):
            rows.append(Row({(x, y): Fraction(1) for y in range(self.width)}, Fraction(1), equal=True))
        if self.kind == "additive":
            rows += [
                Row({(v, y): Fraction(1), (0, (y - v) % self.count): Fraction(-1)}, equal=True)
                for v in range(1, self.count)
                for y in range(self.width)
            ]
        for row in rows:
            line = np.zeros((self.count, self.width))
            for place, factor in row.terms.items():
                line[place] = float(factor)
            way = "eq" if row.equal else "ub"
            program[f"A_{way}"].append(line.ravel() / max(abs(line).max(), 1e-300))
            program[f"b_{way}"].append(float(row.most) / max(abs(line).max(), 1e-300))
        cost = np.array([[float(p * one) for one in row] for p, row in zip(self.law, self.cost, strict=True)]).ravel()
        answer = linprog(cost, **{key: value or None for key, value in program.items()}, bounds=[(0, 1)] * size)
        if answer.status == 0:
            rows_ = np.maximum(answer.x.reshape(self.count, -1), 0)[: 1 if self.kind == "additive" else None]
            found.append(self.mechanism([[Fraction(float(one)) for one in row] for row in rows_]))
        return found

    # The most information ---------------------------------------------------------------------------------------------------

    @cached_property
    def useful(self) -> tuple[list[Fraction], list[int], list[int]]:
        """P(u,x) for all pairs, with their u and x."""
        if "useful" not in self.table:
            return self.law, list(range(self.count)), list(range(self.count))
        joint = self.table["useful"]["joint"]
        flat = law([one for row in joint for one in row])
        return flat, [u for u in range(len(joint)) for _ in range(self.count)], [*range(self.count)] * len(joint)

    @property
    def measure(self) -> Any:
        """Another one than the information, if there is one."""
        named = self.table.get("measure")
        return None if named == "mutual_information" else named

    def worth(self, m: Any, pi: Any, measure: Any) -> Any:
        """f of the masses of a column, by another measure than the information; exact where they are."""
        r = sum(m)
        pairs = [(mass, p * r) for mass, p in zip(m, pi, strict=True) if p]
        if not r or measure == "guessing":
            return max(m) - max(pi) * r
        if measure == "chi_square":
            return sum(mass * mass / even for mass, even in pairs) - r
        if measure == "total_variation":
            return sum(abs(mass - even) for mass, even in pairs)
        lines = [[read(one) for one in line] for line in measure]
        return sum(max(a * mass + b * even for a, b in lines) for mass, even in pairs)

    def useful_information(self, mechanism: Array) -> Decimal:
        p, u, x = self.useful
        if self.measure:
            joint = np.zeros((max(u) + 1, self.count), dtype=object)
            np.add.at(joint, (u, x), np.array(p, dtype=object))
            pi = joint.sum(axis=1)
            return dec(sum(self.worth(joint @ column, pi, self.measure) for column in mechanism.T))
        return information(p, decimals(mechanism)[x], u, [0] * len(p))

    def most_found(self, rng: np.random.Generator, columns: int) -> float:
        """The most information of private mechanisms whose columns are among some drawn ones: a linear program."""
        if "privacy" not in self.table:
            return self.most_within(rng, columns)
        privacy = self.table["privacy"]
        e = power(privacy["epsilon"])
        prior = law(privacy["priors"][0]) if "priors" in privacy else self.law
        counts = self.present if privacy["kind"] == "local_dp" else [x for x, p in enumerate(prior) if p]
        drawn = [np.ones(self.count)]
        drawn += [np.eye(self.count)[x] for x in range(self.count) if x not in counts]
        part = np.array([float(prior[x]) for x in counts])
        box = Box([Fraction(0)] * len(counts), [Fraction(min(float(e), 1e12) * one) for one in part])
        for _ in range(columns):
            column = np.zeros(self.count)
            if privacy["kind"] == "local_dp":
                column[counts] = rng.choice([1.0, min(float(e), 1e12)], size=len(counts))
            else:
                column[counts] = np.minimum(box.best(rng.normal(size=len(counts))) / part, float(e))
            drawn.append(column)
        answer = linprog(-self.gains(drawn), A_eq=np.array(drawn).T, b_eq=np.ones(self.count), bounds=(0, None))
        return -float(answer.fun) if answer.status == 0 else 0.0

    def most_within(self, rng: np.random.Generator, columns: int) -> float:
        """The same within a limit about a secret: columns of any kind, weighed so that what is told of it is at most so much."""
        (table,) = self.table["constraints"]
        (secret,) = self.joints(table)
        kind, given = table["kind"], np.array(secret, dtype=float)
        amounts = kind in ("mutual_information", "kl")
        drawn = [np.ones(self.count), *np.eye(self.count)]
        drawn += [rng.dirichlet(np.full(self.count, rng.choice([0.2, 1.0]))) for _ in range(columns)]
        taken = self.told_by(drawn, given, table.get("measure", None if amounts else kind))
        most = float(amount(table["at_most"]) if amounts else read(table["at_most"]))
        answer = linprog(
            -self.gains(drawn),
            A_eq=np.array(drawn).T,
            b_eq=np.ones(self.count),
            A_ub=taken[None],
            b_ub=[most],
            bounds=(0, None),
        )
        return -float(answer.fun) if answer.status == 0 else 0.0

    def gains(self, drawn: list[Array]) -> Array:
        """What columns tell of use, in doubles."""
        p, u, x = self.useful
        joint = np.zeros((max(u) + 1, self.count))
        np.add.at(joint, (u, x), [float(one) for one in p])
        return self.told_by(drawn, joint, self.measure)

    def told_by(self, drawn: list[Array], joint: Array, measure: Any) -> Array:
        """What columns tell by a measure, or None for the information."""
        pi, found = joint.sum(axis=1), []
        for column in drawn:
            m = joint @ column
            seen = m > 0
            if measure:
                found.append(float(self.worth(m.tolist(), pi.tolist(), measure)))
            else:
                found.append(float((m[seen] * np.log(m[seen] / (pi[seen] * m.sum()))).sum()))
        return np.array(found)


RATIOS = ("local_dp", "pointwise_maximal_leakage", "local_information_privacy", "information_privacy")


def never_negative(form: list[list[Fraction]]) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue: eliminate one letter after the other."""
    left = [row[:] for row in form]
    for k in range(len(left)):
        pivot = left[k][k]
        if pivot < 0 or (pivot == 0 and any(left[k][j] for j in range(k, len(left)))):
            return False
        for i in range(k + 1, len(left)):
            if pivot:
                factor = left[i][k] / pivot
                left[i] = [p - factor * q for p, q in zip(left[i], left[k], strict=True)]
    return True
