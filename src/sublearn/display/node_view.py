"""What a node's hyperplanes do to samples: where these lie, and what each threshold would leave of the loss."""

from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import column_or_1d

from sublearn._base.boosting import SLMBoost
from sublearn._base.checking import check_target
from sublearn.core.model.fitted import FittedModel
from sublearn.core.model.flat_ensemble import add_values, apply
from sublearn.core.parallel import Workers
from sublearn.kernels.layout import Array

ENTROPY, GINI, SQUARED_ERROR, OBJECTIVE = "entropy", "gini", "squared_error", "objective"
N_BINS = 16
ALONE = Workers(1)


class Targets(NamedTuple):
    """What a node's samples are to be told apart by, as columns whose sums a loss is made of."""

    sums: Array  # float64 (n_samples, n_columns): classes; y less a constant, and its square; gradients and hessians
    loss: str
    l2: float = 0.0

    def of(self, rows: Array) -> "Targets":
        """Those of some samples."""
        return self._replace(sums=self.sums[rows])


class Curve(NamedTuple):
    """Loss by threshold."""

    thresholds: Array
    losses: Array


def position_of(model: FittedModel, root: int, node: int, tree: int, owner: str) -> int:
    """Where a tree's node number `node` is among all nodes of the model; it must be split."""
    roots = model.ensemble.roots
    end = int(roots[tree + 1]) if tree + 1 < len(roots) else model.ensemble.nodes.n_nodes
    is_whole = isinstance(node, int | np.integer) and not isinstance(node, bool)
    if not is_whole or not 0 <= node < end - root:
        raise ValueError(f"node of {owner} must be an int from 0 to {end - root - 1}; got {node!r}.")
    if model.ensemble.nodes.is_leaf[root + node]:
        raise ValueError(f"node of {owner} must be one that is split; node {node} of this tree is a leaf.")
    return root + int(node)


def take_in(model: Any, fitted: FittedModel, X: Any, y: Any, owner: str) -> tuple[Array, Array]:
    """Samples and targets, checked: numbers, or positions of classes."""
    x = model._check_samples(X)
    if fitted.classes is None:
        targets = check_target(column_or_1d(y), owner)
    else:
        given = column_or_1d(y)
        known = fitted.classes.tolist()
        places = {c: k for k, c in enumerate(known)}
        labels = [places.get(c, -1) for c in given.tolist()]
        if -1 in labels:
            raise ValueError(f"y of {owner} must hold classes of the model; got {given.tolist()[labels.index(-1)]!r}.")
        targets = np.array(labels, np.int64)
    if len(targets) != len(x):
        raise ValueError(f"X and y of {owner} must have the same length; got {len(x)} and {len(targets)}.")
    return x, targets


def reaching(fitted: FittedModel, codes: Array, tree: int, i: int) -> Array:
    """Which samples come through node i of a tree (n_samples,)."""
    parent = fitted.ensemble.nodes.parent
    at = int(fitted.ensemble.roots[tree]) + apply(fitted.ensemble.only(tree), codes, ALONE)[:, 0]
    is_inside = np.zeros(len(parent), bool)
    is_inside[i] = True
    for node in range(i + 1, len(parent)):  # children come after their parents, and the next tree after all of them
        if parent[node] >= 0:
            is_inside[node] = is_inside[parent[node]]
        else:
            break
    found: Array = is_inside[at]
    return found


def projected(fitted: FittedModel, codes: Array, i: int) -> Array:
    """Projections (n_planes, n_samples) of node i, in codes."""
    tree = fitted.ensemble.nodes
    rows = []
    for p in range(tree.first_plane[i], tree.first_plane[i + 1]):
        terms = slice(tree.first_term[p], tree.first_term[p + 1])
        rows.append(tree.coefficient[terms].astype(np.int64) @ codes[tree.feature[terms]].astype(np.int64))
    return np.array(rows)


def cosines(fitted: FittedModel, i: int) -> Array:
    """Cosines (n_planes, n_planes) between the coefficient vectors of node i."""
    tree = fitted.ensemble.nodes
    planes = range(tree.first_plane[i], tree.first_plane[i + 1])
    vectors = np.zeros((len(planes), fitted.maps.n_views))
    for j, p in enumerate(planes):
        terms = slice(tree.first_term[p], tree.first_term[p + 1])
        vectors[j, tree.feature[terms]] = tree.coefficient[terms]
    lengths = np.linalg.norm(vectors, axis=1)
    found: Array = vectors @ vectors.T / np.outer(lengths, lengths)
    return found


def targets_of(model: Any, fitted: FittedModel, codes: Array, y: Array, tree: int) -> Targets:
    """By what a tree parts samples: classes, numbers, or the derivatives of boosting's loss before its round."""
    if isinstance(model, SLMBoost):
        gradients, hessians = derivatives_before(model, fitted, codes, y, tree)
        columns = np.stack([gradients, hessians], axis=2).reshape(len(y), -1)
        return Targets(columns, OBJECTIVE, float(model.settings_["l2_regularization"]))
    if fitted.classes is None:
        near = y - y.mean()  # squares keep their digits
        return Targets(np.column_stack([near, near * near]), SQUARED_ERROR)
    return Targets(np.eye(len(fitted.classes))[y], model.criterion)


def derivatives_before(model: Any, fitted: FittedModel, codes: Array, y: Array, tree: int) -> tuple[Array, Array]:
    """Gradients and hessians (n_samples, n_outputs) of the loss at what the trees before this one predict.

    Models that are averaged grow side by side, each on its own predictions; their trees are kept with the share that
    they have in the mean.
    """
    n_models = len(model._members)
    a_round = fitted.trees_a_round
    own = a_round // n_models  # trees that one of the models has in a round
    raw = np.tile(fitted.start, (len(y), 1))
    for t in range(tree // a_round * a_round):
        if t % a_round // own == tree % a_round // own:
            one = fitted.ensemble.only(t)
            step = np.zeros_like(raw)
            add_values(one, one.nodes.value, codes, step, ALONE)
            raw += n_models * step
    loss, numbers = deepcopy(model._loss), y.astype(np.float64)
    outputs = raw[:, 0] if raw.shape[1] == 1 else raw
    loss.prepare(numbers, outputs, np.ones(len(y)))
    gradients, hessians = loss.derivatives(numbers, outputs)
    gradients = np.asarray(gradients, np.float64).reshape(raw.shape)
    hessians = np.ones_like(raw) if hessians is None else np.asarray(hessians, np.float64).reshape(raw.shape)
    if own > 1:  # a tree for each output
        k = slice(tree % own, tree % own + 1)
        return gradients[:, k], hessians[:, k]
    return gradients, hessians


def loss_of(sums: Array, n: Array, targets: Targets) -> Array:
    """Loss times samples of sets, by their sums (n_sets, n_columns) and numbers of samples (n_sets,)."""
    found = np.zeros(len(sums))
    if targets.loss == OBJECTIVE:
        gradients, hessians = sums[:, ::2], sums[:, 1::2]
        steepness = hessians + targets.l2
        steps = np.divide(gradients**2, steepness, out=np.zeros_like(gradients), where=steepness > 0)
        found -= steps.sum(axis=1)
    elif targets.loss == SQUARED_ERROR:
        found += np.maximum(sums[:, 1] - sums[:, 0] ** 2 / np.maximum(n, 1), 0.0)
    else:
        shares = sums / np.maximum(n, 1)[:, None]
        logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
        found += n * (1.0 - (shares**2).sum(axis=1) if targets.loss == GINI else -(shares * logs).sum(axis=1))
    return found


def split_losses(values: Array, targets: Targets, thresholds: Array) -> Array:
    """Mean loss of both sides of each threshold; a value at the threshold is above it."""
    order = np.argsort(values, kind="stable")
    cumulated = np.vstack([np.zeros(targets.sums.shape[1]), np.cumsum(targets.sums[order], axis=0)])
    n_below = np.searchsorted(values[order], thresholds, side="left")
    below, total = cumulated[n_below], cumulated[-1]
    losses = loss_of(below, n_below, targets) + loss_of(total - below, len(values) - n_below, targets)
    found: Array = losses / len(values)
    return found


def fine_curve(values: Array, targets: Targets) -> Curve:
    """The loss between all neighbouring values."""
    distinct = np.unique(values)
    middles = (distinct[1:] + distinct[:-1]) / 2 if len(distinct) > 1 else distinct
    return Curve(middles, split_losses(values, targets, middles))


def coarse_curve(values: Array, targets: Targets, n_bins: int = N_BINS) -> Curve:
    """The loss at the boundaries of bins of equal width, as the search of a node tries them."""
    inner = np.linspace(values.min(), values.max(), n_bins + 1)[1:-1]
    return Curve(inner, split_losses(values, targets, inner))
