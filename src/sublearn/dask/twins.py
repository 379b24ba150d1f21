"""What makes an estimator of Dask from its local twin: parameters, `fit`, and answers for collections."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from copy import copy
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from distributed import Client, get_client, rejoin, secede
from distributed.threadpoolexecutor import thread_state
from distributed.worker import thread_state as task_state
from sklearn.base import clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

import dask
from sublearn._base.estimator import draw_key
from sublearn._base.parameters import NONE, Rule, check_parameters, documented, either, keep_parameters, one_of
from sublearn.core.boosting.losses import Loss
from sublearn.dask import lazy
from sublearn.dask.blocks import Table, is_collection, local_table, table_of
from sublearn.dask.driver import Job, fit_on_cluster
from sublearn.dask.empty import empty_of
from sublearn.dask.links import Traffic

T = TypeVar("T")
OWN = ("client", "on_lost")  # parameters that the local twin does not have
FURTHER = {
    "client": either(NONE, Rule("a distributed.Client", lambda value: isinstance(value, Client))),
    "on_lost": one_of("restart", "raise"),
}
TEXTS = {
    "client": "The client of the cluster; None: the one that was made last, or that of the task which calls `fit`.",
    "on_lost": "What becomes of a fit when a worker is lost: 'restart' goes on with those that are there, and costs at "
    "most the tree that was growing; 'raise' raises `WorkerLostError`.",
    "n_jobs": "Threads of each worker, at most one for each core that it may use. None: as many as Dask has given it. "
    "The model does not depend on it.",
    "loss": "Training loss, by its name: a loss of yours may look at all samples, and no worker has them.",
    "callbacks": "None: they would be called on a worker, not where you are.",
    "verbose": "Whether each worker shows the progress of a fit, where it writes to.",
}


def constructor_like(local: Any) -> Any:
    """An `__init__` with the parameters of the local twin, and our own."""

    def __init__(self: Any, **given: Any) -> None:  # noqa: N807
        bound = signature.bind(self, **given)
        bound.apply_defaults()
        keep_parameters(self, bound.arguments)

    signature = inspect.signature(local.__init__)
    further = [
        inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None),
        inspect.Parameter("on_lost", inspect.Parameter.KEYWORD_ONLY, default="restart"),
    ]
    signature = signature.replace(parameters=[*signature.parameters.values(), *further])
    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def fit_like(local: Any) -> Any:
    """A `fit` with the arguments of the local twin's."""
    signature = inspect.signature(local.fit)

    def fit(self: Any, X: Any, y: Any, *given: Any, **named: Any) -> Any:
        bound = signature.bind(self, X, y, *given, **named)
        return self._fit_collections({name: value for name, value in bound.arguments.items() if name != "self"})

    fit.__signature__ = signature  # type: ignore[attr-defined]
    fit.__doc__ = FIT
    return fit


FIT = """Fit on the workers of a cluster.

Arguments are those of the local twin, as arrays or data frames of Dask that are partitioned by rows alike. Each worker
takes a stretch of the blocks, once. The model is the one that the local twin fits to all rows, bit for bit.

When a worker is lost, the fit begins anew with those that are there, or ends; see `on_lost`. Finished trees are kept as
long as a worker of the fit is left. Rows come from their graph or file again; rows that were only on the lost worker,
such as scattered ones, are an error. A worker that joins is left out until the fit begins anew or ends.

Returns
-------
self : object
    The fitted estimator. If fitting fails or is interrupted, it stays as it was, and nothing is left on workers.

Raises
------
WorkerLostError
    A worker was lost and `on_lost` is 'raise', no worker is left, workers are lost again and again before a tree is
    finished, or rows or the scheduler are gone.
"""


ATTRIBUTES = """Attributes
    ----------
    traffic_ : list of Traffic
        For each partition: in how many exchanges it took part, how many messages it sent, and their bytes.
    n_lost_ : int
        How many times the fit has begun anew since a worker was lost."""


def documented_twin(estimator: type[T]) -> type[T]:
    """Class decorator: fill {attributes} of the docstring, and {parameters} from the table."""
    if estimator.__doc__ is not None:  # it is with python -OO
        estimator.__doc__ = estimator.__doc__.replace("{attributes}", ATTRIBUTES)
    return documented(estimator)


class OnDask:
    """Base of the estimators of Dask, before their local twin."""

    local_class: ClassVar[type]
    traffic_: list[Traffic]
    n_lost_: int
    _found: tuple[str, ...] = ()  # names of what the last fit has found

    def __sklearn_clone__(self) -> Any:
        """An unfitted one with the same parameters, and the same client, of which there is no copy."""
        twin: Any = super(OnDask, copy(self)).__sklearn_clone__()  # type: ignore[misc]
        twin.client = vars(self)["client"]
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {**state, "client": None}  # it is of this process

    def to_local(self) -> Any:
        """The ordinary estimator, fitted if this one is."""
        own: Any = self
        local = self.local_class(**_copied(own.get_params(deep=False)))
        vars(local).update(self._fitted())
        return local

    def save(self, path: Any) -> None:
        """Write the fitted model to a file, as the local twin does."""
        check_is_fitted(self)
        self.to_local().save(path)

    def predict(self, X: Any, *given: Any, **named: Any) -> Any:
        """Class or number for each sample; of a collection, a lazy one."""
        return self._answer("predict", X, *given, **named)

    def apply(self, X: Any) -> Any:
        """Node in which the route of each sample ends, in each tree; of a collection, a lazy one."""
        return self._answer("apply", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R^2, of the predictions."""
        return self._score_of(self.predict(X), y, sample_weight)

    def _score_of(self, answers: Any, y: Any, sample_weight: Any) -> float:
        """Accuracy, or R^2, of answers, which are computed where they are lazy."""
        client: Any = vars(self)["client"]
        with client.as_current() if client else nullcontext():
            given = dask.compute(y, answers, sample_weight)
        y, answers, weights = (None if one is None else np.asarray(one) for one in given)
        measure = accuracy_score if hasattr(self, "classes_") else r2_score
        return float(measure(y, answers, sample_weight=weights))

    def _answer(self, method: str, X: Any, *given: Any, **named: Any) -> Any:
        check_is_fitted(self)
        if not is_collection(X):
            return getattr(super(), method)(X, *given, **named)
        return lazy.answers(self.to_local(), method, X, *given, **named)

    def _fitted(self) -> dict[str, Any]:
        """Attributes that the last fit has found."""
        return {name: vars(self)[name] for name in self._found}

    def _fit_collections(self, given: dict[str, Any]) -> Self:
        own: Any = self
        check_parameters(self)
        self._check_allowed()
        parameters = _copied(own.get_params(deep=False))
        fitted = self._fitted() if parameters.get("warm_start") else {}
        tables, empty = self._tables(given)
        client = self._client()
        if not fitted:
            parameters["random_state"] = _state_of(own.random_state)
        job = Job(
            owner=type(self).__name__,
            local=self.local_class,
            parameters=parameters,
            fitted=fitted,
            tables=tables,
            empty=empty,
        )
        with client.as_current(), _aside():  # a client that need not be the one that was made last
            result = fit_on_cluster(job, client, own.on_lost)
        traffic = [outcome.traffic for outcome in result.outcomes]
        self._note(result.outcomes[0].fitted or {}, n_lost_=result.n_losses, traffic_=traffic)
        return self

    def _note(self, found: dict[str, Any], **further: Any) -> None:
        """Note what a fit has found in the place of what the last one had."""
        kept = {name: value for name, value in vars(self).items() if name not in self._found}
        self.__dict__ = kept | found | further | {"_found": tuple(found)}  # at once: an interrupt comes before or after

    def _tables(self, given: dict[str, Any]) -> tuple[dict[str, Table], dict[str, Any]]:
        """What is given to `fit` in blocks, and tables of the same types without rows."""
        owner = type(self).__name__
        others = {name.removeprefix("eval_"): given.pop(name, None) for name in ("eval_sample_weight", "eval_exposure")}
        pair = given.pop("eval_set", None)
        tables, empty = {"fit": table_of(owner, given)}, {"fit": empty_of(given)}
        if pair is None:
            if any(values is not None for values in others.values()):
                raise ValueError(f"eval_set of {owner}.fit must be given with eval_sample_weight or eval_exposure.")
            return tables, empty
        pair = pair[0] if isinstance(pair, list) and len(pair) == 1 else pair
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"eval_set of {owner}.fit must be one pair (X, y); got {type(pair).__name__}.")
        validating = {"X": pair[0], "y": pair[1], **others}
        validating = {name: np.asarray(one) if isinstance(one, list) else one for name, one in validating.items()}
        is_lazy = any(map(is_collection, validating.values()))
        tables["eval_set"] = table_of(owner, validating, "eval_") if is_lazy else local_table(validating)
        empty["eval_set"] = empty_of(validating)
        return tables, empty

    def _check_allowed(self) -> None:
        """Raise ValueError for parameters that make no sense on a cluster."""
        owner, own = type(self).__name__, vars(self)
        if own.get("callbacks") is not None:
            raise ValueError(f"callbacks of {owner} must be None: they would be called on a worker, not here.")
        if isinstance(own.get("loss"), Loss):
            raise ValueError(
                f"loss of {owner} must be one of sublearn's own: one of yours may look at all samples, and no worker "
                "has them."
            )

    def _client(self) -> Any:
        client: Any = vars(self)["client"]
        try:
            client = client or get_client()
        except ValueError:
            raise ValueError(
                f"client of {type(self).__name__} must be given where there is none yet; make a distributed.Client."
            ) from None
        if client.asynchronous:
            raise ValueError(f"client of {type(self).__name__} must not be asynchronous.")
        if client.status in ("closing", "closed"):
            raise ValueError(f"client of {type(self).__name__} must be connected; got one that is closed.")
        return client


class ClassesOnDask(OnDask):
    """The same for estimators of classes."""

    def predict_proba(self, X: Any, **named: Any) -> Any:
        """Probability of each class, in the order of `classes_`; of a collection, a lazy one."""
        return self._answer("predict_proba", X, **named)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of the probability of each class; of a collection, a lazy one."""
        return self._answer("predict_log_proba", X)


@contextmanager
def _aside() -> Iterator[None]:
    """Leave the thread of a task that fits to the tasks of the fit, for which there might be none otherwise."""
    if not (hasattr(task_state, "key") and getattr(thread_state, "proceed", False)):  # no task, or it has left already
        yield
        return
    secede()
    try:
        yield
    finally:
        rejoin()


def _copied(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the local twin."""
    return {name: clone(value, safe=False) for name, value in parameters.items() if name not in OWN}


def _state_of(given: Any) -> Any:
    """A `random_state` for all runs of a fit; a generator, or NumPy's own for None, is left as after a local fit."""
    if not (given is None or isinstance(given, np.random.RandomState)):
        return given
    state = check_random_state(given)
    own = np.random.RandomState()
    own.set_state(state.get_state())
    draw_key(state)
    return own
