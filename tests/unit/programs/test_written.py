"""Programs as they are written: read anew from their .nl text, evaluated where a proof attains, and solved by SCIP."""

import dataclasses
import math
from collections.abc import Iterator

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each, thinned
from dalenius.catalogue.models import library_model
from dalenius.export import export, offers, written
from dalenius.information.measures import PriorPolytope
from dalenius.programs.written import Limit, Term, Written
from dalenius.reduction import record_channels


class Read:
    """An .nl text as the format's description has it, without the writer: expressions, linear parts, ranges and counts."""

    def __init__(self, text: str) -> None:
        lines = [line.partition("#")[0].strip() for line in text.splitlines()]
        assert lines[0] == "g3 1 1 0"
        head = [[int(word) for word in line.split()] for line in lines[1:10]]
        (self.width, self.height, one, self.ranges, self.equations), (self.bent, bends) = head[0], head[1]
        assert (one, bends) == (1, 1)
        self.inside, self.objective, both = head[3]
        assert both == 0
        self.nonzeros, self.gradient = head[6]
        self.lines, self.at = lines, 10
        self.expressions, self.linear = {}, {i: {} for i in range(self.height)}
        while self.at < len(lines):
            self.segment(self.next())

    def next(self) -> str:
        self.at += 1
        return self.lines[self.at - 1]

    def segment(self, head: str) -> None:
        kind, words = head[0], head[1:].split()
        if kind in "CO":
            self.expressions[head[0] + words[0]] = self.expression()
            assert kind == "C" or words == ["0", "1"], "maximised"
        elif kind in "rb":
            bounds = [self.bounds(self.next()) for _ in range(self.height if kind == "r" else self.width)]
            setattr(self, "rows" if kind == "r" else "box", bounds)
        else:
            count = int(words[-1])
            listed = [self.next().split() for _ in range(count)]
            if kind == "J":
                self.linear[int(words[0])] = {int(j): float(c) for j, c in listed}
            elif kind == "x":
                self.start = np.array([float(value) for _, value in listed])
            elif kind == "k":
                self.counts = [int(word) for (word,) in listed]
            else:
                assert kind == "G"
                self.slopes = {int(j): float(c) for j, c in listed}

    @staticmethod
    def bounds(line: str) -> tuple[float, float]:
        kind, *ends = line.split()
        low, high = {"0": ends, "1": ["-inf", *ends], "2": [*ends, "inf"], "4": [*ends, *ends]}[kind]
        return float(low), float(high)

    def expression(self):
        """In prefix form: o2 times, o5 power, o0 sum of two, o54 of several, o43 logarithm."""
        line = self.next()
        if line[0] == "n":
            return ("n", float(line[1:]))
        if line[0] == "v":
            return ("v", int(line[1:]))
        count = {"o0": 2, "o2": 2, "o5": 2, "o43": 1, "o54": 0}[line] or int(self.next())
        return (line, *(self.expression() for _ in range(count)))

    def value(self, tree, x) -> float:
        head, *parts = tree
        if head in "nv":
            return parts[0] if head == "n" else float(x[parts[0]])
        if head == "o2" and parts[1][0] == "o43" and self.value(parts[0], x) == 0.0:
            return 0.0  # 0 log 0
        values = [self.value(part, x) for part in parts]
        return {"o0": sum, "o54": sum, "o2": math.prod, "o5": lambda v: v[0] ** v[1], "o43": lambda v: math.log(*v)}[
            head
        ](values)

    def variables(self, tree) -> set[int]:
        return (
            {tree[1]} if tree[0] == "v" else set().union(*(map(self.variables, tree[1:]))) if tree[0] != "n" else set()
        )

    def whole(self, free: np.ndarray) -> np.ndarray:
        """All variables, of which the free ones are these, and each other one is what its equation says."""
        x = np.full(self.width, np.nan)
        first = 0 if self.width - len(free) < self.width and self.own else self.width - len(free)
        x[first : first + len(free)] = free
        for i, (low, high) in enumerate(self.rows):
            unknown = [j for j in self.linear[i] if np.isnan(x[j])]
            if low == high == 0.0 and len(unknown) == 1:
                (j,) = unknown
                x[j] = -sum(c * x[k] for k, c in self.linear[i].items() if k != j) / self.linear[i][j]
        assert not np.isnan(x).any()
        return x

    own = True  # whether the free variables come first

    def attained(self, free: np.ndarray) -> float:
        """The objective, every row and bound being met."""
        x = self.whole(free)
        for i, (low, high) in enumerate(self.rows):
            found = self.value(self.expressions[f"C{i}"], x) + sum(c * x[j] for j, c in self.linear[i].items())
            assert low - 1e-9 <= found <= high + 1e-9, (i, low, found, high)
        assert all(low - 1e-12 <= value <= high + 1e-12 for value, (low, high) in zip(x, self.box, strict=True))
        return self.value(self.expressions["O0"], x) + sum(c * x[j] for j, c in self.slopes.items())


def read(name: str, program: str = "problem") -> Read:
    offered = {offer.name: offer for offer in written(library_model(name).load())}
    made = offered[program].make()
    found = Read(made.nl())
    found.own = any(limit.term.of is None for limit in made.limits)
    assert_well_formed(found)
    return found


def assert_well_formed(found: Read) -> None:
    """The counts of the head are those of the text, and what is nonlinear stands where the format wants it."""
    assert found.nonzeros == sum(map(len, found.linear.values()))
    assert found.equations == sum(low == high for low, high in found.rows)
    per_column = np.bincount([j for row in found.linear.values() for j in row], minlength=found.width)
    assert found.counts == per_column.cumsum()[:-1].tolist()
    bent = [i for i in range(found.height) if found.expressions[f"C{i}"] != ("n", 0.0)]
    assert bent == list(range(found.bent))
    for i in bent:
        used = found.variables(found.expressions[f"C{i}"])
        assert max(used) < found.inside
        assert used <= found.linear[i].keys(), "in the row of the Jacobian"
    assert found.variables(found.expressions["O0"]) <= set(range(found.inside, found.objective)) == found.slopes.keys()


@each("name", "parity/laplace-n4", "sum/unequal-alphabets", "table/latin-square-m3", every=2)
def test_problem_1_is_worth_at_a_witness_what_the_audit_proves(name):
    problem, claim = library_model(name).load(), library_model(name).claim
    witness = dl.solve(problem, gap=1e-3).witness
    channels = record_channels(problem)
    channel = next(channel for channel in channels if channel.letters == len(witness.masses))
    masses = channel.apply(witness.masses)[np.isfinite(channel.log_uniform)]
    found = read(name, "problem" if channel is channels[0] else f"problem@{channel.record}")
    assert found.attained(masses) == pytest.approx(claim[0], rel=1e-3)
    uniform = np.exp(channel.log_uniform[np.isfinite(channel.log_uniform)])
    assert found.attained(uniform) <= claim[1]


CLASSES = (
    "identity/channel-3x3-near-chi-square",
    "identity/channel-3x3-known-mean",
    "identity/hadamard-k6-near-kl",
    "identity/subsets-k5-above-a-floor",
    "identity/bits-k4-in-a-box",
)


@each("name", *CLASSES)
def test_a_class_of_laws_is_worth_at_its_witness_what_the_audit_proves(name):
    problem = library_model(name).load()
    result = dl.solve(problem, gap=1e-6)
    found = read(name)
    law = result.witness.masses.sum(axis=1)
    assert found.attained(law / law.sum()) == pytest.approx(result.lower, rel=1e-6)


def test_a_distance_and_a_mixture_have_numbers_of_their_own():
    near = library_model("sum/near-l1-n2").load()
    result, found = dl.solve(near, gap=1e-6), read("sum/near-l1-n2")
    law = result.witness.masses.sum(axis=1)
    center = np.array([float(p) for p in near.adversary.center])
    found.own = False
    assert found.attained(np.append(law, abs(law - center) / 2.0)) == pytest.approx(result.lower, rel=1e-6)
    with pytest.raises(AssertionError):
        found.attained(np.append(np.eye(3)[0], abs(np.eye(3)[0] - center) / 2.0))
    between = library_model("count/between-two-laws-n4").load()
    assert isinstance(between.adversary.priors, PriorPolytope)
    result, found = dl.solve(between, gap=1e-6), read("count/between-two-laws-n4")
    found.own = False
    law = result.witness.masses.sum(axis=1)
    vertices = np.array([[float(p) for p in law] for law in between.adversary.vertices])
    shares = np.linalg.lstsq(np.vstack([vertices.T, np.ones(2)]), np.append(law, 1.0), rcond=None)[0]
    assert found.attained(np.append(law, shares)) == pytest.approx(result.lower, rel=1e-6)


def test_a_secret_and_a_funnel_are_worth_what_is_proved():
    problem = library_model("pufferfish/attribute-n2").load()
    result, found = dl.solve(problem, gap=1e-4), read("pufferfish/attribute-n2")
    assert found.attained(result.witness.law) == pytest.approx(result.lower, rel=1e-4)
    problem = library_model("information/funnel-guessing").load()
    result, found = dl.solve(problem, gap=1e-2), read("information/funnel-guessing")
    found.own = False
    rows = np.array(result.mechanism.rows, dtype=float)
    Q = np.pad(rows, ((0, 0), (0, 4 - rows.shape[1])))
    told = np.array([[1 / 4, 1 / 4, 0], [0, 1 / 8, 3 / 8]]) @ Q
    assert found.attained(np.append(Q, told.max(axis=0))) == pytest.approx(result.lower, rel=1e-6)
    law = dl.PrivacyFunnel([["1/4", "1/8", "1/8"], ["1/8", "1/8", "1/4"]], "0.02 nats")
    (offer,) = written(law)
    result, found = dl.solve(law, gap=1e-2), Read(offer.make().nl())
    assert_well_formed(found)
    found.own = False
    rows = np.array(result.mechanism.rows, dtype=float)
    assert found.attained(np.pad(rows, ((0, 0), (0, 4 - rows.shape[1]))).ravel()) == pytest.approx(
        result.lower, rel=1e-6
    )


def test_what_is_no_such_program_is_not_offered(tmp_path):
    for name in ("chain/count-n7", "scale/bits-k1000-near-kl", "design/parity-n4-leakage", "information/uniform-pml"):
        assert written(library_model(name).load()) == []
    audit = library_model("parity/laplace-n4").load()
    support.refused(lambda: export(written(audit)[0].make(), tmp_path / "x.cbf"), "nl is for nonlinear programs")
    support.refused(lambda: export(offers(audit)[0].make(), tmp_path / "x.nl"), "nl is for nonlinear programs")
    path = export(written(audit)[0].make(), tmp_path / "x.nl")
    assert path.read_text() == written(audit)[0].make().nl()


def test_squares_and_constants():
    simplex = np.ones((1, 2)), np.ones(1), np.ones(1)
    limit = Limit(Term(np.full(2, 2.0), None, "square"), np.array([0.0, 1.0]), 1.75)
    found = Read(Written("tiny", np.full(2, 0.5), [Term(-np.ones(2), np.eye(2))], simplex, [limit], constant=3.0).nl())
    assert_well_formed(found)
    assert found.attained(np.full(2, 0.5)) == pytest.approx(3.0 + math.log(2))
    with pytest.raises(AssertionError):
        found.attained(np.array([0.0, 1.0]))  # 2 + 1 is above 1.75


def solvable() -> Iterator[str]:
    yield from (*CLASSES, "information/funnel-guessing", "pufferfish/attribute-n2", "parity/laplace-n4")


@pytest.mark.parametrize("name", thinned(solvable(), every=8))
def test_scip_reads_it_and_finds_what_is_proved(name, tmp_path):
    pyscipopt = pytest.importorskip("pyscipopt", reason="needs SCIP: pip install pyscipopt")
    made = written(library_model(name).load())[0].make()
    path = export(
        dataclasses.replace(made, least=1e-8), tmp_path / "problem.nl"
    )  # at 0 slopes have no end: its LPs fail
    lower, upper = library_model(name).claim
    model = pyscipopt.Model()
    model.hideOutput()
    model.readProblem(str(path))
    model.setParam("limits/gap", 1e-4)
    model.setParam("limits/time", 20)
    model.optimize()
    assert model.getObjVal() <= float(upper) + 1e-5
    assert model.getObjVal() >= float(lower) * (1.0 - 1e-2)
    assert model.getDualbound() >= float(lower) - 1e-5
