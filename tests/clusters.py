"""A small cluster that tests of Dask share: three workers, each a process; a plugin of pytest.

Every process of the tests has this plugin, so it loads Dask only where a test asks for a cluster.
"""

import logging
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

N_WORKERS = 3
CLEAN = 10.0  # seconds in which a scheduler forgets tasks that nobody wants any more
OURS = ("sublearn-", "take_block-", "make_block-", "run_part-")  # what is in keys of tasks of ours


@pytest.fixture(scope="session")
def cluster() -> "Iterator[LocalCluster]":
    from distributed import LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ports that others use, and of clusters that close slowly
        with LocalCluster(
            n_workers=N_WORKERS,
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit="2GiB",
            silence_logs=logging.CRITICAL,
        ) as cluster:
            yield cluster


@pytest.fixture(scope="session")
def shared_client(cluster: "LocalCluster") -> "Iterator[Client]":
    """The client of the cluster, which is the default of no test that has not asked for it."""
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def client(shared_client: "Client") -> "Iterator[Client]":
    """The client of the cluster, whose workers are all there, and have nothing of ours when the test ends."""
    shared_client.wait_for_workers(N_WORKERS, timeout=600)
    with shared_client.as_current():
        yield shared_client
    assert_nothing_is_left(shared_client)


def assert_nothing_is_left(client: "Client", patience: float = CLEAN) -> None:
    """No session, no handler and no task of ours on any worker, and no task on the scheduler."""
    end = time.monotonic() + patience
    while left := left_on(client):
        assert time.monotonic() < end, left
        time.sleep(0.05)


def left_on(client: "Client") -> list[str]:
    """What there is of ours on workers and on the scheduler."""

    def ours(dask_worker: Any) -> list[str]:
        held = [*dask_worker.extensions, *dask_worker.handlers, *map(str, dask_worker.state.tasks)]
        return [name for name in held if name.startswith("sublearn") or any(part in name for part in parts)]

    parts = OURS
    answers = client.run(ours, on_error="ignore")
    left = [name for names in answers.values() for name in names]
    tasks: list[str] = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
    return left + [key for key in tasks if any(part in key for part in parts)]


@contextmanager
def closing_clusters() -> Iterator[None]:
    """Close clients and clusters that are made in here and left open, as by code that fails."""
    before = set(_made())
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what closes slowly
            for one in _made():
                if one not in before:
                    with suppress(Exception):
                        one.close()


def _made() -> list[Any]:
    """The clients of this process, then its clusters."""
    if "distributed" not in sys.modules:
        return []
    from distributed import Client, SpecCluster

    return [*Client._instances, *SpecCluster._instances]
