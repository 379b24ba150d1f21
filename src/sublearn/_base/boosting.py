"""What boosting grows: samples to train and validate on, rounds, early stopping."""

from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from sublearn._base.boosting_choice import SLMBoostChoice
from sublearn._base.progress import Progress, shown
from sublearn.core.boosting.auto import Setting
from sublearn.core.boosting.choosing import Choice
from sublearn.core.boosting.excess import learn_excess, without_excess
from sublearn.core.boosting.losses import CompiledLoss, LogLinked, Loss, SquaredError, as_answer, link_of
from sublearn.core.boosting.problem import Problem, make_problem
from sublearn.core.boosting.rounds import Growth, Round, boost, boost_together
from sublearn.core.data.codes import code_limit
from sublearn.core.data.dealing import MANY, split_off
from sublearn.core.data.fixed_point import class_totals, extremes_of
from sublearn.core.data.outliers import Reach, reach_of
from sublearn.core.data.samples import NOTHING, Coded, Given, code_like, drop_weightless
from sublearn.core.keys import key_below
from sublearn.core.model.flat_ensemble import pack
from sublearn.core.model.flat_tree import FlatTree, feature_decreases, shares
from sublearn.core.model.links import with_exposure
from sublearn.core.parallel import Workers
from sublearn.core.tree.projection import Plan
from sublearn.kernels.layout import Array

SPLIT, TRIAL, MEMBERS = 1 << 32, 1 << 33, 1 << 34  # numbers of the keys below a fit's key; those of rounds are lower
FARTHEST = 1e110  # step of a leaf that no target within the limits asks for; its square is still a float


class RanAwayError(ValueError):
    """Raised where rounds of boosting have left the data behind."""


class Validation(NamedTuple):
    """Samples to validate on as a user gives them; None where there are none."""

    eval_set: Any
    sample_weight: Any
    exposure: Any = None


class Scores(NamedTuple):
    """Minus the mean loss, before the first round and after each."""

    training: list[float]
    validation: list[float]  # empty where there is nothing to validate on

    @property
    def best(self) -> int:
        """Number of rounds that validate best."""
        return int(np.nanargmax(self.validation))


class Beginning(NamedTuple):
    """What is settled of a fit before features become codes."""

    key: int  # what all trees are drawn from
    part: Given  # samples to learn from
    validation: Given | None
    loss: Loss
    settings: list[Setting]  # what may be tried, the usual one first
    plan: Plan
    reach: Reach | None  # where most targets lie, if a few are far from all others
    start: Array  # raw values before any tree
    trees: list[FlatTree]  # those that are kept
    n_members: int  # models whose answers are averaged

    @property
    def has_excess(self) -> bool:
        """Whether the first tree learns targets far from all others."""
        return self.reach is not None


class SLMBoost(SLMBoostChoice):
    """What the two boosting estimators share."""

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the decrease of the training loss, over all trees that learn what is usual."""
        check_is_fitted(self)
        nodes = self._model.ensemble.nodes
        if self._has_excess and self.n_iter_ > 1:  # of a few targets far from all others
            nodes = pack(self._trees()[1:]).nodes
        return shares(feature_decreases(nodes, self._model.maps.features))

    @property
    def n_iter_(self) -> int:
        """Rounds in the model."""
        check_is_fitted(self)
        return self._model.n_rounds

    def _fit(self, X: Any, y: Any, sample_weight: Any, validation: Validation, exposure: Any = None) -> None:
        """Check all that `fit` is given, and fit."""
        given = self._check_given(X, y, sample_weight)
        kept = self._kept()
        if kept:
            self._check_width(given.X.shape[1])
        training = self._encode_targets(given._replace(exposure=self._check_exposure(exposure, given.X)))
        if kept:
            self._check_classes(training.classes)
        validating = self._check_validation(validation, training)
        self._fit_rounds(drop_weightless(training), validating, validation.eval_set is not None)

    def _fit_rounds(self, part: Given, validation: Given | None, is_given: bool) -> None:
        """Fit to checked samples, of which all count; is_given: whether the user chose those to validate on."""
        kept = self._kept()
        begun = self._begin(kept, part, validation, is_given)
        growth_for = partial(self._growth_for, begun)
        n_each = begun.n_members * (len(begun.start) if self._is_separate else 1)
        with self._workers() as workers:
            coded = self._code(
                begun.part, workers, kept._model.maps if kept else None, code_limit(begun.plan.coefficient_sum)
            )
            training, validating, trees = self._problems(begun, coded, kept is not None, workers)
            choice = self._choose(
                kept, training, growth_for, key_below(begun.key, TRIAL), begun.settings, begun.n_members, workers
            )
            training.prepare()
            scores = _scores_so_far(kept, training, validating, workers)
            if trees and not kept:  # the tree of the excess, which does not change them
                scores = Scores(2 * scores.training, 2 * scores.validation)
            n_kept = len(trees) // n_each
            growths = [growth_for(*member, number) for number, member in enumerate(choice.members)]
            rounds = _rounds(training, validating, growths, range(n_kept, choice.n_rounds), workers)
            rounds = self._on_course(rounds, begun.loss, choice.members[0].rate, n_kept)
            self._collect(rounds, trees, scores, choice.n_rounds, n_each)
            if self.early_stopping:
                del trees[max(scores.best, int(begun.has_excess)) * n_each :]
        link = link_of(begun.loss, len(begun.part.classes))
        self._store_model(pack(trees), coded, begun.plan, link=link, start=begun.start, trees_a_round=n_each)
        self._store_training(begun, choice, scores)

    def _begin(self, kept: Any, part: Given, validation: Given | None, is_given: bool) -> Beginning:
        """Settle what does not need codes."""
        key = kept._drawn_from if kept else self._key()
        part = whole = part._replace(weights=part.weights.relative())
        if validation is None and self.early_stopping:
            part, validation = self._split(part, key_below(key, SPLIT))
        loss = self._loss_for(part, validation, is_given)
        self._check_effort(kept, loss)
        n_outputs = len(part.classes) if len(part.classes) > 2 else 1
        settings = self._to_audition(loss, part.n_samples, n_outputs, len(part.classes) > 0)
        plan = self._plan(self._trees_for(settings[0], part.n_samples), part.X.shape[1])
        reach = reach_of(whole.y, whole.weights) if isinstance(loss, SquaredError) else None
        self._check_excess(kept, reach is not None)
        start, trees = self._start_from(kept, loss, part, plan, reach)
        return Beginning(
            key=key,
            part=part,
            validation=validation,
            loss=loss,
            settings=settings,
            plan=plan,
            reach=reach,
            start=start,
            trees=trees,
            n_members=1 if reach is not None or kept else self._n_members(part.n_samples, n_outputs),
        )

    def _growth_for(self, begun: Beginning, setting: Setting, rate: float, number: int = 0) -> Growth:
        """How model `number` of those that are averaged grows."""
        n_samples, n_features = begun.part.n_samples, begun.part.X.shape[1]
        boosting = self._boosting_for(setting, n_samples, n_features, rate)
        own = key_below(begun.key, MEMBERS + number) if number else begun.key
        return Growth(self._trees_for(setting, n_samples), begun.plan, boosting, own)

    def _problems(
        self, begun: Beginning, coded: Coded, is_kept: bool, workers: Workers
    ) -> tuple[Problem, Problem | None, list[FlatTree]]:
        """What to learn from and to validate on, and the trees so far."""
        trees, reach = begun.trees, begun.reach
        training = _problem(coded, begun.loss, begun.start, trees, workers)
        validating = None
        if begun.validation is not None:
            like = code_like(begun.validation, coded.maps, workers)
            validating = _problem(like, begun.loss, begun.start, trees, workers)
        if reach is None:
            return training, validating, trees
        trees = trees or learn_excess(training, reach, self._growth_for(begun, begun.settings[0], 1.0), workers)
        training = without_excess(training, reach, trees[0], not is_kept, workers)
        if validating is not None:
            validating = without_excess(validating, reach, trees[0], not is_kept, workers)
        return training, validating, trees

    def _store_training(self, begun: Beginning, choice: Choice, scores: Scores) -> None:
        """Keep what training goes on from, and what it tells users."""
        usual, n_samples = choice.members[0], begun.part.n_samples
        self._drawn_from, self._loss, self._settings = begun.key, begun.loss, self._settings_now()
        self._has_excess, self._members = begun.has_excess, choice.members
        self.learning_rate_ = usual.rate
        self.settings_ = self._settings_for(usual.setting, n_samples) | {"n_models": begun.n_members}
        self.audition_ = self._told(choice, n_samples)
        self.train_score_ = np.array(scores.training)
        self.validation_score_ = np.array(scores.validation)

    def _check_excess(self, kept: Any, has_excess: bool) -> None:
        """Raise ValueError where trees are kept that do not go with the targets."""
        if kept and kept._has_excess != has_excess:
            words = "targets far from all others", "no target far from all others"
            before, now = words if kept._has_excess else words[::-1]
            raise ValueError(
                f"y of {type(self).__name__}.fit must have {before} as before, since warm_start=True keeps trees; it "
                f"has {now}."
            )

    def _loss_for(self, part: Given, validation: Given | None, is_given: bool) -> Loss:
        """The loss, which may keep what it sees, for samples that are in its domain."""
        kept = self._kept()
        if kept:
            kept._check_settings()
        loss: Loss = deepcopy(kept._loss if kept else self._make_loss(len(part.classes)))
        self._check_domain(loss, part.numbers, "")
        if validation is not None:
            self._check_domain(loss, validation.numbers, " in eval_set" if is_given else "")
        return loss

    def _start_from(
        self, kept: Any, loss: Loss, part: Given, plan: Plan, reach: Reach | None
    ) -> tuple[Array, list[FlatTree]]:
        """Raw values before the first round, and the trees that are kept."""
        if kept:
            self._check_codes(plan)
            return kept._model.start, kept._trees()
        return self._start_value(loss, part if reach is None else part._replace(y=reach.usual_of(part.y))), []

    def _settings_now(self) -> dict[str, Any]:
        loss = type(self.loss).__name__ if isinstance(self.loss, Loss) else self.loss
        others = {name: getattr(self, name, None) for name in ("quantile", "init", "multiclass")}
        return super()._settings_now() | {"loss": loss} | others

    def _split(self, part: Given, key: int) -> tuple[Given, Given]:
        """Training and validation samples."""
        share, n = float(self.validation_fraction), self._links.total(len(part.y))
        try:
            split = self._split_many(part, share, key) if n >= MANY else self._split_few(part, n, share, key)
        except ValueError as error:
            raise ValueError(
                f"validation_fraction of {type(self).__name__} must leave samples, of every class, to train and to "
                f"validate on; got {share:g} of {n} samples: {error} Give more samples, or an eval_set."
            ) from None
        return part.take(~split), part.take(split)

    def _split_few(self, part: Given, n: int, share: float, key: int) -> Array:
        """Which samples are to validate on, of all that there are together."""
        stratify = self._links.whole(part.y) if part.classes.size else None
        _, test = train_test_split(np.arange(n), test_size=share, random_state=key % 2**32, stratify=stratify)
        split, first = np.zeros(n, np.bool_), self._links.before(len(part.y))
        split[test] = True
        return split[first : first + len(part.y)]

    def _split_many(self, part: Given, share: float, key: int) -> Array:
        """Which samples are to validate on, by what is drawn for each."""
        labels = part.y if part.classes.size else np.zeros(len(part.y), np.int64)
        return split_off(labels, max(len(part.classes), 1), share, key, self._links)

    def _check_domain(self, loss: Loss, y: Array, where: str) -> None:
        links = self._links
        ends = np.array(extremes_of(y, links)) if links.n_partitions > 1 and isinstance(loss, CompiledLoss) else y
        try:
            loss.check(ends)
        except ValueError as error:
            if isinstance(self.loss, Loss):  # the user's own words
                raise
            low, high = ends.min(), ends.max()
            name = type(self).__name__
            raise ValueError(f"{error}; {name}.fit got numbers from {low:g} to {high:g}{where}.") from None

    def _start_value(self, loss: Loss, part: Given) -> Array:
        """Raw values (n_outputs,) before the first round: one a class where there are more than two."""
        start = np.zeros(len(part.classes) if len(part.classes) > 2 else 1)
        if self.init == "data":
            given = self._best_constant(loss, part)
            start += as_answer(loss, "start", given, (), start.shape)
            if not np.isfinite(start).all():
                raise ValueError(f"start of {loss!r} must be finite; got {given}.")
        return start

    def _best_constant(self, loss: Loss, part: Given) -> Any:
        """Raw value by the loss, of one or of all outputs."""
        weights = part.weights
        if part.classes.size:  # totals of the classes tell all, and are exact
            totals = class_totals(part.y, len(part.classes), weights)
            return loss.start(np.arange(float(len(totals))), totals * part.factors if part.factors.size else totals)
        if self._links.some(part.exposure.size > 0) and isinstance(loss, LogLinked):
            return loss.rate(part.numbers, weights, part.exposure)
        if isinstance(loss, CompiledLoss):
            return loss.start_of(part.numbers, weights)
        return loss.start(part.numbers, weights.numbers(len(part.y)))

    def _on_course(self, rounds: Iterator[Round], loss: Loss, rate: float, n_kept: int) -> Iterator[Round]:
        """The rounds, as long as they do not run away from the data."""
        for number, added in enumerate(rounds, n_kept + 1):
            step = max(np.abs(tree.value).max() for tree in added.trees)
            if isinstance(loss, CompiledLoss) and not (step <= FARTHEST and -added.train_score <= loss.most):
                name = type(self).__name__
                raise RanAwayError(
                    f"learning_rate of {name} must be lower, or l2_regularization higher: round {number} adds up to "
                    f"{step:g} and has a training loss of {-added.train_score:g}; got {rate:g}."
                )
            yield added

    def _collect(
        self, rounds: Iterator[Round], trees: list[FlatTree], scores: Scores, n_rounds: int, n_each: int
    ) -> None:
        """Add rounds, each of n_each trees, to trees and scores until one has to be the last."""
        callbacks = [self.callbacks] if callable(self.callbacks) else self.callbacks or ()
        with shown(bool(self.verbose)) as show:
            for added in rounds:
                trees += added.trees
                scores.training.append(added.train_score)
                if added.validation_score is not None:
                    scores.validation.append(added.validation_score)
                n_iter = len(scores.training) - 1
                progress = Progress(n_iter, n_rounds, added.train_score, added.validation_score)
                show(progress)
                wishes = [callback(progress) for callback in callbacks]
                if any(isinstance(wish, bool | np.bool_) and wish for wish in wishes):
                    break
                if self.early_stopping and n_iter - scores.best >= self.n_iter_no_change:
                    break

    def _check_exposure(self, exposure: Any, X: Any, prefix: str = "") -> Array:
        """Exposures of samples to learn from or to validate on; empty for ones, which all are but for some losses."""
        return NOTHING

    def _check_validation(self, given: Validation, training: Given) -> Given | None:
        """The samples to validate on, checked, without those that do not count."""
        name = type(self).__name__
        eval_set = given.eval_set
        if eval_set is None:
            if given.sample_weight is not None or given.exposure is not None:
                raise ValueError(f"eval_set of {name}.fit must be given with eval_sample_weight or eval_exposure.")
            return None
        is_exposed = self._links.some(training.exposure.size > 0)  # a partition may be empty
        if (given.exposure is not None) != is_exposed:
            raise ValueError(f"exposure and eval_exposure of {name}.fit must both be given, or neither.")
        if isinstance(eval_set, list) and len(eval_set) == 1:  # as other libraries want it
            eval_set = eval_set[0]
        if not isinstance(eval_set, tuple | list) or len(eval_set) != 2 or isinstance(eval_set[0], tuple):
            raise ValueError(f"eval_set of {name}.fit must be one pair (X, y); got {type(eval_set).__name__}.")
        try:
            X, y = self._check_data(*eval_set, reset=False)
        except ValueError as error:
            raise ValueError(f"eval_set of {name}.fit must be like X and y: {error}") from None
        part = self._as_given(X, y, given.sample_weight, "eval_sample_weight")
        part = part._replace(exposure=self._check_exposure(given.exposure, X, "eval_"))
        return drop_weightless(self._encode_like(part, training))

    def _raw(self, X: Any, exposure: Array = NOTHING, check_input: bool = True) -> Array:
        """Raw values (n_samples, n_outputs) after all rounds."""
        X = self._check_samples(X, check_input)
        with self._workers(len(X)) as workers:
            return self._model.raw(X, exposure, workers)

    def _staged_raw(self, X: Any, exposure: Array = NOTHING) -> Iterator[Array]:
        """Raw values (n_samples, n_outputs) after each round; one array, renewed."""
        X = self._check_samples(X)
        with self._workers() as workers:
            yield from self._model.staged_raw(X, exposure, workers)


def _problem(coded: Coded, loss: Loss, start: Array, trees: list[FlatTree], workers: Workers) -> Problem:
    """What boosting learns from, and what the trees so far make of it."""
    raw = np.empty((len(coded.y), len(start)))
    raw[:] = with_exposure(start, coded.exposure)
    problem = make_problem(coded.codes, coded.numbers, coded.weights, coded.class_weights(), loss, raw)
    problem = problem._replace(unseen=coded.unseen, views=coded.maps.views, categories=coded.categories)
    if trees:
        problem.add(pack(trees), workers)
    return problem


def _rounds(
    training: Problem, validating: Problem | None, growths: list[Growth], numbers: range, workers: Workers
) -> Iterator[Round]:
    """Rounds of one model, or of several whose answers are averaged."""
    if len(growths) == 1:
        return boost(training, validating, growths[0], numbers, workers)
    trainings = [training, *(training.copy() for _ in growths[1:])]
    return boost_together(trainings, validating, growths, numbers, workers)


def _scores_so_far(kept: Any, training: Problem, validating: Problem | None, workers: Workers) -> Scores:
    """Scores of the rounds that are kept, or of the start."""
    if kept is None:
        return Scores([training.score(workers)], [] if validating is None else [validating.score(workers)])
    n = kept.n_iter_ + 1
    validation: list[float] = kept.validation_score_[:n].tolist()
    if validating is None:
        validation = []
    elif not validation:
        validation = [np.nan] * (n - 1) + [validating.score(workers)]
    return Scores(kept.train_score_[:n].tolist(), validation)
