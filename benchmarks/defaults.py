"""How estimators do on real tables with nothing but their defaults: ours, and those one would otherwise take.

    python benchmarks/defaults.py                               # all sets at hand; hours, most of them CatBoost's
    python benchmarks/defaults.py --kinds boost --sets pima,kin8nm
    python benchmarks/defaults.py --groups hand,study,check --data-dir FOLDER   # and those of benchmarks/further.py
    python benchmarks/defaults.py --setting "slm-boost:learning_rate=.05,n_estimators=400"
    python benchmarks/defaults.py --report                      # no fits: what is there already

Splits of 75/25, more of them where rows are few. Every fit has one thread, and two run at a time. A fit that was seen
is not repeated while library and settings stay the same: results are kept, line by line, in bench/defaults.jsonl.
"""

import argparse
import ast
import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score, root_mean_squared_error

import sublearn
import tables
from ranks import report

KINDS: dict[str, tuple[str, ...]] = {
    "tree": ("slm-tree", "decision-tree"),
    "forest": ("slm-forest", "random-forest", "extra-trees"),
    "boost": ("slm-boost", "hist-boosting", "xgboost", "lightgbm", "catboost", "chimeraboost"),
}
SLOW = {"boost": ("ydf-boost",), "forest": ("ydf-forest",), "tree": ()}
LIBRARIES = {  # of contenders that are not scikit-learn's: what is installed, what is imported
    "xgboost": ("xgboost-cpu", "xgboost"),
    "lightgbm": ("lightgbm", "lightgbm"),
    "catboost": ("catboost", "catboost"),
    "chimeraboost": ("chimeraboost", "chimeraboost"),
    "ydf-boost": ("ydf", "ydf"),
    "ydf-forest": ("ydf", "ydf"),
}
COMPILED = ("slm-tree", "slm-forest", "slm-boost", "chimeraboost")  # when first used
ECE_BINS = 15


Run = Callable[["Cell", tuple[Path, ...]], dict[str, float]]


class Cell(NamedTuple):
    """One fit."""

    table: str
    seed: int
    contender: str  # a name, for ours with settings after a colon
    version: str


def make(contender: str, is_classes: bool, seed: int) -> Any:
    """An estimator with its defaults, but for the seed and one thread."""
    name, _, settings = contender.partition(":")
    ending = "Classifier" if is_classes else "Regressor"
    if name.startswith("slm-"):
        kind = {"tree": "SLM", "forest": "SLMForest", "boost": "SLMBoost"}[name.removeprefix("slm-")]
        return getattr(sublearn, kind + ending)(random_state=seed, **{"n_jobs": 1, **options(settings)})
    if name.startswith("ydf-"):
        from sublearn.bench.contenders import CONTENDERS, Job

        return CONTENDERS[name].make(Job(is_classes, 300, 1))  # YDF's own number of trees
    module, prefix, extra = {
        "decision-tree": ("sklearn.tree", "DecisionTree", {}),
        "random-forest": ("sklearn.ensemble", "RandomForest", {}),
        "extra-trees": ("sklearn.ensemble", "ExtraTrees", {}),
        "hist-boosting": ("sklearn.ensemble", "HistGradientBoosting", {}),
        "xgboost": ("xgboost", "XGB", {"n_jobs": 1}),
        "lightgbm": ("lightgbm", "LGBM", {"n_jobs": 1, "verbosity": -1}),
        "catboost": ("catboost", "CatBoost", {"thread_count": 1, "verbose": 0, "allow_writing_files": False}),
        "chimeraboost": ("chimeraboost", "ChimeraBoost", {"thread_count": 1}),
    }[name]
    return getattr(import_module(module), prefix + ending)(random_state=seed, **extra)


def options(settings: str) -> dict[str, Any]:
    """From "a=1,b=(2,3),c=text"."""
    if not settings:
        return {}
    call = ast.parse(f"f({settings})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {
        str(keyword.arg): keyword.value.id if isinstance(keyword.value, ast.Name) else ast.literal_eval(keyword.value)
        for keyword in call.keywords
    }


@cache
def version_of(contender: str) -> str:
    """What a result depends on beside the cell: the library's version, of ours the sources."""
    if contender.startswith("slm-"):
        folder = Path(sublearn.__file__).parent
        parts = [folder / name for name in ("_base", "core", "kernels")]
        files = [*folder.glob("*.py"), *(path for part in parts for path in part.rglob("*.py"))]
        return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).hexdigest()[:8]
    return version(LIBRARIES.get(contender, ("scikit-learn", ""))[0])


def is_missing(contender: str) -> bool:
    return contender in LIBRARIES and find_spec(LIBRARIES[contender][1]) is None


@cache
def loaded(name: str, folders: tuple[Path, ...]) -> tables.Table | None:
    return tables.load(name, list(folders))


def run(cell: Cell, folders: tuple[Path, ...]) -> dict[str, float]:
    """Scores on the test part, and seconds."""
    table = loaded(cell.table, folders)
    assert table is not None
    X_train, X_test, y_train, y_test = tables.split(table, cell.seed)
    model = make(cell.contender, table.is_classes, cell.seed)
    if cell.contender.partition(":")[0] in COMPILED:  # which is not timed
        make(cell.contender, table.is_classes, 0).fit(X_train[:50], y_train[:50])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LightGBM's, of names of features
        begin = time.process_time()
        model.fit(X_train, y_train)
        seconds = time.process_time() - begin
        found = scores(model, X_test, y_test, table.is_classes)
    return {"seconds": seconds, **found}


def scores(model: Any, X: Any, y: Any, is_classes: bool) -> dict[str, float]:
    if not is_classes:
        return {"rmse": root_mean_squared_error(y, np.asarray(model.predict(X)).ravel())}
    given = np.asarray(model.predict_proba(X), np.float64)
    labels = np.arange(given.shape[1])
    auc = roc_auc_score(y, given[:, 1]) if len(labels) == 2 else roc_auc_score(y, _ones(given), multi_class="ovr")
    return {
        "accuracy": accuracy_score(y, given.argmax(axis=1)),
        "log_loss": log_loss(y, given, labels=labels),
        "auc": float(auc),
        "ece": calibration_error(y, given),
    }


def _ones(given: Any) -> Any:
    """Probabilities that add up to 1 by float64's lights too."""
    return given / given.sum(axis=1, keepdims=True)


def calibration_error(y: Any, given: Any) -> float:
    """Expected calibration error of the class that is predicted, in equal-width bins of its probability."""
    confidence = given.max(axis=1)
    bins = np.minimum((confidence * ECE_BINS).astype(int), ECE_BINS - 1)
    gaps = np.bincount(bins, (given.argmax(axis=1) == y) - confidence, ECE_BINS)
    return float(np.abs(gaps).sum() / len(y))


def read(path: Path) -> dict[Cell, dict[str, float]]:
    """Results so far; a line cut short is left out."""
    found: dict[Cell, dict[str, float]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            *cell, result = json.loads(line)
            found[Cell(*cell)] = result
        except ValueError:
            continue
    return found


def run_all(
    cells: list[Cell], folders: tuple[Path, ...], path: Path, run: Run = run
) -> Iterator[tuple[Cell, dict[str, float]]]:
    """Results as they come, each kept at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # of the processes that fit
    with ProcessPoolExecutor(2, get_context("spawn")) as pool, path.open("a") as file:
        futures = {pool.submit(run, cell, folders): cell for cell in cells}
        for done, future in enumerate(as_completed(futures), 1):
            if future.exception() is not None:
                pool.shutdown(cancel_futures=True)  # else all others would still be fitted, and lost
            cell, result = futures[future], future.result()
            file.write(json.dumps([*cell, result]) + "\n")
            file.flush()
            loss = result.get("log_loss", result.get("rmse"))
            seconds = result["seconds"]
            print(
                f"{done}/{len(cells)} {cell.table} {cell.seed} {cell.contender}: {loss:.5g}, {seconds:.2f} s",
                flush=True,
            )
            yield cell, result


def add_arguments(parser: argparse.ArgumentParser, splits: int, name: str) -> None:
    """What all benchmarks of many tables take."""
    parser.add_argument("--splits", type=int, default=splits, help="at the most")
    parser.add_argument("--first", type=int, default=0, help="seed of the first split")
    parser.add_argument("--only", help="contenders")
    parser.add_argument("--results", type=Path, default=Path(f"bench/{name}.jsonl"))
    parser.add_argument("--report", action="store_true", help="fit nothing")
    parser.add_argument("--out", type=Path, default=Path("bench"), help="folder of the pictures")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default="tree,forest,boost")
    parser.add_argument("--groups", default="hand", help="of sets: hand, study, check")
    parser.add_argument("--sets", help="names, in the place of groups")
    parser.add_argument("--setting", action="append", default=[], help="of ours, as one more contender")
    parser.add_argument("--slow", action="store_true", help="YDF's oblique trees too")
    parser.add_argument("--data-dir", type=Path, action="append", default=[])
    add_arguments(parser, splits=10, name="defaults")
    arguments = parser.parse_args()
    names = arguments.sets.split(",") if arguments.sets else _grouped(arguments.groups.split(","))
    folders = tuple(arguments.data_dir)
    known = read(arguments.results)
    for kind in arguments.kinds.split(","):
        contenders = [*KINDS[kind], *(SLOW[kind] if arguments.slow else ())]
        contenders += [text for text in arguments.setting if text.split(":")[0] == f"slm-{kind}"]
        if arguments.only:
            contenders = [c for c in contenders if c in arguments.only.split(",") or ":" in c]
        for contender in filter(is_missing, contenders):
            print(f"{contender} is left out: pip install 'sublearn[bench]'")
        contenders = [contender for contender in contenders if not is_missing(contender)]
        cells = list(_cells(names, contenders, folders, arguments))
        if not arguments.report:
            known.update(run_all([cell for cell in cells if cell not in known], folders, arguments.results))
        report(kind, contenders, {cell: known[cell] for cell in cells if cell in known}, arguments.out)


def _grouped(groups: list[str]) -> list[str]:
    return [name for group in groups for name in tables.GROUPS[group]]


def _cells(names: list[str], contenders: list[str], folders: tuple[Path, ...], arguments: Any) -> Iterator[Cell]:
    for name in names:
        table = loaded(name, folders)
        if table is None:
            print(f"{name} is left out: no file of it in the data folder")
            continue
        for seed in range(arguments.first, arguments.first + tables.n_splits(table, arguments.splits)):
            for contender in contenders:
                yield Cell(name, seed, contender, version_of(contender))


if __name__ == "__main__":
    main()
