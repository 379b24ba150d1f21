"""How long explanations take beside those of shap, and what time and memory depend on.

    python benchmarks/explanations.py
    python benchmarks/explanations.py --rows 50 --skip-costs

Boosting with its defaults is explained by `sublearn.explain`, and by shap's permutation explainer with its defaults,
with the same background of 100 rows. XGBoost and LightGBM with their defaults are explained by shap's tree explainer,
which is compiled, with this background too. One thread each, processor time. shap explains all rows that are asked
for; nothing is scaled up. Then come time and memory of `explain` against depth, background and features.
"""

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

from files import sets_of
from sublearn import SLMBoostClassifier, SLMBoostRegressor, explain

N_BACKGROUND = 100


def data_of(names: list[str], n_rows: int) -> Iterator[tuple[str, Any, Any, Any, Any, bool]]:
    """Name, samples and targets to learn from, rows to explain, background, and whether targets are classes."""
    sets = [("breast_cancer", *load_breast_cancer(return_X_y=True), True)] if "breast_cancer" in names else []
    for name, data in sets_of(one for one in names if one != "breast_cancer"):
        sets.append((name, np.ascontiguousarray(data.X, np.float64), data.y, False))
    for name, X, y, is_classes in sets:
        order = np.random.default_rng(0).permutation(len(X))
        yield name, X, y, X[np.resize(order[N_BACKGROUND:], n_rows)], X[order[:N_BACKGROUND]], is_classes


def seconds_of(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of a call, and what it returns."""
    begin = time.process_time()
    result = call()
    return time.process_time() - begin, result


def compare(names: list[str], n_rows: int) -> None:
    """Print times of explanations, ours and theirs."""
    import lightgbm
    import shap
    import xgboost

    for name, X, y, rows, background, is_classes in data_of(names, n_rows):
        ending = "Classifier" if is_classes else "Regressor"
        ours = SLMBoostClassifier if is_classes else SLMBoostRegressor
        model = ours(random_state=0, n_jobs=1).fit(X, y)
        raw = model.decision_function if is_classes else model.predict
        explain(model, rows[:2], background)  # compiles
        own, found = seconds_of(partial(explain, model, rows, background))
        error = np.abs(found.values.sum(axis=1) + found.base_values - raw(rows)).max()
        shape = f"{model._model.ensemble.n_trees} trees, {X.shape[1]} features"
        print(f"\n{name}: {n_rows} rows, background {len(background)}, {ours.__name__} of {shape}")
        print(
            f"  sublearn.explain            {own:9.2f} s   exact: {found.is_exact}, off by {error:.0e} in sum",
            flush=True,
        )
        masker = shap.maskers.Independent(background, max_samples=N_BACKGROUND)
        explainer = shap.PermutationExplainer(raw, masker)
        theirs, values = seconds_of(partial(explainer, rows, silent=True))
        distance = np.abs(values.values - found.values).mean() / np.abs(found.values).mean()
        print(f"  shap.PermutationExplainer   {theirs:9.2f} s   mean error {distance:.1%} of the mean value")
        print(f"  ratio                       {theirs / own:9.0f}")
        for label, peer in (
            ("XGBoost", getattr(xgboost, f"XGB{ending}")(n_jobs=1)),
            ("LightGBM", getattr(lightgbm, f"LGBM{ending}")(n_jobs=1, verbose=-1)),
        ):
            tree = shap.TreeExplainer(peer.fit(X, y), background, feature_perturbation="interventional")
            taken, _ = seconds_of(partial(tree.shap_values, rows))
            print(f"  shap.TreeExplainer, {label:9s}{taken:8.2f} s   its own 100 trees, by default")


def cost(model: Any, X: Any, background: Any) -> str:
    """Microseconds a row, tree and block of 128 of the background, and memory."""
    explain(model, X[:2], background[:5])
    taken = min(seconds_of(lambda: explain(model, X, background))[0] for _ in range(2))
    tracemalloc.start()
    explain(model, X, background)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    n_blocks = -(-len(background) // 128)
    each = taken / len(X) / model._model.ensemble.n_trees * 1e6
    return f"{each:9.1f} us, {each / n_blocks:7.1f} a block, {peak / 2**20:7.1f} MiB"


def costs(n_rows: int) -> None:
    """Print time and memory against depth, background and features, one at a time."""
    rng = np.random.default_rng(0)
    options: dict[str, Any] = {"n_estimators": 20, "learning_rate": 0.1, "random_state": 0, "n_jobs": 1}

    def fitted(depth: int, n_features: int) -> tuple[Any, Any]:
        X = rng.normal(size=(10_000, n_features))
        y = np.sin(X[:, 0] * X[:, 1]) + X[:, 2:].sum(axis=1) / 3 + X[:, 0] * X[:, -1]
        return SLMBoostRegressor(max_depth=depth, leaf="linear", **options).fit(X, y), X

    print("\ntime of a row and a tree by depth, 10 features, background 100")
    for depth in (3, 4, 5, 6, 7, 8, 10):
        model, X = fitted(depth, 10)
        print(f"  depth {depth:6d} {cost(model, X[:n_rows], X[5000:5100])}")
    print("time of a row and a tree by background, depth 5, 10 features")
    model, X = fitted(5, 10)
    for n in (10, 100, 1000, 10_000):
        print(f"  background {n:6d} {cost(model, X[: max(n_rows // (1 + n // 1000), 2)], X[:n])}")
    print("time of a row and a tree by features, depth 5, background 100")
    for n_features in (3, 10, 30, 100):
        model, X = fitted(5, n_features)
        print(f"  features {n_features:6d} {cost(model, X[:n_rows], X[5000:5100])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default="breast_cancer,california-housing", help="tables, with commas")
    parser.add_argument("--rows", type=int, default=1000, help="rows to explain")
    parser.add_argument("--skip-costs", action="store_true", help="leave out depth, background and features")
    parser.add_argument("--skip-shap", action="store_true", help="leave out shap")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if not given.skip_shap:
        compare(given.sets.split(","), given.rows)
    if not given.skip_costs:
        costs(40)


if __name__ == "__main__":
    main()
