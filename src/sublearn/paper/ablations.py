"""Two questions beyond the paper: does the guided search help, and how many hyperplanes should a node keep?

Single trees with fixed settings, on the splits of the report.
"""

from typing import Any

from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.search import Found, Split, try_setting

N_PROJECTIONS = (4, 16, 64)
_SHARED: dict[str, Any] = {"min_samples_split": 10, "envelope_height": 10.0, "max_partitions": 2}
_GUIDED: dict[str, Any] = {**_SHARED, "envelope_decay": 0.3, "selection_decay": 0.5}
# all features in S0, one bound for all coefficients, each feature as likely to be used as another
_UNIFORM: dict[str, Any] = {**_SHARED, "envelope_decay": 0.0, "selection_decay": 0.0, "subspace_size": 10_000}

OF = "slm-baseline"  # the contender that is varied
GUIDED = [f"guided, p = {p}" for p in N_PROJECTIONS]
UNIFORM = [f"uniform, p = {p}" for p in N_PROJECTIONS]
MAX_PARTITIONS = {1: "q = 1", 2: GUIDED[-1], 3: "q = 3"}  # q and the variant that has it

VARIANTS: dict[str, dict[str, Any]] = {
    **{name: {**_GUIDED, "n_projections": p} for name, p in zip(GUIDED, N_PROJECTIONS, strict=True)},
    **{name: {**_UNIFORM, "n_projections": p} for name, p in zip(UNIFORM, N_PROJECTIONS, strict=True)},
    **{MAX_PARTITIONS[q]: {**_GUIDED, "n_projections": N_PROJECTIONS[-1], "max_partitions": q} for q in (1, 3)},
}


def try_variant(name: str, is_classes: bool, parts: Split, seed: int) -> Found:
    """Score a tree with the variant's settings on one split."""
    return try_setting(CONTENDERS[OF].make(is_classes), VARIANTS[name], parts, seed)
