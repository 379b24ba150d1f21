"""A bar that says which number has which colour."""

from typing import Any

from sublearn.display.canvas import SMALL, TEXT, palette_of

N_TICKS = 6


def add_colour_bar(axes: Any, mapped: Any, label: str) -> None:
    """Add the scale of what is drawn to the right of some axes, with ticks inside of it alone."""
    from matplotlib.ticker import MaxNLocator

    palette, (low, high) = palette_of(axes), mapped.get_clim()
    bar = axes.figure.colorbar(mapped, ax=axes, pad=0.02, aspect=30)
    bar.set_ticks([tick for tick in MaxNLocator(N_TICKS).tick_values(low, high) if low <= tick <= high])
    bar.set_label(label, fontsize=TEXT, color=palette.ink, parse_math=False)
    bar.ax.tick_params(labelsize=SMALL, color=palette.grey, labelcolor=palette.ink)
    bar.outline.set_visible(False)
