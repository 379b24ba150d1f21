"""The trees to open and close, and the ways of some rows through them."""

import json
from typing import Any, NamedTuple

import numpy as np

from sublearn.core.model.fitted import MEAN
from sublearn.export.inequalities import Inequalities
from sublearn.reporting.branches import MOST_SERIES, Branch, Grove
from sublearn.reporting.markup import Markup, element
from sublearn.reporting.picks import Pick, answer_words
from sublearn.reporting.questions import FEWEST_DIGITS, Questions, questions_of
from sublearn.reporting.study import Section, Study, help_on, paragraph
from sublearn.reporting.subject import Place, Subject
from sublearn.reporting.surrogate import Surrogate, surrogate_of
from sublearn.reporting.wording import counted, number_text, share_text

MOST_TREES = 3  # of an ensemble
ALL_OPEN = 15  # nodes of a tree that is open as a whole at first
LEVELS_OPEN = 2  # of larger ones


class Panel(NamedTuple):
    """A tree of the page."""

    title: str
    words: Markup
    root: Branch
    ways: dict[int, list[int]]  # of rows: the nodes that they pass
    legend: list[str]


def trees(study: Study, picks: list[Pick]) -> Section:
    """The section."""
    rows = list(dict.fromkeys(pick.row for pick in picks))
    small = None if study.subject.is_single_tree else surrogate_of(study)
    panels = [] if small is None else [_small_panel(study, small, rows)]
    members = study.subject.members
    places = [Place(m, t) for m, one in enumerate(members) for t in range(one._model.ensemble.n_trees)][:MOST_TREES]
    panels += [_panel(study, place, rows) for place in places]
    parts = [
        paragraph(_intro(study, small)),
        _controls(study, panels, picks),
        element("p", "", class_="way-words", role="status", aria_live="polite", hidden=True),
        *(_panel_markup(i, panel, study.subject) for i, panel in enumerate(panels)),
        help_on(
            "How to read this",
            "Begin at the top. Each line with a question has its answers below it: go on where it fits the row, until "
            "a line says what is answered. “Rows” are those of the training. Click on a line, or press Enter, to open "
            "or close it; the arrow keys go up and down, in and out. Choose a row to light up its path.",
            "A question such as “length + 2 width ≥ 5” adds up features: here the length and twice the width.",
        ),
        _data(study, panels, rows),
    ]
    return Section("trees", "The tree" if study.subject.is_single_tree else "Its trees", parts)


def _intro(study: Study, small: Surrogate | None) -> str:
    subject = study.subject
    if subject.is_single_tree:
        return "The model is one tree. It is shown as a whole, or its largest branches where it has many."
    first = f"The model puts together the answers of {counted(subject.n_trees, 'tree')}, so no single one explains it."
    if small is None:
        return f"{first} The first ones are shown."
    return f"{first} A small tree that imitates it is shown first, and then the first of its own."


def _small_panel(study: Study, small: Surrogate, rows: list[int]) -> Panel:
    subject, record = study.subject, small.model._model
    classes = [] if record.classes is None else [str(label) for label in record.classes.tolist()]
    inequalities = Inequalities(record, list(subject.names), FEWEST_DIGITS)
    questions = Questions(_features_of(subject, small), inequalities, study.rows.values)
    grove = Grove(record, classes, questions)
    ended = dict(zip(rows, small.model.apply(study.rows.only(np.array(rows))).tolist(), strict=True))
    f, n = small.fidelity, counted(small.n_tested, "row")
    low, high = share_text(f.low), share_text(f.high)
    if subject.is_classifier:
        said = (
            f"gives the model’s answer for {share_text(f.value)} ({low} to {high}); always the most frequent answer "
            f"would for {share_text(small.baseline)}"
        )
    else:
        said = f"explains {share_text(f.value)} of the differences between the model’s answers ({low} to {high})"
    words = paragraph(
        "This small tree is not the model. It has learned to imitate its answers from ",
        f"{counted(small.n_learned, 'row')}. ",
        element("b", f"On {n} that it has not seen, it {said}."),
        " Where that is not near 100 %, it leaves out much of what the model does.",
    )
    return _made("A small tree that imitates the model", words, grove, 0, ended)


def _features_of(subject: Subject, small: Surrogate) -> list[Any]:
    """The features as the small tree has learned them, with their own levels."""
    return Subject(small.model, subject.names, None).features


def _panel(study: Study, place: Place, rows: list[int]) -> Panel:
    subject = study.subject
    member = subject.members[place.member]
    grove = Grove(member._model, subject.labels, questions_of(subject, place.member, study.rows.values))
    (nodes,) = subject.leaves(study.rows.only(np.array(rows)), place.member, range(place.tree, place.tree + 1))
    first = int(member._model.ensemble.roots[place.tree])
    ended = {row: first + node for row, node in zip(rows, nodes.tolist(), strict=True)}
    n = member._model.ensemble.n_trees
    title = "The tree" if subject.is_single_tree else f"Tree {place.tree + 1} of {n:,}"
    if len(subject.members) > 1:
        title = f"{title}, model {place.member + 1} of {len(subject.members)}"
    return _made(title, paragraph(_tree_words(subject, place)), grove, place.tree, ended)


def _tree_words(subject: Subject, place: Place) -> str:
    record = subject.members[place.member]._model
    if record.link == MEAN:
        if subject.is_single_tree:
            return "Bars show the answers of the training rows at each line."
        return "The answers of all trees are averaged. Bars show the answers of the training rows at each line."
    leaning = (
        " Leaves also lean on some features a little: the number is that of a usual row of the leaf."
        if record.ensemble.nodes.slopes.first.size
        else ""
    )
    if subject.is_classifier and len(subject.labels) == 2:
        return (
            f"Each tree adds a little to a score: above 0 speaks for “{subject.labels[1]}”, below 0 for "
            f"“{subject.labels[0]}”.{leaning}"
        )
    if subject.is_classifier:
        return (
            f"Each tree adds a little to a score for each class. Leaves say which class gains and loses most.{leaning}"
        )
    start = f" All begin at {number_text(float(record.start[0]))}." if len(record.start) else ""
    scale = "" if record.link == "identity" else ", on the model’s inner scale,"
    return f"Each tree adds a little{scale} to what those before it have said.{start}{leaning}"


def _made(title: str, words: Markup, grove: Grove, t: int, ended: dict[int, int]) -> Panel:
    """A panel with the ways of rows, by the nodes that they end in."""
    root = int(grove.record.ensemble.roots[t])
    branch = grove.branch(t, ended.values())
    ways = {row: [node - root for node in grove.way(node_of)] for row, node_of in ended.items()}
    return Panel(title, words, branch, ways, list(grove.questions.inequalities.legend()))


def _controls(study: Study, panels: list[Panel], picks: list[Pick]) -> Markup:
    """Choosers of tree and row, and the buttons."""
    which = [element("option", panel.title, value=i) for i, panel in enumerate(panels)]
    groups: dict[str, list[Markup]] = {}
    for pick in picks:
        predicted, truth = answer_words(study, pick.row)
        words = f"Row {pick.row + 1:,}: predicted {predicted}, truth {truth}"
        groups.setdefault(pick.group, []).append(element("option", words, value=pick.row))
    options = [element("optgroup", *some, label=group) for group, some in groups.items()]
    return element(
        "div",
        element("label", "Tree ", element("select", *which, id="which-tree")) if len(panels) > 1 else None,
        element("label", "Row ", element("select", element("option", "none", value=""), *options, id="which-row")),
        element(
            "span",
            element("button", "Open all", type="button", id="open-all"),
            element("button", "Close all", type="button", id="close-all"),
            class_="buttons",
        ),
        class_="controls",
    )


def _panel_markup(i: int, panel: Panel, subject: Subject) -> Markup:
    is_small = panel.root.n_shown <= ALL_OPEN  # and printed with all branches
    opened = panel.root.n_shown if is_small else LEVELS_OPEN
    tree = element("ul", _item(i, panel.root, 0), role="tree", aria_label=panel.title, data_panel=i, data_opened=opened)
    legend = [element("li", line) for line in panel.legend]
    notes = [element("details", element("summary", "What g(…), m(…) and […] stand for"), element("ul", *legend))]
    return element(
        "div",
        element("h3", panel.title),
        panel.words,
        _colours(subject, panel),
        element("div", tree, class_="tree-box"),
        *(notes if legend else []),
        class_="panel small" if is_small else "panel",
        id=f"panel-{i}",
    )


def _colours(subject: Subject, panel: Panel) -> Markup | None:
    """Which colour is which class."""
    if panel.root.bar is None or not 2 <= len(subject.labels) <= MOST_SERIES:
        return None
    keys = [
        element("span", element("span", class_=f"key series{k}"), label, class_="entry")
        for k, label in enumerate(subject.labels)
    ]
    return paragraph(*keys, class_="legend")


def _item(panel: int, branch: Branch, level: int) -> Markup:
    """A node with what is below it; all is open, and closed by the script."""
    name = f"t{panel}-{branch.node}"
    hidden = f" ({counted(branch.n_hidden, 'more node')} below)" if branch.n_hidden else ""
    label = [
        element("span", branch.side, class_="side") if branch.side else None,
        *(element("span", one, class_="question") for one in branch.questions),
        element("span", f"→ {branch.answer}", class_="answer") if branch.answer else None,
        element("span", f"{counted(branch.n_rows, 'row')}{hidden}", class_="count"),
    ]
    row = element(
        "div", element("span", *_spaced(label), class_="label", id=f"{name}-label"), branch.bar, class_="node"
    )
    below = [_item(panel, child, level + 1) for child in branch.children]
    return element(
        "li",
        row,
        element("ul", *below, role="group") if below else None,
        role="treeitem",
        id=name,
        aria_level=level + 1,
        aria_expanded="true" if below else None,
        aria_labelledby=f"{name}-label",
        tabindex=-1 if level else 0,
    )


def _spaced(parts: list[Markup | None]) -> list[Any]:
    """Parts with blanks between, so that they are read as words."""
    there = [part for part in parts if part is not None]
    return [one for part in there for one in (part, " ")][:-1]


def _data(study: Study, panels: list[Panel], rows: list[int]) -> Markup:
    """The ways of the rows for the script."""
    found = {}
    for row in rows:
        predicted, truth = answer_words(study, row)
        words = f"Row {row + 1:,}: predicted {predicted}, truth {truth}. Its path is lit up."
        found[str(row)] = {"words": words, "ways": [panel.ways[row] for panel in panels]}
    text = json.dumps(found, ensure_ascii=True, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return element("script", Markup(text), type="application/json", id="ways")
