"""SLM Forest: many trees, one answer."""

import hashlib
import io
import os
import pickle
import subprocess
import sys
import warnings
from itertools import combinations
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from naive import Array
from sublearn import SLMClassifier, SLMForestClassifier, SLMForestRegressor, SLMRegressor, export_text
from sublearn.core.keys import key_below
from sublearn.core.tree.bagging import draw_bag
from support import PATIENCE, assert_same_tree

WINE = load_wine(return_X_y=True)  # three classes
DIABETES = load_diabetes(return_X_y=True)

DRAWN: dict[str, Any] = {
    "n_estimators": 7,
    "subspace": "drawn",
    "subspace_size": 3,
    "n_projections": 10,
    "n_coefficients": 2,
    "selection_decay": 0.1,
    "envelope_height": 2.0,
    "envelope_decay": 0.2,
    "max_depth": 4,
    "min_samples_split": 2,
    "min_samples_leaf": 2,
    "random_state": 0,
}
NOTHING_DRAWN: dict[str, Any] = {
    **DRAWN,
    "subspace": "top",
    "subspace_size": 5,
    "n_projections": 0,
}
BAGGED: dict[str, Any] = {**DRAWN, "bootstrap": True}
BOTH = pytest.mark.parametrize(
    ("make", "data"), [(SLMForestClassifier, WINE), (SLMForestRegressor, DIABETES)], ids=["classes", "numbers"]
)


def hash_of(model: Any, X: Any) -> str:
    """Of all that predictions depend on, and of some predictions."""
    digest = hashlib.sha256()
    columns = model.ensemble_.nodes.columns().values()
    for array in (*columns, model.ensemble_.roots, *model.feature_maps_, model.predict(X)):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def bags_of(model: Any, n_samples: int, n_draws: int) -> list[Array]:
    """How often each sample was drawn, tree by tree."""
    return [draw_bag(n_samples, n_draws, key_below(model._drawn_from, t)) for t in range(model.n_estimators)]


def answers_of(tree: Any, X: Any, voting: str = "soft") -> Array:
    """What one tree of a forest adds: (n_samples, n_values)."""
    if isinstance(tree, SLMRegressor):
        return np.array(tree.predict(X))[:, None]
    shares = tree.predict_proba(X)
    return np.array(shares) if voting == "soft" else np.eye(shares.shape[1])[shares.argmax(axis=1)]


# --- answers


def test_three_stumps_by_hand() -> None:
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    model = SLMForestClassifier(**{**NOTHING_DRAWN, "n_estimators": 3, "min_samples_leaf": 1}).fit(X, y)
    assert model.predict(X).tolist() == y
    assert model.predict_proba(X).tolist() == [[1.0, 0.0]] * 2 + [[0.0, 1.0]] * 2
    assert model.apply(X).tolist() == [[1, 1, 1]] * 2 + [[2, 2, 2]] * 2
    assert (model.n_partitions_, model.n_parameters_) == (3, 6)  # a weight and a threshold each
    assert model.feature_importances_.tolist() == [1.0]
    assert model.ensemble_.roots.tolist() == [0, 3, 6]


@BOTH
@pytest.mark.parametrize("extra", [{}, {"bootstrap": True}, {"max_partitions": 2, "effective_ratio": 0.1}])
def test_answer_is_the_mean_over_the_trees(make: Any, data: Any, extra: dict[str, Any]) -> None:
    X, y = data
    model = make(**{**DRAWN, **extra}).fit(X, y)
    total: Any = 0.0
    for tree in model.estimators_:
        total = total + answers_of(tree, X)
    # to the bit: both add tree by tree
    found = model.predict_proba(X) if make is SLMForestClassifier else model.predict(X)[:, None]
    np.testing.assert_array_equal(found, total / 7)


def test_hard_voting_gives_shares_of_votes() -> None:
    X, y = WINE
    soft, hard = (SLMForestClassifier(**DRAWN, voting=voting).fit(X, y) for voting in ("soft", "hard"))
    votes = np.zeros((len(X), 3))
    for tree in hard.estimators_:
        for i, label in enumerate(tree.predict(X)):
            votes[i, label] += 1
    np.testing.assert_array_equal(hard.predict_proba(X), votes / 7)
    assert not np.array_equal(soft.predict_proba(X), hard.predict_proba(X))
    assert_same_tree(soft.ensemble_.nodes, hard.ensemble_.nodes)  # the trees do not know how they vote


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_predicted_class_is_the_first_of_largest_probability(voting: str) -> None:
    X, y = WINE
    names = np.array(["red", "rose", "white"])
    model = SLMForestClassifier(**{**DRAWN, "n_estimators": 2, "max_depth": 1, "voting": voting}).fit(X, names[y])
    probabilities = model.predict_proba(X)
    best = [max(range(3), key=lambda k: row[k]) for row in probabilities.tolist()]  # the first of several
    assert model.predict(X).tolist() == names[best].tolist()
    if voting == "hard":
        assert (np.sort(probabilities, axis=1)[:, -2:] == 0.5).all(axis=1).any()  # two trees that disagree


@BOTH
def test_leaves_are_those_of_each_tree(make: Any, data: Any) -> None:
    X, y = data
    model = make(**BAGGED).fit(X, y)
    leaves = model.apply(X)
    assert leaves.shape == (len(X), 7)
    for column, tree in zip(leaves.T, model.estimators_, strict=True):
        np.testing.assert_array_equal(column, tree.apply(X))


@BOTH
def test_trees_differ_by_what_is_drawn_and_by_nothing_else(make: Any, data: Any) -> None:
    X, y = data
    for one, other in combinations(make(**DRAWN).fit(X, y).estimators_, 2):
        assert not np.array_equal(one.apply(X), other.apply(X))
        assert one.tree_.n_samples[0] == other.tree_.n_samples[0] == len(X)
    first, *others = make(**NOTHING_DRAWN).fit(X, y).estimators_
    for other in others:
        assert_same_tree(first.tree_, other.tree_)


@pytest.mark.parametrize(
    ("make", "tree_class", "data"),
    [(SLMForestClassifier, SLMClassifier, WINE), (SLMForestRegressor, SLMRegressor, DIABETES)],
)
def test_forest_of_one_tree_is_that_tree_where_nothing_is_drawn(make: Any, tree_class: Any, data: Any) -> None:
    X, y = data
    forest = make(**{**NOTHING_DRAWN, "n_estimators": 1}).fit(X, y)
    tree = tree_class(**{name: value for name, value in forest.get_params().items() if name in vars(tree_class())})
    tree.fit(X, y)
    assert_same_tree(forest.ensemble_.nodes, tree.tree_)
    np.testing.assert_array_equal(forest.predict(X), tree.predict(X))
    np.testing.assert_allclose(forest.feature_importances_, tree.feature_importances_, rtol=1e-14)  # divided once more
    assert forest.n_parameters_ == tree.n_parameters_
    assert export_text(forest.estimators_[0]) == export_text(tree)


@BOTH
def test_random_state_decides_the_draws(make: Any, data: Any) -> None:
    X, y = data
    one, same, other = (make(**{**DRAWN, "random_state": seed}).fit(X, y) for seed in (0, 0, 1))
    assert hash_of(one, X) == hash_of(same, X) != hash_of(other, X)


# --- bootstrap samples


@BOTH
@pytest.mark.parametrize(
    ("max_samples", "n_draws"), [(None, 150), (20, 20), (1, 1), (0.5, 75), (0.501, 76), (1.0, 150)]
)
def test_every_tree_sees_so_many_draws(make: Any, data: Any, max_samples: Any, n_draws: int) -> None:
    X, y = data[0][:150], data[1][:150]
    model = make(**BAGGED, max_samples=max_samples).fit(X, y)
    assert [tree.tree_.n_samples[0] for tree in model.estimators_] == [n_draws] * 7


def test_every_tree_learns_from_its_own_bag() -> None:
    X, y = WINE
    model = SLMForestClassifier(**BAGGED).fit(X, y)
    bags = bags_of(model, len(X), len(X))
    for tree, bag in zip(model.estimators_, bags, strict=True):
        np.testing.assert_array_equal(tree.tree_.value[0], np.bincount(y, bag) / len(X))
    assert len({tuple(bag) for bag in bags}) == 7


def test_weights_enter_a_bag_as_factors() -> None:
    X, y = DIABETES
    weights = np.random.default_rng(0).uniform(0.1, 2.0, len(X))
    model = SLMForestRegressor(**BAGGED, max_samples=0.7).fit(X, y, weights)
    for tree, bag in zip(model.estimators_, bags_of(model, len(X), 310), strict=True):
        # weights are rounded to 2^-30 of their sum
        np.testing.assert_allclose(tree.tree_.value[0, 0], np.average(y, weights=weights * bag), rtol=1e-6)


def test_share_of_the_weight_is_that_of_the_bag() -> None:
    X, y = WINE
    weights = np.where(y == 0, 9.0, 1.0)
    model = SLMForestClassifier(**{**BAGGED, "max_samples": 30, "min_weight_fraction_leaf": 0.2}).fit(X, y, weights)
    sizes = [tree.n_leaves_ for tree in model.estimators_]
    assert max(sizes) > 1  # a fifth of the weight of all samples is more than a bag has
    assert min(tree.tree_.weight.min() for tree in model.estimators_) >= 0.2


def test_a_class_that_a_bag_lacks_gets_no_share_of_its_tree() -> None:
    X, y = WINE
    model = SLMForestClassifier(**BAGGED, max_samples=2).fit(X, y)
    lacking = [tree for tree in model.estimators_ if (tree.tree_.value[0] == 0).any()]
    assert len(lacking) == 7  # two draws of three classes
    assert model.predict_proba(X).shape == (len(X), 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-15)


def test_more_draws_than_samples_are_refused() -> None:
    message = "max_samples of SLMForestRegressor must be at most the number of samples, 20; got 21"
    with pytest.raises(ValueError, match=message):
        SLMForestRegressor(bootstrap=True, max_samples=21).fit(DIABETES[0][:20], DIABETES[1][:20])


def test_kept_trees_keep_their_way_of_drawing() -> None:
    model = SLMForestClassifier(n_estimators=2, warm_start=True).fit(*WINE).set_params(n_estimators=3, bootstrap=True)
    with pytest.raises(ValueError, match="bootstrap of SLMForestClassifier must stay"):
        model.fit(*WINE)


@pytest.mark.parametrize("make", [SLMForestClassifier, SLMForestRegressor])
def test_what_needs_a_bootstrap_says_so(make: Any) -> None:
    with pytest.raises(ValueError, match=f"max_samples of {make.__name__} must be None unless bootstrap=True; got 0.5"):
        make(max_samples=0.5).fit(*WINE)
    with pytest.raises(ValueError, match=f"oob_score of {make.__name__} must be False unless bootstrap=True"):
        make(oob_score=True).fit(*WINE)


# --- samples left out


def slow_oob(model: Any, X: Any, rows: Any, voting: str = "soft") -> Array:
    """Mean answer of the trees that have not drawn a sample, sample by sample; `rows` are those that could be drawn."""
    n_draws = len(rows) if model.max_samples is None else model.max_samples
    drawn = []
    for bag in bags_of(model, len(rows), n_draws):
        drawn.append({int(row) for row, times in zip(rows, bag, strict=True) if times})
    answers = [answers_of(tree, X, voting) for tree in model.estimators_]
    out = np.full((len(X), answers[0].shape[1]), np.nan)
    for i in range(len(X)):
        unseen = [answer[i] for answer, seen in zip(answers, drawn, strict=True) if i not in seen]
        if unseen:
            out[i] = sum(unseen) / len(unseen)
    return out


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("max_samples", [None, 50])
def test_classes_left_out_are_predicted_by_the_trees_that_have_not_seen_them(voting: str, max_samples: Any) -> None:
    X, y = WINE
    names = np.array(["red", "rose", "white"])
    model = SLMForestClassifier(
        **{**BAGGED, "n_estimators": 30}, voting=voting, oob_score=True, max_samples=max_samples
    ).fit(X, names[y])
    expected = slow_oob(model, X, range(len(X)), voting)
    np.testing.assert_allclose(model.oob_decision_function_, expected, rtol=1e-14)  # sums of up to 30 terms
    labels = names[model.oob_decision_function_.argmax(axis=1)]
    assert model.oob_score_ == accuracy_score(names[y], labels)
    assert 0.85 < model.oob_score_ < model.score(X, names[y])


def test_numbers_left_out_are_predicted_by_the_trees_that_have_not_seen_them() -> None:
    X, y = DIABETES
    model = SLMForestRegressor(**{**BAGGED, "n_estimators": 30}, oob_score=True).fit(X, y)
    expected = slow_oob(model, X, range(len(X)))[:, 0]
    np.testing.assert_allclose(model.oob_prediction_, expected, rtol=1e-14)
    assert model.oob_score_ == pytest.approx(r2_score(y, expected), rel=1e-12)
    assert 0.3 < model.oob_score_ < model.score(X, y)


@BOTH
def test_samples_of_weight_zero_are_left_out_by_every_tree(make: Any, data: Any) -> None:
    X, y = data
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    rows = np.flatnonzero(weights)
    assert len(rows) < 0.75 * len(X)
    model = make(**{**BAGGED, "n_estimators": 30}, oob_score=True).fit(X, y, weights)
    expected = slow_oob(model, X, rows)
    if make is SLMForestClassifier:
        found = model.oob_decision_function_
        score = accuracy_score(y, found.argmax(axis=1), sample_weight=weights)
    else:
        found = model.oob_prediction_[:, None]
        score = r2_score(y, found[:, 0], sample_weight=weights)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert model.oob_score_ == score
    absent = weights == 0
    np.testing.assert_allclose(found[absent], answers_of_forest(model, X)[absent], rtol=1e-13)


def answers_of_forest(model: Any, X: Any) -> Array:
    return np.array(model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)[:, None])


def test_samples_of_a_class_without_weight_are_left_out_by_every_tree() -> None:
    X, y = WINE
    model = SLMForestClassifier(**{**BAGGED, "n_estimators": 30}, oob_score=True, class_weight={0: 1, 1: 2, 2: 0}).fit(
        X, y
    )
    np.testing.assert_allclose(model.oob_decision_function_, slow_oob(model, X, np.flatnonzero(y < 2)), rtol=1e-13)
    assert (model.oob_decision_function_[:, 2] == 0).all()


@BOTH
def test_samples_that_every_tree_has_seen_have_no_answer_and_a_warning(make: Any, data: Any) -> None:
    X, y = data
    with pytest.warns(UserWarning, match="have no out-of-bag prediction; grow more trees"):
        model = make(**{**BAGGED, "n_estimators": 2}, oob_score=True).fit(X, y)
    found = model.oob_decision_function_ if make is SLMForestClassifier else model.oob_prediction_[:, None]
    expected = slow_oob(model, X, range(len(X)))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    known = ~np.isnan(expected[:, 0])
    assert 0.2 * len(X) < known.sum() < 0.8 * len(X)
    np.testing.assert_allclose(found[known], expected[known], rtol=1e-14)
    if make is SLMForestClassifier:
        assert model.oob_score_ == accuracy_score(y[known], found[known].argmax(axis=1))
    else:
        assert model.oob_score_ == pytest.approx(r2_score(y[known], found[known, 0]), rel=1e-12)


def test_out_of_bag_score_of_samples_that_weigh_next_to_nothing_is_no_warning() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5, 4)), rng.normal(size=5)
    weights = np.array([1.0, 1.0, 1e-310, 1e-310, 1e-310])
    scores = []
    for seed in range(20):
        forest = SLMForestRegressor(n_estimators=3, bootstrap=True, oob_score=True, random_state=seed)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "some samples were drawn for every tree")
            scores.append(forest.fit(X, y, weights).oob_score_)
    assert -np.inf in scores


@BOTH
def test_samples_of_weight_zero_do_not_count_when_only_they_are_left_out(make: Any, data: Any) -> None:
    X, y = data[0][:6], np.arange(6) % 2
    weights = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # one sample is drawn by every tree
    with pytest.warns(UserWarning, match="have no out-of-bag prediction; grow more trees"):
        model = make(**{**BAGGED, "n_estimators": 2}, oob_score=True).fit(X, y, weights)
    assert np.isnan(model.oob_score_)
    found = model.oob_decision_function_ if make is SLMForestClassifier else model.oob_prediction_[:, None]
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1:]).all()


@BOTH
def test_warning_of_samples_without_an_answer_points_to_the_line_that_fits(make: Any, data: Any) -> None:
    with pytest.warns(UserWarning, match="have no out-of-bag prediction") as caught:
        make(**{**BAGGED, "n_estimators": 2}, oob_score=True).fit(*data)
    assert caught[0].filename == __file__


@BOTH
def test_no_sample_left_out_at_all_leaves_no_score(make: Any, data: Any) -> None:
    X, y = data
    with pytest.warns(UserWarning, match="have no out-of-bag prediction"):
        model = make(**BAGGED, oob_score=True).fit(X[:1], y[:1])
    assert np.isnan(model.oob_score_)


@BOTH
def test_one_weight_for_all_samples_goes_with_the_score_of_those_left_out(make: Any, data: Any) -> None:
    X, y = data
    given: dict[str, Any] = {**BAGGED, "n_estimators": 30, "oob_score": True}
    score = make(**given).fit(X, y, sample_weight=2.0).oob_score_
    assert score == make(**given).fit(X, y, sample_weight=np.full(len(X), 2.0)).oob_score_


# --- weights


@BOTH
@pytest.mark.parametrize("extra", [{}, {"min_samples_leaf": 0.03}, {"min_weight_fraction_leaf": 0.02}])
def test_weight_two_equals_row_twice_and_weight_zero_its_absence(make: Any, data: Any, extra: dict[str, Any]) -> None:
    X, y = data
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    model = make(**{**DRAWN, **extra})
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert hash_of(weighted, X) == hash_of(repeated, X)
    assert weighted.n_partitions_ > 20


@BOTH
def test_weight_zero_is_absence_from_bootstrap_samples_too(make: Any, data: Any) -> None:
    X, y = data
    weights = np.random.default_rng(1).integers(0, 2, len(X))
    model = make(**BAGGED, max_samples=0.8)
    present = weights > 0
    assert hash_of(clone(model).fit(X, y, weights), X) == hash_of(clone(model).fit(X[present], y[present]), X)


@BOTH
def test_unit_weights_equal_none(make: Any, data: Any) -> None:
    X, y = data
    for given in (DRAWN, BAGGED):
        plain = make(**given).fit(X, y)
        assert hash_of(plain, X) == hash_of(make(**given).fit(X, y, sample_weight=np.ones(len(X))), X)


def test_class_weights_weigh_leaves_but_do_not_count() -> None:
    X, y = WINE
    model = SLMForestClassifier(**DRAWN, class_weight={0: 1, 1: 5, 2: 2}).fit(X, y)
    share = np.array([1, 5, 2]) * np.bincount(y)
    for tree in model.estimators_:
        np.testing.assert_allclose(tree.tree_.value[0], share / share.sum(), rtol=1e-15)
        assert tree.tree_.n_samples[0] == len(X)


def test_balanced_gives_each_class_the_same_weight() -> None:
    X, y = WINE
    model = SLMForestClassifier(**DRAWN, class_weight="balanced").fit(X, y)
    for tree in model.estimators_:
        np.testing.assert_allclose(tree.tree_.value[0], 1 / 3, rtol=1e-6)  # class weights keep 30 bits


def test_class_weights_go_with_bootstrap_samples() -> None:
    X, y = WINE
    model = SLMForestClassifier(**BAGGED, class_weight={0: 1, 1: 5, 2: 2}).fit(X, y)
    for tree, bag in zip(model.estimators_, bags_of(model, len(X), len(X)), strict=True):
        share = np.array([1, 5, 2]) * np.bincount(y, bag)
        np.testing.assert_allclose(tree.tree_.value[0], share / share.sum(), rtol=1e-15)


# --- growing on


@BOTH
@pytest.mark.parametrize("given", [DRAWN, {**BAGGED, "max_samples": 0.6}], ids=["all samples", "bootstrap"])
@pytest.mark.parametrize("seed", ["int", "RandomState"])
def test_five_trees_and_seven_more_equal_twelve_at_once(make: Any, data: Any, given: dict[str, Any], seed: str) -> None:
    X, y = data

    def forest(n_estimators: int) -> Any:
        state: Any = 3 if seed == "int" else np.random.RandomState(3)
        return make(**{**given, "n_estimators": n_estimators, "warm_start": True, "random_state": state})

    grown = forest(5).fit(X, y)
    first = grown.estimators_
    assert len(first) == 5
    grown.set_params(n_estimators=12).fit(X, y)
    assert hash_of(grown, X) == hash_of(forest(12).fit(X, y), X)
    for one, other in zip(first, grown.estimators_, strict=False):
        np.testing.assert_array_equal(one.tree_.threshold, other.tree_.threshold)


@BOTH
def test_growing_on_goes_on_with_its_own_draws_where_there_is_no_seed(
    make: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data
    grown = make(**{**BAGGED, "n_estimators": 5, "warm_start": True, "random_state": None}).fit(X, y)
    grown.set_params(n_estimators=12).fit(X, y)
    monkeypatch.setattr(make, "_key", lambda self: grown._drawn_from)
    assert hash_of(grown, X) == hash_of(make(**{**BAGGED, "n_estimators": 12}).fit(X, y), X)


@BOTH
def test_growing_on_renews_the_score_of_samples_left_out(make: Any, data: Any) -> None:
    X, y = data
    weights = np.random.default_rng(1).integers(0, 3, len(X))
    given: dict[str, Any] = {**BAGGED, "max_samples": 40, "oob_score": True, "warm_start": True}
    grown = make(**{**given, "n_estimators": 10}).fit(X, y, weights)
    before = grown.oob_score_
    grown.set_params(n_estimators=20).fit(X, y, weights)
    at_once = make(**{**given, "n_estimators": 20}).fit(X, y, weights)
    assert grown.oob_score_ == at_once.oob_score_ != before
    name = "oob_decision_function_" if make is SLMForestClassifier else "oob_prediction_"
    np.testing.assert_array_equal(getattr(grown, name), getattr(at_once, name))


@BOTH
def test_growing_on_survives_pickling(make: Any, data: Any) -> None:
    X, y = data
    grown = make(**{**BAGGED, "n_estimators": 5, "warm_start": True}).fit(X, y)
    again = pickle.loads(pickle.dumps(grown)).set_params(n_estimators=12).fit(X, y)
    assert hash_of(again, X) == hash_of(make(**{**BAGGED, "n_estimators": 12}).fit(X, y), X)


@BOTH
def test_without_warm_start_a_fit_begins_anew(make: Any, data: Any) -> None:
    X, y = data
    model = make(**DRAWN).fit(X, y)
    plain = hash_of(model, X)
    assert hash_of(model.fit(X[::2], y[::2]), X) != plain
    assert hash_of(model.fit(X, y), X) == plain


# --- the same forest everywhere


@BOTH
@pytest.mark.parametrize("given", [DRAWN, {**BAGGED, "oob_score": True, "n_estimators": 20}], ids=["all", "bootstrap"])
def test_forest_is_the_same_for_every_number_of_jobs(make: Any, data: Any, given: dict[str, Any]) -> None:
    X, y = data
    models = [make(**given, n_jobs=n).fit(X, y) for n in (None, 1, 2, 3, -1)]
    assert len({hash_of(model, np.repeat(X, 5, axis=0)) for model in models}) == 1  # enough rows for several threads
    if "oob_score" in given:
        assert len({model.oob_score_ for model in models}) == 1


@BOTH
def test_stored_forest_is_the_same(make: Any, data: Any) -> None:
    X, y = data
    model = make(**BAGGED).fit(X, y)
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(buffer)):
        assert hash_of(again, X) == hash_of(model, X)
        np.testing.assert_array_equal(again.apply(X), model.apply(X))


def hashes() -> list[str]:
    """Of two forests."""
    pairs: list[Any] = [(SLMForestClassifier(**BAGGED), WINE), (SLMForestRegressor(**BAGGED), DIABETES)]
    return [hash_of(model.fit(*data), data[0]) for model, data in pairs]


def test_forest_is_the_same_in_another_process() -> None:
    program = "import test_forest; print(*test_forest.hashes())"
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert found.stdout.split() == hashes()


# --- what is known of a forest


@BOTH
def test_importances_are_the_mean_over_the_trees(make: Any, data: Any) -> None:
    X, y = data
    model = make(**BAGGED).fit(X, y)
    each = [tree.feature_importances_ for tree in model.estimators_]
    np.testing.assert_allclose(model.feature_importances_, np.mean(each, axis=0), rtol=1e-12)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_importances_find_the_features_that_matter() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    model = SLMForestRegressor(**DRAWN).fit(X, 2 * X[:, 4] + X[:, 1])
    assert np.argsort(model.feature_importances_)[-2:].tolist() == [1, 4]
    assert model.feature_importances_[[1, 4]].sum() > 0.8


@BOTH
def test_trees_without_a_split_have_no_importances(make: Any, data: Any) -> None:
    X, _ = data
    model = make(**DRAWN).fit(X, np.ones(len(X)))
    assert (model.feature_importances_ == 0.0).all()
    assert (model.n_partitions_, model.n_parameters_) == (0, 0)
    assert (model.predict(X) == 1).all()
    assert [tree.n_parameters_ for tree in model.estimators_] == [0] * 7


@BOTH
@pytest.mark.parametrize("subspace_size", [3, 50])
def test_model_size_is_the_sum_over_the_trees(make: Any, data: Any, subspace_size: int) -> None:
    X, y = data
    model = make(**{**DRAWN, "subspace_size": subspace_size}).fit(X, y)
    trees = model.estimators_
    assert model.n_partitions_ == sum(tree.n_partitions_ for tree in trees)
    assert model.n_parameters_ == sum(tree.n_parameters_ for tree in trees)
    assert model.n_parameters_ == model.n_partitions_ * (min(subspace_size, X.shape[1]) + 1)


@pytest.mark.parametrize(
    ("make", "tree_class", "data"),
    [(SLMForestClassifier, SLMClassifier, WINE), (SLMForestRegressor, SLMRegressor, DIABETES)],
)
def test_trees_are_fitted_estimators_of_their_own(make: Any, tree_class: Any, data: Any) -> None:
    X, y = data
    names = [f"feature {f}" for f in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    model = make(**BAGGED).fit(frame, y)
    assert model.feature_names_in_.tolist() == names
    trees = model.estimators_
    assert len(trees) == 7
    for tree in trees:
        assert type(tree) is tree_class
        check_is_fitted(tree)
        assert tree.n_features_in_ == X.shape[1]
        assert tree.feature_names_in_.tolist() == names
        assert (tree.subspace_size, tree.max_depth) == (3, 4)
        assert tree.get_depth() == tree.tree_.depth.max() <= 4
        assert tree.decision_path(frame).sum(axis=1).max() == tree.get_depth() + 1
        assert "feature " in export_text(tree)
        assert tree.score(frame, y) > 0.2
    if make is SLMForestClassifier:
        assert all(tree.classes_.tolist() == model.classes_.tolist() for tree in trees)
