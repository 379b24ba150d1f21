"""Claims of the paper about convergence (Fig. 5) and the trees of ensembles."""

from collections.abc import Sequence

import numpy as np

from sublearn.paper.convergence import FORESTS, SETS
from sublearn.paper.evidence import NUMBERS, TREES, Evidence, Floats
from sublearn.paper.verdicts import COUNTED, HOLDS, IN_PART, NOT, Claim, Judge, Ruling, counted, graded, titles

DIVERSE = 0.5  # correlation of errors, below which trees differ
NEVER = 1000  # more trees than there are
WITHIN = 0.5  # points of accuracy, that a curve may still move when it has converged
WITHIN_SHARE = 0.02  # of the log loss
FIG5 = "Fig. 5"
TITLES = {"forest": "SLM Forest", "random_forest": "RF", "xgboost": "XGBoost"}


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
            curves = [evidence.curve(data_set, name) * (100 if sign > 0 else 1) for name in names]
            (ours, theirs), _ = trees_needed(curves[:2], sign)
            n_faster += ours < theirs
            n_slower += ours > theirs
            told.append(_pace(data_set, curves, sign))
        verdict = HOLDS if n_faster == len(SETS) else IN_PART if n_faster > n_slower else NOT
        return Ruling(verdict, " ".join(told))

    return judge


def _pace(data_set: str, curves: Sequence[Floats], sign: int) -> str:
    """Trees needed, and the lead of the first curve over the second in the mean over all numbers of trees."""
    (ours, theirs), error = trees_needed(curves[:2], sign)
    (defaults, _), _ = trees_needed(curves[:0:-1], sign)
    gain = sign * (curves[0] - curves[1]).mean(axis=1)
    spread = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
    digits = 2 if sign > 0 else 3
    return (
        f"{titles([data_set])}: {_trees(ours)} / {_trees(theirs)} trees come within {error:.{digits}f} of the best of "
        f"both (defaults: {_trees(defaults)}); lead in the mean over numbers of trees {gain.mean():+.{digits}f} ± "
        f"{spread:.{digits}f}."
    )


def _trees(n: int) -> str:
    return f"more than {TREES[-1]}" if n == NEVER else str(n)


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
            told.append(f"{TITLES[name]} from {n} to 100 trees, {unit}: {', '.join(shown)}.")
        return counted(sum(passed), len(passed), " ".join(told))

    return judge


def _less_alike(evidence: Evidence) -> Ruling:
    """The trees of SLM Forest against those of RF."""
    found = {s: [evidence.curve(s, f"{name}_correlation").mean() for name in FORESTS[:2]] for s in SETS}
    n = sum(ours < theirs for ours, theirs in found.values())
    told = ", ".join(f"{titles([s])} {ours:.3f} / {theirs:.3f}" for s, (ours, theirs) in found.items())
    return counted(n, len(SETS), f"Mean correlation of the trees of SLM Forest / RF: {told}.")


def _stronger(evidence: Evidence) -> Ruling:
    """Trees of SLM Forest against decision trees, which are told beside those of RF."""
    scores = evidence.scores_of(("dt",), SETS)
    found = {
        s: (*(100 * evidence.curve(s, f"{name}_strength").mean() for name in FORESTS[:2]), scores.mean("dt", s))
        for s in SETS
    }
    n = sum(ours > alone for ours, _, alone in found.values())
    told = ", ".join(f"{titles([s])} {a:.2f} / {c:.2f} / {b:.2f}" for s, (a, b, c) in found.items())
    return counted(n, len(SETS), f"Mean accuracy of a tree of SLM Forest / DT / a tree of RF: {told}.")


def _all_samples(evidence: Evidence) -> Ruling:
    """Trees of SLM Forest on all samples, and on bootstrap samples."""
    found = {
        s: (float(evidence.curve(s, "forest_strength").mean()), 1 - evidence.of_trees(s, "bagged_error")) for s in SETS
    }
    n = sum(ours > bagged for ours, bagged in found.values())
    told = ", ".join(f"{titles([s])} {100 * a:.2f} / {100 * b:.2f}" for s, (a, b) in found.items())
    return counted(n, len(SETS), f"Mean accuracy of a tree on all samples / on a bootstrap sample: {told}.")


def _of_numbers(evidence: Evidence) -> Ruling:
    """Trees of SLR Forest: their errors against DT's, the correlation of residuals against RF's."""
    scores = evidence.scores_of(("dt",), NUMBERS)
    errors = {s: (evidence.of_trees(s, "slr_error"), scores.mean("dt", s)) for s in NUMBERS}
    alike = {s: (evidence.of_trees(s, "slr_correlation"), evidence.of_trees(s, "rf_correlation")) for s in NUMBERS}
    n_stronger, n_less_alike = (sum(ours < theirs for ours, theirs in of.values()) for of in (errors, alike))
    told = ", ".join(f"{titles([s])} {a:.2f} / {b:.2f}" for s, (a, b) in alike.items())
    figures = (
        f"Trees of SLR Forest have a lower error than DT on {n_stronger} of {len(NUMBERS)} sets; their residuals are "
        f"less correlated than those of RF's trees on {n_less_alike}: {told}."
    )
    return graded([2 * n > len(NUMBERS) for n in (n_stronger, n_less_alike)], figures)


def _diverse(evidence: Evidence) -> Ruling:
    found = {s: float(evidence.curve(s, "forest_correlation").mean()) for s in SETS}
    told = ", ".join(f"{titles([s])} {value:.3f}" for s, value in found.items())
    n = sum(value < DIVERSE for value in found.values())
    return counted(n, len(SETS), f"Mean correlation of the errors of two trees: {told}.")


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


FASTER = (
    "Fewer trees bring the mean curve within one standard error, over the splits, of the best mean of both. Holds: on "
    "all three sets. In part: on more sets than the contrary. Else not."
)
SETTLED = f"Converged: moves by at most {WITHIN} points of accuracy, or {WITHIN_SHARE:.0%} of the log loss. {COUNTED}"
CLAIMS = (
    Claim(
        "the performance of RF converges as the tree number increases",
        "III-A",
        _converged(["random_forest"], 50),
        f"From 50 to 100 trees. {SETTLED}",
        FIG5,
    ),
    Claim(
        "the probabilistic projection provides diversity",
        "III-A",
        _diverse,
        f"Errors of two trees of SLM Forest, which differ by their draws alone, correlate below {DIVERSE}. {COUNTED}",
        "forests.csv",
    ),
    Claim(
        "achieves diversity of SLM trees more effectively",
        "III-A; VI-B",
        _less_alike,
        f"Errors of two trees are less correlated than in RF. {COUNTED}",
        "forests.csv",
    ),
    Claim(
        "individual SLM trees stronger than individual DTs",
        "III-A; III-B, V-B, VI-B",
        _stronger,
        f"A tree of SLM Forest is more accurate than DT by itself. {COUNTED}",
        "Table I and forests.csv",
    ),
    Claim(
        "to increase the strength of individual SLM trees",
        "III-A",
        _all_samples,
        f"Trees on all samples are more accurate than those on bootstrap samples. {COUNTED}",
        "trees.csv",
    ),
    Claim(
        "stronger individual SLR trees and effective uncorrelated models",
        "V-B",
        _of_numbers,
        "Two conditions on more than half of the sets: trees have lower errors than DT; their residuals are less "
        "correlated than those of RF's trees. Holds: both. In part: one. Else not.",
        "trees.csv",
    ),
    Claim(
        "faster converge than RF",
        "III-A; IV, VI-B",
        _faster(("forest", "random_forest", "default_forest"), 1),
        FASTER,
        FIG5,
    ),
    Claim(
        "faster convergence than XGBoost",
        "III-B; IV, VI-C",
        _faster(("boost", "xgboost", "default_boost"), -1),
        FASTER,
        FIG5,
    ),
    Claim(
        "The number of trees is set to 100 to ensure convergence",
        "IV",
        _converged(["random_forest", "xgboost"], 50),
        f"From 50 to 100 trees. {SETTLED}",
        FIG5,
    ),
    Claim(
        "set to 20 due to the faster convergence",
        "IV",
        _converged(["forest"], 20),
        f"From 20 to 100 trees. {SETTLED}",
        FIG5,
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
        FIG5,
    ),
    Claim(
        "the strength of each SLM tree is not affected in SLM Forest",
        "VI-B",
        _traded("slm-baseline", "forest", True),
        f"A tree of SLM Forest is at most one point worse than SLM Baseline, which is tuned. {COUNTED}",
        "Table I and forests.csv",
    ),
)
