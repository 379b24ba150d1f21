"""
A boundary that is not parallel to an axis
==========================================

The samples of one class lie above y = abs(x), a corner whose sides are not parallel to an axis. An SLM tree cuts along
them. A decision tree has to build them from stairs. Both have nothing but their defaults.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.tree import DecisionTreeClassifier

from sublearn import SLMClassifier, export_text

rng = np.random.default_rng(0)
X, X_test = rng.uniform(-1, 1, (800, 2)), rng.uniform(-1, 1, (5000, 2))
y, y_test = ((samples[:, 1] >= np.abs(samples[:, 0])).astype(int) for samples in (X, X_test))

slm = SLMClassifier(random_state=0).fit(X, y)
tree = DecisionTreeClassifier(random_state=0).fit(X, y)

# %%
# Every cut of the SLM tree is an inequality in the units of the data. A node may have two of them, a and b.

print(export_text(slm, ["x", "y"]))

# %%
# The decision tree needs more cuts, and is further from the corner that made the data, which is dashed.

TINTS, COLOURS = ListedColormap(["#CFE3F0", "#F8DDCB"]), ListedColormap(["#0072B2", "#D55E00"])
figure, panels = plt.subplots(1, 2, figsize=(9.4, 4.8))
figure.subplots_adjust(left=0.01, right=0.99, bottom=0.01, top=0.93, wspace=0.06)
for axes, name, model, n_cuts in (
    (panels[0], "SLM tree", slm, slm.n_partitions_),
    (panels[1], "Decision tree", tree, tree.get_n_leaves() - 1),
):
    DecisionBoundaryDisplay.from_estimator(
        model,
        X,
        response_method="predict",
        plot_method="pcolormesh",
        grid_resolution=800,
        eps=0.05,
        cmap=TINTS,
        ax=axes,
    )
    axes.scatter(*X.T, c=y, cmap=COLOURS, s=11, edgecolors="white", linewidths=0.3)
    axes.plot([-1.05, 0, 1.05], [1.05, 0, 1.05], color="black", linewidth=1, linestyle="--")
    axes.set_title(name, loc="left", fontweight="bold")
    axes.set_title(f"{n_cuts} cuts, test accuracy {100 * model.score(X_test, y_test):.1f} %", loc="right", fontsize=11)
    axes.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), box_aspect=1)
    axes.set_axis_off()
plt.show()
