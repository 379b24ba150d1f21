"""Runs the units of a report, several at a time, and writes each result as it comes, so that a stopped run goes on.

A unit is the smallest piece of work: one contender (or variant, or pair of ensembles) on one split of one set.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from sublearn.paper import ablations, convergence, measures, search, tree_measures
from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.datasets import SOURCES, load
from sublearn.paper.digests import code_of, is_of_slm
from sublearn.paper.grids import GRIDS
from sublearn.paper.versions import VERSIONS


class Unit(NamedTuple):
    """What is computed, and by which rules."""

    experiment: str  # one of EXPERIMENTS
    protocol: str
    quick: bool
    data_set: str
    subject: str  # a contender or a variant
    seed: int


class Record(NamedTuple):
    """What came out of a unit."""

    values: dict[str, Any]
    seconds: float


Records = dict[Unit, Record]


def run_units(
    units: Sequence[Unit],
    path: Path,
    folder: Path | None,
    jobs: int,
    done: Callable[[Unit, Record], None],
    first: Callable[[], None] | None = None,
) -> Records:
    """Records of all units; those that the file already has are not computed again. `done` is told of each.

    `first` is called by one of several processes, beside the first units, if any is of SLM.
    """
    known = read_records(path)
    keys = keys_of(units)
    records = {unit: known[key] for unit, key in keys.items() if key in known}
    for unit, record in records.items():
        done(unit, record)
    missing = [unit for unit in units if unit not in records]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        _end_line(path, file)
        for unit, record in _compute_all(missing, folder, jobs, first):
            records[unit] = record
            file.write(json.dumps({"key": keys[unit], **record._asdict()}) + "\n")
            file.flush()
            done(unit, record)
    return records


def _end_line(path: Path, file: TextIO) -> None:
    """A run that was killed may have left half a line."""
    text = path.read_bytes()
    if text and not text.endswith(b"\n"):
        file.write("\n")


def _compute_all(
    units: list[Unit], folder: Path | None, jobs: int, first: Callable[[], None] | None
) -> Iterator[tuple[Unit, Record]]:
    """Units with their records, in the order in which they are done."""
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    calls = [delayed(compute)(unit, folder) for unit in units]
    if first is not None and jobs > 1 and any(is_of_slm(unit.experiment, unit.subject) for unit in units):
        calls.insert(0, delayed(first)())
    yield from (found for found in parallel(calls) if found is not None)


def compute(unit: Unit, folder: Path | None) -> tuple[Unit, Record]:
    """The unit comes back with its record, since others may be done before it."""
    begin = time.perf_counter()
    with threadpool_limits(1):  # results must not depend on the number of jobs
        values = EXPERIMENTS[unit.experiment](unit, folder)
    return unit, Record(values, time.perf_counter() - begin)


def _contender(unit: Unit, folder: Path | None) -> dict[str, Any]:
    found = search.try_contender(unit.subject, unit.data_set, unit.seed, unit.protocol, unit.quick, folder)
    return found.described()


def _ablation(unit: Unit, folder: Path | None) -> dict[str, Any]:
    is_classes = SOURCES[unit.data_set].is_classes
    return ablations.try_variant(unit.subject, is_classes, _parts(unit, folder), unit.seed).described()


def _convergence(unit: Unit, folder: Path | None) -> dict[str, Any]:
    return convergence.measured(_parts(unit, folder), unit.seed)


def _root(unit: Unit, folder: Path | None) -> dict[str, Any]:
    return measures.measure_root(SOURCES[unit.data_set].is_classes, _parts(unit, folder), unit.seed)


def _svr(unit: Unit, folder: Path | None) -> dict[str, Any]:
    return measures.measure_svr(_parts(unit, folder), unit.seed)


def _growth(unit: Unit, folder: Path | None) -> dict[str, Any]:
    return tree_measures.measure_growth(_parts(unit, folder), unit.seed)


def _trees(unit: Unit, folder: Path | None) -> dict[str, Any]:
    return tree_measures.measure_trees(SOURCES[unit.data_set].is_classes, _parts(unit, folder), unit.seed)


def _parts(unit: Unit, folder: Path | None) -> search.Split:
    return search.split(load(unit.data_set, unit.seed, folder), unit.seed)


EXPERIMENTS: dict[str, Callable[[Unit, Path | None], dict[str, Any]]] = {
    "contender": _contender,
    "ablation": _ablation,
    "convergence": _convergence,
    "root": _root,
    "svr": _svr,
    "growth": _growth,
    "trees": _trees,
}


def key_of(unit: Unit) -> str:
    """A name for the file: what is computed, and a digest of rules and code, so that others do not find it."""
    return keys_of([unit])[unit]


def keys_of(units: Sequence[Unit]) -> dict[Unit, str]:
    """Of many units; all splits have the same rules, which are put together once."""
    digests = {alike: _digest_of_rules(alike) for alike in dict.fromkeys(unit._replace(seed=0) for unit in units)}
    return {unit: "/".join(map(str, [*unit, digests[unit._replace(seed=0)]])) for unit in units}


def _digest_of_rules(unit: Unit) -> str:
    rules: list[Any] = [code_of(unit.experiment, unit.subject), versions_of(unit), search.TEST_SHARE]
    is_classes = SOURCES[unit.data_set].is_classes
    if unit.experiment == "contender":
        contender = CONTENDERS[unit.subject]
        searched = contender.follows or unit.subject
        rules += [search.N_FOLDS, search.LARGE, search.n_tuning(unit.subject, unit.protocol)]
        rules += [GRIDS[searched], search.settings(searched, unit.protocol, unit.quick)]
        rules += [repr(contender.make(is_classes)(random_state=0).get_params())]
    elif unit.experiment == "ablation":
        fixed = CONTENDERS[ablations.OF].make(is_classes)(random_state=0)
        rules += [ablations.VARIANTS[unit.subject], repr(fixed.get_params())]
    elif unit.experiment == "convergence":
        rules += [convergence.TREES, [repr(model.get_params()) for model in convergence.ensembles(0).values()]]
    elif unit.experiment == "root":
        fixed = CONTENDERS[ablations.OF].make(is_classes)(random_state=0, **ablations.VARIANTS[ablations.GUIDED[-1]])
        rules += [repr(fixed.get_params())]
    elif unit.experiment == "growth":
        rules += [repr(tree_measures.grown_tree(0).get_params())]
    elif unit.experiment == "trees":
        forests = [tree_measures.bagged_forest(0), *tree_measures.number_forests(0).values()]
        rules += [convergence.N_DESCRIBED, [repr(model.get_params()) for model in forests]]
    else:
        rules += [measures.C_VALUES, repr(CONTENDERS["svm-rbf"].make(False)(random_state=0).get_params())]
    return sha256(json.dumps(rules).encode()).hexdigest()[:12]


def versions_of(unit: Unit) -> dict[str, str]:
    """Of the libraries that a unit's numbers come from; scikit-learn and NumPy make the splits of all."""
    libraries = ["scikit-learn", "numpy"]
    if unit.experiment == "convergence" or unit.subject == "xgboost":
        libraries.append("xgboost")
    if is_of_slm(unit.experiment, unit.subject):
        libraries.append("numba")
    return {name: VERSIONS[name] for name in libraries if name in VERSIONS}


def read_records(path: Path) -> dict[str, Record]:
    """Records by key; the line in which a run was stopped is passed over."""
    records = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
                records[entry["key"]] = Record(entry["values"], entry["seconds"])
            except (ValueError, KeyError):
                continue
    return records
