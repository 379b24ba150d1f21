"""Cases of a kind in a process of their own, which may crash or hang: the next process goes on after such a case."""

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from fuzz.cases import FAILED, Outcome

PATIENCE = {"interrupts": 900.0}  # seconds without a line until a process is taken for stuck
USUAL_PATIENCE = 300.0  # the first fit may compile, on a machine that has other work


def run_cases(kind: str, seed: int, first: int, n_cases: int | None, end: float) -> Iterator[tuple[int, Outcome]]:
    """Numbers and outcomes, until the time is over or there were so many; one is run in any case."""
    number = first
    while number == first or time.monotonic() < end:
        process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.child", kind, str(seed), str(number)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            for outcome in _outcomes(process, PATIENCE.get(kind, USUAL_PATIENCE)):
                yield number, outcome
                number += 1
                if time.monotonic() >= end or number - first == n_cases:
                    return
        finally:
            process.kill()
            process.wait()


def _outcomes(process: "subprocess.Popen[str]", patience: float) -> Iterator[Outcome]:
    """Of the process, until it crashes or hangs, which is the last outcome."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    errors: list[str] = []
    for stream, take in ((process.stdout, lines.put), (process.stderr, errors.append)):
        threading.Thread(target=_read, args=(stream, take), daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=patience)
        except queue.Empty:
            yield Outcome(FAILED, f"hangs: no answer after {patience:.0f} s")
            return
        if not line:
            yield Outcome(FAILED, f"the process ended with {process.wait()}: {''.join(errors[-5:])}")
            return
        yield Outcome(*json.loads(line)[1:])


def _read(stream: Any, take: Any) -> None:
    for line in stream:
        take(line)
    take("")
