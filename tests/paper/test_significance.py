"""The corrected resampled t test: values by hand, and the edges of few or equal differences."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from sublearn.paper.significance import corrected_p_value


def test_corrected_p_value_of_a_small_sample_by_hand() -> None:
    # mean 2, variance 1, n = 3: t = 2 / sqrt(1 / 3 + 2 / 3) = 2 with 2 degrees of freedom, p = 1 - 2 / sqrt(6)
    assert corrected_p_value(np.array([1.0, 2.0, 3.0])) == pytest.approx(1 - 2 / 6**0.5)


@pytest.mark.parametrize("factor", [-1.0, 1e-6, 1e6])
def test_neither_sign_nor_unit_of_the_differences_matters(factor: float) -> None:
    differences = np.random.default_rng(0).normal(0.5, size=20)
    assert corrected_p_value(factor * differences) == pytest.approx(corrected_p_value(differences))


def test_correction_makes_the_test_more_careful_than_student_s() -> None:
    differences = np.random.default_rng(0).normal(0.3, size=20)
    p_value = corrected_p_value(differences)
    assert ttest_1samp(differences, 0.0).pvalue < p_value < 1.0


def test_more_splits_of_the_same_set_do_not_prove_everything() -> None:
    # t tends to mean / sqrt(variance x 2 / 3), however many splits there are; here to sqrt(3 / 2) with 1,999 degrees
    differences = np.tile([0.0, 2.0], 1000)
    assert corrected_p_value(differences) == pytest.approx(0.221, abs=0.002)


@pytest.mark.parametrize(("share", "ratio"), [(0.25, 1 / 3), (0.4, 2 / 3), (0.5, 1.0)])
def test_correction_is_larger_for_larger_test_parts(share: float, ratio: float) -> None:
    # t = 2 / sqrt(1 / 3 + ratio) with 2 degrees of freedom, of which p = 1 - t / sqrt(2 + t^2)
    t = 2 / (1 / 3 + ratio) ** 0.5
    found = corrected_p_value(np.array([1.0, 2.0, 3.0]), test_share=share)
    assert found == pytest.approx(1 - t / (2 + t * t) ** 0.5)


@pytest.mark.parametrize("n", [2, 5, 20])
def test_samples_drawn_anew_need_no_correction_and_the_test_is_student_s(n: int) -> None:
    differences = np.random.default_rng(n).normal(0.3, size=n)
    p_value = corrected_p_value(differences, is_redrawn=True)
    assert p_value == pytest.approx(ttest_1samp(differences, 0.0).pvalue)
    assert p_value < corrected_p_value(differences)


@pytest.mark.parametrize("is_redrawn", [False, True])
def test_one_difference_proves_nothing(is_redrawn: bool) -> None:
    assert corrected_p_value(np.array([5.0]), is_redrawn) == 1.0


@pytest.mark.parametrize("is_redrawn", [False, True])
def test_equal_differences_are_certain_and_zeros_are_none(is_redrawn: bool) -> None:
    assert corrected_p_value(np.full(4, 0.5), is_redrawn) == 0.0
    assert corrected_p_value(np.zeros(4), is_redrawn) == 1.0
