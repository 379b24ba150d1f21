"""A fit that was interrupted begins anew and grows only what is missing: the journal of its trees says what that is."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from naive import Array, Data
from sublearn.core.links import Journal, Links, LostError, side_by_side
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree import grower
from sublearn.core.tree.assembling import Placed
from sublearn.core.tree.grower import grow_placed
from sublearn.core.tree.settling import put_back
from sublearn.core.tree.shared import grow_apart, known_trees
from sublearn.core.tree.task import Task
from support import ONE_THREAD, TASKS, assert_same_tree, make_data, parameters, random_data, task_of

KEYS = range(10, 16)
DRAWN = parameters(subspace="drawn", subspace_size=3, n_projections=20, max_partitions=2, min_samples_leaf=3)


def members(placed: Placed, rows: Array) -> dict[int, list[int]]:
    """The rows in each leaf that has any, by its number."""
    numbers, places = placed.leaves
    found = {}
    for number, (begin, end) in zip(numbers.tolist(), places.tolist(), strict=True):
        if end > begin:
            found[number] = rows[placed.order[begin:end]].tolist()
    return found


def part_of(data: Data, number: int, n_partitions: int) -> tuple[Data, Array]:
    rows = np.array_split(np.arange(len(data.y)), n_partitions)[number]
    return make_data(data.codes[rows], data.y[rows], data.n_classes), rows


def trees_of(task: Task, links: Links, n_trees: int) -> list[Placed]:
    with Workers(1, links=links) as workers:
        return [grow_placed(task, key, workers) for key in KEYS[:n_trees]]


def test_a_journal_gives_back_what_it_has_and_notes_what_is_new() -> None:
    journal = Journal(["a"])
    assert [journal.known(), journal.known()] == ["a", None]
    journal.note("b")
    assert (journal.known(), journal.trees, journal.n_asked) == (None, ["a", "b"], 2)


def test_partitions_agree_on_the_longest_journal() -> None:
    lengths = [2, 0, 3, 3]

    def agree(links: Links) -> list[int]:
        journal = Journal(range(lengths[links.number]))
        journal.n_asked = 7
        journal.begin_anew(links)
        assert journal.n_asked == 0
        return journal.trees

    assert side_by_side(agree, 4) == [[0, 1, 2]] * 4


@pytest.mark.parametrize(("n_classes", "criterion"), TASKS[::2])
@pytest.mark.parametrize("gathered", [grower.GATHERED, 0])
def test_samples_are_put_back_where_growing_has_placed_them(
    n_classes: int, criterion: str, gathered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grower, "GATHERED", gathered)
    data = random_data(np.random.default_rng(3), 300, 5, n_classes)
    given = replace(DRAWN, criterion=criterion)

    def both(links: Links) -> None:
        own, rows = part_of(data, links.number, 3)
        (placed,) = trees_of(task_of(own, given), links, 1)
        back = put_back(placed.tree, task_of(own, given), ONE_THREAD)
        assert members(back, rows) == members(placed, rows) != {}

    side_by_side(both, 3)


@pytest.mark.parametrize("n_partitions", [1, 2, 3])
@pytest.mark.parametrize("gathered", [grower.GATHERED, 0])
def test_a_fit_that_is_lost_in_a_tree_and_begun_anew_elsewhere_equals_one_without_interruption(
    n_partitions: int, gathered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grower, "GATHERED", gathered)
    data = random_data(np.random.default_rng(5), 200, 4, 0)
    alone = trees_of(task_of(data, DRAWN), _with_journal(Journal()), len(KEYS))
    journals: list[Journal] = []

    def interrupted(links: Links) -> None:
        links.journal = Journal()
        journals.append(links.journal)
        own, _ = part_of(data, links.number, n_partitions)
        trees_of(task_of(own, DRAWN), links, 3)
        raise LostError("a worker is gone")

    with pytest.raises(LostError):
        side_by_side(interrupted, n_partitions)
    survivor = max(journals, key=lambda journal: len(journal.trees))  # others may be a tree behind
    assert len(survivor.trees) == 3
    grow, grown = grower._grown, []

    def counted(*given: Any) -> Placed:
        grown.append(given)
        return grow(*given)

    monkeypatch.setattr(grower, "_grown", counted)

    def anew(links: Links) -> list[FlatTree]:
        links.journal = Journal(survivor.trees if links.number == 0 else ())  # the others are new
        links.journal.begin_anew(links)
        own, _ = part_of(data, links.number, n_partitions + 1)
        return [placed.tree for placed in trees_of(task_of(own, DRAWN), links, len(KEYS))]

    for trees in side_by_side(anew, n_partitions + 1):
        for tree, expected in zip(trees, alone, strict=True):
            assert_same_tree(tree, expected.tree)
    assert len(grown) == (n_partitions + 1) * (len(KEYS) - 3)


def _with_journal(journal: Journal) -> Links:
    links = side_by_side(lambda links: links, 1)[0]
    links.journal = journal
    return links


def test_a_forest_whose_trees_are_grown_apart_begins_anew_with_those_that_are_known() -> None:
    data, numbers = random_data(np.random.default_rng(8), 120, 4, 3), range(2, 9)
    expected = [grower.grow(task_of(data, DRAWN), number, ONE_THREAD) for number in numbers]
    grown: list[int] = []

    def grow_one(task: Task, number: int, workers: Workers) -> FlatTree:
        grown.append(number)
        return grower.grow(task, number, workers)

    def forest(links: Links) -> list[FlatTree]:
        links.journal = Journal(expected[:3])
        own, _ = part_of(data, links.number, 2)
        with Workers(1, links=links) as workers:
            known = known_trees(len(numbers), links)
            return [*known, *grow_apart(task_of(own, DRAWN), grow_one, numbers[len(known) :], False, workers)]

    for trees in side_by_side(forest, 2):
        assert len(trees) == len(expected)
        for tree, other in zip(trees, expected, strict=True):
            assert_same_tree(tree, other)
    assert sorted(grown) == [5, 6, 7, 8]
