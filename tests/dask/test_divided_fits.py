"""Fits of which partitions exchange every step, as they do of large tables: the model of the local twin to the bit."""

import logging
from collections.abc import Iterator
from typing import Any

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from linked_fits import divide, undo
from sublearn import dask as on_cluster
from sublearn.core.tree import grower
from sublearn.dask import session
from sublearn.dask.program import digest_of

RNG = np.random.default_rng(5)
N = 600
X = RNG.normal(size=(N, 6))
X[RNG.random(X.shape) < 0.05] = np.nan
SIGNAL = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) ** 2
NUMBERS = SIGNAL + 0.1 * RNG.normal(size=N)
CLASSES = np.array(["few", "many", "some"])[np.digitize(SIGNAL, [0.2, 1.5])]
WEIGHTS = RNG.integers(0, 4, N).astype(float)
CHUNKS = (40, 0, 300, 7, N - 347)
SMALL: dict[str, dict[str, Any]] = {
    "DaskSLMClassifier": {"max_depth": 5},
    "DaskSLMRegressor": {"max_depth": 5},
    "DaskSLMForestClassifier": {"n_estimators": 2},
    "DaskSLMForestRegressor": {"n_estimators": 2, "bootstrap": True},
    "DaskSLMBoostClassifier": {"n_estimators": 2, "learning_rate": 0.3},
    "DaskSLMBoostRegressor": {"n_estimators": 3, "learning_rate": 0.3},
}


@pytest.fixture(params=[True, False], ids=["down to leaves", "down to small nodes"])
def down_to_leaves(client: Client, request: pytest.FixtureRequest) -> Iterator[bool]:
    """The cluster gathers the samples of no tree, and those of small nodes alone or not even these."""
    client.run(divide, request.param)
    yield request.param
    client.run(undo, grower.GATHERED)


@pytest.mark.parametrize("name", SMALL)
def test_fits_whose_every_step_is_exchanged_give_the_local_model(name: str, down_to_leaves: bool) -> None:
    y, given = (CLASSES if name.endswith("Classifier") else NUMBERS), {"random_state": 3, **SMALL[name]}
    parts = [da.from_array(values, chunks=(CHUNKS, *values.shape[1:])) for values in (X, y, WEIGHTS)]
    model = getattr(on_cluster, name)(**given).fit(*parts)
    local = model.local_class(**given).fit(X, y, WEIGHTS)
    assert digest_of(model._model) == digest_of(local._model)
    if down_to_leaves:  # where samples are gathered, half of that is not reached
        assert model.traffic_[0].n_bytes > 1_000_000


@pytest.mark.parametrize("name", ["DaskSLMClassifier", "DaskSLMBoostRegressor"])
def test_workers_of_one_process_do_not_change_what_others_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among them Dask hands on the very arrays, and copies nothing."""
    monkeypatch.setattr(session, "SMALL", 0)  # so that all go beside a message
    monkeypatch.setattr(grower, "GATHERED", 0)
    y, given = (CLASSES if name.endswith("Classifier") else NUMBERS), {"random_state": 3, **SMALL[name]}
    parts = [da.from_array(values, chunks=(CHUNKS, *values.shape[1:])) for values in (X, y, WEIGHTS)]
    how = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=3, **how) as cluster, Client(cluster, set_as_default=False) as client:
        model = getattr(on_cluster, name)(**given, client=client).fit(*parts)  # and no other client is there
        score = model.score(*client.persist(parts))
    local = model.local_class(**given).fit(X, y, WEIGHTS)
    assert digest_of(model._model) == digest_of(local._model)
    assert score == pytest.approx(local.score(X, y, WEIGHTS), rel=1e-12)
