"""
What a prediction comes from
============================

``explain`` shares a prediction among the features, by Shapley values. Here a model of house-like prices has learned
from a table in which two features only count together: an oblique hyperplane takes both at once, and the game behind
the values shares what it does.
"""

import matplotlib.pyplot as plt
import numpy as np

from sublearn import SLMBoostRegressor, explain

rng = np.random.default_rng(0)
names = ["rooms", "age", "distance", "width", "length", "noise"]
X = rng.normal(size=(3000, len(names)))
price = 2 * X[:, 0] - X[:, 1] + np.where(X[:, 3] + X[:, 4] > 1, 3.0, 0.0) - np.exp(-X[:, 2])
y = price + 0.3 * rng.normal(size=len(X))
model = SLMBoostRegressor(n_estimators=100, learning_rate=0.1, random_state=0).fit(X, y)
explanation = explain(model, X[:400], background=X[1000:1100])
for name, size in zip(names, np.abs(explanation.values).mean(axis=0), strict=True):
    print(f"{name:8s} {size:.3f}")

# %%
# Every point of the left picture is a sample. The values of `width` jump where it gets a sample over the threshold; how
# much of the step it gets depends on how much `length` has done already. On the right is one sample: its features lead
# from the mean prediction of the background to its own.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), width_ratios=(1.1, 1))
points = left.scatter(X[:400, 3], explanation.values[:, 3], c=X[:400, 4], s=12, cmap="viridis")
figure.colorbar(points, ax=left, label="length")
left.set(xlabel="width", ylabel="Shapley value of width", title="Two features that count together")

one = int(np.argmax(explanation.values[:, 3:5].min(axis=1) - np.abs(X[:400, 2])))
values = explanation.values[one]
order = np.argsort(np.abs(values))
starts = explanation.base_values[one] + np.concatenate([[0.0], np.cumsum(values[order])[:-1]])
colours = np.where(values[order] > 0, "#1f77b4", "#d62728")
right.barh(range(len(order)), values[order], left=starts, color=colours)
right.set_yticks(range(len(order)), [f"{names[f]} = {X[one, f]:.2f}" for f in order])
right.axvline(explanation.base_values[one], color="grey", linestyle=":", label="mean of the background")
right.axvline(model.predict(X[one : one + 1])[0], color="black", linestyle="--", label="prediction")
right.set(xlabel="prediction", title="One sample")
right.use_sticky_edges = False
right.legend(loc="upper left", fontsize=8)
figure.tight_layout()
