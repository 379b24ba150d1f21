"""Why the model answers as it does for a row: features, amounts and words."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sublearn import (
    SLMAverageClassifier,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMForestClassifier,
    SLMRegressor,
    report,
)
from sublearn.reporting import reasons as module
from sublearn.reporting.reasons import FACTOR, NUMBER, ODDS, POINTS, amount_text, reason_cell, reasons_for
from sublearn.reporting.rows import as_rows
from sublearn.reporting.study import BACKGROUND_KEY, Study
from sublearn.reporting.subject import as_subject
from sublearn.reporting.trial import measured

FEW: dict[str, Any] = {"n_estimators": 6, "random_state": 0, "n_jobs": 1}
RNG = np.random.default_rng(0)
X = pd.DataFrame({"size": RNG.integers(0, 2, 300).astype(float), "age": RNG.random(300), "<b>": RNG.random(300)})
PRICE = 100.0 * X["size"]


def study_of(model: Any, y: Any) -> Study:
    subject = as_subject(model.fit(X, y), None, None)
    rows = as_rows(subject, X, y)
    return Study(subject, rows, measured(subject, rows, None, 0), 0)


def test_the_only_feature_that_counts_is_the_only_reason() -> None:
    study = study_of(SLMRegressor(random_state=0, n_jobs=1), PRICE)
    row = int(np.argmax(PRICE))
    found = reasons_for(study, [row, 0, row])
    assert found is not None
    assert found.unit == NUMBER
    mean = float(PRICE[study.sample(50, BACKGROUND_KEY)].mean())
    assert np.allclose(found.values[found.places[row]], [100 - mean, 0, 0])  # to the mean, all of it
    cell = reason_cell(study, found, row)
    assert cell == f'<ul class="reasons"><li>size: 1 <b>→ {amount_text(100 - mean, NUMBER)}</b></li></ul>'


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [SLMForestClassifier, SLMBoostClassifier])
def test_reasons_are_for_the_class_that_is_predicted(kind: Any, n_classes: int) -> None:
    y = np.where(X["size"] == 0, "a", "b") if n_classes == 2 else np.array(["a", "b", "c"])[(X["age"] * 3).astype(int)]
    study = study_of(kind(**FEW), y)
    rows = [int(np.argmax(study.trial.answers[:, k])) for k in range(n_classes)]
    found = reasons_for(study, rows)
    assert found is not None
    assert found.unit == (POINTS if kind is SLMForestClassifier else ODDS)
    f = 0 if n_classes == 2 else 1
    for row in rows:  # the surest of each class: what tells classes apart speaks for it
        assert found.values[found.places[row], f] > 0
        assert np.abs(found.values[found.places[row]]).argmax() == f


def test_reasons_of_probabilities_add_up_to_them() -> None:
    y = np.array(["a", "b", "c"])[(X["age"] * 3).astype(int)]
    study = study_of(SLMForestClassifier(**FEW), y)
    found = reasons_for(study, [3, 4])
    assert found is not None
    mean = study.trial.answers[study.sample(50, BACKGROUND_KEY)].mean(axis=0)
    for row in (3, 4):
        k = int(study.predicted[row])
        assert np.isclose(found.values[found.places[row]].sum(), study.trial.answers[row, k] - mean[k])


def test_logarithms_of_means_become_shares() -> None:
    study = study_of(SLMBoostRegressor(loss="poisson", learning_rate=0.3, **FEW), PRICE + 1)
    found = reasons_for(study, [0])
    assert found is not None
    assert found.unit == FACTOR
    assert amount_text(np.log(1.5), FACTOR) == "+50 %"
    assert amount_text(np.log(0.5), FACTOR) == "−50 %"
    assert amount_text(np.log(2), ODDS) == "× 2"
    assert amount_text(-0.123, POINTS) == "−12"
    assert amount_text(1234.4, NUMBER) == "+1234"


def test_models_without_a_sum_and_those_too_large_have_no_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.where(X["size"] == 0, "a", "b")
    boost = SLMBoostClassifier(**FEW)
    average = study_of(SLMAverageClassifier([boost, SLMForestClassifier(**FEW)]), y)
    assert reasons_for(average, [0]) is None
    small = study_of(boost, y)
    assert reasons_for(small, [0]) is not None
    assert reasons_for(small, []) is None
    monkeypatch.setattr(module, "LARGEST", 2)
    assert reasons_for(small, [0]) is None


def test_page_says_why_for_each_listed_row_and_escapes_names() -> None:
    model = SLMRegressor(random_state=0, n_jobs=1).fit(X, PRICE + 90 * X["<b>"])
    html = report(model, X, PRICE + 90 * X["<b>"] + X["age"]).html
    assert html.count("Why: moves the answer by</th>") == html.count('aria-label="Least sure"') + 1
    assert html.count('<ul class="reasons">') == html.count('class="way"')
    assert "<li>&lt;b&gt;: " in html
    assert "Shapley values" in html


def test_usual_values_are_such_as_the_feature_can_have() -> None:
    model = SLMRegressor(random_state=0, n_jobs=1).fit(X, PRICE)
    html = report(model, X, PRICE).html
    line = html[html.index('class="features"') :]
    line = line[line.index(">size</th>") :]
    assert ">0 to 1</td>" in line[: line.index("</tr>")].split("data-head")[2]  # in training, not -0.01 to 1.01


def test_importances_of_numbers_are_in_their_units() -> None:
    study = study_of(SLMRegressor(random_state=0, n_jobs=1), PRICE)
    assert 60 < study.weighed.growth[0] < 80  # half of the shuffled are off by 100: 100 / sqrt(2)
    assert study.weighed.low[0] < study.weighed.growth[0] < study.weighed.high[0]
    assert (study.weighed.growth[1:] == 0).all()
