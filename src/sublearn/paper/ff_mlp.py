"""The paper's two multilayer perceptrons: one designed without back-propagation (FF-MLP), one trained from it (BP-MLP).

The design (Lin, Zhou, You, Rao and Kuo, arXiv 2009.04442) reads top down in `design_network`: Gaussian components of
the classes, hyperplanes between them, cells between the hyperplanes, classes of the cells.
"""

import warnings
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sublearn._base.parameters import check_parameters, number, whole
from sublearn.kernels.layout import Array

REGULARIZATION = 1e-2  # added to the variances of standardised features: few samples in many dimensions are singular
VETO = 1000.0  # a neuron of the second layer is silent this many times sooner than it speaks


class Components(NamedTuple):
    """The Gaussian components of all classes."""

    labels: Array  # (n_components,), the class of each one
    weights: Array  # (n_components,), share of all samples
    means: Array  # (n_components, n_features)
    covariances: Array  # (n_components, n_features, n_features)


class Planes(NamedTuple):
    """Hyperplanes: the sign of X @ coefs + intercepts is the side of a sample."""

    coefs: Array  # (n_features, n_planes)
    intercepts: Array  # (n_planes,)


class Network(NamedTuple):
    """Weights and biases of the three layers, (n_in, n_out) and (n_out,) each."""

    coefs: list[Array]
    intercepts: list[Array]


def count_parameters(layer_sizes: Sequence[int]) -> int:
    """Weights and biases of a network: 2-8-9-2 has (2 + 1) * 8 + (8 + 1) * 9 + (9 + 1) * 2 = 125."""
    return sum((n_in + 1) * n_out for n_in, n_out in pairwise(layer_sizes))


def design_network(X: Array, labels: Array, n_components: int, tolerance: float, rng: np.random.RandomState) -> Network:
    """All weights from statistics of standardised samples and their classes 0, 1, ... (each present)."""
    planes = separate(fit_components(X, labels, n_components, rng))
    positive = X @ planes.coefs + planes.intercepts > 0
    kept = keep_needed(positive, labels, tolerance, rng)
    return connect(Planes(planes.coefs[:, kept], planes.intercepts[kept]), positive[:, kept], labels)


def fit_components(X: Array, labels: Array, n_components: int, rng: np.random.RandomState) -> Components:
    """A Gaussian mixture for each class, of no more components than the class has distinct samples."""
    parts = []
    for label in range(labels.max() + 1):
        own = X[labels == label]
        n = min(n_components, len(np.unique(own, axis=0)))
        mixture = GaussianMixture(n, reg_covar=REGULARIZATION, random_state=rng)
        with config_context(array_api_dispatch=False), warnings.catch_warnings():  # the arrays are NumPy's by now
            warnings.simplefilter("ignore", ConvergenceWarning)  # a rough mixture will do
            mixture.fit(own if len(own) > 1 else np.repeat(own, 2, axis=0))
        share = len(own) / len(X)
        parts.append(Components(np.full(n, label), share * mixture.weights_, mixture.means_, mixture.covariances_))
    return Components(*map(np.concatenate, zip(*parts, strict=True)))


def separate(components: Components) -> Planes:
    """The two-class LDA hyperplane between each two components of different classes, positive on the first one's side.

    Its length is 1, so that activations are distances; a plane between equal means has no direction and keeps its bias.
    """
    labels, weights, means, covariances = components
    coefs, intercepts = [], []
    for a, b in combinations(range(len(labels)), 2):
        if labels[a] != labels[b]:
            shared = (weights[a] * covariances[a] + weights[b] * covariances[b]) / (weights[a] + weights[b])
            normal = np.linalg.solve(shared, means[a] - means[b])
            bias = np.log(weights[a] / weights[b]) - normal @ (means[a] + means[b]) / 2
            length = np.linalg.norm(normal) or 1.0
            coefs.append(normal / length)
            intercepts.append(bias / length)
    return Planes(np.array(coefs).T, np.array(intercepts))


def keep_needed(positive: Array, labels: Array, tolerance: float, rng: np.random.RandomState) -> Array:
    """Indices of the hyperplanes that remain when redundant ones are dropped one by one.

    Dropped is the one without which the majority classes of the cells are right most often, the last of several, while
    they are right at most `tolerance` (a share of the samples) less often than with all hyperplanes.

    A cell is known by the sum, modulo 2^64, of random keys of its positive hyperplanes: dropping one subtracts its key,
    and cells that it alone kept apart become equal. Merging cells never helps, so a drop that costs nothing is a best.
    """
    keys: Array = rng.randint(0, 2**64, size=(positive.shape[1],), dtype=np.uint64)
    classes = np.equal.outer(labels, np.arange(labels.max() + 1)).astype(np.int64)
    cells, first, counts = _merge(positive @ keys, classes)
    sides, kept = positive[first], list(range(positive.shape[1]))
    right = counts.max(axis=1).sum()
    lowest = right - tolerance * len(labels) - 1e-6  # sums of whole numbers: the last term is for rounding
    while len(kept) > 1:
        best = -1
        for plane in reversed(kept):
            merged = _merge(cells - sides[:, plane] * keys[plane], counts)
            score = merged[2].max(axis=1).sum()
            if score > best:
                best, dropped, outcome = score, plane, merged
            if best == right:
                break
        if best < lowest:
            break
        cells, first, counts = outcome
        sides, right = sides[first], best
        kept.remove(dropped)
    return np.array(kept)


def _merge(cells: Array, counts: Array) -> tuple[Array, Array, Array]:
    """Distinct cells, where each is found first, and its samples of each class: the sum over its rows of `counts`."""
    order = np.argsort(cells, kind="stable")
    ordered = cells[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[starts], order[starts], np.add.reduceat(counts[order], starts)


def connect(planes: Planes, positive: Array, labels: Array) -> Network:
    """The network of hyperplanes, of the cells that `positive` (n_samples, n_planes) shows and of their classes.

    Neurons of the first layer are the hyperplanes and then their opposites. That of a cell adds those active in the
    cell, and any other silences it. It feeds the most frequent class of the cell, the first of several.
    """
    cells, cell_of = np.unique(positive, axis=0, return_inverse=True)
    n_classes = labels.max() + 1
    counts = np.bincount(cell_of.ravel() * n_classes + labels, minlength=len(cells) * n_classes)
    majority = counts.reshape(len(cells), n_classes).argmax(axis=1)
    active = np.hstack([cells, ~cells]).T
    return Network(
        [
            np.hstack([planes.coefs, -planes.coefs]),
            np.where(active, 1.0, -VETO),
            np.equal.outer(majority, np.arange(n_classes)).astype(np.float64),
        ],
        [np.concatenate([planes.intercepts, -planes.intercepts]), np.zeros(len(cells)), np.zeros(n_classes)],
    )


class FFMLPClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Feed-forward multilayer perceptron: a network of two hidden layers designed without back-propagation.

    Between each two Gaussian components of different classes lies a hyperplane, which is a pair of neurons in the first
    layer; hyperplanes that the training samples do not need are dropped. Each cell between hyperplanes that holds
    training samples is a neuron in the second layer, and its most frequent class is fed by it.

    A sample in a cell without training samples silences the whole second layer. It gets the class of the cell whose
    neuron has the largest input, that is, whose hyperplanes it violates least.

    Parameters
    ----------
    n_components : int, default=2
        Gaussian components of each class; fewer where a class has fewer distinct samples.
    tolerance : float, default=0.0
        Share of the training samples that may become wrong when hyperplanes are dropped; more makes a smaller network.
    random_state : None, int or RandomState, default=None
        Seed of the mixtures.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.
    scaler_ : StandardScaler
        What standardises the features; the network takes its output.
    coefs_ : list of 3 ndarrays of shape (n_in, n_out)
        Weights of the layers.
    intercepts_ : list of 3 ndarrays of shape (n_out,)
        Biases of the layers.
    n_parameters_ : int
        Model size: all weights and biases.

    See Also
    --------
    BPMLPClassifier : The same network, trained on by back-propagation.

    References
    ----------
    R. Lin, Z. Zhou, S. You, R. Rao and C.-C. J. Kuo, "From Two-Class Linear Discriminant Analysis to Interpretable
    Multilayer Perceptron Design", 2020, arXiv:2009.04442.

    Examples
    --------
    >>> from sublearn.paper.ff_mlp import FFMLPClassifier
    >>> model = FFMLPClassifier(n_components=1).fit([[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"])
    >>> model.predict([[2.0], [3.0]]).tolist()
    ['low', 'high']
    """

    _rules = {"n_components": whole(1), "tolerance": number(0.0, 1.0)}  # noqa: RUF012

    def __init__(self, n_components: int = 2, tolerance: float = 0.0, random_state: Any = None) -> None:
        self.n_components = n_components
        self.tolerance = tolerance
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Make the network for samples X (n_samples, n_features) and their classes y (n_samples,)."""
        check_parameters(self)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y of {type(self).__name__}.fit must hold at least two classes; got 1 class.")
        self.scaler_ = StandardScaler().fit(X)
        network = self._make_network(self.scaler_.transform(X), labels, check_random_state(self.random_state))
        self.coefs_, self.intercepts_ = network
        self.n_parameters_ = count_parameters([X.shape[1], *map(len, self.intercepts_)])
        return self

    def predict(self, X: Any) -> Array:
        """Class of each sample: the output that is largest, the first of several."""
        inputs = self._layer_inputs(X)
        predicted = inputs[2].argmax(axis=1)
        silent = (inputs[1] <= 0).all(axis=1)
        predicted[silent] = self.coefs_[2][inputs[1][silent].argmax(axis=1)].argmax(axis=1)
        classes: Array = self.classes_[predicted]
        return classes

    def _make_network(self, X: Array, labels: Array, rng: np.random.RandomState) -> Network:
        return design_network(X, labels, self.n_components, self.tolerance, rng)

    def _layer_inputs(self, X: Any) -> list[Array]:
        """What enters the neurons of each layer, before activation."""
        check_is_fitted(self)
        activations = self.scaler_.transform(validate_data(self, X, reset=False, dtype=np.float64))
        inputs = []
        for coefs, intercepts in zip(self.coefs_, self.intercepts_, strict=True):
            inputs.append(activations @ coefs + intercepts)
            activations = np.maximum(inputs[-1], 0.0)
        return inputs


class BPMLPClassifier(FFMLPClassifier):
    """Multilayer perceptron that starts as the `FFMLPClassifier` and is trained on by back-propagation.

    The architecture is that of the start. Prediction is the plain network's: where the second layer is silent, the
    biases of the outputs decide.

    Parameters
    ----------
    n_components, tolerance
        As for `FFMLPClassifier`: they decide on the architecture.
    n_epochs : int, default=50
        Passes over the training samples.
    learning_rate : float, default=0.001
        First step size of the optimiser, Adam.
    random_state : None, int or RandomState, default=None
        Seed of the mixtures and of the order of the samples.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, scaler_, coefs_, intercepts_, n_parameters_
        As for `FFMLPClassifier`.

    See Also
    --------
    FFMLPClassifier : The network without back-propagation.
    """

    _rules = {**FFMLPClassifier._rules, "n_epochs": whole(1)}  # noqa: RUF012

    def __init__(
        self,
        n_components: int = 2,
        tolerance: float = 0.0,
        n_epochs: int = 50,
        learning_rate: float = 0.001,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_components, tolerance, random_state)
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate

    def predict(self, X: Any) -> Array:
        """Class of each sample: the output that is largest, the first of several."""
        outputs = self._layer_inputs(X)[2]
        classes: Array = self.classes_[outputs.argmax(axis=1)]
        return classes

    def _make_network(self, X: Array, labels: Array, rng: np.random.RandomState) -> Network:
        start = super()._make_network(X, labels, rng)
        trainer = MLPClassifier(
            [len(intercepts) for intercepts in start.intercepts[:2]],
            learning_rate_init=self.learning_rate,
            alpha=0.0,
            max_iter=1,
            n_iter_no_change=self.n_epochs + 1,  # never stops early
            warm_start=True,
            random_state=rng,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # it is the epochs that are asked for
            trainer.fit(X, labels)  # makes the layers, whose weights are then replaced
            trainer.coefs_, trainer.intercepts_ = _one_logit(start) if labels.max() == 1 else start
            trainer.set_params(max_iter=self.n_epochs).fit(X, labels)
        trained = Network(trainer.coefs_, trainer.intercepts_)
        return _two_outputs(trained) if labels.max() == 1 else trained


def _one_logit(network: Network) -> Network:
    """Two outputs as the one that scikit-learn trains for two classes: their difference."""
    *coefs, last = network.coefs
    *intercepts, bias = network.intercepts
    return Network([*coefs, last[:, 1:] - last[:, :1]], [*intercepts, bias[1:] - bias[:1]])


def _two_outputs(network: Network) -> Network:
    """One logit as two outputs of that difference."""
    *coefs, last = network.coefs
    *intercepts, bias = network.intercepts
    return Network([*coefs, np.hstack([-last, last]) / 2], [*intercepts, np.concatenate([-bias, bias]) / 2])
