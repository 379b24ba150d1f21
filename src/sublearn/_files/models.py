"""The fitted model, `FittedModel`, as arrays and fields, and back."""

from itertools import pairwise
from typing import Any

import numpy as np

from sublearn._files.errors import Fault
from sublearn._files.fields import Fields, shown
from sublearn._files.layout import MAPS, MOST_TEXTS, SLOPES, TREES, is_boosting, is_classifier, is_forest, size_in_words
from sublearn._files.maps import check_maps, reach_of_views
from sublearn._files.reading import ModelFile
from sublearn._files.trees import check_ensemble
from sublearn._files.values import SPECIAL, UnwritableError, to_json
from sublearn.core.data.codes import CODE_LIMIT, DEVIATIONS, FeatureMaps, slopes_between
from sublearn.core.model.fitted import COLUMNS, MEAN, FittedModel
from sublearn.core.model.flat_ensemble import FlatEnsemble
from sublearn.core.model.flat_tree import NO_SLOPES, FlatTree, LeafSlopes
from sublearn.kernels.layout import Array

NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
CLASS_TYPES = (*NUMBERS, "bool", "str", "object")  # object: texts of Python
MOST_A_ROUND = 1 << 31  # trees
FARTHEST = 1 << 1023  # integers that floats hold


def tensors_of(model: FittedModel, prefix: str) -> dict[str, Array]:
    """The arrays of a model."""
    nodes = model.ensemble.nodes
    found = {f"maps.{name}": getattr(model.maps, name) for name in MAPS}
    found |= {f"trees.{name}": getattr(nodes, name) for name in TREES}
    found["trees.roots"] = model.ensemble.roots
    if nodes.slopes.first.size:
        found |= {f"slopes.{name}": getattr(nodes.slopes, name) for name in SLOPES}
    if model.start.size:
        found["start"] = model.start
    return {prefix + name: array for name, array in found.items()}


def fields_of(model: FittedModel) -> dict[str, Any]:
    """The fields of a model."""
    return {
        "n_features": model.n_features,
        "feature_names": None if model.feature_names is None else [str(name) for name in model.feature_names],
        "kinds": list(model.kinds),
        "categories": [None if one is None else [to_json(level) for level in one] for one in model.levels],
        "classes": None if model.classes is None else _classes_to_json(model.classes),
        "per_deviation": int(model.maps.per_deviation),
        "subspace_size": int(model.subspace_size),
        "link": model.link,
        "trees_a_round": int(model.trees_a_round),
        "votes": model.votes is not None,
    }


def _classes_to_json(classes: Array) -> dict[str, Any]:
    values = classes.tolist()
    if classes.dtype.name in (*NUMBERS, "bool"):
        return {"type": classes.dtype.name, "values": values}
    if all(isinstance(one, str) for one in values):
        if classes.dtype.kind == "U" and _size_of_texts(values) > MOST_TEXTS:
            raise UnwritableError(
                f"classes take {size_in_words(_size_of_texts(values))} as texts of one length, and a file may have "
                f"{size_in_words(MOST_TEXTS)} of them. Shorten the longest"
            )
        return {"type": "str" if classes.dtype.kind == "U" else "object", "values": [str(one) for one in values]}
    other = next(one for one in values if not isinstance(one, str))
    raise UnwritableError(
        f"classes must be numbers, booleans or texts to be saved; got values of type {type(other).__name__}. Turn them "
        "into texts before the fit"
    )


def read_model(file: ModelFile, fields: Fields, estimator: str, prefix: str) -> FittedModel:
    """The model of an estimator, of which everything is checked."""
    levels = tuple(map(_levels_from, fields.list("categories")))
    n_features = fields.whole("n_features", 1, 1 << 31)
    if len(levels) != n_features:
        raise Fault(f"'categories' must have {n_features} entries, one a feature; it has {len(levels)}")
    classes = _classes_from(fields.fields("classes")) if fields.has("classes") else None
    if (classes is not None) != is_classifier(estimator):
        raise Fault(f"'classes' do not go with an {estimator}")
    maps = _read_maps(file, prefix, fields.whole("per_deviation", 1, CODE_LIMIT // DEVIATIONS))
    check_maps(maps, levels)
    ensemble = _read_ensemble(file, prefix)
    check_ensemble(ensemble, reach_of_views(maps), file.memory)
    start = file.take(f"{prefix}start", "start") if is_boosting(estimator) else np.empty(0)
    model = FittedModel(
        maps=maps,
        ensemble=ensemble,
        subspace_size=fields.whole("subspace_size", 1, n_features),
        classes=classes,
        feature_names=_names_from(fields, n_features),
        levels=levels,
        kinds=_kinds_from(fields, n_features),
        votes=_votes_of(ensemble.nodes.value) if _has_votes(fields, estimator) else None,
        link=fields.text("link"),
        start=start,
        trees_a_round=fields.whole("trees_a_round", 1, MOST_A_ROUND),
    )
    _check_answers(model, estimator)
    return model


def _read_maps(file: ModelFile, prefix: str, per_deviation: int) -> FeatureMaps:
    found = {name: file.take(f"{prefix}maps.{name}", f"maps.{name}") for name in MAPS}
    if len(found["knots"]) != len(found["levels"]):
        raise Fault("maps.levels must have as many entries as maps.knots")
    with np.errstate(all="ignore"):  # they are not checked yet
        slopes = slopes_between(found["knots"], found["levels"])
    return FeatureMaps(**found, slopes=slopes, per_deviation=per_deviation)


def _read_ensemble(file: ModelFile, prefix: str) -> FlatEnsemble:
    columns = {name: file.take(f"{prefix}trees.{name}", f"trees.{name}") for name in TREES}
    slopes = NO_SLOPES
    if any(file.has(f"{prefix}slopes.{name}") for name in SLOPES):
        slopes = LeafSlopes(**{name: file.take(f"{prefix}slopes.{name}", f"slopes.{name}") for name in SLOPES})
        if not slopes.first.size:
            raise Fault("slopes.first must have an entry more than there are nodes; it is empty")
    return FlatEnsemble(FlatTree(**columns, slopes=slopes), file.take(f"{prefix}trees.roots", "trees.roots"))


def _levels_from(given: Any) -> tuple[float | str | None, ...] | None:
    """The levels of a feature: numbers, texts, then what is missing, each in order and once."""
    if given is None:
        return None
    if not isinstance(given, list):
        raise Fault(f"'categories' must have lists or nulls; it has {shown(given)}")
    levels = tuple(_level_from(one) for one in given)
    keys = ((2, 0.0, "") if v is None else (1, 0.0, v) if isinstance(v, str) else (0, v, "") for v in levels)
    if any(one >= following for one, following in pairwise(keys)):
        raise Fault("the levels in 'categories' must be in order, each once: numbers, texts, null")
    return levels


def _level_from(given: Any) -> Any:
    if isinstance(given, dict) and given.keys() == {"float"} and given["float"] in ("inf", "-inf"):
        return SPECIAL[given["float"]]
    if given is not None and (type(given) not in (int, float, str) or (type(given) is int and abs(given) > FARTHEST)):
        raise Fault(f"a level in 'categories' must be a number, a text or null; it is {shown(given)}")
    return given


def _classes_from(fields: Fields) -> Array:
    """The classes, in order."""
    kind, values = fields.one_of("type", CLASS_TYPES), fields.list("values")
    allowed = {"bool": (bool,), "str": (str,), "object": (str,)}.get(kind, (float,) if "float" in kind else (int,))
    if not values or any(type(one) not in allowed for one in values):
        raise Fault(f"'classes' must be at least one value of type {kind}")
    if any(not one < following for one, following in pairwise(values)):
        raise Fault("'classes' must be in order, each once")
    if kind not in ("str", "object", "bool"):
        information: Any = np.iinfo(kind) if "int" in kind else np.finfo(kind)
        if not information.min <= values[0] or not values[-1] <= information.max:
            raise Fault(f"'classes' must be values of type {kind}")
    if kind == "object":
        classes = np.empty(len(values), object)
        classes[:] = values
        return classes
    if kind == "str" and _size_of_texts(values) > MOST_TEXTS:
        raise Fault(f"'classes' would take {size_in_words(_size_of_texts(values))}, all as long as the longest")
    classes = np.array(values, kind)
    if classes.tolist() != values:
        raise Fault(f"'classes' must be values of type {kind}")
    return classes


def _size_of_texts(texts: list[str]) -> int:
    """Bytes of an array of texts."""
    return 4 * len(texts) * max(map(len, texts))


def _names_from(fields: Fields, n_features: int) -> Array | None:
    return np.array(fields.texts("feature_names", n_features), object) if fields.has("feature_names") else None


def _kinds_from(fields: Fields, n_features: int) -> tuple[str | None, ...]:
    kinds = tuple(fields.list("kinds", n_features))
    if any(one is not None and (not isinstance(one, str) or one not in COLUMNS) for one in kinds):
        raise Fault(f"'kinds' must have nulls or some of {', '.join(COLUMNS)}")
    return kinds


def _has_votes(fields: Fields, estimator: str) -> bool:
    has_votes = fields.flag("votes")
    if has_votes and not (is_forest(estimator) and is_classifier(estimator)):
        raise Fault(f"'votes' must be false for an {estimator}")
    return has_votes


def _votes_of(value: Array) -> Array:
    """One vote a node, for the largest share of the classes."""
    votes = np.zeros_like(value)
    votes[np.arange(len(value)), value.argmax(axis=1)] = 1.0
    return votes


def _check_answers(model: FittedModel, estimator: str) -> None:
    """As many values as there are answers, and a link that makes answers of them."""
    n_classes = 0 if model.classes is None else len(model.classes)
    n_trees, n_values = model.ensemble.n_trees, model.ensemble.nodes.value.shape[1]
    if is_boosting(estimator):
        links = {0: ("identity", "exponential"), 1: ("certainty",), 2: ("logistic",)}.get(n_classes, ("softmax",))
        wanted = n_classes if n_classes > 2 else 1
        if len(model.start) != wanted or not np.isfinite(model.start).all():
            raise Fault(f"'start' must be {wanted} finite numbers")
    else:
        links, wanted = (MEAN,), max(n_classes, 1)
        if n_trees == 0 or (n_trees > 1 and not is_forest(estimator)):
            raise Fault(f"trees.roots must have {'at least ' * is_forest(estimator)}one tree; it has {n_trees}")
        if model.ensemble.nodes.slopes.first.size:
            raise Fault("only boosting has linear models in leaves")
    if model.link not in links:
        raise Fault(f"'link' must be {' or '.join(map(repr, links))}; it is {shown(model.link)}")
    if n_trees and n_values != wanted:
        raise Fault(f"trees.value must have {wanted} columns; it has {n_values}")
    if n_trees % model.trees_a_round or (model.trees_a_round > 1 and not is_boosting(estimator)):
        raise Fault(f"'trees_a_round' must divide the number of trees, {n_trees}; it is {model.trees_a_round}")
