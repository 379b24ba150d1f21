"""Which operation follows which: the one loop that grows trees, without a look at any sample.

    ROOT, ROOT_ENDS                      what is known of the root
    DESCRIBE                             of nodes of means, what their totals do not tell
    BEGIN                                the next batch of nodes, or none any more: SUBTREES
    OPEN, VIEW_RANGES, VIEW_SUMS,        steps 1 and 2 of nodes that do not race
        SUBSPACES, PRODUCTS, DRAW
    RACERS, RACE                         steps 1 to 3 on some samples of those that do
    RANGES, SUMS                         step 3
    CHOOSE, CELLS, JUDGE                 step 4; the last two again while there is something to try
    COUNT, END, MOVE, COPY               step 5

Between two operations all threads meet. ROOT_ENDS, BEGIN and END are the first thread's alone, while the others wait at
the meeting before. After the operations that are exchanged, partitions put together what they have found.
"""

from sublearn.kernels.compilation import inner
from sublearn.kernels.front import DESCRIBED, FITTED, RANGED, SIZE, TRIED, UNRACED

(
    ROOT,
    ROOT_ENDS,
    DESCRIBE,
    BEGIN,
    OPEN,
    VIEW_RANGES,
    VIEW_SUMS,
    SUBSPACES,
    PRODUCTS,
    DRAW,
    RACERS,
    RACE,
    RANGES,
    SUMS,
    CHOOSE,
    CELLS,
    JUDGE,
    COUNT,
    END,
    MOVE,
    COPY,
    SUBTREES,
) = range(22)
NAMES = (
    *("ROOT", "ROOT_ENDS", "DESCRIBE", "BEGIN", "OPEN", "VIEW_RANGES", "VIEW_SUMS", "SUBSPACES", "PRODUCTS", "DRAW"),
    *("RACERS", "RACE", "RANGES", "SUMS", "CHOOSE", "CELLS", "JUDGE", "COUNT", "END", "MOVE", "COPY", "SUBTREES"),
)


@inner
def is_exchanged(operation):
    """Whether partitions put together what an operation finds."""
    return operation in (ROOT, DESCRIBE, VIEW_RANGES, VIEW_SUMS, PRODUCTS, RACERS, RANGES, SUMS, CELLS, COUNT)


@inner
def following_is_alone(operation, following, is_linked):
    """Whether the first thread does what follows by itself, before the others go on; exchanges come first."""
    is_alone = following in (ROOT_ENDS, BEGIN, END)
    return is_alone and not (is_linked and is_exchanged(operation))


@inner
def to_race(is_linked):
    """Where races begin: racers of other partitions come first."""
    return RACERS if is_linked else RACE


@inner
def to_test(flags):
    """Where the tests on all samples begin."""
    return RANGES if flags[RANGED] > 0 else SUMS


@inner
def advance(operation, flags, is_linked):
    """The operation that follows, by what the front's flags tell."""
    following = operation + 1
    if operation in (ROOT_ENDS, COPY):
        following = DESCRIBE if flags[DESCRIBED] > 0 else BEGIN
    elif operation == BEGIN:
        following = OPEN if flags[UNRACED] > 0 else to_race(is_linked)
        following = following if flags[SIZE] > 0 else SUBTREES
    elif operation == SUBSPACES:
        following = PRODUCTS if flags[FITTED] > 0 else DRAW
    elif operation == DRAW:
        following = to_race(is_linked) if flags[UNRACED] < flags[SIZE] else to_test(flags)
    elif operation == RACE:
        following = to_test(flags)
    elif operation in (CHOOSE, JUDGE):
        following = CELLS if flags[TRIED] > 0 else COUNT
    return following
