"""`python -m fuzz.child KIND SEED FIRST`: case after case, a line of JSON for each; the parent ends it."""

import json
import resource
import sys
from itertools import count

from fuzz.kinds import run_case

MEMORY = 8 * 2**30  # bytes; what asks for more fails, instead of making the machine fail


def main() -> None:
    """Until it is killed."""
    kind, seed, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if kind != "interrupts" and sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number in count(first):
        print(json.dumps([number, *run_case(kind, seed, number)]), flush=True)


if __name__ == "__main__":
    main()
