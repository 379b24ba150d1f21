"""Share of a fit that is spent in compiled kernels.

    python benchmarks/kernels.py

Prints, for 10,000 and 100,000 rows of 20 features and the defaults of a tree on one thread, the median over several
fits. What is left is scikit-learn's checks, and NumPy between the steps.
"""

import argparse
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_friedman1

from sublearn import SLMClassifier, SLMRegressor
from sublearn.kernels.compilation import Kernel
from sublearn.kernels.layout import Array

N_FEATURES = 20
N_SMALL = 100  # rows of the fit that compiles


def make_data(task: str, n_samples: int) -> tuple[Array, Array]:
    if task == "classes":
        X, y = make_classification(
            n_samples, N_FEATURES, n_informative=10, n_redundant=5, class_sep=0.8, random_state=0
        )
    else:
        X, y = make_friedman1(n_samples, N_FEATURES, noise=1.0, random_state=0)
    return X.astype(np.float32), y


def kernel_share(fit: Callable[[], Any], repeats: int) -> float:
    """Median over the repeats."""
    plain = Kernel.__call__
    spent = 0.0

    def timed(self: Any, *arguments: Any) -> Any:
        nonlocal spent
        began = perf_counter()
        result = plain(self, *arguments)
        spent += perf_counter() - began
        return result

    shares = []
    Kernel.__call__ = timed  # type: ignore[method-assign]
    try:
        for _ in range(repeats):
            spent, began = 0.0, perf_counter()
            fit()
            shares.append(spent / (perf_counter() - began))
    finally:
        Kernel.__call__ = plain  # type: ignore[method-assign]
    return float(np.median(shares))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    for n in arguments.rows:
        for task, estimator in (("classes", SLMClassifier), ("numbers", SLMRegressor)):
            X, y = make_data(task, n)
            model: Any = estimator(random_state=0, n_jobs=1)
            model.fit(X[:N_SMALL], y[:N_SMALL])
            share = kernel_share(lambda model=model, X=X, y=y: model.fit(X, y), arguments.repeats)  # type: ignore[misc]
            print(f"{f'{task}, {n:,} rows':<24}{share:>8.1%} in kernels", flush=True)


if __name__ == "__main__":
    main()
