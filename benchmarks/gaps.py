"""Numbers with gaps: ours and libraries that take missing values themselves, all with their defaults.

    python benchmarks/gaps.py                              # sets at hand but usps, four ways, three splits
    python benchmarks/gaps.py --sets pima,kin8nm --ways random-30
    python benchmarks/gaps.py --report                     # no fits: what is there already

`random-30`: each value is removed by a chance of 30 %, from training and test samples alike. `large-30`: only values
above the median of their feature are, so that a gap tells something; 30 % of all values are gone. Every fit has one
thread, and two run at a time; results are kept, line by line, in bench/gaps.jsonl.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import tables
from defaults import Cell, add_arguments, is_missing, loaded, make, read, run_all, scores, version_of
from ranks import report

CONTENDERS = ("slm-boost", "xgboost", "lightgbm", "hist-boosting")
WIDE = ("usps",)  # takes long: 256 features of three views each
WAYS = ("random-10", "random-30", "large-10", "large-30")


def with_gaps(X: Any, way: str, seed: int) -> Any:
    """X with some values removed."""
    kind, _, percent = way.partition("-")
    chance, drawn = int(percent) / 100, np.random.default_rng(seed).random(X.shape)
    if kind == "random":
        return np.where(drawn < chance, np.nan, X)
    ranks = X.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return np.where((ranks >= len(X) / 2) & (drawn < 2 * chance), np.nan, X)


def run(cell: Cell, folders: tuple[Path, ...]) -> dict[str, float]:
    """Scores on the test part, and seconds."""
    name, way = cell.table.split("/")
    table = loaded(name, folders)
    assert table is not None
    gappy = table._replace(X=with_gaps(table.X, way, cell.seed))
    X_train, X_test, y_train, y_test = tables.split(gappy, cell.seed)
    model = make(cell.contender, table.is_classes, cell.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if cell.contender.startswith("slm-"):  # compiled beforehand
            make(cell.contender, table.is_classes, 0).fit(X_train[:50], y_train[:50])
        begin = time.process_time()
        model.fit(X_train, y_train)
        seconds = time.process_time() - begin
        return {"seconds": seconds, **scores(model, X_test, y_test, table.is_classes)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help="names; those at hand where none is given")
    parser.add_argument("--ways", default=",".join(WAYS))
    add_arguments(parser, splits=3, name="gaps")
    arguments = parser.parse_args()
    names = arguments.sets.split(",") if arguments.sets else [n for n in tables.GROUPS["hand"] if n not in WIDE]
    names = [name for name in names if loaded(name, ()) is not None]
    contenders = [c for c in CONTENDERS if not is_missing(c) and (not arguments.only or c in arguments.only.split(","))]
    known = read(arguments.results)
    for way in arguments.ways.split(","):
        seeds = range(arguments.first, arguments.first + arguments.splits)
        cells = [Cell(f"{n}/{way}", seed, c, version_of(c)) for seed in seeds for n in names for c in contenders]
        if not arguments.report:
            known.update(run_all([cell for cell in cells if cell not in known], (), arguments.results, run))
        report(f"gaps-{way}", contenders, {cell: known[cell] for cell in cells if cell in known}, arguments.out)


if __name__ == "__main__":
    main()
