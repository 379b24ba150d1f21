"""The two protocols: how hyper-parameters are chosen for a split, and what a contender then scores on its test part.

"honest": by cross-validation inside the training part. "paper": by the score on the test part itself, as the paper
appears to have done; what comes out is optimistic, and is never shown beside the other.
"""

import json
import warnings
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, ParameterSampler, StratifiedKFold, train_test_split
from sklearn.utils import shuffle

from sublearn._base.boosting import RanAwayError
from sublearn.core.tree.projection import envelope
from sublearn.paper import PARAMETERS, datasets
from sublearn.paper.contenders import CONTENDERS, Make
from sublearn.paper.grids import GRIDS, N_QUICK, N_SETTINGS, QUICK, Grid
from sublearn.paper.sizes import Size, size_of

PROTOCOLS = ("honest", "paper")
TEST_SHARE = 0.4
LARGE = 5000  # sets with more samples may be tuned on a part of the training part
N_TUNING = {"honest": 2000}  # that many; of protocols not named here, all
N_TUNING_SLOW = {"svm-rbf": 2000}  # at most that many by any protocol: hours would be needed otherwise
N_FOLDS = 3
SPARE = 4  # times as many settings are drawn as are tried, since some are the same model
VERY_MANY = 500  # features, where nothing is said of a set: all envelopes of the grids end before

Setting = dict[str, Any]


class Split(NamedTuple):
    """One random 60/40 split."""

    X_train: Any
    X_test: Any
    y_train: Any
    y_test: Any


class Found(NamedTuple):
    """What a contender reached on one split: accuracy or root mean squared error."""

    score: float
    n_test: int
    size: Size
    setting: Setting

    def described(self) -> dict[str, Any]:
        """The outcome as a record has it, which a file of JSON gives back unchanged."""
        return {"score": self.score, "n_test": self.n_test, **self.size._asdict(), "setting": self.setting}


def split(data: datasets.DataSet, seed: int) -> Split:
    """Split a set by a seed."""
    return Split(*train_test_split(data.X, data.y, test_size=TEST_SHARE, random_state=seed))


def try_contender(
    name: str, set_name: str, seed: int, protocol: str, quick: bool = False, folder: Path | None = None
) -> Found:
    """Choose hyper-parameters by a protocol and score the contender on the test part of one split."""
    is_classes = datasets.SOURCES[set_name].is_classes
    data = datasets.load(set_name, seed, folder)
    whole = split(data, seed)
    tuning = whole
    if len(data.X) > LARGE:
        chosen = np.random.RandomState(seed).permutation(len(whole.X_train))[: n_tuning(name, protocol)]
        tuning = whole._replace(X_train=whole.X_train[chosen], y_train=whole.y_train[chosen])
    contender = CONTENDERS[name]
    searched = contender.follows or name
    make = CONTENDERS[searched].make(is_classes)
    choices = settings(searched, protocol, quick, data.X.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of a support vector machine with a large C
        if len(choices) > 1:
            parts = [tuning] if protocol == "paper" else _folds(tuning, is_classes, seed)
            tried = [[try_setting(make, choice, part, seed) for part in parts] for choice in choices]
            choices = [min(tried, key=lambda found: _badness(found, is_classes))[0].setting]
        return try_setting(contender.make(is_classes), choices[0], whole, seed)


def n_tuning(name: str, protocol: str) -> int | None:
    """So many training samples of a large set are used to choose a contender's hyper-parameters; None: all."""
    limits = [limit for limit in (N_TUNING.get(protocol), N_TUNING_SLOW.get(name)) if limit is not None]
    return min(limits, default=None)


def _folds(parts: Split, is_classes: bool, seed: int) -> list[Split]:
    """Cross-validation inside the training part."""
    X, y = parts.X_train, parts.y_train
    folds = (StratifiedKFold if is_classes else KFold)(N_FOLDS, shuffle=True, random_state=seed)
    return [Split(X[train], X[test], y[train], y[test]) for train, test in folds.split(X, y)]


def _badness(found: list[Found], is_classes: bool) -> tuple[float, float]:
    """Mean score, smaller is better; among equals the smaller model."""
    score = round(float(np.mean([one.score for one in found])), 12)
    return -score if is_classes else score, float(np.mean([one.size.n_parameters or 0 for one in found]))


def settings(name: str, protocol: str, quick: bool, n_features: int | None = None) -> list[Setting]:
    """The combinations of a contender's grid that are tried on a set of so many features; None: of very many."""
    if quick and name in QUICK:
        return QUICK[name]
    grid = GRIDS[name]
    n = N_QUICK if quick else N_SETTINGS[protocol]
    drawn = list(ParameterSampler(grid, min(SPARE * n, n_combinations(grid)), random_state=0))
    if n < len(drawn) == n_combinations(grid):  # a whole grid comes in its order, whose first ones are no sample
        drawn = shuffle(drawn, random_state=0)
    models: dict[str, Setting] = {}
    for one in drawn:
        if n_with_coefficients(one, n_features) > 0:
            models.setdefault(json.dumps(_bounded(one, name, n_features)), one)
    return list(models.values())[:n]


def n_combinations(grid: Grid) -> int:
    """Number of settings of a grid; 1 where it is empty."""
    return prod(map(len, grid.values()))


def n_with_coefficients(setting: Setting, n_features: int | None) -> int:
    """How many features the envelope of a setting allows coefficients other than 0; those of no SLM have one."""
    if "envelope_height" not in setting:
        return 1
    bounds = envelope(setting["envelope_height"], setting["envelope_decay"], n_features or VERY_MANY)
    return sum(bound > 0 for bound in bounds)


def _bounded(setting: Setting, name: str, n_features: int | None) -> Setting:
    """The setting with D0 and p as large as they have an effect: what is equal then is the same model.

    D0 ends with the features, and those without coefficients, unless it is drawn; p with the paper's U.B. a round.
    """
    if "envelope_height" not in setting:
        return setting
    n_useful, size = n_with_coefficients(setting, n_features), setting["subspace_size"]
    is_drawn = name == "slm-forest" and size < (n_features or VERY_MANY)
    size = size if is_drawn else min(size, n_useful)
    largest = envelope(setting["envelope_height"], setting["envelope_decay"], min(size, n_useful))
    most = len(PARAMETERS["n_coefficients"]) * prod(2 * bound + 1 for bound in largest)
    return {**setting, "subspace_size": size, "n_projections": min(setting["n_projections"], most)}


def try_setting(make: Make, setting: Setting, parts: Split, seed: int) -> Found:
    """Fit one setting and score it on the test part; a fit that runs away is wrong on every sample."""
    model, n_test = make(random_state=seed, **setting), len(parts.X_test)
    try:
        model.fit(parts.X_train, parts.y_train)
    except RanAwayError:
        worst = 0.0 if hasattr(model, "predict_proba") else np.inf
        return Found(worst, n_test, Size(None, None), setting)
    predicted = model.predict(parts.X_test)
    if hasattr(model, "classes_"):
        score = float(np.mean(predicted == parts.y_test))
    else:
        score = float(np.sqrt(np.mean((predicted - parts.y_test) ** 2)))
    return Found(score, n_test, size_of(model, len(parts.X_train)), setting)
