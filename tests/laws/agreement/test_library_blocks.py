"""Every block program, on the models of the library that close fast: certified to 1e-6."""

import functools

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws
from dalenius.catalogue.models import library
from dalenius.programs import MarginalUpdate, MinDistortionProgram, MinLeakageProgram, PosteriorUpdate
from dalenius.reduction import record_channels


@functools.cache
def audits() -> dict[str, dl.WorstCaseLeakage]:
    """Those with a matrix, by name; not while tests are collected, which every process does."""
    loaded = {model.name: model.load() for model in library("fast")}
    return {
        name: problem
        for name, problem in loaded.items()
        if isinstance(problem, dl.WorstCaseLeakage) and not (problem.in_closed_form or problem.in_blocks)
    }


def certified(answer) -> bool:
    """A relative gap of at most 1e-6, or a value that is nothing."""
    return answer.gap <= 1e-6 * max(abs(answer.lower), abs(answer.upper)) + 4e-11


def prior(channel) -> np.ndarray:
    """A prior that is not symmetric: the uniform one, tilted, and mixed back until it has the entropy."""
    ramp = (
        np.linspace(0.0, 1.0, channel.letters)[:, None] + np.linspace(0.0, 2.0, channel.log_uniform.shape[1])[None, :]
    )
    p = channel.uniform * np.exp(ramp)
    return p / p.sum()


@pytest.mark.thorough
def test_prior_blocks():
    entropic = [
        problem
        for problem in audits().values()
        if isinstance(problem.adversary, dl.EntropyAtLeast) and problem.max_knowledge
    ]
    assert len(entropic) > 30
    for problem in entropic[:: draws(9, 1)]:
        prior_blocks(record_channels(problem)[0])


def prior_blocks(channel):
    p = prior(channel)
    w = p / p.sum(axis=1, keepdims=True)
    logs = np.where(w > 0.0, channel.log_uniform, 0.0)
    spread = np.sum(w * logs - np.where(w > 0.0, w * np.log(np.where(w > 0.0, w, 1.0)), 0.0), axis=1)
    bound = min(-channel.max_knowledge, float(np.log(np.exp(spread).sum())) - 1e-6)
    assert certified(MarginalUpdate(w @ channel.rows, spread, bound).solve(gap=1e-7))
    u = p @ channel.rows
    assert certified(
        PosteriorUpdate(channel.rows, channel.log_uniform, u / u.sum(axis=0), -channel.max_knowledge).solve(gap=1e-7)
    )


def test_mechanism_blocks():
    assert len(audits()) > 40
    for problem in list(audits().values())[:: -draws(15, 1)]:
        mechanism_blocks(problem)


def mechanism_blocks(problem):
    """On the model's own query: what is released where, under its uniform prior tilted, within budgets from tight to loose."""
    inputs = min(problem.shape[0], 40)
    rng = np.random.default_rng(5)
    priors = [p / p.sum() for p in (rng.dirichlet(np.full(inputs, 0.5), size=2) for _ in range(2))]
    law = sum(priors).sum(axis=0) / 2
    cost = law[:, None] * np.abs(np.subtract.outer(np.arange(inputs), np.arange(inputs)))
    most = cost.sum(axis=0).min()
    for share in (0.1, 0.9, 0.5)[: draws(1, 3)]:
        least = MinLeakageProgram(priors, cost, share * most).solve(gap=1e-7)
        assert certified(least)
        back = MinDistortionProgram(priors, cost, least.upper).solve(gap=1e-7)
        assert certified(back)
        assert back.lower <= share * most * (1.0 + 1e-6)
