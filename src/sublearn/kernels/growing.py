"""The one loop that grows a tree: operation after operation, by all threads of a team, in every partition.

Nodes with many samples are grown together, level by level. What is below the others is whole subtrees, each grown by
one thread (`kernels.subtrees`): the last operation. For a thread that is alone it is the only one, and a kernel of its
own, which is compiled in less time.
"""

from sublearn.kernels.compilation import bare_kernel, inner
from sublearn.kernels.front import FOLLOWING
from sublearn.kernels.level_choice import add_all_cells, choose_batch, judge_batch
from sublearn.kernels.level_moves import copy_batch, count_batch, end_batch, move_batch
from sublearn.kernels.level_nodes import add_root, begin_batch, begin_root, describe
from sublearn.kernels.level_tests import (
    add_all_products,
    add_ranges,
    add_sums,
    add_view_ranges,
    add_view_sums,
    choose_subspaces,
    draw_batch,
    draw_racers,
    open_batch,
    race_batch,
)
from sublearn.kernels.machine import (
    BEGIN,
    CELLS,
    CHOOSE,
    COPY,
    COUNT,
    DESCRIBE,
    DRAW,
    END,
    JUDGE,
    MOVE,
    OPEN,
    PRODUCTS,
    RACE,
    RACERS,
    RANGES,
    ROOT,
    ROOT_ENDS,
    SUBSPACES,
    SUBTREES,
    SUMS,
    VIEW_RANGES,
    VIEW_SUMS,
    advance,
    following_is_alone,
    is_exchanged,
)
from sublearn.kernels.nodes import BEFORE, MET, OPERATION
from sublearn.kernels.references import refer
from sublearn.kernels.subtrees import WORKING, grow_subtrees
from sublearn.kernels.team import await_others, is_stopped, meet

PUT_TOGETHER, NONE_LARGE = 2, 3  # further answers: partitions put sums together; no node is large any more


@inner
def run_for_all(operation, job, team, front, shared, nodes, own):
    """What the first thread does by itself."""
    if operation == ROOT_ENDS:
        begin_root(job, shared, front)
    elif operation == BEGIN:
        begin_batch(job, team, shared, front, nodes, own)
    elif operation == END:
        end_batch(job, team, shared, front, nodes, own)


@inner
def meet_and_go_on(operation, job, team, front, shared, nodes, own, number):
    """Meet after an operation, and find the next one; what the first thread does alone, it does while others wait."""
    own[BEFORE] = operation
    if number > 0:
        own[MET] = meet(team.counters, team.stop, team.n_threads, own[MET] + 1) - 1
        own[OPERATION] = front.flags[FOLLOWING]
        return
    await_others(team.counters, team.stop, team.n_threads, own[MET] + 1)
    following = advance(operation, front.flags, team.is_linked)
    while following_is_alone(operation, following, team.is_linked) and not is_stopped(team.stop):
        run_for_all(following, job, team, front, shared, nodes, own)
        following = advance(following, front.flags, team.is_linked)
    own[OPERATION] = following
    front.flags[FOLLOWING] = following
    own[MET] = meet(team.counters, team.stop, team.n_threads, own[MET] + 1) - 1


@inner
def run_on_samples(operation, job, team, front, shared, number, tools):
    """A thread's share of an operation that is divided by samples."""
    if operation == ROOT:
        add_root(job, team, shared, front, number, tools)
    elif operation == DESCRIBE:
        describe(job, team, shared, front, number)
    elif operation == VIEW_RANGES:
        add_view_ranges(job, team, shared, front, number, tools)
    elif operation == VIEW_SUMS:
        add_view_sums(job, team, shared, front, number, tools)
    elif operation == PRODUCTS:
        add_all_products(job, team, shared, front, number, tools)
    elif operation == RANGES:
        add_ranges(job, team, shared, front, number, tools)
    elif operation == SUMS:
        add_sums(job, team, shared, front, number, tools)
    elif operation == CELLS:
        add_all_cells(job, team, shared, front, number, tools)
    elif operation == COUNT:
        count_batch(job, team, shared, front, number, tools)
    elif operation == MOVE:
        move_batch(job, team, shared, front, number, tools)
    elif operation == COPY:
        copy_batch(job, team, shared, front, number)


@inner
def run_on_nodes(operation, job, team, front, shared, number, tools):
    """A thread's share of an operation that is divided by nodes."""
    if operation == OPEN:
        open_batch(job, team, shared, front, number)
    elif operation == SUBSPACES:
        choose_subspaces(job, team, shared, front, number, tools)
    elif operation == DRAW:
        draw_batch(job, team, shared, front, number, tools)
    elif operation == RACERS:
        draw_racers(job, team, shared, front, number)
    elif operation == RACE:
        race_batch(job, team, shared, front, number, tools)
    elif operation == CHOOSE:
        choose_batch(job, team, shared, front, number, tools)
    elif operation == JUDGE:
        judge_batch(job, team, shared, front, number)


@bare_kernel
def grow(job, team, front, shared, nodes, own, number, tools):
    """Grow a tree with the other threads of the team, of which this one has a number.

    `shared` (`Grown`) has the nodes that any thread may take, the root first; `nodes` are those that this thread has
    grown, `own` is its state, and `tools` its scratch space.

    Returns `ALL_DONE`; or `NONE_LARGE` instead, where others see to what is below, since there are other partitions or
    the team asks for it; or why it comes back before, to be called again by all threads: `PUT_TOGETHER`, after an
    operation of which partitions put together what they have found; `WORKING`, in a thread with long work, so that
    interrupts are heard.
    """
    job = refer(job)
    team = refer(team)
    front = refer(front)
    shared = refer(shared)
    nodes = refer(nodes)
    tools = refer(tools)
    while not is_stopped(team.stop):
        operation = own[OPERATION]
        if operation == SUBTREES:
            if team.is_linked or team.comes_back:
                return NONE_LARGE
            return grow_subtrees(job, team, shared, nodes, own, tools)
        if number == 0:
            run_for_all(operation, job, team, front, shared, nodes, own)
        run_on_samples(operation, job, team, front, shared, number, tools)
        run_on_nodes(operation, job, team, front, shared, number, tools)
        meet_and_go_on(operation, job, team, front, shared, nodes, own, number)
        if team.is_linked and is_exchanged(operation) and not is_stopped(team.stop):
            return PUT_TOGETHER
    return WORKING
