"""From plain arrays to what the steps of the engine take, and random data of every kind."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

import naive
from naive import Array, Data, Settings, Vector
from sublearn import SLMClassifier
from sublearn.core.data.codes import FeatureMaps, number_views, pack_views
from sublearn.core.data.fixed_point import Units, pack
from sublearn.core.model.flat_ensemble import alone, apply
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree import workspace
from sublearn.core.tree.answers import Answers, ClassShares, MeanTarget, NewtonStep
from sublearn.core.tree.criterion import describe_nodes, make_test
from sublearn.core.tree.grower import grow
from sublearn.core.tree.parameters import DrawingRound, TreeParameters
from sublearn.core.tree.projection import plan_projections
from sublearn.core.tree.task import Task, class_root, number_root
from sublearn.kernels.layout import CURVED_BITS, Candidates, Node, Samples, Test

ONE_THREAD = Workers(1)
INTEGERS = Units(0.0, 1.0)  # targets stand for themselves
KEY = 0x5EED
PATIENCE = 3600.0  # seconds until a thread or process is taken for stuck, however busy the machine is
FALSE_ALARM = 1e-6  # of each chi-square test, over the choice of its seed, which is fixed

WEIGHTS = ("unit", "integer", "fractional")
TASKS = ((2, "entropy"), (2, "gini"), (5, "entropy"), (5, "gini"), (0, "squared_error"))  # classes, criterion

PARAMETERS = replace(
    SLMClassifier()._tree_parameters(1),  # what is not named here has its default
    criterion="entropy",
    n_bins=16,
    subspace="top",
    subspace_size=10,
    n_projections=1000,
    selection="projection",
    draws_per_sample=None,
    fitted_projections=0,
    rounds=(DrawingRound(0.5, 0.0, None),),
    envelope_height=1.0,
    axis_projections=True,
    max_partitions=1,
    max_cosine=0.8,
    effective_ratio=0.5,
    max_depth=None,
    min_samples_split=2,
    min_samples_leaf=1,
    min_weight_fraction_leaf=0.0,
    min_loss=0.0,
    racing_samples=None,
    n_finalists=8,
)


def fit_maps(x: Array, weights: Array, kind: str, limit: int, workers: Workers) -> FeatureMaps:
    """Maps of all features of x (n_samples, n_features), all of which are numbers; kind: as in `number_views`."""
    return pack_views(number_views(x, np.arange(x.shape[1]), weights, kind, limit, workers), limit)


def share_small_trees(patch: pytest.MonkeyPatch) -> None:
    """Let threads share trees of more than 16 samples, and nodes of so many."""
    for name, value in (("LEAST", 16), ("SHARED", 16), ("WORTH", 1), ("EACH", 1)):
        patch.setattr(workspace, name, value)


def parameters(**changes: Any) -> TreeParameters:
    return replace(PARAMETERS, **changes)


def settings_of(given: TreeParameters, data: Data, l2: float = 0.0) -> Settings:
    """The same parameters for the twins."""
    return Settings(
        criterion=given.criterion,
        n_bins=given.n_bins,
        min_samples_leaf=given.min_samples_leaf,
        min_weight=kernel_test(given, data).min_weight,
        subspace_size=given.subspace_size,
        max_partitions=given.max_partitions,
        max_cosine=given.max_cosine,
        effective_ratio=given.effective_ratio,
        max_depth=given.max_depth,
        min_samples_split=given.min_samples_split,
        min_loss=given.min_loss,
        l2=l2,
    )


def kernel_test(given: TreeParameters, data: Data, l2: float = 0.0) -> Test:
    return make_test(given, given.min_weight_fraction_leaf * naive.weight_of(data), l2)


def make_data(codes: Any, y: Any, n_classes: int, weights: Any = None, counts: Any = None) -> Data:
    """Samples for the twins; codes (n_samples, n_features). Integer weights count as so many samples."""
    codes, y = np.asarray(codes, np.int64), np.asarray(y, np.int64)
    weights = np.ones(len(y), np.int64) if weights is None else np.asarray(weights, np.int64)
    counts = weights if counts is None else np.asarray(counts, np.int64)
    return Data(codes.reshape(len(y), -1), y, weights, counts, n_classes)


def samples_of(data: Data) -> Samples:
    """The same samples for the engine; what is too large to be packed is not."""
    unit = bool((data.weights == 1).all() and (data.counts == 1).all())
    none = np.empty(0, np.int64)
    n_targets = 0 if data.n_classes else len(data.y)
    targets = data.y[:n_targets].astype(np.int32)
    curvatures = np.empty(0, np.int32) if data.curvatures is None else data.curvatures.astype(np.int32)
    small = data.curvatures is None or max(abs(data.y).max(), data.curvatures.max()) < 2**CURVED_BITS
    return Samples(
        codes=transposed(data.codes),
        targets=targets,
        remainders=np.zeros(n_targets, np.int32),
        curvatures=curvatures,
        packed=pack(targets, curvatures) if n_targets and unit and small else none,
        weights=none if unit else data.weights,
        counts=none if unit else data.counts,
        n_classes=data.n_classes,
        views=np.empty((2, 0), np.int32),
    )


def nodes_with(data: Data, given: TreeParameters, nodes: Sequence[Any] | None = None) -> list[Node]:
    """Nodes that hold the given rows, one after the other in the order; one node with all of them by default."""
    nodes = [np.arange(len(data.y))] if nodes is None else [np.asarray(rows) for rows in nodes]
    n_runs = max(data.n_classes, 1)
    labels = data.y if data.n_classes else np.zeros(len(data.y), np.int64)
    order = np.concatenate([rows[np.argsort(labels[rows], kind="stable")] for rows in nodes]).astype(np.int32)
    sizes = np.concatenate([np.bincount(labels[rows], minlength=n_runs) for rows in nodes])
    ends = np.concatenate([[0], np.cumsum(sizes)])
    runs = np.stack([ends[i * n_runs : (i + 1) * n_runs + 1] for i in range(len(nodes))])
    sums = describe_nodes(samples_of(data), order, runs, kernel_test(given, data), ONE_THREAD)
    return [Node(order, own, totals) for own, totals in zip(runs, sums.totals, strict=True)]


def keys_of(n: int) -> Array:
    return np.random.default_rng(1).integers(0, 2**64, n, np.uint64)


def candidates_of(vectors: Any, n_nodes: int = 1) -> Candidates:
    """The same untested candidates for every node, over all features in their order; vectors (n, n_features)."""
    vectors = np.asarray(vectors, np.int16)
    n, n_features = vectors.shape
    return Candidates(
        subspace=np.tile(np.arange(n_features, dtype=np.int32), (n_nodes, 1)),
        coefficients=np.tile(vectors, (n_nodes, 1, 1)),
        sizes=np.full(n_nodes, n, np.int64),
        decrease=np.zeros((n_nodes, n)),
        threshold=np.zeros((n_nodes, n), np.int32),
        ranges=np.zeros((n_nodes, n, 2), np.int32),
    )


def random_data(
    rng: np.random.Generator, n: int, n_features: int, n_classes: int, weights: str = "unit", limit: int = 1000
) -> Data:
    """Labels or targets that depend on the first features, with noise."""
    codes = rng.integers(-limit, limit + 1, (n, n_features))
    signal = codes[:, 0] / limit + 0.5 * codes[:, -1] / limit + 0.3 * rng.standard_normal(n)
    y = np.argsort(np.argsort(signal)) * n_classes // n if n_classes else np.rint(1e8 * signal).astype(np.int64)
    if weights == "unit":
        return make_data(codes, y, n_classes)
    if weights == "integer":
        return make_data(codes, y, n_classes, rng.integers(1, 5, n))
    return make_data(codes, y, n_classes, rng.integers(1, 2**20, n), np.ones(n))


def random_vectors(rng: np.random.Generator, n: int, n_features: int, bound: int = 3) -> list[Vector]:
    """Distinct normalised vectors."""
    found: dict[Vector, None] = {}
    while len(found) < n:
        vector = naive.normalise(tuple(int(a) for a in rng.integers(-bound, bound + 1, n_features)))
        if vector is not None:
            found[vector] = None
    return list(found)


def task_of(data: Data, given: TreeParameters, l2: float = 0.0) -> Task:
    """What the engine grows from; targets and curvatures stand for themselves."""
    answers: Answers = MeanTarget(INTEGERS)
    if data.n_classes:
        answers = ClassShares(data.n_classes)
    elif given.criterion == "second_order":
        answers = NewtonStep(1.0, 1.0, l2, 1.0)
    root = class_root(data.y, data.n_classes) if data.n_classes else number_root(np.arange(len(data.y)))
    plan = plan_projections(given, data.codes.shape[1])
    return Task(
        samples=samples_of(data),
        root=root,
        test=kernel_test(given, data, l2),
        answers=answers,
        parameters=given,
        plan=plan,
    )


def grow_tree(
    data: Data, given: TreeParameters, key: int = KEY, workers: Workers = ONE_THREAD, l2: float = 0.0
) -> FlatTree:
    """The engine's tree; its values and losses are those of the integer targets."""
    return grow(task_of(data, given, l2), key, workers)


def leaves_of(tree: FlatTree, codes: Array, workers: Workers = ONE_THREAD) -> Array:
    """Node in which the route of each sample ends; codes (n_samples, n_features)."""
    return apply(alone(tree), transposed(codes), workers)[:, 0]


def transposed(codes: Array) -> Array:
    """Codes (n_samples, n_features) as the engine takes them."""
    return np.ascontiguousarray(codes.T).astype(np.int16)


def grow_twin(data: Data, given: TreeParameters, l2: float = 0.0) -> naive.Node:
    """The twin's tree, from the candidates the engine lists; nothing may be left to draw."""
    n_features = data.codes.shape[1]
    plan = plan_projections(given, n_features)
    assert plan.rounds.n_draws.sum() == 0

    def pool(ranked: list[int]) -> list[Vector]:
        return [spread(vector, ranked, n_features) for vector in plan.listed.tolist()]

    return naive.grow(data, settings_of(given, data, l2), pool)


def spread(vector: Sequence[int], features: Sequence[int], n_features: int) -> Vector:
    """A vector over some features as one over all."""
    full = [0] * n_features
    for a, f in zip(vector, features, strict=True):
        full[f] = a
    return tuple(full)


def nodes_of(tree: FlatTree, n_features: int) -> list[naive.Node]:
    """A flat tree as the twin's nodes, in level order; the root comes first."""
    nodes = []
    for i in range(tree.n_nodes):
        planes = []
        for p in range(tree.first_plane[i], tree.first_plane[i + 1]):
            terms = slice(tree.first_term[p], tree.first_term[p + 1])
            vector = spread(tree.coefficient[terms].tolist(), tree.feature[terms].tolist(), n_features)
            planes.append(naive.Plane(vector, int(tree.threshold[p]), float(tree.plane_decrease[p])))
        nodes.append(
            naive.Node(
                int(tree.depth[i]),
                tree.value[i].tolist(),
                float(tree.loss[i]),
                float(tree.weight[i]),
                int(tree.n_samples[i]),
                planes=planes,
                decrease=float(tree.decrease[i]),
            )
        )
    for i, node in enumerate(nodes):
        if tree.first_child[i] >= 0:
            for code in range(1 << len(node.planes)):
                child = int(tree.children[tree.first_child[i] + code])
                if child >= 0:
                    node.children[code] = nodes[child]
                    assert tree.parent[child] == i
    return nodes


def assert_same_tree(one: FlatTree, other: FlatTree) -> None:
    """Bit for bit."""
    others = other.columns()
    for name, a in one.columns().items():
        assert a.dtype == others[name].dtype, name
        np.testing.assert_array_equal(a, others[name], err_msg=name)


def same_trees(one: FlatTree, other: FlatTree) -> bool:
    """Whether all arrays are equal to the last bit."""
    others = other.columns()
    return all(np.array_equal(column, others[name]) for name, column in one.columns().items())


def assert_frequencies(observed: Counter[Any], expected: dict[Any, float], n: int) -> None:
    """Chi-square test of counts against probabilities; everything observed must be possible."""
    assert set(observed) <= set(expected)
    statistic = sum((observed[key] - n * p) ** 2 / (n * p) for key, p in expected.items())
    assert min(expected.values()) * n >= 5  # where the chi-square distribution is a fair approximation
    assert statistic < chi2.isf(FALSE_ALARM, len(expected) - 1)
