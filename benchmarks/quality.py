"""Quality over random 60/40 splits, all with their defaults: SLM beside what one would otherwise take.

    python benchmarks/quality.py               # everything
    python benchmarks/quality.py forest boost  # one kind or two
    python benchmarks/quality.py --splits 5
    python benchmarks/quality.py --change selection=round  # SLM beside itself with another setting

A tree is compared with a fully grown decision tree, the forest with a random forest of 100 trees, and boosting with
XGBoost's 100 rounds. Prints for each set the mean score of both and the p value of Nadeau and Bengio's corrected
paired test; accuracy for classes, root mean squared error for numbers.
"""

import argparse
import ast
import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import accuracy_score, root_mean_squared_error
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from files import sets_of
from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from sublearn.paper import search
from sublearn.paper.datasets import SOURCES, DataSet
from sublearn.paper.significance import LEVEL, corrected_p_value


class Pair(NamedTuple):
    """An SLM estimator and its peer."""

    slm: Any
    peer: Any


class Comparison(NamedTuple):
    """Scores (n_splits, 2), depths (n_splits, 2; nan for ensembles) and seconds of fitting, of SLM and peer."""

    scores: Any
    depths: Any
    seconds: Any


def pairs(kind: str) -> tuple[Pair, Pair]:
    """For classes and for numbers."""
    if kind == "tree":
        return (
            Pair(SLMClassifier(), DecisionTreeClassifier(criterion="entropy")),
            Pair(SLMRegressor(), DecisionTreeRegressor()),
        )
    if kind == "forest":
        return (
            Pair(SLMForestClassifier(n_jobs=-1), RandomForestClassifier(n_jobs=-1)),
            Pair(SLMForestRegressor(n_jobs=-1), RandomForestRegressor(n_jobs=-1)),
        )
    from xgboost import XGBClassifier, XGBRegressor  # pip install 'sublearn[paper]'

    return (
        Pair(SLMBoostClassifier(n_jobs=-1), XGBClassifier(n_jobs=-1)),
        Pair(SLMBoostRegressor(n_jobs=-1), XGBRegressor(n_jobs=-1)),
    )


def with_change(slm: Any, change: str) -> Pair | None:
    """The estimator beside itself with another setting, such as selection=round; None where it has no such one."""
    name, _, text = change.partition("=")
    if name not in slm.get_params():
        return None
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):  # a word
        value = text
    return Pair(slm, clone(slm).set_params(**{name: value}))


def compare(data: DataSet, pair: Pair, n_splits: int) -> Comparison:
    found: dict[str, list[list[float]]] = {"scores": [], "depths": [], "seconds": []}
    for seed in range(n_splits):
        X_train, X_test, y_train, y_test = search.split(data, seed)
        row: dict[str, list[float]] = {name: [] for name in found}
        for estimator in pair:
            model = clone(estimator).set_params(random_state=seed)
            begin = time.perf_counter()
            model.fit(X_train, y_train)
            row["seconds"].append(time.perf_counter() - begin)
            metric = accuracy_score if hasattr(model, "predict_proba") else root_mean_squared_error
            row["scores"].append(metric(y_test, model.predict(X_test)))
            row["depths"].append(model.get_depth() if hasattr(model, "get_depth") else np.nan)
        for name, values in row.items():
            found[name].append(values)
    return Comparison(*(np.array(values) for values in found.values()))


def report(names: list[str], pair: Pair, n_splits: int) -> None:
    ours_is_better = 1 if hasattr(pair.slm, "predict_proba") else -1
    print(f"\n{'set':<18} {type(pair.slm).__name__:>20} {type(pair.peer).__name__:>24} {'p':>7}  seconds of fitting")
    means, worse = [], []
    for name, data in sets_of(names):
        found = compare(data, pair, n_splits)
        ours, theirs = found.scores.mean(axis=0)
        p = corrected_p_value(found.scores[:, 0] - found.scores[:, 1])
        seconds = found.seconds.min(axis=0)
        depths = "" if np.isnan(found.depths).any() else "   mean depths {:.1f} / {:.1f}".format(*found.depths.mean(0))
        print(
            f"{name:<18} {ours:>20.4f} {theirs:>24.4f} {p:>7.3f}  {seconds[0]:.3f} / {seconds[1]:.3f}{depths}",
            flush=True,
        )
        means.append((ours, theirs))
        if (ours - theirs) * ours_is_better < 0 and p < LEVEL:
            worse.append(name)
    print("{:<18} {:>20.4f} {:>24.4f}".format("mean", *np.mean(means, axis=0)))
    if ours_is_better < 0:
        ratio = np.exp(np.mean([np.log(ours / theirs) for ours, theirs in means]))
        print(f"{'mean ratio':<18} {ratio:>20.4f}")
    print(f"significantly worse on: {', '.join(worse) or 'no set'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=["tree", "forest", "boost"], metavar="tree, forest or boost")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--change", metavar="NAME=VALUE", help="compare with the same estimator so changed")
    arguments = parser.parse_args()
    for kind in arguments.kinds:
        for is_classes, pair in zip((True, False), pairs(kind), strict=True):
            compared = with_change(pair.slm, arguments.change) if arguments.change else pair
            if compared is not None:
                names = [name for name, source in SOURCES.items() if source.is_classes == is_classes]
                report(names, compared, arguments.splits)


if __name__ == "__main__":
    main()
