"""How many threads an estimator uses: all cores by default, and one where a pool divides them already."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config

from sublearn import SLMBoostRegressor, SLMForestClassifier
from sublearn._base import cores


def n_used(n_jobs: int | None = None) -> int:
    """Threads of an estimator."""
    return int(SLMBoostRegressor(n_jobs=n_jobs)._workers().n_threads)


@pytest.fixture(autouse=True)
def three_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "n_cores", lambda: 3)
    for name in cores.LIMITS:
        monkeypatch.delenv(name, raising=False)


def test_all_cores_are_used_by_default_and_no_more_than_there_are() -> None:
    found = {n_jobs: n_used(n_jobs) for n_jobs in (None, 1, 2, 3, 4, 2**70)}
    assert found == {None: 3, 1: 1, 2: 2, 3: 3, 4: 3, 2**70: 3}


@pytest.mark.parametrize(("text", "expected"), [("2", 2), ("1", 1), ("9", 3), ("0", 3), ("many", 3), ("", 3)])
@pytest.mark.parametrize("name", cores.LIMITS)
def test_limits_of_the_environment_hold_where_nothing_is_said(
    name: str, text: str, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, text)
    assert n_used() == expected
    assert n_used(3) == 3


def test_joblib_s_configuration_is_heard() -> None:
    with parallel_config(n_jobs=2):
        assert n_used() == 2


def test_thread_of_a_pool_uses_one_core() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(n_used).result() == 1
        assert pool.submit(n_used, 2).result() == 2
    assert Parallel(2, prefer="threads")(delayed(n_used)() for _ in range(2)) == [1, 1]


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_process_of_a_pool_uses_its_share(backend: str) -> None:
    n = os.cpu_count() or 1
    assert Parallel(n, backend=backend)(delayed(n_used)() for _ in range(2)) == [1, 1]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes cannot be kept from cores there")
def test_process_kept_to_one_core_has_one_thread() -> None:
    program = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from sublearn import SLMBoostRegressor
print(SLMBoostRegressor(n_jobs=2)._workers().n_threads, SLMBoostRegressor()._workers().n_threads)
"""
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "1 1\n"


def test_default_threads_make_the_model_of_one() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 5)), rng.integers(0, 3, 3000)
    several, one = (SLMForestClassifier(n_estimators=4, random_state=0, n_jobs=n).fit(X, y) for n in (None, 1))
    assert np.array_equal(several.predict_proba(X), one.predict_proba(X))
