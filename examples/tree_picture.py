"""
A tree on a page
================

A tree of three levels over the wine data. Its boxes are nodes, with the class mix as a bar, and with their cuts in the
units of the features. One node may have two cuts, and then up to four children: "+a -b" are the samples for which a is
true and b is not.

The picture of the guide is this one: ``python examples/tree_picture.py docs/images/tree_picture.png`` renews it.
"""

import sys

from matplotlib import pyplot as plt
from sklearn.datasets import load_wine

from sublearn import SLMClassifier
from sublearn.display import TreeDisplay

GROWERS = ["Barolo", "Grignolino", "Barbera"]


def draw() -> TreeDisplay:
    wine = load_wine(as_frame=True)
    model = SLMClassifier(max_depth=3, random_state=0).fit(wine.data, wine.target)
    return TreeDisplay.from_estimator(model, class_names=GROWERS)


def main() -> None:
    display = draw()
    if len(sys.argv) > 1:
        display.figure_.savefig(sys.argv[1], dpi=130)
    else:
        plt.show()


if __name__ == "__main__":
    main()
