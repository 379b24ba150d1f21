"""
Inside a node
=============

The root of a tree over the wine data has two cuts. For each of them: the samples at the left side of its inequality,
and the loss that every threshold would leave. The diamond is the chosen cut; dots are the boundaries of 16 bins, which
the search tries. The cosine between both cuts is small, as the node wants it.

The picture of the guide is this one: ``python examples/node_view.py docs/images/node_view.png`` renews it.
"""

import sys

from matplotlib import pyplot as plt
from sklearn.datasets import load_wine

from sublearn import SLMClassifier
from sublearn.display import NodeDisplay

GROWERS = ["Barolo", "Grignolino", "Barbera"]


def draw() -> NodeDisplay:
    wine = load_wine(as_frame=True)
    model = SLMClassifier(max_depth=3, random_state=0).fit(wine.data, wine.target)
    return NodeDisplay.from_estimator(model, wine.data, wine.target, node=0, class_names=GROWERS)


def main() -> None:
    display = draw()
    if len(sys.argv) > 1:
        display.figure_.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
