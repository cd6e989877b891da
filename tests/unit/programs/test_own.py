"""Models of one's own as instances with names, in every format that has their cones."""

import clarabel
import cvxpy as cp
import numpy as np
import pytest

import cvxcertify
import dalenius as dl
import plain_clarabel
import planted
from dalenius.errors import InputError
from dalenius.export import export, read_cbf, read_json
from dalenius.programs import CertifiedInterval, certify, conic_form
from support import refused

x, Y = cp.Variable(3, name="a share", nonneg=True), cp.Variable((2, 2), name="2nd")
MIXED = cp.Problem(
    cp.Maximize(cp.sum(cp.entr(x)) - cp.sum(cp.multiply(np.array([[1.0, 2.0], [3.0, 4.0]]), Y)) + 0.5),
    [cp.sum(x) == 1, cp.norm(Y, "fro") <= 2, Y[0, 1] >= x[2] - 1],
)


def same(first, second):
    pairs = ((first.c, second.c), (first.b, second.b), (first.A.toarray(), second.A.toarray()))
    return all(np.array_equal(p, q) for p, q in pairs) and (first.offset, first.sizes) == (second.offset, second.sizes)


def test_names_shapes_and_order():
    form = conic_form(MIXED, name="mine")
    assert [(part.name, part.shape, part.auxiliary) for part in form.columns[:2]] == [
        ("a_share", (3,), False),
        ("x2nd", (2, 2), False),
    ]
    assert all(part.auxiliary for part in form.columns[2:])
    assert form.c[3:7].tolist() == [-1.0, -2.0, -3.0, -4.0]  # row by row
    assert (form.program, form.maximises, form.offset) == ("mine", True, 0.5)
    assert form.sizes == {"zero": 1, "nonnegative": 5, "second-order": 5, "exponential": 9}


def test_files_are_read_back_and_solved_by_others(tmp_path):
    form, found = conic_form(MIXED), certify(MIXED)
    assert same(read_cbf(export(MIXED, tmp_path / "own.cbf", format="cbf")), form)
    assert same(read_json(export(MIXED, tmp_path / "own.json", format="json")), form)
    solved = clarabel.load_from_file(
        str(export(MIXED, tmp_path / "clarabel.json", format="clarabel")), plain_clarabel.settings()
    ).solve()
    assert found.lower - 1e-7 <= form.value(np.array(solved.x)) <= found.upper + 1e-7


def test_mosek_has_second_order_cones(tmp_path):
    mosek = pytest.importorskip("mosek", reason="needs MOSEK's reader: pip install mosek; no licence is needed")
    path = export(MIXED, tmp_path / "own.ptf", format="mosek")
    with mosek.Task() as task:
        task.readdata(str(path))
        kinds = [task.getdomaintype(task.getaccdomain(k)) for k in range(task.getnumacc())]
    assert kinds.count(mosek.domaintype.quadratic_cone) == 1


@pytest.mark.parametrize("format", ["cbf", "clarabel", "mosek", "mps", "lp"])
def test_what_a_format_cannot_write_exactly_is_refused_by_name(format, tmp_path):
    problem = planted.planted(np.random.default_rng(4), "semidefinite").problem
    with pytest.raises(InputError, match="semidefinite"):
        export(problem, tmp_path / ("own.ptf" if format == "mosek" else "own"), format=format)
    if format in ("mps", "lp"):
        refused(lambda: export(MIXED, tmp_path / "own", format=format), "second-order and exponential cones")


def test_what_cannot_be_certified_cannot_be_exported(tmp_path):
    refused(lambda: export(cp.Problem(cp.Minimize(cp.sqrt(x[0]))), tmp_path / "own", format="json"), "not DCP")


def test_numbers_of_a_solver_of_ones_own(tmp_path):
    """The instance goes out as a file's form, and x and z come back."""
    seeds = (np.random.default_rng(seed) for seed in range(99))
    cases = (planted.planted(rng, "exponential") for rng in seeds)
    case, form = next(
        (c, f) for c in cases if "semidefinite" not in (f := conic_form(c.problem)).sizes and "second-order" in f.sizes
    )
    own = export(case.problem, tmp_path / "own.json", format="json")
    assert own.read_text() == export(form, tmp_path / "form.json", format="json").read_text()
    point, multipliers, _ = plain_clarabel.solved(form)
    found = certify(case.problem, x=point, z=multipliers)
    assert found.lower <= case.value <= found.upper
    assert found.gap <= 1e-6
    assert found.bound_by == "given"
    refused(lambda: certify(case.problem, z=multipliers[:-1]), "z: expected")


def test_the_certifier_speaks_as_one_of_ours(tmp_path, monkeypatch):
    """Its words with our errors, our names of why work stopped, our way to write files, and our signals."""
    model = cp.Problem(cp.Minimize(cp.norm(x)), [cp.sum(x) == 3])
    found = certify(model)
    assert isinstance(found, CertifiedInterval)
    assert found.termination is dl.answers.Termination.GAP_REACHED
    assert {each.value for each in cvxcertify.Termination} <= {each.value for each in dl.answers.Termination}
    refused(lambda: found.write(tmp_path / "nowhere" / "interval.json"), "cannot be written")
    for asked in ({"solver": "simplex"}, {"gap": -1.0}, {"gap": float("inf")}, {"time_limit": "1"}, {"x": np.ones(1)}):
        with pytest.raises(dl.errors.InputError, match=next(iter(asked))):
            certify(model, **asked)
    monkeypatch.setattr("dalenius.programs.own.stop_requested", lambda: True)
    assert certify(model).termination is dl.answers.Termination.INTERRUPTED
