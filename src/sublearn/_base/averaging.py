"""Which of many settings to average: their answers for samples that they have not learned from tell.

Greedy selection with replacement, after Caruana et al., "Ensemble Selection from Libraries of Models", 2004: begin with
the best, and add the one whose answers help the average most. One that is added again counts more.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from sublearn.kernels.layout import Array

MOST_KEPT = 32
MOST_BYTES = 1 << 28  # of all answers that are kept
MOST_MEMBERS = 8
MOST_PICKS = 25


class OtherSamplesError(Exception):
    """Raised where answers are asked for that are not there."""


class Candidate(NamedTuple):
    """Settings that were tried, with their answers for each test part: numbers, or probabilities of classes."""

    settings: dict[str, Any]
    score: float
    seconds: float  # that a fit to all samples takes
    answers: list[Array]


class Pool:
    """The best settings so far, the best first."""

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []

    def add(self, new: Candidate) -> None:
        """Keep settings, unless others are better, or have given the very same answers."""
        if self.candidates and (not new.score > -np.inf or any(_are_twins(new, old) for old in self.candidates)):
            return
        place = sum(old.score >= new.score for old in self.candidates)
        self.candidates.insert(place, new)
        n_bytes = sum(part.nbytes for part in new.answers)
        del self.candidates[max(min(MOST_KEPT, MOST_BYTES // max(n_bytes, 1)), 1) :]

    def seconds(self, most: float) -> float:
        """Seconds that fits of the best take, of as many as there may be; of the very best however many it takes."""
        total = 0.0
        for number, candidate in enumerate(self.candidates[:MOST_MEMBERS]):
            if number and total + candidate.seconds > most:
                break
            total += candidate.seconds
        return total


def _are_twins(one: Candidate, other: Candidate) -> bool:
    return one.score == other.score and all(map(np.array_equal, one.answers, other.answers))


class Average(NamedTuple):
    """Some candidates, each with its weight."""

    members: list[Candidate]
    weights: list[float]
    score: float


def choose_average(
    candidates: Sequence[Candidate],
    score_of: Callable[[list[Array]], float],
    allows: Callable[[list[Candidate]], bool],
    goes_on: Callable[[], bool],
) -> Average:
    """The average that greedy selection finds, of at least the first candidate, which is the best.

    A pick that does not help may lead to one that does: the best stands at two thirds where it is picked twice. So all
    picks are made, and those up to the highest score count.

    score_of: score of answers for all test parts; allows: whether there may be such members, of which the last is new;
    goes_on: whether there is time for one more score.
    """
    picks, total = [0], candidates[0].answers
    scores = [candidates[0].score]
    while len(picks) < MOST_PICKS:
        members = [candidates[i] for i in dict.fromkeys(picks)]
        best = -np.inf, -1
        for number, candidate in enumerate(candidates):
            if number not in picks and (len(members) == MOST_MEMBERS or not allows([*members, candidate])):
                continue
            if not goes_on():
                break
            score = scores[0]  # of the first, however often it is picked
            if {number, *picks} != {0}:
                n = len(picks) + 1
                score = score_of([(old + new) / n for old, new in zip(total, candidate.answers, strict=True)])
            if score > best[0]:
                best = score, number
        if best[1] < 0:
            break
        scores.append(best[0])
        picks.append(best[1])
        total = [old + new for old, new in zip(total, candidates[best[1]].answers, strict=True)]
    place = int(np.argmax(scores))
    counts = Counter(picks[: place + 1])
    weights = [n / counts.total() for n in counts.values()]
    return Average([candidates[i] for i in counts], weights, scores[place])


class _Answers(BaseEstimator):  # type: ignore[misc]
    """Stands for a fitted estimator before a scorer: it has answers for some samples, and nothing else."""

    def __init__(self, X: Any = None, answers: Any = None) -> None:
        self.X = X
        self.answers = answers

    def _for(self, X: Any) -> Array:
        if X is not self.X:
            raise OtherSamplesError("it asks for predictions of other samples than it is given")
        answers: Array = self.answers
        return answers

    def __sklearn_is_fitted__(self) -> bool:
        return True


class NumberAnswers(RegressorMixin, _Answers):  # type: ignore[misc]
    """Numbers predicted for some samples."""

    def predict(self, X: Any) -> Array:
        """The numbers."""
        return self._for(X)


class ClassAnswers(ClassifierMixin, _Answers):  # type: ignore[misc]
    """Probabilities of classes for some samples."""

    def __init__(self, X: Any = None, answers: Any = None, classes: Any = None) -> None:
        super().__init__(X, answers)
        self.classes = classes

    @property
    def classes_(self) -> Array:
        """The classes, sorted."""
        classes: Array = self.classes
        return classes

    def predict(self, X: Any) -> Array:
        """The classes of largest probability."""
        predicted: Array = self.classes[self._for(X).argmax(axis=1)]
        return predicted

    def predict_proba(self, X: Any) -> Array:
        """The probabilities."""
        return self._for(X)

    def predict_log_proba(self, X: Any) -> Array:
        """Their logarithms."""
        with np.errstate(divide="ignore"):
            logarithms: Array = np.log(self._for(X))
        return logarithms
