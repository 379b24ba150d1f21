"""Room for the nodes of a tree, which is made for the largest tree there can be."""

import sys

import numpy as np
import pytest

from sublearn.core.tree import workspace
from sublearn.core.tree.workspace import make_rules
from support import parameters, random_data, task_of


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count, or do not count, as they like")
def test_there_is_room_for_more_nodes_than_memory_holds() -> None:
    task = task_of(random_data(np.random.default_rng(0), 20, 3, 2), parameters(max_depth=None))
    room = workspace.room_for_nodes(task.samples, 3_000_000_000, make_rules(task), 2)
    assert room.parent.shape == (2, 6_000_000_000)
    for column in room:
        assert column.flags.c_contiguous
        assert column.flags.writeable
        column[-1, -1] = 1
        assert column[-1, -1] == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count, or do not count, as they like")
def test_flags_of_more_nodes_than_memory_holds_begin_with_nought() -> None:
    flags = workspace.untouched((1 << 40,), np.int64, np.zeros)
    assert flags[:: 1 << 38].tolist() == [0, 0, 0, 0]
