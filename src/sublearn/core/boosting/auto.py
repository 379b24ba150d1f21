"""What "auto" stands for in boosting: depth, rounds and learning rate where the user does not say.

The parameter table and the docstrings take their words from here (`ROUNDS`, `DEPTH`). The figures behind the numbers
are in docs/studies/choosing_defaults.md. `trial` finds by trials what cannot be known beforehand: how far to learn.
"""

import math
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from sublearn.kernels.arithmetic import log2
from sublearn.kernels.compilation import plain

MANY = 64  # features; more of them bring chance more to choose from
LOWEST_RATE, USUAL_RATE, HIGHEST_RATE = 0.02, 0.05, 0.3
FAST_RATE = 0.25
MOST_ROUNDS = 2_000
FEW = 50  # samples, or different ones: with fewer nothing is tried, since parts of them say little
ROUNDS_OF_FEW = 100
DISTANCE = 30.0  # learning rate times rounds of a trial
PATIENCE = 20  # rounds without improvement that end a trial
LEAST_GAIN = 1e-6  # share of the loss; what brings less is not worth a round
FURTHER = 1.1  # all samples and smaller steps bear more learning than a trial does
BEHIND = 0.1  # share of the loss; a setting that is so far behind the usual one is given up
EARLIEST = 20  # rounds before which none is given up
PROBE = 40  # rounds after which settings are compared for the first time, and all but the best are given up
CLEAR = 1.0  # standard errors by which a setting must lead at the end
AVERAGED = 4  # models of the best effort; a power of two, so that answers are divided by it exactly
SMALL = 3_000  # samples below which leaves are linear
OF_CLASSES, OF_NUMBERS = 3, 4  # depth of trees with linear leaves on so few samples
FEW_OUTPUTS = 3  # with more, a round takes so long that only the usual setting is tried
AUDITIONED = ("max_depth", "min_samples_leaf", "l2_regularization", "subsample", "leaf")  # parameters left to us


class Setting(NamedTuple):
    """A way to boost, in what is left to us."""

    name: str
    changes: dict[str, Any]  # by parameters of the estimators; the others are as in `Scale`, or `CONSTANT`
    late: float = 0.0  # share of the loss that it mostly gains on the usual setting from the probe to the end
    lead: float = 0.002  # share of the loss by which it must lead at the end: low rates suit some less than trials' do


CONSTANT = {"min_samples_leaf": 5, "subsample": 1.0, "leaf": "constant"}
ROUGH = {"subsample": 0.6, "min_samples_leaf": 1, "l2_regularization": 1.0}
LINEAR = {"leaf": "linear"}
STEADY = Setting("constant", {})


def settings_for(n_samples: int, n_outputs: int, is_classes: bool, may_be_linear: bool) -> list[Setting]:
    """Settings that suit so many samples, the usual one first."""
    depth = scale_of(n_samples).max_depth
    if not may_be_linear:
        found = [STEADY]
    elif n_samples < SMALL:
        shallow = LINEAR | {"max_depth": OF_CLASSES if is_classes else OF_NUMBERS}
        linear = Setting("linear", shallow)
        found = [linear, STEADY] if is_classes else [Setting("rough linear", shallow | ROUGH), linear, STEADY]
    else:
        found = [
            STEADY,
            Setting("linear", LINEAR, -0.015),
            Setting("shallow linear", LINEAR | {"max_depth": max(depth - 2, 1)}, 0.03, 0.02),
            Setting("deep", {"max_depth": depth + 2}, -0.015),
        ]
    return found[:1] if n_outputs > FEW_OUTPUTS else found


class Scale(NamedTuple):
    """What suits boosting on a number of samples."""

    below: float  # the number of samples up to which it suits, which is not included
    max_depth: int
    n_rounds: int  # at the usual learning rate
    trial_rate: float
    n_trials: int
    n_parts: int  # of the samples, of which one tests a trial
    n_models: int = 1  # whose answers are averaged; a power of two, as `AVERAGED`


SCALES = (
    Scale(below=1_000, max_depth=6, n_rounds=250, trial_rate=0.3, n_trials=3, n_parts=5, n_models=2),
    Scale(below=3_000, max_depth=6, n_rounds=500, trial_rate=0.2, n_trials=4, n_parts=5, n_models=2),
    Scale(below=10_000, max_depth=6, n_rounds=500, trial_rate=0.25, n_trials=1, n_parts=5),
    Scale(below=20_000, max_depth=6, n_rounds=400, trial_rate=0.3, n_trials=1, n_parts=5),
    Scale(below=50_000, max_depth=6, n_rounds=400, trial_rate=0.3, n_trials=1, n_parts=10),
    Scale(below=np.inf, max_depth=8, n_rounds=400, trial_rate=0.3, n_trials=1, n_parts=10),
)


CAREFUL_TRIALS = 5  # of the best effort on sets that have several


class Fast(NamedTuple):
    """What the fast effort does with a number of samples."""

    below: float  # as in `Scale`
    changes: dict[str, Any]  # as in `Setting`
    n_rounds: int  # at `FAST_RATE`


FAST = (
    Fast(below=SMALL, changes=LINEAR | {"max_depth": 3}, n_rounds=28),
    Fast(below=10_000, changes=LINEAR | {"max_depth": 4}, n_rounds=36),
    Fast(below=np.inf, changes={}, n_rounds=48),
)


def fast_for(n_samples: int) -> Fast:
    """What the fast effort does with so many samples."""
    return next(fast for fast in FAST if n_samples < fast.below)


def scale_of(n_samples: int) -> Scale:
    """The scale that suits so many samples."""
    return next(scale for scale in SCALES if n_samples < scale.below)


def careful(scale: Scale) -> Scale:
    """The same with more trials: what the best effort takes."""
    return scale._replace(n_trials=CAREFUL_TRIALS if scale.n_trials > 1 else 2)


def more_rounds(n_outputs: int) -> float:
    """How many times the rounds it takes where one tree a round serves several outputs."""
    return math.sqrt(max(n_outputs - 1, 1))


def usual_rounds(n_samples: int) -> int:
    """Rounds that suit so many samples at the usual learning rate, for one output."""
    return ROUNDS_OF_FEW if n_samples < FEW else scale_of(n_samples).n_rounds


def chances(n_features: int) -> float:
    """Factor on what a split must gain: the best of many useless features gains more by chance than one of a few."""
    return 1.0 + max(0.0, float(plain(log2)(n_features / MANY))) / 2.0


def _steps(name: str) -> list[tuple[int, float]]:
    """The values of a column of `SCALES`, each with the number of samples below which it holds."""
    return [(value, max(s.below for s in some)) for value, some in groupby(SCALES, key=lambda s: getattr(s, name))]


(_SMALL, _SMALL_BELOW), (_USUAL, _USUAL_BELOW), (_LARGE, _) = _steps("n_rounds")
ROUNDS = (
    f"{_USUAL} ({_SMALL} with fewer than {_SMALL_BELOW:,} samples, {ROUNDS_OF_FEW} with fewer than {FEW}, {_LARGE} "
    f"from {_USUAL_BELOW:,} on), times {USUAL_RATE:g} / `learning_rate` where one is given, up to {MOST_ROUNDS:,}. For "
    "K > 2 classes with one tree a round, all these numbers are multiplied by the root of K - 1"
)
(_SEVERAL, _SEVERAL_BELOW), (_, _) = _steps("n_models")
MODELS = (
    f"{_SEVERAL} with fewer than {_SEVERAL_BELOW:,} samples and at most {FEW_OUTPUTS} classes, where `learning_rate` "
    f"is 'auto' and neither early stopping nor a warm start is asked for; {AVERAGED} with `effort='best'`; otherwise 1"
)
(_SHALLOW, _SHALLOW_BELOW), (_DEEP, _) = _steps("max_depth")
DEPTH = (
    f"{_SHALLOW}, or {_DEEP} from {_SHALLOW_BELOW:,} samples on; with fewer than {SMALL:,} {OF_CLASSES} for classes "
    f"and {OF_NUMBERS} for numbers"
)
