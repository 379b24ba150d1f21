"""Questions on the page: what they say of a row is what the model does with it."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sublearn import SLMClassifier, SLMRegressor
from sublearn.reporting.questions import Questions, questions_of
from sublearn.reporting.rows import as_rows
from sublearn.reporting.subject import as_subject


def answer(question: str, row: "pd.Series[Any]") -> bool:
    """What a person would answer who has the row before them."""
    found = re.fullmatch(r"(\w+) (≥|≤) ([−\d.,e]+)(?: \(missing: (yes|no)\))?", question)
    if found:
        value = row[found[1]]
        if pd.isna(value):
            return found[4] == "yes"
        bound = float(found[3].replace("−", "-").replace(",", ""))
        return bool(value >= bound if found[2] == "≥" else value <= bound)
    if question.startswith("always "):  # the means of categories may leave nothing on one side
        return question.startswith("always yes")
    found = re.fullmatch(r"(\w+) is (not )?(.*)", question)
    assert found, question
    named = re.findall(r"“(.*?)”|\b(missing)\b", found[3])
    value = "missing" if pd.isna(row[found[1]]) else str(row[found[1]])
    return (value in [one or other for one, other in named]) != bool(found[2])


def numbers_of(model: Any, X: Any) -> Any:
    return as_rows(as_subject(model, None, None), X, model.predict(X)).values


def table(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    income = np.exp(rng.normal(10, 2, n)).round(2)  # a heavy tail, and so a curve
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": np.where(rng.random(n) < 0.15, np.nan, income),
            "town": np.array(["Ulm", "Bonn", "Kiel", "Rome", None], object)[rng.integers(0, 5, n)],
            "alarm": np.where(rng.random(n) < 0.5, np.nan, 1.0),
        }
    )


@pytest.fixture(scope="module", params=["classes", "numbers"])
def asked(request: pytest.FixtureRequest) -> tuple[Any, Questions]:
    X = table(500, 0)
    worth = X["age"] + 20 * X["town"].isin(["Ulm", "Rome"]) + 3 * np.log(X["income"].fillna(1)) + 9 * X["alarm"].isna()
    plain: dict[str, Any] = {"n_projections": 0, "max_partitions": 2, "max_depth": 6, "random_state": 0}
    if request.param == "classes":
        model: Any = SLMClassifier(**plain).fit(X, np.digitize(worth, [70, 90]))
    else:
        model = SLMRegressor(**plain).fit(X, worth)
    return model, questions_of(as_subject(model, None, None), 0, numbers_of(model, table(300, 1)))


def test_answers_of_a_person_lead_where_the_model_goes(asked: tuple[Any, Questions]) -> None:
    model, questions = asked
    tree, X = model.tree_, table(300, 1)
    texts = [questions.question(p) for p in range(tree.n_planes)]
    assert {name for name in X if any(name in text for text in texts)} == set(X)
    for leaf, (_, row) in zip(model.apply(X).tolist(), X.iterrows(), strict=True):
        node = 0
        while tree.first_child[node] >= 0 and node != leaf:
            planes = range(tree.first_plane[node], tree.first_plane[node + 1])
            cell = sum(answer(texts[p], row) << j for j, p in enumerate(planes))
            node = int(tree.children[tree.first_child[node] + cell])
        assert node == leaf


def test_sums_are_inequalities_with_signs_for_readers() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2))
    model = SLMClassifier(max_depth=1, max_partitions=1, random_state=0).fit(X, X[:, 0] - X[:, 1] > 0.5)
    question = questions_of(as_subject(model, ["length", "width"], None), 0, X).question(0)
    assert re.fullmatch(r"(length|width) − [\d.]* ?(length|width) [≥≤] −?0\.\d+", question)


def test_whole_numbers_get_short_bounds() -> None:
    X = np.repeat(np.arange(1.0, 11.0), 10)[:, None]
    model = SLMClassifier(max_depth=1, random_state=0).fit(X, X[:, 0] > 4)
    question = questions_of(as_subject(model, ["age"], None), 0, X).question(0)
    bound = float(question.removeprefix("age ≥ ").removeprefix("age ≤ "))
    assert 4 < bound <= 5
    assert len(question) <= len("age ≥ 4.99")
