"""Samples on their way: what is unpacked is what was packed, where it lies."""

import numpy as np
import pytest

from sublearn.core.tree.rows import COLUMNS, pack, put, room_for, unpack, width_of
from sublearn.kernels.layout import Samples

RNG = np.random.default_rng(0)
N = 11
NONE = np.empty(0, np.int64)


def samples_with(*names: str) -> Samples:
    """Samples with these columns beside their codes."""
    kinds = dict.fromkeys(COLUMNS[:3], np.int64) | dict.fromkeys(COLUMNS[3:], np.int32)
    columns = {
        name: RNG.integers(-(2**31), 2**31, N).astype(kinds[name]) if name in names else NONE for name in COLUMNS
    }
    codes = RNG.integers(-8192, 8192, (3, N)).astype(np.int16)
    return Samples(codes=codes, n_classes=0, views=np.empty((2, 0), np.int32), **columns)


@pytest.mark.parametrize("names", [(), ("targets",), ("counts", "weights"), COLUMNS], ids=str)
@pytest.mark.parametrize("rows", [[], [4], [10, 0, 4, 4, 7]], ids=str)
@pytest.mark.parametrize("has_places", [False, True])
def test_samples_are_the_same_after_their_way(names: tuple[str, ...], rows: list[int], has_places: bool) -> None:
    samples = samples_with(*names)
    places = np.arange(len(rows), dtype=np.int32) * 3 if has_places else None
    parcel = pack(samples, np.array(rows, np.int32), places)
    assert parcel.nbytes == len(rows) * (width_of(samples) + 4 * has_places)
    found, found_places = unpack(parcel, samples, has_places)
    assert found_places.tolist() == ([] if places is None else places.tolist())
    np.testing.assert_array_equal(found.codes, samples.codes[:, rows])
    for name in COLUMNS:
        column, whole = getattr(found, name), getattr(samples, name)
        np.testing.assert_array_equal(column, whole[rows] if name in names else whole)
        assert column.dtype == whole.dtype
        assert column.flags.aligned
        assert name not in names or not len(rows) or np.shares_memory(column, parcel)


def test_samples_are_put_where_they_belong() -> None:
    samples, at = samples_with("counts", "targets"), RNG.permutation(N)
    into = room_for(samples, N)
    for part in np.array_split(np.arange(N), 3):
        put(unpack(pack(samples, part), samples)[0], at[part], into)
    for name in ("codes", "counts", "targets"):
        np.testing.assert_array_equal(getattr(into, name)[..., at], getattr(samples, name))
    assert into.weights is samples.weights
