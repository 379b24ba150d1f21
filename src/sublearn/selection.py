"""Feature selection by the test that ranks the features of a tree's node (paper Sec. II-B1), over all samples."""

from typing import Any, Self

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sublearn._base.checking import check_samples
from sublearn._base.estimator import SLMEstimator, unchanged_on_error
from sublearn._base.parameters import as_count, check_parameters, documented, keep_parameters
from sublearn._base.targets import ClassTargets, NumberTargets
from sublearn.core.data.codes import HEAVY_TAILS
from sublearn.core.data.samples import Given, drop_weightless, integer_response, response_samples
from sublearn.core.parallel import Workers
from sublearn.core.tree.answers import Answers, make_answers
from sublearn.core.tree.criterion import make_feature_test
from sublearn.core.tree.feature_test import Encoded, Tested, elbow, examine
from sublearn.core.tree.task import make_root
from sublearn.kernels.layout import Array

ELBOW = "elbow"


class FeatureTest(SelectorMixin, SLMEstimator):  # type: ignore[misc]
    """What the two tests share."""

    _texts = {  # noqa: RUF012
        "criterion": "Loss of the samples on one side of a threshold. Entropy is in bits.",
        "n_bins": "Equal-width bins between the smallest and the largest value of a feature; the boundaries between "
        "them are the thresholds that are tried.",
        "feature_map": "What equal width means: that of the values, of their quantiles turned into those of a normal "
        f"variable, or whichever suits the feature: {HEAVY_TAILS}. 'linear' is the paper's.",
        "class_weight": "Factors on the weights of samples by class; 'balanced' gives all classes the same total "
        "weight.",
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Test every feature by itself, and choose the best.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples; numbers without NaN or infinity.
        y : array-like of shape (n_samples,)
            Classes (strings or integers) or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; None: 1 each. Weight 2 is the row twice, weight 0 its absence.

        Returns
        -------
        self : object
            The fitted test. If fitting fails, it stays as it was.
        """
        with unchanged_on_error(self):
            check_parameters(self)
            given = self._take_in(X, y, sample_weight)
            with self._workers() as workers:
                self._store(*self._examine(given, workers))
        return self

    def _examine(self, given: Given, workers: Workers) -> tuple[Tested, Answers]:
        """Test the features, and tell how losses are read."""
        response = integer_response(drop_weightless(given.only(slice(0))))

        def encode(columns: slice, own: Workers) -> Encoded:
            coded = self._code(given.only(columns), own)
            return Encoded(coded.codes, coded.maps)

        samples = response_samples(np.empty((0, response.n_samples), np.int16), response)
        test = make_feature_test(getattr(self, "criterion", "squared_error"), int(self.n_bins))
        found = examine(samples, make_root(response), test, given.X.shape[1], encode, workers)
        return found, make_answers(response)

    def _store(self, found: Tested, answers: Answers) -> None:
        order = found.order()
        self.loss_ = float(answers.losses(np.array([max(found.loss, 0.0)]))[0])
        self.losses_ = answers.losses(np.maximum(found.loss - found.decreases, 0.0))
        self.thresholds_ = found.thresholds
        self.ranking_ = np.empty(len(order), np.int64)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        self.n_features_ = self._n_chosen(found.decreases[order[: found.varies.sum()]])

    def _n_chosen(self, decreases: Array) -> int:
        """How many features to keep; `decreases` are those of the features that vary, the best first."""
        n_features = int(self.n_features_in_)
        if isinstance(self.n_features_to_select, str):
            return elbow(decreases) or n_features
        return min(as_count(self.n_features_to_select, n_features), n_features)

    def transform(self, X: Any) -> Any:
        """The features that are kept, of samples that may be others."""
        try:
            return super().transform(X)
        except ValueError:
            check_samples(self, X, reset=False)  # which names the column
            raise

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        mask: Array = self.ranking_ <= self.n_features_
        return mask

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@documented
class DiscriminantFeatureTest(ClassTargets, FeatureTest):
    """Discriminant feature test: keeps the features that separate the classes best, each by itself.

    The range of a feature is cut into `n_bins` bins of equal width. Each boundary between them parts the samples in
    two; the loss of the feature is the least weighted entropy of both sides. This is the test by which a node of
    `SLMClassifier` ranks its features, over all samples.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    losses_ : ndarray of shape (n_features_in_,)
        Loss of each feature, in bits for the entropy; smaller is better. A feature that does not help has the loss of
        all samples together.
    loss_ : float
        Loss of all samples together.
    thresholds_ : ndarray of shape (n_features_in_,)
        The threshold of that loss, in the units of the feature: it parts the samples with x >= threshold from the
        others. NaN where no threshold lowers the loss.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best. Ties go to the lower index, features that do not vary come last.
    n_features_ : int
        Number of features kept.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.

    See Also
    --------
    RelevantFeatureTest : The test for numbers.

    References
    ----------
    Y. Yang, W. Wang, H. Fu and C.-C. J. Kuo, "On supervised feature selection from high dimensional feature spaces",
    2022.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sublearn import DiscriminantFeatureTest
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> test = DiscriminantFeatureTest(n_features_to_select=3).fit(X, y)
    >>> test.get_feature_names_out().tolist()
    ['flavanoids', 'color_intensity', 'od280/od315_of_diluted_wines']
    """

    def __init__(
        self,
        n_features_to_select: Any = ELBOW,
        *,
        criterion: str = "entropy",
        n_bins: int = 16,
        feature_map: str = "auto",
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())


@documented
class RelevantFeatureTest(NumberTargets, FeatureTest):
    """Relevant feature test: keeps the features that tell most about the target, a number, each by itself.

    As `DiscriminantFeatureTest`, with the mean squared error of both sides about their means as the loss. This is the
    test by which a node of `SLMRegressor` ranks its features, over all samples.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    losses_ : ndarray of shape (n_features_in_,)
        Loss of each feature, in squared units of y; smaller is better. A feature that does not help has the variance of
        y.
    loss_ : float
        Loss of all samples together, the variance of y.
    thresholds_ : ndarray of shape (n_features_in_,)
        The threshold of that loss, in the units of the feature: it parts the samples with x >= threshold from the
        others. NaN where no threshold lowers the loss.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best. Ties go to the lower index, features that do not vary come last.
    n_features_ : int
        Number of features kept.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.

    See Also
    --------
    DiscriminantFeatureTest : The test for classes.

    References
    ----------
    Y. Yang, W. Wang, H. Fu and C.-C. J. Kuo, "On supervised feature selection from high dimensional feature spaces",
    2022.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sublearn import RelevantFeatureTest
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> test = RelevantFeatureTest(n_features_to_select=2).fit(X, y)
    >>> test.get_feature_names_out().tolist()
    ['bmi', 's5']
    """

    def __init__(
        self,
        n_features_to_select: Any = ELBOW,
        *,
        n_bins: int = 16,
        feature_map: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())
