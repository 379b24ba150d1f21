"""
Real features among noise
=========================

The breast cancer data of scikit-learn has 30 features. Here 70 features of normal noise join them. The discriminant
feature test gives every feature a loss; sorted, the losses make a curve with an elbow. Features up to the elbow are
kept.

The picture of the guide is this one: ``python examples/feature_selection.py docs/images/feature_selection.png`` renews
it.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

from sublearn import DiscriminantFeatureTest
from sublearn.display.canvas import COLOURS, GREY, INK, SMALL, TEXT, dress

N_NOISE = 70


def fitted() -> tuple[DiscriminantFeatureTest, int, float]:
    """The fitted test, the number of real features, and the loss of all samples, which a useless feature has."""
    X, y = load_breast_cancer(return_X_y=True)
    noise = np.random.default_rng(0).standard_normal((len(X), N_NOISE))
    shares = np.bincount(y) / len(y)
    return DiscriminantFeatureTest().fit(np.hstack([X, noise]), y), X.shape[1], float(-(shares * np.log2(shares)).sum())


def draw(test: DiscriminantFeatureTest, n_real: int, useless: float) -> Figure:
    """The sorted losses, the chord from the first of them to a useless feature, and the elbow."""
    order = np.argsort(test.ranking_)
    losses, ranks, is_real = test.losses_[order], test.ranking_[order], order < n_real
    figure: Figure
    figure, axes = plt.subplots(figsize=(7.2, 4.2), layout="constrained", facecolor="white")
    axes.plot([1, len(order) + 1], [losses[0], useless], color=GREY, linewidth=1, linestyle="--", label="chord")
    for is_kind, name, colour, marker in ((is_real, "real", COLOURS[0], "o"), (~is_real, "noise", COLOURS[1], "^")):
        axes.plot(ranks[is_kind], losses[is_kind], marker, color=colour, markersize=5, label=name)
    axes.axvline(test.n_features_ + 0.5, color=INK, linewidth=1.2)
    chosen = is_real[: test.n_features_].sum()
    axes.annotate(
        f"elbow: {test.n_features_} features kept,\n{chosen} of them real",
        (test.n_features_ + 0.5, losses[0]),
        (8, 0),
        textcoords="offset points",
        fontsize=TEXT,
        color=INK,
        va="bottom",
    )
    dress(axes, "Discriminant feature test, breast cancer and noise", "rank of the feature", "loss in bits")
    axes.legend(loc="lower right", fontsize=SMALL, frameon=False)
    return figure


def save_picture(path: Path) -> None:
    test, n_real, useless = fitted()
    chosen = test.get_support(indices=True)
    caption = f"elbow at {len(chosen)} features, {(chosen < n_real).sum()} of them real"
    figure = draw(test, n_real, useless)
    figure.savefig(path, dpi=100, metadata={"Description": caption})
    plt.close(figure)


def main() -> None:
    if len(sys.argv) > 1:
        save_picture(Path(sys.argv[1]))
    else:
        draw(*fitted())
        plt.show()


if __name__ == "__main__":
    main()
