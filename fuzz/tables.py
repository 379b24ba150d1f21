"""X and y of all types, shapes and sizes."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from scipy.sparse import csr_matrix

from fuzz.cases import PASSED, REFUSED, BrokenError, Case, Outcome, pick, shown
from fuzz.fits import ESTIMATORS, fit_refusal, is_classifier, refusal, small
from fuzz.promises import check_promises

Rng = np.random.Generator
ROWS = (1, 2, 3, 5, 8, 20, 60, 60, 200, 1100)
COLUMNS = (1, 1, 2, 3, 5, 8, 20)

COLUMN: dict[str, Callable[[Rng, int], Any]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "constant": lambda rng, n: np.full(n, rng.normal()),
    "zero": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, -0.0),
    "ties": lambda rng, n: rng.integers(3, size=n).astype(float),
    "heavy tails": lambda rng, n: np.exp(20.0 * rng.normal(size=n)),
    "huge": lambda rng, n: 1e308 * rng.uniform(-1.7, 1.7, n),
    "tiny": lambda rng, n: 5e-324 * rng.integers(-5, 6, n),
    "far from zero": lambda rng, n: 1e15 + rng.integers(3, size=n),
    "one outlier": lambda rng, n: np.where(np.arange(n) == 0, 1e300, rng.normal(size=n)),
    "with NaN": lambda rng, n: np.where(np.arange(n) == n // 2, np.nan, rng.normal(size=n)),
    "with inf": lambda rng, n: np.where(np.arange(n) == n // 2, -np.inf, rng.normal(size=n)),
}
GOOD = [name for name in COLUMN if not name.startswith("with")]

# columns of frames that hold something else than numbers; those of UNREADABLE nobody can learn from
ODD_COLUMN: dict[str, Callable[[Rng, int], Any]] = {
    "text": lambda rng, n: [pick(rng, ["a", "b", "1.5"]) for _ in range(n - 1)] + ["x"],
    "text with gaps": lambda rng, n: [pick(rng, ["a", "b", "", None]) for _ in range(n - 1)] + ["x"],
    "many levels": lambda rng, n: [f"level {i}" for i in rng.integers(max(n // 3, 1), size=n)],
    "all different": lambda rng, n: [f"level {i}" for i in rng.permutation(n)],
    "dates": lambda rng, n: [datetime(2020, 1, 1 + int(rng.integers(9))) for _ in range(n)],
    "durations": lambda rng, n: [timedelta(seconds=int(rng.integers(9))) for _ in range(n)],
    "None": lambda rng, n: [None, *rng.normal(size=n - 1).tolist()],
    "nothing": lambda rng, n: [None] * n,
    "objects": lambda rng, n: [{"a": 1}] * n,
}
UNREADABLE = ("objects",)

CONTAINER: dict[str, Callable[[Any], Any]] = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "int8": lambda X: _whole(X, np.int8),
    "int64": lambda X: _whole(X, np.int64),
    "uint64": lambda X: _whole(X, np.uint64),
    "bool": lambda X: X > 0,
    "object": lambda X: X.astype(object),
    "text": lambda X: X.astype(str),
    "complex": lambda X: X + 0j,
    "columns first": np.asfortranarray,
    "reversed": lambda X: X[::-1, ::-1],
    "read-only": lambda X: _read_only(X),
    "big-endian": lambda X: X.astype(">f8"),
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, index=np.arange(len(X)) * 3 - 7, columns=_names(X)),
    "pandas with holes": lambda X: pd.DataFrame(X, columns=_names(X)).convert_dtypes(),
    "pandas without names": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=_names(X)),
    "sparse": csr_matrix,
    "one column": lambda X: X[:, 0],
    "three axes": lambda X: X[None],
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "None": lambda X: None,
    "a number": lambda X: 3.0,
    "a string": lambda X: "X",
}

CLASSES: dict[str, Callable[[Rng, int], Any]] = {
    "two": lambda rng, n: rng.integers(2, size=n),
    "three": lambda rng, n: rng.integers(3, size=n),
    "one": lambda rng, n: np.ones(n, int),
    "all different": lambda rng, n: np.arange(n),
    "words": lambda rng, n: np.array(["a", "b", "ab"])[rng.integers(3, size=n)],
    "words as objects": lambda rng, n: np.array(["a", "b", ""], object)[rng.integers(3, size=n)],
    "flags": lambda rng, n: rng.random(n) < 0.5,
    "whole floats": lambda rng, n: rng.integers(-2, 2, n).astype(float),
    "far apart": lambda rng, n: np.array([-(2**63), 0, 2**63 - 1])[rng.integers(3, size=n)],
    "unsigned": lambda rng, n: rng.integers(2, size=n).astype(np.uint64) + np.uint64(2**63),
    "list": lambda rng, n: rng.integers(3, size=n).tolist(),
    "pandas": lambda rng, n: pd.Series(rng.integers(3, size=n), index=np.arange(n) + 5),
    "categories": lambda rng, n: pd.Series(rng.integers(3, size=n)).astype("category"),
    "polars": lambda rng, n: pl.Series(rng.integers(3, size=n)),
    "a column": lambda rng, n: rng.integers(3, size=(n, 1)),
}
NUMBERS: dict[str, Callable[[Rng, int], Any]] = {
    "whole": lambda rng, n: rng.integers(-5, 5, n),
    "flags": CLASSES["flags"],
    "positive": lambda rng, n: rng.exponential(size=n),
    "float32": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "float16": lambda rng, n: rng.normal(size=n).astype(np.float16),
    "large whole": lambda rng, n: rng.integers(2**62, 2**63 - 1, n),
    "list": lambda rng, n: rng.normal(size=n).tolist(),
    "numbers as objects": lambda rng, n: rng.normal(size=n).astype(object),
    "pandas": lambda rng, n: pd.Series(rng.normal(size=n), index=np.arange(n) + 5),
    "polars": lambda rng, n: pl.Series(rng.normal(size=n)),
    "a column": lambda rng, n: rng.normal(size=(n, 1)),
    **{name: COLUMN[name] for name in GOOD},
}
ODD: dict[str, Callable[[Rng, int], Any]] = {
    "None": lambda rng, n: None,
    "a number": lambda rng, n: 1.0,
    "too short": lambda rng, n: np.arange(n - 1) % 2,
    "two columns": lambda rng, n: rng.integers(2, size=(n, 2)),
    "some None": lambda rng, n: np.array([None, *[1] * (n - 1)], object),
    "all None": lambda rng, n: [None] * n,
    "NaN": COLUMN["with NaN"],
    "inf": COLUMN["with inf"],
    "inf as objects": lambda rng, n: np.array([np.inf, *[1.0] * (n - 1)], object),
    "mixed": lambda rng, n: np.array([1, "a", *[2.5] * n], object)[:n],
    "numbers and words": lambda rng, n: [*[1] * (n - 1), "a"],
    "dates": lambda rng, n: np.array(["2020-01-01", "2021-01-01"], "datetime64[D]")[rng.integers(2, size=n)],
    "complex": lambda rng, n: rng.normal(size=n) + 1j,
    "lists": lambda rng, n: [[1]] * (n - 1) + [[1, 2]],
    "holes": lambda rng, n: pd.Series([None, *[1] * (n - 1)], dtype="Int64"),
    "far whole": lambda rng, n: np.array([10**400, *[1] * (n - 1)], object),
    "bytes": lambda rng, n: np.array([b"a", b"b"])[rng.integers(2, size=n)],
    "odd words": lambda rng, n: ["x"] * n,
    "sets": lambda rng, n: [{1}] * n,
}


def _names(X: Any) -> list[str]:
    return [f"column{i}" for i in range(X.shape[1])]


def _whole(X: Any, kind: Any) -> Any:
    limits = np.iinfo(kind)
    return np.clip(np.nan_to_num(X), float(limits.min) / 2, float(limits.max) / 2).astype(kind)


def _read_only(X: Any) -> Any:
    X.flags.writeable = False
    return X


class Table(NamedTuple):
    """X in words and as it is, and the column that should be named when it is refused."""

    words: str
    X: Any
    n_rows: int
    culprit: str = ""


def draw(rng: Rng) -> Case:
    """An estimator, data to fit and samples to predict."""
    estimator: Any = pick(rng, ESTIMATORS)
    table = _draw_table(rng, int(pick(rng, ROWS)), int(pick(rng, COLUMNS)))
    answers = CLASSES if is_classifier(estimator) else NUMBERS
    answers = ODD if rng.random() < 0.2 else answers
    name = pick(rng, list(answers))
    y = answers[name](rng, table.n_rows)
    more = _draw_table(rng, 7, int(pick(rng, COLUMNS)))
    model = estimator(random_state=0) if rng.random() < 0.1 else small(estimator)
    text = f"{model!r}.fit(X: {table.words}, y: {name}), then X: {more.words}"
    return Case(text, lambda: _run(model, table, y, answers is ODD, more, rng))


def _draw_table(rng: Rng, n: int, d: int) -> Table:
    """Half of them of good columns in any container, some with a bad one, many frames with an odd one."""
    names = [pick(rng, list(COLUMN) if rng.random() < 0.05 else GOOD) for _ in range(d)]
    with np.errstate(all="ignore"):
        X = np.column_stack([COLUMN[name](rng, n) for name in names])
        words = f"{n} x {d} of {', '.join(sorted(set(names)))}"
        if rng.random() < 0.3:
            return _with_odd_column(rng, X, words)
        container = pick(rng, list(CONTAINER))
        return Table(f"{words}, as {container}", CONTAINER[container](X), n)


def _with_odd_column(rng: Rng, X: Any, words: str) -> Table:
    name, n = pick(rng, list(ODD_COLUMN)), len(X)
    values = ODD_COLUMN[name](rng, n)
    if rng.random() < 0.5:
        frame = pd.DataFrame({**dict(zip(_names(X), X.T, strict=True)), "odd": values})
        if rng.random() < 0.3 and isinstance(values[-1], str):
            frame["odd"] = frame["odd"].astype("category")
    else:
        frame = pl.DataFrame({**dict(zip(_names(X), X.T, strict=True)), "odd": values}, strict=False)
        if rng.random() < 0.3 and isinstance(values[-1], str):
            frame = frame.with_columns(pl.col("odd").cast(pl.Categorical))
        if rng.random() < 0.5:
            frame = frame.to_arrow()
    culprit = "odd" if name in UNREADABLE and not np.isinf(X).any() else ""
    return Table(f"{words} and a column of {name}, as {type(frame).__module__.partition('.')[0]}", frame, n, culprit)


def _run(model: Any, table: Table, y: Any, is_odd: bool, more: Table, rng: Rng) -> Outcome:
    error = fit_refusal(model, table.X, y)
    if error is not None:
        if table.culprit and not is_odd and table.culprit not in str(error):
            raise BrokenError(f"the message does not name the column: {shown(str(error))}")
        return Outcome(REFUSED)
    if table.culprit:
        raise BrokenError("a column that nobody can learn from was fitted")
    check_promises(model, table.X, y, None, rng)
    if refusal(lambda: model.predict(more.X)) is None and model.predict(more.X).shape != (more.n_rows,):
        raise BrokenError("predictions of other samples have another shape")
    return Outcome(PASSED)
