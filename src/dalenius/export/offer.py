"""Programs that a model offers, each at a point that the model alone determines, or a certificate of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Generic, TypeVar

import numpy as np

from dalenius.audits.ascent import search
from dalenius.designs import Terms
from dalenius.designs.envelope import Told
from dalenius.designs.exchange import OWN, Place, constrained_master
from dalenius.designs.exchange.goals import KnownPriors
from dalenius.designs.extreme import Rays
from dalenius.designs.oracle import block_masses, oracle_of
from dalenius.errors import InputError, brief
from dalenius.evidence import Certificate
from dalenius.evidence.lower import UNIFORM, PriorLine, TermLine
from dalenius.information import log_sum_exp, mutual_information, relative_entropy
from dalenius.information.arrays import Floats
from dalenius.information.law_classes import GivenChannel, worst_law
from dalenius.information.measures import PriorClass
from dalenius.information.measures.numbers import doubles
from dalenius.model import (
    Adversary,
    DesignProblem,
    IndependentBlocks,
    MaxInformation,
    MinDistortion,
    PriorSet,
    Problem,
    SecretLeakage,
    WorstCaseLeakage,
    digest,
)
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.model.privacy import Privacy
from dalenius.programs import (
    ConditionalUpdate,
    MarginalUpdate,
    MinDistortionProgram,
    MinLeakageProgram,
    MostInformation,
    NodeRelaxation,
    PosteriorUpdate,
    PrivateDistortionProgram,
    Program,
    RowUpdate,
)
from dalenius.programs.mechanism_update import MechanismUpdate
from dalenius.programs.pairs import Pairs
from dalenius.programs.written import Written, of_class, of_record, of_release
from dalenius.reduction import (
    AggregatedRecord,
    Completions,
    Orbits,
    Selections,
    cells_of_secrets,
    dataset_pairs,
    record_channels,
    record_completions,
    record_selections,
)
from dalenius.search import Clock

CEILING = 1e100  # of e^epsilon
KNOWLEDGE = 0.9  # share of the adversary's knowledge that a default prior uses
STARTS, STALL = 12, 1e-9  # of the search for it, and the nats that ten of its steps must gain
BLUR = 0.1  # share of the best constant mechanism in the first one that a default master program's priors learn from
ROUNDS, SOLVED = 2, 1e-4  # of the exchange that finds them, and the gap of its programs
FEW = 6  # starts of its search for priors
INFORMATION = "mutual_information"
PIECES = 5  # blocks that offer programs
MOST_ATOMS = 2**10  # of a law in a program as it is written
Kind = TypeVar("Kind", Completions, Selections)
Made = TypeVar("Made", bound=Program | Written, covariant=True)


@dataclass(frozen=True)
class Offer(Generic[Made]):
    """A program that a model offers: `name` is what the command line takes, `what` says which it is, `make` builds it."""

    name: str
    what: str
    make: Callable[[], Made] = field(repr=False)


def offers(problem: Problem, certificate: Certificate | None = None) -> list[Offer[Program]]:
    """The programs that a model offers.

    A leakage model against an entropy bound offers, for every kind of record, the programs of one alternating step at a prior
    p(a,k), and the relaxation without a box. The prior is the certificate's witness; without one it is the best prior that our ascent
    finds for an adversary with nine tenths of the knowledge, log |X| - b: solved, but with entropy to spare, so that the
    programs have interior points. Against independent records it offers the capacity of the rows that a record's letters select, and
    against independent blocks, of which each is an audit against an entropy bound, the programs of the first few.

    A min_distortion or max_information model under a privacy notion offers the linear program that it is. Any other design model,
    and any with constraints (whose rows are in it, but no limits of leakage to further adversaries) or an objective of several terms,
    offers the master program of its exchange. Its priors are those of the certificate's bound; without one those that an exchange of
    two rounds without constraints finds, which begins with the mechanism of least distortion, a tenth of it blurred; or all the listed
    priors.

    Default points are searched for when a program is made, from fixed random starts and without a clock: the same ones every time.

    Raises
    ------
    InputError
        If the certificate is not of this model, or its priors cannot be read.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(
    ...     records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast("1.0 nats"))
    >>> [offer.name for offer in offers(problem)]
    ['marginal', 'conditional', 'posterior', 'row', 'node']
    """
    if not isinstance(problem, Problem):
        raise InputError(f"problem: expected a model, got {brief(problem)}; load reads one from a file or the library")
    if not isinstance(certificate, Certificate | None):
        raise InputError(f"certificate: expected a Certificate, got {brief(certificate)}; Certificate.read reads one")
    if certificate is not None and certificate.header.model != digest(problem):
        raise InputError("certificate: it is of another model")
    if isinstance(problem, DesignProblem):
        if not problem.plain:
            return [_constrained(problem, certificate)]
        if isinstance(problem, MinDistortion) and problem.privacy is not None:
            return [_private(problem, problem.privacy)]
        return [_master(problem, certificate)]
    if isinstance(problem, MaxInformation):
        return [] if problem.privacy is None else [_most(problem, problem.privacy)]
    if not isinstance(problem, WorstCaseLeakage):
        return []
    if problem.bound is not None:
        found = list[Offer[Program]]()
        witness = None if certificate is None else _witness(certificate)
        for number, channel in enumerate(record_channels(problem)):
            at = "" if number == 0 else f"@{channel.record}"
            masses = None
            if witness is not None and witness[0] == channel.record and witness[1] is not None:
                masses = _folded(channel, witness[1])
            found += _of_channel(_Point(channel, masses), at)
        return found
    if problem.adversary.in_blocks:
        return _of_blocks(problem)
    return _of_products(problem) if problem.adversary.all_products else []


def subproblem(problem: Problem, block: str, certificate: Certificate | None = None) -> Program:
    """One convex block of a model, as a cvxpy problem whose data are parameters and whose every answer is certified.

    What solves it is up to you: `solve`, any solver through `Program.problem`, with constraints of your own added to
    ``program.problem.constraints``, or none, by `Program.certify`. docs/subproblems.md shows each block.

    Parameters
    ----------
    problem : Problem
    block : str
        Of an audit ``"marginal"``, ``"conditional"``, ``"posterior"``, ``"row"`` or ``"node"``, with ``@2`` of record 2, if it is of
        another kind; of a design ``"master"``, its mechanism update, or ``"linear"`` under a privacy notion. `offers` lists them.
    certificate : Certificate, optional
        At whose prior, or priors, the block stands; by default at those that a short search finds (`offers`).

    Returns
    -------
    Program
        With `problem`, `variables`, `parameters` and `constraints` by name, and `set` for other data.

    Raises
    ------
    InputError
        If the model does not have this block, or it cannot be built, or the certificate is of another model.

    >>> import dalenius as dl
    >>> design = dl.MinLeakage(records=dl.Records(2, alphabet=2), query="sum", adversary="0.5 max", distortion="absolute",
    ...     law="uniform", max_distortion=0.5)
    >>> update = subproblem(design, "master")
    >>> sorted(update.parameters), update.solve().gap < 1e-7
    (['budget', 'cost', 'masses'], True)
    """
    known = {offer.name: offer for offer in offers(problem, certificate)}
    if not known:
        raise InputError(f"program: none is offered: {problem.no_program}")
    if block not in known:
        bent = {offer.name: ", which is not convex, so that no answer to it is read back" for offer in written(problem)}
        raise InputError(f"program: expected one of {', '.join(known)}; got {brief(block)}{bent.get(block, '')}")
    return known[block].make()


# ---------------------------------------------------------------- programs as they are written


def written(problem: Problem) -> list[Offer[Written]]:
    """The nonlinear programs that a model is, as it is written, one for each kind of record or secret: for global solvers, as .nl.

    Audits against an entropy bound; against a class of laws, for the rows that reveal most of those that a record's letters select;
    about secrets, under a class of laws of the dataset; funnels and bottlenecks where both measures are informations, or the secret is
    guessed. None where a law would have more than 1,024 numbers.

    >>> import dalenius as dl
    >>> [offer.name for offer in written(dl.load("sum/unequal-alphabets"))]
    ['problem', 'problem@1']
    """
    if isinstance(problem, MaxInformation):
        return _written_release(problem) if problem.privacy is None else []
    found = list[tuple[int, int, Callable[[], Written]]]()
    if isinstance(problem, SecretLeakage):
        if problem.adversary.all_products or problem.adversary.listed:
            return []
        for cells in cells_of_secrets(problem):
            given = cells.cells, problem.channel[cells.inputs], cells.given_of_cell
            of_data = problem.adversary.laws(problem.records)
            found.append((cells.secret, len(cells.inputs), partial(of_class, *given, of_data)))
    elif not isinstance(problem, WorstCaseLeakage):
        return []
    elif problem.bound is not None:
        for channel in record_channels(problem):
            found.append((channel.record, channel.log_uniform.size, partial(_written_record, channel)))
    elif (laws := problem.adversary.record_laws) is not None and not problem.adversary.in_blocks:
        for part in record_selections(problem) if problem.mechanism.written_out(problem.shape[0]) else ():
            found.append((part.record, part.letters, partial(_written_class, part.apply(problem.channel), laws)))
    first = found[0][0] if found else 0
    return [
        Offer("problem" if k == first else f"problem@{k}", f"as it is written, {size} probabilities; number {k}", make)
        for k, size, make in found
        if size <= MOST_ATOMS
    ]


def _written_record(channel: AggregatedRecord) -> Written:
    some = np.isfinite(channel.log_uniform)
    logs = channel.log_uniform[some]
    return of_record([channel.rows[own] for own in some], logs, channel.max_knowledge, np.exp(logs))


def _written_class(selected: Floats, priors: PriorClass) -> Written:
    """For the selection (selections, letters, outputs) whose rows reveal most under some law of the class."""
    bounds = relative_entropy(selected, selected.mean(axis=1, keepdims=True)).max(axis=1)
    few = [selected[j] for j in np.argsort(-bounds)[:STARTS]]
    laws = [doubles(worst_law(GivenChannel.plain(rows), priors).law) for rows in few]
    worth = [float(mutual_information(law[:, None] * rows)) for law, rows in zip(laws, few, strict=True)]
    letters = np.arange(selected.shape[1])
    return of_class(letters, few[int(np.argmax(worth))], np.zeros_like(letters), priors)


def _written_release(problem: MaxInformation) -> list[Offer[Written]]:
    told = Told.of_law(problem.joint, problem.told), Told.of_law(problem.secret, problem.limited)
    if told[0].measure != INFORMATION or told[1].measure not in (INFORMATION, "guessing"):
        return []
    guessed, most = told[1].measure != INFORMATION, problem.limit.limit_in_doubles
    made = partial(of_release, told[0].joint, told[1].joint, most, guessed=guessed)
    inputs = told[0].joint.shape[1]
    return [Offer("problem", f"as it is written, {inputs} inputs, {inputs + 1} outputs", made)]


# ---------------------------------------------------------------- programs of an audit


@dataclass(frozen=True)
class _Point:
    """A prior p(a,k) on a record channel and what programs are made of there: that of a witness, or one that is searched for."""

    channel: AggregatedRecord
    witness: Floats | None

    @cached_property
    def p(self) -> Floats:
        """The prior (letters, classes)."""
        if self.witness is not None:
            return self.witness
        easier = replace(self.channel, max_knowledge=KNOWLEDGE * self.channel.max_knowledge)
        found = search(easier, rng=np.random.default_rng(0), clock=Clock(), starts=STARTS, stall=STALL)
        pairs = Pairs("export", np.ones((len(self.channel.rows), 1)), self.log_counts)
        return pairs.enough(found.p / found.p.sum(), self.bound)

    @property
    def rows(self) -> Floats:
        return self.channel.rows

    @property
    def log_counts(self) -> Floats:
        """log N/|X|, whose exponentials have the sum 1: what rounding has left there would count as entropy to spare."""
        return _normalised(self.channel.log_uniform)

    @property
    def bound(self) -> float:
        """b - log |X|."""
        return -self.channel.max_knowledge

    @property
    def pi(self) -> Floats:
        """The law of the letters."""
        return self.p.sum(axis=1)

    @property
    def w(self) -> Floats:
        """The conditionals; uniform for letters without mass."""
        pi, uniform = self.pi[:, None], Pairs("export", self.rows, self.log_counts).uniform_given_letter
        return np.where(pi > 0.0, self.p / np.where(pi > 0.0, pi, 1.0), uniform)

    @property
    def phi(self) -> Floats:
        """The posteriors (letters, outputs); uniform where an output has no mass."""
        u = self.p @ self.rows
        law = u.sum(axis=0)
        return np.where(law > 0.0, u / np.where(law > 0.0, law, 1.0), 1.0 / len(u))

    def marginal(self) -> Program:
        spread = Pairs("marginal", self.rows, self.log_counts).entropies(self.w)
        return MarginalUpdate(self.w @ self.rows, spread, self.bound)

    def conditional(self) -> Program:
        return ConditionalUpdate(self.rows, self.log_counts, self.pi, self.w, self.bound)

    def posterior(self) -> Program:
        return PosteriorUpdate(self.rows, self.log_counts, self.phi, self.bound)

    def row(self) -> Program:
        return RowUpdate(self.rows, self.log_counts, 0, self.pi, self.w, self.bound)

    def node(self) -> Program:
        return NodeRelaxation(self.rows, self.log_counts, self.bound)


def _of_channel(point: _Point, at: str) -> list[Offer[Program]]:
    channel = point.channel
    letters, (classes, outputs) = channel.letters, channel.rows.shape
    about = f"record {channel.record}, {letters} letters, {classes} classes, {outputs} outputs"
    return [
        Offer(f"marginal{at}", f"best letter law for fixed conditionals; {about}", point.marginal),
        Offer(f"conditional{at}", f"best conditionals for a fixed letter law, linearised; {about}", point.conditional),
        Offer(f"posterior{at}", f"best prior for fixed posteriors; {about}", point.posterior),
        Offer(f"row{at}", f"best conditional of letter 0, relaxed by secants; {about}", point.row),
        Offer(f"node{at}", f"relaxation of the whole problem, without a box; {about}", point.node),
    ]


def _of_blocks(problem: WorstCaseLeakage) -> list[Offer[Program]]:
    """Those of the audits of one block each; of the first without a suffix, of others with its record and the others' total."""
    found = list[Offer[Program]]()
    for piece, audit in problem.pieces[:PIECES]:
        at = f"@{piece.first}" + ("" if piece.written is None else f"+{piece.written}")
        try:
            own = offers(audit)
        except InputError:  # no matrix
            continue
        found += [
            replace(offer, name=offer.name + at if found else offer.name) for offer in own if "@" not in offer.name
        ]
    return found


def _normalised(log_uniform: Floats) -> Floats:
    """log N/|X|, whose exponentials have the sum 1: what rounding has left there would count as entropy to spare."""
    return log_uniform - log_sum_exp(log_uniform.ravel())


def _witness(certificate: Certificate) -> tuple[int, Any]:
    """Record and weights of the certificate's witness; None for the weights where it has none."""
    try:
        word, record, weights = json.loads(certificate.text.split("\n", 2)[1])
    except (ValueError, TypeError, IndexError, RecursionError):
        word = ""
    if word != "witness":
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
    return masses / masses.sum()


def _of_products(problem: WorstCaseLeakage) -> list[Offer[Program]]:
    found = list[Offer[Program]]()
    for number, part in enumerate(record_selections(problem)):
        K = part.apply(problem.channel)[0]
        name = "marginal" if number == 0 else f"marginal@{part.record}"
        what = f"capacity of the rows that the letters select first; record {part.record}, {len(K)} letters"
        found.append(Offer(name, what, partial(MarginalUpdate, K, np.zeros(len(K)), 0.0)))
    return found


# ---------------------------------------------------------------- programs of a design


def _private(problem: MinDistortion, privacy: Privacy) -> Offer[Program]:
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


def _most(problem: MaxInformation, privacy: Privacy) -> Offer[Program]:
    what = (
        f"{privacy.kind}, epsilon {privacy.epsilon}, {problem.input_count} inputs, by extreme rays of private columns"
    )
    return Offer("linear", what, partial(_most_program, problem))


def _most_program(problem: MaxInformation) -> Program:
    """Over all rays, and the column that reveals nothing."""
    factor = problem.notion.factor()[1]
    if factor > CEILING:
        raise InputError(f"program: e^epsilon is above {float(CEILING):g}, which no solver works with; lower epsilon")
    silent = np.ones((1, problem.input_count))
    columns = np.vstack([silent, Rays.of(problem, float(factor)).values])
    return MostInformation(columns, Told.of_law(problem.joint, problem.told).of(columns))


def _master(problem: DesignProblem, certificate: Certificate | None) -> Offer[Program]:
    sizes = f"{problem.input_count} inputs, {problem.output_count} outputs"
    if certificate is None:
        what = f"{problem.kind} for the priors of {ROUNDS} rounds, {sizes}"
        return Offer("master", what, lambda: _master_program(problem, list(_solved_priors(problem))))
    priors = list(_certified_priors(problem, certificate))
    what = f"{problem.kind} for {len(priors)} priors, {sizes}"
    return Offer("master", what, partial(_master_program, problem, priors))


def _master_program(problem: DesignProblem, priors: list[Floats]) -> MechanismUpdate:
    if not priors:
        raise InputError("program: no record of the model has two letters, so that there is nothing to leak")
    return _on_costs(problem, problem.input_law[:, None] * problem.cost, problem.tied, priors, changing=True)


def _on_costs(
    problem: DesignProblem, cost: Floats, tied: TiedEntries, priors: list[Floats], *, changing: bool = False
) -> MechanismUpdate:
    """Over these priors, on inputs or on orbits."""
    if problem.leakage_budget is not None:
        return MinDistortionProgram(priors, cost, problem.leakage_budget, tied=tied, changing=changing)
    return MinLeakageProgram(priors, cost, float(problem.budget), tied=tied, changing=changing)


def _solved_priors(problem: DesignProblem) -> Iterator[Floats]:
    """Priors of an exchange after some rounds: those that learn most from its mechanisms, with their images."""
    orbits = Orbits.of(problem)
    tied, known = problem.mechanism_class.tied(*orbits.cost.shape), KnownPriors(orbits)
    costs = tied.sums(orbits.cost)
    oracle = oracle_of(problem, orbits.completions, np.random.default_rng(0))
    Q = tied.expand((1.0 - BLUR) * tied.cheapest(costs) + BLUR * np.array(tied.constant(costs), dtype=float))
    for _ in range(ROUNDS):
        if not known.add(oracle.worst_priors(Q, [], Clock(), FEW)):
            break
        program = _on_costs(problem, orbits.cost, tied, [prior.masses for prior in known.priors])
        Q = program.mechanism(program.solve(gap=SOLVED).point)
    for prior in known.priors:
        placed = orbits.lift(prior.record, prior.masses, np.zeros((len(prior.masses), problem.output_count)))
        yield from (masses for _, masses, _ in placed)


def _constrained(problem: DesignProblem, certificate: Certificate | None) -> Offer[Program]:
    """The master with all rows of the constraints, and the objective."""
    priors = dict[Place, list[Floats]]()
    if problem.adversary is not None and certificate is None:
        priors[OWN] = list(_solved_priors(problem))
    for line in () if certificate is None else certificate.lower_lines():
        if isinstance(line, PriorLine) and problem.adversary is not None:
            priors.setdefault(OWN, []).append(_certified(problem, problem.adversary, line))
        elif isinstance(line, TermLine) and problem.objective is not None:
            adversary = Terms.of(problem).adversaries[line.term]
            priors.setdefault(Place("term", line.term), []).append(_certified(problem, adversary, line))
    known, terms = sum(map(len, priors.values())), "" if problem.objective is None else " and an objective"
    what = f"{problem.kind} with {len(problem.constraints)} constraints{terms}, for {known} priors, {problem.input_count} inputs"
    return Offer("master", f"{what}, {problem.output_count} outputs", partial(constrained_master, problem, priors))


def _listed(problem: DesignProblem, adversary: PriorSet, record: int, j: int) -> Floats:
    """A listed prior's masses on (letter of a record, input)."""
    pairs = dataset_pairs(problem, record)
    masses = pairs.table(pairs.apply(np.asarray(adversary.weights[j], dtype=float)))
    return masses / masses.sum()


def _certified_priors(problem: DesignProblem, certificate: Certificate) -> Iterable[Floats]:
    """The priors of the certificate's bound from below."""
    lines = [line for line in certificate.lower_lines() if isinstance(line, PriorLine)]
    if not lines:
        raise InputError("certificate: it lists no priors; leave it out for the default ones")
    for line in lines:
        yield _certified(problem, problem.against("a prior"), line)


def _certified(problem: DesignProblem, adversary: Adversary, line: PriorLine | TermLine) -> Floats:
    """The prior of a line, which is one of this adversary's."""
    try:
        return _written(problem, adversary, line.record, line.prior)
    except InputError:
        raise
    except (ValueError, TypeError, IndexError, KeyError):
        raise InputError(f"certificate: {brief(line)} is no line of a prior of this model") from None


def _written(problem: DesignProblem, adversary: Adversary, record: int, written: Any) -> Floats:
    """A prior as the line of a certificate writes it."""
    if adversary.bound is not None:
        if written == UNIFORM:
            return _kind(record_completions(problem), record).uniform
        return _masses(written, (problem.records.alphabets[record], problem.input_count))
    if isinstance(adversary, IndependentBlocks):
        return block_masses(problem, adversary, record, written)
    if isinstance(adversary, PriorSet):
        return _listed(problem, adversary, record, written)
    (j, weights), selections = written, _kind(record_selections(problem), record)
    if vertices := getattr(adversary, "vertices", ()):  # of a polytope the weights are theirs
        laws = np.array(vertices, dtype=float)
        law = _masses(weights, (len(laws),)) @ (laws / laws.sum(axis=1, keepdims=True))
    else:
        law = _masses(weights, (selections.letters,))
    return selections.lift(j, law)


def _kind(parts: Iterable[Kind], record: int) -> Kind:
    """The kind of record with this first record; `KeyError` where there is none."""
    return {part.record: part for part in parts}[record]
