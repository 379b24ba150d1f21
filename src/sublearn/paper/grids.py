"""What is searched for each contender, in the protocols of `sublearn.paper.search`: one grid a method, for all sets.

The paper names what is searched (Sec. IV: D0, p, A_int, alpha, beta and the minimum number of samples of SLM, depths
and learning rates, C and gamma) but not the values; these are ours, so wide that on most sets what is chosen has values
on both sides. Of a grid with more than `N_SETTINGS` combinations that many are drawn, by a fixed seed, after values of
D0 beyond the number of features are taken as that number. A decision tree is grown until its leaves are pure, as in
the paper, and has nothing to search; beside it is one whose minimum number of samples is searched as SLM's is.
"""

from typing import Any

Grid = dict[str, list[Any]]

N_SETTINGS = {"honest": 16, "paper": 40}
N_QUICK = 6  # --quick, where QUICK says nothing

_MIN_SAMPLES = [2, 5, 10, 20, 40, 80]
_SLM: Grid = {
    "subspace_size": [2, 4, 8, 16, 32],  # D0
    "envelope_height": [2.0, 5.0, 10.0, 20.0, 40.0],  # A_int
    "envelope_decay": [0.02, 0.1, 0.3, 1.0],  # alpha
    "selection_decay": [0.02, 0.1, 0.5, 2.0, 8.0],  # beta
}
_DEPTHS, _RATES = [1, 2, 3, 4, 6, 8], [0.01, 0.03, 0.1, 0.3, 1.0]

GRIDS: dict[str, Grid] = {
    "ff-mlp": {"n_components": [1, 2, 3, 4], "tolerance": [0.0, 0.01, 0.03]},
    "bp-mlp": {},  # has the network that FF-MLP chose
    "elm": {"n_hidden": [20, 50, 100, 200], "alpha": [0.001, 0.01, 0.1, 1.0, 10.0]},
    "lsvm": {"C": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]},
    "svm-rbf": {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [0.003, 0.01, 0.03, 0.1, 0.3, 1.0]},
    "dt": {},
    "dt-tuned": {"min_samples_split": _MIN_SAMPLES},
    "slm-baseline": {**_SLM, "n_projections": [4, 16, 64, 256, 1024], "min_samples_split": _MIN_SAMPLES},  # p
    "rf": {"max_depth": [1, 2, 4, 6, 8, 12, None]},
    "xgboost": {"max_depth": _DEPTHS, "learning_rate": _RATES},
    "slm-forest": {**_SLM, "n_projections": [2, 8, 32, 128], "min_samples_split": _MIN_SAMPLES},
    "slm-boost": {
        **_SLM,
        "n_projections": [2, 8, 32, 128],
        "min_samples_split": _MIN_SAMPLES,
        "max_depth": _DEPTHS,
        "learning_rate": _RATES,
    },
}

_QUICK_SLM = {
    "subspace_size": 16,
    "n_projections": 32,
    "envelope_height": 20.0,
    "envelope_decay": 0.3,
    "selection_decay": 0.1,
    "min_samples_split": 10,
}
_QUICK_RATE = {"max_depth": 3, "learning_rate": 0.1}  # of both boosters
# --quick: one setting of each ensemble, which is not searched then, since a search takes 3 fits a setting. Both forests
# stop a little before their leaves are pure. Of FF-MLP, whose search BP-MLP repeats, a small and a large network.
QUICK: dict[str, list[dict[str, Any]]] = {
    "ff-mlp": [{"n_components": 1, "tolerance": 0.03}, {"n_components": 3, "tolerance": 0.0}],
    "rf": [{"max_depth": 8}],
    "xgboost": [_QUICK_RATE],
    "slm-forest": [_QUICK_SLM],
    "slm-boost": [{**_QUICK_SLM, **_QUICK_RATE}],
}
