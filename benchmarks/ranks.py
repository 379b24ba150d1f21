"""Mean ranks of contenders over many sets, and which of them chance could have put in another order (Demsar 2006)."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from sublearn.display.canvas import COLOURS, GREY, INK, SMALL, TEXT, TITLE, new_figure
from sublearn.paper.significance import LEVEL, corrected_p_value
from tables import TEST_SHARE

Means = dict[str, dict[str, float]]  # set: contender: mean over splits
LOSSES = ("log_loss", "rmse")
N_HALVINGS = 1000
RISING = ("accuracy", "auc")  # more is better


def report(kind: str, contenders: Sequence[str], results: Mapping[Any, Mapping[str, float]], out: Path) -> None:
    """Print everything about one kind of estimators, the first contender being ours, and draw its ranks."""
    ours = contenders[0]
    losses = means(results, contenders, wrong_share if kind == "tree" else loss_of)
    if not losses or len(contenders) < 2:
        return
    seconds = means(results, contenders, lambda found: found["seconds"])
    name = "share of wrong classes" if kind == "tree" else "log loss"  # which is infinite for pure leaves
    print(f"\n## {kind}: {name} or RMSE, mean over splits, and seconds of a fit on one thread")
    print_table(contenders, losses, seconds)
    ranks = mean_ranks(contenders, losses)
    print_line("mean rank", contenders, ranks, "{:.2f}")
    print_line("loss to ours", contenders, geometric(contenders, losses, ours), "{:.3f}")
    print_line("seconds to ours", contenders, geometric(contenders, seconds, ours), "{:.2f}")
    print_line("ours is better on", contenders, wins(contenders, losses, ours), "{:.0f}" + f" of {len(losses)}")
    peers = [c for c in contenders if ":" not in c and c != ours]
    worst = {name: row[ours] / np.median([row[p] for p in peers]) for name, row in losses.items()}
    name = max(worst, key=lambda n: worst[n])
    print(f"to the median peer, ours at its worst: {worst[name]:.3f} ({name})")
    for peer in peers:
        found = significant(results, ours, peer)
        print(f"beside {peer}: significantly better on {len(found[0])}, worse on {', '.join(found[1]) or 'no set'}")
    for metric in ("accuracy", "auc", "ece"):
        given = means(results, contenders, lambda found, metric=metric: found.get(metric, np.nan))
        given = {name: row for name, row in given.items() if not np.isnan(list(row.values())).any()}
        if given:
            sign = -1.0 if metric in RISING else 1.0
            mean = {c: float(np.mean([row[c] for row in given.values()])) for c in contenders}
            print_line(f"mean {metric}", contenders, mean, "{:.4f}")
            signed = {name: {c: sign * v for c, v in row.items()} for name, row in given.items()}
            print_line("mean rank", contenders, mean_ranks(contenders, signed), "{:.2f}")
    settings = [c for c in contenders if c == ours or ":" in c]
    if len(settings) > 1 and len(losses) > 3:
        print(
            f"the best of {len(settings)} settings by one half of the sets, on the other half, {N_HALVINGS} halvings:"
        )
        for peer in peers:
            ratios = left_out(losses, settings, peer)
            low, high = np.quantile(ratios, [0.05, 0.95])
            lead = (ratios < 1).mean()
            print(f"  loss to {peer}'s {ratios.mean():.3f} ({low:.3f} to {high:.3f}), below it in {lead:.1%} of them")
    if len(contenders) > 2 and len(losses) > 2:
        print(f"Friedman's p: {friedmanchisquare(*zip(*_matrix(contenders, losses), strict=True)).pvalue:.2g}")
        path = out / f"ranks-{kind}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        picture(ranks, critical_difference(len(contenders), len(losses)), len(losses)).savefig(path, dpi=150)
        print(f"picture: {path}")


def loss_of(found: Mapping[str, float]) -> float:
    """Log loss or RMSE."""
    return next(found[metric] for metric in LOSSES if metric in found)


def wrong_share(found: Mapping[str, float]) -> float:
    """Share of wrong classes, or RMSE."""
    return 1.0 - found["accuracy"] if "accuracy" in found else found["rmse"]


def means(results: Mapping[Any, Mapping[str, float]], contenders: Sequence[str], pick: Callable[..., float]) -> Means:
    """Of the sets on which all contenders have a result for the same splits."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for cell, result in results.items():
        found.setdefault(cell.table, {}).setdefault(cell.contender, {})[cell.seed] = pick(result)
    return {
        name: {c: float(np.mean(list(row[c].values()))) for c in contenders}
        for name, row in found.items()
        if all(c in row and row[c].keys() == row[contenders[0]].keys() for c in contenders)
    }


def _matrix(contenders: Sequence[str], given: Means) -> list[list[float]]:
    return [[row[c] for c in contenders] for row in given.values()]


def mean_ranks(contenders: Sequence[str], losses: Means) -> dict[str, float]:
    """1 is best; equals share."""
    ranks = np.array([rankdata(row) for row in _matrix(contenders, losses)]).mean(axis=0)
    return dict(zip(contenders, ranks.tolist(), strict=True))


def geometric(contenders: Sequence[str], given: Means, ours: str) -> dict[str, float]:
    """Geometric mean over sets of each contender's figure to ours."""
    return {c: float(np.exp(np.mean([np.log(row[c] / row[ours]) for row in given.values()]))) for c in contenders}


def wins(contenders: Sequence[str], losses: Means, ours: str) -> dict[str, float]:
    return {c: float(sum(row[ours] < row[c] for row in losses.values())) for c in contenders}


def significant(results: Mapping[Any, Mapping[str, float]], ours: str, peer: str) -> tuple[list[str], list[str]]:
    """Sets on which ours is significantly better, and worse, in accuracy or RMSE."""
    both: dict[str, dict[int, dict[str, float]]] = {}
    for cell, found in results.items():
        both.setdefault(cell.table, {}).setdefault(cell.seed, {})[cell.contender] = wrong_share(found)
    better: list[str] = []
    worse: list[str] = []
    for name, seeds in both.items():
        differences = np.array([row[ours] - row[peer] for row in seeds.values() if ours in row and peer in row])
        if corrected_p_value(differences, test_share=TEST_SHARE) < LEVEL:
            (better if differences.mean() < 0 else worse).append(name)
    return better, worse


def left_out(losses: Means, settings: Sequence[str], peer: str) -> Any:
    """Loss to a peer's, on half of the sets, of the setting that is best on the other half; many halvings."""
    logs = np.log([[row[s] / row[peer] for s in settings] for row in losses.values()])
    random = np.random.default_rng(0)
    found = []
    for _ in range(N_HALVINGS):
        order = random.permutation(len(logs))
        chosen, other = np.array_split(order, 2)
        found.append(logs[other, logs[chosen].mean(axis=0).argmin()].mean())
    return np.exp(found)


def critical_difference(n_contenders: int, n_sets: int) -> float:
    """Mean ranks that lie further apart than this differ significantly (Nemenyi)."""
    q = studentized_range.ppf(1 - LEVEL, n_contenders, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_contenders * (n_contenders + 1) / (6 * n_sets)))


def print_table(contenders: Sequence[str], losses: Means, seconds: Means) -> None:
    width = max(map(len, losses)) + 2
    print(" " * width + "".join(f"{c:>24}" for c in contenders))
    for name, row in losses.items():
        best = min(row.values())
        cells = (f"{row[c]:.4g}{'*' if row[c] == best else ' '} {seconds[name][c]:7.2f} s" for c in contenders)
        print(f"{name:<{width}}" + "".join(f"{text:>24}" for text in cells))


def print_line(title: str, contenders: Sequence[str], values: Mapping[str, float], form: str) -> None:
    print(f"{title:<20}" + "".join(f"  {c} {form.format(values[c])}" for c in contenders))


def picture(ranks: Mapping[str, float], difference: float, n_sets: int) -> Any:
    """The critical-difference diagram: contenders on a line of mean ranks, bars over those that chance may reorder."""
    order = sorted(ranks, key=lambda c: ranks[c])
    bars = groups([ranks[c] for c in order], difference)
    half = -(-len(order) // 2)
    figure = new_figure(7.5, 1.3 + 0.28 * (half + len(bars)))
    axes = figure.subplots()
    last = len(order)
    axes.set(xlim=(0.0, last + 1.0), ylim=(-1.2 - 0.5 * len(bars) - half, 1.8))
    axes.axis("off")
    axes.plot([1, last], [0, 0], color=INK, linewidth=1.2)
    for rank in range(1, last + 1):
        axes.plot([rank, rank], [0, 0.2], color=INK, linewidth=1.2)
        axes.text(rank, 0.3, str(rank), ha="center", fontsize=SMALL, color=INK)
    axes.plot([1, 1 + difference], [1.25, 1.25], color=GREY, linewidth=2)
    axes.text(1 + difference + 0.1, 1.25, f"critical difference {difference:.2f}", va="center", fontsize=SMALL)
    axes.set_title(f"mean rank of the loss on {n_sets} sets; 1 is best", loc="left", fontsize=TITLE, color=INK)
    for k, (begin, end) in enumerate(bars):
        height = -0.4 - 0.5 * k
        axes.plot([begin - 0.04, end + 0.04], [height, height], color=GREY, linewidth=4, solid_capstyle="round")
    for k, contender in enumerate(order):
        on_left = k < half
        height = -1.0 - 0.5 * len(bars) - (k if on_left else last - 1 - k)
        edge = 0.75 if on_left else last + 0.25
        colour = COLOURS[0] if contender.startswith("slm") else INK
        axes.plot([ranks[contender], ranks[contender], edge], [0, height, height], color=colour, linewidth=1)
        text = f"{contender} {ranks[contender]:.2f}"
        axes.text(edge, height, text, ha="right" if on_left else "left", va="center", fontsize=TEXT, color=colour)
    return figure


def groups(ranks: Sequence[float], difference: float) -> list[tuple[float, float]]:
    """The longest stretches of rising ranks within the difference."""
    found: list[tuple[float, float]] = []
    for k, begin in enumerate(ranks):
        end = max(rank for rank in ranks[k:] if rank - begin <= difference)
        if end > begin and (not found or end > found[-1][1]):
            found.append((begin, end))
    return found
