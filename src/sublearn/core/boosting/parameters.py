"""What boosting depends on beside its trees, checked and resolved: one frozen object."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BoostParameters:
    """What boosting depends on beside its trees."""

    learning_rate: float
    l2: float
    min_gain: float
    min_child_weight: float
    subsample: float
    separate: bool  # whether a round has a tree for each output, in the place of one for all
    linear: bool = False  # whether leaves have linear models
