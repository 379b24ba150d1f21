"""The search of a root once more: the losses of its candidates, the planes that were kept, and their cells."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import naive
from naive import Array
from sublearn import SLMClassifier, SLMForestClassifier, SLMRegressor
from sublearn.core.data.codes import encode_samples
from sublearn.display.search import RootSearch, search_root
from sublearn.paper import figures
from support import ONE_THREAD, make_data, nodes_of


def twin_losses(model: Any, X: Array, y: Array, vectors: Array, criterion: str) -> list[float]:
    """Losses by the naive discriminant feature test, over the codes of the model."""
    codes = encode_samples(X, model.feature_maps_, ONE_THREAD).T
    is_classes = criterion != "squared_error"
    data = make_data(codes, y, len(np.unique(y)) if is_classes else 0)
    settings = naive.Settings(criterion=criterion)
    start = float(naive.loss(data, criterion))
    return [
        start - naive.discriminant_test(naive.project(data.codes, tuple(v)), data, settings).decrease
        for v in vectors.tolist()
    ]


@pytest.mark.parametrize("criterion", ["entropy", "gini", "squared_error"])
def test_search_has_the_losses_of_the_twin_and_the_planes_of_the_tree(criterion: str) -> None:
    X, y = load_iris(return_X_y=True)
    estimator: Any = SLMRegressor if criterion == "squared_error" else SLMClassifier
    parameters = {"n_projections": 20, "axis_projections": False, "envelope_height": 4.0, "min_samples_leaf": 1}
    model = estimator(criterion=criterion, subspace="drawn", subspace_size=3, random_state=3, **parameters).fit(X, y)
    search = search_root(model, X, y)
    assert len(search.vectors) == 20
    # entropies are sums of rounded logarithms; targets of the engine are rounded to 2^-29 of their range
    assert search.losses == pytest.approx(twin_losses(model, X, y, search.vectors, criterion), rel=1e-6, abs=1e-9)
    alone = twin_losses(model, X, y, np.eye(4, dtype=int), criterion)
    assert search.feature_losses == pytest.approx(alone, rel=1e-6, abs=1e-9)
    assert search.loss == pytest.approx(model.tree_.loss[0])
    assert len(set(search.subspace.tolist())) == 3
    root = nodes_of(model.tree_, 4)[0]
    assert [p.vector for p in root.planes] == [tuple(v) for v in search.vectors[search.kept].tolist()]
    assert [p.threshold for p in root.planes] == search.thresholds[search.kept].tolist()
    assert_cells(search, root)


def assert_cells(search: RootSearch, root: naive.Node) -> None:
    sides = search.projected >= search.thresholds[search.kept][:, None]
    np.testing.assert_array_equal(search.cells, (sides << np.arange(search.n_kept)[:, None]).sum(axis=0))
    counts = {code: child.count for code, child in root.children.items()}
    assert dict(zip(*np.unique(search.cells, return_counts=True), strict=True)) == counts


def test_search_leaves_out_classes_of_weight_zero() -> None:
    X, y = load_iris(return_X_y=True)
    model = SLMClassifier(class_weight={0: 1, 1: 0, 2: 1}, random_state=0).fit(X, y)
    np.testing.assert_array_equal(search_root(model, X, y).rows, np.flatnonzero(y != 1))


def test_search_of_other_data_or_another_model_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    model = SLMClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="fitted to these X and y"):
        search_root(model, X[:, ::-1], y)
    with pytest.raises(ValueError, match="one leaf"):
        search_root(SLMClassifier(min_samples_split=1000).fit(X, y), X, y)
    with pytest.raises(TypeError, match="got SLMForestClassifier"):
        search_root(SLMForestClassifier(n_estimators=1).fit(X, y), X, y)
    with pytest.raises(ValueError, match="each of 4 features; got 1"):
        figures.system_overview(model, X, y, ["petal"])
