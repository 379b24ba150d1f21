"""Losses of the user's own in boosting, and errors of the user's own."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, log_softmax, softmax

from boosting import Focal, N, OwnError, OwnSquares, data_for, failing, make, raw_of, same_model, same_scores
from naive import Array
from sublearn import Loss, Progress, SLMBoostClassifier

# ---- a loss of one's own ----


class FromTheMean(OwnSquares):
    def start(self, y: Array, sample_weight: Array) -> float:
        return float(np.average(y, weights=sample_weight))


class WithOnes(OwnSquares):
    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        return raw - y, np.ones_like(raw)


@pytest.mark.parametrize("weighted", [False, True])
def test_squared_error_of_ones_own_gives_the_same_model(weighted: bool) -> None:
    X, y = data_for("squared_error")
    weights = np.random.default_rng(0).integers(1, 4, N) if weighted else None
    ours = make("squared_error", init="zero").fit(X, y, sample_weight=weights)
    own = make("squared_error", loss=OwnSquares(), init="zero").fit(X, y, sample_weight=weights)
    assert same_model(ours, own, X)
    assert same_scores(ours, own)
    assert same_model(own, make("squared_error", loss=OwnSquares()).fit(X, y, sample_weight=weights), X)


def test_start_of_ones_own_is_taken() -> None:
    X, y = data_for("squared_error")
    ours, own = (make("squared_error", loss=loss).fit(X, y) for loss in ("squared_error", FromTheMean()))
    np.testing.assert_allclose(ours.predict(X), own.predict(X), rtol=1e-9)
    assert own.train_score_[0] == pytest.approx(-y.var() / 2, rel=1e-12)


def test_second_derivatives_of_one_equal_none() -> None:
    X, y = data_for("squared_error")
    none, ones = (make("squared_error", loss=loss).fit(X, y) for loss in (OwnSquares(), WithOnes()))
    np.testing.assert_allclose(none.predict(X), ones.predict(X), rtol=1e-12)


class FromTheMedian(OwnSquares):
    """Squared error, but leaves take the median."""

    def leaf_value(self, y: Array, raw: Array, sample_weight: Array) -> float:
        return float(np.median(y - raw))


def test_leaf_values_of_ones_own_are_taken() -> None:
    X, y = data_for("squared_error")
    model = make("squared_error", loss=FromTheMedian(), n_estimators=2).fit(X, y)
    raw = np.zeros(N)
    nodes, roots = model.ensemble_.nodes, model.ensemble_.roots
    for t, leaves in enumerate(model.apply(X).T):
        medians = {leaf: np.median((y - raw)[leaves == leaf]) for leaf in set(leaves.tolist())}
        assert len(medians) > 3
        for leaf, median in medians.items():
            assert nodes.value[roots[t] + leaf, 0] == pytest.approx(0.3 * median, rel=1e-12)
        raw += 0.3 * np.array([medians[leaf] for leaf in leaves.tolist()])
    np.testing.assert_allclose(model.predict(X), raw, rtol=1e-12)


class OwnSteps(Focal):
    """The second-order step as leaf values: one for each class."""

    def leaf_value(self, y: Array, raw: Array, sample_weight: Array) -> Any:
        gradient, hessian = self.derivatives(y, raw)
        assert hessian is not None
        return -gradient.sum(axis=0) / (hessian.sum(axis=0) + 1.0)


@pytest.mark.parametrize("task", ["two classes", "three classes"])
def test_leaf_values_of_ones_own_go_to_every_class(task: str) -> None:
    X, y = data_for(task)
    ours, own = (make(task, loss=loss).fit(X, y) for loss in (Focal(), OwnSteps()))
    np.testing.assert_allclose(raw_of(ours, X), raw_of(own, X), atol=1e-6)  # derivatives keep 28 bits


class CertainFocal(Focal):
    def prediction(self, raw: Array) -> Array:
        return self.probabilities(3 * raw)


class CertainSecond(Focal):
    def prediction(self, raw: Array) -> Array:
        second: Array = self.probabilities(3 * raw)[:, 1]
        return second


@pytest.mark.parametrize("task", ["two classes", "three classes"])
def test_classifier_takes_a_loss_of_ones_own(task: str) -> None:
    X, y = data_for(task)
    loss = Focal()
    raw = np.random.default_rng(0).normal(size=(N, 3) if task == "three classes" else N)
    step = 1e-6 * (np.eye(3)[0] if task == "three classes" else 1.0)
    numeric = (loss.values(y * 1.0, raw + step) - loss.values(y * 1.0, raw - step)) / 2e-6
    gradient = loss.derivatives(y * 1.0, raw)[0].reshape(N, -1)[:, 0]
    np.testing.assert_allclose(gradient, numeric, atol=1e-8)  # the test's own loss is right
    model = make(task, loss=loss, n_estimators=20).fit(X, np.array(["x", "y", "z"])[y])
    assert model.score(X, np.array(["x", "y", "z"])[y]) > 0.85
    np.testing.assert_allclose(model.predict_proba(X), loss.probabilities(model.decision_function(X)), rtol=1e-13)
    assert model.train_score_[-1] > 0.5 * model.train_score_[0]


def test_probabilities_may_be_ones_own() -> None:
    X, y = data_for("three classes")
    model = make("three classes", loss=CertainFocal()).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), softmax(3 * model.decision_function(X), axis=1), rtol=1e-13)
    X, y = data_for("two classes")
    model = make("two classes", loss=CertainSecond()).fit(X, y)
    second = expit(3 * model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), np.column_stack([1 - second, second]), rtol=1e-12)


class Bent(Loss):
    """Squared error with some of its answers replaced."""

    def __init__(self, **answers: Callable[[Array], Any]) -> None:
        self.answers = answers

    def _answer(self, name: str, right: Any) -> Any:
        return self.answers[name](right) if name in self.answers else right

    def __repr__(self) -> str:
        return "Bent()"

    def start(self, y: Array, sample_weight: Array) -> Any:
        return self._answer("start", 0.0)

    def values(self, y: Array, raw: Array) -> Any:
        return self._answer("values", 0.5 * (y - raw) ** 2)

    def derivatives(self, y: Array, raw: Array) -> Any:
        first, second = self._answer("gradient", raw - y), self._answer("hessian", np.ones_like(raw))
        return self._answer("derivatives", (first, second))

    def leaf_value(self, y: Array, raw: Array, sample_weight: Array) -> Any:
        return self._answer("leaf_value", None)

    def prediction(self, raw: Array) -> Any:
        return self._answer("prediction", raw)


def spoil(value: float) -> Callable[[Array], Array]:
    def spoiled(right: Array) -> Array:
        wrong = right.copy()
        wrong[3] = value
        return wrong

    return spoiled


@pytest.mark.parametrize(
    ("name", "answer", "message"),
    [
        ("gradient", lambda right: right[:-1], r"gradient of Bent\(\) must have shape \(200,\); got \(199,\)"),
        ("gradient", lambda right: right[:, None], r"gradient of Bent\(\) must have shape \(200,\); got \(200, 1\)"),
        ("gradient", lambda right: right.sum(), r"gradient of Bent\(\) must have shape \(200,\); got \(\)"),
        ("gradient", spoil(np.nan), r"gradient of Bent\(\) must be finite"),
        ("gradient", spoil(np.inf), r"gradient of Bent\(\) must be finite"),
        ("hessian", lambda right: 1.0, r"second derivative of Bent\(\) must have shape \(200,\); got \(\)"),
        ("hessian", spoil(np.nan), r"second derivative of Bent\(\) must be finite"),
        ("hessian", spoil(-1e-3), r"second derivative of Bent\(\) must not be negative"),
        ("derivatives", lambda right: right[0], r"derivatives of Bent\(\)"),
        ("values", lambda right: right.mean(), r"values of Bent\(\) must have shape \(200,\); got \(\)"),
        ("values", lambda right: right[:, None], r"values of Bent\(\) must have shape \(200,\); got \(200, 1\)"),
        ("values", spoil(np.nan), r"values of Bent\(\)"),
        ("start", lambda right: np.zeros(3), r"start of Bent\(\)"),
        ("start", lambda right: np.nan, r"start of Bent\(\)"),
        ("leaf_value", lambda right: np.nan, r"leaf_value of Bent\(\)"),
        ("gradient", lambda right: "steep", r"gradient of Bent\(\) must be numbers; got str"),
        ("values", lambda right: "low", r"values of Bent\(\) must be numbers; got str"),
        ("values", lambda right: None, r"values of Bent\(\) must have shape \(200,\); got \(\)"),
        ("start", lambda right: "low", r"start of Bent\(\) must be numbers; got str"),
        ("start", lambda right: np.zeros(3), r"start of Bent\(\) must have shape \(\) or \(1,\); got \(3,\)"),
        ("leaf_value", lambda right: "low", r"leaf_value of Bent\(\) must be numbers; got str"),
        ("leaf_value", lambda right: [0, 1], r"leaf_value of Bent\(\) must have shape \(\) or \(1,\); got \(2,\)"),
    ],
)
def test_wrong_answers_of_a_loss_are_told(name: str, answer: Callable[[Array], Any], message: str) -> None:
    X, y = data_for("squared_error")
    with pytest.raises(ValueError, match=message):
        make("squared_error", loss=Bent(**{name: answer})).fit(X, y)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda right: 3.0, r"must have shape \(200,\); got \(\)"),
        (lambda right: right[:, None], r"must have shape \(200,\); got \(200, 1\)"),
        (lambda right: right[:-1], r"must have shape \(200,\); got \(199,\)"),
        (lambda right: "high", r"must be numbers; got str"),
    ],
)
def test_wrong_predictions_of_a_loss_are_told(answer: Callable[[Array], Any], message: str) -> None:
    X, y = data_for("squared_error")
    model = make("squared_error", loss=Bent(prediction=answer)).fit(X, y)
    with pytest.raises(ValueError, match=rf"prediction of Bent\(\) {message}"):
        model.predict(X)
    with pytest.raises(ValueError, match=rf"prediction of Bent\(\) {message}"):
        next(model.staged_predict(X))


class OwnLogLoss(Loss):
    """Of two classes only."""

    def values(self, y: Array, raw: Array) -> Array:
        values: Array = np.logaddexp(0.0, raw) - y * raw
        return values

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        p = expit(raw)
        return p - y, p * (1 - p)


class SilentLogLoss(OwnLogLoss):
    def values(self, y: Array, raw: Array) -> Array:
        return np.zeros(len(y))


@pytest.mark.parametrize(("loss", "method"), [(OwnLogLoss(), "values"), (SilentLogLoss(), "derivatives")])
def test_loss_for_two_classes_says_so_when_there_are_three(loss: Loss, method: str) -> None:
    X, y = data_for("two classes")
    assert make("two classes", loss=loss).fit(X, y).score(X, y) > 0.8
    X, y = data_for("three classes")
    with pytest.raises(
        ValueError, match=rf"^{method} of <\w+> must take y of .*200,.* and raw of .*200, 3.*one column"
    ):
        make("three classes", loss=loss).fit(X, y)


class ThreeAnswers(OwnLogLoss):
    def prediction(self, raw: Array) -> Array:
        return np.zeros((len(raw), 3))


def test_probabilities_of_too_many_classes_are_told() -> None:
    X, y = data_for("two classes")
    model = make("two classes", loss=ThreeAnswers()).fit(X, y)
    with pytest.raises(ValueError, match=r"prediction of <ThreeAnswers> must have shape \(200, 2\) or \(200,\); got"):
        model.predict_proba(X)


@pytest.mark.parametrize("task", ["squared_error", "two classes", "three classes"])
def test_loss_that_is_not_written_is_named(task: str) -> None:
    X, y = data_for(task)
    with pytest.raises(NotImplementedError, match=r"values of <Loss> must be written"):
        make(task, loss=Loss()).fit(X, y)
    half = type("Half", (Loss,), {"values": lambda self, y, raw: np.zeros(len(y))})()
    with pytest.raises(NotImplementedError, match=r"derivatives of <Half> must be written"):
        make(task, loss=half).fit(X, y)


def test_early_stopping_on_values_that_are_no_numbers_is_told() -> None:
    X, y = data_for("squared_error")
    loss = Bent(values=lambda right: right * np.nan)
    with pytest.raises(ValueError, match=r"values of Bent\(\)"):
        make("squared_error", loss=loss, early_stopping=True).fit(X, y)


def test_loss_cannot_change_what_has_been_learned() -> None:
    """A user who writes raw -= y is told so, instead of getting a wrong model."""

    class Careless(OwnSquares):
        def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
            raw -= y
            return raw, None

    X, y = data_for("squared_error")
    with pytest.raises(ValueError, match="read-only"):
        make("squared_error", loss=Careless()).fit(X, y)


def test_flat_second_derivatives_do_not_overflow() -> None:
    X, y = data_for("squared_error")
    loss = Bent(hessian=np.zeros_like)
    model = make("squared_error", loss=loss, l2_regularization=1.0, min_child_weight=0.0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


# ---- errors of the user's own ----


BREAKS: dict[str, Callable[[], dict[str, Any]]] = {
    "start": lambda: {"loss": Bent(start=failing(1))},
    "values": lambda: {"loss": Bent(values=failing(4))},
    "derivatives": lambda: {"loss": Bent(derivatives=failing(3))},
    "leaf_value": lambda: {"loss": Bent(leaf_value=failing(3))},
    "callback": lambda: {"loss": "squared_error", "callbacks": [failing(3)]},
}


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("name", BREAKS)
def test_own_errors_come_through_and_leave_the_model_as_it_was(name: str, fitted: bool) -> None:
    X, y = data_for("squared_error")
    model = make("squared_error")
    if fitted:
        model.fit(X[:, :4], y)
    model.set_params(**BREAKS[name]())
    before = dict(model.__dict__)
    with pytest.raises(OwnError, match="mine"):
        model.fit(X, y)
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[key] is value for key, value in before.items())
    if fitted:
        np.testing.assert_array_equal(model.predict(X[:, :4]), make("squared_error").fit(X[:, :4], y).predict(X[:, :4]))


def test_interrupted_warm_start_can_go_on() -> None:
    X, y = data_for("squared_error")
    model = make("squared_error", warm_start=True, n_estimators=5).fit(X, y)
    before = {name: copy.deepcopy(value) for name, value in model.__dict__.items()}
    interrupted = failing(2)

    def interrupt(progress: Progress) -> None:
        try:
            interrupted(progress)
        except OwnError:
            raise KeyboardInterrupt from None

    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_estimators=9, callbacks=[interrupt]).fit(X, y)
    model.set_params(n_estimators=5, callbacks=None)
    assert model.__dict__.keys() == before.keys()
    np.testing.assert_array_equal(model.ensemble_.nodes.value, before["_model"].ensemble.nodes.value)
    model.set_params(n_estimators=9).fit(X, y)
    assert same_model(model, make("squared_error", n_estimators=9).fit(X, y), X)


class PullsLeaves(Loss):
    """Cross entropy that wants leaves of its own: 1, 2 and 3 for the three classes."""

    def values(self, y: Array, raw: Array) -> Array:
        picked: Array = -log_softmax(raw, axis=1)[np.arange(len(y)), y.astype(int)]
        return picked

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        p = softmax(raw, axis=1)
        return p - np.eye(3)[y.astype(int)], p * (1 - p)

    def start(self, y: Array, sample_weight: Array) -> Array:
        return np.zeros(3)

    def leaf_value(self, y: Array, raw: Array, sample_weight: Array) -> Any:
        return np.array([1.0, 2.0, 3.0])


def test_separate_trees_take_the_losss_own_leaf_values_for_their_class_alone() -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = SLMBoostClassifier(
        loss=PullsLeaves(), multiclass="separate", n_estimators=2, learning_rate=0.1, init="zero"
    )
    np.testing.assert_allclose(model.fit(X, y).decision_function(X), np.tile([0.2, 0.4, 0.6], (300, 1)))
