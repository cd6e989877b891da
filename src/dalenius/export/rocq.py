"""A certificate as a theorem: a file for Coq, or Rocq, that states the claim about the model as written (docs/formal.md).

What is written is proved by the theory in ``formal/``, whose checker reads the numbers of the certificate as hints. So nothing here
is trusted but the printing of the model and of the claim, which stand in the first lines of the file, to be read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Any, Final, cast

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.evidence import Certificate
from dalenius.evidence.lower import UNIFORM, PieceOfWitness, WitnessLine
from dalenius.evidence.upper import (
    ClassPart,
    Cut,
    ImageRow,
    JointLeaf,
    LawOfSelections,
    LettersLine,
    OutputLawLeaf,
    PieceSection,
    ProofLine,
    RecordLine,
    RowCut,
    RowLeaf,
    SameRow,
    Split,
    VerticesLeaf,
)
from dalenius.exact import as_fraction
from dalenius.model import (
    IndependentBlocks,
    Problem,
    WorstCaseLeakage,
    digest,
    normal_form,
)

Table = Mapping[str, Any]  # of a normal form
ONE: Final = 2**100  # hints are written in these parts
MAX_RECORDS: Final = 2**11  # that are compared with one another
MAX_SUMS: Final = 2**22  # sums of what letters contribute, times letters, or times values

HEADER = """\
(** {title}

    Written by dalenius from a certificate; docs/formal.md says how to read it. What is claimed are [the_model] and [claim], in the
    words of formal/Definitions.v. All numbers below them are hints. *)
From Coq Require Import ZArith QArith List.
From Dalenius Require Import Definitions Checker Certificates Witnesses Additive Blocks.
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
Definition the_sums : sums := {sums}.
Lemma by_the_sums : additive the_model the_sums.
Proof. exact ({theorem} _ _). Qed.
"""
WITH_ENTROPY = """\

Definition the_counts := sum_tables the_sums the_values {counted}.
Definition the_witness := Witness {record} {weights}.
{definitions}
Theorem claim : the_claim.
Proof.
  refine (certificate_correct the_model the_values the_counts _ _ _ the_witness {names} _ _).
  - apply (by_sums _ _ by_the_sums); vm_compute; reflexivity.
  - vm_cast_no_check (eq_refl true).
Qed.
Print Assumptions claim.
"""
OF_BLOCKS = """\

Definition the_witness := PieceWitness {block} {dataset} (Witness {record} {weights}).
{definitions}
Theorem claim : the_claim.
Proof.
  refine (blocks_correct the_model the_sums the_values _ _ _ _ the_witness {names} by_the_sums _).
  vm_cast_no_check (eq_refl true).
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
    adversary, query, values = _adversary(problem), _query(problem), _values(problem)
    _check_counts(problem)
    assert header.claim is not None
    lower, upper = map(_rational, header.claim)
    head = HEADER.format(
        title=_comment(problem.title or "A model"),
        alphabets=_alphabets(problem.records.alphabets),
        query=query.text,
        outputs=problem.channel.shape[1],
        mechanism=_mechanism(problem, values),
        adversary=adversary,
        lower=lower,
        upper=upper,
        values=_integers(values),
        sums=f"sums_of_{query.name}{query.sums}",
        theorem=f"{query.name}_additive{query.sums}",
    )
    if problem.bound is not None:
        return head + _with_entropy(problem, certificate)
    return head + _of_blocks(problem, certificate)


def _with_entropy(problem: WorstCaseLeakage, certificate: Certificate) -> str:
    """The hints about priors with enough entropy, and the proof."""
    outputs = problem.channel.shape[1]
    record, weights = _witness(certificate)
    sections = (
        {} if _amount(problem) == "(Share (1 # 1)%Q)" else certificate.sections()
    )  # only the uniform prior is left
    definitions, names = _listed(
        "section", [_section(k, proof, problem.records.alphabets[k], outputs) for k, proof in sections.items()]
    )
    counted = _naturals(sorted({record, *sections}))
    return WITH_ENTROPY.format(counted=counted, record=record, weights=weights, definitions=definitions, names=names)


def _listed(kind: str, texts: Sequence[str]) -> tuple[str, str]:
    """Definitions one by one, and the list of their names."""
    definitions = "".join(f"\nDefinition {kind}_{k} : {kind} :=\n{text}.\n" for k, text in enumerate(texts))
    return definitions, f"[{'; '.join(f'{kind}_{k}' for k in range(len(texts)))}]"


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


def _exact(table: Table, key: str) -> str:
    return _rational(as_fraction(table[key], key))


def _values(problem: WorstCaseLeakage) -> Sequence[int]:
    """The channel's inputs, ascending: the query's values, or the numbers of the datasets."""
    if problem.mechanism.indexed_by() == "dataset":
        return range(math.prod(problem.records.alphabets))
    return [int(value) for value in problem.query.values(problem.records).tolist()]


@dataclass(frozen=True)
class _Query:
    """A query's name in formal/Definitions.v, and what it is given; formal/Additive.v has its sums."""

    name: str
    given: str = ""
    given_sums: str | None = None  # the same, but for the alphabets, which the sums are given of every query

    @property
    def text(self) -> str:
        """The query as it stands in the model."""
        return f"({self.name}{self.given})" if self.given else self.name

    @property
    def sums(self) -> str:
        """What the sums are given, and the theorem about them."""
        given = self.given if self.given_sums is None else self.given_sums
        return given if self.name == "weighted" else f"{given} (alphabets the_model)"


def _query(problem: WorstCaseLeakage) -> _Query:
    table, alphabets = normal_form(problem)["query"], problem.records.alphabets
    kind = "identity" if problem.mechanism.indexed_by() == "dataset" else table["kind"]
    made = QUERIES.get(kind)
    if made is None:
        raise _no_theorem(f"query {kind!r}")
    return made(table, alphabets)


def _sum(table: Table, alphabets: Sequence[int]) -> _Query:
    """With a list of weights for each record, if there are any."""
    weights = table["weights"]
    if weights is None:
        return _Query("total")
    nested = weights if isinstance(weights[0], list) else [weights[:size] for size in alphabets]
    return _Query("weighted", f" [{'; '.join(_integers(map(int, row)) for row in nested)}]")


def _table(table: Table, alphabets: Sequence[int]) -> _Query:
    entries = f" {_integers(map(int, table['values']))}"
    return _Query("table", f" {_naturals(alphabets)}{entries}", entries)


QUERIES: Mapping[str, Callable[[Table, Sequence[int]], _Query]] = {
    "parity": lambda table, alphabets: _Query("parity"),
    "modular_sum": lambda table, alphabets: _Query("modular_sum", f" {table['modulus']}"),
    "threshold": lambda table, alphabets: _Query("threshold", f" ({table['at']})"),
    "count": lambda table, alphabets: _Query("count_of", f" {_naturals(map(int, table['letters']))}"),
    "sum": _sum,
    "table": _table,
    "identity": lambda table, alphabets: _Query("identity", f" {_naturals(alphabets)}", ""),
}


def _check_counts(problem: WorstCaseLeakage) -> None:
    """Refuse what takes Coq too long to count."""
    alphabets, states = problem.records.alphabets, _states(problem)
    many = max(sum(alphabets), problem.channel.shape[0]) * states
    if len(alphabets) > MAX_RECORDS or many > MAX_SUMS:
        raise _no_theorem(f"counting by {states} sums of {len(alphabets)} records, which are too many")


def _contributions(problem: WorstCaseLeakage) -> list[Sequence[int]]:
    """What each letter of each record adds to the sum that the query is a function of."""
    query, alphabets = problem.query, problem.records.alphabets
    if query.sums is not None and problem.mechanism.indexed_by() == "query":
        return [query.sums.contribution(record, size) for record, size in enumerate(alphabets)]
    return [[a * math.prod(alphabets[k + 1 :]) for a in range(size)] for k, size in enumerate(alphabets)]


def _states(problem: WorstCaseLeakage) -> int:
    """How many sums there are, at most."""
    return problem.query.modulus() or 1 + sum(max(row) - min(row) for row in _contributions(problem))


def _mechanism(problem: WorstCaseLeakage, values: Sequence[int]) -> str:
    table = normal_form(problem)["mechanism"]
    kind = table["kind"]
    made = MECHANISMS.get(kind)
    if made is None:
        raise _no_theorem(f"mechanism {kind!r}")
    return f"({kind} {made(table, values)})"


def _matrix(table: Table, values: Sequence[int]) -> str:
    rows = ";\n    ".join(f"[{'; '.join(_rational(as_fraction(x, 'rows')) for x in row)}]" for row in table["rows"])
    return f"{_integers(values)} [\n    {rows}]"


def _range(table: Table, values: Sequence[int]) -> Sequence[int]:
    """The first and the last value of the outputs."""
    return (values[0], values[-1]) if table["range"] is None else [int(end) for end in table["range"]]


def _geometric(table: Table, values: Sequence[int]) -> str:
    first, last = _range(table, values)
    return f"{_exact(table, 'epsilon')} ({first}) ({last})"


def _exponential(table: Table, values: Sequence[int]) -> str:
    half = Fraction(1, 2) / as_fraction(table["sensitivity"], "sensitivity")
    return f"{_rational(as_fraction(table['epsilon'], 'epsilon') * half)} ({_range(table, values)[0]})"


MECHANISMS: Mapping[str, Callable[[Table, Sequence[int]], str]] = {
    "matrix": _matrix,
    "symmetric": lambda table, values: f"{_integers(values)} {_exact(table, 'flip')}",
    "randomized_response": lambda table, values: f"{_integers(values)} {_exact(table, 'epsilon')}",
    "laplace_threshold": lambda table, values: _exact(table, "epsilon"),
    "exponential": _exponential,
    "geometric": _geometric,
}


def _adversary(problem: WorstCaseLeakage) -> str:
    adversary, query = problem.adversary, problem.query
    if problem.bound is not None:
        return f"(EntropyAtLeast {_amount(problem)})"
    if adversary.all_products:
        return f"(ProductPriors {len(problem.records)})"
    if adversary.in_blocks:
        if query.sums is None or not query.sums.cuts:
            raise _no_theorem(f"adversary {adversary.kind!r} and query {query.kind!r}")
        return f"(IndependentBlocks {_naturals(_sizes(problem))} {_amount(problem)})"
    raise _no_theorem(f"adversary {adversary.kind!r}")


def _amount(problem: WorstCaseLeakage) -> str:
    number, unit = (normal_form(problem)["adversary"]["entropy_at_least"] or "0 nats").split(" ")
    amount = {"nats": "Nats", "bits": "Bits", "max": "Share"}[unit]
    return f"({amount} {_rational(as_fraction(number, 'entropy_at_least'))})"


def _sizes(problem: WorstCaseLeakage) -> list[int]:
    """The sizes of the blocks; of independent records one each."""
    adversary, records = problem.adversary, problem.records
    if isinstance(adversary, IndependentBlocks):
        return [size for size, times in adversary.sizes_of(records) for _ in range(times)]
    return [1] * len(records)


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
    assert line.record is not None
    return line.record, _weights(rows)


def _weights(rows: Iterable[Iterable[str]]) -> str:
    """Weights in whole numbers."""
    weights = [[as_fraction(x, "weights") for x in row] for row in rows]
    unit = math.lcm(*(x.denominator for x in chain(*weights)))
    return f"[{'; '.join(_integers(int(x * unit) for x in row) for row in weights)}]"


@dataclass(frozen=True)
class _Piece:
    """A block, and the others' letters for each sum of what they contribute."""

    block: int
    first: int
    size: int
    others: Mapping[int, tuple[int, ...]]

    def dataset(self, total: int) -> str:
        """Where the block's own letters are 0."""
        letters = self.others[total]
        return _naturals((*letters[: self.first], *[0] * self.size, *letters[self.first :]))


def _piece(problem: WorstCaseLeakage, block: int) -> _Piece:
    sizes, modulus = _sizes(problem), problem.query.modulus()
    first = sum(sizes[:block])
    known: dict[int, tuple[int, ...]] = {0: ()}
    for record, row in enumerate(_contributions(problem)):
        if not first <= record < first + sizes[block]:
            sums = {total + added: (*letters, a) for total, letters in known.items() for a, added in enumerate(row)}
            known = {total % modulus if modulus else total: letters for total, letters in sums.items()}
    return _Piece(block, first, sizes[block], known)


def _of_blocks(problem: WorstCaseLeakage, certificate: Certificate) -> str:
    """The hints about independent blocks, and the proof."""
    of_records = problem.adversary.all_products
    witness = (_selected_witness if of_records else _piece_witness)(problem, certificate)
    proofs = (_selected_proofs if of_records else _piece_proofs)(problem, certificate)
    texts = [f"  PieceProof {block} ({total}) [{section}]" for block, total, section in proofs]
    definitions, names = _listed("piece_proof", texts)
    return OF_BLOCKS.format(**witness, definitions=definitions, names=names)


def _selections(problem: WorstCaseLeakage, record: int) -> tuple[_Piece, dict[tuple[int, ...], int]]:
    """Of an independent record: which inputs its letters select, in their order, and with which sum of the others'."""
    piece, row = _piece(problem, record), _contributions(problem)[record]
    selected = {tuple(_input(problem, total + added) for added in row): total for total in piece.others}
    return piece, dict(sorted(selected.items()))


def _input(problem: WorstCaseLeakage, total: int) -> int:
    """The channel's input, by the sum."""
    query, records = problem.query, problem.records
    if problem.mechanism.indexed_by() == "dataset":
        return total
    if query.sums is not None:
        return int(query.sums.index_of_total(np.array([total]), records)[0])
    return int(query.index_of_dataset(records)[total])


def _selected_witness(problem: WorstCaseLeakage, certificate: Certificate) -> dict[str, object]:
    (line,) = certificate.lower_lines()
    assert isinstance(line, WitnessLine)
    record = line.record or 0
    piece, selections = _selections(problem, record)
    prior: Any = line.prior or (0, ["1"] * problem.records.alphabets[record])
    number, law = prior
    inputs, total = list(selections.items())[number]
    rows = [["0"] * k + [weight] for k, weight in zip(inputs, law, strict=True)]
    return {"block": record, "dataset": piece.dataset(total), "record": 0, "weights": _weights(rows)}


def _selected_proofs(problem: WorstCaseLeakage, certificate: Certificate) -> Iterator[tuple[int, int, str]]:
    outputs = problem.channel.shape[1]
    for record, proof in certificate.sections().items():
        piece, selections = _selections(problem, record)
        totals = list(selections.values())
        laws = dict[int, ProofLine]()
        for line in proof:
            if isinstance(line, LettersLine):
                laws |= dict.fromkeys(totals, line)
            elif isinstance(line, LawOfSelections):
                laws |= dict.fromkeys([totals[k] for k in line.selections], OutputLawLeaf(line.law))
            else:
                raise _no_theorem(f"lines {line.word!r} of independent records")
        row = _contributions(problem)[record]
        for total in piece.others:
            same = selections[tuple(_input(problem, total + added) for added in row)]
            if same not in laws:
                raise InputError(f"certificate: no law of record {record} is about every one of its selections")
            yield record, total, _section(0, (VerticesLeaf(), laws[same]), len(row), outputs)


def _piece_witness(problem: WorstCaseLeakage, certificate: Certificate) -> dict[str, object]:
    first, line = certificate.lower_lines()
    assert isinstance(first, PieceOfWitness)
    assert isinstance(line, WitnessLine)
    assert first.total is not None
    if line.prior is None or line.prior == UNIFORM:
        raise _no_theorem("a block's witness that is none, or uniform")
    rows: Any = line.prior
    piece = _piece(problem, first.block)
    return {
        "block": first.block,
        "dataset": piece.dataset(int(first.total)),
        "record": line.record or 0,
        "weights": _weights(rows),
    }


def _piece_proofs(problem: WorstCaseLeakage, certificate: Certificate) -> Iterator[tuple[int, int, str]]:
    outputs, sizes = problem.channel.shape[1], _sizes(problem)
    sections = dict[tuple[int, int], dict[int, list[ProofLine]]]()
    for line in certificate.upper_lines():
        if isinstance(line, PieceSection):
            assert line.total is not None
            records = sections.setdefault((line.block, int(line.total)), {})
        elif isinstance(line, RecordLine):
            current = records.setdefault(line.record, [])
        else:
            current.append(cast("ProofLine", line))
    for (block, total), records in sections.items():
        alphabets = problem.records.alphabets[sum(sizes[:block]) :]
        texts = [_section(record, proof, alphabets[record], outputs) for record, proof in records.items()]
        yield block, total, "; ".join(texts)


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
