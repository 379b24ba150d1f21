"""The feature tests as selectors: by hand, against the twin, beside the trees, and within scikit-learn."""

import math
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from numpy.typing import NDArray
from PIL import Image
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
from documents import ROOT
from sublearn import DiscriminantFeatureTest, RelevantFeatureTest, SLMClassifier, SLMRegressor
from sublearn.core.data.codes import CODE_LIMIT, encode_samples, first_values
from sublearn.core.tree import feature_test
from sublearn.core.tree.feature_test import elbow
from support import ONE_THREAD, fit_maps, make_data

Floats = NDArray[np.float64]

BOTH = pytest.mark.parametrize("make", [DiscriminantFeatureTest, RelevantFeatureTest])
FITTED = ("losses_", "thresholds_", "ranking_", "n_features_")


def noisy(n: int = 200, n_features: int = 6, seed: int = 0) -> tuple[Floats, NDArray[Any]]:
    """The first features tell three classes apart, each less than the one before."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X: Floats = rng.standard_normal((n, n_features)) * np.exp2(np.arange(n_features)) + y[:, None]
    return X, y


def assert_same(one: Any, other: Any) -> None:
    """Bit for bit."""
    for name in FITTED:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


# --- by hand


def test_three_features_by_hand() -> None:
    # the first says nothing, the second everything, the third sets the last sample apart
    X = np.array([[0, 0, 0], [1, 1, 0], [0, 10, 0], [1, 11, 9.0]])
    found = DiscriminantFeatureTest(2).fit(X, ["a", "a", "b", "b"])
    assert found.losses_[:2].tolist() == [1.0, 0.0]
    assert found.losses_[2] == pytest.approx(0.75 * (math.log2(3) - 2 / 3), abs=1e-15)
    assert found.ranking_.tolist() == [3, 1, 2]
    assert np.isnan(found.thresholds_[0])
    assert found.thresholds_[1] == pytest.approx(5.5, abs=0.01)  # of the boundaries that split alike the middle one
    assert found.transform(X).tolist() == X[:, 1:].tolist()


def test_gini_by_hand() -> None:
    # 0 0 1 | 1: 3/4 (1 - 4/9 - 1/9)
    found = DiscriminantFeatureTest(criterion="gini", n_bins=2).fit([[0], [1], [2], [10]], [0, 0, 1, 1])
    assert found.losses_[0] == pytest.approx(1 / 3, abs=1e-15)
    assert found.thresholds_[0] == pytest.approx(5, abs=0.01)


def test_squared_error_by_hand() -> None:
    # the first feature parts 1 3 | 7 9: an error of 1 about the means 2 and 8; the second says nothing
    found = RelevantFeatureTest(1).fit([[0, 0], [1, 5], [9, 0], [10, 5.0]], [1.0, 3.0, 7.0, 9.0])
    assert found.losses_[0] == pytest.approx(1.0, abs=1e-7)  # targets are rounded to 2^-29 of their range
    assert found.losses_[1] == pytest.approx(10 - 1.0, abs=1e-7)  # 1 7 | 3 9: means 4 and 6
    assert found.get_support().tolist() == [True, False]


# --- against the twin


@pytest.mark.parametrize("weights", ["none", "whole", "fractions"])
@pytest.mark.parametrize(("criterion", "n_bins"), [("entropy", 16), ("gini", 5), ("squared_error", 16)])
def test_losses_equal_the_twin(criterion: str, n_bins: int, weights: str) -> None:
    rng = np.random.default_rng(n_bins)
    X = np.column_stack([rng.standard_normal((150, 3)), np.exp(3 * rng.standard_normal(150)), rng.integers(0, 4, 150)])
    signal = X[:, 0] + 0.5 * X[:, 4] + rng.standard_normal(150)
    y = signal if criterion == "squared_error" else np.digitize(signal, [0.0, 1.0])
    given = {"none": None, "whole": rng.integers(1, 4, 150), "fractions": rng.uniform(0.1, 2.0, 150)}[weights]
    if criterion == "squared_error":
        found: Any = RelevantFeatureTest(n_bins=n_bins)
    else:
        found = DiscriminantFeatureTest(criterion=criterion, n_bins=n_bins)
    found.fit(X, y, given)
    integers = np.ones(150, np.int64) if weights == "none" else np.rint(np.asarray(given) * 2**20).astype(np.int64)
    mapped = integers if weights == "fractions" else np.asarray([] if given is None else given, np.int64)
    codes = encode_samples(X, fit_maps(X, mapped, "auto", CODE_LIMIT, ONE_THREAD), ONE_THREAD).T
    targets = np.rint(y * 2**20).astype(np.int64) if criterion == "squared_error" else y
    data = make_data(codes, targets, 0 if criterion == "squared_error" else 3, integers, np.ones(150))
    losses = naive.feature_losses(data, naive.Settings(criterion, n_bins))
    unit = 2.0**-40 if criterion == "squared_error" else 1.0
    # weights and targets are rounded to about 2^-20 here
    np.testing.assert_allclose(found.losses_, np.array(losses) * unit, rtol=0, atol=1e-5)
    if weights != "fractions":
        assert found.ranking_.tolist() == (1 + np.argsort(naive.rank([-loss for loss in losses]))).tolist()


@BOTH
@pytest.mark.parametrize("feature_map", ["auto", "linear", "quantile"])
def test_threshold_parts_the_samples_with_the_loss_that_is_told(make: Any, feature_map: str) -> None:
    rng = np.random.default_rng(1)
    wide = np.exp(4 * rng.standard_normal((300, 2)))
    X = np.column_stack([rng.standard_normal((300, 3)), wide, -wide, rng.integers(-3, 4, (300, 2)), np.full(300, 7.0)])
    y = (X[:, 0] + np.log(X[:, 3]) + X[:, 7] > 0).astype(int) + (X[:, 1] > 1)
    found = make(feature_map=feature_map).fit(X, y)
    for f in range(X.shape[1] - 1):
        side = X[:, f] >= found.thresholds_[f]
        assert 0 < side.sum() < 300
        losses = []
        for part in (y[side], y[~side]):
            shares = np.bincount(part) / len(part)
            shares = shares[shares > 0]
            entropy = -(shares * np.log2(shares)).sum()
            losses.append(len(part) / 300 * (entropy if make is DiscriminantFeatureTest else part.var()))
        assert found.losses_[f] == pytest.approx(sum(losses), rel=1e-7)
    assert np.isnan(found.thresholds_[-1])


def test_first_values_are_where_codes_begin() -> None:
    rng = np.random.default_rng(2)
    normal, even = rng.standard_normal(500), rng.random(500)
    X = np.column_stack([normal, 1e300 * normal, 1e-300 * even, np.exp(9 * even)])
    maps = fit_maps(X, np.empty(0, np.int64), "auto", CODE_LIMIT, ONE_THREAD)
    codes = encode_samples(X, maps, ONE_THREAD)
    for i in range(0, 500, 25):
        values = first_values(maps, codes[:, i])
        assert (values <= X[i]).all()
        assert (encode_samples(values[None], maps, ONE_THREAD)[:, 0] == codes[:, i]).all()
        below = np.nextafter(values, -np.inf)[None]
        assert (encode_samples(below, maps, ONE_THREAD)[:, 0] < codes[:, i]).all()


# --- the same as in a tree


@pytest.mark.parametrize("criterion", ["entropy", "gini", "squared_error"])
@pytest.mark.parametrize("n_bins", [16, 7])
def test_ranking_is_that_of_the_root_of_a_tree(criterion: str, n_bins: int) -> None:
    X, y = load_diabetes(return_X_y=True) if criterion == "squared_error" else load_wine(return_X_y=True)
    one_cut: dict[str, Any] = {"n_bins": n_bins, "n_projections": 0, "max_partitions": 1, "max_depth": 1}
    if criterion == "squared_error":
        found: Any = RelevantFeatureTest(n_bins=n_bins).fit(X, y)
        tree: Any = SLMRegressor(**one_cut)
    else:
        found = DiscriminantFeatureTest(criterion=criterion, n_bins=n_bins).fit(X, y)
        tree = SLMClassifier(criterion=criterion, **one_cut)
    left = list(range(X.shape[1]))
    for f in np.argsort(found.ranking_):  # the root takes the best of those that are left
        tree.fit(X[:, left], y)
        assert left[tree.tree_.feature[0]] == f
        positive = tree.apply(X[:, left]) == tree.tree_.children[1]
        np.testing.assert_array_equal(positive, X[:, f] >= found.thresholds_[f])
        assert found.losses_[f] == pytest.approx(float(tree.tree_.loss[1:] @ tree.tree_.weight[1:]), rel=1e-9)
        left.remove(f)


# --- weights


@BOTH
def test_weight_two_equals_row_twice_and_weight_zero_its_absence(make: Any) -> None:
    X, y = noisy()
    weights = np.random.default_rng(3).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighted, repeated = make().fit(X, y, weights), make().fit(X[rows], y[rows])
    assert_same(weighted, repeated)


@BOTH
def test_all_weights_times_a_number_change_nothing(make: Any) -> None:
    X, y = noisy()
    weights = np.random.default_rng(4).uniform(0.5, 2.0, len(y))
    assert_same(make().fit(X, y, weights), make().fit(X, y, 1024 * weights))


def test_class_weights_are_sample_weights_by_class() -> None:
    X, y = noisy()
    weighted = DiscriminantFeatureTest(class_weight={0: 3, 1: 1, 2: 1}, feature_map="linear").fit(X, y)
    given = DiscriminantFeatureTest(feature_map="linear").fit(X, y, np.where(y == 0, 3, 1))
    # the weights of samples move mean and deviation, and with them the rounding of boundaries to codes
    np.testing.assert_allclose(weighted.losses_, given.losses_, atol=0.02)
    assert weighted.losses_[0] != DiscriminantFeatureTest(feature_map="linear").fit(X, y).losses_[0]
    balanced = DiscriminantFeatureTest(class_weight="balanced").fit(X[y < 2][60:], y[y < 2][60:])
    assert balanced.losses_.max() < 1.0
    alone = DiscriminantFeatureTest(class_weight={0: 1, 1: 1, 2: 0}).fit(X, y)
    assert (alone.losses_ <= 1.0).all()  # two classes are left


# --- ties, constant features, shapes


@BOTH
def test_ties_go_to_the_lower_index(make: Any) -> None:
    x, y = noisy(n_features=1)
    found = make(3).fit(np.repeat(x, 100, axis=1), y)  # more than are tested at a time
    assert found.ranking_.tolist() == list(range(1, 101))
    assert found.get_support(indices=True).tolist() == [0, 1, 2]


@BOTH
def test_constant_features_rank_last(make: Any) -> None:
    X, y = noisy()
    useless = np.tile([0.0, 1.0], 100)
    X[:, 0], X[:, 2] = 5.0, useless
    y[::2] = y[1::2]  # so that the third feature says nothing
    found = make().fit(X, y)
    assert found.ranking_[0] == 6
    assert found.ranking_[2] == 5
    assert found.losses_[0] == found.losses_[2] == found.losses_.max()
    assert np.isnan(found.thresholds_[[0, 2]]).all()
    assert not found.get_support()[0]


@BOTH
def test_features_that_are_all_constant_are_all_kept(make: Any) -> None:
    found = make().fit(np.ones((10, 3)), np.arange(10) % 2)
    assert found.ranking_.tolist() == [1, 2, 3]
    assert found.n_features_ == 3


@BOTH
def test_one_feature_is_kept(make: Any) -> None:
    X, y = noisy(n_features=1)
    found = make().fit(X, y)
    assert found.ranking_.tolist() == [1]
    assert found.transform(X).shape == X.shape


@BOTH
def test_target_that_is_the_same_for_all_has_no_loss(make: Any) -> None:
    X, _ = noisy()
    found = make().fit(X, np.ones(len(X)))
    assert found.losses_.tolist() == [0.0] * 6
    assert found.n_features_ == 6


def test_one_outlier_hides_a_feature_from_equal_widths_but_not_from_quantiles() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.append(X, 1e6 * np.ones((1, 4)), axis=0)
    y = np.append(y, 0)
    assert DiscriminantFeatureTest(feature_map="linear").fit(X, y).losses_.min() > 1.5
    assert DiscriminantFeatureTest().fit(X, y).losses_.min() < 0.8


def test_losses_of_numbers_near_the_ends_of_the_floats_keep_their_order() -> None:
    X, y = load_diabetes(return_X_y=True)
    plain = RelevantFeatureTest().fit(X, y)
    for factor in (2.0**900, 2.0**-900):
        far = RelevantFeatureTest().fit(X * factor, y * factor)
        np.testing.assert_array_equal(far.ranking_, plain.ranking_)
        assert far.n_features_ == plain.n_features_


# --- how many


@BOTH
@pytest.mark.parametrize(("given", "n"), [(1, 1), (4, 4), (6, 6), (100, 6), (0.5, 3), (0.34, 3), (1e-9, 1), (1.0, 6)])
def test_number_or_share_of_features_is_kept(make: Any, given: Any, n: int) -> None:
    X, y = noisy()
    found = make(given).fit(X, y)
    assert found.n_features_ == found.transform(X).shape[1] == n
    assert sorted(found.ranking_[found.get_support()]) == list(range(1, n + 1))


@pytest.mark.parametrize(
    ("decreases", "n"),
    [
        ([], 0),
        ([0.0, 0.0, 0.0], 3),  # nothing tells them apart
        ([0.7], 1),
        ([0.9, 0.01], 1),
        ([0.9, 0.8], 2),
        ([0.5, 0.5, 0.5], 3),
        ([4, 3, 2, 1], 4),  # a straight line down to 0
        ([5, 4, 1, 1, 1], 2),
        ([5, 5, 5, 1], 3),
        ([5, 5, 5, 1, 1, 1, 1, 1, 1], 3),
        ([9, 9, 8, 9 - 1e-9, 0.1, 0.1], 4),
        ([1.0] + [0.01] * 50, 1),
        ([1.0] * 50 + [0.01], 50),
    ],
)
def test_elbow(decreases: list[float], n: int) -> None:
    falling = np.sort(np.array(decreases, np.float64))[::-1]
    assert elbow(falling) == n
    assert elbow(falling * 1e-200) == n


def test_elbow_does_not_move_with_the_scale_of_the_target() -> None:
    X, y = load_diabetes(return_X_y=True)
    assert len({RelevantFeatureTest().fit(X, factor * y).n_features_ for factor in (1e-3, 1.0, 1e9)}) == 1


def test_elbow_finds_the_real_features_among_noise() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = np.hstack([X, np.random.default_rng(0).standard_normal((len(X), 300))])
    chosen = DiscriminantFeatureTest().fit(X, y).get_support(indices=True)
    assert (chosen < 30).sum() >= 15
    assert (chosen >= 30).sum() <= 3


def test_constant_features_do_not_move_the_elbow() -> None:
    X, y = noisy(n_features=8)
    padded = np.hstack([np.zeros((len(X), 500)), X])
    assert DiscriminantFeatureTest().fit(padded, y).n_features_ == DiscriminantFeatureTest().fit(X, y).n_features_


# --- threads and tiles


@BOTH
@pytest.mark.usefixtures("divided")
def test_any_number_of_threads_gives_the_same_bits(make: Any) -> None:
    X, y = noisy(500, 150)
    one = make(n_jobs=1).fit(X, y)
    for n_jobs in (2, 3, -1):
        assert_same(one, make(n_jobs=n_jobs).fit(X, y))


@BOTH
def test_features_in_other_portions_give_the_same_bits(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = noisy(300, 70)
    weights = np.random.default_rng(5).integers(0, 3, 300)
    once = make().fit(X, y, weights)
    for narrow, wide in ((1, 1), (1, 7), (200, 200)):
        monkeypatch.setattr(feature_test, "NARROW", narrow)
        monkeypatch.setattr(feature_test, "WIDE", wide)
        assert_same(once, make().fit(X, y, weights))
        assert_same(once, make().fit(np.asfortranarray(X), y, weights))


def test_tiles_cover_all_features_and_fit_into_memory() -> None:
    for n_features, n_samples, n_threads in (
        (1, 1, 1),
        (64, 10, 1),
        (1000, 100_000, 2),
        (1000, 10**7, 8),
        (65, 10, 64),
    ):
        parts = feature_test.tiles(n_features, n_samples, n_threads)
        assert [f for part in parts for f in range(n_features)[part]] == list(range(n_features))
        widest = max(part.stop - part.start for part in parts)
        assert widest <= max(feature_test.NARROW, feature_test.VALUES // n_samples)


# --- within scikit-learn


@parametrize_with_checks([DiscriminantFeatureTest(), RelevantFeatureTest()])  # type: ignore[untyped-decorator]
def test_scikit_learn_check_passes(estimator: Any, check: Any) -> None:
    try:
        check(estimator)
    except SkipTest as reason:
        pytest.fail(f"none may be skipped, but: {reason}")


def test_a_pipeline_searches_the_number_of_features() -> None:
    X, y = load_wine(return_X_y=True)
    noise = np.random.default_rng(0).standard_normal((len(X), 20))
    pipeline = make_pipeline(DiscriminantFeatureTest(), SLMClassifier(random_state=0))
    assert cross_val_score(pipeline, np.hstack([X, noise]), y, cv=3).mean() > 0.85
    grid = {"discriminantfeaturetest__n_features_to_select": [1, "elbow", 0.3]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(np.hstack([X, noise]), y)
    assert search.best_params_["discriminantfeaturetest__n_features_to_select"] != 1


def test_a_column_transformer_keeps_names() -> None:
    data = load_diabetes(as_frame=True)
    mixed = ColumnTransformer(
        [("chosen", RelevantFeatureTest(2), ["bmi", "s1", "s5"]), ("kept", "passthrough", ["sex"])]
    ).set_output(transform="pandas")
    table = mixed.fit_transform(data.data, data.target)
    assert list(table) == ["chosen__bmi", "chosen__s5", "kept__sex"]
    pd.testing.assert_series_equal(table["chosen__bmi"], data.data["bmi"], check_names=False)


def test_frames_keep_names_types_and_the_way_back() -> None:
    data = load_wine(as_frame=True)
    found = (
        DiscriminantFeatureTest(2).set_output(transform="pandas").fit(data.data.astype({"proline": int}), data.target)
    )
    small = found.transform(data.data)
    assert list(small) == found.get_feature_names_out().tolist() == ["flavanoids", "od280/od315_of_diluted_wines"]
    back = found.inverse_transform(small)
    assert back.shape == data.data.shape
    np.testing.assert_array_equal(back[:, found.get_support()], small)
    assert not back[:, ~found.get_support()].any()


@BOTH
def test_clone_is_not_fitted(make: Any) -> None:
    found = clone(make(2).fit(*noisy()))
    assert found.n_features_to_select == 2
    with pytest.raises(NotFittedError):
        found.get_support()


# --- bad input


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("n_features_to_select", 0, "'elbow' or an int of at least 1 or a float above 0 and up to 1"),
        ("n_features_to_select", 1.5, "'elbow' or an int of at least 1 or a float above 0 and up to 1"),
        ("n_features_to_select", "all", "'elbow' or an int of at least 1 or a float above 0 and up to 1"),
        ("n_features_to_select", True, "'elbow' or an int of at least 1 or a float above 0 and up to 1"),
        ("n_features_to_select", None, "'elbow' or an int of at least 1 or a float above 0 and up to 1"),
        ("n_bins", 1, "an int from 2 to 256"),
        ("feature_map", "log", "'auto' or 'linear' or 'quantile'"),
        ("n_jobs", 0, "None or an int that is not 0"),
    ],
)
@BOTH
def test_parameter_out_of_range_is_named_with_what_is_allowed(make: Any, name: str, value: Any, allowed: str) -> None:
    message = f"{name} of {make.__name__} must be {allowed}; got {value!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make(**{name: value}).fit(*noisy())


def test_parameters_of_classes_are_named_too() -> None:
    with pytest.raises(ValueError, match=r"^criterion of Disc\w+ must be 'entropy' or 'gini'; got 'mse'\.$"):
        DiscriminantFeatureTest(criterion="mse").fit(*noisy())
    with pytest.raises(ValueError, match=r"^class_weight of Disc\w+ must have classes of y as keys; got 7\.$"):
        DiscriminantFeatureTest(class_weight={7: 1.0}).fit(*noisy())


@pytest.mark.parametrize(
    ("make", "change", "message"),
    [
        (
            DiscriminantFeatureTest,
            {"y": np.linspace(0, 1, 200)},
            "distinct floats; did you mean RelevantFeatureTest?",
        ),
        (
            RelevantFeatureTest,
            {"y": ["u", "v"] * 100},
            "^y of Rel.* must hold a finite number .* you mean Disc",
        ),
        (RelevantFeatureTest, {"y": [1.0, np.nan] * 100}, "^y of RelevantFeatureTest must hold a finite number"),
        (DiscriminantFeatureTest, {"y": [1.0, np.nan] * 100}, "^y of DiscriminantFeatureTest must hold a class"),
        (RelevantFeatureTest, {"X": np.full((200, 2), np.inf)}, "^X of RelevantFeatureTest must hold finite numbers"),
        (DiscriminantFeatureTest, {"X": [["u", 1]] * 200}, "^X of Disc.* contains text such as 'u' in column 0"),
        (
            DiscriminantFeatureTest,
            {"sample_weight": -np.ones(200)},
            "^sample_weight of .* not be negative; got -1",
        ),
        (RelevantFeatureTest, {"sample_weight": np.zeros(200)}, "^sample_weight of .* must be positive somewhere"),
        (RelevantFeatureTest, {"sample_weight": np.ones(5)}, "must hold one number for each of 200 samples; got shape"),
    ],
)
def test_bad_data_is_named_and_changes_nothing(make: Any, change: dict[str, Any], message: str) -> None:
    X, y = noisy()
    found = make().fit(X[:, :3], y)
    before = dict(vars(found))
    with pytest.raises(ValueError, match=message):
        found.fit(**({"X": X, "y": y} | change))
    assert vars(found) == before


def test_transform_of_other_features_is_refused() -> None:
    X, y = noisy()
    with pytest.raises(ValueError, match="X has 5 features, but DiscriminantFeatureTest is expecting 6"):
        DiscriminantFeatureTest().fit(X, y).transform(X[:, 1:])


@BOTH
def test_documentation_has_every_parameter(make: Any) -> None:
    for name in make().get_params():
        assert re.search(rf"^    {name} : .*, default=", make.__doc__, re.MULTILINE), name
    assert "{parameters}" not in make.__doc__
    assert "node; the boundaries" not in make.__doc__


# --- the guide


example = SimpleNamespace(**runpy.run_path(str(ROOT / "examples" / "feature_selection.py")))
PICTURE = ROOT / "docs" / "images" / "feature_selection.png"


def caption(path: Path) -> str:
    with Image.open(path) as image:
        return f"{image.size} {image.info['Description']}"


def test_picture_of_the_guide_is_current_and_small(tmp_path: Path) -> None:
    example.save_picture(tmp_path / "new.png")
    hint = "python examples/feature_selection.py docs/images/feature_selection.png renews it"
    assert caption(PICTURE) == caption(tmp_path / "new.png"), hint
    assert PICTURE.stat().st_size < 100_000


def test_words_of_the_picture_overlap_neither_each_other_nor_the_points() -> None:
    figure = example.draw(*example.fitted())
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (axes,) = figure.axes
    words = [*axes.texts, axes.get_legend(), axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label]
    boxes = [word.get_window_extent() for word in words]
    boxes = [box for box in boxes if box.width > 0]
    assert len(boxes) == 5
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert figure.bbox.containsx(box.x0)
        assert figure.bbox.containsx(box.x1)
    points = np.concatenate([axes.transData.transform(line.get_xydata()) for line in axes.lines[1:3]])
    assert not any(box.contains(x, y) for box in boxes for x, y in points)


@pytest.mark.parametrize("make", [DiscriminantFeatureTest, RelevantFeatureTest])
@pytest.mark.parametrize("method", ["fit", "transform"])
def test_gap_is_named_by_its_column_and_no_other_library_is_recommended(make: Any, method: str) -> None:
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    y = [0, 0, 1, 1]
    test = make().fit(X, y)
    gap = X.assign(b=[1.0, np.nan, 1.0, 0.0])
    with pytest.raises(ValueError, match="NaN in column 'b'") as caught:
        test.fit(gap, y) if method == "fit" else test.transform(gap)
    assert "HistGradientBoosting" not in str(caught.value)
