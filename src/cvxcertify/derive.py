"""From a model of the modelling language to a conic instance in exact numbers, and which of the two a proof is about."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.affine_atom import AffAtom
from cvxpy.atoms.elementwise.power import Power
from cvxpy.atoms.geo_mean import GeoMean, GeoMeanApprox
from cvxpy.reductions import EvalParams, FlipObjective
from cvxpy.reductions.cvx_attr2constr import CvxAttr2Constr, recover_value_for_leaf
from cvxpy.reductions.dcp2cone.dcp2cone import Dcp2Cone
from cvxpy.reductions.eliminate_zero_sized import EliminateZeroSized
from flint import fmpq
from scipy.sparse import issparse

from cvxcertify.affine import CONSTANT, Exactly
from cvxcertify.errors import InputError, brief
from cvxcertify.instance import CONES, Floats, Instance, Terms, cones_of, triangle
from cvxcertify.parts import OBJECTIVE, Part

# Power cones as exponential ones, with exact weights.
#
# With weights a that add up to 1, |z| <= x_1^a_1 ... x_n^a_n if and only if there are t >= |z| and r with t exp(r_i / t) <= x_i and
# a r >= 0. For then the product is at least t exp(a r / t) >= t; and r_i = t log(x_i / t) will do, r = 0 where t is 0.


ONE = Fraction(1)
Weights = Mapping[float, Fraction | None]  # what doubles stand for; None: for one of several numbers


def weights_of(atoms: Collection[cp.Expression]) -> Weights:
    """The weights that the cones of these atoms have, of which the modelling language keeps the nearest doubles."""
    found: dict[float, Fraction | None] = {}
    for atom in atoms:
        listed: list[Fraction] = []
        if isinstance(atom, GeoMean):
            asked = [Fraction(float(weight)) for weight in atom.p]
            listed = [weight / sum(asked) for weight in asked]
        if isinstance(atom, Power | cp.Pnorm):
            p = Fraction(float(atom.p.value if isinstance(atom, Power) else atom.p))
            listed = [weight for weight in (p, 1 / (p or ONE), p / (p - 1 or ONE)) if 0 < weight < 1]
        for weight in listed:
            known = found.setdefault(float(weight), weight)
            found[float(weight)] = weight if known == weight else None
    return found


def exponential_cones(constraint: Any, weights: Weights | None) -> tuple[list[cp.Constraint], bool]:
    """Constraints that say the same, and whether their weights are exact; `weights` is None of a cone that the model itself has."""
    *bases, z = constraint.args
    doubles = np.asarray(constraint.alpha.value)
    if isinstance(constraint, cp.PowCone3D):
        bases, doubles = cp.vstack([cp.vec(base, order="F") for base in bases]), doubles.reshape(1, -1, order="F")
    else:
        bases = bases[0].T if constraint.axis == 1 else cp.reshape(bases[0], (len(doubles), z.size), order="F")
        doubles = doubles.T if constraint.axis == 1 else doubles.reshape(len(doubles), -1)
    t, r = cp.Variable(z.size), cp.Variable(bases.shape)
    columns, exact = [], True
    for column in doubles.T.tolist():
        known = [Fraction(a) if weights is None else weights.get(a) for a in column]
        listed = [Fraction(a) if weight is None else weight for a, weight in zip(column, known, strict=True)]
        listed += [1 - listed[0]] if isinstance(constraint, cp.PowCone3D) else []
        halves = [_halves(weight, math.lcm(*(each.denominator for each in listed))) for weight in listed]
        exact = exact and None not in known and sum(listed) == 1 and all(whole for _, _, whole in halves)
        columns.append(halves)
    high, low, _ = np.array(columns).T
    total = cp.sum(cp.multiply(high, r), axis=0) + cp.sum(cp.multiply(low, r), axis=0)
    z = cp.vec(z, order="F")
    return [cp.ExpCone(r, cp.vstack([t] * len(high)), bases), total >= 0, z <= t, -t <= z], exact


def _halves(weight: Fraction, common: int) -> tuple[float, float, bool]:
    """Two doubles whose sum is a weight times the common denominator, up to a power of two, and whether it is exactly."""
    whole = int(weight * common)
    high = float(whole)
    low = float(whole - int(high))
    shift = -common.bit_length()
    return math.ldexp(high, shift), math.ldexp(low, shift), int(high) + int(low) == whole


Ranges = Mapping[cp.Variable, tuple[object, object]]
Form = tuple[str, list[Terms]]  # the kind of a cone and its members as affine forms
Home = tuple[str, bool]  # the name of a part of the model, and whether a constraint says it, or an atom in it needs it
LONGEST = 60  # characters of a name
EXACT = {  # atoms that are no affine ones and whose cones say what the atom says, without a number that is rounded
    "GeoMean", "GeoMeanApprox", "MatrixFrac", "PnormApprox", "Pnorm", "PowerApprox", "Power", "abs", "cummax", "entr", "exp",
    "huber", "kl_div", "lambda_max", "log", "log1p", "log_det", "log_sum_exp", "logistic", "max", "maximum", "min", "minimum",
    "norm1", "normNuc", "norm_inf", "quad_over_lin", "rel_entr", "sigma_max", "sum_largest", "tr_inv", "xexp",
}  # fmt: skip


class Claim(Enum):
    """Subject of an interval."""

    MODEL = "model"
    CONIC_FORM = "conic form"

    @property
    def meaning(self) -> str:
        """In a sentence."""
        return {
            Claim.MODEL: "the optimal value of the model as written, every number the double that it is",
            Claim.CONIC_FORM: "the optimal value of the conic form that cvxpy makes of the model, with the numbers that it computes",
        }[self]


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive columns that make up a variable of the conic form, row by row; `own` is the model's, None if it has none such."""

    variable: cp.Variable
    own: cp.Variable | None
    columns: range


@dataclass(frozen=True, eq=False)
class Derived:
    """The instance of a model and the way back.

    Attributes
    ----------
    instance : Instance
        A minimisation; of a model that maximises, the objective is negated.
    maximises : bool
    claim : Claim
    rounded : tuple of str
        The atoms because of which the claim is about the conic form.
    blocks : tuple of Block
        What the columns are.
    parts : tuple of Part
        Whose the rows are: the objective's, each constraint's, those of variables with attributes.
    """

    instance: Instance
    maximises: bool
    claim: Claim
    rounded: tuple[str, ...]
    blocks: tuple[Block, ...]
    parts: tuple[Part, ...]

    def own(self, column: int) -> bool:
        """True if a column belongs to a variable of the model, and not to one that only the conic form has."""
        return any(block.own is not None and column in block.columns for block in self.blocks)

    def values(self, x: Floats) -> dict[str, Floats]:
        """The model's own variables by name; of several with one name, all but the first get a number."""
        found: dict[str, Floats] = {}
        for block in self.blocks:
            if block.own is not None:
                value = x[block.columns.start : block.columns.stop].reshape(block.variable.shape)
                whole = recover_value_for_leaf(block.own, value, project=False)
                found[unused(block.own.name(), found)] = np.asarray(whole.toarray() if issparse(whole) else whole)
        return found


def unused(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken."""
    return next(text for text in (name, *(f"{name}_{k}" for k in range(2, len(taken) + 3))) if text not in taken)


def derived(problem: cp.Problem, ranges: Ranges | None = None) -> Derived:
    """The conic instance of a model whose numbers are there.

    Raises
    ------
    InputError
        If it is no problem, not DCP, has integer or complex variables, none at all, a parameter without a value, a number that is
        not finite, or needs a cone that is not offered.
    """
    problem = _with_ranges(_checked(problem), ranges or {})
    maximises = isinstance(problem.objective, cp.Maximize)
    atoms = _atoms(problem)
    names, taken = dict[str, cp.Constraint](), {OBJECTIVE, *map(_declared, problem.variables())}
    for constraint in problem.constraints:
        name = unused(_called(constraint), taken)
        taken.add(name)
        names[name] = constraint
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about how cvxpy reads values of its own
        reduced, new, homes = _reduced(problem, maximises, list(names))
        doubts = {type(atom).__name__ for atom in atoms if not _known(atom)}
        own = {new.get(variable.id, variable).id: variable for variable in problem.variables()}
        constraints = list(_at_home(reduced, homes, own, weights_of(atoms), doubts))
        reduced = cp.Problem(reduced.objective, [constraint for constraint, _ in constraints])
    variables = _ordered(reduced, problem, new)
    starts, count = {}, 0
    for variable in variables:
        starts[variable.id] = count
        count += variable.size
    read = Exactly(starts)
    (objective,) = read.forms(reduced.objective.expr)
    members = sorted(
        ((*form, home) for constraint, home in constraints for form in _forms(constraint, read)),
        key=lambda form: CONES.index(form[0]),
    )
    rows = [form for _, forms, _ in members for form in forms]
    rounded = tuple(sorted(doubts | read.rounded))
    instance = Instance(
        c=tuple(objective.get(j, fmpq(0)) for j in range(count)),
        offset=objective.get(CONSTANT, fmpq(0)),
        rows=tuple({j: x for j, x in row.items() if j != CONSTANT} for row in rows),
        b=tuple(row.get(CONSTANT, fmpq(0)) for row in rows),
        cones=cones_of([(kind, forms) for kind, forms, _ in members]),
        names=tuple(name for variable in variables for name in _names(variable, own.get(variable.id))),
    )
    blocks = tuple(
        Block(variable, own.get(variable.id), range(starts[variable.id], starts[variable.id] + variable.size))
        for variable in variables
    )
    places: dict[Home, list[int]] = {}
    for row, home in enumerate(home for _, forms, home in members for _ in forms):
        places.setdefault(home, []).append(row)
    parts = tuple(
        Part(name, names.get(name), *(tuple(places.get((name, said), ())) for said in (True, False)))
        for name in dict.fromkeys(name for name, _ in places)
    )
    return Derived(instance, maximises, Claim.CONIC_FORM if rounded else Claim.MODEL, rounded, blocks, parts)


def _reduced(
    problem: cp.Problem, maximises: bool, names: Sequence[str]
) -> tuple[cp.Problem, Mapping[int, cp.Variable], dict[int, Home]]:
    """A minimisation over cones whose members are affine, the variables that it has for the model's, and whose its constraints are.

    The modelling language keeps the numbers of a model's constraints, and puts in front of each the cones that its atoms need.
    """
    reduced = EvalParams().apply(problem)[0] if problem.parameters() else problem
    reduced = FlipObjective().apply(reduced)[0] if maximises else reduced
    ahead = len(Dcp2Cone(quad_obj=False).apply(cp.Problem(reduced.objective))[0].constraints)
    reduced, own = Dcp2Cone(quad_obj=False).apply(reduced)[0], {constraint.id for constraint in problem.constraints}
    homes, left = {constraint.id: (OBJECTIVE, False) for constraint in reduced.constraints[:ahead]}, list(names[::-1])
    for constraint in reduced.constraints[ahead:]:
        homes[constraint.id] = left[-1], constraint.id in own
        if constraint.id in own:
            left.pop()
    reduced, back = CvxAttr2Constr(reduce_bounds=True).apply(reduced)
    return EliminateZeroSized().apply(reduced)[0], back[0] if back else {}, homes


def _at_home(
    reduced: cp.Problem, homes: Mapping[int, Home], own: Mapping[int, cp.Variable], weights: Weights, doubts: set[str]
) -> Iterator[tuple[cp.Constraint, Home]]:
    """The constraints and whose they are, with exponential cones for power cones."""
    for constraint in reduced.constraints:
        home = homes.get(constraint.id)
        if home is None:  # it says what an attribute says of a variable, the model's or one of an atom
            variable = constraint.variables()[0]
            known = (
                homes.get(each.id) for each in reduced.constraints if variable.id in {v.id for v in each.variables()}
            )
            home = (
                (_declared(own[variable.id]), True)
                if variable.id in own
                else (next((each[0] for each in known if each), OBJECTIVE), False)
            )
        if not isinstance(constraint, cp.PowCone3D | cp.PowConeND):
            yield constraint, home
            continue
        said, exact = exponential_cones(constraint, None if home[1] else weights)
        doubts |= set() if exact else {type(constraint).__name__}
        yield from ((each, (home[0], False)) for each in said)


def _declared(variable: cp.Variable) -> str:
    return f"{variable.name()}, as declared"


def _called(constraint: cp.Constraint) -> str:
    """The constraint's label, or how it is written."""
    text = " ".join(str(constraint).split()) if constraint.label is None else constraint.label
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _checked(problem: object) -> cp.Problem:
    if not isinstance(problem, cp.Problem):
        raise InputError(f"certify: expected a cvxpy.Problem, got {brief(problem)}")
    if not problem.variables():
        raise InputError("certify: the problem has no variables; its value is what cvxpy says")
    for variable in problem.variables():
        if variable.attributes["boolean"] or variable.attributes["integer"]:
            raise InputError(
                f"certify: variable {variable.name()} is integer; certify is for convex problems; relax it"
            )
        if variable.is_complex():
            raise InputError(
                f"certify: variable {variable.name()} is complex; write its real and imaginary parts as variables"
            )
    for parameter in problem.parameters():
        if parameter.value is None:
            raise InputError(f"certify: parameter {parameter.name()} has no value; set it")
    if not problem.is_dcp():
        parts = [
            ("the objective", problem.objective),
            *((f"constraint {k}", x) for k, x in enumerate(problem.constraints)),
        ]
        wrong = next((f"{what}, {brief(str(part))}," for what, part in parts if not part.is_dcp()), "the problem")
        raise InputError(
            f"certify: {wrong} is not DCP; write it with convex atoms of cvxpy (https://www.cvxpy.org/tutorial/dcp)"
        )
    return problem


def _with_ranges(problem: cp.Problem, ranges: Ranges) -> cp.Problem:
    """The problem with these bounds as constraints."""
    known, more = {variable.id for variable in problem.variables()}, []
    for variable, ends in ranges.items():
        if not isinstance(variable, cp.Variable) or variable.id not in known:
            raise InputError(f"ranges: expected variables of the problem, got {brief(variable)}")
        if not isinstance(ends, tuple | list) or len(ends) != 2:
            raise InputError(f"ranges: expected (low, high) for {variable.name()}, got {brief(ends)}")
        try:
            low, high = (np.broadcast_to(np.asarray(end, dtype=float), variable.shape) for end in ends)
        except (TypeError, ValueError):
            raise InputError(
                f"ranges: expected numbers, or arrays of shape {variable.shape}, for {variable.name()}"
            ) from None
        if not (np.all(np.isfinite(low)) and np.all(np.isfinite(high)) and np.all(low <= high)):
            raise InputError(f"ranges: expected finite numbers, low <= high, for {variable.name()}")
        more += [variable >= low, variable <= high]
    return cp.Problem(problem.objective, [*problem.constraints, *more]) if more else problem


def _atoms(problem: cp.Problem) -> list[cp.Expression]:
    """The atoms of the model that are not affine in its variables."""
    parts = [problem.objective.expr, *(arg for constraint in problem.constraints for arg in constraint.args)]
    found: dict[int, cp.Expression] = {}
    while parts:
        part = parts.pop()
        if id(part) not in found and not part.is_affine():
            found[id(part)] = part
            parts += part.args if _known(part) else ()
    return list(found.values())


def _known(atom: cp.Expression) -> bool:
    """True if an atom's cones say exactly what it says, as far as is known here."""
    return isinstance(atom, AffAtom) or (type(atom).__name__ in EXACT and _as_asked(atom))


def _as_asked(atom: cp.Expression) -> bool:
    """True if an atom with an exponent, or weights, has the very one that was asked for."""
    if isinstance(atom, cp.Pnorm):
        return Fraction(atom.p) == Fraction(getattr(atom, "original_p", atom.p))
    if isinstance(atom, Power):
        return Fraction(atom.p_used) == Fraction(float(atom.p.value))
    if isinstance(atom, GeoMeanApprox):
        asked = [Fraction(float(weight)) for weight in atom.p]
        return [Fraction(weight) * sum(asked) for weight in atom.w] == asked
    return True


def _ordered(reduced: cp.Problem, problem: cp.Problem, new: Mapping[int, cp.Variable]) -> list[cp.Variable]:
    """The model's own variables, in its order, then the others; those that no row and no cost mentions are left out."""
    there = {variable.id: variable for variable in reduced.variables()}
    own = [new.get(variable.id, variable).id for variable in problem.variables()]
    first = [there[key] for key in own if key in there]
    return first + [variable for key, variable in there.items() if key not in set(own)]


def _names(variable: cp.Variable, own: cp.Variable | None) -> Iterator[str]:
    """A name an entry; those of a matrix that is kept by its upper triangle, say, count along the kept entries."""
    name = variable.name() if own is None else own.name()
    for place in np.ndindex(*variable.shape):
        yield name + (f"[{', '.join(str(int(k)) for k in place)}]" if place else "")


# ---------------------------------------------------------------- cones


def _forms(constraint: Any, read: Exactly) -> Iterator[Form]:
    """The cones of a constraint."""
    make = MAKERS.get(type(constraint).__name__)
    if make is None:
        kind = type(constraint).__name__
        raise InputError(
            f"certify: the model needs {kind}, and only zero, nonnegative, second-order, exponential and semidefinite cones are "
            "offered; write it with other atoms"
        )
    yield from make(constraint, read)


def _linear(kind: str, sign: int) -> Callable[[Any, Exactly], Iterator[Form]]:
    def make(constraint: Any, read: Exactly) -> Iterator[Form]:
        expression = constraint.args[0] if len(constraint.args) == 1 else constraint.args[0] - constraint.args[1]
        for form in read.forms(expression):
            yield kind, [{j: sign * x for j, x in form.items()}]

    return make


def _second_order(constraint: Any, read: Exactly) -> Iterator[Form]:
    t, X = constraint.args
    heads, members = read.forms(t), read.forms(X.T if constraint.axis == 1 else X)
    size = len(members) // len(heads)
    for k, head in enumerate(heads):
        yield "second-order", [head, *members[k * size : (k + 1) * size]]


def _exponential(constraint: Any, read: Exactly) -> Iterator[Form]:
    for triple in zip(*(read.forms(part) for part in constraint.args), strict=True):
        yield "exponential", list(triple)


def _semidefinite(constraint: Any, read: Exactly) -> Iterator[Form]:
    """Of a matrix that is not symmetric its symmetric part, as the modelling language has it."""
    expression = constraint.args[0]
    size = expression.shape[-1]
    if expression.ndim > 2:
        raise InputError("certify: a stack of semidefinite matrices is not offered; write a constraint for each")
    forms, half = read.forms(expression), fmpq(1, 2)
    upper = []
    for i, j in triangle(size):
        entry: Terms = {}
        for form in (forms[i + size * j], forms[j + size * i]):
            for column, x in form.items():
                entry[column] = entry.get(column, fmpq(0)) + half * x
        upper.append({column: x for column, x in entry.items() if x})
    yield "semidefinite", upper


MAKERS: dict[str, Callable[[Any, Exactly], Iterator[Form]]] = {
    "Equality": _linear("zero", 1),
    "Zero": _linear("zero", 1),
    "Inequality": _linear("nonnegative", -1),
    "NonPos": _linear("nonnegative", -1),
    "NonNeg": _linear("nonnegative", 1),
    "SOC": _second_order,
    "ExpCone": _exponential,
    "PSD": _semidefinite,
}
