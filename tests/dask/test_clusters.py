"""What tests on clusters share: nothing of ours escapes it, and no test has another one's client by accident."""

import subprocess
import sys
from typing import Any

import pytest
from distributed import Client, LocalCluster, get_client, wait

import dask
from clusters import assert_nothing_is_left, closing_clusters, left_on
from documents import ROOT


def make_block(number: int) -> int:
    return number


def default_client() -> Any:
    """The client that fits take where none is named."""
    try:
        return get_client()
    except ValueError:
        return None


def test_tasks_of_ours_that_are_left_are_found(client: Client) -> None:
    held = [client.submit(int, key="sublearn-0", pure=False), client.persist(dask.delayed(make_block, pure=False)(1))]
    wait(held)
    with pytest.raises(AssertionError):
        assert_nothing_is_left(client, patience=0.5)
    assert {key.partition("-")[0] for key in left_on(client)} == {"sublearn", "make_block"}
    held.clear()
    assert_nothing_is_left(client)


def test_what_a_worker_has_of_ours_is_found(client: Client) -> None:
    client.run(lambda dask_worker: dask_worker.extensions.update(sublearn=1))
    assert left_on(client) == ["sublearn"] * len(client.nthreads())
    client.run(lambda dask_worker: dask_worker.extensions.pop("sublearn"))


def test_a_test_has_the_shared_client_where_it_asks_for_it(client: Client) -> None:
    with closing_clusters():
        Client(client.scheduler.address)
        assert default_client() is client


def test_a_test_that_does_not_ask_for_the_shared_client_does_not_have_it(shared_client: Client) -> None:
    assert default_client() is not shared_client


def test_clusters_that_failing_code_leaves_are_closed() -> None:
    made: list[Any] = []

    def fail() -> None:
        made.append(LocalCluster(n_workers=1, processes=False, dashboard_address=":0"))
        made.append(Client(made[0]))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), closing_clusters():
        fail()
    assert (made[0].status.name, made[1].status) == ("closed", "closed")


def test_tests_without_a_cluster_do_not_load_dask() -> None:
    program = "import sys, conftest, clusters, test_docs; print('distributed' in sys.modules)"
    folders = ["src", "tests", "tests/project"]
    paths = f"import sys; sys.path[:0] = {[str(ROOT / folder) for folder in folders]}; "
    done = subprocess.run([sys.executable, "-c", paths + program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
