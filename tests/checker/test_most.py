"""Models of the kind max_information: potentials and mechanisms of a linear program over extreme columns, made here anew."""

import itertools
import json
import math
import random

import numpy as np
from scipy.optimize import linprog

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.core.model import parse_model
from forgery_subjects import toml

LEVELS = [("log 3", 3.0), ("1 bits", 2.0), ("0.7", math.exp(0.7)), ("log 3/2", 1.5), ("0", 1.0)]


def drawn(rng):
    """A model as tables, e^epsilon, P(u, x), the inputs that are extreme together, and the prior, None for local_dp."""
    size, (epsilon, big) = rng.randint(2, 4), rng.choice(LEVELS)
    weights = [rng.choice([0, 1, 2, 3]) for _ in range(size - 1)] + [2]
    law = [f"{w}/{sum(weights)}" for w in weights]
    own = np.array(weights) / sum(weights)
    tables = {
        "problem": "max_information",
        "records": {"count": 1, "alphabet": size},
        "query": {"kind": "identity"},
        "law": {"kind": "iid", "probabilities": law},
    }
    joint = np.diag(own)
    if rng.random() < 0.6:
        cells = [[rng.randint(0, 3) for _ in range(size)] for _ in range(rng.randint(1, 3))] + [[1] * size]
        whole = sum(map(sum, cells))
        tables["useful"] = {"joint": [[f"{c}/{whole}" for c in row] for row in cells]}
        joint = np.array(cells) / whole
    support, prior = list(range(size)), None
    tables["privacy"] = {"kind": "local_dp", "epsilon": epsilon}
    if rng.random() < 0.5:
        tables["privacy"]["kind"], prior = "pointwise_maximal_leakage", own
        if rng.random() < 0.5:
            listed = [rng.choice([0, 1, 4]) for _ in range(size - 1)] + [1]
            tables["privacy"]["priors"] = [[f"{w}/{sum(listed)}" for w in listed]]
            prior = np.array(listed) / sum(listed)
        support = [x for x in range(size) if prior[x]]
    return tables, big, joint, support, prior


def extreme(size, big, support, prior):
    """The extreme columns: of the cube, or of the polytope of mean 1; alone elsewhere."""
    found = [np.eye(size)[x] for x in range(size) if x not in support]
    if prior is None:
        return np.array([*found, *itertools.product((1.0, big), repeat=size)])
    for x in support:
        others = [z for z in support if z != x]
        for chosen in itertools.product((0.0, big), repeat=len(others)):
            g = np.zeros(size)
            g[others] = chosen
            g[x] = (1 - prior @ g) / prior[x]
            if -1e-12 <= g[x] <= big + 1e-12:
                found.append(g)
    return np.array(found)


def information(joint, columns):
    """I of the useful variable and the output, the sum of f of the columns; and f of each."""
    means = joint @ columns.T
    outer = joint.sum(1, keepdims=True) * means.sum(0)
    return np.sum(means * np.log(np.where(means > 0, means, 1) / np.where(means > 0, outer, 1)), axis=0)


def proved(model, head, lower, upper, mechanism, *lines, arithmetic="flint"):
    """Whether the checker proves a claim."""
    ends = {"lower": f"{lower:.15f}", "upper": f"{upper:.15f}", "mechanism": mechanism}
    data = "".join(json.dumps(line) + "\n" for line in ({**head, **ends}, *lines))
    verdict = check(model, data.encode(), arithmetic=arithmetic)
    assert "internal" not in verdict.reason
    return verdict.proved


@each("seed", *range(draws(12, 600)))
def test_the_optimum_of_all_extreme_columns(seed):
    """Proved from both sides to nine digits, and not beyond; and no private mechanism that is drawn tells more."""
    rng = random.Random(seed)
    tables, big, joint, support, prior = drawn(rng)
    size, model = joint.shape[1], toml(tables)
    head = {"format": "dalenius-certificate/2", "problem": "max_information", "model": parse_model(model).digest}
    head |= {"unit": "nats", "producer": "tests"}
    columns = extreme(size, big, support, prior)
    done = linprog(-information(joint, columns), A_eq=columns.T, b_eq=np.ones(size), method="highs")
    value, potential = -done.fun, -done.eqlin.marginals
    lines = ["potential", [f"{x + 1e-10:.15f}" for x in potential]]
    chosen = columns * done.x[:, None]
    inside = chosen[:, support].mean(1, keepdims=True) if prior is None else (chosen @ prior)[:, None]
    chosen[:, support] += 1e-9 * (inside - chosen[:, support])  # so that rounding does not break privacy
    mechanism = [[f"{x:.18f}" for x in row] for row in chosen.T]
    arithmetic = rng.choice(["flint", "python"])
    low = value - 1e-7
    assert proved(model, head, low, value + 1e-8, mechanism, lines, arithmetic=arithmetic) or low <= 0
    assert not proved(model, head, value + 1e-7, value + 1, mechanism, lines)
    less = ["potential", [f"{x - 1e-7:.15f}" for x in potential]]
    constant = [["1"]] * size
    assert not proved(model, head, 0, 9, constant, less)
    assert not proved(model, head, 0, value - 1e-8, constant, lines)
    for _ in range(20):
        drawn_columns = columns * np.array([rng.random() ** 9 for _ in columns])[:, None]
        rest = drawn_columns.sum(0).max() - drawn_columns.sum(0)
        if prior is None:  # what is missing of 1, told by an output that all inputs have alike, and a share of each
            drawn_columns = drawn_columns / (drawn_columns.sum(0).max() * big)
            rest = 1 - drawn_columns.sum(0)
            if rest.max() > big * rest.min():
                continue
        elif (rest > big * (prior @ rest) + 1e-15)[support].any():
            continue
        whole = np.vstack([drawn_columns, rest])
        assert information(joint, whole / whole.sum(0).max()).sum() <= value + 1e-9
