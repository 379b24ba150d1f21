"""`sublearn tune`: better settings than the defaults, for those who have the time."""

import time
from typing import Annotated

import typer

from sublearn.command.learning import (
    Asked,
    AskedTask,
    Categorical,
    Data,
    Ignore,
    Jobs,
    Model,
    Out,
    Seed,
    Settings,
    Target,
    Use,
    Weight,
    check_names,
    make_estimator,
    read_samples,
)
from sublearn.command.messages import counted, is_watched, need, one_line, refuse, say
from sublearn.command.tables import Decimal, Encoding, Missing, NoHeader, Present, Reading, Separator
from sublearn.command.train import keep
from sublearn.command.writing import check_model_out


def tune(
    data: Data,
    target: Target,
    out: Out,
    minutes: Annotated[float, typer.Option(min=0.0, help="Time for the search, the last fits included.")] = 5.0,
    ensemble: Annotated[bool, typer.Option("--ensemble", help="Average the best settings; larger and better.")] = False,
    model: Model = "boost",
    task: AskedTask = None,
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
    """Search settings for some minutes, fit the best to all rows, and write that model to a file."""
    import sublearn

    need("optuna", "sublearn tune", "tune")
    if not minutes > 0:
        refuse(f"--minutes must be above 0; got {minutes:g}.")
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
    begin = time.monotonic()
    say(f"searching settings for {minutes:g} min ...")
    try:
        found = sublearn.tune(
            make_estimator(asked, samples),
            samples.X,
            samples.y,
            samples.weights,
            budget=60 * minutes,
            ensemble=ensemble,
            verbose=is_watched(),
        )
    except (TypeError, ValueError) as error:
        refuse(one_line(error))
    result = found.tuning_
    what = "log loss" if hasattr(found, "classes_") else "RMSE"
    tried = counted(result.n_settings, "setting")
    say(f"{tried} tried: {what} {-result.score:.4g}, of the defaults {-result.default_score:.4g}")
    if result.ensemble_score is not None:
        say(f"average of {len(result.members)}: {what} {-result.ensemble_score:.4g}")
    if result.parameters:
        say(f"best: {', '.join(f'{name}={value!r}' for name, value in result.parameters.items())}")
    keep(found, samples, out, time.monotonic() - begin)
