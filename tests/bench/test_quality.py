"""Quality: a short form of benchmarks/quality.py, so that a loss of accuracy does not pass unseen."""

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, unused-ignore]

from files import FOLDER, path_of
from quality import Pair, compare, pairs
from sublearn import SLMBoostClassifier, SLMBoostRegressor
from sublearn.paper.datasets import FOLDER_VARIABLE, SOURCES, load
from sublearn.paper.significance import LEVEL, corrected_p_value

CLASSES = ["circle-and-ring", "2-new-moons", "iris", "wine", "breast-cancer"]
NUMBERS = ["friedman-1", "friedman-2", "friedman-3", "diabetes"]
FROM_FILES = ["pima", "ionosphere"]
# what benchmarks compare with XGBoost; this peer comes with scikit-learn
BOOSTING = (
    Pair(SLMBoostClassifier(), HistGradientBoostingClassifier()),
    Pair(SLMBoostRegressor(), HistGradientBoostingRegressor()),
)


def differences(names: list[str], pair: Pair, n_splits: int) -> list[Any]:
    """What SLM is better by, on each split of each set; never significantly worse on a set."""
    sign = 1 if hasattr(pair.slm, "predict_proba") else -1
    found = []
    for name in names:
        with threadpool_limits(1):  # gradient boosting of so few samples takes several times longer with more
            scores = compare(load(name, folder=FOLDER), pair, n_splits).scores
        better = sign * (scores[:, 0] - scores[:, 1])
        assert better.mean() > 0 or corrected_p_value(better) > LEVEL, name
        found.append(better if sign > 0 else better / scores[:, 1].mean())
    return found


def test_a_tree_predicts_better_than_a_decision_tree_in_the_mean() -> None:
    classes, numbers = pairs("tree")
    assert np.mean(differences(CLASSES, classes, 10)) > 0
    assert np.mean(differences(NUMBERS, numbers, 10)) > 0


@pytest.mark.parametrize("name", ["circle-and-ring", "friedman-1"])
def test_a_tree_is_shallower_than_a_decision_tree(name: str) -> None:
    classes, numbers = pairs("tree")
    pair = classes if SOURCES[name].is_classes else numbers
    depths = compare(load(name), pair, 3).depths.mean(axis=0)
    assert depths[0] < depths[1]


def test_a_forest_predicts_no_worse_than_a_random_forest() -> None:
    classes, numbers = pairs("forest")
    # level over all sets and 20 splits (docs/studies/quality.md); over a few of them either may be ahead by so much
    assert np.mean(differences(CLASSES, classes, 5)) > -0.005
    assert np.mean(differences(NUMBERS, numbers, 4)) > 0


def test_boosting_predicts_better_than_gradient_boosting_of_axis_parallel_trees() -> None:
    classes, numbers = BOOSTING
    assert np.mean(differences(["wine", "breast-cancer"], classes, 3)) > 0
    assert np.mean(differences(["friedman-1", "friedman-3", "diabetes"], numbers, 3)) > 0.05


@pytest.mark.parametrize("name", FROM_FILES)
def test_ensembles_are_not_significantly_worse_on_data_from_files(name: str) -> None:
    if not path_of(name).exists():  # to be asked first, since load would go to the network
        pytest.skip(f"{path_of(name)} is not there; {FOLDER_VARIABLE} can name another folder")
    for pair in (pairs("forest")[0], BOOSTING[0]):
        differences([name], pair, 4)
