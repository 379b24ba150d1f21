"""Fits whose samples are in several partitions, which are threads or workers; see `core.links`."""

from itertools import pairwise
from typing import Any, TypeVar

from sklearn.base import clone

from sublearn import forest
from sublearn.core.links import Links, side_by_side
from sublearn.core.tree import below, grower, linked, shared

T = TypeVar("T")


def fit_in_partitions(model: T, bounds: list[int], X: Any, y: Any, **rows: Any) -> list[T]:
    """The models that partitions fit, of rows bounds[p] to bounds[p + 1] each; they must all be the same.

    `rows`: further arguments of `fit`, one value a row.
    """
    stretches = list(pairwise(bounds))

    def fit(links: Links) -> T:
        first, last = stretches[links.number]
        own: Any = clone(model)
        own._links = links
        own.fit(X[first:last], y[first:last], **{name: values[first:last] for name, values in rows.items()})
        del own._links
        return own  # type: ignore[no-any-return]

    return side_by_side(fit, len(stretches))


def divide(down_to_leaves: bool) -> None:
    """Have a worker gather the samples of no tree, and of no forest; nor of small nodes, down to leaves."""
    grower.GATHERED, vars(forest)["fits_everywhere"] = 0, lambda task, workers: False
    if down_to_leaves:
        vars(linked)["most_alone"] = lambda task, n_samples, links: 0


def undo(gathered: int) -> None:
    """Have a worker gather small tables and nodes again."""
    grower.GATHERED, vars(forest)["fits_everywhere"] = gathered, shared.fits_everywhere
    vars(linked)["most_alone"] = below.most_alone
