"""Elementary functions and random numbers that are the same on every machine.

Only operations that IEEE 754 rounds alike everywhere are used, in a fixed order, and integers; nothing from libm
but the exact frexp and ldexp. A random number is a function of a key, and a key says what is drawn.
"""

import math

import numpy as np

from sublearn.kernels.compilation import inner

SQRT_HALF = 0.7071067811865476
TWO_OVER_LN2 = 2.8853900817779268
LN2 = 0.6931471805599453
LOG2_E = 1.4426950408889634
ROUNDER = 6755399441055744.0  # 1.5 x 2^52: adding and subtracting it rounds to a whole number
LN2_HIGH = 0.693147180369123816490  # the leading 32 bits of ln 2: multiples of it are exact
LN2_LOW = 1.90821492927058770002e-10

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
ONE = np.uint64(1)

CHUNK = 1024  # numbers added up in one go; chunks begin at the same places whatever the number of threads


@inner
def log2_series(m):
    """Base-2 logarithm of a number from sqrt(1/2) to sqrt(2)."""
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    series = 1 / 21
    series = 1 / 17 + z * (1 / 19 + z * series)
    series = 1 / 13 + z * (1 / 15 + z * series)
    series = 1 / 9 + z * (1 / 11 + z * series)
    series = 1 / 5 + z * (1 / 7 + z * series)
    series = 1.0 + z * (1 / 3 + z * series)
    return TWO_OVER_LN2 * s * series


@inner
def log2(x):
    """Base-2 logarithm of a positive normal number, to a few units in the last place."""
    m, e = math.frexp(x)
    if m < SQRT_HALF:
        m *= 2.0
        e -= 1
    return e + log2_series(m)


@inner
def exp_parts(x):
    """(m, k) with exp(x) = m 2^k, for a number of magnitude below 700, to about one unit in the last place."""
    k = (x * LOG2_E + ROUNDER) - ROUNDER
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    series = 1 / 6227020800  # 1 / 13!, then 1 / 12! and so on down to 1 / 2!
    series = 1 / 39916800 + r * (1 / 479001600 + r * series)
    series = 1 / 362880 + r * (1 / 3628800 + r * series)
    series = 1 / 5040 + r * (1 / 40320 + r * series)
    series = 1 / 120 + r * (1 / 720 + r * series)
    series = 1 / 6 + r * (1 / 24 + r * series)
    return 1.0 + r * (1.0 + r * (0.5 + r * series)), k


@inner
def exp(x):
    """Exponential of a number of magnitude below 700."""
    series, k = exp_parts(x)
    return math.ldexp(series, int(k))


@inner
def fill_exp(x, n, bits):
    """Replace the first n numbers of x by their exponentials, the same as `exp`, several at a time.

    Powers of two are put together bit by bit in `bits` (int64), since ldexp would come one at a time.
    """
    for i in range(n):
        series, k = exp_parts(x[i])
        bits[i] = (np.int64(np.int32(k)) + 1023) << 52
        x[i] = series
    powers = bits.view(np.float64)
    for i in range(n):
        x[i] *= powers[i]


@inner
def mix(key, value):
    """The key of the `value`-th thing below `key`: a bijective scrambling of 64 bits (splitmix64)."""
    z = key + (np.uint64(value) + ONE) * GOLDEN
    z = (z ^ (z >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    return z ^ (z >> np.uint64(31))


@inner
def uniform(key):
    """A number in [0, 1)."""
    return np.float64(np.int64(key >> np.uint64(11))) * (1.0 / 9007199254740992.0)


@inner
def below(key, n):
    """An integer in [0, n), n below 2^31."""
    return np.int64(((key >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))
