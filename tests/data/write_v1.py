"""Writes the models of format 1 that every later release must read, with their predictions: they were written once.

`python tests/data/write_v1.py FOLDER`. The files beside this script are never written again, since they stand for those
that users have. A new format gets files, and a script, of its own.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sublearn import (
    SLMAverageClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
)

N = 120


def table() -> Any:
    """Numbers with gaps and heavy tails, categories of texts and of numbers, and days."""
    rng = np.random.default_rng(0)
    number = rng.normal(size=N).round(3)
    return pd.DataFrame(
        {
            "number": number,
            "gaps": np.where(rng.random(N) < 0.2, np.nan, rng.normal(size=N).round(3)),
            "heavy": np.exp(6 * rng.normal(size=N)).round(6),
            "city": pd.Series([["Ulm", "Zoë's", "[0, 1)", None][i] for i in rng.integers(0, 4, N)], dtype=object),
            "grade": pd.Categorical(rng.integers(1, 6, N)),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, N), "D"),
        }
    )


def targets(frame: Any) -> tuple[Any, Any]:
    """Numbers and classes."""
    y = frame["number"] + frame["gaps"].fillna(1.0) * (frame["city"] == "Ulm") + frame["grade"].astype(float)
    return y.to_numpy(), np.array(["high", "low", "middle"])[np.digitize(y, [2.0, 4.0])]


def models(frame: Any) -> dict[str, Any]:
    """Fitted models in which most of the format is used."""
    numbers, classes = targets(frame)
    few: dict[str, Any] = {"n_estimators": 2, "random_state": 0, "max_depth": 2}
    members = [
        SLMClassifier(random_state=0, min_samples_leaf=20, max_partitions=2),
        SLMForestClassifier(**few, voting="hard", bootstrap=True, class_weight={"low": 2.0}),
    ]
    return {
        "boost": SLMBoostRegressor(**few, learning_rate=0.5, leaf="linear", loss="squared_error").fit(frame, numbers),
        "average": SLMAverageClassifier(members, weights=(1, 3)).fit(frame, classes),
    }


def main() -> None:
    """Write the files and what the models answer, in digits that tell every bit."""
    folder, frame = Path(sys.argv[1]), table()
    found = models(frame)
    for name, model in found.items():
        model.save(folder / f"{name}-v1.slm")
    answers = {
        "boost": [value.hex() for value in found["boost"].predict(frame).tolist()],
        "average": [[value.hex() for value in row] for row in found["average"].predict_proba(frame).tolist()],
    }
    rows = json.loads(frame.to_json(orient="split", index=False, date_format="iso", double_precision=15))
    (folder / "v1.json").write_text(json.dumps({"rows": rows, "answers": answers}, indent=None) + "\n", "utf-8")


if __name__ == "__main__":
    main()
