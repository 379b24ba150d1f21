"""Which features matter: what the model loses when one is shuffled, and what was learned from each."""

from typing import Any

import numpy as np

from sublearn.reporting.markup import joined
from sublearn.reporting.plot import meter
from sublearn.reporting.study import Section, Study, help_on, paragraph, table
from sublearn.reporting.wording import counted, number_text, share_text

MOST_LISTED = 20  # features


def weights(study: Study) -> Section:
    """The section."""
    shares, names = study.subject.model.feature_importances_, study.subject.names
    words = [
        f"The model uses {int((shares > 0).sum()):,} of its {counted(len(names), 'feature')}.",
        f"Each one was shuffled among {study.of_rows(study.weighed.n_rows)}, to see what the model loses.",
        f"The first {MOST_LISTED} are listed." if len(names) > MOST_LISTED else "",
        "These are answers of the model itself, which may know the rows." if study.trial.folds else "",
    ]
    loss = "log loss" if study.subject.is_classifier else "root mean square error"
    header = ["Feature", f"Shuffled, the {loss} grows by", "Share of what was learned"]
    parts = [
        paragraph(" ".join(filter(None, words))),
        table(header, _lines(study), "Importances", "meters"),
        help_on(
            "How to read this",
            "If the values of a feature are shuffled among the rows, it tells nothing any more. The bar says how much "
            "worse the answers then are, and the thin line is the likely range (95 %). A feature may count little here "
            "because others say the same.",
            "The share says how much of what the trees gained in training is due to a feature. Neither figure means "
            "that a feature is a cause.",
        ),
    ]
    return Section("importances", "Which features matter", parts)


def _lines(study: Study) -> list[list[Any]]:
    """A line for each of the first features."""
    weighed, shares = study.weighed, study.subject.model.feature_importances_
    largest = float(np.fmax(weighed.growth, weighed.high).max())
    scale = 1.0 / largest if largest > 0 else 0.0
    found = []
    for f in weighed.order[:MOST_LISTED].tolist():
        value, low, high = (float(one[f]) for one in (weighed.growth, weighed.low, weighed.high))
        bar = meter(value * scale, low * scale, high * scale)
        found.append([study.subject.names[f], joined(bar, " ", number_text(value, 2)), share_text(float(shares[f]))])
    return found
