"""Speed of the scoring step: nanoseconds per sample and candidate on one thread.

    python benchmarks/scoring.py

Scores 64 candidates of a node, or of each of 64 nodes of a level, over 20 features in subspaces of 8, and prints
the best of several repeats for 10,000 and 100,000 rows; the cases take turns. The last lines are scikit-learn's exact
search for a first split, per sample and feature.
"""

import argparse
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_classification, make_regression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sublearn import SLMClassifier, SLMRegressor
from sublearn.core.parallel import Workers
from sublearn.core.tree.criterion import describe_nodes
from sublearn.core.tree.space import make_work
from sublearn.kernels.compilation import bare_kernel
from sublearn.kernels.discriminant import test_projections
from sublearn.kernels.layout import NO, NOUGHT, Array, Candidates, Node
from sublearn.kernels.references import refer
from sublearn.kernels.searching import projections_of

N_FEATURES = 20
SUBSPACE_SIZE = 8
N_CANDIDATES = 64
HEIGHT = 5  # coefficients lie within this
IN_A_ROW = 3  # times a case runs in its turn, so that it finds its data in the cache
AIM = "8 coefficients, 2 classes"


class Case(NamedTuple):
    """One kind of scoring."""

    n_classes: int = 2  # 0 for numbers
    n_coefficients: int = 8
    weighted: bool = False
    n_nodes: int = 1


CASES = {
    AIM: Case(),
    "4 coefficients, 2 classes": Case(n_coefficients=4),
    "2 coefficients, 2 classes": Case(n_coefficients=2),
    "8 coefficients, 10 classes": Case(n_classes=10),
    "8 coefficients, numbers": Case(n_classes=0),
    "8 coefficients, 2 classes, weighted": Case(weighted=True),
    "8 coefficients, numbers, weighted": Case(n_classes=0, weighted=True),
    "8 coefficients, 2 classes, 64 nodes": Case(n_nodes=64),
    "8 coefficients, numbers, 64 nodes": Case(n_classes=0, n_nodes=64),
}


def make_data(n_samples: int, n_classes: int) -> tuple[Array, Array]:
    if n_classes == 0:
        data = make_regression(n_samples, N_FEATURES, n_informative=10, noise=10.0, random_state=0)
    else:
        data = make_classification(
            n_samples,
            N_FEATURES,
            n_informative=10,
            n_redundant=5,
            n_classes=n_classes,
            n_clusters_per_class=2,
            class_sep=0.8,
            random_state=0,
        )
    return data[0].astype(np.float32), data[1]


def make_level(labels: Array, n_classes: int, n_nodes: int) -> tuple[Array, Array]:
    """Order and runs of a level whose nodes share the samples at random."""
    node = np.random.default_rng(0).integers(0, n_nodes, len(labels))
    order = np.lexsort((labels, node)).astype(np.int32)
    sizes = np.bincount(node * n_classes + labels, minlength=n_nodes * n_classes)
    ends = np.cumsum(sizes).reshape(n_nodes, n_classes)
    return order, np.column_stack([np.concatenate([[0], ends[:-1, -1]]), ends])


def draw_candidates(n_nodes: int, n_coefficients: int) -> Candidates:
    """Candidates of exactly so many coefficients that are not 0."""
    rng = np.random.default_rng(0)
    shape = (n_nodes, N_CANDIDATES, SUBSPACE_SIZE)
    used = rng.permuted(np.broadcast_to(np.arange(SUBSPACE_SIZE) < n_coefficients, shape), axis=2)
    coefficients = rng.integers(1, HEIGHT + 1, shape) * rng.choice([-1, 1], shape) * used
    subspace = rng.permuted(np.tile(np.arange(N_FEATURES), (n_nodes, 1)), axis=1)[:, :SUBSPACE_SIZE]
    return Candidates(
        subspace=np.ascontiguousarray(subspace, np.int32),
        coefficients=coefficients.astype(np.int16),
        sizes=np.full(n_nodes, N_CANDIDATES),
        decrease=np.zeros(shape[:2]),
        threshold=np.zeros(shape[:2], np.int32),
        ranges=np.zeros((*shape[:2], 2), np.int32),
    )


@bare_kernel
def score_nodes(samples: Any, order: Any, runs: Any, totals: Any, test: Any, candidates: Any, work: Any) -> None:
    """Step 3 for the nodes of a level."""
    samples = refer(samples)
    test = refer(test)
    candidates = refer(candidates)
    work = refer(work)
    for i in range(runs.shape[0]):
        node = refer(Node(order, runs[i], totals[i]))
        projections = projections_of(candidates, i, work.columns)
        test_projections(samples, node, test, projections, NOUGHT, candidates.sizes[i], NO, NO, work)


def prepare(case: Case, n_samples: int) -> Callable[[], None]:
    """What is to be timed."""
    X, y = make_data(n_samples, case.n_classes)
    model: Any = SLMClassifier() if case.n_classes else SLMRegressor()
    weights = np.random.default_rng(0).uniform(0.5, 2.0, n_samples) if case.weighted else None
    workers = Workers(1)
    task = model._prepare(model._take_in(X, y, weights), workers).task
    samples, test = task.samples, task.test
    labels = y if case.n_classes else np.zeros(n_samples, np.int64)
    order, runs = make_level(labels, max(case.n_classes, 1), case.n_nodes)
    sums = describe_nodes(samples, order, runs, test, workers)
    candidates = draw_candidates(case.n_nodes, case.n_coefficients)
    work = make_work(samples, test.n_bins, n_samples, SUBSPACE_SIZE, N_CANDIDATES)
    return lambda: score_nodes(samples, order, runs, sums.totals, test, candidates, work)


def prepare_peer(peer: Any, n_samples: int) -> Callable[[], None]:
    X, y = make_data(n_samples, 2 if isinstance(peer, DecisionTreeClassifier) else 0)
    return lambda: peer.fit(X, y)


def best_times(calls: Sequence[Callable[[], None]], repeats: int) -> list[float]:
    """Best time of each call; the calls take turns, and in its turn each one runs several times."""
    best = [np.inf] * len(calls)
    for _ in range(repeats):
        for i, call in enumerate(calls):
            for _ in range(IN_A_ROW):
                began = perf_counter()
                call()
                best[i] = min(best[i], perf_counter() - began)
    return best


def report(sizes: list[int], repeats: int) -> None:
    peers = {
        "DecisionTreeClassifier, depth 1": DecisionTreeClassifier(criterion="entropy", max_depth=1),
        "DecisionTreeRegressor, depth 1": DecisionTreeRegressor(max_depth=1),
    }
    columns = []
    for n in sizes:
        calls = [prepare(case, n) for case in CASES.values()] + [prepare_peer(peer, n) for peer in peers.values()]
        times = best_times(calls, repeats)
        tests = [N_CANDIDATES] * len(CASES) + [N_FEATURES] * len(peers)
        columns.append([1e9 * time / (n * k) for time, k in zip(times, tests, strict=True)])
    print(f"{'ns per sample and candidate':<40}" + "".join(f"{n:>12,} rows" for n in sizes))
    for name, *row in zip([*CASES, *peers], *columns, strict=True):
        aim = "   aim: 1" if name == AIM else ""
        print(f"{name:<40}" + "".join(f"{ns:>17.2f}" for ns in row) + aim)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    report(arguments.rows, arguments.repeats)


if __name__ == "__main__":
    main()
