"""Threads between two pieces of work: they look for the next one for a while, since to be woken takes far longer.

They look, and tell what they have done, in compiled code, without the interpreter: a thread that then goes on finds its
lock free.
"""

from sublearn.kernels.compilation import bare_kernel
from sublearn.kernels.team import add, load, offer_core

POSTED, ENDED = 0, 8  # counters, in cache lines of their own: how often there was work, and pieces of it that are done
N_COUNTERS = 16
N_LOOKS = 300_000  # a nanosecond each
N_EACH = 10_000  # looks before the core is offered; where others want it, each offer takes milliseconds


@bare_kernel
def linger(counters, own, amount, other, wanted):
    """Add to one counter, and look until another has come so far, for some tenths of a millisecond at the most.

    On a busy machine it takes longer, but little of the processor.
    """
    add(counters, own, amount)
    looks = 0
    while load(counters, other) < wanted and looks < N_LOOKS:
        looks += 1
        if looks % N_EACH == 0:
            offer_core()
