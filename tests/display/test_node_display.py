"""The display of one node: its samples, the losses of all thresholds, the chosen cut and the cosines."""

from math import log2
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes, load_wine

import drawn_models
from drawn_models import CASES, long_names, tree_of
from pictures import assert_legible
from sublearn import SLMBoostClassifier, SLMBoostRegressor, SLMClassifier, SLMRegressor
from sublearn.core.data.codes import encode_samples
from sublearn.display import NodeDisplay
from sublearn.display.node_view import (
    ENTROPY,
    GINI,
    OBJECTIVE,
    SQUARED_ERROR,
    Targets,
    derivatives_before,
    split_losses,
)
from support import ONE_THREAD


def loss_by_hand(rows: list[list[float]], loss: str, l2: float) -> float:
    """Loss times samples of a set."""
    if not rows:
        return 0.0
    n = len(rows)
    sums: list[float] = [sum(column) for column in zip(*rows, strict=True)]
    if loss == OBJECTIVE:
        return -sum(g * g / (h + l2) for g, h in zip(sums[::2], sums[1::2], strict=True))
    if loss == SQUARED_ERROR:
        return sum((row[0] - sums[0] / n) ** 2 for row in rows)
    shares: list[float] = [s / n for s in sums]
    if loss == GINI:
        return n * (1 - sum(s * s for s in shares))
    return -n * sum(s * log2(s) for s in shares if s)


@pytest.fixture(scope="module")
def models() -> Any:
    return drawn_models.models()


@pytest.mark.parametrize("loss", [ENTROPY, GINI, SQUARED_ERROR, OBJECTIVE])
def test_losses_of_thresholds_are_those_of_two_sides_by_hand(loss: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(-4, 5, 40).astype(float)
    y = rng.normal(size=40)
    columns = {
        SQUARED_ERROR: np.column_stack([y, y * y]),
        OBJECTIVE: np.column_stack([y, rng.random(40), rng.normal(size=40), rng.random(40)]),
    }
    sums = columns.get(loss, np.eye(3)[rng.integers(0, 3, 40)])
    targets = Targets(sums, loss, 0.7 if loss == OBJECTIVE else 0.0)
    thresholds = np.array([-9, -1.5, 0, 0.5, 9])
    for threshold, found in zip(thresholds, split_losses(values, targets, thresholds), strict=True):
        sides = [sums[values < threshold].tolist(), sums[values >= threshold].tolist()]
        assert found == pytest.approx(sum(loss_by_hand(side, loss, targets.l2) for side in sides) / 40)


@pytest.fixture(scope="module")
def wine() -> Any:
    data = load_wine()
    return SLMClassifier(random_state=0).fit(data.data, data.target), data


def test_chosen_cut_is_the_best_of_sixteen_bins_of_the_training_samples(wine: Any) -> None:
    model, data = wine
    diabetes = load_diabetes()
    regressor = SLMRegressor(random_state=0, max_depth=3).fit(diabetes.data, diabetes.target)
    for fitted, X, y in ((model, data.data, data.target), (regressor, diabetes.data, diabetes.target)):
        for node in np.flatnonzero(~fitted.tree_.is_leaf)[:6].tolist():
            view = NodeDisplay.from_estimator(fitted, X, y, node=node).view
            assert view.loss == pytest.approx(fitted.tree_.loss[node], rel=1e-6)
            first = view.planes[0]
            assert first.chosen_loss == pytest.approx(first.coarse.losses.min(), rel=1e-6)
            assert first.chosen_loss >= first.fine.losses.min() - 1e-9
            assert len(first.values) == fitted.tree_.n_samples[node]


def test_values_are_the_left_side_of_the_inequality_above_them(wine: Any) -> None:
    model, data = wine
    display = NodeDisplay.from_estimator(model, data.data, data.target, feature_names=data.feature_names)
    plane = display.view.planes[0]
    weights = np.zeros(13)
    for term in plane.inequality.terms:
        sign = -1.0 if term[0] == "-" else 1.0
        *factor, name = term.removeprefix("- ").removeprefix("+ ").split(" ")
        weights[data.feature_names.index(name)] = sign * float(factor[0] if factor else 1)
    step = abs(1 / plane.inequality.scale) * len(plane.inequality.terms)  # codes are whole numbers
    assert np.abs(plane.values - data.data @ weights).max() < 20 * step
    is_above = plane.values >= plane.cut
    codes = encode_samples(data.data, model.feature_maps_, ONE_THREAD)
    tree = model.tree_
    terms = slice(0, tree.first_term[1])
    sides = tree.coefficient[terms].astype(int) @ codes[tree.feature[terms]].astype(int) >= tree.threshold[0]
    assert np.array_equal(is_above, sides if plane.inequality.relation == ">=" else ~sides)


def test_bars_hold_all_samples_of_the_node_and_dots_the_bins(wine: Any) -> None:
    model, data = wine
    display = NodeDisplay.from_estimator(model, data.data, data.target)
    for letter in "ab":
        bars = [patch.get_height() for patch in display.axes_[f"projection {letter}"].patches]
        assert sum(bars) == 178
        _, grey, dots, _, diamond = display.axes_[f"loss {letter}"].lines
        assert len(dots.get_xdata()) == 15
        assert len(grey.get_xdata()) > 100
        assert diamond.get_marker() == "D"
    labels = [text.get_text() for text in display.axes_["legend"].get_legend().get_texts()]
    assert labels == ["0", "1", "2", "chosen cut", "16 bins", "all thresholds", "before the cut"]


def test_cosines_are_those_of_the_vectors(models: Any) -> None:
    model, X, y = models["several hyperplanes"]
    display = NodeDisplay.from_estimator(model, X, y)
    tree, q = model.tree_, model.tree_.first_plane[1]
    assert q > 2
    vectors = np.zeros((q, 12))
    for j in range(q):
        for t in range(tree.first_term[j], tree.first_term[j + 1]):
            vectors[j, tree.feature[t]] = tree.coefficient[t]
    for j in range(q):
        for k in range(q):
            wanted = vectors[j] @ vectors[k] / np.sqrt((vectors[j] @ vectors[j]) * (vectors[k] @ vectors[k]))
            assert display.view.cosines[j, k] == pytest.approx(wanted)
    assert len(display.axes_["cosines"].texts) == q * q


def test_other_samples_tell_how_the_cut_does_on_them(wine: Any) -> None:
    model, data = wine
    rows = np.arange(0, 178, 3)
    display = NodeDisplay.from_estimator(model, data.data[rows], data.target[rows])
    assert display.view.title == f"SLMClassifier, node 0: {len(rows)} samples, 100\N{NO-BREAK SPACE}% of X"
    assert len(display.view.planes[0].values) == len(rows)


BOOSTED: dict[str, Any] = {
    "numbers": SLMBoostRegressor,
    "two classes": SLMBoostClassifier,
    "three classes": SLMBoostClassifier,
    "a tree for each class": SLMBoostClassifier,
}


@pytest.mark.parametrize("kind", BOOSTED)
@pytest.mark.parametrize("n_models", [1, 2])
def test_derivatives_give_the_steps_of_the_leaves(kind: str, n_models: int) -> None:
    """A leaf of round r steps by -G / (H + l2) of its samples, with derivatives at what rounds before r predict."""
    X, numbers = load_diabetes(return_X_y=True)
    X, numbers = X[:150], numbers[:150]
    n_classes = {"numbers": 0, "two classes": 2}.get(kind, 3)
    y = numbers if n_classes == 0 else numbers.argsort().argsort() * n_classes // len(numbers)
    parameters = {"n_estimators": 3, "learning_rate": 0.5, "n_models": n_models, "max_depth": 2, "leaf": "constant"}
    parameters |= {"subsample": 1.0, "l2_regularization": 2.0, "random_state": 0, "min_samples_leaf": 5}
    if kind == "a tree for each class":
        parameters["multiclass"] = "separate"
    model = BOOSTED[kind](**parameters, n_jobs=1).fit(X, y)
    fitted = model._model
    codes = encode_samples(X, fitted.maps, ONE_THREAD)
    leaves = model.apply(X)
    own = 3 if kind == "a tree for each class" else 1
    for tree in range(fitted.ensemble.n_trees):
        gradients, hessians = derivatives_before(model, fitted, codes, np.asarray(y), tree)
        for leaf in np.unique(leaves[:, tree]):
            here = leaves[:, tree] == leaf
            step = -0.5 * gradients[here].sum(axis=0) / (hessians[here].sum(axis=0) + 2.0) / n_models
            value = fitted.ensemble.nodes.value[fitted.ensemble.roots[tree] + leaf]
            assert (value[[tree % own]] if own > 1 else value) == pytest.approx(step, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_panels_are_legible(case: str, models: Any) -> None:
    model, X, y = models[case]
    tree = tree_of(model)
    display = NodeDisplay.from_estimator(model, X, y, tree=tree, feature_names=long_names(X))
    assert_legible(display.figure_, 6.0)
    n_planes = sum(name.startswith("projection") for name in display.axes_)
    assert ("cosines" in display.axes_) == (n_planes > 1)
    if case in ("several hyperplanes", "categories and gaps", "300 features, 26 classes"):
        figure = Figure(figsize=(9, 6), layout="constrained")
        given = NodeDisplay.from_estimator(model, X, y, tree=tree, feature_names=long_names(X), ax=figure.subplots())
        assert_legible(figure, 6.0)
        assert given.figure_ is figure


def test_axes_outside_any_grid_are_divided_too(wine: Any) -> None:
    figure = Figure(figsize=(10, 8))
    axes = figure.add_axes((0.1, 0.1, 0.4, 0.8))
    display = NodeDisplay.from_estimator(wine[0], wine[1].data, wine[1].target, ax=axes)
    places = [panel.get_position() for panel in display.axes_.values()]
    assert all(place.x0 >= 0.0999 and place.x1 <= 0.5001 for place in places)
    assert len(display.axes_) == 8


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"node": 99}, ValueError, "node of NodeDisplay.from_estimator must be an int from 0 to 15; got 99."),
        ({"node": True}, ValueError, "must be an int from 0 to 15; got True."),
        ({"node": 15}, ValueError, "must be one that is split; node 15 of this tree is a leaf."),
        ({"y": ["x"] * 178}, ValueError, "y of NodeDisplay.from_estimator must hold classes of the model; got 'x'."),
        ({"y": [0, 1]}, ValueError, "must have the same length; got 178 and 2."),
        ({"ax": 3}, TypeError, "ax of NodeDisplay.plot must be a matplotlib Axes or None; got int."),
    ],
)
def test_wrong_arguments_are_refused(change: Any, error: Any, words: str, wine: Any) -> None:
    model, data = wine
    given = {"X": data.data, "y": data.target} | change
    with pytest.raises(error) as raised:
        NodeDisplay.from_estimator(model, **given)
    assert words in str(raised.value)
    assert plt.get_fignums() == []


def test_samples_that_do_not_reach_the_node_are_refused(wine: Any) -> None:
    model, data = wine
    node = int(np.flatnonzero(~model.tree_.is_leaf)[-1])
    inside = model.decision_path(data.data)[:, node].toarray()[:, 0] > 0
    with pytest.raises(ValueError, match=f"must have samples that reach node {node}; none of {(~inside).sum()} does"):
        NodeDisplay.from_estimator(model, data.data[~inside], data.target[~inside], node=node)
