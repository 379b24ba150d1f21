"""What `tune` searches: a range or a choice for each parameter, the usual ones, and what is wrong with others."""

import sys
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

from sklearn.base import clone

from sublearn._base.parameters import check_parameters

LARGEST = sys.float_info.max
ALLOWED = "a Whole, Number or Choice of sublearn.tuning"


def _are_bounds(space: Any, kind: type) -> bool:
    """Whether low and high of a space are of a kind, and in order."""
    low, high, log = space
    if any(not isinstance(bound, kind) or isinstance(bound, bool) for bound in (low, high)):
        return False
    return bool(-LARGEST <= low <= high <= LARGEST and (low > 0 or not log))


class Whole(NamedTuple):
    """Whole numbers from low to high; log: evenly over their logarithms."""

    low: int
    high: int
    log: bool = False

    @property
    def ends(self) -> tuple[Any, ...]:
        """Values that all others lie between; none where there can be no such space."""
        return (self.low, self.high) if _are_bounds(self, Integral) else ()

    def suggest(self, trial: Any, name: str) -> Any:
        """A value of one of Optuna's trials."""
        return trial.suggest_int(name, self.low, self.high, log=self.log)


class Number(NamedTuple):
    """Numbers from low to high; log: evenly over their logarithms."""

    low: float
    high: float
    log: bool = False

    @property
    def ends(self) -> tuple[Any, ...]:
        """Values that all others lie between; none where there can be no such space."""
        return (float(self.low), float(self.high)) if _are_bounds(self, Real) else ()

    def suggest(self, trial: Any, name: str) -> Any:
        """A value of one of Optuna's trials."""
        return trial.suggest_float(name, self.low, self.high, log=self.log)


class Choice(NamedTuple):
    """One of some values."""

    values: Sequence[Any]

    @property
    def ends(self) -> tuple[Any, ...]:
        """All values; none where they are not a list or the like."""
        return tuple(self.values) if isinstance(self.values, Sequence) and not isinstance(self.values, str) else ()

    def suggest(self, trial: Any, name: str) -> Any:
        """A value of one of Optuna's trials, which know it by its place."""
        return self.values[trial.suggest_categorical(name, list(range(len(self.values))))]


Space = Mapping[str, Whole | Number | Choice]

_SEARCH: Space = {
    "n_bins": Whole(8, 128, log=True),
    "subspace_size": Whole(2, 16, log=True),
    "n_projections": Whole(1, 64, log=True),
    "n_coefficients": Choice((1, 2, 3, (2, 3, 4), None)),
    "feature_map": Choice(("auto", "linear", "quantile")),
}
SPACES: dict[str, Space] = {
    "tree": {
        **_SEARCH,
        "max_partitions": Whole(1, 3),
        "min_samples_leaf": Whole(1, 64, log=True),
        "selection_decay": Number(0.05, 1.0, log=True),
        "envelope_height": Number(1.0, 20.0, log=True),
    },
    "forest": {
        **_SEARCH,
        "n_estimators": Whole(20, 200, log=True),
        "bootstrap": Choice((False, True)),
        "min_samples_leaf": Whole(1, 20, log=True),
        "selection_decay": Number(0.02, 1.0, log=True),
    },
    "boost": {
        **_SEARCH,
        "max_depth": Whole(2, 10),
        "l2_regularization": Number(0.1, 50.0, log=True),
        "min_gain": Number(0.1, 10.0, log=True),
        "min_child_weight": Number(0.01, 10.0, log=True),
        "min_samples_leaf": Whole(1, 50, log=True),
        "fitted_projections": Whole(0, 8),
        "subsample": Number(0.5, 1.0),
        "leaf": Choice(("constant", "linear")),
    },
}
NEEDED = {
    Whole: "whole numbers low <= high, above 0 where log=True,",
    Number: "finite numbers low <= high, above 0 where log=True,",
    Choice: "a list or tuple of some values",
}


def check_space(estimator: Any, space: Any) -> None:
    """Raise ValueError for a space that could not be searched to its ends."""
    if not isinstance(space, Mapping):
        raise ValueError(f"space of tune must be a dict from names of parameters to {ALLOWED}; got {space!r}.")
    known = estimator.get_params()
    for name, values in space.items():
        if name not in known:
            raise ValueError(f"space of tune must name parameters of {type(estimator).__name__}; got {name!r}.")
        if not isinstance(values, Whole | Number | Choice):
            hint = f" Did you mean Choice({values!r})?" if isinstance(values, list | tuple) else ""
            raise ValueError(f"space of tune must have {ALLOWED} for {name}; got {values!r}.{hint}")
        _check_values(estimator, name, values)


def _check_values(estimator: Any, name: str, values: Whole | Number | Choice) -> None:
    if not values.ends:
        raise ValueError(f"space of tune must have {NEEDED[type(values)]} for {name}; got {values!r}.")
    for value in values.ends:
        try:
            check_parameters(clone(estimator).set_params(**{name: value}))
        except ValueError as error:
            raise ValueError(f"space of tune must have values that can be fitted: {error}") from None
