"""
Which features count, and which are combined
============================================

An ordinary tree asks for one feature at a time, so that nobody can tell which features it uses together. Hyperplanes
say it: their terms are what they combine.

The picture of the guide is the second one: ``python examples/combined_features.py docs/images/combined_features.png``
renews it.
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from sublearn import SLMForestClassifier
from sublearn.display import ImportancesDisplay, InteractionsDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
forest = SLMForestClassifier(n_estimators=30, random_state=0).fit(X, y)

# %%
# Shares in what hyperplanes take from the training loss, the largest first. Whiskers are standard errors over the
# trees.

ImportancesDisplay.from_estimator(forest, n_features=12)
plt.show()

# %%
# Numbers say how many hyperplanes have both features, colours how much these gain. On the diagonal are hyperplanes of
# one feature alone.

display = InteractionsDisplay.from_estimator(forest, n_features=10)
if len(sys.argv) > 1:
    display.figure_.savefig(sys.argv[1], dpi=110)
plt.show()
