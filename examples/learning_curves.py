"""
Learning curves with an eval_set
================================

Boosting that goes on for too long learns the noise by heart. Samples that are set aside show when that begins: hand
them to ``fit`` as ``eval_set``. With ``early_stopping=True`` the fit ends there by itself.

The picture of the guide is the first one: ``python examples/learning_curves.py docs/images/learning_curves.png`` renews
it.
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from sublearn import SLMBoostClassifier, SLMForestClassifier
from sublearn.display import RoundsDisplay

X, y = make_classification(3000, 20, n_informative=8, flip_y=0.15, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# A rate that is high on purpose, and far too many rounds. Scores are minus the mean loss, the first of them before the
# first round.

fixed = SLMBoostClassifier(n_estimators=300, learning_rate=0.1, random_state=0)
fixed.fit(X, y, eval_set=(X_test, y_test))
stopped = SLMBoostClassifier(n_estimators=300, learning_rate=0.1, early_stopping=True, random_state=0)
stopped.fit(X, y, eval_set=(X_test, y_test))
print(f"log loss {-fixed.validation_score_[-1]:.3f} after {fixed.n_iter_} rounds")
print(f"log loss {-stopped.validation_score_.max():.3f} after {stopped.n_iter_} rounds, with early stopping")

# %%
# With the default, ``learning_rate="auto"``, quick trials inside the training part find how far to learn, and nothing
# needs to be set aside.

found = SLMBoostClassifier(random_state=0).fit(X, y, eval_set=(X_test, y_test))
print(f"log loss {-found.validation_score_[-1]:.3f} with rate {found.learning_rate_:.3f} over {found.n_iter_} rounds")

# %%
# Both over each other. The training loss falls all the time; the one that counts does not. Dots mark the lowest.

display = RoundsDisplay.from_estimator(fixed, label="rate 0.1")
RoundsDisplay.from_estimator(found, label=f"rate found, {found.learning_rate_:.3f}", ax=display.ax_)
display.ax_.set_ylim(0, 0.75)
if len(sys.argv) > 1:
    display.figure_.savefig(sys.argv[1], dpi=110)
plt.show()

# %%
# Where early stopping ends a fit there is a line. What is faint was tried, and given up.

RoundsDisplay.from_estimator(stopped, label="rate 0.1, stopped")
plt.show()

# %%
# A forest has no loss of its own to note, so it needs the samples. More trees do not harm it.

forest = SLMForestClassifier(n_estimators=60, random_state=0).fit(X, y)
RoundsDisplay.from_estimator(forest, X_test, y_test, X_train=X, y_train=y, metric="error")
plt.show()
