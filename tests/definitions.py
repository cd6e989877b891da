"""What leaks, by definition and in plain numpy: the second reading that answers are held against. No package is imported."""

import itertools
import math
from collections.abc import Callable

import numpy as np


def information(joint):
    """I(A; Y) in nats of joint laws (..., letters, outputs) of any mass; their sum over values of C is I(A; Y | C)."""
    joint = np.asarray(joint, dtype=float)
    of_letters, of_outputs = joint.sum(axis=-1, keepdims=True), joint.sum(axis=-2, keepdims=True)
    ratio = joint / np.where(of_letters > 0.0, of_letters, 1.0) / np.where(of_outputs > 0.0, of_outputs, 1.0)
    ratio = ratio * joint.sum(axis=(-2, -1), keepdims=True)
    return np.sum(joint * np.log(np.where(joint > 0.0, ratio, 1.0)), axis=(-2, -1))


def joint_law(masses, letters, rows):
    """P(A, Y) where each of these masses has a letter and a row of a channel."""
    joint = np.zeros((max(letters) + 1, len(rows[0])))
    np.add.at(joint, np.asarray(letters), np.asarray(masses, dtype=float)[:, None] * np.asarray(rows, dtype=float))
    return joint


def joint_of_chain(start, steps, count: int, record: int, row: Callable):
    """P(X_i, Y) of a chain of `count` letters, path by path; `row` is the law of the output on a path."""
    paths = list(itertools.product(range(len(start)), repeat=count))
    masses = [start[path[0]] * math.prod(steps[a][b] for a, b in itertools.pairwise(path)) for path in paths]
    return joint_law(masses, [path[record] for path in paths], [row(path) for path in paths])


def conditional_information(masses, of, given, rows) -> float:
    """I(A; Y | C) where each of these masses has a letter, a number of what is given, and a row of a channel."""
    cells = np.zeros((max(given) + 1, max(of) + 1, len(rows[0])))
    np.add.at(cells, (given, of), np.asarray(masses, dtype=float)[:, None] * np.asarray(rows, dtype=float))
    return float(information(cells).sum())
