"""Picture of the privacy notions and the rules between them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dalenius.conversions import NOTIONS, RULES, Rule
from dalenius.conversions.rule import About
from dalenius.report.picture import COLOURS, INK, finished, new_axes, telling

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text


ROWS = (  # from the strongest notions down
    (About.DATASETS,),
    (About.CHANNEL, About.PRIOR),
    (About.MEAN_CHANNEL,),
    (About.LIKELY,),
    (About.MEAN,),
    (About.INFERENCE,),
)
SIZE = (13.0, 8.5)  # inches
PAPER = "#fffdf5"
FONT = 8  # points
PAD = 0.35  # of a box around its words, in shares of the font
BEND = 0.08  # of an arrow, in shares of its length


def implications_picture(*, ax: Axes | None = None, title: str = "", sharp: bool = True) -> Axes:
    """Draw the notions, stronger ones above, with an arrow for every rule between two of them.

    A thick arrow is a rule that some mechanism attains; a thin dashed one is not known to be. Blue ones need nothing but the
    guarantee, orange ones facts besides it, such as a least probability.

    Parameters
    ----------
    ax : matplotlib Axes, optional
    title : str
    sharp : bool
        Whether rules of ours are drawn, too.

    Raises
    ------
    InputError
        If matplotlib is not installed.

    >>> ax = implications_picture(sharp=False)
    >>> len([text for text in ax.texts if text.get_text() == "local_dp"])
    1
    """
    ax = new_axes(SIZE) if ax is None else ax
    ax.set(xlim=(-0.12, 1.12), ylim=(-0.6, len(ROWS) - 0.5), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    boxes = {name: _box(ax, name, place) for name, place in _places().items()}
    for source, target in dict.fromkeys((rule.source, rule.target) for rule in RULES):
        rules = [
            rule
            for rule in RULES
            if (rule.source, rule.target) == (source, target) and not rule.releases and (sharp or not rule.ours)
        ]
        if source != target and rules:
            _arrow(ax, boxes[source], boxes[target], rules)
    return finished(ax, title=title, grid=False)


def _places() -> dict[str, tuple[float, float]]:
    """Positions of the notions; every second one of a row a little lower, so that arrows can pass."""
    places = {}
    for height, kinds in enumerate(reversed(ROWS)):
        names = [name for name, notion in NOTIONS.items() if notion.about in kinds]
        for k, name in enumerate(names):
            places[name] = ((k + 0.5) / len(names), height - 0.22 * (k % 2))
    return places


def _box(ax: Axes, name: str, place: tuple[float, float]) -> Text:
    """The name of a notion in a box."""
    words = name.replace("_privacy_delta", "_privacy\n_delta")
    box = {"facecolor": PAPER, "edgecolor": INK, "linewidth": 0.7, "boxstyle": f"round,pad={PAD}"}
    text = ax.text(*place, words, ha="center", va="center", fontsize=FONT, bbox=box, zorder=5)
    text.set_gid(telling(f"{name}: {NOTIONS[name].what}"))
    return text


def _arrow(ax: Axes, start: Text, end: Text, rules: list[Rule]) -> None:
    """An arrow from box to box, bent a little so that the way there and back are two."""
    attained = any(rule.attained for rule in rules)
    colour = COLOURS[0] if any(not rule.needs for rule in rules) else COLOURS[1]
    (x, y), (to_x, to_y) = (ax.transData.transform(text.get_position()) for text in (start, end))
    way = math.atan2(to_y - y, to_x - x)
    style = {
        "arrowstyle": "-|>",
        "color": colour,
        "shrinkA": _inside(start, way - 2.0 * BEND),  # as arcs leave, and arrive
        "shrinkB": _inside(end, way + 2.0 * BEND),
        "connectionstyle": f"arc3,rad={BEND}",
    }
    style |= {"linewidth": 1.4, "alpha": 0.75} if attained else {"linewidth": 0.7, "alpha": 0.6, "linestyle": "--"}
    note = ax.annotate("", xy=end.get_position(), xytext=start.get_position(), arrowprops=style, zorder=2)
    note.set_gid(telling("; ".join(f"{rule.name}: {rule.formula}" for rule in rules)))


def _inside(text: Text, way: float) -> float:
    """Length, in points, of a line inside a box it leaves from the middle, and a little more."""
    points = 72.0 / text.get_figure(root=True).dpi  # type: ignore[union-attr]
    words = text.get_window_extent()
    width, height = (0.5 * points * size + PAD * FONT for size in (words.width, words.height))
    return 1.5 + min(width / max(abs(math.cos(way)), 1e-9), height / max(abs(math.sin(way)), 1e-9))
