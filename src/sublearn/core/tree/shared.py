"""Forests of several partitions whose samples fit into each: all have them once, and each grows some whole trees."""

from collections.abc import Callable, Iterator

from sublearn.core.links import Links
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree.exchange import count_all, with_columns
from sublearn.core.tree.gathered import gathered
from sublearn.core.tree.rows import width_of
from sublearn.core.tree.task import Task
from sublearn.kernels.layout import MOST_ROWS


def fits_everywhere(task: Task, workers: Workers) -> bool:
    """Whether there are several partitions, and room in each for the samples of all."""
    links = workers.links
    if links.n_partitions == 1:
        return False
    n_samples = count_all(task, links).n_samples
    needed = n_samples * width_of(with_columns(task.samples, links))
    return links.every(n_samples <= MOST_ROWS and needed <= links.room)


def known_trees(n: int, links: Links) -> list[FlatTree]:
    """The first of the next n trees, as far as an earlier run of an interrupted fit has grown them."""
    journal = links.journal
    known: list[FlatTree] = []
    while journal is not None and len(known) < n and (tree := journal.known()) is not None:
        known.append(tree)
    return known


def grow_apart(
    task: Task, grow_one: Callable[[Task, int, Workers], FlatTree], numbers: range, is_long: bool, workers: Workers
) -> Iterator[FlatTree]:
    """Trees of these numbers, each grown by one partition with `grow_one(task of all samples, number, workers)`.

    They are sent to all as they are done, a few of each partition at a time.
    """
    links, n_each = workers.links, workers.n_threads
    journal = links.journal
    everything, _ = gathered(task, with_columns(task.samples, links), links)
    with Workers(workers.n_threads, workers.stop) as alone:
        for begin in range(numbers.start, numbers.stop, links.n_partitions * n_each):
            wave = numbers[begin - numbers.start :][: links.n_partitions * n_each]
            told = links.tell(_grown(everything, grow_one, wave[links.number :: links.n_partitions], is_long, alone))
            trees = [told[i % links.n_partitions][i // links.n_partitions] for i in range(len(wave))]
            if journal is not None:
                for tree in trees:
                    journal.note(tree)
            yield from trees


def _grown(
    everything: Task, grow_one: Callable[[Task, int, Workers], FlatTree], numbers: range, is_long: bool, alone: Workers
) -> list[FlatTree]:
    """Trees of these numbers, each by one thread."""
    return alone.each(lambda i, own: grow_one(everything, numbers[i], own), len(numbers), is_long)
