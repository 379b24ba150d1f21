"""What every picture must be: legible, with no text over another and none beyond the edge."""

from itertools import combinations
from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text


def visible_texts(figure: Figure) -> list[Any]:
    """All that is written, without the labels of ticks outside the panel."""
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            shown = axes.axison and axes.get_visible() and axis.get_visible()
            hidden |= {t.label1 for t in ticks if not (shown and low <= t.get_loc() <= high)}
    texts = figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_text().strip() != "")
    return [text for text in texts if isinstance(text, Text) and text.get_visible() and text not in hidden]


def assert_legible(figure: Figure, smallest: float, slack: float = 1.0) -> None:
    """All texts are so large, inside the figure, and apart from one another but for so many pixels."""
    figure.draw_without_rendering()
    boxes = {text: text.get_window_extent() for text in visible_texts(figure)}
    assert len(boxes) > 1
    page = figure.bbox.padded(1)
    for text, box in boxes.items():
        assert text.get_fontsize() >= smallest, text
        assert page.x0 <= box.x0 <= box.x1 <= page.x1, text
        assert page.y0 <= box.y0 <= box.y1 <= page.y1, text
    for (one, box), (other, its_box) in combinations(boxes.items(), 2):
        assert not box.padded(-slack).overlaps(its_box.padded(-slack)), (one, other)
