"""What is tried for each contender: drawn from its grid, or by hand in the quick form."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine

from sublearn.paper import grids, search
from sublearn.paper.contenders import CONTENDERS, N_TREES, of_table
from sublearn.paper.grids import GRIDS, N_QUICK, N_SETTINGS, QUICK
from sublearn.paper.search import Split, n_combinations, settings, try_setting

ALL = [(name, is_classes) for is_classes in (True, False) for name in of_table(is_classes)]
BY_HAND = [(name, is_classes) for name, is_classes in ALL if name in QUICK]


def tried(found: list[search.Setting]) -> set[str]:
    return {repr(sorted(one.items())) for one in found}


@pytest.mark.parametrize(("name", "is_classes"), ALL)
@pytest.mark.parametrize("protocol", search.PROTOCOLS)
def test_settings_fit_their_contender_and_are_drawn_alike_each_time(name: str, is_classes: bool, protocol: str) -> None:
    grid = GRIDS[name]
    found = settings(name, protocol, False, 10)
    assert found == settings(name, protocol, False, 10)
    assert len(tried(found)) == len(found) <= N_SETTINGS[protocol]
    assert all(set(one) == set(grid) for one in found)
    made = CONTENDERS[name].make(is_classes)(random_state=0, **found[0])
    assert set(grid) <= {parameter.split("__")[-1] for parameter in made.get_params()}


@pytest.mark.parametrize(("name", "is_classes"), ALL)
def test_without_a_number_of_features_the_grid_is_that_of_very_many(name: str, is_classes: bool) -> None:
    for quick in (True, False):
        expected = settings(name, "honest", quick, 10_000)
        assert settings(name, "honest", quick) == expected


@pytest.mark.parametrize(("name", "is_classes"), [one for one in ALL if one not in BY_HAND])
def test_quick_form_draws_a_few_settings_of_what_is_fast(name: str, is_classes: bool) -> None:
    grid = GRIDS[name]
    for protocol in search.PROTOCOLS:
        found = settings(name, protocol, True)
        assert len(tried(found)) == len(found) == min(N_QUICK, n_combinations(grid))
        assert all(one[parameter] in grid[parameter] for one in found for parameter in grid)


def test_quick_form_has_two_networks_and_one_setting_of_every_ensemble_and_of_nothing_else() -> None:
    assert set(QUICK) == {"ff-mlp"} | {name for name, contender in CONTENDERS.items() if contender.group == 1}
    for name, _ in BY_HAND:
        for protocol in search.PROTOCOLS:
            assert settings(name, protocol, True, 4) == QUICK[name]
        n = 2 if name == "ff-mlp" else 1
        assert len(tried(QUICK[name])) == len(QUICK[name]) == n < len(settings(name, "honest", False))


def test_both_boosters_have_the_same_depth_and_rate_in_the_quick_form() -> None:
    pairs = [[(one["max_depth"], one["learning_rate"]) for one in QUICK[name]] for name in ("xgboost", "slm-boost")]
    assert pairs[0] == pairs[1]
    made = [CONTENDERS[name].make(True)(random_state=0).get_params() for name in ("xgboost", "slm-boost")]
    assert [one["n_estimators"] for one in made] == [N_TREES] * 2


@pytest.mark.parametrize(("name", "is_classes"), BY_HAND)
def test_settings_by_hand_have_the_parameters_of_the_grid_and_can_be_fitted(name: str, is_classes: bool) -> None:
    X, y = (load_iris if is_classes else load_diabetes)(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(X))[:120]
    parts = Split(X[chosen[:80]], X[chosen[80:]], y[chosen[:80]], y[chosen[80:]])
    make = CONTENDERS[name].make(is_classes)

    def small(**searched: Any) -> Any:
        made = make(**searched)
        return made.set_params(n_estimators=3) if CONTENDERS[name].group == 1 else made

    for setting in QUICK[name]:
        assert set(setting) == set(GRIDS[name])
        found = try_setting(small, setting, parts, 0)
        assert found.setting == setting
        # better than all of one class, or than 0
        assert found.score > 0.6 if is_classes else found.score < np.sqrt(np.mean(parts.y_test**2))


def test_quick_grids_are_smaller_for_slm() -> None:
    for name in ("slm-baseline", "slm-forest", "slm-boost"):
        n_quick, n = (len(settings(name, "honest", quick, 4)) for quick in (True, False))
        assert n_quick < n < len(settings(name, "paper", False, 4))


def test_settings_that_are_the_same_model_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    grid: grids.Grid = {
        "subspace_size": [2, 4, 8, 16],
        "envelope_height": [2.0, 4.0],  # at decay 0 all features have coefficients, at decay 1 none and one
        "envelope_decay": [0.0, 1.0],
        "n_projections": [100, 100_000],
    }
    monkeypatch.setitem(grids.GRIDS, "slm-baseline", grid)
    monkeypatch.setattr(search, "N_SETTINGS", {"honest": 100, "paper": 100})
    # decay 1: one model of one feature. Decay 0: p is at most 4 rounds times 5 (height 2) or 9 (height 4) to the power
    # of D0, so that both values are one over one feature, and over two at height 2
    for n_features, n in ((1, 1 + 1 + 1), (3, 1 + (1 + 2) + (2 + 2)), (33, 1 + (1 + 2 + 2 + 2) + 4 * 2)):
        found = settings("slm-baseline", "honest", False, n_features)
        assert all(search.n_with_coefficients(one, n_features) > 0 for one in found)
        assert len(tried(found)) == len(found) == n


@pytest.mark.parametrize("protocol", search.PROTOCOLS)
@pytest.mark.parametrize("name", ["slm-baseline", "slm-forest"])
def test_nearly_all_settings_of_a_set_are_models_of_their_own(name: str, protocol: str) -> None:
    """Now and then two settings grow the same trees over so few samples; grids that say less would do so often."""
    X, y = load_wine(return_X_y=True)
    found = settings(name, protocol, False, X.shape[1])
    few = {} if name == "slm-baseline" else {"n_estimators": 3}
    models = [CONTENDERS[name].make(True)(random_state=0, **few, **one).fit(X, y) for one in found]
    nodes = [model.tree_ if name == "slm-baseline" else model.ensemble_.nodes for model in models]
    different = {one.threshold.tobytes() + one.feature.tobytes() + one.parent.tobytes() for one in nodes}
    assert len(different) >= 0.9 * len(found)


@pytest.mark.parametrize("name", [name for name, grid in GRIDS.items() if 0 < len(grid) <= 2])
@pytest.mark.parametrize("protocol", search.PROTOCOLS)
def test_every_value_of_a_small_grid_is_tried(name: str, protocol: str) -> None:
    """The first settings of a grid in its order would leave out all large C and learning rates."""
    found = settings(name, protocol, False, 30)
    for parameter, values in GRIDS[name].items():
        assert {one[parameter] for one in found} == set(values)
