"""What people write in a file of their own: `make types` holds it to mypy --strict, and here it runs."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

import dalenius as dl
from campaigns import each
from dalenius.alternating import LeakageScheme, Settings, Step, alternate
from dalenius.reduction import record_channels

PAIR = dl.Records(2, alphabet=2)
TWICE_HALF = np.array([0.5, 0.5], dtype=np.float32)


@each(
    "records",
    dl.Records(count=2, alphabet=2),
    dl.Records(np.int64(2), alphabet=np.uint8(2)),
    dl.Records(alphabets=[2, 2]),
    dl.Records(alphabets=(2, 2)),
    dl.Records(alphabets=[np.int32(2), 2]),
    dl.Records(alphabets=np.array([2, 2])),
)
def test_records(records: dl.Records) -> None:
    assert records == PAIR


@each(
    "query, same",
    (dl.ModularSum(np.int64(3)), dl.ModularSum(3)),
    (dl.Count(np.array([1])), dl.Count()),
    (dl.Count({1}), dl.Count([1])),
    (dl.Sum(np.arange(2)), dl.Sum([0, 1])),
    (dl.Sum(np.eye(2, dtype=np.int64)), dl.Sum([[1, 0], (0, 1)])),
    (dl.Threshold(np.int16(1)), dl.Threshold(1)),
    (dl.Table(np.array([0, 1, 1, 0])), dl.Table([0, 1, 1, 0])),
)
def test_queries(query: dl.queries.Query, same: dl.queries.Query) -> None:
    assert query == same


@each(
    "mechanism",
    dl.symmetric(0.1, k=2),
    dl.symmetric(np.float32(0.1), k=np.int64(2)),
    dl.symmetric("1/10", k=2),
    dl.symmetric(flip=Fraction(1, 10), k=2),
    dl.symmetric(Decimal("0.1"), k=2),
    dl.symmetric(np.float16(0.1), k=2),
    dl.symmetric(np.longdouble("0.1"), k=2),
)
def test_one_number_is_written_in_many_ways(mechanism: dl.mechanisms.Mechanism) -> None:
    """A float of any width is the decimal that is printed for it."""
    assert mechanism == dl.symmetric("0.1", k=2)


@each(
    "mechanism, same",
    
        (dl.laplace_threshold(np.int64(1)), dl.laplace_threshold(1.0)),
        (dl.randomized_response(np.float64(2)), dl.randomized_response(2)),
        (dl.geometric(0.5, range=np.int64(3)), dl.geometric("0.5", range=(0, 3))),
        (dl.geometric(0.5, range=[0, 3]), dl.geometric(epsilon=0.5, range=3)),
        (dl.exponential(1, range=3, sensitivity=np.float32(0.2)), dl.exponential(1, range=3, sensitivity="1/5")),
        (dl.Channel(np.eye(2)), dl.Channel([[1, 0], [0, 1]])),
        (dl.Channel([TWICE_HALF, [1, 0]]), dl.Channel([["1/2", 0.5], (1, 0)])),
        (dl.Channel(np.full((4, 1), 1), inputs="dataset"), dl.Channel([[1]] * 4, inputs="dataset")),
        (dl.DesignedMechanism(np.eye(2), outputs=["no", "yes"]), dl.DesignedMechanism([[1, 0], [0, 1]], outputs=("no", "yes"))),
        (dl.DesignedMechanism(np.eye(2), values=np.array([0, 5])), dl.DesignedMechanism([[1, 0], [0, 1]], values=[0, 5])),
)  # fmt: skip
def test_mechanisms(mechanism: dl.mechanisms.Mechanism, same: dl.mechanisms.Mechanism) -> None:
    assert mechanism == same


@each(
    "adversary, same",
    (dl.EntropyAtLeast(np.float32(0.3), "nats"), dl.EntropyAtLeast("0.3 nats")),
    (dl.EntropyAtLeast(np.int64(1), units="bits"), dl.EntropyAtLeast("1 bits")),
    (dl.FixedPrior(np.full(4, 0.25)), dl.FixedPrior([0.25] * 4)),
    (dl.PriorSet(np.full((1, 2, 2), 0.25)), dl.PriorSet([[[0.25, "1/4"], [0.25, 0.25]]])),
    (dl.PriorSet([np.full(4, 0.25), [1, 0, 0, 0]]), dl.PriorSet([[0.25] * 4, (1, 0, 0, 0)])),
)
def test_adversaries(adversary: dl.adversaries.Adversary, same: dl.adversaries.Adversary) -> None:
    assert adversary == same


def test_parts_of_designs() -> None:
    assert dl.Iid(TWICE_HALF) == dl.Iid(["1/2", 0.5])
    assert dl.Iid(np.array([0.1, 0.9], dtype=np.float32)) == dl.Iid(["1/10", "9/10"])
    assert dl.DistortionMatrix(1 - np.eye(2)) == dl.DistortionMatrix([[0, 1], (1, 0)])
    assert dl.LocalDP(np.float32(0.1)) == dl.LocalDP("0.1 nats")
    priors = np.array([[0.3, 0.7]])
    assert dl.PointwiseMaximalLeakage(1, priors) == dl.PointwiseMaximalLeakage("1", priors=[["3/10", 0.7]])


def test_designs_and_their_rows() -> None:
    """Budgets and mechanisms."""
    design = dl.MinLeakage(
        records=PAIR,
        query=dl.Parity(),
        distortion=dl.Hamming(),
        max_distortion=np.float32(0.1),
        adversary=dl.EntropyAtLeast(np.float64(0.5), "nats"),
    )
    assert design.budget == Fraction(1, 10)
    rows = np.array([[0.9, 0.1], [0.1, 0.9]])
    assert design.expected_distortion(rows) == design.expected_distortion([["9/10", 0.1], (0.1, 0.9)])
    assert design.release(rows).mechanism == dl.Channel(rows)
    mechanism: dl.DesignedMechanism = design.designed(rows)
    assert str(mechanism.sample(np.int64(1))) in "01"
    bits = dl.MinDistortion(
        records=PAIR, query=dl.Parity(), distortion=dl.Hamming(), max_leakage="1 nats", adversary=dl.AnyPrior()
    )
    assert bits.budget == 1
    terms = [
        dl.objectives.LeakageTerm(dl.AnyPrior(), weight=np.float64(0.5)),
        dl.objectives.DistortionTerm(dl.Hamming(), weight="1/10"),
    ]
    objective: dl.objectives.Objective = dl.objectives.WeightedSum(weight=np.int64(2), terms=terms)
    assert objective == dl.objectives.WeightedSum(
        (dl.objectives.LeakageTerm(dl.AnyPrior(), weight="1/2"), terms[1]), weight=2
    )


def test_answers() -> None:
    """Limits, seeds and gaps of NumPy are numbers, too; the kind of the answer follows from the problem's."""
    problem = dl.WorstCaseLeakage(
        records=PAIR, query=dl.Parity(), mechanism=dl.symmetric(0.1), adversary=dl.EntropyAtLeast("0.5 max")
    )
    result: dl.answers.Result = dl.solve(
        problem, gap=np.float64(0.1), time_limit=np.float64(9), node_limit=100, memory_limit=64.0, seed=7
    )
    assert result.require(gap=0.5) is result
    assert dl.verify(problem, result.certificate).proved
    found = dl.release(problem, dl.DesignedMechanism(np.eye(2)), np.array([0, 1]), time_limit=5.0)
    assert str(found.output) in "01"


def test_a_scheme_and_its_solvers_are_typed() -> None:
    """A block of one's own fits the protocol."""

    class Stay:
        name, costly = "stay", False

        def step(self, state: NDArray[np.float64]) -> Step[NDArray[np.float64]]:
            return Step(state, 0.0, 0.0, dl.answers.Scope.FEASIBLE)

    problem = dl.load("parity/laplace-n4")
    assert isinstance(problem, dl.WorstCaseLeakage)
    scheme = LeakageScheme(record_channels(problem)[0], ("posterior", Stay(), "marginal", "row"))
    assert alternate(scheme, Settings(gap=1e-2)).gains["stay"] == 0.0
    result: dl.answers.Result = dl.solve(problem, method="alternating", solver="clarabel", gap=1e-2)
    schemes: tuple[dl.answers.Alternation, ...] = result.alternating
    uses: tuple[dl.answers.SolverUse, ...] = result.solvers
    assert schemes[0].scope is dl.answers.Scope.BLOCKWISE
    assert {use.solver for use in uses} <= {"clarabel"}
