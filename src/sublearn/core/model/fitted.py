"""The fitted model: one record, which every estimator holds as `_model`; what is asked after a fit is read from it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sublearn.core.data.codes import FeatureMaps, encode_samples
from sublearn.core.model.flat_ensemble import FlatEnsemble, add_values, add_values_of, apply
from sublearn.core.model.links import LINKS, Link, with_exposure
from sublearn.core.parallel import Workers
from sublearn.kernels.layout import Array

VERSION = 1  # of the record; a change of its fields or of their meaning is another
COLUMNS = ("numbers", "text", "dates", "times of a day", "durations")  # kinds of those that become numbers
MEAN = "mean"  # in the place of a link: trees and forests answer with the mean over their trees


@dataclass(frozen=True, eq=False)
class FittedModel:
    """All that a fitted tree, forest or boosting is.

    A sample's features become codes by `maps`. In each tree of `ensemble` its route ends in a node, which contributes
    its value, or its vote. Contributions are added to `start`; the link makes an answer of the sum.
    """

    maps: FeatureMaps
    ensemble: FlatEnsemble
    subspace_size: int  # D0 of the paper
    classes: Array | None  # in order; None for numbers
    feature_names: Array | None = None  # where X had names
    levels: tuple[tuple[float | str | None, ...] | None, ...] = ()  # of each feature that is a category; None: missing
    kinds: tuple[str | None, ...] = ()  # of each feature that is a number: one of `COLUMNS`; None: not known
    votes: Array | None = None  # float64 (n_nodes, n_classes), what nodes contribute if not their values
    link: str | Link = MEAN  # a name of `LINKS`, or a loss of the user's own
    start: Array = field(default_factory=lambda: np.empty(0))  # float64 (n_outputs,), boosting: raw before any tree
    trees_a_round: int = 1
    version: int = VERSION

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.maps.n_features

    @property
    def n_partitions(self) -> int:
        """Number of hyperplanes of all trees."""
        return self.ensemble.nodes.n_planes

    @property
    def n_parameters(self) -> int:
        """Model size by the paper's formula."""
        return n_parameters(self.n_partitions, self.subspace_size)

    @property
    def n_rounds(self) -> int:
        """Rounds of boosting."""
        return self.ensemble.n_trees // self.trees_a_round

    @property
    def contributions(self) -> Array:
        """What each node contributes (n_nodes, n_values): its value, or its vote."""
        return self.ensemble.nodes.value if self.votes is None else self.votes

    def apply(self, x: Array, workers: Workers) -> Array:
        """Node (n_samples, n_trees) of each tree in which the route of each sample ends, counted from its root."""
        return apply(self.ensemble, encode_samples(x, self.maps, workers), workers)

    def mean(self, x: Array, workers: Workers) -> Array:
        """Mean contribution (n_samples, n_values) of the trees."""
        return self._sums(x, np.zeros(self.contributions.shape[1]), workers) / self.ensemble.n_trees

    def raw(self, x: Array, exposure: Array, workers: Workers) -> Array:
        """Raw values (n_samples, n_outputs) after all rounds."""
        return self._sums(x, with_exposure(self.start, exposure), workers)

    def staged_raw(self, x: Array, exposure: Array, workers: Workers) -> Iterator[Array]:
        """Raw values (n_samples, n_outputs) after each round; one array, renewed."""
        codes, raw = encode_samples(x, self.maps, workers), np.empty((len(x), len(self.start)))
        raw[:] = with_exposure(self.start, exposure)
        for t in range(self.ensemble.n_trees):
            tree = self.ensemble.only(t)
            add_values(tree, tree.nodes.value, codes, raw, workers)
            if (t + 1) % self.trees_a_round == 0:
                yield raw

    def answer(self, raw: Array) -> Array:
        """Numbers (n_samples,) or probabilities (n_samples, n_classes) from raw values."""
        return LINKS[self.link](raw) if isinstance(self.link, str) else self.link(raw)

    def _sums(self, x: Array, start: Array, workers: Workers) -> Array:
        """start (n_values,) or (n_samples, n_values) plus what the nodes that a sample reaches contribute."""
        out = np.empty((len(x), start.shape[-1]))
        out[:] = start
        add_values_of(x, self.maps, self.ensemble, self.contributions, out, workers)
        return out


def n_parameters(n_partitions: int, subspace_size: int) -> int:
    """Model size by the paper's formula: a weight for each feature of S0 and a threshold for each hyperplane."""
    return n_partitions * (subspace_size + 1)
