"""What is learned: classes or numbers. Checks y, and turns it into what trees and boosting learn from."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from sublearn._base.checking import check_samples, check_target, for_numbers, refuse_gaps
from sublearn._base.parameters import number, one_of
from sublearn.core.data.fixed_point import Weights
from sublearn.core.data.samples import NOTHING, Given, drop_weightless
from sublearn.core.links import ALONE, Links
from sublearn.kernels.layout import Array

MANY = 10_000  # samples from which on it pays to look whether classes are whole numbers close together
CLOSE = 1_000  # the range of such numbers


class ClassTargets:
    """Learning from classes: checks them, and finds their positions and weights."""

    class_weight: Any
    _check_heaviest: Any  # that of Intake
    _links: Links  # those of SLMEstimator

    def _check_data(self, X: Any, y: Any, reset: bool = True) -> tuple[Array, Array]:
        """X and y, checked; of y, that it holds classes."""
        X, y = check_samples(self, X, y, reset=reset)
        with self._links.all_well():
            if reset:
                self._check_labels(y)
            elif y.dtype == np.object_:  # classes are looked up among those of the fit, which are checked
                refuse_gaps(y, type(self).__name__)
        if reset:
            refuse_mixed_classes(y, self._links, type(self).__name__)
        return X, y

    def _check_labels(self, y: Array) -> None:
        """Raise ValueError if y, of which a partition may have none, does not hold classes."""
        name = type(self).__name__
        if are_close_together(y):  # classes for sure, and scikit-learn would sort them
            return
        try:
            kind = type_of_target(y, input_name="y")
        except TypeError as error:  # they cannot be sorted
            refuse_gaps(y, name)
            raise ValueError(f"y of {name}.fit must hold classes of one kind, such as all strings: {error}.") from None
        if kind not in ("binary", "multiclass"):
            refuse_gaps(y, name)
            hint = ""
            if kind == "continuous":
                hint = f" y holds {len(np.unique(y))} distinct floats; did you mean {for_numbers(name)}?"
            raise ValueError(f"Unknown label type: {kind}. y of {name}.fit must hold one class for each sample.{hint}")

    def _encode_targets(self, given: Given) -> Given:
        """Training samples of positive weight, with the positions of their classes and the weights of these.

        Samples of a class of weight 0 are still there: the maps of trees are fitted to them too.
        """
        given = drop_weightless(given)
        classes, labels = labels_of(given.y, self._links)
        factors = self._class_factors(classes, labels, given.weights)
        return given._replace(y=labels, classes=classes, factors=NOTHING if (factors == 1.0).all() else factors)

    def _encode_like(self, given: Given, training: Given) -> Given:
        """Validation samples of positive weight, with the positions of their classes among those of the training."""
        given = drop_weightless(given)
        name, classes = type(self).__name__, training.classes
        with self._links.all_well():
            self._refuse_unknown(given.y, classes)
        labels = np.searchsorted(classes, given.y)
        if training.factors.size and not self._links.some(training.factors[labels].any()):
            raise ValueError(f"eval_set of {name}.fit must hold a class whose class_weight is not 0.")
        return given._replace(y=labels, classes=classes, factors=training.factors)

    def _refuse_unknown(self, y: Array, classes: Array) -> None:
        """Raise ValueError if samples to validate on are of classes that those to learn from have not."""
        try:
            unknown = np.setdiff1d(y, classes).tolist()
        except TypeError:  # they cannot be sorted
            unknown = sorted(set(y.tolist()) - set(classes.tolist()), key=str)
        if unknown:
            raise ValueError(f"eval_set of {type(self).__name__}.fit must hold classes of y only; got {unknown} too.")

    def _class_factors(self, classes: Array, labels: Array, weights: Weights) -> Array:
        """Class weights as an array (n_classes,)."""
        given: Any = self.class_weight
        if given is None:
            return np.ones(len(classes))
        if given == "balanced":
            own = np.bincount(labels, weights.weights if weights.weights.size else None, len(classes))
            totals = self._links.add(own.astype(np.int64))  # floats are exact, too
            balanced: Array = totals.sum() / (len(classes) * totals)
            return balanced
        labels_of_y = classes.tolist()
        unknown = [key for key in given if key not in labels_of_y]
        if unknown and not all(c in given for c in labels_of_y):  # a fold may lack classes, a typing error leaves one
            found = ", ".join(map(repr, unknown))
            raise ValueError(f"class_weight of {type(self).__name__} must have classes of y as keys; got {found}.")
        factors = [given.get(c, 1.0) for c in labels_of_y]
        if not all(number(0.0).accepts(factor) for factor in factors) or not any(factors):
            allowed = "finite weights of at least 0 that are not all 0"
            raise ValueError(f"class_weight of {type(self).__name__} must have {allowed}; got {given!r}.")
        weights_of_classes = np.array(factors, np.float64)
        self._check_heaviest("class_weight", float(weights_of_classes.max()))
        return weights_of_classes


class ClassifierPart(ClassTargets, ClassifierMixin):  # type: ignore[misc]
    """What makes an estimator a classifier: classes to learn, and the class of largest probability."""

    @property
    def classes_(self) -> Array:
        """The classes, sorted."""
        check_is_fitted(self)
        classes: Array = self._model.classes
        return classes

    def predict(self, X: Any, *, check_input: bool = True) -> Array:
        """Class of each sample: the one of largest probability, the first of several.

        With `check_input=False`, X is taken as it is: a float64 array in C order. For single samples most time goes
        into checks otherwise.
        """
        return self._classes_of(self.predict_proba(X, check_input=check_input))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of the probability of each class."""
        with np.errstate(divide="ignore"):
            logarithms: Array = np.log(self.predict_proba(X))
        return logarithms

    def _classes_of(self, probabilities: Array) -> Array:
        predicted: Array = self._model.classes[probabilities.argmax(axis=1)]
        return predicted


class NumberTargets:
    """Learning from numbers: checks them."""

    _rules = {"criterion": one_of("squared_error")}  # noqa: RUF012
    _links: Links  # those of SLMEstimator

    def _check_data(self, X: Any, y: Any, reset: bool = True) -> tuple[Array, Array]:
        """X and y, checked; y as finite floats."""
        X, y = check_samples(self, X, y, reset=reset)
        with self._links.all_well():
            y = check_target(y, type(self).__name__)
        return X, y

    def _encode_targets(self, given: Given) -> Given:
        """Training samples of positive weight."""
        return drop_weightless(given)

    def _encode_like(self, given: Given, training: Given) -> Given:
        """Validation samples of positive weight."""
        return drop_weightless(given)


class RegressorPart(NumberTargets, RegressorMixin):  # type: ignore[misc]
    """What makes an estimator a regressor: numbers to learn."""


def labels_of(y: Array, links: Links = ALONE) -> tuple[Array, Array]:
    """The classes of all partitions in order, and the place of each sample's, for which `return_inverse` would sort."""
    if not are_close_together(y):
        classes = _classes_of_all(np.unique(y), links)
        return classes, np.searchsorted(classes, y)
    low = y.min()
    above = (y - low).astype(np.intp, copy=False)
    there = np.flatnonzero(np.bincount(above))
    own = there.astype(y.dtype) + low
    classes = _classes_of_all(own, links)
    places = np.zeros(there[-1] + 1, np.intp)
    places[there] = np.searchsorted(classes, own)
    return classes, places[above]


def _classes_of_all(own: Array, links: Links) -> Array:
    """The classes of all partitions in order, by those of each."""
    if links.n_partitions == 1:
        return own
    return np.unique(np.concatenate([told for told in links.tell(own) if told.size]))


def are_close_together(y: Array) -> bool:
    """Whether y is many whole numbers of a small range, so that a table of the range tells the place of each."""
    if y.ndim != 1 or y.dtype.kind not in "iu" or len(y) < MANY or y.dtype.itemsize < 4:
        return False
    return int(y.max()) - int(y.min()) < CLOSE


def refuse_mixed_classes(y: Array, links: Links, owner: str) -> None:
    """Raise ValueError where classes are text in one partition and numbers in another."""
    if links.n_partitions == 1:
        return
    told = links.tell((y.dtype.kind in "biuf", y[:1].tolist()))
    said = [(place, is_number, some[0]) for place, (is_number, some) in enumerate(told) if some]
    at, first, before = said[0]
    for place, is_number, now in said:
        if is_number != first:
            raise ValueError(
                f"In {links.name_of(place)}: y of {owner}.fit must hold classes of one kind, such as all strings; got "
                f"{now!r} here, and {before!r} in {links.name_of(at)}."
            )
