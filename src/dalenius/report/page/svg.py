"""Pictures as parts of a page: in its own ink, with values to point at, once for wide screens and once for narrow ones."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as Tree

from dalenius.report.picture import TELL, new_axes, picture_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
SIZES = {"wide": (7.4, 4.3), "narrow": (3.7, 4.1)}  # inches
LETTERS = {"wide": 90, "narrow": 40}  # of a line
INK = re.compile(r"(?<=stroke: )#000000|(?<=fill: )#000000")
TEXT = f"{{{SVG}}}text"


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
    return Drawn(
        **{width: _svg(f"{name}-{width}", caption, draw, width) for width in SIZES},
        caption=caption,
    )


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
            element.set("style", INK.sub("currentColor", element.get("style", "")))
    for size in ("width", "height"):
        root.attrib.pop(size, None)


def _tell(element: Tree.Element) -> None:
    """What an id says becomes the title of its element, which browsers and screen readers know."""
    name = element.get("id", "")
    if name.startswith(TELL):
        del element.attrib["id"]
        element.set("class", "tell")
        title = Tree.Element(f"{{{SVG}}}title")
        title.text = name.removeprefix(TELL)
        element.insert(0, title)
