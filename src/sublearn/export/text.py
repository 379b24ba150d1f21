"""A fitted tree as text, with every hyperplane as an inequality in the units of the data."""

from collections.abc import Iterator, Sequence
from typing import Any

from sublearn._base.parameters import whole
from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.export.chosen import fitted_model, tree_number
from sublearn.export.inequalities import LETTERS, Inequalities, names_of_features


def export_text(
    model: Any, feature_names: Sequence[str] | None = None, *, digits: int = 4, tree: int | None = None
) -> str:
    """Write a fitted tree, or one of the trees of a forest or of boosting, as text.

    Each node lists its hyperplanes a, b, ... as inequalities in the original units, then its children by the sides they
    lie on: "+a -b" holds the samples for which a is true and b is not. A feature with a quantile map appears as g(x),
    its normal score; the knots of g are listed once below. So are what gaps of a feature count as, in x[low], x[middle]
    or x[high], and the numbers of levels in m(x), where categories go by the mean of their targets. A single level
    against all others is [x = level], which is 1 or 0. Levels that are text are in quotes. A leaf of boosting says what
    it adds to the raw prediction, for each output; where leaves are linear, that is at the mean of the leaf, and the
    features of its linear model are named.

    Parameters
    ----------
    model : SLM estimator
        A fitted tree, forest or boosting.
    feature_names : sequence of str, default=None
        Names of the features; None: those seen in fit, or x0, x1, ...
    digits : int, default=4
        Significant digits of numbers; coefficients and thresholds get more where fewer would move the cut.
    tree : int, default=None
        Number of the tree, from 0; a forest and boosting need it, and boosting may have several trees a round.

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
    fitted = fitted_model(model, "export_text")
    if not whole(1, 17).accepts(digits):
        raise ValueError(f"digits of export_text must be {whole(1, 17).words}; got {digits!r}.")
    root = fitted.ensemble.roots[tree_number(model, tree, "export_text")]
    names = names_of_features(fitted, feature_names, "export_text")
    writer = _Writer(fitted, names, digits)
    return "\n".join([*writer.node(int(root), "", ""), *writer.legend()])


class _Writer(Inequalities):
    """Writes the parts of a tree."""

    def __init__(self, model: FittedModel, names: list[str], digits: int) -> None:
        super().__init__(model, names, digits)
        self.classes, self.is_sum = model.classes, model.link != MEAN

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
        if self.is_sum:
            slopes = ", ".join(self.slopes(i))
            leaning = f" and a slope in {slopes}" if slopes else ""
            return f"adds {', '.join(map(self.number, value))}{leaning}, {self.samples(i)}"
        if self.classes is None:
            return f"value {self.number(value[0])}, {self.samples(i)}"
        best = int(value.argmax())
        return f"class {self.classes[best]}, {self.number(100 * value[best])} % of {self.samples(i)}"

    def samples(self, i: int) -> str:
        """How many samples a node has."""
        n = self.tree.n_samples[i]
        return f"{n} sample{'s' if n != 1 else ''}"
