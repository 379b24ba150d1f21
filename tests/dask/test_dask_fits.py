"""Fits on a cluster: the model of the local twin to the bit, whatever the partitions."""

from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from scipy.sparse import csr_matrix
from sklearn.base import clone

from naive import Array
from sublearn import dask as on_cluster
from sublearn.dask.program import digest_of

RNG = np.random.default_rng(7)
N = 420
X = RNG.normal(size=(N, 5))
X[RNG.random(X.shape) < 0.05] = np.nan
SIGNAL = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) ** 2
NUMBERS = np.abs(SIGNAL + 0.1 * RNG.normal(size=N))
CLASSES = np.array(["few", "many", "some"])[np.digitize(SIGNAL, [0.2, 1.5])]
WEIGHTS = RNG.integers(0, 4, N).astype(float)
CHUNKS = {1: (N,), 2: (300, N - 300), 3: (50, 0, 200, 7, N - 257)}  # by workers; one is uneven, with an empty block
SMALL: dict[str, dict[str, Any]] = {
    "DaskSLMClassifier": {"max_depth": 4},
    "DaskSLMRegressor": {"max_depth": 4},
    "DaskSLMForestClassifier": {"n_estimators": 3},
    "DaskSLMForestRegressor": {"n_estimators": 3, "bootstrap": True},
    "DaskSLMBoostClassifier": {"n_estimators": 4, "learning_rate": 0.3},
    "DaskSLMBoostRegressor": {"n_estimators": 4, "learning_rate": 0.3},
}
MIXED = pd.DataFrame(
    {
        "number": X[:, 0],
        "text": np.where(SIGNAL > 0.5, "u", np.where(SIGNAL > 0.0, "v", "w")),
        "kind": pd.Categorical(RNG.choice(list("xyz"), N), categories=list("zyx")),
        "day": pd.date_range("2020-01-01", periods=N),
        "whole": RNG.integers(0, 9, N),
    },
    index=np.arange(N) * 3,
)


def made(name: str, **changes: Any) -> Any:
    return getattr(on_cluster, name)(**{"random_state": 3, **SMALL[name], **changes})


def target_of(name: str) -> Array:
    return CLASSES if name.endswith("Classifier") else NUMBERS


def parted(values: Array, chunks: tuple[int, ...]) -> da.Array:
    return da.from_array(values, chunks=(chunks, *values.shape[1:]))


def frames(columns: Any, chunks: tuple[int, ...]) -> dd.DataFrame:
    ends = np.cumsum([0, *chunks])
    return dd.from_map(lambda i: columns[ends[i] : ends[i + 1]], range(len(chunks)), meta=columns[:0])


def assert_same(found: Any, local: Any) -> None:
    assert digest_of(found._model) == digest_of(local._model)


@pytest.mark.parametrize("n_workers", [1, 2, 3])
@pytest.mark.parametrize("name", SMALL)
def test_the_model_is_that_of_the_local_twin(client: Client, name: str, n_workers: int) -> None:
    chunks, y = CHUNKS[n_workers], target_of(name)
    model = made(name).fit(parted(X, chunks), parted(y, chunks), parted(WEIGHTS, chunks))
    assert len(model.traffic_) == n_workers
    local = model.local_class(random_state=3, **SMALL[name]).fit(X, y, WEIGHTS)
    assert_same(model, local)
    assert_same(model.to_local(), local)
    assert type(model.to_local()) is model.local_class
    np.testing.assert_array_equal(model.predict(parted(X, chunks)).compute(), local.predict(X))
    np.testing.assert_array_equal(model.predict(X), local.predict(X))


@pytest.mark.parametrize("name", ["DaskSLMClassifier", "DaskSLMBoostRegressor"])
@pytest.mark.parametrize("n_workers", [1, 3])
def test_frames_with_categories_gaps_and_dates_give_the_local_model(client: Client, name: str, n_workers: int) -> None:
    chunks, y = CHUNKS[n_workers], pd.Series(target_of(name), index=MIXED.index)
    model = made(name).fit(frames(MIXED, chunks), frames(y, chunks))
    local = model.local_class(random_state=3, **SMALL[name]).fit(MIXED, y)
    assert_same(model, local)
    assert model.feature_names_in_.tolist() == list(MIXED.columns)


@pytest.mark.parametrize("name", ["DaskSLMBoostClassifier", "DaskSLMBoostRegressor"])
def test_validation_samples_may_be_on_the_cluster_or_here(client: Client, name: str) -> None:
    chunks, y, given = CHUNKS[3], target_of(name), {"early_stopping": True, "n_iter_no_change": 1}
    pair, weights = (X[:90], y[:90]), WEIGHTS[:90]
    local = made(name).local_class(random_state=3, **{**SMALL[name], **given})
    local.fit(X, y, eval_set=pair, eval_sample_weight=weights)
    there = {"eval_set": (parted(pair[0], (40, 50)), parted(pair[1], (40, 50)))}
    there |= {"eval_sample_weight": parted(weights, (40, 50))}
    for validating in (there, {"eval_set": pair, "eval_sample_weight": weights}):
        model = made(name, **given).fit(parted(X, chunks), parted(y, chunks), **validating)
        assert_same(model, local)
        np.testing.assert_array_equal(model.validation_score_, local.validation_score_)


def test_validation_samples_may_be_split_off(client: Client) -> None:
    chunks, given = CHUNKS[3], {"early_stopping": True, "n_iter_no_change": 2}
    model = made("DaskSLMBoostClassifier", **given).fit(parted(X, chunks), parted(CLASSES, chunks))
    local = model.local_class(random_state=3, **{**SMALL["DaskSLMBoostClassifier"], **given}).fit(X, CLASSES)
    assert_same(model, local)


def test_exposures_come_in_blocks_too(client: Client) -> None:
    chunks, exposure, name = CHUNKS[2], 1.0 + RNG.random(N), "DaskSLMBoostRegressor"
    model = made(name, loss="poisson")
    model.fit(parted(X, chunks), parted(NUMBERS, chunks), exposure=parted(exposure, chunks))
    local = model.local_class(random_state=3, loss="poisson", **SMALL[name]).fit(X, NUMBERS, exposure=exposure)
    assert_same(model, local)
    predicted = model.predict(parted(X, chunks), parted(exposure, (20, N - 20)))
    np.testing.assert_array_equal(predicted.compute(), local.predict(X, exposure))
    score = model.score(parted(X, chunks), parted(NUMBERS, chunks), exposure=parted(exposure, chunks))
    assert score == pytest.approx(local.score(X, NUMBERS, exposure=exposure), rel=1e-12)


def test_sizes_of_blocks_need_not_be_known_and_columns_may_be_in_several_blocks(client: Client) -> None:
    y = pd.Series(NUMBERS, index=MIXED.index)
    unknown = frames(MIXED[["whole"]].astype(float), CHUNKS[2]).to_dask_array()
    model = made("DaskSLMRegressor").fit(unknown, frames(y, CHUNKS[2]).to_dask_array())
    local = model.local_class(random_state=3, max_depth=4)
    assert_same(model, local.fit(MIXED[["whole"]].to_numpy(float), NUMBERS))
    model.fit(da.from_array(X, chunks=(200, 2)), da.from_array(NUMBERS, chunks=150))
    assert_same(model, local.fit(X, NUMBERS))


def test_rows_that_are_on_workers_already_may_stay_there(client: Client) -> None:
    there = client.persist([parted(X, CHUNKS[2]), parted(NUMBERS, CHUNKS[2])])
    model = made("DaskSLMRegressor").fit(*there)
    assert_same(model, model.local_class(random_state=3, max_depth=4).fit(X, NUMBERS))


def test_frames_that_are_on_workers_already_may_stay_there(client: Client) -> None:
    there = client.persist([frames(MIXED, CHUNKS[3]), frames(pd.Series(NUMBERS, index=MIXED.index), CHUNKS[3])])
    model = made("DaskSLMRegressor").fit(*there)
    assert_same(model, model.local_class(random_state=3, max_depth=4).fit(MIXED, NUMBERS))


def test_blocks_may_be_sparse(client: Client) -> None:
    rows = np.where(X > 0.5, X, 0.0)
    blocks = parted(rows, CHUNKS[3]).map_blocks(csr_matrix, meta=csr_matrix((0, 0)))
    model = made("DaskSLMRegressor").fit(blocks, parted(NUMBERS, CHUNKS[3]))
    assert_same(model, model.local_class(random_state=3, max_depth=4).fit(csr_matrix(rows), NUMBERS))


def test_a_generator_is_left_as_after_a_local_fit(client: Client) -> None:
    ours, theirs = np.random.RandomState(3), np.random.RandomState(3)
    for _ in range(2):
        model = made("DaskSLMRegressor", subspace="drawn", random_state=ours)
        model.fit(parted(X, CHUNKS[2]), parted(NUMBERS, CHUNKS[2]))
        assert_same(model, model.local_class(random_state=theirs, max_depth=4, subspace="drawn").fit(X, NUMBERS))


def test_auditions_choose_what_they_choose_on_one_machine(client: Client) -> None:
    settings = {"n_estimators": 2, "max_depth": 1, "n_projections": 1, "n_models": 2, "learning_rate": "auto"}
    chunks = (60,)  # of one worker: there are thousands of rounds, and each has exchanges
    model = made("DaskSLMBoostRegressor", **settings).fit(parted(X[:60], chunks), parted(NUMBERS[:60], chunks))
    local = model.local_class(random_state=3, **settings).fit(X[:60], NUMBERS[:60])
    assert_same(model, local)
    assert [one["scores"] for one in model.audition_] == [one["scores"] for one in local.audition_]


def test_several_fits_may_run_at_once_and_in_a_task(client: Client) -> None:
    def fit_there(X: Array, y: Array) -> Any:
        from distributed import worker_client

        with worker_client() as own:
            blocks = da.from_array(X, chunks=(200, 5)), da.from_array(y, chunks=200)
            return on_cluster.DaskSLMForestRegressor(n_estimators=2, random_state=1, client=own).fit(*blocks).to_local()

    found = client.gather([client.submit(fit_there, X, NUMBERS, pure=False) for _ in range(2)])
    for local in found:
        assert_same(local, clone(local).fit(X, NUMBERS))


def test_a_warm_start_goes_on(client: Client) -> None:
    chunks, name = CHUNKS[2], "DaskSLMBoostClassifier"
    model = made(name, warm_start=True).fit(parted(X, chunks), parted(CLASSES, chunks))
    model.set_params(n_estimators=7).fit(parted(X, chunks), parted(CLASSES, chunks))
    local = model.local_class(random_state=3, **{**SMALL[name], "n_estimators": 7}).fit(X, CLASSES)
    assert_same(model, local)


def test_more_threads_on_a_worker_give_the_same(client: Client) -> None:
    model = made("DaskSLMRegressor", n_jobs=2).fit(parted(X, CHUNKS[2]), parted(NUMBERS, CHUNKS[2]))
    assert_same(model, model.local_class(random_state=3, max_depth=4).fit(X, NUMBERS))
