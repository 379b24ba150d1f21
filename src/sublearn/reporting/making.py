"""`report`: a page on a model, for people who do not code."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from sublearn._base.parameters import whole
from sublearn._files.writing import write_bytes
from sublearn.reporting.calibration import calibration
from sublearn.reporting.effects import dependence
from sublearn.reporting.measures import Figure, measure_classes, measure_numbers
from sublearn.reporting.mistakes import mistakes
from sublearn.reporting.origins import origins, settings
from sublearn.reporting.page import page
from sublearn.reporting.picks import picked
from sublearn.reporting.rows import as_rows
from sublearn.reporting.scores import headline, scores
from sublearn.reporting.study import Study
from sublearn.reporting.subject import as_subject
from sublearn.reporting.trial import measured
from sublearn.reporting.unsure import unsure
from sublearn.reporting.viewer import trees
from sublearn.reporting.weights import weights

MOST_FOLDS = 50
LARGEST_SEED = 2**32 - 1


@dataclass(frozen=True)
class Report:
    """A page on a model: HTML that is complete in itself. Notebooks show it; `save` writes it to a file.

    Attributes
    ----------
    html : str
        The page.
    scores : tuple of Figure
        What was measured: each has a `name`, a `value`, and the ends `low` and `high` of its 95 % interval.
    looks_seen : bool
        Whether the model seems to have learned from the rows, so that the scores are too good.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier, report
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SLMClassifier(random_state=0).fit(X[::2], y[::2])
    >>> report(model, X[1::2], y[1::2]).html[:15]
    '<!doctype html>'
    """

    html: str = field(repr=False)
    scores: tuple[Figure, ...]
    looks_seen: bool

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, which is there as a whole or not at all.

        Parameters
        ----------
        path : str or path
            The file, such as report.html; one that is there is replaced.
        """
        write_bytes(os.fspath(path), self.html.encode(), "report")

    def _repr_html_(self) -> str:
        frame = 'title="Report" sandbox="allow-scripts" width="100%" height="800" style="border: 1px solid #bbb"'
        return f'<iframe srcdoc="{escape(self.html)}" {frame}></iframe>'


def report(
    model: Any,
    X: Any,
    y: Any,
    *,
    folds: int | None = None,
    feature_names: Sequence[str] | None = None,
    target: str | None = None,
    title: str | None = None,
    random_state: int = 0,
) -> Report:
    """Make a page on a model for people who do not code.

    It says how good the model is, which mistakes it makes, whether its probabilities can be believed, which features
    matter and how, shows its trees to open and close, the rows that it is least sure of, and what it was trained on.

    Parameters
    ----------
    model : SLM estimator
        A fitted tree, forest or boosting, or an average of them.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows to measure the model on. They must not have been used in training, unless `folds` is given.
    y : array-like of shape (n_samples,)
        Their classes or numbers.
    folds : int from 2 to 50, default=None
        None: the model itself answers. A number: the rows are dealt into so many parts, and each part is answered by a
        clone of the model that has learned from the other parts. This is honest for the rows of the training too, and
        takes as many fits.
    feature_names : sequence of str, default=None
        Names of the features; None: those seen in fit, or x0, x1, ...
    target : str, default=None
        What is predicted; None: the name of y, if it has one.
    title : str, default=None
        Title of the page.
    random_state : int, default=0
        Seed of all that is drawn. The same model, rows and seed give the same page.

    Returns
    -------
    report : Report
        The page. `report.save("report.html")` writes it to a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> import sublearn
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = sublearn.SLMForestClassifier(n_estimators=5, random_state=0).fit(X[::2], y[::2])
    >>> made = sublearn.report(model, X[1::2], y[1::2], target="species")
    >>> print(made.scores[0])
    accuracy 0.96 (0.8889 to 0.9863)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made.save(Path(folder) / "report.html")
    """
    _check(folds, random_state)
    subject = as_subject(model, feature_names, target or _name_of(y))
    rows = as_rows(subject, X, y)
    if folds is not None and folds > rows.n:
        raise ValueError(f"folds of report must be at most the number of rows, {rows.n:,}; got {folds}.")
    study = Study(subject, rows, measured(subject, rows, folds, random_state), random_state)
    picks = picked(study)
    sections = [
        scores(study),
        mistakes(study),
        calibration(study),
        weights(study),
        dependence(study),
        trees(study, picks),
        unsure(study, picks),
        origins(study),
        settings(study),
    ]
    measure = measure_classes if subject.is_classifier else measure_numbers
    found = measure(rows.y, study.trial.answers if subject.is_classifier else study.predicted)
    html = page(title or f"How well {subject.thing} is predicted", headline(study), sections)
    return Report(html=html, scores=tuple(found), looks_seen=study.trial.seen is not None)


def _check(folds: Any, random_state: Any) -> None:
    """Raise ValueError for options that are not allowed."""
    if folds is not None and not whole(2, MOST_FOLDS).accepts(folds):
        raise ValueError(f"folds of report must be None or {whole(2, MOST_FOLDS).words}; got {folds!r}.")
    if not whole(0, LARGEST_SEED).accepts(random_state):
        raise ValueError(f"random_state of report must be {whole(0, LARGEST_SEED).words}; got {random_state!r}.")


def _name_of(y: Any) -> str | None:
    """The name of a series."""
    name = None if isinstance(y, np.ndarray) else getattr(y, "name", None)
    return str(name) if name is not None and str(name) else None
