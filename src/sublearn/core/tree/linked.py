"""The driver of trees whose samples are in partitions: from Python, operation after operation.

Every partition runs the same operations on its own samples, by its own threads. After each, partitions put together
what they have found.
"""

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.core.tree.assembling import Placed, assembled
from sublearn.core.tree.below import Below, filled, find_small, most_alone, put_together
from sublearn.core.tree.exchange import Exchange, Whole
from sublearn.core.tree.rows import room_for, width_of
from sublearn.core.tree.space import batch_size, make_front, make_tools
from sublearn.core.tree.task import Task, order_of
from sublearn.core.tree.threads import takes_long
from sublearn.core.tree.workspace import (
    Workspace,
    enter_root,
    first_states,
    make_job,
    make_rules,
    make_team,
    room_for_nodes,
    roomy,
    untouched,
    useful_threads,
)
from sublearn.kernels import growing
from sublearn.kernels.compilation import plain
from sublearn.kernels.front import Front
from sublearn.kernels.growing import PUT_TOGETHER
from sublearn.kernels.job import Rules
from sublearn.kernels.layout import n_channels
from sublearn.kernels.machine import SUBTREES
from sublearn.kernels.nodes import BEFORE, Grown, totals_of
from sublearn.kernels.subtrees import WORKING
from sublearn.kernels.team import N_SHARED


class LinkedTree:
    """A tree that grows step by step: what operations leave can be looked at between two of them."""

    def __init__(self, task: Task, whole: Whole, key: int, workers: Workers) -> None:
        self.task, self.workers = task, workers
        self.order = order_of(task.root)
        n_threads = useful_threads(task, workers.n_active)
        rules, alone = make_rules(task), most_alone(task, whole.n_samples, workers.links)
        self.space = space = _workspace(task, rules, whole, n_threads, workers)
        self.states = first_states(space)
        n_shared, n_classes = len(space.shared.parent), task.samples.n_classes
        n_places = enter_root(space.shared, task.root.runs[0], whole.counts, n_classes, key)
        self._enter_stretches(whole)
        self.front.flags[:] = 0
        team = make_team(len(self.order), n_threads, n_shared, n_places, 0, workers)
        self._given = make_job(task, rules, self.order), team._replace(is_linked=True, large=alone)
        totals = plain(totals_of)(space.shared, 0, task.samples)
        self._exchange = Exchange(task.samples, self.front, totals, workers.links)

    @property
    def front(self) -> Front:
        """The nodes that are grown now, and what is known of them."""
        return self.space.front

    def step(self) -> int:
        """Go on to the end of the next operation that is put together; returns it, or `SUBTREES` at the end."""
        n, answers = len(self.states), [WORKING] * len(self.states)
        job, team = self._given
        front, shared, hands, tools = self.front, self.space.shared, self.space.hands, self.space.tools

        def run(i: int) -> bool:
            answers[i] = int(growing.grow(job, team, front, shared, hands[i], self.states[i], i, tools[i]))
            return answers[i] != WORKING

        self.workers.together(run, n, takes_long(self.task))
        if answers[0] != PUT_TOGETHER:
            return SUBTREES
        operation = int(self.states[0, BEFORE])
        self._exchange.run(operation)
        return operation

    def finish(self) -> Placed:
        """Grow the tree to its end."""
        while self.step() != SUBTREES:
            pass
        space, states, task = self.space, self.states, self.task
        grown = space.grown
        team = self._given[1]
        small = find_small(space.shared, self.front, team.ready[: team.counters[N_SHARED]])  # of the rest none is there
        if len(small.numbers):
            hands = Below(task, self.order, space.shared, self.workers).run(small)
            grown, states = put_together(filled(space.hands[0], states[0]), hands)
        return Placed(*assembled(grown, states, task.samples, task.answers), self.order)

    def _enter_stretches(self, whole: Whole) -> None:
        """Tell how many samples of each class of the root there are, and in partitions before this one."""
        present = whole.counts > 0 if self.task.samples.n_classes else slice(None)
        counts = whole.counts[present]
        stretches = self.front.stretches[0]
        stretches[0, : len(counts)], stretches[1, : len(counts)] = counts, whole.before[present]


def _workspace(task: Task, rules: Rules, whole: Whole, n_threads: int, workers: Workers) -> Workspace:
    """Space for a tree of several partitions; the batches of all partitions have the same size."""
    samples, test = task.samples, task.test
    own, n_all = roomy(max(len(task.root.order), 1)), roomy(whole.n_samples)
    has = (samples.packed.size > 0, samples.weights.size > 0, samples.n_classes, n_channels(samples))
    key = ("linked", samples.codes.shape[0], test.n_bins, own, n_all, n_threads, has, task.parameters)

    def make() -> Workspace:
        room = room_for_nodes(samples, n_all, rules, n_threads)
        n_shared, n_racers, n_runs = room.parent.shape[1], rules.racing_samples, max(samples.n_classes, 1)
        n_nodes = min(batch_size(samples, test, rules, 1, True, n_racers * width_of(samples)), n_shared)
        largest = max(own, n_racers)
        front = make_front(samples, test, rules, n_threads, n_nodes, own, True)
        return Workspace(
            shared=Grown._make(column[0] for column in room_for_nodes(samples, n_all, rules, 1)),
            grown=Grown._make(column.reshape(-1, *column.shape[2:]) for column in room),
            hands=[Grown._make(column[i] for column in room) for i in range(n_threads)],
            tools=[make_tools(samples, test.n_bins, rules, largest, workers.stop.flag) for _ in range(n_threads)],
            front=front._replace(
                whole_counts=np.empty_like(front.own_counts),
                before=np.empty_like(front.own_counts),
                stretches=untouched((n_shared, 2, n_runs), np.int64),
                racers=room_for(samples, n_nodes * n_racers),
                racer_order=np.arange(n_nodes * n_racers, dtype=np.int32),
                drawn=np.empty((n_nodes, n_racers), np.int32),
            ),
        )

    return workers.keep(key, make)
