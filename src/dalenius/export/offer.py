"""Which programs a model offers, each at a point that the model alone determines, or a certificate of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from dalenius.designs.constrained import constrained_master
from dalenius.errors import InputError
from dalenius.evidence import Certificate
from dalenius.evidence.lines import UNIFORM, PriorLine
from dalenius.exact import brief
from dalenius.information import log_sum_exp
from dalenius.information.arrays import Floats
from dalenius.model import DesignProblem, MaximalLeakage, MinDistortion, Problem, digest
from dalenius.model.adversaries import EntropyAtLeast, PriorSet, ProductPriors
from dalenius.model.privacy import Privacy
from dalenius.programs import (
    ConditionalUpdate,
    MarginalUpdate,
    MinDistortionProgram,
    MinLeakageProgram,
    NodeRelaxation,
    PosteriorUpdate,
    PrivateDistortionProgram,
    Program,
    RowUpdate,
)
from dalenius.programs.pairs import Pairs
from dalenius.reduction import (
    AggregatedRecord,
    Completions,
    Selections,
    dataset_pairs,
    record_channels,
    record_completions,
    record_selections,
)

__all__ = ["Offer", "offered", "offers"]

CEILING = 1e100  # of e^epsilon
Kind = TypeVar("Kind", Completions, Selections)
SELECTIONS = 3  # of a kind of record that a master program gets by default, against independent records


@dataclass(frozen=True)
class Offer:
    """A program that a model offers: `name` is what the command line takes, `what` says which it is, `make` builds it."""

    name: str
    what: str
    make: Callable[[], Program]


def offers(problem: Problem, certificate: Certificate | None = None) -> list[Offer]:
    """The programs that a model offers.

    A maximal_leakage model against an entropy bound offers, for every kind of record, the programs of one alternating step at a prior
    p(a,k), and the relaxation without a box. The prior is the certificate's witness; without one it is the uniform prior times
    exp(a/(A-1) + 2k/(K-1)), for letter a of A and class k of K, moved towards the uniform one until it has enough entropy. Against
    independent records it offers the capacity of the rows that a record's letters select.

    A min_distortion model under a privacy notion offers the linear program that it is. Any other design model, and any with
    constraints (whose rows are in it, but no limits of leakage to further adversaries), offers the master
    program of its exchange. Its priors are those of the certificate's bound;
    without one, for every kind of record, that prior and the one with the exponent's sign turned, on the mechanism's inputs; the
    uniform law on the letters for the first three selections; or all the listed priors.

    Raises
    ------
    InputError
        If the certificate is not of this model, or its priors cannot be read.

    >>> import dalenius as dl
    >>> problem = dl.MaximalLeakage(
    ...     records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast(1.0))
    >>> [offer.name for offer in offers(problem)]
    ['marginal', 'conditional', 'posterior', 'row', 'node']
    """
    if certificate is not None and certificate.header.model != digest(problem):
        raise InputError("certificate: it is of another model")
    if isinstance(problem, DesignProblem) and problem.constraints:
        return [_constrained(problem, certificate)]
    if isinstance(problem, MinDistortion) and problem.privacy is not None:
        return [_private(problem, problem.privacy)]
    if isinstance(problem, DesignProblem):
        return [_master(problem, certificate)]
    assert isinstance(problem, MaximalLeakage)
    if isinstance(problem.adversary, EntropyAtLeast):
        return _of_entropy(problem, certificate)
    return _of_products(problem) if isinstance(problem.adversary, ProductPriors) else []


def offered(problem: Problem, name: str, certificate: Certificate | None = None) -> Program:
    """The program of this name.

    Raises
    ------
    InputError
        If the model does not offer it, or it cannot be built.
    """
    known = offers(problem, certificate)
    for offer in known:
        if offer.name == name:
            return offer.make()
    if not known:
        raise InputError(
            "program: the model offers none, because its adversary's priors are listed: they are evaluated"
        )
    raise InputError(f"program: expected one of {', '.join(offer.name for offer in known)}; got {brief(name)}")


# ---------------------------------------------------------------- programs of an audit


def _of_entropy(problem: MaximalLeakage, certificate: Certificate | None) -> list[Offer]:
    found = []
    witness = None if certificate is None else _witness(certificate)
    for number, channel in enumerate(record_channels(problem)):
        at = "" if number == 0 else f"@{channel.record}"
        point = _tilted(_normalised(channel.log_uniform), -channel.max_knowledge)
        if witness is not None and witness[0] == channel.record and witness[1] is not None:
            point = _folded(channel, witness[1])
        found += _of_channel(channel, point, at, problem)
    return found


def _of_channel(channel: AggregatedRecord, p: Floats, at: str, problem: MaximalLeakage) -> list[Offer]:
    R, N, b = channel.rows, _normalised(channel.log_uniform), -channel.max_knowledge
    pi = p.sum(axis=1)
    w = np.where(
        pi[:, None] > 0.0, p / np.where(pi > 0.0, pi, 1.0)[:, None], Pairs("export", R, N).uniform_given_letter
    )
    u = p @ R
    law = u.sum(axis=0)
    phi = np.where(law > 0.0, u / np.where(law > 0.0, law, 1.0), 1.0 / len(pi))
    about = f"record {channel.record}, {len(pi)} letters, {len(R)} classes, {R.shape[1]} outputs"
    return [
        Offer(f"marginal{at}", f"best letter law for fixed conditionals; {about}", partial(_marginal, R, N, w, b)),
        Offer(
            f"conditional{at}",
            f"best conditionals for a fixed letter law, linearised; {about}",
            partial(ConditionalUpdate, R, N, pi, w, b),
        ),
        Offer(f"posterior{at}", f"best prior for fixed posteriors; {about}", partial(PosteriorUpdate, R, N, phi, b)),
        Offer(
            f"row{at}",
            f"best conditional of letter 0, relaxed by secants; {about}",
            partial(RowUpdate, R, N, 0, pi, w, b),
        ),
        Offer(
            f"node{at}", f"relaxation of the whole problem, without a box; {about}", partial(NodeRelaxation, R, N, b)
        ),
    ]


def _normalised(log_uniform: Floats) -> Floats:
    """log N/|X|, whose exponentials have the sum 1: what rounding has left there would count as entropy to spare."""
    return log_uniform - log_sum_exp(log_uniform.ravel())


def _marginal(R: Floats, N: Floats, w: Floats, b: float) -> Program:
    return MarginalUpdate(w @ R, Pairs("marginal", R, N).entropies(w), b)


def _tilted(log_uniform: Floats, bound: float, sign: float = 1.0) -> Floats:
    """The uniform prior times exp(a/(A-1) + 2k/(K-1)), with enough entropy (relative to the uniform prior's)."""
    letters, classes = log_uniform.shape
    ramp = np.linspace(0.0, 1.0, letters)[:, None] + np.linspace(0.0, 2.0, classes)[None, :]
    pairs = Pairs("export", np.ones((classes, 1)), log_uniform)
    p = pairs.uniform * np.exp(sign * ramp)
    return pairs.enough(p / p.sum(), bound)


def _witness(certificate: Certificate) -> tuple[int, Any]:
    """Record and weights of the certificate's witness; None for the weights where it has none."""
    try:
        kind, record, weights = json.loads(certificate.text.split("\n", 2)[1])
    except (ValueError, TypeError, IndexError, RecursionError):
        kind = ""
    if kind != "witness":
        raise InputError("certificate: line 2 is no witness")
    return record, weights


def _folded(channel: AggregatedRecord, weights: Any) -> Floats:
    """Masses on (letter, class) out of a witness's weights on (letter, channel input)."""
    if weights == "uniform":
        return channel.uniform
    return channel.apply(_masses(weights, channel.completions.log_uniform.shape))


def _masses(weights: Any, shape: tuple[int, ...]) -> Floats:
    try:
        masses = np.array(weights, dtype=float)
    except (ValueError, TypeError, OverflowError):
        masses = np.zeros(0)
    if masses.shape != shape or not np.all((masses >= 0.0) & np.isfinite(masses)) or not 0.0 < masses.sum() < np.inf:
        raise InputError(f"certificate: expected weights {shape} of at least 0 for a prior, got {brief(weights)}")
    return np.asarray(masses / masses.sum())


def _of_products(problem: MaximalLeakage) -> list[Offer]:
    found = []
    for number, part in enumerate(record_selections(problem)):
        K = part.apply(problem.channel)[0]
        name = "marginal" if number == 0 else f"marginal@{part.record}"
        what = f"capacity of the rows that the letters select first; record {part.record}, {len(K)} letters"
        found.append(Offer(name, what, partial(MarginalUpdate, K, np.zeros(len(K)), 0.0)))
    return found


# ---------------------------------------------------------------- programs of a design


def _private(problem: MinDistortion, privacy: Privacy) -> Offer:
    what = f"{privacy.kind}, epsilon {privacy.epsilon}, {problem.input_count} inputs, {problem.output_count} outputs"
    return Offer("linear", what, partial(_private_program, problem, privacy))


def _private_program(problem: MinDistortion, privacy: Privacy) -> Program:
    """For the double next to e^epsilon."""
    if not problem.feasible:
        raise InputError(f"program: epsilon is negative ({privacy.epsilon}), so that no mechanism is private")
    factor = privacy.factor()[0]
    if factor > CEILING:
        raise InputError(f"program: e^epsilon is above {float(CEILING):g}, which no solver works with; lower epsilon")
    cost = problem.input_law[:, None] * problem.cost
    return PrivateDistortionProgram(cost, float(factor), problem.references, tied=problem.tied)


def _master(problem: DesignProblem, certificate: Certificate | None) -> Offer:
    priors = list(_default_priors(problem) if certificate is None else _certified_priors(problem, certificate))
    what = f"{problem.kind} for {len(priors)} priors, {problem.input_count} inputs, {problem.output_count} outputs"
    return Offer("master", what, partial(_master_program, problem, priors))


def _master_program(problem: DesignProblem, priors: list[Floats]) -> Program:
    cost = problem.input_law[:, None] * problem.cost
    if not priors:
        raise InputError("program: no record of the model has two letters, so that there is nothing to leak")
    if isinstance(problem, MinDistortion):
        return MinDistortionProgram(priors, cost, problem.max_leakage_nats, tied=problem.tied)
    return MinLeakageProgram(priors, cost, float(problem.budget), tied=problem.tied)


def _constrained(problem: DesignProblem, certificate: Certificate | None) -> Offer:
    """The master with all rows of the constraints."""
    priors = (
        []
        if problem.adversary is None
        else list(_default_priors(problem) if certificate is None else _certified_priors(problem, certificate))
    )
    what = f"{problem.kind} with {len(problem.constraints)} constraints, for {len(priors)} priors, {problem.input_count} inputs"
    return Offer("master", f"{what}, {problem.output_count} outputs", partial(constrained_master, problem, priors))


def _default_priors(problem: DesignProblem) -> Iterable[Floats]:
    if isinstance(problem.adversary, EntropyAtLeast):
        for part in record_completions(problem):
            for sign in (1.0, -1.0):
                yield _tilted(part.log_uniform, -problem.max_knowledge, sign)
    elif isinstance(problem.adversary, ProductPriors):
        for selections in record_selections(problem):
            for j in range(min(SELECTIONS, len(selections.inputs))):
                yield selections.lift(j, np.full(selections.letters, 1.0 / selections.letters))
    else:
        assert isinstance(problem.adversary, PriorSet)
        for record, size in enumerate(problem.records.alphabets):
            for j in range(len(problem.adversary.weights) if size > 1 else 0):
                yield _listed(problem, record, j)


def _listed(problem: DesignProblem, record: int, j: int) -> Floats:
    """A listed prior's masses on (letter of a record, input)."""
    assert isinstance(problem.adversary, PriorSet)
    weights = np.asarray(problem.adversary.weights[j], dtype=float)
    pairs = dataset_pairs(problem, record)
    masses = pairs.table(pairs.apply(weights))
    return np.asarray(masses / masses.sum())


def _certified_priors(problem: DesignProblem, certificate: Certificate) -> Iterable[Floats]:
    """The priors of the certificate's bound from below."""
    lines = [line for line in certificate.lower_lines() if isinstance(line, PriorLine)]
    if not lines:
        raise InputError("certificate: it lists no priors; leave it out for the default ones")
    for line in lines:
        try:
            prior = _written(problem, line.record, line.prior)
        except InputError:
            raise
        except (ValueError, TypeError, IndexError, KeyError):
            raise InputError(f"certificate: {brief(line)} is no line of a prior of this model") from None
        yield prior


def _written(problem: DesignProblem, record: int, written: Any) -> Floats:
    """A prior as the line of a certificate writes it."""
    if isinstance(problem.adversary, EntropyAtLeast):
        if written == UNIFORM:
            return _kind(record_completions(problem), record).uniform
        return _masses(written, (problem.records.alphabets[record], problem.input_count))
    if isinstance(problem.adversary, ProductPriors):
        (j, weights), selections = written, _kind(record_selections(problem), record)
        return selections.lift(j, _masses(weights, (selections.letters,)))
    return _listed(problem, record, written)


def _kind(parts: Iterable[Kind], record: int) -> Kind:
    """The kind of record with this first record; `KeyError` where there is none."""
    return {part.record: part for part in parts}[record]
