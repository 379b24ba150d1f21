"""What the report says in the end: is the paper reached, and is SLM better than what it is measured against?"""

from typing import Any

import numpy as np

from sublearn.paper import printed
from sublearn.paper.contenders import COMPARED, CONTENDERS, PAIRS
from sublearn.paper.datasets import SOURCES
from sublearn.paper.sheets import Cell, Sheet
from sublearn.paper.significance import LEVEL
from sublearn.paper.tables import HALF_A_DIGIT, OPTIMISTIC, Scores

VERDICTS = ("within", "surpassed", "missed")  # on the printed value, by the range of our splits


def reached_sheet(scores: Scores, n_settings: dict[str, int]) -> Sheet | None:
    """Protocol "paper": each SLM cell of Table I or III against the range of our splits."""
    rows, entries = [], []
    for contender in [name for name in PAIRS if name in scores.contenders]:
        for data_set in scores.data_sets:
            entry = _reached(scores, contender, data_set)
            entries.append(entry | {"n_settings": n_settings[contender]})
            rows.append(_reached_row(scores, entry))
    if not rows:
        return None
    n = {verdict: sum(entry["verdict"] == verdict for entry in entries) for verdict in VERDICTS}
    misses = [_miss(scores, entry) for entry in entries if entry["verdict"] == "missed"]
    within = "one test sample" if scores.is_classes else "half a unit of the last printed digit"
    note = (
        f"Of {len(entries)} printed values {n['within']} lie within the range of our splits, widened by {within}; "
        f"{n['surpassed']} are surpassed on every split; {n['missed']} are missed. Our mean is no worse than the "
        f"printed value in {sum(entry['mean_is_no_worse'] for entry in entries)}. {OPTIMISTIC}. A star: the printed "
        "value is no multiple of one test sample. "
    )
    return Sheet(
        name="reached1" if scores.is_classes else "reached3",
        title=f"Is the paper reached? {'Classes' if scores.is_classes else 'Numbers'}",
        note=note + " ".join(misses),
        header=["", "paper", "our mean", "our range", "at least as good", "printed value", "mean no worse"],
        rows=rows,
        breaks={i for i in range(len(rows) - 1) if entries[i]["contender"] != entries[i + 1]["contender"]},
        entries=entries,
    )


def _reached(scores: Scores, contender: str, data_set: str) -> dict[str, Any]:
    values = scores.values[contender, data_set]
    text = scores.printed(contender, data_set)
    assert text is not None
    slack = HALF_A_DIGIT + (100 / scores.n_test[data_set] if scores.is_classes else 0.0)
    sign = scores.sign
    worst, best = sorted([sign * values.min(), sign * values.max()])
    verdict = "within"
    if not worst - slack <= sign * float(text) <= best + slack:
        verdict = "missed" if sign * float(text) > best else "surpassed"
    return {
        "contender": contender,
        "data_set": data_set,
        "paper": float(text),
        "mean": float(values.mean()),
        "lowest": float(values.min()),
        "highest": float(values.max()),
        "n_at_least_as_good": scores.n_at_least_as_good(contender, data_set),
        "n_splits": len(values),
        "verdict": verdict,
        "mean_is_no_worse": bool(sign * values.mean() >= sign * float(text) - HALF_A_DIGIT),
        "is_multiple_of_a_sample": not scores.is_classes or printed.is_multiple(text, scores.n_test[data_set]),
    }


def _reached_row(scores: Scores, entry: dict[str, Any]) -> tuple[str, list[Cell]]:
    data_set = entry["data_set"]
    star = "" if entry["is_multiple_of_a_sample"] else "*"
    texts = [
        f"{scores.printed(entry['contender'], data_set)}{star}",
        scores.text(entry["mean"], data_set),
        f"{scores.text(entry['lowest'], data_set)} to {scores.text(entry['highest'], data_set)}",
        f"{entry['n_at_least_as_good']} of {entry['n_splits']}",
    ]
    verdicts = [
        Cell((entry["verdict"],), is_alarming=entry["verdict"] == "missed"),
        Cell(("yes" if entry["mean_is_no_worse"] else "no",)),
    ]
    label = f"{CONTENDERS[entry['contender']].name(scores.is_classes)}, {SOURCES[data_set].title}"
    return label, [Cell((text,)) for text in texts] + verdicts


def _miss(scores: Scores, entry: dict[str, Any]) -> str:
    """What was tried where the printed value is out of our range."""
    return (
        f"Missed: {CONTENDERS[entry['contender']].name(scores.is_classes)} on {SOURCES[entry['data_set']].title}: "
        f"the printed {scores.printed(entry['contender'], entry['data_set'])} is better than all of "
        f"{entry['n_splits']} splits, on each of which the best of {entry['n_settings']} settings was taken."
    )


def pair_sheet(scores: Scores) -> Sheet | None:
    """Protocol "honest": SLM Baseline against decision trees, Forest against RF, Boost against XGBoost."""
    pairs = [pair for pair in COMPARED if set(pair) <= set(scores.contenders)]
    if not pairs:
        return None
    rows, entries = [], []
    for data_set in scores.data_sets:
        found = [_compared(scores, slm, peer, data_set) for slm, peer in pairs]
        rows.append((SOURCES[data_set].title, [_pair_cell(scores, entry) for entry in found]))
        entries += found
    means = [Cell(_mean_lines(scores, slm, peer)) for slm, peer in pairs]
    rows.append(("mean" if scores.is_classes else "mean ratio", means))
    titles = [f"{CONTENDERS[slm].name(scores.is_classes)} / {CONTENDERS[peer].title}" for slm, peer in pairs]
    note = " ".join(_verdict(scores, slm, peer, entries) for slm, peer in pairs)
    if ("slm-baseline", "dt") in pairs:
        note += " DT is not tuned, as in the paper."
    if ("slm-baseline", "dt-tuned") in pairs:
        note += " DT tuned, which the paper has not, is searched for the smallest node that is split, as SLM is."
    return Sheet(
        name="pairs1" if scores.is_classes else "pairs3",
        title=f"Is SLM better? {'Accuracy (%)' if scores.is_classes else 'Root mean squared error'}",
        note=note,
        header=["", *titles],
        rows=rows,
        breaks={len(rows) - 2},
        entries=entries,
    )


def _compared(scores: Scores, slm: str, peer: str, data_set: str) -> dict[str, Any]:
    ours, theirs = scores.values[slm, data_set], scores.values[peer, data_set]
    p_value = scores.p_value(slm, peer, data_set)
    is_worse = scores.sign * ours.mean() < scores.sign * theirs.mean()
    return {
        "data_set": data_set,
        "slm": slm,
        "peer": peer,
        "slm_mean": float(ours.mean()),
        "peer_mean": float(theirs.mean()),
        "difference": float(ours.mean() - theirs.mean()),
        "p_value": p_value,
        "is_significantly_worse": bool(is_worse and p_value < LEVEL),
        "is_significantly_better": bool(not is_worse and p_value < LEVEL),
        "is_classes": scores.is_classes,
    }


def _pair_cell(scores: Scores, entry: dict[str, Any]) -> Cell:
    data_set = entry["data_set"]
    figures = f"{scores.text(entry['slm_mean'], data_set)} / {scores.text(entry['peer_mean'], data_set)}"
    test = f"{scores.text(entry['difference'], data_set, sign=True)}, p = {entry['p_value']:.3f}"
    return Cell((figures, test), is_alarming=entry["is_significantly_worse"])


def _means(scores: Scores, slm: str, peer: str) -> tuple[float, float]:
    """Mean accuracies; for errors, whose units differ, the geometric mean of our error to the peer's, and 1."""
    ours, theirs = ([scores.mean(name, data_set) for data_set in scores.data_sets] for name in (slm, peer))
    if scores.is_classes:
        return float(np.mean(ours)), float(np.mean(theirs))
    return float(np.exp(np.mean(np.log(np.divide(ours, theirs))))), 1.0


def _mean_lines(scores: Scores, slm: str, peer: str) -> tuple[str, ...]:
    ours, theirs = _means(scores, slm, peer)
    return (f"{ours:.2f} / {theirs:.2f}",) if scores.is_classes else (f"{ours:.3f}",)


def _verdict(scores: Scores, slm: str, peer: str, entries: list[dict[str, Any]]) -> str:
    ours, theirs = _means(scores, slm, peer)
    is_better = scores.sign * ours > scores.sign * theirs
    worse = [
        f"{SOURCES[entry['data_set']].title} (by {scores.text(abs(entry['difference']), entry['data_set'])})"
        for entry in entries
        if (entry["slm"], entry["peer"]) == (slm, peer) and entry["is_significantly_worse"]
    ]
    n = len(scores.data_sets)
    over = f"{n} sets" if n > 1 else "one set"
    return (
        f"{CONTENDERS[slm].name(scores.is_classes)} is {'better' if is_better else 'NOT better'} than "
        f"{CONTENDERS[peer].title} in the mean over {over}, and significantly worse on {', '.join(worse) or 'none'}."
    )
