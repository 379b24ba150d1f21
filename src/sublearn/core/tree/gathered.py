"""Small trees of several partitions: each gathers all samples, grows the tree, and keeps the places of its own."""

import numpy as np

from sublearn.core.links import Links
from sublearn.core.tree.rows import pack, put, room_for, unpack
from sublearn.core.tree.task import Root, Task
from sublearn.kernels.layout import Array, Samples


def gathered(task: Task, samples: Samples, links: Links) -> tuple[Task, int]:
    """The task with the samples of all partitions, as if they had been in one, and where those of this one begin.

    samples: those of the task, with one that stands in where there are none.
    """
    own, root = task.samples.codes.shape[1], task.root
    parts = [unpack(parcel, samples)[0] for parcel in links.gather(pack(samples, np.arange(own)))]
    ends = np.cumsum([part.codes.shape[1] for part in parts]).tolist()
    everything, first = room_for(samples, ends[-1]), ends[links.number] - own
    for part, end in zip(parts, ends, strict=True):
        put(part, slice(end - part.codes.shape[1], end), everything)
    orders = links.gather((root.order + first).astype(np.int32))
    runs = np.array(links.gather(root.runs[0]))
    stretches = [orders[p][runs[p, k] : runs[p, k + 1]] for k in range(runs.shape[1] - 1) for p in range(len(orders))]
    return task._replace(samples=everything, root=Root(np.concatenate(stretches), runs.sum(axis=0)[None])), first


def own_places(order: Array, places: Array, first: int, n_own: int) -> tuple[Array, Array]:
    """Order and places of the samples first to first + n_own alone, by their own numbers."""
    is_own = (order >= first) & (order < first + n_own)
    before = np.concatenate([[0], np.cumsum(is_own)])
    return (order[is_own] - first).astype(np.int32), before[places]
