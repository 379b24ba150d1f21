"""Claims of the paper that neither a run nor the paper itself can judge, each with the reason."""

from sublearn.paper import printed
from sublearn.paper.evidence import Evidence
from sublearn.paper.verdicts import HOLDS, IN_PART, Claim, Ruling, untold

TIMES = (
    "times differ from run to run and from library to library, so that no verdict rests on them; those of this run are "
    "in the table of times."
)
NO_RULE = "None."


def _bold_scores(evidence: Evidence) -> Ruling:
    best = max(float(printed.ACCURACY[name]["iris"]) for name in ("ff-mlp", "lsvm", "svm-rbf", "dt", "slm-baseline"))
    is_missed = float(printed.ACCURACY["ff-mlp"]["iris"]) == best
    return Ruling(
        IN_PART if is_missed else HOLDS, "As printed, FF-MLP has the best of its group on Iris and is not bold."
    )


def _untold(quote: str, place: str, reason: str, seen: str = "") -> Claim:
    return Claim(quote, place, untold(reason), NO_RULE, seen)


CLAIMS = (
    _untold(
        "the best performance of classification tasks is broadly achieved by DL",
        "I",
        "no deep network is among the contenders.",
    ),
    _untold(
        "lack of interpretability, high computational cost and high model complexity",
        "I; VI-D",
        "no deep network is among the contenders, and interpretability has no measure here.",
    ),
    _untold(
        "The complexity of SVM and FF-MLP depends on the sample distribution",
        "I",
        "it would need sets that differ in nothing but their distribution.",
    ),
    _untold("Selecting a partition in DTs is easier", "I", TIMES, "Times"),
    _untold(
        "it is not efficient in practice if the feature dimension is high",
        "I",
        "ELM is measured by scores and size; the trials that it needs are not counted, and no set has more than 34 "
        "features.",
        "Tables I and III",
    ),
    _untold(
        "if there is no discriminant feature",
        "II-A",
        "every set has features that tell something of the target by themselves.",
    ),
    _untold("simplifies computational complexity", "II-A", TIMES, "Times"),
    _untold("significantly lower than that of the second type", "II-B", TIMES, "Times"),
    _untold("are the most popular ensemble methods", "III; III-A", "how often a method is used is not measured here."),
    _untold(
        "through the combination of strong and uncorrelated individual trees",
        "III-A; VI-B",
        "it is about forests in general; strength and correlation of the trees of both forests are in forests.csv.",
        "forests.csv",
    ),
    _untold(
        "It also attributes to the diversity of SLM trees",
        "III-A",
        "forests that differ in alpha alone are not measured.",
    ),
    _untold("It is intractable to learn all trees at once", "III-B", "nobody has tried here."),
    _untold("can deal with a large amount of data efficiently", "III-B", "the largest set has 20,640 samples."),
    _untold(
        "achieve the state-of-the-art performance in many machine learning problems",
        "III-B",
        "it is about other problems than those of the paper.",
    ),
    _untold(
        "to ensure that they reach the optimal performance",
        "IV",
        "the paper's grids are not known; ours are at the end of the page.",
        "How this was made",
    ),
    Claim(
        "The best results for each group are shown in bold",
        "IV",
        _bold_scores,
        "By the printed Table I alone. In part: one that is as good as the best is not bold.",
        "Table I",
    ),
    _untold(
        "plays a role in the performance upper bound",
        "IV",
        "the best possible accuracy is not computed; Fig. 4 shows training and test samples of one split.",
        "Fig. 4",
    ),
    _untold(
        "benefiting from the RBF on its specific data distribution",
        "V-B",
        "no other distribution of the same function is drawn.",
    ),
    _untold(
        "DT and its ensembles work well most of the time",
        "VI-A",
        "it is about other problems than those of the paper.",
    ),
    _untold("with efficiency", "V-B", TIMES, "Times"),
    _untold(
        "they may fail due to poor training and test data splitting",
        "VI-A",
        "no split is poor by design; the ranges over random splits are in the tables.",
        "Tables I and III",
    ),
    _untold(
        "more effective node splittings than standard DTs",
        "VI-C",
        "gradient boosting without second derivatives is not among the contenders.",
    ),
    _untold(
        "only one half subspace is selected to resolve the sign confusion problem",
        "VI-D",
        "activations of a network are not looked at.",
    ),
    _untold("which is efficient and transparent", "VI-D; VII", TIMES + " Transparency has no measure here.", "Times"),
    _untold("the long training time", "VI-E", TIMES, "Times"),
    _untold("adaptive to high dimensional data", "VII", "no set has more than 34 features."),
)
