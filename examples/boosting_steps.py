"""
Boosting with oblique and with ordinary steps
=============================================

Gradient boosting adds many small trees. In most libraries their cuts are parallel to the axes. Where features act
together, each such tree is a flight of stairs, and many rounds go into smoothing them. Here scikit-learn's
``HistGradientBoostingRegressor`` stands for that idea, at the same rate and with trees of the same depth.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split

from sublearn import SLMBoostRegressor

rng = np.random.default_rng(0)
X = rng.standard_normal((4000, 8))
y = np.sin(X[:, 0] + X[:, 1]) + np.abs(X[:, 2] - X[:, 3]) + 0.5 * X[:, 4] * X[:, 5] + 0.1 * rng.standard_normal(4000)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

models = {
    "SLMBoostRegressor": SLMBoostRegressor(n_estimators=300, learning_rate=0.1, max_depth=6, random_state=0),
    "HistGradientBoostingRegressor": HistGradientBoostingRegressor(
        max_iter=300, learning_rate=0.1, max_depth=6, max_leaf_nodes=None, early_stopping=False
    ),
}
curves = {
    name: [np.sqrt(np.mean((at - y_test) ** 2)) for at in model.fit(X, y).staged_predict(X_test)]
    for name, model in models.items()
}

# %%
# The same rate and depth: how far does each get, and how soon?

oblique, ordinary = curves.values()
level = next(i for i, error in enumerate(oblique, 1) if error <= min(ordinary))
print(f"ordinary cuts: test RMSE {min(ordinary):.3f} at the best of {len(ordinary)} rounds")
print(f"oblique cuts: the same after {level} rounds, {min(oblique):.3f} at the best")

# %%
# Sums and differences of features are one cut for an oblique tree.

figure, axes = plt.subplots(figsize=(8, 4.4), layout="constrained")
for (name, curve), colour in zip(curves.items(), ("#0072B2", "#D55E00"), strict=True):
    axes.plot(range(1, len(curve) + 1), curve, color=colour, label=name)
axes.axhline(0.1, color="black", linewidth=1, linestyle="--", label="the noise in y")
axes.set(xlabel="rounds", ylabel="test RMSE", ylim=(0, None))
axes.legend(frameon=False)
plt.show()
