"""Workers that are lost in the middle of a fit: it goes on with the others, or says so, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from distributed import Client

import dask
import faults
from clusters import assert_nothing_is_left
from documents import ROOT
from faulty import (
    PATIENCE,
    Processes,
    local_cluster,
    n_waiting,
    plant,
    processes,
    unplant,
    wait_for_all,
    wait_until,
    wait_until_nothing_is_left,
)
from linked_fits import divide, undo
from sublearn import dask as on_cluster
from sublearn.core.tree import grower
from sublearn.dask import WorkerLostError, asking, driver
from sublearn.dask.program import digest_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes and threads cannot be sent signals there")

RNG = np.random.default_rng(3)
N, N_WORKERS = 300, 3
X = RNG.normal(size=(N, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * RNG.normal(size=N)
FEW: dict[str, dict[str, Any]] = {
    "DaskSLMRegressor": {"max_depth": 4},
    "DaskSLMForestRegressor": {"n_estimators": 8},
    "DaskSLMBoostRegressor": {"n_estimators": 6, "learning_rate": 0.3},
}


@pytest.fixture(scope="module")
def nannies() -> Iterator[Client]:
    with local_cluster(N_WORKERS) as client:
        yield client


@pytest.fixture
def client(nannies: Client) -> Iterator[Client]:
    """A client of workers that come back, when they have."""
    wait_for_all(nannies, N_WORKERS)
    yield nannies
    unplant(nannies)
    wait_until_nothing_is_left(nannies)


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Processes, Client]]:
    """Workers without nannies."""
    with processes(tmp_path_factory.mktemp("cluster"), 2) as found:
        yield found


@pytest.fixture
def alone(group: tuple[Processes, Client]) -> Iterator[tuple[Processes, Client]]:
    """Two workers that do not come back, whatever a test before has made of them."""
    there, client = group
    there.bring_to(2, client)
    yield group
    unplant(client)
    wait_until_nothing_is_left(client)


def made(name: str, client: Client, **changes: Any) -> Any:
    return getattr(on_cluster, name)(**{"random_state": 1, "client": client, **FEW[name], **changes})


def blocks() -> tuple[da.Array, da.Array]:
    return da.from_array(X, chunks=(60, 4)), da.from_array(Y, chunks=60)


def assert_local(model: Any) -> None:
    local = model.local_class(**{k: v for k, v in model.get_params().items() if k not in ("client", "on_lost")})
    assert digest_of(model._model) == digest_of(local.fit(X, Y)._model)


@pytest.mark.parametrize(
    ("name", "step", "number"),
    [
        ("DaskSLMRegressor", "takes a block", 1),
        ("DaskSLMRegressor", "sends", 9),
        ("DaskSLMForestRegressor", "notes a tree", 4),
        ("DaskSLMBoostRegressor", "begins", 1),
        ("DaskSLMBoostRegressor", "notes a tree", 3),
    ],
)
def test_a_fit_goes_on_without_a_worker_that_is_killed(client: Client, name: str, step: str, number: int) -> None:
    plant(client, [sorted(client.nthreads())[1]], step, number, "die")
    model = made(name, client).fit(*blocks())
    assert model.n_lost_ >= 1
    assert_local(model)


def test_two_workers_that_are_killed_at_once_leave_one_that_goes_on(client: Client) -> None:
    plant(client, sorted(client.nthreads())[:2], "notes a tree", 2, "die")
    model = made("DaskSLMBoostRegressor", client).fit(*blocks())
    assert 1 <= model.n_lost_ <= 2
    assert_local(model)


def test_when_all_workers_are_killed_those_that_come_back_fit(client: Client) -> None:
    plant(client, list(client.nthreads()), "notes a tree", 2, "die")
    model = made("DaskSLMBoostRegressor", client).fit(*blocks())
    assert model.n_lost_ >= 1
    assert_local(model)


def test_a_fit_that_is_to_raise_says_who_was_lost_and_stays_as_it_was(client: Client) -> None:
    lost = sorted(client.nthreads())[2]
    plant(client, [lost], "notes a tree", 2, "die")
    model = made("DaskSLMBoostRegressor", client, on_lost="raise")
    before = dict(vars(model))
    with pytest.raises(WorkerLostError, match=rf"^DaskSLMBoostRegressor.fit: worker {lost} was lost"):
        model.fit(*blocks())
    assert vars(model) == before


def test_one_seed_is_drawn_for_a_fit_that_begins_anew(client: Client) -> None:
    plant(client, [sorted(client.nthreads())[0]], "notes a tree", 3, "die")
    np.random.seed(5)
    model = made("DaskSLMBoostRegressor", client, random_state=None).fit(*blocks())
    assert model.n_lost_ >= 1
    after = np.random.random_sample()
    np.random.seed(5)
    assert_local(model)
    assert after == np.random.random_sample()  # both have drawn as much


def test_rows_persisted_on_a_worker_that_is_killed_are_computed_again(client: Client) -> None:
    there = client.persist(list(blocks()))
    plant(client, [sorted(client.nthreads())[0]], "notes a tree", 2, "die")
    model = made("DaskSLMBoostRegressor", client).fit(*there)
    assert model.n_lost_ >= 1
    assert_local(model)


@pytest.mark.parametrize("step", ["takes a block", "notes a tree"])
def test_rows_of_one_source_are_read_again_elsewhere(client: Client, step: str) -> None:
    source = dask.delayed(lambda: np.column_stack([X, Y]), pure=True)()
    rows = da.concatenate([da.from_delayed(source[at : at + 60], (60, 5), float) for at in range(0, N, 60)])
    plant(client, [sorted(client.nthreads())[0]], step, 2, "die")
    model = made("DaskSLMBoostRegressor", client).fit(rows[:, :4], rows[:, 4])
    assert model.n_lost_ >= 1
    assert_local(model)


def test_rows_that_were_scattered_and_lost_for_good_are_an_error(client: Client) -> None:
    lost, *others = sorted(client.nthreads())
    parts = [X[:150], X[150:]]
    held = [client.scatter(part, workers=[who], hash=False) for part, who in zip(parts, (lost, others[0]), strict=True)]
    rows = da.concatenate(
        [da.from_delayed(future, part.shape, part.dtype) for future, part in zip(held, parts, strict=True)]
    )
    model = made("DaskSLMBoostRegressor", client)
    plant(client, [lost], "notes a tree", 2, "die")
    with pytest.raises(WorkerLostError, match="rows that were put on workers were lost"):
        model.fit(rows, da.from_array(Y, chunks=150))
    assert not hasattr(model, "_model")


# --- workers that do not come back


def test_a_worker_that_is_retired_is_left_out(alone: tuple[Processes, Client]) -> None:
    there, client = alone
    there.bring_to(3, client)
    retired = sorted(client.nthreads())[0]
    plant(client, [retired], "notes a tree", 2, "wait")
    model = made("DaskSLMBoostRegressor", client)
    thread = threading.Thread(target=model.fit, args=blocks())
    thread.start()
    wait_until(lambda: n_waiting(client) == 1)
    client.retire_workers([retired])
    thread.join(PATIENCE)
    assert model.n_lost_ >= 1
    assert_local(model)


def test_what_a_client_that_is_killed_has_begun_ends_by_itself(alone: tuple[Processes, Client]) -> None:
    there, client = alone
    plant(client, list(client.nthreads()), "notes a tree", 2, "wait")
    process = begin_elsewhere(there)
    wait_until(lambda: n_waiting(client) == 2)
    process.kill()
    process.wait()
    wait_until_nothing_is_left(client)


def test_an_interrupt_ends_a_fit_and_leaves_the_estimator_as_it_was(alone: tuple[Processes, Client]) -> None:
    _, client = alone
    model = made("DaskSLMBoostRegressor", client, warm_start=True).fit(*blocks())
    before, trees = dict(vars(model)), model.ensemble_
    model.set_params(n_estimators=9)
    plant(client, list(client.nthreads()), "notes a tree", 2, "wait")

    def interrupt() -> None:
        wait_until(lambda: n_waiting(client) == 2)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread, handler = threading.Thread(target=interrupt), signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us without it
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            model.fit(*blocks())
        thread.join()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert_nothing_is_left(client)
    unplant(client)
    assert vars(model) == {**before, "n_estimators": 9}
    assert model.ensemble_ is trees
    assert_local(model.fit(*blocks()))


@pytest.mark.parametrize("at", ["_lay_out", "_taking", "_compute", "_have_parts_run", "_result_of"])
def test_an_interrupt_at_any_step_leaves_nothing(
    alone: tuple[Processes, Client], at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, client = alone
    step = getattr(driver._Run, at)

    def interrupted(self: Any, *given: Any) -> Any:
        step(self, *given)
        raise KeyboardInterrupt

    monkeypatch.setattr(driver._Run, at, interrupted)
    model = made("DaskSLMRegressor", client)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*blocks())
    assert not hasattr(model, "_model")


@pytest.fixture
def exchanging(alone: tuple[Processes, Client]) -> Iterator[Client]:
    """Three workers that do not come back, and may be told to exchange every step of a tree."""
    there, client = alone
    there.bring_to(3, client)
    yield client
    client.run(undo, grower.GATHERED)


@pytest.mark.parametrize(
    ("name", "down_to_leaves", "number"),
    [
        ("DaskSLMRegressor", False, 40),
        ("DaskSLMRegressor", True, 40),
        ("DaskSLMRegressor", True, 70),
        ("DaskSLMBoostRegressor", False, 40),
        ("DaskSLMBoostRegressor", True, 70),
    ],
)
def test_a_fit_whose_every_step_is_exchanged_goes_on_without_a_worker_that_dies_in_a_tree(
    exchanging: Client, name: str, down_to_leaves: bool, number: int
) -> None:
    exchanging.run(divide, down_to_leaves)
    plant(exchanging, [sorted(exchanging.nthreads())[1]], "sends", number, "die")
    model = made(name, exchanging).fit(*blocks())
    assert model.n_lost_ >= 1
    assert len(model.traffic_) == 2
    assert_local(model)


def test_the_benchmark_has_more_rows_than_workers_gather() -> None:
    assert 2 * faults.N_FEATURES * faults.N_ROWS > grower.GATHERED  # codes alone, of two bytes


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[tuple[Processes, Client]]:
    """A worker, and a scheduler, that a test may kill: no other test has them, in whatever order tests run."""
    with processes(tmp_path, 1) as found:
        yield found


def test_without_a_worker_or_a_scheduler_a_fit_ends_with_an_error(
    doomed: tuple[Processes, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    there, client = doomed
    monkeypatch.setattr(asking, "WAIT", 2.0)
    model = made("DaskSLMBoostRegressor", client)
    plant(client, list(client.nthreads()), "notes a tree", 2, "die")
    with pytest.raises(WorkerLostError, match="there is no worker"):
        model.fit(*blocks())
    there.workers.append(there.add())
    client.wait_for_workers(1, timeout=PATIENCE)
    (address,) = client.nthreads()
    plant(client, [address], "notes a tree", 2, "wait")

    def lose() -> None:
        wait_until(lambda: n_waiting(client) == 1)
        there.scheduler.kill()

    thread = threading.Thread(target=lose)
    thread.start()
    with pytest.raises(WorkerLostError, match="the scheduler"):
        model.fit(*blocks())
    thread.join()
    assert not hasattr(model, "_model")


def begin_elsewhere(there: Processes) -> Any:
    """A client in a process of its own, which fits."""
    program = (
        "import sys, dask.array as da, numpy as np\n"
        "from distributed import Client\n"
        "from sublearn.dask import DaskSLMBoostRegressor\n"
        "X = np.random.default_rng(0).normal(size=(300, 4))\n"
        "blocks = da.from_array(X, chunks=(60, 4)), da.from_array(X[:, 0], chunks=60)\n"
        "with Client(scheduler_file=sys.argv[1]) as client:\n"
        "    DaskSLMBoostRegressor(n_estimators=9, learning_rate=0.3, client=client).fit(*blocks)\n"
    )
    command = [sys.executable, "-c", program, str(there.file)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})
