"""export_text: the text describes the model, so well that predictions can be read off it."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from sublearn import SLMClassifier, SLMRegressor, export_text
from sublearn.core.model.flat_ensemble import alone

Floats = NDArray[np.float64]

TERM = re.compile(r"(?P<sign>[+-] )?(?P<factor>[0-9.e+-]+ )?x(?P<feature>\d+)")
PLANE = re.compile(r"\s*[a-h]: (?P<terms>.*) (?P<sign>[<>]=) (?P<threshold>\S+)")
CHILD = re.compile(r"(?P<margin>\s*)(?P<sides>[+-]a[^:]*): (?P<rest>.*)")


class Plane(NamedTuple):
    """An inequality: weights @ x >= threshold."""

    weights: Floats
    threshold: float


class Node(NamedTuple):
    """What the text says of a node."""

    answer: str  # of a leaf, empty for others
    planes: list[Plane]
    children: dict[tuple[bool, ...], "Node"]


def read_tree(lines: list[str], n_features: int) -> Node:
    """Take the lines of one node and all below it off the front of `lines`; features must be called x0, x1, ..."""
    child = CHILD.fullmatch(lines[0])
    margin = child["margin"] if child else ""
    head = (child["rest"] if child else lines[0]).strip()
    lines.pop(0)
    node = Node("" if ", loss " in head else head, [], {})
    while lines and PLANE.fullmatch(lines[0]) and lines[0].startswith(margin + "  "):
        node.planes.append(read_plane(lines.pop(0), n_features))
    while lines and (below := CHILD.fullmatch(lines[0])) and below["margin"] == margin + "  ":
        sides = tuple(side.startswith("+") for side in below["sides"].split())
        node.children[sides] = read_tree(lines, n_features)
    return node


def read_plane(line: str, n_features: int) -> Plane:
    match = PLANE.fullmatch(line)
    assert match is not None
    weights = np.zeros(n_features)
    for term in TERM.finditer(match["terms"]):
        weights[int(term["feature"])] = float((term["sign"] or "+").strip() + (term["factor"] or "1").strip())
    threshold = float(match["threshold"])
    return Plane(weights, threshold) if match["sign"] == ">=" else Plane(-weights, -threshold)


def follow(node: Node, x: Floats, deviations: Floats) -> tuple[str, float]:
    """Answer for one sample, and the smallest distance from a boundary it passed, in standard deviations.

    The answer is empty where the route ends in a cell without training samples.
    """
    nearest = np.inf
    while node.planes:
        heights = np.array([weights @ x - threshold for weights, threshold in node.planes])
        lengths = np.array([np.linalg.norm(weights * deviations) for weights, _ in node.planes])
        nearest = min(nearest, float(np.min(np.abs(heights) / lengths)))
        child = node.children.get(tuple((heights >= 0).tolist()))
        if child is None:
            return "", nearest
        node = child
    return node.answer, nearest


def leaf_of(model: Any, x: Floats) -> str:
    """How the text would put the answer of the model, or nothing where the route ends above the leaves."""
    i = int(model.apply(x[None])[0])
    if model.tree_.first_child[i] >= 0:
        return ""
    n = model.tree_.n_samples[i]
    samples = "1 sample" if n == 1 else f"{n} samples"
    if isinstance(model, SLMRegressor):
        return f"value {model.predict(x[None])[0]:.4g}, {samples}"
    share = 100 * model.predict_proba(x[None])[0].max()
    return f"class {model.predict(x[None])[0]}, {share:.4g} % of {samples}"


def oblique_samples(n_samples: int, seed: int) -> tuple[Floats, NDArray[np.int64]]:
    """Three classes by two oblique borders; features of different units and a constant one."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n_samples, 4))
    X = np.column_stack([Z * [1.0, 250.0, 0.003, 12.0] + [0.0, 900.0, 0.01, -30.0], np.full(n_samples, 7.0)])
    y = (Z[:, 0] - Z[:, 1] + 0.5 * Z[:, 2] > 0.3).astype(np.int64) + (Z[:, 3] + Z[:, 1] > 0.8)
    return X, y


def fitted_stump(**parameters: Any) -> SLMClassifier:
    """Ten samples at 0, ten at 1."""
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    y = np.repeat(["low", "high"], 10)
    return SLMClassifier(max_partitions=1, n_projections=0, random_state=0, **parameters).fit(X, y)


def test_stump_is_written_as_expected() -> None:
    # 16 bins between 0 and 1 and a tie between all 15 thresholds: only the place of the cut is open
    first, plane, *leaves = export_text(fitted_stump()).split("\n")
    assert first == "20 samples, loss 1"
    match = re.fullmatch(r"  a: x0 >= (\S+)", plane)
    assert match is not None
    assert 0 < float(match[1]) < 1
    assert leaves == ["  -a: class low, 100 % of 10 samples", "  +a: class high, 100 % of 10 samples"]


def give_tree(model: Any, **changes: Any) -> None:
    """Change the arrays of a fitted tree."""
    model._model = replace(model._model, ensemble=alone(model.tree_._replace(**changes)))


def test_negative_first_coefficient_turns_the_inequality() -> None:
    model = fitted_stump()
    _, upward, *_ = export_text(model).split("\n")
    tree = model.tree_
    give_tree(model, coefficient=-tree.coefficient, threshold=1 - tree.threshold)  # a x >= t, -a x > -t
    _, downward, *_ = export_text(model).split("\n")
    assert downward == upward.replace(">=", "<=")


@pytest.mark.parametrize("seed", range(3))
def test_classes_read_off_the_text_are_the_predicted_ones(seed: int) -> None:
    X, y = oblique_samples(400, seed)
    model = SLMClassifier(random_state=seed).fit(X, y)
    assert model.depth_ > 1
    assert max(np.diff(model.tree_.first_plane)) > 1
    assert_text_routes_like(model, oblique_samples(500, seed + 100)[0], X.std(axis=0))


def test_other_models_and_bad_digits_are_refused() -> None:
    with pytest.raises(TypeError, match="model of export_text must be an SLM tree, forest or boosting; got str"):
        export_text("tree")
    with pytest.raises(ValueError, match="digits of export_text must be an int from 1 to 17; got 0"):
        export_text(fitted_stump(), digits=0)


def test_features_far_from_zero_get_the_digits_they_need() -> None:
    rng = np.random.default_rng(0)
    X = 1e6 + rng.normal(size=(400, 2))
    model = SLMClassifier(random_state=0).fit(X, X.sum(axis=1) > 2e6)
    assert_text_routes_like(model, 1e6 + rng.normal(size=(500, 2)), np.ones(2))


def test_numbers_read_off_the_text_are_the_predicted_ones() -> None:
    X, _ = oblique_samples(400, 0)
    y = np.abs(X[:, 0]) + X[:, 1] / 250
    model = SLMRegressor(min_samples_leaf=5, random_state=0).fit(X, y)
    assert_text_routes_like(model, oblique_samples(500, 100)[0], X.std(axis=0))


def assert_text_routes_like(model: Any, X: Floats, deviations: Floats) -> None:
    lines = export_text(model).split("\n")
    n_lines = len(lines)
    root = read_tree(lines, X.shape[1])
    assert not lines
    assert n_lines == len(model.tree_.parent) + len(model.tree_.threshold)  # a line a node, a line a hyperplane
    alike = np.zeros(len(X), bool)
    distances = np.zeros(len(X))
    for i, x in enumerate(X):
        answer, distances[i] = follow(root, x, deviations)
        alike[i] = answer == leaf_of(model, x)
    assert (distances > 1e-2).mean() > 0.8
    assert alike.mean() >= 0.99
    assert alike[distances > 1e-2].all()  # four digits and codes of 1/1024 deviation move a border by less


def test_constant_feature_is_not_written() -> None:
    X, y = np.array([[7.0, 0.0], [7.0, 1.0]] * 5), [0, 1] * 5
    model = SLMClassifier(max_partitions=1, n_projections=0, random_state=0).fit(X, y)
    text = export_text(model)
    assert "  a: x1 >= " in text
    terms = {"first_term": np.array([0, 2]), "feature": np.array([0, 1]), "coefficient": np.array([3, 1])}
    give_tree(model, **terms)  # x1, plus 3 times the code of x0, which is 0
    assert export_text(model) == text


def test_more_digits_can_be_had() -> None:
    X, y = oblique_samples(400, 0)
    model = SLMClassifier(max_depth=1, random_state=0).fit(X, y)
    short, long = (read_tree(export_text(model, digits=n).split("\n"), 5).planes[0].threshold for n in (2, 9))
    assert len(repr(short)) < len(repr(long))
    assert short == pytest.approx(long, rel=0.05)  # two digits


def test_quantile_features_are_written_as_g_with_knots_listed_once() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([np.exp(3 * rng.normal(size=500)), rng.normal(size=500)])
    y = (np.log(X[:, 0]) + X[:, 1] > 0).astype(int)
    model = SLMClassifier(random_state=0).fit(X, y)
    lines = export_text(model, ["income", "age"]).split("\n")
    tree, (curve,) = lines[:-1], lines[-1:]
    assert sum("g(income)" in line for line in tree) > 1
    assert not any(re.search(r"(?<!g\()income", line) for line in tree)
    assert not any("g(age)" in line for line in lines)
    assert curve.startswith("g(income) is linear between ")
    knots, scores = np.array([pair.split(": ") for pair in curve.split("between ")[1].split(", ")], float).T
    assert (np.diff(knots) > 0).all()
    assert (np.diff(scores) > 0).all()
    assert scores[np.searchsorted(knots, np.median(X[:, 0]), "right") - 1] == pytest.approx(0, abs=0.26)
    np.testing.assert_allclose(knots[[0, -1]], [X[:, 0].min(), X[:, 0].max()], rtol=1e-3)


def test_cut_of_a_quantile_feature_lies_where_g_says() -> None:
    X = np.exp(np.random.default_rng(0).normal(size=(500, 1)) * 3)
    y = (X[:, 0] > 5).astype(int)
    model = SLMClassifier(max_depth=1, random_state=0).fit(X, y)
    _, plane, *_, curve = export_text(model, digits=9).split("\n")
    knots, scores = np.array([pair.split(": ") for pair in curve.split("between ")[1].split(", ")], float).T
    match = re.fullmatch(r"  a: g\(x0\) >= (\S+)", plane)
    assert match is not None
    values = np.geomspace(0.01, 100, 400)
    above = np.interp(values, knots, scores) >= float(match[1])
    positive = model.apply(values[:, None]) == model.apply([[1e6]])
    assert 0 < above.sum() < 400
    assert (above == positive).mean() >= 0.995  # a value may lie on the cut


def test_given_names_are_written() -> None:
    assert "  a: height >= " in export_text(fitted_stump(), ["height"])


def test_names_of_a_data_frame_are_written_unless_others_are_given() -> None:
    X = pd.DataFrame({"speed": np.repeat([0.0, 1.0], 10)})
    model = SLMClassifier(random_state=0).fit(X, np.repeat([0, 1], 10))
    assert "  a: speed >= " in export_text(model)
    assert "  a: pace >= " in export_text(model, ["pace"])


@pytest.mark.parametrize("names", [[], ["a", "b"]])
def test_wrong_number_of_names_is_an_error(names: Sequence[str]) -> None:
    message = f"feature_names of export_text must have a name for each of 1 features; got {len(names)}"
    with pytest.raises(ValueError, match=re.escape(message)):
        export_text(fitted_stump(), names)


@pytest.mark.parametrize("model", [SLMClassifier(), SLMRegressor()], ids=["classifier", "regressor"])
def test_unfitted_tree_is_an_error(model: Any) -> None:
    with pytest.raises(NotFittedError):
        export_text(model)


def test_single_leaf_is_one_line() -> None:
    X = np.array([[1.0], [1.0], [1.0], [1.0]])
    assert export_text(SLMClassifier().fit(X, [0, 1, 1, 1])) == "class 1, 75 % of 4 samples"
    assert export_text(SLMRegressor().fit(X, [1.0, 2.0, 3.0, 4.0])) == "value 2.5, 4 samples"


def test_regression_writes_values_and_losses_in_units_of_y() -> None:
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    model = SLMRegressor(random_state=0).fit(X, np.repeat([-3.0, 5.0], 10))
    first, _, *leaves = export_text(model).split("\n")
    assert first == "20 samples, loss 16"  # all lie 4 from the mean of 1
    assert leaves == ["  -a: value -3, 10 samples", "  +a: value 5, 10 samples"]
