"""What the estimators share: threads, random keys, parameters of trees, and the fitted model that each one holds."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from sublearn._base.checking import check_samples
from sublearn._base.cores import n_threads
from sublearn._base.frames import Schema, schema_of
from sublearn._base.intake import Intake
from sublearn._base.parameters import Rule, as_limit, as_rounds, check_parameter, resolve_parameter
from sublearn._files.saving import Saved
from sublearn.core.data.codes import EXACT, FeatureMaps, code_limit
from sublearn.core.data.samples import Coded, Given
from sublearn.core.links import ALONE, Links
from sublearn.core.model.fitted import FittedModel
from sublearn.core.model.flat_ensemble import FlatEnsemble
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree.parameters import DrawingRound, TreeParameters
from sublearn.core.tree.projection import Plan, plan_projections
from sublearn.core.tree.settling import settled
from sublearn.core.tree.task import Task, make_task, nearer, with_targets_of
from sublearn.kernels.layout import Array

SCHEMAS: WeakKeyDictionary[FittedModel, Schema] = WeakKeyDictionary()  # of models, found once
FEW = 8  # samples to predict, for which it takes longer to ask how many threads there are than they would save
SMALLEST_LIMIT = 255  # codes a feature must at least have on each side of its mean


class Training(NamedTuple):
    """What trees grow from, and the coded samples behind it."""

    task: Task
    coded: Coded
    final: Task | None = None  # with the targets of which leaves are the means, where trees grow from other ones

    @property
    def settles(self) -> bool:
        """Whether samples may find another tree than the one that has grown from them."""
        return self.coded.categories is not None or self.final is not None

    def settled(self, tree: FlatTree, workers: Workers, task: Task | None = None) -> FlatTree:
        """The tree as the samples of the task find it by their codes, which may not be those it has grown from."""
        if not self.settles:
            return tree
        task = task or self.task
        if self.final is not None:
            task = with_targets_of(task, self.final)
        return settled(tree, task, self.coded.codes, workers)


def draw_key(state: np.random.RandomState) -> int:
    """64 random bits."""
    high, low = state.randint(0, 2**32, size=2, dtype=np.uint64)
    return int(high) << 32 | int(low)


class SLMEstimator(Intake, BaseEstimator):  # type: ignore[misc]
    """Base of all estimators."""

    _rules: dict[str, Rule] = {}  # noqa: RUF012  parameters whose rule differs from the table's
    _texts: dict[str, str] = {}  # noqa: RUF012  parameters whose text differs from the table's
    _links: Links = ALONE  # to the other partitions of the samples during a fit, where there are any

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _workers(self, n_samples: int | None = None) -> Workers:
        """Threads for so many samples to predict, or for a fit."""
        check_parameter(self, "n_jobs")  # it may have changed since the fit
        n = 1 if n_samples is not None and n_samples <= FEW else n_threads(self.n_jobs)
        return Workers(n, links=self._links)


class SLMPredictor(Saved, SLMEstimator):
    """Base of trees, forests and boosting: each of them holds a fitted model, and its fitted attributes read that."""

    _model: FittedModel

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _known_schema(self) -> Schema:
        """What the columns are: those of the fit that is going on, or those of the model."""
        if "_schema" in vars(self):
            return self._schema
        if self._model not in SCHEMAS:
            SCHEMAS[self._model] = schema_of(self._model.levels, self._model.kinds)
        return SCHEMAS[self._model]

    def _keeps_trees(self) -> bool:
        """Whether a fit goes on from an earlier one."""
        return bool(getattr(self, "warm_start", False)) and self.__sklearn_is_fitted__()

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    @property
    def feature_maps_(self) -> FeatureMaps:
        """The maps from values to integer codes."""
        check_is_fitted(self)
        return self._model.maps

    @property
    def n_partitions_(self) -> int:
        """Number of hyperplanes of all trees."""
        check_is_fitted(self)
        return self._model.n_partitions

    @property
    def n_parameters_(self) -> int:
        """Model size by the paper's formula, `n_partitions_` times (D0 + 1)."""
        check_is_fitted(self)
        return self._model.n_parameters

    def _store_model(self, ensemble: FlatEnsemble, coded: Coded, plan: Plan, **more: Any) -> None:
        """Hold the model that trees and the samples they have grown from make."""
        schema = self._known_schema()
        self._model = FittedModel(
            maps=coded.maps,
            ensemble=ensemble,
            subspace_size=plan.subspace_size,
            classes=coded.classes if coded.classes.size else None,
            feature_names=getattr(self, "feature_names_in_", None),
            levels=schema.all_levels,
            kinds=schema.kinds,
            **more,
        )
        self.__dict__.pop("_schema", None)

    def _key(self) -> int:
        """64 random bits that everything drawn depends on; those of the first partition."""
        key: int = self._links.tell(draw_key(check_random_state(self.random_state)))[0]
        return key

    def _check_samples(self, X: Any, check_input: bool = True) -> Array:
        """Samples to predict."""
        if "_model" not in vars(self):
            check_is_fitted(self)  # which takes longer than a prediction
        if check_input:
            checked: Array = check_samples(self, X, reset=False)
            return checked
        return self._as_they_are(X)

    def _as_they_are(self, X: Any) -> Array:
        """Samples that the user says are right: a look at their form, none at their values."""
        n, owner = self._model.n_features, type(self).__name__
        if any(levels is not None for levels in self._model.levels):
            raise ValueError(f"check_input of {owner} must be True, since it has learned categories; got False.")
        if not (type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.flags.c_contiguous):
            got = f"{X.dtype} of shape {X.shape}" if isinstance(X, np.ndarray) else type(X).__name__
            raise ValueError(
                f"X of {owner} must be a float64 array of shape (n_samples, {n}) in C order where check_input=False; "
                f"got {got}."
            )
        if X.shape[1] != n or not len(X):
            raise ValueError(f"X of {owner} must have {n} features, and samples; got shape {X.shape}.")
        return X

    def _prepare(self, given: Given, workers: Workers, maps: FeatureMaps | None = None) -> Training:
        """What the trees of `given` grow from; maps are given when trees of an earlier fit are kept."""
        parameters = self._tree_parameters(given.n_samples)
        plan = self._plan(parameters, given.X.shape[1])
        coded = self._code(given, workers, maps, code_limit(plan.coefficient_sum))
        task = make_task(coded, parameters, plan)
        drawn = nearer(task, coded)
        return Training(task, coded) if drawn is None else Training(drawn, coded, final=task)

    def _tree_parameters(self, n_samples: int, **fixed: Any) -> TreeParameters:
        """The parameters of trees; `fixed` are those that the estimator does not leave to the user."""
        names = [field.name for field in fields(TreeParameters) if field.name not in ("rounds", *fixed)]
        values = {name: resolve_parameter(self, name, n_samples) for name in names}
        return TreeParameters(rounds=self._drawing_rounds(), **values | fixed)

    def _drawing_rounds(self) -> tuple[DrawingRound, ...]:
        """The rounds of drawing, by parameters that may have one value for each."""
        try:
            rounds = [*as_rounds(self.selection_decay, self.envelope_decay, self.n_coefficients)]
        except ValueError as error:
            raise ValueError(
                f"selection_decay, envelope_decay and n_coefficients of {type(self).__name__} must be single values "
                f"or sequences of one length; got lengths {error}."
            ) from None
        return tuple(DrawingRound(float(beta), float(alpha), as_limit(n)) for beta, alpha, n in rounds)

    def _plan(self, parameters: TreeParameters, n_features: int) -> Plan:
        plan = plan_projections(parameters, n_features)
        if code_limit(plan.coefficient_sum) < SMALLEST_LIMIT:
            raise ValueError(
                f"envelope_height and n_coefficients of {type(self).__name__} must keep the sum of a projection's "
                f"coefficients within {EXACT // SMALLEST_LIMIT}; got up to {plan.coefficient_sum}."
            )
        if plan.n_candidates == 0:
            raise ValueError(
                f"{type(self).__name__} has no candidate projections; set axis_projections=True, or n_projections, "
                "fitted_projections and envelope_height higher."
            )
        return plan


@contextmanager
def unchanged_on_error(estimator: SLMEstimator) -> Iterator[None]:
    """Give the estimator its attributes back if fitting fails."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
