"""The driver of trees whose samples are all here: threads that stay in compiled code until the tree is grown."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.core.tree.assembling import Placed, assembled
from sublearn.core.tree.grouping import Grouped
from sublearn.core.tree.task import Task, order_of
from sublearn.core.tree.workspace import (
    BUDGET,
    Workspace,
    enter_root,
    first_states,
    make_job,
    make_rules,
    make_team,
    useful_threads,
    workspace_for,
)
from sublearn.kernels import growing, subtrees
from sublearn.kernels.compilation import entry_of, plain
from sublearn.kernels.growing import NONE_LARGE
from sublearn.kernels.job import Job
from sublearn.kernels.layout import Array
from sublearn.kernels.nodes import AT, NODES, Grown
from sublearn.kernels.subtrees import ALL_DONE, visits_of
from sublearn.kernels.team import Team

STOPPED = np.ones(1, np.int64)  # tells threads that nothing is wanted


def grow_by_threads(task: Task, key: int, workers: Workers) -> Placed:
    """Grow one tree."""
    root, order = task.root, order_of(task.root)
    rules = make_rules(task)
    n_useful = useful_threads(task, workers.n_active)
    grouped = Grouped(task.samples, order, rules.max_depth, n_useful)
    space = workspace_for(task, rules, n_useful, grouped.limit, workers)
    states, n_threads = first_states(space), space.n_threads
    n_places = enter_root(space.shared, root.runs[0], np.diff(root.runs[0]), task.samples.n_classes, key)
    space.front.flags[:] = 0
    team = make_team(len(order), n_threads, len(space.shared.parent), n_places, grouped.limit, workers)
    job = make_job(task, rules, order)

    def run_below(i: int) -> bool:
        own = job if grouped.samples is job.samples else job._replace(samples=grouped.samples)
        answer = subtrees.grow_below(own, team, space.shared, space.hands[i], states[i], space.tools[i])
        return bool(answer == ALL_DONE)

    def run_alone(i: int) -> bool:
        # nodes come level by level, so that the size of the next tells that of the others; else only time is lost
        if states[i, AT] < states[i, NODES] and _size(space.hands[i], states[i, AT]) <= grouped.limit:
            grouped.group(workers)
        return run_below(i)

    is_long = takes_long(task)
    if n_threads == 1:
        workers.together(run_alone, 1, is_long)
    else:
        grow = _entrance(job, team, space, states)
        wanted = NONE_LARGE if team.comes_back else ALL_DONE

        def run(i: int) -> bool:
            given = job, team, space.front, space.shared, space.hands[i], states[i], i, space.tools[i]
            return bool(grow(*given) == wanted)

        workers.together(run, n_threads, is_long)
        if team.comes_back:
            grouped.group(workers)
            workers.together(run_below, n_threads, is_long)
    return Placed(*assembled(space.grown, states, task.samples, task.answers), grouped.own_order(workers))


def _entrance(job: Job, team: Team, space: Workspace, states: Array) -> Callable[..., Any]:
    """What threads grow a tree by: types are looked at once for all of them, by a call for a team that is stopped."""
    stopped = team._replace(stop=STOPPED)
    growing.grow(job, stopped, space.front, space.shared, space.hands[0], states[0], 0, space.tools[0])
    return entry_of(growing.grow)


def takes_long(task: Task) -> bool:
    """Whether one node alone may take longer than a user who wants to stop would wait."""
    visits: int = plain(visits_of)(len(task.root.order), task.test.n_bins, task.samples.n_classes)
    return visits * (task.plan.n_candidates + len(task.samples.codes)) > BUDGET


def _size(grown: Grown, i: int) -> int:
    """Samples of node i."""
    at = grown.at[i]
    return int(grown.numbers[at + 1 + max(grown.numbers[at], 1)] - grown.numbers[at + 1])
