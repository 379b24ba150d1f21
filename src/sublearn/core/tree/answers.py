"""What a node answers: from its integer sums to values in the units of y."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from sublearn.core.data.fixed_point import Units
from sublearn.core.data.samples import Response
from sublearn.core.tree.criterion import NodeSums
from sublearn.kernels.layout import Array

FAR = 1e100  # squares of ratios from here on may overflow; only there is time spent on keeping warnings away


class Answers(Protocol):
    """How the integer sums of nodes become what a tree stores."""

    def values(self, sums: NodeSums) -> Array:
        """Values (n_nodes, n_values) that nodes answer with."""

    def losses(self, losses: Array) -> Array:
        """Losses in the units of y."""

    def least_loss(self, least: float) -> float:
        """The smallest loss that is at least so much in the units of y."""

    def decreases(self, decreases: Array) -> Array:
        """Loss decreases as a tree keeps them."""

    def weights(self, weights: Array, total: int) -> Array:
        """Weights as a tree keeps them."""


class ClassShares(NamedTuple):
    """Classes: the share of each.

    `values` is for the loop over levels; trees that are grown in compiled code have their shares from
    `kernels.assembling`, which has no table of all classes for every node.
    """

    n_classes: int

    def values(self, sums: NodeSums) -> Array:
        """Shares of the classes."""
        shares: Array = sums.totals[:, : self.n_classes] / sums.weights[:, None]
        return shares

    def losses(self, losses: Array) -> Array:
        """Losses as they are: entropy and gini have no unit."""
        return losses

    def least_loss(self, least: float) -> float:
        """The smallest loss as it is: entropy and gini have no unit."""
        return least

    def decreases(self, decreases: Array) -> Array:
        """Decreases as they are: entropy and gini have no unit."""
        return decreases

    def weights(self, weights: Array, total: int) -> Array:
        """Weights as shares of the total weight."""
        shares: Array = weights / total
        return shares


class MeanTarget(NamedTuple):
    """Numbers: the mean target."""

    units: Units

    def values(self, sums: NodeSums) -> Array:
        """Mean targets."""
        return self.units.values(sums.totals[:, 1] / sums.weights, sums.remainders / sums.weights)[:, None]

    def losses(self, losses: Array) -> Array:
        """Mean squared errors, in squared units of y."""
        return self.units.squares(losses)

    def least_loss(self, least: float) -> float:
        """The smallest loss, in squared steps of the targets, that is at least so much in squared units of y."""
        return self.units.least_square(least)

    def decreases(self, decreases: Array) -> Array:
        """Decreases in squared steps of the targets, which neither over- nor underflow."""
        return decreases

    def weights(self, weights: Array, total: int) -> Array:
        """Weights as shares of the total weight."""
        shares: Array = weights / total
        return shares


class NewtonStep(NamedTuple):
    """Boosting: a share of the step to the minimum of Eq. (obj4), -G / (H + l2)."""

    gradient_step: Any  # what an integer of G stands for, or one for each output
    hessian_step: Any  # what an integer of H stands for, likewise
    l2: float
    learning_rate: float
    max_step: float = np.inf  # of a leaf, before the learning rate

    def values(self, sums: NodeSums) -> Array:
        """Steps of the nodes, times the learning rate."""
        return self.steps(sums.totals[:, 1], sums.weights)[:, None]

    def steps(self, descents: Array, hessians: Array) -> Array:
        """Steps from integer sums: of minus the gradients, and of the hessians."""
        steps = descents * self.gradient_step / (hessians * self.hessian_step + self.l2)
        if self.max_step < np.inf:
            steps = np.clip(steps, -self.max_step, self.max_step)
        bounded: Array = self.learning_rate * steps
        return bounded

    def losses(self, losses: Array) -> Array:
        """Losses in the units of the training loss: the objective of Eq. (obj4) by the sum of hessians."""
        ratio = float(self.gradient_step / self.hessian_step)
        if ratio < FAR:
            return losses * ratio * ratio
        with np.errstate(over="ignore"):
            return losses * ratio * ratio

    def least_loss(self, least: float) -> float:
        """Minus infinity: boosting has no smallest loss."""
        return -np.inf

    def decreases(self, decreases: Array) -> Array:
        """Decreases in the units of the training loss, so that trees of different rounds compare."""
        return self.losses(decreases)

    def weights(self, weights: Array, total: int) -> Array:
        """Weights as sums of hessians."""
        hessians: Array = weights * self.hessian_step
        return hessians


def make_answers(response: Response) -> Answers:
    """How the sums of a tree's nodes are read: as shares of classes, or as means of numbers."""
    return ClassShares(response.n_classes) if response.n_classes else MeanTarget(response.targets.units)
