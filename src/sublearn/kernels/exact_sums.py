"""Sums of floats that no order of the rows changes: added up without rounding, as integers of many words.

A float is an integer times a power of two. Words of 32 bits hold the sum in all powers that floats have, each with
room for many carries, so adding is adding integers: threads and partitions add their words, and the sum is rounded
once, in the end (`core.data.exact`).
"""

import numpy as np

from sublearn.kernels.arithmetic import CHUNK
from sublearn.kernels.compilation import inner, kernel

SHIFTED = 16  # so that losses from 2^-15 to 2^16, which most are, meet in one word
N_WORDS = (2047 + SHIFTED) // 32 + 4
LOWEST = 1075 + SHIFTED  # bit 0 of word 0 stands for 2^-LOWEST
NOT_A_NUMBER, UP, DOWN = N_WORDS, N_WORDS + 1, N_WORDS + 2  # how many NaN, and infinities of each sign
WIDTH = N_WORDS + 3
FRACTION = (1 << 52) - 1
LOW_HALF = np.int64(0xFFFFFFFF)


@inner
def carry(words):
    """Bring all words but the last back to 32 bits; the sum stays."""
    for k in range(N_WORDS - 1):
        words[k + 1] += words[k] >> 32
        words[k] &= LOW_HALF


@inner
def add_bits(bits, n, words):
    """Add n floats, of which `bits` are the bits. Words of like size are added up in numbers, not in memory."""
    at = np.int64(0)
    first = np.int64(0)
    second = np.int64(0)
    third = np.int64(0)
    for i in range(n):
        b = bits[i]
        power = (b >> 52) & 2047
        fraction = b & FRACTION
        if power == 2047:
            words[NOT_A_NUMBER if fraction != 0 else DOWN if b < 0 else UP] += 1
            continue
        if power > 0:
            fraction |= FRACTION + 1
        else:
            power = 1
        place = (power + SHIFTED) >> 5
        shift = (power + SHIFTED) & 31
        if place != at:
            words[at] += first
            words[at + 1] += second
            words[at + 2] += third
            first = second = third = np.int64(0)
            at = place
        low = (fraction & LOW_HALF) << shift
        high = ((fraction >> 32) << shift) + ((low >> 32) & LOW_HALF)
        sign = np.int64(-1) if b < 0 else np.int64(1)
        first += sign * (low & LOW_HALF)
        second += sign * (high & LOW_HALF)
        third += sign * (high >> 32)
    words[at] += first
    words[at + 1] += second
    words[at + 2] += third


@kernel
def add_exactly(values, weights, first, last, words):
    """Add values first to last, or values times weights, to `words` (WIDTH,)."""
    numbers = np.empty(CHUNK)
    for begin in range(first, last, CHUNK):
        n = min(CHUNK, last - begin)
        for i in range(n):
            numbers[i] = values[begin + i] * weights[begin + i] if weights.size else values[begin + i]
        add_bits(numbers.view(np.int64), n, words)
        carry(words)
