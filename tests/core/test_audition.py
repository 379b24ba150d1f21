"""Auditions: which settings are tried on which parts, which of them is chosen, and what comes of it in estimators."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from boosting import OwnSquares, data_for, make, same_model, same_scores
from naive import Array
from sublearn._base import boosting_choice as estimators
from sublearn.core import parallel
from sublearn.core.boosting import audition, auto, choosing
from sublearn.core.boosting.audition import Entry, Stage, Task, audition_for_average, is_clear
from sublearn.core.boosting.auto import AUDITIONED, Scale, Setting
from sublearn.core.boosting.losses import Huber, Loss, SquaredError
from sublearn.core.boosting.parameters import BoostParameters
from sublearn.core.boosting.problem import Problem, make_problem
from sublearn.core.boosting.rounds import Growth
from sublearn.core.boosting.trial import Parted, Trial
from sublearn.core.data.fixed_point import UNIT, Weights
from sublearn.core.keys import key_below
from sublearn.core.tree.projection import plan_projections
from support import ONE_THREAD, PARAMETERS, transposed

NAMES = ("usual", "a", "b", "c", "d")
SCALE = Scale(below=math.inf, max_depth=3, n_rounds=10, trial_rate=0.3, n_trials=3, n_parts=5)
KEY = 11
KEYS = {"name", "settings", "scores", "seconds", "n_chosen"}
USUAL = Setting("usual", {})
SETTINGS = (
    Setting("lines", {"leaf": "linear", "max_depth": 2}),
    Setting("rows", {"subsample": 0.6, "min_samples_leaf": 1}, 0.01),
    Setting("both", {"leaf": "linear", "max_depth": 2, "subsample": 0.6}),
    Setting("deep", {"max_depth": 5}),
)
ROWS = {"subsample", "min_samples_leaf"}
OPEN: dict[str, Any] = dict.fromkeys((*AUDITIONED, "learning_rate"), "auto")
QUICK: dict[str, Any] = {"n_projections": 6, "n_estimators": 5, "min_gain": 1.0}
TASKS = ("squared_error", "huber", "two classes", "three classes")


@pytest.fixture(autouse=True)
def rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """When settings go on and lead, whatever the usual numbers are."""
    for name, number in (("PROBE", 4), ("CLEAR", 1.0)):
        monkeypatch.setattr(audition, name, number)


def named(*names: str) -> list[Setting]:
    return [Setting(name, {}) for name in names]


def problem_of(n: int = 60, loss: Loss | None = None) -> Problem:
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.permutation(n) * 20 - 10 * n, rng.integers(-500, 500, (n, 2))])
    y = codes[:, 0] / 100 + rng.normal(size=n)
    return make_problem(transposed(codes), y, UNIT, np.empty(0), loss or SquaredError(), np.zeros((n, 1)))


def growth_for(setting: Setting, rate: float) -> Growth:
    """A growth by which a setting is known again: the name is in l2."""
    l2 = float(NAMES.index(setting.name)) if setting.name in NAMES else 1.0
    boost = BoostParameters(rate, l2, 0.0, 1.0, 1.0, False)
    return Growth(PARAMETERS, plan_projections(PARAMETERS, 3), boost, 999)


def stage_of(problem: Problem | None = None, scale: Scale = SCALE, longest: float = 30.0) -> Stage:
    return Stage(problem or problem_of(), growth_for, scale, longest, KEY, ONE_THREAD)


class Call(NamedTuple):
    """What is tried: a setting, on a part, for so many rounds in all, beside a rival by the same names."""

    name: str
    part: int
    n_rounds: int
    rival: tuple[str, int] | None = None


class Scripted(Trial):
    """A trial that goes as it is told, by name and part: its score after each round, and the error of its answers."""

    calls: list[Call]
    curves: Mapping[tuple[str, int], Sequence[float]]
    errors: Mapping[tuple[str, int], Any]
    stage: Stage

    def __init__(self, given: Parted, growth: Growth) -> None:
        super().__init__(given, growth)
        part = next(p for p, one in enumerate(self.stage.parted) if one is given)
        assert growth.key == key_below(KEY, part)  # the same draws for all settings
        assert growth.boost.learning_rate == self.stage.scale.trial_rate
        self.known_as = NAMES[int(growth.boost.l2)], part
        self.raw = given.testing.y[:, None] + self.errors.get(self.known_as, 0.0)

    def run(self, n_rounds: int, rival: Trial | None, workers: Any) -> None:
        beside = rival.known_as if isinstance(rival, Scripted) else None
        self.calls.append(Call(*self.known_as, n_rounds, beside))
        self.curve = list(self.curves.get(self.known_as, [-1.0])[: n_rounds + 1])
        self.seconds += 0.5


def script(stage: Stage, losses: Mapping[str, Sequence[float]], monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Let trials come to these losses, by name and part, in two rounds; what is called is noted."""
    each = {(name, part): loss for name, of_parts in losses.items() for part, loss in enumerate(of_parts)}
    curves = {key: [-2 * loss, -1.5 * loss, -loss] for key, loss in each.items()}
    return script_curves(stage, curves, {key: math.sqrt(2 * loss) for key, loss in each.items()}, monkeypatch)


def script_curves(
    stage: Stage,
    curves: Mapping[tuple[str, int], Sequence[float]],
    errors: Mapping[tuple[str, int], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> list[Call]:
    calls: list[Call] = []
    for name, value in (("calls", calls), ("curves", curves), ("errors", errors), ("stage", stage)):
        monkeypatch.setattr(Scripted, name, value, raising=False)
    monkeypatch.setattr(audition, "Trial", Scripted)
    return calls


# ---- the stage ----


def test_each_part_is_held_out_once() -> None:
    problem = problem_of()
    stage = stage_of(problem)
    assert len(stage.parted) == SCALE.n_trials
    tested = [set(one.testing.y.tolist()) for one in stage.parted]
    assert [len(part) for part in tested] == [12] * 3
    assert len(set.union(*tested)) == 36
    for one, held_out in zip(stage.parted, tested, strict=True):
        assert set(one.training.y.tolist()) == set(problem.y.tolist()) - held_out


@pytest.mark.parametrize(("longest", "n_rounds"), [(30.0, 100), (3.0, 10), (0.4, 1)])
def test_trials_go_a_distance(longest: float, n_rounds: int) -> None:
    assert stage_of(longest=longest).n_rounds == n_rounds


@pytest.mark.parametrize("loss", [SquaredError(), Huber(0.7)])
def test_losses_of_single_samples_are_those_by_which_a_trial_is_scored(loss: Loss) -> None:
    """Huber's distance is that of the samples a trial has learned from, in the unit of the target."""
    problem = problem_of(loss=loss)
    stage = stage_of(problem._replace(y=1000 * problem.y), longest=3.0)
    entry = Entry(Setting("usual", {}))
    stage.run([Task(entry, 0, stage.n_rounds)])
    assert -entry.trials[0].losses().mean() == pytest.approx(entry.trials[0].best)
    testing = stage.parted[0].testing._replace(raw=entry.trials[0].raw)
    assert testing.score(ONE_THREAD) == entry.trials[0].best


# ---- one setting ----


def test_settings_are_tried_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual one to the end, the others for some rounds of the first part; the best of these goes on."""
    stage = stage_of()
    losses = {"usual": [1.0, 2.0, 3.0], "a": [0.9, 1.0, 1.0], "b": [1.1], "c": [0.8, 1.5, 2.0], "d": [0.95]}
    calls = script(stage, losses, monkeypatch)
    found = audition.audition(named(*NAMES), stage)
    n, first = stage.n_rounds, ("usual", 0)
    assert calls[0] == Call("usual", 0, n)
    assert sorted(calls[1:7]) == sorted(
        [*(Call(name, 0, 4, first) for name in "abcd"), Call("usual", 1, n), Call("usual", 2, n)]
    )
    assert calls[7:] == [Call("c", part, n, ("usual", part)) for part in range(3)]
    assert [entry.setting.name for entry in found.entries] == list(NAMES)
    assert [len(entry.trials) for entry in found.entries] == [3, 1, 1, 3, 1]
    assert found.chosen == [found.entries[3]]
    assert found.entries[3].score == pytest.approx(-4.3 / 3)


def test_settings_are_compared_after_as_many_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual one may be better by then."""
    for at_probe, goes_on in ((-2.0, True), (-1.5, False), (-1.4, False)):
        stage = stage_of(scale=SCALE._replace(n_trials=1))
        usual = [-3.0, -2.5, -2.2, -2.1, at_probe, -0.5]
        curves = {("usual", 0): usual, ("a", 0): [-3.0, -2.0, -1.7, -1.6, -1.5, -0.1]}
        calls = script_curves(stage, curves, {("usual", 0): 1.0}, monkeypatch)
        found = audition.audition(named("usual", "a"), stage)
        assert (len(calls) == 3) == goes_on
        assert found.chosen == [found.entries[goes_on]]


def test_trials_are_no_longer_than_they_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of(longest=0.6)
    calls = script(stage, {"usual": [1.0] * 3, "a": [0.5] * 3}, monkeypatch)
    audition.audition(named("usual", "a"), stage)
    assert {call.n_rounds for call in calls} == {2}


def test_what_is_not_ahead_on_the_first_part_does_not_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of()
    calls = script(stage, {"usual": [1.0] * 3, "a": [1.0], "b": [1.5]}, monkeypatch)
    found = audition.audition(named("usual", "a", "b"), stage)
    assert len(calls) == 5
    assert found.chosen == [found.entries[0]]


def test_the_usual_setting_stays_without_a_clear_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of()
    script(stage, {"usual": [1.0] * 3, "a": [0.95] * 3, "b": [0.9, 0.99, 0.99]}, monkeypatch)
    monkeypatch.setattr(audition, "CLEAR", 0.0)
    for least, chosen in ((0.03, "b"), (0.05, "usual")):  # b leads by 0.04
        settings = [setting._replace(lead=least) for setting in named("usual", "a", "b")]
        found = audition.audition(settings, stage)
        assert [entry.setting.name for entry in found.chosen] == [chosen]


def test_one_setting_needs_no_rival(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of()
    calls = script(stage, {"usual": [1.0] * 3}, monkeypatch)
    found = audition.audition(named("usual"), stage)
    assert calls == [Call("usual", part, stage.n_rounds) for part in range(3)]
    assert found.chosen == found.entries


# ---- what is clear ----


def parted_of(n: int, weights: Weights = UNIT, factors: Array | None = None) -> Parted:
    """All samples are held out, and have target 0."""
    codes, nothing = np.arange(n)[:, None], np.empty(0)
    problem = make_problem(
        transposed(codes),
        np.zeros(n),
        weights,
        nothing if factors is None else factors,
        SquaredError(),
        np.zeros((n, 1)),
    )
    return Parted(problem, problem)


class Finished(Trial):
    """A trial of which only the answers matter."""

    def __init__(self, given: Parted, losses: Sequence[float], score: float) -> None:
        self.testing, self.curve, self.seconds = given.testing, [score], 0.0
        self.raw = np.sqrt(2 * np.array(losses))[:, None]


def entry_of(parted: list[Parted], *parts: Sequence[float], score: float = -1.0) -> Entry:
    """One whose samples have these losses."""
    entry = Entry(Setting("", {}))
    for p, losses in enumerate(parts):
        entry.trials[p] = Finished(parted[p], losses, score)
    return entry


USUAL_LOSSES, LOSSES = (1.0, 1.0, 1.0, 1.0), (0.0, 0.5, 0.0, 0.5)  # leads 1, 0.5, 1, 0.5


def leads_by(usual: Entry, entry: Entry, monkeypatch: pytest.MonkeyPatch) -> tuple[float, float]:
    """Standard errors, and share of the usual loss, up to which a lead is clear; found by halves."""

    def is_clear_by(errors: float, share: float) -> bool:
        monkeypatch.setattr(audition, "CLEAR", errors)
        entry.setting = entry.setting._replace(lead=share)
        return is_clear(entry, usual)

    found = []
    for is_errors in (True, False):
        low, high = -100.0, 100.0
        for _ in range(60):
            middle = (low + high) / 2
            clear = is_clear_by(middle, -math.inf) if is_errors else is_clear_by(-math.inf, middle)
            low, high = (middle, high) if clear else (low, middle)
        found.append(low)
    return found[0], found[1]


def test_a_lead_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    four = [parted_of(4)]
    usual, entry = entry_of(four, USUAL_LOSSES), entry_of(four, LOSSES)
    assert leads_by(usual, entry, monkeypatch) == pytest.approx((6.0, 0.75))  # mean 0.75, deviation 0.25, 4 samples
    # the share is that of the usual setting's loss
    assert leads_by(entry_of(four, USUAL_LOSSES, score=-3.0), entry, monkeypatch) == pytest.approx((6.0, 0.25))
    assert leads_by(entry, usual, monkeypatch) == pytest.approx((-6.0, -0.75))


def test_samples_of_all_parts_count(monkeypatch: pytest.MonkeyPatch) -> None:
    parted = [parted_of(4), parted_of(2)]
    usual, entry = (entry_of(parted, losses, (1.0, 1.0)) for losses in (USUAL_LOSSES, LOSSES))
    # leads 1, 0.5, 1, 0.5 and 0, 0: mean 0.5, mean square 2.5 / 6
    assert leads_by(usual, entry, monkeypatch) == pytest.approx((0.5 / math.sqrt((2.5 / 6 - 0.25) / 6), 0.5))


def test_weights_in_a_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    three = np.array([1, 1, 1, 3])

    def lead_with(given: Parted) -> tuple[float, float]:
        return leads_by(entry_of([given], USUAL_LOSSES), entry_of([given], LOSSES), monkeypatch)

    found = lead_with(parted_of(4, Weights(three, three)))
    assert found == pytest.approx((math.sqrt(48), 4 / 6))  # mean 4/6, mean square 3/6, and 6 samples
    six = [parted_of(6)]
    usual, entry = entry_of(six, (1.0,) * 6), entry_of(six, (*LOSSES, 0.5, 0.5))
    assert leads_by(usual, entry, monkeypatch) == pytest.approx(found)
    # rows of weights that are not whole numbers, or of classes that weigh more, count once
    for given in (parted_of(4, Weights(three, np.ones(4, np.int64), 0.3)), parted_of(4, UNIT, three.astype(float))):
        assert lead_with(given) == pytest.approx((math.sqrt(48 * 4 / 6), 4 / 6))


def test_the_same_lead_everywhere_is_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audition, "CLEAR", 1e6)
    three = [parted_of(3)]
    usual, close, far = (entry_of(three, (loss,) * 3) for loss in (1.0, 0.75, 0.5))
    for entry in (usual, close, far):
        entry.setting = entry.setting._replace(lead=0.3)
    assert [is_clear(entry, usual) for entry in (usual, close, far)] == [False, False, True]


# ---- several settings, whose answers are averaged ----


def raws(values: dict[str, float], stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Let trials be off by these numbers, everywhere."""
    errors = {(name, part): off for name, off in values.items() for part in range(3)}
    return script_curves(stage, {}, errors, monkeypatch)


def test_the_mean_answer_decides_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of()
    calls = raws({"usual": 1.0, "a": 0.9, "b": -1.0}, stage, monkeypatch)
    found = audition_for_average(named("usual", "a", "b"), 4, stage)
    expected = [Call(name, part, stage.n_rounds) for name in ("usual", "a", "b") for part in range(3)]
    assert calls == expected  # none has a rival
    # off by 0.9; then by -0.1 / 2, 0.8 / 3 and -0.2 / 4
    assert [entry.setting.name for entry in found.chosen] == ["a", "b", "a", "b"]
    assert [entry.setting.name for entry in found.entries] == ["usual", "a", "b"]


def test_one_that_is_right_is_chosen_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of()
    raws({"usual": 1.0, "a": 0.01, "b": -1.0}, stage, monkeypatch)
    found = audition_for_average(named("usual", "a", "b"), 3, stage)
    assert found.chosen == [found.entries[1]] * 3
    raws({"usual": 1.0, "a": 1.0}, stage, monkeypatch)
    found = audition_for_average(named("usual", "a"), 2, stage)
    assert found.chosen == [found.entries[0]] * 2  # of equals the first


@pytest.mark.parametrize("seed", range(3))
def test_averages_are_those_of_a_search_over_all(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of()
    rng = np.random.default_rng(seed)
    answers = {
        name: [one.testing.y[:, None] + rng.normal() + rng.normal(size=one.testing.raw.shape) for one in stage.parted]
        for name in NAMES
    }

    errors = {
        (name, p): raw - stage.parted[p].testing.y[:, None] for name in NAMES for p, raw in enumerate(answers[name])
    }
    script_curves(stage, {}, errors, monkeypatch)
    chosen: list[str] = []
    for _ in range(6):
        losses = {}
        for name in NAMES:
            means = [np.mean([answers[one][p] for one in [*chosen, name]], axis=0) for p in range(3)]
            losses[name] = np.mean([((stage.parted[p].testing.y - means[p][:, 0]) ** 2).mean() for p in range(3)])
        chosen.append(min(NAMES, key=lambda name: losses[name]))
    found = audition_for_average(named(*NAMES), 6, stage)
    assert [entry.setting.name for entry in found.chosen] == chosen


def test_what_users_are_told() -> None:
    entry = entry_of([parted_of(2), parted_of(2)], (1.0, 1.0), (1.0, 1.0), score=-1.5)
    entry.trials[0].seconds = 0.25
    told = {"name": "", "settings": {"max_depth": 3}, "scores": [-1.5, -1.5], "seconds": 0.25, "n_chosen": 2}
    assert entry.told({"max_depth": 3}, 2) == told


# ---- which settings there are ----


def names_of(settings: Sequence[Setting]) -> list[str]:
    return [setting.name for setting in settings]


def offer(settings: Sequence[Setting], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let these be the settings that suit; without linear leaves where a loss cannot have them."""

    def settings_for(n_samples: int, n_outputs: int, is_classes: bool, may_be_linear: bool) -> list[Setting]:
        return [one for one in settings if may_be_linear or one.changes.get("leaf") != "linear"]

    monkeypatch.setattr(estimators, "settings_for", settings_for)


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few settings and one scale, whatever the usual ones are; trials are short."""
    monkeypatch.setattr(auto, "SCALES", (SCALE,))
    offer((USUAL, *SETTINGS), monkeypatch)
    monkeypatch.setattr(choosing, "DISTANCE", 1.5)


def to_audition(loss: Loss | None = None, **given: Any) -> list[Setting]:
    found: list[Setting] = make("squared_error", **OPEN | given)._to_audition(loss or SquaredError(), 60, 1, False)
    return found


@pytest.mark.usefixtures("ours")
def test_all_settings_are_tried_where_nothing_is_given() -> None:
    assert to_audition() == [USUAL, *SETTINGS]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"max_depth": 4}, {"lines": {"leaf"}, "rows": ROWS, "both": {"leaf", "subsample"}}),
        ({"leaf": "constant"}, {"rows": ROWS, "deep": {"max_depth"}}),
        ({"subsample": 0.6}, {"lines": {"leaf", "max_depth"}, "rows": {"min_samples_leaf"}, "deep": {"max_depth"}}),
        ({"max_depth": 4, "leaf": "linear"}, {"rows": ROWS, "both": {"subsample"}}),
        ({"max_depth": 4, "leaf": "linear", "subsample": 1.0}, {"rows": {"min_samples_leaf"}}),
        ({"max_depth": 4, "leaf": "linear", "subsample": 0.5, "min_samples_leaf": 3}, {}),
        ({"l2_regularization": 7.0}, {setting.name: set(setting.changes) for setting in SETTINGS}),
    ],
)
@pytest.mark.usefixtures("ours")
def test_what_is_given_is_not_tried(given: dict[str, Any], expected: dict[str, set[str]]) -> None:
    """And settings that become equal are listed once: "both" is "lines" where rows are given."""
    usual, *others = to_audition(**given)
    assert usual == USUAL
    assert {setting.name: set(setting.changes) for setting in others} == expected
    for setting in others:
        before = next(one for one in SETTINGS if one.name == setting.name)
        assert setting.changes == {name: before.changes[name] for name in setting.changes}
        assert (setting.late, setting.lead) == (before.late, before.lead)


@pytest.mark.usefixtures("ours")
def test_a_setting_that_says_what_is_usual_is_not_tried_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    depths = {"same": SCALE.max_depth, "more": SCALE.max_depth + 1}
    settings = [Setting(name, {**USUAL.changes, "max_depth": depth}) for name, depth in depths.items()]
    offer([USUAL, *settings], monkeypatch)
    assert names_of(to_audition()) == ["usual", "more"]


@pytest.mark.usefixtures("ours")
def test_losses_with_leaves_of_their_own_never_audition_linear_ones() -> None:
    assert names_of(to_audition(Huber(0.9))) == ["usual", "rows", "deep"]


@pytest.mark.parametrize("n_classes", [0, 2, 3, 30])
@pytest.mark.parametrize("n", [60, 2_000, 5_000, 30_000, 100_000])
def test_the_settings_there_really_are(n: int, n_classes: int) -> None:
    model = make("squared_error", **OPEN)
    for loss, may_be_linear in ((SquaredError(), True), (Huber(0.9), False)):
        n_outputs = n_classes if n_classes > 2 else 1
        found = model._to_audition(loss, n, n_outputs, n_classes > 0)
        resolved = [model._settings_for(setting, n) for setting in found]
        assert (len(found) > 1) == (may_be_linear and n_outputs <= auto.FEW_OUTPUTS)
        assert len({str(one) for one in resolved}) == len(set(names_of(found))) == len(found)
        assert all(set(setting.changes) <= set(AUDITIONED) for setting in found)
        if n_outputs <= auto.FEW_OUTPUTS:
            assert ("linear" in {one["leaf"] for one in resolved}) == may_be_linear


@pytest.mark.parametrize("name", AUDITIONED)
def test_each_parameter_can_be_given(name: str) -> None:
    """Of the settings there really are."""
    values: dict[str, Any] = {"max_depth": 3, "min_samples_leaf": 2, "l2_regularization": 3.0, "subsample": 0.5}
    values["leaf"] = "constant"
    model = make("squared_error", **OPEN | {name: values[name]})
    found = model._to_audition(SquaredError(), 60, 1, False)
    resolved = [model._settings_for(setting, 60) for setting in found]
    assert all(one[name] == values[name] for one in resolved)
    assert all(name not in setting.changes for setting in found)
    assert len({str(one) for one in resolved}) == len(found)
    assert len(set(names_of(found))) == len(found)
    assert len(to_audition(**values)) == 1
    assert set(resolved[0]) == set(AUDITIONED)


# ---- estimators ----


def open_to(task: str, **given: Any) -> Any:
    return make(task, **OPEN | QUICK | given)


def lead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let any setting that is ahead be chosen."""
    monkeypatch.setattr(audition, "is_clear", lambda entry, usual: True)


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("chosen", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("task", TASKS)
def test_what_was_found_can_be_given(task: str, chosen: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings, rate and rounds make the same model, to the bit."""
    X, y = data_for(task)
    offered = [one for one in SETTINGS if task != "huber" or "leaf" not in one.changes]
    if chosen is not None:
        chosen %= len(offered)
        monkeypatch.setattr(choosing, "audition", choosing_number(chosen + 1))
    found = open_to(task).fit(X, y)
    assert set(found.settings_) == {*AUDITIONED, "n_models"}
    given = {**found.settings_, "learning_rate": found.learning_rate_, "n_estimators": found.n_iter_}
    told = open_to(task, **given).fit(X, y)
    assert same_model(found, told, X)
    assert same_scores(found, told)
    assert told.settings_ == found.settings_
    assert told.audition_ == []
    if chosen is not None:
        (won,) = [entry for entry in found.audition_ if entry["n_chosen"]]
        assert won["name"] == offered[chosen].name
        assert found.settings_ == won["settings"] | {"n_models": 1}
        assert found.settings_.items() >= offered[chosen].changes.items()
        has_slopes = found.ensemble_.nodes.slopes.feature.size > 0
        assert has_slopes == (found.settings_["leaf"] == "linear")


def choosing_number(number: int) -> Any:
    """An audition that chooses the setting of this number."""

    def choose(settings: Sequence[Setting], stage: Stage) -> audition.Audition:
        found = audition.audition(settings, stage)
        return found._replace(chosen=[found.entries[number]])

    return choose


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("task", TASKS)
def test_what_an_audition_tells(task: str) -> None:
    X, y = data_for(task)
    model = open_to(task).fit(X, y)
    offered = [one for one in SETTINGS if task != "huber" or "leaf" not in one.changes]
    assert [entry["name"] for entry in model.audition_] == ["usual", *names_of(offered)]
    assert all(set(entry) == KEYS for entry in model.audition_)
    usual, *others = model.audition_
    for entry, setting in zip(others, offered, strict=True):
        assert set(entry["settings"]) == set(AUDITIONED)
        assert entry["settings"].items() >= setting.changes.items()
    assert sum(entry["n_chosen"] for entry in model.audition_) == 1
    assert len(usual["scores"]) == SCALE.n_trials
    assert {len(entry["scores"]) for entry in others} <= {1, SCALE.n_trials}
    assert all(max(entry["scores"]) < 0 and entry["seconds"] > 0 for entry in model.audition_)
    (won,) = [entry for entry in model.audition_ if entry["n_chosen"]]
    assert model.settings_ == won["settings"] | {"n_models": 1}


@pytest.mark.parametrize("task", TASKS)
def test_what_the_real_settings_find_can_be_given(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "DISTANCE", 1.5)
    X, y = data_for(task)
    found = open_to(task).fit(X, y)
    assert (len(found.audition_) > 1) == (task != "huber")  # whose leaves have values of their own
    given = {**found.settings_, "learning_rate": found.learning_rate_, "n_estimators": found.n_iter_}
    assert same_model(found, open_to(task, **given).fit(X, y), X)


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("factor", [2.0**-20, 2.0**20])
@pytest.mark.parametrize("task", ["squared_error", "huber"])
def test_the_unit_of_the_target_does_not_matter(task: str, factor: float) -> None:
    X, y = data_for(task)
    one, other = open_to(task).fit(X, y), open_to(task).fit(X, factor * y)
    assert one.settings_ == other.settings_
    assert one.learning_rate_ == other.learning_rate_
    square = factor * factor
    scores = [[sum(entry["scores"]) for entry in model.audition_] for model in (one, other)]
    assert scores[1] == pytest.approx([square * score for score in scores[0]])
    np.testing.assert_allclose(other.predict(X), factor * one.predict(X), rtol=1e-9)


def told_alike(models: Sequence[Any]) -> bool:
    """Whether auditions have come to the same; their scores are sums in another order."""
    rows = [[(entry["name"], len(entry["scores"]), entry["n_chosen"]) for entry in model.audition_] for model in models]
    return all(one == rows[0] for one in rows) and all(model.settings_ == models[0].settings_ for model in models)


@pytest.mark.usefixtures("ours", "divided")
@pytest.mark.parametrize("task", ["squared_error", "three classes"])
def test_the_model_is_the_same_for_every_number_of_jobs(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lead(monkeypatch)
    X, y = data_for(task, n=120)
    models = [open_to(task, n_jobs=n).fit(X, y) for n in (1, 2, 3)]
    assert told_alike(models)
    assert all(same_model(models[0], other, X) and same_scores(models[0], other) for other in models[1:])
    monkeypatch.setattr(audition, "SIDE_BY_SIDE", 1)
    monkeypatch.setattr(parallel, "SMALL", 50_000)
    assert same_model(open_to(task, n_jobs=3).fit(X, y), models[0], X)


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("task", TASKS)
def test_order_of_rows_does_not_matter(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lead(monkeypatch)
    X, y = data_for(task)
    order = np.random.default_rng(2).permutation(len(y))
    models = [open_to(task).fit(X, y), open_to(task).fit(X[order], y[order])]
    assert told_alike(models)
    assert same_model(models[0], models[1], X)


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("task", TASKS)
def test_weight_two_is_the_row_twice(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lead(monkeypatch)
    X, y = data_for(task)
    X = np.round(X, 1)
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = open_to(task, racing_samples=None).fit(X, y, sample_weight=weights)
    repeated = open_to(task, racing_samples=None).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert told_alike([weighted, repeated])
    assert same_model(weighted, repeated, X)


@pytest.mark.usefixtures("ours")
def test_a_straight_line_chooses_lines() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    model = open_to("squared_error").fit(X, X @ [1.0, 2.0, 0.0] + 0.01 * rng.normal(size=300))
    assert model.settings_["leaf"] == "linear"
    assert model.ensemble_.nodes.slopes.feature.size > 0
    kept = open_to("squared_error", warm_start=True).fit(X, model.predict(X))
    kept.set_params(n_estimators=8).fit(X, model.predict(X))
    assert kept.settings_["leaf"] == "linear"  # of the rounds that are kept
    assert kept.ensemble_.nodes.slopes.first[kept.ensemble_.roots[-1]] < kept.ensemble_.nodes.slopes.first[-1]


def test_what_a_setting_gains_late_counts_at_the_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of()
    for late, goes_on in ((0.0, False), (0.2, True)):
        calls = script(stage, {"usual": [1.0] * 3, "a": [1.1] * 3}, monkeypatch)
        usual, other = named("usual", "a")
        found = audition.audition([usual, other._replace(late=late)], stage)
        assert (len(calls) > 4) == goes_on
        assert found.chosen == [found.entries[0]]  # by what it has come to in the end


@pytest.mark.usefixtures("ours")
def test_a_loss_of_ones_own_is_auditioned_too() -> None:
    X, y = data_for("squared_error", n=100)
    own = open_to("squared_error", loss=OwnSquares(), init="zero").fit(X, y)
    ours = open_to("squared_error", init="zero").fit(X, y)
    assert told_alike([own, ours])
    assert same_model(own, ours, X)
