"""
The envelope of coefficients
============================

Candidate cuts of a node have small whole numbers as coefficients. The envelope says how large they may be: the better a
feature is by itself in that node, the larger. Bubbles are the coefficients of all candidates of the root of a tree, and
lines are the cuts that it kept.

The picture of the guide is this one: ``python examples/envelope_view.py docs/images/envelope_view.png`` renews it.
"""

import sys

from matplotlib import pyplot as plt
from sklearn.datasets import load_wine

from sublearn import SLMClassifier
from sublearn.display import EnvelopeDisplay


def draw() -> EnvelopeDisplay:
    wine = load_wine(as_frame=True)
    model = SLMClassifier(envelope_height=6.0, max_depth=3, random_state=0).fit(wine.data, wine.target)
    return EnvelopeDisplay.from_estimator(model, wine.data, wine.target)


def main() -> None:
    display = draw()
    if len(sys.argv) > 1:
        display.figure_.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
