"""Sums of what is packed into one number a sample, against plain sums, at the ends of what fits."""

from typing import Any

import numpy as np
import pytest

from naive import Array
from sublearn.core.data.fixed_point import pack
from sublearn.core.tree.space import make_block
from sublearn.kernels import columns
from sublearn.kernels.columns import MOST_PACKED, add_up, gather_statistics
from sublearn.kernels.compilation import bare_kernel
from sublearn.kernels.layout import BLOCK, CURVED_BITS, TARGET_BITS, Samples

NONE = np.empty(0, np.int64)
MOST = 2**CURVED_BITS - 1
FARTHEST = 2**TARGET_BITS - 1
SIZES = [1, 3, MOST_PACKED - 1, MOST_PACKED, MOST_PACKED + 1, 5000, BLOCK]


@bare_kernel
def add_blocks(samples: Any, order: Any, runs: Any, bins: Any, block: Any, histogram: Any) -> None:
    """Add samples up block by block."""
    for begin in range(0, order.size, block.bins.size):
        n = min(block.bins.size, order.size - begin)
        gather_statistics(samples, order, begin, n, block)
        for i in range(n):
            block.bins[i] = bins[begin + i]
        add_up(block, runs, 0, begin, n, histogram)


def histogram_of(targets: Array, curvatures: Array, bins: Array, n_bins: int, packed: bool) -> Array:
    """Sums (n_bins, n_channels) by the kernels, of samples in a shuffled order, on top of ones."""
    targets, curvatures = targets.astype(np.int32), curvatures.astype(np.int32)
    order = np.random.default_rng(1).permutation(len(targets)).astype(np.int32)
    samples = Samples(
        codes=np.zeros((1, len(targets)), np.int16),
        targets=targets,
        remainders=np.zeros(len(targets), np.int32),
        curvatures=curvatures,
        packed=pack(targets, curvatures) if packed else NONE,
        weights=NONE,
        counts=NONE,
        n_classes=0,
        views=np.empty((2, 0), np.int32),
    )
    histogram = np.ones((n_bins, 3 if curvatures.size or not packed else 2), np.int64)
    block = make_block(samples, 1, n_bins, len(order))
    add_blocks(samples, order, np.array([0, len(order)]), bins[order].astype(np.uint8), block, histogram)
    return histogram - 1


def plain_sums(targets: Array, curvatures: Array, bins: Array, n_bins: int) -> list[list[int]]:
    found = []
    for b in range(n_bins):
        inside = bins == b
        weight = int(curvatures[inside].sum()) if curvatures.size else int(inside.sum())
        found.append([weight, int(targets[inside].sum()), int(inside.sum())])
    return found


@pytest.mark.parametrize("n_bins", [2, 16, 256])
@pytest.mark.parametrize("curvature", [1, MOST])
@pytest.mark.parametrize("target", [-MOST, -1, 0, 1, MOST])
@pytest.mark.parametrize("n", SIZES)
def test_extreme_derivatives_in_one_bin_add_up(n: int, target: int, curvature: int, n_bins: int) -> None:
    targets, curvatures = np.full(n, target), np.full(n, curvature)
    for b in (0, n_bins - 1):
        found = histogram_of(targets, curvatures, np.full(n, b), n_bins, packed=True)
        assert found[b].tolist() == [n * curvature, n * target, n]
        assert not np.delete(found, b, axis=0).any()


@pytest.mark.parametrize("target", [-FARTHEST, -1, 0, 1, FARTHEST])
@pytest.mark.parametrize("n", [*SIZES, BLOCK + 1, 2 * BLOCK + 77])
def test_extreme_targets_in_one_bin_add_up(n: int, target: int) -> None:
    for b in (0, 6):
        found = histogram_of(np.full(n, target), NONE, np.full(n, b), 7, packed=True)
        assert found[b].tolist() == [n, n * target]
        assert not np.delete(found, b, axis=0).any()


@pytest.mark.parametrize("curved", [True, False])
@pytest.mark.parametrize("n", [*SIZES, BLOCK + 500])
def test_mixed_numbers_add_up_packed_or_not(n: int, curved: bool) -> None:
    rng = np.random.default_rng(n)
    most = MOST if curved else FARTHEST
    targets = rng.choice([-most, most, -1, 0, 1, most // 3], n)
    curvatures = rng.choice([1, 2, MOST // 2, MOST], n) if curved else NONE
    bins = rng.integers(0, 5, n) ** 2  # bins between stay empty
    expected = plain_sums(targets, curvatures, bins, 20)
    assert histogram_of(targets, curvatures, bins, 20, packed=False).tolist() == expected
    found = histogram_of(targets, curvatures, bins, 20, packed=True).tolist()
    assert found == (expected if curved else [row[:2] for row in expected])


def test_a_chunk_of_packed_derivatives_fits_64_bits() -> None:
    assert MOST * MOST_PACKED < 2 ** (columns.CURVATURE_SHIFT - 1)  # with its sign
    assert MOST * MOST_PACKED < 2 ** (columns.CURVED_SHIFT - columns.CURVATURE_SHIFT)
    assert 2 * MOST_PACKED <= 2 ** (64 - columns.CURVED_SHIFT)
    assert 2 ** (TARGET_BITS + 1) * BLOCK <= 2**columns.COUNT_SHIFT
    assert BLOCK < 2 ** (63 - columns.COUNT_SHIFT)
