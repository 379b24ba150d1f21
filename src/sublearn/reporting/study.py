"""What all sections of a report are made from, and what a section is."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sublearn.explanation import importances
from sublearn.kernels.layout import Array
from sublearn.reporting.markup import Markup, element
from sublearn.reporting.measures import NORMAL
from sublearn.reporting.rows import Rows
from sublearn.reporting.subject import Subject
from sublearn.reporting.trial import Trial
from sublearn.reporting.wording import counted

SAMPLE_KEY, PERMUTATION_KEY, SURROGATE_KEY, BACKGROUND_KEY = 2, 3, 4, 5  # below a seed; trial.py has 1
N_REPEATS, MOST_SHUFFLED = 3, (100, 2000)  # how often a feature is shuffled; bounds of the rows to do so with
MOST_WALKS = 150_000_000  # of rows through trees, which that may take


class Weighed(NamedTuple):
    """How much each feature counts for the model."""

    growth: Array  # (n_features,), by how much log loss, or root mean squared error, grows when the feature is shuffled
    low: Array  # (n_features,), ends of the 95 % intervals; nan where there is none
    high: Array
    n_rows: int  # that this was found on
    order: Array  # the features, the most important first


@dataclass(frozen=True, eq=False)
class Study:
    """A model, the rows it is measured on, and its answers for them."""

    subject: Subject
    rows: Rows
    trial: Trial
    seed: int

    @cached_property
    def weighed(self) -> Weighed:
        """The features by what the model loses without them, on rows of classes that it knows."""
        subject, known = self.subject, np.flatnonzero(self.rows.y >= 0) if self.subject.is_classifier else None
        n = self.rows.n if known is None else len(known)
        cost = subject.n_trees * len(subject.names) * N_REPEATS
        some = self.drawn(n, int(np.clip(MOST_WALKS // cost, *MOST_SHUFFLED)), PERMUTATION_KEY)
        rows = some if known is None else known[some]
        y = self.rows.y[rows] if known is None else subject.model.classes_[self.rows.y[rows]]
        found = importances(
            subject.model, self.rows.only(rows), y, kind="permutation", n_repeats=N_REPEATS, random_state=self.seed
        )
        assert found.errors is not None
        order = np.lexsort((-subject.model.feature_importances_, -found.values))
        reach = NORMAL * found.errors
        amounts = [found.values, found.values - reach, found.values + reach]
        if known is None:  # squared errors, which nobody has a feeling for
            error = float(np.mean((subject.answers(self.rows.only(rows))[:, 0] - y) ** 2))
            amounts = [np.sqrt(np.maximum(error + one, 0.0)) - np.sqrt(error) for one in amounts]
        growth, low, high = amounts
        return Weighed(growth=growth, low=low, high=high, n_rows=len(rows), order=order)

    @property
    def predicted(self) -> Array:
        """Predicted numbers, or places of classes."""
        answers = self.trial.answers
        found: Array = answers.argmax(axis=1) if self.subject.is_classifier else answers[:, 0]
        return found

    @property
    def is_right(self) -> Array:
        """Whether each row's class is the predicted one."""
        right: Array = self.predicted == self.rows.y
        return right

    @property
    def errors(self) -> Array:
        """Prediction minus truth, of numbers."""
        errors: Array = self.predicted - self.rows.y
        return errors

    def sample(self, most: int, key: int = SAMPLE_KEY) -> Array:
        """Some of the rows, in order; all where there are not more."""
        return self.drawn(self.rows.n, most, key)

    def drawn(self, n: int, most: int, key: int) -> Array:
        """Some numbers below n, in order; all where there are not more."""
        if n <= most:
            return np.arange(n)
        return np.sort(np.random.default_rng([self.seed, key]).choice(n, most, replace=False))

    def of_rows(self, n: int) -> str:
        """How many of the rows something was found on, in words."""
        return f"all {self.rows.n:,} rows" if n == self.rows.n else f"{n:,} of {counted(self.rows.n, 'row')}"


class Section(NamedTuple):
    """A part of the page."""

    name: str  # in links
    title: str
    parts: list[Any]  # markup

    def markup(self) -> Markup:
        """The section as HTML."""
        head = element("h2", self.title, id=f"{self.name}-title")
        return element("section", head, *self.parts, id=self.name, aria_labelledby=f"{self.name}-title")


def paragraph(*parts: Any, class_: str | None = None) -> Markup:
    """A paragraph."""
    return element("p", *parts, class_=class_)


def help_on(question: str, *paragraphs: Any) -> Markup:
    """An explanation to open."""
    return element("details", element("summary", question), *(paragraph(one) for one in paragraphs), class_="help")


def figure(title: str, drawing: Markup, *below: Any) -> Markup:
    """A chart with its title."""
    return element("figure", element("figcaption", title), drawing, *below)


def _line(header: list[Any], row: list[Any]) -> Markup:
    """A line of a table; cells know their heads, for narrow pages."""
    cells = [element("td", one, data_head=head if isinstance(head, str) else None)
             for head, one in zip(header[1:], row[1:], strict=True)]  # fmt: skip
    return element("tr", element("th", row[0], scope="row"), *cells)


def table(header: list[Any], rows: list[list[Any]], name: str, class_: str | None = None) -> Markup:
    """A table in a box of its own, which scrolls where it is too wide; the first cell of a row names it."""
    head = element("thead", element("tr", *(element("th", one, scope="col") for one in header)))
    body = element(
        "tbody",
        *(_line(header, row) for row in rows),
    )
    return element(
        "div", element("table", head, body, class_=class_), class_="scroll", tabindex=0, role="region", aria_label=name
    )
