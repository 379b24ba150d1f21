"""What the model was trained on and with which settings, as far as it knows itself."""

import re
from typing import Any

import numpy as np

from sublearn import __version__
from sublearn._base.frames import NUMBERS
from sublearn._base.parameters import PARAMETERS
from sublearn.kernels.layout import Array
from sublearn.reporting.markup import Markup, element
from sublearn.reporting.study import Section, Study, help_on, paragraph, table
from sublearn.reporting.subject import CATEGORIES, Feature
from sublearn.reporting.wording import counted, listed, number_text, share_text, shortened, value_text

MOST_LISTED, MOST_LEVELS = 50, 8  # features; levels of one
KINDS = {
    "SLMClassifier": "one decision tree",
    "SLMRegressor": "one decision tree",
    "SLMForestClassifier": "a forest: trees side by side, whose answers are averaged",
    "SLMForestRegressor": "a forest: trees side by side, whose answers are averaged",
    "SLMBoostClassifier": "boosting: trees in a row, each of which mends what is left of the errors of those before",
    "SLMBoostRegressor": "boosting: trees in a row, each of which mends what is left of the errors of those before",
    "SLMAverageClassifier": "an average of several models",
    "SLMAverageRegressor": "an average of several models",
}
FOR_THE_MACHINE = ("n_jobs", "verbose", "callbacks")  # parameters that change nothing of the model


def origins(study: Study) -> Section:
    """The section on what it was trained on."""
    subject = study.subject
    ensembles = [member._model.ensemble for member in subject.members]
    n_rows = max(int(one.nodes.n_samples[one.roots].max()) for one in ensembles)
    facts = [
        ["Kind", f"{subject.kind}, {KINDS.get(subject.kind, '')}".rstrip(", ")],
        ["Predicts", f"{subject.thing}: {_what(study)}"],
        ["Trained on", f"{'about ' if len(ensembles) > 1 else ''}{counted(n_rows, 'row')}, "
                       f"{counted(len(subject.names), 'feature')}"],
        ["Size", f"{counted(subject.n_trees, 'tree')}, at most {max(int(e.nodes.depth.max()) for e in ensembles)} "
                 f"questions deep, {sum(e.nodes.n_nodes for e in ensembles):,} nodes"],
        ["Made with", f"sublearn (this page: version {__version__})"],
    ]  # fmt: skip
    order = study.weighed.order[:MOST_LISTED].tolist()
    rows = [[subject.names[f], *_feature_cells(study, f)] for f in order]
    header = ["Feature", "Kind", "In training, two rows in three", "In these rows", "Missing in these rows"]
    left = f" The {MOST_LISTED} most important are listed." if len(subject.names) > MOST_LISTED else ""
    parts = [
        table(["", ""], facts, "Facts", "facts"),
        element("h3", "Features"),
        paragraph(f"The most important first.{left}"),
        table(header, rows, "Features", "features"),
        help_on(
            "How to read this",
            "The model keeps no rows of its training, only what it needs to answer. The values of about two in three "
            "training rows lay where the table says. Where these rows lie far from there, the model has to guess. "
            "“Missing” means that a cell is empty, or of a category that training has not seen.",
        ),
    ]
    return Section("training", "What it was trained on", parts)


def _what(study: Study) -> str:
    labels = study.subject.labels
    return f"one of {len(labels)} classes ({listed(labels, 30)})" if labels else "a number"


def _feature_cells(study: Study, f: int) -> list[Any]:
    feature, values = study.subject.features[f], study.rows.values[:, f]
    gaps = float(np.isnan(values).mean())
    there = values[~np.isnan(values)]
    kind = feature.kind + (", with gaps" if feature.had_gaps else "")
    missing = share_text(gaps) if gaps else "none"
    if feature.kind == CATEGORIES:
        return [kind, _levels(feature), f"{counted(len(np.unique(there)), 'level')}", missing]
    shown = [value_text(x, feature.kind, 3) for x in _usual(feature, there)]
    now = [value_text(float(x), feature.kind, 3) for x in ([there.min(), there.max()] if len(there) else [])]
    return [kind if feature.kind != NUMBERS or feature.had_gaps else "numbers", _range(shown), _range(now), missing]


def _usual(feature: Feature, there: Array) -> tuple[float, float]:
    """The usual values of a feature, such as it can have by those of these rows: whole numbers, none below zero.

    A model knows a middle and a spread, and the one less the other may be a negative area, or a 1.1 of yes and no.
    """
    low, high = feature.low, feature.high
    if len(there) and (there >= 0).all():
        low, high = max(low, 0.0), max(high, 0.0)
    if len(there) and (there == np.round(there)).all():
        low, high = float(np.round(low)), float(np.round(high))
    return low, high


def _range(ends: list[str]) -> str:
    return "–" if not ends else ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _levels(feature: Feature) -> str:
    names = [shortened(name, 30) for name in feature.quoted()]
    return f"{counted(len(names), 'level')}: {listed(names, MOST_LEVELS)}"


def settings(study: Study) -> Section:
    """The section on settings."""
    model = study.subject.model
    members = study.subject.members
    parts: list[Markup] = []
    for number, member in enumerate(members[:MOST_LEVELS]):
        if len(members) > 1:
            weight = share_text(float(model.weights_[number]))
            parts.append(
                element("h3", f"Model {number + 1} of {len(members)}: {type(member).__name__}, weight {weight}")
            )
        parts += _settings_of(member)
    return Section("settings", "Settings", parts)


def _settings_of(member: Any) -> list[Markup]:
    """The parameters of one model: those that were set, those found, and all others to open."""
    defaults, given = type(member)().get_params(), member.get_params(deep=False)
    names = [name for name in given if name not in FOR_THE_MACHINE]
    own = [name for name in names if not _alike(given[name], defaults[name])]
    rows = [[name, _shown(given[name]), _meaning(member, name)] for name in own]
    found = [[name, _shown(value), _meaning(member, name)] for name, value in _found(member).items()]
    rest = [[name, _shown(given[name]), _meaning(member, name)] for name in names if name not in own]
    header = ["Setting", "Value", "What it does"]
    parts: list[Markup] = [paragraph("All settings have their usual values." if not own else "Set by hand:")]
    parts += [table(header, rows, "Set by hand", "settings")] if own else []
    if found:
        parts += [paragraph("Found from the data, where it was left open:")]
        parts += [table(header, found, "Found from the data", "settings")]
    more = element("summary", f"The usual values of {counted(len(rest), 'other setting')}")
    return [*parts, element("details", more, table(header, rest, "Usual values", "settings"))]


def _found(member: Any) -> dict[str, Any]:
    """What boosting has found for itself."""
    if not hasattr(member, "learning_rate_"):
        return {}
    found = {"learning_rate": member.learning_rate_, "n_estimators": member.n_iter_}
    found |= getattr(member, "settings_", {})
    return {name: value for name, value in found.items() if isinstance(getattr(member, name, None), str)}


def _alike(one: Any, other: Any) -> bool:
    try:
        return bool(np.all(one == other)) and type(one) is type(other)
    except (TypeError, ValueError):
        return False


def _shown(value: Any) -> str:
    """A value of a parameter."""
    if isinstance(value, float) and not isinstance(value, bool):
        return number_text(value)
    text = value if isinstance(value, str) else repr(value)
    return shortened(re.sub(r" at 0x[0-9a-f]+", "", text))  # where an object lies in memory


def _meaning(member: Any, name: str) -> str:
    """What a parameter does, in its first sentence."""
    if name not in PARAMETERS:
        return ""
    text = getattr(member, "_texts", {}).get(name, PARAMETERS[name].text)
    first = re.split(r"(?<=[.;:]) (?=[A-Z'N])", str(text), maxsplit=1)[0]
    return first.rstrip(";:").replace("`", "")
