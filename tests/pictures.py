"""What every picture must be: legible, with no text over another and none beyond the edge."""

from itertools import combinations
from typing import Any

import numpy as np
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


# --- models of tests/display/conftest.py

LONG = [f"measurement of sensor number {f:3d} in the north wing, its mean" for f in range(300)]  # 60 characters

CASES = (
    "3 features, 2 classes",
    "3 features, 26 classes",
    "300 features, 2 classes",
    "300 features, 26 classes",
    "300 features, numbers",
    "several hyperplanes",
    "categories and gaps",
    "forest",
    "boosting of 26 classes",
    "boosting of numbers",
)


def tree_of(model: Any) -> int | None:
    """The number of a tree, where one must be given."""
    return None if hasattr(model, "tree_") else 1


def long_names(X: Any) -> list[str] | None:
    """Names of 60 characters for samples that have none of their own."""
    return LONG[: X.shape[1]] if isinstance(X, np.ndarray) else None
