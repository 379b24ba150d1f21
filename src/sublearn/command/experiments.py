"""`sublearn reproduce` and `sublearn bench`: the paper's experiments, and speed beside other libraries."""

import os
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any

import typer

from sublearn.command.messages import refuse

_LIST = "names, separated by commas"


def reproduce(
    protocol: Annotated[
        str,
        typer.Option(
            help="honest: hyper-parameters by cross-validation; paper: by the test score, which is optimistic."
        ),
    ] = "honest",
    out: Annotated[Path, typer.Option(help="Folder of the report; results in it are not computed again.")] = Path(
        "report"
    ),
    only: Annotated[str, typer.Option(metavar="PARTS", help=f"Parts of the report: {_LIST}.")] = "all",
    datasets: Annotated[
        str, typer.Option(metavar="SETS", help=f"Data sets: {_LIST}; or all, classes, numbers, bundled.")
    ] = "all",
    contenders: Annotated[str, typer.Option(metavar="CONTENDERS", help=f"Contenders: {_LIST}.")] = "all",
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of name.csv.gz files. Default: the variable SUBLEARN_DATA.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes. Default: one for each core.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first split; the next have those that follow.")] = 0,
    splits: Annotated[int | None, typer.Option(min=1, help="Random splits. Default: 10; 5 with --quick.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="5 splits and small grids; claims only if named.")] = False,
) -> None:
    """Run the paper's experiments and show our numbers next to the printed ones.

    Writes tables, figures and a page that opens in a browser, DIR/index.html. A run that was stopped goes on where it
    was.
    """
    from joblib import cpu_count

    from sublearn.paper.contenders import CONTENDERS
    from sublearn.paper.datasets import SOURCES
    from sublearn.paper.plan import PARTS, Order
    from sublearn.paper.reproduce import reproduce as run
    from sublearn.paper.search import PROTOCOLS

    groups = {
        **_by_kind(SOURCES),
        "bundled": [name for name, source in SOURCES.items() if source.is_bundled],
    }
    parts = [name for name in PARTS if name != "claims" or not quick]  # which small grids are no ground to judge
    if protocol not in PROTOCOLS:
        refuse(f"--protocol: unknown name {protocol!r}. Known: {', '.join(PROTOCOLS)}.")
    _check_folders(out, data_dir)
    order = Order(
        protocol=protocol,
        quick=quick,
        seed=seed,
        data_sets=_chosen("--datasets", datasets, list(SOURCES), groups),
        contenders=_chosen("--contenders", contenders, list(CONTENDERS)),
        parts=_chosen("--only", only, list(PARTS), {"all": parts}),
        out=out,
        folder=data_dir,
        jobs=jobs or cpu_count(),
        n_splits=splits,
    )
    for library in ("rich", "matplotlib", "xgboost"):
        if find_spec(library) is None:
            refuse(f"sublearn reproduce needs {library}: pip install 'sublearn[paper]'")
    from rich.console import Console

    console = Console()
    begin = time.monotonic()
    page = _run(lambda: run(order, console), "done", "the same command goes on where it was")
    minutes = (time.monotonic() - begin) / 60
    console.print(f"The report is {page}. This run took {minutes:.1f} minutes.", soft_wrap=True, markup=False)


def bench(
    only: Annotated[str, typer.Option(metavar="PARTS", help=f"Parts to measure: {_LIST}.")] = "all",
    sets: Annotated[str, typer.Option(metavar="SETS", help=f"Data sets: {_LIST}; or all, classes, numbers.")] = "all",
    peers: Annotated[str, typer.Option(metavar="PEERS", help=f"Libraries beside ours: {_LIST}.")] = "all",
    threads: Annotated[int, typer.Option(min=1, help="Threads of every fit and prediction.")] = 2,
    repeats: Annotated[int, typer.Option(min=1, help="Turns of each; the best counts.")] = 3,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("bench"),
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of name.csv.gz files. Default: the variable SUBLEARN_DATA.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small data and few rounds, to try it out.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the split of each set; other losses, other rounds.")] = 0,
    goals: Annotated[bool, typer.Option("--goals", help="Judge the results by what the project aims at.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Nothing but a few ratios to scikit-learn, held against their floors.")
    ] = False,
) -> None:
    """Measure speed, growth and memory beside the usual libraries, on the same data and threads.

    Prints ratios, theirs over ours. Writes DIR/results.json and a picture, time against loss.
    """
    from sublearn.bench.contenders import PEERS
    from sublearn.bench.order import PARTS, BenchOrder
    from sublearn.bench.run import bench as run
    from sublearn.bench.sets import SOURCES

    if check:
        _check_ratios()
        return
    _check_folders(out, data_dir)
    order = BenchOrder(
        parts=_chosen("--only", only, list(PARTS)),
        data_sets=_chosen("--sets", sets, list(SOURCES), _by_kind(SOURCES)),
        peers=_chosen("--peers", peers, list(PEERS)),
        threads=threads,
        repeats=repeats,
        out=out,
        folder=data_dir,
        quick=quick,
        seed=seed,
        goals=goals,
    )
    if find_spec("matplotlib") is None:
        refuse("sublearn bench needs matplotlib: pip install 'sublearn[bench]'")
    from rich.console import Console

    console = Console()
    path = _run(lambda: run(order, console), "measured", f"what was measured so far is in {out}")
    console.print(f"The results are {path}.", soft_wrap=True, markup=False)


def _run(call: Callable[[], Path], what: str, stopped: str) -> Path:
    """What `call` returns; without data or after Ctrl-C a line, and an exit code of its own."""
    from sublearn.paper.datasets import MissingDataError

    try:
        return call()
    except MissingDataError as reason:
        typer.echo(f"Nothing was {what}: {reason}.", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo(f"Stopped; {stopped}.", err=True)
        raise typer.Exit(130) from None


def _by_kind(sources: Mapping[str, Any]) -> dict[str, list[str]]:
    """Names of the data sets of classes and of numbers."""
    return {
        "classes": [name for name, source in sources.items() if source.is_classes],
        "numbers": [name for name, source in sources.items() if not source.is_classes],
    }


def _check_ratios() -> None:
    """One line a ratio; those below their floor go to the errors, and make the exit code 1."""
    from sublearn.bench.check import check

    found = check()
    for one in found:
        text = f"{one.name}: {one.ratio:.2f} times ours, floor {one.floor:.2f}"
        typer.echo(f"{text}: too slow." if one.is_below else text, err=one.is_below)
    if any(one.is_below for one in found):
        raise typer.Exit(1)


def _check_folders(out: Path, data_dir: Path | None) -> None:
    """Refuse folders that cannot be used; os.path says no where a Path would raise that it may not look."""
    if data_dir is not None and not os.path.isdir(data_dir):
        refuse(f"--data-dir {data_dir} is not a folder.")
    nearest = next(path for path in (out.absolute(), *out.absolute().parents) if os.path.exists(path))
    try:
        with TemporaryFile(dir=nearest):
            pass
    except OSError as reason:
        refuse(f"--out {out} must be a folder that can be written to; got {nearest}: {reason.strerror}.")


def _chosen(option: str, text: str, known: list[str], groups: dict[str, list[str]] | None = None) -> tuple[str, ...]:
    """The known names in a list, in their usual order; unknown ones are refused."""
    groups = {"all": known, **(groups or {})}
    wanted: set[str] = set()
    for name in filter(None, (part.strip() for part in text.split(","))):
        if name not in known and name not in groups:
            refuse(f"{option}: unknown name {name!r}. Known: {', '.join([*known, *groups])}.")
        wanted |= set(groups.get(name, [name]))
    if not wanted:
        refuse(f"{option} names nothing. Known: {', '.join([*known, *groups])}.")
    return tuple(name for name in known if name in wanted)
