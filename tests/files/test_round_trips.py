"""A model that has been in a file is the model that was saved: it predicts, tells and trains on to the bit as that."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import sublearn
from sublearn import (
    Loss,
    ModelFileError,
    SLMAverageClassifier,
    SLMAverageRegressor,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    export_text,
)
from sublearn.tuning import Tuning

RNG = np.random.default_rng(0)
N = 150
X = RNG.normal(size=(N, 4))
NUMBER = np.exp(X[:, 0] + X[:, 1] * X[:, 2])
TWO = NUMBER > 1.0
THREE = np.array(["low", "middle", "high"])[np.digitize(X[:, 0] - X[:, 2], [-0.5, 0.5])]
GAPS = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
HEAVY = np.exp(8 * X)
FRAME = pd.DataFrame(
    {
        "size": GAPS[:, 0],
        "city": pd.Categorical(np.array(["[a, b)", "Zoë", '"{', "d"])[RNG.integers(0, 4, N)]),
        "mixed": pd.Series([["x", 3, 3.5, None][i] for i in RNG.integers(0, 4, N)], dtype=object),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 100, N), "D"),
        "hours": pd.to_timedelta(RNG.integers(0, 100, N), "h"),
        "new": RNG.random(N) < 0.5,
    }
)
FEW: dict[str, Any] = {"n_estimators": 3, "random_state": 0}
BOOST: dict[str, Any] = {**FEW, "learning_rate": 0.3}
LINEAR: dict[str, Any] = {**BOOST, "leaf": "linear", "max_depth": 3}
CLASSIFIERS = [
    SLMClassifier(random_state=0),
    SLMForestClassifier(**FEW),
    SLMForestClassifier(**FEW, voting="hard", bootstrap=True, max_samples=0.5),
    SLMBoostClassifier(**BOOST),
    SLMBoostClassifier(**LINEAR),
    SLMAverageClassifier([SLMClassifier(random_state=0), SLMBoostClassifier(**BOOST)], weights=(2, 1)),
]
REGRESSORS = [
    SLMRegressor(random_state=0, ccp_alpha=0.01, max_partitions=4, effective_ratio=0.0),
    SLMForestRegressor(**FEW, bootstrap=True),
    SLMBoostRegressor(**LINEAR),
    SLMAverageRegressor([SLMForestRegressor(**FEW), SLMBoostRegressor(**LINEAR)]),
]
LOSSES = ("squared_error", "absolute_error", "quantile", "huber", "poisson", "gamma")
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "apply")
ATTRIBUTES = (
    "n_features_in_", "feature_names_in_", "classes_", "feature_importances_", "n_partitions_", "n_parameters_",
    "n_iter_", "learning_rate_", "settings_", "audition_", "train_score_", "validation_score_", "depth_", "n_leaves_",
    "oob_score_", "oob_prediction_", "oob_decision_function_", "weights_",
)  # fmt: skip


def name_of(model: Any) -> str:
    return type(model).__name__


def sent(model: Any, folder: Path) -> Any:
    """The model after a trip through a file, which is written the same again."""
    model.save(folder / "model.slm")
    again = sublearn.load(folder / "model.slm")
    again.save(folder / "again.slm")
    assert (folder / "again.slm").read_bytes() == (folder / "model.slm").read_bytes()
    return again


def bits(value: Any) -> Any:
    """Something that is equal where values are, to the bit and with their types."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tolist() if value.dtype == object else value.tobytes()
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: bits(one) for name, one in value._asdict().items()}
    return (type(value), repr(value))


def arrays(model: Any) -> Any:
    """All that a fitted record has."""
    record = model._model
    fields = {name: bits(getattr(record, name)) for name in vars(record) if name not in ("maps", "ensemble")}
    trees = {name: bits(column) for name, column in record.ensemble.nodes.columns().items()}
    return fields, trees, bits(record.ensemble.roots), bits(record.maps)


def check_same(again: Any, model: Any, X: Any, **more: Any) -> None:
    """Raise AssertionError unless two models are the same one."""
    assert type(again) is type(model)
    for method in METHODS:
        if hasattr(model, method):
            given = more if method == "predict" else {}
            assert bits(getattr(again, method)(X, **given)) == bits(getattr(model, method)(X, **given)), method
    if hasattr(model, "staged_predict"):
        stages = [np.array([*one.staged_predict(X)]) for one in (again, model)]
        assert bits(stages[0]) == bits(stages[1])
    if hasattr(model, "decision_path"):
        assert (again.decision_path(X) != model.decision_path(X)).nnz == 0
        assert export_text(again) == export_text(model)
    for name in ATTRIBUTES:
        assert hasattr(again, name) == hasattr(model, name), name
        if hasattr(model, name):
            assert bits(getattr(again, name)) == bits(getattr(model, name)), name
    if hasattr(model, "_model"):
        assert arrays(again) == arrays(model)
        assert repr(again.get_params()) == repr(model.get_params())
    for member, before in zip(getattr(again, "estimators_", ()), getattr(model, "estimators_", ()), strict=True):
        assert arrays(member) == arrays(before)


def fitted(model: Any, X: Any) -> Any:
    return clone(model).fit(X, THREE if hasattr(model, "predict_proba") else NUMBER)


@pytest.mark.parametrize("table", [X, GAPS, HEAVY, FRAME], ids=["numbers", "gaps", "heavy tails", "frame"])
@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=name_of)
def test_every_estimator_comes_back_with_every_kind_of_table(model: Any, table: Any, tmp_path: Path) -> None:
    before = fitted(model, table)
    check_same(sent(before, tmp_path), before, table)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_comes_back_with_what_it_has_seen(loss: str, tmp_path: Path) -> None:
    before = SLMBoostRegressor(**BOOST, loss=loss, warm_start=True).fit(X, NUMBER)
    again = sent(before, tmp_path)
    check_same(again, before, X)
    assert type(again._loss) is type(before._loss)
    assert vars(again._loss) == vars(before._loss)
    for model in (again, before):
        model.set_params(n_estimators=6).fit(X, NUMBER)
    check_same(again, before, X)


def test_exposures_are_taken_after_loading(tmp_path: Path) -> None:
    exposure = RNG.uniform(0.5, 2.0, N)
    before = SLMBoostRegressor(**BOOST, loss="poisson").fit(X, NUMBER * exposure, exposure=exposure)
    check_same(sent(before, tmp_path), before, X, exposure=exposure)


@pytest.mark.parametrize(
    "classes",
    [
        np.array([-3, 0, 7], np.int8),
        np.array([0, 2**63, 2**64 - 1], np.uint64),
        np.array([0.0, 1.0, 5.0], np.float32),
        np.array(["", "a", "Zoë \U0001f600"]),
        np.array(["x", "y", "z"], object),
        np.array([False, True]),
        np.array([4]),
    ],
    ids=lambda classes: f"{classes.dtype} {len(classes)}",
)
@pytest.mark.parametrize("make", [SLMClassifier, SLMBoostClassifier])
def test_classes_of_every_type_come_back(make: Any, classes: Any, tmp_path: Path) -> None:
    few = BOOST if make is SLMBoostClassifier else {}
    before = make(**few).fit(X, classes[np.digitize(X[:, 0], [-0.5, 0.5]) % len(classes)])
    check_same(sent(before, tmp_path), before, X)


def test_classes_that_no_file_holds_are_refused_with_a_way_out(tmp_path: Path) -> None:
    model = SLMClassifier().fit(X, TWO)
    object.__setattr__(model._model, "classes", np.array([b"a", b"b"]))
    with pytest.raises(ModelFileError, match="numbers, booleans or texts to be saved; got values of type bytes"):
        model.save(tmp_path / "model.slm")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("multiclass", ["shared", "separate"])
@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
def test_boosting_of_classes_comes_back_and_goes_on(multiclass: str, target: Any, tmp_path: Path) -> None:
    before = SLMBoostClassifier(**BOOST, multiclass=multiclass, warm_start=True).fit(X, target)
    again = sent(before, tmp_path)
    check_same(again, before, X)
    for model in (again, before):
        model.set_params(n_estimators=5).fit(X, target)
    check_same(again, before, X)


@pytest.mark.parametrize(
    "more",
    [{}, {"bootstrap": True, "max_samples": 0.7, "oob_score": True}, {"voting": "hard"}],
    ids=["plain", "bootstrap", "hard votes"],
)
@pytest.mark.filterwarnings("ignore:some samples were drawn for every tree")
def test_forests_grow_on_as_if_they_had_never_left(more: dict[str, Any], tmp_path: Path) -> None:
    makes = [SLMForestClassifier] if "voting" in more else [SLMForestClassifier, SLMForestRegressor]
    for make in makes:
        target = THREE if make is SLMForestClassifier else NUMBER
        before = make(**FEW, **more, warm_start=True).fit(FRAME, target)
        again = sent(before, tmp_path)
        for model in (again, before):
            model.set_params(n_estimators=6).fit(FRAME, target)
        check_same(again, before, FRAME)
        whole = make(**{**FEW, **more, "n_estimators": 6}).fit(FRAME, target)
        assert bits(whole.predict(FRAME)) == bits(again.predict(FRAME))


def test_boosting_with_linear_leaves_and_categories_goes_on(tmp_path: Path) -> None:
    before = SLMBoostRegressor(**LINEAR, warm_start=True).fit(FRAME, NUMBER)
    again = sent(before, tmp_path)
    for model in (again, before):
        model.set_params(n_estimators=5).fit(FRAME, NUMBER)
    check_same(again, before, FRAME)


def test_training_that_found_its_own_settings_goes_on_with_them(tmp_path: Path) -> None:
    before = SLMBoostRegressor(n_estimators=20, warm_start=True, random_state=0).fit(X, NUMBER)
    assert before.audition_
    again = sent(before, tmp_path)
    check_same(again, before, X)
    for model in (again, before):
        model.set_params(n_estimators=before.n_iter_ + 3).fit(X, NUMBER)
    check_same(again, before, X)


def test_targets_far_from_all_others_go_on(tmp_path: Path) -> None:
    far = NUMBER.copy()
    far[3] = 1e12
    before = SLMBoostRegressor(**BOOST, warm_start=True).fit(X, far)
    assert before._has_excess
    again = sent(before, tmp_path)
    for model in (again, before):
        model.set_params(n_estimators=6).fit(X, far)
    check_same(again, before, X)


def test_best_effort_comes_back(tmp_path: Path) -> None:
    before = SLMBoostRegressor(effort="best", n_estimators=4, learning_rate=0.3, random_state=0).fit(X, NUMBER)
    assert before._model.trees_a_round == 4
    check_same(sent(before, tmp_path), before, X)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
@pytest.mark.parametrize("n_models", [2, 3])
def test_averaged_models_come_back_and_do_not_go_on(n_models: int, leaf: str, tmp_path: Path) -> None:
    given = {**BOOST, "n_models": n_models, "leaf": leaf, "max_depth": 3}
    for model, target, n_each in (
        (SLMBoostRegressor(**given), NUMBER, n_models),
        (SLMBoostClassifier(**given, multiclass="separate"), THREE, 3 * n_models),
    ):
        before = model.fit(GAPS, target)
        again = sent(before, tmp_path)
        check_same(again, before, GAPS)
        assert (again._model.trees_a_round, len(again._members), again.n_iter_) == (n_each, n_models, 3)
        again.set_params(n_models=1, warm_start=True, n_estimators=5)
        with pytest.raises(ValueError, match=f"must be False after a fit of {n_models} models; got True"):
            again.fit(GAPS, target)


def test_model_without_any_tree_comes_back(tmp_path: Path) -> None:
    noise = np.random.default_rng(5).normal(size=N)
    test = np.random.default_rng(6).normal(size=(N, 4)), -noise
    before = SLMBoostRegressor(**{**BOOST, "learning_rate": 300.0}, early_stopping=True).fit(X, noise, eval_set=test)
    assert before.n_iter_ == 0
    check_same(sent(before, tmp_path), before, X)


@pytest.mark.parametrize("factor", [1e299, 1e-300, 1e-310])
def test_numbers_near_the_ends_of_the_floats_come_back(factor: float, tmp_path: Path) -> None:
    for make in (SLMRegressor, SLMForestRegressor):
        few = FEW if make is SLMForestRegressor else {}
        before = make(**few).fit(GAPS * factor, X[:, 0] * factor)
        again = sent(before, tmp_path)
        assert bits(again.predict(GAPS * factor)) == bits(before.predict(GAPS * factor))
        assert arrays(again) == arrays(before)


@pytest.mark.parametrize("make", [SLMClassifier, SLMForestClassifier, SLMBoostClassifier])
def test_parameters_come_back_as_they_were(make: Any, tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "selection_decay": (0.1, 0.2),
        "envelope_decay": [np.float64(0.1), 0.25],
        "n_coefficients": np.array([2, 3]),
        "min_samples_leaf": np.int64(3),
        "class_weight": {"low": 2, "high": 0.5, "middle": np.float32(1.5)},
        "categorical_features": ["city"],
        "n_jobs": 1,
        "random_state": np.uint32(7),
    }
    few = {make: {}, SLMForestClassifier: FEW, SLMBoostClassifier: BOOST}[make]
    frame = FRAME[["size", "city"]]
    before = make(**{**few, **given}).fit(frame, THREE)
    found = sent(before, tmp_path).get_params()
    usual = before.get_params()
    assert found.keys() == usual.keys()
    assert {name: found[name] for name in found if name != "n_coefficients"} == {
        name: usual[name] for name in usual if name != "n_coefficients"
    }
    assert found["selection_decay"] == (0.1, 0.2)
    assert found["n_coefficients"] == [2, 3]
    assert [type(found[name]) for name in ("min_samples_leaf", "random_state")] == [int, int]
    again = make(**found).fit(frame, THREE)
    assert bits(again.predict_proba(frame)) == bits(before.predict_proba(frame))


def test_values_of_parameters_stay_what_they_are(tmp_path: Path) -> None:
    """Parameters are saved as they are, even where a fit would refuse them."""
    values = [np.inf, -np.inf, True, None, 1, 1.0, "text", (), [(), [1]], {1: "a", "b": (2,), (3, 4): None}, 2**70]
    model = SLMClassifier().fit(X, TWO)
    for value in values:
        found = sent(model.set_params(class_weight=value), tmp_path).class_weight
        assert (found, type(found)) == (value, type(value))
    assert np.isnan(sent(model.set_params(class_weight=float("nan")), tmp_path).class_weight)


def test_callbacks_and_states_are_left_out_and_listed(tmp_path: Path) -> None:
    given = {**BOOST, "random_state": np.random.RandomState(0)}
    before = SLMBoostRegressor(**given, callbacks=[lambda progress: False], warm_start=True).fit(X, NUMBER)
    before.save(tmp_path / "model.slm")
    again = sublearn.load(tmp_path / "model.slm")
    assert (again.callbacks, again.random_state) == (None, None)
    assert b'left_out\\": [\\"callbacks\\", \\"random_state\\"]' in (tmp_path / "model.slm").read_bytes()
    for model in (again, before):
        model.set_params(n_estimators=5).fit(X, NUMBER)  # all is drawn from the key of the first fit
    assert bits(again.predict(X)) == bits(before.predict(X))


class Own(Loss):
    """Half the squared error."""

    def values(self, y: Any, raw: Any) -> Any:
        return (raw - y) ** 2 / 2

    def derivatives(self, y: Any, raw: Any) -> Any:
        return raw - y, None


class OwnTree(SLMClassifier):
    """A tree of a class that no file knows."""


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SLMBoostRegressor(**BOOST, loss=Own()), "loss of SLMBoostRegressor cannot be saved: .*Own"),
        (OwnTree(), "OwnTree is a class of your own, and a file holds no programs. Pickle it."),
        (SLMClassifier(), "n_bins of SLMClassifier cannot be saved: a complex is none of the values"),
    ],
    ids=["loss", "class", "complex"],
)
def test_what_no_file_holds_is_refused_and_nothing_is_written(model: Any, words: str, tmp_path: Path) -> None:
    model.fit(X, NUMBER if "Regressor" in name_of(model) else TWO)
    if "n_bins" in words:
        model.set_params(n_bins=1j)
    with pytest.raises(ModelFileError, match=words):
        model.save(tmp_path / "model.slm")
    assert list(tmp_path.iterdir()) == []


def test_loss_of_ones_own_is_refused_even_when_the_parameter_has_changed_since(tmp_path: Path) -> None:
    model = SLMBoostRegressor(**BOOST, loss=Own()).fit(X, NUMBER).set_params(loss="squared_error")
    with pytest.raises(ModelFileError, match=r"has learned with a loss of your own, <Own>.*Pickle the model, or use"):
        model.save(tmp_path / "model.slm")


def test_a_model_that_is_not_fitted_is_not_saved(tmp_path: Path) -> None:
    for model in (SLMClassifier(), SLMAverageRegressor([SLMRegressor()])):
        with pytest.raises(NotFittedError):
            model.save(tmp_path / "model.slm")


def test_a_loaded_model_is_cloned_copied_and_pickled(tmp_path: Path) -> None:
    for model in (SLMForestClassifier(**FEW), CLASSIFIERS[-1]):
        again = sent(fitted(model, FRAME), tmp_path)
        assert repr(clone(again)) == repr(clone(model))
        for other in (pickle.loads(pickle.dumps(again)), copy.deepcopy(again), clone(again).fit(FRAME, THREE)):
            check_same(other, again, FRAME)


def test_what_tune_has_found_comes_back(tmp_path: Path) -> None:
    found = Tuning({"max_depth": 3, "n_coefficients": (1, 2)}, -0.5, -1.0, 7, 2, 1.5)
    tree = SLMRegressor().fit(X, NUMBER)
    tree.tuning_ = found
    assert sent(tree, tmp_path).tuning_ == found
    average = fitted(REGRESSORS[-1], X)
    average.tuning_ = found._replace(members=({"max_depth": 2}, {}), weights=(0.25, 0.75), ensemble_score=-0.25)
    assert sent(average, tmp_path).tuning_ == average.tuning_


def test_frames_of_other_types_are_refused_after_loading_as_before(tmp_path: Path) -> None:
    again = sent(SLMRegressor().fit(FRAME, NUMBER), tmp_path)
    with pytest.raises(ValueError, match="column 'day' held dates then, and holds numbers now"):
        again.predict(FRAME.assign(day=1.0))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(FRAME.rename(columns={"size": "other"}))


def test_levels_that_were_not_there_are_still_unknown(tmp_path: Path) -> None:
    before = SLMBoostRegressor(**LINEAR).fit(FRAME, NUMBER)
    other = FRAME.assign(city="elsewhere", mixed=pd.Series([np.inf] * N, dtype=object))
    assert bits(sent(before, tmp_path).predict(other)) == bits(before.predict(other))


@pytest.mark.parametrize("model", [CLASSIFIERS[2], REGRESSORS[2], REGRESSORS[3]], ids=name_of)
def test_files_are_those_of_safetensors(model: Any, tmp_path: Path) -> None:
    before = fitted(model, FRAME)
    before.save(tmp_path / "model.slm")
    found = load_file(tmp_path / "model.slm")
    prefix, one = ("members.1.", before.estimators_[1]) if "Average" in name_of(model) else ("", before)
    nodes = one._model.ensemble.nodes
    for name in ("parent", "value", "coefficient", "children"):
        assert bits(found[f"{prefix}trees.{name}"]) == bits(getattr(nodes, name))
    assert bits(found[f"{prefix}maps.listed"]) == bits(one._model.maps.listed)
