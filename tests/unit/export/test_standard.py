"""Every program in every format, read back bit for bit and solved by somebody else's solver."""

import gzip
import json
import math
from dataclasses import replace

import clarabel
import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array

import dalenius as dl
from campaigns import each, thinned
from dalenius import programs
from dalenius.errors import InputError
from dalenius.export import FORMATS, certify, digest, export, offers, parse_cbf, read_cbf, read_json
from dalenius.export.cbf import cbf_text
from dalenius.export.solution import Solution
from dalenius.export.standard import json_text, parse_json
from dalenius.export.writers import clarabel_text, sdpa_text, write_mosek
from dalenius.programs import Program, StandardForm
from dalenius.programs.standard_form import Columns, Rows
from instances import MAKERS, program_classes
from support import refused, refuses

NAMES = sorted(MAKERS)
COPT = 1e-5  # its constraints hold to 1e-6
MOSEK = "needs MOSEK's reader: pip install mosek; no licence is needed"
ODD = [0.1, -1.0 / 3.0, 5e-324, -1.7976931348623157e308, 1e-300, 123456789.123456789, -1e22, 2.0**-1022]


def make(instances, name, seed=0) -> Program:
    return instances.make(getattr(programs, name), seed)


def same_numbers(first: StandardForm, second: StandardForm) -> bool:
    """Whether two instances agree to the last bit, whatever their names."""
    pairs = [(first.c, second.c), (first.b, second.b), (first.A.data, second.A.data)]
    places = [(first.A.indptr, second.A.indptr), (first.A.indices, second.A.indices)]
    return (
        all(x.tobytes() == y.tobytes() for x, y in pairs)
        and all(np.array_equal(x, y) for x, y in places)
        and (first.offset, first.maximises, first.sizes) == (second.offset, second.maximises, second.sizes)
    )


def lopsided() -> StandardForm:
    """Maximise x with exp(x) <= 2; with the cone the other way round, exp(2) <= x, it would be unbounded."""
    A = csr_array(np.array([[1.0], [0.0], [0.0]]))
    rows = (Rows("cone", "exponential", ()),)
    return StandardForm(
        "lopsided", True, np.array([1.0]), 0.25, A, np.array([0.0, 1.0, 2.0]), (Columns("x", ()),), rows
    )


def odd() -> StandardForm:
    """Doubles that are hard to write."""
    size = len(ODD)
    A = csr_array(np.diag(ODD))
    rows = (Rows("odd", "nonnegative", (size,)),)
    return StandardForm("odd", False, np.array(ODD[::-1]), ODD[1], A, np.array(ODD), (Columns("x", (size,)),), rows)


def test_every_program_has_an_instance():
    assert sorted(cls.__name__ for cls in program_classes()) == NAMES


@each("name", *NAMES)
def test_the_standard_form_is_the_model(name, instances, solver):
    """At a point with its own auxiliaries the objective is the program's, and named parts have their shapes."""
    program = make(instances, name)
    form = program.standard_form()
    x, z, value = solver(form)
    variables, duals = form.variables(x), form.duals(z)
    assert {key: v.shape for key, v in variables.items()} == {k: v.shape for k, v in program.variables.items()}
    assert {key: v.shape for key, v in duals.items()} == {k: c.shape for k, c in program.constraints.items()}
    for key, variable in program.variables.items():
        variable.save_value(variables[key])
    assert program.problem.objective.value == pytest.approx(value, abs=1e-6)
    assert max(instances.outside(c) for c in program.problem.constraints) <= 1e-6
    sign = -1.0 if form.maximises else 1.0
    assert abs(form.A.T @ z - sign * form.c).max() <= 1e-6
    assert form.offset - sign * (form.b @ z) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", thinned([0, 1], every=2))
def test_cbf_is_read_back_and_solved_by_another_tool(name, seed, instances, solver, tmp_path):
    program = make(instances, name, seed)
    form = program.standard_form()
    read = read_cbf(export(program, tmp_path / "x.cbf", format="cbf"))
    assert same_numbers(read, form)
    x, z, value = solver(read)
    answer = certify(program, Solution(x, z))
    assert answer.lower - 1e-7 <= value <= answer.upper + 1e-7
    truth = program.solve(gap=1e-7, time_limit=20)
    assert answer.lower <= truth.upper
    assert truth.lower <= answer.upper
    if name != "RowUpdate":  # exported is its relaxation
        assert truth.lower - 1e-7 <= value <= truth.upper + 1e-7
        assert answer.gap <= 1e-4 * (1.0 + abs(value))


@pytest.mark.parametrize("name", NAMES)
def test_our_own_format_is_read_back_with_all_its_names(name, instances, tmp_path):
    form = make(instances, name).standard_form()
    read = read_json(export(form, tmp_path / "x.json", format="json"))
    assert same_numbers(read, form)
    assert (read.columns, read.rows, read.program) == (form.columns, form.rows, form.program)
    assert digest(read) == digest(form)


@pytest.mark.parametrize("name", NAMES)
def test_clarabel_loads_its_file_and_solves_it(name, instances, solver, clarabel_settings, tmp_path):
    program = make(instances, name)
    form = program.standard_form()
    path = export(program, tmp_path / "x.json", format="clarabel")
    found = clarabel.load_from_file(str(path), clarabel_settings()).solve()
    _, z, value = solver(form)
    assert form.value(np.array(found.x)) == pytest.approx(value, abs=1e-9)
    assert np.array(found.z) == pytest.approx(z, abs=1e-6)


def test_clarabels_file_has_every_bit():
    form = odd()
    file = json.loads(clarabel_text(form))
    A = file["A"]
    assert file["q"] == form.c.tolist()
    assert file["b"] == form.b.tolist()
    assert (A["colptr"], A["rowval"]) == (list(range(len(ODD) + 1)), list(range(len(ODD))))
    assert A["nzval"] == [-x for x in ODD]


@each("form", lopsided(), odd())
def test_texts_have_every_bit(form):
    assert same_numbers(parse_json(json_text(form)), form)
    assert same_numbers(parse_cbf(cbf_text(form)), form)


def without(part: str) -> StandardForm:
    """An instance whose cost, matrix or constants are all 0."""
    form = lopsided()
    return replace(form, **{part: csr_array(form.A.shape) if part == "A" else np.zeros_like(getattr(form, part))})


ITEMS = {"c": "OBJACOORD", "A": "ACOORD", "b": "BCOORD"}


@each("part", *ITEMS)
def test_an_item_of_no_lines_is_left_out(part):
    text = cbf_text(without(part))
    assert [item for item in ITEMS.values() if item not in text.splitlines()] == [ITEMS[part]]
    assert same_numbers(parse_cbf(text), without(part))


def test_a_wrong_cone_order_would_show(solver, clarabel_settings, tmp_path):
    form = lopsided()
    for read in (form, parse_cbf(cbf_text(form)), parse_json(json_text(form))):
        assert solver(read)[2] == pytest.approx(math.log(2.0) + 0.25, abs=1e-8)
    path = export(form, tmp_path / "x.json", format="clarabel")
    found = clarabel.load_from_file(str(path), clarabel_settings()).solve()
    assert found.x[0] == pytest.approx(math.log(2.0), abs=1e-8)
    items = [line for line in cbf_text(form).splitlines() if line and not line.startswith("#")]
    assert items[items.index("ACOORD") + 1 :] == ["1", "2 0 1.0", "BCOORD", "2", "0 2.0", "1 1.0"]


def test_somebody_elses_cbf(solver):
    """Maximise h_1 + 2 h_2 - 1/2 with p in the simplex and h_i <= -p_i log p_i, variables in cones, (1, p, h) in EXP."""
    text = """# made by hand
VER
4

OBJSENSE
MAX

VAR
5 3
L+ 2
F 2
L- 1

CON
7 3
L= 1
EXP 3
EXP 3

OBJACOORD
3
2 1
3 2.0
4 1e0

OBJBCOORD
-.5

ACOORD
6
0 0 1
0 1 1
2 0 1
3 2 1
5 1 1
6 3 1

BCOORD
3
0 -1
1 1
4 1
"""
    x, _, value = solver(parse_cbf(text))
    p = np.linspace(1e-6, 1.0 - 1e-6, 200_001)
    best = np.max(-p * np.log(p) - 2.0 * (1.0 - p) * np.log1p(-p)) - 0.5
    assert value == pytest.approx(best, abs=1e-6)
    assert x[4] == pytest.approx(0.0, abs=1e-6)


def linear() -> StandardForm:
    """Minimise 0.1 x0 + x1/3 + 2/3 over x0 + x1 = 1, x0 >= 1/7, x1 >= 0, 3 x0 + x1/7e5 + 2 >= 0."""
    A = coo_array(([1.0, 1.0, 1.0, 1.0, 3.0, 1.0 / 7e5], ([0, 0, 1, 2, 3, 3], [0, 1, 0, 1, 0, 1])), shape=(4, 2))
    rows = (Rows("total", "zero", ()), Rows("signs", "nonnegative", (3,)))
    b = np.array([-1.0, -1.0 / 7.0, 0.0, 2.0])
    return StandardForm(
        "line", False, np.array([0.1, 1.0 / 3.0]), 2.0 / 3.0, csr_array(A), b, (Columns("x", (2,)),), rows
    )


def turned() -> StandardForm:
    """The same as a maximum, its variables called otherwise."""
    form = linear()
    columns = (Columns("first", ()), Columns("second", (1,)))
    return StandardForm("line", True, -form.c, -form.offset, form.A, form.b, columns, form.rows)


@pytest.fixture(scope="module")
def copt():
    """COPT's environment; without a licence it solves small instances."""
    return pytest.importorskip("coptpy", reason="needs COPT: pip install coptpy").Envr()


def highs_of(path):
    """HiGHS, with a file read without a warning."""
    highspy = pytest.importorskip("highspy", reason="needs HiGHS: pip install highspy")
    model = highspy.Highs()
    model.silent()
    assert model.readModel(str(path)) == highspy.HighsStatus.kOk
    return model


def names_of(parts) -> list[str]:
    return [f"{part.name}_{j}" for part in parts for j in range(part.size)]


def assert_same_lp(read, form) -> None:
    """What HiGHS has read is the instance: every number in its place, every name."""
    places = read.a_matrix_.index_, read.a_matrix_.start_
    A = csr_array(csc_array((read.a_matrix_.value_, *places), shape=form.A.shape))
    A.sort_indices()
    equal = np.repeat([part.cone == "zero" for part in form.rows], [part.size for part in form.rows])
    assert same_numbers(replace(form, A=A, c=np.array(read.col_cost_), b=-np.array(read.row_lower_) + 0.0), form)
    assert (read.offset_, read.sense_.name == "kMaximize") == (form.offset, form.maximises)
    assert np.array_equal(read.row_upper_, np.where(equal, read.row_lower_, np.inf))
    assert np.all(np.isinf([read.col_lower_, read.col_upper_]))
    assert (list(read.col_names_), list(read.row_names_)) == (names_of(form.columns), names_of(form.rows))


@pytest.mark.parametrize("format", ["mps", "lp"])
@pytest.mark.parametrize("case", ["minimum", "maximum", *NAMES])
def test_linear_formats_keep_every_bit_or_refuse(case, format, instances, tmp_path):
    """Read by HiGHS as it is; solved by it, the value is in the certified interval."""
    program = make(instances, case) if case in NAMES else None
    form = program.standard_form() if program is not None else {"minimum": linear, "maximum": turned}[case]()
    path = tmp_path / f"x.{format}"
    if not form.linear:
        refused(lambda: export(form, path, format=format), "exponential cones")
        assert not list(tmp_path.iterdir())
        return
    model = highs_of(export(form, path, format=format))
    assert_same_lp(model.getLp(), form)
    model.run()
    value = model.getInfo().objective_function_value
    if program is None:
        assert value == pytest.approx(form.value(np.array([1.0, 0.0])), abs=1e-12)
    else:
        truth = program.solve(gap=1e-9)
        assert truth.lower - 1e-9 <= value <= truth.upper + 1e-9


@pytest.mark.parametrize("format", ["mps", "lp"])
@pytest.mark.parametrize(
    ("part", "number"), [("A", 1e-9), ("A", -5e-324), ("A", 1e15), ("b", -1e20), ("c", 1e20), ("offset", 1e300)]
)
def test_linear_formats_refuse_numbers_that_readers_change(part, number, format, tmp_path):
    """HiGHS drops such an entry, refuses it, or takes it for infinite; the next number inside is read as it is."""

    def with_number(x):
        form = linear()
        if part == "A":
            return replace(form, A=csr_array((np.append(x, form.A.data[1:]), form.A.indices, form.A.indptr)))
        return replace(form, **{part: x if part == "offset" else np.append(x, getattr(form, part)[1:])})

    refused(lambda: export(with_number(number), tmp_path / f"x.{format}", format=format), "would change the number")
    assert not list(tmp_path.iterdir())
    form = with_number({1e-9: 1.0000001e-9, -5e-324: -1.1e-9, 1e15: 9e14}.get(number, 0.9e20))
    read = highs_of(export(form, tmp_path / f"x.{format}", format=format)).getLp()
    assert sorted(read.a_matrix_.value_) == sorted(form.A.data.tolist())
    assert list(read.col_cost_) == form.c.tolist()
    assert list(read.row_lower_) == (-form.b).tolist()
    assert read.offset_ == form.offset


@pytest.mark.parametrize("form", [linear(), turned()], ids=["minimum", "maximum"])
@pytest.mark.parametrize("format", ["mps", "lp"])
def test_more_readers_of_linear_files(format, form, request, tmp_path):
    """SCIP and COPT, where they are installed: both solve what they read, constant and sense included."""
    path = str(export(form, tmp_path / f"x.{format}", format=format))
    value = form.value(np.array([1.0, 0.0]))
    scip = pytest.importorskip("pyscipopt", reason="needs SCIP: pip install pyscipopt").Model()
    scip.hideOutput()
    scip.readProblem(path)
    scip.optimize()
    assert scip.getObjVal() == pytest.approx(value, abs=1e-12)
    copt = request.getfixturevalue("copt").createModel("linear")
    copt.setParam("Logging", 0)
    copt.read(path)
    copt.solve()
    assert copt.objval == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("format", ["mps", "lp"])
def test_every_entry_of_a_linear_file_is_written_in_full(format, tmp_path):
    text = export(linear(), tmp_path / f"x.{format}", format=format).read_text()
    for number in ("0.3333333333333333", "0.6666666666666666", "0.14285714285714285", "1.4285714285714286e-06"):
        assert number in text


def sdpa_of(text: str) -> tuple[np.ndarray, list[int], list[np.ndarray]]:
    """What a .dat-s file says, read by the format's description: costs, sizes of blocks, and F_0, F_1, ... of each block."""
    _, variables, blocks, sizes, costs, *lines = text.splitlines()
    listed = [int(size) for size in sizes.split()]
    assert (len(listed), len(costs.split())) == (int(blocks), int(variables))
    F = [np.zeros((int(variables) + 1, abs(size), abs(size))) for size in listed]
    for line in lines:
        k, block, i, j, value = line.split()
        assert int(i) <= int(j), "the upper triangle"
        assert listed[int(block) - 1] > 0 or i == j, "a diagonal block"
        assert F[int(block) - 1][int(k), int(i) - 1, int(j) - 1] == 0.0, "each entry once"
        F[int(block) - 1][int(k), int(i) - 1, int(j) - 1] = float(value)
    whole = [each + np.swapaxes(np.triu(each, 1), 1, 2) for each in F]
    return np.array([float(c) for c in costs.split()]), listed, whole


def solved_sdpa(form: StandardForm, text: str) -> float:
    """The value of the instance by the file alone, for another model of cvxpy's."""
    costs, sizes, F = sdpa_of(text)
    x = cp.Variable(costs.size)
    blocks = [sum((x[k] * each[k + 1] for k in range(costs.size)), -each[0]) for each in F]
    within = [cp.diag(b) >= 0 if size < 0 else b >> 0 for size, b in zip(sizes, blocks, strict=True)]
    found = cp.Problem(cp.Minimize(costs @ x), within).solve(solver="CLARABEL")
    return form.offset + (-found if form.maximises else found)


def semidefinite() -> StandardForm:
    """Maximise x + y/3 over matrices [[1, x, y], [x, 1, 0], [y, 0, 1/7]] and |(x, y)| <= 0.3."""
    triangle, cone = np.zeros((6, 2)), np.zeros((3, 2))
    triangle[1, 0] = triangle[2, 1] = cone[1, 0] = cone[2, 1] = 1.0
    b = np.array([0.3, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0 / 7.0])
    rows = (Rows("norm", "second-order", (3,)), Rows("matrix", "semidefinite", (6,)))
    A = csr_array(np.vstack([cone, triangle]))
    return StandardForm("disc", True, np.array([1.0, 1.0 / 3.0]), 0.5, A, b, (Columns("x", (2,)),), rows)


def test_sdpa_sparse_is_the_instance(tmp_path):
    """Every number in its place, and solved by the file alone; exponential cones are refused."""
    form = semidefinite()
    text = export(form, tmp_path / "x.dat-s").read_text()
    costs, sizes, (arrow, matrix) = sdpa_of(text)
    assert costs.tolist() == (-form.c).tolist()
    assert sizes == [3, 3]
    assert arrow[0].tolist() == (-0.3 * np.eye(3)).tolist()
    assert arrow[1].tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert matrix[0].tolist() == np.diag([-1.0, -1.0, -1.0 / 7.0]).tolist()
    assert matrix[2].tolist() == [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    assert solved_sdpa(form, text) == pytest.approx(0.5 + 0.3 * math.hypot(1.0, 1.0 / 3.0), abs=1e-6)
    for line in (linear(), turned()):
        assert solved_sdpa(line, sdpa_text(line)) == pytest.approx(line.value(np.array([1.0, 0.0])), abs=1e-7)
    refused(
        lambda: export(lopsided(), tmp_path / "y.dat-s"),
        "sdpa: lopsided has exponential cones",
        "these do: cbf, clarabel, mosek, json",
    )
    refused(lambda: export(form, tmp_path / "y.lp"), "second-order and semidefinite cones", "these do: sdpa, json")


def models() -> dict[str, dl.problems.Problem]:
    """A model of every kind that offers programs."""
    bits, pair = {"records": dl.Records(3, alphabet=2), "query": dl.Count()}, dl.Records(alphabets=[2, 3])
    noisy = {"records": pair, "query": dl.Sum(), "mechanism": dl.geometric(1.0)}
    design = {"distortion": dl.Absolute(), "law": dl.Uniform()}
    listed = dl.PriorSet([["1/4", "1/4", 0, 0, 0, 0, "1/4", "1/4"], ["1/8"] * 8])
    shifts = {"records": dl.Records(2, alphabet=3), "query": dl.ModularSum(3), "mechanism": "additive"}
    least = {"max_distortion": "0.2"}
    return {
        "audit": dl.WorstCaseLeakage(**noisy, adversary=dl.EntropyAtLeast("0.7 max")),
        "audit, independent records": dl.WorstCaseLeakage(**noisy, adversary=dl.ProductPriors()),
        "least leakage": dl.MinLeakage(**bits, **design, adversary=dl.EntropyAtLeast("0.8 max"), **least),
        "least leakage, additive": dl.MinLeakage(
            **shifts, law=dl.Uniform(), distortion=dl.Hamming(), adversary=dl.EntropyAtLeast("0.8 max"), **least
        ),
        "least distortion": dl.MinDistortion(**bits, **design, adversary=listed, max_leakage="0.05 nats"),
        "least distortion, independent records": dl.MinDistortion(
            **bits, **design, adversary=dl.ProductPriors(), max_leakage="0.05 nats"
        ),
        "local differential privacy": dl.MinDistortion(**bits, **design, privacy=dl.LocalDP("log 2")),
        "pointwise maximal leakage": dl.MinDistortion(**bits, **design, privacy=dl.PointwiseMaximalLeakage("0.3")),
    }


@pytest.mark.parametrize("name", models())
def test_every_offer_in_every_format(name, solver, clarabel_settings, tmp_path):
    """Read back bit for bit; what two ways to Clarabel and one to HiGHS find is in the interval that its solution certifies."""
    for offer in offers(models()[name]):
        program = offer.make()
        form = program.standard_form()
        convex = [format for format in FORMATS if format not in ("mosek", "nl")]
        paths = {format: tmp_path / f"{offer.name}.{format}" for format in convex}
        for format, path in paths.items():
            if form.linear or format not in ("mps", "lp", "sdpa"):
                export(program, path, format=format)
        assert same_numbers(read_json(paths["json"]), form)
        read = read_cbf(paths["cbf"])
        assert same_numbers(read, form)
        x, z, value = solver(read)
        answer = certify(program, Solution(x, z))
        found = clarabel.load_from_file(str(paths["clarabel"]), clarabel_settings()).solve()
        values = [value, form.value(np.array(found.x))]
        if form.linear:
            values.append(solved_sdpa(form, paths["sdpa"].read_text()))
        for format in ("mps", "lp") if form.linear else ():
            model = highs_of(paths[format])
            assert_same_lp(model.getLp(), form)
            model.run()
            values.append(model.getInfo().objective_function_value)
        assert answer.lower - 1e-7 <= min(values) <= max(values) <= answer.upper + 1e-7
        if program.name != "row":  # exported is its relaxation
            assert answer.gap <= 1e-5


@pytest.mark.parametrize("ending", ["cbf", "task.gz", "ptf", "jtask"])
@pytest.mark.parametrize("name", NAMES)
def test_mosek_reads_every_file_and_evaluates_it_at_our_point(name, ending, instances, solver, tmp_path):
    """Its reader, domains, A x + b, objective and violations; none of it takes a licence."""
    mosek = pytest.importorskip("mosek", reason=MOSEK)
    form = make(instances, name).standard_form()
    order = form.exponential_reversed()
    x, _, value = solver(form)
    path = export(form, tmp_path / f"x.{ending}", format="cbf" if ending == "cbf" else "mosek")
    types = mosek.domaintype
    kinds = {"zero": types.rzero, "nonnegative": types.rplus, "exponential": types.primal_exp_cone}
    with mosek.Task() as task:
        task.readdata(str(path))
        assert (task.getnumvar(), task.getnumcon(), task.getnumafe()) == (form.c.size, 0, form.b.size)
        assert (task.getobjsense() == mosek.objsense.maximize, task.getcfix()) == (form.maximises, form.offset)
        assert set(task.getvarboundslice(0, form.c.size)[0]) == {mosek.boundkey.fr}
        assert list(task.getc()) == form.c.tolist()
        i, j, v = task.getafeftrip()
        assert (csr_array(coo_array((v, (i, j)), shape=form.A.shape)) != form.A[order]).nnz == 0
        assert [task.getafeg(k) for k in range(form.b.size)] == form.b[order].tolist()
        numbers = range(task.getnumacc())
        domains = [task.getdomaintype(task.getaccdomain(k)) for k in numbers]
        wanted = [[part.cone] * (math.prod(part.shape) if part.cone == "exponential" else 1) for part in form.rows]
        assert domains == [kinds[cone] for part in wanted for cone in part]
        task.putxx(mosek.soltype.itr, x.tolist())
        assert task.getprimalobj(mosek.soltype.itr) == pytest.approx(value, abs=1e-14)
        there = np.concatenate([task.evaluateacc(mosek.soltype.itr, k) for k in numbers])
        assert there == pytest.approx((form.A @ x + form.b)[order], abs=1e-13)
        assert max(task.getpviolacc(mosek.soltype.itr, list(numbers))) <= 1e-8
        if ending != "cbf":  # where names are comments
            assert [task.getvarname(k) for k in range(form.c.size)] == names_of(form.columns)
    if ending.endswith("gz"):
        assert gzip.decompress(path.read_bytes())


@pytest.mark.parametrize("ending", ["cbf", "task.gz", "ptf", "jtask"])
def test_mosek_would_show_a_wrong_cone_order(ending, tmp_path):
    mosek = pytest.importorskip("mosek", reason=MOSEK)
    path = export(lopsided(), tmp_path / f"x.{ending}", format="cbf" if ending == "cbf" else "mosek")
    with mosek.Task() as task:
        task.readdata(str(path))
        for x, fits in ((math.log(2.0), True), (-50.0, True), (1.0, False), (8.0, False)):  # 8 fits exp(2) <= x
            task.putxx(mosek.soltype.itr, [x])
            assert (task.getpviolacc(mosek.soltype.itr, [0])[0] <= 1e-15) is fits
            assert list(task.evaluateacc(mosek.soltype.itr, 0)) == [2.0, 1.0, x]


@pytest.mark.parametrize("ending", ["cbf", "task.gz", "ptf", "jtask"])
def test_mosek_reads_second_order_cones(ending, tmp_path):
    mosek = pytest.importorskip("mosek", reason=MOSEK)
    whole = semidefinite()
    form = replace(whole, A=whole.A[:3], b=whole.b[:3], rows=whole.rows[:1])
    path = export(form, tmp_path / f"x.{ending}", format="cbf" if ending == "cbf" else "mosek")
    with mosek.Task() as task:
        task.readdata(str(path))
        assert (task.getnumvar(), task.getnumafe(), task.getnumacc()) == (2, 3, 1)
        assert task.getdomaintype(task.getaccdomain(0)) == mosek.domaintype.quadratic_cone
        assert (list(task.getc()), task.getcfix()) == (form.c.tolist(), form.offset)
        for x, fits in (([0.3, 0.0], True), ([0.0, -0.3], True), ([0.25, 0.25], False)):
            task.putxx(mosek.soltype.itr, x)
            assert (task.getpviolacc(mosek.soltype.itr, [0])[0] <= 1e-15) is fits
            assert list(task.evaluateacc(mosek.soltype.itr, 0)) == [0.3, *x]


@pytest.mark.parametrize("part", ITEMS)
def test_others_read_instances_with_an_item_left_out(part, request, tmp_path):
    path = str(export(without(part), tmp_path / "x.cbf", format="cbf"))
    with pytest.importorskip("mosek", reason=MOSEK).Task() as task:
        task.readdata(path)
        assert (task.getnumvar(), task.getnumacc()) == (1, 1)
    model = request.getfixturevalue("copt").createModel("sparse")
    model.setParam("Logging", 0)
    model.readCbf(path)
    assert len(model.getVars()) == 1


@pytest.mark.parametrize("name", [*NAMES, "lopsided"])
def test_copt_reads_our_cbf_and_solves_it(name, copt, instances, tmp_path):
    program = None if name == "lopsided" else make(instances, name)
    form = lopsided() if program is None else program.standard_form()
    model = copt.createModel(name)
    model.setParam("Logging", 0)
    model.readCbf(str(export(form, tmp_path / "x.cbf", format="cbf")))
    model.solve()
    x = np.array([variable.x for variable in model.getVars()])
    assert model.objval == pytest.approx(form.value(x), abs=1e-12)
    if program is None:
        assert model.objval == pytest.approx(math.log(2.0) + 0.25, abs=1e-6)
        return
    truth, answer = program.solve(gap=1e-7, time_limit=20), certify(program, Solution(x))
    assert answer.lower <= truth.upper
    assert truth.lower <= answer.upper
    if name != "RowUpdate":  # exported is its relaxation
        assert truth.lower - COPT <= model.objval <= truth.upper + COPT


def test_without_mosek_the_error_is_clear(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "mosek", None)
    refused(lambda: write_mosek(lopsided(), tmp_path / "x.ptf"), "not installed")
    refused(lambda: write_mosek(lopsided(), tmp_path / "x.cbf"), "endings")
    assert not list(tmp_path.iterdir())


def test_the_ending_says_the_format(tmp_path):
    for format in ("json", "cbf"):
        read = {"json": read_json, "cbf": read_cbf}[format]
        assert same_numbers(read(export(lopsided(), tmp_path / f"x.{format}")), lopsided())


def test_unknown_formats_and_places_are_refused(tmp_path):
    refused(lambda: export(lopsided(), tmp_path / "x", format="nl"), "format")
    refused(lambda: export(lopsided(), tmp_path / "x"), "format: expected one of json")
    refused(lambda: export(lopsided(), tmp_path / "x", format="rocq"), "rocq_text")
    model = dl.load("design/count-n4")
    refused(
        lambda: export(model, tmp_path / "x.cbf"),
        "export: expected a program",
        "got MinLeakage",
        'dl.subproblem(model, "master")',
    )
    for format in ("json", "cbf", "clarabel"):
        with pytest.raises(InputError, match="cannot be written"):
            export(lopsided(), tmp_path / "none" / "x", format=format)
    assert set(FORMATS) == {"json", "cbf", "clarabel", "mps", "lp", "sdpa", "nl", "mosek"}


def form_with(**changes) -> StandardForm:
    return StandardForm(**(vars(lopsided()) | changes))


test_standard_forms_that_do_not_fit_are_refused = refuses(
    ({"b": np.zeros(2)}, "rows"),
    ({"c": np.array([np.nan])}, "finite"),
    ({"offset": math.inf}, "finite"),
    ({"columns": (Columns("x", (2,)),)}, "do not make up"),
    ({"columns": (Columns("x", (1,)), Columns("x", (0,)))}, "one name"),
    ({"columns": (Columns("x y", ()),)}, "for a name"),
    ({"rows": (Rows("a", "quadratic", (3,)),)}, "cones"),
    ({"rows": (Rows("a", "nonnegative", (2,)), Rows("b", "zero", ()))}, "order"),
    by=lambda changes: form_with(**changes),
)


def test_the_instance_follows_the_data():
    K = np.array([[0.9, 0.1], [0.2, 0.8]])
    program = programs.MarginalUpdate(K, np.zeros(2), 0.5)
    before = digest(program.standard_form())
    program.set(K, np.zeros(2), 0.6)
    assert digest(program.standard_form()) != before
    program.set(K, np.zeros(2), 0.5)
    assert digest(program.standard_form()) == before
