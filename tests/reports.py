"""What the tests of the report share: records made by hand, tiny grids for runs that really fit, and the command."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest
from typer.testing import CliRunner, Result

from sublearn.command.app import app
from sublearn.paper import ablations, convergence, datasets, grids, plan, search
from sublearn.paper.contenders import of_table
from sublearn.paper.datasets import SOURCES
from sublearn.paper.plan import Order
from sublearn.paper.report import make_sheets, write_report
from sublearn.paper.runner import Record, Records, Unit

N_TEST = 40
TINY_GRIDS: dict[str, grids.Grid] = {
    "elm": {"n_hidden": [5, 10]},
    "slm-baseline": {"subspace_size": [2, 3], "n_projections": [8]},
    "rf": {"max_depth": [4]},
    "slm-forest": {"subspace_size": [2], "n_projections": [4], "min_samples_split": [40]},
}


def make_records(
    scores: Mapping[tuple[str, str], Sequence[float]],
    protocol: str = "honest",
    *,
    sizes: Mapping[tuple[str, str], tuple[int | None, int | None]] | None = None,
    shapes: Mapping[tuple[str, str], tuple[int, list[int]]] | None = None,
    n_test: int = N_TEST,
    seconds: float = 1.0,
) -> Records:
    """Records of contenders; scores are by (contender, data set), one a split, accuracies as shares of 1.

    Sizes are parameters and depth, shapes splits and the nodes of each level.
    """
    records: Records = {}
    for (contender, data_set), of_splits in scores.items():
        n_parameters, depth = (sizes or {}).get((contender, data_set), (10, 3))
        for seed, score in enumerate(of_splits):
            values: dict[str, Any] = {"score": score, "n_test": n_test, "setting": {}}
            values |= {"n_parameters": n_parameters, "depth": depth}
            if shapes and (contender, data_set) in shapes:
                values["n_splits"], values["nodes"] = shapes[contender, data_set]
            records[Unit("contender", protocol, False, data_set, contender, seed)] = Record(values, seconds)
    return records


def untuned_records(n_splits: int = 2) -> Records:
    """One variant and the curves of one set, on each split."""
    records: Records = {}
    for seed in range(n_splits):
        variant = Unit("ablation", "fixed", False, "iris", ablations.GUIDED[0], seed)
        records[variant] = Record({"score": 0.9 + seed / 100, "depth": 3 + seed, "n_parameters": 7, "n_test": 60}, 1.0)
        values: dict[str, Any] = {
            name: [i + n / 1000 + seed / 10 for n in convergence.TREES] for i, name in enumerate(convergence.NAMES)
        }
        values |= {f"{name}_{of}": 0.5 for name in convergence.FORESTS for of in convergence.Trees._fields}
        records[Unit("convergence", "fixed", False, "wine", "ensembles", seed)] = Record(values, 1.0)
    return records


def patch_grids(monkeypatch: pytest.MonkeyPatch, n_splits: int = 2) -> None:
    """A setting or two for each contender and few splits; only processes that share this memory see it."""
    for name, grid in TINY_GRIDS.items():
        monkeypatch.setitem(grids.GRIDS, name, grid)
    monkeypatch.setattr(search, "QUICK", {})  # so that the grids count, also in the quick form
    monkeypatch.setattr(search, "N_FOLDS", 2)
    monkeypatch.setattr(plan, "N_SPLITS", n_splits)
    monkeypatch.setattr(plan, "N_SPLITS_QUICK", n_splits)


def written(order: Order, records: Records) -> str:
    """The page of a report without pictures."""
    write_report(order, records, make_sheets(order, records), [])
    return (order.out / "index.html").read_text(encoding="utf-8")


def patch_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """No data but what comes with scikit-learn, and no network."""

    def fail(*args: Any, **options: Any) -> None:
        raise URLError("no network")

    monkeypatch.setattr(datasets, "fetch_openml", fail)
    monkeypatch.setattr(datasets, "fetch_california_housing", fail)
    monkeypatch.delenv("SUBLEARN_DATA", raising=False)


def invoke(out: Path, *options: str) -> Result:
    """The command in this process, in its quick form."""
    return CliRunner().invoke(app, ["reproduce", "--quick", "--jobs", "1", "--out", str(out), *options])


def run(out: Path, *options: str) -> str:
    """What a run that ends well prints."""
    result = invoke(out, *options)
    assert result.exit_code == 0, repr(result.exception)
    return result.output


def whole_run(ranks: Mapping[str, float], protocol: str = "honest", n_splits: int = 3) -> Records:
    """Records of all that claims are judged by; a contender's accuracy is its rank, its error 1 less the rank.

    Trees of SLM are shallow and wide, guided draws and more hyperplanes are better, and SLM's curves are ahead.
    """
    names = [(name, data_set) for data_set, source in SOURCES.items() for name in of_table(source.is_classes)]
    scores = {}
    for name, data_set in names:
        rank = ranks.get(name, 0.5)
        mean = rank if SOURCES[data_set].is_classes else 1 - rank
        scores[name, data_set] = [mean + 0.001 * seed for seed in range(n_splits)]
    sizes: dict[tuple[str, str], tuple[int | None, int | None]] = dict.fromkeys(scores, (100, None))
    shapes = {}
    for name, data_set in scores:
        if name in ("dt", "dt-tuned", "slm-baseline"):
            is_slm = name == "slm-baseline"
            sizes[name, data_set] = (30, 2) if is_slm else (40, 9)
            shapes[name, data_set] = (10, [1, 4, 8]) if is_slm else (9, [1, *[2] * 9])
    records = make_records(scores, protocol, sizes=sizes, shapes=shapes)
    for record in records.values():
        record.values.update({"setting": {"C": 1000.0, "min_samples_split": 20}, "pure_share": 1.0})
    return records | _untuned(n_splits)


def _untuned(n_splits: int) -> Records:
    """Ablations, curves and small measurements of a whole run."""
    records: Records = {}
    slow, fast = ([0.9 - lag / n for n in convergence.TREES] for lag in (0.5, 0.1))
    for seed in range(n_splits):
        values: dict[str, Any] = {name: fast if "random" not in name else slow for name in convergence.FORESTS}
        values |= {name: [1 - x for x in (slow if name == "xgboost" else fast)] for name in convergence.BOOSTERS}
        for name in convergence.FORESTS:
            strength, correlation = (0.7, 0.3) if name == "random_forest" else (0.9, 0.2)
            values |= {f"{name}_strength": strength, f"{name}_correlation": correlation}
        for data_set in convergence.SETS:
            records[Unit("convergence", "fixed", False, data_set, "ensembles", seed)] = Record(dict(values), 1.0)
        for data_set, source in SOURCES.items():
            for name in ablations.VARIANTS:
                q = {variant: q for q, variant in ablations.MAX_PARTITIONS.items()}.get(name, 2)
                good = 0.6 + 0.05 * q + (0.1 if name not in ablations.UNIFORM else 0.0)
                found = {"score": good if source.is_classes else 1 - good, "depth": 9 - q, "nodes": [1, 2**q]}
                records[Unit("ablation", "fixed", False, data_set, name, seed)] = Record(found, 1.0)
            if not source.is_classes:
                growth = {"errors": [1.0, 0.75, 0.5, 0.46, 0.45]}
                records[Unit("growth", "fixed", False, data_set, ablations.OF, seed)] = Record(growth, 1.0)
            trees = {"bagged_error": 0.2, "bagged_correlation": 0.1}
            if not source.is_classes:
                trees = {"slr_error": 0.15, "rf_error": 0.3, "slr_correlation": 0.2, "rf_correlation": 0.4}
            records[Unit("trees", "fixed", False, data_set, "forests", seed)] = Record(trees, 1.0)
            root = {"n_candidates": 64, "n_effective": 5, "alike": 0.5}
            records[Unit("root", "fixed", False, data_set, ablations.OF, seed)] = Record(root, 1.0)
        svr = {"n_steps": [1000, 50_000], "training_error": [50.0, 2.0], "test_error": [60.0, 7.0]}
        records[Unit("svr", "fixed", False, "friedman-2", "svm-rbf", seed)] = Record(svr, 1.0)
    return records
