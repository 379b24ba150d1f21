"""Maps and codes of rows in several partitions, and by several threads: those of all rows, to the bit."""

from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pytest

from naive import Array
from sublearn.core import parallel
from sublearn.core.data import describing
from sublearn.core.data.codes import CODE_LIMIT, FeatureMaps, encode_samples
from sublearn.core.data.order_statistics import quantiles_of_each
from sublearn.core.links import Links, side_by_side
from sublearn.core.parallel import Workers
from support import fit_maps

N = 500
UNIT = np.empty(0, np.int64)
KINDS = ("auto", "linear", "quantile")
BOUNDS = ([0, N], [0, 1, N], [0, 0, 200, 201, N], [0, 70, 140, 210, 280, 350, 420, N])


def table() -> Array:
    """Features of many kinds, with gaps here and there, and nowhere but in the last row."""
    rng = np.random.default_rng(0)
    gaps = np.where(rng.uniform(size=N) < 0.3, np.nan, rng.lognormal(0.0, 3.0, N))
    late = rng.normal(size=N)
    late[-1] = np.nan
    early = np.full(N, np.nan)
    early[:3] = 1.0, 2.0, 7.0
    columns = [
        rng.normal(3.0, 2.0, N),
        rng.standard_cauchy(N),
        10.0 ** rng.uniform(0, 10, N),
        np.where(rng.uniform(size=N) < 0.98, 0.0, 1.0),
        np.full(N, 5.0),
        np.full(N, -0.0),
        rng.choice([0.0, -0.0], N),
        1e300 * rng.uniform(-1, 1, N),
        np.full(N, np.nan),
        gaps,
        late,
        early,
        np.where(np.arange(N) < 100, np.nan, 4.0),
    ]
    return np.stack(columns, axis=1)


def bytes_of(maps: FeatureMaps) -> list[bytes]:
    return [np.asarray(field).tobytes() for field in maps]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bounds", BOUNDS, ids=len)
def test_partitions_choose_the_maps_of_all_rows(bounds: list[int], weighted: bool, kind: str) -> None:
    x = table()
    weights = np.random.default_rng(1).integers(1, 5, N) if weighted else UNIT
    maps = fit_maps(x, weights, kind, CODE_LIMIT, Workers(1))
    codes = encode_samples(x, maps, Workers(1))
    stretches = [slice(a, b) for a, b in pairwise(bounds)]

    def fit(links: Links) -> tuple[FeatureMaps, Array]:
        own = stretches[links.number]
        with Workers(2, links=links) as workers:
            found = fit_maps(x[own], weights[own], kind, CODE_LIMIT, workers)
            return found, encode_samples(x[own], found, workers)

    found = side_by_side(fit, len(stretches))
    for own, _ in found:
        assert bytes_of(own) == bytes_of(maps)
    assert np.concatenate([part for _, part in found], axis=1).tobytes() == codes.tobytes()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sixteen_threads_choose_the_maps_of_one(
    order: Literal["C", "F"], dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    x: Array = np.delete(table(), 7, axis=1).astype(dtype)  # 1e300 is no float32
    weights = np.random.default_rng(2).integers(1, 5, N)
    maps = fit_maps(x, weights, "auto", CODE_LIMIT, Workers(1))
    codes = encode_samples(x, maps, Workers(1))
    monkeypatch.setattr(describing, "BLOCK_VALUES", 50)
    monkeypatch.setattr(describing, "SHARED", 1)
    monkeypatch.setattr(parallel, "SMALL", 1)
    monkeypatch.setattr(parallel, "PART", 1)
    laid = np.require(x, requirements=order)
    with Workers(16) as workers:
        assert bytes_of(fit_maps(laid, weights, "auto", CODE_LIMIT, workers)) == bytes_of(maps)
        assert encode_samples(laid, maps, workers).tobytes() == codes.tobytes()


def test_a_feature_with_gaps_elsewhere_has_three_views_here() -> None:
    x = np.array([[1.0], [2.0], [3.0], [np.nan]])

    def fit(links: Links) -> int:
        own = x[:3] if links.number == 0 else x[3:]
        return fit_maps(own, UNIT, "auto", CODE_LIMIT, Workers(1, links=links)).n_views

    assert side_by_side(fit, 2) == [3, 3]


def test_partitions_with_many_rows_look_for_quantiles_of_few_columns_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(describing, "TOGETHER", 700)
    widths: list[int] = []

    def noted(columns: Any, *given: Any) -> Array:
        widths.append(len(columns))
        return quantiles_of_each(columns, *given)

    monkeypatch.setattr("sublearn.core.data.describing.quantiles_of_each", noted)
    x = table()
    whole = fit_maps(x, UNIT, "quantile", CODE_LIMIT, Workers(1))

    def fit(links: Links) -> FeatureMaps:
        own = slice(0, 300) if links.number == 0 else slice(300, N)
        with Workers(1, links=links) as workers:
            return fit_maps(x[own], UNIT, "quantile", CODE_LIMIT, workers)

    for own in side_by_side(fit, 2):
        assert bytes_of(own) == bytes_of(whole)
    n_columns = sum(len(np.unique(column[~np.isnan(column)])) > 1 for column in x.T)
    assert max(widths) == 2
    assert sum(widths) == 2 * n_columns
