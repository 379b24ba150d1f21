"""The figures of a report, drawn from its records and saved beside its page."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sublearn import SLMClassifier
from sublearn.paper import ablations, convergence, datasets, figures, search
from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.datasets import SOURCES
from sublearn.paper.page import Picture
from sublearn.paper.plan import PLANES, Order
from sublearn.paper.runner import Records
from sublearn.paper.tables import OPTIMISTIC

NAMES = ("fig1", "fig2", "fig3", "fig4", "fig5", "guided", "partitions")


def make_pictures(order: Order, records: Records) -> list[Picture]:
    """Draw and save the figures that were asked for."""
    drawn: list[tuple[str, str, str, Any]] = []
    if "fig1" in order.parts:
        caption = "Two hyperplanes of one node cut the plane into four cells, its children. From a fitted tree."
        drawn.append(("fig1", "Fig. 1: an n-ary split and its tree", caption, figures.partition_and_tree()))
    if "fig2" in order.parts:
        caption = (
            "Integers that may be drawn as coefficients, inside the envelope A_d = 10 exp(-d / 2); black where the "
            "dimension is selected (D = 10, R = 5). Coloured: one draw."
        )
        drawn.append(("fig2", "Fig. 2: the envelope of coefficients", caption, figures.envelope_example()))
    if "fig3" in order.parts:
        drawn.append(_overview(order))
    if "fig4" in order.parts and (panels := _planes(order, records)):
        caption = (
            "Training samples, test samples, and what SLM Baseline predicts for these, on the first split. "
            "Crosses: predicted wrongly." + (f" {OPTIMISTIC}." if order.protocol == "paper" else "")
        )
        drawn.append(
            (
                "fig4",
                "Fig. 4: the sets in the plane",
                caption,
                figures.plane_sets(panels, OPTIMISTIC if order.protocol == "paper" else ""),
            )
        )
    if "fig5" in order.parts and (curves := _curves(records)):
        depth, rate = convergence.BOOSTING["max_depth"], convergence.BOOSTING["learning_rate"]
        caption = (
            f"Mean over {len(order.seeds)} splits. Left: accuracy of forests, trees of unlimited depth. Right: log "
            f"loss of boosting, depth {depth} and learning rate {rate} in all. SLM has the settings of sublearn.paper, "
            'and nothing is searched; "defaults" are those of the library, at the same depth and rate. Bands: one '
            "standard error over the splits."
        )
        drawn.append(("fig5", "Fig. 5: convergence with the number of trees", caption, figures.convergence(curves)))
    if "ablations" in order.parts:
        drawn += _ablations(records, len(order.seeds))
    for name in NAMES:  # of an earlier run, maybe by the other protocol
        for ending in ("svg", "png"):
            (order.out / "figures" / f"{name}.{ending}").unlink(missing_ok=True)
    return [
        Picture(title, caption, figures.save(figure, order.out / "figures", name)[0])
        for name, title, caption, figure in drawn
    ]


def _overview(order: Order) -> tuple[str, str, str, Any]:
    data = datasets.load("wine")
    model = SLMClassifier(random_state=order.seed).fit(data.X, data.y)
    caption = (
        "The root of a tree with the library's defaults on wine, as it was searched. Left: loss of each feature alone, "
        "and the subspace S0. Middle: losses of the candidate projections, and those that were kept. Right: the cells "
        "into which these cut the samples."
    )
    figure = figures.system_overview(model, data.X, data.y, data.feature_names)
    return "fig3", "Fig. 3: the SLM system, in one node", caption, figure


def _planes(order: Order, records: Records) -> list[figures.Plane]:
    """The tree of the first split of each set, fitted again with what was chosen there."""
    panels = []
    for unit, record in records.items():
        if (unit.experiment, unit.subject, unit.seed) == (
            "contender",
            "slm-baseline",
            order.seed,
        ) and unit.data_set in PLANES:
            parts = search.split(datasets.load(unit.data_set, unit.seed, order.folder), unit.seed)
            model = CONTENDERS[unit.subject].make(True)(random_state=unit.seed, **record.values["setting"])
            predicted = model.fit(parts.X_train, parts.y_train).predict(parts.X_test)
            panels.append(
                figures.Plane(
                    title=SOURCES[unit.data_set].title,
                    X_train=parts.X_train,
                    y_train=parts.y_train,
                    X_test=parts.X_test,
                    y_test=parts.y_test,
                    predicted=predicted,
                )
            )
    return sorted(panels, key=lambda panel: [SOURCES[name].title for name in PLANES].index(panel.title))


def _curves(records: Records) -> list[figures.Convergence]:
    found = []
    for data_set in convergence.SETS:
        of_set = [
            r.values for u, r in sorted(records.items()) if u.experiment == "convergence" and u.data_set == data_set
        ]
        if of_set:
            curves = {name: np.array([values[name] for values in of_set]) for name in convergence.NAMES}
            found.append(figures.Convergence(SOURCES[data_set].title, np.array(convergence.TREES), **curves))
    return found


def _ablations(records: Records, n_splits: int) -> list[tuple[str, str, str, Any]]:
    """Means over the splits, one row a set."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for unit, record in sorted(records.items()):
        if unit.experiment == "ablation":
            reached = record.values["score"], record.values["depth"]
            found.setdefault((unit.data_set, unit.subject), []).append(reached)
    names = [name for name in SOURCES if (name, ablations.GUIDED[0]) in found]
    if not names:
        return []

    def values(variants: Sequence[str]) -> Any:
        """Values of shape (n_sets, n_variants, n_splits, 2)."""
        return np.array([[found[name, variant] for variant in variants] for name in names])

    titles = [SOURCES[name].title for name in names]
    units = ["accuracy" if SOURCES[name].is_classes else "RMSE" for name in names]
    guided, uniform = values(ablations.GUIDED)[..., 0], values(ablations.UNIFORM)[..., 0]
    by_q = values(list(ablations.MAX_PARTITIONS.values())).mean(axis=2)
    settings = f"Single trees, nothing tuned, mean over {n_splits} splits."
    return [
        (
            "guided",
            "Beyond the paper: guided against uniform draws",
            f"{settings} Guided: S0 of the best features, envelope and selection falling with the rank. Uniform: "
            "all features, alpha = beta = 0. Both have p candidates, half of them over pairs of features. Bars: one "
            "standard error over the splits. Last panel: error of guided over that of uniform, mean over the sets.",
            figures.guided_against_uniform(ablations.N_PROJECTIONS, guided, uniform, titles, units),
        ),
        (
            "partitions",
            "Beyond the paper: hyperplanes of a node",
            f"{settings} Score (line) and depth (bars) with up to q = 1, 2, 3 hyperplanes a node, 64 candidates.",
            figures.partitions_per_node(by_q[..., 0], by_q[..., 1], titles, list(ablations.MAX_PARTITIONS), units),
        ),
    ]
