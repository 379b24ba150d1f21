"""Claims of the paper about the search in a node, and what a support vector machine pays (our ablations and "
"measures)."""

from collections.abc import Sequence

import numpy as np

from sublearn.paper import ablations
from sublearn.paper.datasets import SOURCES
from sublearn.paper.evidence import GUIDED, NUMBERS, UNIFORM, Evidence, Floats, MissingRecordsError
from sublearn.paper.measures import ALIKE
from sublearn.paper.verdicts import COUNTED, HOLDS, IN_PART, NOT, Claim, Ruling, counted, graded


def mean_ratio(errors: Floats, others: Floats) -> float:
    """Geometric mean of errors over others, of the sets in which none is 0."""
    usable = (errors > 0) & (others > 0)
    if not usable.any():
        return 1.0
    return float(np.exp(np.log(errors[usable] / others[usable]).mean()))


def _guided(evidence: Evidence) -> Ruling:
    guided, uniform = evidence.errors_of_variants(GUIDED), evidence.errors_of_variants(UNIFORM)
    ratios = [mean_ratio(guided[:, i], uniform[:, i]) for i in range(len(GUIDED))]
    n_better = [int(np.sum(guided[:, i] < uniform[:, i])) for i in range(len(GUIDED))]
    told = ", ".join(
        f"p = {p}: {ratio:.3f}, better on {n} of {len(guided)} sets"
        for p, ratio, n in zip(ablations.N_PROJECTIONS, ratios, n_better, strict=True)
    )
    return graded([ratio < 1 for ratio in ratios], f"Error of guided over uniform draws, mean of the sets: {told}.")


def _by_q(evidence: Evidence) -> tuple[Floats, Floats, Floats]:
    """Errors, depths and nodes a level, (n_sets, 3), with up to 1, 2 and 3 hyperplanes a node."""
    variants = list(ablations.MAX_PARTITIONS.values())
    return (
        evidence.errors_of_variants(variants),
        evidence.depths_of_variants(variants),
        evidence.widths_of_variants(variants),
    )


def _n_ary_shape(evidence: Evidence) -> Ruling:
    _, depths, widths = _by_q(evidence)
    n = len(depths)
    shallower = [int(np.sum(depths[:, i] < depths[:, 0])) for i in (1, 2)]
    wider = [int(np.sum(widths[:, i] > widths[:, 0])) for i in (1, 2)]
    figures = (
        f"With up to 2 and 3 hyperplanes a node instead of 1: shallower on {shallower[0]} and {shallower[1]} of {n} "
        f"sets, wider on {wider[0]} and {wider[1]}; mean depth {depths.mean(axis=0)[0]:.1f}, "
        f"{depths.mean(axis=0)[1]:.1f}, {depths.mean(axis=0)[2]:.1f}; nodes a level {widths.mean(axis=0)[0]:.1f}, "
        f"{widths.mean(axis=0)[1]:.1f}, {widths.mean(axis=0)[2]:.1f}."
    )
    return graded([2 * number > n for number in (*shallower, *wider)], figures)


def _n_ary_error(evidence: Evidence) -> Ruling:
    errors, _, _ = _by_q(evidence)
    ratios = [mean_ratio(errors[:, i], errors[:, 0]) for i in (1, 2)]
    lower = [int(np.sum(errors[:, i] < errors[:, 0])) for i in (1, 2)]
    figures = (
        f"Test error with up to 2 and 3 hyperplanes over that with 1, mean of the sets: {ratios[0]:.3f}, "
        f"{ratios[1]:.3f}; lower on {lower[0]} and {lower[1]} of {len(errors)} sets."
    )
    return graded([ratio < 1 for ratio in ratios], figures)


def _several_effective(evidence: Evidence) -> Ruling:
    means = [float(np.mean(evidence.of_root(name, "n_effective"))) for name in SOURCES]
    n = sum(mean >= 2 for mean in means)
    n_candidates = max(max(evidence.of_root(name, "n_candidates")) for name in SOURCES)
    figures = (
        f"Candidates of a root, of up to {n_candidates}, that are better than every feature alone: at least two in the "
        f"mean on {n} of {len(means)} sets; {min(means):.1f} to {max(means):.1f}, median {np.median(means):.1f}."
    )
    return counted(n, len(means), figures)


def _weak_feature(evidence: Evidence) -> Ruling:
    n = sum(np.mean(evidence.of_root(name, "n_effective")) >= 1 for name in SOURCES)
    figures = f"At least one candidate of a root, in the mean, is better than every feature alone on {n} of 15 sets."
    return counted(int(n), len(SOURCES), figures)


def _correlated(evidence: Evidence) -> Ruling:
    found = [[share for share in evidence.of_root(name, "alike") if share is not None] for name in SOURCES]
    shares = [float(np.mean(of_set)) for of_set in found if of_set]
    if not shares:
        raise MissingRecordsError("no root with two effective vectors")
    n = sum(share >= 0.1 for share in shares)
    figures = (
        f"Pairs of effective vectors with an absolute cosine above {ALIKE}: at least a tenth on {n} of {len(shares)} "
        f"sets; median {np.median(shares):.0%}."
    )
    verdict = HOLDS if 2 * n > len(shares) else IN_PART if n else NOT
    return Ruling(verdict, figures)


def _many_trials(evidence: Evidence) -> Ruling:
    """Uniform draws with four times the candidates against guided ones."""
    guided, uniform = evidence.errors_of_variants(GUIDED), evidence.errors_of_variants(UNIFORM)
    pairs = list(zip(ablations.N_PROJECTIONS[:-1], ablations.N_PROJECTIONS[1:], strict=True))
    ratios = [mean_ratio(uniform[:, i + 1], guided[:, i]) for i in range(len(pairs))]
    told = ", ".join(
        f"{more} uniform / {few} guided {ratio:.3f}" for (few, more), ratio in zip(pairs, ratios, strict=True)
    )
    return graded([ratio > 1 for ratio in ratios], f"Ratio of errors by numbers of draws, mean of the sets: {told}.")


def _falling(evidence: Evidence) -> Ruling:
    """Errors of SLR trees level by level."""
    n_gradual, n_settled, told = 0, 0, []
    for data_set in NUMBERS:
        largest, last = np.mean([describe_fall(errors) for errors in evidence.of_growth(data_set)], axis=0)
        n_gradual += largest < 0.5
        n_settled += last < 0.1
        told.append(f"{SOURCES[data_set].title} {largest:.0%} / {last:.0%}")
    figures = (
        f"Largest share of one level in the whole fall / share of the lower half of the levels: {', '.join(told)}."
    )
    return graded([2 * n > len(NUMBERS) for n in (n_gradual, n_settled)], figures)


def describe_fall(errors: Sequence[float]) -> tuple[float, float]:
    """Two shares in the whole fall of a curve: the largest that one level has, and that of the lower half of levels."""
    falls = -np.diff(errors)
    whole = max(float(falls.sum()), 1e-12)
    return float(falls.max(initial=0.0)) / whole, float(falls[len(falls) // 2 :].sum()) / whole


def _steps_of_svr(evidence: Evidence) -> Ruling:
    usual, large = evidence.of_svr("n_steps").mean(axis=0)
    figures = f"Steps of the solver with C = 1 / 1000: {usual:,.0f} / {large:,.0f}, {large / usual:.0f} times as many."
    return Ruling(HOLDS if large > 3 * usual else IN_PART if large > usual else NOT, figures)


def _svr_overfits(evidence: Evidence) -> Ruling:
    training, test = (evidence.of_svr(f"{part}_error").mean(axis=0) for part in ("training", "test"))
    figures = (
        f"Errors on the training / test part: {training[0]:.2f} / {test[0]:.2f} with C = 1, {training[1]:.2f} / "
        f"{test[1]:.2f} with C = 1000."
    )
    return graded([test[1] < test[0], training[1] < test[1] / 2], figures)


CLAIMS = (
    Claim(
        "It takes a large number of trials and errors in finding good projections",
        "I",
        _many_trials,
        "Of draws that nothing guides, as ELM's are. Holds: four times as many uniform draws have a higher error than "
        "guided ones, at both of two numbers. In part: at one. Else not.",
        "Guided against uniform draws",
    ),
    Claim(
        "the total MSE of all leaf nodes decreases gradually and saturates",
        "V-A",
        _falling,
        "Two conditions on more than half of the sets, in the mean over the splits: no level takes off more than half "
        "of what all take off; the lower half of the levels takes off less than a tenth. Holds: both. In part: one. "
        "Else not.",
        "growth.csv",
    ),
    Claim(
        "the n-ary split gives wider and shallower decision trees",
        "II-A",
        _n_ary_shape,
        "Conditions for both 2 and 3 hyperplanes, on more than half of the sets: shallower; wider, by nodes over "
        "levels. Holds: all. In part: some. Else not.",
        "Hyperplanes of a node",
    ),
    Claim(
        "overfitting can be avoided more easily",
        "II-A",
        _n_ary_error,
        "Holds: with 2 and with 3 hyperplanes the mean ratio of test errors to that with 1 is below 1. In part: with "
        "one of them. Else not.",
        "Hyperplanes of a node",
    ),
    Claim(
        "it is not effective to draw a on the unit hypersphere uniformly",
        "II-B; VI-E",
        _guided,
        "Guided against uniform draws at equal numbers of candidates. Holds: lower mean errors at each of three "
        "numbers. In part: at some. Else not.",
        "Guided against uniform draws",
    ),
    Claim(
        "plays an important role in choosing a more discriminant",
        "II-B",
        _guided,
        "As above: the guidance is the rank of the features.",
        "Guided against uniform draws",
    ),
    Claim(
        "the discriminant power of an individual feature is weak",
        "I",
        _weak_feature,
        f"Of drawn vectors in the root at least one is better than the best feature. {COUNTED}",
        "root.csv",
    ),
    Claim(
        "we often find multiple effective projection vectors",
        "II-B",
        _several_effective,
        f"Effective: better than every feature alone, in the root. {COUNTED}",
        "root.csv",
    ),
    Claim(
        "many of them are highly correlated",
        "II-B",
        _correlated,
        "Holds: on more than half of the sets at least a tenth of the pairs of effective vectors is. In part: on some. "
        "Else not.",
        "root.csv",
    ),
    Claim(
        "needs to overfit to the training data",
        "V-B",
        _svr_overfits,
        "Two conditions: C = 1000 has a lower test error than C = 1; its training error is less than half of its test "
        "error. Holds: both. In part: one. Else not.",
        "svr.csv",
    ),
    Claim(
        "This leads to much higher computational complexity",
        "V-B",
        _steps_of_svr,
        "Holds: more than three times the steps of the solver with C = 1. In part: more. Else not.",
        "svr.csv",
    ),
)
