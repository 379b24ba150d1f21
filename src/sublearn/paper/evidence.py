"""The records of a run, as the paper's claims are judged by them; what a run has not is asked for in vain."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sublearn.paper import ablations, convergence, measures
from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.datasets import SOURCES
from sublearn.paper.runner import Record, Records
from sublearn.paper.tables import Scores, collect_scores

Floats = NDArray[np.float64]

CLASSES = [name for name, source in SOURCES.items() if source.is_classes]
NUMBERS = [name for name, source in SOURCES.items() if not source.is_classes]


class MissingRecordsError(Exception):
    """A claim needs records that the run has not."""


class Evidence(NamedTuple):
    """What a run has measured."""

    protocol: str
    scores: dict[bool, Scores]  # of classes and of numbers, where there are any
    records: dict[tuple[str, str], list[Record]]  # (contender, data set): one a split
    curves: dict[str, list[Record]]  # of Fig. 5, by data set
    variants: dict[tuple[str, str], list[Record]]  # of the ablations, (variant, data set)
    measured: dict[tuple[str, str], list[Record]]  # of the small measurements, (experiment, data set)

    def scores_of(self, contenders: Iterable[str], data_sets: Sequence[str]) -> Scores:
        """Scores of these contenders on sets of one kind, when all are there."""
        is_classes = SOURCES[data_sets[0]].is_classes
        kind = "classes" if is_classes else "numbers"
        if is_classes not in self.scores:
            raise MissingRecordsError(f"no scores of {kind}")
        scores = self.scores[is_classes]
        self._need(scores.values, [(name, data_set) for name in contenders for data_set in data_sets])
        return scores

    def values(self, contender: str, data_set: str, quantity: str) -> list[Any]:
        """A quantity of a contender's models, one a split."""
        self._need(self.records, [(contender, data_set)])
        found = [record.values.get(quantity) for record in self.records[contender, data_set]]
        if any(value is None for value in found):
            raise MissingRecordsError(f"{quantity} of {CONTENDERS[contender].title} is not recorded")
        return found

    def mean(self, contender: str, data_set: str, quantity: str) -> float:
        """Mean of a quantity over the splits."""
        return float(np.mean(self.values(contender, data_set, quantity)))

    def chosen(self, contender: str, data_set: str, parameter: str) -> list[Any]:
        """What was chosen for a parameter, one a split."""
        settings = self.values(contender, data_set, "setting")
        if any(parameter not in setting for setting in settings):
            raise MissingRecordsError(f"no search for {parameter} of {CONTENDERS[contender].title}")
        return [setting[parameter] for setting in settings]

    def nodes_a_level(self, contender: str, data_set: str) -> float:
        """How wide trees are: nodes over levels, in the mean over the splits."""
        return float(np.mean([np.mean(nodes) for nodes in self.values(contender, data_set, "nodes")]))

    def curve(self, data_set: str, name: str) -> Floats:
        """A curve of Fig. 5: (n_splits, n_numbers), or (n_splits,) for strength and correlation of trees."""
        if data_set not in self.curves:
            raise MissingRecordsError(f"no curves of {SOURCES[data_set].title}")
        return np.array([record.values[name] for record in self.curves[data_set]])

    def of_root(self, data_set: str, quantity: str) -> list[Any]:
        """What the search of the root of a tree found, one a split."""
        return self._measured("root", data_set, quantity)

    def of_svr(self, quantity: str) -> Floats:
        """A support vector machine on Friedman 2: (n_splits, 2), with a usual C and a large one."""
        return np.array(self._measured("svr", measures.SVR_SET, quantity))

    def of_growth(self, data_set: str) -> list[list[float]]:
        """Errors of an SLR tree that ends at each level, over the root's, one list a split."""
        return self._measured("growth", data_set, "errors")

    def of_trees(self, data_set: str, quantity: str) -> float:
        """A quantity of the trees of forests, in the mean over the splits."""
        return float(np.mean(self._measured("trees", data_set, quantity)))

    def _measured(self, experiment: str, data_set: str, quantity: str) -> list[Any]:
        if (experiment, data_set) not in self.measured:
            raise MissingRecordsError(f"no measurement of {experiment} on {SOURCES[data_set].title}")
        return [record.values[quantity] for record in self.measured[experiment, data_set]]

    def errors_of_variants(self, variants: Sequence[str]) -> Floats:
        """Of the ablations, (n_sets, n_variants): 1 less the accuracy, or the root mean squared error."""
        found = self._of_variants(variants, "score")
        is_classes = [SOURCES[name].is_classes for name in SOURCES]
        return np.where(np.array(is_classes)[:, None], 1 - found, found)

    def depths_of_variants(self, variants: Sequence[str]) -> Floats:
        """Depths of the trees of the ablations, (n_sets, n_variants)."""
        return self._of_variants(variants, "depth")

    def widths_of_variants(self, variants: Sequence[str]) -> Floats:
        """Nodes over levels, (n_sets, n_variants)."""
        return self._of_variants(variants, "nodes")

    def _of_variants(self, variants: Sequence[str], quantity: str) -> Floats:
        if any((variant, name) not in self.variants for variant in variants for name in SOURCES):
            raise MissingRecordsError("no ablations of all sets")
        return np.array(
            [
                [
                    np.mean([np.mean(one.values[quantity]) for one in self.variants[variant, name]])
                    for variant in variants
                ]
                for name in SOURCES
            ]
        )

    @staticmethod
    def _need(found: dict[tuple[str, str], Any], wanted: Sequence[tuple[str, str]]) -> None:
        missing = [key for key in wanted if key not in found]
        if missing:
            sets = dict.fromkeys(SOURCES[data_set].title for _, data_set in missing)
            names = dict.fromkeys(CONTENDERS[name].title for name, _ in missing)
            raise MissingRecordsError(f"no records of {', '.join(names)} on {', '.join(sets)}")


def collect_evidence(records: Records, protocol: str) -> Evidence:
    """All evidence that the records of a run by one protocol have."""
    scores = {is_classes: collect_scores(records, is_classes) for is_classes in (True, False)}
    found = Evidence(
        protocol=protocol,
        scores={key: one for key, one in scores.items() if one is not None},
        records={},
        curves={},
        variants={},
        measured={},
    )
    for unit, record in sorted(records.items()):
        if unit.experiment == "contender":
            found.records.setdefault((unit.subject, unit.data_set), []).append(record)
        elif unit.experiment == "ablation":
            found.variants.setdefault((unit.subject, unit.data_set), []).append(record)
        elif unit.experiment in ("root", "svr", "growth", "trees"):
            found.measured.setdefault((unit.experiment, unit.data_set), []).append(record)
        else:
            found.curves.setdefault(unit.data_set, []).append(record)
    return found


TREES = np.array(convergence.TREES)
GUIDED, UNIFORM = ablations.GUIDED, ablations.UNIFORM
