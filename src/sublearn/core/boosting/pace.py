"""How many threads a round of boosting is shared by: fewer, where others use the cores too.

Threads that work on one tree wait for each other many times. On a machine that is busy with something else, the one
that is waited for may have lost its core for milliseconds, and a round can take longer than one thread by itself. So
rounds are timed, and now and then some are tried with fewer threads, or with more again. Models do not depend on it.
"""

import time
from statistics import median

from sublearn.core.parallel import Workers

N_TRIED = 3  # rounds with another number of threads, before it is judged
FIRST = 2  # rounds before anything is tried
ROUNDS_BETWEEN = 32  # rounds between two tries, twice as many each time that nothing is found
CROWDED = 0.75  # of the time that threads were given; where they got less, others may have had it
BETTER = 0.95  # share of the usual time that another number of threads must keep to, to become the usual one


class Pace:
    """Chooses the number of threads for each round; `with pace:` around a round."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._n_usual = workers.n_active
        self._times: dict[int, list[float]] = {}  # seconds of the latest rounds, by number of threads
        self._n_rounds = FIRST  # until the next try, or to the end of this one
        self._patience = ROUNDS_BETWEEN

    def __enter__(self) -> None:
        if self._workers.n_threads > 1:
            self._began = time.perf_counter(), self._computed()

    def __exit__(self, *error: object) -> None:
        if self._workers.n_threads > 1:
            computed = self._computed() - self._began[1]
            self.note(time.perf_counter() - self._began[0], computed)

    def _computed(self) -> float:
        """Seconds for which all threads have computed, asked for where they count: on some systems that takes long."""
        return time.process_time() if self._n_rounds <= 1 else 0.0

    def note(self, seconds: float, computed: float) -> None:
        """Note a round: how many seconds it took, and for how many all threads together computed."""
        n = self._workers.n_active
        self._times[n] = [*self._times.get(n, [])[1 - N_TRIED :], seconds]
        self._n_rounds -= 1
        if self._n_rounds > 0:
            return
        if n != self._n_usual:
            self._compare(n)
        elif n > 1 and computed < CROWDED * n * seconds:
            self._try(n // 2, N_TRIED)
        elif n < self._workers.n_threads:  # what kept the cores busy may be gone
            self._try(min(2 * n, self._workers.n_threads), 1)

    def _compare(self, n: int) -> None:
        """Go on with the number of threads just tried if it was faster, or else with the usual one."""
        if median(self._times[n]) < BETTER * median(self._times[self._n_usual]):
            self._n_usual, self._patience, self._n_rounds = n, ROUNDS_BETWEEN, FIRST
        else:
            self._patience *= 2
            self._n_rounds = self._patience
        self._workers.n_active = self._n_usual

    def _try(self, n: int, n_rounds: int) -> None:
        self._times.pop(n, None)
        self._workers.n_active, self._n_rounds = n, n_rounds
