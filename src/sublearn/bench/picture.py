"""The picture: test loss against the seconds of a fit, a panel a set and a curve a contender."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sublearn.bench.contenders import CONTENDERS, OURS
from sublearn.bench.loss import Reached
from sublearn.bench.sets import SOURCES
from sublearn.display.canvas import GREY, PALE, TEXT, dress, new_figure, small_multiples, style_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_COLUMNS = 3
LEGEND_WIDTH = 2.2  # inches of an entry
TOP = 3.0  # a panel reaches this far above the goal, in ranges from the lowest loss to the goal


def time_against_loss(reached: Sequence[Reached]) -> "Figure":
    """Curves of all contenders on all sets; a dotted line is the loss that is to be reached.

    A point lies at the least time that so many rounds or more have taken.
    """
    data_sets = list(dict.fromkeys(one.data_set for one in reached))
    contenders = [name for name in CONTENDERS if name in {one.contender for one in reached}]
    n_rows = -(-len(data_sets) // N_COLUMNS)
    width = 4.2 * min(len(data_sets), N_COLUMNS) + 0.4
    figure = new_figure(width, 0.8 + 3.3 * n_rows)
    for axes, data_set in zip(small_multiples(figure, len(data_sets), N_COLUMNS), data_sets, strict=True):
        of_set = [one for one in reached if one.data_set == data_set]
        for one in of_set:
            _draw(axes, one, contenders.index(one.contender))
        _scale(axes, of_set)
        dress(axes, SOURCES[data_set].title, "seconds of fitting", f"test {of_set[0].loss_name}")
    handles = {
        text: handle for axes in figure.axes for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    n_beside = int(width / LEGEND_WIDTH)
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=n_beside, fontsize=TEXT, frameon=False)
    return figure


def _draw(axes: Any, one: Reached, k: int) -> None:
    """A curve, or a single point of a contender that cannot tell its stages; ours is the thick one."""
    colour, marker = style_of(k)
    points = one.curve or [one.end]
    seconds = np.array([point.seconds for point in points])
    bounded = np.minimum.accumulate(seconds[::-1])[::-1]  # fewer rounds take no longer than more of them
    title = CONTENDERS[one.contender].title
    is_ours = CONTENDERS[one.contender].library == OURS
    axes.plot(
        bounded,
        [point.loss for point in points],
        marker=marker,
        color=colour,
        label=title,
        linewidth=2.4 if is_ours else 1.2,
        markersize=6 if is_ours else 4.5,
        linestyle="-" if len(points) > 1 else "none",
        zorder=3 if is_ours else 2,
    )


def _scale(axes: Any, of_set: Sequence[Reached]) -> None:
    """Cut off the first rounds, which would leave no room for the rest."""
    goal = of_set[0].goal
    pace = CONTENDERS[of_set[0].pace].title
    axes.axhline(goal, color=GREY, linewidth=1.2, linestyle=":", label=f"goal: {pace} at its end")
    losses = [point.loss for one in of_set for point in (*one.curve, one.end)]
    lowest = min(losses)
    reach = max(goal - lowest, 0.1 * goal)
    axes.set_ylim(lowest - 0.2 * reach, min(max(losses) + 0.2 * reach, goal + TOP * reach))
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(color=PALE, linewidth=0.5)
