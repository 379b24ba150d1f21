"""Auditions: which settings are tried on which parts, which of them is chosen, and what comes of it in estimators."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from boosting import OwnSquares, data_for, make, same_model, same_scores
from naive import Array
from sublearn._base import boosting as estimators
from sublearn.core import parallel
from sublearn.core.boosting import audition, auto, choosing
from sublearn.core.boosting.audition import Entry, Stage, audition_for_average, is_clear
from sublearn.core.boosting.auto import Scale, Setting
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
KEYS = {"name", "settings", "score", "n_parts", "seconds", "n_chosen"}
USUAL = Setting("usual", {"leaf": "constant"})
SETTINGS = (
    Setting("lines", {"leaf": "linear", "max_depth": 2}),
    Setting("rows", {"subsample": 0.6, "min_samples_leaf": 1}, 2.0),
    Setting("both", {"leaf": "linear", "max_depth": 2, "subsample": 0.6}),
    Setting("deep", {"max_depth": 5}),
)
ROWS = {"subsample", "min_samples_leaf"}
OPEN: dict[str, Any] = dict.fromkeys((*estimators.AUDITIONED, "learning_rate"), "auto")
QUICK: dict[str, Any] = {"n_projections": 6, "n_estimators": 5, "min_gain": 1.0}
TASKS = ("squared_error", "huber", "two classes", "three classes")


@pytest.fixture(autouse=True)
def rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """When settings go on and lead, whatever the usual numbers are."""
    for name, number in (("PROMISING", 2), ("CLEAR", 1.0), ("LEAST_LEAD", 0.003)):
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


def trial_of(testing: Problem, loss: float) -> Trial:
    """One in which all samples have the same squared error."""
    return Trial([-2 * loss, -loss, -1.5 * loss], testing.y[:, None] + math.sqrt(2 * loss), 0.5)


class Call(NamedTuple):
    """What is tried: a setting, on a part, beside a rival by the same names."""

    name: str
    part: int
    rival: tuple[str, int] | None = None


def script(stage: Stage, losses: Mapping[str, Sequence[float]], monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Let trials have these losses, by name and part; what is called is noted."""
    calls: list[Call] = []
    made: list[tuple[Trial, str, int]] = []

    def try_out(given: Parted, growth: Growth, n_rounds: int, rival: Trial | None, workers: Any) -> Trial:
        name, part = NAMES[int(growth.boost.l2)], next(p for p, one in enumerate(stage.parted) if one is given)
        assert growth.key == key_below(KEY, part)  # the same draws for all settings
        assert growth.boost.learning_rate == stage.scale.trial_rate
        assert n_rounds == stage.n_rounds
        beside = next(((name, part) for trial, name, part in made if trial is rival), None)
        assert (rival is None) == (beside is None)
        calls.append(Call(name, part, beside))
        made.append((trial_of(given.testing, losses[name][part]), name, part))
        return made[-1][0]

    monkeypatch.setattr(audition, "try_out", try_out)
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
    entry = Entry(Setting("usual", {}), {})
    stage.run([(entry, 0, None)])
    testing = stage.parted[0].testing._replace(raw=entry.trials[0].raw)
    assert -testing.losses().mean() == pytest.approx(entry.trials[0].best)
    assert testing.score(ONE_THREAD) == entry.trials[0].best


# ---- one setting ----


def test_settings_are_tried_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual one on all parts, the others on the first, and the best of those that are ahead on the others too."""
    stage = stage_of()
    losses = {"usual": [1.0, 2.0, 3.0], "a": [0.9, 1.0, 1.0], "b": [1.1], "c": [0.8, 2.0, 2.0], "d": [0.95]}
    calls = script(stage, losses, monkeypatch)
    found = audition.audition(named(*NAMES), stage)
    first = ("usual", 0)
    assert calls[0] == Call("usual", 0)
    assert calls[1:7] == [Call("usual", 1), Call("usual", 2), *(Call(name, 0, first) for name in "abcd")]
    rest = [Call(name, part, ("usual", part)) for name in "ca" for part in (1, 2)]  # the best on the first part first
    assert calls[7:] == rest
    assert [entry.setting.name for entry in found.entries] == list(NAMES)
    assert [len(entry.trials) for entry in found.entries] == [3, 3, 1, 3, 1]
    assert found.chosen == [found.entries[1]]  # in the mean, 0.967 against 1.6 of c
    assert found.entries[1].score == pytest.approx(-2.9 / 3)


@pytest.mark.parametrize("n_promising", [0, 1, 3])
def test_no_more_than_the_promising_go_on(n_promising: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audition, "PROMISING", n_promising)
    stage = stage_of()
    losses = {"usual": [1.0] * 3, "a": [0.5] * 3, "b": [0.4] * 3, "c": [0.6] * 3, "d": [0.9] * 3}
    calls = script(stage, losses, monkeypatch)
    found = audition.audition(named(*NAMES), stage)
    assert [call.name for call in calls if call.part == 2] == ["usual", *"bac"[:n_promising]]
    assert [entry.setting.name for entry in found.chosen] == ["b" if n_promising else "usual"]


def test_what_is_not_ahead_on_the_first_part_does_not_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of()
    calls = script(stage, {"usual": [1.0] * 3, "a": [1.0], "b": [1.5]}, monkeypatch)
    found = audition.audition(named("usual", "a", "b"), stage)
    assert len(calls) == 5
    assert found.chosen == [found.entries[0]]


def test_the_usual_setting_stays_without_a_clear_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of()
    losses = {"usual": [1.0] * 3, "a": [0.5, 1.5, 1.5], "b": [0.9, 0.99, 0.99]}
    script(stage, losses, monkeypatch)
    monkeypatch.setattr(audition, "CLEAR", 0.0)
    for least, chosen in ((0.03, "b"), (0.05, "usual")):  # b leads by 0.04
        monkeypatch.setattr(audition, "LEAST_LEAD", least)
        found = audition.audition(named("usual", "a", "b"), stage)
        assert [entry.setting.name for entry in found.chosen] == [chosen]


def test_of_several_clear_leaders_the_best_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of()
    script(stage, {"usual": [1.0] * 3, "a": [0.4, 0.9, 0.9], "b": [0.5, 0.5, 0.5]}, monkeypatch)
    found = audition.audition(named("usual", "a", "b"), stage)
    assert found.chosen == [found.entries[2]]


def test_one_part_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of(scale=SCALE._replace(n_trials=1))
    calls = script(stage, {"usual": [1.0], "a": [0.5]}, monkeypatch)
    found = audition.audition(named("usual", "a"), stage)
    assert calls == [Call("usual", 0), Call("a", 0, ("usual", 0))]
    assert found.chosen == [found.entries[1]]


def test_one_setting_needs_no_rival(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of()
    calls = script(stage, {"usual": [1.0] * 3}, monkeypatch)
    found = audition.audition(named("usual"), stage)
    assert calls == [Call("usual", part) for part in range(3)]
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


def entry_of(*parts: Sequence[float], score: float = -1.0) -> Entry:
    """One whose samples have these losses."""
    return Entry(
        Setting("", {}),
        {p: Trial([score], np.sqrt(2 * np.array(losses))[:, None], 0.0) for p, losses in enumerate(parts)},
    )


USUAL_LOSSES, LOSSES = (1.0, 1.0, 1.0, 1.0), (0.0, 0.5, 0.0, 0.5)  # leads 1, 0.5, 1, 0.5


def leads_by(parted: list[Parted], usual: Entry, entry: Entry, monkeypatch: pytest.MonkeyPatch) -> tuple[float, float]:
    """Standard errors, and share of the usual loss, up to which a lead is clear; found by halves."""
    found = []
    for name, other in (("CLEAR", "LEAST_LEAD"), ("LEAST_LEAD", "CLEAR")):
        low, high = -100.0, 100.0
        monkeypatch.setattr(audition, other, -math.inf)
        for _ in range(60):
            middle = (low + high) / 2
            monkeypatch.setattr(audition, name, middle)
            low, high = (middle, high) if is_clear(entry, usual, parted) else (low, middle)
        found.append(low)
    return found[0], found[1]


def test_a_lead_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    # mean 0.75, deviation 0.25, and 4 samples
    found = leads_by([parted_of(4)], entry_of(USUAL_LOSSES), entry_of(LOSSES), monkeypatch)
    assert found == pytest.approx((6.0, 0.75))
    # the share is that of the usual setting's loss
    found = leads_by([parted_of(4)], entry_of(USUAL_LOSSES, score=-3.0), entry_of(LOSSES), monkeypatch)
    assert found == pytest.approx((6.0, 0.25))
    # the other way round
    found = leads_by([parted_of(4)], entry_of(LOSSES), entry_of(USUAL_LOSSES), monkeypatch)
    assert found == pytest.approx((-6.0, -0.75))


def test_samples_of_all_parts_count(monkeypatch: pytest.MonkeyPatch) -> None:
    parted = [parted_of(4), parted_of(2)]
    # leads 1, 0.5, 1, 0.5 and 0, 0: mean 0.5, mean square 2.5 / 6
    found = leads_by(parted, entry_of(USUAL_LOSSES, (1.0, 1.0)), entry_of(LOSSES, (1.0, 1.0)), monkeypatch)
    assert found == pytest.approx((0.5 / math.sqrt((2.5 / 6 - 0.25) / 6), 0.5))


def test_weights_in_a_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    usual, entry = entry_of(USUAL_LOSSES), entry_of(LOSSES)
    three = np.array([1, 1, 1, 3])
    given = parted_of(4, Weights(three, three))
    found = leads_by([given], usual, entry, monkeypatch)
    assert found == pytest.approx((math.sqrt(48), 4 / 6))  # mean 4/6, mean square 3/6, and 6 samples
    twice = leads_by([parted_of(6)], entry_of((1.0,) * 6), entry_of((*LOSSES, 0.5, 0.5)), monkeypatch)
    assert twice == pytest.approx(found)
    # rows of weights that are not whole numbers, or of classes that weigh more, count once
    for given in (parted_of(4, Weights(three, np.ones(4, np.int64), 0.3)), parted_of(4, UNIT, three.astype(float))):
        found = leads_by([given], usual, entry, monkeypatch)
        assert found == pytest.approx((math.sqrt(48 * 4 / 6), 4 / 6))


def test_the_same_lead_everywhere_is_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audition, "CLEAR", 1e6)
    monkeypatch.setattr(audition, "LEAST_LEAD", 0.3)
    usual = entry_of((1.0,) * 3)
    assert is_clear(entry_of((0.5,) * 3), usual, [parted_of(3)])
    assert not is_clear(entry_of((0.75,) * 3), usual, [parted_of(3)])
    assert not is_clear(usual, usual, [parted_of(3)])


# ---- several settings, whose answers are averaged ----


def raws(values: dict[str, float], stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Let trials be off by these numbers, everywhere."""
    calls = script(stage, {name: [1.0] * 3 for name in values}, monkeypatch)
    scripted = vars(audition)["try_out"]

    def try_out(given: Parted, growth: Growth, *others: Any) -> Trial:
        trial: Trial = scripted(given, growth, *others)
        off = values[NAMES[int(growth.boost.l2)]]
        return trial._replace(raw=given.testing.y[:, None] + off, curve=[-off * off / 2])

    monkeypatch.setattr(audition, "try_out", try_out)
    return calls


def test_the_mean_answer_decides_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_of()
    calls = raws({"usual": 1.0, "a": 0.9, "b": -1.0}, stage, monkeypatch)
    found = audition_for_average(named("usual", "a", "b"), 4, stage)
    assert calls == [Call(name, part) for name in ("usual", "a", "b") for part in range(3)]  # none has a rival
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

    def try_out(given: Parted, growth: Growth, *others: Any) -> Trial:
        part = next(p for p, one in enumerate(stage.parted) if one is given)
        return Trial([0.0], answers[NAMES[int(growth.boost.l2)]][part], 0.0)

    monkeypatch.setattr(audition, "try_out", try_out)
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
    trials = {0: Trial([-3.0, -1.0, -2.0], np.empty(0), 0.25), 1: Trial([-2.0], np.empty(0), 0.5)}
    told = Entry(Setting("a", {"max_depth": 3}), trials).told(2)
    expected = {"name": "a", "settings": {"max_depth": 3}, "score": -1.5, "n_parts": 2, "seconds": 0.75, "n_chosen": 2}
    assert told == expected


# ---- which settings there are ----


def names_of(settings: Sequence[Setting]) -> list[str]:
    return [setting.name for setting in settings]


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few settings and one scale, whatever the usual ones are; trials are short."""
    monkeypatch.setattr(auto, "SCALES", (SCALE,))
    monkeypatch.setattr(estimators, "SETTINGS", SETTINGS)
    monkeypatch.setattr(estimators, "USUAL", USUAL)
    monkeypatch.setattr(choosing, "DISTANCE", 1.5)


def to_audition(loss: Loss | None = None, **given: Any) -> list[Setting]:
    found: list[Setting] = make("squared_error", **OPEN | given)._to_audition(problem_of(loss=loss))
    return found


@pytest.mark.usefixtures("ours")
def test_all_settings_are_tried_where_nothing_is_given() -> None:
    assert to_audition() == [USUAL, *SETTINGS]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"max_depth": 4}, {"lines": {"leaf"}, "rows": ROWS, "both": {"leaf", "subsample"}}),
        (
            {"leaf": "constant"},
            {"lines": {"max_depth"}, "rows": ROWS, "both": {"max_depth", "subsample"}, "deep": {"max_depth"}},
        ),
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
    assert usual is USUAL
    assert {setting.name: set(setting.changes) for setting in others} == expected
    for setting in others:
        before = next(one for one in SETTINGS if one.name == setting.name)
        assert setting.changes == {name: before.changes[name] for name in setting.changes}
        assert setting.longer == before.longer


@pytest.mark.usefixtures("ours")
def test_a_setting_that_says_what_is_usual_is_not_tried_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    depths = {"same": SCALE.max_depth, "more": SCALE.max_depth + 1}
    settings = [Setting(name, {**USUAL.changes, "max_depth": depth}) for name, depth in depths.items()]
    monkeypatch.setattr(estimators, "SETTINGS", settings)
    assert names_of(to_audition()) == ["usual", "more"]


@pytest.mark.usefixtures("ours")
def test_losses_with_leaves_of_their_own_never_audition_linear_ones() -> None:
    found = to_audition(Huber(0.9))
    assert names_of(found) == ["usual", "lines", "rows", "both", "deep"]
    assert all("leaf" not in setting.changes for setting in found[1:])


@pytest.mark.parametrize("name", estimators.AUDITIONED)
def test_each_parameter_can_be_given(name: str) -> None:
    """Of the settings there really are."""
    values: dict[str, Any] = {"max_depth": 3, "min_samples_leaf": 2, "l2_regularization": 3.0, "subsample": 0.5}
    values["leaf"] = "constant"
    model = make("squared_error", **OPEN | {name: values[name]})
    found = model._to_audition(problem_of())
    resolved = [model._settings_for(setting, 60) for setting in found]
    assert all(one[name] == values[name] for one in resolved)
    assert all(name not in setting.changes for setting in found[1:])
    assert len({str(one) for one in resolved}) == len(found)
    assert len(set(names_of(found))) == len(found)
    assert names_of(to_audition(**values)) == [auto.USUAL.name]
    assert set(resolved[0]) == set(estimators.AUDITIONED)


# ---- estimators ----


def open_to(task: str, **given: Any) -> Any:
    return make(task, **OPEN | QUICK | given)


def lead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let any setting that is ahead be chosen."""
    for name in ("CLEAR", "LEAST_LEAD"):
        monkeypatch.setattr(audition, name, -math.inf)


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("chosen", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("task", TASKS)
def test_what_was_found_can_be_given(task: str, chosen: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings, rate and rounds make the same model, to the bit."""
    X, y = data_for(task)
    if chosen is not None:
        monkeypatch.setattr(choosing, "audition", choosing_number(chosen + 1))
    found = open_to(task).fit(X, y)
    assert set(found.settings_) == set(estimators.AUDITIONED)
    given = {**found.settings_, "learning_rate": found.learning_rate_, "n_estimators": found.n_iter_}
    told = open_to(task, **given).fit(X, y)
    assert same_model(found, told, X)
    assert same_scores(found, told)
    assert told.settings_ == found.settings_
    assert told.audition_ == []
    if chosen is not None:
        (won,) = [entry for entry in found.audition_ if entry["n_chosen"]]
        assert found.settings_.items() >= won["settings"].items()
        changes = SETTINGS[chosen].changes
        assert won["settings"] == {k: v for k, v in changes.items() if k != "leaf" or task != "huber"}
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
    assert [entry["name"] for entry in model.audition_] == ["usual", *names_of(SETTINGS)]
    assert all(set(entry) == KEYS for entry in model.audition_)
    usual, *others = model.audition_
    assert usual["settings"] == USUAL.changes
    assert sum(entry["n_chosen"] for entry in model.audition_) == 1
    assert usual["n_parts"] == SCALE.n_trials
    assert {entry["n_parts"] for entry in others} <= {1, SCALE.n_trials}
    assert all(entry["score"] < 0 and entry["seconds"] > 0 for entry in model.audition_)
    # what users are told is theirs to change
    model.audition_[1]["settings"].clear()
    assert SETTINGS[0].changes


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("factor", [2.0**-20, 2.0**20])
@pytest.mark.parametrize("task", ["squared_error", "huber"])
def test_the_unit_of_the_target_does_not_matter(task: str, factor: float) -> None:
    X, y = data_for(task)
    one, other = open_to(task).fit(X, y), open_to(task).fit(X, factor * y)
    assert one.settings_ == other.settings_
    assert one.learning_rate_ == other.learning_rate_
    square = factor * factor
    scores = [[entry["score"] for entry in model.audition_] for model in (one, other)]
    assert scores[1] == pytest.approx([square * score for score in scores[0]])
    np.testing.assert_allclose(other.predict(X), factor * one.predict(X), rtol=1e-9)


def told_alike(models: Sequence[Any]) -> bool:
    """Whether auditions have come to the same; their scores are sums in another order."""
    rows = [[(entry["name"], entry["n_parts"], entry["n_chosen"]) for entry in model.audition_] for model in models]
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


@pytest.mark.usefixtures("ours")
def test_longer_settings_have_more_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data_for("squared_error", n=100)
    monkeypatch.setattr(choosing, "best_round", lambda trials: 1000)
    planned = {}
    for number, name in enumerate(("usual", *names_of(SETTINGS))):
        monkeypatch.setattr(choosing, "audition", choosing_number(number))
        seen: list[int] = []

        def stop(progress: Any, seen: list[int] = seen) -> bool:
            seen.append(progress.n_estimators)
            return True

        open_to("squared_error", n_estimators="auto", callbacks=stop).fit(X, y)
        planned[name] = seen[0]
    usual = planned["usual"]
    assert planned == {"usual": usual, "lines": usual, "rows": 2 * usual, "both": usual, "deep": usual}


@pytest.mark.usefixtures("ours")
def test_a_loss_of_ones_own_is_auditioned_too() -> None:
    X, y = data_for("squared_error", n=100)
    own = open_to("squared_error", loss=OwnSquares(), init="zero").fit(X, y)
    ours = open_to("squared_error", init="zero").fit(X, y)
    assert told_alike([own, ours])
    assert same_model(own, ours, X)
