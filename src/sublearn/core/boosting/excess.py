"""Targets far from all others in boosting: what they have beyond the others is learned apart, by one tree.

A target is what is usual plus an excess, which is 0 for all but a few samples, so its mean is the sum of two means. The
first tree learns that of the excess in one full step, and all later ones learn what is usual. Were both learned
together, the excess would be most of every round until it is learned, and would say how far to learn.
"""

from dataclasses import replace

import numpy as np

from sublearn.core.boosting.problem import Problem
from sublearn.core.boosting.rounds import Growth, add_round
from sublearn.core.data.outliers import Reach
from sublearn.core.keys import key_below
from sublearn.core.model.flat_ensemble import pack
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers


def learn_excess(problem: Problem, reach: Reach, growth: Growth, workers: Workers) -> list[FlatTree]:
    """The first round: a tree that answers with the mean excess of each leaf."""
    excess = problem.y - reach.usual_of(problem.y)
    exact = replace(growth.boost, learning_rate=1.0, l2=0.0, min_gain=0.0, subsample=1.0, linear=False)
    full = growth._replace(boost=exact)
    apart = problem._replace(y=excess, raw=np.zeros_like(problem.raw))
    return add_round(apart, full, key_below(growth.key, 0), workers)


def without_excess(problem: Problem, reach: Reach, first: FlatTree, is_new: bool, workers: Workers) -> Problem:
    """What the later rounds learn: the usual part of targets, on top of what the first tree says.

    is_new: whether the predictions so far are still without that.
    """
    said = problem._replace(raw=np.zeros_like(problem.raw))
    said.add(pack([first]), workers)
    raw = problem.raw + said.raw if is_new else problem.raw
    return problem._replace(y=reach.usual_of(problem.y) + said.raw[:, 0], raw=raw)
