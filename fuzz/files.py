"""Files of models, damaged by chance or on purpose: they are refused in words, or give a model that works.

A case takes a small model's file, changes bytes, the header, the document or arrays, loads it and predicts. What goes
beyond the memory that is allowed is a failure too.
"""

import json
import pickle
import struct
import sys
import tempfile
import tracemalloc
import warnings
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sublearn
from fuzz.cases import PASSED, REFUSED, BrokenError, Case, Outcome, pick
from fuzz.fits import check_readable

MOST_MEMORY = 100e6  # bytes, beyond those of the file
BOOST: dict[str, Any] = {"n_estimators": 3, "learning_rate": 0.3, "random_state": 0, "max_depth": 3}
HUGE = (2**31 - 1, -(2**31), 2**31, 2**32, 2**53, 2**63 - 1, -(2**63), 2**64, 10**30, 10**400)
JUNK: tuple[Any, ...] = (
    *HUGE[:-1], None, True, False, 0, 1, -1, 2, 9, 0.5, -0.5, 1e308, "", "a", "SLMClassifier", "softmax", "inf", [], {},
    [[]], [1], {"tuple": []}, {"float": "nan"}, {"dict": [[[], 1]]}, {"estimator": "SLMRegressor", "parameters": {}},
)  # fmt: skip
DTYPES = ("BOOL", "U8", "I8", "I16", "F16", "BF16", "I32", "F32", "I64", "F64", "U64", "F8_E4M3", "X", 3, None)


class Parts(NamedTuple):
    """What a file is made of."""

    header: dict[str, Any]
    document: dict[str, Any]
    arrays: dict[str, Any]


def samples() -> tuple[Any, Any]:
    """A table with gaps and a category, which is the last column, and numbers to learn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    X[:, 2] = np.exp(3 * X[:, 2])
    X[:, 3] = rng.integers(0, 4, 80)
    y = X[:, 0] * X[:, 1] + X[:, 3]
    X[rng.random(80) < 0.2, 1] = np.nan
    return X, y


@cache
def files() -> tuple[bytes, ...]:
    """Files of small models of all kinds."""
    X, y = samples()
    two, three = np.array(["no", "yes"])[(y > 1).astype(int)], np.digitize(y, [0.5, 2.0])
    own: dict[str, Any] = {"random_state": 0, "categorical_features": [3]}
    members = [sublearn.SLMRegressor(min_samples_leaf=20, random_state=0), sublearn.SLMBoostRegressor(**BOOST)]
    models: list[tuple[Any, Any]] = [
        (sublearn.SLMClassifier(min_samples_leaf=5, max_partitions=3, effective_ratio=0.0, **own), three),
        (sublearn.SLMRegressor(min_samples_leaf=10, **own), y),
        (sublearn.SLMForestClassifier(n_estimators=2, voting="hard", bootstrap=True, max_depth=3, **own), two),
        (sublearn.SLMForestRegressor(n_estimators=3, max_depth=3, **own), y),
        (sublearn.SLMBoostClassifier(**BOOST | own, leaf="linear"), two),
        (sublearn.SLMBoostClassifier(**BOOST | own), three),
        (sublearn.SLMBoostRegressor(**BOOST | own, leaf="linear"), y),
        (sublearn.SLMBoostRegressor(**BOOST | own, loss="huber", warm_start=True), y),
        (sublearn.SLMAverageRegressor(members, [3, 1]), y),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.slm"
        found = []
        for model, target in models:
            model.fit(X, target).save(path)
            found.append(path.read_bytes())
    return tuple(found)


def apart(data: bytes) -> Parts:
    """A file in its parts."""
    (n,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + n])
    document = json.loads(header.pop("__metadata__")["sublearn"])
    types = {"BOOL": "?", "I16": "<i2", "I32": "<i4", "I64": "<i8", "F64": "<f8"}
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        flat = np.frombuffer(data[8 + n + begin : 8 + n + end], types[entry["dtype"]])
        arrays[name] = flat.reshape(entry["shape"]).copy()
    return Parts(header, document, arrays)


def together(parts: Parts, is_laid_out: bool = True) -> bytes:
    """A file of its parts; the header is made from the arrays, or stays as it is where nothing is laid out."""
    header, body = {} if is_laid_out else dict(parts.header), b""
    kinds = {"b": "BOOL", "i2": "I16", "i4": "I32", "i8": "I64", "f8": "F64", "f4": "F32", "u8": "U64"}
    for name, array in parts.arrays.items():
        entry = np.ascontiguousarray(array).tobytes()
        if is_laid_out:
            kind = kinds["b" if array.dtype == np.bool_ else f"{array.dtype.kind}{array.dtype.itemsize}"]
            places = [len(body), len(body) + len(entry)]
            header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": places}
        body += entry
    text = json.dumps({"__metadata__": {"sublearn": json.dumps(parts.document)}, **header}).encode()
    return struct.pack("<Q", len(text)) + text + body


def flip_bits(data: bytes, rng: np.random.Generator) -> bytes:
    """Some bits, in the header, in the arrays or anywhere."""
    n = min(int.from_bytes(data[:8], "little"), len(data) - 9)
    ranges = ((0, len(data)), (8, 8 + n), (8 + n, len(data)), (0, 8))
    low, high = pick(rng, [ends for ends in ranges if ends[0] < ends[1]])
    changed = bytearray(data)
    for at in rng.integers(low, high, int(pick(rng, (1, 1, 1, 2, 8)))).tolist():
        changed[at] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def cut(data: bytes, rng: np.random.Generator) -> bytes:
    """Truncated, with more at the end, or with a piece that is gone, twice, zero, or elsewhere."""
    a, b = sorted(rng.integers(0, len(data) + 1, 2).tolist())
    size = int(rng.integers(1, 64))
    ways: tuple[Callable[[], bytes], ...] = (
        lambda: data[:a],
        lambda: data + rng.bytes(size),
        lambda: data[:a] + data[a + size :],
        lambda: data[: a + size] + data[a:],
        lambda: data[:a] + bytes(min(size, len(data) - a)) + data[a + size :],
        lambda: data[:a] + data[b : b + size] + data[a + size :],
        lambda: struct.pack("<Q", int(pick(rng, (0, 1, 8, len(data), 2**40, 2**63, 2**64 - 1)))) + data[8:],
    )
    return pick(rng, ways)()


def change_header(data: bytes, rng: np.random.Generator) -> bytes:
    """Types, shapes and places that are other ones; arrays that are swapped, missing or of another name."""
    parts = apart(data)
    names = list(parts.header)
    name, other = pick(rng, names), pick(rng, names)
    header, entry = parts.header, parts.header[name]
    shape, places = entry["shape"], entry["data_offsets"]
    number = pick(rng, (*HUGE, 0, 1, -1, 0.5, None, [], len(data), *shape, *places))
    ways: tuple[Callable[[], Any], ...] = (
        lambda: header.update({name: header[other], other: entry}),
        lambda: entry.update(dtype=pick(rng, DTYPES)),
        lambda: entry.update(shape=[*shape[:-1], number]),
        lambda: entry.update(shape=pick(rng, ([], [*shape, 1], [1, *shape], [0], shape[::-1], number))),
        lambda: entry.update(data_offsets=pick(rng, ([number, places[1]], [places[0], number], [], places[::-1]))),
        lambda: header.pop(name),
        lambda: header.update({pick(rng, ("x", "", "__metadata__", name * 100)): header.pop(name)}),
        lambda: header.update({name: pick(rng, JUNK)}),
        lambda: header.update(x={"dtype": "F64", "shape": [number], "data_offsets": [0, number]}),
    )
    pick(rng, ways)()
    return together(parts, is_laid_out=False)


def change_document(data: bytes, rng: np.random.Generator) -> bytes:
    """A field, however deep, that is another one, missing, or there under another name."""
    parts = apart(data)
    at: Any = parts.document
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = pick(rng, keys)
        below = at[key]
        if not isinstance(below, dict | list) or not below or rng.random() < 0.1:
            break
        at = below
    if rng.random() < 0.15:
        del at[key]
    elif isinstance(at, list) and rng.random() < 0.3:
        at.append(pick(rng, (*JUNK, below)))
    elif isinstance(at, dict) and rng.random() < 0.1:
        at[pick(rng, ("x", "tuple", "float", *map(str, keys)))] = at.pop(key)
    else:
        near = [below + 1, below - 1, -below, below * 2] if type(below) in (int, float) else []
        at[key] = pick(rng, (*JUNK, *near, *near))
    return together(parts)


def change_arrays(data: bytes, rng: np.random.Generator) -> bytes:
    """Arrays whose entries, lengths or types are other ones, or that belong to other names."""
    parts = apart(data)
    for _ in range(int(pick(rng, (1, 1, 1, 2, 4)))):
        name = pick(rng, list(parts.arrays))
        _change_array(parts.arrays, name, rng)
    return together(parts)


def _change_array(arrays: dict[str, Any], name: str, rng: np.random.Generator) -> None:
    """One array."""
    array = arrays[name]
    way = pick(rng, ("entry", "entry", "entry", "swap entries", "shorter", "longer", "type", "swap arrays", "empty"))
    if way == "entry":
        _change_entry(array, rng)
    elif way == "swap entries":
        _swap_entries(array, rng)
    elif way == "swap arrays":
        other = pick(rng, [key for key in arrays if arrays[key].dtype == array.dtype])
        arrays[name], arrays[other] = arrays[other], array
    elif way == "type":
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(pick(rng, ("<f8", "<i8", "<i4", "?", "<f4", "<i2")), casting="unsafe")
    elif way == "longer":
        arrays[name] = np.concatenate([array, array[-1:]])
    else:
        arrays[name] = array[: len(array) - 1] if way == "shorter" else array[:0]


def _change_entry(array: Any, rng: np.random.Generator) -> None:
    """One entry: near what it was, at the ends of its type, or that of another place."""
    if not array.size:
        return
    flat = array.reshape(-1)
    at = int(rng.integers(flat.size))
    values: tuple[Any, ...]
    if array.dtype.kind == "f":
        values = (0.0, -flat[at], np.nan, np.inf, -np.inf, 1e308, 1e-308, flat[at] * 2, flat[at] * 1.5)
    elif array.dtype.kind == "b":
        flat[at] = not flat[at]
        return
    else:
        ends = np.iinfo(array.dtype)
        near = (int(flat[at]) + d for d in (-2, -1, 1, 2, 256))
        values = (*(v for v in near if ends.min <= v <= ends.max), 0, -1, -2, len(flat), ends.min, ends.max)
    flat[at] = pick(rng, (*values, flat[int(rng.integers(flat.size))]))


def _swap_entries(array: Any, rng: np.random.Generator) -> None:
    if len(array):
        a, b = rng.integers(0, len(array), 2).tolist()
        array[[a, b]] = array[[b, a]]


def bend_tree(data: bytes, rng: np.random.Generator) -> bytes:
    """Trees in which routes would go in circles or elsewhere: a child and its parent agree on what cannot be."""
    parts = apart(data)
    prefix = pick(rng, [name.removesuffix("trees.parent") for name in parts.arrays if name.endswith("trees.parent")])
    trees = {name: parts.arrays[f"{prefix}trees.{name}"] for name in ("parent", "children", "depth", "first_child")}
    parent, children, n = trees["parent"], trees["children"], len(trees["parent"])
    if not len(children):
        return data[:-1]
    cell, node = int(rng.integers(len(children))), int(rng.integers(n))
    splits = np.flatnonzero(trees["first_child"] >= 0)
    owner = int(splits[np.searchsorted(trees["first_child"][splits], cell, side="right") - 1])
    before = int(children[cell])
    children[cell] = pick(rng, (node, owner, int(parent[owner]), 0, n, -1))
    if rng.random() < 0.7 and 0 <= children[cell] < n:
        parent[children[cell]] = owner
    if rng.random() < 0.5 and before >= 0:  # somewhere else, so that each node still has a place
        children[int(rng.integers(len(children)))] = before
    if rng.random() < 0.5:
        trees["depth"][node] += int(rng.integers(-1, 2))
    return together(parts)


def mix(data: bytes, rng: np.random.Generator) -> bytes:
    """Some arrays, or fields, of another model."""
    parts, other = apart(data), apart(pick(rng, files()))
    if rng.random() < 0.4:
        fields, others = parts.document["model"], other.document["model"]
        for key in rng.choice(list(others), int(rng.integers(1, 4))).tolist():
            fields[key] = others[key]
    else:
        group = pick(rng, ("maps.", "trees.", "slopes.", "start", "train", ""))
        parts.arrays.update({name: array for name, array in other.arrays.items() if name.startswith(group)})
    return together(parts)


WAYS = (flip_bits, flip_bits, cut, change_header, change_document, change_arrays, change_arrays, bend_tree, mix)


def draw(rng: np.random.Generator) -> Case:
    """A file, and how it is changed; some are changed twice."""
    number = int(rng.integers(len(files())))
    data, words = files()[number], []
    for _ in range(int(pick(rng, (1, 1, 1, 2)))):
        way = pick(rng, WAYS)
        try:
            data = way(data, rng)
        except (ValueError, KeyError, TypeError, IndexError, struct.error, AttributeError, MemoryError):
            data = flip_bits(data, rng) if len(data) > 16 else data  # it is too far gone for this
        words.append(way.__name__)
    trains, is_traced = (rng.random(2) < (0.02, 0.05)).tolist()
    return Case(f"file {number} {' '.join(words)} {zlib.crc32(data):x}", lambda: run(data, trains, is_traced))


def run(data: bytes, trains: bool, is_traced: bool) -> Outcome:
    """Load and use a file, with an eye on memory: that of the process, and some times every byte."""
    with tempfile.NamedTemporaryFile(suffix=".slm") as file:
        file.write(data)
        file.flush()
        before = _most_memory()
        if is_traced:
            tracemalloc.start()
        try:
            model = sublearn.load(file.name)
            use(model)
            outcome = Outcome(PASSED)
        except sublearn.ModelFileError as error:
            outcome = Outcome(REFUSED, str(error).removeprefix(file.name))
        finally:
            used = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    grown = _most_memory() - before
    if max(used, grown) > len(data) + MOST_MEMORY:
        raise BrokenError(f"{used / 1e6:.0f} MB, or {grown / 1e6:.0f} MB, for a file of {len(data)} bytes")
    if outcome.status == PASSED and trains:
        train_on(model)
    return outcome


def _most_memory() -> int:
    """Bytes that the process has had at the most; 0 where nobody tells."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def use(model: Any) -> None:
    """Predict, and ask a model all that it knows."""
    X = _rows(model.n_features_in_)
    try:
        answers = model.predict(X)
    except ValueError as error:
        if "must be of the types of fit" in str(error):  # such as dates: a model of other data, and none of these
            return
        raise
    if len(answers) != len(X):
        raise BrokenError(f"{len(answers)} answers for {len(X)} rows")
    for method in ("predict_proba", "apply", "decision_path", "decision_function"):
        if hasattr(model, method):
            getattr(model, method)(X[:5])
    if hasattr(model, "staged_predict"):
        for _ in model.staged_predict(X[:5]):
            pass
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # decreases may be any numbers
        _ = model.feature_importances_
    again = pickle.loads(pickle.dumps(model))
    if not np.array_equal(again.predict(X[:5]), answers[:5], equal_nan=answers.dtype.kind == "f"):
        raise BrokenError("a pickle predicts otherwise")


def train_on(model: Any) -> None:
    """Go on training, which may be refused."""
    X, y = samples()
    if not hasattr(model, "warm_start") or model.n_features_in_ != X.shape[1]:
        return
    target = y if not hasattr(model, "classes_") else np.resize(model.classes_, len(y))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.set_params(warm_start=True, n_estimators=len(model.ensemble_.roots) + 1).fit(X, target)
        except (ValueError, TypeError) as error:
            check_readable(error)


def _rows(n_features: int) -> Any:
    """Rows to predict: more than a crown takes, and extremes."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, n_features)) * np.exp(5 * rng.normal(size=(300, n_features)))
    X[:, -1] = rng.integers(0, 5, 300)
    X[:4] = np.array([[0.0], [1e308], [-1e308], [np.nan]])
    return X
