"""The layout of a file of format 1: which arrays there are, of which types, and how large things may be.

docs/format.md says the same in words. A change of what is here must keep old files readable: new fields and arrays are
optional, anything else is another `FORMAT`.
"""

from typing import Any, NamedTuple

import numpy as np

from sublearn.core.model.flat_tree import KINDS

FORMAT = 1
KEY = "sublearn"  # of the metadata, under which the document is
MOST_HEADER = 8 << 20  # bytes of a header
PARSED = {b"[": 150, b"{": 150, b":": 180, b",": 45}  # bytes that what begins there, or is parted, takes when parsed
A_CHARACTER = 9  # bytes that one takes, in all texts that are there at a time
MOST_PARSED = 90 << 20  # bytes that a header may take; with what prediction takes also where a file is small, ...
FACTOR = 16  # ... and so many times its bytes where it is large
MOST_TEXTS = 32 << 20  # bytes of an array of classes, in which all texts have the length of the longest
DEEPEST = 12  # lists within lists, of values
MOST_PARTITIONS = 8  # hyperplanes of a node
MOST_SLOPES_EACH = 8  # of a leaf; explanations have room for so many
MOST_VIEWS = 1 << 24  # of which 32 bits hold the places
MOST_VIEWS_EACH = 16  # of one feature; codes take no more memory than rows that are so many times smaller
TYPES = {  # by their names in a header
    "BOOL": np.dtype(np.bool_),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}
OTHER_TYPES = {"U8": 1, "I8": 1, "U16": 2, "F16": 2, "BF16": 2, "U32": 4, "F32": 4, "U64": 8, "C64": 8}  # bytes
NAMES = {dtype: name for name, dtype in TYPES.items()}
ESTIMATORS = (
    "SLMClassifier",
    "SLMRegressor",
    "SLMForestClassifier",
    "SLMForestRegressor",
    "SLMBoostClassifier",
    "SLMBoostRegressor",
)
AVERAGES = ("SLMAverageClassifier", "SLMAverageRegressor")


class Tensor(NamedTuple):
    """What an array of a file is."""

    dtype: Any
    n_dimensions: int = 1


MAPS = {
    "features": Tensor(np.int64),
    "units": Tensor(np.float64),
    "offsets": Tensor(np.int64),
    "knots": Tensor(np.float64),
    "levels": Tensor(np.int64),
    "gaps": Tensor(np.int64),
    "listed": Tensor(np.bool_),
}
TREES = {name: Tensor(kind.dtype, 2 if name == "value" else 1) for name, kind in KINDS.items()}
SLOPES = {
    "first": Tensor(np.int32),
    "feature": Tensor(np.int32),
    "slope": Tensor(np.float64, 2),
    "mean": Tensor(np.float64, 2),
    "low": Tensor(np.int16),
    "high": Tensor(np.int16),
    "decrease": Tensor(np.float64),
}
TENSORS = {
    **{f"maps.{name}": tensor for name, tensor in MAPS.items()},
    **{f"trees.{name}": tensor for name, tensor in TREES.items()},
    "trees.roots": Tensor(np.int64),
    **{f"slopes.{name}": tensor for name, tensor in SLOPES.items()},
    "start": Tensor(np.float64),
    "train_score": Tensor(np.float64),
    "validation_score": Tensor(np.float64),
    "oob_prediction": Tensor(np.float64),
    "oob_decision_function": Tensor(np.float64, 2),
    "weights": Tensor(np.float64),
}


def is_classifier(name: str) -> bool:
    """Whether an estimator of this name learns classes."""
    return name.endswith("Classifier")


def is_forest(name: str) -> bool:
    """Whether an estimator of this name is a forest."""
    return "Forest" in name


def is_boosting(name: str) -> bool:
    """Whether an estimator of this name is boosting."""
    return "Boost" in name


def size_when_parsed(text: bytes) -> int:
    """Bytes that JSON takes at the most while it is read, estimated from its characters; see `PARSED`."""
    return A_CHARACTER * len(text) + sum(size * text.count(mark) for mark, size in PARSED.items())


def size_in_words(n_bytes: int) -> str:
    """Bytes as people say them: 512 bytes, 3.1 kB, 12 TB."""
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    size, unit = float(n_bytes), 0
    while size >= 999.5 and unit < 6:
        size, unit = size / 1000, unit + 1
    digits = 1 if size < 9.95 else 0
    return f"{size:.{digits}f} {('', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB')[unit]}"
