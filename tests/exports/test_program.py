"""Programs: a model as tests over distinct hyperplanes, walked here step by step, reaches the leaves of `apply`."""

import numpy as np
import pandas as pd
import pytest

from exported import CASES, case
from naive import Array
from sublearn import SLMRegressor, to_c, to_onnx, to_sql
from sublearn.core.data.codes import encode_samples
from sublearn.core.parallel import Workers
from sublearn.export.program import Program, program_of
from sublearn.kernels.layout import Array as Codes

MANY_PLANES = ("tree of three planes a node", "tree with gaps", "forest with gaps", "linear leaves of three classes")


def leaf_of(program: Program, codes: Codes, t: int) -> int:
    """The leaf that one sample reaches, by the rules of `Tests`."""
    planes, tests, i = program.planes, program.tests, int(program.tests.first[t])
    while tests.plane[i] >= 0:
        terms = range(planes.first[tests.plane[i]], planes.first[tests.plane[i] + 1])
        value = sum(int(planes.coefficient[k]) * int(codes[planes.view[k]]) for k in terms)
        i = int(tests.above[i] if value >= tests.threshold[i] else tests.below[i])
    return int(tests.leaf[i])


def used_codes(program: Program, X: Array) -> Codes:
    """Codes (n_samples, n_views) of the views that a program has."""
    maps = program.model.maps
    codes = encode_samples(X, maps, Workers(1)).T
    own = [(view.feature, view.gap, view.codes.tolist()) for view in program.views]
    all_views = [
        (int(f), int(gap), maps.levels[a:b].tolist())
        for f, gap, a, b in zip(maps.features, maps.gaps, maps.offsets[:-1], maps.offsets[1:], strict=True)
    ]
    return codes[:, [all_views.index(view) for view in own]]


def test_one_test_is_read_by_hand() -> None:
    model = SLMRegressor(max_depth=1).fit([[1.0], [2.0], [4.0], [5.0]], [0.0, 0.0, 3.0, 3.0])
    program = program_of(model._model, "test")
    assert program.planes.coefficient.tolist() == [1]
    assert program.tests.plane.tolist() == [0, -1, -1]
    assert program.leaves.value[program.tests.leaf[program.tests.above[0]]].tolist() == [3.0]


@pytest.mark.parametrize("name", MANY_PLANES)
def test_walked_program_reaches_the_answers_of_apply(name: str) -> None:
    one = case(name)
    program = program_of(one.model._model, "test")
    X = one.X[:80]
    codes, n_trees = used_codes(program, X), program.tests.n_trees
    values = np.array([[program.leaves.value[leaf_of(program, row, t)] for t in range(n_trees)] for row in codes])
    nodes = one.model.apply(X).reshape(len(X), n_trees) + one.model._model.ensemble.roots
    assert np.array_equal(values, one.model._model.contributions[nodes])


@pytest.mark.parametrize("name", MANY_PLANES)
def test_hyperplanes_are_distinct_coprime_and_face_forwards(name: str) -> None:
    planes = program_of(case(name).model._model, "test").planes
    found = set()
    for a, b in zip(planes.first[:-1], planes.first[1:], strict=True):
        coefficients, views = planes.coefficient[a:b], planes.view[a:b]
        assert coefficients[0] > 0
        assert np.gcd.reduce(coefficients) == 1
        assert (np.diff(views) > 0).all()
        found.add((*views.tolist(), *coefficients.tolist()))
    assert len(found) == planes.n


@pytest.mark.parametrize("name", [name for name in CASES if "average" not in name][::3])
def test_no_test_has_two_equal_ends_and_no_leaf_is_left_over(name: str) -> None:
    program = program_of(case(name).model._model, "test")
    tests = program.tests
    inner = np.flatnonzero(tests.plane >= 0)
    ends = tests.leaf[tests.below[inner]], tests.leaf[tests.above[inner]]
    assert not ((ends[0] == ends[1]) & (ends[0] >= 0)).any()
    assert sorted({*tests.leaf[tests.leaf >= 0].tolist()}) == [*range(len(program.leaves.value))]
    reached = np.concatenate([tests.first[:-1], tests.below[inner], tests.above[inner]])
    assert sorted(reached.tolist()) == [*range(len(tests.plane))]


def test_levels_that_read_alike_are_refused_where_a_column_is_text() -> None:
    X = pd.DataFrame({"a": np.array([3, "3", "x", "y"] * 10, object)})
    model = SLMRegressor(categorical_features=["a"]).fit(X, [1.0, 2.0, 3.0, 4.0] * 10)
    for write in (to_c, to_onnx, to_sql):
        with pytest.raises(
            ValueError, match=f"levels of feature 0 of the model of {write.__name__} must differ as text"
        ):
            write(model)
