"""Pieces of C: arrays, text, and the functions that every exported model has."""

import re
from string import ascii_letters, digits

import numpy as np

from sublearn.kernels.arithmetic import LN2_HIGH, LN2_LOW, LOG2_E, ROUNDER
from sublearn.kernels.layout import Array
from sublearn.kernels.losses import FARTHEST

WIDTH = 110  # of lines of tables
INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32)
KEYWORDS = (
    *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern"),
    *("float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed"),
    *("sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while"),
)
PLAIN = frozenset(f"{ascii_letters}{digits} _-+.,:;()=<>/")  # characters that stand for themselves in every string


def is_identifier(name: object) -> bool:
    """Whether functions may be called so, with something behind it."""
    return isinstance(name, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is not None and name not in KEYWORDS


def number(x: float) -> str:
    """A double, to the bit."""
    return "0.0" if x == 0 else float(x).hex()


def quoted(text: str) -> str:
    """Text as a string of C, in UTF-8."""
    plain = (chr(b) if chr(b) in PLAIN else f"\\{b:03o}" for b in text.encode())
    return f'"{"".join(plain)}"'


def commented(text: str) -> str:
    """Text as it may stand in a comment."""
    shown = "".join(c if c.isprintable() and c.isascii() else c.encode("unicode_escape").decode() for c in str(text))
    return shown.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")


class Tables:
    """Arrays of constants; counts what they take."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.n_bytes = 0
        self.texts: list[str] = []

    def add(self, name: str, values: Array, what: str) -> None:
        """Add an array under a name, in the smallest type that holds it."""
        values = np.asarray(values).ravel()
        if values.dtype.kind == "f":
            kind, size, entries = "double", 8, map(number, values.tolist())
        else:
            low, high = int(values.min(initial=0)), int(values.max(initial=0))
            dtype = next(t for t in INTEGERS if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
            kind, size, entries = f"{dtype.__name__}_t", np.dtype(dtype).itemsize, map(str, values.tolist())
        self.n_bytes += size * max(len(values), 1)
        body = _wrapped([*entries] or ["0"])  # arrays of C have at least one entry
        self.texts.append(
            f"/* {what} */\nstatic const {kind} {self.prefix}_{name}[{max(len(values), 1)}] = {{\n{body}\n}};"
        )


def _wrapped(entries: list[str]) -> str:
    lines, line = [], " "
    for entry in entries:
        if len(line) + len(entry) > WIDTH:
            lines.append(line)
            line = " "
        line += f" {entry},"
    return "\n".join([*lines, line.removesuffix(",")])


def _series() -> str:
    """The steps of `exp_parts`: 1 / 13!, then 1 / 12! and so on down to 1 / 2!."""
    steps = [(39916800, 479001600), (362880, 3628800), (5040, 40320), (120, 720), (6, 24)]
    return "\n".join(f"    s = {number(1 / a)} + r * ({number(1 / b)} + r * s);" for a, b in steps)


EXPONENTIAL = f"""
/* Exponential of x, within {FARTHEST:g} of 0: the same operations, in the same order, as in sublearn. */
static double NAME_exp(double x)
{{
    double k, r, s, power, base;
    int n;
    x = x < -{FARTHEST} ? -{FARTHEST} : x > {FARTHEST} ? {FARTHEST} : x;
    k = (x * {number(LOG2_E)} + {ROUNDER}) - {ROUNDER};
    r = (x - k * {number(LN2_HIGH)}) - k * {number(LN2_LOW)};
    s = {number(1 / 6227020800)};
{_series()}
    s = 1.0 + r * (1.0 + r * (0.5 + r * s));
    power = 1.0;
    base = k < 0.0 ? 0.5 : 2.0;
    for (n = (int) (k < 0.0 ? -k : k); n > 0; n >>= 1) {{
        if (n & 1)
            power *= base;
        base *= base;
    }}
    return s * power;
}}
"""

FIND_TEXT = """
struct NAME_text {
    const char *text;
    int level;
};

/* The level of a text, among texts that are sorted by their bytes; -1 if it is none of them. */
static int NAME_find_text(const struct NAME_text *texts, int n, const char *text)
{
    int low = 0;
    while (low < n) {
        const int middle = low + (n - low) / 2;
        const char *a = texts[middle].text, *b = text;
        while (*a && *a == *b) {
            a++;
            b++;
        }
        if (*a == *b)
            return texts[middle].level;
        if ((unsigned char) *a < (unsigned char) *b)
            low = middle + 1;
        else
            n = middle;
    }
    return -1;
}
"""

FIND_NUMBER = """
/* The place of a number among ascending ones; -1 if it is none of them. */
static int NAME_find_number(const double *numbers, int n, double value)
{
    int low = 0;
    while (low < n) {
        const int middle = low + (n - low) / 2;
        if (numbers[middle] == value)
            return middle;
        if (numbers[middle] < value)
            low = middle + 1;
        else
            n = middle;
    }
    return -1;
}
"""

ENCODING = """
/* Features become codes. What is not a number (NaN) is missing. */
static void NAME_encode(const double *x, int16_t *codes)
{
    int32_t v;
    for (v = 0; v < N_VIEWS; v++) {
        const double value = x[NAME_feature[v]];
        const int32_t low = NAME_first_knot[v], high = NAME_first_knot[v + 1] - 1;
        int32_t k = low, left = high - low;
        double z, level, first, last;
        if (value != value) {
            codes[v] = NAME_missing[v];
        } else if (NAME_is_listed[v]) {
            k = value >= 0.0 && value <= (double) left ? low + (int32_t) value : -1;
            codes[v] = k < 0 || value != (double) (k - low) ? NAME_unknown[v] : NAME_code[k];
        } else if (left == 0) {
            codes[v] = NAME_code[low];
        } else {
            z = value * NAME_unit[v];
            if (left > 1)
                z = z < NAME_knot[low] ? NAME_knot[low] : z > NAME_knot[high] ? NAME_knot[high] : z;
            while (left > 1) {  /* the last knot at or below z */
                const int32_t half = left / 2;
                if (z >= NAME_knot[k + half])
                    k += half;
                left -= half;
            }
            first = NAME_code[k];
            last = NAME_code[k + 1];
            level = NAME_slope[k] * (z - NAME_knot[k]) + (first + 0.5);
            level = level < first ? first : level > last ? last : level;
            codes[v] = (int16_t) level;
            if (codes[v] > level)
                codes[v]--;
        }
    }
}
"""

WALK = """
/* The leaf that codes reach in tree t: all is in integers here. */
static int32_t NAME_leaf(const int16_t *codes, int32_t t)
{
    int32_t at = NAME_root[t], i;
    while (at >= 0) {
        const int32_t plane = NAME_plane[at], end = NAME_first_term[plane + 1];
        int32_t sum = 0;
        for (i = NAME_first_term[plane]; i < end; i++)
            sum += (int32_t) NAME_coefficient[i] * codes[NAME_view[i]];
        at = sum >= NAME_threshold[at] ? NAME_above[at] : NAME_below[at];
    }
    return -1 - at;
}
"""
