"""How a claim of the paper is judged: verdicts, the rules that several claims share, and the figures they give."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.datasets import SOURCES
from sublearn.paper.evidence import Evidence
from sublearn.paper.significance import LEVEL

HOLDS, IN_PART, NOT, UNTOLD = "holds", "holds in part", "does not hold", "cannot be told"
VERDICTS = (HOLDS, IN_PART, NOT, UNTOLD)

EVERY = (
    "Holds: the mean is better on every set. In part: better in the mean over the sets, in one comparison at least. "
    "Else not."
)
MOST = "Holds: better on more than half of the sets, and in the mean over them. In part: one of the two. Else not."


class Ruling(NamedTuple):
    """A verdict, and the figures that decide it or the reason why there is none."""

    verdict: str
    figures: str


Judge = Callable[[Evidence], Ruling]


class Claim(NamedTuple):
    """A claim of the paper, in its own words, and how it is judged."""

    quote: str
    place: str  # the section, and after a semicolon others that say the same
    judge: Judge
    rule: str
    seen: str  # table or picture that has the figures


class Comparison(NamedTuple):
    """Two contenders over some sets of one kind."""

    title: str
    n_sets: int
    n_better: int
    n_worse: int
    n_significantly: tuple[int, int] | None  # better, worse; None where no test is allowed
    ours: float  # mean accuracy, or the geometric mean of our error to theirs
    theirs: float  # mean accuracy, or 1
    is_better: bool  # in the mean over the sets

    def text(self) -> str:
        """The comparison in words and figures."""
        better, worse = self.n_significantly or (None, None)
        parts = [
            f"better on {self.n_better} of {self.n_sets}" + ("" if better is None else f" (significantly {better})"),
            f"worse on {self.n_worse}" + ("" if worse is None else f" (significantly {worse})"),
        ]
        mean = f"mean {self.ours:.2f} / {self.theirs:.2f}"
        if self.theirs == 1.0:
            mean = f"mean ratio of errors {self.ours:.3f}"
        return f"{self.title}: {', '.join(parts)}, {mean}."


def compare(evidence: Evidence, ours: str, theirs: str, data_sets: Sequence[str]) -> Comparison:
    """One contender with another, on sets of one kind; the protocol that tunes on the test part allows no test."""
    scores = evidence.scores_of((ours, theirs), data_sets)
    means = np.array([[scores.mean(name, data_set) for data_set in data_sets] for name in (ours, theirs)])
    gains = scores.sign * (means[0] - means[1])
    significant = np.array([scores.p_value(ours, theirs, data_set) < LEVEL for data_set in data_sets])
    tested = int(np.sum(significant & (gains > 0))), int(np.sum(significant & (gains < 0)))
    if scores.is_classes:
        mean, other = (float(row.mean()) for row in means)
    else:
        mean, other = float(np.exp(np.log(means[0] / means[1]).mean())), 1.0
    names = [CONTENDERS[name].name(scores.is_classes) for name in (ours, theirs)]
    return Comparison(
        title=" / ".join(names),
        n_sets=len(data_sets),
        n_better=int(np.sum(gains > 0)),
        n_worse=int(np.sum(gains < 0)),
        n_significantly=tested if evidence.protocol == "honest" else None,
        ours=mean,
        theirs=other,
        is_better=scores.sign * mean > scores.sign * other,
    )


def on_every(comparisons: Sequence[Comparison]) -> Ruling:
    """The verdict by the rule EVERY, over all comparisons together."""
    figures = " ".join(one.text() for one in comparisons)
    if all(one.n_better == one.n_sets for one in comparisons):
        return Ruling(HOLDS, figures)
    return Ruling(IN_PART if any(one.is_better for one in comparisons) else NOT, figures)


def on_most(comparisons: Sequence[Comparison]) -> Ruling:
    """The verdict by the rule MOST, over all comparisons together."""
    figures = " ".join(one.text() for one in comparisons)
    found = [passed for one in comparisons for passed in (2 * one.n_better > one.n_sets, one.is_better)]
    return graded(found, figures)


def graded(conditions: Sequence[bool], figures: str) -> Ruling:
    """Holds where all conditions are met, in part where some are."""
    if all(conditions):
        return Ruling(HOLDS, figures)
    return Ruling(IN_PART if any(conditions) else NOT, figures)


def counted(n: int, of: int, figures: str) -> Ruling:
    """Holds on all sets; in part on more than half; else not."""
    if n == of:
        return Ruling(HOLDS, figures)
    return Ruling(IN_PART if 2 * n > of else NOT, figures)


COUNTED = "Holds: on all of the sets. In part: on more than half of them. Else not."


def untold(reason: str) -> Judge:
    """A judge of a claim that no run measures."""
    return lambda evidence: Ruling(UNTOLD, reason)


def titles(data_sets: Sequence[str]) -> str:
    """Names of sets, as the paper has them."""
    return ", ".join(SOURCES[name].title for name in data_sets) or "none"
