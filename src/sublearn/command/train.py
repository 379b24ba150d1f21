"""`sublearn train`: a model from a table."""

import time
from typing import Annotated, Any

import typer

from sublearn.command.assuming import CLASSES
from sublearn.command.learning import (
    Asked,
    AskedTask,
    Categorical,
    Data,
    Ignore,
    Jobs,
    Model,
    Out,
    Samples,
    Seed,
    Settings,
    Target,
    Use,
    Weight,
    check_names,
    fit,
    make_estimator,
    read_samples,
)
from sublearn.command.messages import counted, is_watched, refuse, say
from sublearn.command.tables import Decimal, Encoding, Missing, NoHeader, Present, Reading, Separator
from sublearn.command.writing import check_model_out

EFFORTS = ("fast", "usual", "best")
LEAST_HELD_OUT = 10  # rows, for a figure that says anything


def train(
    data: Data,
    target: Target,
    out: Out,
    model: Model = "boost",
    task: AskedTask = None,
    effort: Annotated[
        str | None, typer.Option(metavar="[fast|usual|best]", help="Of boost: how much time to take.")
    ] = None,
    holdout: Annotated[
        float,
        typer.Option(
            min=0.0, max=0.9, help="Share of rows to measure a first fit on; the model learns from all. 0: none."
        ),
    ] = 0.2,
    ignore: Ignore = None,
    use: Use = None,
    weight: Weight = None,
    categorical: Categorical = None,
    settings: Settings = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    missing: Missing = None,
    present: Present = None,
) -> None:
    """Learn to predict a column of a table from the others, and write the model to a file.

    Says what was found in the table and assumed of it, and how good the model is on rows it had not seen.
    """
    if effort is not None and (effort not in EFFORTS or model != "boost"):
        refuse(f"--effort must be {', '.join(EFFORTS)}, and goes with --model boost; got {effort!r}, --model {model}.")
    asked = Asked(
        target=target,
        model=model,
        task=task,
        ignore=ignore,
        use=use,
        weight=weight,
        categorical=categorical,
        settings=settings,
        seed=seed,
        jobs=jobs,
    )
    check_model_out(out, data)
    check_names(asked)
    samples = read_samples(
        data,
        asked,
        Reading(
            separator=separator,
            decimal=decimal,
            encoding=encoding,
            no_header=no_header,
            missing=missing,
            present=present,
        ),
    )
    more: dict[str, Any] = {} if effort is None else {"effort": effort}
    estimator = make_estimator(asked, samples, **more)
    if holdout:
        measure(estimator, samples, holdout, seed)
    begin = time.monotonic()
    fitted = fit(_watched(estimator), samples)
    keep(fitted, samples, out, time.monotonic() - begin)


def _watched(estimator: Any) -> Any:
    """The estimator, to show how far it is where there is a terminal and it can."""
    return estimator.set_params(verbose=1) if is_watched() and "verbose" in estimator.get_params() else estimator


def measure(estimator: Any, samples: Samples, share: float, seed: int) -> None:
    """Fit to a part of the rows and say how good that is on the others."""
    from sklearn.base import clone

    from sublearn.command.scoring import score_words

    is_testing = held_out(samples, share, seed)
    n_testing = int(is_testing.sum())
    if n_testing < LEAST_HELD_OUT or len(is_testing) - n_testing < LEAST_HELD_OUT:
        say(f"not measured: {counted(n_testing, 'row')} to hold out is too few to tell anything")
        return
    import numpy as np

    learning, testing = (samples.only(np.flatnonzero(rows)) for rows in (~is_testing, is_testing))
    if samples.task.kind == CLASSES and len(np.unique(learning.y)) < 2:
        say("not measured: there is one class only")
        return
    say(f"measuring: a fit to {counted(len(learning.y), 'row')}, tried on {n_testing:,} others ...")
    fitted = fit(_watched(clone(estimator)), learning)
    for line in score_words(fitted, testing, learning):
        say(f"  {line}")


def held_out(samples: Samples, share: float, seed: int) -> Any:
    """Which rows to hold out; of each class its share."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(samples.y))
    if samples.task.kind == CLASSES:
        order = order[np.argsort(samples.y[order], kind="stable")]
    steps = np.floor(np.arange(len(order) + 1) * share + 0.5)
    is_testing = np.zeros(len(order), np.bool_)
    is_testing[order] = np.diff(steps) > 0
    return is_testing


def keep(fitted: Any, samples: Samples, out: str, seconds: float) -> None:
    """Write a model to its file and say what it is."""
    import os

    from sublearn._files.layout import size_in_words
    from sublearn.command.models import save_model

    replaces = " (replaced)" if os.path.exists(out) else ""
    if "verbose" in fitted.get_params():
        fitted.set_params(verbose=0)
    if "n_jobs" in fitted.get_params():
        fitted.set_params(n_jobs=None)
    save_model(fitted, out, samples.notes)
    rows, features = counted(len(samples.y), "row"), counted(samples.X.width, "feature")
    size = size_in_words(os.path.getsize(out))
    say(f"{out}{replaces}: {type(fitted).__name__} of {rows} and {features}, {size}, {seconds:.1f} s")
