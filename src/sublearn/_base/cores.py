"""How many threads an estimator uses.

Models do not depend on it, so the default is all cores that this process may use, by its affinity and its share of a
container. A process or thread of a pool leaves the others their cores: joblib and Dask tell their processes how many
threads each may have by OMP_NUM_THREADS, and where nothing is told it is one.
"""

import os
from functools import cache
from multiprocessing import parent_process
from threading import current_thread, main_thread

from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend

LIMITS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")  # variables that limit the threads of a process


@cache
def n_cores() -> int:
    """Cores that this process may use."""
    return int(cpu_count())


def n_threads(n_jobs: int | None) -> int:
    """Threads for a parameter n_jobs: as many as it says, but no more than there are cores."""
    wanted = usual_threads() if n_jobs is None else effective_n_jobs(n_jobs)
    return 1 if wanted == 1 else min(wanted, n_cores())


def usual_threads() -> int:
    """Threads where the estimator does not say how many."""
    backend, told = get_active_backend()
    if told is not None:  # by joblib.parallel_config
        return int(effective_n_jobs(None))
    limits = [int(text) for text in map(os.environ.get, LIMITS) if text and text.isdecimal() and int(text) > 0]
    if limits:
        return min(limits)
    is_in_a_pool = backend.nesting_level or parent_process() is not None or current_thread() is not main_thread()
    return 1 if is_in_a_pool else n_cores()
