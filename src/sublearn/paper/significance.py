"""Whether a difference over random splits is more than chance (Nadeau and Bengio 2003)."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from sublearn.paper.search import TEST_SHARE

LEVEL = 0.05  # a difference with a smaller p value is significant


def corrected_p_value(
    differences: NDArray[np.float64], is_redrawn: bool = False, test_share: float = TEST_SHARE
) -> float:
    """Two-sided p value of the corrected resampled paired t test, over splits with this share of test samples.

    The correction is for training parts that share samples; where every split has samples of its own there is nothing
    to correct.
    """
    n = len(differences)
    if n < 2:
        return 1.0
    variance = differences.var(ddof=1) * (1 / n + (0 if is_redrawn else test_share / (1 - test_share)))
    if variance == 0:
        return 1.0 if differences.mean() == 0 else 0.0
    return float(2 * student.sf(abs(differences.mean()) / np.sqrt(variance), n - 1))
