"""Common parts of pictures: axes, colours that everybody tells apart, bands outside of what is proved, values to point at, files."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from xml.etree import ElementTree as Tree

import numpy as np

from dalenius.errors import InputError
from dalenius.files import write_whole
from dalenius.units import Quantity

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
)  # Okabe and Ito 2008; told apart by everybody
MARKERS = "osD^vP"
TELL = "tell:"  # how the id of an artist begins whose value is shown where one points at it
SIZE = (7.0, 4.2)  # inches
INK = "#010101"  # of words on a colour of their own, which keep theirs on dark pages

Place = tuple[float, float]
Style: TypeAlias = dict[str, Any]  # of lines, as matplotlib takes it


def axes_of(ax: Axes | None) -> Axes:
    """The given axes, or those of a new figure that belongs to no window and no `pyplot`.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    return new_axes() if ax is None else ax


def new_axes(size: tuple[float, float] = SIZE) -> Axes:
    """Axes of a new figure, so many inches wide and high.

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
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def label(units: str, *, largest: bool = False) -> str:
    """Label of an axis in these units; of the largest information or usefulness, where that is asked for."""
    quantity = Quantity.of(units)
    if largest:
        return f"{quantity.largest} [{units}]" if quantity is Quantity.LEAKAGE else quantity.largest
    shown = {Quantity.DISTORTION: "expected distortion", Quantity.OBJECTIVE: "objective of several terms"}
    return shown.get(quantity, f"worst-case leakage about one record [{units}]")


def telling(text: str) -> str:
    """The id of an artist that says this where one points at it in a report."""
    return TELL + text


def draw_band(ax: Axes, lower: Sequence[Place], upper: Sequence[Place], colour: str) -> list[Artist]:
    """Shade what proofs leave of a curve that falls, between smooth lines.

    Parameters
    ----------
    lower, upper : sequences of (x, y)
        What is proved at some places, in ascending order: of the lower end where it falls, of the upper one as densely as one likes.

    *Outside because* the curve falls: between two places it lies above what is proved from below at the right one, and the line drawn
    there starts at no more than that; from above it is the other way round.
    """
    below = [(x, y) for (x, _), (_, y) in pairwise(lower)] + [*lower[-1:]]
    above = [*upper[:1], *((x, y) for (_, y), (x, _) in pairwise(upper))]
    outline = [*below, *above[::-1]]
    if not outline:
        return []
    (area,) = ax.fill(*zip(*outline, strict=True), color=colour, alpha=0.25, linewidth=0, zorder=1)
    edges = [
        edge
        for line in (below, above)
        for edge in ax.plot(*zip(*line, strict=True), color=colour, linewidth=0.8, zorder=2)
    ]
    return [area, *edges]


def finished(ax: Axes, *, title: str, partial: str = "", grid: bool = True) -> Axes:
    """A title, a quiet grid, and words on the picture itself where it is not whole."""
    if title:
        ax.set_title(title)
    if grid:
        ax.grid(alpha=0.3, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    if partial:
        ax.text(
            0.5,
            0.98,
            f"partial: {partial}",
            transform=ax.transAxes,
            ha="center",
            va="top",
            weight="bold",
            color=INK,
            bbox={"facecolor": "#fff3b0", "edgecolor": INK, "linewidth": 0.6, "boxstyle": "round,pad=0.35"},
            zorder=10,
        )
    return ax


def with_bits(ax: Axes, most: Iterable[float]) -> None:
    """A second axis above one of shares of the largest entropy, in bits; none where the curves have different largest entropies.

    Parameters
    ----------
    most : iterable of float
        The largest entropy of each curve, in bits.
    """
    sizes = set(most)
    if len(sizes) == 1 and (size := sizes.pop()) > 0:
        top = ax.secondary_xaxis(
            "top", functions=(lambda share: np.multiply(share, size), lambda bits: np.divide(bits, size))
        )
        top.set_xlabel("the same in bits")
        top.spines["top"].set_visible(False)


def save_picture(ax: Axes, path: str | Path) -> Path:
    """Write the figure of these axes, whole or not at all.

    Parameters
    ----------
    ax : matplotlib Axes
        As every picture function returns them.
    path : str or Path
        PNG, SVG or PDF by its ending. The same results give the same bytes.

    Raises
    ------
    InputError
        If the file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_picture(axes_of(None), f"{folder}/empty.svg").read_text()[:5]
    '<?xml'
    """
    path = Path(path)
    return write_whole(path, picture_bytes(ax, path.suffix.removeprefix(".") or "png", name=str(path)))


def picture_bytes(ax: Axes, kind: str, *, name: str = "picture", transparent: bool = False) -> bytes:
    """The file of a picture: without the time at which it was made, texts as texts; on paper of its own, or on none."""
    import matplotlib as mpl

    picture = io.BytesIO()
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    try:
        with mpl.rc_context({"svg.hashsalt": "dalenius", "svg.fonttype": "none"}):
            ax.get_figure(root=True).savefig(picture, format=kind, dpi=150, metadata=dated, transparent=transparent)  # type: ignore[union-attr]
    except ValueError as error:
        raise InputError(f"{name}: the picture cannot be written: {error}") from None
    return picture.getvalue()


# Pictures as parts of a page: in its own ink, with values to point at, once for wide screens and once for narrow ones.


SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
SIZES = {"wide": (7.4, 4.3), "narrow": (3.7, 4.1)}  # inches
LETTERS = {"wide": 90, "narrow": 40}  # of a line
BLACK = re.compile(r"(?<=stroke: )#000000|(?<=fill: )#000000")


@dataclass(frozen=True)
class Drawn:
    """A picture as SVG for each of the two widths, and what it shows in words."""

    wide: str
    narrow: str
    caption: str


def drawn(name: str, caption: str, draw: Callable[[Axes], object]) -> Drawn:
    """Draw for both widths.

    Parameters
    ----------
    name : str
        Of the picture in its page, for the ids of its parts: letters and digits.
    caption : str
        What it shows, for those who cannot see it.
    draw : callable
        Draws on the axes.
    """
    return Drawn(**{width: _svg(f"{name}-{width}", caption, draw, width) for width in SIZES}, caption=caption)


def _svg(name: str, caption: str, draw: Callable[[Axes], object], width: str) -> str:
    ax = new_axes(SIZES[width])
    draw(ax)
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title, *(child.xaxis.label for child in ax.child_axes)):
        text.set_text(textwrap.fill(text.get_text(), LETTERS[width], break_long_words=False))
    if width == "narrow" and (legend := ax.get_legend()) is not None:
        for text in (*legend.get_texts(), legend.get_title()):
            text.set_text(textwrap.fill(text.get_text(), LETTERS[width] - 8))
            text.set_fontsize("small")
    root = Tree.fromstring(picture_bytes(ax, "svg", transparent=True))
    _tidy(root, name)
    # for those who cannot see it, it is one image with a name; the numbers are in the page's tables
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title")
    title = Tree.Element(f"{{{SVG}}}title", {"id": f"{name}-title"})
    title.text = caption
    root.insert(0, title)
    for prefix, uri in (("", SVG), ("xlink", XLINK)):
        Tree.register_namespace(prefix, uri)
    return Tree.tostring(root, encoding="unicode")


def _tidy(root: Tree.Element, name: str) -> None:
    """Ids of this picture alone, the page's ink for black, no style sheet for the whole page, no size of its own."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    for element in root.iter():
        _tell(element)
        if "id" in element.attrib:
            element.set("id", f"{name}-{element.get('id')}")
        for key, value in element.attrib.items():
            if key == f"{{{XLINK}}}href" and value.startswith("#"):
                element.set(key, f"#{name}-{value[1:]}")
            elif "url(#" in value:
                element.set(key, value.replace("url(#", f"url(#{name}-"))
        if "style" in element.attrib:
            element.set("style", BLACK.sub("currentColor", element.get("style", "")))
    for size in ("width", "height"):
        root.attrib.pop(size, None)


def _tell(element: Tree.Element) -> None:
    """Move the text of an id into the title of its element, which browsers and screen readers know."""
    name = element.get("id", "")
    if name.startswith(TELL):
        del element.attrib["id"]
        element.set("class", "tell")
        title = Tree.Element(f"{{{SVG}}}title")
        title.text = name.removeprefix(TELL)
        element.insert(0, title)
