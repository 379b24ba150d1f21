"""What the paper prints, checked by its own formulas; and the sizes of fitted models by the same formulas."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sublearn import SLMClassifier, SLMForestClassifier
from sublearn.paper import PARAMETERS, printed
from sublearn.paper.contenders import CONTENDERS, NOT_IN_PAPER, of_table
from sublearn.paper.datasets import SOURCES
from sublearn.paper.ff_mlp import BPMLPClassifier, FFMLPClassifier
from sublearn.paper.sizes import Size, size_of, svm_parameters

CLASSES = [name for name, source in SOURCES.items() if source.is_classes]
NUMBERS = [name for name, source in SOURCES.items() if not source.is_classes]
IRIS = load_iris(return_X_y=True)

# of the appendix: training samples, features, support vectors of the linear machine and of the one with a kernel
SUPPORT = {
    "circle-and-ring": (600, 2, 591, 206),
    "2-new-moons": (600, 2, 213, 176),
    "4-new-moons": (1200, 2, 413, 417),
    "iris": (90, 4, 24, 42),
    "wine": (107, 13, 23, 57),
    "breast-cancer": (341, 30, 35, 91),
    "pima": (461, 8, 107, 134),
    "ionosphere": (211, 33, 23, 57),
    "banknote": (823, 4, 56, 83),
}
SPLITS = dict(zip(CLASSES, (175, 143, 149, 17, 13, 27, 65, 25, 39), strict=True))  # of the decision trees


@pytest.mark.parametrize(
    ("table", "columns", "n_rows"),
    [
        (printed.ACCURACY, CLASSES, 10),
        (printed.RMSE, NUMBERS, 8),
        (printed.N_PARAMETERS, CLASSES, 6),
        (printed.DEPTH, CLASSES, 2),
    ],
)
def test_tables_are_full(table: dict[str, dict[str, str]], columns: list[str], n_rows: int) -> None:
    assert len(table) == n_rows
    assert set(table) <= set(CONTENDERS)
    for row in table.values():
        assert list(row) == columns
        assert all(float(text) > 0 for text in row.values())


def test_scores_have_two_decimals_and_sizes_none() -> None:
    for table in (printed.ACCURACY, printed.RMSE):
        assert all(len(text.partition(".")[2]) == 2 for row in table.values() for text in row.values())
    for table in (printed.N_PARAMETERS, printed.DEPTH):
        assert all(text.isdecimal() for row in table.values() for text in row.values())


@pytest.mark.parametrize(
    ("table", "sums"),
    [
        (printed.ACCURACY, [822.38, 755.69, 772.56, 829.45, 820.21, 836.42, 839.68, 838.44, 846.15, 844.95]),
        (printed.RMSE, [200.58, 65.59, 118.83, 95.44, 82.51, 90.72, 78.76, 73.31]),
        (printed.N_PARAMETERS, [3521, 3521, 13130, 15490, 1306, 592]),
        (printed.DEPTH, [82, 30]),
    ],
)
def test_rows_add_up_as_in_the_paper(table: dict[str, dict[str, str]], sums: list[float]) -> None:
    assert [sum(map(float, row.values())) for row in table.values()] == pytest.approx(sums)


@pytest.mark.parametrize(("is_classes", "table"), [(True, printed.ACCURACY), (False, printed.RMSE)])
def test_every_contender_but_ours_has_a_printed_row(is_classes: bool, table: dict[str, dict[str, str]]) -> None:
    assert set(of_table(is_classes)) == {*table, *NOT_IN_PAPER}


@pytest.mark.parametrize("name", CLASSES)
def test_appendix_counts_parameters_of_trees_by_partitions_and_depth_by_levels(name: str) -> None:
    tree = printed.APPENDIX[name]
    assert int(printed.N_PARAMETERS["slm-baseline"][name]) == tree.n_partitions * (tree.subspace_size + 1)
    assert int(printed.DEPTH["slm-baseline"][name]) == len(tree.nodes) - 1
    assert tree.nodes[0] == 1
    assert int(printed.N_PARAMETERS["dt"][name]) == 2 * SPLITS[name]


@pytest.mark.parametrize("name", CLASSES)
def test_support_vectors_of_the_appendix_give_the_printed_sizes(name: str) -> None:
    n_train, n_features, *n_support = SUPPORT[name]
    sizes = [svm_parameters(n_train, n_features, n) for n in n_support]
    assert sizes == [int(printed.N_PARAMETERS[machine][name]) for machine in ("lsvm", "svm-rbf")]


@pytest.mark.parametrize("name", CLASSES)
def test_test_part_is_two_fifths_rounded_up_as_scikit_learn_does(name: str) -> None:
    n = printed.N_SAMPLES[name]
    assert len(train_test_split(np.arange(n), test_size=0.4)[1]) == printed.n_test(n)
    if name != "pima":  # whose appendix speaks of all 768 samples
        assert SUPPORT[name][0] - (n - printed.n_test(n)) in (0, 1)  # it rounds three fifths, Table I cuts them


def test_multiples_of_one_test_sample_by_hand() -> None:
    assert printed.is_multiple("98.33", 60)  # 59 of 60 is 98.333
    assert printed.is_multiple("98.34", 60)  # rounded up
    assert not printed.is_multiple("98.35", 60)
    assert printed.is_multiple("95.63", 800)  # 765 of 800 is 95.625
    assert printed.is_multiple("95.62", 800)  # cut
    assert printed.is_multiple("100.00", 7)
    assert not printed.is_multiple("97.23", 228)  # 221 of 228 is 96.93, 222 is 97.37


def test_five_printed_accuracies_are_no_multiple_of_a_test_sample() -> None:
    impossible = {
        (name, data_set)
        for name, row in printed.ACCURACY.items()
        for data_set, text in row.items()
        if name != "bp-mlp" and not printed.is_multiple(text, printed.n_test(printed.N_SAMPLES[data_set]))
    }
    assert len(impossible) == 5
    assert ("slm-baseline", "breast-cancer") in impossible  # 97.23


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_size_of_a_support_vector_machine_counts_its_support_vectors(kernel: str) -> None:
    model = make_pipeline(StandardScaler(), SVC(kernel=kernel)).fit(*IRIS)
    n_support = len(model[-1].support_vectors_)
    assert size_of(model, 150) == Size(150 + 1 + 6 * n_support, None)


def test_size_of_a_decision_tree_is_twice_its_splits() -> None:
    stump = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    assert size_of(stump, 2) == Size(2, 1, 1, [1, 2], 1.0)
    # 1 2 | 3 | 4: the first cut leaves two samples together, the second one
    ladder = DecisionTreeRegressor().fit([[1.0], [2.0], [3.0], [4.0]], [0.0, 0.0, 10.0, 30.0])
    assert size_of(ladder, 4) == Size(4, 2, 2, [1, 2, 2], 1.0)
    model = DecisionTreeClassifier(random_state=0).fit(*IRIS)
    found = size_of(model, 150)
    n_splits = int((model.tree_.children_left >= 0).sum())
    assert (found.n_parameters, found.depth, found.n_splits) == (2 * n_splits, model.get_depth(), n_splits)
    assert found.nodes is not None
    assert (sum(found.nodes), len(found.nodes)) == (model.tree_.node_count, model.get_depth() + 1)
    assert size_of(DecisionTreeClassifier().fit([[0.0], [1.0]], [1, 1]), 2) == Size(0, 0, 0, [1], 1.0)


@pytest.mark.parametrize("subspace_size", [2, 3, 10])
def test_size_of_an_slm_tree_counts_hyperplanes_of_the_subspace(subspace_size: int) -> None:
    model = SLMClassifier(**{**PARAMETERS, "subspace_size": subspace_size}, random_state=0).fit(*IRIS)
    each = min(subspace_size, 4) + 1
    nodes = [int(np.sum(model.tree_.depth == level)) for level in range(model.depth_ + 1)]
    share = float(model.tree_.n_samples[model.tree_.is_leaf & (model.tree_.loss == 0)].sum() / 150)
    assert size_of(model, 150) == Size(model.n_partitions_ * each, model.depth_, model.n_partitions_, nodes, share)
    assert 0.5 < share <= 1.0
    assert model.n_partitions_ >= 2


@pytest.mark.parametrize("model", [FFMLPClassifier(1), BPMLPClassifier(1)])
def test_size_of_a_perceptron_counts_weights_and_biases(model: Any) -> None:
    model.fit(*IRIS)
    assert size_of(model, 150) == Size(sum(array.size for array in (*model.coefs_, *model.intercepts_)), None)


def test_leaves_with_samples_of_two_classes_are_not_pure() -> None:
    model = DecisionTreeClassifier(max_depth=1).fit([[0.0], [0.0], [1.0], [1.0]], [0, 0, 0, 1])
    assert size_of(model, 4).pure_share == 0.5


def test_ensemble_has_a_size_and_no_shape() -> None:
    model = SLMForestClassifier(n_estimators=2, random_state=0).fit(*IRIS)
    assert size_of(model, 150) == Size(model.n_parameters_, None)


def test_model_without_a_formula_has_no_size() -> None:
    assert size_of(StandardScaler().fit(IRIS[0]), 150) == Size(None, None)
