"""The display of the envelope: the integers it allows, and the coefficients that models have."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_wine

import drawn_models
from drawn_models import LONG
from pictures import assert_legible
from sublearn import SLMClassifier, SLMForestClassifier
from sublearn.display import EnvelopeDisplay
from sublearn.display.envelope import FREE, PLACE, RANK
from sublearn.display.search import search_root
from sublearn.paper import PARAMETERS


@pytest.fixture(scope="module")
def models() -> Any:
    return drawn_models.models()


@pytest.fixture(scope="module")
def wine() -> Any:
    data = load_wine()
    return SLMClassifier(random_state=0).fit(data.data, data.target), data


def n_integers(axes: Any) -> int:
    """Pale dots: lines of markers at one d each."""
    return sum(len(line.get_xdata()) for line in axes.lines if len(set(line.get_xdata().tolist())) == 1)


def test_integers_are_those_below_the_exponential() -> None:
    axes = EnvelopeDisplay.from_parameters(10, 0.5, 10).ax_
    by_hand = sum(2 * int(10 * np.exp(-0.5 * d)) + 1 for d in range(1, 11))
    assert n_integers(axes) == by_hand == 34
    curve = axes.lines[0].get_xydata()
    assert curve[:, 1] == pytest.approx(10 * np.exp(-0.5 * curve[:, 0]))


def test_coefficients_of_trees_stand_at_their_places_in_hyperplanes(wine: Any) -> None:
    model, data = wine
    forest = SLMForestClassifier(n_estimators=3, random_state=0, n_jobs=1).fit(data.data, data.target)
    for fitted, tree in ((model, None), (forest, None), (forest, 2)):
        nodes, roots = fitted._model.ensemble.nodes, fitted._model.ensemble.roots
        first, end = 0, nodes.n_planes
        if tree is not None:
            first = nodes.first_plane[roots[tree]]
        counts: Counter[tuple[int, int]] = Counter()
        for p in range(first, end):
            for place, t in enumerate(range(nodes.first_term[p], nodes.first_term[p + 1]), 1):
                counts[place, int(nodes.coefficient[t])] += 1
        display = EnvelopeDisplay.from_estimator(fitted, tree=tree)
        assert display.drawn is not None
        assert display.drawn.counts == dict(counts)
        assert display.drawn.n_vectors == end - first
        assert display.ax_.get_xlabel() == PLACE
        n_bubbles = sum(len(c.get_offsets()) for c in display.ax_.collections)
        assert n_bubbles == len(counts)


def test_candidates_of_a_root_stand_at_their_ranks_and_kept_ones_are_lines(wine: Any) -> None:
    model, data = wine
    display = EnvelopeDisplay.from_estimator(model, data.data, data.target, feature_names=data.feature_names)
    search = search_root(model, data.data, data.target)
    assert display.drawn is not None
    for (rank, value), count in display.drawn.counts.items():
        assert count == sum(vector[search.subspace[rank - 1]] == value for vector in search.vectors)
    lines = [line for line in display.ax_.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 8]
    kept = [search.vectors[c][search.subspace].tolist() for c in search.kept]
    assert [line.get_ydata().tolist() for line in lines] == kept
    label = display.ax_.get_xlabel()
    assert label.startswith(RANK)
    assert all(data.feature_names[f][:8] in label for f in search.subspace)


def test_what_the_envelope_does_not_bind_has_a_colour_of_its_own(wine: Any) -> None:
    model, data = wine
    display = EnvelopeDisplay.from_estimator(model, data.data, data.target)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert FREE in labels  # single features of ranks 5 to 8, where A_d is below 1
    paper = SLMClassifier(**{**PARAMETERS, "random_state": 0}).fit(data.data, data.target)
    display = EnvelopeDisplay.from_estimator(paper, data.data, data.target)
    assert FREE not in [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_envelopes_of_several_rounds_are_all_drawn(wine: Any) -> None:
    _, data = wine
    model = SLMClassifier(envelope_decay=(0.1, 0.4), envelope_height=6.0, max_depth=2, random_state=0)
    display = EnvelopeDisplay.from_estimator(model.fit(data.data, data.target))
    assert display.decays == [0.1, 0.4]
    curves = [line for line in display.ax_.lines if len(line.get_xdata()) == 200]
    assert len(curves) == 4
    assert n_integers(display.ax_) == sum(2 * int(6 * np.exp(-0.1 * d)) + 1 for d in range(1, 9))


@pytest.mark.parametrize("case", ["300 features, numbers", "several hyperplanes"])
def test_pictures_are_legible(case: str, models: Any) -> None:
    model, X, y = models[case]
    names = LONG[: X.shape[1]]
    assert_legible(EnvelopeDisplay.from_estimator(model, X, y, feature_names=names).figure_, 7)
    assert_legible(EnvelopeDisplay.from_estimator(model).figure_, 7)
    figure = Figure(figsize=(7, 5), layout="constrained")
    display = EnvelopeDisplay.from_estimator(model, X, y, feature_names=names, ax=figure.subplots())
    assert display.figure_ is figure
    assert_legible(figure, 7)


def test_boosting_is_legible(models: Any) -> None:
    assert_legible(EnvelopeDisplay.from_estimator(models["boosting of numbers"][0]).figure_, 7)


def test_wrong_arguments_are_refused(wine: Any) -> None:
    model, data = wine
    with pytest.raises(ValueError, match=r"X and y of .* must be given together, or neither\."):
        EnvelopeDisplay.from_estimator(model, data.data)
    with pytest.raises(ValueError, match=r"estimator of EnvelopeDisplay.* must have been fitted to these X"):
        EnvelopeDisplay.from_estimator(model, data.data[::2], data.target[::2])
    with pytest.raises(ValueError, match=r"height of EnvelopeDisplay.from_parameters must be a number from 0 to 127"):
        EnvelopeDisplay.from_parameters(-1, 0.5)
    with pytest.raises(TypeError, match=r"ax of EnvelopeDisplay.plot must be a matplotlib Axes or None; got str\."):
        EnvelopeDisplay.from_parameters(1, 0.5, ax="here")
