"""How many rounds boosting takes: early stopping, warm starts, callbacks and progress."""

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import make_friedman1
from sklearn.metrics import log_loss, mean_gamma_deviance, mean_pinball_loss, mean_poisson_deviance

from boosting import FOUR, STUMP, TASKS, N, OwnError, Recorder, data_for, failing, make, raw_of, same_model, same_scores
from naive import Array
from sublearn import Progress, SLMBoostClassifier, SLMBoostRegressor
from sublearn._base import progress

# ---- early stopping ----


STOPPING: dict[str, Any] = {
    "n_estimators": 150,
    "learning_rate": 0.4,
    "l2_regularization": 1.0,
    "min_child_weight": 1.0,
    "early_stopping": True,
    "n_iter_no_change": 4,
}
METRICS: dict[str, Callable[[Array, Any, Array], float]] = {
    "squared_error": lambda y, predicted, w: float(np.average((y - predicted) ** 2, weights=w) / 2),
    "absolute_error": lambda y, predicted, w: float(np.average(np.abs(y - predicted), weights=w)),
    "quantile": lambda y, predicted, w: float(mean_pinball_loss(y, predicted, alpha=0.3, sample_weight=w)),
    "poisson": lambda y, predicted, w: float(mean_poisson_deviance(y, predicted, sample_weight=w) / 2),
    "gamma": lambda y, predicted, w: float(mean_gamma_deviance(y, predicted, sample_weight=w) / 2),
    "two classes": lambda y, predicted, w: float(log_loss(y, predicted, sample_weight=w)),
    "three classes": lambda y, predicted, w: float(log_loss(y, predicted, sample_weight=w)),
}


def stages_of(model: Any, X: Any) -> list[Array]:
    return list((model.staged_predict_proba if hasattr(model, "predict_proba") else model.staged_predict)(X))


@pytest.mark.parametrize("where", ["fraction", "eval_set"])
@pytest.mark.parametrize("task", ["squared_error", "absolute_error", "poisson", "two classes", "three classes"])
def test_early_stopping_keeps_the_best_rounds(task: str, where: str) -> None:
    X, y = data_for(task)
    eval_set = data_for(task, 9) if where == "eval_set" else None
    model = make(task, **STOPPING | {"validation_fraction": 0.3}).fit(X, y, eval_set=eval_set)
    best = int(np.argmax(model.validation_score_))
    assert model.n_iter_ == best > 0
    assert len(model.validation_score_) == len(model.train_score_) == 1 + best + 4 < 150
    assert model.ensemble_.n_trees == best
    # the rounds that are kept are those of a fit that was told so
    if where == "eval_set":
        assert same_model(model, make(task, **STOPPING | {"early_stopping": False, "n_estimators": best}).fit(X, y), X)


@pytest.mark.parametrize("task", METRICS)
def test_scores_are_minus_the_metric(task: str) -> None:
    (X, y), (other, other_y) = data_for(task), data_for(task, 9)
    rng = np.random.default_rng(0)
    weights, other_weights = rng.uniform(0.2, 3.0, N), rng.uniform(0.2, 3.0, N)
    extra = {"quantile": 0.3} if task == "quantile" else {}
    model = make(task, **extra).fit(X, y, weights, eval_set=(other, other_y), eval_sample_weight=other_weights)
    assert len(model.train_score_) == len(model.validation_score_) == 9
    metric = METRICS[task]
    for found, samples, target, w in (
        (model.train_score_, X, y, weights),
        (model.validation_score_, other, other_y, other_weights),
    ):
        # weights are rounded to 2^-30 of their sum
        expected = [-metric(target, predicted, w) for predicted in stages_of(model, samples)]
        np.testing.assert_allclose(found[1:], expected, rtol=1e-6)
        start = model._model.answer(np.tile(model._model.start, (N, 1)))
        np.testing.assert_allclose(found[0], -metric(target, start, w), rtol=1e-6)


def test_scores_with_exposures_are_those_of_the_counts() -> None:
    X, y = data_for("poisson")
    exposure = np.random.default_rng(0).uniform(0.5, 2.0, N)
    model = make("poisson").fit(X, y, exposure=exposure, eval_set=(X, y), eval_exposure=exposure)
    np.testing.assert_array_equal(model.train_score_, model.validation_score_)
    expected = [-mean_poisson_deviance(y, p) / 2 for p in model.staged_predict(X, exposure=exposure)]
    np.testing.assert_allclose(model.train_score_[1:], expected, rtol=1e-12)


def test_eval_set_alone_is_only_watched() -> None:
    X, y = data_for("squared_error")
    other = data_for("squared_error", 9)
    settings = STOPPING | {"early_stopping": False, "n_estimators": 20}
    watched = make("squared_error", **settings).fit(X, y, eval_set=other)
    plain = make("squared_error", **settings).fit(X, y)
    assert watched.n_iter_ == 20 > np.argmax(watched.validation_score_)
    assert same_model(watched, plain, X)
    assert len(watched.validation_score_) == 21
    assert plain.validation_score_.size == 0


def test_eval_set_may_be_a_list_of_one_pair() -> None:
    X, y = data_for("squared_error")
    other, other_y = data_for("squared_error", 9)
    models = [
        make("squared_error").fit(X, y, eval_set=given)
        for given in ((other, other_y), [other, other_y], [(other, other_y)], [[other.tolist(), other_y.tolist()]])
    ]
    assert all(same_scores(models[0], model) for model in models[1:])


@pytest.mark.parametrize("given", [FOUR, (FOUR,), [(FOUR, [1, 2, 3, 4])] * 2, [(FOUR, [1, 2, 3, 4])] * 3, "no", ()])
def test_eval_set_that_is_no_pair_is_told(given: Any) -> None:
    with pytest.raises(ValueError, match=r"eval_set of SLMBoostRegressor.fit must be one pair \(X, y\)"):
        SLMBoostRegressor(**STUMP).fit(FOUR, [1.0, 2.0, 6.0, 7.0], eval_set=given)


def test_eval_set_must_fit_the_training_samples() -> None:
    X, y = data_for("two classes")
    with pytest.raises(ValueError, match=r"eval_set of SLMBoostClassifier.fit must hold classes of y only; got \[7\]"):
        make("two classes").fit(X, y, eval_set=(X, np.where(y == 1, 7, y)))
    with pytest.raises(ValueError, match="features"):
        make("two classes").fit(X, y, eval_set=(X[:, :3], y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        make("two classes").fit(X, y, eval_set=(X, y[:-1]))


def test_validation_samples_are_a_share_that_training_never_sees() -> None:
    X, y = data_for("squared_error")
    assert len(set(y.tolist())) == N
    loss = Recorder()
    settings = STOPPING | {"loss": loss, "validation_fraction": 0.25}
    model = make("squared_error", **settings).fit(X, y)
    train = np.array([value in model._loss.trained for value in y.tolist()])
    assert train.sum() == 150
    assert model._loss.measured == set(y.tolist())
    given = make("squared_error", **settings).fit(X[train], y[train], eval_set=(X[~train], y[~train]))
    assert same_model(model, given, X)
    assert same_scores(model, given)


def test_validation_samples_have_every_class_in_proportion() -> None:
    X, y = data_for("three classes")[0], np.repeat([0, 1, 2], [140, 40, 20])
    shares = np.array([112, 32, 16]) / 160
    settings: dict[str, Any] = {"early_stopping": True, "validation_fraction": 0.2, "n_estimators": 1}
    for seed in range(4):
        model = make("three classes", **settings | {"random_state": seed}).fit(X, y)
        np.testing.assert_allclose(softmax(model._model.start), shares, rtol=1e-12)


def test_too_few_samples_to_validate_on_are_told() -> None:
    with pytest.raises(ValueError, match="validation_fraction of SLMBoostClassifier must leave samples, of every"):
        SLMBoostClassifier(early_stopping=True).fit(FOUR, ["a", "a", "b", "c"])


@pytest.mark.parametrize("task", ["squared_error", "two classes", "three classes"])
def test_rounds_that_never_help_are_all_dropped(task: str) -> None:
    X, y = data_for(task)
    wrong = y.max() - y if task != "squared_error" else 2 * y.mean() - y
    model = make(task, early_stopping=True, n_iter_no_change=2).fit(X, y, eval_set=(X, wrong))
    assert model.n_iter_ == 0
    assert len(model.validation_score_) == 3
    assert (model.ensemble_.n_trees, model.n_partitions_, model.n_parameters_) == (0, 0, 0)
    raw = raw_of(model, X)
    assert (raw == raw[0]).all()
    assert stages_of(model, X) == []
    assert model.feature_importances_.tolist() == [0.0] * 5
    assert model.apply(X).shape == (N, 0)
    again = model.set_params(warm_start=True, early_stopping=False).fit(X, y)
    assert same_model(again, make(task).fit(X, y), X)


def test_huber_stops_where_its_errors_on_validation_samples_stop_falling() -> None:
    """Its distance shrinks with the training residuals; the yardstick of validation must not."""
    X, y = make_friedman1(300, noise=3.0, random_state=0)
    other, other_y = make_friedman1(300, noise=3.0, random_state=1)
    settings: dict[str, Any] = {"n_estimators": 150, "learning_rate": 0.2, "max_depth": 4}
    watched = make("huber", **settings).fit(X, y, eval_set=(other, other_y))
    errors = [np.abs(other_y - predicted).mean() for predicted in watched.staged_predict(other)]
    assert np.argmin(errors) < 75  # after that it fits noise
    assert np.argmax(watched.validation_score_) < 100


# ---- warm start ----


@pytest.mark.parametrize(
    "extra", [{}, {"subsample": 0.6}, {"subsample": 0.6, "subspace": "drawn", "n_coefficients": 2}]
)
@pytest.mark.parametrize("task", TASKS)
def test_ten_rounds_and_fifteen_more_are_twenty_five(task: str, extra: dict[str, Any]) -> None:
    X, y = data_for(task)
    at_once = make(task, n_estimators=25, **extra).fit(X, y)
    model = make(task, n_estimators=10, warm_start=True, **extra).fit(X, y)
    assert model.n_iter_ == 10
    model.set_params(n_estimators=25).fit(X, y)
    assert same_model(model, at_once, X)
    assert same_scores(model, at_once)


@pytest.mark.parametrize("where", ["fraction", "eval_set"])
@pytest.mark.parametrize("task", ["squared_error", "huber", "three classes"])
@pytest.mark.parametrize("steps", [(3, 150), (10, 12, 14, 150), (150, 151)])
def test_early_stopping_does_not_mind_a_warm_start(task: str, where: str, steps: tuple[int, ...]) -> None:
    X, y = data_for(task)
    eval_set = data_for(task, 9) if where == "eval_set" else None
    settings = STOPPING | {"subsample": 0.8, "n_iter_no_change": 5}
    at_once = make(task, **settings | {"n_estimators": steps[-1]}).fit(X, y, eval_set=eval_set)
    model = make(task, **settings | {"warm_start": True})
    for n in steps:
        model.set_params(n_estimators=n).fit(X, y, eval_set=eval_set)
    assert same_model(model, at_once, X)
    assert same_scores(model, at_once)


def test_warm_start_goes_on_with_the_same_random_numbers() -> None:
    X, y = data_for("squared_error")
    settings: dict[str, Any] = {"subsample": 0.5, "warm_start": True, "n_estimators": 10}
    generator = np.random.RandomState(3)
    model = make("squared_error", **settings | {"random_state": generator}).fit(X, y)
    model.set_params(n_estimators=25).fit(X, y)
    at_once = make("squared_error", **settings | {"random_state": np.random.RandomState(3), "n_estimators": 25})
    assert same_model(model, at_once.fit(X, y), X)
    free = make("squared_error", **settings | {"random_state": None}).fit(X, y)
    first, second = (copy.deepcopy(free).set_params(n_estimators=25).fit(X, y) for _ in range(2))
    assert same_model(first, second, X)
    assert not same_model(first, model, X)
    np.testing.assert_array_equal(list(first.staged_predict(X))[9], free.predict(X))


def test_fit_without_warm_start_begins_anew() -> None:
    X, y = data_for("squared_error")
    model = make("squared_error").fit(X, -y)
    assert same_model(model.fit(X, y), make("squared_error").fit(X, y), X)


def test_warm_start_refuses_what_does_not_go_with_its_trees() -> None:
    X, y = data_for("three classes")
    model = make("three classes", warm_start=True, n_estimators=3).fit(X, y)
    before = dict(model.__dict__)
    model.n_estimators = 5
    with pytest.raises(ValueError, match=r"X of SLMBoostClassifier.fit must have 5 features as before"):
        model.fit(X[:, :4], y)
    with pytest.raises(ValueError, match=r"y of SLMBoostClassifier.fit must hold the classes \[0, 1, 2\] as before"):
        model.fit(X, np.minimum(y, 1))
    with pytest.raises(ValueError, match=r"y of SLMBoostClassifier.fit must hold the classes \[0, 1, 2\] as before"):
        model.fit(X, y + 1)
    model.n_estimators = 2
    with pytest.raises(ValueError, match="n_estimators of SLMBoostClassifier must be at least 3"):
        model.fit(X, y)
    model.n_estimators = 3
    assert all(model.__dict__[name] is value for name, value in before.items())
    with pytest.warns(UserWarning, match="adds nothing"):
        model.fit(X, y)
    assert same_model(model, make("three classes", n_estimators=3).fit(X, y), X)


def test_warm_start_may_begin_to_validate() -> None:
    X, y = data_for("squared_error")
    model = make("squared_error", warm_start=True, n_estimators=3).fit(X, y)
    other = data_for("squared_error", 9)
    model.set_params(n_estimators=6).fit(X, y, eval_set=other)
    watched = make("squared_error", n_estimators=6).fit(X, y, eval_set=other)
    assert np.isnan(model.validation_score_[:3]).all()
    np.testing.assert_array_equal(model.validation_score_[3:], watched.validation_score_[3:])


# ---- progress ----


def test_callbacks_see_every_round_in_order() -> None:
    X, y = data_for("squared_error")
    seen: list[tuple[str, Progress]] = []
    callbacks = [lambda p: seen.append(("a", p)), lambda p: seen.append(("b", p))]
    other = data_for("squared_error", 9)
    model = make("squared_error", n_estimators=3, callbacks=callbacks).fit(X, y, eval_set=other)
    assert [name for name, _ in seen] == ["a", "b"] * 3
    for n, now in enumerate((p for name, p in seen if name == "a"), start=1):
        assert now == (n, 3, model.train_score_[n], model.validation_score_[n])
        assert isinstance(now, Progress)
    seen.clear()
    make("squared_error", n_estimators=3, callbacks=callbacks).fit(X, y)
    assert all(progress.validation_score is None for _, progress in seen)


def test_progress_of_a_warm_start_counts_on() -> None:
    X, y = data_for("squared_error")
    seen: list[Progress] = []
    model = make("squared_error", n_estimators=3, warm_start=True, callbacks=[seen.append]).fit(X, y)
    model.set_params(n_estimators=5).fit(X, y)
    assert [(p.n_iter, p.n_estimators) for p in seen] == [(1, 3), (2, 3), (3, 3), (4, 5), (5, 5)]


@pytest.mark.parametrize("yes", [True, np.True_])
def test_callback_ends_the_fit_by_returning_true(yes: Any) -> None:
    X, y = data_for("three classes")
    seen: list[int] = []

    def stop(progress: Progress) -> Any:
        return yes if progress.n_iter == 3 else None

    callbacks = [stop, lambda progress: seen.append(progress.n_iter)]
    model = make("three classes", callbacks=callbacks).fit(X, y)
    assert model.n_iter_ == 3
    assert len(model.train_score_) == 4
    assert seen == [1, 2, 3]
    assert same_model(model, make("three classes", n_estimators=3).fit(X, y), X)


@pytest.mark.parametrize("no", [False, None, np.False_])
def test_callback_that_does_not_return_true_ends_nothing(no: Any) -> None:
    X, y = data_for("squared_error")
    assert make("squared_error", callbacks=[lambda progress: no]).fit(X, y).n_iter_ == 8


def test_callback_and_early_stopping_keep_the_best_rounds_so_far() -> None:
    X, y = data_for("squared_error")
    wrong = 2 * y.mean() - y
    model = make("squared_error", early_stopping=True, callbacks=[lambda p: p.n_iter == 2])
    assert model.fit(X, y, eval_set=(X, wrong)).n_iter_ == 0
    assert len(model.validation_score_) == 3


def test_fit_is_silent_unless_asked(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = data_for("squared_error")
    make("squared_error", verbose=0).fit(X, y)
    assert capfd.readouterr() == ("", "")


def test_progress_is_shown_as_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    X, y = data_for("squared_error")
    make("squared_error", verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert "round 8 of 8, training loss" in out + err


@pytest.fixture
def without_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)


@pytest.mark.usefixtures("without_rich")
def test_progress_is_shown_as_lines_without_rich(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    X, y = data_for("squared_error")
    seen: list[str] = []
    model = make("squared_error", verbose=1, n_estimators=3, callbacks=[lambda p: seen.append(str(p))])
    model.fit(X, y, eval_set=(X, y))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == seen
    loss = f"{-model.train_score_[3]:.6g}"
    assert seen[2] == f"round 3 of 3, training loss {loss}, validation loss {loss}"


@pytest.mark.usefixtures("without_rich")
def test_lines_come_once_a_second_and_for_the_last_round(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SECONDS", 1e9)
    X, y = data_for("squared_error")
    make("squared_error", verbose=1).fit(X, y)
    assert [line.split(",")[0] for line in capsys.readouterr().err.splitlines()] == ["round 1 of 8", "round 8 of 8"]


@pytest.mark.usefixtures("without_rich")
def test_missing_rich_does_not_show_up_in_errors_of_the_users_own(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = data_for("squared_error")
    with pytest.raises(OwnError) as caught:
        make("squared_error", verbose=1, callbacks=[failing(2)]).fit(X, y)
    assert caught.value.__context__ is None
    assert "round 1" in capsys.readouterr().err
