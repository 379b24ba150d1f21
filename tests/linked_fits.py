"""Fits whose samples are in several partitions, which are threads here; see `core.links`."""

from itertools import pairwise
from typing import Any, TypeVar

from sklearn.base import clone

from sublearn.core.links import Links, side_by_side

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
