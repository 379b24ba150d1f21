"""
Hundreds of features by rank
============================

A feature test over 300 features, of which ten make the target. The best ones are named, and all are on the curve; those
that the elbow keeps are blue.
"""

import numpy as np
from matplotlib import pyplot as plt

from sublearn import RelevantFeatureTest
from sublearn.display import FeatureTestDisplay

rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 300))
y = X[:, :10] @ np.linspace(2, 1, 10) + rng.normal(size=1000)
names = [f"useful {f}" if f < 10 else f"noise {f}" for f in range(300)]

test = RelevantFeatureTest().fit(X, y)
FeatureTestDisplay.from_estimator(test, feature_names=names)
plt.show()
