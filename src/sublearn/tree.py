"""One SLM tree, the paper's Baseline: for classes (SLM, Sec. II) and for numbers (SLR, Sec. V)."""

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from sublearn._base.estimator import SLMPredictor, Training, unchanged_on_error
from sublearn._base.parameters import check_parameters, documented, keep_parameters
from sublearn._base.targets import ClassifierPart, RegressorPart
from sublearn.core.model.flat_ensemble import alone
from sublearn.core.model.flat_tree import FlatTree, decision_path, feature_decreases, shares
from sublearn.core.model.pruning import prune, pruning_path
from sublearn.core.tree.grower import grow
from sublearn.kernels.layout import Array


class SLMTree(SLMPredictor):
    """What the two trees share."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples: numbers, which may be missing, and categories; see `categorical_features`.
        y : array-like of shape (n_samples,)
            Classes (strings or integers) or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; None: 1 each. Weight 2 is the row twice, weight 0 its absence.

        Returns
        -------
        self : object
            The fitted tree. If fitting fails, the estimator stays as it was.
        """
        with unchanged_on_error(self):
            tree, training = self._grow(X, y, sample_weight)
            if self.ccp_alpha > 0:
                tree = prune(tree, self.ccp_alpha)
            self._store_model(alone(tree), training.coded, training.task.plan)
        return self

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Effective alphas of minimal cost-complexity pruning, and the total leaf loss at each.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        path : Bunch
            `ccp_alphas` and `impurities`, as in scikit-learn.
        """
        tree, _ = clone(self)._grow(X, y, sample_weight)
        path = pruning_path(tree)
        last = np.append(path.alphas[1:] > path.alphas[:-1], True)  # cuts of one alpha are one step
        return Bunch(ccp_alphas=path.alphas[last], impurities=path.losses[last])

    def apply(self, X: Any) -> Array:
        """Index of the node in which the route of each sample ends.

        That is a leaf, or an inner node where a cell is reached in which no training sample fell.
        """
        return self._nodes_of(X, check_input=True)

    def decision_path(self, X: Any) -> csr_matrix:
        """Route of each sample: a sparse matrix (n_samples, n_nodes) with 1 at each node it passes."""
        leaves = self.apply(X)
        tree = self._model.ensemble.nodes
        indices, indptr = decision_path(tree, leaves)
        shape = (len(leaves), tree.n_nodes)
        return csr_matrix((np.ones(len(indices), np.int64), indices, indptr), shape=shape)

    def get_depth(self) -> int:
        """Depth of the tree; 0 for a single leaf."""
        return self.depth_

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        return self.n_leaves_

    @property
    def tree_(self) -> FlatTree:
        """The tree, as flat arrays."""
        check_is_fitted(self)
        return self._model.ensemble.nodes

    @property
    def depth_(self) -> int:
        """Depth of the tree; 0 for a single leaf."""
        return int(self.tree_.depth[-1])

    @property
    def n_leaves_(self) -> int:
        """Number of leaves."""
        return int(self.tree_.is_leaf.sum())

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the decrease of the loss; the shares add up to 1."""
        check_is_fitted(self)
        return shares(feature_decreases(self._model.ensemble.nodes, self._model.maps.features))

    def _grow(self, X: Any, y: Any, sample_weight: Any) -> tuple[FlatTree, Training]:
        check_parameters(self)
        given = self._take_in(X, y, sample_weight)
        key = self._key()
        with self._workers() as workers:
            training = self._prepare(given, workers)
            del given  # only codes are needed from here on
            tree = training.settled(grow(training.task, key, workers), workers)
        return tree, training

    def _nodes_of(self, X: Any, check_input: bool) -> Array:
        X = self._check_samples(X, check_input)
        with self._workers(len(X)) as workers:
            return self._model.apply(X, workers)[:, 0]

    def _values(self, X: Any, check_input: bool) -> Array:
        nodes = self._nodes_of(X, check_input)
        return self._model.contributions[nodes]


@documented
class SLMClassifier(ClassifierPart, SLMTree):
    """Subspace Learning Machine for classes: one tree, the paper's SLM Baseline.

    A node ranks the features by how well each separates the classes alone, tries sparse integer
    combinations of the best ones, and cuts with up to `max_partitions` of them at once.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the decrease of the loss.
    tree_ : FlatTree
        The tree, as flat arrays.
    feature_maps_ : FeatureMaps
        The maps from values to integer codes.
    depth_ : int
        Depth of the tree; 0 for a single leaf.
    n_leaves_ : int
        Number of leaves.
    n_partitions_ : int
        Number of hyperplanes.
    n_parameters_ : int
        Model size by the paper's formula, `n_partitions_` times (D0 + 1).

    See Also
    --------
    SLMRegressor : The tree for numbers.

    References
    ----------
    H. Fu, Y. Yang, V. K. Mishra and C.-C. J. Kuo, "Subspace Learning Machine (SLM): Methodology and Performance", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SLMClassifier(random_state=0).fit(X, y)
    >>> model.predict(X[:1])
    array([0])
    """

    def __init__(
        self,
        *,
        criterion: str = "entropy",
        n_bins: int = 16,
        subspace: str = "top",
        subspace_size: int = 8,
        n_projections: int = 64,
        draws_per_sample: int | None = 4,
        fitted_projections: int = 0,
        selection: str = "projection",
        n_coefficients: Any = None,
        selection_decay: Any = 0.5,
        envelope_height: float = 2.5,
        envelope_decay: Any = 0.2,
        axis_projections: bool = True,
        max_partitions: int = 2,
        max_cosine: float = 0.5,
        effective_ratio: float = 0.5,
        racing_samples: int | None = None,
        n_finalists: int = 8,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_loss: float = 0.0,
        ccp_alpha: float = 0.0,
        categorical_features: Any = "from_dtype",
        feature_map: str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def predict_proba(self, X: Any, *, check_input: bool = True) -> Array:
        """Probability of each class, in the order of `classes_`: its share of the leaf's weight.

        With `check_input=False`, X is taken as it is: a float64 array in C order. For single samples most time goes
        into checks otherwise.
        """
        return self._values(X, check_input)


@documented
class SLMRegressor(RegressorPart, SLMTree):
    """Subspace Learning Regressor: one tree for numbers, the paper's SLR Baseline.

    As `SLMClassifier`, with the mean squared error as the loss and the mean target of a leaf as prediction.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the decrease of the loss.
    tree_ : FlatTree
        The tree, as flat arrays.
    feature_maps_ : FeatureMaps
        The maps from values to integer codes.
    depth_ : int
        Depth of the tree; 0 for a single leaf.
    n_leaves_ : int
        Number of leaves.
    n_partitions_ : int
        Number of hyperplanes.
    n_parameters_ : int
        Model size by the paper's formula, `n_partitions_` times (D0 + 1).

    See Also
    --------
    SLMClassifier : The tree for classes.

    References
    ----------
    H. Fu, Y. Yang, V. K. Mishra and C.-C. J. Kuo, "Subspace Learning Machine (SLM): Methodology and Performance", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sublearn import SLMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SLMRegressor(min_samples_leaf=20, random_state=0).fit(X, y)
    >>> model.predict(X[:2]).shape
    (2,)
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        n_bins: int = 16,
        subspace: str = "top",
        subspace_size: int = 8,
        n_projections: int = 64,
        draws_per_sample: int | None = 4,
        fitted_projections: int = 0,
        selection: str = "projection",
        n_coefficients: Any = None,
        selection_decay: Any = 0.5,
        envelope_height: float = 2.5,
        envelope_decay: Any = 0.2,
        axis_projections: bool = True,
        max_partitions: int = 2,
        max_cosine: float = 0.5,
        effective_ratio: float = 0.5,
        racing_samples: int | None = None,
        n_finalists: int = 8,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_loss: float = 0.0,
        ccp_alpha: float = 0.0,
        categorical_features: Any = "from_dtype",
        feature_map: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def predict(self, X: Any, *, check_input: bool = True) -> Array:
        """Number predicted for each sample: the mean target of its leaf.

        With `check_input=False`, X is taken as it is: a float64 array in C order. For single samples most time goes
        into checks otherwise.
        """
        return self._values(X, check_input)[:, 0]
