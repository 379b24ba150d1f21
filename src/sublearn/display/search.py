"""The search of a fitted tree's root once more, with all that it tried: what the figures of the method show."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from sublearn.core.data.codes import FeatureMaps
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree.criterion import describe_nodes
from sublearn.core.tree.exchange import count_all
from sublearn.core.tree.feature_test import rank_features
from sublearn.core.tree.linked import LinkedTree
from sublearn.core.tree.task import Task
from sublearn.kernels.layout import Array, Node
from sublearn.kernels.machine import COUNT
from sublearn.tree import SLMTree


class RootSearch(NamedTuple):
    """What the five steps found in the root. Vectors are over all features, thresholds and projections in codes."""

    loss: float  # before it is split
    feature_losses: Array  # float64 (n_features,), by the best cut of each feature alone
    subspace: Array  # int32 (subspace_size,), features of S0, best first
    vectors: Array  # int64 (n_candidates, n_features)
    losses: Array  # float64 (n_candidates,)
    thresholds: Array  # int64 (n_candidates,)
    kept: Array  # int64 (n_kept,), positions among the candidates, first the best
    projected: Array  # int64 (n_kept, n_samples)
    cells: Array  # int64 (n_samples,), child codes
    rows: Array  # int64 (n_samples,), where these samples are in X
    maps: FeatureMaps

    @property
    def n_kept(self) -> int:
        """Number of hyperplanes, q."""
        return len(self.kept)


def search_root(model: Any, X: Any, y: Any, owner: str = "search_root", called: str = "model") -> RootSearch:
    """Repeat the search of the root of a tree that was fitted to X and y, with its parameters and its random key.

    Errors speak of the argument `called` so of `owner`.
    """
    if not isinstance(model, SLMTree):
        raise TypeError(f"{called} of {owner} must be an SLMClassifier or SLMRegressor; got {type(model).__name__}.")
    check_is_fitted(model)
    if model.tree_.is_leaf[0]:
        raise ValueError(f"{called} of {owner} must have a root that is split; got a tree of one leaf.")
    model._check_samples(X)  # names and columns, of which a fresh fit would take any
    again: Any = clone(model)
    given, key = again._take_in(X, y, None), again._key()
    with again._workers() as workers:
        training = again._prepare(given, workers)
        found = _search(training.task, key, workers, training.coded.maps, training.coded.rows)
    if not _is_root_of(found, model.tree_):
        raise ValueError(
            f"{called} of {owner} must have been fitted to these X and y, without weights and with an int as "
            "random_state; its root has other hyperplanes."
        )
    return found


def _search(task: Task, key: int, workers: Workers, maps: FeatureMaps, rows: Array) -> RootSearch:
    """The root as `grow` begins with it: a tree that grows step by step, and is looked at when its root is split."""
    samples, root, test, answers, _, _ = task
    sums = describe_nodes(samples, root.order, root.runs, test, workers)
    ranking = rank_features(samples, Node(root.order, root.runs[0], sums.totals[0]), test, workers)
    tree = LinkedTree(task, count_all(task, workers.links), key, workers)
    while tree.step() != COUNT:
        pass
    candidates, partitions = tree.front.candidates, tree.front.partitions
    n, kept = candidates.sizes[0], partitions.kept[0, : partitions.n_kept[0]]
    vectors = np.zeros((n, samples.codes.shape[0]), np.int64)
    vectors[:, candidates.subspace[0]] = candidates.coefficients[0, :n]
    cells = np.empty(len(rows), np.int64)
    cells[root.order] = tree.front.keeping.kept_cells[: len(rows)]
    return RootSearch(
        loss=float(answers.losses(sums.losses)[0]),
        feature_losses=answers.losses(sums.losses - ranking.decrease),
        subspace=candidates.subspace[0].copy(),
        vectors=vectors,
        losses=answers.losses(sums.losses - candidates.decrease[0, :n]),
        thresholds=candidates.threshold[0, :n].astype(np.int64),
        kept=kept.copy(),
        projected=vectors[kept] @ samples.codes.astype(np.int64),
        cells=cells,
        rows=rows,
        maps=maps,
    )


def _is_root_of(found: RootSearch, tree: FlatTree) -> bool:
    """Whether the hyperplanes kept are those of the tree's root."""
    n_planes = tree.first_plane[1]
    n_terms = tree.first_term[n_planes]
    vectors = np.zeros((n_planes, found.vectors.shape[1]), np.int64)
    plane = np.repeat(np.arange(n_planes), np.diff(tree.first_term[: n_planes + 1]))
    vectors[plane, tree.feature[:n_terms]] = tree.coefficient[:n_terms]
    return np.array_equal(found.vectors[found.kept], vectors) and np.array_equal(
        found.thresholds[found.kept], tree.threshold[:n_planes]
    )
