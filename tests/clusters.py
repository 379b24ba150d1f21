"""A small cluster that tests of Dask share: three workers, each a process; a plugin of pytest."""

import logging
import warnings
from collections.abc import Iterator

import pytest
from distributed import Client, LocalCluster

N_WORKERS = 3


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
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
def shared_client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster) as client:
        yield client


@pytest.fixture
def client(shared_client: Client) -> Iterator[Client]:
    """The client of the cluster, whose workers are all there, and have nothing of ours when the test ends."""
    shared_client.wait_for_workers(N_WORKERS, timeout=600)
    yield shared_client
    assert_nothing_is_left(shared_client)


def assert_nothing_is_left(client: Client) -> None:
    """No session, no handler and no task of ours on any worker, and no task on the scheduler."""

    def ours(dask_worker: object) -> tuple[list[str], list[str]]:
        held = vars(dask_worker)
        return (
            [name for name in held["extensions"] if name == "sublearn"],
            [name for name in held["handlers"] if name.startswith("sublearn")],
        )

    assert set(map(str, client.run(ours).values())) == {"([], [])"}
    tasks = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
    assert [key for key in tasks if "take_block" in key or "run_part" in key] == []
