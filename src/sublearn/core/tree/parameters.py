"""What the algorithm depends on, checked and resolved: one frozen object."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DrawingRound:
    """One round of drawing: beta, alpha and R of the paper."""

    selection_decay: float
    envelope_decay: float
    n_coefficients: int | None  # None: all of the subspace


@dataclass(frozen=True)
class TreeParameters:
    """The parameters of one tree; `sublearn.SLMClassifier` documents them."""

    criterion: str
    n_bins: int
    subspace: str
    subspace_size: int
    n_projections: int
    selection: str
    draws_per_sample: int | None  # None: n_projections in any node
    fitted_projections: int
    rounds: tuple[DrawingRound, ...]
    envelope_height: float
    axis_projections: bool
    max_partitions: int
    max_cosine: float
    effective_ratio: float
    max_depth: int | None
    min_samples_split: int
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    min_loss: float  # minus infinity for boosting, whose losses are negative
    racing_samples: int | None  # None: all samples
    n_finalists: int
