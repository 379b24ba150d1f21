"""The paper's claims in its own words, each with a verdict from the records of a run and the figures that decide it."""

from typing import Any

from sublearn.paper import (
    statements_ensembles,
    statements_formulas,
    statements_nodes,
    statements_rest,
    statements_scores,
    statements_trees,
)
from sublearn.paper.evidence import Evidence, MissingRecordsError, collect_evidence
from sublearn.paper.runner import Records
from sublearn.paper.sheets import Cell, Sheet
from sublearn.paper.tables import OPTIMISTIC
from sublearn.paper.verdicts import NOT, UNTOLD, VERDICTS, Claim, Ruling

SECTIONS = (
    *("Abstract", "I", "II-A", "II-B", "III", "III-A", "III-B", "IV"),
    *("V-A", "V-B", "VI-A", "VI-B", "VI-C", "VI-D", "VI-E", "VII"),
)


def section_of(claim: Claim) -> str:
    """Where the quoted words stand; other places may say the same."""
    return claim.place.partition(";")[0]


CLAIMS: tuple[Claim, ...] = tuple(
    sorted(
        (
            *statements_scores.CLAIMS,
            *statements_trees.CLAIMS,
            *statements_ensembles.CLAIMS,
            *statements_nodes.CLAIMS,
            *statements_formulas.CLAIMS,
            *statements_rest.CLAIMS,
        ),
        key=lambda claim: SECTIONS.index(section_of(claim)),
    )
)


def claim_sheet(records: Records, protocol: str) -> Sheet:
    """All claims in the order of the paper."""
    evidence = collect_evidence(records, protocol)
    entries = [_entry(claim, evidence) for claim in CLAIMS]
    n = {verdict: sum(entry["verdict"] == verdict for entry in entries) for verdict in VERDICTS}
    told = ", ".join(f"{number} {verdict}" for verdict, number in n.items())
    note = (
        f"{len(entries)} claims of the paper's text: {told}. Quotes are the paper's words without formulas; each "
        "verdict follows from this run's figures by the rule beside it."
    )
    if protocol == "paper":
        note += f" {OPTIMISTIC}, for all contenders alike."
    sections = [section_of(claim) for claim in CLAIMS]
    return Sheet(
        name="claims",
        title="The paper's claims",
        note=note,
        header=["claim", "section", "verdict", "figures", "rule", "seen in"],
        rows=[_row(entry) for entry in entries],
        breaks={i for i in range(len(sections) - 1) if sections[i] != sections[i + 1]},
        entries=entries,
        is_text=True,
    )


def judged(claim: Claim, evidence: Evidence) -> Ruling:
    """By the claim's rule; without the records that it needs, nothing can be told."""
    try:
        return claim.judge(evidence)
    except MissingRecordsError as reason:
        return Ruling(UNTOLD, f"this run has {reason}.")


def _entry(claim: Claim, evidence: Evidence) -> dict[str, Any]:
    verdict, figures = judged(claim, evidence)
    figures = figures[0].upper() + figures[1:]
    return {
        "claim": claim.quote,
        "section": claim.place,
        "verdict": verdict,
        "figures": figures,
        "rule": claim.rule,
        "seen_in": claim.seen,
    }


def _row(entry: dict[str, Any]) -> tuple[str, list[Cell]]:
    cells = [
        Cell((entry["section"],)),
        Cell((entry["verdict"],), is_best=entry["verdict"] != UNTOLD, is_alarming=entry["verdict"] == NOT),
        *(Cell((entry[name],)) for name in ("figures", "rule", "seen_in")),
    ]
    return f"“{entry['claim']}”", cells
