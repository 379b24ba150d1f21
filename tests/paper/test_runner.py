"""The runner: what is known is not computed again, a stopped run goes on, and the number of jobs changes nothing."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reports import patch_grids
from sublearn.paper import ablations, convergence, grids, runner, search
from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.digests import is_of_slm
from sublearn.paper.plan import Order, plan
from sublearn.paper.runner import Record, Unit, key_of, read_records, run_units
from sublearn.paper.versions import VERSIONS

UNITS = [Unit("contender", "honest", False, "iris", name, seed) for seed in range(2) for name in ("dt", "rf")]
VARIANT = Unit("ablation", "fixed", False, "iris", ablations.GUIDED[0], 0)
CURVES = Unit("convergence", "fixed", False, "wine", "ensembles", 0)


class Computer:
    """Stands in for an experiment: counts what it is asked for, and may stop at the n-th unit."""

    def __init__(self, stop: BaseException | None = None, at: int = -1) -> None:
        self.asked: list[Unit] = []
        self.stop, self.at = stop, at

    def __call__(self, unit: Unit, folder: Path | None) -> dict[str, Any]:
        if self.stop is not None and len(self.asked) == self.at:
            raise self.stop
        self.asked.append(unit)
        return {"score": unit.seed + len(unit.subject) / 10, "name": unit.subject}


@pytest.fixture
def computer(monkeypatch: pytest.MonkeyPatch) -> Computer:
    return installed(monkeypatch, Computer())


def installed(monkeypatch: pytest.MonkeyPatch, computer: Computer) -> Computer:
    monkeypatch.setitem(runner.EXPERIMENTS, "contender", computer)
    return computer


def run(units: list[Unit], path: Path) -> tuple[runner.Records, list[Unit]]:
    """Records, and what was told of in the order of telling."""
    told: list[Unit] = []
    return run_units(units, path, None, 1, lambda unit, record: told.append(unit)), told


def test_each_unit_is_computed_told_of_and_written_once(computer: Computer, tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.jsonl"
    records, told = run(UNITS, path)
    assert computer.asked == told == UNITS
    assert [records[unit].values for unit in UNITS] == [Computer()(unit, None) for unit in UNITS]
    assert all(record.seconds >= 0 for record in records.values())
    assert len(path.read_text().splitlines()) == 4


def test_known_records_are_told_of_but_not_computed_again(computer: Computer, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    first, _ = run(UNITS[:3], path)
    again, told = run(UNITS, path)
    assert computer.asked == UNITS
    assert told == UNITS
    assert {unit: again[unit] for unit in UNITS[:3]} == first  # to the last bit, times too
    text = path.read_text()
    run(UNITS, path)
    assert len(computer.asked) == 4
    assert path.read_text() == text


@pytest.mark.parametrize("n_cut", [1, 2, 30, 120])
def test_half_a_line_is_passed_over_and_later_lines_are_kept(n_cut: int, computer: Computer, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    run(UNITS[:2], path)
    last = len(path.read_text().splitlines()[-1])
    path.write_bytes(path.read_bytes()[: -min(n_cut, last)])  # 1: only the end of the line is missing
    lost = [UNITS[1]] if n_cut > 1 else []
    run(UNITS, path)
    assert computer.asked == [*UNITS[:2], *lost, *UNITS[2:]]
    records, _ = run(UNITS, path)
    assert len(computer.asked) == 4 + len(lost)
    assert set(records) == set(UNITS)


def test_line_that_is_no_record_is_passed_over(computer: Computer, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    run(UNITS[:1], path)
    path.write_text('{"key": "other"}\n\nrubbish\n' + path.read_text())
    assert list(read_records(path)) == [key_of(UNITS[0])]
    assert read_records(tmp_path / "none.jsonl") == {}


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), RuntimeError("out of memory")])
def test_stopped_run_goes_on_where_it_was(stop: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.jsonl"
    stopped = installed(monkeypatch, Computer(stop, 3))
    with pytest.raises(type(stop)):
        run(UNITS, path)
    assert stopped.asked == UNITS[:3]
    going_on = installed(monkeypatch, Computer())
    records, _ = run(UNITS, path)
    assert going_on.asked == UNITS[3:]
    assert set(records) == set(UNITS)


def test_record_is_on_file_before_anybody_is_told(computer: Computer, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    n_lines = []
    run_units(UNITS, path, None, 1, lambda unit, record: n_lines.append(len(path.read_text().splitlines())))
    assert n_lines == [1, 2, 3, 4]


@pytest.mark.parametrize("change", [{"protocol": "paper"}, {"quick": True}, {"seed": 7}, {"data_set": "wine"}])
def test_other_rules_or_splits_do_not_find_old_records(
    change: dict[str, Any], computer: Computer, tmp_path: Path
) -> None:
    path = tmp_path / "results.jsonl"
    run(UNITS[:1], path)
    other = UNITS[0]._replace(**change)
    run([other], path)
    assert computer.asked == [UNITS[0], other]


def test_other_grid_and_other_version_do_not_find_old_records(
    computer: Computer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "results.jsonl"
    run(UNITS, path)
    monkeypatch.setitem(grids.GRIDS, "rf", {"max_depth": [77]})
    run(UNITS, path)
    again = [unit for unit in UNITS if unit.subject == "rf"]
    assert computer.asked == [*UNITS, *again]
    monkeypatch.setitem(VERSIONS, "scikit-learn", "77.0")
    run(UNITS, path)
    assert computer.asked == [*UNITS, *again, *UNITS]


@pytest.mark.parametrize(
    ("rule", "value"), [("N_FOLDS", 77), ("LARGE", 77), ("N_TUNING", {"honest": 77}), ("N_TUNING_SLOW", {"dt": 77})]
)
def test_other_rules_of_tuning_do_not_find_old_records(rule: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(UNITS[0])
    monkeypatch.setattr(search, rule, value)
    assert key_of(UNITS[0]) != before


@pytest.mark.parametrize(
    ("unit", "libraries"),
    [
        (UNITS[0], {"scikit-learn", "numpy"}),
        (UNITS[0]._replace(subject="xgboost"), {"scikit-learn", "numpy", "xgboost"}),
        (UNITS[0]._replace(subject="slm-boost"), {"scikit-learn", "numpy", "numba"}),
        (VARIANT, {"scikit-learn", "numpy", "numba"}),
        (CURVES, {"scikit-learn", "numpy", "numba", "xgboost"}),
    ],
)
def test_other_versions_of_what_is_used_and_other_shares_do_not_find_old_records(
    unit: Unit, libraries: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key_of(unit)
    for library in VERSIONS:
        with monkeypatch.context() as patch:
            patch.setitem(VERSIONS, library, "77.0")
            assert (key_of(unit) != before) == (library in libraries), library
    monkeypatch.setattr(search, "TEST_SHARE", 0.5)
    assert key_of(unit) != before


@pytest.mark.parametrize(
    ("name", "fixed"),
    [
        ("rf", {"n_estimators": 77}),
        ("lsvm", {"svc__max_iter": 77}),
        ("xgboost", {"n_estimators": 77}),
        ("bp-mlp", {"n_epochs": 77}),
        ("slm-forest", {"voting": "soft"}),
        (ablations.OF, {"n_bins": 77}),
    ],
)
def test_other_fixed_parameters_do_not_find_old_records(
    name: str, fixed: dict[str, Any], computer: Computer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(runner.EXPERIMENTS, "ablation", computer)
    path = tmp_path / "results.jsonl"
    unit = UNITS[0]._replace(subject=name)
    run([unit, UNITS[0], VARIANT], path)
    contender = CONTENDERS[name]
    make = contender.make(True)
    other = contender._replace(classes=lambda **searched: make(**searched).set_params(**fixed))
    monkeypatch.setitem(CONTENDERS, name, other)
    run([unit, UNITS[0], VARIANT], path)
    again = [unit, VARIANT] if name == ablations.OF else [unit]
    assert computer.asked == [unit, UNITS[0], VARIANT, *again]


def test_grid_of_another_that_is_followed_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    units = [UNITS[0]._replace(subject=name) for name in ("ff-mlp", "bp-mlp", "dt")]
    before = [key_of(unit) for unit in units]
    monkeypatch.setitem(grids.GRIDS, "ff-mlp", {"n_components": [7]})
    assert [key_of(unit) != key for unit, key in zip(units, before, strict=True)] == [True, True, False]


def test_other_settings_of_the_quick_form_do_not_find_old_records(monkeypatch: pytest.MonkeyPatch) -> None:
    units = [UNITS[1]._replace(quick=quick) for quick in (True, False)]
    before = [key_of(unit) for unit in units]
    monkeypatch.setitem(grids.QUICK, "rf", [{"max_depth": 77}])
    assert [key_of(unit) != key for unit, key in zip(units, before, strict=True)] == [True, False]


def test_other_settings_of_ablations_and_curves_do_not_find_old_records(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(VARIANT), key_of(CURVES)
    monkeypatch.setitem(ablations.VARIANTS, ablations.GUIDED[0], {"n_projections": 5})
    monkeypatch.setitem(convergence.BOOSTING, "max_depth", 5)
    after = key_of(VARIANT), key_of(CURVES)
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_keys_of_a_whole_report_differ() -> None:
    units = list(plan(Order(quick=True)))
    assert len({key_of(unit) for unit in units}) == len(set(units)) == len(units)


def test_plan_goes_split_by_split_over_what_is_wanted() -> None:
    order = Order(seed=3, quick=True, data_sets=("iris", "diabetes"), contenders=("ff-mlp", "rf"), parts=("table1",))
    assert [(unit.data_set, unit.subject, unit.seed) for unit in plan(order)] == [
        ("iris", name, seed) for seed in order.seeds for name in ("ff-mlp", "rf")
    ]
    assert order.seeds[0] == 3
    assert len(order.seeds) < len(Order().seeds)
    # ensembles are not in Table II, networks not in Table III
    assert {unit.subject for unit in plan(order._replace(parts=("table2",)))} == {"ff-mlp"}
    assert {unit.subject for unit in plan(order._replace(parts=("table3",)))} == {"rf"}
    assert not list(plan(order._replace(parts=("fig1", "fig2", "fig3"))))


def test_plan_of_a_quick_run_has_peers_before_slm_and_both_split_by_split() -> None:
    units = list(plan(Order(quick=True)))
    assert len({is_of_slm(unit.experiment, unit.subject) for unit in units}) == 2
    assert units == sorted(units, key=lambda unit: (is_of_slm(unit.experiment, unit.subject), unit.seed))
    whole = [unit.seed for unit in plan(Order())]
    assert whole == sorted(whole)


def test_unit_of_two_parts_is_computed_once() -> None:
    order = Order(data_sets=("circle-and-ring",), parts=("table1", "table2", "fig4"))
    units = list(plan(order))
    assert len(set(units)) == len(units)
    assert {unit.seed for unit in units if unit.subject == "slm-baseline"} == set(order.seeds)


def test_all_experiments_survive_their_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patch_grids(monkeypatch)
    monkeypatch.setattr(convergence, "TREES", (1, 2))
    units = [
        UNITS[0],
        Unit("contender", "paper", True, "diabetes", "slm-baseline", 0),
        Unit("ablation", "fixed", False, "iris", ablations.UNIFORM[0], 0),
        Unit("convergence", "fixed", False, "wine", "ensembles", 0),
    ]
    records, _ = run(units, tmp_path / "results.jsonl")
    read = read_records(tmp_path / "results.jsonl")
    assert {key_of(unit): record for unit, record in records.items()} == read
    assert [len(records[units[3]].values[name]) for name in convergence.NAMES] == [2] * 6


def test_results_do_not_depend_on_the_number_of_jobs(tmp_path: Path) -> None:
    units = [
        *(Unit("contender", "honest", True, name, "elm", seed) for name in ("iris", "diabetes") for seed in (0, 1)),
        *(Unit("ablation", "fixed", False, "iris", ablations.GUIDED[0], seed) for seed in (0, 1)),
    ]
    values = []
    for jobs in (1, 2):
        told: dict[Unit, Record] = {}
        path = tmp_path / f"{jobs}.jsonl"
        records = run_units(units, path, None, jobs, told.__setitem__)
        assert told == records
        assert {json.loads(line)["key"] for line in path.read_text().splitlines()} == set(map(key_of, units))
        values.append({unit: records[unit].values for unit in units})
    assert values[0] == values[1]


def test_kernels_are_compiled_first_by_one_of_several_processes_if_a_unit_needs_them(tmp_path: Path) -> None:
    peer, own = (Unit("contender", "honest", True, "iris", name, 0) for name in ("dt", "slm-baseline"))
    for units, jobs, n_calls in (([peer], 2, 0), ([own], 1, 0), ([peer, own], 2, 1), ([peer, own], 2, 0)):
        calls = tmp_path / "calls"
        calls.write_text("")
        first = partial(note_call, calls)
        records = run_units(units, tmp_path / f"{jobs}.jsonl", None, jobs, lambda unit, record: None, first)
        assert set(records) == set(units)
        assert calls.read_text() == "called\n" * n_calls  # the last time all is known


def note_call(path: Path) -> None:
    with path.open("a") as file:
        file.write("called\n")
