"""What is searched for each contender, in the protocols of `sublearn.paper.search`.

The paper names the hyper-parameters (Sec. IV) but not their grids; these are ours, the same for all data sets of
classes and for all of numbers. Of a grid with more than `N_SETTINGS` combinations that many are drawn, by a fixed seed,
after values of D0 beyond the number of features are taken as that number. A decision tree is grown until
its leaves are pure, as in the paper, and has nothing to search.
"""

from typing import Any

Grid = dict[str, list[Any]]

N_SETTINGS = {"honest": 16, "paper": 32}
N_QUICK = 6  # --quick, where QUICK says nothing

_SLM: Grid = {
    "envelope_height": [10.0, 20.0],  # A_int
    "envelope_decay": [0.1, 0.3],  # alpha
    "selection_decay": [0.1, 0.5],  # beta
}
_BASELINE: Grid = {
    "subspace_size": [2, 4, 8, 16],  # D0
    "n_projections": [16, 64, 256],  # p
    **_SLM,
    "min_samples_split": [5, 10, 20, 40, 80],
}
_BOOST: Grid = {
    "subspace_size": [4, 16],
    "n_projections": [4, 16],
    **_SLM,
    "max_depth": [2, 3, 4, 6],
    "learning_rate": [0.03, 0.1, 0.3],
}
_RANDOM_FOREST: Grid = {"max_depth": [2, 4, 6, 8, 12, None]}
_XGBOOST: Grid = {"max_depth": [1, 2, 3, 4, 6], "learning_rate": [0.03, 0.1, 0.3]}

CLASSES: dict[str, Grid] = {
    "ff-mlp": {"n_components": [1, 2, 3, 4], "tolerance": [0.0, 0.01, 0.03]},
    "bp-mlp": {},  # has the network that FF-MLP chose
    "elm": {"n_hidden": [20, 50, 100, 200], "alpha": [0.01, 0.1, 1.0, 10.0]},
    "lsvm": {"C": [0.01, 0.1, 1.0, 10.0, 100.0]},
    "svm-rbf": {"C": [1.0, 10.0, 100.0, 1000.0], "gamma": [0.01, 0.03, 0.1, 1.0]},
    "dt": {},
    "dt-tuned": {"min_samples_split": [2, 5, 10, 20, 40, 80]},
    "slm-baseline": _BASELINE,
    "rf": _RANDOM_FOREST,
    "xgboost": _XGBOOST,
    "slm-forest": {
        "subspace_size": [2, 4, 16],
        "n_projections": [2, 8],
        **_SLM,
        "min_samples_split": [5, 20, 40],
    },
    "slm-boost": _BOOST,
}
NUMBERS: dict[str, Grid] = {
    "elm": {"n_hidden": [20, 50, 100, 200], "alpha": [0.001, 0.01, 0.1, 1.0]},
    "lsvm": {"C": [0.01, 0.1, 1.0, 10.0, 100.0]},
    "svm-rbf": {"C": [1.0, 10.0, 100.0, 1000.0], "gamma": [0.01, 0.03, 0.1, 0.3]},
    "dt": {},
    "dt-tuned": {"min_samples_split": [2, 5, 10, 20, 40, 80]},
    "slm-baseline": _BASELINE,
    "rf": _RANDOM_FOREST,
    "xgboost": _XGBOOST,
    "slm-forest": {
        "subspace_size": [4, 16],
        "n_projections": [16, 64],
        **_SLM,
        "min_samples_split": [2, 5, 10],
    },
    "slm-boost": _BOOST,
}

_QUICK_SLM = {"envelope_height": 20.0, "envelope_decay": 0.3, "selection_decay": 0.1}
_QUICK_BOOST = {"subspace_size": 16, "n_projections": 16, **_QUICK_SLM}
# --quick: two settings of those that take long; both boosters have the same depths and rates
QUICK: dict[str, list[dict[str, Any]]] = {
    "rf": [{"max_depth": 6}, {"max_depth": None}],
    "xgboost": [{"max_depth": 3, "learning_rate": 0.1}, {"max_depth": 6, "learning_rate": 0.3}],
    "slm-forest": [
        {"subspace_size": 4, "n_projections": 8, **_QUICK_SLM, "min_samples_split": 5},
        {"subspace_size": 16, "n_projections": 16, **_QUICK_SLM, "min_samples_split": 20},
    ],
    "slm-boost": [
        {**_QUICK_BOOST, "max_depth": 3, "learning_rate": 0.1},
        {**_QUICK_BOOST, "max_depth": 6, "learning_rate": 0.3},
    ],
}
