"""Clarabel's own file: minimise q x with A x + s = b, s in the cones; what its `load_from_file` reads."""

from __future__ import annotations

from typing import Any

from scipy.sparse import csc_array

from dalenius.export.strict import need_cones
from dalenius.programs import StandardForm
from dalenius.programs.standard_form import Rows
from dalenius.strict_json import object_text

__all__ = ["clarabel_text"]

KINDS = {
    "zero": "ZeroConeT",
    "nonnegative": "NonnegativeConeT",
    "second-order": "SecondOrderConeT",
    "exponential": "ExponentialConeT",
}


def clarabel_text(form: StandardForm) -> str:
    """The file. It has no room for an offset or a maximum: the value is offset + q x, or offset - q x for a maximum.

    Raises
    ------
    InputError
        If the instance has a semidefinite cone: its rows there are scaled by the root of 2, which is no double.

    >>> import numpy as np
    >>> from dalenius.programs import MarginalUpdate
    >>> import json
    >>> file = json.loads(clarabel_text(MarginalUpdate(np.eye(2), np.zeros(2), 0.5).standard_form()))
    >>> sorted(file), file["cones"][:2], file["cones"][-1]
    (['A', 'P', 'b', 'cones', 'q'], [{'ZeroConeT': 1}, {'NonnegativeConeT': 2}], {'ExponentialConeT': []})
    """
    need_cones(form, "clarabel", KINDS)
    width = form.c.size
    cost = -form.c + 0.0 if form.maximises else form.c
    parts: dict[str, Any] = {
        "P": _columns(csc_array((width, width))),
        "q": cost.tolist(),
        "A": _columns(csc_array(-form.A)),
        "b": form.b.tolist(),
        "cones": [cone for part in form.rows for cone in _cones(part)],
    }
    return object_text(parts) + "\n"


def _columns(matrix: csc_array) -> dict[str, Any]:
    matrix.sort_indices()
    height, width = matrix.shape
    places = {"colptr": matrix.indptr.tolist(), "rowval": matrix.indices.tolist()}
    return {"m": height, "n": width, **places, "nzval": [float(x) for x in matrix.data.tolist()]}


def _cones(part: Rows) -> list[dict[str, Any]]:
    if part.cone == "exponential":
        return [{"ExponentialConeT": []}] * (part.size // 3)
    return [{KINDS[part.cone]: part.size}] if part.size else []
