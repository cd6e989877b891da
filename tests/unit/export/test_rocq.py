"""Certificates as theorems: what is printed is the model as written, and what has no theorem is refused by name."""

import math
import re
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dalenius as dl
import support
from campaigns import draws, each
from dalenius.catalogue.models import library_model
from dalenius.cli import app
from dalenius.errors import InputError
from dalenius.export.rocq import rocq_text
from dalenius.export.rocq_proof import ONE
from dalenius.model import digest

FORMAL = Path(__file__).resolve().parents[3] / "formal"


def text_of(name: str) -> str:
    model = library_model(name)
    return rocq_text(model.load(), model.certificate())


def certificate_of(problem, *lines: str, lower: str = "0", upper: str = "1", more: str = "") -> dl.Certificate:
    header = (
        f'{{"format":"dalenius-certificate/2","problem":"maximal_leakage","model":"{digest(problem)}",'
        f'"lower":"{lower}","upper":"{upper}","unit":"nats","producer":""{more}}}'
    )
    return dl.Certificate("".join(f"{line}\n" for line in (header, *lines)))


def audit(query=None, mechanism=None, adversary=None, records=None) -> dl.WorstCaseLeakage:
    return support.problem(
        records or dl.Records(alphabets=[2, 3]),
        query or dl.Sum(),
        mechanism or dl.geometric(1.0),
        adversary or dl.EntropyAtLeast("0.7 max"),
    )


WITNESS = '["witness",null,null]'
LEAF = '["joint","1","0",null,["1","1","1","1"]]'


def test_the_claim_is_the_model_as_written():
    lines = text_of("parity/laplace-n4").splitlines()
    start = lines.index("Definition the_model : model := Model")
    assert lines[start + 1 : start + 5] == ["  [2; 2; 2; 2]%nat", "  parity", "  2", "  (laplace_threshold (1 # 1)%Q)."]
    claim = next(k for k, line in enumerate(lines) if line.startswith("Definition the_claim"))
    assert lines[claim].endswith("leakage_between the_model (EntropyAtLeast (Nats (1 # 1)%Q))")
    ends = [Fraction(*map(int, re.findall(r"\d+", line)[:2])) for line in lines[claim + 1 : claim + 3]]
    assert tuple(ends) == library_model("parity/laplace-n4").certificate().header.claim


@each(
    "query, records, written",
    (dl.Parity(), dl.Records(2, alphabet=3), "parity"),
    (dl.ModularSum(3), dl.Records(2, alphabet=3), "(modular_sum 3)"),
    (dl.Count([0, 2]), dl.Records(2, alphabet=3), "(count_of [0; 2]%nat)"),
    (dl.Sum(), dl.Records(2, alphabet=3), "total"),
    (dl.Sum([0, -1, 5]), dl.Records(alphabets=[2, 3]), "(weighted [[0; -1]%Z; [0; -1; 5]%Z])"),
    (dl.Sum([[1, 2], [0, 4, 3]]), dl.Records(alphabets=[2, 3]), "(weighted [[1; 2]%Z; [0; 4; 3]%Z])"),
    (dl.Threshold(2), dl.Records(2, alphabet=3), "(threshold (2))"),
    (dl.Table([5, 1, 1, 5]), dl.Records(2, alphabet=2), "(table [2; 2]%nat [5; 1; 1; 5]%Z)"),
    (dl.Identity(), dl.Records(2, alphabet=2), "(identity [2; 2]%nat)"),
)
def test_queries(query, records, written):
    problem = audit(query, dl.randomized_response(1.0), records=records)
    outputs = len(problem.channel[0])
    law = ",".join(['"1"'] * outputs)
    leaf = f'["joint","1","0",null,[{law}]]'
    text = rocq_text(problem, certificate_of(problem, WITNESS, '["record",0]', leaf))
    assert f"\n  {written}\n  {outputs}\n  (randomized_response [" in text


def test_datasets_are_counted_by_sums():
    text = text_of("scale/parity-n1000")
    assert "\n  (repeat 2 1000)%nat\n  parity\n" in text
    assert "Definition the_sums : sums := sums_of_parity (alphabets the_model)." in text
    assert "exact (parity_additive (alphabets the_model) _ _)." in text
    assert "Definition the_counts := sum_tables the_sums the_values [0]%nat." in text
    weighted = text_of("sum/unequal-alphabets")
    assert ":= sums_of_weighted [[0; 1]%Z; [0; 1; 3]%Z; [0; 1]%Z]." in weighted
    listed = text_of("table/and-2x2")
    assert "  (table [2; 2]%nat [0; 0; 0; 1]%Z)\n" in listed
    assert ":= sums_of_table [0; 0; 0; 1]%Z (alphabets the_model)." in listed


def test_independent_records_are_told_the_others_sum():
    text = text_of("count/independent-n8")
    assert "leakage_between the_model (ProductPriors 8)" in text
    assert "Definition the_witness := PieceWitness 0 [0; " in text
    assert [int(x) for x in re.findall(r"PieceProof 0 \((\d)\)", text)] == sorted(range(8), reverse=False)
    assert text.count("(LawOfClass [") == 8
    others = re.search(r"PieceWitness 0 \[0; ([^\]]*)\]%nat \(ClassWitness \[([^\]]*)\] \[\]\)", text)
    assert len(others[1].split("; ")) == 7
    assert len(others[2].split("; ")) == 2  # a weight for each letter


BOX = dl.BoxPriors(["0.4", "0.2", 0], ["0.6", "0.4", "0.2"])
NEAR = ["0.5", "0.3", "0.2"]
LETTERS = "[(1 # 2)%Q; (3 # 10)%Q; (1 # 5)%Q]"


@each(
    "adversary, multipliers, written, hint",
    (dl.FloorPriors("0.1"), "null", "Floor (1 # 10)%Q", "[]"),
    (BOX, "null", "Box [(2 # 5)%Q; (1 # 5)%Q; (0 # 1)%Q] [(3 # 5)%Q; (2 # 5)%Q; (1 # 5)%Q]", "[]"),
    (dl.PolytopePriors([NEAR]), "null", f"Polytope [\n    {LETTERS}]", "[]"),
    (
        dl.adversaries.MomentPriors([0, -1, "0.5"], "-0.2", "0.1"),
        '["0.5"]',
        "Moment [(0 # 1)%Q; (-1 # 1)%Q; (1 # 2)%Q] (-1 # 5)%Q (1 # 10)%Q",
        f"[{ONE // 2}]%Z",
    ),
    (dl.L1BallPriors(NEAR, "0.2"), "null", f"L1Ball {LETTERS} (1 # 5)%Q", "[]"),
    (dl.KLBallPriors(NEAR, "0.02"), '["0.5"]', f"KLBall {LETTERS} (1 # 50)%Q", f"[{ONE // 2}]%Z"),
    (
        dl.ChiSquareBallPriors(NEAR, "0.04"),
        '["0.5","-0.25"]',
        f"ChiSquareBall {LETTERS} (1 # 25)%Q",
        f"[{ONE // 2}; {-ONE // 4}]%Z",
    ),
)
def test_classes_of_laws_and_their_multipliers(adversary, multipliers, written, hint):
    problem = audit(adversary=adversary, records=dl.Records(2, alphabet=3))
    lines = [f'["law",[{j}],["1","1","1","1","1"],{multipliers}]' for j in range(3)]
    text = rocq_text(problem, certificate_of(problem, WITNESS, '["record",0]', *lines))
    assert f"leakage_between the_model (LawsOfClass 2 ({written}))" in text
    fifth = "; ".join([str(ONE // 5)] * 5)
    proofs = [f"  PieceProof 0 ({total}) (LawOfClass [{fifth}]%Z {hint})." for total in range(3)]
    assert [line for line in text.splitlines() if line.startswith("  PieceProof")] == proofs
    assert "(class_blocks_correct the_model the_sums the_values _ _ _ _ the_witness " in text
    letters = rocq_text(problem, certificate_of(problem, WITNESS, '["record",0]', '["letters"]'))
    assert letters.count(" (LettersOfClass).") == 3


@each(
    "adversary, prior, written",
    (dl.FloorPriors("0.1"), '["6","1","3"]', "[(6 # 1)%Q; (1 # 1)%Q; (3 # 1)%Q] []"),
    (dl.PolytopePriors([NEAR, [0, 1, 0]]), '["1","3"]', "[(1 # 2)%Q; (33 # 10)%Q; (1 # 5)%Q] [(1 # 1)%Q; (3 # 1)%Q]"),
    (dl.PolytopePriors([NEAR, [0, 1, 0]]), None, f"{LETTERS} [(1 # 1)%Q; (0 # 1)%Q]"),
    (dl.L1BallPriors(NEAR, 0), None, f"{LETTERS} []"),
)
def test_witnesses_of_classes(adversary, prior, written):
    """A polytope's have the shares of its vertices, too; who has none stands for any law of the class."""
    problem = audit(adversary=adversary, records=dl.Records(2, alphabet=3))
    line = WITNESS if prior is None else f'["witness",1,[2,{prior}]]'
    text = rocq_text(problem, certificate_of(problem, line, '["record",0]', '["letters"]'))
    place = "0 [0; 0]" if prior is None else "1 [2; 0]"
    assert f"Definition the_witness := PieceWitness {place}%nat (ClassWitness {written})." in text


def test_of_the_uniform_prior_alone_nothing_is_told_from_above():
    text = text_of("degenerate/uniform-only")
    assert "Witness 0 (row_at the_counts 0)" in text
    assert "the_witness [] _ _)" in text
    assert "(EntropyAtLeast (Share (1 # 1)%Q))" in text


def test_blocks_are_told_the_others_sum():
    text = text_of("households/majority-n101")
    assert f"(IndependentBlocks [{'; '.join(['3'] * 33)}; 2]%nat (EntropyAtLeast (Nats (0 # 1)%Q)))" in text
    assert re.findall(r"PieceProof (\d+) \((\d+)\) \[  Section 0", text) == [
        ("0", "48"),
        ("0", "49"),
        ("0", "50"),
        ("33", "49"),
        ("33", "50"),
    ]
    witness = re.search(r"PieceWitness 33 \[([^\]]*)\]%nat", text)
    assert sum(map(int, witness[1].split("; "))) == 49
    assert witness[1].endswith("; 0; 0")


def test_a_block_whose_noise_hides_the_others_has_groups_of_outputs():
    """For every sum of the others the block's own outputs are groups of the model's, with a law in each."""
    text = text_of("households/count-n6-b0.6")
    assert "(IndependentBlocks [2; 2; 2]%nat (EntropyAtLeast (Share (3 # 5)%Q)))" in text
    assert "PieceWitness 0 [0; 0; 0; 0; 0; 0]%nat (Witness 0 [[" in text
    found = re.findall(r"PieceProof 0 \((\d)\) \[  Section 0 \(\n\(Group \[(.*?)\] \[(.*?)\]%Z", text)
    groups = [
        [[int(y) for y in re.findall(r"\d+", part)] for part in parts.split("%nat")[:-1]] for _, parts, _ in found
    ]
    assert groups == [
        [list(range(t + 1)), [t + 1], list(range(t + 2, 7))]  # at most what the others have, and at least that and two
        for t in range(5)
    ]
    for parts, (_, _, laws) in zip(groups, found, strict=True):
        law = [int(x) for x in laws.split("; ")]
        assert len(law) == 7
        assert all(ONE - 7 <= sum(law[y] for y in part) <= ONE for part in parts)
        low = [law[y] for y in parts[0]]
        assert low[1:] == pytest.approx(
            [low[0] * (math.exp(0.5 * k) - math.exp(0.5 * (k - 1))) for k in range(1, len(low))]
        )


def test_rows_of_the_values_that_a_block_makes_with_the_others():
    """Where the rows are listed nothing is grouped, and a class tree names the model's inputs."""
    rows = [[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    problem = audit(dl.Count(), dl.Channel(rows), dl.IndependentBlocks(sizes=[1, 2]), dl.Records(3, alphabet=2))
    tree = ['["vertices"]', '["part",0,[0]]', '["letters"]', '["letters"]']
    blocks = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    lines = [line for block, total in blocks for line in (f'["block",{block},"{total}"]', '["record",0]', *tree)]
    witness = ('["at",1,"1"]', '["witness",1,[["1","0","0"],["0","0","2"]]]')
    text = rocq_text(problem, certificate_of(problem, *witness, *lines))
    assert re.findall(r"\(Part 0 \[(\d)\]", text) == ["0", "1", "2", "0", "1"]
    assert "Group" not in text
    assert "PieceWitness 1 [1; 0; 0]%nat (Witness 1 [[0; 1; 0; 0]%Z; [0; 0; 0; 2]%Z])." in text
    with pytest.raises(InputError, match="no proof is about block 1 where the others add up to 1"):
        rocq_text(problem, certificate_of(problem, *witness, *lines[:-6]))


@each(
    "mechanism, written",
    (dl.geometric(1.0), "(geometric (1 # 1)%Q (0) (3))"),
    (dl.geometric("0.5", range=(-1, 4)), "(geometric (1 # 2)%Q (-1) (4))"),
    (dl.exponential(3.0), "(exponential (3 # 2)%Q (0))"),
    (dl.exponential(3.0, sensitivity=2, range=(-2, 5)), "(exponential (3 # 4)%Q (-2))"),
    (dl.symmetric("0.3"), "(symmetric [0; 1; 2; 3]%Z (3 # 10)%Q)"),
    (dl.randomized_response("0.7"), "(randomized_response [0; 1; 2; 3]%Z (7 # 10)%Q)"),
)
def test_mechanisms(mechanism, written):
    problem = audit(mechanism=mechanism)
    law = ",".join(['"1"'] * len(problem.channel[0]))
    text = rocq_text(problem, certificate_of(problem, WITNESS, '["record",0]', f'["joint","1","0",null,[{law}]]'))
    assert f"  {written}.\n" in text


def test_hints_are_in_parts_and_trees_close():
    problem = audit(dl.Sum(), dl.geometric(1.0))
    text = rocq_text(
        problem,
        certificate_of(
            problem,
            '["witness",1,[["1","0","0","0"],["0","0.5","0","0"],["0","0","1/3","0"]]]',
            '["record",1]',
            '["split",2,1,"0.25"]',
            '["joint","0.5","0.5",[["1","0","0","0"],null,null],["0","1","1","2"]]',
            '["cut",3,"0.5"]',
            '["row",null]',
            '["row",["1","2","3","4"]]',
            '["as",0]',
            '["as",0,[0,1,2,3],[3,2,1,0]]',
            '["joint","0","0.5",null,null]',
        ),
    )
    half = ONE // 2
    assert "Definition the_witness := Witness 1 [[6; 0; 0; 0]%Z; [0; 3; 0; 0]%Z; [0; 0; 2; 0]%Z]." in text
    assert f"(Split 2 1 ({ONE // 4})\n(Joint ({half}) ({half}) [[{ONE}; 0; 0; 0]%Z; []; []]" in text
    tree = f"\n(RowCut {{}} ({half})\n(Row [] [])\n(Row [{{}}]%Z []))"
    forward, backward = ["; ".join(str(ONE * x) for x in slopes) for slopes in ([1, 2, 3, 4], [4, 3, 2, 1])]
    trees = "; ".join([tree.format(3, forward), tree.format(3, forward), tree.format(0, backward)])
    assert f"[{trees}]" in text
    assert text.count("(") == text.count(")")
    law = [int(x) for x in re.search(r"\[\]; \[\]\] \[([^]]*)\]%Z", text)[1].split("; ")]
    assert ONE - 4 <= sum(law) <= ONE
    assert law[0] == 1
    assert law[1] == law[2] == (ONE - 4) // 4  # equal weights are equal parts, as symmetries of a proof ask


def test_groups_chambers_and_their_images():
    """The tree of a letter, and of one whose outputs are read backwards: groups and orders move, what is about groups does not."""
    problem = audit(dl.Count(), dl.geometric(1.0), records=dl.Records(3, alphabet=2))
    text = rocq_text(
        problem,
        certificate_of(
            problem,
            WITNESS,
            '["record",0]',
            '["joint","1","0.5",null,["1","1","1","1"]]',
            '["chamber",0,[[[3,2,1,0],[3,2,1,0]],[[1,0,2,3],[0,1,3,2]]]]',
            '["group",[[0,1],[2],[3]]]',
            '["cut",1,"0.5"]',
            '["row",["1","2","3"],[["4","5","6","7"]]]',
            '["row",null,[null]]',
            '["as",0,[3,2,1,0],[3,2,1,0]]',
        ),
    )
    first, second = text[text.index("\n(Chamber") :].split("; \n(Chamber")
    forward, backward = "[3; 2; 1; 0]%nat", "[1; 0; 2; 3]%nat"
    assert f"(Chamber 0 [({forward}, {forward}); ({backward}, [0; 1; 3; 2]%nat)]" in first
    assert f" 3 [({forward}, {forward}); ([0; 1; 3; 2]%nat, {backward})]" in second
    assert "(RowGroup [[0; 1]%nat; [2]%nat; [3]%nat]" in first
    assert "(RowGroup [[3; 2]%nat; [1]%nat; [0]%nat]" in second
    leaf = "(Row [{}]%Z [[{}]%Z])"
    own = "; ".join(str(ONE * x) for x in (1, 2, 3))
    assert leaf.format(own, "; ".join(str(ONE * x) for x in (4, 5, 6, 7))) in first
    assert leaf.format(own, "; ".join(str(ONE * x) for x in (7, 6, 5, 4))) in second
    assert all("(RowCut 1 (" in part and "(Row [] [[]])" in part for part in (first, second))
    assert text.count("(") == text.count(")")


def test_orbits():
    problem = audit(dl.Count(), dl.geometric(1.0), records=dl.Records(3, alphabet=2))
    for word, of in (("orbit", "OfConditional"), ("orbit-split", "OfPosterior")):
        line = f'["{word}","below",0,1,"0.25",[[[1,0],[3,2,1,0],[3,2,1,0]]]]'
        text = rocq_text(problem, certificate_of(problem, WITNESS, '["record",0]', line, LEAF, LEAF))
        assert f"(Orbit {of} Below 0 1 ({ONE // 4}) [([1; 0]%nat, [3; 2; 1; 0]%nat, [3; 2; 1; 0]%nat)]\n(Joint" in text


def test_class_trees():
    problem = audit()
    lines = ['["vertices"]', '["part",2,[3]]', '["law",["1","1","1","1"]]', '["letters"]']
    text = rocq_text(problem, certificate_of(problem, WITNESS, '["record",1]', *lines))
    quarter = "; ".join([str(ONE // 4)] * 4)
    assert f"(Vertices\n(Part 2 [3]%nat\n(Law [{quarter}]%Z)\n(Letters)))" in text


@each(
    "problem, lines, what",
    (
        audit(adversary=dl.IndependentBlocks(1), records=dl.Records(2, alphabet=2)),
        ['["block",0,null]', '["record",0]', '["joint","1","0.5",null,["1","1"]]', '["chamber",0,[]]'],
        "lines 'chamber' of a block",
    ),
    (
        audit(adversary=dl.IndependentBlocks(2), records=dl.Records(200, alphabet=3)),
        ['["block",0,null]', '["record",0]', '["vertices"]', '["letters"]'],
        "397 sums of the other blocks' letters",
    ),
    (audit(adversary=dl.ProductPriors()), ['["record",0]', LEAF], "lines 'joint' of independent records"),
    (audit(mechanism=dl.discrete_laplace(epsilon=1.0)), ['["record",0]', LEAF], "mechanism 'discrete_laplace'"),
    (audit(records=dl.Records(3000, alphabet=2)), ['["record",0]', LEAF], "sums of 3000 records"),
    (audit(dl.Count(), records=dl.Records(2000, alphabet=2)), ['["record",0]', LEAF], "sums of 2000 records"),
    (
        audit(dl.Identity(), dl.symmetric("0.1"), records=dl.Records(12, alphabet=2)),
        ['["record",0]', LEAF],
        "counting by 4096 sums of 12 records",
    ),
    (
        audit(),
        ['["record",0]', LEAF.replace('"0"', '"0.5"'), '["separate","0"]', '["as",0]'],
        "lines 'separate'",
    ),
    (audit(adversary=dl.EntropyAtLeast("1 nats")), ['["record",0]', '["uniform"]'], "lines 'uniform'"),
)
def test_what_has_no_theorem_is_refused_by_name(problem, lines, what):
    with pytest.raises(InputError, match=f"rocq: no theorem yet about .*{re.escape(what)}"):
        rocq_text(problem, certificate_of(problem, WITNESS, *lines))


def test_a_law_for_every_selection_is_needed():
    problem = audit(adversary=dl.ProductPriors())
    lines = ('["record",0]', '["law",[0,2],["1","1","1","1"]]')
    support.refused(lambda: rocq_text(problem, certificate_of(problem, WITNESS, *lines)), "no law of record 0")


def test_a_curve_is_lines_above_and_points_below():
    """The points' witnesses follow that of the lower end; who has none stands for the uniform prior."""
    problem = audit(dl.Count(), dl.geometric(1.0), records=dl.Records(3, alphabet=2))
    curve = ',"curve":{"above":[["0.75","0.25"],["1/2","0"]],"below":[["4/5 max","0.125"],["1 nats","0"]]}'
    priors = (
        '["witness",1,[["1","0","0","0"],["0","1","0","0"]]]',
        '["witness",0,[["0","1","0","0"],["0","0","3","0"]]]',
    )
    text = rocq_text(problem, certificate_of(problem, *priors, WITNESS, '["record",0]', LEAF, more=curve))
    lines = text[text.index("Definition the_curve") :].splitlines()
    assert lines[:5] == [
        "Definition the_curve : Prop := leakage_curve the_model",
        "  [((3 # 4)%Q, (1 # 4)%Q);",
        "   ((1 # 2)%Q, (0 # 1)%Q)]",
        "  [((Share (4 # 5)%Q), (1 # 8)%Q);",
        "   ((Nats (1 # 1)%Q), (0 # 1)%Q)].",
    ]
    assert "Definition the_counts := sum_tables the_sums the_values [0; 1]%nat." in lines
    assert "Definition the_witness := Witness 1 [[1; 0; 0; 0]%Z; [0; 1; 0; 0]%Z]." in lines
    first = "Definition the_witnesses := [Witness 0 [[0; 1; 0; 0]%Z; [0; 0; 3; 0]%Z];"
    assert lines[lines.index(first) + 1] == "   Witness 0 (row_at the_counts 0)]."
    assert "Theorem claim : the_claim /\\ the_curve." in lines


def test_listed_priors_are_the_claim():
    text = text_of("count/listed-priors")
    assert (
        "leakage_between the_model (Listed [\n    [(1 # 2)%Q; (0 # 1)%Q; (0 # 1)%Q; (1 # 2)%Q];\n    [(2 # 5)%Q; "
        in text
    )
    assert "(listed_correct the_model the_sums the_values _ _ _ 0 0 by_the_sums _)" in text


def test_other_models_are_refused():
    problem = audit()
    with pytest.raises(InputError, match="another model's"):
        rocq_text(audit(dl.Count()), certificate_of(problem, WITNESS, '["record",0]', LEAF))


def test_the_command_writes_a_file(tmp_path):
    path = tmp_path / "claim.v"
    model = library_model("parity/laplace-n4")
    runner = CliRunner()
    for argument in ("parity/laplace-n4", str(model.path), str(model.certificate_path)):
        done = runner.invoke(app, ["export", argument, "--format", "rocq", "-o", str(path)])
        assert done.exit_code == 0, done.output
        assert path.read_text() == text_of("parity/laplace-n4")
    printed = runner.invoke(app, ["export", "parity/laplace-n4", "--format", "rocq"])
    assert printed.stdout == text_of("parity/laplace-n4")
    assert runner.invoke(app, ["export", "parity/laplace-n4", "--format", "rocq", "--program", "row"]).exit_code != 0
    assert runner.invoke(app, ["export", "parity/laplace-n4"]).exit_code != 0


def test_a_model_without_a_certificate_beside_it(tmp_path):
    copy = tmp_path / "model.toml"
    copy.write_bytes(library_model("parity/laplace-n4").path.read_bytes())
    done = CliRunner().invoke(app, ["export", str(copy), "--format", "rocq"])
    assert isinstance(done.exception, SystemExit | InputError)
    assert done.exit_code != 0


def test_models_that_make_formal_proves_are_written():
    names = (FORMAL / "models.txt").read_text().split()
    assert len(set(names)) == len(names)
    for name in names[:: draws(3, 1)]:
        assert re.search(r"^Theorem claim : the_claim( /\\ the_curve)?\.$", text_of(name), re.MULTILINE), name


def test_the_theory_has_no_axioms_of_its_own():
    words = re.compile(r"^\s*(Axiom|Axioms|Parameter|Parameters|Conjecture|Admitted)\b|\badmit\b", re.MULTILINE)
    for path in sorted(FORMAL.glob("*.v")):
        assert not words.search(path.read_text()), path.name
