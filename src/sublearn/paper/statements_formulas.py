"""Claims of the paper that its own definitions, formulas and printed numbers decide, whatever a run measures."""

from itertools import combinations, pairwise
from math import log2, log10, prod

from sublearn.core.tree.decay import decaying
from sublearn.core.tree.projection import envelope
from sublearn.paper import PARAMETERS, printed
from sublearn.paper.evidence import CLASSES, Evidence
from sublearn.paper.sizes import svm_parameters
from sublearn.paper.verdicts import COUNTED, HOLDS, IN_PART, NOT, Claim, Judge, Ruling, counted, graded

EXAMPLE_HEIGHT, EXAMPLE_DECAY, EXAMPLE_FEATURES, EXAMPLE_R = 10.0, 0.5, 10, 5  # the paper's, Sec. II-B2
DEFINED = "By the definition."
BETAS = (0.1, 0.5, 2.0)


def _defined(verdict: str, figures: str) -> Judge:
    return lambda evidence: Ruling(verdict, figures)


def search_spaces() -> tuple[int, int, int, int]:
    """Of the paper's example: L.B. and U.B. by whole coefficients, and the smallest and largest of all choices of R."""
    sizes = [2 * bound + 1 for bound in envelope(EXAMPLE_HEIGHT, EXAMPLE_DECAY, EXAMPLE_FEATURES)]
    spaces = [prod(chosen) for chosen in combinations(sizes, EXAMPLE_R)]
    return prod(sizes[-EXAMPLE_R:]), prod(sizes[:EXAMPLE_R]), min(spaces), max(spaces)


def printed_lower_bound() -> float:
    """L.B. of the example as it is printed, with A_d that are not whole."""
    bounds = decaying(EXAMPLE_HEIGHT, EXAMPLE_DECAY, EXAMPLE_FEATURES)
    return float(prod(2 * bound + 1 for bound in bounds[-EXAMPLE_R:]))


def _bounds(evidence: Evidence) -> Ruling:
    lower, upper, least, most = search_spaces()
    as_printed = printed_lower_bound()
    figures = (
        f"The example, 5 of 10 features: all 252 choices have from {least} to {most} vectors; by whole coefficients "
        f"L.B. is {lower} and U.B. {upper}. As printed, with A_d that are not whole, L.B. is {as_printed:.1f}."
    )
    return graded([lower <= least and most <= upper, as_printed <= least], figures)


def _search_space(evidence: Evidence) -> Ruling:
    height, decay = PARAMETERS["envelope_height"], PARAMETERS["envelope_decay"]
    ratios = []
    for data_set in CLASSES:
        n = printed.N_FEATURES[data_set]
        kept = envelope(height, decay, min(n, PARAMETERS["subspace_size"]))
        ratios.append(n * log10(2 * height + 1) - log10(prod(2 * bound + 1 for bound in kept)))
    n_less = sum(ratio > 0 for ratio in ratios)
    figures = (
        f"Vectors inside the envelope of the preset over S0, against coefficients up to {height:.0f} for every "
        f"feature: fewer on {n_less} of {len(ratios)} sets, by 10^{min(ratios):.1f} to 10^{max(ratios):.0f}."
    )
    return counted(n_less, len(ratios), figures)


def _beta(evidence: Evidence) -> Ruling:
    shares = []
    for beta in BETAS:
        weights = decaying(1.0, beta, EXAMPLE_FEATURES)
        shares.append(float(weights[0] / weights.sum()))
    told = ", ".join(f"{share:.2f} for beta {beta}" for share, beta in zip(shares, BETAS, strict=True))
    return graded([shares == sorted(shares)], f"P_1 of ten features: {told}.")


def n_weights(data_set: str) -> int:
    """Weights and biases of the MLP that the appendix describes."""
    first, second = printed.APPENDIX[data_set].neurons
    layers = [printed.N_FEATURES[data_set], first, second, printed.N_CLASSES[data_set]]
    return sum((before + 1) * after for before, after in pairwise(layers))


def _sums_of_mlp(evidence: Evidence) -> Ruling:
    n = sum(n_weights(s) == int(printed.N_PARAMETERS["ff-mlp"][s]) for s in CLASSES)
    figures = f"Neurons of the appendix give the printed number on {n} of {len(CLASSES)} sets."
    return counted(n, len(CLASSES), figures)


def _sums_of_svm(evidence: Evidence) -> Ruling:
    found = [
        svm_parameters(row.n_slack, printed.N_FEATURES[s], n_support) == int(printed.N_PARAMETERS[name][s])
        for s, row in printed.APPENDIX.items()
        for name, n_support in (("lsvm", row.lsvm), ("svm-rbf", row.svm_rbf))
    ]
    figures = f"Support vectors of the appendix give the printed number in {sum(found)} of {len(found)} cases."
    return counted(sum(found), len(found), figures)


def _half_spaces(evidence: Evidence) -> Ruling:
    n_children = [row.nodes[1] for row in printed.APPENDIX.values()]
    few, many = min(n_children), max(n_children)
    figures = (
        "As half spaces: q hyperplanes bound 2q, whose intersections are up to 2^q children. The appendix's roots have "
        f"{few} to {many} children, so that q is {log2(few):.0f} to {log2(many):.0f}."
    )
    return Ruling(HOLDS, figures)


CLAIMS = (
    Claim(
        "This is equivalent to partitioning S0 with 2p hyperplanes",
        "I",
        _defined(NOT, "With one threshold each, p projections are p hyperplanes; they bound 2p half spaces."),
        DEFINED,
        "The paper's inconsistencies",
    ),
    Claim(
        "the best q partitions that yield 2q partitioned subspaces", "I; Abstract", _half_spaces, DEFINED, "Table II"
    ),
    Claim(
        "The DT is a special case",
        "II-A",
        _defined(
            HOLDS, "A vector with one coefficient that is not 0 cuts across one feature, as a decision tree does."
        ),
        DEFINED,
        "Fig. 1",
    ),
    Claim(
        "the total search space of a to be tested by DFT lies between",
        "II-B",
        _bounds,
        "By counting, in the paper's own example. Two conditions: with whole coefficients; as printed. Holds: both. In "
        "part: one. Else not.",
        "Fig. 2",
    ),
    Claim(
        "reduces the search space",
        "VI-E; II-B",
        _search_space,
        f"By counting vectors; what it is worth is judged with the draws. {COUNTED}",
        "Fig. 2",
    ),
    Claim(
        "A larger beta value has higher preference on more discriminant features",
        "III-A",
        _beta,
        "By the formula. Holds: P_1 grows with beta.",
        "Fig. 2",
    ),
    Claim(
        "calculated by summing up the weight and bias numbers of all neurons",
        "IV; appendix",
        _sums_of_mlp,
        COUNTED,
        "Table II",
    ),
    Claim(
        "The model parameters of LSVM and SVM/RBF can be computed as", "IV; appendix", _sums_of_svm, COUNTED, "Table II"
    ),
    Claim(
        "In contrast, SLM does not change the feature space at all",
        "VI-D",
        _defined(HOLDS, "Every hyperplane, at any depth, is over the input features; none is made."),
        DEFINED,
        "Fig. 1",
    ),
    Claim(
        "both half subspaces can be preserved",
        "VI-D",
        _defined(
            IN_PART,
            "A training sample goes to one of the two sides, and both are nodes. Of two and more hyperplanes some "
            "cells may hold no training sample; a sample that falls there is answered for by the node above.",
        ),
        DEFINED,
        "Fig. 1",
    ),
)
