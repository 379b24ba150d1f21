"""The paper's claims: verdicts by their rules, from runs made by hand, whole and in parts."""

import re
from pathlib import Path

import numpy as np
import pytest

from reports import make_records, whole_run, written
from sublearn.paper import printed, statements, statements_formulas, statements_nodes, statements_trees
from sublearn.paper.evidence import MissingRecordsError, collect_evidence
from sublearn.paper.headline import headline
from sublearn.paper.plan import PARTS, Order, plan
from sublearn.paper.runner import Records
from sublearn.paper.shapes import shape_sheet
from sublearn.paper.statements import CLAIMS, claim_sheet
from sublearn.paper.statements_ensembles import trees_needed
from sublearn.paper.verdicts import HOLDS, IN_PART, NOT, UNTOLD, VERDICTS

# all that the paper says about scores comes true, but that level sets are printed
AS_CLAIMED = {
    "slm-boost": 0.96,
    "slm-forest": 0.95,
    "xgboost": 0.93,
    "rf": 0.92,
    "slm-baseline": 0.9,
    "svm-rbf": 0.89,
    "dt-tuned": 0.86,
    "lsvm": 0.85,
    "bp-mlp": 0.84,
    "ff-mlp": 0.83,
    "dt": 0.8,
    "elm": 0.7,
}
CONTRARY = {name: 1 - share for name, share in AS_CLAIMED.items()}
OF_TEXT = {  # claims that the paper's own definitions contradict, in whole or in part
    "This is equivalent to partitioning S0 with 2p hyperplanes": NOT,
    "the total search space of a to be tested by DFT lies between": IN_PART,
    "both half subspaces can be preserved": IN_PART,
}
NOT_ALL = {  # by what is printed, or since all sets are alike in a run made by hand
    "the performance of RF converges as the tree number increases": NOT,
    "the gain of SLM over MLP is relatively small": IN_PART,
    "better performance over the classical methods with bigger margins": IN_PART,
    "the smallest model size for each dataset is highlighted in bold": IN_PART,
    "the sizes of DTs are calculated as two times of the number of splits": NOT,
    "the SVM model is heavier for more training samples": NOT,
    "The number of trees is set to 100 to ensure convergence": NOT,
    "The best results for each group are shown in bold": IN_PART,
    "SVR/RBF achieves the best performance": NOT,
    **OF_TEXT,
}
OF_PRINTED = {  # claims that the printed paper alone decides
    "the smallest model size for each dataset is highlighted in bold",
    "The best results for each group are shown in bold",
    "the model size of the corresponding SLM can be calculated as",
    "the model size is increasing linearly with the number of training samples",
    *(claim.quote for claim in statements_formulas.CLAIMS),
}


def verdicts(records: Records, protocol: str = "honest") -> dict[str, str]:
    return {entry["claim"]: entry["verdict"] for entry in claim_sheet(records, protocol).entries}


def entry_of(records: Records, quote: str, protocol: str = "honest") -> tuple[str, str]:
    (entry,) = [entry for entry in claim_sheet(records, protocol).entries if quote in entry["claim"]]
    return entry["verdict"], entry["figures"]


def test_claims_are_quoted_once_in_few_words_and_in_the_order_of_the_paper() -> None:
    quotes = [claim.quote for claim in CLAIMS]
    assert len(set(quotes)) == len(quotes) > 70
    assert all(3 <= len(quote.split()) <= 16 or quote in ("with efficiency",) for quote in quotes)
    places = [statements.SECTIONS.index(statements.section_of(claim)) for claim in CLAIMS]
    assert places == sorted(places)
    assert set(places) == set(range(len(statements.SECTIONS)))
    assert all(claim.rule and (claim.seen or claim.rule == "None.") for claim in CLAIMS)


def test_without_records_nothing_can_be_told_but_what_is_printed() -> None:
    found = verdicts({})
    assert {quote for quote, verdict in found.items() if verdict != UNTOLD} == OF_PRINTED


def test_run_in_which_all_comes_true() -> None:
    found = verdicts(whole_run(AS_CLAIMED))
    assert {quote: verdict for quote, verdict in found.items() if verdict not in (HOLDS, UNTOLD)} == NOT_ALL
    assert found["They give the best performance among all benchmarking methods"] == HOLDS
    assert found["SLR Boost achieves the best performance"] == HOLDS
    assert found["faster converge than RF"] == found["faster convergence than XGBoost"] == HOLDS
    assert found["set to 20 due to the faster convergence"] == HOLDS


def test_run_in_which_the_contrary_comes_true() -> None:
    found = verdicts(whole_run(CONTRARY))
    for quote in (
        "ensembles of SLM/SLR trees can yield a stronger predictor",
        "stronger than that of a single DT",
        "SLM Forest achieves better performance",
        "SLM Boost achieves better performance",
        "They give the best performance among all benchmarking methods",
        "SLM methods outperforms the MLP models in all benchmarking datasets",
        "outperforming the DTs in all the datasets",
        "SLR Baseline outperforms DT in all datasets",
        "SLR Boost achieves the best performance",
    ):
        assert found[quote] == NOT, quote


def test_better_in_the_mean_but_not_on_every_set_holds_in_part() -> None:
    records = whole_run(AS_CLAIMED)
    for unit, record in records.items():
        if (unit.experiment, unit.subject, unit.data_set) == ("contender", "slm-forest", "iris"):
            record.values["score"] = 0.9
    verdict, figures = entry_of(records, "SLM Forest achieves better performance")
    assert verdict == IN_PART
    assert figures.startswith("SLM Forest / RF: better on 8 of 9 (significantly 8), worse on 1 (significantly ")


def test_chosen_maxima_are_not_tested() -> None:
    records = whole_run(AS_CLAIMED, "paper")
    sheet = claim_sheet(records, "paper")
    assert "OPTIMISTIC" in sheet.note
    assert not any("significantly 9" in entry["figures"] for entry in sheet.entries)
    assert entry_of(records, "significant performance improvement", "paper")[0] == UNTOLD
    assert entry_of(records, "stopping criteria", "paper")[0] == UNTOLD


@pytest.mark.parametrize("missing", ["rf", "slm-baseline"])
def test_claim_whose_records_are_missing_cannot_be_told_and_says_which(missing: str) -> None:
    whole = whole_run(AS_CLAIMED)
    records = {unit: record for unit, record in whole.items() if unit[3:5] != ("pima", missing)}
    found, before = verdicts(records), verdicts(whole)
    lost = {quote for quote in found if found[quote] != before[quote]}
    assert ("SLM Forest achieves better performance" in lost) == (missing == "rf")
    assert ("model sizes are generally smaller than the DTs" in lost) == (missing == "slm-baseline")
    assert "SLR Boost achieves the best performance" not in lost  # which is about numbers
    for quote in lost:
        verdict, figures = entry_of(records, quote)
        assert verdict == UNTOLD
        assert re.search(r"This run has no (records of .*|measurement of root) on Pima\.", figures)


def test_trees_needed_by_hand() -> None:
    # bests 0.9; the standard error over two splits is 0.01
    ours = np.array([[0.5, 0.8, 0.88, *[0.89] * 7], [0.5, 0.8, 0.9, *[0.91] * 7]])
    theirs = np.array([[0.5] * 5 + [0.89] * 5] * 2)
    needed, error = trees_needed([ours, theirs], 1)
    assert error == pytest.approx(0.01)
    assert needed == [3, 15]
    assert trees_needed([-ours, -theirs], -1)[0] == [3, 15]
    assert trees_needed([ours, theirs - 0.5], 1)[0] == [3, 1000]


def test_faster_curves_are_told_with_trees_and_errors() -> None:
    verdict, figures = entry_of(whole_run(AS_CLAIMED), "faster converge than RF")
    assert verdict == HOLDS
    assert "Wine: 100 / more than 100 trees come within 0.00 of the best of both (defaults: 100)" in figures
    records = whole_run(AS_CLAIMED)
    for unit, record in records.items():
        if unit.experiment == "convergence" and unit.data_set == "wine":
            record.values["forest"], record.values["random_forest"] = (
                record.values["random_forest"],
                record.values["forest"],
            )
    assert entry_of(records, "faster converge than RF")[0] == IN_PART


def test_shape_is_judged_by_depth_and_by_nodes_a_level() -> None:
    records = whole_run(AS_CLAIMED)
    verdict, figures = entry_of(records, "wider and shallower than a DT")
    assert verdict == HOLDS
    # 13 nodes on 3 levels, 19 nodes on 10
    assert "shallower on 9 of 9 sets (mean depth 2.0 / 9.0), wider on 9 (nodes a level 4.3 / 1.9)" in figures
    for unit, record in records.items():
        if unit.subject == "slm-baseline" and unit.experiment == "contender":
            record.values["nodes"] = [1, 1, 1]
    assert entry_of(records, "wider and shallower than a DT")[0] == IN_PART


def test_half_of_the_parameters_needs_both_size_and_accuracy() -> None:
    records = whole_run(AS_CLAIMED)
    assert entry_of(records, "less than half of the parameters of MLP")[0] == HOLDS  # 30 of 100
    for unit, record in records.items():
        if unit.data_set == "banknote" and unit.subject == "ff-mlp":
            record.values["n_parameters"] = 22
    verdict, figures = entry_of(records, "less than half of the parameters of MLP")
    assert verdict == IN_PART
    assert "Banknote 30 / 22, +7.00 points" in figures


def test_printed_splits_of_decision_trees_are_nearer_to_nodes() -> None:
    assert statements_trees.n_smaller_as_printed() == (6, 4)
    assert all(n % 2 for n in statements_trees.printed_splits().values())


def test_large_c_is_counted_over_the_splits() -> None:
    records = whole_run(AS_CLAIMED)
    assert entry_of(records, "a large regularization parameter")[0] == HOLDS
    for unit, record in records.items():
        if (unit.experiment, unit.subject, unit.seed) == ("contender", "svm-rbf", 0):
            record.values["setting"] = {"C": 10.0}
    assert entry_of(records, "a large regularization parameter") == (
        IN_PART,
        "C = 1000, the largest that is tried, is chosen on 2 of 3 splits.",
    )


def test_bounds_of_the_search_space_are_counted_in_the_paper_s_example() -> None:
    # whole parts of 10 exp(-d / 2): 6 3 2 1 0 0 0 0 0 0
    assert statements_formulas.search_spaces() == (1, 13 * 7 * 5 * 3, 1, 13 * 7 * 5 * 3)
    assert statements_formulas.printed_lower_bound() == pytest.approx(6.066, abs=1e-3)


def test_sums_of_the_appendix_by_hand() -> None:
    # two features, 8 and 9 neurons, two classes: 3 * 8 + 9 * 9 + 10 * 2
    assert statements_formulas.n_weights("circle-and-ring") == 125
    assert {s: statements_formulas.n_weights(s) for s in printed.APPENDIX} == {
        s: int(text) for s, text in printed.N_PARAMETERS["ff-mlp"].items()
    }


def test_fall_of_errors_by_hand() -> None:
    # falls of 5, 3, 1 and 1 tenths
    assert statements_nodes.describe_fall([1.0, 0.5, 0.2, 0.1, 0.0]) == pytest.approx((0.5, 0.2))
    assert statements_nodes.describe_fall([1.0]) == (0.0, 0.0)
    records = whole_run(AS_CLAIMED)
    assert entry_of(records, "decreases gradually and saturates")[0] == HOLDS
    for unit, record in records.items():
        if unit.experiment == "growth":
            record.values["errors"] = [1.0, 0.9, 0.8, 0.3, 0.1]
    assert entry_of(records, "decreases gradually and saturates")[0] == NOT


def test_trees_of_forests_are_judged_by_strength_and_likeness() -> None:
    records = whole_run(AS_CLAIMED)
    verdict, figures = entry_of(records, "to increase the strength of individual SLM trees")
    assert (verdict, "Wine 90.00 / 80.00" in figures) == (HOLDS, True)
    assert entry_of(records, "stronger individual SLR trees")[0] == HOLDS
    verdict, figures = entry_of(records, "individual SLM trees stronger than individual DTs")
    assert (verdict, "Wine 90.00 / 80.10 / 70.00" in figures) == (HOLDS, True)
    for unit, record in records.items():
        if unit.experiment == "trees":
            record.values.update({"bagged_error": 0.05, "slr_correlation": 0.9})
    assert entry_of(records, "to increase the strength of individual SLM trees")[0] == NOT
    assert entry_of(records, "stronger individual SLR trees")[0] == IN_PART


def test_many_uniform_draws_against_few_guided_ones() -> None:
    records = whole_run(AS_CLAIMED)
    assert entry_of(records, "a large number of trials and errors")[0] == HOLDS
    for unit, record in records.items():
        if unit.experiment == "ablation" and unit.subject.startswith("uniform"):
            record.values["score"] = 0.99 if record.values["score"] > 0.5 else 0.01
    assert entry_of(records, "a large number of trials and errors")[0] == NOT


def test_ratio_of_errors_leaves_out_sets_without_errors() -> None:
    assert statements_nodes.mean_ratio(np.array([0.2, 0.0, 0.4]), np.array([0.1, 0.3, 0.8])) == pytest.approx(1.0)


def test_evidence_names_what_is_missing() -> None:
    evidence = collect_evidence(make_records({("dt", "iris"): [0.9]}), "honest")
    with pytest.raises(MissingRecordsError, match="no records of DT on Wine"):
        evidence.scores_of(("dt",), ["iris", "wine"])
    with pytest.raises(MissingRecordsError, match="no scores of numbers"):
        evidence.scores_of(("dt",), ["boston"])
    with pytest.raises(MissingRecordsError, match="nodes of DT is not recorded"):
        evidence.nodes_a_level("dt", "iris")
    with pytest.raises(MissingRecordsError, match="no curves of Wine"):
        evidence.curve("wine", "forest")
    with pytest.raises(MissingRecordsError, match="no search for C of DT"):
        evidence.chosen("dt", "iris", "C")


def test_claims_are_on_the_page_with_their_rules_and_counted_in_the_note(tmp_path: Path) -> None:
    records = whole_run(AS_CLAIMED)
    page = written(Order(out=tmp_path), records)
    assert '<table id="claims" class="text">' in page
    titles = re.findall("<h2>(.*?)</h2>", page)
    assert titles[:3] == ["Verdict", "The paper&#x27;s claims", "Tables"]
    sheet = claim_sheet(records, "honest")
    numbers = [int(n) for n in re.findall(r"(\d+) (?:holds|does|cannot)", sheet.note)]
    assert sum(numbers) == len(CLAIMS) == len(sheet.rows)
    assert {entry["verdict"] for entry in sheet.entries} <= set(VERDICTS)
    assert all(cells[1].is_alarming == (cells[1].lines == (NOT,)) for _, cells in sheet.rows)


def test_claims_alone_ask_for_all_that_they_are_judged_by() -> None:
    alone, everything = (set(plan(Order(quick=True, parts=parts))) for parts in (("claims",), PARTS))
    assert alone == everything
    tables = set(plan(Order(quick=True, parts=("table1", "table3"))))
    assert {unit.experiment for unit in alone - tables} == {
        *("ablation", "convergence", "root", "svr", "growth", "trees"),
    }


def test_headline_has_the_strict_figure_first_over_both_tables(tmp_path: Path) -> None:
    page = written(Order("paper", out=tmp_path), whole_run(AS_CLAIMED, "paper"))
    strict, lenient = re.findall(r"<p>(.*?)</p>", page)[:2]
    assert re.fullmatch(r"Strictly: our mean over 3 splits is no worse than .* in \d+ of 45 cells of SLM\.", strict)
    n = [int(number) for number in re.findall(r"(\d+)(?= of 45| are surpassed| are missed)", lenient)]
    assert sum(n) == 45
    assert page.index(strict) < page.index('id="reached1"')


def test_headline_names_what_is_missed_and_counts_comparisons() -> None:
    entry = {"contender": "slm-boost", "data_set": "boston", "paper": 2.39, "lowest": 2.73, "highest": 3.0}
    entry |= {"verdict": "missed", "mean_is_no_worse": False, "n_splits": 20}
    lines = headline("paper", {"reached3": [entry]})
    assert "in 0 of 1 cells" in lines[0]
    assert lines[2] == "Missed: SLR Boost on Boston (printed 2.39, best of ours 2.73)."
    pair = {"data_set": "boston", "is_classes": False, "difference": -0.1}
    pair |= {"is_significantly_better": True, "is_significantly_worse": False}
    assert (
        "better than its peer's in 1 of 1 comparisons, significantly in 1" in headline("honest", {"pairs3": [pair]})[0]
    )
    worse = {**pair, "slm": "slm-boost", "peer": "xgboost", "difference": 0.1, "is_significantly_worse": True}
    assert headline("honest", {"pairs3": [pair, worse]})[1].endswith(": SLR Boost against XGBoost on Boston*.")
    assert headline("honest", {"reached3": [entry]}) == []


def test_shapes_are_told_beside_the_appendix() -> None:
    sheet = shape_sheet(make_records({("dt", "iris"): [0.9]}, shapes={("dt", "iris"): (6, [1, 2, 4, 6])}))
    assert sheet is not None
    ((label, (cell,)),) = sheet.rows
    assert (label, cell.lines) == ("Iris", ("3.0", "6.0 splits, 13.0 nodes, 3.2", "17 splits"))
    assert shape_sheet(make_records({("dt", "iris"): [0.9]})) is None
