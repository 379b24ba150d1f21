"""What users do with estimators of Dask beside a plain fit, mistakes included."""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import TimeoutError as NotYetError
from contextlib import contextmanager
from typing import Any

import dask.array as da
import numpy as np
import pytest
from distributed import Client, get_worker
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import dask
from sublearn import SLMRegressor
from sublearn.dask import DaskSLMBoostRegressor, DaskSLMRegressor, driver
from sublearn.dask.links import DaskLinks
from sublearn.dask.program import digest_of

RNG = np.random.default_rng(11)
N = 400
X = RNG.normal(size=(N, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2]
ROWS, NUMBERS = da.from_array(X, chunks=(100, 4)), da.from_array(Y, chunks=100)


@contextmanager
def changed(client: Client, change: Callable[[], Any], undo: Callable[[], Any]) -> Iterator[str]:
    """The address of a worker, on which something is changed for a while."""
    address = sorted(client.nthreads())[1]
    client.run(change, workers=[address])
    try:
        yield address
    finally:
        client.run(undo, workers=[address])


def test_a_task_that_fits_leaves_its_thread_to_the_fit(client: Client) -> None:
    fit = client.submit(lambda: DaskSLMRegressor(max_depth=3, random_state=0).fit(ROWS, NUMBERS), pure=False)
    found = fit.result(timeout=60)  # on workers of one thread each
    assert digest_of(found._model) == digest_of(SLMRegressor(max_depth=3, random_state=0).fit(X, Y)._model)


@pytest.mark.usefixtures("client")
def test_a_grid_is_searched_as_with_the_local_twin() -> None:
    given = {"max_depth": [1, 4]}
    search = GridSearchCV(DaskSLMRegressor(random_state=0), given, cv=2, error_score="raise").fit(ROWS, NUMBERS)
    local = GridSearchCV(SLMRegressor(random_state=0), given, cv=2, error_score="raise").fit(X, Y)
    assert search.best_params_ == local.best_params_
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], local.cv_results_["mean_test_score"])


@pytest.mark.usefixtures("client")
def test_a_fit_keeps_what_others_have_put_on_the_estimator() -> None:
    with config_context(enable_metadata_routing=True):
        model = DaskSLMRegressor(max_depth=2).set_fit_request(sample_weight=True)
        model.note = "mine"
        for one in (model.fit(ROWS, NUMBERS), clone(model), clone(model.fit(ROWS, NUMBERS))):
            assert one.get_metadata_routing().fit.requests["sample_weight"] is True
    assert model.note == "mine"
    assert not hasattr(model.to_local(), "note")


@pytest.mark.usefixtures("client")
def test_samples_to_validate_on_may_be_lists() -> None:
    model = DaskSLMBoostRegressor(n_estimators=2, learning_rate=0.3, random_state=0)
    found = [
        clone(model).fit(ROWS, NUMBERS, eval_set=pair).validation_score_
        for pair in ((X[:50], Y[:50]), (X[:50].tolist(), Y[:50].tolist()))
    ]
    assert found[0].tolist() == found[1].tolist()


def test_workers_of_another_version_are_named(client: Client) -> None:
    def change() -> None:
        import sublearn

        sublearn.own_version, sublearn.__version__ = sublearn.__version__, "0.0.7"  # type: ignore[attr-defined]

    def undo() -> None:
        import sublearn

        sublearn.__version__ = sublearn.own_version  # type: ignore[attr-defined]

    with changed(client, change, undo) as address, pytest.raises(RuntimeError, match=rf"on {address} .*it has 0.0.7"):
        DaskSLMRegressor().fit(ROWS, NUMBERS)


def test_workers_that_cannot_load_the_package_are_named(client: Client) -> None:
    def change() -> None:
        sys.modules["sublearn.dask.session"] = None  # type: ignore[assignment]

    def undo() -> None:
        del sys.modules["sublearn.dask.session"]

    with changed(client, change, undo) as address, pytest.raises(RuntimeError, match=rf"{address} .*ModuleNotFound"):
        DaskSLMRegressor().fit(ROWS, NUMBERS)


def set_pause(dask_worker: Any, fraction: float) -> None:
    dask_worker.memory_manager.memory_pause_fraction = fraction


def test_a_worker_that_lacks_memory_and_begins_nothing_is_named(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def block() -> Any:
        set_pause(get_worker(), 1e-6)  # as if rows that were taken had filled it
        time.sleep(0.5)
        return X[:100]

    monkeypatch.setattr(driver, "STUCK", 1.0)
    rows = da.concatenate([da.from_delayed(dask.delayed(block, pure=False)(), (100, 4), float) for _ in range(12)])
    try:
        with pytest.raises(
            MemoryError, match=r"worker tcp:.* begins no more tasks, since it uses \d+ of its 2,048 MiB"
        ):
            DaskSLMRegressor(client=client).fit(rows, da.from_array(np.tile(Y[:100], 12), chunks=100))
    finally:
        client.run(set_pause, fraction=0.8)


def test_an_answer_that_comes_when_nobody_waits_any_more_is_taken() -> None:
    class Late:
        """What is done between the end of a wait and the look at it."""

        def __init__(self) -> None:
            self.n_asked = 0

        def result(self, timeout: float | None = None) -> str:
            self.n_asked += 1
            if self.n_asked == 1:
                raise NotYetError
            return "answer"

        def done(self) -> bool:
            return True

    assert DaskLinks._answer_of(Late(), lambda: False) == "answer"  # type: ignore[arg-type]
