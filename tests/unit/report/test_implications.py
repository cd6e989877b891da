"""What follows from what, as a picture."""

from dalenius.conversions import NOTIONS
from dalenius.report import implications_picture


def test_arrows_begin_and_end_at_boxes():
    """Neither far beside them nor under them, however long a notion's name is."""
    ax = implications_picture()
    figure = ax.get_figure()
    figure.draw_without_rendering()
    boxes = {text.get_position(): text.get_bbox_patch().get_window_extent() for text in ax.texts if text.get_text()}
    arrows = [text for text in ax.texts if not text.get_text()]
    assert len(boxes) == len(NOTIONS) < len(arrows)
    for arrow in arrows:
        path = arrow.arrow_patch.get_path()
        for place in (arrow.xy, arrow.xyann):
            box = boxes[tuple(place)]
            beside = min(max(box.x0 - x, x - box.x1, box.y0 - y, y - box.y1) for x, y in path.vertices)
            assert -3.0 < beside * 72.0 / figure.dpi < 6.0
