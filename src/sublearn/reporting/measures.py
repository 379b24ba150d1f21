"""How good predictions are, each figure with its 95 % interval: Wilson's for shares, else normal, by the spread."""

from typing import Any, NamedTuple

import numpy as np

NORMAL = 1.959963984540054
LEAST = 1e-15  # probability that counts


class Figure(NamedTuple):
    """A figure with its interval; nan where there is none."""

    name: str
    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if not np.isfinite([self.low, self.high]).all():
            return f"{self.name} {self.value:.4g}"
        return f"{self.name} {self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


class ClassRow(NamedTuple):
    """How well a class is found."""

    label: Any
    n_rows: int
    n_predicted: int
    precision: float
    recall: float


def _mean(name: str, losses: Any, low: float = -np.inf) -> Figure:
    """The mean of a loss of each row."""
    n, value = len(losses), float(np.mean(losses))
    reach = NORMAL * float(np.std(losses, ddof=1)) / n**0.5 if n > 1 else np.nan
    return Figure(name, value, max(value - reach, low), value + reach)


def wilson(n_hits: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, 1927), which has a width even where all rows, or none, are hits."""
    if not n:
        return np.nan, np.nan
    square = NORMAL**2
    middle = (n_hits + square / 2) / (n + square)
    reach = NORMAL / (n + square) * np.sqrt(n_hits * (n - n_hits) / n + square / 4)
    return max(float(middle - reach), 0.0), min(float(middle + reach), 1.0)


def measure_numbers(y: Any, predicted: Any) -> list[Figure]:
    """R2, RMSE and MAE."""
    errors = predicted - y
    squares = errors**2
    square = _mean("MSE", squares, low=0.0)
    rmse = Figure("RMSE", *(float(np.sqrt(one)) for one in square[1:]))
    return [_r2(y, squares), rmse, _mean("MAE", np.abs(errors), low=0.0)]


def _r2(y: Any, squares: Any) -> Figure:
    """Share of the variance that is explained, a ratio of two means."""
    spread = (y - y.mean()) ** 2
    variance = float(spread.mean())
    if variance == 0:
        return Figure("R2", np.nan, np.nan, np.nan)
    ratio = float(squares.mean()) / variance
    reach = NORMAL * float(np.std(squares - ratio * spread)) / variance / len(y) ** 0.5
    return Figure("R2", 1 - ratio, 1 - ratio - reach, min(1 - ratio + reach, 1.0))


def measure_classes(labels: Any, probabilities: Any) -> list[Figure]:
    """Accuracy, log loss and, of two classes, AUC; `labels` are places among the classes, -1 for those not known."""
    is_known = labels >= 0
    n, n_right = len(labels), int((probabilities.argmax(axis=1) == labels).sum())
    given = np.where(is_known, probabilities[np.arange(len(labels)), labels], 0.0)
    accuracy = Figure("accuracy", n_right / n, *wilson(n_right, n))
    figures = [accuracy, _mean("log loss", -np.log(np.maximum(given, LEAST)), low=0.0)]
    if probabilities.shape[1] == 2 and {0, 1} <= set(labels.tolist()):
        figures.append(_auc(probabilities[is_known, 1], labels[is_known] == 1))
    return figures


def _auc(scores: Any, is_positive: Any) -> Figure:
    """The share of pairs in the right order, and its spread over the rows of each class (DeLong et al., 1988)."""
    from scipy.stats import rankdata

    positive, negative = scores[is_positive], scores[~is_positive]
    n, m = len(positive), len(negative)
    ranks = rankdata(np.concatenate([positive, negative]))
    above = (ranks[:n] - rankdata(positive)) / m  # for each positive, the share of negatives below it
    below = 1 - (ranks[n:] - rankdata(negative)) / n
    value = float(above.mean())
    spread = np.sqrt(above.var(ddof=1) / n + below.var(ddof=1) / m) if min(n, m) > 1 else np.nan
    reach = NORMAL * float(spread)
    return Figure("AUC", value, max(value - reach, 0.0), min(value + reach, 1.0))


def class_table(labels: Any, predicted: Any, classes: Any) -> list[ClassRow]:
    """Precision and recall of each class."""
    rows = []
    for place, label in enumerate(classes):
        is_one, said = labels == place, predicted == place
        hits = int((is_one & said).sum())
        precision = hits / int(said.sum()) if said.any() else np.nan
        recall = hits / int(is_one.sum()) if is_one.any() else np.nan
        rows.append(ClassRow(label, int(is_one.sum()), int(said.sum()), precision, recall))
    return rows


def places_of(y: Any, classes: Any) -> Any:
    """The place of each label among the classes; -1 for those that are none of them."""
    known = {label: place for place, label in enumerate(np.asarray(classes).tolist())}
    return np.array([known.get(label, -1) for label in np.asarray(y).tolist()], np.int64)
