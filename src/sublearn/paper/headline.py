"""The report in one or two sentences: the strict figure first, then the lenient one."""

from collections.abc import Mapping, Sequence
from typing import Any

from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.datasets import SOURCES
from sublearn.paper.tables import digits_of

Entry = dict[str, Any]


def headline(protocol: str, of_sheets: Mapping[str, Sequence[Entry]]) -> list[str]:
    """From the entries of both tables together; nothing where no claim can be made."""
    names = ("reached1", "reached3") if protocol == "paper" else ("pairs1", "pairs3")
    entries = [entry for name in names for entry in of_sheets.get(name, ())]
    if not entries:
        return []
    return _reached(entries) if protocol == "paper" else _compared(entries)


def _reached(entries: Sequence[Entry]) -> list[str]:
    n = {
        verdict: sum(entry["verdict"] == verdict for entry in entries) for verdict in ("within", "surpassed", "missed")
    }
    n_splits = max(entry["n_splits"] for entry in entries)
    found = [
        f"Strictly: our mean over {n_splits} splits is no worse than the printed value in "
        f"{sum(entry['mean_is_no_worse'] for entry in entries)} of {len(entries)} cells of SLM.",
        f"Leniently: {n['within']} of {len(entries)} printed values lie within the range of our splits, "
        f"{n['surpassed']} are surpassed on every split, and {n['missed']} are missed.",
    ]
    missed = [_miss(entry) for entry in entries if entry["verdict"] == "missed"]
    return [*found, *([f"Missed: {'; '.join(missed)}."] if missed else [])]


def _miss(entry: Entry) -> str:
    is_classes = SOURCES[entry["data_set"]].is_classes
    best = entry["highest"] if is_classes else entry["lowest"]
    digits = 2 if is_classes else digits_of(entry["data_set"])
    name = CONTENDERS[entry["contender"]].name(is_classes)
    return (
        f"{name} on {SOURCES[entry['data_set']].title} (printed {entry['paper']:.2f}, best of ours {best:.{digits}f})"
    )


def _compared(entries: Sequence[Entry]) -> list[str]:
    sign = {entry["data_set"]: 1 if entry["is_classes"] else -1 for entry in entries}
    n_better = sum(sign[entry["data_set"]] * entry["difference"] > 0 for entry in entries)
    n_surely = sum(entry["is_significantly_better"] for entry in entries)
    n_worse = sum(entry["is_significantly_worse"] for entry in entries)
    return [
        f"SLM's mean is better than its peer's in {n_better} of {len(entries)} comparisons, significantly in "
        f"{n_surely}; significantly worse in {n_worse}.",
        *_behind([entry for entry in entries if sign[entry["data_set"]] * entry["difference"] < 0]),
    ]


def _behind(entries: Sequence[Entry]) -> list[str]:
    """Where SLM's mean is worse, comparison by comparison; a star where that is more than chance."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        name = CONTENDERS[entry["slm"]].name(entry["is_classes"])
        star = "*" if entry["is_significantly_worse"] else ""
        title = f"{name} against {CONTENDERS[entry['peer']].title}"
        found.setdefault(title, []).append(f"{SOURCES[entry['data_set']].title}{star}")
    if not found:
        return []
    told = "; ".join(f"{title} on {', '.join(sets)}" for title, sets in found.items())
    return [f"Behind in the mean, with a star where it is significant: {told}."]
