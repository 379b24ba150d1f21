"""Sparse tables: models and answers are those of dense ones, at one dense copy; an error where that is too much."""

import tracemalloc
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from pinned import digest
from sublearn import (
    DiscriminantFeatureTest,
    RelevantFeatureTest,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    tune,
)
from sublearn._base import sparse as dense_tables

MODELS = [SLMClassifier, SLMRegressor, SLMForestClassifier, SLMForestRegressor, SLMBoostClassifier, SLMBoostRegressor]
ALL = pytest.mark.parametrize("make", MODELS)
FORMS = ["csr", "csc", "coo", "bsr", "lil", "dok"]
N = 200


def table() -> Any:
    """Mostly zeros, some gaps, one column of levels."""
    rng = np.random.default_rng(0)
    x = np.where(rng.random((N, 6)) < 0.7, 0.0, rng.normal(size=(N, 6)))
    x[rng.random(N) < 0.1, 2] = np.nan
    x[:, 5] = rng.integers(0, 4, N)
    return x


X = table()
Y = (X[:, 0] + (X[:, 5] == 2) > 0.1).astype(int)


def small(make: Any, **given: Any) -> Any:
    return make(random_state=0, **({"n_estimators": 4} if "n_estimators" in make().get_params() else {}), **given)


def chosen_pace(make: Any) -> dict[str, float]:
    """A rate for boosting, which would try several: much work, of which the form of a table is no part."""
    return {"learning_rate": 0.3} if "learning_rate" in make().get_params() else {}


@cache
def of_dense(make: Any) -> Any:
    return small(make, **chosen_pace(make)).fit(X, Y)


@ALL
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_sparse_and_dense_tables_give_the_same_model_to_the_bit(make: Any, form: str, kind: str) -> None:
    given = getattr(sparse, f"{form}_{kind}")(X)
    dense, loose = of_dense(make), small(make, **chosen_pace(make)).fit(given, Y)
    assert digest(loose, X) == digest(dense, X)
    np.testing.assert_array_equal(loose.predict(given), dense.predict(X))
    np.testing.assert_array_equal(loose.apply(given), dense.apply(X))


@ALL
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_])
def test_numbers_of_all_types_are_taken(make: Any, dtype: Any) -> None:
    whole = np.nan_to_num(X).astype(dtype)
    model = small(make, **chosen_pace(make))
    dense, loose = clone(model).fit(whole, Y), clone(model).fit(sparse.csr_array(whole), Y)
    assert digest(loose, whole) == digest(dense, whole)


@ALL
def test_columns_of_sparse_tables_may_be_categories(make: Any) -> None:
    dense = small(make, categorical_features=[5]).fit(X, Y)
    loose = small(make, categorical_features=[5]).fit(sparse.csr_array(X), Y)
    assert digest(loose, X) == digest(dense, X)
    np.testing.assert_array_equal(loose.predict(sparse.csc_array(X)), dense.predict(X))


def test_weights_and_samples_to_validate_on_go_with_sparse_tables() -> None:
    weights = np.arange(N) % 3 * 1.0
    models = [
        small(SLMBoostRegressor).fit(x, Y, sample_weight=weights, eval_set=(x, Y)) for x in (X, sparse.coo_array(X))
    ]
    np.testing.assert_array_equal(models[0].validation_score_, models[1].validation_score_)


@pytest.mark.parametrize("make", [DiscriminantFeatureTest, RelevantFeatureTest])
def test_feature_tests_take_sparse_tables(make: Any) -> None:
    whole = np.nan_to_num(X)
    dense, loose = make(3).fit(whole, Y), make(3).fit(sparse.csr_array(whole), Y)
    np.testing.assert_array_equal(loose.losses_, dense.losses_)
    np.testing.assert_array_equal(loose.transform(sparse.csr_array(whole)).toarray(), dense.transform(whole))
    with pytest.raises(ValueError, match="X contains NaN in column 2"):
        make().fit(sparse.csr_array(X), Y)


def test_sparse_tables_can_be_tuned() -> None:
    pytest.importorskip("optuna")
    model = tune(SLMRegressor(random_state=0), sparse.coo_array(X), Y, np.arange(N) % 3, budget=1.0, verbose=False)
    assert model.n_features_in_ == 6


def test_infinity_and_another_number_of_columns_are_errors_as_in_dense_tables() -> None:
    bad = X.copy()
    bad[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity in column 1 "):
        SLMRegressor().fit(sparse.csr_array(bad), Y)
    with pytest.raises(ValueError, match="X has 5 features, but SLMRegressor is expecting 6"):
        SLMRegressor().fit(sparse.csr_array(X), Y).predict(sparse.csr_array(X[:, :5]))
    with pytest.raises(ValueError, match="Complex data not supported"):
        SLMRegressor().fit(sparse.csr_array(X * 1j), Y)


def test_there_is_one_dense_copy() -> None:
    n, n_features = 20_000, 50
    given = sparse.random(n, n_features, 0.05, "csr", np.float64, random_state=0)
    y = given[:, [0]].toarray().ravel()
    model = SLMRegressor(max_depth=1, n_jobs=1, random_state=0).fit(given[:100], y[:100])
    size = n * n_features * 8
    for call in (lambda: model.predict(given), lambda: model.fit(given, y)):
        tracemalloc.start()
        call()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1.9 * size


@pytest.mark.parametrize("shape", [(1000, 10**9), (2**40, 2**40)])
def test_a_table_that_is_too_large_for_the_memory_is_told_of(shape: tuple[int, int], monkeypatch: Any) -> None:
    monkeypatch.setattr(dense_tables, "_memory", lambda: 4 * 2**30)
    given = sparse.coo_array(([1.0], ([0], [0])), shape=shape)
    said = (
        r"^X of SLMClassifier is sparse, and as a dense table it takes [0-9,]+[.]\d GiB of memory, .* there are 4[.]0"
    )
    with pytest.raises(MemoryError, match=said):
        SLMClassifier().fit(given, Y)


def test_where_the_machine_does_not_tell_its_memory_all_tables_are_taken(monkeypatch: Any) -> None:
    monkeypatch.delattr("os.sysconf")
    assert len(SLMClassifier().fit(sparse.csr_array(X), Y).predict(sparse.csr_array(X))) == N
