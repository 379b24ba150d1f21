"""Averages of estimators, how they are chosen, and tune(ensemble=True)."""

import math
import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, make_scorer, root_mean_squared_error
from sklearn.model_selection import KFold, cross_val_score

from sublearn import (
    SLMAverageClassifier,
    SLMAverageRegressor,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    tune,
    tuning,
)
from sublearn._base import averaging
from sublearn._base.averaging import Candidate, Pool, choose_average
from sublearn.tuning import Choice, Number, Space, Whole

WINE = load_wine(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
FEW: dict[str, Any] = {"n_estimators": 3, "random_state": 0}
SMALL: dict[str, Any] = {"learning_rate": 0.3, **FEW}
LONG = 1e6  # seconds, where fits are counted instead


@pytest.fixture
def at_most(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets a search go on for so many fits after those of the estimator as it is, whatever the clock says."""
    score = tuning._Search._score

    def limit(n_fits: int) -> None:
        left = [n_fits]

        def counted(self: Any, settings: dict[str, Any], stage: Any) -> float:
            left[0] -= bool(settings)
            return score(self, settings, stage)

        monkeypatch.setattr(tuning._Search, "_score", counted)
        monkeypatch.setattr(tuning._Search, "_time_for", lambda self, stage: left[0] > 0)

    return limit


def data_of(model: Any) -> Any:
    return WINE if is_classifier(model) else DIABETES


def answers_of(model: Any, X: Any) -> Any:
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


@pytest.fixture
def few_picks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer than usual, since scikit-learn's scorers take their time."""
    monkeypatch.setattr(averaging, "MOST_PICKS", 8)


# ---- choosing ----


def candidate(*answers: Any, score: float = 0.0, seconds: float = 0.0) -> Candidate:
    return Candidate({}, score, seconds, [np.asarray(part, np.float64) for part in answers])


def minus_error(answers: list[Any]) -> float:
    """Of predictions for samples that are all 0."""
    return -float(np.mean([np.sqrt(np.mean(part**2)) for part in answers]))


def scored(*answers: Any, seconds: float = 0.0) -> Candidate:
    new = candidate(*answers, seconds=seconds)
    return new._replace(score=minus_error(new.answers))


def always(*_: Any) -> bool:
    return True


def test_errors_of_opposite_sign_are_averaged_away() -> None:
    given = [scored([1.0, 1.0]), scored([-2.0, -2.0]), scored([3.0, 5.0])]
    found = choose_average(given, minus_error, always, always)
    # (1 - 2) / 2 = -1/2, then (1 - 2 + 1) / 3 = 0, and nothing is better than that
    assert (found.members, found.weights, found.score) == (given[:2], [2 / 3, 1 / 3], 0.0)


def test_best_stays_alone_where_nothing_helps() -> None:
    given = [scored([1.0, -1.0]), scored([2.0, -2.0])]
    found = choose_average(given, minus_error, always, always)
    assert (found.members, found.weights, found.score) == (given[:1], [1.0], -1.0)


def test_a_little_of_another_helps_where_half_of_it_does_not() -> None:
    given = [scored([1.0, 0.0]), scored([-3.0, 3.0])]  # half of it: -1, 3/2
    found = choose_average(given, minus_error, always, always)
    assert found.weights == [21 / 25, 4 / 25]  # the least of (1 - 4 w)^2 + (3 w)^2


def naive_choice(given: list[Candidate], most_picks: int) -> list[int]:
    """Every average written out, from the first pick on."""

    def score_of(picks: list[int]) -> float:
        return minus_error([np.mean([given[i].answers[k] for i in picks], axis=0) for k in range(2)])

    picks = [0]
    while len(picks) < most_picks:
        picks.append(int(np.argmax([score_of([*picks, i]) for i in range(len(given))])))
    scores = [score_of(picks[:n]) for n in range(1, len(picks) + 1)]
    return picks[: int(np.argmax(scores)) + 1]


@pytest.mark.parametrize("seed", range(5))
def test_choice_is_that_of_the_naive_twin(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(averaging, "MOST_MEMBERS", 99)
    rng = np.random.default_rng(seed)
    given = [scored(*rng.normal(0.3, 1.0, size=(2, 40))) for _ in range(12)]
    given.sort(key=lambda one: -one.score)
    picks = naive_choice(given, averaging.MOST_PICKS)
    found = choose_average(given, minus_error, always, always)
    places = [next(i for i, one in enumerate(given) if one is member) for member in found.members]
    assert len(set(picks)) > 3
    assert len(picks) > len(set(picks))
    assert dict(zip(places, found.weights, strict=True)) == {i: picks.count(i) / len(picks) for i in set(picks)}
    mean = [np.average([m.answers[k] for m in found.members], axis=0, weights=found.weights) for k in range(2)]
    assert found.score == pytest.approx(minus_error(mean))
    assert found.score > given[0].score


def test_members_and_picks_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    given = sorted((scored(rng.normal(size=200)) for _ in range(20)), key=lambda one: -one.score)
    found = choose_average(given, minus_error, always, always)
    assert len(found.members) == averaging.MOST_MEMBERS == 8
    monkeypatch.setattr(averaging, "MOST_PICKS", 3)
    assert sorted(choose_average(given, minus_error, always, always).weights) in ([1 / 3] * 3, [1 / 3, 2 / 3])


def test_no_member_is_added_that_is_not_allowed() -> None:
    rng = np.random.default_rng(0)
    given = sorted((scored(rng.normal(size=200), seconds=2.0) for _ in range(9)), key=lambda one: -one.score)
    found = choose_average(given, minus_error, lambda some: sum(m.seconds for m in some) <= 6.5, always)
    assert len(found.members) == 3
    assert found.members[0] is given[0]


def test_choice_ends_when_it_has_to() -> None:
    rng = np.random.default_rng(0)
    given = sorted((scored(rng.normal(size=200)) for _ in range(9)), key=lambda one: -one.score)
    left = iter([True] * 12 + [False] * 99)
    found = choose_average(given, minus_error, always, lambda: next(left))
    assert 2 <= len(found.members) <= 3  # the second pick has seen three of nine
    assert choose_average(given, minus_error, always, lambda: False).weights == [1.0]


def test_scores_that_are_no_numbers_are_not_chosen() -> None:
    given = [scored([1.0]), scored([-1.0])]
    assert choose_average(given, lambda _: math.nan, always, always).weights == [1.0]


def test_pool_keeps_the_best() -> None:
    pool, scores = Pool(), np.random.default_rng(0).permutation(50)
    for score in scores.tolist():
        pool.add(candidate([score], score=score))
    assert [one.score for one in pool.candidates] == list(range(49, 49 - averaging.MOST_KEPT, -1))


def test_pool_has_no_twins_and_nothing_without_a_score() -> None:
    pool = Pool()
    pool.add(candidate([1.0], [2.0]))
    pool.add(candidate([1.0], [2.0]))
    pool.add(candidate([1.0], [3.0]))
    pool.add(candidate([4.0], [4.0], score=-math.inf))
    assert [one.answers[1][0] for one in pool.candidates] == [2.0, 3.0]


def test_pool_keeps_fewer_where_answers_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(averaging, "MOST_BYTES", 3000)
    pool = Pool()
    for score in range(6):
        pool.add(candidate(np.full(100, score), score=score))  # of 800 bytes
    assert [one.score for one in pool.candidates] == [5, 4, 3]
    pool.add(candidate(np.full(1000, 6), score=6))
    assert [one.score for one in pool.candidates] == [6]


def test_pool_tells_the_seconds_of_the_best() -> None:
    pool = Pool()
    for number in range(10):
        pool.add(candidate([number], score=-number, seconds=1.0))
    assert pool.seconds(100.0) == averaging.MOST_MEMBERS
    assert pool.seconds(3.5) == 3.0
    assert pool.seconds(0.5) == 1.0  # the best is fitted in any case


# ---- averages by themselves ----


@pytest.mark.parametrize(
    "members",
    [
        [SLMForestClassifier(**FEW), SLMClassifier(random_state=0), SLMBoostClassifier(**SMALL)],
        [SLMForestRegressor(**FEW), SLMRegressor(random_state=0), SLMBoostRegressor(**SMALL)],
    ],
    ids=["classes", "numbers"],
)
def test_average_is_the_weighted_mean_of_its_members(members: list[Any]) -> None:
    X, y = data_of(members[0])
    make = SLMAverageClassifier if is_classifier(members[0]) else SLMAverageRegressor
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    model = make(members, weights=[1, 0.5, 2]).fit(X, y, sample_weight=weights)
    fits = [clone(member).fit(X, y, sample_weight=weights) for member in members]
    shares = np.array([2, 1, 4]) / 7
    expected = sum(share * answers_of(fit, X) for share, fit in zip(shares, fits, strict=True))
    np.testing.assert_allclose(answers_of(model, X), expected, rtol=1e-12)  # the order of sums
    important = sum(share * fit.feature_importances_ for share, fit in zip(shares, fits, strict=True))
    np.testing.assert_allclose(model.feature_importances_, important, rtol=1e-12)
    np.testing.assert_allclose(model.weights_, shares)
    assert model.n_features_in_ == X.shape[1]
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(members[0], "n_features_in_")
    if is_classifier(model):
        np.testing.assert_array_equal(model.predict(X), model.classes_[expected.argmax(axis=1)])
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), expected)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_average_of_one_is_that_one() -> None:
    X, y = DIABETES
    tree = SLMRegressor(random_state=0)
    np.testing.assert_array_equal(SLMAverageRegressor([tree]).fit(X, y).predict(X), clone(tree).fit(X, y).predict(X))


def test_average_stays_as_it_was_where_a_fit_fails() -> None:
    X, y = DIABETES
    model = SLMAverageRegressor([SLMRegressor(random_state=0), SLMRegressor(random_state=0, n_bins=8)]).fit(X, y)
    before = model.predict(X)
    model.set_params(estimators=[SLMRegressor(), SLMRegressor(n_bins=1)])
    with pytest.raises(ValueError, match="n_bins of SLMRegressor must be an int"):
        model.fit(X, y)
    np.testing.assert_array_equal(model.predict(X), before)


def test_average_that_is_not_fitted_says_so() -> None:
    model = SLMAverageClassifier([SLMClassifier()])
    with pytest.raises(NotFittedError):
        model.predict(WINE[0])
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "n_features_in_")


def test_average_is_scored_by_folds() -> None:
    model = SLMAverageClassifier([SLMForestClassifier(**FEW), SLMClassifier(random_state=0)])
    assert cross_val_score(model, *WINE, cv=3).min() > 0.7


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SLMAverageClassifier([]), "estimators of SLMAverageClassifier must be a list of at least one estimator"),
        (SLMAverageClassifier(SLMClassifier()), "estimators of SLMAverageClassifier must be a list"),
        (SLMAverageClassifier([SLMRegressor()]), "must be SLM classifiers; got SLMRegressor"),
        (SLMAverageClassifier([LogisticRegression()]), "must be SLM classifiers; got LogisticRegression"),
        (SLMAverageRegressor([SLMRegressor(), LinearRegression()]), "SLM regressors; got LinearRegression"),
        (SLMAverageRegressor([SLMAverageRegressor([SLMRegressor()])]), "SLM regressors; got SLMAverageRegressor"),
        *(
            (SLMAverageRegressor([SLMRegressor()] * 2, weights), "must be None or 2 finite numbers of at least 0")
            for weights in ([1], [0, 0], [1, -1], [1, math.nan], [1, math.inf], [True, 1], "ab", 2.0)
        ),
    ],
)
def test_bad_members_and_weights_are_refused_before_any_fit(
    model: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for make in (SLMClassifier, SLMRegressor):
        monkeypatch.setattr(make, "fit", lambda *_: pytest.fail("work was done"))
    with pytest.raises(ValueError, match=words):
        model.fit(*data_of(model))


# ---- tune(ensemble=True) ----


@pytest.mark.parametrize(
    "model",
    [
        SLMClassifier(random_state=0),
        SLMRegressor(random_state=0),
        SLMForestClassifier(**FEW),
        SLMForestRegressor(**FEW),
        SLMBoostClassifier(**SMALL),
        SLMBoostRegressor(**SMALL),
    ],
    ids=lambda model: type(model).__name__,
)
def test_result_is_an_ordinary_average(model: Any, at_most: Callable[[int], None]) -> None:
    at_most(40)
    X, y = data_of(model)
    given = model.get_params()
    found = tune(model, X, y, budget=LONG, ensemble=True, verbose=False)
    assert type(found) is (SLMAverageClassifier if is_classifier(model) else SLMAverageRegressor)
    assert model.get_params() == given
    result = found.tuning_
    assert result.ensemble_score > result.score >= result.default_score
    assert result.members[0] == result.parameters  # the best is the first
    assert 1 < len(result.members) == len(found.estimators_) <= 8
    assert sum(result.weights) == pytest.approx(1)
    np.testing.assert_allclose(found.weights_, result.weights)
    for member, settings in zip(found.estimators_, result.members, strict=True):
        assert type(member) is type(model)
        assert member.get_params() == given | settings
    expected = sum(
        share * answers_of(clone(model).set_params(**settings).fit(X, y), X)
        for share, settings in zip(result.weights, result.members, strict=True)
    )
    np.testing.assert_allclose(answers_of(found, X), expected, rtol=1e-12, atol=1e-15)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    assert again.tuning_ == result
    fresh = clone(found)
    assert not hasattr(fresh, "tuning_")
    np.testing.assert_array_equal(fresh.fit(X, y).predict(X), found.predict(X))


def fold_score(result: Any, model: Any, n_parts: int) -> float:
    """Score of the average by folds, from the beginning."""
    X, y = DIABETES
    seed = int(np.random.RandomState(0).randint(2**31))
    errors = []
    for training, testing in list(KFold(5, shuffle=True, random_state=seed).split(X, y))[:n_parts]:
        fits = [clone(model).set_params(**settings).fit(X[training], y[training]) for settings in result.members]
        mean = np.average([fit.predict(X[testing]) for fit in fits], axis=0, weights=result.weights)
        errors.append(root_mean_squared_error(y[testing], mean))
    return -float(np.mean(errors))


@pytest.mark.parametrize("many", [tuning.MANY, 300])
@pytest.mark.usefixtures("few_picks")
def test_score_of_the_average_is_that_of_the_test_parts(
    many: int, at_most: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "MANY", many)
    at_most(40)
    model = SLMRegressor(random_state=0)
    result = tune(model, *DIABETES, budget=LONG, ensemble=True, verbose=False).tuning_
    assert len(result.members) > 1
    assert result.ensemble_score == pytest.approx(fold_score(result, model, 5 if many > 442 else 1))


def test_search_is_the_same_with_and_without_an_average(at_most: Callable[[int], None]) -> None:
    found = []
    for ensemble in (False, True):
        at_most(20)
        model = SLMRegressor(random_state=3)
        found.append(tune(model, *DIABETES, budget=LONG, ensemble=ensemble, verbose=False))
    one, average = found
    assert one.tuning_[:5] == average.tuning_[:5]
    assert one.tuning_[6:] == ((), (), None)
    assert len(average.tuning_.members) > 1
    np.testing.assert_array_equal(average.estimators_[0].predict(DIABETES[0]), one.predict(DIABETES[0]))


@pytest.mark.usefixtures("few_picks")
def test_average_is_better_for_samples_never_seen(at_most: Callable[[int], None]) -> None:
    X, y = DIABETES
    errors = []
    for seed in range(2):
        at_most(40)
        rows = np.random.default_rng(seed).permutation(len(y))
        learn, rest = rows[:300], rows[300:]
        found = tune(SLMRegressor(random_state=seed), X[learn], y[learn], budget=LONG, ensemble=True, verbose=False)
        one = found.estimators_[0]
        errors.append([root_mean_squared_error(y[rest], model.predict(X[rest])) for model in (found, one)])
    average, best = np.mean(errors, axis=0)
    assert average < 0.98 * best


# ---- scorers ----


def wrong_share(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    return -float(np.average(model.predict(X) != y, weights=sample_weight))


@pytest.mark.usefixtures("few_picks")
@pytest.mark.parametrize(
    "scoring",
    ["roc_auc", "f1", wrong_share, make_scorer(accuracy_score)],
)
def test_averages_are_chosen_by_any_scorer_of_classes(scoring: Any, at_most: Callable[[int], None]) -> None:
    at_most(10)
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["no", "yes"])[y] if scoring != "f1" else y
    model = SLMClassifier(random_state=0, max_depth=3)
    space: Space = {"n_bins": Choice((4, 16, 64)), "subspace_size": Whole(2, 6), "selection_decay": Number(0.2, 1)}
    found = tune(model, X[:, :6], names, budget=LONG, scoring=scoring, space=space, ensemble=True, verbose=False)
    result = found.tuning_
    assert result.ensemble_score >= result.score >= result.default_score
    assert (len(result.members) > 1) == (result.ensemble_score > result.score)
    assert -1.0 <= result.ensemble_score <= 1.0


@pytest.mark.usefixtures("few_picks")
@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error"])
def test_averages_are_chosen_by_any_scorer_of_numbers(scoring: str, at_most: Callable[[int], None]) -> None:
    at_most(25)
    model = SLMRegressor(random_state=0)
    result = tune(model, *DIABETES, budget=LONG, scoring=scoring, ensemble=True, verbose=False).tuning_
    assert result.ensemble_score > result.score >= result.default_score


def test_average_is_the_best_by_the_scorer_that_was_given(at_most: Callable[[int], None]) -> None:
    X, y = DIABETES

    def highest(model: Any, X: Any, y: Any) -> float:
        return float(np.mean(model.predict(X)))

    at_most(30)
    found = tune(SLMRegressor(random_state=0), X, y, budget=LONG, scoring=highest, ensemble=True, verbose=False)
    assert found.tuning_.weights == (1.0,)  # no mean is above the highest


@pytest.mark.usefixtures("few_picks")
def test_scorers_see_the_samples(at_most: Callable[[int], None]) -> None:
    at_most(10)
    table = pd.DataFrame(DIABETES[0], columns=[*"abcdefghij"])

    def of_women(model: Any, X: Any, y: Any) -> float:
        rows = (X["b"] > 0).to_numpy()
        return -float(root_mean_squared_error(y[rows], model.predict(X)[rows]))

    options: dict[str, Any] = {"scoring": of_women, "budget": LONG, "verbose": False}
    result = tune(SLMRegressor(random_state=0), table, DIABETES[1], ensemble=True, **options).tuning_
    at_most(10)
    assert result[:5] == tune(SLMRegressor(random_state=0), table, DIABETES[1], **options).tuning_[:5]


@pytest.mark.parametrize(
    ("scorer", "words"),
    [
        (lambda model, X, y: -model.get_depth(), "has no attribute 'get_depth'"),
        (lambda model, X, y: model.predict(X[::-1]).mean(), "predictions of other samples than it is given"),
        (make_scorer(log_loss, response_method="decision_function"), "decision_function"),
    ],
)
def test_scorers_that_need_more_than_predictions_are_refused(scorer: Any, words: str) -> None:
    options: dict[str, Any] = {"scoring": scorer, "budget": 1e-6, "verbose": False}
    with pytest.raises(ValueError, match="must need nothing but predictions where ensemble=True, .*" + words):
        tune(SLMClassifier(random_state=0), *WINE, ensemble=True, **options)


def test_errors_of_scorers_are_their_own_without_an_average() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'depth'"):
        tune(SLMRegressor(), *DIABETES, budget=1e-6, scoring=lambda model, X, y: model.depth, verbose=False)


# ---- data ----


@pytest.mark.parametrize("model", [SLMForestClassifier(**FEW), SLMBoostRegressor(**SMALL)])
@pytest.mark.usefixtures("few_picks")
def test_rows_of_weight_zero_are_absent(model: Any, at_most: Callable[[int], None]) -> None:
    X, y = data_of(model)
    weights = np.random.default_rng(0).integers(0, 4, len(y)) / 2
    found = []
    for rows in (np.ones(len(y), bool), weights > 0):
        at_most(20)
        found.append(tune(model, X[rows], y[rows], weights[rows], budget=LONG, ensemble=True, verbose=False))
    one, other = found  # as repeatable as all searches are, too
    assert one.tuning_[:5] == other.tuning_[:5]
    assert one.tuning_[6:] == other.tuning_[6:]
    assert len(one.tuning_.members) > 1
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("make", [SLMForestClassifier, SLMBoostClassifier])
def test_frames_with_categories_and_gaps(make: Any, at_most: Callable[[int], None]) -> None:
    at_most(10)
    X, y = WINE
    rng = np.random.default_rng(0)
    table = pd.DataFrame(np.where(rng.random(X.shape) < 0.1, np.nan, X)).add_prefix("x")
    table["kind"] = pd.Categorical(np.where(rng.random(len(y)) < 0.7, np.array(["a", "b", "c"])[y], None))
    table = table[["x0", "x1", "x9", "kind"]]
    names = pd.Series(np.array(["red", "white", "pink"])[y])
    model = make(**(FEW if make is SLMForestClassifier else SMALL))
    found = tune(model, table, names, budget=LONG, ensemble=True, verbose=False)
    assert found.feature_names_in_.tolist() == table.columns.tolist()
    assert found.classes_.tolist() == ["pink", "red", "white"]
    assert found.feature_importances_.shape == (4,)
    assert found.predict_proba(table).shape == (len(y), 3)
    assert found.score(table, names) > 0.8
    changed = table.assign(kind=pd.Categorical(["new"] * len(y)))
    np.testing.assert_allclose(found.predict_proba(changed).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="feature names"):
        found.predict(table.rename(columns={"x0": "x"}))


def test_rare_classes_are_no_error(at_most: Callable[[int], None]) -> None:
    at_most(10)
    X, y = WINE
    names = np.where(np.arange(len(y)) < 2, "rare", np.array(["a", "b", "c"])[y])
    found = tune(SLMForestClassifier(**FEW), X, names, budget=LONG, ensemble=True, verbose=False)
    assert found.classes_.tolist() == ["a", "b", "c", "rare"]
    assert math.isfinite(found.tuning_.ensemble_score)


# ---- time ----


class Clock:
    """A clock for `tune` that moves only while something is fitted or scored."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(averaging, "MOST_PICKS", 8)
        self.now, rng, fit = 0.0, np.random.default_rng(0), SLMRegressor.fit
        self.sizes: list[int] = []
        self.slower = 1.0  # fits to all samples
        patch.setattr(tuning, "time", SimpleNamespace(monotonic=lambda: self.now))

        def timed(model: Any, X: Any, y: Any) -> Any:
            slower = self.slower if len(X) == len(DIABETES[1]) else 1.0
            self.now += slower * 3e-3 * len(X) * rng.uniform(1.0, tuning.RESERVE)
            self.sizes.append(len(X))
            return fit(model, X, y)

        patch.setattr(SLMRegressor, "fit", timed)

    def score(self, model: Any, X: Any, y: Any) -> float:
        self.now += 0.06
        return -float(root_mean_squared_error(y, model.predict(X)))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def tuned(budget: float, scoring: Any = None) -> Any:
    model = SLMRegressor(random_state=0)
    return tune(model, *DIABETES, budget=budget, scoring=scoring, ensemble=True, verbose=False)


@pytest.mark.parametrize("budget", [24, 50])
def test_budget_holds_with_all_last_fits(budget: float, clock: Clock) -> None:
    result = tuned(budget).tuning_
    assert 0.7 * budget < result.seconds == clock.now <= budget
    assert clock.sizes.count(442) == len(result.members) > 1


def test_budget_holds_where_scores_take_long(clock: Clock) -> None:
    result = tuned(50, clock.score).tuning_
    assert 0.6 * 50 < clock.now <= 50
    assert len(result.members) > 1


def test_there_are_fewer_members_where_time_is_short(clock: Clock) -> None:
    counts = []
    for budget in (1e-6, 10.0, 50.0):
        result = tuned(budget).tuning_
        counts.append(len(result.members))
    assert counts[0] == 1
    assert counts == sorted(counts)
    assert counts[2] > 3


def test_members_that_would_be_late_are_left_out(clock: Clock) -> None:
    whole = tuned(50).tuning_
    clock.slower = 6.0
    found = tuned(50)
    result = found.tuning_
    assert 1 <= len(result.members) < len(whole.members)
    assert result.ensemble_score <= whole.ensemble_score
    assert sum(result.weights) == pytest.approx(1)
    assert result.ensemble_score == pytest.approx(fold_score(result, SLMRegressor(random_state=0), 5))
    assert [member.get_params() for member in found.estimators_] == [one.get_params() for one in found.estimators]
