"""How estimators do on real tables when each may tune itself for the same seconds.

    python benchmarks/tuned.py                                   # ten sets, ten minutes a contender and split; a day
    python benchmarks/tuned.py --budget 20 --sets wine --splits 1
    python benchmarks/tuned.py --only slm-boost,slm-boost-single # ours, averaged and not
    python benchmarks/tuned.py --report                          # no fits: what is there already

Ours is `tune(SLMBoost..., ensemble=True)`. CatBoost and LightGBM are searched by Optuna on the parts that `tune` has:
five folds, or one part in five of large sets. Their own defaults come first, early stopping finds the rounds, and the
best settings are fitted to all samples. AutoGluon has its preset best_quality; it takes part where it is installed.
Every contender has one thread, and two run at a time. Seconds are those of the clock, the last fit included. Results
are kept, line by line, in bench/tuned.jsonl.
"""

import argparse
import math
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold

import tables
from defaults import Cell, add_arguments, loaded, make, read, run_all, scores, version_of
from ranks import geometric, loss_of, mean_ranks, means, print_line, print_table, wins
from sublearn import tune, tuning

SETS = (
    *("digits", "pima", "bank_marketing", "higgs_sample", "spambase"),
    *("diabetes", "california_housing", "abalone", "bike_sharing", "kin8nm"),
)
CONTENDERS = ("slm-boost", "catboost", "lightgbm", "autogluon")
FURTHER = ("slm-boost-single",)  # if asked for
LIBRARIES = {  # what is installed, what is imported
    "catboost": ("catboost", "catboost"),
    "lightgbm": ("lightgbm", "lightgbm"),
    "autogluon": ("autogluon.tabular", "autogluon"),
}
MOST_ROUNDS, PATIENCE = 5_000, 50


class Job(NamedTuple):
    """What there is to learn, and how long."""

    X: Any
    y: Any
    is_classes: bool
    seed: int
    budget: float
    end: float  # on the clock


class Part(NamedTuple):
    """Samples to learn from, and samples to stop and to judge by."""

    X: Any
    y: Any
    testing: tuple[Any, Any]


class Peer(NamedTuple):
    """A library that is searched by Optuna."""

    suggest: Callable[[Any], dict[str, Any]]  # settings of a trial
    stopped: Callable[[Job, dict[str, Any], Part, float], tuple[Any, int]]  # a model and its rounds, before a time
    whole: Callable[[Job, dict[str, Any], int], Any]  # a model of all samples


# ---- CatBoost ----


def _suggest_catboost(trial: Any) -> dict[str, Any]:
    return {
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "depth": trial.suggest_int("depth", 3, 10),
        "l2_leaf_reg": trial.suggest_float("l2_leaf_reg", 0.1, 30.0, log=True),
        "random_strength": trial.suggest_float("random_strength", 0.01, 10.0, log=True),
        "bagging_temperature": trial.suggest_float("bagging_temperature", 0.0, 2.0),
        "border_count": trial.suggest_int("border_count", 32, 254, log=True),
        "rsm": trial.suggest_float("rsm", 0.3, 1.0),
    }


class _Until:
    """Ends a fit of CatBoost at a time."""

    def __init__(self, end: float) -> None:
        self._end = end

    def after_iteration(self, info: Any) -> bool:
        return time.monotonic() < self._end


def _catboost(job: Job, settings: dict[str, Any], n_rounds: int) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    make = CatBoostClassifier if job.is_classes else CatBoostRegressor
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    return make(iterations=n_rounds, random_seed=job.seed, **quiet, **settings)


def _stopped_catboost(job: Job, settings: dict[str, Any], part: Part, end: float) -> tuple[Any, int]:
    model = _catboost(job, settings, MOST_ROUNDS)
    stop = {"early_stopping_rounds": PATIENCE, "callbacks": [_Until(end)]}
    model.fit(part.X, part.y, eval_set=part.testing, use_best_model=True, **stop)
    return model, int(model.tree_count_)


def _whole_catboost(job: Job, settings: dict[str, Any], n_rounds: int) -> Any:
    return _catboost(job, settings, n_rounds).fit(job.X, job.y)


# ---- LightGBM ----


def _suggest_lightgbm(trial: Any) -> dict[str, Any]:
    return {
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "num_leaves": trial.suggest_int("num_leaves", 4, 256, log=True),
        "min_child_samples": trial.suggest_int("min_child_samples", 2, 100, log=True),
        "subsample": trial.suggest_float("subsample", 0.5, 1.0),
        "subsample_freq": 1,
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.3, 1.0),
        "reg_alpha": trial.suggest_float("reg_alpha", 1e-3, 10.0, log=True),
        "reg_lambda": trial.suggest_float("reg_lambda", 1e-3, 100.0, log=True),
        "max_bin": trial.suggest_int("max_bin", 32, 512, log=True),
    }


def _lightgbm(job: Job, settings: dict[str, Any], n_rounds: int) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    make = LGBMClassifier if job.is_classes else LGBMRegressor
    return make(n_estimators=n_rounds, random_state=job.seed, n_jobs=1, verbosity=-1, **settings)


def _stopped_lightgbm(job: Job, settings: dict[str, Any], part: Part, end: float) -> tuple[Any, int]:
    from lightgbm import early_stopping
    from lightgbm.callback import EarlyStopException

    def until(now: Any) -> None:
        if time.monotonic() >= end:
            raise EarlyStopException(now.iteration, now.evaluation_result_list)

    model = _lightgbm(job, settings, MOST_ROUNDS)
    model.fit(part.X, part.y, eval_set=[part.testing], callbacks=[early_stopping(PATIENCE, verbose=False), until])
    return model, int(model.best_iteration_)


def _whole_lightgbm(job: Job, settings: dict[str, Any], n_rounds: int) -> Any:
    return _lightgbm(job, settings, n_rounds).fit(job.X, job.y)


PEERS = {
    "catboost": Peer(_suggest_catboost, _stopped_catboost, _whole_catboost),
    "lightgbm": Peer(_suggest_lightgbm, _stopped_lightgbm, _whole_lightgbm),
}


# ---- the search ----


def parts_of(job: Job) -> list[Part]:
    """Five folds, or one part in five of large sets, as `tune` has them."""
    folds = (StratifiedKFold if job.is_classes else KFold)(tuning.N_FOLDS, shuffle=True, random_state=job.seed)
    found = [Part(job.X[a], job.y[a], (job.X[b], job.y[b])) for a, b in folds.split(job.X, job.y)]
    return found if len(job.y) < tuning.MANY else found[:1]


def loss_on(model: Any, part: Part, is_classes: bool) -> float:
    X, y = part.testing
    if not is_classes:
        return float(root_mean_squared_error(y, model.predict(X)))
    given = np.asarray(model.predict_proba(X), np.float64)
    return float(log_loss(y, given / given.sum(axis=1, keepdims=True), labels=model.classes_))


class Found(NamedTuple):
    """Settings, and what was seen of them."""

    settings: dict[str, Any]
    loss: float
    n_rounds: int
    seconds: float  # of a fit to all samples

    def leaves_time(self, job: Job, more: float = 0.0) -> bool:
        """Whether something may go on for some seconds, and these settings be fitted to all samples then."""
        return time.monotonic() + tuning.RESERVE * (more + self.seconds) < job.end


def search(peer: Peer, job: Job) -> Any:
    """The best settings that are found in time, fitted to all samples; the defaults are tried first."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    parts = parts_of(job)
    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(seed=job.seed, n_startup_trials=tuning.FIRST_SETTINGS),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=tuning.FIRST_SETTINGS),
    )
    half = job.end - job.budget / 2  # on slow sets the defaults may take so much, and no more
    best = _tried(peer, job, {}, parts, half, None)
    assert best is not None
    latest = best.seconds
    while best.leaves_time(job, latest):
        trial = study.ask()
        end = job.end - tuning.RESERVE * best.seconds
        found = _tried(peer, job, peer.suggest(trial), parts, end, trial)
        if found is None:  # dropped, or time is over
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            continue
        study.tell(trial, found.loss)
        latest = found.seconds
        if found.loss < best.loss and found.leaves_time(job):
            best = found
    return peer.whole(job, best.settings, best.n_rounds)


def _tried(peer: Peer, job: Job, settings: dict[str, Any], parts: list[Part], end: float, trial: Any) -> Found | None:
    """What is seen of settings; None if they are dropped. Without a trial they are not."""
    losses: list[float] = []
    rounds: list[int] = []
    seconds: list[float] = []
    for number, part in enumerate(parts):
        begin = time.monotonic()
        share = 1 if trial is not None else len(parts) - number  # what is not dropped leaves time for all parts
        model, n_rounds = peer.stopped(job, settings, part, begin + (end - begin) / share)
        now = time.monotonic()
        if trial is not None and now >= end:
            return None
        losses.append(loss_on(model, part, job.is_classes))
        rounds.append(max(n_rounds, 1))
        seconds.append((now - begin) * rounds[-1] / (rounds[-1] + PATIENCE) * len(job.y) / len(part.y))
        if trial is not None:
            trial.report(np.mean(losses), len(losses))
            if len(losses) < len(parts) and trial.should_prune():
                return None
    return Found(settings, float(np.mean(losses)), math.ceil(np.mean(rounds)), float(np.mean(seconds)))


# ---- those that search by themselves ----


def tuned_slm(job: Job, ensemble: bool) -> Any:
    model = make("slm-boost", job.is_classes, job.seed)
    return tune(model, job.X, job.y, budget=job.end - time.monotonic(), ensemble=ensemble, verbose=False)


class AutoGluon:
    """AutoGluon's predictor as an estimator."""

    def __init__(self, job: Job, folder: str) -> None:
        from autogluon.tabular import TabularPredictor

        kind = "regression" if not job.is_classes else "binary" if len(np.unique(job.y)) == 2 else "multiclass"
        metric = "log_loss" if job.is_classes else "root_mean_squared_error"
        made = TabularPredictor("y", kind, metric, path=folder, verbosity=0)
        self._predictor = made.fit(
            self._table(job.X).assign(y=job.y),
            presets="best_quality",
            time_limit=job.end - time.monotonic(),
            num_cpus=1,
            num_gpus=0,
            ag_args_ensemble={"fold_fitting_strategy": "sequential_local"},
        )

    @staticmethod
    def _table(X: Any) -> Any:
        import pandas as pd

        return pd.DataFrame(X).add_prefix("x")

    def predict(self, X: Any) -> Any:
        return self._predictor.predict(self._table(X)).to_numpy()

    def predict_proba(self, X: Any) -> Any:
        return self._predictor.predict_proba(self._table(X)).sort_index(axis=1).to_numpy()


def fitted(contender: str, job: Job, folder: str) -> Any:
    if contender in PEERS:
        return search(PEERS[contender], job)
    if contender == "autogluon":
        return AutoGluon(job, folder)
    return tuned_slm(job, ensemble=contender == "slm-boost")


def run(cell: Cell, folders: tuple[Path, ...], budget: float) -> dict[str, float]:
    """Scores on the test part, and seconds."""
    table = loaded(cell.table, folders)
    assert table is not None
    X_train, X_test, y_train, y_test = tables.split(table, cell.seed)
    if cell.contender.startswith("slm-"):  # compiled beforehand
        make("slm-boost", table.is_classes, 0).fit(X_train[:200], y_train[:200])
    with warnings.catch_warnings(), TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # LightGBM's, of names of features
        begin = time.monotonic()
        job = Job(X_train, y_train, table.is_classes, cell.seed, budget, begin + budget)
        model = fitted(cell.contender, job, folder)
        seconds = time.monotonic() - begin
        return {"seconds": seconds, **scores(model, X_test, y_test, table.is_classes), **_told(model)}


def _told(model: Any) -> dict[str, float]:
    """What our search says of itself."""
    found = getattr(model, "tuning_", None)
    if found is None:
        return {}
    return {"n_settings": found.n_settings, "n_members": max(len(found.members), 1)}


# ---- what is run and shown ----


def is_missing(contender: str) -> bool:
    return contender in LIBRARIES and find_spec(LIBRARIES[contender][1]) is None


def stamp(contender: str, budget: float) -> str:
    """What a result depends on beside table, split and contender."""
    known = version(LIBRARIES[contender][0]) if contender in LIBRARIES else version_of("slm-boost")
    return f"{known} in {budget:g} s"


def cells_of(arguments: Any, contenders: list[str], folders: tuple[Path, ...]) -> Iterator[Cell]:
    for name in arguments.sets.split(","):
        if loaded(name, folders) is None:
            print(f"{name} is left out: no file of it in the data folder")
            continue
        for seed in range(arguments.first, arguments.first + arguments.splits):
            for contender in contenders:
                yield Cell(name, seed, contender, stamp(contender, arguments.budget))


def report(contenders: list[str], results: dict[Cell, dict[str, float]], budget: float) -> None:
    losses = means(results, contenders, loss_of)
    if not losses:
        return
    seconds = means(results, contenders, lambda found: found["seconds"])
    print(f"\n## tuned for {budget:g} s: log loss or RMSE, mean over splits, and seconds that it took")
    print_table(contenders, losses, seconds)
    ours = contenders[0]
    print_line("mean rank", contenders, mean_ranks(contenders, losses), "{:.2f}")
    print_line(f"loss to {ours}", contenders, geometric(contenders, losses, ours), "{:.3f}")
    print_line(f"{ours} is better on", contenders, wins(contenders, losses, ours), "{:.0f}" + f" of {len(losses)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=600.0, help="seconds of a contender for a split")
    parser.add_argument("--sets", default=",".join(SETS), help="names")
    parser.add_argument("--data-dir", type=Path, action="append", default=[])
    add_arguments(parser, splits=3, name="tuned")
    arguments = parser.parse_args()
    asked = arguments.only.split(",") if arguments.only else CONTENDERS
    contenders = [c for c in (*CONTENDERS, *FURTHER) if c in asked]
    for contender in filter(is_missing, contenders):
        print(f"{contender} is left out: it is not installed")
    contenders = [contender for contender in contenders if not is_missing(contender)]
    folders = tuple(arguments.data_dir)
    cells = list(cells_of(arguments, contenders, folders))
    known = read(arguments.results)
    if not arguments.report:
        missing = [cell for cell in cells if cell not in known]
        known.update(run_all(missing, folders, arguments.results, partial(run, budget=arguments.budget)))
    report(contenders, {cell: known[cell] for cell in cells if cell in known}, arguments.budget)


if __name__ == "__main__":
    main()
