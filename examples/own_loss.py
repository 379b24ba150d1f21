"""
A loss of your own
==================

Suppose that too little is worse than too much: a shop that runs out of bread loses more than one that has some left.
The LINEX loss says so. It grows exponentially on one side and in a straight line on the other. Boosting needs two
methods for it: the loss of each sample, and its first and second derivative.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from sublearn import Loss, SLMBoostRegressor


class Linex(Loss):
    """exp(s) - s - 1 for a shortfall of s, in units of 1 / steepness."""

    def __init__(self, steepness: float) -> None:
        self.steepness = steepness

    def values(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Loss of each sample."""
        short = self.steepness * (y - raw)
        losses: np.ndarray = np.exp(short) - short - 1
        return losses

    def derivatives(self, y: np.ndarray, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and second derivative by the prediction."""
        short = np.exp(self.steepness * (y - raw))
        return self.steepness * (1 - short), self.steepness**2 * short

    def start(self, y: np.ndarray, sample_weight: np.ndarray) -> float:
        """Where the first tree begins."""
        return float(np.average(y, weights=sample_weight))


X, y = make_friedman1(3000, noise=2.0, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)

# %%
# Hand the loss over as a parameter; all else is as before.

losses = {"squared error": "squared_error", "LINEX, steepness 0.3": Linex(0.3), "LINEX, steepness 0.6": Linex(0.6)}
errors = {
    name: SLMBoostRegressor(loss=loss, random_state=0).fit(X, y).predict(X_test) - y_test
    for name, loss in losses.items()
}
for name, error in errors.items():
    print(f"{name}: too little in {(error < 0).mean():.0%} of cases, mean error {error.mean():+.2f}")

# %%
# The steeper the loss, the more the predictions lean to the safe side.

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
for (name, error), colour in zip(errors.items(), ("#8C8C8C", "#56B4E9", "#0072B2"), strict=True):
    axes.hist(error, bins=np.linspace(-8, 10, 60), histtype="step", linewidth=2, color=colour, label=name)
axes.axvline(0, color="black", linewidth=1)
axes.set(xlabel="prediction less truth", ylabel="test samples")
axes.legend(frameon=False)
plt.show()
