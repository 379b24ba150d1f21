"""SLM trees and ensembles beside scikit-learn's: tables over its bundled sets, a picture, a tree as text.

The first table sets SLM trees beside fully grown decision trees; its numbers are means over random splits with the
seeds 0 to 9, and the picture is of seed 0. The second sets SLM Forest and SLM Boost beside a random forest and
histogram gradient boosting, with the seeds 0 to 4, all on one core. All these models have their default parameters,
but for the entropy of decision trees.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_circles,
    make_moons,
)
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    export_text,
)
from sublearn.core.codes import line_of

Floats = NDArray[np.float64]

PICTURE = Path("out/partitions.png")
N_SPLITS = 10
N_ENSEMBLE_SPLITS = 5
TRAIN_SHARE = 0.6
COLOURS = np.array(["#0072B2", "#D55E00"])  # told apart with every kind of colour vision
TINTS = np.array(["#CFE3F0", "#F8DDCB"])
MARKERS = ["o", "^"]
INK = "#222222"


class DataSet(NamedTuple):
    """Samples to learn from."""

    name: str
    X: Floats
    y: NDArray[Any]
    is_regression: bool = False


class Result(NamedTuple):
    """What one tree did on one split."""

    score: float  # share of test samples predicted right in percent, or root mean squared error
    size: int  # parameters
    depth: int


class TimedResult(NamedTuple):
    """What one ensemble did on one split."""

    score: float  # as of a tree
    seconds: float  # of fitting


class Split(NamedTuple):
    """A node that is split, in the plane: child c lies where bit j of c says on which side of line j."""

    lines: Floats  # (n_lines, 3): a, b, t; positive where a x + b y >= t
    children: Sequence[int]  # nodes by child code; -1 where there is none


# --- the tables ---


def data_sets() -> Iterator[DataSet]:
    yield DataSet("two moons", *make_moons(1000, noise=0.3, random_state=0))
    yield circle_and_ring()
    for load in (load_iris, load_wine, load_breast_cancer, load_digits):
        yield DataSet(load.__name__.removeprefix("load_").replace("_", " "), *load(return_X_y=True))
    X, y = load_diabetes(return_X_y=True)
    yield DataSet("diabetes", X, y, is_regression=True)


def circle_and_ring() -> DataSet:
    return DataSet("circle and ring", *make_circles(1000, noise=0.2, factor=0.5, random_state=0))


def trees(data: DataSet, seed: int) -> list[Any]:
    """An SLM tree and a decision tree."""
    if data.is_regression:
        return [SLMRegressor(random_state=seed), DecisionTreeRegressor(random_state=seed)]
    return [SLMClassifier(random_state=seed), DecisionTreeClassifier(criterion="entropy", random_state=seed)]


def ensembles(data: DataSet, seed: int) -> list[Any]:
    """SLM Forest and a random forest, SLM Boost and gradient boosting."""
    kinds: list[Any] = [
        (SLMForestClassifier, SLMForestRegressor),
        (RandomForestClassifier, RandomForestRegressor),
        (SLMBoostClassifier, SLMBoostRegressor),
        (HistGradientBoostingClassifier, HistGradientBoostingRegressor),
    ]
    return [kind[data.is_regression](random_state=seed) for kind in kinds]


def split_samples(data: DataSet, seed: int) -> Any:
    """X and y for training and testing: X, X_test, y, y_test."""
    return train_test_split(data.X, data.y, train_size=TRAIN_SHARE, random_state=seed)


def score_of(model: Any, data: DataSet, X_test: Floats, y_test: NDArray[Any]) -> float:
    predicted = model.predict(X_test)
    if data.is_regression:
        return float(root_mean_squared_error(y_test, predicted))
    return 100 * float(np.mean(predicted == y_test))


def measure(model: Any, data: DataSet, X_test: Floats, y_test: NDArray[Any]) -> Result:
    score = score_of(model, data, X_test, y_test)
    if hasattr(model, "n_parameters_"):
        return Result(score, model.n_parameters_, model.depth_)
    n_splits = model.tree_.node_count - model.get_n_leaves()
    return Result(score, 2 * n_splits, model.get_depth())  # the paper's count: a feature and a threshold a split


def try_tree(model: Any, data: DataSet, seed: int) -> Result:
    X, X_test, y, y_test = split_samples(data, seed)
    return measure(model.fit(X, y), data, X_test, y_test)


def try_ensemble(model: Any, data: DataSet, seed: int) -> TimedResult:
    X, X_test, y, y_test = split_samples(data, seed)
    with threadpool_limits(1):  # or gradient boosting, alone of the four, would take all cores
        began = perf_counter()
        model.fit(X, y)
        seconds = perf_counter() - began
        return TimedResult(score_of(model, data, X_test, y_test), seconds)


def compare(data: DataSet, n_splits: int, models: Callable[..., list[Any]], attempt: Callable[..., Any]) -> Floats:
    """Results (model, split, field) over random splits."""
    results = [[attempt(model, data, seed) for model in models(data, seed)] for seed in range(n_splits)]
    return np.array(results, np.float64).swapaxes(0, 1)


def heading(data: DataSet) -> str:
    """Begin a line of a table."""
    return f"{data.name:17}{'RMSE' if data.is_regression else 'accuracy in %':14}"


def spread(scores: Floats) -> str:
    return f"{scores.mean():.1f} ± {scores.std():.1f}"


def tree_table(n_splits: int = N_SPLITS) -> Iterator[str]:
    """Lines of the table of trees; each set is trained when its line is asked for."""
    yield f"{'':31}  {'test score':^25}  {'parameters':^13}  {'depth':^11}".rstrip()
    yield f"{'set':17}{'measure':14}  {'SLM':>12} {'DT':>12}  {'SLM':>6} {'DT':>6}  {'SLM':>5} {'DT':>5}"
    yield "-" * 86
    for data in data_sets():
        results = compare(data, n_splits, trees, try_tree)
        slm, dt = (spread(scores) for scores in results[:, :, 0])
        sizes, depths = results[:, :, 1].mean(axis=1), results[:, :, 2].mean(axis=1)
        yield (
            f"{heading(data)}  {slm:>12} {dt:>12}  {sizes[0]:6.0f} {sizes[1]:6.0f}  {depths[0]:5.1f} {depths[1]:5.1f}"
        )


def ensemble_table(n_splits: int = N_ENSEMBLE_SPLITS) -> Iterator[str]:
    """Lines of the table of ensembles, likewise."""
    names = ["SLM Forest", "random forest", "SLM Boost", "gradient boosting"]
    yield " " * 31 + "".join(f"  {name:>17}" for name in names)
    yield f"{'set':17}{'measure':14}" + f"  {'score':>11} {'s':>5}" * len(names)
    yield "-" * 107
    for data in data_sets():
        results = compare(data, n_splits, ensembles, try_ensemble)
        seconds = np.median(results[:, :, 1], axis=1)  # leaves out a first fit, which may compile
        columns = [f"  {spread(scores):>11} {s:5.2f}" for scores, s in zip(results[:, :, 0], seconds, strict=True)]
        yield heading(data) + "".join(columns)


# --- the picture ---


def slm_splits(model: SLMClassifier) -> list[Split | None]:
    """The nodes of an SLM tree over two features with linear maps; None for a leaf."""
    tree = model.tree_
    features = [line_of(model.feature_maps_, f) for f in (0, 1)]
    lines = np.zeros((tree.n_planes, 3))
    for p in range(tree.n_planes):
        lines[p, 2] = tree.threshold[p] - 0.5  # codes are rounded, so the cut lies between two integers
        for t in range(tree.first_term[p], tree.first_term[p + 1]):
            f = tree.feature[t]
            lines[p, f] += tree.coefficient[t] * features[f].slope
            lines[p, 2] -= tree.coefficient[t] * features[f].offset
    splits: list[Split | None] = []
    for i in range(tree.n_nodes):
        own = lines[tree.first_plane[i] : tree.first_plane[i + 1]]
        first = tree.first_child[i]
        splits.append(Split(own, tree.children[first : first + 2 ** len(own)].tolist()) if len(own) else None)
    return splits


def decision_tree_splits(model: DecisionTreeClassifier) -> list[Split | None]:
    """The nodes of a decision tree over two features; None for a leaf."""
    tree = model.tree_
    splits: list[Split | None] = []
    for i in range(tree.node_count):
        f = tree.feature[i]
        line = np.array([[f == 0, f == 1, tree.threshold[i]]], np.float64)
        splits.append(Split(line, [tree.children_left[i], tree.children_right[i]]) if f >= 0 else None)
    return splits


def cells(splits: Sequence[Split | None], polygon: Floats, node: int = 0) -> Iterator[Floats]:
    """The cells into which the node and all below it cut a convex polygon."""
    split = splits[node] if node >= 0 else None
    if split is None:
        yield polygon
        return
    for code, child in enumerate(split.children):
        part = polygon
        for j, line in enumerate(split.lines):
            part = clip(part, line if code >> j & 1 else -line)
        if len(part) > 2:
            yield from cells(splits, part, child)


def clip(polygon: Floats, line: Floats) -> Floats:
    """The part of a convex polygon, given by its corners, on the positive side of a line."""
    heights = polygon @ line[:2] - line[2]
    corners = []
    for i in range(len(polygon)):
        if heights[i] * heights[i - 1] < 0:
            share = heights[i] / (heights[i] - heights[i - 1])
            corners.append(polygon[i] + share * (polygon[i - 1] - polygon[i]))
        if heights[i] >= 0:
            corners.append(polygon[i])
    return np.array(corners).reshape(-1, 2)


def draw_cells(axes: Any, model: Any, splits: Sequence[Split | None], X: Floats, y: NDArray[Any]) -> None:
    """Cells in the tint of the class they predict, the training samples, and the root's lines."""
    (left, bottom), (right, top) = X.min(axis=0) - 0.1, X.max(axis=0) + 0.1
    frame = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    polygons = list(cells(splits, frame))
    classes = model.predict(np.array([polygon.mean(axis=0) for polygon in polygons]))
    axes.add_collection(PolyCollection(polygons, facecolors=TINTS[classes], edgecolors="white", linewidths=0.7))
    for c, marker in enumerate(MARKERS):
        axes.scatter(*X[y == c].T, s=17, marker=marker, color=COLOURS[c], edgecolors="white", linewidths=0.4, zorder=2)
    for a, b, t in splits[0].lines if splits[0] is not None else []:
        foot = np.array([a, b]) * t / (a * a + b * b)
        axes.axline(foot, foot + np.array([-b, a]), color=INK, linewidth=2, zorder=3)
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axes.set_axis_off()


def save_picture(path: Path) -> None:
    """Draw how an SLM tree and a decision tree partition the plane."""
    data = circle_and_ring()
    X, X_test, y, y_test = split_samples(data, seed=0)
    slm, dt = (model.fit(X, y) for model in trees(data, seed=0))
    figure = Figure(figsize=(12, 5.7), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08))
    left, right = figure.subplots(1, 2)
    captions = []
    for axes, name, model, splits in (
        (left, "SLM tree", slm, slm_splits(slm)),
        (right, "Decision tree", dt, decision_tree_splits(dt)),
    ):
        result = measure(model, data, X_test, y_test)
        caption = f"test accuracy {result.score:.1f} %, depth {result.depth}, {result.size} parameters"
        captions.append(f"{name}: {caption}")
        draw_cells(axes, model, splits, X, y)
        axes.set_title(name, loc="left", fontsize=13, fontweight="bold", color=INK)
        axes.set_title(caption, loc="right", fontsize=12, color=INK)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Description": "; ".join(captions)})


# --- the rest ---


def small_tree() -> str:
    """A tree of depth 2 as text."""
    iris = load_iris()
    model = SLMClassifier(max_depth=2, random_state=0).fit(iris.data, iris.target_names[iris.target])
    return export_text(model, [name.removesuffix(" (cm)") for name in iris.feature_names])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, help="only draw the picture, into this file")
    path = parser.parse_args().picture
    if path is not None:
        save_picture(path)
        return
    print(f"SLM trees and fully grown decision trees (DT): mean ± deviation over {N_SPLITS} random splits")
    print("Parameters as the paper counts them: D0 + 1 for a hyperplane of SLM, 2 for a split of DT\n")
    for line in tree_table():
        print(line, flush=True)
    print("\nForests of SLM trees (20) and decision trees (100), SLM Boost and HistGradientBoosting (100 rounds each)")
    print(f"Mean ± deviation over {N_ENSEMBLE_SPLITS} random splits; s: seconds of one fit on one core, the median\n")
    for line in ensemble_table():
        print(line, flush=True)
    save_picture(PICTURE)
    print(f"\nHow an SLM tree and a decision tree partition the plane: {PICTURE}")
    print(f"\nAn SLM tree of depth 2 for iris:\n\n{small_tree()}")


if __name__ == "__main__":
    main()
