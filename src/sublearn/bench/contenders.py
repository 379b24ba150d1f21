"""Who is timed: our estimators and their peers, all with their defaults but for trees, threads and seed, and `FAST`.

Peers are imported when they are made, and not before: each is part of the extra `bench` and may be missing.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

import sublearn
from sublearn.kernels.layout import Array

SEED = 0
OURS = "sublearn"
MODULES = {  # of each library, what is imported
    OURS: "sublearn",
    "scikit-learn": "sklearn",
    "xgboost": "xgboost",
    "lightgbm": "lightgbm",
    "catboost": "catboost",
    "ydf": "ydf",
}
PEERS = tuple(name for name in MODULES if name != OURS)
KINDS = ("tree", "forest", "boost")


class Job(NamedTuple):
    """What an estimator is made for."""

    is_classes: bool
    n_trees: int  # of one tree, ignored
    threads: int
    options: Mapping[str, Any] = MappingProxyType({})  # further parameters, of ours


class Contender(NamedTuple):
    """An estimator to be timed."""

    title: str
    library: str
    kind: str  # one of KINDS
    make: Callable[[Job], Any]  # something with fit, and predict or predict_proba
    staged: Callable[[Any, Array, bool], Iterator[Array]] | None = None  # predictions after each round


def missing(library: str) -> bool:
    """Whether a library is not installed."""
    return find_spec(MODULES[library]) is None


def chosen(libraries: tuple[str, ...], kind: str) -> dict[str, Contender]:
    """Contenders of a kind: ours first, then those of the libraries."""
    return {name: c for name, c in CONTENDERS.items() if c.kind == kind and c.library in (OURS, *libraries)}


def ours(kind: str) -> str:
    """The name of our contender of a kind."""
    return next(name for name, c in CONTENDERS.items() if c.kind == kind and c.library == OURS)


def fitted(contender: Contender, job: Job, X: Array, y: Array) -> Any:
    """A new model of a contender, fitted."""
    return contender.make(job).fit(X, y)


def predictions(model: Any, X: Array, is_classes: bool) -> Array:
    """Probabilities of the classes, or numbers."""
    return np.asarray(model.predict_proba(X) if is_classes else model.predict(X))


# Boosting with as many rounds as the peers have, where the defaults would first try how far to learn, and then take
# five times the rounds at a lower rate.
FAST: Mapping[str, Any] = MappingProxyType(
    {
        "learning_rate": 0.25,
        "max_depth": 7,
        "l2_regularization": 5.0,
        "min_child_weight": 2.0,
        "min_gain": 2.0,
        "n_coefficients": 2,
        "n_projections": 3,
        "racing_samples": 1024,
    }
)


def _slm(kind: str, settings: Mapping[str, Any] = MappingProxyType({})) -> Callable[[Job], Any]:
    def make(job: Job) -> Any:
        estimator = getattr(sublearn, f"SLM{kind}{'Classifier' if job.is_classes else 'Regressor'}")
        trees = {"n_estimators": job.n_trees} if kind else {}
        return estimator(**{**trees, **settings, **job.options}, n_jobs=job.threads, random_state=SEED)

    return make


def _scikit_learn_tree(job: Job) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    return (DecisionTreeClassifier if job.is_classes else DecisionTreeRegressor)(random_state=SEED)


def _random_forest(job: Job) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    estimator = RandomForestClassifier if job.is_classes else RandomForestRegressor
    return estimator(job.n_trees, n_jobs=job.threads, random_state=SEED)


def _hist_boosting(job: Job) -> Any:
    """Scikit-learn's boosting; its threads are those of OpenMP, which the run limits."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    estimator = HistGradientBoostingClassifier if job.is_classes else HistGradientBoostingRegressor
    return estimator(max_iter=job.n_trees, early_stopping=False, random_state=SEED)  # all have as many rounds


def _of_library(library: str, prefix: str, job: Job, **options: Any) -> Any:
    estimator = getattr(import_module(library), f"{prefix}{'Classifier' if job.is_classes else 'Regressor'}")
    return estimator(n_estimators=job.n_trees, random_state=SEED, **options)


def _xgboost(job: Job) -> Any:
    return _of_library("xgboost", "XGB", job, n_jobs=job.threads)


def _lightgbm(job: Job) -> Any:
    return _of_library("lightgbm", "LGBM", job, n_jobs=job.threads, verbosity=-1)


def _catboost(job: Job) -> Any:
    return _of_library("catboost", "CatBoost", job, thread_count=job.threads, verbose=0, allow_writing_files=False)


class _Ydf:
    """YDF's oblique trees with the methods of an estimator."""

    def __init__(self, learner: str, job: Job, **options: Any) -> None:
        self._learner, self._job, self._options = learner, job, options

    def fit(self, X: Array, y: Array) -> "_Ydf":
        """Train on a table of columns."""
        import ydf

        ydf.verbose(0)
        learner = getattr(ydf, self._learner)(
            label="target",
            task=ydf.Task.CLASSIFICATION if self._job.is_classes else ydf.Task.REGRESSION,
            num_trees=self._job.n_trees,
            split_axis="SPARSE_OBLIQUE",
            num_threads=self._job.threads,
            random_seed=SEED,
            **self._options,
        )
        self._model = learner.train({**_columns(X), "target": y})
        return self

    def predict(self, X: Array) -> Array:
        """What YDF predicts: numbers, or probabilities of classes."""
        return np.asarray(self._model.predict(_columns(X)))

    def predict_proba(self, X: Array) -> Array:
        """Probabilities in the order of the classes, which YDF has as text."""
        given = self.predict(X)
        both = np.column_stack([1.0 - given, given]) if given.ndim == 1 else given
        return both[:, np.argsort([int(name) for name in self._model.label_classes()])]


def _columns(X: Array) -> dict[str, Array]:
    return {f"x{d}": np.ascontiguousarray(X[:, d]) for d in range(X.shape[1])}


def _ydf_forest(job: Job) -> Any:
    return _Ydf("RandomForestLearner", job, compute_oob_performances=False)


def _ydf_boost(job: Job) -> Any:
    return _Ydf("GradientBoostedTreesLearner", job, validation_ratio=0.0, early_stopping="NONE")


def _staged(model: Any, X: Array, is_classes: bool) -> Iterator[Array]:
    """Predictions after each round, of a model whose methods have scikit-learn's names."""
    yield from (model.staged_predict_proba if is_classes else model.staged_predict)(X)


def _staged_xgboost(model: Any, X: Array, is_classes: bool) -> Iterator[Array]:
    predict = model.predict_proba if is_classes else model.predict
    for n in range(1, model.n_estimators + 1):
        yield predict(X, iteration_range=(0, n))


def _staged_lightgbm(model: Any, X: Array, is_classes: bool) -> Iterator[Array]:
    """For numbers or two classes; round by round, since LightGBM would begin anew with each number of rounds."""
    raw = np.zeros(len(X))
    for n in range(model.n_estimators):
        raw += model.booster_.predict(X, start_iteration=n, num_iteration=1, raw_score=True)
        yield np.column_stack([expit(-raw), expit(raw)]) if is_classes else raw.copy()


def _staged_catboost(model: Any, X: Array, is_classes: bool) -> Iterator[Array]:
    options = {"prediction_type": "Probability"} if is_classes else {}
    yield from model.staged_predict(X, **options)


CONTENDERS: dict[str, Contender] = {
    "slm-tree": Contender("SLM", OURS, "tree", _slm("")),
    "slm-forest": Contender("SLM Forest", OURS, "forest", _slm("Forest")),
    "slm-boost": Contender("SLM Boost", OURS, "boost", _slm("Boost", FAST), _staged),
    "decision-tree": Contender("decision tree", "scikit-learn", "tree", _scikit_learn_tree),
    "random-forest": Contender("random forest", "scikit-learn", "forest", _random_forest),
    "hist-boosting": Contender("HistGradientBoosting", "scikit-learn", "boost", _hist_boosting, _staged),
    "xgboost": Contender("XGBoost", "xgboost", "boost", _xgboost, _staged_xgboost),
    "lightgbm": Contender("LightGBM", "lightgbm", "boost", _lightgbm, _staged_lightgbm),
    "catboost": Contender("CatBoost", "catboost", "boost", _catboost, _staged_catboost),
    "ydf-forest": Contender("YDF oblique forest", "ydf", "forest", _ydf_forest),
    "ydf-boost": Contender("YDF oblique boosting", "ydf", "boost", _ydf_boost),
}
