"""Fig. 5 and the small measurements: what is fitted, and what is counted."""

import numpy as np
import pytest

from sublearn.paper import BOOST_CLASSES, FOREST_CLASSES, convergence, measures, search
from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.datasets import load

IRIS = search.split(load("iris"), 0)


def test_slm_has_the_paper_s_settings_and_its_defaults_stand_beside() -> None:
    models = convergence.ensembles(0)
    assert set(models) == set(convergence.NAMES)
    forest, boost = models["forest"].get_params(), models["boost"].get_params()
    assert {name: forest[name] for name in FOREST_CLASSES} == {**FOREST_CLASSES, "n_estimators": 100}
    assert {name: boost[name] for name in BOOST_CLASSES} == BOOST_CLASSES
    assert models["default_forest"].get_params() == type(models["forest"])(random_state=0).get_params()


def test_boosters_have_one_depth_and_rate_and_forests_no_limit() -> None:
    models = convergence.ensembles(0)
    boosters = [models[name].get_params() for name in convergence.BOOSTERS]
    assert len({(one["max_depth"], one["learning_rate"], one["n_estimators"]) for one in boosters}) == 1
    assert {models[name].get_params()["max_depth"] for name in convergence.FORESTS} == {None}


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_curve_ends_where_the_forest_is(voting: str) -> None:
    model = CONTENDERS["slm-forest"].make(True)(n_estimators=100, voting=voting, random_state=0)
    curve = convergence.votes_curve(convergence.tree_probabilities(model, IRIS), IRIS.y_test)
    assert curve[-1] == pytest.approx(model.score(IRIS.X_test, IRIS.y_test))


def test_strength_and_correlation_by_hand() -> None:
    y = np.array([0, 0, 1, 1])
    answers = np.array([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 1, 1]])  # two with the same error, one without
    trees = convergence.describe_trees(np.eye(2)[answers], y)
    assert trees == pytest.approx((10 / 12, 1.0))
    assert convergence.describe_trees(np.eye(2)[answers[1:]], y).correlation == 0.0


def test_record_has_curves_and_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convergence, "TREES", (1, 3))
    found = convergence.measured(IRIS, 0)
    of_trees = {f"{name}_{of}" for name in convergence.FORESTS for of in ("strength", "correlation")}
    assert set(found) == {*convergence.NAMES, *of_trees}
    assert all(len(found[name]) == 2 for name in convergence.NAMES)
    assert all(0.5 < found[f"{name}_strength"] <= 1 for name in convergence.FORESTS)


def test_vectors_are_alike_by_their_absolute_cosine() -> None:
    # the first and the third are one direction, the second is at right angles to both
    assert measures.share_alike(np.array([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]])) == pytest.approx(1 / 3)
    assert measures.share_alike(np.ones((1, 2))) is None


def test_root_counts_candidates_that_beat_every_feature() -> None:
    found = measures.measure_root(True, IRIS, 0)
    assert 0 <= found["n_effective"] <= found["n_candidates"] <= 64
    assert found == measures.measure_root(True, IRIS, 0)


def test_large_c_takes_more_steps_and_learns_the_training_part() -> None:
    found = measures.measure_svr(search.split(load(measures.SVR_SET), 0), 0)
    assert found["n_steps"][1] > found["n_steps"][0]
    assert found["training_error"][1] < found["training_error"][0]
    assert [len(values) for values in found.values()] == [2, 2, 2]
