"""A fitted tree as text, with every hyperplane as an inequality in the units of the data."""

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

from sklearn.utils.validation import check_is_fitted

from sublearn._base.parameters import whole
from sublearn.core.data.codes import FeatureMaps, curve_of, line_of
from sublearn.core.model.fitted import FittedModel
from sublearn.core.model.flat_tree import FlatTree
from sublearn.kernels.layout import Array
from sublearn.tree import SLMTree

LETTERS = "abcdefgh"
LARGEST_SHIFT = 8.0  # codes by which rounded numbers may move a cut: under a hundredth of a deviation


def export_text(model: Any, feature_names: Sequence[str] | None = None, *, digits: int = 4) -> str:
    """Write a fitted tree as text.

    Each node lists its hyperplanes a, b, ... as inequalities in the original units, then its children by the sides they
    lie on: "+a -b" holds the samples for which a is true and b is not. A feature with a quantile map appears as g(x),
    its normal score; the knots of g are listed once below.

    Parameters
    ----------
    model : SLMClassifier or SLMRegressor
        A fitted tree.
    feature_names : sequence of str, default=None
        Names of the features; None: those seen in fit, or x0, x1, ...
    digits : int, default=4
        Significant digits of numbers; coefficients and thresholds get more where fewer would move the cut.

    Returns
    -------
    text : str
        The tree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier, export_text
    >>> iris = load_iris()
    >>> model = SLMClassifier(max_depth=1, max_partitions=1, n_projections=0).fit(iris.data, iris.target)
    >>> print(export_text(model, ["length", "width", "petal length", "petal width"]))
    150 samples, loss 1.585
      a: petal length >= 2.475
      -a: class 0, 100 % of 50 samples
      +a: class 1, 50 % of 100 samples
    """
    if not isinstance(model, SLMTree):
        raise TypeError(f"model of export_text must be an SLMClassifier or SLMRegressor; got {type(model).__name__}.")
    if not whole(1, 17).accepts(digits):
        raise ValueError(f"digits of export_text must be {whole(1, 17).words}; got {digits!r}.")
    check_is_fitted(model)
    fitted = model._model
    names = names_of_features(fitted, feature_names, "export_text")
    writer = _Writer(fitted.ensemble.nodes, fitted.maps, names, fitted.classes, digits)
    return "\n".join([*writer.node(0, "", ""), *writer.maps()])


def names_of_features(model: FittedModel, given: Sequence[str] | None, owner: str) -> list[str]:
    """The names given to the function `owner`, or else those of the model."""
    if given is None:
        return [f"x{f}" for f in range(model.n_features)] if model.feature_names is None else list(model.feature_names)
    if len(given) != model.n_features:
        raise ValueError(
            f"feature_names of {owner} must have a name for each of {model.n_features} features; got {len(given)}."
        )
    return list(map(str, given))


class _Writer:
    """Writes the parts of a tree; notes which features have appeared with a quantile map."""

    def __init__(self, tree: FlatTree, maps: FeatureMaps, names: list[str], classes: Array | None, digits: int) -> None:
        self.tree, self.feature_maps, self.names, self.classes, self.digits = tree, maps, names, classes, digits
        self.curved: dict[int, None] = {}

    def node(self, i: int, margin: str, label: str) -> Iterator[str]:
        """Lines of a node and all below it."""
        tree = self.tree
        if tree.first_child[i] < 0:
            yield margin + label + self.leaf(i)
            return
        yield f"{margin}{label}{self.samples(i)}, loss {self.number(tree.loss[i])}"
        margin += "  "
        planes = range(tree.first_plane[i], tree.first_plane[i + 1])
        for letter, p in zip(LETTERS, planes, strict=False):
            yield f"{margin}{letter}: {self.plane(p)}"
        for cell in range(1 << len(planes)):
            child = tree.children[tree.first_child[i] + cell]
            if child >= 0:
                sides = " ".join("-+"[cell >> j & 1] + LETTERS[j] for j in range(len(planes)))
                yield from self.node(child, margin, sides + ": ")

    def leaf(self, i: int) -> str:
        """What a leaf answers."""
        value = self.tree.value[i]
        if self.classes is None:
            return f"value {self.number(value[0])}, {self.samples(i)}"
        best = int(value.argmax())
        return f"class {self.classes[best]}, {self.number(100 * value[best])} % of {self.samples(i)}"

    def samples(self, i: int) -> str:
        """How many samples a node has."""
        n = self.tree.n_samples[i]
        return f"{n} sample{'s' if n != 1 else ''}"

    def plane(self, p: int) -> str:
        """A hyperplane as an inequality, scaled so that its first coefficient is 1."""
        tree = self.tree
        threshold = tree.threshold[p] - 0.5  # codes are rounded, so the cut lies between two integers
        terms: list[tuple[float, str, float]] = []
        for t in range(tree.first_term[p], tree.first_term[p + 1]):
            f, a = int(tree.feature[t]), float(tree.coefficient[t])
            line = line_of(self.feature_maps, f)
            threshold -= a * line.offset
            if line.slope > 0:
                terms.append((a * line.slope, self.names[f] if line.straight else f"g({self.names[f]})", line.reach))
            if not line.straight:
                self.curved[f] = None
        scale, text, _ = terms[0]
        allowed = LARGEST_SHIFT / len(terms) / abs(scale)
        for weight, name, reach in terms[1:]:
            factor = self.number(abs(weight / scale), allowed / reach)
            text += f" {'-' if weight * scale < 0 else '+'} {'' if factor == '1' else factor + ' '}{name}"
        return f"{text} {'>=' if scale > 0 else '<='} {self.number(threshold / scale, allowed)}"

    def maps(self) -> Iterator[str]:
        """The knots of the quantile maps that appeared."""
        for f in self.curved:
            knots, scores = curve_of(self.feature_maps, f)
            pairs = ", ".join(f"{self.number(x)}: {s:g}" for x, s in zip(knots, scores, strict=True))
            yield f"g({self.names[f]}) is linear between {pairs}"

    def number(self, x: float, allowed: float = inf) -> str:
        """A number in few digits, but no further off than `allowed`."""
        for digits in range(self.digits, 17):
            text = f"{x:.{digits}g}"
            if abs(float(text) - x) <= allowed:
                return text
        return repr(float(x))
