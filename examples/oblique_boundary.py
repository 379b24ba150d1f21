"""
A boundary that is not parallel to an axis
==========================================

Two classes whose border is the line x + y = 0. One oblique cut is enough for an SLM tree. A decision tree can only cut
parallel to the axes, and has to build the line from stairs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.tree import DecisionTreeClassifier

from sublearn import SLMClassifier, export_text

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (600, 2))
y = (X.sum(axis=1) + 0.05 * rng.standard_normal(600) > 0).astype(int)
X_test = rng.uniform(-1, 1, (5000, 2))
y_test = (X_test.sum(axis=1) > 0).astype(int)

slm = SLMClassifier(max_depth=1, max_partitions=1, n_bins=64, random_state=0).fit(X, y)
tree = DecisionTreeClassifier(random_state=0).fit(X, y)

# %%
# The SLM tree is a single inequality, in the units of the data.

print(export_text(slm, ["x", "y"]))

# %%
# The decision tree needs many more cuts, and is further from the line that made the data.

figure, panels = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for axes, name, model, n_cuts in (
    (panels[0], "SLM tree", slm, slm.n_partitions_),
    (panels[1], "decision tree", tree, tree.get_n_leaves() - 1),
):
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", grid_resolution=400, cmap="RdBu", alpha=0.3, ax=axes
    )
    axes.scatter(*X.T, c=y, cmap="RdBu", s=9, edgecolors="white", linewidths=0.2)
    axes.axline((0, 0), slope=-1, color="black", linewidth=1, linestyle="--")
    cuts = f"{n_cuts} cut{'s' if n_cuts > 1 else ''}"
    axes.set_title(f"{name}: {cuts}, test accuracy {model.score(X_test, y_test):.3f}", fontsize=11)
    axes.set_aspect("equal")
plt.show()
