"""Threads between two pieces of work: they look for the next one for a while, since to be woken takes far longer.

They look, and tell what they have done, in compiled code, without the interpreter: a thread that then goes on finds its
lock free.
"""

from sublearn.kernels.compilation import bare_kernel
from sublearn.kernels.team import N_LOOKS, OFFERS, add, load, rest

POSTED, ENDED = 0, 8  # counters, in cache lines of their own: how often there was work, and pieces of it that are done
N_COUNTERS = 16


@bare_kernel
def linger(counters, own, amount, other, wanted):
    """Add to one counter, and look until another has come so far, for some tenths of a millisecond at the most."""
    add(counters, own, amount)
    looks = 0
    while load(counters, other) < wanted and looks < N_LOOKS + OFFERS:
        looks += 1
        rest(looks)
