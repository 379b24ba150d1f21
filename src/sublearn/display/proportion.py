"""Keeps type in proportion to its axes, for a drawing in points; this file needs matplotlib, and is imported late."""

from typing import Any

from matplotlib.artist import Artist

CHANGE = 1e-3  # of the size from which on anything is done


class Proportion(Artist):
    """Draws nothing. Drawn before all else of its axes, it gives type and lines the size that suits theirs.

    A layout of the figure may shrink axes again when panels beside them are filled. Type of a fixed size would then
    run over the edges of boxes, which are in units of the axes.
    """

    def __init__(self, axes: Any) -> None:
        super().__init__()
        self.set_zorder(float("-inf"))
        self.set_in_layout(False)
        self.planned = self.present = self._extent(axes)
        axes.add_artist(self)

    def draw(self, renderer: Any) -> None:
        """Change the sizes where the axes have changed."""
        now = self._extent(self.axes)
        before, after = (min(a / b for a, b in zip(one, self.planned, strict=True)) for one in (self.present, now))
        self.present = now
        if after <= 0 or abs(after / before - 1) < CHANGE:
            return
        axes: Any = self.axes
        for text in axes.texts:
            text.set_fontsize(text.get_fontsize() * after / before)
        for line in axes.lines:
            line.set_linewidth(line.get_linewidth() * after / before)
            line.set_markersize(line.get_markersize() * after / before)
        for patch in axes.patches:
            patch.set_linewidth(patch.get_linewidth() * after / before)

    @staticmethod
    def _extent(axes: Any) -> tuple[float, float]:
        """Width and height in inches."""
        box = axes.get_window_extent()
        return box.width / axes.figure.dpi, box.height / axes.figure.dpi
