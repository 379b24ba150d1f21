"""
What a model does in a plane
============================

:class:`~sublearn.display.PartitionDisplay` draws the answers of any model in the plane of two features. It cuts the
plane by the hyperplanes themselves. So borders are where they are, at any size of the picture.

The picture of the guide is the second one: ``python examples/planes.py docs/images/planes.png`` renews it.
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from sublearn import SLMBoostClassifier, SLMClassifier, SLMForestClassifier
from sublearn.display import PartitionDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
y = y.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
plane = ("flavanoids", "color_intensity")

# %%
# One tree. The frame goes around the samples, and all other features are at their medians. Bold lines are those of the
# root, white ones those of deeper nodes. The more certain a cell is of its class, the stronger is its colour.

tree = SLMClassifier(random_state=0).fit(X, y)
PartitionDisplay.from_estimator(tree, X, y, features=plane)
plt.show()

# %%
# Boosting, with linear models in its leaves: there the class changes inside of leaves too, along straight lines. A
# sample has values of its own in the eleven other features. So its class may be another than that of the cell it is
# drawn in, as with the many Barolos here.

boost = SLMBoostClassifier(n_estimators=60, learning_rate=0.1, random_state=0).fit(X, y)
display = PartitionDisplay.from_estimator(boost, X, y, features=plane)
if len(sys.argv) > 1:
    display.figure_.savefig(sys.argv[1], dpi=110)
plt.show()

# %%
# The other features need not be at their medians. ``others`` takes a row, values by name, or ``"averaged"``: the mean
# answer over some rows. ``target`` draws the probability of one class.

forest = SLMForestClassifier(n_estimators=10, random_state=0).fit(X, y)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
PartitionDisplay.from_estimator(forest, X, features=plane, others={"proline": 1200}, ax=left)
PartitionDisplay.from_estimator(forest, X, features=plane, others="averaged", max_rows=5, target="Barolo", ax=right)
plt.show()
