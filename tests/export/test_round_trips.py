"""Every program in every format, read back bit for bit and solved by somebody else's solver."""

from __future__ import annotations

import gzip
import inspect
import json
import math

import clarabel
import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from dalenius import programs
from dalenius.errors import InputError
from dalenius.export import FORMATS, certify, digest, export, parse_cbf, read_cbf, read_json
from dalenius.export.cbf import cbf_text
from dalenius.export.clarabel_json import clarabel_text
from dalenius.export.mosek_task import write_mosek
from dalenius.export.solution import Solution
from dalenius.export.standard import json_text, parse_json
from dalenius.programs import Program, StandardForm
from dalenius.programs.standard_form import Columns, Rows

NAMES = [
    name
    for name, cls in vars(programs).items()
    if inspect.isclass(cls) and issubclass(cls, Program) and not inspect.isabstract(cls)
]
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


def test_the_names_are_those_of_the_tests_of_programs(instances):
    assert sorted(set(NAMES)) == sorted(instances.MAKERS)


@pytest.mark.parametrize("name", NAMES)
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
@pytest.mark.parametrize("seed", [0, 1])
def test_cbf_is_read_back_and_solved_by_another_tool(name, seed, instances, solver, tmp_path):
    program = make(instances, name, seed)
    form = program.standard_form()
    read = read_cbf(export(program, tmp_path / "x.cbf", format="cbf"))
    assert same_numbers(read, form)
    x, z, value = solver(read)
    answer = certify(program, Solution(x, z))
    assert answer.lower - 1e-6 <= value <= answer.upper + 1e-6
    truth = program.solve(gap=1e-7, time_limit=20)
    assert answer.lower <= truth.upper
    assert truth.lower <= answer.upper
    if name != "RowUpdate":  # exported is its relaxation
        assert truth.lower - 1e-6 <= value <= truth.upper + 1e-6
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


@pytest.mark.parametrize("form", [lopsided(), odd()], ids=["lopsided", "odd"])
def test_texts_have_every_bit(form):
    assert same_numbers(parse_json(json_text(form)), form)
    assert same_numbers(parse_cbf(cbf_text(form)), form)


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
    form = parse_cbf(text)
    x, _, value = solver(form)
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


@pytest.mark.parametrize("format", ["mps", "lp"])
@pytest.mark.parametrize("form", [linear(), turned()], ids=["minimum", "maximum"])
def test_linear_formats_keep_every_bit(form, format, tmp_path):
    highspy = pytest.importorskip("highspy")
    path = export(form, tmp_path / f"x.{format}", format=format)
    model = highspy.Highs()
    model.silent()
    assert model.readModel(str(path)) == highspy.HighsStatus.kOk
    read = model.getLp()
    assert list(read.col_cost_) == form.c.tolist()
    assert read.offset_ == form.offset
    assert (read.sense_ == highspy.ObjSense.kMaximize) is form.maximises
    assert list(read.row_lower_) == (-form.b).tolist()
    assert sorted(read.a_matrix_.value_) == sorted(form.A.data.tolist())
    assert np.all(np.isinf(read.col_lower_))
    assert np.all(np.isinf(read.col_upper_))
    assert np.array(read.row_upper_)[0] == 1.0
    model.run()
    assert model.getInfo().objective_function_value == pytest.approx(form.value(np.array([1.0, 0.0])), abs=1e-12)


@pytest.mark.parametrize("format", ["mps", "lp"])
def test_every_entry_of_a_linear_file_is_written_in_full(format, tmp_path):
    text = export(linear(), tmp_path / f"x.{format}", format=format).read_text()
    for number in ("0.3333333333333333", "0.6666666666666666", "0.14285714285714285", "1.4285714285714286e-06"):
        assert number in text


@pytest.mark.parametrize("format", ["mps", "lp"])
def test_linear_formats_refuse_cones(format, instances, tmp_path):
    with pytest.raises(InputError, match="exponential cones"):
        export(make(instances, "MarginalUpdate"), tmp_path / f"x.{format}", format=format)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["task.gz", "ptf", "jtask"])
@pytest.mark.parametrize("name", NAMES)
def test_mosek_reads_its_files_and_our_cbf(name, ending, instances, tmp_path):
    mosek = pytest.importorskip("mosek")
    form = make(instances, name).standard_form()
    order = form.exponential_reversed()
    paths = [export(form, tmp_path / f"x.{ending}", format="mosek"), export(form, tmp_path / "x.cbf", format="cbf")]
    for path, exact in zip(paths, (True, False), strict=True):
        with mosek.Task() as task:
            task.readdata(str(path))
            assert (task.getnumvar(), task.getcfix()) == (form.c.size, form.offset)
            assert (task.getobjsense() == mosek.objsense.maximize) is form.maximises
            assert task.getnumafe() == form.b.size
            if exact:
                i, j, v = task.getafeftrip()
                assert (csr_array(coo_array((v, (i, j)), shape=form.A.shape)) != form.A[order]).nnz == 0
                assert [task.getafeg(k) for k in range(form.b.size)] == form.b[order].tolist()
                assert task.getvarname(0) == f"{form.columns[0].name}_0"
    if ending.endswith("gz"):
        assert gzip.decompress(paths[0].read_bytes())


def test_without_mosek_the_error_is_clear(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "mosek", None)
    with pytest.raises(InputError, match="not installed"):
        write_mosek(lopsided(), tmp_path / "x.ptf")
    with pytest.raises(InputError, match="endings"):
        write_mosek(lopsided(), tmp_path / "x.cbf")
    assert not list(tmp_path.iterdir())


def test_unknown_formats_and_places_are_refused(tmp_path):
    with pytest.raises(InputError, match="format"):
        export(lopsided(), tmp_path / "x", format="nl")
    for format in ("json", "cbf", "clarabel"):
        with pytest.raises(InputError, match="cannot be written"):
            export(lopsided(), tmp_path / "none" / "x", format=format)
    assert set(FORMATS) == {"json", "cbf", "clarabel", "mps", "lp", "mosek"}


def form_with(**changes) -> StandardForm:
    parts = vars(lopsided()) | changes
    return StandardForm(**parts)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"b": np.zeros(2)}, "rows"),
        ({"c": np.array([np.nan])}, "finite"),
        ({"offset": math.inf}, "finite"),
        ({"columns": (Columns("x", (2,)),)}, "do not make up"),
        ({"columns": (Columns("x", (1,)), Columns("x", (0,)))}, "one name"),
        ({"columns": (Columns("x y", ()),)}, "for a name"),
        ({"rows": (Rows("a", "quadratic", (3,)),)}, "cones"),
        ({"rows": (Rows("a", "nonnegative", (2,)), Rows("b", "zero", ()))}, "order"),
    ],
)
def test_standard_forms_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        form_with(**changes)


def test_the_instance_follows_the_data():
    K = np.array([[0.9, 0.1], [0.2, 0.8]])
    program = programs.MarginalUpdate(K, np.zeros(2), 0.5)
    before = digest(program.standard_form())
    program.set(K, np.zeros(2), 0.6)
    assert digest(program.standard_form()) != before
    program.set(K, np.zeros(2), 0.5)
    assert digest(program.standard_form()) == before
