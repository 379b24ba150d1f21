"""
The smallest change that helps
==============================

A forest says whether a loan is paid back; here from two made-up numbers, so that all of it can be seen. For rows that
are refused, ``counterfactual`` finds the nearest change that is not. One feature changes where that is shortest, both
where it is shorter to share.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sublearn import SLMForestClassifier, counterfactual, route

rng = np.random.default_rng(0)
X = pd.DataFrame({"income": rng.normal(50, 12, 1500), "debt": rng.gamma(6.0, 3.5, 1500)}).round(1)
score = X["income"] - 1.2 * X["debt"] - 8 * np.sin(X["debt"] / 6) + rng.normal(0, 6, len(X))
y = np.where(score > 20, "granted", "refused")
model = SLMForestClassifier(min_samples_leaf=20, random_state=0).fit(X, y)

refused = X[model.predict(X) == "refused"][:14]
found = counterfactual(model, refused, "granted", background=X)
print(found)

# %%
# Dots are refused, and arrows lead to the nearest rows that are granted. Where income is hard to raise, a weight says
# so: then a deviation of it counts as three, and more of the way goes by debt.

heavy = counterfactual(model, refused, "granted", weights={"income": 3}, background=X)

income, debt = np.meshgrid(np.linspace(15, 90, 300), np.linspace(0, 48, 300))
grid = pd.DataFrame({"income": income.ravel(), "debt": debt.ravel()})
granted = (model.predict(grid) == "granted").reshape(income.shape)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True, layout="constrained")
panels = {"Both count the same": found, "Income counts three times": heavy}
for ax, (title, result) in zip(axes, panels.items(), strict=True):
    ax.contourf(income, debt, granted, levels=[-0.5, 0.5, 1.5], colors=["#F6E3D8", "#DCEBF4"])
    for row in np.flatnonzero(result.found):
        start, end = refused.to_numpy()[row], result.X.to_numpy()[row]
        ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": "#333333"})
    ax.plot(refused["income"], refused["debt"], "o", color="#D55E00", markersize=5)
    ax.plot(result.X["income"], result.X["debt"], "o", color="#0072B2", markersize=4)
    ax.set(title=title, xlabel="income")
axes[0].set_ylabel("debt")
axes[0].text(0.03, 0.95, "refused", color="#D55E00", transform=axes[0].transAxes, va="top")
axes[0].text(0.97, 0.05, "granted", color="#0072B2", transform=axes[0].transAxes, ha="right")

# %%
# Why is a row refused? Its route through a tree names the hyperplanes it passes, and how far it is from each.

print(route(model, refused[:1], tree=0))
