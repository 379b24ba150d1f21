"""What the client asks of the scheduler and of workers: who is there, who takes tasks, and to call a function."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from distributed import Client

from sublearn.core.links import LostError
from sublearn.dask.errors import WorkerLostError

PAUSE = 0.5  # seconds between two looks at which workers there are
PATIENCE = 5.0  # seconds that workers have to notice that a run has ended
WAIT = 20.0  # seconds in which workers may come back, or have memory again, where none takes tasks


def workers_of(client: Client) -> list[str]:
    """Addresses of all workers; raises LostError where the scheduler is gone."""
    if client.status == "running":
        with suppress(OSError, AttributeError):  # it is None where the client closes at this moment
            return sorted(client.nthreads())
    raise LostError("the scheduler was lost")


def ready_workers(client: Client) -> list[str]:
    """Addresses of the workers that take tasks; none that is paused, or closes soon. There may be none."""
    if client.status == "running":
        with suppress(OSError, AttributeError):
            return sorted(client.sync(client.scheduler.ncores_running))
    return []


def wait_for_workers(owner: str, client: Client) -> list[str]:
    """The workers that take tasks, once there is one."""
    end = time.monotonic() + WAIT
    while not (found := ready_workers(client)):
        if time.monotonic() > end:
            raise WorkerLostError(f"{owner}.fit: {_nobody(client)}, for {WAIT:.0f} seconds.")
        time.sleep(PAUSE)
    return found


def _nobody(client: Client) -> str:
    """Why no worker takes tasks."""
    try:
        n_workers = len(workers_of(client))
    except LostError:
        return "the scheduler is not there"
    if n_workers:
        return f"none of the {n_workers} workers takes tasks: they are short of memory, or close"
    return "there is no worker"


def ask(
    client: Client, addresses: Sequence[str], function: Callable[..., Any], *given: Any, patience: float = PATIENCE
) -> dict[str, Any]:
    """Call a function on those of some workers that are there.

    Returns what each has returned, or the error that it has raised; nothing of those that are lost meanwhile, or do not
    answer in time.
    """
    if client.status != "running":
        return {}

    async def call() -> dict[str, Any]:
        present, end = await client.nthreads(), time.monotonic() + patience
        each = {
            address: asyncio.ensure_future(_ask_one(client, address, function, given))
            for address in addresses
            if address in present
        }
        try:
            while time.monotonic() < end:
                present = await client.nthreads()
                left = [one for address, one in each.items() if address in present and not one.done()]
                if not left:
                    break
                await asyncio.wait(left, timeout=PAUSE)
            return {address: one.result() for address, one in each.items() if one.done()}
        finally:
            for one in each.values():
                one.cancel()

    try:
        found: dict[str, Any] = client.sync(call)
        return found
    except (OSError, ValueError, AttributeError):  # the scheduler is gone
        return {}


async def _ask_one(client: Client, address: str, function: Callable[..., Any], given: Sequence[Any]) -> Any:
    found = await client.run(function, *given, workers=[address], on_error="return")
    return found.get(address)
