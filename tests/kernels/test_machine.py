"""The state machine: which operation follows which."""

import numpy as np
import pytest

from sublearn.kernels import machine
from sublearn.kernels.compilation import plain
from sublearn.kernels.front import DESCRIBED, FITTED, N_FLAGS, RANGED, SIZE, TRIED, UNRACED
from sublearn.kernels.machine import NAMES, ROOT, SUBTREES

advance, is_exchanged = plain(machine.advance), plain(machine.is_exchanged)

UNRACED_STEPS = "OPEN VIEW_RANGES VIEW_SUMS SUBSPACES"
LAST_STEPS = "COUNT END MOVE COPY"


def walk(*batches: dict[int, int], is_linked: bool = False, n_tried: int = 0, described: int = 0) -> list[str]:
    """Names of the operations of a tree with these batches of nodes, by their flags; one with no nodes ends it.

    n_tried: how often each batch tries a further hyperplane; described: nodes that their totals do not tell all of.
    """
    flags, left = np.zeros(N_FLAGS, np.int64), iter([*batches, {}])
    operation, found = ROOT, []
    while operation != SUBTREES:
        name = NAMES[operation]
        found.append(name)
        flags[DESCRIBED] = described if name in ("ROOT_ENDS", "END") else flags[DESCRIBED]
        if name == "BEGIN":
            flags[:] = 0
            for place, value in next(left).items():
                flags[place] = value
            tries_left = n_tried
        if name in ("CHOOSE", "JUDGE"):
            flags[TRIED] = tries_left
            tries_left = max(tries_left - 1, 0)
        operation = int(advance(operation, flags, is_linked))
    return found


def in_words(names: list[str]) -> str:
    return " ".join(names)


def test_a_leaf_begins_and_ends() -> None:
    assert in_words(walk()) == "ROOT ROOT_ENDS BEGIN"
    assert in_words(walk(described=1)) == "ROOT ROOT_ENDS DESCRIBE BEGIN"


@pytest.mark.parametrize(
    ("flags", "steps"),
    [
        # 3 nodes that do not race: candidates have no ranges yet
        ({SIZE: 3, UNRACED: 3, RANGED: 3}, f"{UNRACED_STEPS} DRAW RANGES SUMS CHOOSE"),
        ({SIZE: 3, UNRACED: 3, RANGED: 3, FITTED: 1}, f"{UNRACED_STEPS} PRODUCTS DRAW RANGES SUMS CHOOSE"),
        # there are basis vectors alone, which the ranking has tested
        ({SIZE: 3, UNRACED: 3}, f"{UNRACED_STEPS} DRAW SUMS CHOOSE"),
        # 3 nodes that race: the ranges are those of their racers, but where no candidate is any good
        ({SIZE: 3}, "RACE SUMS CHOOSE"),
        ({SIZE: 3, RANGED: 1}, "RACE RANGES SUMS CHOOSE"),
        # of both kinds
        ({SIZE: 3, UNRACED: 2, RANGED: 2}, f"{UNRACED_STEPS} DRAW RACE RANGES SUMS CHOOSE"),
        ({SIZE: 3, UNRACED: 1, RANGED: 1, FITTED: 1}, f"{UNRACED_STEPS} PRODUCTS DRAW RACE RANGES SUMS CHOOSE"),
    ],
)
@pytest.mark.parametrize("is_linked", [False, True])
def test_a_batch_takes_the_steps_that_its_nodes_need(flags: dict[int, int], steps: str, is_linked: bool) -> None:
    steps = steps.replace("RACE ", "RACERS RACE ") if is_linked else steps
    expected = f"ROOT ROOT_ENDS BEGIN {steps} {LAST_STEPS} BEGIN"
    assert in_words(walk(flags, is_linked=is_linked)) == expected


def test_hyperplanes_are_tried_until_there_is_none_to_try() -> None:
    for n_tried, tries in ((0, ""), (1, "CELLS JUDGE "), (3, "CELLS JUDGE " * 3)):
        found = in_words(walk({SIZE: 1}, n_tried=n_tried))
        assert f"CHOOSE {tries}COUNT" in found
        assert found.count("JUDGE") == n_tried


def test_children_are_described_before_the_next_batch() -> None:
    found = in_words(walk({SIZE: 2}, {SIZE: 1}, described=4))
    batch = f"RACE SUMS CHOOSE {LAST_STEPS}"
    assert found == f"ROOT ROOT_ENDS DESCRIBE BEGIN {batch} DESCRIBE BEGIN {batch} DESCRIBE BEGIN"


def test_what_partitions_find_by_their_samples_is_put_together_and_nothing_else() -> None:
    exchanged = [name for operation, name in enumerate(NAMES) if is_exchanged(operation)]
    by_samples = ["ROOT", "DESCRIBE", "VIEW_RANGES", "VIEW_SUMS", "PRODUCTS"]
    assert exchanged == [*by_samples, "RACERS", "RANGES", "SUMS", "CELLS", "COUNT"]


def test_every_operation_has_its_name() -> None:
    assert all(getattr(machine, name) == operation for operation, name in enumerate(NAMES))
    assert NAMES[SUBTREES] == NAMES[-1] == "SUBTREES"


def test_the_first_thread_alone_does_what_follows_unless_partitions_exchange_before() -> None:
    is_alone = plain(machine.following_is_alone)
    found = {
        is_linked: [
            (NAMES[one], NAMES[other])
            for one in range(SUBTREES)
            for other in range(SUBTREES + 1)
            if is_alone(one, other, is_linked) and (NAMES[one], NAMES[other]) in FOLLOWERS
        ]
        for is_linked in (False, True)
    }
    assert found[False] == [("ROOT", "ROOT_ENDS"), ("ROOT_ENDS", "BEGIN"), ("DESCRIBE", "BEGIN"), *COUNTED, COPIED]
    assert found[True] == [("ROOT_ENDS", "BEGIN"), COPIED]


COUNTED, COPIED = [("COUNT", "END")], ("COPY", "BEGIN")
FOLLOWERS = {
    ("ROOT", "ROOT_ENDS"),
    ("ROOT_ENDS", "BEGIN"),
    ("DESCRIBE", "BEGIN"),
    *COUNTED,
    COPIED,
    ("SUMS", "CHOOSE"),
    ("CHOOSE", "COUNT"),
    ("MOVE", "COPY"),
}
