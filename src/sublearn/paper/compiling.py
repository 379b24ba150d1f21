"""Compiles SLM's kernels in one process, so that the others of a run load them."""

import numpy as np

from sublearn import SLMBoostClassifier, SLMClassifier
from sublearn.display.search import search_root
from sublearn.paper.contenders import CONTENDERS

N_SAMPLES = 40
FEW = {"slm-baseline": {}, "slm-forest": {"n_estimators": 2}, "slm-boost": {"n_estimators": 2}}


def compile_kernels(with_root: bool) -> None:
    """Fit the smallest models that need all kernels of the contenders, and search a root if the figures do."""
    X = np.random.default_rng(0).normal(size=(N_SAMPLES, 3))
    cuts = X[:, 0] > 0, X[:, 1] > 0
    for name, few in FEW.items():
        for y in (cuts[0].astype(np.int64), np.add(*cuts, dtype=np.int64), X[:, 0]):  # losses differ by target
            CONTENDERS[name].make(y.dtype == np.int64)(random_state=0, **few).fit(X, y).predict(X)
    by_default = SLMBoostClassifier(n_estimators=2, learning_rate=0.3, random_state=0)  # of which figures have curves
    by_default.fit(X, cuts[0]).predict(X)
    if with_root:
        search_root(SLMClassifier(random_state=0).fit(X, cuts[0]), X, cuts[0])
