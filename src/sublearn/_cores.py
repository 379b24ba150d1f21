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
    wanted = effective_n_jobs(n_jobs)  # for None, what joblib.parallel_config says, or 1
    if n_jobs is None and wanted == 1:
        wanted = usual_threads()
    return 1 if wanted == 1 else min(wanted, n_cores())


def usual_threads() -> int:
    """Threads where nobody says how many."""
    limits = [int(text) for text in map(os.environ.get, LIMITS) if text and text.isdecimal() and int(text) > 0]
    if limits:
        return min(limits)
    return 1 if _is_in_a_pool() else n_cores()


def _is_in_a_pool() -> bool:
    """Whether this is one of several processes or threads that somebody has started to share the cores."""
    is_alone = parent_process() is None and current_thread() is main_thread()
    return not is_alone or bool(get_active_backend()[0].nesting_level)
