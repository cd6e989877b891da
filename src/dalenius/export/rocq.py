"""A certificate as a theorem: a file for Coq, or Rocq, that states the claim about the model as written (docs/formal.md).

What is written is proved by the theory in ``formal/``, whose checker reads the numbers of the certificate as hints. So nothing here
is trusted but the printing of the model and of the claim, which stand in the first lines of the file, to be read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Any, Final

from dalenius.errors import InputError, brief
from dalenius.evidence import Certificate
from dalenius.evidence.lower import UNIFORM, WitnessLine
from dalenius.evidence.upper import (
    ClassPart,
    Cut,
    ImageRow,
    JointLeaf,
    LettersLine,
    OutputLawLeaf,
    ProofLine,
    RowCut,
    RowLeaf,
    SameRow,
    Split,
    VerticesLeaf,
)
from dalenius.exact import as_fraction
from dalenius.model import EntropyAtLeast, Problem, Records, WorstCaseLeakage, digest, normal_form
from dalenius.model.queries import AdditiveQuery

ONE: Final = 2**100  # hints are written in these parts
MAX_DATASETS: Final = 2**14  # that Coq counts one by one
MAX_COUNTS: Final = 2**24  # datasets times records times letters times values
MAX_RECORDS: Final = 2**11  # that are compared with one another
MAX_SUMS: Final = 2**22  # what letters add up to, times letters, for each record

HEADER = """\
(** {title}

    Written by dalenius from a certificate; docs/formal.md says how to read it. What is claimed are [the_model] and [claim], in the
    words of formal/Definitions.v. All numbers below them are hints. *)
From Coq Require Import ZArith QArith List.
From Dalenius Require Import Definitions Checker Certificates Witnesses Additive.
Import ListNotations.

Definition the_model : model := Model
  {alphabets}
  {query}
  {outputs}
  {mechanism}.

Definition the_claim : Prop := leakage_between the_model {adversary}
  {lower}
  {upper}.

Definition the_values : list Z := {values}.
Definition the_counts := {counts}.
Definition the_witness := Witness {record} {weights}.
"""
FOOTER = """\

Definition the_sections : list section := {sections}.

Theorem claim : the_claim.
Proof.
  refine (certificate_correct the_model the_values the_counts _ _ _ the_witness the_sections _ _).
  - {counted}; vm_compute; reflexivity.
  - vm_cast_no_check (eq_refl true).
Qed.
Print Assumptions claim.
"""


def rocq_text(problem: Problem, certificate: Certificate) -> str:
    """The file.

    Raises
    ------
    InputError
        If the certificate is another model's, or something in either has no theorem yet; the message names it.
    """
    if not isinstance(problem, WorstCaseLeakage):
        raise _no_theorem(f"problem {problem.kind!r}")
    header = certificate.header
    if header.model != digest(problem):
        raise InputError("certificate: it is another model's")
    if header.curve is not None or header.resolved is not None:
        raise _no_theorem("a curve" if header.curve is not None else "a resolved mechanism")
    if not isinstance(problem.adversary, EntropyAtLeast):
        raise _no_theorem(f"adversary {problem.adversary.kind!r}")
    values = _values(problem)
    mechanism, outputs = _mechanism(problem, values), problem.channel.shape[1]
    sections = [
        _section(record, proof, problem.records.alphabets[record], outputs)
        for record, proof in certificate.sections().items()
    ]
    record, weights = _witness(certificate)
    counts, counted = _counts(problem, sorted({record, *certificate.sections()}))
    assert header.claim is not None
    lower, upper = map(_rational, header.claim)
    head = HEADER.format(
        title=_comment(problem.title or "A model"),
        alphabets=_alphabets(problem.records.alphabets),
        query=_query(problem).text,
        outputs=outputs,
        mechanism=mechanism,
        adversary=_adversary(problem),
        lower=lower,
        upper=upper,
        values=_integers(values),
        counts=counts,
        record=record,
        weights=weights,
    )
    definitions = [f"Definition section_{k} : section :=\n{text}.\n" for k, text in enumerate(sections)]
    names = "; ".join(f"section_{k}" for k in range(len(sections)))
    return "\n".join([head, *definitions]) + FOOTER.format(sections=f"[{names}]", counted=counted)


def _no_theorem(what: str) -> InputError:
    return InputError(f"rocq: no theorem yet about {what} (docs/formal.md lists what there is)")


# What is claimed: the model in the words of formal/Definitions.v.


def _comment(text: str) -> str:
    """A text that ends no comment and opens none."""
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")


def _naturals(numbers: Iterable[int]) -> str:
    return f"[{'; '.join(map(str, numbers))}]%nat"


def _alphabets(sizes: Sequence[int]) -> str:
    return f"(repeat {sizes[0]} {len(sizes)})%nat" if len(sizes) > 16 and len(set(sizes)) == 1 else _naturals(sizes)


def _integers(numbers: Iterable[int]) -> str:
    return f"[{'; '.join(map(str, numbers))}]%Z"


def _rational(number: Fraction) -> str:
    return f"({number.numerator} # {number.denominator})%Q"


def _exact(table: Mapping[str, Any], key: str) -> Fraction:
    return as_fraction(table[key], key)


def _by_dataset(table: Mapping[str, Any]) -> bool:
    return table["kind"] == "matrix" and table["inputs"] == "dataset"


def _values(problem: WorstCaseLeakage) -> Sequence[int]:
    """The channel's inputs, ascending: the query's values, or the numbers of the datasets."""
    if _by_dataset(normal_form(problem)["mechanism"]):
        return range(_few_datasets(problem))
    return [int(value) for value in problem.query.values(problem.records).tolist()]


def _few_datasets(problem: WorstCaseLeakage) -> int:
    """The number of datasets, if Coq can count them one by one."""
    alphabets = problem.records.alphabets
    size = math.prod(alphabets)
    if size > MAX_DATASETS:
        raise _no_theorem(f"counting so many datasets ({len(alphabets)} records), which Coq does one by one")
    return size


@dataclass(frozen=True)
class _Query:
    """A query's name in formal/Definitions.v, and what it is given. If it is additive formal/Additive.v has its sums."""

    name: str
    given: str = ""

    @property
    def text(self) -> str:
        """The query as it stands in the model."""
        return f"({self.name}{self.given})" if self.given else self.name


def _query(problem: WorstCaseLeakage) -> _Query:
    form = normal_form(problem)
    table, alphabets = form["query"], problem.records.alphabets
    kind = "identity" if _by_dataset(form["mechanism"]) else table["kind"]
    if kind == "parity":
        return _Query("parity")
    if kind == "modular_sum":
        return _Query("modular_sum", f" {table['modulus']}")
    if kind == "threshold":
        return _Query("threshold", f" ({table['at']})")
    if kind == "count":
        return _Query("count_of", f" {_naturals(map(int, table['letters']))}")
    if kind == "sum":
        rows = _sum(table["weights"], alphabets)
        return _Query("total") if rows is None else _Query("weighted", f" {rows}")
    if kind == "table":
        return _Query("table", f" {_naturals(alphabets)} {_integers(map(int, table['values']))}")
    if kind == "identity":
        return _Query("identity", f" {_naturals(alphabets)}")
    raise _no_theorem(f"query {kind!r}")


def _counts(problem: WorstCaseLeakage, records: Sequence[int]) -> tuple[str, str]:
    """The table of counts, and the theorem that says that it is right: by sums, or one by one."""
    query, values = _query(problem), _values(problem)
    alphabets = problem.records.alphabets
    if not isinstance(problem.query, AdditiveQuery) or _by_dataset(normal_form(problem)["mechanism"]):
        size = _few_datasets(problem)
        if size * sum(alphabets) * len(values) > MAX_COUNTS:
            raise _no_theorem(f"counting {size} datasets by {len(values)} values, which Coq does one by one")
        return "count_tables the_model the_values", "apply one_by_one"
    if len(alphabets) > MAX_RECORDS or sum(alphabets) * _states(problem.query, problem.records) > MAX_SUMS:
        raise _no_theorem(f"counting by sums of {len(alphabets)} records, which are too many")
    given = query.given if query.name == "weighted" else f"{query.given} (alphabets the_model)"
    listed = _naturals(records)
    return (
        f"sum_tables (sums_of_{query.name}{given}) the_values {listed}",
        f"apply (by_sums _ _ ({query.name}_additive{given} _ _))",
    )


def _states(query: AdditiveQuery, records: Records) -> int:
    """How many sums there are, at most."""
    rows = [query.contribution(record, size) for record, size in enumerate(records.alphabets)]
    return query.modulus() or 1 + sum(max(row) - min(row) for row in rows)


def _sum(weights: Any, alphabets: Sequence[int]) -> str | None:
    """A list of weights for each record, if there are any."""
    if weights is None:
        return None
    nested = weights if isinstance(weights[0], list) else [weights[:size] for size in alphabets]
    return f"[{'; '.join(_integers(map(int, row)) for row in nested)}]"


def _mechanism(problem: WorstCaseLeakage, values: Sequence[int]) -> str:
    table = normal_form(problem)["mechanism"]
    kind, listed = table["kind"], _integers(values)
    if kind == "matrix":
        rows = ";\n    ".join(f"[{'; '.join(_rational(as_fraction(x, 'rows')) for x in row)}]" for row in table["rows"])
        return f"(matrix {listed} [\n    {rows}])"
    if kind == "symmetric":
        return f"(symmetric {listed} {_rational(_exact(table, 'flip'))})"
    if kind == "randomized_response":
        return f"(randomized_response {listed} {_rational(_exact(table, 'epsilon'))})"
    if kind == "laplace_threshold":
        return f"(laplace_threshold {_rational(_exact(table, 'epsilon'))})"
    if kind in ("exponential", "geometric"):
        first, last = (values[0], values[-1]) if table["range"] is None else map(int, table["range"])
        epsilon = _exact(table, "epsilon")
        if kind == "geometric":
            return f"(geometric {_rational(epsilon)} ({first}) ({last}))"
        return f"(exponential {_rational(epsilon / (2 * _exact(table, 'sensitivity')))} ({first}))"
    raise _no_theorem(f"mechanism {kind!r}")


def _adversary(problem: WorstCaseLeakage) -> str:
    number, unit = normal_form(problem)["adversary"]["entropy_at_least"].split(" ")
    amount = {"nats": "Nats", "bits": "Bits", "max": "Share"}[unit]
    return f"(EntropyAtLeast ({amount} {_rational(as_fraction(number, 'entropy_at_least'))}))"


# The hints.


def _witness(certificate: Certificate) -> tuple[int, str]:
    """The record, and the weights by letter and input, in whole numbers."""
    (line,) = certificate.lower_lines()
    if not isinstance(line, WitnessLine):
        raise _no_theorem(f"the line {brief(line)}")
    if line.prior is None or line.prior == UNIFORM:
        record = line.record or 0
        return record, f"(row_at the_counts {record})"
    rows: Any = line.prior
    weights = [[as_fraction(x, "weights") for x in row] for row in rows]
    unit = math.lcm(*(x.denominator for x in chain(*weights)))
    assert line.record is not None
    return line.record, f"[{'; '.join(_integers(int(x * unit) for x in row) for row in weights)}]"


def _parts(number: str) -> int:
    """The number in parts of `ONE`, rounded."""
    return round(as_fraction(number, "a hint") * ONE)


def _law(law: Sequence[str] | None, outputs: int) -> list[int]:
    """A law of the outputs in parts of `ONE`, each of them positive; of no law the uniform one."""
    weights = [Fraction(1)] * outputs if law is None else [as_fraction(x, "law") for x in law]
    whole = sum(weights)
    parts = [max(1, math.floor(x / whole * ONE)) for x in weights]
    parts[parts.index(max(parts))] += ONE - sum(parts)
    return parts


def _slopes(slopes: Sequence[str] | None) -> str:
    return "[]" if slopes is None else _integers(map(_parts, slopes))


@dataclass(frozen=True)
class _Node:
    """A node of a tree in preorder: the text before its two subtrees, or a leaf's whole text."""

    text: str
    branches: bool = False


@dataclass(frozen=True)
class _RowNode:
    """A node of a letter's tree: a cut of an output at a threshold, a leaf with slopes, or an earlier letter's tree."""

    output: int | None = None
    threshold: str = "0"
    slopes: tuple[str, ...] | None = None


_RowTree = tuple[_RowNode | SameRow | ImageRow, ...]


def _section(record: int, proof: Iterable[ProofLine], letters: int, outputs: int) -> str:
    """The proof about a record. Lines are in preorder, so that read backwards each finds its subtrees done."""
    trees = list[tuple[_Node, ...]]()
    rows = list[_RowTree]()
    classes = list[tuple[_Node, ...]]()
    for line in reversed(tuple(proof)):
        if isinstance(line, RowLeaf):
            rows.append((_RowNode(slopes=line.slopes),))
        elif isinstance(line, SameRow | ImageRow):
            rows.append((line,))
        elif isinstance(line, RowCut):
            rows.append((_RowNode(line.output, line.threshold), *rows.pop(), *rows.pop()))
        elif isinstance(line, Split | Cut):
            head = f"{type(line).__name__} {line.letter} {line.output} ({_parts(line.threshold)})"
            trees.append((_Node(head, branches=True), *trees.pop(), *trees.pop()))
        elif isinstance(line, JointLeaf):
            count = letters if as_fraction(line.share, "theta") > 0 and as_fraction(line.entropy, "mu") > 0 else 0
            trees.append((_Node(_joint(line, [rows.pop() for _ in range(count)], outputs)),))
        elif isinstance(line, OutputLawLeaf):
            classes.append((_Node(f"Law {_integers(_law(line.law, outputs))}"),))
        elif isinstance(line, LettersLine):
            classes.append((_Node("Letters"),))
        elif isinstance(line, ClassPart):
            head = f"Part {line.letter} {_naturals(line.inputs)}"
            classes.append((_Node(head, branches=True), *classes.pop(), *classes.pop()))
        elif isinstance(line, VerticesLeaf):
            trees.append((_Node(f"Vertices\n{_text(classes.pop())}"),))
        else:
            raise _no_theorem(f"lines {line.word!r}")
    (tree,) = trees
    return f"  Section {record} (\n{_text(tree)})"


def _joint(line: JointLeaf, rows: Sequence[_RowTree], outputs: int) -> str:
    sigma = "[]" if line.slopes is None else f"[{'; '.join(_slopes(row) for row in line.slopes)}]"
    mu = as_fraction(line.entropy, "mu")
    price = max(1, round(mu * ONE)) if mu > 0 else 0
    resolved = list[tuple[_RowNode, ...]]()
    for row in rows:
        resolved.append(tuple(chain.from_iterable(_resolved(node, resolved) for node in row)))
    trees = "; ".join(f"\n{_text([_row_node(node) for node in row])}" for row in resolved)
    return f"Joint ({_parts(line.share)}) ({price}) {sigma} {_integers(_law(line.law, outputs))} [{trees}]"


def _resolved(node: _RowNode | SameRow | ImageRow, earlier: Sequence[tuple[_RowNode, ...]]) -> tuple[_RowNode, ...]:
    """The node, or the tree of the earlier letter that it stands for, with outputs where they are moved to."""
    if isinstance(node, _RowNode):
        return (node,)
    tree = earlier[node.letter]
    return tuple(_moved(other, node.outputs) for other in tree) if isinstance(node, ImageRow) else tree


def _moved(node: _RowNode, images: Sequence[int]) -> _RowNode:
    if node.output is not None:
        return replace(node, output=images[node.output])
    if node.slopes is None:
        return node
    slopes = dict(zip(images, node.slopes, strict=True))
    return replace(node, slopes=tuple(slopes[y] for y in range(len(images))))


def _row_node(node: _RowNode) -> _Node:
    if node.output is None:
        return _Node(f"Row {_slopes(node.slopes)}")
    return _Node(f"RowCut {node.output} ({_parts(node.threshold)})", branches=True)


def _text(tree: Sequence[_Node]) -> str:
    """A tree in preorder, a node a line."""
    return "\n".join(_lines(tree))


def _lines(tree: Sequence[_Node]) -> Iterator[str]:
    """Parentheses are closed where the last subtree ends."""
    missing = list[int]()  # subtrees that the open nodes still need
    for node in tree:
        if node.branches:
            missing.append(2)
            yield f"({node.text}"
            continue
        closing = ""
        while missing and missing[-1] == 1:
            missing.pop()
            closing += ")"
        if missing:
            missing[-1] -= 1
        yield f"({node.text}){closing}"
