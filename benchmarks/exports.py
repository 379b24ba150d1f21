"""Exported models beside our own: every estimator on every table at hand, row by row, with sizes and times.

    python benchmarks/exports.py                               # all tables
    python benchmarks/exports.py --sets pima,ames --kinds tree,boost
    python benchmarks/exports.py --million california_housing --kinds tree,boost  # a million rows, drawn and moved

Defaults are fitted to all rows, and answer for all of them. `off` is the largest difference of a probability, or of a
number in units of the largest; `labels` are rows whose class differs although the two best are more than 1e-5 apart;
`bits` are rows whose answers in C are not the same to the bit. Sizes are in bytes, times in microseconds a row, of one
thread. SQL is tried where `to_sql` takes the model, on the first rows.
"""

import argparse
import ctypes
import json
import pickle
import shutil
import sqlite3
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
import pandas as pd

import tables
from files import FOLDER
from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    to_c,
    to_onnx,
    to_sql,
)

KINDS = {
    "tree": (SLMRegressor, SLMClassifier),
    "forest": (SLMForestRegressor, SLMForestClassifier),
    "boost": (SLMBoostRegressor, SLMBoostClassifier),
}
MIXED = ("ames", "credit", "flchain", "hotel_rates", "loans", "movies", "stackoverflow", "telco_churn")
BATCH = 1000  # rows that onnxruntime gets at a time
TIMED = 4000  # rows whose times are taken
SQL_ROWS = 500
MANY = """
void m_many(const double *x, double *out, long n)
{
    long i;
    for (i = 0; i < n; i++)
        m_predict(x + i * m_N_FEATURES, out + i * m_N_ANSWERS);
}
"""


class Given(NamedTuple):
    """A table and what is to be told of it."""

    X: Any
    y: Any
    is_classes: bool


def load(name: str) -> Given | None:
    """A table by name; None if there is no file of it."""
    if name not in MIXED:
        table = tables.load(name, [])
        return None if table is None else Given(*table)
    path = FOLDER / "mixed" / f"{name}.csv.gz"
    if not path.exists():
        return None
    about = json.loads((FOLDER / "mixed" / "meta.json").read_text())[name]
    frame = pd.read_csv(path)
    y = frame.pop("target").to_numpy()
    return Given(frame.astype(dict.fromkeys(about["categorical"], object)), y, about["task"] != "reg")


def expected(model: Any, X: Any) -> Any:
    """Probabilities, or numbers as a column."""
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)[:, None]


def seconds(run: Callable[[], Any]) -> float:
    """The shorter of two times, as the processor counts them."""
    times = []
    for _ in range(2):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return min(times)


class Onnx:
    """A model in onnxruntime."""

    def __init__(self, model: Any) -> None:
        content = to_onnx(model).SerializeToString()
        self.n_bytes = len(content)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        self.inputs = self.session.get_inputs()

    def feed(self, X: Any) -> dict[str, Any]:
        """Rows as inputs."""
        if self.inputs[0].name == "X":
            return {"X": np.ascontiguousarray(X, np.float64)}
        return {
            one.name: (
                X.iloc[:, f].fillna("").to_numpy(object)
                if one.type == "tensor(string)"
                else X.iloc[:, f].to_numpy(float)
            )[:, None]
            for f, one in enumerate(self.inputs)
        }

    def answers(self, X: Any) -> Any:
        """Answers, a batch at a time."""
        feed = self.feed(X)
        parts = [
            self.session.run(None, {name: column[i : i + BATCH] for name, column in feed.items()})
            for i in range(0, len(X), BATCH)
        ]
        last = np.concatenate([part[-1] for part in parts])
        self.labels = np.concatenate([part[0] for part in parts]) if len(parts[0]) > 1 else None
        return last if last.ndim == 2 else last[:, None]


class InC:
    """A model in C."""

    def __init__(self, model: Any, folder: Path) -> None:
        source, library = folder / "m.c", folder / f"m{time.monotonic_ns()}.so"
        source.write_text(to_c(model, name="m") + MANY)
        flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, str(source), "-o", str(library)], check=True)
        self.n_bytes = library.stat().st_size
        self.functions = ctypes.CDLL(str(library))
        self.levels = model._model.levels
        self.n = len(model.classes_) if hasattr(model, "classes_") else 1

    def matrix(self, X: Any) -> Any:
        """Rows as numbers; categories by the functions of the file."""
        if not isinstance(X, pd.DataFrame):
            return np.ascontiguousarray(X, np.float64)
        columns = [self._column(f, X.iloc[:, f]) for f in range(X.shape[1])]
        return np.ascontiguousarray(np.column_stack(columns))

    def _column(self, f: int, values: Any) -> Any:
        if self.levels[f] is None:
            return values.to_numpy(np.float64)
        is_text = any(isinstance(level, str) for level in self.levels[f])
        number_of = getattr(self.functions, f"m_level_{f}")
        number_of.argtypes = [ctypes.c_char_p if is_text else ctypes.c_double]
        return values.map(lambda one: np.nan if pd.isna(one) else number_of(one.encode() if is_text else one)).astype(
            float
        )

    def answers(self, X: Any) -> Any:
        """Answers for a matrix."""
        out = np.empty((len(X), self.n))
        address = X.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p)
        self.functions.m_many(*address, ctypes.c_long(len(X)))
        return out


def off(found: Any, wanted: Any) -> float:
    """The largest difference, in units of the largest number where that is above 1."""
    return float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1.0))


def wrong_labels(found: Any, model: Any, X: Any, wanted: Any) -> int:
    """Rows of another class, where the two best are more than 1e-5 apart."""
    if found is None:
        return 0
    best = np.sort(wanted, axis=1)
    return int(((found != model.predict(X)) & (best[:, -1] - best[:, -2] > 1e-5)).sum())


def in_sqlite(model: Any, X: Any, wanted: Any) -> str:
    """How far SQLite is off for the first rows, or that the model is too large."""
    table = pd.DataFrame(X).iloc[:SQL_ROWS].reset_index(drop=True)
    names = [f"c{f}" for f in range(table.shape[1])]
    try:
        query = to_sql(model, feature_names=names, keep=["key"])
    except ValueError:
        return "-"
    base = sqlite3.connect(":memory:")
    table.set_axis(names, axis=1).assign(key=range(len(table))).to_sql("samples", base, index=False)
    found = pd.read_sql(query, base).sort_values("key")
    base.close()
    return f"{off(found.iloc[:, -wanted.shape[1] :].to_numpy(float), wanted[: len(table)]):.0e}"


def compare(name: str, kind: str, given: Given, folder: Path) -> str:
    """One line of the report."""
    model: Any = KINDS[kind][given.is_classes](random_state=0, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(given.X, given.y)
    wanted = expected(model, given.X)
    graph, file = Onnx(model), InC(model, folder)
    found, matrix = graph.answers(given.X), file.matrix(given.X)
    labels = wrong_labels(graph.labels, model, given.X, wanted)
    bits = int((file.answers(matrix) != wanted).any(axis=1).sum())
    part = given.X[:TIMED]
    times = [
        seconds(run) / len(part) * 1e6
        for run in (lambda: expected(model, part), lambda: graph.answers(part), lambda: file.answers(matrix[:TIMED]))
    ]
    sizes = len(pickle.dumps(model._model)), graph.n_bytes, file.n_bytes
    columns = [f"{name:<20}{kind:<7}{len(given.y):>8,}", f"{off(found, wanted):.0e}", f"{labels}", f"{bits}"]
    columns += [in_sqlite(model, given.X, wanted), *(f"{size:,}" for size in sizes), *(f"{one:.1f}" for one in times)]
    return " | ".join(columns)


HEAD = "table, kind, rows | off | labels | bits | SQL off | pickle, bytes | ONNX | C | ours, us a row | ONNX | C"


def million(name: str, kinds: list[str]) -> Iterator[str]:
    """A million rows: those of a table, drawn and moved by a hundredth of their deviations."""
    given = load(name)
    assert given is not None
    random = np.random.default_rng(0)
    rows = given.X[random.integers(0, len(given.X), 1_000_000)]
    rows = rows + random.normal(size=rows.shape) * (given.X.std(axis=0) / 100)
    for kind in kinds:
        model: Any = KINDS[kind][given.is_classes](random_state=0, n_jobs=1).fit(given.X, given.y)
        graph, wanted = Onnx(model), expected(model, rows)
        found = graph.answers(rows)
        labels = wrong_labels(graph.labels, model, rows, wanted)
        yield f"{name:<20}{kind:<7}{len(rows):>9,} rows | off {off(found, wanted):.0e} | labels {labels}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join([*tables.BUNDLED, *tables.AT_HAND, *MIXED]))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--million", metavar="SET", help="only a million rows of this table")
    options = parser.parse_args()
    if options.million:
        for line in million(options.million, options.kinds.split(",")):
            print(line, flush=True)
        return
    if shutil.which("cc") is None:
        parser.error("there is no C compiler")
    print(HEAD)
    for name in options.sets.split(","):
        given = load(name)
        if given is None:
            print(f"{name:<20}skipped: there is no file of it")
            continue
        for kind in options.kinds.split(","):
            with tempfile.TemporaryDirectory() as folder:
                print(compare(name, kind, given, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
