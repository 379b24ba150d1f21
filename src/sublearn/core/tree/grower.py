"""Growing a tree, by the driver that suits where its samples are."""

from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree.assembling import Placed
from sublearn.core.tree.exchange import count_all, with_columns
from sublearn.core.tree.gathered import gathered, own_places
from sublearn.core.tree.linked import LinkedTree
from sublearn.core.tree.rows import width_of
from sublearn.core.tree.settling import put_back
from sublearn.core.tree.task import Task
from sublearn.core.tree.threads import grow_by_threads

GATHERED = 4 << 20  # bytes of the samples of all partitions up to which each gathers them all for a tree


def grow(task: Task, key: int, workers: Workers) -> FlatTree:
    """Grow one tree."""
    return grow_placed(task, key, workers).tree


def grow_placed(task: Task, key: int, workers: Workers) -> Placed:
    """Grow one tree, and tell where its samples are; one that is in the journal of an interrupted fit is known."""
    journal = workers.links.journal
    if journal is None:
        return _grown(task, key, workers)
    tree = journal.known()
    if tree is not None:
        return put_back(tree, task, workers)
    placed = _grown(task, key, workers)
    journal.note(placed.tree)
    return placed


def _grown(task: Task, key: int, workers: Workers) -> Placed:
    """Grow one tree by the driver for where its samples are."""
    links = workers.links
    if links.n_partitions == 1:
        return grow_by_threads(task, key, workers)
    samples, whole = with_columns(task.samples, links), count_all(task, links)
    if whole.n_samples * width_of(samples) > GATHERED:
        return LinkedTree(task._replace(samples=samples), whole, key, workers).finish()
    everything, first = gathered(task, samples, links)
    grown = grow_by_threads(everything, key, workers)
    order, places = own_places(grown.order, grown.places, first, task.samples.codes.shape[1])
    return grown._replace(order=order, places=places)
