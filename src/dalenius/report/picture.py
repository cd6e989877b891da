"""An empty picture, and one written to a file; matplotlib is optional."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from dalenius.errors import InputError
from dalenius.files import write_whole
from dalenius.units import Quantity

__all__ = ["canvas", "label", "written"]


def canvas() -> tuple[Any, Any]:
    """A figure and its axes, drawn without a screen.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'dalenius[plot]'") from None
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def label(units: str) -> str:
    """What an axis shows in these units."""
    shown = {Quantity.DISTORTION: "expected distortion", Quantity.OBJECTIVE: "objective of several terms"}
    return shown.get(Quantity.of(units), f"worst-case leakage about one record [{units}]")


def written(figure: Any, path: str | Path) -> Path:
    """Write a figure (PNG, SVG or PDF by the ending), whole or not at all.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    path, picture = Path(path), io.BytesIO()
    try:
        figure.savefig(picture, format=path.suffix.removeprefix(".") or "png", dpi=150)
    except ValueError as error:
        raise InputError(f"{path}: the picture cannot be written: {error}") from None
    return write_whole(path, picture.getvalue())
