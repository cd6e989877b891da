"""A certificate as a theorem: a file for Coq, or Rocq, that states the claim about the model as written (docs/formal.md).

What is written is proved by the theory in ``formal/``, whose checker reads the numbers of the certificate as hints. So nothing here
is trusted but the printing of the model and of the claim, which stand in the first lines of the file, to be read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

import numpy as np
from flint import fmpq

from dalenius.errors import InputError, brief
from dalenius.evidence import Certificate
from dalenius.evidence.certificate import CurveClaim
from dalenius.evidence.lower import UNIFORM, LowerLine, PieceOfWitness, WitnessLine
from dalenius.evidence.upper import (
    LawOfClass,
    LawOfSelections,
    LettersLine,
    PieceSection,
    ProofLine,
    RecordLine,
)
from dalenius.exact import as_fraction
from dalenius.export.rocq_proof import Place, class_text, section_text
from dalenius.export.rocq_statement import (
    MAX_SUMS,
    adversary_of,
    alphabets_text,
    amount_of,
    amount_text,
    check_counts,
    comment,
    contributions,
    exact,
    inputs_of,
    integers,
    mechanism_of,
    naturals,
    no_theorem,
    query_of,
    rational,
    sizes_of,
)
from dalenius.measures.witness import letter_law
from dalenius.model import PriorSet, Problem, WorstCaseLeakage, digest
from dalenius.model.adversaries import PolytopePriors
from dalenius.model.adversaries.independent_blocks import as_blocks
from dalenius.model.problems.pieces import Piece, PlacedBlock, placed_blocks

HEADER = """\
(** {title}

    Written by dalenius from a certificate; docs/formal.md says how to read it. What is claimed are [the_model] and [claim], in the
    words of formal/Definitions.v. All numbers below them are hints. *)
From Coq Require Import ZArith QArith List.
From Dalenius Require Import Boxes RowChecker Checker Certificates Witnesses Curves Listed Additive Blocks Classes Definitions.
Import ListNotations.

Definition the_model : model := Model
  {alphabets}
  {query}
  {outputs}
  {mechanism}.

Definition the_claim : Prop := leakage_between the_model {adversary}
  {lower}
  {upper}.
{curve}
Definition the_values : list Z := {values}.
Definition the_sums : sums := {sums}.
Lemma by_the_sums : additive the_model the_sums.
Proof. exact ({theorem} _ _). Qed.
"""
CURVE = """\

Definition the_curve : Prop := leakage_curve the_model
  [{lines}]
  [{points}].
"""
WITH_ENTROPY = """\

Definition the_counts := sum_tables the_sums the_values {counted}.
Definition the_witness := {witness}.
{definitions}
Theorem claim : the_claim.
Proof.
  refine (certificate_correct the_model the_values the_counts _ _ _ the_witness {names} _ _).
  - apply (by_sums _ _ by_the_sums); vm_compute; reflexivity.
  - vm_cast_no_check (eq_refl true).
Qed.
Print Assumptions claim.
"""
WITH_CURVE = """\

Definition the_counts := sum_tables the_sums the_values {counted}.
Definition the_witness := {witness}.
Definition the_witnesses := [{witnesses}].
{definitions}
Theorem claim : the_claim /\\ the_curve.
Proof.
  refine (with_curve_correct the_model the_values the_counts _ _ _ _ _ _ the_witness the_witnesses {names} _ _).
  - apply (by_sums _ _ by_the_sums); vm_compute; reflexivity.
  - vm_cast_no_check (eq_refl true).
Qed.
Print Assumptions claim.
"""
OF_BLOCKS = """\

Definition the_witness := PieceWitness {block} {dataset} ({prior}).
{definitions}
Theorem claim : the_claim.
Proof.
  refine ({kind}_blocks_correct the_model the_sums the_values _ _ _ _ the_witness {names} by_the_sums _).
  vm_cast_no_check (eq_refl true).
Qed.
Print Assumptions claim.
"""
OF_LISTED = """\

Theorem claim : the_claim.
Proof.
  refine (listed_correct the_model the_sums the_values _ _ _ {record} {prior} by_the_sums _).
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
        raise no_theorem(f"problem {problem.kind!r}")
    header = certificate.header
    if header.model != digest(problem):
        raise InputError("certificate: it is another model's")
    if header.resolved is not None:
        raise no_theorem("a resolved mechanism")
    adversary, query, values = adversary_of(problem), query_of(problem), inputs_of(problem)
    check_counts(problem)
    assert header.claim is not None
    lower, upper = map(rational, header.claim)
    head = HEADER.format(
        title=comment(problem.title or "A model"),
        alphabets=alphabets_text(problem.records.alphabets),
        query=query.text,
        outputs=problem.channel.shape[1],
        mechanism=mechanism_of(problem, values),
        adversary=adversary,
        lower=lower,
        upper=upper,
        curve="" if header.curve is None else _curve(header.curve),
        values=integers(values),
        sums=f"sums_of_{query.name}{query.sums}",
        theorem=f"{query.name}_additive{query.sums}",
    )
    if problem.bound is not None:
        return head + _with_entropy(problem, certificate)
    if isinstance(problem.adversary, PriorSet):
        return head + _of_listed(certificate)
    return head + _of_blocks(problem, certificate)


def _curve(curve: CurveClaim) -> str:
    """Claims at other entropy bounds."""
    lines = ("({}, {})".format(*(rational(as_fraction(x, "curve")) for x in pair)) for pair in curve.above)
    points = (f"({amount_text(entropy)}, {rational(as_fraction(low, 'curve'))})" for entropy, low in curve.below)
    return CURVE.format(lines=";\n   ".join(lines), points=";\n   ".join(points))


def _with_entropy(problem: WorstCaseLeakage, certificate: Certificate) -> str:
    """The hints about priors with enough entropy, and the proof."""
    place, curved = Place(problem.channel.shape[1]), certificate.header.curve is not None
    lines = [line for line in certificate.body() if isinstance(line, LowerLine)]
    records, (witness, *witnesses) = zip(*map(_witness, lines), strict=True)
    alone = amount_of(problem) == "(Share (1 # 1)%Q)" and not curved  # only the uniform prior is left
    sections = {} if alone else certificate.sections()
    definitions, names = _listed(
        "section", [section_text(k, proof, problem.records.alphabets[k], place) for k, proof in sections.items()]
    )
    return (WITH_CURVE if curved else WITH_ENTROPY).format(
        counted=naturals(sorted({*records, *sections})),
        witness=witness,
        witnesses=";\n   ".join(witnesses),
        definitions=definitions,
        names=names,
    )


def _of_listed(certificate: Certificate) -> str:
    """The proof about listed priors: which record and which of them the lower end is about."""
    (line,) = certificate.lower_lines()
    assert isinstance(line, WitnessLine)
    return OF_LISTED.format(record=line.record or 0, prior=line.prior or 0)


def _listed(kind: str, texts: Sequence[str]) -> tuple[str, str]:
    """Definitions one by one, and the list of their names."""
    definitions = "".join(f"\nDefinition {kind}_{k} :=\n{text}.\n" for k, text in enumerate(texts))
    return definitions, f"[{'; '.join(f'{kind}_{k}' for k in range(len(texts)))}]"


def _witness(line: LowerLine) -> tuple[int, str]:
    """The record, and the prior by letter and input, with weights in whole numbers."""
    if not isinstance(line, WitnessLine):
        raise no_theorem(f"the line {brief(line)}")
    if line.prior is None or line.prior == UNIFORM:
        record = line.record or 0
        return record, f"Witness {record} (row_at the_counts {record})"
    rows: Any = line.prior
    assert line.record is not None
    return line.record, f"Witness {line.record} {_weights(rows)}"


def _weights(rows: Iterable[Iterable[str]]) -> str:
    """Weights in whole numbers."""
    weights = [[as_fraction(x, "weights") for x in row] for row in rows]
    unit = math.lcm(*(x.denominator for x in chain(*weights)))
    return f"[{'; '.join(integers(int(x * unit) for x in row) for row in weights)}]"


@dataclass(frozen=True)
class _Piece:
    """A block, and the others' letters for each sum of what they contribute."""

    block: int
    first: int
    size: int
    others: Mapping[int, tuple[int, ...]]

    def dataset(self, total: int) -> str:
        """Dataset in which the block's own letters are 0."""
        letters = self.others[total]
        return naturals((*letters[: self.first], *[0] * self.size, *letters[self.first :]))


def _piece(problem: WorstCaseLeakage, block: int) -> _Piece:
    sizes, modulus = sizes_of(problem), problem.query.modulus()
    first = sum(sizes[:block])
    known: dict[int, tuple[int, ...]] = {0: ()}
    for record, row in enumerate(contributions(problem)):
        if not first <= record < first + sizes[block]:
            sums = {total + added: (*letters, a) for total, letters in known.items() for a, added in enumerate(row)}
            known = {total % modulus if modulus else total: letters for total, letters in sums.items()}
    return _Piece(block, first, sizes[block], known)


def _of_blocks(problem: WorstCaseLeakage, certificate: Certificate) -> str:
    """The hints about independent blocks, and the proof."""
    of_records = problem.adversary.record_laws is not None
    kind, proofs_of, witness_of = (
        ("class", _selected_proofs, _selected_witness) if of_records else ("entropy", _piece_proofs, _piece_witness)
    )
    texts = [f"  PieceProof {block} ({total}) {text}" for block, total, text in proofs_of(problem, certificate)]
    definitions, names = _listed("piece_proof", texts)
    return OF_BLOCKS.format(kind=kind, **witness_of(problem, certificate), definitions=definitions, names=names)


def _selections(problem: WorstCaseLeakage, record: int) -> tuple[_Piece, dict[tuple[int, ...], int]]:
    """Of an independent record: which inputs its letters select, in their order, and with which sum of the others'."""
    piece, row = _piece(problem, record), contributions(problem)[record]
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
    number, stated = cast("Any", line.prior) or (0, None)
    total = list(selections.values())[number]
    prior = _law_of_class(problem, problem.records.alphabets[record], stated)
    return {"block": record, "dataset": piece.dataset(total), "prior": prior}


def _law_of_class(problem: WorstCaseLeakage, letters: int, stated: Sequence[str] | None) -> str:
    """The weights of the letters, and of a polytope's vertices, as a witness states them; of one that states none those of any law."""
    adversary = problem.adversary
    vertices = len(adversary.vertices) if isinstance(adversary, PolytopePriors) else 0
    if stated is None:
        assert adversary.record_laws is not None
        any_law = adversary.record_laws.exact_law(np.full(letters, fmpq(0)))
        stated = ["1", *["0"] * (vertices - 1)] if vertices else [str(x) for x in any_law]
    return (
        f"ClassWitness {exact(letter_law(problem, stated), 'witness')} {exact(stated if vertices else (), 'witness')}"
    )


def _selected_proofs(problem: WorstCaseLeakage, certificate: Certificate) -> Iterator[tuple[int, int, str]]:
    outputs = problem.channel.shape[1]
    for record, proof in certificate.sections().items():
        piece, selections = _selections(problem, record)
        totals = list(selections.values())
        lines = dict[int, LettersLine | LawOfSelections | LawOfClass]()
        for line in proof:
            if isinstance(line, LettersLine):
                lines |= dict.fromkeys(totals, line)
            elif isinstance(line, LawOfSelections | LawOfClass):
                lines |= dict.fromkeys([totals[k] for k in line.selections], line)
            else:
                raise no_theorem(f"lines {line.word!r} of independent records")
        row = contributions(problem)[record]
        for total in piece.others:
            same = selections[tuple(_input(problem, total + added) for added in row)]
            if same not in lines:
                raise InputError(f"certificate: no law of record {record} is about every one of its selections")
            yield record, total, f"({class_text(lines[same], outputs)})"


def _piece_witness(problem: WorstCaseLeakage, certificate: Certificate) -> dict[str, object]:
    first, line = certificate.lower_lines()
    assert isinstance(first, PieceOfWitness)
    assert isinstance(line, WitnessLine)
    if line.prior is None or line.prior == UNIFORM:
        raise no_theorem("a block's witness that is none, or uniform")
    placed = next(
        placed
        for placed, (piece, _) in _placed_pieces(problem)
        if (piece.block, piece.written) == (first.block, first.total)
    )
    rows: Any = line.prior
    return {
        "block": first.block,
        "dataset": _piece(problem, first.block).dataset(placed.total),
        "prior": f"Witness {line.record or 0} {_weights(_spread(row, placed.inputs) for row in rows)}",
    }


def _spread(row: Sequence[str], inputs: Sequence[int]) -> list[str]:
    """Numbers for a block's own inputs, where these stand among all."""
    places = dict(zip(inputs, row, strict=True))
    return [places.get(k, "0") for k in range(max(inputs) + 1)]


def _placed_pieces(problem: WorstCaseLeakage) -> Iterator[tuple[PlacedBlock, tuple[Piece, WorstCaseLeakage]]]:
    """Each block with each sum of the others, and the question that certificates ask about it, which may be one for all sums."""
    adversary = as_blocks(problem.adversary)
    assert adversary is not None
    pieces = {(piece.block, piece.total): (piece, question) for piece, question in problem.pieces}
    for placed in placed_blocks(problem.query, problem.records, adversary):
        yield placed, pieces.get((placed.block, None)) or pieces[placed.block, placed.total]


def _piece_proofs(problem: WorstCaseLeakage, certificate: Certificate) -> Iterator[tuple[int, int, str]]:
    sections = dict[tuple[int, str | None], dict[int, list[ProofLine]]]()
    for line in certificate.upper_lines():
        if isinstance(line, PieceSection):
            records = sections.setdefault((line.block, line.total), {})
        elif isinstance(line, RecordLine):
            current = records.setdefault(line.record, [])
        else:
            current.append(cast("ProofLine", line))
    named = {
        digest(question): (piece.block, piece.written)
        for piece, question in problem.pieces
        if (piece.block, piece.written) in sections
    }
    placed_pieces = list(_placed_pieces(problem))
    if len(placed_pieces) * problem.channel.size > MAX_SUMS:
        raise no_theorem(f"{len(placed_pieces)} sums of the other blocks' letters, which are too many")
    for placed, (_, question) in placed_pieces:
        if digest(question) not in named:
            raise InputError(
                f"certificate: no proof is about block {placed.block} where the others add up to {placed.total}"
            )
        place = Place.of(problem.channel[list(placed.inputs)], question.channel, placed.inputs)
        alphabets, proofs = placed.records.alphabets, sections[named[digest(question)]]
        texts = [section_text(record, proof, alphabets[record], place) for record, proof in proofs.items()]
        yield placed.block, placed.total, f"[{'; '.join(texts)}]"
