"""Real tables with categories and gaps: ours, and other libraries fed as their manuals say, all with their defaults.

    python benchmarks/mixed.py                                  # eight tables, ten splits of 60/40; hours
    python benchmarks/mixed.py --sets credit,ames --splits 3 --kinds boost
    python benchmarks/mixed.py --only slm-boost,catboost --first 100
    python benchmarks/mixed.py --report                         # no fits: what is there already

Contenders with @ are fed through an encoder of scikit-learn, numbers through medians with indicators of gaps. Every fit
has one thread, and two run at a time; results are kept, line by line, in bench/mixed.jsonl.
"""

import argparse
import json
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

from defaults import Cell, add_arguments, is_missing, make, read, run_all, scores, version_of
from files import FOLDER
from ranks import report

TEST_SHARE = 0.4
ENCODERS = ("one-hot", "ordinal", "target")
KINDS = {
    "boost": (
        "slm-boost",
        *(f"slm-boost@{name}" for name in ENCODERS),
        *("catboost", "chimeraboost", "lightgbm", "xgboost", "hist-boosting"),
    ),
    "forest": ("slm-forest", *(f"random-forest@{name}" for name in ENCODERS)),
}
GAP = "missing"
MOST_LEVELS = 254  # that HistGradientBoosting takes


@cache
def loaded(name: str) -> tuple[Any, Any, bool, list[str]]:
    """Columns, target, whether it has classes, and names of the categorical columns."""
    about = json.loads((FOLDER / "mixed" / "meta.json").read_text())[name]
    frame = pd.read_csv(FOLDER / "mixed" / f"{name}.csv.gz")
    y = frame.pop("target").to_numpy()
    names = list(about["categorical"])
    return frame.astype(dict.fromkeys(names, object)), y, about["task"] != "reg", names


def encoded(name: str, is_classes: bool, names: list[str], numbers: list[str], seed: int) -> Any:
    """Categories through an encoder, numbers through medians."""
    encoder: Any = {
        "one-hot": OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5, sparse_output=False),
        "ordinal": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2),
        "target": TargetEncoder(target_type="auto" if is_classes else "continuous", random_state=seed),
    }[name]
    return make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="constant", fill_value=GAP), encoder), names),
        (SimpleImputer(strategy="median", add_indicator=True), numbers),
    )


def fed(contender: str, X: Any, names: list[str]) -> Any:
    """The table as a library wants it."""
    if contender.startswith("slm-"):
        return X
    if contender in ("catboost", "chimeraboost"):
        return X.assign(**{name: X[name].fillna(GAP).astype(str) for name in names})
    return X


def typed(train: Any, test: Any, names: list[str], most: int | None) -> tuple[Any, Any]:
    """With category types; levels are the most frequent of the training part, others are missing."""
    levels = {
        name: pd.CategoricalDtype(sorted(train[name].dropna().astype(str).value_counts().index[:most]))
        for name in names
    }
    return tuple(
        X.assign(**{name: X[name].where(X[name].isna(), X[name].astype(str)).astype(levels[name]) for name in names})
        for X in (train, test)
    )


def estimator(contender: str, is_classes: bool, seed: int, names: list[str], columns: list[str]) -> Any:
    """A contender with its defaults, told of the categories."""
    name, _, encoder = contender.partition("@")
    model = make(name, is_classes, seed)
    if encoder:
        numbers = [column for column in columns if column not in names]
        return make_pipeline(encoded(encoder, is_classes, names, numbers, seed), model)
    if name in ("catboost", "chimeraboost"):
        model.set_params(cat_features=names)
    elif name == "xgboost":
        model.set_params(enable_categorical=True)
    return model


def run(cell: Cell, folders: tuple[Path, ...]) -> dict[str, float]:
    """Scores on the test part, and seconds."""
    X, y, is_classes, names = loaded(cell.table)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=TEST_SHARE, random_state=cell.seed)
    if cell.contender in ("lightgbm", "xgboost", "hist-boosting"):
        X_train, X_test = typed(X_train, X_test, names, MOST_LEVELS if cell.contender == "hist-boosting" else None)
    X_train, X_test = (fed(cell.contender, part, names) for part in (X_train, X_test))
    model = estimator(cell.contender, is_classes, cell.seed, names, list(X.columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if cell.contender.startswith("slm-"):  # compiled beforehand
            estimator(cell.contender, is_classes, 0, names, list(X.columns)).fit(X_train[:200], y_train[:200])
        begin = time.process_time()
        model.fit(X_train, y_train)
        seconds = time.process_time() - begin
        return {"seconds": seconds, **scores(model, X_test, y_test, is_classes)}


def version(contender: str) -> str:
    """What a result depends on beside the cell."""
    name, _, encoder = contender.partition("@")
    return version_of(name) + (f"+{version_of('decision-tree')}" if encoder else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default="boost,forest")
    parser.add_argument("--sets", help="names; all where none is given")
    add_arguments(parser, splits=10, name="mixed")
    arguments = parser.parse_args()
    about = FOLDER / "mixed" / "meta.json"
    if not about.exists():
        print(f"no tables: {about} is missing")
        return
    sets = arguments.sets.split(",") if arguments.sets else list(json.loads(about.read_text()))
    known = read(arguments.results)
    for kind in arguments.kinds.split(","):
        contenders = [c for c in KINDS[kind] if not arguments.only or c in arguments.only.split(",")]
        for contender in filter(is_missing, contenders):
            print(f"{contender} is left out: pip install 'sublearn[bench]'")
        contenders = [contender for contender in contenders if not is_missing(contender)]
        seeds = range(arguments.first, arguments.first + arguments.splits)
        cells = [Cell(name, seed, one, version(one)) for seed in seeds for name in sets for one in contenders]
        if not arguments.report:
            known.update(run_all([cell for cell in cells if cell not in known], (), arguments.results, run))
        found = {cell: known[cell] for cell in cells if cell in known}
        report(f"mixed-{kind}", contenders, found, arguments.out)
        worst_of_encoders(kind, found)


def worst_of_encoders(kind: str, found: dict[Cell, dict[str, float]]) -> None:
    """Ours with categories and gaps inside, to the best of the encoders, set by set."""
    losses: dict[str, dict[str, list[float]]] = {}
    for cell, result in found.items():
        loss = result.get("log_loss", result.get("rmse", np.nan))
        losses.setdefault(cell.table, {}).setdefault(cell.contender, []).append(loss)
    for name, row in losses.items():
        behind = {c: np.mean(v) for c, v in row.items() if c.startswith(f"slm-{kind}@")}
        if behind and f"slm-{kind}" in row:
            best = min(behind, key=lambda c: behind[c])
            print(f"{name}: {np.mean(row[f'slm-{kind}']) / behind[best]:.4f} of the loss behind {best.split('@')[1]}")


if __name__ == "__main__":
    main()
