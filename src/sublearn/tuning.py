"""Better settings than the defaults, for those who have the time: a search with Optuna that ends when it should."""

import math
import time
from collections.abc import Callable
from inspect import signature
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import _check_sample_weight

from sublearn._base.averaging import (
    MOST_PICKS,
    Average,
    Candidate,
    ClassAnswers,
    NumberAnswers,
    OtherSamplesError,
    Pool,
    choose_average,
)
from sublearn._base.boosting import SLMBoost
from sublearn._base.ensemble import SLMEnsemble
from sublearn._base.estimator import SLMEstimator
from sublearn._base.frames import take_rows
from sublearn._base.parameters import check_parameters
from sublearn._base.progress import shown
from sublearn._base.spaces import SPACES, Choice, Number, Space, Whole, check_space
from sublearn._base.targets import labels_of
from sublearn.average import SLMAverageClassifier, SLMAverageRegressor
from sublearn.core.boosting.losses import has_own_leaves
from sublearn.kernels.layout import Array

__all__ = ["SPACES", "Choice", "Number", "Space", "Tuning", "Whole", "tune"]

N_FOLDS = 5
MANY = 10_000  # samples; from here on one part in five tests, and what looks bad on a part of the rest is dropped
FIRST_SHARE = 0.2
FIRST_SETTINGS = 8  # drawn at random, before anything is learned from them
LEAST = 1e-15  # probability that counts
RESERVE = 1.3  # a fit may take so much longer than those before it
FITTING, CHOOSING = 0.25, 0.1  # shares of the budget that the members of an average, and their choice, may take


class Tuning(NamedTuple):
    """What a search has found; scores are means over test parts, more is better."""

    parameters: dict[str, Any]  # the best ones: those that differ from the estimator given
    score: float  # of the best ones
    default_score: float  # of the estimator given
    n_settings: int  # tried, those dropped early included
    n_dropped: int
    seconds: float
    members: tuple[dict[str, Any], ...] = ()  # of an average: the parameters of each
    weights: tuple[float, ...] = ()  # of the members
    ensemble_score: float | None = None  # of the average


class _Moment(NamedTuple):
    """How far a search is."""

    seconds: float
    budget: float
    n_settings: int
    score: float

    @property
    def done(self) -> float:
        return min(self.seconds, self.budget)

    @property
    def total(self) -> float:
        return self.budget

    def __str__(self) -> str:
        return f"{self.n_settings} settings, best score {self.score:.6g}, {self.seconds:.0f} of {self.budget:.0f} s"


def tune(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    budget: float = 60.0,
    scoring: Any = None,
    space: Space | None = None,
    ensemble: bool = False,
    verbose: bool = True,
) -> Any:
    """Search settings of an estimator for so many seconds, and fit the best of them to all samples.

    The estimator's own settings are tried first, so that the result is no worse than they are, as far as the test
    parts can tell. Parameters that differ from the defaults are kept as they are; what is "auto" is searched. Needs
    Optuna: ``pip install 'sublearn[tune]'``.

    Parameters
    ----------
    estimator : SLM estimator
        Where to begin; it is not changed. Its random_state makes the search repeatable, up to how many settings
        there is time for.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Classes or numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, for fitting and for scoring.
    budget : float, default=60
        Seconds for everything, the last fits included. One try of the estimator as it is, and the fit of the best, are
        made even if they take longer.
    scoring : str or callable, default=None
        As in scikit-learn; None: minus the log loss of classes, minus the root mean squared error of numbers.
    space : dict, default=None
        From names of parameters to `Whole`, `Number` or `Choice` of `sublearn.tuning`; None: that of `SPACES`.
    ensemble : bool, default=False
        Whether to average several settings. The average is chosen by what they predict for the test parts: from the
        best on, the one that makes the best average is added, again and again. It has at most eight members, and
        fewer where there is no time to fit so many. `scoring` judges averages too, by their predictions alone: a
        scorer that asks for anything else of a model is refused.
    verbose : bool, default=True
        Whether to show how far the search is.

    Returns
    -------
    estimator : SLM estimator
        A fitted one; with ``ensemble=True`` an `SLMAverageClassifier` or `SLMAverageRegressor`. Its attribute
        `tuning_`, a `Tuning`, says what was found.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sublearn import SLMBoostClassifier, tune
    >>> X, y = load_wine(return_X_y=True)
    >>> model = tune(SLMBoostClassifier(random_state=0), X, y, budget=5, verbose=False)  # doctest: +SKIP
    """
    begin = time.monotonic()
    if not isinstance(estimator, SLMEstimator):
        raise TypeError(f"estimator of tune must be an SLM estimator; got {type(estimator).__name__}.")
    if isinstance(budget, bool) or not (isinstance(budget, Real) and math.isfinite(budget) and budget > 0):
        raise ValueError(f"budget of tune must be a positive number of seconds; got {budget!r}.")
    seconds = float(budget)
    check_parameters(estimator)
    if space is not None:
        check_space(estimator, space)
    space = _open(estimator, _usual_space(estimator) if space is None else space)
    if scoring is None and is_classifier(estimator):
        scorer = _minus_log_loss
    else:
        scorer = check_scoring(estimator, scoring or "neg_root_mean_squared_error")
    if sample_weight is not None and not _takes_weights(scorer):
        raise ValueError("scoring of tune must take sample_weight where it is given, as scikit-learn's scorers do.")
    search = _Search(estimator, X, y, sample_weight, scorer, begin + seconds, keeps=ensemble)
    with shown(verbose) as show:
        found = search.run(space, lambda n, score: show(_Moment(time.monotonic() - begin, seconds, n, score)))
    weighing = {} if sample_weight is None else {"sample_weight": sample_weight}

    def with_settings(settings: dict[str, Any]) -> Any:
        return clone(estimator).set_params(**settings)

    if ensemble:
        chosen, fitted = search.average(lambda settings: with_settings(settings).fit(X, y, **weighing))
        members = tuple(member.settings for member in chosen.members)
        make = SLMAverageClassifier if is_classifier(estimator) else SLMAverageRegressor
        model = make([with_settings(settings) for settings in members], chosen.weights)._hold(fitted)
        found = found._replace(members=members, weights=tuple(chosen.weights), ensemble_score=chosen.score)
    else:
        model = with_settings(found.parameters).fit(X, y, **weighing)
    model.tuning_ = found._replace(seconds=time.monotonic() - begin)
    return model


def _minus_log_loss(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Minus the mean log loss, where test and training part need not have the same classes."""
    columns = np.searchsorted(model.classes_, y) % len(model.classes_)
    given = model.predict_proba(X)[np.arange(len(columns)), columns]
    known = model.classes_[columns] == y
    return float(np.average(np.log(np.where(known, np.maximum(given, LEAST), LEAST)), weights=sample_weight))


def _takes_weights(scorer: Any) -> bool:
    try:
        parameters = signature(scorer).parameters.values()
    except ValueError:  # written in C; it will tell
        return True
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)


def _is_left_to_us(given: Any, default: Any) -> bool:
    """Whether a parameter is "auto" or has its default, which an array never is."""
    return not isinstance(given, np.ndarray) and bool(given == default or given == "auto")


def _kind(estimator: Any) -> str:
    return "boost" if isinstance(estimator, SLMBoost) else "forest" if isinstance(estimator, SLMEnsemble) else "tree"


def _usual_space(estimator: Any) -> Space:
    """The space of an estimator's kind, without what its loss does not take."""
    space = SPACES[_kind(estimator)]
    if isinstance(estimator, SLMBoost) and has_own_leaves(estimator._make_loss(2)):
        return {name: values for name, values in space.items() if name != "leaf"}
    return space


def _open(estimator: Any, space: Space) -> Space:
    """The part of the space that the user has left to us."""
    defaults, given = type(estimator)().get_params(), estimator.get_params()
    free = {name: values for name, values in space.items() if _is_left_to_us(given[name], defaults[name])}
    if not free:
        raise ValueError(f"space of tune must leave something to search; all of {', '.join(space)} are given.")
    return free


class _Stage(NamedTuple):
    """A fit and the samples that test it."""

    training: Array
    testing: Array


class _Search:
    """Tries settings until there is no time for another."""

    def __init__(
        self, estimator: Any, X: Any, y: Any, weights: Any, scorer: Any, end: float, keeps: bool = False
    ) -> None:
        self._estimator, self._scorer, self._end = estimator, scorer, end
        self._budget = end - time.monotonic()
        clone(estimator)._check_data(X, y)
        self._X = X
        self._y = column_or_1d(y)
        self._weights: Array | None = None
        if weights is not None:
            self._drop_absent(weights)
        self._n = len(self._y)
        self._seed = int(check_random_state(estimator.random_state).randint(2**31))
        self._stages = self._make_stages()
        self._rate = 0.0  # seconds a sample and fit of the latest settings
        self._best_rate = 0.0  # seconds a sample and fit of the best settings
        self._pool = Pool() if keeps else None  # settings that may be averaged
        self._answers: list[Array] = []  # of the latest settings, for each test part
        self._scoring = 0.0  # seconds of the latest score of a test part

    def _drop_absent(self, weights: Any) -> None:
        """Leave out rows of weight 0 before samples are divided: no part may depend on them, nor hold them alone."""
        self._estimator._check_weights(weights, self._X)
        checked = _check_sample_weight(weights, self._X)
        rows = np.flatnonzero(checked)
        self._X, self._y, self._weights = self._take(rows), self._y[rows], checked[rows]

    def _make_stages(self) -> list[_Stage]:
        """Divide the samples; rare classes are in every part to learn from, and in none that tests."""
        by_class = is_classifier(self._estimator)
        kinds = labels_of(self._y)[1] if by_class else np.zeros(self._n, np.int64)
        is_rare = np.bincount(kinds)[kinds] < N_FOLDS
        rare, rows = np.flatnonzero(is_rare), np.flatnonzero(~is_rare)
        if not len(rows):
            what = "a class of at least" if by_class else "at least"
            weighing = "" if self._weights is None else " whose sample_weight is above 0"
            raise ValueError(
                f"y of tune must have {what} {N_FOLDS} samples{weighing}, to learn from some and test on others."
            )
        folds = StratifiedKFold if by_class else KFold
        pairs = folds(N_FOLDS, shuffle=True, random_state=self._seed).split(rows, self._y[rows])
        parts = [_Stage(np.union1d(rows[training], rare), rows[testing]) for training, testing in pairs]
        if self._n < MANY:
            return parts
        training, testing = parts[0]
        mixed = np.random.RandomState(self._seed).permutation(training)
        alike = [mixed[kinds[mixed] == kind] for kind in np.unique(kinds)]
        few = [rows[: math.ceil(FIRST_SHARE * len(rows))] for rows in alike]
        return [_Stage(np.sort(np.concatenate(few)), testing), parts[0]]

    def run(self, space: Space, show: Any) -> Tuning:
        """Settings one after another; the estimator's own are the first."""
        try:
            import optuna
        except ImportError:
            raise ImportError("sublearn.tune needs Optuna: pip install 'sublearn[tune]'") from None
        before = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        try:
            study = optuna.create_study(
                direction="maximize",
                sampler=optuna.samplers.TPESampler(seed=self._seed % 2**32, n_startup_trials=FIRST_SETTINGS),
                pruner=optuna.pruners.MedianPruner(n_startup_trials=FIRST_SETTINGS),
            )
            return self._tried(study, optuna, space, show)
        finally:
            optuna.logging.set_verbosity(before)

    def _tried(self, study: Any, optuna: Any, space: Space, show: Any) -> Tuning:
        default = self._mean([self._score({}, stage) for stage in self._stages])
        if math.isnan(default):
            raise ValueError("scoring of tune must give numbers; got NaN of the estimator as it is.")
        self._best_rate = self._rate
        self._keep({}, default)
        best, found, n_settings, n_dropped = default, dict[str, Any](), 1, 0

        def so_far() -> Tuning:
            return Tuning(
                parameters=found,
                score=best,
                default_score=default,
                n_settings=n_settings,
                n_dropped=n_dropped,
                seconds=0.0,
            )

        show(n_settings, best)
        while self._time_for(self._stages[0]):
            trial = study.ask()
            settings = {name: values.suggest(trial, name) for name, values in space.items()}
            scores: list[float] = []
            dropped = False
            self._answers = []
            for stage in self._stages:
                if not self._time_for(stage):
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                    return so_far()
                scores.append(self._score(settings, stage))
                trial.report(self._mean(scores), len(scores))
                if len(scores) < len(self._stages) and trial.should_prune():
                    dropped = True
                    break
            n_settings, n_dropped = n_settings + 1, n_dropped + dropped
            if dropped:
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            else:
                score = self._mean(scores)
                study.tell(trial, score)
                self._keep(settings, score)
                if score > best:
                    best, found, self._best_rate = score, settings, self._rate
            show(n_settings, best)
        return so_far()

    def _mean(self, scores: list[float]) -> float:
        """Mean score of folds, or the score of the last stage where stages grow."""
        return float(np.mean(scores)) if self._n < MANY else scores[-1]

    def _time_for(self, stage: _Stage) -> bool:
        """Whether a fit of this stage and the last ones of all would end in time."""
        last = self._best_rate * self._n
        if self._pool is not None:
            last = self._pool.seconds(FITTING * self._budget) + self._seconds_of_choice()
        needed = self._rate * len(stage.training) + last
        return bool(time.monotonic() + RESERVE * needed < self._end)

    def _score(self, settings: dict[str, Any], stage: _Stage) -> float:
        begin = time.monotonic()
        model = clone(self._estimator).set_params(**settings)
        training, testing = stage
        model.fit(self._take(training), self._y[training], **self._weighing(training))
        self._rate = (time.monotonic() - begin) / len(training)
        X = self._take(testing)
        if self._pool is not None:  # averages have predictions and nothing else, so these are judged from the start
            by_class = is_classifier(model)
            self._answers.append(np.asarray(model.predict_proba(X) if by_class else model.predict(X), np.float64))
            model = self._answering(X, self._answers[-1], model.classes_ if by_class else None)
        begin = time.monotonic()
        score = self._judged(model, X, testing)
        self._scoring = time.monotonic() - begin
        return -math.inf if settings and math.isnan(score) else score

    def _answering(self, X: Any, answers: Array, classes: Array | None) -> Any:
        return NumberAnswers(X, answers) if classes is None else ClassAnswers(X, answers, classes)

    def _judged(self, model: Any, X: Any, rows: Array) -> float:
        """Score of a model, or of what stands for one."""
        try:
            return float(self._scorer(model, X, self._y[rows], **self._weighing(rows)))
        except (AttributeError, OtherSamplesError) as error:
            if self._pool is None:
                raise
            raise ValueError(
                f"scoring of tune must need nothing but predictions where ensemble=True, but failed: {error}."
            ) from error

    def _keep(self, settings: dict[str, Any], score: float) -> None:
        """Keep settings that may be averaged, where such are wanted."""
        if self._pool is not None:
            answers = self._answers[-len(self._last_stages) :]
            self._pool.add(Candidate(settings, score, self._rate * self._n, answers))

    @property
    def _last_stages(self) -> list[_Stage]:
        """Those that settings are judged by."""
        return self._stages if self._n < MANY else self._stages[-1:]

    def _seconds_of_choice(self) -> float:
        """Seconds that choosing an average may take."""
        assert self._pool is not None
        n_scores = MOST_PICKS * len(self._pool.candidates) * len(self._last_stages)
        return min(n_scores * self._scoring, CHOOSING * self._budget)

    def average(self, fit: Callable[[dict[str, Any]], Any]) -> tuple[Average, list[Any]]:
        """The best average that there is time to fit, and its members, fitted to all samples by a function."""
        assert self._pool is not None
        parts = [(self._take(testing), testing) for _, testing in self._last_stages]
        classes = np.unique(self._y) if is_classifier(self._estimator) else None

        def score_of(answers: list[Array]) -> float:
            judged = zip(parts, answers, strict=True)
            return self._mean([self._judged(self._answering(X, one, classes), X, rows) for (X, rows), one in judged])

        late = time.monotonic() + self._seconds_of_choice()

        def allows(members: list[Candidate]) -> bool:
            return late + RESERVE * sum(member.seconds for member in members) < self._end

        chosen = choose_average(self._pool.candidates, score_of, allows, lambda: time.monotonic() <= late)
        fitted = [fit(chosen.members[0].settings)]
        members = chosen.members[:1]
        for member in chosen.members[1:]:
            if time.monotonic() + RESERVE * member.seconds < self._end:
                fitted.append(fit(member.settings))
                members.append(member)
        if len(members) == len(chosen.members):
            return chosen, fitted
        chosen = choose_average(members, score_of, lambda _: True, lambda: True)
        return chosen, [fitted[next(i for i, one in enumerate(members) if one is member)] for member in chosen.members]

    def _take(self, rows: Array) -> Any:
        return take_rows(self._X, rows)

    def _weighing(self, rows: Array) -> dict[str, Array]:
        return {} if self._weights is None else {"sample_weight": self._weights[rows]}
