"""
A band from quantile regression
===============================

A mean says nothing about how far values spread. Two fits with the loss ``"quantile"`` do: the quantiles 0.05 and 0.95
make a band that should hold about nine of ten new values. Here the spread grows from left to right.
"""

import matplotlib.pyplot as plt
import numpy as np

from sublearn import SLMBoostRegressor

rng = np.random.default_rng(0)


def draw_samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A wave with noise that grows with x."""
    x = rng.uniform(0, 10, n)
    return x[:, None], np.sin(x) + (0.1 + 0.08 * x) * rng.standard_normal(n)


X, y = draw_samples(2000)
X_new, y_new = draw_samples(2000)

# %%
# One model for each quantile, and one for the median.

models = {q: SLMBoostRegressor(loss="quantile", quantile=q, random_state=0).fit(X, y) for q in (0.05, 0.5, 0.95)}

inside = (models[0.05].predict(X_new) <= y_new) & (y_new <= models[0.95].predict(X_new))
print(f"{inside.mean():.1%} of new values lie inside the band")

# %%
# The band widens where the noise does.

grid = np.linspace(0, 10, 500)[:, None]
figure, axes = plt.subplots(figsize=(8, 4.4), layout="constrained")
axes.scatter(X_new[:600, 0], y_new[:600], s=7, color="#8C8C8C", label="new values")
axes.fill_between(
    grid[:, 0], models[0.05].predict(grid), models[0.95].predict(grid), color="#0072B2", alpha=0.25, label="5 to 95 %"
)
axes.plot(grid, models[0.5].predict(grid), color="#0072B2", label="median")
axes.plot(grid, np.sin(grid), color="black", linewidth=1, linestyle="--", label="the wave without noise")
axes.set(xlabel="x", ylabel="y")
axes.legend(frameon=False, loc="lower left", ncols=2)
plt.show()
