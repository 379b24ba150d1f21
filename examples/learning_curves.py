"""
Learning curves with an eval_set
================================

Boosting that goes on for too long learns the noise by heart. Samples that are set aside show when that begins: hand
them to ``fit`` as ``eval_set``. With ``early_stopping=True`` the fit ends there by itself.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from sublearn import SLMBoostClassifier

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
# The three side by side. The training loss falls all the time; the one that counts does not.

figure, axes = plt.subplots(figsize=(8, 4.4), layout="constrained")
axes.plot(-fixed.train_score_, color="#8C8C8C", label="training, rate 0.1")
axes.plot(-fixed.validation_score_, color="#D55E00", label="eval_set, rate 0.1")
axes.plot(-found.validation_score_, color="#0072B2", label=f"eval_set, rate found: {found.learning_rate_:.3f}")
best = int(np.argmax(fixed.validation_score_))
axes.plot(best, -fixed.validation_score_[best], "o", color="#D55E00")
axes.annotate(
    "early stopping\nkeeps these rounds",
    (best, -fixed.validation_score_[best]),
    (0, -14),
    textcoords="offset points",
    va="top",
    ha="center",
)
axes.set(xlabel="rounds", ylabel="log loss", ylim=(0, 0.75))
axes.legend(frameon=False)
plt.show()
