"""Models are, bit for bit, what they were in the versions before.

Where that is meant to change: `python tests/pinned.py` writes the digests anew, and CHANGELOG.md says so.
"""

import json

import numpy as np

import sublearn
from pinned import PINNED, digest, digests, given, models


def test_models_have_the_bits_that_are_pinned() -> None:
    expected = json.loads(PINNED.read_text("utf-8"))
    found = digests()
    assert list(found) == list(expected), "python tests/pinned.py renews them"
    changed = [name for name, value in found.items() if value != expected[name]]
    assert changed == [], "models differ; if that is meant, python tests/pinned.py renews the digests"


def test_models_that_are_pinned_are_of_all_estimators() -> None:
    kinds = {type(model).__name__ for model, _, _ in models(given()).values()}
    averages = {"SLMAverageClassifier", "SLMAverageRegressor"}  # of models that are pinned by themselves
    assert kinds == {name for name in sublearn.__all__ if name.startswith("SLM")} - averages


def test_digest_sees_the_last_bit_of_a_threshold_and_of_a_value() -> None:
    data = given()
    model = sublearn.SLMRegressor(max_depth=2, random_state=0).fit(data.X, data.numbers)
    before = digest(model, data.X)
    tree = model.tree_
    leaf = int(np.flatnonzero(tree.is_leaf)[0])
    tree.value[leaf] = np.nextafter(tree.value[leaf], np.inf)
    assert digest(model, data.X) != before
