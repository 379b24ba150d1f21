"""Claims of the paper about accuracies and errors, Tables I and III."""

from collections.abc import Sequence

import numpy as np

from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.evidence import CLASSES, NUMBERS, Evidence
from sublearn.paper.plan import PLANES
from sublearn.paper.printed import ACCURACY, RMSE
from sublearn.paper.verdicts import (
    COUNTED,
    EVERY,
    HOLDS,
    IN_PART,
    MOST,
    NOT,
    UNTOLD,
    Claim,
    Judge,
    Ruling,
    compare,
    counted,
    graded,
    on_every,
    on_most,
    titles,
)

SLM = ("slm-baseline", "slm-forest", "slm-boost")
MLP = ("ff-mlp", "bp-mlp")
CLASSICAL = (*MLP, "lsvm", "svm-rbf", "dt")  # basic methods of Table I but SLM
HIGH = [name for name in CLASSES if name not in PLANES]  # sets of more than two features
BEST_BY_BOOST = ["friedman-1", "friedman-3", "boston", "california-housing", "diabetes"]
ALL = "Tables I and III"


def _best(evidence: Evidence, contenders: Sequence[str], data_sets: Sequence[str]) -> dict[str, tuple[str, float]]:
    """The best of some contenders on each set, and its mean."""
    scores = evidence.scores_of(contenders, data_sets)
    found = {name: scores.best(contenders, name) for name in data_sets}
    return {name: (best, scores.mean(best, name)) for name, best in found.items()}


def _ensembles_of_slm(evidence: Evidence) -> Ruling:
    pairs = [(name, sets) for name in ("slm-forest", "slm-boost") for sets in (CLASSES, NUMBERS)]
    return on_every([compare(evidence, name, "slm-baseline", sets) for name, sets in pairs])


def _stronger_than_trees(evidence: Evidence) -> Ruling:
    pairs = [(tree, sets) for tree in ("dt", "dt-tuned") for sets in (CLASSES, NUMBERS)]
    return on_every([compare(evidence, "slm-baseline", tree, sets) for tree, sets in pairs])


def _baseline_against_trees(data_sets: Sequence[str], printed: str) -> Judge:
    """A judge by the decision tree of the paper; the tuned one is told beside."""

    def judge(evidence: Evidence) -> Ruling:
        ruling = on_every([compare(evidence, "slm-baseline", "dt", data_sets)])
        tuned = compare(evidence, "slm-baseline", "dt-tuned", data_sets)
        return ruling._replace(figures=f"{ruling.figures} {tuned.text()} {printed}")

    return judge


def _overfit(evidence: Evidence) -> Ruling:
    return on_most([compare(evidence, "dt-tuned", "dt", sets) for sets in (CLASSES, NUMBERS)])


def _forest_of_trees(evidence: Evidence) -> Ruling:
    return on_every([compare(evidence, "rf", "dt", sets) for sets in (CLASSES, NUMBERS)])


def _significantly_by_forest(evidence: Evidence) -> Ruling:
    found = [compare(evidence, "rf", "dt", sets) for sets in (CLASSES, NUMBERS)]
    if any(one.n_significantly is None for one in found):
        return Ruling(UNTOLD, "scores that were chosen on the test part allow no test.")
    n = sum(one.n_significantly[0] for one in found if one.n_significantly)
    figures = " ".join(one.text() for one in found)
    return graded([2 * n > sum(one.n_sets for one in found), all(one.is_better for one in found)], figures)


def _weak_tree(evidence: Evidence) -> Ruling:
    others = ("ff-mlp", "bp-mlp", "lsvm", "svm-rbf", "slm-baseline")
    scores = evidence.scores_of((*others, "dt"), CLASSES)
    n_above = [sum(scores.mean(name, s) > scores.mean("dt", s) for name in others) for s in CLASSES]
    n = sum(number >= 3 for number in n_above)
    return counted(
        n, len(CLASSES), f"At least 3 of the 5 other basic methods are better on {n} of {len(CLASSES)} sets."
    )


def _classical_ensembles(evidence: Evidence) -> Ruling:
    n = 0
    for sets, basic, sign in ((CLASSES, CLASSICAL, 1), (NUMBERS, ("lsvm", "svm-rbf", "dt"), -1)):
        ours, theirs = _best(evidence, ("rf", "xgboost"), sets), _best(evidence, basic, sets)
        n += sum(sign * ours[name][1] > sign * theirs[name][1] for name in sets)
    of = len(CLASSES) + len(NUMBERS)
    verdict = HOLDS if 2 * n > of else IN_PART if 3 * n > of else NOT
    return Ruling(verdict, f"RF or XGBoost is better than all classical basic methods on {n} of {of} sets.")


def _often_best(evidence: Evidence) -> Ruling:
    pair = ("slm-baseline", "svm-rbf")
    others = ("ff-mlp", "bp-mlp", "lsvm", "dt")
    best = _best(evidence, (*others, *pair), CLASSES)
    peers = _best(evidence, others, CLASSES)
    scores = evidence.scores_of(pair, CLASSES)
    n_best = [sum(best[s][0] == name for s in CLASSES) for name in pair]
    ahead = [sum(scores.mean(name, s) > peers[s][1] for s in CLASSES) for name in pair]
    figures = (
        f"Best of the six: SLM Baseline on {n_best[0]} and SVM/RBF on {n_best[1]} of 9 sets. Better than all of "
        f"the four others: SLM Baseline on {ahead[0]}, SVM/RBF on {ahead[1]}."
    )
    return graded([2 * sum(n_best) > 9, *(2 * n > 9 for n in ahead)], figures)


def _gain_over(evidence: Evidence, ours: Sequence[str], theirs: Sequence[str], sets: Sequence[str]) -> float:
    """Mean over sets of the best of ours less the best of theirs."""
    best, others = _best(evidence, ours, sets), _best(evidence, theirs, sets)
    return float(np.mean([best[name][1] - others[name][1] for name in sets]))


def _small_gain_in_the_plane(evidence: Evidence) -> Ruling:
    low, high = (_gain_over(evidence, SLM[:1], MLP, sets) for sets in (list(PLANES), HIGH))
    figures = f"SLM Baseline less the better MLP: {low:+.2f} in the plane, {high:+.2f} on the six other sets."
    return graded([low > 0, low < high], figures)


def _bigger_margins(evidence: Evidence) -> Ruling:
    low, high = (_gain_over(evidence, SLM, CLASSICAL, sets) for sets in (list(PLANES), HIGH))
    figures = f"The best SLM less the best classical method: {high:+.2f} on the six sets, {low:+.2f} in the plane."
    return graded([high > 0, high > low], figures)


def _second_group(evidence: Evidence) -> Ruling:
    basic, ensembles = (*CLASSICAL, "slm-baseline"), ("rf", "xgboost", "slm-forest", "slm-boost")
    scores = evidence.scores_of((*basic, *ensembles), CLASSES)
    means = {name: float(np.mean([scores.mean(name, s) for s in CLASSES])) for name in (*basic, *ensembles)}
    best, worst = max(basic, key=lambda name: means[name]), min(ensembles, key=lambda name: means[name])
    groups = [float(np.mean([means[name] for name in group])) for group in (ensembles, basic)]
    figures = (
        f"Mean over the sets: ensembles {groups[0]:.2f}, basic methods {groups[1]:.2f}; the worst ensemble, "
        f"{CONTENDERS[worst].title}, {means[worst]:.2f}, the best basic method, {CONTENDERS[best].title}, "
        f"{means[best]:.2f}."
    )
    return graded([means[worst] > means[best], groups[0] > groups[1]], figures)


def _against_peers(*pairs: tuple[str, str], sets: Sequence[str], often: bool = False) -> Judge:
    def judge(evidence: Evidence) -> Ruling:
        return (on_most if often else on_every)([compare(evidence, ours, theirs, sets) for ours, theirs in pairs])

    return judge


def _best_of_all(evidence: Evidence) -> Ruling:
    best = _best(evidence, list(ACCURACY), CLASSES)
    ours = [name for name in CLASSES if best[name][0] in ("slm-forest", "slm-boost")]
    told = "; ".join(f"{titles([name])} {CONTENDERS[best[name][0]].title}" for name in CLASSES)
    return counted(len(ours), len(CLASSES), f"An SLM ensemble is the best of the ten on {len(ours)} of 9 sets: {told}.")


def _high_performance(evidence: Evidence) -> Ruling:
    n = [sum(best in SLM for best, _ in _best(evidence, list(ACCURACY), CLASSES).values())]
    n.append(sum(best in SLM for best, _ in _best(evidence, list(RMSE), NUMBERS).values()))
    verdict = HOLDS if 2 * sum(n) > 15 else IN_PART if 3 * sum(n) > 15 else NOT
    return Ruling(verdict, f"An SLM or SLR is the best of the paper's contenders on {n[0]} of 9 and {n[1]} of 6 sets.")


def _limited(evidence: Evidence) -> Ruling:
    return on_most([compare(evidence, "slm-baseline", name, HIGH) for name in ("svm-rbf", "ff-mlp")])


def _above_mlp(evidence: Evidence) -> Ruling:
    mlp, baseline, slm = (_best(evidence, names, HIGH) for names in (MLP, SLM[:1], SLM))
    behind = [name for name in HIGH if baseline[name][1] <= mlp[name][1]]
    all_behind = [name for name in HIGH if slm[name][1] <= mlp[name][1]]
    figures = (
        f"SLM Baseline is not above the better MLP on {titles(behind)}; the best of the three SLM is not on "
        f"{titles(all_behind)}. Printed: level on Iris."
    )
    return graded([not behind, not all_behind, 2 * len(all_behind) < len(HIGH)], figures)


def _best_by_boost(evidence: Evidence) -> Ruling:
    best = _best(evidence, list(RMSE), BEST_BY_BOOST)
    n = sum(name == "slm-boost" for name, _ in best.values())
    told = "; ".join(f"{titles([s])} {CONTENDERS[name].name(False)}" for s, (name, _) in best.items())
    return counted(n, len(BEST_BY_BOOST), f"SLR Boost is the best of the eight on {n} of 5 sets: {told}.")


def _best_on_friedman_2(evidence: Evidence) -> Ruling:
    (name, error) = _best(evidence, list(RMSE), ["friedman-2"])["friedman-2"]
    elm = evidence.scores_of(("elm",), ["friedman-2"]).mean("elm", "friedman-2")
    figures = (
        f"Best of the eight: {CONTENDERS[name].name(False)} with {error:.2f}. ELM, not in the paper, has {elm:.2f}."
    )
    return Ruling(HOLDS if name == "svm-rbf" else NOT, figures)


def _large_c(evidence: Evidence) -> Ruling:
    chosen = evidence.chosen("svm-rbf", "friedman-2", "C")
    n = sum(value == 1000.0 for value in chosen)
    verdict = HOLDS if n == len(chosen) else IN_PART if 2 * n > len(chosen) else NOT
    return Ruling(verdict, f"C = 1000, the largest that is tried, is chosen on {n} of {len(chosen)} splits.")


CLAIMS = (
    Claim(
        "ensembles of SLM/SLR trees can yield a stronger predictor", "Abstract; I, III", _ensembles_of_slm, EVERY, ALL
    ),
    Claim(
        "SLM tree can serve as weak classifier in general boosted and bootstrap aggregation methods",
        "VII",
        _ensembles_of_slm,
        f"SLM and SLR Forest and Boost against Baseline. {EVERY}",
        ALL,
    ),
    Claim(
        "new high-performance classification and regression models",
        "I",
        _high_performance,
        "An SLM is the best of the paper's contenders. Holds: on more than half of the 15 sets. In part: on more than "
        "a third. Else not.",
        ALL,
    ),
    Claim(
        "limit the effectiveness and efficiency of SVM and FF-MLP",
        "I",
        _limited,
        f"Of the effect: SLM Baseline against both on the six sets of more than two features. {MOST}",
        "Table I",
    ),
    Claim("DT tends to overfit the training data", "I", _overfit, f"DT tuned against DT. {MOST}", ALL),
    Claim("their ensemble yields a strong one", "I; VI-A, VI-B", _forest_of_trees, f"RF against DT. {EVERY}", ALL),
    Claim(
        "a DT results in a weak classifier",
        "I; VI-A",
        _weak_tree,
        f"At least 3 of the 5 other basic methods are better. {COUNTED}",
        "Table I",
    ),
    Claim(
        "stronger than that of a single DT",
        "I; III-A",
        _stronger_than_trees,
        f"SLM and SLR Baseline against DT and DT tuned. {EVERY}",
        ALL,
    ),
    Claim(
        "could be potentially improved by two ideas",
        "II-A",
        _stronger_than_trees,
        f"Both ideas together, SLM and SLR Baseline, against DT and DT tuned. {EVERY}",
        ALL,
    ),
    Claim(
        "they often achieve better performance",
        "III",
        _classical_ensembles,
        "The better of RF and XGBoost against the best classical basic method. Holds: on more than half of the sets. "
        "In part: on more than a third. Else not.",
        ALL,
    ),
    Claim(
        "significant performance improvement is achieved",
        "III-A",
        _significantly_by_forest,
        "RF against DT. Holds: significantly better on more than half of the sets, and better in the means. In part: "
        "one of the two. Else not.",
        ALL,
    ),
    Claim(
        "SLM Forest achieves better performance",
        "III-A; VI-B",
        _against_peers(("slm-forest", "rf"), sets=CLASSES),
        f"Against RF. {EVERY}",
        "Table I",
    ),
    Claim(
        "SLM Boost achieves better performance",
        "III-B; VI-C",
        _against_peers(("slm-boost", "xgboost"), sets=CLASSES),
        f"Against XGBoost. {EVERY}",
        "Table I",
    ),
    Claim(
        "SLM Baseline and SVM/RBF often outperform FF-MLP, BP-MLP, LSVM and DT and give the best results",
        "IV",
        _often_best,
        "Three conditions: one of the two is the best of the six on more than half of the sets; each of the two is "
        "better than all four others on more than half. Holds: all three. In part: some. Else not.",
        "Table I",
    ),
    Claim(
        "the gain of SLM over MLP is relatively small",
        "IV",
        _small_gain_in_the_plane,
        "Two conditions: there is a gain in the plane; it is smaller than on the other sets. Holds: both. In part: "
        "one.",
        "Table I",
    ),
    Claim(
        "better performance over the classical methods with bigger margins",
        "IV",
        _bigger_margins,
        "Two conditions: the margin on the six sets is positive; it is bigger than in the plane. Holds: both. In part: "
        "one.",
        "Table I",
    ),
    Claim(
        "have better performance than the basic methods in the first group",
        "IV",
        _second_group,
        "Holds: the worst ensemble has a better mean over the sets than the best basic method. In part: the mean of "
        "the group is better. Else not.",
        "Table I",
    ),
    Claim(
        "The ensembles of SLM are generally more powerful than those of DT",
        "IV",
        _against_peers(("slm-forest", "rf"), ("slm-boost", "xgboost"), sets=CLASSES, often=True),
        MOST,
        "Table I",
    ),
    Claim(
        "They give the best performance among all benchmarking methods",
        "IV; VII",
        _best_of_all,
        f"SLM Forest or SLM Boost is the best of the ten. {COUNTED}",
        "Table I",
    ),
    Claim(
        "SLM methods outperforms the MLP models in all benchmarking datasets",
        "IV",
        _above_mlp,
        "Of six sets. Three conditions: SLM Baseline is above both MLPs on all; the best SLM is on all; the best SLM "
        "is on more than half. Holds: all three. In part: some. Else not.",
        "Table I",
    ),
    Claim(
        "outperforming the DTs in all the datasets",
        "IV",
        _baseline_against_trees(CLASSES, "Printed: level on Iris."),
        f"SLM Baseline against DT. {EVERY}",
        "Table I",
    ),
    Claim(
        "SLR Forest and SLR Boost are more powerful than their counter parts",
        "V-A; V-B",
        _against_peers(("slm-forest", "rf"), ("slm-boost", "xgboost"), sets=NUMBERS),
        EVERY,
        "Table III",
    ),
    Claim(
        "SLR Baseline outperforms DT in all datasets",
        "V-B",
        _baseline_against_trees(NUMBERS, "Printed: level on Friedman 3."),
        f"SLR Baseline against DT. {EVERY}",
        "Table III",
    ),
    Claim("SLR Boost achieves the best performance", "V-B", _best_by_boost, f"Of five sets. {COUNTED}", "Table III"),
    Claim(
        "SVR/RBF achieves the best performance",
        "V-B",
        _best_on_friedman_2,
        "Holds: it is the best of the eight on Friedman 2. Else not.",
        "Table III",
    ),
    Claim(
        "a large regularization parameter (i.e., C=1000)",
        "V-B",
        _large_c,
        "Holds: chosen on all splits. In part: on more than half of them. Else not.",
        "choices.csv",
    ),
    Claim(
        "the ensemble of SLR can achieve better performance than DTs",
        "V-B",
        _against_peers(("slm-forest", "dt"), ("slm-boost", "dt"), sets=NUMBERS),
        EVERY,
        "Table III",
    ),
)
