"""From a table to samples and an estimator: what `train` and `tune` share, with what was assumed said aloud."""

import ast
from difflib import get_close_matches
from typing import Annotated, Any, NamedTuple

import typer

from sublearn.command import cells
from sublearn.command.assuming import CLASSES, NUMBERS, Task, find_counters, find_ids, find_task
from sublearn.command.messages import counted, listed, one_line, refuse, say
from sublearn.command.tables import Reading, Table, names_in

MODELS = {"tree": "SLM{}", "forest": "SLMForest{}", "boost": "SLMBoost{}"}
TASKS = {CLASSES: "Classifier", NUMBERS: "Regressor"}
FOR_US = (
    "categorical_features",
    "random_state",
    "n_jobs",
    "callbacks",
    "verbose",
    "warm_start",
)  # options of their own

Data = Annotated[str, typer.Argument(metavar="DATA", help="CSV (also .gz, .zst), Parquet or Arrow file.")]
Target = Annotated[str, typer.Option(help="Column to predict.")]
Out = Annotated[str, typer.Option(help="File of the model, such as price.slm.")]
Model = Annotated[str, typer.Option(metavar="[tree|forest|boost]", help="Kind of model.")]
AskedTask = Annotated[
    str | None, typer.Option("--task", metavar="[classes|numbers]", help="What the target is. Default: found.")
]
Ignore = Annotated[str | None, typer.Option(metavar="COLUMNS", help="Columns to leave out, separated by commas.")]
Use = Annotated[
    str | None, typer.Option(metavar="COLUMNS", help="Columns to use though they look like numbers or names of rows.")
]
Weight = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the weight of each row.")]
Categorical = Annotated[
    str | None, typer.Option(metavar="COLUMNS", help="Columns of numbers that are categories, such as codes.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Parameter of the estimator, such as max_depth=4; repeat it."),
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of all that is drawn.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Threads. Default: one for each core.")]


class Asked(NamedTuple):
    """What the options ask for."""

    target: str
    model: str
    task: str | None
    ignore: str | None
    use: str | None
    weight: str | None
    categorical: str | None
    settings: list[str] | None
    seed: int
    jobs: int | None


class Samples(NamedTuple):
    """What is learned from."""

    X: Any  # a frame of polars
    y: Any
    weights: Any  # or None
    task: Task
    notes: dict[str, Any]  # for the file of the model

    def only(self, rows: Any) -> "Samples":
        """Some of the rows."""
        return self._replace(
            X=self.X[rows], y=self.y[rows], weights=None if self.weights is None else self.weights[rows]
        )


def check_names(asked: Asked) -> None:
    """Refuse unknown models, tasks and parameters, and values that no task takes, before anything is read."""
    import sublearn
    from sublearn._base.parameters import check_parameters

    for option, given, known in (("--model", asked.model, MODELS), ("--task", asked.task, TASKS)):
        if given is not None and given not in known:
            refuse(f"{option}: unknown name {given!r}. Known: {', '.join(known)}.")
    tasks = [asked.task] if asked.task else list(TASKS)
    names = [MODELS[asked.model].format(TASKS[task]) for task in tasks]
    allowed = {name for one in names for name in getattr(sublearn, one)().get_params()} - set(FOR_US)
    for name in _settings(asked):
        if name not in allowed:
            near = get_close_matches(name, allowed, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(allowed))}."
            refuse(f"--set: {' and '.join(names)} have no parameter {name!r} to set; {hint}")
    errors = []
    for one in names:
        estimator = getattr(sublearn, one)()
        settings = {name: value for name, value in _settings(asked).items() if name in estimator.get_params()}
        try:
            check_parameters(estimator.set_params(**settings))
        except (TypeError, ValueError) as error:
            errors.append(f"--set: {one_line(error)}")
    if len(errors) == len(names):
        refuse(errors[-1])


def _settings(asked: Asked) -> dict[str, Any]:
    """Parameters given as name=value; values are numbers, lists, True, None, or else text."""
    found = {}
    for one in asked.settings or []:
        name, sign, text = one.partition("=")
        if not sign or not name.strip():
            refuse(f"--set must be NAME=VALUE; got {one!r}.")
        try:
            found[name.strip()] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError):
            found[name.strip()] = text.strip()
    return found


def make_estimator(asked: Asked, samples: Samples, **more: Any) -> Any:
    """The estimator that the options describe, with its parameters checked."""
    import sublearn
    from sublearn._base.parameters import check_parameters

    kind: Any = getattr(sublearn, MODELS[asked.model].format(TASKS[samples.task.kind]))
    settings = {**more, **_settings(asked)}
    if asked.categorical:
        texts = [name for name, dtype in samples.X.schema.items() if str(dtype).startswith(("String", "Cat", "Enum"))]
        settings["categorical_features"] = [*texts, *(n for n in names_in(asked.categorical) if n not in texts)]
    try:
        estimator = kind(random_state=asked.seed, n_jobs=asked.jobs, **settings)
        check_parameters(estimator)
    except (TypeError, ValueError) as error:
        refuse(one_line(error))
    return estimator


def read_samples(path: str, asked: Asked, reading: Reading) -> Samples:
    """Read a table and say what was found in it and assumed of it."""
    table = Table(path, reading)
    _check_columns(table, asked)
    strings = table.whole(f"reading {table.name}")
    dropped = names_in(asked.ignore)
    frame = strings.drop([name for name in dropped if name in strings.columns])
    if table.is_text:
        frame = _with_kinds(table, frame)
    del strings
    rows = counted(len(frame), "row")
    say(f"{table.name}: {rows}, {counted(len(table.columns), 'column')} ({table.words()})")
    frame = _with_targets(frame, asked.target)
    X = frame.drop([asked.target, *([asked.weight] if asked.weight else [])])
    task = find_task(frame[asked.target], asked.task, asked.target)
    say(
        f"target {asked.target}: {task.kind}, since {task.why}"
        if asked.task is None
        else f"target {asked.target}: {task.kind}"
    )
    X = _without_ids(X, table, names_in(asked.use))
    _say_columns(X, names_in(asked.categorical))
    if not X.width:
        refuse(f"{table.name} has no column left to learn from.")
    notes = {"target": asked.target, "n_rows": len(X), "missing": list(table.missing)}
    weights = _weights(frame, asked.weight)
    return Samples(X, _targets(frame[asked.target], task), weights, task, notes)


def _check_columns(table: Table, asked: Asked) -> None:
    """Refuse columns that are not there, or asked for twice."""
    given = {
        "--target": [asked.target],
        "--weight": [asked.weight] if asked.weight else [],
        "--ignore": names_in(asked.ignore),
        "--use": names_in(asked.use),
        "--categorical": names_in(asked.categorical),
    }
    for option, names in given.items():
        table.require(names, option)
        for other in ("--target", "--weight", "--ignore"):
            both = set(names) & set(given[other]) if option != other else set()
            if both:
                refuse(f"{option} and {other} both name column {both.pop()!r}; it can be one of them.")


def _with_kinds(table: Table, frame: Any) -> Any:
    """Cells of text as values, with what looks odd said aloud."""
    decimal = table.settle_decimal(frame, frame.columns)
    kinds = cells.find_kinds(frame, decimal)
    for odd in cells.suspicions(frame, [name for name, kind in kinds.items() if kind == cells.TEXT], decimal):
        say(f"note: {odd}")
    return cells.typed(frame, kinds, decimal)


def _with_targets(frame: Any, target: str) -> Any:
    """The rows that have a target."""
    column = frame[target]
    is_there = column.is_not_null() & ~column.is_nan() if column.dtype.is_float() else column.is_not_null()
    kept = frame.filter(is_there)
    if not len(kept):
        refuse(f"--target: column {target!r} is empty.")
    if len(kept) < len(frame):
        say(f"left out: {counted(len(frame) - len(kept), 'row')} without a {target}")
    return kept


def _without_ids(X: Any, table: Table, used: list[str]) -> Any:
    """The columns that may tell something; those left out are said."""
    empty = [name for name in X.columns if X[name].null_count() == len(X)]
    if empty:
        say(f"left out: {listed(empty)} (no value at all)")
    ids = {name: why for name, why in find_ids(X, table.unnamed).items() if name not in (*used, *empty)}
    for name, why in ids.items():
        say(f"left out: {name} ({why}, so it only tells rows apart); --use '{name}' overrules")
    counters = [name for name in find_counters(X, ids) if name not in used]
    for name in counters:
        say(f"note: {name} grows by one from row to row; if it is the number of the row, --ignore '{name}'")
    return X.drop([*empty, *ids])


def _say_columns(X: Any, categorical: list[str]) -> None:
    """Which columns are of which kind."""
    kinds: dict[str, list[str]] = {}
    for name, dtype in X.schema.items():
        kinds.setdefault("categories" if name in categorical else _kind_of(dtype), []).append(name)
    for kind, names in kinds.items():
        say(f"  {len(names):,} of {kind}: {listed(names)}")
    n_gaps = sum(X.null_count().row(0)) if X.width else 0
    if n_gaps:
        say(f"  {counted(n_gaps, 'missing cell')}, which need not be filled")


def _kind_of(dtype: Any) -> str:
    if dtype.is_numeric():
        return cells.NUMBERS
    if str(dtype) == "Boolean":
        return cells.FLAGS
    if dtype.is_temporal():
        return "dates or times"
    return "text" if str(dtype).startswith(("String", "Cat", "Enum")) else str(dtype)


def _targets(column: Any, task: Task) -> Any:
    """The target as an array: floats, whole numbers, booleans or texts."""
    import numpy as np
    import polars as pl

    if task.kind == NUMBERS:
        return column.cast(pl.Float64).to_numpy()
    if column.dtype.is_float() and bool((column == column.round()).all()):
        return column.cast(pl.Int64).to_numpy()
    if column.dtype.is_numeric() or str(column.dtype) == "Boolean":
        return column.to_numpy()
    return np.array(column.cast(pl.String).to_list())


def _weights(frame: Any, name: str | None) -> Any:
    if name is None:
        return None
    column = frame[name]
    if not column.dtype.is_numeric() or column.null_count():
        refuse(f"--weight: column {name!r} must hold a number in each row.")
    return column.to_numpy().astype(float)


def fit(estimator: Any, samples: Samples) -> Any:
    """The fitted estimator; what is wrong with the data is one line."""
    try:
        weighing = {} if samples.weights is None else {"sample_weight": samples.weights}
        return estimator.fit(samples.X, samples.y, **weighing)
    except (TypeError, ValueError) as error:
        refuse(one_line(error))
