"""Claims of the paper about convergence (Fig. 3), the trees of ensembles, and the search in a node (our ablations)."""

from collections.abc import Sequence

import numpy as np

from sublearn.paper import ablations
from sublearn.paper.convergence import FORESTS, SETS
from sublearn.paper.evidence import GUIDED, TREES, UNIFORM, Evidence, Floats
from sublearn.paper.verdicts import COUNTED, HOLDS, IN_PART, NOT, Claim, Judge, Ruling, counted, graded, titles

NEVER = 1000  # more trees than there are
WITHIN = 0.5  # points of accuracy, that a curve may still move when it has converged
WITHIN_SHARE = 0.02  # of the log loss
FIG3 = "Fig. 3"


def trees_needed(curves: Sequence[Floats], sign: int) -> tuple[list[int], float]:
    """Numbers of trees with which mean curves first come within one standard error of the best of all; the error.

    The error is that of the best curve at its best number of trees, over the splits.
    """
    means = [sign * curve.mean(axis=0) for curve in curves]
    best = max(range(len(means)), key=lambda i: float(means[i].max()))
    at = int(means[best].argmax())
    values = curves[best][:, at]
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
    reached = [mean >= means[best][at] - error - 1e-12 for mean in means]
    return [int(TREES[np.argmax(one)]) if one.any() else NEVER for one in reached], error


def _faster(names: tuple[str, str, str], sign: int) -> Judge:
    """SLM, its peer, and SLM by the library's defaults, which is told and not judged."""

    def judge(evidence: Evidence) -> Ruling:
        n_faster, n_slower, told = 0, 0, []
        for data_set in SETS:
            ours, theirs, defaults = (evidence.curve(data_set, name) for name in names)
            needed, error = trees_needed([ours, theirs], sign)
            n_faster += needed[0] < needed[1]
            n_slower += needed[0] > needed[1]
            (by_defaults, _), _ = trees_needed([defaults, theirs], sign)
            gain = sign * (ours - theirs).mean(axis=1)
            spread = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
            told.append(
                f"{titles([data_set])}: {_trees(needed[0])} / {_trees(needed[1])} trees come within {error:.3f} of the "
                f"best (defaults {_trees(by_defaults)}), lead over all numbers of trees {gain.mean():+.3f} ± "
                f"{spread:.3f}."
            )
        verdict = HOLDS if n_faster == len(SETS) else IN_PART if n_faster > n_slower else NOT
        return Ruling(verdict, " ".join(told))

    return judge


def _trees(n: int) -> str:
    return "no number of" if n == NEVER else str(n)


def _moves(evidence: Evidence, name: str, n: int, data_set: str) -> tuple[float, bool]:
    """How far a mean curve is from its last value at n trees, and whether that is converged."""
    mean = evidence.curve(data_set, name).mean(axis=0)
    at, last = float(mean[list(TREES).index(n)]), float(mean[-1])
    if name in FORESTS:
        return 100 * (last - at), abs(100 * (last - at)) <= WITHIN
    return (last - at) / at, abs(last - at) <= WITHIN_SHARE * at


def _converged(names: Sequence[str], n: int) -> Judge:
    def judge(evidence: Evidence) -> Ruling:
        told, passed = [], []
        for name in names:
            unit = "points" if name in FORESTS else "of the log loss"
            moves = {data_set: _moves(evidence, name, n, data_set) for data_set in SETS}
            passed += [is_converged for _, is_converged in moves.values()]
            shown = [
                f"{titles([s])} {move:+.2f}" if unit == "points" else f"{titles([s])} {move:+.1%}"
                for s, (move, _) in moves.items()
            ]
            told.append(f"{name.replace('_', ' ')} from {n} to 100 trees, {unit}: {', '.join(shown)}.")
        return counted(sum(passed), len(passed), " ".join(told))

    return judge


def _trees_of(quantity: str, sign: int) -> Judge:
    """Strength or correlation of single trees, SLM Forest against RF."""

    def judge(evidence: Evidence) -> Ruling:
        found = {s: [evidence.curve(s, f"{name}_{quantity}").mean() for name in FORESTS[:2]] for s in SETS}
        n = sum(sign * ours > sign * theirs for ours, theirs in found.values())
        told = ", ".join(f"{titles([s])} {ours:.3f} / {theirs:.3f}" for s, (ours, theirs) in found.items())
        return counted(n, len(SETS), f"Mean {quantity} of the trees of SLM Forest / RF: {told}.")

    return judge


def _traded(tree: str, forest: str, is_kept: bool) -> Judge:
    """Whether a forest's trees are as good as a tree by itself."""

    def judge(evidence: Evidence) -> Ruling:
        scores = evidence.scores_of((tree,), SETS)
        found = {s: (100 * float(evidence.curve(s, f"{forest}_strength").mean()), scores.mean(tree, s)) for s in SETS}
        n = sum((inside >= alone - 1.0) == is_kept for inside, alone in found.values())
        told = ", ".join(f"{titles([s])} {inside:.2f} / {alone:.2f}" for s, (inside, alone) in found.items())
        return counted(n, len(SETS), f"A tree of the forest / by itself: {told}.")

    return judge


def _combined(evidence: Evidence) -> Ruling:
    found = {
        s: (evidence.curve(s, "random_forest_strength").mean(), evidence.curve(s, "random_forest")[:, -1].mean())
        for s in SETS
    }
    n = sum(together > alone for alone, together in found.values())
    told = ", ".join(
        f"{titles([s])} {100 * alone:.2f} / {100 * together:.2f}" for s, (alone, together) in found.items()
    )
    return counted(n, len(SETS), f"One tree of RF / all 100: {told}.")


def mean_ratio(errors: Floats, others: Floats) -> float:
    """Geometric mean of errors over others, of the sets in which none is 0."""
    usable = (errors > 0) & (others > 0)
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


FASTER = (
    "Fewer trees bring the mean curve within one standard error, over the splits, of the best mean of both. Holds: on "
    "all three sets. In part: on more sets than the contrary. Else not."
)
SETTLED = f"Converged: moves by at most {WITHIN} points of accuracy, or {WITHIN_SHARE:.0%} of the log loss. {COUNTED}"
CLAIMS = (
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
        "the performance of RF converges as the tree number increases",
        "III-A",
        _converged(["random_forest"], 50),
        f"From 50 to 100 trees. {SETTLED}",
        FIG3,
    ),
    Claim(
        "achieves diversity of SLM trees more effectively",
        "III-A; VI-B",
        _trees_of("correlation", -1),
        f"Errors of two trees are less correlated than in RF. {COUNTED}",
        "forests.csv",
    ),
    Claim(
        "individual SLM trees stronger than individual DTs",
        "III-A; III-B, V-B, VI-B",
        _trees_of("strength", 1),
        f"A tree of SLM Forest is more accurate than one of RF. {COUNTED}",
        "forests.csv",
    ),
    Claim(
        "faster converge than RF",
        "III-A; IV, VI-B",
        _faster(("forest", "random_forest", "default_forest"), 1),
        FASTER,
        FIG3,
    ),
    Claim(
        "faster convergence than XGBoost",
        "III-B; IV, VI-C",
        _faster(("boost", "xgboost", "default_boost"), -1),
        FASTER,
        FIG3,
    ),
    Claim(
        "The number of trees is set to 100 to ensure convergence",
        "IV",
        _converged(["random_forest", "xgboost"], 50),
        f"From 50 to 100 trees. {SETTLED}",
        FIG3,
    ),
    Claim(
        "set to 20 due to the faster convergence",
        "IV",
        _converged(["forest"], 20),
        f"From 20 to 100 trees. {SETTLED}",
        FIG3,
    ),
    Claim(
        "trades the strength of each DT for the general ensemble performance",
        "VI-B",
        _traded("dt", "random_forest", False),
        f"A tree of RF is more than one point worse than DT. {COUNTED}",
        "Table I and forests.csv",
    ),
    Claim(
        "combined prediction is more accurate than that of an individual tree",
        "VI-B",
        _combined,
        COUNTED,
        FIG3,
    ),
    Claim(
        "the strength of each SLM tree is not affected in SLM Forest",
        "VI-B",
        _traded("slm-baseline", "forest", True),
        f"A tree of SLM Forest is at most one point worse than SLM Baseline, which is tuned. {COUNTED}",
        "Table I and forests.csv",
    ),
)
