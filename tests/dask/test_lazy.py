"""Answers for collections: lazy, those of the local twin, with its types, and the chunks or index of what is given."""

import pickle
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import dask
import sublearn
from naive import Array
from sublearn import dask as on_cluster
from sublearn.dask import DaskSLMBoostClassifier, DaskSLMBoostRegressor, DaskSLMClassifier, DaskSLMRegressor

RNG = np.random.default_rng(4)
N, CHUNKS = 120, (50, 0, 63, 7)
X = RNG.normal(size=(N, 4))
Y = np.abs(X[:, 0] + X[:, 1] ** 2)
TWO, THREE = np.where(Y > 1.0, "yes", "no"), np.array([4, 8, 9])[np.digitize(Y, [0.5, 1.5])]
FRAME = pd.DataFrame(X, columns=list("abcd"), index=np.arange(N)[::-1] * 2).assign(
    kind=pd.Categorical(np.where(X[:, 2] > 0.0, "u", "v"))
)
TARGETS: dict[str, list[Array]] = {"Classifier": [TWO, THREE], "Regressor": [Y]}
FEW: dict[str, Any] = {"random_state": 0, "max_depth": 3}
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "apply")
MODELS = [
    (name, y)
    for name in on_cluster.__all__
    if name.startswith("Dask")
    for y in TARGETS["Classifier" if name.endswith("Classifier") else "Regressor"]
]


def small(name: str) -> dict[str, Any]:
    return FEW if "Forest" not in name and "Boost" not in name else {**FEW, "n_estimators": 3}


def fitted(name: str, X: Any, y: Any) -> Any:
    """An estimator of Dask with the model of its local twin, which needs no cluster."""
    model = getattr(on_cluster, name)(**small(name))
    local = model.local_class(**small(name)).fit(X, y)
    model._note({key: value for key, value in vars(local).items() if key not in local.get_params()})
    return model


def array(values: Array) -> da.Array:
    return da.from_array(values, chunks=(CHUNKS, *values.shape[1:]))


def unknown(values: Array) -> da.Array:
    """The same blocks, of which nobody knows the sizes."""
    blocks = array(values)
    return blocks[da.ones(N, chunks=(CHUNKS,)) > 0.0]


def frame(columns: Any) -> Any:
    ends = np.cumsum([0, *CHUNKS])
    return dd.from_map(lambda i: columns[ends[i] : ends[i + 1]], range(len(CHUNKS)), meta=columns[:0])


@pytest.mark.parametrize(("name", "y"), MODELS)
def test_answers_for_arrays_are_those_of_the_local_twin(name: str, y: Array) -> None:
    model = fitted(name, X, y)
    local = model.to_local()
    for method in METHODS:
        assert hasattr(model, method) == hasattr(local, method)
        if not hasattr(local, method):
            continue
        wanted = getattr(local, method)(X)
        for given in (array(X), unknown(X), array(X).rechunk((40, 2))):
            found = getattr(model, method)(given)
            assert isinstance(found, da.Array)
            assert found.ndim == wanted.ndim
            assert found.dtype == wanted.dtype
            assert found.shape[1:] == wanted.shape[1:]
            np.testing.assert_equal(found.chunks[0], given.chunks[0])
            blocks = found.compute(scheduler="synchronous")
            assert blocks.dtype == wanted.dtype
            np.testing.assert_array_equal(blocks, wanted)
        np.testing.assert_array_equal(getattr(model, method)(X), wanted)  # what is here is answered here


@pytest.mark.parametrize(("name", "y"), MODELS)
def test_answers_for_frames_have_their_index(name: str, y: Array) -> None:
    model = fitted(name, FRAME, y)
    local = model.to_local()
    for method in METHODS:
        if not hasattr(local, method):
            continue
        wanted, given = getattr(local, method)(FRAME), frame(FRAME)
        found = getattr(model, method)(given)
        assert isinstance(found, dd.Series if wanted.ndim == 1 else dd.DataFrame)
        assert found.npartitions == given.npartitions
        computed = found.compute(scheduler="synchronous")
        assert computed.index.equals(FRAME.index)
        np.testing.assert_array_equal(computed.to_numpy(), wanted)
        assert np.asarray(found._meta).dtype.kind == computed.to_numpy().dtype.kind
        if wanted.ndim == 2:
            assert list(found.columns) == list(range(wanted.shape[1]))


def test_answers_are_lazy() -> None:
    computed: list[int] = []

    def note(block: Array) -> Array:
        computed.append(len(block))
        return block

    model = fitted("DaskSLMClassifier", X, TWO)
    answers = model.predict_proba(array(X).map_blocks(note, meta=X[:0]))
    assert computed == []
    answers.compute(scheduler="synchronous")
    assert sorted(computed) == sorted(CHUNKS)


def test_answers_are_computed_on_the_cluster(client: Client) -> None:
    model = fitted("DaskSLMBoostClassifier", FRAME, THREE)
    there = frame(FRAME).persist()
    wanted = model.to_local().predict_proba(FRAME)
    np.testing.assert_array_equal(model.predict_proba(there).compute(), wanted)
    assert model.predict(there).value_counts().compute().sum() == N
    assert model.score(there, frame(pd.Series(THREE))) == model.to_local().score(FRAME, THREE)


@pytest.mark.parametrize(("name", "y"), MODELS)
def test_scores_are_those_of_the_local_twin(name: str, y: Array) -> None:
    model, weights = fitted(name, X, y), RNG.random(N)
    with dask.config.set(scheduler="synchronous"):
        assert model.score(array(X), array(y)) == pytest.approx(model.to_local().score(X, y), rel=1e-12)
        score = model.score(array(X), array(y), array(weights))
    assert score == pytest.approx(model.to_local().score(X, y, weights), rel=1e-12)


def test_an_exposure_may_be_a_number_or_a_collection() -> None:
    model = DaskSLMBoostRegressor(loss="poisson", **small("Boost"))
    local = model.local_class(loss="poisson", **small("Boost")).fit(X, Y, exposure=1.0 + Y)
    model._note({key: value for key, value in vars(local).items() if key not in local.get_params()})
    with dask.config.set(scheduler="synchronous"):
        np.testing.assert_array_equal(model.predict(array(X), 2.0).compute(), local.predict(X, 2.0))
        found = model.predict(array(X), exposure=da.from_array(1.0 + Y, chunks=30)).compute()
        np.testing.assert_array_equal(found, local.predict(X, 1.0 + Y))
        frames = model.predict(frame(pd.DataFrame(X)), frame(pd.Series(1.0 + Y))).compute()
        np.testing.assert_array_equal(frames, local.predict(X, 1.0 + Y))
    with pytest.raises(TypeError, match=r"exposure of SLMBoostRegressor\.predict must be a number, or a collection of"):
        model.predict(array(X), Y)


def test_what_is_not_fitted_answers_nothing() -> None:
    for method in ("predict", "predict_proba", "apply"):
        with pytest.raises(NotFittedError):
            getattr(DaskSLMClassifier(), method)(array(X))


def test_columns_in_another_order_are_refused_when_answers_are_computed() -> None:
    answers = fitted("DaskSLMRegressor", FRAME, Y).predict(frame(FRAME[["b", "a", "c", "d", "kind"]]))
    with pytest.raises(ValueError, match="feature names"):
        answers.compute(scheduler="synchronous")


# --- twins


@pytest.mark.parametrize("name", [name for name in on_cluster.__all__ if name.startswith("Dask")])
def test_twins_have_the_signatures_of_local_ones(name: str) -> None:
    from inspect import signature

    ours, local = getattr(on_cluster, name), getattr(sublearn, name.removeprefix("Dask"))
    assert ours.local_class is local
    assert ours().get_params() == {**local().get_params(), "client": None, "on_lost": "restart"}
    mine, theirs = signature(ours).parameters, signature(local).parameters
    assert list(mine)[: len(theirs)] == list(theirs)
    assert list(mine)[len(theirs) :] == ["client", "on_lost"]
    assert all(mine[key] == theirs[key] for key in theirs)
    assert signature(ours.fit).parameters == signature(local.fit).parameters
    for method in (*METHODS, "score"):
        if hasattr(local, method) and method != "predict":
            needed = [key for key in signature(getattr(local, method)).parameters if key != "check_input"]
            found = list(signature(getattr(ours, method)).parameters)
            assert "named" in found or found == needed
    for parameter in mine:
        assert f"\n    {parameter} : " in ours.__doc__


def test_parameters_can_be_read_and_set_and_unknown_ones_are_refused() -> None:
    model = DaskSLMRegressor(max_depth=3, on_lost="raise")
    assert model.set_params(max_depth=5, on_lost="restart") is model
    assert (model.get_params()["max_depth"], model.on_lost) == (5, "restart")
    with pytest.raises(TypeError, match="depth"):
        DaskSLMRegressor(depth=3)
    with pytest.raises(ValueError, match="depth"):
        model.set_params(depth=3)


def test_a_clone_has_the_client_itself_and_no_model(client: Client) -> None:
    model = fitted("DaskSLMClassifier", X, TWO).set_params(client=client)
    twin = clone(model)
    assert twin.client is client
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "_model")


def test_a_pickled_estimator_answers_alike_and_has_no_client(client: Client) -> None:
    model = fitted("DaskSLMBoostClassifier", X, TWO).set_params(client=client)
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is DaskSLMBoostClassifier
    assert again.client is None
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_saved_model_is_loaded_as_the_local_twin(tmp_path: Path) -> None:
    model = fitted("DaskSLMClassifier", FRAME, THREE)
    model.save(tmp_path / "model.slm")
    again = sublearn.load(tmp_path / "model.slm")
    assert type(again) is sublearn.SLMClassifier
    np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))
    assert type(model.to_local()) is sublearn.SLMClassifier
    assert "client" not in vars(model.to_local())
    with pytest.raises(NotFittedError):
        DaskSLMClassifier().save(tmp_path / "other.slm")
