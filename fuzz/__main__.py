"""The command: `python -m fuzz --minutes 10`, or one case again: `python -m fuzz --only tables --seed 0 --case 17`."""

import argparse
import re
import sys
import time
from collections import Counter

from fuzz.cases import FAILED, Outcome
from fuzz.runner import run_cases

KINDS = ("parameters", "tables", "weights", "interrupts", "files")


class Tally:
    """What has come of the cases of a kind; failures are told once for each that looks different."""

    def __init__(self, kind: str, seed: int) -> None:
        self.kind, self.seed = kind, seed
        self.statuses: Counter[str] = Counter()
        self.alike: Counter[str] = Counter()
        self.slowest = 0.0

    def add(self, number: int, outcome: Outcome) -> None:
        """Count a case."""
        self.statuses[outcome.status] += 1
        self.slowest = max(self.slowest, outcome.seconds)
        if outcome.status == FAILED:
            sign = re.sub(r"\d+|SLM\w+", "0", outcome.text.splitlines()[0])[:70]
            self.alike[sign] += 1
            if self.alike[sign] == 1:
                again = f"python -m fuzz --only {self.kind} --seed {self.seed} --case {number}"
                print(f"{self.kind} {number}: {outcome.text}\n  again: {again}", flush=True)

    def row(self) -> str:
        """A line of the table."""
        slowest = f"{self.slowest:.2f} s" if self.slowest else ""
        cells = (self.statuses.total(), *(self.statuses[s] for s in ("passed", "refused", "unfinished", FAILED)))
        return f"{self.kind:<12}" + "".join(f"{cell:>12,}" for cell in cells) + f"{len(self.alike):>12}{slowest:>12}"


def main() -> None:
    """Kind after kind, then a table; the exit code is 1 if anything failed."""
    options = _options()
    kinds = [options.only] if options.only else list(KINDS)
    tallies = []
    for kind in kinds:
        tally = Tally(kind, options.seed)
        tallies.append(tally)
        first, n_cases = (options.case, 1) if options.case is not None else (0, options.cases)
        end = time.monotonic() + 60 * options.minutes / len(kinds)
        for number, outcome in run_cases(kind, options.seed, first, n_cases, end):
            tally.add(number, outcome)
            if options.case is not None:
                print(f"{outcome.status} {outcome.text}")
    heads = ("cases", "passed", "refused", "unfinished", "failed", "different", "slowest end")
    print(f"{'kind':<12}" + "".join(f"{head:>12}" for head in heads))
    print("\n".join(tally.row() for tally in tallies))
    sys.exit(any(tally.statuses[FAILED] for tally in tallies))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Throw anything at the estimators.")
    parser.add_argument("--minutes", type=float, default=4.0, help="for all kinds together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=KINDS, help="one kind")
    parser.add_argument("--cases", type=int, help="of each kind, at the most")
    parser.add_argument("--case", type=int, help="the number of one case, with --only")
    options = parser.parse_args()
    if options.case is not None and options.only is None:
        parser.error("--case needs --only KIND")
    return options


if __name__ == "__main__":
    main()
